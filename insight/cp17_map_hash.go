package insight

import (
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

var cp17 = &Rule{
	ID: "CP17", Title: "Hashing map keys uses much of the CPU",
	About: "Each access to a map hashes the key: all bytes of a string, all fields of a struct, and of an interface first its type. " +
		"Long keys, and several maps with the same key, add up.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU time", "research, CP17; the lower bound of the interval counts"},
		{"warn", 0.20, "share of CPU time", "chosen"},
		g0,
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "hash", named: "map", skip: []string{"startup"},
		flat: true, reason: hashReason, what: "went into hashing keys", tell: tellHash}),
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
	switch h.reasons[0].name {
	case "interface":
		f.Advice = "Give the map a key of one type: the type of an interface is looked at for every hash, and its value behind a pointer."
	case "struct":
		f.Advice = "Make the key smaller: a number or a short array in place of a struct with strings; look a key up once and keep the pointer to what was found."
	case "string":
		f.Advice = "Give the strings numbers where they come in and use those as keys; or keep one map with a struct for the value in place of several maps with the same key, and look up once."
	default:
		f.Advice = "Keys are numbers: where they are dense, a slice needs no hash; look up once and keep the pointer to what was found."
	}
}
