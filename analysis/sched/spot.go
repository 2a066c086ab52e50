package sched

import (
	"cmp"
	"context"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// Found is one stay of a goroutine in a state with everything that the trace
// tells of it. It holds no ids of a reader: begin and end may be from two.
type Found struct {
	G        exectrace.GoID
	Function string // that it began with, "" where it is not known
	State    exectrace.State
	Reason   string // of a wait
	timeline.Span
	// Begun and Ended say that the trace has its begin and its end.
	Begun, Ended bool
	P            exectrace.ProcID // that it ran on; NoProc in other states
	Stack        []stack.Frame    // where it was: see [Interval.Stack]
	// By is who ended the wait, or made what is runnable so; ByStack is where
	// that was.
	By         exectrace.GoID
	ByFunction string
	ByStack    []stack.Frame
	// Met are the goroutines that it has made or woken up in a stay in which
	// it ran, the first of them; More counts the others.
	Met  []Meeting
	More int
}

// Meeting is what one goroutine has done to another.
type Meeting struct {
	At       timeline.Time
	G        exectrace.GoID
	Function string
	Made     bool // else it has ended its wait
	// Reason, Waited and Where are of the wait, as far as it is in the
	// generation.
	Reason string
	Waited time.Duration
	Where  []stack.Frame
	Stack  []stack.Frame // of the goroutine that did it
}

// maxMet is how many meetings are told.
const maxMet = 100

// Spot is a place in a trace: the goroutine G, or what ran
// on the P or the thread, unless they are none.
type Spot struct {
	G exectrace.GoID
	P exectrace.ProcID
	M exectrace.ThreadID
	// State is the one that G is in, Undetermined if that is not known.
	State exectrace.State
	// Span is about where the stay is, and First and Last the generations in
	// which it begins and ends.
	timeline.Span
	First, Last int
}

// FindSpot reads what a goroutine did at a spot, out of one generation or
// two; nil when there is nothing.
func FindSpot(ctx context.Context, t *exectrace.Trace, at Spot) (*Found, error) {
	s := seeker{spot: at, pass: sweep.From(t, at.First), g: at.G}
	if at.Last > at.First {
		// Nothing between the begin and the end tells more of the stay.
		s.early = true
	}
	m, err := s.seek(ctx)
	if err != nil || m == nil || m.Ended || at.Last <= at.First {
		return m, err
	}
	e := seeker{spot: at, pass: sweep.From(t, at.Last), g: m.G}
	end, err := e.seek(ctx)
	if err != nil || end == nil || end.State != m.State {
		return m, err
	}
	m.End, m.Ended = end.End, end.Ended
	if m.State == exectrace.Waiting {
		m.By, m.ByFunction, m.ByStack = end.By, end.ByFunction, end.ByStack
	}
	if len(m.Stack) == 0 {
		m.Stack = end.Stack
	}
	m.Met, m.More = append(m.Met, end.Met...), m.More+end.More
	return m, nil
}

// seeker reads a generation up to a spot.
type seeker struct {
	spot  Spot
	early bool // the begin is enough
	pass  *sweep.Pass
	r     *exectrace.Reader
	gs    *sweep.Goroutines
	g     exectrace.GoID  // who is looked at
	now   sweep.Goroutine // g in its state
	known bool            // there is one
	by    exectrace.GoID  // who has begun it, if it is runnable
	met   []Meeting
	more  int

	best    *Found
	bestFit misfit
}

const (
	// grain is what times of timelines are rounded down to.
	grain = 64
	// tolerance is how far the span of a spot may lie from the stay: a reader
	// that begins later may move an event by some nanoseconds.
	tolerance = 100
)

func (s *seeker) seek(ctx context.Context) (*Found, error) {
	last, taken := timeline.Time(0), false
	s.r, s.gs = s.pass.Reader(), s.pass.Goroutines()
	s.pass.Join(sweep.On(sweep.Every, func(e *exectrace.Event) {
		last = e.Time
		if changes(e) {
			s.transition(e)
		}
		if s.early && s.best == nil && s.g >= 0 && s.from() <= s.spot.Start+tolerance && e.Time > s.spot.Start+tolerance {
			s.take(nil, e.Time)
			taken = true
			s.pass.End()
			return
		}
		if e.Time > s.spot.End+tolerance && !(s.g >= 0 && s.known && s.from() < s.spot.End) {
			s.pass.End() // what goes on has begun behind it
		}
	}))
	if err := s.pass.Run(func() bool { return ctx.Err() != nil }); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	if !taken && s.g >= 0 && s.known {
		s.take(nil, last)
	}
	return s.best, nil
}

// transition follows the goroutine, and what it does to others.
func (s *seeker) transition(e *exectrace.Event) {
	g := e.Goroutine()
	if s.g >= 0 && e.G == s.g && g != s.g && (e.From == exectrace.Waiting || e.From == exectrace.NotExist) {
		s.meet(e)
	}
	if s.spot.G < 0 && e.To == exectrace.Running && s.runsHere(e) && (s.best == nil && (s.g < 0 || e.Time <= s.spot.Start+tolerance || !s.known)) {
		s.g = g
	}
	if g != s.g {
		return
	}
	if s.known {
		s.take(e, e.Time)
	}
	s.now, s.known, s.by = *s.gs.Is, s.gs.Is.Alive(), exectrace.NoGoroutine
	if e.To == exectrace.Runnable && e.From != exectrace.Running && e.From != exectrace.Undetermined {
		s.by = e.G
	}
	s.met, s.more = nil, 0
	if s.spot.G < 0 && e.To != exectrace.Running && e.To != exectrace.Syscall && s.best == nil {
		s.g, s.known = exectrace.NoGoroutine, false // another one may come here
	}
}

// from returns when the stay of the one that is looked at began, as far as the trace
// tells.
func (s *seeker) from() timeline.Time {
	if s.now.State == exectrace.Undetermined {
		return never
	}
	return s.now.Told
}

// begun says that the trace has the begin of its stay.
func (s *seeker) begun() bool { return !(s.now.First && s.now.Older) }

// runsHere says whether a goroutine that begins to run does so where it is
// looked for.
func (s *seeker) runsHere(e *exectrace.Event) bool {
	return s.spot.P != exectrace.NoProc && e.P == s.spot.P || s.spot.M != exectrace.NoThread && e.M == s.spot.M
}

func (s *seeker) meet(e *exectrace.Event) {
	if len(s.met) == maxMet {
		s.more++
		return
	}
	m := Meeting{At: e.Time, G: e.Goroutine(), Made: e.From == exectrace.NotExist, Stack: s.frames(e.Stack)}
	if m.Made {
		m.Function = s.r.Name(s.r.Root(e.SubjectStack))
	} else {
		w := &s.gs.Was
		m.Function, m.Reason, m.Where = s.function(w.Stack), s.r.Name(w.Reason), s.frames(w.Stack)
		if !w.First || !w.Older {
			m.Waited = e.Time.Sub(w.Since)
		}
	}
	s.met = append(s.met, m)
}

// take takes the stay that ends, with e or with the reading, for the one if
// it fits better than the one before.
func (s *seeker) take(e *exectrace.Event, end timeline.Time) {
	stay := timeline.Span{Start: s.from(), End: end}
	fit, near := s.misfit(stay, e != nil)
	if !near || s.best != nil && fit.asBadAs(s.bestFit) {
		return
	}
	s.bestFit = fit
	i := lasting(&s.now, end)
	if e != nil {
		i = ended(&s.now, e)
	}
	if i.State == exectrace.Runnable && s.now.First {
		i.Stack = 0 // it was nowhere yet
	}
	m := &Found{G: s.g, State: i.State, Reason: s.r.Name(i.Reason), Span: stay, Begun: s.begun(), P: i.P, Stack: s.frames(i.Stack),
		Function: s.function(i.Stack), By: exectrace.NoGoroutine, Met: s.met, More: s.more}
	if e != nil {
		m.Ended = true
		if i.State == exectrace.Waiting {
			m.By, m.ByStack = i.By, s.frames(i.ByStack)
		}
	}
	if i.State == exectrace.Runnable && s.by != exectrace.NoGoroutine {
		m.By, m.ByStack, m.ByFunction = s.by, s.frames(s.now.By), s.function(s.now.By)
	}
	if e != nil && i.State == exectrace.Waiting && m.By != exectrace.NoGoroutine {
		m.ByFunction = s.function(e.Stack)
	}
	s.best = m
}

// misfit is how far a stay is from what is looked for. Edges that the trace
// does not have are not compared.
type misfit struct {
	state   int           // 1 when it is another one
	outside timeline.Time // of the spot, beyond the stay
	edges   timeline.Time // from those of the spot to those of the stay
}

// asBadAs orders by the edges last: of a long stay the timeline may have drawn
// a part, because there was an assist in it.
func (m misfit) asBadAs(o misfit) bool {
	return cmp.Or(cmp.Compare(m.state, o.state), cmp.Compare(m.outside, o.outside), cmp.Compare(m.edges, o.edges)) >= 0
}

// misfit says how badly a stay fits the spot, and whether it is near at all.
func (s *seeker) misfit(stay timeline.Span, ended bool) (m misfit, near bool) {
	at := timeline.Span{Start: s.spot.Start - tolerance, End: s.spot.End + tolerance}
	if near = stay.Overlap(at) > 0 || at.Contains(stay.Start); !near {
		return m, false
	}
	if s.spot.G < 0 { // whatever is there
		return misfit{outside: max(0, stay.Start-s.spot.Start, s.spot.Start-stay.End+1)}, true
	}
	if s.spot.State != exectrace.Undetermined && s.spot.State != s.now.State {
		m.state = 1
	}
	if s.begun() {
		m.outside += max(0, stay.Start-s.spot.Start-grain)
		m.edges += distance(stay.Start, s.spot.Start)
	}
	if ended {
		m.outside += max(0, s.spot.End-stay.End)
		m.edges += distance(stay.End, s.spot.End)
	}
	return m, true
}

// distance is how far an instant is from one that was rounded down to a grain.
func distance(at, rounded timeline.Time) timeline.Time {
	return max(0, rounded-at, at-rounded-grain)
}

func (s *seeker) function(id stack.ID) string {
	if id == 0 {
		return ""
	}
	return s.r.Name(s.r.Root(id))
}

func (s *seeker) frames(id stack.ID) []stack.Frame {
	table := s.r.Stacks()
	ids := table.Frames(id)
	out := make([]stack.Frame, len(ids))
	for i, f := range ids {
		out[i] = table.Frame(f)
	}
	return out
}
