package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
)

// A loop that polls may wait for what the same program does: then that can end the wait.

// stateDone is where the program changes what a loop polls for.
type stateDone struct {
	file string
	line int
	what string // as the loop names it
}

// pollsState finds of a loop that polls a field which its condition asks for, and another function of the sources that changes it: one
// that the loop does not call itself.
func pollsState(c *code, l loop) (done stateDone, ok bool) {
	asked := map[string]string{} // by the name of the field
	var note func(x ast.Expr)
	note = func(x ast.Expr) {
		if x == nil {
			return
		}
		ast.Inspect(x, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				for _, d := range c.functions()[ownCallName(call)] { // that is one expression
					if r, ok := isExpression(d.Body); ok {
						note(r)
					}
				}
			}
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if s.Sel.Name == "Load" || s.Sel.Name == "Len" {
				return true // of what is asked so
			}
			if _, fields := chain(s); len(fields) > 0 {
				asked[fields[len(fields)-1]] = types.ExprString(s)
			}
			return false
		})
	}
	if f, ok := l.stmt.(*ast.ForStmt); ok {
		note(f.Cond)
	}
	for _, x := range exits(l.body.List) {
		note(x.cond)
	}
	later := false
	called := calledIn(c, l.stmt, map[*ast.FuncDecl]bool{}, 3)
	for _, d := range allFunctions(c) {
		if called[d.FuncDecl] || d.Body == nil || l.source == c.parse(d.file) && d.Pos() <= l.stmt.Pos() && l.stmt.End() <= d.End() {
			continue
		}
		eachNode(d.Body, func(n ast.Node, around []ast.Node) {
			places := changedBy(n)
			if call, is := n.(*ast.CallExpr); is {
				if f, is := call.Fun.(*ast.SelectorExpr); is && atomicChanges.MatchString(f.Sel.Name) {
					places = append(places, f.X)
				}
			}
			// What a function of its own changes is done later: what stands around it may only begin it.
			within := slices.ContainsFunc(around, func(x ast.Node) bool { _, is := x.(*ast.FuncLit); return is })
			for _, x := range places {
				_, fields := chain(x)
				if len(fields) == 0 || ok && (later || !within) {
					continue
				}
				if what, is := asked[fields[len(fields)-1]]; is {
					line, _ := c.parse(d.file).lines(n)
					done, ok, later = stateDone{d.file, line, what}, true, within
				}
			}
		})
	}
	return done, ok
}

// isExpression tells by the body of a function that it is one expression, and which.
func isExpression(body *ast.BlockStmt) (ast.Expr, bool) {
	if body == nil || len(body.List) != 1 {
		return nil, false
	}
	r, ok := body.List[0].(*ast.ReturnStmt)
	if !ok || len(r.Results) != 1 {
		return nil, false
	}
	return r.Results[0], true
}

// calledIn adds the functions of the sources that a node may call by their names, and those that these call.
func calledIn(c *code, n ast.Node, all map[*ast.FuncDecl]bool, depth int) map[*ast.FuncDecl]bool {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			for _, d := range c.functions()[ownCallName(call)] {
				if d.Body != nil && !all[d.FuncDecl] && depth > 0 {
					all[d.FuncDecl] = true
					calledIn(c, d.Body, all, depth-1)
				}
			}
		}
		return true
	})
	return all
}

// tell says it of a loop's pauses.
func (s stateDone) tell(c *code, f *Finding) {
	f.Advice = fmt.Sprintf("What it looks for, %s, is changed in this program, at %s:%d: let what does that end the wait (a sync.WaitGroup, a channel that it closes or sends on, a sync.Cond), instead of looking again after a pause.", s.what, baseName(s.file), s.line)
	f.Evidence = append(f.Evidence, c.shownAt(s.file, s.line, "what the loop looks for is changed here"))
}
