package insight

import (
	"loupe/analysis/facts"
	"loupe/value/stack"
)

var cp13 = &Rule{
	ID: "CP13", Title: "Logging and telemetry are much of the work",
	About: "The time and memory spent in packages for logging, tracing and metrics: the standard log and slog, zap, zerolog, logrus, OpenTelemetry, Prometheus and the like, " +
		"including their formatting and writing. Serving a scrape of all metrics is not counted.",
	Asks: []facts.Question{facts.Work},
	Params: []Param{
		{"cpu", 0.10, "share of CPU time", "research, CP13; the lower bound of the interval counts"},
		{"bytes", 0.15, "share of allocated bytes", "chosen"},
		{"warn", 0.20, "share of CPU time or bytes", "research, CP13: more than a fifth"},
		g0,
	},
	Check: check(
		&look{of: facts.CPU, sample: "samples", limit: "cpu", warn: "warn", set: "logging", skip: []string{"startup", "scrape"},
			foreign: true, anyone: true, reason: loggingReason, what: "went into logging and telemetry", tell: tellLogging},
		&look{of: facts.Allocations, sample: "alloc_space", limit: "bytes", warn: "warn", set: "logging", skip: []string{"startup", "scrape"},
			foreign: true, anyone: true, reason: loggingReason, what: "came from logging and telemetry", tell: tellLogging},
	),
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

func tellLogging(h *hit, f *Finding) {
	f.Summary += "; most of it in " + h.reasons[0].name
	if len(h.reasons) > 1 && h.reasonShare(h.reasons[1].name) >= 0.1 {
		f.Summary += ", then " + h.reasons[1].name
	}
	f.Advice = "Log less in the hot path: raise the level, check that a level is enabled before building its arguments, log only one in many requests, and sample traces; write through a buffer. Typed values (slog.Attr, zap.Field) cost less than formats."
}
