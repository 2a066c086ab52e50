package profile

import (
	"fmt"
	"math"

	"loupe/stack"
)

// location takes in one Location and its lines.
func (d *decoder) location(top *cursor) error {
	l := rawLocation{at: int64(top.start)}
	c := cursor{b: top.chunk()}
	for c.next() {
		if err := wantType(&c, l.at, "location", 5, c.field == 4); err != nil {
			return err
		}
		switch c.field {
		case 1:
			l.id = c.v
		case 2:
			l.mapping = c.v
		case 3:
			l.address = c.v
		case 5:
			l.folded = c.v != 0
		case 4:
			line, err := readLine(c.chunk(), l.at+int64(c.start))
			if err != nil {
				return err
			}
			d.lines = append(d.lines, line)
		}
	}
	l.end = len(d.lines)
	d.locations = append(d.locations, l)
	return endOf(&c, l.at, "location")
}

func readLine(m []byte, at int64) (l rawLine, err error) {
	c := cursor{b: m}
	for c.next() {
		if err := wantType(&c, at, "line", 3, false); err != nil {
			return l, err
		}
		switch c.field {
		case 1:
			l.function = c.v
		case 2:
			l.line = int64(c.v)
		case 3:
			l.column = int64(c.v)
		}
	}
	return l, endOf(&c, at, "line")
}

func (d *decoder) function(top *cursor) error {
	f := rawFunction{at: int64(top.start)}
	c := cursor{b: top.chunk()}
	for c.next() {
		if err := wantType(&c, f.at, "function", 5, false); err != nil {
			return err
		}
		switch c.field {
		case 1:
			f.id = c.v
		case 2:
			f.name = c.v
		case 3:
			f.system = c.v
		case 4:
			f.source = c.v
		case 5:
			f.start = int64(c.v)
		}
	}
	d.functions = append(d.functions, f)
	return endOf(&c, f.at, "function")
}

func (d *decoder) mapping(top *cursor) error {
	m := rawMapping{at: int64(top.start)}
	c := cursor{b: top.chunk()}
	for c.next() {
		if err := wantType(&c, m.at, "mapping", 10, false); err != nil {
			return err
		}
		switch c.field {
		case 1:
			m.ID = c.v
		case 2:
			m.Start = c.v
		case 3:
			m.Limit = c.v
		case 4:
			m.Offset = c.v
		case 5:
			m.file = c.v
		case 6:
			m.buildID = c.v
		case 7:
			m.HasFunctions = c.v != 0
		case 8:
			m.HasFilenames = c.v != 0
		case 9:
			m.HasLineNumbers = c.v != 0
		case 10:
			m.HasInlineFrames = c.v != 0
		}
	}
	d.mappings = append(d.mappings, m)
	return endOf(&c, m.at, "mapping")
}

func readType(top *cursor) (t rawType, err error) {
	c := cursor{b: top.chunk()}
	for c.next() {
		if err := wantType(&c, int64(top.start), "value type", 2, false); err != nil {
			return t, err
		}
		switch c.field {
		case 1:
			t.typ = c.v
		case 2:
			t.unit = c.v
		}
	}
	return t, endOf(&c, int64(top.start), "value type")
}

// wantType checks the wire type of a field with a number up to known; fields
// beyond are of a future version and are skipped.
func wantType(c *cursor, at int64, message string, known int, isMessage bool) error {
	want := varint
	if isMessage {
		want = bytes
	}
	if c.field >= 1 && c.field <= known && c.typ != want {
		return bad(at+int64(c.at), "%s: field %d has wire type %d, want %d", message, c.field, c.typ, want)
	}
	return nil
}

func endOf(c *cursor, at int64, message string) error {
	if c.bad() {
		return bad(at+int64(c.at), "%s: the field is cut or malformed", message)
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

// resolve turns locations into frames and runs of location ids into stacks.
func (d *decoder) resolve() error {
	mappings, err := d.resolveMappings()
	if err != nil {
		return err
	}
	frames, err := d.resolveFrames(mappings)
	if err != nil {
		return err
	}
	stacks, err := d.resolveStacks(frames)
	if err != nil {
		return err
	}
	p := d.p
	for i, piece := range p.StackIDs {
		p.StackIDs[i] = stacks[piece]
	}
	if p.LabelSets == nil {
		return nil // and let the raw profile go
	}
	p.labels = labelTable{text: d.text, spans: d.labels.spans}
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
		m.File, err = d.str(m.file)
		m.BuildID, err2 = d.str(m.buildID)
		if err != nil || err2 != nil {
			return x, bad(m.at, "mapping %d: file %d or build id %d is not in the string table", i, m.file, m.buildID)
		}
		d.p.Mappings = append(d.p.Mappings, m.Mapping)
	}
	return x, nil
}

// extent is where the frames of one location are.
type extent struct {
	frame stack.FrameID // the first one, the leaf; the others follow it
	n     uint32        // 0 means that there is no such location
}

// locationFrames finds the frames of a location by its id.
type locationFrames struct {
	ids     ids
	extents []extent // by index of the location
	dense   []extent // by id
}

func (l *locationFrames) find(id uint64) extent {
	if id < uint64(len(l.dense)) {
		return l.dense[id]
	}
	if i, ok := l.ids.find(id); ok {
		return l.extents[i]
	}
	return extent{}
}

// resolveFrames adds the frames of all locations to the stack table, one after
// the other, so that the number of a frame tells its location.
func (d *decoder) resolveFrames(mappings ids) (*locationFrames, error) {
	functions, names, err := d.resolveFunctions()
	if err != nil {
		return nil, err
	}
	n, p := len(d.locations), d.p
	out := &locationFrames{ids: newIDs(n), extents: make([]extent, n)}
	total, start := 0, 0
	for _, l := range d.locations {
		total += max(1, l.end-start)
		start = l.end
	}
	p.Stacks.GrowFrames(total)
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
			frame := names[f]
			frame.Module, frame.Address, frame.Inlined = module, l.address, j < len(lines)-1
			frame.Line, frame.Column = int(line.line), int(line.column)
			p.Stacks.AppendFrame(frame)
			p.locationOf = append(p.locationOf, uint32(i))
			p.functionOf = append(p.functionOf, uint32(f))
		}
		if len(lines) == 0 {
			p.functionOf = append(p.functionOf, 0) // nobody asks a location without lines
			p.Stacks.AppendFrame(stack.Frame{Module: module, Address: l.address})
			p.locationOf = append(p.locationOf, uint32(i))
		}
		p.Locations[i] = where
		out.extents[i] = extent{where.First, uint32(where.NumFrames())}
	}
	out.dense = make([]extent, len(out.ids.dense))
	for id, i := range out.ids.dense {
		if i != 0 {
			out.dense[id] = out.extents[i-1]
		}
	}
	return out, nil
}

func (d *decoder) resolveFunctions() (ids, []stack.Frame, error) {
	x := newIDs(len(d.functions))
	frames := make([]stack.Frame, len(d.functions))
	for i, f := range d.functions {
		if why := x.add(f.id, i); why != "" {
			return x, nil, bad(f.at, "function %d %s", i, why)
		}
		if max(f.name, f.system, f.source) >= uint64(len(d.text.strings)) {
			return x, nil, bad(f.at, "function %d: name %d, %d or file %d is not in the table of %d strings",
				i, f.name, f.system, f.source, len(d.text.strings))
		}
		frame := stack.Frame{Func: d.text.str(f.name), File: d.text.str(f.source), StartLine: int(f.start)}
		if frame.System = frame.Func; f.system != f.name {
			frame.System = d.text.str(f.system)
		}
		if frame.Func == "" {
			frame.Func = frame.System // as pprof does, before it gives up
		}
		frames[i] = frame
	}
	return x, frames, nil
}

// Inlining multiplies: one location of a million lines that a million stacks
// refer to would be 10^12 frames from a file of a few MB. Real profiles have
// fewer than two frames per location on average.
const (
	maxInlining = 64
	someFrames  = 1 << 20
)

// resolveStacks adds every distinct run of location ids to the stack table and
// returns the stack ids by run.
func (d *decoder) resolveStacks(l *locationFrames) ([]stack.ID, error) {
	x := expander{d: d, locations: l}
	size := 0
	for _, s := range d.stacks.spans {
		size += int(s.n &^ aside)
	}
	// An id takes two bytes in most profiles, and a location has less than
	// two frames, so the bytes are a fair guess at the frames, from above.
	d.p.Stacks.Grow(len(d.stacks.spans), size)
	out := make([]stack.ID, len(d.stacks.spans))
	for i, s := range d.stacks.spans[1:] {
		frames, err := x.expand(s)
		if err != nil {
			return nil, err
		}
		if len(frames) > 0 {
			out[i+1] = d.p.Stacks.Append(frames)
		}
	}
	return out, nil
}

// expander turns runs of location ids into frames.
type expander struct {
	d         *decoder
	locations *locationFrames
	buf       []stack.FrameID
	refs      int // locations so far
	frames    int // frames that they had
}

// expand returns the frames of one run. They are valid until the next call.
// This is the second hot loop of decoding: it sees every location of every
// distinct stack, 5.2 million of them in a heap profile of 197,028 samples.
// Finding and interning their stacks takes 46 ms there.
func (x *expander) expand(s span) ([]stack.FrameID, error) {
	b := x.d.text.bytes(s)
	buf := x.buf[:0]
	for i := 0; i < len(b); {
		to := i
		if b[i] == tagLocations {
			i, to = chunkAt(b, i+1)
		} else {
			_, to = uvarint(b, i+1)
			i++
		}
		list := b[:min(to, len(b))]
		for i < len(list) {
			var id uint64
			if i+1 < len(list) && list[i] >= 0x80 && list[i+1] < 0x80 { // two bytes, the common case
				id = uint64(list[i]&0x7f) | uint64(list[i+1])<<7
				i += 2
			} else {
				id, i = uvarint(list, i)
			}
			e := x.locations.find(id)
			if e.n == 0 || i > len(list) {
				return nil, bad(s.at(0), "stack: location %d is not in the table of %d locations", id, len(x.d.locations))
			}
			x.refs++
			x.frames += int(e.n)
			if e.n == 1 {
				buf = append(buf, e.frame)
				continue
			}
			if x.frames > maxInlining*x.refs+someFrames || x.frames >= math.MaxUint32 {
				return nil, fmt.Errorf("%d locations of stacks expand to %d inlined frames, which no compiler makes", x.refs, x.frames)
			}
			for n := range e.n {
				buf = append(buf, e.frame+stack.FrameID(n))
			}
		}
	}
	x.buf = buf
	return buf, nil
}
