package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"loupe/value/unit"
)

// What the source does that lets a server close its connections.

// closings are the lines after which a server closes the connection of a response, or all of
// them. What is set in the header of a request that the program sends itself is none.
func (c connSources) closings() (all []connSetting) {
	c.eachSource(func(file string, s *syntax) {
		add := func(n ast.Node, what, does string) {
			line, _ := s.lines(n)
			all = append(all, connSetting{at: c.shownAt(file, line, "the source %s here, which %s", what, does), does: does})
		}
		for _, d := range s.file.Decls {
			fn, _ := d.(*ast.FuncDecl)
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					switch f, _ := n.Fun.(*ast.SelectorExpr); {
					case f == nil:
					case f.Sel.Name == "SetKeepAlivesEnabled" && len(n.Args) == 1 && isNamed(n.Args[0], "false"):
						add(n, "turns keep-alive off", "closes each connection after its response")
					case f.Sel.Name == "SetConnectionClose" && len(n.Args) == 0 && !ofRequestSent(fn, f.X):
						add(n, "calls SetConnectionClose", "closes the connection after the response")
					case (f.Sel.Name == "Set" || f.Sel.Name == "Add") && len(n.Args) == 2 && isText(n.Args[0], "connection") && isText(n.Args[1], "close") && !headerOfRequest(fn, f.X):
						add(n, "sets Connection: close", "closes the connection after the response")
					}
				case *ast.KeyValueExpr:
					if isNamed(n.Key, "DisableKeepalive") && isNamed(n.Value, "true") {
						add(n, "sets DisableKeepalive", "closes each connection after its response")
					}
				}
				return true
			})
		}
	})
	return all
}

// isText tells whether an expression is a text, in letters of either case.
func isText(x ast.Expr, text string) bool {
	lit, ok := x.(*ast.BasicLit)
	return ok && lit.Kind == token.STRING && len(lit.Value) > 2 && strings.EqualFold(lit.Value[1:len(lit.Value)-1], text)
}

// headerOfRequest tells whether a header is that of a request, as far as the function shows.
func headerOfRequest(fn *ast.FuncDecl, x ast.Expr) bool {
	field, ok := x.(*ast.SelectorExpr)
	return ok && field.Sel.Name == "Header" && ofRequestSent(fn, field.X)
}

// ofRequestSent tells whether a variable is a request, as far as the function shows.
func ofRequestSent(fn *ast.FuncDecl, x ast.Expr) bool {
	owner, ok := x.(*ast.Ident)
	if !ok || fn == nil {
		return false
	}
	if of, ok := parameter(fn, owner.Name); ok {
		return strings.HasSuffix(of, ".Request")
	}
	asks := false
	ast.Inspect(fn, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if ok && isNamed(a.Lhs[0], owner.Name) {
			asks = asks || strings.Contains(types.ExprString(a.Rhs[0]), "Request")
		}
		return !asks
	})
	return asks
}

// tellClosings adds what the source does to a finding about connections that the server closes.
func tellClosings(f *Finding, c connSources) {
	all := c.closings()
	if len(all) == 0 {
		return
	}
	x := all[0]
	for i := range min(2, len(all)) {
		f.Evidence = append(f.Evidence, all[i].at)
	}
	place := fmt.Sprintf("%s:%d", baseName(x.at.File), x.at.Line)
	if n := len(all) - 1; n > 0 {
		place += ", and at " + unit.Plural(int64(n), "other place")
	}
	f.Summary += fmt.Sprintf("; a line of the source %s, if it is reached (%s)", x.does, place)
	f.Advice = fmt.Sprintf("If these responses go through %s:%d, remove that line, unless the client must not use the connection again. Otherwise: ", baseName(x.at.File), x.at.Line) + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
}
