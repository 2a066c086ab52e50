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

// Whether those who make the same call at once may share what it returns: the source shows it where that is kept for others. Where it is taken out of what
// is kept, each has one to itself.

// tellShared makes the advice of a finding about calls at once fit what the source shows of that. path is the way of the calls through the code.
func tellShared(c *code, path []stack.Frame, f *Finding) {
	if tellTaken(c, path, f) {
		return
	}
	d, known := derivationsOf(c), false
	for i := 1; i < len(path); i++ {
		caller, ok := d.at(path[i])
		if !ok {
			continue
		}
		if known = true; keptForOthers(d, path[:i+1], caller, ownName(path[i-1].Func)) {
			return
		}
	}
	if known {
		f.Advice = "If several may share what the call returns, which the source does not show: " + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
	}
}

// tellTaken tells where the source shows that one is taken out of what is kept before the call is made.
func tellTaken(c *code, path []stack.Frame, f *Finding) bool {
	d := derivationsOf(c)
	for i := 1; i < len(path); i++ {
		caller, ok := d.at(path[i])
		if !ok || keptForOthers(d, path[:i+1], caller, ownName(path[i-1].Func)) {
			continue
		}
		at, what := takenBefore(d, caller, ownName(path[i-1].Func))
		if what == "" {
			continue
		}
		f.Severity = Info
		f.Advice = fmt.Sprintf("By the source, each caller has what the call returns to itself: before it, one is taken out of those that are kept (%s at %s). One answer for all would be used by several at once. Make new ones before the old ones end (in the background), ask for several in one call, or spread the times at which they end.", what, at.text())
		f.Evidence = append(f.Evidence, c.shownAt(at.file, at.line, "one is taken out: %s", what))
		f.Doubts = slices.DeleteFunc(f.Doubts, func(s string) bool { return strings.Contains(s, "one call for all may do") })
		return true
	}
	return false
}

// keptForOthers tells of a call, the last but one frame of a way, that what it returns is put where others find it, by the function around it or by itself.
func keptForOthers(d *derivations, way []stack.Frame, caller frameCode, name string) bool {
	k := keptResults{d: d, around: []*ast.FuncDecl{caller.decl}, fields: true}
	for decl := range d.reached(caller.decl, caller.decl.Body) {
		k.around = append(k.around, decl)
	}
	if slices.ContainsFunc(k.around, func(decl *ast.FuncDecl) bool { return k.putsResult(decl, name) }) {
		return true
	}
	own, ok := d.at(way[len(way)-2])
	return ok && (k.putsOwn(own.decl) || doesOnly(own.decl))
}

// takesByName are methods that take something out of what has it.
var takesByName = lazily(`^(Pop|PopFront|PopBack|Dequeue|Shift|Take|LoadAndDelete|Remove)$`)

// takenBefore finds what a function takes out of something that lives on, before it calls one of a name.
func takenBefore(d *derivations, in frameCode, name string) (at codeLine, what string) {
	body := in.body()
	calls := token.NoPos
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && ownCallName(call) == name {
			calls = call.Pos()
		}
		return true
	})
	decl := declaration{in.decl, in.file}
	note := func(n ast.Node, x ast.Expr, text string) {
		if what == "" && outlivesRequest(d, decl, x) {
			at, what = d.placeOf(n), text
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil || n.Pos() >= calls {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				if cut, ok := ast.Unparen(n.Rhs[min(i, len(n.Rhs)-1)]).(*ast.SliceExpr); ok && types.ExprString(cut.X) == types.ExprString(x) && !cutToNothing(cut) {
					note(n, x, types.ExprString(x)+" = "+types.ExprString(cut))
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && !strings.HasSuffix(types.ExprString(n.X), "Done()") && d.t.fromPackage(n.X) == "" {
				note(n, n.X, "<-"+types.ExprString(n.X))
			}
		case *ast.CallExpr:
			of := receiverOf(n)
			pooled := of != nil && libraryTypeOf(d, of, 0).text() == "sync.Pool" && calledName(n) == "Get"
			if of != nil && (takesByName.MatchString(calledName(n)) || pooled) && d.t.fromPackage(n.Fun) == "" {
				note(n, of, types.ExprString(n.Fun))
			}
		}
		return true
	})
	if what == "" || !givesInstead(d, body, at, calls) {
		return codeLine{}, ""
	}
	return at, what
}

// givesInstead tells that a function gives what was taken at a line instead of what a call behind it returns: it returns before the call, or sets what the
// call sets as well.
func givesInstead(d *derivations, body *ast.BlockStmt, at codeLine, call token.Pos) bool {
	set := map[types.Object]bool{}
	return hasNode(body, func(n ast.Node) bool {
		if d.placeOf(n).line < at.line {
			return false
		}
		switch n := n.(type) {
		case *ast.ReturnStmt:
			return n.Pos() < call && n.End() < call && len(n.Results) > 0 && !isNamed(n.Results[0], "nil")
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				v := d.variable(x)
				if v == nil || isError(v.Name()) {
					continue
				}
				if n.Pos() <= call && call < n.End() && set[v] {
					return true
				}
				set[v] = true
			}
		}
		return false
	})
}

// cutToNothing tells of a cut that nothing is left: x[:0].
func cutToNothing(cut *ast.SliceExpr) bool {
	return cut.Low == nil && cut.High != nil && types.ExprString(cut.High) == "0"
}
