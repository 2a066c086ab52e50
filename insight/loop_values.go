package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
)

// turns follows variables through the body of a loop, as far as its text tells: a use has the
// value of the last assignments before it, those of the turn before among them where none of
// this turn stands for sure in between.
type turns struct {
	body *ast.BlockStmt
	sets []*set // by their place
	// calls tells of a call that it gives what is looked for, outer of a variable that is
	// not set in the body.
	calls func(*ast.CallExpr) bool
	outer func(name string) bool
	// text is an expression, by its text, whose value before an instant is looked for, as it
	// flows through a function from the top to the bottom and not by way of conditions.
	text  string
	until token.Pos
	// index is a counter whose place in a list is looked for; empty where none is.
	index string
	// packages are the names of what the file imports: they hold no values.
	packages map[string]bool
	// named are the sets by what they set.
	named map[string][]*set
	// not are sets that are known to have no such value, seen those that the search for one
	// has been at: a value is found by one way or not at all.
	not, seen map[*set]bool
	depth     int // of the search
}

// set is a place at which a variable, or a part of it, is given a value.
type set struct {
	name  string
	begin token.Pos // of the statement
	at    token.Pos // from here on it has the value
	from  []ast.Node
	conds int      // how many of from are conditions that it depends on
	block ast.Node // the innermost block around, or statement with a variable of its own
	// declares tells that the variable begins here, and is one of the block.
	declares bool
	// part tells that what the variable was before stays a part of it.
	part bool
	// sums tells that it is a part to which something is added, as a count or an entry of a map.
	sums     bool
	variable *set // that declares it; nil for one from outside of the body
}

// turnsOf reads the body of a loop.
func turnsOf(source *syntax, body *ast.BlockStmt) *turns {
	w := &turns{body: body, packages: map[string]bool{}, named: map[string][]*set{}, not: map[*set]bool{}, seen: map[*set]bool{}}
	for _, spec := range source.file.Imports {
		if to, err := strconv.Unquote(spec.Path.Value); err == nil {
			w.packages[importedAs(source.file, to)] = true
		}
	}
	eachNode(body, func(n ast.Node, around []ast.Node) {
		w.read(n, around)
	})
	slices.SortStableFunc(w.sets, func(a, b *set) int { return int(a.at - b.at) })
	for _, s := range w.sets {
		w.named[s.name] = append(w.named[s.name], s)
	}
	for _, s := range w.sets {
		if s.declares {
			s.variable = s
			if first := w.declaration(s.name, s.begin); first != nil && first.block == s.block {
				s.variable = first // := with another one that is new
			}
		} else {
			s.variable = w.declaration(s.name, s.begin)
		}
	}
	return w
}

// read notes what a node sets.
func (w *turns) read(n ast.Node, around []ast.Node) {
	var conds []ast.Node
	block := ast.Node(w.body)
	for _, a := range around {
		switch a := a.(type) {
		case *ast.IfStmt:
			if n != a.Init {
				conds = append(conds, a.Cond)
			}
			block = a
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.FuncLit:
			block = a
		}
	}
	add := func(x ast.Expr, at token.Pos, declares, part bool, from ...ast.Node) {
		if name := rootName(x); name != "" && name != "_" && !w.packages[name] {
			w.sets = append(w.sets, &set{name: name, begin: n.Pos(), at: at, from: append(from, conds...), conds: len(conds), block: block, declares: declares, part: part})
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			from := nodes(n.Rhs)
			if len(n.Lhs) == len(n.Rhs) {
				from = nodes(n.Rhs[i : i+1])
			}
			if n.Tok != token.DEFINE && (n.Tok != token.ASSIGN || slices.ContainsFunc(from, func(x ast.Node) bool { y, ok := x.(ast.Expr); return ok && mentionsText(y, types.ExprString(left)) })) {
				from = append(slices.Clone(from), oftenBy(n, around)...)
			}
			_, whole := left.(*ast.Ident)
			at := len(w.sets)
			add(left, n.End(), n.Tok == token.DEFINE, !whole || n.Tok != token.DEFINE && n.Tok != token.ASSIGN, from...)
			for _, s := range w.sets[at:] {
				s.sums = hasIndex(left) || !whole && n.Tok != token.ASSIGN
			}
		}
	case *ast.IncDecStmt:
		if often := oftenBy(n, around); len(often) > 0 {
			add(n.X, n.End(), false, true, often...)
		}
	case *ast.ValueSpec:
		for _, id := range n.Names {
			add(id, n.End(), true, false, nodes(n.Values)...)
		}
	case *ast.RangeStmt:
		for _, x := range []ast.Expr{n.Key, n.Value} {
			if x != nil {
				w.sets = append(w.sets, &set{name: rootName(x), begin: n.Body.Pos(), at: n.Body.Pos(), from: append([]ast.Node{n.X}, conds...), conds: len(conds), block: n, declares: n.Tok == token.DEFINE})
			}
		}
	case *ast.CallExpr:
		for _, x := range n.Args {
			if to, ok := x.(*ast.UnaryExpr); ok && to.Op == token.AND {
				add(to.X, n.End(), false, true, n)
			}
		}
	case *ast.ExprStmt:
		// What is called on something may have become a part of it.
		if call, ok := n.X.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.SelectorExpr); ok {
				add(f.X, n.End(), false, true, nodes(call.Args)...)
			}
		}
	}
}

// oftenBy are what decides how often a statement of loops within is executed: what they go through, and their conditions.
func oftenBy(s ast.Stmt, around []ast.Node) (by []ast.Node) {
	for _, a := range around {
		switch a := a.(type) {
		case *ast.RangeStmt:
			by = append(by, a.X)
		case *ast.ForStmt:
			if a.Cond != nil && a.Post != s && a.Init != s {
				by = append(by, a.Cond)
			}
		}
	}
	return by
}

func nodes(all []ast.Expr) (out []ast.Node) {
	for _, x := range all {
		out = append(out, x)
	}
	return out
}

// hasIndex tells of what is set that it is, or is a part of, an element of something.
func hasIndex(x ast.Expr) bool {
	for {
		switch e := x.(type) {
		case *ast.IndexExpr:
			return true
		case *ast.SelectorExpr:
			x = e.X
		default:
			return false
		}
	}
}

// declaration is the one of a name that holds at a place; nil where it is from outside.
func (w *turns) declaration(name string, at token.Pos) (found *set) {
	for _, s := range w.named[name] {
		if s.declares && s.at <= at && s.block.Pos() <= at && at < s.block.End() {
			found = s
			if s.variable != nil {
				found = s.variable
			}
		}
	}
	return found
}

// has tells whether a node, at its place, has a value that is looked for.
func (w *turns) has(n ast.Node) bool { return w.hasAt(n, n.Pos()) }

func (w *turns) hasAt(n ast.Node, at token.Pos) (found bool) {
	w.depth++
	defer func() {
		if w.depth--; w.depth > 0 {
			return
		}
		if !found {
			maps.Copy(w.not, w.seen) // all ways were gone
		}
		clear(w.seen)
	}()
	ast.Inspect(n, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok && w.text != "" {
			found = found || x.Pos() < w.until && types.ExprString(x) == w.text
		}
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = found || w.hasAt(n.X, at)
			return false
		case *ast.KeyValueExpr:
			found = found || w.hasAt(n.Value, at)
			return false
		case *ast.CallExpr:
			found = found || w.calls != nil && w.calls(n)
		case *ast.IndexExpr:
			found = found || w.index != "" && mentions(n.Index, w.index)
		case *ast.Ident:
			found = found || w.variable(n.Name, at)
		}
		return !found
	})
	return found
}

// variable tells whether a variable has, at a place, a value that is looked for.
func (w *turns) variable(name string, at token.Pos) bool {
	of := w.declaration(name, at)
	for _, s := range slices.Backward(w.named[name]) { // of this turn, the last first
		if s.variable != of || s.at > at {
			continue
		}
		if w.derived(s) {
			return true
		}
		if !s.part && s.block.Pos() <= at && at < s.block.End() {
			return false
		}
	}
	if of != nil || w.text != "" {
		return false
	}
	for _, s := range slices.Backward(w.named[name]) { // of the turn before
		if s.variable != nil || s.at <= at {
			continue
		}
		if w.derived(s) {
			return true
		}
		if !s.part && s.block == ast.Node(w.body) {
			break
		}
	}
	return w.outer != nil && w.outer(name)
}

// derived tells whether what is set is made of a value that is looked for.
func (w *turns) derived(s *set) bool {
	if w.not[s] || w.seen[s] {
		return false
	}
	w.seen[s] = true
	from := s.from
	if w.text != "" {
		from = from[:len(from)-s.conds]
	}
	return slices.ContainsFunc(from, func(n ast.Node) bool { return w.hasAt(n, max(s.begin, n.Pos())) })
}

// calledOn tells of a call that it stands on a line, and is no call of what the language has.
func calledOn(s *syntax, line int) func(*ast.CallExpr) bool {
	return func(call *ast.CallExpr) bool {
		switch types.ExprString(call.Fun) {
		case "len", "cap", "append", "copy", "make", "new", "min", "max", "delete", "close", "string", "int", "int64":
			return false
		}
		return s.covers(call, line)
	}
}
