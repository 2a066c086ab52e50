package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Where entries of a container are taken out again, and which ways through the source leave
// them in it.

// removal is a call that takes something out of a container.
type removal struct {
	in   declaration
	line int
}

// removalsFrom are the calls in the sources that take something out of a container, by the
// last part of its name.
func (c sourceHolders) removalsFrom(name string) (all []removal) {
	for _, fns := range c.functions() {
		for _, fn := range fns {
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && removesFrom(call, name) {
					all = append(all, removal{fn, c.parse(fn.file).fset.PositionFor(call.Pos(), false).Line})
				}
				return true
			})
		}
	}
	slices.SortFunc(all, func(a, b removal) int { return cmp.Or(cmp.Compare(a.in.file, b.in.file), cmp.Compare(a.line, b.line)) })
	return all
}

// removesFrom tells of a call that it takes something out of a container of a name.
func removesFrom(call *ast.CallExpr, name string) bool {
	if f, ok := call.Fun.(*ast.SelectorExpr); ok && lastName(types.ExprString(f.X)) == name {
		return f.Sel.Name == "LoadAndDelete" || f.Sel.Name == "CompareAndDelete" || removes(f.Sel.Name)
	}
	text := types.ExprString(call.Fun)
	return (text == "delete" || text == "clear" || text == "maps.DeleteFunc") && len(call.Args) > 0 && lastName(types.ExprString(call.Args[0])) == name
}

// leftIn is a return that leaves what was put into a container in it.
type leftIn struct {
	file string
	line int
	// from is where the function around puts it in, or calls what does.
	from string
}

// maxWay is how far calls are followed on the ways after an entry was put in, up and down.
const maxWay = 3

// ways follows the ways through functions after an entry was put into a container.
type ways struct {
	k    *keeper
	name string            // the last part of the container's
	put  declaration       // the function that puts it in
	line int               // at this line; 0 where a call of put does
	seen map[ast.Node]bool // functions that were entered
	// removes tells that some way takes it out, or that the goroutine that does so was waited for.
	removes bool
	leaves  []leftIn
	// fails is the result of the call which tells that nothing was put in, from where that is.
	fails, from string
	depth       int
	// own are the calls on the ways that take it out, via those of functions which do.
	own, via map[position]bool
}

// followed is what the ways after an entry was put in have shown.
type followed struct {
	leaves   []leftIn
	own, via map[position]bool
}

// leavesOf finds the returns with an error that leave an entry of a store in it, where other
// ways from the same place take it out. Those without one may leave it there on purpose.
func (c sourceHolders) leavesOf(s keepsAt) followed {
	k := &keeper{c: c.code, funcs: c.functions()}
	at := declaration{}
	for _, fns := range k.funcs {
		for _, fn := range fns {
			if x := c.parse(fn.file); fn.file == s.file && x.covers(fn.FuncDecl, s.line) {
				at = fn
			}
		}
	}
	if at.FuncDecl == nil {
		return followed{}
	}
	return leavesFrom(k, lastName(s.container), at, s.line)
}

// leavesFrom looks at the ways from where a function puts an entry in; where none of these takes
// it out, at those of its callers.
func leavesFrom(k *keeper, name string, put declaration, line int) (all followed) {
	all = followed{own: map[position]bool{}, via: map[position]bool{}}
	follow := func(fn declaration, line int) *ways {
		w := &ways{k: k, name: name, put: put, line: line, seen: map[ast.Node]bool{fn.FuncDecl: true}, own: all.own, via: all.via}
		k.fn, k.file = fn.FuncDecl, fn.file
		w.stmts(fn.Body.List, way{file: fn.file, vars: map[string]bool{}})
		return w
	}
	if w := follow(put, line); w.removes {
		all.leaves = w.sorted()
		return all
	}
	for _, caller := range callersIn(k, put) {
		if w := follow(caller, 0); w.removes {
			all.leaves = append(all.leaves, w.sorted()...)
		}
	}
	return all
}

// sorted are the returns that leave it in, where other ways do not.
func (w *ways) sorted() []leftIn {
	if !w.removes {
		return nil
	}
	slices.SortFunc(w.leaves, func(a, b leftIn) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line)) })
	return slices.Compact(w.leaves)
}

// callersIn are the functions with a call of another one, in the order of the sources.
func callersIn(k *keeper, of declaration) (all []declaration) {
	for _, fns := range k.funcs {
		for _, fn := range fns {
			k.fn = fn.FuncDecl
			if fn.FuncDecl != of.FuncDecl && hasCall(fn.Body, func(call *ast.CallExpr) bool { return meansOne(k, call, of) }) {
				all = append(all, fn)
			}
		}
	}
	slices.SortFunc(all, func(a, b declaration) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.Pos(), b.Pos()))
	})
	return all
}

// meansOne tells whether a call in the function that is looked at means a function.
func meansOne(k *keeper, call *ast.CallExpr, fn declaration) bool {
	return calledName(call) == fn.Name.Name && slices.ContainsFunc(k.fitting(call, anyArgument), func(d declaration) bool { return d.FuncDecl == fn.FuncDecl })
}

// way is the state on one way through a function.
type way struct {
	file string
	vars map[string]bool // what was put in, or has it in it
	keys map[string]bool // what it was put in by
	in   bool            // an entry is in the container
	// late tells that it is taken out when the function ends, by a defer before it was put in.
	late bool
	ends bool // the way has left the function
	// fails is the variable that the condition around says tells of a failure.
	fails string
}

// stmts follows a list of statements.
func (w *ways) stmts(list []ast.Stmt, at way) way {
	for _, s := range list {
		if at.ends {
			return at
		}
		at = w.stmt(s, at)
	}
	return at
}

// stmt follows one statement.
func (w *ways) stmt(s ast.Stmt, at way) way {
	switch s := s.(type) {
	case *ast.BlockStmt:
		return w.stmts(s.List, at)
	case *ast.LabeledStmt:
		return w.stmt(s.Stmt, at)
	case *ast.IfStmt:
		return w.ifs(s, at)
	case *ast.ForStmt:
		return w.loop(s.Body, at)
	case *ast.RangeStmt:
		return w.loop(s.Body, w.simple(&ast.ExprStmt{X: s.X}, at))
	case *ast.SwitchStmt:
		return w.clauses(s.Body, at, !hasDefaultClause(s.Body))
	case *ast.TypeSwitchStmt:
		return w.clauses(s.Body, at, !hasDefaultClause(s.Body))
	case *ast.SelectStmt:
		return w.clauses(s.Body, at, false)
	case *ast.ReturnStmt:
		return w.returns(s, at)
	case *ast.BranchStmt:
		at.ends = true // whatever comes after the loop is followed from its end
		return at
	}
	return w.simple(s, at)
}

// loop follows the body of a loop, which may run or not.
func (w *ways) loop(body *ast.BlockStmt, at way) way {
	after := w.stmts(body.List, at)
	at.in = (at.in || after.in && !after.ends) && !w.takes(body, after) && !answered(body, after.vars)
	return at
}

// ifs follows both ways of an if. What is done when a length is reached is about other entries.
func (w *ways) ifs(s *ast.IfStmt, at way) way {
	if s.Init != nil {
		at = w.stmt(s.Init, at)
	}
	if at.in && w.takes(s.Cond, at) {
		w.removes, at.in = true, false
	}
	if comparesLength(s.Cond) && w.takesAny(s.Body) {
		at.in = false
	}
	then := at
	if w.fails != "" && mentions(s.Cond, w.fails) {
		then.in = false // nothing was put in
	}
	w.fails = ""
	if x, ok := s.Cond.(*ast.BinaryExpr); ok && x.Op == token.NEQ && isNamed(x.Y, "nil") {
		then.fails = types.ExprString(x.X)
	}
	then = w.stmts(s.Body.List, then)
	then.fails = at.fails
	otherwise := at
	if s.Else != nil {
		otherwise = w.stmt(s.Else, at)
	}
	return join(then, otherwise)
}

// join is the state after two ways.
func join(a, b way) way {
	switch {
	case a.ends:
		return b
	case b.ends:
		return a
	}
	a.in = a.in || b.in
	return a
}

func hasDefaultClause(body *ast.BlockStmt) bool {
	return slices.ContainsFunc(body.List, func(s ast.Stmt) bool {
		c, ok := s.(*ast.CaseClause)
		return ok && c.List == nil
	})
}

// clauses follows the clauses of a switch or a select; none may be taken.
func (w *ways) clauses(body *ast.BlockStmt, at way, none bool) way {
	after := at
	after.ends = !none
	for _, s := range body.List {
		one := at
		if c, ok := s.(*ast.CommClause); ok && c.Comm != nil {
			one = w.simple(c.Comm, one)
		}
		after = join(after, w.stmts(statements(s), one))
	}
	return after
}

// simple follows a statement that has no others in it.
func (w *ways) simple(s ast.Stmt, at way) way {
	x := w.k.c.parse(at.file)
	puts := at.file == w.put.file && w.line > 0 && x.covers(s, w.line) || w.line == 0 && hasCall(s, func(call *ast.CallExpr) bool { return meansOne(w.k, call, w.put) })
	if d, ok := s.(*ast.DeferStmt); ok && !at.in && w.takesAny(d) {
		at.late = true
	}
	if puts && !at.in && !at.late {
		at.in, at.vars, at.keys = true, map[string]bool{}, map[string]bool{}
		w.fails, w.from = "", fmt.Sprintf("%s:%d", baseName(at.file), x.fset.PositionFor(s.Pos(), false).Line)
		w.putBy(s, &at)
		return at
	}
	taken := at.keys != nil && w.takes(s, at) // also where it was taken out before
	switch {
	case !at.in:
	case taken, answered(s, at.vars):
		w.removes, at.in = true, false
	case givesOn(s, at.vars):
		at.in = false // whoever has it may take it out
	}
	return at
}

// putBy notes which variables have what a statement puts in, and by which it does so.
func (w *ways) putBy(s ast.Stmt, at *way) {
	note := func(x ast.Node, into map[string]bool) {
		ast.Inspect(x, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name != "_" && id.Name != "nil" {
				into[id.Name] = true
			}
			_, selects := n.(*ast.SelectorExpr)
			if selects {
				if root := rootName(n.(ast.Expr)); root != "" {
					into[root] = true
				}
			}
			return !selects
		})
	}
	a, _ := s.(*ast.AssignStmt)
	if w.line == 0 {
		hasCall(s, func(call *ast.CallExpr) bool {
			if meansOne(w.k, call, w.put) {
				for _, arg := range call.Args {
					note(arg, at.keys)
				}
			}
			return false
		})
		for i := 0; a != nil && i < len(a.Lhs); i++ {
			id, ok := a.Lhs[i].(*ast.Ident)
			switch {
			case !ok || id.Name == "_":
			case i > 0 && i == len(a.Lhs)-1:
				w.fails = id.Name
			default:
				at.vars[id.Name] = true
			}
		}
		return
	}
	if a != nil {
		if x, ok := a.Lhs[0].(*ast.IndexExpr); ok {
			note(x.Index, at.keys)
			note(a.Rhs[0], at.vars)
		}
		return
	}
	hasCall(s, func(call *ast.CallExpr) bool {
		if f, ok := call.Fun.(*ast.SelectorExpr); ok && lastName(types.ExprString(f.X)) == w.name && len(call.Args) == 2 {
			note(call.Args[0], at.keys)
			note(call.Args[1], at.vars)
		}
		return false
	})
}

// takes tells whether what was put in is taken out of the container within a node, by itself or
// by a function that is called with what it was put in by, in a function literal, too.
func (w *ways) takes(n ast.Node, at way) (taken bool) {
	if n == nil {
		return false
	}
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return mentionsAny(a, at.keys) || mentionsAny(a, at.vars) }) {
			return true
		}
		direct := removesFrom(call, w.name)
		if !direct && !w.calledTakes(call, 0) {
			return true
		}
		taken = true
		p := position{at.file, w.k.c.parse(at.file).fset.PositionFor(call.Pos(), false).Offset}
		switch {
		case !w.names(call, at):
		case direct:
			w.own[p] = true
		default:
			w.via[p] = true
		}
		return true
	})
	return taken
}

// names tells of a call that what it takes out is what was put in: an argument besides the
// container is of that, and of nothing else.
func (w *ways) names(call *ast.CallExpr, at way) bool {
	return slices.ContainsFunc(call.Args, func(a ast.Expr) bool {
		root := rootName(a)
		if lastName(types.ExprString(a)) == w.name || root == "" && !isFuncLit(a) {
			return false
		}
		return at.keys[root] || at.vars[root] || isFuncLit(a) && mentionsAny(a, at.keys)
	})
}

func isFuncLit(x ast.Expr) bool {
	_, ok := x.(*ast.FuncLit)
	return ok
}

// takesAny tells whether anything is taken out of the container within a node.
func (w *ways) takesAny(n ast.Node) bool {
	return hasCall(n, func(call *ast.CallExpr) bool { return removesFrom(call, w.name) || w.calledTakes(call, 0) })
}

func (w *ways) calledTakes(call *ast.CallExpr, depth int) bool {
	if depth == maxWay {
		return false
	}
	for _, d := range w.k.funcs[calledName(call)] {
		if hasCall(d.Body, func(c *ast.CallExpr) bool { return removesFrom(c, w.name) || c != call && w.calledTakes(c, depth+1) }) {
			return true
		}
	}
	return false
}

// answered tells whether a statement receives from what was put in: whoever sent or closed it
// has looked it up, and takes it out as well as any.
func answered(s ast.Node, vars map[string]bool) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		if x, ok := n.(*ast.UnaryExpr); ok && x.Op == token.ARROW && mentionsAny(x.X, vars) {
			found = true
		}
		return !found
	})
	return found
}

// givesOn tells whether a statement gives what was put in to a call or a goroutine, sends it,
// or stores it.
func givesOn(s ast.Stmt, vars map[string]bool) bool {
	switch s := s.(type) {
	case *ast.SendStmt:
		return mentionsAny(s.Value, vars)
	case *ast.AssignStmt:
		for i, lhs := range s.Lhs {
			if _, ok := lhs.(*ast.Ident); !ok && mentionsAny(s.Rhs[min(i, len(s.Rhs)-1)], vars) {
				return true
			}
		}
	}
	return hasCall(s, func(call *ast.CallExpr) bool { return mentionsAny(call, vars) })
}

// returns follows what a return calls with what was put in; else the way ends there.
func (w *ways) returns(s *ast.ReturnStmt, at way) way {
	at.ends = true
	if !at.in {
		return at
	}
	for _, r := range s.Results {
		call, ok := r.(*ast.CallExpr)
		if !ok || !slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return mentionsAny(a, at.vars) }) {
			continue
		}
		if all := w.k.fitting(call, anyArgument); len(all) == 1 && w.depth < maxWay && !w.seen[all[0].FuncDecl] {
			w.into(all[0], call, at)
			return at
		}
	}
	switch {
	case w.takes(s, at):
		w.removes = true
	case slices.ContainsFunc(s.Results, func(r ast.Expr) bool { return mentionsAny(r, at.vars) }):
		// The caller has it, and may take it out.
	case len(s.Results) > 0 && isFailure(s.Results[len(s.Results)-1], at.fails):
		w.leaves = append(w.leaves, leftIn{at.file, w.k.c.parse(at.file).fset.PositionFor(s.Pos(), false).Line, w.from})
	}
	return at
}

// isFailure tells of the last result of a return that it is an error: a variable that a
// condition around has compared with nil, an error by its name, or a call that makes one.
func isFailure(x ast.Expr, fails string) bool {
	text := types.ExprString(x)
	if text == fails {
		return true
	}
	if call, ok := x.(*ast.CallExpr); ok {
		text = types.ExprString(call.Fun)
		return text == "errors.New" || text == "fmt.Errorf" || strings.HasSuffix(text, ".Err") || text == "context.Cause" || fails != "" && mentions(x, fails)
	}
	name := lastName(text)
	return strings.HasPrefix(name, "Err") || strings.HasPrefix(name, "err") && len(name) > 3
}

// into follows the ways of a function that is called with what was put in, and whose result is
// returned.
func (w *ways) into(fn declaration, call *ast.CallExpr, at way) {
	w.seen[fn.FuncDecl] = true
	inner := way{file: fn.file, vars: map[string]bool{}, keys: map[string]bool{}, in: true}
	for i, p := range parameters(fn.Type) {
		if i < len(call.Args) {
			inner.vars[p], inner.keys[p] = mentionsAny(call.Args[i], at.vars), mentionsAny(call.Args[i], at.keys)
		}
	}
	before := w.k.fn
	w.depth++
	w.k.fn = fn.FuncDecl
	w.stmts(fn.Body.List, inner)
	w.k.fn = before
	w.depth--
}

// tellLeft says of a container where entries are taken out of it, and which ways leave them in;
// and what else may take these out later.
func (c sourceHolders) tellLeft(s keepsAt, h *holding) {
	found := c.leavesOf(s)
	r, known := removersOf(c.code, s)
	others, mine := r.apart(found.own, found.via)
	var at, ways []string
	for _, m := range mine {
		at = append(at, fmt.Sprintf("%s:%d", baseName(m.file), m.line))
	}
	slices.Sort(at)
	if len(found.leaves) == 0 || known && len(at)+len(others) == 0 {
		tellOthers(c.code, s, others, h)
		return
	}
	left := found.leaves
	for _, l := range left[:min(3, len(left))] {
		ways = append(ways, fmt.Sprintf("%s:%d", baseName(l.file), l.line))
		h.shows = append(h.shows, c.shownAt(l.file, l.line, "this return leaves the entry in %s", s.name))
	}
	which, leave := "the return at "+andList(ways), "leaves its entry in it"
	if len(ways) > 1 {
		which, leave = "the returns at "+andList(ways), "leave their entries in it"
	}
	if !known {
		h.says += fmt.Sprintf("; %s %s, unless something else deletes it", which, leave)
		h.advice = fmt.Sprintf("Check whether anything deletes later what %s may leave in %s. If nothing does, delete the entry before that.", which, s.name)
		return
	}
	if len(others) == 0 {
		h.says += fmt.Sprintf("; entries are deleted at %s only, and %s %s", andList(at), which, leave)
		h.advice = fmt.Sprintf("Delete the entry from %s on every way out, also at %s: for instance with defer, right after %s. A limit or an expiry would only hide what is left there.", s.name, andList(ways), left[0].from)
		h.lets = Evidence{}
		return
	}
	h.says += fmt.Sprintf("; %s %s, unless %s", which, leave, unlessList(others))
	h.advice = fmt.Sprintf("If it is not certain that %s releases such an entry soon, delete it from %s before %s as well. But if something still needs it after that, such as an answer that comes late, it has to stay until then: limit how long.", releaseList(others), s.name, which)
	letBy(c.code, others[0], h)
}

// tellOthers says of a container what else may take entries out of it.
func tellOthers(c *code, s keepsAt, others []remover, h *holding) {
	if len(others) == 0 || others[0].kind == unseen {
		return
	}
	if h.lets.File == "" {
		h.advice = fmt.Sprintf("It goes into %s. Check whether %s releases what is in it soon enough, and bound it if not.", s.container, releaseList(others))
	}
	letBy(c, others[0], h)
	tellNotStarted(c, s, others, h)
}

// letBy shows where something else takes entries out.
func letBy(c *code, m remover, h *holding) {
	text := map[removerKind]string{deletes: "entries are deleted here", replaces: "the map is replaced here", drops: "the " + m.of + " with the map is dropped here", escapes: "the map is passed on here"}[m.kind]
	if text == "" {
		return
	}
	h.lets = c.shownAt(m.file, m.line, "%s", text)
	if !slices.ContainsFunc(h.shows, func(e Evidence) bool { return evidenceLine(e) == evidenceLine(h.lets) }) {
		h.shows = append(h.shows, h.lets)
	}
}

// maxNamed is how many places are named that may take entries out, chosen.
const maxNamed = 2

// unlessList says what the first of them may do: "a (x.go:1) deletes it later, or b (x.go:2)
// replaces the map".
func unlessList(all []remover) string {
	var words []string
	for _, m := range all[:min(maxNamed, len(all))] {
		words = append(words, m.String())
	}
	return strings.Join(words, ", or ")
}

// releaseList names the functions that they are in: "a (x.go:1) or b (x.go:2)".
func releaseList(all []remover) string {
	var words []string
	for _, m := range all[:min(maxNamed, len(all))] {
		if m.kind == unseen {
			words = append(words, m.in)
			continue
		}
		words = append(words, fmt.Sprintf("%s (%s:%d)", m.in, baseName(m.file), m.line))
	}
	return strings.Join(words, " or ")
}

// andList joins words: "a, b and c".
func andList(words []string) string {
	if n := len(words) - 1; n > 0 {
		return strings.Join(words[:n], ", ") + " and " + words[n]
	}
	return strings.Join(words, "")
}
