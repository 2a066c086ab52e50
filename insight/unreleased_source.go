package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// What the source takes and never gives back, as far as one function shows it.

// Unreleased are lines of the sources that open something, or allocate memory of C, in a
// function that neither releases it nor hands it on.
type Unreleased struct {
	// Bodies are those of HTTP responses, Files what has a descriptor, C memory of C.
	Bodies, Files, C []Evidence
	// CalledC are the other calls of C functions: what they keep only their source tells.
	CalledC []Evidence
}

// UnreleasedIn reads the sources of a recording.
func UnreleasedIn(in *Input) (u Unreleased) {
	in.code.eachSource(func(file string, s *syntax) {
		eachFunction(s.file, func(body *ast.BlockStmt) {
			l := &releases{c: in.code, file: file, s: s, body: body, u: &u}
			inside(body, l.look)
		})
	})
	all := []Finding{{Evidence: u.Bodies}, {Evidence: u.Files}, {Evidence: u.C}, {Evidence: u.CalledC}}
	shorten(in, all)
	return u
}

// eachFunction calls do with the body of each function of a file, literals included.
func eachFunction(file *ast.File, do func(body *ast.BlockStmt)) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				do(n.Body)
			}
		case *ast.FuncLit:
			do(n.Body)
		}
		return true
	})
}

// releases looks at one function.
type releases struct {
	c    *code
	file string
	s    *syntax
	body *ast.BlockStmt
	u    *Unreleased
}

// opensFile are functions whose first result has a descriptor.
var opensFile = []string{"os.Open", "os.OpenFile", "os.Create", "os.CreateTemp", "net.Dial", "net.DialTimeout", "tls.Dial"}

// asksHTTP are functions, and methods of a client, whose first result is a response.
var asksHTTP = []string{"http.Get", "http.Head", "http.Post", "http.PostForm"}

// allocatesC are functions whose result C's free is to be called with.
var allocatesC = []string{"C.malloc", "C.calloc", "C.realloc", "C.strdup", "C.CString", "C.CBytes"}

func (l *releases) look(n ast.Node) {
	call, to := callAndResult(n)
	if call == nil {
		return
	}
	name := types.ExprString(call.Fun)
	switch {
	case slices.Contains(asksHTTP, name), strings.HasSuffix(name, ".Do") && importedAs(l.s.file, "net/http") != "":
		if name := resultName(to); !l.has(name+".Body.Close") && !l.handedOn(name, call) {
			l.note(&l.u.Bodies, call, "the body of this response is never closed in its function")
		}
	case slices.Contains(opensFile, name):
		if name := resultName(to); !l.has(name+".Close") && !l.handedOn(name, call) {
			l.note(&l.u.Files, call, "what is opened here is never closed in its function")
		}
	}
	// A call of C may be within another: unsafe.Pointer(C.CString(s)).
	ast.Inspect(call, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name := types.ExprString(c.Fun)
		switch {
		case !strings.HasPrefix(name, "C.") || name == "C.free" || importedAs(l.s.file, "C") == "":
		case slices.Contains(allocatesC, name) && !l.has("C.free"):
			l.note(&l.u.C, c, "%s allocates here, and its function never calls C.free", name)
		case !slices.Contains(allocatesC, name) && len(c.Args) > 0 || strings.Contains(strings.ToLower(name), "alloc"):
			l.note(&l.u.CalledC, c, "%s is called here", name)
		}
		return true
	})
}

// note adds a line once.
func (l *releases) note(to *[]Evidence, at ast.Node, format string, args ...any) {
	line, _ := l.s.lines(at)
	e := l.c.shownAt(l.file, line, format, args...)
	if !slices.ContainsFunc(*to, func(o Evidence) bool { return o.File == e.File && o.Line == e.Line }) {
		*to = append(*to, e)
	}
}

// callAndResult are the call of a statement, and what its first result is assigned to.
func callAndResult(n ast.Node) (*ast.CallExpr, ast.Expr) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if call, ok := n.Rhs[0].(*ast.CallExpr); ok && len(n.Rhs) == 1 {
			return call, n.Lhs[0]
		}
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok {
			return call, nil
		}
	}
	return nil, nil
}

// resultName is the variable that a result is assigned to; "_" where it is dropped.
func resultName(to ast.Expr) string {
	if to == nil {
		return "_"
	}
	return types.ExprString(to)
}

// has tells whether the function, or one within it, calls something by this name.
func (l *releases) has(name string) (found bool) {
	ast.Inspect(l.body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		found = found || ok && types.ExprString(c.Fun) == name
		return !found
	})
	return found
}

// handedOn tells whether a variable is given to somebody else, who may release it: it is
// returned, stored, sent or an argument. What is stored at once, in a field, is.
func (l *releases) handedOn(name string, from *ast.CallExpr) (on bool) {
	if name == "_" {
		return false
	}
	if strings.ContainsAny(name, ".[") {
		return true
	}
	is := func(e ast.Expr) bool {
		text := types.ExprString(e)
		return text == name || text == "&"+name
	}
	any := func(list []ast.Expr) bool { return slices.ContainsFunc(list, is) }
	ast.Inspect(l.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			on = on || any(n.Results) || slices.ContainsFunc(n.Results, func(e ast.Expr) bool { return types.ExprString(e) == name+".Body" })
		case *ast.CallExpr:
			on = on || n != from && any(n.Args)
		case *ast.AssignStmt:
			on = on || any(n.Rhs) || slices.ContainsFunc(n.Rhs, func(e ast.Expr) bool { return types.ExprString(e) == name+".Body" })
		case *ast.CompositeLit:
			on = on || any(n.Elts)
		case *ast.KeyValueExpr:
			on = on || is(n.Value)
		case *ast.SendStmt:
			on = on || is(n.Value)
		}
		return !on
	})
	return on
}
