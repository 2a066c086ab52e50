package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestFreshKeys: what a line makes a part of a new object goes where that goes, also as the key of a map; one that is a
// pointer to it is found by no later call, unless it is not made there, or what is found by it is deleted.
func TestFreshKeys(t *testing.T) {
	const anew = "Its key is a pointer to a "
	for _, c := range []heldCase{
		{"a memo by pointer", `func of(name string) *unit { return &unit{
	tags: map[string]string{"name": name}, // 4
} }
func handle(b *book, name string) {
	u := of(name)
	b.names.Name(u)
}
type namer interface{ Name(*unit) string }
type book struct { names namer }
type memo struct { known map[*unit]string }
func (m *memo) Name(u *unit) string {
	if s, ok := m.known[u]; ok { return s }
	s := u.text()
	m.known[u] = s
	return s
}`, anew + "unit made anew at a.go:4", 16, []int{7}},
		{"in a struct that is the key", `func of(name string) *unit { return &unit{
	tags: make([]string, 9),
} }
func handle(b *book, name string) {
	u := of(name)
	b.known[place{b.shelf, u}] = 1
}
type place struct { shelf int; of *unit }
type book struct { shelf int; known map[place]int }`, anew + "unit", 8, []int{7}},
		{"a field that is set later", `func of(b *book) {
	u := &unit{}; u.tags = make([]string, 9)
	b.known.Store(u, true)
}
type book struct { known sync.Map }`, anew + "unit made anew at a.go:4", 5, nil},
		{"a field that is set on a line of its own", `func of(b *book, u *unit) { u = &unit{}
	u.tags = make([]string, 9)
	b.known[u] = true
}
type book struct { known map[*unit]bool }`, anew + "unit", 5, nil},
		{"by an interface, in a sync.Map", `func of(b *book) {
	u := &unit{tags: make([]string, 9)}
	b.known.Store(u, 1)
}
type book struct { known sync.Map }`, anew + "unit", 5, nil},
		{"deleted when it ends", `func serve(b *book) {
	c := &conn{buf: make([]byte, 4096)}
	b.open[c] = true
	c.run()
	delete(b.open, c)
}
type book struct { open map[*conn]bool }`, "from which entries are deleted", 7, nil},
		{"by its text", `func handle(b *book, name string) {
	u := &unit{tags: make([]string, 9)}
	b.known[u.name] = u
}
type book struct { known map[string]*unit }`, "nothing in the source deletes from a map of this name. If its entries can be made again", 5, nil},
		{"by somebody else's pointer", `func handle(b *book, p *peer) {
	u := &unit{tags: make([]string, 9)}
	b.known[p] = u
}
type book struct { known map[*peer]*unit }`, "nothing in the source deletes from a map of this name. If its entries can be made again", 5, nil},
		{"over a channel, by a callback", `func accept(b *book) { for { u := &unit{
	tags: make([]string, 9),
}
	b.queue <- u
} }
func (b *book) run() {
	for u := range b.queue {
		b.each(u, func(v *unit) { b.known[v]++ })
	}
}
func (b *book) each(u *unit, f func(*unit)) { f(u) }
type book struct { queue chan *unit; known map[*unit]int }`, "goes into", 0, nil},
		{"over a channel", `func accept(b *book) { for { u := &unit{
	tags: make([]string, 9),
}
	b.queue <- u
} }
func (b *book) run() {
	for u := range b.queue {
		b.note(u)
	}
}
func (b *book) note(u *unit) { b.known[u] = 1 }
type book struct { queue chan *unit; known map[*unit]int }`, anew + "unit", 13, nil},
		{"in a struct that goes over a channel", `func accept(b *book) { u := &unit{
	tags: make([]string, 9),
}
	b.queue <- item{of: u, n: 1}
}
func (b *book) run() {
	for x := range b.queue {
		b.known[x.of] = x.n
	}
}
type item struct { of *unit; n int }
type book struct { queue chan item; known map[*unit]int }`, anew + "unit", 10, nil},
		{"counted by ++", `func count(b *book) { u := &unit{
	tags: make([]string, 9),
}
	b.known[u]++
}
type book struct { known map[*unit]int }`, anew + "unit", 6, nil},
		{"in a function that stands in a literal", `func of(b *book) { b.later = &job{run: func() int {
	x := make([]int, 9); return len(x)
}} }
type book struct { later *job }`, "", 0, nil},
		{"what a function in a literal returns", `func of(b *book) { b.jobs[1] = &job{size: count(1,
	make([]int, 9),
)} }
type book struct { jobs map[int]*job }`, "", 0, nil},
	} {
		c.check(t)
	}
}

// TestKeepsFirst: the line that keeps memory comes before the others, where the source shows nothing that takes it out; and
// that of several implementations which the recording has seen at work.
func TestKeepsFirst(t *testing.T) {
	const source = "func (s *server) answer(u *unit) {\n\tu = &unit{tags: make([]string, 9)}\n\ts.k.Keep(u)\n}\ntype keeper interface{ Keep(*unit) }\ntype server struct { k keeper }\ntype a struct { all map[int]*unit }\n" +
		"func (x *a) Keep(u *unit) {\n\tx.all[1] = u\n}\ntype b struct { every map[int]*unit }\nfunc (x *b) Keep(u *unit) {\n\tx.every[u.n] = u\n}\n"
	for _, c := range []struct {
		name, more, first string
	}{
		{"nothing is deleted", "", "it goes into x.every here, and nothing in the source deletes from it"},
		{"some are deleted", "func (x *b) end(n int) { delete(x.every, n) }\n", "it was there before"},
	} {
		r := recordingtest.New("title x\ntarget package . module=main\nphase heap 0s..9s profiler=heap\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte("package main\n\n"+source+c.more))
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, heapProfile(column{"main.main main.(*b).Keep:/src/a.go:15", []int64{9, 999, 9, 999}}))
		in := NewInput(session.New(r.Open()))
		at := stack.Frame{Func: "main.(*server).answer", File: "/src/a.go", Line: 4}
		f := Finding{Severity: Warning, Evidence: []Evidence{{Text: "it was there before"}}}
		tellHolder(in, &f, at, []stack.Frame{at}, heldBy)
		if f.Evidence[0].Text != c.first {
			t.Errorf("%s: %+v", c.name, f.Evidence)
		}
		if strings.Contains(f.Summary, "implementations") || !strings.Contains(f.Summary, "b.every") {
			t.Errorf("%s: %s", c.name, f.Summary)
		}
	}
	f := Finding{Severity: Warning}
	tellHolder(NewInput(session.New(recordingtest.New("title x").Open())), &f, stack.Frame{}, nil, heldBy)
	if !strings.Contains(f.Advice, "-phases core") {
		t.Errorf("without a holder: %s", f.Advice)
	}
}

// TestIndexKept: a map that nothing is deleted from may be an index that has to be complete: a bound is not advised without saying so.
func TestIndexKept(t *testing.T) {
	heldCase{"an index that is only read afterwards", `func load(b *book, name string) {
	b.index[name] = entry{size: len(name)}
}
func (b *book) find(name string) (entry, bool) {
	e, ok := b.index[name]
	return e, ok
}
type entry struct { size int }
type book struct { index map[string]entry }`, "If all have to be found (an index, a table that is loaded once), a bound would lose data", 0, nil}.check(t)
}
