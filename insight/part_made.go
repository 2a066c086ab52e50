package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// What a function does to make a list or a map of which another one uses a part: how many elements it puts in, whether each needs those before, and what it changes
// besides.

// doesBelow says what a function, or one that it calls, changes besides what it returns.
func (p *partFinder) doesBelow(decl *ast.FuncDecl) string {
	if what := p.does(decl); what != "" {
		return what
	}
	what := ""
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || what != "" {
			return what == ""
		}
		fn := p.d.t.callee(call)
		if fn == nil {
			return true
		}
		var on types.Object
		if x := receiverOf(call); x != nil {
			on = p.d.variable(innermost(pointed(x)))
		}
		for _, callee := range p.d.declsOf(fn) {
			own := receiverVariable(p.d, callee)
			ast.Inspect(callee.Body, func(n ast.Node) bool {
				for _, lhs := range changedBy(n) {
					v := p.d.variable(innermost(pointed(ast.Unparen(lhs))))
					if v != nil && (ofPackage(v) || v == own && !isIdent(lhs) && on != nil && (ofPackage(on) || isGiven(decl, on))) {
						what = types.ExprString(lhs)
					}
				}
				return true
			})
		}
		return true
	})
	return what
}

// does says what a function changes besides what it returns; empty for nothing that the source shows.
func (p *partFinder) does(decl *ast.FuncDecl) (what string) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		for _, lhs := range changedBy(n) {
			lhs = ast.Unparen(lhs)
			if v := p.d.variable(innermost(pointed(lhs))); what == "" && v != nil && (!isLocal(decl, v) || !isIdent(lhs) && isGiven(decl, v)) {
				what = types.ExprString(lhs)
			}
		}
		return what == ""
	})
	return what
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
	puts := int64(0)
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		if add, to := addsByAppend(n); add != nil && p.gives(decl, to) {
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

// looksUp tells of a function that it asks or sets entries of a map by a key.
func (p *partFinder) looksUp(decl *ast.FuncDecl) bool {
	return hasAny(decl.Body, func(n ast.Node) bool {
		x, ok := n.(*ast.IndexExpr)
		if !ok {
			return false
		}
		of := p.d.t.typeOf(x.X)
		return of != nil && isMap(of)
	})
}

// buildsOn finds in a function that makes a list what an element needs of those before: it reads elements of what it returns, or a turn of a loop sets a
// variable that was there before it, other than what it returns, an error, or a number that it counts.
func (p *partFinder) buildsOn(decl *ast.FuncDecl) (at ast.Node) {
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		if at != nil {
			return
		}
		switch n := n.(type) {
		case *ast.IndexExpr:
			set, ok := parent(around).(*ast.AssignStmt)
			if v := p.d.variable(n.X); v != nil && p.gives(decl, n.X) && !(ok && set.Tok == token.ASSIGN && slices.Contains(set.Lhs, ast.Expr(n))) {
				at = n
			}
		case *ast.AssignStmt:
			loop := slices.IndexFunc(around, func(n ast.Node) bool { return bodyOfLoop(n) != nil })
			if loop < 0 || n.Tok == token.DEFINE {
				return
			}
			for _, lhs := range n.Lhs {
				v := p.d.variable(lhs)
				if v != nil && isLocal(decl, v) && v.Pos() < around[loop].Pos() && !p.gives(decl, lhs) && !isErrorType(v.Type()) && usedWithin(p.d, around[loop], v, lhs) {
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

// gives tells of a variable that a function returns it.
func (p *partFinder) gives(decl *ast.FuncDecl, x ast.Expr) bool {
	v := p.d.variable(x)
	return v != nil && (isResult(decl, v) || hasAny(decl.Body, func(n ast.Node) bool {
		ret, ok := n.(*ast.ReturnStmt)
		return ok && slices.ContainsFunc(ret.Results, func(r ast.Expr) bool { return p.d.variable(ast.Unparen(r)) == v })
	}))
}
