package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What a function does to make a list or a map of which another one uses a part: how many elements it puts in, whether each needs those before, and what it changes
// besides.

// effectOf says what a function, or one that it calls, does that it has to be called for besides what it returns; empty for nothing that the source shows.
func (p *partFinder) effectOf(decl *ast.FuncDecl) string {
	at := p.d.placeOf(decl.Body)
	_, what := effectOfCall(p.d.c, stack.Frame{File: at.file, Line: at.line}, true)
	return what
}

// acts tells of a loop's body that it calls something which has an effect.
func (p *partFinder) acts(body ast.Node) bool {
	return hasCall(body, func(call *ast.CallExpr) bool {
		if fn := p.d.t.callee(call); fn != nil && len(p.d.declsOf(fn)) > 0 {
			return slices.ContainsFunc(p.d.declsOf(fn), func(decl *ast.FuncDecl) bool { return p.effectOf(decl) != "" })
		}
		text := types.ExprString(call.Fun)
		return writesOut(p.d, call) || strings.HasPrefix(text, "fmt.Print") || strings.HasPrefix(text, "log.") || strings.HasPrefix(text, "slog.") || changesByName(p.d, call)
	})
}

// putsIn is how many elements a function appends to what it returns, on average; 0 where that was not counted. Of what is set by an index or a key the number
// is not known: it may be the same one again.
func (p *partFinder) putsIn(decl *ast.FuncDecl) float64 {
	if p.counts == nil {
		return 0
	}
	calls, ok := p.counts.entered(decl.Body.Lbrace)
	if !ok || calls == 0 {
		return 0
	}
	puts, returned := int64(0), returnedVars(p.d, decl)
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		if add, to := addsByAppend(n); add != nil && returned[p.d.variable(to)] {
			if n, ok := p.counts.reaches(append([]ast.Node{decl.Body}, around...), add); ok {
				puts += n
			}
		}
	})
	return float64(puts) / float64(calls)
}

// turnsIn is how many turns the longest loop of a function has for each of its calls.
func (p *partFinder) turnsIn(decl *ast.FuncDecl) (most float64) {
	if p.counts == nil {
		return 0
	}
	calls, ok := p.counts.entered(decl.Body.Lbrace)
	if !ok || calls == 0 {
		return 0
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if body := bodyOfLoop(n); body != nil {
			if n, ok := p.counts.entered(body.Lbrace); ok {
				most = max(most, float64(n)/float64(calls))
			}
		}
		return true
	})
	return most
}

// asksMap tells of a function that it asks or sets entries of a map by a key.
func asksMap(d *derivations, decl *ast.FuncDecl) bool {
	return hasAny(decl.Body, func(n ast.Node) bool {
		x, ok := n.(*ast.IndexExpr)
		if !ok {
			return false
		}
		of := d.t.typeOf(x.X)
		return of != nil && isMap(of)
	})
}

// refusesAll is where a function returns an error in a loop: for one element that is damaged it gives none at all.
func refusesAll(d *derivations, decl *ast.FuncDecl) (at codeLine) {
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		ret, ok := n.(*ast.ReturnStmt)
		if ok && at.line == 0 && len(ret.Results) > 0 && returnsFailure(ret) && slices.ContainsFunc(around, isLoop) {
			at = d.placeOf(ret)
		}
	})
	return at
}

// setsByKey tells of a function that it sets an element of what it returns by a key or an index which may come again: another one than a variable of a loop
// around it.
func setsByKey(d *derivations, decl *ast.FuncDecl) (again bool) {
	returned := returnedVars(d, decl)
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		set, ok := n.(*ast.AssignStmt)
		if !ok || set.Tok != token.ASSIGN {
			return
		}
		for _, lhs := range set.Lhs {
			x, ok := ast.Unparen(lhs).(*ast.IndexExpr)
			if !ok || !returned[d.variable(ast.Unparen(x.X))] {
				continue
			}
			again = again || d.t.info.Types[x.Index].Value == nil && !countsUp(d, decl, x.Index) && !slices.ContainsFunc(around, func(n ast.Node) bool { return isTurnOf(d, n, x.Index) })
		}
	})
	return again
}

// countsUp tells of an expression that it is a variable which a function adds one to.
func countsUp(d *derivations, decl *ast.FuncDecl, x ast.Expr) bool {
	v := d.variable(ast.Unparen(x))
	return v != nil && hasAny(decl.Body, func(n ast.Node) bool {
		inc, ok := n.(*ast.IncDecStmt)
		return ok && inc.Tok == token.INC && d.variable(inc.X) == v
	})
}

// isTurnOf tells of a loop that an expression is the variable that it counts its turns by, or the key of what it goes through.
func isTurnOf(d *derivations, loop ast.Node, x ast.Expr) bool {
	v := d.variable(ast.Unparen(x))
	switch n := loop.(type) {
	case *ast.RangeStmt:
		return v != nil && n.Key != nil && d.variable(n.Key) == v
	case *ast.ForStmt:
		counts, ok := n.Post.(*ast.IncDecStmt)
		return ok && v != nil && d.variable(counts.X) == v
	}
	return false
}

// buildsOn finds in a function that makes a list what an element needs of those before: it reads elements of what it returns, or a turn of a loop sets a
// variable that was there before it, other than what it returns, an error, or a number that it counts.
func (p *partFinder) buildsOn(decl *ast.FuncDecl) (at ast.Node) {
	returned := returnedVars(p.d, decl)
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		if at != nil {
			return
		}
		switch n := n.(type) {
		case *ast.IndexExpr:
			set, ok := parent(around).(*ast.AssignStmt)
			if returned[p.d.variable(n.X)] && !(ok && set.Tok == token.ASSIGN && slices.Contains(set.Lhs, ast.Expr(n))) {
				at = n
			}
		case *ast.AssignStmt:
			loop := slices.IndexFunc(around, func(n ast.Node) bool { return bodyOfLoop(n) != nil })
			if loop < 0 || n.Tok == token.DEFINE {
				return
			}
			for _, lhs := range n.Lhs {
				v := p.d.variable(lhs)
				if v != nil && isLocal(decl, v) && v.Pos() < around[loop].Pos() && !returned[v] && !isErrorType(v.Type()) && usedWithin(p.d, around[loop], v, lhs) {
					at = n
				}
			}
		}
	})
	return at
}

// usedWithin tells of a variable that something within a node reads it, other than an expression that is set.
func usedWithin(d *derivations, n ast.Node, v types.Object, but ast.Expr) bool {
	return hasNode(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		return ok && ast.Expr(id) != but && d.t.info.Uses[id] == v
	})
}

// returnedVars are the variables that a function returns.
func returnedVars(d *derivations, decl *ast.FuncDecl) map[types.Object]bool {
	all := map[types.Object]bool{}
	if decl.Type.Results != nil {
		for _, field := range decl.Type.Results.List {
			for _, id := range field.Names {
				all[d.variable(id)] = true
			}
		}
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if ret, ok := n.(*ast.ReturnStmt); ok {
			for _, r := range ret.Results {
				all[d.variable(ast.Unparen(r))] = true
			}
		}
		return true
	})
	delete(all, nil)
	return all
}
