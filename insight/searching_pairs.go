package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Two plain loops, of which the inner one compares its elements with those of the outer one for equality and goes on after
// a match: elements that are removed where they come twice, lists that are joined, or what both have.

// pairs is an inner loop with the one around it.
type pairs struct {
	c            *code
	inner, outer loop
	in, out      map[string]bool // the variables of each that stand for an element or its place
	over, other  ast.Expr        // what the inner one goes through, and the outer one
	both         bool            // the condition tests something of both elements besides
}

// pairsByHand finds such loops around a line, which is that of the comparison or the head of the inner loop. It is
// searchNone where the pairs themselves are needed: anything is done for each of them besides, whether they match or not,
// or the matching ones are entered in a table by both places; and where the inner loop goes through something else in each
// turn, or through a part that is near.
func pairsByHand(c *code, f stack.Frame) (x handLoop) {
	loops := loopsAround(c, f)
	if len(loops) < 2 {
		return x
	}
	p := &pairs{c: c, inner: loops[len(loops)-1], outer: loops[len(loops)-2]}
	p.in, p.out = p.inner.variables(), p.outer.variables()
	if len(p.in) == 0 || len(p.out) == 0 {
		return x
	}
	p.inner.aliases(p.in)
	p.outer.aliases(p.out)
	match, matched, by := p.body()
	if match == nil || !p.sameEachTurn() || p.entersTable(matched) {
		return x
	}
	first, _ := p.inner.source.lines(p.inner.stmt)
	x.from, _ = p.inner.source.lines(match)
	if _, x.to = p.inner.source.lines(match.Cond); !x.compares(f.Line) && f.Line != first {
		return handLoop{}
	}
	if few := literalSize(c, c.scopeAt(f), p.over); few > 0 && few <= fewElements {
		return handLoop{}
	}
	x.first, x.kind, x.by, x.name = first, searchPairs, by, types.ExprString(p.over)
	if p.other != nil && types.ExprString(p.other) != x.name {
		x.other = types.ExprString(p.other)
	}
	x.works, x.both, x.same = f.Line != first, p.both, sameByIn(c, f.File, match.Cond)
	return x
}

// body finds the one statement of the inner loop that compares, and what is done for a match. Names for elements and tests
// of the places alone may stand before it, and nothing else beside it.
func (p *pairs) body() (match *ast.IfStmt, matched []ast.Stmt, by comparison) {
	for i, s := range p.inner.body.List {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE || len(s.Rhs) != 1 || !elementOf(s.Rhs[0]) {
				return nil, nil, matchNone
			}
		case *ast.IfStmt:
			if s.Init != nil || s.Else != nil {
				return nil, nil, matchNone
			}
			if p.ofPlaces(s.Cond) && goesOn(s.Body.List) {
				continue
			}
			if not := negated(s.Cond); not != nil && goesOn(s.Body.List) { // what follows is for a match
				if by = p.equal(not); by == matchNone {
					return nil, nil, matchNone
				}
				return s, p.inner.body.List[i+1:], by
			}
			by = p.equal(s.Cond)
			if by == matchNone || endsSearch(s.Body.List) || i+1 < len(p.inner.body.List) {
				return nil, nil, matchNone
			}
			return s, s.Body.List, by
		default:
			return nil, nil, matchNone
		}
	}
	return nil, nil, matchNone
}

// negated is a condition of which the opposite is one comparison; nil where it is another.
func negated(cond ast.Expr) ast.Expr {
	switch x := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		if x.Op == token.NEQ {
			return &ast.BinaryExpr{X: x.X, OpPos: x.OpPos, Op: token.EQL, Y: x.Y}
		}
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			return ast.Unparen(x.X)
		}
	}
	return nil
}

// ofPlaces tells of a condition that it compares the places of two elements alone: i == j.
func (p *pairs) ofPlaces(cond ast.Expr) bool {
	x, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	return ok && isIdent(x.X) && isIdent(x.Y)
}

// equal tells how a condition compares an element of the inner loop with one of the outer loop, where it asks whether they
// are equal; matchNone where it does not, or where something else is enough.
func (p *pairs) equal(cond ast.Expr) (by comparison) {
	if hasAny(cond, func(n ast.Node) bool { x, ok := n.(*ast.BinaryExpr); return ok && x.Op == token.LOR }) {
		return matchNone
	}
	tests := false
	for _, part := range operands(cond, token.LAND) {
		part = ast.Unparen(part)
		if p.ofPlaces(part) && !p.isElement(part.(*ast.BinaryExpr).X, p.in, p.inner) && !p.isElement(part.(*ast.BinaryExpr).Y, p.in, p.inner) {
			continue
		}
		a, b, how := sidesOf(part)
		if a == nil || !p.between(a, b) {
			tests = true
			p.both = p.both || mentionsAny(part, p.in) && mentionsAny(part, p.out)
			continue
		}
		by = max(by, how)
	}
	if by != matchNone && tests {
		return matchGroup
	}
	return by
}

// between tells of two sides that one is of the inner loop's element alone, and the other of the outer one's.
func (p *pairs) between(a, b ast.Expr) bool {
	of := func(x, y ast.Expr) bool {
		if mentionsAny(x, p.out) || mentionsAny(y, p.in) || !p.isElement(x, p.in, p.inner) || !p.isElement(y, p.out, p.outer) {
			return false
		}
		p.over, p.other = through(x, p.in, p.inner), through(y, p.out, p.outer)
		return p.over != nil
	}
	return of(a, b) || of(b, a)
}

// sidesOf are the two sides of a test for equality, and how that compares; nil where it is none.
func sidesOf(part ast.Expr) (a, b ast.Expr, by comparison) {
	switch x := part.(type) {
	case *ast.BinaryExpr:
		if x.Op != token.EQL {
			return nil, nil, matchNone
		}
		call, ok := x.X.(*ast.CallExpr)
		if lit, zero := x.Y.(*ast.BasicLit); ok && zero && lit.Value == "0" && slices.Contains([]string{"bytes.Compare", "strings.Compare", "cmp.Compare"}, types.ExprString(call.Fun)) {
			return call.Args[0], call.Args[1], matchEqual
		}
		return x.X, x.Y, matchEqual
	case *ast.CallExpr:
		name := types.ExprString(x.Fun)
		switch {
		case name == "strings.EqualFold" || name == "bytes.EqualFold":
			by = matchFold
		case slices.Contains([]string{"bytes.Equal", "slices.Equal", "maps.Equal", "reflect.DeepEqual", "proto.Equal"}, name):
			by = matchEqual
		case len(x.Args) == 1 && (calledName(x) == "Equal" || calledName(x) == "Equals"):
			return receiverOf(x), x.Args[0], matchEqual
		}
		if by != matchNone && len(x.Args) == 2 {
			return x.Args[0], x.Args[1], by
		}
	}
	return nil, nil, matchNone
}

// isElement tells of an expression that it is made of an element of what a loop goes through, and not of its place alone.
func (p *pairs) isElement(x ast.Expr, names map[string]bool, l loop) bool {
	return through(x, names, l) != nil
}

// through is what a loop goes through, by an expression of its element: what is ranged over, or indexed by its variable;
// nil where that is not known.
func through(x ast.Expr, names map[string]bool, l loop) (over ast.Expr) {
	vars := l.variables()
	ast.Inspect(x, func(n ast.Node) bool {
		i, ok := n.(*ast.IndexExpr)
		if ok && over == nil && isIdent(i.Index) && vars[types.ExprString(i.Index)] {
			over = i.X
		}
		return over == nil
	})
	if over != nil {
		return over
	}
	r, ranges := l.stmt.(*ast.RangeStmt)
	value := ""
	if ranges && r.Value != nil {
		value = types.ExprString(r.Value)
	}
	for name := range names {
		if !mentions(x, name) {
			continue
		}
		switch {
		case name == value:
			return uncut(r.X)
		case !vars[name]: // an alias of an element
			for _, s := range l.body.List {
				if a, ok := s.(*ast.AssignStmt); ok && a.Tok == token.DEFINE && isNamed(a.Lhs[0], name) {
					return through(a.Rhs[0], l.variables(), l)
				}
			}
		}
	}
	return nil
}

// uncut is what a slice expression is a part of.
func uncut(x ast.Expr) ast.Expr {
	if s, ok := x.(*ast.SliceExpr); ok {
		return s.X
	}
	return x
}

// sameEachTurn tells whether the inner loop goes through the same elements, or those before or behind the outer one's, in
// each turn of that: not through others, nor through some that are near.
func (p *pairs) sameEachTurn() bool {
	if mentionsAny(p.over, p.out) || mentionsAny(p.over, p.in) {
		return false
	}
	root := rootName(p.over)
	if root == "" || declares(p.outer.body, root) {
		return false
	}
	set := false
	eachAssigned(p.outer.body, func(lhs, rhs ast.Expr) {
		set = set || types.ExprString(lhs) == types.ExprString(p.over) && !mentions(rhs, root) || isNamed(lhs, root) && !mentions(rhs, root)
	})
	if set {
		return false
	}
	switch n := p.inner.stmt.(type) {
	case *ast.RangeStmt:
		part, ok := n.X.(*ast.SliceExpr)
		if !ok {
			return !mentionsAny(n.X, p.out)
		}
		low := part.Low != nil && mentionsAny(part.Low, p.out)
		high := part.High != nil && mentionsAny(part.High, p.out)
		return !low || !high && part.High == nil
	case *ast.ForStmt:
		cond, ok := n.Cond.(*ast.BinaryExpr)
		if !ok || cond.Op == token.LAND || cond.Op == token.LOR {
			return false
		}
		return !mentionsAny(cond, p.out) || isIdent(cond.X) && isIdent(cond.Y) && !mentionsAny(n.Init, p.out)
	}
	return false
}

// entersTable tells of what is done for a match that it enters something by both places, or by one beside, as a matrix of all
// pairs does, or one of which two rows are kept.
func (p *pairs) entersTable(list []ast.Stmt) (found bool) {
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			if i, ok := n.(*ast.IndexExpr); ok {
				_, beside := i.Index.(*ast.BinaryExpr)
				found = found || mentionsAny(i, p.in) && (beside || mentionsAny(i, p.out)) || beside && mentionsAny(i, p.out)
			}
			return !found
		})
	}
	return found
}

// hasAny tells whether a part of a node is of a kind.
func hasAny(n ast.Node, is func(ast.Node) bool) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		found = found || n != nil && is(n)
		return !found
	})
	return found
}

// pairsDo says what such loops do.
func pairsDo(l handLoop) string {
	if l.other == "" {
		return "compares each element of " + l.name + " with each other one"
	}
	return "compares each element of " + l.other + " with each one of " + l.name
}

// advisePairs says what to do about them.
func advisePairs(f *Finding, l handLoop) {
	f.Title = "Quadratic: each element is compared with each other one"
	key := "keyed by what is compared"
	switch l.by {
	case matchGroup:
		key = "from what is compared for equality to the elements that have it (test the rest of the condition on these alone)"
	}
	if l.other == "" {
		f.Advice = "Go through them once, with a map of those already seen, " + key + "; or sort them first, so that equal ones stand side by side (slices.Sort, slices.Compact)."
		f.Advice += " The time grows with the square of their number: twice as many take four times as long."
	} else {
		f.Title = "Quadratic: each element of one list is compared with each one of another"
		f.Advice = "Build a map of " + l.name + ", " + key + ", once, before the loops, and look the elements of " + l.other + " up in it; or sort both and go through them side by side."
		f.Advice += " The time grows with the product of both: twice as many of each take four times as long."
	}
	if strings.Contains(f.Evidence[0].Source, "Equal(") && l.by == matchEqual && l.same.equality == equalKey {
		f.Advice += " The key has to hold all that the comparison looks at: a text, an array, or a struct of comparable fields."
	}
	f.Doubts = []string{"keep the order: where several match, the loops take them in the order of the list", fewDoubt}
	f.saves, f.grows = true, true
	if l.both { // what is left to test decides
		f.Severity, f.saves, f.grows = Info, false, false
		f.Doubts = append(f.Doubts, "with few different values of what is compared for equality, nearly all pairs are left to test")
	}
	l.same.tell(f)
}
