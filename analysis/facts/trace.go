package facts

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/overlap"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// Trace is what one pass over the execution trace has found, and of that what is the
// program's own: not the runtime's, nor of those that record it.
type Trace struct {
	*sched.Analysis
	Entry recording.Entry
	// Clock leads from the trace's own time onto the axis.
	Clock timeline.Clock
	Scope stack.Scope
	// Part tells that it is of a part of the trace.
	Part bool
	// Err is why there is no analysis.
	Err error
}

// Stopped tells whether an error, such as that of [Trace], says that somebody has ended the
// reading.
func Stopped(err error) bool { return errors.Is(err, sweep.ErrStopped) }

// MinTrace is the shortest trace that says something of a program.
const MinTrace = 100 * time.Millisecond

// trace reads the execution trace and counts what is in a part of the axis, when that
// is not empty.
func trace(s *session.Session, part timeline.Span, stop func() bool) *Trace {
	t := &Trace{Scope: s.Scope()}
	trace, entry, err := s.Trace()
	t.Entry, t.Err = entry, err
	if err != nil {
		return t
	}
	if t.Clock, t.Err = s.TraceClock(); t.Err != nil {
		return t
	}
	if t.Part = part.Len() > 0; t.Part {
		part = timeline.Span{Start: timeline.Time(t.Clock.Own(part.Start)), End: timeline.Time(t.Clock.Own(part.End))}
		t.Analysis, t.Err = sched.Analyze(trace, sched.AnalyzeOptions{Filter: sched.During(part), Stop: stop})
	} else {
		t.Analysis, t.Err = wholeTrace(s)
	}
	if t.Analysis != nil && t.Parallel.InForce > 0 {
		mine := *t.Analysis                      // others may have it too
		mine.Parallel.Procs = t.Parallel.InForce // a P that was there for a moment cannot work
		t.Analysis = &mine
	}
	switch {
	case t.Err != nil:
	case stop != nil && stop():
		t.Err = sweep.ErrStopped
	case t.Part && t.Length() <= 0:
		t.Err = errors.New("the execution trace covers none of this time")
	}
	return t
}

// wholeTrace is the analysis of a whole trace.
func wholeTrace(s *session.Session) (*sched.Analysis, error) {
	desk, err := s.Sweep()
	if err != nil {
		return nil, err
	}
	return sweep.Get(s.Context(), desk, nil, sched.Whole, Wants(s)...)
}

// Wants are what rules ask of the execution trace of a recording.
func Wants(s *session.Session) []sweep.Wanted {
	wants := []sweep.Wanted{sched.Whole, account.Whole(s.Scope(), Serves(s)), sched.WholeTurns}
	trace, ok := s.Manifest().Main(recording.ExecTrace)
	if len(s.Manifest().Of(recording.CPU)) == 0 {
		wants = append(wants, sched.Samples)
	}
	// Slow requests are laid over what happened while they were sent.
	if ok && slices.ContainsFunc(s.Manifest().Of(recording.Load), func(e recording.Entry) bool { return e.Phase == trace.Phase }) {
		wants = append(wants, overlap.Whole)
	}
	return wants
}

// TooShort says that the trace says nothing of a program, or of the part; nil when it
// does.
func (t *Trace) TooShort() error {
	if t.Length() >= MinTrace {
		return nil
	}
	what := "the trace"
	if t.Part {
		what = "this part of the trace"
	}
	return fmt.Errorf("%s covers %s; %s are needed", what, unit.Duration(t.Length()), unit.Duration(MinTrace))
}

// Length is the time that the trace covers.
func (t *Trace) Length() time.Duration { return t.Covers.Len() }

// Share is d as a share of the trace.
func (t *Trace) Share(d time.Duration) float64 { return float64(d) / float64(max(1, t.Length())) }

// Rate is n as a number a second.
func (t *Trace) Rate(n int64) float64 { return float64(n) / max(1e-9, t.Length().Seconds()) }

// Own tells whether goroutines that begin with a function are the program's.
func (t *Trace) Own(name exectrace.NameID) bool {
	function := t.Reader.Name(name)
	return !sched.IsSystem(function) && !strings.HasPrefix(function, "main.loupeAgent") && stack.Package(function) != "runtime/trace"
}

// OwnGroups are the groups of the program's own goroutines by function.
func (t *Trace) OwnGroups() (own []*sched.Group) {
	for _, g := range t.Groups {
		if t.Own(g.Name) {
			own = append(own, g)
		}
	}
	return own
}

// OwnGroup returns the group of a name, or nil.
func (t *Trace) OwnGroup(name exectrace.NameID) *sched.Group {
	for _, g := range t.OwnGroups() {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// OwnBlocks are the places at which goroutines of the program waited for which keep
// is true.
func (t *Trace) OwnBlocks(keep func(b *sched.Block) bool) (own []*sched.Block) {
	for _, b := range t.Blocks {
		if t.Own(b.Worst.Name) && keep(b) {
			own = append(own, b)
		}
	}
	return own
}

// Running is for how long the program's goroutines ran, all together.
func (t *Trace) Running() (sum time.Duration) {
	for _, g := range t.OwnGroups() {
		sum += g.Exec
	}
	return sum
}

// ForP are the waits of the program's goroutines for a P.
func (t *Trace) ForP() (all sched.Histogram) {
	for _, g := range t.OwnGroups() {
		all.Merge(&g.Wait)
	}
	return all
}

// Site is the frame of a stack that says most to the user: the one of the user's code
// nearest to the leaf, else of a dependency, else the first outside of the runtime.
func (t *Trace) Site(id stack.ID) stack.Frame { return SiteOf(t.Scope, t.Frames(id)) }

// Frames are those of a stack, the leaf first.
func (t *Trace) Frames(id stack.ID) []stack.Frame { return Frames(t.Reader.Stacks(), id) }

// collects tells whether a block is a wait of the collector or of the runtime itself,
// which looks like one for a lock.
func collects(t *Trace, b *sched.Block) bool {
	return b.Reason == exectrace.NameSync && (!callsSync(t.Frames(b.Stack)) || exectrace.IsCollectorWait(t.Reader.Stacks(), b.Stack, b.Reason))
}

// Frames returns a stack, the leaf first.
func Frames(t *stack.Table, id stack.ID) (all []stack.Frame) {
	for _, f := range t.Frames(id) {
		all = append(all, t.Frame(f))
	}
	return all
}

// SiteOf is the frame of a stack, the leaf first, that says most to the user: see [Trace.Site].
func SiteOf(scope stack.Scope, frames []stack.Frame) (best stack.Frame) {
	rank := stack.Native
	for _, f := range frames {
		if origin := scope.Of(f); origin > rank || best.Func == "" {
			rank, best = max(origin, rank), f
		}
	}
	return best
}
