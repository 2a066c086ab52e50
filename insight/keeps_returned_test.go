package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// decoder cuts a message into strings that are parts of it; what its function returns is left open.
const decoder = `package main

func next(r io.Reader, n int) ([]series, error) {
	buf := make([]byte, n) // made
	if _, err := io.ReadFull(r, buf); err != nil {
		return nil, err
	}
	return decode(buf)
}

type reader struct{ b []byte }

func (d *reader) bytes() []byte {
	n := int(d.b[0])
	v := d.b[1:n]
	d.b = d.b[n:]
	return v
}

func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func numbers(b []byte) (all []int) {
	for len(b) > 0 {
		all = append(all, int(b[0]))
		b = b[1:]
	}
	return all
}

func copied(all []label) []label {
	out := make([]label, len(all))
	for i, l := range all {
		out[i] = label{strings.Clone(l.name), strings.Clone(l.value)}
	}
	return out
}

func decode(buf []byte) ([]series, error) {
	d := &reader{b: buf}
	var out []series
	for len(d.b) > 0 {
		var s series
		s.labels = append(s.labels, label{text(d.bytes()), text(d.bytes())}) // cut
		REST
		out = append(out, s)
	}
	return out, nil
}

func load(x *index, r io.Reader) {
	all, _ := next(r, 1000) // calls
	for _, s := range all {
		x.add(s)
	}
}

func (x *index) add(s series) {
	e := x.entries[s.hash]
	if e == nil {
		e = ENTRY // kept
		x.entries[s.hash] = e // stored
	}
	e.n++
}
`

// TestHolderReturned: parts that a decoder returns are followed to what keeps them. The advice is to copy them there; whether they
// are a small part counts only if others are not kept; and nothing is said of parts where the whole is kept, or a copy.
func TestHolderReturned(t *testing.T) {
	for _, c := range []struct {
		name, rest, entry string
		advice, shows     string
		ends              bool
	}{
		{"labels, and numbers that are decoded", "s.points = numbers(d.bytes())", "&entry{labels: s.labels}", "goes into x.entries and keeps the whole alive: copy the part at a.go:60", "// kept", true},
		{"labels, and the rest for json", "json.Unmarshal(d.bytes(), &s.points)", "&entry{labels: s.labels}", "copy the part at a.go:60", "// kept", true},
		{"labels, and a chunk that is kept as well", "s.chunk = d.bytes()", "&entry{labels: s.labels, chunk: s.chunk}", "copy the part at a.go:60", "// kept", false},
		{"labels alone, of nothing else", "", "&entry{labels: s.labels}", "copy the part at a.go:60", "// kept", false},
		{"a length that is read", "s.n = parse(d.bytes())", "&entry{labels: s.labels}", "copy the part at a.go:60", "// kept", false},
		{"the whole message beside its labels", "s.raw = buf", "&entry{labels: s.labels, raw: s.raw}", "It goes into x.entries, and nothing in the source deletes", "// stored", false},
		{"a copy", "s.points = numbers(d.bytes())", "&entry{labels: copied(s.labels)}", "otherwise", "", false},
		{"the number alone", "s.points = numbers(d.bytes())", "&entry{n: len(s.labels)}", "otherwise", "", false},
	} {
		source := strings.NewReplacer("REST", c.rest, "ENTRY", c.entry).Replace(decoder)
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(source))
		in := NewInput(session.New(r.Open()))
		at := func(mark string) stack.Frame {
			return stack.Frame{Func: "main.f", File: "a.go", Line: lineWith(source, mark).Line}
		}
		f := Finding{}
		tellHolder(in, &f, at("// made"), []stack.Frame{at("// made"), at("// calls")}, "otherwise")
		if !strings.Contains(f.Advice, c.advice) || f.ends != c.ends {
			t.Errorf("%s: ends=%t %s\n%s", c.name, f.ends, f.Advice, f.Summary)
		}
		if c.shows != "" && (len(f.Evidence) == 0 || f.Evidence[0].Line != lineWith(source, c.shows).Line) {
			t.Errorf("%s: evidence %+v", c.name, f.Evidence)
		}
		if c.ends != strings.Contains(f.Summary, "other parts are only read, by ") {
			t.Errorf("%s: %s", c.name, f.Summary)
		}
	}
}
