package insight

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// setIn are the places in the sources that the recording keeps which call a function of a
// package: where a setting may have been made. A call that sets it once is in no profile.
func (in *Input) setIn(pkg, function string) []Evidence {
	return in.code.callsIn(path.Base(pkg)+"."+function, func(file *ast.File, call *ast.CallExpr) bool {
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || f.Sel.Name != function {
			return false
		}
		x, ok := f.X.(*ast.Ident)
		return ok && x.Name == importedAs(file, pkg)
	})
}

// setTo are those of setIn that may have set the value: a call with another number cannot
// have been the last one.
func setTo(c *code, pkg, function string, value int64) []Evidence {
	return c.callsIn(path.Base(pkg)+"."+function, func(file *ast.File, call *ast.CallExpr) bool {
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || f.Sel.Name != function || len(call.Args) != 1 {
			return false
		}
		x, ok := f.X.(*ast.Ident)
		if !ok || x.Name != importedAs(file, pkg) {
			return false
		}
		n, known := numberOf(call.Args[0])
		return !known || n == value
	})
}

// numberOf is the number that an expression of whole numbers stands for.
func numberOf(e ast.Expr) (n int64, known bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return numberOf(e.X)
	case *ast.BasicLit:
		n, err := strconv.ParseInt(e.Value, 0, 64)
		return n, err == nil
	case *ast.UnaryExpr:
		n, known := numberOf(e.X)
		return -n, known && e.Op == token.SUB
	case *ast.BinaryExpr:
		a, knownA := numberOf(e.X)
		b, knownB := numberOf(e.Y)
		switch {
		case !knownA || !knownB:
			return 0, false
		case e.Op == token.ADD:
			return a + b, true
		case e.Op == token.SUB:
			return a - b, true
		case e.Op == token.MUL:
			return a * b, true
		case e.Op == token.SHL && b >= 0 && b < 63:
			return a << b, true
		}
	}
	return 0, false
}

// callsIn are the first calls in the sources that the recording keeps for which keep is
// true, with the name of what is called.
func (c *code) callsIn(name string, keep func(file *ast.File, call *ast.CallExpr) bool) (out []Evidence) {
	c.eachSource(func(file string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(out) < 3 && keep(s.file, call) {
				line, _ := s.lines(call)
				out = append(out, c.shownAt(file, line, "the source calls %s here", name))
			}
			return true
		})
	})
	return out
}

// nagleIn are the places in the sources that may switch Nagle's algorithm on, which Go has
// off for each new connection.
func (c *code) nagleIn() []Evidence {
	return c.callsIn("SetNoDelay", func(_ *ast.File, call *ast.CallExpr) bool {
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || f.Sel.Name != "SetNoDelay" || len(call.Args) != 1 {
			return false
		}
		arg, ok := call.Args[0].(*ast.Ident)
		return !ok || arg.Name != "true"
	})
}

// importedAs is the name that a file has for a package; empty where it does not import it.
func importedAs(file *ast.File, pkg string) string {
	i := slices.IndexFunc(file.Imports, func(spec *ast.ImportSpec) bool {
		to, err := strconv.Unquote(spec.Path.Value)
		return err == nil && to == pkg
	})
	switch {
	case i < 0:
		return ""
	case file.Imports[i].Name != nil:
		return file.Imports[i].Name.Name
	}
	return path.Base(pkg)
}

// text is a line of a source file; empty where the recording does not have it.
func (c *code) text(file string, line int) string {
	data, err := keptSource(c, file)
	if err != nil {
		return ""
	}
	n := 0
	for l := range strings.Lines(string(data)) {
		if n++; n == line {
			return strings.TrimSpace(l)
		}
	}
	return ""
}
