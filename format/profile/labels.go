package profile

import (
	"errors"
	"fmt"
	"slices"

	"loupe/value/protobuf"
)

// Label is one piece of context of a sample: a string, such as a goroutine
// label set with runtime/pprof.Do, or a number with a unit.
type Label struct {
	Key     string
	Str     string
	Num     int64
	Unit    string // unit of Num; "" when the writer gave none, as Go's "bytes" label
	Numeric bool   // the label is Num, not Str
}

// labelTable keeps the label sets as they stood on the wire. Real profiles
// have had 800,000 distinct sets; decoding all of them when only a few are
// ever printed is what makes other readers slow on labels.
type labelTable struct {
	text  text
	spans []span // by LabelSet; each is a run of Sample.label fields

	numeric bool // some label may be a number
}

// HasLabels says whether any label may have this key. It looks at the strings
// of the profile and not at its label sets, of which there may be many more.
func (p *Profile) HasLabels(key string) bool {
	if p.LabelSets == nil {
		return false
	}
	t := &p.labels.text
	return slices.ContainsFunc(t.strings, func(s span) bool {
		return int(s.n&^aside) == len(key) && string(t.word(s)) == key
	})
}

// NumLabelSets returns the number of distinct label sets, the empty one
// included: every LabelSet of the profile is below it.
func (p *Profile) NumLabelSets() int { return max(1, len(p.labels.spans)) }

// Labels decodes one label set, in the order of the file. A key may come more
// than once. A label with neither a string nor a number nor a unit is dropped,
// as pprof does.
func (p *Profile) Labels(set LabelSet) []Label {
	if set == 0 {
		return nil
	}
	var labels []Label
	t := &p.labels.text
	c := protobuf.Cursor{Buf: t.bytes(p.labels.spans[set])}
	for c.Step() {
		l := readLabel(c.Chunk())
		switch {
		case l.str != 0:
			labels = append(labels, Label{Key: t.str(l.key), Str: t.str(l.str)})
		case l.num != 0 || l.unit != 0:
			labels = append(labels, Label{Key: t.str(l.key), Num: l.num, Unit: t.str(l.unit), Numeric: true})
		}
	}
	return labels
}

// wireLabel is a label with indices into the string table.
type wireLabel struct {
	key, str, unit uint64
	num            int64
}

func readLabel(m []byte) (l wireLabel) {
	c := protobuf.Cursor{Buf: m}
	for c.Step() {
		switch c.Number {
		case 1:
			l.key = c.Value
		case 2:
			l.str = c.Value
		case 3:
			l.num = int64(c.Value)
		case 4:
			l.unit = c.Value
		}
	}
	return l
}

// check walks a label set once, when it is first seen, so that [Profile.Labels]
// cannot fail later. The fast path knows labels as all writers make them: where
// every sample has labels of its own, the slow one took a seventh of the time of
// loupe pprof -top, and this a fortieth.
func (t *labelTable) check(set LabelSet) error {
	b := t.text.bytes(t.spans[set])
	table := uint64(len(t.text.strings))
	for i := 0; i < len(b); {
		from, end := protobuf.ChunkAt(b, i+1)
		if b[i] != tagLabel || end > len(b) {
			return t.checkSlowly(b)
		}
		var l wireLabel
		for i = from; i < end; {
			tag := b[i]
			var v uint64
			if v, i = protobuf.Uvarint(b[:end], i+1); i > end {
				return t.checkSlowly(b)
			}
			switch tag {
			case 1 << 3:
				l.key = v
			case 2 << 3:
				l.str = v
			case 3 << 3:
			case 4 << 3:
				l.unit = v
			default:
				return t.checkSlowly(b)
			}
		}
		if l.str != 0 {
			l.unit = 0 // it is not looked at
		} else {
			t.numeric = true
		}
		if max(l.key, l.str, l.unit) >= table {
			return t.checkSlowly(b)
		}
	}
	return nil
}

func (t *labelTable) checkSlowly(b []byte) error {
	c := protobuf.Cursor{Buf: b}
	for c.Step() {
		m := protobuf.Cursor{Buf: c.Chunk()}
		for m.Step() {
			if m.Number >= 1 && m.Number <= 4 && m.Type != protobuf.Varint {
				return fmt.Errorf("label: field %d is not a number", m.Number)
			}
		}
		if m.Bad() {
			return fmt.Errorf("label: the field at its byte %d is cut or malformed", m.At)
		}
		l := readLabel(c.Chunk())
		if l.str != 0 {
			l.unit = 0 // it is not looked at
		} else {
			t.numeric = true
		}
		for _, i := range [...]uint64{l.key, l.str, l.unit} {
			if i >= uint64(len(t.text.strings)) {
				return fmt.Errorf("label: string %d is not in the table of %d strings", i, len(t.text.strings))
			}
		}
	}
	if c.Bad() {
		return errors.New("labels: the field is cut or malformed")
	}
	return nil
}

func bad(offset int64, format string, args ...any) error {
	return fmt.Errorf("byte %d: %w", offset, fmt.Errorf(format, args...))
}
