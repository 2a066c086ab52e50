package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/analysis/repetition"
	"loupe/value/stack"
)

// Results of calls that go on at once may differ and be as good as each other: those that are put under their key into something that lives
// on, where whoever comes later finds one of them, whichever that is.

// putByKey tells of counted calls that what they return is, by the source, put under a key into something that lives on: by the function around
// them, by what that calls, or by the function itself before it returns it.
func putByKey(c *code, x repetition.Together) bool {
	d := newDerivations(c)
	caller, ok := d.at(stack.Frame{Func: x.Caller.Name, File: x.Caller.File, Line: x.Caller.Line})
	if !ok {
		return false
	}
	k := keptResults{d: d, around: []*ast.FuncDecl{caller.decl}}
	for decl := range d.reached(caller.decl, caller.decl.Body) {
		if decl != caller.decl {
			k.around = append(k.around, decl)
		}
	}
	name := ownName(x.Func.Name)
	if slices.ContainsFunc(k.around, func(decl *ast.FuncDecl) bool { return k.putsResult(decl, name) }) {
		return true
	}
	own, ok := d.at(stack.Frame{Func: x.Func.Name, File: x.Func.File, Line: x.Func.Line})
	return ok && k.putsOwn(own.decl)
}

// keptResults looks for where results are put; around are the functions that may look for them.
type keptResults struct {
	d      *derivations
	around []*ast.FuncDecl
	// fields tells that a field, or a variable of a package, that is given the result keeps it, too.
	fields bool
}

// putsResult tells of a function that it puts what a call of a name gives, or of a value that makes such a call, under a key into something that lives on.
func (k keptResults) putsResult(decl *ast.FuncDecl, name string) (kept bool) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok || len(set.Rhs) != 1 || kept {
			return !kept
		}
		call, ok := ast.Unparen(set.Rhs[0]).(*ast.CallExpr)
		if !ok || ownCallName(call) != name && !slices.ContainsFunc(calledAsValue(k.d, call), func(f *ast.FuncDecl) bool { return callsNamedIn(f, name) }) {
			return true
		}
		kept = k.putsVars(decl, k.setBy(set), set)
		return true
	})
	return kept
}

// putsOwn tells of a function that it puts what a call gave it under a key, and returns it.
func (k keptResults) putsOwn(decl *ast.FuncDecl) (kept bool) {
	returned := map[types.Object]bool{}
	inside(decl.Body, func(n ast.Node) {
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) > 0 {
			if v := k.d.variable(ast.Unparen(r.Results[0])); v != nil {
				returned[v] = true
			}
		}
	})
	inside(decl.Body, func(n ast.Node) {
		set, ok := n.(*ast.AssignStmt)
		if !ok || len(set.Rhs) != 1 || kept || !hasCall(set.Rhs[0], func(*ast.CallExpr) bool { return true }) {
			return
		}
		got := k.setBy(set)
		for v := range got {
			if !returned[v] {
				delete(got, v)
			}
		}
		kept = len(got) > 0 && k.putsVars(decl, got, set)
	})
	return kept
}

// setBy are the variables that an assignment sets.
func (k keptResults) setBy(set *ast.AssignStmt) map[types.Object]bool {
	got := map[types.Object]bool{}
	for _, lhs := range set.Lhs {
		if v := k.d.variable(lhs); v != nil {
			got[v] = true
		}
	}
	return got
}

// putsVars tells of a function that behind an assignment it puts one of some variables under a key into something that lives on: an element of
// a map, or by a method of what somebody looks into by another one.
func (k keptResults) putsVars(decl *ast.FuncDecl, got map[types.Object]bool, set *ast.AssignStmt) (kept bool) {
	file, _, _ := k.d.t.at(decl.Pos())
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if n == nil || n.Pos() < set.End() {
			return !kept
		}
		switch put := n.(type) {
		case *ast.AssignStmt:
			if len(put.Lhs) == 1 && len(put.Rhs) == 1 {
				to := ast.Unparen(put.Lhs[0])
				_, entry := to.(*ast.IndexExpr)
				whole := k.fields && put.Tok == token.ASSIGN && !appendsTo(put.Rhs[0], types.ExprString(to))
				kept = kept || (entry || whole) && outlivesRequest(k.d, declaration{decl, file}, to) && mentionsVars(k.d, put.Rhs[0], got)
			}
		case *ast.CallExpr:
			kept = kept || k.putsByMethod(declaration{decl, file}, put, got)
		}
		return !kept
	})
	return kept
}

// lookNames are names of methods that look for something by its key.
var lookNames = lazily(`^(Get|Load|Peek|Lookup|LookUp|Find|Fetch)([A-Z].*)?$`)

// putsByMethod tells of a call that it gives a key, and one of some variables, to a method that puts something, of what lives on, and that
// one of the functions around looks there for something by its key.
func (k keptResults) putsByMethod(in declaration, call *ast.CallExpr, got map[types.Object]bool) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if ok && k.fields && f.Sel.Name == "Store" && len(call.Args) == 1 && outlivesRequest(k.d, in, f.X) {
		return mentionsVars(k.d, call.Args[0], got)
	}
	if !ok || !putNames.MatchString(f.Sel.Name) || len(call.Args) < 2 || !outlivesRequest(k.d, in, f.X) {
		return false
	}
	if root, fields := chain(f.X); len(fields) == 0 && !isPackageVariable(k.d.c, root) && !aroundRequests(k.d, in.FuncDecl, f.X) {
		return false // a package
	}
	if !slices.ContainsFunc(call.Args[1:], func(x ast.Expr) bool { return mentionsVars(k.d, x, got) }) {
		return false
	}
	of := lastName(types.ExprString(f.X))
	return slices.ContainsFunc(k.around, func(decl *ast.FuncDecl) bool {
		return hasCall(decl.Body, func(call *ast.CallExpr) bool {
			g, ok := call.Fun.(*ast.SelectorExpr)
			return ok && lookNames.MatchString(g.Sel.Name) && len(call.Args) > 0 && lastName(types.ExprString(g.X)) == of
		})
	})
}

// withinRepeated tells of work that its samples are mostly those of calls which several make at once for the same: made by one for all, it is done
// as often as it has to be, however it is done.
func withinRepeated(t two) bool {
	return t.b.Rule == wt08.ID && t.b.saves && t.grave() && family(t.a.Rule) == "work" && t.mostlyBelow()
}

// outlivesRequest tells of a place that it lives longer than the call of a function in which it stands: outlivesCalls, or a variable of the function around one
// without a name that answers requests.
func outlivesRequest(d *derivations, in declaration, x ast.Expr) bool {
	return outlivesCalls(in, x) || aroundRequests(d, in.FuncDecl, x)
}

// aroundRequests tells of a place, in a function without a name that answers a request, that it is of a variable of the function around that.
func aroundRequests(d *derivations, decl *ast.FuncDecl, x ast.Expr) bool {
	v := d.t.rootOf(x)
	if v == nil || !isLocal(decl, v) {
		return false
	}
	for _, n := range nodesAt(decl.Body, x.Pos()) { // the outermost first
		lit, ok := n.(*ast.FuncLit)
		if !ok {
			continue
		}
		within := lit.Pos() <= v.Pos() && v.Pos() < lit.End()
		return !within && slices.ContainsFunc(lit.Type.Params.List, func(f *ast.Field) bool { return libraryTypeNamed(d, f.Type).text() == "net/http.Request" })
	}
	return false
}
