package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"

	"loupe/value/stack"
)

// A wait that never ends may have a way out that nobody takes: a channel that some function closes,
// or a context that some function cancels. What is missing is a call of that function.

// endOf is a line of the source that ends a wait.
type endOf struct {
	what string // "c.done"
	does string // "closes"
	by   string // "(*Client).Close"
	file string
	line int
}

// WaitEnds is what to do about goroutines that wait at a line of the program and do not go on, where the source shows
// what ends the wait, with the lines that do, or that nothing does where a ticker is stopped; empty where it shows nothing.
func WaitEnds(in *Input, at stack.Frame) (advice string, shown []Evidence) {
	ends := endsAt(in.code, at)
	if len(ends) == 0 {
		return tickAdvice(in.code, at), nil
	}
	var by []string
	for i, e := range ends {
		text := fmt.Sprintf("%s at %s:%d", e.by, baseName(e.file), e.line)
		if i == 0 {
			text = fmt.Sprintf("%s %s at %s:%d", e.by, e.does, baseName(e.file), e.line)
		}
		by = append(by, text)
		shown = append(shown, in.code.shownAt(e.file, e.line, "this ends the wait"))
	}
	called := "it is called"
	if len(by) > 1 {
		called = "one of them is called"
	}
	return fmt.Sprintf("The wait has a way out: %s ends it, which %s. See that %s for each of them when what it is for is over, on every path (defer).", ends[0].what, strings.Join(by, ", and "), called), shown
}

// endsAt finds what ends the wait at a line, as far as one way out has it: at most two lines.
func endsAt(c *code, at stack.Frame) []endOf {
	s, in := c.parse(at.File), c.function(at)
	if s == nil || in == nil {
		return nil
	}
	for _, x := range waitedFor(s, in, at.Line) {
		if ends := (endSearch{c, at.File, s, in, at.Line}).of(x); len(ends) > 0 {
			return ends[:min(2, len(ends))]
		}
	}
	return nil
}

// waitedFor are the channels whose close lets a wait at a line end: what is received from there, and of a select, what
// leaves its loop, or its function.
func waitedFor(s *syntax, in *ast.FuncDecl, line int) (all []ast.Expr) {
	begins := func(n ast.Node) bool { first, _ := s.lines(n); return first == line }
	eachNode(in.Body, func(n ast.Node, around []ast.Node) {
		switch n := n.(type) {
		case *ast.SelectStmt:
			if !begins(n) {
				return
			}
			for _, clause := range n.Body.List {
				clause := clause.(*ast.CommClause)
				if x := receivedFrom(clause.Comm); x != nil && (returnsAtEnd(clause.Body) || loopBody(around) == nil) {
					all = append(all, x)
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && begins(n) && !slices.ContainsFunc(around, func(n ast.Node) bool { _, ok := n.(*ast.CommClause); return ok && begins(n) }) {
				all = append(all, n.X)
			}
		case *ast.RangeStmt:
			if begins(n) {
				all = append(all, n.X)
			}
		}
	})
	return all
}

// returnsAtEnd tells of the statements of a case that they leave the loop around the select: a break leaves only the
// select, unless it names the loop.
func returnsAtEnd(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	if b, ok := list[len(list)-1].(*ast.BranchStmt); ok {
		return b.Tok == token.GOTO || b.Tok == token.BREAK && b.Label != nil
	}
	return leavesLoop(list)
}

// endSearch looks for what ends a wait at a line of a function.
type endSearch struct {
	c    *code
	file string
	s    *syntax
	in   *ast.FuncDecl
	line int
}

// of finds the lines that close a channel, or cancel the context whose Done it is.
func (e endSearch) of(x ast.Expr) []endOf {
	if call, ok := x.(*ast.CallExpr); ok {
		if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Done" && len(call.Args) == 0 {
			return e.cancels(f.X)
		}
		return nil
	}
	text := types.ExprString(x)
	return e.lines(text, "closes", func(d *ast.FuncDecl, call *ast.CallExpr) bool {
		return types.ExprString(call.Fun) == "close" && len(call.Args) == 1 && e.same(x, d, call.Args[0])
	})
}

// same tells whether an expression in a function is the channel, or the like, that is waited for: the same variable, or
// the same field.
func (e endSearch) same(x ast.Expr, d *ast.FuncDecl, y ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		if !isNamed(y, x.Name) {
			return false
		}
		if declaredIn(e.in, x.Name) || isParameter(e.in, x.Name) {
			return d == e.in && !isParameter(e.in, x.Name)
		}
		return namesOf(e.c).variables[x.Name] && !declaredIn(d, x.Name) && !isParameter(d, x.Name)
	case *ast.SelectorExpr:
		f, ok := y.(*ast.SelectorExpr)
		if !ok || f.Sel.Name != x.Sel.Name {
			return false
		}
		if namesOf(e.c).fields[x.Sel.Name] == 1 {
			return true
		}
		a, aok := x.X.(*ast.Ident)
		b, bok := f.X.(*ast.Ident)
		if !aok || !bok {
			return false
		}
		of := typeNameOf(e.c, e.in, a.Name)
		return of != "" && of == typeNameOf(e.c, d, b.Name)
	}
	return false
}

// cancels finds the calls of the function that cancels a context: a variable of the function that waits, or a field.
func (e endSearch) cancels(ctx ast.Expr) []endOf {
	if !isPart(ctx) && !isIdent(ctx) {
		return nil
	}
	made := map[string]bool{} // names of what cancels it, as variables or fields
	e.each(func(file string, d *ast.FuncDecl) {
		locals := map[string]string{} // contexts made in the function, by the name of what cancels them
		ast.Inspect(d.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				call, ok := n.Rhs[0].(*ast.CallExpr)
				if !ok || len(n.Lhs) != 2 {
					return true
				}
				if is, _ := makesContext(call); is {
					locals[types.ExprString(n.Lhs[1])] = types.ExprString(n.Lhs[0])
					if e.same(ctx, d, n.Lhs[0]) {
						made[lastName(types.ExprString(n.Lhs[1]))] = true
					}
				}
			case *ast.CompositeLit:
				e.kept(ctx, n, locals, made)
			}
			return true
		})
	})
	delete(made, "_")
	_, local := ctx.(*ast.Ident)
	return e.lines(types.ExprString(ctx), "cancels", func(d *ast.FuncDecl, call *ast.CallExpr) bool {
		if local {
			return d == e.in && isIdent(call.Fun) && made[types.ExprString(call.Fun)]
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		return ok && len(call.Args) == 0 && made[f.Sel.Name] && namesOf(e.c).fields[f.Sel.Name] == 1
	})
}

// kept adds the fields of a literal that hold what cancels the context that another field holds.
func (e endSearch) kept(ctx ast.Expr, lit *ast.CompositeLit, locals map[string]string, made map[string]bool) {
	sel, ok := ctx.(*ast.SelectorExpr)
	if !ok || namesOf(e.c).fields[sel.Sel.Name] != 1 {
		return
	}
	values := map[string]string{}
	for _, x := range lit.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			values[types.ExprString(kv.Key)] = types.ExprString(kv.Value)
		}
	}
	for field, v := range values {
		if of := locals[v]; of != "" && of == values[sel.Sel.Name] {
			made[field] = true
		}
	}
}

// each visits the functions of the sources.
func (e endSearch) each(do func(file string, d *ast.FuncDecl)) {
	e.c.eachSource(func(file string, s *syntax) {
		for _, x := range s.file.Decls {
			if d, ok := x.(*ast.FuncDecl); ok && d.Body != nil && !strings.HasSuffix(file, "_test.go") {
				do(file, d)
			}
		}
	})
}

// lines finds calls that end the wait, but for those that the function which waits makes itself: it does not get there.
func (e endSearch) lines(what, does string, ends func(d *ast.FuncDecl, call *ast.CallExpr) bool) (all []endOf) {
	waits := e.bodyAt(e.s, e.in, e.line)
	unsure := setElsewhere(e, what)
	e.each(func(file string, d *ast.FuncDecl) {
		if !strings.Contains(what, ".") && path.Dir(file) != path.Dir(e.file) {
			return // a variable of another package
		}
		s := e.c.parse(file)
		ast.Inspect(d.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !ends(d, call) {
				return true
			}
			line, _ := s.lines(call)
			if file == e.file && e.bodyAt(s, d, line) == waits {
				return true
			}
			unsure = unsure || guardedEnd(d, call, what)
			name := d.Name.Name
			if of := receiverType(d); of != "" {
				name = fmt.Sprintf("(%s).%s", types.ExprString(d.Recv.List[0].Type), name)
			}
			all = append(all, endOf{what, does, name, file, line})
			return true
		})
	})
	if unsure {
		return nil
	}
	return all
}

// guardedEnd tells of a call that ends a wait that a condition decides whether it is reached, other than whether that
// was done before: calling its function may do nothing.
func guardedEnd(d *ast.FuncDecl, call *ast.CallExpr, what string) bool {
	decides := func(cond ast.Expr) bool {
		return !asksError(cond, token.NEQ) && !onceNames.MatchString(strings.ReplaceAll(types.ExprString(cond), lastName(what), ""))
	}
	nodes := append(nodesAround(d.Body, call), call)
	for i, n := range nodes[:len(nodes)-1] {
		switch x := n.(type) {
		case *ast.IfStmt:
			if (nodes[i+1] == ast.Node(x.Body) || nodes[i+1] == x.Else) && decides(x.Cond) {
				return true
			}
		case *ast.CaseClause:
			return true
		}
		for _, before := range statements(n) {
			if before == nodes[i+1] {
				break
			}
			if x, ok := before.(*ast.IfStmt); ok && leavesLoop(x.Body.List) && decides(x.Cond) {
				return true
			}
		}
	}
	return false
}

// onceNames are words of conditions that ask whether something has been done before.
var onceNames = lazily(`(?i)closed|stopped|done|once|swap`)

// setElsewhere tells of a field that is waited for that it is set outside of what makes its struct: a wait may be for another
// one than that which is closed.
func setElsewhere(e endSearch, what string) (found bool) {
	if !strings.Contains(what, ".") {
		return false
	}
	field := lastName(what)
	e.each(func(_ string, d *ast.FuncDecl) {
		ast.Inspect(d.Body, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			found = found || ok && a.Tok == token.ASSIGN && !starts.MatchString(d.Name.Name) && slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool {
				sel, ok := x.(*ast.SelectorExpr)
				return ok && sel.Sel.Name == field
			})
			return !found
		})
	})
	return found
}

// bodyAt is where the innermost function around a line begins.
func (e endSearch) bodyAt(s *syntax, d *ast.FuncDecl, line int) (at token.Pos) {
	at = d.Body.Pos()
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncLit); ok && s.covers(f.Body, line) {
			at = f.Body.Pos()
		}
		return true
	})
	return at
}
