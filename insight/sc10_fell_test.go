package insight

import (
	"testing"
	"time"

	"loupe/value/timeline"
)

// TestFallOf: what falls by half of what had come is no leak; what only goes up and down on its way up may be one.
func TestFallOf(t *testing.T) {
	any := func(timeline.Time) bool { return true }
	for _, c := range []struct {
		name   string
		values []float64
		begins func(timeline.Time) bool
		to     float64
		want   bool
	}{
		{"it falls when the load ends", []float64{15, 24, 4245, 11206, 10468, 16416, 9654, 3846}, any, 3846, true},
		{"it rises again afterwards", []float64{15, 24, 4245, 16416, 9654, 3846, 5932, 11426}, any, 3846, true},
		{"up and down on its way up", []float64{15, 4000, 3500, 8000, 7200, 12000, 11000, 16000}, any, 11000, false},
		{"steadily up", []float64{10, 20, 30, 40, 50, 60, 70}, any, 0, false},
		{"few samples", []float64{15, 16416, 3846}, any, 3846, false},
		{"before there was a load", []float64{15, 9000, 40, 500, 1000, 1500, 2000}, func(at timeline.Time) bool { return at > timeline.Time(3*time.Second) }, 0, false},
	} {
		var s timeline.Series
		for i, v := range c.values {
			s.Append(timeline.Time(time.Duration(i)*time.Second), v)
		}
		f, ok := fallOf(s, c.begins)
		if ok != c.want || ok && f.to != c.to {
			t.Errorf("%s: %v, %v", c.name, f, ok)
		}
	}
}
