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
		head    = "package main\n\nimport (\"maps\"; \"slices\")\n\ntype rule struct {\n\tn int\n\tvals []int\n}\n\ntype flag struct {\n\tn int\n\tby map[string]int\n\trules []rule\n}\n\ntype state struct {\n\tflags map[string]*flag\n\tlist []*flag\n\trules []rule\n\tnames []string\n}\n\nvar last *flag\n\n"
		deep    = "func (f *flag) clone() *flag {\n\tc := *f\n\tc.by = maps.Clone(f.by)\n\tc.rules = make([]rule, len(f.rules))\n\tfor i, r := range f.rules {\n\t\tr.vals = slices.Clone(r.vals)\n\t\tc.rules[i] = r\n\t}\n\treturn &c\n}\n\n"
		shallow = "func (f *flag) clone() *flag {\n\tc := *f\n\tc.by = maps.Clone(f.by)\n\treturn &c\n}\n\n"
		copied  = "func (f *flag) clone() *flag {\n\tc := *f\n\tc.rules = slices.Clone(f.rules)\n\treturn &c\n}\n\n"
		pair    = "type inner struct {\n\to any\n\tn int\n}\n\ntype outer struct {\n\tin inner\n\tpp *int\n}\n\ntype node struct {\n\tnext *node\n\tn int\n}\n\nvar head *node\n\n"
	)
	put := func(statement string) string {
		return "func w(s *state, f *flag) {\n\tc := f.clone()\n\t" + statement + "\n\tc.n = 1\n}"
	}
	kept := func(list string) string { return put("s.list = " + list) }
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
		{"declared before", deep + "func w(f *flag) {\n\tvar c flag\n\tc.n = 1\n}", true},
		{"declared with a value", deep + "func w(f *flag) {\n\tvar c = f.clone()\n\tc.n = 1\n}", true},
		{"a number of it declared", deep + "func w(f *flag) {\n\tvar c = f.clone()\n\tvar n = c.n\n\t_ = n\n\t_ = c\n\tc.n = 1\n}", true},
		{"another name declared", deep + "func w(f *flag) {\n\tvar c = f.clone()\n\tvar o = c\n\t_ = o\n\tc.n = 1\n}", false},
		{"sent", deep + "func w(f *flag, to chan *flag) {\n\tc := f.clone()\n\tto <- c\n\tc.n = 1\n}", false},
		{"a number of it sent", deep + "func w(f *flag, to chan int) {\n\tc := f.clone()\n\tto <- c.n\n\tc.n = 1\n}", true},
		{"appended", deep + kept("append(s.list, c)"), false},
		{"its number appended", deep + kept("append(s.list, &flag{n: c.n})"), true},
		{"its map appended", deep + kept("append(s.list, &flag{by: c.by})"), false},
		{"inserted", deep + kept("slices.Insert(s.list, 0, c)"), false},
		{"inserted with others", deep + kept("slices.Insert(s.list, 0, []*flag{c, f}...)"), false},
		{"put together", deep + kept("slices.Concat(s.list, []*flag{c})"), false},
		{"in the place of others", deep + kept("slices.Replace(s.list, 0, 1, c)"), false},
		{"from a sequence", deep + kept("slices.AppendSeq(s.list, slices.Values([]*flag{c}))"), false},
		{"in another array", deep + kept("slices.Clone([]*flag{c})"), false},
		{"found in a list", deep + kept("slices.Delete(s.list, slices.Index(s.list, c), 1)"), true},
		{"a list of its numbers", deep + kept("make([]*flag, len(slices.Concat(c.rules[0].vals, f.rules[0].vals)))"), true},
		{"its keys in a list", deep + "func w(s *state, f *flag) {\n\tc := f.clone()\n\ts.names = slices.Sorted(maps.Keys(c.by))\n\tc.n = 1\n}", true},
		{"sorted", deep + "func w(f *flag) {\n\tc := f.clone()\n\tslices.SortFunc(c.rules, less)\n\tc.rules[0].n = 1\n}", true},
		{"inserted into itself", deep + "func w(f *flag) {\n\tc := f.clone()\n\tc.rules = slices.Insert(c.rules, 0, rule{})\n\tc.n = 1\n}", true},
		{"its elements in a kept list", deep + "func w(s *state, f *flag) {\n\tc := f.clone()\n\ts.rules = slices.Concat(s.rules, c.rules)\n\tc.rules[0].vals[0] = 1\n}", false},
		{"copied into a map", deep + put("maps.Copy(s.flags, map[string]*flag{``: c})"), false},
		{"inserted into a map", deep + put("maps.Insert(s.flags, maps.All(map[string]*flag{``: c}))"), false},
		{"copied into a list", deep + put("copy(s.list, []*flag{c})"), false},
		{"copied into a list of its own", deep + put("own := make([]*flag, 1)\n\tcopy(own, []*flag{c})"), true},
		{"copied into it", deep + put("maps.Copy(c.by, f.by)"), true},
		{"its numbers copied", deep + put("maps.Copy(f.by, c.by)"), true},
		{"given shared elements", "func w(f *flag) {\n\tc := map[string]*flag{}\n\tmaps.Insert(c, maps.All(map[string]*flag{``: f}))\n\tc[``].n = 1\n}", false},
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
