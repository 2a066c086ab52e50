package session_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"loupe/recording"
	"loupe/session"
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
	f := func(text string, want recording.Kind) {
		t.Helper()
		kind, part, err := session.Identify(iotest.HalfReader(strings.NewReader(text)))
		tells := want != recording.Stacks || strings.Contains(string(part), "goroutine 1 [running]:")
		if kind != want || err != nil || !tells {
			t.Errorf("%d bytes that end in %q: %q, %v, want %q", len(text), text[max(0, len(text)-40):], kind, err, want)
		}
	}
	f("", "")
	f(crash, recording.Stacks)
	f(trace+crash, recording.Stderr)
	f(sched, recording.Stderr)
	f(bench, session.BenchmarkOutput)
	f("go 1.26 trace\x00\x00\x00", recording.ExecTrace)
	f("\x1f\x8b\x08", session.OtherProfile)
	// Before the end of a part, behind it, and astride it.
	for _, n := range []int{64<<10 - 40, 64 << 10, 64<<10 + 1, 1<<20 - 40, 1<<20 + 63<<10, 3 << 20} {
		log := strings.Repeat(line, n/len(line)+1)[:n]
		log = log[:len(log)-1] + "\n"
		f(log, "")
		f(log+crash, recording.Stacks)
		f(log+trace+log, recording.Stderr)
		f(log+"\x1f\x8b\x08", "")
	}
	// No text: nothing is looked for in it.
	f(strings.Repeat("\x00", 1<<20)+crash, "")

	bad := iotest.TimeoutReader(bytes.NewReader([]byte(line)))
	if _, _, err := session.Identify(iotest.OneByteReader(bad)); err == nil {
		t.Error("a reader's error was lost")
	}
	if data, err := os.ReadFile("../profile/testdata/perf/plain.data"); err != nil {
		t.Error(err)
	} else if kind, _, err := session.Identify(bytes.NewReader(data)); kind != session.OtherProfile || err != nil {
		t.Errorf("perf.data is %q, %v", kind, err)
	}
}
