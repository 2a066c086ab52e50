package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"math"
	"slices"

	"loupe/value/stack"
	"loupe/value/unit"
)

// A slice that is made anew each time it is full, larger by the same amount, and into which all that it had is copied: n
// elements are copied n²/2k times in all.

// stepGrowth is such a slice, by the source of the line that makes it.
type stepGrowth struct {
	of     string // "q.elements"
	copies []int  // the lines that copy what it had
	adds   bool   // by the source, the new length is the old one and an amount
}

// stepGrowthAt finds one on a line: the function makes a slice with a length, copies another one into it, and then sets
// that one to it.
func stepGrowthAt(c *code, at stack.Frame) (g stepGrowth, ok bool) {
	s, fn := c.parse(at.File), c.function(at)
	if s == nil || fn == nil {
		return g, false
	}
	name, size := "", ast.Expr(nil)
	s.onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		assigned(n, func(lhs, rhs ast.Expr) {
			if call, is := ast.Unparen(rhs).(*ast.CallExpr); is && isNamed(call.Fun, "make") && len(call.Args) > 1 && isIdent(lhs) {
				name, size = types.ExprString(lhs), call.Args[len(call.Args)-1]
			}
		})
	})
	if name == "" {
		return g, false
	}
	copied := map[string][]int{}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is || len(call.Args) != 2 || rootName(call.Args[0]) != name {
			return true
		}
		if isNamed(call.Fun, "copy") || isNamed(call.Fun, "append") && call.Ellipsis.IsValid() {
			if p, ok := spotOf(uncut(call.Args[1])); ok {
				line, _ := s.lines(call)
				copied[p.text()] = append(copied[p.text()], line)
			}
		}
		return true
	})
	eachAssigned(fn.Body, func(lhs, rhs ast.Expr) {
		lines := copied[types.ExprString(lhs)]
		if len(lines) == 0 || rootName(rhs) != name || types.ExprString(lhs) == name || !ofLength(fn, size, types.ExprString(lhs)) {
			return
		}
		g, ok = stepGrowth{of: types.ExprString(lhs), copies: lines, adds: addsTo(size, types.ExprString(lhs))}, true
	})
	return g, ok
}

// ofLength tells of a length that it is made of that of a slice, here or where its variable is set.
func ofLength(fn *ast.FuncDecl, size ast.Expr, of string) bool {
	mentions := func(x ast.Expr) bool {
		return hasCall(x, func(call *ast.CallExpr) bool {
			text := types.ExprString(call)
			return text == "len("+of+")" || text == "cap("+of+")"
		})
	}
	found := mentions(size)
	eachAssigned(fn.Body, func(lhs, rhs ast.Expr) {
		found = found || isIdent(lhs) && isNamed(size, types.ExprString(lhs)) && mentions(rhs)
	})
	return found
}

// addsTo tells of a length that it is that of a slice and a constant, or a field, more.
func addsTo(size ast.Expr, of string) bool {
	sum, ok := ast.Unparen(size).(*ast.BinaryExpr)
	if !ok || sum.Op != token.ADD {
		return false
	}
	isLength := func(x ast.Expr) bool {
		text := types.ExprString(x)
		return text == "len("+of+")" || text == "cap("+of+")"
	}
	plain := func(x ast.Expr) bool {
		switch x := ast.Unparen(x).(type) {
		case *ast.BasicLit, *ast.Ident:
			return true
		case *ast.SelectorExpr:
			return isIdent(x.X)
		}
		return false
	}
	return isLength(sum.X) && plain(sum.Y) || isLength(sum.Y) && plain(sum.X)
}

// evenSteps is of how many sizes a slice has to be seen, at least, and how much larger the last is than the first, before
// its steps are called even. Chosen: growth by a quarter passes half as many sizes between these.
const (
	evenSteps  = 12
	evenGrowth = 4
)

// stepOfSizes is the step between the sizes of a line, where they grow evenly: by the same amount at the end as at the
// beginning. Growth by a factor has larger and larger steps.
func stepOfSizes(sizes []int64) (step float64, ok bool) {
	if len(sizes) < evenSteps || sizes[len(sizes)-1] < evenGrowth*sizes[0] {
		return 0, false
	}
	var steps []float64
	for i := range sizes[1:] {
		steps = append(steps, float64(sizes[i+1]-sizes[i]))
	}
	middle := func(of []float64) float64 {
		of = slices.Sorted(slices.Values(of))
		return of[len(of)/2]
	}
	low, high := middle(steps[:len(steps)/2]), middle(steps[len(steps)/2:])
	return middle(steps), high < 2*low && math.Abs(high-low) < 1.0*max(low, high)
}

// keptBeside is where the sources keep a slice of a name elsewhere, or return it: as a value, and not for its elements.
func keptBeside(c *code, at stack.Frame, name string) (where codeLine, found bool) {
	fn := c.function(at)
	made := ""
	if fn != nil {
		eachAssigned(fn.Body, func(lhs, rhs ast.Expr) {
			if lastName(types.ExprString(lhs)) == name && isIdent(rhs) {
				made = types.ExprString(rhs)
			}
		})
	}
	c.eachSource(func(file string, s *syntax) {
		is := func(x ast.Expr, inside bool) bool {
			_, selected := ast.Unparen(x).(*ast.SelectorExpr)
			return selected && lastName(types.ExprString(x)) == name || inside && made != "" && isNamed(x, made)
		}
		note := func(n ast.Node) {
			if !found {
				line, _ := s.lines(n)
				where, found = codeLine{file: file, line: line}, true
			}
		}
		for _, decl := range s.file.Decls {
			inside := fn != nil && decl == ast.Decl(fn)
			ast.Inspect(decl, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for i, rhs := range n.Rhs {
						if is(rhs, inside) && i < len(n.Lhs) && lastName(types.ExprString(n.Lhs[i])) != name && !isNamed(n.Lhs[i], "_") && !isIdent(n.Lhs[i]) {
							note(n)
						}
					}
				case *ast.CallExpr:
					if isNamed(n.Fun, "append") && !n.Ellipsis.IsValid() && len(n.Args) > 1 && slices.ContainsFunc(n.Args[1:], func(x ast.Expr) bool { return is(x, inside) }) {
						note(n)
					}
				case *ast.ReturnStmt:
					if slices.ContainsFunc(n.Results, func(x ast.Expr) bool { return is(x, inside) }) {
						note(n)
					}
				case *ast.SendStmt:
					if is(n.Value, inside) {
						note(n)
					}
				}
				return !found
			})
		}
	})
	return where, found
}

// tellSteps says of a line that makes a slice larger by the same amount each time what that costs; it is false where the line
// does not.
func tellSteps(in *Input, r *reasons, g *reasonLine, f *Finding) bool {
	grown, ok := stepGrowthAt(in.code, g.at)
	if !ok {
		return false
	}
	sizes := slices.Sorted(maps.Keys(r.objectSizes(g)))
	step, even := stepOfSizes(sizes)
	if !even && (!grown.adds || len(sizes) < lengthsOfGrowing) {
		return false
	}
	f.Title = "Quadratic: a slice grows by the same amount each time"
	by := "by a fixed amount"
	if even {
		by = "by about " + unit.BytesOf(step)
	}
	f.Summary += fmt.Sprintf("; when %s is full, it is made anew, larger %s, and all of it is copied: the work grows with the square of its length", grown.of, by)
	f.Advice = "Grow by a factor: twice as long, or by a quarter once it is large; or let append do that. Then adding n elements copies a few times n, and not n times n. If its final length is known, make it that long at once."
	f.Verify = "Record again under the same load: the sizes at this line should be few, and the bytes it allocates fall."
	f.saves, f.grows = true, true
	for _, line := range grown.copies {
		f.costs = append(f.costs, cost{file: g.at.File, line: line})
		f.Evidence = append(f.Evidence, in.code.shownAt(g.at.File, line, "all of it is copied here"))
	}
	if at, kept := keptBeside(in.code, g.at, lastName(grown.of)); kept {
		f.Severity, f.saves = Info, false
		f.Evidence = append(f.Evidence, in.code.shownAt(at.file, at.line, "the slice is kept elsewhere, or handed out, here"))
		f.Advice = fmt.Sprintf("Others keep %s as it was (%s): each of them needs its own copy, and append into the same memory would change what they have. Keep fewer of them, or add several elements in one step. Where nobody keeps it, grow by a factor.", grown.of, at.text())
	}
	f.Doubts = append(f.Doubts, fmt.Sprintf("if others go on reading the old %s while it grows (copy on write), it has to be copied: collect several changes in one", lastName(grown.of)))
	return true
}
