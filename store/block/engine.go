// Package block is the engine of package store on the disk of one machine: a write-ahead
// log, immutable files of columns (blocks), and a manifest that says which of them count.
// docs/formats/block.md describes the files.
//
//	e, err := block.Open(dir, block.Options{})
//	...
//	defer e.Close()
//
// The owner calls Maintain every minute: it writes what is in memory for ten minutes into
// a block, merges small blocks, and thins out. Nothing runs by itself.
//
// What is acknowledged is in the log, flushed to the disk; many writers share one flush.
// A process may be killed at any moment, the disk may be full or lie about the last
// bytes: the next Open finds everything that was acknowledged. Sections of blocks have
// checksums: a block that is damaged is set aside, see [Engine.Damage].
package block

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"loupe/store"
	"loupe/store/blob"
)

// Options are those of Open.
type Options struct {
	// HeadBytes is the memory that profiles are collected in before they become a block,
	// in bytes; twice as much is used at most. 0 means 24 MiB.
	HeadBytes int64

	fs filesystem // for tests
}

// headAge is how long profiles stay in memory.
const headAge = 10 * time.Minute

// Engine is the store in one folder. It has more methods than most because it is the
// interface of package store, each with little below it.
type Engine struct {
	dir  string
	fs   filesystem
	held *os.File
	opt  Options

	mu      sync.RWMutex // of what follows, held for moments
	head    *head
	sealed  []*head // oldest first, not yet blocks
	blocks  []*block
	state   manifest
	damage  []string
	closed  bool
	ids     store.RecentIDs
	headAge time.Time   // when Maintain first saw something in the head
	archive blob.Bucket // nil where there is none

	work  sync.Mutex // of those who make or remove blocks, one at a time
	cache cache
}

var _ store.Engine = (*Engine)(nil)

// Open opens the store in a folder, which is made when it is not there. It fails with
// store.ErrLocked when another process has it open.
func Open(dir string, opt Options) (*Engine, error) {
	if opt.HeadBytes <= 0 {
		opt.HeadBytes = 24 << 20
	}
	e := &Engine{dir: dir, opt: opt, fs: opt.fs}
	if e.fs == nil {
		e.fs = folder(dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot open the store: %w", err)
	}
	held, err := folder(dir).lock()
	if err != nil {
		return nil, err
	}
	e.held = held
	if err := e.recover(); err != nil {
		for _, b := range e.blocks {
			b.release()
		}
		held.Close()
		return nil, fmt.Errorf("cannot open the store in %s: %w", dir, err)
	}
	return e, nil
}

// Damage says what was found damaged since Open: which file, and what became of it.
func (e *Engine) Damage() []string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return slices.Clone(e.damage)
}

func blockName(number uint64) string { return fmt.Sprintf("%016x.block", number) }
func logName(number uint64) string   { return fmt.Sprintf("%016x.log", number) }

// numberOf undoes blockName and logName.
func numberOf(name, kind string) (n uint64, ok bool) {
	stem, ok := strings.CutSuffix(name, kind)
	if !ok || len(stem) != 16 {
		return 0, false
	}
	_, err := fmt.Sscanf(stem, "%016x", &n)
	return n, err == nil
}

// next returns a number that no file has had. The lock is held.
func (e *Engine) next() uint64 {
	e.state.Next++
	return e.state.Next
}

// Write is that of [store.Engine].
func (e *Engine) Write(ctx context.Context, profiles []*store.Profile) error {
	for _, p := range profiles {
		if err := p.Check(); err != nil {
			return err
		}
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := e.writable()
		if err != nil {
			return err
		}
		switch err := h.write(profiles, e.known); {
		case err == nil:
			if h.bytes() > e.opt.HeadBytes {
				// The profiles are durable: when no block can be made now, the next one who
				// writes is told.
				_ = e.flush(context.WithoutCancel(ctx), h)
			}
			return nil
		case errors.Is(err, errSealed):
			continue
		case errors.Is(err, errBroken):
			e.rotate(h)
			return err
		default:
			return err
		}
	}
}

// writable returns the head, with room in it. Others may put it aside at any time, so that
// it is asked for again.
func (e *Engine) writable() (*head, error) {
	for {
		e.mu.RLock()
		h, closed := e.head, e.closed
		e.mu.RUnlock()
		var err error
		switch {
		case closed:
			return nil, store.ErrClosed
		case h == nil:
			err = e.begin()
		case h.bytes() < 2*e.opt.HeadBytes:
			return h, nil
		default:
			err = e.flush(context.Background(), h)
		}
		if err != nil {
			return nil, err
		}
	}
}

// begin makes a new head where there is none.
func (e *Engine) begin() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.head != nil {
		return nil
	}
	if e.closed {
		return store.ErrClosed
	}
	n := e.next()
	log, err := createLog(e.fs, logName(n))
	if err != nil {
		return fmt.Errorf("cannot begin a log: %w", err)
	}
	e.head, e.headAge = newHead(n, log), time.Time{}
	return nil
}

// rotate puts a head aside, such that the next profiles go into a new one.
func (e *Engine) rotate(h *head) {
	h.seal()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.head == h {
		e.head = nil
		e.sealed = append(e.sealed, h)
	}
}

// known tells whether an ID was written before the head.
func (e *Engine) known(id store.ID) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.ids.Has(id) {
		return true
	}
	for _, h := range e.sealed {
		if h.has(id) {
			return true
		}
	}
	return false
}

// flush makes blocks of a head and of those that were sealed before it. nil means the
// sealed ones alone.
func (e *Engine) flush(ctx context.Context, h *head) error {
	e.work.Lock()
	defer e.work.Unlock()
	if h != nil {
		e.rotate(h)
	}
	for {
		e.mu.RLock()
		var next *head
		if len(e.sealed) > 0 {
			next = e.sealed[0]
		}
		e.mu.RUnlock()
		if next == nil {
			return nil
		}
		if err := e.flushHead(ctx, next); err != nil {
			return err
		}
	}
}

// flushHead makes a block of each day that a head has profiles of, and puts them into
// the manifest together.
func (e *Engine) flushHead(ctx context.Context, h *head) error {
	v := h.snapshot()
	var names []string
	for _, day := range daysOf(v) {
		e.mu.Lock()
		n := e.next()
		e.mu.Unlock()
		r := recipe{number: n, log: h.number, parts: []part{v}, span: day}
		if len(names) == 0 {
			r.ids = h.kept
		}
		ok, err := writeBlock(ctx, e.fs, blockName(n), r)
		if err != nil {
			e.discard(names)
			return fmt.Errorf("cannot write a block: %w", err)
		}
		if ok {
			names = append(names, blockName(n))
		}
	}
	return e.commit(names, nil, h, true)
}

// daysOf returns the days, in UTC, that the head has profiles of.
func daysOf(v *headView) (days []span) {
	const day = int64(24 * time.Hour)
	set := map[int64]bool{}
	for _, r := range v.rows {
		for _, one := range r.rows {
			set[one.time/day] = true // times are after 1970, or as good as
		}
	}
	for _, d := range slices.Sorted(maps.Keys(set)) {
		s := span{d * day, (d + 1) * day}
		if d == 0 {
			s.start = -day // and what is just before it
		}
		days = append(days, s)
	}
	return days
}

func (e *Engine) discard(names []string) {
	for _, n := range names {
		e.fs.Remove(n)
	}
}

// commit puts new blocks in the place of others, and of a head: in the manifest first,
// which is what counts, then in memory, then the files go. Merged tells that the new blocks
// have all that those had which go.
func (e *Engine) commit(names []string, gone []*block, h *head, merged bool) error {
	var added []*block
	fail := func(err error) error {
		for _, b := range added {
			b.release()
		}
		e.discard(names)
		return err
	}
	for _, n := range names {
		b, _, err := openBlock(e.fs, n, &e.cache)
		if err != nil {
			return fail(err)
		}
		added = append(added, b)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	state := e.state.clone()
	for _, b := range gone {
		state.Blocks = slices.DeleteFunc(state.Blocks, func(n string) bool { return n == b.name })
	}
	state.Blocks = append(state.Blocks, names...)
	if state.Archive != nil {
		state.Archive.inherit(names, gone, merged)
	}
	if h != nil {
		state.Flushed = max(state.Flushed, h.number)
	}
	if err := state.save(e.fs); err != nil {
		// Nobody knows whether the new manifest is there: what it names must stay. Open
		// removes what is not needed.
		names = nil
		return fail(err)
	}
	e.state = state
	e.blocks = append(slices.DeleteFunc(slices.Clone(e.blocks), func(b *block) bool { return slices.Contains(gone, b) }), added...)
	for _, b := range gone {
		e.cache.forget(b)
		b.release()
		e.fs.Remove(b.name)
	}
	if h != nil {
		e.sealed = slices.DeleteFunc(slices.Clone(e.sealed), func(one *head) bool { return one == h })
		e.ids.Add(h.kept...)
		if h.log != nil {
			h.log.f.Close()
		}
		e.fs.Remove(logName(h.number))
	}
	return nil
}

// Close is that of [store.Engine]. What is in memory is in the log, and is read from there
// the next time.
func (e *Engine) Close() error {
	e.work.Lock()
	defer e.work.Unlock()
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return store.ErrClosed
	}
	e.closed = true
	h := e.head
	e.mu.Unlock()
	var err error
	if h != nil {
		h.seal()
		err = h.log.f.Close()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, h := range e.sealed {
		if h.log != nil {
			h.log.f.Close()
		}
	}
	for _, b := range e.blocks {
		b.release()
	}
	return errors.Join(err, e.held.Close())
}
