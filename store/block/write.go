package block

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"hash/crc32"
	"maps"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"loupe/store"
)

// chunkBytes is the size that chunks are cut at, before compression.
const chunkBytes = 64 << 10

// recipe says what goes into a new block.
type recipe struct {
	number     uint64
	log        uint64 // number of the log that the profiles came in, 0 for merged ones
	level      int
	resolution time.Duration // 0: profiles as they came
	parts      []part
	span       span
	keep       func(s *series, time int64) bool // nil keeps everything
	ids        []store.ID
}

// outSeries is a series of the new block, with all that goes into it.
type outSeries struct {
	series
	inputs []input
}

type input struct {
	part   part
	number int // of the part
	series int
	of     *series
}

// outputs lists the series that come out, sorted by labels, so that those of one service
// are neighbours.
func (r *recipe) outputs() ([]*outSeries, error) {
	all := map[seriesKey]*outSeries{}
	for n, p := range r.parts {
		list, err := p.list()
		if err != nil {
			return nil, err
		}
		for i := range list {
			s := &list[i]
			if !r.span.touches(s.min, s.max) {
				continue
			}
			labels := s.labels
			if r.resolution >= time.Hour {
				labels = labels.Only(store.ServiceLabel, store.VersionLabel, store.BuildLabel)
			}
			key := seriesKey{labels, typesKey(s.types)}
			if all[key] == nil {
				all[key] = &outSeries{series: series{labels: labels, types: s.types}}
			}
			all[key].inputs = append(all[key].inputs, input{p, n, i, s})
		}
	}
	out := slices.Collect(maps.Values(all))
	slices.SortFunc(out, func(a, b *outSeries) int {
		return cmp.Or(cmp.Compare(a.labels.Value(store.ServiceLabel), b.labels.Value(store.ServiceLabel)),
			a.labels.Compare(b.labels), cmp.Compare(typesKey(a.types), typesKey(b.types)))
	})
	return out, nil
}

// blockWriter writes one block. It goes over the profiles twice: once to learn what is
// used how often, once to write. It holds the dictionaries and one chunk of each input
// of a series, however much there is.
type blockWriter struct {
	recipe
	ctx    context.Context
	out    *bufio.Writer
	offset int64
	fast   encoder
	best   encoder
	dicts  []*building
	remaps map[remapKey]*remap
	index  index
	tops   topsWriter // of the service at hand
}

// building is the dictionary of a service while it is put together.
type building struct {
	service string
	in      *interner
	used    []int64 // how often each stack is
	final   *dict
	stacks  []uint32 // final numbers
}

type remapKey struct{ part, dict int }

// remap leads from a dictionary of a part to that of the block.
type remap struct {
	from             *dict
	to               *building
	functions        []uint32 // plus one
	locations, nodes []uint32 // plus one
	stacks, sets     []uint32 // plus one
	path             []uint32
	lines            []store.Line
}

// writeBlock writes a block under a temporary name and then its own. It returns false
// when there was nothing to write.
func writeBlock(ctx context.Context, fs filesystem, name string, r recipe) (ok bool, err error) {
	list, err := r.outputs()
	if err != nil || len(list) == 0 {
		return false, err
	}
	f, err := fs.Create(name + ".tmp")
	if err != nil {
		return false, err
	}
	w := &blockWriter{recipe: r, ctx: ctx, out: bufio.NewWriterSize(f, 64<<10), remaps: map[remapKey]*remap{},
		fast: newEncoder(zstd.SpeedDefault), best: newEncoder(zstd.SpeedBestCompression)}
	err = w.write(list)
	if err == nil {
		err = w.out.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	ok = len(w.index.series) > 0
	if err == nil && ok {
		if err = fs.Rename(name+".tmp", name); err == nil {
			err = fs.SyncDir()
		}
	}
	if err != nil || !ok {
		fs.Remove(name + ".tmp")
	}
	return ok && err == nil, err
}

func (w *blockWriter) write(list []*outSeries) error {
	if err := w.put([]byte(blockMagic)); err != nil {
		return err
	}
	for _, s := range list {
		b := w.building(s.labels.Value(store.ServiceLabel))
		s.dict = b
		err := w.stream(s, func(_ *row, x *samples) error {
			d := w.dicts[b]
			for len(d.used) < len(d.in.stacks) {
				d.used = append(d.used, 0)
			}
			for _, id := range x.stacks {
				d.used[id]++
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, d := range w.dicts {
		for len(d.used) < len(d.in.stacks) {
			d.used = append(d.used, 0)
		}
		d.final, d.stacks = renumber(&d.in.dict, d.used)
		ref, err := w.section(&w.best, appendDict(nil, d.final))
		if err != nil {
			return err
		}
		w.index.dicts = append(w.index.dicts, ref)
	}
	w.index.tops = make([]chunkRef, len(w.dicts))
	for i, s := range list {
		if err := w.series(s); err != nil {
			return err
		}
		if i+1 < len(list) && list[i+1].dict == s.dict {
			continue
		}
		if raw := w.tops.append(w.dicts[s.dict].final); raw != nil {
			ref, err := w.section(&w.best, raw)
			if err != nil {
				return err
			}
			w.index.tops[s.dict] = ref
		}
		w.tops = topsWriter{}
	}
	return w.finish()
}

func (w *blockWriter) put(b []byte) error {
	n, err := w.out.Write(b)
	w.offset += int64(n)
	return err
}

// section writes bytes, packed.
func (w *blockWriter) section(e *encoder, raw []byte) (ref chunkRef, err error) {
	packed := e.pack(nil, raw)
	ref = chunkRef{offset: w.offset, packed: len(packed), raw: len(raw), sum: crc32.Checksum(packed, castagnoli)}
	return ref, w.put(packed)
}

// building returns the position of a service's dictionary.
func (w *blockWriter) building(service string) int {
	for i, d := range w.dicts {
		if d.service == service {
			return i
		}
	}
	w.dicts = append(w.dicts, &building{service: service, in: newInterner()})
	return len(w.dicts) - 1
}

// series writes the chunks of a series and its rows.
func (w *blockWriter) series(s *outSeries) error {
	var all rows
	var c chunkWriter
	c.reset(len(s.types))
	flush := func() error {
		if len(c.counts) == 0 {
			return nil
		}
		ref, err := w.section(&w.fast, c.append(nil))
		ref.n = len(c.counts)
		all.chunks = append(all.chunks, ref)
		c.reset(len(s.types))
		return err
	}
	d := w.dicts[s.dict]
	top := w.tops.group(&s.series, len(d.final.stacks))
	err := w.stream(s, func(r *row, x *samples) error {
		y := samples{stacks: make([]uint32, len(x.stacks)), sets: slices.Clone(x.sets), values: slices.Clone(x.values)}
		for i, id := range x.stacks {
			y.stacks[i] = d.stacks[id]
		}
		y.sum()
		w.tops.add(top, &y)
		r.samples = len(y.stacks)
		c.add(&y)
		all.rows = append(all.rows, *r)
		if c.size() < chunkBytes {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil || len(all.rows) == 0 {
		return err
	}
	ref, err := w.section(&w.fast, appendRows(nil, &all, len(s.types)))
	s.min, s.max = all.rows[0].time, all.rows[len(all.rows)-1].time
	w.index.series = append(w.index.series, s.series)
	w.index.rows = append(w.index.rows, ref)
	for _, r := range all.rows {
		w.index.profiles += r.count
	}
	return err
}

// finish writes the index and the footer.
func (w *blockWriter) finish() error {
	if len(w.index.series) == 0 {
		return nil
	}
	x := &w.index
	x.number, x.log, x.level, x.resolution, x.ids = w.number, w.log, w.level, w.resolution, w.ids
	ref, err := w.section(&w.best, x.append(nil))
	if err != nil {
		return err
	}
	return w.put(appendFooter(nil, ref))
}

// stream calls f with every profile of a series, in the order of time, or with every
// slot of the resolution, in which they are added up. What it gets is valid during
// the call.
func (w *blockWriter) stream(s *outSeries, f func(*row, *samples) error) error {
	if w.resolution >= time.Hour {
		return w.streamSlots(s, f)
	}
	if w.resolution > 0 {
		return w.slots(s.dict, s.inputs, len(s.types), f)
	}
	return w.merged(s.dict, s.inputs, f)
}

// merged goes over the profiles of the inputs, of which each is sorted by time.
func (w *blockWriter) merged(dict int, inputs []input, f func(*row, *samples) error) error {
	var cursors []*cursor
	for _, in := range inputs {
		c, err := w.cursor(dict, in)
		if err != nil {
			return err
		}
		if err := c.next(); err != nil {
			return err
		}
		cursors = append(cursors, c)
	}
	for {
		var first *cursor
		for _, c := range cursors {
			if c.row != nil && (first == nil || c.row.time < first.row.time) {
				first = c
			}
		}
		if first == nil {
			return nil
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		r := *first.row
		if err := f(&r, &first.samples); err != nil {
			return err
		}
		if err := first.next(); err != nil {
			return err
		}
	}
}

// slots adds the profiles of one series up, slot by slot. Labels of samples go.
func (w *blockWriter) slots(dict int, inputs []input, types int, f func(*row, *samples) error) error {
	var sum samples
	sum.reset(types)
	var slot row
	flush := func() error {
		if slot.count == 0 {
			return nil
		}
		sum.sets = nil
		sum.sum()
		slot.totals = sum.totals()
		err := f(&slot, &sum)
		sum.reset(types)
		slot = row{}
		return err
	}
	err := w.merged(dict, inputs, func(r *row, x *samples) error {
		at := r.time - ((r.time%int64(w.resolution))+int64(w.resolution))%int64(w.resolution)
		if slot.count > 0 && slot.time != at {
			if err := flush(); err != nil {
				return err
			}
		}
		slot.time = at
		slot.duration += r.duration
		slot.count += r.count
		slot.weight += r.weight
		sum.stacks = append(sum.stacks, x.stacks...)
		for k := range sum.values {
			sum.values[k] = append(sum.values[k], x.values[k]...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// streamSlots adds up several series: of each the slots, where a state is the mean over
// time, then these over the series.
func (w *blockWriter) streamSlots(s *outSeries, f func(*row, *samples) error) error {
	type acc struct {
		row
		samples
	}
	slots := map[int64]*acc{}
	byLabels := map[store.Labels][]input{}
	for _, in := range s.inputs {
		byLabels[in.of.labels] = append(byLabels[in.of.labels], in)
	}
	for _, inputs := range byLabels {
		err := w.slots(s.dict, inputs, len(s.types), func(r *row, x *samples) error {
			a := slots[r.time]
			if a == nil {
				a = &acc{row: row{time: r.time, weight: 1}}
				a.samples.reset(len(s.types))
				slots[r.time] = a
			}
			a.count += r.count
			a.duration += r.duration
			a.stacks = append(a.stacks, x.stacks...)
			for k, t := range s.types {
				for _, v := range x.values[k] {
					if t.Over() == store.Mean {
						v = mean(v, r.weight)
					}
					a.values[k] = append(a.values[k], v)
				}
			}
			a.samples.sets = nil
			a.samples.sum()
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, at := range slices.Sorted(maps.Keys(slots)) {
		a := slots[at]
		a.row.totals = a.samples.totals()
		if err := f(&a.row, &a.samples); err != nil {
			return err
		}
	}
	return nil
}

// mean is rounded to the nearest whole number, halves away from zero.
func mean(sum, n int64) int64 {
	if sum < 0 {
		return -mean(-sum, n)
	}
	return (sum + n/2) / n
}

// cursor goes over the profiles of one input, with numbers of the new block.
type cursor struct {
	w       *blockWriter
	in      input
	rows    *rows
	remap   *remap
	at      int // of the next profile
	nth     int // of the chunk behind the one that is open
	queue   []samples
	buf     []byte
	chunk   chunk
	row     *row // nil at the end
	samples samples
}

func (w *blockWriter) cursor(dict int, in input) (*cursor, error) {
	r, err := in.part.load(in.series)
	if err != nil {
		return nil, err
	}
	key := remapKey{in.number, in.of.dict}
	m := w.remaps[key]
	if m == nil {
		from, err := in.part.dict(in.of.dict)
		if err != nil {
			return nil, err
		}
		m = &remap{from: from, to: w.dicts[dict], locations: make([]uint32, len(from.ends)), nodes: make([]uint32, len(from.parents)),
			stacks: make([]uint32, len(from.stacks)), sets: make([]uint32, len(from.sets))}
		w.remaps[key] = m
	}
	return &cursor{w: w, in: in, rows: r, remap: m}, nil
}

// next moves on to the next profile that is kept.
func (c *cursor) next() error {
	for {
		if c.at == len(c.rows.rows) {
			c.row = nil
			return nil
		}
		if len(c.queue) == 0 {
			if err := c.open(); err != nil {
				return err
			}
		}
		r, s := &c.rows.rows[c.at], c.queue[0]
		c.at, c.queue = c.at+1, c.queue[1:]
		if !c.w.span.has(r.time) || c.w.keep != nil && !c.w.keep(c.in.of, r.time) {
			continue
		}
		c.row = r
		c.samples = c.remap.samples(&s)
		return nil
	}
}

// open decodes the next chunk.
func (c *cursor) open() error {
	if c.nth == len(c.rows.chunks) {
		return errCut
	}
	ref := c.rows.chunks[c.nth]
	c.nth++
	b, err := c.in.part.chunk(ref, c.buf)
	if err != nil {
		return err
	}
	if err := c.chunk.decode(b); err != nil {
		return err
	}
	if len(c.chunk.counts) != ref.n || !c.chunk.fits(c.remap.from, len(c.in.of.types)) {
		return errCut
	}
	c.queue = c.queue[:0]
	c.chunk.each(0, ref.n, func(_ int, s *samples) {
		one := *s
		one.values = slices.Clone(s.values)
		c.queue = append(c.queue, one)
	})
	return nil
}

// samples returns samples with the numbers of the new block.
func (m *remap) samples(s *samples) samples {
	out := samples{stacks: make([]uint32, len(s.stacks)), values: s.values}
	for i, id := range s.stacks {
		if m.stacks[id] == 0 {
			m.stacks[id] = m.to.in.stack(m.node(m.from.stacks[id])) + 1
		}
		out.stacks[i] = m.stacks[id] - 1
	}
	if s.sets != nil {
		out.sets = make([]uint32, len(s.sets))
		for i, set := range s.sets {
			if m.sets[set] == 0 {
				m.sets[set] = m.to.in.set(m.from.sets[set]) + 1
			}
			out.sets[i] = m.sets[set] - 1
		}
	}
	return out
}

// node returns the new number of a node. Those above it come first; a stack may be deep,
// so that this is a loop.
func (m *remap) node(n uint32) uint32 {
	m.path = m.path[:0]
	for n != 0 && m.nodes[n] == 0 {
		m.path = append(m.path, n)
		n = m.from.parents[n]
	}
	to := uint32(0)
	if n != 0 {
		to = m.nodes[n] - 1
	}
	for i := len(m.path) - 1; i >= 0; i-- {
		n := m.path[i]
		to = m.to.in.node(to, m.location(m.from.locations[n]))
		m.nodes[n] = to + 1
	}
	return to
}

// location returns the new number of a location.
func (m *remap) location(l uint32) uint32 {
	if m.locations[l] == 0 {
		m.lines = m.lines[:0]
		for _, one := range m.from.linesOf(l) {
			m.lines = append(m.lines, store.Line{Function: m.function(one.Function), Line: one.Line})
		}
		m.locations[l] = m.to.in.location(m.lines) + 1
	}
	return m.locations[l] - 1
}

// function returns the new number of a function.
func (m *remap) function(f uint32) uint32 {
	if m.functions == nil {
		m.functions = make([]uint32, len(m.from.functions))
	}
	if m.functions[f] == 0 {
		m.functions[f] = m.to.in.function(m.from.functions[f]) + 1
	}
	return m.functions[f] - 1
}

// appendRows writes the profiles of a series, column by column.
func appendRows(b []byte, r *rows, types int) []byte {
	b = binary.AppendUvarint(b, uint64(len(r.rows)))
	last, delta := int64(0), int64(0)
	for _, one := range r.rows {
		b = binary.AppendVarint(b, one.time-last-delta)
		last, delta = one.time, one.time-last
	}
	for _, one := range r.rows {
		b = binary.AppendUvarint(b, uint64(one.duration))
	}
	for _, one := range r.rows {
		b = binary.AppendUvarint(b, uint64(one.count))
	}
	for _, one := range r.rows {
		b = binary.AppendUvarint(b, uint64(one.weight))
	}
	for _, one := range r.rows {
		b = binary.AppendUvarint(b, uint64(one.samples))
	}
	var columns [][]int64
	for k := range types {
		column := make([]int64, len(r.rows))
		for i, one := range r.rows {
			column[i] = one.totals[k]
		}
		b = appendColumn(b, columns, column)
		columns = append(columns, column)
	}
	b = binary.AppendUvarint(b, uint64(len(r.chunks)))
	for _, c := range r.chunks {
		b = binary.AppendUvarint(b, uint64(c.n))
		b = appendRef(b, c)
	}
	return b
}

func appendRef(b []byte, c chunkRef) []byte {
	b = binary.AppendUvarint(b, uint64(c.offset))
	b = binary.AppendUvarint(b, uint64(c.packed))
	b = binary.AppendUvarint(b, uint64(c.raw))
	return binary.LittleEndian.AppendUint32(b, c.sum)
}
