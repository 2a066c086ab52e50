package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// What becomes of the error of a statement that a loop executes: in a transaction it may be one of all statements, and a count of those that are stored is
// wrong once they are rolled back.

// rollsBack are texts of statements, tables and triggers by which an error rolls back the transaction that it happens in.
var rollsBack = lazily(`(?i)\bor\s+rollback\b|\bon\s+conflict\s+rollback\b|\braise\s*\(\s*rollback\b`)

// rollbackText finds where the sources have such a text.
func rollbackText(d *derivations) (at codeLine, found bool) {
	for _, f := range d.t.files {
		ast.Inspect(f.file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || found || lit.Kind != token.STRING {
				return !found
			}
			if text, err := strconv.Unquote(lit.Value); err == nil && rollsBack.MatchString(text) {
				at, found = d.placeOf(lit), true
			}
			return !found
		})
	}
	return at, found
}

// failedFate is what becomes of the error of a call.
type failedFate int

const (
	fateUnknown failedFate = iota
	fateLeaves             // the loop ends, or the program
	fateGoesOn
	fateReturned // to the caller
)

// goesOnFailing finds where a loop goes on though a statement of it has failed: it is not asked, or the next turn begins.
func (o *ownTransactions) goesOnFailing(c *code) (at codeLine, found bool) {
	d := derivationsOf(c)
	for i, f := range o.way {
		in, ok := d.at(f)
		if !ok {
			return at, false
		}
		name := ownName(o.called)
		if i > 0 {
			name = ownName(o.way[i-1].Func)
		}
		calls := d.callsOn(in, f, name)
		if len(calls) == 0 {
			return at, false
		}
		fate, where := failedCall(in, calls[0])
		switch {
		case fate == fateGoesOn, fate == fateReturned && f != o.at && swallows(in, where):
			return d.placeOf(where), true
		case fate != fateReturned || f == o.at:
			return at, false
		}
	}
	return at, false
}

// swallows tells of a return of a function without a name for its error that it does not say that something has failed.
func swallows(in frameCode, at ast.Node) bool {
	r, ok := at.(*ast.ReturnStmt)
	results := in.decl.Type.Results
	if in.lit != nil {
		results = in.lit.Type.Results
	}
	if !ok || results == nil || len(r.Results) == 0 {
		return ok && results == nil
	}
	return isNamed(r.Results[len(r.Results)-1], "nil")
}

// failedCall is what becomes of the error of a call in a function, and where.
func failedCall(in frameCode, call *ast.CallExpr) (fate failedFate, at ast.Node) {
	eachNode(in.body(), func(n ast.Node, around []ast.Node) {
		if n != ast.Node(call) || len(around) == 0 {
			return
		}
		switch s := around[len(around)-1].(type) {
		case *ast.ExprStmt:
			if fate, at = fateGoesOn, s; strings.HasPrefix(calledName(call), "Must") {
				fate = fateLeaves
			}
		case *ast.ReturnStmt:
			fate, at = fateReturned, s
		case *ast.AssignStmt:
			fate, at = failedAssigned(s, around[:len(around)-1])
		}
	})
	return fate, at
}

// bodyAround is the list of statements that a node is in, and whether there is one.
func bodyAround(around []ast.Node) (list []ast.Stmt, ok bool) {
	for _, n := range slices.Backward(around) {
		switch n := n.(type) {
		case *ast.BlockStmt:
			return n.List, true
		case *ast.CaseClause:
			return n.Body, true
		case *ast.CommClause:
			return n.Body, true
		}
	}
	return nil, false
}

// failedAssigned is that of an error which an assignment gives a name.
func failedAssigned(s *ast.AssignStmt, around []ast.Node) (fate failedFate, at ast.Node) {
	last := s.Lhs[len(s.Lhs)-1]
	if isNamed(last, "_") {
		return fateGoesOn, s
	}
	name := types.ExprString(last)
	if !isError(lastName(name)) && len(name) > 1 {
		return fateUnknown, nil
	}
	if i := len(around) - 1; i >= 0 {
		if of, ok := around[i].(*ast.IfStmt); ok && of.Init == ast.Stmt(s) {
			if fate, at = failedIf(of, name); fate == fateUnknown {
				return fateGoesOn, of // one error is asked for, and no other
			}
			return fate, at
		}
	}
	list, ok := bodyAround(around)
	from := slices.Index(list, ast.Stmt(s))
	if !ok || from < 0 {
		return fateUnknown, nil
	}
	var asked ast.Node
	for _, next := range list[from+1:] {
		switch n := next.(type) {
		case *ast.IfStmt:
			if !mentionsText(n.Cond, name) {
				continue
			}
			if fate, at = failedIf(n, name); fate != fateUnknown {
				return fate, at
			}
			asked = n
		case *ast.ReturnStmt:
			if slices.ContainsFunc(n.Results, func(x ast.Expr) bool { return mentionsText(x, name) }) {
				return fateReturned, n
			}
			return fateUnknown, nil
		case *ast.AssignStmt:
			if !mentionsText(n.Rhs[0], name) {
				continue
			}
			if call, ok := n.Rhs[0].(*ast.CallExpr); !ok || types.ExprString(call.Fun) != "errors.Join" && types.ExprString(call.Fun) != "append" {
				return fateUnknown, nil
			}
			asked = n // kept beside others
		default:
			if hasNode(n, func(x ast.Node) bool { id, ok := x.(*ast.Ident); return ok && id.Name == name }) {
				return fateUnknown, nil // handed to something that may end it
			}
		}
	}
	if asked != nil {
		return fateGoesOn, asked
	}
	return fateUnknown, nil
}

// failedIf is what an if does about an error; unknown where that is one among several errors, and it leaves.
func failedIf(s *ast.IfStmt, name string) (fate failedFate, at ast.Node) {
	cond, ok := ast.Unparen(s.Cond).(*ast.BinaryExpr)
	whole := ok && types.ExprString(cond.X) == name && isNamed(cond.Y, "nil")
	if whole && cond.Op == token.EQL {
		if s.Else == nil {
			return fateUnknown, nil
		}
		block, ok := s.Else.(*ast.BlockStmt)
		if !ok {
			return fateUnknown, nil
		}
		return failedBody(block, s)
	}
	if fate, at = failedBody(s.Body, s); fate == fateGoesOn || whole || ok && cond.Op == token.LOR {
		return fate, at
	}
	return fateUnknown, nil
}

// failedBody is that of the statements for an error.
func failedBody(body *ast.BlockStmt, of ast.Node) (failedFate, ast.Node) {
	if goesOn(body.List) || !leavesLoop(body.List) {
		return fateGoesOn, of
	}
	if r, ok := body.List[len(body.List)-1].(*ast.ReturnStmt); ok {
		return fateReturned, r
	}
	return fateLeaves, of
}

// storedSoFar finds where a loop that leaves tells its caller how many are stored, or which: the caller may go on from there.
func (o *ownTransactions) storedSoFar(c *code) (at codeLine, found bool) {
	n := &turnAround{d: derivationsOf(c), set: map[types.Object]bool{}}
	in, ok := n.d.at(o.at)
	if !ok {
		return at, false
	}
	loop := loopBegun(n.d, in, o.at.Line, o.begins)
	if loop == nil {
		return at, false
	}
	n.add(in, bodyOfLoop(loop), o.at.Line)
	for v := range (&toldWalk{turnAround: n}).countersOf(loop) {
		n.set[v] = true
	}
	tells := func(r *ast.ReturnStmt) bool {
		if len(r.Results) == 0 && in.lit == nil && in.decl.Type.Results != nil {
			return slices.ContainsFunc(in.decl.Type.Results.List, func(f *ast.Field) bool {
				return slices.ContainsFunc(f.Names, func(id *ast.Ident) bool { return !isError(id.Name) && n.set[n.d.variable(id)] })
			})
		}
		return slices.ContainsFunc(r.Results, func(x ast.Expr) bool { return countsStored(n, x) })
	}
	leaves := false // by a break: what is returned behind the loop is told, too
	ast.Inspect(in.body(), func(x ast.Node) bool {
		if lit, ok := x.(*ast.FuncLit); ok && lit != in.lit {
			return false
		}
		switch s := x.(type) {
		case *ast.IfStmt:
			if within(loop, s) && ofErrorAlone(s.Cond) && len(s.Body.List) > 0 {
				b, ok := s.Body.List[len(s.Body.List)-1].(*ast.BranchStmt)
				leaves = leaves || ok && b.Tok == token.BREAK
			}
		case *ast.ReturnStmt:
			if !found && (within(loop, s) || leaves && s.Pos() > loop.End()) && tells(s) {
				at, found = n.d.placeOf(s), true
			}
		}
		return true
	})
	return at, found
}

// countsStored tells of a result that it is how far a loop has come: no error, and nothing that a call makes of it but another type.
func countsStored(n *turnAround, x ast.Expr) bool {
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok {
		if n.d.t.fromPackage(call.Fun) != "" || n.d.t.callee(call) != nil || isMethodCall(call) || len(call.Args) != 1 {
			return false
		}
		x = call.Args[0]
	}
	return hasNode(x, func(y ast.Node) bool {
		if _, calls := y.(*ast.CallExpr); calls {
			return false
		}
		id, ok := y.(*ast.Ident)
		return ok && !isError(id.Name) && n.set[n.d.variable(id)]
	})
}
