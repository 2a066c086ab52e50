package profile

import (
	"fmt"
	"math"
	"strings"

	"loupe/value/protobuf"
	"loupe/value/stack"
)

// location takes in one Location and its lines.
func (d *decoder) location(top *protobuf.Cursor) error {
	l := rawLocation{at: int64(top.Start)}
	if d.usualLocation(top.Chunk(), &l) {
		return nil
	}
	c := protobuf.Cursor{Buf: top.Chunk()}
	for c.Step() {
		if err := wantType(&c, l.at, "location", 5, c.Number == 4); err != nil {
			return err
		}
		switch c.Number {
		case 1:
			l.id = c.Value
		case 2:
			l.mapping = c.Value
		case 3:
			l.address = c.Value
		case 5:
			l.folded = c.Value != 0
		case 4:
			line, err := readLine(c.Chunk(), l.at+int64(c.Start))
			if err != nil {
				return err
			}
			d.lines = added(d.lines, &d.in, line)
		}
	}
	l.end = len(d.lines)
	d.locations = added(d.locations, &d.in, l)
	return endOf(&c, l.at, "location")
}

// added appends to a table of the file, with room for what is likely to come.
func added[T any](list []T, in *input, one T) []T {
	if len(list) == cap(list) {
		list = grown(list, in.room(len(list)))
	}
	return append(list, one)
}

// usualLocation takes a location in that has known fields alone, each of them with a tag of
// one byte and sound. Of all others it keeps nothing and returns false.
//
// Tables are half of a small profile: reading them this way takes a third of the
// instructions of a Cursor.
func (d *decoder) usualLocation(m []byte, l *rawLocation) bool {
	lines := len(d.lines)
	var numbers [6]uint64
	for i := 0; i < len(m); {
		tag := m[i]
		v, next := number(m, i+1)
		if next > len(m) {
			d.lines = d.lines[:lines]
			return false
		}
		i = next
		switch tag {
		case 1 << 3, 2 << 3, 3 << 3, 5 << 3:
			numbers[tag>>3] = v
			continue
		case 4<<3 | protobuf.Bytes:
			var line [6]uint64
			if v <= uint64(len(m)-i) && usual(m[i:i+int(v)], &line, 3) {
				d.lines = added(d.lines, &d.in, rawLine{line[1], int64(line[2]), int64(line[3])})
				i += int(v)
				continue
			}
		}
		d.lines = d.lines[:lines]
		return false
	}
	l.id, l.mapping, l.address, l.folded = numbers[1], numbers[2], numbers[3], numbers[5] != 0
	l.end = len(d.lines)
	d.locations = added(d.locations, &d.in, *l)
	return true
}

// usual reads a message of numbers alone, whose fields are 1 to last, each with a tag of one
// byte. Of all others it returns false.
func usual(m []byte, numbers *[6]uint64, last byte) bool {
	for i := 0; i < len(m); {
		field := m[i] >> 3
		if m[i]&7 != protobuf.Varint || field == 0 || field > last || field > 5 {
			return false
		}
		if i+1 < len(m) && m[i+1] < 0x80 {
			numbers[field] = uint64(m[i+1])
			i += 2
			continue
		}
		v, next := number(m, i+1)
		if next > len(m) {
			return false
		}
		numbers[field], i = v, next
	}
	return true
}

// number is protobuf.Uvarint with the usual sizes, up to three bytes, in line.
func number(m []byte, i int) (uint64, int) {
	if i+2 < len(m) {
		a, b, c := m[i], m[i+1], m[i+2]
		switch {
		case a < 0x80:
			return uint64(a), i + 1
		case b < 0x80:
			return uint64(a&0x7f) | uint64(b)<<7, i + 2
		case c < 0x80:
			return uint64(a&0x7f) | uint64(b&0x7f)<<7 | uint64(c)<<14, i + 3
		}
	}
	return protobuf.Uvarint(m, i)
}

func readLine(m []byte, at int64) (l rawLine, err error) {
	c := protobuf.Cursor{Buf: m}
	for c.Step() {
		if err := wantType(&c, at, "line", 3, false); err != nil {
			return l, err
		}
		switch c.Number {
		case 1:
			l.function = c.Value
		case 2:
			l.line = int64(c.Value)
		case 3:
			l.column = int64(c.Value)
		}
	}
	return l, endOf(&c, at, "line")
}

func (d *decoder) function(top *protobuf.Cursor) error {
	f := rawFunction{at: int64(top.Start)}
	var numbers [6]uint64
	if usual(top.Chunk(), &numbers, 5) {
		f.id, f.name, f.system, f.source, f.start = numbers[1], numbers[2], numbers[3], numbers[4], int64(numbers[5])
		d.functions = added(d.functions, &d.in, f)
		return nil
	}
	c := protobuf.Cursor{Buf: top.Chunk()}
	for c.Step() {
		if err := wantType(&c, f.at, "function", 5, false); err != nil {
			return err
		}
		switch c.Number {
		case 1:
			f.id = c.Value
		case 2:
			f.name = c.Value
		case 3:
			f.system = c.Value
		case 4:
			f.source = c.Value
		case 5:
			f.start = int64(c.Value)
		}
	}
	d.functions = added(d.functions, &d.in, f)
	return endOf(&c, f.at, "function")
}

func (d *decoder) mapping(top *protobuf.Cursor) error {
	m := rawMapping{at: int64(top.Start)}
	c := protobuf.Cursor{Buf: top.Chunk()}
	for c.Step() {
		if err := wantType(&c, m.at, "mapping", 10, false); err != nil {
			return err
		}
		switch c.Number {
		case 1:
			m.ID = c.Value
		case 2:
			m.Start = c.Value
		case 3:
			m.Limit = c.Value
		case 4:
			m.Offset = c.Value
		case 5:
			m.file = c.Value
		case 6:
			m.buildID = c.Value
		case 7:
			m.HasFunctions = c.Value != 0
		case 8:
			m.HasFilenames = c.Value != 0
		case 9:
			m.HasLineNumbers = c.Value != 0
		case 10:
			m.HasInlineFrames = c.Value != 0
		}
	}
	d.mappings = append(d.mappings, m)
	return endOf(&c, m.at, "mapping")
}

func readType(top *protobuf.Cursor) (t rawType, err error) {
	c := protobuf.Cursor{Buf: top.Chunk()}
	for c.Step() {
		if err := wantType(&c, int64(top.Start), "value type", 2, false); err != nil {
			return t, err
		}
		switch c.Number {
		case 1:
			t.typ = c.Value
		case 2:
			t.unit = c.Value
		}
	}
	return t, endOf(&c, int64(top.Start), "value type")
}

// wantType checks the wire type of a field with a number up to known; fields
// beyond are of a future version and are skipped.
func wantType(c *protobuf.Cursor, at int64, message string, known int, isMessage bool) error {
	want := protobuf.Varint
	if isMessage {
		want = protobuf.Bytes
	}
	if c.Number >= 1 && c.Number <= known && c.Type != want {
		return bad(at+int64(c.At), "%s: field %d has wire type %d, want %d", message, c.Number, c.Type, want)
	}
	return nil
}

func endOf(c *protobuf.Cursor, at int64, message string) error {
	if c.Bad() {
		return bad(at+int64(c.At), "%s: the field is cut or malformed", message)
	}
	return nil
}

// ids finds table entries by the ids that the writer has chosen. They count
// up from 1 in practice, but any number other than 0 is allowed.
type ids struct {
	dense  []uint32 // index+1 by id
	sparse map[uint64]uint32
}

func newIDs(n int) ids { return ids{dense: make([]uint32, n+1)} }

// add says why the entry cannot be added, or nothing.
func (x *ids) add(id uint64, index int) string {
	if id == 0 {
		return "has the id 0, which is reserved"
	}
	if _, ok := x.find(id); ok {
		return fmt.Sprintf("has the id %d, which is taken", id)
	}
	if id < uint64(len(x.dense)) {
		x.dense[id] = uint32(index) + 1
		return ""
	}
	if x.sparse == nil {
		x.sparse = map[uint64]uint32{}
	}
	x.sparse[id] = uint32(index) + 1
	return ""
}

func (x *ids) find(id uint64) (index int, ok bool) {
	if id < uint64(len(x.dense)) {
		i := x.dense[id]
		return int(i) - 1, i != 0
	}
	i, ok := x.sparse[id]
	return int(i) - 1, ok
}

// resolve turns locations into frames.
func (d *decoder) resolve() error {
	mappings, err := d.resolveMappings()
	if err != nil {
		return err
	}
	frames, err := d.resolveFrames(mappings)
	if err != nil {
		return err
	}
	if err := d.resolveStacks(frames); err != nil {
		return err
	}
	p := d.p
	if p.LabelSets == nil {
		p.labels = labelTable{} // nobody asks for the strings any more
		return nil
	}
	for set := 1; set < len(p.labels.spans); set++ {
		if err := p.labels.check(LabelSet(set)); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) resolveMappings() (ids, error) {
	x := newIDs(len(d.mappings))
	for i, m := range d.mappings {
		if why := x.add(m.ID, i); why != "" {
			return x, bad(m.at, "mapping %d %s", i, why)
		}
		var err, err2 error
		m.File, err = d.text.lookup(m.file)
		m.BuildID, err2 = d.text.lookup(m.buildID)
		if err != nil || err2 != nil {
			return x, bad(m.at, "mapping %d: file %d or build id %d is not in the string table", i, m.file, m.buildID)
		}
		d.p.Mappings = append(d.p.Mappings, m.Mapping)
	}
	return x, nil
}

// locationFrames finds the frames of a location by its id: the leaf is the first
// one, and the others follow it. A location that is not there has none.
type locationFrames struct {
	ids     ids
	extents []stack.Extent // by index of the location
	dense   []stack.Extent // by id
}

// resolveFrames adds the frames of all locations to the stack table, one after
// the other, so that the number of a frame tells its location.
func (d *decoder) resolveFrames(mappings ids) (*locationFrames, error) {
	functions, names, err := d.resolveFunctions()
	if err != nil {
		return nil, err
	}
	n, p := len(d.locations), d.p
	d.extents = sized(d.extents, n)
	out := &locationFrames{ids: newIDs(n), extents: d.extents}
	total, start := 0, 0
	for _, l := range d.locations {
		total += max(1, l.end-start)
		start = l.end
	}
	all := p.Stacks.AddFrames(total)
	p.Locations, p.locationOf = make([]Location, n), make([]uint32, 0, total)
	p.functionOf = make([]uint32, 0, total)
	start = 0
	for i, l := range d.locations {
		if why := out.ids.add(l.id, i); why != "" {
			return nil, bad(l.at, "location %d %s", i, why)
		}
		where := Location{ID: l.id, Mapping: -1, Address: l.address, Folded: l.folded, Lines: l.end - start}
		var module string
		if m, ok := mappings.find(l.mapping); ok {
			where.Mapping, module = m, p.Mappings[m].File
		}
		where.First = stack.FrameID(len(p.locationOf))
		lines := d.lines[start:l.end]
		start = l.end
		for j, line := range lines {
			f, ok := functions.find(line.function)
			if !ok {
				return nil, bad(l.at, "location %d: function %d is not in the table of %d functions", l.id, line.function, len(d.functions))
			}
			frame := &all[len(p.locationOf)]
			*frame = names[f]
			frame.Module, frame.Address, frame.Inlined = module, l.address, j < len(lines)-1
			frame.Line, frame.Column = int(line.line), int(line.column)
			p.locationOf = append(p.locationOf, uint32(i))
			p.functionOf = append(p.functionOf, uint32(f))
		}
		if len(lines) == 0 {
			p.functionOf = append(p.functionOf, 0) // nobody asks a location without lines
			all[len(p.locationOf)] = stack.Frame{Module: module, Address: l.address}
			p.locationOf = append(p.locationOf, uint32(i))
		}
		p.Locations[i] = where
		out.extents[i] = stack.Extent{First: where.First, N: uint32(where.NumFrames())}
	}
	d.dense = sized(d.dense, len(out.ids.dense))
	out.dense = d.dense
	for id, i := range out.ids.dense {
		if i != 0 {
			out.dense[id] = out.extents[i-1]
		}
	}
	return out, nil
}

// sized returns so many zeroes, in the room of a list where they fit.
func sized[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	list = list[:n]
	clear(list)
	return list
}

func (d *decoder) resolveFunctions() (ids, []stack.Frame, error) {
	x := newIDs(len(d.functions))
	table, size := d.text.strings, 0
	for i, f := range d.functions {
		if why := x.add(f.id, i); why != "" {
			return x, nil, bad(f.at, "function %d %s", i, why)
		}
		if max(f.name, f.system, f.source) >= uint64(len(table)) {
			return x, nil, bad(f.at, "function %d: name %d, %d or file %d is not in the table of %d strings",
				i, f.name, f.system, f.source, len(table))
		}
		size += int(table[f.name].n) + int(table[f.source].n)
	}
	names := nameTable{text: d.text}
	names.all.Grow(min(size, len(d.text.words)))
	if len(table) < 1000+8*len(d.functions) {
		d.strings = sized(d.strings, len(table))
		names.few = d.strings
	} else {
		names.many = map[uint64]string{}
	}
	d.names = sized(d.names, len(d.functions))
	frames := d.names
	for i, f := range d.functions {
		frame := stack.Frame{Func: names.str(f.name), File: names.str(f.source), StartLine: int(f.start)}
		if frame.System = frame.Func; f.system != f.name {
			frame.System = names.str(f.system)
		}
		if frame.Func == "" {
			frame.Func = frame.System // as pprof does, before it gives up
		}
		frames[i] = frame
	}
	return x, frames, nil
}

// nameTable makes strings of names: pieces of one string, each made once however
// many functions have it. That is two allocations for a profile and not two for
// each function.
type nameTable struct {
	text *text
	all  strings.Builder
	few  []string          // by number in the table
	many map[uint64]string // instead, when most strings are no names
}

func (t *nameTable) str(i uint64) string {
	var s string
	if t.few != nil {
		s = t.few[i]
	} else {
		s = t.many[i]
	}
	if s != "" {
		return s
	}
	from := t.all.Len()
	t.all.Write(t.text.word(t.text.strings[i]))
	s = t.all.String()[from:]
	if t.few != nil {
		t.few[i] = s
	} else {
		t.many[i] = s
	}
	return s
}

// Inlining multiplies: one location of a million lines that a million stacks
// refer to would be 10^12 frames from a file of a few MB. Real profiles have
// fewer than two frames per location on average.
const (
	maxInlining = 64
	someFrames  = 1 << 20
)

// resolveStacks puts frames in place of the locations of all stacks.
func (d *decoder) resolveStacks(l *locationFrames) error {
	id := func(f stack.FrameID) uint64 {
		if f >= farFrames {
			return d.far[f-farFrames]
		}
		return uint64(f)
	}
	odd := func(f stack.FrameID) stack.Extent {
		if i, ok := l.ids.find(id(f)); ok {
			return l.extents[i]
		}
		return stack.Extent{}
	}
	most := min(maxInlining*int64(d.frames)+someFrames, math.MaxUint32-1)
	missing, size := d.p.Stacks.Expand(l.dense, odd, most)
	switch {
	case size < 0:
		return fmt.Errorf("stack: location %d is not in the table of %d locations", id(missing), len(d.locations))
	case size > most:
		return fmt.Errorf("%d locations of stacks expand to %d inlined frames, which no compiler makes", d.frames, size)
	}
	return nil
}
