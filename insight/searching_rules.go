package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"loupe/value/stack"
)

// Conditions of several comparisons: what a map or a sorted slice finds has to be what the loop finds.

// refined is how a search compares, all of its condition considered, and those before it that go on with
// the next element or end the search as well. With alternatives, each element is a rule of its own, of
// which the first that matches decides; where it tests something besides an equality, that finds those to
// test.
func (l loop) refined(m comparison, ends *ast.IfStmt, names map[string]bool) comparison {
	c := conditions{names: names}
	c.all(ends.Cond)
	for _, s := range l.body.List {
		n, ok := s.(*ast.IfStmt)
		switch {
		case !ok || n == ends || !mentionsAny(n.Cond, names):
		case endsSearch(n.Body.List):
			c.alternatives = c.alternatives || matchesAny(n.Cond, names)
		case len(n.Body.List) > 0 && goesOn(n.Body.List) && n.Pos() < ends.Pos():
			c.none(n.Cond)
		}
	}
	return c.refine(m)
}

// refined is the same of one condition.
func refined(m comparison, cond ast.Expr, names map[string]bool) comparison {
	c := conditions{names: names}
	c.all(cond)
	return c.refine(m)
}

// conditions counts the comparisons of an element that all have to be true.
type conditions struct {
	names        map[string]bool
	alternatives bool
	equal, tests int
}

func (c *conditions) refine(m comparison) comparison {
	switch {
	case m == matchNone:
		return m
	case c.alternatives:
		return matchRules
	case c.equal > 0 && c.tests > 0:
		return matchGroup
	}
	return m
}

// all adds a condition that has to be true.
func (c *conditions) all(cond ast.Expr) {
	ast.Inspect(cond, func(n ast.Node) bool {
		c.either(n, token.LOR)
		return true
	})
	for _, part := range conjuncts(cond, c.names) {
		switch {
		case equalsTerm(part, c.names):
			c.equal++
		case mentionsAny(part, c.names):
			c.tests++
		}
	}
}

// none adds a condition that has to be false.
func (c *conditions) none(cond ast.Expr) {
	ast.Inspect(cond, func(n ast.Node) bool {
		c.either(n, token.LAND)
		return true
	})
	for _, part := range operands(cond, token.LOR) {
		x, ok := part.(*ast.BinaryExpr)
		if not, is := part.(*ast.UnaryExpr); is && not.Op == token.NOT && equalsTerm(not.X, c.names) || ok && x.Op == token.NEQ && mentionsAny(x.X, c.names) != mentionsAny(x.Y, c.names) {
			c.equal++
		} else if mentionsAny(part, c.names) {
			c.tests++
		}
	}
}

// either notes two operands of which one is enough, where both depend on the element.
func (c *conditions) either(n ast.Node, op token.Token) {
	x, ok := n.(*ast.BinaryExpr)
	c.alternatives = c.alternatives || ok && x.Op == op && mentionsAny(x.X, c.names) && mentionsAny(x.Y, c.names)
}

// operands are the parts of a condition that an operator combines.
func operands(cond ast.Expr, op token.Token) []ast.Expr {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return operands(x.X, op)
	case *ast.BinaryExpr:
		if x.Op == op {
			return append(operands(x.X, op), operands(x.Y, op)...)
		}
	}
	return []ast.Expr{cond}
}

// matchesAny tells of a condition that it matches an element, by what is looked for or by something
// that matches anything, and not one that is beyond what is looked for, or missing.
func matchesAny(cond ast.Expr, names map[string]bool) bool {
	if m, _ := matchesBy(cond, names); m != matchNone {
		return true
	}
	x, ok := cond.(*ast.BinaryExpr)
	if !ok || x.Op != token.EQL {
		return false
	}
	_, literal := x.Y.(*ast.BasicLit)
	return literal && mentionsAny(x.X, names)
}

// conjuncts are the parts of a condition that all have to be true; two bounds are one.
func conjuncts(cond ast.Expr, names map[string]bool) []ast.Expr {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return conjuncts(x.X, names)
	case *ast.BinaryExpr:
		if x.Op == token.LAND && between(x, names) == nil {
			return append(conjuncts(x.X, names), conjuncts(x.Y, names)...)
		}
	}
	return []ast.Expr{cond}
}

// equalsTerm tells of a part of a condition that it asks whether something of the element is equal to
// something else.
func equalsTerm(part ast.Expr, names map[string]bool) bool {
	if x, ok := part.(*ast.BinaryExpr); ok && x.Op == token.EQL && mentionsAny(x.X, names) != mentionsAny(x.Y, names) {
		return true
	}
	m, _ := matchesBy(part, names)
	return m == matchEqual || m == matchFold
}

// matchesIn is how a call of package slices with a function compares: by the source of that function
// where it stands in the call, and what it takes for equal. It is matchOther where nobody can tell.
func matchesIn(c *code, at stack.Frame, callee string) (comparison, sameBy) {
	name, _, _ := strings.Cut(callee, "[")
	if name = lastName(name); !strings.HasSuffix(name, "Func") {
		return matchEqual, sameBy{}
	}
	names := []string{name}
	if name == "IndexFunc" {
		names = append(names, "ContainsFunc") // which is inlined
	}
	for _, name := range names {
		if m, same := predicateOn(c, at, name); m != matchNone {
			return m, same
		}
	}
	return matchOther, sameBy{}
}

// predicateOn is what the function compares that the call of a name on a line is given last; matchNone where nothing shows that.
func predicateOn(c *code, at stack.Frame, name string) (comparison, sameBy) {
	for _, call := range c.lineCalls(at) {
		if calledName(call) != name || len(call.Args) == 0 {
			continue
		}
		lit, ok := call.Args[len(call.Args)-1].(*ast.FuncLit)
		if !ok || len(lit.Body.List) != 1 {
			continue
		}
		ret, ok := lit.Body.List[0].(*ast.ReturnStmt)
		if !ok || len(ret.Results) != 1 {
			continue
		}
		names := map[string]bool{}
		for _, p := range parameters(lit.Type) {
			names[p] = true
		}
		if m, _ := matchesBy(ret.Results[0], names); m != matchNone {
			return refined(m, ret.Results[0], names), sameByIn(c, at.File, ret.Results[0])
		}
	}
	return matchNone, sameBy{}
}

// prefixOf tells apart what a function compares by a prefix or a suffix: whether the element begins with
// the term, or the term with something of the element.
func prefixOf(call *ast.CallExpr, names map[string]bool) comparison {
	name := types.ExprString(call.Fun)
	if strings.Contains(strings.ToLower(name), "suffix") {
		return matchSuffix
	}
	if (name == "strings.HasPrefix" || name == "bytes.HasPrefix") && len(call.Args) == 2 && mentionsAny(call.Args[0], names) {
		return matchBegins
	}
	return matchPrefix
}

// takes tells of statements that they do something with the element that was found.
func takes(list []ast.Stmt, names map[string]bool) bool {
	for _, s := range list {
		if mentionsAny(s, names) {
			return true
		}
	}
	return false
}
