package block

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

var _ store.Importer = (*Engine)(nil)
var _ store.Exporter = (*Engine)(nil)

// Days is that of [store.Exporter].
func (e *Engine) Days(ctx context.Context) ([]time.Time, error) {
	v, err := e.view(ctx)
	if err != nil {
		return nil, err
	}
	defer v.release()
	return v.days()
}

// days returns the days that the parts have profiles of. A block is of one day.
func (v *view) days() (out []time.Time, err error) {
	set := map[int64]bool{}
	for _, p := range v.parts {
		if b, ok := p.(*block); ok {
			for d := dayNumber(b.first); d <= dayNumber(b.last); d++ {
				set[d] = true
			}
			continue
		}
		list, err := p.list()
		if err != nil {
			return nil, err
		}
		for i := range list {
			r, err := p.load(i)
			if err != nil {
				return nil, err
			}
			for _, one := range r.rows {
				set[dayNumber(one.time)] = true
			}
		}
	}
	for _, d := range slices.Sorted(maps.Keys(set)) {
		out = append(out, time.Unix(0, d*int64(day)).UTC())
	}
	return out, nil
}

// dayNumber is the day of a time, in UTC, also before 1970.
func dayNumber(t int64) int64 {
	d := t / int64(day)
	if t%int64(day) < 0 {
		d--
	}
	return d
}

// Export is that of [store.Exporter].
func (e *Engine) Export(ctx context.Context, s store.Selection, f func(*store.Moved) error) error {
	v, err := e.view(ctx)
	if err != nil {
		return err
	}
	defer v.release()
	return v.export(ctx, s, false, f)
}

// export hands out the selected profiles of all parts. Once tells that those which are equal
// and in different parts are one: an archive may have two blocks with one profile.
func (v *view) export(ctx context.Context, s store.Selection, once bool, f func(*store.Moved) error) error {
	list, err := v.find(s)
	if err != nil {
		return err
	}
	x := exporter{within: spanOf(s.Range), once: once, stacks: map[remapKey]*exported{}}
	for _, one := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := x.series(ctx, &one, f); err != nil {
			return fmt.Errorf("cannot hand out %s: %w", one.labels, err)
		}
	}
	return nil
}

// exporter hands out profiles. Stacks are interned once for each dictionary.
type exporter struct {
	within span
	once   bool
	stacks map[remapKey]*exported
}

// exported is a dictionary as the stacks of profiles.
type exported struct {
	dict  *dict
	table *stack.Table
	ids   []stack.ID // of each stack, plus one
}

// leaving is a profile of one part that is on its way out.
type leaving struct {
	x     *exporter
	hit   *hit
	row   *row
	chunk chunkRef
	nth   int // in the chunk
}

// resolutionOf is that of the profiles of a part.
func resolutionOf(p part) time.Duration {
	if b, ok := p.(*block); ok {
		return b.index.resolution
	}
	return 0
}

// series hands out the profiles of one series, from all parts, by time.
func (x *exporter) series(ctx context.Context, of *found, f func(*store.Moved) error) error {
	var all []leaving
	for i := range of.hits {
		h := &of.hits[i]
		r, from, to, err := h.load(x.within)
		if err != nil {
			return err
		}
		first := 0
		for _, c := range r.chunks {
			for at := max(from, first); at < min(to, first+c.n); at++ {
				all = append(all, leaving{x, h, &r.rows[at], c, at - first})
			}
			first += c.n
		}
	}
	slices.SortStableFunc(all, func(a, b leaving) int { return cmp.Compare(a.row.time, b.row.time) })
	for i := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		l := &all[i]
		if x.once && again(all[:i], l) {
			continue
		}
		err := f(&store.Moved{
			Labels: of.labels, Types: l.hit.series.types, Time: time.Unix(0, l.row.time).UTC(), Duration: time.Duration(l.row.duration),
			Resolution: resolutionOf(l.hit.part), Count: l.row.count, Weight: l.row.weight, Totals: l.row.totals, Samples: l.samples,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// again tells whether a profile was handed out before, which would be just before it.
func again(before []leaving, l *leaving) bool {
	for _, o := range slices.Backward(before) {
		if o.row.time != l.row.time {
			return false
		}
		if l.equal(&o) {
			return true
		}
	}
	return false
}

// equal tells whether another profile, of another part, is the same.
func (l *leaving) equal(o *leaving) bool {
	a, b := l.row, o.row
	return l.hit.number != o.hit.number && resolutionOf(l.hit.part) == resolutionOf(o.hit.part) && slices.Equal(l.hit.series.types, o.hit.series.types) &&
		a.time == b.time && a.duration == b.duration && a.count == b.count && a.weight == b.weight && slices.Equal(a.totals, b.totals)
}

// samples decodes the samples of a profile.
func (l *leaving) samples() (*profile.Profile, error) {
	e, err := l.x.exported(l.hit)
	if err != nil {
		return nil, err
	}
	b, err := l.hit.part.chunk(l.chunk, nil)
	if err != nil {
		return nil, err
	}
	var c chunk
	if err := c.decode(b); err != nil {
		return nil, err
	}
	if len(c.counts) != l.chunk.n || !c.fits(e.dict, len(l.hit.series.types)) {
		return nil, errCut
	}
	var p *profile.Profile
	c.each(l.nth, l.nth+1, func(_ int, s *samples) { p = e.profile(s, l.hit.series.types) })
	return p, nil
}

func (x *exporter) exported(h *hit) (*exported, error) {
	key := remapKey{h.number, h.series.dict}
	if e := x.stacks[key]; e != nil {
		return e, nil
	}
	d, err := h.part.dict(h.series.dict)
	if err != nil {
		return nil, err
	}
	e := &exported{dict: d, table: new(stack.Table), ids: make([]stack.ID, len(d.stacks))}
	x.stacks[key] = e
	return e, nil
}

// profile makes one of samples.
func (e *exported) profile(s *samples, types []store.Type) *profile.Profile {
	p := &profile.Profile{Stacks: e.table, Values: make([][]int64, len(types))}
	for k, t := range types {
		p.SampleTypes = append(p.SampleTypes, profile.ValueType{Type: t.Sample, Unit: t.Unit})
		p.Values[k] = slices.Clone(s.values[k])
	}
	if len(types) > 0 {
		p.PeriodType = profile.ValueType{Type: types[0].Period, Unit: types[0].PeriodUnit}
	}
	p.StackIDs = make([]stack.ID, len(s.stacks))
	for i, id := range s.stacks {
		p.StackIDs[i] = e.stack(id)
	}
	if s.sets == nil {
		return p
	}
	sets := slices.Clone(s.sets)
	return p.WithLabels(func(row int) (list []profile.Label) {
		for name, value := range e.dict.sets[sets[row]].All() {
			list = append(list, profile.Label{Key: name, Str: value})
		}
		return list
	})
}

// stack returns a stack of the dictionary in the table.
func (e *exported) stack(id uint32) stack.ID {
	if e.ids[id] != 0 {
		return e.ids[id] - 1
	}
	var frames []stack.FrameID
	for n := e.dict.stacks[id]; n != 0; n = e.dict.parents[n] {
		lines := e.dict.linesOf(e.dict.locations[n])
		for i, l := range lines {
			f := e.dict.functions[l.Function]
			frames = append(frames, e.table.InternFrame(stack.Frame{Func: f.Name, System: f.Name, File: f.File, StartLine: f.StartLine, Line: l.Line, Inlined: i < len(lines)-1}))
		}
	}
	e.ids[id] = e.table.Intern(frames) + 1
	return e.ids[id] - 1
}

// Import is that of [store.Importer]. The profiles go into blocks of their own at once: many
// at a time are better than few.
func (e *Engine) Import(ctx context.Context, list []*store.Moved) error {
	byResolution := map[time.Duration][]*store.Profile{}
	thinned := map[*store.Profile]*store.Moved{}
	for _, m := range list {
		if err := m.Check(); err != nil {
			return err
		}
		samples, err := m.Samples()
		if err != nil {
			return err
		}
		p := &store.Profile{ID: m.ID(), Labels: m.Labels, Types: m.Types, Time: m.Time, Duration: m.Duration, Samples: samples}
		if err := p.Check(); err != nil {
			return err
		}
		byResolution[m.Resolution] = append(byResolution[m.Resolution], p)
		thinned[p] = m
	}
	e.mu.RLock()
	closed := e.closed
	e.mu.RUnlock()
	if closed {
		return store.ErrClosed
	}
	e.work.Lock()
	defer e.work.Unlock()
	var names []string
	for _, resolution := range slices.Sorted(maps.Keys(byResolution)) {
		made, err := e.importOne(ctx, resolution, byResolution[resolution], thinned)
		names = append(names, made...)
		if err != nil {
			e.discard(names)
			return fmt.Errorf("cannot write a block: %w", err)
		}
	}
	if len(names) == 0 {
		return nil
	}
	ids, err := e.commitImported(names)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ids.Add(ids...)
	return nil
}

// commitImported makes blocks count, and returns the IDs that are in them.
func (e *Engine) commitImported(names []string) (ids []store.ID, err error) {
	for _, name := range names {
		b, some, err := openBlock(e.fs, name, &e.cache)
		if err != nil {
			e.discard(names)
			return nil, err
		}
		b.release()
		ids = append(ids, some...)
	}
	return ids, e.commit(names, nil, nil, true)
}

// importOne writes blocks of the profiles of one resolution that are not known.
func (e *Engine) importOne(ctx context.Context, resolution time.Duration, list []*store.Profile, thinned map[*store.Profile]*store.Moved) (names []string, err error) {
	h := newHead(0, nil)
	for _, p := range list {
		if h.ids[p.ID] != nil || e.known(p.ID) || e.inHead(p.ID) {
			continue
		}
		t := &ticket{}
		h.ids[p.ID] = t
		h.kept = append(h.kept, p.ID)
		r := recorder{h: h, t: t}
		r.profile(p)
		for _, one := range t.rows {
			one.row.count, one.row.weight = thinned[p].Count, thinned[p].Weight
			h.place(one)
		}
	}
	v := h.snapshot()
	for _, day := range daysOf(v) {
		e.mu.Lock()
		n := e.next()
		e.mu.Unlock()
		r := recipe{number: n, parts: []part{v}, span: day, resolution: resolution}
		if len(names) == 0 {
			r.ids = h.kept
		}
		ok, err := writeBlock(ctx, e.fs, blockName(n), r)
		if err != nil {
			return names, err
		}
		if ok {
			names = append(names, blockName(n))
		}
	}
	return names, nil
}

// inHead tells whether an ID is in what is being written now.
func (e *Engine) inHead(id store.ID) bool {
	e.mu.RLock()
	h := e.head
	e.mu.RUnlock()
	return h != nil && h.has(id)
}
