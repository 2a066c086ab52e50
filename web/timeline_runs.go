package web

import (
	"cmp"
	"context"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/timeline"
)

// runList says which goroutines ran on which Ps, in columns: what the lane of
// a P, whose spans go on from one goroutine to the next, cannot tell.
type runList struct {
	Proc      []int64         `json:"proc"`
	Goroutine []int64         `json:"goroutine"`
	Start     []timeline.Time `json:"start"`
	End       []timeline.Time `json:"end"`
	// Function is the number in Names of the function that it began with.
	Function []int    `json:"function"`
	Names    []string `json:"names"`
	// Many says that there are more, which are left out: nobody could read
	// them.
	Many bool `json:"many"`
}

// maxRuns is how many runs an answer has at most.
const maxRuns = 3000

// timelineRuns lists what ran in a range.
func timelineRuns(ctx context.Context, s *subject, q *query) (*runList, error) {
	t, err := s.timeline(ctx, false)
	if err != nil {
		return nil, err
	}
	on, err := q.span(t.On(t.Span()))
	if err != nil {
		return nil, err
	}
	own := t.Own(on)
	w := runs{list: &runList{}, span: own, on: map[exectrace.ProcID]run{}, names: map[exectrace.NameID]int{}, traced: t}
	pass := sweep.From(t.Trace, t.Generation(own.Start))
	pass.Join(sweep.On(sweep.Every, func(e *exectrace.Event) {
		if e.Time < own.End {
			w.event(pass.Reader(), e)
		}
		if w.list.Many || e.Time >= own.End {
			pass.End()
		}
	}))
	if err := pass.Run(func() bool { return ctx.Err() != nil }); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	for p, g := range w.on {
		w.end(p, g, own.End)
	}
	return w.list, nil
}

// run is what goes on on a P.
type run struct {
	g     exectrace.GoID
	start timeline.Time
	name  int
}

// runs collects who runs.
type runs struct {
	*traced
	list  *runList
	span  timeline.Span
	on    map[exectrace.ProcID]run
	names map[exectrace.NameID]int
}

// event takes an event of the trace.
func (w *runs) event(r *exectrace.Reader, e *exectrace.Event) {
	if e.P != exectrace.NoProc && e.G != exectrace.NoGoroutine {
		// Where reading began in its midst, it has run since before.
		now, ok := w.on[e.P]
		if !ok {
			now = run{e.G, w.span.Start, -1}
		}
		if now.g == e.G && now.name < 0 && e.Stack != 0 {
			now.name = w.name(r, r.Root(e.Stack))
		}
		w.on[e.P] = now
	}
	switch e.Kind {
	case exectrace.KindGoTransition:
		if e.To == exectrace.Running && e.From != exectrace.Syscall && e.P != exectrace.NoProc {
			w.stop(e.P, e.Time)
			w.on[e.P] = run{e.Goroutine(), e.Time, -1}
		}
		if (e.From == exectrace.Running || e.From == exectrace.Syscall) && e.To != exectrace.Running && e.To != exectrace.Syscall && e.Goroutine() == e.G {
			w.stop(e.P, e.Time)
		}
	case exectrace.KindProcTransition:
		if e.To != exectrace.Running {
			w.stop(e.Proc(), e.Time)
		}
	}
}

func (w *runs) stop(p exectrace.ProcID, at timeline.Time) {
	if g, ok := w.on[p]; ok {
		w.end(p, g, at)
		delete(w.on, p)
	}
}

func (w *runs) end(p exectrace.ProcID, g run, at timeline.Time) {
	start, end := max(g.start, w.span.Start), min(at, w.span.End)
	if end <= start {
		return
	}
	l := w.list
	if len(l.Proc) == maxRuns {
		l.Many = true
		return
	}
	on := w.On(timeline.Span{Start: start, End: end})
	l.Proc, l.Goroutine = append(l.Proc, int64(p)), append(l.Goroutine, int64(g.g))
	l.Start, l.End, l.Function = append(l.Start, on.Start), append(l.End, on.End), append(l.Function, g.name)
}

// name returns the number of a name.
func (w *runs) name(r *exectrace.Reader, id exectrace.NameID) int {
	n, ok := w.names[id]
	if !ok {
		n = len(w.list.Names)
		w.names[id] = n
		w.list.Names = append(w.list.Names, r.Name(id))
	}
	return n
}
