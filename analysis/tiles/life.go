package tiles

import (
	"slices"
	"strings"

	"loupe/format/exectrace"
)

// life is a goroutine that lives. What an event touches lies together, in one
// line of the processor's cache.
type life struct {
	count *counts // of its group
	group uint32
	state exectrace.State
	flags uint8
	column
	id exectrace.GoID
}

// What is known of a goroutine beside its state.
const (
	flagWorker uint8 = 1 << iota // it works for the collector and nobody else
	flagAssist
	flagSTW
)

// longLife is a goroutine that has ended and has a pyramid.
type longLife struct {
	column
	id    exectrace.GoID
	group uint32
}

// lives are in pages by the slot that the reader lends a goroutine.
type lives struct{ pages []*[lifePage]life }

const lifePage = 256

func (l *lives) at(slot exectrace.Slot) *life {
	if page := uint(slot) / lifePage; page < uint(len(l.pages)) {
		return &l.pages[page][slot%lifePage]
	}
	return l.grow(slot)
}

func (l *lives) grow(slot exectrace.Slot) *life {
	for len(l.pages) <= int(slot/lifePage) {
		l.pages = append(l.pages, new([lifePage]life))
	}
	return &l.pages[slot/lifePage][slot%lifePage]
}

// each visits the living goroutines.
func (l *lives) each(visit func(*life)) {
	for _, page := range l.pages {
		for i := range page {
			if page[i].state != exectrace.Undetermined {
				visit(&page[i])
			}
		}
	}
}

// clone returns a copy whose goroutines count in other groups.
func (l *lives) clone(groups []*counts) (c lives) {
	c.pages = make([]*[lifePage]life, len(l.pages))
	for i, page := range l.pages {
		page := *page
		for k := range page {
			if g := &page[k]; g.state != exectrace.Undetermined {
				g.count = groups[g.group]
				g.column = g.column.clone()
			}
		}
		c.pages[i] = &page
	}
	return c
}

// ended are the lanes of goroutines that live no more.
type ended struct {
	short   archive
	long    []*longLife
	scratch []byte
	leaders *leaders // nil to keep all that is short
}

// add files the lane of a goroutine.
func (x *ended) add(g *life) {
	switch {
	case g.mute:
	case g.spans+uint32(len(g.words)) >= promoteAt:
		g.flush()
		x.long = append(x.long, &longLife{g.column, g.id, g.group})
		g.words = nil
	default:
		if x.leaders != nil && !x.fold(g) {
			return
		}
		x.scratch = appendSpans(append(x.scratch[:0], g.buf...), g.words)
		x.short.add(brief{id: int64(g.id), group: g.group, first: g.first, spans: g.spans + uint32(len(g.words)), buf: x.scratch})
	}
}

// fold adds the spans of a short lane to those of its group, and says whether the lane may
// be one that is shown.
func (x *ended) fold(g *life) bool {
	to := &g.count.folded
	to.lanes++
	g.sums(&to.sums)
	if x.leaders.admits(g.spans + uint32(len(g.words))) {
		return true
	}
	to.hidden++
	return false
}

func (x *ended) clone() ended {
	c := *x
	c.short.buf = slices.Clone(x.short.buf)
	c.long = make([]*longLife, len(x.long))
	for i, l := range x.long {
		c.long[i] = &longLife{l.column.clone(), l.id, l.group}
	}
	return c
}

// waits are the classes of waits.
type waits struct {
	classes   []uint8 // plus one, by the reason
	collector exectrace.CollectorWaits
}

// of returns the class of a goroutine in the state that it goes to.
func (c *waits) of(r *exectrace.Reader, g *life, e *exectrace.Event) uint8 {
	switch e.To {
	case exectrace.Running:
		return g.runs()
	case exectrace.Runnable:
		return uint8(GoRunnable)
	case exectrace.Syscall:
		return uint8(GoSyscall)
	}
	if c.collector.Is(r.Stacks(), e.SubjectStack, e.Name) {
		return uint8(ClassRest) // it is no lock, and no work for the collector either
	}
	if int(e.Name) < len(c.classes) && c.classes[e.Name] != 0 {
		return c.classes[e.Name] - 1
	}
	for len(c.classes) <= int(e.Name) {
		c.classes = append(c.classes, 0)
	}
	class := uint8(waitClass(r.Name(e.Name)))
	c.classes[e.Name] = class + 1
	return class
}

// runs returns the class of a goroutine that runs.
func (g *life) runs() uint8 {
	if g.flags != 0 {
		return uint8(GoGC)
	}
	return uint8(GoRuns)
}

// waitClass folds the reasons of waits. They are strings, and new releases
// have new ones.
func waitClass(reason string) Class {
	switch {
	case reason == "network":
		return GoNet
	case strings.HasPrefix(reason, "chan ") || reason == "select":
		return GoChan
	case strings.HasPrefix(reason, "sync"):
		return GoSync
	case strings.HasPrefix(reason, "GC mark assist"):
		return GoGC
	}
	return ClassRest
}
