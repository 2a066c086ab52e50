package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// What becomes of what a log call is given, by the source: that no sample shows it being written tells of a level that is off only
// where writing it would show below the call.

// fateKind is what becomes of values that a function is given, the weightier the larger.
type fateKind int

const (
	fateUnused fateKind = iota // nothing
	fateShown                  // formatted or written, below the call
	fateOpen                   // the source does not settle it
	fateKept                   // stored, sent, or handed to a goroutine
)

// logFate is what becomes of them, and where.
type logFate struct {
	kind fateKind
	at   codeLine // of what is kept or not known, where that is a line of the sources
	why  string
}

// settled tells that samples below the call would show the values being written.
func (f logFate) settled() bool { return f.kind <= fateShown }

// givenFate follows values through functions of the program.
type givenFate struct {
	d    *derivations
	seen map[*ast.FuncDecl]bool
	logFate
}

// mostFateFuncs is how many functions are followed. Chosen, more than a logger has.
const mostFateFuncs = 60

// note keeps the weightiest fate.
func (g *givenFate) note(kind fateKind, n ast.Node, format string, args ...any) {
	if kind > g.kind {
		g.logFate = logFate{kind: kind, why: fmt.Sprintf(format, args...)}
		if n != nil {
			g.at = g.d.placeOf(n)
		}
	}
}

// fateIn follows the parameters of a function that a call gives more than constants; of a call that gives none, as one at the end of a
// chain, what it is called on.
func (g *givenFate) fateIn(decl *ast.FuncDecl, call *ast.CallExpr) {
	given := map[types.Object]bool{}
	for _, v := range parametersOf(g.d, decl) {
		x := ast.Expr(nil)
		if call != nil && v != receiverVariable(g.d, decl) {
			x = argumentGiven(g.d, decl, call, v)
		}
		if _, constant := x.(*ast.BasicLit); !constant && v != receiverVariable(g.d, decl) {
			given[v] = true
		}
	}
	if call != nil && !slices.ContainsFunc(call.Args, func(x ast.Expr) bool { _, lit := x.(*ast.BasicLit); return !lit }) {
		given = map[types.Object]bool{receiverVariable(g.d, decl): true}
	}
	delete(given, nil)
	g.look(decl, given)
}

// receiverVariable is the variable of a method's receiver; nil where it has none.
func receiverVariable(d *derivations, decl *ast.FuncDecl) types.Object {
	if decl.Recv == nil || len(decl.Recv.List) == 0 || len(decl.Recv.List[0].Names) == 0 {
		return nil
	}
	return d.variable(decl.Recv.List[0].Names[0])
}

// argumentGiven is what a call gives for a parameter, the first one of those that a variadic parameter takes and that is no constant.
func argumentGiven(d *derivations, decl *ast.FuncDecl, call *ast.CallExpr, v types.Object) ast.Expr {
	i := 0
	for _, field := range decl.Type.Params.List {
		_, variadic := field.Type.(*ast.Ellipsis)
		for _, id := range field.Names {
			if d.variable(id) == v {
				if variadic && i < len(call.Args) {
					rest := call.Args[i:]
					return rest[max(0, slices.IndexFunc(rest, func(x ast.Expr) bool { _, lit := x.(*ast.BasicLit); return !lit }))]
				}
				return argumentFor(d, decl, call, v)
			}
			i++
		}
	}
	return nil
}

// look goes through a function that is given values in some of its variables.
func (g *givenFate) look(decl *ast.FuncDecl, given map[types.Object]bool) {
	if g.seen[decl] || len(given) == 0 || decl.Body == nil {
		return
	}
	if g.seen[decl] = true; len(g.seen) > mostFateFuncs {
		g.note(fateOpen, decl, "it calls more functions than were followed")
		return
	}
	g.spread(decl, given)
	has := func(x ast.Node) bool { return x != nil && mentionsObject(g.d, x, given) }
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if tv, ok := g.d.t.info.Types[n.Cond]; ok && tv.Value != nil && tv.Value.String() == "false" && n.Else == nil {
				return false
			}
		case *ast.SendStmt:
			if has(n.Value) {
				g.note(fateKept, n, "it sends what it is given to a channel")
			}
		case *ast.GoStmt:
			if has(n.Call) {
				g.note(fateKept, n, "it hands what it is given to another goroutine")
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if n.Tok != token.DEFINE && !g.isLocalOf(decl, lhs) && has(n.Rhs[min(i, len(n.Rhs)-1)]) && !has(lhs) {
					g.note(fateKept, n, "it keeps what it is given")
				}
			}
		case *ast.CallExpr:
			g.call(decl, n, has)
		}
		return true
	})
}

// isLocalOf tells of a place that it is a variable of the function, or a part of what only that has.
func (g *givenFate) isLocalOf(decl *ast.FuncDecl, x ast.Expr) bool {
	id, ok := innermost(x).(*ast.Ident)
	if !ok {
		return false
	}
	v := g.d.variable(id)
	if id.Name == "_" {
		return true
	}
	return isLocal(decl, v) && (!isGiven(decl, v) || ast.Unparen(x) == ast.Expr(id))
}

// spread adds to what has the values the variables of the function that are set to something with one of them.
func (g *givenFate) spread(decl *ast.FuncDecl, given map[types.Object]bool) {
	add := func(x ast.Expr, from ast.Expr) bool {
		if x == nil || !mentionsObject(g.d, from, given) {
			return false
		}
		v := g.d.variable(innermost(x))
		if v == nil || given[v] || !isLocal(decl, v) || isGiven(decl, v) && x != ast.Expr(innermost(x)) || isCount(v.Type()) {
			return false
		}
		given[v] = true
		return true
	}
	for more := true; more; {
		more = false
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					more = add(lhs, n.Rhs[min(i, len(n.Rhs)-1)]) || more
				}
			case *ast.RangeStmt:
				more = add(n.Key, n.X) || more
				more = add(n.Value, n.X) || more
			case *ast.CallExpr: // what the value is written to
				for _, from := range n.Args {
					for _, to := range n.Args {
						if u, ok := to.(*ast.UnaryExpr); ok && u.Op == token.AND && to != from {
							more = add(u.X, from) || more
						}
					}
					if sel, ok := n.Fun.(*ast.SelectorExpr); ok && g.d.t.callee(n) == nil && outWriters.MatchString(sel.Sel.Name) {
						more = add(sel.X, from) || more
					}
				}
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if len(n.Values) > 0 {
						more = add(name, n.Values[min(i, len(n.Values)-1)]) || more
					}
				}
			}
			return true
		})
	}
}

// isCount tells of a type that its values are numbers or truths, which have nothing of a text.
func isCount(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsNumeric|types.IsBoolean) != 0
}

// mentionsObject tells of a part of the source that it names one of some variables.
func mentionsObject(d *derivations, n ast.Node, of map[types.Object]bool) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && (isNamed(call.Fun, "len") || isNamed(call.Fun, "cap")) {
			return false
		}
		if id, ok := n.(*ast.Ident); ok {
			v := d.variable(id)
			found = found || v != nil && of[v]
		}
		return !found
	})
	return found
}

// Names of what the library and other packages do with a value: shown is what formats or writes it at once, stores what may keep it, and
// computed are packages of the library that only make something of it.
var (
	shownNames   = lazily(`^(?i:f?print|sprint|write|output|format|append|encode|marshal|handle|emit|fire|export|error|fatal|panic|execute)`)
	storeNames   = lazily(`^(?i:store|put|push|add|insert|enqueue|send|publish|submit|swap|set|record|register|do$|go$)`)
	computedOnly = []string{"strings", "bytes", "strconv", "time", "errors", "unicode", "unicode/utf8", "slices", "maps", "sort", "cmp", "math", "reflect", "path", "path/filepath", "runtime", "regexp", "context"}
	shownBy      = []string{"fmt", "io", "os", "log", "bufio", "encoding/json", "encoding/xml", "encoding/hex", "encoding/base64", "syscall"}
)

// call looks at a call that is given one of the values, or is called on one.
func (g *givenFate) call(decl *ast.FuncDecl, n *ast.CallExpr, has func(ast.Node) bool) {
	fun := ast.Unparen(uninstantiated(n))
	sel, selects := fun.(*ast.SelectorExpr)
	args := slices.ContainsFunc(n.Args, func(x ast.Expr) bool { return has(x) })
	on := selects && has(sel.X)
	if tv, ok := g.d.t.info.Types[fun]; !args && !on || ok && (tv.IsType() || tv.IsBuiltin()) {
		return
	}
	if fn := g.d.t.callee(n); fn != nil && len(g.d.declsOf(fn)) > 0 {
		g.callees(n, fn, on, has)
		return
	}
	name, pkg := ownCallName(n), g.d.t.fromPackage(fun)
	switch {
	case slices.Contains(shownBy, pkg), ofPackagePath(pkg, writesAtOnce):
		g.note(fateShown, n, "")
	case slices.Contains(computedOnly, pkg):
	case pkg != "" && !strings.Contains(pkg, "/"): // another one of the library
	case selects && pkg == "" && !args: // a method of what it is given
		if shownNames.MatchString(name) {
			g.note(fateShown, n, "")
		}
	case selects && pkg == "" && shownNames.MatchString(name):
		g.note(fateShown, n, "")
	case selects && pkg == "" && (logVerb.MatchString(name) || anyVerb.MatchString(name)):
		if !writesAtOnceByText(g.d, decl, sel.X) {
			g.note(fateOpen, n, "it hands what it is given to %s, of which the source does not tell whether it writes at once", types.ExprString(fun))
		}
		g.note(fateShown, n, "")
	case selects && storeNames.MatchString(name):
		g.note(fateKept, n, "it hands what it is given to %s, which may keep it", types.ExprString(fun))
	default:
		g.note(fateOpen, n, "it hands what it is given to %s, whose source is not here", types.ExprString(fun))
	}
}

// callees follows the values into the functions of the program that a call may mean.
func (g *givenFate) callees(n *ast.CallExpr, fn *types.Func, on bool, has func(ast.Node) bool) {
	decls := g.d.declsOf(fn)
	if len(decls) > effectNames {
		g.note(fateOpen, n, "it hands what it is given to %s, of which the source does not tell which function that is", types.ExprString(n.Fun))
		return
	}
	for _, decl := range decls {
		given := map[types.Object]bool{}
		if r := receiverVariable(g.d, decl); on && r != nil {
			given[r] = true
		}
		for i, x := range n.Args {
			if v := parameterAt(g.d, decl, i); v != nil && has(x) && !isCount(v.Type()) {
				given[v] = true
			}
		}
		g.look(decl, given)
	}
}
