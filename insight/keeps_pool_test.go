package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// TestByFreeList: a buffer that a line lets grow and that goes back to a sync.Pool, a channel
// or a slice is found through the functions in between; one whose size is asked for is not,
// nor is one that nothing gives back.
func TestByFreeList(t *testing.T) {
	const write = "\nfunc (m msg) AppendTo(w io.Writer) {\n\tw.Write(m.data) // grows\n}\n\nfunc (c *codec) write(m msg) {\n\tb := c.pool.get()\n\tBACK\n\tm.AppendTo(b) // calls\n}\n"
	for _, c := range []struct{ name, back, put, want string }{
		{"a channel", "defer c.pool.put(b)", "func (p *pool) put(b *bytes.Buffer) {\n\tb.Reset()\n\tselect {\n\tcase p.free <- b: // kept\n\tdefault:\n\t}\n}\n", "// kept"},
		{"a sync.Pool behind a function", "defer release(b)", "func release(b *bytes.Buffer) {\n\tb.Reset()\n\tbuffers.Put(b) // kept\n}\n", "// kept"},
		{"a slice", "defer c.pool.free(b)", "func (p *pool) free(b *bytes.Buffer) {\n\tp.mu.Lock()\n\tp.all = append(p.all, b) // kept\n\tp.mu.Unlock()\n}\n", "// kept"},
		{"a sync.Pool", "defer buffers.Put(b) // kept", "", "// kept"},
		{"with a limit", "defer c.pool.put(b)", "func (p *pool) put(b *bytes.Buffer) {\n\tif b.Cap() > 64<<10 {\n\t\treturn\n\t}\n\tp.free <- b\n}\n", ""},
		{"with a limit before", "if cap(b.Bytes()) < limit { buffers.Put(b) }", "", ""},
		{"with a limit that a function knows", "if tooLarge(b) { return }\n\tbuffers.Put(b)", "func tooLarge(b *bytes.Buffer) bool {\n\treturn b.Cap() > 64<<10\n}\n", ""},
		{"with a limit in a case", "defer c.pool.put(b)", "func (p *pool) put(b *bytes.Buffer) {\n\tswitch {\n\tcase b.Cap() > 64<<10:\n\tdefault:\n\t\tp.free <- b\n\t}\n}\n", ""},
		{"with a limit by a variable", "n := b.Cap()\n\tif n < limit { buffers.Put(b) }", "", ""},
		{"with a limit of something else", "if len(all) > 3 { return }\n\tbuffers.Put(b) // kept", "", "// kept"},
		{"in another case", "switch kind {\n\tcase 1:\n\t\tbuffers.Put(b)\n\tdefault:", "", ""},
		{"with its memory taken out", "out = b.Bytes()\n\t*b = bytes.Buffer{}\n\tbuffers.Put(b)", "", ""},
		{"another one", "defer buffers.Put(other)", "", ""},
		{"never", "use(b)", "", ""},
		{"freed for good", "defer release(b)", "func release(b *bytes.Buffer) {\n\tcount--\n}\n", ""},
	} {
		text := "package wire\n" + strings.Replace(write, "BACK", c.back, 1) + c.put
		if strings.Contains(c.back, "default:") {
			text = strings.Replace(text, "// calls\n", "// calls\n\t}\n", 1)
		}
		line := func(mark string) int { return 1 + strings.Count(text[:strings.Index(text, mark)], "\n") }
		own := []stack.Frame{{Func: "wire.msg.AppendTo", File: "a.go", Line: line("// grows")}, {Func: "wire.(*codec).write", File: "a.go", Line: line("// calls")}}
		h, ok := sourceHolders{sourceOf(text)}.byFreeList(own)
		switch {
		case ok != (c.want != ""):
			t.Errorf("%s: %v %+v", c.name, ok, h)
		case ok && h.shows[0].Line != line(c.want):
			t.Errorf("%s: %+v", c.name, h.shows)
		}
	}
}

// TestPutBackIsWhatGrows: what goes back to a pool has to be what grows: a writer of a library makes the buffer larger that it writes to.
func TestPutBackIsWhatGrows(t *testing.T) {
	const imports = "package wire\n\nimport (\n\t\"bytes\"\n\t\"compress/gzip\"\n\tzz \"github.com/klauspost/compress/zstd\"\n\t\"shop/packer\"\n\t\"sync\"\n)\n\n"
	for _, c := range []struct {
		name, body string
		want       bool
	}{
		{"a writer of a library, by its assertion", "func pack() []byte {\n\tvar b bytes.Buffer\n\tz := pool.Get().(*gzip.Writer)\n\tdefer pool.Put(z)\n\tz.Reset(&b)\n\tz.Close() // grows\n\treturn b.Bytes()\n}\n", false},
		{"by what makes it", "func pack() {\n\tz := gzip.NewWriter(w)\n\tz.Close() // grows\n\tpool.Put(z)\n}\n", false},
		{"by the parameter", "func pack(z *gzip.Writer) {\n\tz.Close() // grows\n\tpool.Put(z)\n}\n", false},
		{"by the function that gives it", "func get() *gzip.Writer { return nil }\nfunc pack() {\n\tz := get()\n\tz.Close() // grows\n\tpool.Put(z)\n}\n", false},
		{"of another module", "func pack(z *zz.Writer) {\n\tz.Close() // grows\n\tpool.Put(z)\n}\n", false},
		{"a buffer", "func pack() {\n\tb := pool.Get().(*bytes.Buffer)\n\tb.Write(data) // grows\n\tpool.Put(b)\n}\n", true},
		{"a buffer that a writer is told of as well", "func pack(z *gzip.Writer) {\n\tb := pool.Get().(*bytes.Buffer)\n\tz.WriteTo(b) // grows\n\tpool.Put(b)\n}\n", true},
		{"a type of the program with both", "func pack() {\n\tp := pool.Get().(*packer.Writer)\n\tp.z.Close() // grows\n\tpool.Put(p)\n}\n", true},
		{"a slice", "func pack() {\n\tb := pool.Get().([]byte)\n\tb = append(b, data...) // grows\n\tpool.Put(b)\n}\n", true},
		{"nobody knows what", "func pack() {\n\tb := take()\n\tb.Write(data) // grows\n\tpool.Put(b)\n}\n", true},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase heap 6s..7s profiler=heap\n")
		text := imports + c.body
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(text))
		line := 1 + strings.Count(text[:strings.Index(text, "// grows")], "\n")
		all := putBackAt(sourceHolders{NewInput(session.New(r.Open())).code}, []stack.Frame{{Func: "shop.pack", File: "/src/a.go", Line: line}})
		if (len(all) > 0) != c.want {
			t.Errorf("%s: %+v", c.name, all)
		}
	}
}

// TestGC16PooledLimit: a limit that applies under a condition is none where nearly all buffers that
// have become large are still there; where most of them went, it applies, and a limit without a
// condition is taken at its word.
func TestGC16PooledLimit(t *testing.T) {
	const source = "package wire\n\nfunc write(m msg) {\n\tb := get()\n\tb.Write(m.data)\n\tput(b)\n}\n\nfunc put(b *bytes.Buffer) {\n\tif LIMIT {\n\t\treturn\n\t}\n\tbuffers.Put(b)\n}\n"
	for _, c := range []struct {
		limit  string
		all    int64
		pooled bool
	}{
		{"limited && b.Cap() > most", 56, true},
		{"b.Cap() > most && limited", 56, true},
		{"limited && b.Cap() > most", 900, false},
		{"b.Cap() > most", 56, false},
		{"limited || b.Cap() > most", 56, false},
		{"b != nil && b.Cap() > most", 56, false},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..6s\nphase heap 6s..7s profiler=heap\n-- load.requests load phase=bare --\n")
		r.Put(recording.Entry{Path: "source/wire/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(strings.Replace(source, "LIMIT", c.limit, 1)))
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, heapProfile(
			column{"main.main shop/wire.write:/src/a.go:5 bytes.(*Buffer).Write bytes.(*Buffer).grow bytes.growSlice", []int64{c.all / 8, c.all << 20, 6, 48 << 20}},
			column{"main.main shop/wire.other:/src/a.go:9", []int64{900, 90 << 20, 10, 1 << 20}}))
		f := expect(t, c.limit, r, "GC16", Found)
		if pooled := strings.Contains(f.Summary, "a pool keeps buffers that have grown to 8.00 MiB (6 buffers)"); pooled != c.pooled {
			t.Errorf("%s, %d MiB in all: %s: %s", c.limit, c.all, f.Summary, f.Advice)
		} else if pooled && (f.Evidence[0].Line != 13 || !strings.Contains(f.Advice, "limit at a.go:10, but only under a condition")) {
			t.Errorf("%s: %s %+v", c.limit, f.Advice, f.Evidence)
		}
	}
}

// TestGC16Pooled: buffers of a pool that are still there when nothing uses them are a warning,
// with the line that puts them back, although there are but a few of them; those of a peak may
// be in use.
func TestGC16Pooled(t *testing.T) {
	const source = "package wire\n\nfunc write(m msg) {\n\tb := get()\n\tb.Write(m.data)\n\tbuffers.Put(b)\n}\n"
	record := func(path string) *recordingtest.Recording {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..6s\nphase heap 6s..7s profiler=heap\n-- load.requests load phase=bare --\n")
		r.Put(recording.Entry{Path: "source/wire/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(source))
		r.Put(recording.Entry{Path: path, Kind: recording.Heap, Phase: "heap"}, heapProfile(
			column{"main.main shop/wire.write:/src/a.go:5 bytes.(*Buffer).Write bytes.(*Buffer).grow bytes.growSlice", []int64{900, 900 << 20, 6, 48 << 20}},
			column{"main.main shop/wire.other:/src/a.go:9", []int64{900, 90 << 20, 10, 1 << 20}}))
		return r
	}
	f := expect(t, "kept", record("heap.pb.gz"), "GC16", Found, "of 49.0 MiB in use, 98.0% were allocated at a.go:5 in wire.write", "went back to a pool at a.go:6", "48.0 MiB of them stay in it")
	severity(t, "kept", f, Warning)
	if f.Evidence[0].Line != 6 || !strings.Contains(f.Advice, "Do not put back a buffer") || !strings.Contains(f.Advice, "a.go:6") {
		t.Errorf("%s %+v", f.Advice, f.Evidence)
	}
	f = expect(t, "at a peak", record("peak/heap-01.pb.gz"), "GC16", Found)
	severity(t, "at a peak", f, Info)
}

// TestSamplingDoubt: a few large objects are known for certain, a few small ones are not.
func TestSamplingDoubt(t *testing.T) {
	for _, c := range []struct {
		objects, bytes int64
		sure           bool
	}{{6, 48 << 20, true}, {20_000, 20 << 20, true}, {2000, 1 << 20, false}} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase heap 6s..7s profiler=heap\n")
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, heapProfile(column{"main.main shop/wire.write:/src/a.go:5", []int64{c.objects, c.bytes, c.objects, c.bytes}}))
		kept, err := NewInput(session.New(r.Open())).Facts.Kept()
		if err != nil || (kept.Doubt < 0.2) != c.sure {
			t.Errorf("%d objects of %d bytes in all: %+v %v", c.objects, c.bytes, kept, err)
		}
	}
}

// TestGC16PoolSteady: buffers of a pool that were all large from the start may be of the size that
// the work needs: a remark. Where more of them become large, it is a warning.
func TestGC16PoolSteady(t *testing.T) {
	const source = "package wire\n\nfunc write(m msg) {\n\tb := get()\n\tb.Write(m.data)\n\tbuffers.Put(b)\n}\n"
	for severe, first := range map[Severity]int64{Warning: 12, Info: 46} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..6s\nphase heap 6s..7s profiler=heap\n-- load.requests load phase=bare --\n")
		r.Put(recording.Entry{Path: "source/wire/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(source))
		put := func(e recording.Entry, mib int64) {
			r.Put(e, heapProfile(
				column{"main.main shop/wire.write:/src/a.go:5 bytes.(*Buffer).Write bytes.(*Buffer).grow bytes.growSlice", []int64{900, 900 << 20, 6, mib << 20}},
				column{"main.main shop/wire.other:/src/a.go:9", []int64{900, 90 << 20, 10, 1 << 20}}))
		}
		for i, mib := range []int64{first, 48} {
			at := timeline.Time(i+1) * 1e9
			put(recording.Entry{Path: fmt.Sprintf("peak/heap-%02d.pb.gz", i+1), Kind: recording.Heap, Phase: "bare", Span: timeline.Span{Start: at, End: at}}, mib)
		}
		put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, 48)
		f := expect(t, "a pool", r, "GC16", Found, "went back to a pool at a.go:6")
		severity(t, fmt.Sprint("from ", first), f, severe)
	}
}
