package insight

import (
	"slices"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
)

// Who holds a lock need not stand in the function of those that wait for it, and often is no unit of work: a goroutine in
// the background that does I/O under it.

// heldThere is what is done under a lock in a file.
type heldThere struct {
	file string
	held
}

// underIt tells whether a frame stands under the lock, in the function that takes it at the site or, by the source, in
// another one.
func (s *stampede) underIt(f stack.Frame, unlocks bool) bool {
	if f.Func == s.site.At.Func && f.File == s.site.At.File && s.under(f.Line, unlocks) {
		return true
	}
	return !inClosure(f.Func) && slices.ContainsFunc(s.others, func(o heldThere) bool { return o.file == f.File && o.has(f.Line) })
}

// letters are the lines that let a lock go for which goroutines wait at a line, by the trace.
func letters(in *Input, site stack.Frame) (all []stack.Frame) {
	t := in.trace()
	if t.Err != nil {
		return nil
	}
	for _, b := range t.Blocks {
		if at, ok := facts.LockedBy(t.Frames(b.Stack), false); !ok || at.File != site.File || at.Line != site.Line {
			continue
		}
		for _, by := range b.Wakers {
			if at, ok := facts.LockedBy(t.Frames(by.Stack), true); ok && by.Stack != 0 && !slices.Contains(all, at) {
				all = append(all, at)
			}
		}
	}
	return all
}

// heldElsewhere is what is held under the lock that a line takes, by another line, where lines are that let it go. Readers
// of a RWMutex do not keep each other out.
func heldElsewhere(c *code, site stack.Frame, letGo []stack.Frame) (all []heldThere) {
	at, ok := c.takerAt(site)
	if !ok {
		return nil
	}
	for _, l := range letGo {
		for _, h := range c.heldIn(l) {
			by, ok := c.takerAt(stack.Frame{File: l.File, Line: h.from})
			if !ok || by.name != at.name || by.call == "RLock" && at.call == "RLock" || l.File == site.File && h.from == site.Line {
				continue
			}
			if h.until == l.Line || h.deferred && h.has(l.Line) {
				all = append(all, heldThere{l.File, h})
			}
		}
	}
	return all
}

// waitsWhoLetsGo is a line of a function which lets the lock of a line go and waits for I/O, where the source does not show what it does under the lock.
func waitsWhoLetsGo(in *Input, site stack.Frame) stack.Frame {
	waits, _ := in.Facts.WaitsOf(recording.ExecTrace)
	for _, at := range letters(in, site) {
		if _, ok := in.code.heldUntil(at); ok || at.Func == site.Func {
			continue
		}
		for _, w := range waits {
			for i := range w.All {
				x := &w.All[i]
				if n := slices.IndexFunc(x.Frames, func(f stack.Frame) bool { return f.Func == at.Func }); n > 0 && waitsForIO(x, n) {
					return x.Frames[n]
				}
			}
		}
	}
	return stack.Frame{}
}

// heldByOther is what a lock is for that a function holds in which nobody waits for it.
func heldByOther(c *code, waiter, holder []stack.Frame, more [][]stack.Frame) *protected {
	i, taken := heldAbove(c, waiter, holder)
	if i < 0 {
		at, lock := heldOfType(c, lockedBy(c, waiter), holder)
		return guardedConnection(c, holder, at, lock)
	}
	u := &underlying{c: c, s: c.parse(holder[i].File), fn: c.scopeAt(holder[i]), file: holder[i].File, held: taken, known: true, lock: taken.from, call: holder[i].Line}
	if u.fn == nil {
		return nil
	}
	levels := u.within(holder, holder[i])
	var p *protected
	if !taken.isShared() {
		p, _ = u.together(levels, holder, more)
	}
	if k := keepsAlive(u, levels); k != nil {
		p = k.beside(c, p)
	}
	return besideOthers(u, levels, p)
}

// lockedBy is the type of the method that waits for a lock; empty where none of the program's does.
func lockedBy(c *code, waiter []stack.Frame) string {
	for _, f := range waiter {
		if fn := c.function(f); fn != nil {
			return scopeOf(fn).of
		}
	}
	return ""
}

// heldOfType is the innermost frame of a method of a type which holds a lock of its receiver, and keeps others out by it, and the text of that; -1 where there is none.
func heldOfType(c *code, of string, holder []stack.Frame) (at int, lock string) {
	for i, f := range holder {
		fn := c.function(f)
		if fn == nil || of == "" || scopeOf(fn).of != of || scopeOf(fn).receiver == "" {
			continue
		}
		for _, h := range c.heldIn(f) {
			if h.has(f.Line) && !h.isShared() && rootOfText(h.lock) == scopeOf(fn).receiver {
				return i, lockText(h)
			}
		}
	}
	return -1, ""
}

// heldAbove is the frame of a stack, the innermost one, that is under the lock which another stack waits for, by its name, and
// what is held there; -1 where the source shows none.
func heldAbove(c *code, waiter, holder []stack.Frame) (i int, taken held) {
	for _, w := range waiter {
		at, ok := c.takerAt(w)
		if !ok {
			continue
		}
		for i, f := range holder {
			for _, h := range c.heldIn(f) {
				if by, ok := c.takerAt(stack.Frame{File: f.File, Line: h.from}); ok && by.name == at.name && h.has(f.Line) && !inClosure(f.Func) {
					return i, h
				}
			}
		}
		break
	}
	return -1, held{}
}
