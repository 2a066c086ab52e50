package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loupe/recording"
	"loupe/stack"
	"loupe/stats"
	"loupe/timeline"
	"loupe/unit"
)

// growth is what the looks of a growth phase have seen of the heap, or of the
// goroutines: the phase takes the same profile at equal distances.
type growth struct {
	phase recording.Phase
	times []float64 // seconds on the axis
	total []float64
	// last is the entry of the last look.
	last  recording.Entry
	sites []*site // the steepest first
}

// site is a line of the program, and how much there was of it at each look.
type site struct {
	at     stack.Frame
	user   bool          // whether at is the user's code
	frames []stack.Frame // of the heaviest stack of the last look that has it
	values []float64
	slope  stats.Interval // a second
	p      float64        // that there is no trend (Mann and Kendall)
}

// grows tells that there is a trend and it goes up.
func (s *site) grows(p float64) bool { return s.p < p && s.slope.Low > 0 }

// grew is by how much there is more at the last look than at the first.
func (s *site) grew() float64 { return s.values[len(s.values)-1] - s.values[0] }

// growth gathers the looks at profiles of a kind; nil where there are fewer than
// least. A stack belongs to its frame of the user's code that is nearest to the
// leaf, or to its root where there is none.
func (in *Input) growth(kind recording.Kind, sample string, least float64) *growth {
	m := in.Session.Manifest()
	g := &growth{}
	at := map[stack.Frame]*site{}
	isUser := in.Session.Scope().IsUser
	for _, e := range m.Of(kind) {
		phase, ok := m.PhaseNamed(e.Phase)
		if !ok || phase.Profiler != "growth" {
			continue
		}
		p, err := in.Session.ProfileAt(e.Path)
		if err != nil {
			continue
		}
		index, err := p.Index(sample)
		if err != nil {
			continue
		}
		g.phase, g.last = phase, e
		g.times, g.total = append(g.times, e.Span.Start.Seconds()), append(g.total, 0)
		n := len(g.times)
		heaviest := map[*site]int64{}
		for id, w := range p.Samples(index) {
			frames := framesOf(p.Stacks, id)
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
				s = &site{at: frames[i], user: isUser(frames[i])}
				at[key], g.sites = s, append(g.sites, s)
			}
			s.values = append(s.values, make([]float64, n-len(s.values))...)
			s.values[n-1] += float64(w)
			g.total[n-1] += float64(w)
			if w >= heaviest[s] {
				heaviest[s], s.frames = w, frames
			}
		}
	}
	if float64(len(g.times)) < least {
		return nil
	}
	for _, s := range g.sites {
		s.values = append(s.values, make([]float64, len(g.times)-len(s.values))...)
		_, s.p = stats.MannKendall(s.values)
		s.slope = stats.TheilSen(g.times, s.values, 0.95)
	}
	slices.SortStableFunc(g.sites, func(a, b *site) int { return cmp.Compare(b.slope.Estimate, a.slope.Estimate) })
	return g
}

// whole is the sum over all sites, as one.
func (g *growth) whole() *site {
	s := &site{values: g.total, slope: stats.TheilSen(g.times, g.total, 0.95)}
	_, s.p = stats.MannKendall(g.total)
	return s
}

// length is the time between the first look and the last.
func (g *growth) length() string {
	return unit.Duration(timeline.Time((g.times[len(g.times)-1] - g.times[0]) * 1e9).Sub(0))
}

// seen is evidence of what a site has shown.
func (g *growth) seen(in *Input, s *site, format string, args ...any) Evidence {
	source, _ := in.lineInLoop(s.at)
	e := Evidence{
		Text: fmt.Sprintf(format, args...), Path: g.last.Path, Phase: g.phase.Name, Span: span(g.phase.Span),
		File: s.at.File, Line: s.at.Line, Function: s.at.Func, Source: strings.TrimSpace(source),
	}
	e.Stack = evidenceStack(s.frames)
	return e
}

// heapGrowth is the memory in use over the looks of a growth phase.
func (in *Input) heapGrowth(r *Rule) *growth {
	return in.growth(recording.Heap, "inuse_space", r.param("looks"))
}

// growingLines are the lines of the user's code at which memory was allocated of
// which more and more is in use, at most three of them. What grows besides them is
// most often a consequence: what the runtime has for each goroutine.
func (in *Input) growingLines(r *Rule) (all []Evidence) {
	g := in.heapGrowth(r)
	if g == nil {
		return nil
	}
	steepest := 0.0
	for _, s := range g.sites {
		if !s.user || !s.grows(r.param("p")) {
			continue
		}
		if steepest = max(steepest, s.slope.Estimate); len(all) == 3 || s.slope.Estimate < 0.05*steepest {
			break
		}
		all = append(all, g.seen(in, s, "in use of what is allocated here: %s more in %s, %s MB a minute [%s, %s]",
			unit.BytesOf(s.grew()), g.length(), perMinute(s.slope.Estimate), perMinute(s.slope.Low), perMinute(s.slope.High)))
	}
	return all
}

// perMinute prints bytes a second as MB a minute.
func perMinute(v float64) string { return unit.Number(v * 60 / (1 << 20)) }
