package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// TestModes: every form sends the same bytes, which are the text.
func TestModes(t *testing.T) {
	m := newMetrics(10)
	var want bytes.Buffer
	for range 3 {
		m.count()
		want.Reset()
		if err := m.writeTo(&want); err != nil {
			t.Fatal(err)
		}
		var first []byte
		for mode, encode := range modes {
			var sent bytes.Buffer
			if err := encode(m, &sent); err != nil {
				t.Fatalf("%s: %v", mode, err)
			}
			z, err := gzip.NewReader(bytes.NewReader(sent.Bytes()))
			if err != nil {
				t.Fatalf("%s: %v", mode, err)
			}
			got, err := io.ReadAll(z)
			if err != nil || !bytes.Equal(got, want.Bytes()) {
				t.Errorf("%s sends %q, %v, want %q", mode, got, err, want.Bytes())
			}
			if first == nil {
				first = sent.Bytes()
			}
			if !bytes.Equal(sent.Bytes(), first) {
				t.Errorf("%s compresses in another way", mode)
			}
		}
	}
	if text := want.String(); !strings.Contains(text, "# TYPE shop_errors_0 counter\nshop_errors_0{shard=\"0\",zone=\"a\"} 1024\n") {
		t.Errorf("the text is\n%s", text)
	}
}

func TestAnswer(t *testing.T) {
	size, sum, err := answer(encodeNew, 20, 5)
	if s, c, e := answer(encodePooled, 20, 5); err != nil || e != nil || s != size || c != sum || size == 0 {
		t.Errorf("fixed: %d bytes, %x, %v, slow: %d, %x, %v", s, c, e, size, sum, err)
	}
}

// broken is a connection that was closed.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestBroken(t *testing.T) {
	for mode, encode := range modes {
		if err := encode(newMetrics(1), broken{}); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: %v, want that the pipe is closed", mode, err)
		}
	}
}

// TestAllocated: what the lab is about. A pool loses what it has when the
// collector runs, so that ten times less is asked for where it is thousands.
func TestAllocated(t *testing.T) {
	info, _ := debug.ReadBuildInfo()
	if info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("with the race detector a pool forgets a quarter of what it is given, at random")
	}
	slow, fixed := allocated(encodeNew), allocated(encodePooled)
	if slow < 10*fixed {
		t.Errorf("slow allocates %d bytes an answer, fixed %d: want at least ten times less", slow, fixed)
	}
}

// allocated returns how many bytes an answer allocates.
func allocated(encode func(m *metrics, out io.Writer) error) int64 {
	const answers = 200
	m, out := newMetrics(24), &wire{}
	encode(m, out) // fills the pool
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range answers {
		m.count()
		encode(m, out)
	}
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc-before.TotalAlloc) / answers
}

func BenchmarkEncode(b *testing.B)         { benchmark(b, encodeNew) }
func BenchmarkEncodeWithPool(b *testing.B) { benchmark(b, encodePooled) }

func benchmark(b *testing.B, encode func(m *metrics, out io.Writer) error) {
	m, out := newMetrics(24), &wire{}
	b.ReportAllocs()
	for b.Loop() {
		m.count()
		if err := encode(m, out); err != nil {
			b.Fatal(err)
		}
	}
}
