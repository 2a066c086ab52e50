package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Slices that the source shortens: beside the append, which bounds them, or elsewhere, which may
// keep up with what is added or not.

// shortening is where the source shortens a slice.
type shortening struct {
	at Evidence
	// bounds tells that it is done after each append, or when a length is reached, so that the slice
	// has a largest length.
	bounds bool
}

// shortened finds where the source shortens a slice that a store appends to; one that bounds it
// before others, then the first. What empties it [sourceHolders.emptied] finds.
func shortened(c *code, s keepsAt) (found shortening, ok bool) {
	if s.kind != intoSlice {
		return found, false
	}
	k := &keeper{c: c, funcs: c.functions()}
	var all []shortening
	for _, fns := range k.funcs {
		for _, fn := range fns {
			k.fn = fn.FuncDecl
			name := func(x ast.Expr) bool { return nameOf(k, x) == s.name }
			put := appendAt(c, fn, s)
			eachNode(fn.Body, func(n ast.Node, around []ast.Node) {
				a, is := n.(*ast.AssignStmt)
				if !is || a.Tok != token.ASSIGN || len(a.Lhs) != len(a.Rhs) {
					return
				}
				for i, lhs := range a.Lhs {
					few, cuts := cutsFrom(fn.Body, lhs, a.Rhs[i])
					if !cuts || !name(lhs) {
						continue
					}
					line := c.parse(fn.file).fset.PositionFor(a.Pos(), false).Line
					one := shortening{at: c.shownAt(fn.file, line, "%s is shortened here", types.ExprString(lhs))}
					one.bounds = put != nil && types.ExprString(lhs) == s.container && put.bounded(fn.Body, a, slices.Clone(around), few)
					all = append(all, one)
				}
			})
		}
	}
	if len(all) == 0 {
		return found, false
	}
	return slices.MinFunc(all, func(a, b shortening) int {
		if a.bounds != b.bounds {
			if a.bounds {
				return -1
			}
			return 1
		}
		return cmp.Or(strings.Compare(a.at.File, b.at.File), cmp.Compare(a.at.Line, b.at.Line))
	}), true
}

// lengthened is a statement that appends to a slice, with the nodes around it.
type lengthened struct {
	*ast.AssignStmt
	around []ast.Node
	text   string
	one    bool // it adds one element
}

// appendAt is the statement of a store, where a function has it.
func appendAt(c *code, fn declaration, s keepsAt) (put *lengthened) {
	if fn.file != s.file {
		return nil
	}
	eachNode(fn.Body, func(n ast.Node, around []ast.Node) {
		a, ok := n.(*ast.AssignStmt)
		if !ok || put != nil || len(a.Lhs) != 1 || c.parse(fn.file).fset.PositionFor(a.Lhs[0].Pos(), false).Line != s.line || types.ExprString(a.Lhs[0]) != s.container {
			return
		}
		if call, ok := a.Rhs[0].(*ast.CallExpr); ok && isNamed(call.Fun, "append") {
			put = &lengthened{a, slices.Clone(around), s.container, len(call.Args) == 2 && !call.Ellipsis.IsValid()}
		}
	})
	return put
}

// bounded tells of a statement in the function of the append, with the nodes around it, that it
// runs whenever the append does, but for conditions on the length. One that takes a few out does
// so for each one that is added, or again and again.
func (p *lengthened) bounded(body *ast.BlockStmt, cut ast.Stmt, around []ast.Node, few bool) bool {
	same := 0
	for same < len(around) && same < len(p.around) && around[same] == p.around[same] {
		same++
	}
	if same == 0 {
		return cut == ast.Stmt(p.AssignStmt) || p.onLength(body, around)
	}
	own, loops := around[same:], slices.ContainsFunc(around[same:], func(n ast.Node) bool { _, is := n.(*ast.ForStmt); return is })
	if few && !loops && (!p.one || repeats(p.around[same:])) {
		return false
	}
	if branch, is := around[same-1].(*ast.IfStmt); is { // they are in different arms of it
		own = append([]ast.Node{branch}, own...)
	}
	if cut == ast.Stmt(p.AssignStmt) {
		own = nil
	}
	return p.onLength(body, own) && !p.leaves(body, cut)
}

// onLength tells of the nodes around a statement that all conditions of it are on the length of the
// slice.
func (p *lengthened) onLength(body *ast.BlockStmt, around []ast.Node) bool {
	for _, n := range around {
		switch n := n.(type) {
		case *ast.IfStmt:
			if !p.asks(body, n.Cond) {
				return false
			}
		case *ast.ForStmt:
			if n.Cond == nil || !p.asks(body, n.Cond) {
				return false
			}
		case *ast.BlockStmt:
		default:
			return false
		}
	}
	return true
}

// asks tells of a condition that it compares the length of the slice, or what is computed of that,
// and nothing else.
func (p *lengthened) asks(body *ast.BlockStmt, cond ast.Expr) bool {
	x, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok || !slices.Contains([]token.Token{token.GTR, token.GEQ, token.LSS, token.LEQ, token.EQL, token.NEQ}, x.Op) {
		return false
	}
	if asksLength(x, p.text) {
		return true
	}
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		assigned(n, func(lhs, rhs ast.Expr) {
			id, is := lhs.(*ast.Ident)
			found = found || is && mentions(x, id.Name) && asksLength(rhs, p.text)
		})
		return !found
	})
	return found
}

// asksLength tells whether an expression has the length of a slice in it.
func asksLength(x ast.Expr, text string) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && isNamed(call.Fun, "len") && len(call.Args) == 1 && types.ExprString(call.Args[0]) == text
		return !found
	})
	return found
}

// leaves tells whether the function may return between the append and a statement after it, but for
// a condition on the length.
func (p *lengthened) leaves(body *ast.BlockStmt, cut ast.Stmt) (found bool) {
	eachNode(body, func(n ast.Node, around []ast.Node) {
		if n.Pos() < p.End() || n.Pos() >= cut.Pos() || withinLit(around) {
			return
		}
		switch n.(type) {
		case *ast.ReturnStmt, *ast.BranchStmt:
			i := len(around) - 1
			for i >= 0 && around[i].Pos() >= p.End() {
				i--
			}
			found = found || !p.onLength(body, around[i+1:])
		}
	})
	return found
}

// cutsFrom tells of what is assigned to a slice that it is a part of that which lacks something of
// its beginning or its end, by itself or as a copy; few tells that it is so many as a number says.
func cutsFrom(body *ast.BlockStmt, slice, x ast.Expr) (few, cuts bool) {
	text := types.ExprString(slice)
	switch x := x.(type) {
	case *ast.SliceExpr:
		return lacks(x, text)
	case *ast.CallExpr:
		name := types.ExprString(x.Fun)
		switch {
		case len(x.Args) == 0:
		case (name == "slices.Delete" || name == "slices.DeleteFunc") && types.ExprString(x.Args[0]) == text:
			return true, true
		case name == "append" || strings.HasSuffix(name, ".Clone"):
			for i, arg := range x.Args {
				part, ok := arg.(*ast.SliceExpr)
				last := i == len(x.Args)-1
				if !ok || i == 0 && name == "append" && part.Low == nil || i > 0 && !(last && x.Ellipsis.IsValid()) || name == "append" && types.ExprString(x.Args[0]) == text {
					continue
				}
				if few, cuts = lacks(part, text); cuts {
					return few, true
				}
			}
		}
	case *ast.Ident: // a copy that was made before
		ast.Inspect(body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if isNamed(n.Fun, "copy") && len(n.Args) == 2 && isNamed(n.Args[0], x.Name) {
					if part, ok := n.Args[1].(*ast.SliceExpr); ok {
						_, one := lacks(part, text)
						cuts = cuts || one
					}
				}
			default:
				assigned(n, func(lhs, rhs ast.Expr) {
					if _, again := rhs.(*ast.Ident); !cuts && !again && isNamed(lhs, x.Name) && x.Name != text {
						few, cuts = cutsFrom(body, slice, rhs)
					}
				})
			}
			return !cuts
		})
	}
	return few, cuts
}

// lacks tells of a part of a slice that it lacks something of its beginning, or of its end.
func lacks(x *ast.SliceExpr, text string) (few, is bool) {
	if types.ExprString(x.X) != text || isEmpty(x) {
		return false, false
	}
	if x.Low != nil {
		n, known := numberOf(x.Low)
		return known, !known || n > 0
	}
	switch end := x.High.(type) {
	case *ast.BasicLit, *ast.Ident, *ast.SelectorExpr:
		return false, true
	case *ast.BinaryExpr:
		return true, end.Op == token.SUB && asksLength(end, text)
	}
	return false, false
}

// tellShortened says of a store that its slice is shortened.
func tellShortened(h *holding, s keepsAt, cut shortening) {
	h.shows = append(h.shows, cut.at)
	at := fmt.Sprintf("%s:%d", baseName(cut.at.File), cut.at.Line)
	if cut.bounds {
		h.bounds = cut.at
		h.advice = fmt.Sprintf("It is appended to %s, which the source shortens at %s: it fills up to there and no further. If that is too much memory, keep fewer, or less of each. If it never stops growing, there are more and more of %s: look for what keeps these.", s.container, at, s.name)
		return
	}
	h.lets = cut.at
	h.advice = fmt.Sprintf("It is appended to %s, which the source shortens at %s: check whether that keeps up with what is added. If not, bound it, write it out in parts, or keep only the most recent elements in a ring buffer.", s.container, at)
}
