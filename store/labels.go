package store

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unique"
)

// Labels are the names and values of one series, sorted by name, each name once. Equal
// labels are equal values, so that Labels are keys of maps; many series share the memory
// of one. The zero Labels are empty.
type Labels struct{ packed unique.Handle[string] }

// Label is a name with its value.
type Label struct{ Name, Value string }

// LabelsOf makes labels of names and values in turns. Of a name that comes twice the
// last value counts, and an empty value is no label, as in Prometheus. It panics when a
// value is missing.
func LabelsOf(pairs ...string) Labels {
	if len(pairs)%2 != 0 {
		panic("BUG: a label without a value")
	}
	list := make([]Label, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, Label{pairs[i], pairs[i+1]})
	}
	return MakeLabels(list)
}

// MakeLabels is [LabelsOf] for a list, which it sorts.
func MakeLabels(list []Label) Labels {
	slices.SortStableFunc(list, func(a, b Label) int { return cmp.Compare(a.Name, b.Name) })
	var b []byte
	for i, l := range list {
		if l.Value == "" || i+1 < len(list) && list[i+1].Name == l.Name {
			continue
		}
		b = binary.AppendUvarint(b, uint64(len(l.Name)))
		b = append(b, l.Name...)
		b = binary.AppendUvarint(b, uint64(len(l.Value)))
		b = append(b, l.Value...)
	}
	if len(b) == 0 {
		return Labels{}
	}
	return Labels{unique.Make(string(b))}
}

// All returns names and values, sorted by name.
func (l Labels) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for s := l.text(); s != ""; {
			var name, value string
			name, s = cutPacked(s)
			value, s = cutPacked(s)
			if !yield(name, value) {
				return
			}
		}
	}
}

// text is the packed form.
func (l Labels) text() string {
	if l == (Labels{}) {
		return ""
	}
	return l.packed.Value()
}

// cutPacked takes a string with its length off the front.
func cutPacked(s string) (first, rest string) {
	n, i := 0, 0
	for shift := 0; ; shift += 7 {
		c := s[i]
		i++
		n |= int(c&0x7f) << shift
		if c < 0x80 {
			return s[i : i+n], s[i+n:]
		}
	}
}

// Value returns the value of a label, "" when there is none.
func (l Labels) Value(name string) string {
	for n, v := range l.All() {
		if n == name {
			return v
		}
	}
	return ""
}

// Len returns the number of labels.
func (l Labels) Len() (n int) {
	for range l.All() {
		n++
	}
	return n
}

// List returns the labels, sorted by name, for the caller to change.
func (l Labels) List() []Label {
	var list []Label
	for n, v := range l.All() {
		list = append(list, Label{n, v})
	}
	return list
}

// With returns the labels with another value of one; the empty value takes it away.
func (l Labels) With(name, value string) Labels {
	return MakeLabels(append(l.List(), Label{name, value}))
}

// Only returns the labels of these names, of those that are there.
func (l Labels) Only(names ...string) Labels {
	list := l.List()
	return MakeLabels(slices.DeleteFunc(list, func(l Label) bool { return !slices.Contains(names, l.Name) }))
}

// Compare orders labels by name and value, one after the other.
func (l Labels) Compare(m Labels) int {
	if l == m {
		return 0
	}
	return slices.CompareFunc(l.List(), m.List(), func(a, b Label) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
}

// String returns the labels as Prometheus prints them: {pod="a", region="eu"}.
func (l Labels) String() string {
	var b strings.Builder
	b.WriteByte('{')
	for n, v := range l.All() {
		if b.Len() > 1 {
			b.WriteString(", ")
		}
		b.WriteString(n)
		b.WriteByte('=')
		b.WriteString(strconv.Quote(v))
	}
	b.WriteByte('}')
	return b.String()
}

// The most that the labels of one series may have.
const (
	maxLabels      = 64
	maxLabelBytes  = 4 << 10
	maxLabelLength = 2 << 10
)

// check says what is wrong with the labels of a written profile.
func (l Labels) check() error {
	switch n, bytes := l.Len(), len(l.text()); {
	case l.Value(ServiceLabel) == "":
		return fmt.Errorf("%w: it has no label %s (name the service)", ErrInvalid, ServiceLabel)
	case n > maxLabels:
		return fmt.Errorf("%w: it has %d labels, more than %d (leave some out)", ErrInvalid, n, maxLabels)
	case bytes > maxLabelBytes:
		return fmt.Errorf("%w: its labels have %d bytes, more than %d (shorten them)", ErrInvalid, bytes, maxLabelBytes)
	}
	for n, v := range l.All() {
		if n == "" || len(n) > maxLabelLength || len(v) > maxLabelLength {
			return fmt.Errorf("%w: the label %.40q has no name, or is too long", ErrInvalid, n)
		}
	}
	return nil
}
