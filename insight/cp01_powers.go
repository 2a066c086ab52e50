package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// Powers of the same base, one after another, each of which is computed from nothing: the turn before had all of it but one
// multiplication.

// powerOf is a call that computes a power, by what is given for it in the function at hand.
type powerOf struct {
	call      *ast.CallExpr
	base, exp ast.Expr
	beside    []ast.Expr     // what else it depends on: the modulus
	fields    []types.Object // fields and variables of a package that it reads, in functions that it goes through
	float     bool
}

// powerLoop is a loop whose turns compute such powers.
type powerLoop struct {
	powerOf
	in      frameCode
	at      stack.Frame // the line of the call in the loop
	to      string      // what the loop calls
	line    int         // of the loop
	counter string
	guarded bool // a condition decides whether a turn computes one
}

// powersOn finds on a stack's frames of the user's, the innermost first, that the innermost computes a power, for a loop in it or
// around a call of it.
func powersOn(d *derivations, user []stack.Frame, callee string) (p powerLoop, ok bool) {
	in, found := d.at(user[0])
	if !found {
		return p, false
	}
	of, ok := powerCalled(d, in, user[0], callee)
	for i := 0; ok && i < min(len(user), 4); i++ {
		if p, found := powerLoopAround(d, in, of); found {
			p.at, p.to = user[i], callee
			if i > 0 {
				p.to = stack.FoldGenerics(user[i-1].Func)
			}
			return p, true
		}
		if i+1 >= len(user) {
			break
		}
		outer, found := d.at(user[i+1])
		if !found {
			break
		}
		of, ok = of.givenBy(d, in, outer, user[i+1])
		in = outer
	}
	return p, false
}

// powerCalled is the only call on a frame's line of a function of the library that computes powers.
func powerCalled(d *derivations, in frameCode, at stack.Frame, callee string) (p powerOf, ok bool) {
	name := lastName(callee)
	calls := d.callsOn(in, at, name)
	if len(calls) != 1 {
		return p, false
	}
	call := calls[0]
	switch {
	case callee == "math.Pow" && len(call.Args) == 2 && d.t.fromPackage(call.Fun) == "math":
		return powerOf{call: call, base: call.Args[0], exp: call.Args[1], float: true}, true
	case callee == "math/big.(*Int).Exp" && len(call.Args) == 3 && d.t.callee(call) == nil:
		return powerOf{call: call, base: call.Args[0], exp: call.Args[1], beside: call.Args[2:]}, true
	}
	if fn := d.t.callee(call); fn != nil && d.t.decls[fn] != nil {
		return ownPower(d, call, d.t.decls[fn])
	}
	return p, false
}

// givenBy says what a caller gives for a power to a function that does hardly anything else.
func (p powerOf) givenBy(d *derivations, in, outer frameCode, at stack.Frame) (next powerOf, ok bool) {
	if in.lit != nil {
		return next, false
	}
	calls := d.callsOn(outer, at, in.decl.Name.Name)
	loops := false
	ast.Inspect(in.decl.Body, func(n ast.Node) bool { loops = loops || isLoop(n); return !loops })
	if len(calls) != 1 || loops {
		return next, false
	}
	next = powerOf{call: calls[0], float: p.float, fields: p.fields}
	given := func(x ast.Expr) ast.Expr {
		v := d.variable(plainPower(d, x))
		if v == nil || !isGiven(in.decl, v) || len(d.definitions(in.decl)[v]) > 0 {
			return nil
		}
		return argumentFor(d, in.decl, calls[0], v)
	}
	if next.base, next.exp = given(p.base), given(p.exp); next.base == nil || next.exp == nil {
		return next, false
	}
	for _, x := range p.beside {
		known := true
		ast.Inspect(x, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				known = false
			case *ast.SelectorExpr:
				if of := d.field(n); of != nil {
					next.fields = append(next.fields, of)
				}
			case *ast.Ident:
				v := d.variable(n)
				switch {
				case v == nil:
				case isGiven(in.decl, v):
					arg := argumentFor(d, in.decl, calls[0], v)
					if known = known && arg != nil; arg != nil {
						next.beside = append(next.beside, arg)
					}
				case ofPackage(v):
					next.fields = append(next.fields, v)
				case isLocal(in.decl, v):
					known = false
				}
			}
			return known
		})
		if !known {
			return next, false
		}
	}
	return next, true
}

// numberCasts are functions that give the number they are given in another type.
var numberCasts = lazily(`^(u?int(8|16|32|64)?|uint|float(32|64)|NewInt|SetInt64|SetUint64|Set)$`)

// plainPower is an expression without conversions of numbers.
func plainPower(d *derivations, x ast.Expr) ast.Expr {
	for {
		x = ast.Unparen(x)
		call, ok := x.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || !numberCasts.MatchString(ownCallName(call)) || d.t.callee(call) != nil {
			return x
		}
		x = call.Args[0]
	}
}

// powerLoopAround finds a loop around the call of a power whose exponent grows by the same each turn while all else stays.
func powerLoopAround(d *derivations, in frameCode, of powerOf) (p powerLoop, ok bool) {
	around := nodesAround(in.body(), of.call)
	guarded := false
	for i := len(around) - 2; i >= 0; i-- {
		var body *ast.BlockStmt
		switch n := around[i].(type) {
		case *ast.FuncLit:
			return p, false
		case *ast.IfStmt, *ast.CaseClause, *ast.CommClause:
			guarded = true
		case *ast.ForStmt:
			body = n.Body
		case *ast.RangeStmt:
			body = n.Body
		}
		if body == nil {
			continue
		}
		s := &steadyIn{d: d, decl: in.decl, loop: around[i]}
		v := countsBy(s)
		if v == nil || !s.linear(of.exp, v, 0) {
			continue
		}
		same := s.same(of.base) && !slices.ContainsFunc(of.beside, func(x ast.Expr) bool { return !s.same(x) }) && !slices.ContainsFunc(of.fields, s.isSet)
		if !same || powersFew(d, around[i]) {
			return p, false
		}
		_, line, _ := d.t.at(around[i].Pos())
		return powerLoop{powerOf: of, in: in, line: line, counter: v.Name(), guarded: guarded || skipsBefore(body, of.call)}, true
	}
	return p, false
}

// skipsBefore tells of the body of a loop that a turn may end before a call is made.
func skipsBefore(body *ast.BlockStmt, call ast.Node) (skips bool) {
	eachNode(body, func(n ast.Node, around []ast.Node) {
		b, ok := n.(*ast.BranchStmt)
		skips = skips || ok && b.Tok == token.CONTINUE && n.Pos() < call.Pos() && !slices.ContainsFunc(around, isLoop)
	})
	return skips
}

// countsBy is the variable of a loop that grows or falls by the same in each of its turns.
func countsBy(s *steadyIn) types.Object {
	switch n := s.loop.(type) {
	case *ast.RangeStmt:
		t := s.d.t.typeOf(n.X)
		if n.Key == nil || t == nil {
			return nil
		}
		switch u := t.Underlying().(type) {
		case *types.Slice, *types.Array, *types.Pointer:
		case *types.Basic:
			if u.Info()&types.IsInteger == 0 {
				return nil
			}
		default:
			return nil
		}
		v := s.d.variable(n.Key)
		if v == nil || s.changes(n.Body, v) {
			return nil
		}
		return v
	case *ast.ForStmt:
		a, ok := n.Init.(*ast.AssignStmt)
		if !ok || n.Post == nil {
			return nil
		}
		for _, lhs := range a.Lhs {
			v := s.d.variable(lhs)
			if v == nil || s.changes(n.Body, v) {
				continue
			}
			switch post := n.Post.(type) {
			case *ast.IncDecStmt:
				if s.d.variable(post.X) == v {
					return v
				}
			case *ast.AssignStmt:
				if (post.Tok == token.ADD_ASSIGN || post.Tok == token.SUB_ASSIGN) && len(post.Lhs) == 1 && s.d.variable(post.Lhs[0]) == v && s.same(post.Rhs[0]) {
					return v
				}
			}
		}
	}
	return nil
}

// leastTurns is how many turns a loop has from which on a running product is worth its line: chosen.
const leastTurns = 4

// powersFew tells of a loop that it has few turns by the source.
func powersFew(d *derivations, loop ast.Node) bool {
	few := func(x ast.Expr) bool {
		n, ok := knownNumber(d, x)
		return ok && n < leastTurns
	}
	switch n := loop.(type) {
	case *ast.RangeStmt:
		if array, ok := arrayOf(d.t.typeOf(n.X)); ok {
			return array.Len() < leastTurns
		}
		return few(n.X)
	case *ast.ForStmt:
		cond, ok := n.Cond.(*ast.BinaryExpr)
		if !ok {
			return false
		}
		switch cond.Op {
		case token.LSS, token.LEQ:
			return few(cond.Y)
		case token.GTR, token.GEQ:
			a, ok := n.Init.(*ast.AssignStmt)
			return ok && len(a.Rhs) == 1 && few(a.Rhs[0])
		}
	}
	return false
}

func arrayOf(t types.Type) (*types.Array, bool) {
	if t == nil {
		return nil, false
	}
	a, ok := t.Underlying().(*types.Array)
	return a, ok
}

// tellPowers says of a hot function that it computes powers for a loop which could go on from one to the next.
func tellPowers(in *Input, d *derivations, w *facts.Weights, h *hotFunction, f *Finding) bool {
	v, hot := in.view(w.Profile), h.line.Caller.Func
	type key struct {
		at   stack.Frame
		line int
	}
	by, known, total := map[key]int64{}, map[key]powerLoop{}, int64(0)
	seen := map[string]*powerLoop{}
	var most key
	of, found := d.at(h.line.Caller)
	own := found && of.lit == nil && raisesBySquaring(d, of.decl)
	for id, n := range w.Profile.Samples(w.Index) {
		total += n
		frames := v.t.Frames(id)
		i := nextUser(v, frames, 0)
		if i < 0 || v.t.Frame(frames[i]).Func != hot {
			continue
		}
		callee := hot
		if own {
			i = nextUser(v, frames, i+1) // what calls it
		} else if callee = ""; i > 0 {
			callee = v.t.Frame(frames[i-1]).Func
		}
		if !own && callee != "math.Pow" && callee != "math/big.(*Int).Exp" {
			continue
		}
		var user []stack.Frame
		for ; i >= 0 && len(user) < 4; i = nextUser(v, frames, i+1) {
			user = append(user, v.t.Frame(frames[i]))
		}
		way := callee + fmt.Sprint(user)
		p, asked := seen[way]
		if !asked && len(user) > 0 {
			if one, ok := powersOn(d, user, callee); ok {
				p = &one
			}
			seen[way] = p
		}
		if p == nil {
			continue
		}
		k := key{lineOnly(p.at), p.line}
		known[k] = *p
		if by[k] += n; by[k] >= by[most] {
			most = k
		}
	}
	share := stats.Wilson(float64(by[most]), float64(total), compare.Confidence)
	if by[most] == 0 || share.Low < dominates && float64(by[most]) < nearlyAll*float64(h.samples) {
		return false
	}
	known[most].tell(in, w, by[most], total, share, f)
	return true
}

// factorText is an expression as a factor of a product: in parentheses unless it is a single term.
func factorText(x ast.Expr) string {
	switch y := ast.Unparen(x).(type) {
	case *ast.Ident, *ast.BasicLit, *ast.SelectorExpr, *ast.IndexExpr, *ast.CallExpr:
		return types.ExprString(y)
	default:
		return "(" + types.ExprString(y) + ")"
	}
}

// tell makes a finding of the place where most of these powers are computed.
func (p powerLoop) tell(in *Input, w *facts.Weights, samples, total int64, share stats.Interval, f *Finding) {
	base, factor, exp := types.ExprString(p.base), factorText(p.base), types.ExprString(plainPower(newDerivations(in.code), p.exp))
	f.Title = "Each power is computed anew in a loop that had the one before"
	counts := exp + " is counted by"
	if exp != p.counter {
		counts = fmt.Sprintf("%s grows or falls by the same in each turn of", exp)
	}
	f.Summary = fmt.Sprintf("%s of the CPU time goes into powers of %s in %s, calling %s: by the source, the exponent %s the loop at %s, and %s is the same in all turns: the turn before had all of the power but one multiplication",
		unit.Percent(share.Estimate), base, place(p.at), stack.Short(p.to), counts, fileLine(p.at.File, p.line), base)
	modulus := ", with the same modulus if there is one"
	if p.float {
		modulus = ""
	}
	f.Advice = fmt.Sprintf("Keep the power from one turn to the next and multiply it once in each (power = power·%s%s). For the sum of a polynomial, Horner's scheme needs no powers: from the last coefficient on, sum = sum·%s + c[i].", factor, modulus, factor)
	f.Verify = "Record again with the same input: what this line calls should vanish, and a multiplication take its place."
	f.Evidence = []Evidence{
		in.fileAt(w.Entry, p.at, nil, "a power is computed anew here: %d of %d samples", samples, total),
		in.code.shownAt(p.at.File, p.line, "%s is counted here", p.counter),
	}
	if exp != p.counter {
		f.Doubts = append(f.Doubts, fmt.Sprintf("where %s grows by another number than one, multiply by that power of %s, which is computed once before the loop; where it falls, go from the other end", exp, base))
	}
	if p.float {
		f.Doubts = append(f.Doubts, "a running product of floating-point numbers is rounded in each turn: its last digits are others than those of math.Pow, the more so the more turns there are")
	}
	f.Impact = &Impact{share.Estimate, cpuSamples, share.Low, share.High}
	f.Severity, f.Score = Info, score(share.Estimate, 0.20, 0.60)
	f.costs = []cost{{file: p.at.File, line: p.at.Line, callee: stack.FoldGenerics(p.to)}}
	f.saves = true
	switch {
	case p.guarded:
		f.Doubts = append(f.Doubts, "a condition decides whether a turn computes one: if few do, multiplying in each turn may cost as much")
	case share.Low >= dominates:
		f.Severity = Warning
	}
}
