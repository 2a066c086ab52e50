package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// Texts that are made here and there, joined, returned and handed on, and that end in debug calls of a logger alone.

// textSink is a log call in which texts end.
type textSink struct {
	fun         ast.Expr
	file        string
	first, last int
	asked       bool   // the level is asked first
	message     string // what each of its records has in it
}

// textScan follows the texts of one profile.
type textScan struct {
	d    *derivations
	room int // bytes of source that may still be gone through
	// values are the functions that the sources name other than to call them: nobody knows who gets what they return.
	values map[types.Object]bool
}

func newTextScan(c *code) *textScan {
	return &textScan{d: newDerivations(c), room: mostTextSource}
}

// isValue tells of a function that it is handed on as a value.
func (s *textScan) isValue(decl *ast.FuncDecl) bool {
	if s.values == nil {
		s.values = map[types.Object]bool{}
		for _, file := range s.d.t.files {
			called := map[*ast.Ident]bool{}
			ast.Inspect(file.file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					switch fun := ast.Unparen(uninstantiated(n)).(type) {
					case *ast.Ident:
						called[fun] = true
					case *ast.SelectorExpr:
						called[fun.Sel] = true
					}
				case *ast.Ident:
					if fn, ok := s.d.t.info.Uses[n].(*types.Func); ok && !called[n] {
						s.values[fn.Origin()] = true
					}
				}
				return true
			})
		}
	}
	return s.values[s.d.t.info.Defs[decl.Name]]
}

// textFlow follows texts from where they are made to where they end.
type textFlow struct {
	scan  *textScan
	d     *derivations
	seen  map[types.Object]bool
	calls map[*ast.CallExpr]bool
	sinks []textSink
	steps int
	other bool // they end elsewhere, too, or where is not known
	// fails is where the function leaves if making them fails; with answers, its callers get that.
	fails   codeLine
	answers bool
}

// flowEnds are the log calls in which texts end.
type flowEnds struct {
	sinks   []textSink
	fails   codeLine
	answers bool
}

// mostTextSource is how many bytes of source are gone through for all texts of one profile: chosen, so that functions of any length
// take no more than a moment.
const mostTextSource = 64 << 20

// mostTextSteps is how many expressions are followed: chosen, far more than texts of logs are handed on.
const mostTextSteps = 300

// logged says of the call on a line that makes a text in which log calls that text ends; ok is false where it may end
// elsewhere.
func (s *textScan) logged(at stack.Frame, callee string) (ends flowEnds, ok bool) {
	d := s.d
	in, found := d.at(at)
	if !found {
		return ends, false
	}
	f := &textFlow{scan: s, d: d, seen: map[types.Object]bool{}, calls: map[*ast.CallExpr]bool{}}
	var made []ast.Expr
	ast.Inspect(in.body(), func(n ast.Node) bool {
		if lit, inner := n.(*ast.FuncLit); inner && lit != in.lit {
			return false
		}
		x, is := n.(ast.Expr)
		if !is || !isMade(x, callee) {
			return true
		}
		_, first, _ := d.t.at(x.Pos())
		own := first
		if call, is := x.(*ast.CallExpr); is {
			_, own, _ = d.t.at(call.Lparen)
		}
		if first != at.Line && own != at.Line {
			return true
		}
		if call, is := x.(*ast.CallExpr); is && f.bufferWritten(in.decl, call) != nil || textual(d, x) {
			made = append(made, x)
		}
		return true
	})
	if len(made) == 0 {
		return ends, false
	}
	for _, x := range made {
		if around := nodesAround(in.decl, x); len(around) > 0 && asked(x, around[:len(around)-1]) {
			return ends, false // made only where the level is on
		}
		if call, is := x.(*ast.CallExpr); is {
			if v := f.bufferWritten(in.decl, call); v != nil {
				f.written(in.decl, v)
				continue
			}
		}
		f.follow(in.decl, x)
	}
	return flowEnds{f.sinks, f.fails, f.answers}, !f.other && len(f.sinks) > 0
}

// makeTexts are functions of the library that make a text of texts, or a list of them, by their packages; nothing is known of
// the types of the library.
var makeTexts = map[string]*pattern{
	"fmt":     lazily(`^(Sprint|Append)`),
	"strings": lazily(`^(Join|Repeat|Replace|To[A-Z]|Title|Trim|Map|Split|Fields|Clone)`),
	"slices":  lazily(`^(Clone|Concat|Sorted)`),
	"strconv": lazily(`^(Quote|Append|Format|Itoa)`),
	"bytes":   lazily(`^(Join|Repeat|Replace|To[A-Z]|Title|Trim|Clone)`),

	"net/http/httputil": lazily(`^Dump`),
	"encoding/json":     lazily(`^Marshal`),
	"encoding/xml":      lazily(`^Marshal`),
	"encoding/hex":      lazily(`^(EncodeToString|Dump)$`),
	"runtime/debug":     lazily(`^Stack$`),
	"gopkg.in/yaml.v3":  lazily(`^Marshal`),
	"google.golang.org/protobuf/encoding/protojson": lazily(`^(Marshal|Format)$`),
	"google.golang.org/protobuf/encoding/prototext": lazily(`^(Marshal|Format)$`),
	"github.com/davecgh/go-spew/spew":               lazily(`^(Sdump|Sprint)`),
}

// textual tells of an expression that it is text, bytes, or a list of these.
func textual(d *derivations, x ast.Expr) bool {
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok {
		if names := makeTexts[d.t.fromPackage(call.Fun)]; names != nil {
			return names.MatchString(calledName(call))
		}
	}
	t := d.t.typeOf(x)
	if several, ok := t.(*types.Tuple); ok && several.Len() > 0 {
		t = several.At(0).Type()
	}
	return isTexts(t)
}

// isTexts tells of a type that it is text, bytes, or a list of these.
func isTexts(t types.Type) bool {
	if t == nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Slice:
		b, ok := u.Elem().Underlying().(*types.Basic)
		return ok && (b.Info()&types.IsString != 0 || b.Kind() == types.Uint8)
	}
	return false
}

// follow takes an expression that has the text to what its surroundings make of it.
func (f *textFlow) follow(decl *ast.FuncDecl, x ast.Expr) {
	f.scan.room -= int(decl.End() - decl.Pos())
	if f.steps++; f.steps > mostTextSteps || f.scan.room < 0 {
		f.other = true
	}
	if f.other {
		return
	}
	around := nodesAround(decl, x)
	if len(around) > 0 && around[len(around)-1] == ast.Node(x) {
		around = around[:len(around)-1]
	}
	if len(around) == 0 {
		f.other = true
		return
	}
	switch p := around[len(around)-1].(type) {
	case *ast.ParenExpr:
		f.follow(decl, p)
	case *ast.SliceExpr:
		f.follow(decl, p)
	case *ast.IndexExpr:
		if f.other = p.X != x; !f.other {
			f.follow(decl, p)
		}
	case *ast.BinaryExpr:
		if f.other = p.Op != token.ADD; !f.other {
			f.follow(decl, p)
		}
	case *ast.ExprStmt: // thrown away at once
	case *ast.CallExpr:
		f.given(decl, p, x, around)
	case *ast.AssignStmt:
		i := slices.Index(p.Rhs, x)
		switch {
		case i < 0:
			f.other = !slices.Contains(p.Lhs, x)
		case len(p.Lhs) == len(p.Rhs):
			f.into(decl, p.Lhs[i])
		case len(p.Lhs) == 2 && len(p.Rhs) == 1:
			f.into(decl, p.Lhs[0])
			f.failing(decl, p, p.Lhs[1])
		default:
			f.other = true
		}
	case *ast.ValueSpec:
		if i := slices.Index(p.Values, x); i >= 0 && i < len(p.Names) {
			f.into(decl, p.Names[i])
			return
		}
		f.other = true
	case *ast.RangeStmt:
		switch {
		case p.X != x:
			f.other = p.Key != x && p.Value != x
		case p.Value == nil || !f.onlyLogs(decl, p.Body): // how many there are counts
			f.other = true
		default:
			f.into(decl, p.Value)
		}
	case *ast.ReturnStmt:
		f.returned(decl, slices.Index(p.Results, x), len(p.Results), around)
	default:
		f.other = true
	}
}

// onlyLogs tells of the body of a loop that it does nothing but to call loggers: what else a turn does is done for each text.
func (f *textFlow) onlyLogs(decl *ast.FuncDecl, body *ast.BlockStmt) bool {
	return len(body.List) > 0 && !slices.ContainsFunc(body.List, func(stmt ast.Stmt) bool {
		x, ok := stmt.(*ast.ExprStmt)
		if !ok {
			return true
		}
		call, ok := x.X.(*ast.CallExpr)
		return !ok || !isLevelled(call) || !mayLog(methodsOf(f.d.c, decl, call.Fun))
	})
}

// into follows a variable of the function that is set to the text.
func (f *textFlow) into(decl *ast.FuncDecl, lhs ast.Expr) {
	if isNamed(lhs, "_") {
		return
	}
	v := f.d.variable(innermost(ast.Unparen(lhs)))
	_, field := ast.Unparen(lhs).(*ast.SelectorExpr)
	if v == nil || field || !isLocal(decl, v) || isResult(decl, v) || !isIdent(lhs) && isGiven(decl, v) || isIdent(lhs) && !isTexts(v.Type()) && v.Type() != types.Typ[types.Invalid] {
		f.other = true
		return
	}
	f.uses(decl, v)
}

// failing looks at what a function does with the error of making a text: it may tell of it and leave.
func (f *textFlow) failing(decl *ast.FuncDecl, set *ast.AssignStmt, lhs ast.Expr) {
	if isNamed(lhs, "_") {
		return
	}
	v := f.d.variable(lhs)
	if v == nil || !isIdent(lhs) || !isLocal(decl, v) {
		f.other = true
		return
	}
	f.answers = f.answers || isResult(decl, v)
	until := decl.End()
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && a.Pos() > set.Pos() && a.Pos() < until && slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool { return f.d.variable(x) == v }) {
			until = a.Pos()
		}
		return true
	})
	eachNode(decl, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || f.d.t.info.Uses[id] != v || id.Pos() < set.End() || id.Pos() >= until {
			return
		}
		i := slices.IndexFunc(around, func(n ast.Node) bool {
			x, is := n.(*ast.IfStmt)
			return is && x.End() > set.End() && f.tellsOf(decl, x, v)
		})
		f.other = f.other || i < 0
	})
}

// tellsOf tells of an if about an error that it does no more than to log it and to leave, or to log where there is none.
func (f *textFlow) tellsOf(decl *ast.FuncDecl, n *ast.IfStmt, err types.Object) bool {
	cond, ok := ast.Unparen(n.Cond).(*ast.BinaryExpr)
	if !ok || !isNamed(cond.Y, "nil") || f.d.variable(cond.X) != err || n.Else != nil {
		return false
	}
	for _, stmt := range n.Body.List {
		switch stmt := stmt.(type) {
		case *ast.ExprStmt:
			call, ok := stmt.X.(*ast.CallExpr)
			if !ok || !isLevelled(call) && !(anyVerb.MatchString(ownCallName(call)) && isLogger.MatchString(types.ExprString(call.Fun))) {
				return false
			}
		case *ast.ReturnStmt:
			f.fails, f.answers = f.d.placeOf(stmt), f.answers || slices.ContainsFunc(stmt.Results, func(x ast.Expr) bool { return !isNamed(x, "nil") })
		case *ast.BranchStmt:
			f.fails = f.d.placeOf(stmt)
		default:
			return false
		}
	}
	return true
}

// uses follows a variable to each place where it is read.
func (f *textFlow) uses(decl *ast.FuncDecl, v types.Object) {
	if f.seen[v] {
		return
	}
	f.seen[v] = true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && f.d.t.info.Uses[id] == v {
			f.follow(decl, id)
		}
		return !f.other
	})
}

// given follows the text into what a call makes of it.
func (f *textFlow) given(decl *ast.FuncDecl, call *ast.CallExpr, x ast.Expr, around []ast.Node) {
	d := f.d
	arg := slices.Index(call.Args, x)
	if arg < 0 {
		f.other = true
		return
	}
	fun := ast.Unparen(call.Fun)
	if tv, ok := d.t.info.Types[fun]; ok && (tv.IsType() || tv.IsBuiltin()) {
		switch name := types.ExprString(fun); {
		case tv.IsType() && isTexts(tv.Type), name == "append":
			f.follow(decl, call)
		case name == "len", name == "cap": // how long a list is says nothing of its texts
			f.other = !f.capacity(around)
		default:
			f.other = true
		}
		return
	}
	if v := f.bufferWritten(decl, call); v != nil {
		f.written(decl, v)
		return
	}
	if textual(d, call) && makeTexts[d.t.fromPackage(call.Fun)] != nil {
		f.follow(decl, call)
		return
	}
	declared := d.t.callee(call)
	if isLevelled(call) && mayLog(methodsOf(d.c, decl, call.Fun)) {
		f.sink(decl, call, around)
		return
	}
	if declared == nil || len(d.declsOf(declared)) != 1 || f.calls[call] {
		f.other = f.other || !f.calls[call]
		return
	}
	f.calls[call] = true
	to := d.declsOf(declared)[0]
	param := parameterAt(d, to, arg)
	if param == nil || !isTexts(param.Type()) {
		f.other = true
		return
	}
	f.uses(to, param)
}

// capacity tells of a length that it only sizes something: make([]T, 0, len(x)).
func (f *textFlow) capacity(around []ast.Node) bool {
	call, ok := around[max(0, len(around)-2)].(*ast.CallExpr)
	return ok && isNamed(call.Fun, "make")
}

// parameterAt is the parameter of a function that takes an argument.
func parameterAt(d *derivations, decl *ast.FuncDecl, arg int) types.Object {
	if arg == receiverPlace {
		return receiverVariable(d, decl)
	}
	i := 0
	for _, field := range decl.Type.Params.List {
		_, variadic := field.Type.(*ast.Ellipsis)
		for _, id := range field.Names {
			if i == arg || variadic && arg > i {
				return d.variable(id)
			}
			i++
		}
	}
	return nil
}

// sink notes a log call.
func (f *textFlow) sink(decl *ast.FuncDecl, call *ast.CallExpr, around []ast.Node) {
	at := f.d.placeOf(call)
	s := textSink{fun: call.Fun, file: at.file, first: at.line, asked: asked(call, around[:max(0, len(around)-1)]), message: messageOf(call, around[:max(0, len(around)-1)])}
	_, s.last, _ = f.d.t.at(statementOf(call, around[:max(0, len(around)-1)]).End())
	if !slices.ContainsFunc(f.sinks, func(o textSink) bool { return o.file == s.file && o.first == s.first }) {
		f.sinks = append(f.sinks, s)
	}
}

// forInterfaces are names of methods that the library calls by interfaces, and that give a text: who prints a value gets it.
var forInterfaces = lazily(`^(String|GoString|Error|Marshal\w*|Name|Network|Text|Type)$`)

// returned follows a result of a function to what its callers make of it.
func (f *textFlow) returned(decl *ast.FuncDecl, i, results int, around []ast.Node) {
	if i < 0 || withinLit(around) {
		f.other = true
		return
	}
	calls := callersTo(f.d, decl)
	if f.other = len(calls) == 0 || f.scan.isValue(decl) || decl.Recv != nil && forInterfaces.MatchString(decl.Name.Name); f.other {
		return
	}
	for _, by := range calls {
		caller, call := by.in, by.call
		if f.calls[call] {
			continue
		}
		if caller == nil {
			f.other = true
			return
		}
		if results == 1 {
			f.calls[call] = true
			f.follow(caller, call)
			continue
		}
		lhs := setToResults(caller, call)
		if len(lhs) != results {
			f.other = true
			return
		}
		f.into(caller, lhs[i])
	}
}

// setToResults are what a statement sets to the several results of a call; nil where no statement does.
func setToResults(decl *ast.FuncDecl, call *ast.CallExpr) (lhs []ast.Expr) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) == 1 && ast.Unparen(a.Rhs[0]) == ast.Expr(call) {
			lhs = a.Lhs
		}
		return lhs == nil
	})
	return lhs
}
