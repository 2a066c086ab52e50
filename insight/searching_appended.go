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

// Lists that grow between one search and the next: an index of one is built with it, not before.

// searchCalls is how many functions above a search are asked for one that lets its list grow.
const searchCalls = 2

// growsBetween is the line at which the list that a loop, or a call, on a line searches gets another
// element between two searches; 0 where the source shows none. The function that appends also
// searches, itself or in a function that it calls, and no loop around the one leaves out the other.
func growsBetween(c *code, at stack.Frame) stack.Frame {
	lists, own := searchedAt(c, at)
	if len(lists) == 0 {
		return stack.Frame{}
	}
	line := at.Line
	for range searchCalls + 1 {
		fn := c.function(at)
		if fn == nil {
			break
		}
		around := loopsAround(c, at)
		if own && len(around) > 0 {
			around = around[:len(around)-1]
		}
		if grows := appendsBeside(c, fn, at.File, line, lists, around); grows > 0 {
			return stack.Frame{File: at.File, Line: grows}
		}
		caller, ok := onlyCaller(c, fn, lists)
		if !ok {
			break
		}
		at, line, lists, own = caller.at, caller.at.Line, caller.lists, false
	}
	return stack.Frame{}
}

// searchedAt are the expressions that a call on a line, or else the loop nearest to it, goes
// through; own tells that it is the loop.
func searchedAt(c *code, at stack.Frame) (lists []string, own bool) {
	for _, call := range c.lineCalls(at) {
		if p := selected(c, call); (p == "slices" || p == "strings") && len(call.Args) > 0 {
			lists = append(lists, listText(call.Args[0]))
		}
	}
	if loops := loopsAround(c, at); len(lists) == 0 && len(loops) > 0 {
		own = true
		switch l := loops[len(loops)-1].stmt.(type) {
		case *ast.RangeStmt:
			lists = append(lists, listText(l.X))
		case *ast.ForStmt:
			ast.Inspect(l, func(n ast.Node) bool {
				if x, ok := n.(*ast.IndexExpr); ok {
					lists = append(lists, listText(x.X))
				}
				return true
			})
		}
	}
	return lists, own
}

// listText is an expression for a list as the source has it, without the star of what points to one.
func listText(x ast.Expr) string {
	for {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		default:
			return types.ExprString(x)
		}
	}
}

// selected is the package name of a called function: "slices" of slices.Contains.
func selected(c *code, call *ast.CallExpr) string {
	if f, ok := call.Fun.(*ast.SelectorExpr); ok {
		if id, ok := f.X.(*ast.Ident); ok {
			return id.Name
		}
	}
	return ""
}

// appendsBeside is the line at which a function appends to one of some lists, with a search of it
// on another line, which some loops are around; 0 where it does not, or where a loop is around only
// one of the two.
func appendsBeside(c *code, fn *ast.FuncDecl, file string, search int, lists []string, around []loop) (line int) {
	s := c.parse(file)
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || !slices.Contains(lists, listText(a.Lhs[0])) {
			return true
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		if !ok || !isNamed(call.Fun, "append") || !appendGrows(call, listText(a.Lhs[0])) {
			return true
		}
		first, _ := s.lines(a)
		id, local := a.Lhs[0].(*ast.Ident)
		loops := loopsAround(c, stack.Frame{File: file, Line: first})
		apart := slices.ContainsFunc(loops, func(l loop) bool { return !s.covers(l.stmt, search) }) ||
			slices.ContainsFunc(around, func(l loop) bool { return !s.covers(l.stmt, first) })
		if !apart && (!local || len(loops) > 0 && !declares(loops[0].body, id.Name)) {
			line = first
		}
		return true
	})
	return line
}

// appendGrows tells of a call of append that what it gives is longer than a list: it adds to all of it, or inserts. To append
// to a part of the list what stands behind takes elements out, or overwrites them.
func appendGrows(call *ast.CallExpr, list string) bool {
	if len(call.Args) < 2 {
		return false
	}
	part, ok := call.Args[0].(*ast.SliceExpr)
	if !ok || listText(part.X) != list || part.High == nil {
		return true
	}
	high := types.ExprString(part.High)
	if high == "len("+list+")" || high == "len(*"+list+")" {
		return true // a copy
	}
	for _, x := range call.Args[1:] {
		rest, ok := x.(*ast.SliceExpr)
		switch inner, isCall := x.(*ast.CallExpr); {
		case isCall && isNamed(inner.Fun, "append") && mentionsList(inner, list):
			return true
		case ok && listText(rest.X) == list && rest.Low != nil && high == types.ExprString(rest.Low)+" + 1":
			return true // makes room for one
		}
	}
	return false
}

// mentionsList tells whether an expression has another one in it, by its text.
func mentionsList(x ast.Expr, text string) bool {
	return hasNode(x, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		return ok && types.ExprString(e) == text
	})
}

// searchCaller is where a function that searches is called, and what the lists are called there.
type searchCaller struct {
	at    stack.Frame
	lists []string
}

// onlyCaller is the call of a function, if the source has one only: what its parameters are called
// there, and its receiver, or what is reached through that. Calls of another package have none of the source's.
func onlyCaller(c *code, fn *ast.FuncDecl, lists []string) (one searchCaller, ok bool) {
	calls := 0
	c.eachSource(func(file string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || calledName(call) != fn.Name.Name || namesOf(c).packages[selected(c, call)] {
				return true
			}
			line, _ := s.lines(call)
			calls++
			one = searchCaller{at: stack.Frame{File: file, Line: line}, lists: renamed(fn, call, lists)}
			return true
		})
	})
	return one, calls == 1 && len(one.lists) > 0
}

// renamed are lists of a function by what a call gives it.
func renamed(fn *ast.FuncDecl, call *ast.CallExpr, lists []string) (out []string) {
	for _, list := range lists {
		i := 0
		for _, p := range fn.Type.Params.List {
			for _, name := range p.Names {
				if name.Name == list && i < len(call.Args) {
					out = append(out, listText(call.Args[i]))
				}
				i++
			}
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if ok && fn.Recv != nil && len(fn.Recv.List) == 1 && len(fn.Recv.List[0].Names) == 1 {
			name := fn.Recv.List[0].Names[0].Name
			if own, field := cutReceiver(name, list); own {
				out = append(out, types.ExprString(f.X)+field)
			} else if name == list {
				out = append(out, listText(f.X))
			}
		}
	}
	return out
}

// cutReceiver is the rest of an expression behind a receiver: ".keys" of "s.keys".
func cutReceiver(receiver, expr string) (own bool, rest string) {
	if len(expr) > len(receiver) && expr[:len(receiver)] == receiver && token.IsIdentifier(receiver) && expr[len(receiver)] == '.' {
		return true, expr[len(receiver):]
	}
	return false, ""
}

// tellGrows says of an index that is built before a loop that it has to grow with its list.
func tellGrows(c *code, at stack.Frame, f *Finding) {
	if grows := growsBetween(c, at); grows.Line > 0 {
		f.Advice = strings.Replace(f.Advice, lookUp, "Look it up instead of searching: keep a map keyed by what is compared beside the list.", 1)
		f.Advice += fmt.Sprintf(" The list grows between the searches (%s:%d): add to the index there as well.", baseName(grows.File), grows.Line)
	}
}
