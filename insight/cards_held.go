package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/value/stack"
	"loupe/value/unit"
)

// Who waits for a lock waits for what is done under it. Where that is work, and not waiting, the samples show what.

// underLock marks the CPU samples of what is done under the lock that a line takes; nil where the source does not show what that is, or there are none.
// Readers of a RWMutex do not keep each other out.
func (s *spent) underLock(c *code, at stack.Frame) []bool {
	if s == nil {
		return nil
	}
	h, ok := c.heldAt(at)
	if !ok || strings.HasSuffix(h.lock, ".RLock") {
		return nil
	}
	marks, some := make([]bool, len(s.stacks)), false
	for i, id := range s.stacks {
		marks[i] = slices.ContainsFunc(s.v.t.Frames(id), func(x stack.FrameID) bool {
			f := s.v.t.Frame(x)
			return f.File == at.File && f.Func == at.Func && h.has(f.Line)
		})
		some = some || marks[i]
	}
	if !some {
		return nil
	}
	return marks
}

// keepsBusy is from how many CPUs on the work under a lock keeps the lock for most of the time: it is held by one at a time. Chosen: on a busy machine
// a program does not get a whole one.
const keepsBusy = 0.4

// holds tells whether what is done under a lock takes so much CPU time that the lock is held for that.
func (s *spent) holds(marks []bool) bool { return marks != nil && s.cpus*s.share(marks) >= keepsBusy }

// workAdvice says of a lock that is kept by work what that is; empty where it is not.
func workAdvice(in *Input, at stack.Frame) string {
	s := spentOf(in)
	marks := s.underLock(in.code, at)
	if s == nil || !s.holds(marks) {
		return ""
	}
	by := map[stack.Frame]int64{}
	var most stack.Frame
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
	if most.Func == "" {
		return ""
	}
	return fmt.Sprintf("Who holds the lock works: %s of the CPU time is spent under it, most of that in %s. Make that cheaper, or do it before the lock is taken or after it is let go; more under one acquisition would make the others wait longer. Then split what it guards.",
		unit.Percent(s.share(marks)), place(most))
}

// worksUnder tells whether the work that finding j is about is most of what is done under the lock that finding i is about, for which the lock is held most
// of the time.
func (c *causal) worksUnder(i, j int) bool {
	held, marks := c.held[i], c.marks[j]
	return held != nil && marks != nil && classOf(&c.all[j]) == specific && c.all[j].Severity.AtLeast(Warning) && c.spent.within(held, marks) >= halfOfAll
}

// lockWork are, of the findings about a lock, the samples of what is done under it, where that keeps the lock.
func lockWork(in *Input, c *causal) map[int][]bool {
	out := map[int][]bool{}
	for _, i := range c.found {
		f := &c.all[i]
		if f.Rule != lk01.ID && f.Rule != lk04.ID || len(f.Evidence) == 0 {
			continue
		}
		e := f.Evidence[0]
		if m := c.spent.underLock(in.code, stack.Frame{Func: e.Function, File: e.File, Line: e.Line}); c.spent.holds(m) {
			out[i] = m
		}
	}
	return out
}
