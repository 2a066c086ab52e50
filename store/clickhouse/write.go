package clickhouse

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"loupe/store"
)

// Limits of one insert.
const (
	maxBatchProfiles = 2000
	maxBatchBytes    = 16 << 20 // of rows, as text
	maxBatchDays     = 50       // each makes a part; ClickHouse refuses more than 100
)

// states of the table seen.
const (
	intent    = 0 // somebody is about to write it, or has
	removed   = 1 // it was written, and dropped or thinned out since
	withdrawn = 2 // who was about to write it will not
)

// errWait is a profile that somebody else may be writing at this moment.
var errWait = errors.New("another process is writing the same profile, or did not get to the end of it")

// writer collects what is written at the same time into one insert.
type writer struct {
	c     *client
	names *registry
	opt   Options

	mu      sync.Mutex
	waiting []*request
	leading bool
	closed  bool
	changed *sync.Cond
	began   time.Time // when the last insert began

	// What follows belongs to whoever leads.
	spaces map[string]*space // by service
	told   map[uint64]bool   // names that are in the tables
	own    map[uint64]bool   // tokens of intents of this process that came to nothing
	ids    store.RecentIDs
}

// request is one call of Write.
type request struct {
	profiles []*store.Profile
	moved    []*store.Moved // what they were elsewhere; nil of profiles as they came
	ids      []store.ID     // of each; those without one are given one that nobody has
	err      error
	taken    bool
	done     chan struct{}
}

func newWriter(c *client, names *registry, opt Options) *writer {
	w := &writer{c: c, names: names, opt: opt, spaces: map[string]*space{}, told: map[uint64]bool{}, own: map[uint64]bool{}}
	w.changed = sync.NewCond(&w.mu)
	return w
}

// write is Write without the check. It repeats what fails for reasons that pass.
func (w *writer) write(ctx context.Context, profiles []*store.Profile, moved []*store.Moved) error {
	r := &request{profiles: profiles, moved: moved}
	for _, p := range profiles {
		id := p.ID
		if id == (store.ID{}) {
			rand.Read(id[:]) // the same in every attempt
		}
		r.ids = append(r.ids, id)
	}
	until := time.Now().Add(w.opt.Patience)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := w.once(ctx, r)
		if err == nil || !passes(err) || ctx.Err() != nil || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause/2 + mathrand.N(pause/2)):
		}
	}
}

// passes tells whether an error may be gone in a moment.
func passes(err error) bool {
	lost, said := (*transportError)(nil), (*serverError)(nil)
	switch {
	case errors.Is(err, errWait), errors.As(err, &lost):
		return true
	case errors.As(err, &said):
		switch said.code {
		case 32, 101, 159, 203, 209, 210, 236, 241, 242, 252, 279, 425, 999, 1000:
			return true // a shard is down, there are too many parts, …
		}
	}
	return false
}

// ended tells whether an insert that failed is over: nothing of it will appear any more.
func ended(err error) bool {
	lost, said := (*transportError)(nil), (*serverError)(nil)
	switch {
	case errors.As(err, &lost):
		return !lost.sent
	case errors.As(err, &said):
		switch said.code {
		case 32, 209, 210, 1000: // one shard has lost another, which may go on
			return false
		}
	}
	return true
}

// once queues a request and waits until it is done. Whoever finds nobody leading leads.
func (w *writer) once(ctx context.Context, r *request) error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return store.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		w.mu.Unlock()
		return err
	}
	r.err, r.taken, r.done = nil, false, make(chan struct{})
	w.waiting = append(w.waiting, r)
	lead := !w.leading
	w.leading = true
	w.mu.Unlock()
	if lead {
		// Those who wait must not fail because the caller of one of them gives up.
		w.lead(context.WithoutCancel(ctx), r)
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
	}
	w.mu.Lock()
	if !r.taken {
		w.waiting = slices.DeleteFunc(w.waiting, func(one *request) bool { return one == r })
		w.mu.Unlock()
		return ctx.Err()
	}
	w.mu.Unlock()
	<-r.done // its profiles are being read
	return r.err
}

// lead inserts what waits, until the leader's own request is done; then another leads.
func (w *writer) lead(ctx context.Context, own *request) {
	for {
		w.mu.Lock()
		pause := time.Until(w.began.Add(w.opt.Every))
		w.mu.Unlock()
		if pause > 0 {
			time.Sleep(pause) // the table merges parts: there must not be many
		}
		w.mu.Lock()
		w.began = time.Now()
		var batch []*request
		n := 0
		for len(w.waiting) > 0 && (n == 0 || n+len(w.waiting[0].profiles) <= maxBatchProfiles) {
			one := w.waiting[0]
			one.taken = true
			n += len(one.profiles)
			batch, w.waiting = append(batch, one), w.waiting[1:]
		}
		w.mu.Unlock()
		w.batch(ctx, batch)
		for _, one := range batch {
			close(one.done)
		}
		w.mu.Lock()
		select {
		case <-own.done:
			// The next in line leads, by a goroutine of its own: its caller is asleep.
			if len(w.waiting) > 0 {
				next := w.waiting[0]
				w.mu.Unlock()
				go w.lead(ctx, next)
				return
			}
			w.leading = false
			w.changed.Broadcast()
			w.mu.Unlock()
			return
		default:
		}
		if len(w.waiting) == 0 { // the leader's own was taken back
			w.leading = false
			w.changed.Broadcast()
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
	}
}

// close waits for what is under way and refuses what comes.
func (w *writer) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return store.ErrClosed
	}
	w.closed = true
	for w.leading {
		w.changed.Wait()
	}
	return nil
}

// isClosed tells whether close was called.
func (w *writer) isClosed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// arrival is a profile of a batch.
type arrival struct {
	p             *store.Profile
	res           int64 // s that it was thinned out to elsewhere, 0 as it came
	count, weight int64
	id            store.ID
	ts            int64
	from          *request
}

// batch writes requests, each of which is told what became of it.
func (w *writer) batch(ctx context.Context, requests []*request) {
	var fresh []arrival
	first := map[store.ID]*request{} // who writes an ID that several requests have
	for _, r := range requests {
		for i, p := range r.profiles {
			if id := r.ids[i]; !w.ids.Has(id) {
				if first[id] == nil {
					first[id] = r
				}
				a := arrival{p: p, id: id, ts: p.Time.UnixNano(), from: r, count: 1, weight: 1}
				if r.moved != nil {
					m := r.moved[i]
					a.res, a.count, a.weight = int64(m.Resolution/time.Second), m.Count, m.Weight
				}
				fresh = append(fresh, a)
			}
		}
	}
	all := func(list []arrival, err error) {
		for _, a := range list {
			a.from.err = err
		}
	}
	token := mathrand.Uint64() | 1
	todo, err := w.claim(ctx, token, fresh)
	if err != nil {
		w.own[token] = true // whether it is there or not, nothing follows it
		all(fresh, err)
		todo = nil
	}
	if err := w.insert(ctx, todo); err != nil {
		if ended(err) {
			w.own[token] = true // what is there now is all of it
		}
		all(todo, err)
		for _, a := range fresh { // those who wait for the same ID
			if f := first[a.id]; f.err != nil {
				a.from.err = f.err
			}
		}
	}
	for _, a := range fresh {
		if a.from.err == nil && first[a.id].err == nil {
			w.ids.Add(a.id)
		}
	}
	if len(w.own) > 10_000 {
		clear(w.own)
	}
}

// insert writes profiles, names and code first.
func (w *writer) insert(ctx context.Context, list []arrival) error {
	for len(list) > 0 {
		b := rowsBatch{days: map[string]bool{}, names: map[uint64]string{}, kinds: map[uint64]string{}, spaces: map[*space]bool{}}
		n := 0
		for n < len(list) && (n == 0 || len(b.rows) < maxBatchBytes && len(b.days) < maxBatchDays) {
			w.encode(&b, &list[n])
			n++
		}
		if err := w.send(ctx, &b); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// rowsBatch are the rows of one insert and what they refer to.
type rowsBatch struct {
	rows   []byte
	days   map[string]bool
	names  map[uint64]string // that are not in the tables yet
	kinds  map[uint64]string
	spaces map[*space]bool
}

// encode appends the rows of a profile, one for each column that is stored.
func (w *writer) encode(b *rowsBatch, a *arrival) {
	p := a.p
	service := p.Labels.Value(store.ServiceLabel)
	s := w.space(service)
	b.spaces[s] = true
	text := labelsText(p.Labels)
	series := hashOf(text)
	if !w.told[series] {
		b.names[series] = text
	}
	families := familiesOf(p)
	columns := make([]int, len(families))
	for i, f := range families {
		columns[i] = f.column
	}
	samples := s.samples(p.Samples, columns)
	labelled := slices.ContainsFunc(samples, func(one sample) bool { return one.set != 0 })
	day := dayOf(a.ts)
	b.days[day] = true
	for i := range families {
		text := families[i].text()
		kind := hashOf(text)
		if !w.told[kind] {
			b.kinds[kind] = text
		}
		var stacks, sets []uint32
		var values []int64
		total := int64(0)
		for _, one := range samples {
			if v := one.values[i]; v != 0 {
				stacks, values = append(stacks, one.stack), append(values, v)
				if labelled {
					sets = append(sets, one.set)
				}
				total += v
			}
		}
		row := append(append(b.rows, day...), '\t')
		row = append(appendText(row, service), '\t')
		for _, v := range []uint64{kind, series} {
			row = append(strconv.AppendUint(row, v, 10), '\t')
		}
		row = append(strconv.AppendInt(row, a.ts, 10), '\t')
		row = append(appendUUID(row, a.id), '\t')
		row = append(strconv.AppendUint(row, s.id, 10), '\t')
		for _, v := range []int64{a.res, int64(p.Duration), a.count, a.weight} {
			row = append(strconv.AppendInt(row, v, 10), '\t')
		}
		row = append(strconv.AppendInt(row, int64(len(stacks)), 10), '\t')
		row = append(strconv.AppendInt(row, total, 10), '\t')
		row = append(appendNumbers(row, stacks), '\t')
		row = append(appendNumbers(row, values), '\t')
		b.rows = append(appendNumbers(row, sets), '\n')
	}
}

const profileColumns = "day, service, kind, series, ts, id, space, res, span, count, weight, samples, total, stacks, vals, sets"

// space returns the one that a service is written in.
func (w *writer) space(service string) *space {
	now := time.Now()
	s := w.spaces[service]
	if s == nil || s.full(now) {
		if s == nil && len(w.spaces) >= maxSpaces {
			oldest := ""
			for name, one := range w.spaces {
				if oldest == "" || one.used.Before(w.spaces[oldest].used) {
					oldest = name
				}
			}
			delete(w.spaces, oldest)
		}
		s = newSpace(now)
		w.spaces[service] = s
	}
	s.used = now
	return s
}

// send inserts: what profiles refer to is durable before they are.
func (w *writer) send(ctx context.Context, b *rowsBatch) error {
	var locations, stacks, sets, names, kinds []byte
	for s := range b.spaces {
		locations = append(locations, s.newLocations...)
		stacks = append(stacks, s.newStacks...)
		sets = append(sets, s.newSets...)
	}
	for h, text := range b.names {
		names = append(appendText(append(strconv.AppendUint(names, h, 10), '\t'), text), '\n')
	}
	for h, text := range b.kinds {
		kinds = append(appendText(append(strconv.AppendUint(kinds, h, 10), '\t'), text), '\n')
	}
	for _, one := range []struct {
		table, columns string
		data           []byte
	}{
		{"locations", "born, space, id, functions, files, starts, lines", locations},
		{"stacks", "born, space, id, path", stacks},
		{"sets", "born, space, id, labels", sets},
		{"names", "hash, labels", names},
		{"kinds", "hash, types", kinds},
		{"profiles", profileColumns, b.rows},
	} {
		if len(one.data) == 0 {
			continue
		}
		if err := w.c.insert(ctx, w.c.all(one.table), one.columns, one.data); err != nil {
			return err
		}
		// What is there need not be sent again, whatever comes of the rest.
		switch one.table {
		case "locations":
			for s := range b.spaces {
				s.newLocations = nil
			}
		case "stacks":
			for s := range b.spaces {
				s.newStacks = nil
			}
		case "sets":
			for s := range b.spaces {
				s.newSets = nil
			}
		case "names":
			w.tell(b.names)
		case "kinds":
			w.tell(b.kinds)
		}
	}
	return nil
}

func (w *writer) tell(names map[uint64]string) {
	if len(w.told) > maxNames {
		clear(w.told)
	}
	for h := range names {
		w.told[h] = true
	}
}

// claim says that profiles are about to be written, and returns those that are to be. An
// ID that somebody has claimed before is looked for: it is there, or it is not and never
// will be, or its writer may still be at it.
func (w *writer) claim(ctx context.Context, token uint64, list []arrival) (todo []arrival, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	one := map[store.ID]*arrival{}
	for i := range list {
		if one[list[i].id] == nil {
			one[list[i].id] = &list[i]
		}
	}
	ids := slices.SortedFunc(maps.Keys(one), func(a, b store.ID) int { return slices.Compare(a[:], b[:]) })
	var b []byte
	for _, id := range ids {
		b = appendClaim(b, id, token, intent, one[id].ts)
	}
	if err := w.c.insert(ctx, w.c.all("seen"), claimColumns, b); err != nil {
		return nil, err
	}
	others, err := w.others(ctx, token, ids)
	if err != nil {
		return nil, err
	}
	there, err := w.there(ctx, others, one)
	if err != nil {
		return nil, err
	}
	var back []byte
	var waits error
	for _, id := range ids {
		o, known := others[id]
		switch {
		case there[id] || known && o.removed:
		case known && o.age < w.opt.Settle:
			one[id].from.err = errWait
			waits = errWait
			back = appendClaim(back, id, token, withdrawn, one[id].ts)
		default:
			if known && o.ts != 0 {
				one[id].ts = o.ts // both are one row if the other gets there yet
			}
			todo = append(todo, *one[id])
		}
	}
	if waits != nil {
		if err := w.c.insert(ctx, w.c.all("seen"), claimColumns, back); err != nil {
			return nil, err
		}
		for _, a := range list { // others of the batch with the same ID
			if one[a.id].from.err == errWait {
				a.from.err = errWait
			}
		}
	}
	return todo, nil
}

const claimColumns = "id, token, state, day, ts"

func appendClaim(b []byte, id store.ID, token uint64, state uint64, ts int64) []byte {
	b = append(appendUUID(b, id), '\t')
	b = append(strconv.AppendUint(b, token, 10), '\t')
	b = append(strconv.AppendUint(b, state, 10), '\t')
	b = append(append(b, dayOf(ts)...), '\t')
	return append(strconv.AppendInt(b, ts, 10), '\n')
}

// other is what is known of an ID that was claimed before.
type other struct {
	removed bool
	age     time.Duration // of the youngest claim whose writer may be at it
	ts      int64
}

// others returns the claims of IDs besides the one with the token.
func (w *writer) others(ctx context.Context, token uint64, ids []store.ID) (map[store.ID]other, error) {
	out := map[store.ID]other{}
	back := map[[2]uint64]bool{} // withdrawn, by a part of the ID and the token
	type claim struct {
		id    store.ID
		token uint64
		age   time.Duration
		ts    int64
	}
	var claims []claim
	for part := range slices.Chunk(ids, 2000) {
		err := w.c.ask(ctx, "SELECT toString(id), token, toUInt64(state), toUInt64(now()) - toUInt64(at), ts FROM "+w.c.all("seen")+" WHERE id IN ("+uuids(part)+")", func(r *rows) error {
			text, by, state, age, ts := r.text(), r.uint64(), r.uint64(), r.int64(), r.int64()
			id, ok := parseUUID(text)
			if r.err != nil || !ok {
				return errors.Join(r.err, badUUID(ok, text))
			}
			switch {
			case state == removed:
				o := out[id]
				o.removed = true
				out[id] = o
			case state == withdrawn:
				back[[2]uint64{partOf(id), by}] = true
			case by != token:
				claims = append(claims, claim{id, by, time.Duration(age) * time.Second, ts})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, c := range claims {
		if back[[2]uint64{partOf(c.id), c.token}] {
			continue
		}
		o, known := out[c.id]
		if w.own[c.token] {
			c.age = time.Hour // it came to nothing, or all of it is there
		}
		if !known || c.age < o.age {
			o.age = c.age
		}
		o.ts = c.ts
		out[c.id] = o
	}
	return out, nil
}

// partOf tells IDs apart well enough among those of one batch that have one token.
func partOf(id store.ID) (v uint64) {
	for _, c := range id[8:] {
		v = v<<8 | uint64(c)
	}
	return v
}

func badUUID(ok bool, text string) error {
	if ok {
		return nil
	}
	return fmt.Errorf("cannot read %.60q: want a UUID", text)
}

// there returns which of the claimed profiles are in the table.
func (w *writer) there(ctx context.Context, others map[store.ID]other, one map[store.ID]*arrival) (map[store.ID]bool, error) {
	days := map[string]bool{}
	var ids []store.ID
	for id, o := range others {
		if !o.removed {
			ids = append(ids, id)
			days[dayOf(o.ts)] = true
			days[dayOf(one[id].ts)] = true
		}
	}
	out := map[store.ID]bool{}
	if len(ids) == 0 {
		return out, nil
	}
	var literals []string
	for _, d := range slices.Sorted(maps.Keys(days)) {
		literals = append(literals, "toDate("+quote(d)+")")
	}
	for part := range slices.Chunk(ids, 2000) {
		err := w.c.ask(ctx, "SELECT DISTINCT toString(id) FROM "+w.c.all("profiles")+" WHERE day IN ("+join(literals)+") AND id IN ("+uuids(part)+")", func(r *rows) error {
			text := r.text()
			id, ok := parseUUID(text)
			out[id] = true
			return errors.Join(r.err, badUUID(ok, text))
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
