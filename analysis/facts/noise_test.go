package facts

import (
	"testing"
	"time"

	"loupe/format/metrics"
	"loupe/recording"
	"loupe/value/timeline"
)

// TestUsedOnce: what a run had used by its end is counted once, also where a sample still has its process after it.
func TestUsedOnce(t *testing.T) {
	const ms = time.Millisecond
	at := func(d time.Duration, pid int, user time.Duration) metrics.OSSample {
		return metrics.OSSample{At: timeline.Time(d), PID: pid, User: user, Busy: 2 * d, Idle: 0}
	}
	runs := []recording.Run{{PID: 7, Span: timeline.Span{Start: timeline.Time(10 * ms), End: timeline.Time(2500 * ms)}, User: 2400 * ms, Exit: "exit status 0"}}
	for name, samples := range map[string][]metrics.OSSample{
		"gone at the next sample": {at(0, 0, 0), at(1000*ms, 7, 950*ms), at(2000*ms, 7, 1900*ms), at(2600*ms, 0, 0)},
		"seen once it has ended":  {at(0, 0, 0), at(1000*ms, 7, 950*ms), at(2000*ms, 7, 1900*ms), at(2510*ms, 7, 0), at(2600*ms, 0, 0)},
	} {
		n := noiseOf(runs, samples)
		if want := 2400.0 / 5200; n.Own < want-0.01 || n.Own > want+0.01 {
			t.Errorf("%s: %v of the CPUs, want %v", name, n.Own, want)
		}
	}
}
