package repeats

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
)

// TestLanguage: the package is built into programs of Go 1.21 as well, whose language knows less.
func TestLanguage(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	conf := types.Config{GoVersion: "go1.21", Importer: importer.ForCompiler(fset, "source", nil), Error: func(err error) { t.Error(err) }}
	conf.Check("repeats", fset, files, nil)
}
