package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/unit"
)

// queueTitle is the title of a channel with room for so much that what waits in it is most of the live heap.
const queueTitle = "A full queue holds most of the live heap"

// fullQueue is from which part of the trace on that goroutines wait to send a queue is known to be full much of the time. Chosen.
const fullQueue = 0.2

// longQueue is the least number of items in a queue that could as well be shorter. Chosen: a few for each of those that receive.
const longQueue = 256

// tellQueue makes a warning of a queue of which the trace shows that it is full for much of the time: who sends has to wait for those that receive in any
// case, so that a long queue only holds more.
func tellQueue(r *Rule, in *Input, top *facts.Line, f *Finding) {
	own, t := userFrames(in.code, top.At, top.Frames), in.trace()
	if f.Severity != Info && f.wastes == noWaste || len(own) == 0 || t.Err != nil || float64(top.Weight) < r.param("least")*(1<<20) {
		return
	}
	stores := in.code.storesOf(own)
	if len(stores) == 0 || slices.ContainsFunc(stores, func(s keepsAt) bool { return s.kind != intoChannel || s.container != stores[0].container }) {
		return
	}
	s := stores[0]
	made, size, ok := queueMade(in.code, s)
	if !ok || in.Facts.ObjectsThrough(own[:1], leastSeen) < longQueue {
		return
	}
	waited := waitsToSend(t, in.code, s)
	share := float64(waited) / float64(max(1, t.Info.Span.Len()))
	if share < fullQueue {
		return
	}
	f.Title, f.Severity, f.Score = queueTitle, Warning, max(f.Score, 50)
	f.Summary += fmt.Sprintf("; the waits for room in it at %s add up to %s in a trace of %s: it is full then", fileLine(s.file, s.line), unit.Duration(waited), unit.Duration(t.Info.Span.Len()))
	putFirst(f, made)
	f.Advice = fmt.Sprintf("Give the channel less room than %s (%s): a few items for each of those who receive, or as many as they take at a time. Who sends waits for them in any case, and what waits in the queue only takes memory.", size, fileLine(made.File, made.Line))
	f.Verify = "Record again: the peak heap should be lower, and the run take as long as before."
	f.Doubts = append(f.Doubts, "if those who receive come in bursts, a queue that is too short lets them wait: try sizes")
	f.wastes = noWaste // whatever the items keep, there would be fewer of them
	if at := drains(in.code, s); at != "" {
		f.Severity, f.Title = Info, "A queue holds most of the live heap until it is drained"
		f.Advice = "Whoever receives takes all that is there at once: then the room decides how much goes through each time. Let him receive more often, or as soon as something comes, if the queue is to be shorter."
		f.Doubts = append(f.Doubts, "at "+at+" those who receive wait for a time, or ask how much there is: then a shorter queue lets less through")
	}
}

// drains is a line of the package at which who receives from the channel waits for a time, or asks how much is in it: it is drained now and then, and not
// received from as things come. It is empty where there is none.
func drains(c *code, s keepsAt) (at string) {
	dir := s.file[:strings.LastIndexByte(s.file, '/')+1]
	same := func(x ast.Expr) bool { return lastName(types.ExprString(x)) == lastName(s.container) }
	c.eachSource(func(file string, x *syntax) {
		if file[:strings.LastIndexByte(file, '/')+1] != dir {
			return
		}
		for _, d := range x.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || !hasNode(fn.Body, func(n ast.Node) bool {
				u, receives := n.(*ast.UnaryExpr)
				return receives && u.Op == token.ARROW && same(u.X)
			}) {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				waits := false
				switch n := n.(type) {
				case *ast.CallExpr:
					name := types.ExprString(n.Fun)
					waits = name == "time.Sleep" || (name == "len" || name == "cap") && len(n.Args) == 1 && same(n.Args[0])
				case *ast.UnaryExpr:
					waits = n.Op == token.ARROW && (lastName(types.ExprString(n.X)) == "C" || strings.HasPrefix(types.ExprString(n.X), "time."))
				case *ast.RangeStmt:
					waits = lastName(types.ExprString(n.X)) == "C"
				}
				if waits && at == "" {
					line, _ := x.lines(n)
					at = fileLine(file, line)
				}
				return at == ""
			})
		}
	})
	return at
}

// queueMade finds where a channel with room is made that has the name of the one that something is sent to: in the same package, and at one place alone.
func queueMade(c *code, s keepsAt) (made Evidence, size string, ok bool) {
	name, dir := lastName(s.container), s.file[:strings.LastIndexByte(s.file, '/')+1]
	n := 0
	c.eachSource(func(file string, x *syntax) {
		if file[:strings.LastIndexByte(file, '/')+1] != dir {
			return
		}
		eachNode(x.file, func(node ast.Node, around []ast.Node) {
			call, is := node.(*ast.CallExpr)
			if !is || len(around) == 0 || !isNamed(call.Fun, "make") || len(call.Args) != 2 {
				return
			}
			if _, channel := call.Args[0].(*ast.ChanType); !channel || madeAs(around[len(around)-1], call) != name {
				return
			}
			line, _ := x.lines(call)
			n++
			made, size = c.shownAt(file, line, "the channel is made here"), types.ExprString(call.Args[1])
		})
	})
	return made, size, n == 1
}

// madeAs is the name of the variable or field that a value is assigned to by the node around it; empty where it is none.
func madeAs(parent ast.Node, value ast.Expr) string {
	if id := definedAs(parent, value); id != nil {
		return id.Name
	}
	switch p := parent.(type) {
	case *ast.KeyValueExpr:
		return types.ExprString(p.Key)
	case *ast.AssignStmt:
		if i := slices.Index(p.Rhs, value); i >= 0 && len(p.Lhs) == len(p.Rhs) {
			return lastName(types.ExprString(p.Lhs[i]))
		}
	}
	return ""
}

// waitsToSend is how long goroutines wait at a line that sends, added up, of those that wait for nothing else there than for the end of
// everything: a select with another channel may wait for that.
func waitsToSend(t *traced, c *code, s keepsAt) (sum time.Duration) {
	lines := map[int]bool{s.line: true}
	x := c.parse(s.file)
	ast.Inspect(x.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectStmt)
		if !ok || !x.covers(sel, s.line) {
			return true
		}
		for _, clause := range sel.Body.List {
			comm := clause.(*ast.CommClause).Comm
			if _, sends := comm.(*ast.SendStmt); !sends && (comm == nil || !waitsForEnd(comm)) {
				lines = map[int]bool{}
				return false
			}
		}
		first, _ := x.lines(sel)
		if len(lines) > 0 {
			lines[first] = true
		}
		return true
	})
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool {
		return b.Reason == exectrace.NameChanSend || b.Reason == exectrace.NameSelect
	}) {
		if at := t.Site(b.Stack); at.File == s.file && lines[at.Line] {
			sum += b.Wait.Sum
		}
	}
	return sum
}

// waitsForEnd tells of what a case of a select waits for that it is the end of everything: Done of a context, or a channel that is named so.
func waitsForEnd(comm ast.Stmt) bool {
	x, ok := comm.(*ast.ExprStmt)
	if !ok {
		return false
	}
	text := strings.ToLower(strings.TrimSuffix(types.ExprString(x.X), "()"))
	return slices.ContainsFunc([]string{"done", "quit", "stop", "closed", "closing", "shutdown"}, func(end string) bool { return strings.HasSuffix(text, end) })
}
