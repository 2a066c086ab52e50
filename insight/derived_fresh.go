package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What is written to may be new though no line of the function makes it there: a copy of a struct whose fields it has replaced,
// or what another function of the program has made. A place is followed part by part: what each of them refers to has to be
// new, and nobody else may have been given it before.

// freshLooks bounds how many values are looked at for one place.
const freshLooks = 400

// freshDepth bounds how far one is followed, through functions and variables.
const freshDepth = 12

// inElement is the step from a list or a map to what it holds; others are the names of fields.
const inElement = "[]"

// freshness looks at one place.
type freshness struct {
	d     *derivations
	looks int
	depth int
	// asked are the variables that are being looked at: each of some variables that have nothing but parts of each other is new
	// if nothing else has them.
	asked map[freshVariable]bool
}

// freshVariable is a variable as it is at a position.
type freshVariable struct {
	v  types.Object
	at token.Pos
}

// deeper counts a look; it is false where there were too many of them.
func (f *freshness) deeper() bool {
	f.looks++
	f.depth++
	return f.looks <= freshLooks && f.depth <= freshDepth
}

// isFreshPlace tells of a place that it lies in memory which its function, or one that it calls, has made, and that nobody else has.
func isFreshPlace(d *derivations, decl *ast.FuncDecl, x ast.Expr) bool {
	return decl.Body != nil && (&freshness{d: d, asked: map[freshVariable]bool{}}).place(decl, x, x.Pos())
}

// place is isFreshPlace of a place as it is at a position.
func (f *freshness) place(decl *ast.FuncDecl, x ast.Expr, at token.Pos) bool {
	defer func() { f.depth-- }()
	if !f.deeper() {
		return false
	}
	for {
		x = ast.Unparen(x)
		inner := aroundPart(x)
		if inner == x {
			v := f.d.variable(x)
			return isLocal(decl, v) && !f.leaves(decl, v, at)
		}
		if isReference(f.d, x, inner) && !f.value(decl, inner, nil, at) {
			return false
		}
		if _, call := ast.Unparen(inner).(*ast.CallExpr); call {
			return isReference(f.d, x, inner)
		}
		x = inner
	}
}

// value tells of an expression that what it refers to is new; with a path, what the part of it refers to.
func (f *freshness) value(decl *ast.FuncDecl, x ast.Expr, path []string, at token.Pos) bool {
	defer func() { f.depth-- }()
	if !f.deeper() {
		return false
	}
	x = ast.Unparen(x)
	if t := f.d.t.typeOf(x); len(path) == 0 && t != nil && !mayRefer(t) {
		return true
	}
	switch x := x.(type) {
	case *ast.BasicLit:
		return true
	case *ast.CompositeLit:
		return f.literal(decl, x, path, at)
	case *ast.Ident:
		return x.Name == "nil" || f.local(decl, x, path, at)
	case *ast.UnaryExpr:
		if x.Op != token.AND {
			return false
		}
		if _, lit := ast.Unparen(x.X).(*ast.CompositeLit); lit || len(path) > 0 {
			return f.value(decl, x.X, path, at)
		}
		v := f.d.variable(ast.Unparen(x.X))
		return f.place(decl, x.X, at) && (v == nil || !f.leaves(decl, v, at))
	case *ast.StarExpr: // a struct is copied
		t := f.d.t.typeOf(x)
		return t != nil && isStruct(t) && (len(path) == 0 || f.value(decl, x.X, path, at))
	case *ast.SelectorExpr:
		s := f.d.t.info.Selections[x]
		if s == nil || s.Kind() != types.FieldVal || len(s.Index()) != 1 {
			return false
		}
		return len(path) == 0 && isStruct(s.Type()) || f.value(decl, x.X, append([]string{x.Sel.Name}, path...), at)
	case *ast.IndexExpr:
		return f.value(decl, x.X, append([]string{inElement}, path...), at)
	case *ast.SliceExpr:
		return f.value(decl, x.X, path, at)
	case *ast.CallExpr:
		return f.call(decl, x, 0, path, at)
	}
	return false
}

// literal is value of a literal: of the field that the path goes through, or of all elements.
func (f *freshness) literal(decl *ast.FuncDecl, x *ast.CompositeLit, path []string, at token.Pos) bool {
	if len(path) == 0 {
		return true
	}
	for i, e := range x.Elts {
		name := inElement
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if path[0] != inElement {
				name = types.ExprString(kv.Key)
			}
			e = kv.Value
		} else if t := f.d.t.typeOf(x); t != nil && path[0] != inElement {
			if s, ok := t.Underlying().(*types.Struct); ok && i < s.NumFields() {
				name = s.Field(i).Name()
			}
		}
		if name == path[0] && !f.value(decl, e, path[1:], at) {
			return false
		}
	}
	return true
}

// call is value of a result of a call.
func (f *freshness) call(decl *ast.FuncDecl, x *ast.CallExpr, result int, path []string, at token.Pos) bool {
	if tv, ok := f.d.t.info.Types[x.Fun]; ok && tv.IsType() {
		return len(x.Args) == 1 && f.value(decl, x.Args[0], path, at)
	}
	switch name := types.ExprString(uninstantiated(x)); name {
	case "make", "new":
		return true
	case "slices.Clone", "maps.Clone", "bytes.Clone":
		return len(x.Args) == 1 && (len(path) == 0 || f.value(decl, x.Args[0], path, at))
	case "slices.Collect", "slices.Sorted", "maps.Collect":
		return len(path) == 0
	case "append":
		if len(x.Args) == 0 || !f.value(decl, x.Args[0], path, at) {
			return false
		}
		return len(path) == 0 || !slices.ContainsFunc(x.Args[1:], func(a ast.Expr) bool {
			if x.Ellipsis.IsValid() {
				return !f.value(decl, a, path, at)
			}
			return path[0] != inElement || !f.value(decl, a, path[1:], at)
		})
	}
	fn := f.d.t.callee(x)
	if fn == nil {
		return false
	}
	all := f.d.declsOf(fn)
	return len(all) > 0 && !slices.ContainsFunc(all, func(of *ast.FuncDecl) bool { return !f.returned(of, result, path) })
}

// returned is value of a result of a function, wherever it returns.
func (f *freshness) returned(decl *ast.FuncDecl, result int, path []string) bool {
	found, other := false, false
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		ret, ok := n.(*ast.ReturnStmt)
		if !ok || other || withinLit(around) {
			return
		}
		found = true
		switch {
		case result < len(ret.Results):
			other = !f.value(decl, ret.Results[result], path, ret.Pos())
		case len(ret.Results) == 1:
			call, ok := ast.Unparen(ret.Results[0]).(*ast.CallExpr)
			other = !ok || !f.call(decl, call, result, path, ret.Pos())
		default: // a result with a name
			other = true
		}
	})
	return found && !other
}

// freshGiven is what a variable, or a part of it, is given somewhere.
type freshGiven struct {
	to     []string // the part
	n      ast.Node
	around []ast.Node
	fresh  func(f *freshness, rest []string) bool
}

// freshUse is a place where a function names a variable.
type freshUse struct {
	id     *ast.Ident
	around []ast.Node
}

// freshFacts are what a function does with its variables.
type freshFacts struct {
	uses  map[types.Object][]freshUse
	given map[types.Object][]freshGiven
}

// freshFactsOf are those of a function.
func freshFactsOf(d *derivations, decl *ast.FuncDecl) *freshFacts {
	if all, ok := d.freshIn[decl]; ok {
		return all
	}
	all := &freshFacts{map[types.Object][]freshUse{}, map[types.Object][]freshGiven{}}
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		if id, ok := n.(*ast.Ident); ok {
			if v := d.variable(id); v != nil {
				all.uses[v] = append(all.uses[v], freshUse{id, slices.Clone(around)})
			}
			return
		}
		all.addGiven(d, decl, n, around)
	})
	if d.freshIn == nil {
		d.freshIn = map[*ast.FuncDecl]*freshFacts{}
	}
	d.freshIn[decl] = all
	return all
}

// local is value of a variable: all that it, and the part that the path means, is given has to be new. What is always replaced before it
// is used does not count.
func (f *freshness) local(decl *ast.FuncDecl, id *ast.Ident, path []string, at token.Pos) bool {
	v := f.d.variable(id)
	if !isLocal(decl, v) || isGiven(decl, v) || f.leaves(decl, v, at) {
		return false
	}
	all := freshFactsOf(f.d, decl).given[v]
	from := token.NoPos
	for _, g := range all {
		if isPrefixOf(g.to, path) && g.isAlwaysBefore(at) {
			from = max(from, g.n.Pos())
		}
	}
	for _, g := range all {
		if !isPrefixOf(g.to, path) || g.n.Pos() < from && from < at {
			continue
		}
		if !g.fresh(f, path[len(g.to):]) {
			return false
		}
	}
	return len(all) > 0
}

// isAlwaysBefore tells that whoever comes to a position has given it that before, whatever the conditions.
func (g freshGiven) isAlwaysBefore(at token.Pos) bool {
	return !slices.Contains(g.to, inElement) && g.n.End() <= at && !withinLit(g.around) && reachesAlways(g.around, at, g.to)
}

// isPrefixOf tells of a path that another one begins with it.
func isPrefixOf(a, b []string) bool { return len(a) <= len(b) && slices.Equal(a, b[:len(a)]) }

// stepsTo is the way from the variable in a place to that place.
func stepsTo(x ast.Expr) (root ast.Expr, path []string) {
	switch x := ast.Unparen(x).(type) {
	case *ast.SelectorExpr:
		root, path = stepsTo(x.X)
		return root, append(path, x.Sel.Name)
	case *ast.IndexExpr:
		root, path = stepsTo(x.X)
		return root, append(path, inElement)
	case *ast.SliceExpr:
		return stepsTo(x.X)
	case *ast.StarExpr:
		return stepsTo(x.X)
	default:
		return x, nil
	}
}

// addGiven notes what a node of a function gives variables and their parts.
func (all *freshFacts) addGiven(d *derivations, decl *ast.FuncDecl, n ast.Node, around []ast.Node) {
	add := func(lhs ast.Expr, n ast.Node, more []string, fresh func(f *freshness, rest []string) bool) {
		root, to := stepsTo(lhs)
		if v := d.variable(root); v != nil {
			all.given[v] = append(all.given[v], freshGiven{append(to, more...), n, slices.Clone(around), fresh})
		}
	}
	elementsOf := func(x ast.Expr) func(f *freshness, rest []string) bool {
		return func(f *freshness, rest []string) bool {
			return f.value(decl, x, append([]string{inElement}, rest...), n.Pos())
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			add(lhs, n, nil, valueAt(decl, n.Rhs, i, len(n.Lhs), n.Pos()))
		}
	case *ast.ValueSpec:
		for i, id := range n.Names {
			if len(n.Values) == 0 {
				add(id, n, nil, func(*freshness, []string) bool { return true })
			} else {
				add(id, n, nil, valueAt(decl, n.Values, i, len(n.Names), n.Pos()))
			}
		}
	case *ast.RangeStmt:
		if n.Key != nil {
			add(n.Key, n.Key, nil, func(f *freshness, _ []string) bool { t := d.t.typeOf(n.Key); return t != nil && !mayRefer(t) })
		}
		if n.Value != nil {
			add(n.Value, n.Value, nil, elementsOf(n.X))
		}
	case *ast.CallExpr:
		if name := types.ExprString(uninstantiated(n)); len(n.Args) == 2 && fillsFirst.MatchString(name) {
			add(n.Args[0], n, []string{inElement}, func(f *freshness, rest []string) bool {
				return name != "maps.Insert" && elementsOf(n.Args[1])(f, rest)
			})
		}
	}
}

// valueAt is value of one of several expressions on the right, or of one of the results of the only one.
func valueAt(decl *ast.FuncDecl, rhs []ast.Expr, i, of int, at token.Pos) func(f *freshness, rest []string) bool {
	return func(f *freshness, rest []string) bool {
		if len(rhs) == of {
			return f.value(decl, rhs[i], rest, at)
		}
		if call, ok := ast.Unparen(rhs[0]).(*ast.CallExpr); ok {
			return f.call(decl, call, i, rest, at)
		}
		return i == 0 && f.value(decl, rhs[0], rest, at)
	}
}

// reachesAlways tells of a statement that whoever comes to a later position has come through it: all blocks around it are around that
// too, but for a condition that there is something in the field of its name.
func reachesAlways(around []ast.Node, at token.Pos, to []string) bool {
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
			if n.Pos() <= at && at < n.End() {
				return true
			}
		case *ast.IfStmt:
			if !isThereIn(n, to) {
				return false
			}
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			return false
		}
	}
	return false
}

// isThereIn tells of a condition that it asks whether a field of a name is not nil: without an else, nothing is shared if it is.
func isThereIn(n *ast.IfStmt, to []string) bool {
	cond, ok := n.Cond.(*ast.BinaryExpr)
	if !ok || n.Else != nil || n.Init != nil || cond.Op != token.NEQ || !isNamed(cond.Y, "nil") || len(to) != 1 {
		return false
	}
	sel, ok := ast.Unparen(cond.X).(*ast.SelectorExpr)
	return ok && sel.Sel.Name == to[0] && isIdent(sel.X)
}

// leaves tells of a variable that somebody else may have got what it refers to before a position, or may set its parts.
func (f *freshness) leaves(decl *ast.FuncDecl, v types.Object, at token.Pos) bool {
	asked := freshVariable{v, at}
	if f.asked[asked] {
		return false
	}
	f.asked[asked] = true
	defer delete(f.asked, asked)
	inside := func(n ast.Node) bool { return n.Pos() <= v.Pos() && v.Pos() < n.End() }
	return slices.ContainsFunc(freshFactsOf(f.d, decl).uses[v], func(use freshUse) bool {
		if withinLit(use.around) && !slices.ContainsFunc(use.around, func(n ast.Node) bool { _, lit := n.(*ast.FuncLit); return lit && inside(n) }) {
			return true
		}
		again := slices.ContainsFunc(use.around, func(n ast.Node) bool { return isLoop(n) && n.Pos() <= at && at < n.End() && !inside(n) })
		return (use.id.Pos() < at || again) && f.handedOn(decl, v, use.id, use.around)
	})
}

// handedOn tells of a place where a variable is named that it, or a part of it that refers to something, is given to somebody
// else: kept where others see it, given to a function, sent.
func (f *freshness) handedOn(decl *ast.FuncDecl, v types.Object, x ast.Expr, around []ast.Node) bool {
	for i := len(around) - 1; i >= 0; i-- {
		switch p := around[i].(type) {
		case *ast.ParenExpr, *ast.StarExpr, *ast.SliceExpr, *ast.TypeAssertExpr:
		case *ast.CompositeLit, *ast.KeyValueExpr:
			if !f.refers(x) {
				return false
			}
		case *ast.UnaryExpr:
			if p.Op == token.AND {
				if _, ret := around[max(0, i-1)].(*ast.ReturnStmt); ret {
					return false
				}
				return true
			}
		case *ast.SelectorExpr:
			if s := f.d.t.info.Selections[p]; s == nil || s.Kind() != types.FieldVal {
				return !lockNames.MatchString(p.Sel.Name) && !f.looksOnly(p)
			}
		case *ast.IndexExpr:
			if p.X != x {
				return false
			}
		case *ast.CallExpr:
			switch f.afterCall(p, x) {
			case hasNobody:
				return false
			case hasFirst:
				return f.keptAt(decl, v, &ast.IndexExpr{X: p.Args[0]}, p.Pos())
			case hasAnybody:
				return true
			}
		case *ast.AssignStmt:
			at := slices.Index(p.Rhs, x)
			if at < 0 || !f.refers(x) {
				return false
			}
			return f.keptAt(decl, v, p.Lhs[min(at, len(p.Lhs)-1)], p.Pos())
		case *ast.ValueSpec:
			return slices.Contains(p.Values, x) && f.refers(x)
		case *ast.SendStmt:
			return p.Value == x && f.refers(x)
		case *ast.GoStmt, *ast.DeferStmt:
			return true
		default:
			return false
		}
		if e, ok := around[i].(ast.Expr); ok {
			x = e
		}
	}
	return false
}

// keptAt tells of a place that is given a variable, or a part of it, that it is somebody else's: neither a part of the variable itself nor
// of what is new.
func (f *freshness) keptAt(decl *ast.FuncDecl, v types.Object, place ast.Expr, at token.Pos) bool {
	place = ast.Unparen(place)
	if root, _ := stepsTo(place); f.d.variable(root) == v || isNamed(place, "_") {
		return false
	}
	return isIdent(place) || !f.place(decl, place, at)
}

// refers tells of an expression that what its value refers to is given away with it.
func (f *freshness) refers(x ast.Expr) bool {
	t := f.d.t.typeOf(x)
	return t == nil || mayRefer(t)
}

// hasAfter is what has an argument of a call, or a part of it that refers to something, after that.
type hasAfter int

const (
	hasNobody hasAfter = iota
	hasResult
	hasFirst // what the first argument refers to
	hasAnybody
)

// Functions of the packages slices and maps: those that only look, or move what is there, and those whose result has the array of their
// first argument. The results of the others have the elements of what these are given.
var (
	looksAtList = lazily(`^(slices\.(Contains|Index|Equal|Compare|BinarySearch|IsSorted|Sort|SortStable|Reverse)|maps\.(Equal|Delete))(Func)?$`)
	sameArray   = lazily(`^(append|slices\.(Clip|Compact|CompactFunc|Delete|DeleteFunc|Grow|Insert|Replace|AppendSeq|Chunk))$`)
	addsItems   = lazily(`^(append|slices\.(Insert|Replace))$`)
	fillsFirst  = lazily(`^(copy|maps\.(Copy|Insert))$`)
)

// afterCall tells what has an argument of a call after it.
func (f *freshness) afterCall(call *ast.CallExpr, x ast.Expr) hasAfter {
	fun := uninstantiated(call)
	pkg, name := f.d.t.fromPackage(fun), types.ExprString(fun)
	if pkg != "" {
		name = pkg + "." + lastName(name)
	}
	tv, known := f.d.t.info.Types[call.Fun]
	on := f.refers(x)
	switch first := len(call.Args) > 0 && call.Args[0] == x; {
	case known && tv.IsType():
		return hasResult
	case !on, pkg == "sort", pkg == "strings", pkg == "fmt", looksAtList.MatchString(name):
		return hasNobody
	case fillsFirst.MatchString(name):
		if first || !f.elementsRefer(x, "") {
			return hasNobody
		}
		return hasFirst
	case addsItems.MatchString(name) && !first && !call.Ellipsis.IsValid(), sameArray.MatchString(name) && first:
		return hasResult
	case name == "append", pkg == "slices", pkg == "maps":
		if !f.elementsRefer(x, name) {
			return hasNobody
		}
		return hasResult
	case known && tv.IsBuiltin():
		return hasNobody
	}
	return hasAnybody
}

// elementsRefer tells of a list or a map that what its elements refer to is given away with them, by a function of a name: one may give
// the keys alone, or the values.
func (f *freshness) elementsRefer(x ast.Expr, by string) bool {
	t := f.d.t.typeOf(x)
	if t == nil {
		return true
	}
	switch u := deref(t).(type) {
	case *types.Slice:
		return mayRefer(u.Elem())
	case *types.Array:
		return mayRefer(u.Elem())
	case *types.Map:
		return by != "maps.Values" && mayRefer(u.Key()) || by != "maps.Keys" && mayRefer(u.Elem())
	}
	return true
}

// looksOnly tells of a method of the program that it only computes something, of nothing that changes.
func (f *freshness) looksOnly(sel *ast.SelectorExpr) bool {
	fn := f.d.t.callee(&ast.CallExpr{Fun: sel})
	if fn == nil {
		return false
	}
	all := f.d.declsOf(fn)
	return len(all) > 0 && !slices.ContainsFunc(all, func(decl *ast.FuncDecl) bool { return f.d.value(decl) == nil })
}

// isFreshAt is isFreshPlace for a place in another reading of the same source, by its line and its text.
func isFreshAt(d *derivations, at stack.Frame, x ast.Expr) (fresh bool) {
	text := types.ExprString(x)
	in, ok := d.at(at)
	if !ok || !strings.ContainsAny(text, ".[") {
		return false
	}
	ast.Inspect(in.decl.Body, func(n ast.Node) bool {
		if n == nil || fresh || !coversLine(d, n, at.Line) {
			return false
		}
		if e, ok := n.(ast.Expr); ok {
			_, line, _ := d.t.at(e.Pos())
			fresh = line == at.Line && types.ExprString(e) == text && isFreshPlace(d, in.decl, e)
		}
		return true
	})
	return fresh
}
