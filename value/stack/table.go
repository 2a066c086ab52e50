// Package stack holds call stacks as small numbers: frames and stacks are
// interned in flat arenas, so that a profile of a million samples is a column
// of IDs, and every analysis walks each distinct stack once.
//
// It also knows how Go names its symbols: which package a function belongs
// to, what its short name is and whether it is the user's own code.
//
// The package decodes no format and counts nothing: see profile for the
// former and calltree for the latter.
package stack

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
)

// ID names one stack of a [Table]. Equal stacks have equal IDs, unless they
// came through [Table.Append]. The zero ID is the empty stack in every table.
type ID uint32

// FrameID names one frame of a [Table]. Equal frames have equal FrameIDs,
// unless they came through [Table.AppendFrame].
type FrameID uint32

// Frame is one function call in a stack.
type Frame struct {
	// Func is the symbol name as the linker writes it, such as
	// "net/http.(*conn).serve". It is empty when the code has no symbol.
	Func string
	// System is the name in the symbol table: in Go the same, in C++ the mangled
	// one. It is empty when nobody has asked for it.
	System string
	// File is the source file as the compiler recorded it.
	File string
	// Module is the binary or shared object that the code was loaded from.
	Module string
	// Address is where the code is in memory, the same for a call and for what
	// was inlined into it; 0 means unknown.
	Address uint64
	// Line is the line of the call, or of the running statement in a leaf;
	// 0 means unknown. Column is the column in it, which Go does not tell.
	Line, Column int
	// StartLine is the line of the func keyword; 0 means unknown (before Go 1.20).
	StartLine int
	// Inlined says that the compiler has inlined this call into the next
	// frame towards the root.
	Inlined bool
}

// Table holds distinct frames and distinct stacks. The zero Table is empty and
// ready for use. Any number of goroutines may read a table that nobody adds to.
//
// Note: a tree of parent pointers would share the common roots of stacks. On a
// heap profile of 73,615 samples it had 392,721 nodes, about half the size of
// the flat arena, but it costs one hash lookup per frame instead of one per
// stack, and every walk is a chain of dependent loads.
type Table struct {
	frames   []Frame
	frameIDs index // holds FrameID+1: 0 is a free slot

	arena    []FrameID // all stacks one after the other, leaf first
	end      []uint32  // end[id] is where stack id ends in arena; it starts at end[id-1]
	stackIDs index

	hasher hasher
}

// Intern returns the ID of the stack with these frames, leaf first, and adds
// the stack when it is new. The slice is copied. It panics when the table has
// no room for 4 Gi frames: whoever decodes input must bound it first.
func (t *Table) Intern(frames []FrameID) ID {
	t.init()
	if len(frames) == 0 {
		return 0
	}
	for len(t.stackIDs.hashes) < len(t.end) { // what Append has added
		t.stackIDs.insert(t.hasher.stack(t.Frames(ID(len(t.stackIDs.hashes)))))
	}
	h := t.hasher.stack(frames)
	slot, id, ok := t.stackIDs.find(h, func(id uint32) bool { return slices.Equal(t.Frames(ID(id)), frames) })
	if ok {
		return ID(id)
	}
	t.Append(frames)
	return ID(t.stackIDs.add(slot, h))
}

// Append adds a stack that the caller knows to be new and returns its ID. The
// slice is copied. It saves the lookup of [Table.Intern]: that took 46 of the
// 107 ms of decoding a heap profile with 190,000 stacks. A stack that was there
// already has two IDs then, which costs analyses time and changes no result.
func (t *Table) Append(frames []FrameID) ID {
	t.init()
	if uint64(len(t.arena))+uint64(len(frames)) > 1<<32-1 {
		panic("BUG: stack table overflow: the decoder did not bound its input")
	}
	t.arena = append(t.arena, frames...)
	t.end = append(t.end, uint32(len(t.arena)))
	return ID(len(t.end) - 1)
}

// hasher hashes stacks and frames.
type hasher struct {
	seed maphash.Seed // random: no input can be made to collide
	key  []byte       // scratch
}

func (x *hasher) stack(frames []FrameID) uint32 {
	x.key = x.key[:0]
	for _, f := range frames {
		x.key = binary.LittleEndian.AppendUint32(x.key, uint32(f))
	}
	return uint32(maphash.Bytes(x.seed, x.key))
}

// InternFrame returns the FrameID of f and adds f when it is new.
func (t *Table) InternFrame(f Frame) FrameID {
	t.init()
	for n := len(t.frameIDs.hashes); n <= len(t.frames); n++ { // what AppendFrame has added
		t.frameIDs.insert(t.hasher.frame(&t.frames[n-1]))
	}
	h := t.hasher.frame(&f)
	slot, id, ok := t.frameIDs.find(h, func(id uint32) bool { return t.frames[id-1] == f })
	if !ok {
		t.frames = append(t.frames, f)
		id = t.frameIDs.add(slot, h)
	}
	return FrameID(id - 1)
}

// AppendFrame adds a frame, new or not, and returns its FrameID, which is one
// more than that of the frame before it.
func (t *Table) AppendFrame(f Frame) FrameID {
	t.init()
	t.frames = append(t.frames, f)
	return FrameID(len(t.frames) - 1)
}

func (x *hasher) frame(f *Frame) uint32 {
	x.key = binary.LittleEndian.AppendUint64(x.key[:0], uint64(f.Line))
	x.key = binary.LittleEndian.AppendUint64(x.key, uint64(f.Column))
	x.key = binary.LittleEndian.AppendUint64(x.key, f.Address)
	x.key = binary.LittleEndian.AppendUint64(x.key, uint64(f.StartLine))
	if f.Inlined {
		x.key = append(x.key, 1)
	}
	h := maphash.Bytes(x.seed, x.key)
	h = h*31 + maphash.String(x.seed, f.Func)
	h = h*31 + maphash.String(x.seed, f.File)
	h = h*31 + maphash.String(x.seed, f.Module)
	if f.System != "" {
		h = h*31 + maphash.String(x.seed, f.System)
	}
	return uint32(h)
}

// Frames returns the frames of a stack, leaf first. The slice belongs to the
// table and must not be modified. It panics when id is not of this table.
func (t *Table) Frames(id ID) []FrameID {
	if id == 0 {
		return nil
	}
	start, end := t.end[id-1], t.end[id]
	return t.arena[start:end:end]
}

// Frame returns the frame with this id. It panics when id is not of this table.
func (t *Table) Frame(id FrameID) Frame { return t.frames[id] }

// WithFrames returns a table with the same stacks of other frames: the function
// changes a copy of each frame, in their order. The stacks are shared and not
// copied, which for a heap profile with 190,000 of them saves 35 MB and half of
// the time of reading it. Frames that have become equal stay two.
func (t *Table) WithFrames(change func(id FrameID, f *Frame)) *Table {
	u := &Table{frames: slices.Clone(t.frames), arena: slices.Clip(t.arena), end: slices.Clip(t.end), hasher: hasher{seed: t.hasher.seed}}
	for i := range u.frames {
		change(FrameID(i), &u.frames[i])
	}
	if u.end != nil {
		u.stackIDs.hashes, u.frameIDs.hashes = make([]uint32, 1), make([]uint32, 1)
	}
	return u
}

// Position returns the line and the column of a frame, without a copy of the
// rest. It panics when id is not of this table.
func (t *Table) Position(id FrameID) (line, column int) {
	f := &t.frames[id]
	return f.Line, f.Column
}

// Len returns the number of distinct stacks, the empty one included: every ID
// of the table is below it.
func (t *Table) Len() int { return max(len(t.end), 1) }

// NumFrames returns the number of distinct frames: every FrameID of the table
// is below it.
func (t *Table) NumFrames() int { return len(t.frames) }

// Grow makes room for this many more stacks with this many frames in total, so
// that a decoder that has counted does not pay for doubling: on a heap profile
// with 190,000 stacks doubling left 40 MB of garbage.
func (t *Table) Grow(stacks, frames int) {
	t.init()
	if cap(t.end)-len(t.end) < stacks {
		end := make([]uint32, len(t.end), len(t.end)+stacks)
		copy(end, t.end)
		t.end = end
	}
	if cap(t.arena)-len(t.arena) < frames {
		// Not slices.Grow: it clears the new room, and pages that are never
		// used would become resident. Here that was 15 of 85 MB.
		arena := make([]FrameID, len(t.arena), len(t.arena)+frames)
		copy(arena, t.arena)
		t.arena = arena
	}
}

// Extent is a run of frames: N of them, the first is First.
type Extent struct {
	First FrameID
	N     uint32
}

// Expand replaces every frame of every stack by the frames that it stands for:
// those of dense[f] or, beyond it, of odd(f). A decoder can append stacks this way
// before it knows the frames. It needs no memory where Grow has made room enough.
// It changes nothing and returns the frame in question when one has no
// extent, and a negative size; or the size that all stacks would have together
// when that is more than most.
func (t *Table) Expand(dense []Extent, odd func(FrameID) Extent, most int64) (missing FrameID, size int64) {
	t.init()
	for _, f := range t.arena {
		n := uint32(0)
		if int(f) < len(dense) {
			n = dense[f].N
		} else {
			n = odd(f).N
		}
		if n == 0 {
			return f, -1
		}
		size += int64(n)
	}
	if size > most || size > 1<<32-1 {
		return 0, size
	}
	from, to := t.arena, t.arena[:len(t.arena):cap(t.arena)]
	if int64(cap(to)) < size {
		to = make([]FrameID, size)
	}
	// From the end on nothing is overwritten that is still to be read.
	to = to[:size]
	at := int(size)
	for id := len(t.end) - 1; id > 0; id-- {
		start, end := t.end[id-1], t.end[id]
		t.end[id] = uint32(at)
		for i := int(end) - 1; i >= int(start); i-- {
			var e Extent
			if f := from[i]; int(f) < len(dense) {
				e = dense[f]
			} else {
				e = odd(f)
			}
			at--
			if to[at] = e.First + FrameID(e.N) - 1; e.N > 1 {
				for n := int(e.N) - 2; n >= 0; n-- {
					at--
					to[at] = e.First + FrameID(n)
				}
			}
		}
	}
	t.arena = to
	t.stackIDs = index{hashes: make([]uint32, 1)} // they were of other frames
	return 0, size
}

// AddFrames adds this many frames, which the caller fills in before anything else is done
// with the table: that saves two copies of each.
func (t *Table) AddFrames(n int) []Frame {
	t.init()
	at := len(t.frames)
	t.frames = slices.Grow(t.frames, n)[:at+n]
	return t.frames[at:]
}

// GrowFrames makes room for this many more frames.
func (t *Table) GrowFrames(n int) {
	t.init()
	t.frames = slices.Grow(t.frames, n)
}

func (t *Table) init() {
	if t.end == nil {
		t.end = append(t.end, 0) // the empty stack
		t.hasher.seed = maphash.MakeSeed()
		t.stackIDs.hashes = append(t.stackIDs.hashes, 0)
		t.frameIDs.hashes = append(t.frameIDs.hashes, 0)
	}
}

// index is an open-addressing hash table from content to ids that count up
// from 1. It holds 32 bits of each hash, so that growing never touches the
// content, and no copy of the key: with a map of frames, decoding a profile of
// 20,000 locations allocated 11 MB more.
type index struct {
	slots  []uint32 // id, 0 is free
	hashes []uint32 // by id
}

// find returns the id whose hash is h and which is equal, or the free slot
// where it belongs.
func (x *index) find(h uint32, equal func(id uint32) bool) (slot int, id uint32, ok bool) {
	if len(x.hashes)*4 >= len(x.slots)*3 {
		x.grow(len(x.hashes))
	}
	mask := uint32(len(x.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		id := x.slots[i]
		if id == 0 {
			return int(i), 0, false
		}
		if x.hashes[id] == h && equal(id) {
			return int(i), id, true
		}
	}
}

func (x *index) add(slot int, h uint32) uint32 {
	id := uint32(len(x.hashes))
	x.slots[slot] = id
	x.hashes = append(x.hashes, h)
	return id
}

// insert adds content without looking whether it is there.
func (x *index) insert(h uint32) {
	slot, _, _ := x.find(h, func(uint32) bool { return false })
	x.add(slot, h)
}

// grow makes room for n more ids at a load of three quarters.
func (x *index) grow(n int) {
	size := max(64, len(x.slots))
	for (len(x.hashes)+n)*4 >= size*3 {
		size *= 2
	}
	if size == len(x.slots) {
		return
	}
	x.hashes = slices.Grow(x.hashes, n)
	x.slots = make([]uint32, size)
	mask := uint32(size - 1)
	for id := 1; id < len(x.hashes); id++ {
		i := x.hashes[id] & mask
		for x.slots[i] != 0 {
			i = (i + 1) & mask
		}
		x.slots[i] = uint32(id)
	}
}
