package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Whether a line encodes all of a list or map, to write it to a file, each time that one entry more has been put into it.

// wholeEncoded is such a list or map, by the source.
type wholeEncoded struct {
	name string   // of what grows: "s.history"
	adds codeLine // where an entry is put into it
	list bool     // it is appended to
	grow bool     // each entry is one more: of a map the key may be there already
	loop codeLine // around both; the zero value where it is done for each request
	// times is how often the entry is put in, in the run that counts; 0 where that is not known.
	times int64
}

// grownSearch follows what a line encodes outward, to where something is put into it.
type grownSearch struct {
	d   *derivations
	way []stack.Frame // the program's frames, the one that encodes first
	// of is the variable or field that has what is encoded.
	of types.Object
	// encodes is the call that encodes it, in the first of called.
	encodes ast.Node
	// called are the functions on the way so far, writes tells that one of them writes a file.
	called []*ast.FuncDecl
	writes bool
}

// userWay are the program's frames of a line's heaviest stack, from the line outward.
func userWay(h *hit, line *hitLine) (way []stack.Frame) {
	scope, from := h.in.Session.Scope(), false
	for _, f := range facts.Frames(h.p.Stacks, line.heavy) {
		if from = from || f == line.Caller; from && scope.IsUser(f) {
			way = append(way, f)
		}
	}
	return way
}

// forRequests tells of a line that its heaviest stack begins with what a server starts for a connection or a request.
func forRequests(h *hit, line *hitLine) bool {
	return slices.ContainsFunc(facts.Frames(h.p.Stacks, line.heavy), func(f stack.Frame) bool {
		return slices.ContainsFunc(serverRoots, func(root string) bool { return strings.HasPrefix(f.Func, root) })
	})
}

// wholeOfGrowing finds what a line encodes anew for each entry that is put into it.
func wholeOfGrowing(h *hit, line *hitLine) (w wholeEncoded, ok bool) {
	return wholeAlong(h.in.code, userWay(h, line), lastName(line.Callee), forRequests(h, line))
}

// wholeAlong is that by a way from the line outward, the name of what encodes, and whether the program is a service.
func wholeAlong(c *code, way []stack.Frame, encodes string, serves bool) (w wholeEncoded, ok bool) {
	counts := blockCountsOf(c)
	s := &grownSearch{d: derivationsWith(c, counts), way: way}
	var x ast.Expr
	for i, f := range s.way {
		in, found := s.d.at(f)
		if !found || i > 0 && s.called[i-1] == nil {
			return w, false
		}
		call, value := s.callAt(i, in, encodes, x)
		if call == nil || value == nil || s.batched(in, call) {
			return w, false
		}
		if s.note(in); i == 0 {
			s.encodes = call
		}
		if x, ok = s.follow(in, value); !ok {
			return w, false
		}
		if adds, to, list := s.addsBefore(in, call); adds != nil {
			if !s.writes || s.emptied(to) {
				return w, false
			}
			w = wholeEncoded{name: types.ExprString(to), adds: s.d.placeOf(adds), list: list, grow: list || setsByLength(adds)}
			if counts != nil {
				added, known := timesReached(counts, in.decl, adds)
				if w.times, ok = timesReached(counts, s.called[0], s.encodes); known && ok && (w.times < leastStored || 2*w.times < added) {
					return w, false
				}
			}
			w.loop, ok = s.turns(i, in, call, adds)
			return w, ok || serves && s.outlives(i, in, to)
		}
	}
	return w, false
}

// timesReached is how often a node of a function was come to.
func timesReached(counts *countedTurns, decl *ast.FuncDecl, n ast.Node) (int64, bool) {
	if decl == nil {
		return 0, false
	}
	around := nodesAround(decl.Body, n)
	return counts.times(append([]ast.Node{decl}, around[:max(0, len(around)-1)]...), n)
}

// callAt is the call of a frame's line that leads to the line that encodes, or is it; and what it is given of what is encoded, in the words of that
// frame's function.
func (s *grownSearch) callAt(i int, in frameCode, name string, x ast.Expr) (call *ast.CallExpr, value ast.Expr) {
	if i > 0 {
		name = s.called[i-1].Name.Name
	}
	calls := s.d.callsOn(in, s.way[i], name)
	if len(calls) != 1 {
		return nil, nil
	}
	if call = calls[0]; i == 0 {
		if len(call.Args) == 0 {
			return nil, nil
		}
		return call, call.Args[0]
	}
	if isGiven(s.called[i-1], s.of) {
		return call, argumentFor(s.d, s.called[i-1], call, s.of)
	}
	return call, x
}

// note adds a function to the way; one without a name ends it.
func (s *grownSearch) note(in frameCode) {
	if in.lit != nil {
		s.called = append(s.called, nil)
	} else {
		s.called = append(s.called, in.decl)
	}
	s.writes = s.writes || hasCall(in.body(), func(call *ast.CallExpr) bool {
		return slices.Contains([]string{"WriteFile", "Rename", "Create", "CreateTemp", "OpenFile"}, ownCallName(call))
	})
}

// follow finds the variable or field that has what is encoded. A local variable is followed to what it is made of.
func (s *grownSearch) follow(in frameCode, x ast.Expr) (ast.Expr, bool) {
	for range maxWay {
		x = ast.Unparen(unrefer(ast.Unparen(x)))
		switch e := x.(type) {
		case *ast.SelectorExpr:
			s.of = s.d.field(e)
			if v, ok := s.d.t.info.Uses[e.Sel].(*types.Var); s.of == nil && ok && ofPackage(v) {
				s.of = v
			}
			return x, s.of != nil
		case *ast.Ident:
			if s.of = s.d.variable(e); s.of == nil {
				return nil, false
			}
			defs := s.d.definitions(in.decl)[s.of]
			if isLocal(in.decl, s.of) && !isGiven(in.decl, s.of) && len(defs) == 1 && defs[0].x != nil && !defs[0].ranged && !defs[0].part {
				if _, sel := ast.Unparen(unrefer(defs[0].x)).(*ast.SelectorExpr); sel {
					x = defs[0].x
					continue
				}
			}
			return x, true
		}
		return nil, false
	}
	return nil, false
}

// batched tells of a call that it is not made each time: behind a condition on a length, an amount or a time.
func (s *grownSearch) batched(in frameCode, call ast.Node) bool {
	if slices.ContainsFunc(nodesAround(in.body(), call), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			return covers(n.Body, call) && onAmount(n.Cond)
		case *ast.CommClause, *ast.DeferStmt, *ast.GoStmt:
			return true
		}
		return false
	}) {
		return true
	}
	return hasAny(in.body(), func(n ast.Node) bool { // or what comes before ends the function there
		guard, ok := n.(*ast.IfStmt)
		if !ok || guard.End() > call.Pos() || !onAmount(guard.Cond) {
			return false
		}
		last, ok := guard.Body.List, len(guard.Body.List) > 0
		if !ok {
			return false
		}
		_, ends := last[len(last)-1].(*ast.ReturnStmt)
		_, goes := last[len(last)-1].(*ast.BranchStmt)
		return ends || goes
	})
}

// onAmount tells of a condition that it asks for a time, compares which of two is more, or takes the rest of a division. To compare a length with zero
// asks whether there is something.
func onAmount(cond ast.Expr) bool {
	return hasAny(cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			return slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ, token.REM}, n.Op) && !isZero(n.Y)
		case *ast.CallExpr:
			return slices.Contains([]string{"Since", "Until", "Now", "Before", "After", "Sub"}, calledName(n))
		}
		return false
	})
}

// addsBefore finds the statement of a function that puts an entry into what is encoded, before it does so, in the same turns of the same loops.
func (s *grownSearch) addsBefore(in frameCode, call ast.Node) (adds ast.Node, to ast.Expr, list bool) {
	eachNode(in.body(), func(n ast.Node, around []ast.Node) {
		a, ok := n.(*ast.AssignStmt)
		if !ok || adds != nil || a.Pos() > call.Pos() || withinLit(around) || s.batched(in, a) {
			return
		}
		if i := innermostLoop(around); i >= 0 && !covers(around[i], call) {
			return // many of them, and then all are encoded
		}
		if add, x := addsByAppend(a); add != nil && s.has(x) {
			adds, to, list = a, x, true
		} else if x, ok := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr); ok && len(a.Lhs) == 1 && a.Tok == token.ASSIGN && s.isMap(x.X) && s.has(x.X) {
			adds, to = a, x.X
		}
	})
	return adds, to, list
}

func (s *grownSearch) isMap(x ast.Expr) bool {
	t := s.d.t.typeOf(x)
	if t == nil {
		return false
	}
	_, is := t.Underlying().(*types.Map)
	return is
}

// has tells of a place that it is what is encoded, or an exported field of that.
func (s *grownSearch) has(x ast.Expr) bool {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.Ident:
			return s.d.variable(e) == s.of
		case *ast.SelectorExpr:
			if field := s.d.field(e); field == s.of || field == nil && s.d.t.info.Uses[e.Sel] == s.of {
				return true
			}
			if !e.Sel.IsExported() {
				return false
			}
			x = e.X
		default:
			return false
		}
	}
}

// emptied tells that the sources take entries out of the list: then it is a batch, or has a bound.
func (s *grownSearch) emptied(to ast.Expr) (found bool) {
	place := func(x ast.Expr) types.Object {
		if sel, ok := ast.Unparen(x).(*ast.SelectorExpr); ok {
			if field := s.d.field(sel); field != nil {
				return field
			}
			return s.d.t.info.Uses[sel.Sel]
		}
		return s.d.variable(ast.Unparen(x))
	}
	of := place(to)
	for _, decl := range s.d.t.decls {
		found = found || hasAny(decl.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				return len(n.Lhs) == len(n.Rhs) && n.Tok == token.ASSIGN && slices.ContainsFunc(n.Lhs, func(lhs ast.Expr) bool {
					if place(lhs) != of || of == nil {
						return false
					}
					add, _ := addsByAppend(n)
					return add == nil && (slices.Contains(s.called, decl) || hasAny(n, func(x ast.Node) bool { _, cut := x.(*ast.SliceExpr); return cut || isNil(x) }))
				})
			case *ast.CallExpr:
				return isNamed(n.Fun, "clear") && len(n.Args) == 1 && place(n.Args[0]) == of
			}
			return false
		})
	}
	return found
}

func isNil(n ast.Node) bool { x, ok := n.(ast.Expr); return ok && isNamed(x, "nil") }

// outlives tells of what something is put into that it is there before a request, as far as that shows: it is of a package, or reached from the receiver or
// the parameters of the functions on the way, or from what the function around a literal has.
func (s *grownSearch) outlives(i int, in frameCode, to ast.Expr) bool {
	for {
		root := s.d.variable(innermost(unrefer(ast.Unparen(to))))
		switch {
		case root == nil:
			return false
		case !isLocal(in.decl, root), in.lit != nil && root.Pos() < in.lit.Pos():
			return true
		case !isGiven(in.decl, root) || in.lit != nil:
			return false
		}
		callee := in.decl
		if i++; i == len(s.way) {
			return true
		}
		var ok bool
		if in, ok = s.d.at(s.way[i]); !ok {
			return false
		}
		calls := s.d.callsOn(in, s.way[i], callee.Name.Name)
		if len(calls) != 1 {
			return false
		}
		if to = argumentFor(s.d, callee, calls[0], root); to == nil {
			return false
		}
	}
}

// turns finds the loop in whose turns an entry is put in and all is encoded: around both, or around a call that leads to them. What is encoded has to be
// there before it.
func (s *grownSearch) turns(i int, in frameCode, call, adds ast.Node) (loop codeLine, ok bool) {
	root := innermost(ast.Unparen(call.(*ast.CallExpr).Fun))
	for j := i; j < len(s.way); j++ {
		if j > i {
			if in, ok = s.d.at(s.way[j]); !ok || s.called[len(s.called)-1] == nil {
				return loop, false
			}
			calls := s.d.callsOn(in, s.way[j], s.called[len(s.called)-1].Name.Name)
			if len(calls) != 1 || s.batched(in, calls[0]) {
				return loop, false
			}
			call, root = calls[0], innermost(ast.Unparen(calls[0].Fun))
			s.note(in)
		}
		around := nodesAround(in.body(), call)
		for k := innermostLoop(around); k >= 0; k = innermostLoop(around[:k]) {
			if l := around[k]; !(j == i && (!covers(l, adds) || covers(l, declaredAt{s.of}))) && !(s.d.variable(root) != nil && covers(bodyOfLoop(l), declaredAt{s.d.variable(root)})) {
				return s.d.placeOf(l), true
			}
		}
	}
	return loop, false
}

// declaredAt is the place of a variable in the source.
type declaredAt struct{ types.Object }

// End is where it begins as well.
func (d declaredAt) End() token.Pos { return d.Pos() }

// setsByLength tells of what sets an entry of a map that its key is how many there are, so that it is a new one each time.
func setsByLength(adds ast.Node) bool {
	a, ok := adds.(*ast.AssignStmt)
	return ok && slices.ContainsFunc(a.Lhs, func(lhs ast.Expr) bool {
		x, is := ast.Unparen(lhs).(*ast.IndexExpr)
		return is && hasCall(x.Index, func(call *ast.CallExpr) bool {
			return isNamed(call.Fun, "len") && len(call.Args) == 1 && types.ExprString(call.Args[0]) == types.ExprString(x.X)
		})
	})
}

// tell says so in a finding.
func (w wholeEncoded) tell(h *hit, f *Finding) {
	f.Title = "Quadratic time: all of what grows is encoded and written for each entry that is added"
	if !w.grow {
		f.Title = "All of a map is encoded and written for each entry that is set"
	}
	each, behind := "for each request", "after a while, with what has come until then"
	if w.loop.file != "" {
		each, behind = "in each turn of the loop at "+w.loop.text(), "behind the loop at "+w.loop.text()+", or after a while"
	}
	change := "one entry of " + w.name + " is set"
	if w.list {
		change = w.name + " grows by one"
	}
	f.Summary += fmt.Sprintf("; according to the source, %s (%s) %s, and each time all of it is encoded and written", change, w.adds.text(), each)
	if w.times > 0 {
		f.Summary += fmt.Sprintf(": %s in the run that counts", unit.Plural(int(w.times), "time"))
	}
	f.Evidence = append(f.Evidence, h.in.code.shownAt(w.adds.file, w.adds.line, "an entry is put into %s here", w.name))
	f.Advice = "Write it once, " + behind + "; or append the new entry alone to the file (os.O_APPEND, a line of JSON each), and read all lines at the start. Leaving out white space or another encoder only makes each time cheaper: the number of bytes still grows with the square of the entries."
	if !w.grow {
		f.Advice = "Write it once, " + behind + "; or append what has changed alone to the file (os.O_APPEND, a line of JSON each, of which the last one of a key counts), and write all of it anew once the file has become much longer than that."
		f.Doubts = append(f.Doubts, "whether the map grows is not known: an entry that takes the place of another one makes it no larger")
	}
	f.Doubts = append(f.Doubts, "what is written after a while is lost if the program dies before; a line that is appended is not, but the last one may be cut")
}
