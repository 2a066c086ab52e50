package block

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"loupe/store"
)

// view is what one query sees: blocks and heads of one moment.
type view struct {
	parts  []part
	blocks []*block
}

// view takes one, which must be released.
func (e *Engine) view(ctx context.Context) (*view, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e.mu.RLock()
	if e.closed {
		e.mu.RUnlock()
		return nil, store.ErrClosed
	}
	v := &view{blocks: e.blocks}
	for _, b := range v.blocks {
		b.users.Add(1)
		v.parts = append(v.parts, b)
	}
	heads := slices.Clone(e.sealed)
	if e.head != nil {
		heads = append(heads, e.head)
	}
	e.mu.RUnlock()
	for _, h := range heads {
		v.parts = append(v.parts, h.snapshot())
	}
	return v, nil
}

func (v *view) release() {
	for _, b := range v.blocks {
		b.release()
	}
}

// hit is a series of one part that is selected.
type hit struct {
	part   part
	number int // of the part
	at     int
	series *series
	typ    int // position of the type, -1 for any
}

// found are the hits of one series.
type found struct {
	labels store.Labels
	hits   []hit
}

// find returns the selected series, sorted by labels.
func (v *view) find(s store.Selection) ([]found, error) {
	byLabels := map[store.Labels][]hit{}
	within := spanOf(s.Range)
	limit := s.Limits.Filled().Series
	matched := map[store.Labels]bool{} // expressions are asked once for each series
	for n, p := range v.parts {
		list, err := p.list()
		if err != nil {
			return nil, err
		}
		for i := range list {
			one := &list[i]
			if !within.touches(one.min, one.max) {
				continue
			}
			typ := -1
			if s.Type != (store.Type{}) {
				if typ = one.typeAt(s.Type); typ < 0 {
					continue
				}
			}
			ok, known := matched[one.labels]
			if !known {
				ok = s.Matchers.Match(one.labels)
				matched[one.labels] = ok
			}
			if !ok {
				continue
			}
			byLabels[one.labels] = append(byLabels[one.labels], hit{p, n, i, one, typ})
			if len(byLabels) > limit {
				return nil, store.TooMuch("series", int64(limit))
			}
		}
	}
	var out []found
	for l, hits := range byLabels {
		out = append(out, found{l, hits})
	}
	slices.SortFunc(out, func(a, b found) int { return a.labels.Compare(b.labels) })
	return out, nil
}

// rows returns the profiles of a hit in the span, with their chunks.
func (h *hit) load(within span) (r *rows, from, to int, err error) {
	r, err = h.part.load(h.at)
	if err != nil {
		return nil, 0, 0, err
	}
	byTime := func(one row, t int64) int {
		if one.time < t {
			return -1
		}
		return 1
	}
	from, _ = slices.BinarySearchFunc(r.rows, within.start, byTime)
	to, _ = slices.BinarySearchFunc(r.rows, within.end, byTime)
	return r, from, to, nil
}

// any tells whether the hit has a profile in the span.
func (h *hit) any(within span) (bool, error) {
	if within.has(h.series.min) || within.has(h.series.max) {
		return true, nil
	}
	_, from, to, err := h.load(within)
	return from < to, err
}

// each calls f with every selected series that has profiles in the range.
func (e *Engine) each(ctx context.Context, s store.Selection, f func(l store.Labels, types []store.Type)) error {
	v, err := e.view(ctx)
	if err != nil {
		return err
	}
	defer v.release()
	list, err := v.find(s)
	if err != nil {
		return err
	}
	for _, one := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range one.hits {
			ok, err := one.hits[i].any(spanOf(s.Range))
			if err != nil {
				return err
			}
			if ok {
				f(one.labels, one.hits[i].series.types)
			}
		}
	}
	return nil
}

// Types is that of [store.Engine].
func (e *Engine) Types(ctx context.Context, s store.Selection) ([]store.Type, error) {
	set := map[store.Type]bool{}
	err := e.each(ctx, s, func(_ store.Labels, types []store.Type) {
		for _, t := range types {
			if s.Type == (store.Type{}) || t == s.Type {
				set[t] = true
			}
		}
	})
	return slices.SortedFunc(maps.Keys(set), store.Type.Compare), err
}

// LabelNames is that of [store.Engine].
func (e *Engine) LabelNames(ctx context.Context, s store.Selection) ([]string, error) {
	set := map[string]bool{}
	err := e.each(ctx, s, func(l store.Labels, _ []store.Type) {
		for n := range l.All() {
			set[n] = true
		}
	})
	return slices.Sorted(maps.Keys(set)), err
}

// LabelValues is that of [store.Engine].
func (e *Engine) LabelValues(ctx context.Context, name string, s store.Selection) ([]string, error) {
	set := map[string]bool{}
	err := e.each(ctx, s, func(l store.Labels, _ []store.Type) {
		if v := l.Value(name); v != "" {
			set[v] = true
		}
	})
	return slices.Sorted(maps.Keys(set)), err
}

// Series is that of [store.Engine].
func (e *Engine) Series(ctx context.Context, s store.Selection) ([]store.Labels, error) {
	set := map[store.Labels]bool{}
	err := e.each(ctx, s, func(l store.Labels, _ []store.Type) { set[l] = true })
	return slices.SortedFunc(maps.Keys(set), store.Labels.Compare), err
}

// over is what becomes one value: of one series, over time.
type over struct {
	sum, weight int64
	covered     int64 // ns
	last        int64 // time of the last
	lastValue   int64
}

func (o *over) add(r *row, v int64) {
	o.sum += v
	o.covered += r.duration
	if o.weight == 0 || r.time >= o.last {
		o.last, o.lastValue = r.time, mean(v, r.weight)
	}
	o.weight += r.weight
}

func (o *over) value(way store.Aggregation) int64 {
	switch way {
	case store.Mean:
		return mean(o.sum, o.weight)
	case store.Last:
		return o.lastValue
	}
	return o.sum
}

// Totals is that of [store.Engine].
func (e *Engine) Totals(ctx context.Context, q store.TotalsQuery) ([]store.TotalSeries, error) {
	way, err := q.Type.Resolve(q.Over)
	if err != nil {
		return nil, err
	}
	if q.Step < 0 || q.Step > 0 && q.Range.Start.IsZero() {
		return nil, errors.New("cannot divide the range: a step needs a start")
	}
	v, err := e.view(ctx)
	if err != nil {
		return nil, err
	}
	defer v.release()
	list, err := v.find(q.Selection)
	if err != nil {
		return nil, err
	}
	t := totals{q: q, way: way, within: spanOf(q.Range), groups: map[store.Labels]map[int64]total{}, each: map[store.Labels][]store.Point{}}
	for i := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := t.add(&list[i]); err != nil {
			return nil, err
		}
		if most := q.Limits.Filled().Groups; len(t.groups)+len(t.each) > most {
			return nil, store.TooMuch("groups", int64(most))
		}
	}
	return t.lines(), nil
}

// totals puts the lines of a query together.
type totals struct {
	q      store.TotalsQuery
	way    store.Aggregation
	within span
	groups map[store.Labels]map[int64]total // by step
	each   map[store.Labels][]store.Point   // of every profile, where there are no steps
}

// total is the value of one step of a group, and the time that it covers, in ns.
type total struct{ value, covered int64 }

// add adds a series.
func (t *totals) add(f *found) error {
	group := f.labels.Only(t.q.By...)
	steps := map[int64]*over{}
	for i := range f.hits {
		h := &f.hits[i]
		r, from, to, err := h.load(t.within)
		if err != nil {
			return err
		}
		for i := from; i < to; i++ {
			one := &r.rows[i]
			value := one.totals[h.typ]
			if t.q.Step == 0 {
				if t.way != store.Sum {
					value = mean(value, one.weight)
				}
				t.each[group] = append(t.each[group], store.Point{Time: time.Unix(0, one.time), Value: value, Covered: t.covered(one.duration)})
				continue
			}
			step := (one.time - t.within.start) / int64(t.q.Step)
			if steps[step] == nil {
				steps[step] = &over{}
			}
			steps[step].add(one, value)
		}
	}
	if len(steps) == 0 {
		return nil
	}
	if t.groups[group] == nil {
		t.groups[group] = map[int64]total{}
	}
	for step, o := range steps {
		sum := t.groups[group][step]
		t.groups[group][step] = total{sum.value + o.value(t.way), sum.covered + o.covered}
	}
	return nil
}

// covered is what a point says of the time that its profiles were taken for.
func (t *totals) covered(ns int64) time.Duration {
	if t.way != store.Sum {
		return 0 // beside a state there may be activity in one profile
	}
	return time.Duration(ns)
}

func (t *totals) lines() (out []store.TotalSeries) {
	for group, steps := range t.groups {
		s := store.TotalSeries{Labels: group}
		for _, step := range slices.Sorted(maps.Keys(steps)) {
			s.Points = append(s.Points, store.Point{Time: t.q.Range.Start.Add(time.Duration(step) * t.q.Step), Value: steps[step].value, Covered: t.covered(steps[step].covered)})
		}
		out = append(out, s)
	}
	for group, points := range t.each {
		slices.SortStableFunc(points, func(a, b store.Point) int { return a.Time.Compare(b.Time) })
		out = append(out, store.TotalSeries{Labels: group, Points: points})
	}
	slices.SortFunc(out, func(a, b store.TotalSeries) int { return a.Labels.Compare(b.Labels) })
	return out
}

// Stacks is that of [store.Engine].
func (e *Engine) Stacks(ctx context.Context, q store.StacksQuery) (*store.Stacks, error) {
	way, err := q.Type.Resolve(q.Over)
	if err != nil {
		return nil, err
	}
	if len(q.By) > 0 && len(q.Parts) > 0 {
		return nil, errors.New("cannot group by labels and by parts at the same time")
	}
	v, err := e.view(ctx)
	if err != nil {
		return nil, err
	}
	defer v.release()
	list, err := v.find(q.Selection)
	if err != nil {
		return nil, err
	}
	m := newMerge(ctx, &q, way)
	for i := range list {
		if err := m.add(&list[i]); err != nil {
			return nil, fmt.Errorf("cannot add up %s: %w", list[i].labels, err)
		}
	}
	return m.result()
}
