package insight

import (
	"go/ast"
	"go/types"
	"path"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What is made of files can be kept only as long as the files do not change.

// parsers are functions and methods, by their names, that are given the names of files, from which
// argument on.
var parsers = map[string]int{"ParseFiles": 0, "ParseGlob": 0, "LoadX509KeyPair": 0, "DecodeFile": 0}

// madeOfFiles finds the arguments that name the files which the first line of a way makes something of,
// with the ways on which they are.
func madeOfFiles(c *code, way []stack.Frame) (files []given) {
	fn := c.scopeAt(way[0])
	if fn == nil {
		return nil
	}
	direct := func(call *ast.CallExpr) {
		if i, ok := parsers[calledName(call)]; ok && i < len(call.Args) {
			for _, x := range call.Args[i:] {
				files = append(files, given{x, fn, way})
			}
		}
	}
	calls := c.lineCalls(way[0])
	for _, call := range calls {
		direct(call)
		for _, x := range call.Args {
			files = append(files, filesBehind(c, x, way, 0)...)
		}
	}
	if len(files) == 0 { // what is executed was parsed before
		for _, call := range calls {
			if !strings.HasPrefix(calledName(call), "Execute") {
				continue
			}
			ast.Inspect(fn.body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					direct(call)
				}
				return true
			})
		}
	}
	return files
}

// filesBehind finds the names of the files that a value was read from.
func filesBehind(c *code, x ast.Expr, way []stack.Frame, depth int) (files []given) {
	fn := c.scopeAt(way[0])
	if fn == nil || depth > 4 {
		return nil
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.SelectorExpr:
		return filesBehind(c, x.X, way, depth+1)
	case *ast.UnaryExpr:
		return filesBehind(c, x.X, way, depth+1)
	case *ast.CallExpr:
		if slices.Contains(opens, types.ExprString(x.Fun)) && len(x.Args) > 0 {
			return []given{{x.Args[0], fn, way}}
		}
		for _, a := range x.Args { // it is decoded, or read
			files = append(files, filesBehind(c, a, way, depth+1)...)
		}
		return files
	case *ast.Ident:
		if i := fn.parameter(x.Name); i >= 0 && fn.name != "" && len(way) > 1 {
			for _, call := range c.lineCalls(way[1]) {
				if calledName(call) == fn.name && i < len(call.Args) {
					files = append(files, filesBehind(c, call.Args[i], way[1:], depth+1)...)
				}
			}
			return files
		}
		eachAssignment(fn.body, func(left, right ast.Expr) {
			if isNamed(left, x.Name) && right.Pos() < x.Pos() {
				files = append(files, filesBehind(c, right, way, depth+1)...)
			}
		})
	}
	return files
}

// tellEdited says that what is made of files has to be made again when they have changed; a file that the
// program writes itself while it runs changes for certain.
func tellEdited(c *code, way []stack.Frame, f *Finding) {
	files := madeOfFiles(c, way)
	if len(files) == 0 {
		return
	}
	if wrote, ok := writesAny(c, files); ok {
		f.isWritten(wrote)
		f.Advice = "Keep what was made of the file, and make it again only when the program has written it, or when its modification time (os.Stat) has changed."
		return
	}
	f.Advice += " If a file may change while the program runs, make it again when its modification time (os.Stat) has changed."
	f.Doubts = append(f.Doubts, "if somebody edits the files while the program runs, as it may be meant, what is kept is out of date")
}

// writesAny finds where the program, while it runs, writes one of some files.
func writesAny(c *code, files []given) (at Evidence, found bool) {
	var from []given
	for _, file := range files {
		o := newOrigins(c)
		o.fixed(file.x, file.fn, file.way)
		from = append(from, o.from...)
	}
	return writesFile(c, from)
}

// madeOfWritten finds where the program writes a file that one of the functions on a way reads.
func madeOfWritten(c *code, way []stack.Frame) (at Evidence, found bool) {
	for i := range way {
		files := madeOfFiles(c, way[i:])
		if fn := c.scopeAt(way[i]); fn != nil {
			for _, open := range fn.opened() {
				files = append(files, given{open.Args[0], fn, way[i:]})
			}
		}
		if at, found = writesAny(c, files); found {
			return at, true
		}
	}
	return at, false
}

// isWritten makes a remark of a finding about a file that the program writes.
func (f *Finding) isWritten(wrote Evidence) {
	f.Severity, f.saves = Info, false
	what := "the program writes the file itself"
	if strings.HasPrefix(wrote.Text, givenToOther) {
		what = givenToOther + ", which may write it"
	}
	f.Summary += "; " + what + " (" + fileLine(wrote.File, wrote.Line) + ")"
	f.Evidence = append(f.Evidence, wrote)
}

// target is the name of a file that is written, in a function.
type target struct {
	x  ast.Expr
	in declaration
}

// targets are the names that a call writes to: for a parameter, those that callers give.
func targets(c *code, x ast.Expr, in declaration, depth int) (all []target) {
	k := -1
	if id, ok := x.(*ast.Ident); ok {
		k = scopeOf(in.FuncDecl).parameter(id.Name)
	}
	if k < 0 || depth >= nameDepth {
		return []target{{x, in}}
	}
	for _, from := range callsNamed(c, in.Name.Name) {
		if k < len(from.call.Args) {
			all = append(all, targets(c, from.call.Args[k], from.in, depth+1)...)
		}
	}
	return all
}

// pathParts are the parts of a path that is joined or added up.
func pathParts(x ast.Expr, fn *scope) []ast.Expr {
	switch e := ast.Unparen(x).(type) {
	case *ast.CallExpr:
		if slices.Contains(joins, types.ExprString(e.Fun)) {
			return e.Args
		}
	case *ast.BinaryExpr:
		return append(pathParts(e.X, fn), e.Y)
	case *ast.Ident:
		if made := fn.made(e.Name); made != nil && !isIdent(made) {
			return pathParts(made, fn)
		}
	}
	return []ast.Expr{x}
}

// isPathOf tells whether what is given is the name of a file that is written, or a pattern for it: the last
// part has to be a text that is known, and what is before it the same.
func (g given) isPathOf(c *code, to target) bool {
	a, b := pathParts(g.x, g.fn), pathParts(to.x, scopeOf(to.in.FuncDecl))
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, known := constantText(c, a[i], 0)
		y, both := constantText(c, b[i], 0)
		last := i == len(a)-1
		if known != both || !known && (last || lastName(types.ExprString(a[i])) != lastName(types.ExprString(b[i]))) {
			return false
		}
		if match, err := path.Match(x, y); x != y && (!last || !match || err != nil) {
			return false
		}
	}
	return len(a) > 0
}
