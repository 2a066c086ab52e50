package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestTellPutIn: where the sources do not show what holds memory, a dependency's function without a receiver that allocated much of it, and whose name says
// that it puts something in, is named with the module; not one of the standard library, of the program, or with a receiver.
func TestTellPutIn(t *testing.T) {
	at := stack.Frame{Func: "shop.get", File: "/src/a.go", Line: 5}
	for name, c := range map[string]struct {
		others string
		share  int64 // MiB of 10
		want   bool
	}{
		"a registry":             {"example.org/ctx.Set", 4, true},
		"behind the runtime":     {"example.org/ctx.Register runtime.mapassign", 4, true},
		"little of it":           {"example.org/ctx.Set", 1, false},
		"one that only gives":    {"example.org/ctx.Get", 4, false},
		"a method":               {"example.org/ctx.(*Table).Set", 4, false},
		"a closure in it":        {"example.org/ctx.Set.func1", 4, false},
		"the standard library":   {"expvar.Set", 4, false},
		"the program's own":      {"shop/cache.Set:/src/cache.go:7", 4, false},
		"of no module of a kind": {"other.org/ctx.Set", 4, false},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase heap 0s..1s profiler=heap\n")
		r.Put(recording.Entry{Path: "buildinfo.txt", Kind: recording.BuildInfo}, []byte("go\tgo1.24\npath\tshop\nmod\tshop\t(devel)\t\ndep\texample.org/ctx\tv1.2.0\t\n"))
		sample := func(stack string, mib int64) column {
			return column{stack, []int64{100 * mib, mib << 20, 100 * mib, mib << 20}}
		}
		withProfile(r, recording.Heap, "heap", sample("main.main shop.get:/src/a.go:5 "+c.others, c.share), sample("main.main shop.get:/src/a.go:5 example.org/ctx.New", 10-c.share), sample("main.main shop.other:/src/a.go:9 example.org/ctx.Set", 30))
		f := Finding{Summary: "x", Advice: heldBy}
		tellPutIn(NewInput(session.New(r.Open())), &f, at)
		if got := f.Advice != heldBy; got != c.want || got && (!strings.Contains(f.Summary, "40.0% of that in ctx.") || !strings.Contains(f.Advice, "example.org/ctx v1.2.0") || len(f.Doubts) != 1) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
