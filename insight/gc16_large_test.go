package insight

import (
	"strconv"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// TestGC16Large: a line that fills the heap with few large objects is told by the allocs profile where the heap profiles, which have
// what outlived a collection, show little of it; not where small objects of one line make up what was allocated, or where the
// heap profiles have most of the heap.
func TestGC16Large(t *testing.T) {
	const source = `package shop

import "os"

func load(w *writer, name string) error {
	data, err := os.ReadFile(name) // reads
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

type writer struct {
	file *os.File
	at   int64
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.file.WriteAt(p, w.at)
	w.at += int64(n)
	return n, err
}

func again(name string) (body, error) {
	data, err := os.ReadFile(name) // to send it again
	if err != nil {
		return nil, err
	}
	return func() (io.Reader, error) { return bytes.NewReader(data), nil }, nil
}

func fill(n int) {
	b := make([]byte, n) // fills
	use(b)
}
`
	const mb = 1 << 20
	for _, c := range []struct {
		name             string
		objects, size    int64 // of the line, MB
		others           int64 // MB that other lines have allocated
		peak, seen       int64 // MB of the heap, and of what the heap profile has in use
		mark, title      string
		want             Severity
		summary, without string
	}{
		{"two files", 2, 700, 4, 1300, 12, "// reads", largeTitle, Warning, "os.ReadFile(name) reads it as a whole, and w.Write at a.go:10 is given it", ""},
		{"one of many", 20, 700, 4, 800, 12, "// reads", largeTitle, Warning, "at least 99.5% were allocated at a.go:6 in shop.load: 20 objects of 700 MiB at most", ""},
		{"one of many, beside as much of others", 20, 700, 900, 800, 12, "// reads", largeTitle, Warning, "one object alone would be 87.5%, of those that are allocated at a.go:6", ""},
		{"what is no file", 2, 700, 4, 1300, 12, "// fills", largeTitle, Info, "2 objects of 700 MiB", "reads it"},
		{"middle-sized, but all of the heap", 4, 100, 50, 400, 12, "// reads", largeTitle, Info, "at least 87.5%", ""},
		{"middle-sized ones of a heap that others may have filled", 40, 100, 400, 400, 12, "// reads", gc16.Title, Info, "", "objects of"},
		{"for each attempt", 40, 70, 4, 400, 70, "// to send it again", sinksTitle, Warning, "bytes.NewReader at a.go:30 only makes a reader of that each time", ""},
		{"for each attempt, of a small heap", 4, 70, 4, 120, 12, "// to send it again", sinksTitle, Info, "only makes a reader of that", ""},
		{"for each attempt, and the heap profile has it", 4, 70, 4, 120, 70, "// to send it again", sinksTitle, Warning, "only makes a reader of that", ""},
		{"small objects", 14000, 1, 4, 1300, 12, "// reads", gc16.Title, Info, "", "objects of"},
		{"the heap profile has them", 2, 700, 4, 1300, 700, "// reads", gc16.Title, Info, "in use", "objects of 700"},
		{"a small heap", 2, 10, 1, 20, 1, "// reads", gc16.Title, Info, "", "objects of"},
	} {
		want := Found
		if c.title == gc16.Title && c.seen < 16 {
			want = Fine
		}
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..9s\n" +
			metricsTable("/memory/classes/heap/objects:bytes", func(int) []float64 { return []float64{float64(c.peak) * mb} }))
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(source))
		at := "main.main shop.load:/src/a.go:" + strconv.Itoa(lineWith(source, c.mark).Line)
		r.Put(recording.Entry{Path: "allocs.pb.gz", Kind: recording.Allocs, Span: timeline.Span{Start: 9e9, End: 9e9}}, heapProfile(
			column{at, []int64{c.objects, c.objects * c.size * mb, 0, 0}}, column{"main.main shop.other:/src/none.go:3", []int64{1000, c.others * mb, 0, 0}}))
		r.Put(recording.Entry{Path: "peak/heap-01.pb.gz", Kind: recording.Heap, Phase: "bare", Span: timeline.Span{Start: 4e9, End: 4e9}}, heapProfile(
			column{at, []int64{1, c.seen * mb, 1, c.seen * mb}}))
		f := answers(t, r, "GC16")[0]
		if f.State != want || f.Title != c.title && want == Found || want == Found && f.Severity != c.want || !strings.Contains(f.Summary, c.summary) || c.without != "" && strings.Contains(f.Summary, c.without) {
			t.Errorf("%s: %s %s %q: %s\n%s", c.name, f.State, f.Severity, f.Title, f.Summary, f.Advice)
		}
	}
}
