package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// What the functions that ask for a page keep for the next call: a field of what they are given, or are called on, or a variable of the package, which they
// set and read.

// stateKept finds where a call is of functions of the program that keep something in what they are given, or are called on, and use it in the next call: a
// cursor that the caller does not see. What is made once, where it is not there, is none, nor is what a call has for itself: stays tells what outlives it.
func stateKept(c *code, call *ast.CallExpr, stays func(x ast.Expr) bool, depth int) (at codeLine, text string) {
	if depth == pageDepth {
		return at, ""
	}
	for _, d := range c.functions()[calledName(call)] {
		given, receiver := givenToStay(d, call, stays)
		shared := func(name string) bool { return isPackageVariable(c, name) && !declaredIn(d.FuncDecl, name) }
		k := &keptState{c: c, given: func(name string) bool { return slices.Contains(given, name) }, file: d.file, shared: shared}
		k.read(d.Body)
		k.ownMethods(d, receiver, 0)
		if n, text := k.both(); n != nil {
			line, _ := c.parse(k.files[text]).lines(n)
			return codeLine{k.files[text], line}, text
		}
		hasCall(d.Body, func(inner *ast.CallExpr) bool {
			if text == "" {
				at, text = stateKept(c, inner, func(x ast.Expr) bool { name := rootName(x); return slices.Contains(given, name) || shared(name) }, depth+1)
			}
			return text != ""
		})
		if text != "" {
			return at, text
		}
	}
	return at, ""
}

// givenToStay are the parameters of a function, and its receiver, that point to what outlives a call of it.
func givenToStay(d declaration, call *ast.CallExpr, stays func(x ast.Expr) bool) (given []string, receiver string) {
	i := 0
	for _, field := range d.Type.Params.List {
		_, pointer := field.Type.(*ast.StarExpr)
		for _, id := range field.Names {
			if pointer && i < len(call.Args) && stays(pointed(call.Args[i])) {
				given = append(given, id.Name)
			}
			i++
		}
	}
	if d.Recv != nil && len(d.Recv.List) == 1 && len(d.Recv.List[0].Names) == 1 {
		if _, pointer := d.Recv.List[0].Type.(*ast.StarExpr); pointer && stays(pointed(receiverOf(call))) {
			receiver = d.Recv.List[0].Names[0].Name
			given = append(given, receiver)
		}
	}
	return given, receiver
}

// keptState is what a function sets and reads of what it is given.
type keptState struct {
	c      *code
	file   string
	given  func(name string) bool // of variables, whose fields count
	shared func(name string) bool // of variables that count themselves
	sets   map[string]ast.Node
	files  map[string]string
	reads  map[string]token.Pos // the first read
	always map[string]bool      // set in each call, as far as one body tells
	order  []string
	bodies int
}

// both is the first place that is both set and read, and not always set before.
func (k *keptState) both() (n ast.Node, text string) {
	for _, text := range k.order {
		if first, read := k.reads[text]; read && !(k.always[text] && first > k.sets[text].Pos()) {
			return k.sets[text], text
		}
	}
	return nil, ""
}

// ownMethods reads the methods that a method calls on its own receiver, too.
func (k *keptState) ownMethods(d declaration, receiver string, depth int) {
	if receiver == "" || depth == pageDepth {
		return
	}
	hasCall(d.Body, func(call *ast.CallExpr) bool {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !isNamed(sel.X, receiver) {
			return false
		}
		for _, m := range k.c.functions()[sel.Sel.Name] {
			if m.Recv == nil || receiverType(m.FuncDecl) != receiverType(d.FuncDecl) || len(m.Recv.List[0].Names) == 0 || m.Recv.List[0].Names[0].Name != receiver {
				continue // by another name its fields have other texts
			}
			k.file = m.file
			k.read(m.Body)
			k.ownMethods(m, receiver, depth+1)
		}
		return false
	})
}

// read notes what a body sets and reads. What is set where it is asked for, as it is not there yet, is made once.
func (k *keptState) read(body *ast.BlockStmt) {
	if k.sets == nil {
		k.sets, k.files, k.reads, k.always = map[string]ast.Node{}, map[string]string{}, map[string]token.Pos{}, map[string]bool{}
	}
	k.visit(body, body, nil)
	if k.bodies++; k.bodies > 1 {
		clear(k.always)
	}
}

// sees notes a read.
func (k *keptState) sees(text string, at token.Pos) {
	if first, ok := k.reads[text]; !ok || at < first {
		k.reads[text] = at
	}
}

// counts tells of a place that it outlives the call.
func (k *keptState) counts(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.SelectorExpr:
		return k.given(rootName(x))
	case *ast.Ident:
		return k.shared != nil && k.shared(x.Name) || k.shared == nil && k.given(x.Name)
	}
	return false
}

func (k *keptState) note(x, value ast.Expr, body ast.Node, asked []ast.Expr) {
	text := types.ExprString(x)
	made := slices.ContainsFunc(asked, func(cond ast.Expr) bool { return asksWhetherMade(cond, text) })
	if !k.counts(x) || made || isError(text) || k.sets[text] != nil || !nextMayDiffer(value, body) {
		return
	}
	k.sets[text], k.files[text] = x, k.file
	k.order = append(k.order, text)
	k.always[text] = slices.ContainsFunc(body.(*ast.BlockStmt).List, func(s ast.Stmt) bool {
		a, ok := s.(*ast.AssignStmt)
		return ok && slices.Contains(a.Lhs, x)
	})
}

// nextMayDiffer tells of a value that it may be another one in the next call: no literal, and no name but that of a variable which is made in a body of what a
// call gives.
func nextMayDiffer(x ast.Expr, body ast.Node) bool {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok {
		return !isConstant(x) || isSelector(x)
	}
	anyCall := func(*ast.CallExpr) bool { return true }
	return hasNode(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if isNamed(to, id.Name) && hasCall(n.Rhs[min(i, len(n.Rhs)-1)], anyCall) {
					return true
				}
			}
		case *ast.RangeStmt:
			return n.Key != nil && isNamed(n.Key, id.Name) || n.Value != nil && isNamed(n.Value, id.Name)
		}
		return false
	})
}

// asksWhetherMade tells of a condition that it asks whether there is such a thing yet, and does not hold it against something else.
func asksWhetherMade(cond ast.Expr, text string) bool {
	differs := hasNode(cond, func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		return ok && b.Op == token.NEQ && (types.ExprString(b.X) == text || types.ExprString(b.Y) == text)
	})
	return !differs && mentionsText(cond, text)
}

func (k *keptState) visit(n, body ast.Node, asked []ast.Expr) {
	ast.Inspect(n, func(m ast.Node) bool {
		switch m := m.(type) {
		case *ast.IfStmt:
			if m == n {
				return true
			}
			within := append(slices.Clone(asked), m.Cond)
			if m.Init != nil {
				k.visit(m.Init, body, asked)
			}
			k.visit(m.Cond, body, asked)
			k.visit(m.Body, body, within)
			if m.Else != nil {
				k.visit(m.Else, body, within)
			}
			return false
		case *ast.AssignStmt:
			if m.Tok != token.ASSIGN {
				for _, y := range m.Rhs {
					k.visit(y, body, asked)
				}
				return false
			}
			for i, x := range m.Lhs {
				k.note(x, m.Rhs[min(i, len(m.Rhs)-1)], body, asked)
			}
			for i, y := range m.Rhs {
				if call, ok := y.(*ast.CallExpr); ok && isNamed(call.Fun, "append") && len(m.Lhs) == len(m.Rhs) && len(call.Args) > 0 && types.ExprString(call.Args[0]) == types.ExprString(m.Lhs[i]) {
					for _, arg := range call.Args[1:] { // what has come is gathered
						k.visit(arg, body, asked)
					}
					continue
				}
				k.visit(y, body, asked)
			}
			return false
		case *ast.CallExpr:
			if method, ok := m.Fun.(*ast.SelectorExpr); ok { // the method itself is no field
				k.visit(method.X, body, asked)
				for _, y := range m.Args {
					k.visit(y, body, asked)
				}
				return false
			}
		case *ast.SelectorExpr:
			k.sees(types.ExprString(m), m.Pos())
		case *ast.Ident:
			k.sees(m.Name, m.Pos())
		}
		return true
	})
}
