package insight

import (
	"fmt"
	"go/ast"
	"go/types"

	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// Lookups that add up the elements of the same list from its start to the place that is asked for: the line of an offset, the row of a table whose
// entries are differences, an entry by weights.

// sumsTitle is the title of such a lookup.
const sumsTitle = "The same elements are added up from the start for each lookup"

// mostReach is the part of the loops that end at the place, and not with the list. Chosen.
const mostReach = 0.5

// fromStart is a loop over the same again, if most of the times it ends at a place, and its turns only add up what depends on the list alone.
func (s *scanFinder) fromStart(in frameCode, stmt ast.Stmt, over repetition.Loop) *countedScan {
	body := bodyOfLoop(stmt)
	turns, ok := s.c.entered(body.Lbrace)
	if !ok || turns < enoughTurns || turns < fewInLoop*over.Entered {
		return nil
	}
	x := &countedScan{turnCounts: turnCounts{all: turns}, over: over, first: s.c.d.placeOf(stmt), name: types.ExprString(goneThrough(stmt)), kind: scanSums}
	var adds []ast.Stmt
	for _, n := range body.List {
		exit, ok := n.(*ast.IfStmt)
		if !ok || exit.Init != nil || exit.Else != nil || !leavesLoop(exit.Body.List) {
			adds = append(adds, n)
			continue
		}
		left, counted := s.c.entered(exit.Body.Lbrace)
		if !counted {
			return nil
		}
		if x.acting += left; left >= x.holds {
			x.asks, x.decides, x.holds, x.asked, x.turnCounts.at = exit, exit.Cond, left, turns, s.c.d.placeOf(exit)
		}
	}
	if float64(x.acting) < mostReach*float64(over.Entered) || !s.addsUp(in, stmt, adds) {
		return nil
	}
	e := s.element(stmt, x.asks)
	for _, n := range adds {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				e.made = append(e.made, n.Rhs...)
			case *ast.IfStmt:
				e.made = append(e.made, n.Cond)
			}
			return true
		})
	}
	x.upkeep, x.changed = s.upkeepOf(x, x.decides, e)
	if steps, at := s.listChanges(stmt); steps > 0 {
		x.upkeep += steps * float64(max(1, over.Size/max(1, over.Looked)))
		if x.changed.line == 0 {
			x.changed = at
		}
	}
	return x
}

// listChanges is how often the list that a loop goes through becomes another one, but for what is appended to it, and where.
func (s *scanFinder) listChanges(stmt ast.Stmt) (times float64, at codeLine) {
	d := s.c.d
	over := cacheObject(d, goneThrough(stmt))
	if over == nil {
		return 0, at
	}
	list := func(x ast.Expr) bool { return cacheObject(d, x) == over }
	for _, decl := range d.t.decls {
		shared := bySharing(d, decl, list)
		eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
			change := listChangedBy(d, n, list, shared, 0)
			if change == nil || change == n && setsList(around, list) {
				return
			}
			reached, ok := s.c.reached(decl, around, n)
			if !ok {
				times = noUpkeep
			}
			times, at = times+float64(reached), d.placeOf(change)
		})
	}
	return times, at
}

// addsUp tells of statements of a loop that they set variables of the function that were there before it, by nothing but these, the element, and constants,
// and change nothing else.
func (s *scanFinder) addsUp(in frameCode, stmt ast.Stmt, adds []ast.Stmt) bool {
	d, body := s.c.d, bodyOfLoop(stmt)
	inTurn := func(v types.Object) bool { return stmt.Pos() <= v.Pos() && v.Pos() < body.End() }
	sums := map[types.Object]bool{}
	for _, n := range adds {
		ast.Inspect(n, func(n ast.Node) bool {
			for _, lhs := range givenValues(n) {
				if v := d.variable(innermost(pointed(lhs))); v != nil && !inTurn(v) && isLocal(in.decl, v) && !isGiven(in.decl, v) {
					sums[v] = true
				}
			}
			return true
		})
	}
	if len(sums) == 0 {
		return false
	}
	over := types.ExprString(goneThrough(stmt))
	for _, n := range adds {
		walk := &derivedWalk{d: d, f: &derived{decl: in.decl, reads: map[types.Object]bool{}, fills: map[types.Object]bool{}}}
		if walk.walk(n); walk.other || len(walk.f.fills) > 0 {
			return false
		}
		other := false
		ast.Inspect(n, func(n ast.Node) bool {
			if x, ok := n.(ast.Expr); ok && types.ExprString(x) == over {
				return false // its elements
			}
			if id, ok := n.(*ast.Ident); ok {
				if v := d.variable(id); v != nil && !isFieldVar(v) && !inTurn(v) && !sums[v] {
					other = true
				}
			}
			return !other
		})
		if other {
			return false
		}
	}
	return true
}

// isFieldVar tells of a variable that it is a field.
func isFieldVar(v types.Object) bool {
	x, ok := v.(*types.Var)
	return ok && x.IsField()
}

// sumsText says what such a loop costs.
func (s *countedScan) sumsText(share stats.Interval) string {
	return fmt.Sprintf("%s of the CPU time goes into a loop%s that adds up %s from its start until it comes to the place that is asked for: in the run that counts %s turns in %s, through the same elements",
		unit.Percent(share.Estimate), atFrame(stack.Frame{Func: s.at.Func, File: s.at.File, Line: s.first.line}), s.name, unit.About(s.all), unit.Plural(s.over.Entered, "lookup"))
}
