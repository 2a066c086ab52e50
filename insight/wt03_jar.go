package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// A client with a cookie jar sends with each request what the answers before have set: no variable shows that.

// jarOf is the line that gives a client its jar, where calls by some stacks are made with it; false where the sources show none.
func jarOf(c *code, stacks [][]stack.Frame) (jar Evidence, ok bool) {
	sets := connSources{c}.fieldSettings(func(name string, value ast.Expr) (connSetting, bool) {
		return connSetting{does: "keeps the cookies of answers for the requests after them"}, name == "Jar" && value != nil && !isNamed(value, "nil")
	})
	if len(sets) == 0 {
		return jar, false
	}
	for _, frames := range stacks {
		if !slices.ContainsFunc(frames, func(f stack.Frame) bool { return strings.HasPrefix(f.Func, "net/http.(*Client).") }) {
			continue
		}
		if some, named := (connSources{c}).settingsOn(frames, sets); named || everyClientHas(c, "Jar") {
			return some[0].at, true
		}
	}
	return jar, false
}

// everyClientHas tells that the sources make no http.Client without a field, and do not use the default one.
func everyClientHas(c *code, field string) bool {
	every := true
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if n.Type != nil && types.ExprString(n.Type) == "http.Client" {
					_, has := fieldOfLit(n, field)
					every = every && has
				}
			case *ast.SelectorExpr:
				every = every && types.ExprString(n) != "http.DefaultClient"
			}
			return every
		})
	})
	return every
}
