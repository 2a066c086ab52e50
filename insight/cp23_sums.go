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

// tellSumsCompared says of hashing that a function makes two sums only to compare them.
func tellSumsCompared(h *hit, f *Finding) {
	v, frames, at := stackOf(h, h.lines[0])
	for i := at; at >= 0 && i < len(frames); i++ {
		if v.origins[frames[i]] != stack.User || i == 0 {
			continue
		}
		line, ok := sumsCompared(h.in.code, v.t.Frame(frames[i]), ownName(v.t.Frame(frames[i-1]).Func))
		if !ok {
			continue
		}
		first := "Unequal lengths tell without a sum, and bytes.Equal ends at the first difference"
		if slices.ContainsFunc(frames[:i], func(x stack.FrameID) bool { return strings.HasPrefix(v.t.Frame(x).Func, "os.(*File).") }) {
			first = "Unequal sizes (os.Stat) tell without reading, and comparing the contents piece by piece ends at the first difference"
		}
		name := stack.Short(v.t.Frame(frames[i]).Func)
		f.Advice = fmt.Sprintf("By the source, %s makes two sums only to compare them (%s:%d). %s; hash only what has to be known by its sum alone, and keep the sum of what does not change. ", name,
			baseName(line.File), line.Line, first) + f.Advice
		f.Evidence = append(f.Evidence, h.in.code.shownAt(line.File, line.Line, "the sums are compared here, and used for nothing else"))
		return
	}
}

// sumsCompared finds, in the function of a frame, that the results of two calls of one name, one of which is on the line,
// are compared with each other and used for nothing else.
func sumsCompared(c *code, at stack.Frame, callee string) (line stack.Frame, ok bool) {
	fn, s := c.scopeAt(at), c.parse(at.File)
	if fn == nil || s == nil {
		return line, false
	}
	var names []string
	here := false
	ast.Inspect(fn.body, func(n ast.Node) bool {
		set, isSet := n.(*ast.AssignStmt)
		if !isSet || len(set.Rhs) != 1 {
			return true
		}
		call, isCall := set.Rhs[0].(*ast.CallExpr)
		if id, plain := set.Lhs[0].(*ast.Ident); isCall && plain && id.Name != "_" && calledName(call) == callee && set.Tok == token.DEFINE {
			names = append(names, id.Name)
			here = here || s.covers(set, at.Line)
		}
		return true
	})
	if !here || len(names) != 2 || names[0] == names[1] {
		return line, false
	}
	compares := map[*ast.Ident]bool{}
	pair := func(n ast.Node, x, y ast.Expr) {
		a, isA := wholeSum(x).(*ast.Ident)
		b, isB := wholeSum(y).(*ast.Ident)
		if isA && isB && a.Name != b.Name && slices.Contains(names, a.Name) && slices.Contains(names, b.Name) {
			compares[a], compares[b] = true, true
			line.File = at.File
			line.Line, _ = s.lines(n)
		}
	}
	other := false
	ast.Inspect(fn.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, left := range n.Lhs {
					if id, isName := left.(*ast.Ident); isName {
						compares[id] = true // it is made here
					}
				}
			}
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				pair(n, n.X, n.Y)
			}
		case *ast.CallExpr:
			if name := types.ExprString(n.Fun); len(n.Args) == 2 && (name == "bytes.Equal" || name == "bytes.Compare" || name == "strings.EqualFold" || name == "hmac.Equal" || name == "slices.Equal") {
				pair(n, n.Args[0], n.Args[1])
			}
		case *ast.Ident:
			other = other || slices.Contains(names, n.Name) && !compares[n]
		}
		return true
	})
	return line, line.Line > 0 && !other
}

// wholeSum is a variable without what makes a slice of all of it.
func wholeSum(x ast.Expr) ast.Expr {
	if cut, ok := ast.Unparen(x).(*ast.SliceExpr); ok && cut.Low == nil && cut.High == nil {
		return cut.X
	}
	return ast.Unparen(x)
}
