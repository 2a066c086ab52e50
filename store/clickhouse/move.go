package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/value/stack"
)

var (
	_ store.Exporter = (*Engine)(nil)
	_ store.Importer = (*Engine)(nil)
)

const (
	exportedAtOnce = 256    // profiles of a series whose samples are read together
	exportedRows   = 50_000 // rows of the table that are asked for together, without samples
)

// Days is that of [store.Exporter].
func (e *Engine) Days(ctx context.Context) (days []time.Time, err error) {
	if err := e.begin(ctx); err != nil {
		return nil, err
	}
	s, err := e.state(ctx)
	if err != nil {
		return nil, err
	}
	statement := fmt.Sprintf("SELECT DISTINCT ts - (ts %% %d + %[1]d) %% %[1]d AS begins FROM %s WHERE %s", int64(24*time.Hour), e.c.all("profiles"), s.visible(e.c))
	err = e.c.ask(ctx, statement, func(r *rows) error {
		days = append(days, time.Unix(0, r.int64()).UTC())
		return r.err
	})
	slices.SortFunc(days, time.Time.Compare)
	return days, err
}

// Export is that of [store.Exporter]. Of what was thinned out, each kind comes by itself:
// which kinds were in one profile is not kept.
func (e *Engine) Export(ctx context.Context, s store.Selection, f func(*store.Moved) error) error {
	typ := s.Type
	s.Type = store.Type{}
	p, err := e.plan(ctx, s, store.Range{})
	if err != nil {
		return err
	}
	x := exporter{ctx: ctx, e: e, plan: p, sets: map[uint64]map[uint32]store.Labels{}}
	for _, batch := range x.batches() {
		all, err := x.groups(batch)
		if err != nil {
			return fmt.Errorf("cannot hand out profiles: %w", err)
		}
		for _, series := range batch {
			for chunk := range slices.Chunk(all[series], exportedAtOnce) {
				if err := x.hand(leavingChunk{series: series, groups: chunk}, typ, f); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// hand hands out the profiles of a chunk that have a type, or any.
func (x *exporter) hand(chunk leavingChunk, typ store.Type, f func(*store.Moved) error) error {
	x.chunk = chunk
	for _, g := range chunk.groups {
		m := x.moved(g)
		if typ != (store.Type{}) && !slices.Contains(m.Types, typ) {
			continue
		}
		if err := f(m); err != nil {
			return err
		}
	}
	return nil
}

// batches divides the series, sorted, into those that are asked for together.
func (x *exporter) batches() (out [][]uint64) {
	rows := map[uint64]int64{}
	for _, r := range x.plan.rows {
		rows[r.series] += r.count
	}
	labels := x.plan.labels
	n := int64(0)
	for _, series := range slices.SortedFunc(maps.Keys(labels), func(a, b uint64) int { return labels[a].Compare(labels[b]) }) {
		if len(out) == 0 || n+rows[series] > exportedRows {
			out, n = append(out, nil), 0
		}
		n += rows[series]
		out[len(out)-1] = append(out[len(out)-1], series)
	}
	return out
}

// exporter hands out profiles.
type exporter struct {
	ctx   context.Context
	e     *Engine
	plan  *plan
	chunk leavingChunk

	// What numbers of the tables stand for, as far as it was read.
	tree  *tree
	table *stack.Table
	ids   map[uint32]stack.ID // of nodes of the tree
	sets  map[uint64]map[uint32]store.Labels
}

// leavingChunk are profiles of one series whose samples are read together.
type leavingChunk struct {
	series uint64
	groups []*leaving
	read   bool
}

// leavingKey tells the profiles of a series apart.
type leavingKey struct {
	ts  int64
	res uint64
	id  string // "" of what was thinned out here
	// kind is that of what was thinned out, 0 of others.
	kind uint64
}

// leaving is one profile on its way out: as it came, taken over from elsewhere, or one kind of
// what was thinned out.
type leaving struct {
	leavingKey
	columns             []leavingColumn
	span, count, weight int64
	samples             map[leavingSample][]int64 // by column, once they were read
}

// leavingColumn is a kind of a profile.
type leavingColumn struct {
	kind  uint64
	total int64
}

// leavingSample names a sample.
type leavingSample struct {
	node uint32
	set  store.Labels
}

// where is the condition for some series.
func (x *exporter) where(series ...uint64) string {
	services := map[string]bool{}
	for _, one := range series {
		services[quote(x.plan.labels[one].Value(store.ServiceLabel))] = true
	}
	// The table is sorted by the service first.
	return x.plan.where + fmt.Sprintf(" AND service IN (%s) AND series IN (%s)", join(slices.Sorted(maps.Keys(services))), list(series))
}

// groups reads what there is of some series, by time.
func (x *exporter) groups(series []uint64) (out map[uint64][]*leaving, err error) {
	out = map[uint64][]*leaving{}
	type name struct {
		series uint64
		leavingKey
	}
	of := map[name]*leaving{}
	// What was thinned out has rows of several spaces, which are one profile. Of states each
	// server's sum has a weight of its own; from an hour on that is 1 and their values add up.
	statement := "SELECT series, ts, toUInt64(res), if(gen = 0, toString(id), '') AS single, kind, unit, sum(span), toInt64(sum(count)), sum(weight), sum(total) FROM " +
		x.e.c.all("profiles") + " WHERE " + x.where(series...) + " GROUP BY series, ts, res, single, kind, unit ORDER BY series, ts, res, single, kind, unit"
	err = x.e.c.ask(x.ctx, statement, func(r *rows) error {
		one := r.uint64()
		key := leavingKey{ts: r.int64(), res: r.uint64(), id: r.text()}
		kind := r.uint64()
		_, span, count, weight, total := r.uint64(), r.int64(), r.int64(), r.int64(), r.int64()
		if r.err != nil {
			return r.err
		}
		if key.id == "" {
			key.kind = kind
		}
		g := of[name{one, key}]
		if g == nil {
			g = &leaving{leavingKey: key, span: span, count: count, weight: weight}
			of[name{one, key}] = g
			out[one] = append(out[one], g)
		} else if key.id == "" { // of another server
			g.span, g.count, g.weight = g.span+span, g.count+count, max(g.weight, weight)
			g.columns[0].total += total
			return nil
		}
		g.columns = append(g.columns, leavingColumn{kind, total})
		return nil
	})
	return out, err
}

// types are those of a profile, by name, with the column that each comes from and how many
// times its values.
func (x *exporter) types(g *leaving) (types []store.Type, column []int, times []int64) {
	for i, c := range g.columns {
		k := x.plan.kinds[c.kind]
		for j, t := range k.types {
			at, _ := slices.BinarySearchFunc(types, t, func(a, b store.Type) int { return cmp.Compare(a.String(), b.String()) })
			types = slices.Insert(types, at, t)
			column, times = slices.Insert(column, at, i), slices.Insert(times, at, k.times[j])
		}
	}
	return types, column, times
}

// moved is a profile for whoever takes it over.
func (x *exporter) moved(g *leaving) *store.Moved {
	types, column, times := x.types(g)
	m := &store.Moved{
		Labels: x.plan.labels[x.chunk.series], Types: types, Time: time.Unix(0, g.ts).UTC(), Duration: time.Duration(g.span),
		Resolution: time.Duration(g.res) * time.Second, Count: g.count, Weight: g.weight,
		Samples: func() (*profile.Profile, error) {
			if err := x.read(); err != nil {
				return nil, err
			}
			return x.profile(g, types, column, times)
		},
	}
	for i := range types {
		m.Totals = append(m.Totals, g.columns[column[i]].total*times[i])
	}
	return m
}

// read reads the samples of a chunk.
func (x *exporter) read() error {
	if x.chunk.read {
		return nil
	}
	if tree := x.e.code.use(); tree != x.tree {
		x.tree, x.table, x.ids = tree, new(stack.Table), map[uint32]stack.ID{}
	}
	of := map[leavingKey]*leaving{}
	for _, g := range x.chunk.groups {
		of[g.leavingKey] = g
		g.samples = map[leavingSample][]int64{}
	}
	first, last := x.chunk.groups[0].ts, x.chunk.groups[len(x.chunk.groups)-1].ts
	statement := fmt.Sprintf("SELECT ts, toUInt64(res), if(gen = 0, toString(id), ''), kind, space, stacks, vals, sets FROM %s WHERE %s AND ts >= %d AND ts <= %d",
		x.e.c.all("profiles"), x.where(x.chunk.series), first, last)
	var stacks, sets []uint32
	var values []int64
	err := x.e.c.ask(x.ctx, statement, func(r *rows) error {
		key := leavingKey{ts: r.int64(), res: r.uint64(), id: r.text()}
		kind, space := r.uint64(), r.uint64()
		stacks, values, sets = r.uint32s(stacks[:0]), r.int64s(values[:0]), r.uint32s(sets[:0])
		if r.err != nil {
			return r.err
		}
		if key.id == "" {
			key.kind = kind
		}
		g := of[key]
		if g == nil {
			return nil // of the same instant, in another chunk
		}
		return x.add(g, kind, space, stacks, sets, values)
	})
	x.chunk.read = err == nil
	return err
}

// add adds a row to the samples of a profile.
func (x *exporter) add(g *leaving, kind, space uint64, stacks, sets []uint32, values []int64) error {
	at := slices.IndexFunc(g.columns, func(c leavingColumn) bool { return c.kind == kind })
	if at < 0 || len(stacks) != len(values) || len(sets) != 0 && len(sets) != len(stacks) {
		return fmt.Errorf("a profile of %s has %d stacks with %d values and %d sets", time.Unix(0, g.ts).UTC().Format(time.RFC3339), len(stacks), len(values), len(sets))
	}
	nodes, err := x.tree.nodes(x.ctx, x.e.c, space, stacks)
	if err != nil {
		return err
	}
	for i, n := range nodes {
		name := leavingSample{node: n}
		if len(sets) > 0 && sets[i] != 0 {
			if name.set, err = x.set(space, sets[i]); err != nil {
				return err
			}
		}
		all := g.samples[name]
		if all == nil {
			all = make([]int64, len(g.columns))
			g.samples[name] = all
		}
		all[at] += values[i]
	}
	return nil
}

// set returns the labels of samples that a number stands for.
func (x *exporter) set(space uint64, id uint32) (store.Labels, error) {
	if l, ok := x.sets[space][id]; ok {
		return l, nil
	}
	of := map[uint32]store.Labels{}
	err := x.e.c.ask(x.ctx, fmt.Sprintf("SELECT id, labels FROM %s WHERE space = %d", x.e.c.all("sets"), space), func(r *rows) error {
		id, text := r.uint32(), r.text()
		if r.err != nil {
			return r.err
		}
		l, err := parseLabels(text)
		of[id] = l
		return err
	})
	if err != nil {
		return store.Labels{}, err
	}
	if len(x.sets) > 64 {
		clear(x.sets)
	}
	x.sets[space] = of
	l, ok := of[id]
	if !ok {
		return l, fmt.Errorf("the table %s lacks set %d of space %d", x.e.c.all("sets"), id, space)
	}
	return l, nil
}

// profile makes one of the samples of a profile.
func (x *exporter) profile(g *leaving, types []store.Type, column []int, times []int64) (*profile.Profile, error) {
	p := &profile.Profile{Stacks: x.table, Values: make([][]int64, len(types))}
	for _, t := range types {
		p.SampleTypes = append(p.SampleTypes, profile.ValueType{Type: t.Sample, Unit: t.Unit})
		p.PeriodType = profile.ValueType{Type: t.Period, Unit: t.PeriodUnit}
	}
	names := slices.SortedFunc(maps.Keys(g.samples), func(a, b leavingSample) int {
		return cmp.Or(cmp.Compare(a.node, b.node), a.set.Compare(b.set))
	})
	labelled := false
	for _, name := range names {
		p.StackIDs = append(p.StackIDs, x.stack(name.node))
		for i := range types {
			p.Values[i] = append(p.Values[i], g.samples[name][column[i]]*times[i])
		}
		labelled = labelled || name.set != (store.Labels{})
	}
	if !labelled {
		return p, nil
	}
	return p.WithLabels(func(row int) (list []profile.Label) {
		for name, value := range names[row].set.All() {
			list = append(list, profile.Label{Key: name, Str: value})
		}
		return list
	}), nil
}

// stack returns a node of the tree as a stack of the table.
func (x *exporter) stack(node uint32) stack.ID {
	if id, ok := x.ids[node]; ok {
		return id
	}
	t := x.tree
	t.mu.RLock()
	defer t.mu.RUnlock()
	var frames []stack.FrameID
	for n := node; n != 0; n = t.parents[n] {
		begin, l := uint32(0), t.locations[n]
		if l > 0 {
			begin = t.ends[l-1]
		}
		lines := t.lines[begin:t.ends[l]]
		for i, line := range lines {
			f := t.functions[line.Function]
			frames = append(frames, x.table.InternFrame(stack.Frame{Func: f.Name, System: f.Name, File: f.File, StartLine: f.StartLine, Line: line.Line, Inlined: i < len(lines)-1}))
		}
	}
	id := x.table.Intern(frames)
	x.ids[node] = id
	return id
}

// Import is that of [store.Importer], with what Write says of calls that fail.
func (e *Engine) Import(ctx context.Context, list []*store.Moved) error {
	profiles := make([]*store.Profile, 0, len(list))
	for _, m := range list {
		if err := m.Check(); err != nil {
			return err
		}
		samples, err := m.Samples()
		if err != nil {
			return err
		}
		profiles = append(profiles, &store.Profile{ID: m.ID(), Labels: m.Labels, Types: m.Types, Time: m.Time, Duration: m.Duration, Samples: samples})
	}
	return e.write(ctx, profiles, list)
}
