package insight

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"loupe/value/stack"
)

// A loop that starts goroutines and waits for them may go through parts of one list, which do not
// need each other, or through steps of which each needs the one before: the levels of a tree, the
// phases of a commit, a batch after whose success the next may begin.

// barrier tells whether a wait for goroutines stands in a loop that starts them for one part of
// what there is to do after another, so that each batch ends before the next one begins, and
// nothing in the source shows that the next one needs it.
func barrier(c *code, at stack.Frame) bool {
	loops := loopsAround(c, at)
	if len(loops) == 0 {
		return false
	}
	l := loops[len(loops)-1]
	starts, parts := l.startsParts(at.Line)
	return starts && parts && !l.needsLast(at.Line)
}

// startsParts tells whether the body of a loop starts goroutines, and whether those are for a part
// that differs in each turn: an inner loop goes through what depends on the outer one, or the wait
// itself comes only every so many turns.
func (l loop) startsParts(wait int) (starts, parts bool) {
	names := l.variables()
	for name := range setIn(l.body) {
		names[name] = true
	}
	atTimes := slices.ContainsFunc(l.body.List, func(s ast.Stmt) bool {
		x, ok := s.(*ast.IfStmt)
		return ok && l.source.covers(x.Body, wait)
	})
	eachNode(l.body, func(n ast.Node, around []ast.Node) {
		if startsOne(n) {
			starts = true
			inner := slices.IndexFunc(around, isLoop)
			if inner >= 0 {
				parts = parts || loopOver(around[inner], names)
			} else {
				parts = parts || atTimes
			}
		}
	})
	return starts, parts
}

// startsOne tells of a node that it starts a goroutine.
func startsOne(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		sel, ok := n.Fun.(*ast.SelectorExpr)
		return ok && (sel.Sel.Name == "Go" || sel.Sel.Name == "TryGo")
	}
	return false
}

// setIn are the variables that statements declare or set.
func setIn(body ast.Node) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, lhs := range a.Lhs {
				if id, ok := lhs.(*ast.Ident); ok {
					names[id.Name] = true
				}
			}
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
	return names
}

// loopOver tells whether what a loop goes through has one of some names in it, or is what a call
// gives.
func loopOver(n ast.Node, names map[string]bool) bool {
	var head []ast.Node
	switch n := n.(type) {
	case *ast.RangeStmt:
		head = []ast.Node{n.X}
	case *ast.ForStmt:
		own := loop{cond: n.Cond, body: n.Body, stmt: n}.variables()
		names = mapWithout(names, own)
		if n.Init != nil {
			head = append(head, n.Init)
		}
		if n.Cond != nil {
			head = append(head, n.Cond)
		}
	}
	return slices.ContainsFunc(head, func(x ast.Node) bool { return mentionsAny(x, names) || hasCall(x, takesPart) })
}

// takesPart tells of a call that it gives something, and is not the length of what there is.
func takesPart(call *ast.CallExpr) bool {
	return !isNamed(call.Fun, "len") && !isNamed(call.Fun, "cap") && !isNamed(call.Fun, "int")
}

func mapWithout(names, others map[string]bool) map[string]bool {
	rest := map[string]bool{}
	for name := range names {
		if !others[name] {
			rest[name] = true
		}
	}
	return rest
}

// failures are names of what goroutines leave behind when they fail.
var failures = lazily(`(?i)err|fail`)

// needsLast tells whether the next turn of a loop needs what the goroutines of this one give: behind
// the wait, what they have written decides whether the loop goes on, or becomes what the next turn
// begins with. That an error ends it does not count.
func (l loop) needsLast(wait int) (needs bool) {
	written := map[string]bool{}
	ast.Inspect(l.body, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if !ok {
			return true
		}
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			for _, x := range changedBy(n) {
				if root, _ := chain(x); root != "" && !declares(lit.Body, root) && !failures.MatchString(root) {
					written[root] = true
				}
			}
			if send, ok := n.(*ast.SendStmt); ok {
				if root, _ := chain(send.Chan); root != "" {
					written[root] = true
				}
			}
			return true
		})
		return false
	})
	read := func(name string) bool { // before the wait, or by the goroutines
		return slices.ContainsFunc(l.body.List, func(s ast.Stmt) bool {
			first, _ := l.source.lines(s)
			return first < wait && mentions(s, name)
		}) || l.cond != nil && mentions(l.cond, name)
	}
	for _, s := range l.body.List {
		if first, _ := l.source.lines(s); first <= wait {
			continue
		}
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IfStmt:
				needs = needs || leavesLoop(n.Body.List) && mentionsAny(n.Cond, written)
			case *ast.AssignStmt:
				if n.Tok != token.ASSIGN {
					break
				}
				for i, lhs := range n.Lhs {
					name := rootName(lhs)
					needs = needs || mentionsAny(n.Rhs[min(i, len(n.Rhs)-1)], written) && read(name) && !strings.HasPrefix(name, "_")
				}
			}
			return !needs
		})
	}
	return needs
}
