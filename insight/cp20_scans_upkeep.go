package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"math"
	"slices"

	"loupe/value/unit"
)

// What it would take to find the few elements of a loop without going through all: an order, an index or a list of them has to change where what the
// condition reads does.

// noUpkeep is that of what was not counted.
var noUpkeep = math.Inf(1)

// mostUpkeep is the part of the turns that keeping it up to date may take. Chosen: a step of it costs several times as much as a look.
const mostUpkeep = 0.25

// element is what the variables of a loop's body have of its element: names are those that have it, or something that is made of it alone, with the
// expressions that they are made of; mixed have something else in them as well.
type element struct {
	names, mixed map[string]bool
	made         []ast.Expr
}

// element are those of a loop, and of the condition that decides in it.
func (s *scanFinder) element(stmt ast.Stmt, asks *ast.IfStmt) element {
	l := loop{body: bodyOfLoop(stmt), stmt: stmt}
	e := element{names: l.variables(), mixed: map[string]bool{}}
	define := func(set *ast.AssignStmt) {
		if set.Tok != token.DEFINE {
			return
		}
		mentions, pure := false, true
		for _, rhs := range set.Rhs {
			mentions = mentions || mentionsAny(rhs, e.names) || mentionsAny(rhs, e.mixed)
			pure = pure && s.ofAlone(rhs, e.names)
		}
		for _, lhs := range set.Lhs {
			id, ok := lhs.(*ast.Ident)
			switch {
			case !ok || id.Name == "_" || !mentions:
			case pure:
				e.names[id.Name] = true
				e.made = append(e.made, set.Rhs...)
			default:
				e.mixed[id.Name] = true
			}
		}
	}
	ast.Inspect(l.body, func(n ast.Node) bool {
		if set, ok := n.(*ast.AssignStmt); ok {
			define(set)
		}
		return true
	})
	if set, ok := asks.Init.(*ast.AssignStmt); ok && mentionsAny(set, e.names) { // an entry of the element's in a table
		for _, lhs := range set.Lhs {
			if id, ok := lhs.(*ast.Ident); ok && id.Name != "_" {
				e.names[id.Name], e.mixed[id.Name] = true, false
				e.made = append(e.made, set.Rhs...)
			}
		}
	}
	return e
}

// ofAlone tells of an expression that it has no other variables in it than some, and what the loop goes through by an index of these.
func (s *scanFinder) ofAlone(x ast.Expr, names map[string]bool) bool {
	alone := true
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			ast.Inspect(n.X, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				v := s.c.d.variable(id)
				alone = alone && (v == nil || names[id.Name])
				return alone
			})
			return false
		case *ast.IndexExpr:
			if mentionsAny(n.Index, names) { // an element of something
				alone = alone && s.ofAlone(n.Index, names)
				return false
			}
		case *ast.Ident:
			v := s.c.d.variable(n)
			alone = alone && (v == nil || names[n.Name])
		}
		return alone
	})
	return alone
}

// upkeepOf is about how many steps that would take, by how often what the condition reads is set.
func (s *scanFinder) upkeepOf(x *countedScan, cond ast.Expr, e element) (steps float64, at codeLine) {
	fields := map[types.Object]bool{}
	for _, part := range append(slices.Clone(e.made), cond) {
		ast.Inspect(part, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && mentionsAny(sel.X, e.names) {
				if v := s.c.d.field(sel); v != nil {
					fields[v] = true
				}
			}
			if i, ok := n.(*ast.IndexExpr); ok && mentionsAny(i.Index, e.names) { // a table that has something of each element
				if v := cacheObject(s.c.d, i.X); v != nil && types.ExprString(i.X) != x.name {
					fields[v] = true
				}
			}
			return true
		})
	}
	most := int64(-1)
	for _, decl := range s.c.d.t.decls {
		eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
			for _, lhs := range changedBy(n) {
				if !fields[setField(s.c.d, lhs)] {
					continue
				}
				times, ok := s.c.reached(decl, around, n)
				if !ok {
					times, steps = math.MaxInt64, noUpkeep
				}
				if steps += float64(times); times > most {
					most, at = times, s.c.d.placeOf(n)
				}
			}
		})
	}
	if x.kind == scanSums { // the table is made anew
		steps *= float64(max(1, x.over.Size/max(1, x.over.Looked)))
	}
	if x.kind == scanOrder {
		steps *= math.Log2(float64(max(2, x.over.Size/max(1, x.over.Looked))))
	}
	return steps, at
}

// setField is the field that is set, or of which an entry is; nil for anything else.
func setField(d *derivations, x ast.Expr) types.Object {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.SelectorExpr:
			return d.field(e)
		case *ast.IndexExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		default:
			return nil
		}
	}
}

// reached is how often a node was come to at most: its innermost block was entered, and not left before it, as far as that is known. A function that was
// never called was not counted, and sets nothing.
func (c *countedTurns) reached(decl *ast.FuncDecl, around []ast.Node, node ast.Node) (n int64, ok bool) {
	around = append([]ast.Node{decl.Body}, around...)
	if n, ok = c.reaches(around, node); ok {
		return n, true
	}
	for _, block := range slices.Backward(around) {
		if n, ok = c.entered(openOf(block)); ok {
			return n, true
		}
	}
	file, _, _ := c.d.t.at(decl.Pos())
	return 0, c.blocks.Has(file)
}

// weighUpkeep makes a remark of a loop whose elements change so often that finding the few takes as long as going through all.
func (s *countedScan) weighUpkeep(in *Input, f *Finding) {
	if s.upkeep <= mostUpkeep*float64(s.all) || s.kind == scanOther {
		return
	}
	f.saves, f.grows = false, false
	if math.IsInf(s.upkeep, 1) {
		f.Doubts = append(f.Doubts, "how often what the condition reads changes was not counted: if that is often, keeping an order or an index up to date takes as long as looking")
		return
	}
	if s.kind == scanSums {
		f.Advice = "What is added up changes between the lookups, so that a table of the sums would have to be made anew again and again: keep the sums in a tree (a Fenwick tree), in which a change and a lookup take a few steps each, or add up from the nearest of some marks."
		if s.changed.line > 0 {
			f.Evidence = append(f.Evidence, in.code.shownAt(s.changed.file, s.changed.line, "what is added up is changed here"))
		}
		return
	}
	f.Advice = "What the condition reads changes so often that an order or an index of it would take as long to keep up: look at fewer of them, less often, or at what changed since the last time."
	f.Verify = "Record again with the same input: the CPU time of this loop should be less."
	if s.changed.line > 0 {
		f.Evidence = append(f.Evidence, in.code.shownAt(s.changed.file, s.changed.line, "what the condition reads is changed here"))
		f.Doubts = append(f.Doubts, "in the run that counts it was changed "+unit.About(int64(min(s.upkeep, 1<<53)))+" times or steps of an order, against "+unit.About(s.all)+" turns")
	}
}
