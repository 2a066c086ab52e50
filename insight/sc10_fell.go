package insight

import (
	"fmt"
	"time"

	"loupe/value/timeline"
	"loupe/value/unit"
)

// Goroutines that wait for longer than a trace lasts, as until a time limit ends, look like a leak in it. Where their number is sampled, and fell to less than
// came in the trace, most of them have ended.

// fall is the largest fall of a series from one of its values to a later one.
type fall struct {
	from, to   float64
	begin, end timeline.Time
}

// fallOf finds it; ok tells that half of what had come by then, or more, was gone.
func fallOf(s timeline.Series, begins func(timeline.Time) bool) (f fall, ok bool) {
	top := -1
	for i, v := range s.Values {
		if top >= 0 && s.Values[top]-v > f.from-f.to {
			f = fall{s.Values[top], v, s.Times[top], s.Times[i]}
		}
		if begins(s.Times[i]) && (top < 0 || v > s.Values[top]) {
			top = i
		}
	}
	return f, len(s.Values) >= countsFew && f.from > f.to && f.from-f.to >= halfOfAll*(f.from-s.Values[0])
}

// numberFell says that the number of goroutines fell, under a load that went on for longer than the trace or behind that, to less than came to a place in it
// and were still there at its end: had these not ended, there would have been more. It is empty where that was not so.
func numberFell(in *Input, t *traced, came int64) string {
	phase, ok := in.Session.Manifest().PhaseNamed(t.Entry.Phase)
	if !ok {
		return ""
	}
	set, err := in.Session.Metrics(phase.Run)
	if err != nil {
		return ""
	}
	s := set.Series("/sched/goroutines:goroutines")
	f, ok := fallOf(s, func(at timeline.Time) bool {
		if at >= phase.Span.End {
			return true
		}
		for _, l := range in.Facts.Loads() {
			if begin := l.Start; l.Phase.Run == phase.Run && l.Log.Elapsed >= t.Length() && at >= begin.Add(min(t.Length(), l.Log.Elapsed)) && at < l.Phase.Span.End {
				return true
			}
		}
		return false
	})
	if !ok || f.to-s.Values[0] >= float64(came) {
		return ""
	}
	return fmt.Sprintf("the number of goroutines fell from %s to %s within %s, as the load ended or before: they end later than the %s of the trace show", unit.Number(f.from), unit.Number(f.to),
		unit.Duration(time.Duration(f.end-f.begin)), unit.Duration(t.Length()))
}
