package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// A function of the program that computes a power by squaring: one loop halves the exponent, squares the base, and multiplies a result,
// which begins as one, where the exponent is odd.

// squaring is what such a function has.
type squaring struct {
	base, exp types.Object
	float     bool
}

// raisesBySquaring tells of a function that it computes a power by squaring.
func raisesBySquaring(d *derivations, decl *ast.FuncDecl) bool {
	_, ok := squaringIn(d, decl)
	return ok
}

// ownPower is what a call gives such a function.
func ownPower(d *derivations, call *ast.CallExpr, decl *ast.FuncDecl) (p powerOf, ok bool) {
	s, ok := squaringIn(d, decl)
	if !ok {
		return p, false
	}
	p = powerOf{call: call, float: s.float}
	i := 0
	for _, field := range decl.Type.Params.List {
		for _, id := range field.Names {
			if i >= len(call.Args) {
				return p, false
			}
			switch d.variable(id) {
			case s.base:
				p.base = call.Args[i]
			case s.exp:
				p.exp = call.Args[i]
			default:
				p.beside = append(p.beside, call.Args[i])
			}
			i++
		}
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is {
			if v := d.variable(id); ofPackage(v) {
				p.fields = append(p.fields, v)
			}
		}
		return true
	})
	return p, p.base != nil && p.exp != nil
}

// squaringIn reads a function: nothing but conversions of numbers is called, and nothing but its own variables is set.
func squaringIn(d *derivations, decl *ast.FuncDecl) (s squaring, ok bool) {
	if decl.Body == nil || decl.Recv != nil || decl.Type.Results == nil || decl.Type.Results.NumFields() != 1 {
		return s, false
	}
	var loop *ast.ForStmt
	loops, plain := 0, true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			loop, loops = n, loops+1
		case *ast.CallExpr:
			tv, known := d.t.info.Types[ast.Unparen(n.Fun)]
			plain = plain && known && tv.IsType()
		case *ast.RangeStmt, *ast.FuncLit, *ast.GoStmt, *ast.SendStmt, *ast.SelectorExpr, *ast.IndexExpr:
			plain = false
		}
		for _, x := range changedBy(n) {
			plain = plain && isIdent(x) && isLocal(decl, d.variable(x))
		}
		return plain
	})
	if !plain || loops != 1 || loop.Cond == nil {
		return s, false
	}
	var result types.Object
	ast.Inspect(loop, func(n ast.Node) bool {
		a, is := n.(*ast.AssignStmt)
		if !is || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok == token.DEFINE {
			return true
		}
		v := d.variable(a.Lhs[0])
		switch by := withoutSpaces(a); {
		case v == nil:
		case isOneOf(by, v.Name(), "%s>>=1", "%s/=2", "%s=%s>>1", "%s=%s/2"):
			s.exp = v
		case isOneOf(cutModulus(by), v.Name(), "%s*=%s", "%s=%s*%s"):
			s.base = v
		}
		return true
	})
	if s.base == nil || s.exp == nil || !isGiven(decl, s.base) || !isGiven(decl, s.exp) || !derivedMentions(d, loop.Cond, s.exp) {
		return s, false
	}
	eachNode(loop.Body, func(n ast.Node, around []ast.Node) {
		a, is := n.(*ast.AssignStmt)
		if !is || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return
		}
		v, b := d.variable(a.Lhs[0]), s.base.Name()
		if v == nil || v == s.base || v == s.exp {
			return
		}
		by := cutModulus(withoutSpaces(a))
		if guardedBy(append(append([]ast.Node{}, around...), n), nil) && (by == v.Name()+"*="+b || by == v.Name()+"="+v.Name()+"*"+b || by == v.Name()+"="+b+"*"+v.Name()) {
			result = v
		}
	})
	others := false
	ast.Inspect(loop, func(n ast.Node) bool {
		switch a := n.(type) {
		case *ast.AssignStmt:
			v, by := d.variable(a.Lhs[0]), withoutSpaces(a)
			product := strings.Contains(cutModulus(by), "*") && (v == s.base || v == result)
			others = others || len(a.Lhs) != 1 || !product && v != s.exp && !(v == s.base && a.Tok == token.REM_ASSIGN) && !(v == result && a.Tok == token.REM_ASSIGN)
			others = others || v == s.exp && !isOneOf(by, v.Name(), "%s>>=1", "%s/=2", "%s=%s>>1", "%s=%s/2", "%s-=1")
			others = others || product && v == s.base && !isOneOf(cutModulus(by), v.Name(), "%s*=%s", "%s=%s*%s")
			others = others || product && v == result && !isOneOf(strings.ReplaceAll(cutModulus(by), s.base.Name(), "#"), strings.ReplaceAll(v.Name(), s.base.Name(), "#"), "%s*=#", "%s=%s*#", "%s=#*%s")
		case *ast.IncDecStmt, *ast.BranchStmt:
			others = true
		}
		return true
	})
	if others || result == nil || !beginsAsOne(d, decl, result) || !returnsOnly(d, decl, result) {
		return s, false
	}
	if t, basic := result.Type().Underlying().(*types.Basic); basic {
		s.float = t.Info()&(types.IsFloat|types.IsComplex) != 0
	}
	return s, true
}

// withoutSpaces is the text of an assignment, without the parentheses around a product.
func withoutSpaces(a *ast.AssignStmt) string {
	text := types.ExprString(a.Lhs[0]) + a.Tok.String() + types.ExprString(a.Rhs[0])
	return strings.NewReplacer(" ", "", "(", "", ")", "").Replace(text)
}

// cutModulus is the text of an assignment without the modulus that its product is reduced by.
func cutModulus(text string) string {
	text, _, _ = strings.Cut(text, "%")
	return text
}

// isOneOf tells of a text that it is one of some patterns with a name in them.
func isOneOf(text, name string, patterns ...string) bool {
	for _, pattern := range patterns {
		if text == strings.ReplaceAll(pattern, "%s", name) {
			return true
		}
	}
	return false
}

// beginsAsOne tells of a variable that it is one before the loop.
func beginsAsOne(d *derivations, decl *ast.FuncDecl, v types.Object) (one bool) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if _, loop := n.(*ast.ForStmt); loop {
			return false
		}
		if a, ok := n.(*ast.AssignStmt); ok {
			for i, lhs := range a.Lhs {
				if d.variable(lhs) == v && i < len(a.Rhs) {
					k, known := knownNumber(d, a.Rhs[i])
					one = known && k == 1
				}
			}
		}
		return true
	})
	return one
}

// returnsOnly tells of a function that its last statement returns a variable, and that nothing else does more than to return a number or
// that, too.
func returnsOnly(d *derivations, decl *ast.FuncDecl, v types.Object) bool {
	last, ok := decl.Body.List[len(decl.Body.List)-1].(*ast.ReturnStmt)
	if !ok || len(last.Results) > 1 || len(last.Results) == 1 && d.variable(last.Results[0]) != v {
		return false
	}
	only := true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if r, is := n.(*ast.ReturnStmt); is && len(r.Results) == 1 && d.variable(r.Results[0]) != v {
			_, known := knownNumber(d, r.Results[0])
			only = only && known
		}
		return true
	})
	return only
}
