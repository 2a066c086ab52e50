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

// What a function that calls itself and returns nothing does with what it finds: it hands that over through what it is given, or marks something.

// outKind is how. What comes later in the list decides where there are several: more is lost if a call is left out.
type outKind int

const (
	outNone   outKind = iota // nothing that the source shows
	outMarks                 // it sets what the same call sets again
	outNumber                // it adds to a number
	outHash                  // it writes to a hash
	outList                  // it appends to a list
	outText                  // it writes to a writer or a buffer
)

// recursionOut is what the source of a function shows of that.
type recursionOut struct {
	kind outKind
	to   string // as the function names it
	at   codeLine
	// other is what else it does that each call may have to do, and where.
	other   string
	otherAt codeLine
}

// recursionOutWalk reads the body of a function so.
type recursionOutWalk struct {
	recursionOut
	d     *derivations
	in    frameCode
	self  string // how it calls itself
	state string // what it marks and takes back
	walk  *effectWalk
}

// recursionOutOf reads it in a function, of which state is what it marks and takes back.
func recursionOutOf(c *code, own *scope, decl stack.Frame, state string) (out recursionOut) {
	d := derivationsOf(c)
	in, ok := d.at(decl)
	if !ok {
		return out
	}
	w := &recursionOutWalk{d: d, in: in, self: nameOfSelf(c, own, decl), state: state}
	effects := &callEffects{d: d, seen: map[*ast.FuncDecl]bool{in.decl: true}}
	effects.every = func(n ast.Node, what string) { w.does(n, what) }
	w.walk = &effectWalk{callEffects: effects, decl: in.decl, outside: map[types.Object]bool{}}
	ast.Inspect(in.decl, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v := d.variable(id); v != nil && w.isGivenTo(v) {
				w.walk.outside[v] = true
			}
		}
		return true
	})
	eachNode(in.body(), w.node)
	return w.recursionOut
}

// isGivenTo tells of a variable that the function has not declared it.
func (w *recursionOutWalk) isGivenTo(v types.Object) bool {
	body := w.in.body()
	return v != nil && (v.Pos() < body.Pos() || body.End() <= v.Pos())
}

// hands notes through what a result is handed over.
func (w *recursionOutWalk) hands(n ast.Node, kind outKind, to ast.Expr) {
	if kind > w.kind {
		w.kind, w.to, w.at = kind, types.ExprString(unrefer(to)), w.d.placeOf(n)
	}
}

// does notes what else is done.
func (w *recursionOutWalk) does(n ast.Node, what string) {
	if w.other == "" {
		w.other, w.otherAt = what, w.d.placeOf(n)
	}
}

func (w *recursionOutWalk) node(n ast.Node, around []ast.Node) {
	switch n := n.(type) {
	case *ast.IncDecStmt:
		w.sets(n, n.X, token.ADD_ASSIGN, nil)
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			w.walk.node(n, around)
			return
		}
		for i, x := range n.Lhs {
			w.sets(n, x, n.Tok, n.Rhs[min(i, len(n.Rhs)-1)])
		}
	case *ast.CallExpr:
		if !w.calls(n) {
			w.walk.node(n, around)
		}
	default:
		if n != nil {
			w.walk.node(n, around)
		}
	}
}

// sets looks at a place that is written to.
func (w *recursionOutWalk) sets(n ast.Node, x ast.Expr, tok token.Token, value ast.Expr) {
	v := w.d.variable(ast.Unparen(x))
	root := w.d.t.rootOf(x)
	switch {
	case isNamed(x, "_"), v != nil && isGiven(w.in.decl, v) && w.in.lit == nil: // a parameter, which is its own
		return
	case !w.isGivenTo(root) && (v != nil || w.d.isOwn(w.in.decl, x)):
		return
	case w.state != "" && strings.HasPrefix(types.ExprString(x), w.state+"["):
		return
	}
	switch {
	case tok == token.ASSIGN && (isFixed(value) || isEmptyStruct(value)):
		w.hands(n, outMarks, x)
	case tok == token.ASSIGN && keepsGreater(value, types.ExprString(x)):
		w.hands(n, outMarks, x)
	case tok == token.ASSIGN && appendsTo(value, types.ExprString(x)):
		w.hands(n, outList, pointed(x))
	case tok == token.ADD_ASSIGN || tok == token.SUB_ASSIGN:
		kind := outNumber
		if t := w.d.t.typeOf(x); t != nil && isTextType(t) {
			kind = outText
		}
		w.hands(n, kind, x)
	default:
		w.does(n, "changes "+types.ExprString(x))
	}
}

// isEmptyStruct tells of a value that it is struct{}{}.
func isEmptyStruct(x ast.Expr) bool {
	lit, ok := x.(*ast.CompositeLit)
	if !ok || len(lit.Elts) > 0 {
		return false
	}
	s, ok := lit.Type.(*ast.StructType)
	return ok && s.Fields.NumFields() == 0
}

// keepsGreater tells of a value that it is the greater, or the smaller, of what is there and another one: to do it again changes nothing.
func keepsGreater(value ast.Expr, place string) bool {
	call, ok := value.(*ast.CallExpr)
	return ok && (isNamed(call.Fun, "max") || isNamed(call.Fun, "min")) && slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return types.ExprString(x) == place })
}

// calls looks at a call; it is true where nothing else is to be asked of it.
func (w *recursionOutWalk) calls(n *ast.CallExpr) bool {
	if w.self != "" && ownCallName(n) == w.self {
		return true
	}
	if isNamed(n.Fun, "delete") && len(n.Args) == 2 && w.state != "" && types.ExprString(n.Args[0]) == w.state {
		return true
	}
	if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok {
		if kind := w.takes(sel.X); kind != outNone {
			if strings.HasPrefix(sel.Sel.Name, "Write") {
				w.hands(n, kind, sel.X)
			}
			return true
		}
	}
	handed := false
	for _, x := range n.Args {
		if kind := w.takes(x); kind != outNone {
			handed = true
			w.hands(n, kind, x)
		}
	}
	return handed
}

// textTakers are types of the library that take text.
var textTakers = lazily(`^(io\.(String|Byte)?Writer|bytes\.Buffer|strings\.Builder|bufio\.(Read)?Writer|text/tabwriter\.Writer)$`)

// takes is what something that the function was given takes: a hash, a writer.
func (w *recursionOutWalk) takes(x ast.Expr) outKind {
	x = unrefer(ast.Unparen(x))
	switch x.(type) {
	case *ast.Ident, *ast.SelectorExpr:
	default:
		return outNone
	}
	if !w.isGivenTo(w.d.t.rootOf(x)) || w.d.t.fromPackage(x) != "" {
		return outNone
	}
	of := libraryTypeOf(w.d, x, 0)
	switch {
	case isHash(of):
		return outHash
	case textTakers.MatchString(of.text()):
		if of.pkg == "io" && w.isAlwaysHash(x) {
			return outHash
		}
		return outText
	}
	return outNone
}

// isAlwaysHash tells of a parameter that each caller from outside gives a hash for it.
func (w *recursionOutWalk) isAlwaysHash(x ast.Expr) bool {
	v := w.d.variable(x)
	if v == nil || w.in.lit != nil || !isGiven(w.in.decl, v) {
		return false
	}
	some := false
	for _, by := range callersTo(w.d, w.in.decl) {
		if by.in == w.in.decl {
			continue
		}
		arg := argumentFor(w.d, w.in.decl, by.call, v)
		if arg == nil || !isHash(libraryTypeOf(w.d, arg, 0)) {
			return false
		}
		some = true
	}
	return some
}

// text says in the summary what is done with the result.
func (o recursionOut) text() string {
	switch o.kind {
	case outHash:
		return fmt.Sprintf("and writes what it finds into %s, a hash", o.to)
	case outText:
		return fmt.Sprintf("and writes what it finds to %s", o.to)
	case outList:
		return fmt.Sprintf("and appends what it finds to %s", o.to)
	case outNumber:
		return fmt.Sprintf("and adds what it finds to %s", o.to)
	}
	return "and returns nothing, or an error alone"
}

// advice is how to do it once for each argument.
func (o recursionOut) advice() string {
	const less = " To return at once for what has been done is wrong here: %s would lack what each later call adds"
	switch o.kind {
	case outHash:
		return fmt.Sprintf("Hash each part once: give the call for each argument a hash of its own, keep its sum by the argument for as long as one call from outside lasts, and write that sum into the hash of whoever asks (as in a Merkle tree)."+less+", and different input might get the same hash.", o.to)
	case outText:
		return fmt.Sprintf("Make each part once: let the call for each argument write to a buffer of its own, keep that by the argument for as long as one call from outside lasts, and write what is kept to %s."+less+".", o.to, o.to)
	case outList:
		return fmt.Sprintf("Make each part once: return what a call appends, keep it by the argument for as long as one call from outside lasts, and append what is kept to %s."+less+"; only if each element is wanted once, a set of those that are done is right.", o.to, o.to)
	case outNumber:
		return fmt.Sprintf("Compute each part once: return the amount, keep it by the argument for as long as one call from outside lasts, and add what is kept to %s."+less+".", o.to, o.to)
	case outMarks:
		return "Keep a set of the arguments that are done for as long as one call from outside lasts, and return at once for them: by its source, the function only sets marks, which the same call sets again."
	}
	return "If to do it once for each argument is enough, keep a set of those that are done for as long as one call from outside lasts, and return at once for them. If what it does for each adds up (in what it is given, for example), compute each part once instead, keep it, and add it for each call."
}

// doubts says what could make each of the calls necessary.
func (o recursionOut) doubts(in *Input, own *scope, decl stack.Frame, state string, f *Finding, remark func(format string, args ...any)) {
	if given := callsGiven(own); given != "" {
		remark("it calls %s, a function that it is given: if that has to be called each time, each call is needed", given)
	}
	if fn := in.code.function(decl); fn != nil && own.body == fn.Body {
		if why, _ := maybeOther(in.code, fn, decl.File); why != "" {
			remark("another call may do something else: %s", why)
		}
	}
	switch {
	case o.kind == outNone:
		remark("it is called for what it does: if each path to the same place has to do that, each call is needed")
	case o.other != "":
		remark("it %s at %s as well: if each call has to do that, split it from what can be kept", o.other, o.otherAt.text())
	}
	switch o.kind {
	case outHash:
		f.Doubts = append(f.Doubts, "a sum of sums is another one than before: hashes that are stored, or compared with those of others, have to be made again")
	case outText, outList:
		remark("%s gets as much as before, for each path to the same place: only making it again is saved", o.to)
	}
	if state != "" && o.kind != outMarks {
		f.Doubts = append(f.Doubts, fmt.Sprintf("it marks in %s where it is, and takes that back: inside of a cycle, what an argument gives depends on the path to it. Keep it only if nothing below it came back to a place that is still marked", state))
	}
}
