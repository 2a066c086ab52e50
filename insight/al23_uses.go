package insight

import (
	"go/ast"
	goconstant "go/constant"
	"go/token"
	"go/types"
	"slices"
)

// What a function does with the result of a call: with the call itself, or with the variable that is given it
// and nothing else.

// resultUses are the ways in which a slice is used.
type resultUses struct {
	ranged   int            // loops over all of it
	keyed    bool           // a loop names the positions
	counted  bool           // its length is used
	compared bool           // its length is compared with a constant
	at       map[int64]bool // elements at constant positions
	last     bool           // its last element
	joined   map[int64]bool // parts from a position on that are joined again
	rest     map[int64]bool // parts from a position on that are ranged over
	isNil    int            // comparisons with nil
	isEmpty  int            // comparisons of the length with 0
	all      int            // all uses
}

// only tells whether there are uses of some kinds, by their number, and no others.
func (u *resultUses) only(n int) bool { return u.all > 0 && u.all == n }

// usesOf are the uses of a call's result; nil where one of them is none that is known: it is stored, returned,
// handed on, or written to.
func (r *resultAt) usesOf() *resultUses {
	w := &useWalk{resultAt: r, uses: resultUses{at: map[int64]bool{}, joined: map[int64]bool{}, rest: map[int64]bool{}}}
	v := r.assignedVariable()
	if v == nil {
		w.use(r.call, r.around)
	} else {
		if defs := r.definitions(r.decl)[v]; len(defs) != 1 || defs[0].unknown || !isLocal(r.decl, v) || isGiven(r.decl, v) {
			return nil
		}
		eachNode(r.decl.Body, func(n ast.Node, around []ast.Node) {
			if id, ok := n.(*ast.Ident); ok && r.t.info.Uses[id] == v {
				w.use(id, around)
			}
		})
		w.of = v
	}
	if w.other || w.uses.all == 0 {
		return nil
	}
	return &w.uses
}

// assignedVariable is the variable that is given the call's result; nil where there is none.
func (r *resultAt) assignedVariable() (v types.Object) {
	assigned(parent(r.around), func(lhs, rhs ast.Expr) {
		if ast.Unparen(rhs) == ast.Expr(r.call) {
			v = r.variable(lhs)
		}
	})
	return v
}

// useWalk collects the uses.
type useWalk struct {
	*resultAt
	uses  resultUses
	of    types.Object
	other bool
}

// use looks at one place that names the slice.
func (w *useWalk) use(x ast.Expr, around []ast.Node) {
	u := &w.uses
	u.all++
	x, around = unwrapped(x, around)
	p, before := parent(around), around[:max(0, len(around)-1)]
	switch p := p.(type) {
	case *ast.RangeStmt:
		if p.X != x || w.isAgain(before) {
			w.other = true
			return
		}
		u.ranged++
		u.keyed = u.keyed || p.Key != nil && !isNamed(p.Key, "_")
		w.other = w.other || p.Tok == token.ASSIGN // into variables that live on
	case *ast.IndexExpr:
		w.index(p, x, before)
	case *ast.SliceExpr:
		w.part(p, x, before)
	case *ast.BinaryExpr:
		if other := theOther(p, x); (p.Op == token.EQL || p.Op == token.NEQ) && isNamed(other, "nil") {
			u.isNil++
			return
		}
		w.other = true
	case *ast.CallExpr:
		switch {
		case isNamed(p.Fun, "len"):
			w.length(p, x, before)
		case w.t.fromPackage(p.Fun) == "slices" && calledName(p) == "Contains" && p.Args[0] == x && !w.isAgain(before):
			u.ranged++
		default:
			w.other = true
		}
	default:
		w.other = true
	}
}

// isAgain tells of a place that it may be reached more often than the call: it is in a loop or in a function without
// a name that the call is not in. To go through the parts there would split the text each time.
func (w *useWalk) isAgain(around []ast.Node) bool {
	return slices.ContainsFunc(around, func(n ast.Node) bool {
		_, lit := n.(*ast.FuncLit)
		return (lit || isLoop(n)) && (w.call.Pos() < n.Pos() || w.call.End() > n.End())
	})
}

// unwrapped is an expression with the parentheses around it.
func unwrapped(x ast.Expr, around []ast.Node) (ast.Expr, []ast.Node) {
	for len(around) > 0 {
		p, ok := parent(around).(*ast.ParenExpr)
		if !ok {
			break
		}
		x, around = p, around[:len(around)-1]
	}
	return x, around
}

// theOther is the other operand.
func theOther(p *ast.BinaryExpr, x ast.Expr) ast.Expr {
	if p.X == x {
		return p.Y
	}
	return p.X
}

// constant is the value of a constant expression.
func (r *resultAt) constant(x ast.Expr) (n int64, ok bool) {
	tv, ok := r.t.info.Types[x]
	if !ok || tv.Value == nil || tv.Value.Kind() != goconstant.Int {
		return 0, false
	}
	return goconstant.Int64Val(tv.Value)
}

// text is the value of a constant string, or of a conversion of one.
func (r *resultAt) text(x ast.Expr) (s string, ok bool) {
	if call, is := ast.Unparen(x).(*ast.CallExpr); is && len(call.Args) == 1 && types.ExprString(call.Fun) == "[]byte" {
		x = call.Args[0]
	}
	tv, ok := r.t.info.Types[x]
	if !ok || tv.Value == nil || tv.Value.Kind() != goconstant.String {
		return "", false
	}
	return goconstant.StringVal(tv.Value), true
}

// index is an element that is read.
func (w *useWalk) index(p *ast.IndexExpr, x ast.Expr, around []ast.Node) {
	if p.X != x || w.isWritten(p, around) {
		w.other = true
		return
	}
	if n, ok := w.constant(p.Index); ok {
		w.uses.at[n] = true
		return
	}
	if b, ok := ast.Unparen(p.Index).(*ast.BinaryExpr); ok && b.Op == token.SUB && w.isLength(b.X, x) {
		if n, ok := w.constant(b.Y); ok && n == 1 {
			w.uses.last = true
			return
		}
	}
	id, ok := ast.Unparen(p.Index).(*ast.Ident)
	w.other = w.other || !ok || !slices.ContainsFunc(around, func(n ast.Node) bool { return w.counts(n, w.variable(id), x) })
}

// isWritten tells of an element that it is assigned to, or that its address is taken.
func (w *useWalk) isWritten(p ast.Expr, around []ast.Node) bool {
	_, above := unwrapped(p, around)
	switch n := parent(above).(type) {
	case *ast.AssignStmt:
		return slices.Contains(n.Lhs, p)
	case *ast.IncDecStmt:
		return true
	case *ast.UnaryExpr:
		return n.Op == token.AND
	case *ast.CallExpr: // what is appended to it would be written behind it
		return isNamed(n.Fun, "append") && n.Args[0] == p
	case *ast.RangeStmt:
		return n.Key == p || n.Value == p
	}
	return false
}

// isLength tells whether an expression is the length of the slice.
func (w *useWalk) isLength(e, x ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && isNamed(call.Fun, "len") && len(call.Args) == 1 && types.ExprString(call.Args[0]) == types.ExprString(x)
}

// counts tells of a loop that a variable of its own counts through the slice, one by one, and that its body
// leaves the variable alone.
func (w *useWalk) counts(n ast.Node, v types.Object, x ast.Expr) bool {
	var body *ast.BlockStmt
	switch n := n.(type) {
	case *ast.RangeStmt:
		if n.Key == nil || w.variable(n.Key) != v || n.Tok != token.DEFINE || types.ExprString(n.X) != types.ExprString(x) {
			return false
		}
		body = n.Body
	case *ast.ForStmt:
		if _, of := w.through(n, x); of != v {
			return false
		}
		body = n.Body
	default:
		return false
	}
	return v != nil && !w.assigns(body, v)
}

// through is, of a loop that counts to the length of the slice one by one, where it starts and the variable.
func (w *useWalk) through(n *ast.ForStmt, x ast.Expr) (from int64, of types.Object) {
	init, _ := n.Init.(*ast.AssignStmt)
	cond, _ := n.Cond.(*ast.BinaryExpr)
	post, _ := n.Post.(*ast.IncDecStmt)
	if init == nil || cond == nil || post == nil || init.Tok != token.DEFINE || len(init.Lhs) != 1 || len(init.Rhs) != 1 || post.Tok != token.INC || cond.Op != token.LSS || !w.isLength(cond.Y, x) {
		return 0, nil
	}
	v := w.variable(init.Lhs[0])
	from, ok := w.constant(init.Rhs[0])
	if !ok || v == nil || w.variable(cond.X) != v || w.variable(post.X) != v {
		return 0, nil
	}
	return from, v
}

// assigns tells whether a body sets a variable, or may have somebody else set it.
func (w *useWalk) assigns(body ast.Node, v types.Object) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return w.variable(e) == v })
		case *ast.IncDecStmt:
			found = found || w.variable(n.X) == v
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && w.variable(n.X) == v
		}
		return !found
	})
	return found
}

// part is what begins at a position and goes to the end.
func (w *useWalk) part(p *ast.SliceExpr, x ast.Expr, around []ast.Node) {
	from, ok := int64(0), p.X == x && p.High == nil && p.Low != nil
	if ok {
		from, ok = w.constant(p.Low)
	}
	switch n := parent(around).(type) {
	case *ast.RangeStmt:
		if ok && n.X == ast.Expr(p) && n.Tok != token.ASSIGN && !w.isAgain(around[:len(around)-1]) {
			w.uses.rest[from] = true
			w.uses.keyed = w.uses.keyed || n.Key != nil && !isNamed(n.Key, "_")
			return
		}
	case *ast.CallExpr:
		if ok && len(n.Args) == 2 && calledName(n) == "Join" && w.t.fromPackage(n.Fun) == w.pkg && len(w.call.Args) > 1 && types.ExprString(n.Args[1]) == types.ExprString(w.call.Args[1]) {
			w.uses.joined[from] = true
			return
		}
	}
	w.other = true
}

// length is a use of the length.
func (w *useWalk) length(p *ast.CallExpr, x ast.Expr, around []ast.Node) {
	_, around = unwrapped(p, around)
	b, ok := parent(around).(*ast.BinaryExpr)
	if !ok {
		w.uses.counted = true
		return
	}
	above := around[:len(around)-1]
	if loop, ok := parent(above).(*ast.ForStmt); ok && loop.Cond == ast.Expr(b) {
		from, v := w.through(loop, x)
		switch {
		case v == nil || w.assigns(loop.Body, v) || w.isAgain(above[:len(above)-1]):
			w.other = true
		case from == 0:
			w.uses.ranged++
			w.uses.keyed = true
		default:
			w.uses.rest[from] = true
			w.uses.keyed = true
		}
		return
	}
	n, isConstant := w.constant(theOther(b, p))
	if _, indexed := parent(above).(*ast.IndexExpr); indexed && b.Op == token.SUB && isConstant && n == 1 {
		return // it is the position of the last one
	}
	switch b.Op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		if isConstant {
			w.uses.compared = true
			if n == 0 && (b.Op == token.EQL || b.Op == token.NEQ || b.Op == token.GTR) {
				w.uses.isEmpty++
			}
			return
		}
	}
	w.uses.counted = true
}
