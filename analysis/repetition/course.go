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
	// and begin at LastFrom.
	First, Last       time.Duration
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

// GrowingIn are such functions, those first that take the most. Of functions that call each other, the one is told that has the
// time itself. An error is that the recording has no counts.
func GrowingIn(s *session.Session) (all []Growing, set *repeats.Set, err error) {
	set, err = countsOf(s)
	if err != nil {
		return nil, nil, err
	}
	entry, _ := s.Manifest().Main(recording.Repeats)
	for call, ways := range waysOf(set, func(w repeats.Within) bool { return set.Functions[w.Call].Caller == "" }) {
		for _, w := range ways {
			g, ok := grows(w)
			if !ok || set.Loaded && w.Around < fewAround {
				continue
			}
			outer := ways[len(ways)-1]
			g.Entry, g.Loaded = entry, set.Loaded
			g.Func, g.Within, g.Unit = set.Functions[call], set.Functions[w.In], set.Functions[outer.In]
			g.Share = shareOf(set.Functions[call], outer)
			all = append(all, g)
			break
		}
	}
	slices.SortFunc(all, func(a, b Growing) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), strings.Compare(a.Func.Name, b.Func.Name))
	})
	return withoutCallers(set, all), set, nil
}

// shareOf is the part that a function takes of the calls around it. Where it was counted no more, that is of all of them, by
// the later calls that were looked at.
func shareOf(f repeats.Func, w repeats.Within) float64 {
	if took := w.CourseTime(); f.Cut && took > w.Time && w.WholeTime > w.AroundTime {
		return min(1, float64(took)/float64(w.WholeTime))
	}
	return min(1, float64(w.Time)/float64(max(1, w.AroundTime)))
}

// grows tells whether calls take longer the more there have been, by the steps of their course.
func grows(w repeats.Within) (g Growing, ok bool) {
	type point struct {
		step       int
		mean, size float64
		calls      int64
	}
	var points []point
	for i, x := range w.Course {
		if i >= firstStep && x.Calls > 0 {
			points = append(points, point{i, float64(x.Typical()), float64(x.Size) / float64(x.Calls), x.Calls})
		}
	}
	// The end of the longest calls around alone says less than what most of them have.
	for len(points) > 0 && points[len(points)-1].calls*8 < points[0].calls {
		points = points[:len(points)-1]
	}
	// What is constant in a call hides the growth of the first ones.
	for len(points) > fewSteps && points[1].mean < leastStep*points[0].mean {
		points = points[1:]
	}
	if len(points) < fewSteps || max(w.Time, w.CourseTime()) < leastGrown {
		return g, false
	}
	first, last := points[0], points[len(points)-1]
	if first.mean <= 0 || last.mean < leastTimes*first.mean || time.Duration(last.mean) < leastCall {
		return g, false
	}
	flat := 0
	for i := 1; i < len(points); i++ {
		if points[i].mean < leastStep*points[i-1].mean {
			flat++
		}
	}
	if flat > 1 {
		return g, false
	}
	// The last step alone may be a machine that has become busy.
	before := points[len(points)-2]
	if before.mean*2 < last.mean && before.mean < leastTimes/2*first.mean || last.mean < 1.25*before.mean {
		return g, false
	}
	// The slope by least squares, over the later half and one, where what is constant in a call matters less.
	half := points[max(0, len(points)/2-1):]
	var sx, sy, sxx, sxy float64
	for _, p := range half {
		x, y := float64(p.step), math.Log2(p.mean)
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	n := float64(len(half))
	g.Power = (n*sxy - sx*sy) / (n*sxx - sx*sx)
	if g.Power < leastPower {
		return g, false
	}
	g.Inner = w
	g.First, g.Last = time.Duration(first.mean), time.Duration(last.mean)
	g.FirstTo, g.LastFrom = int64(2)<<first.step-1, int64(1)<<last.step
	g.FirstSize, g.LastSize = first.size, last.size
	return g, true
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
