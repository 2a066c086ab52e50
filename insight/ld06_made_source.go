package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What the source tells of a client that is made again and again: what it is made with, and
// whether it is kept.

// ofRequestIn are the variables that the call on the first line of a way is given and that come from
// the request that is served, as far as the source shows. A context alone is none, and what is
// looked up by something of the request is only where its name is that of a credential: addresses
// that are looked up are those that the program knows.
func ofRequestIn(c *code, way []stack.Frame, callee string) (names []string) {
	for _, call := range c.lineCalls(way[0]) {
		if calledName(call) != ownName(callee) {
			continue
		}
		for _, arg := range call.Args {
			if isContext(arg) {
				continue
			}
			for _, id := range (derivation{c: c, lookups: true}).variablesIn(arg) {
				name := partNamed(arg, id)
				d := derivation{c: c, seen: map[string]bool{}, lookups: credential.MatchString(name)}
				if !slices.Contains(names, name) && d.ofRequest(id.Name, way) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

var (
	// credential are names of what says who somebody is.
	credential = lazily(`(?i)(user|passw|pwd|secret|token|cred|auth|apikey|api_key|cert)`)
	// lookUps are names of functions that find something by what they are given.
	lookUps = lazily(`(?i)^(look|find|get|resolve|route|pick|choose|select|fetch|load|query|match|backend|shard|node|addr)`)
)

// partNamed is the variable, or the field of it, that an expression has at a name.
func partNamed(x ast.Expr, id *ast.Ident) string {
	name := id.Name
	ast.Inspect(x, func(n ast.Node) bool {
		f, ok := n.(*ast.SelectorExpr)
		if ok && f.X == id {
			name = types.ExprString(f)
		}
		return true
	})
	return name
}

// derivation follows variables to where they come from, along a way through the code.
type derivation struct {
	c    *code
	seen map[string]bool
	// lookups tells to follow what is looked up to what it is looked up by.
	lookups bool
}

// variablesIn are the names in an expression that may be variables. What a context is made of is
// left out, and so is by what something is looked up.
func (d derivation) variablesIn(x ast.Node) (all []*ast.Ident) {
	ast.Inspect(x, func(n ast.Node) bool {
		more := func(parts ...ast.Expr) bool {
			for _, p := range parts {
				all = append(all, d.variablesIn(p)...)
			}
			return false
		}
		switch n := n.(type) {
		case *ast.SelectorExpr:
			return more(n.X)
		case *ast.KeyValueExpr:
			return more(n.Value)
		case *ast.IndexExpr:
			if !d.lookups {
				return more(n.X)
			}
		case *ast.CompositeLit:
			return more(n.Elts...)
		case *ast.CallExpr:
			f, method := n.Fun.(*ast.SelectorExpr)
			switch {
			case method && f.Sel.Name == "Context" && len(n.Args) == 0:
				return false
			case d.lookups, !d.looksUp(n):
				more(n.Args...)
			}
			if method {
				more(f.X)
			}
			return false
		case *ast.Ident:
			all = append(all, n)
		}
		return true
	})
	return all
}

// looksUp tells of a call that it finds something by what it is given: a method of something, or a
// function of such a name. A client is made by none.
func (d derivation) looksUp(call *ast.CallExpr) bool {
	if f, ok := call.Fun.(*ast.SelectorExpr); ok && !namesOf(d.c).packages[rootName(f.X)] {
		return true
	}
	return lookUps.MatchString(calledName(call))
}

// fromContext are calls that take something of a request out of its context.
var fromContext = lazily(`^(Value|.*From(Incoming)?Context)$`)

// ofRequest tells whether a variable of the function that the first frame is in comes from a request.
func (d derivation) ofRequest(name string, way []stack.Frame) (found bool) {
	key := fmt.Sprint(name, " ", way[0])
	if d.seen[key] {
		return false
	}
	d.seen[key] = true
	if is, known := d.parameter(name, way); known {
		return is
	}
	fn := d.c.function(way[0])
	if fn == nil {
		return false
	}
	from := func(x ast.Node) {
		if call, ok := x.(*ast.CallExpr); ok && fromContext.MatchString(calledName(call)) && slices.ContainsFunc(call.Args, isContext) {
			found = true
		}
		for _, id := range d.variablesIn(x) {
			found = found || d.ofRequest(id.Name, way)
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if rootName(lhs) == name {
					from(n.Rhs[min(i, len(n.Rhs)-1)])
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if id.Name == name && len(n.Values) > 0 {
					from(n.Values[min(i, len(n.Values)-1)])
				}
			}
		case *ast.RangeStmt:
			if n.Key != nil && isNamed(n.Key, name) || n.Value != nil && isNamed(n.Value, name) {
				from(n.X)
			}
		}
		return !found
	})
	return found
}

// parameter tells of a parameter or receiver of the functions around the first line of a way whether
// it is a request, or what the caller gives comes from one; known is false of any other name.
func (d derivation) parameter(name string, way []stack.Frame) (is, known bool) {
	var inner *ast.FuncType
	var decl *ast.FuncDecl
	d.c.parse(way[0].File).onLine(way[0].Line, func(n ast.Node, _ []ast.Node) {
		var of string
		switch n := n.(type) {
		case *ast.FuncDecl:
			decl, inner = n, n.Type
			of, _ = parameter(n, name)
		case *ast.FuncLit:
			inner = n.Type
			of, _ = parameter(&ast.FuncDecl{Type: n.Type}, name)
		}
		if of != "" {
			is, known = isRequestType(of), true
		}
	})
	if is || !known || decl == nil || inner != decl.Type || len(way) < 2 {
		return is, known
	}
	fn := scopeOf(decl)
	i := fn.parameter(name)
	for _, call := range d.c.lineCalls(way[1]) {
		if calledName(call) != fn.name {
			continue
		}
		var given ast.Expr
		if i >= 0 && i < len(call.Args) {
			given = call.Args[i]
		} else if f, ok := call.Fun.(*ast.SelectorExpr); ok && name == fn.receiver {
			given = f.X
		}
		if given == nil {
			continue
		}
		is = is || slices.ContainsFunc(d.variablesIn(given), func(id *ast.Ident) bool { return d.ofRequest(id.Name, way[1:]) })
	}
	return is, true
}

// isRequestType tells of a type, by its name, that its values are requests, or have one.
func isRequestType(of string) bool {
	name := lastName(strings.TrimLeft(of, "*"))
	return strings.HasSuffix(name, "Request") || name == "RequestCtx" || of == "fiber.Ctx" || of == "gin.Context" || of == "echo.Context"
}

// keptByKey finds the line that puts what is made on the first line of a way into a map or a cache,
// in a function that looks there first.
func keptByKey(c *code, way []stack.Frame, callee string) (at Evidence, found bool) {
	for i := range min(3, len(way)) {
		fn, s := c.scopeAt(way[i]), c.parse(way[i].File)
		if fn == nil {
			return at, false
		}
		name, returned := "", false
		s.onLine(way[i].Line, func(n ast.Node, _ []ast.Node) {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if first, _ := s.lines(n); first == way[i].Line && isCallOf(n.Rhs[0], callee) {
					if name = types.ExprString(n.Lhs[0]); rootName(n.Lhs[0]) == "" {
						name = ""
					}
					if x, ok := n.Lhs[0].(*ast.IndexExpr); ok && looksInto(fn.body, types.ExprString(x.X), n) {
						at, found = c.shownAt(way[i].File, way[i].Line, "each is kept here"), true
					}
				}
			case *ast.ReturnStmt:
				first, _ := s.lines(n)
				returned = returned || first == way[i].Line
			}
		})
		if found {
			return at, true
		}
		if name != "" {
			if line, ok := keptAs(s, fn.body, name); ok {
				return c.shownAt(way[i].File, line, "each is kept here"), true
			}
			returned = returned || returns(fn.body, name)
		}
		if !returned {
			return at, false
		}
		callee = way[i].Func
	}
	return at, false
}

// isCallOf tells whether an expression is a call of a function.
func isCallOf(x ast.Expr, callee string) bool {
	call, ok := x.(*ast.CallExpr)
	return ok && calledName(call) == ownName(callee)
}

// returns tells whether a function returns a variable.
func returns(body ast.Node, name string) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		r, ok := n.(*ast.ReturnStmt)
		found = found || ok && slices.ContainsFunc(r.Results, func(x ast.Expr) bool { return isNamed(x, name) })
		return !found
	})
	return found
}

// keptAs finds where a function puts a variable into a map or a cache that it looks into as well.
func keptAs(s *syntax, body ast.Node, name string) (line int, found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		into, at := "", n
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if x, ok := lhs.(*ast.IndexExpr); ok && i < len(n.Rhs) && mentionsAny(n.Rhs[i], map[string]bool{name: true}) {
					into = types.ExprString(x.X)
				}
			}
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			if ok && len(n.Args) >= 2 && puts.MatchString(f.Sel.Name) && slices.ContainsFunc(n.Args[1:], func(a ast.Expr) bool { return isNamed(a, name) }) {
				into = types.ExprString(f.X)
				found = found || strings.HasPrefix(f.Sel.Name, "LoadOrStore")
			}
		}
		if into != "" && (found || looksInto(body, into, at)) {
			line, _ = s.lines(at)
			found = true
			return false
		}
		return !found
	})
	return line, found
}

var (
	puts  = lazily(`^(Store|LoadOrStore|Set|SetDefault|SetWithTTL|Add|Put|Insert|ContainsOrAdd|PeekOrAdd)$`)
	looks = lazily(`^(Load|LoadOrStore|Get|Peek|Lookup|Contains|Has)`)
)

// looksInto tells whether a function looks for a key in a map or cache, beside where it puts one.
func looksInto(body ast.Node, in string, put ast.Node) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n == put {
				return false
			}
		case *ast.IndexExpr:
			found = found || types.ExprString(n.X) == in
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			found = found || ok && n != put && looks.MatchString(f.Sel.Name) && types.ExprString(f.X) == in
		}
		return !found
	})
	return found
}

// tellMade adds to a finding about clients that are made again and again what the source tells of
// them: those that are kept by a key, or made with what a request brings, may be right as they are.
func (x *madeAt) tellMade(c *code, f *Finding) {
	if at, ok := keptByKey(c, x.way, x.callee); ok {
		f.Severity = Info
		f.Summary += fmt.Sprintf("; each is kept by a key (%s:%d)", baseName(at.File), at.Line)
		f.Evidence = append(f.Evidence, at)
		f.Advice = "If the same keys come again, nothing has to be done: hardly any more clients are made then. If a part of the key is new each time (a token, a time), leave it out. Close those that are no longer used."
		f.Doubts = append(f.Doubts, "each of them may be for another address or user, of which many came for the first time")
		return
	}
	names := ofRequestIn(c, x.way, x.callee)
	if len(names) == 0 {
		f.Doubts = append(f.Doubts, "if each of them is for another address or user, a client that is kept saves nothing")
		return
	}
	f.Severity = Info
	with := strings.Join(names[:min(2, len(names))], " and ")
	f.Summary += fmt.Sprintf("; they are made with %s, which the request brings", with)
	f.Advice = fmt.Sprintf("Do not share one client between requests that differ in what it is made with (%s). If the same come again and may be kept, keep a client for each in a map with a limit, and close those that are no longer used.", with)
	f.Doubts = append(f.Doubts, "it may have to be so: where the client has a user's own credentials that must not be kept, or where a probe is to find out whether it can connect")
}
