package insight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Who holds a lock for most of the time that others wait for it has the code to change, not those who wait.

// lockHolder is a function that holds a lock for most of that time, and in which none of them waits.
type lockHolder struct {
	lock   string           // its name, or "the lock"
	at     stack.Frame      // its line under the lock from which what it does is reached
	taken  int              // the line that takes the lock, in the same file; 0 where the source does not show it
	does   facts.UnitCause  // what it does for most of that time
	ends   facts.UnitCause  // what the goroutine does that it waits for then; of the kind none where it waits for nobody
	frames []stack.Frame    // the stack of that
	below  int              // the frame of at among them
	time   time.Duration    // that others wait meanwhile
	share  float64          // of all that is waited there
	most   time.Duration    // of does
	rows   []*facts.UnitRow // of it
}

// holderOf finds the one that holds the lock of a line while others wait there, of whom a stack is given, by the parts of their time;
// nil where there is no such function, or it is one that they wait in.
func holderOf(in *Input, t *traced, site stack.Frame, waiter []stack.Frame, rows []*facts.UnitRow) *lockHolder {
	var all []*lockHolder
	waited, lets := time.Duration(0), letters(in, site)
	for _, row := range rows {
		waited += row.Time
		if !tellsOfHolder(row.Cause) {
			continue
		}
		does, ends := holderDoes(row), facts.UnitCause{}
		if does != row.Cause {
			ends = row.Cause
		}
		frames := t.Frames(does.Site.Stack)
		h, ok := holderAlong(in.code, waiter, does.Site, frames, lets)
		if !ok || slices.ContainsFunc(waiter, func(f stack.Frame) bool { return f.Func == h.at.Func }) {
			continue
		}
		i := slices.IndexFunc(all, func(o *lockHolder) bool { return sameFunction(o.at, h.at) })
		if i < 0 {
			i, all = len(all), append(all, &h)
		}
		o := all[i]
		if o.time += row.Time; row.Time > o.most {
			o.at, o.taken, o.does, o.ends, o.frames, o.below, o.most = h.at, h.taken, does, ends, frames, h.below, row.Time
		}
		o.rows = append(o.rows, row)
	}
	if len(all) == 0 {
		return nil
	}
	h := slices.MaxFunc(all, func(a, b *lockHolder) int { return int(min(max(a.time-b.time, -1), 1)) })
	if h.share = float64(h.time) / float64(max(1, waited)); h.share < halfOfAll {
		return nil
	}
	h.lock = "the lock"
	if at, ok := in.code.takerAt(site); ok {
		h.lock = at.name
	}
	return h
}

// holderDoes is what the holder of a lock does itself in a row of waits for it, whose cause may be what another goroutine does that it waits for.
func holderDoes(row *facts.UnitRow) facts.UnitCause {
	if row.By.Kind.Key() != "none" {
		return row.By
	}
	return row.Cause
}

// waitsForOne tells of a row of waits for a lock that its holder waits for another goroutine, whose doing is the cause.
func waitsForOne(row *facts.UnitRow) bool { return row.By.Kind.Key() != "none" }

// holderAlong finds on a stack the function that holds a lock which others wait for: by the source, by the account of units, or since it lets it
// go there. Readers of a RWMutex do not keep each other out.
func holderAlong(c *code, waiter []stack.Frame, site facts.UnitSite, frames, lets []stack.Frame) (h lockHolder, ok bool) {
	if i, part := heldAbove(c, waiter, frames); i >= 0 {
		return lockHolder{at: frames[i], taken: part.from, below: i}, !part.isShared() || !waitsToRead(c, waiter)
	}
	for i, f := range frames {
		switch {
		case site.Holder != "" && f.Func == site.Holder:
			if holdsOther(c, waiter, f) {
				return h, false
			}
			return lockHolder{at: f, below: i}, true
		case slices.ContainsFunc(lets, func(l stack.Frame) bool { return l.Func == f.Func && l.File == f.File && l.Line == f.Line }):
			h = lockHolder{at: f, below: i}
			if part, known := c.heldUntil(f); known {
				if part.isShared() && waitsToRead(c, waiter) {
					return h, false
				}
				h.taken, h.at.Line = part.from, part.from
			}
			return h, true
		}
	}
	return h, false
}

// holdsOther tells of a line that it is under a lock, by the source, and not under the one that a stack waits for: in a chain of locks, who holds
// the last of them need not hold the first.
func holdsOther(c *code, waiter []stack.Frame, f stack.Frame) bool {
	for _, w := range waiter {
		at, ok := c.takerAt(w)
		if !ok {
			continue
		}
		others := false
		for _, h := range c.heldIn(f) {
			if by, ok := c.takerAt(stack.Frame{File: f.File, Line: h.from}); ok && h.has(f.Line) {
				if by.name == at.name {
					return false
				}
				others = true
			}
		}
		return others
	}
	return false
}

// waitsToRead tells of a stack that it waits to hold a lock for reading, by the source.
func waitsToRead(c *code, waiter []stack.Frame) bool {
	for _, f := range waiter {
		if at, ok := c.takerAt(f); ok {
			return at.call == "RLock"
		}
	}
	return false
}

// doesItself tells of what a wait for the lock of a line was followed to that who holds the lock does it: it leads through a function that holds it, or a goroutine of
// that kind lets it go. Otherwise the holder waits for the one that does it.
func doesItself(in *Input, t *traced, site stack.Frame, waiter []stack.Frame, does facts.UnitSite) bool {
	frames := t.Frames(does.Stack)
	if len(frames) == 0 {
		return true
	}
	if _, ok := holderAlong(in.code, waiter, does, frames, letters(in, site)); ok {
		return true
	}
	began := frames[len(frames)-1].Func
	for _, b := range t.Blocks {
		if at, ok := facts.LockedBy(t.Frames(b.Stack), false); !ok || at.File != site.File || at.Line != site.Line {
			continue
		}
		for _, by := range b.Wakers {
			if lets := t.Frames(by.Stack); len(lets) > 0 && lets[len(lets)-1].Func == began {
				return true
			}
		}
	}
	return false
}

// says is what the holder does, in the words of a summary; where is that of what it does.
func (h *lockHolder) says(where string) string {
	who, taken := place(h.at), ""
	if h.taken > 0 {
		who, taken = stack.Short(h.at.Func), fmt.Sprintf(", taken at %s:%d,", baseName(h.at.File), h.taken)
	}
	mostly := ""
	if float64(h.most) < allSeen*float64(h.time) {
		mostly, where = "mostly ", strings.Replace(where, ", mostly at ", " at ", 1)
	}
	text := fmt.Sprintf("%s holds %s%s for %s of the time that others wait for it, %s%s%s", who, h.lock, taken, unit.Percent(h.share), mostly, h.does.Kind.Clause(), where)
	if h.ends.Kind.Key() != "none" {
		text += fmt.Sprintf(", for a goroutine that is %s%s", h.ends.Kind.Clause(), whileHeld(h.ends))
	}
	return text
}

// shown is its line.
func (h *lockHolder) shown(t *traced) Evidence {
	taken := ""
	if h.taken > 0 && h.taken != h.at.Line {
		taken = fmt.Sprintf(", which is taken at line %d", h.taken)
	}
	return t.seenAt(h.frames, h.at, "holds the lock here%s: %s, %s of the waits", taken, h.does.Kind.Clause(), unit.Percent(h.share))
}

// tell makes a finding about waits for a lock begin with the holder; where is that of what it does. contention tells that the title may say more than that
// they wait.
func (h *lockHolder) tell(in *Input, t *traced, site stack.Frame, where string, contention bool, f *Finding) {
	text := h.says(where)
	at := []Evidence{h.shown(t)}
	if w := walkHeld(in, site, h, t); w != nil {
		text += w.says()
		at = append(at, in.code.shownAt(w.at.file, w.at.line, "goes through %s under the lock", w.over))
		if contention {
			f.Title = walkedTitle
		}
	}
	f.Summary = text + "; " + f.Summary
	f.Evidence = slices.Insert(f.Evidence, 0, at...)
}

// lockSite is the evidence of a finding at which goroutines wait for a lock.
func lockSite(f *Finding) Evidence {
	return f.Evidence[max(0, slices.IndexFunc(f.Evidence, func(e Evidence) bool { return e.waits }))]
}

// costLine is the line that what a finding is about passes at: of those about a lock, that at which goroutines wait.
func costLine(f *Finding) string {
	if i := slices.IndexFunc(f.Evidence, func(e Evidence) bool { return e.waits }); i >= 0 {
		return evidenceLine(f.Evidence[i])
	}
	return firstLine(f)
}
