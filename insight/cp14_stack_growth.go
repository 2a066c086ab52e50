package insight

import (
	"loupe/analysis/facts"
	"loupe/value/stack"
)

var cp14 = &Rule{
	ID: "CP14", Title: "Repeated goroutine stack growth",
	About: "A goroutine starts with a small stack, which is copied to one of twice the size when a call does not fit. " +
		"Short-lived goroutines with deep calls pay for this every time.",
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
	f.Advice = "Use long-lived goroutines, so that their stacks grow only once: workers that take one task after another. Or keep large arrays out of the frames of deeply nested functions, and recurse less deeply."
	f.Doubts = append(f.Doubts, "the line is where the stack overflowed its size; all the calls above it have filled it")
}
