package sweep

import (
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// Goroutine is what the events so far tell of a goroutine, most of it of the state
// that it is in.
type Goroutine struct {
	ID exectrace.GoID
	// Since is when the state began. Of one that is older than the trace, or than a
	// gap in it, that is the sync before the event that told of it.
	Since timeline.Time
	// Told is when the event that told of the state happened.
	Told timeline.Time
	// P is what it runs on, or has begun its system call on.
	P exectrace.ProcID
	// Name is the function that it began with, as far as an event has told.
	Name exectrace.NameID
	// Reason is why it is in the state.
	Reason exectrace.NameID
	// Stack is where it began the state; By where the one was that caused it to.
	Stack, By stack.ID
	// Own is where it was last, and Waited where it last waited or was preempted:
	// before it first runs, where it was made.
	Own, Waited stack.ID
	// Last is the stack that was told last, 0 while it runs: of one that waits for long
	// each generation tells it anew, with the frames of the runtime.
	Last stack.ID
	// Creator is the place of the go statement; 0 for one that is older.
	Creator stack.ID
	// State is the one that it is in, Undetermined before anything is known.
	State exectrace.State
	// Older says that it is older than the trace, or than a gap; First that it is
	// in the first state that was told of it.
	Older, First bool
	// Late says that Own was told in the middle of a state.
	Late bool
}

// At returns where it is: of one that waits for a P, where it was before.
func (g *Goroutine) At() stack.ID {
	if g.State == exectrace.Runnable {
		return g.Waited
	}
	return g.Stack
}

// Alive tells whether it has been told of and has not ended.
func (g *Goroutine) Alive() bool { return g.State > exectrace.NotExist }

// Goroutines is the table of all goroutines and Ps, which a pass keeps for its
// listeners: when one gets the transition of a goroutine, Was is what the goroutine
// was before, and Is what it is now.
type Goroutines struct {
	// Was and Is are of the last transition from one state to another.
	Was Goroutine
	Is  *Goroutine

	r      *exectrace.Reader
	pages  []*[goPage]Goroutine // by slot; without a pointer
	origin []stack.ID           // by slot, as far as any is known
	follow followed             // see [Goroutines.Follow]
	procs  []exectrace.State
	busy   int
	sync   timeline.Time
	forget bool // before the next event
}

const goPage = 256

// NewGoroutines returns a table for the events of r, which wants each of them before
// the listeners do. That of a pass is [Pass.Goroutines].
func NewGoroutines(r *exectrace.Reader) *Goroutines { return &Goroutines{r: r} }

// Reader returns the reader whose names and stacks the table has.
func (t *Goroutines) Reader() *exectrace.Reader { return t.r }

// LastSync returns when the last sync was.
func (t *Goroutines) LastSync() timeline.Time { return t.sync }

// Busy returns how many Ps run.
func (t *Goroutines) Busy() int { return t.busy }

// In returns the goroutine in a slot.
func (t *Goroutines) In(slot exectrace.Slot) *Goroutine {
	if page := uint(slot) / goPage; page < uint(len(t.pages)) {
		return &t.pages[page][slot%goPage]
	}
	return t.grow(slot)
}

func (t *Goroutines) grow(slot exectrace.Slot) *Goroutine {
	if slot == exectrace.NoSlot { // nobody: nothing is kept of it
		return &Goroutine{}
	}
	for len(t.pages) <= int(slot/goPage) {
		t.pages = append(t.pages, new([goPage]Goroutine))
	}
	return &t.pages[slot/goPage][slot%goPage]
}

// began keeps by what a goroutine has come to be.
func (t *Goroutines) began(e *exectrace.Event) {
	var origin stack.ID
	if e.GSlot != exectrace.NoSlot {
		origin = t.In(e.GSlot).Creator
	}
	if int(e.SubjectSlot) >= len(t.origin) {
		if origin == 0 || e.SubjectSlot == exectrace.NoSlot {
			return
		}
		t.origin = append(t.origin, make([]stack.ID, int(e.SubjectSlot)+1-len(t.origin))...)
	}
	t.origin[e.SubjectSlot] = origin
}

// Origin returns, of the goroutine in a slot, the place of the go statement that began
// the goroutine which has begun it; 0 where that is older than the trace.
func (t *Goroutines) Origin(slot exectrace.Slot) stack.ID {
	if int(slot) < len(t.origin) {
		return t.origin[slot]
	}
	return 0
}

// Follow has the pass hand the transitions of the goroutine in a slot to those who want
// [Followed], until it ends or as many have called Unfollow.
func (t *Goroutines) Follow(slot exectrace.Slot) { t.follow.add(slot) }

// Unfollow takes back a call of Follow for the goroutine that is in the slot now.
func (t *Goroutines) Unfollow(slot exectrace.Slot) {
	if t.follow.has(slot) {
		t.follow[slot]--
	}
}

// Each visits the goroutines that are alive, in the order of their slots.
func (t *Goroutines) Each(visit func(slot exectrace.Slot, g *Goroutine)) {
	for i, page := range t.pages {
		for k := range page {
			if g := &page[k]; g.Alive() {
				visit(exectrace.Slot(i*goPage+k), g)
			}
		}
	}
}

// EachBefore is [Goroutines.Each] of how they were before an event, which is the
// last one that the table has; nil is for how they are.
func (t *Goroutines) EachBefore(e *exectrace.Event, visit func(slot exectrace.Slot, g *Goroutine)) {
	if e != nil && changes(e) {
		now := *t.Is
		t.Undo(e)
		defer func() { *t.Is = now }()
	}
	t.Each(visit)
}

// Undo makes of a goroutine what it was before an event, which is the last one that the
// table has.
func (t *Goroutines) Undo(e *exectrace.Event) {
	if changes(e) {
		*t.Is = t.Was
	}
}

// changes tells whether an event takes a goroutine from one state to another.
func changes(e *exectrace.Event) bool {
	return e.Kind == exectrace.KindGoTransition && e.From != e.To
}

// Event takes the reader's current event. After a sync that says so, nothing is
// known any more; its listeners still see what was.
func (t *Goroutines) Event(e *exectrace.Event) {
	if e.Kind == exectrace.KindGoTransition && !t.forget { // most
		t.goroutine(e)
		return
	}
	if t.forget {
		t.forget, t.busy = false, 0
		clear(t.pages)
		t.pages = t.pages[:0]
		clear(t.procs)
		clear(t.origin)
		clear(t.follow)
	}
	switch {
	case e.Kind == exectrace.KindGoTransition:
		t.goroutine(e)
	case e.Kind == exectrace.KindProcTransition:
		t.proc(e)
	case e.Kind == exectrace.KindSync:
		t.sync, t.forget = e.Time, e.Reset()
	}
}

// goroutine takes a goroutine from one state to another.
func (t *Goroutines) goroutine(e *exectrace.Event) {
	g := t.In(e.SubjectSlot)
	if e.From == e.To { // repeated at the begin of a generation
		if e.SubjectStack == 0 {
			return
		}
		if g.Last = e.SubjectStack; g.Own == 0 {
			g.Own, g.Late = e.SubjectStack, true // long parked, and now it is said where
		}
		return
	}
	t.Was, t.Is = *g, g
	switch e.From {
	case exectrace.Undetermined:
		*g = Goroutine{ID: e.Goroutine(), Since: t.sync, Older: true, First: true}
	case exectrace.NotExist:
		*g = Goroutine{ID: e.Goroutine(), Since: e.Time, First: true, Creator: e.Stack, Waited: e.Stack}
		t.began(e)
	default:
		g.Since, g.First = e.Time, false
		if e.From == exectrace.Waiting || e.From == exectrace.Syscall {
			g.Waited = g.Stack
		}
	}
	g.Told, g.State, g.Reason, g.Stack, g.By = e.Time, e.To, e.Name, e.SubjectStack, e.Stack
	g.P = exectrace.NoProc
	switch e.To {
	case exectrace.Running, exectrace.Syscall:
		g.P = e.P
	case exectrace.Runnable:
		if e.From == exectrace.Running { // preempted or yielded: it stays where it was
			g.Waited = e.SubjectStack
		}
	}
	if e.SubjectStack != 0 || e.From == exectrace.Running {
		g.Own, g.Late = e.SubjectStack, false // woken up or back from a system call, it is still where it was
	}
	if e.SubjectStack != 0 {
		g.Last = e.SubjectStack
		if g.Name == exectrace.NameNone {
			g.Name = t.r.Root(e.SubjectStack)
		}
	}
	if e.To == exectrace.Running {
		g.Last = 0
	}
}

// proc takes a P from one state to another.
func (t *Goroutines) proc(e *exectrace.Event) {
	p := e.Proc()
	if p < 0 || e.From == e.To {
		return
	}
	for len(t.procs) <= int(p) {
		t.procs = append(t.procs, exectrace.Undetermined)
	}
	if t.procs[p] == exectrace.Running {
		t.busy--
	}
	if t.procs[p] = e.To; e.To == exectrace.Running {
		t.busy++
	}
}

// followed says of slots how many follow the goroutine, as far as any is.
type followed []uint32

func (f *followed) add(slot exectrace.Slot) {
	if slot == exectrace.NoSlot {
		return
	}
	if n := int(slot) + 1 - len(*f); n > 0 {
		*f = append(*f, make([]uint32, n)...)
	}
	(*f)[slot]++
}

func (f followed) has(slot exectrace.Slot) bool { return uint(slot) < uint(len(f)) && f[slot] > 0 }

func (f followed) drop(slot exectrace.Slot) {
	if f.has(slot) {
		f[slot] = 0
	}
}
