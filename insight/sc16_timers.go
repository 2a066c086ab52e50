package insight

import (
	"loupe/analysis/facts"
)

var sc16 = &Rule{
	ID: "SC16", Title: "Timers use much of the CPU",
	About: "Setting, moving and firing timers: each P keeps a heap of timers, in which every change costs more the more there are. " +
		"Most often the cause is thousands of tickers with short intervals, or deadlines reset for each message.",
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
	f.Advice = "Use fewer timers, or longer intervals: one ticker that goes over a list instead of one per connection; a deadline that is moved only when it is about to expire instead of for each message."
	if h.lines[0].Caller.Func == "" {
		f.Doubts = append(f.Doubts, "timers fire on the scheduler's stacks: no line of the program is on them; a goroutine profile shows what waits for them (-phases goroutine)")
	}
}
