package counting

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"loupe/format/repeats"
)

// How often blocks are entered, and what loops go through. A block is known by the place of its brace, or of the colon of a case.

// Limits of what is counted of a program: the package that counts has no room for more (capture/agent/repeats).
const (
	MostBlocks = 1 << 16
	MostLoops  = 1 << 13
)

// blocks counts those of a function that has a loop or a branch, or sets a part of something, or deletes from a map.
func (w *writer) blocks(fn *ast.FuncDecl) {
	var at []token.Pos
	functions := 1
	bodies := map[*ast.BlockStmt]bool{}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		bodies[bodyOf(n)] = true
		switch n := n.(type) {
		case *ast.FuncLit:
			functions++
		case *ast.BlockStmt:
			if !bodies[n] {
				at = append(at, n.Lbrace)
			}
		case *ast.CaseClause:
			at = append(at, n.Colon)
		case *ast.CommClause:
			at = append(at, n.Colon)
		}
		return true
	})
	c := &w.src.Counted
	if len(at) == functions && !setsPart(fn.Body) || len(c.Blocks)+len(at) > MostBlocks {
		return
	}
	first := len(c.Blocks)
	for _, p := range at {
		w.add(p+1, fmt.Sprintf(" %s.Blocks[%d]++;", local, len(c.Blocks)))
		c.Blocks = append(c.Blocks, repeats.CountedBlock{Place: w.place(p), Func: first})
	}
}

// setsPart tells of a function that it sets a field or an element, or deletes from a map: how often is asked of one without a branch, too.
func setsPart(body *ast.BlockStmt) (found bool) {
	part := func(x ast.Expr) bool {
		switch x.(type) {
		case *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
			return true
		}
		return false
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || n.Tok != token.DEFINE && slices.ContainsFunc(n.Lhs, part)
		case *ast.IncDecStmt:
			found = found || part(n.X)
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			found = found || ok && (id.Name == "delete" || id.Name == "clear")
		}
		return !found
	})
	return found
}

// bodyOf is the block of the clauses of a statement, which is entered by them alone.
func bodyOf(n ast.Node) *ast.BlockStmt {
	switch n := n.(type) {
	case *ast.SwitchStmt:
		return n.Body
	case *ast.TypeSwitchStmt:
		return n.Body
	case *ast.SelectStmt:
		return n.Body
	}
	return nil
}

// place is where something stands.
func (w *writer) place(p token.Pos) repeats.Place {
	at := w.fset.PositionFor(p, false)
	return repeats.Place{File: w.name, Line: at.Line, Offset: at.Offset}
}

// loops has looked at what loops go through that can be named twice: slices, maps and texts.
func (s *sites) loops(fn *ast.FuncDecl) {
	s.own = variables(fn)
	around := []ast.Node{fn}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		if s.over(n) != nil {
			at := n.Pos()
			for _, outer := range slices.Backward(around) {
				label, ok := outer.(*ast.LabeledStmt)
				if !ok {
					break
				}
				at = label.Pos()
			}
			s.look(at, s.over(n), n.Pos())
		}
		around = append(around, n)
		return true
	})
}

// over is what a loop goes through; nil where that is no name, or made by the loop.
func (s *sites) over(n ast.Node) ast.Expr {
	switch n := n.(type) {
	case *ast.RangeStmt:
		if s.again(n.X) && s.text(n.X) != "" && !isNumber(n.X) {
			return n.X
		}
	case *ast.ForStmt:
		made := map[string]bool{}
		switch init := n.Init.(type) {
		case nil:
		case *ast.AssignStmt:
			for _, x := range init.Lhs {
				if id, ok := x.(*ast.Ident); ok {
					made[id.Name] = true
				}
			}
		default:
			return nil
		}
		return s.measured(n.Cond, made)
	}
	return nil
}

// measured is the thing whose length a loop's condition asks for, each time.
func (s *sites) measured(cond ast.Expr, made map[string]bool) (found ast.Expr) {
	for {
		both, ok := cond.(*ast.BinaryExpr)
		if !ok {
			return nil
		}
		if cond = both; both.Op != token.LAND && both.Op != token.LOR {
			break
		}
		cond = both.X // what stands behind may not be asked
	}
	ast.Inspect(cond, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if id, ok := call.Fun.(*ast.Ident); !ok || id.Name != "len" || s.own["len"] || len(call.Args) != 1 || found != nil {
			return true
		}
		x, uses := call.Args[0], false
		ast.Inspect(x, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			uses = uses || ok && made[id.Name]
			return true
		})
		if !uses && s.again(x) && s.text(x) != "" {
			found = x
		}
		return true
	})
	return found
}

// isNumber tells of what is ranged over that it is a literal, or a length.
func isNumber(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return true
	case *ast.CallExpr:
		id, ok := x.Fun.(*ast.Ident)
		return ok && id.Name == "len"
	case *ast.BinaryExpr:
		return true
	}
	return false
}

// text is an expression as it stands in one line of the source; empty where it takes more.
func (s *sites) text(x ast.Expr) string {
	text := string(s.src[s.w.file.Offset(x.Pos()):s.w.file.Offset(x.End())])
	if strings.ContainsAny(text, "\n\r") {
		return ""
	}
	return text
}
