package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Batches that a loop sends: what it gathers from a part of a list, or until there is enough, and of how many they are.

// gatheredBatches are variables in which a loop gathers what it then sends at once: from a part of a list that it goes through, or
// until their length is enough.
func gatheredBatches(l loop) (names []string) {
	ast.Inspect(l.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			cut, ok := ast.Unparen(n.X).(*ast.SliceExpr)
			if !ok || !l.cuts(cut) {
				return true
			}
			ast.Inspect(n.Body, func(n ast.Node) bool {
				if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 && (hasIndex(a.Lhs[0]) || addsToList(a)) {
					names = append(names, rootName(a.Lhs[0]))
				}
				return true
			})
		case *ast.IfStmt:
			if name, _ := enoughOf(n.Cond); name != "" && givenIn(n.Body, name) && addedToList(l.body, name) {
				names = append(names, name)
			}
		}
		return true
	})
	return names
}

// addsToList tells of an assignment that it adds to a list.
func addsToList(a *ast.AssignStmt) bool {
	call, ok := a.Rhs[0].(*ast.CallExpr)
	return ok && isNamed(call.Fun, "append") && len(call.Args) > 1 && types.ExprString(call.Args[0]) == types.ExprString(a.Lhs[0])
}

// addedToList tells of a body that it adds to a list of a name.
func addedToList(body *ast.BlockStmt, name string) bool {
	return hasNode(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		return ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 && isNamed(a.Lhs[0], name) && addsToList(a)
	})
}

// enoughOf is the list of which a condition asks whether its length has reached a number, which is more than one as far as it is a literal.
func enoughOf(cond ast.Expr) (name string, size ast.Expr) {
	x, ok := cond.(*ast.BinaryExpr)
	if !ok || !slices.Contains([]token.Token{token.EQL, token.GEQ, token.GTR}, x.Op) {
		return "", nil
	}
	call, ok := x.X.(*ast.CallExpr)
	if !ok || !isNamed(call.Fun, "len") || len(call.Args) != 1 || !isIdent(call.Args[0]) {
		return "", nil
	}
	if n, known := numberOf(x.Y); known && n <= 1 {
		return "", nil
	}
	return types.ExprString(call.Args[0]), x.Y
}

// batchSize is how many there are in a batch of a loop at most, where the source has one number for it; else 0.
func batchSize(c *code, l loop) int {
	found := map[int]bool{}
	note := func(x ast.Expr) {
		if n := constantNumber(c, x, 0); n > 1 {
			found[n] = true
		}
	}
	if r, ok := l.stmt.(*ast.RangeStmt); ok {
		if call, ok := r.X.(*ast.CallExpr); ok && types.ExprString(call.Fun) == "slices.Chunk" && len(call.Args) == 2 {
			note(call.Args[1])
		}
	}
	ast.Inspect(l.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SliceExpr:
			if l.cuts(n) {
				boundOf(l, n.High, n.Low, note, 0)
			}
		case *ast.IfStmt:
			if _, size := enoughOf(n.Cond); size != nil {
				note(size)
			}
		}
		return true
	})
	if len(found) != 1 {
		return 0
	}
	for n := range found {
		return n
	}
	return 0
}

// boundOf notes the numbers that the end of a part of a list is limited by: those of a min, and what is added to its beginning.
func boundOf(l loop, x, low ast.Expr, note func(ast.Expr), depth int) {
	switch x := ast.Unparen(x).(type) {
	case *ast.CallExpr:
		if isNamed(x.Fun, "min") {
			for _, a := range x.Args {
				boundOf(l, a, low, note, depth)
			}
		}
	case *ast.BinaryExpr:
		if low != nil && x.Op == token.ADD && types.ExprString(x.X) == types.ExprString(low) {
			note(x.Y)
		}
	case *ast.BasicLit:
		if low == nil {
			note(x)
		}
	case *ast.Ident:
		set := false
		if depth == 0 {
			ast.Inspect(l.body, func(n ast.Node) bool {
				if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 && isNamed(a.Lhs[0], x.Name) {
					set = true
					boundOf(l, a.Rhs[0], low, note, 1)
				}
				return true
			})
		}
		if !set && low == nil {
			note(x) // a constant
		}
	}
}

// tellBatches makes a finding about many calls of a loop say that each carries a batch, of so many where that is known, and how each
// changes something, where it does.
func tellBatches(size int, how string, f *Finding) {
	f.Title, f.Severity = "Batches are asked for one after another", Info
	what := "each call carries a batch already"
	if how != "" {
		f.Title, what = "Batches are sent one after another", "the loop sends batches already"
	}
	if size > 0 {
		what += fmt.Sprintf(", of %d at most", size)
	}
	f.Advice = "By the source, " + what + ": larger ones need fewer calls, as far as the peer takes them; where the batches do not depend on each other, make several calls concurrently, with a limit (errgroup with SetLimit)."
	if how != "" {
		f.Doubts = append(f.Doubts, fmt.Sprintf("each batch may change something at the peer (%s), and depend on the one before: then they have to come in this order", how))
	}
}
