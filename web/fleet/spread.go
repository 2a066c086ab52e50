package fleet

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/value/unit"
	"loupe/web"
)

const (
	// spreadRows is how many classes of sizes a heat map has, and mostLargest how many of the
	// largest spans or profiles are listed.
	spreadRows  = 24
	mostLargest = 20
)

// taken is what one span, or one profile, has taken.
type taken struct {
	at          time.Time
	value       int64
	labels      store.Labels
	span, trace string
}

// Spread is that of [web.Fleet]. Where samples carry the id of a span, what is counted is
// what each span took in all of the selection, at the time of its first profile.
func (p *Pages) Spread(ctx context.Context, q web.FleetQuestion) (*web.FleetSpread, error) {
	c, types, err := p.typed(ctx, q)
	if err != nil {
		return nil, err
	}
	if len(types) == 0 {
		return nil, c.nothing()
	}
	typ := usualType(types, q.Type)
	sel := c.Selection
	sel.Type = typ
	out := &web.FleetSpread{FleetRange: c.shown(), Type: typ.String(), Head: typ.Name + ": " + typ.Sample, Unit: typ.Unit, Largest: []web.FleetLargest{}, Cells: []int32{}}
	spans, profiles := spansOf{of: map[spanKey]int{}}, []taken(nil)
	err = (&asked{engine: p.engine, limits: p.opt.Limits, now: p.opt.Now}).profiles(ctx, sel, func(m *store.Moved, one *profile.Profile, values []int64) {
		if m.Count > 1 {
			out.RolledUp += m.Count
			return
		}
		spans.add(m, one, values)
		if total := m.Value(slices.Index(m.Types, typ)); total > 0 {
			profiles = append(profiles, taken{at: m.Time, value: total, labels: m.Labels})
		}
	})
	if err != nil {
		return nil, told(err)
	}
	list := profiles
	if out.Of = "profile"; len(spans.all) > 0 {
		out.Of, list = "span", spans.all
	}
	if out.Count = len(list); out.Count == 0 {
		return out, nil
	}
	c.heat(out, list)
	slices.SortStableFunc(list, func(a, b taken) int { return cmp.Or(cmp.Compare(b.value, a.value), a.at.Compare(b.at)) })
	for _, one := range list[:min(len(list), mostLargest)] {
		l := web.FleetLargest{At: one.at.UnixMilli(), Value: float64(one.value), Shown: valueOf(one.value, typ), Labels: one.labels.String(), Span: one.span, Trace: one.trace}
		text, r := exactly(one.labels), store.Range{Start: one.at, End: one.at.Add(time.Millisecond)}
		if one.span != "" {
			r = c.Range
		}
		l.Source = spanSourceID(text, r, one.span)
		out.Largest = append(out.Largest, l)
	}
	return out, nil
}

type spanKey struct {
	labels      store.Labels
	span, trace string
}

// spansOf adds up what single spans took.
type spansOf struct {
	of  map[spanKey]int // in all
	all []taken
}

// add takes the samples of a profile that carry the id of a span.
func (s *spansOf) add(m *store.Moved, p *profile.Profile, values []int64) {
	for row := range p.Len() {
		key := spanKey{labels: m.Labels}
		for _, l := range p.Labels(p.SetOf(row)) {
			switch l.Key {
			case spanLabel:
				key.span = l.Str
			case traceLabel:
				key.trace = l.Str
			}
		}
		if key.span == "" || values[row] <= 0 {
			continue
		}
		i, ok := s.of[key]
		if !ok {
			i = len(s.all)
			s.of[key] = i
			s.all = append(s.all, taken{at: m.Time, labels: m.Labels, span: key.span, trace: key.trace})
		}
		s.all[i].value += values[row]
		if m.Time.Before(s.all[i].at) {
			s.all[i].at = m.Time
		}
	}
}

// heat counts them by time and by size, in classes that grow by the same factor.
func (c *chosen) heat(out *web.FleetSpread, list []taken) {
	low, high := list[0].value, list[0].value
	for _, one := range list {
		low, high = min(low, one.value), max(high, one.value)
	}
	from, to := float64(low), float64(high)
	if to < from*1.2 {
		from, to = from/1.1, to*1.1
	}
	out.Low, out.Rows, out.Columns = from, spreadRows, int((c.length()+c.step-1)/c.step)
	out.Growth = math.Pow(to/from, 1/float64(spreadRows))
	out.Cells = make([]int32, out.Rows*out.Columns)
	for _, one := range list {
		column := int(one.at.Sub(c.Range.Start) / c.step)
		row := int(math.Log(float64(one.value)/from) / math.Log(out.Growth))
		if column < 0 || column >= out.Columns {
			continue
		}
		cell := &out.Cells[min(max(row, 0), out.Rows-1)*out.Columns+column]
		*cell++
		out.Most = max(out.Most, *cell)
	}
}

// exactly is the selection of one set of labels, as text.
func exactly(l store.Labels) string {
	var ms store.Matchers
	for name, value := range l.All() {
		if m, err := store.NewMatcher(name, store.Equal, value); err == nil {
			ms = append(ms, m)
		}
	}
	return ms.String()
}

// valueOf prints what a span or a profile took.
func valueOf(v int64, t store.Type) string {
	switch t.Unit {
	case "nanoseconds":
		return unit.Duration(time.Duration(v))
	case "bytes":
		return unit.Bytes(v).String()
	}
	return unit.Count(v)
}
