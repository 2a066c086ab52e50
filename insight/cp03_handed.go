package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Receivers may have a goroutine each, which gets the value by a channel from a loop over all of them, and encodes it with a few fields of its own: the
// rest is the same for all then, too.

// receivedIn is a channel that a value is received from, in a function.
type receivedIn struct {
	in *ast.FuncDecl
	ch ast.Expr
}

// receivedOn are the channels that a value of a function is received from, there or by all who call it; none where it may come from elsewhere.
func receivedOn(d *derivations, decl *ast.FuncDecl, x ast.Expr, depth int) []receivedIn {
	root, _ := stepsTo(unrefer(x))
	if u, receives := ast.Unparen(root).(*ast.UnaryExpr); receives && u.Op == token.ARROW {
		return []receivedIn{{decl, u.X}}
	}
	v := d.variable(root)
	if v == nil || !isLocal(decl, v) || depth > handedDepth {
		return nil
	}
	defs := slices.DeleteFunc(slices.Clone(d.definitions(decl)[v]), func(def definition) bool { return def.part })
	if isGiven(decl, v) {
		if len(defs) > 0 && slices.ContainsFunc(defs, func(def definition) bool { return def.x != nil }) {
			return nil // it is set to something else
		}
		return fromCallers(d, decl, v, func(by *ast.FuncDecl, arg ast.Expr) []receivedIn { return receivedOn(d, by, arg, depth+1) })
	}
	if len(defs) != 1 || defs[0].x == nil || defs[0].unknown {
		return nil
	}
	if !defs[0].ranged {
		return receivedOn(d, decl, defs[0].x, depth+1)
	}
	if _, isChan := typeUnder(d.t.typeOf(defs[0].x)).(*types.Chan); !isChan {
		return nil
	}
	return []receivedIn{{decl, defs[0].x}}
}

// fromCallers puts together what is found for the arguments of all who call a function; none where one of them has none.
func fromCallers[T any](d *derivations, decl *ast.FuncDecl, v types.Object, of func(by *ast.FuncDecl, arg ast.Expr) []T) (all []T) {
	callers := whoCalls(d, decl)
	if len(callers) > handedCallers {
		return nil
	}
	for _, by := range callers {
		arg := argumentFor(d, decl, by.call, v)
		if arg == nil {
			return nil
		}
		some := of(by.in, arg)
		if len(some) == 0 {
			return nil
		}
		all = append(all, some...)
	}
	return all
}

// channelField are the fields that a channel of a function is, there or by all who call it.
func channelField(d *derivations, from receivedIn, depth int) []types.Object {
	switch x := ast.Unparen(from.ch).(type) {
	case *ast.SelectorExpr:
		if f := d.field(x); f != nil {
			return []types.Object{f}
		}
	case *ast.Ident:
		if v := d.variable(x); v != nil && isGiven(from.in, v) && depth <= handedDepth {
			return fromCallers(d, from.in, v, func(by *ast.FuncDecl, arg ast.Expr) []types.Object {
				return channelField(d, receivedIn{by, arg}, depth+1)
			})
		}
	}
	return nil
}

// handedByLoop tells of a value of a function that it is received from a channel which is a field of each receiver, and to which a loop over them sends
// the same value as to the others, and where it does.
func handedByLoop(d *derivations, decl *ast.FuncDecl, x ast.Expr) (at codeLine, ok bool) {
	from := receivedOn(d, decl, x, 0)
	if len(from) == 0 {
		return at, false
	}
	for _, one := range from {
		fields := channelField(d, one, 0)
		if len(fields) == 0 {
			return at, false
		}
		for _, f := range fields {
			if at, ok = handedTo(d, f); !ok {
				return at, false
			}
		}
	}
	return at, true
}

// handedTo is where a loop sends one value to a field of each of those that it goes through.
func handedTo(d *derivations, field types.Object) (at codeLine, ok bool) {
	for _, sent := range handouts(d) {
		for _, decl := range declsInOrder(d) {
			inside(decl.Body, func(n ast.Node) {
				send, is := n.(*ast.SendStmt)
				if !is || ok || d.placeOf(send) != sent.at {
					return
				}
				if sel, is := ast.Unparen(send.Chan).(*ast.SelectorExpr); is && d.field(sel) == field {
					at, ok = sent.at, true
				}
			})
		}
	}
	return at, ok
}

// changedOtherwise tells of a variable of a struct that more of it may change than fields which are set one by one: a part of a field, by a pointer that
// something else than the call which encodes it gets, or by a method.
func changedOtherwise(d *derivations, in frameCode, v types.Object, encodes *ast.CallExpr) (found bool) {
	ofVar := func(x ast.Expr) bool { root, _ := stepsTo(x); return d.variable(root) == v }
	eachNode(in.decl.Body, func(n ast.Node, around []ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				sel, direct := ast.Unparen(x).(*ast.SelectorExpr)
				if part := !isIdent(x) && ofVar(x); part && (!direct || d.variable(sel.X) != v) {
					found = true
				}
			}
		case *ast.IncDecStmt:
			found = found || !isIdent(n.X) && ofVar(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND && ofVar(n.X) && !slices.ContainsFunc(around, func(a ast.Node) bool { return a == ast.Node(encodes) }) {
				found = true
			}
		case *ast.SelectorExpr:
			if s := d.t.info.Selections[n]; s != nil && s.Kind() == types.MethodVal && ofVar(n.X) {
				found = true
			}
		}
	})
	return found
}

// changedThrough tells that a function sets a part of what a variable was copied from: others have that, too.
func changedThrough(d *derivations, in frameCode, from ast.Expr, v types.Object) bool {
	root, _ := stepsTo(from)
	u := d.variable(root)
	return u != nil && u != v && hasNode(in.decl.Body, func(n ast.Node) bool {
		return slices.ContainsFunc(changedBy(n), func(x ast.Expr) bool {
			root, _ := stepsTo(x)
			return !isIdent(x) && d.variable(root) == u
		})
	})
}
