package facts

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"sync"

	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
)

// Serves tells of a function whether the sources that the recording keeps start goroutines
// with it for accepted connections: a go statement in a function that waits for connections
// before (Accept). The sources are read at the first question.
//
// Of a connection that is older than the trace, nothing in the trace tells who has made it.
func Serves(s *session.Session) func(function string) bool {
	servers := sync.OnceValue(func() map[string]bool { return serversIn(s) })
	return func(function string) bool { return servers()[serverKey(function)] }
}

// serverKey names a function by the last part of its package and its own name. The source of
// a method has no more, and two that have the same do the same for all that is known.
func serverKey(function string) string {
	pkg := stack.Package(function)
	name := function[strings.LastIndexByte(function, '.')+1:]
	return pkg[strings.LastIndexByte(pkg, '/')+1:] + "." + name
}

// serversIn are the functions that sources start goroutines with for accepted connections, by
// [serverKey].
func serversIn(s *session.Session) map[string]bool {
	servers := map[string]bool{}
	for _, e := range s.Manifest().Of(recording.Source) {
		text, err := s.Source(e.Source)
		if err != nil || !bytes.Contains(text, []byte(".Accept")) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				startedBehindAccept(fn.Body, func(name string) { servers[file.Name.Name+"."+name] = true })
			}
		}
	}
	return servers
}

// startedBehindAccept finds the functions and methods of the same package that go statements
// call behind a call of Accept, in one body.
func startedBehindAccept(body *ast.BlockStmt, found func(name string)) {
	accepted := token.NoPos
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && accepted == token.NoPos && (f.Sel.Name == "Accept" || f.Sel.Name == "AcceptTCP" || f.Sel.Name == "AcceptUnix") {
				accepted = n.Pos()
			}
		case *ast.GoStmt:
			if accepted == token.NoPos || len(n.Call.Args) == 0 {
				return true // it is not given the connection
			}
			switch f := n.Call.Fun.(type) {
			case *ast.Ident:
				found(f.Name)
			case *ast.SelectorExpr:
				found(f.Sel.Name)
			}
		}
		return true
	})
}
