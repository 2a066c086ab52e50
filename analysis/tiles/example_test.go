package tiles_test

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/trace"

	"loupe/analysis/tiles"
	"loupe/format/exectrace"
)

func Example() {
	var buf bytes.Buffer
	if err := trace.Start(&buf); err != nil {
		fmt.Println(err)
		return
	}
	runtime.GC()
	trace.Stop()

	tr, err := exectrace.Open(buf.Bytes(), exectrace.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := tr.Reader()
	b := tiles.NewBuilder(r, tiles.Options{})
	for r.Next() {
		b.Event(r.Event())
	}
	set := b.Finish()

	lanes, n := set.Lanes(tiles.Filter{Kinds: []tiles.Kind{tiles.KindGC}}, 0, 10)
	tile := set.Tile(tiles.TileID{Lane: lanes[0].ID, Level: uint8(set.Top())})
	seen := map[tiles.Class]bool{}
	for span := range tile.Spans(set.Origin()) {
		seen[span.Class] = true
	}
	fmt.Println(n, seen[tiles.GCMark], seen[tiles.GCSTW])
	// Output: 1 true true
}
