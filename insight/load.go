package insight

import (
	"time"

	"loupe/compare"
	"loupe/loadlog"
	"loupe/timeline"
)

// Slow returns what the slowest requests met, phase by phase.
func (in *Input) Slow() []compare.Slow { return in.slow() }

// loadRound is a bare phase under load, with every request of it.
type loadRound struct {
	*compare.Round
	log  *loadlog.Log
	path string
	// start is where the log's own time begins on the recording's axis.
	start timeline.Time
}

// loads are the bare phases under load that could be read.
func (in *Input) loads() (all []loadRound) {
	for i := range in.Facts.Rounds {
		r := &in.Facts.Rounds[i]
		if r.Load == nil {
			continue
		}
		l, _ := in.Session.Load(r.Phase.Name)
		if l == nil {
			continue
		}
		all = append(all, loadRound{r, l, in.Session.LoadEntry(r.Phase.Name).Path, in.Session.OnAxis(l, r.Phase.Name).At(0)})
	}
	return all
}

// onLoads makes a check of one that looks at the loads of the bare phases, and
// answers itself where there are not enough requests.
func onLoads(check func(r *Rule, in *Input, all []loadRound) []Finding) func(r *Rule, in *Input) []Finding {
	return func(r *Rule, in *Input) []Finding {
		all := in.loads()
		n := 0
		for _, l := range all {
			n += l.log.Len()
		}
		if n < minRequests {
			return []Finding{r.short("%d requests were sent in the bare phases, %d are needed", n, minRequests)}
		}
		return check(r, in, all)
	}
}

// minRequests is the number of requests below which a load says nothing.
const minRequests = 100

// seen is evidence of the whole load.
func (l *loadRound) seen(text string) Evidence {
	return Evidence{Text: text, Path: l.path, Phase: l.Phase.Name, Span: span(timeline.Span{Start: l.start, End: l.start.Add(l.log.Elapsed)})}
}

// during narrows it down to a part of the log's own time.
func (l *loadRound) during(text string, from, to timeline.Time) Evidence {
	e := l.seen(text)
	e.Span = span(timeline.Span{Start: l.start.Add(time.Duration(from)), End: l.start.Add(time.Duration(to))})
	return e
}
