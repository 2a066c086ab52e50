package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// What the second of two phases may need besides the item at hand: something that the first one has made of all items, as a sum, a
// hash, a map in which a later item takes the place of an earlier one; or a check that stands between the two.

// secondNeed is such a place, and what is said of it.
type secondNeed struct {
	at   ast.Node
	text string
}

// phaseChanges are the places that the first phase may change, with where it does: fields, variables of packages, and variables of the
// function that were there before.
type phaseChanges struct {
	d       *derivations
	g       *gathered
	sets    map[types.Object]ast.Node
	calls   int
	unknown ast.Node // a call that was not followed, as there are too many
	walked  map[*ast.FuncLit]bool
	params  map[types.Object]ast.Expr // of the function that goes through the list: what it is called with
	read    map[ast.Node]bool
	quiet   int // above 0 it is only asked whether more than the turn may see a place
}

// phaseFrame is a function that the first phase calls, with what its parameters are for who calls it.
type phaseFrame struct {
	decl  *ast.FuncDecl
	given map[types.Object]ast.Expr
	outer *phaseFrame
	depth int
}

// Limits of the search. Chosen: what is further away counts as not seen.
const (
	phaseDepth = 6
	phaseCalls = 400
)

// secondNeeds finds what the loop that handles the items may need of all of them; nil where everything that it reads is the item itself, or was
// there before the first phase and is not changed by that.
func secondNeeds(d *derivations, g *gathered) *secondNeed {
	w := &phaseChanges{d: d, g: g, sets: map[types.Object]ast.Node{}, walked: map[*ast.FuncLit]bool{}, read: map[ast.Node]bool{}}
	top, last := &phaseFrame{decl: g.decl}, g.last()
	w.walk(top, g.whole)
	if w.unknown != nil {
		return &secondNeed{w.unknown, "the first phase goes through too many calls to see what they change"}
	}
	if last.decl != g.decl {
		w.params = map[types.Object]ast.Expr{}
		for _, by := range whoCalls(d, last.decl) {
			for _, v := range parametersOf(d, last.decl) {
				w.params[v] = argumentFor(d, last.decl, by.call, v)
			}
		}
	}
	parts, ok := phaseGaps(d, g)
	if !ok {
		return &secondNeed{last.loop, "the list goes through other functions on the way to this loop, and what these do between was not followed"}
	}
	for _, p := range parts {
		if n := w.between(top, p); n != nil {
			return n
		}
	}
	if v, at := w.reads(last.decl, last.body); v != nil {
		return w.needs(v, at)
	}
	return nil
}

// needs says of a place that the second phase reads it, and where the first one changes it.
func (w *phaseChanges) needs(v types.Object, at ast.Node) *secondNeed {
	set := w.sets[v]
	if set == nil {
		return &secondNeed{at, fmt.Sprintf("%s, which the second phase uses here, comes from the first one together with the list", v.Name())}
	}
	return &secondNeed{at, fmt.Sprintf("what is used here reads %s, which the first phase may change for each item (line %d)", v.Name(), w.d.placeOf(set).line)}
}

// phaseGaps are the parts of functions between the gathering and the loop that handles the items; false where it is not in the same function, in
// one that this calls, or in one that calls it.
func phaseGaps(d *derivations, g *gathered) (parts []codePart, ok bool) {
	last := g.last()
	if last.decl == g.decl {
		return []codePart{{g.decl, g.whole.End(), last.loop.Pos()}}, true
	}
	for _, by := range whoCalls(d, last.decl) {
		if by.in == g.decl && by.call.Pos() > g.whole.End() {
			return []codePart{{g.decl, g.whole.End(), by.call.Pos()}, {last.decl, last.decl.Body.Pos(), last.loop.Pos()}}, true
		}
	}
	for _, by := range whoCalls(d, g.decl) {
		if by.in == last.decl && by.call.Pos() < last.loop.Pos() {
			return []codePart{{g.decl, g.whole.End(), g.decl.Body.End()}, {last.decl, by.call.End(), last.loop.Pos()}}, true
		}
	}
	return nil, false
}

// between looks at what stands between the phases: what leaves before an item is handled, a condition around the handling, and what
// is made of what the first phase has changed.
func (w *phaseChanges) between(top *phaseFrame, p codePart) (need *secondNeed) {
	if first := w.g.whole; p.decl == w.g.decl { // a turn that leaves all of it
		eachNode(first, func(n ast.Node, around []ast.Node) {
			if ret, ok := n.(*ast.ReturnStmt); ok && need == nil && !withinLit(around) && !underEnd(around, ret) && !returnsError(ret, p.decl.Type, around) {
				need = &secondNeed{ret, "a turn of the first phase ends all here, before anything is handled"}
			}
		})
	}
	eachNode(p.decl.Body, func(n ast.Node, around []ast.Node) {
		if need != nil {
			return
		}
		if cond, ok := phaseCondition(n); ok && n.Pos() >= p.from && n.Pos() < p.to && !w.asksEmpty(cond) {
			handles := n.End() > p.to && p.to < p.decl.Body.End()
			if handles || leavesBetween(n) {
				if v, at := w.reads(p.decl, n.(ast.Stmt)); !handles && v != nil || handles && w.readsAny(p.decl, cond) || callsUnseen(w.d, cond) {
					need = w.asked(n, v, at, handles)
				}
			}
			return
		}
		stmt, ok := n.(ast.Stmt)
		if !ok || n.Pos() < p.from || n.End() > p.to || p.decl != w.g.decl && w.g.last().decl != p.decl || withinLit(around) {
			return
		}
		switch s := stmt.(type) {
		case *ast.AssignStmt:
			for i, lhs := range s.Lhs {
				if v, _ := w.reads(p.decl, s.Rhs[min(i, len(s.Rhs)-1)]); v != nil && s.Tok != token.DEFINE {
					w.set(&phaseFrame{decl: p.decl}, lhs, s, 0)
				}
			}
		case *ast.ExprStmt:
			call, ok := s.X.(*ast.CallExpr)
			if !ok || inLine(w.d, append(slices.Clone(around), s.X)) || closesOrLocks.MatchString(calledName(call)) {
				return
			}
			if v, _ := w.reads(p.decl, call); v != nil {
				need = &secondNeed{call, fmt.Sprintf("this is called between the phases, and reads %s, which the first one may change for each item", v.Name())}
			}
		}
	})
	return need
}

// closesOrLocks are names of calls that say nothing of the items.
var closesOrLocks = lazily(`^(Close|Lock|Unlock|RLock|RUnlock|Done|Stop|panic)$`)

// asked says of a condition between the phases that what is handled depends on it.
func (w *phaseChanges) asked(n ast.Node, v types.Object, at ast.Node, handles bool) *secondNeed {
	text := "this decides, when all items are there, whether any is handled"
	if v != nil && w.sets[v] != nil {
		text += fmt.Sprintf(": it reads %s, which the first phase may change for each item (line %d)", v.Name(), w.d.placeOf(w.sets[v]).line)
	}
	return &secondNeed{n, text}
}

// phaseCondition is what a statement decides by.
func phaseCondition(n ast.Node) (all []ast.Node, ok bool) {
	switch n := n.(type) {
	case *ast.IfStmt:
		if n.Init != nil {
			all = append(all, n.Init)
		}
		return append(all, n.Cond), true
	case *ast.SwitchStmt:
		if n.Init != nil {
			all = append(all, n.Init)
		}
		if n.Tag != nil {
			all = append(all, n.Tag)
		}
		for _, s := range n.Body.List {
			for _, x := range s.(*ast.CaseClause).List {
				all = append(all, x)
			}
		}
		return all, true
	}
	return nil, false
}

// asksEmpty tells of what a statement decides by that it only asks whether the list has any items.
func (w *phaseChanges) asksEmpty(cond []ast.Node) bool {
	if len(cond) != 1 {
		return false
	}
	b, ok := cond[0].(*ast.BinaryExpr)
	if !ok {
		return false
	}
	call, ok := ast.Unparen(b.X).(*ast.CallExpr)
	if ok && isNamed(call.Fun, "len") {
		return isZero(b.Y)
	}
	return isNamed(b.Y, "nil") && mentionsVars(w.d, b.X, map[types.Object]bool{w.g.of: true})
}

// readsAny tells whether one of some nodes reads what the first phase changes.
func (w *phaseChanges) readsAny(decl *ast.FuncDecl, nodes []ast.Node) bool {
	return slices.ContainsFunc(nodes, func(n ast.Node) bool {
		v, _ := w.reads(decl, n)
		return v != nil
	})
}

// callsUnseen tells of some nodes that they call a function of which nothing is known: no method, and none of the sources or of a package.
func callsUnseen(d *derivations, nodes []ast.Node) bool {
	return slices.ContainsFunc(nodes, func(n ast.Node) bool {
		return hasCall(n, func(call *ast.CallExpr) bool {
			_, named := ast.Unparen(call.Fun).(*ast.Ident)
			return named && d.t.callee(call) == nil && !isBuiltin(d, call) && !d.t.info.Types[call.Fun].IsType()
		})
	})
}

// leavesBetween tells of a statement that it may leave what is around it: the function, a loop, or the program.
func leavesBetween(n ast.Node) (leaves bool) {
	eachNode(n, func(n ast.Node, around []ast.Node) {
		if withinLit(around) {
			return
		}
		switch n := n.(type) {
		case *ast.ReturnStmt:
			leaves = true
		case *ast.BranchStmt:
			leaves = leaves || n.Tok != token.FALLTHROUGH && !slices.ContainsFunc(around, isLoop)
		case *ast.CallExpr:
			leaves = leaves || endsProgram.MatchString(types.ExprString(n.Fun))
		}
	})
	return leaves
}

// endsProgram are calls that do not come back.
var endsProgram = lazily(`^(panic|os\.Exit|runtime\.Goexit|(\w+\.)*(Fatal|Fatalf|Fatalln|FailNow|Panic|Panicf))$`)

// underEnd tells of a return that it stands below a condition on a context, or on the end of what is read.
func underEnd(around []ast.Node, ret *ast.ReturnStmt) bool {
	return slices.ContainsFunc(around, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		return ok && within(s.Body, ret) && (asksEnd(s.Cond) || asksError(s.Cond, token.NEQ))
	})
}

// walk goes through what the first phase does.
func (w *phaseChanges) walk(f *phaseFrame, top ast.Node) {
	ast.Inspect(top, func(n ast.Node) bool {
		for _, lhs := range placesSet(n) {
			w.set(f, lhs, n, 0)
		}
		switch n := n.(type) {
		case *ast.SendStmt:
			w.set(f, n.Chan, n, 0)
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				w.set(f, n.X, n, 0)
			}
		case *ast.CallExpr:
			w.call(f, n)
		}
		return true
	})
}

// call goes into a function of the sources; what one of a library is called on, or given, it may change.
func (w *phaseChanges) call(f *phaseFrame, call *ast.CallExpr) {
	if isBuiltin(w.d, call) {
		switch calledName(call) {
		case "copy", "delete", "clear", "close":
			if len(call.Args) > 0 {
				w.set(f, call.Args[0], call, 0)
			}
		}
		return
	}
	if w.d.t.info.Types[call.Fun].IsType() {
		return
	}
	var decls []*ast.FuncDecl
	if fn := w.d.t.callee(call); fn != nil {
		decls = w.d.declsOf(fn)
	}
	if len(decls) > 0 {
		for o := f; o != nil; o = o.outer {
			decls = slices.DeleteFunc(slices.Clone(decls), func(decl *ast.FuncDecl) bool { return decl == o.decl || decl.Body == nil })
		}
		if w.calls += len(decls); len(decls) > 0 && (f.depth >= phaseDepth || w.calls > phaseCalls) {
			w.unknown = call
			return
		}
		for _, decl := range decls {
			given := map[types.Object]ast.Expr{}
			for _, v := range parametersOf(w.d, decl) {
				given[v] = argumentFor(w.d, decl, call, v)
			}
			w.walk(&phaseFrame{decl, given, f, f.depth + 1}, decl.Body)
		}
		return
	}
	if v := w.d.variable(ast.Unparen(call.Fun)); v != nil {
		for _, def := range w.d.definitions(f.decl)[v] {
			if lit, ok := def.x.(*ast.FuncLit); ok && !w.walked[lit] {
				w.walked[lit] = true
				w.walk(f, lit.Body)
			}
		}
	}
	pkg := w.d.t.fromPackage(call.Fun)
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && pkg == "" && !w.keepsNothing(sel.X) {
		w.set(f, sel.X, call, 0)
	}
	if changesNoArgument.MatchString(pkg) {
		return
	}
	for _, x := range call.Args {
		if t := w.d.t.typeOf(x); (t == nil || mayRefer(t)) && !w.keepsNothing(x) {
			w.set(f, x, call, 0)
		}
	}
}

// changesNoArgument are packages whose functions change nothing that they are given.
var changesNoArgument = lazily(`^(strings|strconv|errors|regexp|time|path|path/filepath|math|math/bits|unicode|unicode/utf8|crypto/sha\d+|crypto/md5|hash/crc32|context|log|log/slog|net/url|net/http)$`)

// stateless are types of libraries that one phase tells the other nothing by, and namedStateless names of variables of such types.
var (
	stateless      = lazily(`^(context\.\w*|net/http\.(Client|Transport)|sync\.(Mutex|RWMutex|WaitGroup|Once)|log\.Logger|log/slog\.Logger|time\.\w+|regexp\.Regexp|net/url\.URL|golang\.org/x/sync/errgroup\.\w*)$`)
	namedStateless = lazily(`^(ctx|wg|mu|log|logger)$`)
)

// keepsNothing tells of an expression that it is of such a type.
func (w *phaseChanges) keepsNothing(x ast.Expr) bool {
	return namedStateless.MatchString(lastName(types.ExprString(pointed(x)))) || stateless.MatchString(libraryTypeOf(w.d, pointed(x), 0).text())
}

// set notes a place that is changed, and tells whether more than the turn may see it.
func (w *phaseChanges) set(f *phaseFrame, x ast.Expr, at ast.Node, depth int) bool {
	var fields []types.Object
	root := types.Object(nil)
	plain := true // the variable itself
	for cur := x; cur != nil; {
		switch e := ast.Unparen(cur).(type) {
		case *ast.SelectorExpr:
			if v := w.d.field(e); v != nil {
				fields = append(fields, v)
			} else if w.d.t.fromPackage(e) != "" {
				root = w.d.t.info.Uses[e.Sel]
				cur = nil
				continue
			}
			cur, plain = e.X, false
		case *ast.IndexExpr:
			cur, plain = e.X, false
		case *ast.StarExpr:
			cur, plain = e.X, false
		case *ast.SliceExpr:
			cur, plain = e.X, false
		case *ast.TypeAssertExpr:
			cur = e.X
		case *ast.UnaryExpr:
			cur = e.X
		case *ast.CallExpr:
			if sel, ok := ast.Unparen(e.Fun).(*ast.SelectorExpr); ok && w.d.t.fromPackage(e.Fun) == "" {
				cur, plain = sel.X, false
				continue
			}
			cur = nil
		case *ast.Ident:
			root, cur = w.d.variable(e), nil
		default:
			return false // a literal, or what is computed
		}
	}
	if root == w.g.of && root != nil && (w.g.field == nil || len(fields) == 0 || fields[0] == w.g.field) || root != nil && isError(root.Name()) {
		return false
	}
	shared := root == nil && len(fields) > 0
	if len(fields) > 0 { // what is changed is the field, and not what has it
		w.quiet++
	}
	switch {
	case root == nil:
	case ofPackage(root):
		w.note(root, at)
		shared = true
	case depth > phaseDepth:
		shared = true
	case f.outer != nil && isGiven(f.decl, root):
		own := plain && isAssignment(at) || isStruct(root.Type().Underlying()) && !plain && len(fields) > 0 && !refersOn(w.d, x) // its own copy
		if arg := f.given[root]; arg != nil && !own {
			shared = w.set(f.outer, arg, at, depth+1)
		}
	case f.outer != nil, covers(w.g.whole, declaredNode(root)):
		shared = w.setOwn(f, root, x, at, depth)
	default:
		w.note(root, at)
		shared = true
		for _, def := range w.d.definitions(f.decl)[root] { // what writes on into something else
			if call, ok := def.x.(*ast.CallExpr); ok && def.at < w.g.whole.Pos() && w.d.t.callee(call) == nil && !isBuiltin(w.d, call) && !changesNoArgument.MatchString(w.d.t.fromPackage(call.Fun)) {
				for _, arg := range call.Args {
					if t := w.d.t.typeOf(arg); (t == nil || mayRefer(t)) && !w.keepsNothing(arg) {
						w.set(f, arg, at, depth+1)
					}
				}
			}
		}
	}
	if len(fields) > 0 {
		w.quiet--
	}
	if shared && len(fields) > 0 {
		w.note(fields[0], at)
	}
	return shared
}

// setOwn is set of what begins with a variable that a turn, or a function that it calls, declares.
func (w *phaseChanges) setOwn(f *phaseFrame, root types.Object, x ast.Expr, at ast.Node, depth int) (shared bool) {
	if isIdent(ast.Unparen(x)) && isAssignment(at) || w.d.isOwn(f.decl, x) && !isIdent(ast.Unparen(pointed(x))) || w.d.isMade(f.decl, innermost(pointed(x))) {
		return false
	}
	for _, def := range w.d.definitions(f.decl)[root] {
		switch e := ast.Unparen(cmpExpr(def.x)).(type) {
		case nil:
		case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr, *ast.UnaryExpr, *ast.SliceExpr, *ast.StarExpr, *ast.TypeAssertExpr:
			if !def.part {
				shared = w.set(f, e, at, depth+1) || shared
			}
		case *ast.CallExpr:
			fn := w.d.t.callee(e)
			shared = shared || !def.part && fn != nil && len(w.d.declsOf(fn)) > 0 && !w.d.makes(f.decl, root, e)
		}
	}
	return shared
}

// cmpExpr is an expression, or one of nothing.
func cmpExpr(x ast.Expr) ast.Expr {
	if x == nil {
		return &ast.BadExpr{}
	}
	return x
}

// isAssignment tells of a node that it gives a variable another value, and is no call.
func isAssignment(n ast.Node) bool {
	switch n.(type) {
	case *ast.AssignStmt, *ast.IncDecStmt:
		return true
	}
	return false
}

// refersOn tells of a place that it is reached by a pointer, a slice or a map behind the variable that it begins with.
func refersOn(d *derivations, x ast.Expr) bool {
	return hasNode(x, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || e == x || isIdent(e) {
			return false
		}
		t := d.t.typeOf(e)
		return t != nil && mayRefer(t) && !isStruct(t.Underlying())
	})
}

// declaredNode is a node at the place where something is declared.
func declaredNode(v types.Object) ast.Node { return &ast.Ident{NamePos: v.Pos(), Name: v.Name()} }

func (w *phaseChanges) note(v types.Object, at ast.Node) {
	if w.sets[v] == nil && w.quiet == 0 {
		w.sets[v] = at
	}
}

// reads finds in a part of a function, and in what it calls, the first thing that the first phase may change. What is only counted on there, as in the first
// phase, needs no order.
func (w *phaseChanges) reads(decl *ast.FuncDecl, top ast.Node) (v types.Object, at ast.Node) {
	w.read = map[ast.Node]bool{w.g.decl: true}
	return w.readsIn(decl, top)
}

func (w *phaseChanges) readsIn(decl *ast.FuncDecl, top ast.Node) (found types.Object, at ast.Node) {
	if top == nil || w.read[top] {
		return nil, nil
	}
	w.read[top] = true
	hit := func(v types.Object, n ast.Node) {
		if found == nil && v != nil && w.sets[v] != nil {
			found, at = v, n
		}
	}
	ast.Inspect(top, func(n ast.Node) bool {
		if found != nil {
			return false
		}
		switch n := n.(type) {
		case *ast.IncDecStmt:
			return false
		case *ast.AssignStmt:
			if n.Tok == token.ADD_ASSIGN && onlyNumber(w.d, n.Lhs[0]) {
				found, at = w.readsIn(decl, n.Rhs[0])
				return false
			}
		case *ast.SelectorExpr:
			hit(w.d.field(n), n)
		case *ast.CallExpr:
			fn := w.d.t.callee(n)
			if fn == nil {
				for _, arg := range n.Args {
					hit(w.fieldOf(w.d.t.typeOf(arg)), n)
				}
				break
			}
			for _, callee := range w.d.declsOf(fn) {
				if v, _ := w.readsIn(callee, bodyOr(callee)); v != nil {
					hit(v, n)
				}
			}
		case *ast.Ident:
			v := w.d.t.info.Uses[n]
			if v == nil || v == w.g.of || isError(n.Name) {
				break
			}
			if hit(v, n); found == nil {
				if by := w.behind(decl, v); by != nil {
					found, at = by, n
				}
			}
		}
		return true
	})
	return found, at
}

// fieldOf is a field that the first phase may change of a struct which a library is given as a whole.
func (w *phaseChanges) fieldOf(t types.Type) types.Object {
	if t == nil {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if of, ok := t.Underlying().(*types.Struct); ok {
		for i := range of.NumFields() {
			if v := of.Field(i).Origin(); w.sets[v] != nil {
				return v
			}
		}
	}
	return nil
}

// bodyOr is the body of a function, or nothing.
func bodyOr(decl *ast.FuncDecl) ast.Node {
	if decl.Body == nil {
		return nil
	}
	return decl.Body
}

// behind is what the first phase may change of what a variable is made of that is set behind it.
func (w *phaseChanges) behind(decl *ast.FuncDecl, v types.Object) types.Object {
	if !isLocal(decl, v) || decl != w.g.decl && decl != w.g.last().decl {
		return nil
	}
	if arg := w.params[v]; isGiven(decl, v) && arg != nil && decl != w.g.decl {
		if v, _ := w.readsIn(w.g.decl, arg); v != nil {
			return v
		}
		return nil
	}
	for _, def := range w.d.definitions(decl)[v] {
		if def.x == nil || decl == w.g.decl && def.at < w.g.whole.End() {
			continue
		}
		if call, ok := def.x.(*ast.CallExpr); ok && decl != w.g.decl {
			if fn := w.d.t.callee(call); fn != nil && slices.Contains(w.d.declsOf(fn), w.g.decl) {
				if t := v.Type(); types.Identical(t, w.g.of.Type()) || isErrorType(t) {
					continue
				}
				return v
			}
		}
		if by, _ := w.readsIn(decl, def.x); by != nil {
			return by
		}
	}
	return nil
}
