package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What a call does besides returning something, by the source: followed through names, as a call of an interface may
// come to each method of that name, and through functions that are kept in variables.

// callEffects searches for one.
type callEffects struct {
	d    *derivations
	seen map[*ast.FuncDecl]bool
	at   codeLine
	what string
	// every is told of each effect, where all are asked for and not only the first one.
	every func(n ast.Node, what string)
}

// Limits of the search. Chosen: a name that more functions have says nothing.
const (
	effectDepth = 5
	effectNames = 8
	effectFuncs = 300
)

// effectOfCall is a line of a function, or of what it may call, that does something which a call has to be made for, and what
// that is; empty where there is none. Where given is false, changes of what the function is given have been looked for
// while it ran.
func effectOfCall(c *code, at stack.Frame, given bool) (line codeLine, what string) {
	fn := c.function(at)
	if fn == nil {
		return line, ""
	}
	e := &callEffects{d: derivationsOf(c), seen: map[*ast.FuncDecl]bool{}}
	decl := typedDecl(e.d, declaration{fn, at.File})
	if decl == nil {
		return line, ""
	}
	outside := givenToDecl(e.d, decl)
	for v := range outside {
		_, calls := v.Type().Underlying().(*types.Signature)
		outside[v] = given || calls // what a function that it is given does was not looked for
	}
	e.look(decl, outside, 0)
	return e.at, e.what
}

// givenNames are the names of a list of parameters.
func givenNames(list *ast.FieldList) map[string]bool {
	out := map[string]bool{}
	if list != nil {
		for _, f := range list.List {
			for _, n := range f.Names {
				out[n.Name] = n.Name != "_"
			}
		}
	}
	return out
}

// givenVariables are the variables of a list of parameters.
func givenVariables(d *derivations, list *ast.FieldList) (all []types.Object) {
	if list != nil {
		for _, f := range list.List {
			for _, id := range f.Names {
				if v := d.variable(id); v != nil {
					all = append(all, v)
				}
			}
		}
	}
	return all
}

// givenToDecl are the receiver and the parameters of a function: what they lead to is not its own.
func givenToDecl(d *derivations, decl *ast.FuncDecl) map[types.Object]bool {
	outside := map[types.Object]bool{}
	for _, list := range []*ast.FieldList{decl.Recv, decl.Type.Params} {
		for _, v := range givenVariables(d, list) {
			outside[v] = true
		}
	}
	return outside
}

// effectWalk goes through one function.
type effectWalk struct {
	*callEffects
	decl *ast.FuncDecl
	// outside are variables of the function that lead to what is not its own.
	outside map[types.Object]bool
	// only are the names of variables that alone are asked for; nil for all that is outside.
	only  map[string]bool
	depth int
}

// look searches a function. outside are its receiver and parameters that lead to what is not its own.
func (e *callEffects) look(decl *ast.FuncDecl, outside map[types.Object]bool, depth int) {
	if e.what != "" || depth > effectDepth || e.seen[decl] || len(e.seen) > effectFuncs {
		return
	}
	e.seen[decl] = true
	w := &effectWalk{callEffects: e, decl: decl, outside: outside, depth: depth}
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		if e.what == "" {
			w.node(n, around)
		}
	})
}

// note keeps the first effect, or tells of each.
func (w *effectWalk) note(n ast.Node, format string, args ...any) {
	if w.every != nil {
		w.every(n, fmt.Sprintf(format, args...))
		return
	}
	if w.what == "" {
		w.at, w.what = w.d.placeOf(n), fmt.Sprintf(format, args...)
	}
}

// node looks at a part of the function, with those around it.
func (w *effectWalk) node(n ast.Node, around []ast.Node) {
	switch n := n.(type) {
	case *ast.SendStmt:
		w.note(n, "sends to a channel")
	case *ast.UnaryExpr:
		if n.Op == token.ARROW && !strings.HasSuffix(types.ExprString(n.X), "Done()") {
			w.note(n, "receives from a channel")
		}
	case *ast.RangeStmt:
		for _, x := range []ast.Expr{n.Key, n.Value} {
			if v := w.d.variable(x); v != nil && n.Tok == token.DEFINE {
				w.outside[v] = w.isOutside(n.X)
			}
		}
	case *ast.IncDecStmt:
		w.set(n, n.X)
	case *ast.AssignStmt:
		for i, x := range n.Lhs {
			v := w.d.variable(x)
			switch {
			case n.Tok == token.DEFINE && v != nil:
				if len(n.Rhs) == len(n.Lhs) {
					w.outside[v] = mayLeadTo(n.Rhs[i]) && w.isOutside(n.Rhs[i]) || w.wraps(n.Rhs[i])
				}
				if i == 0 && hasCall(n.Rhs[0], func(call *ast.CallExpr) bool { return ownCallName(call) == "Value" && len(call.Args) == 1 }) {
					w.outside[v] = true // of a context
				}
			default:
				w.set(n, x)
			}
		}
	case *ast.CallExpr:
		w.call(n, madeForItself(n, around))
	}
}

// isOutside tells of an expression that it leads to what the function has not made.
func (w *effectWalk) isOutside(x ast.Expr) bool {
	if w.only != nil {
		return w.only[rootName(unrefer(x))]
	}
	v := w.d.t.rootOf(unrefer(x))
	if of, ok := v.(*types.Var); !ok || of.IsField() {
		return false
	}
	return w.outside[v] || !isLocal(w.decl, v)
}

// mayLeadTo tells of a value that it may lead to what another one leads to: no call, no number, no text.
func mayLeadTo(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr, *ast.SliceExpr, *ast.TypeAssertExpr:
		return true
	case *ast.UnaryExpr:
		return x.Op == token.AND
	case *ast.StarExpr, *ast.ParenExpr:
		return true
	}
	return false
}

// set looks at a place that is written to.
func (w *effectWalk) set(n ast.Node, x ast.Expr) {
	if v := w.d.variable(x); v != nil && isLocal(w.decl, v) {
		return // a variable of the function
	}
	if w.isOutside(x) && !isFreshPlace(w.d, w.decl, x) {
		w.note(n, "changes %s", types.ExprString(x))
	}
}

// follow goes into the functions of the program that a call may come to; it is false where there is none.
func (w *effectWalk) follow(n *ast.CallExpr) (followed bool) {
	var decls []*ast.FuncDecl
	sel, selects := ast.Unparen(uninstantiated(n)).(*ast.SelectorExpr)
	if fn := w.d.t.callee(n); fn != nil {
		decls = w.d.declsOf(fn)
	} else if selects && w.d.t.fromPackage(sel) == "" && libraryTypeOf(w.d, sel.X, 0).pkg == "" {
		decls = slices.DeleteFunc(slices.Clone(w.d.named[calledName(n)]), func(decl *ast.FuncDecl) bool { return decl.Recv == nil })
	}
	if len(decls) > effectNames {
		return true
	}
	for _, decl := range decls {
		outside := map[types.Object]bool{}
		if v := receiverVariable(w.d, decl); v != nil && selects {
			outside[v] = w.isOutside(sel.X)
		}
		for i, x := range n.Args {
			if v := parameterAt(w.d, decl, i); v != nil && mayLeadTo(x) && w.isOutside(x) && !isCount(v.Type()) {
				outside[v] = true
			}
		}
		w.look(decl, outside, w.depth+1)
	}
	return len(decls) > 0
}

// calls looks at a call of a function that is the value of something which lives on: any of its type that the program has may be meant.
func (w *effectWalk) calls(n *ast.CallExpr, alone bool) {
	if !w.isOutside(n.Fun) {
		return // what it does stands in the function that is looked at, or in one that this calls
	}
	all := calledAsValue(w.d, n)
	for _, decl := range all {
		outside := map[types.Object]bool{}
		for i, x := range n.Args {
			if v := parameterAt(w.d, decl, i); v != nil && mayLeadTo(x) && w.isOutside(x) && !isCount(v.Type()) {
				outside[v] = true
			}
		}
		w.look(decl, outside, w.depth+1)
	}
	switch text := types.ExprString(n.Fun); {
	case w.what != "" && len(all) > 1:
		w.at, w.what = w.d.placeOf(n), fmt.Sprintf("calls %s, which may be the function that %s (%s),", text, w.what, w.at.text())
	case len(all) == 0 && alone:
		w.note(n, "calls %s, which may be any function,", text)
	}
}

// makesForEach are names of functions that make something of its own for each who asks.
var makesForEach = lazily(`^(?i:new|make|create|clone|copy|alloc|spawn|start|begin|acquire|dial|connect|handshake|accept|listen)([A-Z_0-9].*)?$`)

// hold says what speaks against keeping the result: then the finding is a remark.
func (r *repeatedCall) hold(in *Input, f *Finding) {
	w, decl := r.Inner, stack.Frame{Func: r.Func.Name, File: r.Func.File, Line: r.Func.Line}
	if r.Func.Caller != "" {
		decl = r.way[0]
	}
	remark := func(format string, args ...any) {
		f.Severity, f.saves = Info, false
		f.Doubts = append(f.Doubts, fmt.Sprintf(format, args...))
	}
	fn := in.code.function(decl)
	if fn == nil {
		remark("its source is not in the recording: what else it does is not known")
		return
	}
	if at, what := effectOfCall(in.code, decl, w.Partial); what != "" {
		remark("it %s at %s: if each call has to do that, split it from what can be kept", what, at.text())
	}
	if why, _ := maybeOther(in.code, fn, decl.File); why != "" && !strings.HasSuffix(why, "reads a value of the context") {
		remark("another call may give another result: %s", why)
	}
	if carriesContext(fn) {
		remark("what it does with the context that it is given may differ from call to call: contexts were not compared")
	}
	if at, of := readsVariable(in.code, declaration{fn, decl.File}); of != "" {
		remark("it reads %s, which is no argument and is changed at %s: another call may give another result", of, at)
	}
	switch {
	case r.holdResults(in, decl, f, remark):
	case w.Refers && makesForEach.MatchString(ownName(r.Func.Name)):
		remark("by its name it makes a value for each who asks: that can be shared only if nobody changes it, or tells it from others")
	case w.Refers && !w.Plain && toldApart(in.code, callerOf(r.way, r.site), ownName(r.Func.Name)):
		remark("what it returns is a key, or is compared: if it is told from others by where it is, each needs one of its own")
	case w.Refers && tellInPlace(in.code, callersWay(in, r.way, r.site), ownName(r.Func.Name), f, remark):
	case w.Refers:
		d := newDerivations(in.code)
		if at, ok := parsedWritten(d, ownFrames(in, r.way), 0); ok {
			remark("what it returns is changed at %s: whoever does that needs a copy of his own", at.text())
			return
		}
		f.Doubts = append(f.Doubts, "what it returns has pointers, slices or maps: whoever changes what they hold needs a copy of his own")
	}
}

// holdResults says what of the results, by the counts alone, speaks against keeping them; false where nothing does.
func (r *repeatedCall) holdResults(in *Input, decl stack.Frame, f *Finding, remark func(format string, args ...any)) bool {
	switch w := r.Inner; {
	case w.Changed > 0:
		remark("what it returned was changed afterwards, by its users or by its own methods: whoever changes it needs a value of his own")
	case w.Handles && !returnsAddresses(in.code.function(decl)):
		remark("what it returns has a connection, a file, a channel or a function in it: only one may be able to use that at a time")
	case w.Maps && w.Vague && computesAlone(in.code, decl):
		f.Doubts = append(f.Doubts, "what it returns has maps, whose entries were not compared: by the source it makes all of what it is given and reads, and changes nothing")
		return false
	case w.Maps && w.Vague:
		remark("what it returns has maps, whose entries were not compared: each call may return others")
	default:
		return false
	}
	return true
}

// computesAlone tells of the function at a frame that it makes what it returns of its arguments and of what it reads, files and the environment among that,
// and changes nothing: as long as these stay the same, so does all that it returns.
func computesAlone(c *code, at stack.Frame) bool {
	d := newDerivations(c)
	d.files = true
	in, ok := d.at(at)
	if !ok || in.lit != nil {
		return false
	}
	f := d.value(in.decl)
	return f != nil && (f.asks == nil || !writesKeptFiles(d))
}

// writesKeptFiles tells that the program writes to a file that a field or a variable of a package keeps open: which one that is, is not known.
func writesKeptFiles(d *derivations) bool {
	kept := map[string]bool{}
	note := func(of ast.Expr, names []*ast.Ident) {
		if of == nil || strings.TrimPrefix(types.ExprString(of), "*") != "os.File" {
			return
		}
		for _, id := range names {
			kept[id.Name] = true
		}
		kept["File"] = kept["File"] || len(names) == 0 // embedded
	}
	for _, f := range d.t.files {
		for _, x := range f.file.Decls {
			if decl, ok := x.(*ast.GenDecl); ok {
				ast.Inspect(decl, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.Field:
						note(n.Type, n.Names)
					case *ast.ValueSpec:
						note(n.Type, n.Names)
					}
					return true
				})
			}
		}
	}
	return slices.ContainsFunc(slices.Collect(maps.Values(d.t.decls)), func(decl *ast.FuncDecl) bool {
		return hasCall(decl.Body, func(call *ast.CallExpr) bool {
			sel, ok := call.Fun.(*ast.SelectorExpr)
			return ok && (strings.HasPrefix(sel.Sel.Name, "Write") || sel.Sel.Name == "Truncate") && kept[lastName(types.ExprString(sel.X))]
		})
	})
}

// callerOf is the frame that calls the first one of a way; otherwise where none was seen.
func callerOf(way []stack.Frame, otherwise stack.Frame) stack.Frame {
	if len(way) > 1 {
		return way[1]
	}
	return otherwise
}

// ownFrames are the frames of the program at the begin of a way.
func ownFrames(in *Input, way []stack.Frame) []stack.Frame {
	for i, f := range way {
		if !in.Session.Scope().IsUser(f) {
			return way[:i]
		}
	}
	return way
}
