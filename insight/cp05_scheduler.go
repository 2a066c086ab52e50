package insight

import (
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

var cp05 = &Rule{
	ID: "CP05", Title: "The scheduler uses much of the CPU",
	About: "The time the runtime spends finding a goroutine to run, parking, waking or starting goroutines, and putting threads to sleep and waking them. It is " +
		"the price of handing over work in pieces that are too small.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU time", "research, CP05; the lower bound of the interval counts"},
		{"warn", 0.25, "share of CPU time", "chosen"},
		g0,
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "schedule", skip: []string{"startup", "profiler.block"},
		anyone: true, busy: true, below: true, background: "collector", named: "runtime", reason: scheduleReason, what: "went into the scheduler", tell: tellScheduler}),
}

// scheduleReason tells starting goroutines from waking them, and both from
// looking for work.
func scheduleReason(t *stack.Table, frames []stack.FrameID) string {
	for _, f := range frames {
		switch name := t.Frame(f).Func; {
		case strings.HasPrefix(name, "runtime.newproc"), name == "runtime.goexit0":
			return "start"
		case name == "runtime.goready", name == "runtime.ready", name == "runtime.wakep", name == "runtime.startm":
			return "wake"
		case name == "runtime.gosched_m":
			return "yield"
		}
	}
	return "find"
}

// handlers are packages of the standard library with which the program's own goroutines hand over work.
var handlers = []string{"sync", "time", "context", "internal/sync", "runtime", "iter"}

// handsOver is the package of the standard library that wakes most goroutines for the lines of the program, where that is
// more than these do themselves.
func (h *hit) handsOver() string {
	of, all := map[string]int64{}, int64(0)
	for _, line := range h.lines {
		if line.Caller.Func == "" {
			continue
		}
		all += line.Weight
		for pkg, w := range line.library {
			if !slices.Contains(handlers, pkg) {
				of[pkg] += w
			}
		}
	}
	sum, most := int64(0), byWeight(of)
	for _, w := range of {
		sum += w
	}
	if float64(sum) < halfOfAll*float64(all) || sum == 0 {
		return ""
	}
	return most[0].name
}

func tellScheduler(h *hit, f *Finding) {
	if pkg := h.handsOver(); pkg != "" {
		f.Advice = "It is " + pkg + " that waits, and wakes goroutines, for the program: fewer and larger calls need less of it."
		f.Severity, f.saves = Info, false
		return
	}
	switch {
	case h.reasonShare("start") > 0.3:
		f.Advice = "Goroutines are started for very little work: give each a batch, or hand items in batches to workers (SC02 shows where, from an execution trace)."
	case h.reasonShare("wake") > 0.3:
		f.Advice = "Goroutines wake each other for very little work: hand over batches, or give the channels a buffer (SC03 shows which, from an execution trace)."
	default:
		f.Advice = "Ps keep going to sleep and looking for work: hand over larger pieces, and use no more workers than there is work for (record with -phases trace; SC02, SC03 and SC05 then say where)."
	}
	if h.lines[0].Caller.Func == "" || h.isSlight(h.lines[0]) {
		f.Doubts = append(f.Doubts, "the scheduler runs on its own stacks: hardly a line of the program is on them")
	}
}
