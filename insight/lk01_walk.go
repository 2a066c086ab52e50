package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
	"loupe/value/unit"
)

// A lock may be held for long because who holds it goes through all that it guards, though hardly anything of that is due.

// walkedTitle is the title of a finding about such a lock.
const walkedTitle = "Mutex contention: a list or a map is gone through while the lock is held"

// lockWalk is a loop under a lock through a list or a map that others can reach, too.
type lockWalk struct {
	at    codeLine
	over  string // what it goes through, as the source has it
	isMap bool
	// cond is the condition that turns begin with which do more than look, asked at line; nil where each does something.
	cond ast.Expr
	line codeLine
	kind scanKind // what it asks
	// turns and acting are those of the run that counts, size how many elements there were then on average; 0 where nothing was counted.
	turns, acting, size int64
}

// walkFinder reads the functions on stacks for such loops.
type walkFinder struct {
	in    *Input
	d     *derivations
	known map[ast.Stmt]*lockWalk
}

// walkHeld is the loop in which a holder spends most of the time that others wait for a lock, by the account of units or by the samples of the work under
// the lock of that line; nil where there is none.
func walkHeld(in *Input, site stack.Frame, h *lockHolder, t *traced) *lockWalk {
	if h.does.Kind.Key() != "running" {
		return nil
	}
	w := &walkFinder{in, derivationsWith(in.code, blockCountsOf(in.code)), map[ast.Stmt]*lockWalk{}}
	by, all, heaviest := map[*lockWalk]int64{}, int64(0), (*lockWalk)(nil)
	add := func(frames []stack.Frame, weight int64) {
		below := slices.IndexFunc(frames, func(f stack.Frame) bool { return sameFunction(f, h.at) })
		if all += weight; below < 0 {
			return
		}
		if x := w.outermost(frames, below, h.taken); x != nil {
			if by[x] += weight; heaviest == nil || by[x] > by[heaviest] {
				heaviest = x
			}
		}
	}
	for _, row := range h.rows {
		add(t.Frames(row.Cause.Site.Stack), int64(row.Time))
	}
	if heaviest != nil && float64(by[heaviest]) >= halfOfAll*float64(all) {
		return heaviest
	}
	by, all, heaviest = map[*lockWalk]int64{}, 0, nil
	s := spentOf(in)
	marks := s.underLock(in.code, site, false)
	if marks == nil || s.weight(marks) < enoughHeld {
		return nil
	}
	for i, id := range s.stacks {
		if marks[i] {
			add(framesOf(s.v.t, id), s.counts[i])
		}
	}
	if heaviest == nil || float64(by[heaviest]) < halfOfAll*float64(all) {
		return nil
	}
	return heaviest
}

// framesOf are the frames of a stack.
func framesOf(t *stack.Table, id stack.ID) (all []stack.Frame) {
	for _, x := range t.Frames(id) {
		all = append(all, t.Frame(x))
	}
	return all
}

// outermost is the outermost such loop from a frame of the holder on towards the leaf, behind the line that takes the lock.
func (w *walkFinder) outermost(frames []stack.Frame, below, taken int) *lockWalk {
	for k := below; k >= 0; k-- {
		in, ok := w.d.at(frames[k])
		if !ok {
			continue
		}
		var loops []ast.Stmt
		ast.Inspect(in.body(), func(n ast.Node) bool {
			if lit, is := n.(*ast.FuncLit); is && lit != in.lit {
				return false
			}
			if bodyOfLoop(n) != nil && coversLine(w.d, n, frames[k].Line) && (k < below || taken > 0 && w.d.placeOf(n).line > taken) {
				loops = append(loops, n.(ast.Stmt))
			}
			return true
		})
		for _, stmt := range loops {
			x, known := w.known[stmt]
			if !known {
				if over := overOf(stmt); over != nil && (isLinked(stmt) || isWalked(w.d.t.typeOf(over))) && w.shared(frames, k, below, in, over, 0) {
					x = w.walk(in, stmt, over)
				}
				w.known[stmt] = x
			}
			if x != nil {
				return x
			}
		}
	}
	return nil
}

// overOf is what a loop goes through; nil where that is nothing by the source.
func overOf(stmt ast.Stmt) ast.Expr {
	over := ast.Unparen(goneThrough(stmt))
	if call, ok := over.(*ast.CallExpr); ok && len(call.Args) == 1 && slices.Contains([]string{"maps.Keys", "maps.Values", "maps.All", "slices.Values", "slices.All", "slices.Backward"}, types.ExprString(call.Fun)) {
		over = ast.Unparen(call.Args[0])
	}
	switch {
	case isLinked(stmt):
		return steppedFrom(stmt.(*ast.ForStmt).Init.(*ast.AssignStmt).Rhs[0])
	case isNamed(over, "it"):
		return nil
	}
	return over
}

// isLinked tells of a loop that it goes along a linked list: for e := l.Front(); e != nil; e = e.Next().
func isLinked(stmt ast.Stmt) bool {
	loop, ok := stmt.(*ast.ForStmt)
	if !ok {
		return false
	}
	first, is := loop.Init.(*ast.AssignStmt)
	next, goes := loop.Post.(*ast.AssignStmt)
	return is && goes && len(first.Rhs) == 1 && len(next.Rhs) == 1 && types.ExprString(first.Lhs[0]) == types.ExprString(next.Lhs[0]) && next.Tok == token.ASSIGN &&
		steppedFrom(next.Rhs[0]) != next.Rhs[0] && rootName(steppedFrom(next.Rhs[0])) == types.ExprString(next.Lhs[0])
}

// steppedFrom is what a method without arguments is called on, or what a field is of; else the expression itself.
func steppedFrom(x ast.Expr) ast.Expr {
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok && len(call.Args) == 0 {
		x = call.Fun
	}
	if sel, ok := ast.Unparen(x).(*ast.SelectorExpr); ok {
		return sel.X
	}
	return x
}

// isWalked tells of a type that a loop over it goes through elements that are there: not a channel, a number or a function.
func isWalked(of types.Type) bool {
	if of == nil {
		return false
	}
	if p, ok := of.Underlying().(*types.Pointer); ok {
		of = p.Elem()
	}
	switch of.Underlying().(type) {
	case *types.Map, *types.Slice, *types.Array, *types.Struct:
		return true
	}
	return false
}

// shared tells of an expression in the function of a frame that it is part of what the lock guards, or of a variable of a package: it begins with what the
// lock is a field of, as far as calls hand that on from the frame of the holder.
func (w *walkFinder) shared(frames []stack.Frame, k, below int, in frameCode, x ast.Expr, depth int) bool {
	id, ok := innermost(unrefer(ast.Unparen(x))).(*ast.Ident)
	if !ok || depth > 2*deepest {
		return false
	}
	v := w.d.variable(id)
	if v == nil {
		return false
	}
	if v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
		return true
	}
	switch {
	case !isLocal(in.decl, v):
		return false
	case isGiven(in.decl, v) && k == below:
		return slices.ContainsFunc(w.in.code.heldIn(frames[k]), func(h held) bool { return h.has(frames[k].Line) && rootOfText(h.lock) == id.Name })
	case isGiven(in.decl, v) && k < below:
		outer, ok := w.d.at(frames[k+1])
		if !ok {
			return false
		}
		calls := w.d.callsOn(outer, frames[k+1], ownName(frames[k].Func))
		if len(calls) != 1 {
			return false
		}
		given := argumentFor(w.d, in.decl, calls[0], v)
		return given != nil && w.shared(frames, k+1, below, outer, given, depth+1)
	}
	if made := madeOf(in.decl, id.Name); made != nil {
		return w.shared(frames, k, below, in, made, depth+1)
	}
	within := false // a turn of another loop has it
	ast.Inspect(in.decl.Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.RangeStmt); ok && (r.Key != nil && w.d.variable(r.Key) == v || r.Value != nil && w.d.variable(r.Value) == v) {
			within = within || w.shared(frames, k, below, in, r.X, depth+1)
		}
		return !within
	})
	return within
}

// walk is what a loop does in its turns.
func (w *walkFinder) walk(in frameCode, stmt ast.Stmt, over ast.Expr) *lockWalk {
	x := &lockWalk{at: w.d.placeOf(stmt), over: types.ExprString(over), isMap: isMap(w.d.t.typeOf(over)), kind: scanOther}
	body := bodyOfLoop(stmt)
	asks := selectsIn(w.d, in, body)
	if counts := blockCountsOf(w.in.code); counts != nil {
		if l, ok := counts.loopAt(stmt); ok && l.Looked > 0 {
			x.size = l.Size / l.Looked
		}
		t, ok := counts.of(in, stmt)
		if n, counted := counts.entered(body.Lbrace); counted {
			x.turns, x.acting = n, n
		}
		if ok {
			if x.acting, asks = t.acting, t.asks; float64(t.acting) > mostActing*float64(t.all) {
				asks = nil
			}
		} else if x.turns > 0 {
			if acting, only := w.lets(counts, asks, x.turns); only {
				x.acting = acting
			} else {
				asks = nil // each turn does something
			}
		}
	}
	if asks == nil {
		return x
	}
	x.cond, x.line = asks.Cond, w.d.placeOf(asks)
	s := &scanFinder{in: w.in, c: &countedTurns{d: w.d}}
	x.kind = w.asked(s, asks.Cond, s.element(stmt, asks).names)
	return x
}

// lets is how many of a loop's turns a condition let through that is the result of a function which only asks, and at most holds a lock for it; false of another
// one, or where it let many through.
func (w *walkFinder) lets(counts *countedTurns, asks *ast.IfStmt, turns int64) (n int64, only bool) {
	if asks == nil || w.answer(asks.Cond) == nil {
		return 0, false
	}
	if n, only = counts.entered(asks.Body.Lbrace); onlyGoesOn(asks.Body.List) {
		n = turns - n
	}
	return n, only && float64(n) <= mostActing*float64(turns)
}

// answer is what a condition asks that is a call of a function, or the opposite of one: what this returns, where it does nothing but take a lock besides.
func (w *walkFinder) answer(cond ast.Expr) ast.Expr {
	cond = ast.Unparen(cond)
	if not, ok := cond.(*ast.UnaryExpr); ok && not.Op == token.NOT {
		cond = ast.Unparen(not.X)
	}
	call, ok := cond.(*ast.CallExpr)
	if !ok || w.d.t.callee(call) == nil {
		return nil
	}
	decls := w.d.declsOf(w.d.t.callee(call))
	if len(decls) != 1 || decls[0].Body == nil {
		return nil
	}
	list := slices.DeleteFunc(slices.Clone(decls[0].Body.List), locksOnly)
	if len(list) != 1 {
		return nil
	}
	ret, ok := list[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return nil
	}
	return ret.Results[0]
}

// locksOnly tells of a statement that it takes a lock or lets it go, at once or at the end.
func locksOnly(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt:
		return onlyLocks(s.X)
	case *ast.DeferStmt:
		return onlyLocks(s.Call)
	}
	return false
}

// asked is what a condition asks of an element; of a call of a function that returns one, that one.
func (w *walkFinder) asked(s *scanFinder, cond ast.Expr, names map[string]bool) scanKind {
	kind, _ := s.asks(cond, names)
	if not, ok := ast.Unparen(cond).(*ast.UnaryExpr); ok && not.Op == token.NOT {
		cond = not.X
	}
	call, ok := ast.Unparen(cond).(*ast.CallExpr)
	if !ok || kind == scanOrder || kind == scanCompare {
		return kind
	}
	fn := w.d.t.callee(call)
	if fn == nil {
		return kind
	}
	decls := w.d.declsOf(fn)
	answer := w.answer(call)
	if answer == nil {
		return kind
	}
	inner := map[string]bool{}
	for _, list := range []*ast.FieldList{decls[0].Recv, decls[0].Type.Params} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, id := range field.Names {
				if given := argumentFor(w.d, decls[0], call, w.d.variable(id)); given != nil && mentionsAny(given, names) {
					inner[id.Name] = true
				}
			}
		}
	}
	kind, _ = s.asks(answer, inner)
	return kind
}

// selectsIn is the condition in a loop's body that turns begin with which do more than look, by the source: before it, they set variables of their own; nil where
// each turn does something.
func selectsIn(d *derivations, in frameCode, body *ast.BlockStmt) *ast.IfStmt {
	for i, s := range body.List {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE || hasCall(s, func(*ast.CallExpr) bool { return true }) {
				return nil
			}
		case *ast.IfStmt:
			last := i == len(body.List)-1
			if s.Else == nil && !asksFailure(d, in.decl, s.Cond) && (last || onlyGoesOn(s.Body.List)) {
				return s
			}
			return nil
		default:
			return nil
		}
	}
	return nil
}

// says is it as a clause of a summary.
func (w *lockWalk) says() string {
	text := fmt.Sprintf(", in the loop at %s through %s", w.at.text(), w.over)
	if w.size > 0 {
		text += fmt.Sprintf(" (%s elements, in the run that counts)", unit.About(w.size))
	}
	return text
}

// advice is what to do about it; rest is what else is said of work under the lock.
func (w *lockWalk) advice(rest string) string {
	through := fmt.Sprintf("The lock is held while the loop at %s goes through %s. ", w.at.text(), w.over)
	part := "Or go through a part of it at a time and let the lock go in between, if nothing needs all of it as it is at one moment"
	if w.isMap {
		part += " (a map has no place to go on from: keep its keys in a list as well, or have several maps with a lock each)"
	}
	part += "."
	if w.cond == nil {
		if rest == "" {
			return through + "G" + strings.TrimPrefix(part, "Or g")
		}
		return through + rest + " " + part
	}
	few := fmt.Sprintf("If the condition at %s lets few through, find these", w.line.text())
	switch {
	case w.turns > 0 && w.acting == 0:
		few = fmt.Sprintf("In the run that counts, the condition at %s let none of %s through. Find those that it lets through", w.line.text(), unit.About(w.turns))
	case w.turns > 0:
		few = fmt.Sprintf("In the run that counts, the condition at %s let %s of %s through. Find these", w.line.text(), unit.Count(w.acting), unit.About(w.turns))
	}
	few += " without going through the others: "
	switch w.kind {
	case scanOrder:
		few += "keep the elements in the order of what it compares as well (a heap, container/heap, or a sorted list), change the place of one where that value changes, and stop at the first that it does not let through. "
	case scanState:
		few += "keep those for which it is true in a list or a map of their own, to which they are added where that becomes true and from which they are removed where it ends. "
	default:
		few += "keep them in groups or under a key by what it asks (an index). "
	}
	return through + few + part
}
