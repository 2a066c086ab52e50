package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"time"

	"loupe/value/stack"
	"loupe/value/unit"
)

// Waits for an answer to what has not been sent yet: it lies in a buffer (bufio.Writer) that nothing but a ticker flushes.

// tickedBuffer is such a buffer, a field of a struct.
type tickedBuffer struct {
	flush string // as the source has it
	at    codeLine
	every time.Duration // 0 where the source does not tell
}

// unflushedAdvice is what to do about it.
const unflushedAdvice = "Flush when there is nothing more to write at once, and not with the next tick: behind the write of a request, or, where one goroutine writes what others hand it, when its channel is empty (a select with default, or len(queue) == 0). " +
	"What comes close together still goes out as one write. The ticker may stay for what is not urgent."

// tellUnflushed says it of a wait for a peer's answer, where the source of who waits, or of who reads the answers, has such a buffer.
func tellUnflushed(in *Input, t *traced, w *waiting, reason string, f *Finding) {
	if reason != "network" || w.kind == "lock" || w.count == 0 {
		return
	}
	frames := t.Frames(w.site.Stack)
	if len(w.causes) > 0 {
		frames = slices.Concat(frames, t.Frames(w.causes[0].Cause.Site.Stack))
	}
	b, ok := tickedBufferOf(in.code, slices.DeleteFunc(frames, func(f stack.Frame) bool { return !t.Scope.IsUser(f) }))
	each := w.time / time.Duration(w.count)
	if !ok || b.every > 0 && (each < b.every/4 || each > 2*b.every) {
		return // the peer takes the rest
	}
	every := "by a ticker"
	if b.every > 0 {
		every = "each " + unit.Duration(b.every)
	}
	f.Summary += fmt.Sprintf("; going by the source, what asks for it is only flushed %s, at %s (%s)", every, b.at.text(), b.flush)
	f.Evidence = slices.Insert(f.Evidence, 0, in.code.shownAt(b.at.file, b.at.line, "nothing else flushes what was written"))
	f.Advice, f.Title = unflushedAdvice, "What was written waits for a ticker to flush it"
	f.Doubts = slices.DeleteFunc(f.Doubts, func(d string) bool {
		return d == w.elsewhere(t, reason) || len(w.causes) > 0 && d == w.inItsPlace(t, reason)
	})
	if b.every == 0 {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "the source does not tell how often the ticker fires: if that is much less than this wait, the peer takes the rest")
	} else if w.share() >= muchWaiting {
		f.Severity = Warning
	}
}

// tickedBufferOf finds the buffer in the types that the functions of some frames are methods of, and in those of their fields.
func tickedBufferOf(c *code, frames []stack.Frame) (b tickedBuffer, ok bool) {
	asked := map[string]bool{}
	for _, f := range frames {
		fn := c.function(f)
		if fn == nil || receiverType(fn) == "" {
			continue
		}
		owners := []string{receiverType(fn)} // the type, and those of its fields
		for _, of := range fieldsOf(c, owners[0]) {
			owners = append(owners, strings.TrimPrefix(of, "*"))
		}
		slices.Sort(owners[1:])
		for _, of := range owners {
			if asked[of] {
				continue
			}
			asked[of] = true
			if b, ok = tickedIn(c, of, folderOf(f.File)); ok {
				return b, true
			}
		}
	}
	return b, false
}

// tickedIn finds it among the fields of a type.
func tickedIn(c *code, of, folder string) (b tickedBuffer, ok bool) {
	fields := fieldsOf(c, of)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains([]string{"*bufio.Writer", "bufio.Writer", "*bufio.ReadWriter"}, fields[name]) {
			continue
		}
		x := &flushSearch{c: c, seen: map[*ast.FuncDecl]bool{}}
		for _, m := range allFunctions(c) {
			if folderOf(m.file) != folder {
				continue
			}
			x.other = x.other || givesAway(c, m, name)
			if receiverType(m.FuncDecl) == of {
				x.within(m, flushOf(scopeOf(m.FuncDecl).receiver+"."+name), 0)
			}
		}
		if len(x.ticked) > 0 && !x.other {
			return x.ticked[0], true
		}
	}
	return b, false
}

// flushOf tells of calls that they flush a buffer by its name.
func flushOf(buffer string) func(*ast.CallExpr) bool {
	return func(call *ast.CallExpr) bool {
		text := types.ExprString(call.Fun)
		return text == buffer+".Flush" || text == buffer+".Writer.Flush"
	}
}

// flushSearch looks for what flushes a buffer.
type flushSearch struct {
	c      *code
	seen   map[*ast.FuncDecl]bool
	ticked []tickedBuffer
	other  bool // something else flushes as well, while it is in use
}

// maxFlushCallers is how many callers up a function that flushes is followed: chosen.
const maxFlushCallers = 3

// beforeUse and behindUse are the names of functions that flush before, and behind, the time in which a buffer is in use.
var (
	beforeUse = lazily(`(?i)^(new|open|dial|connect|start|init|handshake|hello|login|auth)`)
	behindUse = lazily(`(?i)(close|stop|shutdown|finish|drain|quit)`)
)

// within sorts the calls of a function that flush.
func (x *flushSearch) within(m declaration, flushes func(*ast.CallExpr) bool, depth int) {
	eachNode(m.Body, func(n ast.Node, around []ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok && flushes(call) {
			x.sort(m, call, around, depth)
		}
	})
}

// sort sorts a call in a function that flushes, by what is around it there.
func (x *flushSearch) sort(m declaration, call *ast.CallExpr, around []ast.Node, depth int) {
	every, ticks := x.tickAround(m, around)
	switch {
	case ticks:
		line, _ := x.c.parse(m.file).lines(call)
		x.ticked = append(x.ticked, tickedBuffer{types.ExprString(call.Fun), codeLine{m.file, line}, every})
	case beforeUse.MatchString(m.Name.Name), behindUse.MatchString(m.Name.Name), whenFull(around), whenOver(around):
	default:
		x.callers(m, depth)
	}
}

// callers goes through those of a function that flushes; one that nobody calls may be called by anyone.
func (x *flushSearch) callers(m declaration, depth int) {
	if x.seen[m.FuncDecl] {
		return
	}
	x.seen[m.FuncDecl] = true
	calls := 0
	for _, by := range callsNamed(x.c, m.Name.Name) {
		if depth < maxFlushCallers && slices.ContainsFunc(methodsOf(x.c, by.in.FuncDecl, by.call.Fun), func(d declaration) bool { return d.FuncDecl == m.FuncDecl }) {
			calls++
			x.sort(by.in, by.call, by.around, depth+1)
		}
	}
	x.other = x.other || calls == 0
}

// givesAway tells of a function that it gives a field of a name to somebody who may flush it: but for its own methods, for setting it, and for functions of
// other packages that are given it to write to.
func givesAway(c *code, m declaration, field string) (hands bool) {
	packages := namesOf(c).packages
	eachNode(m.Body, func(n ast.Node, around []ast.Node) {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != field {
			return
		}
		switch p := parent(around).(type) {
		case *ast.SelectorExpr:
		case *ast.AssignStmt:
			hands = hands || !slices.Contains(p.Lhs, ast.Expr(sel))
		case *ast.BinaryExpr:
		case *ast.CallExpr:
			of, selects := p.Fun.(*ast.SelectorExpr)
			hands = hands || !selects || !isIdent(of.X) || !packages[rootName(of.X)]
		default:
			hands = true
		}
	})
	return hands
}

// tickAround tells of what some nodes of a function are around that a ticker or a timer brings it about: a case that receives from one, a loop over one, or a
// loop that sleeps; and how often that is, 0 where the source does not tell.
func (x *flushSearch) tickAround(m declaration, around []ast.Node) (every time.Duration, ticks bool) {
	for _, n := range slices.Backward(around) {
		switch n := n.(type) {
		case *ast.FuncLit:
			return 0, false
		case *ast.CommClause:
			from := receivedFrom(n.Comm)
			return x.tickTime(m, from), from != nil && ticksOf(x.c, scopeOf(m.FuncDecl), from) != ""
		case *ast.RangeStmt:
			if ticksOf(x.c, scopeOf(m.FuncDecl), n.X) != "" {
				return x.tickTime(m, n.X), true
			}
		case *ast.ForStmt:
			for _, stmt := range n.Body.List {
				if every = fires(x.c, x.c.parse(m.file), m.FuncDecl, stmt); every > 0 {
					return every, true
				}
			}
		}
	}
	return 0, false
}

// tickTime is how often a channel's ticker fires: made in the function, or, as a field, in another one of the folder.
func (x *flushSearch) tickTime(m declaration, from ast.Expr) time.Duration {
	if from == nil {
		return 0
	}
	receive := &ast.ExprStmt{X: &ast.UnaryExpr{Op: token.ARROW, X: from}}
	if d := fires(x.c, x.c.parse(m.file), m.FuncDecl, receive); d > 0 {
		return d
	}
	field, d := lastName(strings.TrimSuffix(types.ExprString(from), ".C")), time.Duration(0)
	for _, by := range allFunctions(x.c) {
		made := func(to, value ast.Expr) {
			call, ok := value.(*ast.CallExpr)
			if ok && lastName(types.ExprString(to)) == field && len(call.Args) == 1 && tickMakers[types.ExprString(call.Fun)] != "" {
				d = max(d, waitTime(x.c, x.c.parse(by.file), call.Args[0], 0))
			}
		}
		eachAssigned(by.Body, made)
		ast.Inspect(by.Body, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				made(kv.Key, kv.Value)
			}
			return true
		})
	}
	return d
}

// whenFull tells of what some nodes are around that a condition on how much is in the buffer decides about it.
func whenFull(around []ast.Node) bool {
	return slices.ContainsFunc(around, func(n ast.Node) bool {
		x, ok := n.(*ast.IfStmt)
		return ok && hasCall(x.Cond, func(call *ast.CallExpr) bool {
			name := lastName(types.ExprString(call.Fun))
			return name == "Buffered" || name == "Available"
		})
	})
}

// whenOver tells of what some nodes are around that it stands in a case of a select which leaves the function.
func whenOver(around []ast.Node) bool {
	return slices.ContainsFunc(around, func(n ast.Node) bool {
		clause, ok := n.(*ast.CommClause)
		if !ok || len(clause.Body) == 0 {
			return false
		}
		_, leaves := clause.Body[len(clause.Body)-1].(*ast.ReturnStmt)
		return leaves
	})
}
