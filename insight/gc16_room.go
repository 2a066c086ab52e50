package insight

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// A part of a buffer that is stored may be the beginning of what is appended to it later: then the room of the buffer is what it
// is there for, and a copy of the part would lose that.

// A partSpot is where the sources put a value: a variable or a field, or, so many indexes down, what is in it.
type partSpot struct {
	of   types.Object
	deep int
}

// partSpotOf is the spot of an expression; its of is nil where the types do not tell it.
func partSpotOf(t *typed, e ast.Expr) (s partSpot) {
	for x := ast.Unparen(e); ; s.deep++ {
		i, ok := x.(*ast.IndexExpr)
		if !ok {
			break
		}
		x = ast.Unparen(i.X)
	}
	s.of = t.place(e)
	return s
}

// spotsOfPart are where the sources store a part: at the line that cuts it, and, of a variable, an argument or a receiver, from there on.
func spotsOfPart(t *typed, file string, line int, expr string) (all []partSpot) {
	add := func(s partSpot) {
		if s.of != nil && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	// goesTo is where a value goes that is within the innermost of some nodes.
	goesTo := func(value ast.Expr, around []ast.Node) {
		switch p := around[len(around)-1].(type) {
		case *ast.KeyValueExpr:
			if key, ok := p.Key.(*ast.Ident); ok && p.Value == value {
				if field, ok := t.info.Uses[key].(*types.Var); ok && field.IsField() {
					add(partSpot{field.Origin(), 0})
				}
			}
		case *ast.CompositeLit:
			if st, ok := deref(t.typeOf(p)).(*types.Struct); ok {
				if i := slices.Index(p.Elts, value); i >= 0 && i < st.NumFields() {
					add(partSpot{st.Field(i).Origin(), 0})
				}
			}
		case *ast.AssignStmt:
			if i := slices.Index(p.Rhs, value); i >= 0 && len(p.Lhs) == len(p.Rhs) {
				add(partSpotOf(t, p.Lhs[i]))
			}
		case *ast.CallExpr:
			i := slices.Index(p.Args, value)
			if i < 0 {
				return
			}
			if isNamed(p.Fun, "append") && i > 0 {
				s := partSpotOf(t, p.Args[0])
				s.deep++
				add(s)
			} else if fn := t.callee(p); fn != nil && t.decls[fn] != nil && i < fn.Signature().Params().Len() {
				add(partSpot{fn.Signature().Params().At(i), 0})
			}
		}
	}
	for _, f := range t.files {
		if f.name != file {
			continue
		}
		eachNode(f.file, func(n ast.Node, around []ast.Node) {
			e, ok := n.(ast.Expr)
			if _, at, _ := t.at(n.Pos()); ok && at == line && len(around) > 0 && types.ExprString(e) == expr {
				goesTo(e, around)
			}
		})
	}
	for i := 0; i < len(all) && i < maxSpots; i++ { // what has it goes on
		from := all[i]
		for _, f := range t.files {
			eachNode(f.file, func(n ast.Node, around []ast.Node) {
				if e, ok := n.(ast.Expr); ok && len(around) > 0 && isPlace(e) && partSpotOf(t, e) == from {
					goesTo(e, around)
				}
				if loop, ok := n.(*ast.RangeStmt); ok && loop.Value != nil {
					if s := partSpotOf(t, loop.X); s.of == from.of && s.deep+1 == from.deep {
						add(partSpotOf(t, loop.Value))
					}
				}
			})
		}
	}
	return all
}

// maxSpots bounds how many places a part is followed to; chosen.
const maxSpots = 8

// isPlace tells of an expression that it is a variable, a field, or what is in one by an index.
func isPlace(e ast.Expr) bool {
	switch e.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
		return true
	}
	return false
}

// growsInPlace finds where the sources append to a part of a buffer that is stored, or take more of its room; false where they do not.
func growsInPlace(c *code, s keepsAt) (at Evidence, ok bool) {
	x, err := parser.ParseExpr(s.expr)
	cut, is := x.(*ast.SliceExpr)
	if err != nil || !is || cut.Slice3 {
		return at, false
	}
	t := typedOf(c)
	spots := spotsOfPart(t, s.cutFile, s.cutLine, s.expr)
	if len(spots) == 0 {
		return at, false
	}
	for _, f := range t.files {
		ast.Inspect(f.file, func(n ast.Node) bool {
			var of ast.Expr
			switch n := n.(type) {
			case *ast.CallExpr: // append, strconv.AppendInt, fmt.Appendf
				if name := calledName(n); len(n.Args) > 1 && (name == "append" || strings.HasPrefix(name, "Append")) {
					of = n.Args[0]
				}
			case *ast.SliceExpr:
				if n.High != nil && anyCall(n.High, func(called string) bool { return called == "cap" }) {
					of = n.X
				}
			}
			if of == nil || ok {
				return !ok
			}
			if cut, is := ast.Unparen(of).(*ast.SliceExpr); is { // append(x.data[:0], …)
				of = cut.X
			}
			if isPlace(ast.Unparen(of)) && slices.Contains(spots, partSpotOf(t, of)) {
				file, line, _ := t.at(n.Pos())
				at, ok = c.shownAt(file, line, "it grows here, within the room that the part has"), true
			}
			return !ok
		})
	}
	return at, ok
}

// storedPart is the part of what a line allocates that alone keeps it, by the source.
func storedPart(c *code, own []stack.Frame) (s keepsAt, ok bool) {
	all := sourceHolders{c}.storesOf(own)
	for _, s := range all {
		if s.part && !slices.ContainsFunc(all, s.withWhole) {
			return s, true
		}
	}
	return s, false
}

// tellGrowsInPlace says of a part that keeps a whole buffer, and that the source appends to, what a copy of it would lose.
func tellGrowsInPlace(in *Input, at stack.Frame, frames []stack.Frame, f *Finding) {
	if f.wastes == noWaste {
		return
	}
	own := userFrames(in.code, at, frames)
	s, ok := storedPart(in.code, own)
	if !ok {
		return
	}
	grows, ok := growsInPlace(in.code, s)
	if !ok {
		return
	}
	f.wastes, f.ends = noWaste, false
	f.Summary += fmt.Sprintf("; the part has the room of all of it, which the source uses at %s:%d", baseName(grows.File), grows.Line)
	if !shows(f, evidenceLine(grows)) {
		f.Evidence = append(f.Evidence, grows)
	}
	f.Doubts = slices.DeleteFunc(f.Doubts, func(d string) bool { return d == nearlyAllOfIt })
	f.Advice = fmt.Sprintf("Check how full such a buffer gets. If most fill up, the memory is needed: bound %s, or release an entry sooner. If most stay short, make them as long as most need: append makes a longer one for the others. "+
		"A copy of the part (bytes.Clone, slices.Clone) helps only once nothing is appended to it any more: before that it loses the room, and append allocates again.", s.container)
}
