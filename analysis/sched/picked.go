package sched

import (
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// picked is what a filter has let through, by goroutine.
type picked struct {
	filter *Filter
	r      *exectrace.Reader
	names  *lateNames
	groups *groups
	left   leftBehind
	window *window

	did     map[exectrace.GoID]*Stats
	pieces  []Interval // of the stay that is being counted
	lives   map[*Group][]timeline.Span
	forever map[exectrace.GoID]*Goroutine // wait until the end, and have been handed over
	one     Goroutine                     // that is handed on; here so that it is not allocated
}

// pick adds what the filter leaves of a stay to what its goroutine did, and
// returns it, until it is called again. Over says that the trace ends with it.
func (p *picked) pick(i *Interval, t *track, over bool, trace timeline.Span) []Interval {
	p.names.name(i)
	p.pieces = p.filter.Stays(p.r, i, p.pieces[:0])
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
			did.Blocked.add(p.r.WaitReasonID(piece.Reason, piece.Stack), d)
		}
	}
	// Who is in such a stay when the trace ends, or the part of it that counts,
	// has not ended.
	last := &p.pieces[len(p.pieces)-1]
	if last.End == min(i.End, p.window.End) && (over || i.End >= p.window.End) {
		b := begun{id: i.G}
		if t.creator != nil {
			b.creator = t.creator.Creator
		}
		p.left.found(leftKey{last.Name, last.Reason, last.State, last.Stack}, b, i.Start, last.Len(), trace)
	}
	return p.pieces
}

// filtered takes the summary of a goroutine, of which what the filter has let
// through counts. Time in system calls is not divided by who had the P, and ranges
// are not counted.
func (p *picked) filtered(g *Goroutine) {
	if g.State == exectrace.Waiting && g.Reason == exectrace.NameForever && p.forever[g.ID] == nil {
		keep := *g // it is handed over as it begins to wait
		keep.Total, keep.Ended = 0, 0
		p.forever[g.ID] = &keep
		return
	}
	did := p.did[g.ID]
	if did == nil {
		return
	}
	delete(p.did, g.ID)
	end := g.Created.Add(g.Total)
	one := &p.one
	*one = *g
	one.Stats = *did
	p.take(one, end)
}

// forgotten takes those that wait for ever.
func (p *picked) forgotten(last timeline.Time) {
	for id, g := range p.forever {
		if did := p.did[id]; did != nil {
			g.Stats = *did
			p.take(g, last)
		}
	}
	for g, lives := range p.lives {
		g.Peak = peakOf(lives)
	}
}

// take counts a goroutine that lived until end.
func (p *picked) take(g *Goroutine, end timeline.Time) {
	life := timeline.Span{Start: max(g.Created, p.window.Start), End: min(end, p.window.End)}
	count := func(group *Group) {
		group.add(g)
		if g.Creator != 0 && p.window.Start <= g.Created && g.Created < p.window.End {
			group.Created++
		}
		if g.Ended != 0 && p.window.Start < g.Ended && g.Ended <= p.window.End {
			group.Ended++
		}
		p.lives[group] = append(p.lives[group], life)
	}
	count(p.groups.of(g.Name))
	if g.Creator != 0 {
		count(p.groups.madeAt(g.Creator))
	}
}

// lateNames are the names of goroutines that no event has named before it ended, see
// [AnalyzeOptions.Named]; there are none where they are not wanted.
type lateNames struct {
	r     *exectrace.Reader
	began map[exectrace.GoID]string
}

// late tells whether there may be any.
func (n *lateNames) late() bool { return n.began != nil }

// name names a goroutine that no event has named yet.
func (n *lateNames) name(i *Interval) {
	if n.began == nil || i.Name != exectrace.NameNone || n.began[i.G] == "" {
		return
	}
	name := n.began[i.G]
	id, ok := n.r.NameID(name)
	if !ok {
		table := n.r.Stacks()
		id = n.r.Root(table.Intern([]stack.FrameID{table.InternFrame(stack.Frame{Func: name})}))
	}
	i.Name = id
}
