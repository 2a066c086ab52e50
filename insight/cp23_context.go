package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// derives are functions that make a context of another one, by their names; contexts are names of variables for them.
var (
	derives  = lazily(`^(With|Start|New|Add|Put|Set|Into|Inject|with|start|new|add|put|set|into|inject)`)
	contexts = lazily(`(?i:ctx|context)`)
)

// growingContext is a line that makes a context of that of the turn before.
type growingContext struct {
	name, call string // the variable, and the call with the new value
	at         stack.Frame
	loop       int // the line of the loop
}

// tellContextGrows says of lookups in a context that a loop around them makes it longer in each turn.
func tellContextGrows(h *hit, f *Finding) {
	v, frames, at := stackOf(h, h.lines[0])
	for i := max(at, 0); at >= 0 && i < len(frames); i++ {
		if v.origins[frames[i]] != stack.User {
			continue
		}
		g, ok := contextGrowsAround(h.in.code, v.t.Frame(frames[i]))
		if !ok {
			continue
		}
		f.Title = "A context grows in each turn of a loop, and each lookup goes through all of it"
		f.Summary += fmt.Sprintf("; by the source, %s:%d makes %s of that of the turn before, in the loop at line %d, so that each turn searches one value more", baseName(g.at.File), g.at.Line, g.name, g.loop)
		f.Advice = fmt.Sprintf("Give the derived context a name of its own in each turn (c := %s) and pass that on: %s then stays as long as it was before the loop. Now the time grows with the square of the turns, and all values are kept.", g.call, g.name)
		f.Evidence = append([]Evidence{h.in.lineAt(h.entry, g.at, "the context grows here; %d of %d samples look a value up in such contexts", h.samples, h.all)}, f.Evidence...)
		f.Doubts = append(f.Doubts, "if the loop makes only a few turns, the context stays short")
		f.grows = true
		return
	}
}

// contextGrowsAround finds, in a loop around a line, that a context from outside of the loop is set to one made of itself.
func contextGrowsAround(c *code, at stack.Frame) (g growingContext, ok bool) {
	for _, l := range slices.Backward(loopsAround(c, at)) {
		if !mayGoOn(l.stmt) || contextFewTurns(c, c.scopeAt(at), l.stmt) {
			continue
		}
		eachNode(l.body, func(n ast.Node, around []ast.Node) {
			set, isSet := n.(*ast.AssignStmt)
			if ok || !isSet || set.Tok != token.ASSIGN || len(set.Rhs) != 1 {
				return
			}
			name := types.ExprString(set.Lhs[0])
			if !derivesFrom(set.Rhs[0], name) || declares(l.body, rootName(set.Lhs[0])) || leavesAfter(around) || setToAnother(l.body, name) || withinLit(around) || ofRange(l.stmt, rootName(set.Lhs[0])) {
				return
			}
			g.name, g.call, ok = name, types.ExprString(set.Rhs[0]), true
			line, _ := l.source.lines(set)
			g.loop, _ = l.source.lines(l.stmt)
			g.at = stack.Frame{Func: at.Func, File: at.File, Line: line}
		})
		if ok {
			return g, true
		}
	}
	return g, false
}

// derivesFrom tells of an expression that it makes a context of one by name.
func derivesFrom(x ast.Expr, name string) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok || !slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return types.ExprString(a) == name }) {
		return false
	}
	return derives.MatchString(calledName(call)) && contexts.MatchString(name) || strings.HasPrefix(types.ExprString(call.Fun), "context.With")
}

// leavesAfter tells of the nodes around a statement that its block ends by leaving the loop.
func leavesAfter(around []ast.Node) bool {
	block, ok := around[len(around)-1].(*ast.BlockStmt)
	if !ok || len(block.List) == 0 {
		return false
	}
	switch last := block.List[len(block.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return last.Tok == token.BREAK || last.Tok == token.GOTO
	}
	return false
}

// setToAnother tells whether a block sets a variable to what is not made of itself.
func setToAnother(body ast.Node, name string) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if set, ok := n.(*ast.AssignStmt); ok && set.Tok == token.ASSIGN {
			for i, left := range set.Lhs {
				found = found || types.ExprString(left) == name && !mentionsText(set.Rhs[min(i, len(set.Rhs)-1)], name)
			}
		}
		return !found
	})
	return found
}

// ofRange tells whether a name is a variable of a loop's head, which is another one in each turn.
func ofRange(loop ast.Node, name string) bool {
	r, ok := loop.(*ast.RangeStmt)
	return ok && r.Tok == token.DEFINE && (isNamed(r.Key, name) || isNamed(r.Value, name))
}

// contextFewTurns tells of a loop that it makes no more than a few turns by the source: over a literal, or to a small number.
func contextFewTurns(c *code, fn *scope, loop ast.Node) bool {
	few := func(x ast.Expr) bool {
		n, ok := constantFloat(c, x, 0)
		return ok && n <= contextManyTurns
	}
	switch n := loop.(type) {
	case *ast.RangeStmt:
		if list, ok := ast.Unparen(n.X).(*ast.CompositeLit); ok {
			return len(list.Elts) <= contextManyTurns
		}
		size := 0
		if fn != nil {
			size = literalSize(c, fn, n.X)
		}
		return size > 0 && size <= contextManyTurns || few(n.X)
	case *ast.ForStmt:
		cond, ok := n.Cond.(*ast.BinaryExpr)
		return ok && (cond.Op == token.LSS || cond.Op == token.LEQ) && few(cond.Y)
	}
	return false
}

// contextManyTurns is up to how many turns of a loop make no chain that takes long to search. Chosen.
const contextManyTurns = 100
