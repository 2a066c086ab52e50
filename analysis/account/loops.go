package account

import (
	"fmt"
	"path"
	"strings"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// A goroutine that loops over a channel or a queue, or over what comes by a connection that
// the program has accepted, comes back again and again to one wait in the user's code: the
// head of its loop. From the end of that wait to the begin of the next one is a unit.
//
// Of the waits that a loop comes back to, the head is the outermost and uppermost one in
// the function that the user's code begins with: what is deeper or below is within a turn.
//
// Note: What is taken without a wait belongs to the unit before. No event tells where one
// ends there.

// The bounds of what is a unit of such a loop. A turn that does less than leastWork on
// average is housekeeping: a log that is written, figures that are added up.
const (
	leastTurns = 10
	leastWork  = 50 * time.Microsecond
	// leastOf is the part of the trace's time that the turns of a loop do something in, at least.
	leastOf = 0.01
	// manyServed is from how many requests and tasks on a program is judged by these alone.
	manyServed = 100
)

// headView is what a stack tells of the loop that it may be the head of.
type headView struct {
	known bool
	unit  Unit // Job or Exchange; units for neither
	// owner is the function that the user's code begins with, depth how many frames of the
	// user's there are, line the one in owner.
	owner, depth, line int
	within             string // where it is Exchange: the function that owner is a closure of
	accepts            bool   // it is the wait for connections
	served             bool   // the source gives owner accepted connections
	name               string // of its units: "main.worker (worker.go:42)"
}

// loops are the heads of all loops.
type loops struct {
	w      *words
	views  []headView // by stack
	owners map[string]int
	heads  []stack.ID // by owner; 0 is none
	roots  []rootOf   // by stack
	// accepted are the owners that have been seen to serve an accepted connection, places
	// the lines that wait for connections, by function.
	accepted map[int]bool
	places   map[string]int
	knows    func(function string) bool // of [Options.Serves]; may be nil
}

// turn is where a goroutine is in its loop.
type turn struct {
	unit *open
	// at are the waits that it has been at, to which it may come back.
	at [4]stack.ID
	n  uint8
	// accepts tells that it waits for connections, accepted that it was made by one that does.
	accepts, accepted bool
}

// servers are packages of the standard library that loop themselves; others wait for who
// calls them.
var servers = []string{"net/http", "net/rpc", "database/sql", "os/signal", "os/exec", "testing"}

// caller is the frame that has called the standard library for a wait: -1 where that is
// no code of the user.
func (l *loops) caller(frames []stack.Frame) int {
	for i, f := range frames {
		if l.w.scope.IsUser(f) {
			return i
		}
		pkg := stack.Package(f.Func)
		for _, s := range servers {
			if pkg == s || strings.HasPrefix(pkg, s+"/") {
				return -1
			}
		}
		if l.w.scope.IsOutsideStandard(f) {
			return -1
		}
	}
	return -1
}

// view tells what a wait at a stack may be.
func (l *loops) view(why exectrace.NameID, id stack.ID) *headView {
	if int(id) >= len(l.views) {
		l.views = grown(l.views, int(id))
	}
	v := &l.views[id]
	if v.known {
		return v
	}
	*v = headView{known: why != exectrace.NameNone, unit: units}
	frames := l.w.view(id)
	switch why {
	case exectrace.NameChanReceive, exectrace.NameSelect, exectrace.NameCond:
		v.unit = Job
	case exectrace.NameNetwork, exectrace.NameNone: // none of one that is older than the trace
		switch networkKind(frames) {
		case Answer:
			if why == exectrace.NameNetwork {
				v.unit = Exchange
			}
		case Accept:
			v.accepts = true
		}
	}
	i := l.caller(frames.frames)
	if v.accepts = v.accepts && i >= 0; v.accepts {
		if l.places == nil {
			l.places = map[string]int{}
		}
		l.places[frames.frames[i].Func] = frames.frames[i].Line
	}
	if v.unit == units || i < 0 {
		v.unit = units
		return v
	}
	f := frames.frames[i]
	v.name = fmt.Sprintf("%s (%s:%d)", f.Func, path.Base(f.File), f.Line)
	outer := stack.Frame{}
	for _, f := range frames.frames {
		if l.w.scope.IsUser(f) {
			outer, v.line = f, f.Line
			v.depth++
		}
	}
	owner, ok := l.owners[outer.Func]
	if !ok {
		if l.owners == nil {
			l.owners = map[string]int{}
		}
		owner = len(l.heads)
		l.owners[outer.Func] = owner
		l.heads = append(l.heads, 0)
	}
	v.owner = owner
	v.served = v.unit == Exchange && l.knows != nil && l.knows(outer.Func)
	if at := strings.LastIndex(outer.Func, ".func"); at > 0 && v.unit == Exchange {
		v.within = outer.Func[:at]
	}
	return v
}

// serves tells whether a goroutine that waits for what comes by a connection has been given
// it by one that accepts connections: the trace has seen that of it, or of another one in
// the same function, or it is older than the trace and runs what the source starts behind the
// wait for connections.
func (l *loops) serves(t *track, v *headView) bool {
	if t.turn.accepted || l.accepted[v.owner] || v.served && t.maker == exectrace.NoGoroutine {
		return true
	}
	line, ok := l.places[v.within]
	return ok && t.maker == exectrace.NoGoroutine && v.line > line
}

// outer tells whether a wait is further out than another one of the same function.
func (v *headView) outer(o *headView) bool {
	return v.depth < o.depth || v.depth == o.depth && v.line < o.line
}

// turnEnds tells that a goroutine begins to wait: where it is back at the head of its loop,
// a unit is over.
func turnEnds(b *Builder, t *track, is *sweep.Goroutine, at timeline.Time) {
	l := &b.loops
	if b.units.served >= manyServed {
		b.units.dropTurn(t)
		return
	}
	v := l.view(is.Reason, is.Stack)
	if v.unit == Exchange && t.turn.accepted && !l.accepted[v.owner] {
		if l.accepted == nil {
			l.accepted = map[int]bool{}
		}
		l.accepted[v.owner] = true
	}
	if v.unit == units || v.unit == Exchange && !l.serves(t, v) || t.at != elsewhere {
		return
	}
	head := &l.heads[v.owner]
	if *head == is.Stack {
		if u := t.turn.unit; u != nil {
			t.unlink(u)
			t.turn.unit = nil
			b.units.end(u, at)
		}
		return
	}
	for _, seen := range t.turn.at {
		if seen == is.Stack && (*head == 0 || v.outer(&l.views[*head])) {
			*head = is.Stack // it has come back here
			b.units.dropTurn(t)
		}
	}
	t.turn.at[t.turn.n%uint8(len(t.turn.at))] = is.Stack
	t.turn.n++
}

// turnBegins tells that a wait of a goroutine is over: at the head of its loop that is the
// begin of a unit, unless a timer has ended it or one that works for it.
func turnBegins(b *Builder, t *track, was *sweep.Goroutine, e *exectrace.Event) {
	l := &b.loops
	v := l.view(was.Reason, was.Stack)
	t.turn.accepts = t.turn.accepts || v.accepts
	if v.unit == units || l.heads[v.owner] != was.Stack || t.turn.unit != nil || t.at != elsewhere || b.units.served >= manyServed {
		return
	}
	switch by := b.living(e.GSlot); {
	case v.unit == Exchange && !l.serves(t, v):
		return
	case v.unit == Job && (by == nil || by.maker == t.id):
		return
	}
	for u := t.units; u != nil; u = u.next {
		if u.unit < Main {
			return // it is within one already
		}
	}
	u := b.units.open(v.unit, e.Time, t.id)
	u.name = v.name
	u.next, t.units, t.turn.unit = t.units, u, u
}

// dropTurn forgets the turn that a goroutine is in.
func (c *collector) dropTurn(t *track) {
	if u := t.turn.unit; u != nil {
		t.unlink(u)
		t.turn.unit = nil
		c.free(u)
	}
}

// housekeeping tells whether a group is of a loop whose turns are no work that anybody
// waits for, or of a wait that turned out to be within one.
func housekeeping(b *Builder, k groupKey, g *gathered) bool {
	if k.unit != Job && k.unit != Exchange {
		return false
	}
	head := false
	for _, id := range b.loops.heads {
		head = head || id != 0 && b.loops.views[id].name == k.name
	}
	var work timeline.Time
	for _, class := range g.classes {
		for _, r := range class.rows {
			if b.w.keys[r.key].kind != Ready {
				work += r.d
			}
		}
	}
	part := float64(g.seen.Count) / float64(max(1, g.wall.Count)) * float64(work) / float64(max(1, b.last-b.begin))
	return !head || b.units.served >= manyServed || g.wall.Count < leastTurns || work < timeline.Time(leastWork)*timeline.Time(g.wall.Count) || part < leastOf
}
