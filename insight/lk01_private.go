package insight

import (
	"go/ast"
	"go/types"
	"strings"

	"loupe/value/stack"
)

// What needs a lock, by the source: a change of what others see does, and that of a value which nobody else has yet does not. Nor does
// anything need a lock that is held for reading to keep others out who do the same: these hold it at once.

// namedCopy are names of functions that give a copy of what they are given.
var namedCopy = lazily(`^(Deep)?(Clone|Copy|Dup)`)

// isShared tells that others may hold the lock at once: it is taken for reading.
func (h *held) isShared() bool { return strings.HasSuffix(h.lock, ".RLock") }

// isPrivate tells of a place that is written at a line that nobody else has it yet: the function has made what it is a part of, or one on the way
// from the lock has and hands it on.
func (u workedOn) isPrivate(place string, line int) bool {
	d, x := derivationsOf(u.c), exprOfText(place)
	if x == nil {
		return false
	}
	root, path := stepsTo(x)
	id, ok := root.(*ast.Ident)
	if !ok || len(path) == 0 {
		return false
	}
	if isFreshAt(d, stack.Frame{File: u.file, Line: line}, x) || isMadeAt(d, stack.Frame{File: u.file, Line: line}, id.Name, path) || u.isCopied(id.Name) {
		return true
	}
	name, level := id.Name, u
	for range deepest {
		given := level.givenBy(name)
		if given == nil {
			return false
		}
		o := level.outer
		at := stack.Frame{File: o.file, Line: o.call}
		if isMadeAt(d, at, types.ExprString(given), path) {
			return true
		}
		outer, steps := stepsTo(unrefer(given))
		if id, ok = outer.(*ast.Ident); !ok {
			return false
		}
		name, path, level = id.Name, append(steps, path...), workedOn{o}
		if level.isCopied(name) {
			return true
		}
	}
	return false
}

// isMadeAt tells of a part of what an expression on a line refers to, by the steps to it, that it lies in what the function has made.
func isMadeAt(d *derivations, at stack.Frame, text string, path []string) (made bool) {
	in, ok := d.at(at)
	if !ok {
		return false
	}
	asked := false
	ast.Inspect(in.decl.Body, func(n ast.Node) bool {
		if n == nil || asked || !coversLine(d, n, at.Line) {
			return false
		}
		if e, ok := n.(ast.Expr); ok && types.ExprString(e) == text {
			if _, line, _ := d.t.at(e.Pos()); line == at.Line {
				f := &freshness{d: d, asked: map[freshVariable]bool{}}
				made, asked = f.value(in.decl, e, path[:len(path)-1], e.Pos()), true
			}
		}
		return true
	})
	return made
}

// isCopied tells of a variable of the function that all it is given is a copy, by the name of what makes it, and that it is put nowhere else.
func (u workedOn) isCopied(name string) bool {
	if u.in == nil || isParameter(u.in, name) || name == u.fn.receiver {
		return false
	}
	copies, others := 0, 0
	eachAssigned(u.in.Body, func(lhs, rhs ast.Expr) {
		if x, ok := ast.Unparen(rhs).(*ast.TypeAssertExpr); ok {
			rhs = x.X
		}
		call, ok := ast.Unparen(rhs).(*ast.CallExpr)
		switch {
		case isNamed(lhs, name) && ok && namedCopy.MatchString(calledName(call)):
			copies++
		case isNamed(lhs, name) || isNamed(unrefer(rhs), name):
			others++
		}
	})
	return copies > 0 && others == 0
}

// givenBy is what the function that leads to this one hands it for a parameter, or calls it on; nil of other names, and where that is not known.
func (u workedOn) givenBy(name string) (given ast.Expr) {
	o := u.outer
	if o == nil || u.in == nil || o.in == nil || u.in == o.in || u.fn.body != u.in.Body {
		return nil
	}
	i, on := u.fn.parameter(name), calledOn(o.s, o.call)
	inside(o.fn.body, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		switch {
		case !ok || given != nil || !on(call) || calledName(call) != u.in.Name.Name:
		case name == u.fn.receiver:
			given = receiverOf(call)
		case i >= 0 && i < len(call.Args):
			given = call.Args[i]
		}
	})
	return given
}

// sharedHold tells of the lock that it is held for reading where the call is made: by the source, or by what those wait in who
// take it at the same line.
func (u *underlying) sharedHold(waiter []stack.Frame) bool {
	if u.known {
		return u.held.isShared()
	}
	for _, f := range waiter {
		if f.File == u.file && f.Line == u.lock {
			return false // what is called there is not the lock itself
		}
		if strings.HasPrefix(f.Func, "sync.(*RWMutex).RLock") {
			return true
		}
	}
	return false
}
