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

// Bounds in the source: where something is taken out of what holds memory, and whether that
// works.

// takesOut are the beginnings of the names of methods that take something out.
var takesOut = []string{"Remove", "Delete", "Evict", "Pop", "Dequeue", "Drop", "Trim", "Shrink", "Expire", "Purge", "Clear", "remove", "delete", "evict", "pop", "drop", "trim", "shrink", "expire", "purge", "clear"}

// bound is where the source takes something out when a length is reached.
type bound struct {
	at    Evidence
	of    ast.Expr // what the length is of
	limit int64    // 0 where the source does not say it
	keeps bool     // what the line allocates goes into it
	depth int      // the function that does it, by its frame
	alone bool     // it is of a variable of the package: there is one of it
	ring  bool     // the length is that of a ring of keys, see [ringBound]
}

// conditionOf is the condition of an if or of a loop, and what is done under it; nil of anything
// else.
func conditionOf(n ast.Node) (cond ast.Expr, body *ast.BlockStmt) {
	switch n := n.(type) {
	case *ast.IfStmt:
		return n.Cond, n.Body
	case *ast.ForStmt:
		return n.Cond, n.Body
	}
	return nil, nil
}

// boundedAt finds where one of the functions nearest to an allocation takes something out
// when a length is reached: an if, or a loop, that compares a length and nothing else, and
// removes, or makes what it is of anew. One under another condition, such as that a limit is
// set, may not be in force.
func boundedAt(c *code, own []stack.Frame) (b bound, found bool) {
	stores := c.storesOf(own)
	for i, f := range own[:min(3, len(own))] {
		fn := c.function(f)
		if fn == nil {
			continue
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if _, ok := n.(*ast.FuncLit); ok {
				return false
			}
			cond, body := conditionOf(n)
			if cond != nil && !found && comparesLength(cond) {
				of, limit := lengthLimit(c, cond)
				keeps := of != nil && keptIn(c, stores, of)
				if anyCall(body, removes) || keeps && madeAnew(body, types.ExprString(of)) && !makesItself(c, own, f.File, body) {
					b, found = bound{of: of, limit: limit, keeps: keeps || i == 0 && of != nil && inStep(c, fn.Body, body, of, stores), depth: i}, true
					b.at = c.shownAt(f.File, c.parse(f.File).fset.PositionFor(cond.Pos(), false).Line, "something is removed when this length is reached")
					id, bare := of.(*ast.Ident)
					in := scopeOf(fn)
					b.alone = bare && id.Name != in.receiver && !in.declares(id.Name)
				}
			}
			_, under := n.(*ast.IfStmt)
			return !under
		})
	}
	if !found {
		return ringBound(c, own, stores)
	}
	return b, found
}

// doubt is what a bound means for what grows.
func (b *bound) doubt() string {
	if b.ring {
		return fmt.Sprintf("according to the source, at %s an entry leaves for each one that comes, once %s has come round: it may fill up to there and no further (record until it does)", lineText(b.at), types.ExprString(b.of))
	}
	return fmt.Sprintf("according to the source, something is removed at %s when a length is reached: it may fill up to there and no further (record until it does)", lineText(b.at))
}

// tell makes the advice about a map that entries are deleted from say that it has a bound, and whether the run that counts came to it.
func (b *bound) tell(c *code, h *holding) {
	into := h.into
	if into.file == "" {
		into = h.adds
	}
	if !b.keeps || into.kind != intoMap || h.lets.File == "" {
		return
	}
	h.advice = fmt.Sprintf("%s has a bound: see %s. Where it takes too much memory when it is full, lower that, or keep less of each entry. ", into.name, lineText(b.at))
	if f, ok := throughputOf(c, into); ok && f.stays() && f.taken == 0 {
		h.advice += fmt.Sprintf("In the run that counts the bound was not reached (%s): record for longer to see it full.", strings.TrimSuffix(f.String(), " in the run that counts"))
	} else {
		h.advice += "Record for long enough to see it full."
	}
}

// keptIn tells whether a variable is what is stored into.
func keptIn(c *code, stores []keepsAt, x ast.Expr) bool {
	return slices.ContainsFunc(stores, func(k keepsAt) bool { return sameContainer(c, k.container, x) })
}

// sameContainer tells of an expression that it may be a container, by the last name of both. A variable or a
// parameter is a field of that name only where the field is passed to a function.
func sameContainer(c *code, container string, x ast.Expr) bool {
	text, name := types.ExprString(x), lastName(container)
	if lastName(text) != name {
		return false
	}
	if container != name || text == name {
		return true
	}
	return len(c.callsIn("what is given it", func(_ *ast.File, call *ast.CallExpr) bool {
		return !isNamed(call.Fun, "delete") && !isNamed(call.Fun, "clear") && !isNamed(call.Fun, "len") &&
			slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return types.ExprString(arg) == text })
	})) > 0
}

// inStep tells of another variable, such as a list of the keys, that a function adds one to it
// each time, and that what is stored into is deleted from when it is too long.
func inStep(c *code, all, body *ast.BlockStmt, of ast.Expr, stores []keepsAt) bool {
	text := types.ExprString(of)
	adds := slices.ContainsFunc(all.List, func(s ast.Stmt) bool {
		a, ok := s.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || types.ExprString(a.Lhs[0]) != text {
			return false
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		return ok && isNamed(call.Fun, "append") && len(call.Args) > 0 && types.ExprString(call.Args[0]) == text
	})
	deletes := false
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		deletes = deletes || ok && isNamed(call.Fun, "delete") && len(call.Args) > 0 && keptIn(c, stores, call.Args[0])
		return !deletes
	})
	return adds && deletes
}

// lengthLimit are what the length in a condition is of, and the number or constant that it is
// compared with; nil and 0 where they are not known.
func lengthLimit(c *code, cond ast.Expr) (of ast.Expr, limit int64) {
	x := cond.(*ast.BinaryExpr)
	for _, side := range [][2]ast.Expr{{x.X, x.Y}, {x.Y, x.X}} {
		call, ok := side[0].(*ast.CallExpr)
		if !ok {
			continue
		}
		switch f := call.Fun.(type) {
		case *ast.Ident:
			if f.Name == "len" && len(call.Args) == 1 {
				of = call.Args[0]
			}
		case *ast.SelectorExpr:
			if f.Sel.Name == "Len" {
				of = f.X
			}
		}
		if of != nil {
			return of, constant(c, side[1])
		}
	}
	return nil, 0
}

// constant is the number that an expression is by itself, or by the one constant of its name
// in the sources; 0 where it is not known.
func constant(c *code, x ast.Expr) (n int64) {
	if n, known := numberOf(x); known {
		return n
	}
	id, ok := x.(*ast.Ident)
	if !ok {
		return 0
	}
	declared := 0
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(node ast.Node) bool {
			d, ok := node.(*ast.GenDecl)
			if !ok || d.Tok != token.CONST && d.Tok != token.VAR {
				return true
			}
			for _, spec := range d.Specs {
				v := spec.(*ast.ValueSpec)
				for i, name := range v.Names {
					if name.Name != id.Name {
						continue
					}
					if declared++; i < len(v.Values) && d.Tok == token.CONST {
						n, _ = numberOf(v.Values[i])
					}
				}
			}
			return true
		})
	})
	if declared != 1 {
		return 0
	}
	return n
}

// madeAnew tells whether statements give a variable an empty map, nothing, or a part of
// itself.
func madeAnew(body ast.Node, text string) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			return !found
		}
		for i, lhs := range a.Lhs {
			if types.ExprString(lhs) != text {
				continue
			}
			switch x := a.Rhs[i].(type) {
			case *ast.CompositeLit:
				found = found || len(x.Elts) == 0
			case *ast.CallExpr:
				found = found || types.ExprString(x.Fun) == "make" || shortens(x, text)
			case *ast.Ident:
				found = found || x.Name == "nil"
			case *ast.SliceExpr:
				found = found || types.ExprString(x.X) == text
			}
		}
		return !found
	})
	return found
}

// shortens tells of a call that it is given a part of a variable that does not begin with it, as in
// append(x[:0], x[n:]...).
func shortens(call *ast.CallExpr, text string) bool {
	return slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		part, ok := arg.(*ast.SliceExpr)
		return ok && part.Low != nil && types.ExprString(part.X) == text
	})
}

// How far past a bound what is in use has to be before the bound is said to fail: two
// generations take twice as much, and a heap profile is a sample. leastSeen is how many
// observations of it are asked for. Chosen.
const (
	pastBound = 3
	leastSeen = 20
)

// exceeded says in words that far more is in use than a bound allows; empty where that is
// not known, or not so.
func (b *bound) exceeded(in *Input, own []stack.Frame) string {
	through := own[:b.depth+1]
	if !b.keeps || b.limit <= 0 || slices.ContainsFunc(through, func(f stack.Frame) bool { return lineInLoop(in.code, f) != loopNo }) {
		return "" // one entry may have many objects
	}
	n := in.Facts.ObjectsThrough(through, leastSeen)
	if n < pastBound*b.limit {
		return ""
	}
	many := ""
	if !b.alone {
		many = ", or there are many of these, each with its own bound"
	}
	return fmt.Sprintf("Something is removed at %s:%d when the length of %s reaches %s, but %s objects from this line are in use: that does not work%s. Check whether the deleted key is really in it, and what else keeps what was removed. ",
		baseName(b.at.File), b.at.Line, types.ExprString(b.of), unit.Count(b.limit), unit.Count(n), many)
}

// manyBytes are as many bytes in use of one line as twenty samples of a heap profile stand for.
const manyBytes = leastSeen * 512 << 10

// allInUse tells, of a line that much is in use of, that nothing of what it has allocated has been freed, by the
// heap profile with the most in use.
func allInUse(in *Input, at stack.Frame) bool {
	all, err := facts.RetentionIn(in.Facts)
	if err != nil || all.Most == nil {
		return false
	}
	kept, allocated := all.Most.Own(at)
	return kept >= manyBytes && kept >= allocated
}

// comparesLength tells of a condition that it asks whether a length has reached something.
func comparesLength(cond ast.Expr) bool {
	x, ok := cond.(*ast.BinaryExpr)
	if !ok || x.Op != token.GTR && x.Op != token.GEQ && x.Op != token.LSS && x.Op != token.LEQ {
		return false
	}
	return anyCall(x, func(name string) bool { return name == "len" || name == "Len" || name == "Size" })
}

// removes tells of a function, by its name, that it takes something out.
func removes(name string) bool {
	return slices.ContainsFunc(takesOut, func(p string) bool { return strings.HasPrefix(name, p) })
}
