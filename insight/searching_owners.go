package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Searches through the lists of all elements of a list that lives on: each list may be short, but a search goes through all
// of them.

// owners is the loop around a search, which goes through the elements that have the lists.
type owners struct {
	at     stack.Frame // its line
	name   string      // what it goes through
	called bool        // it is in the caller of the function that searches
}

// ownersOf finds the loop around one that searches the own list of an element, for the same in each turn, where it does
// nothing else for each element and goes through something that lives on: then the search is that of all lists.
func ownersOf(g *gone, terms []ast.Expr) (o owners, ok bool) {
	at, fn, loops := g.at, g.fn, loopsAround(g.c, g.at)
	inner := g.l.stmt
	if len(loops) > 1 {
		loops = loops[:len(loops)-1]
	} else {
		call := callOnLine(g)
		if call == nil {
			return o, false
		}
		at, fn, loops, inner, o.called = g.caller, g.c.scopeAt(g.caller), loopsAround(g.c, g.caller), call, true
		if terms, ok = givenTerms(g.fn, call, terms); !ok || fn == nil || len(loops) == 0 {
			return o, false
		}
	}
	l := loops[len(loops)-1]
	r, is := l.stmt.(*ast.RangeStmt)
	if !is || len(terms) == 0 || fn == nil {
		return o, false
	}
	names := l.variables()
	l.aliases(names)
	if slices.ContainsFunc(terms, func(x ast.Expr) bool { return mentionsAny(x, names) || setBy(r, x) }) {
		return o, false // each element is asked for something of its own
	}
	if few := literalSize(g.c, fn, r.X); few > 0 && few <= fewElements || !isLasting(g.c, fn, at.File, r.X) || !onlySearches(l, inner) {
		return o, false
	}
	first, _ := l.source.lines(r)
	o.at, o.name = stack.Frame{Func: at.Func, File: at.File, Line: first}, types.ExprString(r.X)
	return o, true
}

// ofOwners makes a search that of all lists, where it is one.
func ofOwners(g *gone, over ast.Expr, terms []ast.Expr, x *handLoop) bool {
	if !g.anotherEach(over) {
		return false
	}
	o, ok := ownersOf(g, terms)
	if ok {
		x.kind, x.name, x.owners = searchOwners, types.ExprString(over), o
	}
	return ok
}

// callOnLine is the call of the function on the line of its caller; nil where there are none or several.
func callOnLine(g *gone) (found *ast.CallExpr) {
	n := 0
	for _, call := range g.c.lineCalls(g.caller) {
		if g.fn.name != "" && calledName(call) == g.fn.name {
			found = call
			n++
		}
	}
	if n != 1 {
		return nil
	}
	return found
}

// givenTerms are what a function looks for as its caller has it. What comes of the receiver is the element's own.
func givenTerms(fn *scope, call *ast.CallExpr, terms []ast.Expr) (given []ast.Expr, ok bool) {
	for _, x := range terms {
		root := rootName(unrefer(x))
		i := fn.parameter(root)
		switch {
		case root == "" || root == fn.receiver || i >= len(call.Args) || i < 0 && fn.declares(root):
			return nil, false
		case i >= 0:
			given = append(given, call.Args[i])
		default:
			given = append(given, x)
		}
	}
	return given, true
}

// isLasting tells of what a loop goes through that it is there before the function and after it: a field, or a variable of the
// package, that the function does not change, or a part of one.
func isLasting(c *code, fn *scope, file string, x ast.Expr) bool {
	root, fields := chain(x)
	if root == "" || changesIn(fn.body, types.ExprString(x)) {
		return false
	}
	switch {
	case root == fn.receiver || fn.parameter(root) >= 0:
		return len(fields) > 0
	case fn.declares(root):
		from := fn.made(root)
		if call, ok := from.(*ast.CallExpr); ok && calledName(call) == "Load" && len(call.Args) == 0 {
			from = receiverOf(call)
		} else if from == nil || !elementOf(from) {
			return false
		}
		return from != nil && !fn.sets(root) && isLasting(c, fn, file, from)
	case fn.outer != nil:
		return isLasting(c, fn.outer, file, x)
	}
	return packageHas(c, file, root)
}

// changesIn tells whether statements set a list, or an element of it, or delete from it.
func changesIn(body ast.Node, list string) (found bool) {
	if givenIn(body, list) {
		return true
	}
	eachAssigned(body, func(lhs, _ ast.Expr) {
		i, ok := lhs.(*ast.IndexExpr)
		found = found || ok && types.ExprString(i.X) == list
	})
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && (isNamed(call.Fun, "delete") || isNamed(call.Fun, "clear")) && len(call.Args) > 0 && types.ExprString(call.Args[0]) == list
		return !found
	})
	return found
}

// onlySearches tells of a loop that it does nothing for an element but search, and what is done for one that was found.
// inner is the loop, or the call, that searches.
func onlySearches(l loop, inner ast.Node) bool {
	flags := map[string]bool{} // what tells whether it was found
	eachAssigned(l.body, func(lhs, rhs ast.Expr) {
		if id, ok := lhs.(*ast.Ident); ok && (within(inner, lhs) || within(rhs, inner)) {
			flags[id.Name] = true
		}
	})
	asks := func(x ast.Node) bool { return x != nil && (within(x, inner) || mentionsAny(x, flags)) }
	for _, s := range l.body.List {
		if label, ok := s.(*ast.LabeledStmt); ok {
			s = label.Stmt
		}
		switch n := s.(type) {
		case *ast.DeclStmt:
		case *ast.AssignStmt:
			for _, rhs := range n.Rhs {
				if !within(rhs, inner) && !isPlainValue(rhs) && !elementOf(rhs) {
					return false
				}
			}
			if slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return !isIdent(x) }) {
				return false // it may be the element that is set
			}
		case *ast.IfStmt:
			skips := len(n.Body.List) > 0 && goesOn(n.Body.List)
			if skips && asks(n.Cond) && negated(n.Cond) != nil {
				return true // what follows is for one that was found
			}
			if n.Else != nil || !skips && (!asks(n.Cond) && !(n.Init != nil && asks(n.Init)) || negated(n.Cond) != nil) {
				return false
			}
		default:
			if s != inner {
				return false
			}
		}
	}
	return true
}

// isPlainValue tells of a value that it is a literal, true or false.
func isPlainValue(x ast.Expr) bool {
	_, lit := x.(*ast.BasicLit)
	return lit || isNamed(x, "true") || isNamed(x, "false")
}

// indexOfOwners says what finds the elements by what is in their lists; empty where nobody can tell.
func indexOfOwners(m comparison) string {
	switch m {
	case matchEqual:
		return "a map from each entry of these lists to the elements that have it"
	case matchFold:
		return "a map from each entry of these lists, in one case, to the elements that have it"
	case matchGroup:
		return "a map from what is compared for equality to the entries that have it, each with its element; the rest of the condition is tested on these alone"
	case matchPrefix:
		return "a prefix tree (trie) with the elements at the ends of their prefixes, or a map from each prefix to the elements that have it, which is asked once for each beginning of what is looked for"
	case matchBegins:
		return "all entries of these lists sorted, each with its element: slices.BinarySearchFunc finds the first with the prefix, and all others that have it follow"
	case matchSuffix:
		return "a tree of all entries from their ends, with the elements, or a map from each suffix to the elements that have it, which is asked once for each end of what is looked for"
	case matchRange:
		return "all ranges sorted by where they begin, each with its element, for slices.BinarySearchFunc; if they overlap, an interval tree"
	case matchNetwork:
		return "a prefix tree (trie) of all networks with the elements at their ends, or their ranges sorted by first address"
	}
	return ""
}

// adviseOwners says what to do about a search through the lists of all elements.
func adviseOwners(f *Finding, l handLoop) {
	list := l.owners.name
	f.Advice = fmt.Sprintf("A search goes through %s of every element of %s, so its time grows with all of these lists together, however short each is. Keep one index of them beside %s, and change it where that is changed: %s. "+
		"A map for each element gains nothing: all elements would still be asked, one by one.", l.name, list, list, indexOfOwners(l.by))
	f.Doubts = []string{
		"if an element has several entries that match, the loop takes it once, and in the order of " + list + ": the index has to do the same",
		"if most elements match, all of them have to be visited anyway",
		strings.Replace(changesDoubt, "the map has", "the index has", 1), fewDoubt,
	}
	f.saves, f.grows = true, true
	if l.by == matchEqual || l.by == matchFold || l.by == matchGroup {
		l.same.tell(f)
	}
}
