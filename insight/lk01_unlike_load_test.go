package insight

import (
	"strings"
	"testing"
	"time"
)

// TestUnlikeLoad: requests of the trace that took far less or far longer than those of the load are a doubt with both times; what a profiler or a network adds is none.
func TestUnlikeLoad(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name           string
		traced, loaded time.Duration
		want           string
	}{
		{"far shorter", ms, 80 * ms, "took up to 1.00 ms, but half of those that the load measured up to 80.0 ms"},
		{"far longer", 200 * ms, 9 * ms, "took up to 200 ms, but half of those that the load measured up to 9.00 ms"},
		{"slower under the tracer", 20 * ms, 9 * ms, ""},
		{"the network adds its part", ms / 10, 3 * ms, ""},
		{"the load was not measured", ms, 0, ""},
		{"never answered in time", 0, 80 * ms, ""},
	} {
		if got := unlikeTimesOf(c.traced, c.loaded); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
