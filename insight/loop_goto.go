package insight

import (
	"go/ast"
	"go/token"
)

// loopsByGoto makes loops of what a file goes back to by goto, so that whoever looks for loops
// finds them: from the label to the last statement of its list that goes back to it.
//
//	again:
//		err := try()
//		if err != nil {
//			goto again
//		}
//
// becomes for { err := try(); if err != nil { continue }; break }. A goto out of a loop within
// stays: it leaves that one. A label that nothing goes back to, or that names a loop, is no loop.
func loopsByGoto(f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			n.List = withLoops(n.List)
		case *ast.CaseClause:
			n.Body = withLoops(n.Body)
		case *ast.CommClause:
			n.Body = withLoops(n.Body)
		}
		return true
	})
}

// withLoops puts the loops that a list of statements has by goto in their place.
func withLoops(list []ast.Stmt) []ast.Stmt {
	for i := len(list) - 1; i >= 0; i-- { // of two labels the later one is within
		label, ok := list[i].(*ast.LabeledStmt)
		if !ok || namesLoop(label) {
			continue
		}
		last := -1
		for j := i; j < len(list); j++ {
			eachBranch(list[j], func(b *ast.BranchStmt) {
				if goesBack(b, label.Label.Name) {
					last = j
				}
			})
		}
		if last < 0 {
			continue
		}
		body := append([]ast.Stmt{label.Stmt}, list[i+1:last+1]...)
		for _, s := range body {
			eachBranch(s, func(b *ast.BranchStmt) {
				switch {
				case goesBack(b, label.Label.Name):
					b.Tok, b.Label = token.CONTINUE, nil
				case b.Tok == token.CONTINUE: // of the loop around, which leaves this one
					b.Tok, b.Label = token.BREAK, &ast.Ident{NamePos: b.TokPos, Name: "around"}
				}
			})
		}
		end := list[last].End() - 1
		if b, ok := body[len(body)-1].(*ast.BranchStmt); !ok || b.Tok != token.CONTINUE {
			body = append(body, &ast.BranchStmt{TokPos: end, Tok: token.BREAK})
		}
		loop := &ast.ForStmt{For: label.Pos(), Body: &ast.BlockStmt{Lbrace: label.Colon, List: body, Rbrace: end}}
		list = append(append(append([]ast.Stmt{}, list[:i]...), loop), list[last+1:]...)
	}
	return list
}

// namesLoop tells of a label that it is there for the break and continue of a statement.
func namesLoop(label *ast.LabeledStmt) bool {
	switch label.Stmt.(type) {
	case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		return true
	}
	return false
}

// goesBack tells whether a branch goes to a label.
func goesBack(b *ast.BranchStmt, label string) bool {
	return b.Tok == token.GOTO && b.Label != nil && b.Label.Name == label
}

// eachBranch calls do for each branch in a statement, outside of loops and functions within.
func eachBranch(s ast.Stmt, do func(*ast.BranchStmt)) {
	eachInTurn(s, func(n ast.Node) {
		if b, ok := n.(*ast.BranchStmt); ok {
			do(b)
		}
	})
}

// eachInTurn visits what belongs to one turn of the loop around a statement: not what loops and
// functions within it do.
func eachInTurn(s ast.Stmt, visit func(ast.Node)) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			return false
		}
		visit(n)
		return true
	})
}
