package insight

import (
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// TestGC16Table: a map of which the last profile has the table alone, while its entries are gone, keeps it. One that has its entries, one that gave the table
// back, one from which nothing is deleted, and the end of a program are told otherwise.
func TestGC16Table(t *testing.T) {
	const (
		kept   = "package shop\n\ntype buffer struct{ m map[string]*entry }\ntype entry struct{ n [8]int }\n\nfunc (b *buffer) add(k string) {\n\tb.m[k] = clone(k)\n}\nfunc (b *buffer) next(k string) {\n\tdelete(b.m, k)\n}\n"
		only   = "package shop\n\ntype buffer struct{ m map[string]*entry }\ntype entry struct{ n [8]int }\n\nfunc (b *buffer) add(k string) {\n\tb.m[k] = clone(k)\n}\n"
		server = "phase bare 0s..9s\nphase heap 9s..10s profiler=heap\n"
		batch  = "run 0s..10s exit=\"exit status 0\"\n" + server
	)
	// The table, and the entries, in MiB: at the peak and later.
	for _, c := range []struct {
		name, head, source string
		peak, later        [2]int64
		want               bool
	}{
		{"emptied", server, kept, [2]int64{30, 40}, [2]int64{40, 0}, true},
		{"nearly", server, kept, [2]int64{40, 40}, [2]int64{40, 2}, true},
		{"full", server, kept, [2]int64{40, 60}, [2]int64{40, 40}, false},
		{"a new map", server, kept, [2]int64{40, 40}, [2]int64{18, 0}, false},
		{"little", server, kept, [2]int64{8, 30}, [2]int64{8, 0}, false},
		{"entries that are nothing by themselves", server, kept, [2]int64{40, 4}, [2]int64{40, 0}, false},
		{"nothing is deleted", server, only, [2]int64{40, 40}, [2]int64{40, 0}, false},
		{"the program has ended", batch, kept, [2]int64{40, 40}, [2]int64{40, 0}, false},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\n" + c.head)
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(c.source))
		look := func(of [2]int64) []byte {
			const line = "main.main shop.(*buffer).add:/src/a.go:7"
			return heapProfile(column{line, []int64{2000, 2000 * 27 << 10, of[0] << 20 / (27 << 10), of[0] << 20}},
				column{line + " strings.Clone", []int64{1 << 20, 64 << 20, of[1] << 20 / 64, of[1] << 20}})
		}
		r.Put(recording.Entry{Path: "peak/heap-01.pb.gz", Kind: recording.Heap, Phase: "bare", Span: timeline.Span{Start: 5e9, End: 5e9}}, look(c.peak))
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap", Span: timeline.Span{Start: 9e9, End: 10e9}}, look(c.later))
		f := answers(t, r, "GC16")[0]
		if got := f.Title == "A map that has been emptied keeps its table"; got != c.want || got && f.Severity != Warning {
			t.Errorf("%s: %s %s: %s: %s", c.name, f.State, f.Severity, f.Title, f.Summary)
		}
	}
}
