package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// How long a loop pauses may come from the answer by way of a field: one method keeps what a header says, another one
// pauses for as long.

// peerDepth is how many functions such a pause, and what sets its field, are followed through.
const peerDepth = 3

// peerField finds the line at which a function that a loop calls keeps in a field what an answer says of the next pause,
// where the pause on a line of the loop is as long as the field says, and nothing else sets the field.
func peerField(c *code, l loop, pause int) (at stack.Frame) {
	fields := map[string]bool{}
	l.source.onLine(pause, func(n ast.Node, _ []ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok {
			pausesFor(c, call, fields, 0)
		}
	})
	if len(fields) == 0 {
		return at
	}
	var below []declaration
	reachedFrom(c, l.body, &below, 0)
	for _, d := range below {
		eachAssigned(d.Body, func(lhs, rhs ast.Expr) {
			f, ok := lhs.(*ast.SelectorExpr)
			if !ok || !fields[f.Sel.Name] || at.File != "" || !saysWhen(d.Body, rhs) || setBeside(c, f.Sel.Name, lhs) {
				return
			}
			line, _ := c.parse(d.file).lines(lhs)
			at = stack.Frame{File: d.file, Line: line}
		})
	}
	return at
}

// timerCalls are functions that pause, or make a timer, for the time that they are given.
var timerCalls = []string{"time.Sleep", "time.After", "time.NewTimer", "time.AfterFunc"}

// pausesFor notes the fields that say how long a call pauses: one of package time, or a function of the sources with one.
func pausesFor(c *code, call *ast.CallExpr, fields map[string]bool, depth int) {
	if slices.Contains(timerCalls, types.ExprString(call.Fun)) && len(call.Args) > 0 {
		ast.Inspect(call.Args[0], func(n ast.Node) bool {
			if f, ok := n.(*ast.SelectorExpr); ok {
				fields[f.Sel.Name] = true
			}
			return true
		})
		return
	}
	all := c.functions()[calledName(call)]
	if depth == peerDepth || len(all) != 1 || all[0].Body == nil {
		return
	}
	hasCall(all[0].Body, func(inner *ast.CallExpr) bool { pausesFor(c, inner, fields, depth+1); return false })
	for _, x := range call.Args { // pause(s.rest)
		if f, ok := x.(*ast.SelectorExpr); ok && hasCall(all[0].Body, func(inner *ast.CallExpr) bool {
			return slices.Contains(timerCalls, types.ExprString(inner.Fun))
		}) {
			fields[f.Sel.Name] = true
		}
	}
}

// reachedFrom collects the functions of the sources that are called from a node, and from those.
func reachedFrom(c *code, n ast.Node, all *[]declaration, depth int) {
	hasCall(n, func(call *ast.CallExpr) bool {
		named := c.functions()[calledName(call)]
		if len(named) == 1 && named[0].Body != nil && !slices.ContainsFunc(*all, func(d declaration) bool { return d.FuncDecl == named[0].FuncDecl }) {
			if *all = append(*all, named[0]); depth < peerDepth {
				reachedFrom(c, named[0].Body, all, depth+1)
			}
		}
		return false
	})
}

// saysWhen tells of an expression in a body that it comes, some steps back, from a header or a field by which an answer says
// when to ask again.
func saysWhen(body ast.Node, x ast.Expr) (says bool) {
	names := map[string]bool{}
	look := func(x ast.Expr) {
		ast.Inspect(x, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				says = says || n.Kind == token.STRING && peerSays.MatchString(strings.Trim(n.Value, "\"`"))
			case *ast.SelectorExpr:
				says = says || peerSays.MatchString(n.Sel.Name)
			case *ast.Ident:
				names[n.Name] = true
			}
			return true
		})
	}
	look(x)
	for range peerDepth {
		ast.Inspect(body, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if ok && slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool {
				id, is := x.(*ast.Ident)
				return is && !isError(id.Name) && names[id.Name]
			}) {
				for _, x := range a.Rhs {
					look(x)
				}
			}
			return true
		})
	}
	return says
}

// setBeside tells of a field that the sources give it a value elsewhere than by an assignment: a default then stands where the
// answer says nothing. To set it to nothing is none.
func setBeside(c *code, field string, but ast.Expr) (found bool) {
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok && isNamed(kv.Key, field) && types.ExprString(kv.Value) != "0" {
				found = true
			}
			assigned(n, func(lhs, rhs ast.Expr) {
				f, ok := lhs.(*ast.SelectorExpr)
				found = found || ok && f.Sel.Name == field && lhs != but && types.ExprString(rhs) != "0"
			})
			return !found
		})
	})
	return found
}
