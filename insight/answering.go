package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// responders are the types, as a parameter has them, to which a handler writes its answer.
var responders = []string{"http.ResponseWriter", "*gin.Context", "echo.Context", "*echo.Context", "*fiber.Ctx", "fiber.Ctx", "*fasthttp.RequestCtx", "*restful.Response"}

// mostAnswering is how far up a result is followed to where it is written.
const mostAnswering = 4

// answersWith tells whether what a line makes goes to the answer of a request: by a stack that
// writes it there, or, as the source has it, through the line or that of a caller to a
// ResponseWriter.
func answersWith(c *code, frames []stack.Frame, at stack.Frame) bool {
	from := max(0, slices.IndexFunc(frames, func(f stack.Frame) bool { return f.File == at.File && f.Line == at.Line }))
	if slices.ContainsFunc(frames[:from], func(f stack.Frame) bool { return strings.HasPrefix(f.Func, "net/http.(*response).") }) {
		return true
	}
	for _, f := range frames[from:min(len(frames), from+mostAnswering)] {
		fn := c.function(f)
		if fn == nil {
			continue
		}
		goes, returned := goesTo(c, f, writersOf(c.parse(f.File), f.Line))
		if goes || !returned {
			return goes
		}
	}
	return false
}

// writersOf are the parameters of the functions around a line that write an answer.
func writersOf(s *syntax, line int) map[string]bool {
	names := map[string]bool{}
	s.onLine(line, func(n ast.Node, _ []ast.Node) {
		var of *ast.FuncType
		switch n := n.(type) {
		case *ast.FuncDecl:
			of = n.Type
		case *ast.FuncLit:
			of = n.Type
		default:
			return
		}
		for _, field := range of.Params.List {
			if slices.Contains(responders, types.ExprString(field.Type)) {
				for _, id := range field.Names {
					names[id.Name] = true
				}
			}
		}
	})
	return names
}

// goesTo tells whether the statement of a line, or one that uses what it assigns, has one of some
// names in it; and else whether that is returned.
func goesTo(c *code, f stack.Frame, writers map[string]bool) (goes, returned bool) {
	s := c.parse(f.File)
	made := map[string]bool{}
	var scope ast.Node
	s.onLine(f.Line, func(n ast.Node, around []ast.Node) {
		first, _ := s.lines(n)
		switch n := n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			scope = n
		case ast.Stmt:
			if _, block := n.(*ast.BlockStmt); block || first != f.Line {
				return
			}
			goes = goes || mentionsAny(n, writers)
			if _, ok := n.(*ast.ReturnStmt); ok {
				returned = true
			}
			if a, ok := n.(*ast.AssignStmt); ok {
				for _, lhs := range a.Lhs {
					if id, ok := lhs.(*ast.Ident); ok && id.Name != "_" && id.Name != "err" {
						made[id.Name] = true
					}
				}
				// An encoder or a buffer is filled where it is used.
				for _, rhs := range a.Rhs {
					if call, ok := rhs.(*ast.CallExpr); ok {
						if x, ok := call.Fun.(*ast.SelectorExpr); ok && x.Sel.Name == "Encode" {
							made[rootName(x.X)] = true
						}
					}
				}
			}
		}
	})
	if scope == nil || goes {
		return goes, returned
	}
	ast.Inspect(scope, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			goes = goes || mentionsAny(n, made) && mentionsAny(n, writers)
		case *ast.AssignStmt:
			// enc := json.NewEncoder(w), and then enc.Encode(v)
			goes = goes || len(n.Lhs) == 1 && mentionsAny(n.Lhs[0], made) && slices.ContainsFunc(n.Rhs, func(x ast.Expr) bool { return mentionsAny(x, writers) })
		case *ast.ReturnStmt:
			returned = returned || mentionsAny(n, made)
		}
		return true
	})
	return goes, returned
}
