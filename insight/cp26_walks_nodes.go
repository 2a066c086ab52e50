package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// How many nodes of a graph there are at most, by the counts of the lines that make them or put them into lists; and what may keep walks over it from
// sharing what they find.

// ownStructAt is the name of a struct of the sources that a pointer leads to; nil for anything else.
func ownStructAt(t types.Type) *types.TypeName {
	if t == nil {
		return nil
	}
	p, ok := t.Underlying().(*types.Pointer)
	if !ok {
		return nil
	}
	named, ok := types.Unalias(p.Elem()).(*types.Named)
	if !ok || named.TypeArgs().Len() > 0 || !isStruct(named) {
		return nil
	}
	return named.Obj()
}

// nodesMade is how many values of a struct the program has made, where all are made one by one (&T{}, new(T)) and only pointers to them are used.
func nodesMade(c *countedTurns, of *types.TypeName) (n int64, at codeLine, ok bool) {
	d, most := c.d, int64(-1)
	ok = true
	is := func(t types.Type) bool {
		named, is := types.Unalias(t).(*types.Named)
		return t != nil && is && named.Obj() == of
	}
	made := func(decl *ast.FuncDecl, x ast.Node) {
		times, known := int64(1), true // of the package
		if decl != nil {
			times, known = c.timesAt(decl, x)
		}
		if ok = ok && known; times > most {
			most, at = times, d.placeOf(x)
		}
		n += times
	}
	eachOfSources(d, func(decl *ast.FuncDecl, x ast.Node, around []ast.Node) {
		if !ok {
			return
		}
		switch x := x.(type) {
		case *ast.Ident:
			ok = d.t.info.Uses[x] != types.Object(of) || isPointedOrMade(x, around)
		case *ast.StarExpr: // a copy of one
			if tv, known := d.t.info.Types[x]; known && tv.IsValue() && is(tv.Type) {
				ok = false
			}
		case *ast.CompositeLit:
			t := d.t.typeOf(x)
			if p, points := t.(*types.Pointer); points { // {…} in a list of pointers
				t = p.Elem()
			}
			if is(t) {
				made(decl, x)
			}
		case *ast.CallExpr:
			switch {
			case isNamed(x.Fun, "new") && len(x.Args) == 1 && is(d.t.typeOf(x.Args[0])):
				made(decl, x)
			case decodesAny(d, x, of.Type()):
				ok = false
			}
		}
	})
	return n, at, ok && n > 0
}

// eachOfSources visits the nodes of all sources, with the function that each is in.
func eachOfSources(d *derivations, visit func(decl *ast.FuncDecl, x ast.Node, around []ast.Node)) {
	for _, f := range d.t.files {
		for _, top := range f.file.Decls {
			fn, _ := top.(*ast.FuncDecl)
			if fn != nil && fn.Body == nil {
				continue
			}
			eachNode(top, func(n ast.Node, around []ast.Node) { visit(fn, n, around) })
		}
	}
}

// isPointedOrMade tells of a use of a struct's name that it is a pointer's type, or that of a value which is made by its address.
func isPointedOrMade(id *ast.Ident, around []ast.Node) bool {
	around = slices.Clone(around)
	if sel, ok := parent(around).(*ast.SelectorExpr); ok && sel.Sel == id {
		around = around[:len(around)-1]
	}
	switch p := parent(around).(type) {
	case *ast.StarExpr:
		return true
	case *ast.CompositeLit:
		u, ok := parent(around[:len(around)-1]).(*ast.UnaryExpr)
		return ok && u.Op == token.AND && u.X == ast.Expr(p)
	case *ast.CallExpr:
		return isNamed(p.Fun, "new")
	}
	return false
}

// decodesAny tells of a call that it may fill in values of a struct: a decoder of a library that is given something which leads to them, or does not show what.
func decodesAny(d *derivations, n *ast.CallExpr, of types.Type) (found bool) {
	if name := calledName(n); !strings.HasPrefix(name, "Unmarshal") && name != "Decode" && name != "DecodeElement" && name != "Scan" {
		return false
	}
	if fn := d.t.callee(n); fn != nil && len(d.declsOf(fn)) > 0 {
		return false
	}
	own := map[*types.Var]bool{}
	fieldsIn(of, false, func(v *types.Var) { own[v] = true })
	for _, a := range n.Args {
		t := d.t.typeOf(unrefer(a))
		if t == nil || types.IsInterface(t) {
			return true
		}
		fieldsIn(t, true, func(v *types.Var) { found = found || own[v] })
	}
	return found
}

// elementsPutInto is how many elements the program has put into the lists of a field at most, one by one.
func elementsPutInto(c *countedTurns, field types.Object) (n int64, at codeLine, ok bool) {
	d, most, known := c.d, int64(-1), map[token.Pos]bool{}
	ok = true
	put := func(decl *ast.FuncDecl, x ast.Node, lhs string, value ast.Expr) {
		elements, fine := elementsPut(lhs, value)
		if ok = ok && fine; !ok {
			return
		}
		known[x.Pos()] = true
		if elements == 0 {
			return
		}
		times := int64(1)
		if decl != nil {
			if times, ok = c.timesAt(decl, x); !ok {
				return
			}
		}
		if n += times * elements; times*elements > most {
			most, at = times*elements, d.placeOf(x)
		}
	}
	eachOfSources(d, func(decl *ast.FuncDecl, x ast.Node, _ []ast.Node) {
		switch x := x.(type) {
		case *ast.AssignStmt:
			for i, lhs := range x.Lhs {
				if fieldWritten(d, lhs) != field {
					continue
				}
				if len(x.Lhs) != len(x.Rhs) || x.Tok != token.ASSIGN {
					ok = false
					return
				}
				put(decl, x, types.ExprString(lhs), x.Rhs[i])
			}
		case *ast.KeyValueExpr:
			if id, is := x.Key.(*ast.Ident); is && d.t.info.Uses[id] == field {
				put(decl, x, "", x.Value)
			}
		case *ast.CompositeLit: // without the names of its fields
			if t := d.t.typeOf(x); t != nil && len(x.Elts) > 0 && structOf(t) != nil {
				s := structOf(t)
				_, named := x.Elts[0].(*ast.KeyValueExpr)
				for v := range s.Fields() {
					ok = ok && (named || v.Origin() != field)
				}
			}
		case *ast.UnaryExpr:
			if x.Op == token.AND && fieldWritten(d, x.X) == field {
				ok = false
			}
		}
	})
	for _, change := range d.changesOfAny(field) {
		ok = ok && known[change.at]
	}
	return n, at, ok && n > 0
}

// fieldWritten is the field of which a place is, or an element.
func fieldWritten(d *derivations, x ast.Expr) types.Object {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.IndexExpr:
			x = e.X
		case *ast.SelectorExpr:
			return d.field(e)
		default:
			return nil
		}
	}
}

// elementsPut is how many elements a value brings to a place at most; false where that is not known.
func elementsPut(lhs string, value ast.Expr) (n int64, ok bool) {
	switch x := ast.Unparen(value).(type) {
	case *ast.CallExpr:
		switch {
		case isNamed(x.Fun, "make"):
			return 1, true // all are the same
		case appendsTo(x, lhs) && !x.Ellipsis.IsValid():
			return int64(len(x.Args) - 1), true
		}
	case *ast.CompositeLit:
		ok = true
		for _, e := range x.Elts {
			if kv, is := e.(*ast.KeyValueExpr); is {
				e = kv.Value
			}
			more := int64(1)
			if lit, is := e.(*ast.CompositeLit); is {
				more, ok = elementsPut("", lit)
			}
			if n += more; !ok {
				break
			}
		}
		return n, ok
	case *ast.Ident:
		return 0, x.Name == "nil"
	}
	return 0, false
}

// doubts says what could keep the walks from sharing what they find.
func (w *rootWalks) doubts(d *derivations, f *Finding) {
	own := w.effects(d)
	remark := func(format string, args ...any) {
		f.Severity, f.saves = Info, false
		f.Doubts = append(f.Doubts, fmt.Sprintf(format, args...))
	}
	if others := w.others(d); others != "" {
		remark("which nodes a walk goes on from may depend on %s as well: what is kept for a node is right only where it does not", others)
	}
	if own != "" {
		remark("it %s: if each walk has to do that, each is needed", own)
	}
	if w.decidesEarly() {
		remark("a walk may end before it has been everywhere: to ask for all that can be reached then costs more for each root")
	}
	switch at, looped, changed := w.changedBetween(d); {
	case changed:
		remark("what it goes through is changed between the walks, at %s: what is kept has to be made again then", at.text())
	case !looped:
		remark("no loop in the sources makes the walks: if the graph changes between them, what is kept has to be made again")
	}
	f.Doubts = append(f.Doubts, "what is kept for all nodes takes more memory than one walk: bits for what can be reached (a bit set for each node, or component) keep it small")
}

// effects is what a walk does besides collecting: it writes, sends, or changes the nodes themselves. What it fills in is what it collects.
func (w *rootWalks) effects(d *derivations) (what string) {
	e := &callEffects{d: d, seen: map[*ast.FuncDecl]bool{w.in.decl: true}}
	e.every = func(n ast.Node, does string) {
		if what == "" && !strings.HasPrefix(does, "changes ") {
			what = does + " at " + d.placeOf(n).text()
		}
	}
	walk := &effectWalk{callEffects: e, decl: w.in.decl, outside: givenToDecl(d, w.in.decl)}
	node := d.t.typeOf(w.nodeAt(d))
	eachNode(w.in.body(), func(n ast.Node, around []ast.Node) {
		for _, x := range changedBy(n) {
			if sel, ok := ast.Unparen(x).(*ast.SelectorExpr); ok && what == "" && node != nil && ownStructAt(node) != nil && d.t.typeOf(sel.X) != nil && types.Identical(d.t.typeOf(sel.X), node) {
				what = "changes " + types.ExprString(x) + " at " + d.placeOf(n).text()
			}
		}
		walk.node(n, around)
	})
	return what
}

// others are parameters besides the node and its marks that conditions of the walk ask, or that differ from call to call.
func (w *rootWalks) others(d *derivations) string {
	if w.in.decl == nil {
		return ""
	}
	list := w.in.decl.Type.Params
	if w.in.lit != nil {
		list = w.in.lit.Type.Params
	}
	varied, asked, i := 0, "", 0
	for _, v := range givenVariables(d, list) {
		at := i
		i++
		given := !slices.ContainsFunc(w.selfs, func(call *ast.CallExpr) bool {
			return at >= len(call.Args) || d.variable(ast.Unparen(call.Args[at])) != v
		})
		switch {
		case v == w.seen:
		case !given:
			if varied++; varied > 1 {
				return v.Name()
			}
		case decidesBy(d, w.in.body(), v):
			asked = v.Name()
		}
	}
	return asked
}

// decidesBy tells whether a condition in a function asks a variable.
func decidesBy(d *derivations, body ast.Node, v types.Object) bool {
	return hasAny(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			return derivedMentions(d, n.Cond, v)
		case *ast.ForStmt:
			return n.Cond != nil && derivedMentions(d, n.Cond, v)
		case *ast.SwitchStmt:
			return n.Tag != nil && derivedMentions(d, n.Tag, v)
		}
		return false
	})
}

// decidesEarly tells of a function that it returns whether something was found.
func (w *rootWalks) decidesEarly() bool {
	results := w.in.decl.Type.Results
	if w.in.lit != nil {
		results = w.in.lit.Type.Results
	}
	return results != nil && slices.ContainsFunc(results.List, func(f *ast.Field) bool { return isNamed(f.Type, "bool") || isNamed(f.Type, "error") })
}

// callsUp is how many calls further up a loop is looked for that makes the walks.
const callsUp = 4

// changedBetween is a place at which what the walk goes through is changed in a loop that makes the walks; looped tells that there is one.
func (w *rootWalks) changedBetween(d *derivations) (at codeLine, looped, changed bool) {
	read := w.lists(d)
	tried := map[*ast.FuncDecl]bool{}
	var up func(by callBy, depth int)
	up = func(by callBy, depth int) {
		if by.in == nil || depth > callsUp {
			return
		}
		loops := slices.DeleteFunc(loopsOver(by.in, by.call), func(n ast.Node) bool { return !isLoop(n) })
		if len(loops) == 0 {
			if !tried[by.in] {
				tried[by.in] = true
				for _, next := range whoCalls(d, by.in) {
					up(next, depth+1)
				}
			}
			return
		}
		looped = true
		reached := d.reached(by.in, loops[0])
		parts := []ast.Node{loops[0]}
		for _, decl := range declsInOrder(d) {
			if _, called := reached[decl]; called {
				parts = append(parts, decl.Body)
			}
		}
		for _, v := range read {
			for _, part := range parts {
				if n := changeIn(d, part, v); n != nil {
					at, changed = d.placeOf(n), true
				}
			}
		}
	}
	for _, by := range w.outer {
		up(by, 0)
	}
	return at, looped, changed
}

// changeIn is a place in a part of the sources that changes a field, or what has been put into it, by its name or through another one.
func changeIn(d *derivations, part ast.Node, field types.Object) (found ast.Node) {
	changes := d.changesOfAny(field)
	ast.Inspect(part, func(n ast.Node) bool {
		if n == nil || found != nil {
			return false
		}
		if slices.ContainsFunc(changedBy(n), func(x ast.Expr) bool { return fieldWritten(d, x) == field }) || slices.ContainsFunc(changes, func(c changing) bool { return c.at == n.Pos() }) {
			found = n
		}
		return found == nil
	})
	return found
}
