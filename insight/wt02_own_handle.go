package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"loupe/value/stack"
)

// On which database the statements of a loop are executed: a transaction is of one, so that a loop which chooses it in each turn needs several.

// chosenHandle is what a loop executes its statements on, where each turn chooses it.
type chosenHandle struct {
	text     string
	at       codeLine
	prepared bool // it is a prepared statement: several of them may be of one database
}

// handleChosen tells whether the turns of a loop choose what they execute the statements of a way through the code on: by an index, a key or an argument,
// as a field of an item, or as the item itself.
func (o *ownTransactions) handleChosen(c *code) (h chosenHandle, chosen bool) {
	w := &turnChoice{d: derivationsOf(c), way: o.way, begins: o.begins}
	for i, f := range o.way {
		if f == o.at {
			w.way = o.way[:i+1]
		}
	}
	in, ok := w.d.at(o.way[0])
	if !ok {
		return h, false
	}
	ast.Inspect(in.body(), func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is || chosen || !coversLine(w.d, n, o.way[0].Line) || calledName(call) != ownName(o.called) || receiverOf(call) == nil {
			return true
		}
		if chosen = w.chosen(0, receiverOf(call), false, 0); chosen {
			h = chosenHandle{types.ExprString(receiverOf(call)), w.d.placeOf(call), strings.Contains(o.called, ".(*Stmt).")}
		}
		return true
	})
	return h, chosen
}

// loopBegun is the loop of a function around a line that begins at another one; nil where there is none.
func loopBegun(d *derivations, in frameCode, line, begins int) (loop ast.Stmt) {
	for _, l := range loopsAroundLine(d, in.body(), line) {
		if d.placeOf(l).line == begins {
			loop = l
		}
	}
	return loop
}

// turnChoice follows an expression along a way through the code, out to its loop.
type turnChoice struct {
	d      *derivations
	way    []stack.Frame // the last line is in the loop
	begins int           // the line of the loop
	asked  map[askedVariable]bool
}

// askedVariable is a variable of which it was asked whether it may be another one in each turn.
type askedVariable struct {
	i    int
	v    types.Object
	keys bool
}

// chosen tells of an expression in the function of a frame that it may be another one in each turn. keys tells that it only is what something else is chosen
// by: then it need not be known what the turn has it from.
func (w *turnChoice) chosen(i int, x ast.Expr, keys bool, depth int) (found bool) {
	in, ok := w.d.at(w.way[i])
	if !ok || depth > closedDepth || isContext(x) {
		return false
	}
	ast.Inspect(x, func(n ast.Node) bool {
		if found {
			return false
		}
		switch n := n.(type) {
		case *ast.UnaryExpr:
			found = n.Op == token.ARROW && !keys
		case *ast.SelectorExpr:
			_, pkg := n.X.(*ast.Ident)
			found = (!pkg || w.d.t.fromPackage(n) == "") && w.chosen(i, n.X, true, depth+1)
			return false
		case *ast.IndexExpr:
			found = w.chosen(i, n.Index, true, depth+1) || w.chosen(i, n.X, keys, depth+1)
			return false
		case *ast.CallExpr:
			for _, a := range n.Args {
				found = found || w.chosen(i, a, true, depth+1)
			}
			if r := receiverOf(n); r != nil && w.d.t.fromPackage(n.Fun) == "" {
				found = found || w.chosen(i, r, true, depth+1)
			}
			return false
		case *ast.FuncLit:
			return false
		case *ast.Ident:
			found = !isContext(n) && w.variableChosen(i, in, n, keys, depth)
		}
		return true
	})
	return found
}

// variableChosen is that of a variable.
func (w *turnChoice) variableChosen(i int, in frameCode, id *ast.Ident, keys bool, depth int) bool {
	v := w.d.variable(id)
	key := askedVariable{i, v, keys}
	if v == nil || isError(v.Name()) || w.asked[key] {
		return false
	}
	if w.asked == nil {
		w.asked = map[askedVariable]bool{}
	}
	w.asked[key] = true
	switch {
	case !ofPackage(v) && isGiven(in.decl, v) && in.lit == nil && i+1 < len(w.way):
		x := w.given(i, in.decl, v)
		return x != nil && w.chosen(i+1, x, keys, depth+1)
	}
	if i == len(w.way)-1 {
		loop := loopBegun(w.d, in, w.way[i].Line, w.begins)
		declared := loop != nil && loop.Pos() <= v.Pos() && v.Pos() < loop.End()
		switch {
		case loop == nil || !declared && !w.setIn(loop, v):
			return false // of before the loop
		case keys || v.Pos() < bodyOfLoop(loop).Pos():
			return true
		}
	}
	for _, def := range w.d.definitions(in.decl)[v] {
		if def.x != nil && (def.ranged || w.chosen(i, def.x, false, depth+1)) {
			return true
		}
	}
	return false
}

// setIn tells of a variable that a loop sets it.
func (w *turnChoice) setIn(loop ast.Stmt, v types.Object) bool {
	return hasNode(loop, func(n ast.Node) bool {
		for _, x := range placesSet(n) {
			if w.d.variable(x) == v {
				return true
			}
		}
		return false
	})
}

// given is what the next frame gives a function for a parameter, or calls it on; nil where that is not known.
func (w *turnChoice) given(i int, decl *ast.FuncDecl, v types.Object) (x ast.Expr) {
	out, ok := w.d.at(w.way[i+1])
	if !ok {
		return nil
	}
	at := parameterIndex(decl, v.Name())
	for _, call := range w.d.callsOn(out, w.way[i+1], decl.Name.Name) {
		switch {
		case at >= 0 && at < len(call.Args):
			x = call.Args[at]
		case at < 0:
			x = receiverOf(call)
		}
	}
	return x
}
