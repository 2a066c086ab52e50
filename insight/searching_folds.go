package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// A function that goes through all of a part that grows, for a loop that calls it with a longer one in each turn: what it makes of the
// part is a running value, to which each turn adds what is new.

// hashWriters are methods that add to a state what they are given.
var hashWriters = lazily(`^(Write|WriteByte|WriteString|WriteRune|Add)$`)

// foldsAll tells of the body of a loop that it goes on to the end of what it goes through, and does no more than to bring variables
// from outside of it up to date.
func foldsAll(body *ast.BlockStmt, outside func(name string) bool) bool {
	if len(body.List) == 0 {
		return false
	}
	for _, s := range body.List {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if !slices.ContainsFunc(s.Lhs, isIdent) || slices.ContainsFunc(s.Lhs, func(x ast.Expr) bool { return !isIdent(x) }) {
				return false
			}
		case *ast.IncDecStmt:
			if !isIdent(s.X) {
				return false
			}
		case *ast.ExprStmt:
			call, ok := s.X.(*ast.CallExpr)
			if !ok {
				return false
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !isIdent(sel.X) || !hashWriters.MatchString(sel.Sel.Name) || !outside(rootName(sel.X)) {
				return false
			}
		case *ast.IfStmt:
			if s.Init != nil || s.Else != nil || !foldsAll(s.Body, outside) {
				return false
			}
		case *ast.BranchStmt:
			if s.Tok != token.CONTINUE || s.Label != nil {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// receiverPlace is the place of a method's receiver among its parameters.
const receiverPlace = -2

// foldedBy is the place of the parameter that a function goes through by the loop around a frame's line; -1 where it does
// something else with it.
func foldedBy(c *code, at stack.Frame) (param int, fn *scope) {
	fn = c.scopeAt(at)
	loops := loopsAround(c, at)
	if fn == nil || fn.name == "" || len(loops) != 1 {
		return -1, fn
	}
	r, ok := loops[0].stmt.(*ast.RangeStmt)
	if !ok || !isIdent(r.X) || fn.sets(types.ExprString(r.X)) {
		return -1, fn
	}
	name := types.ExprString(r.X)
	outside := func(name string) bool {
		return fn.declares(name) && !declares(r.Body, name) && name != fn.receiver && fn.parameter(name) < 0
	}
	// Whether there is another one in the list, or at which place, may be asked for: then it is not a running value.
	if !foldsAll(r.Body, outside) || mentionsAny(r.Body, map[string]bool{name: true}) || foldsOutward(r.Body, fn) {
		return -1, fn
	}
	for _, s := range fn.body.List { // one loop over it, and nothing else that goes on or leaves before
		if s == ast.Stmt(r) {
			continue
		}
		if slices.ContainsFunc(nodesOf(s), isLoop) || s.Pos() < r.Pos() && asksBefore(s, name) {
			return -1, fn
		}
	}
	if name == fn.receiver {
		return receiverPlace, fn
	}
	return fn.parameter(name), fn
}

// argumentAt is what a call gives for a parameter, or the receiver, by its place; nil where it gives none.
func argumentAt(call *ast.CallExpr, k int) ast.Expr {
	switch {
	case k == receiverPlace:
		return receiverOf(call)
	case k < len(call.Args):
		return call.Args[k]
	}
	return nil
}

// nodesOf are all nodes of a statement.
func nodesOf(s ast.Stmt) (all []ast.Node) {
	ast.Inspect(s, func(n ast.Node) bool {
		if n != nil {
			all = append(all, n)
		}
		return true
	})
	return all
}

// asksBefore tells of a statement before a loop that the function may leave in it, or that it has something of the list, such as its
// length, which is another one for each part; unless it leaves where there are no elements. The first element is the same in all parts.
func asksBefore(s ast.Stmt, list string) bool {
	if n, ok := s.(*ast.IfStmt); ok && types.ExprString(n.Cond) == "len("+list+") == 0" {
		return false
	}
	return mentionsBesideFirst(s, list) || slices.ContainsFunc(nodesOf(s), func(n ast.Node) bool { _, ok := n.(*ast.ReturnStmt); return ok })
}

// mentionsBesideFirst tells of a statement that it has something of a list other than its first element.
func mentionsBesideFirst(s ast.Stmt, list string) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		if x, ok := n.(*ast.IndexExpr); ok && types.ExprString(x) == list+"[0]" {
			return false
		}
		found = found || isIdentNamed(n, list)
		return !found
	})
	return found
}

func isIdentNamed(n ast.Node, name string) bool {
	id, ok := n.(*ast.Ident)
	return ok && id.Name == name
}

// foldsOutward tells of the body of a loop that it sets what is not the function's own.
func foldsOutward(body *ast.BlockStmt, fn *scope) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		for _, x := range givenValues(n) {
			name := rootName(x)
			found = found || name != "_" && !fn.declares(name)
		}
		return !found
	})
	return found
}

// foldedAgain finds that the innermost function of a way folds all of a part that grows, for a loop around its call by the next one.
func foldedAgain(c *code, way []stack.Frame) (g growing, ok bool) {
	k, callee := foldedBy(c, way[0])
	caller := c.scopeAt(way[1])
	if k == -1 || caller == nil {
		return g, false
	}
	var calls []*ast.CallExpr
	for _, call := range c.lineCalls(way[1]) {
		if calledName(call) == callee.name || lastName(types.ExprString(call.Fun)) == callee.name {
			calls = append(calls, call)
		}
	}
	if len(calls) != 1 || argumentAt(calls[0], k) == nil {
		return g, false
	}
	call := calls[0]
	part, through := argumentAt(call, k), ""
	if id, ok := part.(*ast.Ident); ok && caller.made(id.Name) != nil { // part := list[:i]
		part, through = caller.made(id.Name), id.Name
	}
	g, ok = growingPart(c, way[1:], caller, part)
	if !ok || g.changes(c, way[1]) {
		return g, false
	}
	loops := loopsAround(c, way[1])
	if len(loops) == 0 {
		return g, false
	}
	turn, owner := loops[len(loops)-1], rootName(g.of)
	for i, arg := range call.Args { // what else it is given is the same in each turn
		if i != k && variesIn(turn, arg) {
			return g, false
		}
	}
	if through != "" && !declares(turn.body, through) || givenToOthers(c, turn.body, call, owner) || through != "" && givenToOthers(c, turn.body, call, through) {
		return g, false // which may change it
	}
	g.does, g.by, g.fn = rereadFold, callee.name, caller
	g.state = foldStateOf(c, way[0], way[1], callee.name, k)
	return g, true
}

// variesIn tells of an expression that it may be another one in each turn of a loop.
func variesIn(l loop, x ast.Expr) bool {
	turn := l.variables()
	if turn == nil {
		turn = map[string]bool{}
	}
	ast.Inspect(l.body, func(n ast.Node) bool {
		for _, x := range givenValues(n) {
			turn[rootName(x)] = true
		}
		return true
	})
	return mentionsAny(x, turn) || hasCall(x, func(*ast.CallExpr) bool { return true })
}

// givenToOthers tells whether a loop's body gives a list, or a part of it, to another call than one, which may change it.
func givenToOthers(c *code, body *ast.BlockStmt, but *ast.CallExpr, owner string) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || call == but {
			return !found
		}
		if name := types.ExprString(call.Fun); name == "len" || name == "cap" {
			return false
		}
		if onlyComputes(c, call) {
			return true
		}
		for _, arg := range call.Args {
			part := unrefer(arg)
			if cut, ok := part.(*ast.SliceExpr); ok {
				part = cut.X
			}
			found = found || types.ExprString(part) == owner
		}
		return !found
	})
	return found
}

// onlyComputes tells of a call that all functions of the program that it may mean only compute something of what they are given.
func onlyComputes(c *code, call *ast.CallExpr) bool {
	if _, named := call.Fun.(*ast.Ident); !named {
		return false
	}
	d, known := newDerivations(c), 0
	for _, decl := range d.named[calledName(call)] {
		if d.value(decl) == nil {
			return false
		}
		known++
	}
	return known > 0
}

// foldedLines adds up, by the line of the call in the loop, the samples of functions that fold a part that grows.
func foldedLines(c *code, v *view, w *facts.Weights) (lines []*rereadLine) {
	type pair struct{ inner, outer stack.Frame }
	known, by := map[pair]*growing{}, map[stack.Frame]*rereadLine{}
	for id, n := range w.Profile.Samples(w.Index) {
		frames := v.t.Frames(id)
		var way []stack.Frame
		for i := nextUser(v, frames, 0); i >= 0; i = nextUser(v, frames, i+1) {
			way = append(way, v.t.Frame(frames[i]))
		}
		for i := range min(2, len(way)-1) { // or a function that it calls for each
			key := pair{way[i], way[i+1]}
			g, asked := known[key]
			if !asked {
				if one, ok := foldedAgain(c, way[i:]); ok {
					g = &one
				}
				known[key] = g
			}
			if g == nil {
				continue
			}
			x := by[lineOnly(way[i+1])]
			if x == nil {
				x = &rereadLine{growing: *g, at: way[i+1]}
				by[lineOnly(way[i+1])], lines = x, append(lines, x)
			}
			if x.samples += n; n > x.most {
				x.most, x.way = n, way[i+1:]
			}
			break
		}
	}
	return lines
}
