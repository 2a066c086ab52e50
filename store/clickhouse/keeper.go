package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"loupe/store"
)

// Housekeeping is done on each server for what lies there. Profiles are never changed in
// place. What is thinned out or dropped goes in steps, each of which may be the last one
// before a crash:
//
//  1. the IDs of the old profiles go to the table dead, under the number of a new generation;
//  2. what they become is inserted with that number, which does not count yet;
//  3. one row in the table state makes it count, and the dead not: this is the moment;
//  4. after a while the dead are removed from the table, and the row says so.
//
// What is inserted meanwhile has another ID, and stays. A generation that never got to
// the third step is swept away by the next housekeeper.

// claimTime is how long the claim to the housekeeping of a server lasts, claimLeft how
// much of it a step must have left.
const (
	claimTime = 20 * time.Minute
	claimLeft = questionTime + time.Minute
)

// keeper remembers what this process knows of the housekeeping.
type keeper struct {
	mu    sync.Mutex // one at a time
	swept time.Time  // when code that nothing refers to was last looked for
}

// chore is the housekeeping of one server, by who has the claim to it.
type chore struct {
	e     *Engine
	ctx   context.Context
	host  string
	claim string
	until time.Time
}

// Maintain is that of [store.Engine]. Where another process is at it already, it returns.
func (e *Engine) Maintain(ctx context.Context, policy store.Policy, now time.Time) error {
	if err := e.begin(ctx); err != nil {
		return err
	}
	e.keep.mu.Lock()
	defer e.keep.mu.Unlock()
	policy = policy.Filled()
	newest, err := e.newest(ctx)
	if err != nil {
		return err
	}
	today := min(now.UnixNano(), newest)
	return e.eachHost(ctx, false, func(h *chore) error {
		if err := h.sweep(); err != nil {
			return err
		}
		if err := h.purge(e.opt.Grace); err != nil {
			return fmt.Errorf("cannot remove what was thinned out: %w", err)
		}
		if err := h.thin(policy, today); err != nil {
			return fmt.Errorf("cannot thin out: %w", err)
		}
		return nil
	}, func(held []*chore) error { return shrink(held, policy) })
}

// newest returns the time of the last profile: what is old is old by the clock and by
// what came, since a clock that jumps ahead must not empty the store.
func (e *Engine) newest(ctx context.Context) (ts int64, err error) {
	err = e.c.ask(ctx, "SELECT max(ts) FROM "+e.c.all("profiles"), func(r *rows) error {
		ts = r.int64()
		return r.err
	})
	return ts, err
}

// eachHost does something on every server that nobody else keeps, then something with
// all of those. With wait it waits for the others.
func (e *Engine) eachHost(ctx context.Context, wait bool, f func(*chore) error, after func([]*chore) error) (err error) {
	var held []*chore
	defer func() {
		for _, h := range held {
			err = errors.Join(err, h.release())
		}
	}()
	for _, host := range e.c.at.Hosts {
		h := &chore{e: e, ctx: ctx, host: host}
		for {
			ok, err := h.take()
			if err != nil {
				return err
			}
			if ok {
				held = append(held, h)
				break
			}
			if !wait {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("another process keeps house on ClickHouse at %s: %w", host, ctx.Err())
			case <-time.After(100*time.Millisecond + rand.N(400*time.Millisecond)):
			}
		}
		if len(held) == 0 || held[len(held)-1] != h {
			continue
		}
		if err := f(h); err != nil {
			return err
		}
	}
	if after != nil {
		return after(held)
	}
	return nil
}

// take claims a server. Whoever claims sees all claims that were made before; who sees
// another takes the own one back, so that two never think that they have it.
func (h *chore) take() (ok bool, err error) {
	c := h.e.c
	h.claim = claimPrefix + strconv.FormatUint(rand.Uint64()|1, 36)
	h.until = time.Now().Add(claimTime)
	table := c.local("state")
	err = c.tell(h.ctx, h.host, fmt.Sprintf("INSERT INTO %s (name, value, version) SELECT %s, toString(toUInt64(now()) + %d), toUInt64(1)", table, quote(h.claim), int(claimTime/time.Second)))
	if err != nil {
		return false, err
	}
	others := uint64(0)
	err = c.askHost(h.ctx, h.host, fmt.Sprintf("SELECT count() FROM (SELECT name, argMax(value, version) AS until FROM %s WHERE name LIKE 'claim/%%' AND name != %s GROUP BY name) AS claims WHERE until != '' AND toUInt64OrZero(until) > toUInt64(now())", table, quote(h.claim)), func(r *rows) error {
		others = r.uint64()
		return r.err
	})
	if err != nil || others > 0 {
		return false, errors.Join(err, h.release())
	}
	return true, nil
}

// release takes the claim back.
func (h *chore) release() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.ctx), 10*time.Second)
	defer cancel()
	return h.e.c.put(ctx, h.host, h.claim, "")
}

// still tells whether there is time for another step.
func (h *chore) still() error {
	if err := h.ctx.Err(); err != nil {
		return err
	}
	if time.Until(h.until) < claimLeft {
		return errLate
	}
	return nil
}

var errLate = errors.New("there is more to do than fits into one round of housekeeping; the next one goes on")

// state reads the state again: others may have changed it.
func (h *chore) state() (*state, error) { return h.e.state(h.ctx) }

func (h *chore) ask(statement string, f func(*rows) error) error {
	return h.e.c.askHost(h.ctx, h.host, statement, f)
}

func (h *chore) tell(statement string) error { return h.e.c.tell(h.ctx, h.host, statement) }

func (h *chore) table(name string) string { return h.e.c.local(name) }

// sweep removes generations that were begun and never counted, and the dead of those
// that are done.
func (h *chore) sweep() error {
	s, err := h.state()
	if err != nil {
		return err
	}
	var begun []uint64
	err = h.ask("SELECT DISTINCT gen FROM "+h.table("dead"), func(r *rows) error {
		begun = append(begun, r.uint64())
		return r.err
	})
	if err != nil {
		return err
	}
	for _, n := range begun {
		at := slices.IndexFunc(s.gens, func(g generation) bool { return g.number == n })
		if at >= 0 && !s.gens[at].clean {
			continue
		}
		if at < 0 {
			if err := h.mutate(fmt.Sprintf("gen = %d", n)); err != nil {
				return err
			}
		}
		if err := h.tell(fmt.Sprintf("ALTER TABLE %s DROP PARTITION %d", h.table("dead"), n)); err != nil {
			return err
		}
	}
	if time.Since(h.e.keep.swept) < time.Hour {
		return nil
	}
	h.e.keep.swept = time.Now()
	return h.forget(s)
}

// mutate removes profiles for good and waits until they are.
func (h *chore) mutate(where string) error {
	n := uint64(0)
	err := h.ask("SELECT count() FROM "+h.table("profiles")+" WHERE "+where, func(r *rows) error {
		n = r.uint64()
		return r.err
	})
	if err != nil || n == 0 {
		return err
	}
	if err := h.tell("ALTER TABLE " + h.table("profiles") + " DELETE WHERE " + where); err != nil {
		return err
	}
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		left := uint64(0)
		err := h.ask(fmt.Sprintf("SELECT count() FROM system.mutations WHERE database = %s AND table = 'profiles' AND is_done = 0", quote(h.e.c.at.Database)), func(r *rows) error {
			left = r.uint64()
			return r.err
		})
		if err != nil || left == 0 {
			return err
		}
		if err := h.still(); err != nil {
			return err
		}
		select {
		case <-h.ctx.Done():
			return h.ctx.Err()
		case <-time.After(pause):
		}
	}
}

// purge removes the dead of generations that have counted for a while.
func (h *chore) purge(grace time.Duration) error {
	s, err := h.state()
	if err != nil {
		return err
	}
	for _, g := range s.gens {
		if g.clean {
			continue
		}
		here, now := uint64(0), uint64(0)
		err := h.ask(fmt.Sprintf("SELECT count(), toUInt64(now()) FROM %s WHERE name = %s", h.table("state"), quote(g.name())), func(r *rows) error {
			here, now = r.uint64(), r.uint64()
			return r.err
		})
		if err != nil {
			return err
		}
		if here == 0 || time.Duration(int64(now)-g.since)*time.Second < grace {
			continue // of another server, or too young
		}
		if err := h.still(); err != nil {
			return err
		}
		if err := h.mutate(fmt.Sprintf("gen != %d AND id IN (SELECT id FROM %s WHERE gen = %d)", g.number, h.table("dead"), g.number)); err != nil {
			return err
		}
		g.clean = true
		if err := h.e.c.put(h.ctx, h.host, g.name(), g.value()); err != nil {
			return err
		}
		if err := h.tell(fmt.Sprintf("ALTER TABLE %s DROP PARTITION %d", h.table("dead"), g.number)); err != nil {
			return err
		}
	}
	return nil
}

// forget removes what nothing refers to any more: code that is older than two days, the
// claims of IDs older than three, and states without a meaning.
func (h *chore) forget(s *state) error {
	c := h.e.c
	used := map[uint64]bool{}
	err := c.ask(h.ctx, "SELECT DISTINCT space FROM "+c.all("profiles"), func(r *rows) error {
		used[r.uint64()] = true
		return r.err
	})
	if err != nil {
		return err
	}
	for _, table := range []string{"stacks", "sets", "locations"} {
		if err := h.forgetCode(table, used); err != nil {
			return err
		}
	}
	newer := uint64(0)
	err = c.ask(h.ctx, "SELECT count() FROM "+c.all("seen")+" WHERE received >= toDate(now()) - 2", func(r *rows) error {
		newer = r.uint64()
		return r.err
	})
	if err == nil && newer >= store.MostRecentIDs {
		err = h.dropPartitions("seen", "received < toDate(now()) - 2", "toString(received)")
	}
	if err != nil {
		return err
	}
	gens := map[uint64]bool{}
	err = h.ask("SELECT DISTINCT gen FROM "+h.table("profiles"), func(r *rows) error {
		gens[r.uint64()] = true
		return r.err
	})
	for _, g := range s.gens {
		if err == nil && g.clean && !gens[g.number] {
			err = h.forgetGeneration(g)
		}
	}
	if err != nil {
		return err
	}
	return h.tell(fmt.Sprintf("ALTER TABLE %s DELETE WHERE name LIKE 'claim/%%' AND name IN (SELECT name FROM (SELECT name, argMax(value, version) AS v FROM %s WHERE name LIKE 'claim/%%' GROUP BY name) AS a WHERE v = '' OR toUInt64OrZero(v) + 3600 < toUInt64(now()))", h.table("state"), h.table("state")))
}

// forgetGeneration takes a generation of this server off the list, that has no profiles.
func (h *chore) forgetGeneration(g generation) error {
	here := uint64(0)
	err := h.ask(fmt.Sprintf("SELECT count() FROM %s WHERE name = %s", h.table("state"), quote(g.name())), func(r *rows) error {
		here = r.uint64()
		return r.err
	})
	if err != nil || here == 0 {
		return err
	}
	return h.e.c.put(h.ctx, h.host, g.name(), "")
}

// forgetCode drops days of a table of which no space is used.
func (h *chore) forgetCode(table string, used map[uint64]bool) error {
	days := map[string]bool{} // whether a day can go
	err := h.ask("SELECT DISTINCT toString(born), space FROM "+h.table(table)+" WHERE born < toDate(now()) - 2", func(r *rows) error {
		day, space := r.text(), r.uint64()
		gone, known := days[day]
		days[day] = (gone || !known) && !used[space]
		return r.err
	})
	if err != nil {
		return err
	}
	for _, day := range slices.Sorted(maps.Keys(days)) {
		if days[day] {
			if err := h.tell("ALTER TABLE " + h.table(table) + " DROP PARTITION " + quote(day)); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropPartitions drops those of which all rows fulfil a condition on the partition.
func (h *chore) dropPartitions(table, where, partition string) error {
	var list []string
	err := h.ask("SELECT DISTINCT "+partition+" FROM "+h.table(table)+" WHERE "+where, func(r *rows) error {
		list = append(list, r.text())
		return r.err
	})
	for _, p := range list {
		if err == nil {
			err = h.tell("ALTER TABLE " + h.table(table) + " DROP PARTITION " + quote(p))
		}
	}
	return err
}

// pinned returns the condition, with AND in front, for what is not pinned among the series
// of a server: "" where nothing is.
func (h *chore) pinned(s *state) (string, error) {
	if len(s.pins) == 0 {
		return "", nil
	}
	labels, err := h.series("1")
	if err != nil {
		return "", err
	}
	var parts []string
	for _, p := range s.pins {
		var series []uint64
		for hash, l := range labels {
			if p.Matchers.Match(l) {
				series = append(series, hash)
			}
		}
		if len(series) > 0 {
			slices.Sort(series)
			parts = append(parts, "(series IN ("+list(series)+")"+rangeOf(p.Range)+")")
		}
	}
	if len(parts) == 0 {
		return "", nil
	}
	return " AND NOT (" + strings.Join(parts, " OR ") + ")", nil
}

// series returns the labels of the series that a server has profiles of.
func (h *chore) series(where string) (map[uint64]store.Labels, error) {
	var hashes []uint64
	err := h.ask("SELECT DISTINCT series FROM "+h.table("profiles")+" WHERE "+where, func(r *rows) error {
		hashes = append(hashes, r.uint64())
		return r.err
	})
	if err != nil {
		return nil, err
	}
	return h.e.names.series(h.ctx, h.e.c, hashes)
}
