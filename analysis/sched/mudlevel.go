package sched

import (
	"cmp"
	"slices"
	"sort"
	"sync"
	"time"
)

// utilLevel is a utilisation that some step has. Windows that lie in stretches at that
// level or below have no more, and windows that touch none of them have more, so that
// lengths of stretches tell where a quantile of short windows lies: nearly always at a
// level, and then no window has to be looked at.
type utilLevel struct {
	util float64
	// measure measures the stretches when somebody asks: of most levels nobody does.
	measure func() *levelStretches
}

// levelStretches are how long the utilisation stays at a level or below, and above it, each
// time.
type levelStretches struct {
	below, above stretchLengths
}

// utilLevels returns the levels of all series, the lowest first.
func utilLevels(series []mmuSeries) []utilLevel {
	seen := map[float64]bool{}
	var levels []utilLevel
	for _, s := range series {
		last := -1.0
		for _, step := range s.steps[:len(s.steps)-1] { // the last one has no length
			if step.Util == last || seen[step.Util] {
				continue
			}
			last, seen[step.Util] = step.Util, true
			levels = append(levels, utilLevel{step.Util, sync.OnceValue(func() *levelStretches {
				return stretchesAt(series, step.Util)
			})})
		}
	}
	slices.SortFunc(levels, func(a, b utilLevel) int { return cmp.Compare(a.util, b.util) })
	return levels
}

// stretchesAt measures the stretches of a level.
func stretchesAt(series []mmuSeries, level float64) *levelStretches {
	var below, above []time.Duration
	for _, s := range series {
		begin, low := s.steps[0].Time, s.steps[0].Util <= level
		for i, step := range s.steps {
			is, last := step.Util <= level, i == len(s.steps)-1
			if is == low && !last {
				continue
			}
			if d := step.Time.Sub(begin); low {
				below = append(below, d)
			} else {
				above = append(above, d)
			}
			begin, low = step.Time, is
		}
	}
	return &levelStretches{newStretchLengths(below), newStretchLengths(above)}
}

// levelOf returns the lowest level that at least a mass of windows, in ns of where they
// begin, does not exceed, as far as lengths of stretches tell, and whether less than the
// mass lies below: then the level is the quantile.
func levelOf(levels []utilLevel, window time.Duration, mass float64) (level float64, exact bool) {
	i := sort.Search(len(levels)-1, func(i int) bool {
		return float64(levels[i].measure().below.beyond(window)) >= mass
	})
	if i > 0 {
		// Who has less touches a stretch below the level, or begins in one.
		s := levels[i-1].measure()
		touch := s.below.total + s.above.total - s.above.beyond(window)
		return levels[i].util, float64(touch) < mass
	}
	return levels[i].util, true
}

// stretchLengths are lengths of stretches.
type stretchLengths struct {
	sorted []time.Duration
	sums   []time.Duration // of those up to each
	total  time.Duration
}

func newStretchLengths(all []time.Duration) stretchLengths {
	slices.Sort(all)
	l := stretchLengths{sorted: all, sums: make([]time.Duration, len(all))}
	for i, d := range all {
		l.total += d
		l.sums[i] = l.total
	}
	return l
}

// beyond returns how much of the stretches is beyond a length in all: in so much time a
// window of that length can begin without leaving its stretch.
func (l *stretchLengths) beyond(length time.Duration) time.Duration {
	i, _ := slices.BinarySearch(l.sorted, length+1)
	if i == 0 {
		return l.total - time.Duration(len(l.sorted))*length
	}
	return l.total - l.sums[i-1] - time.Duration(len(l.sorted)-i)*length
}
