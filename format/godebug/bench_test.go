package godebug

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// gctraceLog is a few MB of Go 1.26 gctrace lines with growing numbers.
func gctraceLog() []byte {
	var b bytes.Buffer
	for i := 1; b.Len() < 4<<20; i++ {
		at := i * 7
		fmt.Fprintf(&b, "gc %d @%d.%03ds %d%%: 0.%03d+%d.%d+0.0%02d ms clock, 0.47+0.98/%d/40+0.080 ms cpu, %d->%d->%d MB, %d MB goal, 0 MB stacks, 1 MB globals, 2 P\n",
			i, at/1000, at%1000, i%30, i%99+1, i%9+1, i%10, i%89+10, i%90+10, 57+i%5, 69+i%5, 35+i%5, 67+i%5)
	}
	return b.Bytes()
}

// mixedLog is a service's log with a gctrace line and a scheduler sample now
// and then, some of them behind unterminated text.
func mixedLog() []byte {
	gc := string(sample("go1.26.gctrace1.txt"))
	sched := string(sample("go1.26.schedtrace.txt"))
	var b bytes.Buffer
	for i := 0; b.Len() < 4<<20; i++ {
		fmt.Fprintf(&b, "2025/01/01 12:%02d:%02d.%06d server.go:%d: GET /search?term=topic&page=%d 200 in 1.2ms, user foo@example.com\n", i/60%60, i%60, i, i%900, i)
		if i%50 == 0 {
			b.WriteString(gc)
			b.WriteString(sched)
		}
	}
	return b.Bytes()
}

func benchmarkReader(b *testing.B, data []byte) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r := NewBytesReader(data)
		n := 0
		for r.Next() {
			n++
		}
		if n == 0 || r.Stats().Malformed != 0 {
			b.Fatalf("%d records, %d malformed", n, r.Stats().Malformed)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	repeat := func(name string) []byte { return bytes.Repeat(sample(name), 4<<20/len(sample(name))) }
	b.Run("gctrace", func(b *testing.B) { benchmarkReader(b, gctraceLog()) })
	b.Run("schedtrace", func(b *testing.B) { benchmarkReader(b, repeat("go1.26.schedtrace.txt")) })
	b.Run("scheddetail", func(b *testing.B) { benchmarkReader(b, repeat("go1.26.scheddetail.txt")) })
	b.Run("pacer", func(b *testing.B) { benchmarkReader(b, repeat("go1.26.gcpacertrace.txt")) })
	b.Run("mixed", func(b *testing.B) { benchmarkReader(b, mixedLog()) })
	b.Run("docker", func(b *testing.B) {
		lines := strings.ReplaceAll(string(gctraceLog()), "->", `-\u003e`)
		lines = strings.ReplaceAll(lines, "\n", `\n","stream":"stderr","time":"2025-01-01T12:00:00.000000000Z"}`+"\n"+`{"log":"`)
		benchmarkReader(b, []byte(`{"log":"`+strings.TrimSuffix(lines, `{"log":"`)))
	})
}

func BenchmarkParse(b *testing.B) {
	data := gctraceLog()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		Parse(data)
	}
}
