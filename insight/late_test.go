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
