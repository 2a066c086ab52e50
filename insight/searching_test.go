package insight

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestSearchByHand: a loop that looks one up is told from others; line 6 is in it.
func TestSearchByHand(t *testing.T) {
	for _, c := range []struct {
		name, body string
		calledIn   bool // a loop
		want       bool
	}{
		{"nested", "for _, r := range in {\nfor i := range out {\nif out[i].key == r.key {\nbreak\n}\n}\n}", false, true},
		{"goes on with the outer one", "next: for _, r := range in {\nfor _, o := range out {\nif o == r {\ncontinue next\n}\n}\n}", false, true},
		{"a function called in a loop", "{\nfor _, o := range list {\nif o.ID == id {\nreturn o\n}\n}}", true, true},
		{"a function called once", "{\nfor _, o := range list {\nif o.ID == id {\nreturn o\n}\n}}", false, false},
		{"scans for a character", "for more() {\nfor i := range text {\nif text[i] == ' ' {\nbreak\n}\n}\n}", false, false},
		{"sums up", "for _, r := range in {\nfor _, o := range out {\nif o.key == r.key {\nn += o.n\n}\n}\n}", false, false},
		{"looks for nothing", "for _, r := range in {\nfor _, o := range out {\nif o == nil {\nbreak\n}\n}\n}", false, false},
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\nfunc f() {\n"+c.body+"\n}\n"))
		in := NewInput(session.New(r.Open()))
		if got := searchByHand(in.code, stack.Frame{Func: "main.f", File: "a.go", Line: 6}, stack.Frame{}, c.calledIn).kind == searchMany; got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestSearchKind: a loop that goes on where it has ended, a hash table, a few elements and a list
// that moves to the front what was found are told from a search through many. The comparison is in the line
// that says so.
func TestSearchKind(t *testing.T) {
	const called = "func g() {\nfor rest := text; ; {\ni := f(rest, k) // caller\nrest = rest[i+1:]\n}\n}\n"
	for _, c := range []struct {
		name, source string
		want         handKind
	}{
		{"many", "func f(k int) int {\nfor i, v := range list {\nif v == k { // here\nreturn i\n}\n}\nreturn -1\n}\nfunc g() {\nfor {\nf(k) // caller\n}\n}\n", searchMany},
		{"the caller cuts the text", "func f(b []byte, k byte) int {\nfor i := range b {\nif b[i] == k { // here\nreturn i\n}\n}\nreturn -1\n}\n" + called, searchNone},
		{"the caller keeps the text", "func f(b []byte, k byte) int {\nfor i := range b {\nif b[i] == k { // here\nreturn i\n}\n}\nreturn -1\n}\nfunc g() {\nfor _, k := range all {\ni := f(text, k) // caller\nn += i\n}\n}\n", searchMany},
		{"the reader keeps its place", "func (r *reader) f() int {\nfor i := r.pos; i < len(r.b); i++ {\nif r.b[i] == r.comma { // here\nr.pos = i + 1\nreturn i\n}\n}\nreturn -1\n}\nfunc g() {\nfor {\nr.f() // caller\n}\n}\n", searchNone},
		{"the caller keeps the place", "func f(b []byte, from int, k byte) int {\nfor i := from; i < len(b); i++ {\nif b[i] == k { // here\nreturn i\n}\n}\nreturn -1\n}\nfunc g() {\npos := 0\nfor {\nnext := f(b, pos, k) // caller\npos = next + 1\n}\n}\n", searchNone},
		{"one that is taken out", "func g() {\nfor _, k := range all {\nfor i := range list {\nif list[i] == k { // here\nlist = append(list[:i], list[i+1:]...)\nbreak\n}\n}\n}\n}\n", searchMany},
		{"a chain", "func f(k int) *node {\nfor n := heads[k&4095]; n != nil; n = n.next {\nif n.k == k { // here\nreturn n\n}\n}\nreturn nil\n}\nfunc g() {\nfor {\nf(k) // caller\n}\n}\n", searchTable},
		{"a bucket", "func f(k string) int {\nh := hash(k) % 64\nfor _, e := range buckets[h] {\nif e.k == k { // here\nreturn e.v\n}\n}\nreturn 0\n}\nfunc g() {\nfor {\nf(k) // caller\n}\n}\n", searchTable},
		{"probing", "func f(k int) int {\nh := k * 7 >> 3\nfor i := h; ; i++ {\nif table[i&255] == k { // here\nreturn i\n}\n}\n}\nfunc g() {\nfor {\nf(k) // caller\n}\n}\n", searchTable},
		{"a part of many", "func f(r row) int {\nfor _, e := range byUser[r.user] {\nif e.id == r.id { // here\nreturn e.v\n}\n}\nreturn 0\n}\nfunc g() {\nfor {\nf(r) // caller\n}\n}\n", searchMany},
		{"a ring", "func f(k int) int {\nfor j := 0; j < len(ring); j++ {\nif ring[(head+j)%len(ring)] == k { // here\nreturn j\n}\n}\nreturn 0\n}\nfunc g() {\nfor {\nf(k) // caller\n}\n}\n", searchMany},
		{"a few", "var list = []int{1, 2, 3, 5, 8}\nfunc f(k int) int {\nfor i, v := range list {\nif v == k { // here\nreturn i\n}\n}\nreturn -1\n}\nfunc g() {\nfor {\nf(k) // caller\n}\n}\n", searchFew},
		{"a few at first", "var list = []int{1, 2, 3, 5, 8}\nfunc f(k int) int {\nfor i, v := range list {\nif v == k { // here\nreturn i\n}\n}\nreturn -1\n}\nfunc g() {\nlist = append(list, k)\nfor {\nf(k) // caller\n}\n}\n", searchMany},
		{"an array of a node", "type node struct { keys [8]int }\nfunc (b *node) f(k int) int {\nfor i := 0; i < b.n; i++ {\nif b.keys[i] == k { // here\nreturn i\n}\n}\nreturn -1\n}\nfunc g() {\nfor {\nb.f(k) // caller\n}\n}\n", searchFew},
		{"to the front", "func f(k int) int {\nfor i, v := range list {\nif v == k { // here\ncopy(list[1:i+1], list[:i])\nlist[0] = k\nreturn i\n}\n}\nreturn -1\n}\nfunc g() {\nfor {\nf(k) // caller\n}\n}\n", searchFront},
		{"the oldest goes", "func (c *cache) f() {\nvar oldest string\nvar at time.Time\nfor k, e := range c.m {\nif oldest == \"\" || e.at.Before(at) { // here\noldest, at = k, e.at\n}\n}\ndelete(c.m, oldest)\n}\nfunc g() {\nfor {\nc.f() // caller\n}\n}\n", searchFirst},
		{"the nearest goes", "func f() int {\nbest := 0\nfor i, n := range open {\nif n.cost < open[best].cost { // here\nbest = i\n}\n}\nopen[best] = open[len(open)-1]\nopen = open[:len(open)-1]\nreturn best\n}\nfunc g() {\nfor {\nf() // caller\n}\n}\n", searchFirst},
		{"the largest stays", "func f() int {\nbest := 0\nfor i, n := range list {\nif n > list[best] { // here\nbest = i\n}\n}\nreturn best\n}\nfunc g() {\nfor {\nf() // caller\n}\n}\n", searchNone},
		{"the head of one source goes once it is used up", "func merge(src []*source) int {\nfor len(src) > 0 {\nbest := 0\nfor i := range src {\nif src[i].v[src[i].pos] < src[best].v[src[best].pos] { // here\nbest = i\n}\n}\ns := src[best]\nif s.pos++; s.pos == len(s.v) {\nsrc = append(src[:best], src[best+1:]...)\n}\n}\nreturn 0\n}\n", searchLeast},
		{"the oldest goes, if there is one", "func (c *cache) f() {\nvar oldest string\nfor k, e := range c.m {\nif oldest == \"\" || e.at.Before(c.m[oldest].at) { // here\noldest = k\n}\n}\nif oldest != \"\" {\ndelete(c.m, oldest)\n}\n}\nfunc g() {\nfor {\nc.f() // caller\n}\n}\n", searchFirst},
		{"all are changed, up to a bad one", "func f(rows []row, bad int) error {\nfor i := range rows {\nif rows[i].id == bad { // here\nreturn errBad\n}\nrows[i].state += 3\n}\nreturn nil\n}\nfunc g() {\nfor {\nf(rows, k) // caller\n}\n}\n", searchNone},
		{"all are added up, up to a mark", "func f(a []int, stop int) (s int) {\nfor _, x := range a {\nif x == stop { // here\nbreak\n}\ns += x * x\n}\nreturn s\n}\nfunc g() {\nfor {\nf(a, k) // caller\n}\n}\n", searchNone},
		{"lines are counted, up to a mark", "func f(a []byte, stop byte) (n int) {\nfor _, x := range a {\nif x == stop { // here\nbreak\n}\nif x == '\\n' {\nn++\n}\n}\nreturn n\n}\nfunc g() {\nfor {\nf(a, k) // caller\n}\n}\n", searchNone},
		{"with a count of where it is", "func f(k int) int {\nat := 0\nfor _, v := range list {\nif v == k { // here\nreturn at\n}\nat++\n}\nreturn -1\n}\nfunc g() {\nfor {\nf(k) // caller\n}\n}\n", searchMany},
		{"two values of each are compared", "func f(cols []int, r, c int) bool {\nfor i, x := range cols {\nif x == c || r-i == c-x || r-i == x-c { // here\nreturn true\n}\n}\nreturn false\n}\nfunc g() {\nfor c := range n {\nf(cols, r, c) // caller\n}\n}\n", searchNone},
		{"a list of each element", "func (p *pair) f(k string) bool {\nfor _, x := range p.list {\nif x == k { // here\nreturn true\n}\n}\nreturn false\n}\nfunc g() {\nfor i := range pairs {\npairs[i].f(k) // caller\n}\n}\n", searchEach},
		{"the neighbours of each node", "func f(adj []int32, to int32) bool {\nfor _, x := range adj {\nif x == to { // here\nreturn true\n}\n}\nreturn false\n}\nfunc g() {\nfor i := range adj {\nf(adj[i], t) // caller\n}\n}\n", searchEach},
		{"a list of each element, here", "func g() {\nfor _, r := range rows {\nfor _, x := range r.tags {\nif x == k { // here\nbreak\n}\n}\n}\n}\n", searchEach},
		{"the list of a node that many have", "func g() {\nfor _, e := range edges {\nfor _, x := range e.from.next {\nif x == e.to { // here\nbreak\n}\n}\n}\n}\n", searchMany},
		{"one list for all elements", "func (p *set) f(k string) bool {\nfor _, x := range p.list {\nif x == k { // here\nreturn true\n}\n}\nreturn false\n}\nfunc g() {\nfor _, r := range rows {\nseen.f(r.key) // caller\n}\n}\n", searchMany},
		{"the caller keeps the place by adding", "func f(b []byte, k byte) int {\nfor i := range b {\nif b[i] == k { // here\nreturn i\n}\n}\nreturn -1\n}\nfunc g() {\nfor p := 0; p < len(text); {\nn := f(text[p:], k) // caller\np += n + 1\n}\n}\n", searchNone},
		{"by a method of both", "func (s set) f(k item) bool {\nfor _, v := range s {\nif v.ID() == k.ID() { // here\nreturn true\n}\n}\nreturn false\n}\nfunc g() {\nfor _, k := range all {\nseen.f(k) // caller\n}\n}\n", searchMany},
		{"by a field that a method of the other gives", "func (s set) f(k item) bool {\nfor _, v := range s {\nif v.id == k.GetID() { // here\nreturn true\n}\n}\nreturn false\n}\nfunc g() {\nfor _, k := range all {\nseen.f(k) // caller\n}\n}\n", searchMany},
		{"by what the next of something is", "func (s set) f(k source) bool {\nfor _, v := range s {\nif v.id == k.Next() { // here\nreturn true\n}\n}\nreturn false\n}\nfunc g() {\nfor _, k := range all {\nseen.f(k) // caller\n}\n}\n", searchNone},
		{"changed in place", "func f(k, n int) {\nfor i, v := range list {\nif v == k { // here\nlist[i] = n\nreturn\n}\n}\n}\nfunc g() {\nfor {\nf(k, n) // caller\n}\n}\n", searchMany},
	} {
		text := "package main\n\n" + c.source
		line := func(mark string) int { return 1 + strings.Count(text[:max(0, strings.Index(text, mark))], "\n") }
		caller := stack.Frame{Func: "main.g", File: "a.go", Line: line("// caller")}
		if got := searchByHand(sourceOf(text), stack.Frame{Func: "main.f", File: "a.go", Line: line("// here")}, caller, true); got.kind != c.want {
			t.Errorf("%s: %+v, want %d", c.name, got, c.want)
		}
	}
}

// TestNeedleAt: whether a search looks for another term in each turn; it is on line 6.
func TestNeedleAt(t *testing.T) {
	for text, want := range map[string]needle{
		"for _, l := range lines {\n\nif strings.Contains(l, \"77\") {\nn++\n}\n}":                 needleFixed,
		"for _, l := range lines {\n\nif strings.Contains(l, term) {\nn++\n}\n}":                   needleFixed,
		"for _, l := range lines {\nfor _, term := range terms {\nn += strings.Index(l, term)\n}}": needleOfLoop,
		"for _, l := range lines {\nterm := next()\nn += strings.Count(l, term)\n}":                needleOfLoop,
		"for _, l := range lines {\n\nn += strings.Map(f, l)\n}":                                   needleUnknown,
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\nfunc f() {\n"+text+"\n}\n"))
		if got := NewInput(session.New(r.Open())).code.parse("a.go").needleAt(6); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestCP20ByHand: a loop of the program's own that searches is a warning, with its line.
func TestCP20ByHand(t *testing.T) {
	r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nphase cpu 0s..5s profiler=cpu")
	r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte("package main\n\nfunc f() {\nfor _, r := range in {\nfor i := range out {\nif out[i].key == r.key {\nbreak\n}\n}\n}\n}\n"))
	r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile("shop.f:/src/a.go:6 shop.g:/src/b.go:1\n= 60                40\n"))
	f := expect(t, "a nested loop", r, "CP20", Found, "60.0% of the CPU time goes into a loop in shop.f at a.go:6 that searches linearly for a match")
	severity(t, "CP20", f, Warning)
}

// TestCP20Grows: a list that grows by what it does not have yet is asked by a map beside it.
func TestCP20Grows(t *testing.T) {
	const (
		add  = "type set []item\n\nfunc (s *set) add(v item) {\n\tif s.has(v) { // A\n\t\treturn\n\t}\n\t*s = append(*s, v)\n}\n\n"
		keep = "type set []item\n\nfunc (s *set) add(v item) {\n\tif s.has(v) { // A\n\t\treturn\n\t}\n\tkeep(v)\n}\n\n"
		rest = "func (s set) has(v item) bool {\n\tfor _, x := range s {\n\t\tif x.ID() == v.ID() { // B\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}\n\nfunc all(s *set, items []item) {\n\tfor _, v := range items {\n\t\ts.add(v) // C\n\t}\n}\n"
	)
	for source, says := range map[string]string{add + rest: "keep a map keyed by what is compared beside the list.", keep + rest: "build it once, before the loop"} {
		text := "package main\n\n" + source
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nphase cpu 0s..5s profiler=cpu")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
		withProfile(r, recording.CPU, "cpu", column{stackAt(text, "main.all@C main.(*set).add@A main.set.has@B"), []int64{60}}, column{stackAt(text, "main.all@C"), []int64{40}})
		f := expect(t, says, r, "CP20", Found, "searches linearly for a match, over and over; the loop at main.go:")
		severity(t, says, f, Warning)
		if !f.saves || !strings.Contains(f.Advice, says) || strings.Contains(f.Advice, "The list grows between the searches (main.go:9)") != (source == add+rest) {
			t.Errorf("%s: %s", says, f.Advice)
		}
	}
}

// TestCP20Few: a search through a few elements, and one in a list that moves what was found to
// its front, are no warnings, and no gain is told of them.
func TestCP20Few(t *testing.T) {
	for source, says := range map[string]string{
		"var list = []int{1, 2}\nfunc f(k int) int {\nfor i, v := range list {\nif v == k {\nreturn i\n}\n}\nreturn 0\n}\n":          "According to the source list has 2 elements",
		"\nfunc f(k int) int {\nfor i, v := range list {\nif v == k {\nlist[0], list[i] = v, list[0]\nreturn 0\n}\n}\nreturn 0\n}\n": "moves to the front",
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nphase cpu 0s..5s profiler=cpu")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte("package main\n\n"+source))
		r.Put(recording.Entry{Path: "source/b.go", Kind: recording.Source, Source: "/src/b.go"}, []byte("package main\n\nfunc g() {\nfor {\nf(1)\n}\n}\n"))
		r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile("shop.g:/src/b.go:5 shop.h:/src/c.go:1\nshop.f:/src/a.go:6\n= 60                40\n"))
		f := expect(t, says, r, "CP20", Found, "searches linearly for a match")
		severity(t, says, f, Info)
		if f.saves || !strings.Contains(f.Advice, says) || strings.Contains(f.Advice, "four times") {
			t.Errorf("%s: %v %s", says, f.saves, f.Advice)
		}
	}
}

// TestSearchCompares: a search is told by a comparison that a call makes, too, and how it
// compares; what asks something of each element, or goes through all of them, is none. The
// loop is in a function that is called again and again; the condition is on line 5.
func TestSearchCompares(t *testing.T) {
	const few = "var few = []*net.IPNet{a, b, c}\n"
	for _, c := range []struct {
		name, source string
		want         comparison
	}{
		{"networks", "func f(ip net.IP) bool {\nfor _, n := range c.nets {\nif n.Contains(ip) {\nreturn true\n}\n}\nreturn false\n}\ntype c struct { nets []*net.IPNet }\n", matchNetwork},
		{"addresses", "func f(ip net.IP) bool {\nfor _, n := range c.addrs {\nif n.Equal(ip) {\nreturn true\n}\n}\nreturn false\n}\n", matchEqual},
		{"bytes", "func f(k []byte) int {\nfor i := range list {\nif bytes.Equal(list[i].key, k) {\nreturn i\n}\n}\nreturn -1\n}\n", matchEqual},
		{"compared", "func f(k string) int {\nfor i := range list {\nif strings.Compare(list[i].key, k) == 0 {\nreturn i\n}\n}\nreturn -1\n}\n", matchEqual},
		{"in any case", "func f(k string) *rule {\nfor _, r := range rules {\nif strings.EqualFold(r.name, k) {\nreturn r\n}\n}\nreturn nil\n}\n", matchFold},
		{"prefixes", "func f(path string) *route {\nfor _, r := range routes {\nif strings.HasPrefix(path, r.prefix) {\nreturn r\n}\n}\nreturn nil\n}\n", matchPrefix},
		{"patterns", "func f(path string) *route {\nfor _, r := range routes {\nif r.re.MatchString(path) && r.on {\nreturn r\n}\n}\nreturn nil\n}\n", matchPattern},
		{"ranges", "func f(n uint32) string {\nfor _, r := range ranges {\nif r.from <= n && n <= r.to {\nreturn r.country\n}\n}\nreturn \"\"\n}\n", matchRange},
		{"a function of its own", "func f(k key) *item {\nfor _, x := range list {\nif match(x) {\nreturn x\n}\n}\nreturn nil\n}\n", matchOther},
		{"prefixes of the elements", "func f(path string) *route {\nfor _, r := range routes {\nif strings.HasPrefix(r.prefix, path) {\nreturn r\n}\n}\nreturn nil\n}\n", matchBegins},
		{"suffixes", "func f(host string) *route {\nfor _, r := range routes {\nif strings.HasSuffix(host, r.domain) {\nreturn r\n}\n}\nreturn nil\n}\n", matchSuffix},
		{"two are equal", "func f(k, n string) *item {\nfor _, x := range list {\nif x.kind == k && x.name == n {\nreturn x\n}\n}\nreturn nil\n}\n", matchEqual},
		{"one is equal and another is fixed", "func f(n string) *item {\nfor _, x := range list {\nif x.kind == \"user\" && x.name == n {\nreturn x\n}\n}\nreturn nil\n}\n", matchEqual},
		{"equal up to the end", "func f(n int) *item {\nfor _, x := range list {\nif x.n == n {\nreturn x\n}\nif x.n > n {\nbreak\n}\n}\nreturn nil\n}\n", matchEqual},
		{"equal, of some that are not skipped by others", "func f(n int) *item {\nfor _, x := range list {\nif x.n == n {\nreturn x\n}\nif debug {\ncontinue\n}\n}\nreturn nil\n}\n", matchEqual},
		{"equal, of those that are on", "func f(n int) *item {\nfor _, x := range list {\nif x.n == n && x.on {\nreturn x\n}\n}\nreturn nil\n}\n", matchGroup},
		{"equal, of a prefix", "func f(host, path string) *route {\nfor _, r := range routes {\nif r.host == host && strings.HasPrefix(path, r.prefix) {\nreturn r\n}\n}\nreturn nil\n}\n", matchGroup},
		{"a prefix, of equal ones", "func f(host, path string) *route {\nfor _, r := range routes {\nif strings.HasPrefix(path, r.prefix) && r.host == host {\nreturn r\n}\n}\nreturn nil\n}\n", matchGroup},
		{"equal, of a least amount", "func f(kind string, n int) *tier {\nfor _, x := range tiers {\nif x.least <= n && x.kind == kind {\nreturn x\n}\n}\nreturn nil\n}\n", matchGroup},
		{"a wildcard", "func f(host, path string) *route {\nfor _, r := range routes {\nif (r.host == \"*\" || r.host == host) && strings.HasPrefix(path, r.prefix) {\nreturn r\n}\n}\nreturn nil\n}\n", matchRules},
		{"a wildcard alone", "func f(host string) *route {\nfor _, r := range routes {\nif r.host == host || r.any {\nreturn r\n}\n}\nreturn nil\n}\n", matchRules},
		{"an empty prefix", "func f(path string) *route {\nfor _, r := range routes {\nif r.prefix == \"\" || strings.HasPrefix(path, r.prefix) {\nreturn r\n}\n}\nreturn nil\n}\n", matchRules},
		{"another name of the element", "func f(k string) int {\nfor i := range list { r := &list[i]\nif r.key == k {\nreturn i\n}\n}\nreturn -1\n}\n", matchEqual},

		{"sums up", "func f(ip net.IP) (n int) {\nfor _, x := range c.nets {\nif x.Contains(ip) {\nn++\n}\n}\nreturn n\n}\n", matchNone},
		{"all are valid", "func f(ip net.IP) bool {\nfor _, x := range list {\nif !x.Allows(ip) {\nreturn false\n}\n}\nreturn true\n}\n", matchNone},
		{"encodes each", "func f(w io.Writer) error {\nfor _, x := range list {\nif err := x.Encode(w); err != nil {\nreturn err\n}\n}\nreturn nil\n}\n", matchNone},
		{"asks a set", "func f(set *set) string {\nfor _, x := range list {\nif set.Contains(x) {\nreturn x\n}\n}\nreturn \"\"\n}\n", matchNone},
		{"a class of characters", "func f(table *unicode.RangeTable) int {\nfor i, r := range text {\nif unicode.Is(table, r) {\nreturn i\n}\n}\nreturn -1\n}\n", matchNone},
		{"a separator", "func f(seps string) int {\nfor i, r := range text {\nif strings.ContainsRune(seps, r) {\nreturn i\n}\n}\nreturn -1\n}\n", matchNone},
		{"a literal", "func f() int {\nfor i, l := range lines {\nif strings.HasPrefix(l, \"//\") {\nreturn i\n}\n}\nreturn -1\n}\n", matchNone},
		{"something else for each", "func f(k string) int {\nfor i, x := range list {\nk = next(k)\nif x.key == k { // here\nreturn i\n}\n}\nreturn -1\n}\n", matchNone},
		{"a few", "func f(ip net.IP) bool {\nfor _, n := range few {\nif n.Contains(ip) {\nreturn true\n}\n}\nreturn false\n}\n" + few, matchNone},
		{"visits each", "func f(yield func(x) bool) {\nfor _, x := range list {\nif !yield(x) {\nreturn\n}\n}\n}\n", matchNone},
		{"a token", "func (s *scanner) f() token {\nfor i := s.pos; i < len(s.text); i++ {\nif s.isEnd(s.text[i]) {\ns.pos = i\nreturn token{}\n}\n}\n}\n", matchNone},
	} {
		got := searchByHand(sourceOf("package main\n\n"+c.source), stack.Frame{Func: "main.f", File: "a.go", Line: 5}, stack.Frame{}, true)
		if got.by != c.want || (got.kind == searchMany) != (c.want != matchNone) {
			t.Errorf("%s: %+v, want %d", c.name, got, c.want)
		}
	}
	for name, source := range map[string]string{
		"a wildcard of its own":          "func f(host string) *route {\nfor _, r := range routes {\nif r.host == host { // here\nreturn r\n}\nif r.host == \"*\" {\nreturn r\n}\n}\nreturn nil\n}\n",
		"a wildcard that is not skipped": "func f(host, path string) *route {\nfor _, r := range routes {\nif r.host != host && r.host != \"*\" {\ncontinue\n}\nif strings.HasPrefix(path, r.prefix) { // here\nreturn r\n}\n}\nreturn nil\n}\n",
	} {
		text := "package main\n\n" + source
		line := 1 + strings.Count(text[:strings.Index(text, "// here")], "\n")
		if got := searchByHand(sourceOf(text), stack.Frame{Func: "main.f", File: "a.go", Line: line}, stack.Frame{}, true); got.by != matchRules {
			t.Errorf("%s: %+v", name, got)
		}
	}
	skips := "package main\n\nfunc f(host, path string) *route {\nfor _, r := range routes {\nif r.host != host {\ncontinue\n}\nif strings.HasPrefix(path, r.prefix) {\nreturn r\n}\n}\nreturn nil\n}\n"
	if got := searchByHand(sourceOf(skips), stack.Frame{Func: "main.f", File: "a.go", Line: 8}, stack.Frame{}, true); got.by != matchGroup {
		t.Errorf("those of others are skipped: %+v", got)
	}
	found := sourceOf("package main\n\nfunc f(k int) any {\nfor _, r := range routes {\nif r.id == k {\nr.serve(w)\nreturn r\n}\n}\nreturn nil\n}\n")
	if got := searchByHand(found, stack.Frame{Func: "main.f", File: "a.go", Line: 6}, stack.Frame{}, true); got.kind != searchNone {
		t.Errorf("what is done with the one found: %+v", got)
	}
}

// TestCP20Request: a search in what a server calls for each request is a warning, also where
// the time is in the comparison that its loop calls; the work that is done for each element
// is none.
func TestCP20Request(t *testing.T) {
	record := func(samples string) *recordingtest.Recording {
		r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nphase cpu 0s..5s profiler=cpu")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte("package main\n\nfunc f(ip net.IP) bool {\nfor _, n := range nets {\nif n.Contains(ip) {\nreturn true\n}\nn.count()\n}\nreturn false\n}\nvar nets []*net.IPNet\n"))
		r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(samples))
		return r
	}
	const stack = "net/http.(*conn).serve:/go/server.go:9 runtime.main\nshop.serve:/src/b.go:3                 shop.g:/src/b.go:1\nshop.f:/src/a.go:%s\n%s\n= 60                40\n"
	for _, below := range []string{"net.(*IPNet).Contains:/go/ip.go:4", "shop.contains:/src/c.go:7"} {
		f := expect(t, below, record(fmt.Sprintf(stack, "5", below)), "CP20", Found, "60.0% of the CPU time goes into a loop in shop.f at a.go:5 that searches linearly for a match")
		severity(t, below, f, Warning)
		if !strings.Contains(f.Advice, "prefix tree") || strings.Contains(f.Advice, "both loops") {
			t.Errorf("%s: %s", below, f.Advice)
		}
		if !slices.Contains(f.Doubts, firstDoubt) || !slices.Contains(f.Doubts, changesDoubt) {
			t.Errorf("%s: the doubts are %q", below, f.Doubts)
		}
	}
	for _, below := range []string{"shop.count:/src/c.go:7", "fmt.Sprint:/go/print.go:7"} {
		for _, f := range answers(t, record(fmt.Sprintf(stack, "8", below)), "CP20") {
			if f.State == Found {
				t.Errorf("the work on each, in %s: %s", below, f.Summary)
			}
		}
	}
}

// TestCP20Rules: where the first of several rules decides, no map is advised, nor a gain told; a call with a
// function compares as that does.
func TestCP20Rules(t *testing.T) {
	for _, c := range []struct {
		name, source, frames, says string
		severity                   Severity
	}{
		{"a wildcard", "func f(host string) int {\n\tfor _, r := range rules {\n\t\tif r.host == \"*\" || r.host == host { // A\n\t\t\treturn r.to\n\t\t}\n\t}\n\treturn 0\n}\n", "net/http.(*conn).serve main.f@A", "The condition has alternatives", Info},
		{"equal", "func f(host string) int {\n\tfor _, r := range rules {\n\t\tif r.host == host { // A\n\t\t\treturn r.to\n\t\t}\n\t}\n\treturn 0\n}\n", "net/http.(*conn).serve main.f@A", "a map keyed by what is compared", Warning},
		{"equal, and a prefix", "func f(host, path string) int {\n\tfor _, r := range rules {\n\t\tif r.host == host && strings.HasPrefix(path, r.prefix) { // A\n\t\t\treturn r.to\n\t\t}\n\t}\n\treturn 0\n}\n", "net/http.(*conn).serve main.f@A", "test the rest of the condition on these alone", Warning},
		{"a wildcard, in a function", "func f(host string) int {\n\treturn slices.IndexFunc(rules, func(r rule) bool { return r.host == \"*\" || r.host == host }) // A\n}\n", "net/http.(*conn).serve main.f@A slices.IndexFunc[...]", "The condition has alternatives", Info},
		{"equal, in a function", "func f(host string) int {\n\treturn slices.IndexFunc(rules, func(r rule) bool { return r.host == host }) // A\n}\n", "net/http.(*conn).serve main.f@A slices.IndexFunc[...]", "a map keyed by what is compared", Warning},
		{"by a function from elsewhere", "func f(host string) int {\n\treturn slices.IndexFunc(rules, matcher(host)) // A\n}\n", "net/http.(*conn).serve main.f@A slices.IndexFunc[...]", "a prefix tree (trie) where it is a prefix", Warning},
		{"without a function", "func f(host string) int {\n\treturn slices.Index(hosts, host) // A\n}\n", "net/http.(*conn).serve main.f@A slices.Index[...]", "a map keyed by what is compared", Warning},
	} {
		text := "package main\n\n" + c.source
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
		withProfile(r, recording.CPU, "cpu", column{stackAt(text, c.frames), []int64{80}}, column{"main.main main.other:/src/other.go:3", []int64{20}})
		f := expect(t, c.name, r, "CP20", Found, "")
		severity(t, c.name, f, c.severity)
		if !strings.Contains(f.Advice, c.says) || c.severity == Info && (f.saves || f.grows) {
			t.Errorf("%s: %v %v %s", c.name, f.saves, f.grows, f.Advice)
		}
	}
}
