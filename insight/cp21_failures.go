package insight

import (
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

var cp21 = &Rule{
	ID: "CP21", Title: "Failing attempts use much of the CPU",
	About: "Text is parsed to find out what it is: one date layout after another, or a number that is not one. Each failing attempt reads the text, allocates an error " +
		"with copies of it, and discards both. The memory profile shows the errors that only failing time.Parse and strconv calls allocate.",
	Asks: []facts.Question{facts.Work},
	Params: []Param{
		{"objects", 0.10, "share of allocated objects", "chosen: as for AL11"},
		{"cpu", 0.05, "share of CPU time", "chosen: for creating the errors alone; the attempts cost more"},
		{"warn", 0.15, "share of CPU time or objects", "chosen: as for AL11"},
		g0,
	},
	Check: check(
		&look{of: facts.Allocations, sample: "alloc_objects", limit: "objects", warn: "warn", set: "failures", named: "tries", skip: []string{"startup"}, direct: true, through: []string{"time", "strconv"},
			reason: triesReason, what: "are errors of failed attempts", tell: tellTries},
		&look{of: facts.CPU, sample: "samples", limit: "cpu", warn: "warn", set: "failures", named: "tries", skip: []string{"startup"}, direct: true, through: []string{"time", "strconv"},
			reason: triesReason, what: "went into errors of failed attempts", tell: tellTries},
	),
}

// triesReason tells dates from numbers.
func triesReason(t *stack.Table, frames []stack.FrameID) string {
	for i := len(frames) - 1; i >= 0; i-- {
		if name := t.Frame(frames[i]).Func; inSet("failures", name) {
			return stack.Package(name)
		}
	}
	return "-"
}

func tellTries(h *hit, f *Finding) {
	switch {
	case namedReason(h) == "time":
		f.Advice = "Do not try one layout after another: choose it by the length of the text and a few characters (a T, a comma, a letter at the end), and try the layout that matched last first. " +
			"Each layout that does not match costs a parse, and an error with copies of text and layout."
	case strings.HasSuffix(namedReason(h), "strconv"):
		f.Advice = "Check before converting: the first byte distinguishes most texts from numbers. A failed conversion allocates an error with a copy of the text."
	}
	f.Verify = "Record again under the same load: the errors should be gone from the allocs profile."
	f.Doubts = append(f.Doubts, "if the input is malformed, rather than the attempts badly ordered, the load of this recording may contain more of it than production")
}
