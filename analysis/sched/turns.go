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
// and waited again at the same place, without having woken or made anybody, called the
// system or waited for something else but the lock of a sync.Cond.
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
type turner struct {
	gs    *sweep.Goroutines
	out   Turns
	lines map[turnKey]*TurnLine
	turns []turn // by slot
	casts map[stack.ID]bool
}

// WholeTurns wants the turns of a whole trace.
var WholeTurns = sweep.Want[*Turns]{Key: "turns", Begin: func(p *sweep.Pass) (func() (*Turns, error), error) {
	t := &turner{gs: p.Goroutines(), lines: map[turnKey]*TurnLine{}, casts: map[stack.ID]bool{}}
	p.Join(sweep.On(sweep.Of(exectrace.KindGoTransition), t.event))
	return func() (*Turns, error) { return t.finish(), nil }, nil
}}

func (t *turner) at(slot exectrace.Slot) *turn {
	if n := int(slot); n >= len(t.turns) {
		t.turns = append(t.turns, make([]turn, max(n+1-len(t.turns), len(t.turns)))...)
	}
	return &t.turns[slot]
}

func (t *turner) event(e *exectrace.Event) {
	if e.GSlot != exectrace.NoSlot && e.GSlot != e.SubjectSlot {
		t.at(e.GSlot).busy = true // it has woken or made another one
	}
	x := t.at(e.SubjectSlot)
	if e.From == exectrace.Running {
		x.cast = 0
	}
	switch {
	case e.From == exectrace.NotExist || e.From == exectrace.Undetermined || e.To == exectrace.NotExist:
		*x = turn{}
	case e.From == exectrace.Waiting && e.To == exectrace.Runnable:
		t.woken(x, e)
	case e.From == exectrace.Runnable && e.To == exectrace.Running:
		t.out.All++
	case e.From == exectrace.Running:
		d := e.Time - t.gs.Was.Since
		t.out.Ran += time.Duration(d)
		x.ran += d
		t.stops(x, e)
	}
}

// woken begins a turn, if it is by what may be for nothing; a wait for a lock within one
// goes on with it.
func (t *turner) woken(x *turn, e *exectrace.Event) {
	was := &t.gs.Was
	wake := Tick
	switch {
	case was.Reason == exectrace.NameSync && x.line != nil && x.line.Wake == Broadcast:
		return
	case was.Reason == exectrace.NameCond && e.GSlot != exectrace.NoSlot && t.casting(e.Stack):
		wake = Broadcast
	case e.GSlot == exectrace.NoSlot && (was.Reason == exectrace.NameSleep || was.Reason == exectrace.NameSelect || was.Reason == exectrace.NameChanReceive):
	default:
		x.line = nil
		return
	}
	t.begin(x, wake, was.Stack)
	if wake == Broadcast && x.line != nil && t.turns[e.GSlot].cast != e.Stack {
		t.turns[e.GSlot].cast = e.Stack
		x.line.Calls++
	}
}

// begin begins a turn of a goroutine that has waited at a stack.
func (t *turner) begin(x *turn, wake Wake, id stack.ID) {
	k := turnKey{wake, id}
	line := t.lines[k]
	if line == nil {
		if len(t.lines) >= turnsLines {
			x.line = nil
			return
		}
		line = &TurnLine{Wake: wake, Stack: id}
		t.lines[k] = line
	}
	if line.Turns++; x.last != line {
		line.Goroutines++
	}
	x.line, x.last, x.ran, x.busy = line, line, 0, false
}

// stops ends a run, and with it a turn.
func (t *turner) stops(x *turn, e *exectrace.Event) {
	line := x.line
	if line != nil && e.To == exectrace.Waiting {
		if line.Wake == Broadcast && t.gs.Is.Reason == exectrace.NameSync {
			return
		}
		limit := shortTick
		if line.Wake == Broadcast {
			limit = shortTurn
		}
		if line.Wake != Yield && e.SubjectStack == line.Stack && !x.busy && x.ran < limit {
			line.Empty++
			line.Ran += time.Duration(x.ran)
		}
		x.line = nil
		return
	}
	if e.To == exectrace.Runnable && t.gs.Is.Reason == exectrace.NameGosched {
		if line != nil && line.Wake == Yield && line.Stack == e.SubjectStack && !x.busy && x.ran < shortTurn {
			line.Empty++
			line.Ran += time.Duration(x.ran)
		}
		t.begin(x, Yield, e.SubjectStack)
		return
	}
	if e.To == exectrace.Syscall {
		x.line = nil
	}
}

// casting tells whether a stack is in Broadcast.
func (t *turner) casting(id stack.ID) bool {
	is, known := t.casts[id]
	if !known {
		table := t.gs.Reader().Stacks()
		is = slices.ContainsFunc(table.Frames(id), func(f stack.FrameID) bool {
			return strings.HasPrefix(table.Frame(f).Func, "sync.(*Cond).Broadcast")
		})
		t.casts[id] = is
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
