package insight

import (
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

var al12 = &Rule{
	ID: "AL12", Title: "A compressor is made for every call",
	About: "A gzip or flate writer owns tables of more than half a megabyte, a reader some forty kilobytes, which are allocated with it or at the first Write. " +
		"Made for every message they are most of what the program allocates; Reset uses them again.",
	Asks: []facts.Question{facts.Allocations},
	Params: []Param{
		{"share", 0.05, "share of allocated bytes", "research, AL12; the lower bound of the interval counts"},
		{"warn", 0.15, "share of allocated bytes", "chosen: three times the first threshold"},
		{"objects", 100, "objects", "chosen: a compressor is about ten objects; fewer than ten of them are no habit"},
		g0,
	},
	Check: check(&look{of: facts.Allocations, sample: "alloc_space", limit: "share", warn: "warn", set: "coders", skip: []string{"startup", "pool.get"},
		direct: true, perLine: true, objects: 100,
		through: []string{"compress/gzip", "compress/zlib", "compress/flate", "io", "bufio", "fmt", "bytes", "strings", "encoding/json", "encoding/xml", "encoding/csv", "encoding/gob",
			"text/template", "html/template"},
		reason: coderReason, what: "came from making compressors", tell: tellCoders}),
}

// coderReason tells readers from writers by the function of the set.
func coderReason(t *stack.Table, frames []stack.FrameID) string {
	for i := len(frames) - 1; i >= 0; i-- {
		if name := t.Frame(frames[i]).Func; inSet("coders", name) {
			switch {
			case strings.Contains(name, "NewReader"):
				return "reader"
			case strings.Contains(name, "/zstd."):
				return "zstd"
			}
			return "writer"
		}
	}
	return "-"
}

func tellCoders(h *hit, f *Finding) {
	switch h.reasons[0].name {
	case "reader":
		f.Advice = "Keep readers in a sync.Pool and call Reset(r) on the one that comes out (flate and zlib readers have it through flate.Resetter and zlib.Resetter)." + whenDone
	case "zstd":
		f.Advice = "Make one encoder and one decoder for the whole program and call EncodeAll and DecodeAll, or keep them in a sync.Pool and Reset them." + whenDone
	default:
		f.Advice = "Keep writers in a sync.Pool: take one out, Reset(w), write, Close, put it back. The tables are made at the first Write, which is why the line may be that of a Write or Close." + whenDone
		f.Doubts = append(f.Doubts, "where each writer lives for one long stream there is nothing to pool")
	}
}
