package facts

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"loupe/value/stats"
)

// Part are looks that can be compared: of one program, between two starts of it, and of the
// heap each after a collection of its own.
type Part struct {
	*Growth
	// Process names it where there are several.
	Process string
	// Why says why it cannot be judged; empty where it can.
	Why string
}

// FewestLooks is how many looks can show that a rise has not stopped; with fewer than
// six, Mann and Kendall's p cannot fall below 0.01.
const FewestLooks = 6

// restarted is how far what was allocated in all has to fall between two looks: of one process
// it only rises, but for rounding.
const restarted = 0.99

// Parts takes looks apart: those of other programs and of other processes cannot be joined
// into one series. Of a heap, only looks after a collection of their own are left.
func (g *Growth) Parts(heap bool) (all []Part) {
	byProgram := map[string][]int{}
	var programs []string
	for i := range g.Looks {
		name := g.Looks[i].Program
		if byProgram[name] == nil {
			programs = append(programs, name)
		}
		byProgram[name] = append(byProgram[name], i)
	}
	for n, program := range programs {
		runs := startsIn(g, byProgram[program])
		for r, at := range runs {
			p := Part{Growth: g.Part(at)}
			if len(programs) > 1 {
				p.Process = fmt.Sprintf("program %d of %d (%s)", n+1, len(programs), shortProgram(program))
			}
			if len(runs) > 1 {
				p.Process = joined(p.Process, fmt.Sprintf("process %d of %d, which was restarted", r+1, len(runs)))
			}
			if heap {
				p.settle(g, at)
			}
			all = append(all, p)
		}
	}
	return all
}

// Judged is the longest part that can be judged; nil where none has so many looks.
func (g *Growth) Judged(heap bool, looks float64) (best *Growth) {
	if g == nil {
		return nil
	}
	for _, p := range g.Parts(heap) {
		if p.Why == "" && float64(len(p.Times)) >= looks && (best == nil || len(p.Times) > len(best.Times)) {
			best = p.Growth
		}
	}
	return best
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}

// shortProgram is a build id, or the name of a file, that fits into a sentence.
func shortProgram(name string) string {
	const most = 24
	switch {
	case name == "":
		return "unnamed"
	case len(name) > most:
		return "…" + name[len(name)-most:]
	}
	return name
}

// startsIn cuts looks of one program where it was started anew: the system has put it, or what
// it maps into each process, to another address, or what was allocated since the
// beginning, or the number of collections, has fallen.
func startsIn(g *Growth, at []int) (runs [][]int) {
	for n, i := range at {
		if n > 0 {
			last, now := &g.Looks[at[n-1]], &g.Looks[i]
			if !now.Delta && now.Allocated < restarted*last.Allocated || now.Collections >= 0 && now.Collections < last.Collections || now.Placed != "" && last.Placed != "" && now.Placed != last.Placed {
				runs = append(runs, nil)
			}
		}
		if len(runs) == 0 {
			runs = append(runs, nil)
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], i)
	}
	return runs
}

// settle leaves the looks of a heap that come after a collection of their own: a heap profile
// has what was in use at the end of the last one, and without any it has everything that was
// ever allocated.
func (p *Part) settle(whole *Growth, at []int) {
	deltas := 0
	for _, i := range at {
		if whole.Looks[i].Delta {
			deltas++
		}
	}
	if deltas > 0 {
		p.Why = fmt.Sprintf("%s what changed in a time (heap?seconds=N) and not what is in use: take /debug/pprof/heap?gc=1 again and again", tells(deltas, len(at)))
		return
	}
	var own []int
	for _, i := range at {
		now := &whole.Looks[i]
		switch {
		case now.Forced():
		case now.Collections == 0, now.Collections < 0 && now.Freed == 0:
			continue // nothing was ever collected
		case len(own) > 0:
			last := &whole.Looks[own[len(own)-1]]
			if now.Collections >= 0 && now.Collections == last.Collections {
				continue
			}
			if now.Collections < 0 && now.Allocated == last.Allocated && now.Freed == last.Freed {
				continue
			}
		}
		own = append(own, i)
	}
	if len(own) == len(at) {
		return
	}
	if len(own) < FewestLooks {
		p.Why = fmt.Sprintf("%s after a collection of its own: a heap profile has what was in use at the last collection, and before the first one everything that was allocated; take them with /debug/pprof/heap?gc=1, or for longer than the program goes without a collection", came(len(own), len(at)))
		return
	}
	p.Growth = whole.Part(own)
}

func tells(n, of int) string {
	if n == of {
		return "these profiles tell"
	}
	return fmt.Sprintf("%d of %d profiles tell", n, of)
}

func came(n, of int) string {
	if n == 0 {
		return fmt.Sprintf("no collection in the window: none of %d profiles came", of)
	}
	return fmt.Sprintf("only %d of %d profiles came", n, of)
}

// Flat is what the last quarter of the time must have of the average rise for it to go on;
// with less it has levelled off. Chosen.
const Flat = 0.2

// quarters are the rises of the quarters of the time, as parts of the average one. all is the
// whole rise; where there is none they are not known.
func quarters(times, values []float64) (quarter [4]float64, all float64) {
	first, last := times[0], times[len(times)-1]
	var level [5]float64
	for i := range level {
		level[i] = LevelAt(times, values, first+(last-first)*float64(i)/4)
	}
	if all = level[4] - level[0]; all <= 0 {
		return quarter, all
	}
	for i := range quarter {
		quarter[i] = (level[i+1] - level[i]) / all * 4
	}
	return quarter, all
}

// LevelledOff tells of what has risen that it has stopped: a pool at its bound, a cache that is
// full.
func LevelledOff(times, values []float64) bool {
	if len(times) < 2 {
		return false
	}
	quarter, all := quarters(times, values)
	return all > 0 && quarter[3] < Flat
}

// LevelAt is the median of the values around a moment: of a tenth of the time.
func LevelAt(times, values []float64, at float64) float64 {
	width := (times[len(times)-1] - times[0]) / 20
	lo := sort.SearchFloat64s(times, at-width)
	hi := sort.Search(len(times), func(i int) bool { return times[i] > at+width })
	if hi <= lo { // between two measurements that are far apart
		i := min(max(lo, 1), len(times)-1)
		share := (at - times[i-1]) / max(times[i]-times[i-1], 1e-9)
		return values[i-1] + share*(values[i]-values[i-1])
	}
	return stats.Median(values[lo:hi])
}

// AllocatedIn is what was allocated in all at each look; nil where that is not known.
func (g *Growth) AllocatedIn() (all []float64) {
	for i := range g.Looks {
		all = append(all, g.Looks[i].Allocated)
	}
	if slices.ContainsFunc(all, math.IsNaN) {
		return nil
	}
	return all
}
