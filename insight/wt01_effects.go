package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
)

// What is done under a lock may have an effect, whose order the lock keeps: then it is not to be done without it.

// keepsOrder is what to do about a lock that is held while something is written.
const keepsOrder = "Something is written under the lock, which keeps the writes in the order of the changes: do not just move it out. Let one write carry what several have (collect under the lock in a buffer, write once for all), or let one goroutine write what the others put in a queue; where only the writes need the order, give them a lock of their own, so that readers do not wait for them."

// putsOut tells of what a stack calls that it writes to a file or a connection, or makes a file.
func putsOut(frames []stack.Frame) bool {
	return writes(frames) || slices.Contains([]fileCall{fileWrites, fileMakes}, fileCallOf(frames))
}

// groupedSyncs tells of waits for another goroutine which makes files reach the disk that one of its syncs ends several of them.
func groupedSyncs(w *waiting, t *traced) bool {
	if len(w.causes) == 0 || w.kind != "channel" && w.kind != "cond" || w.reason() != "file_call" || !syncs(w.calledFrames(t)) {
		return false
	}
	at, made := w.causes[0].Cause.Site.Frame, int64(0)
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool {
		return b.State == exectrace.Syscall && t.Site(b.Stack) == at && syncs(t.Frames(b.Stack))
	}) {
		made += b.Wait.Count
	}
	return made > 0 && float64(w.count) >= groupedWaits*float64(made)
}

// groupedWaits is how many waits a sync ends on average, at least, where it serves several; chosen.
const groupedWaits = 1.5

// groupedAdvice is what to do about waits for a sync that serves several of them already.
const groupedAdvice = "They wait until another goroutine has made a file reach the disk, as in a group commit: what is left is the disk. Larger groups need fewer syncs; or answer before the data is on the disk, if it may be lost when the machine fails."

// lockWaitedFor is what to do about the lock of a wait, by what its holder does.
func lockWaitedFor(in *Input, t *traced, w *waiting) lockTold {
	work := t.Frames(workAt(w.group, &w.causes[0]))
	return tellLock(in, heldAcrossCall{at: w.site.Frame, waiter: t.Frames(w.site.Stack), work: work, kind: holderDoes(&w.causes[0]).Kind, syncs: syncs(work)})
}

// ownAnswers are functions through which a server writes to its own client.
var ownAnswers = []string{"net/http.(*response).", "net/http.checkConnErrorWriter.", "net/http.(*chunkWriter).", "net/http.(*http2responseWriter", "net/http.(*http2serverConn).", "golang.org/x/net/http2.(*serverConn)."}

// answersClient tells of a stack that a server writes to its own client there.
func answersClient(frames []stack.Frame) bool {
	return putsOut(frames) && slices.ContainsFunc(frames, func(f stack.Frame) bool {
		return slices.ContainsFunc(ownAnswers, func(p string) bool { return strings.HasPrefix(f.Func, p) })
	})
}

// answerAdvice is what to do where an answer is written under a lock.
const answerAdvice = "Put the answer together in a buffer under the lock, and write it to the client after the lock is let go: a client that reads slowly then holds up nobody else. A deadline for writing (http.ResponseController.SetWriteDeadline) bounds how long one can."

// writesKept tells of what a stack calls that it writes to a file or a connection which outlives the call: not to the client of the request
// itself, to one of several that a loop goes through, nor to what the function opens. Of a connection the source has to show it.
func writesKept(c *code, frames []stack.Frame) bool {
	if !putsOut(frames) || answersClient(frames) {
		return false
	}
	at := c.userFrame(frames)
	fn := c.scopeAt(at)
	if fn == nil {
		return !writes(frames)
	}
	for _, call := range c.lineCalls(at) {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			continue
		}
		for _, x := range append([]ast.Expr{sel.X}, call.Args[:min(1, len(call.Args))]...) {
			root := rootName(x)
			opened := hasNode(fn.body, func(n ast.Node) bool {
				a, ok := n.(*ast.AssignStmt)
				return ok && slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool { return isNamed(x, root) }) &&
					slices.ContainsFunc([]string{"os.Create", "os.Open", "net.Dial", "tls.Dial"}, func(p string) bool { return strings.HasPrefix(types.ExprString(a.Rhs[0]), p) })
			})
			if opened || rangesOver(fn.body, root) {
				return false
			}
		}
	}
	return true
}

// rangesOver tells of a name that a loop of a body goes through something with it.
func rangesOver(body *ast.BlockStmt, name string) bool {
	return name != "" && hasNode(body, func(n ast.Node) bool {
		r, ok := n.(*ast.RangeStmt)
		return ok && (isNamed(r.Key, name) || isNamed(r.Value, name))
	})
}
