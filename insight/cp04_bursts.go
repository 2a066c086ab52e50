package insight

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Bursts: many small writes to one connection, with nothing read or waited for in between. Each could be a part of one write.

// fewInBurst is how many writes there are at least for each read or wait, and smallWrite how many bytes a write has at
// most on average, below what a packet carries. Chosen.
const (
	fewInBurst = 4
	smallWrite = 1024
)

// burst is what is known of such writes.
type burst struct {
	each  float64 // for each read or wait of the goroutines that make them
	bytes float64 // of a write of the program, on average
}

// burstOf looks at the function of the heaviest line of a hit: most of its time is direct writes, the goroutines that write there rarely read or wait
// for anything, the program's writes are small on average, and the source shows no loop that goes through connections.
func burstOf(h *hit) (b burst, ok bool) {
	line, direct, writes := h.lines[0], directCalls(h), int64(0)
	lines := map[stack.Frame]bool{}
	for _, l := range h.lines {
		if l.Caller.Func == line.Caller.Func {
			writes += direct[l].writes
			lines[lineOnly(l.Caller)] = true
		}
	}
	if float64(writes) < halfOfAll*float64(h.weight) || direct[line].writes == 0 || !bufferable(h, line.Caller) {
		return b, false
	}
	moved, err := facts.TransfersIn(h.in.Facts)
	t := h.in.trace()
	if err != nil || t.Err != nil || moved.Writes == 0 {
		return b, false
	}
	if b.bytes = float64(moved.WriteBytes) / float64(moved.Writes); b.bytes > smallWrite {
		return b, false
	}
	w := writersAt(t, lines)
	b.each = float64(w.calls) / float64(max(1, w.reads+w.waits))
	return b, w.calls > 0 && b.each >= fewInBurst && !manyTargets(h, line, w)
}

// writerCounts are how often goroutines that write at some lines do so, read, and wait for something else, by the trace.
type writerCounts struct{ calls, reads, waits int64 }

func writersAt(t *traced, lines map[stack.Frame]bool) (w writerCounts) {
	roots := map[string]bool{}
	for _, x := range t.OwnBlocks(func(x *sched.Block) bool { return x.State == exectrace.Syscall && lines[lineOnly(t.Site(x.Stack))] }) {
		roots[userRoot(t, x.Stack)] = true
		w.calls += x.Wait.Count
	}
	for _, x := range t.OwnBlocks(func(x *sched.Block) bool { return roots[userRoot(t, x.Stack)] }) {
		switch reads := slices.ContainsFunc(t.Frames(x.Stack), func(f stack.Frame) bool { return f.Func == "internal/poll.(*FD).Read" }); {
		case reads:
			w.reads += x.Wait.Count
		case x.State == exectrace.Waiting:
			w.waits += x.Wait.Count
		}
	}
	return w
}

// fewTargets is up to how many open files and connections of the program one may be written to by itself. Chosen.
const fewTargets = 16

// manyTargets tells of the writes of a line that they may go to many connections, one after another: a loop takes another one in each turn by the
// source, or who writes rests for something else than what it reads, as a hub does, in a program that has many.
func manyTargets(h *hit, line *hitLine, w writerCounts) bool {
	frames := facts.Frames(h.p.Stacks, line.heavy)
	i := slices.IndexFunc(frames, func(f stack.Frame) bool { return lineOnly(f) == lineOnly(line.Caller) })
	if i < 1 || !oneTarget(h.in.code, ownFrames(h.in, frames[i:]), ownName(frames[i-1].Func)) {
		return true
	}
	return (w.waits > w.reads || w.calls == 0) && openAtMost(h.in) > fewTargets
}

// openAtMost is the largest number of open files and connections that a sample of the system has; 0 where none has it.
func openAtMost(in *Input) (most int) {
	samples, err := in.Session.OS()
	if err != nil {
		return 0
	}
	for _, s := range samples {
		most = max(most, s.FDs)
	}
	return most
}

// oneTarget tells of what is written to by the call of a function on the line of the first frame that no loop around, in the functions of the
// way, takes another one in each turn.
func oneTarget(c *code, way []stack.Frame, callee string) bool {
	arg := -1 // the place of what is written to among the arguments; -1 is the receiver
	if strings.HasPrefix(callee, "Fprint") {
		arg = 0
	}
	for _, f := range way {
		fn := c.scopeAt(f)
		if fn == nil {
			return false
		}
		calls := c.lineCalls(f)
		i := slices.IndexFunc(calls, func(call *ast.CallExpr) bool { return calledName(call) == callee && arg < len(call.Args) })
		if i < 0 { // by a variable: is that another one in each turn?
			return !slices.ContainsFunc(calls, func(call *ast.CallExpr) bool { return isAnew(loopsAround(c, f), call.Fun) })
		}
		call := calls[i]
		x := receiverOf(call)
		if arg >= 0 {
			x = call.Args[arg]
		}
		if isAnew(loopsAround(c, f), x) {
			return false
		}
		name := rootName(x)
		switch at := fn.parameter(name); {
		case fn.receiver == name && name != "":
			arg = -1
		case at >= 0:
			arg = at
		default:
			return true // it was there before
		}
		if callee = fn.name; callee == "" {
			return true
		}
	}
	return true
}

// tellBurst says of system calls on a connection or a file that they are small pieces of what could be one write; it is false where they are
// not.
func tellBurst(h *hit, f *Finding, what string) bool {
	b, ok := burstOf(h)
	if !ok {
		return false
	}
	f.Title = "Small writes one after another: each is a system call"
	f.Summary += fmt.Sprintf("; by the trace who writes there makes %s writes for each time that it reads or waits, and a write of the program has %s on average", unit.Number(b.each), unit.BytesOf(b.bytes))
	f.Advice = "Put the pieces together: a bufio.Writer in front of the connection, which is flushed when the answer is complete or when somebody waits for what was written (and its error checked), or net.Buffers for several pieces in one call."
	f.Doubts = append(f.Doubts, "what has to reach the other side at once, piece by piece, must be flushed each time", "what is in the buffer is lost if the program dies before it is flushed")
	f.saves = true
	if what != "file" {
		return true
	}
	f.Advice = "Put the pieces together: a bufio.Writer in front of the file, which is flushed at the end, or when somebody has to see what was written (and its error checked). What is drawn for somebody to look at, such as the progress of the work, need not be drawn for each item: a few times a second is enough."
	at := h.lines[0].Caller
	if keptRecords.MatchString(stack.Short(at.Func)+" "+baseName(at.File)) || appends(h.in.code) {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "if it keeps records that must not be lost, or that other processes append to as well, each of them may need a write of its own")
	}
	return true
}
