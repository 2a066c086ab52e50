package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A function of the program's own that is given values of any type, and returns before it uses them where a level, a flag
// or a condition says so: what is made for the values is thrown away then.

// guard is where such a function asks, by its first statements.
type guard struct {
	file   string
	line   int
	nature string // what it asks, as the source has it
	level  bool   // it is about a level, or what is written at all
}

// usesText are names of functions that do more with a value than it costs to ask for a level.
var usesText = lazily(`(?i)print|write|output|format|append|encode|errorf|panic|fatal|log|handle|debug|info|warn|emit|marshal`)

// guardedCall finds what a call asks before it uses an argument; ok is false where one of the functions that it may be
// uses it at once, keeps it, or is not known.
func guardedCall(c *code, in *ast.FuncDecl, call *ast.CallExpr, arg int) (g guard, ok bool) {
	declared := methodsOf(c, in, call.Fun)
	if len(declared) == 0 || len(declared) > 3 {
		return g, false
	}
	for _, d := range declared {
		param, any := takesAny(d, arg)
		if !any || d.Body == nil {
			return g, false
		}
		one, ok := switchOf(c, d, param)
		if !ok {
			return g, false
		}
		if g.line == 0 {
			g = one
		}
	}
	return g, true
}

// takesAny is the parameter that an argument goes into, where that takes values of any type, or where a logger takes a text.
func takesAny(d declaration, arg int) (name string, ok bool) {
	i := 0
	for _, field := range d.Type.Params.List {
		for _, id := range field.Names {
			_, variadic := field.Type.(*ast.Ellipsis)
			if i == arg || variadic && arg > i {
				switch t := strings.TrimPrefix(types.ExprString(field.Type), "..."); t {
				case "any", "interface{}":
					return id.Name, variadic || namedLogger(d)
				case "string", "error", "fmt.Stringer":
					return id.Name, namedLogger(d)
				}
				return "", false
			}
			i++
		}
	}
	return "", false
}

// namedLogger tells of a function that it is called a logger.
func namedLogger(d declaration) bool {
	return isLogger.MatchString(d.Name.Name) || isLogger.MatchString(receiverType(d.FuncDecl))
}

// switchOf reads whether a function asks for something before it uses a parameter, and uses that only where it has.
func switchOf(c *code, d declaration, param string) (g guard, ok bool) {
	of := map[string]bool{param: true}
	followedIn(d.Body, of)
	for i, stmt := range d.Body.List {
		n, is := stmt.(*ast.IfStmt)
		switch {
		case is && n.Else == nil && n.Init == nil && !mentionsAny(n.Cond, of) && leavesOnly(n.Body):
			g = guardAt(c, d, n)
			rest := &ast.BlockStmt{List: d.Body.List[i+1:]}
			return g, showsText(rest, of) && !keepsAny(d, rest, of)
		case is && n.Else == nil && n.Init == nil && !mentionsAny(n.Cond, of) && mentionsAny(n.Body, of):
			g = guardAt(c, d, n)
			after := &ast.BlockStmt{List: d.Body.List[i+1:]}
			return g, !mentionsAny(after, of) && showsText(n.Body, of) && !keepsAny(d, n.Body, of)
		case mentionsAny(stmt, of):
			return g, false
		}
	}
	return g, false
}

// followedIn adds to the names of values the variables that are set to what has one of them, and those that go through it.
func followedIn(body *ast.BlockStmt, of map[string]bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE && n.Value != nil && mentionsAny(n.X, of) {
				of[types.ExprString(n.Value)] = true
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if id, ok := lhs.(*ast.Ident); ok && n.Tok == token.DEFINE && mentionsAny(n.Rhs[min(i, len(n.Rhs)-1)], of) {
					of[id.Name] = true
				}
			}
		}
		return true
	})
}

func guardAt(c *code, d declaration, n *ast.IfStmt) guard {
	line, _ := c.parse(d.file).lines(n)
	text := types.ExprString(n.Cond)
	return guard{file: d.file, line: line, nature: text, level: asksLevel.MatchString(text)}
}

// leavesOnly tells of a block that it returns and does nothing else.
func leavesOnly(b *ast.BlockStmt) bool {
	if len(b.List) != 1 {
		return false
	}
	r, ok := b.List[0].(*ast.ReturnStmt)
	return ok && !slices.ContainsFunc(r.Results, func(x ast.Expr) bool { return hasCall(x, func(*ast.CallExpr) bool { return true }) })
}

// showsText tells whether a block writes or formats what a parameter has: where it does, samples show that.
func showsText(b *ast.BlockStmt, of map[string]bool) bool {
	return hasCall(b, func(call *ast.CallExpr) bool {
		return usesText.MatchString(calledName(call)) && slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return mentionsAny(x, of) })
	})
}

// keepsAny tells whether a block puts what a parameter has into something that lives on, sends it or hands it to a
// goroutine.
func keepsAny(d declaration, b *ast.BlockStmt, of map[string]bool) (keeps bool) {
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SendStmt:
			keeps = keeps || mentionsAny(n.Value, of)
		case *ast.GoStmt:
			keeps = keeps || mentionsAny(n.Call, of)
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				keeps = keeps || n.Tok != token.DEFINE && outlivesCalls(d, lhs) && mentionsAny(n.Rhs[min(i, len(n.Rhs)-1)], of)
			}
		}
		return !keeps
	})
	return keeps
}

// givenTo is the call that alone is given what a statement makes: x := f(), and then log(…, x).
func givenTo(in *ast.FuncDecl, n ast.Node, around []ast.Node) (call *ast.CallExpr, arg int, outer []ast.Node) {
	if in == nil || len(around) == 0 {
		return nil, 0, nil
	}
	a, ok := around[len(around)-1].(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Rhs[0] != n {
		return nil, 0, nil
	}
	id, ok := a.Lhs[0].(*ast.Ident)
	if !ok || id.Name == "_" || timesNamed(in.Body, id.Name) != 2 {
		return nil, 0, nil
	}
	eachNode(in, func(n ast.Node, around []ast.Node) {
		x, is := n.(*ast.CallExpr)
		if !is || call != nil || n.Pos() < a.End() {
			return
		}
		if i := slices.IndexFunc(x.Args, func(arg ast.Expr) bool { return isNamed(arg, id.Name) }); i >= 0 {
			call, arg, outer = x, i, slices.Clone(around)
		}
	})
	return call, arg, outer
}
