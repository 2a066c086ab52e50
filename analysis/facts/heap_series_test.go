package facts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/format/metrics"
	"loupe/value/timeline"
)

// TestLiveReadings: each collection that is counted gives a reading, also one that finds as much
// alive as the one before, as of a cache that is full; samples between two collections give none.
func TestLiveReadings(t *testing.T) {
	read := func(counted bool) []float64 {
		var b strings.Builder
		for i, s := range []struct{ cycles, live int }{{0, 0}, {1, 10}, {1, 10}, {2, 30}, {3, 30}, {3, 30}, {4, 30}} {
			fmt.Fprintf(&b, `{"t_ns":%d,"/gc/heap/live:bytes":%d`, i*1e9, s.live)
			if counted {
				fmt.Fprintf(&b, `,"/gc/cycles/total:gc-cycles":%d`, s.cycles)
			}
			b.WriteString("}\n")
		}
		return LiveReadings(metrics.ParseRuntime([]byte(b.String()), time.Unix(0, 0)), timeline.Span{End: timeline.Time(time.Minute)}).Values
	}
	if got := read(true); !slices.Equal(got, []float64{10, 30, 30, 30}) {
		t.Errorf("collections are counted: %v", got)
	}
	if got := read(false); !slices.Equal(got, []float64{10, 30}) {
		t.Errorf("collections are not counted: %v", got)
	}
}
