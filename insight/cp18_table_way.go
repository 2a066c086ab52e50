package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Whether what a function is given is the same in each turn of a loop further out: what it reads of its receiver and its
// parameters is followed outward as variables with their fields, so that what all items have in common is told from what
// is theirs alone.

// tablePath is a variable, and the fields through which it is read.
type tablePath struct {
	root   types.Object
	fields []types.Object
}

// tableTurns is a loop that repeats a call with the same.
type tableTurns struct {
	loop   codeLine
	each   string
	doubts []string
}

// tableDepth is how many definitions and calls are followed, one from the other, tableSteps how many expressions in all: a
// source may have more ways than anybody can go.
const (
	tableDepth = 6
	tableSteps = 20_000
)

// tableWay follows calls outward.
type tableWay struct {
	*derivations
	f      *derived
	paths  []tablePath
	doubts []string
	turns  tableTurns
}

// tableTurnsOf finds the loop nearest to the function of the first frame in each turn of which it is given the same.
func tableTurnsOf(d *derivations, f *derived, way []stack.Frame, user []bool) (turns tableTurns, ok bool) {
	w, reads := &tableWay{derivations: d, f: f}, tableFields{d, map[types.Object][][]types.Object{}}
	d.steps = tableSteps
	for _, v := range parametersOf(d, f.decl) {
		for _, fields := range reads.of(f.decl, v) {
			w.paths = append(w.paths, tablePath{v, fields})
		}
	}
	callee := f.decl
	for i := 1; i < len(way) && user[i]; i++ {
		in, ok := d.at(way[i])
		if !ok {
			return turns, false
		}
		calls := d.callsOn(in, way[i], callee.Name.Name)
		if len(calls) != 1 || !w.enters(callee, calls[0]) {
			return turns, false
		}
		found, goes := w.outward(in, nodesAround(in.body(), calls[0]))
		if found || !goes {
			return w.turns, found
		}
		if in.lit != nil {
			return turns, false
		}
		callee = in.decl
	}
	return turns, false
}

// tableFields finds the fields through which functions read a variable. What one method reads of its receiver is looked for once.
type tableFields struct {
	d     *derivations
	known map[types.Object][][]types.Object
}

// of are the fields through which a function, and what it calls, reads a parameter; an empty path is all of it. A method
// that is being looked at already adds nothing.
func (t tableFields) of(decl *ast.FuncDecl, v types.Object) (all [][]types.Object) {
	if known, ok := t.known[v]; ok {
		return known
	}
	t.known[v] = nil
	add := func(fields []types.Object) {
		if !slices.ContainsFunc(all, func(x []types.Object) bool { return slices.Equal(x, fields) }) {
			all = append(all, fields)
		}
	}
	d := t.d
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || d.variable(id) != v {
			return
		}
		var fields []types.Object
		var x ast.Expr = id
		i := len(around) - 1
		for ; i >= 0; i-- {
			sel, ok := around[i].(*ast.SelectorExpr)
			if !ok || sel.X != x || d.field(sel) == nil {
				break
			}
			fields, x = append(fields, d.field(sel)), sel
		}
		if i < 1 {
			add(fields)
			return
		}
		sel, ok := around[i].(*ast.SelectorExpr) // a method of it
		call, called := around[i-1].(*ast.CallExpr)
		if !ok || !called || call.Fun != ast.Expr(sel) || sel.X != x {
			add(fields)
			return
		}
		to := d.t.decls[d.t.callee(call)]
		if to == nil || to == decl || len(fields) > tableDepth {
			add(fields)
			return
		}
		for _, recv := range parametersOf(d, to) {
			if recv.Pos() < to.Name.Pos() {
				for _, more := range t.of(to, recv) {
					add(append(slices.Clone(fields), more...))
				}
			}
		}
	})
	t.known[v] = all
	return all
}

// enters says what a call is given by the variables of the function that makes it.
func (w *tableWay) enters(callee *ast.FuncDecl, call *ast.CallExpr) bool {
	var to []tablePath
	for _, p := range w.paths {
		if ofPackage(p.root) {
			to = append(to, p)
			continue
		}
		if !isGiven(callee, p.root) {
			return false
		}
		x := argumentFor(w.derivations, callee, call, p.root)
		if x == nil {
			return false
		}
		more, ok := tableResolve(w.derivations, x, p.fields, 0)
		if !ok {
			return false
		}
		to = append(to, more...)
	}
	w.paths = to
	return true
}

// tableResolve finds the variables with their fields that an expression's field comes from; false where that is not known.
func tableResolve(d *derivations, x ast.Expr, fields []types.Object, depth int) (all []tablePath, ok bool) {
	if d.steps--; depth > tableDepth || d.steps < 0 {
		return nil, false
	}
	each := func(xs ...ast.Expr) ([]tablePath, bool) {
		for _, x := range xs {
			more, ok := tableResolve(d, x, nil, depth+1)
			if !ok {
				return nil, false
			}
			all = append(all, more...)
		}
		return all, true
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.BasicLit:
		return nil, true
	case *ast.Ident:
		if v := d.variable(x); v != nil {
			return []tablePath{{v, fields}}, true
		}
		_, isConst := d.t.info.Uses[x].(*types.Const)
		return nil, isConst || types.Universe.Lookup(x.Name) != nil
	case *ast.SelectorExpr:
		if v := d.field(x); v != nil {
			return tableResolve(d, x.X, append([]types.Object{v}, fields...), depth+1)
		}
		switch v := d.t.info.Uses[x.Sel].(type) {
		case *types.Var:
			return []tablePath{{v, fields}}, ofPackage(v)
		case *types.Const:
			return nil, true
		}
	case *ast.StarExpr:
		return tableResolve(d, x.X, fields, depth+1)
	case *ast.UnaryExpr:
		if x.Op != token.ARROW {
			return tableResolve(d, x.X, fields, depth+1)
		}
	case *ast.BinaryExpr:
		return each(x.X, x.Y)
	case *ast.CompositeLit:
		if len(fields) == 0 {
			var xs []ast.Expr
			for _, e := range x.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					e = kv.Value
				}
				xs = append(xs, e)
			}
			return each(xs...)
		}
		if e, ok := tableElement(d, x, fields[0]); ok {
			if e == nil {
				return nil, true // it is not set
			}
			return tableResolve(d, e, fields[1:], depth+1)
		}
	case *ast.CallExpr:
		return tableCall(d, x, 0, fields, depth)
	}
	return nil, false
}

// tableElement is the value that a literal of a struct gives a field; nil where it gives none.
func tableElement(d *derivations, lit *ast.CompositeLit, field types.Object) (x ast.Expr, ok bool) {
	of := d.t.typeOf(lit)
	if of == nil {
		return nil, false
	}
	s, ok := of.Underlying().(*types.Struct)
	if !ok {
		return nil, false
	}
	for i := range s.NumFields() {
		if s.Field(i).Origin() != field {
			continue
		}
		for j, e := range lit.Elts {
			kv, keyed := e.(*ast.KeyValueExpr)
			if keyed && isNamed(kv.Key, field.Name()) {
				return kv.Value, true
			}
			if !keyed && i == j {
				return e, true
			}
		}
		return nil, true
	}
	return nil, false
}

// tableCall is tableResolve of a result of a call: what the function returns is looked for in its source.
func tableCall(d *derivations, x *ast.CallExpr, result int, fields []types.Object, depth int) (all []tablePath, ok bool) {
	fun := ast.Unparen(x.Fun)
	if tv, known := d.t.info.Types[fun]; known && tv.IsType() && len(x.Args) == 1 {
		return tableResolve(d, x.Args[0], fields, depth+1)
	}
	if len(fields) == 0 && computes(d.t.fromPackage(fun), calledName(x)) {
		for _, a := range x.Args {
			more, ok := tableResolve(d, a, nil, depth+1)
			if !ok {
				return nil, false
			}
			all = append(all, more...)
		}
		return all, true
	}
	fn := d.t.callee(x)
	if fn == nil || d.t.decls[fn] == nil || depth > tableDepth {
		return nil, false
	}
	decl, known := d.t.decls[fn], true
	var inside []tablePath
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if _, lit := n.(*ast.FuncLit); lit {
			return false
		}
		ret, ok := n.(*ast.ReturnStmt)
		if !ok || !known {
			return known
		}
		if known = result < len(ret.Results); !known || isNamed(ret.Results[result], "nil") {
			return known
		}
		more, ok := tableResolve(d, ret.Results[result], fields, depth+1)
		known = ok
		inside = append(inside, more...)
		return known
	})
	if inside, known = tableSettle(d, decl, inside, known, func(v types.Object) bool { return isLocal(decl, v) && !isGiven(decl, v) }, depth+1); !known {
		return nil, false
	}
	for _, p := range inside {
		if ofPackage(p.root) {
			all = append(all, p)
			continue
		}
		arg := argumentFor(d, decl, x, p.root)
		if arg == nil {
			return nil, false
		}
		more, ok := tableResolve(d, arg, p.fields, depth+1)
		if !ok {
			return nil, false
		}
		all = append(all, more...)
	}
	return all, true
}

// tableSettle puts what some variables of a function are set to in their place; false where that is not known.
func tableSettle(d *derivations, decl *ast.FuncDecl, paths []tablePath, known bool, which func(types.Object) bool, depth int) (all []tablePath, ok bool) {
	for range 4 {
		again := false
		all = nil
		for _, p := range paths {
			if !known || !which(p.root) {
				all = append(all, p)
				continue
			}
			again = true
			defs := d.definitions(decl)[p.root]
			known = len(defs) > 0
			for _, def := range defs {
				if def.part && len(p.fields) > 0 && !tableSets(d, decl, def, p.fields[0]) || def.x == nil && !def.unknown {
					continue // another field, or nothing yet
				}
				if def.unknown || def.ranged || def.part {
					return nil, false
				}
				var more []tablePath
				ok := false
				if call, is := ast.Unparen(def.x).(*ast.CallExpr); is {
					more, ok = tableCall(d, call, tableResult(decl, def), p.fields, depth+1)
				} else {
					more, ok = tableResolve(d, def.x, p.fields, depth+1)
				}
				if !ok {
					return nil, false
				}
				all = append(all, more...)
			}
		}
		if paths = all; !again || !known {
			return paths, known
		}
	}
	return nil, false
}

// tableSets tells of what sets a part of a variable whether that is, or has in it, a field.
func tableSets(d *derivations, decl *ast.FuncDecl, def definition, field types.Object) bool {
	other := false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return !other
		}
		for _, lhs := range a.Lhs {
			if lhs.Pos() != def.at && innermost(lhs).Pos() != def.at {
				continue
			}
			ast.Inspect(lhs, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				other = other || ok && isIdent(sel.X) && sel.X.Pos() == innermost(lhs).Pos() && d.field(sel) != nil && d.field(sel) != field
				return !other
			})
		}
		return !other
	})
	return !other
}

// tableStays tells of what is read of a variable that no turn of a loop sets it.
func tableStays(l *derivedLoop, p tablePath) bool {
	if l.own[p.root] || len(p.fields) == 0 && !l.stays(map[types.Object]bool{p.root: true}) {
		return false
	}
	return !slices.ContainsFunc(l.definitions(l.in.decl)[p.root], func(def definition) bool {
		in := l.stmt.Pos() <= def.at && def.at < l.stmt.End()
		return def.unknown || in && (!def.part || len(p.fields) == 0 || tableSets(l.derivations, l.in.decl, def, p.fields[0]))
	})
}

// tableResult is which result of a call a variable is set to.
func tableResult(decl *ast.FuncDecl, def definition) (at int) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) == 1 {
			for i, lhs := range a.Lhs {
				if lhs.Pos() == def.at {
					at = i
				}
			}
		}
		return true
	})
	return at
}

// outward goes through the loops around a call, the innermost first: found tells that one repeats it with the same, goes
// that the callers of the function may.
func (w *tableWay) outward(in frameCode, around []ast.Node) (found, goes bool) {
	keeper := &derivedWay{derivations: w.derivations, f: w.f}
	if len(around) == 0 || keeper.keeps(in, around[len(around)-1].(*ast.CallExpr), around) {
		return false, false
	}
	var conds []ast.Expr
	for i := len(around) - 2; i >= 0; i-- {
		next := around[i+1]
		var body *ast.BlockStmt
		switch n := around[i].(type) {
		case *ast.FuncLit:
			if n != in.lit {
				return false, false
			}
		case *ast.IfStmt:
			if next == ast.Node(n.Body) || next == n.Else {
				conds = append(conds, n.Cond)
			}
		case *ast.ForStmt:
			if next != ast.Node(n.Init) {
				body = n.Body
			}
		case *ast.RangeStmt:
			if next == ast.Node(n.Body) {
				body = n.Body
			}
		}
		if body == nil {
			continue
		}
		if found, goes = w.inLoop(in, around[i], body, around[i:], conds); found || !goes {
			return found, goes
		}
	}
	var ok bool
	w.paths, ok = tableSettle(w.derivations, in.decl, w.paths, true, in.declares, 0)
	return false, ok
}

// inLoop looks at a loop around a call.
func (w *tableWay) inLoop(in frameCode, stmt ast.Node, body *ast.BlockStmt, inside []ast.Node, conds []ast.Expr) (found, goes bool) {
	l := &derivedLoop{derivedWay: &derivedWay{derivations: w.derivations, f: w.f}, in: in, stmt: stmt, body: body, own: map[types.Object]bool{}}
	for _, x := range l.variables() {
		if v := w.variable(x); v != nil {
			l.own[v] = true
		}
	}
	within := func(v types.Object) bool { return body.Pos() <= v.Pos() && v.Pos() < body.End() }
	paths, ok := tableSettle(w.derivations, in.decl, w.paths, true, within, 0)
	if !ok {
		return false, false
	}
	w.paths = nil
	for _, p := range paths {
		if !l.own[p.root] {
			w.paths = append(w.paths, p)
			continue
		}
		shared, sure := tableShared(w.derivations, p.fields)
		if !shared {
			return false, false
		}
		if doubt := "that all items have the same " + p.fields[0].Name() + " is not certain by the source: where they differ, make one table for each"; !sure && !slices.Contains(w.doubts, doubt) {
			w.doubts = append(w.doubts, doubt)
		}
	}
	for _, p := range w.paths {
		if !tableStays(l, p) {
			return false, false
		}
	}
	each, doubt, ok := tableEach(l, inside[1])
	if !ok || l.once(inside) || l.repeats(inside[1]) {
		return false, true
	}
	turn := w.reached(in.decl, body)
	for v := range w.f.reads {
		for _, x := range w.changesOfAny(v) {
			if turn[x.in] && !l.starting(x) || x.in == in.decl && body.Pos() <= x.at && x.at < body.End() {
				return false, false
			}
		}
	}
	w.turns = tableTurns{loop: w.placeOf(stmt), each: each, doubts: w.doubts}
	if doubt != "" {
		w.turns.doubts = append(w.turns.doubts, doubt)
	}
	if tableSleeps(turn) {
		return false, false
	}
	if at, ok := tableChanges(w.derivations, in.decl, body, turn); ok {
		if _, counts := stmt.(*ast.ForStmt); counts && each == "turn" && !tableIndexes(l) {
			return false, false // a round that changes files, and looks again for the next
		}
		w.turns.doubts = append(w.turns.doubts, "a turn may write files, change the environment or the working directory, or start programs, at "+at.text()+": that may change what is read")
	}
	switch once, unsure := tableGuarded(l, conds); {
	case once:
		return false, false
	case unsure:
		w.turns.doubts = append(w.turns.doubts, "a condition that a turn changes decides whether it is called: it may be called seldom")
	}
	return true, false
}

// starting tells that a change is of a value that is being made.
func (l *derivedLoop) starting(x changing) bool { return derivedStartsWith(l.derivations, x) }

// tableSleeps tells of functions that one of them sleeps: a loop that calls it looks again after a while.
func tableSleeps(turn map[*ast.FuncDecl]bool) bool {
	for decl := range turn {
		if decl != nil && decl.Body != nil && mentionsCall(decl.Body, "Sleep") {
			return true
		}
	}
	return false
}

// tableIndexes tells of a loop that counts that it takes an element by its counter: it goes through items.
func tableIndexes(l *derivedLoop) (found bool) {
	ast.Inspect(l.body, func(n ast.Node) bool {
		if x, ok := n.(*ast.IndexExpr); ok {
			id, plain := ast.Unparen(x.Index).(*ast.Ident)
			found = found || plain && l.own[l.variable(id)]
		}
		return !found
	})
	return found
}

// tableEach says what a loop goes through, by one word: it has to be items, not rounds. by is the node of it that has the call.
func tableEach(l *derivedLoop, by ast.Node) (each, doubt string, ok bool) {
	waits := false
	ast.Inspect(l.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectStmt:
			waits = true
		case *ast.UnaryExpr:
			waits = waits || n.Op == token.ARROW && whenever.MatchString(types.ExprString(n))
		case *ast.CallExpr:
			waits = waits || types.ExprString(n.Fun) == "time.Sleep"
		}
		return !waits
	})
	if waits {
		return "", "", false
	}
	switch n := l.stmt.(type) {
	case *ast.RangeStmt:
		if of := l.t.typeOf(n.X); of != nil {
			if _, isChan := of.Underlying().(*types.Chan); isChan {
				return "item", "time may pass between two items of the channel: then the files may change", !whenever.MatchString(types.ExprString(n.X))
			}
		}
		for _, x := range []ast.Expr{n.Value, n.Key} {
			if id, ok := x.(*ast.Ident); ok && id.Name != "_" {
				return id.Name, "", true
			}
		}
		return "turn", "", n.Key != nil
	case *ast.ForStmt:
		if call, ok := n.Cond.(*ast.CallExpr); ok && n.Init == nil {
			return "item", "", tableNext.MatchString(calledName(call))
		}
		return "turn", "", n.Cond != nil && (n.Init != nil && n.Post != nil || strings.Contains(types.ExprString(n.Cond), "len("))
	}
	return "", "", false
}

// tableNext are methods by which a loop goes on to the next item.
var tableNext = lazily(`^(Scan|Next|More|HasNext)$`)

// tableGuarded tells of the conditions of a call in a loop that they hold once, or that nobody knows how often.
func tableGuarded(l *derivedLoop, conds []ast.Expr) (once, unsure bool) {
	for _, x := range conds {
		if l.stmt.Pos() > x.Pos() || x.Pos() >= l.stmt.End() {
			continue // of a function below
		}
		ast.Inspect(x, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				own := func(x ast.Expr) bool { return isIdent(x) && l.own[l.variable(x)] }
				once = once || n.Op == token.EQL && (own(n.X) && l.t.info.Types[n.Y].Value != nil || own(n.Y) && l.t.info.Types[n.X].Value != nil)
			case *ast.Ident:
				v := l.variable(n)
				if v == nil || isError(n.Name) || l.own[v] || l.body.Pos() <= v.Pos() && v.Pos() < l.body.End() {
					return true
				}
				unsure = unsure || !l.stays(map[types.Object]bool{v: true})
			}
			return true
		})
	}
	return once, unsure
}

// tableWrites are functions that change files, the environment, the working directory or flags.
var tableWrites = lazily(`^(flag\.(Set|Parse)|os\.(Chdir|Clearenv|WriteFile|Create|CreateTemp|Rename|Remove|RemoveAll|Mkdir|MkdirAll|Symlink|Link|Chmod|Chtimes|Truncate|Setenv|Unsetenv)|ioutil\.WriteFile|exec\.Command(Context)?)$`)

// tableChanges finds in what a loop repeats a call that changes files, or may do so.
func tableChanges(d *derivations, decl *ast.FuncDecl, body ast.Node, turn map[*ast.FuncDecl]bool) (at codeLine, found bool) {
	look := func(in ast.Node) {
		ast.Inspect(in, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && !found && (tableWrites.MatchString(types.ExprString(call.Fun)) || writesOut(d, call)) {
				at, found = d.placeOf(call), true
			}
			return !found
		})
	}
	look(body)
	for of := range turn {
		if of != decl && !found {
			look(of.Body)
		}
	}
	return at, found
}

// outWriters are methods of the library that write to something, which may be a file.
var outWriters = lazily(`^(Write|WriteString|WriteByte|WriteRune|WriteAt|WriteTo|ReadFrom|Flush|Sync|Truncate|Chdir)$`)

// writesOut tells of a call that it writes to what may be a file: not to the standard output or error, nor to a buffer.
func writesOut(d *derivations, call *ast.CallExpr) bool {
	text := types.ExprString(call.Fun)
	if strings.HasPrefix(text, "fmt.Fprint") || text == "io.WriteString" || text == "io.Copy" {
		return len(call.Args) > 0 && !isTerminal(d, call.Args[0])
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if ok && roundsTime(d, sel, call) {
		return false
	}
	return ok && outWriters.MatchString(sel.Sel.Name) && d.t.fromPackage(call.Fun) == "" && d.t.callee(call) == nil && !isTerminal(d, sel.X) && !inMemory.MatchString(libraryTypeOf(d, sel.X, 0).text())
}

// roundsTime tells of a call of a method Truncate that it is that of a time or a duration, and not of a file: it is given a duration, or is of what
// is a time by its name.
func roundsTime(d *derivations, sel *ast.SelectorExpr, call *ast.CallExpr) bool {
	if sel.Sel.Name != "Truncate" || len(call.Args) != 1 {
		return false
	}
	duration := hasNode(call.Args[0], func(n ast.Node) bool {
		x, ok := n.(*ast.SelectorExpr)
		return ok && d.t.fromPackage(x) == "time"
	})
	of := ast.Unparen(sel.X)
	inner, called := of.(*ast.CallExpr)
	return duration || called && timeGivers.MatchString(calledName(inner))
}

// timeGivers are functions and methods that return a time or a duration.
var timeGivers = lazily(`^(Now|Since|Until|Sub|UTC|Local|In|Add|AddDate|Unix|UnixMilli|Date|ModTime|Round|Truncate)$`)

// isTerminal tells of what is written to that it is the standard output or error, or in memory.
func isTerminal(d *derivations, x ast.Expr) bool {
	switch types.ExprString(x) {
	case "os.Stdout", "os.Stderr", "io.Discard":
		return true
	}
	x = unrefer(x)
	if t := d.t.typeOf(x); t != nil {
		return endsInType(t.String(), "bytes.Buffer") || endsInType(t.String(), "strings.Builder")
	}
	id, ok := x.(*ast.Ident)
	return ok && memoryName.MatchString(id.Name)
}

// memoryName is how variables are called that gather text or a sum.
var memoryName = lazily(`(?i)^(b|sb|buf|buffer|builder|text|h|hash|sum)$`)

// tableShared tells of the fields of an item whether all items have the first from one value by the source, and whether
// that is sure.
func tableShared(d *derivations, fields []types.Object) (shared, sure bool) {
	if len(fields) == 0 {
		return false, false
	}
	field, places := fields[0], 0
	shared, sure = true, true
	see := func(in *ast.FuncDecl, x ast.Expr) {
		paths, ok := tableResolve(d, x, nil, 0)
		places++
		if !ok {
			_, pointer := field.Type().Underlying().(*types.Pointer)
			shared, sure = shared && pointer, false
			return
		}
		for _, p := range paths {
			switch {
			case ofPackage(p.root):
			case !isGiven(in, p.root), !mayRefer(field.Type()):
				shared = shared && mayRefer(field.Type()) && !tableVaries(in, x, p.root)
				sure = false
			default:
				sure = sure && tableGivenOnce(d, in, p.root)
			}
		}
	}
	for _, decl := range d.t.decls {
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if x, ok := tableElement(d, n, field); ok && x != nil {
					see(decl, x)
				}
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					if sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr); ok && d.field(sel) == field {
						see(decl, n.Rhs[min(i, len(n.Rhs)-1)])
					}
				}
			}
			return shared
		})
	}
	return shared && places > 0, sure
}

// tableVaries tells of a variable of a function that a loop around an expression sets it.
func tableVaries(decl *ast.FuncDecl, x ast.Expr, v types.Object) bool {
	return slices.ContainsFunc(nodesAround(decl.Body, x), func(n ast.Node) bool { return isLoop(n) && n.Pos() <= v.Pos() && v.Pos() < n.End() })
}

// tableGivenOnce tells that no call of a function gives a parameter, or its receiver, what differs in the turns of a loop.
func tableGivenOnce(d *derivations, in *ast.FuncDecl, v types.Object) bool {
	once := true
	for _, decl := range d.t.decls {
		eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
			call, ok := n.(*ast.CallExpr)
			if !ok || !once {
				return
			}
			if fn := d.t.callee(call); fn == nil || d.t.decls[fn] != in {
				return
			}
			arg := argumentFor(d, in, call, v)
			if arg == nil {
				once = false
				return
			}
			paths, ok := tableResolve(d, arg, nil, 0)
			once = ok && !slices.ContainsFunc(paths, func(p tablePath) bool { return tableVaries(decl, call, p.root) })
		})
	}
	return once
}
