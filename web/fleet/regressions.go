package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"loupe/analysis/compare"
	"loupe/format/profile"
	"loupe/store"
	"loupe/web"
)

const (
	// mostServices is how many services are looked at for new versions.
	mostServices = 50
	// steadyStretch is the least length of a stretch that versions are compared by: what a service does
	// in one minute resembles the minute before, and stretches are to be independent. leastStretches
	// are the fewest on a side that are judged.
	steadyStretch  = 3 * time.Minute
	leastStretches = 5
	// leastChange is the least share of everything that is worth a line, and mostChanges how many lines
	// a version has.
	leastChange = 0.0005
	mostChanges = 20
)

// Regressions is that of [web.Fleet]: of each service the newest version that has appeared in the
// range, held against the one that most ran before it, function by function.
func (p *Pages) Regressions(ctx context.Context, q web.FleetQuestion) (*web.FleetRegressions, error) {
	c, types, err := p.typed(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &web.FleetRegressions{FleetRange: c.shown(), Releases: []web.FleetRelease{}}
	typ, err := activity(types, q.Type)
	if err != nil {
		return nil, err
	}
	if typ == (store.Type{}) {
		return out, nil // there is nothing yet
	}
	out.Type, out.Of = typ.String(), of(typ)
	services, err := p.engine.LabelValues(ctx, store.ServiceLabel, c.Selection)
	if err != nil {
		return nil, told(err)
	}
	out.Services = min(len(services), mostServices)
	out.Left = len(services) - out.Services
	for _, name := range services[:out.Services] {
		r, err := releases{p}.release(ctx, c, typ, name)
		if err != nil {
			return nil, err
		}
		if r != nil {
			out.Releases = append(out.Releases, *r)
		}
	}
	slices.SortStableFunc(out.Releases, func(a, b web.FleetRelease) int {
		return cmp.Or(cmp.Compare(worst(b), worst(a)), cmp.Compare(b.At, a.At))
	})
	return out, nil
}

// worst is the greatest growth of a version.
func worst(r web.FleetRelease) float64 {
	if len(r.More) == 0 {
		return 0
	}
	return r.More[0].Change
}

// activity is the type that is asked for, by its id or its sample type; CPU time by default.
func activity(types []store.Type, asked string) (store.Type, error) {
	i := slices.IndexFunc(types, func(t store.Type) bool { return t.String() == asked || t.Sample == cmp.Or(asked, "cpu") })
	switch {
	case i < 0 && asked == "":
		return store.Type{}, nil
	case i < 0:
		return store.Type{}, web.NotThere("There are no profiles of the type %q in this range.", asked)
	case types[i].Over() != store.Sum:
		return store.Type{}, web.NotThere("%s is a state: compare versions by an activity, such as cpu or alloc_space.", types[i].Sample)
	}
	return types[i], nil
}

// of is what shares of a type are of.
func of(t store.Type) string {
	switch t.Sample {
	case "cpu":
		return "all CPU"
	case "alloc_space":
		return "all allocated bytes"
	case "alloc_objects":
		return "all allocated objects"
	}
	return "all " + t.Sample
}

// life is when a version has run.
type life struct {
	value       string
	first, last time.Time // the beginnings of the first and the last step with a profile
	points      []store.Point
}

// within is the amount in a range.
func (l *life) within(r store.Range) (sum int64) {
	for _, p := range l.points {
		if r.Contains(p.Time) {
			sum += p.Value
		}
	}
	return sum
}

// releases finds the versions of services, and judges them.
type releases struct{ *Pages }

// lives are those of the values of a label, the first that appeared first. Series without the
// label are none.
func (p releases) lives(ctx context.Context, sel store.Selection, label string, step time.Duration) (all []*life, err error) {
	totals, err := p.engine.Totals(ctx, store.TotalsQuery{Selection: sel, Step: step, By: []string{label}})
	if err != nil {
		return nil, told(err)
	}
	for _, t := range totals {
		if value := t.Labels.Value(label); value != "" && len(t.Points) > 0 {
			all = append(all, &life{value, t.Points[0].Time, t.Points[len(t.Points)-1].Time, t.Points})
		}
	}
	slices.SortStableFunc(all, func(a, b *life) int { return a.first.Compare(b.first) })
	return all, nil
}

// sides are two versions and when each is looked at.
type sides struct {
	label    string
	old, new *life
	a, b     store.Range
	beside   bool
}

// chosenSides finds the newest version in a range, the one that it is held against, and the
// times; nil where none has appeared.
func (p releases) chosenSides(ctx context.Context, c *chosen, sel store.Selection) (*sides, error) {
	sel.Range.Start = c.before().Start
	for _, label := range []string{store.VersionLabel, store.BuildLabel} {
		lives, err := p.lives(ctx, sel, label, c.fine())
		if err != nil {
			return nil, err
		}
		if s := newest(lives, c); s != nil {
			s.label = label
			return s, nil
		}
	}
	return nil, nil
}

// fine is the step in which versions are looked for: about a thousandth of the range.
func (c *chosen) fine() time.Duration {
	for _, s := range steps {
		if c.length() <= 1500*s {
			return s
		}
	}
	return steps[len(steps)-1]
}

// newest is the last of the versions that has appeared in the range of c, while another had been
// there before.
func newest(lives []*life, c *chosen) *sides {
	step := c.fine()
	for i := len(lives) - 1; i > 0; i-- {
		now := lives[i]
		if now.first.Before(c.Range.Start) {
			return nil
		}
		// A step that has only begun is left out: what is asked for again and again stays the same for a while.
		end := now.last.Add(step)
		if whole := c.Range.End.Truncate(max(step, time.Minute)); end.After(whole) && whole.After(now.first) {
			end = whole
		} else if end.After(c.Range.End) {
			end = c.Range.End
		}
		mine := store.Range{Start: now.first, End: end}
		before := store.Range{Start: now.first.Add(-max(end.Sub(now.first), (leastStretches+1)*steadyStretch)), End: now.first}
		var base *life
		for _, l := range lives[:i] {
			if l.first.Before(now.first) && (base == nil || l.within(before) > base.within(before)) {
				base = l
			}
		}
		if base == nil || base.within(before) == 0 {
			continue // it was there first, or after a pause
		}
		s := &sides{old: base, new: now, a: before, b: mine}
		// Beside each other both have the same load, which is the better comparison.
		together := base.last.Add(step).Sub(now.first)
		if both := min(together, end.Sub(now.first)); both >= end.Sub(now.first)/2 {
			s.beside = true
			s.b.End = now.first.Add(both)
			s.a = s.b
		}
		return s
	}
	return nil
}

// release judges the newest version of a service; nil where none has appeared in the range.
func (p releases) release(ctx context.Context, c *chosen, typ store.Type, service string) (*web.FleetRelease, error) {
	sel := c.Selection
	sel.Type = typ
	matchers, err := store.ParseMatchers(c.with(store.ServiceLabel, service))
	if err != nil {
		return nil, err
	}
	sel.Matchers = matchers
	s, err := p.chosenSides(ctx, c, sel)
	if s == nil || err != nil {
		return nil, err
	}
	one := &chosen{Selection: sel}
	out := &web.FleetRelease{Service: service, Label: s.label, Old: s.old.value, New: s.new.value, At: s.new.first.UnixMilli(), Beside: s.beside, More: []web.FleetChange{}, Less: []web.FleetChange{}}
	var both [2]store.Selection
	for i, side := range []struct {
		value string
		r     store.Range
	}{{s.old.value, s.a}, {s.new.value, s.b}} {
		text := one.with(s.label, side.value)
		m, err := store.ParseMatchers(text)
		if err != nil {
			return nil, err
		}
		both[i] = sel
		both[i].Matchers, both[i].Range = m, side.r
		id := sourceID(text, side.r)
		if i == 0 {
			out.Before = id
		} else {
			out.After = id
		}
	}
	return p.judged.once(out.Before+" "+out.After+" "+typ.String(), func() (*web.FleetRelease, error) {
		return out, p.judge(ctx, out, both, typ)
	})
}

// judge compares two versions function by function.
func (p releases) judge(ctx context.Context, out *web.FleetRelease, both [2]store.Selection, typ store.Type) error {
	var parts [2][]*profile.Profile
	for i, sel := range both {
		types, err := p.engine.Types(ctx, store.Selection{Matchers: sel.Matchers, Range: sel.Range, Limits: sel.Limits})
		if err != nil {
			return told(err)
		}
		types = slices.DeleteFunc(types, func(t store.Type) bool { return t.Name != typ.Name || t.Period != typ.Period || t.Over() != typ.Over() })
		if parts[i], err = p.stretches(ctx, sel, types, steadyStretch); err != nil {
			return err
		}
		if len(parts[i]) < leastStretches {
			out.Note = tooLittle(out, i == 0)
			return nil
		}
	}
	d, err := steady(parts, typ.Sample)
	if errors.Is(err, compare.ErrIncomparable) {
		out.Note = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	if !out.Beside {
		out.Note = "The versions ran at different times: the mix of requests may have changed as well."
	}
	out.Judged = d.Judged
	for i := range d.Rows {
		r := &d.Rows[i]
		f := d.Key(r)
		if !f.Significance.Beyond() || math.Abs(f.Difference.Estimate) < leastChange {
			continue
		}
		change := web.FleetChange{Function: r.Name, Change: f.Difference.Estimate, Low: f.Difference.Low, High: f.Difference.High, Old: f.A, New: f.B, False: f.Q,
			Shown: fmt.Sprintf("%+.2f %% [%.2f, %.2f]", 100*f.Difference.Estimate, 100*f.Difference.Low, 100*f.Difference.High)}
		if f.Significance == compare.Grew {
			out.More = append(out.More, change)
		} else {
			out.Less = append(out.Less, change)
		}
	}
	for _, list := range []*[]web.FleetChange{&out.More, &out.Less} {
		slices.SortStableFunc(*list, func(a, b web.FleetChange) int { return cmp.Compare(math.Abs(b.Change), math.Abs(a.Change)) })
		if n := len(*list) - mostChanges; n > 0 {
			out.Others += n
			*list = (*list)[:mostChanges]
		}
	}
	return nil
}

// tooLittle says why nothing is judged yet: of which side there is too little.
func tooLittle(r *web.FleetRelease, old bool) string {
	least := int((leastStretches * steadyStretch).Minutes())
	side := r.New
	if old {
		side = r.Old
	}
	if r.Beside {
		return fmt.Sprintf("Too little data: less than %d minutes with profiles of both versions side by side.", least)
	}
	return fmt.Sprintf("Too little data: less than %d minutes with profiles of %s.", least, side)
}

// steady compares two sides by what functions take for the same work. There is no count of
// the work; it is told by those functions that have not changed. Shares of everything would not do: where one function takes
// half of what it did, the shares of all others grow, though nothing has happened to them.
//
// The first comparison is by shares. The usual ratio of new to old, by weight, is that of functions
// to which nothing has happened; those that it explains are the measure of the second one. The values
// are shares of everything in the old version.
func steady(parts [2][]*profile.Profile, sample string) (*compare.ProfileDiff, error) {
	opt := compare.ProfileOptions{SampleIndex: sample, Share: true}
	d, err := compare.Profiles(parts[0], parts[1], opt)
	if err != nil {
		return nil, err
	}
	usual := usualRatio(d)
	measure := map[string]bool{}
	for i := range d.Rows {
		f := d.Key(&d.Rows[i])
		by := (usual - 1) * f.A
		if f.A > 0 && f.B > 0 && f.Difference.Low <= by && by <= f.Difference.High {
			measure[d.Rows[i].Name] = true
		}
	}
	var sums [2][]float64
	all, known := 0.0, 0.0
	for i, side := range parts {
		for _, p := range side {
			n, err := p.Index(sample)
			if err != nil {
				return nil, err
			}
			sum := 0.0
			for id, v := range p.Samples(n) {
				if frames := p.Stacks.Frames(id); len(frames) > 0 && measure[p.Stacks.Frame(frames[0]).Func] {
					sum += float64(v)
				}
			}
			sums[i] = append(sums[i], sum)
			if i == 0 {
				all, known = all+float64(p.Total(n)), known+sum
			}
		}
		parts[i], sums[i] = withoutEmpty(parts[i], sums[i])
	}
	if known == 0 || len(sums[0]) < leastStretches || len(sums[1]) < leastStretches {
		return nil, fmt.Errorf("%w: no function stayed the same", compare.ErrIncomparable)
	}
	for i := range sums {
		for j := range sums[i] {
			sums[i][j] *= all / known
		}
	}
	return compare.Profiles(parts[0], parts[1], compare.ProfileOptions{SampleIndex: sample, Divide: sums})
}

// withoutEmpty leaves out stretches in which there is nothing of the measure.
func withoutEmpty(parts []*profile.Profile, sums []float64) (p []*profile.Profile, s []float64) {
	for i, sum := range sums {
		if sum > 0 {
			p, s = append(p, parts[i]), append(s, sum)
		}
	}
	return p, s
}

// usualRatio is the ratio of new to old of the functions of which half of everything consists:
// their median by weight.
func usualRatio(d *compare.ProfileDiff) float64 {
	type one struct{ ratio, weight float64 }
	var all []one
	sum := 0.0
	for i := range d.Rows {
		if f := d.Key(&d.Rows[i]); f.A > 0 && f.B > 0 {
			all = append(all, one{f.B / f.A, f.A})
			sum += f.A
		}
	}
	slices.SortFunc(all, func(a, b one) int { return cmp.Compare(a.ratio, b.ratio) })
	half := 0.0
	for _, o := range all {
		if half += o.weight; half >= sum/2 {
			return o.ratio
		}
	}
	return 1
}

// verdicts keeps what was judged last: pages ask again and again while time goes on.
type verdicts struct {
	mu    sync.Mutex
	order []string
	known map[string]*web.FleetRelease
}

// mostVerdicts is how many are kept.
const mostVerdicts = 256

// once returns what is known, or finds it out; an error is not kept.
func (v *verdicts) once(key string, judge func() (*web.FleetRelease, error)) (*web.FleetRelease, error) {
	v.mu.Lock()
	r := v.known[key]
	v.mu.Unlock()
	if r != nil {
		return r, nil
	}
	r, err := judge()
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known == nil {
		v.known = map[string]*web.FleetRelease{}
	}
	if v.known[key] == nil {
		v.order = append(v.order, key)
	}
	v.known[key] = r
	if len(v.order) > mostVerdicts {
		delete(v.known, v.order[0])
		v.order = v.order[1:]
	}
	return r, nil
}
