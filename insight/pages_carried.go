package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Pages that go by numbers may need each other all the same: a call takes along what an earlier one has left (a field, a variable of the package, a cookie),
// a turn tells the peer something before it asks for the next page, or an item of an answer ends the loop.

// pageCarry is what makes pages depend on those before.
type pageCarry struct {
	at   codeLine
	what string // as a clause
	// other tells that it is another request, and field that it is a variable that the calls share.
	other, field bool
}

// carriedPagesAdvice is what to do about pages that take along what earlier ones have left.
func (p pageCarry) advice() string {
	advice := fmt.Sprintf("The pages go by numbers, but %s: the peer may have to answer one page before it gives the next. If its documentation says that they may be asked for in any order, ask for several at a time, with a limit", p.what)
	if p.field {
		advice += ", each with its own of what the calls set"
	}
	advice += ". Otherwise make them fewer: larger pages, as far as the peer allows them"
	if !p.other {
		advice += "; and fetch the next page while this one is processed"
	}
	return advice + "."
}

// untilAdvice is what to do about pages up to one that an item of an answer ends.
func (p pageCarry) untilAdvice() string {
	return fmt.Sprintf("The pages go by numbers, but %s: whether the next one is needed, only the answer tells. Of several that are asked for at a time, those behind the end are fetched in vain; ask for two or three at a time at most, or fetch the next one while this one is processed. Better have the peer leave out what is not wanted (a filter, a time from which on). Larger pages, as far as the peer allows them, make them fewer.", p.what)
}

// carriedBetween finds what the calls of a loop take along from earlier ones.
func carriedBetween(l loop, c *code, called func(*ast.CallExpr) bool) (found pageCarry, ok bool) {
	s := &carriedSearch{l: l, c: c, called: called}
	for _, look := range []func(){s.state, s.jar, s.otherRequest} {
		if look(); s.found.what != "" {
			return s.found, true
		}
	}
	return found, false
}

type carriedSearch struct {
	l      loop
	c      *code
	called func(*ast.CallExpr) bool
	found  pageCarry
}

// calls are those of the loop that ask for a page.
func (s *carriedSearch) calls() (all []*ast.CallExpr) {
	ast.Inspect(s.l.body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && s.called(call) {
			all = append(all, call)
		}
		return true
	})
	return all
}

// reached are the functions of the program that a call leads to.
func (s *carriedSearch) reached(call ast.Node) (below []declaration) {
	reachedFrom(s.c, call, &below, 0)
	return below
}

// state looks for a field, a variable of the package, or one of a function around a closure, which the calls set and read.
func (s *carriedSearch) state() {
	w := turnsOf(s.l.source, s.l.body)
	for _, call := range s.calls() {
		stays := func(x ast.Expr) bool {
			name := rootName(x)
			return name != "" && w.declaration(name, call.Pos()) == nil
		}
		if at, text := stateKept(s.c, call, stays, 0); text != "" {
			s.found = pageCarry{at: at, field: true, what: fmt.Sprintf("each call sets %s (%s), which the next one reads", text, at.text())}
			return
		}
		if fn := closureNamed(s.l.source, call); fn != nil {
			kept := &keptState{c: s.c, given: func(name string) bool {
				return name != "" && !declaredIn(&ast.FuncDecl{Type: fn.Type, Body: fn.Body}, name)
			}}
			kept.read(fn.Body)
			if n, text := kept.both(); n != nil {
				line, _ := s.l.source.lines(n)
				s.found = pageCarry{at: codeLine{fileOfLoop(s.l, s.c), line}, field: true, what: fmt.Sprintf("each call sets %s (line %d), which the next one reads", text, line)}
				return
			}
		}
	}
	s.setByLoop()
}

// fileOfLoop is that of a loop; empty where it is not known.
func fileOfLoop(l loop, c *code) (file string) {
	c.eachSource(func(name string, s *syntax) {
		if s == l.source {
			file = name
		}
	})
	return file
}

// closureNamed is the function without a name that a called variable is declared with; nil where it is none.
func closureNamed(s *syntax, call *ast.CallExpr) (fn *ast.FuncLit) {
	id, ok := call.Fun.(*ast.Ident)
	if !ok {
		return nil
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				if lit, is := n.Rhs[min(i, len(n.Rhs)-1)].(*ast.FuncLit); is && isNamed(x, id.Name) {
					fn = lit
				}
			}
		case *ast.ValueSpec:
			for i, x := range n.Names {
				if i < len(n.Values) && x.Name == id.Name {
					fn, _ = n.Values[i].(*ast.FuncLit)
				}
			}
		}
		return fn == nil
	})
	return fn
}

// setByLoop looks for a field, or a variable of the package, that the loop sets to something of an answer, and which the calls read.
func (s *carriedSearch) setByLoop() {
	w := turnsOf(s.l.source, s.l.body)
	w.calls = s.called
	ast.Inspect(s.l.body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN || s.found.what != "" {
			return true
		}
		for i, x := range a.Lhs {
			name := ""
			if sel, field := x.(*ast.SelectorExpr); field && w.declaration(rootName(x), x.Pos()) == nil {
				name = sel.Sel.Name
			} else if isIdent(x) && isPackageVariable(s.c, types.ExprString(x)) && w.declaration(rootName(x), x.Pos()) == nil {
				name = types.ExprString(x)
			}
			if name == "" || !w.has(a.Rhs[min(i, len(a.Rhs)-1)]) {
				continue
			}
			for _, call := range s.calls() {
				if slices.ContainsFunc(s.reached(call), func(d declaration) bool { return readsNamed(d, name) }) {
					line, _ := s.l.source.lines(a)
					s.found = pageCarry{at: codeLine{fileOfLoop(s.l, s.c), line}, field: true, what: fmt.Sprintf("each turn sets %s to what an answer says (line %d), and the next call reads it", types.ExprString(x), line)}
					return false
				}
			}
		}
		return true
	})
}

// readsNamed tells of a function that it reads such a field of what it is given, or such a variable that it does not declare.
func readsNamed(d declaration, name string) bool {
	given := parameters(d.Type)
	if d.Recv != nil && len(d.Recv.List[0].Names) == 1 {
		given = append(given, d.Recv.List[0].Names[0].Name)
	}
	return hasNode(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			return n.Sel.Name == name && slices.Contains(given, rootName(n))
		case *ast.Ident:
			return n.Name == name && !declaredIn(d.FuncDecl, name)
		}
		return false
	})
}

// jar looks for a client that keeps cookies: it sends with each request what the answers before have set.
func (s *carriedSearch) jar() {
	asks := func(n ast.Node) bool {
		return hasCall(n, func(call *ast.CallExpr) bool {
			of := types.ExprString(receiverOf(call))
			return slices.Contains([]string{"Do", "Get", "Head", "Post", "PostForm"}, calledName(call)) && of != "http" && of != "http.DefaultClient" && !headerNames.MatchString(of)
		})
	}
	client := false
	for _, call := range s.calls() {
		client = client || asks(call) || slices.ContainsFunc(s.reached(call), func(d declaration) bool { return asks(d.Body) })
	}
	if at := anyJar(s.c); at.line > 0 && client {
		s.found = pageCarry{at: at, what: fmt.Sprintf("a client of the program keeps cookies (%s), so that a call may send what the answer before has set", at.text())}
	}
}

// anyJar is the first line of the sources that gives a client a jar for cookies.
func anyJar(c *code) (at codeLine) {
	c.eachSource(func(file string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			gives := false
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, x := range n.Lhs {
					sel, ok := x.(*ast.SelectorExpr)
					gives = gives || ok && sel.Sel.Name == "Jar" && !isNamed(n.Rhs[min(i, len(n.Rhs)-1)], "nil")
				}
			case *ast.KeyValueExpr:
				gives = isNamed(n.Key, "Jar") && !isNamed(n.Value, "nil")
			case *ast.CallExpr:
				gives = calledName(n) == "SetCookieJar" && len(n.Args) == 1 && !isNamed(n.Args[0], "nil") || types.ExprString(n.Fun) == "resty.New"
			}
			if gives && at.line == 0 {
				line, _ := s.lines(n)
				at = codeLine{file, line}
			}
			return at.line == 0
		})
	})
	return at
}

// otherRequest looks for a request that a turn makes beside that for the page, and which may change something at the peer.
func (s *carriedSearch) otherRequest() {
	note := func(file string, src *syntax, call *ast.CallExpr) {
		if s.found.what != "" || src == nil {
			return
		}
		line, _ := src.lines(call)
		at := codeLine{file, line}
		s.found = pageCarry{at: at, other: true, what: fmt.Sprintf("each turn also makes a request that may change something at the peer (%s, %s)", types.ExprString(call.Fun), at.text())}
	}
	within := func(below []declaration) {
		for _, d := range below {
			hasCall(d.Body, func(call *ast.CallExpr) bool {
				if changesPeer(s.c, call) {
					note(d.file, s.c.parse(d.file), call)
				}
				return false
			})
		}
	}
	ast.Inspect(s.l.body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || s.called(call) {
			return true
		}
		if changesPeer(s.c, call) && !hasCall(call, s.called) && !s.makesPage(call) {
			note(fileOfLoop(s.l, s.c), s.l.source, call)
		}
		within(s.reachedBeside(call))
		return true
	})
	for _, call := range s.calls() {
		below := s.reached(call)
		if slices.ContainsFunc(below, func(d declaration) bool {
			return hasCall(d.Body, func(call *ast.CallExpr) bool { return onlyAsksPeer(s.c, call) })
		}) {
			within(below)
		}
	}
}

// headerNames are the ends of names of what has values under keys, and makes no request.
var headerNames = lazily(`(?i)(header|query\(\)|values?|form|trailer|vars|^q|^h|env|os|cache)$`)

// onlyAsksPeer tells of a call of a library that it is a request which changes nothing, by its name or the method that it is given.
func onlyAsksPeer(c *code, call *ast.CallExpr) bool {
	if len(c.functions()[calledName(call)]) > 0 {
		return false
	}
	if strings.HasPrefix(calledName(call), "NewRequest") {
		return !changesPeer(c, call)
	}
	of := types.ExprString(receiverOf(call))
	return (calledName(call) == "Get" || calledName(call) == "Head") && len(call.Args) == 1 && !headerNames.MatchString(of)
}

// reachedBeside are the functions that another call of a turn leads to, and no call for a page does.
func (s *carriedSearch) reachedBeside(call *ast.CallExpr) []declaration {
	if hasCall(call, s.called) {
		return nil
	}
	return s.reached(&ast.CallExpr{Fun: call.Fun})
}

// makesPage tells of a call that it makes the request for the page: what it gives is handed to the call that asks.
func (s *carriedSearch) makesPage(call *ast.CallExpr) bool {
	w := turnsOf(s.l.source, s.l.body)
	w.calls = func(x *ast.CallExpr) bool { return x == call }
	return slices.ContainsFunc(s.calls(), func(x *ast.CallExpr) bool {
		return slices.ContainsFunc(x.Args, func(arg ast.Expr) bool { return w.hasAt(arg, x.Pos()) })
	})
}

// changesPeer tells of a call of a library that it is a request which may change something: by its name, or by the method that it is given.
func changesPeer(c *code, call *ast.CallExpr) bool {
	if len(c.functions()[calledName(call)]) > 0 {
		return false
	}
	if _, method := call.Fun.(*ast.SelectorExpr); !method {
		return false
	}
	if slices.Contains([]string{"Post", "PostForm", "Patch", "Ack", "Acknowledge", "Confirm", "DeleteMessage"}, calledName(call)) {
		return true
	}
	return strings.HasPrefix(calledName(call), "NewRequest") && slices.ContainsFunc(call.Args, func(x ast.Expr) bool {
		text := strings.Trim(types.ExprString(x), "\"`")
		return slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE", "http.MethodPost", "http.MethodPut", "http.MethodPatch", "http.MethodDelete"}, text)
	})
}

// endsByItem finds a condition on what is in an answer, one of its items, which ends a loop: not how many there are.
func endsByItem(l loop, c *code, w *turns) (found pageCarry, ok bool) {
	note := func(cond ast.Expr) {
		if !ok {
			line, _ := l.source.lines(cond)
			at := codeLine{fileOfLoop(l, c), line}
			found, ok = pageCarry{at: at, what: fmt.Sprintf("what is in an answer ends the loop (%s, %s)", types.ExprString(cond), at.text())}, true
		}
	}
	for _, x := range exits(l.body.List) {
		byItem := hasNode(x.cond, func(n ast.Node) bool { i, is := n.(*ast.IndexExpr); return is && w.has(i.X) })
		if !x.fails && byItem {
			note(x.cond)
		}
	}
	for _, x := range innerExits(l) {
		if !x.fails && w.has(x.cond) {
			note(x.cond)
		}
	}
	return found, ok
}

// innerExits are the conditions in loops within by which the loop around is left.
func innerExits(l loop) (all []exit) {
	eachNode(l.body, func(n ast.Node, around []ast.Node) {
		s, ok := n.(*ast.IfStmt)
		if !ok || len(s.Body.List) == 0 || inLiteral(around) || !slices.ContainsFunc(around, isLoop) {
			return
		}
		leaves := false
		switch last := s.Body.List[len(s.Body.List)-1].(type) {
		case *ast.ReturnStmt:
			leaves = true
		case *ast.BranchStmt:
			leaves = last.Tok == token.GOTO || last.Tok == token.BREAK && last.Label != nil && !labelledAround(around, last.Label.Name)
		}
		if leaves && !errorCheck(s.Cond) {
			all = append(all, exit{s.Cond, true, leavesFailing(s.Body.List)})
		}
	})
	return all
}

// labelledAround tells of the nodes around that one of them has a label.
func labelledAround(around []ast.Node, name string) bool {
	return slices.ContainsFunc(around, func(n ast.Node) bool {
		x, ok := n.(*ast.LabeledStmt)
		return ok && x.Label.Name == name
	})
}
