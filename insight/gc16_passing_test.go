package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// TestGC16Passing: of what a call of a library takes while it runs nobody says that it is kept; one that collections never found gone is told as before.
func TestGC16Passing(t *testing.T) {
	const calls, says = "a call of difflib.Diff runs", "in difflib.intMatrix, below difflib.Diff"
	for _, c := range []struct {
		name, stack    string
		kept, all      int64
		live           func(i int) int
		advice, within string
	}{
		{"it goes again", "example.org/difflib.Diff example.org/difflib.intMatrix", 90, 900, func(i int) int { return 90 - 80*(i%2) }, calls, says},
		{"through the standard library", "example.org/difflib.Diff example.org/difflib.intMatrix slices.Grow[...]", 90, 900, func(i int) int { return 90 - 80*(i%2) }, calls, says},
		{"of the standard library alone", "bytes.Clone", 90, 900, func(i int) int { return 90 - 80*(i%2) }, "it is in use while a call runs", ""},
		{"it stays", "example.org/difflib.Diff example.org/difflib.intMatrix", 90, 900, func(i int) int { return 3 * i }, "Decide whether", says},
		{"most of it is in use", "example.org/difflib.Diff example.org/difflib.intMatrix", 90, 120, func(i int) int { return 90 - 80*(i%2) }, "Decide whether", says},
	} {
		lines := recordingtest.Cycles(30, 10*time.Millisecond, 100*time.Millisecond, func(i int, x *recordingtest.Cycle) { x.Live = c.live(i) })
		r := recordingtest.New("title x\ntarget package ./shop module=shop env=\"GODEBUG=gctrace=1\"\nphase bare 0s..9s\nphase heap 9s..10s profiler=heap\n-- stderr.log stderr --\n" + lines)
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte("package shop\n\nfunc compare(a, b []string) int {\n\treturn len(difflib.Diff(a, b))\n}\n"))
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap", Span: timeline.Span{Start: 9e9, End: 10e9}}, heapProfile(
			column{"main.main shop.compare:/src/a.go:4 " + c.stack, []int64{100 * c.all, c.all << 20, 100 * c.kept, c.kept << 20}}))
		f := answers(t, r, "GC16")[0]
		if f.Severity != Info || !strings.Contains(f.Advice, c.advice) || !strings.Contains(f.Summary, c.within) || c.within == "" && strings.Contains(f.Summary, " was allocated in ") {
			t.Errorf("%s: %s: %s\n%s", c.name, f.Severity, f.Summary, f.Advice)
		}
	}
}
