package insight

import (
	"go/ast"
	"go/token"
	"go/types"
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
	// unsure says what in the source may make it give something else each time; empty for nothing.
	unsure string
	// changed tells that the caller changes what it gets.
	changed bool
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
		if !makesOrLoads(callee) {
			continue
		}
		call, from := sameArguments(c, way[i:], callee)
		if call == nil {
			continue
		}
		found = sameCall{at: way[i], callee: callee}
		if same := found.judge(c, call, from, way, i); same {
			return found, true
		}
	}
	return found, false
}

// judge looks for what speaks against the same result each time: what may change the values that
// the arguments come from, the function itself, and what the caller does with the result. It is
// false where that is certain.
func (s *sameCall) judge(c *code, call *ast.CallExpr, from []given, way []stack.Frame, i int) bool {
	for _, g := range from {
		each, at := g.changing(c, way[i:])
		if each {
			return false
		}
		if at != "" && s.unsure == "" {
			s.unsure = at + " changes " + g.text() + " while the program runs: where it does so between two calls, each of them needs its own"
		}
	}
	if slices.Contains(opens, types.ExprString(call.Fun)) {
		if ofKernel(c, from) {
			return false
		}
		s.unsure = "an open file is used up by reading it: kept, it would have to be read with ReadAt, or what is in it be kept instead"
	}
	if where, used := usesUp(c, call, way[i:]); used {
		s.changed, s.unsure = true, where+" changes what it gets: kept, it would have to be copied first"
		return true
	}
	if s.owned(c, call, way, i) {
		return true
	}
	name := ownName(s.callee)
	if i > 0 {
		if d := c.function(way[i-1]); d != nil {
			why, sure := maybeOther(c, d, way[i-1].File)
			if sure && strings.Contains(why, " draws ") {
				return false
			}
			if why != "" && s.unsure == "" {
				s.unsure = why + ": it may give something else each time"
			}
			if at, of := readsChanging(c, declaration{d, way[i-1].File}); at != "" && s.unsure == "" {
				s.unsure = at + " changes " + of + ", which it reads, while the program runs: it may give something else then"
			}
		}
	}
	if at, of := madeOfWritten(c, way[:i+1]); of && s.unsure == "" {
		s.unsure = fileLine(at.File, at.Line) + " writes a file that it reads, while the program runs: it gives something else then"
	}
	switch {
	case s.unsure != "":
	case loaders.MatchString(name) && slices.ContainsFunc(call.Args, isAmount):
		s.unsure = "it is given how many to load: it may load others each time"
	case atIntervals(c, way[i], s.callee) != "":
		s.unsure = atIntervals(c, way[i], s.callee) + " decides when it is called: what is made again from time to time may be meant to be"
	case stale.MatchString(name):
		s.unsure = "what it loads may have to be up to date for each request, such as a permission that has been withdrawn"
	}
	return true
}

// owned tells whether each of those who hold the result may need its own: it is put into a list or a
// map, or somebody changes such values. Where it becomes a field of something, that is a doubt.
func (s *sameCall) owned(c *code, call *ast.CallExpr, way []stack.Frame, i int) bool {
	if i > 0 {
		d := c.function(way[i-1])
		if d != nil && givesText(d) {
			return false
		}
		if d != nil {
			if where := changesType(c, d, way[i-1].File); where != "" {
				s.changed, s.unsure = true, where+" changes such a value after it was made: kept, it would be changed for all"
				return true
			}
		}
	}
	if d := c.function(way[i]); d != nil {
		if where := givenToChange(c, d, call, way[i].File); where != "" {
			s.changed, s.unsure = true, where+" gives it to what changes it: kept, it would have to be copied first"
			return true
		}
	}
	switch where, how := becomes(c, call, way[i:]); {
	case how == keptByEach:
		s.changed, s.unsure = true, where+" keeps what it gets with others: they would all be one"
		return true
	case how == keptInside && s.unsure == "":
		s.unsure = where + " makes it a part of something else: if somebody changes that, each needs its own"
	}
	return false
}

// givesText tells of a function that its first result is a text or a number, which nobody can change.
func givesText(d *ast.FuncDecl) bool {
	if d.Type.Results == nil || len(d.Type.Results.List) == 0 {
		return false
	}
	id, ok := d.Type.Results.List[0].Type.(*ast.Ident)
	return ok && types.Universe.Lookup(id.Name) != nil && id.Name != "any" && id.Name != "error"
}

// isAmount tells of an argument that it is a number or named like one.
func isAmount(x ast.Expr) bool {
	if lit, ok := x.(*ast.BasicLit); ok {
		return lit.Kind == token.INT
	}
	return amounts.MatchString(lastName(types.ExprString(x)))
}

var (
	amounts = lazily(`(?i)^(n|max|count|limit|size|batch)$|(limit|count|size)$`)
	// stale are names of what is asked for so that it is known to be right now.
	stale = lazily(`(?i:version|permission|polic|role|revo|quota|balance|status)`)
)

// sameness says how the arguments of a call compare with those of the others.
func (s sameCall) sameness(others string) string {
	if s.unsure != "" {
		return "with arguments that look the same each time"
	}
	return "with the same arguments" + others
}

// sameArguments finds the call of a function, on the line of the first frame, that has the same
// receiver and arguments each time, and the variables and fields that these come from; nil where
// they differ, or where it is given nothing but what asks: there may be another answer each time.
func sameArguments(c *code, way []stack.Frame, callee string) (found *ast.CallExpr, from []given) {
	found, from = fixedCall(c, way, callee)
	if found == nil || settled.MatchString(ownName(callee)) {
		return found, from
	}
	if slices.ContainsFunc(found.Args, func(a ast.Expr) bool { return !isContext(a) && !askers.MatchString(types.ExprString(a)) }) {
		return found, from
	}
	return nil, nil
}

// fixedCall finds the call of a function, on the line of the first frame, whose receiver and arguments are those that were there
// before a request was; nil where they are not. What a closure has from the function around it is not known where that one serves a
// request.
func fixedCall(c *code, way []stack.Frame, callee string) (found *ast.CallExpr, from []given) {
	fn := c.scopeAt(way[0])
	if fn == nil || inRequest(c, way[0]) {
		return nil, nil
	}
	name, o := ownName(callee), newOrigins(c)
	for _, call := range c.lineCalls(way[0]) {
		if calledName(call) != name {
			continue
		}
		sel, method := call.Fun.(*ast.SelectorExpr)
		if method && !newOrigins(c).fixed(sel.X, fn, way) {
			return nil, nil
		}
		same := method && sharedField(c, sel.X, fn) // whichever of them it is called on
		given := slices.DeleteFunc(slices.Clone(call.Args), isContext)
		if slices.ContainsFunc(given, func(a ast.Expr) bool { return !o.fixed(a, fn, way) }) || !same && !sameReceiver(c, fn, way) || o.ofOthers() {
			return nil, nil
		}
		if found == nil {
			found = call
		}
	}
	if found == nil {
		return nil, nil
	}
	return found, o.from
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
			if !ok || sel.Sel.Name != fn.name {
				continue
			}
			if same = fixedValue(c, sel.X, caller, way[1:]); !same {
				return false
			}
		}
		if !same {
			return false
		}
		fn, way = caller, way[1:]
	}
	return fn == nil || fn.receiver == "" || !runsForAnother(c, fn)
}

// runsForAnother tells of a method that nothing of the program calls on its goroutine that it may be that of another value each time: a function that
// is not shown to run at the start starts it with go, or hands it on as that of a value which it has itself.
func runsForAnother(c *code, fn *scope) (other bool) {
	if slices.ContainsFunc(callsNamed(c, fn.name), func(from callFrom) bool {
		_, starts := parent(from.around).(*ast.GoStmt)
		return starts && receiverOf(from.call) != nil && !runsBeforeRequests(c, scopeOf(from.in.FuncDecl), 0)
	}) {
		return true
	}
	c.eachSource(func(_ string, s *syntax) {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || other {
				continue
			}
			in := scopeOf(f)
			eachNode(f.Body, func(n ast.Node, around []ast.Node) {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok || other || sel.Sel.Name != fn.name {
					return
				}
				call, ok := parent(around).(*ast.CallExpr)
				other = ok && call.Fun != ast.Expr(sel) && in.declares(rootName(sel.X)) && !runsBeforeRequests(c, in, 0)
			})
		}
	})
	return other
}

// inRequest tells whether a line is in a closure of a function that is given a request or a
// context: what it has from there is that request's.
func inRequest(c *code, f stack.Frame) bool {
	for fn := c.scopeAt(f); fn != nil; fn = fn.outer {
		if fn.outer != nil && ofRequest(fn.outer.params) {
			return true
		}
	}
	return false
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

// ownName is the name of a function or method alone, without type arguments.
func ownName(fn string) string {
	return lastName(strings.TrimSuffix(stack.FoldGenerics(fn), "[...]"))
}

// makers are names of functions that make something or find out how something is, loaders those
// that fetch something, and settled what seldom changes among that. own are things that belong
// to one request; askers are values that answers come from.
var (
	askers  = lazily(`(?i:client|db|conn|pool|store|repo|log|logger|cache|transport|tx|mu)$`)
	makers  = lazily(`^(?i:must|new|dial|connect|open|discover|init|initiali[sz]e|setup|build|compile|parse)([A-Z_0-9].*)?$`)
	loaders = lazily(`^(?i:load|fetch|get|read|download|retrieve|query|find|list|refresh|resolve|lookup|import)([A-Z_0-9].*)$`)
	settled = lazily(`(?i:config|key|cert|jwk|schema|setting|secret|credential|template|permission|polic|rule|metadata|discovery|feature|flag|manifest|catalog|currenc|countr|zone|locale|provider|version|capabilit|roles?$)`)
	own     = lazily(`(?i:session|tx$|txn|transaction|request|response|stream|query|span|trace|uuid|id$|buffer|writer|reader|cursor|job|task|message|lock|lease|timer|ticker|iterator|scanner|rand)`)
)

// makesOrLoads tells of a function, by its name, that what it returns can be kept.
func makesOrLoads(fn string) bool {
	name := ownName(fn)
	if own.MatchString(name) && !settled.MatchString(name) {
		return false
	}
	return makers.MatchString(name) || loaders.MatchString(name) && settled.MatchString(name)
}
