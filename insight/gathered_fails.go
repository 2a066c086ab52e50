package insight

import (
	"fmt"
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
// condition that asks for one. That everything has been read is no error.
func returnsError(ret *ast.ReturnStmt, of *ast.FuncType, around []ast.Node) bool {
	if slices.ContainsFunc(around, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		return ok && within(s.Body, ret) && asksEnd(s.Cond)
	}) {
		return false
	}
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
	return !isNamed(x, "nil") && !saysEnd(x)
}

// saysEnd tells of an expression that it is an error by which something says that it has come to its end.
func saysEnd(x ast.Expr) bool {
	return slices.Contains([]string{"io.EOF", "filepath.SkipDir", "filepath.SkipAll", "fs.SkipDir", "fs.SkipAll"}, types.ExprString(x))
}

// asksEnd tells of a condition that it holds for such an error alone.
func asksEnd(cond ast.Expr) bool {
	switch x := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		switch x.Op {
		case token.EQL:
			return saysEnd(x.X) || saysEnd(x.Y)
		case token.LAND:
			return asksEnd(x.X) || asksEnd(x.Y)
		case token.LOR:
			return asksEnd(x.X) && asksEnd(x.Y)
		}
	case *ast.CallExpr:
		return types.ExprString(x.Fun) == "errors.Is" && len(x.Args) == 2 && saysEnd(x.Args[1])
	}
	return false
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

// createsTarget are calls that create or empty what is written to, and beginsTarget those that may also write the beginning of it.
var (
	createsTarget = lazily(`^(Create|OpenFile|WriteFile|Truncate|Begin\w*|WriteHeader)$`)
	beginsTarget  = lazily(createsTarget.text + `|^(Write\w*|Fprint\w*)$`)
)

// begunBehind is the first of such calls in some parts of functions, but for a loop there; nil where there is none. A file that is put in its place at the
// end is no such thing.
func begunBehind(names *placeNames, parts []codePart, but ast.Node, begins *regexp.Regexp) (begun ast.Node) {
	for _, p := range parts {
		ast.Inspect(p.decl.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !p.has(call) || n == but {
				return n != but
			}
			if begins.MatchString(calledName(call)) && !renamedLater(names, p.decl, call) && (begun == nil || call.Pos() < begun.Pos()) {
				begun = call
			}
			return true
		})
	}
	return begun
}

// renamedLater tells of a call with a path that the function gives the file another name later on.
func renamedLater(names *placeNames, decl *ast.FuncDecl, call *ast.CallExpr) bool {
	if len(call.Args) == 0 {
		return false
	}
	own := names.of(decl, call.Args[0], 0)
	return hasCall(decl.Body, func(other *ast.CallExpr) bool {
		return other.Pos() > call.Pos() && calledName(other) == "Rename" && len(other.Args) == 2 &&
			slices.ContainsFunc(names.of(decl, other.Args[0], 0), func(name string) bool { return slices.Contains(own, name) })
	})
}

// begunText is what is said of such a place.
func begunText(d *derivations, begun ast.Node) string {
	return fmt.Sprintf("what they are written to is begun at %s, when all of them are there: if one cannot be read, it is left as it was; handled as they come, a half of it would be left, so write to a temporary file and rename it at the end, or roll back", d.placeOf(begun).text())
}

// begins is where what it is written to is created behind the turns, and where the function can end with an error before that; nil where there is none.
func (x *encodedWhole) begins() (begun, early ast.Node) {
	begun = begunBehind(&placeNames{d: x.d}, []codePart{{x.decl, x.whole.End(), x.written}}, nil, createsTarget.compiled())
	if begun != nil {
		early = x.endsEarly(begun)
	}
	return begun, early
}

// endsEarly is the first return in the turns, or behind them, by which the function ends with an error before a place; nil where there is none.
func (x *encodedWhole) endsEarly(before ast.Node) (at ast.Node) {
	eachNode(x.decl.Body, func(n ast.Node, around []ast.Node) {
		ret, ok := n.(*ast.ReturnStmt)
		if !ok || at != nil || withinLit(around) || ret.Pos() < x.whole.Pos() || ret.Pos() >= before.Pos() {
			return
		}
		if returnsError(ret, x.decl.Type, around) {
			at = ret
		}
	})
	return at
}

// writingNames are calls that write, and actingNames such as do something that a later error would have to take back.
var (
	writingNames = lazily(`^(Write\w*|Print|Printf|Println|Fprint|Fprintf|Fprintln|Encode\w*|Copy)$`)
	actingNames  = lazily(`^(?i:exec|post|do|insert|update|delete|remove|rename|commit|send|publish|put|save|store|book|create|upsert|push|upload|mkdir)|^(Apply|Set|Add)`)
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
	readsFurther = lazily(`^(Scan|Next|NextResultSet|NextRow|More|Token|Recv|Read\w*|Decode)$`)
	opensOwn     = lazily(`^(ReadFile|Open|OpenFile|Output|CombinedOutput|Get|Do|Post|PostForm)$`)
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
