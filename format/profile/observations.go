package profile

import (
	"math"
	"slices"
	"strings"
)

// Sampling says how the values of a sample type came about, and so how far
// they can be trusted.
type Sampling uint8

// The ways.
const (
	Unknown Sampling = iota // sampled, but not in a way that tells how often
	Sampled                 // estimated from observations that can be counted
	Exact                   // all of them were counted
)

// Observations returns how many observations stand behind the value of each
// sample of a type, and what they are worth.
//
// A CPU profile counts its samples in a column of its own. Of the allocations
// of one size, the runtime takes a share of 1−e^(−size/period) and scales what
// it took up by the inverse (scaleHeapSample in runtime/pprof); multiplying by
// that share gives back how many it took. An object much larger than the period
// is always taken and counts as one, however many bytes it has. Block and mutex
// profiles are scaled up in a way that cannot be undone: there, each sample
// counts as one, which is too few. Goroutines are counted one by one.
func (p *Profile) Observations(index int) ([]int64, Sampling) {
	find := func(name string) int {
		return slices.IndexFunc(p.SampleTypes, func(t ValueType) bool { return t.Type == name })
	}
	name := p.SampleTypes[index].Type
	switch name {
	case "goroutine", "threadcreate", "goroutineleak":
		return p.Values[index], Exact
	}
	if kind, isHeap := strings.CutSuffix(name, "_space"); isHeap || strings.HasSuffix(name, "_objects") || name == "space" || name == "objects" {
		if !isHeap {
			kind = strings.TrimSuffix(name, "_objects")
		}
		objects, space := find(kind+"_objects"), find(kind+"_space")
		if name == "space" || name == "objects" {
			objects, space = find("objects"), find("space")
		}
		counts := make([]int64, p.Len())
		for i := range counts {
			switch {
			case objects >= 0 && space >= 0:
				counts[i] = taken(p.Values[objects][i], p.Values[space][i], p.Period)
			case p.Values[index][i] != 0:
				counts[i] = 1
			}
		}
		switch {
		case objects < 0 || space < 0:
			return counts, Unknown
		case p.Period <= 1:
			return counts, Exact
		}
		return counts, Sampled
	}
	if samples := find("samples"); samples >= 0 && p.SampleTypes[samples].Unit == "count" {
		return p.Values[samples], Sampled
	}
	counts := make([]int64, p.Len())
	for i, v := range p.Values[index] {
		if v != 0 {
			counts[i] = 1
		}
	}
	return counts, Unknown
}

// taken is how many samples stand for objects of this many bytes together: at
// least one for anything that is there at all.
func taken(objects, bytes, period int64) int64 {
	objects, bytes = max(objects, -objects), max(bytes, -bytes)
	if objects == 0 || bytes == 0 {
		return 0
	}
	if period <= 1 {
		return objects // every allocation is taken
	}
	share := -math.Expm1(-float64(bytes) / float64(objects) / float64(period))
	return max(1, int64(math.Round(float64(objects)*share)))
}
