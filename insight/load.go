package insight

import (
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/timeline"
)

// Slow returns what the slowest requests met, phase by phase.
func (in *Input) Slow() []compare.Slow { return in.slow() }

// loadRound is a bare phase under load, with what makes evidence of it.
type loadRound struct{ facts.LoadRound }

// onLoads makes a check of one that looks at the loads of the bare phases, and
// answers itself where there are not enough requests.
func onLoads(check func(r *Rule, in *Input, all []loadRound) []Finding) func(r *Rule, in *Input) []Finding {
	return func(r *Rule, in *Input) []Finding {
		var all []loadRound
		n := 0
		for _, l := range in.Facts.Loads() {
			all = append(all, loadRound{l})
			n += l.Log.Len()
		}
		if n < minRequests {
			return []Finding{r.short("%d requests were sent in the bare phases; %d are needed", n, minRequests)}
		}
		return check(r, in, all)
	}
}

// minRequests is the number of requests below which a load says nothing.
const minRequests = 100

// seen is evidence of the whole load.
func (l *loadRound) seen(text string) Evidence {
	return Evidence{Text: text, Path: l.Path, Phase: l.Phase.Name, Span: span(timeline.Span{Start: l.Start, End: l.Start.Add(l.Log.Elapsed)})}
}

// during narrows it down to a part of the log's own time.
func (l *loadRound) during(text string, from, to timeline.Time) Evidence {
	e := l.seen(text)
	e.Span = span(timeline.Span{Start: l.Start.Add(time.Duration(from)), End: l.Start.Add(time.Duration(to))})
	return e
}
