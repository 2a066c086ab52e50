package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// Names by which an expression of one function is known again in another: what a function is given has the names of what its callers pass.

// Limits of these names; chosen.
const (
	// namesDeep is how many callers, definitions and parts a name is followed through, namesMany how many names an expression has at most.
	namesDeep, namesMany = 6, 12
)

// placeNames makes them.
type placeNames struct{ d *derivations }

// of are the names of an expression in a function; none where the source does not tell what it is.
func (p *placeNames) of(decl *ast.FuncDecl, x ast.Expr, depth int) []string {
	if x == nil || depth > namesDeep {
		return nil
	}
	x = ast.Unparen(x)
	if value := p.d.t.info.Types[x].Value; value != nil {
		return []string{value.ExactString()}
	}
	switch e := x.(type) {
	case *ast.Ident:
		return p.variable(decl, e, depth)
	case *ast.SelectorExpr:
		field := p.d.field(e)
		if field == nil {
			if v := p.d.t.info.Uses[e.Sel]; v != nil {
				return []string{objectName(v)} // of another package
			}
			return nil
		}
		return p.joined(p.of(decl, e.X, depth+1), ".", []string{objectName(field)})
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return p.of(decl, e.X, depth+1)
		}
	case *ast.StarExpr:
		return p.of(decl, e.X, depth+1)
	case *ast.IndexExpr:
		return p.joined(p.of(decl, e.X, depth+1), "[]", p.of(decl, e.Index, depth+1))
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return p.joined(p.of(decl, e.X, depth+1), "/", p.of(decl, e.Y, depth+1))
		}
	case *ast.CallExpr:
		return p.call(decl, e, depth)
	}
	return nil
}

// variable are the names of a variable: its own, that of what it is declared with, and of what callers give for it.
func (p *placeNames) variable(decl *ast.FuncDecl, id *ast.Ident, depth int) (all []string) {
	v := p.d.variable(id)
	if v == nil {
		return nil
	}
	all = []string{objectName(v)}
	defs := p.d.definitions(decl)[v]
	switch {
	case !isLocal(decl, v):
	case isGiven(decl, v):
		for _, by := range whoCalls(p.d, decl) {
			if by.in != decl && len(all) < namesMany {
				all = append(all, p.of(by.in, argumentFor(p.d, decl, by.call, v), depth+1)...)
			}
		}
	case len(defs) == 1 && defs[0].x != nil && !defs[0].ranged && !defs[0].part && !defs[0].unknown:
		all = append(all, p.of(decl, defs[0].x, depth+1)...)
	}
	return all
}

// call are the names of what a call returns: a path that is put together, or what a function makes of the same each time.
func (p *placeNames) call(decl *ast.FuncDecl, call *ast.CallExpr, depth int) []string {
	pkg, name := p.d.t.fromPackage(call.Fun), calledName(call)
	paths := pkg == "path/filepath" || pkg == "path"
	if paths && (name == "Clean" || name == "FromSlash" || name == "ToSlash") && len(call.Args) == 1 {
		return p.of(decl, call.Args[0], depth+1)
	}
	var all []string
	if !paths || name != "Join" {
		all = []string{name + "()"}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && pkg == "" {
			if all = p.joined(p.of(decl, sel.X, depth+1), ".", all); all == nil {
				return nil
			}
		}
	}
	for i, arg := range call.Args {
		names := p.of(decl, arg, depth+1)
		if names == nil {
			names = []string{fmt.Sprintf("?%d", arg.Pos())}
		}
		if i == 0 && all == nil {
			all = names
			continue
		}
		all = p.joined(all, "/", names)
	}
	return all
}

// joined are all names that begin with one of some and end with one of others.
func (p *placeNames) joined(first []string, by string, second []string) (all []string) {
	for _, a := range first {
		for _, b := range second {
			if len(all) < namesMany {
				all = append(all, a+by+strings.Trim(b, "/"))
			}
		}
	}
	return all
}

// objectName is the name of a variable or a function that no other one has.
func objectName(v any) string { return fmt.Sprintf("%p", v) }
