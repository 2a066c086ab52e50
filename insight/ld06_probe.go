package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// A client or a connection that is opened to find out whether that can be done: one that is kept
// could not tell any more.

// probing are names of functions that check whether something can be reached.
var probing = lazily(`(?i)health|readi|liveness|probe|heartbeat|^(is)?(alive|live|ready|up)z?$|(check|test|verify|try)(the)?(login|conn|credential|password|access|auth|db|database|dsn|reach)|^ping`)

// probe is what speaks for it.
type probe struct {
	// sure tells that nothing is done with what is opened but to ask whether it is there, at the
	// line of at.
	sure bool
	at   Evidence
	name string // of a function on the way, or a path that it serves, that says so
}

// tell makes a finding about new connections say so.
func (p probe) tell(f *Finding) {
	switch {
	case p.sure:
		f.Severity = Info
		f.Summary += "; by its source it is opened to find out whether that works, and closed"
		f.Evidence = append(f.Evidence, p.at)
		f.Advice = "If this is to show whether a new connection or login works, leave it so: one that is kept would go on working with a password that has changed, and with a server that accepts nobody any more. If it is asked often, keep the answer for some seconds and let all who ask meanwhile have that. If it is only to show that the server answers, ask over a connection that is kept."
		f.Doubts = slices.DeleteFunc(f.Doubts, func(d string) bool { return strings.HasPrefix(d, "if each of them is for another") })
	case p.name != "":
		f.Severity = Info
		f.Doubts = append(f.Doubts, "by its name "+p.name+" checks whether something can be reached: if it is to show that a new connection or login works, one that is kept cannot")
	}
}

// tellProbe says of a finding about new connections, by the stack that makes them, that they may be
// there to find out whether that works.
func tellProbe(in *Input, f *Finding, frames []stack.Frame) {
	at := slices.IndexFunc(frames, func(x stack.Frame) bool { return in.Session.Scope().IsUser(x) })
	if at < 1 {
		return
	}
	probeOf(in.code, frames[at:], frames[at-1].Func).tell(f)
}

// probeOf looks at what is done with what a call on the first line of a way through the code opens.
func probeOf(c *code, way []stack.Frame, callee string) (p probe) {
	for i, f := range way[:min(3, len(way))] {
		fn := c.scopeAt(f)
		if fn == nil {
			break
		}
		name := assignedBy(c.parse(f.File), fn, f.Line, callee)
		if i == 0 && name == "" {
			name = askedOn(c, f)
		}
		if name == "" {
			if !handsOn(c, f, ownName(callee)) {
				break
			}
		} else if line, asks := onlyAsks(c, f, fn, name); asks {
			p.sure, p.at = true, c.shownAt(f.File, line, "all that is done with it: it is asked whether it is there, and closed")
			break
		} else if !returns(fn.body, name) {
			break
		}
		if i+1 < len(way) {
			callee = f.Func
		}
	}
	for _, f := range way {
		if n := ownName(f.Func); c.session.Scope().Of(f) == stack.User && probing.MatchString(n) {
			p.name = stack.Short(f.Func)
			break
		}
		if path := routeOf(c, f); path != "" && p.name == "" {
			p.name = path
		}
	}
	return p
}

// assignedBy is the variable that gets what a call on a line gives first.
func assignedBy(s *syntax, fn *scope, line int, callee string) (name string) {
	ast.Inspect(fn.body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) == 1 && s.covers(a, line) && isCallOf(a.Rhs[0], callee) && isIdent(a.Lhs[0]) {
			name = rootName(a.Lhs[0])
		}
		return true
	})
	return name
}

// askedOn is the variable that a call on a line asks whether it is there.
func askedOn(c *code, f stack.Frame) string {
	for _, call := range c.lineCalls(f) {
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && isIdent(sel.X) && pinging.MatchString(sel.Sel.Name) {
			return rootName(sel.X)
		}
	}
	return ""
}

// pinging are methods that ask whether something is there, settling those that close it or set limits.
var (
	pinging  = lazily(`^(Ping|PingContext|HealthCheck|Hello|Noop|Check)$`)
	settling = lazily(`^(Close|Set[A-Z]\w*|Quit|Shutdown|Disconnect|Logout)$`)
)

// onlyAsks tells whether nothing is done with a variable of a function but to ask whether it is there
// and to close it; line is where. A function of the program that it is given to is looked into.
func onlyAsks(c *code, at stack.Frame, fn *scope, name string) (line int, asks bool) {
	s, other, closes := c.parse(at.File), false, false
	eachNode(fn.body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || id.Name != name || len(around) == 0 {
			return
		}
		first, _ := s.lines(id)
		switch parent := around[len(around)-1].(type) {
		case *ast.AssignStmt:
			other = other || slices.Contains(parent.Rhs, ast.Expr(id))
		case *ast.BinaryExpr: // compared with nil
			other = other || parent.Op != token.EQL && parent.Op != token.NEQ
		case *ast.SelectorExpr:
			method := ""
			if len(around) > 1 && parent.X == ast.Expr(id) {
				if call, ok := around[len(around)-2].(*ast.CallExpr); ok && call.Fun == ast.Expr(parent) {
					method = parent.Sel.Name
				} else if ok { // given to something, as db.Close is to defer or t.Cleanup
					method = parent.Sel.Name
				}
			}
			switch {
			case parent.Sel == id: // a field of that name
			case pinging.MatchString(method):
				line, asks = first, true
			case settling.MatchString(method):
				closes = closes || !strings.HasPrefix(method, "Set")
			default:
				other = true
			}
		case *ast.CallExpr:
			if d := calledFunction(c, parent); d != nil && probing.MatchString(d.Name.Name) {
				line, asks = first, true
				break
			}
			other = true
		default:
			other = true
		}
	})
	return line, asks && closes && !other
}

// calledFunction is the function of the program that a call without a receiver is of.
func calledFunction(c *code, call *ast.CallExpr) *ast.FuncDecl {
	id, ok := call.Fun.(*ast.Ident)
	if !ok {
		return nil
	}
	if all := c.functions()[id.Name]; len(all) == 1 {
		return all[0].FuncDecl
	}
	return nil
}

// routeOf is the path, of a check's name, that a function without a name is registered for.
func routeOf(c *code, f stack.Frame) (path string) {
	c.parse(f.File).onLine(f.Line, func(n ast.Node, _ []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) < 2 {
			return
		}
		lit, ok := call.Args[0].(*ast.BasicLit)
		_, handler := call.Args[len(call.Args)-1].(*ast.FuncLit)
		if ok && handler && lit.Kind == token.STRING && probing.MatchString(strings.TrimLeft(lastPart(strings.Trim(lit.Value, "\"`")), " ")) {
			path = types.ExprString(lit)
		}
	})
	return path
}

// lastPart is what follows the last slash.
func lastPart(path string) string { return path[strings.LastIndex(path, "/")+1:] }
