package insight

import (
	"fmt"
	"go/ast"
	"slices"

	"loupe/value/stack"
)

// What a turn of a loop that starts goroutines leaves behind for the next one, also by way of what it calls; and what it does
// when all of them have ended, which needs all of the batch.

// finishing is a statement behind the wait that needs all of the batch, and maybe its order; zero where there is none.
type finishing struct {
	at   codeLine
	does string // "writes", "calls e.mark"
}

// batchTurn is a turn of such a loop.
type batchTurn struct {
	d          *derivations
	in         frameCode
	head       []ast.Node // what is done before the goroutines start, and decides about them
	goroutines []ast.Node
	behind     []ast.Stmt // what is done behind the wait
}

// batchTurnAt is that around a line that waits for the goroutines.
func batchTurnAt(c *code, wait stack.Frame) (b *batchTurn, ok bool) {
	d := derivationsOf(c)
	in, ok := d.at(wait)
	if !ok {
		return nil, false
	}
	var loop ast.Node
	ast.Inspect(in.body(), func(n ast.Node) bool {
		if n == nil || !coversLine(d, n, wait.Line) {
			return false
		}
		if isLoop(n) {
			loop = n
		}
		return true
	})
	if loop == nil {
		return nil, false
	}
	b = &batchTurn{d: d, in: in}
	var body *ast.BlockStmt
	switch n := loop.(type) {
	case *ast.ForStmt:
		if body = n.Body; n.Cond != nil {
			b.head = append(b.head, n.Cond)
		}
	case *ast.RangeStmt:
		body = n.Body
	}
	b.divide(body.List, wait.Line)
	return b, true
}

// divide puts the statements of a turn into its parts.
func (b *batchTurn) divide(list []ast.Stmt, wait int) {
	for _, s := range list {
		_, first, _ := b.d.t.at(s.Pos())
		switch {
		case first > wait:
			b.behind = append(b.behind, s)
		case !hasNode(s, startsOne):
			if !coversLine(b.d, s, wait) {
				b.head = append(b.head, s)
				continue
			}
			if s, ok := s.(*ast.IfStmt); ok && coversLine(b.d, s.Body, wait) { // it waits every so many turns
				b.divide(s.Body.List, wait)
			}
		default:
			b.launches(s, wait)
		}
	}
}

// launches takes a statement apart that starts goroutines.
func (b *batchTurn) launches(s ast.Stmt, wait int) {
	note := func(nodes ...ast.Node) {
		for _, n := range nodes {
			switch x := n.(type) {
			case ast.Expr:
				if x != nil {
					b.head = append(b.head, x)
				}
			case ast.Stmt:
				if x != nil {
					b.head = append(b.head, x)
				}
			}
		}
	}
	switch s := s.(type) {
	case *ast.RangeStmt:
		note(s.X)
		b.divide(s.Body.List, wait)
	case *ast.ForStmt:
		if s.Init != nil {
			note(s.Init)
		}
		if s.Cond != nil {
			note(s.Cond)
		}
		b.divide(s.Body.List, wait)
	case *ast.IfStmt:
		note(s.Cond)
		b.divide(s.Body.List, wait)
	case *ast.BlockStmt:
		b.divide(s.List, wait)
	default:
		b.goroutines = append(b.goroutines, s)
	}
}

// needsLast tells whether what the goroutines leave behind, or what is made of it behind the wait, is found by what the next
// turn begins with, or by its goroutines.
func (b *batchTurn) needsLast() bool {
	touched := func(nodes ...ast.Node) []leftTouch {
		return slices.DeleteFunc(leftBehind(b.d, b.in.decl, nodes...), func(t leftTouch) bool { return failures.MatchString(t.text()) })
	}
	by, head := touched(b.goroutines...), touched(b.head...)
	if found(head, by) {
		return true
	}
	for _, s := range b.behind {
		all := touched(s)
		if found(all, by) && found(slices.Concat(head, by), all) {
			return true
		}
	}
	return false
}

// found tells whether some touches read what others have set.
func found(later, earlier []leftTouch) bool {
	return slices.ContainsFunc(later, func(t leftTouch) bool {
		return !t.sets && slices.ContainsFunc(earlier, func(o leftTouch) bool { return o.sets && t.follows(o, later, earlier) })
	})
}

var (
	// marksByName are beginnings of names of functions that note how far something is.
	marksByName = lazily(`^(?i:mark|checkpoint|commit|ack|confirm|persist|save|publish|flush)([A-Z_0-9]\w*)?$`)
	// actsOutside are methods of the library that ask a peer for something, or have it do something.
	actsOutside = lazily(`^(Do|Post|PostForm|Exec|ExecContext|Commit|Send|SendMsg|Publish|Encode)$`)
	// changesFiles are functions of package os that change what others find.
	changesFiles = lazily(`^(WriteFile|Rename|Remove|RemoveAll|Create|OpenFile|Truncate|Link|Symlink)$`)
)

// finishes is the first statement behind the wait that does something outside of the program, or that others may see, for the
// batch: a write, a call of a peer, a mark of how far it is. What is done because something failed does not count, nor what is
// only logged.
func (b *batchTurn) finishes() (f finishing, ok bool) {
	by := leftBehind(b.d, b.in.decl, b.goroutines...)
	for _, s := range b.behind {
		results := found(leftBehind(b.d, b.in.decl, s), by)
		eachNode(s, func(n ast.Node, around []ast.Node) {
			if ok || underFailure(around) {
				return
			}
			does := ""
			switch n := n.(type) {
			case *ast.SendStmt:
				if results {
					does = "sends"
				}
			case *ast.CallExpr:
				does = b.effect(n, results, leftDepth)
			}
			if does != "" {
				f, ok = finishing{b.d.placeOf(n), does}, true
			}
		})
	}
	return f, ok
}

// effect is what a call does outside of the program; empty where it shows nothing.
func (b *batchTurn) effect(call *ast.CallExpr, results bool, depth int) string {
	name, pkg := calledName(call), b.d.t.fromPackage(ast.Unparen(call.Fun))
	callees := calledDecls(b.d, call)
	switch {
	case depth == 0:
		return ""
	case len(callees) > 0 && marksByName.MatchString(name):
		return "calls " + name
	case len(callees) > 0:
		for _, callee := range callees {
			file, _, _ := b.d.t.at(callee.Pos())
			if leavesProgram(b.d.c, declaration{callee, file}, maxAccess) {
				return "calls " + name
			}
			found := false
			eachNode(callee.Body, func(n ast.Node, around []ast.Node) {
				if inner, ok := n.(*ast.CallExpr); ok && !found && !underFailure(around) {
					found = b.effect(inner, results, depth-1) != ""
				}
			})
			if found {
				return "calls " + name
			}
		}
		return ""
	case pkg == "fmt" && (name == "Print" || name == "Printf" || name == "Println"):
		if results {
			return "writes"
		}
		return ""
	case pkg == "log" || pkg == "log/slog":
		return ""
	case pkg == "os" && changesFiles.MatchString(name), writesOut(b.d, call):
		return "writes"
	case actsOutside.MatchString(name) && (pkg == "" || pkg == "net/http") && len(call.Args) > 0 || name == "Commit":
		return "calls " + name
	}
	return ""
}

// barrierAt tells of a wait for goroutines that it is a barrier behind each batch, and what needs the batch before the next
// one; false where the next turn needs what this one gives.
func barrierAt(c *code, at stack.Frame) (f finishing, ok bool) {
	if !barrier(c, at) {
		return f, false
	}
	b, known := batchTurnAt(c, at)
	if !known {
		return f, true
	}
	if b.needsLast() {
		return f, false
	}
	f, _ = b.finishes()
	return f, true
}

// tell makes a finding about a barrier say that something behind the wait needs the batch.
func (f finishing) tell(c *code, x *Finding) {
	if f.does == "" {
		return
	}
	x.Severity = Info
	x.Summary += fmt.Sprintf(", and %s %s when a batch is done", f.at.text(), f.does)
	x.Evidence = append(x.Evidence, c.shownAt(f.at.file, f.at.line, "behind each batch: %s", f.does))
	x.Advice = fmt.Sprintf("The others are idle until the slowest of a batch is done. But %s needs what came before to be done, and maybe its order, so do not wait once, after the loop. Let the next item start as soon as one has ended, in a window of a bounded size that is finished in order: keep the items that were started in a queue (a channel of results, each with a channel of its own), wait for the oldest one, and do what %s does for it when all before it are done.", f.at.text(), f.at.text()) +
		" If a failure has to stop the rest, or the items of a batch belong together, look at what the last one does instead."
}
