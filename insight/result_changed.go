package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What callers do to a slice or a map that a function returns, in place: if several shared one, each would see what the others do.

// inPlace is what is done to a result.
type inPlace int

const (
	leftAlone inPlace = iota
	appendsInPlace
	sortedInPlace
	setInPlace
)

// reorders are functions that change the elements of the slice which they are given first, beside those that sort.
var reorders = []string{"slices.Reverse", "slices.Delete", "slices.DeleteFunc", "slices.Compact", "slices.CompactFunc", "slices.Insert", "slices.Replace", "copy", "clear", "maps.Copy", "maps.DeleteFunc", "delete"}

// resultUser follows the result of a call through the function that makes it.
type resultUser struct {
	call  *ast.CallExpr
	names map[string]ast.Node // variables that have it, with the statement that gives them something else again
}

// has tells of an expression that it is the result, or a part of it that may reach into the room behind it.
func (u *resultUser) has(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.CallExpr:
		return x == u.call
	case *ast.Ident:
		until, known := u.names[x.Name]
		return known && (until == nil || x.Pos() < until.End()) && x.Pos() > u.call.Pos()
	case *ast.SliceExpr:
		return !x.Slice3 && u.has(x.X)
	}
	return false
}

// grows tells of an expression that it appends to the result.
func (u *resultUser) grows(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	return ok && isNamed(call.Fun, "append") && len(call.Args) > 0 && u.has(call.Args[0])
}

// changedInPlace finds where the result of a call on a line is appended to, sorted or set: in the function that calls, or in the next ones outward
// where that returns it. A clipped result may be appended to, and a copy changed.
func changedInPlace(c *code, way []stack.Frame, method string) (line string, how inPlace) {
	if len(way) == 0 {
		return "", leftAlone
	}
	fn, s := c.function(way[0]), c.parse(way[0].File)
	if fn == nil {
		return "", leftAlone
	}
	returned := false
	for _, call := range c.lineCalls(way[0]) {
		if calledName(call) != method || how != leftAlone {
			continue
		}
		u := &resultUser{call: call, names: map[string]ast.Node{}}
		eachAssignment(fn.Body, func(left, right ast.Expr) {
			id, ok := left.(*ast.Ident)
			switch _, known := u.names[types.ExprString(left)]; {
			case !ok:
			case u.has(right) && !known:
				u.names[id.Name] = nil
			case known && u.names[id.Name] == nil && right.Pos() > call.Pos() && !u.has(right) && !u.grows(right):
				u.names[id.Name] = right // slices.Clip of it, or another one
			}
		})
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if as := u.done(n); as != leftAlone && how == leftAlone {
				first, _ := s.lines(n)
				line, how = fileLine(way[0].File, first), as
			}
			if r, ok := n.(*ast.ReturnStmt); ok {
				returned = returned || slices.ContainsFunc(r.Results, u.has)
			}
			return how == leftAlone
		})
	}
	if how == leftAlone && returned && len(way) > 1 {
		return changedInPlace(c, way[1:], fn.Name.Name)
	}
	return line, how
}

// done is what a node does to the result.
func (u *resultUser) done(n ast.Node) inPlace {
	element := func(x ast.Expr) bool {
		of, ok := ast.Unparen(x).(*ast.IndexExpr)
		return ok && u.has(of.X)
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		if len(n.Args) == 0 {
			return leftAlone
		}
		first, name := n.Args[0], types.ExprString(n.Fun)
		switch {
		case name == "append" && len(n.Args) > 1 && u.has(first):
			return appendsInPlace
		case inSet("sort", name):
			if wrapped, ok := first.(*ast.CallExpr); ok && len(wrapped.Args) == 1 && wrapped != u.call { // sort.Sort(byName(x))
				first = wrapped.Args[0]
			}
			if u.has(first) {
				return sortedInPlace
			}
		case slices.Contains(reorders, name) && u.has(first):
			return setInPlace
		}
	case *ast.AssignStmt:
		if slices.ContainsFunc(n.Lhs, element) {
			return setInPlace
		}
	case *ast.IncDecStmt:
		if element(n.X) {
			return setInPlace
		}
	}
	return leftAlone
}

// tellInPlace says of a result that would be shared where a caller changes it in place, and what it takes to share it even so; false where none is known to. remark makes the finding an info.
func tellInPlace(c *code, way []stack.Frame, method string, f *Finding, remark func(format string, args ...any)) bool {
	line, how := changedInPlace(c, way, method)
	switch how {
	case appendsInPlace:
		f.Advice = fmt.Sprintf("First clip what is kept (slices.Clip): %s appends to it, and where it has room behind its end, all who share it would write into the same place. Then: ", line) + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
		f.Doubts = append(f.Doubts, fmt.Sprintf("what it returns is appended to at %s: without a clip, or a copy (slices.Clone), those who share it overwrite what the others have appended", line))
	case sortedInPlace:
		remark("what it returns is sorted in place at %s: whoever does that needs a copy of his own (slices.Clone)", line)
	case setInPlace:
		remark("what it returns is changed in place at %s: whoever does that needs a copy of his own (slices.Clone, maps.Clone)", line)
	}
	return how != leftAlone
}

// callersWay are the frames outward from the call of a counted function.
func callersWay(in *Input, way []stack.Frame, site stack.Frame) []stack.Frame {
	if len(way) > 1 {
		return ownFrames(in, way[1:])
	}
	if site.File == "" {
		return nil
	}
	return []stack.Frame{site}
}
