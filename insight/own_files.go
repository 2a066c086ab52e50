package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Whether each turn of the loops around a call that makes a file makes a file of its own: its path is put together of what the turns of
// each loop go through one after another. An element that is picked in some other way, by a computed index or a key, may come again.

// eachOwnFile tells of the call of a library on the first line of a way that, by the source, its path is another one each time.
func eachOwnFile(c *code, way []stack.Frame, inner string) bool {
	d := derivationsOf(c)
	if len(way) == 0 {
		return false
	}
	in, ok := d.at(way[0])
	if !ok {
		return false
	}
	calls := d.callsOn(in, way[0], ownName(inner))
	if len(calls) != 1 || len(calls[0].Args) == 0 {
		return false
	}
	of, looped := []ast.Expr{calls[0].Args[0]}, false
	for i, f := range way {
		if in, ok = d.at(f); !ok {
			return false
		}
		o := itemPath{d: d, decl: in.decl, vars: map[types.Object]bool{}}
		for _, x := range of {
			o.add(x)
		}
		for _, l := range loopsAroundLine(d, in.body(), f.Line) {
			if !o.goesBy(l) {
				return false
			}
			looped = true
		}
		if in.lit != nil {
			return looped || o.visits(in.lit)
		}
		if of = nil; i+1 == len(way) {
			break
		}
		out, ok := d.at(way[i+1])
		if !ok {
			return false
		}
		for _, call := range d.callsOn(out, way[i+1], in.decl.Name.Name) {
			for v := range o.vars {
				if x := argumentFor(d, in.decl, call, v); isGiven(in.decl, v) && x != nil {
					of = append(of, x)
				}
			}
		}
	}
	return looped
}

// itemPath has the variables of a function that a path is put together of.
type itemPath struct {
	d    *derivations
	decl *ast.FuncDecl
	vars map[types.Object]bool
	next bool // one of them is what a cursor gives, or a channel
}

// add adds those of an expression, and what they are made of.
func (o *itemPath) add(x ast.Expr) {
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			return n.Op == token.ADD
		case *ast.IndexExpr: // one that is picked, but for the one of the turn
			if id, ok := ast.Unparen(n.Index).(*ast.Ident); ok {
				o.add(id)
			}
			return false
		case *ast.FuncLit:
			return false
		case *ast.UnaryExpr:
			o.next = o.next || n.Op == token.ARROW
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
				o.next = o.next || strings.HasPrefix(sel.Sel.Name, "Next")
			}
		case *ast.Ident:
			v := o.d.variable(n)
			if v == nil || o.vars[v] || ofPackage(v) {
				return true
			}
			o.vars[v] = true
			for _, def := range o.d.definitions(o.decl)[v] {
				if def.x != nil && !def.part {
					o.add(def.x)
				}
			}
		}
		return true
	})
}

// goesBy tells of a loop that the path has what its turns go through.
func (o *itemPath) goesBy(l ast.Stmt) bool {
	has := func(x ast.Expr) bool {
		if x == nil {
			return false
		}
		return o.vars[o.d.variable(ast.Unparen(x))]
	}
	switch s := l.(type) {
	case *ast.RangeStmt:
		return has(s.Key) || has(s.Value)
	case *ast.ForStmt:
		if step, ok := s.Post.(*ast.IncDecStmt); ok && has(step.X) {
			return true
		}
		return o.next
	}
	return false
}

// visits tells of a function without a name that it is called for each file of a tree, and that the path has what it is given.
func (o *itemPath) visits(lit *ast.FuncLit) (found bool) {
	ast.Inspect(o.decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && slices.Contains(call.Args, ast.Expr(lit)) && slices.Contains(treeWalkers, o.d.t.fromPackage(call.Fun)+"."+ownCallName(call)) {
			for _, field := range lit.Type.Params.List {
				found = found || slices.ContainsFunc(field.Names, func(id *ast.Ident) bool { return o.vars[o.d.variable(id)] })
			}
		}
		return true
	})
	return found
}
