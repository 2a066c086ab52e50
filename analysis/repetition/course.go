package repetition

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/format/repeats"
	"loupe/recording"
	"loupe/session"
)

// Growing is a function whose calls take the longer the more there have been of them within one call around.
type Growing struct {
	Entry recording.Entry
	// Func is the function, Within the one around it, nearest to it, in whose calls it grows, and Unit the outermost, of which Share
	// is the part that it takes.
	Func, Within, Unit repeats.Func
	Share              float64
	// Inner are the counts within Within.
	Inner repeats.Within
	// First and Last are the geometric means of the early and the latest calls, whose numbers within the call around end at FirstTo,
	// and begin at LastFrom. Where ByAverage, they are what a call took on average: few long calls make it, and Typical is the geometric
	// mean of the latest.
	First, Last       time.Duration
	ByAverage         bool
	Typical           time.Duration
	FirstTo, LastFrom int64
	// Power is that of the number of a call with which its time grows: 1 where each call goes through all earlier ones.
	Power float64
	// FirstSize and LastSize are how many elements the texts, slices and maps had that those calls were given, on average.
	FirstSize, LastSize float64
	Loaded              bool
}

// Limits of what counts as growth. Chosen: a machine that becomes busy makes calls twice as slow, and once.
const (
	firstStep  = 2    // calls before the fourth set things up
	fewSteps   = 5    // doublings of the number of calls
	leastPower = 0.55 // less may be caches that become too small
	leastTimes = 6    // the last calls take that many times as long as the first
	leastStep  = 1.1  // each doubling, but for one, makes calls that many times as long
	mostOfCall = 0.6  // of a function's time that another one takes that grows as well
	leastGrown = 50 * time.Millisecond
)

// Limits of growth by what calls take on average, where most of them are short: as those on many small receivers, beside few on a large one.
// Chosen: a machine on which other programs have nine tenths of the CPUs makes calls ten times as long on average, a pause makes a few calls of one step
// as long as that, and neither goes on from step to step.
const (
	longTimes   = 16 // the average is that many times the geometric mean, in:
	longSteps   = 2  // steps, which take
	longTime    = 250 * time.Millisecond
	averageLast = 24 // the last calls take that many times as long on average as the first
	fewRecords  = 5  // steps, and half of all, that take longer than all before by leastStep
)

// Courses are what the calls of functions were judged by.
type Courses struct {
	Set *repeats.Set
	// Compared is how many functions were called often enough in one call around to compare early calls with later ones.
	Compared int
	// Uneven are those that take longer on average in the last calls than in the first, but not so that the number of calls is seen to be the
	// reason, those first that take the most.
	Uneven []Growing
}

// GrowingIn are such functions, those first that take the most, and what was looked at. Of functions that call each other, the one is told that has
// the time itself. An error is that the recording has no counts.
func GrowingIn(s *session.Session) (all []Growing, seen *Courses, err error) {
	set, err := countsOf(s)
	if err != nil {
		return nil, nil, err
	}
	seen = &Courses{Set: set}
	entry, _ := s.Manifest().Main(recording.Repeats)
	for call, ways := range waysOf(set, func(w repeats.Within) bool { return set.Functions[w.Call].Caller == "" }) {
		outer := ways[len(ways)-1]
		compared := false
		var uneven, nearest Growing
		for _, w := range ways {
			if set.Loaded && w.Around < fewAround {
				continue
			}
			g, how := grows(w, set.Functions[call].Cut)
			if how == tooFew {
				continue
			}
			compared = true
			g.Entry, g.Loaded = entry, set.Loaded
			g.Func, g.Within, g.Unit = set.Functions[call], set.Functions[w.In], set.Functions[outer.In]
			g.Share = shareOf(set.Functions[call], outer)
			if how == growing && (nearest.Last == 0 || 2*w.Time >= outer.Time) {
				if nearest = g; 2*w.Time >= outer.Time { // and not one of several beside each other, of which another has most
					break
				}
			}
			if how == notSteadily && uneven.Last == 0 {
				uneven = g
			}
		}
		if compared {
			seen.Compared++
		}
		switch {
		case nearest.Last > 0:
			all = append(all, nearest)
		case uneven.Last > 0:
			seen.Uneven = append(seen.Uneven, uneven)
		}
	}
	byShare := func(a, b Growing) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), strings.Compare(a.Func.Name, b.Func.Name))
	}
	slices.SortFunc(all, byShare)
	slices.SortFunc(seen.Uneven, byShare)
	return withoutCallers(set, all), seen, nil
}

// shareOf is the part that a function takes of the calls around it. Where it was counted no more, that is of all of them, by
// the later calls that were looked at.
func shareOf(f repeats.Func, w repeats.Within) float64 {
	if took := w.CourseTime(); f.Cut && took > w.Time && w.WholeTime > w.AroundTime {
		return min(1, float64(took)/float64(w.WholeTime))
	}
	return min(1, float64(w.Time)/float64(max(1, w.AroundTime)))
}

// verdict is what a course says.
type verdict int

const (
	tooFew      verdict = iota // steps to compare
	steady                     // the last calls take about as long as the first
	notSteadily                // they take longer on average, but not from step to step
	growing
)

// point is a step of a course.
type point struct {
	step          int
	typical, mean float64 // ns: geometric, and on average
	size          float64
	calls         int64
	time          time.Duration
}

// pointsOf are the steps that are compared.
func pointsOf(course []repeats.Step) (points []point) {
	for i, x := range course {
		if i >= firstStep && x.Calls > 0 {
			n := float64(x.Calls)
			points = append(points, point{i, float64(x.Typical()), float64(x.Time) / n, float64(x.Size) / n, x.Calls, x.Time})
		}
	}
	// The end of the longest calls around alone says less than what most of them have.
	for len(points) > 0 && points[len(points)-1].calls*8 < points[0].calls {
		points = points[:len(points)-1]
	}
	return points
}

// grows tells whether calls take longer the more there have been, by the steps of their course; cut tells that they were not all timed.
func grows(w repeats.Within, cut bool) (g Growing, how verdict) {
	points := pointsOf(w.Course)
	if len(points) < fewSteps || max(w.Time, w.CourseTime()) < leastGrown {
		return g, tooFew
	}
	if from, power, ok := typicallyGrows(points); ok {
		first, last := points[from], points[len(points)-1]
		g = growingFrom(w, first, last)
		g.First, g.Last, g.Power = time.Duration(first.typical), time.Duration(last.typical), power
		return g, growing
	}
	first, last := points[0], points[len(points)-1]
	if last.mean < leastTimes*first.mean || time.Duration(last.mean) < leastCall {
		return g, steady
	}
	g = growingFrom(w, first, last)
	g.First, g.Last, g.ByAverage, g.Typical = time.Duration(first.mean), time.Duration(last.mean), true, time.Duration(last.typical)
	if g.Power = slope(points, func(p point) float64 { return p.mean }); !cut && g.Power >= leastPower && growsOnAverage(points, w.CourseTime()) {
		return g, growing
	}
	return g, notSteadily
}

// growingFrom is what grows from one step to another.
func growingFrom(w repeats.Within, first, last point) Growing {
	return Growing{Inner: w, FirstTo: int64(2)<<first.step - 1, LastFrom: int64(1) << last.step, FirstSize: first.size, LastSize: last.size}
}

// typicallyGrows tells whether the geometric means of steps grow, from which on, and with which power of the number.
func typicallyGrows(points []point) (from int, power float64, ok bool) {
	all := points
	// What is constant in a call hides the growth of the first ones.
	for len(points) > fewSteps && points[1].typical < leastStep*points[0].typical {
		points = points[1:]
	}
	first, last := points[0], points[len(points)-1]
	if first.typical <= 0 || last.typical < leastTimes*first.typical || time.Duration(last.typical) < leastCall {
		return 0, 0, false
	}
	flat := 0
	for i := 1; i < len(points); i++ {
		if points[i].typical < leastStep*points[i-1].typical {
			flat++
		}
	}
	if flat > 1 {
		return 0, 0, false
	}
	// The last step alone may be a machine that has become busy.
	before := points[len(points)-2]
	if before.typical*2 < last.typical && before.typical < leastTimes/2*first.typical || last.typical < 1.25*before.typical {
		return 0, 0, false
	}
	power = slope(points, func(p point) float64 { return p.typical })
	return len(all) - len(points), power, power >= leastPower
}

// growsOnAverage tells whether what a call takes on average grows, where few long calls have the time, and have it in several steps.
func growsOnAverage(points []point, whole time.Duration) bool {
	long, carried, records := 0, time.Duration(0), 0
	most := points[0].mean
	for _, p := range points {
		if p.mean >= longTimes*p.typical && p.time >= longTime {
			long++
			carried += p.time
		}
		if p.mean >= leastStep*most {
			records++
		}
		most = max(most, p.mean)
	}
	last := points[len(points)-1].mean
	return long >= longSteps && 2*carried >= whole && last >= most && last >= averageLast*points[0].mean && records >= fewRecords && 2*records >= len(points)-1
}

// slope is the power with which a time grows: by least squares over the later half of the steps and one, where what is constant in a call
// matters less.
func slope(points []point, of func(point) float64) float64 {
	half := points[max(0, len(points)/2-1):]
	var sx, sy, sxx, sxy float64
	for _, p := range half {
		x, y := float64(p.step), math.Log2(of(p))
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	n := float64(len(half))
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

// withoutCallers leaves out what calls another function of the list that has most of its time: the growth is there.
func withoutCallers(set *repeats.Set, all []Growing) (out []Growing) {
	within, total := timesOf(set)
	for _, g := range all {
		caller := slices.ContainsFunc(all, func(o Growing) bool {
			in, call := g.Inner.Call, o.Inner.Call
			return in != call && float64(within[[2]int{in, call}]) >= mostOfCall*float64(total[in]) &&
				float64(within[[2]int{call, in}]) < mostOfCall*float64(total[call])
		})
		if !caller {
			out = append(out, g)
		}
	}
	return out
}

// timesOf are how long each function's calls took within those of another, and in all.
func timesOf(set *repeats.Set) (within map[[2]int]time.Duration, total map[int]time.Duration) {
	within, total = map[[2]int]time.Duration{}, map[int]time.Duration{}
	for _, w := range set.Within {
		within[[2]int{w.In, w.Call}] += w.Time
	}
	for i, f := range set.Functions {
		total[i] = f.Time
	}
	return within, total
}
