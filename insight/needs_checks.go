package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// Calls that come first because they are checks, and calls that bring something by way of what they are made on.

// refusals are statuses by which somebody is refused: what such a failure ends may not be asked for before.
var refusals = lazily(`^(401|402|403|429|.*(Unauthorized|Forbidden|Unauthenticated|PermissionDenied|PaymentRequired|TooManyRequests))$`)

// refuses tells of what is done after a failure that it refuses who asks.
func refuses(body *ast.BlockStmt) bool { return refusals.MatchString(answeredStatus(body)) }

// statuses are texts of statuses of HTTP or gRPC that tell of a failure.
var statuses = lazily(`^([45]\d\d|(http|codes|connect|fiber)\.[A-Z]\w+)$`)

// answeredStatus is the status that a call in a body is given, by its text; empty where there is none.
func answeredStatus(body *ast.BlockStmt) (status string) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || status != "" {
			return status == ""
		}
		for _, x := range call.Args {
			if text := types.ExprString(x); status == "" && statuses.MatchString(text) && !strings.HasPrefix(text, "http.Method") {
				status = text
			}
		}
		return status == ""
	})
	return status
}

// refusesBy makes all that follows need the calls whose errors a condition asks for.
func (f *flow) refusesBy(cond ast.Expr) {
	ast.Inspect(cond, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			f.guards |= f.errs[id.Name]
		}
		return true
	})
}

// tellStatuses adds to advice that the errors of calls are answered in different ways.
func (s *series) tellStatuses(c *code, f *Finding) {
	src := c.parse(s.at.File)
	if src == nil {
		return
	}
	lines := make([]int, len(s.lines))
	for i, at := range s.lines {
		lines[i] = at.Line
	}
	body := src.bodyOf(lines)
	if body == nil {
		return
	}
	by := make([]string, len(lines))
	ast.Inspect(body, func(n ast.Node) bool {
		branch, ok := n.(*ast.IfStmt)
		if !ok || !asksForFailure(branch.Cond) {
			return true
		}
		first, _ := src.lines(branch)
		for i := len(lines) - 1; i >= 0; i-- {
			if lines[i] <= first {
				if by[i] == "" {
					by[i] = answeredStatus(branch.Body)
				}
				break
			}
		}
		return true
	})
	for j := range by {
		i := slices.IndexFunc(by[:j], func(status string) bool { return status != "" && by[j] != "" && status != by[j] })
		if i >= 0 {
			f.Advice += fmt.Sprintf(" Look at their errors in the order of before: that of %s is answered with %s, that of %s with %s, and an errgroup gives the one that comes first.", s.nameAt(c, i), by[i], s.nameAt(c, j), by[j])
			return
		}
	}
}

// fillsByName are names of methods that fill what they are made on.
var fillsByName = lazily(`^(?i:fill|populate|enrich)([A-Z_0-9].*)?$`)

// fills are the fields of variables which a function has made itself that calls on some lines fill, as "v.user": a method which by its name only reads gives
// their address to what it calls, or sets them.
func (l *leftBetween) fills(first, last int) (all []string) {
	if l == nil {
		return nil
	}
	w := &closedWalk{d: l.d}
	around := &closedFrame{decl: l.in.decl}
	ast.Inspect(l.in.body(), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		_, from, _ := l.d.t.at(call.Pos())
		of, name := receiverOf(call), calledName(call)
		fn := l.d.t.callee(call)
		if from < first || last < from || of == nil || fn == nil || !saysReads.MatchString(name) && !fillsByName.MatchString(name) || readsAndMore.MatchString(name) || !isIdent(of) || !madeAround(w, around, of) {
			return true
		}
		for _, decl := range l.d.declsOf(fn) {
			all = append(all, filledFields(l.d, decl, types.ExprString(of))...)
		}
		return true
	})
	return all
}

// filledFields are the fields of its receiver that a method fills, by the name of a variable that it is made on.
func filledFields(d *derivations, decl *ast.FuncDecl, root string) (all []string) {
	recv := receiverVariable(d, decl)
	if recv == nil || decl.Body == nil {
		return nil
	}
	note := func(x ast.Expr, n ast.Node, around []ast.Node) {
		sel, ok := ast.Unparen(x).(*ast.SelectorExpr)
		if ok && d.variable(ast.Unparen(sel.X)) == recv && !setsLazily(decl, n, around) {
			all = append(all, root+"."+sel.Sel.Name)
		}
	}
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				note(x, n, around)
			}
		case *ast.CallExpr:
			for _, x := range n.Args {
				for _, of := range addressed(x) {
					note(of, n, around)
				}
			}
		}
	})
	return all
}

// brings tells of calls within an argument, on some lines, that one of them is more than a look at what is there: what it brings goes into the call.
func (l *leftBetween) brings(arg ast.Expr, first, last int) bool {
	nested := map[string]bool{}
	ast.Inspect(arg, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			nested[types.ExprString(call)] = true
		}
		return true
	})
	if len(nested) == 0 || l == nil {
		return len(nested) > 0
	}
	known := map[string]bool{}
	ast.Inspect(l.in.body(), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		_, line, _ := l.d.t.at(call.Pos())
		if text := types.ExprString(call); first <= line && line <= last && nested[text] && l.looks(call) {
			known[text] = true
		}
		return true
	})
	return len(known) < len(nested)
}

// looks tells of a call of a library that it only gives what a request or a value has.
func (l *leftBetween) looks(call *ast.CallExpr) bool {
	if tv, ok := l.d.t.info.Types[call.Fun]; ok && tv.IsType() || isBuiltin(l.d, call) {
		return true
	}
	if l.d.t.callee(call) != nil {
		return false
	}
	if pkg := l.d.t.fromPackage(uninstantiated(call)); pkg != "" {
		return computes(pkg, ownCallName(call))
	}
	of := receiverOf(call)
	if by, ok := of.(*ast.CallExpr); ok && l.looks(by) {
		return tellsOnly.MatchString(ownCallName(call))
	}
	return of != nil && requestTypes.MatchString(libraryTypeOf(l.d, of, 0).text()) && tellsOnly.MatchString(ownCallName(call))
}
