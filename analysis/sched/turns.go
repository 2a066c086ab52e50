package sched

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// Wake is what a goroutine was given a turn by.
type Wake uint8

// The ways to wake a goroutine that may have nothing to do.
const (
	// Broadcast is sync.Cond.Broadcast, which wakes all that wait.
	Broadcast Wake = iota
	// Tick is the end of a sleep, or a timer.
	Tick
	// Yield is no wait at all: runtime.Gosched.
	Yield
)

// Turns are the turns that goroutines got for nothing: they were woken, ran for a moment,
// and waited again at the same place, without having woken or made anybody but the next for
// the lock of a sync.Cond, called the system or waited for something else but that lock.
type Turns struct {
	// All is how many turns all goroutines got.
	All int64
	// Ran is how long they ran together.
	Ran time.Duration
	// Lines are where goroutines wait that are woken so, those first with most empty turns.
	Lines []TurnLine
}

// TurnLine is one place where goroutines wait.
type TurnLine struct {
	Wake  Wake
	Stack stack.ID
	// Turns are those that began there, Empty how many of them were for nothing, and Ran
	// how long these ran.
	Turns, Empty int64
	Ran          time.Duration
	// Goroutines is how many waited there, Calls how many calls of Broadcast woke them.
	Goroutines, Calls int64
}

// A turn that is longer did something, if nothing but look.
const (
	shortTick  = timeline.Time(10 * time.Microsecond)
	shortTurn  = timeline.Time(50 * time.Microsecond)
	turnsLines = 4096
)

// turnKey names a place.
type turnKey struct {
	wake  Wake
	stack stack.ID
}

// turn is what a goroutine has done since it was woken.
type turn struct {
	line *TurnLine
	last *TurnLine // the one that it was counted at
	ran  timeline.Time
	busy bool     // it did something
	cast stack.ID // the Broadcast that it is in
}

// turner finds turns for nothing.
//
// Note: Most goroutines are never woken by what may be for nothing. Of those a byte in
// watched is all that an event looks at: it is in the cache where a turn is not.
type turner struct {
	gs      *sweep.Goroutines
	out     Turns
	lines   map[turnKey]*TurnLine
	watched []bool            // by slot: its turn is not zero
	turns   []turn            // by slot
	casts   map[stack.ID]bool // stacks in Broadcast
	waits   map[stack.ID]bool // stacks in Wait
}

// WholeTurns wants the turns of a whole trace.
var WholeTurns = sweep.Want[*Turns]{Key: "turns", Begin: func(p *sweep.Pass) (func() (*Turns, error), error) {
	t := &turner{gs: p.Goroutines(), lines: map[turnKey]*TurnLine{}, casts: map[stack.ID]bool{}, waits: map[stack.ID]bool{}}
	p.Join(sweep.On(sweep.Of(exectrace.KindGoTransition), t.event))
	return func() (*Turns, error) { return t.finish(), nil }, nil
}}

// watch returns the turn in a slot, of which something is noted from now on.
func (t *turner) watch(slot exectrace.Slot) *turn {
	if n := int(slot); n >= len(t.turns) {
		more := max(n+1-len(t.turns), len(t.turns))
		t.turns = append(t.turns, make([]turn, more)...)
		t.watched = append(t.watched, make([]bool, more)...)
	}
	t.watched[slot] = true
	return &t.turns[slot]
}

// at returns the turn in a slot, nil where nothing is noted of it.
func (t *turner) at(slot exectrace.Slot) *turn {
	if uint(slot) < uint(len(t.watched)) && t.watched[slot] {
		return &t.turns[slot]
	}
	return nil
}

func (t *turner) event(e *exectrace.Event) {
	if e.GSlot != e.SubjectSlot {
		if by := t.at(e.GSlot); by != nil && !t.waitsAgain(e.Stack) {
			by.busy = true // it has woken or made another one
		}
	}
	x := t.at(e.SubjectSlot)
	switch {
	case e.From == exectrace.NotExist || e.From == exectrace.Undetermined || e.To == exectrace.NotExist:
		if x != nil {
			*x, t.watched[e.SubjectSlot] = turn{}, false
		}
	case e.From == exectrace.Waiting && e.To == exectrace.Runnable:
		t.woken(x, e)
	case e.From == exectrace.Runnable && e.To == exectrace.Running:
		t.out.All++
	case e.From == exectrace.Running:
		d := e.Time - t.gs.Was.Since
		t.out.Ran += time.Duration(d)
		if x != nil {
			x.cast, x.ran = 0, x.ran+d
		}
		t.stops(x, e)
	}
}

// woken begins a turn, if it is by what may be for nothing; a wait for a lock within one
// goes on with it. x is the turn that is noted, nil for none.
func (t *turner) woken(x *turn, e *exectrace.Event) {
	was := &t.gs.Was
	wake := Tick
	switch {
	case was.Reason == exectrace.NameSync && x != nil && x.line != nil && x.line.Wake == Broadcast:
		return
	case was.Reason == exectrace.NameCond && e.GSlot != exectrace.NoSlot && t.casting(e.Stack):
		wake = Broadcast
	case e.GSlot == exectrace.NoSlot && (was.Reason == exectrace.NameSleep || was.Reason == exectrace.NameSelect || was.Reason == exectrace.NameChanReceive):
	default:
		if x != nil {
			x.line = nil
		}
		return
	}
	line := t.begin(e.SubjectSlot, wake, was.Stack)
	if wake == Broadcast && line != nil {
		if by := t.watch(e.GSlot); by.cast != e.Stack {
			by.cast = e.Stack
			line.Calls++
		}
	}
}

// begin begins a turn of the goroutine in a slot, which has waited at a stack. It returns
// where that is counted, nil where there are too many places.
func (t *turner) begin(slot exectrace.Slot, wake Wake, id stack.ID) *TurnLine {
	x := t.watch(slot)
	line := x.last // most wait where they did before
	if line == nil || line.Wake != wake || line.Stack != id {
		if line = t.line(turnKey{wake, id}); line == nil {
			x.line = nil
			return nil
		}
		line.Goroutines++
	}
	line.Turns++
	x.line, x.last, x.ran, x.busy = line, line, 0, false
	return line
}

// line returns the line of a place, nil where there are too many.
func (t *turner) line(k turnKey) *TurnLine {
	line := t.lines[k]
	if line == nil && len(t.lines) < turnsLines {
		line = &TurnLine{Wake: k.wake, Stack: k.stack}
		t.lines[k] = line
	}
	return line
}

// stops ends a run, and with it a turn. x is the turn that is noted, nil for none.
func (t *turner) stops(x *turn, e *exectrace.Event) {
	var line *TurnLine
	if x != nil {
		line = x.line
	}
	yields := e.To == exectrace.Runnable && t.gs.Is.Reason == exectrace.NameGosched
	switch {
	case line != nil && e.To == exectrace.Waiting:
		if line.Wake == Broadcast && t.gs.Is.Reason == exectrace.NameSync {
			return
		}
		limit := shortTick
		if line.Wake == Broadcast {
			limit = shortTurn
		}
		if line.Wake != Yield {
			x.empty(e, limit)
		}
		x.line = nil
	case yields:
		if line != nil && line.Wake == Yield {
			x.empty(e, shortTurn)
		}
		t.begin(e.SubjectSlot, Yield, e.SubjectStack)
	case line != nil && e.To == exectrace.Syscall:
		x.line = nil
	}
}

// empty counts a turn that ends, if it was for nothing: shorter than a limit, and at the
// place where it began.
func (x *turn) empty(e *exectrace.Event, limit timeline.Time) {
	if e.SubjectStack == x.line.Stack && !x.busy && x.ran < limit {
		x.line.Empty++
		x.line.Ran += time.Duration(x.ran)
	}
}

// casting tells whether a stack is in Broadcast.
func (t *turner) casting(id stack.ID) bool { return t.within(t.casts, id, "sync.(*Cond).Broadcast") }

// waitsAgain tells whether a stack is in Wait: whom a goroutine wakes there, it wakes because
// it lets go of the lock, for which all that a Broadcast wakes queue.
func (t *turner) waitsAgain(id stack.ID) bool { return t.within(t.waits, id, "sync.(*Cond).Wait") }

// within tells whether a stack has a function in it; known are the answers so far.
func (t *turner) within(known map[stack.ID]bool, id stack.ID, function string) bool {
	is, asked := known[id]
	if !asked {
		table := t.gs.Reader().Stacks()
		is = slices.ContainsFunc(table.Frames(id), func(f stack.FrameID) bool {
			return strings.HasPrefix(table.Frame(f).Func, function)
		})
		known[id] = is
	}
	return is
}

func (t *turner) finish() *Turns {
	for _, line := range t.lines {
		if line.Empty > 0 {
			t.out.Lines = append(t.out.Lines, *line)
		}
	}
	slices.SortFunc(t.out.Lines, func(a, b TurnLine) int {
		return cmp.Or(cmp.Compare(b.Empty, a.Empty), cmp.Compare(a.Wake, b.Wake), cmp.Compare(a.Stack, b.Stack))
	})
	return &t.out
}
