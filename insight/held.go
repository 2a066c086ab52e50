package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"loupe/value/stack"
)

// held is the part of a function in which it holds a mutex, as its source has
// it: after the line of Lock, up to that of Unlock.
type held struct {
	lock  string // "c.mu.Lock"
	from  int    // the line of Lock
	until int    // that of Unlock, or with defer that of the function's end
	// deferred tells that until belongs to it.
	deferred bool
	// free are the stretches within in which it is let go, and not locked
	// again before the block ends: lines from..until of each.
	free [][2]int
	// io are the calls within that wait for the world outside by their name.
	io []ioCall
}

// ioCall is a call of a function that does input or output.
type ioCall struct {
	line int
	name string // "http.Get"
}

// has tells whether the lock is held at a line.
func (h *held) has(line int) bool {
	if line <= h.from || line > h.until || line == h.until && !h.deferred {
		return false
	}
	return !slices.ContainsFunc(h.free, func(free [2]int) bool { return free[0] < line && line <= free[1] })
}

// heldAt reads in the source of a frame what is done under the lock that its
// line takes. It is false without the source, and where the lock is let go
// somewhere else.
func (c *code) heldAt(f stack.Frame) (held, bool) {
	parts := c.heldIn(f)
	i := slices.IndexFunc(parts, func(h held) bool { return h.from == f.Line })
	if i < 0 {
		return held{}, false
	}
	return parts[i], true
}

// heldUntil reads in the source of a frame what is done under the lock that its line
// lets go; where a deferred Unlock runs, that is any line under it.
func (c *code) heldUntil(f stack.Frame) (held, bool) {
	parts := c.heldIn(f)
	i := slices.IndexFunc(parts, func(h held) bool { return h.until == f.Line || h.deferred && h.has(f.Line) })
	if i < 0 {
		return held{}, false
	}
	return parts[i], true
}

// heldIn returns all parts of the file of a frame in which a lock is held.
func (c *code) heldIn(f stack.Frame) []held {
	s := c.parse(f.File)
	if s == nil {
		return nil
	}
	if s.held != nil {
		return slices.Clip(s.held)
	}
	l := locks{fset: s.fset, io: ioNames(s.file), found: []held{}}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				l.function(n.Body)
			}
		case *ast.FuncLit:
			l.function(n.Body)
		}
		return true
	})
	s.held = l.found
	return slices.Clip(s.held)
}

// locks looks for the parts of functions in which a lock is held.
type locks struct {
	fset  *token.FileSet
	io    map[string][]string // names of functions by the name of their package in the file
	found []held
}

func (l *locks) line(p token.Pos) int { return l.fset.Position(p).Line }

// function looks into one function; those within it are not its own.
func (l *locks) function(body *ast.BlockStmt) {
	inside(body, func(n ast.Node) {
		list := statements(n)
		for i, s := range list {
			if lock, ok := mutexCall(s); ok && strings.HasSuffix(lock, "Lock") && !strings.HasSuffix(lock, "Unlock") {
				l.part(lock, s, list[i+1:], body)
			}
		}
	})
}

// part follows the statements after a Lock up to the Unlock that is sure to
// come.
func (l *locks) part(lock string, at ast.Stmt, after []ast.Stmt, body *ast.BlockStmt) {
	h := held{lock: lock, from: l.line(at.Pos())}
	unlock := strings.TrimSuffix(strings.TrimSuffix(lock, "Lock"), "R")
	unlock += map[bool]string{true: "RUnlock", false: "Unlock"}[strings.HasSuffix(lock, ".RLock")]
	for n, s := range after {
		if d, ok := s.(*ast.DeferStmt); ok && calls(d, unlock) {
			h.until, h.deferred = l.line(body.End()), true
			l.within(&h, unlock, after[n+1:])
			break
		}
		if name, ok := mutexCall(s); ok && name == unlock {
			h.until = l.line(s.Pos())
			l.within(&h, unlock, after[:n])
			break
		}
	}
	if h.until > 0 {
		l.found = append(l.found, h)
	}
}

// within looks at what is done under the lock: where it is let go on the way,
// and which calls wait for the world outside.
func (l *locks) within(h *held, unlock string, list []ast.Stmt) {
	l.frees(h, unlock, list)
	for _, s := range list {
		inside(s, func(n ast.Node) {
			l.frees(h, unlock, statements(n))
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return
			}
			if pkg, ok := f.X.(*ast.Ident); ok && slices.Contains(l.io[pkg.Name], f.Sel.Name) {
				h.io = append(h.io, ioCall{l.line(call.Pos()), pkg.Name + "." + f.Sel.Name})
			}
		})
	}
	h.io = slices.DeleteFunc(h.io, func(c ioCall) bool { return !h.has(c.line) })
}

// frees finds an Unlock in a list of statements, up to the next Lock or the
// end of the list.
func (l *locks) frees(h *held, unlock string, list []ast.Stmt) {
	for i, s := range list {
		if name, ok := mutexCall(s); !ok || name != unlock {
			continue
		}
		end := l.line(list[len(list)-1].End())
		for _, s := range list[i+1:] {
			if name, ok := mutexCall(s); ok && name == h.lock {
				end = l.line(s.Pos())
				break
			}
		}
		h.free = append(h.free, [2]int{l.line(s.Pos()), end})
	}
}

// statements is the list of statements that a node has.
func statements(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// inside calls f for every node of a function, but not for those of functions
// within it, which run at another time.
func inside(n ast.Node, f func(ast.Node)) {
	ast.Inspect(n, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if n != nil {
			f(n)
		}
		return true
	})
}

// mutexCall returns the text of a statement that calls Lock, RLock, Unlock or
// RUnlock: "c.mu.Lock".
func mutexCall(s ast.Stmt) (text string, ok bool) {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return "", false
	}
	return lockCall(e.X)
}

func lockCall(x ast.Expr) (text string, ok bool) {
	call, ok := x.(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return "", false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Lock", "RLock", "Unlock", "RUnlock"}, f.Sel.Name) {
		return "", false
	}
	return types.ExprString(f), true
}

// calls tells whether a defer statement calls unlock, by itself or in its
// function.
func calls(d *ast.DeferStmt, unlock string) (found bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok {
			name, ok := lockCall(x)
			found = found || ok && name == unlock
		}
		return true
	})
	return found
}

// ioFunctions are functions of the standard library that nobody calls but to
// wait for the world outside.
var ioFunctions = map[string][]string{
	"net":      {"Dial", "DialTimeout", "LookupHost", "LookupIP", "LookupAddr", "LookupCNAME"},
	"net/http": {"Get", "Head", "Post", "PostForm"},
	"os":       {"ReadFile", "WriteFile", "ReadDir", "Open", "OpenFile", "Create", "RemoveAll", "Rename"},
	"time":     {"Sleep"},
}

// ioNames are the functions of ioFunctions by the name that the file has for
// their package.
func ioNames(file *ast.File) map[string][]string {
	names := map[string][]string{}
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || ioFunctions[path] == nil {
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = ioFunctions[path]
	}
	return names
}
