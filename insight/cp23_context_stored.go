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

// A context that is made of one which something keeps, and is stored back there: where that lives longer than the call, each call makes the chain longer.

// storedContext is a line that does so.
type storedContext struct {
	place  string // where it is kept, as the source names it: "c.Context"
	call   string // that makes the new one
	decl   *ast.FuncDecl
	node   *ast.AssignStmt
	around []ast.Node
	// kept is the field or the variable; holders are the types whose values have the field.
	kept    types.Object
	holders []*types.Named
	// outside is the function whose variable it is, where a function literal sets it; else nil.
	outside *ast.FuncDecl
}

// tellContextStored says of lookups in contexts that a line on their way stores a longer one each time, where the source shows that.
func tellContextStored(h *hit, f *Finding) {
	v, frames, at := stackOf(h, h.lines[0])
	if at < 0 {
		return
	}
	var way []stack.Frame // those of the program, from the lookup outward
	called := false       // by a library: for each request, or whatever it serves
	for _, id := range frames[at:] {
		if x := v.t.Frame(id); v.origins[id] == stack.User {
			way, called = append(way, x), false
		} else if !slices.ContainsFunc(calledOnceBy, func(p string) bool { return strings.HasPrefix(x.Func, p) }) {
			called = true
		}
	}
	s, ok := storedOnWay(h.in.code, way, called)
	if !ok {
		return
	}
	d := derivationsOf(h.in.code)
	line := d.placeOf(s.node)
	f.Title = "A context grows with each call, and each lookup goes through all of it"
	f.Summary += fmt.Sprintf("; by the source, %s makes a context of the one in %s and stores it back there, where it is found by the next call: each call makes the chain longer", line.text(), s.place)
	f.Advice = fmt.Sprintf("Begin from the same context each time: leave the one in %s as it is, and give the derived one (%s) on as a parameter, or in an object that is made for the call. Now lookups take longer with each call, and all values that were ever put in are kept in memory.", s.place, s.call)
	f.Evidence = append([]Evidence{h.in.code.shownAt(line.file, line.line, "the context grows here, with each call; %d of %d samples look a value up in such contexts", h.samples, h.all)}, f.Evidence...)
	f.Verify = "Record again under the same load: the share should fall, and neither it nor the memory in use should rise the longer the load lasts."
	f.Doubts = append(f.Doubts, fmt.Sprintf("if what has %s is replaced from time to time, the chain begins anew then", s.place))
	f.grows = true
}

// calledOnceBy are the begins of names of functions that call what they are given once.
var calledOnceBy = []string{"runtime.", "sync.", "golang.org/x/sync/errgroup.", "testing.tRunner"}

// storedOnWay finds a line that makes a context longer with each turn of what is on a way through the code, and which the lookup at its begin goes through.
func storedOnWay(c *code, way []stack.Frame, called bool) (s storedContext, ok bool) {
	d := derivationsOf(c)
	var inner []*ast.FuncDecl // the functions on the way so far
	for i, f := range way {
		in, known := d.at(f)
		if !known {
			continue
		}
		few := contextFewTurnsAt(c, f)
		for _, part := range slices.Backward(loopsAroundLine(d, in.body(), f.Line)) {
			if !few {
				if s, ok = storedIn(d, in.decl, part, inner); ok {
					return s, true
				}
			}
		}
		if i == len(way)-1 && called {
			return storedIn(d, in.decl, in.body(), append(inner, in.decl))
		}
		inner = append(inner, in.decl)
	}
	return s, false
}

// contextFewTurnsAt tells of the loops around a line that each makes a few turns only.
func contextFewTurnsAt(c *code, f stack.Frame) bool {
	loops := loopsAround(c, f)
	return len(loops) > 0 && !slices.ContainsFunc(loops, func(l loop) bool { return mayGoOn(l.stmt) && !contextFewTurns(c, c.scopeAt(f), l.stmt) })
}

// storedIn finds one that a part of a function comes to in each turn; inner are functions that are known to be called in it.
func storedIn(d *derivations, decl *ast.FuncDecl, part ast.Node, inner []*ast.FuncDecl) (s storedContext, ok bool) {
	reached := map[*ast.FuncDecl]bool{}
	for x := range d.reached(decl, part) {
		reached[x] = true
	}
	var looks []*ast.FuncDecl // functions on the way, and those that they call
	for _, x := range inner {
		looks = append(looks, x)
		reached[x] = reached[x] || x != decl
		for y := range d.reached(x, x.Body) {
			reached[y] = reached[y] || x != decl
		}
		for _, call := range d.callsOf(x) {
			looks = append(looks, call.callee)
		}
	}
	within := func(of *ast.FuncDecl, n ast.Node) bool {
		return reached[of] || of == decl && part.Pos() <= n.Pos() && n.Pos() < part.End()
	}
	for _, s := range contextStores(d) {
		if within(s.decl, s.node) && !s.madeWithin(d, within) && !s.setWithin(d, within) && !s.onlyOnce() && slices.ContainsFunc(append(looks, decl), func(x *ast.FuncDecl) bool { return s.readIn(d, x) }) {
			return s, true
		}
	}
	return s, false
}

// contextStores are the lines of the sources that store a context where the one is that it was made of.
func contextStores(d *derivations) (all []storedContext) {
	for _, decl := range declsInOrder(d) {
		eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
			set, ok := n.(*ast.AssignStmt)
			if !ok || set.Tok != token.ASSIGN {
				return
			}
			for i, lhs := range set.Lhs {
				rhs := set.Rhs[min(i, len(set.Rhs)-1)]
				if len(set.Rhs) == 1 && i > 0 {
					break
				}
				s := storedContext{place: types.ExprString(lhs), decl: decl, node: set, around: slices.Clone(around)}
				if s.keeps(d, lhs) && derivesContext(d, decl, rhs, s.place, 0) {
					s.call = types.ExprString(rhs)
					all = append(all, s)
				}
			}
		})
	}
	return all
}

// keeps finds out what an expression stores in, where that may live longer than the call.
func (s *storedContext) keeps(d *derivations, lhs ast.Expr) bool {
	root := d.t.rootOf(lhs)
	if root == nil {
		return false
	}
	switch x := ast.Unparen(lhs).(type) {
	case *ast.Ident:
		s.kept = root
		if ofPackage(root) {
			return true
		}
		lit := slices.IndexFunc(s.around, func(n ast.Node) bool { _, is := n.(*ast.FuncLit); return is })
		if lit < 0 || !isLocal(s.decl, root) || s.around[lit].Pos() <= root.Pos() {
			return false
		}
		s.outside = s.decl
		return true
	case *ast.SelectorExpr:
		if s.kept = d.field(x); s.kept == nil {
			return false
		}
		if ofPackage(root) {
			return true
		}
		if _, points := types.Unalias(root.Type()).(*types.Pointer); !points {
			return false // a copy, or something whose type is not known
		}
		for _, of := range []types.Type{d.t.typeOf(x.X), root.Type()} {
			if named := namedOf(of); named != nil && !slices.Contains(s.holders, named) {
				s.holders = append(s.holders, named)
			}
		}
		return len(s.holders) > 0
	}
	return false
}

// namedOf is the type that the sources name of a value, or of what a pointer leads to.
func namedOf(of types.Type) *types.Named {
	if of == nil {
		return nil
	}
	if p, ok := types.Unalias(of).(*types.Pointer); ok {
		of = p.Elem()
	}
	named, _ := types.Unalias(of).(*types.Named)
	return named
}

// derivesContext tells of an expression that it makes a context of the one at a place.
func derivesContext(d *derivations, decl *ast.FuncDecl, x ast.Expr, place string, depth int) bool {
	if depth > 2 {
		return false
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident: // made before
		v := d.variable(x)
		defs := d.definitions(decl)[v]
		return v != nil && isLocal(decl, v) && len(defs) == 1 && defs[0].x != nil && !defs[0].ranged && !defs[0].unknown && derivesContext(d, decl, defs[0].x, place, depth+1)
	case *ast.CallExpr:
		if derivesFrom(x, place) {
			return true
		}
		if makes := derives.MatchString(calledName(x)) || strings.HasPrefix(types.ExprString(x.Fun), "context.With"); makes && len(x.Args) > 0 && derivesContext(d, decl, x.Args[0], place, depth+1) {
			return true // one of one
		}
		sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
		of, rest, cut := strings.Cut(place, ".")
		if !ok || !cut || types.ExprString(sel.X) != of {
			return false
		}
		return slices.ContainsFunc(calledDecls(d, x), func(method *ast.FuncDecl) bool { return returnsDerived(d, method, rest, depth) })
	}
	return false
}

// returnsDerived tells of a method that it returns a context which it makes of that in a field.
func returnsDerived(d *derivations, method *ast.FuncDecl, field string, depth int) bool {
	if method.Body == nil || method.Recv == nil || len(method.Recv.List) != 1 || len(method.Recv.List[0].Names) != 1 {
		return false
	}
	place := method.Recv.List[0].Names[0].Name + "." + field
	return hasNode(method.Body, func(n ast.Node) bool {
		r, ok := n.(*ast.ReturnStmt)
		return ok && len(r.Results) > 0 && derivesContext(d, method, r.Results[0], place, depth+1)
	})
}

// madeWithin tells whether what has the context is made in the turns themselves, or where no source shows it be made.
func (s *storedContext) madeWithin(d *derivations, within func(*ast.FuncDecl, ast.Node) bool) bool {
	if len(s.holders) == 0 {
		return s.outside != nil && within(s.outside, s.outside.Name)
	}
	made, inside := false, false
	is := func(x ast.Expr) bool {
		of := d.t.typeOf(x)
		if _, points := types.Unalias(of).(*types.Pointer); of == nil || points {
			return false
		}
		named := namedOf(of)
		return named != nil && slices.ContainsFunc(s.holders, func(h *types.Named) bool { return h.Origin() == named.Origin() })
	}
	note := func(in *ast.FuncDecl, n ast.Node) {
		made = true
		inside = inside || in != nil && within(in, n)
	}
	for _, x := range flowNodes(d) {
		switch n := x.n.(type) {
		case *ast.CompositeLit:
			if is(n) {
				note(x.in, n)
			}
		case *ast.CallExpr:
			if isNamed(n.Fun, "new") && len(n.Args) == 1 && is(n.Args[0]) {
				note(x.in, n)
			}
		case *ast.ValueSpec:
			if n.Type != nil && is(n.Type) {
				note(x.in, n)
			}
		case *ast.AssignStmt:
			for _, r := range n.Rhs {
				if star, ok := ast.Unparen(r).(*ast.StarExpr); ok && is(star) { // a copy
					note(x.in, n)
				}
			}
		}
	}
	return inside || !made
}

// setWithin tells whether the turns set the place to another context as well.
func (s *storedContext) setWithin(d *derivations, within func(*ast.FuncDecl, ast.Node) bool) (found bool) {
	for _, decl := range declsInOrder(d) {
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			set, ok := n.(*ast.AssignStmt)
			if !ok || found || !within(decl, n) {
				return !found
			}
			for i, lhs := range set.Lhs {
				if s.isPlace(d, lhs) && !derivesContext(d, decl, set.Rhs[min(i, len(set.Rhs)-1)], types.ExprString(lhs), 0) {
					found = true
				}
			}
			return !found
		})
	}
	return found
}

// isPlace tells of an expression that it means the same field or variable.
func (s *storedContext) isPlace(d *derivations, x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.SelectorExpr:
		if f := d.field(x); f != nil {
			return f == s.kept
		}
		return d.t.place(x.Sel) == s.kept
	case *ast.Ident:
		return d.variable(x) == s.kept
	}
	return false
}

// readIn tells of a function that it reads what is kept there.
func (s *storedContext) readIn(d *derivations, decl *ast.FuncDecl) bool {
	return decl.Body != nil && hasNode(decl.Body, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		return ok && s.isPlace(d, x)
	})
}

// onlyOnce tells of the line that it is done once, or once for each value: the function stands in a sync.Once, or asks before it whether that is there.
func (s *storedContext) onlyOnce() bool {
	for i, a := range s.around {
		switch a := a.(type) {
		case *ast.CallExpr:
			if sel, ok := a.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Do" {
				return true
			}
		case *ast.IfStmt:
			if i+1 < len(s.around) && s.around[i+1] == ast.Node(a.Body) && (mentionsText(a.Cond, s.place) || setsAsked(a)) {
				return true
			}
			if asksOf(a.Init, s.place) {
				return true
			}
		}
	}
	leaves := false
	ast.Inspect(s.decl.Body, func(n ast.Node) bool {
		if x, ok := n.(*ast.IfStmt); ok && x.End() < s.node.Pos() && (mentionsText(x.Cond, s.place) || asksOf(x.Init, s.place)) && leavesBlock(x.Body) {
			leaves = true
		}
		return !leaves
	})
	return leaves
}

// asksOf tells of a statement before a condition that it mentions a place.
func asksOf(init ast.Stmt, place string) bool {
	return init != nil && hasNode(init, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		return ok && types.ExprString(x) == place
	})
}

// setsAsked tells of a condition that what is done under it sets what it asks for.
func setsAsked(s *ast.IfStmt) bool {
	return hasNode(s.Body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		return ok && slices.ContainsFunc(set.Lhs, func(x ast.Expr) bool { return mentionsText(s.Cond, types.ExprString(x)) })
	})
}

// leavesBlock tells of a block that it ends by leaving the function.
func leavesBlock(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	_, ok := b.List[len(b.List)-1].(*ast.ReturnStmt)
	return ok
}
