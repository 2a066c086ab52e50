package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// tellPatternGiven says of a pattern that the function is given by its callers which of them give constants; it tells
// whether any does.
func tellPatternGiven(h *hit, f *Finding) bool {
	name, fixed, all := patternCallers(h.in.code, h.lines[0])
	if len(fixed) == 0 {
		return false
	}
	var places []string
	for _, at := range fixed[:min(len(fixed), 3)] {
		places = append(places, at.text())
	}
	who := fmt.Sprintf("all %d calls that give it do so with constant patterns", all)
	if all == 1 {
		who = "the only call that gives it does so with a constant pattern"
	} else if len(fixed) < all {
		who = fmt.Sprintf("%d of the %d calls that give it do so with constant patterns", len(fixed), all)
	}
	f.Advice = fmt.Sprintf("The pattern is the parameter %s, and %s (%s): compile each once, in a package variable (var re = regexp.MustCompile(…)), and pass the compiled expression in place of the text.", name, who, strings.Join(places, ", "))
	if len(fixed) < all {
		f.Advice += " For the others cache the compiled expression in a map keyed by its text, with a bound."
	}
	return true
}

// patternCallers are the calls that give the function on a line its pattern, as a parameter by name, with constants, and
// how many give it; none where it is no parameter, or where who calls is not known.
func patternCallers(c *code, line *hitLine) (name string, fixed []codeLine, all int) {
	fn := c.scopeAt(line.Caller)
	if fn == nil || fn.name == "" || len(c.functions()[fn.name]) != 1 {
		return "", nil, 0
	}
	at := -1
	for _, call := range c.lineCalls(line.Caller) {
		if text := types.ExprString(call.Fun); strings.HasPrefix(text, "regexp.") && len(call.Args) > 0 {
			id, ok := ast.Unparen(call.Args[0]).(*ast.Ident)
			if !ok || at >= 0 {
				return "", nil, 0
			}
			name, at = id.Name, fn.parameter(id.Name)
		}
	}
	if at < 0 || fn.sets(name) || declares(fn.body, name) {
		return "", nil, 0
	}
	calls := callsNamed(c, fn.name)
	mentions := 0
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name == fn.name {
				mentions++
			}
			return true
		})
	})
	if mentions != len(calls)+1 { // it is handed on as a value
		return "", nil, 0
	}
	for _, x := range calls {
		if at < len(x.call.Args) && x.call.Ellipsis == token.NoPos && constantPattern(c, x.call.Args[at], &x, 0) {
			first, _ := c.parse(x.in.file).lines(x.call)
			fixed = append(fixed, codeLine{x.in.file, first})
		}
	}
	return name, fixed, len(calls)
}

// constantPattern tells of an argument of a call that it is a constant text, or goes through a list of such.
func constantPattern(c *code, x ast.Expr, from *callFrom, depth int) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.BasicLit:
		return x.Kind == token.STRING
	case *ast.BinaryExpr:
		return x.Op == token.ADD && constantPattern(c, x.X, from, depth) && constantPattern(c, x.Y, from, depth)
	case *ast.SelectorExpr: // of another package
		return depth < 3 && patternText(c, x.Sel.Name, depth)
	case *ast.Ident:
		for _, n := range from.around {
			loop, ok := n.(*ast.RangeStmt)
			if !ok || loop.Tok != token.DEFINE || !isNamed(loop.Value, x.Name) {
				continue
			}
			list, ok := ast.Unparen(loop.X).(*ast.CompositeLit)
			if !ok {
				id, named := ast.Unparen(loop.X).(*ast.Ident)
				fn := scopeOf(from.in.FuncDecl)
				if !named || fn.made(id.Name) == nil || fn.sets(id.Name) {
					return false
				}
				if list, ok = fn.made(id.Name).(*ast.CompositeLit); !ok {
					return false
				}
			}
			for _, e := range list.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					e = pair.Value
				}
				if !constantPattern(c, e, from, depth+1) {
					return false
				}
			}
			return len(list.Elts) > 0
		}
		return depth < 3 && (from.in.FuncDecl == nil || !scopeOf(from.in.FuncDecl).declares(x.Name)) && patternText(c, x.Name, depth)
	}
	return false
}

// patternText tells of a name that it is that of a constant text.
func patternText(c *code, name string, depth int) bool {
	value := constantOf(c, name)
	return value != nil && constantPattern(c, value, &callFrom{}, depth+1)
}
