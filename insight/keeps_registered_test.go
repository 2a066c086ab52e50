package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestEndsWithNobody: a context whose parent is context.Background is held by nobody; one of a parent that may be cancelled, of one that the source does
// not show, or with a time limit is.
func TestEndsWithNobody(t *testing.T) {
	const made = "\nfunc read(ctx context.Context, n int) {\n\tctx, cancel := context.WithCancel(ctx) // here\n\tuse(ctx, cancel)\n}\n"
	const calls = "\nfunc load(ctx context.Context) {\n\tread(ctx, 1) // load\n}\n\nfunc main() {\n\tMAIN\n\tload(ctx) // main\n}\n"
	for _, c := range []struct {
		name, source string
		want         bool
	}{
		{"background", strings.Replace(made+calls, "MAIN", "ctx := context.Background()", 1), true},
		{"to do", strings.Replace(made+calls, "MAIN", "var ctx = context.TODO()", 1), true},
		{"with a value", strings.Replace(made+calls, "MAIN", "ctx := context.WithValue(context.Background(), key, 1)", 1), true},
		{"directly", strings.Replace(strings.Replace(made+calls, "WithCancel(ctx)", "WithCancel(context.Background())", 1), "MAIN", "ctx := r.Context()", 1), true},
		{"more ways back than can be gone", strings.Replace(made+calls, "MAIN", "ctx, last := context.Background(), context.Background()"+strings.Repeat("\n\tctx = last\n\tlast = ctx", 50), 1), true},
		{"of a signal", strings.Replace(made+calls, "MAIN", "ctx, _ := signal.NotifyContext(context.Background())", 1), false},
		{"of a request", strings.Replace(made+calls, "MAIN", "ctx := r.Context()", 1), false},
		{"of a field", strings.Replace(strings.Replace(made+calls, "WithCancel(ctx)", "WithCancel(s.ctx)", 1), "MAIN", "ctx := context.Background()", 1), false},
		{"set anew", strings.Replace(made+calls, "MAIN", "ctx := context.Background()\n\tctx, stop := context.WithCancel(ctx); _ = stop", 1), false},
		{"a value of a request", strings.Replace(made+calls, "MAIN", "ctx := context.WithValue(r.Context(), key, 1)", 1), false},
		{"another that is called on the line", strings.Replace(strings.Replace(made+calls, "read(ctx, 1)", "read(other(ctx), 1)", 1), "MAIN", "ctx := context.Background()", 1), false},
		{"a time limit", strings.Replace(strings.Replace(made+calls, "WithCancel(ctx)", "WithTimeout(ctx, 1)", 1), "MAIN", "ctx := context.Background()", 1), false},
		{"given, and set under a condition", strings.Replace(strings.Replace(made+calls, "\tctx, cancel", "\tif ctx == nil {\n\t\tctx = context.Background()\n\t}\n\tctx, cancel", 1), "MAIN", "ctx := r.Context()", 1), false},
	} {
		text := "package p\n" + c.source
		line := func(mark string) int { return 1 + strings.Count(text[:strings.Index(text, mark)], "\n") }
		way := []stack.Frame{{Func: "p.read", File: "a.go", Line: line("// here")}, {Func: "p.load", File: "a.go", Line: line("// load")}, {Func: "p.main", File: "a.go", Line: line("// main")}}
		with := "context.WithCancel"
		if strings.Contains(c.source, "WithTimeout") {
			with = "context.WithTimeout"
		}
		if got := endsWithNobody(sourceOf(text), with, way); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestRegisteredBySamples: a single sample of small objects stands for thousands and is told only of what the source never takes back, without a number;
// of contexts of context.Background nothing is.
func TestRegisteredBySamples(t *testing.T) {
	const source = "package shop\n\nfunc pull(ctx context.Context) {\n\tCALL\n}\n\nfunc next() []byte {\n\treturn make([]byte, 100)\n}\n\nfunc main() {\n\tpull(PARENT)\n}\n"
	for _, c := range []struct {
		name, call, parent string
		objects, bytes     int64
		says               string
	}{
		{"many samples", "ctx, cancel := context.WithCancel(ctx); keep(cancel)", "r.Context()", 60000, 60000 * 96, "objects in use, made at a.go:4 by context.WithCancel, hold"},
		{"one sample", "ctx, cancel := context.WithCancel(ctx); keep(cancel)", "r.Context()", 6554, 6554 * 80, ""},
		{"one sample, never taken back", "ctx, _ = context.WithCancel(ctx); keep(ctx)", "r.Context()", 6554, 6554 * 80, "sampled objects in use, made at a.go:4"},
		{"many, of background", "ctx, cancel := context.WithCancel(ctx); keep(cancel)", "context.Background()", 60000, 60000 * 96, ""},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nphase heap 0s..1s profiler=heap\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(strings.NewReplacer("CALL", c.call, "PARENT", c.parent).Replace(source)))
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, heapProfile(
			column{"shop.next:/src/a.go:8", []int64{7000, 7000 << 10, 7000, 7000 << 10}},
			column{"shop.main:/src/a.go:12 shop.pull:/src/a.go:4 context.WithCancel:/go/context.go:1", []int64{c.objects, c.bytes, c.objects, c.bytes}}))
		h, ok := registered(NewInput(session.New(r.Open())), stack.Frame{Func: "shop.next", File: "/src/a.go", Line: 8})
		if ok != (c.says != "") || !strings.Contains(h.says, c.says) {
			t.Errorf("%s: %v %s", c.name, ok, h.says)
		}
	}
}
