package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// What else is done with what a lock keeps: a cache is looked up, and stored to, in two steps only where nothing that others do under
// the lock may come in between. The proof goes the other way round: whatever changes what is kept is named, but for what is
// known to do no harm.

// keptChange is a line which changes what a lock keeps, outside of the look-up and the store that were found.
type keptChange struct {
	at   codeLine
	what string // as a clause: "an entry of s.cache is deleted"
	// object tells that it changes something which is kept, and not which one that is; gone that nothing can be stored afterwards.
	object, gone bool
}

// storesUnder notes the fields, and the variables of packages, that a node under the lock stores something in.
func storesUnder(p *lockPurpose, n ast.Node) {
	note := func(x ast.Expr) {
		if v := partSet(p.d, x); v != nil {
			p.places[v] = true
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, x := range n.Lhs {
			if n.Tok != token.DEFINE {
				note(x)
			}
		}
	case *ast.CallExpr:
		if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok && slices.Contains(storeMethods, sel.Sel.Name) {
			note(sel.X)
		}
	}
}

// findOthers finds the lines that change what is looked up and stored under the lock of a function.
func findOthers(p *lockPurpose, in frameCode, within map[*ast.FuncDecl]bool) {
	l := loading{p: p, in: in, within: within}
	for v := range p.places {
		if v.Name() != fieldOfPlace(p.lookedUp) {
			continue
		}
		for _, c := range p.d.changesOfAny(v) {
			if x, ok := l.change(v, c); ok {
				addOther(p, x)
			}
		}
		for _, field := range fieldsKept(v.Type(), 0, nil) {
			for _, c := range p.d.writes()[field] {
				if !noteOnly(p.d, field) && !l.has(c.at, 0) && !l.starts(c) {
					addOther(p, keptChange{at: placeAt(p.d, c.at), what: field.Name() + " is changed", object: true})
				}
			}
		}
	}
	slices.SortFunc(p.others, func(a, b keptChange) int { return strings.Compare(a.at.text()+a.what, b.at.text()+b.what) })
}

// addOther keeps one for each line.
func addOther(p *lockPurpose, c keptChange) {
	if !slices.ContainsFunc(p.others, func(o keptChange) bool { return o.at == c.at }) {
		p.others = append(p.others, c)
	}
}

// placeAt is the line of a position.
func placeAt(d *derivations, at token.Pos) codeLine {
	file, line, _ := d.t.at(at)
	return codeLine{file, line}
}

// noteOnly tells of a field that what it has is a note about the use of something: when it was used, or how often.
func noteOnly(d *derivations, v types.Object) bool {
	return libraryTypeBy(d, v, 0).text() == "time.Time" || isMetric(&ast.Ident{Name: v.Name()})
}

// fieldsKept are the fields of the structs of which a map, a list, or what a pointer points to, has values, in any depth.
func fieldsKept(t types.Type, depth int, all []types.Object) []types.Object {
	if t == nil || depth > 4 {
		return all
	}
	switch u := t.Underlying().(type) {
	case *types.Map:
		return fieldsKept(u.Elem(), depth+1, all)
	case *types.Slice:
		return fieldsKept(u.Elem(), depth+1, all)
	case *types.Array:
		return fieldsKept(u.Elem(), depth+1, all)
	case *types.Pointer:
		return fieldsKept(u.Elem(), depth+1, all)
	case *types.Struct:
		for i := range u.NumFields() {
			f := u.Field(i)
			if slices.Contains(all, types.Object(f.Origin())) || isLockType(f.Type()) {
				continue
			}
			all = fieldsKept(f.Type(), depth+1, append(all, f.Origin()))
		}
	}
	return all
}

// loading is what is done under the lock from the look-up to the store.
type loading struct {
	p      *lockPurpose
	in     frameCode
	within map[*ast.FuncDecl]bool // functions that are called there
}

// has tells of a position that it is reached only from there.
func (l loading) has(at token.Pos, depth int) bool {
	if depth > effectDepth {
		return false
	}
	body := l.in.body()
	if _, line, _ := l.p.d.t.at(at); body.Pos() <= at && at < body.End() && l.p.u.under(line) {
		return true
	}
	for decl := range l.within {
		if decl.Pos() <= at && at < decl.End() && decl != l.in.decl {
			calls := callersTo(l.p.d, decl)
			return len(calls) > 0 && !slices.ContainsFunc(calls, func(by callBy) bool { return !l.has(by.call.Pos(), depth+1) })
		}
	}
	return false
}

// starts tells of a change that it is made before anybody else is there.
func (l loading) starts(c changing) bool { return beforeOthers(c.in, c.at) }

// beforeOthers tells of a position that the function which the program begins with comes there before it starts a goroutine, once.
func beforeOthers(decl *ast.FuncDecl, at token.Pos) bool {
	return startsProgram(decl) && !hasNode(decl.Body, func(n ast.Node) bool {
		within := n != nil && n.Pos() <= at && at < n.End()
		switch n := n.(type) {
		case *ast.FuncLit:
			return within
		case *ast.GoStmt:
			return n.Pos() < at
		}
		return within && isLoop(n)
	})
}

// change is what is told of a line that changes the place; false where it does no harm.
func (l loading) change(v types.Object, c changing) (x keptChange, ok bool) {
	if l.has(c.at, 0) || l.starts(c) {
		return x, false
	}
	around := nodesAt(c.in.Body, c.at)
	i := slices.IndexFunc(around, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.AssignStmt, *ast.IncDecStmt, *ast.CallExpr:
			return n.Pos() == c.at
		}
		return false
	})
	x = keptChange{at: placeAt(l.p.d, c.at), what: l.p.lookedUp + " is changed"}
	if i < 0 {
		return x, true
	}
	switch n := around[i].(type) {
	case *ast.CallExpr:
		if isBuiltin(l.p.d, n) && calledName(n) == "delete" {
			x.what = fmt.Sprintf("an entry is deleted (%s)", types.ExprString(n))
			return x, !l.expires(v, around[:i])
		}
		x.what = types.ExprString(n.Fun) + " is called"
		if isBuiltin(l.p.d, n) {
			x.what = types.ExprString(n) + " is called"
		}
	case *ast.AssignStmt:
		at := slices.IndexFunc(n.Lhs, func(lhs ast.Expr) bool { return partSet(l.p.d, lhs) == v })
		if at < 0 {
			return x, true
		}
		text := types.ExprString(n.Lhs[at])
		x.what = text + " is set"
		switch _, element := ast.Unparen(n.Lhs[at]).(*ast.IndexExpr); {
		case isNamed(n.Rhs[min(at, len(n.Rhs)-1)], "nil") && mapType(v.Type()):
			x.what, x.gone = text+" is set to nil", true
		case element && l.asksFirst(v, c):
			return x, false
		case setWhereUnset(c, v.Name()):
			return x, false // whoever finds nothing there makes it
		}
	}
	return x, true
}

// mapType tells of a type that it is a map.
func mapType(t types.Type) bool { _, ok := t.Underlying().(*types.Map); return ok }

// expires tells of what is deleted, with the nodes around that, that it is each entry which is too old: whoever asks for it fetches it again.
func (l loading) expires(v types.Object, around []ast.Node) bool {
	through := slices.ContainsFunc(around, func(n ast.Node) bool {
		r, ok := n.(*ast.RangeStmt)
		return ok && partSet(l.p.d, r.X) == v
	})
	return through && slices.ContainsFunc(around, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		return ok && hasCall(s.Cond, func(call *ast.CallExpr) bool {
			name := calledName(call)
			return l.p.d.t.fromPackage(call.Fun) == "time" || name == "Before" || name == "After"
		})
	})
}

// asksFirst tells of a store that it is of another one who looks the key up before, and leaves where there is an entry.
func (l loading) asksFirst(v types.Object, c changing) bool {
	return hasNode(c.in.Body, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		if !ok || s.End() > c.at || !isIdent(s.Cond) || !leavesLoop(s.Body.List) {
			return false
		}
		a, ok := s.Init.(*ast.AssignStmt)
		return ok && len(a.Lhs) == 2 && isNamed(s.Cond, types.ExprString(a.Lhs[1])) && partSet(l.p.d, a.Rhs[0]) == v
	})
}

// adviceOfKept is what to do where a cache is proved but for what others change of it.
func adviceOfKept(p *lockPurpose) string {
	var entries, objects []string
	gone := ""
	for _, c := range p.others {
		text := c.what + " at " + c.at.text()
		if c.object {
			objects = append(objects, text)
			continue
		}
		if entries = append(entries, text); c.gone && gone == "" {
			place, _, _ := strings.Cut(p.lookedUp, "[")
			gone = fmt.Sprintf(" Look whether %s is nil as well: a store would panic then.", place)
		}
	}
	const flight = "Let the first of several that want the same thing fetch it (golang.org/x/sync/singleflight, or a channel in the entry); that alone does not make it safe."
	again := fmt.Sprintf(" Those who get what is kept change it (%s), so that all have to get the same one. If the I/O is done without the lock, look again when it is taken again: store what was fetched only if there is still none, and else return the one that is there.", listed(objects, 2))
	if len(entries) == 0 {
		return strings.TrimSpace(again) + " " + flight
	}
	if len(objects) == 0 {
		again = ""
	}
	return fmt.Sprintf("Others change what the lock keeps: %s. If what was fetched before such a change may not be stored after it, do not just unlock for the I/O: have a number that each such change advances under the lock (a generation number). Look up and note it, unlock, fetch, lock again, and store only if it is still the same. Otherwise look up, unlock, fetch, lock again and store.", listed(entries, 3)) +
		gone + again + " " + flight
}
