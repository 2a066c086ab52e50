package block

import (
	"errors"
	"slices"
	"sync"

	"loupe/store"
)

// head takes profiles in: in memory, and in a write-ahead log from which the same head
// can be made again. It is sealed when it is large or old; then it becomes blocks.
type head struct {
	mu      sync.Mutex
	changed *sync.Cond
	log     *wal // nil in a head that was read from a log
	number  uint64

	sealed   bool
	writing  bool      // somebody writes tickets to the log
	waiting  []*ticket // for the next one who does
	services map[string]int
	dicts    []*interner
	logged   []marks // how much of each dictionary is in the log or on its way
	durable  []marks // and how much is safely there
	index    map[seriesKey]int
	known    int // series that are in the log or on their way
	view     headView
	ids      map[store.ID]*ticket // of those on their way
	kept     []store.ID           // of those in the head
	rowBytes int64
	enc      encoder
}

// seriesKey tells series apart.
type seriesKey struct {
	labels store.Labels
	types  string
}

// ticket is what one call of Write waits for.
type ticket struct {
	record []byte // for the log
	rows   []placed
	ids    []store.ID
	done   bool
	err    error
}

// placed is a profile on its way into a series.
type placed struct {
	series int
	row    row
	data   []byte
}

var (
	errSealed = errors.New("the head is sealed")
	// errBehind is what those get who were behind a write that failed.
	errBehind = errors.New("the write before it failed")
)

func newHead(number uint64, log *wal) *head {
	h := &head{log: log, number: number, services: map[string]int{}, index: map[seriesKey]int{}, ids: map[store.ID]*ticket{}}
	h.changed = sync.NewCond(&h.mu)
	return h
}

// headView is a head as readers see it.
type headView struct {
	series []series
	rows   []rows
	dicts  []*dict
}

func (v *headView) list() ([]series, error)                      { return v.series, nil }
func (v *headView) load(i int) (*rows, error)                    { return &v.rows[i], nil }
func (v *headView) dict(i int) (*dict, error)                    { return v.dicts[i], nil }
func (v *headView) chunk(c chunkRef, buf []byte) ([]byte, error) { return c.data, nil }

// snapshot returns what is durable. Everything in it is only appended to, so that copies
// of the slices stay as they are; times are sorted here, since clients are late.
func (h *head) snapshot() *headView {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := &headView{series: slices.Clone(h.view.series), rows: slices.Clone(h.view.rows)}
	for _, in := range h.dicts {
		d := in.dict
		v.dicts = append(v.dicts, &d)
	}
	for i := range v.rows {
		sortRows(&v.rows[i])
	}
	return v
}

// sortRows sorts profiles by time, each with its chunk.
func sortRows(r *rows) {
	byTime := func(a, b int) int { return int(min(1, max(-1, r.rows[a].time-r.rows[b].time))) }
	order := make([]int, len(r.rows))
	sorted := true
	for i := range order {
		order[i] = i
		sorted = sorted && (i == 0 || r.rows[i-1].time <= r.rows[i].time)
	}
	if sorted {
		return
	}
	slices.SortStableFunc(order, byTime)
	out := rows{make([]row, len(order)), make([]chunkRef, len(order))}
	for i, at := range order {
		out.rows[i], out.chunks[i] = r.rows[at], r.chunks[at]
	}
	*r = out
}

// bytes estimates the memory of the head.
func (h *head) bytes() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.rowBytes
	for _, in := range h.dicts {
		n += in.memory()
	}
	return n
}

// empty tells whether nothing was written.
func (h *head) empty() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.kept) == 0 && h.rowBytes == 0
}

// write takes profiles in and returns when they are durable. Known says whether an ID was
// written before this head.
func (h *head) write(profiles []*store.Profile, known func(store.ID) bool) error {
	h.mu.Lock()
	if h.sealed {
		h.mu.Unlock()
		return errSealed
	}
	t := &ticket{}
	var others []*ticket // which write the same
	record := recorder{h: h, t: t}
	for _, p := range profiles {
		if p.ID != (store.ID{}) {
			if other := h.ids[p.ID]; other != nil {
				if other != t {
					others = append(others, other)
				}
				continue
			}
			if known(p.ID) {
				continue
			}
			h.ids[p.ID] = t
			t.ids = append(t.ids, p.ID)
		}
		record.profile(p)
	}
	if len(t.rows) > 0 {
		t.record = record.done()
		h.waiting = append(h.waiting, t)
		others = append(others, t)
	}
	var err error
	for _, one := range others {
		h.await(one)
		err = errors.Join(err, one.err)
	}
	h.mu.Unlock()
	return err
}

// await waits until the ticket is done. Whoever finds nobody writing writes everything
// that waits, so that many share one flush to the disk. The lock is held.
func (h *head) await(t *ticket) {
	for !t.done {
		if h.writing {
			h.changed.Wait()
			continue
		}
		batch := h.waiting
		h.waiting, h.writing = nil, true
		marked := slices.Clone(h.logged) // by the batch, and by what was before it
		h.mu.Unlock()
		err := h.log.append(batch)
		h.mu.Lock()
		h.writing = false
		if err == nil {
			h.durable = marked
		} else {
			// Those who wait behind refer to names that are not in the log: they fail, too,
			// and the names will be logged again.
			for _, behind := range h.waiting {
				h.finish(behind, errors.Join(errBehind, err))
			}
			h.waiting = nil
			h.logged = slices.Clone(h.durable)
			for len(h.logged) < len(h.dicts) {
				h.logged = append(h.logged, marks{})
			}
			h.known = 0 // series are told again
		}
		for _, one := range batch {
			h.finish(one, err)
		}
		h.changed.Broadcast()
	}
}

// finish ends a ticket: its profiles are there, or were never.
func (h *head) finish(t *ticket, err error) {
	t.done, t.err, t.record = true, err, nil
	for _, id := range t.ids {
		if err != nil {
			delete(h.ids, id)
		}
	}
	if err != nil {
		return
	}
	h.kept = append(h.kept, t.ids...)
	for _, p := range t.rows {
		h.place(p)
	}
	t.rows = nil
}

// place puts a profile into its series.
func (h *head) place(p placed) {
	s, r := &h.view.series[p.series], &h.view.rows[p.series]
	if len(r.rows) == 0 {
		s.min, s.max = p.row.time, p.row.time
	}
	s.min, s.max = min(s.min, p.row.time), max(s.max, p.row.time)
	r.rows = append(r.rows, p.row)
	r.chunks = append(r.chunks, chunkRef{n: 1, data: p.data})
	h.rowBytes += int64(len(p.data)) + 200
}

// marks says how much of a dictionary.
type marks struct{ functions, locations, nodes, stacks, sets int }

func marksOf(d *dict) marks {
	return marks{len(d.functions), len(d.ends), len(d.parents), len(d.stacks), len(d.sets)}
}

// seal waits for those who write, and lets nobody write any more.
func (h *head) seal() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sealed = true
	for h.writing || len(h.waiting) > 0 {
		h.changed.Wait()
	}
}

// has tells whether an ID is in the head.
func (h *head) has(id store.ID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.ids[id]
	return t != nil
}
