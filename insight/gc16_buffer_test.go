package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// TestLocalBuffer: a buffer that a stream goes through may be of any size; one whose content or size is needed, and one that
// something else holds, are told from it.
func TestLocalBuffer(t *testing.T) {
	const loop = "for {\nn, err := r.Read(b)\nw.Write(b[:n])\nif err != nil {\nbreak\n}\n}"
	for _, c := range []struct {
		name, body    string
		found, stream bool
	}{
		{"a loop that reads", "b := make([]byte, 1<<30) /*1*/\n" + loop, true, true},
		{"a constant by name", "b := make([]byte, size) /*1*/\n" + loop, true, true},
		{"declared with var", "var b = make([]byte, n) /*1*/\n" + loop, true, true},
		{"gathered", "b := make([]byte, 1<<26) /*1*/\nfor {\nn, err := r.Read(b)\nall = append(all, b[0:n]...)\nif err != nil {\nbreak\n}\n}", true, true},
		{"io.CopyBuffer", "b := make([]byte, 1<<30) /*1*/\nfor _, x := range list {\nio.CopyBuffer(w, x, b)\n}", true, true},
		{"given to it at once", "io.CopyBuffer(w, r, make([]byte, 1<<30)) /*1*/", true, true},
		{"a reader with a size", "br := bufio.NewReaderSize(r, 1<<30) /*1*/\nbr.ReadString('\\n')\nio.Copy(w, br)", true, true},
		{"a scanner's", "s := bufio.NewScanner(r)\ns.Buffer(make([]byte, 1<<26), 1<<30) /*1*/\n_ = s", true, true},

		{"a reader that looks ahead", "br := bufio.NewReaderSize(r, 1<<30) /*1*/\nhead, _ := br.Peek(n)\n_ = head", true, false},
		{"a reader for somebody else", "br := bufio.NewReaderSize(r, 1<<30) /*1*/\nparse(br)", true, false},
		{"a writer with a size", "bw := bufio.NewWriterSize(w, size) /*1*/\nif ok {\nbw.Flush()\n}", true, false},
		{"parts of an upload", "b := make([]byte, 1<<26) /*1*/\nfor {\nn, err := r.Read(b)\nup.Part(b[:n])\nif err != nil {\nbreak\n}\n}", true, false},
		{"read behind what is there", "b := make([]byte, 1<<30) /*1*/\nn := 0\nfor {\nm, err := r.Read(b[n:])\nn += m\nif err != nil {\nbreak\n}\n}\nuse(b[:n])", true, false},
		{"read as a whole", "b := make([]byte, 1<<30) /*1*/\nio.ReadFull(r, b)\nuse(b)", true, false},
		{"read once", "b := make([]byte, 1<<30) /*1*/\nk, _ := r.Read(b)\nuse(b[:k])", true, false},
		{"a table", "b := make([]byte, 1<<30) /*1*/\nfor i := range b {\nb[i] = 1\n}", true, false},
		{"made in each turn", "for {\nb := make([]byte, 1<<30) /*1*/\nk, _ := r.Read(b)\nch <- b[:k]\n}", true, false},
		{"it is kept as well", "b := make([]byte, 1<<30) /*1*/\nkeep(b)\n" + loop, true, false},
		{"of numbers", "b := make([]int, 1<<30) /*1*/\n_ = b", true, false},
		{"a field", "s.cache = make([]byte, 1<<30) /*1*/", false, false},
		{"returned", "return make([]byte, 1<<30) /*1*/", false, false},
		{"given to a function", "use(make([]byte, 1<<30)) /*1*/", false, false},
	} {
		text := "package main\n\nimport (\n\"bufio\"\n\"io\"\n)\n\nconst size = 1 << 30\n\nfunc f(r io.Reader, w io.Writer, n int, list []io.Reader) {\n" + c.body + "\n}\n"
		b, ok := localBufferAt(sourceOf(text), numbered(text)[0])
		if ok != c.found || b.streams != c.stream || b.streams && b.at.Line == 0 {
			t.Errorf("%s: %v %+v", c.name, ok, b)
		}
	}
}

// TestGC16Buffer: huge objects that a stream goes through are a warning, and so are those of which most was never resident; what
// may all be needed is an info, and small ones are told as before.
func TestGC16Buffer(t *testing.T) {
	const stream = "for {\nn, err := r.Read(b)\nw.Write(b[:n])\nif err != nil {\nbreak\n}\n}"
	for _, c := range []struct {
		name, make, use string
		objects, size   int64
		rss, title      string
		want            Severity
	}{
		{"a stream", "b := make([]byte, 1<<30)", stream, 1, 1 << 30, "", bufferTitle, Warning},
		{"a stream by two", "b := make([]byte, 64<<20)", stream, 2, 64 << 20, "", bufferTitle, Warning},
		{"a small one", "b := make([]byte, 64<<10)", stream, 1000, 64 << 10, "", gc16.Title, Info},
		{"a table", "b := make([]byte, n)", "b[n-1] = 1\nfill(b)", 1, 1 << 30, "1100 MB", gc16.Title, Info},
		{"mostly untouched", "b := make([]byte, 0, n)", "for _, x := range list {\nb = append(b, x)\n}", 1, 1 << 30, "100 MB", reservedTitle, Warning},
		{"a cache", "cache.blocks = make([]byte, 1<<30)", "", 1, 1 << 30, "100 MB", gc16.Title, Info},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..9s\nphase heap 9s..10s profiler=heap\n")
		for i := range r.Manifest.Phases {
			if c.rss != "" {
				r.Manifest.Phases[i].MaxRSS = map[string]int64{"100 MB": 100 << 20, "1100 MB": 1100 << 20}[c.rss]
			}
		}
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte("package shop\n\nfunc f(r io.Reader, w io.Writer, n int, list []byte) {\n\t"+c.make+"\n"+c.use+"\n}\n"))
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap", Span: timeline.Span{Start: 9e9, End: 10e9}}, heapProfile(
			column{"main.main shop.f:/src/a.go:4", []int64{c.objects, c.objects * c.size, c.objects, c.objects * c.size}}))
		f := answers(t, r, "GC16")[0]
		if f.State != Found || f.Title != c.title || f.Severity != c.want || (c.size >= 32<<20 && c.name != "a cache") != strings.Contains(f.Summary, "according to the source, the variable b holds it") {
			t.Errorf("%s: %s %s %q: %s", c.name, f.State, f.Severity, f.Title, f.Summary)
		}
	}
}

// TestBufferCards: what clears a huge buffer goes under it, and a wait for a peer behind it.
func TestBufferCards(t *testing.T) {
	buffer := seenAt("GC16", Warning, 60, "/src/a.go", 9)
	clears := seenAt("CP06", Warning, 60, "/src/a.go", 9)
	if buffer.Title = bufferTitle; !makesBuffer(&clears, &buffer) || makesBuffer(&buffer, &clears) {
		t.Error("the same line")
	}
	if clears = seenAt("CP06", Warning, 60, "/src/a.go", 10); makesBuffer(&clears, &buffer) {
		t.Error("another line")
	}
	buffer.felt = 0.6
	all := []Finding{seenAt("WT01", Warning, 90, "/src/a.go", 20), buffer}
	for waits, first := range map[string]string{"network_write": "GC16", "network": "GC16", "lock": "WT01"} {
		all[0].waitsFor, all[0].felt = waits, 0.9
		if cards := Cards(sourceInput("package main\n"), all); all[cards[0].Finding].Rule != first {
			t.Errorf("waiting for %s: %s is first", waits, all[cards[0].Finding].Rule)
		}
	}
}
