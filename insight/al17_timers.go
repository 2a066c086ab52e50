package insight

import (
	"strconv"

	"loupe/analysis/facts"
)

var al17 = &Rule{
	ID: "AL17", Title: "A timer is allocated on every loop iteration (time.After)",
	About: "time.After, NewTimer and similar functions allocate a timer and a channel, 248 bytes in three " +
		"objects. In a loop that receives with a timeout, one timer that is reset does the same. Before Go 1.23 each also stayed in memory until it fired.",
	Asks: []facts.Question{facts.Allocations},
	Params: []Param{
		{"share", 0.02, "share of allocated objects", "research, AL17; the lower bound of the interval counts"},
		{"warn", 0.10, "share of allocated objects", "chosen"},
		{"objects", 100, "objects", "chosen: fewer are not a pattern"},
		g0,
	},
	Check: check(&look{of: facts.Allocations, sample: "alloc_objects", limit: "share", warn: "warn", set: "timers", skip: []string{"startup"},
		direct: true, perLine: true, loop: true, objects: 100, what: "came from timers", tell: tellTimers}),
}

func tellTimers(h *hit, f *Finding) {
	f.Advice = "Create one time.NewTimer before the loop, Reset it in every iteration and Stop it after the loop. If the value is usually there already, try a select with a default case first and set the timer only if it is not."
	minor, known := goMinor(h.in)
	switch {
	case known && minor < 23:
		f.Summary += "; before Go 1.23 each stays in memory until it fires"
		f.Doubts = append(f.Doubts, "before Go 1.23 Reset is safe only on a timer that has stopped and whose channel is empty")
	case !known:
		f.Doubts = append(f.Doubts, "since Go 1.23 the collector frees timers that nobody waits for; the cost is that of creating them")
	}
}

// goRelease is how a toolchain names itself: go1.26.8, or devel go1.27-….
var goRelease = lazily(`\bgo1\.(\d+)`)

// goMinor is the minor release of Go that built the program, 26 of go1.26.1.
func goMinor(in *Input) (int, bool) {
	m := goRelease.FindStringSubmatch(in.Session.Manifest().Target.Go)
	if m == nil {
		return 0, false
	}
	minor, err := strconv.Atoi(m[1])
	return minor, err == nil
}
