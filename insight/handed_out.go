package insight

import (
	"go/ast"
	"go/types"
	"slices"
)

// Values that a loop sends to several channels: whoever receives from one of them has the same value as the others.

// handedOut is a place where a loop sends one value to each of several channels.
type handedOut struct {
	at   codeLine
	elem types.Type
}

// handouts are those of the sources, in their order.
func handouts(d *derivations) (all []handedOut) {
	for _, decl := range declsInOrder(d) {
		eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
			send, ok := n.(*ast.SendStmt)
			if !ok {
				return
			}
			of, isChan := typeUnder(d.t.typeOf(send.Chan)).(*types.Chan)
			if !isChan {
				return
			}
			for _, loop := range slices.Backward(around) {
				if _, lit := loop.(*ast.FuncLit); lit {
					return
				}
				if isLoop(loop) {
					if madeWithin(d, decl, send.Chan, loop) && !madeWithin(d, decl, send.Value, loop) {
						all = append(all, handedOut{d.placeOf(send), of.Elem()})
					}
					return
				}
			}
		})
	}
	return all
}

// madeWithin tells of an expression that its variable is one of a node, or is set in it; and of a call or a literal that stands there.
func madeWithin(d *derivations, decl *ast.FuncDecl, x ast.Expr, n ast.Node) bool {
	root, _ := stepsTo(unrefer(x))
	v := d.variable(root)
	if v == nil {
		return !isConstant(root)
	}
	inside := func(pos int) bool { return int(n.Pos()) <= pos && pos < int(n.End()) }
	return inside(int(v.Pos())) || slices.ContainsFunc(d.definitions(decl)[v], func(def definition) bool { return inside(int(def.at)) })
}

// Limits of the search for where a value comes from. Chosen.
const (
	handedDepth   = 5
	handedCallers = 4
)

// handedToMany tells of an expression in a function that its value is received, there or by all who call the function, from a channel to which a loop
// sends the same value as to others, and where it does.
func handedToMany(d *derivations, sent []handedOut, decl *ast.FuncDecl, x ast.Expr, depth int) (at codeLine, ok bool) {
	root, _ := stepsTo(unrefer(x))
	v := d.variable(root)
	if v == nil || !isLocal(decl, v) || depth > handedDepth {
		return at, false
	}
	if isGiven(decl, v) {
		callers := whoCalls(d, decl)
		if len(callers) == 0 || len(callers) > handedCallers {
			return at, false
		}
		for _, by := range callers {
			arg := argumentFor(d, decl, by.call, v)
			if arg == nil {
				return at, false
			}
			if at, ok = handedToMany(d, sent, by.in, arg, depth+1); !ok {
				return at, false
			}
		}
		return at, true
	}
	defs := d.definitions(decl)[v]
	if len(defs) != 1 || defs[0].x == nil || defs[0].unknown {
		return at, false
	}
	from := ast.Unparen(defs[0].x)
	if u, receives := from.(*ast.UnaryExpr); receives {
		from = u.X
	} else if !defs[0].ranged {
		return handedToMany(d, sent, decl, from, depth+1)
	}
	of, isChan := typeUnder(d.t.typeOf(from)).(*types.Chan)
	if !isChan {
		return at, false
	}
	for _, s := range sent {
		if types.Identical(s.elem, of.Elem()) {
			return s.at, true
		}
	}
	return at, false
}
