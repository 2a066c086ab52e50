package block

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"loupe/store"
)

const day = 24 * time.Hour

// fullLevel is how many blocks of one level, of one day, become one of the next.
const fullLevel = 6

// Maintain is that of [store.Engine].
func (e *Engine) Maintain(ctx context.Context, policy store.Policy, now time.Time) error {
	policy = policy.Filled()
	h, err := e.old(now)
	if err != nil {
		return err
	}
	if err := e.flush(ctx, h); err != nil {
		return err
	}
	e.work.Lock()
	defer e.work.Unlock()
	for {
		list := e.mergeable(now)
		if list == nil {
			break
		}
		if err := e.replace(ctx, list, recipe{resolution: list[0].index.resolution, level: min(levelOf(list)+1, 9)}); err != nil {
			return fmt.Errorf("cannot merge blocks: %w", err)
		}
	}
	if err := e.thin(ctx, policy, now); err != nil {
		return fmt.Errorf("cannot thin out: %w", err)
	}
	return e.shrink(ctx, policy)
}

// old returns the head if it is to become blocks by its age. Its age counts from when
// it was first seen here; a clock that went back makes it old.
func (e *Engine) old(now time.Time) (*head, error) {
	e.mu.RLock()
	h, closed := e.head, e.closed
	e.mu.RUnlock()
	// A head is never locked by who holds the engine: its writers ask for IDs.
	empty := h == nil || h.empty()
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case closed:
		return nil, store.ErrClosed
	case empty || e.head != h:
		return nil, nil
	case e.headAge.IsZero():
		e.headAge = now
	case now.Sub(e.headAge) >= headAge || now.Before(e.headAge):
		return e.head, nil
	}
	return nil, nil
}

func levelOf(list []*block) (level int) {
	for _, b := range list {
		level = max(level, b.index.level)
	}
	return level
}

// dayOf returns the day of a block, in UTC, as a number.
func (b *block) dayOf() int64 { return b.first / int64(day) }

// mergeable returns blocks that are to become one: those of a day that is over, or of one
// level when there are many.
func (e *Engine) mergeable(now time.Time) []*block {
	type key struct {
		day        int64
		resolution time.Duration
		level      int
		covered    bool
	}
	days, levels := map[key][]*block{}, map[key][]*block{}
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, b := range e.blocks {
		k := key{b.dayOf(), b.index.resolution, 0, e.state.isCovered(b.name)}
		days[k] = append(days[k], b)
		k.level = b.index.level
		levels[k] = append(levels[k], b)
	}
	for k, list := range days {
		if len(list) > 1 && now.UnixNano() > (k.day+1)*int64(day)+int64(time.Hour) {
			return list
		}
	}
	for _, list := range levels {
		if len(list) >= fullLevel {
			return list
		}
	}
	return nil
}

// replace makes one block of several, and puts it in their place.
func (e *Engine) replace(ctx context.Context, list []*block, r recipe) error {
	name, err := e.make(ctx, list, &r)
	if err != nil {
		return err
	}
	return e.commit(name, list, nil, true)
}

// make writes a block of what the recipe takes of the others. It returns no name when
// that is nothing.
func (e *Engine) make(ctx context.Context, list []*block, r *recipe) (names []string, err error) {
	e.mu.Lock()
	r.number = e.next()
	e.mu.Unlock()
	if r.span == (span{}) {
		r.span = spanOf(store.Range{})
	}
	for _, b := range list {
		r.parts = append(r.parts, b)
		ids, err := e.idsOf(b)
		if err != nil {
			return nil, err
		}
		r.ids = append(r.ids, ids...)
	}
	ok, err := writeBlock(ctx, e.fs, blockName(r.number), *r)
	if err != nil || !ok {
		return nil, err
	}
	return []string{blockName(r.number)}, nil
}

// idsOf returns the IDs of a block that are still remembered.
func (e *Engine) idsOf(b *block) ([]store.ID, error) {
	again, ids, err := openBlock(e.fs, b.name, &e.cache)
	if err != nil {
		return nil, err
	}
	again.release()
	e.mu.RLock()
	defer e.mu.RUnlock()
	return slices.DeleteFunc(ids, func(id store.ID) bool { return !e.ids.Has(id) }), nil
}

// pinned returns what tells whether a profile is pinned.
func (e *Engine) pinned() (func(s *series, t int64) bool, error) {
	pins, err := e.pins()
	if err != nil || len(pins) == 0 {
		return nil, err
	}
	return func(s *series, t int64) bool {
		for _, p := range pins {
			if spanOf(p.Range).has(t) && p.Matchers.Match(s.labels) {
				return true
			}
		}
		return false
	}, nil
}

// touched tells whether a block may have something pinned.
func (b *block) touched(pinned func(*series, int64) bool) bool {
	if pinned == nil {
		return false
	}
	for i := range b.index.series {
		s := &b.index.series[i]
		r, err := b.load(i)
		if err != nil {
			return true // what cannot be read is not dropped by mistake
		}
		for _, one := range r.rows {
			if pinned(s, one.time) {
				return true
			}
		}
	}
	return false
}

// newest returns the time of the last profile, ns since 1970.
func (e *Engine) newest() int64 {
	e.mu.RLock()
	defer e.mu.RUnlock()
	newest := int64(0)
	for _, b := range e.blocks {
		newest = max(newest, b.last)
	}
	return newest
}

// thin brings blocks that have become old to a lower resolution, or drops them.
//
// A profile is old when it is by the clock and by the last profile that came: a clock
// that jumps ahead, or one client whose clock does, must not empty the store.
func (e *Engine) thin(ctx context.Context, policy store.Policy, now time.Time) error {
	pinned, err := e.pinned()
	if err != nil {
		return err
	}
	today := min(now.UnixNano(), e.newest())
	e.mu.RLock()
	list := slices.Clone(e.blocks)
	e.mu.RUnlock()
	for _, b := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		to, drop := policy.At(time.Duration(today - b.last))
		if !drop && to <= b.index.resolution || e.unarchived(b) {
			continue
		}
		if err := e.thinOne(ctx, b, to, drop, pinned); err != nil {
			return err
		}
	}
	return nil
}

// thinOne replaces a block by what is pinned of it, as it is, and the rest, thinned out.
func (e *Engine) thinOne(ctx context.Context, b *block, to time.Duration, drop bool, pinned func(*series, int64) bool) error {
	list := []*block{b}
	var names []string
	var rest func(*series, int64) bool
	if b.touched(pinned) {
		if all, err := b.all(pinned); err != nil || all {
			return err // nothing to do
		}
		rest = func(s *series, t int64) bool { return !pinned(s, t) }
		kept, err := e.make(ctx, list, &recipe{resolution: b.index.resolution, level: b.index.level, keep: pinned})
		if err != nil {
			return err
		}
		names = kept
	}
	if !drop {
		made, err := e.make(ctx, list, &recipe{resolution: to, level: b.index.level, keep: rest})
		if err != nil {
			e.discard(names)
			return err
		}
		names = append(names, made...)
	}
	return e.commit(names, list, nil, false)
}

// all tells whether all of a block is kept by f.
func (b *block) all(f func(*series, int64) bool) (bool, error) {
	for i := range b.index.series {
		r, err := b.load(i)
		if err != nil {
			return false, err
		}
		for _, one := range r.rows {
			if !f(&b.index.series[i], one.time) {
				return false, nil
			}
		}
	}
	return true, nil
}

// shrink drops the oldest blocks until the store has no more bytes than the policy says.
func (e *Engine) shrink(ctx context.Context, policy store.Policy) error {
	pinned, err := e.pinned()
	if err != nil {
		return err
	}
	e.mu.RLock()
	list := slices.Clone(e.blocks)
	e.mu.RUnlock()
	var sum int64
	for _, b := range list {
		sum += b.size
	}
	slices.SortFunc(list, func(a, b *block) int { return cmp.Compare(a.last, b.last) })
	for _, b := range list {
		if sum <= policy.Bytes {
			return nil
		}
		if err := e.thinOne(ctx, b, 0, true, pinned); err != nil {
			return fmt.Errorf("cannot drop the oldest block: %w", err)
		}
		sum -= b.size
	}
	return nil
}

// Drop is that of [store.Engine].
func (e *Engine) Drop(ctx context.Context, s store.Selection) error {
	e.mu.RLock()
	h, closed := e.head, e.closed
	e.mu.RUnlock()
	if closed {
		return store.ErrClosed
	}
	if err := e.flush(ctx, h); err != nil {
		return err
	}
	e.work.Lock()
	defer e.work.Unlock()
	within := spanOf(s.Range)
	gone := func(one *series, t int64) bool {
		return within.has(t) && (s.Type == store.Type{} || one.typeAt(s.Type) >= 0) && s.Matchers.Match(one.labels)
	}
	e.mu.RLock()
	list := slices.Clone(e.blocks)
	e.mu.RUnlock()
	for _, b := range list {
		if !b.touched(gone) {
			continue
		}
		r := recipe{resolution: b.index.resolution, level: b.index.level, keep: func(s *series, t int64) bool { return !gone(s, t) }}
		names, err := e.make(ctx, []*block{b}, &r)
		if err == nil {
			err = e.commit(names, []*block{b}, nil, false)
		}
		if err != nil {
			return fmt.Errorf("cannot drop from block %s: %w", b.name, err)
		}
	}
	return nil
}

// pins returns the pins.
func (e *Engine) pins() ([]store.Pin, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		return nil, store.ErrClosed
	}
	var out []store.Pin
	for _, p := range e.state.Pins {
		m, err := store.ParseMatchers(p.Matchers)
		if err != nil {
			return nil, fmt.Errorf("the pin %q: %w", p.Name, err)
		}
		out = append(out, store.Pin{Name: p.Name, Matchers: m, Range: store.Range{Start: p.Start, End: p.End}, Reason: p.Reason})
	}
	return out, nil
}

// Pins is that of [store.Engine].
func (e *Engine) Pins(ctx context.Context) ([]store.Pin, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return e.pins()
}

// Pin is that of [store.Engine].
func (e *Engine) Pin(ctx context.Context, p store.Pin) error {
	return e.savePins(ctx, p.Name, &savedPin{p.Name, p.Matchers.String(), p.Range.Start, p.Range.End, p.Reason})
}

// Unpin is that of [store.Engine].
func (e *Engine) Unpin(ctx context.Context, name string) error { return e.savePins(ctx, name, nil) }

// savePins takes a pin away and puts another in its place.
func (e *Engine) savePins(ctx context.Context, name string, p *savedPin) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e.work.Lock() // a pin counts for what is thinned out from now on
	defer e.work.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return store.ErrClosed
	}
	state := e.state.clone()
	state.Pins = slices.DeleteFunc(state.Pins, func(one savedPin) bool { return one.Name == name })
	if p != nil {
		state.Pins = append(state.Pins, *p)
	}
	slices.SortFunc(state.Pins, func(a, b savedPin) int { return cmp.Compare(a.Name, b.Name) })
	if err := state.save(e.fs); err != nil {
		return err
	}
	e.state = state
	return nil
}
