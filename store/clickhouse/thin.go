package clickhouse

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/store"
)

// maxRolled is how many samples are added up in one statement, unless one day has more.
const maxRolled = 20_000_000

// dayOfServer is a day of one resolution on one server.
type dayOfServer struct {
	day     string
	res     uint64 // seconds that a profile stands for; 0 as it came
	last    int64
	samples uint64
}

// task is what is done with days.
type task struct {
	res  uint64
	to   time.Duration
	drop bool
}

// thin brings days that have become old to a lower resolution, or drops them. Days of
// which there is little are done together.
func (h *chore) thin(policy store.Policy, today int64) error {
	s, err := h.state()
	if err != nil {
		return err
	}
	tasks := map[task][]dayOfServer{}
	err = h.ask("SELECT toString(day), toUInt64(res), max(ts), sum(samples) FROM "+h.table("profiles")+" WHERE "+s.visible(h.e.c)+" GROUP BY day, res ORDER BY day, res", func(r *rows) error {
		d := dayOfServer{r.text(), r.uint64(), r.int64(), r.uint64()}
		to, drop := policy.At(time.Duration(today - d.last))
		if t := (task{d.res, to, drop}); drop || uint64(to/time.Second) > d.res {
			tasks[t] = append(tasks[t], d)
		}
		return r.err
	})
	if err != nil || len(tasks) == 0 {
		return err
	}
	pinned, err := h.pinned(s)
	if err != nil {
		return err
	}
	for t, days := range tasks {
		for len(days) > 0 {
			var part []string
			for n := uint64(0); len(days) > 0 && (len(part) == 0 || t.drop || n+days[0].samples < maxRolled); days = days[1:] {
				part = append(part, days[0].day)
				n += days[0].samples
			}
			if err := h.replace(among(part)+fmt.Sprintf(" AND res = %d", t.res)+pinned, t.to, t.drop); err != nil {
				return fmt.Errorf("%s: %w", part[0], err)
			}
		}
	}
	return nil
}

// among returns the condition for days.
func among(days []string) string {
	quoted := make([]string, len(days))
	for i, d := range days {
		quoted[i] = "toDate(" + quote(d) + ")"
	}
	return "day IN (" + join(quoted) + ")"
}

// replace makes profiles into those of a lower resolution, or drops them.
func (h *chore) replace(where string, to time.Duration, drop bool) error {
	if err := h.still(); err != nil {
		return err
	}
	s, err := h.state()
	if err != nil {
		return err
	}
	where = s.visible(h.e.c) + " AND " + where
	n := uint64(0)
	err = h.ask("SELECT count() FROM "+h.table("profiles")+" WHERE "+where, func(r *rows) error {
		n = r.uint64()
		return r.err
	})
	if err != nil || n == 0 {
		return err
	}
	gen := rand.Uint64() | 1
	dead := fmt.Sprintf("SELECT id FROM %s WHERE gen = %d", h.table("dead"), gen)
	if err := h.tell(fmt.Sprintf("INSERT INTO %s (gen, id) SELECT DISTINCT toUInt64(%d), id FROM %s WHERE %s", h.table("dead"), gen, h.table("profiles"), where)); err != nil {
		return err
	}
	// Whoever sends one of them again is to be told that it was there.
	err = h.tell(fmt.Sprintf("INSERT INTO %s (id, token, state, day, ts) SELECT id, toUInt64(0), toUInt8(%d), toDate(0), toInt64(0) FROM %s WHERE gen = %d AND id IN (SELECT id FROM %s WHERE state = %d)",
		h.table("seen"), removed, h.table("dead"), gen, h.e.c.all("seen"), intent))
	if err != nil {
		return err
	}
	if !drop {
		statement, err := h.rollUp(gen, where+" AND id IN ("+dead+")", to)
		if err != nil {
			return err
		}
		if err := h.tell(statement); err != nil {
			return err
		}
	}
	now := int64(0)
	err = h.ask("SELECT toInt64(toUInt64(now()))", func(r *rows) error {
		now = r.int64()
		return r.err
	})
	if err == nil {
		err = h.still()
	}
	if err != nil {
		return err
	}
	g := generation{number: gen, since: now}
	return h.e.c.put(h.ctx, h.host, g.name(), g.value())
}

// rollUp returns the statement that adds profiles up, of each series in each slot of
// time; from an hour on, of each service, version and build.
func (h *chore) rollUp(gen uint64, where string, to time.Duration) (string, error) {
	from := h.table("profiles")
	slot := fmt.Sprintf("ts - (ts %% %d + %[1]d) %% %[1]d", int64(to))
	// What comes of several spaces are several rows, which are one profile by series,
	// unit and time.
	sums := fmt.Sprintf("SELECT day, service, kind, series, unit, space, %s AS slot, sum(span) AS spans, sum(count) AS counts, sum(weight) AS weights, sum(total) AS totals, sumMap(stacks, vals) AS m FROM %s WHERE %s GROUP BY day, service, kind, series, unit, space, slot", slot, from, where)
	const columns = "(day, service, kind, series, ts, id, space, gen, res, unit, span, count, weight, samples, total, stacks, vals, sets)"
	id := func(series, unit string) string {
		return fmt.Sprintf("toUUID(UUIDNumToString(MD5(concat('%d ', toString(%s), ' ', toString(%s), ' ', toString(slot), ' ', toString(space)))))", gen, series, unit)
	}
	res := int64(to / time.Second)
	if to < time.Hour {
		return fmt.Sprintf("INSERT INTO %s %s SELECT day, service, kind, series, slot, %s, space, toUInt64(%d), toUInt32(%d), unit, spans, counts, weights, toUInt64(length(m.1)), totals, m.1, m.2, emptyArrayUInt32() FROM (%s) AS sums",
			from, columns, id("series", "unit"), gen, res, sums), nil
	}
	into, states, err := h.widened(where)
	if err != nil {
		return "", err
	}
	// A state is first the mean of each series over its slot, with the profiles of all
	// spaces; only one of the spaces then has the weight.
	weights := fmt.Sprintf("SELECT kind, series, unit, %s AS slot, sum(weight) AS all FROM %s WHERE %s GROUP BY kind, series, unit, slot", slot, from, where)
	state := "0"
	if len(states) > 0 {
		state = "kind IN (" + list(states) + ")"
	}
	joined := "SELECT day, service, kind, series, unit, space, slot, spans, counts, m.1 AS ids, m.2 AS sums, if(" + state + ", greatest(all, 1), 1) AS n FROM (" + sums + ") AS sums ANY INNER JOIN (" + weights + ") AS weights USING kind, series, unit, slot"
	// 18.16 does not see columns of a subquery that stand in a lambda alone, so that n comes
	// as a second array.
	each := "SELECT day, service, kind, " + into + " AS wide, space, slot, spans, counts, ids, arrayMap((v, k) -> " + meanOf("v", "k") + ", sums, arrayResize([n], length(sums), n)) AS means FROM (" + joined + ") AS joined"
	added := "SELECT day, service, kind, wide, space, slot, sum(spans) AS span, sum(counts) AS count, sumMap(ids, means) AS m FROM (" + each + ") AS each GROUP BY day, service, kind, wide, space, slot"
	first := "SELECT kind, wide, slot, min(space) AS first FROM (" + each + ") AS each GROUP BY kind, wide, slot"
	unit := hashOf(h.host) // what another server has of the same labels is added to this
	return fmt.Sprintf("INSERT INTO %s %s SELECT day, service, kind, wide, slot, %s, space, toUInt64(%d), toUInt32(%d), toUInt64(%d), span, count, toInt64(space = first), toUInt64(length(m.1)), arraySum(m.2), m.1, m.2, emptyArrayUInt32() FROM (%s) AS added ANY INNER JOIN (%s) AS firsts USING kind, wide, slot",
		from, columns, id("wide", strconv.FormatUint(unit, 10)), gen, res, unit, added, first), nil
}

// widened returns an expression for the series of an hour that a series becomes part of,
// which it names first, and the kinds that are states.
func (h *chore) widened(where string) (expression string, states []uint64, err error) {
	labels, err := h.series(where)
	if err != nil {
		return "", nil, err
	}
	var from, to []uint64
	names := map[uint64]string{}
	for _, hash := range slices.Sorted(maps.Keys(labels)) {
		text := labelsText(labels[hash].Only(store.ServiceLabel, store.VersionLabel, store.BuildLabel))
		from, to = append(from, hash), append(to, hashOf(text))
		names[hashOf(text)] = text
	}
	var b []byte
	for _, hash := range slices.Sorted(maps.Keys(names)) {
		b = append(appendText(append(strconv.AppendUint(b, hash, 10), '\t'), names[hash]), '\n')
	}
	if err := h.e.c.insert(h.ctx, h.e.c.all("names"), "hash, labels", b); err != nil {
		return "", nil, err
	}
	for hash, k := range h.e.names.having(store.Type{}) {
		if k.types[0].Over() == store.Mean {
			states = append(states, hash)
		}
	}
	slices.Sort(states)
	return "transform(series, [" + list(from) + "], [" + list(to) + "], toUInt64(0))", states, nil
}

// shrink drops the oldest days, on all servers, until there are no more bytes than the
// policy says.
func shrink(held []*chore, policy store.Policy) error {
	if len(held) == 0 || len(held) < len(held[0].e.c.at.Hosts) {
		return nil // somebody else keeps one of the servers
	}
	sizes, total, err := sizesOf(held)
	if err != nil || total <= policy.Bytes {
		return err
	}
	// What does not count any more goes first, whoever may still be reading it.
	for _, h := range held {
		if err := h.purge(0); err != nil {
			return err
		}
	}
	if sizes, total, err = sizesOf(held); err != nil {
		return err
	}
	var oldest []string
	for _, day := range slices.Sorted(maps.Keys(sizes)) {
		if total <= policy.Bytes {
			break
		}
		oldest = append(oldest, day)
		total -= sizes[day]
	}
	if len(oldest) == 0 {
		return nil
	}
	for _, h := range held {
		s, err := h.state()
		if err != nil {
			return err
		}
		pinned, err := h.pinned(s)
		if err != nil {
			return err
		}
		if err := h.replace(among(oldest)+pinned, 0, true); err != nil {
			return fmt.Errorf("cannot drop the days up to %s: %w", oldest[len(oldest)-1], err)
		}
		if err := h.purge(0); err != nil {
			return err
		}
	}
	return nil
}

// sizesOf returns the bytes that the days have on the disks, and all of the store.
func sizesOf(held []*chore) (days map[string]int64, total int64, err error) {
	days = map[string]int64{}
	for _, h := range held {
		err := h.ask(fmt.Sprintf("SELECT table, partition, toInt64(sum(bytes_on_disk)) FROM system.parts WHERE active AND database = %s GROUP BY table, partition", quote(h.e.c.at.Database)), func(r *rows) error {
			table, partition, size := r.text(), r.text(), r.int64()
			total += size
			if table == "profiles" {
				days[strings.Trim(partition, "'")] += size
			}
			return r.err
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return days, total, nil
}

// Drop is that of [store.Engine]. Shards do it one after the other.
func (e *Engine) Drop(ctx context.Context, s store.Selection) error {
	p, err := e.plan(ctx, s, store.Range{})
	if err != nil {
		return err
	}
	where := p.selected()
	if where == "" {
		return nil
	}
	e.keep.mu.Lock()
	defer e.keep.mu.Unlock()
	err = e.eachHost(ctx, true, func(h *chore) error {
		// All types of a profile go with the one that is selected.
		ids := "id IN (SELECT id FROM " + h.table("profiles") + " WHERE " + where + ")"
		if err := h.replace(ids, 0, true); err != nil {
			return err
		}
		return h.purge(0)
	}, nil)
	if err != nil {
		return fmt.Errorf("cannot drop: %w", err)
	}
	return nil
}
