package insight

import (
	"go/ast"
	exact "go/constant"
	"go/token"
	"go/types"
	"slices"
)

// What stays the same in all turns of a loop, by the source, and what grows by the same in each.

// steadyIn looks at the values of a loop.
type steadyIn struct {
	d     *derivations
	decl  *ast.FuncDecl
	loop  ast.Node
	reach map[*ast.FuncDecl]bool // what it calls
}

// bigMutators are the methods of numbers that change what they are called on, bigReaders those that do not.
var (
	bigMutators = lazily(`^(Set\w*|Add|Sub|Mul\w*|Div\w*|Quo\w*|Rem|Mod\w*|Exp|Lsh|Rsh|Neg|Abs|And|AndNot|Or|Not|Xor|GCD|Sqrt|Rand|Scan|Binomial|Inv|Copy|Unmarshal\w*|GobDecode)$`)
	bigReaders  = lazily(`^(Cmp\w*|Sign|Is\w+|U?[iI]nt64|Float64|Bit\w*|Bytes|FillBytes|String|Text|Append|Format|TrailingZeroBits|ProbablyPrime)$`)
)

// same tells of an expression that it has the same value in all turns.
func (s *steadyIn) same(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		if tv, ok := s.d.t.info.Types[x]; ok && tv.Value != nil || x.Name == "nil" {
			return true
		}
		v := s.d.variable(x)
		return v != nil && !s.isSet(v)
	case *ast.SelectorExpr:
		if of := s.d.field(x); of != nil {
			return !s.isSet(of) && s.same(x.X)
		}
		id, ok := x.X.(*ast.Ident)
		if _, isPackage := s.d.t.info.Uses[id].(*types.PkgName); ok && isPackage {
			v, isVar := s.d.t.info.Uses[x.Sel].(*types.Var)
			return !isVar || !s.isSet(v) // math.Pi
		}
		return false
	case *ast.StarExpr:
		return s.same(x.X)
	case *ast.UnaryExpr:
		return x.Op == token.SUB && s.same(x.X)
	case *ast.BinaryExpr:
		return s.same(x.X) && s.same(x.Y)
	case *ast.CallExpr:
		plain := plainPower(s.d, x)
		if plain != ast.Expr(x) {
			return s.same(plain)
		}
		return isNamed(x.Fun, "len") && len(x.Args) == 1 && s.same(x.Args[0])
	}
	return false
}

// linear tells of an expression that it grows by the same when a variable does.
func (s *steadyIn) linear(x ast.Expr, by types.Object, depth int) bool {
	switch x := plainPower(s.d, x).(type) {
	case *ast.Ident:
		v := s.d.variable(x)
		if v == nil || v == by || depth > 3 {
			return v != nil && v == by
		}
		if v.Pos() < s.loop.Pos() || v.Pos() >= s.loop.End() {
			return s.setOnce(v, by, depth)
		}
		defs := s.d.definitions(s.decl)[v]
		return len(defs) == 1 && defs[0].x != nil && !defs[0].ranged && !s.mutated(loopBody([]ast.Node{s.loop}), v, 0) && s.linear(defs[0].x, by, depth+1)
	case *ast.UnaryExpr:
		return x.Op == token.SUB && s.linear(x.X, by, depth)
	case *ast.BinaryExpr:
		switch x.Op {
		case token.QUO:
			u, ok := s.d.t.typeOf(x).(*types.Basic)
			return ok && u.Info()&types.IsFloat != 0 && s.linear(x.X, by, depth) && s.same(x.Y)
		case token.ADD, token.SUB, token.MUL:
			return s.linear(x.X, by, depth) && s.same(x.Y) || s.same(x.X) && s.linear(x.Y, by, depth)
		}
	}
	return false
}

// setOnce tells of a number from outside of the loop that one statement of it sets it to what grows by the same.
func (s *steadyIn) setOnce(v, by types.Object, depth int) (grows bool) {
	body, sets := loopBody([]ast.Node{s.loop}), 0
	for _, stmt := range body.List {
		x, ok := stmt.(*ast.ExprStmt)
		if !ok {
			continue
		}
		call, ok := x.X.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || s.d.t.callee(call) != nil {
			continue
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if ok && s.d.variable(sel.X) == v && slices.Contains([]string{"SetInt64", "SetUint64"}, sel.Sel.Name) {
			grows = s.linear(call.Args[0], by, depth+1)
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && s.d.variable(innermost(sel.X)) == v && !bigReaders.MatchString(sel.Sel.Name) {
				sets++
			}
		}
		return true
	})
	return grows && sets == 1
}

// isSet tells of a variable or a field that the loop may set it, or change what it points to, or that it is one of the loop.
func (s *steadyIn) isSet(v types.Object) bool {
	if s.loop.Pos() <= v.Pos() && v.Pos() < s.loop.End() {
		return true
	}
	if s.changes(s.loop, v) || s.mutated(s.loop, v, 0) || s.shared(v) {
		return true
	}
	if isLocal(s.decl, v) {
		return false
	}
	if s.reach == nil {
		s.reach = s.d.reached(s.decl, s.loop)
	}
	for decl := range s.reach {
		if s.changes(decl.Body, v) || ofPackage(v) && s.mutated(decl.Body, v, 3) || !ofPackage(v) && s.mutatesField(decl.Body, v) {
			return true
		}
	}
	return false
}

// shared tells of a pointer that it is in another variable of the function too, through which what it points to may be changed.
func (s *steadyIn) shared(v types.Object) (found bool) {
	if isUnpointed(v.Type()) {
		return false
	}
	ast.Inspect(s.decl.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, x := range a.Rhs {
				found = found || s.names(x, v)
			}
		}
		return !found
	})
	return found
}

// isUnpointed tells of a type that a value of it is changed only by setting the variable.
func isUnpointed(t types.Type) bool {
	if t == nil || t == types.Typ[types.Invalid] {
		return false
	}
	_, ok := t.Underlying().(*types.Basic)
	return ok
}

// names tells of an expression that it is the variable, or a selector of the field.
func (s *steadyIn) names(x ast.Expr, v types.Object) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return s.d.variable(x) == v
	case *ast.SelectorExpr:
		return s.d.field(x) == v || s.d.t.info.Uses[x.Sel] == v
	}
	return false
}

// changes tells of statements that they set a variable or a field, or a part of it, or hand on where it is.
func (s *steadyIn) changes(part ast.Node, v types.Object) (found bool) {
	sets := func(x ast.Expr) bool {
		for x = ast.Unparen(x); ; {
			if s.names(x, v) {
				return true
			}
			switch of := x.(type) {
			case *ast.IndexExpr:
				x = of.X
			case *ast.StarExpr:
				x = of.X
			case *ast.SelectorExpr:
				x = of.X
			case *ast.ParenExpr:
				x = of.X
			default:
				return false
			}
		}
	}
	ast.Inspect(part, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(n.Lhs, sets)
		case *ast.IncDecStmt:
			found = found || sets(n.X)
		case *ast.RangeStmt:
			found = found || n.Tok == token.ASSIGN && (n.Key != nil && sets(n.Key) || n.Value != nil && sets(n.Value))
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && sets(n.X)
		}
		return !found
	})
	return found
}

// mutated tells of statements that they may change the number that a variable points to: by a method of it that does, or by giving it to
// a function that does, or of which nothing is known.
func (s *steadyIn) mutated(part ast.Node, v types.Object, depth int) (found bool) {
	if isUnpointed(v.Type()) || part == nil {
		return false
	}
	ast.Inspect(part, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		fn := s.d.t.callee(call)
		var decls []*ast.FuncDecl
		if fn != nil {
			decls = s.d.declsOf(fn)
		}
		given := func(x ast.Expr) bool { return s.names(x, v) }
		sel, method := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		on := method && given(sel.X)
		if !on && !slices.ContainsFunc(call.Args, given) {
			return true
		}
		switch {
		case len(decls) > 0 && depth < 3:
			for _, decl := range decls {
				for _, param := range parametersOf(s.d, decl) {
					if decl.Body == nil {
						continue
					}
					if arg := argumentFor(s.d, decl, call, param); arg != nil && given(arg) {
						found = found || s.mutated(decl.Body, param, depth+1) || s.changesPart(decl, param)
					}
				}
			}
		case on:
			found = !bigReaders.MatchString(sel.Sel.Name)
		case method && bigMutators.MatchString(sel.Sel.Name), method && bigReaders.MatchString(sel.Sel.Name): // z.Mul(x, y) changes z
		case isNamed(call.Fun, "len"), slices.Contains([]string{"fmt", "math", "log", "slices", "strings", "bytes"}, s.d.t.fromPackage(call.Fun)):
		default:
			found = true
		}
		return !found
	})
	return found
}

// changesPart tells of a function that it sets what its parameter points to.
func (s *steadyIn) changesPart(decl *ast.FuncDecl, param types.Object) (found bool) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, lhs := range a.Lhs {
				found = found || !isIdent(lhs) && s.d.variable(innermost(lhs)) == param
			}
		}
		return !found
	})
	return found
}

// mutatesField tells of statements that they call a method that changes a number on a field.
func (s *steadyIn) mutatesField(part ast.Node, v types.Object) (found bool) {
	ast.Inspect(part, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			sel, method := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			found = found || method && s.names(sel.X, v) && bigMutators.MatchString(sel.Sel.Name) && s.d.t.callee(call) == nil
		}
		return !found
	})
	return found
}

// knownNumber is the number that an expression is by the source.
func knownNumber(d *derivations, x ast.Expr) (int64, bool) {
	tv, ok := d.t.info.Types[x]
	if !ok || tv.Value == nil {
		return 0, false
	}
	return exact.Int64Val(exact.ToInt(tv.Value))
}
