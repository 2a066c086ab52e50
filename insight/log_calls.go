package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// The arguments of a log call are made before the logger looks at its level. The source says
// which calls are made for such an argument, and whether the level is asked first.

// logCall is a call of a logger of which the level may be off.
type logCall struct {
	file        string
	first, last int
	text        string // "r.log.Debug"
	fun         ast.Expr
	guard       guard  // of a function of the program's own of which only its source says so
	message     string // what each of its records has in it, by the source
}

// logVerb are the names of functions that log for who looks for a fault, those of wrappers among
// them; verboseVerb are some that others have too, so that what is called has to be a logger.
var (
	logVerb     = lazily(`^(?i:log_?|v)?(Debug|debug|DEBUG)(?i:f|w|s|ln|kv|ctx|context|contextf|log|msg|depth)?$`)
	verboseVerb = lazily(`^(?i:log_?)?(?i:trace|verbose)(?i:f|w|s|ln|kv|ctx|context|log|msg)?$`)
	anyVerb     = lazily(`^(Info|Error|Print|Warn|Warning|Log)(f|w|S|ln|Depth|Context)?$`)
	isLogger    = lazily(`(?i)log|sugar|entry|zap|logr`)
	debugLevel  = lazily(`(?i)level_?(debug|trace)|(debug|trace)_?level|(^|\.)(debug|trace|verbose)$`)
	asksLevel   = lazily(`(?i)enabled|level|debug|trace|verbose|\bV\(|\bCheck\(`)
)

// logsAround finds the log call around what a line calls, where that is made for an argument. It
// is false where the level is asked first, and for what runs only when the logger calls it.
func logsAround(c *code, at stack.Frame, callee string) (found logCall, ok bool) {
	s, in := c.parse(at.File), c.function(at)
	// note takes a call that logs; arg is which of its arguments is made.
	note := func(outer *ast.CallExpr, arg int, around []ast.Node) bool {
		g, guarded := guard{}, false
		if !isLevelled(outer) || !mayLog(methodsOf(c, in, outer.Fun)) {
			if g, guarded = guardedCall(c, in, outer, arg); !guarded {
				return false
			}
		}
		first, last := s.lines(statementOf(outer, around))
		found, ok = logCall{at.File, first, last, types.ExprString(outer.Fun), outer.Fun, g, messageOf(outer, around)}, !asked(outer, around)
		return true
	}
	s.onLine(at.Line, func(n ast.Node, around []ast.Node) {
		if ok || !isMade(n, callee) {
			return
		}
		inside, inArgs := n, false
		for i := len(around) - 1; i >= 0; i-- {
			if _, lazy := around[i].(*ast.FuncLit); lazy {
				break
			}
			if outer, is := around[i].(*ast.CallExpr); is {
				arg := slices.IndexFunc(outer.Args, func(x ast.Expr) bool { return x == inside })
				if inArgs = inArgs || arg >= 0; inArgs && note(outer, arg, around[:i]) {
					return
				}
			}
			inside = around[i]
		}
		if call, arg, outer := givenTo(in, n, around); call != nil {
			note(call, arg, outer)
		}
	})
	return found, ok
}

// statementOf is the statement around an expression, in which the rest of a chain of calls is.
func statementOf(n ast.Node, around []ast.Node) ast.Node {
	for _, outer := range slices.Backward(around) {
		if _, ok := outer.(ast.Expr); !ok {
			if s, ok := outer.(*ast.ExprStmt); ok {
				return s
			}
			break
		}
		n = outer
	}
	return n
}

// isMade tells whether a node is what a stack shows as called: by the name of the function, or the
// operation behind a function of the runtime.
func isMade(n ast.Node, callee string) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		name := calledName(n)
		if at := strings.IndexByte(name, '['); at > 0 {
			name = name[:at]
		}
		if callee == "runtime.slicebytetostring" || callee == "runtime.stringtoslicebyte" {
			return name == "string" || strings.HasSuffix(types.ExprString(n.Fun), "[]byte")
		}
		return name == lastName(strings.TrimSuffix(callee, "[...]"))
	case *ast.BinaryExpr:
		return n.Op == token.ADD && strings.HasPrefix(callee, "runtime.concatstring")
	}
	return false
}

// isLevelled tells of a call that it logs on a level that may be off: by its name, by a level
// among its arguments, or by what it is called on, as log.Debug().Str(…) and klog.V(4).Info(…).
func isLevelled(call *ast.CallExpr) bool {
	name := calledName(call)
	f, method := call.Fun.(*ast.SelectorExpr)
	if at := strings.LastIndexByte(name, ')'); at >= 0 {
		name = name[at+1:]
	}
	if method {
		name = f.Sel.Name
	}
	switch {
	case logVerb.MatchString(name):
		return len(call.Args) > 0 || !method
	case verboseVerb.MatchString(name):
		return isLogger.MatchString(types.ExprString(call.Fun))
	case strings.HasPrefix(name, "Log") || name == "Logf":
		if slices.ContainsFunc(call.Args[:min(2, len(call.Args))], func(x ast.Expr) bool { return debugLevel.MatchString(types.ExprString(x)) }) {
			return true
		}
	}
	// The chain of calls before it.
	for x := ast.Expr(call); ; {
		c, ok := x.(*ast.CallExpr)
		if !ok {
			return false
		}
		sel, ok := c.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		if c != call {
			switch {
			case len(c.Args) == 0 && (logVerb.MatchString(sel.Sel.Name) || verboseVerb.MatchString(sel.Sel.Name)) && (isLogger.MatchString(types.ExprString(sel.X)) || lastName(types.ExprString(sel.X)) == "l"):
				return true // zerolog; a database has a Debug too
			case sel.Sel.Name == "V" && len(c.Args) == 1 && anyVerb.MatchString(name):
				return true // klog, logr
			}
		}
		x = sel.X
	}
}

// mayLog tells of a function that it may log, by what it is given: text, or values of any type.
// One of the program's own that takes nothing of the kind is something else of this name, such as
// the message of a protocol.
func mayLog(declared []declaration) bool {
	return len(declared) == 0 || slices.ContainsFunc(declared, func(d declaration) bool {
		return slices.ContainsFunc(d.Type.Params.List, func(p *ast.Field) bool {
			switch t := strings.TrimPrefix(types.ExprString(p.Type), "..."); t {
			case "string", "any", "interface{}", "error", "slog.Attr", "fmt.Stringer":
				return true
			default:
				return strings.Contains(t, "Field") || strings.HasPrefix(t, "func(")
			}
		})
	})
}

// keepsGiven finds where one of the program's own functions puts what it is given into something
// that lives on, or sends it, without asking for a level.
func keepsGiven(c *code, declared []declaration) (at Evidence, found bool) {
	for _, d := range declared {
		params := map[string]bool{}
		for _, p := range d.Type.Params.List {
			for _, id := range p.Names {
				params[id.Name] = true
			}
		}
		eachNode(d.Body, func(n ast.Node, around []ast.Node) {
			keeps := false
			switch n := n.(type) {
			case *ast.SendStmt:
				keeps = mentionsAny(n.Value, params)
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					keeps = keeps || n.Tok != token.DEFINE && outlivesCalls(d, lhs) && mentionsAny(n.Rhs[min(i, len(n.Rhs)-1)], params)
				}
			}
			if keeps && !found && !asked(n, append([]ast.Node{d.FuncDecl}, around...)) {
				line, _ := c.parse(d.file).lines(n)
				at, found = c.shownAt(d.file, line, "what it is given is kept or sent here"), true
			}
		})
	}
	return at, found
}

// asked tells whether the statements around a log call ask for the level before: an if around it,
// or one before it that leaves.
func asked(call ast.Node, around []ast.Node) bool {
	inside := call
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			return false
		case *ast.IfStmt:
			if n.Body == inside && asksForLevel(n, false) {
				return true
			}
		default:
			for _, before := range statements(n) {
				if before == inside {
					break
				}
				if f, ok := before.(*ast.IfStmt); ok && asksForLevel(f, true) && endsEarly(f.Body) {
					return true
				}
			}
		}
		inside = around[i]
	}
	return false
}

// asksForLevel tells whether an if is entered only where a level is on, or, of one that leaves, left
// behind only there: a condition of several is about it as a whole.
func asksForLevel(n *ast.IfStmt, leaves bool) bool {
	if a, ok := n.Init.(*ast.AssignStmt); ok && slices.ContainsFunc(a.Rhs, func(x ast.Expr) bool { return asksLevel.MatchString(types.ExprString(x)) }) {
		return true
	}
	return asksIn(n.Cond, leaves)
}

// offNames are names of variables that are true where a level is off.
var offNames = lazily(`(?i)(^|\.)_?(no|not|skip|without|disable|hide|quiet)|disabled|(off|quiet)$`)

// asksIn is the same of a part of a condition; not tells that the opposite of it is meant. A variable that is true is a
// level that is on, so that one which has to be false for a call is about something else, such as whether levels are looked at.
func asksIn(x ast.Expr, not bool) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			return asksIn(x.X, !not)
		}
	case *ast.BinaryExpr:
		switch {
		case x.Op == token.LAND && !not, x.Op == token.LOR && not:
			return asksIn(x.X, not) || asksIn(x.Y, not)
		case x.Op == token.LAND, x.Op == token.LOR:
			return asksIn(x.X, not) && asksIn(x.Y, not)
		}
	}
	text := types.ExprString(x)
	if _, field := ast.Unparen(x).(*ast.SelectorExpr); (field || isIdent(x)) && not && !offNames.MatchString(text) {
		return false
	}
	return asksLevel.MatchString(text)
}

// endsEarly tells whether a block ends by leaving what is around it.
func endsEarly(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	switch b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	}
	return false
}

// askFirst says how the level is asked for, by the packages that a file imports.
func askFirst(c *code, file string) string {
	s := c.parse(file)
	imports := func(path string) bool {
		return s != nil && slices.ContainsFunc(s.file.Imports, func(spec *ast.ImportSpec) bool {
			return strings.HasPrefix(strings.Trim(spec.Path.Value, `"`), path)
		})
	}
	switch {
	case imports("log/slog"):
		return "Ask first (if log.Enabled(ctx, slog.LevelDebug)), or pass the value itself, with a LogValue method (slog.LogValuer), which is called only for a record that is written."
	case imports("go.uber.org/zap"):
		return "Ask first (if ce := log.Check(zap.DebugLevel, msg); ce != nil { ce.Write(…) }), or pass the value itself (zap.Stringer, zap.Object, zap.Any), which is encoded only for a record that is written."
	case imports("github.com/sirupsen/logrus"):
		return "Ask first (if log.IsLevelEnabled(logrus.DebugLevel)), or log a function (DebugFn), which is called only for a record that is written."
	case imports("github.com/rs/zerolog"):
		return "Ask first (if e := log.Debug(); e.Enabled()), or add the field in a function (Event.Func), which is called only for a record that is written."
	case imports("k8s.io/klog"), imports("github.com/go-logr/logr"), imports("github.com/golang/glog"):
		return "Ask first (if v := log.V(n); v.Enabled()), or pass the value itself as a key and value (InfoS, or logr's Info), which is formatted only for a record that is written."
	case imports("github.com/hashicorp/go-hclog"):
		return "Ask first (if log.IsDebug()), or pass the value itself, or hclog.Fmt, which are formatted only for a record that is written."
	}
	return "Ask whether the level is enabled before the arguments are made, or pass the value itself with a method that the logger calls only for a record that is written (slog.LogValuer, fmt.Stringer)."
}
