package insight

import (
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var cp15 = &Rule{
	ID: "CP15", Title: "cgo calls use much of the CPU",
	About: "A call from Go to C costs some 40 ns before C has done anything: it leaves the goroutine's stack and tells the scheduler. Back from C it is several times that. " +
		"Many small calls pay more for the way than for the work.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU time", "research, CP15; the lower bound of the interval counts"},
		{"warn", 0.30, "share of CPU time", "chosen"},
		{"crossing", 0.20, "share of the time of the calls", "chosen: from here on the way is worth saving"},
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
	f.Summary += "; " + unit.Percent(crossing) + " of that is the way there and back"
	if crossing < h.rule.param("crossing") {
		f.Severity = Info
		f.Advice = "The time is that of the C code itself, which this profile does not look into: perf record shows it."
		return
	}
	f.Advice = "Hand over many items in one call: an array of arguments, a loop on the side of C. What is small enough is cheaper written in Go."
	f.Doubts = append(f.Doubts, "the instructions of the crossing that are not functions of their own count as work of C: the way may cost more than is said")
}
