package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"loupe/analysis/repetition"
	"loupe/value/stats"
	"loupe/value/unit"
)

// Searches from a place in a list to its end that find nothing, one from each place: a closer that does not come, looked for behind every opener. The
// rest of the list is read as often as there are openers, so that the time grows with the square of its length.

// failedTitle is the title of such searches.
const failedTitle = "The same rest of a list is searched again and again, and nothing is found"

// mostFound is the part of the searches that may find something. Chosen.
const mostFound = 0.1

// fails is a loop over the same again, if it begins at a place that is given and nearly always goes on to the end without what it looks for, which
// is one of a few.
func (s *scanFinder) fails(in frameCode, stmt ast.Stmt, over repetition.Loop) *countedScan {
	loop, ok := stmt.(*ast.ForStmt)
	if !ok || loop.Cond == nil {
		return nil
	}
	turns, ok := s.c.entered(loop.Body.Lbrace)
	if !ok || turns < enoughTurns || turns < fewInLoop*over.Entered {
		return nil
	}
	x := &countedScan{turnCounts: turnCounts{all: turns, asked: turns}, over: over, first: s.c.d.placeOf(stmt), name: types.ExprString(goneThrough(stmt)), kind: scanFailed}
	own := map[string]bool{} // variables that the turns set
	work := unneededWork{s: &unneededScan{d: s.c.d}, in: in}
	looks := func(n ast.Node) bool {
		_, ok := work.harmless(s.c.d, n)
		return ok && !writesBehind(s.c.d, n)
	}
	for _, n := range loop.Body.List {
		exit, is := n.(*ast.IfStmt)
		if !is {
			if !setsOnly(n, own) || !looks(n) {
				return nil
			}
			continue
		}
		found, counted := s.c.entered(exit.Body.Lbrace)
		if exit.Else != nil || !leavesLoop(exit.Body.List) || !counted || exit.Init != nil && !looks(exit.Init) || !looks(exit.Cond) {
			return nil
		}
		x.asks, x.decides, x.turnCounts.at = exit, exit.Cond, s.c.d.placeOf(exit)
		x.acting, x.holds = x.acting+found, x.holds+found
	}
	if x.asks == nil || float64(x.acting) > mostFound*float64(over.Entered) {
		return nil
	}
	if loop.Post != nil && !setsOnly(loop.Post, own) {
		return nil
	}
	start := s.startOf(in, loop, own)
	if start == nil || s.varies(in, loop, x.asks, start, own) {
		return nil
	}
	return x
}

// setsOnly tells of a statement that it does nothing but set variables by their names, without the address of anything, and notes these.
func setsOnly(n ast.Stmt, own map[string]bool) bool {
	var left []ast.Expr
	switch n := n.(type) {
	case *ast.AssignStmt:
		left = n.Lhs
	case *ast.IncDecStmt:
		left = []ast.Expr{n.X}
	default:
		return false
	}
	for _, x := range left {
		id, ok := x.(*ast.Ident)
		if !ok {
			return false
		}
		own[id.Name] = true
	}
	return !hasNode(n, func(n ast.Node) bool {
		u, ok := n.(*ast.UnaryExpr)
		return ok && (u.Op == token.AND || u.Op == token.ARROW)
	})
}

// startOf is what the variable that the loop's condition compares with a length begins with, where that is no constant; nil where it is one, or not
// seen.
func (s *scanFinder) startOf(in frameCode, loop *ast.ForStmt, own map[string]bool) (start ast.Expr) {
	cond, ok := loop.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op != token.LSS && cond.Op != token.NEQ || !isLenCall(cond.Y) {
		return nil
	}
	index, ok := cond.X.(*ast.Ident)
	if !ok || !own[index.Name] {
		return nil
	}
	ast.Inspect(in.body(), func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && a.Pos() < loop.Body.Pos() && len(a.Lhs) == len(a.Rhs) {
			for i, lhs := range a.Lhs {
				if isNamed(lhs, index.Name) {
					start = a.Rhs[i]
				}
			}
		}
		return true
	})
	if start == nil {
		if fn := scopeOf(in.decl); in.lit == nil && fn.parameter(index.Name) >= 0 {
			return index
		}
		return nil
	}
	if s.constant(start) {
		return nil
	}
	return start
}

// varies tells whether what is looked for may be another thing in each search: it is a variable of the function, or of what the search begins with; or the
// function was counted to be asked for many.
func (s *scanFinder) varies(in frameCode, loop *ast.ForStmt, exit *ast.IfStmt, start ast.Expr, own map[string]bool) bool {
	looked := map[string]string{} // the variables and fields that decide, beside its own and the elements, with the names they begin with
	list := types.ExprString(goneThrough(loop))
	other := false
	var note func(n ast.Node)
	note = func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IndexExpr:
				if types.ExprString(n.X) == list { // an element, of the turn or of another place
					other = other || !mentionsNames(n.Index, own)
					return false
				}
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
					note(sel.X)
				}
				for _, arg := range n.Args {
					note(arg)
				}
				return false
			case *ast.SelectorExpr:
				s.noteLooked(n, own, looked)
				return false
			case *ast.Ident:
				s.noteLooked(n, own, looked)
			}
			return true
		})
	}
	if exit.Init != nil {
		if !setsOnly(exit.Init, own) {
			return true
		}
		note(exit.Init)
	}
	note(exit.Cond)
	if other {
		return true
	}
	if len(looked) == 0 {
		return false
	}
	fn, given := scopeOf(in.decl), map[string]bool{}
	for _, p := range parameters(in.decl.Type) {
		given[p] = true
	}
	for text, name := range looked {
		atStart := hasNode(start, func(n ast.Node) bool { x, ok := n.(ast.Expr); return ok && types.ExprString(x) == text })
		if in.lit != nil || name != fn.receiver && !given[name] || atStart {
			return true
		}
	}
	decl := s.c.d.placeOf(in.decl)
	calls, distinct, ok := repetition.DifferentIn(s.in.Session, decl.file, decl.line)
	if !ok {
		calls, distinct, ok = repetition.AskedAgain(s.in.Session, decl.file, decl.line)
	}
	return !ok || distinct*sameAgain > calls
}

// noteLooked notes a variable of the function, or a field of one, that is none of those that the turns set.
func (s *scanFinder) noteLooked(x ast.Expr, own map[string]bool, looked map[string]string) {
	root, _ := chain(x)
	if root == "" || own[root] {
		return
	}
	id, ok := innermost(x).(*ast.Ident)
	if !ok {
		return
	}
	if v, is := s.c.d.t.info.Uses[id].(*types.Var); is && (v.Pkg() == nil || v.Parent() != v.Pkg().Scope()) {
		looked[types.ExprString(x)] = root
	}
}

// failedText says how much such searches read.
func (s *countedScan) failedText(share stats.Interval) string {
	found := "none found anything"
	if s.acting > 0 {
		found = fmt.Sprintf("%s found anything (%s)", unit.Count(s.acting), unit.Percent(float64(s.acting)/float64(s.over.Entered)))
	}
	return fmt.Sprintf("%s of the CPU time goes into a loop%s that searches %s from a place in it to its end: of %s %s; each went through %s elements on average, the same ones again and again", unit.Percent(share.Estimate), atFrame(s.at), s.name,
		unit.Plural(s.over.Entered, "search"), found, unit.About(s.all/max(1, s.over.Entered)))
}

// adviseFailed says what saves the searches that cannot find anything.
func (s *countedScan) adviseFailed(f *Finding) {
	f.Advice = fmt.Sprintf("Remember where a search has failed: from there to the end of %s there is no match, so a search for the same that begins behind it can return at once (a flag, or the place, for each thing that is looked for, until the list changes). "+
		"Or go through %s once before, and note where the last match is. Now the time grows with the square of the length of %s.", s.name, s.name, s.name)
	f.Doubts = []string{"what is remembered holds for one list and one thing that is looked for: the next list needs it anew"}
}
