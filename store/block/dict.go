package block

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"strings"

	"loupe/format/profile"
	"loupe/store"
	"loupe/value/stack"
)

// dict is the code of one service: everything that the samples of a part refer to, in
// columns that are only appended to, so that a copy of the slices is a snapshot. Node 0
// is the root; the parent of a node is in front of it. Label set 0 is empty.
type dict struct {
	functions []store.Function
	lines     []store.Line
	ends      []uint32 // location i has lines[ends[i-1]:ends[i]], the innermost call first
	parents   []uint32 // of nodes
	locations []uint32 // of nodes
	stacks    []uint32 // node that a stack ends at
	sets      []store.Labels
}

// linesOf returns the lines of a location.
func (d *dict) linesOf(location uint32) []store.Line {
	begin := uint32(0)
	if location > 0 {
		begin = d.ends[location-1]
	}
	return d.lines[begin:d.ends[location]]
}

// bytes estimates the memory of the dictionary.
func (d *dict) bytes() int64 {
	n := int64(len(d.lines))*16 + int64(len(d.ends)+len(d.stacks))*4 + int64(len(d.parents))*8 + int64(len(d.sets))*16
	for _, f := range d.functions {
		n += 48 + int64(len(f.Name)+len(f.File))
	}
	return n
}

// interner adds to a dictionary what is new.
type interner struct {
	dict
	text      map[string]string // one copy of each name
	functionM hashed
	lineM     pairs             // locations of one line, by function and line
	locationM map[string]uint32 // locations of several
	nodeM     pairs
	stackOf   []uint32 // plus one, by node
	paths     hashed   // nodes
	setM      map[store.Labels]uint32
	key       []byte
	textBytes int64
}

func newInterner() *interner {
	in := &interner{
		text: map[string]string{}, locationM: map[string]uint32{}, setM: map[store.Labels]uint32{{}: 0},
	}
	in.parents, in.locations = []uint32{0}, []uint32{0}
	in.sets = []store.Labels{{}}
	return in
}

// memory estimates what the interner holds, in bytes: its maps are about twice as large
// as the dictionary.
func (in *interner) memory() int64 {
	n := int64(len(in.lines))*16 + int64(len(in.ends)+len(in.stacks))*4 + int64(len(in.parents))*8 + int64(len(in.functions))*48
	return 3*n + in.textBytes
}

func (in *interner) function(f store.Function) uint32 {
	hash := uint32(maphash.String(seed, f.Name)) + uint32(f.StartLine)
	have, slot := in.functionM.find(hash, func(at uint32) bool { return in.functions[at] == f })
	if slot < 0 {
		return have
	}
	// The text belongs to whoever decoded it: a profile whose strings are one large text
	// must not live as long as one of its names.
	f.Name, f.File = in.own(f.Name), in.own(f.File)
	at := uint32(len(in.functions))
	in.functions = append(in.functions, f)
	in.functionM.add(slot, hash, at)
	return at
}

func (in *interner) own(s string) string {
	if have, ok := in.text[s]; ok {
		return have
	}
	s = strings.Clone(s)
	in.text[s] = s
	in.textBytes += int64(len(s)) + 64
	return s
}

// location finds or adds one with these lines.
func (in *interner) location(lines []store.Line) uint32 {
	if len(lines) == 1 { // most
		slot, found := in.lineM.find(lines[0].Function, uint32(lines[0].Line))
		if !found {
			*slot = in.addLocation(lines)
		}
		return *slot
	}
	in.key = in.key[:0]
	for _, l := range lines {
		in.key = binary.LittleEndian.AppendUint32(in.key, l.Function)
		in.key = binary.LittleEndian.AppendUint32(in.key, uint32(l.Line))
	}
	if at, ok := in.locationM[string(in.key)]; ok {
		return at
	}
	at := in.addLocation(lines)
	in.locationM[string(in.key)] = at
	return at
}

func (in *interner) addLocation(lines []store.Line) uint32 {
	at := uint32(len(in.ends))
	in.lines = append(in.lines, lines...)
	in.ends = append(in.ends, uint32(len(in.lines)))
	return at
}

// path finds or adds the node at which a path from the root ends: locations, the
// outermost call first. Nearly all paths have come before. Those are found by one hash of
// all their locations and compared with the tree, which takes a third of the time of
// looking up each node by itself.
func (in *interner) path(locations []uint32) uint32 {
	hash := hashPath(locations)
	at, slot := in.paths.find(hash, func(node uint32) bool { return in.isPath(node, locations) })
	if slot < 0 {
		return at
	}
	node := uint32(0)
	for _, l := range locations {
		node = in.node(node, l)
	}
	in.paths.add(slot, hash, node)
	return node
}

// isPath tells whether the way from the root to a node has these locations.
func (in *interner) isPath(node uint32, locations []uint32) bool {
	for i := len(locations) - 1; i >= 0; i-- {
		if node == 0 || in.locations[node] != locations[i] {
			return false
		}
		node = in.parents[node]
	}
	return node == 0
}

// hashPath mixes locations: whoever makes two paths with one hash has made a comparison
// more, and nothing else.
func hashPath(locations []uint32) uint32 {
	h := uint64(len(locations))
	for _, l := range locations {
		h = (h ^ uint64(l)) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return uint32(h ^ h>>32)
}

// seed is of all hashes of names: no input can be made to collide.
var seed = maphash.MakeSeed()

// hashed is an open hash table of the numbers of things that are kept elsewhere: nodes by
// their paths, functions by their names.
type hashed struct {
	slots []hashedSlot // hash and number together, as a look is a cache miss
	n     int
}

type hashedSlot struct{ hash, number uint32 } // plus one, 0 is free

// find returns the number that has the hash and is the same, or the free slot where it
// belongs; else that is -1.
func (p *hashed) find(hash uint32, same func(number uint32) bool) (number uint32, slot int) {
	if 4*p.n >= 3*len(p.slots) {
		p.grow()
	}
	mask := uint32(len(p.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		switch s := p.slots[i]; {
		case s.number == 0:
			return 0, int(i)
		case s.hash == hash && same(s.number-1):
			return s.number - 1, -1
		}
	}
}

// add fills a slot that find has returned.
func (p *hashed) add(slot int, hash, number uint32) {
	p.slots[slot] = hashedSlot{hash, number + 1}
	p.n++
}

func (p *hashed) grow() {
	old := *p
	*p = hashed{slots: make([]hashedSlot, max(256, 2*len(old.slots)))}
	for _, s := range old.slots {
		if s.number != 0 {
			_, slot := p.find(s.hash, func(uint32) bool { return false })
			p.add(slot, s.hash, s.number-1)
		}
	}
}

// node finds or adds the child of a node.
func (in *interner) node(parent, location uint32) uint32 {
	slot, found := in.nodeM.find(parent, location)
	if !found {
		*slot = uint32(len(in.parents))
		in.parents = append(in.parents, parent)
		in.locations = append(in.locations, location)
	}
	return *slot
}

// stack finds or adds the stack that ends at a node.
func (in *interner) stack(node uint32) uint32 {
	if missing := len(in.parents) - len(in.stackOf); missing > 0 {
		in.stackOf = append(in.stackOf, make([]uint32, missing)...)
	}
	if in.stackOf[node] == 0 {
		in.stacks = append(in.stacks, node)
		in.stackOf[node] = uint32(len(in.stacks))
	}
	return in.stackOf[node] - 1
}

func (in *interner) set(l store.Labels) uint32 {
	if at, ok := in.setM[l]; ok {
		return at
	}
	at := uint32(len(in.sets))
	in.sets = append(in.sets, l)
	in.setM[l] = at
	return at
}

// line is a line as it is kept: 31 bits hold every one that a compiler writes.
func line(n int) int { return max(0, min(n, math.MaxInt32)) }

// pairs maps pairs of numbers to a number. It is an open hash table: Go's map took three
// times as long for the nodes, which are looked up for every frame of every sample.
type pairs struct {
	slots []pairSlot
	n     int
}

type pairSlot struct {
	key   uint64 // parent and location, plus one
	value uint32
}

// find returns where the value of a pair is, which is new when it was not found.
func (p *pairs) find(a, b uint32) (value *uint32, found bool) {
	if 4*p.n >= 3*len(p.slots) {
		p.grow(2 * len(p.slots))
	}
	key := (uint64(a)<<32 | uint64(b)) + 1
	mask := uint64(len(p.slots) - 1)
	for i := key * 0x9e3779b97f4a7c15 >> 20 & mask; ; i = (i + 1) & mask {
		s := &p.slots[i]
		switch s.key {
		case key:
			return &s.value, true
		case 0:
			s.key = key
			p.n++
			return &s.value, false
		}
	}
}

// grow makes a table of a size, a power of two.
func (p *pairs) grow(size int) {
	old := *p
	*p = pairs{slots: make([]pairSlot, max(1024, size))}
	for _, s := range old.slots {
		if s.key != 0 {
			at, _ := p.find(uint32((s.key-1)>>32), uint32(s.key-1))
			*at = s.value
		}
	}
}

// reading adds the samples of one profile to a dictionary.
type reading struct {
	in        *interner
	p         *profile.Profile
	runs      []run    // by the outermost frame of a location, where the profile has locations
	functions []uint32 // by their numbers in the profile, plus one
	sets      []uint32 // of the profile's label sets, plus one
	path      []uint32
	lines     []store.Line
}

// run is a location of the profile: the number that it has in the dictionary, plus one, and how
// many frames stand for it.
type run struct{ location, frames uint32 }

func newReading(in *interner, p *profile.Profile) *reading {
	r := &reading{in: in, p: p}
	if p.Locations != nil {
		r.runs = make([]run, p.Stacks.NumFrames())
	}
	if p.LabelSets != nil {
		r.sets = make([]uint32, p.NumLabelSets())
	}
	return r
}

// stack returns the stack and the label set of a sample.
func (r *reading) stack(row int) (id, set uint32) {
	frames := r.p.Stacks.Frames(r.p.StackIDs[row])
	path := r.path[:0]
	for end := len(frames); end > 0; {
		if r.runs != nil {
			if one := r.runs[frames[end-1]]; one.location != 0 && int(one.frames) <= end { // nearly always
				path = append(path, one.location-1)
				end -= int(one.frames)
				continue
			}
		}
		location, begin := r.location(frames, end)
		path = append(path, location)
		end = begin
	}
	r.path = path
	return r.in.stack(r.in.path(path)), r.set(row)
}

// location returns the location whose outermost frame is in front of end, and where its frames
// begin.
func (r *reading) location(frames []stack.FrameID, end int) (at uint32, begin int) {
	begin = end - 1
	last := frames[begin]
	whole := r.runs != nil
	if whole {
		begin = end - r.p.Locations[r.p.LocationOf(last)].NumFrames()
		if whole = begin >= 0; !whole {
			begin = 0 // the stack was cut
		}
	} else {
		for begin > 0 && r.p.Stacks.Frame(frames[begin-1]).Inlined {
			begin--
		}
	}
	r.lines = r.lines[:0]
	for _, id := range frames[begin:end] {
		n, _ := r.p.Stacks.Position(id)
		r.lines = append(r.lines, store.Line{Function: r.function(id), Line: line(n)})
	}
	at = r.in.location(r.lines)
	if whole {
		r.runs[last] = run{at + 1, uint32(end - begin)}
	}
	return at, begin
}

// function returns that of a frame.
func (r *reading) function(id stack.FrameID) uint32 {
	number, known := r.p.FunctionOf(id)
	if known && number < len(r.functions) && r.functions[number] != 0 {
		return r.functions[number] - 1
	}
	f := r.p.Stacks.Frame(id)
	at := r.in.function(store.Function{Name: f.Func, File: f.File, StartLine: line(f.StartLine)})
	if known {
		if missing := number + 1 - len(r.functions); missing > 0 {
			r.functions = append(r.functions, make([]uint32, missing)...)
		}
		r.functions[number] = at + 1
	}
	return at
}

// set returns the label set of a sample: its strings alone.
func (r *reading) set(row int) uint32 {
	if r.sets == nil {
		return 0
	}
	s := r.p.SetOf(row)
	if r.sets[s] == 0 {
		var list []store.Label
		for _, l := range r.p.Labels(s) {
			if !l.Numeric {
				list = append(list, store.Label{Name: l.Key, Value: l.Str})
			}
		}
		r.sets[s] = r.in.set(store.MakeLabels(list)) + 1
	}
	return r.sets[s] - 1
}
