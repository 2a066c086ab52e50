package insight

import (
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestNearBound: a bound of what line 4 allocates is found in what it calls and in whatever else
// handles the container; what has nothing to do with it is none.
func TestNearBound(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		line   int // of the bound; 0 for none
	}{
		"a list with a capacity": {`func f(c *lru) {
	c.add(1, make([]byte, 512))
}
func (c *lru) add(i int, v []byte) {
	c.m[i] = c.l.PushFront(ent{i, v})
	c.trim()
}
func (c *lru) trim() {
	for c.size > c.max {
		delete(c.m, c.l.Remove(c.l.Back()).(ent).k)
	}
}`, 11},
		"the room of a channel": {`func f() {
	queue <- make([]byte, 512)
}
var queue = make(chan []byte, 5000)`, 6},
		"a channel without room": {`func f() {
	queue <- make([]byte, 512)
}
var queue = make(chan []byte)`, 0},
		"a batch that is cut": {`func f(b *batch) {
	b.items = append(b.items, make([]byte, 512))
}
func (b *batch) flush() {
	send(b.items)
	b.items = b.items[:0]
}`, 8},
		"a timer that deletes": {`func f(c *cache, k string) {
	c.m[k] = make([]byte, 512)
	time.AfterFunc(time.Minute, func() { delete(c.m, k) })
}`, 5},
		"only added to": {`func f(c *cache, k string) {
	c.m[k] = make([]byte, 512)
}
func other(o *cache) {
	delete(o.seen, "x")
	o.rest = o.rest[:0]
}`, 0},
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\n"+c.source+"\n"))
		at, found := nearBound(NewInput(session.New(r.Open())).code, []stack.Frame{{Func: "main.f", File: "a.go", Line: 4}})
		if found != (c.line > 0) || at.Line != c.line {
			t.Errorf("%s: line %d, want %d (%s)", name, at.Line, c.line, at.Text)
		}
	}
}
