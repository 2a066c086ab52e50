package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

var al12 = &Rule{
	ID: "AL12", Title: "A new compressor is created on every call",
	About: "A gzip or flate writer owns more than half a megabyte of tables, a reader about forty kilobytes, allocated with it or at the first Write. If they " +
		"are created for every message, they are most of what the program allocates; Reset reuses them.",
	Asks: []facts.Question{facts.Allocations},
	Params: []Param{
		{"share", 0.05, "share of allocated bytes", "research, AL12; the lower bound of the interval counts"},
		{"warn", 0.15, "share of allocated bytes", "chosen: three times the first threshold"},
		{"objects", 100, "objects", "chosen: a compressor is about ten objects; fewer than ten compressors are not a pattern"},
		g0,
	},
	Check: check(&look{of: facts.Allocations, sample: "alloc_space", limit: "share", warn: "warn", set: "coders", skip: []string{"startup", "pool.get"},
		direct: true, perLine: true, objects: 100,
		through: []string{"compress/gzip", "compress/zlib", "compress/flate", "io", "bufio", "fmt", "bytes", "strings", "encoding/json", "encoding/xml", "encoding/csv", "encoding/gob",
			"text/template", "html/template"},
		reason: coderReason, what: "came from creating compressors", tell: tellCoders}),
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

// makersOf are the places in the source that make compressors, where the line itself makes
// none: a writer allocates its tables at the first Write, wherever that is.
func makersOf(in *Input, at stack.Frame, kind string) (all []Evidence) {
	made := map[string][]string{"writer": {"NewWriter", "NewWriterLevel", "NewWriterDict"}, "reader": {"NewReader", "NewReaderDict"}}[kind]
	for _, pkg := range []string{"compress/gzip", "compress/flate", "compress/zlib", "compress/lzw"} {
		for _, function := range made {
			all = append(all, in.setIn(pkg, function)...)
		}
	}
	if slices.ContainsFunc(all, func(e Evidence) bool { return e.File == at.File && e.Line == at.Line }) {
		return nil
	}
	return all[:min(2, len(all))]
}

func tellCoders(h *hit, f *Finding) {
	if makers := makersOf(h.in, h.lines[0].Caller, h.reasons[0].name); len(makers) > 0 {
		f.Evidence = append(f.Evidence, makers...)
		if len(makers) == 1 {
			f.Summary += fmt.Sprintf("; the source creates them at %s:%d", baseName(makers[0].File), makers[0].Line)
		}
	}
	dict := dictionaryAt(h.in.code, makingLines(h, makersOf(h.in, h.lines[0].Caller, h.reasons[0].name)))
	defer dict.tell(h.in.code, f)
	switch h.reasons[0].name {
	case "reader":
		f.Title = "A new decompressor is created on every call"
		f.Summary = strings.Replace(f.Summary, "creating compressors", "creating decompressors", 1)
		f.Doubts = append(f.Doubts, "if each reader serves one long stream, there is nothing to pool")
		f.Advice = "Keep readers in a sync.Pool and call Reset(r) on the one that Get returns (flate and zlib readers have it through flate.Resetter and zlib.Resetter)." + whenDone
	case "zstd":
		f.Advice = "Create one encoder and one decoder for the whole program and call EncodeAll and DecodeAll, or keep them in a sync.Pool and Reset them." + whenDone
	default:
		f.Advice = "Keep writers in a sync.Pool: take one out, Reset(w), write, Close, put it back. The tables are allocated at the first Write, so the line may be that of a Write or Close." + whenDone
		f.Doubts = append(f.Doubts, "if each writer serves one long stream, there is nothing to pool")
	}
}
