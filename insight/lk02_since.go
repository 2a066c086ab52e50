package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// What is kept may count only for those who came before it was fetched, or from some state on that the caller has made: a call that is under way began
// before they came, and its answer is not theirs.

// sinceCheck is a condition under the lock, before the call, by which what is kept serves a caller or not, whatever its age: a comparison, by order, with
// something of the caller's, or one with something outside of what has the lock, which others change.
type sinceCheck struct {
	cond string
	at   codeLine
}

// since finds such a condition; nil where there is none.
func (f *callerFlow) since() (found *sinceCheck) {
	f.conditions(func(s *ast.IfStmt) {
		ast.Inspect(s.Cond, func(n ast.Node) bool {
			if found != nil {
				return false
			}
			var x, y ast.Expr
			ordered := false
			switch n := n.(type) {
			case *ast.BinaryExpr:
				switch n.Op {
				case token.LSS, token.LEQ, token.GTR, token.GEQ:
					x, y, ordered = n.X, n.Y, true
				case token.EQL, token.NEQ:
					x, y = n.X, n.Y
				}
			case *ast.CallExpr:
				switch name := calledName(n); {
				case len(n.Args) != 1 || isIdent(n.Fun):
				case name == "After" || name == "Before" || name == "Compare":
					x, y, ordered = receiverOf(n), n.Args[0], true
				case name == "Equal":
					x, y = receiverOf(n), n.Args[0]
				}
			}
			if x == nil || clocked(x) || clocked(y) {
				return true
			}
			if !f.ofLock(x) {
				x, y = y, x
			}
			if f.ofLock(x) && (ordered && f.of(y).some() || f.outside(y, 0)) {
				line, _ := f.u.s.lines(n)
				found = &sinceCheck{types.ExprString(n.(ast.Expr)), codeLine{f.u.file, line}}
			}
			return true
		})
	})
	return found
}

// clocked tells of an expression that a clock is asked in it: how old something is decides then, and what is fetched is young.
func clocked(x ast.Expr) bool { return hasCall(x, asksNow) }

// ofLock tells of an expression that it is a part of what has the lock, and has nothing of the caller.
func (f *callerFlow) ofLock(x ast.Expr) bool {
	return rootName(x) == f.root && !f.of(x).some()
}

// outside tells of an expression that others change it without the lock: what a function of the program, or an atomic beside what has the lock, gives.
func (f *callerFlow) outside(x ast.Expr, depth int) bool {
	if f.of(x).some() || f.ofLock(x) {
		return false
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return f.outside(x.X, depth)
	case *ast.CallExpr:
		switch name := calledName(x); {
		case len(x.Args) > 0 || asksNow(x):
			return false
		case isIdent(x.Fun):
			return len(f.u.c.functions()[name]) == 1 // generation()
		default:
			return name == "Load" && rootName(receiverOf(x)) != f.root
		}
	case *ast.Ident:
		if value := onlyDefinition(f.u.s, x, x.Name); value != nil && depth < 2 {
			return f.outside(value, depth+1)
		}
	}
	return false
}

// tell makes what is said of a lock that guards one value tell that who came later needs another one.
func (k *sinceCheck) tell(c *code, place string, p *protected) {
	p.says = fmt.Sprintf("the lock guards one value, %s, and whether it serves a caller is decided by %s (%s)", place, k.cond, k.at.text())
	p.doubt = "the call that is under way began before the callers that now wait for the lock arrived, so that its result may be too old for them"
	p.advice = "Do not share the call that is under way with those who came after it began: by that condition, what it gives may not be for them. " +
		"Let all who came before a call begins share it, and its error: one call under way, and one that begins when it ends, for all who have come meanwhile (a channel for each, closed when it ends), with the lock held only to look and to store. " +
		"golang.org/x/sync/singleflight alone would give late callers the result of a call that began before they arrived."
	p.evidence = append(p.evidence, c.shownAt(k.at.file, k.at.line, "what is kept serves who asks by this: %s", k.cond))
}
