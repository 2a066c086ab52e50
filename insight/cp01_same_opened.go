package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// Whether what a function opens is the same in each turn of a loop around its calls, by the source.

// sameInLoop tells of what is opened that all that it is given are fields which nothing changes after their value is made, of values
// that stay the same in the loop. way are the frames from the function outward to the loop.
func sameInLoop(c *code, d *derivations, x discarded, given []ast.Expr, way []stack.Frame) bool {
	return !slices.ContainsFunc(given, func(g ast.Expr) bool { return !staysAlong(c, d, x, g, way) })
}

// staysAlong follows one of these outward, from parameter to argument.
func staysAlong(c *code, d *derivations, of discarded, x ast.Expr, way []stack.Frame) bool {
	for i, f := range way {
		in, ok := d.at(f)
		if !ok || in.lit != nil || i == 0 && in.decl != of.decl {
			return false
		}
		root, ok := steadyField(d, x)
		if !ok {
			return false
		}
		v := d.variable(root)
		switch {
		case v == nil: // a constant, or the name of a package
			return true
		case ofPackage(v):
			return len(d.changesOfAny(v)) == 0
		case !isLocal(in.decl, v):
			return false
		case i == len(way)-1:
			return staysInLoop(c, d, of, in, v, f)
		}
		defs := d.definitions(in.decl)[v]
		if !isGiven(in.decl, v) {
			if len(defs) != 1 || defs[0].x == nil || defs[0].ranged || defs[0].part || defs[0].unknown || hasCall(defs[0].x, func(*ast.CallExpr) bool { return true }) {
				return false
			}
			if root, ok = steadyField(d, defs[0].x); !ok || !isGiven(in.decl, d.variable(root)) {
				return false
			}
			v = d.variable(root)
			defs = d.definitions(in.decl)[v]
		}
		if slices.ContainsFunc(defs, func(def definition) bool { return !def.part }) {
			return false
		}
		out, ok := d.at(way[i+1])
		if !ok || out.lit != nil {
			return false
		}
		calls := d.callsOn(out, way[i+1], in.decl.Name.Name)
		if len(calls) != 1 {
			return false
		}
		if x = argumentFor(d, in.decl, calls[0], v); x == nil {
			return false
		}
	}
	return false
}

// steadyField is the variable, or the value, at the beginning of a selection of fields. It is false of anything else, or where the
// sources change one of the fields other than in what makes a value.
func steadyField(d *derivations, x ast.Expr) (root ast.Expr, ok bool) {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.BasicLit:
			return e, true
		case *ast.Ident:
			return e, true
		case *ast.UnaryExpr:
			if e.Op != token.AND {
				return nil, false
			}
			x = e.X
		case *ast.SelectorExpr:
			field := d.field(e)
			if field == nil {
				if v, isVar := d.t.info.Uses[e.Sel].(*types.Var); isVar && ofPackage(v) {
					return e.Sel, true
				}
				return nil, false
			}
			if len(d.changesOfAny(field)) > 0 || setAsWhole(d, d.t.typeOf(e.X)) {
				return nil, false
			}
			x = e.X
		default:
			return nil, false
		}
	}
}

// setAsWhole tells of a struct that an element of a list or a map of the sources is set to another one, or decoded into: its fields
// with it.
func setAsWhole(d *derivations, t types.Type) (found bool) {
	if t == nil || sourceType(t) == nil {
		return true
	}
	of := sourceType(t)
	is := func(x ast.Expr) bool {
		t := d.t.typeOf(x)
		return t != nil && isValue(t) && sourceType(t) == of
	}
	for _, decl := range d.t.decls {
		found = found || hasAny(decl.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				return n.Tok == token.ASSIGN && slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return !isIdent(x) && is(x) })
			case *ast.UnaryExpr: // a pointer to a field, or to a variable that is given to a library
				sel, ok := ast.Unparen(n.X).(*ast.SelectorExpr)
				return n.Op == token.AND && ok && d.field(sel) != nil && is(sel.X)
			}
			return false
		})
	}
	return found
}

// staysInLoop tells of a variable of a function that it is the same in all turns of the innermost loop around a line, but for the one
// that reads up to the place.
func staysInLoop(c *code, d *derivations, of discarded, in frameCode, v types.Object, f stack.Frame) bool {
	_, from, _ := d.t.at(of.n.Pos())
	_, to, _ := d.t.at(of.n.End())
	loops := slices.DeleteFunc(loopsAround(c, f), func(l loop) bool {
		first, last := l.source.lines(l.stmt)
		return in.decl == of.decl && first >= from && last <= to
	})
	if len(loops) == 0 {
		return false
	}
	first, last := loops[len(loops)-1].source.lines(loops[len(loops)-1].stmt)
	within := func(at token.Pos) bool {
		_, line, _ := d.t.at(at)
		return first <= line && line <= last
	}
	return !within(v.Pos()) && !slices.ContainsFunc(d.definitions(in.decl)[v], func(def definition) bool {
		_, pointer := v.Type().Underlying().(*types.Pointer)
		return within(def.at) && !(def.part && pointer) || def.unknown
	})
}
