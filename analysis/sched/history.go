package sched

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// History is the life of one goroutine.
type History struct {
	Reader *exectrace.Reader
	Start  timeline.Time // of the trace
	Goroutine
	// CreatedBy is the goroutine that made it, NoGoroutine if that is not in
	// the trace.
	CreatedBy exectrace.GoID
	// Stays are the states that it was in, in order: the first ones, as many
	// as were asked for. More is how many there are beyond.
	Stays []Interval
	More  int
	// Spent is the time in each state, of all stays, also those beyond.
	Spent Spending
	// WokenBy and Woke are the goroutines that ended its waits and those
	// whose waits it ended, most frequent first.
	WokenBy, Woke []Contact
	Regions       []Region // finished ones, at most a thousand
}

// Contact is another goroutine with which one has to do.
type Contact struct {
	G     exectrace.GoID
	Name  exectrace.NameID
	Count int64
	Time  time.Duration // waited
}

// FindGoroutine reads the history of one goroutine; keep is how many stays to
// keep. It is an error when the trace does not have the goroutine.
func FindGoroutine(t *exectrace.Trace, id exectrace.GoID, keep int) (*History, error) {
	return ReadHistory(t, id, HistoryOptions{Keep: keep})
}

// HistoryOptions say what of a history is wanted.
type HistoryOptions struct {
	// Keep is how many stays to keep.
	Keep int
	// Within, unless it is empty, chooses a time: the stays are those in it,
	// cut at its edges, and contacts and regions are of what was read for it.
	// The figures of the goroutine are not of its life then: see [History.Spent].
	Within timeline.Span
	// First is the generation to begin with, that of the begin of Within.
	First int
	// Stop, unless it is nil, is asked now and then whether to end.
	Stop func() bool
}

// ReadHistory is [FindGoroutine] for a part of the trace.
func ReadHistory(t *exectrace.Trace, id exectrace.GoID, opts HistoryOptions) (*History, error) {
	pass := sweep.From(t, opts.First)
	r, gs := pass.Reader(), pass.Goroutines()
	h := &History{Reader: r, CreatedBy: exectrace.NoGoroutine}
	found := false
	names := map[exectrace.GoID]exectrace.NameID{}
	wokenBy, woke := map[exectrace.GoID]*Contact{}, map[exectrace.GoID]*Contact{}
	s := NewSummarizer(gs, Sink{
		Goroutine: func(g *Goroutine) {
			if g.ID == id {
				h.Goroutine, found = *g, true
			} else if wokenBy[g.ID] != nil || woke[g.ID] != nil {
				names[g.ID] = g.Name
			}
		},
		Region: func(re *Region) {
			if re.G == id && len(h.Regions) < 1000 {
				h.Regions = append(h.Regions, *re)
			}
		},
	}, SummaryOptions{})
	var at *sweep.Goroutine // the one that is looked for, once it is known
	var last timeline.Time
	stay := func(i Interval) {
		if opts.Within.Len() > 0 {
			if i.Start = max(i.Start, opts.Within.Start); min(i.End, opts.Within.End) <= i.Start {
				return
			}
			i.End = min(i.End, opts.Within.End)
		}
		h.Spent.add(&i)
		if len(h.Stays) < opts.Keep {
			h.Stays = append(h.Stays, i)
		} else {
			h.More++
		}
	}
	pass.Join(sweep.On(sweep.Every, func(e *exectrace.Event) {
		if pass.Events() == 1 {
			h.Start = e.Time
		}
		if opts.Within.Len() > 0 && e.Time > opts.Within.End {
			last = opts.Within.End
			own := e.Kind == exectrace.KindGoTransition && e.Goroutine() == id
			switch {
			case at != nil:
				gs.Undo(e) // what comes behind the end does not count
			case own && e.From == exectrace.Undetermined:
				s.Event(e)
				at = gs.Is
			}
			if at != nil || own || e.Kind == exectrace.KindSync {
				pass.End()
			}
			return
		}
		last = e.Time
		s.Event(e)
		if !changes(e) {
			return
		}
		was := &gs.Was
		if e.From == exectrace.Waiting && e.G == id && e.Goroutine() != id {
			meet(woke, e.Goroutine(), e.Time-was.Told)
		}
		if e.Goroutine() != id {
			return
		}
		at = gs.Is
		if e.From == exectrace.NotExist {
			h.CreatedBy = e.G
		} else if e.From != exectrace.Undetermined {
			stay(ended(was, e))
			if e.From == exectrace.Waiting && e.G != exectrace.NoGoroutine {
				meet(wokenBy, e.G, e.Time-was.Since)
			}
		}
	}))
	if err := pass.Run(opts.Stop); err != nil {
		return nil, err
	}
	if at != nil && at.ID == id && at.Alive() {
		i := lasting(at, last)
		i.Name = exectrace.NameNone // that of the goroutine is told once
		stay(i)
	}
	s.Finish()
	if !found {
		return nil, fmt.Errorf("the trace has no goroutine %d", id)
	}
	h.WokenBy, h.Woke = contacts(wokenBy, names), contacts(woke, names)
	return h, nil
}

// Spending is the time that a goroutine was in each state.
type Spending struct {
	Running, Runnable, Syscall, Waiting Spent
}

func (s *Spending) add(i *Interval) {
	switch i.State {
	case exectrace.Running:
		s.Running.add(i.Len())
	case exectrace.Runnable:
		s.Runnable.add(i.Len())
	case exectrace.Syscall:
		s.Syscall.add(i.Len())
	case exectrace.Waiting:
		s.Waiting.add(i.Len())
	}
}

// changes tells whether an event takes a goroutine from one state to another.
func changes(e *exectrace.Event) bool {
	return e.Kind == exectrace.KindGoTransition && e.From != e.To
}

// ended is the stay of a goroutine that e ends.
func ended(was *sweep.Goroutine, e *exectrace.Event) Interval {
	i := Interval{G: was.ID, State: was.State, Reason: was.Reason, Start: was.Since, End: e.Time, P: exectrace.NoProc, Stack: was.At(), By: e.G, ByStack: e.Stack}
	if was.State == exectrace.Running {
		i.By, i.ByStack, i.P, i.Stack = exectrace.NoGoroutine, 0, was.P, e.SubjectStack
	}
	return i
}

func meet(m map[exectrace.GoID]*Contact, g exectrace.GoID, d timeline.Time) {
	c := m[g]
	if c == nil {
		c = &Contact{G: g}
		m[g] = c
	}
	c.Count++
	c.Time += time.Duration(d)
}

func contacts(m map[exectrace.GoID]*Contact, names map[exectrace.GoID]exectrace.NameID) []Contact {
	list := make([]Contact, 0, len(m))
	for g, c := range m {
		c.Name = names[g]
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Contact) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.G, b.G)) })
	return list
}

// Where sums up the stays of a history by state, reason and place.
func (h *History) Where() []Place {
	m := map[Place]*Place{}
	for i := range h.Stays {
		s := &h.Stays[i]
		k := Place{State: s.State, Reason: s.Reason, Stack: s.Stack}
		if s.State == exectrace.Running {
			k.Stack, k.Reason = 0, 0
		}
		p := m[k]
		if p == nil {
			p = &Place{State: k.State, Reason: k.Reason, Stack: k.Stack}
			m[k] = p
		}
		p.Count++
		p.Time += s.Len()
		p.Longest = max(p.Longest, s.Len())
	}
	list := make([]Place, 0, len(m))
	for _, p := range m {
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b Place) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Stack, b.Stack)) })
	return list
}

// Place is a state at one place, with the time spent there.
type Place struct {
	State   exectrace.State
	Reason  exectrace.NameID
	Stack   stack.ID
	Count   int64
	Time    time.Duration
	Longest time.Duration
}
