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

// heldByOthers is what is held where other lines of the file take the lock that a line takes. Readers of a RWMutex do not
// keep each other out.
func heldByOthers(c *code, site stack.Frame) (all []heldThere) {
	at, _ := c.takerAt(site)
	for _, o := range c.otherTakers(site) {
		if at.call == "RLock" && o.call == "RLock" {
			continue
		}
		if h, ok := c.heldAt(stack.Frame{File: site.File, Line: o.line}); ok {
			all = append(all, heldThere{site.File, h})
		}
	}
	return all
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

// letGoIn is what is held in other files, where a trace shows that the lock is let go there.
func letGoIn(in *Input, site stack.Frame) (all []heldThere) {
	for _, at := range letters(in, site) {
		if h, ok := in.code.heldUntil(at); ok && at.File != site.File {
			all = append(all, heldThere{at.File, h})
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
