package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestGrowsInPlace: a part of a buffer that is stored is to be copied, unless the source appends to it where it is: then a copy loses the room.
func TestGrowsInPlace(t *testing.T) {
	const head = "type frame struct {\n\tid int\n\tdata []byte\n\tout []byte\n}\nvar frames = map[int]*frame{}\nvar parts = map[int][]byte{}\n"
	const open = "func open(i int) {\n\tbuf := make([]byte, 1<<20) // made\n\tn := fill(buf)\n"
	const plain, grows = "keeps the whole alive: copy the part at", "Check how full such a buffer gets."
	for _, c := range []struct{ name, stores, more, says string }{
		{"nothing is appended", "frames[i] = &frame{id: i, data: buf[:n]}", "", plain},
		{"it is only read", "frames[i] = &frame{id: i, data: buf[:n]}", "func size(f *frame) int { return len(f.data) }\nfunc (f *frame) copyTo(b []byte) []byte { return append(b, f.data...) }", plain},
		{"something is appended to another field", "frames[i] = &frame{id: i, data: buf[:n]}", "func (f *frame) add(p []byte) { f.out = append(f.out, p...) }", plain},
		{"something is appended to the field of another type", "frames[i] = &frame{id: i, data: buf[:n]}", "type other struct { data []byte }\nfunc (o *other) add(p []byte) { o.data = append(o.data, p...) }", plain},
		{"no room is left to it", "frames[i] = &frame{id: i, data: buf[:n:n]}", "func (f *frame) add(p []byte) { f.data = append(f.data, p...) }", plain},
		{"something is appended", "frames[i] = &frame{id: i, data: buf[:n]}", "func (f *frame) add(p []byte) { f.data = append(f.data, p...) }", grows},
		{"without the names of the fields", "frames[i] = &frame{i, buf[:n], nil}", "func (f *frame) add(p []byte) { f.data = append(f.data, p...) }", grows},
		{"by a variable", "frames[i] = &frame{id: i, data: buf[:n]}", "func (f *frame) add(p []byte) {\n\td := f.data\n\td = append(d, p...)\n\tf.data = d\n}", grows},
		{"a number", "frames[i] = &frame{id: i, data: buf[:n]}", "func (f *frame) num(n int64) { f.data = strconv.AppendInt(f.data, n, 10) }", grows},
		{"it begins anew", "frames[i] = &frame{id: i, data: buf[:n]}", "func (f *frame) set(p []byte) { f.data = append(f.data[:0], p...) }", grows},
		{"up to the room", "frames[i] = &frame{id: i, data: buf[:n]}", "func (f *frame) full() []byte { return f.data[:cap(f.data)] }", grows},
		{"an entry of a map", "parts[i] = buf[:n]", "func add(i int, p []byte) { parts[i] = append(parts[i], p...) }", grows},
		{"an entry of a map, by a loop", "parts[i] = buf[:n]", "func add(p []byte) {\n\tfor i, x := range parts {\n\t\tparts[i] = append(x, p...)\n\t}\n}", grows},
		{"an entry that is only read", "parts[i] = buf[:n]", "func all() (out []byte) {\n\tfor _, x := range parts {\n\t\tout = append(out, x...)\n\t}\n\treturn out\n}", plain},
	} {
		source := "package main\n\nimport \"strconv\"\n\n" + head + open + "\t" + c.stores + " // stored\n}\nfunc fill(b []byte) int { return 100 }\n" + c.more + "\n"
		r := recordingtest.New("title x")
		withSource(r, "a.go", source)
		in := NewInput(session.New(r.Open()))
		at := stack.Frame{Func: "main.open", File: "a.go", Line: lineWith(source, "// made").Line}
		f := Finding{}
		tellKeeping(in, &f, at, []stack.Frame{at}, "otherwise")
		if !strings.Contains(f.Advice, c.says) || c.says == grows && (f.wastes != noWaste || strings.Contains(strings.Join(f.Doubts, " "), nearlyAllOfIt)) {
			t.Errorf("%s: %s\n%s %q", c.name, f.Advice, f.Summary, f.Doubts)
		}
	}
}
