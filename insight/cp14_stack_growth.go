package insight

import (
	"loupe/analysis/facts"
	"loupe/value/stack"
)

var cp14 = &Rule{
	ID: "CP14", Title: "Repeated goroutine stack growth",
	About: "A goroutine begins with a small stack, which is copied to one of twice the size when a call does not fit. " +
		"Short goroutines that call deeply pay for it every time.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.03, "share of CPU time", "research, CP14; the lower bound of the interval counts"},
		{"warn", 0.10, "share of CPU time", "chosen"},
		g0,
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "stack.grow", skip: []string{"preempt", "startup"},
		what: "went into growing stacks", tell: tellStacks}),
}

func tellStacks(h *hit, f *Finding) {
	frames := h.p.Stacks.Frames(h.lines[0].heavy)
	for i := len(frames) - 1; i >= 0; i-- {
		if root := h.p.Stacks.Frame(frames[i]); h.in.Session.Scope().IsUser(root) {
			f.Summary += "; the goroutine is that of " + stack.Short(root.Func)
			break
		}
	}
	f.Advice = "Let goroutines live longer, so that their stacks are grown once: workers that take one task after the other. Or keep large arrays out of the frames of functions that are called deeply, and recurse less deeply."
	f.Doubts = append(f.Doubts, "the line is where the stack did not suffice; what has filled it are all the calls above it")
}
