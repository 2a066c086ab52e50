package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestPairsNear: where the rest of the condition needs both elements, what a map gains is unknown.
func TestPairsNear(t *testing.T) {
	for test, want := range map[string]Severity{"a[i].cell == a[j].cell && near(a[i], a[j])": Info, "a[i].cell == a[j].cell && a[j].open": Warning, "a[i].cell == a[j].cell": Warning} {
		r := spentIn("shop.f:/src/a.go:6 shop.g:/src/b.go:1\n= 60                40\n")
		sourceIn(r, "/src/a.go", "package main\n\nfunc f(a []point) (n int) {\nfor i := range a {\nfor j := i + 1; j < len(a); j++ {\nif "+test+" {\nn++\n}\n}\n}\nreturn n\n}\n")
		f := expect(t, test, r, "CP20", Found, "compares each element of a with each other one")
		if f.Severity != want || f.saves != (want == Warning) {
			t.Errorf("%s: %s, saves %v", test, f.Severity, f.saves)
		}
	}
}

// TestPairs: two loops that compare for equality and go on are told from those that need the pairs, and from those that
// compare something else. The comparison is in the line that says so.
func TestPairs(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       bool
	}{
		{"duplicates go", "n := len(s)\nfor i := 0; i < n; i++ {\nfor j := i + 1; j < n; j++ {\nif s[i] == s[j] { // here\ns[j] = s[n-1]\ns = s[:n-1]\nn--\nj--\n}\n}\n}", true},
		{"range in range", "for i, a := range s {\nfor _, b := range s[i+1:] {\nif a.Equal(b) { // here\ndup[i] = true\n}\n}\n}", true},
		{"the others", "for i := range s {\nfor j := range s {\nif i == j {\ncontinue\n}\nif reflect.DeepEqual(s[i], s[j]) { // here\nn++\n}\n}\n}", true},
		{"a join", "for _, u := range users {\nfor _, o := range orders {\nif o.user != u.id { // here\ncontinue\n}\nout = append(out, row{u, o})\n}\n}", true},
		{"a sum of those with the key", "for i := range groups {\nfor j := range rows {\nr := rows[j]\nif r.key == groups[i].key && r.open { // here\ngroups[i].sum += r.n\n}\n}\n}", true},
		{"those before", "for i := 0; i < len(s); i++ {\nfor j := 0; j < i; j++ {\nif strings.EqualFold(s[i], s[j]) { // here\nn++\n}\n}\n}", true},
		{"distances", "for i := range s {\nfor j := range s {\nif dist(s[i], s[j]) < r { // here\nn++\n}\n}\n}", false},
		{"a sum of all pairs", "for i := range s {\nfor j := range s {\nif s[i].kind == s[j].kind { // here\nn++\n}\nsum += s[i].x * s[j].x\n}\n}", false},
		{"places alone", "for i := range s {\nfor j := range t {\nif i == j { // here\nn++\n}\n}\n}", false},
		{"a table of all pairs", "for i := range a {\nfor j := range b {\nif a[i] == b[j] { // here\ntable[i+1][j+1] = table[i][j] + 1\n}\n}\n}", false},
		{"a table of which two rows are kept", "for i := range a {\nfor j := range b {\nif a[i] == b[j] { // here\ncur[j] = prev[j-1] + 1\n}\n}\n}", false},
		{"a table, with the rest", "for i := range a {\nfor j := range b {\nif a[i] == b[j] { // here\nbest = 1\n} else {\nbest = 0\n}\n}\n}", false},
		{"an element of a matrix", "for i := range m {\nfor j := range m[i] {\nif m[i][j] == k { // here\nn++\n}\n}\n}", false},
		{"neighbours", "for i := range s {\nfor j := i + 1; j < i+8; j++ {\nif s[i] == s[j] { // here\nn++\n}\n}\n}", false},
		{"near ones of a part", "for i := range s {\nfor _, b := range s[i : i+8] {\nif s[i] == b { // here\nn++\n}\n}\n}", false},
		{"a list of each element", "for _, r := range rows {\nfor _, x := range r.tags {\nif x == r.main { // here\nn++\n}\n}\n}", false},
		{"another list in each turn", "for _, r := range rows {\nlist := load(r)\nfor _, x := range list {\nif x.id == r.id { // here\nn++\n}\n}\n}", false},
		{"one place in another", "for i := range text {\nfor j := range word {\nif text[i+j] == word[j] { // here\nn++\n}\n}\n}", false},
		{"a prefix", "for _, a := range s {\nfor _, b := range p {\nif strings.HasPrefix(a, b) { // here\nn++\n}\n}\n}", false},
		{"a wildcard", "for _, a := range s {\nfor _, b := range p {\nif b == \"*\" || a == b { // here\nn++\n}\n}\n}", false},
		{"sorts", "for i := range s {\nfor j := range s {\nif s[i] < s[j] { // here\ns[i], s[j] = s[j], s[i]\n}\n}\n}", false},
		{"a few", "kinds := []string{\"a\", \"b\"}\nfor _, r := range rows {\nfor _, k := range kinds {\nif r.kind == k { // here\nn++\n}\n}\n}", false},
	} {
		text := "package main\n\nfunc f() {\n" + c.body + "\n}\n"
		line := 1 + strings.Count(text[:strings.Index(text, "// here")], "\n")
		got := pairsByHand(sourceOf(text), stack.Frame{Func: "main.f", File: "a.go", Line: line})
		if (got.kind == searchPairs) != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
