package insight

import (
	"fmt"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var cp13 = &Rule{
	ID: "CP13", Title: "Logging and telemetry are much of the work",
	About: "The time and memory spent in packages for logging, tracing and metrics: the standard log and slog, zap, zerolog, logrus, OpenTelemetry, Prometheus and the like, " +
		"including their formatting and writing. Serving a scrape of all metrics is not counted. What is made for the arguments of a debug call (a document, a format, a String method) " +
		"is made even if the level is off: the source shows which calls those are.",
	Asks: []facts.Question{facts.Work},
	Params: []Param{
		{"cpu", 0.10, "share of CPU time", "research, CP13; the lower bound of the interval counts"},
		{"bytes", 0.15, "share of allocated bytes", "chosen"},
		{"warn", 0.20, "share of CPU time or bytes", "research, CP13: more than a fifth"},
		g0,
	},
	Check: withArguments(check(
		&look{of: facts.CPU, sample: "samples", limit: "cpu", warn: "warn", set: "logging", skip: []string{"startup", "scrape"},
			foreign: true, anyone: true, reason: loggingReason, what: "went into logging and telemetry", tell: tellLogging},
		&look{of: facts.Allocations, sample: "alloc_space", limit: "bytes", warn: "warn", set: "logging", skip: []string{"startup", "scrape"},
			foreign: true, anyone: true, reason: loggingReason, what: "came from logging and telemetry", tell: tellLogging},
	)),
}

// loggingReason is the module that logs; the outermost one is what the program
// has called.
func loggingReason(t *stack.Table, frames []stack.FrameID) string {
	for i := len(frames) - 1; i >= 0; i-- {
		if name := t.Frame(frames[i]).Func; inSet("logging", name) {
			if module := stack.Module(name); module != "std" {
				return module
			}
			return stack.Package(name)
		}
	}
	return "-"
}

// writesShare is which part of what a look at CPU time has found goes into system calls that
// write.
func (h *hit) writesShare() float64 {
	if h.of != facts.CPU || h.weight == 0 {
		return 0
	}
	kernel, logging, writes := h.in.view(h.p).marks("syscall"), h.in.view(h.p).marks("logging"), int64(0)
	for i, id := range h.p.StackIDs {
		has := [3]bool{}
		for _, f := range h.p.Stacks.Frames(id) {
			has[0] = has[0] || kernel[f]
			has[1] = has[1] || logging[f]
			has[2] = has[2] || h.p.Stacks.Frame(f).Func == "internal/poll.(*FD).Write"
		}
		if has == [3]bool{true, true, true} {
			writes += h.p.Values[h.index][i]
		}
	}
	return min(1, float64(writes)/float64(h.weight))
}

func tellLogging(h *hit, f *Finding) {
	f.Summary += "; most of it in " + h.reasons[0].name
	if len(h.reasons) > 1 && h.reasonShare(h.reasons[1].name) >= 0.1 {
		f.Summary += ", then " + h.reasons[1].name
	}
	if tellUnwritten(h, f) {
		return
	}
	if part := h.writesShare(); part >= 0.25 {
		f.Summary += fmt.Sprintf("; %s of it are system calls that write", unit.Percent(part))
		f.Advice = "Write through a buffer: here lines go to the file or the connection one by one, with a system call each. A bufio.Writer that is flushed at the end, and every second or so, or the logger's own buffer, writes many at once; what is not flushed is lost in a crash. Or log less: raise the level, log only one in many requests."
		return
	}
	f.Advice = "Log less in the hot path: raise the level, check that a level is enabled before building its arguments, log only one in many requests, and sample traces; write through a buffer. Typed values (slog.Attr, zap.Field) cost less than formats."
}
