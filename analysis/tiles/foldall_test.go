package tiles

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestFoldAll holds buckets that are filled from sums against those that are filled span by
// span: also where several spans are the longest, and where one crosses an edge or lies on it.
func TestFoldAll(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		base := uint8(2 + rnd.IntN(8))
		got := &promoted{folds: true, pyramid: newPyramid[spanSums, *spanSums](spanRow, base, 0)}
		want := &promoted{folds: true, pyramid: newPyramid[spanSums, *spanSums](spanRow, base, 0)}
		at, end := tick(0), tick(0)
		longest := 1 + rnd.IntN(1<<base/4)
		for range 20 {
			words := make([]uint32, rnd.IntN(12))
			for i := range words {
				words[i] = uint32(rnd.IntN(longest))<<3 | uint32(rnd.IntN(4))
			}
			if rnd.IntN(4) == 0 && len(words) > 0 { // to an edge exactly
				words[0] = uint32(want.pyramid.end()-end)<<3 | 5
			}
			at, end = foldAll(got, words, at, 0), fold(want, words, end, 0)
			addWords(&want.sums, words)
			if at != end || !reflect.DeepEqual(got, want) {
				t.Fatalf("after %v: %+v at %d, want %+v at %d", words, got, at, want, end)
			}
		}
	}
}
