package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What the sources open and never close, for a number of open files that grows.

// closableRows are the rows of a query: they give their connection back when they are closed, or read to their end.
var closableRows = closable{ends: []string{"Close"}, what: "rows", keeper: "they keep their connection, and the next query opens another one"}

// unclosedRows are the queries of the sources whose rows are neither closed, nor read to their end, nor handed on.
func unclosedRows(c *code) (all []unclosed) {
	c.eachSource(func(file string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || len(a.Lhs) != 2 || len(a.Rhs) != 1 {
				return true
			}
			call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
			if !ok || !isMethodCall(call) || !slices.Contains([]string{"Query", "QueryContext", "Queryx", "QueryxContext"}, calledName(call)) {
				return true
			}
			line, _ := s.lines(call)
			at := stack.Frame{File: file, Line: line}
			name, _, becomes := releasedIn(c, at, calledName(call), closableRows)
			fn := c.function(at)
			if becomes == staysOpen && fn != nil && readsRows(fn.Body, name) && !readsAllRows(fn.Body, name) {
				all = append(all, unclosed{closableRows, at, callText(call), name})
			}
			return true
		})
	})
	return all
}

// callText is what a call names, in short.
func callText(call *ast.CallExpr) string {
	return strings.Join(strings.Fields(types.ExprString(call.Fun)), " ")
}

// isNext tells of a call that it is Next of a variable.
func isNext(x ast.Node, name string) bool {
	call, ok := x.(*ast.CallExpr)
	return ok && calledName(call) == "Next" && receiverOf(call) != nil && isNamed(receiverOf(call), name)
}

// readsRows tells of a function that it asks a variable for the next row.
func readsRows(body *ast.BlockStmt, name string) bool {
	return hasNode(body, func(n ast.Node) bool { return isNext(n, name) })
}

// readsAllRows tells of a function that a loop of it goes on until there is no row any more, whatever it finds: with the last one the rows are closed.
func readsAllRows(body *ast.BlockStmt, name string) bool {
	return hasNode(body, func(n ast.Node) bool {
		loop, ok := n.(*ast.ForStmt)
		return ok && loop.Cond != nil && isNext(loop.Cond, name) && !hasNode(loop.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ReturnStmt:
				return true
			case *ast.BranchStmt:
				return n.Tok.String() == "break" || n.Tok.String() == "goto"
			}
			return false
		})
	})
}

// tellUnclosed makes the advice on open files that grow name the lines of the sources whose rows are never closed, if there are any.
func tellUnclosed(in *Input, f *Finding) {
	rows := unclosedRows(in.code)
	var says []string
	for _, u := range rows[:min(len(rows), 2)] {
		f.Evidence = append(f.Evidence, in.code.shownAt(u.at.File, u.at.Line, "the rows of this query are neither closed nor read to their end"))
		says = append(says, fmt.Sprintf("the rows of %s at %s are neither closed nor read to their end: %s", u.call, fileLine(u.at.File, u.at.Line), u.keeper))
	}
	if len(says) == 0 {
		return
	}
	f.Advice = fmt.Sprintf("By the source, %s. Close them on every path (defer %s, behind the check of the error); where one row is enough, use QueryRow, whose Scan closes them. If the number still grows then, look at other rows, at bodies of responses and at files.", strings.Join(says, "; "), rows[0].missing())
}
