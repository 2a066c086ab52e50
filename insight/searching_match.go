package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// comparison is how the condition of a search compares an element with what is looked for.
type comparison int

const (
	matchNone    comparison = iota
	matchEqual              // with ==, or by a call that tells whether both are the same
	matchFold               // in whatever case
	matchNetwork            // a network has the address
	matchRange              // it lies between two bounds of the element
	matchPrefix             // it begins with the element, or a part of that
	matchBegins             // the element begins with it
	matchSuffix
	matchPattern // a regular expression or a pattern of names
	matchGroup   // something is equal, and something else is tested
	matchRules   // one of several comparisons matches
	matchOther
)

// matchesBy tells how a condition compares something of a loop's variables with something that
// is none of them and no literal, and what that is. One that is negated compares all elements:
// it ends at the first that does not match.
func matchesBy(cond ast.Expr, names map[string]bool) (m comparison, terms []ast.Expr) {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return matchesBy(x.X, names)
	case *ast.BinaryExpr:
		if term := between(x, names); term != nil {
			return matchRange, []ast.Expr{term}
		}
		switch x.Op {
		case token.LAND, token.LOR:
			if x.Op == token.LOR && (relates(x.X, names) || relates(x.Y, names)) {
				return matchNone, nil // nothing that could be looked up answers that
			}
			if m, terms = matchesBy(x.X, names); m == matchNone {
				m, terms = matchesBy(x.Y, names)
			}
			return m, terms
		case token.EQL:
			call, ok := x.X.(*ast.CallExpr)
			if lit, zero := x.Y.(*ast.BasicLit); ok && zero && lit.Value == "0" && strings.Contains(strings.ToLower(calledName(call)), "compare") {
				return matchesCall(call, names)
			}
			if terms = looksUp(x, names); len(terms) > 0 {
				return matchEqual, terms
			}
		}
	case *ast.CallExpr:
		return matchesCall(x, names)
	}
	return matchNone, nil
}

// relates tells of a condition that it compares two values that both depend on the element.
func relates(cond ast.Expr, names map[string]bool) bool {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return relates(x.X, names)
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			return relates(x.X, names) || relates(x.Y, names)
		}
		return mentionsAny(x.X, names) && mentionsAny(x.Y, names)
	}
	return false
}

// between finds the term of a condition that asks whether it lies between two bounds of the
// element: x.low <= term && term < x.high.
func between(x *ast.BinaryExpr, names map[string]bool) ast.Expr {
	a, aok := x.X.(*ast.BinaryExpr)
	b, bok := x.Y.(*ast.BinaryExpr)
	if x.Op != token.LAND || !aok || !bok {
		return nil
	}
	bound := func(c *ast.BinaryExpr) (term, of ast.Expr) {
		if !slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, c.Op) {
			return nil, nil
		}
		switch {
		case mentionsAny(c.X, names) && isTerm(c.Y, names):
			return c.Y, c.X
		case mentionsAny(c.Y, names) && isTerm(c.X, names):
			return c.X, c.Y
		}
		return nil, nil
	}
	s, low := bound(a)
	t, high := bound(b)
	if s == nil || t == nil || types.ExprString(s) != types.ExprString(t) || types.ExprString(low) == types.ExprString(high) {
		return nil
	}
	return s
}

// isTerm tells of an expression that something can be looked for by it: it has nothing of the
// loop's variables, and is no literal.
func isTerm(x ast.Expr, names map[string]bool) bool {
	if mentionsAny(x, names) {
		return false
	}
	if s, ok := unrefer(x).(*ast.SliceExpr); ok {
		x = s.X
	}
	root := rootName(unrefer(x))
	return root != "" && root != "nil" && root != "true" && root != "false"
}

// calledName is the last part of the name of what a call calls, without type arguments.
func calledName(call *ast.CallExpr) string {
	fn := call.Fun
	switch x := fn.(type) {
	case *ast.IndexExpr:
		fn = x.X
	case *ast.IndexListExpr:
		fn = x.X
	}
	return lastName(types.ExprString(fn))
}

// inLibrary are packages whose functions search by themselves, or look at single characters:
// a loop around them is no search through what it goes through.
var inLibrary = []string{"slices", "unicode", "utf8", "regexp"}

// matchesCall is matchesBy of a call: a method of the element that is given the term, or a
// function that is given both. Asking something else for each element is no search through the
// elements, nor is a call of which neither the name nor the arguments tell what it compares.
func matchesCall(call *ast.CallExpr, names map[string]bool) (comparison, []ast.Expr) {
	kind := matchNamed(calledName(call))
	if kind == matchNone {
		return matchNone, nil
	}
	if kind == matchPrefix {
		kind = prefixOf(call, names)
	}
	ofElement, given := false, call.Args
	if f, ok := call.Fun.(*ast.SelectorExpr); ok {
		of := rootName(f.X)
		if ofElement = mentionsAny(f.X, names); !ofElement {
			if slices.Contains(inLibrary, of) {
				return matchNone, nil
			}
			if (of == "strings" || of == "bytes") && searchesText(types.ExprString(call.Fun)) {
				return matchNone, nil // which searches by itself
			}
		}
	}
	var terms []ast.Expr
	for _, a := range given {
		ofElement = ofElement || mentionsAny(a, names)
		if isTerm(a, names) {
			terms = append(terms, a)
		}
	}
	if id, ok := call.Fun.(*ast.Ident); ok && len(terms) == 0 && len(given) == 1 && strings.HasPrefix(strings.ToLower(id.Name), "match") {
		terms = []ast.Expr{id} // a function that knows what to look for
	}
	if !ofElement || len(terms) == 0 {
		return matchNone, nil
	}
	return kind, terms
}

// matchNamed is what a function compares, by its name.
func matchNamed(name string) comparison {
	name = strings.ToLower(name)
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
	switch {
	case has("fold"):
		return matchFold
	case has("prefix", "suffix"):
		return matchPrefix
	case has("matchstring", "pattern", "regex", "glob"):
		return matchPattern
	case has("equal", "same", "compare") || name == "eq" || name == "is":
		return matchEqual
	case has("match", "contain", "includ", "cover", "accept", "overlap", "allow") || strings.HasPrefix(name, "has"):
		return matchOther
	}
	return matchNone
}

// networkTypes are those whose Contains asks for an address.
var networkTypes = []string{"net.IPNet", "netip.Prefix"}

// ofNetworks tells whether what a loop goes through are networks of addresses, by what the
// source declares its name as.
func ofNetworks(c *code, over ast.Expr) (found bool) {
	if over == nil {
		return false
	}
	name := lastName(types.ExprString(over))
	isOne := func(t ast.Expr) bool {
		return t != nil && slices.ContainsFunc(networkTypes, func(n string) bool { return endsInType(strings.TrimRight(types.ExprString(t), "{}"), n) })
	}
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				found = found || isOne(n.Type) && isAmong(n.Names, name)
			case *ast.ValueSpec:
				found = found || isOne(n.Type) && isAmong(n.Names, name)
			}
			return !found
		})
	})
	return found
}

// several tells of a comparison that more than one element may well match.
func several(m comparison) bool {
	return m >= matchNetwork && m != matchGroup && m != matchRules // of which the advice says so
}

// lookUpBy says what to do about a search by how it compares.
func lookUpBy(m comparison) string {
	switch m {
	case matchFold:
		return "Look it up instead of searching: a map keyed by the text in one case, which is built once, before the loop."
	case matchNetwork:
		return "Look the address up instead of testing one network after another: a prefix tree (trie) of the networks, or their ranges sorted by first address and slices.BinarySearchFunc; single addresses belong in a map keyed by netip.Addr. Build it once, when the list is loaded."
	case matchRange:
		return "Sort the ranges by where they begin and find the right one with slices.BinarySearchFunc; if they overlap, use an interval tree. Build it once, before the loop."
	case matchPrefix:
		return "Look the prefix up instead of testing one after another: a prefix tree (trie), or a map of the prefixes that is asked once for each length; of those that match take the one that the loop would. Build it once, before the loop."
	case matchBegins:
		return "Keep what is compared sorted, and find the first with the prefix by slices.BinarySearchFunc: all others that have it follow. Sort it once, before the loop."
	case matchSuffix:
		return "Look the suffix up instead of testing one after another: a tree of the texts from their ends, or a map of the suffixes that is asked once for each length; of those that match take the one that the loop would. Build it once, before the loop."
	case matchGroup:
		return "Look up those that can match: a map from what is compared for equality to the list of the elements that have it, in their order, and test the rest of the condition on these alone. Build it once, before the loop."
	case matchRules:
		return "The condition has alternatives, so one lookup finds less than the loop does. Test fewer instead: group the elements by something that a match requires (a host, the first part of a path), in their order, with those that match anything in each group; " +
			"or keep the results for what is searched for again, with a bound, until the list changes."
	case matchPattern:
		return "Do not test one pattern after another: combine them into one regular expression, or pick the few that can match by a part that each of them requires (a map keyed by the literal beginning). Build that index once."
	case matchOther:
		return "Build an index once, before the loop, and look it up instead of testing one element after another: a map where the comparison is equality, a sorted slice and slices.BinarySearchFunc where it is a range, a prefix tree (trie) where it is a prefix."
	}
	return lookUp
}
