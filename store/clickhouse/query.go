package clickhouse

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/store"
)

// maxPlanned is how many rows a plan may have: a series, a kind and a shard each.
const maxPlanned = 4_000_000

// plan is what a question needs to know before ClickHouse adds up: which series match,
// and how much there is.
type plan struct {
	ctx    context.Context
	e      *Engine
	s      store.Selection
	limits store.Limits
	kinds  map[uint64]*kind
	where  string // without the series
	rows   []planned
	labels map[uint64]store.Labels // of the series that match
}

// planned is what there is of one series, in one kind.
type planned struct {
	kind, series, unit uint64
	count, samples     int64
	weight             int64
	last               int64
}

// plan makes one. Within narrows the range of the selection down.
func (e *Engine) plan(ctx context.Context, s store.Selection, within store.Range) (*plan, error) {
	if err := e.begin(ctx); err != nil {
		return nil, err
	}
	state, err := e.state(ctx)
	if err != nil {
		return nil, err
	}
	p := &plan{ctx: ctx, e: e, s: s, limits: s.Limits.Filled(), kinds: e.names.having(s.Type)}
	p.where = state.visible(e.c) + rangeOf(s.Range) + rangeOf(within) + serviceOf(s.Matchers)
	if s.Type != (store.Type{}) {
		if len(p.kinds) == 0 {
			return p, nil
		}
		p.where += " AND kind IN (" + list(slices.Sorted(maps.Keys(p.kinds))) + ")"
	}
	return p, p.load()
}

// load asks for the rows and keeps those of series that match.
func (p *plan) load() error {
	statement := "SELECT kind, series, unit, toInt64(sum(count)), toInt64(sum(samples)), sum(weight), max(ts) FROM " + p.e.c.all("profiles") +
		" WHERE " + p.where + " GROUP BY kind, series, unit LIMIT " + strconv.Itoa(maxPlanned+1)
	err := p.e.c.ask(p.ctx, statement, func(r *rows) error {
		p.rows = append(p.rows, planned{r.uint64(), r.uint64(), r.uint64(), r.int64(), r.int64(), r.int64(), r.int64()})
		return r.err
	})
	if err != nil {
		return err
	}
	if len(p.rows) > maxPlanned {
		return store.TooMuch("series", maxPlanned)
	}
	set := map[uint64]bool{}
	for _, r := range p.rows {
		set[r.series] = true
	}
	all, err := p.e.names.series(p.ctx, p.e.c, slices.Collect(maps.Keys(set)))
	if err != nil {
		return err
	}
	p.labels = map[uint64]store.Labels{}
	for h, l := range all {
		if p.s.Matchers.Match(l) {
			p.labels[h] = l
		}
	}
	if len(p.labels) > p.limits.Series {
		return store.TooMuch("series", int64(p.limits.Series))
	}
	p.rows = slices.DeleteFunc(p.rows, func(r planned) bool {
		_, ok := p.labels[r.series]
		return !ok
	})
	return nil
}

// selected returns the condition for what is selected: "" where there is nothing.
func (p *plan) selected() string {
	if len(p.labels) == 0 {
		return ""
	}
	if len(p.s.Matchers) == 0 {
		return p.where
	}
	return p.where + " AND series IN (" + list(slices.Sorted(maps.Keys(p.labels))) + ")"
}

// times returns an expression for what values are multiplied by, "" for 1.
func (p *plan) times() string {
	var kinds []uint64
	var times []int64
	same := true
	for _, h := range slices.Sorted(maps.Keys(p.kinds)) {
		kinds = append(kinds, h)
		times = append(times, p.kinds[h].of(p.s.Type))
		same = same && times[0] == times[len(times)-1]
	}
	switch {
	case len(times) == 0 || same && times[0] == 1:
		return ""
	case same:
		return " * " + strconv.FormatInt(times[0], 10)
	}
	return " * transform(kind, [" + list(kinds) + "], [" + list(times) + "], toInt64(0))"
}

// groups divides the series by labels. It returns an expression for the number of a
// series' group, and the labels of the groups, sorted.
func (p *plan) groups(by []string) (expression string, labels []store.Labels, err error) {
	if len(by) == 0 {
		return "toInt64(0)", []store.Labels{{}}, nil
	}
	of := map[store.Labels][]uint64{}
	for h, l := range p.labels {
		group := l.Only(by...)
		of[group] = append(of[group], h)
	}
	if len(of) > p.limits.Groups {
		return "", nil, store.TooMuch("groups", int64(p.limits.Groups))
	}
	labels = slices.SortedFunc(maps.Keys(of), store.Labels.Compare)
	var series []uint64
	var numbers []int64
	for i, l := range labels {
		slices.Sort(of[l])
		for _, h := range of[l] {
			series, numbers = append(series, h), append(numbers, int64(i))
		}
	}
	if len(series) == 0 {
		return "toInt64(-1)", nil, nil
	}
	return "transform(series, [" + list(series) + "], [" + list(numbers) + "], toInt64(-1))", labels, nil
}

// rangeOf returns a condition for a range, with AND in front.
func rangeOf(r store.Range) (s string) {
	// Times outside of what an int64 of ns holds are outside of what is stored.
	ns := func(t time.Time) int64 {
		switch y := t.Year(); {
		case y < 1678:
			return math.MinInt64
		case y > 2261:
			return math.MaxInt64
		}
		return t.UnixNano()
	}
	day := func(ns int64) string { return quote(max(dayOf(ns), "1970-01-01")) }
	if !r.Start.IsZero() {
		s += fmt.Sprintf(" AND day >= %s AND ts >= %d", day(ns(r.Start)), ns(r.Start))
	}
	if !r.End.IsZero() {
		s += fmt.Sprintf(" AND day <= %s AND ts < %d", day(ns(r.End)), ns(r.End))
	}
	return s
}

// serviceOf narrows down by the service, which the tables are sorted by.
func serviceOf(ms store.Matchers) (s string) {
	for _, m := range ms {
		if m.Name == store.ServiceLabel && m.Op == store.Equal {
			s += " AND service = " + quote(m.Value)
		}
	}
	return s
}

// Types is that of [store.Engine].
func (e *Engine) Types(ctx context.Context, s store.Selection) ([]store.Type, error) {
	p, err := e.plan(ctx, s, store.Range{})
	if err != nil {
		return nil, err
	}
	set := map[store.Type]bool{}
	for _, r := range p.rows {
		k := p.kinds[r.kind]
		if k == nil {
			return nil, fmt.Errorf("the table %s does not name kind %d, which profiles have (was part of the database removed?)", e.c.all("kinds"), r.kind)
		}
		for _, t := range k.types {
			if s.Type == (store.Type{}) || t == s.Type {
				set[t] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(set), store.Type.Compare), nil
}

// LabelNames is that of [store.Engine].
func (e *Engine) LabelNames(ctx context.Context, s store.Selection) ([]string, error) {
	p, err := e.plan(ctx, s, store.Range{})
	if err != nil {
		return nil, err
	}
	set := map[string]bool{}
	for _, l := range p.labels {
		for n := range l.All() {
			set[n] = true
		}
	}
	return slices.Sorted(maps.Keys(set)), nil
}

// LabelValues is that of [store.Engine].
func (e *Engine) LabelValues(ctx context.Context, name string, s store.Selection) ([]string, error) {
	p, err := e.plan(ctx, s, store.Range{})
	if err != nil {
		return nil, err
	}
	set := map[string]bool{}
	for _, l := range p.labels {
		if v := l.Value(name); v != "" {
			set[v] = true
		}
	}
	return slices.Sorted(maps.Keys(set)), nil
}

// Series is that of [store.Engine].
func (e *Engine) Series(ctx context.Context, s store.Selection) ([]store.Labels, error) {
	p, err := e.plan(ctx, s, store.Range{})
	if err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(p.labels), store.Labels.Compare), nil
}

// mean is rounded to the nearest whole number, halves away from zero.
func mean(sum, n int64) int64 {
	n = max(n, 1)
	if sum < 0 {
		return -mean(-sum, n)
	}
	return (sum + n/2) / n
}

// meanOf is mean in SQL.
func meanOf(sum, n string) string {
	return strings.NewReplacer("S", sum, "N", "greatest("+n+", 1)").Replace("if(S >= 0, intDiv(S + intDiv(N, 2), N), -intDiv(intDiv(N, 2) - S, N))")
}
