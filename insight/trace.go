package insight

import (
	"fmt"
	"path"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/format/exectrace"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// traced is the analysis of the execution trace, with what makes evidence of it.
type traced struct {
	*facts.Trace
	// module and pkg are the paths of the target's module and package, to
	// show files as the module has them.
	module, pkg string
}

// trace is the analysis of the execution trace.
func (in *Input) trace() *traced {
	target := &in.Session.Manifest().Target
	return &traced{Trace: in.Facts.Trace(), module: target.Module, pkg: target.Package}
}

// onTrace makes a check of one that looks at the execution trace, and answers
// itself where there is not enough of it.
func onTrace(check func(r *Rule, in *Input, t *traced) []Finding) func(r *Rule, in *Input) []Finding {
	return func(r *Rule, in *Input) []Finding {
		t := in.trace()
		if t.Err != nil {
			return []Finding{r.answer(TooLittle, "%v", t.Err)}
		}
		if err := t.TooShort(); err != nil {
			return []Finding{r.short("%v", err)}
		}
		return check(r, in, t)
	}
}

// name is a function in short.
func (t *traced) name(id exectrace.NameID) string {
	name := stack.Short(t.Reader.Name(id))
	if name == "runtime.doInit1" || name == "runtime.doInit" {
		return "the main goroutine" // which ran init functions when it was first seen
	}
	if name == "" {
		return "goroutines of unknown functions" // the trace was cut, or began later
	}
	return name
}

// place names a frame in a sentence: "search.find at rss.go:5".
func place(f stack.Frame) string {
	if f.Func == "" {
		return "a place without a stack"
	}
	return fmt.Sprintf("%s at %s:%d", stack.Short(f.Func), baseName(f.File), f.Line)
}

// seen is evidence at a stack, of the trace as a whole.
func (t *traced) seen(id stack.ID, format string, args ...any) Evidence {
	return t.seenAt(t.Frames(id), t.Site(id), format, args...)
}

// seenAt is evidence at a frame of a stack, of the trace as a whole.
func (t *traced) seenAt(frames []stack.Frame, f stack.Frame, format string, args ...any) Evidence {
	e := Evidence{Text: fmt.Sprintf(format, args...), Path: t.Entry.Path, Phase: t.Entry.Phase, Span: t.span(t.Covers),
		File: f.File, Line: f.Line, Function: f.Func, Short: t.short(f), Stack: evidenceStack(frames)}
	if e.Function != "" {
		e.Text = stack.Short(f.Func) + ": " + e.Text
	}
	return e
}

// during narrows evidence down to a part of the trace.
func (e Evidence) during(t *traced, from, to timeline.Time) Evidence {
	e.Span = t.span(timeline.Span{Start: from, End: to})
	return e
}

// ofGoroutine says that the evidence is a stay of a goroutine.
func (e Evidence) ofGoroutine(g exectrace.GoID) Evidence {
	e.About = fmt.Sprintf("g%d", g)
	return e
}

// ofCollector says that the evidence is work of the collector.
func (e Evidence) ofCollector() Evidence {
	e.About = "gc"
	return e
}

// span puts a part of the trace onto the axis.
func (t *traced) span(s timeline.Span) *[2]int64 {
	return span(timeline.Span{Start: t.Clock.At(int64(s.Start)), End: t.Clock.At(int64(s.End))})
}

// since is an instant of the trace as the time since its begin.
func (t *traced) since(at timeline.Time) string { return unit.Duration(at.Sub(t.Info.Span.Start)) }

// short is the file of a frame as the module has it, judging by the package.
func (t *traced) short(f stack.Frame) string {
	pkg := stack.Package(f.Func)
	if pkg == "main" {
		pkg = t.pkg
	}
	if t.module == "" || pkg != t.module && !strings.HasPrefix(pkg, t.module+"/") {
		return ""
	}
	return path.Join(strings.TrimPrefix(strings.TrimPrefix(pkg, t.module), "/"), baseName(f.File))
}

// noLoss is what is said of a program that computes.
const noLoss = "; nothing waited for any of them, and the Ps were busy"

// full weighs a finding of waits for a P against a machine whose CPUs were all
// in use: there a load that asks for all it can get makes goroutines wait
// whatever the program does.
func full(in *Input, f *Finding) {
	if in.Facts.Noise().Full() {
		f.Severity, f.crowded = Info, true
		f.Doubts = append(f.Doubts, inUse(in, in.Facts.Noise())+": then goroutines wait for a P in every program")
	}
}

// late weighs a finding about when threads ran, in a phase: a machine that has something
// else to do, or no CPU left, runs them late whatever the program does.
func late(in *Input, f *Finding, phase string) {
	n := in.Facts.NoiseOf(phase)
	switch {
	case n.Full():
		f.Doubts = append(f.Doubts, inUse(in, n)+": "+onKernel)
	case in.Facts.Noise().Full():
		f.Doubts = append(f.Doubts, inUse(in, in.Facts.Noise())+": "+onKernel)
	case n.Reason != "":
		f.Doubts = append(f.Doubts, "meanwhile "+n.Reason+": "+onKernel)
	case n.Delayed() && crowded[f.Rule]:
		f.Doubts = append(f.Doubts, fmt.Sprintf("meanwhile the program's threads waited for a CPU in %s of the time in which they wanted one: %s", unit.Percent(n.Late), onKernel))
	default:
		return
	}
	f.Severity, f.crowded = Info, true
}

// inUse says by whom all CPUs were in use.
func inUse(in *Input, n *facts.Noise) string {
	who := "the program"
	if len(in.Session.Manifest().Of(recording.Load)) > 0 {
		who = "the load and the program"
	}
	if n.Competing >= facts.NoisyCompeting {
		return fmt.Sprintf("all CPUs were busy, %s of them with other programs", unit.Percent(n.Competing))
	}
	if who == "the program" && n.Own < mostOfCPUs {
		return fmt.Sprintf("all CPUs were busy, %s of them with the program, the rest with the recording and others", unit.Percent(n.Own))
	}
	return who + " kept all CPUs busy"
}

// mostOfCPUs is the share of all CPUs from which on it is one program that keeps them busy; chosen.
const mostOfCPUs = 0.8

// onKernel is why times of threads are doubtful on a busy machine.
const onKernel = "a thread that has to run or stop waits for the kernel first"

// traceDoubts lists what speaks against what the trace says of times.
func (in *Input) traceDoubts(t *traced, more ...string) []string {
	doubts := in.doubts()
	if n := len(t.Info.Problems); n > 0 {
		doubts = append(doubts, fmt.Sprintf("not all of the trace could be read: %v", t.Info.Problems[0]))
	} else if t.Entry.Partial {
		doubts = append(doubts, "the trace was cut off: its end is missing")
	}
	if t.Length() < time.Second && !facts.EndsByItself(in.Session) { // else it has a whole run
		doubts = append(doubts, fmt.Sprintf("the trace is short, %s: it may cover only the program's startup", unit.Duration(t.Length())))
	}
	return append(doubts, more...)
}

// exactly is the impact of what was counted or measured in whole.
func exactly(v float64, what string) *Impact { return &Impact{v, what, v, v} }
