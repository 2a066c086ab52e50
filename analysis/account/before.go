package account

import (
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/timeline"
)

// A beforehand is the wait of a goroutine that was under way when the trace began, of which the trace has no stack, and
// which no goroutine ended: others may wait for what comes after it. It has a site of its own, which stands for the line
// at which the later waits of the same goroutine are; see [words.settled].
type beforehand struct {
	d timeline.Time
	// later are its later waits that no goroutine ended.
	later []tallied
}

// noteBefore looks at a wait that is over, and was d long, of a goroutine that has been in one since before the trace.
func noteBefore(f *follower, t *track, was *sweep.Goroutine, e *exectrace.Event, k keyID, d timeline.Time) {
	if e.GSlot != exectrace.NoSlot || e.To != exectrace.Runnable {
		return
	}
	if t.before != 0 {
		f.w.befores[t.before].add(k, d)
		return
	}
	h := &t.history
	if was.Reason != exectrace.NameNone || was.Stack != 0 || t.maker != exectrace.NoGoroutine || len(h.blocks) > 0 || len(h.pieces) != 1 || h.pieces[0].key != k || e.Time-d != t.born {
		return
	}
	w := f.w
	t.before = siteID(len(w.sites))
	w.sites, w.users = append(w.sites, Site{}), append(w.users, true) // else what waits for it would count as a wait of a library
	w.befores[t.before] = &beforehand{d: d}
	h.pieces[0].key = w.id(key{kind: Other, site: t.before})
}

func (b *beforehand) add(k keyID, d timeline.Time) {
	for i := range b.later {
		if b.later[i].key == k {
			b.later[i].d += d
			b.later[i].n++
			return
		}
	}
	b.later = append(b.later, tallied{key: k, d: d, n: 1})
}

// likely is what nearly all of the later waits were, if they were as long; false where that is not so.
func (b *beforehand) likely(w *words) (key, bool) {
	all, best := timeline.Time(0), -1
	for i, r := range b.later {
		if all += r.d; best < 0 || r.d > b.later[best].d {
			best = i
		}
	}
	if best < 0 {
		return key{}, false
	}
	r := b.later[best]
	k := w.keys[r.key]
	if float64(r.d) < allButLittle*float64(all) || float64(b.d) > onlyALittle*float64(r.d)/float64(r.n) {
		return key{}, false
	}
	return k, k.cause == None && k.site != 0 && (k.kind == Sleep || k.kind == Timer || k.kind == Limit || k.kind.Network())
}

// settled is a key, in which what a goroutine did that has been waiting since before the trace is what it likely was, as
// before tells; else nothing is said of it.
func (w *words) settled(id keyID) (out keyID, before bool) {
	k := w.keys[id]
	x := w.befores[k.at]
	if x == nil {
		return id, false
	}
	k.cause, k.at = None, 0
	did, ok := x.likely(w)
	if ok && w.user(did.site) {
		k.cause, k.at = did.kind, did.site
	} else if ok && !did.kind.followed() && k.kind != Lock && k.kind != Pool {
		k.kind = did.kind // as of a goroutine of a library, see [follower.caused]
	}
	return w.id(k), ok
}

// settle puts the rows of a tally that were waits for a goroutine that has been waiting since before the trace with those
// of the same that are known. It returns how long the former were of each row.
func (t *tally) settle(w *words) (rows []tallied, before []timeline.Time) {
	at := map[keyID]int{}
	for _, r := range t.rows {
		placed := false
		r.key, placed = w.settled(r.key)
		i, ok := at[r.key]
		if !ok {
			i, at[r.key] = len(rows), len(rows)
			rows, before = append(rows, r), append(before, 0)
		}
		if placed {
			before[i] += r.d
		}
		if !ok {
			continue
		}
		rows[i].d += r.d
		rows[i].n += r.n
		rows[i].units = min(rows[i].units+r.units, t.units)
		rows[i].q += r.q
	}
	return rows, before
}
