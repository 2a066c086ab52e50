package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// What is known only when a list is complete, beside its items: their number, sums, and what the turns find besides.

// toldNumber is a place that asks for such a thing.
type toldNumber struct {
	decl *ast.FuncDecl
	at   ast.Node
	v    types.Object // the variable that has it from there on; nil where it is used at once
	line bool         // a line of output tells it there
	// before is how many passes come before it.
	before int
}

// asks notes that the source asks there for what is known only at the end.
func (f *gatheredUse) asks(decl *ast.FuncDecl, at ast.Expr, around []ast.Node) {
	x := toldNumber{decl: decl, at: at, line: inLine(f.d, around), before: len(f.g.passes)}
	if a, ok := around[len(around)-1].(*ast.AssignStmt); ok {
		if i := slices.Index(a.Rhs, at); i >= 0 && len(a.Rhs) == len(a.Lhs) {
			x.v = f.d.variable(a.Lhs[i])
		}
	}
	f.told = append(f.told, x)
}

// numbers looks at what was asked for before all items are handled: a line of output may tell it in the end as well.
func (f *gatheredUse) numbers() {
	for _, x := range f.told {
		end, handled := f.ends[x.decl]
		switch {
		case x.before == len(f.g.passes) && (!handled || x.at.Pos() >= end):
		case x.line:
			f.tells(x.at)
		case x.v == nil || !isLocal(x.decl, x.v) || !f.onlyTold(x.decl, x.v, x.at.End()):
			f.speaks(x.at, "its length is asked for before all have been handled")
		}
	}
}

// tells notes the first line of output that says something of all items before they are handled.
func (f *gatheredUse) tells(n ast.Node) {
	if f.g.tells == nil {
		f.g.tells = n
	}
}

// onlyTold tells of a variable that, behind a position, it is used for lines of output alone until the items are handled.
func (f *gatheredUse) onlyTold(decl *ast.FuncDecl, v types.Object, from token.Pos) bool {
	end, handled := f.ends[decl]
	only := true
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || id.Pos() < from || f.d.t.info.Uses[id] != v || handled && id.Pos() >= end {
			return
		}
		if only = only && inLine(f.d, around) && (!handled || id.Pos() < f.begins[decl] || !covers(f.g.last().loop, id)); only {
			f.tells(id)
		}
	})
	return only
}

// counting are calls that say something of a text, and change nothing.
var counting = lazily(`^(len|max|min|string|int|int64|float64|utf8\.RuneCount(InString)?|strings\.(HasPrefix|HasSuffix|Contains|EqualFold))$`)

// countsOrAdds tells of a loop that it does nothing but to count, or to add up.
func countsOrAdds(d *derivations, p passThrough) bool {
	only, counts := true, false
	ast.Inspect(p.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			only = only && counting.MatchString(types.ExprString(n.Fun))
		case *ast.IncDecStmt:
			only, counts = only && d.variable(n.X) != nil, true
		case *ast.AssignStmt:
			only = only && len(n.Lhs) == 1 && d.variable(n.Lhs[0]) != nil && n.Tok == token.ADD_ASSIGN && onlyNumber(d, n.Lhs[0])
			counts = true
		case *ast.BranchStmt:
			only = only && n.Tok == token.CONTINUE
		case *ast.ReturnStmt, *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt, *ast.FuncLit, *ast.CompositeLit:
			only = false
		}
		return only
	})
	return only && counts
}

// toldOf tells of a loop that counts that a line of output, and nothing else before the items are handled, has what it finds.
func (f *gatheredUse) toldOf(p *passThrough) bool {
	only, found := true, false
	ast.Inspect(p.body, func(n ast.Node) bool {
		for _, x := range placesSet(n) {
			v := f.d.variable(x)
			only = only && isLocal(p.decl, v) && f.onlyTold(p.decl, v, p.loop.End())
			found = true
		}
		return only
	})
	return only && found && f.g.tells != nil
}

// setsBeside are the fields beside the list that the turns set; where that puts items into one, it says so.
func (f *gatheredUse) setsBeside() {
	f.beside = map[types.Object]bool{}
	if f.g.field == nil {
		return
	}
	ast.Inspect(f.g.whole, func(n ast.Node) bool {
		for _, lhs := range placesSet(n) {
			field, index := f.g.besideOf(f.d, lhs)
			if field == nil {
				continue
			}
			f.beside[field] = true
			if a, ok := n.(*ast.AssignStmt); ok && index && !onlyNumber(f.d, a.Rhs[len(a.Rhs)-1]) {
				f.speaks(n, "the turns put something into "+types.ExprString(lhs)+" as well")
			}
		}
		return true
	})
}

// besideOf is the field beside the list that an expression is, or a part of; index tells that it is a part by a key or a number.
func (g *gathered) besideOf(d *derivations, x ast.Expr) (field types.Object, index bool) {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.SelectorExpr:
			if d.variable(e.X) == g.of {
				if field := d.field(e); field != g.field {
					return field, index
				}
				return nil, false
			}
			x = e.X
		case *ast.IndexExpr:
			x, index = e.X, true
		case *ast.StarExpr:
			x = e.X
		default:
			return nil, false
		}
	}
}

// setByTurns tells of an expression that it is a variable with a number, which the turns set.
func (g *gathered) setByTurns(d *derivations, x ast.Expr) (found bool) {
	v := d.variable(x)
	if v == nil || !onlyNumber(d, x) {
		return false
	}
	ast.Inspect(g.whole, func(n ast.Node) bool {
		found = found || slices.ContainsFunc(placesSet(n), func(lhs ast.Expr) bool { return d.variable(lhs) == v })
		return !found
	})
	return found
}

// carriesIn notes the fields of a struct that numbers which the turns set go into, beside the list.
func (f *gatheredUse) carriesIn(lit *ast.CompositeLit) {
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok || !f.g.setByTurns(f.d, kv.Value) {
			continue
		}
		id, _ := kv.Key.(*ast.Ident)
		if field, ok := f.d.t.info.Uses[id].(*types.Var); ok {
			f.beside[field.Origin()] = true
			f.carries = append(f.carries, kv)
		}
	}
}

// carriesBy notes the variables of a caller that are given such numbers, which a function returns beside the list.
func (f *gatheredUse) carriesBy(ret *ast.ReturnStmt, i int, caller *ast.FuncDecl, a *ast.AssignStmt) {
	for j, x := range ret.Results {
		if j == i || j >= len(a.Lhs) || !f.g.setByTurns(f.d, x) {
			continue
		}
		f.carries = append(f.carries, x)
		if v := f.d.variable(a.Lhs[j]); v != nil {
			f.told = append(f.told, toldNumber{decl: caller, at: a, v: v, before: len(f.g.passes)})
		}
	}
}
