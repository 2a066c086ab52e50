package insight

import (
	"strings"
	"testing"
)

// callsOf is a client that leaves an entry in its map on one way: what makes it, what type its map
// has, and more of the source are given.
func callsOf(field, put, drop, more string) string {
	return `func f(c *client, id int) error {
	x := &call{buf: make([]byte, 8192), done: make(chan int)}
	` + put + `
	if err := c.write(id); err != nil {
		return err
	}
	c.read(id)
	` + drop + `
	return nil
}
type call struct { buf []byte; done chan int }
type client struct { ` + field + `; other map[int]*call; oldest int; name string; hook lib.Hook }
` + more + `
func (c *client) write(id int) error { return nil }
func (c *client) read(id int) {}
func use(any) {}
var tick, ids chan int
var old func(int, *call) bool
const ttl = 1`
}

// TestRemovers: whatever else may take an entry out is named, and then nobody is told to delete it
// by defer, which may take it from what still needs it.
func TestRemovers(t *testing.T) {
	const field, put, drop = "calls map[int]*call", "c.calls[id] = x", "delete(c.calls, id)"
	const late = "\nfunc (c *client) late(id int) "
	for _, c := range []struct{ name, source, unless string }{
		{"nothing else", callsOf(field, put, drop, ""), ""},
		{"another function", callsOf(field, put, drop, late+"{ delete(c.calls, id) }"), "client.late (a.go:16) deletes it later"},
		{"a function that is given the map", callsOf(field, put, drop, late+"{ take(c.calls, id) }\nfunc take[K comparable, V any](m map[K]V, k K) { delete(m, k) }"), "take (a.go:17) deletes it later"},
		{"a function literal that is given it", callsOf(field, put, drop, late+"{\n\ttake := func(m map[int]*call) { delete(m, id) }\n\ttake(c.calls)\n}"), "client.late (a.go:17) deletes it later"},
		{"a function that only reads it", callsOf(field, put, drop, late+"{ count(c.calls); len(c.calls) }\nfunc count(m map[int]*call) (n int) { for range m { n++ }; return n }"), ""},
		{"another variable", callsOf(field, put, drop, late+"{\n\tall := c.calls\n\tdelete(all, id)\n}"), "client.late (a.go:18) deletes it later"},
		{"another field", callsOf(field, put, drop, "func (c *client) view() *view { return &view{m: c.calls} }\ntype view struct { m map[int]*call }\nfunc (v *view) drop(id int) { delete(v.m, id) }"), "view.drop (a.go:17) deletes it later"},
		{"a result", callsOf(field, put, drop, "func (c *client) all() map[int]*call { return c.calls }\nfunc drop(c *client, id int) { delete(c.all(), id) }"), "drop (a.go:16) deletes it later"},
		{"a function of elsewhere", callsOf(field, put, drop, late+"{ lib.Expire(c.calls) }"), "client.late (a.go:16) passes the map to lib.Expire, which may delete it later"},
		{"an interface of elsewhere", callsOf(field, put, drop, late+"{ c.hook.Run(c.calls) }"), "client.late (a.go:16) passes the map to c.hook.Run, which may delete it later"},
		{"clear", callsOf(field, put, drop, "func (c *client) janitor() { for range tick { clear(c.calls) } }"), "client.janitor (a.go:15) deletes it later"},
		{"maps.DeleteFunc", callsOf(field, put, drop, "func (c *client) janitor() { maps.DeleteFunc(c.calls, old) }\n"), "client.janitor (a.go:15) deletes it later"},
		{"maps.Keys", callsOf(field, put, drop, "func (c *client) janitor() { use(maps.Keys(c.calls)) }\n"), ""},
		{"a new map", callsOf(field, put, drop, "func (c *client) janitor() {\n\tc.calls = map[int]*call{}\n}"), "client.janitor (a.go:16) replaces the map"},
		{"two generations", callsOf(field, put, drop, "func (c *client) janitor() {\n\tc.other, c.calls = c.calls, make(map[int]*call)\n}"), "client.janitor (a.go:16) replaces the map"},
		{"its first map", callsOf(field, put, drop, "func newClient() *client {\n\tc := &client{}\n\tc.calls = map[int]*call{}\n\treturn c\n}"), ""},
		{"its first map in a method", callsOf(field, put, drop, "func (c *client) init() { c.calls = map[int]*call{} }\nfunc newClient() *client {\n\tc := &client{}\n\tc.init()\n\treturn c\n}"), ""},
		{"a map where there is none", callsOf(field, put, drop, "func (c *client) lazy() {\n\tif c.calls == nil { c.calls = map[int]*call{} }\n}"), ""},
		{"a map of the same name", callsOf(field, put, drop, "type pool struct { calls map[int]int }\nfunc (p *pool) drop(id int) { delete(p.calls, id); p.calls = nil }"), ""},
		{"no value", callsOf(field, put, drop, late+"{\n\tc.calls[id] = nil\n}"), "client.late (a.go:17) deletes it later"},
		{"the whole client", callsOf(field, put, drop, "type server struct { c *client }\nfunc (s *server) redial() {\n\ts.c = &client{}\n}"), "server.redial (a.go:17) drops the whole client that it is in"},
		{"the whole client, and all are kept", callsOf(field, put, drop, "type server struct { c *client; all []*client }\nfunc (s *server) redial() {\n\tc := &client{}\n\ts.c = c\n\ts.all = append(s.all, c)\n}"), ""},
		{"a client of several", callsOf(field, put, drop, "type server struct { all map[string]*client }\nfunc (s *server) leave(n string) {\n\tdelete(s.all, n)\n}"), "server.leave (a.go:17) drops the whole client that it is in"},
		{"the client's value", callsOf(field, put, drop, "func (c *client) reset() {\n\t*c = client{}\n}"), "client.reset (a.go:16) drops the whole client that it is in"},
		{"a new map now and then", callsOf(field, put, drop, "func newClient() *client {\n\tc := &client{}\n\tgo func() { for range tick { c.calls = map[int]*call{} } }()\n\treturn c\n}"), "newClient (a.go:17) replaces the map"},
		{"its first map in a function literal", callsOf(field, put, drop, "func serve() {\n\thandle(func() { c := &client{}; c.calls = map[int]*call{}; use(c) })\n}\nfunc handle(func()) {}"), ""},
		{"an atomic pointer to it", callsOf(field, put, drop, "type server struct { c atomic.Pointer[client] }\nfunc (s *server) redial() {\n\ts.c.Store(&client{})\n}"), "server.redial (a.go:17) drops the whole client that it is in"},
		{"the first client", callsOf(field, put, drop, "type server struct { c *client }\nfunc newServer() *server {\n\ts := &server{}\n\ts.c = &client{}\n\treturn s\n}"), ""},
		{"its own function, called by another", callsOf(field, put, "c.drop(id)", "func (c *client) drop(id int) { delete(c.calls, id) }\nfunc (c *client) answers() { c.drop(<-ids) }"), "client.drop (a.go:15) deletes it later"},
		{"its own function", callsOf(field, put, "c.drop(id)", "func (c *client) drop(id int) { delete(c.calls, id) }"), ""},
		{"a timer before it", callsOf(field, "time.AfterFunc(ttl, func() { delete(c.calls, id) }); \n\t"+put, drop, ""), "f (a.go:5) deletes it later"},
		{"the oldest one", callsOf(field, put, "delete(c.calls, id)\n\tdelete(c.calls, c.oldest)", ""), "f (a.go:11) deletes it later"},
		{"a sync.Map", callsOf("calls sync.Map", "c.calls.Store(id, x)", "c.calls.Delete(id)", ""), ""},
		{"a sync.Map and an answer", callsOf("calls sync.Map", "c.calls.Store(id, x)", "c.calls.Delete(id)", late+"{ c.calls.LoadAndDelete(id) }"), "client.late (a.go:16) deletes it later"},
		{"a sync.Map that is read", callsOf("calls sync.Map", "c.calls.Store(id, x)", "c.calls.Delete(id)", late+"{ c.calls.Range(nil); c.calls.Load(id) }"), ""},
		{"an embedded sync.Map", callsOf("calls table", "c.calls.Store(id, x)", "c.calls.Delete(id)", "type table struct { sync.Map }\nfunc (t *table) late(id int) { t.Delete(id) }"), "table.late (a.go:16) deletes it later"},
		{"a method of another file", callsOf(field, put, drop, "func newClient() *client {\n\tc := &client{}\n\tgo c.janitor()\n\treturn c\n}"), "code of another file, which is not in the recording, deletes it later"},
		{"a function of another file", callsOf(field, put, drop, "func newClient() *client {\n\treturn watched(&client{})\n}"), "code of another file, which is not in the recording, deletes it later"},
		{"a type of elsewhere", callsOf("calls lib.Map", "c.calls.Store(id, x)", "c.calls.Delete(id)", ""), "its type, whose source is not in the recording, deletes it later"},
		{"a type that is a map", callsOf("calls table", put, drop, "type table map[int]*call\nfunc (t table) expire() { for id := range t { delete(t, id) } }\nfunc (c *client) tick() { c.calls.expire() }"), "table.expire (a.go:16) deletes it later"},
		{"a map of maps", callsOf("calls map[string]map[int]*call", "c.calls[c.name][id] = x", "delete(c.calls[c.name], id)", late+"{\n\tdelete(c.calls, c.name)\n}"), "client.late (a.go:17) deletes it later"},
		{"a map out of a map", callsOf("all map[string]map[int]*call", "m := c.all[c.name]\n\tm[id] = x", "delete(m, id)", late+"{\n\tdelete(c.all, c.name)\n}"), "client.late (a.go:18) deletes it later"},
	} {
		f := saidOf(c.source)
		if !strings.Contains(f.Summary, "leaves its entry in it") {
			t.Errorf("%s: it says %q", c.name, f.Summary)
			continue
		}
		_, unless, _ := strings.Cut(f.Summary, ", unless ")
		if unless != c.unless {
			t.Errorf("%s: unless %q, want %q", c.name, unless, c.unless)
		}
		if strings.Contains(f.Advice, "defer") != (c.unless == "") {
			t.Errorf("%s: the advice is %s", c.name, f.Advice)
		}
		if doubts := strings.Join(f.Doubts, " "); (c.unless == "") == strings.Contains(doubts, "may remove something from it") {
			t.Errorf("%s: the doubts are %q", c.name, doubts)
		}
	}
}
