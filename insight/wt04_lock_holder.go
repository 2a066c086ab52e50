package insight

import (
	"fmt"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Of those who serve a queue and wait for a lock: who holds it, and what is done under it. What they do themselves before they want the lock, or
// when they have let it go, is what the queue waits for as well, but nobody at the lock.

// ofHolder is the first cause of the waits in a queue that the source shows to be done under the lock that a stack waits for; none where it shows
// none. Where it does not show the lock, all that is known is whether it was let go.
func (q *narrow) ofHolder(in *Input, t *traced, waiter []stack.Frame, site stack.Frame) (none facts.UnitCause) {
	_, taken := in.code.takerAt(site)
	lets := letters(in, site)
	for _, row := range q.rows {
		does := row.Cause
		frames := t.Frames(does.Site.Stack)
		if hasLetGo(in.code, waiter, does, frames) {
			continue
		}
		if !taken {
			return does
		}
		if _, ok := holderAlong(in.code, waiter, does.Site, frames, lets); ok {
			return does
		}
	}
	return none
}

// hasLetGo tells of what a goroutine does that it has let the lock go which a stack waits for: it waits for a P inside of Unlock, where it has handed the lock
// over. Inside of that of another lock, it may hold this one.
func hasLetGo(c *code, waiter []stack.Frame, does facts.UnitCause, frames []stack.Frame) bool {
	if does.Kind.Key() != "runnable" {
		return false
	}
	at, ok := facts.LockedBy(frames, true)
	if !ok {
		return false
	}
	part, known := c.heldUntil(at)
	if !known {
		return true
	}
	by, ok := c.takerAt(stack.Frame{File: at.File, Line: part.from})
	for _, w := range waiter {
		if of, is := c.takerAt(w); is {
			return !ok || of.name == by.name
		}
	}
	return true
}

// workText says how much of the CPU time is spent under the lock that a line takes, and where most of that is, if that keeps the lock; empty
// where it does not, or nothing tells.
func workText(in *Input, at stack.Frame) string {
	s := spentOf(in)
	marks := s.keptBy(in, at)
	if marks == nil {
		return ""
	}
	most := s.heaviest(marks)
	if most.Func == "" {
		return ""
	}
	return fmt.Sprintf("%s of the CPU time is spent under it, most of that in %s%s", unit.Percent(s.share(marks)), place(most), s.calledUnder(in.code, at, marks, most))
}

// calledUnder names the line under the lock by which most of the marked samples get to what they do, where that is another one.
func (s *spent) calledUnder(c *code, at stack.Frame, marks []bool, most stack.Frame) string {
	work := s.mostUnder(c, at, marks)
	i, _ := underPart(c, at.File, partsUnder(c, at), work)
	if i < 0 || work[i].File == most.File && work[i].Line == most.Line {
		return ""
	}
	return ", called from " + fileLine(work[i].File, work[i].Line)
}

// workEvidence shows the line of most of the work that keeps the lock of a line.
func workEvidence(in *Input, at stack.Frame, f *Finding) {
	s := spentOf(in)
	if marks := s.keptBy(in, at); marks != nil {
		if most := s.heaviest(marks); most.Func != "" && !shows(f, evidenceLine(Evidence{File: most.File, Line: most.Line})) {
			e := in.code.shownAt(most.File, most.Line, "by the CPU samples, most of what is done under the lock is here")
			e.Function = most.Func
			f.Evidence = append(f.Evidence, e)
		}
	}
}

// raiseHeld makes no less severe than the waits for a lock what most of the work is that keeps the lock, if it need not be done: without it, nobody waits. It
// says so.
func raiseHeld(in *Input, all []Finding) {
	waits := func(f *Finding) bool {
		return f.State == Found && f.Severity.AtLeast(Warning) && (f.Rule == lk01.ID || f.Rule == lk04.ID || f.lockAt != "")
	}
	some := false
	for i := range all {
		some = some || waits(&all[i])
	}
	if !some {
		return
	}
	c := newCausal(in, all)
	for _, j := range c.found {
		f := &all[j]
		if family(f.Rule) != "work" || !f.saves && !isNeedless(f) {
			continue
		}
		for _, i := range c.found {
			if !waits(&all[i]) || !c.mostUnder(i, j) {
				continue
			}
			e := lockTakenAt(&all[i])
			if f.Severity = all[i].Severity; f.Severity.AtLeast(Warning) {
				f.Summary += fmt.Sprintf("; it is most of what is done under %s, for which other goroutines wait", in.code.named(stack.Frame{Func: e.Function, File: e.File, Line: e.Line}))
			}
			break
		}
	}
}

// lockTakenAt is the evidence of a finding about a lock at which goroutines wait for it.
func lockTakenAt(f *Finding) Evidence {
	if f.lockAt == "" {
		return lockSite(f)
	}
	for _, e := range f.Evidence {
		if e.File != "" && evidenceLine(e) == f.lockAt {
			return e
		}
	}
	return Evidence{}
}

// underWork is the text of [workText] as a clause.
func underWork(in *Input, at stack.Frame) string {
	if text := workText(in, at); text != "" {
		return "; " + strings.TrimSpace(text)
	}
	return ""
}
