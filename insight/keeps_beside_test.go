package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// besideSource has caches that a helper fills: its line 4 allocates, and line 7 puts that into what the case declares.
func besideSource(cache string) string {
	return `package main

func doc(n int) []byte {
	return bytes.Repeat([]byte{byte(n)}, 60<<10)
}
func handle(c *cache, n int) {
	c.Put(n, doc(n))
}
` + cache
}

// besideLinked and besideGenerations begin a cache, up to what its Put does.
const besideLinked = `type cache struct {
	used, max int
	l *list.List
	m map[int]*list.Element
}
func (c *cache) Put(n int, v []byte) {
	c.m[n] = c.l.PushFront(&entry{n: n, v: v})
`

const besideGenerations = `type cache struct {
	young, old map[int][]byte
	turned time.Time
	every time.Duration
}
func (c *cache) Put(n int, v []byte) {
`

// besideCases are what is found of each.
var besideCases = []struct {
	name, source string
	info         bool
	says         string // in the advice
}{
	{"bytes, in a helper", besideLinked + `	c.used += len(v)
	c.shrink()
}
func (c *cache) shrink() {
	for c.used > c.max {
		e := c.l.Remove(c.l.Back()).(*entry)
		delete(c.m, e.n)
		c.used -= len(e.v)
	}
}
`, true, "It goes into c.l, from which something is taken out at a.go:20 when c.used > c.max: it fills up to there and no further."},
	{"as long as there is any", besideLinked + `	c.used += len(v)
	for c.used > c.max && c.l.Len() > 0 {
		c.drop(c.l.Back())
	}
}
func (c *cache) drop(e *list.Element) {
	c.used -= len(c.l.Remove(e).(*entry).v)
}
`, true, "taken out at a.go:17"},
	{"its length", besideLinked + `	if c.l.Len() > c.max {
		c.l.Remove(c.l.Back())
	}
}
`, true, "something is taken out at a.go:16 when c.l.Len() > c.max"},
	{"only where a limit is set", besideLinked + `	c.used += len(v)
	for c.max > 0 && c.used > c.max {
		c.used -= len(c.l.Remove(c.l.Back()).(*entry).v)
	}
}
`, false, "It goes into the list c.l, from which elements are removed: check whether that keeps up"},
	{"nothing counts up", besideLinked + `	for c.used > c.max {
		c.used -= len(c.l.Remove(c.l.Back()).(*entry).v)
	}
}
`, false, "check whether that keeps up"},
	{"it may leave before", besideLinked + `	c.used += len(v)
	if n == 0 {
		return
	}
	for c.used > c.max {
		c.used -= len(c.l.Remove(c.l.Back()).(*entry).v)
	}
}
`, false, "check whether that keeps up"},
	{"one at a time, of bytes", besideLinked + `	c.used += len(v)
	if c.used > c.max {
		c.used -= len(c.l.Remove(c.l.Back()).(*entry).v)
	}
}
`, false, "check whether that keeps up"},
	{"never removed", besideLinked + `}
`, false, "nothing in the source removes from one of this name"},
	{"two generations by the time", besideGenerations + `	if time.Since(c.turned) > c.every {
		c.old, c.young, c.turned = c.young, map[int][]byte{}, time.Now()
	}
	c.young[n] = v
}
`, true, "It goes into c.young, which a new one replaces at a.go:15, and what was there before is released with the turn after that: two generations are kept at most."},
	{"two generations in a helper", besideGenerations + `	c.turn()
	c.young[n] = v
}
func (c *cache) turn() {
	if time.Since(c.turned) < c.every {
		return
	}
	c.old = c.young
	c.young = map[int][]byte{}
	c.turned = time.Now()
}
`, true, "two generations are kept at most"},
	{"two generations by the length", besideGenerations + `	if len(c.young) >= 1000 {
		c.old, c.young = c.young, make(map[int][]byte)
	}
	c.young[n] = v
}
`, true, "two generations are kept at most"},
	{"generations that are all kept", `type cache struct {
	young map[int][]byte
	old []map[int][]byte
	turned time.Time
}
func (c *cache) Put(n int, v []byte) {
	if time.Since(c.turned) > every {
		c.old = append(c.old, c.young)
		c.young = map[int][]byte{}
	}
	c.young[n] = v
}
`, false, ""},
	{"a turn that a flag decides", besideGenerations + `	if c.full {
		c.old, c.young = c.young, map[int][]byte{}
	}
	c.young[n] = v
}
`, false, ""},
	{"a ring", `type cache struct {
	ring [][]byte
	n int
}
func (c *cache) Put(n int, v []byte) {
	c.ring[c.n%len(c.ring)] = v
	c.n++
}
`, true, "a ring by its index"},
	{"a leak", `type cache struct {
	all [][]byte
}
func (c *cache) Put(n int, v []byte) {
	c.all = append(c.all, v)
}
`, false, "It is appended to c.all"},
}

// TestBoundBeside: what bounds a container where something is put into it makes the finding an info that names the line; what may not run,
// counts something else or takes nothing out does not.
func TestBoundBeside(t *testing.T) {
	for _, x := range besideCases {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(besideSource(x.source)))
		in := NewInput(session.New(r.Open()))
		at := stack.Frame{Func: "main.doc", File: "a.go", Line: 4}
		f := Finding{Severity: Warning}
		tellHolder(in, &f, at, []stack.Frame{at, {Func: "main.handle", File: "a.go", Line: 7}}, heldBy)
		if (f.Severity == Info) != x.info || !strings.Contains(f.Advice, x.says) || x.says == "" && strings.Contains(f.Advice, "at most") {
			t.Errorf("%s: severity %v, %s\nwant info %v, %q", x.name, f.Severity, f.Advice, x.info, x.says)
		}
	}
}

// TestFollowsLocal: a method of a variable that the function itself makes is found by its type, among others of its name.
func TestFollowsLocal(t *testing.T) {
	const source = `package main

func doc(n int) []byte {
	return bytes.Repeat([]byte{byte(n)}, 60<<10)
}
func main() {
	c, d := NewCache[int, []byte](), NewOther()
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		c.Put(1, doc(1))
		d.Put(doc(2))
	})
}
func NewCache[K comparable, V any]() *Cache[K, V] { return &Cache[K, V]{} }
func NewOther() *Other { return &Other{} }
type Cache[K comparable, V any] struct{ all []V }
func (c *Cache[K, V]) Put(k K, v V) { c.all = append(c.all, v) }
type Other struct{ every [][]byte }
func (o *Other) Put(v []byte) { o.every = append(o.every, v) }
`
	r := recordingtest.New("title x")
	r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(source))
	in := NewInput(session.New(r.Open()))
	at := stack.Frame{Func: "main.doc", File: "a.go", Line: 4}
	for line, want := range map[int]string{9: "It is appended to c.all", 10: "It is appended to o.every"} {
		f := Finding{Severity: Warning}
		tellHolder(in, &f, at, []stack.Frame{at, {Func: "main.main.func1", File: "a.go", Line: line}}, heldBy)
		if !strings.Contains(f.Advice, want) {
			t.Errorf("line %d: %s\nwant %q", line, f.Advice, want)
		}
	}
}
