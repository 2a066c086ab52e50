package insight

import (
	"testing"

	"loupe/value/stack"
)

// TestPagesByOffset: a scan that leaves out as many as an offset says, to which a loop around it adds, is quadratic; one page
// alone, an offset that stays, a cursor, and a scan that jumps are not.
func TestPagesByOffset(t *testing.T) {
	const head = "package main\n\ntype opts struct{ first, offset, after int }\n\ntype list struct{ all []int }\n\n"
	const scan = "func (l *list) page(o opts) (out []int) {\nskip := o.offset\nfor _, x := range l.all { // 1\nif skip > 0 {\nskip--\ncontinue\n}\nout = append(out, x)\n}\nreturn out\n}\n"
	const each = "func (l *list) each(f func(int) bool) {\nfor _, x := range l.all {\nf(x)\n}\n}\n"
	const mid = "func query(l *list, o opts) []int {\nreturn l.page(o) // 2\n}\n"
	const drive = "func run(l *list) {\no := opts{first: 9}\nfor {\nrows := query(l, o) // 3\nif len(rows) == 0 {\nreturn\n}\no.offset += len(rows)\n}\n}\n"
	for _, c := range []struct {
		name, source string
		found        bool
	}{
		{"a field of options", scan + mid + drive, true},
		{"in a closure", each + "func (l *list) page(o opts) (out []int) {\nskip := o.offset\nl.each(func(x int) bool { // 1\nif skip > 0 {\nskip--\nreturn true\n}\nout = append(out, x)\nreturn true\n})\nreturn out\n}\n" + mid + drive, true},
		{"a parameter that is compared", "func (l *list) page(n, offset int) (out []int) {\ni := 0\nfor _, x := range l.all { // 1\nif i < offset {\ni++\ncontinue\n}\nout = append(out, x)\n}\nreturn out\n}\nfunc query(l *list, from int) []int {\nreturn l.page(9, from) // 2\n}\nfunc run(l *list) {\nfor at := 0; at < 900; at += 9 {\nquery(l, at) // 3\n}\n}\n", true},
		{"by a sum", scan + mid + "func run(l *list) {\no := opts{first: 9}\nfor {\nrows := query(l, o) // 3\no.offset = o.offset + len(rows)\n}\n}\n", true},

		{"one page", scan + mid + "func run(l *list) {\no := opts{first: 9, offset: 900}\nquery(l, o) // 3\n}\n", false},
		{"the same page again", scan + mid + "func run(l *list) {\no := opts{first: 9, offset: 900}\nfor range 9 {\nquery(l, o) // 3\n}\n}\n", false},
		{"what is added is no offset", scan + mid + "func run(l *list) {\no := opts{first: 9}\nfor {\nquery(l, o) // 3\no.first += 9\n}\n}\n", false},
		{"it is set anew", scan + mid + "func run(l *list) {\no := opts{first: 9}\nfor {\no.offset = 5\nquery(l, o) // 3\no.offset += 3\n}\n}\n", false},
		{"a cursor", "func (l *list) page(o opts) (out []int) {\nfor _, x := range l.all { // 1\nif x <= o.after {\ncontinue\n}\nout = append(out, x)\n}\nreturn out\n}\n" + mid + "func run(l *list) {\no := opts{first: 9}\nfor {\nrows := query(l, o) // 3\no.after += len(rows)\n}\n}\n", false},
		{"it jumps", "func (l *list) page(o opts) (out []int) {\nfor _, x := range l.all[o.offset:] { // 1\nout = append(out, x)\n}\nreturn out\n}\n" + mid + drive, false},
		{"it ends where others go on", "func (l *list) page(o opts) (out []int) {\nleft := o.offset\nfor _, x := range l.all { // 1\nif left > 0 {\nleft--\nbreak\n}\nout = append(out, x)\n}\nreturn out\n}\n" + mid + drive, false},
		{"it works on each", "func (l *list) page(o opts) (out []int) {\nleft := o.offset\nfor _, x := range l.all { // 1\nif left > 0 {\nleft--\nout = append(out, x)\n}\n}\nreturn out\n}\n" + mid + drive, false},
		{"a number of its own", "func (l *list) page(o opts) (out []int) {\nskip := 3\nfor _, x := range l.all { // 1\nif skip > 0 {\nskip--\ncontinue\n}\nout = append(out, x)\n}\nreturn out\n}\n" + mid + drive, false},
	} {
		text := head + c.source
		at := func(name, mark string) stack.Frame {
			return stack.Frame{Func: name, File: "a.go", Line: lineOfMark(text, mark)}
		}
		frames := []stack.Frame{at("main.(*list).page", "1"), at("main.query", "2"), at("main.run", "3")}
		if p, found := pagesOn(newDerivations(sourceOf(text)), frames); found != c.found || found && (p.scan != frames[0] || p.driver != frames[2]) {
			t.Errorf("%s: %v %+v", c.name, found, p)
		}
	}
}
