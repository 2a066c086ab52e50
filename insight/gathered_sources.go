package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Whether to handle the items changes what they are read from, by the source: the same file is written anew, a file is put into the folder that is
// walked, a table that is gone through is changed, or rows are changed while the query is open. Then the list is what keeps the two apart.

// codePart is a part of a function.
type codePart struct {
	decl     *ast.FuncDecl
	from, to token.Pos
}

// has tells of a node of the function that it is in the part.
func (p codePart) has(n ast.Node) bool { return p.from <= n.Pos() && n.Pos() < p.to }

// itemSources are what the turns of a loop read their items from, each by what it is called everywhere in the source.
type itemSources struct {
	d     *derivations
	names *placeNames
	decl  *ast.FuncDecl
	whole ast.Node // has all turns
	// files are the paths that were opened before the turns end, handles what was opened so and is read from, folders those that the turns walk.
	files, handles, folders map[string]bool
	openers                 map[*ast.CallExpr]bool // the calls that opened the files
	// gone are the tables, lists and channels that the turns go through, and queries what has the query open that they read the rows of.
	gone, queries map[string]bool
	// sets are the lists and the tables that functions called by the turns change.
	sets map[string]bool
}

// sourceChange is a place that changes what the items are read from.
type sourceChange struct {
	at   ast.Node
	text string
	// maybe tells that the source only shows that both use the same thing.
	maybe bool
}

// itemsFrom finds what the turns read from, in their function and in its callers.
func itemsFrom(d *derivations, decl *ast.FuncDecl, whole ast.Node) *itemSources {
	s := &itemSources{d: d, names: &placeNames{d: d}, decl: decl, whole: whole, files: map[string]bool{}, openers: map[*ast.CallExpr]bool{}, handles: map[string]bool{}, folders: map[string]bool{},
		gone: map[string]bool{}, queries: map[string]bool{}, sets: map[string]bool{}}
	s.opened(codePart{decl, decl.Body.Pos(), whole.End()})
	for _, by := range whoCalls(d, decl) {
		s.opened(codePart{by.in, by.in.Body.Pos(), by.call.Pos()})
	}
	inner := map[*ast.FuncDecl]ast.Node{decl: whole}
	for other := range d.reached(decl, whole) {
		if other != decl {
			s.opened(codePart{other, other.Body.Pos(), other.Body.End()})
			inner[other] = other.Body
		}
	}
	for in, part := range inner {
		s.goesThrough(in, part)
	}
	return s
}

// note adds what an expression is called everywhere.
func (s *itemSources) note(into map[string]bool, decl *ast.FuncDecl, x ast.Expr) {
	for _, name := range s.names.of(decl, x, 0) {
		into[name] = true
	}
}

// knows tells of an expression that it may be one of some.
func (s *itemSources) knows(of map[string]bool, decl *ast.FuncDecl, x ast.Expr) bool {
	return len(of) > 0 && slices.ContainsFunc(s.names.of(decl, x, 0), func(name string) bool { return of[name] })
}

// takesReader are calls that read from what they are given first, and readsOpen methods that read on in what is open.
var (
	takesReader = lazily(`^(New(Scanner|Reader\w*|Decoder)|Read\w*)$`)
	readsOpen   = lazily(`^(Read\w*|Seek)$`)
)

// opened notes the files that a part of a function opens or reads as a whole, and what it reads from.
func (s *itemSources) opened(p codePart) {
	ast.Inspect(p.decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !p.has(call) {
			return true
		}
		name := calledName(call)
		if len(call.Args) > 0 {
			switch {
			case opensByName.MatchString(name) && s.takesPath(call) && !onlyWrites(call):
				s.note(s.files, p.decl, call.Args[0])
				s.openers[call] = true
			case strings.HasPrefix(name, "Copy"):
				s.note(s.handles, p.decl, call.Args[min(1, len(call.Args)-1)])
			case takesReader.MatchString(name):
				s.note(s.handles, p.decl, call.Args[0])
			}
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && readsOpen.MatchString(name) && s.d.t.fromPackage(sel) == "" {
			s.note(s.handles, p.decl, sel.X)
		}
		return true
	})
}

// takesPath tells of a call that its first argument may be the path of a file: it is one of package os, of a function of the sources, or a method that is
// called like one.
func (s *itemSources) takesPath(call *ast.CallExpr) bool {
	if pkg := s.d.t.fromPackage(call.Fun); pkg != "" && s.d.t.decls[s.d.t.callee(call)] == nil {
		return pkg == "os" || pkg == "io/ioutil"
	}
	if s.d.t.decls[s.d.t.callee(call)] != nil {
		return true
	}
	_, method := call.Fun.(*ast.SelectorExpr)
	return method && slices.Contains([]string{"Open", "OpenFile", "ReadFile", "Create", "WriteFile", "Rename", "Truncate"}, calledName(call))
}

// onlyWrites tells of a call that opens a file that it does so only to write to it.
func onlyWrites(call *ast.CallExpr) bool {
	return slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return strings.Contains(types.ExprString(x), "O_WRONLY") })
}

// queryNames are methods that open a query, whose rows are read one after the other.
var queryNames = lazily(`^(Query\w*|Queryx\w*|NamedQuery\w*|Rows|Cursor|Find)$`)

// goesThrough notes what a part of the turns goes through while items are taken from it.
func (s *itemSources) goesThrough(decl *ast.FuncDecl, part ast.Node) {
	ast.Inspect(part, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if t := s.d.t.typeOf(n.X); t != nil && (decl == s.decl || s.yields(n.Body)) {
				s.note(s.gone, decl, n.X)
			}
		case *ast.ForStmt:
			if n.Cond != nil && (decl == s.decl || s.yields(n.Body)) {
				ast.Inspect(n.Cond, func(x ast.Node) bool {
					if call, ok := x.(*ast.CallExpr); ok && isNamed(call.Fun, "len") && len(call.Args) == 1 {
						s.note(s.gone, decl, call.Args[0])
					}
					return true
				})
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				s.note(s.gone, decl, n.X)
			}
		case *ast.CallExpr:
			switch calledName(n) {
			case "ReadDir", "Walk", "WalkDir", "Glob":
				s.walks(decl, n)
			}
		}
		if decl != s.decl {
			for _, change := range containersChanged(n) {
				s.note(s.sets, decl, change.of)
			}
		}
		return true
	})
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		sel, method := (*ast.SelectorExpr)(nil), false
		if ok && call.Pos() < part.End() {
			sel, method = call.Fun.(*ast.SelectorExpr)
		}
		if method && queryNames.MatchString(sel.Sel.Name) && s.d.t.fromPackage(sel) == "" && s.readsRows(decl, part, call) {
			s.note(s.queries, decl, sel.X)
		}
		return true
	})
}

// yields tells of the body of a loop in a function that the turns call that it hands on what it goes through one by one: it calls what it was given.
func (s *itemSources) yields(body *ast.BlockStmt) bool {
	return hasCall(body, func(call *ast.CallExpr) bool {
		id, ok := call.Fun.(*ast.Ident)
		if !ok {
			return false
		}
		v, is := s.d.t.info.Uses[id].(*types.Var)
		return is && !v.IsField()
	})
}

// walks notes the folder that a call of the turns goes through.
func (s *itemSources) walks(decl *ast.FuncDecl, call *ast.CallExpr) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	for _, name := range s.names.of(decl, call.Args[0], 0) {
		s.folders[name] = true
	}
	if s.d.t.fromPackage(sel) == "" {
		s.note(s.folders, decl, sel.X)
	}
}

// readsRows tells of a query that the turns read its rows: what it returns is used there.
func (s *itemSources) readsRows(decl *ast.FuncDecl, part ast.Node, query *ast.CallExpr) (found bool) {
	for v, defs := range s.d.definitions(decl) {
		if slices.ContainsFunc(defs, func(def definition) bool { return def.x != nil && covers(def.x, query) }) {
			found = found || hasCall(part, func(call *ast.CallExpr) bool {
				sel, ok := call.Fun.(*ast.SelectorExpr)
				return ok && s.d.variable(sel.X) == v && slices.Contains([]string{"Next", "Scan", "StructScan"}, sel.Sel.Name)
			})
		}
	}
	return found
}

// containerChange is a list, a table or a channel that a statement puts something into, or takes something out of.
type containerChange struct {
	of    ast.Expr
	text  string
	grows bool
}

// containersChanged are those that a node changes by itself.
func containersChanged(n ast.Node) (all []containerChange) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			rhs := ast.Unparen(n.Rhs[min(i, len(n.Rhs)-1)])
			_, cuts := rhs.(*ast.SliceExpr)
			call, calls := rhs.(*ast.CallExpr)
			switch x := ast.Unparen(lhs).(type) {
			case *ast.IndexExpr:
				all = append(all, containerChange{x.X, "it changes", true})
			case *ast.SelectorExpr, *ast.Ident:
				switch {
				case n.Tok == token.DEFINE:
				case calls && isNamed(call.Fun, "append") && len(call.Args) > 0:
					all = append(all, containerChange{x, "it appends to", true})
				case cuts:
					all = append(all, containerChange{x, "it cuts", false})
				}
			}
		}
	case *ast.SendStmt:
		all = append(all, containerChange{n.Chan, "it sends to", true})
	case *ast.CallExpr:
		if (isNamed(n.Fun, "delete") || isNamed(n.Fun, "clear")) && len(n.Args) > 0 {
			all = append(all, containerChange{n.Args[0], "it takes entries out of", false})
		}
	}
	return all
}

// changed finds the first place in some parts of functions that changes what the items are read from; item has the variables of the loop that handles
// them.
func (s *itemSources) changed(parts []codePart, handles codePart, item map[types.Object]bool) (found *sourceChange) {
	all := slices.Clone(parts)
	body := []codePart{handles}
	for _, n := range topNodes(handles) {
		for decl := range s.d.reached(handles.decl, n) {
			if decl != s.decl {
				body = append(body, codePart{decl, decl.Body.Pos(), decl.Body.End()})
			}
		}
	}
	note := func(c sourceChange) {
		if found == nil || found.maybe && !c.maybe || found.maybe == c.maybe && c.at.Pos() < found.at.Pos() {
			found = &c
		}
	}
	for _, p := range append(all, body...) {
		ast.Inspect(p.decl.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && p.has(call) {
				if text := s.rewrites(p.decl, call); text != "" {
					note(sourceChange{call, text, false})
				}
			}
			return true
		})
	}
	for _, p := range body {
		if p.decl == handles.decl {
			for _, n := range topNodes(handles) {
				spreadItems(s.d, n, item)
			}
		}
		ast.Inspect(p.decl.Body, func(n ast.Node) bool {
			if n == nil || !p.has(n) {
				return true
			}
			for _, c := range containersChanged(n) {
				switch {
				case s.knows(s.gone, p.decl, c.of):
					note(sourceChange{n, c.text + " " + types.ExprString(c.of) + ", which the first loop goes through", false})
				case c.grows && s.knows(s.sets, p.decl, c.of):
					note(sourceChange{n, types.ExprString(c.of), true})
				}
			}
			if call, ok := n.(*ast.CallExpr); ok {
				if text := s.intoFolder(p.decl, call, item); text != "" {
					note(sourceChange{call, text, false})
				}
			}
			return true
		})
	}
	return found
}

// topNodes are the statements of a function, as far out as they are in a part of it.
func topNodes(p codePart) (all []ast.Node) {
	ast.Inspect(p.decl.Body, func(n ast.Node) bool {
		if _, ok := n.(ast.Stmt); ok && p.has(n) && n.End() <= p.to {
			all = append(all, n)
			return false
		}
		return true
	})
	return all
}

// writesHandle are methods, and functions that are given it first, that write to what is open.
var writesHandle = lazily(`^(Write\w*|Truncate|Fprint\w*|NewWriter\w*|NewEncoder|Copy\w*)$`)

// changesRows are methods that change what a query may be reading.
var changesRows = lazily(`^(Exec\w*|MustExec\w*|NamedExec\w*|Insert\w*|Update\w*|Delete\w*)$`)

// rewrites says of a call that it writes to what the items are read from; empty where it does not.
func (s *itemSources) rewrites(decl *ast.FuncDecl, call *ast.CallExpr) string {
	name := calledName(call)
	sel, method := call.Fun.(*ast.SelectorExpr)
	method = method && s.d.t.fromPackage(sel) == ""
	if savesByName.MatchString(name) && s.takesPath(call) && !s.openers[call] {
		for i, x := range call.Args[:min(2, len(call.Args))] {
			if (i == 0) != (name == "Rename") && s.knows(s.files, decl, x) {
				return types.ExprString(x) + " is what they are read from"
			}
		}
	}
	switch {
	case method && writesHandle.MatchString(name) && s.knows(s.handles, decl, sel.X):
		return types.ExprString(sel.X) + " is what they are read from"
	case !method && writesHandle.MatchString(name) && len(call.Args) > 0 && s.knows(s.handles, decl, call.Args[0]):
		return types.ExprString(call.Args[0]) + " is what they are read from"
	case method && changesRows.MatchString(name) && s.knows(s.queries, decl, sel.X):
		return types.ExprString(sel.X) + " has the query open that they are read from, until the last one"
	}
	return ""
}

// fillsFolder are functions that put a file or a folder somewhere, or take it away with all that is in it.
var fillsFolder = lazily(`^(Create|CreateTemp|OpenFile|WriteFile|Mkdir|MkdirAll|MkdirTemp|Symlink|Link|Rename|RemoveAll)$`)

// intoFolder says of a call that it changes what is in the folder that the turns walk: by the folder's name, or by that of an item, which is a path in it.
func (s *itemSources) intoFolder(decl *ast.FuncDecl, call *ast.CallExpr, item map[types.Object]bool) string {
	name := calledName(call)
	if len(s.folders) == 0 || len(call.Args) == 0 || !fillsFolder.MatchString(name) || !s.takesPath(call) && name != "CreateTemp" {
		return ""
	}
	x := call.Args[0]
	if name == "Rename" || name == "Symlink" || name == "Link" {
		x = call.Args[min(1, len(call.Args)-1)]
	}
	const text = " changes the folder that they are read from"
	for _, path := range s.names.of(decl, x, 0) {
		for folder := range s.folders {
			if path == folder && name != "MkdirAll" || strings.HasPrefix(path, folder+"/") {
				return types.ExprString(call.Fun) + text
			}
		}
	}
	first, longer := s.begins(decl, x, 0)
	if v := s.d.variable(first); v != nil && item[v] && (longer || name == "RemoveAll") {
		return types.ExprString(call.Fun) + text
	}
	return ""
}

// begins is the variable that a path begins with; longer tells that it is another path than that of the variable.
func (s *itemSources) begins(decl *ast.FuncDecl, x ast.Expr, depth int) (first ast.Expr, longer bool) {
	switch e := ast.Unparen(x).(type) {
	case *ast.BinaryExpr:
		first, _ = s.begins(decl, e.X, depth)
		return first, true
	case *ast.CallExpr:
		pkg, name := s.d.t.fromPackage(e.Fun), calledName(e)
		if len(e.Args) == 0 || pkg != "path/filepath" && pkg != "path" && !(pkg == "strings" && strings.HasPrefix(name, "Trim")) || name == "Base" {
			return nil, false
		}
		first, _ = s.begins(decl, e.Args[0], depth)
		return first, true
	case *ast.Ident:
		v := s.d.variable(e)
		if defs := s.d.definitions(decl)[v]; v != nil && len(defs) == 1 && defs[0].x != nil && !defs[0].ranged && isLocal(decl, v) && depth < gatheredDepth {
			return s.begins(decl, defs[0].x, depth+1)
		}
		return e, false
	}
	return nil, false
}
