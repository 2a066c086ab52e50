package tiles_test

import (
	"math"
	"math/bits"
	"testing"
	"time"

	"loupe/analysis/tiles"
	"loupe/format/exectrace"
	"loupe/value/timeline"
)

// TestLatency holds the heat map on every level against the events, counted in
// the simplest way.
func TestLatency(t *testing.T) {
	tr := open(t, record())
	s, _ := build(tr, tiles.Options{})
	lanes, n := s.Lanes(tiles.Filter{Kinds: []tiles.Kind{tiles.KindLatency}}, 0, 2)
	if n != 1 {
		t.Fatalf("%d lanes of latencies, want 1", n)
	}
	type start struct{ at, row uint64 } // at in grains since the origin
	var starts []start
	ready := map[exectrace.GoID]timeline.Time{}
	sync := timeline.Time(0)
	grains := func(at timeline.Time) uint64 { return uint64(at-s.Origin()) / tiles.Grain }
	for r := tr.Reader(); r.Next(); {
		switch e := r.Event(); {
		case e.Kind == exectrace.KindSync:
			sync = e.Time
		case e.Kind != exectrace.KindGoTransition || e.From == e.To:
		case e.To == exectrace.Runnable:
			if ready[e.Goroutine()] = e.Time; e.From == exectrace.Undetermined {
				ready[e.Goroutine()] = sync
			}
		case e.From == exectrace.Runnable && e.To == exectrace.Running:
			d := grains(e.Time) - grains(ready[e.Goroutine()])
			starts = append(starts, start{grains(e.Time), uint64(min(bits.Len64(d), tiles.LatencyRows-1))})
		}
	}
	if lanes[0].Spans != len(starts) || len(starts) == 0 {
		t.Fatalf("%d starts, want %d", lanes[0].Spans, len(starts))
	}
	for level := lanes[0].Base; level <= s.Top(); level++ {
		want := map[uint64]*[tiles.LatencyRows]float64{}
		for _, st := range starts {
			i := st.at * tiles.Grain >> level
			if want[i] == nil {
				want[i] = new([tiles.LatencyRows]float64)
			}
			want[i][st.row]++
		}
		seen := 0
		for index := range uint64(s.Span().Len()-1)>>level>>10 + 1 {
			tile := s.Tile(tiles.TileID{Lane: lanes[0].ID, Level: uint8(level), Index: uint32(index)})
			for k, got := range tile.Latencies() {
				w := want[index<<10+uint64(k)]
				if w == nil {
					w = new([tiles.LatencyRows]float64)
				} else {
					seen++
				}
				for row := range w {
					if math.Abs(got[row]-w[row]) > 0.05*(w[row]+1) || (got[row] == 0) != (w[row] == 0) {
						t.Fatalf("level %d, tile %d, bucket %d, row %d: %.2f, want %.0f", level, index, k, row, got[row], w[row])
					}
				}
			}
		}
		if seen != len(want) {
			t.Errorf("level %d: %d buckets have starts, want %d", level, seen, len(want))
		}
	}
	if from, to := tiles.LatencyRow(0); from != 0 || to != tiles.Grain {
		t.Errorf("row 0 is from %v to %v", from, to)
	}
	if from, to := tiles.LatencyRow(15); from != tiles.Grain<<14 || to != 2*from || from < time.Millisecond {
		t.Errorf("row 15 is from %v to %v", from, to)
	}
}
