package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
)

// failsBefore finds a statement by which a turn, or what follows the turns and stands before the first pass in the same function, leaves
// the function with an error: then no item has been handled. Where each turn reads a source of its own, and the items are only written, an error of
// that reading is another thing: all that came before it is right.
func failsBefore(d *derivations, g *gathered) {
	to := g.whole.End()
	if g.passes[0].decl == g.decl {
		to = g.passes[0].loop.Pos()
	}
	writes := g.ownSources(d) && !slices.ContainsFunc(append([]passThrough{g.last()}, g.others...), func(p passThrough) bool { return !writesOnly(d, p) })
	eachNode(g.decl.Body, func(n ast.Node, around []ast.Node) {
		ret, ok := n.(*ast.ReturnStmt)
		if !ok || g.fails != nil || ret.Pos() < g.whole.Pos() || ret.Pos() >= to {
			return
		}
		of := g.decl.Type
		for _, n := range around {
			if lit, ok := n.(*ast.FuncLit); ok {
				of = lit.Type
				if lit != g.lit {
					return
				}
			}
		}
		switch {
		case !returnsError(ret, of, around):
		case !writes || !g.cannotRead(d, ret, around):
			g.fails = ret
		case g.breaks == nil:
			g.breaks = ret
		}
	})
}

// returnsError tells of a return that it is one of an error: the last result is given as one, or what is returned stands below a
// condition that asks for one.
func returnsError(ret *ast.ReturnStmt, of *ast.FuncType, around []ast.Node) bool {
	asks := slices.ContainsFunc(around, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		return ok && asksError(s.Cond, token.NEQ) && within(s.Body, ret)
	})
	if len(ret.Results) == 0 || of.Results == nil || len(of.Results.List) == 0 {
		return asks
	}
	last := of.Results.List[len(of.Results.List)-1]
	if !isNamed(last.Type, "error") {
		return asks
	}
	x := ret.Results[len(ret.Results)-1]
	return !isNamed(x, "nil") && types.ExprString(x) != "filepath.SkipDir" && types.ExprString(x) != "fs.SkipDir"
}

// cannotRead tells of a return that it stands below a condition on the error of the call, in the same turn, that gives what goes into the
// list.
func (g *gathered) cannotRead(d *derivations, ret *ast.ReturnStmt, around []ast.Node) bool {
	var of types.Object
	for _, n := range around {
		if s, ok := n.(*ast.IfStmt); ok && asksError(s.Cond, token.NEQ) && within(s.Body, ret) {
			of = d.variable(ast.Unparen(s.Cond).(*ast.BinaryExpr).X)
		}
	}
	var from *ast.AssignStmt
	ast.Inspect(g.whole, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && a.End() <= ret.Pos() && of != nil && slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool { return d.variable(x) == of }) {
			from = a
		}
		return true
	})
	if from == nil {
		return g.lit != nil && slices.Contains(parameterVars(d, g.lit), of) && of != nil // of a walk
	}
	gives := map[types.Object]bool{}
	for _, x := range from.Lhs {
		if v := d.variable(x); v != nil && v != of {
			gives[v] = true
		}
	}
	for _, x := range from.Rhs {
		ast.Inspect(x, func(n ast.Node) bool {
			if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.AND && d.variable(u.X) != nil {
				gives[d.variable(u.X)] = true
			}
			return true
		})
	}
	spreadItems(d, g.whole, gives)
	return slices.ContainsFunc(g.adds, func(a *ast.AssignStmt) bool {
		return slices.ContainsFunc(a.Rhs[0].(*ast.CallExpr).Args[1:], func(x ast.Expr) bool { return mentionsVars(d, x, gives) })
	})
}

// writingNames are calls that write, and actingNames such as do something that a later error would have to take back.
var (
	writingNames = regexp.MustCompile(`^(Write\w*|Print|Printf|Println|Fprint|Fprintf|Fprintln|Encode\w*|Copy)$`)
	actingNames  = regexp.MustCompile(`^(?i:exec|post|do|insert|update|delete|remove|rename|commit|send|publish|put|save|store|book|create|upsert|push|upload|mkdir)|^(Apply|Set|Add)`)
)

// writesOnly tells of a loop that all it does with the items is to write them to a stream, as far as names say.
func writesOnly(d *derivations, p passThrough) bool {
	writes, acts := false, false
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				name := calledName(call)
				writes = writes || writingNames.MatchString(name)
				acts = acts || actingNames.MatchString(name) || name == "WriteFile"
			}
			return true
		})
	}
	if slices.ContainsFunc(p.decl.Type.Params.List, func(field *ast.Field) bool { return lastName(types.ExprString(field.Type)) == "ResponseWriter" }) {
		return false // the status of an answer cannot change once a part of it is written
	}
	look(p.body)
	for decl := range d.reached(p.decl, p.body) {
		look(decl.Body)
	}
	return writes && !acts
}

// readsFurther are methods that read on in what is open, and opensOwn calls that open something, or that read all of it.
var (
	readsFurther = regexp.MustCompile(`^(Scan|Next|NextResultSet|NextRow|More|Token|Recv|Read\w*|Decode)$`)
	opensOwn     = regexp.MustCompile(`^(ReadFile|Open|OpenFile|Output|CombinedOutput|Get|Do|Post|PostForm)$`)
)

// ownSources tells of the turns that each opens what it reads, and reads on in nothing that was open before: a page, a file, what a child
// process writes.
func (g *gathered) ownSources(d *derivations) bool {
	opens, on := false, false
	look := func(n ast.Node, outer func(types.Object) bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name, pkg := calledName(call), d.t.fromPackage(call.Fun)
			sel, method := call.Fun.(*ast.SelectorExpr)
			switch {
			case pkg != "":
				opens = opens || opensOwn.MatchString(name) && (pkg == "os" || pkg == "net/http" || pkg == "io/ioutil")
			case method && d.t.decls[d.t.callee(call)] == nil:
				opens = opens || name == "Output" || name == "CombinedOutput" || name == "Do" || name == "Get" && len(call.Args) == 1
				if v := d.variable(innermost(sel.X)); v != nil && readsFurther.MatchString(name) {
					on = on || outer(v) && name != "ReadFile" && name != "ReadDir"
				}
			}
			return true
		})
	}
	look(g.whole, func(v types.Object) bool { return v.Pos() < g.whole.Pos() || v.Pos() > g.whole.End() })
	for decl := range d.reached(g.decl, g.whole) {
		look(decl.Body, func(v types.Object) bool { return !isLocal(decl, v) || isGiven(decl, v) && !isResult(decl, v) })
	}
	return opens && !on
}
