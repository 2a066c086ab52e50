package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// A lock may also keep what is looked up under it from being closed, freed or given back meanwhile: who lets it go before
// the use races with who closes it under the lock.

// lifeEnds are names of functions after which what they are called on, or given, must not be used.
var lifeEnds = lazily(`^(?i:close|release|free|evict|recycle|destroy|dispose|unmap|munmap|shutdown|stop)([A-Z_]\w*)?$`)

// lifeHolds are names of functions and fields that count who uses a value.
var lifeHolds = lazily(`^(?i:acquire|retain|pin|ref|refs|refcount|refcnt|addref|incref|users|inuse|hold)([A-Z_]\w*)?$`)

// lifeDepth is through how many functions of the program a value is followed to where it was looked up.
const lifeDepth = 3

// lookedFrom is a field, or a variable of a package, that a value comes from: it is what that has, or one of its elements.
type lookedFrom struct {
	of      types.Object
	element bool
}

// lookedIn tells where an expression of a function has its value from; false where it is none that outlives the call.
func lookedIn(d *derivations, decl *ast.FuncDecl, x ast.Expr, depth int) (from lookedFrom, ok bool) {
	if depth == 0 || decl == nil {
		return from, false
	}
	switch e := ast.Unparen(unrefer(x)).(type) {
	case *ast.TypeAssertExpr:
		return lookedIn(d, decl, e.X, depth)
	case *ast.StarExpr:
		return lookedIn(d, decl, e.X, depth)
	case *ast.IndexExpr:
		from, ok = lookedIn(d, decl, e.X, depth)
		return lookedFrom{from.of, true}, ok
	case *ast.SelectorExpr:
		if from, ok = lookedIn(d, decl, e.X, depth); ok && from.element {
			return from, true // a part of one
		}
		if v := d.variable(innermost(e)); !ok && isLocal(decl, v) && !isGiven(decl, v) {
			return from, false
		}
		if v := d.field(e); v != nil {
			return lookedFrom{of: v}, true
		}
		if v, is := d.t.info.Uses[e.Sel].(*types.Var); is && ofPackage(v) {
			return lookedFrom{of: v}, true
		}
		return from, ok
	case *ast.Ident:
		v := d.variable(e)
		if ofPackage(v) {
			return lookedFrom{of: v}, true
		}
		for _, def := range d.definitions(decl)[v] {
			if def.x == nil || def.part || isNamed(def.x, e.Name) {
				continue
			}
			if from, ok = lookedIn(d, decl, def.x, depth-1); ok {
				return lookedFrom{from.of, from.element || def.ranged}, true
			}
		}
	case *ast.CallExpr:
		return lookedByCall(d, decl, e, depth)
	}
	return lookedFrom{}, false
}

// lookedByCall tells that of what a call gives: a method of the program that looks something up, or one of a container.
func lookedByCall(d *derivations, decl *ast.FuncDecl, call *ast.CallExpr, depth int) (from lookedFrom, ok bool) {
	for _, callee := range calledDecls(d, call) {
		inside(callee.Body, func(n ast.Node) {
			if r, is := n.(*ast.ReturnStmt); is && len(r.Results) > 0 && !ok {
				from, ok = lookedIn(d, callee, r.Results[0], depth-1)
			}
		})
		if ok {
			return from, from.element
		}
	}
	if slices.Contains([]string{"Load", "LoadOrStore", "Front", "Back", "Peek"}, calledName(call)) {
		from, ok = lookedIn(d, decl, receiverOf(call), depth)
		return lookedFrom{from.of, true}, ok
	}
	return lookedFrom{}, false
}

// usedValue is what a call under a lock uses, and that comes from what the lock guards.
type usedValue struct {
	lookedFrom
	text string
	// named are the types of the program that it, or what it is a part of, has.
	named map[string]bool
}

// keptAlive is where what a call under a lock uses is closed, under the same lock.
type keptAlive struct {
	lock, value, by string // "shop.mu", "h", "h.f.Close"
	at              codeLine
	// ends tells that it is closed only with all the others, at the end.
	ends bool
}

// aliveUnder asks of a lock whether it keeps alive what the calls under it use.
type aliveUnder struct {
	*underlying
	d *derivations
	// name is that of the lock: "shop.mu".
	name string
}

// keepsAlive finds it for a lock, by the functions that lead from it to the call; nil where nothing shows that it does.
func keepsAlive(u *underlying, levels []*underlying) *keptAlive {
	t, ok := u.c.takerAt(stack.Frame{File: u.file, Line: u.lock})
	if !ok {
		return nil
	}
	var last *keptAlive
	for _, level := range levels {
		a := aliveUnder{level, derivationsOf(u.c), t.name}
		for _, v := range a.used() {
			if k := a.closed(v); k != nil && !k.ends {
				return k
			} else if k != nil {
				last = k
			}
		}
	}
	return last
}

// used are the values that the call is made on or given.
func (a aliveUnder) used() (all []usedValue) {
	in, ok := a.d.at(stack.Frame{File: a.file, Line: a.call})
	if !ok {
		return nil
	}
	eachNode(in.decl.Body, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || withinLit(around) || !a.covers(call) || lifeEnds.MatchString(calledName(call)) {
			return
		}
		for _, x := range append(slices.Clone(call.Args), receiverOf(call)) {
			from, ok := lookedIn(a.d, in.decl, x, lifeDepth)
			if !ok || a.takesOut(in.decl, from.of) || a.counts(in.decl, rootName(x)) {
				continue
			}
			all = append(all, usedValue{from, types.ExprString(x), a.typesOf(in.decl, x)})
		}
	})
	return all
}

// covers tells of a node that the line of the call is one of its own.
func (a aliveUnder) covers(n ast.Node) bool {
	_, first, _ := a.d.t.at(n.Pos())
	_, last, _ := a.d.t.at(n.End())
	return first <= a.call && a.call <= last
}

// before tells of a node that it stands between the lock and the call.
func (a aliveUnder) before(n ast.Node) bool {
	_, line, _ := a.d.t.at(n.Pos())
	return a.lock < line && line < a.call
}

// takesOut tells whether a function takes something out of what a field has, under the lock and before the call: nobody else
// finds it from there on.
func (a aliveUnder) takesOut(decl *ast.FuncDecl, of types.Object) bool {
	is := func(x ast.Expr) bool {
		from, ok := lookedIn(a.d, decl, x, 1)
		return ok && from.of == of && !from.element
	}
	return hasNode(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			return a.before(n) && n.Tok == token.ASSIGN && slices.ContainsFunc(n.Lhs, is)
		case *ast.CallExpr:
			return a.before(n) && (isNamed(n.Fun, "delete") && len(n.Args) > 0 && is(n.Args[0]) || calledName(n) == "LoadAndDelete" && is(receiverOf(n)))
		}
		return false
	})
}

// counts tells whether a function counts itself among those who use a value, before the call.
func (a aliveUnder) counts(decl *ast.FuncDecl, name string) bool {
	of := func(x ast.Expr) bool {
		return rootName(x) == name && lifeHolds.MatchString(lastName(types.ExprString(x)))
	}
	return hasNode(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			return a.before(n) && n.Tok == token.INC && of(n.X)
		case *ast.AssignStmt:
			return a.before(n) && n.Tok == token.ADD_ASSIGN && of(n.Lhs[0])
		case *ast.CallExpr:
			return a.before(n) && (of(n.Fun) || calledName(n) == "Add" && of(receiverOf(n)))
		}
		return false
	})
}

// typesOf are the types of the program, by their names, that an expression of a function, and what it is a part of, have.
func (a aliveUnder) typesOf(decl *ast.FuncDecl, x ast.Expr) map[string]bool {
	all := map[string]bool{}
	for {
		x = ast.Unparen(unrefer(x))
		if of := a.d.t.typeOf(x); of != nil {
			if named, ok := pointedType(of).(*types.Named); ok && isStruct(named) {
				if file, _, _ := a.d.t.at(named.Obj().Pos()); file != "" {
					all[named.Obj().Name()] = true
				}
			}
		}
		switch e := x.(type) {
		case *ast.SelectorExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.Ident:
			for _, def := range a.d.definitions(decl)[a.d.variable(e)] {
				if t, ok := def.x.(*ast.TypeAssertExpr); ok && t.Type != nil { // of a value whose type is not known
					all[strings.TrimPrefix(types.ExprString(t.Type), "*")] = true
				}
			}
			return all
		default:
			return all
		}
	}
}

// closed finds where a value is closed under the lock; nil where it is not, or where all who close it take a lock of its own
// that the call is made under as well.
func (a aliveUnder) closed(v usedValue) *keptAlive {
	var found *keptAlive
	own := true
	for _, decl := range declsInOrder(a.d) {
		eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return
			}
			x := endedBy(a.d, call)
			if x == nil || !a.isIt(decl, x, v) || !a.isHeld(decl, call, maxAccess) {
				return
			}
			own = own && a.underOwn(v, call, x)
			k := &keptAlive{lock: a.name, value: v.text, by: types.ExprString(call.Fun), at: a.d.placeOf(call), ends: a.withAll(decl, x, v, around)}
			if found == nil || found.ends && !k.ends {
				found = k
			}
		})
	}
	if own {
		return nil
	}
	return found
}

// endedBy is what a call closes, frees or gives back; nil where it does not.
func endedBy(d *derivations, call *ast.CallExpr) ast.Expr {
	sel, method := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	name := calledName(call)
	switch {
	case name == "Put" && method && len(call.Args) == 1 && strings.Contains(strings.ToLower(types.ExprString(sel.X)), "pool"):
		return call.Args[0]
	case !lifeEnds.MatchString(name) || strings.Contains(name, "Idle"):
		return nil
	case len(call.Args) > 0 && !isContext(call.Args[0]) && !isBasicValue(d, call.Args[0]):
		return call.Args[0]
	case method:
		return sel.X
	}
	return nil
}

// isBasicValue tells of an expression that it is a number, a text or the like.
func isBasicValue(d *derivations, x ast.Expr) bool {
	of := d.t.typeOf(x)
	return of != nil && isBasic(of)
}

// isIt tells of what is closed in a function that it may be the value: from the same place, or of its type.
func (a aliveUnder) isIt(decl *ast.FuncDecl, x ast.Expr, v usedValue) bool {
	from, ok := lookedIn(a.d, decl, x, lifeDepth)
	if ok && from == v.lookedFrom {
		return true
	}
	given := false
	if id, is := innermost(x).(*ast.Ident); is {
		given = isGiven(decl, a.d.variable(id))
	}
	if !v.element || !(ok && from.element) && !given {
		return false
	}
	owner, _, _ := strings.Cut(a.name, ".")
	for of := range a.typesOf(decl, x) {
		if v.named[of] && of != owner {
			return true
		}
	}
	return false
}

// isHeld tells whether a call is made under the lock, or its function called under it.
func (a aliveUnder) isHeld(decl *ast.FuncDecl, call *ast.CallExpr, depth int) bool {
	file, line, _ := a.d.t.at(call.Pos())
	for _, h := range a.c.heldIn(stack.Frame{File: file}) {
		if t, ok := a.c.takerAt(stack.Frame{File: file, Line: h.from}); ok && h.has(line) && t.name == a.name && t.call == "Lock" {
			return true
		}
	}
	return depth > 0 && slices.ContainsFunc(callersTo(a.d, decl), func(by callBy) bool {
		return by.in != nil && by.in != decl && a.isHeld(by.in, by.call, depth-1)
	})
}

// underOwn tells whether both the call and one that closes the value are made under a lock of the value itself.
func (a aliveUnder) underOwn(v usedValue, by *ast.CallExpr, x ast.Expr) bool {
	file, line, _ := a.d.t.at(by.Pos())
	closes := a.c.heldIn(stack.Frame{File: file})
	return slices.ContainsFunc(a.c.heldIn(stack.Frame{File: a.file}), func(h held) bool {
		owner, field, _ := cutLast(strings.TrimSuffix(h.lock, ".Lock"))
		if !h.has(a.call) || h.from == a.lock || owner != v.text && !strings.HasPrefix(v.text, owner+".") {
			return false
		}
		return slices.ContainsFunc(closes, func(c held) bool {
			has, same, _ := cutLast(strings.TrimSuffix(c.lock, ".Lock"))
			text := types.ExprString(x)
			return c.has(line) && same == field && (has == text || strings.HasPrefix(text, has+"."))
		})
	})
}

// withAll tells of what is closed that this is the end of all: a loop closes one after the other, without a condition, or
// nothing takes its place.
func (a aliveUnder) withAll(decl *ast.FuncDecl, x ast.Expr, v usedValue, around []ast.Node) bool {
	if !v.element {
		return !slices.ContainsFunc(a.d.writes()[v.of], func(w changing) bool { return a.renews(w, v.of) })
	}
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.IfStmt, *ast.CaseClause, *ast.CommClause:
			return false
		case *ast.RangeStmt:
			return isNamed(n.Value, rootName(x)) || isNamed(n.Key, rootName(x))
		}
	}
	return false
}

// renews tells of a change of a field that it is given another value, in what others have already.
func (a aliveUnder) renews(w changing, of types.Object) bool {
	return hasNode(w.in.Body, func(n ast.Node) bool {
		s, ok := n.(*ast.AssignStmt)
		if !ok || s.Pos() != w.at {
			return false
		}
		for i, lhs := range s.Lhs {
			from, ok := lookedIn(a.d, w.in, lhs, 1)
			if ok && from.of == of && !isNamed(s.Rhs[min(i, len(s.Rhs)-1)], "nil") && !isFreshPlace(a.d, w.in, lhs) {
				return true
			}
		}
		return false
	})
}

// protects says that the call cannot just be made without the lock.
func (k *keptAlive) protects(c *code) *protected {
	return &protected{alive: k,
		says:     fmt.Sprintf("the lock also keeps %s from being closed meanwhile: line %d calls %s under it", k.value, k.at.line, k.by),
		advice:   fmt.Sprintf("Do not just unlock %s before the call: what the call uses (%s) could then be closed by %s meanwhile. First give each value a reference count (raised under the lock when it is looked up, lowered behind the call; the last one closes it), or a lock of its own, which both the use and the closing take. Then unlock %s before the call.", k.lock, k.value, k.at.text(), k.lock),
		evidence: []Evidence{c.shownAt(k.at.file, k.at.line, "closed here, under the same lock: %s", k.by)},
	}
}

// doubt says of a value that a call without the lock may find it closed: in between, or with all others at the end.
func (k *keptAlive) doubt() string {
	when := ""
	if k.ends {
		when = " at the end"
	}
	return fmt.Sprintf("%s calls %s under the same lock: without it, a call may find %s closed%s", k.at.text(), k.by, k.value, when)
}

// beside says it together with what else the lock keeps together.
func (k *keptAlive) beside(c *code, p *protected) *protected {
	switch {
	case p == nil && k.ends:
		return &protected{alive: k, doubt: k.doubt()}
	case k.ends || p != nil && p.lets == letsNot:
		return p
	case p == nil || p.lets == letsWholly:
		return k.protects(c)
	}
	p.advice += fmt.Sprintf(" Who unlocks has to keep %s from being closed meanwhile, which %s does under the same lock: with a reference count, or a lock of its own.", k.value, k.at.text())
	p.evidence = append(p.evidence, c.shownAt(k.at.file, k.at.line, "closed here, under the same lock: %s", k.by))
	return p
}
