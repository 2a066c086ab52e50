package compare

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/format/loadlog/loadlogtest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestSlowRequests: what the bare phase of a program is joined with, and that no
// phase is joined with what was recorded in another.
func TestSlowRequests(t *testing.T) {
	put := func(r *recordingtest.Recording, phases ...string) *recordingtest.Recording {
		for _, p := range phases {
			path := "load-" + p + ".requests"
			r.Put(recording.Entry{Path: path, Kind: recording.Load, Phase: p}, loadlogtest.Encode(loadlogtest.Steady(1000, 10*time.Second, 5*time.Millisecond))).Clock(path, time.Second)
		}
		return r
	}
	show := func(r *recordingtest.Recording) string {
		var out []string
		for _, s := range SlowRequests(session.New(r.Open())) {
			text := s.Phase + " " + s.Source + " " + s.Path
			if s.Table != nil {
				text += fmt.Sprintf(" %d", s.Requests)
				for _, r := range s.Rows {
					text += fmt.Sprintf(" %s:%d", r.Key, r.Intervals)
				}
			}
			out = append(out, text)
		}
		return strings.Join(out, "; ")
	}
	f := func(what string, r *recordingtest.Recording, want string) {
		t.Helper()
		if got := show(r); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	log := "clock stderr.log 0s\n-- stderr.log stderr --\n" + recordingtest.Cycles(100, time.Second, 100*time.Millisecond, nil)
	f("gctrace", put(recordingtest.New("title x\nphase bare 1s..11s\nphase bare-2 11s..21s\nphase cpu 21s..31s profiler=cpu\n"+log), "bare", "bare-2", "cpu"),
		"bare gctrace stderr.log 1000 gc_mark:100 stw:200")
	f("no collections", put(recordingtest.New("title x\nphase bare 1s..11s\n"), "bare"), "")
	// Of an attached program: pauses 3 s, 3.1 s, … after the start, in dates.
	var ns, end []string
	for i := range 50 {
		ns = append(ns, "20000000")
		end = append(end, fmt.Sprint(recordingtest.Start.Add(3*time.Second+time.Duration(i)*100*time.Millisecond).UnixNano()))
	}
	vars := fmt.Sprintf(`{"t_ns":1,"vars":{"memstats":{"PauseNs":[%s],"PauseEnd":[%s]}}}`, strings.Join(ns, ","), strings.Join(end, ","))
	r := put(recordingtest.New("title x\nphase bare 1s..11s run=-1\n"), "bare").Put(recording.Entry{Path: "vars.ndjson", Kind: recording.Vars}, []byte(vars+"\n"))
	f("attached", r, "bare memory statistics vars.ndjson 802 stw:50")
	f("damaged", put(recordingtest.New("title x\nphase trace 1s..11s profiler=trace\n"), "trace").Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, []byte("cut")),
		"trace execution trace trace.out")
	f("of another phase", put(recordingtest.New("title x\nphase cpu 1s..11s profiler=cpu\nphase trace 11s..12s profiler=trace\n"), "cpu").Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, []byte("cut")), "")
}
