// Package storetest holds every engine of package store to one suite, see [Run]. Its own
// engine, [Memory], keeps all profiles as they came and answers by going through them:
// it is slow and plainly right, and what the others are compared with.
package storetest

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"loupe/store"
	"loupe/value/stack"
)

// Memory is an engine that keeps everything in memory and forgets it at Close.
type Memory struct {
	mu     sync.Mutex
	closed bool
	rows   []row
	ids    map[store.ID]bool
	pins   map[string]store.Pin
}

// row is one written profile.
type row struct {
	labels   store.Labels
	time     time.Time
	duration time.Duration
	types    []store.Type
	samples  []sample

	resolution    time.Duration // of one that was thinned out
	count, weight int64
}

// sample has its stack from the root on, a frame for each call.
type sample struct {
	path   []stack.Frame
	labels store.Labels
	values []int64
}

// NewMemory returns an empty engine.
func NewMemory() *Memory {
	return &Memory{ids: map[store.ID]bool{}, pins: map[string]store.Pin{}}
}

// begin is the begin of every method.
func (m *Memory) begin(ctx context.Context) error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return store.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		m.mu.Unlock()
		return err
	}
	return nil
}

// Write is that of [store.Engine].
func (m *Memory) Write(ctx context.Context, profiles []*store.Profile) error {
	for _, p := range profiles {
		if err := p.Check(); err != nil {
			return err
		}
	}
	if err := m.begin(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	for _, p := range profiles {
		if p.ID != (store.ID{}) {
			if m.ids[p.ID] {
				continue
			}
			m.ids[p.ID] = true
		}
		m.rows = append(m.rows, rowOf(p))
	}
	return nil
}

func rowOf(p *store.Profile) row {
	r := row{labels: p.Labels, time: p.Time, duration: p.Duration, count: 1, weight: 1}
	for _, t := range p.Types {
		if t != (store.Type{}) {
			r.types = append(r.types, t)
		}
	}
	for i := range p.Samples.Len() {
		s := sample{}
		for _, f := range p.Samples.Stacks.Frames(p.Samples.StackIDs[i]) {
			f := p.Samples.Stacks.Frame(f)
			s.path = append(s.path, stack.Frame{Func: f.Func, File: f.File, Line: f.Line, StartLine: f.StartLine, Inlined: f.Inlined})
		}
		slices.Reverse(s.path)
		var list []store.Label
		for _, l := range p.Samples.Labels(p.Samples.SetOf(i)) {
			if !l.Numeric {
				list = append(list, store.Label{Name: l.Key, Value: l.Str})
			}
		}
		s.labels = store.MakeLabels(list)
		for k, t := range p.Types {
			if t != (store.Type{}) {
				s.values = append(s.values, p.Samples.Values[k][i])
			}
		}
		r.samples = append(r.samples, s)
	}
	return r
}

func (r *row) total(t store.Type) (sum int64) {
	at := slices.Index(r.types, t)
	for _, s := range r.samples {
		sum += s.values[at]
	}
	return sum
}

// selected returns the rows in question, by time.
func (m *Memory) selected(s store.Selection) []row {
	var out []row
	for _, r := range m.rows {
		if s.Matchers.Match(r.labels) && s.Range.Contains(r.time) && (s.Type == store.Type{} || slices.Contains(r.types, s.Type)) {
			out = append(out, r)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].time.Before(out[j].time) })
	return out
}

// Types is that of [store.Engine].
func (m *Memory) Types(ctx context.Context, s store.Selection) ([]store.Type, error) {
	if err := m.begin(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	set := map[store.Type]bool{}
	for _, r := range m.selected(s) {
		for _, t := range r.types {
			if s.Type == (store.Type{}) || t == s.Type {
				set[t] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(set), store.Type.Compare), nil
}

// LabelNames is that of [store.Engine].
func (m *Memory) LabelNames(ctx context.Context, s store.Selection) ([]string, error) {
	set := map[string]bool{}
	list, err := m.Series(ctx, s)
	for _, l := range list {
		for n := range l.All() {
			set[n] = true
		}
	}
	return slices.Sorted(maps.Keys(set)), err
}

// LabelValues is that of [store.Engine].
func (m *Memory) LabelValues(ctx context.Context, name string, s store.Selection) ([]string, error) {
	set := map[string]bool{}
	list, err := m.Series(ctx, s)
	for _, l := range list {
		if v := l.Value(name); v != "" {
			set[v] = true
		}
	}
	return slices.Sorted(maps.Keys(set)), err
}

// Series is that of [store.Engine].
func (m *Memory) Series(ctx context.Context, s store.Selection) ([]store.Labels, error) {
	if err := m.begin(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	set := map[store.Labels]bool{}
	for _, r := range m.selected(s) {
		set[r.labels] = true
	}
	if most := s.Limits.Filled().Series; len(set) > most {
		return nil, store.TooMuch("series", int64(most))
	}
	return slices.SortedFunc(maps.Keys(set), store.Labels.Compare), nil
}

// mean is rounded to the nearest whole number, halves away from zero.
func mean(sum, n int64) int64 {
	if sum < 0 {
		return -mean(-sum, n)
	}
	return (2*sum + n) / (2 * n)
}

// over makes one value of those of one series, in the order of time.
func over(way store.Aggregation, values []int64, rows []row) (v int64) {
	weight := int64(0)
	for i, one := range values {
		v += one
		weight += rows[i].weight
	}
	switch way {
	case store.Mean:
		return mean(v, weight)
	case store.Last:
		return mean(values[len(values)-1], rows[len(rows)-1].weight)
	}
	return v
}

// Totals is that of [store.Engine].
func (m *Memory) Totals(ctx context.Context, q store.TotalsQuery) ([]store.TotalSeries, error) {
	way, err := q.Type.Resolve(q.Over)
	if err != nil {
		return nil, err
	}
	if q.Step < 0 || q.Step > 0 && q.Range.Start.IsZero() {
		return nil, errors.New("a step needs a start")
	}
	if err := m.begin(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	type cell struct {
		labels store.Labels
		step   int64
	}
	cells, behind := map[cell][]int64{}, map[cell][]row{}
	groups := map[store.Labels]map[int64]int64{}
	covered := map[cell]time.Duration{}
	var out []store.TotalSeries
	for _, r := range m.selected(q.Selection) {
		length := r.duration
		if way != store.Sum {
			length = 0
		}
		group := r.labels.Only(q.By...)
		if groups[group] == nil {
			groups[group] = map[int64]int64{}
			out = append(out, store.TotalSeries{Labels: group})
		}
		if q.Step == 0 {
			at := slices.IndexFunc(out, func(s store.TotalSeries) bool { return s.Labels == group })
			out[at].Points = append(out[at].Points, store.Point{Time: r.time, Value: over(way, []int64{r.total(q.Type)}, []row{r}), Covered: length})
			continue
		}
		c := cell{r.labels, int64(r.time.Sub(q.Range.Start) / q.Step)}
		cells[c], behind[c] = append(cells[c], r.total(q.Type)), append(behind[c], r)
		covered[cell{group, c.step}] += length
	}
	for c, values := range cells {
		groups[c.labels.Only(q.By...)][c.step] += over(way, values, behind[c])
	}
	for i := range out {
		for step, v := range groups[out[i].Labels] {
			out[i].Points = append(out[i].Points, store.Point{Time: q.Range.Start.Add(time.Duration(step) * q.Step), Value: v, Covered: covered[cell{out[i].Labels, step}]})
		}
		slices.SortStableFunc(out[i].Points, func(a, b store.Point) int { return a.Time.Compare(b.Time) })
	}
	slices.SortFunc(out, func(a, b store.TotalSeries) int { return a.Labels.Compare(b.Labels) })
	if most := q.Limits.Filled().Groups; len(out) > most {
		return nil, store.TooMuch("groups", int64(most))
	}
	return out, nil
}

// Stacks is that of [store.Engine].
func (m *Memory) Stacks(ctx context.Context, q store.StacksQuery) (*store.Stacks, error) {
	way, err := q.Type.Resolve(q.Over)
	if err != nil {
		return nil, err
	}
	if len(q.By) > 0 && len(q.Parts) > 0 {
		return nil, errors.New("a query has By or Parts, not both")
	}
	if err := m.begin(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	rows := m.selected(q.Selection)
	t := newTree(q.Type)
	if len(q.Parts) > 0 {
		for i, part := range q.Parts {
			t.group(store.Labels{})
			t.add(i, slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
				return !part.Matchers.Match(r.labels) || !part.Range.Contains(r.time)
			}), q, way)
		}
	} else {
		by := map[store.Labels][]row{}
		for _, r := range rows {
			group := r.labels.Only(q.By...)
			by[group] = append(by[group], r)
		}
		if len(q.By) == 0 && len(by) == 0 {
			by[store.Labels{}] = nil
		}
		for _, group := range slices.SortedFunc(maps.Keys(by), store.Labels.Compare) {
			t.group(group)
			t.add(len(t.Groups)-1, by[group], q, way)
		}
	}
	switch limits := q.Limits.Filled(); {
	case t.samples > limits.Samples:
		return nil, store.TooMuch("samples", limits.Samples)
	case len(t.Parents) > limits.Nodes:
		return nil, store.TooMuch("nodes", int64(limits.Nodes))
	case len(t.Groups) > limits.Groups:
		return nil, store.TooMuch("groups", int64(limits.Groups))
	}
	return &t.Stacks, nil
}

// tree puts merged stacks together.
type tree struct {
	store.Stacks
	nodes     map[[2]uint32]uint32
	locations map[string]uint32
	functions map[store.Function]uint32
	samples   int64
}

func newTree(typ store.Type) *tree {
	t := &tree{nodes: map[[2]uint32]uint32{}, locations: map[string]uint32{}, functions: map[store.Function]uint32{}}
	t.Type, t.Parents, t.Locations = typ, []uint32{0}, []uint32{0}
	return t
}

func (t *tree) group(labels store.Labels) {
	t.Groups = append(t.Groups, labels)
	t.Values = append(t.Values, make([]int64, len(t.Parents)))
	t.Profiles = append(t.Profiles, 0)
}

// add adds rows to one group: over time for each series and node, then over series.
func (t *tree) add(group int, rows []row, q store.StacksQuery, way store.Aggregation) {
	series := map[store.Labels][]row{}
	for _, r := range rows {
		series[r.labels] = append(series[r.labels], r)
	}
	for _, rows := range series {
		for i, r := range rows {
			if way != store.Last || i == len(rows)-1 {
				t.Profiles[group] += r.count
			}
		}
		sums := map[uint32][]int64{}
		for i, r := range rows {
			at := slices.Index(r.types, q.Type)
			t.samples += int64(len(r.samples))
			for _, s := range r.samples {
				if !q.Sample.Match(s.labels) {
					continue
				}
				n := t.node(s.path)
				if sums[n] == nil {
					sums[n] = make([]int64, len(rows))
				}
				sums[n][i] += s.values[at]
			}
		}
		for n, values := range sums {
			t.Values[group][n] += over(way, values, rows)
		}
	}
}

// node finds or makes the node of a stack. Calls that were inlined into another are in
// one location with it.
func (t *tree) node(path []stack.Frame) uint32 {
	n := uint32(0)
	for i := 0; i < len(path); {
		j := i + 1
		for j < len(path) && path[j].Inlined {
			j++
		}
		key := [2]uint32{n, t.location(path[i:j])}
		next, ok := t.nodes[key]
		if !ok {
			next = uint32(len(t.Parents))
			t.nodes[key] = next
			t.Parents, t.Locations = append(t.Parents, n), append(t.Locations, key[1])
			for g := range t.Values {
				t.Values[g] = append(t.Values[g], 0)
			}
		}
		n, i = next, j
	}
	return n
}

func (t *tree) location(frames []stack.Frame) uint32 {
	var b []byte
	for _, f := range frames {
		b = strconv.AppendInt(append(append(append(b, f.Func...), 0), f.File...), int64(f.StartLine), 10)
		b = strconv.AppendInt(append(b, '+'), int64(f.Line), 10)
	}
	key := string(b)
	at, ok := t.locations[key]
	if ok {
		return at
	}
	for _, f := range slices.Backward(frames) {
		fn := store.Function{Name: f.Func, File: f.File, StartLine: f.StartLine}
		id, ok := t.functions[fn]
		if !ok {
			id = uint32(len(t.Functions))
			t.functions[fn] = id
			t.Functions = append(t.Functions, fn)
		}
		t.Lines = append(t.Lines, store.Line{Function: id, Line: f.Line})
	}
	at = uint32(len(t.Ends))
	t.locations[key] = at
	t.Ends = append(t.Ends, uint32(len(t.Lines)))
	return at
}

// Top is that of [store.Engine].
func (m *Memory) Top(ctx context.Context, q store.TopQuery) (*store.Top, error) {
	s, err := m.Stacks(ctx, store.StacksQuery{Selection: q.Selection, Over: q.Over})
	if err != nil {
		return nil, err
	}
	type name struct{ function, file string }
	sums := map[name]*store.FunctionTotal{}
	top := &store.Top{}
	for n, v := range s.Values[0] {
		top.Total += v
		seen := map[name]bool{}
		for at := uint32(n); at != 0; at = s.Parents[at] {
			for i, l := range s.LinesOf(s.Locations[at]) {
				f := name{s.Functions[l.Function].Name, s.Functions[l.Function].File}
				if sums[f] == nil {
					sums[f] = &store.FunctionTotal{Function: f.function, File: f.file}
				}
				if !seen[f] {
					sums[f].Total += v
				}
				if seen[f] = true; at == uint32(n) && i == 0 {
					sums[f].Self += v
				}
			}
		}
	}
	for _, f := range sums {
		if f.Total != 0 || f.Self != 0 {
			top.Functions = append(top.Functions, *f)
		}
	}
	slices.SortFunc(top.Functions, func(a, b store.FunctionTotal) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Function, b.Function), cmp.Compare(a.File, b.File))
	})
	top.Functions = top.Functions[:min(len(top.Functions), cmp.Or(q.N, 100))]
	return top, nil
}

// Drop is that of [store.Engine].
func (m *Memory) Drop(ctx context.Context, s store.Selection) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	m.rows = slices.DeleteFunc(m.rows, func(r row) bool {
		return s.Matchers.Match(r.labels) && s.Range.Contains(r.time) && (s.Type == store.Type{} || slices.Contains(r.types, s.Type))
	})
	return nil
}

// Maintain drops what is older than all that the policy keeps, and thins out nothing.
func (m *Memory) Maintain(ctx context.Context, policy store.Policy, now time.Time) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	p := policy.Filled()
	m.rows = slices.DeleteFunc(m.rows, func(r row) bool {
		for _, pin := range m.pins {
			if pin.Matchers.Match(r.labels) && pin.Range.Contains(r.time) {
				return false
			}
		}
		return now.Sub(r.time) > max(p.Raw, p.FiveMinutes, p.Hours)
	})
	return nil
}

// Pin is that of [store.Engine].
func (m *Memory) Pin(ctx context.Context, p store.Pin) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	m.pins[p.Name] = p
	return nil
}

// Unpin is that of [store.Engine].
func (m *Memory) Unpin(ctx context.Context, name string) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	delete(m.pins, name)
	return nil
}

// Pins is that of [store.Engine].
func (m *Memory) Pins(ctx context.Context) ([]store.Pin, error) {
	if err := m.begin(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.pins), func(a, b store.Pin) int { return strings.Compare(a.Name, b.Name) }), nil
}

// Close is that of [store.Engine].
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return store.ErrClosed
	}
	m.closed = true
	return nil
}
