package insight

import (
	"go/ast"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// What a call returns cannot be one value for all where each of those that hold it has its own, or
// where somebody changes it later, by whatever name.

// keptHow is what becomes of the result of a call.
type keptHow int

const (
	notKept    keptHow = iota // as far as the source shows
	keptInside                // it becomes a part of a value, as of one of its fields
	keptByEach                // it is added to a list, a map or a channel, where each is one of its own
)

// becomes finds where the result of a call is kept, in the function of the first frame of a way or, where
// that returns it, in those that call it.
func becomes(c *code, call *ast.CallExpr, way []stack.Frame) (where string, how keptHow) {
	d := c.function(way[0])
	if d == nil {
		return "", notKept
	}
	names, returned := map[string]bool{}, false
	has := func(x ast.Node) (found bool) { return x != nil && isOrHas(x, call, names) }
	note := func(n ast.Node, as keptHow) {
		if as > how {
			line, _ := c.parse(way[0].File).lines(n)
			where, how = fileLine(way[0].File, line), as
		}
	}
	for range 2 {
		eachAssignment(d.Body, func(left, right ast.Expr) {
			if id, ok := left.(*ast.Ident); ok && has(right) && !isNamed(calledBy(right), "append") {
				names[id.Name] = true
			}
		})
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if isNamed(n.Fun, "append") && len(n.Args) > 1 && slices.ContainsFunc(n.Args[1:], func(x ast.Expr) bool { return has(x) }) {
				note(n, keptByEach)
			}
		case *ast.SendStmt:
			if has(n.Value) {
				note(n, keptByEach)
			}
		case *ast.CompositeLit:
			if slices.ContainsFunc(n.Elts, func(x ast.Expr) bool { return has(x) }) {
				note(n, keptInside)
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if i > 0 && len(n.Lhs) != len(n.Rhs) || !has(n.Rhs[min(i, len(n.Rhs)-1)]) {
					continue
				}
				switch left := left.(type) {
				case *ast.IndexExpr:
					note(n, keptByEach)
				case *ast.SelectorExpr:
					if root := rootName(left); root != scopeOf(d).receiver && scopeOf(d).declares(root) {
						note(n, keptInside)
					}
				}
			}
		case *ast.ReturnStmt:
			returned = returned || slices.ContainsFunc(n.Results, func(x ast.Expr) bool { return has(x) })
		case *ast.FuncLit:
			return within(n, call)
		}
		return true
	})
	if how == keptByEach || !returned || len(way) < 2 {
		return where, how
	}
	for _, outer := range c.lineCalls(way[1]) {
		if calledName(outer) == d.Name.Name {
			if w, as := becomes(c, outer, way[1:]); as > how {
				return w, as
			}
			return where, how
		}
	}
	return where, how
}

// calledBy is what an expression calls; nil for one that is no call.
func calledBy(x ast.Expr) ast.Expr {
	if call, ok := x.(*ast.CallExpr); ok {
		return call.Fun
	}
	return nil
}

// isOrHas tells of an expression that it is a call, one of some variables, the address of one, or a
// literal with one in it.
func isOrHas(x ast.Node, call *ast.CallExpr, names map[string]bool) bool {
	switch x := x.(type) {
	case *ast.CallExpr:
		return x == call
	case *ast.Ident:
		return names[x.Name]
	case *ast.ParenExpr:
		return isOrHas(x.X, call, names)
	case *ast.UnaryExpr:
		return isOrHas(x.X, call, names)
	case *ast.KeyValueExpr:
		return isOrHas(x.Value, call, names)
	case *ast.CompositeLit:
		return slices.ContainsFunc(x.Elts, func(e ast.Expr) bool { return isOrHas(e, call, names) })
	}
	return false
}

// givenToChange finds where the result of a call is given to a function of the program that changes
// what it is given.
func givenToChange(c *code, d *ast.FuncDecl, call *ast.CallExpr, file string) (where string) {
	names := map[string]bool{}
	eachAssignment(d.Body, func(left, right ast.Expr) {
		if id, ok := left.(*ast.Ident); ok && right == ast.Expr(call) && id.Name != "_" && !isError(id.Name) {
			names[id.Name] = true
		}
	})
	ast.Inspect(d.Body, func(n ast.Node) bool {
		x, ok := n.(*ast.CallExpr)
		if !ok || where != "" {
			return where == ""
		}
		for i, a := range x.Args {
			id, ok := unrefer(a).(*ast.Ident)
			if (a == ast.Expr(call) || ok && names[id.Name]) && changesParameter(c, calledName(x), i, 0) {
				line, _ := c.parse(file).lines(x)
				where = fileLine(file, line)
			}
		}
		return where == ""
	})
	return where
}

// changesParameter tells whether the functions of a name change what they are given in a place, or give
// it to one that does.
func changesParameter(c *code, name string, i, depth int) (found bool) {
	all := c.functions()[name]
	if depth > 2 || len(all) == 0 || len(all) > 2 {
		return false
	}
	for _, d := range all {
		params := parameters(d.Type)
		if i >= len(params) {
			continue
		}
		ast.Inspect(d.Body, func(n ast.Node) bool {
			for _, x := range changedBy(n) {
				root, _ := chain(x)
				found = found || root == params[i] && !isIdent(x)
			}
			if call, ok := n.(*ast.CallExpr); ok && !found {
				for k, a := range call.Args {
					found = found || isNamed(a, params[i]) && changesParameter(c, calledName(call), k, depth+1)
				}
			}
			return !found
		})
	}
	return found
}

// changesType finds where the program changes a value of the type that a function returns, after it
// was made: in a function that is not a part of making it, on a value that it has not made itself.
// What is locked before it is changed is meant for several.
func changesType(c *code, d *ast.FuncDecl, file string) (where string) {
	t := typedOf(c)
	fn := t.functionAt(c, d, file)
	if fn == nil {
		return ""
	}
	results := fn.Type().(*types.Signature).Results()
	if results.Len() == 0 {
		return ""
	}
	of, pointed := results.At(0).Type(), false
	if p, ok := of.(*types.Pointer); ok {
		of, pointed = p.Elem(), true
	}
	named, ok := of.(*types.Named)
	if !ok || locksItself(named) {
		return ""
	}
	if _, plain := named.Underlying().(*types.Struct); plain && !pointed {
		return "" // each holder has a copy
	}
	for _, f := range t.files {
		for _, decl := range f.file.Decls {
			g, ok := decl.(*ast.FuncDecl)
			if !ok || g.Body == nil || where != "" {
				continue
			}
			at := t.changeIn(c, g, named)
			if at == nil || ofMaking(c, g.Name.Name, d.Name.Name, 0) || changesOthers(c, g, at, d) {
				continue
			}
			name, line, _ := t.at(at.Pos())
			where = fileLine(name, line)
		}
	}
	return where
}

// changesOthers tells of a change in a function that it is of what that is given, and that those who call it give it what another function, which
// makes the value that it returns, is making, or a field of something, which is another value than that one.
func changesOthers(c *code, g *ast.FuncDecl, change ast.Node, maker *ast.FuncDecl) bool {
	in, calls := scopeOf(g), callsNamed(c, g.Name.Name)
	if len(calls) == 0 || len(calls) > mostCallers || !returnsOwn(scopeOf(maker)) {
		return false
	}
	for _, x := range changedBy(change) {
		root, _ := chain(x)
		if root == "" || root != in.receiver && in.parameter(root) < 0 {
			return false
		}
		for _, from := range calls {
			given := receiverOf(from.call)
			if i := in.parameter(root); i >= 0 && i < len(from.call.Args) {
				given = from.call.Args[i]
			}
			if _, field := unrefer(given).(*ast.SelectorExpr); !field && !ofMaking(c, from.in.Name.Name, maker.Name.Name, 0) {
				return false
			}
		}
	}
	return len(changedBy(change)) > 0
}

// returnsOwn tells of a function that what it returns first is a variable that it makes itself: it begins empty, or as a literal, and is set to
// nothing but what is made of it.
func returnsOwn(fn *scope) (own bool) {
	other := false
	ast.Inspect(fn.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) == 0 || isNamed(n.Results[0], "nil") {
				return true
			}
			id, ok := unrefer(n.Results[0]).(*ast.Ident)
			own = ok && fn.parameter(id.Name) < 0 && declares(fn.body, id.Name) && !setToOthers(fn, id.Name)
			other = other || !own
		}
		return true
	})
	return own && !other
}

// setToOthers tells whether a function sets a variable to a value that it may have from elsewhere.
func setToOthers(fn *scope, name string) (found bool) {
	eachAssignment(fn.body, func(left, right ast.Expr) {
		call, isCall := right.(*ast.CallExpr)
		makes := isCall && (isNamed(call.Fun, "make") || isNamed(call.Fun, "new") || isNamed(call.Fun, "append") && len(call.Args) > 0 && isNamed(call.Args[0], name))
		found = found || isNamed(left, name) && !makes && typeMade(right) == nil
	})
	return found
}

// functionAt is a declared function, as go/types has it.
func (t *typed) functionAt(c *code, d *ast.FuncDecl, file string) *types.Func {
	line, _ := c.parse(file).lines(d)
	for fn, of := range t.decls {
		if name, at, _ := t.at(of.Pos()); of.Name.Name == d.Name.Name && name == file && at == line {
			return fn
		}
	}
	return nil
}

// locksItself tells of a type that it has a lock, or values that are changed atomically.
func locksItself(named *types.Named) bool {
	s, ok := named.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range s.NumFields() {
		of := s.Field(i).Type()
		if p, ok := of.(*types.Pointer); ok {
			of = p.Elem()
		}
		if f, ok := of.(*types.Named); ok && f.Obj().Pkg() != nil && (f.Obj().Pkg().Path() == "sync" || f.Obj().Pkg().Path() == "sync/atomic") {
			return true
		}
	}
	return false
}

// changeIn is a node of a function that changes a part of a value of a type; nil where there is none,
// or only such as change what the function has made itself.
func (t *typed) changeIn(c *code, g *ast.FuncDecl, named *types.Named) (at ast.Node) {
	fn := scopeOf(g)
	is := func(x ast.Expr) bool {
		of := t.typeOf(x)
		if of == nil {
			return false
		}
		if p, ok := of.(*types.Pointer); ok {
			of = p.Elem()
		}
		n, ok := of.(*types.Named)
		return ok && n.Origin() == named.Origin()
	}
	ownMade := func(x ast.Expr) bool {
		id, ok := x.(*ast.Ident)
		return ok && fn.parameter(id.Name) < 0 && madeHere(fn, id.Name)
	}
	// changed tells whether a part of an expression's value is one of the type's.
	changed := func(x ast.Expr) bool {
		for {
			var on ast.Expr
			switch e := x.(type) {
			case *ast.SelectorExpr:
				on = e.X
			case *ast.IndexExpr:
				on = e.X
			case *ast.SliceExpr:
				on = e.X
			case *ast.StarExpr:
				on = e.X
			case *ast.ParenExpr:
				x = e.X
				continue
			default:
				return false
			}
			if is(on) {
				return !ownMade(on)
			}
			x = on
		}
	}
	ast.Inspect(g.Body, func(n ast.Node) bool {
		if at != nil {
			return false
		}
		all := changedBy(n)
		if call, ok := n.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && fillers.MatchString(f.Sel.Name) && t.callee(call) == nil {
				if on, ok := f.X.(*ast.SelectorExpr); ok {
					all = append(all, on) // a buffer, a list or a map of a library inside
				}
			}
		}
		if slices.ContainsFunc(all, changed) {
			at = n
		}
		return at == nil
	})
	return at
}

// fillers are methods, by the beginnings of their names, that change what a value of a library holds; not those that give an address (Addr).
var fillers = lazily(`^([aA](dd|DD)($|[^r])|(?i:append|push|insert|put|set|write|delete|remove|reset|clear|pop|fill|sort|shuffle))`)

// madeHere tells whether a function makes the value of a variable itself, by a literal or new.
func madeHere(fn *scope, name string) bool {
	made := fn.made(name)
	if made == nil {
		return fn.receiver != name && declares(fn.body, name) && !fn.sets(name)
	}
	if typeMade(made) != nil {
		return true
	}
	call, ok := made.(*ast.CallExpr)
	return ok && isNamed(call.Fun, "new")
}

// mostCallers bounds how many calls of a name are followed: those of more are of several functions.
const mostCallers = 20

// ofMaking tells whether a function is a part of what another one does: it is that one, or only
// such call it, itself aside.
func ofMaking(c *code, name, maker string, depth int) bool {
	if name == maker {
		return true
	}
	calls := callsNamed(c, name)
	others := 0
	for _, from := range calls {
		if from.in.Name.Name == name {
			continue
		}
		if others++; depth >= 3 || others > mostCallers || !ofMaking(c, from.in.Name.Name, maker, depth+1) {
			return false
		}
	}
	return others > 0
}
