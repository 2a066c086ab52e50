package facts

import (
	"cmp"
	"slices"

	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// Growth is what the looks of a growth phase have seen of the heap, or of the
// goroutines: the phase takes the same profile at equal distances.
type Growth struct {
	Phase  recording.Phase
	Times  []float64 // seconds on the axis
	Totals []float64
	// Last is the entry of the last look.
	Last  recording.Entry
	Sites []*GrowingSite // the steepest first
}

// GrowingSite is a line of the program, and how much there was of it at each look.
type GrowingSite struct {
	At     stack.Frame
	User   bool          // whether At is the user's code
	Frames []stack.Frame // of the heaviest stack of the last look that has it
	Values []float64
	Slope  stats.Interval // a second
	P      float64        // that there is no trend (Mann and Kendall)
}

// Grows tells that there is a trend and it goes up.
func (s *GrowingSite) Grows(p float64) bool { return s.P < p && s.Slope.Low > 0 }

// Grew is by how much there is more at the last look than at the first.
func (s *GrowingSite) Grew() float64 { return s.Values[len(s.Values)-1] - s.Values[0] }

// Growth gathers the looks at profiles of a kind; nil where there are fewer than
// least. A stack belongs to its frame of the user's code that is nearest to the
// leaf, or to its root where there is none.
func (f *Facts) Growth(kind recording.Kind, sample string, least float64) *Growth {
	m := f.Manifest
	g := &Growth{}
	at := map[stack.Frame]*GrowingSite{}
	isUser := f.session.Scope().IsUser
	for _, e := range m.Of(kind) {
		phase, ok := m.PhaseNamed(e.Phase)
		if !ok || phase.Profiler != "growth" {
			continue
		}
		p, err := f.session.ProfileAt(e.Path)
		if err != nil {
			continue
		}
		index, err := p.Index(sample)
		if err != nil {
			continue
		}
		g.Phase, g.Last = phase, e
		g.Times, g.Totals = append(g.Times, e.Span.Start.Seconds()), append(g.Totals, 0)
		n := len(g.Times)
		heaviest := map[*GrowingSite]int64{}
		for id, w := range p.Samples(index) {
			frames := Frames(p.Stacks, id)
			if recorders(frames) {
				continue
			}
			i := max(0, slices.IndexFunc(frames, isUser))
			if !isUser(frames[i]) {
				i = len(frames) - 1
			}
			key := stack.Frame{Func: frames[i].Func, File: frames[i].File, Line: frames[i].Line}
			s := at[key]
			if s == nil {
				s = &GrowingSite{At: frames[i], User: isUser(frames[i])}
				at[key], g.Sites = s, append(g.Sites, s)
			}
			s.Values = append(s.Values, make([]float64, n-len(s.Values))...)
			s.Values[n-1] += float64(w)
			g.Totals[n-1] += float64(w)
			if w >= heaviest[s] {
				heaviest[s], s.Frames = w, frames
			}
		}
	}
	if float64(len(g.Times)) < least {
		return nil
	}
	for _, s := range g.Sites {
		s.Values = append(s.Values, make([]float64, len(g.Times)-len(s.Values))...)
		_, s.P = stats.MannKendall(s.Values)
		s.Slope = stats.TheilSen(g.Times, s.Values, 0.95)
	}
	slices.SortStableFunc(g.Sites, func(a, b *GrowingSite) int { return cmp.Compare(b.Slope.Estimate, a.Slope.Estimate) })
	return g
}

// Whole is the sum over all sites, as one.
func (g *Growth) Whole() *GrowingSite {
	s := &GrowingSite{Values: g.Totals, Slope: stats.TheilSen(g.Times, g.Totals, 0.95)}
	_, s.P = stats.MannKendall(g.Totals)
	return s
}

// Length is the time between the first look and the last.
func (g *Growth) Length() string {
	return unit.Duration(timeline.Time((g.Times[len(g.Times)-1] - g.Times[0]) * 1e9).Sub(0))
}
