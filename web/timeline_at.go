package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"loupe/analysis/sched"
	"loupe/analysis/tiles"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/insight"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// laneMoment is what is known of a lane at an instant. All times are on the
// axis.
type laneMoment struct {
	Version int           `json:"version"`
	Lane    laneOnAxis    `json:"lane"`
	At      timeline.Time `json:"at"`
	// Span is the span there; none where the lane has nothing, or no spans.
	// Before and After are its neighbours.
	Span   *laneSpan `json:"span"`
	Before *laneSpan `json:"before"`
	After  *laneSpan `json:"after"`
	// Stay is what the trace tells of the goroutine there.
	Stay *laneStay `json:"stay"`
	// Stop says why the world was stopped, Cycle is the number of the
	// collection among those of the trace, from 1.
	Stop  string `json:"stop"`
	Cycle int    `json:"cycle"`
}

// laneSpan is one span of a lane.
type laneSpan struct {
	timeline.Span
	Class tiles.Class `json:"class"`
	Name  string      `json:"name"` // of the class
}

// laneStay is the stay of a goroutine in a state.
type laneStay struct {
	Goroutine int64  `json:"goroutine"`
	Function  string `json:"function"`
	State     string `json:"state"`
	Reason    string `json:"reason"`
	timeline.Span
	// Begun and Ended say that the trace has its begin and its end.
	Begun bool          `json:"begun"`
	Ended bool          `json:"ended"`
	Proc  int64         `json:"proc"` // that it ran on, -1 for none
	Stack []frameOnPage `json:"stack"`
	// By is the goroutine that has ended the wait, or has made a runnable one
	// so; none for the runtime.
	By *laneContact `json:"by"`
	// Met are the goroutines that it has made or woken up; More counts others.
	Met  []laneContact `json:"met"`
	More int           `json:"more"`
}

// laneContact is another goroutine that one had to do with.
type laneContact struct {
	Goroutine int64         `json:"goroutine"`
	Function  string        `json:"function"`
	At        timeline.Time `json:"at"`
	// Stack is where the one was that woke up the other or made it.
	Stack []frameOnPage `json:"stack"`
	// Of the one that was woken up: why, where and how long it had waited, 0
	// where that is not known.
	Made   bool          `json:"made"`
	Reason string        `json:"reason"`
	Waited time.Duration `json:"waited_ns"`
	Where  []frameOnPage `json:"where"`
}

type frameOnPage = insight.Frame

func framesOnPage(frames []stack.Frame) []frameOnPage {
	out := make([]frameOnPage, len(frames))
	for i, f := range frames {
		out[i] = frameOnPage{Function: f.Func, File: f.File, Line: f.Line}
	}
	return out
}

// timelineAt tells what a lane shows at an instant.
func timelineAt(ctx context.Context, s *subject, q *query) (*laneMoment, error) {
	t, err := s.timeline(ctx, false)
	if err != nil {
		return nil, err
	}
	if v, err := q.number("version", int64(t.Number)); err != nil {
		return nil, err
	} else if v != int64(t.Number) {
		return nil, errRenumbered
	}
	id, err := q.number("lane", -1)
	if err != nil {
		return nil, err
	}
	if id < 0 || id >= int64(t.Len()) {
		return nil, &refusal{http.StatusBadRequest, fmt.Sprintf("there is no lane %d", id)}
	}
	on, err := q.number("t", 0)
	if err != nil {
		return nil, err
	}
	return t.at(ctx, t.Lane(tiles.LaneID(id)), timeline.Time(on))
}

// errRenumbered says that numbers of lanes are of an older version.
var errRenumbered = &refusal{http.StatusConflict, "there is more of the trace now: ask for the lanes again"}

func (t *traced) at(ctx context.Context, l tiles.Lane, on timeline.Time) (*laneMoment, error) {
	own := timeline.Time(t.Clock.Own(on))
	m := &laneMoment{Version: t.Number, Lane: t.lane(&l), At: on}
	spot := sched.Spot{G: exectrace.NoGoroutine, P: exectrace.NoProc, M: exectrace.NoThread, Span: timeline.Span{Start: own, End: own + 1}}
	span, ok := t.At(l.ID, own)
	if ok {
		m.Span = t.span(l.Kind, span)
		m.Before, m.After = t.neighbour(l, span.Start-1), t.neighbour(l, span.End)
		spot.Span = span.Span
	}
	switch l.Kind {
	case tiles.KindGoroutine:
		spot.G = exectrace.GoID(l.Subject)
		if ok {
			spot.State = stateOf(span.Class)
		}
	case tiles.KindProc, tiles.KindThread:
		// Their spans go on when one goroutine runs behind another.
		spot.Span = timeline.Span{Start: own, End: own + 1}
		if l.Kind == tiles.KindProc {
			spot.P = exectrace.ProcID(l.Subject)
		} else {
			spot.M = exectrace.ThreadID(l.Subject)
		}
		if ok && span.Class == tiles.ClassRest {
			return m, nil
		}
	case tiles.KindGC:
		return m, t.collection(ctx, m, l, span, ok)
	default:
		return m, nil
	}
	if !ok && l.Exact {
		return m, nil
	}
	spot.First, spot.Last = t.Generation(spot.Start), t.Generation(spot.End)
	found, err := sched.FindSpot(ctx, t.Trace, spot)
	if found != nil && !found.Begun && spot.First > 0 && l.Kind != tiles.KindGoroutine {
		// What ran there did so since the generation before.
		spot = sched.Spot{G: found.G, P: exectrace.NoProc, M: exectrace.NoThread, Span: found.Span, First: spot.First - 1, Last: spot.First}
		found, err = sched.FindSpot(ctx, t.Trace, spot)
	}
	if err != nil || found == nil {
		return m, err
	}
	m.Stay = t.stay(found)
	if m.Stay.Function == "" && l.Kind != tiles.KindGoroutine {
		n, _ := t.Find(tiles.KindGoroutine, m.Stay.Goroutine, "")
		l = t.Lane(n)
	}
	if m.Stay.Function == "" && l.Kind == tiles.KindGoroutine {
		m.Stay.Function = l.Name
	}
	return m, nil
}

func (t *traced) span(k tiles.Kind, s tiles.Span) *laneSpan {
	return &laneSpan{t.On(s.Span), s.Class, tiles.ClassName(k, s.Class)}
}

// stateOf is the state of a goroutine whose lane shows a class, Undetermined
// when there are several.
func stateOf(c tiles.Class) exectrace.State {
	switch c {
	case tiles.GoRuns:
		return exectrace.Running
	case tiles.GoRunnable:
		return exectrace.Runnable
	case tiles.GoSyscall:
		return exectrace.Syscall
	case tiles.GoGC:
		return exectrace.Undetermined
	}
	return exectrace.Waiting
}

func (t *traced) neighbour(l tiles.Lane, own timeline.Time) *laneSpan {
	s, ok := t.At(l.ID, own)
	if !ok {
		return nil
	}
	return t.span(l.Kind, s)
}

// stay puts what was found in the trace onto the axis.
func (t *traced) stay(f *sched.Found) *laneStay {
	out := &laneStay{
		Goroutine: int64(f.G), Function: f.Function, State: strings.ToLower(f.State.String()), Reason: f.Reason, Span: t.On(f.Span),
		Begun: f.Begun, Ended: f.Ended, Proc: int64(f.P), Stack: framesOnPage(f.Stack), Met: make([]laneContact, len(f.Met)), More: f.More,
	}
	if f.By != exectrace.NoGoroutine {
		at := out.End // of the wait
		if f.State == exectrace.Runnable {
			at = out.Start
		}
		out.By = &laneContact{Goroutine: int64(f.By), Function: f.ByFunction, At: at, Stack: framesOnPage(f.ByStack)}
	}
	for i, c := range f.Met {
		out.Met[i] = laneContact{
			Goroutine: int64(c.G), Function: c.Function, At: t.Clock.At(int64(c.At)), Stack: framesOnPage(c.Stack),
			Made: c.Made, Reason: c.Reason, Waited: c.Waited, Where: framesOnPage(c.Where),
		}
	}
	return out
}

// collection tells of the collector: which cycle it is, and why the world was
// stopped.
func (t *traced) collection(ctx context.Context, m *laneMoment, l tiles.Lane, span tiles.Span, ok bool) error {
	if !ok || span.Class == tiles.ClassRest {
		return nil
	}
	if l.Exact {
		marked := false
		for s := range t.Spans(l.ID, timeline.Span{Start: l.Span.Start, End: span.End}) {
			// Stops of the world are seen within a mark phase.
			if s.Class == tiles.GCMark && !marked {
				m.Cycle++
			}
			marked = s.Class == tiles.GCMark || s.Class == tiles.GCSTW && marked
		}
	}
	if span.Class != tiles.GCSTW {
		return nil
	}
	pass := sweep.From(t.Trace, t.Generation(span.Start))
	r := pass.Reader()
	pass.Join(sweep.On(sweep.Every, func(e *exectrace.Event) {
		if e.Time > span.End+tiles.Grain {
			pass.End()
			return
		}
		if (e.Kind == exectrace.KindRangeBegin || e.Kind == exectrace.KindRangeActive) && e.Time >= span.Start-tiles.Grain && strings.HasPrefix(r.Name(e.Name), "stop-the-world") {
			m.Stop = r.Name(e.Name)
		}
	}))
	return cmp.Or(ctx.Err(), pass.Run(func() bool { return ctx.Err() != nil }))
}
