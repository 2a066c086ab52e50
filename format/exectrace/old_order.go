package exectrace

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// oldOrder is the order of all events of a trace, worked out once when it is
// opened. It is kept as runs, about a byte for every two events: readers that
// follow them need no rules, and any number of them can.
type oldOrder struct {
	// runs is a row of numbers: the length of a run less one, times the number
	// of cursors, plus the index of the cursor that the run is of.
	runs []byte
	// exits are the ends of system calls, in the order in which they happened.
	exits []oldExit
	// byTime says that an exit goes where its time is; else where its index is.
	byTime bool
	// blocking has one bit for each start of a system call: it has lost its P.
	blocking []uint64
	start    int64 // ticks of the first event
	end      int64 // and of the last one
	events   int
	// forced is the number of events that could not happen and were let
	// through: others that lead up to them are lost.
	forced int
}

// oldExit is the end of a system call.
type oldExit struct {
	time  int64
	index int // how many events, not counting exits, come before it
	g     GoID
}

// oldGo is what the order needs to know of a goroutine.
type oldGo struct {
	seq     uint64
	blocked int64 // when a system call took its P away, in ticks
	status  oldStatus
}

// oldMerge merges the events of all Ps into one order. The way is that of
// internal/trace: of the events that are first on their P and that may happen
// as far as the state of the program goes, the one with the earliest time goes
// first. The order of equal times depends on the order in which the Ps are
// looked at; internal/trace takes it from a map, here it is that of their ids.
type oldMerge struct {
	*oldTrace
	waiting []*oldCursor // whose event has not been found possible yet
	ready   oldHeap

	gs      *goroutines
	states  []oldGo // by slot
	named   []Slot  // by cursor: where the other goroutine that it named was found
	seqOfGC uint64

	run      *oldCursor // the cursor of the last run
	length   int
	calls    []oldCall // by cursor: the last one on its P
	called   int       // how many calls there were
	late     []lateExit
	last     int64 // ticks of the event before
	unsorted int   // where the first event is that is earlier than the one before it; or 0
	stray    int   // where the first exit is that is earlier than its call; or 0
	forcedAt int   // where the first forced event is
}

// oldCall is a system call that nothing is known of yet.
type oldCall struct {
	g      uint64
	number int // plus one; 0 for none
}

// lateExit is an exit of format 5, which names its place in the order.
type lateExit struct {
	oldExit
	seq int64
}

// merge works out the order. What is wrong with it goes to problem.
func (o *oldTrace) merge(problem func(at int, text string)) {
	m := oldMerge{oldTrace: o, gs: newGoroutines()}
	cursors := o.cursors()
	m.named = make([]Slot, len(cursors))
	m.calls = make([]oldCall, len(cursors))
	for i := range cursors {
		if c := &cursors[i]; c.next() {
			m.waiting = append(m.waiting, c)
		}
	}
	if o.format.lead == 2 {
		m.findExits()
	}
	for len(m.waiting)+len(m.ready) > 0 {
		m.gather()
		c := m.take()
		m.happens(c)
		if c.next() {
			m.waiting = append(m.waiting, c)
		}
	}
	m.endRun(nil)
	m.end = m.last
	m.sortExits()
	if m.unsorted != 0 {
		problem(m.unsorted, "the clocks of the Ps do not agree: this event is earlier than one that led to it; such times are moved forward")
	}
	if m.stray != 0 {
		problem(m.stray, "a system call ends before it begins; the time when the goroutine went on is taken")
	}
	if m.forced != 0 {
		problem(m.forcedAt, fmt.Sprintf("%d events, the first of them here, need others before them that the trace does not have", m.forced))
	}
}

// gather moves those whose event may happen now from waiting to ready. Each
// leaves a gap that the last one fills: this is part of the order.
func (m *oldMerge) gather() {
	for i := 0; i < len(m.waiting); {
		c := m.waiting[i]
		if !m.possible(c) {
			i++
			continue
		}
		n := len(m.waiting) - 1
		m.waiting[i] = m.waiting[n]
		m.waiting = m.waiting[:n]
		m.ready.push(c)
	}
}

// take takes out the cursor whose event happens next. When none may, the
// earliest does all the same.
func (m *oldMerge) take() *oldCursor {
	if len(m.ready) > 0 {
		return m.ready.pop()
	}
	first := 0
	for i, c := range m.waiting {
		if c.key() < m.waiting[first].key() {
			first = i
		}
	}
	c := m.waiting[first]
	m.waiting = slices.Delete(m.waiting, first, first+1)
	return c
}

// find returns the slot of the goroutine that a rule is about, or NoSlot.
func (m *oldMerge) find(c *oldCursor, rule *oldRule) Slot {
	id, seen := c.g, &c.slot
	if rule.whose == ofArgument {
		id = c.args[0]
		if id != c.g {
			seen = &m.named[c.index]
		}
	}
	if s := int(*seen); s < len(m.states) && m.gs.at(*seen).id == GoID(id) && m.states[s].status != oldDead {
		return *seen
	}
	slot := m.gs.find(GoID(id))
	if slot != NoSlot {
		*seen = slot
	}
	return slot
}

// possible says whether the state of the program allows the event of c.
func (m *oldMerge) possible(c *oldCursor) bool {
	rule := &m.format.rules[c.kind]
	switch rule.whose {
	case ofNobody:
		return true
	case ofCollector:
		return c.args[0] == m.seqOfGC
	}
	slot := m.find(c, rule)
	if slot == NoSlot {
		return rule.allows(&oldGo{}, c)
	}
	return rule.allows(&m.states[slot], c)
}

// allows says whether a goroutine in the state g can do what the event tells.
func (rule *oldRule) allows(g *oldGo, c *oldCursor) bool {
	if g.status != rule.from {
		return false
	}
	switch rule.seq {
	case seqGiven:
		return g.seq == c.args[1]
	case seqFixed:
		return rule.from == oldDead || g.seq == 1
	}
	return true
}

// happens lets the event of c happen.
func (m *oldMerge) happens(c *oldCursor) {
	slot := m.apply(c)
	if m.run != c {
		m.endRun(c)
	}
	m.length++
	if c.isExit() {
		m.exit(c, slot)
		return
	}
	m.placeExits(c.key())
	if m.events == 0 {
		m.start = c.time
	} else if c.time < m.last && m.unsorted == 0 {
		m.unsorted = max(c.at, 1)
	}
	m.last = c.time
	m.events++
	m.followCall(c)
	switch c.kind {
	case oldGoSysBlock, oldGoInSyscall:
		if slot != NoSlot {
			m.states[slot].blocked = c.time
		}
	case oldGoEnd:
		if slot := m.gs.find(GoID(c.g)); slot != NoSlot {
			m.states[slot].status = oldDead
			m.gs.remove(slot)
		}
	}
}

// apply changes the state of the program as the event of c says. It returns
// the slot of the goroutine whose state it was, or NoSlot.
func (m *oldMerge) apply(c *oldCursor) Slot {
	rule := &m.format.rules[c.kind]
	switch rule.whose {
	case ofNobody:
		return NoSlot
	case ofCollector:
		if c.args[0] != m.seqOfGC {
			m.force(c)
		}
		m.seqOfGC = c.args[0] + 1
		return NoSlot
	}
	slot := m.find(c, rule)
	if slot == NoSlot {
		id := c.g
		if rule.whose == ofArgument {
			id = c.args[0]
		}
		slot = m.gs.add(GoID(id), 0, sequence{})
		for int(slot) >= len(m.states) {
			m.states = append(m.states, oldGo{})
		}
		m.states[slot] = oldGo{}
	}
	g := &m.states[slot]
	if !rule.allows(g, c) {
		m.force(c)
	}
	g.status = rule.to
	switch rule.seq {
	case seqGiven:
		g.seq = c.args[1] + 1
	case seqNext, seqFixed:
		g.seq++
	}
	return slot
}

// force counts an event that happens although it cannot.
func (m *oldMerge) force(c *oldCursor) {
	if m.forced == 0 {
		m.forcedAt = c.at
	}
	m.forced++
}

// endRun writes the run that has ended; the next one is of c.
func (m *oldMerge) endRun(c *oldCursor) {
	if m.run != nil {
		m.runs = binary.AppendUvarint(m.runs, uint64(m.length-1)*uint64(len(m.calls))+uint64(m.run.index))
	}
	m.run, m.length = c, 0
}

// followCall finds out of each system call whether it blocks: whether the next
// event of its goroutine says so. A CPU sample is one too, as in
// internal/trace.
func (m *oldMerge) followCall(c *oldCursor) {
	if c.kind == oldCPUSample {
		for i := range m.calls {
			if m.calls[i].g == c.g {
				m.calls[i] = oldCall{}
			}
		}
		return
	}
	call := &m.calls[c.index]
	if call.number != 0 && call.g == c.g {
		if n := call.number - 1; c.kind == oldGoSysBlock {
			m.blocking[n/64] |= 1 << (n % 64)
		}
		*call = oldCall{}
	}
	if c.kind == oldGoSysCall {
		if m.called%64 == 0 {
			m.blocking = append(m.blocking, 0)
		}
		m.called++
		*call = oldCall{c.g, m.called}
	}
}

// findExits collects the exits of format 5, in which every event has a
// sequence number. That of an exit is not the one that its P counted to when
// it was written.
func (m *oldMerge) findExits() {
	cursors := m.cursors()
	for i := range cursors {
		for c := &cursors[i]; c.next(); {
			if at, _ := c.exit(); c.isExit() {
				m.late = append(m.late, lateExit{oldExit{time: at, g: GoID(c.g)}, int64(c.args[1])})
			}
		}
	}
	slices.SortFunc(m.late, func(a, b lateExit) int { return cmp.Compare(a.seq, b.seq) })
}

// placeExits gives a place to the exits that come before this sequence number.
func (m *oldMerge) placeExits(seq int64) {
	for len(m.late) > 0 && m.late[0].seq < seq {
		m.late[0].index = m.events
		m.exits = append(m.exits, m.late[0].oldExit)
		m.late = m.late[1:]
	}
}

// exit keeps the end of a system call.
func (m *oldMerge) exit(c *oldCursor, slot Slot) {
	if m.format.lead == 2 {
		return // see findExits
	}
	e := oldExit{time: c.time, index: m.events, g: GoID(c.g)}
	if at, moved := c.exit(); moved {
		if slot == NoSlot || m.states[slot].blocked == 0 || at < m.states[slot].blocked {
			if m.stray == 0 {
				m.stray = c.at
			}
		} else {
			e.time = at
		}
	}
	m.exits = append(m.exits, e)
}

// sortExits puts the exits into the order of their times. When the times
// cannot be trusted, it leaves them where they were written.
func (m *oldMerge) sortExits() {
	m.placeExits(math.MaxInt64)
	m.byTime = m.unsorted == 0 && m.format.lead == 1
	if m.byTime {
		slices.SortStableFunc(m.exits, func(a, b oldExit) int { return cmp.Compare(a.time, b.time) })
	}
}

// oldHeap holds cursors by key. It moves them as the heap of internal/trace
// does, which decides between equal keys.
type oldHeap []oldFront

type oldFront struct {
	key int64
	c   *oldCursor
}

func (h *oldHeap) push(c *oldCursor) {
	*h = append(*h, oldFront{c.key(), c})
	for j := len(*h) - 1; j > 0; {
		i := (j - 1) / 2
		if (*h)[j].key >= (*h)[i].key {
			break
		}
		(*h)[i], (*h)[j] = (*h)[j], (*h)[i]
		j = i
	}
}

func (h *oldHeap) pop() *oldCursor {
	n := len(*h) - 1
	f := (*h)[:n]
	top := (*h)[0].c
	if n > 0 {
		f[0] = (*h)[n]
	}
	for i := 0; ; {
		j := 2*i + 1
		if j >= n {
			break
		}
		if j+1 < n && f[j+1].key < f[j].key {
			j++
		}
		if f[j].key >= f[i].key {
			break
		}
		f[i], f[j] = f[j], f[i]
		i = j
	}
	*h = f
	return top
}
