package kind_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"loupe/format/kind"
	"loupe/format/profile"
)

// TestIdentify: what a service has logged for hours does not hide how it ended.
func TestIdentify(t *testing.T) {
	const (
		line  = "2026-11-21T10:00:00 INFO request handled in 3ms, 40%: goroutine pool\n"
		crash = "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:3 +0x1d\n"
		trace = "gc 7 @0.5s 2%: 0.018+1.3+0.076 ms clock, 0.054+0.35/1.2/3.0+0.23 ms cpu, 4->4->0 MB, 5 MB goal, 4 P\n"
		sched = "SCHED 1009ms: gomaxprocs=2 idleprocs=2 threads=5\n"
		bench = "goos: linux\nBenchmarkX-2 \t 1000\t 12.5 ns/op\n"
	)
	f := func(text string, want kind.Kind) {
		t.Helper()
		k, part, err := kind.Of(iotest.HalfReader(strings.NewReader(text)))
		tells := want != kind.Dump || strings.Contains(string(part), "goroutine 1 [running]:")
		if k != want || err != nil || !tells {
			t.Errorf("%d bytes that end in %q: %q, %v, want %q", len(text), text[max(0, len(text)-40):], k, err, want)
		}
	}
	f("", kind.Empty)
	f(crash, kind.Dump)
	f(trace+crash, kind.GCTrace)
	f(sched, kind.SchedTrace)
	f(bench, kind.Benchmarks)
	f("\n"+bench, kind.Benchmarks)
	const events = `{"Action":"start","Package":"m"}` + "\n" + `{"Action":"output","Package":"m","Output":"goroutine 1 [running]:\n"}` + "\n"
	f(events, kind.Dump)
	const quiet = `{"Action":"start","Package":"m"}` + "\n" + `{"Action":"output","Package":"m","Test":"TestX","Output":"=== RUN   TestX\n"}` + "\n"
	const result = `{"Action":"output","Package":"m","Test":"BenchmarkX","Output":"BenchmarkX-2 \t"}` + "\n" +
		`{"Action":"output","Package":"m","Test":"BenchmarkX","Output":"    1000\t   12.5 ns/op\n"}` + "\n"
	const metric = `{"Action":"output","Package":"m","Output":"BenchmarkX-2 \t    1000\t   12.5 files\n"}` + "\n"
	begun, _, _ := strings.Cut(result, "\n")
	f(quiet, kind.Tests)
	f(quiet+begun, kind.Tests)
	f(quiet+begun+"\n"+events, kind.Dump)
	for _, n := range []int{0, 64<<10/len(quiet) - 1, 64<<10/len(quiet) + 1, 3 << 20 / len(quiet)} {
		long := strings.Repeat(quiet, n+1)
		f(long, kind.Tests)
		f(long+events+long, kind.Dump)
		f(long+events+result, kind.Benchmarks) // its tests may have printed anything
		f(long+metric+events, kind.Benchmarks)
	}
	f("go 1.26 trace\x00\x00\x00", kind.Trace)
	f("\x1f\x8b\x08", kind.Gzip)
	// Before the end of a part, behind it, and astride it.
	for _, n := range []int{64<<10 - 40, 64 << 10, 64<<10 + 1, 1<<20 - 40, 1<<20 + 63<<10, 3 << 20} {
		log := strings.Repeat(line, n/len(line)+1)[:n]
		log = log[:len(log)-1] + "\n"
		f(log, "")
		f(log+crash, kind.Dump)
		f(log+trace+log, kind.GCTrace)
		f(log+"\x1f\x8b\x08", "")
	}
	// The ids of a sample that read "gc2(" are no line of gctrace; colours and the zeros of a
	// rotation are no reason to take a log for anything else.
	f("\x0a\x04\x08\x01\x10\x02\x12\x09\x0a\x04gc2(\x12\x01\x05\x32\x00\x32\x07samples\x32\x05count", kind.Profile)
	f(strings.Repeat("\x00", 4096)+"\x1b[31m"+trace+"\x1b[0m", kind.GCTrace)
	// No text: nothing is looked for in it.
	f(strings.Repeat("\x00", 1<<20)+crash, "")

	bad := iotest.TimeoutReader(bytes.NewReader([]byte(line)))
	if _, _, err := kind.Of(iotest.OneByteReader(bad)); err == nil {
		t.Error("a reader's error was lost")
	}
	if data, err := os.ReadFile("../profile/testdata/perf/plain.data"); err != nil {
		t.Error(err)
	} else if k, _, err := kind.Of(bytes.NewReader(data)); k != kind.Profile || err != nil {
		t.Errorf("perf.data is %q, %v", k, err)
	}
}

// TestProfiles: everything that package profile decodes is told from other files by its
// begin alone, packed or not.
func TestProfiles(t *testing.T) {
	files := 0
	for _, pattern := range []string{"../profile/testdata/*/*", "../../internal/cli/testdata/goldens/*.pb.gz"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				continue // a folder
			}
			if _, err := profile.Decode(data, profile.Options{}); err != nil {
				continue
			}
			files++
			k, _, err := kind.Of(bytes.NewReader(data))
			if err != nil || k != kind.Profile && k != kind.Dump {
				t.Errorf("%s is %q, %v", name, k, err)
			}
		}
	}
	if files < 20 {
		t.Errorf("%d profiles were looked at", files)
	}
}
