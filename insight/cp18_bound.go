package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// What work that could be done once is given of the call that does it: functions that have a variable of that call, or change one of their
// own. Kept for all, it would answer each with what belongs to the first.

// boundUse is such a thing.
type boundUse struct {
	v  types.Object
	at ast.Node
	// function tells that a function has it; state that the function changes it.
	function, state bool
}

// setsUpWith are methods by which something that was made is given functions and settings.
var setsUpWith = lazily(`^(Funcs|Option|Delims|Use|Register\w*|Set\w*|With\w*|Add\w*)$`)

// boundSearch is for one call.
type boundSearch struct {
	d     *derivations
	in    frameCode
	all   []boundUse
	seen  map[types.Object]bool
	exprs int
}

// boundTo are such things of a call, of those that it is chained to, and of those that set up what it makes, in the order of the source.
func boundTo(d *derivations, in frameCode, call *ast.CallExpr) []boundUse {
	s := &boundSearch{d: d, in: in}
	of := map[types.Object]bool{}
	chained := map[*ast.CallExpr]bool{}
	var chain func(x ast.Expr, depth int)
	chain = func(x ast.Expr, depth int) {
		switch x := ast.Unparen(x).(type) {
		case *ast.CallExpr:
			if chained[x] || depth > 40 {
				return
			}
			chained[x] = true
			if sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr); ok {
				chain(sel.X, depth+1)
			}
			for _, a := range x.Args { // template.Must(…)
				if inner, ok := ast.Unparen(a).(*ast.CallExpr); ok && calledName(x) == "Must" {
					chain(inner, depth+1)
				}
			}
		case *ast.Ident:
			v := d.variable(x)
			if v == nil || of[v] || !s.declaresHere(v) {
				return
			}
			of[v] = true
			for _, def := range d.definitions(in.decl)[v] {
				if def.x != nil && !def.ranged && !def.part {
					chain(def.x, depth+1)
				}
			}
		}
	}
	chain(call, 0)
	for _, n := range nodesAround(in.body(), call) {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, lhs := range a.Lhs {
				if v := d.variable(lhs); v != nil && !isErrorType(v.Type()) && !isError(v.Name()) {
					of[v] = true
				}
			}
		}
	}
	ast.Inspect(in.body(), func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, method := ast.Unparen(c.Fun).(*ast.SelectorExpr)
		if chained[c] || method && of[d.variable(sel.X)] && setsUpWith.MatchString(sel.Sel.Name) {
			for _, arg := range c.Args {
				s.argument(arg, 0)
			}
		}
		return true
	})
	return s.all
}

// declaresHere tells of a variable that the function which makes the call is given or declares it, so that each call of that has its own.
func (s *boundSearch) declaresHere(v types.Object) bool {
	of := ast.Node(s.in.decl)
	if s.in.lit != nil {
		of = s.in.lit
	}
	return v != nil && of.Pos() <= v.Pos() && v.Pos() < of.End()
}

// argument looks for variables of the call in an argument, also through variables that are set to a function.
func (s *boundSearch) argument(x ast.Expr, depth int) {
	if s.exprs++; depth > 4 || s.exprs > 400 {
		return
	}
	var lits []*ast.FuncLit
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			lits = append(lits, n)
			return false
		case *ast.KeyValueExpr:
			s.argument(n.Value, depth+1)
			return false
		case *ast.CallExpr:
			if fn := s.d.t.callee(n); fn != nil {
				for _, decl := range s.d.declsOf(fn) {
					s.statesOf(decl, n)
				}
			}
		case *ast.Ident:
			v := s.d.variable(n)
			if !s.declaresHere(v) {
				break
			}
			made := false
			for _, def := range s.d.definitions(s.in.decl)[v] {
				if def.x != nil && !def.ranged && !def.part && !covers(def.x, n) {
					made = true
					s.argument(def.x, depth+1)
				}
			}
			if !made {
				s.note(boundUse{v: v, at: n, function: s.mayBeFunction(x)})
			}
		}
		return true
	})
	for _, lit := range lits {
		s.literal(lit)
	}
}

// mayBeFunction tells of an argument that it is a method of a value, or a function or a map of functions that was handed in.
func (s *boundSearch) mayBeFunction(x ast.Expr) bool {
	t := s.d.t.typeOf(x)
	if t == nil {
		return false
	}
	if m, ok := t.Underlying().(*types.Map); ok {
		t = m.Elem()
		if types.IsInterface(t) {
			return true
		}
	}
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

// literal looks for what a function without a name has of what is around it.
func (s *boundSearch) literal(lit *ast.FuncLit) {
	own := func(v types.Object) bool { return v == nil || lit.Pos() <= v.Pos() && v.Pos() < lit.End() }
	sets := map[types.Object]bool{}
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		for _, lhs := range placesSet(n) {
			sets[s.d.variable(innermost(lhs))] = true
		}
		return true
	})
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := s.d.t.info.Uses[id].(*types.Var)
		if ok && !v.IsField() && !own(v) && s.declaresHere(v) && (sets[v] || !s.fixed(v, 0)) {
			s.note(boundUse{v: v, at: id, function: true, state: sets[v]})
		}
		return true
	})
}

// fixed tells of a variable of the call that all that it is set to is constant, or read from variables of the package.
func (s *boundSearch) fixed(v types.Object, depth int) bool {
	defs := s.d.definitions(s.in.decl)[v]
	if depth > 4 || len(defs) == 0 {
		return false
	}
	for _, def := range defs {
		if def.x == nil || def.ranged || def.part || def.unknown {
			return false
		}
		if hasNode(def.x, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				return !isBuiltin(s.d, n) && !sameForSame.MatchString(s.d.t.fromPackage(n.Fun))
			case *ast.Ident:
				of := s.d.variable(n)
				return s.declaresHere(of) && of != v && !s.fixed(of, depth+1)
			}
			return false
		}) {
			return false
		}
	}
	return true
}

// sameForSame are packages whose functions give the same for the same arguments.
var sameForSame = lazily(`^(strings|strconv|regexp|errors|math|math/bits|unicode|unicode/utf8|path|path/filepath)$`)

// statesOf looks in a function that returns functions for variables of its own that these change.
func (s *boundSearch) statesOf(decl *ast.FuncDecl, call *ast.CallExpr) {
	ast.Inspect(bodyIfAny(decl), func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if !ok {
			return true
		}
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			for _, lhs := range placesSet(n) {
				if v := s.d.variable(innermost(lhs)); v != nil && isLocal(decl, v) && (v.Pos() < lit.Pos() || v.Pos() >= lit.End()) {
					s.note(boundUse{v: v, at: n, function: true, state: true})
				}
			}
			return true
		})
		return false
	})
}

// bodyIfAny is the body of a function, or an empty one.
func bodyIfAny(decl *ast.FuncDecl) ast.Node {
	if decl.Body == nil {
		return &ast.BlockStmt{}
	}
	return decl.Body
}

func (s *boundSearch) note(u boundUse) {
	if s.seen == nil {
		s.seen = map[types.Object]bool{}
	}
	if u.v == nil || s.seen[u.v] || namedStateless.MatchString(u.v.Name()) && !u.state {
		return
	}
	s.seen[u.v] = true
	s.all = append(s.all, u)
}

// tellBound says of work that could be done once what of it belongs to one call: it makes the advice one that is right for all.
func tellBound(h *hit, set string, f *Finding) {
	line := h.lines[0]
	d := derivationsOf(h.in.code)
	in, ok := d.at(line.Caller)
	if !ok {
		return
	}
	var uses []boundUse
	for _, call := range d.callsOn(in, line.Caller, ownName(line.Callee)) {
		uses = append(uses, boundTo(d, in, call)...)
	}
	for _, u := range uses {
		at := d.placeOf(u.at)
		switch {
		case u.function && set == "again.template":
			f.Advice = fmt.Sprintf("Do not just keep the template: a function that it is given %s (%s), so that a kept one would go on with that of the first call. "+
				"Have the template take it from the data that it is executed with, as a field or a method, and parse it once. "+
				"Or parse it once with functions of the same names that do nothing, and take a Clone of that for each use, with Funcs of its own before Execute: this saves the parsing alone. "+
				"Of html/template, the one that is cloned must never be executed itself, and each clone is escaped again when it is first executed.", u.has(), at.text())
			f.Evidence = append(f.Evidence, h.in.code.shownAt(at.file, at.line, "this function %s", u.has()))
		case u.function:
			f.Severity, f.saves = Info, false
			f.Advice = fmt.Sprintf("Keep only what has nothing of one call: a function that it is given %s (%s), and kept for all it would go on with that of the first. If that can be handed over with each use instead: %s%s", u.has(), at.text(), strings.ToLower(f.Advice[:1]), f.Advice[1:])
			f.Evidence = append(f.Evidence, h.in.code.shownAt(at.file, at.line, "this function %s", u.has()))
		case set == "again.connection" && !isReceiver(in.decl, u.v):
			f.Advice = fmt.Sprintf("Create one client for each %s (%s) and keep these, in a map by it with a bound, or one client if it is the same in all calls: a client pools connections and is safe for concurrent use, but one for all would act for the first.", u.v.Name(), at.text())
		case slices.Contains(boundTexts, set) && !isReceiver(in.decl, u.v):
			f.Doubts = append(f.Doubts, fmt.Sprintf("it is made of %s (%s), and that this is the same each time is not shown: keep one for each value of it, with a bound", u.v.Name(), at.text()))
		default:
			continue
		}
		return
	}
}

// boundTexts are the kinds of work of which one is kept for each text.
var boundTexts = []string{"again.template", "again.table", againProgram, againLazy}

// has says what a function has.
func (u boundUse) has() string {
	if u.state {
		return "changes " + u.v.Name()
	}
	return "has " + u.v.Name() + " of this call"
}

// isReceiver tells of a variable that it is what a method is called on.
func isReceiver(decl *ast.FuncDecl, v types.Object) bool {
	return decl.Recv != nil && decl.Recv.Pos() <= v.Pos() && v.Pos() < decl.Recv.End()
}

// oneUser are types of libraries of which one value serves one goroutine at a time.
var oneUser = lazily(`^(hash\.Hash\w*|math/rand(/v2)?\.(Rand|Source|Source64|Zipf|PCG|ChaCha8)|compress/\w+\.(Reader|Writer)|encoding/\w+\.(Encoder|Decoder|Reader|Writer)|bufio\.\w+|bytes\.(Buffer|Reader)|strings\.(Builder|Reader)|crypto/cipher\.(Stream|BlockMode|StreamReader|StreamWriter)|text/tabwriter\.Writer|math/big\.\w+|container/\w+\.\w+|golang\.org/x/text/(collate\.Collator|transform\.\w+|encoding\.\w+))$`)

// usedByOne is the type of what a function returns first, where one value of it serves one goroutine at a time.
func usedByOne(d *derivations, decl *ast.FuncDecl) (name string, ok bool) {
	if decl.Type.Results == nil || len(decl.Type.Results.List) == 0 {
		return "", false
	}
	of := libraryTypeNamed(d, decl.Type.Results.List[0].Type)
	return lastName(of.pkg[strings.LastIndexByte(of.pkg, '/')+1:]) + "." + of.name, oneUser.MatchString(of.text())
}

// tellOneUser changes the advice to call something once where what it returns serves one goroutine at a time. It tells whether that is so.
func (s *sameCall) tellOneUser(c *code, f *Finding) bool {
	d := derivationsOf(c)
	_, decls := s.declared(d)
	if len(decls) != 1 {
		return false
	}
	of, one := usedByOne(d, decls[0])
	if !one {
		return false
	}
	f.Severity, f.saves = Info, false
	f.Advice = "Keep what it returns, but do not share it: a " + of + " has a state, and serves one goroutine at a time. Keep " + eachItsOwn + "."
	f.Doubts = append(f.Doubts, "the source does not show that each use leaves the "+of+" as it was")
	return true
}

// eachItsOwn is how something is kept that serves one goroutine at a time.
const eachItsOwn = "one for each goroutine, or a sync.Pool of them, each reset before it is used again"
