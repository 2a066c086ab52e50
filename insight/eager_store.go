package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Work for an argument of a call that stores it only where nothing is there yet: it is done on each hit as well, and the
// result thrown away.

// eagerStore is such a call.
type eagerStore struct {
	call string // its name
	look string // what looks up without storing; empty where nothing of the kind is known
}

// storesMissing are names of methods that store a value only where none is there, and lookups the method that asks alone.
var (
	storesMissing = lazily(`^(LoadOrStore|(Get|Load|Find)Or(Set|Store|Add|Insert|Put|Create|Default)|(Set|Put|Add|Store|Insert)(Nx|NX|IfAbsent|IfMissing|IfNotExists?|Default))$`)
	lookups       = map[string]string{"LoadOrStore": "Load", "GetOrSet": "Get", "GetOrAdd": "Get", "GetOrInsert": "Get", "GetOrStore": "Get", "GetOrPut": "Get", "LoadOrPut": "Load"}
)

// eagerUp is how far above the work the call is looked for.
const eagerUp = 3

// eagerStoreOn finds one on a way through the program, the line that calls the work first: an argument of it, and no
// function, makes the call that goes down.
func eagerStoreOn(c *code, way []stack.Frame, callee string) (e eagerStore, ok bool) {
	for i, f := range way[:min(len(way), eagerUp)] {
		work := ownName(callee)
		if i > 0 {
			work = ownName(way[i-1].Func)
		}
		if e, ok = eagerStoreAt(c, f, work); ok {
			return e, true
		}
	}
	return e, false
}

func eagerStoreAt(c *code, at stack.Frame, work string) (e eagerStore, ok bool) {
	fn := c.function(at)
	if fn == nil || work == "" {
		return e, false
	}
	works := func(x ast.Expr) bool {
		_, function := x.(*ast.FuncLit)
		return !function && hasCallOutside(x, work)
	}
	for _, call := range c.lineCalls(at) {
		name := calledName(call)
		switch {
		case types.ExprString(call.Fun) == "cmp.Or" && len(call.Args) > 1:
			for _, arg := range call.Args[1:] {
				ok = ok || works(arg)
			}
			e = eagerStore{call: "cmp.Or"}
		case storesMissing.MatchString(name) && len(call.Args) > 1 && isMethodCall(call):
			for _, arg := range storedOf(call) {
				ok = ok || works(arg)
			}
			ok = ok && !askedBefore(fn, receiverOf(call), call.Pos())
			e = eagerStore{call: name, look: lookups[name]}
		default:
			for i, arg := range call.Args {
				ok = ok || works(arg) && storesParameter(c, name, i)
			}
			ok = ok && !askedBefore(fn, receiverOf(call), call.Pos())
			e = eagerStore{call: name}
		}
		if ok {
			return e, true
		}
	}
	return eagerStore{}, false
}

// storedOf are the arguments of a call behind the key; none where one of them is a function, which makes the value.
func storedOf(call *ast.CallExpr) []ast.Expr {
	args := call.Args[1:]
	if first := lastName(types.ExprString(call.Args[0])); first == "ctx" || first == "Context()" {
		args = args[1:]
	}
	if slices.ContainsFunc(args, func(a ast.Expr) bool { _, is := a.(*ast.FuncLit); return is }) {
		return nil
	}
	return args
}

// isMethodCall tells of a call that it is one of a method, or of another package's function.
func isMethodCall(call *ast.CallExpr) bool {
	_, ok := call.Fun.(*ast.SelectorExpr)
	return ok
}

// hasCallOutside tells whether an expression calls a function of a name, outside of functions in it.
func hasCallOutside(x ast.Expr, name string) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		if _, inner := n.(*ast.FuncLit); inner {
			return false
		}
		call, ok := n.(*ast.CallExpr)
		found = found || ok && calledName(call) == name
		return !found
	})
	return found
}

// askedBefore tells whether a function has looked into something before a place: by a method, or by an index.
func askedBefore(fn *ast.FuncDecl, of ast.Expr, before token.Pos) (found bool) {
	if of == nil {
		return false
	}
	text := types.ExprString(of)
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := calledName(n)
			asks := strings.HasPrefix(name, "Load") || strings.HasPrefix(name, "Get") || strings.HasPrefix(name, "Has") || strings.HasPrefix(name, "Contains") || strings.HasPrefix(name, "Peek") || strings.HasPrefix(name, "Lookup")
			x := receiverOf(n)
			found = found || asks && x != nil && n.Pos() < before && n.End() < before && types.ExprString(x) == text
		case *ast.IndexExpr:
			found = found || n.End() < before && types.ExprString(n.X) == text
		}
		return !found
	})
	return found
}

// storesParameter tells of a function of the program that it looks a key up, and stores a parameter only where that is
// missing: x, ok := m[k], and then in an if, or behind one that returns, m[k] = v.
func storesParameter(c *code, name string, i int) bool {
	all := c.functions()[name]
	if len(all) != 1 {
		return false
	}
	params := parameters(all[0].Type)
	if i >= len(params) {
		return false
	}
	v, asked, guarded, stores := params[i], map[string]bool{}, token.NoPos, false
	looked := func(x ast.Expr) string {
		switch x := x.(type) {
		case *ast.IndexExpr:
			return types.ExprString(x.X)
		case *ast.CallExpr:
			if of := receiverOf(x); of != nil && (calledName(x) == "Load" || calledName(x) == "Get") {
				return types.ExprString(of)
			}
		}
		return ""
	}
	asks := func(a *ast.AssignStmt) {
		if len(a.Lhs) == 2 && len(a.Rhs) == 1 && looked(a.Rhs[0]) != "" {
			asked[looked(a.Rhs[0])] = true
		}
	}
	eachNode(all[0].Body, func(n ast.Node, around []ast.Node) {
		conditional := false
		for _, a := range around {
			_, is := a.(*ast.IfStmt)
			conditional = conditional || is
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			asks(n)
			if x, ok := n.Lhs[0].(*ast.IndexExpr); ok && len(n.Rhs) == 1 && isNamed(n.Rhs[0], v) && asked[types.ExprString(x.X)] {
				stores = stores || conditional || guarded != token.NoPos && guarded < n.Pos()
			}
		case *ast.CallExpr:
			if of := receiverOf(n); of != nil && (calledName(n) == "Store" || calledName(n) == "Set" || calledName(n) == "Add") && len(n.Args) > 1 && isNamed(n.Args[1], v) && asked[types.ExprString(of)] {
				stores = stores || conditional || guarded != token.NoPos && guarded < n.Pos()
			}
		case *ast.IfStmt:
			if a, ok := n.Init.(*ast.AssignStmt); ok {
				asks(a)
			}
			if len(n.Body.List) > 0 && len(asked) > 0 && guarded == token.NoPos {
				if _, leaves := n.Body.List[len(n.Body.List)-1].(*ast.ReturnStmt); leaves {
					guarded = n.End()
				}
			}
		}
	})
	return stores
}

// advice is what to do about it; what is done for the argument stands in it.
func (e eagerStore) advice(what string) string {
	switch {
	case e.call == "cmp.Or":
		return "cmp.Or evaluates all of its arguments, so " + what + " even where the first one is there already. Test that with an if first, and do this only where it is missing."
	case e.look != "":
		return e.call + " gets its argument evaluated on every call, so " + what + " even where the value is there already, and the result is thrown away. Look it up first (" + e.look + "), and do this only where it is missing."
	}
	return e.call + " gets its argument evaluated on every call, so " + what + " even where the value is there already, and the result is thrown away. Look it up first, and do this only where it is missing; or let it take a function that makes the value."
}

// eagerOf finds such a call on the heaviest stack of a line.
func eagerOf(h *hit, line *hitLine) (eagerStore, bool) {
	way, inner := h.in.view(h.p).program(h.p.Stacks.Frames(line.heavy))
	return eagerStoreOn(h.in.code, way, inner)
}

// eagerDoubt speaks against looking first.
const eagerDoubt = "if the value is missing nearly each time, looking first saves nothing"
