package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// A walk through the files of a tree goes through a folder even if its callback wants nothing of it, unless the callback
// says so (fs.SkipDir).

// skipWalk is a call that walks through a tree, and the callback's condition that leaves folders out.
type skipWalk struct {
	file    string
	line    int  // at which the callback leaves something out
	stats   bool // it is filepath.Walk, which examines each file
	byNames bool // of single folders by their names, which says nothing of what is below
}

// skipNames are names of functions that tell what is to be left out.
var skipNames = lazily(`(?i:ignor|skip|exclud|hidden)`)

// walkAt is the call on a line that walks through a tree, with its callback; that is nil where the line has none.
func walkAt(c *code, at stack.Frame) (walk *ast.CallExpr, cb *skipCall) {
	s := c.parse(at.File)
	s.onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		call, is := n.(*ast.CallExpr)
		if !is || cb != nil {
			return
		}
		line, _ := s.lines(call)
		if line == at.Line && slices.Contains([]string{"filepath.Walk", "filepath.WalkDir", "fs.WalkDir"}, types.ExprString(call.Fun)) && len(call.Args) > 1 {
			walk, cb = call, skipCallback(c, s, at.File, call.Args[len(call.Args)-1])
		}
	})
	return walk, cb
}

// skippable finds the walk that a line begins whose callback leaves out folders, going by the source, and lets the walk go
// through them: it never returns fs.SkipDir or fs.SkipAll.
func skippable(c *code, at stack.Frame) (w skipWalk, ok bool) {
	call, cb := walkAt(c, at)
	if cb == nil || cb.mayskip() {
		return w, false
	}
	if node, byNames := cb.leavesOut(cb.body.List, false); node != nil {
		line, _ := cb.s.lines(node)
		return skipWalk{cb.file, line, types.ExprString(call.Fun) == "filepath.Walk", byNames}, true
	}
	return w, false
}

// skipCall is a callback.
type skipCall struct {
	c      *code
	s      *syntax
	file   string
	body   *ast.BlockStmt
	paths  map[string]bool // variables that have the path, or a part of it from the root on
	names  map[string]bool // variables that have the last part of it alone
	entry  string          // the parameter that tells of the file
	folder map[string]bool // variables that tell whether it is a folder
}

// skipCallback is the callback that is given to a walk: a literal, or a function of the program.
func skipCallback(c *code, s *syntax, file string, x ast.Expr) *skipCall {
	var t *ast.FuncType
	cb := &skipCall{c: c, s: s, file: file, paths: map[string]bool{}, names: map[string]bool{}, folder: map[string]bool{}}
	switch x := x.(type) {
	case *ast.FuncLit:
		t, cb.body = x.Type, x.Body
	case *ast.Ident, *ast.SelectorExpr:
		found := c.functions()[lastName(types.ExprString(x))]
		if len(found) != 1 || found[0].Body == nil {
			return nil
		}
		t, cb.body, cb.file, cb.s = found[0].Type, found[0].Body, found[0].file, c.parse(found[0].file)
	default:
		return nil
	}
	given := parameters(t)
	if len(given) != 3 {
		return nil
	}
	cb.paths[given[0]], cb.entry = true, given[1]
	for range 3 { // what is made of one variable may be made into another
		inside(cb.body, cb.derive)
	}
	return cb
}

// derive notes which variable an assignment makes of the path.
func (cb *skipCall) derive(n ast.Node) {
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 {
		return
	}
	id, ok := a.Lhs[0].(*ast.Ident)
	if !ok {
		return
	}
	if call, is := a.Rhs[0].(*ast.CallExpr); is && strings.HasSuffix(types.ExprString(call.Fun), "IsDir") {
		cb.folder[id.Name] = true
		return
	}
	switch path, name := cb.about(a.Rhs[0]); {
	case name:
		cb.names[id.Name] = true
	case path && !hasCall(a.Rhs[0], func(call *ast.CallExpr) bool {
		return calledName(call) == "Ext" || calledName(call) == "Match" || calledName(call) == "MatchString"
	}):
		cb.paths[id.Name] = true
	}
}

// about tells of an expression whether it has the path, or the name alone.
func (cb *skipCall) about(x ast.Expr) (path, name bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if called := calledName(n); called == "Base" || called == "Name" && rootName(n.Fun) == cb.entry {
				name = true
				return false
			}
		case *ast.Ident:
			path, name = path || cb.paths[n.Name], name || cb.names[n.Name]
		}
		return true
	})
	return path, name
}

// mayskip tells whether the callback, or what it returns the answer of, may end the walk of a folder.
func (cb *skipCall) mayskip() bool {
	skips := func(n ast.Node) bool {
		return hasNode(n, func(x ast.Node) bool {
			id, ok := x.(*ast.Ident)
			return ok && (id.Name == "SkipDir" || id.Name == "SkipAll")
		})
	}
	if skips(cb.body) {
		return true
	}
	return hasCall(cb.body, func(call *ast.CallExpr) bool {
		return slices.ContainsFunc(cb.c.functions()[calledName(call)], func(d declaration) bool { return d.Body != nil && skips(d.Body) })
	})
}

// leavesOut finds the condition by which nothing is done for what it is true of, folders among it.
func (cb *skipCall) leavesOut(list []ast.Stmt, folder bool) (found ast.Node, byNames bool) {
	for _, st := range list {
		n, ok := st.(*ast.IfStmt)
		if !ok {
			continue
		}
		is := cb.folderOnly(n.Cond)
		if is && !folder {
			if at, byNames := cb.leavesOut(n.Body.List, true); at != nil {
				return at, byNames
			}
		}
		if !returnsNil(n.Body.List) {
			continue
		}
		if path, name := cb.holds(n.Cond); path || name && (folder || is) {
			return n, !path
		}
		if is && !hasNode(n.Cond, func(x ast.Node) bool { b, ok := x.(*ast.BinaryExpr); return ok && b.Op == token.LAND }) {
			return nil, false // what follows is asked of files alone
		}
	}
	return nil, false
}

// returnsNil tells of statements that the last one returns nil, and that the others do nothing but log.
func returnsNil(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	last, ok := list[len(list)-1].(*ast.ReturnStmt)
	if !ok || len(last.Results) != 1 || !isNamed(last.Results[0], "nil") {
		return false
	}
	for _, st := range list[:len(list)-1] {
		x, ok := st.(*ast.ExprStmt)
		if !ok || !hasCall(x, func(call *ast.CallExpr) bool {
			return strings.Contains(strings.ToLower(types.ExprString(call.Fun)), "log") || strings.HasPrefix(types.ExprString(call.Fun), "fmt.")
		}) {
			return false
		}
	}
	return true
}

// folderOnly tells of a condition that it is true of folders alone.
func (cb *skipCall) folderOnly(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.BinaryExpr:
		return x.Op == token.LAND && (cb.folderOnly(x.X) || cb.folderOnly(x.Y))
	case *ast.CallExpr:
		return calledName(x) == "IsDir"
	case *ast.Ident:
		return cb.folder[x.Name]
	}
	return false
}

// holds tells whether a condition can be true of a folder by its path, and of all that is below it then, or by its name.
// What asks for the end of a name, or for what is wanted rather than not, is no reason to leave out a folder.
func (cb *skipCall) holds(x ast.Expr) (path, name bool) {
	switch x := ast.Unparen(x).(type) {
	case *ast.BinaryExpr:
		switch x.Op {
		case token.LOR:
			p, n := cb.holds(x.X)
			q, m := cb.holds(x.Y)
			return p || q, n || m
		case token.LAND:
			if cb.filesOnly(x.X) || cb.filesOnly(x.Y) {
				return false, false
			}
			p, n := cb.holds(x.X)
			q, m := cb.holds(x.Y)
			return p || q, n || m
		case token.EQL:
			_, name = cb.about(x)
			return false, name && !hasCall(x, func(call *ast.CallExpr) bool { return calledName(call) == "Ext" })
		}
	case *ast.IndexExpr:
		_, name = cb.about(x.Index)
		return false, name
	case *ast.Ident: // the outcome of a match
		return false, false
	case *ast.CallExpr:
		if !cb.leavesFolders(x) {
			return false, false
		}
		for _, a := range x.Args {
			p, n := cb.about(a)
			path, name = path || p && !n, name || n
		}
		return path, name
	}
	return false, false
}

// filesOnly tells of a condition that it is true of files alone.
func (cb *skipCall) filesOnly(x ast.Expr) bool {
	text := types.ExprString(x)
	if u, ok := ast.Unparen(x).(*ast.UnaryExpr); ok && u.Op == token.NOT {
		return cb.folderOnly(u.X)
	}
	return strings.Contains(text, "IsRegular") || strings.Contains(text, "Ext(") || strings.Contains(text, "HasSuffix(")
}

// leavesFolders tells of a call with the path or the name that folders can be meant, with all that is below them: it asks
// for the beginning or a part of it, or is called for that.
func (cb *skipCall) leavesFolders(call *ast.CallExpr) bool {
	name := types.ExprString(call.Fun)
	switch name {
	case "strings.HasPrefix", "strings.Contains", "slices.Contains":
		return true
	}
	found := cb.c.functions()[calledName(call)]
	if len(found) != 1 || found[0].Body == nil {
		return skipNames.MatchString(name)
	}
	parts := hasCall(found[0].Body, func(call *ast.CallExpr) bool {
		return slices.Contains([]string{"strings.HasPrefix", "strings.Contains", "filepath.Match", "path.Match", "slices.Contains"}, types.ExprString(call.Fun)) || calledName(call) == "MatchString"
	})
	ends := hasCall(found[0].Body, func(call *ast.CallExpr) bool {
		return slices.Contains([]string{"Ext", "HasSuffix", "Open", "ReadFile"}, calledName(call))
	})
	return !ends && (parts || skipNames.MatchString(name))
}

// walksStat is what to do about a walk that examines each file.
const walksStat = " Use filepath.WalkDir instead of Walk: it stats a file only when Info is called."

// tellSkips says of a finding about the calls of a walk that folders could be skipped.
func tellSkips(in *Input, at stack.Frame, f *Finding) {
	c := in.code
	w, ok := skippable(c, at)
	if !ok {
		tellLateFilter(in, at, f)
		return
	}
	f.Summary += fmt.Sprintf("; the folders that the callback leaves out at %s are gone through as well: it returns nil for them, and never fs.SkipDir", fileLine(w.file, w.line))
	f.Advice = fmt.Sprintf("Return fs.SkipDir where a folder is left out (%s: if it is a folder, return fs.SkipDir, else nil), so that nothing below it is listed or examined.", fileLine(w.file, w.line))
	if w.stats {
		f.Advice += walksStat
	}
	f.Advice += " Keep what was found until it may have changed."
	f.Evidence = append(f.Evidence, c.shownAt(w.file, w.line, "leaves out folders, too"))
	if w.byNames {
		f.Doubts = append(f.Doubts, "what is below such a folder is asked by its own name now: with fs.SkipDir it is left out, too")
	}
}

// sameCalls tells of the CPU time of system calls that it is the time that units spend in them themselves at the same line:
// which one goes under the other, the one that says less or counts less.
func sameCalls(a, b *Finding) bool {
	calls, waits, under := a, b, true
	if a.Rule == wt01.ID {
		calls, waits, under = b, a, false
	}
	if calls.Rule != cp04.ID || waits.Rule != wt01.ID || waits.waitsFor != "file_call" || len(waits.waits) == 0 || waits.waits[0].Kind.Key() != "file_call" || firstLine(calls) != firstLine(waits) {
		return false
	}
	first := waits.Severity.AtLeast(calls.Severity) && (waits.Advice == calls.Advice || !calls.Severity.AtLeast(waits.Severity))
	return first == under
}
