package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// taker is a line of a source file that takes a lock.
type taker struct {
	name string // of the lock: "Cache.mu"
	call string // "RLock"
	fn   string // the function, as it is written: "Get"
	line int
	end  int // last line of the function
}

// lockCalls are the methods that wait for a lock.
var lockCalls = map[string]bool{"Lock": true, "RLock": true}

// takers finds the lines of a source file that take locks, and names these: by the
// type and the field, by the variable of the package, or by what a local variable was
// made of.
func (s *syntax) takers() (all []taker) {
	if s == nil {
		return nil
	}
	if s.taken != nil {
		return slices.Clip(s.taken)
	}
	all = []taker{}
	for _, d := range s.file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) > 0 {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && lockCalls[sel.Sel.Name] {
				// The line that a stack has is that of the name of the method.
				line := s.fset.PositionFor(sel.Sel.Pos(), false).Line
				all = append(all, taker{name: s.lockOf(fn, sel.X, 0), call: sel.Sel.Name, fn: fn.Name.Name, line: line,
					end: s.fset.PositionFor(fn.End(), false).Line})
			}
			return true
		})
	}
	s.taken = all
	return slices.Clip(all)
}

// deepest is through how many local variables a lock is followed.
const deepest = 4

// lockOf names the lock that an expression in a function is.
func (s *syntax) lockOf(fn *ast.FuncDecl, x ast.Expr, depth int) string {
	switch e := x.(type) {
	case *ast.ParenExpr:
		return s.lockOf(fn, e.X, depth)
	case *ast.StarExpr:
		return s.lockOf(fn, e.X, depth)
	case *ast.UnaryExpr:
		return s.lockOf(fn, e.X, depth)
	case *ast.IndexExpr:
		return s.lockOf(fn, e.X, depth) + "[" + types.ExprString(e.Index) + "]"
	case *ast.CallExpr:
		return s.lockOf(fn, e.Fun, depth) + "(…)"
	case *ast.SelectorExpr:
		return s.lockOf(fn, e.X, depth) + "." + e.Sel.Name
	case *ast.Ident:
		if of, ok := parameter(fn, e.Name); ok {
			return of
		}
		if made := madeOf(fn, e.Name); made != nil && depth < deepest {
			return s.lockOf(fn, made, depth+1)
		}
	}
	return types.ExprString(x)
}

// parameter returns the name of the type that the receiver or a parameter of a
// function has, if it is one.
func parameter(fn *ast.FuncDecl, name string) (string, bool) {
	for _, list := range []*ast.FieldList{fn.Recv, fn.Type.Params} {
		if list == nil {
			continue
		}
		for _, f := range list.List {
			for _, id := range f.Names {
				if id.Name != name {
					continue
				}
				of := strings.TrimLeft(types.ExprString(f.Type), "*")
				if of == "sync.Mutex" || of == "sync.RWMutex" || of == "sync.Locker" {
					return name, true // of the caller: its type says nothing
				}
				return of, true
			}
		}
	}
	return "", false
}

// madeOf returns what a local variable is made of, where that is only one thing, and
// no new variable: mu := &c.mu.
func madeOf(fn *ast.FuncDecl, name string) (made ast.Expr) {
	times := 0
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			return true
		}
		for i, lhs := range a.Lhs {
			if id, ok := lhs.(*ast.Ident); ok && id.Name == name {
				times++
				made = a.Rhs[i]
			}
		}
		return true
	})
	for x := made; times == 1; {
		switch e := x.(type) {
		case *ast.UnaryExpr:
			x = e.X
			continue
		case *ast.SelectorExpr, *ast.Ident, *ast.IndexExpr:
			return made
		}
		break
	}
	return nil
}

// named is a lock as a finding calls it: by its name, where the source tells, and the
// line that waits for it.
func (c *code) named(site stack.Frame) string {
	if t, ok := c.takerAt(site); ok {
		return t.name + ", taken at " + place(site)
	}
	return "the lock at " + place(site)
}

// takerAt is what the source says of a line that takes a lock.
func (c *code) takerAt(site stack.Frame) (taker, bool) {
	for _, t := range c.parse(site.File).takers() {
		if t.line == site.Line {
			return t, true
		}
	}
	return taker{}, false
}

// otherTakers are the other lines of the same file that take the lock which a line
// takes: who never waits for it is not in a trace, and may hold it all the same.
func (c *code) otherTakers(site stack.Frame) (all []taker) {
	at, ok := c.takerAt(site)
	if !ok {
		return nil
	}
	for _, t := range c.parse(site.File).takers() {
		if t.name == at.name && t.line != at.line {
			all = append(all, t)
		}
	}
	return all
}
