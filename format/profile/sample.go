package profile

import (
	"bytes"
	"encoding/binary"
	"slices"

	"loupe/value/protobuf"
	"loupe/value/stack"
)

// Tags of the fields of Sample: number and wire type in one byte.
const (
	tagLocations = 1<<3 | protobuf.Bytes
	tagLocation  = 1<<3 | protobuf.Varint
	tagValues    = 2<<3 | protobuf.Bytes
	tagValue     = 2<<3 | protobuf.Varint
	tagLabel     = 3<<3 | protobuf.Bytes
)

// sample takes in the sample whose message is m[start:].
//
// This is the hot path: a profile is samples to nine tenths. Locations are kept
// by their ids, in the stack table already, until all of them are known; label
// sets are interned as the bytes that they are. All writers put the elements of
// one field next to each other, so each is one piece of the input; whatever else
// the format allows goes through [decoder.sampleInAnyOrder].
func (d *decoder) sample(m []byte, start int) error {
	var locations, labels []byte
	d.ids, d.values = d.ids[:0], d.values[:0]
	for i := start; i < len(m); {
		from := i
		switch m[i] {
		case tagLocations, tagLocation:
			if locations != nil {
				return d.sampleInAnyOrder(m, start)
			}
			if m[i] == tagLocations {
				var list int
				if list, i = protobuf.ChunkAt(m, i+1); i > len(m) || !d.locationIDs(m[list:i]) {
					return d.badSample(from)
				}
			} else {
				for i < len(m) && m[i] == tagLocation {
					var id uint64
					id, i = protobuf.Uvarint(m, i+1)
					d.ids = append(d.ids, d.frame(id))
				}
			}
			locations = m[from:min(i, len(m))]
		case tagValues:
			from, i = protobuf.ChunkAt(m, i+1)
			for from < i && i <= len(m) {
				var v uint64
				v, from = protobuf.Uvarint(m[:i], from)
				d.values = append(d.values, int64(v))
			}
			i = max(i, from) // a number that is cut by the end of its chunk
		case tagValue:
			var v uint64
			v, i = protobuf.Uvarint(m, i+1)
			d.values = append(d.values, int64(v))
		case tagLabel:
			if labels != nil {
				return d.sampleInAnyOrder(m, start)
			}
			for i < len(m) && m[i] == tagLabel {
				_, i = protobuf.ChunkAt(m, i+1)
			}
			labels = m[from:min(i, len(m))]
		default:
			return d.sampleInAnyOrder(m, start)
		}
		if i > len(m) {
			return d.badSample(from)
		}
	}
	return d.add(start, locations, labels)
}

func (d *decoder) badSample(at int) error {
	return bad(int64(at), "sample %d: the field is cut or malformed", d.p.Len())
}

// locationIDs takes in the locations of a stack. It sees every location of every
// sample, 5.2 million of them in a heap profile of 197,028 samples.
func (d *decoder) locationIDs(list []byte) bool {
	d.ids = slices.Grow(d.ids, len(list))
	ids := d.ids[len(d.ids) : len(d.ids)+len(list)]
	n := 0
	for i := 0; i < len(list) && n < len(ids); n++ {
		id := uint64(list[i])
		switch {
		case id < 0x80:
			i++
		case i+1 < len(list) && list[i+1] < 0x80: // two bytes, the common case
			id = id&0x7f | uint64(list[i+1])<<7
			i += 2
		case i+2 < len(list) && list[i+2] < 0x80:
			id = id&0x7f | uint64(list[i+1]&0x7f)<<7 | uint64(list[i+2])<<14
			i += 3
		default:
			if id, i = protobuf.Uvarint(list, i); i > len(list) {
				return false
			}
		}
		if id >= farFrames {
			id = uint64(d.frame(id))
		}
		ids[n] = stack.FrameID(id)
	}
	d.ids = d.ids[:len(d.ids)+n]
	return true
}

// farFrames is where the numbers of locations begin whose ids are not below it.
const farFrames = 1 << 31

// frame returns the number that stands for a location until it is known.
func (d *decoder) frame(id uint64) stack.FrameID {
	if id < farFrames {
		return stack.FrameID(id)
	}
	n, ok := d.farIDs[id]
	if !ok {
		if d.farIDs == nil {
			d.farIDs = map[uint64]stack.FrameID{}
		}
		n = farFrames + stack.FrameID(len(d.far))
		d.farIDs[id] = n
		d.far = append(d.far, id)
	}
	return n
}

// sampleInAnyOrder is [decoder.sample] for messages that no known writer
// makes: scattered repetitions, fields of the future, tags of two bytes. It
// copies the pieces together.
func (d *decoder) sampleInAnyOrder(m []byte, start int) error {
	var locations, labels []byte
	d.ids, d.values = d.ids[:0], d.values[:0]
	c := protobuf.Cursor{Buf: m, Next: start}
	for c.Step() {
		switch {
		case c.Number == 3 && c.Type == protobuf.Bytes:
			labels = append(labels, tagLabel)
			labels = binary.AppendUvarint(labels, uint64(len(c.Chunk())))
			labels = append(labels, c.Chunk()...)
		case (c.Number == 1 || c.Number == 2) && (c.Type == protobuf.Varint || c.Type == protobuf.Bytes):
			from, to := c.Start, c.Next
			if c.Type == protobuf.Varint {
				_, from = protobuf.Uvarint(c.Buf, c.At) // the value follows the key
			}
			for from < to {
				var v uint64
				if v, from = protobuf.Uvarint(c.Buf[:to], from); from > to {
					return d.badSample(c.At)
				}
				if c.Number == 1 {
					locations = binary.AppendUvarint(locations, v)
					d.ids = append(d.ids, d.frame(v))
					continue
				}
				d.values = append(d.values, int64(v))
			}
		case c.Number >= 1 && c.Number <= 3:
			return bad(int64(c.At), "sample %d: field %d has wire type %d", d.p.Len(), c.Number, c.Type)
		}
	}
	if c.Bad() {
		return d.badSample(c.At)
	}
	return d.add(start, locations, labels)
}

// add finishes a row.
func (d *decoder) add(at int, locations, labels []byte) error {
	p := d.p
	row := p.Len()
	if row == 0 {
		if n := len(d.head.sampleTypes); n > 0 && n != len(d.values) {
			return bad(int64(at), "sample 0 has %d values, but there are %d sample types", len(d.values), n)
		}
		p.Values = make([][]int64, len(d.values))
		// Each value takes a byte: a first sample of many values must not make room for what cannot follow.
		d.samples = min(d.samples, d.sampleBytes/max(1, len(d.values))+1)
	}
	if len(d.values) != len(p.Values) {
		return bad(int64(at), "sample %d has %d values, but there are %d sample types", row, len(d.values), len(p.Values))
	}
	if row == cap(p.StackIDs) {
		room := d.samples
		if row >= room {
			room = d.in.room(row)
		}
		p.StackIDs = grown(p.StackIDs, room)
		for i := range p.Values {
			p.Values[i] = grown(p.Values[i], room)
		}
		if p.LabelSets != nil {
			p.LabelSets = grown(p.LabelSets, room)
		}
	}
	p.StackIDs = append(p.StackIDs, d.stack(locations))
	for i, v := range d.values {
		p.Values[i] = append(p.Values[i], v)
	}
	if len(labels) == 0 && p.LabelSets == nil {
		return nil
	}
	if p.LabelSets == nil {
		p.LabelSets = make([]LabelSet, row, cap(p.StackIDs))
	}
	p.LabelSets = append(p.LabelSets, d.labelSet(labels))
	return nil
}

// stack returns the number of the stack in d.ids.
func (d *decoder) stack(locations []byte) stack.ID {
	if len(d.ids) == 0 {
		return 0
	}
	x, table := &d.stacks, d.p.Stacks
	if x.full() {
		x.grow(d.in.likely(x.used))
	}
	h := x.hash(locations)
	mask := uint32(len(x.slots) - 1)
	i := h & mask
	for ; x.slots[i].number != 0; i = (i + 1) & mask {
		s := x.slots[i]
		if s.hash == h && slices.Equal(table.Frames(stack.ID(s.number)), d.ids) {
			return stack.ID(s.number)
		}
	}
	if n := table.Len(); n >= d.roomForStacks {
		if d.roomForStacks = d.samples + 1; n >= d.roomForStacks {
			d.roomForStacks = d.in.room(n)
		}
		table.Grow(d.roomForStacks-n, 0)
	}
	if len(d.ids) > d.roomForFrames {
		d.roomForFrames = max(d.in.room(d.frames)-d.frames, len(d.ids))
		if d.frames == 0 {
			// An id takes two bytes where there are more than a few, and values take some.
			d.roomForFrames = max(d.sampleBytes/2+d.sampleBytes/8, d.roomForFrames)
		}
		if d.frames < 1<<12 && d.in.total > 1<<20 {
			// An id takes two bytes in most profiles, so this is more than there
			// are, and enough to put inlined calls in their place.
			d.roomForFrames = max(d.roomForFrames, int(d.in.total/2))
		}
		table.Grow(0, d.roomForFrames)
	}
	d.roomForFrames -= len(d.ids)
	d.frames += len(d.ids)
	id := table.Append(d.ids)
	x.add(i, h, uint32(id))
	return id
}

// labelSet returns the number of the label set that stands in the bytes.
func (d *decoder) labelSet(labels []byte) LabelSet {
	if len(labels) == 0 {
		return 0
	}
	x, t := &d.labels, &d.p.labels
	if x.full() {
		x.grow(d.in.likely(x.used))
	}
	h := x.hash(labels)
	mask := uint32(len(x.slots) - 1)
	i := h & mask
	for ; x.slots[i].number != 0; i = (i + 1) & mask {
		s := x.slots[i]
		if s.hash == h && bytes.Equal(t.text.bytes(t.spans[s.number]), labels) {
			return LabelSet(s.number)
		}
	}
	if t.spans == nil {
		t.spans = make([]span, 1, 8)
	}
	if len(t.spans) == cap(t.spans) {
		t.spans = grown(t.spans, d.in.room(len(t.spans)))
	}
	if at := len(t.text.sets); at+len(labels) > cap(t.text.sets) {
		t.text.sets = grown(t.text.sets, max(d.in.room(at), at+len(labels)))
	}
	number := LabelSet(len(t.spans))
	t.spans = append(t.spans, span{uint32(len(t.text.sets)), uint32(len(labels))})
	t.text.sets = append(t.text.sets, labels...)
	x.add(i, h, uint32(number))
	return number
}

// grown returns a list with room. Not slices.Grow: it clears the new room, and
// pages that are never used would become resident.
func grown[T any](list []T, room int) []T {
	out := make([]T, len(list), max(room, len(list)))
	copy(out, list)
	return out
}
