package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"sync"

	"loupe/value/stack"
)

// What of a request a part of the source reads. It is proved that it reads nothing: what is not understood counts as the request's.

// requestFlow follows values to the request, and notes on the way what the advice depends on.
type requestFlow struct {
	d    *derivations
	seen map[flowAt]bool // what is looked at already counts as free: it is decided where that began
	// contexts tells whether the program asks any context for a value.
	contexts func() bool
	// handlers are what a handler without a name has from the function around it: another one may have another.
	handlers []string
	// owner is the type whose method serves the request; each of its values may have other data.
	owner string
	// shared tells that a function is given by others as well what it is given on the way.
	shared bool
}

func newRequestFlow(d *derivations) *requestFlow {
	return &requestFlow{d: d, seen: map[flowAt]bool{}, contexts: sync.OnceValue(func() bool { return asksContexts(d) })}
}

// flowAt is a variable in a call that is so many callers deep.
type flowAt struct {
	v     types.Object
	depth int
}

// flowDepth is how many callers a parameter is followed to. Chosen.
const flowDepth = 8

var (
	// outTypes are types of what an answer is written to, and of loggers: they do not decide what is in it. A type of the program may hold anything.
	outTypes = lazily(`^(http\.(ResponseWriter|Flusher)|io\.\w*Writer|bytes\.Buffer|strings\.Builder|(json|xml|gob)\.Encoder|(bufio|csv|gzip|flate|zlib|tabwriter)\.Writer|(log|slog|zap|zerolog)\.\w*Logger)$`)
	// outMade are calls and literals that make one with nothing in it.
	outMade = lazily(`^&?(bytes\.Buffer|strings\.Builder)\{\}$|^new\((bytes\.Buffer|strings\.Builder)\)$|^((json|xml|gob)\.NewEncoder|(bufio|csv|gzip|flate|zlib|tabwriter)\.NewWriter\w*)\(`)
	// ofOneUser are types of what one request says, contextOf those of frameworks that have the answer as well.
	ofOneUser = lazily(`(?i)(request|params|cookie|session|claims|url|form)$`)
	contextOf = lazily(`\.(Context|Ctx)$`)
	// writesAnswer are the methods of such a context that write the answer, or say how long one waits for it.
	writesAnswer = lazily(`^(JSON|JSONP|IndentedJSON|PureJSON|SecureJSON|AsciiJSON|JSONPretty|JSONBlob|XML|XMLPretty|YAML|TOML|ProtoBuf|String|HTML|HTMLBlob|Render|Data|Blob|Stream|SendString|SendStream|Send|SendStatus|NoContent|Status|Header|SetHeader|Set|Type|Write|WriteString|Writer|Response|Done|Err|Deadline|Abort.*)$`)
)

// free tells whether what a node of a function reads was there before the request. callers are the lines that call the function, the nearest first.
func (q *requestFlow) free(in frameCode, n ast.Node, callers []stack.Frame) bool {
	ok := true
	eachNode(n, func(x ast.Node, around []ast.Node) {
		if u, is := x.(*ast.UnaryExpr); is && u.Op == token.ARROW {
			ok = false // who has sent it is not looked for
		}
		if sel, is := x.(*ast.SelectorExpr); is && ok {
			ok = q.fieldSet(in, sel, callers)
		}
		id, is := x.(*ast.Ident)
		if !is || !ok {
			return
		}
		v, is := q.d.t.info.Uses[id].(*types.Var)
		if !is || v.IsField() || n.Pos() <= v.Pos() && v.Pos() < n.End() {
			return
		}
		if sel, isSel := parent(around).(*ast.SelectorExpr); isSel && sel.Sel.Name == "Context" {
			ok = !q.contexts()
			return
		}
		if field := parameterField(in.decl, v); field != nil && contextOf.MatchString(types.ExprString(field.Type)) && types.ExprString(field.Type) != contextType {
			sel, isSel := parent(around).(*ast.SelectorExpr)
			ok = isSel && writesAnswer.MatchString(sel.Sel.Name)
			return
		}
		ok = q.variable(in, v, callers)
		if sel, isSel := parent(around).(*ast.SelectorExpr); ok && isSel && readsBuffer[sel.Sel.Name] && isLocal(in.decl, v) {
			ok = q.filled(in, v, callers) // what was written to it is read
		}
	})
	return ok
}

// readsBuffer are methods that give what was written to a buffer.
var readsBuffer = map[string]bool{"String": true, "Bytes": true, "Next": true, "Read": true, "ReadString": true, "ReadBytes": true, "ReadAll": true, "WriteTo": true, "Buffered": true, "AvailableBuffer": true}

// contextType is a context in the source.
const contextType = "context.Context"

// asksContexts tells whether the program asks any context for a value: then one may say who asks.
func asksContexts(d *derivations) bool {
	return slices.ContainsFunc(declsInOrder(d), func(decl *ast.FuncDecl) bool {
		return hasCall(decl.Body, func(call *ast.CallExpr) bool {
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Value" || len(call.Args) != 1 {
				return false
			}
			if v, isVar := d.variable(sel.X).(*types.Var); isVar {
				field := parameterField(decl, v)
				return isContext(sel.X) || field != nil && types.ExprString(field.Type) == contextType
			}
			return isContext(sel.X) || strings.HasSuffix(types.ExprString(sel.X), "Context()")
		})
	})
}

// fieldSet tells of a field that nothing of the request is put into it in the function, by whatever name.
func (q *requestFlow) fieldSet(in frameCode, sel *ast.SelectorExpr, callers []stack.Frame) bool {
	v, ok := q.d.t.info.Uses[sel.Sel].(*types.Var)
	if !ok || !v.IsField() || q.seen[flowAt{v, len(callers)}] {
		return true
	}
	q.seen[flowAt{v, len(callers)}] = true
	free := true
	ast.Inspect(in.body(), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || !free {
			return free
		}
		for i, x := range a.Lhs {
			to, isSel := ast.Unparen(x).(*ast.SelectorExpr)
			if isSel && q.d.t.info.Uses[to.Sel] == types.Object(v) {
				free = free && q.free(in, a.Rhs[min(i, len(a.Rhs)-1)], callers)
			}
		}
		return free
	})
	return free
}

// variable is free of a variable that the function has from outside of the node.
func (q *requestFlow) variable(in frameCode, v *types.Var, callers []stack.Frame) bool {
	at := flowAt{v, len(callers)}
	if q.seen[at] || ofPackage(v) || v.Type() != nil && types.TypeString(v.Type(), nil) == "error" {
		return true
	}
	q.seen[at] = true
	if field := parameterField(in.decl, v); field != nil {
		return q.parameter(in, v, field, callers)
	}
	if !isLocal(in.decl, v) {
		return false
	}
	if declaredToWrite(in.decl, v) {
		return q.undecided(in, v, callers)
	}
	if in.lit != nil && v.Pos() < in.lit.Pos() && madeInTurn(in.decl, v) {
		q.ofHandler(v)
	}
	defs := q.d.definitions(in.decl)[v]
	if len(defs) == 0 {
		return false // what sets it is not seen
	}
	for _, def := range defs {
		if def.x != nil && outMade.MatchString(types.ExprString(def.x)) {
			return q.undecided(in, v, callers)
		}
		if def.x != nil && !q.free(in, def.x, callers) {
			return false
		}
	}
	return q.undecided(in, v, callers) && q.filled(in, v, callers)
}

// madeInTurn tells of a local variable that each turn of a loop has one of its own.
func madeInTurn(decl *ast.FuncDecl, v *types.Var) (in bool) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		in = in || n != nil && isLoop(n) && n.Pos() < v.Pos() && v.Pos() < n.End()
		return !in
	})
	return in
}

// declaredToWrite tells of a local variable that it is declared with a type of what is written to.
func declaredToWrite(decl *ast.FuncDecl, v *types.Var) (out bool) {
	ast.Inspect(decl, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		out = out || ok && spec.Type != nil && slices.ContainsFunc(spec.Names, func(id *ast.Ident) bool { return id.Pos() == v.Pos() }) && outTypes.MatchString(types.ExprString(spec.Type))
		return !out
	})
	return out
}

// undecided tells that nothing of the request decides which value a local variable has, or what is called on it.
func (q *requestFlow) undecided(in frameCode, v *types.Var, callers []stack.Frame) bool {
	free := true
	eachNode(in.decl.Body, func(n ast.Node, around []ast.Node) {
		is := func(x ast.Expr) bool { return q.d.variable(innermost(x)) == types.Object(v) }
		sets := false
		switch n := n.(type) {
		case *ast.AssignStmt:
			sets = slices.ContainsFunc(n.Lhs, is)
		case *ast.CallExpr: // a setting of an encoder, a text for a buffer
			sel, method := n.Fun.(*ast.SelectorExpr)
			sets = method && is(sel.X) && sel.Sel.Name != "Encode" && sel.Sel.Name != "Close" && sel.Sel.Name != "Flush"
		}
		if !sets || !free {
			return
		}
		for _, o := range around {
			var cond ast.Expr
			switch o := o.(type) {
			case *ast.IfStmt:
				cond = o.Cond
			case *ast.SwitchStmt:
				cond = o.Tag
			case *ast.CaseClause:
				free = free && !slices.ContainsFunc(o.List, func(x ast.Expr) bool { return !q.free(in, x, callers) })
			}
			if cond != nil && free {
				free = q.free(in, cond, callers)
			}
		}
	})
	return free
}

// filled tells that no call in the function gives the variable something of the request.
func (q *requestFlow) filled(in frameCode, v *types.Var, callers []stack.Frame) bool {
	free := true
	ast.Inspect(in.decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !free {
			return free
		}
		given := slices.Clone(call.Args)
		if sel, isMethod := call.Fun.(*ast.SelectorExpr); isMethod {
			given = append(given, sel.X)
		}
		if !slices.ContainsFunc(given, func(x ast.Expr) bool { return q.d.variable(innermost(unrefer(x))) == types.Object(v) }) {
			return true
		}
		for _, x := range given {
			free = free && q.free(in, x, callers)
		}
		return free
	})
	return free
}

// parameter is free of what a function, or one without a name in it, is given.
func (q *requestFlow) parameter(in frameCode, v *types.Var, field *ast.Field, callers []stack.Frame) bool {
	text := strings.TrimPrefix(types.ExprString(field.Type), "*")
	switch {
	case text == contextType:
		return !q.contexts()
	case outTypes.MatchString(text):
		return true
	case ofOneUser.MatchString(text), len(callers) > flowDepth:
		return false
	case !isGiven(in.decl, v):
		return q.callback(in, field, callers)
	}
	method := in.decl.Recv != nil && len(in.decl.Recv.List) > 0 && in.decl.Recv.List[0] == field
	calls, caller := []*ast.CallExpr(nil), frameCode{}
	if len(callers) > 0 {
		var ok bool
		if caller, ok = q.d.at(callers[0]); !ok {
			return false
		}
		calls = q.d.callsOn(caller, callers[0], in.decl.Name.Name)
	}
	if len(calls) == 0 { // a library calls it: its receiver, and what a function around it has, were there before
		switch {
		case method:
			q.owner = text
		case in.lit != nil:
			q.ofHandler(v)
		}
		return method || in.lit != nil
	}
	q.shared = q.shared || !method && len(callsTo(q.d, in.decl)) > 1
	for _, call := range calls {
		x := argumentFor(q.d, in.decl, call, v)
		if sel, ok := call.Fun.(*ast.SelectorExpr); method && ok {
			x = sel.X
		}
		if x == nil || !q.free(caller, x, callers[1:]) {
			return false
		}
	}
	return true
}

// ofHandler notes a variable that was there before the request, and that may be another one for another handler.
func (q *requestFlow) ofHandler(v *types.Var) {
	if !slices.Contains(q.handlers, v.Name()) {
		q.handlers = append(q.handlers, v.Name())
	}
}

// callback is free of what a function without a name is given, by the other arguments of the call that it is given to.
func (q *requestFlow) callback(in frameCode, field *ast.Field, callers []stack.Frame) bool {
	free := false
	if !slices.ContainsFunc(callers, func(f stack.Frame) bool { around, ok := q.d.at(f); return ok && around.decl == in.decl }) {
		return false // it was handed on, to who calls it for a request
	}
	eachNode(in.decl.Body, func(n ast.Node, around []ast.Node) {
		lit, ok := n.(*ast.FuncLit)
		if !ok || !slices.Contains(lit.Type.Params.List, field) {
			return
		}
		call, ok := parent(around).(*ast.CallExpr)
		if !ok || call.Fun == ast.Expr(lit) || slices.ContainsFunc(lit.Type.Params.List, func(f *ast.Field) bool { return ofOneUser.MatchString(types.ExprString(f.Type)) }) {
			return
		}
		free = q.free(in, call.Fun, callers)
		for _, x := range call.Args {
			free = free && (x == ast.Expr(lit) || q.free(in, x, callers))
		}
	})
	return free
}

// parameterField is the field of a function's receiver or parameters, or of those of one without a name in it, that declares a
// variable; nil where none does.
func parameterField(decl *ast.FuncDecl, v *types.Var) (found *ast.Field) {
	look := func(list *ast.FieldList) {
		if list == nil {
			return
		}
		for _, f := range list.List {
			if slices.ContainsFunc(f.Names, func(id *ast.Ident) bool { return id.Pos() == v.Pos() }) {
				found = f
			}
		}
	}
	look(decl.Recv)
	ast.Inspect(decl, func(n ast.Node) bool {
		if t, ok := n.(*ast.FuncType); ok && found == nil {
			look(t.Params)
		}
		return found == nil
	})
	return found
}
