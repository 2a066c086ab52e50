package exectrace_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"loupe/format/exectrace"
	"loupe/format/exectrace/exectracetest"
)

// all returns what is left of a reader's events, in words.
func all(r *exectrace.Reader) (out []string) {
	for r.Next() {
		out = append(out, string(r.AppendText(nil)))
	}
	return out
}

func open(t testing.TB, data []byte) *exectrace.Trace {
	t.Helper()
	tr, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// counting remembers the largest read.
type counting struct {
	io.ReaderAt
	largest int
}

func (c *counting) ReadAt(b []byte, off int64) (int, error) {
	c.largest = max(c.largest, len(b))
	return c.ReaderAt.ReadAt(b, off)
}

// TestReaderAt reads a file in pieces: never more than a generation.
func TestReaderAt(t *testing.T) {
	data := recorded(t)["medium"]
	whole := open(t, data)
	want := all(whole.Reader())
	file := &counting{ReaderAt: bytes.NewReader(data)}
	tr, err := exectrace.OpenReaderAt(file, int64(len(data)), exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := tr.Reader()
	if got := all(r); !slices.Equal(got, want) || r.Err() != nil {
		t.Errorf("%d events instead of %d, error %v", len(got), len(want), r.Err())
	}
	largest := 0
	for _, g := range whole.Generations() {
		largest = max(largest, int(g.Bytes))
	}
	if file.largest > largest {
		t.Errorf("read %d bytes at once, the largest generation has %d", file.largest, largest)
	}
}

// TestLive reads files that grow in pieces of any size while they are read:
// traces of Go 1.26, and those of older formats that Go ships.
func TestLive(t *testing.T) {
	traces := map[string][]byte{"recorded": recorded(t)["medium"]}
	dir := t.TempDir()
	if out, err := exectracetest.Oracle(t, "unpack", filepath.Join(exectracetest.Tree(t), "testdata", "tests"), dir); err != nil {
		t.Fatal(out, err)
	}
	for _, name := range []string{"go122-gc-stress", "go122-annotations", "go123-sync", "go125-sync", "go122-task-across-generations"} {
		data, err := os.ReadFile(filepath.Join(dir, name+".trace"))
		if err != nil {
			t.Fatal(err)
		}
		traces[name] = data
	}
	for name, data := range traces {
		for _, piece := range []int{1, 50, 5000, len(data)} {
			if piece == 1 && len(data) > 100<<10 {
				continue
			}
			want := all(open(t, data).Reader())
			rng := rand.New(rand.NewPCG(1, uint64(piece)))
			size := 16
			tr, err := exectrace.OpenReaderAt(bytes.NewReader(data), int64(size), exectrace.Options{Live: true})
			if err != nil {
				t.Fatal(err)
			}
			r := tr.Reader()
			var got []string
			for size < len(data) {
				got = append(got, all(r)...)
				size = min(len(data), size+1+rng.IntN(piece))
				if err := tr.Extend(int64(size)); err != nil {
					t.Fatal(err)
				}
			}
			got = append(got, all(r)...)
			early := len(got)
			if err := tr.Finish(int64(size)); err != nil {
				t.Fatal(err)
			}
			got = append(got, all(r)...)
			if r.Err() != nil || len(r.Problems()) != 0 {
				t.Errorf("%s: error %v, problems %v", name, r.Err(), r.Problems())
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s in pieces of up to %d bytes: %d events, the finished file has %d", name, piece, len(got), len(want))
			}
			// Since Go 1.26 a generation says itself where it ends.
			if name == "recorded" && early != len(want)-1 {
				t.Errorf("%s: %d of %d events came before the end was told", name, early, len(want))
			}
		}
	}
}

// TestLiveCut finishes a file that has stopped growing in the middle.
func TestLiveCut(t *testing.T) {
	data := recorded(t)["medium"]
	data = data[:len(data)-len(data)/5]
	tr, err := exectrace.OpenReaderAt(bytes.NewReader(data), 100, exectrace.Options{Live: true})
	if err != nil {
		t.Fatal(err)
	}
	r := tr.Reader()
	got := all(r)
	if err := tr.Finish(int64(len(data))); err != nil {
		t.Fatal(err)
	}
	got = append(got, all(r)...)
	if want := all(open(t, data).Reader()); !slices.Equal(got, want) || len(r.Problems()) == 0 {
		t.Errorf("%d events, problems %v; the file has %d", len(got), r.Problems(), len(want))
	}
}
