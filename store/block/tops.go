package block

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"loupe/store"
)

// tops are the roll-up of a service in a block: what each function took in all of its
// profiles, by version and build. A month of a fleet is asked for its functions without
// a look at its stacks.
//
// Note: sums of stacks would have answered for flame graphs, too. But of 30 days of ten
// services they need 300 dictionaries, which take 5 ms each.
type tops struct {
	*topNames
	groups []topGroup
}

// topNames are the functions of a roll-up. Those of a service are the same in most blocks: then
// they are read once, and found in a sum without a look at their names, which was half of the
// time of a month of ten services.
type topNames struct {
	raw       string // as they stand in the roll-up
	functions []name
	at        []int32 // positions in a sum, plus one, of those that are known
}

type name struct{ function, file string }

// topGroup is one version and build of the service.
type topGroup struct {
	labels  store.Labels
	types   []store.Type // those that are summed over time
	columns []int        // of a series; while it is put together
	values  [][]int64    // by stack, of each type; while it is put together
	numbers []int64      // positions in functions
	self    [][]int64    // of these, for each type
	total   [][]int64
	sums    []int64 // of all stacks, those without a function too
}

// rolledLabels are those that roll-ups have.
var rolledLabels = []string{store.ServiceLabel, store.VersionLabel, store.BuildLabel}

// rolledFrom is how many samples a service must have in a block for each of its functions,
// so that a roll-up is a small part of the block.
const rolledFrom = 128

// mostGroups bounds the memory of making a roll-up, which is a number for each stack of each
// type of a group. A service that has more versions in a block has none.
const mostGroups = 16

// topsWriter puts the roll-up of one service together.
type topsWriter struct {
	groups  map[seriesKey]*topGroup
	samples int
	many    bool // there are too many groups
}

// group returns that of a series: nil where nothing in it is summed over time.
func (w *topsWriter) group(s *series, stacks int) *topGroup {
	g := topGroup{labels: s.labels.Only(rolledLabels...)}
	for k, t := range s.types {
		if t.Over() == store.Sum {
			g.types, g.columns = append(g.types, t), append(g.columns, k)
		}
	}
	if len(g.types) == 0 {
		return nil
	}
	key := seriesKey{g.labels, typesKey(s.types)}
	if w.groups == nil {
		w.groups = map[seriesKey]*topGroup{}
	}
	if w.groups[key] == nil {
		if w.many = w.many || len(w.groups) == mostGroups; w.many {
			clear(w.groups)
			return nil
		}
		g.sums = make([]int64, len(g.types))
		g.values = make([][]int64, len(g.types))
		for k := range g.values {
			g.values[k] = make([]int64, stacks)
		}
		w.groups[key] = &g
	}
	return w.groups[key]
}

// add adds a profile.
func (w *topsWriter) add(g *topGroup, s *samples) {
	if g == nil {
		return
	}
	w.samples += len(s.stacks)
	for k, column := range g.columns {
		for i, id := range s.stacks {
			g.values[k][id] += s.values[column][i]
			g.sums[k] += s.values[column][i]
		}
	}
}

// append writes the roll-up, and nothing where there is too little for one.
func (w *topsWriter) append(d *dict) []byte {
	if w.many || len(w.groups) == 0 || w.samples < rolledFrom*len(d.functions) {
		return nil
	}
	all := map[name]int64{}
	for _, f := range d.functions {
		all[name{f.Name, f.File}] = 0
	}
	list := slices.SortedFunc(maps.Keys(all), func(a, b name) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.function, b.function))
	})
	b := binary.AppendUvarint(nil, uint64(len(list)))
	file := ""
	for i, f := range list {
		all[f] = int64(i)
		b = appendText(b, f.function)
		if f.file == file { // most files have several functions
			b = append(b, 0)
			continue
		}
		file = f.file
		b = appendText(append(b, 1), f.file)
	}
	keys := slices.SortedFunc(maps.Keys(w.groups), func(a, b seriesKey) int {
		return cmp.Or(a.labels.Compare(b.labels), cmp.Compare(a.types, b.types))
	})
	b = binary.AppendUvarint(b, uint64(len(keys)))
	for _, key := range keys {
		b = w.groups[key].append(b, d, all)
	}
	return b
}

// append writes a group: labels, types, functions and two columns for each type.
func (g *topGroup) append(b []byte, d *dict, numbers map[name]int64) []byte {
	s := &store.Stacks{Functions: d.functions, Lines: d.lines, Ends: d.ends, Parents: d.parents, Locations: d.locations}
	self, total := make([][]int64, len(g.types)), make([][]int64, len(g.types)) // by number
	used := make([]bool, len(numbers))
	for k := range g.types {
		nodes := make([]int64, len(d.parents))
		for id, v := range g.values[k] {
			nodes[d.stacks[id]] += v
		}
		s.Values = [][]int64{nodes}
		self[k], total[k] = make([]int64, len(numbers)), make([]int64, len(numbers))
		for _, f := range s.Top(0, len(d.functions)).Functions {
			n := numbers[name{f.Function, f.File}]
			self[k][n], total[k][n], used[n] = f.Self, f.Total, true
		}
	}
	b = appendSet(b, g.labels)
	b = append(b, byte(len(g.types)))
	for k, t := range g.types {
		b = binary.AppendVarint(appendText(b, t.String()), g.sums[k])
	}
	var list []int
	for n, ok := range used {
		if ok {
			list = append(list, n)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(list)))
	last := 0
	for _, n := range list {
		b = binary.AppendUvarint(b, uint64(n-last))
		last = n
	}
	var before [][]int64
	for _, columns := range [][][]int64{self, total} {
		for _, column := range columns {
			some := make([]int64, len(list))
			for i, n := range list {
				some[i] = column[n]
			}
			b = appendColumn(b, before, some)
			before = append(before, some)
		}
	}
	return b
}

// readTops reads a roll-up. The names may be those of one that was read before, or nil.
func readTops(b []byte, before *topNames) (*tops, error) {
	d := decoder{b: b}
	n := d.count(2)
	t := &tops{topNames: before}
	if before != nil && len(before.functions) == n && len(d.b) >= len(before.raw) && string(d.b[:len(before.raw)]) == before.raw {
		d.b = d.b[len(before.raw):]
	} else {
		t.topNames = readTopNames(&d, n)
	}
	for range d.count(3) {
		g := topGroup{labels: d.set()}
		for range int(d.byte()) {
			typ, err := store.ParseType(d.text())
			if err != nil {
				return nil, errCut
			}
			g.types, g.sums = append(g.types, typ), append(g.sums, d.int())
		}
		g.numbers = make([]int64, d.count(1))
		last := uint64(0)
		for i := range g.numbers {
			last += d.uint()
			if last >= uint64(len(t.functions)) {
				return nil, errCut
			}
			g.numbers[i] = int64(last)
		}
		if len(g.types) > 32 || d.bad {
			return nil, errCut
		}
		var c chunk
		c.all.values = make([][]int64, 2*len(g.types))
		for k := range c.all.values {
			c.column(&d, k, len(g.numbers))
		}
		g.self, g.total = c.all.values[:len(g.types)], c.all.values[len(g.types):]
		t.groups = append(t.groups, g)
	}
	if d.bad || len(d.b) > 0 {
		return nil, errCut
	}
	return t, nil
}

// readTopNames reads so many names.
func readTopNames(d *decoder, n int) *topNames {
	all := string(d.b) // one text for all names
	text := func() string {
		n := d.count(1)
		at := len(all) - len(d.b)
		if d.bad {
			return ""
		}
		d.b = d.b[n:]
		return all[at : at+n]
	}
	t := &topNames{functions: make([]name, n), at: make([]int32, n)}
	file := ""
	for i := range t.functions {
		t.functions[i].function = text()
		if d.byte() != 0 {
			file = text()
		}
		t.functions[i].file = file
	}
	t.raw = all[:len(all)-len(d.b)]
	return t
}

// topSum adds functions up.
type topSum struct {
	at  map[name]int
	all []store.FunctionTotal
	sum int64
}

// position is where the sum of a function is.
func (s *topSum) position(n name) int {
	at, ok := s.at[n]
	if !ok {
		at = len(s.all)
		s.at[n] = at
		s.all = append(s.all, store.FunctionTotal{Function: n.function, File: n.file})
	}
	return at
}

func (s *topSum) add(at int, self, total int64) {
	s.all[at].Self += self
	s.all[at].Total += total
}

// rolled adds what the roll-up has of the type.
func (s *topSum) rolled(t *tops, q *store.TopQuery) {
	for _, g := range t.groups {
		k := slices.Index(g.types, q.Type)
		if k < 0 || !q.Matchers.Match(g.labels) {
			continue
		}
		s.sum += g.sums[k]
		for i, n := range g.numbers {
			if t.at[n] == 0 {
				t.at[n] = int32(s.position(t.functions[n])) + 1
			}
			s.add(int(t.at[n])-1, g.self[k][i], g.total[k][i])
		}
	}
}

// Top is that of [store.Engine]. What is in blocks that lie in the range as a whole is read
// from their roll-ups, unless it is selected by labels that these do not have.
func (e *Engine) Top(ctx context.Context, q store.TopQuery) (*store.Top, error) {
	way, err := q.Type.Resolve(q.Over)
	if err != nil {
		return nil, err
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
	s := &topSum{at: map[name]int{}}
	if way == store.Sum && !slices.ContainsFunc(q.Matchers, func(m *store.Matcher) bool { return !slices.Contains(rolledLabels, m.Name) }) {
		if err := s.fromBlocks(ctx, list, &q); err != nil {
			return nil, err
		}
	}
	m := newMerge(ctx, &store.StacksQuery{Selection: q.Selection, Over: q.Over}, way)
	for i := range list {
		if err := m.add(&list[i]); err != nil {
			return nil, err
		}
	}
	rest, err := m.result()
	if err != nil {
		return nil, err
	}
	if s.sum == 0 && len(s.all) == 0 {
		return rest.Top(0, q.N), nil
	}
	top := rest.Top(0, 1<<31-1)
	for _, f := range top.Functions {
		s.add(s.position(name{f.Function, f.File}), f.Self, f.Total)
	}
	top.Total += s.sum
	top.Functions = slices.DeleteFunc(s.all, func(f store.FunctionTotal) bool { return f.Total == 0 && f.Self == 0 })
	slices.SortFunc(top.Functions, store.FunctionTotal.Compare)
	top.Functions = top.Functions[:min(len(top.Functions), cmp.Or(q.N, 100))]
	return top, nil
}

// fromBlocks adds the roll-ups of blocks that lie in the range, and takes what they stand
// for off the list.
func (s *topSum) fromBlocks(ctx context.Context, list []found, q *store.TopQuery) error {
	within := spanOf(q.Range)
	done := map[cacheKey]bool{}
	var names *topNames // of the last roll-up: those of a service follow each other
	for i := range list {
		hits := list[i].hits[:0:0]
		for _, h := range list[i].hits {
			b, ok := h.part.(*block)
			ref := chunkRef{}
			if ok && within.has(b.first) && within.has(b.last) {
				ref = b.index.tops[h.series.dict]
			}
			if ref.raw == 0 {
				hits = append(hits, h)
				continue
			}
			key := cacheKey{b, h.series.dict}
			if done[key] {
				continue
			}
			done[key] = true
			if err := ctx.Err(); err != nil {
				return err
			}
			raw, err := b.chunk(ref, nil)
			if err != nil {
				return err
			}
			t, err := readTops(raw, names)
			if err != nil {
				return err
			}
			names = t.topNames
			s.rolled(t, q)
		}
		list[i].hits = hits
	}
	return nil
}
