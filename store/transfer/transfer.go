// Package transfer moves all profiles from one place to another: between engines, and out
// of an archive.
//
//	report, err := transfer.Copy(ctx, from, to, transfer.Options{})
//
// A copy that was stopped is begun again: what the destination has is left out, which is
// found by asking it for the time and the total of each of its profiles. At the end both
// sides are asked, and every profile of the source must be in the destination with the
// totals of all its types.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"loupe/format/profile"
	"loupe/store"
)

// Options are those of Copy. The zero value is fine.
type Options struct {
	// Tell is called when a day is done.
	Tell func(d Day)

	batchProfiles int // for tests
}

// The most that is written at once.
const (
	batchProfiles = 5_000
	batchSamples  = 2_000_000
)

// windowProfiles is how many profiles a day may have before it is gone through by the hour.
const windowProfiles = 500_000

// Day is what a copy has done of one day.
type Day struct {
	Day      time.Time
	Profiles int // of the source
	Written  int // of these; the others were there
}

// Report is what a copy has done and what both sides have.
type Report struct {
	Days     int
	Profiles int64 // of the source
	Written  int64 // by this copy
	Pins     int   // taken over
	Lines    []Line
}

// Line compares the two sides in one type of one series.
type Line struct {
	Labels   store.Labels
	Type     store.Type
	Profiles int64
	// From is the total of the source's profiles, To that of the same profiles in the
	// destination. Of states it is the sum of the values of single profiles, which says
	// nothing but that they are the same.
	From, To int64
}

// ErrDiffer is a copy after which the two sides are not the same.
var ErrDiffer = errors.New("the totals differ")

// Copy copies all profiles, and the pins where the source has some. It can be repeated.
// After an error the report says how far it came.
func Copy(ctx context.Context, from store.Exporter, to store.Importer, opt Options) (*Report, error) {
	if opt.batchProfiles == 0 {
		opt.batchProfiles = batchProfiles
	}
	if opt.Tell == nil {
		opt.Tell = func(Day) {}
	}
	c := &copying{from, to, opt, &Report{}}
	if err := c.pins(ctx); err != nil {
		return c.report, err
	}
	days, err := from.Days(ctx)
	if err != nil {
		return c.report, err
	}
	for _, d := range days {
		done := Day{Day: d}
		err := c.windows(ctx, d, func(r store.Range) error { return c.window(ctx, r, &done) })
		c.report.Profiles += int64(done.Profiles)
		c.report.Written += int64(done.Written)
		if err != nil {
			return c.report, fmt.Errorf("cannot copy %s: %w", d.Format(time.DateOnly), err)
		}
		c.report.Days++
		opt.Tell(done)
	}
	return c.report, c.compare(ctx, days)
}

// copying is one copy.
type copying struct {
	from   store.Exporter
	to     store.Importer
	opt    Options
	report *Report
}

// pins takes over the pins of the source that the destination has no pins of the name of.
func (c *copying) pins(ctx context.Context) error {
	source, ok := c.from.(interface {
		Pins(context.Context) ([]store.Pin, error)
	})
	if !ok {
		return nil
	}
	pins, err := source.Pins(ctx)
	if err != nil {
		return err
	}
	have, err := c.to.Pins(ctx)
	if err != nil {
		return err
	}
	for _, p := range pins {
		if slices.ContainsFunc(have, func(o store.Pin) bool { return o.Name == p.Name }) {
			continue
		}
		if err := c.to.Pin(ctx, p); err != nil {
			return err
		}
		c.report.Pins++
	}
	return nil
}

var errMany = errors.New("many")

// windows calls f with a day, or with its hours where it has many profiles.
func (c *copying) windows(ctx context.Context, d time.Time, f func(store.Range) error) error {
	whole := store.Range{Start: d, End: d.Add(24 * time.Hour)}
	n := 0
	err := c.from.Export(ctx, selection(whole), func(*store.Moved) error {
		if n++; n > windowProfiles {
			return errMany
		}
		return nil
	})
	switch {
	case err == nil:
		return f(whole)
	case !errors.Is(err, errMany):
		return err
	}
	for h := range 24 {
		r := store.Range{Start: d.Add(time.Duration(h) * time.Hour), End: d.Add(time.Duration(h+1) * time.Hour)}
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

// selection is everything in a range, whatever it costs.
func selection(r store.Range) store.Selection {
	return store.Selection{Range: r, Limits: store.Limits{Series: -1, Samples: -1, Nodes: -1, Groups: -1}}
}

// window copies what the destination does not have of a range.
func (c *copying) window(ctx context.Context, r store.Range, done *Day) error {
	rows, err := c.list(ctx, r)
	if err != nil {
		return err
	}
	done.Profiles += len(rows)
	points, err := c.points(ctx, r, rows)
	if err != nil {
		return err
	}
	missing := map[store.ID]bool{}
	for _, row := range points.without(rows) {
		missing[row.ID()] = true
	}
	if len(missing) == 0 {
		return nil
	}
	w := batch{to: c.to, most: c.opt.batchProfiles}
	err = c.export(ctx, r, func(m *store.Moved) error {
		if !missing[m.ID()] {
			return nil
		}
		return w.add(ctx, m)
	})
	if err == nil {
		err = w.flush(ctx)
	}
	done.Written += w.written
	return err
}

// list returns the profiles of a range of the source, without their samples.
func (c *copying) list(ctx context.Context, r store.Range) (rows []*store.Moved, err error) {
	err = c.export(ctx, r, func(m *store.Moved) error {
		one := *m
		one.Samples = nil
		rows = append(rows, &one)
		return nil
	})
	return rows, err
}

// export goes over the profiles of a range of the source, and numbers those that are equal.
func (c *copying) export(ctx context.Context, r store.Range, f func(*store.Moved) error) error {
	seen := map[store.ID]int{}
	var at time.Time
	return c.from.Export(ctx, selection(r), func(m *store.Moved) error {
		if !m.Time.Equal(at) { // equal ones are neighbours, by series and by time
			at = m.Time
			clear(seen)
		}
		m.Nth = 0
		id := m.ID()
		m.Nth = seen[id]
		seen[id]++
		return f(m)
	})
}

// batch collects what is written at once.
type batch struct {
	to      store.Importer
	most    int
	list    []*store.Moved
	samples int
	written int
}

// add takes a profile in. Parts of one interval of a series stay together, since the
// destination adds them up.
func (b *batch) add(ctx context.Context, m *store.Moved) error {
	if n := len(b.list); n > 0 && (n >= b.most || b.samples >= batchSamples) {
		if last := b.list[n-1]; last.Labels != m.Labels || !last.Time.Equal(m.Time) {
			if err := b.flush(ctx); err != nil {
				return err
			}
		}
	}
	p, err := m.Samples()
	if err != nil {
		return err
	}
	one := *m
	one.Samples = func() (*profile.Profile, error) { return p, nil }
	b.list = append(b.list, &one)
	b.samples += p.Len()
	return nil
}

func (b *batch) flush(ctx context.Context) error {
	if len(b.list) == 0 {
		return nil
	}
	if err := b.to.Import(ctx, b.list); err != nil {
		return err
	}
	b.written += len(b.list)
	b.list, b.samples = nil, 0
	return nil
}

// key is a moment of a type of a series.
type key struct {
	labels store.Labels
	typ    store.Type
	time   int64
}

// points are the values that the destination has, by where they are.
type points map[key][]int64

// points asks the destination for all that it has of the types of rows.
func (c *copying) points(ctx context.Context, r store.Range, rows []*store.Moved) (points, error) {
	wanted := map[store.Type]bool{}
	for _, m := range rows {
		for _, t := range m.Types {
			wanted[t] = true
		}
	}
	out := points{}
	for typ := range wanted {
		sel := selection(r)
		sel.Type = typ
		names, err := c.to.LabelNames(ctx, sel)
		if err != nil {
			return nil, err
		}
		lines, err := c.to.Totals(ctx, store.TotalsQuery{Selection: sel, By: names})
		if err != nil {
			return nil, err
		}
		for _, l := range lines {
			for _, p := range l.Points {
				k := key{l.Labels, typ, p.Time.UnixNano()}
				out[k] = append(out[k], p.Value)
			}
		}
	}
	return out, nil
}

// without returns the rows that the points have nothing for. Each point counts once.
//
// What was thinned out may be there as it is, or added up with what else fell into the same
// interval.
func (ps points) without(rows []*store.Moved) (missing []*store.Moved) {
	for rows := range neighbours(rows) {
		left := slices.DeleteFunc(slices.Clone(rows), ps.take)
		if len(left) > 0 && len(left) == len(rows) && ps.takeSum(rows) {
			continue
		}
		missing = append(missing, left...)
	}
	return missing
}

// neighbours goes over rows of one series, time and set of types, which follow each other.
func neighbours(rows []*store.Moved) func(yield func([]*store.Moved) bool) {
	return func(yield func([]*store.Moved) bool) {
		for begin := 0; begin < len(rows); {
			end := begin + 1
			for end < len(rows) && rows[end].Labels == rows[begin].Labels && rows[end].Time.Equal(rows[begin].Time) {
				end++
			}
			list := slices.Clone(rows[begin:end])
			slices.SortStableFunc(list, func(a, b *store.Moved) int { return slices.CompareFunc(a.Types, b.Types, store.Type.Compare) })
			for len(list) > 0 {
				n := 1
				for n < len(list) && slices.Equal(list[n].Types, list[0].Types) {
					n++
				}
				if !yield(list[:n:n]) {
					return
				}
				list = list[n:]
			}
			begin = end
		}
	}
}

// take takes the points of a row out, if all are there.
func (ps points) take(m *store.Moved) bool {
	for i := range m.Types {
		if !slices.Contains(ps[keyOf(m, i)], m.Value(i)) {
			return false
		}
	}
	for i := range m.Types {
		k := keyOf(m, i)
		at := slices.Index(ps[k], m.Value(i))
		ps[k] = slices.Delete(ps[k], at, at+1)
	}
	return true
}

func keyOf(m *store.Moved, column int) key { return key{m.Labels, m.Types[column], m.Time.UnixNano()} }

// takeSum takes the points of several rows out that were added up.
func (ps points) takeSum(rows []*store.Moved) bool {
	sum := *rows[0]
	sum.Totals = slices.Clone(sum.Totals)
	if sum.Resolution == 0 {
		return false
	}
	for _, m := range rows[1:] {
		if m.Resolution != sum.Resolution {
			return false
		}
		sum.Weight += m.Weight
		for i := range sum.Totals {
			sum.Totals[i] += m.Totals[i]
		}
	}
	return len(rows) > 1 && ps.take(&sum)
}

// compare holds the destination against the source, after all was written.
func (c *copying) compare(ctx context.Context, days []time.Time) error {
	lines := map[key]*Line{}
	var missing []*store.Moved
	for _, d := range days {
		err := c.windows(ctx, d, func(r store.Range) error {
			rows, err := c.list(ctx, r)
			if err != nil {
				return err
			}
			points, err := c.points(ctx, r, rows)
			if err != nil {
				return err
			}
			lacking := points.without(rows)
			missing = append(missing, lacking...)
			for _, m := range rows {
				add(lines, m, !slices.Contains(lacking, m))
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("cannot compare %s: %w", d.Format(time.DateOnly), err)
		}
	}
	for _, l := range lines {
		c.report.Lines = append(c.report.Lines, *l)
	}
	slices.SortFunc(c.report.Lines, func(a, b Line) int {
		if by := a.Type.Compare(b.Type); by != 0 {
			return by
		}
		return a.Labels.Compare(b.Labels)
	})
	if len(missing) > 0 {
		m := missing[0]
		return fmt.Errorf("%w: %d of %d profiles are missing from the destination or differ there, the first of %s at %s", ErrDiffer,
			len(missing), c.report.Profiles, m.Labels, m.Time.Format(time.RFC3339Nano))
	}
	return nil
}

// add adds a profile to the lines of its series: on both sides, if it is there.
func add(lines map[key]*Line, m *store.Moved, there bool) {
	for i, t := range m.Types {
		k := key{labels: m.Labels, typ: t}
		l := lines[k]
		if l == nil {
			l = &Line{Labels: m.Labels, Type: t}
			lines[k] = l
		}
		l.Profiles += m.Count
		l.From += m.Value(i)
		if there {
			l.To += m.Value(i)
		}
	}
}

// Types returns how many different types, and how many series, were compared.
func (r *Report) Types() (types, series int) {
	t, s := map[store.Type]bool{}, map[store.Labels]bool{}
	for _, l := range r.Lines {
		t[l.Type], s[l.Labels] = true, true
	}
	return len(t), len(s)
}
