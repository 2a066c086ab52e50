package facts

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/format/profile"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/stats"
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
	// Looks is what else is known of each look.
	Looks []Taken
}

// Taken is what is known of one look besides what was there.
type Taken struct {
	Entry recording.Entry
	// Allocated and Freed are bytes since the program began, as a heap profile has sampled
	// them; NaN where it does not tell.
	Allocated, Freed float64
	// Collections is how many there were before; -1 where that is not known.
	Collections int64
	// Delta tells that it is the difference between two moments, and no state.
	Delta bool
	// Length is how long it covers; 0 of a state.
	Length time.Duration
	// Program is what the profile says of its binary: the build id, or the file.
	Program string
	// Placed is where the system has put the program and what it maps into every process, which
	// most systems draw for each process; empty where it is not known.
	Placed string
}

// Forced tells that a collection was run for the look.
func (l *Taken) Forced() bool {
	return l.Entry.Source != "" && !strings.HasSuffix(l.Entry.Source, "from outside")
}

// GrowingSite is a line of the program, and how much there was of it at each look.
type GrowingSite struct {
	At     stack.Frame
	User   bool          // whether At is the user's code
	Frames []stack.Frame // of the heaviest stack of the last look that has it
	Values []float64
	Slope  stats.Interval // a second
	P      float64        // that there is no trend (Mann and Kendall)
	// Allocated is what was allocated here since the program began, at each look; empty where
	// that is not known.
	Allocated []float64
	// Grain is how many bytes the sampling of the heap adds to the variance for each byte in
	// use: of objects much smaller than the period it is the period. 0 of what is counted.
	Grain float64

	grains []float64 // for each look: the sum of value times grain
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
		seen := lookAt(look)
		grains, allocated := grainsOf(p, index)
		row := -1
		heaviest := map[*GrowingSite]int64{}
		for id, w := range p.Samples(index) {
			row++
			seen.Delta = seen.Delta || w < 0
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
			if grains != nil {
				s.grains = append(s.grains, make([]float64, n-len(s.grains))...)
				s.grains[n-1] += float64(w) * grains(row)
			}
			if allocated != nil {
				s.Allocated = append(s.Allocated, make([]float64, n-len(s.Allocated))...)
				s.Allocated[n-1] += float64(allocated[row])
			}
			g.Totals[n-1] += float64(w)
			if w >= heaviest[s] {
				heaviest[s], s.Frames = w, frames
			}
		}
		g.Looks = append(g.Looks, seen)
	}
	if float64(len(g.Times)) < least {
		return nil
	}
	for _, s := range g.Sites {
		n := len(g.Times)
		s.Values = append(s.Values, make([]float64, n-len(s.Values))...)
		s.grains = append(s.grains, make([]float64, n-len(s.grains))...)
		if len(s.Allocated) > 0 {
			s.Allocated = append(s.Allocated, make([]float64, n-len(s.Allocated))...)
		}
	}
	g.fit()
	return g
}

// fit finds the slopes, and puts the steepest first.
func (g *Growth) fit() {
	for _, s := range g.Sites {
		_, s.P = stats.MannKendall(s.Values)
		s.Slope = stats.TheilSen(g.Times, s.Values, 0.95)
		for i, v := range s.Values {
			if i < len(s.grains) && v > 0 && s.grains[i] > 0 {
				s.Grain = s.grains[i] / v // of the last look that has some
			}
		}
	}
	slices.SortStableFunc(g.Sites, func(a, b *GrowingSite) int { return cmp.Compare(b.Slope.Estimate, a.Slope.Estimate) })
}

// Part is what some of the looks have seen, in their order.
func (g *Growth) Part(at []int) *Growth {
	pick := func(of []float64) (some []float64) {
		for _, i := range at {
			if i < len(of) {
				some = append(some, of[i])
			}
		}
		return some
	}
	part := &Growth{Phase: g.Phase, Times: pick(g.Times), Untimed: g.Untimed, Totals: pick(g.Totals), Last: g.Last}
	for _, i := range at {
		part.Looks = append(part.Looks, g.Looks[i])
		part.Last = g.Looks[i].Entry
	}
	for _, s := range g.Sites {
		one := &GrowingSite{At: s.At, User: s.User, Frames: s.Frames, Values: pick(s.Values), Allocated: pick(s.Allocated), grains: pick(s.grains)}
		if slices.ContainsFunc(one.Values, func(v float64) bool { return v != 0 }) {
			part.Sites = append(part.Sites, one)
		}
	}
	part.fit()
	return part
}

// lookAt is what a look tells besides what was there.
func lookAt(look growthLook) Taken {
	p := look.profile
	l := Taken{Entry: look.entry, Allocated: math.NaN(), Freed: math.NaN(), Collections: -1, Delta: p.Duration > 0, Length: p.Duration}
	if len(p.Mappings) > 0 {
		l.Program = cmp.Or(p.Mappings[0].BuildID, strings.TrimSuffix(p.Mappings[0].File, " (deleted)"))
	}
	l.Placed = placeOf(p)
	if p.MemStats != nil {
		l.Collections = int64(p.MemStats.NumGC)
	}
	for _, c := range p.Comments {
		if text, ok := strings.CutPrefix(c, "collections so far: "); ok {
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				l.Collections = n
			}
		}
	}
	allocated, inuse := columnOf(p, "alloc_space"), columnOf(p, "inuse_space")
	if allocated == nil || inuse == nil {
		return l
	}
	l.Allocated, l.Freed = 0, 0
	for i := range allocated {
		l.Allocated += float64(allocated[i])
		l.Freed += float64(allocated[i] - inuse[i])
		l.Delta = l.Delta || allocated[i] < 0
	}
	return l
}

// placeOf is the address of the binary and, on Linux, of the vDSO: Go writes both into each
// profile.
func placeOf(p *profile.Profile) string {
	if len(p.Mappings) == 0 {
		return ""
	}
	place := strconv.FormatUint(p.Mappings[0].Start, 16)
	for _, m := range p.Mappings[1:] {
		if m.File == "[vdso]" {
			return place + " " + strconv.FormatUint(m.Start, 16)
		}
	}
	return place
}

// columnOf are the values of a sample type; nil where there are none.
func columnOf(p *profile.Profile, name string) []int64 {
	for i, t := range p.SampleTypes {
		if t.Type == name {
			return p.Values[i]
		}
	}
	return nil
}

// grainsOf says of each row of a heap profile how coarse its sampling is ([GrowingSite.Grain]),
// and what it has allocated; both are nil where that is not known. An object of some size is
// seen with a probability p = 1-exp(-size/period), and then stands for 1/p of them: the sum
// over what was seen has a variance of size·(1-p)/p for each byte.
func grainsOf(p *profile.Profile, index int) (grain func(row int) float64, allocated []int64) {
	objects := columnOf(p, "inuse_objects")
	if p.SampleTypes[index].Type != "inuse_space" {
		return nil, nil
	}
	allocated = columnOf(p, "alloc_space")
	if objects == nil || p.Period <= 1 {
		return nil, allocated
	}
	period := float64(p.Period)
	return func(row int) float64 {
		space, n := p.Values[index][row], objects[row]
		if space <= 0 || n <= 0 {
			return 0
		}
		size := float64(space) / float64(n)
		return size / math.Expm1(size/period)
	}, allocated
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
	return unit.Duration(g.Covers())
}

// Covers is the time between the first look and the last; 0 where it is not known.
func (g *Growth) Covers() time.Duration {
	if g.Untimed {
		return 0
	}
	return time.Duration((g.Times[len(g.Times)-1] - g.Times[0]) * 1e9)
}
