package insight

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// underLock is a lock that units wait for while its holder waits for something itself.
type underLock struct {
	group facts.UnitGroup
	rows  []*facts.UnitRow // all waits at these lines, the largest first
	site  facts.UnitSite   // where most of the time is waited
	does  facts.UnitRow    // what the holder does most
	also  []*facts.UnitRow // more of the kind, in the same function
	time  time.Duration    // of the waits for all of that
}

// heldInUnits asks the account of units, which follows each wait for a lock to who held it.
func heldInUnits(r *Rule, in *Input) (found []Finding) {
	u := in.Facts.Units()
	if u.Err != nil {
		return nil
	}
	t := in.trace()
	groups, _ := unitGroups(r, in, u)
	for _, g := range append(slices.Clip(groups), u.Workers...) { // main waits for these
		for _, l := range locksOf(g) {
			if g.All.Share(l.time) >= r.param("share") && float64(l.waits()) >= r.param("waits") && 2*l.time >= l.all() {
				found = append(found, underLockFinding(r, in, t, l))
				break
			}
		}
	}
	found = bySameHolder(in, found)
	return found[:min(3, len(found))]
}

// locksOf are the locks that the units of a group wait for while their holders wait, by what
// these do.
func locksOf(g facts.UnitGroup) (all []*underLock) {
	for i := range g.All.Rows {
		row := &g.All.Rows[i]
		if row.Kind.Key() != "lock" || !waitsItself(row.Cause.Kind) {
			continue
		}
		n := slices.IndexFunc(all, func(l *underLock) bool {
			return l.does.Cause.Kind == row.Cause.Kind && sameFunction(l.does.Cause.Site.Frame, row.Cause.Site.Frame)
		})
		if n < 0 {
			n, all = len(all), append(all, &underLock{group: g, site: row.Site, does: *row})
		} else if row.Cause.Site.Frame != all[n].does.Cause.Site.Frame {
			all[n].also = append(all[n].also, row)
		}
		all[n].time += row.Time
	}
	for _, l := range all {
		for i := range g.All.Rows {
			if row := &g.All.Rows[i]; row.Kind.Key() == "lock" && row.Site.Frame == l.site.Frame {
				l.rows = append(l.rows, row)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *underLock) int { return int(min(max(b.time-a.time, -1), 1)) })
	return all
}

// sameFunction tells whether two lines are of one function: what a holder does under a lock may
// take several calls of one kind, none of which is most of it.
func sameFunction(a, b stack.Frame) bool { return a.Func == b.Func && a.File == b.File }

// underLockAt is what the account of units has of a lock that is taken at a line: what its holder
// waits for most; nil where it has seen none that waits.
func underLockAt(in *Input, at stack.Frame) *underLock {
	u := in.Facts.Units()
	if u.Err != nil {
		return nil
	}
	for _, g := range append(slices.Clip(u.Judged), u.Workers...) {
		for _, l := range locksOf(g) {
			if l.site.Frame.File == at.File && l.site.Frame.Line == at.Line {
				return l
			}
		}
	}
	return nil
}

// waitsItself tells of what a holder does that it waits for something else than a CPU or
// another lock.
func waitsItself(k facts.UnitKind) bool {
	return k.Outside() || slices.Contains([]string{"sleep", "timer", "time_limit", "channel", "wait_group", "cond", "pool", "pipe"}, k.Key())
}

func (l *underLock) waits() (n int64) {
	for _, row := range l.rows {
		n += row.Count
	}
	return n
}

// all is how long the units wait at the line, whatever the holder does.
func (l *underLock) all() (sum time.Duration) {
	for _, row := range l.rows {
		sum += row.Time
	}
	return sum
}

// allSeen is the part of the waits for a lock from which on its holder was seen to do the same in
// all of them, as far as a sentence goes.
const allSeen = 0.98

func underLockFinding(r *Rule, in *Input, t *traced, l *underLock) Finding {
	g, share := l.group, l.group.All.Share(l.all())
	cause := l.does.Cause
	holder, other := letGo(in, t, l)
	follows := waitsForOne(&l.does)
	of := fmt.Sprintf("%s of %s", unit.Duration(l.all()/unitCount(g)), unit.Duration(g.All.Wall/unitCount(g))) + overUnits(g)
	lets := ""
	var writer *pendingWriter
	if other {
		writer = pendingBefore(in, t, l.site.Frame, t.Frames(workAt(l.group, &l.does)), holder)
		lets = " (it lets go" + atFrame(t.Site(holder)) + ") waits for a goroutine that is"
	}
	text := fmt.Sprintf("%s waits %s of its time for the lock%s, ", unitOf(g), unit.Percent(share), atPlace(l.site))
	by := "holder"
	from, elsewhere := l.heldIn(t)
	if elsewhere && lets == "" {
		by += ", " + place(from) + ","
	}
	if follows {
		lets = " waits" + atPlace(l.does.By.Site) + " for a goroutine that is"
	}
	var h *lockHolder
	if writer == nil && (lets == "" || follows) {
		h = holderOf(in, t, l.site.Frame, t.Frames(stackIn(in, t, g, l.site)), l.rows)
	}
	switch seen := float64(l.time) / float64(max(1, l.all())); {
	case h != nil:
		text = fmt.Sprintf("%s: %s%s", h.says(whileHeld(h.does)), text, of)
	case writer != nil:
		text += of + "; " + map[bool]string{false: "in " + unit.Percent(seen) + " of that ", true: "all the while "}[seen > allSeen] + writer.says(isDoing(cause))
	case seen > allSeen:
		text += fmt.Sprintf("whose %s%s %s%s meanwhile: %s", by, cmp.Or(lets, " is"), cause.Kind.Clause(), whileHeld(cause), of)
	default:
		text += fmt.Sprintf("%s; in %s of that its %s%s %s%s", of, unit.Percent(seen), by, cmp.Or(lets, " is"), cause.Kind.Clause(), whileHeld(cause))
	}
	waits := l.mainWaits(in)
	if waits > 0 {
		text += fmt.Sprintf("; main waits %s of its time for these goroutines meanwhile", unit.Percent(waits))
	}
	f := r.answer(Found, "%s", text)
	f.Score = score(share, r.param("share"), 0.9)
	f.Severity = Warning
	if g.All.Share(l.time) < 2*r.param("share") {
		f.Severity = Info
	}
	f.Evidence = l.shown(in.code, t)
	for i, row := range l.also {
		if i < 2 && 10*row.Time >= l.time {
			f.Evidence = append(f.Evidence, t.seen(row.Cause.Site.Stack, "under the lock: %s here, too", row.Cause.Kind.Clause()))
		}
	}
	if other && writer == nil {
		f.Evidence = append(f.Evidence, t.seen(holder, "here the holder lets it go"))
	}
	f.Evidence = append(f.Evidence, seenIn(in, t, g, l.site, "waits for the lock, %s in each", unit.Duration(l.all()/unitCount(g))))
	f.Verify = "Record again under the same load: loupe trace requests should show no wait for this lock, and the high percentiles of the latency should fall."
	f.Impact = exactly(ofAll(in, g, share), "share of the "+timeOfUnits(g))
	f.Doubts = in.traceDoubts(t, "the lock may be there to serialise this on purpose, as with writes to one file")
	if g.Unit.String() == "request" {
		f.Doubts = append(f.Doubts, unlikeLoad(in)...)
	}
	f.Title = cmp.Or(heldTitle(cause.Kind), f.Title)
	if l.advise(in, t, &f); writer != nil {
		writer.tell(in, doesInShort(cause.Kind), &f)
	}
	if h != nil && (len(f.Evidence) == 0 || !sameFunction(stack.Frame{Func: f.Evidence[0].Function, File: f.Evidence[0].File}, h.at)) {
		f.Evidence = slices.Insert(f.Evidence, 0, h.shown(t))
	}
	namelessDoubt(in, g, &f)
	f.waits = l.rows
	return f
}

// syncs tells whether the holder makes something reach the disk.
func (l *underLock) syncs(t *traced) bool {
	return syncs(t.Frames(workAt(l.group, &l.does))) || slices.ContainsFunc(l.also, func(row *facts.UnitRow) bool {
		return 10*row.Time >= l.time && syncs(t.Frames(workAt(l.group, row)))
	})
}

// advise says what to do about the lock: by what its holder waits for, and by what the source shows that it is for.
func (l *underLock) advise(in *Input, t *traced, f *Finding) {
	told := tellLock(in, l.across(in, t))
	if told.p != nil && !told.sync {
		p := *told.p
		p.info = p.info && !p.slow
		told.p = &p
	}
	told.tell(f)
}

// shown is what the holder does: at its own line in the function that takes the lock, as far as the units that wait hold it
// as well, since that is the one to change; and the line where it waits.
func (l *underLock) shown(c *code, t *traced) (all []Evidence) {
	id, doing := workAt(l.group, &l.does), holderDoes(&l.does).Kind.Clause()
	frames := t.Frames(id)
	own := slices.IndexFunc(frames, func(f stack.Frame) bool { return sameFunction(f, l.site.Frame) })
	if at, ok := l.heldIn(t); ok {
		taken := ""
		if line := takenAbove(c, l.site.Frame, at); line > 0 {
			taken = fmt.Sprintf(", which is taken at line %d", line)
		}
		all = append(all, t.seenAt(frames, at, "called under the lock%s: %s", taken, doing))
	} else if own > 0 && holderDoes(&l.does).Site.Frame.Func != l.site.Frame.Func {
		all = append(all, t.seenAt(frames, frames[own], "called under the lock: %s", doing))
	}
	all = append(all, t.seen(id, "under the lock: %s", doing))
	if waitsForOne(&l.does) {
		all = append(all, t.seen(l.does.Cause.Site.Stack, "the goroutine that it waits for: %s", l.does.Cause.Kind.Clause()))
	}
	return all
}

// takenAbove is the line at which a lock that one line takes is taken for another line of its file; 0 where the source does not show that.
func takenAbove(c *code, lock, under stack.Frame) int {
	if lock.File != under.File {
		return 0
	}
	for _, o := range c.otherTakers(lock) {
		if h, ok := c.heldAt(stack.Frame{File: lock.File, Line: o.line}); ok && h.has(under.Line) {
			return o.line
		}
	}
	return 0
}

// mainWaits is the part of the time of main in which it waits for the goroutines that wait for the lock, as far as what the holder does meanwhile
// tells; 0 where these are requests, tasks or the like.
func (l *underLock) mainWaits(in *Input) (share float64) {
	if l.group.Unit.String() != "worker" {
		return 0
	}
	for _, g := range in.Facts.Units().Groups {
		sum := time.Duration(0)
		for i := range g.All.Rows {
			row := &g.All.Rows[i]
			if slices.Contains([]string{"channel", "wait_group", "cond"}, row.Kind.Key()) && row.Cause.Kind == l.does.Cause.Kind && sameFunction(row.Cause.Site.Frame, l.does.Cause.Site.Frame) {
				sum += row.Time
			}
		}
		if g.Unit.String() == "main" {
			share = g.All.Share(sum)
		}
	}
	return share
}

// heldIn is the line of the function that holds the lock from which what it waits for is reached, where that is another
// function than the one that the units wait in.
func (l *underLock) heldIn(t *traced) (at stack.Frame, elsewhere bool) {
	site := holderDoes(&l.does).Site
	if site.Holder == "" || slices.ContainsFunc(t.Frames(l.site.Stack), func(f stack.Frame) bool { return f.Func == site.Holder }) {
		return stack.Frame{}, false
	}
	for _, f := range t.Frames(site.Stack) {
		if f.Func == site.Holder {
			return f, true
		}
	}
	return stack.Frame{}, false
}

// letGo is where the lock was let go most often, and whether that is on another goroutine, by
// its first function, than the one that the waits were followed to: the holder waited for that
// one itself.
func letGo(in *Input, t *traced, l *underLock) (at stack.ID, other bool) {
	if waitsForOne(&l.does) {
		return 0, false // who holds it is known, and is not who lets go most often: in a queue, that is those who wait most often
	}
	counts := map[stack.ID]int64{}
	for _, b := range t.Blocks {
		if t.Site(b.Stack) != l.site.Frame {
			continue
		}
		for _, w := range b.Wakers {
			frames := t.Frames(w.Stack)
			again := slices.ContainsFunc(frames, func(f stack.Frame) bool { return f.Func == l.site.Frame.Func }) // one that has waited, too
			if w.Stack != 0 && len(frames) > 0 && !again {
				counts[w.Stack] += w.Count
			}
		}
	}
	for id, n := range counts {
		if n > counts[at] || n == counts[at] && id < at {
			at = id
		}
	}
	held, does := t.Frames(at), t.Frames(l.does.Cause.Site.Stack)
	if at == 0 || len(does) == 0 {
		return 0, false
	}
	waiter := t.Frames(l.site.Stack)
	if pendingBefore(in, t, l.site.Frame, t.Frames(workAt(l.group, &l.does)), at) == nil && doesItself(in, t, l.site.Frame, waiter, l.does.Cause.Site) {
		return 0, false
	}
	if slices.ContainsFunc(does, func(f stack.Frame) bool { return f.Func == l.site.Frame.Func }) {
		return 0, false // what the waits were followed to is done under the lock, by one that took it as they do
	}
	return at, held[len(held)-1].Func != does[len(does)-1].Func
}

// workAt is the stack of the call that the cause of a row is, where units make it themselves:
// the line alone may be that of a deferred Unlock, too.
func workAt(g facts.UnitGroup, of *facts.UnitRow) stack.ID {
	if waitsForOne(of) {
		return of.By.Site.Stack
	}
	if of.Cause.Site.Holder != "" {
		return of.Cause.Site.Stack // it leads through the function that has the lock
	}
	for _, o := range outwards(g) {
		if o.path[0] == of.Cause.Site.Frame && farOf(o.kind) == farOf(of.Cause.Kind.Key()) {
			return o.stack
		}
	}
	return of.Cause.Site.Stack
}

// syncAdvice is what to do where who waits for the lock makes a sync under it, too.
const syncAdvice = "Let one sync serve all waiting writers (group commit): collect the writes under the lock, let one goroutine write and sync all of them without the lock, and wake the waiters."

// inBackground tells whether the holder is a goroutine of another kind than those that wait, by
// its first function, which works beside the units.
func (l *underLock) inBackground(t *traced) bool {
	holder, waiter := t.Frames(holderDoes(&l.does).Site.Stack), t.Frames(l.site.Stack)
	return len(holder) > 0 && len(waiter) > 0 && holder[len(holder)-1].Func != waiter[len(waiter)-1].Func
}

// heldAdvice is what to do about a lock that is held across a wait.
const heldAdvice = "Do the I/O without the lock: look up, unlock, fetch, lock again and store. If several want the same thing, let the first one fetch it and the others wait only for that (golang.org/x/sync/singleflight, or a channel in the entry)."
