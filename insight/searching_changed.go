package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What a loop searches may be changed in that loop: an index that is built before it has to follow.

// searchIn is a search as a function sees it: a call or a loop that goes through a list.
type searchIn struct {
	d      *derivations
	decl   *ast.FuncDecl
	node   ast.Node
	list   ast.Expr
	fields map[types.Object]bool // of the elements, that are compared
}

// searchOn finds the search on a line.
func searchOn(d *derivations, at stack.Frame) (s searchIn, ok bool) {
	in, found := d.at(at)
	if !found {
		return s, false
	}
	s = searchIn{d: d, decl: in.decl, fields: map[types.Object]bool{}}
	ast.Inspect(in.body(), func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if is && s.node == nil && d.placeOf(call).line == at.Line && d.t.fromPackage(uninstantiated(call)) == "slices" && len(call.Args) > 1 {
			s.node, s.list = call, call.Args[0]
			s.compares(call.Args[1])
		}
		return true
	})
	if s.node == nil {
		r, is := transportLoop(d, in.body(), at.Line).(*ast.RangeStmt)
		if !is {
			return s, false
		}
		s.node, s.list = r, r.X
		ast.Inspect(r.Body, func(n ast.Node) bool {
			if cond, is := n.(*ast.IfStmt); is {
				s.compares(cond.Cond)
			}
			return true
		})
	}
	return s, true
}

// compares notes the fields in a comparison.
func (s searchIn) compares(x ast.Node) {
	ast.Inspect(x, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if f := s.d.field(sel); f != nil {
				s.fields[f] = true
			}
		}
		return true
	})
}

// is tells of an expression that it is the list.
func (s searchIn) is(x ast.Expr) bool {
	v := placeNamed(s.d, s.list)
	return v != nil && placeNamed(s.d, x) == v
}

// loop is the innermost loop around the search, in the same function or closure.
func (s searchIn) loop() (in ast.Node) {
	for _, n := range nodesAt(s.decl.Body, s.node.Pos()) {
		if n == s.node {
			break
		}
		if _, lit := n.(*ast.FuncLit); lit {
			in = nil
		} else if body := bodyOfLoop(n); body != nil && covers(body, s.node) {
			in = n
		}
	}
	return in
}

// changed finds where a loop around the search, in the function that searches or in one that calls it, changes the list, or what is
// compared of its elements.
func (s searchIn) changed(depth int) (at codeLine, ok bool) {
	if loop := s.loop(); loop != nil {
		if v := s.d.variable(ast.Unparen(s.list)); v != nil && loop.Pos() <= v.Pos() && v.Pos() < loop.End() {
			return at, false // another list in each turn
		}
		if n := s.changeIn(loop); n != nil {
			return s.d.placeOf(n), true
		}
	}
	if depth >= searchCalls {
		return at, false
	}
	v := s.d.variable(innermost(s.list))
	if v == nil || !isGiven(s.decl, v) {
		return at, false
	}
	for _, by := range whoCalls(s.d, s.decl) {
		outer := searchIn{s.d, by.in, by.call, s.list, s.fields}
		if isIdent(ast.Unparen(s.list)) {
			outer.list = argumentFor(s.d, s.decl, by.call, v)
		}
		if outer.list == nil {
			continue
		}
		if at, ok = outer.changed(depth + 1); ok {
			return at, true
		}
	}
	return at, false
}

// changeIn is the first node in a loop, or in what it calls, that changes the list, or what is compared of its elements.
func (s searchIn) changeIn(loop ast.Node) (found ast.Node) {
	body := bodyOfLoop(loop)
	shared := bySharing(s.d, s.decl, s.is)
	eachNode(body, func(n ast.Node, _ []ast.Node) {
		if found == nil && !covers(s.node, n) {
			found = listChangedBy(s.d, n, s.is, shared, 0)
		}
	})
	if found != nil {
		return found
	}
	reached := s.d.reached(s.decl, body)
	if _, field := ast.Unparen(s.list).(*ast.SelectorExpr); field {
		for fn := range reached {
			eachNode(fn.Body, func(n ast.Node, _ []ast.Node) {
				if c := listChangedBy(s.d, n, s.is, bySharing(s.d, fn, s.is), mostPassed); c != nil && (found == nil || c.Pos() < found.Pos()) {
					found = c
				}
			})
		}
	}
	for f := range s.fields {
		for _, c := range s.d.writes()[f] {
			_, called := reached[c.in]
			if called || c.in == s.decl && body.Pos() <= c.at && c.at < body.End() {
				ast.Inspect(c.in.Body, func(n ast.Node) bool {
					if n != nil && n.Pos() == c.at && (found == nil || n.Pos() < found.Pos()) {
						found = n
					}
					return true
				})
			}
		}
	}
	return found
}

// tellChanges begins the advice to look something up with where the loop changes what it searches.
func tellChanges(c *code, at stack.Frame, f *Finding) {
	s, ok := searchOn(derivationsOf(c), at)
	if !ok {
		return
	}
	change, ok := s.changed(0)
	if !ok {
		return
	}
	f.Evidence = append(f.Evidence, c.shownAt(change.file, change.line, "what is searched is changed here, between the searches"))
	f.Advice = fmt.Sprintf("What is searched is changed between the searches, at %s: an index has to follow there (take the old key out, put the new one in), or it finds what is no longer so. "+
		"Where several elements have the same key, it has to hold the places of all of them, in their order. Then: ", change.text()) + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
	f.Doubts = slices.DeleteFunc(f.Doubts, func(s string) bool { return s == changesDoubt })
	if !slices.Contains(f.Doubts, firstDoubt) {
		f.Doubts = slices.Insert(f.Doubts, 0, firstDoubt)
	}
}
