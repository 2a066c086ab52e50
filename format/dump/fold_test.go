package dump

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
)

// TestFolded: a text in which everything is distinct takes a small multiple of
// its own size, and what was not told apart is counted.
func TestFolded(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads 200 MB")
	}
	const n = 800_000
	f := func(what, first, each string, want func(*File) bool) {
		t.Helper()
		text := bytes.NewBufferString(first)
		for i := range n {
			fmt.Fprintf(text, each, i+1)
		}
		ways := []string{"Parse", "Read"}
		if what != "functions" && what != "states" {
			ways = ways[:1]
		}
		for _, way := range ways {
			file, kept, made := measure(t, way, text.Bytes())
			size := float64(text.Len())
			t.Logf("%s, %s: %d MB, kept ×%.1f, allocated ×%.1f: %+v", what, way, text.Len()>>20, kept/size, made/size, file.Folded)
			if kept > 5*size || made > 28*size {
				t.Errorf("%s, %s: %d bytes took %.1f times as many, and %.1f times on the way", what, way, text.Len(), kept/size, made/size)
			}
			if !want(file) {
				t.Errorf("%s, %s: %d goroutines, %d frames, %d dumps, %d states, folded %+v", what, way, file.Len(), file.Frames, len(file.Dumps), len(file.States), file.Folded)
			}
		}
	}
	f("functions", "goroutine 1 [running]:\n", "f%d()\n\t/a:1\n", func(x *File) bool {
		return x.Frames == n && x.Folded.Frames == n-maxFrames && x.Stacks.NumFrames() <= maxFrames+2
	})
	f("states", "", "goroutine %[1]d [s%[1]d]:\n", func(x *File) bool {
		return x.Len() == n && x.Folded.States == n-maxStates && len(x.States) == maxStates+maxNames+1 && x.State(n-1).Name == OtherStates
	})
	f("labels", "", "goroutine %[1]d [select labels:{\"id\": \"%[1]d\"}]:\n", func(x *File) bool {
		return x.Len() == n && x.Folded.States == n-maxStates && x.State(n-1).Name == "select" && len(x.StateCounts(nil)) == 1
	})
	f("headers and functions", "", "goroutine %[1]d [s%[1]d]:\nf%[1]d()\n\t/a:1\n", func(x *File) bool {
		return x.Len() == n && x.Frames == n && x.Folded.Frames == n-maxFrames
	})
	f("dumps", "", "panic: %d\n\ngoroutine 1 [running]:\n", func(x *File) bool {
		return len(x.Dumps) == maxDumps && x.Folded.Dumps == n-maxDumps && x.Len() == n
	})
	f("races", "", "==================\nWARNING: DATA RACE\nRead at 0x1 by goroutine 7:\n  f%d()\n      /a:1\n==================\n", func(x *File) bool {
		return len(x.Races) == maxRaces && x.Folded.Races == n-maxRaces
	})
	f("records", "goroutine profile: total 800000\n", "1 @ 0x1\n#\t0x1\tf%d+0x1\ta:1\n\n", func(x *File) bool {
		return x.Goroutines() == n && x.Folded.Frames > 0
	})
}

// measure reads a text and tells how many bytes are in use afterwards, and were
// allocated meanwhile.
func measure(t *testing.T, way string, text []byte) (f *File, kept, made float64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if way == "Parse" {
		f = Parse(text)
	} else {
		var err error
		if f, err = Read(bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(text)
	return f, float64(after.HeapAlloc) - float64(before.HeapAlloc), float64(after.TotalAlloc - before.TotalAlloc)
}
