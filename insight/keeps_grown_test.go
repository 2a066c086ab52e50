package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestGrownHolder: of two containers that the source puts a value into, the one holds it whose entries are in use; the
// order of the source decides nothing, and where no profile tells, a bound does.
func TestGrownHolder(t *testing.T) {
	const set = "func handle(c *cache, id int) {\n" + // line 3
		"\tkey := strings.Repeat(\"x\", id)\n" + // 4
		"\tc.set(key)\n}\n" +
		"func (c *cache) set(key string) {\n" // 7
	const bounded = "\tif len(c.items) >= c.max {\n\t\tc.evict()\n\t}\n" // 8 to 10
	const pads = "\t//\n\t//\n\t//\n"
	const stores = "\tc.items[key] = 1\n" + // 11
		"\tc.exp.update(key)\n}\n" + // 12
		"func (e *expiry) update(key string) {\n" + // 14
		"\tk := &due{key: key}\n" + // 15
		"\te.byKey[key] = k\n" + // 16
		"}\n"
	const evicts = "func (c *cache) evict() {\n\tdelete(c.items, oldest())\n}\n"
	const heapPush = "\tc.items[key] = 1\n\tc.exp.update(key)\n}\n" + // 11, 12
		"func (e *expiry) update(key string) {\n\tk := &due{key: key}\n\theap.Push(&e.queue, k)\n}\n" // 14, 15, 16
	value := column{"shop.handle:/src/a.go:4 strings.Repeat:/go/strings.go:1", []int64{300000, 40 << 20, 300000, 40 << 20}}
	at := func(line string, allocated, kept int64) column {
		return column{"shop.handle:/src/a.go:5 shop.set:/src/a.go:" + line, []int64{allocated, allocated << 20, kept, kept << 20}}
	}
	for _, c := range []struct {
		name, source string
		heap         []column
		says, not    string
	}{
		{"the bounded one releases its own", set + bounded + stores + evicts, []column{value, at("11", 20, 0), at("12 shop.update:/src/a.go:16", 12, 5)},
			"the map expiry.byKey at a.go:16, which has 5.00 MiB in use for its own entries; it goes into cache.items at a.go:11 as well, but of 20.0 MiB allocated for its entries 0 B are in use", "something else"},
		{"by what is made beside it", set + bounded + stores + evicts, []column{value, at("12 shop.update:/src/a.go:15", 6, 6)}, "the map expiry.byKey at a.go:16, which has 6.00 MiB", "Nothing was taken out"},
		{"by way of package heap", set + bounded + heapPush + evicts, []column{value, at("11", 20, 0), at("12 shop.update:/src/a.go:16 container/heap.Push:/go/heap.go:1 shop.Push:/src/a.go:40", 12, 5)},
			"the slice expiry.queue at a.go:16, which has 5.00 MiB", ""},
		{"the first one grows", set + pads + stores, []column{value, at("11", 20, 9), at("12 shop.update:/src/a.go:16", 12, 0)}, "the map cache.items at a.go:11", "expiry"},
		{"both grow", set + pads + stores, []column{value, at("11", 20, 9), at("12 shop.update:/src/a.go:16", 12, 5)}, "the map cache.items at a.go:11", "expiry"},
		{"both grow, one up to a bound", set + bounded + stores + evicts, []column{value, at("11", 20, 9), at("12 shop.update:/src/a.go:16", 12, 5)},
			"the map expiry.byKey at a.go:16, which has 5.00 MiB in use for its own entries; it goes into cache.items at a.go:11 as well, but that has a bound at a.go:8", ""},
		{"too few samples to tell, no bound", set + pads + stores, []column{value, at("12 shop.update:/src/a.go:16", 1, 1)}, "the map cache.items at a.go:11; it goes into expiry.byKey at a.go:16 as well", ""},
		{"too few samples to tell, a bound", set + bounded + stores + evicts, []column{value, at("12 shop.update:/src/a.go:16", 1, 1)}, "expiry.byKey at a.go:16; it goes into cache.items at a.go:11 as well, but that has a bound at a.go:8", ""},
		{"the bound is another's", set + "\tif len(c.other) >= c.max {\n\t\tdelete(c.other, oldest())\n\t}\n" + stores, []column{value, at("12 shop.update:/src/a.go:16", 1, 1)}, "the map cache.items at a.go:11; it goes into", "bound at"},
		{"what the line calls makes, is no entry", set + bounded + stores + evicts, []column{value, at("11", 20, 9), at("12 shop.update:/src/a.go:16 fmt.Sprint:/go/fmt.go:1", 20, 20)}, "cache.items at a.go:11", "20.0 MiB in use for its own"},
		{"one that has no entries in use", set + pads + "\tc.items[key] = 1\n}\n" + evicts, []column{value}, "the map cache.items at a.go:11", "Nothing was taken out"},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase heap 9s..10s profiler=heap\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte("package shop\n\n"+c.source))
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, heapProfile(c.heap...))
		in := NewInput(session.New(r.Open()))
		line := stack.Frame{Func: "shop.handle", File: "/src/a.go", Line: 4}
		f := Finding{Severity: Warning}
		tellHolder(in, &f, line, []stack.Frame{line}, "otherwise")
		text := f.Summary + " " + f.Advice
		if !strings.Contains(text, c.says) || c.not != "" && strings.Contains(text, c.not) {
			t.Errorf("%s: %s; want %q and not %q", c.name, text, c.says, c.not)
		}
	}
}
