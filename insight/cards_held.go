package insight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// Who waits for a lock waits for what is done under it. Where that is work, and not waiting, the samples show what.

// underLock marks the CPU samples of what is done under the lock that a line takes, at this line or at others of its file; nil where the source does not
// show what that is, or there are none. Readers of a RWMutex do not keep each other out: with readers, what they do counts too, which a writer waits for.
func (s *spent) underLock(c *code, at stack.Frame, readers bool) []bool {
	if s == nil {
		return nil
	}
	h, ok := c.heldAt(at)
	if !ok || strings.HasSuffix(h.lock, ".RLock") {
		return nil
	}
	var others []held
	for _, o := range c.otherTakers(at) {
		if h, ok := c.heldAt(stack.Frame{File: at.File, Line: o.line}); ok && (readers || !strings.HasSuffix(h.lock, ".RLock")) {
			others = append(others, h)
		}
	}
	marks, some := make([]bool, len(s.stacks)), false
	for i, id := range s.stacks {
		marks[i] = slices.ContainsFunc(s.v.t.Frames(id), func(x stack.FrameID) bool {
			f := s.v.t.Frame(x)
			if f.File != at.File || f.Func == at.Func && h.has(f.Line) {
				return f.File == at.File
			}
			return !inClosure(f.Func) && slices.ContainsFunc(others, func(o held) bool { return o.has(f.Line) })
		})
		some = some || marks[i]
	}
	if !some {
		return nil
	}
	return marks
}

// inClosure tells of a function by its name that it is one within another, which may run at another time.
func inClosure(name string) bool { return strings.Contains(stack.Short(name), ".func") }

// keepsBusy is from how many CPUs on the work under a lock keeps the lock for most of the time: it is held by one at a time. Chosen: on a busy machine
// a program does not get a whole one.
const keepsBusy = 0.4

// holds tells whether what is done under a lock takes so much CPU time that the lock is held for that.
func (s *spent) holds(marks []bool) bool { return marks != nil && s.cpus*s.share(marks) >= keepsBusy }

// keptBy are the samples of the work that keeps the lock of a line: by how much CPU time is spent under it, or, where the machine gave the program less than
// that, by what its holder does while others wait; nil where no work keeps it. By the latter it may be the work of those who hold it for reading, whom a
// writer waits for, and readers behind that one.
func (s *spent) keptBy(in *Input, at stack.Frame) []bool {
	if m := s.underReaders(in.code, at); s.holds(m) || m != nil && s.weight(m) >= enoughHeld && holderRuns(in, at) {
		return m
	}
	marks := s.underLock(in.code, at, false)
	if s.holds(marks) {
		return marks
	}
	for _, readers := range []bool{false, true} {
		if m := s.underLock(in.code, at, readers); m != nil && s.weight(m) >= enoughHeld && holderRuns(in, at) {
			return m
		}
	}
	return nil
}

// underReaders marks the CPU samples of what is done under a lock that a line takes for reading, where others take it for writing: who comes to read waits
// for one of these that waits for the readers before it, and so for what they do. It is nil where nobody takes the lock for writing, by the source.
func (s *spent) underReaders(c *code, at stack.Frame) []bool {
	h, ok := c.heldAt(at)
	if s == nil || !ok || !h.isShared() {
		return nil
	}
	all, written := []held{h}, false
	for _, o := range c.otherTakers(at) {
		written = written || o.call == "Lock"
		if h, ok := c.heldAt(stack.Frame{File: at.File, Line: o.line}); ok {
			all = append(all, h)
		}
	}
	if !written {
		return nil
	}
	marks, some := make([]bool, len(s.stacks)), false
	for i, id := range s.stacks {
		marks[i] = slices.ContainsFunc(s.v.t.Frames(id), func(x stack.FrameID) bool {
			f := s.v.t.Frame(x)
			return f.File == at.File && !inClosure(f.Func) && slices.ContainsFunc(all, func(o held) bool { return o.has(f.Line) })
		})
		some = some || marks[i]
	}
	if !some {
		return nil
	}
	return marks
}

// enoughHeld is how many samples under a lock show what is done there: chosen.
const enoughHeld = 20

// holderRuns tells whether those who hold the lock that a line takes mostly run while requests or tasks wait there, by the account of these. In the
// rest of the waits the holder may itself wait for a P, or for others in the queue.
func holderRuns(in *Input, at stack.Frame) bool {
	u, _ := unitsSpend(in, func(row *facts.UnitRow) bool {
		return row.Kind.Key() == "lock" && row.Site.Frame.File == at.File && row.Site.Frame.Line == at.Line
	})
	var ran, told time.Duration
	for _, row := range u.rows {
		if !tellsOfHolder(row.Cause) {
			continue
		}
		if told += row.Time; row.Cause.Kind.Key() == "running" {
			ran += row.Time
		}
	}
	return ran > 0 && float64(ran) >= max(holdingShare*float64(u.time), halfOfAll*float64(told))
}

// tellsOfHolder tells of the cause of a wait for a lock that it says what the holder does, and not only that it waits for a P or is one of the queue.
func tellsOfHolder(c facts.UnitCause) bool {
	return c.Site.Frame.Func != "" && !slices.Contains([]string{"", "none", "unknown", "runnable", "lock"}, c.Kind.Key())
}

// heaviest is the line of the program at which most of the marked samples are.
func (s *spent) heaviest(marks []bool) (most stack.Frame) {
	by := map[stack.Frame]int64{}
	for i, id := range s.stacks {
		frames := s.v.t.Frames(id)
		own := nextUser(s.v, frames, 0)
		if !marks[i] || own < 0 {
			continue
		}
		f := lineOnly(s.v.t.Frame(frames[own]))
		if by[f] += s.counts[i]; by[f] > by[most] || by[f] == by[most] && f.Line < most.Line {
			most = f
		}
	}
	return most
}

// worksAt says where the holder of the lock of a line runs that a trace names: in which function, as the line is only that at which it let go, and,
// where enough samples tell, at which line most of its work under the lock is.
func worksAt(in *Input, lock stack.Frame, holder facts.UnitSite) (text string, most stack.Frame) {
	text = inFunction(holder)
	s := spentOf(in)
	marks := s.underLock(in.code, lock, true)
	if marks == nil || s.weight(marks) < enoughHeld {
		return text, stack.Frame{}
	}
	for i, id := range s.stacks {
		marks[i] = marks[i] && slices.ContainsFunc(s.v.t.Frames(id), func(x stack.FrameID) bool { return s.v.t.Frame(x).Func == holder.Frame.Func })
	}
	if s.weight(marks) < enoughHeld {
		return text, stack.Frame{}
	}
	if most = s.heaviest(marks); most.Func != "" {
		text += ", mostly at " + fmt.Sprintf("%s:%d", baseName(most.File), most.Line)
	}
	return text, most
}

// whileHeld is where a holder of a lock is, as a clause: of one that runs a trace tells where it let go, which is not where it ran.
func whileHeld(c facts.UnitCause) string {
	if c.Kind.Key() == "running" {
		return inFunction(c.Site)
	}
	return atPlace(c.Site)
}

// inFunction is in which function something is, as a clause.
func inFunction(s facts.UnitSite) string {
	s.Frame.Line = 0
	return atPlace(s)
}

// worksUnder tells whether the work that finding j is about is most of what is done under the lock that finding i is about, for which the lock is held most
// of the time.
func worksUnder(c *causal, i, j int) bool {
	return (classOf(&c.all[j]) == specific || c.all[j].saves) && c.all[j].Severity.AtLeast(Warning) && c.mostUnder(i, j)
}

// mostUnder tells that of the CPU samples alone.
func (c *causal) mostUnder(i, j int) bool {
	held, marks := c.held[i], c.marks[j]
	return held != nil && marks != nil && c.spent.within(held, marks) >= halfOfAll
}

// waitsForHolder tells of a finding that units wait at a line for a lock whose holder runs, and of another one about the same waits that it begins with
// the line of the holder.
func waitsForHolder(t two) bool {
	return t.rules(wt01.ID, lk01.ID) && t.grave() && t.a.waitsFor == "running" && t.b.holder && len(t.b.Evidence) > 0 && t.b.Evidence[0].Function != "" && !t.b.Evidence[0].waits &&
		lockSite(t.b).waits && sharedWaits(t.a, t.b) >= halfOfAll
}

// lockWork are, of the findings about a lock, the samples of what is done under it, where that keeps the lock.
func lockWork(in *Input, c *causal) map[int][]bool {
	out := map[int][]bool{}
	for _, i := range c.found {
		f := &c.all[i]
		if f.Rule != lk01.ID && f.Rule != lk04.ID && f.lockAt == "" || len(f.Evidence) == 0 {
			continue
		}
		e := lockTakenAt(f)
		at := stack.Frame{Func: e.Function, File: e.File, Line: e.Line}
		if m := c.spent.keptBy(in, at); m != nil {
			out[i] = m
		}
	}
	return out
}
