package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// A function that asks itself for the same parts again and again, because it keeps none of its results.

// overlapped is such a function: the calls of itself, of which two can come to the same arguments.
type overlapped struct {
	calls int
	line  int
}

// recursesOver tells of the function of a frame that it calls itself more than once, for arguments that another of the
// calls comes to as well, that it computes its result from what it is given alone, and that it keeps none. It says
// nothing of walks through a tree, whose calls go to different children, and of halves that are disjoint.
func recursesOver(d *derivations, at stack.Frame) (o overlapped, ok bool) {
	in, found := d.at(at)
	if !found || in.lit != nil || in.decl.Type.Results == nil {
		return o, false
	}
	f := d.value(in.decl)
	if f == nil || len(f.reads) > 0 || f.locks {
		return o, false
	}
	self := d.t.info.Defs[in.decl.Name]
	var calls []*ast.CallExpr
	eachNode(in.decl.Body, func(n ast.Node, around []ast.Node) {
		call, is := n.(*ast.CallExpr)
		if is && d.t.callee(call) != nil && types.Object(d.t.callee(call)) == self && !slices.ContainsFunc(around, isLoop) {
			calls = append(calls, call)
		}
	})
	for i, a := range calls {
		for _, b := range calls[i+1:] {
			if exclusive(in.decl.Body, a, b) || settlesOther(d, in.decl.Body, a, b) || !meet(d, in.decl, a, b) {
				continue
			}
			if _, written := resultWritten(d, in.decl, callsTo(d, in.decl)); written {
				return o, false // each call has to give another one
			}
			_, line, _ := d.t.at(a.Pos())
			return overlapped{calls: len(calls), line: line}, true
		}
	}
	return o, false
}

// exclusive tells of two calls that one of them alone is made: they are in different branches, or the first is in a
// branch that leaves the function.
func exclusive(body ast.Node, a, b *ast.CallExpr) bool {
	one, two := nodesAround(body, a), nodesAround(body, b)
	for i := range min(len(one), len(two)) {
		if one[i] == two[i] {
			if s, ok := one[i].(*ast.ReturnStmt); ok && s != nil {
				return false // both are in what it returns
			}
			continue
		}
		switch parent := one[max(0, i-1)].(type) {
		case *ast.IfStmt:
			return one[i] == ast.Node(parent.Body) && two[i] == parent.Else || two[i] == ast.Node(parent.Body) && one[i] == parent.Else
		case *ast.BlockStmt:
			_, isCase := one[i].(*ast.CaseClause)
			leaves := slices.ContainsFunc(one[i:], func(n ast.Node) bool { _, ok := n.(*ast.ReturnStmt); return ok })
			return isCase || leaves && one[i].Pos() < two[i].Pos()
		}
		return false
	}
	return false
}

// settlesOther tells of two calls that the result of the first decides whether the second is made: it may be the only one
// then, and the number of calls grows no faster than the depth. An error that ends it all does not count, one after which
// the other way is tried does.
func settlesOther(d *derivations, body ast.Node, a, b *ast.CallExpr) bool {
	from := map[types.Object]bool{}
	ofFirst := func(x ast.Node) (found bool) {
		ast.Inspect(x, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			found = found || n == ast.Node(a) || ok && from[d.variable(id)]
			return !found
		})
		return found
	}
	for range 3 {
		ast.Inspect(body, func(n ast.Node) bool {
			if s, ok := n.(*ast.AssignStmt); ok {
				for i, lhs := range s.Lhs {
					if v := d.variable(ast.Unparen(lhs)); v != nil && ofFirst(s.Rhs[min(i, len(s.Rhs)-1)]) {
						from[v] = true
					}
				}
			}
			return true
		})
	}
	by := func(x ast.Expr) bool { return x != nil && !within(x, b) && ofFirst(x) }
	nodes := nodesAround(body, b)
	for i, n := range nodes[:max(0, len(nodes)-1)] {
		next := nodes[i+1]
		switch n := n.(type) {
		case *ast.FuncLit:
			return true // it may be called or not
		case *ast.BinaryExpr:
			if (n.Op == token.LAND || n.Op == token.LOR) && next == ast.Node(n.Y) && ofFirst(n.X) {
				return true
			}
		case *ast.IfStmt:
			if next == ast.Node(n.Body) && by(n.Cond) && !asksError(n.Cond, token.EQL) || next == n.Else && by(n.Cond) && !asksError(n.Cond, token.NEQ) {
				return true
			}
		case *ast.SwitchStmt:
			if next == ast.Node(n.Body) && by(n.Tag) {
				return true
			}
		case *ast.CaseClause:
			if slices.ContainsFunc(n.List, by) {
				return true
			}
		}
		for _, before := range statements(n) {
			if before == next {
				break
			}
			if leavesBy(before, func(x ast.Expr) bool { return by(x) && !asksError(x, token.NEQ) }) {
				return true
			}
		}
	}
	return false
}

// asksError tells of a condition that it compares an error with nil in one way, and asks for nothing else.
func asksError(cond ast.Expr, op token.Token) bool {
	x, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	return ok && x.Op == op && isNamed(x.Y, "nil") && isError(lastName(types.ExprString(x.X)))
}

// leavesBy tells of a statement that it may leave the function by a condition.
func leavesBy(s ast.Stmt, by func(ast.Expr) bool) (found bool) {
	eachNode(s, func(n ast.Node, around []ast.Node) {
		switch n.(type) {
		case *ast.ReturnStmt, *ast.BranchStmt:
		default:
			return
		}
		for _, a := range around {
			switch a := a.(type) {
			case *ast.IfStmt:
				found = found || by(a.Cond)
			case *ast.SwitchStmt:
				found = found || by(a.Tag)
			case *ast.CaseClause:
				found = found || slices.ContainsFunc(a.List, by)
			}
		}
	})
	return found
}

// meet tells of two calls of a function by itself that both go on to the same arguments: each argument is the parameter
// of its place as it is, or made smaller by a constant or by its first or last element, and they differ in how.
func meet(d *derivations, decl *ast.FuncDecl, a, b *ast.CallExpr) bool {
	var params []types.Object
	for _, field := range decl.Type.Params.List {
		for _, id := range field.Names {
			params = append(params, d.variable(id))
		}
	}
	if len(a.Args) != len(params) || len(b.Args) != len(params) || a.Ellipsis.IsValid() {
		return false
	}
	steps, differ := 0, false
	for i, p := range params {
		x, knownX := stepOf(d, p, a.Args[i])
		y, knownY := stepOf(d, p, b.Args[i])
		if !knownX || !knownY {
			if types.ExprString(a.Args[i]) == types.ExprString(b.Args[i]) && !derivedMentions(d, a.Args[i], p) {
				continue // the same for both
			}
			return false
		}
		if x != "" || y != "" {
			steps++
		}
		differ = differ || x != y
	}
	// With one parameter the steps are of different lengths, as n-1 and n-2; the same step twice is the same call.
	return steps > 0 && (differ || steps == len(params))
}

// stepOf is by what an argument is another one than the parameter of its place: nothing, "-1", "[1:]".
func stepOf(d *derivations, p types.Object, x ast.Expr) (step string, known bool) {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return "", p != nil && d.variable(x) == p
	case *ast.BinaryExpr:
		if n, ok := numberOf(x.Y); ok && n > 0 && (x.Op == token.SUB || x.Op == token.ADD) && p != nil && d.variable(ast.Unparen(x.X)) == p {
			return x.Op.String() + types.ExprString(x.Y), true
		}
	case *ast.SliceExpr:
		if p == nil || d.variable(ast.Unparen(x.X)) != p || x.Slice3 {
			return "", false
		}
		if n, ok := lowOf(x); ok && x.High == nil && n > 0 {
			return "[" + types.ExprString(x.Low) + ":]", true
		}
		if b, ok := x.High.(*ast.BinaryExpr); ok && x.Low == nil && b.Op == token.SUB && types.ExprString(b.X) == "len("+types.ExprString(x.X)+")" {
			return "[:" + types.ExprString(b.Y) + "]", true
		}
	}
	return "", false
}

// lowOf is the constant where a part begins.
func lowOf(x *ast.SliceExpr) (int64, bool) {
	if x.Low == nil {
		return 0, false
	}
	return numberOf(x.Low)
}
