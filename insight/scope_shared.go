package insight

import (
	"go/ast"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Fields of values that each request has its own of, which are the same for all of them: the server in each context.

// maxShared is how many functions are asked for where a value comes from, chosen.
const maxShared = 4

// sharedField tells of an expression that it is a field of a parameter or of what a method is called on, which every value of its type is made
// with and keeps, and that what it is set to was there before requests were: c.engine, where each context is made with the engine that serves.
// What is behind it may change, as that of any other value.
func sharedField(c *code, x ast.Expr, fn *scope) bool {
	root, fields := chain(x)
	if root == "" || len(fields) == 0 || hasNode(x, func(n ast.Node) bool { _, ok := n.(*ast.IndexExpr); return ok }) {
		return false
	}
	owner := ownerNamed(fn, root)
	return owner != "" && setToShared(c, owner, fields[0], 0)
}

// ownerNamed is the name of the type of a receiver or a parameter; empty of other variables.
func ownerNamed(fn *scope, name string) string {
	for ; fn != nil; fn = fn.outer {
		if fn.receiver == name {
			return fn.of
		}
		for _, field := range fn.params.List {
			if isAmong(field.Names, name) {
				return typeName(field.Type)
			}
		}
		if fn.declares(name) {
			return ""
		}
	}
	return ""
}

// setToShared tells whether all that the sources set a field to is shared, see [sharedValue]. Fields of the same name of other types
// count as well where they are assigned to, as the source alone does not tell them apart.
func setToShared(c *code, owner, field string, depth int) bool {
	made, other := false, false
	value := func(x ast.Expr, d *ast.FuncDecl, around []ast.Node) {
		if s, ok := ast.Unparen(x).(*ast.SelectorExpr); ok && s.Sel.Name == field {
			return // it stays what it is, or is that of another of them
		}
		made, other = true, other || d == nil || !sharedValue(c, x, scopeWithin(d, around), depth)
	}
	for _, d := range allFunctions(c) {
		eachNode(d.Body, func(n ast.Node, around []ast.Node) {
			is := func(x ast.Expr) bool {
				s, ok := ast.Unparen(x).(*ast.SelectorExpr)
				return ok && s.Sel.Name == field
			}
			switch n := n.(type) {
			case *ast.CompositeLit:
				if n.Type == nil || typeName(n.Type) != owner {
					return
				}
				for _, e := range n.Elts {
					kv, keyed := e.(*ast.KeyValueExpr)
					other = other || !keyed
					if keyed && isNamed(kv.Key, field) {
						value(kv.Value, d.FuncDecl, around)
					}
				}
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					if is(lhs) && len(n.Lhs) == len(n.Rhs) && n.Tok == token.ASSIGN {
						value(n.Rhs[i], d.FuncDecl, around)
					} else if is(lhs) {
						other = true
					}
				}
			case *ast.IncDecStmt:
				other = other || is(n.X)
			case *ast.UnaryExpr:
				other = other || n.Op == token.AND && is(n.X)
			}
		})
	}
	return made && !other
}

// scopeWithin is the innermost function around a node of a declaration.
func scopeWithin(d *ast.FuncDecl, around []ast.Node) *scope {
	fn := scopeOf(d)
	for _, n := range around {
		if lit, ok := n.(*ast.FuncLit); ok {
			fn = &scope{params: lit.Type.Params, results: lit.Type.Results, body: lit.Body, outer: fn}
		}
	}
	return fn
}

// sharedValue tells of a variable, or of its fields, that it was there before requests were: one of a package, one of a function that runs when the
// program starts, what handles requests, or what the callers of a function give it, where that is so of all of them.
func sharedValue(c *code, x ast.Expr, fn *scope, depth int) bool {
	x = ast.Unparen(x)
	root, fields := chain(x)
	if root == "" || root == "nil" || depth > maxShared || hasNode(x, func(n ast.Node) bool { _, ok := n.(*ast.IndexExpr); return ok }) {
		return false
	}
	inner := fn
	for fn != nil && fn.receiver != root && !fn.declares(root) {
		fn = fn.outer
	}
	if len(fields) > 0 || fn == nil { // the variable of a package, or a field on the way
		of := fn
		if of == nil {
			of = inner
		}
		g := given{x, of, nil}
		if slices.ContainsFunc(changesOf(c), func(ch change) bool { return !ch.starts && g.changedAt(c, ch) }) {
			return false
		}
	}
	switch {
	case fn == nil:
		return true
	case fn.sets(root):
		return false
	case runsOnceAtStart(c, fn):
		return true
	case fn.receiver == root:
		calls := ownCalls(c, fn.name)
		return len(calls) == 0 && servesRequest(fn.params) || len(calls) > 0 && len(calls) <= mostCallers && !slices.ContainsFunc(calls, func(from callFrom) bool {
			sel, ok := from.call.Fun.(*ast.SelectorExpr)
			return !ok || !sharedValue(c, sel.X, scopeWithin(from.in.FuncDecl, from.around), depth+1)
		})
	case fn.parameter(root) >= 0 && fn.name != "":
		i, calls := fn.parameter(root), ownCalls(c, fn.name)
		return len(calls) > 0 && len(calls) <= mostCallers && !slices.ContainsFunc(calls, func(from callFrom) bool {
			return i >= len(from.call.Args) || !sharedValue(c, unrefer(from.call.Args[i]), scopeWithin(from.in.FuncDecl, from.around), depth+1)
		})
	}
	if from := fn.made(root); from != nil && ownerNamed(fn, root) == "" {
		return sharedValue(c, unrefer(from), fn, depth+1)
	}
	return false
}

// ownCalls are the calls of functions of a name, without those of packages whose source is not there.
func ownCalls(c *code, name string) []callFrom {
	return slices.DeleteFunc(slices.Clone(callsNamed(c, name)), func(from callFrom) bool {
		sel, ok := from.call.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		id, ok := sel.X.(*ast.Ident)
		return ok && !scopeWithin(from.in.FuncDecl, from.around).declares(id.Name) && fromElsewhere(c, from.in.file, id.Name)
	})
}

// fromElsewhere tells of a name in a file that it is a package's of which the recording has no source.
func fromElsewhere(c *code, file, name string) bool {
	for _, spec := range c.parse(file).file.Imports {
		at, err := strconv.Unquote(spec.Path.Value)
		if err != nil || spec.Name == nil && path.Base(at) != name || spec.Name != nil && spec.Name.Name != name {
			continue
		}
		here := false
		c.eachSource(func(other string, s *syntax) {
			here = here || s.file.Name.Name == path.Base(at) || filepath.Base(filepath.Dir(other)) == path.Base(at)
		})
		return !here && !strings.Contains(at, "internal/")
	}
	return false
}
