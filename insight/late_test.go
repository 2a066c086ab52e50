package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestLate: what says when threads ran is a remark where the machine had something else to
// do in that very phase, and stands where it had not, whatever happened in others.
func TestLate(t *testing.T) {
	in := NewInput(session.New(recordingtest.New("title x\nhost cpus=4 load=0.25\nphase bare 0s..4s\nphase trace 4s..9s profiler=trace\n-- os.ndjson os --\n" +
		"t_ns pid busy_ns idle_ns steal_ns user_ns self_ns throttled_ns\n" +
		"0s 7 0s 0s 0s 0s 0s 0s\n2s 7 2s 6s 0s 2s 0s 0s\n4s 7 4s 12s 0s 4s 0s 0s\n6s 7 10s 14s 0s 6s 0s 0s\n8s 7 16s 16s 0s 8s 0s 0s\n").Open()))
	for phase, want := range map[string]Severity{"bare": Warning, "trace": Info, "none": Warning} {
		f := Finding{Severity: Warning}
		if late(in, &f, phase); f.Severity != want {
			t.Errorf("%s: %s, want %s", phase, f.Severity, want)
		}
		if want == Info && (len(f.Doubts) != 1 || !strings.Contains(f.Doubts[0], "meanwhile other programs used 50.0% of the CPUs")) {
			t.Errorf("%s: %q", phase, f.Doubts)
		}
	}
}

// TestLateThreads: a machine that is not full, and busy with nothing else, can keep the threads
// of a program waiting; what says when threads ran is a remark then, and nothing else is.
func TestLateThreads(t *testing.T) {
	in := NewInput(session.New(recordingtest.New("title x\nhost cpus=4 load=0.25\nphase bare 0s..4s\nphase trace 4s..9s profiler=trace\n-- os.ndjson os --\n" +
		"t_ns pid busy_ns idle_ns steal_ns user_ns waited_ns self_ns throttled_ns\n" +
		"0s 7 0s 0s 0s 0s 0s 0s 0s\n2s 7 6s 2s 0s 6s 100ms 0s 0s\n4s 7 12s 4s 0s 12s 200ms 0s 0s\n6s 7 18s 6s 0s 18s 2s 0s 0s\n8s 7 24s 8s 0s 24s 4s 0s 0s\n").Open()))
	for _, test := range []struct {
		rule, phase string
		want        Severity
	}{{gc01.ID, "bare", Warning}, {gc01.ID, "trace", Info}, {sc01.ID, "trace", Warning}} {
		f := Finding{Rule: test.rule, Severity: Warning}
		if late(in, &f, test.phase); f.Severity != test.want {
			t.Errorf("%s, %s: %s, want %s", test.rule, test.phase, f.Severity, test.want)
		}
		if test.want == Info && (len(f.Doubts) != 1 || !strings.Contains(f.Doubts[0], "meanwhile the program's threads waited for a CPU in 24.1% of the time in which they wanted one")) {
			t.Errorf("%q", f.Doubts)
		}
	}
}
