package insight

import (
	"testing"

	"loupe/value/stack"
)

// TestClonesFiltered: copies of all items are for nothing where a condition drops most of them and what it keeps is copied
// again; not where the condition comes first, where most are kept, where somebody else uses the copies, or where what is kept is
// something else.
func TestClonesFiltered(t *testing.T) {
	const filter = "func keep(all []*entry, name string) []*entry {\n\tvar out []*entry\n\tfor _, e := range all {\n\t\tif e.name == name {\n\t\t\tout = append(out, e.Clone()) // 2\n\t\t}\n\t}\n\treturn out\n}\n"
	const list = "func list(all []*entry) []*entry {\n\tvar own []*entry\n"
	const copies = "\tfor _, e := range all {\n\t\town = append(own, e.Clone()) // 1\n\t}\n"
	for _, c := range []struct {
		name, source string
		kept         int64 // of 100 that are copied first
		found        bool
	}{
		{"by another function", list + copies + "\treturn keep(own, `a`)\n}\n" + filter, 5, true},
		{"by its index", "func list(all []*entry) []*entry {\n\town := make([]*entry, len(all))\n\tfor i, e := range all {\n\t\town[i] = e.Clone() // 1\n\t}\n\treturn keep(own, `a`)\n}\n" + filter, 5, true},
		{"by a variable", list + "\tfor _, e := range all {\n\t\tc := e.Clone() // 1\n\t\town = append(own, c)\n\t}\n\treturn keep(own, `a`)\n}\n" + filter, 5, true},
		{"in the same function", list + copies + "\tvar out []*entry\n\tfor _, e := range own {\n\t\tif e.name != `a` {\n\t\t\tcontinue\n\t\t}\n\t\tout = append(out, e.Clone()) // 2\n\t}\n\treturn out\n}\n", 5, true},
		{"its length is counted", list + copies + "\tprintln(len(own))\n\treturn keep(own, `a`)\n}\n" + filter, 5, true},

		{"most are kept", list + copies + "\treturn keep(own, `a`)\n}\n" + filter, 80, false},
		{"filtered first", list + "\tfor _, e := range all {\n\t\tif e.name != `b` {\n\t\t\tcontinue\n\t\t}\n\t\town = append(own, e.Clone()) // 1\n\t}\n\treturn keep(own, `a`)\n}\n" + filter, 5, false},
		{"under a condition", list + "\tfor _, e := range all {\n\t\tif e.name != `b` {\n\t\t\town = append(own, e.Clone()) // 1\n\t\t}\n\t}\n\treturn keep(own, `a`)\n}\n" + filter, 5, false},
		{"the copies are kept too", "var held []*entry\n" + list + copies + "\theld = own\n\treturn keep(own, `a`)\n}\n" + filter, 5, false},
		{"all may be asked for", list + copies + "\tif len(all) < 9 {\n\t\treturn own\n\t}\n\treturn keep(own, `a`)\n}\n" + filter, 5, false},
		{"the copies are shown", list + copies + "\tshow(own)\n\treturn keep(own, `a`)\n}\n" + filter, 5, false},
		{"the filter is given the originals", list + copies + "\tprintln(len(own))\n\treturn keep(all, `a`)\n}\n" + filter, 5, false},
		{"all are copied again", list + copies + "\tvar out []*entry\n\tfor _, e := range own {\n\t\tout = append(out, e.Clone()) // 2\n\t}\n\treturn out\n}\n", 5, false},
		{"another one is copied", list + copies + "\tvar out []*entry\n\tfor _, e := range own {\n\t\tif e.name == `a` {\n\t\t\tout = append(out, all[0].Clone()) // 2\n\t\t}\n\t}\n\treturn out\n}\n", 5, false},
		{"one copy without a loop", list + "\town = append(own, all[0].Clone()) // 1\n\treturn keep(own, `a`)\n}\n" + filter, 5, false},
		{"two that have nothing to do with each other", list + copies + "\treturn own\n}\n" + filter, 5, false},
	} {
		text := clonedEntry + c.source
		d := newDerivations(codeOf(text))
		at := func(mark string) stack.Frame { return stack.Frame{File: "a.go", Line: lineOfMark(text, mark)} }
		x := &clones{decl: declNamed(d, "Clone"), name: "main.(*entry).Clone", users: map[stack.Frame]int64{at("1"): 100, at("2"): c.kept}}
		x.bytes = 100 + c.kept
		got, found := x.filteredAfter(d)
		if found != c.found || found && (got.kept != at("2") || got.part != float64(c.kept)/100) {
			t.Errorf("%s: %v %+v", c.name, found, got)
		}
	}
}
