package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// A scan that skips, one by one, what the calls before have had: pages by offset. All pages together take the square of one.

// skipsFirst is a condition in a loop, or in a function that is called for each element, which leaves out the first ones.
type skipsFirst struct {
	around      ast.Node     // the loop, or the call that is given the function
	given       types.Object // the parameter or the field that says how many
	first, last int          // the lines of what it does for those
}

// skipsIn are those of a function.
func skipsIn(d *derivations, decl *ast.FuncDecl) (all []skipsFirst) {
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		x, ok := n.(*ast.IfStmt)
		if !ok || x.Else != nil || len(x.Body.List) == 0 {
			return
		}
		s := skipsFirst{}
		for _, outer := range slices.Backward(around) {
			switch outer := outer.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				s.around = outer
			case *ast.CallExpr:
				s.around = outer
			case *ast.IfStmt, *ast.SwitchStmt:
			default:
				continue
			}
			if s.around != nil {
				break
			}
		}
		if s.around == nil || !goesOnAfter(x.Body, s.around) {
			return
		}
		cond, ok := ast.Unparen(x.Cond).(*ast.BinaryExpr)
		if !ok {
			return
		}
		counts := func(v ast.Expr, by token.Token) (found bool) {
			look := []ast.Node{x.Body}
			if x.Init != nil {
				look = append(look, x.Init)
			}
			for _, at := range look {
				ast.Inspect(at, func(n ast.Node) bool {
					step, ok := n.(*ast.IncDecStmt)
					found = found || ok && step.Tok == by && types.ExprString(step.X) == types.ExprString(v)
					return true
				})
			}
			return found
		}
		switch {
		case (cond.Op == token.GTR || cond.Op == token.NEQ) && types.ExprString(cond.Y) == "0" && counts(cond.X, token.DEC):
			s.given = skipGiven(d, decl, cond.X)
		case (cond.Op == token.LSS || cond.Op == token.LEQ) && counts(cond.X, token.INC):
			s.given = skipGiven(d, decl, cond.Y)
		}
		if s.given != nil {
			_, s.first, _ = d.t.at(x.Body.List[0].Pos())
			_, s.last, _ = d.t.at(x.Body.End())
			all = append(all, s)
		}
	})
	return all
}

// goesOnAfter tells of a block that it ends with the next element: continue, or return in a function that is called for each.
func goesOnAfter(body *ast.BlockStmt, around ast.Node) bool {
	switch last := body.List[len(body.List)-1].(type) {
	case *ast.BranchStmt:
		return last.Tok == token.CONTINUE
	case *ast.ReturnStmt:
		_, call := around.(*ast.CallExpr)
		return call && (len(last.Results) == 0 || len(last.Results) == 1 && slices.Contains([]string{"true", "nil"}, types.ExprString(last.Results[0])))
	}
	return false
}

// skipGiven is the parameter or the field of one from which a number comes.
func skipGiven(d *derivations, decl *ast.FuncDecl, x ast.Expr) types.Object {
	if sel, ok := ast.Unparen(x).(*ast.SelectorExpr); ok {
		return d.field(sel)
	}
	v := d.variable(ast.Unparen(x))
	if v == nil || isGiven(decl, v) {
		return v
	}
	for _, def := range d.definitions(decl)[v] {
		if def.x == nil || types.ExprString(def.x) == types.ExprString(x) {
			continue
		}
		if sel, ok := ast.Unparen(def.x).(*ast.SelectorExpr); ok {
			return d.field(sel)
		}
		if of := d.variable(ast.Unparen(def.x)); of != nil && isGiven(decl, of) {
			return of
		}
	}
	return nil
}

// pagesBy is a loop that calls a scan with a larger offset in each turn.
type pagesBy struct {
	skip         skipsFirst
	scan, driver stack.Frame // the line in the function that skips, and that of the call in the loop
	to           stack.Frame // what the loop calls, towards the scan
	adds         int         // the line that adds
	offset       string
}

// pagesOn finds on a stack, the innermost frame first, that a loop pages by an offset.
func pagesOn(d *derivations, frames []stack.Frame) (p pagesBy, ok bool) {
	for i, f := range frames {
		in, found := d.at(f)
		if !found {
			continue
		}
		for _, s := range skipsIn(d, in.decl) {
			_, first, _ := d.t.at(s.around.Pos())
			_, last, _ := d.t.at(s.around.End())
			if f.Line < first || f.Line > last {
				continue
			}
			if p, ok := pagesFrom(d, frames, i, in, s); ok {
				return p, true
			}
		}
	}
	return p, false
}

// pagesFrom follows what says how many are skipped out to a loop that adds to it.
func pagesFrom(d *derivations, frames []stack.Frame, at int, in frameCode, s skipsFirst) (p pagesBy, ok bool) {
	given, first := s.given, in.decl
	scan := frames[at]
	for i := at + 1; i < len(frames); i++ {
		if outer, found := d.at(frames[i]); found && outer.decl == in.decl {
			if in.decl == first {
				scan = frames[i] // a closure, and its function
			}
			continue
		}
		outer, found := d.at(frames[i])
		if !found {
			return p, false
		}
		calls := d.callsOn(outer, frames[i], in.decl.Name.Name)
		if v, isVar := given.(*types.Var); isVar && !v.IsField() {
			if len(calls) != 1 {
				return p, false
			}
			arg := argumentFor(d, in.decl, calls[0], given)
			if arg == nil {
				return p, false
			}
			if sel, isField := ast.Unparen(arg).(*ast.SelectorExpr); isField {
				given = d.field(sel)
			} else {
				given = d.variable(ast.Unparen(arg))
			}
			if given == nil {
				return p, false
			}
		}
		if len(calls) > 0 {
			if line, name, adds := addsInLoop(d, outer, calls[0], given); adds {
				return pagesBy{s, scan, frames[i], frames[i-1], line, name}, true
			}
		}
		in = outer
	}
	return p, false
}

// addsInLoop finds that a loop around a call adds to a variable or to a field, whichever it is, and does not set it back.
func addsInLoop(d *derivations, in frameCode, call *ast.CallExpr, to types.Object) (line int, name string, ok bool) {
	is := func(x ast.Expr) bool {
		if sel, isField := ast.Unparen(x).(*ast.SelectorExpr); isField {
			return d.field(sel) == to
		}
		return d.variable(ast.Unparen(x)) == to
	}
	eachNode(in.decl.Body, func(n ast.Node, around []ast.Node) {
		if n != ast.Node(call) {
			return
		}
		for _, outer := range slices.Backward(around) {
			var post ast.Stmt
			switch loop := outer.(type) {
			case *ast.ForStmt:
				post = loop.Post
			case *ast.RangeStmt:
			default:
				continue
			}
			sets := false
			look := func(n ast.Node) bool {
				set, isSet := n.(*ast.AssignStmt)
				if !isSet || len(set.Lhs) != 1 || len(set.Rhs) != 1 || !is(set.Lhs[0]) {
					return true
				}
				sum, isSum := ast.Unparen(set.Rhs[0]).(*ast.BinaryExpr)
				if set.Tok == token.ADD_ASSIGN || set.Tok == token.ASSIGN && isSum && sum.Op == token.ADD && (is(sum.X) || is(sum.Y)) {
					_, line, _ = d.t.at(set.Pos())
					name, ok = types.ExprString(set.Lhs[0]), true
				} else {
					sets = true
				}
				return true
			}
			ast.Inspect(loopBody([]ast.Node{outer}), look)
			if post != nil {
				ast.Inspect(post, look)
			}
			if ok = ok && !sets; ok {
				return
			}
		}
	})
	return line, name, ok
}

// leastSkipped is the part of the samples below the scan that the lines of what is skipped have at least: chosen, as a turn
// that skips does hardly anything.
const leastSkipped = 0.01

// tellPages says of a hot function that a scan which it is part of skips what the pages before had.
func tellPages(in *Input, d *derivations, w *facts.Weights, h *hotFunction, f *Finding) bool {
	v, at := in.view(w.Profile), h.line.Caller
	var p pagesBy
	found, most := false, int64(0)
	samples := w.Profile.Samples(w.Index)
	seen := map[string]bool{}
	for id, n := range samples {
		frames := v.ownLines(id)
		if len(frames) == 0 || frames[0].Func != at.Func || n <= most {
			continue
		}
		key := fmt.Sprint(frames[1:])
		if seen[key] {
			continue
		}
		seen[key] = true
		if one, ok := pagesOn(d, frames); ok {
			p, found, most = one, true, n
		}
	}
	if !found {
		return false
	}
	below, skipping, total := int64(0), int64(0), int64(0)
	for id, n := range samples {
		total += n
		frames := v.ownLines(id)
		if !slices.Contains(frames, p.driver) || !slices.ContainsFunc(frames, func(f stack.Frame) bool { return f.Func == p.scan.Func }) {
			continue
		}
		below += n
		if slices.ContainsFunc(frames, func(f stack.Frame) bool {
			return f.File == p.scan.File && f.Line >= p.skip.first && f.Line <= p.skip.last
		}) {
			skipping += n
		}
	}
	share := stats.Wilson(float64(below), float64(total), compare.Confidence)
	if float64(skipping) < leastSkipped*float64(below) || skipping < 2 || share.Low < dominates {
		return false
	}
	f.Title = "Each page skips again all that the pages before had"
	f.Summary = fmt.Sprintf("%s of the CPU time goes into %s with %s, called by a loop in %s; by the source it leaves out as many elements as %s says, one by one, and line %d of the loop adds to that: all pages together take the square of their number",
		unit.Percent(share.Estimate), stack.Short(p.scan.Func), stack.Short(at.Func), place(p.driver), p.offset, p.adds)
	f.Advice = fmt.Sprintf("Go on where the page before ended: keep a cursor (the last key or the position, from which the scan can seek) in place of %s, or fetch all in one scan. Where the elements lie in blocks of known length, skip these as a whole.", p.offset)
	f.Evidence = []Evidence{
		in.code.shownAt(p.scan.File, p.skip.first, "what the pages before had is skipped here; %d of %d samples are in the scan", below, total),
		in.code.shownAt(p.driver.File, p.driver.Line, "it begins again for each page here"),
		in.code.shownAt(p.driver.File, p.adds, "the offset grows here"),
	}
	for i, fn := range []string{p.scan.Func, p.driver.Func, p.driver.Func} {
		f.Evidence[i].Function, f.Evidence[i].Path, f.Evidence[i].Phase = strings.TrimSuffix(fn, ".func1"), w.Entry.Path, w.Entry.Phase
	}
	f.Doubts = append(f.Doubts, "where the elements have no order that a cursor could name, one has to be given to them")
	f.Impact = &Impact{share.Estimate, cpuSamples, share.Low, share.High}
	f.Severity, f.Score = Warning, score(share.Estimate, 0.20, 0.60)
	f.costs = []cost{{file: p.driver.File, line: p.driver.Line, callee: stack.FoldGenerics(p.scan.Func)}}
	f.saves, f.grows = true, true
	return true
}
