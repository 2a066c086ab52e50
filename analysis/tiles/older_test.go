package tiles_test

import (
	"bytes"
	"runtime"
	"runtime/trace"
	"strings"
	"testing"

	"loupe/analysis/tiles"
)

// waitOlder is what goroutines do that are older than the trace.
func waitOlder(begun chan<- bool, quit <-chan bool) {
	begun <- true
	<-quit
}

// TestOlder: goroutines that were there before the trace count from its begin on,
// though an event tells of them only at its end.
func TestOlder(t *testing.T) {
	const older = 50
	begun, quit := make(chan bool), make(chan bool)
	for range older {
		go waitOlder(begun, quit)
	}
	for range older {
		<-begun
	}
	var buf bytes.Buffer
	if err := trace.Start(&buf); err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		done := make(chan bool)
		go func() { runtime.Gosched(); close(done) }()
		<-done
	}
	trace.Stop()
	close(quit)

	tr := open(t, buf.Bytes())
	all, err := tiles.FindOlder(tr)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := build(tr, tiles.Options{Older: all})
	without, _ := build(tr, tiles.Options{})
	if a, b := s.Len(), without.Len(); a != b {
		t.Errorf("%d lanes, and %d without those that are older", a, b)
	}
	lanes, _ := s.Lanes(tiles.Filter{Kinds: []tiles.Kind{tiles.KindGroup}}, 0, 1<<30)
	found := false
	for _, l := range lanes {
		if !strings.HasSuffix(l.Name, "waitOlder") {
			continue
		}
		found = true
		if l.Members != older {
			t.Errorf("%d goroutines of %s, want %d", l.Members, l.Name, older)
		}
		buckets := 0
		for level := l.Base; level <= s.Top(); level++ {
			tile := s.Tile(tiles.TileID{Lane: l.ID, Level: uint8(level)})
			width := int64(1) << tile.Level
			for i, counts := range tile.Counts() {
				if from := (int64(tile.Index)<<10 + int64(i)) * width; from <= int64(s.Span().Start.Sub(s.Origin())) || from+width > int64(s.Span().End.Sub(s.Origin())) {
					continue // it is not all within the trace
				}
				sum := 0.0
				for _, n := range counts {
					sum += n
				}
				if buckets++; sum < 0.97*older || sum > 1.03*older {
					t.Fatalf("level %d, bucket %d of %d ns: %.1f goroutines, want %d", level, i, width, sum, older)
				}
			}
		}
		if buckets < 10 {
			t.Errorf("only %d buckets", buckets)
		}
	}
	if !found {
		t.Error("there is no lane of their group")
	}
}
