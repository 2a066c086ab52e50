package alert_test

import (
	"testing"

	"loupe/capture/alert"
)

// TestLine: numbers of things are whole, and what is not known is left out.
func TestLine(t *testing.T) {
	now := alert.Reading{
		Values: map[string]float64{"rss": 13 << 20, "goroutines": 14, "threads": 8, "cpu": 0.5, "gcs": 1},
		Wholes: map[string]float64{"rss": 26 << 20},
	}
	const want = "RSS 13.0 MiB (50.0%)  goroutines 14  CPUs 0.50  GC 1.00/s  threads 8"
	if got := now.Line(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
