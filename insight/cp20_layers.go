package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/unit"
)

// Loops that ask one index after another for the same key, up to the first that has it: each of these look-ups is quick, and there are many indexes.

// layersTitle is what a finding about them is called.
const layersTitle = "A key is looked up in one index after the other"

// layered is the look-up that such a loop makes in each element of its list.
type layered struct {
	asks    ast.Expr     // as the loop has it
	key     string       // what it looks up
	in      types.Object // the field with the map or the sorted list of an element; nil where the source shows none
	list    types.Object // what the loop goes through; nil where that is no variable
	guarded bool         // some elements are left out before
	last    bool         // the list is gone through from its end
}

// layersIn reads the body of a loop, of which names are those of the element: the look-up, the statement that decides by it, and whether that goes on with the
// next element. It is nil where the loop does anything else for each of them, or does not end at the first that has the key.
func layersIn(d *derivations, stmt ast.Stmt, names map[string]bool) (l *layered, ends *ast.IfStmt, skips bool) {
	l = &layered{}
	own, results := map[string]bool{}, []ast.Expr(nil)
	for name := range names {
		own[name] = true
	}
	list := bodyOfLoop(stmt).List
	for i, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if !onlyLocks(s.X) {
				return nil, nil, false
			}
		case *ast.AssignStmt:
			switch {
			case ends != nil || len(s.Rhs) != 1:
				return nil, nil, false
			case l.asks == nil && l.takes(d, s.Rhs[0], own):
				results = s.Lhs
			case l.asks == nil && s.Tok == token.DEFINE && mentionsAny(s.Rhs[0], own) && !hasAny(s.Rhs[0], isCall):
				own[types.ExprString(s.Lhs[0])] = true
			default:
				return nil, nil, false
			}
		case *ast.IfStmt:
			if ends != nil || s.Else != nil {
				return nil, nil, false
			}
			if s.Init != nil {
				set, ok := s.Init.(*ast.AssignStmt)
				if !ok || len(set.Rhs) != 1 || l.asks != nil || !l.takes(d, set.Rhs[0], own) {
					return nil, nil, false
				}
				results = set.Lhs
			}
			if l.asks == nil && !l.takes(d, askedIn(s.Cond), own) {
				if !onlyGoesOn(s.Body.List) || hasAny(s.Cond, isCall) {
					return nil, nil, false
				}
				l.guarded = true
				continue
			}
			has, ok := l.hasKey(d, s.Cond, results)
			switch {
			case ok && has && endsSearch(s.Body.List):
				ends = s
			case ok && !has && onlyGoesOn(s.Body.List) && i+1 < len(list) && endsSearch(list[i+1:]):
				return l.of(d, stmt), s, true
			default:
				return nil, nil, false
			}
		default:
			return nil, nil, false
		}
	}
	if ends == nil {
		return nil, nil, false
	}
	return l.of(d, stmt), ends, false
}

func isCall(n ast.Node) bool { _, ok := n.(*ast.CallExpr); return ok }

// onlyLocks tells of a call that it locks or unlocks something.
func onlyLocks(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	return ok && len(call.Args) == 0 && isMethodCall(call) && slices.Contains([]string{"Lock", "RLock", "Unlock", "RUnlock"}, calledName(call))
}

// askedIn is what a condition asks directly: the call of has(x), !has(x) and get(x) != nil.
func askedIn(cond ast.Expr) ast.Expr {
	switch x := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			return ast.Unparen(x.X)
		}
	case *ast.BinaryExpr:
		return ast.Unparen(x.X)
	}
	return ast.Unparen(cond)
}

// hasKey tells of a condition that it is true where an element has the key, or where it has not; ok is false where it asks for something else.
func (l *layered) hasKey(d *derivations, cond ast.Expr, results []ast.Expr) (has, ok bool) {
	isResult := func(x ast.Expr) bool {
		x = ast.Unparen(x)
		return x == l.asks || slices.ContainsFunc(results, func(r ast.Expr) bool {
			id, named := r.(*ast.Ident)
			return named && id.Name != "_" && isNamed(x, id.Name)
		})
	}
	switch x := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		return false, x.Op == token.NOT && isResult(x.X)
	case *ast.BinaryExpr:
		zero := isNamed(x.Y, "nil") || d.t.info.Types[x.Y].Value != nil
		if !isResult(x.X) || !zero || x.Op != token.EQL && x.Op != token.NEQ {
			return false, false
		}
		has = x.Op == token.NEQ
		if t := d.t.info.TypeOf(x.X); isNamed(x.Y, "nil") && (t != nil && isErrorType(t) || isError(types.ExprString(x.X))) {
			has = !has
		}
		return has, true
	default:
		return true, isResult(x)
	}
}

// takes notes an expression if it looks up a key, the same in each turn, in an element.
func (l *layered) takes(d *derivations, x ast.Expr, element map[string]bool) bool {
	in, key, ok := keyLookUp(d, ast.Unparen(x), element, 0)
	if ok {
		l.asks, l.in, l.key = ast.Unparen(x), in, key
	}
	return ok
}

// of adds what the loop goes through, and from which end.
func (l *layered) of(d *derivations, stmt ast.Stmt) *layered {
	over := goneThroughFrom(stmt)
	if call, ok := over.(*ast.CallExpr); ok && len(call.Args) == 1 && types.ExprString(call.Fun) == "slices.Backward" {
		over, l.last = call.Args[0], true
	}
	if n, ok := stmt.(*ast.ForStmt); ok {
		step, is := n.Post.(*ast.IncDecStmt)
		l.last = is && step.Tok == token.DEC
	}
	l.list = placeObject(d, over)
	return l
}

// goneThroughFrom is what a loop goes through, also from its end.
func goneThroughFrom(stmt ast.Stmt) ast.Expr {
	if n, ok := stmt.(*ast.ForStmt); ok && n.Init != nil {
		var of ast.Expr
		ast.Inspect(n.Init, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is && isLenCall(call) && len(call.Args) == 1 {
				of = call.Args[0]
			}
			return of == nil
		})
		if of != nil {
			return of
		}
	}
	return goneThrough(stmt)
}

// binarySearches are functions that look up a key in a sorted list.
var binarySearches = []string{"slices.BinarySearch", "sort.SearchStrings", "sort.SearchInts"}

// keyLookUp tells of an expression that it looks up a key, which does not depend on the element, in something that the element has: a map, a sorted list, or by a
// function of the program that does so and changes nothing.
func keyLookUp(d *derivations, x ast.Expr, element map[string]bool, deep int) (in types.Object, key string, ok bool) {
	same := func(x ast.Expr) bool {
		return !mentionsAny(x, element) && !hasAny(x, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			return is && !d.t.info.Types[call.Fun].IsType()
		})
	}
	switch x := x.(type) {
	case *ast.IndexExpr:
		t := d.t.info.TypeOf(x.X)
		if t == nil || !mentionsAny(x.X, element) || !same(x.Index) {
			return nil, "", false
		}
		_, is := t.Underlying().(*types.Map)
		return placeObject(d, x.X), types.ExprString(x.Index), is
	case *ast.CallExpr:
		name := types.ExprString(x.Fun)
		if slices.Contains(binarySearches, name) && len(x.Args) > 1 {
			return placeObject(d, x.Args[0]), types.ExprString(x.Args[1]), mentionsAny(x.Args[0], element) && same(x.Args[1])
		}
		receiver := receiverOf(x)
		if receiver != nil && mentionsAny(receiver, element) && calledName(x) == "Load" && len(x.Args) == 1 && libraryTypeOf(d, receiver, 0).text() == "sync.Map" {
			return placeObject(d, receiver), types.ExprString(x.Args[0]), same(x.Args[0])
		}
		var keys []string
		of := receiver != nil && mentionsAny(receiver, element)
		for _, arg := range x.Args {
			switch {
			case mentionsAny(arg, element):
				of = true
			case same(arg):
				keys = append(keys, types.ExprString(arg))
			default:
				return nil, "", false
			}
		}
		decls := calledDecls(d, x)
		if !of || len(keys) == 0 || len(decls) == 0 || len(decls) > effectNames || deep > calledDeep {
			return nil, "", false
		}
		for _, decl := range decls {
			if in, ok = looksUpGiven(d, decl, x, element, deep); !ok || changesAnything(d, decl) {
				return nil, "", false
			}
		}
		if len(decls) > 1 {
			in = nil
		}
		return in, strings.Join(keys, ", "), true
	}
	return nil, "", false
}

// looksUpGiven tells of a function of the program that it looks up what a call gives it as a key, in what the element of the call has, and goes through nothing.
func looksUpGiven(d *derivations, decl *ast.FuncDecl, call *ast.CallExpr, element map[string]bool, deep int) (in types.Object, ok bool) {
	own, keys := map[string]bool{}, map[string]bool{}
	if x := receiverOf(call); x != nil && decl.Recv != nil && mentionsAny(x, element) {
		own = givenNames(decl.Recv)
	}
	for i, name := range parameters(decl.Type) {
		if i < len(call.Args) && mentionsAny(call.Args[i], element) {
			own[name] = true
		} else {
			keys[name] = true
		}
	}
	if decl.Body == nil || hasAny(decl.Body, func(n ast.Node) bool { return bodyOfLoop(n) != nil }) {
		return nil, false
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		x, is := n.(ast.Expr)
		if ok || !is {
			return !ok
		}
		if set, assigned := n.(*ast.FuncLit); assigned && set != nil {
			return false
		}
		if of, _, found := keyLookUp(d, x, own, deep+1); found && mentionsAny(x, keys) {
			in, ok = of, true
		}
		return !ok
	})
	return in, ok
}

// changesAnything tells of a function that it, or one that it calls, does something which each call has to be made for.
func changesAnything(d *derivations, decl *ast.FuncDecl) bool {
	e := &callEffects{d: d, seen: map[*ast.FuncDecl]bool{}}
	e.look(decl, givenToDecl(d, decl), 0)
	return e.what != ""
}

// placesOf are where the sources append to a variable or a field, and where they change it otherwise: give it another value, or set or delete one of its elements.
func placesOf(d *derivations, of types.Object) (adds, others []string) {
	if of == nil {
		return nil, nil
	}
	var added, other []token.Pos
	for _, decl := range d.t.decls {
		eachNode(decl.Body, func(n ast.Node, _ []ast.Node) {
			if set, to := addsByAppend(n); set != nil && placeObject(d, to) == of {
				added = append(added, set.Pos())
				return
			}
			for _, lhs := range changedBy(n) {
				if placeObject(d, elementsOf(lhs)) == of {
					other = append(other, lhs.Pos())
				}
			}
		})
	}
	named := func(all []token.Pos) (out []string) {
		slices.Sort(all)
		for _, at := range all {
			file, line, _ := d.t.at(at)
			if text := fileLine(file, line); !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
		return out[:min(len(out), mostPlaces)]
	}
	return named(added), named(other)
}

// adviseLayers says what to keep beside the list, and what it has to follow.
func (x *keyLoop) adviseLayers(d *derivations, f *Finding) {
	l := x.layers
	first := "the first one that is asked wins: the map has to keep what that has, and not overwrite it"
	if l.last {
		first = "the loop asks the last one first: what an element has that is added later has to replace what is there"
	}
	f.Advice = fmt.Sprintf("Keep one map beside %s, from the key (%s) to the element that has it, or to what that has for it, and look up there: one step instead of %s.", x.name, l.key, unit.About(x.turns/max(1, x.counts.Entered)))
	adds, others := placesOf(d, l.list)
	if len(adds) > 0 {
		f.Advice += fmt.Sprintf(" Fill it where an element is added to %s (%s).", x.name, strings.Join(adds, ", "))
	} else {
		f.Advice += fmt.Sprintf(" Fill it where an element is added to %s.", x.name)
	}
	if len(others) > 0 {
		f.Advice += fmt.Sprintf(" %s is changed otherwise at %s: where that takes one away or puts another in its place, the map has to follow, and what an element had hidden comes back.", x.name, strings.Join(others, " and "))
	}
	if entries, set := placesOf(d, l.in); len(entries)+len(set) > 0 {
		f.Advice += fmt.Sprintf(" What an element has is set at %s: where it was added before that, the map has to follow as well.", strings.Join(append(entries, set...), " and "))
	}
	f.Advice += " Where the elements no longer change, they can also be merged into one."
	f.Doubts = append(f.Doubts, "if several have the same key, "+first)
	if l.guarded {
		f.Doubts = append(f.Doubts, "the loop leaves some elements out: what these have may not be found in the map either")
	}
	f.Doubts = append(f.Doubts, "a map of all keys takes memory, as much as those of all elements together")
}

// ofLayers tells of a finding that it is about calls most of whose CPU time goes into a look-up through many indexes: keeping their results is a look-up as well, which
// the one map makes needless.
func ofLayers(t two) bool {
	return t.b.Title == layersTitle && t.warned() && slices.Contains([]string{"CP26", "CP27"}, t.a.Rule) && t.mostlyBelow()
}

// saysLayers is what a finding says of such a loop.
func (x *keyLoop) saysLayers() string {
	return fmt.Sprintf("that asks one of %s after another for the same key, by %s, until one has it: it began %s, with %s turns each on average, over %s elements",
		x.name, types.ExprString(x.layers.asks), howOften(x.counts.Entered), unit.About(x.turns/max(1, x.counts.Entered)), unit.About(x.counts.Size/max(1, x.counts.Looked)))
}

// nameOf is what a loop goes through, for a reader.
func (l *layered) nameOf(stmt ast.Stmt) string {
	over := goneThroughFrom(stmt)
	if call, ok := over.(*ast.CallExpr); ok && l.last && len(call.Args) == 1 {
		over = call.Args[0]
	}
	return types.ExprString(over)
}
