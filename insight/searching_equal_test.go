package insight

import (
	"strings"
	"testing"
)

// TestSameBy: what a comparison takes for equal, by the source of its function or the type that is declared.
func TestSameBy(t *testing.T) {
	const head = "package main\n\nimport (\"bytes\"; \"math\"; \"net\"; \"strings\"; \"time\"; \"dec\")\n\ntype point struct { x, y int; name string; at time.Time; tags []string }\n"
	for _, c := range []struct {
		name, source, cond string
		want               equality
	}{
		{"==", "func f(a, b point) bool {\nreturn a.x == b.x\n}\n", "a.x == b.x", equalKey},
		{"bytes", "func f(a, b []byte) bool {\nreturn bytes.Equal(a, b)\n}\n", "bytes.Equal(a, b)", equalKey},
		{"fields", "func (p point) Equal(q point) bool { return p.x == q.x && p.y == q.y }\nfunc f(a, b point) bool {\nreturn a.Equal(b)\n}\n", "a.Equal(b)", equalKey},
		{"fields that differ", "func (p *point) Equal(q *point) bool {\nif p == nil || q == nil {\nreturn p == q\n}\nif p.x != q.x || len(p.tags) != len(q.tags) {\nreturn false\n}\nfor i := range p.tags {\nif p.tags[i] != q.tags[i] {\nreturn false\n}\n}\nreturn p.name == q.name\n}\nfunc f(a, b *point) bool {\nreturn a.Equal(b)\n}\n", "a.Equal(b)", equalKey},
		{"a function of both", "func (p point) Equal(q point) bool { return p.x%10 == q.x%10 }\nfunc f(a, b point) bool {\nreturn a.Equal(b)\n}\n", "a.Equal(b)", equalKey},
		{"in whatever case", "func f(a, b string) bool {\nreturn strings.EqualFold(a, b)\n}\n", "strings.EqualFold(a, b)", equalFolded},
		{"times", "func f(all []time.Time, b time.Time) bool {\nfor _, a := range all {\nif a.Equal(b) {\nreturn true\n}\n}\nreturn false\n}\n", "a.Equal(b)", equalMoment},
		{"a time in it", "func f(all []point, b time.Time) bool {\nreturn all[0].at.Equal(b)\n}\n", "all[0].at.Equal(b)", equalMoment},
		{"a time in what is equal", "func (p point) Equal(q point) bool { return p.x == q.x && p.at.Equal(q.at) }\nfunc f(a, b point) bool {\nreturn a.Equal(b)\n}\n", "a.Equal(b)", equalMoment},
		{"addresses", "func f(a, b net.IP) bool {\nreturn a.Equal(b)\n}\n", "a.Equal(b)", equalAddress},
		{"of a library", "func f(a, b dec.Number) bool {\nreturn a.Equal(b)\n}\n", "a.Equal(b)", equalUnknown},
		{"near each other", "func (p point) Equal(q point) bool { d := p.x - q.x\nreturn d*d < 4 }\nfunc f(a, b point) bool {\nreturn a.Equal(b)\n}\n", "a.Equal(b)", equalOther},
		{"near, in one line", "func (p point) Equal(q point) bool { return math.Abs(float64(p.x-q.x)) < 4 }\nfunc f(a, b point) bool {\nreturn a.Equal(b)\n}\n", "a.Equal(b)", equalOther},
		{"one or the other", "func (p point) Equal(q point) bool { return p.x == q.x || p.y == q.y }\nfunc f(a, b point) bool {\nreturn a.Equal(b)\n}\n", "a.Equal(b)", equalOther},
		{"by a helper", "func (p point) Equal(q point) bool { return hash(p) == q.hash() }\nfunc f(a, b point) bool {\nreturn a.Equal(b)\n}\n", "a.Equal(b)", equalUnknown},
		{"an order", "func compare(p, q point) int {\nif p.x < q.x {\nreturn -1\n}\nreturn p.x - q.x\n}\nfunc f(a, b point) bool {\nreturn compare(a, b) == 0\n}\n", "compare(a, b)", equalUnknown},
		{"another field", "func (p point) Equal(q point) bool { return p.x == q.y }\nfunc f(a, b point) bool {\nreturn a.Equal(b)\n}\n", "a.Equal(b)", equalUnknown},
	} {
		text := head + c.source
		code := sourceOf(text)
		typed := typedOf(code)
		at := lineWith(text, c.cond)
		var got sameBy
		for _, call := range code.lineCalls(at) {
			if by := sameByIn(code, "a.go", call); by.equality > got.equality {
				got = by
			}
		}
		if got.equality != c.want {
			t.Errorf("%s: %+v, want %v (%d files)", c.name, got, c.want, len(typed.files))
		}
	}
}

// TestPairsEqual: a comparison that a map cannot answer is an info without that advice; for another one the advice says what
// the key has to have.
func TestPairsEqual(t *testing.T) {
	for _, c := range []struct {
		equal, says, doubts string
		want                Severity
	}{
		{"func (p point) Equal(q point) bool { return p.x == q.x }", "a map of those already seen", "order", Warning},
		{"func (p point) Equal(q point) bool { return p.at.Equal(q.at) }", "the key has the moment, t.UnixNano()", "order", Warning},
		{"func (p point) Equal(q point) bool { return p.x-q.x < 3 }", "Equal (a.go:4) is not the equality of a key", "order", Info},
		{"", "This is the same only if Equal is true exactly where", "order", Warning},
	} {
		r := spentIn("shop.f:/src/a.go:8 shop.g:/src/b.go:1\n= 60                40\n")
		sourceIn(r, "/src/a.go", "package main\n\ntype point struct { x int; at time.Time }\n"+c.equal+"\nfunc f(a []point) (n int) {\nfor i := range a {\nfor j := i + 1; j < len(a); j++ {\nif a[i].Equal(a[j]) {\nn++\n}\n}\n}\nreturn n\n}\n")
		f := expect(t, c.equal, r, "CP20", Found, "compares each element of a with each other one")
		if f.Severity != c.want || f.saves != (c.want == Warning) || !strings.Contains(f.Advice, c.says) || !strings.Contains(strings.Join(f.Doubts, "\n"), c.doubts) || c.want == Info && strings.Contains(f.Advice, "a map of those") {
			t.Errorf("%s: %s, saves %v: %s\n%q", c.equal, f.Severity, f.saves, f.Advice, f.Doubts)
		}
	}
}
