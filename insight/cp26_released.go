package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/repetition"
	"loupe/value/stack"
)

// What a function returns may be closed, or given back, by whoever has asked for it. Then no other user may have the same one, nor may it be kept.

var (
	// endsUse are names of methods after which nobody is to use what they are called on.
	endsUse = lazily(`^(?i:close|release|free|cancel|rollback|commit|abort|shutdown|disconnect|quit|logout|destroy|dispose|discard|recycle|unlock|runlock|stop|end|finish|giveback|checkin)(?i:conn|connection|session|context|all|now)?$`)
	// endsAlone are those among them that end something only as a statement of their own: elsewhere, they are asked for a value.
	endsAlone = lazily(`^(?i:stop|end|finish|free|abort)`)
	// takenBackBy are names of functions after which nobody is to use what they are given alone.
	takenBackBy = lazily(`^(?i:put|putback|release|free|recycle|giveback|return|close|discard|destroy|dispose|checkin|unlock|cancel|stop)([A-Z_0-9]\w*)?$`)
	// unlocks are methods that end no use where the lock has been taken before.
	unlocks = lazily(`^(?i:r?unlock)`)
)

// resultEnd is where a user of a result ends its use, and by which call.
type resultEnd struct {
	at   codeLine
	call string
}

// endOfResult finds a call that ends the use of what calls of a function give, in those that call it, or to which they hand it on.
func endOfResult(d *derivations, decl *ast.FuncDecl, depth int) (e resultEnd, ok bool) {
	for _, by := range callersTo(d, decl) {
		if by.in == nil || by.in.Body == nil {
			continue
		}
		if e, ok = endBehind(d, by.in, by.call, depth); ok {
			return e, true
		}
	}
	return e, false
}

// furthestUser is how many functions a result is followed through that hand it on: chosen.
const furthestUser = 3

// endBehind finds it behind one call.
func endBehind(d *derivations, in *ast.FuncDecl, call *ast.CallExpr, depth int) (e resultEnd, ok bool) {
	eachNode(in.Body, func(n ast.Node, around []ast.Node) {
		if ok || n != ast.Node(call) || len(around) == 0 {
			return
		}
		switch parent := around[len(around)-1].(type) {
		case *ast.AssignStmt:
			if len(parent.Rhs) == 1 {
				e, ok = endOfAny(d, in, parent.Lhs, call, depth)
			}
		case *ast.ValueSpec:
			for _, id := range parent.Names {
				if !ok {
					e, ok = endOfAny(d, in, []ast.Expr{id}, call, depth)
				}
			}
		case *ast.ReturnStmt:
			if depth < furthestUser && !withinLit(around) {
				e, ok = endOfResult(d, in, depth+1)
			}
		case *ast.CallExpr: // defer begin()()
			if parent.Fun == ast.Expr(call) && len(around) > 1 {
				if _, deferred := around[len(around)-2].(*ast.DeferStmt); deferred {
					e, ok = resultEnd{d.placeOf(parent), types.ExprString(parent.Fun) + "()"}, true
				}
			}
		}
	})
	return e, ok
}

// endOfAny finds it for one of the variables that a call is assigned to.
func endOfAny(d *derivations, in *ast.FuncDecl, all []ast.Expr, call *ast.CallExpr, depth int) (e resultEnd, ok bool) {
	for _, x := range all {
		id, named := ast.Unparen(x).(*ast.Ident)
		if !named || id.Name == "_" || id.Name == "err" {
			continue
		}
		if v := d.variable(id); v != nil && isLocal(in, v) {
			if e, ok = endOfVariable(d, in, v, call.End(), depth); ok {
				return e, true
			}
		}
	}
	return e, false
}

// endOfVariable finds a call behind a place in a function that ends the use of what a variable of it has from there on.
func endOfVariable(d *derivations, in *ast.FuncDecl, v types.Object, from token.Pos, depth int) (e resultEnd, ok bool) {
	eachNode(in.Body, func(n ast.Node, around []ast.Node) {
		if ok || n.Pos() < from || onlySometimes(d, v, n, around) || anotherBy(d, in, v, from, n.Pos()) {
			return
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			if endsVariable(d, in, v, n, around) {
				e, ok = resultEnd{d.placeOf(n), types.ExprString(n)}, true
			} else if depth < furthestUser {
				e, ok = endOfGiven(d, v, n, depth)
			}
		case *ast.SelectorExpr: // t.Cleanup(x.Close)
			if given, is := around[len(around)-1].(*ast.CallExpr); is && given.Fun != ast.Expr(n) && endsUse.MatchString(n.Sel.Name) && !endsAlone.MatchString(n.Sel.Name) && d.t.rootOf(n.X) == v && isMethodValue(d, n) {
				e, ok = resultEnd{d.placeOf(n), types.ExprString(n)}, true
			}
		case *ast.ReturnStmt:
			if depth < furthestUser && !withinLit(around) && slices.ContainsFunc(n.Results, func(x ast.Expr) bool { return returnsVariable(d, x, v) }) {
				e, ok = endOfResult(d, in, depth+1)
			}
		}
	})
	return e, ok
}

// isMethodValue tells of a selector that it is not known to be a field.
func isMethodValue(d *derivations, x *ast.SelectorExpr) bool { return d.field(x) == nil }

// returnsVariable tells of a result that it is a variable, or a new value that has it.
func returnsVariable(d *derivations, x ast.Expr, v types.Object) bool {
	switch x := unrefer(x).(type) {
	case *ast.Ident:
		return d.variable(x) == v
	case *ast.CompositeLit:
		return slices.ContainsFunc(x.Elts, func(e ast.Expr) bool {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			id, ok := ast.Unparen(e).(*ast.Ident)
			return ok && d.variable(id) == v
		})
	}
	return false
}

// endsVariable tells of a call that it ends the use of what a variable has.
func endsVariable(d *derivations, in *ast.FuncDecl, v types.Object, n *ast.CallExpr, around []ast.Node) bool {
	switch fn := ast.Unparen(n.Fun).(type) {
	case *ast.Ident:
		if d.variable(fn) == v {
			return endsUse.MatchString(fn.Name) || takenBackBy.MatchString(fn.Name) || strings.EqualFold(fn.Name, "done") || strings.EqualFold(fn.Name, "cleanup")
		}
		return givesBackVariable(d, v, fn.Name, n)
	case *ast.SelectorExpr:
		name := fn.Sel.Name
		if d.t.rootOf(fn.X) != v {
			return givesBackVariable(d, v, name, n)
		}
		switch {
		case !endsUse.MatchString(name) || len(n.Args) > 1:
			return false
		case endsAlone.MatchString(name):
			return isAlone(around)
		case unlocks.MatchString(name):
			return !hasCall(in.Body, func(c *ast.CallExpr) bool {
				lock, ok := c.Fun.(*ast.SelectorExpr)
				return ok && c.Pos() < n.Pos() && strings.HasSuffix(strings.ToLower(lock.Sel.Name), "lock") && !unlocks.MatchString(lock.Sel.Name) && types.ExprString(lock.X) == types.ExprString(fn.X)
			})
		}
		return true
	}
	return false
}

// givesBackVariable tells of a call by its name that it is given what a variable has, and nothing else but a context or an error, to take it back.
func givesBackVariable(d *derivations, v types.Object, name string, n *ast.CallExpr) bool {
	given := 0
	for _, x := range n.Args {
		switch text := lastName(types.ExprString(x)); {
		case d.t.rootOf(x) == v && !hasCall(x, func(*ast.CallExpr) bool { return true }):
			given++
		case text != "err" && text != "nil" && !contexts.MatchString(text):
			return false
		}
	}
	return given == 1 && takenBackBy.MatchString(name)
}

// isAlone tells of what is around a call that it is a statement of its own.
func isAlone(around []ast.Node) bool {
	switch around[len(around)-1].(type) {
	case *ast.ExprStmt, *ast.DeferStmt:
		return true
	}
	return false
}

// endOfGiven finds it in a function of the program that a call gives a variable to.
func endOfGiven(d *derivations, v types.Object, n *ast.CallExpr, depth int) (e resultEnd, ok bool) {
	for i, x := range n.Args {
		id, named := ast.Unparen(x).(*ast.Ident)
		if !named || d.variable(id) != v {
			continue
		}
		for _, decl := range calledDecls(d, n) {
			if p := d.given(decl, i); p != nil && decl.Body != nil {
				if e, ok = endOfVariable(d, decl, p, decl.Body.Pos(), depth+1); ok {
					return e, true
				}
			}
		}
	}
	return e, false
}

// onlySometimes tells of what is around a call that a condition decides on it which asks for more than whether the variable has something: what is closed
// only when it is broken may be shared.
func onlySometimes(d *derivations, v types.Object, n ast.Node, around []ast.Node) bool {
	for i, a := range around {
		inner := n
		if i+1 < len(around) {
			inner = around[i+1]
		}
		switch a := a.(type) {
		case *ast.IfStmt:
			cond, ok := a.Cond.(*ast.BinaryExpr)
			there := ok && cond.Op == token.NEQ && isNamed(cond.Y, "nil") && d.t.rootOf(cond.X) == v
			if (inner == ast.Node(a.Body) || inner == a.Else) && !there {
				return true
			}
		case *ast.CaseClause, *ast.CommClause:
			return true
		}
	}
	return false
}

// anotherBy tells of a variable that it is given something else between two places.
func anotherBy(d *derivations, in *ast.FuncDecl, v types.Object, from, to token.Pos) bool {
	return slices.ContainsFunc(d.definitions(in)[v], func(def definition) bool { return !def.part && !def.unknown && from < def.at && def.at < to })
}

// released finds out whether users of what the function returns end its use.
func (r *repeatedCall) released(in *Input) (e resultEnd, ok bool) {
	d := derivationsOf(in.code)
	if r.Func.Caller == "" {
		return releasedResult(d, r.Call)
	}
	if r.site.File == "" {
		return e, false
	}
	at, known := d.at(r.site)
	if !known {
		return e, false
	}
	for _, call := range d.callsOn(at, r.site, lastName(r.Func.Name)) {
		if e, ok = endBehind(d, at.decl, call, 0); ok {
			return e, true
		}
	}
	return e, false
}

// releasedResult is the same of a function of the program that was counted.
func releasedResult(d *derivations, x repetition.Call) (e resultEnd, ok bool) {
	in, known := d.at(stack.Frame{Func: x.Func.Name, File: x.Func.File, Line: x.Func.Line})
	if !known || in.lit != nil || in.decl.Name.Name != ownName(x.Func.Name) {
		return e, false
	}
	return endOfResult(d, in.decl, 0)
}

// tellReleased makes a finding advise nobody to share or keep what its users close or give back.
func (r *repeatedCall) tellReleased(in *Input, f *Finding) {
	e, ok := r.released(in)
	if !ok {
		return
	}
	name, around := r.called(), stack.Short(r.Within.Name)
	f.Severity, f.saves, f.again = Info, false, false
	f.Advice = fmt.Sprintf("Neither share nor keep what %s returns as it is: %s at %s ends its use, and whoever still has it then has something that is closed or another one's. Where several steps of %s may use the same one, take it once in front of them and end its use behind the last; otherwise see what of the work of %s each use needs.",
		name, e.call, e.at.text(), around, name)
	f.Evidence = append(f.Evidence, in.code.shownAt(e.at.file, e.at.line, "the use of what %s returns ends here", name))
}
