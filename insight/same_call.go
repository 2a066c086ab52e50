package insight

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Calls that give the same each time: something is made or loaded, by its name, from arguments
// that are the same in each call.

// sameCall is such a call.
type sameCall struct {
	at     stack.Frame // the line of the call
	callee string      // the function that is called
}

// sameCallOn finds the outermost call on a way through the code, the frame nearest to what it does
// first, that makes or loads something by its name and is given the same arguments each time, a
// context aside. inner is the function of a library that the first frame calls; "" for none.
func sameCallOn(c *code, way []stack.Frame, inner string) (found sameCall, ok bool) {
	for i := len(way) - 1; i >= 0; i-- {
		callee := inner
		if i > 0 {
			callee = way[i-1].Func
		}
		if !makesOrLoads(callee) || !sameArguments(c, way[i:], callee) {
			continue
		}
		return sameCall{way[i], callee}, true
	}
	return found, false
}

// sameArguments tells whether the call of a function, on the line of the first frame, has the same
// receiver and arguments each time. What a closure has from the function around it is not known
// where that one serves a request.
func sameArguments(c *code, way []stack.Frame, callee string) bool {
	fn := c.scopeAt(way[0])
	if fn == nil || inRequest(c, way[0]) {
		return false
	}
	name := ownName(callee)
	for _, call := range c.lineCalls(way[0]) {
		if lastName(types.ExprString(call.Fun)) != name {
			continue
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && !fixedValue(c, sel.X, fn, way) {
			return false
		}
		given := slices.DeleteFunc(slices.Clone(call.Args), isContext)
		if !settled.MatchString(name) && !slices.ContainsFunc(given, func(a ast.Expr) bool { return !askers.MatchString(types.ExprString(a)) }) {
			return false // of nothing but what asks, there may be another answer each time
		}
		return !slices.ContainsFunc(given, func(a ast.Expr) bool { return !fixedValue(c, a, fn, way) }) && sameReceiver(c, fn, way)
	}
	return false
}

// sameReceiver tells whether the methods on a way are those of values that are there before the
// request is: what the program calls itself has the same receiver each time, what a library
// calls was registered before.
func sameReceiver(c *code, fn *scope, way []stack.Frame) bool {
	for fn != nil && fn.receiver != "" && len(way) > 1 {
		caller, same := c.scopeAt(way[1]), false
		if caller == nil || inRequest(c, way[1]) {
			return false
		}
		for _, call := range c.lineCalls(way[1]) {
			sel, ok := call.Fun.(*ast.SelectorExpr)
			same = same || ok && sel.Sel.Name == fn.name && fixedValue(c, sel.X, caller, way[1:])
		}
		if !same {
			return false
		}
		fn, way = caller, way[1:]
	}
	return true
}

// inRequest tells whether a line is in a closure of a function that is given a request or a
// context: what it has from there is that request's.
func inRequest(c *code, f stack.Frame) (inside bool) {
	var outer *ast.FuncType
	c.parse(f.File).onLine(f.Line, func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			outer = n.Type
		case *ast.FuncLit:
			inside = inside || outer != nil && ofRequest(outer.Params)
			outer = n.Type
		}
	})
	return inside
}

// ofRequest tells whether a function is given what belongs to one request.
func ofRequest(params *ast.FieldList) bool {
	return slices.ContainsFunc(params.List, func(p *ast.Field) bool {
		switch lastName(strings.TrimPrefix(types.ExprString(p.Type), "*")) {
		case "Request", "ResponseWriter", "Context":
			return true
		}
		return false
	})
}

// ownName is the name of a function or method alone.
func ownName(fn string) string { return lastName(stack.FoldGenerics(fn)) }

// makers are names of functions that make something or find out how something is, loaders those
// that fetch something, and settled what seldom changes among that. own are things that belong
// to one request; askers are values that answers come from.
var (
	askers  = regexp.MustCompile(`(?i:client|db|conn|pool|store|repo|log|logger|cache|transport|tx|mu)$`)
	makers  = regexp.MustCompile(`^(?i:must|new|dial|connect|open|discover|init|initiali[sz]e|setup|build|compile|parse)([A-Z_0-9].*)?$`)
	loaders = regexp.MustCompile(`^(?i:load|fetch|get|read|download|retrieve|query|find|list|refresh|resolve|lookup|import)([A-Z_0-9].*)$`)
	settled = regexp.MustCompile(`(?i:config|key|cert|jwk|schema|setting|secret|credential|template|permission|polic|rule|metadata|discovery|feature|flag|manifest|catalog|currenc|countr|zone|locale|provider|version|capabilit|roles?$)`)
	own     = regexp.MustCompile(`(?i:session|tx$|txn|transaction|request|response|stream|query|span|trace|uuid|id$|buffer|writer|reader|cursor|job|task|message|lock|lease|timer|ticker|iterator|scanner|rand)`)
)

// makesOrLoads tells of a function, by its name, that what it returns can be kept.
func makesOrLoads(fn string) bool {
	name := ownName(fn)
	if own.MatchString(name) && !settled.MatchString(name) {
		return false
	}
	return makers.MatchString(name) || loaders.MatchString(name) && settled.MatchString(name)
}
