package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// heldCase is a source whose line 4 allocates what is kept.
type heldCase struct {
	name, source string
	advises      string // "" is nothing
	shows        int    // a line of the evidence
	callers      []int
}

func (c heldCase) check(t *testing.T) {
	t.Helper()
	r := recordingtest.New("title x")
	r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\n"+c.source+"\n"))
	in := NewInput(session.New(r.Open()))
	at := stack.Frame{Func: "main.f", File: "a.go", Line: 4}
	frames := []stack.Frame{at}
	for _, line := range c.callers {
		frames = append(frames, stack.Frame{Func: "main.g", File: "a.go", Line: line})
	}
	f := Finding{}
	tellHolder(in, &f, at, frames, "otherwise")
	if c.advises == "" {
		if f.Advice != "otherwise" {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
		return
	}
	if !strings.Contains(f.Advice, c.advises) {
		t.Errorf("%s: %s\nwant %q", c.name, f.Advice, c.advises)
	}
	if c.shows > 0 && !shows(&f, evidenceLine(Evidence{File: "a.go", Line: c.shows})) {
		t.Errorf("%s: evidence %+v, want line %d", c.name, f.Evidence, c.shows)
	}
}

// TestHolder: the source says what holds the memory that line 4 allocates, and says nothing
// where it does not.
func TestHolder(t *testing.T) {
	for _, c := range []heldCase{
		{"a slice of a file", `func scan(s *index, name string) {
	content, err := os.ReadFile(name)
	at := bytes.Index(content, mark)
	found := match{Name: name, Text: content[at : at+20]}
	s.all = append(s.all, found)
}`, "a part of it (a slice or a substring) goes into s.all", 7, nil},
		{"a copy of a slice of a file", `func scan(s *index, name string) {
	content, err := os.ReadFile(name)
	s.all = append(s.all, bytes.Clone(content[4:8]))
}`, "", 0, nil},
		{"a slice that is only read", `func scan(s *index, name string) {
	content, err := os.ReadFile(name)
	s.sum += binary.LittleEndian.Uint32(content[4:8])
	content = content[8:]
}`, "", 0, nil},
		{"the name that was cut from a text", `func read(s *index) string {
	text := strings.Repeat("a=b;", 100)
	return text
}
func handle(s *index) {
	eachPair(read(s), func(pair string) { s.add(pair) })
}
func eachPair(text string, f func(pair string)) {
	for text != "" {
		pair, rest, _ := strings.Cut(text, ";")
		text = rest
		f(pair)
	}
}
func (s *index) add(v string) {
	s.known[v] = true
}`, "a part of it (a slice or a substring) goes into s.known", 18, []int{8}},
		{"a map without a bound", `func answer(s *server, key string) []byte {
	body, err := json.Marshal(find(key))
	s.mu.Lock()
	s.cache[key] = body
	return body
}`, "nothing in the source deletes from a map of this name", 6, nil},
		{"a map that is deleted from", `func answer(s *server, key string) {
	s.cache[key] = entry{at: time.Now()}
}
func tidy(s *server) {
	for key, e := range s.cache {
		if e.old() { delete(s.cache, key) }
	}
}`, "does not shrink when entries are deleted", 8, nil},
		{"a context", `func run(parent context.Context) {
	ctx, cancel := context.WithTimeout(parent, time.Hour)
	if work(ctx) {
		cancel()
	}
}`, "defer cancel()", 0, nil},
		{"a context whose cancel function somebody else calls", `func run(parent context.Context) {
	ctx, cancel := context.WithTimeout(parent, time.Hour)
	work(ctx, cancel)
}`, "cancel is handed on: check that whoever has it calls it", 0, nil},
		{"a value in a context", `func run(parent context.Context) {
	ctx := context.WithValue(parent, key{}, make([]byte, 100))
	work(ctx)
}`, "", 0, nil},
		{"a timer", `func watch(s *server) {
	time.AfterFunc(time.Hour, s.expire)
}`, "Stop it", 0, nil},
		{"a finalizer", `func open() *db {
	d := &db{mem: make([]byte, 100)}
	d.self = d
	runtime.SetFinalizer(d, (*db).close)
	return d
}`, "AddCleanup", 6, nil},
		{"a buffer of a pool", `func (b *buffer) add(text string) {
	b.text = append(b.text, text...)
}
func (p *pool) put(b *buffer) {
	b.text = b.text[:0]
	p.free.Put(b)
}`, "oversized buffers instead of putting them back", 8, nil},
		{"a buffer of no pool", `func (b *buffer) add(text string) {
	b.text = append(b.text, text...)
}
func use(b *buffer) {
	p.free.Put(new(other))
}`, "check whether that is ever shortened", 4, nil},
		{"a channel", `func push(q *queue, n int) {
	q.jobs <- make([]byte, n)
}`, "goes into the channel q.jobs", 4, nil},
		{"what lives as long as the call", `func use(n int) int {
	text := make([]byte, n)
	return len(text)
}`, "", 0, nil},
	} {
		c.check(t)
	}
}

// TestBoundedAt: what takes something out when a length is reached is told from what only
// adds.
func TestBoundedAt(t *testing.T) {
	for body, want := range map[string]bool{
		"c.m[k] = make([]byte, 512)\nif len(c.m) > c.max {\nc.removeOldest()\n}":                      true,
		"x := make([]byte, 512)\nfor c.order.Len() > c.max {\ndelete(c.m, c.order.Back())\n}":         true,
		"c.m[k] = make([]byte, 512)\nif len(c.m) > c.max {\nlog.Println(\"large\")\n}":                false,
		"c.m[k] = make([]byte, 512)\nif expired {\ndelete(c.m, k)\n}":                                 false,
		"c.m[k] = make([]byte, 512)\nif c.limit > 0 {\nif len(c.m) > c.limit {\ndelete(c.m, k)\n}\n}": false,
		"c.m[k] = make([]byte, 512)\nif c.limit > 0 && len(c.m) > c.limit {\ndelete(c.m, k)\n}":       false,
		"c.m[k] = make([]byte, 512)": false,
		"young[k] = make([]byte, 512)\nif len(young) >= 5000 {\nold, young = young, map[int][]byte{}\n}":                                                  true,
		"c.m[k] = make([]byte, 512)\nif old := c.ring[c.next]; old >= 0 {\ndelete(c.m, old)\n}\nc.ring[c.next] = k\nc.next = (c.next + 1) % len(c.ring)":  true,
		"c.m[k] = make([]byte, 512)\ndelete(c.m, c.ring[n%1000].key)\nc.ring[n%1000].key = k\nc.ring[n%1000] = e":                                         true,
		"c.m[k] = make([]byte, 512)\nold := c.ring[i]\ndelete(c.m, old)\nc.ring[i] = k\ni++\nif i == len(c.ring) {\ni = 0\n}":                             true,
		"c.m[k] = make([]byte, 512)\nold := c.ring[i]\ndelete(c.m, old)\nc.ring[i] = k\ni++\nc.ring = append(c.ring, 0)":                                  false, // it does not come round
		"c.m[k] = make([]byte, 512)\nold := c.ring[c.next]\ndelete(c.m, old)\nc.next = (c.next + 1) % len(c.ring)":                                        false, // the new key is not in it
		"c.m[k] = make([]byte, 512)\nif c.limited {\nold := c.ring[c.next]\ndelete(c.m, old)\nc.ring[c.next] = k\n}\nc.next = (c.next + 1) % len(c.ring)": false, // if a limit is set
		"c.m[k] = make([]byte, 512)\nold := c.ring[c.next]\ndelete(c.n, old)\nc.ring[c.next] = k\nc.next = (c.next + 1) % len(c.ring)":                    false, // of another map
		"young[k] = make([]byte, 512)\nif len(args) >= 2 {\nargs = nil\n}":                                                                                false,
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\nfunc f() {\n"+body+"\n}\n"))
		at := stack.Frame{Func: "main.f", File: "a.go", Line: 4}
		if _, got := boundedAt(NewInput(session.New(r.Open())).code, []stack.Frame{at}); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}

// TestExceeded: a bound of the source that far more is in use than is said to fail; up to it, or
// where nobody can say how many there are, it is a reason to wait.
func TestExceeded(t *testing.T) {
	const adds = "\tbroken[k] = make([]byte, 4096)\n"
	for _, c := range []struct {
		name, of, source string
		objects          int64
		fails            bool
	}{
		{"a map of which there may be many", "m", "func (m cache) add(k int) {\n\tm[k] = make([]byte, 4096)\n\tif len(m) > 2000 {\n\t\tdelete(m, k)\n\t}\n}\n", 20000, true},
		{"by a list of keys", "order", "func add(k int) {\n" + adds + "\torder = append(order, k)\n\tif len(order) > 2000 {\n\t\tdelete(broken, order[0]+1)\n\t\torder = order[1:]\n\t}\n}\n", 20000, true},
		{"far more", "broken", "func add(k int) {\n" + adds + "\tif len(broken) > 2000 {\n\t\tdelete(broken, k)\n\t}\n}\n", 20000, true},
		{"by a constant", "broken", "func add(k int) {\n" + adds + "\tif len(broken) > most {\n\t\tdelete(broken, k)\n\t}\n}\nconst most = 2000\n", 20000, true},
		{"by a variable", "broken", "func add(k int) {\n" + adds + "\tif len(broken) > most {\n\t\tdelete(broken, k)\n\t}\n}\nvar most = 2000\n", 20000, false},
		{"two generations", "broken", "func add(k int) {\n" + adds + "\tif len(broken) > 2000 {\n\t\told, broken = broken, map[int][]byte{}\n\t}\n}\n", 4000, false},
		{"of something else", "broken", "func add(k int) {\n" + adds + "\tif len(args) > 2000 {\n\t\tdelete(broken, k)\n\t}\n}\n", 20000, false},
		{"by a list for some alone", "broken", "func add(k int) {\n" + adds + "\tif some(k) {\n\t\torder = append(order, k)\n\t}\n\tif len(order) > 2000 {\n\t\tdelete(broken, order[0])\n\t}\n}\n", 20000, false},
		{"many for each", "broken", "func add(k int) {\n\tfor {" + adds + "\t}\n\tif len(broken) > 2000 {\n\t\tdelete(broken, k)\n\t}\n}\n", 20000, false},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase heap 9s..10s profiler=heap\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte("package shop\n\n"+c.source))
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, heapProfile(column{"main.main shop.add:/src/a.go:4", []int64{c.objects, c.objects * 4096, c.objects, c.objects * 4096}}))
		in := NewInput(session.New(r.Open()))
		at := stack.Frame{Func: "shop.add", File: "/src/a.go", Line: 4}
		f := Finding{Severity: Warning}
		tellHolder(in, &f, at, []stack.Frame{at}, "otherwise")
		says := strings.Contains(f.Advice, "when the length of "+c.of+" reaches 2,000, but 20,000 objects from this line are in use: that does not work. Check")
		if c.name == "a map of which there may be many" {
			says = strings.Contains(f.Advice, "that does not work, or there are many of these, each with its own bound")
		}
		if (f.Severity == Warning) != c.fails || says != c.fails {
			t.Errorf("%s: %s %s; %v", c.name, f.Severity, f.Advice, f.Doubts)
		}
	}
}

// TestHolderBounds: a container is told from another one of its name, and from what a new object has one of;
// rings, heaps and parts that are all kept are known.
func TestHolderBounds(t *testing.T) {
	for _, c := range []heldCase{
		{"a map of another's of the name is deleted from", `func add(m map[string][]byte) {
	b := read()
	m[key(b)] = b
}
func drop() { delete(kept.m, 1) }`, "nothing in the source deletes from a map of this name", 0, nil},
		{"a ring by its index", `func (r *ring) add() {
	b := read()
	r.places[r.n%len(r.places)] = b
}`, "a ring by its index", 0, nil},
		{"a heap", `func (q *queue) add() {
	b := read()
	heap.Push(&q.due, b)
}`, "It is appended to q.due", 0, nil},
		{"all lines of a text", `func (s *store) add() {
	page := string(read())
	for _, l := range strings.Split(page, "\n") {
		s.lines = append(s.lines, l)
	}
}`, "It is appended to s.lines", 0, nil},
		{"one element of a new object", `func (q *board) take() {
	l := &lease{}; b := read()
	l.undo = append(l.undo, b)
	q.all[id] = l
}`, "It goes into q.all", 0, nil},
		{"both sides of a separator", `func (q *board) take() {
	m := &message{}; s := string(read())
	m.kind, m.rest, _ = strings.Cut(s, " ")
	q.all[id] = m
}`, "It goes into q.all", 0, nil},
	} {
		c.check(t)
	}
}
