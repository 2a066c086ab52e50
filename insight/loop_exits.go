package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// errorOf tells of an expression that it is the error of a call that is looked for, by its name
// or because it is the call.
func errorOf(x ast.Expr, w *turns) bool {
	call, is := x.(*ast.CallExpr)
	return is && w.calls(call) || isError(lastName(types.ExprString(x))) && w.has(x)
}

// triesByName tells of a call, by its name, that it tells whether it has worked.
func triesByName(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	return ok && strings.HasPrefix(strings.ToLower(calledName(call)), "try")
}

// leavesLoop tells of statements that the last one leaves the loop.
func leavesLoop(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch s := list[len(list)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.BREAK || s.Tok == token.GOTO
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		return ok && neverReturns(types.ExprString(call.Fun))
	}
	return false
}

// neverReturns tells of a function, by its name, that it ends the program or the goroutine.
func neverReturns(name string) bool {
	return slices.Contains([]string{"panic", "os.Exit", "runtime.Goexit"}, name) ||
		slices.Contains([]string{"Fatal", "Fatalf", "Fatalln", "FatalContext", "Panic", "Panicf"}, lastName(name))
}

// leavesFailing tells of statements that the last one, which leaves the loop, returns an error that it makes or names,
// or ends the program by a panic or with a message: os.Exit may be the end that was aimed at.
func leavesFailing(list []ast.Stmt) bool {
	last := list[len(list)-1]
	if s, ok := last.(*ast.ExprStmt); ok {
		call, ok := s.X.(*ast.CallExpr)
		return ok && types.ExprString(call.Fun) != "os.Exit" && types.ExprString(call.Fun) != "runtime.Goexit"
	}
	r, ok := last.(*ast.ReturnStmt)
	if !ok || len(r.Results) == 0 {
		return false
	}
	switch x := r.Results[len(r.Results)-1].(type) {
	case *ast.CallExpr:
		return slices.Contains([]string{"errors.New", "fmt.Errorf"}, types.ExprString(x.Fun))
	case *ast.Ident, *ast.SelectorExpr: // err may be nil
		name := lastName(types.ExprString(x))
		return len(name) > 3 && strings.EqualFold(name[:3], "err") && token.IsExported(name[3:])
	}
	return false
}

// leavesClause is leavesLoop of the statements of a case, in which a break without a label
// leaves no more than the switch or select.
func leavesClause(list []ast.Stmt) bool {
	if !leavesLoop(list) {
		return false
	}
	b, ok := list[len(list)-1].(*ast.BranchStmt)
	return !ok || b.Label != nil
}

// goesOn tells of statements that the last one, or that of an if among them, begins the next
// turn.
func goesOn(list []ast.Stmt) bool {
	for i, s := range list {
		switch s := s.(type) {
		case *ast.BranchStmt:
			if i == len(list)-1 && s.Tok == token.CONTINUE {
				return true
			}
		case *ast.IfStmt:
			if goesOn(s.Body.List) {
				return true
			}
		}
	}
	return false
}

// byAnswer tells whether a condition asks for nothing else than whether a call has worked, and
// how: its error, or a part of its answer. A result of its own that says so (more, ok) and what
// a function of the program says of the error and of something else may count the tries.
func byAnswer(cond ast.Expr, w *turns) bool {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return byAnswer(x.X, w)
	case *ast.UnaryExpr:
		return byAnswer(x.X, w)
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			return byAnswer(x.X, w) && byAnswer(x.Y, w)
		}
		counts := x.Op != token.EQL && x.Op != token.NEQ && !isStatus(x.X)
		return errorCheck(x) || !counts && w.has(x)
	case *ast.Ident:
		return isError(x.Name) && w.has(x)
	case *ast.CallExpr:
		if w.calls(x) || triesByName(x) {
			return true
		}
		if name := types.ExprString(x.Fun); name == "errors.Is" || name == "errors.As" {
			return w.has(x) && !mentions(x, "context")
		}
		return !slices.ContainsFunc(x.Args, func(a ast.Expr) bool { return !w.has(a) }) && w.has(x)
	}
	return w.has(cond)
}

// asksWhich tells of a condition that it asks which error came, and not only whether one did.
func asksWhich(cond ast.Expr) bool {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return asksWhich(x.X)
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			return asksWhich(x.X) || asksWhich(x.Y)
		}
		return !isNamed(x.Y, "nil") && isError(rootName(x.X))
	case *ast.UnaryExpr:
		return asksWhich(x.X)
	case *ast.CallExpr:
		return slices.ContainsFunc(x.Args, func(a ast.Expr) bool { return isError(rootName(a)) })
	}
	return false
}

// onSuccess tells what a condition is when the calls that are looked for have worked, as far as
// that alone decides: their error is nil then, and their status one of success.
func onSuccess(cond ast.Expr, w *turns) (value, known bool) {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return onSuccess(x.X, w)
	case *ast.UnaryExpr:
		value, known = onSuccess(x.X, w)
		return !value, known && x.Op == token.NOT
	case *ast.CallExpr:
		if name := types.ExprString(x.Fun); name == "errors.Is" || name == "errors.As" {
			return false, len(x.Args) > 0 && errorOf(x.Args[0], w)
		}
	case *ast.BinaryExpr:
		return pairOnSuccess(x, w)
	}
	return false, false
}

// pairOnSuccess is onSuccess of two operands.
func pairOnSuccess(x *ast.BinaryExpr, w *turns) (value, known bool) {
	switch {
	case x.Op == token.LAND || x.Op == token.LOR:
		a, knownA := onSuccess(x.X, w)
		b, knownB := onSuccess(x.Y, w)
		if decided := x.Op == token.LOR; knownA && a == decided || knownB && b == decided {
			return decided, true
		}
		return a, knownA && knownB
	case (x.Op == token.EQL || x.Op == token.NEQ) && errorOf(x.X, w):
		return isNamed(x.Y, "nil") == (x.Op == token.EQL), true
	case (x.Op == token.EQL || x.Op == token.NEQ) && isStatus(x.X) && w.has(x.X):
		return x.Op == token.NEQ, failureStatus(x.Y)
	}
	return false, false
}

// certain tells of a condition, when it has a value, that a certain error has come, as io.EOF
// does at the end of what is read.
func certain(cond ast.Expr, value bool, w *turns) bool {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return certain(x.X, value, w)
	case *ast.UnaryExpr:
		return certain(x.X, !value, w)
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			return certain(x.X, value, w) || certain(x.Y, value, w)
		}
		return !isNamed(x.Y, "nil") && isError(rootName(x.X)) && w.has(x.X) && (x.Op == token.EQL) == value
	case *ast.CallExpr:
		return value && slices.ContainsFunc(x.Args, func(a ast.Expr) bool { return isError(rootName(a)) && w.has(a) })
	}
	return false
}

// exit is a condition by which a loop is left.
type exit struct {
	cond ast.Expr
	on   bool // what the condition is when the loop is left
	// fails tells that the function returns an error then, or the program ends: that is no answer which suits.
	fails bool
}

// worked tells whether the loop is left once there is no error, whatever else there is.
func (x exit) worked() bool {
	any := map[bool]token.Token{true: token.LOR, false: token.LAND}[x.on]
	var without func(cond ast.Expr) bool
	without = func(cond ast.Expr) bool {
		switch n := cond.(type) {
		case *ast.ParenExpr:
			return without(n.X)
		case *ast.BinaryExpr:
			return errorCheck(n) && x.on == (n.Op == token.EQL) || n.Op == any && (without(n.X) || without(n.Y))
		}
		return false
	}
	return without(x.cond)
}

// exits are those of statements, outside of loops and functions within.
func exits(list []ast.Stmt) (all []exit) {
	for i, s := range list {
		for {
			n, ok := s.(*ast.IfStmt)
			if !ok {
				break
			}
			otherwise, _ := n.Else.(*ast.BlockStmt)
			switch {
			case n.Else == nil && goesOn(n.Body.List) && leavesLoop(list[i+1:]):
				all = append(all, exit{n.Cond, false, leavesFailing(list[i+1:])})
			case otherwise != nil && leavesLoop(otherwise.List):
				all = append(all, exit{n.Cond, false, leavesFailing(otherwise.List)})
			case leavesLoop(n.Body.List):
				all = append(all, exit{n.Cond, true, leavesFailing(n.Body.List)})
			default:
				all = append(all, exits(n.Body.List)...)
			}
			s = n.Else
		}
		switch n := s.(type) {
		case *ast.BlockStmt: // of an else
			all = append(all, exits(n.List)...)
		case *ast.SwitchStmt:
			all = append(all, switchExits(n)...)
		case *ast.SelectStmt:
			for _, clause := range n.Body.List {
				all = append(all, exits(clause.(*ast.CommClause).Body)...)
			}
		}
	}
	return all
}

// switchExits are what decides in a switch that leaves the loop in one of its cases.
func switchExits(n *ast.SwitchStmt) (all []exit) {
	for _, s := range n.Body.List {
		c := s.(*ast.CaseClause)
		if !leavesClause(c.Body) {
			continue
		}
		for _, x := range c.List {
			if n.Tag != nil {
				x = &ast.BinaryExpr{X: n.Tag, Op: token.EQL, OpPos: x.Pos(), Y: x}
			}
			all = append(all, exit{x, true, leavesFailing(c.Body)})
		}
	}
	return all
}

// failing tells of a condition, when it has a value, that a call which is looked for has
// failed: then its error is not nil, or is a certain one, or the status is none of success.
func failing(cond ast.Expr, value bool, w *turns) bool {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return failing(x.X, value, w)
	case *ast.UnaryExpr:
		return x.Op == token.NOT && failing(x.X, !value, w)
	case *ast.BinaryExpr:
		return failingPair(x, value, w)
	case *ast.CallExpr:
		switch {
		case triesByName(x):
			return !value
		case isNamed(x.Fun, "yield"): // the caller of an iterator has had enough
			return false
		case slices.ContainsFunc(x.Args, func(a ast.Expr) bool { return errorOf(a, w) }):
			return value // errors.Is(err, …), isBusy(err)
		}
	}
	return false
}

// failingPair is failing of two operands.
func failingPair(x *ast.BinaryExpr, value bool, w *turns) bool {
	switch x.Op {
	case token.LAND, token.LOR:
		return failing(x.X, value, w) || failing(x.Y, value, w)
	case token.EQL, token.NEQ:
		equal := (x.Op == token.EQL) == value
		switch {
		case errorOf(x.X, w):
			return equal != isNamed(x.Y, "nil")
		case isStatus(x.X) && w.has(x.X):
			return equal == failureStatus(x.Y)
		}
	case token.LSS, token.LEQ:
		return !value && isStatus(x.X) && w.has(x.X)
	case token.GTR, token.GEQ:
		return value && isStatus(x.X) && w.has(x.X)
	}
	return false
}

// isStatus tells of an expression, by its name, that it is the status of an answer.
func isStatus(x ast.Expr) bool {
	name := strings.ToLower(lastName(types.ExprString(x)))
	return name == "statuscode" || name == "status" || name == "code"
}

// failureStatus tells of what a status is compared with that it is none of success.
func failureStatus(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return x.Kind == token.INT && len(x.Value) == 3 && x.Value >= "400"
	case *ast.SelectorExpr:
		return !slices.Contains([]string{"StatusOK", "StatusCreated", "StatusAccepted", "StatusNoContent", "StatusPartialContent", "StatusNotModified", "OK"}, x.Sel.Name)
	}
	return false
}

// errorCheck tells of a condition that it asks whether an error is there, and nothing else.
func errorCheck(cond ast.Expr) bool {
	return asksError(cond, token.NEQ) || asksError(cond, token.EQL)
}

// decides tells whether a condition that leaves the loop when it has a value asks for what a
// call has given, in another way than that it has failed: every loop ends on an error.
func decides(cond ast.Expr, value bool, w *turns) bool {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return decides(x.X, value, w)
	case *ast.UnaryExpr:
		return decides(x.X, !value, w)
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			return decides(x.X, value, w) || decides(x.Y, value, w)
		}
	}
	return w.has(cond) && !failing(cond, value, w) || failing(cond, !value, w)
}

// pausesIn tells whether a body calls what waits, by its name.
func pausesIn(body *ast.BlockStmt) bool {
	return mentionsCall(body, "Sleep", "After", "NewTimer", "Wait", "sleep", "pause", "wait", "backoff", "Backoff", "BackOff", "NextBackOff", "Pause", "C")
}

// mentionsCall tells whether a body has a call, or takes from a field, of one of the names.
func mentionsCall(body *ast.BlockStmt, names ...string) (found bool) {
	is := func(x ast.Expr) bool {
		name := lastName(types.ExprString(x))
		for _, n := range names {
			found = found || n == name
		}
		return found
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			is(n.Fun)
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				is(n.X)
			}
		}
		return true
	})
	return found
}

// anyCall tells whether a node has a call whose name, without what it is of, is wanted.
func anyCall(n ast.Node, wanted func(name string) bool) bool {
	return hasCall(n, func(call *ast.CallExpr) bool { return wanted(calledName(call)) })
}
