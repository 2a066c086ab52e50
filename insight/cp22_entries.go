package insight

import (
	"go/ast"
	"go/types"
	"strconv"
	"strings"

	"loupe/value/stack"
)

// initEntries are calls that build one entry each when a package is initialized.
type initEntries struct {
	call  string // "Register"
	count int
}

// entriesAt counts the calls like those at the lines where samples see a package being initialized: in the
// declarations of variables, and in init functions outside of loops, of the files of that package that the
// recording keeps. Those without a sample may be missing, so that there may be more.
func entriesAt(c *code, lines []stack.Frame) initEntries {
	if len(lines) == 0 {
		return initEntries{}
	}
	seen, best := map[string]int64{}, ""
	for _, f := range lines {
		s := c.parse(f.File)
		if s == nil {
			continue
		}
		taken := false
		s.eachInitCall(func(call *ast.CallExpr) {
			if first, _ := s.lines(call); first != f.Line || taken {
				return
			}
			taken = true
			name := types.ExprString(call.Fun)
			if seen[name]++; best == "" || seen[name] > seen[best] || seen[name] == seen[best] && name < best {
				best = name
			}
		})
	}
	if best == "" {
		return initEntries{}
	}
	e := initEntries{call: best}
	dir := folderOf(lines[0].File)
	c.eachSource(func(file string, s *syntax) {
		if folderOf(file) != dir || strings.HasSuffix(file, "_test.go") {
			return
		}
		s.eachInitCall(func(call *ast.CallExpr) {
			if types.ExprString(call.Fun) == best {
				e.count++
			}
		})
	})
	return e
}

// eachInitCall calls visit for the calls that the initialization of a file's package makes by itself: those of
// its variables, and those of its init functions that are in no loop. The outer call comes first.
func (s *syntax) eachInitCall(visit func(call *ast.CallExpr)) {
	calls := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit, *ast.ForStmt, *ast.RangeStmt:
				return false
			case *ast.CallExpr:
				visit(n)
			}
			return true
		})
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					for _, x := range v.Values {
						calls(x)
					}
				}
			}
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" && d.Body != nil {
				calls(d.Body)
			}
		}
	}
}

// importOf is where the sources that the recording keeps import a package.
func importOf(c *code, pkg string) (at Evidence, ok bool) {
	c.eachSource(func(file string, s *syntax) {
		for _, i := range s.file.Imports {
			if name, err := strconv.Unquote(i.Path.Value); err == nil && name == pkg && !ok {
				first, _ := s.lines(i)
				at, ok = c.shownAt(file, first, "package %s is imported here", pkg), true
			}
		}
	})
	return at, ok
}
