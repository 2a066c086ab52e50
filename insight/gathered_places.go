package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Where a function has a list that its loops gather: in a variable, or in a field of a struct that it makes, or that it is given.

// listPlace is such a place: a variable, or a field of what the variable has.
type listPlace struct{ v, field types.Object }

// place is where the function that gathers the list has it.
func (g *gathered) place() listPlace { return listPlace{g.of, g.field} }

// name is what that function calls it.
func (g *gathered) name() string {
	if g.field == nil {
		return g.of.Name()
	}
	return g.of.Name() + "." + g.field.Name()
}

// is tells of a node that it is the list.
func (p listPlace) is(d *derivations, n ast.Node) bool {
	if p.field == nil {
		id, ok := n.(*ast.Ident)
		return ok && d.t.info.Uses[id] == p.v
	}
	sel, ok := n.(*ast.SelectorExpr)
	return ok && d.field(sel) == p.field && d.variable(sel.X) == p.v
}

// placeOfList is the place that an expression names.
func placeOfList(d *derivations, x ast.Expr) listPlace {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return listPlace{v: d.variable(x)}
	case *ast.SelectorExpr:
		if field := d.field(x); field != nil {
			return listPlace{d.variable(x.X), field}
		}
	}
	return listPlace{}
}

// gathersInto is the place that a statement appends items to, one or a page of them.
func gathersInto(d *derivations, n ast.Node) (*ast.AssignStmt, listPlace) {
	a, to := addsByAppend(n)
	if a == nil {
		return nil, listPlace{}
	}
	at := placeOfList(d, to)
	if at.v == nil {
		return nil, listPlace{}
	}
	return a, at
}

// fillsFromEmpty tells of a list that nothing but its appends gives it a value, and that no turn looks at it: one that asks for
// its length bounds it, or empties it when there is a batch.
func fillsFromEmpty(d *derivations, g *gathered) bool {
	if g.whole == nil {
		return false
	}
	looks := 0
	eachNode(g.whole, func(n ast.Node, around []ast.Node) {
		if x, ok := n.(ast.Expr); ok && (g.place().is(d, n) || g.field == nil && d.variable(x) == g.of) && !g.leavesWith(around) && !tellsLength(d, around) {
			looks++
		}
	})
	if looks != 2*len(g.adds) {
		return false
	}
	if g.field != nil {
		return (isGiven(g.decl, g.of) || makesEmpty(d, g.decl, g.of, g.field, 0)) && !setBefore(d, g) && !lookedAtBefore(d, g.decl, g.place(), g.whole.End(), g.leavesWith)
	}
	for _, def := range d.definitions(g.decl)[g.of] {
		if call, ok := def.x.(*ast.CallExpr); ok && isNamed(call.Fun, "append") && len(call.Args) > 1 && d.variable(call.Args[0]) == g.of {
			continue
		}
		if def.unknown || def.ranged || def.part || def.at != g.of.Pos() || !isEmptyList(def.x) {
			return false
		}
	}
	return true
}

// isEmptyList tells of what a variable is declared with that the list begins with it.
func isEmptyList(x ast.Expr) bool {
	switch x := x.(type) {
	case nil, *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		return isNamed(x.Fun, "make")
	}
	return isNamed(x, "nil")
}

// leavesWith tells of the nodes around a use that the function is left there with it, in one of the turns.
func (g *gathered) leavesWith(around []ast.Node) bool {
	return g.lit == nil && !withinLit(around) && slices.ContainsFunc(around, func(n ast.Node) bool { _, ok := n.(*ast.ReturnStmt); return ok })
}

// tellsLength tells of the nodes around a list that a line of output says how many it has.
func tellsLength(d *derivations, around []ast.Node) bool {
	call, ok := around[len(around)-1].(*ast.CallExpr)
	return ok && isNamed(call.Fun, "len") && inLine(d, around[:len(around)-1])
}

// linesByName are methods that write a line for people.
var linesByName = lazily(`^(Print|Printf|Println|Log|Logf|Info|Infof|Infow|Debug|Debugf|Debugw|Warn|Warnf|Warnw)$`)

// inLine tells of some nodes that one is a call that writes a line for people: to the log, or to the terminal.
func inLine(d *derivations, around []ast.Node) bool {
	return slices.ContainsFunc(around, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return false
		}
		name, pkg := calledName(call), d.t.fromPackage(call.Fun)
		switch fn := d.t.callee(call); {
		case pkg == "fmt" && len(call.Args) > 0 && (name == "Fprint" || name == "Fprintf" || name == "Fprintln"):
			to := types.ExprString(call.Args[0])
			return to == "os.Stdout" || to == "os.Stderr"
		case pkg != "":
			return (pkg == "fmt" || pkg == "log" || pkg == "log/slog") && linesByName.MatchString(name)
		case fn != nil && d.t.decls[fn] != nil:
			return false
		}
		_, method := call.Fun.(*ast.SelectorExpr)
		return method && linesByName.MatchString(name)
	})
}

// makesEmpty tells of a variable that it has a struct which the function makes, with nothing in a field.
func makesEmpty(d *derivations, decl *ast.FuncDecl, v, field types.Object, depth int) bool {
	if v == nil || !isLocal(decl, v) || depth > gatheredDepth {
		return false
	}
	found := isResult(decl, v)
	if isGiven(decl, v) && !found {
		return false
	}
	for _, def := range d.definitions(decl)[v] {
		switch {
		case def.part || def.unknown: // what is done by its address is seen as a use
		case def.ranged || !emptyIn(d, v, def.x, field, depth):
			return false
		default:
			found = true
		}
	}
	return found
}

// emptyIn tells of an expression that it makes a struct with nothing in a field.
func emptyIn(d *derivations, v types.Object, x ast.Expr, field types.Object, depth int) bool {
	switch x := x.(type) {
	case nil:
		return true
	case *ast.Ident:
		return x.Name == "nil"
	case *ast.UnaryExpr:
		_, lit := x.X.(*ast.CompositeLit)
		return lit && x.Op == token.AND && emptyIn(d, v, x.X, field, depth)
	case *ast.CompositeLit:
		return !slices.ContainsFunc(x.Elts, func(e ast.Expr) bool {
			kv, ok := e.(*ast.KeyValueExpr)
			return !ok || isNamed(kv.Key, field.Name()) && !isEmptyList(kv.Value)
		})
	case *ast.CallExpr:
		if isNamed(x.Fun, "new") {
			return true
		}
		fn := d.t.callee(x)
		if fn == nil || d.t.decls[fn] == nil {
			return false
		}
		return returnsEmpty(d, d.t.decls[fn], v, field, depth+1)
	}
	return false
}

// returnsEmpty tells of a function that the results which are of a variable's type have nothing in a field.
func returnsEmpty(d *derivations, decl *ast.FuncDecl, v, field types.Object, depth int) bool {
	empty, found := true, false
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		ret, ok := n.(*ast.ReturnStmt)
		if !ok || withinLit(around) {
			return
		}
		for _, x := range ret.Results {
			if t := d.t.typeOf(x); t == nil || !types.Identical(t, v.Type()) {
				continue
			}
			found = true
			if own := d.variable(x); own != nil {
				empty = empty && makesEmpty(d, decl, own, field, depth) && !mentionsField(d, decl, field)
			} else {
				empty = empty && emptyIn(d, v, x, field, depth)
			}
		}
	})
	return empty && found
}

// mentionsField tells of a function that it, or one that it calls, uses a field.
func mentionsField(d *derivations, decl *ast.FuncDecl, field types.Object) (found bool) {
	all := map[*ast.FuncDecl]bool{decl: true}
	for other := range d.reached(decl, decl.Body) {
		all[other] = true
	}
	for decl := range all {
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			found = found || ok && d.field(sel) == field
			return !found
		})
	}
	return found
}

// setBefore tells of a field that the function gives it another value than an empty list.
func setBefore(d *derivations, g *gathered) (found bool) {
	ast.Inspect(g.decl.Body, func(n ast.Node) bool {
		for i, lhs := range placesSet(n) {
			if !g.place().is(d, lhs) {
				continue
			}
			a, ok := n.(*ast.AssignStmt)
			add, _ := gathersInto(d, n)
			found = found || add == nil && (!ok || len(a.Rhs) != len(a.Lhs) || !isEmptyList(a.Rhs[i]) || n.Pos() > g.whole.Pos())
		}
		return !found
	})
	return found
}

// lookedAtBefore tells of what has a list in a field that somebody else may have it, or look at the list, before a position.
func lookedAtBefore(d *derivations, decl *ast.FuncDecl, at listPlace, to token.Pos, but func(around []ast.Node) bool) (found bool) {
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || found || id.Pos() >= to || d.t.info.Uses[id] != at.v || but(around) {
			return
		}
		switch p := around[len(around)-1].(type) {
		case *ast.SelectorExpr:
			if d.field(p) != nil {
				return
			}
			call, ok := around[max(0, len(around)-2)].(*ast.CallExpr)
			fn := (*types.Func)(nil)
			if ok && call.Fun == ast.Expr(p) {
				fn = d.t.callee(call)
			}
			found = fn == nil || d.t.decls[fn] == nil || mentionsField(d, d.t.decls[fn], at.field)
		case *ast.BinaryExpr:
			found = p.Op != token.EQL && p.Op != token.NEQ
		case *ast.AssignStmt:
			found = !slices.Contains(p.Lhs, ast.Expr(id))
		default:
			found = true
		}
	})
	return found
}
