package facts

import (
	"cmp"
	"slices"

	"loupe/format/profile"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// Growth is what several looks have seen of the heap, or of the goroutines: those of a
// growth phase, which takes the same profile at equal distances, or profiles and dumps that
// stand alone, in the order of their time.
type Growth struct {
	Phase recording.Phase
	// Times are in seconds: on the axis, or since the first look.
	Times []float64
	// Untimed tells that nobody knows when the looks were taken, as of dumps: they are in the
	// order they were named in, and Times counts them.
	Untimed bool
	Totals  []float64
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
	g := &Growth{}
	at := map[stack.Frame]*GrowingSite{}
	isUser := f.session.Scope().IsUser
	for _, look := range growthLooks(f, g, kind) {
		index, err := look.profile.Index(sample)
		if err != nil {
			continue
		}
		p := look.profile
		g.Last = look.entry
		g.Phase, _ = f.Manifest.PhaseNamed(look.entry.Phase)
		g.Times, g.Totals = append(g.Times, look.at), append(g.Totals, 0)
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

// growthLook is one profile of [Facts.Growth].
type growthLook struct {
	profile *profile.Profile
	entry   recording.Entry
	at      float64
}

// growthLooks are the profiles of a kind that were taken to be compared, in the order of
// their time; it notes in g whether that is known.
func growthLooks(f *Facts, g *Growth, kind recording.Kind) (all []growthLook) {
	loose := f.Manifest.Target.Kind == "files"
	for _, e := range f.Manifest.Of(kind) {
		if phase, ok := f.Manifest.PhaseNamed(e.Phase); !loose && (!ok || phase.Profiler != "growth") {
			continue
		}
		profiles, err := session.ProfilesAt(f.session, e.Path)
		if err != nil {
			continue // what is wrong with it, those say that ask for it
		}
		for _, p := range profiles {
			all = append(all, growthLook{p, e, e.Span.Start.Seconds()})
		}
	}
	if !loose || len(all) == 0 {
		return all
	}
	g.Untimed = slices.ContainsFunc(all, func(l growthLook) bool { return l.profile.Time.IsZero() })
	if !g.Untimed {
		slices.SortStableFunc(all, func(a, b growthLook) int { return a.profile.Time.Compare(b.profile.Time) })
	}
	for i := range all {
		if all[i].at = float64(i); !g.Untimed {
			all[i].at = all[i].profile.Time.Sub(all[0].profile.Time).Seconds()
		}
	}
	return all
}

// Whole is the sum over all sites, as one.
func (g *Growth) Whole() *GrowingSite {
	s := &GrowingSite{Values: g.Totals, Slope: stats.TheilSen(g.Times, g.Totals, 0.95)}
	_, s.P = stats.MannKendall(g.Totals)
	return s
}

// Length is the time between the first look and the last.
func (g *Growth) Length() string {
	if g.Untimed {
		return unit.Plural(int64(len(g.Times)-1), "look")
	}
	return unit.Duration(timeline.Time((g.Times[len(g.Times)-1] - g.Times[0]) * 1e9).Sub(0))
}
