package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestCompressLevel: the fastest level is advised only where the encoder does not run at it already, by what it calls or,
// where no sample tells, by all encoders that the source makes.
func TestCompressLevel(t *testing.T) {
	const head = "package main\n\nimport (\n\"compress/gzip\"\n\"compress/flate\"\n\"io\"\n)\n\nfunc send(z io.Writer, b []byte) {\nz.Write(b) // A\n}\n"
	const way = "runtime.main main.send@A compress/gzip.(*Writer).Write compress/flate.(*Writer).Write compress/flate.(*compressor).write"
	for _, c := range []struct {
		name, source string
		stacks       []string
		fastest      bool
	}{
		{"the fast encoder", "", []string{way + " compress/flate.(*compressor).encSpeed compress/flate.(*deflateFast).encode"}, true},
		{"no matches at all", "", []string{way + " compress/flate.(*compressor).storeHuff compress/flate.(*huffmanBitWriter).writeBlockHuff"}, true},
		{"the default", "", []string{way + " compress/flate.(*compressor).deflate compress/flate.(*compressor).findMatch"}, false},
		{"some of each", "", []string{way + " compress/flate.(*compressor).encSpeed", way + " compress/flate.(*compressor).deflate"}, false},
		{"the default, though another one is made fast", "func other(w io.Writer) { gzip.NewWriterLevel(w, gzip.BestSpeed) }\n", []string{way + " compress/flate.(*compressor).deflate"}, false},
		{"only the source tells", "func open(w io.Writer) { gzip.NewWriterLevel(w, gzip.BestSpeed) }\n", []string{way}, true},
		{"only the source tells, by number", "func open(w io.Writer) { flate.NewWriter(w, 1) }\n", []string{way}, true},
		{"the source makes others too", "func open(w io.Writer) { gzip.NewWriterLevel(w, gzip.BestSpeed) }\nfunc best(w io.Writer) { gzip.NewWriter(w) }\n", []string{way}, false},
		{"another level in the source", "func open(w io.Writer) { gzip.NewWriterLevel(w, 6) }\n", []string{way}, false},
		{"a level that is not constant", "func open(w io.Writer, n int) { gzip.NewWriterLevel(w, n) }\n", []string{way}, false},
		{"nothing tells", "", []string{way}, false},
	} {
		text := head + c.source
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
		columns := []column{{"net/http.(*conn).serve main.other:/src/other.go:3", []int64{20}}}
		for _, s := range c.stacks {
			columns = append(columns, column{stackAt(text, s), []int64{int64(80 / len(c.stacks))}})
		}
		withProfile(r, recording.CPU, "cpu", columns...)
		f := answers(t, r, "CP23")[0]
		if fastest := strings.Contains(f.Advice, "The level is the fastest one"); fastest != c.fastest || fastest == strings.Contains(f.Advice, "BestSpeed takes") {
			t.Errorf("%s: %s: %s", c.name, f.Summary, f.Advice)
		}
	}
}

// TestReadsAreNoJSON: what a Decoder waits for and reads from a peer or a file, and an Encoder writes, is no JSON; its work is.
func TestReadsAreNoJSON(t *testing.T) {
	const source = "func ask(d *json.Decoder, to any) {\nd.Decode(to) // A\n}\n"
	const way = "runtime.main main.ask@A encoding/json.(*Decoder).Decode "
	for _, c := range []struct {
		name, stack string
		json        bool
	}{
		{"scans", way + "encoding/json.(*Decoder).readValue encoding/json.stateInString", true},
		{"makes room", way + "encoding/json.(*Decoder).readValue encoding/json.(*Decoder).refill runtime.growslice", true},
		{"of memory", way + "encoding/json.(*Decoder).readValue encoding/json.(*Decoder).refill bytes.(*Reader).Read runtime.memmove", true},
		{"reads a socket", way + "encoding/json.(*Decoder).readValue encoding/json.(*Decoder).refill net.(*conn).Read net.(*netFD).Read internal/poll.(*FD).Read syscall.Read", false},
		{"reads a body", way + "encoding/json.(*Decoder).refill net/http.(*body).Read bufio.(*Reader).Read net/http.(*connReader).Read net.(*conn).Read", false},
		{"reads a file", way + "encoding/json.(*Decoder).refill os.(*File).Read internal/poll.(*FD).Read", false},
	} {
		text := "package main\n\nimport \"encoding/json\"\n\n" + source
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
		withProfile(r, recording.CPU, "cpu", column{stackAt(text, c.stack), []int64{80}}, column{"net/http.(*conn).serve main.other:/src/other.go:3", []int64{20}})
		if f := answers(t, r, "CP03")[0]; (f.State == Found) != c.json {
			t.Errorf("%s: %s: %s", c.name, f.State, f.Summary)
		}
	}
}
