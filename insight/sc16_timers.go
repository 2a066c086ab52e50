package insight

import (
	"loupe/analysis/facts"
)

var sc16 = &Rule{
	ID: "SC16", Title: "Timers use much of the CPU",
	About: "Setting, moving and firing timers: each P keeps a heap of them, in which every change costs more the more there are. " +
		"Thousands of tickers with short intervals, and deadlines that are set anew for each message, are what it is mostly made of.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.05, "share of CPU time", "research, SC16; the lower bound of the interval counts"},
		{"warn", 0.20, "share of CPU time", "chosen"},
		g0,
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "timers.run", skip: []string{"startup"},
		anyone: true, busy: true, below: true, what: "went into timers", tell: tellTimerStorm}),
}

func tellTimerStorm(h *hit, f *Finding) {
	f.Advice = "Have fewer timers, or longer intervals: one ticker that goes over a list in place of one for each connection; a deadline that is moved only when it is about to run out in place of one for each message."
	if h.lines[0].Caller.Func == "" {
		f.Doubts = append(f.Doubts, "timers fire on stacks of the scheduler: no line of the program is on them; what waits for them a goroutine profile tells (-phases goroutine)")
	}
}
