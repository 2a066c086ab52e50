package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// What loops gather in a list before all of it is encoded by one call and written, by the source: the list may be a field of a
// struct, and filled by way of other lists.

// encodedWhole is such a list.
type encodedWhole struct {
	d    *derivations
	decl *ast.FuncDecl
	call *ast.CallExpr // encodes it
	// of is the variable that has the list, adds is the first statement that appends to it, and whole has all turns.
	of    types.Object
	adds  *ast.AssignStmt
	whole ast.Node
	// written is the end of what writes it.
	written token.Pos
	// feeds are the variables that go into it, and itself.
	feeds map[types.Object]bool
}

// encodedWholes are the lists of a function that are encoded as a whole, and that nothing in the function needs as a whole before.
func encodedWholes(d *derivations, decl *ast.FuncDecl) (all []*encodedWhole) {
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || withinLit(around) || slices.ContainsFunc(around, isDeferOrGo) {
			return
		}
		x := &encodedWhole{d: d, decl: decl, call: call, written: call.End(), feeds: map[types.Object]bool{}}
		value, to := x.encodes()
		if value == nil || to != nil && !x.streams(to) || to == nil && !x.writtenOnly(around) {
			return
		}
		x.take(value)
		x.spread()
		if x.gathers(); x.of != nil && !loopsSince(around, x.of.Pos()) && !x.needed() && !x.overwrites() {
			all = append(all, x)
		}
	})
	return all
}

// encodes is what the call encodes, and what it writes that to; to is nil where it returns it.
func (x *encodedWhole) encodes() (value, to ast.Expr) {
	sel, ok := x.call.Fun.(*ast.SelectorExpr)
	if !ok || len(x.call.Args) == 0 || x.d.t.decls[x.d.t.callee(x.call)] != nil {
		return nil, nil
	}
	switch name := sel.Sel.Name; {
	case (name == "Marshal" || name == "MarshalIndent") && x.d.t.fromPackage(sel) != "":
		return x.call.Args[0], nil
	case (name == "Encode" || name == "WriteAll") && len(x.call.Args) == 1:
		from, ok := sel.X.(*ast.CallExpr)
		if v := x.d.variable(sel.X); v != nil {
			if defs := x.d.definitions(x.decl)[v]; len(defs) == 1 {
				from, ok = defs[0].x.(*ast.CallExpr)
			}
		}
		if ok && len(from.Args) > 0 {
			return x.call.Args[0], from.Args[0]
		}
	}
	return nil, nil
}

// buffersByName are calls and types whose values keep what is written to them.
var buffersByName = lazily(`(bytes|strings)\.|Buffer|Recorder|Hash|sha|hmac`)

// streams tells of what is written to that it is something outside of the function, as far as the source shows.
func (x *encodedWhole) streams(to ast.Expr) bool {
	to = ast.Unparen(unrefer(to))
	if call, ok := to.(*ast.CallExpr); ok {
		return !buffersByName.MatchString(types.ExprString(call.Fun)) && (len(call.Args) == 0 || x.streams(call.Args[0]))
	}
	v := x.d.variable(to)
	if v == nil || !isLocal(x.decl, v) || isGiven(x.decl, v) {
		return !buffersByName.MatchString(types.ExprString(to))
	}
	defs := x.d.definitions(x.decl)[v]
	call, ok := (*ast.CallExpr)(nil), false
	if len(defs) == 1 {
		call, ok = defs[0].x.(*ast.CallExpr)
	}
	return ok && !buffersByName.MatchString(types.ExprString(call.Fun))
}

// writesAll are functions that write what they are given.
var writesAll = lazily(`^(Write|WriteString|Copy|WriteFile|Fprint|Fprintln|Fprintf)$`)

// writtenOnly tells that what the call returns is written, and nothing else is done with it.
func (x *encodedWhole) writtenOnly(around []ast.Node) bool {
	a, ok := around[len(around)-1].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 2 || x.d.variable(a.Lhs[0]) == nil {
		return false
	}
	b, only, written := x.d.variable(a.Lhs[0]), true, false
	eachNode(x.decl.Body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || id.Pos() < a.End() || x.d.variable(id) != b {
			return
		}
		i := -1
		for j := len(around) - 1; j >= 0 && i < 0; j-- {
			call, is := around[j].(*ast.CallExpr)
			if is && writesAll.MatchString(calledName(call)) {
				i = j
			} else if !is || !slices.Contains([]string{"bytes.NewReader", "bytes.NewBuffer", "string"}, types.ExprString(call.Fun)) {
				break
			}
		}
		if i < 0 {
			only = false
			return
		}
		call := around[i].(*ast.CallExpr)
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && x.d.t.fromPackage(sel) == "" {
			only = only && x.streams(sel.X)
		} else if calledName(call) != "WriteFile" {
			only = only && x.streams(call.Args[0])
		}
		written, x.written = true, max(x.written, call.End())
	})
	return only && written
}

// take notes the variables of the function that an expression has in it, but for what it was given.
func (x *encodedWhole) take(e ast.Node) (grown bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if _, lit := n.(*ast.FuncLit); lit {
			return false
		}
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if v := x.d.variable(id); v != nil && isLocal(x.decl, v) && !isGiven(x.decl, v) && !isError(v.Name()) && !x.feeds[v] {
			x.feeds[v], grown = true, true
		}
		return true
	})
	return grown
}

// spread adds what goes into those variables, until nothing more does.
func (x *encodedWhole) spread() {
	for grown := true; grown; {
		grown = false
		ast.Inspect(x.decl.Body, func(n ast.Node) bool {
			if n == nil || n.Pos() > x.call.Pos() {
				return false
			}
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					if x.feeds[x.d.variable(innermost(lhs))] {
						grown = x.take(n.Rhs[min(i, len(n.Rhs)-1)]) || grown
					}
				}
			case *ast.RangeStmt:
				if n.Value != nil && x.feeds[x.d.variable(n.Value)] {
					grown = x.take(n.X) || grown
				}
			}
			return true
		})
	}
}

// gathers finds the list that loops append to, and that is there until all of it is encoded.
func (x *encodedWhole) gathers() {
	eachNode(x.decl.Body, func(n ast.Node, around []ast.Node) {
		a, to := addsByAppend(n)
		if a == nil || a.Pos() > x.call.Pos() || x.of != nil {
			return
		}
		v := x.d.variable(innermost(to))
		if v == nil || !x.feeds[v] || x.inTurn(v) {
			return
		}
		if whole, _ := turnsSince(around, v.Pos()); whole != nil && whole.End() < x.call.Pos() {
			x.of, x.adds, x.whole = v, a, whole
		}
	})
}

// addsByAppend is what a statement appends to.
func addsByAppend(n ast.Node) (*ast.AssignStmt, ast.Expr) {
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN {
		return nil, nil
	}
	call, ok := a.Rhs[0].(*ast.CallExpr)
	if !ok || !isNamed(call.Fun, "append") || len(call.Args) < 2 || types.ExprString(call.Args[0]) != types.ExprString(a.Lhs[0]) {
		return nil, nil
	}
	return a, a.Lhs[0]
}

// inTurn tells of a variable that a turn of a loop, or a function without a name, declares it: it is another one in each.
func (x *encodedWhole) inTurn(v types.Object) (found bool) {
	ast.Inspect(x.decl.Body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			found = found || n.Pos() < v.Pos() && v.Pos() < n.End()
		}
		return !found
	})
	return found
}

// needed tells that the function needs all of the list, or something that only the last turn gives, for more than the call; or
// that what goes into it is kept by others as well.
func (x *encodedWhole) needed() (found bool) {
	eachNode(x.decl.Body, func(n ast.Node, around []ast.Node) {
		switch n := n.(type) {
		case *ast.Ident:
			found = found || n.Pos() > x.of.Pos() && n.Pos() < x.decl.End() && x.d.t.info.Uses[n] == x.of && !x.harmless(n, around)
		case *ast.CallExpr:
			found = found || ordering.MatchString(types.ExprString(n.Fun)) && n.Pos() < x.call.Pos() && slices.ContainsFunc(n.Args, func(a ast.Expr) bool { return mentionsVars(x.d, a, x.feeds) })
		case *ast.IncDecStmt:
			found = found || x.outside(n.X) && covers(x.whole, n)
		case *ast.SendStmt:
			found = found || covers(x.whole, n) && mentionsVars(x.d, n.Value, x.feeds)
		case *ast.AssignStmt:
			found = found || covers(x.whole, n) && x.keepsMore(n)
		}
	})
	return found
}

// overwrites tells that what it is written to is what the items are read from.
func (x *encodedWhole) overwrites() bool {
	c := itemsFrom(x.d, x.decl, x.whole).changed([]codePart{{x.decl, x.whole.End(), x.written}}, codePart{x.decl, x.call.Pos(), x.call.End()}, nil)
	return c != nil && !c.maybe
}

// outside tells of something with a value that goes into the list that it is there before the turns.
func (x *encodedWhole) outside(e ast.Expr) bool {
	v := x.d.variable(innermost(e))
	return x.feeds[v] && v.Pos() < x.whole.Pos()
}

// keepsMore tells of a statement of a turn that it changes what is encoded by more than to append to a list, or that it stores what goes into
// the list in something else.
func (x *encodedWhole) keepsMore(a *ast.AssignStmt) bool {
	if add, _ := addsByAppend(a); add != nil {
		return false
	}
	for i, lhs := range a.Lhs {
		rhs := a.Rhs[min(i, len(a.Rhs)-1)]
		_, bare := lhs.(*ast.Ident)
		if x.outside(lhs) && (a.Tok != token.ASSIGN && a.Tok != token.DEFINE || !bare || x.usedAfter(x.d.variable(lhs))) {
			return true
		}
		if index, ok := lhs.(*ast.IndexExpr); ok && x.feeds[x.d.variable(innermost(index.X))] {
			return true // by a key, under which there may be something already
		}
		if !bare && !x.feeds[x.d.variable(innermost(lhs))] && mentionsVars(x.d, rhs, x.feeds) && !onlyNumber(x.d, rhs) {
			return true
		}
	}
	return false
}

// usedAfter tells of a variable that the function uses it behind the turns.
func (x *encodedWhole) usedAfter(v types.Object) (found bool) {
	ast.Inspect(x.decl.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Pos() > x.whole.End() && x.d.variable(id) == v
		return !found
	})
	return found
}

// harmless tells of a use of the list's variable that what is done there does not need all of it: it is appended to, set before the turns, put
// into what is encoded, encoded, or compared with none.
func (x *encodedWhole) harmless(id *ast.Ident, around []ast.Node) bool {
	if covers(x.call, id) {
		return !slices.ContainsFunc(around, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			return ok && call != x.call && covers(x.call, call)
		})
	}
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.AssignStmt:
			add, to := addsByAppend(n)
			if add != nil && x.d.variable(innermost(to)) == x.of {
				return true
			}
			if slices.ContainsFunc(n.Lhs, func(lhs ast.Expr) bool { return x.d.variable(innermost(lhs)) == x.of }) {
				return n.End() < x.whole.Pos()
			}
			return len(n.Lhs) == 1 && x.feeds[x.d.variable(innermost(n.Lhs[0]))]
		case *ast.CallExpr:
			if !isNamed(n.Fun, "len") && !isNamed(n.Fun, "append") {
				return false
			}
			if b, ok := around[i-1].(*ast.BinaryExpr); ok {
				return isZero(b.X) || isZero(b.Y)
			}
			if isNamed(n.Fun, "len") {
				return false
			}
		case *ast.RangeStmt:
			return covers(n.X, id) && n.Value != nil && x.feeds[x.d.variable(n.Value)]
		case ast.Stmt:
			return false
		}
	}
	return false
}

// feedsLine tells of a line of the function that what it allocates goes into the list, or is what encodes it.
func (x *encodedWhole) feedsLine(line int) (found bool) {
	fed := func(e ast.Expr) bool { return e != nil && x.feeds[x.d.variable(innermost(pointed(e)))] }
	if coversLine(x.d, x.call, line) {
		return true
	}
	ast.Inspect(x.decl.Body, func(n ast.Node) bool {
		if n == nil || found || !coversLine(x.d, n, line) {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = slices.ContainsFunc(n.Lhs, fed)
		case *ast.RangeStmt:
			found = fed(n.Value) && x.d.placeOf(n).line == line
		case *ast.CallExpr:
			found = slices.ContainsFunc(n.Args, func(a ast.Expr) bool {
				if lit, ok := a.(*ast.FuncLit); ok {
					return x.d.placeOf(n).line == line && slices.ContainsFunc(parameterVars(x.d, lit), func(v types.Object) bool { return x.feeds[v] })
				}
				u, ok := a.(*ast.UnaryExpr)
				return ok && u.Op == token.AND && fed(u.X)
			})
		}
		return !found
	})
	return found
}

// parameterVars are the parameters of a function without a name.
func parameterVars(d *derivations, lit *ast.FuncLit) (all []types.Object) {
	for _, field := range lit.Type.Params.List {
		for _, id := range field.Names {
			all = append(all, d.variable(id))
		}
	}
	return all
}
