package insight

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"loupe/exectrace"
	"loupe/recording"
	"loupe/sched"
	"loupe/session"
	"loupe/stack"
	"loupe/timeline"
	"loupe/unit"
)

// traced is what one pass over the execution trace has found, for all rules.
type traced struct {
	*sched.Analysis
	entry recording.Entry
	clock timeline.Clock // from the trace's own time onto the axis
	scope stack.Scope
	// module and pkg are the paths of the target's module and package, to
	// show files as the module has them.
	module, pkg string
	part        bool  // it is of a part of the trace
	err         error // why there is no analysis
}

// analyze reads the execution trace of a recording.
func analyze(s *session.Session) *traced { return analyzePart(s, timeline.Span{}, nil) }

// analyzePart reads it and counts what is in a part of the axis, when that is not
// empty.
func analyzePart(s *session.Session, part timeline.Span, stop func() bool) *traced {
	target := &s.Manifest().Target
	t := &traced{scope: s.Scope(), module: target.Module, pkg: target.Package}
	trace, entry, err := s.Trace()
	t.entry, t.err = entry, err
	if err != nil {
		return t
	}
	if t.clock, t.err = s.TraceClock(); t.err != nil {
		return t
	}
	opts := sched.AnalyzeOptions{Stop: stop}
	if t.part = part.Len() > 0; t.part {
		part = timeline.Span{Start: timeline.Time(t.clock.Own(part.Start)), End: timeline.Time(t.clock.Own(part.End))}
		opts.Filter = sched.During(part)
	}
	t.Analysis, t.err = sched.Analyze(trace, opts)
	if t.Analysis != nil && t.Parallel.InForce > 0 {
		t.Parallel.Procs = t.Parallel.InForce // a P that was there for a moment cannot work
	}
	switch {
	case t.err != nil:
	case stop != nil && stop():
		t.err = sched.ErrStopped
	case t.part && t.length() <= 0:
		t.err = errors.New("the execution trace covers none of this time")
	}
	return t
}

// minTrace is the shortest trace that says something of a program.
const minTrace = 100 * time.Millisecond

// onTrace makes a check of one that looks at the execution trace, and answers
// itself where there is not enough of it.
func onTrace(check func(r *Rule, in *Input, t *traced) []Finding) func(r *Rule, in *Input) []Finding {
	return func(r *Rule, in *Input) []Finding {
		t := in.trace()
		if t.err != nil {
			return []Finding{r.answer(TooLittle, "%v", t.err)}
		}
		if t.length() < minTrace {
			what := "the trace"
			if t.part {
				what = "this part of the trace"
			}
			return []Finding{r.short("%s is of %s, %s are needed", what, unit.Duration(t.length()), unit.Duration(minTrace))}
		}
		return check(r, in, t)
	}
}

// length is the time that the trace covers.
func (t *traced) length() time.Duration { return t.Covers.Len() }

// share is d as a share of the trace.
func (t *traced) share(d time.Duration) float64 { return float64(d) / float64(max(1, t.length())) }

// rate is n as a number a second.
func (t *traced) rate(n int64) float64 { return float64(n) / max(1e-9, t.length().Seconds()) }

// own tells whether goroutines that begin with a function are the program's:
// not the runtime's, nor those that record it.
func (t *traced) own(name exectrace.NameID) bool {
	function := t.Reader.Name(name)
	return !sched.IsSystem(function) && !strings.HasPrefix(function, "main.loupeAgent") && stack.Package(function) != "runtime/trace"
}

// groups are the groups of the program's own goroutines by function.
func (t *traced) groups() (own []*sched.Group) {
	for _, g := range t.Groups {
		if t.own(g.Name) {
			own = append(own, g)
		}
	}
	return own
}

// blocks are the places at which goroutines of the program waited, in any of
// the states for which keep is true.
func (t *traced) blocks(keep func(b *sched.Block) bool) (own []*sched.Block) {
	for _, b := range t.Blocks {
		if t.own(b.Worst.Name) && keep(b) {
			own = append(own, b)
		}
	}
	return own
}

// running is for how long the program's goroutines ran, all together.
func (t *traced) running() (sum time.Duration) {
	for _, g := range t.groups() {
		sum += g.Exec
	}
	return sum
}

// site is the frame of a stack that says most to the user: the one of the
// user's code nearest to the leaf, else of a dependency, else the first outside
// of the runtime.
func (t *traced) site(id stack.ID) stack.Frame {
	var best stack.Frame
	for rank, f := stack.Native, 0; f < len(t.Reader.Stacks().Frames(id)); f++ {
		frame := t.Reader.Stacks().Frame(t.Reader.Stacks().Frames(id)[f])
		if origin := t.scope.Origin(frame.Func); origin > rank || best.Func == "" {
			rank, best = max(origin, rank), frame
		}
	}
	return best
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
	f := t.site(id)
	e := Evidence{Text: fmt.Sprintf(format, args...), Path: t.entry.Path, Phase: t.entry.Phase, Span: t.span(t.Covers),
		File: f.File, Line: f.Line, Function: f.Func, Short: t.short(f), Stack: t.stack(id)}
	if e.Function != "" {
		e.Text = stack.Short(f.Func) + ": " + e.Text
	}
	return e
}

// stack is all frames of a stack, the leaf first, nil without any.
func (t *traced) stack(id stack.ID) (frames []Frame) {
	for _, f := range t.Reader.Stacks().Frames(id) {
		frame := t.Reader.Stacks().Frame(f)
		frames = append(frames, Frame{Function: frame.Func, File: frame.File, Line: frame.Line})
	}
	return frames
}

// during narrows evidence down to a part of the trace.
func (e Evidence) during(t *traced, from, to timeline.Time) Evidence {
	e.Span = t.span(timeline.Span{Start: from, End: to})
	return e
}

// span puts a part of the trace onto the axis.
func (t *traced) span(s timeline.Span) *[2]int64 {
	return span(timeline.Span{Start: t.clock.At(int64(s.Start)), End: t.clock.At(int64(s.End))})
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
const noLoss = "; nobody waited for one of them, and the Ps were busy"

// full weighs a finding of waits for a P against a machine whose CPUs were all
// in use: there a load that asks for all it can get makes goroutines wait
// whatever the program does.
func (in *Input) full(f *Finding) {
	if in.busyHost() {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "the load and the program kept all CPUs busy: under a load that asks for all it can get, goroutines wait for a P in every program")
	}
}

// waits are the waits of the program's goroutines for a P.
func (t *traced) waits() (all sched.Histogram) {
	for _, g := range t.groups() {
		all.Merge(&g.Wait)
	}
	return all
}

// plural is a number of things: "1 goroutine", "2,000 goroutines".
func plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return unit.Count(n) + " " + thing + "s"
}

// traceDoubts lists what speaks against what the trace says of times.
func (in *Input) traceDoubts(t *traced, more ...string) []string {
	doubts := in.doubts()
	if n := len(t.Info.Problems); n > 0 {
		doubts = append(doubts, fmt.Sprintf("not all of the trace could be read: %v", t.Info.Problems[0]))
	} else if t.entry.Partial {
		doubts = append(doubts, "the trace was cut off: its end is missing")
	}
	if t.length() < time.Second {
		doubts = append(doubts, fmt.Sprintf("the trace is short, %s: it may be of the program's start alone", unit.Duration(t.length())))
	}
	return append(doubts, more...)
}

// exactly is the impact of what was counted or measured in whole.
func exactly(v float64, what string) *Impact { return &Impact{v, what, v, v} }
