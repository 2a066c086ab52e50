package insight

import (
	"strconv"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// TestGC16Once: files that are read as a whole only to be hashed are a warning where they are most of a large heap; what others
// read by the same line and keep does not count.
func TestGC16Once(t *testing.T) {
	const source = `package shop

import (
	"crypto/sha256"
	"io"
	"os"
)

func load(name string, r io.Reader) ([]byte, error) {
	return os.ReadFile(name) // reads
}

func hash(name string) []byte {
	data, _ := load(name, nil) // hashes
	h := sha256.New()
	h.Write(data)
	return h.Sum(nil)
}

func keep(name string) {
	data, _ := load(name, nil) // keeps
	all[name] = data
}

var all = map[string][]byte{}
`
	for _, c := range []struct {
		name            string
		hashed, kept    int64 // MB
		all             bool  // io.ReadAll
		title           string
		want            Severity
		advice, without string
	}{
		{"hashed", 400, 4, false, onceTitle, Warning, "Open the file (os.Open) where load reads it", "ReadAll"},
		{"hashed, by a reader", 400, 4, true, onceTitle, Warning, "Copy it into the hash instead of reading it first: io.Copy(h, r)", "os.Open"},
		{"of a small heap", 40, 4, false, onceTitle, Info, "io.Copy(h, f)", "ReadAll"},
		{"kept by others", 100, 400, false, gc16.Title, Info, "give it a bound", "os.Open"},
		{"kept by others, from a reader", 100, 400, true, gc16.Title, Info, "give it a bound", "io.Copy"},
	} {
		text := source
		if c.all {
			text = strings.Replace(text, "os.ReadFile(name)", "io.ReadAll(r)", 1)
		}
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..9s\nphase heap 9s..10s profiler=heap\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(text))
		line := func(mark string) string { return strconv.Itoa(lineWith(text, mark).Line) }
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap", Span: timeline.Span{Start: 9e9, End: 10e9}}, heapProfile(
			column{"main.main shop.hash:/src/a.go:" + line("// hashes") + " shop.load:/src/a.go:" + line("// reads"), []int64{4, 4 * c.hashed << 20, 1, c.hashed << 20}},
			column{"main.main shop.keep:/src/a.go:" + line("// keeps") + " shop.load:/src/a.go:" + line("// reads"), []int64{4, 4 * c.kept << 20, 1, c.kept << 20}}))
		f := answers(t, r, "GC16")[0]
		if f.State != Found || f.Title != c.title || f.Severity != c.want || !strings.Contains(f.Advice, c.advice) || strings.Contains(f.Advice, c.without) {
			t.Errorf("%s: %s %s %q: %s\n%s", c.name, f.State, f.Severity, f.Title, f.Summary, f.Advice)
		}
	}
}
