package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// saidOf is what a finding says of what line 4 of a source allocates.
func saidOf(source string) Finding {
	r := recordingtest.New("title x")
	r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main; import (\"sync\"; \"sync/atomic\"; \"maps\"; \"time\"; \"example.org/lib\")\n\n"+source+"\n"))
	at := stack.Frame{Func: "main.f", File: "a.go", Line: 4}
	f := Finding{Severity: Warning}
	tellHolder(NewInput(session.New(r.Open())), &f, at, []stack.Frame{at}, "otherwise")
	return f
}

// futures is a client that keeps what waits for an answer in a map, where lines stand for the ways
// out of waiting.
func futures(timeout string) string {
	return `func f(c *client) {
	c.to.Send(&request{body: make([]byte, 8192)})
}
type sender interface { Send(m *request) error }
type client struct { to sender }
type conn struct { waiting futures; timer chan int }
type futures struct { pending, merged sync.Map }
type future struct { m *request; done chan int }
func (f *futures) Put(m *request) *future {
	fu := &future{m: m, done: make(chan int)}
	f.pending.Store(m.id, fu)
	return fu
}
func (f *futures) Complete(id int) { f.pending.LoadAndDelete(id) }
func (f *futures) Remove(id int) { f.pending.Delete(id) }
func (f *futures) RemoveMerged(id int) { f.merged.Delete(id) }
func (c *conn) Send(m *request) error {
	fu := c.waiting.Put(m)
	if err := c.write(m); err != nil {
		c.waiting.Remove(m.id)
		return err
	}
	return c.wait(m, fu)
}
func (c *conn) wait(m *request, fu *future) error {
	select {
	case <-fu.done:
		return nil
	case <-c.timer:
		` + timeout + `
	}
}
func (c *conn) write(m *request) error { return nil }
type request struct { id int; body []byte }
var ErrTimeout error`
}

// TestLeftIn: what goes into a map of the program, through a method of an interface, is named by
// the map; and so is the way that leaves an entry in it, where others take it out.
func TestLeftIn(t *testing.T) {
	const pending = "it goes into the sync.Map futures.pending at a.go:13"
	for _, c := range []struct {
		name, source string
		says         string
		leaves       string // empty where no way does
	}{
		{"a timeout that takes it out of another map", futures("c.waiting.RemoveMerged(m.id)\n\t\treturn ErrTimeout"), pending,
			"the return at a.go:33 leaves its entry in it, unless futures.Complete (a.go:16) deletes it later"},
		{"a timeout that takes it out", futures("c.waiting.Remove(m.id)\n\t\treturn ErrTimeout"), pending, ""},
		{"a timeout that leaves it on purpose", futures("return nil"), pending, ""},
		{"a map of calls", `func f(c *client, id int) error {
	c.calls[id] = &call{buf: make([]byte, 8192), done: make(chan int)}
	if err := c.write(id); err != nil {
		return err
	}
	c.read(id)
	delete(c.calls, id)
	return nil
}
type client struct { calls map[int]*call }`, "the line adds to the map client.calls", "the return at a.go:6 leaves"},
		{"a map of calls with defer", `func f(c *client, id int) error {
	c.calls[id] = &call{buf: make([]byte, 8192), done: make(chan int)}
	defer delete(c.calls, id)
	if err := c.write(id); err != nil {
		return err
	}
	return nil
}
type client struct { calls map[int]*call }`, "client.calls", ""},
		{"a cache with a bound", `func f(c *cache, id int) error {
	c.items[id] = make([]byte, 8192)
	if len(c.items) > 100 {
		delete(c.items, id)
	}
	if err := c.log(id); err != nil {
		return err
	}
	return nil
}
type cache struct { items map[int][]byte }`, "", ""},
		{"a registry that takes back what fails", `func f(r *registry, id int) error {
	r.items[id] = make([]byte, 8192)
	if err := r.log(id); err != nil {
		delete(r.items, id)
		return err
	}
	return nil
}
type registry struct { items map[int][]byte }`, "registry.items", ""},
		{"handed on to another", `func f(r *registry, id int) error {
	r.items[id] = make([]byte, 8192)
	if err := r.log(id); err != nil {
		delete(r.items, id)
		return err
	}
	if err := r.serve(id); err != nil {
		return err
	}
	return nil
}
func (r *registry) serve(id int) error { defer r.drop(id); return r.work(id) }
func (r *registry) drop(id int) { delete(r.items, id) }
type registry struct { items map[int][]byte }`, "registry.items", ""},
	} {
		f := saidOf(c.source)
		if !strings.Contains(f.Summary, c.says) {
			t.Errorf("%s: it says %q, want %q", c.name, f.Summary, c.says)
		}
		if (c.leaves != "") != strings.Contains(f.Summary, "leave") || !strings.Contains(f.Summary, c.leaves) {
			t.Errorf("%s: it says %q, want %q", c.name, f.Summary, c.leaves)
		}
		if c.leaves != "" && strings.HasPrefix(f.Advice, "Delete the entry from ") == strings.Contains(f.Summary, "unless") {
			t.Errorf("%s: advice %s", c.name, f.Advice)
		}
	}
	f := saidOf(strings.Replace(futures("return ErrTimeout"), "func (f *futures) Complete(id int) { f.pending.LoadAndDelete(id) }", "", 1))
	if !strings.Contains(f.Advice, "also at a.go:32: for instance with defer, right after a.go:20.") {
		t.Errorf("the advice is %s", f.Advice) // in Put a deferred call would take it out at once
	}
}

// TestOneOfSeveral: of a method that several types have, the type says which is meant; of an
// interface it is said how many there are.
func TestOneOfSeveral(t *testing.T) {
	const stores = `
type other struct{}
func (o *other) Keep(b []byte) { discard(b) }
type shelf struct { items [][]byte }
func (s *shelf) Keep(b []byte) { s.items = append(s.items, b) }
type keeper interface { Keep(b []byte) }
`
	for field, want := range map[string]string{
		"*shelf": "it goes into the slice shelf.items at a.go:9",
		"*other": "",
		"keeper": "it goes into the slice shelf.items at a.go:9 (one of 2 implementations that may be called)",
	} {
		f := saidOf("func f(c *client) {\n\tb := make([]byte, 8192)\n\tc.to.Keep(b); }" + stores + "type client struct { to " + field + " }")
		if !strings.Contains(f.Summary, want) || want == "" && f.Summary != "" || strings.Contains(f.Summary, "one of") != strings.Contains(want, "one of") {
			t.Errorf("%s: it says %q, want %q", field, f.Summary, want)
		}
	}
}
