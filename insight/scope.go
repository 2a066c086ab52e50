package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// Functions of the source, and where the values in them come from.

// scope is a function of the source, or one without a name inside it.
type scope struct {
	name     string // empty where it has none
	receiver string
	of       string // the type of the receiver
	copied   bool   // the receiver is a value, which each call has for itself
	params   *ast.FieldList
	results  *ast.FieldList // nil where there are none
	body     *ast.BlockStmt
	outer    *scope // the function around one without a name
}

// scopeOf is that of a declaration with a body.
func scopeOf(d *ast.FuncDecl) *scope {
	fn := &scope{name: d.Name.Name, of: receiverType(d), params: d.Type.Params, results: d.Type.Results, body: d.Body}
	if d.Recv != nil && len(d.Recv.List) == 1 && len(d.Recv.List[0].Names) == 1 {
		fn.receiver = d.Recv.List[0].Names[0].Name
		_, pointer := d.Recv.List[0].Type.(*ast.StarExpr)
		fn.copied = !pointer
	}
	return fn
}

// scopeAt is the innermost function around a frame's line, as far as the frame's name has literals; nil without the source.
func (c *code) scopeAt(f stack.Frame) (fn *scope) {
	s := c.parse(f.File)
	var beside ast.Node // a function literal that begins on the line, which the frame is not in
	literals := 0
	s.onLine(f.Line, func(n ast.Node, _ []ast.Node) {
		if beside != nil && covers(beside, n) {
			return
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			if fn, literals = nil, 0; n.Body != nil {
				fn = scopeOf(n)
			}
		case *ast.FuncLit:
			if literals++; beginsBeside(s, f, n, literals) {
				beside = n
				return
			}
			fn = &scope{params: n.Type.Params, results: n.Type.Results, body: n.Body, outer: fn}
		}
	})
	return fn
}

// parameter is the place of a parameter; -1 where the function has none of this name.
func (fn *scope) parameter(name string) int {
	i := 0
	for _, field := range fn.params.List {
		for _, id := range field.Names {
			if id.Name == name {
				return i
			}
			i++
		}
	}
	return -1
}

// made is what a variable is declared with, where that is all that it ever is; else nil.
func (fn *scope) made(name string) (x ast.Expr) {
	n := 0
	ast.Inspect(fn.body, func(node ast.Node) bool {
		a, ok := node.(*ast.AssignStmt)
		if !ok || a.Tok != token.DEFINE {
			return true
		}
		for i, left := range a.Lhs {
			if !isNamed(left, name) {
				continue
			}
			if n++; len(a.Lhs) == len(a.Rhs) {
				x = a.Rhs[i]
			}
		}
		return true
	})
	if n != 1 {
		return nil
	}
	return x
}

// sets tells whether the function gives a variable or a field another value than it began
// with: it assigns one, counts, or gives away its address.
func (fn *scope) sets(text string) bool { return givenIn(fn.body, text) }

// setsFieldOfCopy tells of a value that the function has for itself, its receiver or a parameter, that it sets a field of it: then it is not what the
// caller has.
func (fn *scope) setsFieldOfCopy(name string) (found bool) {
	if copied := fn.copied && name == fn.receiver || fn.isValue(name); !copied {
		return false
	}
	ast.Inspect(fn.body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			found = found || slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool {
				sel, ok := ast.Unparen(x).(*ast.SelectorExpr)
				return ok && isNamed(sel.X, name)
			})
		}
		return !found
	})
	return found
}

// isValue tells of a parameter that its type is written as a name: no pointer, list or map.
func (fn *scope) isValue(name string) bool {
	return slices.ContainsFunc(fn.params.List, func(f *ast.Field) bool {
		switch f.Type.(type) {
		case *ast.Ident, *ast.SelectorExpr:
			return isAmong(f.Names, name)
		}
		return false
	})
}

func givenIn(body ast.Node, text string) (found bool) {
	is := func(x ast.Expr) bool { return x != nil && types.ExprString(x) == text }
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || n.Tok != token.DEFINE && slices.ContainsFunc(n.Lhs, is)
		case *ast.IncDecStmt:
			found = found || is(n.X)
		case *ast.RangeStmt:
			found = found || n.Tok == token.ASSIGN && (is(n.Key) || is(n.Value))
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && is(n.X)
		}
		return !found
	})
	return found
}

// anew tells of a variable that a function without a name has from those around it that it may be
// another one in each call: it belongs to a loop around that function, or is set in it or by a
// function.
func (fn *scope) anew(name string) bool {
	for inner, s := fn, fn.outer; s != nil; inner, s = s, s.outer {
		if !s.declares(name) {
			continue
		}
		other := false
		eachNode(s.body, func(n ast.Node, _ []ast.Node) {
			in := func() bool { return n.Pos() <= inner.body.Pos() && inner.body.End() <= n.End() }
			switch n := n.(type) {
			case *ast.ForStmt:
				a, ok := n.Init.(*ast.AssignStmt)
				other = other || in() && (givenIn(n, name) || declares(n.Body, name) || ok && slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool { return isNamed(x, name) }))
			case *ast.RangeStmt:
				other = other || in() && (givenIn(n, name) || declares(n.Body, name) || isNamed(n.Key, name) || isNamed(n.Value, name))
			case *ast.FuncLit:
				other = other || givenIn(n.Body, name)
			}
		})
		return other
	}
	return false
}

// declares tells whether a name is one of the function's parameters, results or variables.
func (fn *scope) declares(name string) (found bool) {
	if fn.parameter(name) >= 0 || givenNames(fn.results)[name] || declares(fn.body, name) {
		return true
	}
	ast.Inspect(fn.body, func(n ast.Node) bool {
		r, ok := n.(*ast.RangeStmt)
		found = found || ok && r.Tok == token.DEFINE && (isNamed(r.Key, name) || isNamed(r.Value, name))
		return !found
	})
	return found
}

func isNamed(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}

// joins are calls whose result is the same for the same arguments, while the program runs.
var joins = []string{"filepath.Join", "filepath.Clean", "path.Join", "os.Getenv"}

// fixedValue tells whether an expression of a function has the same value in each call: a
// literal, what a package, the receiver or the function around has, or a parameter for which
// the caller on the way gives such a one.
func fixedValue(c *code, x ast.Expr, fn *scope, way []stack.Frame) bool {
	return newOrigins(c).fixed(x, fn, way)
}

func newOrigins(c *code) *origins { return &origins{c: c, at: map[ast.Expr]bool{}} }

// origins follows values to where they come from, each expression once: a name may be declared
// by itself, that is by one from further out, of which nothing is known then.
type origins struct {
	c  *code
	at map[ast.Expr]bool // what is known; false while it is looked for
	// from are the variables, fields and literals that the values come from in the end, and what these are
	// joined to.
	from []given
}

func (o *origins) fixed(x ast.Expr, fn *scope, way []stack.Frame) (known bool) {
	if known, ok := o.at[x]; ok {
		return known
	}
	o.at[x] = false
	defer func() { o.at[x] = known }()
	switch x := x.(type) {
	case *ast.BasicLit:
		o.from = append(o.from, given{x, fn, way})
		return true
	case *ast.ParenExpr:
		return o.fixed(x.X, fn, way)
	case *ast.StarExpr: // of a flag
		return o.fixed(x.X, fn, way)
	case *ast.BinaryExpr:
		o.from = append(o.from, given{x, fn, way})
		return x.Op == token.ADD && o.fixed(x.X, fn, way) && o.fixed(x.Y, fn, way)
	case *ast.CallExpr:
		o.from = append(o.from, given{x, fn, way})
		return slices.Contains(joins, types.ExprString(x.Fun)) &&
			!slices.ContainsFunc(x.Args, func(a ast.Expr) bool { return !o.fixed(a, fn, way) })
	case *ast.SelectorExpr:
		root := rootName(x)
		o.from = append(o.from, given{x, fn, way})
		return root != "" && (root == fn.receiver || !fn.declares(root) && o.outside(root, fn, way) || sharedField(o.c, x, fn)) && !fn.sets(types.ExprString(x)) &&
			!hasNode(x, func(n ast.Node) bool {
				i, ok := n.(*ast.IndexExpr)
				return ok && !o.fixed(i.Index, fn, way)
			})
	case *ast.Ident:
		if !fn.declares(x.Name) && fn.receiver != x.Name {
			o.from = append(o.from, given{x, fn, way})
		}
		return o.variable(x.Name, fn, way)
	}
	return false
}

// variable is fixed of a variable.
func (o *origins) variable(name string, fn *scope, way []stack.Frame) bool {
	if fn.sets(name) || fn.setsFieldOfCopy(name) {
		return false
	}
	if i := fn.parameter(name); i >= 0 {
		return o.argument(i, fn, way)
	}
	if x := fn.made(name); x != nil {
		return o.fixed(x, fn, way)
	}
	return !fn.declares(name) && o.outside(name, fn, way)
}

// outside tells of a name that a function does not declare that its value was there before a request was: it is of a package, or of a function around
// that has it from there, which is on the way, is shown to run when the program starts, or makes a handler of requests and is called by nobody
// that the source shows.
func (o *origins) outside(name string, fn *scope, way []stack.Frame) bool {
	outer, handles := fn.outer, servesRequest(fn.params)
	for outer != nil && outer.receiver != name && !outer.declares(name) {
		handles = handles || servesRequest(outer.params)
		outer = outer.outer
	}
	if outer == nil {
		return true
	}
	if fn.anew(name) {
		return false
	}
	for i := 1; i < len(way); i++ {
		s := o.c.scopeAt(way[i])
		if s == nil || s.body != outer.body {
			continue
		}
		if s.receiver == name {
			return sameReceiver(o.c, s, way[i:])
		}
		return o.variable(name, s, way[i:])
	}
	return runsBeforeRequests(o.c, outer, 0) || handles && outer.name != "" && len(callsNamed(o.c, outer.name)) == 0
}

// runsBeforeRequests tells of a function that the source shows it to run when the program starts: main, an initialiser, what a command line
// runs, and what only such call. One without a name that is given something may be called back for each request.
func runsBeforeRequests(c *code, fn *scope, depth int) bool { return runsAtBegin(c, fn, depth, false) }

// runsOnceAtStart is the same of a function that no loop on the way to it repeats.
func runsOnceAtStart(c *code, fn *scope) bool { return runsAtBegin(c, fn, 0, true) }

func runsAtBegin(c *code, fn *scope, depth int, once bool) bool {
	for ; fn.name == ""; fn = fn.outer {
		if runsCommand(fn.params) {
			return true
		}
		if fn.outer == nil || fn.params.NumFields() > 0 {
			return false
		}
	}
	if runsCommand(fn.params) || fn.of == "" && (fn.name == "main" || fn.name == "init") {
		return true
	}
	calls := ownCalls(c, fn.name)
	return depth < startDepth && len(calls) > 0 && len(calls) <= mostCallers && !slices.ContainsFunc(calls, func(from callFrom) bool {
		if once && slices.ContainsFunc(from.around, isLoop) {
			return true
		}
		return !runsAtBegin(c, scopeWithin(from.in.FuncDecl, from.around), depth+1, once)
	})
}

// runsCommand tells by the parameters of a function that a library for command lines calls it.
func runsCommand(params *ast.FieldList) bool {
	return slices.ContainsFunc(params.List, func(p *ast.Field) bool {
		name := types.ExprString(p.Type)
		return name == "*cobra.Command" || name == "*cli.Context" || name == "*cli.Command"
	})
}

// ofOthers tells whether one of the fields that values come from may be that of another receiver each
// time.
func (o *origins) ofOthers() bool {
	return slices.ContainsFunc(o.from, func(g given) bool {
		return g.fn.receiver != "" && rootName(g.x) == g.fn.receiver && !sameReceiver(o.c, g.fn, g.way) && !sharedField(o.c, g.x, g.fn)
	})
}

// argument tells whether the caller of a function gives it the same i-th argument in each
// call.
func (o *origins) argument(i int, fn *scope, way []stack.Frame) bool {
	if len(way) < 2 || fn.name == "" {
		return false
	}
	caller := o.c.scopeAt(way[1])
	if caller == nil || inRequest(o.c, way[1]) {
		return false
	}
	same := false
	for _, call := range o.c.lineCalls(way[1]) {
		if calledName(call) != fn.name || i >= len(call.Args) {
			continue
		}
		if same = o.fixed(call.Args[i], caller, way[1:]); !same {
			return false
		}
	}
	return same
}
