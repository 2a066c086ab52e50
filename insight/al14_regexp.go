package insight

import (
	"loupe/analysis/facts"
)

var al14 = &Rule{
	ID: "AL14", Title: "Regular expressions are compiled at run time",
	About: "Compiling a regular expression parses the pattern, simplifies it and builds a program, which takes microseconds " +
		"and dozens of allocations. regexp.MatchString does it on every call. What happens before main is not counted.",
	Asks: []facts.Question{facts.Work},
	Params: []Param{
		{"cpu", 0.01, "share of CPU time", "research, AL14; staticcheck SA6000 finds the pattern in loops"},
		{"bytes", 0.03, "share of allocated bytes", "chosen: a pattern costs more bytes than time"},
		{"warn", 0.10, "share of CPU time or bytes", "chosen"},
		g0,
	},
	Check: check(
		&look{of: facts.CPU, sample: "samples", limit: "cpu", warn: "warn", set: "regexp", skip: []string{"startup"}, direct: true, through: []string{"regexp"},
			what: "went into compiling regular expressions", tell: tellRegexp, with: "regexp.compile"},
		&look{of: facts.Allocations, sample: "alloc_space", limit: "bytes", warn: "warn", set: "regexp", skip: []string{"startup"}, direct: true, through: []string{"regexp"},
			what: "came from compiling regular expressions", tell: tellRegexp, with: "regexp.compile"},
	),
}

// literal is a pattern that stands in the call, all of it.
var literal = lazily("(Compile|MustCompile|CompilePOSIX|MustCompilePOSIX|MatchString|Match|MatchReader)\\((\"([^\"\\\\]|\\\\.)*\"|`[^`]*`)\\s*[,)]")

// longestLater finds where the program calls Longest on the expression of the heaviest line, and not always.
func longestLater(h *hit) (at codeLine, ok bool) {
	line := h.lines[0]
	d := newDerivations(h.in.code)
	in, found := d.at(line.Caller)
	if !found {
		return at, false
	}
	for _, call := range d.callsOn(in, line.Caller, ownName(line.Callee)) {
		if at, _, ok = configuredLater(d, in, call, configures.MatchString); ok {
			return at, true
		}
	}
	return at, false
}

func tellRegexp(h *hit, f *Finding) {
	source := f.Evidence[0].Source
	if e, ok := eagerOf(h, h.lines[0]); ok && !literal.MatchString(source) {
		f.Advice = e.advice("the expression is compiled")
		f.Doubts = append(f.Doubts, eagerDoubt)
		return
	}
	switch {
	case literal.MatchString(source):
		f.Advice = "The pattern is fixed: compile it once in a package variable, var re = regexp.MustCompile(…), and use re here."
		if at, ok := longestLater(h); ok {
			f.Advice += " " + at.text() + " calls Longest on it, which changes it for all: keep a second variable for that, on which Longest is called once, at the start."
		}
	case tellEntries(h, f), tellPatternGiven(h, f), tellDifferent(h, f):
	case source == "":
		f.Advice = "Compile a fixed pattern once, in a package variable; cache patterns built at run time in a map (with a bound) keyed by their text."
	default:
		f.Advice = "The pattern is built at run time: cache the compiled expression in a map keyed by its text, with a bound; for fixed text, package strings is faster than a pattern with regexp.QuoteMeta."
		f.Doubts = append(f.Doubts, "if every pattern is different, nothing can be cached")
	}
}
