package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// Place is a line at fault with the rest of its statement: findings may name any of
// its lines.
type Place struct {
	File        string // its name, without the folder
	First, Last int
}

// Places finds the lines that a truth marks in the sources of its folder.
func Places(dir string, marks []Mark) (places []Place, err error) {
	for _, m := range marks {
		p, err := m.find(dir)
		if err != nil {
			return nil, err
		}
		places = append(places, p)
	}
	return places, nil
}

// find looks for the one line with the text in the function.
func (m Mark) find(dir string) (p Place, err error) {
	name := filepath.Join(dir, filepath.FromSlash(m.File))
	text, err := os.ReadFile(name)
	if err != nil {
		return p, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, 0)
	if err != nil {
		return p, err
	}
	lines := strings.Split(string(text), "\n")
	for _, d := range file.Decls {
		if declared(d) != m.Function {
			continue
		}
		first, last := set.Position(d.Pos()).Line, set.Position(d.End()).Line
		found := 0
		for n := first; n <= last; n++ {
			if strings.Contains(lines[n-1], m.Text) {
				if found != 0 {
					return p, fmt.Errorf("%s: both line %d and line %d of %s have %q", name, found, n, m.Function, m.Text)
				}
				found = n
			}
		}
		if found == 0 {
			return p, fmt.Errorf("%s: no line of %s has %q", name, m.Function, m.Text)
		}
		p = statement(set, d, found)
		p.File = filepath.Base(name)
		return p, nil
	}
	return p, fmt.Errorf("%s: there is no %s", name, m.Function)
}

// declared is the name of a function or, with a dot and the type before it, of a method.
func declared(d ast.Decl) string {
	f, ok := d.(*ast.FuncDecl)
	if !ok {
		return ""
	}
	if f.Recv == nil {
		return f.Name.Name
	}
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return id.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

// statement returns the lines of the smallest statement around a line. Of one with
// statements in it, such as a loop, those of its head count.
func statement(set *token.FileSet, d ast.Decl, line int) Place {
	best := Place{First: line, Last: line}
	size := 1 << 30
	ast.Inspect(d, func(n ast.Node) bool {
		s, ok := n.(ast.Stmt)
		if _, block := n.(*ast.BlockStmt); !ok || block {
			return true
		}
		first, last := set.Position(s.Pos()).Line, set.Position(head(s)).Line
		if first <= line && line <= last && last-first < size {
			best, size = Place{First: first, Last: last}, last-first
		}
		return true
	})
	return best
}

// head is where a statement ends, or where the first block in it begins.
func head(s ast.Stmt) token.Pos {
	end := s.End()
	ast.Inspect(s, func(n ast.Node) bool {
		if b, ok := n.(*ast.BlockStmt); ok && b.Pos() < end {
			end = b.Pos()
		}
		return true
	})
	return end
}
