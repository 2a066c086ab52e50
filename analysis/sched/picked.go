package sched

import (
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// picked is what a filter has let through, by goroutine.
type picked struct {
	did     map[exectrace.GoID]*Stats
	pieces  []Interval // of the stay that is being counted
	lives   map[*Group][]timeline.Span
	forever map[exectrace.GoID]*Goroutine // wait until the end, and have been handed over
	one     Goroutine                     // that is handed on; here so that it is not allocated
}

func newPicked() *picked {
	return &picked{
		did: map[exectrace.GoID]*Stats{}, lives: map[*Group][]timeline.Span{}, forever: map[exectrace.GoID]*Goroutine{},
	}
}

// pick adds what the filter leaves of a stay to what its goroutine did, and
// returns it, until it is called again. Over says that the trace ends with it.
func (a *analyzer) pick(i *Interval, t *track, over bool) []Interval {
	p := a.picked
	a.nameIt(i)
	p.pieces = a.opts.Filter.Stays(a.out.Reader, i, p.pieces[:0])
	if len(p.pieces) == 0 {
		return nil
	}
	did := p.did[i.G]
	if did == nil {
		did = &Stats{}
		p.did[i.G] = did
	}
	for n := range p.pieces {
		piece := &p.pieces[n]
		d := piece.Len()
		did.Total += d
		switch piece.State {
		case exectrace.Running:
			did.Exec += d
		case exectrace.Runnable:
			did.SchedWait += d
		case exectrace.Syscall:
			did.Syscall += d
		case exectrace.Waiting:
			did.Blocked.add(a.out.Reader.WaitReasonID(piece.Reason, piece.Stack), d)
		}
	}
	// Who is in such a stay when the trace ends, or the part of it that counts,
	// has not ended.
	last := &p.pieces[len(p.pieces)-1]
	if last.End == min(i.End, a.window.End) && (over || i.End >= a.window.End) {
		b := begun{id: i.G}
		if t.creator != nil {
			b.creator = t.creator.Creator
		}
		a.found(leftKey{last.Name, last.Reason, last.State, last.Stack}, b, i.Start, last.Len())
	}
	return p.pieces
}

// nameIt names a goroutine that no event has named yet.
func (a *analyzer) nameIt(i *Interval) {
	if a.began == nil || i.Name != exectrace.NameNone || a.began[i.G] == "" {
		return
	}
	name := a.began[i.G]
	id, ok := a.out.Reader.NameID(name)
	if !ok {
		table := a.out.Reader.Stacks()
		id = a.out.Reader.Root(table.Intern([]stack.FrameID{table.InternFrame(stack.Frame{Func: name})}))
	}
	i.Name = id
}

// filtered takes the summary of a goroutine, of which what the filter has let
// through counts. Time in system calls is not divided by who had the P, and ranges
// are not counted.
func (a *analyzer) filtered(g *Goroutine) {
	if g.State == exectrace.Waiting && g.Reason == exectrace.NameForever && a.picked.forever[g.ID] == nil {
		keep := *g // it is handed over as it begins to wait
		keep.Total, keep.Ended = 0, 0
		a.picked.forever[g.ID] = &keep
		return
	}
	did := a.picked.did[g.ID]
	if did == nil {
		return
	}
	delete(a.picked.did, g.ID)
	end := g.Created.Add(g.Total)
	one := &a.picked.one
	*one = *g
	one.Stats = *did
	a.take(one, end)
}

// forgotten takes those that wait for ever.
func (a *analyzer) forgotten() {
	for id, g := range a.picked.forever {
		if did := a.picked.did[id]; did != nil {
			g.Stats = *did
			a.take(g, a.last)
		}
	}
	for g, lives := range a.picked.lives {
		g.Peak = peakOf(lives)
	}
}

// take counts a goroutine that lived until end.
func (a *analyzer) take(g *Goroutine, end timeline.Time) {
	life := timeline.Span{Start: max(g.Created, a.window.Start), End: min(end, a.window.End)}
	count := func(group *Group) {
		group.add(g)
		if g.Creator != 0 && a.window.Start <= g.Created && g.Created < a.window.End {
			group.Created++
		}
		if g.Ended != 0 && a.window.Start < g.Ended && g.Ended <= a.window.End {
			group.Ended++
		}
		a.picked.lives[group] = append(a.picked.lives[group], life)
	}
	count(a.groupByName(g.Name))
	if g.Creator != 0 {
		count(a.groupByGo(g.Creator))
	}
}
