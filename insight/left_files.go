package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Files that a call leaves behind, by the expressions of their paths.

// file notes the files that a call of package os, or of a child process, creates or reads.
func (w *leftWalk) file(f *leftFrame, n *ast.CallExpr, pkg, name string) {
	add := func(x ast.Expr, t leftTouch) {
		if words := w.words(f, x, 0); !strings.Contains(words, ofCallee) {
			t.file, t.path = true, []string{words}
			w.all = append(w.all, t)
		}
	}
	switch {
	case pkg == "os/exec":
		for _, x := range n.Args {
			if _, fixed := x.(*ast.BasicLit); !fixed && !isContext(x) {
				add(x, leftTouch{child: true})
				add(x, leftTouch{child: true, sets: true})
			}
		}
	case len(n.Args) == 0:
	case name == "Create" || name == "WriteFile" || name == "Remove" || name == "Truncate":
		add(n.Args[0], leftTouch{sets: true})
	case name == "Rename" || name == "Link" || name == "Symlink":
		for _, x := range n.Args {
			add(x, leftTouch{sets: true})
		}
	case name == "OpenFile" && len(n.Args) > 1:
		flags := types.ExprString(n.Args[1])
		appends := strings.Contains(flags, "O_APPEND")
		add(n.Args[0], leftTouch{sets: appends || strings.Contains(flags, "O_CREATE") || strings.Contains(flags, "O_WRONLY") || strings.Contains(flags, "O_RDWR"), adds: appends})
	case name == "Open" || name == "ReadFile" || name == "Stat" || name == "Lstat":
		add(n.Args[0], leftTouch{})
	}
}

// words is an expression by the names of the function that all begins with: two that are the same text have the same value,
// as long as nothing in it changes.
func (w *leftWalk) words(f *leftFrame, x ast.Expr, depth int) string {
	if tv, ok := w.d.t.info.Types[x]; ok && tv.Value != nil {
		return tv.Value.ExactString()
	}
	if depth > leftDepth {
		return w.own(f, x)
	}
	switch e := ast.Unparen(x).(type) {
	case *ast.BasicLit:
		return e.Value
	case *ast.Ident:
		v := w.d.variable(e)
		if given, ok := f.given[v]; ok && v != nil {
			return given.text
		}
		if v == nil || ofPackage(v) {
			return e.Name
		}
		if defs := w.d.definitions(f.decl)[v]; len(defs) == 1 && defs[0].x != nil && !defs[0].ranged && !defs[0].part && !defs[0].unknown {
			if call, ok := ast.Unparen(defs[0].x).(*ast.CallExpr); !ok || len(calledDecls(w.d, call)) == 0 && w.d.t.fromPackage(call.Fun) != "os" {
				return w.words(f, defs[0].x, depth+1)
			}
		}
		return w.own(f, e)
	case *ast.SelectorExpr:
		return w.words(f, e.X, depth+1) + "." + e.Sel.Name
	case *ast.BinaryExpr:
		return w.words(f, e.X, depth+1) + e.Op.String() + w.words(f, e.Y, depth+1)
	case *ast.CallExpr:
		var args []string
		for _, a := range e.Args {
			args = append(args, w.words(f, a, depth+1))
		}
		return w.words(f, e.Fun, depth+1) + "(" + strings.Join(args, ",") + ")"
	case *ast.StarExpr:
		return w.words(f, e.X, depth+1)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return w.words(f, e.X, depth+1)
		}
	}
	return w.own(f, x)
}

// ofCallee is a part of the text of what a called function has of its own: it is another one in each call.
const ofCallee = "\x00"

// own is the text of what only one function has.
func (w *leftWalk) own(f *leftFrame, x ast.Expr) string {
	if f.outer == nil {
		return types.ExprString(x)
	}
	return ofCallee
}
