package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestExpiresLazily: of entries that expire when they are asked for alone, that is said, with the bound; a sweep in a loop or by a timer is none.
func TestExpiresLazily(t *testing.T) {
	const head = "package shop\n\nimport (\n\"container/heap\"\n\"maps\"\n\"time\"\n)\n\ntype entry struct {\nkey string\nuntil time.Time\nbuf []byte\n}\n\ntype cache struct {\nitems map[string]*entry\nqueue queue\nmost int\n}\n\n"
	const get = "func (c *cache) get(key string) *entry {\ne := c.items[key]\nif e == nil {\nreturn nil\n}\nif e.until.Before(time.Now()) {\nc.remove(e)\nreturn nil\n}\nreturn e\n}\n"
	const set = "func (c *cache) set(key string) {\nif len(c.items) >= c.most {\nc.remove(c.queue[0])\n}\ne := &entry{key: key, buf: make([]byte, 1<<20)} // made\nc.items[key] = e\nheap.Push(&c.queue, e)\n}\n"
	const remove = "func (c *cache) remove(e *entry) { delete(c.items, e.key) }\n"
	const sweep = "func (c *cache) sweep(now time.Time) {\nfor k, e := range c.items {\nif e.until.Before(now) {\ndelete(c.items, k)\n}\n}\n}\n"
	for _, c := range []struct{ name, source, want string }{
		{"asked for", head + get + set + remove, "only when its key is asked for again (a.go:26): one whose key does not come again stays until the length at a.go:33 is reached. Take out what has expired when something is added, a few each time, or by a timer; if the heap that a.go:38 pushes to"},
		{"without a bound", head + get + strings.NewReplacer("if len(c.items) >= c.most {\nc.remove(c.queue[0])\n}\n", "", "heap.Push(&c.queue, e)\n", "").Replace(set) + remove, "one whose key does not come again stays. Take out what has expired when something is added, a few each time, or by a timer."},
		{"swept", head + get + set + remove + sweep, ""},
		{"swept by a library", head + get + set + remove + "func (c *cache) sweep() {\nmaps.DeleteFunc(c.items, func(k string, e *entry) bool { return time.Now().After(e.until) })\n}\n", ""},
		{"the first ones in a loop", head + get + set + remove + "func (c *cache) sweep() {\nfor len(c.queue) > 0 && c.queue[0].until.Before(time.Now()) {\nc.remove(c.queue[0])\n}\n}\n", ""},
		{"no expiry", head + strings.Replace(get, "e.until.Before(time.Now())", "e.buf == nil", 1) + set + remove, ""},
		{"of another map", head + strings.Replace(get, "c.items[key]", "others[key]", 1) + "var others map[string]*entry\n" + set + remove, ""},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase heap 9s..10s profiler=heap\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(c.source))
		line := stack.Frame{Func: "shop.(*cache).set", File: "/src/a.go", Line: 1 + strings.Count(c.source[:strings.Index(c.source, "// made")], "\n")}
		f := Finding{Severity: Warning}
		tellHolder(NewInput(session.New(r.Open())), &f, line, []stack.Frame{line}, "otherwise")
		const says = "An entry whose time is over is removed only"
		if got := strings.Contains(f.Advice, says); got != (c.want != "") || !strings.Contains(f.Advice, c.want) {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}
