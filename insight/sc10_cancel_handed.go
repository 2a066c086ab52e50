package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// A context that leaves the function that makes it: who is given it works with it after that function has returned.

// contextLeaves finds where the context that a line makes, or one that is made of it, is sent, stored, returned, or given to a goroutine for which its
// function does not wait.
func contextLeaves(d *derivations, at stack.Frame) (where codeLine, to string, ok bool) {
	in, found := d.at(at)
	if !found {
		return where, "", false
	}
	vars := map[types.Object]bool{}
	ast.Inspect(in.decl.Body, func(n ast.Node) bool {
		a, is := n.(*ast.AssignStmt)
		if !is || len(a.Rhs) != 1 {
			return true
		}
		call, is := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		if !is || d.t.fromPackage(call.Fun) != "context" {
			return true
		}
		made := d.placeOf(call).line == at.Line
		of := len(call.Args) > 0 && vars[d.variable(ast.Unparen(call.Args[0]))]
		if v := d.variable(a.Lhs[0]); v != nil && (made || of) {
			vars[v] = true
		}
		return true
	})
	if len(vars) == 0 {
		return where, "", false
	}
	waits := hasNode(in.decl.Body, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		return is && calledName(call) == "Wait" && d.placeOf(call).line > at.Line
	})
	eachNode(in.decl.Body, func(n ast.Node, around []ast.Node) {
		id, is := n.(*ast.Ident)
		if !is || ok || !vars[d.variable(id)] || d.t.info.Uses[id] == nil {
			return
		}
		for i := len(around) - 1; i >= 0; i-- {
			switch p := around[i].(type) {
			case *ast.SendStmt:
				if !directly(around[i+1:], id) && !withinLit(around[i+1:]) {
					continue
				}
				where, to, ok = d.placeOf(p), "is sent on "+types.ExprString(p.Chan), true
			case *ast.GoStmt:
				if !waits {
					where, to, ok = d.placeOf(p), "is given to a goroutine", true
				}
			case *ast.ReturnStmt:
				if directly(around[i+1:], id) {
					where, to, ok = d.placeOf(p), "is returned", true
				}
			case *ast.AssignStmt:
				for k, lhs := range p.Lhs {
					_, plain := ast.Unparen(lhs).(*ast.Ident)
					if !plain && k < len(p.Rhs) && covers(p.Rhs[k], id) && directly(around[i+1:], id) {
						where, to, ok = d.placeOf(p), "is kept in "+types.ExprString(lhs), true
					}
				}
			case *ast.FuncLit:
				if i > 0 {
					if call, given := around[i-1].(*ast.CallExpr); given && slices.Contains([]string{"Go", "Submit", "AfterFunc"}, calledName(call)) && !waits {
						where, to, ok = d.placeOf(call), "is given to "+types.ExprString(call.Fun), true
					}
				}
			}
			if ok {
				return
			}
		}
	})
	return where, to, ok
}

// directly tells of the nodes between a statement and a name that what the statement hands on has it: in a literal, or in another context made of it.
func directly(around []ast.Node, id *ast.Ident) bool {
	for _, n := range around {
		switch n := n.(type) {
		case *ast.CompositeLit, *ast.KeyValueExpr, *ast.UnaryExpr, *ast.ParenExpr:
		case *ast.CallExpr:
			name := types.ExprString(n.Fun)
			if name != "append" && name != "context.WithValue" && name != "context.WithoutCancel" {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// adviseCancel says where a cancel function that nobody calls has to be called: not where the context is made, if that is handed on from there.
func adviseCancel(c *code, made Evidence, at, why string, f *Finding) string {
	where, to, ok := contextLeaves(derivationsOf(c), stack.Frame{File: made.File, Line: made.Line})
	if !ok {
		return fmt.Sprintf("Call the cancel function at %s when what the context is for is over, on every path (defer cancel())%s.", at, why)
	}
	f.Evidence = append(f.Evidence, c.shownAt(where.file, where.line, "the context %s here", to))
	return fmt.Sprintf("The context that is made at %s %s at %s: a call of its cancel function there (defer cancel()) would end it while others may still work with it. Hand the cancel function on with it, and let who works with the context call it when that is over, on every path%s.", at, to, where.text(), why)
}
