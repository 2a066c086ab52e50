package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestEnded: a report begins with how a program ended that did not end well, with its last words; not with an end that loupe made, and not where a
// finding tells why.
func TestEnded(t *testing.T) {
	run := func(exit string, stopped bool) recording.Run { return recording.Run{Exit: exit, Stopped: stopped} }
	const words = "reading\n2026/01/02 15:04:05 Get \"http://localhost:1\": connection refused\n"
	for _, c := range []struct {
		name, stderr string
		runs         []recording.Run
		want         string
	}{
		{"its peer is down", words, []recording.Run{run("exit status 1", false)}, "The program ended with exit status 1; its last words were: 2026/01/02 15:04:05 Get \"http://localhost:1\": connection refused."},
		{"the runtime speaks last", words + "SCHED 10ms: gomaxprocs=2\ngc 1 @0.001s 0%: 0.1+0.2 ms clock\n\n", []recording.Run{run("exit status 1", false)}, "its last words were: 2026/01/02"},
		{"it says nothing", "SCHED 0ms: gomaxprocs=2\n", []recording.Run{run("exit status 3", false)}, "The program ended with exit status 3, and nothing in its standard error says why."},
		{"one run of several", words, []recording.Run{run("exit status 1", false), run("exit status 0", false), run("signal: killed", true)}, "exit status 1 in 1 of 2 runs; its last words"},
		{"long words", strings.Repeat("é", 500), []recording.Run{run("exit status 1", false)}, "é…."},
		{"it ended well", words, []recording.Run{run("exit status 0", false)}, ""},
		{"it was stopped", words, []recording.Run{run("signal: interrupt", true)}, ""},
		{"nobody saw its end", words, []recording.Run{run("", false)}, ""},
		{"a panic, which is a finding", "panic: no\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:5 +0x20\nexit status 2\n", []recording.Run{run("exit status 2", false)}, ""},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\n")
		r.Put(recording.Entry{Path: "stderr.log", Kind: recording.Stderr, Phase: "bare"}, []byte(c.stderr))
		r.Manifest.Target.Runs = c.runs
		all := answers(t, r, "FA01")
		m := r.Manifest
		if got := Ended(&m, all); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q (%s %s)", c.name, got, c.want, all[0].State, all[0].Summary)
		}
	}
}
