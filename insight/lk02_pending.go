package insight

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
)

// A pending Lock of a RWMutex holds back all who come later to read. So a reader waits for another reader, where a writer stands between
// them: who takes the lock for writing, however shortly, makes everybody wait for the longest of the readers before it.

// pendingWriter is such a writer.
type pendingWriter struct {
	at     stack.Frame // its call of Lock
	reader stack.Frame // where the reader before it takes the lock
	waits  *facts.Place
	leaves int // the line behind Lock at which it may leave again without a change; 0 where there is none
}

// pendingBefore finds the writer that stands between those who wait for a lock for reading, at a line, and the one that they were followed to,
// by its stack; lets is where they were let go.
func pendingBefore(in *Input, t *traced, waiter stack.Frame, reader []stack.Frame, lets stack.ID) *pendingWriter {
	c := in.code
	waits, ok := c.heldAt(waiter)
	if !ok || !strings.HasSuffix(waits.lock, ".RLock") {
		return nil
	}
	field := func(lock string) string {
		owner, _, _ := cutLast(lock)
		return lastName(owner)
	}
	frame := t.Site(lets)
	writes, ok := c.heldUntil(frame)
	if !ok || !strings.HasSuffix(writes.lock, ".Lock") || field(writes.lock) != field(waits.lock) || frame.File != waiter.File {
		return nil
	}
	w := &pendingWriter{at: stack.Frame{Func: frame.Func, File: frame.File, Line: writes.from}}
	for _, f := range reader {
		i := slices.IndexFunc(c.heldIn(f), func(h held) bool {
			return f.File == frame.File && h.has(f.Line) && strings.HasSuffix(h.lock, ".RLock") && field(h.lock) == field(waits.lock)
		})
		if i >= 0 {
			w.reader = stack.Frame{Func: f.Func, File: f.File, Line: c.heldIn(f)[i].from}
		}
	}
	if w.reader.Func == "" {
		return nil
	}
	if all, _ := in.Facts.WaitsOf(recording.ExecTrace); len(all) > 0 {
		for _, p := range all[0].Places(facts.ForLock) {
			if p.At.File == w.at.File && p.At.Line == w.at.Line {
				w.waits = p
			}
		}
	}
	w.leaves = leavesBehind(c, w.at)
	return w
}

// pendingAt is the writer before those who wait at a line for a lock for reading, by the trace, where its reader is one that makes the call of a stack; nil
// where none is known.
func pendingAt(in *Input, site stack.Frame, reader []stack.Frame) *pendingWriter {
	t := in.trace()
	all, _ := in.Facts.WaitsOf(recording.ExecTrace)
	if t.Err != nil || len(all) == 0 {
		return nil
	}
	for _, p := range all[0].Places(facts.ForLock) {
		if p.At.File != site.File || p.At.Line != site.Line {
			continue
		}
		for _, by := range p.By {
			if by.Stack == 0 {
				continue
			}
			if w := pendingBefore(in, t, site, reader, by.Stack); w != nil {
				return w
			}
		}
	}
	return nil
}

// leavesBehind is the line of a statement right behind one that takes a lock which leaves the function on a condition; 0 where there is none.
func leavesBehind(c *code, lock stack.Frame) int {
	fn, s := c.scopeAt(lock), c.parse(lock.File)
	if fn == nil || s == nil {
		return 0
	}
	for _, st := range fn.body.List {
		line, _ := s.lines(st)
		if _, deferred := st.(*ast.DeferStmt); line <= lock.Line || deferred {
			continue
		}
		if x, ok := st.(*ast.IfStmt); ok && leavesLoop(x.Body.List) {
			return line
		}
		return 0
	}
	return 0
}

// says is what is told of the writer, and of the reader that it waits for.
func (w *pendingWriter) says(doing string) string {
	often := ""
	if w.waits != nil && w.waits.Count > 0 {
		often = fmt.Sprintf("; Lock there waited %s times in the trace", timesOf(float64(w.waits.Count)))
	}
	return fmt.Sprintf("a writer is before it, %s, which waits for a reader that %s: a pending Lock holds back all who come to read after it%s",
		place(w.at), doing, often)
}

// isDoing says of a reader what it does, as a clause.
func isDoing(reader facts.UnitCause) string { return "is " + reader.Kind.Clause() + whileHeld(reader) }

// doesInShort is what a reader does, for a title.
func doesInShort(reader facts.UnitKind) string {
	switch {
	case onlyTime(reader):
		return "pauses"
	case amongGoroutines(reader):
		return "waits for others"
	}
	return "does I/O"
}

// tell makes a finding about a lock one about the writer, and about a reader by what that does.
func (w *pendingWriter) tell(in *Input, what string, f *Finding) {
	f.Title = "Readers wait for a pending writer of a RWMutex, which waits for a reader that " + what
	e := in.code.shownAt(w.at.File, w.at.Line, "takes the lock for writing: who comes to read while it waits has to wait, too")
	e.Function = w.at.Func
	f.Evidence = append(slices.Insert(f.Evidence, 0, e), in.code.shownAt(w.reader.File, w.reader.Line, "locked for reading across that"))
	f.Advice = w.advice(f.Advice)
}

// advice is what to do about the writer, beside what was said of a lock that is held across a wait: where that lets the lock go, the reader can.
func (w *pendingWriter) advice(held string) string {
	rarely := fmt.Sprintf("take Lock at %s:%d more rarely: only where there is something to change, which a look under RLock, or at an atomic value, tells before", baseName(w.at.File), w.at.Line)
	if w.leaves > 0 {
		rarely += fmt.Sprintf(" (line %d looks when Lock has been taken)", w.leaves)
	}
	const why = "While a writer waits for a RWMutex, nobody else gets it for reading, so each Lock makes all wait for the longest reader before it. "
	if strings.HasPrefix(held, heldAdvice) {
		return why + "Let that reader not hold the lock for so long: copy what it needs under RLock, unlock, and go on without it. Or " + rarely + "."
	}
	return why + "To make that rarer, " + rarely + ". " + held
}

// onlyTime tells of what a holder waits for that it is only time.
func onlyTime(k facts.UnitKind) bool { return slices.Contains([]string{"sleep", "timer"}, k.Key()) }

// amongGoroutines tells of what a holder waits for that other goroutines end it.
func amongGoroutines(k facts.UnitKind) bool {
	return slices.Contains([]string{"channel", "wait_group", "cond"}, k.Key())
}

// heldTitle is the title of a lock by what its holder waits for; empty for I/O, which the rule has its title from.
func heldTitle(k facts.UnitKind) string {
	switch {
	case onlyTime(k):
		return "Lock held while its holder pauses"
	case amongGoroutines(k):
		return "Lock held while its holder waits for other goroutines"
	}
	return ""
}
