package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestTellChanges: an index that is built before the loop has to follow where the loop changes the list, or what is compared of its elements;
// a list that stays as it is, and changes elsewhere, leave the plain advice.
func TestTellChanges(t *testing.T) {
	const head = "package main\n\nimport \"slices\"\n\ntype user struct {\n\tname string\n\tn int\n}\n\ntype op struct{ from, to string }\n\ntype store struct{ users []*user }\n\n"
	const lookup = "func lookup(users []*user, name string) *user {\n\tfor _, u := range users {\n\t\tif u.name == name { // A\n\t\t\treturn u\n\t\t}\n\t}\n\treturn nil\n}\n\n"
	for _, c := range []struct {
		name, source, at string // at is in the line that is named; "" for none
	}{
		{"an element that is set", "func f(stock, orders []string) {\n\tfor _, o := range orders {\n\t\ti := slices.Index(stock, o) // A\n\t\tif i >= 0 {\n\t\t\tstock[i] = \"\" // C\n\t\t}\n\t}\n}\n", "// C"},
		{"one that is deleted", "func f(stock, orders []string) {\n\tfor _, o := range orders {\n\t\ti := slices.Index(stock, o) // A\n\t\tif i >= 0 {\n\t\t\tstock = slices.Delete(stock, i, i+1) // C\n\t\t}\n\t}\n}\n", "// C"},
		{"the field that is compared", lookup + "func f(users []*user, ops []op) {\n\tfor _, o := range ops {\n\t\tif u := lookup(users, o.from); u != nil {\n\t\t\tu.name = o.to // C\n\t\t}\n\t}\n}\n", "// C"},
		{"by a method", lookup + "func (u *user) rename(to string) {\n\tu.name = to // C\n}\n\nfunc f(users []*user, ops []op) {\n\tfor _, o := range ops {\n\t\tif u := lookup(users, o.from); u != nil {\n\t\t\tu.rename(o.to)\n\t\t}\n\t}\n}\n", "// C"},
		{"a list of the receiver", "func (s *store) find(name string) int {\n\treturn slices.IndexFunc(s.users, func(u *user) bool { return u.name == name }) // A\n}\n\nfunc (s *store) f(ops []op) {\n\tfor _, o := range ops {\n\t\ti := s.find(o.from)\n\t\ts.users[i] = &user{} // C\n\t}\n}\n", "// C"},

		{"nothing", "func f(stock, orders []string) (n int) {\n\tfor _, o := range orders {\n\t\tif slices.Contains(stock, o) { // A\n\t\t\tn++\n\t\t}\n\t}\n\treturn n\n}\n", ""},
		{"another list", "func f(stock, orders, out []string) {\n\tfor k, o := range orders {\n\t\tif i := slices.Index(stock, o); i >= 0 { // A\n\t\t\tout[k] = o\n\t\t}\n\t}\n}\n", ""},
		{"another field of the elements", lookup + "func f(users []*user, ops []op) {\n\tfor _, o := range ops {\n\t\tif u := lookup(users, o.from); u != nil {\n\t\t\tu.n++\n\t\t}\n\t}\n}\n", ""},
		{"after the loop", "func f(stock, orders []string) {\n\tfor _, o := range orders {\n\t\tprintln(slices.Index(stock, o)) // A\n\t}\n\tstock[0] = \"\"\n}\n", ""},
		{"another list in each turn", "func f(lists [][]string, o string) {\n\tfor _, l := range lists {\n\t\tif i := slices.Index(l, o); i >= 0 { // A\n\t\t\tl[i] = \"\"\n\t\t}\n\t}\n}\n", ""},
		{"it grows, which is told otherwise", "func f(in []string) (out []string) {\n\tfor _, s := range in {\n\t\tif !slices.Contains(out, s) { // A\n\t\t\tout = append(out, s)\n\t\t}\n\t}\n\treturn out\n}\n", ""},
	} {
		text := head + c.source
		before, _, _ := strings.Cut(text, "// A\n")
		f := Finding{Advice: lookUp, Doubts: []string{changesDoubt, fewDoubt}}
		tellChanges(codeOf(text), stack.Frame{Func: "main.f", File: "a.go", Line: 1 + strings.Count(before, "\n")}, &f)
		want := lineMarks(text, "What is searched is changed between the searches, at a.go:%C: ")
		if is := strings.HasPrefix(f.Advice, want); is != (c.at != "") || !is && f.Advice != lookUp || is && (len(f.Doubts) != 2 || f.Doubts[0] != firstDoubt) {
			t.Errorf("%s: %s, %q", c.name, f.Advice, f.Doubts)
		}
	}
}

// TestContainsFuncInlined: the profile has slices.IndexFunc where the source calls slices.ContainsFunc, which is inlined.
func TestContainsFuncInlined(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"slices\"\n\t\"strings\"\n)\n\n"
	for source, want := range map[string]comparison{
		"func f(names []string, a string) bool {\n\treturn slices.ContainsFunc(names, func(s string) bool { return strings.EqualFold(s, a) })\n}\n":                    matchFold,
		"func f(names []string, a string) int {\n\treturn slices.IndexFunc(names, func(s string) bool { return strings.EqualFold(s, a) })\n}\n":                        matchFold,
		"func f(names []string, a string) bool {\n\treturn slices.ContainsFunc(names, func(s string) bool { return s == a })\n}\n":                                     matchEqual,
		"func f(names []string, a string) bool {\n\treturn slices.ContainsFunc(names, func(s string) bool { return strings.HasPrefix(s, a) })\n}\n":                    matchBegins,
		"func f(names []string, a string) bool {\n\treturn slices.ContainsFunc(names, matches(a))\n}\n\nfunc matches(a string) func(string) bool {\n\treturn nil\n}\n": matchOther,
	} {
		if got, _ := matchesIn(codeOf(head+source), stack.Frame{Func: "main.f", File: "a.go", Line: 9}, "slices.IndexFunc[...]"); got != want {
			t.Errorf("%s: %d, want %d", source, got, want)
		}
	}
}
