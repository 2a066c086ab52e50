package sched

import (
	"cmp"
	"slices"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// GCWork is what the collector did and cost.
type GCWork struct {
	Cycles []Cycle
	// Pauses are the stop-the-worlds by kind, longest total first; Worst the
	// longest ones of all kinds. Stops are the same by kind and by where they were asked
	// for, longest total first.
	Pauses []Pauses
	Worst  []Pause
	Stops  []Stops
	// Assists are the mark assists by the function that goroutines began
	// with, and by where they were.
	Assists     []Assists
	AssistTotal time.Duration
	// HeapGoal and HeapAlloc are the highest values seen, in bytes.
	HeapGoal, HeapAlloc uint64
}

// Cycle is one mark phase.
type Cycle struct {
	Span timeline.Span
	// Whole says that the trace has its begin and its end.
	Whole   bool
	Assist  time.Duration // by all goroutines
	Paused  time.Duration // in stop-the-worlds that end within, or right before
	Heap    uint64        // live and dead objects at its begin
	Assists int64
}

// Pauses are the stop-the-worlds of one kind.
type Pauses struct {
	Kind exectrace.NameID
	Histogram
	// Stopping is how long it took until the last P stood still.
	Stopping Histogram
}

// Stops are the stop-the-worlds of one kind that were asked for at one place.
type Stops struct {
	Kind exectrace.NameID
	// Stack is where; 0 where the trace does not say, and for what is beyond the most
	// places that are kept apart.
	Stack stack.ID
	Histogram
	// Stopping is how long it took until the last P stood still, all together.
	Stopping time.Duration
	Worst    Pause
}

// Pause is one stop-the-world.
type Pause struct {
	Kind  exectrace.NameID
	Span  timeline.Span
	G     exectrace.GoID
	Stack stack.ID
	// Stopping is the part of it until the last P stood still.
	Stopping time.Duration
}

// Assists are the mark assists of one kind of goroutine.
type Assists struct {
	Name exectrace.NameID
	Histogram
	// Ran is the part of them for which their goroutines ran; for the rest
	// they waited for work to do or for a P.
	Ran time.Duration
	// MostRan is the most that one of them ran.
	MostRan time.Duration
	// Stack is where the most of their time began; 0 where the trace does not say.
	Stack stack.ID

	// Places are those of them that began at each stack, as far as the trace says where, and there are not too many.
	Places map[stack.ID]AssistPlace `json:"-"`
}

// AssistPlace is how many mark assists began at a stack, how long they took, for how much of that their goroutines ran, and the most that one
// of them ran.
type AssistPlace struct {
	Count              int64
	Time, Ran, MostRan time.Duration
}

// maxAssistStacks bounds the places that are kept apart for one kind of goroutine. Assists
// begin wherever somebody allocates.
const maxAssistStacks = 1000

// at adds the time of an assist to where it began.
func (k *Assists) at(id stack.ID, d, ran time.Duration) {
	if k.Places == nil {
		k.Places = map[stack.ID]AssistPlace{}
	}
	if p, known := k.Places[id]; id != 0 && (known || len(k.Places) < maxAssistStacks) {
		k.Places[id] = AssistPlace{p.Count + 1, p.Time + d, p.Ran + ran, max(p.MostRan, ran)}
	}
}

// place chooses where the most time began.
func (k *Assists) place() {
	for id, p := range k.Places {
		if most := k.Places[k.Stack].Time; p.Time > most || p.Time == most && id < k.Stack {
			k.Stack = id
		}
	}
}

// gcWatch follows the collector.
type gcWatch struct {
	tracks *tracks
	gs     *sweep.Goroutines
	par    *parallelism
	top    int           // how many of the worst stops are kept
	begin  timeline.Time // of the trace

	out     GCWork
	inCycle bool
	cycle   Cycle
	heap    uint64
	goal    uint64
	assists map[exectrace.NameID]*Assists
	paused  time.Duration // since the last cycle
	ended   timeline.Time // of the last cycle
	stops   map[stopPlace]*Stops
}

// stopPlace is what makes stops alike.
type stopPlace struct {
	kind  exectrace.NameID
	stack stack.ID
}

// maxStops bounds the places that are kept apart. The collector's stops begin wherever
// somebody allocates.
const maxStops = 1000

// maxCycles bounds the cycles that are kept for themselves.
const maxCycles = 10_000

func (w *gcWatch) metric(e *exectrace.Event) {
	switch e.Name {
	case exectrace.NameHeapObjects:
		w.heap = e.Value()
		w.out.HeapAlloc = max(w.out.HeapAlloc, w.heap)
	case exectrace.NameHeapGoal:
		if e.Value() < 1<<62 { // without a limit the goal is the largest number
			w.goal = e.Value()
			w.out.HeapGoal = max(w.out.HeapGoal, w.goal)
		}
	}
}

// restart forgets what was counted before an instant. A mark phase that is under
// way is cut.
func (w *gcWatch) restart(at timeline.Time) {
	w.out = GCWork{HeapAlloc: w.heap, HeapGoal: w.goal}
	w.assists, w.paused, w.stops, w.ended = nil, 0, nil, at
	w.cycle = Cycle{Span: timeline.Span{Start: at}, Heap: w.cycle.Heap}
}

func (w *gcWatch) endCycle(at timeline.Time, whole bool) {
	w.cycle.Span.End = at
	w.cycle.Whole = w.cycle.Whole && whole
	w.cycle.Paused += w.paused
	if len(w.out.Cycles) < maxCycles {
		w.out.Cycles = append(w.out.Cycles, w.cycle)
	}
	w.inCycle, w.paused, w.ended = false, 0, at
}

// unbegun is a cycle whose begin is not in the trace. It began with the trace or, where a
// part of that is lost, after the cycle before it.
func (w *gcWatch) unbegun(start timeline.Time) {
	w.cycle = Cycle{Span: timeline.Span{Start: max(start, w.ended)}}
}

// ranges takes the events of mark phases, assists and stop-the-worlds.
func (w *gcWatch) ranges(e *exectrace.Event) {
	switch {
	case e.Name == exectrace.NameMarkPhase:
		switch e.Kind {
		case exectrace.KindRangeEnd:
			if !w.inCycle {
				w.unbegun(w.begin)
			}
			w.endCycle(e.Time, true)
		case exectrace.KindRangeBegin:
			w.cycle, w.inCycle = Cycle{Span: timeline.Span{Start: e.Time}, Whole: true, Heap: w.heap}, true
		default:
			if !w.inCycle {
				w.unbegun(w.begin)
				w.inCycle = true
			}
		}
	case e.Name == exectrace.NameSweep || e.SubjectSlot == exectrace.NoSlot:
	case e.Name == exectrace.NameMarkAssist:
		t := w.tracks.at(e.SubjectSlot).more()
		if e.Kind != exectrace.KindRangeEnd {
			if t.assist == 0 {
				t.assist, t.assistStack = e.Time, e.Stack
			}
			break
		}
		if t.assist != 0 {
			w.assist(e.Time, t, w.gs.In(e.SubjectSlot))
			t.assist, t.assistRan = 0, 0
		}
	case e.Kind == exectrace.KindRangeEnd:
		if t := w.tracks.at(e.SubjectSlot).rare; t != nil && t.stw != 0 {
			w.pause(e.Time, t, w.gs.In(e.SubjectSlot).ID)
			t.stw = 0
			w.par.stopped(e.Time, -1)
		}
	default:
		t := w.tracks.at(e.SubjectSlot).more()
		if t.stw == 0 { // else one that goes on over the begin of a generation
			t.stw, t.stwStack, t.stwKind = e.Time, e.Stack, e.Name
			w.par.stopped(e.Time, +1)
		}
	}
}

// assist counts one mark assist, up to an instant.
func (w *gcWatch) assist(at timeline.Time, t *rareTrack, g *sweep.Goroutine) {
	d, ran := at.Sub(t.assist), t.assistRan
	if g.State == exectrace.Running {
		ran += at.Sub(max(g.Since, t.assist))
	}
	if w.assists == nil {
		w.assists = make(map[exectrace.NameID]*Assists)
	}
	k := w.assists[g.Name]
	if k == nil {
		k = &Assists{Name: g.Name}
		w.assists[g.Name] = k
	}
	k.Add(d)
	k.Ran, k.MostRan = k.Ran+ran, max(k.MostRan, ran)
	k.at(t.assistStack, d, ran)
	w.out.AssistTotal += d
	if w.inCycle {
		w.cycle.Assist += d
		w.cycle.Assists++
	}
}

// pause counts one stop-the-world, up to an instant.
func (w *gcWatch) pause(at timeline.Time, t *rareTrack, id exectrace.GoID) {
	p := Pause{Kind: t.stwKind, Span: timeline.Span{Start: t.stw, End: at}, G: id, Stack: t.stwStack}
	p.Stopping = max(0, w.par.stoodStill.Sub(t.stw))
	i := slices.IndexFunc(w.out.Pauses, func(k Pauses) bool { return k.Kind == p.Kind })
	if i < 0 {
		i = len(w.out.Pauses)
		w.out.Pauses = append(w.out.Pauses, Pauses{Kind: p.Kind})
	}
	w.out.Pauses[i].Add(p.Span.Len())
	w.out.Pauses[i].Stopping.Add(p.Stopping)
	w.paused += p.Span.Len()
	w.place(p)
	if len(w.out.Worst) == w.top && p.Span.Len() <= w.out.Worst[len(w.out.Worst)-1].Span.Len() {
		return
	}
	w.out.Worst = append(w.out.Worst, p)
	slices.SortStableFunc(w.out.Worst, func(x, y Pause) int { return cmp.Compare(y.Span.Len(), x.Span.Len()) })
	w.out.Worst = w.out.Worst[:min(len(w.out.Worst), w.top)]
}

// place counts a stop where it was asked for.
func (w *gcWatch) place(p Pause) {
	if w.stops == nil {
		w.stops = map[stopPlace]*Stops{}
	}
	at := stopPlace{p.Kind, p.Stack}
	if len(w.stops) >= maxStops && w.stops[at] == nil {
		at.stack = 0
	}
	s := w.stops[at]
	if s == nil {
		s = &Stops{Kind: at.kind, Stack: at.stack}
		w.stops[at] = s
	}
	s.Add(p.Span.Len())
	s.Stopping += p.Stopping
	if s.Count == 1 || p.Span.Len() > s.Worst.Span.Len() {
		s.Worst = p
	}
}

// clear forgets all that was counted.
func (w *gcWatch) clear() {
	*w = gcWatch{tracks: w.tracks, gs: w.gs, par: w.par, top: w.top, begin: w.begin}
}

// finish returns the collector's work.
func (w *gcWatch) finish(at timeline.Time) GCWork {
	if w.inCycle {
		w.endCycle(at, false)
	}
	for _, k := range w.assists {
		k.place()
		w.out.Assists = append(w.out.Assists, *k)
	}
	slices.SortFunc(w.out.Assists, func(x, y Assists) int {
		return cmp.Or(cmp.Compare(y.Sum, x.Sum), cmp.Compare(x.Name, y.Name))
	})
	for _, s := range w.stops {
		w.out.Stops = append(w.out.Stops, *s)
	}
	slices.SortFunc(w.out.Stops, func(x, y Stops) int {
		return cmp.Or(cmp.Compare(y.Sum, x.Sum), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Stack, y.Stack))
	})
	slices.SortFunc(w.out.Pauses, func(x, y Pauses) int {
		return cmp.Or(cmp.Compare(y.Sum, x.Sum), cmp.Compare(x.Kind, y.Kind))
	})
	return w.out
}
