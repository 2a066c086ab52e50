package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// needle is what a line looks for, by its source.
type needle int

const (
	needleUnknown needle = iota
	needleFixed          // a literal, or a name that no loop around the line sets
	needleOfLoop         // it is another one in each turn of a loop around
)

// needleAt finds the term of a search for text on a line: the last argument of Index,
// Contains and the like.
func (s *syntax) needleAt(line int) (kind needle) {
	s.onLine(line, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 || !searchesText(types.ExprString(call.Fun)) {
			return
		}
		term := call.Args[1]
		if kind == needleUnknown {
			kind = needleFixed
		}
		for _, a := range around {
			if setBy(a, term) {
				kind = needleOfLoop
			}
		}
	})
	return kind
}

// searchesText tells of a function, by its name, that it looks for one text in another.
func searchesText(name string) bool {
	p, f, _ := strings.Cut(name, ".")
	return (p == "strings" || p == "bytes") && (strings.HasPrefix(f, "Index") || strings.HasPrefix(f, "LastIndex") || strings.HasPrefix(f, "Contains") || strings.HasPrefix(f, "Count"))
}

// setBy tells whether a loop gives an expression another value in each turn: by its own
// variables, or in its body.
func setBy(loop ast.Node, x ast.Expr) bool {
	var body *ast.BlockStmt
	switch n := loop.(type) {
	case *ast.RangeStmt:
		for _, v := range []ast.Expr{n.Key, n.Value} {
			if id, ok := v.(*ast.Ident); ok && id.Name != "_" && mentions(x, id.Name) {
				return true
			}
		}
		body = n.Body
	case *ast.ForStmt:
		body = n.Body
		if a, ok := n.Init.(*ast.AssignStmt); ok && mentions(x, types.ExprString(a.Lhs[0])) {
			return true
		}
	default:
		return false
	}
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, lhs := range a.Lhs {
				found = found || mentions(x, rootName(lhs))
			}
		}
		return !found
	})
	return found
}

// handKind is how a loop searches, by its source.
type handKind int

const (
	searchNone   handKind = iota
	searchMany            // through as many as there are
	searchFew             // through a literal of a few elements
	searchFront           // what was found moves to the front
	searchTable           // it begins where what it looks for belongs: a hash table
	searchFirst           // for the first of all by an order, which is taken out
	searchLeast           // for the first of all by an order, which is taken out at times
	searchEach            // through another one in each turn of the loop around
	searchPairs           // each of one list is compared with each of another, or of the same
	searchOwners          // through the own list of each element of one that lives on
)

// handLoop is a loop that searches.
type handLoop struct {
	kind  handKind
	first int        // its line
	name  string     // what it goes through, where it is a few, or pairs
	other string     // of pairs, what the loop around goes through, if that is another list
	few   int        // how many these are
	by    comparison // how it compares
	both  bool       // of pairs, something of both elements is tested besides
	// from and to are the lines of the condition.
	from, to int
	// works tells that something is done for each element besides the comparison.
	works bool
	// takes tells that the element that was found is used.
	takes bool
	// same is what it takes for equal.
	same sameBy
	// owners are, of searchOwners, the elements that have the lists.
	owners owners
}

// compares tells whether a line is that of the comparison.
func (l handLoop) compares(line int) bool { return l.from <= line && line <= l.to }

// searchByHand finds, around a line, a loop that compares what it goes through with something
// that stays the same in it and is no literal, and ends when it is found; it stands in another
// loop, or its function is called in one, as looped says. One that begins where the last
// search has ended is none: it reads everything once. caller is the frame that calls the
// function, or the zero frame.
func searchByHand(c *code, f, caller stack.Frame, looped bool) (x handLoop) {
	loops := loopsAround(c, f)
	if len(loops) == 0 || len(loops) == 1 && !looped {
		return x
	}
	l := loops[len(loops)-1]
	names := l.variables()
	l.aliases(names)
	first := &gone{c: c, at: f, caller: caller, l: l, names: names, fn: c.scopeAt(f)}
	if over, always, ok := first.takesFirst(); ok {
		x.first, _ = l.source.lines(l.stmt)
		if x.kind, x.name = searchLeast, types.ExprString(over); always {
			x.kind = searchFirst
		}
		return x
	}
	work := l.workOnEach(names)
	if work == workVisits {
		return x
	}
	x.works = work == workCalls
	for i, s := range l.body.List {
		n, ok := s.(*ast.IfStmt)
		if !ok {
			continue
		}
		cond, found := n.Cond, n.Body.List
		if rest := l.body.List[i+1:]; skipsOthers(n) && findsLater(rest) {
			x := n.Cond.(*ast.BinaryExpr)
			cond, found = &ast.BinaryExpr{X: x.X, OpPos: x.OpPos, Op: token.EQL, Y: x.Y}, rest
		} else if !endsSearch(n.Body.List) {
			continue
		}
		m, terms := matchesBy(cond, names)
		if m == matchNone || slices.ContainsFunc(terms, func(x ast.Expr) bool { return setBy(l.stmt, x) }) {
			continue // each element is compared with something else
		}
		x.from, _ = l.source.lines(n)
		_, x.to = l.source.lines(n.Cond)
		if l.source.covers(n.Body, f.Line) && !x.compares(f.Line) {
			return handLoop{} // what is done with the one that was found
		}
		g := first
		if g.fn == nil || g.movesOn() {
			return x
		}
		x.first, _ = l.source.lines(l.stmt)
		over := g.over(cond)
		if m == matchOther && ofNetworks(c, over) {
			m = matchNetwork
		}
		x.kind, x.by, x.takes = searchMany, l.refined(m, n, names), takes(found, names)
		if cond != n.Cond {
			x.by = matchGroup
			x.from, _ = l.source.lines(l.stmt) // what is left out is gone through all the same
		}
		x.same = sameByIn(c, f.File, cond)
		switch few := literalSize(c, g.fn, over); {
		case g.beginsAt(terms):
			x.kind = searchTable
		case indexOfOwners(x.by) != "" && ofOwners(g, over, terms, &x):
		case few > 0 && few <= fewElements && m != matchEqual:
			return handLoop{}
		case few > 0 && few <= fewElements:
			x.kind, x.name, x.few = searchFew, types.ExprString(over), few
		case over != nil && movesToFront(n.Body, types.ExprString(over)):
			x.kind = searchFront
		case g.anotherEach(over):
			x.kind, x.name = searchEach, types.ExprString(over)
		}
		return x
	}
	return x
}

// skipsOthers tells of a condition that it goes on with the next element where this one is not equal to something.
func skipsOthers(n *ast.IfStmt) bool {
	x, ok := n.Cond.(*ast.BinaryExpr)
	if !ok || x.Op != token.NEQ || n.Init != nil || n.Else != nil || len(n.Body.List) != 1 {
		return false
	}
	b, ok := n.Body.List[0].(*ast.BranchStmt)
	return ok && b.Tok == token.CONTINUE && b.Label == nil
}

// findsLater tells of statements that one of them, or what one does under a condition, ends the search.
func findsLater(list []ast.Stmt) bool {
	return endsSearch(list) || slices.ContainsFunc(list, func(s ast.Stmt) bool {
		n, ok := s.(*ast.IfStmt)
		return ok && endsSearch(n.Body.List)
	})
}

// variables are the names of a loop's own.
func (l loop) variables() map[string]bool {
	var all []ast.Expr
	switch n := l.stmt.(type) {
	case *ast.RangeStmt:
		all = []ast.Expr{n.Key, n.Value}
	case *ast.ForStmt:
		if a, ok := n.Init.(*ast.AssignStmt); ok {
			all = a.Lhs
		}
	}
	names := map[string]bool{}
	for _, v := range all {
		if id, ok := v.(*ast.Ident); ok && id.Name != "_" {
			names[id.Name] = true
		}
	}
	return names
}

// aliases adds the variables that the loop's body declares as an element, or a part of one.
func (l loop) aliases(names map[string]bool) {
	for _, s := range l.body.List {
		a, ok := s.(*ast.AssignStmt)
		if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 1 || len(a.Rhs) != 1 || !mentionsAny(a.Rhs[0], names) {
			continue
		}
		if id, ok := a.Lhs[0].(*ast.Ident); ok && id.Name != "_" && elementOf(a.Rhs[0]) {
			names[id.Name] = true
		}
	}
}

// elementOf tells of an expression that it selects: a field, an element, or the address of one.
func elementOf(x ast.Expr) bool {
	switch unrefer(x).(type) {
	case *ast.IndexExpr, *ast.SelectorExpr, *ast.StarExpr:
		return true
	}
	return false
}

// looksUp are what a condition compares something of a loop's variables with, where that is
// no literal.
func looksUp(cond ast.Expr, names map[string]bool) (terms []ast.Expr) {
	ast.Inspect(cond, func(n ast.Node) bool {
		x, ok := n.(*ast.BinaryExpr)
		if !ok || x.Op != token.EQL {
			return true
		}
		for _, side := range [][2]ast.Expr{{x.X, x.Y}, {x.Y, x.X}} {
			root := rootName(side[1])
			if mentionsAny(side[0], names) && !mentionsAny(side[1], names) && (root != "" && root != "nil" || asksSame(side[0], side[1])) {
				terms = append(terms, side[1])
			}
		}
		return true
	})
	return terms
}

// asksSame tells of what an element is compared with that it is what a method without arguments gives of something, and of the element
// the same: by a method of this name, or from a field.
func asksSame(element, term ast.Expr) bool {
	call, ok := ast.Unparen(term).(*ast.CallExpr)
	if !ok || len(call.Args) > 0 || rootName(receiverOf(call)) == "" {
		return false
	}
	own := ast.Unparen(element)
	if of, ok := own.(*ast.CallExpr); ok && len(of.Args) == 0 {
		own = of.Fun
	}
	sel, ok := own.(*ast.SelectorExpr)
	return ok && strings.EqualFold(strings.TrimPrefix(sel.Sel.Name, "Get"), strings.TrimPrefix(calledName(call), "Get"))
}

// endsSearch tells of statements that they leave the loop, or go on with the next turn of one
// further out.
func endsSearch(list []ast.Stmt) bool {
	if leavesLoop(list) {
		return true
	}
	if len(list) == 0 {
		return false
	}
	b, ok := list[len(list)-1].(*ast.BranchStmt)
	return ok && b.Tok == token.CONTINUE && b.Label != nil
}
