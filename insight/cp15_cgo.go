package insight

import (
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var cp15 = &Rule{
	ID: "CP15", Title: "cgo calls use much of the CPU",
	About: "A call from Go to C costs about 40 ns before C has done anything: it switches stacks and notifies the scheduler. A call from C back to Go costs several times " +
		"that. Many small calls pay more for the crossing than for the work.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU time", "research, CP15; the lower bound of the interval counts"},
		{"warn", 0.30, "share of CPU time", "chosen"},
		{"crossing", 0.20, "share of the time of the calls", "chosen: from here on the crossing is worth saving"},
		g0,
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "cgo", named: anything, skip: []string{"startup"},
		reason: cgoReason, what: "went into calls to C", tell: tellCgo}),
}

// cgoReason tells the way into C from what C does.
func cgoReason(t *stack.Table, frames []stack.FrameID) string {
	for _, f := range frames {
		if inSet("cgo.cross", t.Frame(f).Func) {
			return "crossing"
		}
	}
	return "C"
}

func tellCgo(h *hit, f *Finding) {
	crossing := h.reasonShare("crossing")
	f.Summary += "; " + unit.Percent(crossing) + " of that is the crossing itself"
	if crossing < h.rule.param("crossing") {
		f.Severity = Info
		f.Advice = "The time is that of the C code itself, which this profile cannot see into: perf record shows it."
		return
	}
	f.Advice = "Pass many items in one call: an array of arguments, with the loop on the C side. Small functions are cheaper written in Go."
	f.Doubts = append(f.Doubts, "crossing code that is not in functions of its own is counted as C work: the crossing may cost more than stated")
}
