package insight

import (
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestGrowsByInput: what a loop gives a function anew in each turn may grow; what stays from turn to turn is what earlier calls have
// added to. The call is on line 5, the function begins on line 9.
func TestGrowsByInput(t *testing.T) {
	const overItems, counting = "for _, x := range all {", "for i := range 1000 {"
	for _, c := range []struct {
		name, loop, call, function string
		want                       bool
	}{
		{"a number to count to", counting, "sigma(i)", "func sigma(n int) int {\nfor k := 1; k <= n; k++ {\n}\n}", true},
		{"an offset", counting, "list.at(i * 10)", "func (l *list) at(offset int) int {\nfor i := 0; i < offset; i++ {\n}\n}", false},
		{"an item", overItems, "encode(x)", "func encode(r *record) int {\nfor _, f := range r.fields {\n}\n}", true},
		{"an item, on which it is called", overItems, "x.run()", "func (j *job) run() int {\nfor _, f := range j.steps {\n}\n}", true},
		{"what is made in each turn", counting, "x := load(i); encode(x)", "func encode(r *record) int {\nfor _, f := range r.fields {\n}\n}", true},
		{"a value of each turn", counting, "poly{8 + i}.at(2)", "func (p poly) at(x int) int {\nfor k := 0; k < p.n; k++ {\n}\n}", true},
		{"a list that stays", overItems, "next(m.sessions)", "func next(all []session) int {\nfor _, s := range all {\n}\n}", false},
		{"what it is called on stays", overItems, "set.add(x)", "func (s *set) add(x item) int {\nfor _, y := range s.items {\n}\n}", false},
		{"an item, and what stays", overItems, "set.add(x)", "func (s *set) add(x *item) int {\nfor _, w := range x.words {\n}\nfor _, y := range s.items {\n}\n}", false},
		{"a variable of the package", overItems, "add(x)", "func add(x *item) int {\nfor _, w := range x.words {\n}\nfor _, y := range known {\n}\n}\n\nvar known []item", false},
		{"a number in an item", overItems, "x.run()", "func (j *job) run() int {\nfor range j.n * 8 {\n}\n}", true},
		{"a list of an item", overItems, "encode(x)", "func encode(r *record) int {\nfor i := r.first; i != nil; i = i.next {\n}\n}", true},
		{"an offset in a list that stays", counting, "l.at(i)", "func (l *list) at(off int) *item {\ni := l.first\nfor range off {\n}\n}", false},
		{"no loop", overItems, "encode(x)", "func encode(r *record) int {\nreturn other(r)\n}", false},
		{"no loop around", "{", "encode(x)", "func encode(r *record) int {\nfor _, f := range r.fields {\n}\n}", false},
	} {
		r := recordingtest.New("title x")
		withSource(r, "a.go", "package main\n\nfunc f() {\n"+c.loop+"\n"+c.call+"\n}\n}\n\n"+c.function+"\n")
		code := NewInput(session.New(r.Open())).code
		if got := growsByInput(code, stack.Frame{Func: "main.g", File: "a.go", Line: 9}, stack.Frame{Func: "main.f", File: "a.go", Line: 5}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestMakesNext: what a function goes through and replaces by what it has made of it is the next call's input; what it adds to is not.
func TestMakesNext(t *testing.T) {
	for body, want := range map[string]bool{
		"next := make(map[int]bool)\nfor k := range g.alive {\nnext[k+1] = true\n}\ng.alive = next\n": true,
		"for k := range g.alive {\nprintln(k)\n}\ng.alive[len(g.alive)] = true\n":                     false,
		"next := make(map[int]bool)\nfor k := range g.alive {\nnext[k] = true\n}\ng.seen = next\n":    false,
	} {
		text := "package main\n\ntype grid struct{ alive, seen map[int]bool }\n\nfunc (g *grid) step() {\n" + body + "}\n"
		if _, ok := makesNext(sourceOf(text), stack.Frame{Func: "main.(*grid).step", File: "a.go", Line: 5}); ok != want {
			t.Errorf("%s: %v", body, ok)
		}
	}
}
