package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Whether a value that was decoded is changed afterwards: then it cannot be one for all who need it.

// decodedFlow follows a value that was decoded.
type decodedFlow struct {
	*memoryFlow
	// seeds are the variables and fields that are decoded into by their address.
	seeds map[types.Object]bool
	steps []*bytesStep
	of    types.Type // what is decoded into; nil where it is not known
}

// decodedFlowOf follows what the call of the first step decodes. The others are the calls by which the program has come to
// it: a parameter is what they give, and a result goes to them alone. nil where nothing is decoded into anything.
func decodedFlowOf(d *derivations, steps []*bytesStep) *decodedFlow {
	call, ok := steps[0].node.(*ast.CallExpr)
	if !ok {
		return nil
	}
	f := &decodedFlow{seeds: map[types.Object]bool{}, steps: steps}
	f.memoryFlow = &memoryFlow{d: d, vars: map[types.Object]bond{}, gives: map[*ast.FuncDecl]bond{}, sources: map[ast.Expr]bool{}, through: map[*ast.FuncDecl]*ast.CallExpr{}}
	for i, s := range steps[1:] {
		if by, ok := s.node.(*ast.CallExpr); ok && ownCallName(by) == steps[i].in.decl.Name.Name {
			f.through[steps[i].in.decl] = by
		}
	}
	_, x, _ := decodedText(d, steps[0].in, call)
	switch {
	case x == nil && len(call.Args) == 1 && ownCallName(call) == "Decode": // of a stream
		x = call.Args[0]
	case x == nil && d.t.fromPackage(call.Fun) == "":
		x = receiverOf(call)
	}
	if x == nil {
		f.sources[call], f.cells = true, cellsOf(nil, false)
		f.settled()
		return f
	}
	x = decodedOutward(d, steps, x)
	f.of = d.t.typeOf(x)
	f.cells = cellsOf(f.of, false)
	place, address := ast.Unparen(x), false
	if u, ok := place.(*ast.UnaryExpr); ok && u.Op == token.AND {
		place, address = ast.Unparen(u.X), true
	}
	v := d.variable(place)
	if sel, ok := place.(*ast.SelectorExpr); ok && v == nil {
		v = d.field(sel)
	}
	switch {
	case v != nil:
		f.vars[v], f.seeds[v] = bondIs, address
	default:
		f.sources[x] = true
	}
	f.settled()
	return f
}

// decodedOutward is what a call decodes into, by the calls around it: what they give for a parameter.
func decodedOutward(d *derivations, steps []*bytesStep, x ast.Expr) ast.Expr {
	for i := range steps {
		for {
			x = ast.Unparen(x)
			call, ok := x.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				break
			}
			if tv, known := d.t.info.Types[ast.Unparen(call.Fun)]; !known || !tv.IsType() {
				break
			}
			x = call.Args[0]
		}
		v, decl := d.variable(x), steps[i].in.decl
		if !isGiven(decl, v) || i+1 == len(steps) {
			return x
		}
		by, ok := steps[i+1].node.(*ast.CallExpr)
		if !ok {
			return x
		}
		var given ast.Expr
		if ownCallName(by) == decl.Name.Name {
			given = argumentFor(d, decl, by, v)
		} else if v.Pos() < decl.Name.Pos() { // a method that a decoder calls
			_, given, _ = decodedText(d, steps[i+1].in, by)
		}
		if given == nil {
			return x
		}
		x = given
	}
	return x
}

// unmarshals are names of the methods by which a type decodes itself: what they write belongs to decoding.
var unmarshals = lazily(`^(Unmarshal(JSON|JSONFrom|Text|Binary|YAML|XML|XMLAttr|TOML|BSON|CBOR|MsgPack)|GobDecode|DecodeMsg(pack)?)$`)

// written finds where the program writes into the value after it has been decoded. What decodes, by some calls, does not
// count, nor what a function does to the value before it is decoded.
func (f *decodedFlow) written(decoders []ast.Node, except func(w writtenPlace) bool) (at codeLine, ok bool) {
	for _, x := range flowNodes(f.d) {
		if x.in == nil || !f.memoryFlow.written(x.n) && !f.sets(x.n) || slices.Contains(decoders, x.n) || unmarshals.MatchString(x.in.Name.Name) {
			continue
		}
		before := slices.ContainsFunc(f.steps, func(s *bytesStep) bool { return s.in.decl == x.in && x.n.Pos() < s.node.End() })
		if before || except != nil && except(writtenPlace{x.in, x.n, x.looped, x.guards}) {
			continue
		}
		return f.d.placeOf(x.n), true
	}
	return at, false
}

// sets tells of a node that it sets a field of the variable itself that was decoded into.
func (f *decodedFlow) sets(n ast.Node) bool {
	of := func(place ast.Expr) bool {
		for x := ast.Unparen(place); ; {
			inner := ast.Unparen(aroundPart(x))
			if inner == x || isReference(f.d, x, inner) {
				return false
			}
			v := f.d.variable(inner)
			if sel, ok := inner.(*ast.SelectorExpr); ok && v == nil {
				v = f.d.field(sel)
			}
			if f.seeds[v] {
				return true
			}
			x = inner
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Tok != token.DEFINE && slices.ContainsFunc(n.Lhs, of)
	case *ast.IncDecStmt:
		return of(n.X)
	case *ast.CallExpr:
		if fn := f.d.t.callee(n); fn != nil && len(f.d.declsOf(fn)) > 0 {
			return false // what it does is looked at there
		}
		return slices.ContainsFunc(writtenBy(f.d, n), func(a ast.Expr) bool {
			u, ok := ast.Unparen(a).(*ast.UnaryExpr)
			return ok && u.Op == token.AND && (f.seeds[f.d.variable(ast.Unparen(u.X))] || of(u.X))
		})
	}
	return false
}
