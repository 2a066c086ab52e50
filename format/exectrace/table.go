package exectrace

import (
	"fmt"
	"math"
	"time"

	"loupe/value/stack"
	"loupe/value/timeline"
)

// tables are what the events of one generation refer to: strings and stacks by
// their number in it, and its clock.
type tables struct {
	data []byte // of the generation; the entries point into it

	strings stringTable
	stacks  idTable[stackEntry]
	frames  map[uint64]stack.FrameID // by PC; the first wins, as in internal/trace
	pending []stack.FrameID          // scratch

	clock  clock
	snap   *ClockSnapshot
	absent bool // the generation is cut in front of its tables
}

// stringTable finds a string by the number that the format gives it, like
// [idTable] but in four bytes: where its length stands, or its name once it
// was asked for.
//
// Note: a message of runtime/trace.Log is a string of its own. In a trace that
// is full of them, entries of thirteen bytes that grew by doubling were most of
// the memory of a reader.
type stringTable struct {
	dense    []uint32
	wide     map[uint64]uint64 // numbers or places that dense has no room for
	count    int
	expected int // of all strings, as far as one can tell
}

// named marks an entry that is a name.
const named = 1 << 31

func (t *stringTable) reset() {
	clear(t.dense)
	t.dense, t.wide, t.count, t.expected = t.dense[:0], nil, 0, 0
}

// expect says that of the bytes of all strings, so many are read.
func (t *stringTable) expect(read, all int64) {
	if read > 0 {
		t.expected = int(float64(t.count) * float64(all) / float64(read))
	}
}

// put adds the string at off; false says that there is one already.
func (t *stringTable) put(id uint64, off uint32) bool {
	if t.has(id) {
		return false
	}
	t.count++
	if off >= named || id >= max(uint64(len(t.dense)), 1024+4*uint64(t.count)) {
		if t.wide == nil {
			t.wide = make(map[uint64]uint64)
		}
		t.wide[id] = uint64(off)
		return true
	}
	if id >= uint64(len(t.dense)) {
		t.grow(int(id) + 1)
	}
	t.dense[id] = off
	return true
}

// grow makes dense n long. What lies behind its length is always zero.
func (t *stringTable) grow(n int) {
	if n > cap(t.dense) {
		dense := make([]uint32, len(t.dense), max(n, t.expected+t.expected/16, cap(t.dense)+cap(t.dense)/4, 1024))
		copy(dense, t.dense)
		t.dense = dense
	}
	t.dense = t.dense[:n]
}

func (t *stringTable) has(id uint64) bool {
	if id < uint64(len(t.dense)) && t.dense[id] != 0 {
		return true
	}
	_, ok := t.wide[id]
	return ok
}

// stackEntry is one stack: its interned form, and where its PCs lie.
type stackEntry struct {
	id  stack.ID
	off uint32
}

// idTable finds an entry by the number that the format gives it. The runtime
// counts from 1 up, so that a slice does; numbers that leave too wide gaps go
// to a map, so that no input can ask for more memory than it has bytes for.
type idTable[T any] struct {
	dense []T
	known []bool
	wide  map[uint64]T
	count int
}

func (t *idTable[T]) reset() {
	clear(t.known)
	t.dense, t.known, t.wide, t.count = t.dense[:0], t.known[:0], nil, 0
}

// put adds an entry; false says that there is one already.
func (t *idTable[T]) put(id uint64, v T) bool {
	if t.has(id) {
		return false
	}
	t.count++
	if id < uint64(len(t.dense)) {
		t.dense[id], t.known[id] = v, true
		return true
	}
	if id < 1024+4*uint64(t.count) {
		for uint64(len(t.dense)) <= id {
			var zero T
			t.dense, t.known = append(t.dense, zero), append(t.known, false)
		}
		t.dense[id], t.known[id] = v, true
		return true
	}
	if t.wide == nil {
		t.wide = make(map[uint64]T)
	}
	t.wide[id] = v
	return true
}

func (t *idTable[T]) has(id uint64) bool {
	if id < uint64(len(t.known)) && t.known[id] {
		return true
	}
	_, ok := t.wide[id]
	return ok
}

// get returns the entry. Number 0 is the empty string and the empty stack.
func (t *idTable[T]) get(id uint64) (v T, ok bool) {
	if id < uint64(len(t.dense)) && t.known[id] {
		return t.dense[id], true
	}
	if id == 0 {
		return v, true
	}
	v, ok = t.wide[id]
	return v, ok
}

// clock turns the units of a trace into nanoseconds.
type clock struct {
	perUnit float64
	whole   int64 // perUnit when it is a whole number, else 0
}

// defaultFrequency is that of Linux and macOS: units of 64 ns.
const defaultFrequency = 15625000

func newClock(unitsPerSecond uint64) clock {
	c := clock{perUnit: 1.0 / (float64(unitsPerSecond) / 1e9)}
	if w := int64(c.perUnit); float64(w) == c.perUnit && w < 1<<10 {
		c.whole = w
	}
	return c
}

// ns is exact for whole units below 2^53, and beyond and for others what
// internal/trace computes: each delta alone, truncated.
func (c clock) ns(units uint64) timeline.Time {
	if c.whole != 0 && units < 1<<53 {
		return timeline.Time(int64(units) * c.whole)
	}
	return timeline.Time(float64(units) * c.perUnit)
}

// read fills the tables from a generation's batches. What is wrong with them
// goes to problem, and is read as far as it goes.
func (t *tables) read(g *generation, data []byte, version Version, n *names, into *stack.Table, problem func(offset int64, text string)) {
	t.data = data
	t.strings.reset()
	t.stacks.reset()
	if t.frames == nil {
		t.frames = make(map[uint64]stack.FrameID)
	}
	clear(t.frames)
	before := t.clock
	t.clock, t.snap = clock{}, nil
	for _, b := range g.syncs {
		if text := t.readSync(g.slice(data, b), b.time, version); text != "" {
			problem(b.offset, text)
		}
	}
	t.absent = !g.complete && (t.clock == clock{} || len(g.stacks)+len(g.strings) == 0)
	switch {
	case t.clock != clock{}:
	case before != clock{}:
		problem(-1, "no clock frequency; taken to be that of the generation before")
		t.clock = before
	default:
		problem(-1, "no clock frequency; taken to be 64 ns a unit, that of Linux and macOS")
		t.clock = newClock(defaultFrequency)
	}
	if t.snap == nil && version >= 25 {
		problem(-1, "no clock snapshot: the trace cannot be laid beside other clocks")
	}
	var read, all int64
	for _, b := range g.strings {
		all += int64(b.size)
	}
	for _, b := range g.strings {
		t.strings.expect(read, all)
		read += int64(b.size)
		if at, text := t.readStrings(g.slice(data, b), b.offset-g.start); text != "" {
			problem(b.offset+int64(at), text)
		}
	}
	for _, b := range g.stacks {
		if at, text := t.readStacks(g.slice(data, b), b.offset-g.start, n, into); text != "" {
			problem(b.offset+int64(at), text)
		}
	}
}

// readSync reads the frequency and the clock snapshot.
func (t *tables) readSync(b []byte, at uint64, version Version) string {
	i := 0
	if version >= 25 {
		i = 1 // the byte Sync
	}
	for i >= 0 && i < len(b) {
		kind := b[i]
		i++
		switch {
		case kind == evFrequency:
			var f uint64
			f, i = uvarint(b, i)
			if t.clock != (clock{}) {
				return "a second clock frequency"
			}
			if i != bad && f == 0 {
				return "the clock frequency is zero"
			}
			if i != bad {
				t.clock = newClock(f)
			}
		case kind == evClockSnapshot && version >= 25:
			var dt, mono, sec, nsec uint64
			dt, i = uvarint(b, i)
			mono, i = uvarint(b, i)
			sec, i = uvarint(b, i)
			nsec, i = uvarint(b, i)
			if t.snap != nil {
				return "a second clock snapshot"
			}
			if i != bad {
				at += dt
				t.snap = &ClockSnapshot{Trace: timeline.Time(at), Mono: mono, Wall: time.Unix(int64(sec), int64(nsec))}
			}
		default:
			return fmt.Sprintf("event %d among the clocks", kind)
		}
	}
	if i == bad {
		return "a number among the clocks is cut"
	}
	if t.snap != nil && t.clock != (clock{}) {
		t.snap.Trace = t.clock.ns(uint64(t.snap.Trace))
	}
	return ""
}

// readStrings reads one batch of strings, at base in the generation.
func (t *tables) readStrings(b []byte, base int64) (at int, wrong string) {
	for i := 1; i < len(b); {
		at = i
		if b[i] != evString {
			return at, fmt.Sprintf("a string should begin here, but the byte is %#02x", b[i])
		}
		var id, n uint64
		id, i = uvarint(b, i+1)
		place := i
		n, i = uvarint(b, i)
		switch {
		case i == bad:
			return at, "a string is cut"
		case n > maxStringSize:
			return at, fmt.Sprintf("a string of %d bytes, and %d is the most there can be", n, maxStringSize)
		case n > uint64(len(b)-i):
			return at, "a string is cut"
		case base+int64(i) > math.MaxUint32:
			return at, "the generation has more than 4 GiB"
		}
		if id == 0 || !t.strings.put(id, uint32(base)+uint32(place)) {
			return at, fmt.Sprintf("two strings with the number %d", id)
		}
		i += int(n)
	}
	return 0, ""
}

// readStacks reads one batch of stacks, at base in the generation.
func (t *tables) readStacks(b []byte, base int64, n *names, into *stack.Table) (at int, wrong string) {
	for i := 1; i < len(b); {
		at = i
		if b[i] != evStack {
			return at, fmt.Sprintf("a stack should begin here, but the byte is %#02x", b[i])
		}
		var id, depth uint64
		id, i = uvarint(b, i+1)
		depth, i = uvarint(b, i)
		if i == bad {
			return at, "a stack is cut"
		}
		if depth > maxFrames {
			return at, fmt.Sprintf("a stack of %d frames, and %d is the most there can be", depth, maxFrames)
		}
		entry := stackEntry{off: uint32(base) + uint32(at)}
		t.pending = t.pending[:0]
		for range depth {
			var pc, function, file, line uint64
			pc, i = uvarint(b, i)
			function, i = uvarint(b, i)
			file, i = uvarint(b, i)
			line, i = uvarint(b, i)
			if i == bad {
				return at, "a stack is cut"
			}
			frame, ok := t.frames[pc]
			if !ok {
				fn, okFn := t.name(function, n)
				fl, okFl := t.name(file, n)
				if !okFn || !okFl {
					wrong = fmt.Sprintf("stack %d names a string that is not there", id)
				}
				frame = into.InternFrame(stack.Frame{Func: n.all()[fn], File: n.all()[fl], Line: int(line)})
				t.frames[pc] = frame
			}
			t.pending = append(t.pending, frame)
		}
		entry.id = into.Intern(t.pending)
		if !t.stacks.put(id, entry) || id == 0 {
			return at, fmt.Sprintf("two stacks with the number %d", id)
		}
		if wrong != "" {
			return at, wrong
		}
	}
	return 0, ""
}

// at returns the string whose length stands at a place.
func (t *tables) at(place uint64) []byte {
	n, i := uvarint(t.data, int(place))
	return t.data[i : i+int(n)]
}

// text returns the string of a number; "" for one that is not there.
func (t *tables) text(id uint64, n *names) string {
	if id < uint64(len(t.strings.dense)) {
		if s := t.strings.dense[id]; s&named != 0 {
			return n.all()[s&^named]
		} else if s != 0 {
			return string(t.at(uint64(s)))
		}
	}
	if place, ok := t.strings.wide[id]; ok {
		return string(t.at(place))
	}
	return ""
}

// name returns the interned string of a number; false for one that is not
// there. Number 0 is the empty string.
func (t *tables) name(id uint64, n *names) (NameID, bool) {
	if id < uint64(len(t.strings.dense)) {
		if s := t.strings.dense[id]; s&named != 0 {
			return NameID(s &^ named), true
		}
	}
	return t.newName(id, n)
}

// newName is name for what was not asked for yet.
func (t *tables) newName(id uint64, n *names) (NameID, bool) {
	if id < uint64(len(t.strings.dense)) && t.strings.dense[id] != 0 {
		name := n.internBytes(t.at(uint64(t.strings.dense[id])))
		t.strings.dense[id] = uint32(name) | named
		return name, true
	}
	if place, ok := t.strings.wide[id]; ok {
		return n.internBytes(t.at(place)), true
	}
	return NameNone, id == 0
}

// appendPCs appends the addresses of a stack, leaf first.
func (t *tables) appendPCs(dst []uint64, id uint64) []uint64 {
	s, ok := t.stacks.get(id)
	if !ok || id == 0 {
		return dst
	}
	b := t.data[s.off:]
	_, i := uvarint(b, 1)
	depth, i := uvarint(b, i)
	for range depth {
		var pc uint64
		pc, i = uvarint(b, i)
		for range 3 {
			_, i = uvarint(b, i)
		}
		dst = append(dst, pc)
	}
	return dst
}
