package insight

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// How much is needed of what is kept. That a short result may lie in a large array the source
// tells; that it does so, only what the recording has seen of its length.

// waste is what is known of memory that is kept and not needed.
type waste int

const (
	noWaste    waste = iota
	mayWaste         // a part keeps the whole, which may be hardly more
	wastesMuch       // the part is at most half of it, by its length
)

// What makes an observed length that of the results: there are so many copies of them for each
// array, and the array is so many times as large. Chosen: the counts are estimates.
const (
	leastCopies = 1.0 / 3
	leastRatio  = 2
)

// largeObject is from where on it is told how large the objects are that a part of unknown length keeps. Chosen.
const largeObject = 4 << 10

// copyAt is a line that makes a copy of a whole result, by a function or by itself.
type copyAt struct {
	at stack.Frame
	by string
}

// tellNeeded tells of what keeps more than it may need how much that is, where the recording or
// the source has it.
func tellNeeded(in *Input, own []stack.Frame, h *holding) {
	all, err := facts.RetentionIn(in.Facts)
	if h.wastes == noWaste || all == nil || err != nil {
		return
	}
	size := meanSize(all.Most.SizesAt(own[0]))
	if size == 0 {
		return
	}
	if h.part > 0 {
		if leastRatio*h.part > size {
			return
		}
		h.wastes, h.doubt = wastesMuch, ""
		h.says += fmt.Sprintf(": %s of %s", unit.BytesOf(float64(h.part)), unit.BytesOf(float64(size)))
		return
	}
	if size >= largeObject && h.result == 0 {
		h.says += fmt.Sprintf(" (the objects of the line take %s on average)", unit.BytesOf(float64(size)))
	}
	arrays, _ := all.Most.MadeAt(own[0], func(string) bool { return true })
	for _, c := range copiesOf(in.code, own, h.result) {
		n, largest := all.Most.MadeAt(c.at, func(called string) bool {
			return called == c.by || c.by != "" && strings.HasPrefix(called, c.by+"[")
		})
		if float64(n) < max(1, leastCopies*float64(arrays)) {
			continue
		}
		at := fmt.Sprintf("%s:%d", baseName(c.at.File), c.at.Line)
		if leastRatio*largest > size {
			h.doubt = fmt.Sprintf("the largest copy of a result that was sampled at %s takes %s, the arrays %s on average: if most are like that, little of the arrays is wasted", at, unit.BytesOf(float64(largest)), unit.BytesOf(float64(size)))
			continue
		}
		h.wastes, h.doubt, h.advice = wastesMuch, "", h.surely
		h.says += fmt.Sprintf(" (the largest copy of a result that was sampled at %s takes %s, the arrays %s on average)", at, unit.BytesOf(float64(largest)), unit.BytesOf(float64(size)))
		h.shows = append(h.shows, in.code.shownAt(c.at.File, c.at.Line, "the result is copied here: the largest copy that was sampled takes %s", unit.BytesOf(float64(largest))))
		return
	}
}

// meanSize is the size of an object, by how much there is of each.
func meanSize(sizes map[int64]int64) int64 {
	var bytes, objects float64
	for size, w := range sizes {
		bytes += float64(w)
		objects += float64(w) / float64(size)
	}
	if objects == 0 {
		return 0
	}
	return int64(bytes / objects)
}

// copiesOf are the lines that copy the whole of a result of a function each time that it is
// called, in its caller or in what that passes it to. The frames are those of the function and
// of its caller.
func copiesOf(c *code, own []stack.Frame, result int) (all []copyAt) {
	if len(own) < 2 {
		return nil
	}
	callee, fn, s := c.function(own[0]), c.function(own[1]), c.parse(own[1].File)
	if callee == nil || fn == nil || s == nil {
		return nil
	}
	for _, st := range fn.Body.List {
		a, ok := st.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 || result >= len(a.Lhs) || !s.covers(a, own[1].Line) {
			continue
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		id, named := a.Lhs[result].(*ast.Ident)
		if ok && named && calledName(call) == callee.Name.Name {
			all = copiesIn(c, declaration{fn, own[1].File}, id.Name, st, 2)
		}
	}
	return all
}

// copiesIn are the statements of a function that copy the whole of a variable each time, after a
// statement of it, and those of the functions that these pass it to.
func copiesIn(c *code, fn declaration, name string, after ast.Stmt, deep int) (all []copyAt) {
	if setsAgain(fn.Body, name, after) {
		return nil
	}
	seen := after == nil
	for _, st := range fn.Body.List {
		if st == after {
			seen = true
			continue
		}
		switch st.(type) {
		case *ast.ExprStmt, *ast.AssignStmt, *ast.DeclStmt, *ast.ReturnStmt:
		default:
			continue // it may not be run
		}
		if !seen {
			continue
		}
		inside(st, func(n ast.Node) {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return
			}
			at := stack.Frame{File: fn.file, Line: c.parse(fn.file).fset.PositionFor(call.Pos(), false).Line}
			if by, ok := copiesWhole(st, call, name); ok {
				all = append(all, copyAt{at, by})
			}
			k := &keeper{c: c, funcs: c.functions(), fn: fn.FuncDecl, file: fn.file}
			for i, arg := range call.Args {
				if !isNamed(arg, name) || deep == 0 {
					continue
				}
				for _, d := range k.fitting(call, anyArgument) {
					if p := parameters(d.Type); i < len(p) && d.FuncDecl != fn.FuncDecl {
						all = append(all, copiesIn(c, d, p[i], nil, deep-1)...)
					}
				}
			}
		})
	}
	return all
}

// setsAgain tells whether a function gives a variable another value than a statement does.
func setsAgain(body *ast.BlockStmt, name string, besides ast.Stmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && ast.Stmt(a) != besides {
			found = found || slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool { return isNamed(x, name) })
		}
		return !found
	})
	return found
}

// copiesWhole tells of a call that it copies the whole of a variable, and by which function.
func copiesWhole(in ast.Stmt, call *ast.CallExpr, name string) (by string, ok bool) {
	text := types.ExprString(call.Fun)
	switch text {
	case "strings.Clone", "bytes.Clone", "slices.Clone":
		return text, len(call.Args) == 1 && isNamed(call.Args[0], name)
	case "io.WriteString":
		return text, len(call.Args) == 2 && isNamed(call.Args[1], name)
	}
	// The only thing that its line can allocate by itself: x := []byte(name).
	a, alone := in.(*ast.AssignStmt)
	return "", (text == "[]byte" || text == "string") && len(call.Args) == 1 && isNamed(call.Args[0], name) && alone && len(a.Rhs) == 1 && a.Rhs[0] == call
}

// constantPart is the length of a part whose ends are numbers, or constants of the sources: 16 of
// text[at : at+16]; 0 where they are not.
func constantPart(c *code, expr string) int64 {
	x, err := parser.ParseExpr(expr)
	s, ok := x.(*ast.SliceExpr)
	if err != nil || !ok || s.High == nil || s.Slice3 {
		return 0
	}
	number := func(x ast.Expr) (n int64, known bool) {
		if n, known = numberOf(x); known {
			return n, true
		}
		n = constant(c, x)
		return n, n != 0
	}
	high, known := number(s.High)
	if s.Low == nil {
		return high
	}
	if low, ok := number(s.Low); ok && known {
		return max(0, high-low)
	}
	if sum, ok := s.High.(*ast.BinaryExpr); ok && sum.Op == token.ADD && types.ExprString(sum.X) == types.ExprString(s.Low) {
		n, _ := number(sum.Y)
		return n
	}
	return 0
}
