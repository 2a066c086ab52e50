package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Arrays that are made as large as what a function is given, while its result, which keeps
// them, may be much shorter.

// inputSized is a buffer that a line makes or grows to a size of its input.
type inputSized struct {
	name, how, size string // "sb", "sb.Grow", "len(sql)"
	text            bool   // its result is a string
}

// bySized: a result is built in an array of the size of the input, and keeps all of it. The
// loop that builds it leaves something out, else it would be about as long.
func (c sourceHolders) bySized(own []stack.Frame) (h holding, ok bool) {
	fn, s := c.function(own[0]), c.parse(own[0].File)
	if fn == nil {
		return h, false
	}
	b, ok := sizedAt(s, fn, own[0].Line)
	if !ok || !leavesOut(fn.Body, b.name) {
		return h, false
	}
	line, index, result := b.returned(s, fn)
	if line == 0 {
		return h, false
	}
	clone := "slices.Clone"
	if b.text {
		clone = "strings.Clone"
	}
	at := fmt.Sprintf("%s:%d", baseName(own[0].File), line)
	h.says = fmt.Sprintf("according to the source, these are arrays that %s makes as large as %s, and %s, returned at %s, keeps all of its array however short it is", b.how, b.size, result, at)
	h.shows = []Evidence{c.shownAt(own[0].File, line, "what is returned here keeps the whole array")}
	how := fmt.Sprintf("opy the result before it is kept, which frees the large array: %s(%s) at %s. Or do not reserve %s for it: let the buffer grow with what is written. A bound on how many are kept would not change what each of them takes.", clone, result, at, b.size)
	h.surely = "C" + how
	h.advice = fmt.Sprintf("If the results are usually much shorter than %s, c%s", b.size, how)
	h.doubt = fmt.Sprintf("the recording does not show how long the results are: if they are about as long as %s, little of the arrays is wasted", b.size)
	h.wastes, h.result = mayWaste, index
	return h, true
}

// sizedAt finds on a line a local builder, buffer or slice that is made as large as something
// else is.
func sizedAt(s *syntax, fn *ast.FuncDecl, line int) (b inputSized, ok bool) {
	s.onLine(line, func(n ast.Node, _ []ast.Node) {
		if first, _ := s.lines(n); first != line {
			return
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			f, sel := n.Fun.(*ast.SelectorExpr)
			if !sel || f.Sel.Name != "Grow" || len(n.Args) != 1 || !hasLength(n.Args[0]) {
				return
			}
			if of := declaredAs(fn, f.X); of == "strings.Builder" || of == "bytes.Buffer" {
				b, ok = inputSized{types.ExprString(f.X), types.ExprString(f), types.ExprString(n.Args[0]), true}, true
				b.text = of == "strings.Builder"
			}
		case *ast.AssignStmt:
			if len(n.Lhs) != 1 || len(n.Rhs) != 1 || n.Tok != token.DEFINE {
				return
			}
			call, is := n.Rhs[0].(*ast.CallExpr)
			if !is || !isNamed(call.Fun, "make") || len(call.Args) != 3 || !hasLength(call.Args[2]) {
				return
			}
			if n, zero := numberOf(call.Args[1]); !zero || n != 0 {
				return
			}
			if id, is := n.Lhs[0].(*ast.Ident); is {
				b, ok = inputSized{id.Name, "make", types.ExprString(call.Args[2]), false}, true
			}
		}
	})
	return b, ok
}

// hasLength tells of a size that it is a length of something, or a multiple of one.
func hasLength(x ast.Expr) bool {
	return hasCall(x, func(call *ast.CallExpr) bool {
		return isNamed(call.Fun, "len") || calledName(call) == "Len"
	})
}

// declaredAs is the type with which a function declares a variable of its own; empty where it
// does not.
func declaredAs(fn *ast.FuncDecl, x ast.Expr) (of string) {
	id, ok := x.(*ast.Ident)
	if !ok {
		return ""
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			if n.Type != nil && slices.ContainsFunc(n.Names, func(v *ast.Ident) bool { return v.Name == id.Name }) {
				of = types.ExprString(n.Type)
			}
		case *ast.AssignStmt:
			for i := range min(len(n.Lhs), len(n.Rhs)) {
				lit, ok := unrefer(n.Rhs[i]).(*ast.CompositeLit)
				if ok && n.Tok == token.DEFINE && isNamed(n.Lhs[i], id.Name) && lit.Type != nil {
					of = types.ExprString(lit.Type)
				}
			}
		}
		return true
	})
	return of
}

// returned is where a function returns the result of a buffer, as it is, the number of that result,
// and what it is: line 0 where it does not.
func (b inputSized) returned(s *syntax, fn *ast.FuncDecl) (line, index int, result string) {
	inside(fn.Body, func(n ast.Node) {
		r, ok := n.(*ast.ReturnStmt)
		if !ok {
			return
		}
		for i, x := range r.Results {
			text := types.ExprString(x)
			cut := strings.HasPrefix(text, b.name+"[")
			if text == b.name+".String()" && b.text || text == b.name+".Bytes()" && !b.text || text == b.name || cut {
				line, index, result = s.fset.PositionFor(r.Pos(), false).Line, i, text
			}
		}
	})
	return line, index, result
}

// leavesOut tells whether a loop that writes to a buffer has turns that write nothing.
func leavesOut(body *ast.BlockStmt, name string) (found bool) {
	inside(body, func(n ast.Node) {
		var turn *ast.BlockStmt
		switch n := n.(type) {
		case *ast.ForStmt:
			turn = n.Body
		case *ast.RangeStmt:
			turn = n.Body
		}
		if turn != nil && writesTo(turn, name) && !alwaysWrites(turn.List, name) {
			found = true
		}
	})
	return found
}

// writesTo tells whether something is written to a buffer, or appended to it, within a node.
func writesTo(n ast.Node, name string) bool {
	return hasCall(n, func(call *ast.CallExpr) bool {
		if f, ok := call.Fun.(*ast.SelectorExpr); ok && isNamed(f.X, name) {
			return strings.HasPrefix(f.Sel.Name, "Write") || strings.HasPrefix(f.Sel.Name, "Read")
		}
		return slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return isNamed(unrefer(a), name) }) && !isNamed(call.Fun, "len") && !isNamed(call.Fun, "cap")
	})
}

// alwaysWrites tells whether no way through statements leads past writing to a buffer.
func alwaysWrites(list []ast.Stmt, name string) bool {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.BranchStmt:
			return s.Tok != token.CONTINUE
		case *ast.ReturnStmt:
			return true // there is no further turn
		case *ast.IfStmt:
			then := alwaysWrites(s.Body.List, name)
			if !then && nextTurn(s.Body) {
				return false
			}
			switch e := s.Else.(type) {
			case *ast.BlockStmt:
				if then && alwaysWrites(e.List, name) {
					return true
				}
			case *ast.IfStmt:
				if then && alwaysWrites([]ast.Stmt{e}, name) {
					return true
				}
			}
		case *ast.SwitchStmt:
			all := hasDefaultClause(s.Body)
			for _, c := range s.Body.List {
				one := alwaysWrites(statements(c), name)
				if !one && slices.ContainsFunc(statements(c), nextTurn) {
					return false
				}
				all = all && one
			}
			if all {
				return true
			}
		default:
			if writesTo(s, name) {
				return true
			}
		}
	}
	return false
}

// nextTurn tells whether a statement goes on with the next turn of the loop around it.
func nextTurn(s ast.Stmt) (found bool) {
	eachBranch(s, func(b *ast.BranchStmt) { found = found || b.Tok == token.CONTINUE })
	return found
}
