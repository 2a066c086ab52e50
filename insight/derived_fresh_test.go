package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"testing"
)

// TestFresh: what is written to on a line that sets 1 is new where it was made in the function or by one that it calls, down to the part that
// is written; what a shallow copy shares, a field that a clone leaves shared, and what others got before are not.
func TestFresh(t *testing.T) {
	const (
		head    = "package main\n\nimport (\"maps\"; \"slices\")\n\ntype rule struct {\n\tn int\n\tvals []int\n}\n\ntype flag struct {\n\tn int\n\tby map[string]int\n\trules []rule\n}\n\ntype state struct{ flags map[string]*flag }\n\nvar last *flag\n\n"
		deep    = "func (f *flag) clone() *flag {\n\tc := *f\n\tc.by = maps.Clone(f.by)\n\tc.rules = make([]rule, len(f.rules))\n\tfor i, r := range f.rules {\n\t\tr.vals = slices.Clone(r.vals)\n\t\tc.rules[i] = r\n\t}\n\treturn &c\n}\n\n"
		shallow = "func (f *flag) clone() *flag {\n\tc := *f\n\tc.by = maps.Clone(f.by)\n\treturn &c\n}\n\n"
		copied  = "func (f *flag) clone() *flag {\n\tc := *f\n\tc.rules = slices.Clone(f.rules)\n\treturn &c\n}\n\n"
		pair    = "type inner struct {\n\to any\n\tn int\n}\n\ntype outer struct {\n\tin inner\n\tpp *int\n}\n\ntype node struct {\n\tnext *node\n\tn int\n}\n\nvar head *node\n\n"
	)
	chain := func(length int) string {
		text := pair + "func w() {\n\tv0 := &node{}\n"
		for i := range length {
			text += fmt.Sprintf("\tv%d := &node{}\n", i+1)
		}
		for i := range length {
			text += fmt.Sprintf("\tv%d.next = v%d\n", i, i+1)
		}
		return text + fmt.Sprintf("\tv%d.n = 1\n}", length)
	}
	for _, c := range []struct {
		name, source string
		want         bool
	}{
		{"an element of a clone", deep + "func w(f *flag) {\n\tc := f.clone()\n\tc.rules[0].n = 1\n}", true},
		{"in the call itself", deep + "func w(f *flag) {\n\tf.clone().rules[0].n = 1\n}", true},
		{"two steps down", deep + "func w(f *flag) {\n\tc := f.clone()\n\tc.rules[0].vals[0] = 1\n}", true},
		{"of a clone of clones", deep + "func (s *state) clone() *state {\n\tc := &state{flags: make(map[string]*flag)}\n\tfor k, f := range s.flags {\n\t\tc.flags[k] = f.clone()\n\t}\n\treturn c\n}\n\nfunc w(s *state) {\n\tc := s.clone()\n\tc.flags[``].rules[0].n = 1\n}", true},
		{"of a clone of a map alone", "func (s *state) clone() *state {\n\treturn &state{flags: maps.Clone(s.flags)}\n}\n\nfunc w(s *state) {\n\tc := s.clone()\n\tc.flags[``].n = 1\n}", false},
		{"a map of that", "func w(s *state, f *flag) {\n\tc := &state{flags: maps.Clone(s.flags)}\n\tc.flags[`1`] = f\n}", true},
		{"a map that a literal shares", "func w(s *state, f *flag) {\n\tc := &state{flags: s.flags}\n\tc.flags[`1`] = f\n}", false},
		{"a field of a copied struct", "func w(f *flag) {\n\tc := *f\n\tc.n = 1\n}", true},
		{"what a copied struct shares", "func w(f *flag) {\n\tc := *f\n\tc.rules[0].n = 1\n}", false},
		{"what it has replaced", "func w(f *flag) {\n\tc := *f\n\tc.rules = append([]rule(nil), f.rules...)\n\tc.rules[0].n = 1\n}", true},
		{"what is replaced later", "func w(f *flag) {\n\tc := f\n\tc.rules[0].n = 1\n\tc.rules = append([]rule(nil), f.rules...)\n}", false},
		{"a field that a clone shares", shallow + "func w(f *flag) {\n\tc := f.clone()\n\tc.rules[0].n = 1\n}", false},
		{"another field of that clone", shallow + "func w(f *flag) {\n\tc := f.clone()\n\tc.by[`1`] = 1\n}", true},
		{"elements copied alone", copied + "func w(f *flag) {\n\tc := f.clone()\n\tc.rules[0].n = 1\n}", true},
		{"what such elements share", copied + "func w(f *flag) {\n\tc := f.clone()\n\tc.rules[0].vals[0] = 1\n}", false},
		{"replaced at times", "func (f *flag) clone(all bool) *flag {\n\tc := *f\n\tif all {\n\t\tc.rules = slices.Clone(f.rules)\n\t}\n\treturn &c\n}\n\nfunc w(f *flag) {\n\tc := f.clone(true)\n\tc.rules[0].n = 1\n}", false},
		{"replaced where there is one", "func (f *flag) clone() *flag {\n\tc := *f\n\tif f.rules != nil {\n\t\tc.rules = slices.Clone(f.rules)\n\t}\n\treturn &c\n}\n\nfunc w(f *flag) {\n\tc := f.clone()\n\tc.rules[0].n = 1\n}", true},
		{"one return gives what it got", deep + "func own(f *flag) *flag {\n\tif f.n > 0 {\n\t\treturn f\n\t}\n\treturn f.clone()\n}\n\nfunc w(f *flag) {\n\tc := own(f)\n\tc.rules[0].n = 1\n}", false},
		{"given out before", deep + "func w(s *state, f *flag) {\n\tc := f.clone()\n\ts.flags[``] = c\n\tc.n = 1\n}", false},
		{"kept by who makes it", "func (f *flag) clone() *flag {\n\tc := &flag{}\n\tlast = c\n\treturn c\n}\n\nfunc w(f *flag) {\n\tc := f.clone()\n\tc.n = 1\n}", false},
		{"shared by another name", "func (f *flag) clone() *flag {\n\tc := &flag{rules: slices.Clone(f.rules)}\n\tp := c\n\tp.rules = f.rules\n\treturn c\n}\n\nfunc w(f *flag) {\n\tc := f.clone()\n\tc.rules[0].n = 1\n}", false},
		{"shared by a function", "func fill(c, f *flag) { c.rules = f.rules }\n\nfunc (f *flag) clone() *flag {\n\tc := &flag{}\n\tfill(c, f)\n\treturn c\n}\n\nfunc w(f *flag) {\n\tc := f.clone()\n\tc.rules[0].n = 1\n}", false},
		{"shared behind its address", "func (f *flag) clone() *flag {\n\tc := flag{}\n\tp := &c\n\tp.rules = f.rules\n\treturn &c\n}\n\nfunc w(f *flag) {\n\tc := f.clone()\n\tc.rules[0].n = 1\n}", false},
		{"set to another one later", deep + "func w(f *flag) {\n\tc := f.clone()\n\tfor range 2 {\n\t\tc.rules[0].n = 1\n\t\tc = f\n\t}\n}", false},
		{"two that are put into each other", pair + "func w() {\n\ta, b := outer{}, inner{}\n\tfor {\n\t\ta.in = b\n\t\tb.o = a.in\n\t\tb.n = 1\n\t}\n}", true},
		{"two pointers to each other", pair + "func w() {\n\ta, b := &node{}, &node{}\n\tfor {\n\t\ta.next = b\n\t\tb.next = a\n\t\tb.n = 1\n\t}\n}", true},
		{"two of which one is kept", pair + "func w() {\n\ta, b := &node{}, &node{}\n\tfor {\n\t\ta.next = b\n\t\tb.next = a\n\t\thead = a\n\t\tb.n = 1\n\t}\n}", false},
		{"a chain that is too long", chain(100), false},
		{"the original", deep + "func w(f *flag) {\n\tf.rules[0].n = 1\n}", false},
	} {
		d := newDerivations(codeOf(head + c.source + "\n"))
		decl, found := declNamed(d, "w"), false
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || types.ExprString(a.Rhs[0]) != "1" && types.ExprString(a.Lhs[0]) != "c.flags[`1`]" {
				return true
			}
			found = true
			if got := isFreshPlace(d, decl, a.Lhs[0]); got != c.want {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
			return true
		})
		if !found {
			t.Errorf("%s: no such line", c.name)
		}
	}
}

// TestFreshDoubts: what speaks against keeping a result is no write to a copy that the function makes, or to a new value; one to what it
// reads is.
func TestFreshDoubts(t *testing.T) {
	const head = "package main\n\nimport \"maps\"\n\ntype flag struct {\n\tn int\n\tby map[string]int\n}\n\n"
	const clone = "func (f *flag) clone() *flag {\n\tc := *f\n\tc.by = maps.Clone(f.by)\n\treturn &c\n}\n\n"
	for source, want := range map[string][3]bool{
		clone + "func next(f *flag) *flag {\n\tg := f.clone()\n\tg.by[`a`] = 1\n\treturn g\n}":                           {false, false, false},
		clone + "func set(f *flag) {\n\tf.by[`a`] = 1\n}":                                                                {false, true, true},
		"func (f *flag) clone() *flag {\n\tc := *f\n\tc.by[`a`] = 1\n\treturn &c\n}\n\nfunc next(f *flag) { f.clone() }": {true, false, false},
	} {
		c := codeOf(head + source + "\n")
		decl := lineWith(head+source, "func (f *flag) clone")
		decl.Func = "main.(*flag).clone"
		_, effect := effectOfCall(c, decl, true)
		why, _ := unsteadyCall(c, decl, decl)
		at, _ := readsChanging(c, declaration{c.function(decl), "a.go"})
		if got := [3]bool{effect != "", why != "", at != ""}; got != want {
			t.Errorf("%s\n%v, want %v: %q %q %q", source, got, want, effect, why, at)
		}
	}
}
