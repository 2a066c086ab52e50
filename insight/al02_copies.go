package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/why"
	"loupe/value/stack"
)

// Lines that copy. Whether the original would do depends on who writes to it next, and of
// some originals the source shows that somebody does.

// copyAdvice is what to do about a copy; kept tells that it is kept, so that no memory can be
// used again for it.
func copyAdvice(c *code, at stack.Frame, kept bool) string {
	if from := overwritten(c, at); from != "" {
		return "It is a copy of " + from + ", whose memory is written to again: what is used after that needs the copy. Use it before, or put many copies into one large slice."
	}
	if kept {
		return "It is a copy: keep the original instead if nothing writes to it, or to the memory that it is a part of, as long as it is kept."
	}
	return "It is a copy. Let the caller pass in the memory (append to its slice), or return the original if nothing writes to it, or to the memory that it is a part of, as long as it is used."
}

// copiers are functions of the standard library that copy their argument.
var copiers = []string{"bytes.Clone", "slices.Clone", "strings.Clone", "maps.Clone"}

// copiesByName tells of the function of the standard library that allocates for a line that it
// copies.
func copiesByName(function string) bool {
	name, _, _ := strings.Cut(stack.Short(function), "[")
	return slices.Contains(copiers, name)
}

// isCopy tells of a cause, or of the function that allocates, that the line makes a copy.
func isCopy(c *why.Cause, inner string) bool {
	return c.Mechanism&why.Append != 0 && copiesAll(c) || copiesByName(inner)
}

// lentBy are methods of bufio.Reader whose result is valid until the next call alone.
var lentBy = []string{"ReadSlice", "Peek"}

// overwritten names what a line copies out of, if the source shows that its memory is written to
// again: the buffer of a scanner or a reader, or one that goes back to a pool. It is empty where
// it does not.
func overwritten(c *code, at stack.Frame) (from string) {
	fn := c.function(at)
	if fn == nil {
		return ""
	}
	c.parse(at.File).onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || from != "" {
			return
		}
		name := types.ExprString(call.Fun)
		if name != "append" && name != "[]byte" && name != "string" && !slices.Contains(copiers, name) {
			return
		}
		for _, arg := range call.Args {
			if lent := lentFrom(c, fn, arg, 2); lent != "" {
				from = lent
			}
		}
	})
	return from
}

// lentFrom tells, of an expression of a function, what lends its memory.
func lentFrom(c *code, fn *ast.FuncDecl, e ast.Expr, deep int) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.SliceExpr:
		return lentFrom(c, fn, e.X, deep)
	case *ast.StarExpr:
		return lentFrom(c, fn, e.X, deep)
	case *ast.SelectorExpr:
		if id, ok := e.X.(*ast.Ident); ok && isPutBack(fn, id.Name) {
			return types.ExprString(e)
		}
	case *ast.CallExpr:
		f, ok := e.Fun.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		id, named := f.X.(*ast.Ident)
		if slices.Contains(lentBy, f.Sel.Name) || f.Sel.Name == "Bytes" && (named && isPutBack(fn, id.Name) || isScanner(c, fn, f.X)) {
			return types.ExprString(e)
		}
	case *ast.Ident:
		if isPutBack(fn, e.Name) {
			return e.Name
		}
		if deep == 0 {
			return ""
		}
		for _, value := range assignedTo(fn, e.Name) {
			if lent := lentFrom(c, fn, value, deep-1); lent != "" {
				return lent
			}
		}
	}
	return ""
}

// isScanner tells of a variable, a parameter or a field that it is a bufio.Scanner.
func isScanner(c *code, fn *ast.FuncDecl, x ast.Expr) bool {
	is := func(of ast.Expr) bool { return endsInType(types.ExprString(of), "bufio.Scanner") }
	switch x := x.(type) {
	case *ast.SelectorExpr:
		return slices.ContainsFunc(typesIn(c).fields[x.Sel.Name], is)
	case *ast.Ident:
		for _, p := range fn.Type.Params.List {
			if is(p.Type) && isAmong(p.Names, x.Name) {
				return true
			}
		}
		return slices.ContainsFunc(assignedTo(fn, x.Name), func(v ast.Expr) bool {
			call, ok := v.(*ast.CallExpr)
			return ok && types.ExprString(call.Fun) == "bufio.NewScanner"
		})
	}
	return false
}

// isPutBack tells whether a function puts a variable back into something.
func isPutBack(fn *ast.FuncDecl, name string) bool {
	return hasCall(fn.Body, func(call *ast.CallExpr) bool {
		f, ok := call.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == "Put" && slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return isNamed(unrefer(a), name) })
	})
}

// assignedTo are the expressions that a function assigns to a variable, where there is one for
// each; of a call with several results that call.
func assignedTo(fn *ast.FuncDecl, name string) (values []ast.Expr) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) > 0 {
			for i, lhs := range a.Lhs {
				if isNamed(lhs, name) {
					values = append(values, a.Rhs[min(i, len(a.Rhs)-1)])
				}
			}
		}
		return true
	})
	return values
}

// isPoolNew tells whether a line is in the function that a sync.Pool makes new values with.
func isPoolNew(c *code, at stack.Frame) (is bool) {
	c.parse(at.File).onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if n.Type == nil || types.ExprString(n.Type) != "sync.Pool" {
				return
			}
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && isNamed(kv.Key, "New") {
					is = is || c.parse(at.File).covers(kv.Value, at.Line)
				}
			}
		case *ast.AssignStmt:
			if f, ok := n.Lhs[0].(*ast.SelectorExpr); ok && len(n.Lhs) == 1 && f.Sel.Name == "New" {
				_, fn := n.Rhs[0].(*ast.FuncLit)
				is = is || fn
			}
		}
	})
	return is
}
