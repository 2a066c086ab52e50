package insight

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What is read before the call and stored behind it needs no lock around both where another lock is held there as well, which
// all hold that change it, or where nobody else has it: then the lock that is waited for can be let go before the call.

// besideLock asks of a lock what else keeps a change together.
type besideLock struct{ *underlying }

// otherLock is another lock that keeps a change together.
type otherLock struct {
	lock  string // "h.mu", by its text
	place string // what it guards, by its text there
	at    codeLine
}

// keptOtherwise is what else keeps a change together: the lock is needless for it where another one does, or where nobody else has what is changed.
type keptOtherwise struct {
	needless bool
	by       otherLock // without a name where there is none
	// both is another lock that all who wait take as well, and that keeps the change together, too.
	both string
}

// add adds the lock to those that were found before.
func (k keptOtherwise) add(guards []otherLock) []otherLock {
	if k.by.lock == "" {
		return guards
	}
	return append(guards, k.by)
}

// keeps tells of a place, which is read at a line and stored at another one with the call between them, whether the lock is
// what keeps the change together.
func (u besideLock) keeps(place string, read, stores int) keptOtherwise {
	first, last := min(read, u.call), max(stores, u.call)
	var of types.Object
	if in, ok := derivationsOf(u.c).at(stack.Frame{File: u.file, Line: u.call}); ok {
		of = changedObject(derivationsOf(u.c), in.decl, place)
	}
	named := place
	for level := u; level.underlying != nil && named != ""; level.underlying = level.outer {
		if g, ok := level.anotherLock(named, of, first, last); ok {
			if level.sharedAlike(g.lock) {
				return keptOtherwise{both: g.lock}
			}
			return keptOtherwise{needless: true, by: g}
		}
		if level.madeHere(named, last) {
			return keptOtherwise{needless: true}
		}
		named = level.nameOutside(named)
		if level.outer != nil {
			first, last = level.outer.call, level.outer.call
		}
	}
	return keptOtherwise{}
}

// nameOutside is how the function that leads to this one names a place; empty where it has no name for it.
func (u besideLock) nameOutside(place string) (name string) {
	o := u.outer
	if o == nil || u.in == nil || o.in == nil {
		return ""
	}
	if u.in == o.in {
		return place
	}
	on := calledOn(o.s, o.call)
	inside(o.fn.body, func(n ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok && name == "" && on(call) && calledName(call) == u.in.Name.Name {
			name = placeFor(u.in, call, place)
		}
	})
	return name
}

// anotherLock finds a lock of the place's own, or of the package, that the function holds from one line to another one and across the
// call, and that all others hold who change the place.
func (u besideLock) anotherLock(place string, of types.Object, first, last int) (g otherLock, ok bool) {
	for _, h := range u.c.heldIn(stack.Frame{File: u.file}) {
		lock, writes := strings.CutSuffix(h.lock, ".Lock")
		if !writes || !h.has(first) || !h.has(last) || !h.has(u.call) || u.outer == nil && (h.from == u.lock || lock == u.waitedFor()) {
			continue
		}
		if _, is := u.guardOf(lock, place); is && u.allHold(lock, place, of) {
			return otherLock{lock, place, codeLine{u.file, h.from}}, true
		}
	}
	return g, false
}

// sharedAlike tells of a lock that all who wait for the first one take it as well: it is one of the package, or of what has the
// first one, and of none that is looked up.
func (u besideLock) sharedAlike(lock string) bool {
	i := strings.LastIndex(lock, ".")
	if i < 0 && !strings.Contains(lock, "[") && (u.in == nil || !declaredIn(u.in, lock)) {
		return true
	}
	for ; u.outer != nil; u.underlying = u.outer {
		if lock = u.nameOutside(lock); lock == "" {
			return false
		}
	}
	waited := u.waitedFor()
	owner, _, of := cutLast(waited)
	x, err := parser.ParseExpr(lock)
	if err != nil || !of {
		return false
	}
	for range deepest {
		root := rootName(x)
		if root == "" || looksUpIn(x) || lookedUp(u.fn, root) {
			return false
		}
		text := types.ExprString(x)
		if strings.HasPrefix(text, owner+".") {
			return true
		}
		if u.in == nil {
			return false
		}
		made := madeOf(u.in, root)
		if made == nil {
			return false
		}
		if x, err = parser.ParseExpr(types.ExprString(unrefer(made)) + strings.TrimPrefix(text, root)); err != nil {
			return false
		}
	}
	return false
}

// cutLast cuts a text at its last dot.
func cutLast(text string) (before, after string, ok bool) {
	i := strings.LastIndex(text, ".")
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// looksUpIn tells of an expression that a part of it is an element by its key.
func looksUpIn(x ast.Expr) bool {
	return hasAny(x, func(n ast.Node) bool {
		e, ok := n.(*ast.IndexExpr)
		return ok && byKey(e)
	})
}

// waitedFor is the text of the lock that is taken at the line of the lock; empty where there is none.
func (u besideLock) waitedFor() (text string) {
	inside(u.fn.body, func(n ast.Node) {
		s, ok := n.(ast.Stmt)
		if !ok {
			return
		}
		if line, _ := u.s.lines(s); line == u.lock {
			if lock, ok := mutexCall(s); ok {
				text = strings.TrimSuffix(strings.TrimSuffix(lock, "Lock"), "R")
				text = strings.TrimSuffix(text, ".")
			}
		}
	})
	return text
}

// guardOf tells of a lock, by its text, that it is one of what a place is a part of, and how it is called there: "mu" of "h.mu" for "h.pos",
// or nothing where it is embedded. The lock of a package has its own name.
func (u besideLock) guardOf(lock, place string) (field string, ok bool) {
	if strings.HasPrefix(place, lock+".") {
		return "", true
	}
	i := strings.LastIndex(lock, ".")
	if i < 0 {
		return lock, token.IsIdentifier(lock) && u.in != nil && !declaredIn(u.in, lock)
	}
	return lock[i+1:], strings.HasPrefix(place, lock[:i+1])
}

// allHold tells whether all places that change what a place names, a field or a variable of a package, are under the same lock of what they change, or change
// something that nobody else has yet.
func (u besideLock) allHold(lock, place string, of types.Object) bool {
	if of == nil {
		return false
	}
	d := derivationsOf(u.c)
	field, _ := u.guardOf(lock, place)
	h := heldByAll{d: d, field: field, ofPackage: !strings.Contains(lock, ".") && field == lock}
	if in, ok := d.at(stack.Frame{File: u.file, Line: u.call}); ok {
		if owner, _, named := cutLast(lock); named {
			h.owner = ownerType(d, in.decl, owner)
		}
	}
	return !slices.ContainsFunc(d.writes()[of], func(w changing) bool { return !h.changed(w) })
}

// heldByAll asks of changes whether they are made under a lock of what is changed, by the name of its field, or under one of the package.
type heldByAll struct {
	d         *derivations
	field     string
	ofPackage bool
	owner     types.Type // of what has the lock; nil where that is not known
}

// ownerType is the type of what a text names in a function, or of what that points to; nil where it is not known.
func ownerType(d *derivations, decl *ast.FuncDecl, text string) types.Type {
	x := exprOf(decl, text)
	if x == nil {
		return nil
	}
	of := d.t.typeOf(x)
	if p, ok := of.(*types.Pointer); ok {
		return p.Elem()
	}
	return of
}

// changed asks that of one change, which its function, or all that call it, may make under the lock.
func (h heldByAll) changed(w changing) (held bool) {
	eachNode(w.in.Body, func(n ast.Node, _ []ast.Node) {
		if held || n.Pos() != w.at {
			return
		}
		for _, st := range storedBy(n) {
			held = held || h.at(w.in, w.at, st.place) || h.byCallers(w.in, st.place, maxAccess)
		}
		for _, lhs := range givenValues(n) {
			held = held || isFreshPlace(h.d, w.in, lhs)
		}
	})
	return held
}

// at tells whether the lock of a place is held at a position of a function.
func (h heldByAll) at(decl *ast.FuncDecl, pos token.Pos, place string) bool {
	file, line, _ := h.d.t.at(pos)
	return slices.ContainsFunc(h.d.c.heldIn(stack.Frame{File: file}), func(x held) bool {
		lock, writes := strings.CutSuffix(x.lock, ".Lock")
		if !writes || !x.has(line) {
			return false
		}
		owner, own := strings.CutSuffix(lock, "."+h.field)
		switch {
		case h.ofPackage:
			return lock == h.field
		case h.field == "":
			return strings.HasPrefix(place, lock+".")
		}
		if !own || !strings.HasPrefix(place, owner+".") {
			return false
		}
		of := ownerType(h.d, decl, owner)
		return h.owner == nil || of == nil || types.Identical(of, h.owner) // another type may have a lock of the same name
	})
}

// byCallers tells whether all calls of a function are made under the lock of a place that it has a name for.
func (h heldByAll) byCallers(decl *ast.FuncDecl, place string, depth int) bool {
	calls := callersTo(h.d, decl)
	return len(calls) > 0 && depth > 0 && !slices.ContainsFunc(calls, func(by callBy) bool {
		name := placeFor(decl, by.call, place)
		return name == "" || by.in == nil || !h.at(by.in, by.call.Pos(), name) && !h.byCallers(by.in, name, depth-1)
	})
}

// changedObject is the field, or the variable of a package, that a place of a function names or has an element of.
func changedObject(d *derivations, decl *ast.FuncDecl, place string) types.Object {
	x := exprOf(decl, place)
	for x != nil {
		switch e := ast.Unparen(x).(type) {
		case *ast.IndexExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.SelectorExpr:
			return d.field(e)
		case *ast.Ident:
			if v := d.variable(e); ofPackage(v) {
				return v
			}
			return nil
		default:
			return nil
		}
	}
	return nil
}

// exprOf is the last expression of a function that reads as a text does.
func exprOf(decl *ast.FuncDecl, text string) (found ast.Expr) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok && types.ExprString(x) == text {
			found = x
		}
		return true
	})
	return found
}

// madeHere tells of a place that it lies in what its function has made and nobody else gets: neither before a line, nor
// behind it while the lock is held.
func (u besideLock) madeHere(place string, last int) bool {
	d := derivationsOf(u.c)
	in, ok := d.at(stack.Frame{File: u.file, Line: u.call})
	if !ok {
		return false
	}
	x := exprOf(in.decl, place)
	if x == nil || !isPart(x) || !isFreshPlace(d, in.decl, x) {
		return false
	}
	root := rootName(x)
	return root != "" && !u.handsOver(root, last)
}

// handsOver tells whether a function gives a variable to others behind a line: to a call, to what outlives it, or, where the lock is
// still held then, to its caller.
func (u besideLock) handsOver(name string, behind int) (found bool) {
	has := func(x ast.Expr) bool { return mentionsAny(x, map[string]bool{name: true}) }
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		if n == nil || found {
			return false
		}
		if line, _ := u.s.lines(n); line < behind {
			return true
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			line, _ := u.s.lines(n)
			found = line > behind && (slices.ContainsFunc(n.Args, has) || receiverOf(n) != nil && has(receiverOf(n)))
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				found = found || rootName(lhs) != name && !isIdent(lhs) && has(n.Rhs[min(i, len(n.Rhs)-1)])
			}
		case *ast.SendStmt:
			found = has(n.Value)
		case *ast.ReturnStmt:
			found = u.outer != nil && slices.ContainsFunc(n.Results, has)
		}
		return !found
	})
	return found
}

// guarded says that what changes around the call has another lock, so that this one need not be held; nil where none was found.
func (u besideLock) guarded(guards []otherLock) *protected {
	if len(guards) == 0 {
		return nil
	}
	g, name := guards[0], u.name()
	return &protected{lets: letsWholly,
		says:     fmt.Sprintf("%s, which is read before the call and stored behind it, is protected by another lock, %s", g.place, g.lock),
		advice:   fmt.Sprintf("Unlock %s before the call, and hold it only to look up what the call needs: %s has another lock, %s, taken at %s, which can stay locked across the call.", name, g.place, g.lock, u.lineOf(g.at)),
		evidence: []Evidence{u.c.shownAt(g.at.file, g.at.line, "locked across the call as well: %s, for %s", g.lock, g.place)},
	}
}

// name is how the lock that is waited for is called.
func (u besideLock) name() string {
	if t, ok := u.c.takerAt(stack.Frame{File: u.file, Line: u.lock}); ok {
		return t.name
	}
	return "the lock"
}

// lineOf is a line in words, with its file where that is another than the lock's.
func (u besideLock) lineOf(at codeLine) string {
	if at.file == u.file {
		return fmt.Sprintf("line %d", at.line)
	}
	return fmt.Sprintf("%s:%d", baseName(at.file), at.line)
}

// ownLock says that what is called under the lock has a lock of its own, which a method of it holds from its beginning across what is waited for, and that all
// hold who change it; nil where none was found, or where those who wait all take the same one.
func (u besideLock) ownLock(levels []*underlying) *protected {
	for i := 1; i < len(levels); i++ {
		level := besideLock{levels[i]}
		at, lock, ok := level.lockedFirst()
		_, field, named := cutLast(lock)
		of := lock
		if !named { // embedded
			of += ".Mutex"
		}
		if !ok || level.sharedAlike(of) || slices.ContainsFunc(levels[i:], func(below *underlying) bool { return !(besideLock{below}).allChangedUnder(field, level.fn.of) }) {
			continue
		}
		own := codeLine{level.file, at}
		called := ownName(levels[i-1].callee.Func)
		return &protected{lets: letsWholly,
			says: fmt.Sprintf("what is called under it takes a lock of its own, %s, at %s", lock, u.lineOf(own)),
			advice: fmt.Sprintf("Hold %s only to look up, or to make, what %s is called on: unlock it, and make the call then. %s takes %s itself at %s, so only those wait for each other who use the same one. What is stored under %s behind the call needs it again.",
				u.name(), called, called, lock, u.lineOf(own), u.name()),
			evidence: []Evidence{u.c.shownAt(own.file, own.line, "a lock of its own is taken here: %s", lock)},
		}
	}
	return nil
}

// lockedFirst is the lock of its own receiver that a method takes first of all, and holds across the call.
func (u besideLock) lockedFirst() (line int, lock string, ok bool) {
	if u.fn.receiver == "" || len(u.fn.body.List) == 0 {
		return 0, "", false
	}
	first, _ := u.s.lines(u.fn.body.List[0])
	for _, h := range u.c.heldIn(stack.Frame{File: u.file}) {
		lock, writes := strings.CutSuffix(h.lock, ".Lock")
		if owner, _, _ := cutLast(lock); writes && owner == u.fn.receiver && h.from == first && h.has(u.call) {
			return first, lock, true
		}
	}
	return 0, "", false
}

// allChangedUnder tells of a method of a type that all who change what it changes of that hold its lock, by the name of its field, which is empty where it
// is embedded; also of a function that is none.
func (u besideLock) allChangedUnder(field, of string) bool {
	if u.fn.of != of || u.fn.receiver == "" {
		return true
	}
	d := derivationsOf(u.c)
	in, ok := d.at(stack.Frame{File: u.file, Line: u.call})
	if !ok {
		return false
	}
	lock := u.fn.receiver
	if field != "" {
		lock += "." + field
	}
	return !hasAny(u.fn.body, func(n ast.Node) bool {
		return slices.ContainsFunc(storedBy(n), func(st storedAt) bool {
			return strings.HasPrefix(st.place, u.fn.receiver+".") && !u.allHold(lock, st.place, changedObject(d, in.decl, st.place))
		})
	})
}
