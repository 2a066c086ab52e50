package insight

import (
	"math"
	"path"
	"strings"

	"loupe/calltree"
	"loupe/profile"
	"loupe/stack"
)

// observed counts the samples behind a heap profile's bytes. Of objects of one
// size the runtime takes a share of 1−e^(−size/period) and scales what it took
// up by the inverse (scaleHeapSample in runtime/pprof); multiplying by that
// share gives back how many it took. An object much larger than the period is
// always taken and counts as one, however many bytes it has.
func observed(p *profile.Profile, bytes int) calltree.Samples {
	objects := p.Values[bytes]
	if i, err := p.Index("alloc_objects"); err == nil {
		objects = p.Values[i]
	}
	return func(yield func(stack.ID, int64) bool) {
		for i, id := range p.StackIDs {
			if !yield(id, taken(objects[i], p.Values[bytes][i], p.Period)) {
				return
			}
		}
	}
}

// taken is how many samples stand for objects of this many bytes together: at
// least one for anything that is there at all.
func taken(objects, bytes, period int64) int64 {
	if objects <= 0 || bytes <= 0 {
		return 0
	}
	if period <= 1 {
		return objects // every allocation is taken
	}
	share := -math.Expm1(-float64(bytes) / float64(objects) / float64(period))
	return max(1, int64(math.Round(float64(objects)*share)))
}

// baseName is the last element of a file's path.
func baseName(file string) string { return path.Base(strings.ReplaceAll(file, "\\", "/")) }
