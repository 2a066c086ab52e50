package insight

import (
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

var cp21 = &Rule{
	ID: "CP21", Title: "Failing attempts use much of the CPU",
	About: "A text is parsed to find out what it is: one layout of a date after the other, a number that is none. Each try that fails reads the text, makes an error " +
		"with copies of it, and throws both away. The memory profile has the errors that time.Parse and package strconv make for nothing else.",
	Asks: []facts.Question{facts.Work},
	Params: []Param{
		{"objects", 0.10, "share of allocated objects", "chosen: as for AL11"},
		{"cpu", 0.05, "share of CPU time", "chosen: of making the errors alone; the tries cost more"},
		{"warn", 0.15, "share of CPU time or objects", "chosen: as for AL11"},
		g0,
	},
	Check: check(
		&look{of: facts.Allocations, sample: "alloc_objects", limit: "objects", warn: "warn", set: "failures", named: "tries", skip: []string{"startup"},
			reason: triesReason, what: "are errors of tries that failed", tell: tellTries},
		&look{of: facts.CPU, sample: "samples", limit: "cpu", warn: "warn", set: "failures", named: "tries", skip: []string{"startup"},
			reason: triesReason, what: "went into errors of tries that failed", tell: tellTries},
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
	case h.reasons[0].name == "time":
		f.Advice = "Do not try one layout after the other: choose it by the text's length and what stands at some places (a T, a comma, a letter at the end), and try the one first that has matched last. " +
			"Each that does not fit costs a parse, and an error with copies of text and layout."
	case strings.HasSuffix(h.reasons[0].name, "strconv"):
		f.Advice = "Look before converting: the first byte tells most texts from numbers. A failed conversion costs an error with a copy of the text."
	}
	f.Verify = "Record again under the same load: the errors should be gone from the allocs profile."
	f.Doubts = append(f.Doubts, "where the input is broken, and not the order of the tries, the load of this recording may have more of it than others")
}
