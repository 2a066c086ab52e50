package insight

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"

	"loupe/recording"
)

// setIn are the places in the sources that the recording keeps which call a function of a
// package: where a setting may have been made. A call that sets it once is in no profile.
func (in *Input) setIn(pkg, function string) (out []Evidence) {
	for _, e := range in.Session.Manifest().Of(recording.Source) {
		s := in.code.parse(e.Source)
		if s == nil {
			continue
		}
		name := importedAs(s.file, pkg)
		if name == "" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(out) == 3 {
				return true
			}
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == function {
				if x, ok := f.X.(*ast.Ident); ok && x.Name == name {
					line, _ := s.lines(call)
					out = append(out, Evidence{Text: fmt.Sprintf("the source calls %s.%s here", path.Base(pkg), function), File: e.Source, Line: line, Source: in.code.text(e.Source, line)})
				}
			}
			return true
		})
	}
	return out
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
	data, err := c.session.Source(file)
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
