package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// growingRun is a run of 4 s on 4 Ps, 4 s of CPU time, that collects n times while its heap doubles, each
// time for as long as is said for a MB.
func growingRun(n int, perMB time.Duration, more string) *recordingtest.Recording {
	live := 2
	cycles := recordingtest.Cycles(n, 10*time.Millisecond, 3900*time.Millisecond/time.Duration(n), func(i int, c *recordingtest.Cycle) {
		c.Start, c.Live = 2*live, 2*live
		c.End, c.Goal = c.Start, max(4, c.Start)
		c.Background = time.Duration(c.Live) * perMB
		c.Mark = c.Background
		if live *= 2; n > 10 && i%3 > 0 {
			live /= 2
		}
	})
	r := recordingtest.New("title x\ntarget package . module=main\nhost cpus=4\nrun 0s..4s user=4s exit=\"exit status 0\"\nphase bare 0s..4s run=0 user=4s\nclock stderr.log 5ms error=20ms\n" +
		"-- stderr.log stderr run=0 --\n" + cycles + more)
	r.Manifest.Host.Memory = 32 << 30
	return r
}

// TestGC03Ended: a program that ran to its end, whose few collections took much of its CPU time, is told to let its heap grow
// where that certainly gains; not where its settings, its memory or its lines speak against that.
func TestGC03Ended(t *testing.T) {
	const perMB = 400 * time.Microsecond // 2044 MB are marked in all, in 0.8 s of 4 s
	env := func(kv string) func(*recordingtest.Recording) {
		return func(r *recordingtest.Recording) { r.Manifest.Target.Env = []string{kv} }
	}
	line := func(share int64) func(*recordingtest.Recording) {
		return func(r *recordingtest.Recording) {
			r.Manifest.Phases = append(r.Manifest.Phases, recording.Phase{Name: "allocs", Profiler: "allocs", Run: -1, Span: timeline.Span{Start: 4e9, End: 5e9}})
			withProfile(r, recording.Allocs, "allocs", column{"main.main:/src/main.go:5 main.load:/src/load.go:9", []int64{1, share, 0, 0}}, column{"main.main:/src/main.go:6", []int64{1, 1000 - share, 0, 0}})
		}
	}
	for _, c := range []struct {
		name   string
		r      *recordingtest.Recording
		change func(r *recordingtest.Recording)
		state  State
		level  Severity
		says   string
		gogc   State // of GC18
	}{
		{"a heap that grows", growingRun(9, perMB, ""), nil, Found, Warning, "start it with GOGC=", NotApplicable},
		{"many lines", growingRun(9, perMB, ""), line(400), Found, Warning, "start it with GOGC=", NotApplicable},
		{"one line allocates nearly all", growingRun(9, perMB, ""), line(950), Found, Info, "First mend load.go:9", NotApplicable},
		{"few, and all that it allocates fits", growingRun(7, 6*perMB, "-- metrics.ndjson metrics run=0 --\nt_ns /gc/heap/allocs:bytes /gc/gogc:percent /gc/gomemlimit:bytes\n1s 1e8 100 9223372036854775807\n3s 3e8 100 9223372036854775807\n"), nil, Found, Warning, "GOGC=off and GOMEMLIMIT=448MiB", NotApplicable},
		{"GOGC is high", growingRun(9, perMB, ""), env("GOGC=400"), TooLittle, "", "", Fine},
		{"GOGC is off", growingRun(9, perMB, ""), env("GOGC=off"), TooLittle, "", "", Fine},
		{"a limit of memory", growingRun(9, perMB, ""), env("GOMEMLIMIT=2GiB"), TooLittle, "", "", Fine},
		{"a small share", growingRun(9, perMB/3, ""), nil, TooLittle, "", "", Fine},
		{"little time", growingRun(9, perMB/10, ""), func(r *recordingtest.Recording) {
			r.Manifest.Phases[0].User, r.Manifest.Target.Runs[0].User = 450*time.Millisecond, 450*time.Millisecond
		}, TooLittle, "", "", Fine},
		{"too small a machine", growingRun(9, perMB, ""), func(r *recordingtest.Recording) { r.Manifest.Host.Memory = 2 << 30 }, TooLittle, "", "", Fine},
		{"how much memory there is is unknown", growingRun(9, perMB, ""), func(r *recordingtest.Recording) { r.Manifest.Host.Memory = 0 }, Found, Warning, "if memory allows", NotApplicable},
		{"a service", growingRun(9, perMB, ""), func(r *recordingtest.Recording) { r.Manifest.Target.Runs[0].Stopped = true }, TooLittle, "", "", Fine},
		{"samples say less", growingRun(9, perMB, ""), func(r *recordingtest.Recording) {
			withProfile(r, recording.CPU, "bare", column{"runtime.gcBgMarkWorker runtime.gcDrain", []int64{20}}, column{"main.main main.work", []int64{980}})
		}, TooLittle, "", "", Fine},
		{"three", growingRun(3, 100*perMB, ""), nil, TooLittle, "", "", Fine},
	} {
		if c.change != nil {
			c.change(c.r)
		}
		f := answers(t, c.r, "GC03")[0]
		if f.State != c.state || f.Severity != c.level || !strings.Contains(f.Advice, c.says) {
			t.Errorf("%s: %s %s: %s %s %s", c.name, f.State, f.Severity, f.Summary, f.Advice, fmt.Sprint(f.Doubts))
		}
		if g := answers(t, c.r, "GC18")[0]; g.State != c.gogc {
			t.Errorf("%s: GC18 %s: %s", c.name, g.State, g.Summary)
		}
	}
}
