package insight

import (
	"fmt"
	"strings"
	"testing"
)

// TestKeyLoops: the time of a short loop that computes a key belongs to the loop that asks all elements for theirs, if that goes through many of the same
// list for a few of them; loops that need all elements, lists that are short or are gone through once, and other questions than for a key are not told.
func TestKeyLoops(t *testing.T) {
	const (
		head = "package main\n\ntype attr struct{ name, value string }\n\ntype id struct{ kind, name string }\n\nfunc (a id) Equals(b id) bool { return a == b }\n\ntype item struct {\nattrs []attr\nn int\n}\n\n" +
			"func (x *item) attr(name string) string {\n/*10000000 600 1800 300 300*/for i := range x.attrs { /*20000000*/\nif x.attrs[i].name == name { /*10000000*/ // leaf\nreturn x.attrs[i].value\n}\n}\nreturn \"\"\n}\n\n" +
			"func (x *item) ID() id { return id{x.attr(\"kind\"), x.attr(\"name\")} } // id\nfunc (x *item) Name() string { return x.attr(\"name\") }\n\n" +
			"type set struct {\nitems []*item\nn int\n}\n\n"
		grows = "/*5000 600 600000 512 300*/"
		fresh = "/*5000 600 600000 512 0*/"
		short = "/*1000000 600 3000 512 300*/"
		leave = "// body\nreturn true\n}\n}\nreturn false\n}\n"
		add   = "func (s *set) add(x *item) {\nif !s.has(x.Name()) { // caller\ns.items = append(s.items, x)\n}\n}\n"
	)
	for _, c := range []struct {
		name, source string
		says, advice string
		severity     Severity
	}{
		{"a key of its own, and a break", "func (s *set) has(name string) bool {\n" + grows + "for _, x := range s.items { /*5000000*/\nif x.Name() == name { /*0*/ // here\n" + leave + add, "computes x.Name() again in each", "from the key, what x.Name() returns", Warning},
		{"by the place", "func (s *set) has(name string) bool {\n" + grows + "for i := range s.items { /*5000000*/\nif s.items[i].Name() == name { /*100*/ // here\n" + leave + add, "computes s.items[i].Name() again", "Add to the map where the list grows", Warning},
		{"for with a counter", "func (s *set) has(name string) bool {\n" + grows + "for i := 0; i < len(s.items); i++ { /*5000000*/\nif s.items[i].Name() == name { /*100*/ // here\n" + leave + add, "goes through s.items", "beside s.items", Warning},
		{"in a variable", "func (s *set) has(name string) bool {\n" + grows + "for _, x := range s.items { /*5000000*/\nown := x.Name() // here\nif own == name { /*100*/\n" + leave + add, "computes x.Name() again", "what x.Name() returns", Warning},
		{"others are left out", "func (s *set) has(name string) (out []*item) {\n" + grows + "for _, x := range s.items { /*5000000*/\nif x.Name() != name { /*4999000*/ // here\ncontinue\n}\nout = append(out, x)\n}\nreturn out\n}\n" + "func (s *set) add(x *item) {\nif len(s.has(x.Name())) == 0 { // caller\ns.items = append(s.items, x)\n}\n}\n", "x.Name() again", "beside s.items", Warning},
		{"by a method that compares", "func (s *set) has(of id) bool {\n" + grows + "for _, x := range s.items { /*5000000*/\nif x.ID().Equals(of) { /*100*/ // here\n" + leave + "func (s *set) add(x *item) {\nif !s.has(x.ID()) { // caller\ns.items = append(s.items, x)\n}\n}\n", "computes x.ID() again", "all that Equals (main.go:7) compares of x.ID()", Warning},
		{"by a function that is given", "func (s *set) has(want func(id) bool) (out []*item) {\n" + grows + "for _, x := range s.items { /*5000000*/\nif want(x.ID()) { /*100*/ // here\nout = append(out, x)\n}\n}\nreturn out\n}\nfunc (s *set) add(x *item) {\nif of := x.ID(); len(s.has(of.Equals)) == 0 { // caller\ns.items = append(s.items, x)\n}\n}\n", "computes x.ID() again", "all that Equals (main.go:7) compares of x.ID()", Warning},
		{"by a literal that is given", "func (s *set) has(want func(string) bool) (out []*item) {\n" + grows + "for _, x := range s.items { /*5000000*/\nif want(x.Name()) { /*100*/ // here\nout = append(out, x)\n}\n}\nreturn out\n}\nfunc (s *set) add(x *item) {\nname := x.Name()\nif len(s.has(func(other string) bool { return other == name })) == 0 { // caller\ns.items = append(s.items, x)\n}\n}\n", "computes x.Name() again", "what x.Name() returns", Warning},
		{"by a function that is made", "func named(name string) func(string) bool {\nreturn func(other string) bool { return other == name }\n}\nfunc (s *set) has(want func(string) bool) (out []*item) {\n" + grows + "for _, x := range s.items { /*5000000*/\nif want(x.Name()) { /*100*/ // here\nout = append(out, x)\n}\n}\nreturn out\n}\nfunc (s *set) add(x *item) {\nif len(s.has(named(x.Name()))) == 0 { // caller\ns.items = append(s.items, x)\n}\n}\n", "computes x.Name() again", "what x.Name() returns", Warning},
		{"with something else that is asked", "func (s *set) has(name string) bool {\n" + grows + "for _, x := range s.items { /*5000000*/\nif x.Name() == name && x.n > 0 { /*100*/ // here\n" + leave + add, "computes x.Name() again", "to the elements that have it, in their order", Warning},
		{"it stays, and is looked at once", "func (s *set) has(name string) bool {\n/*5000 600 600000 3 590*/for _, x := range s.items { /*5000000*/\nif x.Name() == name { /*100*/ // here\n" + leave + "func (s *set) add(x *item) {\nif s.has(x.Name()) { // caller\ns.n++\n}\n}\n", "computes x.Name() again", "Make it with the list", Warning},
		{"a key that is set", "func (x *item) rename(to string) {\nx.attrs[0].value = to // set\n}\nfunc (s *set) has(name string) bool {\n" + grows + "for _, x := range s.items { /*5000000*/\nif x.Name() == name { /*100*/ // here\n" + leave + add, "computes x.Name() again", "the map has to follow there as well", Warning},

		{"a short list", "func (s *set) has(name string) bool {\n" + short + "for _, x := range s.items { /*5000000*/\nif x.Name() == name { /*100*/ // here\n" + leave + add, "", "", ""},
		{"it ends after a few", "func (s *set) has(name string) bool {\n/*1000000 600 600000 512 300*/for _, x := range s.items { /*5000000*/\nif x.Name() == name { /*990000*/ // here\n" + leave + add, "", "", ""},
		{"another list each time", "func has(items []*item, name string) bool {\n" + fresh + "for _, x := range items { /*5000000*/\nif x.Name() == name { /*100*/ // here\n" + leave + "func (s *set) add(x *item) {\nif !has(load(x), x.Name()) { // caller\ns.n++\n}\n}\n", "", "", ""},
		{"once", "func (s *set) has(name string) bool {\n/*1 1 5000000 1 0*/for _, x := range s.items { /*5000000*/\nif x.Name() == name { /*100*/ // here\n" + leave + add, "", "", ""},
		{"a sum of all", "func (s *set) has(name string) (n int) {\n" + grows + "for _, x := range s.items { /*5000000*/\nn += len(x.Name()) // here\n}\nreturn n\n}\nfunc (s *set) add(x *item) {\nif s.has(x.Name()) > 0 { // caller\ns.items = append(s.items, x)\n}\n}\n", "", "", ""},
		{"all are printed", "func (s *set) has(name string) bool {\n" + grows + "for _, x := range s.items { /*5000000*/\nprintln(x.Name()) // here\nif x.n == len(name) { /*100*/\n" + leave + add, "", "", ""},
		{"nearly all are selected", "func (s *set) has(name string) (out []*item) {\n" + grows + "for _, x := range s.items { /*5000000*/\nif x.Name() == name { /*4800000*/ // here\nout = append(out, x)\n}\n}\nreturn out\n}\nfunc (s *set) add(x *item) {\nif len(s.has(x.Name())) == 0 { // caller\ns.items = append(s.items, x)\n}\n}\n", "", "", ""},
		{"by a prefix", "func (s *set) has(name string) bool {\n" + grows + "for _, x := range s.items { /*5000000*/\nif strings.HasPrefix(x.Name(), name) { /*100*/ // here\n" + leave + add, "", "", ""},
		{"by a pattern", "func (s *set) has(name string) bool {\n" + grows + "for _, x := range s.items { /*5000000*/\nif ok, _ := path.Match(name, x.Name()); ok { /*100*/ // here\n" + leave + add, "", "", ""},
		{"by an order", "func (s *set) has(name string) bool {\n" + grows + "for _, x := range s.items { /*5000000*/\nif x.Name() < name { /*100*/ // here\n" + leave + add, "", "", ""},
		{"by a constant", "func (s *set) has(name string) bool {\n" + grows + "for _, x := range s.items { /*5000000*/\nif x.Name() == \"root\" { /*100*/ // here\n" + leave + add, "", "", ""},
		{"a function that is given asks for something else", "func (s *set) has(want func(string) bool) (out []*item) {\n" + grows + "for _, x := range s.items { /*5000000*/\nif want(x.Name()) { /*100*/ // here\nout = append(out, x)\n}\n}\nreturn out\n}\nfunc (s *set) add(x *item) {\nif len(s.has(func(other string) bool { return len(other) > 9 })) == 0 { // caller\ns.items = append(s.items, x)\n}\n}\n", "", "", ""},
		{"with alternatives", "func (s *set) has(name string) bool {\n" + grows + "for _, x := range s.items { /*5000000*/\nif x.Name() == name || x.attr(\"alias\") == name { /*100*/ // here\n" + leave + add, "", "", ""},
		{"the time is that of what was found", "func (s *set) has(name string) (n int) {\n" + grows + "for _, x := range s.items { /*5000000*/\nif x.Name() == name { /*100*/\nn = len(x.Name()) // here\nbreak\n}\n}\nreturn n\n}\nfunc (s *set) add(x *item) {\nif s.has(x.Name()) == 0 { // caller\ns.items = append(s.items, x)\n}\n}\n", "", "", ""},
		{"it was not counted", "func (s *set) has(name string) bool {\nfor _, x := range s.items {\nif x.Name() == name { // here\n" + leave + add, "", "", ""},
	} {
		source := head + c.source
		line := func(mark string) int { return 1 + strings.Count(source[:strings.Index(source, mark)], "\n") }
		r := countedRecording(t, source, fmt.Sprintf("main.main:/src/main.go:400 main.(*set).add:/src/main.go:%d main.(*set).has:/src/main.go:%d main.(*item).ID:/src/main.go:%d main.(*item).attr:/src/main.go:%d", line("// caller"), line("// here"), line("// id"), line("// leaf")))
		var f Finding
		var short bool
		for _, x := range answers(t, r, "CP20") {
			if strings.HasPrefix(x.Title, "A list is searched for a key") {
				f = x
			}
			short = short || strings.Contains(x.Advice, "A search ends after 2 turns")
		}
		switch {
		case (f.State == Found) != (c.says != ""), !strings.Contains(f.Summary, c.says), !strings.Contains(f.Advice, c.advice):
			t.Errorf("%s: %s: %s → %s", c.name, f.State, f.Summary, f.Advice)
		case f.Severity != c.severity:
			t.Errorf("%s is %q", c.name, f.Severity)
		case f.State == Found && strings.Contains(c.source, "append(out, x)") != strings.Contains(strings.Join(f.Doubts, "; "), "takes all elements with the key"):
			t.Errorf("%s: %q", c.name, f.Doubts)
		case f.State == Found && short:
			t.Errorf("%s: the short search is told besides", c.name)
		}
	}
}
