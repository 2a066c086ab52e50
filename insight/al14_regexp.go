package insight

import (
	"regexp"

	"loupe/analysis/facts"
)

var al14 = &Rule{
	ID: "AL14", Title: "Regular expressions are compiled at run time",
	About: "Compiling parses the pattern, simplifies it and builds a program, in some microseconds and dozens of allocations. " +
		"regexp.MatchString does it in every call. What happens before main does not count.",
	Asks: []facts.Question{facts.Work},
	Params: []Param{
		{"cpu", 0.01, "share of CPU time", "research, AL14; staticcheck SA6000 finds the pattern in loops"},
		{"bytes", 0.03, "share of allocated bytes", "chosen: a pattern costs more bytes than time"},
		{"warn", 0.10, "share of CPU time or bytes", "chosen"},
		g0,
	},
	Check: check(
		&look{of: facts.CPU, sample: "samples", limit: "cpu", warn: "warn", set: "regexp", skip: []string{"startup"},
			what: "went into compiling regular expressions", tell: tellRegexp, with: "regexp.compile"},
		&look{of: facts.Allocations, sample: "alloc_space", limit: "bytes", warn: "warn", set: "regexp", skip: []string{"startup"},
			what: "came from compiling regular expressions", tell: tellRegexp, with: "regexp.compile"},
	),
}

// literal is a pattern that stands in the call, all of it.
var literal = regexp.MustCompile("(Compile|MustCompile|CompilePOSIX|MustCompilePOSIX|MatchString|Match|MatchReader)\\((\"([^\"\\\\]|\\\\.)*\"|`[^`]*`)\\s*[,)]")

func tellRegexp(h *hit, f *Finding) {
	source := f.Evidence[0].Source
	switch {
	case literal.MatchString(source):
		f.Advice = "The pattern is fixed: compile it once, var re = regexp.MustCompile(…) outside of any function, and use re here."
	case source == "":
		f.Advice = "Compile a fixed pattern once, in a package variable; keep patterns that are made at run time in a map (with a bound) from their text."
	default:
		f.Advice = "The pattern is made at run time: keep what was compiled in a map from its text, with a bound; of fixed text, regexp.QuoteMeta and a pattern around it are slower than package strings."
		f.Doubts = append(f.Doubts, "where every pattern is another one, nothing can be kept")
	}
}
