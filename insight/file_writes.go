package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// Where a program writes files, by the calls of its source.

// writers are the calls that write a file, or put another one in its place, by the place of its name among their arguments.
var writers = map[string]int{
	"os.WriteFile": 0, "ioutil.WriteFile": 0, "os.Create": 0, "os.OpenFile": 0, "os.Truncate": 0,
	"os.Rename": 1, "os.Link": 1, "os.Symlink": 1, "os.CopyFS": 0,
	"syscall.Rename": 1, "unix.Rename": 1, "syscall.Link": 1, "unix.Link": 1, "syscall.Symlink": 1, "unix.Symlink": 1,
	"renameio.WriteFile": 0, "renameio.TempFile": 1, "renameio.Symlink": 1, "atomic.WriteFile": 0, "atomic.ReplaceFile": 1,
}

// fileWrite is a call that writes a file, or starts a program that may.
type fileWrite struct {
	callFrom
	names []ast.Expr // each may be that of the file
	runs  bool       // another program
}

// sourceWrites are those of the sources, without what only the start of the program does.
func sourceWrites(c *code) (all []fileWrite) {
	for name, i := range writers {
		for _, w := range callsNamed(c, lastName(name)) {
			if types.ExprString(w.call.Fun) == name && i < len(w.call.Args) && !opensToRead(w.call) && !onlyAtStart(c, w, 0) {
				all = append(all, fileWrite{w, w.call.Args[i : i+1], false})
			}
		}
	}
	for _, name := range []string{"Command", "CommandContext"} {
		for _, w := range callsNamed(c, name) {
			if strings.HasPrefix(types.ExprString(w.call.Fun), "exec.Command") && !onlyAtStart(c, w, 0) {
				all = append(all, fileWrite{w, commandWords(w.call), true})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b fileWrite) int {
		if a.in.file != b.in.file {
			return strings.Compare(a.in.file, b.in.file)
		}
		return int(a.call.Pos() - b.call.Pos())
	})
	return all
}

// onlyReaders are programs that write none of the files which they are given.
var onlyReaders = []string{"cat", "grep", "wc", "head", "tail", "stat", "ls", "diff", "file", "cksum", "md5sum", "sha256sum"}

// commandWords are what another program is given, without its name. One that is known to write nothing has none.
func commandWords(call *ast.CallExpr) []ast.Expr {
	first := 1
	if calledName(call) == "CommandContext" {
		first = 2
	}
	if len(call.Args) < first {
		return nil
	}
	if lit, ok := call.Args[first-1].(*ast.BasicLit); ok && slices.Contains(onlyReaders, strings.Trim(lit.Value, "`\"")) {
		return nil
	}
	return call.Args[first:]
}

// opensToRead tells of a call of os.OpenFile that it does not write.
func opensToRead(call *ast.CallExpr) bool {
	return calledName(call) == "OpenFile" && len(call.Args) == 3 && types.ExprString(call.Args[1]) == "os.O_RDONLY"
}

// onlyAtStart tells of a call that the program makes it before its work begins and no more then. What stands in a loop, or in a
// branch that ends the program, as that of another mode does, is not the start.
func onlyAtStart(c *code, w callFrom, depth int) bool {
	return runsAtStart(c, w.in, w.around, 0) && !slices.ContainsFunc(w.around, isLoop) && !inOtherMode(c, w, depth)
}

// choosesMode are names of the functions that a program begins with, and that decide what it does.
var choosesMode = lazily(`^(?i:_?main|real_?main|run|execute)$`)

// inOtherMode tells whether a call stands in a branch that ends one of these functions, or is called from such a branch.
func inOtherMode(c *code, w callFrom, depth int) bool {
	if choosesMode.MatchString(w.in.Name.Name) {
		for i, n := range w.around {
			switch n := n.(type) {
			case *ast.BlockStmt:
				if _, branch := w.around[max(0, i-1)].(*ast.IfStmt); branch && endsIn(n.List) {
					return true
				}
			case *ast.CaseClause:
				if endsIn(n.Body) || modeSwitch(w.around[:i]) {
					return true
				}
			}
		}
		return false
	}
	return depth < 3 && slices.ContainsFunc(callsNamed(c, w.in.Name.Name), func(from callFrom) bool {
		return from.in.FuncDecl != w.in.FuncDecl && inOtherMode(c, from, depth+1)
	})
}

// modeSwitch tells whether the innermost switch around a case asks for an argument of the program.
func modeSwitch(around []ast.Node) bool {
	for _, n := range slices.Backward(around) {
		if s, ok := n.(*ast.SwitchStmt); ok {
			return s.Tag != nil && (strings.Contains(types.ExprString(s.Tag), "os.Args") || strings.Contains(types.ExprString(s.Tag), "flag.Arg"))
		}
	}
	return false
}

// endsIn tells of statements that they end the function or the program.
func endsIn(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch last := list[len(list)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.ExprStmt:
		call, ok := last.X.(*ast.CallExpr)
		return ok && types.ExprString(call.Fun) == "os.Exit"
	}
	return false
}

// writesName finds where the sources write one of some files, or give its name to another program.
func writesName(c *code, read []fileName) (at Evidence, found bool) {
	if len(read) == 0 {
		return at, false
	}
	names := &sourceNames{c: c}
	for _, w := range sourceWrites(c) {
		for _, x := range w.names {
			for _, to := range names.of(x, w.in) {
				if slices.ContainsFunc(read, func(a fileName) bool { return a.changedBy(to) || w.runs && to.mentions(a) }) {
					return w.shown(c), true
				}
			}
		}
	}
	return at, false
}

// mentions tells of a word of a command that the last part of a name is in it.
func (a fileName) mentions(name fileName) bool {
	if len(name) == 0 {
		return false
	}
	text, ok := name[len(name)-1].known()
	return ok && slices.ContainsFunc(a, func(p namePart) bool {
		return slices.ContainsFunc(p, func(t nameToken) bool { return slices.Contains(strings.Fields(t.text), text) })
	})
}

// givenToOther begins what is said of a file that another program may write.
const givenToOther = "another program is given the file's name"

// shown is the line of it.
func (w fileWrite) shown(c *code) Evidence {
	line, _ := c.parse(w.in.file).lines(w.call)
	if w.runs {
		return c.shownAt(w.in.file, line, givenToOther+" here, in %s", w.in.Name.Name)
	}
	return c.shownAt(w.in.file, line, "the program writes the file here, in %s", w.in.Name.Name)
}
