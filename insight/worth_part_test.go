package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestSampledPart: of a program that ends by itself it is known which part of its run the CPU profile is of, also where the run that was profiled was stopped
// then. Nearly all of it, and a service, are no part.
func TestSampledPart(t *testing.T) {
	for _, c := range []struct{ name, first, run, phase, want string }{
		{"twelve of seventeen", `0s..15s exit="exit status 0"`, `20s..37s exit="exit status 0"`, "20s..32s", " of the 12.0 s of a run of 17.0 s that were profiled"},
		{"stopped then", `0s..15s exit="exit status 0"`, `20s..32s exit="signal: killed" stopped`, "20s..32s", " of the 12.0 s of a run of 15.0 s that were profiled"},
		{"nearly all", `0s..15s exit="exit status 0"`, `20s..37s exit="exit status 0"`, "20100ms..36900ms", ""},
		{"a service", `0s..15s exit="signal: interrupt" stopped`, `20s..37s exit="signal: interrupt" stopped`, "20s..32s", ""},
	} {
		r := recordingtest.New(fmt.Sprintf("title x\ntarget package . module=main\nhost cpus=2\nrun %s\nrun %s\nphase bare 0s..15s run=0\nphase cpu %s run=1 profiler=cpu\n", c.first, c.run, c.phase))
		withProfile(r, recording.CPU, "cpu", column{"main.main main.work", []int64{1000}})
		if got := ofSampled(NewInput(session.New(r.Open()))); strings.TrimSpace(got) != strings.TrimSpace(c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
