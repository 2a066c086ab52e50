package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// What holds a finding about a level that is off, or a part of its advice, back.

// unsettled says of a call why no sample that writes tells nothing of its level; it is false where that tells that it is off.
func (c *loggedFor) unsettled(in *Input, f *Finding) bool {
	fate := c.fate(in)
	if fate.settled() {
		return false
	}
	f.Severity, f.saves = Info, false
	f.Summary += "; no sample shows the call writing anything, but that does not tell whether its level is off: " + fate.why
	if fate.at.line > 0 {
		f.Summary += " (" + fate.at.text() + ")"
		f.Evidence = append(f.Evidence, in.code.shownAt(fate.at.file, fate.at.line, "it may be kept or handed on here"))
	}
	f.Advice = "If its level is off, ask for it before the arguments are made. If it is on and few of the records are ever read, keep what identifies it (an ID, a count, a digest), or a copy of the few values that matter, and make the text when somebody reads it."
	return true
}

// askOnly leaves out of an advice the part about giving a logger the value itself.
func askOnly(advice string) string {
	ask, _, _ := strings.Cut(advice, ", or pass the value itself")
	return strings.TrimSuffix(strings.TrimSuffix(ask, "."), ",") + "."
}

// changingNames are methods and functions of the library that change what they are given or called on.
var changingNames = lazily(`^(?i:unmarshal|decode|scan|read|sort|shuffle|reverse|add|append|push|insert|put|set|store|delete|remove|reset|clear|next|pop|fill|merge)`)

// changedLater tells of what the text is made from that the function, or what it gives it to, changes it after that: a logger that is given
// the value itself may look at it too late.
func (c *loggedFor) changedLater(in *Input) bool {
	if c.below == 0 {
		return false
	}
	d := newDerivations(in.code)
	at := c.heavy[c.below]
	fn, ok := d.at(at)
	if !ok {
		return false
	}
	of, end := map[string]bool{}, token.NoPos
	for _, call := range d.callsOn(fn, at, ownName(c.heavy[c.below-1].Func)) {
		for _, x := range call.Args {
			of[rootName(unrefer(x))] = true
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			of[rootName(sel.X)] = d.t.fromPackage(sel) == ""
		}
		end = max(end, call.End())
	}
	delete(of, "")
	return len(of) > 0 && changesAfter(d, fn, end, of)
}

// changesAfter tells of the statements of a function behind a place that they change what variables lead to.
func changesAfter(d *derivations, fn frameCode, end token.Pos, of map[string]bool) (changed bool) {
	e := &callEffects{d: d}
	ast.Inspect(fn.body(), func(n ast.Node) bool {
		if n == nil || n.Pos() < end {
			return !changed
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			changed = changed || n.Tok != token.DEFINE && slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return of[rootName(x)] })
		case *ast.IncDecStmt:
			changed = changed || of[rootName(n.X)]
		case *ast.CallExpr:
			e.seen, e.what = map[*ast.FuncDecl]bool{}, ""
			given := slices.ContainsFunc(n.Args, func(x ast.Expr) bool { return of[rootName(unrefer(x))] })
			sel, selects := n.Fun.(*ast.SelectorExpr)
			on := selects && of[rootName(sel.X)] && d.t.fromPackage(sel) == ""
			switch {
			case !given && !on:
			case d.t.callee(n) != nil:
				(&effectWalk{callEffects: e, decl: fn.decl, only: of}).call(n, false)
				changed = changed || strings.HasPrefix(e.what, "changes ") || strings.HasPrefix(e.what, "counts ")
			default:
				changed = changed || changingNames.MatchString(lastName(types.ExprString(n.Fun)))
			}
		}
		return !changed
	})
	return changed
}
