package insight

import (
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

var cp17 = &Rule{
	ID: "CP17", Title: "Hashing map keys uses much of the CPU",
	About: "Each map access hashes the key: all bytes of a string, all fields of a struct, and for an interface its type first. Long " +
		"keys, and several maps with the same key, add up.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU time", "research, CP17; the lower bound of the interval counts"},
		{"warn", 0.20, "share of CPU time", "chosen"},
		g0,
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "hash", named: "map", skip: []string{"startup"},
		flat: true, direct: true, through: []string{"maps", "sync", "internal/sync", "internal/runtime/maps"}, reason: hashReason, what: "went into hashing keys", tell: tellHash}),
}

// hashReason is the kind of key; hashes that no map has asked for do not
// count.
func hashReason(t *stack.Table, frames []stack.FrameID) string {
	kind, forMap := "number", false
	for _, f := range frames {
		name := t.Frame(f).Func
		switch {
		case strings.HasPrefix(name, "runtime.nilinterhash"), strings.HasPrefix(name, "runtime.interhash"):
			kind = "interface"
		case strings.HasPrefix(name, "runtime.memhash_varlen"), strings.HasPrefix(name, "runtime.memhash128"):
			kind = "memory" // a text has no such frame
		case strings.HasPrefix(name, "runtime.typehash"), strings.HasPrefix(name, "type:.hash."), strings.HasPrefix(name, "type..hash."):
			kind = "struct"
		case strings.HasPrefix(name, "runtime.strhash"), strings.HasSuffix(name, "aeshashbody"), strings.HasSuffix(name, "_faststr"):
			if kind == "number" {
				kind = "string"
			}
		}
		if inSet("map.grow", name) {
			return "-" // AL16 tells of it
		}
		forMap = forMap || inSet("map", name)
	}
	if !forMap {
		return "-"
	}
	return kind
}

func tellHash(h *hit, f *Finding) {
	switch namedReason(h) {
	case "interface":
		f.Advice = "Use a concrete key type: for an interface key every hash inspects the type and follows a pointer to the value."
	case "struct":
		f.Advice = "Make the key smaller: a number or a short array instead of a struct with strings; look a key up once and keep the pointer to the result."
	case "memory":
		f.Advice = "The keys are arrays or structs without strings: look a key up once and keep the pointer to the result; a key that fits in 8 bytes, packed into a uint64, has faster maps of its own."
	case "string":
		f.Advice = "Map the strings to numbers where they enter the program and use those as keys; or use one map with a struct value instead of several maps with the same key, and look up once."
	default:
		f.Advice = "The keys are numbers: if they are dense, a slice needs no hash; look up once and keep the pointer to the result."
	}
}
