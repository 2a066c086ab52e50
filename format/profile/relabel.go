package profile

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"loupe/value/protobuf"
	"loupe/value/stack"
)

// edit returns a label table to which strings and sets can be added, without
// any change to the one it is made from.
func (t *labelTable) edit() *labelTable {
	return &labelTable{
		numeric: t.numeric,
		text:    text{sets: t.text.sets, words: t.text.words, side: slices.Clip(t.text.side), strings: slices.Clip(t.text.strings)},
	}
}

// addString returns the number of a string that is new.
func (t *labelTable) addString(s string) uint64 {
	if len(t.text.strings) == 0 {
		t.text.strings = append(t.text.strings, span{}) // the empty string
	}
	t.text.strings = append(t.text.strings, t.aside([]byte(s)))
	return uint64(len(t.text.strings) - 1)
}

// aside stores bytes that the file does not have.
func (t *labelTable) aside(b []byte) span {
	if len(b) == 0 {
		return span{}
	}
	if uint64(len(t.text.side))+uint64(len(b)) > math.MaxUint32 {
		panic("BUG: label table overflow: the decoder did not bound its input")
	}
	s := span{uint32(len(t.text.side)), uint32(len(b)) | aside}
	t.text.side = append(t.text.side, b...)
	return s
}

// relabel returns the profile with other label sets: the function is asked once
// for every set that is in use and returns its new wire form.
func (p *Profile) relabel(t *labelTable, change func(set LabelSet) []byte) *Profile {
	q := p.shallow()
	interned := map[string]LabelSet{"": 0}
	moved := make([]int64, p.NumLabelSets())
	for i := range moved {
		moved[i] = -1
	}
	t.spans = []span{{}}
	q.LabelSets = make([]LabelSet, p.Len())
	for row := range q.LabelSets {
		var set LabelSet
		if p.LabelSets != nil {
			set = p.LabelSets[row]
		}
		if moved[set] < 0 {
			wire := change(set)
			id, ok := interned[string(wire)]
			if !ok {
				id = LabelSet(len(t.spans))
				interned[string(wire)] = id
				t.spans = append(t.spans, t.aside(wire))
			}
			moved[set] = int64(id)
		}
		q.LabelSets[row] = LabelSet(moved[set])
	}
	q.labels = *t
	if len(t.spans) == 1 {
		q.LabelSets, q.labels = nil, labelTable{}
	}
	return q
}

// WithLabel returns the profile with a label on every sample. Labels of the
// same key that were there are gone.
func (p *Profile) WithLabel(key, value string) *Profile {
	t := p.labels.edit()
	label := protobuf.AppendNumber(nil, 1, t.addString(key))
	label = protobuf.AppendNumber(label, 2, t.addString(value))
	return p.relabel(t, func(set LabelSet) []byte {
		wire := p.keepLabels(set, func(l string) bool { return l != key })
		return protobuf.AppendField(wire, 3, label)
	})
}

// WithLabels returns the profile with these labels on its samples, instead of
// those that were there. It is asked for the labels of each sample.
func (p *Profile) WithLabels(labels func(row int) []Label) *Profile {
	t := (&labelTable{}).edit()
	t.spans = []span{{}}
	numbers := map[string]uint64{"": 0}
	number := func(s string) uint64 {
		n, ok := numbers[s]
		if !ok {
			n = t.addString(s)
			numbers[s] = n
		}
		return n
	}
	q := p.shallow()
	interned := map[string]LabelSet{"": 0}
	q.LabelSets = make([]LabelSet, p.Len())
	var wire, label []byte
	for row := range q.LabelSets {
		wire = wire[:0]
		for _, l := range labels(row) {
			label = protobuf.AppendNumber(label[:0], 1, number(l.Key))
			if l.Numeric {
				t.numeric = true
				label = protobuf.AppendNumber(label, 3, uint64(l.Num))
				if l.Unit != "" {
					label = protobuf.AppendNumber(label, 4, number(l.Unit))
				}
			} else {
				label = protobuf.AppendNumber(label, 2, number(l.Str))
			}
			wire = protobuf.AppendField(wire, 3, label)
		}
		set, ok := interned[string(wire)]
		if !ok {
			set = LabelSet(len(t.spans))
			interned[string(wire)] = set
			t.spans = append(t.spans, t.aside(wire))
		}
		q.LabelSets[row] = set
	}
	q.labels = *t
	if len(t.spans) == 1 {
		q.LabelSets, q.labels = nil, labelTable{}
	}
	return q
}

// FilterLabels returns the profile with the labels only whose keys the function
// keeps. It is asked once for every key.
func (p *Profile) FilterLabels(keep func(key string) bool) *Profile {
	if p.LabelSets == nil {
		return p
	}
	m := newMatcher(keep)
	return p.relabel(p.labels.edit(), func(set LabelSet) []byte { return p.keepLabels(set, m.matches) })
}

// keepLabels returns the wire form of a set without the labels whose keys are
// not wanted.
func (p *Profile) keepLabels(set LabelSet, keep func(key string) bool) []byte {
	if set == 0 {
		return nil
	}
	t := &p.labels.text
	var out []byte
	c := protobuf.Cursor{Buf: t.bytes(p.labels.spans[set])}
	for c.Step() {
		if l := readLabel(c.Chunk()); (l.str != 0 || l.num != 0 || l.unit != 0) && keep(t.str(l.key)) {
			out = protobuf.AppendField(out, 3, c.Chunk())
		}
	}
	return out
}

// FilterSets returns the profile with the samples only whose label sets the
// function keeps. It is asked once for every set that is in use.
func (p *Profile) FilterSets(keep func(set LabelSet) bool) *Profile {
	known := make([]int8, p.NumLabelSets())
	return p.filter(func(row int) bool {
		set := p.SetOf(row)
		if known[set] == 0 {
			known[set] = -1
			if keep(set) {
				known[set] = 1
			}
		}
		return known[set] > 0
	})
}

// SetOf returns the label set of a sample.
func (p *Profile) SetOf(row int) LabelSet {
	if p.LabelSets == nil {
		return 0
	}
	return p.LabelSets[row]
}

// LabelUnits returns for every numeric label key the unit that its values have,
// and for a key that comes with several ones the others, sorted. A key whose
// values have no unit has the one that its name tells: Go's "bytes" label is in
// bytes. Sets that no sample uses count, too, which a profile from a file does
// not have.
func (p *Profile) LabelUnits() (units map[string]string, others map[string][]string) {
	units, others = map[string]string{}, map[string][]string{}
	t := &p.labels.text
	known := map[uint64]bool{}   // keys without a unit, by number of the string
	seen := map[[2]uint64]bool{} // key and unit
	for set := 1; set < p.NumLabelSets() && p.labels.numeric; set++ {
		c := protobuf.Cursor{Buf: t.bytes(p.labels.spans[set])}
		for c.Step() {
			l := readLabel(c.Chunk())
			if l.str != 0 || l.num == 0 && l.unit == 0 || known[l.key] && l.unit == 0 || seen[[2]uint64{l.key, l.unit}] {
				continue
			}
			known[l.key], seen[[2]uint64{l.key, l.unit}] = true, true
			key, unit := t.str(l.key), t.str(l.unit)
			switch first := units[key]; {
			case unit == "" && first == "":
				units[key] = ""
			case unit == "" || unit == first:
			case first == "":
				units[key] = unit
			case !slices.Contains(others[key], unit):
				others[key] = append(others[key], unit)
			}
		}
	}
	for key, unit := range units {
		if unit == "" {
			switch key {
			case "alignment", "request":
				units[key] = "bytes"
			default:
				units[key] = key
			}
		}
	}
	for _, list := range others {
		slices.Sort(list)
	}
	return units, others
}

// LabelFrames adds frames that show labels: at the root of every stack one for
// each of the root keys, the first outermost, and at the leaf one for each of
// the leaf keys, the last innermost. The function of such a frame is what format
// makes of the label's values, joined by commas, its file is the key. The two
// results say whether any sample had one of the keys.
func (p *Profile) LabelFrames(roots, leaves []string, format func(Label) string) (q *Profile, rooted, leaved bool) {
	if len(roots)+len(leaves) == 0 {
		return p, false, false
	}
	q = p.located().rewrite(&rewriting{
		location: func(*Location) {}, frame: func(int, *stack.Frame) {}, // tables of its own
	})
	q.StackIDs, q.locationOf = slices.Clone(q.StackIDs), slices.Clip(q.locationOf)
	frames := labelFrames{q: q, format: format, known: map[[2]string]stack.FrameID{}}
	for i := range q.Locations {
		frames.last = max(frames.last, q.Locations[i].ID)
	}
	type row struct {
		stack stack.ID
		set   LabelSet
	}
	added := make(map[row]stack.ID)
	var buf []stack.FrameID
	for i, id := range q.StackIDs {
		r := row{id, q.SetOf(i)}
		to, ok := added[r]
		if !ok {
			labels, any := q.Labels(r.set), false
			buf, any = frames.of(buf[:0], leaves, labels)
			leaved = leaved || any
			buf = append(buf, q.Stacks.Frames(id)...)
			buf, any = frames.of(buf, roots, labels)
			rooted = rooted || any
			to = q.Stacks.Append(buf)
			added[r] = to
		}
		q.StackIDs[i] = to
	}
	return q, rooted, leaved
}

// labelFrames makes locations of labels.
type labelFrames struct {
	q      *Profile
	format func(Label) string
	known  map[[2]string]stack.FrameID // by function and file
	last   uint64                      // id of a location
}

// of appends a frame for each key, the first of them last.
func (f *labelFrames) of(buf []stack.FrameID, keys []string, labels []Label) (frames []stack.FrameID, any bool) {
	for _, key := range slices.Backward(keys) {
		var words, numbers []string
		for _, l := range labels {
			switch {
			case l.Key != key:
			case l.Numeric:
				numbers = append(numbers, f.format(l))
			default:
				words = append(words, f.format(l))
			}
		}
		any = any || len(words)+len(numbers) > 0
		name := [2]string{strings.Join(append(words, numbers...), ","), key}
		id, ok := f.known[name]
		if !ok {
			f.last++
			id = f.q.Stacks.AppendFrame(stack.Frame{Func: name[0], File: key})
			f.known[name] = id
			f.q.locationOf = append(f.q.locationOf, uint32(len(f.q.Locations)))
			f.q.Locations = append(f.q.Locations, Location{ID: f.last, Mapping: -1, First: id, Lines: 1})
		}
		buf = append(buf, id)
	}
	return buf, any
}

// canonical appends a form of a label set that is equal for equal sets, from
// whatever table: keys and values in order, words before numbers.
func (p *Profile) canonical(b []byte, set LabelSet) []byte {
	labels := p.Labels(set)
	slices.SortStableFunc(labels, func(a, b Label) int {
		if a.Numeric != b.Numeric {
			if b.Numeric {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Key, b.Key)
	})
	for _, l := range labels {
		for _, s := range [...]string{l.Key, l.Str, l.Unit} {
			b = binary.AppendUvarint(b, uint64(len(s)))
			b = append(b, s...)
		}
		b = binary.AppendVarint(b, l.Num)
		if l.Numeric {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	return b
}
