package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// What one turn of a loop, or one call of a function, does with a text that is read as a whole in it.

// turn is the body of a loop or of a function that reads all of a place at a node.
type turn struct {
	c    *code
	file string
	body *ast.BlockStmt
	x    spot
	node ast.Node // nil in a function that it calls
	loop bool
	// grewIn and grewAt are the file and the line of what adds to it.
	grewIn string
	grewAt int
	// atTimes tells that a condition of its own decides whether it is read.
	atTimes bool
}

// fileLine is a place in a file.
func fileLine(file string, line int) string { return fmt.Sprintf("%s:%d", baseName(file), line) }

// around are the nodes around another one in the body, the outermost first.
func (t *turn) around(of ast.Node) (found []ast.Node) {
	eachNode(t.body, func(n ast.Node, around []ast.Node) {
		if n == of {
			found = slices.Clone(around)
		}
	})
	return found
}

// once tells whether the loop is left after the place was read: in a return, or in a branch that ends
// with one.
func (t *turn) once() bool { return t.node != nil && t.leaves(t.around(t.node)) }

// leaves tells of the nodes around another one that one of them ends with leaving the loop.
func (t *turn) leaves(around []ast.Node) bool {
	inner := false // a break leaves something else
	for i, n := range around {
		var list []ast.Stmt
		clause := false
		switch n := n.(type) {
		case *ast.ReturnStmt:
			return true
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			inner = true
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list, clause = n.Body, true
		case *ast.CommClause:
			list, clause = n.Body, true
		}
		if i > 0 && leavesLoop(list) && (!inner && !clause || leavesClause(list)) {
			return true
		}
	}
	return false
}

// adds tells of a statement or a call that it adds to the place, and leaves what is there.
func (t *turn) adds(n ast.Node) bool {
	is := func(x ast.Expr) bool { p, ok := spotOf(x); return ok && p.text() == t.x.text() }
	switch n := n.(type) {
	case *ast.AssignStmt:
		i := slices.IndexFunc(n.Lhs, is)
		if i < 0 || n.Tok == token.DEFINE {
			return false
		}
		if n.Tok == token.ADD_ASSIGN {
			return true
		}
		switch x := n.Rhs[min(i, len(n.Rhs)-1)].(type) {
		case *ast.BinaryExpr:
			return n.Tok == token.ASSIGN && x.Op == token.ADD && is(leftmost(x))
		case *ast.CallExpr:
			name := types.ExprString(x.Fun)
			appends := name == "append" || strings.Contains(name, ".Append")
			return appends && len(x.Args) > 1 && is(x.Args[0]) && n.Tok == token.ASSIGN
		}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && is(f.X) {
			return strings.HasPrefix(f.Sel.Name, "Write") && f.Sel.Name != "WriteTo" || f.Sel.Name == "ReadFrom"
		}
		name := types.ExprString(n.Fun)
		return (name == "io.Copy" || name == "io.CopyN" || name == "io.CopyBuffer" || strings.HasPrefix(name, "fmt.Fprint")) && len(n.Args) > 1 && is(n.Args[0])
	}
	return false
}

// takes tells of a statement or a call that it gives the place another value, or may take something
// from it.
func (t *turn) takes(n ast.Node) (found bool) {
	if t.adds(n) {
		return false
	}
	for _, x := range givenValues(n) {
		found = found || t.x.isSetBy(x)
	}
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return found
	}
	switch name := types.ExprString(call.Fun); name {
	case "copy", "clear", "delete":
		return len(call.Args) > 0 && t.x.isSetBy(call.Args[0])
	}
	if f, ok := call.Fun.(*ast.SelectorExpr); ok {
		if p, ok := spotOf(f.X); ok && p.text() == t.x.text() {
			return !slices.Contains([]string{"Len", "Cap", "Bytes", "String", "Grow", "Available", "AvailableBuffer"}, f.Sel.Name)
		}
	}
	for _, x := range call.Args {
		u, ok := x.(*ast.UnaryExpr)
		found = found || ok && u.Op == token.AND && t.x.isSetBy(u.X) && (len(t.x.fields) == 0 || isSameSpot(u.X, t.x))
	}
	return found
}

func isSameSpot(x ast.Expr, p spot) bool {
	q, ok := spotOf(x)
	return ok && q.text() == p.text()
}

// resets tells whether a turn may make the place begin anew, or change what it has: here, unless the
// loop is left then, or in what is called here.
func (t *turn) resets() (found bool) {
	eachNode(t.body, func(n ast.Node, around []ast.Node) {
		if found || !t.takes(n) {
			return
		}
		found = !t.loop || !t.leaves(append(slices.Clone(around), n))
	})
	return found || t.lent() || t.resetsIn(t.body, map[*ast.FuncDecl]bool{}, 0)
}

// lent tells whether the place is an argument of a call that may keep it or take from it: only that
// of a buffer by its pointer can.
func (t *turn) lent() (found bool) {
	ast.Inspect(t.body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && !t.adds(call) && !plainText(t.c, t.file, t.body, t.x) {
			found = found || slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return isSameSpot(x, t.x) })
		}
		return !found
	})
	return found
}

// plainText tells of a place that it is no buffer: it is added to by append or +.
func plainText(c *code, file string, body ast.Node, p spot) bool {
	of := bufferType(c, file, body, p)
	return !strings.Contains(of, "Buffer") && !strings.Contains(of, "Builder")
}

// bufferType is the type of a place, as far as the source tells.
func bufferType(c *code, file string, body ast.Node, p spot) string {
	if len(p.fields) > 0 {
		return fieldType(c, p.last())
	}
	for _, d := range c.parse(file).file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && f.Pos() <= body.Pos() && body.End() <= f.End() {
			return typeNameOf(c, f, p.root)
		}
	}
	return ""
}

// resetsIn tells whether functions that are called in a node, or those that these call, set a field or
// a variable of the package of that name, other than by adding to it.
func (t *turn) resetsIn(n ast.Node, seen map[*ast.FuncDecl]bool, depth int) (found bool) {
	if depth > 3 || len(t.x.fields) == 0 && declaresBelow(t.c, t.file, t.body, t.x.root) {
		return false
	}
	name := t.x.last()
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		for _, d := range t.c.functions()[calledName(call)] {
			if seen[d.FuncDecl] || len(seen) > 100 {
				continue
			}
			seen[d.FuncDecl] = true
			ast.Inspect(d.Body, func(n ast.Node) bool {
				for _, p := range spotsIn(n) {
					if p.last() == name && (len(p.fields) > 0) == (len(t.x.fields) > 0) && !(len(p.fields) == 0 && scopeOf(d.FuncDecl).declares(name)) {
						found = found || (&turn{c: t.c, file: d.file, body: d.Body, x: p}).takes(n)
					}
				}
				return !found
			})
			found = found || t.resetsIn(d.Body, seen, depth+1)
		}
		return !found
	})
	return found
}

// spotsIn are the places that a statement sets, or on which a call is made or which it is given.
func spotsIn(n ast.Node) (all []spot) {
	from := givenValues(n)
	if call, ok := n.(*ast.CallExpr); ok {
		from = append(from, call.Args...)
		if f, ok := call.Fun.(*ast.SelectorExpr); ok {
			from = append(from, f.X)
		}
	}
	for _, x := range from {
		if root, fields := chain(x); root != "" {
			all = append(all, spot{root, fields})
		}
	}
	return all
}

// declaresBelow tells whether the function around a body declares a variable.
func declaresBelow(c *code, file string, body ast.Node, name string) bool {
	for _, d := range c.parse(file).file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && f.Pos() <= body.Pos() && body.End() <= f.End() {
			return scopeOf(f).declares(name) || scopeOf(f).receiver == name
		}
	}
	return true
}

// grows tells whether each turn adds to the place: a statement of its own, or a method that it calls.
func (t *turn) grows() bool {
	s := t.c.parse(t.file)
	var here []ast.Node
	if t.node != nil {
		here = append(t.around(t.node), t.node)
	}
	found := false
	eachNode(t.body, func(n ast.Node, around []ast.Node) {
		if found {
			return
		}
		file, line := t.file, 0
		switch {
		case t.adds(n):
			line, _ = s.lines(n)
		default:
			if file, line = t.growsIn(n); line == 0 {
				return
			}
		}
		around = append(slices.Clone(around), n)
		if !t.each(around, here, n) {
			return
		}
		found, t.grewIn, t.grewAt = true, file, line
		t.atTimes = t.node != nil && !t.each(here, around, n)
	})
	return found
}

// growsIn is grows of what a call runs: a method of what the place is a field of.
func (t *turn) growsIn(n ast.Node) (file string, line int) {
	call, ok := n.(*ast.CallExpr)
	if !ok || t.node == nil || len(t.x.fields) == 0 {
		return "", 0
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", 0
	}
	on, ok := spotOf(f.X)
	rest, below := strings.CutPrefix(t.x.text(), on.text()+".")
	if !ok || !below {
		return "", 0
	}
	for _, d := range t.c.functions()[f.Sel.Name] {
		fn := scopeOf(d.FuncDecl)
		if fn.receiver == "" {
			continue
		}
		in := &turn{c: t.c, file: d.file, body: d.Body, x: spot{fn.receiver, strings.Split(rest, ".")}}
		if in.grows() {
			return in.grewIn, in.grewAt
		}
	}
	return "", 0
}

// each tells whether what has some nodes around it is done as often as what has others around it: each
// condition that it is under is one of both, or one that tells no more than that there was something to
// add. from is what adds.
func (t *turn) each(around, other []ast.Node, from ast.Node) bool {
	for i, n := range around {
		inner := ast.Node(nil)
		if i+1 < len(around) {
			inner = around[i+1]
		}
		both := slices.Contains(other, ast.Node(n)) && (inner == nil || slices.Contains(other, inner))
		switch n := n.(type) {
		case *ast.FuncLit:
			if !both {
				return false
			}
		case *ast.IfStmt:
			if !both && inner != n.Init && inner != n.Cond && !(inner == n.Body && asksToAdd(n.Cond, from)) {
				return false
			}
		case *ast.CaseClause:
			if !slices.Contains(other, ast.Node(n)) {
				return false
			}
		case *ast.CommClause:
			// What comes by a channel, and what is done after the select.
			if !slices.Contains(other, ast.Node(n)) && slices.ContainsFunc(other, func(n ast.Node) bool { _, is := n.(*ast.CommClause); return is }) {
				return false
			}
		case *ast.BlockStmt:
			for _, s := range n.List {
				if inner == nil || s.Pos() >= inner.Pos() {
					break
				}
				if x, ok := s.(*ast.IfStmt); ok && !slices.Contains(other, ast.Node(x)) && goesOn(x.Body.List) && !asksToAdd(x.Cond, from) && !(slices.Contains(other, ast.Node(n)) && other[slices.Index(other, ast.Node(n))+1].Pos() > x.End()) {
					return false // the turn ends before
				}
			}
		}
	}
	return true
}

// asksToAdd tells of a condition that it asks for no more than whether there was an error, or something
// that is added.
func asksToAdd(cond ast.Expr, from ast.Node) bool {
	added := map[string]bool{"nil": true, "len": true, "errors": true, "io": true, "err": true, "ok": true, "true": true, "false": true, "string": true}
	ast.Inspect(from, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, r := range a.Rhs {
				if call, ok := r.(*ast.CallExpr); ok && len(call.Args) > 1 {
					for _, x := range call.Args[1:] {
						namesIn(x, added)
					}
				} else if b, ok := r.(*ast.BinaryExpr); ok {
					namesIn(b.Y, added)
				} else {
					namesIn(r, added)
				}
			}
			return false
		}
		if call, ok := n.(*ast.CallExpr); ok {
			for _, x := range call.Args {
				namesIn(x, added)
			}
			return false
		}
		return true
	})
	asks := true
	ast.Inspect(cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			asks = asks && added[rootName(n.X)]
			return false
		case *ast.Ident:
			asks = asks && (added[n.Name] || isError(n.Name))
		}
		return asks
	})
	return asks
}

// namesIn adds the variables of an expression.
func namesIn(x ast.Node, to map[string]bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			to[id.Name] = true
		}
		return true
	})
}

// decides tells whether what was read decides, in the body, whether the loop or the function is left.
func (t *turn) decides() (found bool) {
	results := map[string]bool{}
	eachNode(t.body, func(n ast.Node, _ []ast.Node) {
		if within(n, t.node) || n == t.node {
			if _, whole := n.(*ast.BlockStmt); whole || n == ast.Node(t.body) {
				return
			}
			switch n := n.(type) {
			case *ast.AssignStmt, *ast.ValueSpec:
				for _, x := range givenValues(n) {
					results[rootName(x)] = true
				}
			}
		}
	})
	if isLoop(t.node) {
		ast.Inspect(t.node, func(n ast.Node) bool {
			for _, x := range givenValues(n) {
				results[rootName(x)] = true
			}
			r, ok := n.(*ast.ReturnStmt)
			found = found || ok && r != nil
			return true
		})
	}
	delete(results, "_")
	delete(results, "err")
	has := func(n ast.Node) bool { return within(n, t.node) || mentionsAny(n, results) }
	eachNode(t.body, func(n ast.Node, around []ast.Node) {
		if isLoop(t.node) && slices.Contains(around, t.node) {
			return // it leaves the loop that reads
		}
		switch n := n.(type) {
		case *ast.ReturnStmt:
			found = found || has(n)
		case *ast.IfStmt:
			in := results
			if a, ok := n.Init.(*ast.AssignStmt); ok && within(a, t.node) {
				in = map[string]bool{}
				for _, x := range a.Lhs {
					in[rootName(x)] = true
				}
			}
			otherwise, _ := n.Else.(*ast.BlockStmt)
			switch endsWhen(n.Cond, t.node, in) {
			case -1:
				found = found || leavesLoop(n.Body.List)
			case 1:
				found = found || otherwise != nil && leavesLoop(otherwise.List) || goesOn(n.Body.List) && len(around) > 0 && leavesLoop(statements(around[len(around)-1]))
			}
		case *ast.CaseClause:
			found = found || slices.ContainsFunc(n.List, func(x ast.Expr) bool { return endsWhen(x, t.node, results) == -1 }) && leavesClause(n.Body)
		case *ast.ForStmt:
			found = found || n.Cond != nil && ast.Node(n) != t.node && endsWhen(n.Cond, t.node, results) == 1
		}
	})
	return found
}

// endsWhen tells what a condition says of what was read at a node, or of its results: 1 that nothing was
// found, -1 that something was, and 0 that it says neither.
func endsWhen(cond ast.Expr, node ast.Node, results map[string]bool) int {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return endsWhen(x.X, node, results)
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			return -endsWhen(x.X, node, results)
		}
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			if first := endsWhen(x.X, node, results); first != 0 {
				return first
			}
			return endsWhen(x.Y, node, results)
		}
		if !within(cond, node) && !mentionsAny(cond, results) {
			return 0
		}
		y := types.ExprString(x.Y)
		if x.Op == token.LSS && y == "0" || x.Op == token.EQL && (y == "-1" || y == "nil" || y == "0" || y == "false") {
			return 1
		}
		return -1
	}
	if within(cond, node) || mentionsAny(cond, results) {
		return -1
	}
	return 0
}
