package facts

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"loupe/format/metrics"
	"loupe/value/timeline"
)

// TestRate: of a load that was sampled at both ends all that was allocated between counts, over
// the time of the requests; what came before, such as a warm-up, does not.
func TestRate(t *testing.T) {
	const ms = timeline.Time(time.Millisecond)
	sample := func(b *strings.Builder, at timeline.Time, bytes int, more string) {
		fmt.Fprintf(b, "{\"t_ns\":%d,\"/gc/heap/allocs:bytes\":%d%s}\n", at, bytes, more)
	}
	const mark = `,"/loupe/boundary:samples":1`
	var b strings.Builder
	sample(&b, 100*ms, 50_000, "") // in the warm-up
	sample(&b, 190*ms, 90_000, mark)
	sample(&b, 250*ms, 95_000, "")
	sample(&b, 410*ms, 110_000, mark)
	sample(&b, 900*ms, 400_000, "") // of the next phase
	set := metrics.ParseRuntime([]byte(b.String()), time.Unix(0, 0))
	phase, work := timeline.Span{Start: 0, End: 500 * ms}, timeline.Span{Start: 200 * ms, End: 400 * ms}
	f := func(what string, phase timeline.Span, load bool, want float64) {
		t.Helper()
		got := workedIn(set, phase, work, load).rate(set, "/gc/heap/allocs:bytes")
		if math.IsNaN(want) != math.IsNaN(got) || math.Abs(got-want) > 1e-3*math.Abs(want) {
			t.Errorf("%s: %v bytes a second, want %v", what, got, want)
		}
	}
	f("a load", phase, true, 20_000/0.2)
	f("no load: the time between the samples", phase, false, 20_000/0.22)
	f("one sample within the work, and no boundary", timeline.Span{Start: 195 * ms, End: 405 * ms}, true, math.NaN())
	work.End = 450 * ms
	f("no boundary: from the first sample to the last", timeline.Span{Start: 195 * ms, End: 500 * ms}, true, 15_000/0.16)
}
