package block

import (
	"context"

	"loupe/store"
)

// merge adds up stacks of many parts into one tree.
type merge struct {
	ctx    context.Context
	q      *store.StacksQuery
	way    store.Aggregation
	limits store.Limits
	within span
	to     *building
	remaps map[remapKey]*target

	labels   []store.Labels
	groups   map[store.Labels]int // positions, where the query has labels to group by
	values   [][]int64
	profiles []int64
	samples  int64
	chunk    chunk
}

// target leads from the stacks of a part to nodes of the result.
type target struct {
	remap
	node []uint32 // plus one, of a stack
	sets []int8   // whether a label set is selected: 1 yes, -1 no, 0 not known yet
}

func newMerge(ctx context.Context, q *store.StacksQuery, way store.Aggregation) *merge {
	m := &merge{ctx: ctx, q: q, way: way, limits: q.Limits.Filled(), within: spanOf(q.Range), to: &building{in: newInterner()},
		remaps: map[remapKey]*target{}, groups: map[store.Labels]int{}}
	switch {
	case len(q.Parts) > 0:
		for range q.Parts {
			m.group(store.Labels{})
		}
	case len(q.By) == 0:
		m.groups[store.Labels{}] = m.group(store.Labels{})
	}
	return m
}

func (m *merge) group(l store.Labels) int {
	m.labels = append(m.labels, l)
	m.values = append(m.values, nil)
	m.profiles = append(m.profiles, 0)
	return len(m.labels) - 1
}

// add adds a series to the groups that it belongs to.
func (m *merge) add(f *found) error {
	if len(m.q.Parts) == 0 {
		return m.into(f, -1, m.within)
	}
	for i, p := range m.q.Parts {
		if p.Matchers.Match(f.labels) {
			s := spanOf(p.Range)
			if err := m.into(f, i, span{max(s.start, m.within.start), min(s.end, m.within.end)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// into adds what a series has in the span to a group; -1 is that of its labels.
func (m *merge) into(f *found, group int, within span) error {
	hits, err := m.load(f, within)
	if err != nil || len(hits) == 0 {
		return err
	}
	if group < 0 {
		l := f.labels.Only(m.q.By...)
		at, ok := m.groups[l]
		if !ok {
			at = m.group(l)
			m.groups[l] = at
			if len(m.labels) > m.limits.Groups {
				return store.TooMuch("groups", int64(m.limits.Groups))
			}
		}
		group = at
	}
	if m.way == store.Sum {
		for _, h := range hits {
			if err := m.sum(h, &m.values[group], group); err != nil {
				return err
			}
		}
		return nil
	}
	return m.state(hits, group)
}

// loaded is a hit with its profiles.
type loaded struct {
	hit
	rows     *rows
	from, to int
	target   *target
}

func (m *merge) load(f *found, within span) (out []loaded, err error) {
	for i := range f.hits {
		h := loaded{hit: f.hits[i]}
		if !within.touches(h.series.min, h.series.max) {
			continue
		}
		if h.rows, h.from, h.to, err = h.hit.load(within); err != nil {
			return nil, err
		}
		if h.from == h.to {
			continue
		}
		if h.target, err = m.target(&h.hit); err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

func (m *merge) target(h *hit) (*target, error) {
	key := remapKey{h.number, h.series.dict}
	if t := m.remaps[key]; t != nil {
		return t, nil
	}
	from, err := h.part.dict(h.series.dict)
	if err != nil {
		return nil, err
	}
	t := &target{remap: remap{from: from, to: m.to, locations: make([]uint32, len(from.ends)), nodes: make([]uint32, len(from.parents))},
		node: make([]uint32, len(from.stacks)), sets: make([]int8, len(from.sets))}
	m.remaps[key] = t
	return t, nil
}

// sum adds the profiles of a hit to the values of the nodes, which grow with the tree.
func (m *merge) sum(h loaded, values *[]int64, group int) error {
	first := 0
	for _, ref := range h.rows.chunks {
		from, to := max(h.from-first, 0), min(h.to-first, ref.n)
		begin := first
		first += ref.n
		if from >= to {
			continue
		}
		if err := m.ctx.Err(); err != nil {
			return err
		}
		for _, r := range h.rows.rows[begin+from : begin+to] {
			m.samples += int64(r.samples)
			m.profiles[group] += r.count
		}
		if m.samples > m.limits.Samples {
			return store.TooMuch("samples", m.limits.Samples)
		}
		b, err := h.part.chunk(ref, nil)
		if err != nil {
			return err
		}
		if err := m.chunk.decode(b); err != nil {
			return err
		}
		if len(m.chunk.counts) != ref.n || !m.chunk.fits(h.target.from, len(h.series.types)) {
			return errCut
		}
		m.chunk.each(from, to, func(_ int, s *samples) { m.samplesInto(&h, s, values) })
		if len(m.to.in.parents) > m.limits.Nodes {
			return store.TooMuch("nodes", int64(m.limits.Nodes))
		}
	}
	return nil
}

// samplesInto adds the samples of one profile.
func (m *merge) samplesInto(h *loaded, s *samples, values *[]int64) {
	t, column := h.target, s.values[h.typ]
	all := *values
	for i, id := range s.stacks {
		if len(m.q.Sample) > 0 && !t.selected(m.q.Sample, s.set(i)) {
			continue
		}
		n := t.node[id]
		if n == 0 {
			n = t.remap.node(t.from.stacks[id]) + 1
			t.node[id] = n
		}
		if int(n) > len(all) {
			all = append(all, make([]int64, max(int(n), len(m.to.in.parents))-len(all))...)
		}
		all[n-1] += column[i]
	}
	*values = all
}

// selected tells whether a label set is.
func (t *target) selected(ms store.Matchers, set uint32) bool {
	if t.sets[set] == 0 {
		t.sets[set] = -1
		if ms.Match(t.from.sets[set]) {
			t.sets[set] = 1
		}
	}
	return t.sets[set] > 0
}

// state adds what a series has of a state: its mean, or the last.
func (m *merge) state(hits []loaded, group int) error {
	weight := int64(0)
	if m.way == store.Last {
		last := hits[0]
		for _, h := range hits {
			if h.rows.rows[h.to-1].time >= last.rows.rows[last.to-1].time {
				last = h
			}
		}
		last.from = last.to - 1
		hits = []loaded{last}
	}
	var sums []int64
	for _, h := range hits {
		for _, r := range h.rows.rows[h.from:h.to] {
			weight += r.weight
		}
		if err := m.sum(h, &sums, group); err != nil {
			return err
		}
	}
	all := m.values[group]
	if len(sums) > len(all) {
		all = append(all, make([]int64, len(sums)-len(all))...)
	}
	for n, v := range sums {
		if v != 0 {
			all[n] += mean(v, weight)
		}
	}
	m.values[group] = all
	return nil
}

// result hands the tree over.
func (m *merge) result() (*store.Stacks, error) {
	in := m.to.in
	s := &store.Stacks{Type: m.q.Type, Functions: in.functions, Lines: in.lines, Ends: in.ends, Parents: in.parents, Locations: in.locations,
		Groups: m.labels, Values: m.values, Profiles: m.profiles}
	for g := range s.Values {
		s.Values[g] = append(s.Values[g], make([]int64, len(s.Parents)-len(s.Values[g]))...)
	}
	return s, nil
}
