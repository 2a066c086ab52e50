package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
)

// Whether each value that a line encodes is another one: it comes from the item of a loop that the program goes through once.

// itemTaint follows the item of a loop by names, inwards through the calls of a stack.
type itemTaint struct {
	c *code
	// names are those of the function looked at that depend on the item, and fields that are set to what does: "s.last".
	names map[string]bool
	// turn is what is done with each item, where that is a part of the function looked at: the body of the loop.
	turn ast.Node
}

// of tells whether an expression depends on the item. What is taken by the rest of a division comes again.
func (t *itemTaint) of(x ast.Node) (found bool) {
	if x == nil {
		return false
	}
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.REM {
				return false
			}
		case *ast.SelectorExpr:
			found = found || t.names[types.ExprString(n)] || t.of(n.X)
			return false
		case *ast.Ident:
			found = found || t.names[n.Name]
		}
		return !found
	})
	return found
}

// assigned notes what an assignment of something that depends on the item makes depend on it. A list that is there before the item, which it is
// appended to, is not of the item, nor is a map that it is put into: it has all of them. Of any other field the value is.
func (t *itemTaint) assigned(body ast.Node, lhs, rhs ast.Expr) {
	name := rootName(lhs)
	if t.names[name] || t.inTurn(body, name) {
		t.mark(lhs)
		return
	}
	switch lhs := ast.Unparen(lhs).(type) {
	case *ast.IndexExpr:
	case *ast.SelectorExpr:
		if !appendsTo(rhs, types.ExprString(lhs)) {
			t.names[types.ExprString(lhs)] = true
		}
	default:
		if !appendsTo(rhs, types.ExprString(lhs)) {
			t.mark(lhs)
		}
	}
}

// inTurn tells of a name that it is declared in what is done with each item: of a function that is called there, anywhere but in its signature.
func (t *itemTaint) inTurn(body ast.Node, name string) bool {
	if t.turn != nil {
		body = t.turn
	}
	is := func(x ast.Expr) bool { id, ok := x.(*ast.Ident); return ok && id.Name == name }
	return hasAny(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			return n.Tok == token.DEFINE && slices.ContainsFunc(n.Lhs, is)
		case *ast.RangeStmt:
			return n.Tok == token.DEFINE && (is(n.Key) || is(n.Value))
		case *ast.ValueSpec:
			return slices.ContainsFunc(n.Names, func(id *ast.Ident) bool { return id.Name == name })
		}
		return false
	})
}

// mark notes what an assignment of something that depends on the item sets.
func (t *itemTaint) mark(x ast.Expr) {
	if name := rootName(x); x != nil && name != "" && name != "_" {
		t.names[name] = true
	}
}

// spread follows the names through the statements of a function.
func (t *itemTaint) spread(body ast.Node) {
	for before := -1; before != len(t.names); {
		before = len(t.names)
		ast.Inspect(body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					if rhs := n.Rhs[min(i, len(n.Rhs)-1)]; t.of(rhs) {
						t.assigned(body, lhs, rhs)
					}
				}
			case *ast.ValueSpec:
				if slices.ContainsFunc(n.Values, func(x ast.Expr) bool { return t.of(x) }) {
					for _, id := range n.Names {
						t.names[id.Name] = true
					}
				}
			case *ast.RangeStmt:
				if t.of(n.X) {
					t.mark(n.Value)
				}
			case *ast.CallExpr: // which may fill what it is given the address of
				if slices.ContainsFunc(n.Args, func(x ast.Expr) bool { return t.of(x) }) {
					for _, x := range n.Args {
						if to, ok := x.(*ast.UnaryExpr); ok && to.Op == token.AND {
							t.mark(to.X)
						}
					}
				}
			}
			return true
		})
	}
}

// begin takes the variables of the outermost loop around a line of a function; it is false where there is none.
func (t *itemTaint) begin(f stack.Frame) (loop int, ok bool) {
	s := t.c.parse(f.File)
	s.onLine(f.Line, func(n ast.Node, around []ast.Node) {
		var vars []ast.Expr
		switch n := n.(type) {
		case *ast.RangeStmt:
			if !s.covers(n.Body, f.Line) {
				return
			}
			vars = []ast.Expr{n.Key, n.Value}
		case *ast.ForStmt:
			if a, init := n.Init.(*ast.AssignStmt); init {
				vars = a.Lhs
			}
		case *ast.FuncLit:
			if len(t.names) == 0 && startsGoroutine(n, around) { // a loop that starts workers, which have no item
				ok, t.turn = false, nil
			}
			return
		default:
			return
		}
		if ok {
			return
		}
		loop, _ = s.lines(n)
		ok, t.turn = true, bodyOfLoop(n)
		for _, x := range vars {
			if x != nil {
				t.mark(x)
			}
		}
	})
	return loop, ok
}

// inwards goes on with the function that a line of another one calls.
func (t *itemTaint) inwards(from, to stack.Frame) {
	calls := sourceHolders{t.c}.lineCalls(from)
	names := map[string]bool{}
	fn := t.c.scopeAt(to)
	if literalsIn(to.Func) > 0 {
		if strings.HasPrefix(to.Func, strings.TrimSuffix(from.Func, "-fm")+".") { // it sees the names around it
			return
		}
		t.turn = nil
		if calls = slices.DeleteFunc(calls, func(x *ast.CallExpr) bool {
			return !slices.ContainsFunc(x.Args, func(x ast.Expr) bool { return t.of(x) })
		}); len(calls) == 1 && fn != nil { // by a value that is a function
			for at, x := range calls[0].Args {
				if name := paramName(fn.params, at); t.of(x) && name != "" {
					names[name] = true
				}
			}
		}
		t.names = names
		return
	}
	t.turn = nil
	if i := slices.IndexFunc(calls, func(x *ast.CallExpr) bool { return calledName(x) == ownName(to.Func) }); i >= 0 && fn != nil {
		for at, x := range calls[i].Args {
			if name := paramName(fn.params, at); t.of(x) && name != "" {
				names[name] = true
			}
		}
		if sel, ok := calls[i].Fun.(*ast.SelectorExpr); ok && fn.receiver != "" {
			if t.of(sel.X) {
				names[fn.receiver] = true
			}
			for name := range t.names { // and the fields of it that are set
				if field, ok := strings.CutPrefix(name, types.ExprString(sel.X)+"."); ok {
					names[fn.receiver+"."+field] = true
				}
			}
		}
	}
	t.names = names
}

// paramName is the name of the parameter at a place; empty where it has none.
func paramName(params *ast.FieldList, at int) string {
	if params == nil {
		return ""
	}
	for _, f := range params.List {
		if len(f.Names) == 0 || at < 0 {
			return ""
		}
		if at < len(f.Names) {
			return f.Names[at].Name
		}
		if at -= len(f.Names); at >= 0 {
			if _, rest := f.Type.(*ast.Ellipsis); rest {
				return f.Names[len(f.Names)-1].Name
			}
		}
	}
	return ""
}

// encodesItems finds the loop over items of which each is encoded at a line once: that of a program that works by itself, in
// main or around the go statement of the goroutine. Elsewhere the same items may come again.
func encodesItems(h *hit, line *hitLine) (loop string, ok bool) {
	if h.in.public().serves() || len(h.in.Session.Manifest().Of(recording.Load)) > 0 {
		return "", false
	}
	scope := h.in.Session.Scope()
	var own []stack.Frame // the outermost first
	for _, f := range slices.Backward(facts.Frames(h.p.Stacks, line.heavy)) {
		if scope.IsUser(f) {
			own = append(own, f)
		}
		if f == line.Caller {
			break
		}
	}
	if len(own) == 0 || own[len(own)-1] != line.Caller {
		return "", false
	}
	t := &itemTaint{c: h.in.code, names: map[string]bool{}}
	if l, items := itemLaunchOf(h.in.code, own[0]); stack.Enclosing(own[0].Func) != "main.main" && (!items || literalsIn(own[0].Func) == 0) {
		return "", false
	} else if items && l.at.File != own[0].File {
		return "", false
	}
	for i, f := range own {
		if i > 0 {
			t.inwards(own[i-1], f)
		}
		if loop == "" {
			if at, found := t.begin(f); found {
				loop = fileLine(f.File, at)
			}
		}
		if fn := t.c.scopeAt(f); fn != nil {
			for outer := fn; outer != nil; outer = outer.outer {
				t.spread(outer.body)
			}
		}
	}
	for _, call := range (sourceHolders{t.c}).lineCalls(line.Caller) {
		if calledName(call) == lastName(line.Callee) && len(call.Args) > 0 && t.of(call.Args[0]) {
			return loop, loop != ""
		}
	}
	return "", false
}
