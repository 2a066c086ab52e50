package insight

import "testing"

// TestCopyNeeded: a copy that is written to, or whose original gets another value meanwhile, is told from one that is only
// read, and an array that is copied once for a loop from elements that are copied in each turn.
func TestCopyNeeded(t *testing.T) {
	const head = "package main\n\ntype board struct { cells [128]int; turn int; list []int }\nfunc (b board) sum() int { return b.cells[0] }\nfunc (b *board) move() { b.turn++ }\nvar frame [9000]byte\n"
	for _, c := range []struct {
		name, source       string
		needed, orig, puts bool
		array              string
	}{
		{name: "only read", source: "func f(bs []board) (s int) {\nfor _, b := range bs { // here\ns += b.cells[3] + b.sum()\n}\nreturn s\n}\n"},
		{name: "what it refers to is written", source: "func f(bs []board) {\nfor _, b := range bs { // here\nb.list[0] = 1\n}\n}\n"},
		{name: "an element is read", source: "func f(bs []board, i int) int {\nb := bs[i] // here\nreturn b.turn\n}\n"},
		{name: "given to what reads it", source: "func g(b board) int { return b.turn }\nfunc f(bs []board, i int) int {\nreturn g(bs[i]) // here\n}\n"},

		{name: "a part is written", source: "func f(bs []board, m int) (s int) {\nfor _, b := range bs { // here\nb.cells[m] = m\ns += b.cells[3]\n}\nreturn s\n}\n", needed: true},
		{name: "by a method", source: "func f(bs []board) (s int) {\nfor _, b := range bs { // here\nb.move()\ns += b.turn\n}\nreturn s\n}\n", needed: true},
		{name: "by its address", source: "func g(b *board) {}\nfunc f(bs []board, i int) {\nb := bs[i] // here\ng(&b)\n}\n", needed: true},
		{name: "by the function that gets it", source: "func g(b board) int { b.turn++\nreturn b.turn }\nfunc f(bs []board, i int) int {\nreturn g(bs[i]) // here\n}\n", needed: true},
		{name: "its place gets another one", source: "func f(bs []board) (s int) {\nfor i, b := range bs { // here\nbs[i+1] = board{}\ns += b.turn\n}\nreturn s\n}\n", needed: true, orig: true},
		{name: "its place is written to", source: "func f(bs []board) (s int) {\nfor i, b := range bs { // here\nbs[i+1].turn++\ns += b.turn\n}\nreturn s\n}\n", needed: true, orig: true},
		{name: "what is called writes to it", source: "type game struct { bs []board }\nfunc (g *game) step() { g.bs[0].cells[1]++ }\nfunc f(g *game) (s int) {\nfor _, b := range g.bs { // here\ng.step()\ns += b.turn\n}\nreturn s\n}\n", needed: true, orig: true},
		{name: "put into its place", source: "func f(bs []board, p board) {\nbs[3] = p // here\n}\n", puts: true},
		{name: "an array", source: "func f() (s int) {\nfor _, v := range frame { // here\ns += int(v)\n}\nreturn s\n}\n", array: "frame"},
	} {
		text := head + c.source
		x := copiedAt(sourceOf(text), lineWith(text, "// here"))
		if (x.needed.line > 0) != c.needed || x.ofOriginal != c.orig || x.puts != c.puts || x.array != c.array {
			t.Errorf("%s: %+v", c.name, x)
		}
		f := Finding{Severity: Warning, saves: true}
		if told := x.tell(&f); told != (c.needed || c.puts || c.array != "") || told != (f.Severity == Info) || told == f.saves {
			t.Errorf("%s: %v, %+v", c.name, told, f)
		}
	}
}
