package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"time"

	"loupe/value/unit"
)

// What the source does that lets a server close its connections.

// closings are the lines after which a server closes the connection of a response, or all of
// them. What is set in the header of anything but a response is none, nor is what is only done
// when the server ends.
func (c connSources) closings() (all []connSetting) {
	c.eachSource(func(file string, s *syntax) {
		for _, d := range s.file.Decls {
			fn, _ := d.(*ast.FuncDecl)
			eachNode(d, func(n ast.Node, around []ast.Node) {
				p := closingPlace{c.code, fn, around}
				if what, does := p.closes(n); what != "" {
					line, _ := s.lines(n)
					all = append(all, connSetting{at: c.shownAt(file, line, "the source %s here, which %s", what, does), does: does})
				}
			})
		}
	})
	return all
}

// closingPlace is a place in a function that may close connections.
type closingPlace struct {
	c      *code
	fn     *ast.FuncDecl // nil outside of functions
	around []ast.Node
}

// closes tells what a node does that closes connections; what is empty of any other.
func (p closingPlace) closes(n ast.Node) (what, does string) {
	const each = "closes the connection after the response"
	switch n := n.(type) {
	case *ast.CallExpr:
		f, ok := n.Fun.(*ast.SelectorExpr)
		if !ok || p.fn == nil || p.fn.Body == nil {
			return "", ""
		}
		says := len(n.Args) == 2 && isText(n.Args[0], "connection") && isText(n.Args[1], "close")
		switch {
		case f.Sel.Name == "SetKeepAlivesEnabled" && len(n.Args) == 1 && isNamed(n.Args[0], "false") && p.whileServing(n, 0):
			return "turns keep-alive off", "closes each connection after its response"
		case f.Sel.Name == "SetConnectionClose" && len(n.Args) == 0 && p.ofFastHTTP(f.X):
			return "calls SetConnectionClose", each
		case says && (f.Sel.Name == "Set" || f.Sel.Name == "Add") && (p.headerOfAnswer(f.X, 0) || p.is(f.X, "fiber.Ctx")), says && f.Sel.Name == "Header" && p.is(f.X, "gin.Context"):
			return "sets Connection: close", each
		}
	case *ast.KeyValueExpr:
		of := ""
		if lit := literalAround(p.around); lit != nil {
			of = types.ExprString(lit)
		}
		if isNamed(n.Key, "DisableKeepalive") && isNamed(n.Value, "true") && (strings.HasSuffix(of, "Server") || strings.HasSuffix(of, "Config")) {
			return "sets DisableKeepalive", "closes each connection after its response"
		}
	}
	return "", ""
}

// isText tells whether an expression is a text, in letters of either case.
func isText(x ast.Expr, text string) bool {
	lit, ok := x.(*ast.BasicLit)
	return ok && lit.Kind == token.STRING && len(lit.Value) > 2 && strings.EqualFold(lit.Value[1:len(lit.Value)-1], text)
}

// typeOf is the type of a parameter of the functions around the place, the innermost first, or of
// the receiver; empty of anything else.
func (p closingPlace) typeOf(name string) string {
	for _, n := range slices.Backward(p.around) {
		if f, ok := n.(*ast.FuncLit); ok {
			if of, ok := parameter(&ast.FuncDecl{Type: f.Type}, name); ok {
				return of
			}
		}
	}
	of, _ := parameter(p.fn, name)
	return of
}

// is tells whether an expression is a parameter of a type, given by its last words.
func (p closingPlace) is(x ast.Expr, of string) bool {
	id, ok := x.(*ast.Ident)
	return ok && strings.HasSuffix(p.typeOf(id.Name), of)
}

// ofFastHTTP tells whether a call is of the context or the response of a request that fasthttp
// serves.
func (p closingPlace) ofFastHTTP(x ast.Expr) bool {
	if f, ok := x.(*ast.SelectorExpr); ok && f.Sel.Name == "Response" {
		x = f.X
	}
	return p.is(x, "fasthttp.RequestCtx") || p.is(x, "fiber.Ctx")
}

// maxAssigned is how many steps a header is followed to where it comes from.
const maxAssigned = 3

// headerOfAnswer tells whether a header is that of a response that the program sends.
func (p closingPlace) headerOfAnswer(x ast.Expr, depth int) bool {
	if depth > maxAssigned {
		return false
	}
	switch x := x.(type) {
	case *ast.CallExpr:
		f, ok := x.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == "Header" && len(x.Args) == 0 && p.writesAnswer(f.X, depth)
	case *ast.SelectorExpr:
		return x.Sel.Name == "Header" && p.ofFastHTTP(x.X)
	case *ast.Ident:
		if p.typeOf(x.Name) != "" {
			return p.givenHeader(x.Name, depth)
		}
		from := scopeOf(p.fn).made(x.Name)
		return from != nil && p.headerOfAnswer(from, depth+1)
	}
	return false
}

// givenHeader tells whether a caller gives the header of a response for a parameter.
func (p closingPlace) givenHeader(name string, depth int) bool {
	i := scopeOf(p.fn).parameter(name)
	return i >= 0 && slices.ContainsFunc(callsNamed(p.c, p.fn.Name.Name), func(from callFrom) bool {
		return i < len(from.call.Args) && closingPlace{p.c, from.in.FuncDecl, from.around}.headerOfAnswer(from.call.Args[i], depth+1)
	})
}

// writesAnswer tells whether an expression is what a response is written to: a ResponseWriter, or
// what is made with one. A recorder of package httptest is none.
func (p closingPlace) writesAnswer(x ast.Expr, depth int) bool {
	if depth > maxAssigned {
		return false
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return p.writesAnswer(x.X, depth)
	case *ast.CallExpr: // c.Response() of echo
		f, ok := x.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == "Response" && len(x.Args) == 0 && p.is(f.X, ".Context")
	case *ast.SelectorExpr:
		return x.Sel.Name == "ResponseWriter" || x.Sel.Name == "Writer" && p.is(x.X, "gin.Context") || strings.HasSuffix(fieldType(p.c, x.Sel.Name), "ResponseWriter")
	case *ast.Ident:
		if of := p.typeOf(x.Name); of != "" {
			return strings.HasSuffix(of, "ResponseWriter") || wrapsAnswer(p.c, of)
		}
		from := scopeOf(p.fn).made(x.Name)
		return from != nil && p.wraps(from, depth+1)
	}
	return false
}

// wraps tells whether an expression has what a response is written to somewhere in it.
func (p closingPlace) wraps(x ast.Expr, depth int) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && !found {
			found = p.writesAnswer(e, depth)
		}
		return !found
	})
	return found
}

// wrapsAnswer tells whether a struct of the sources has a ResponseWriter in it.
func wrapsAnswer(c *code, of string) (found bool) {
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.Name == lastName(of) {
				t, ok := spec.Type.(*ast.StructType)
				found = found || ok && slices.ContainsFunc(t.Fields.List, func(f *ast.Field) bool { return strings.HasSuffix(baseType(f.Type), "ResponseWriter") })
			}
			return !found
		})
	})
	return found
}

// maxCallers is how far callers are followed to where a server is started.
const maxCallers = 3

// whileServing tells whether a call is made where a server is set up or started: in main, in a
// function that serves, or in one that such a function calls; not behind a wait, such as for a
// signal, and not where the server is shut down.
func (p closingPlace) whileServing(at ast.Node, depth int) bool {
	body := p.fn.Body
	for i, n := range p.around {
		if f, ok := n.(*ast.FuncLit); ok {
			if call, ok := p.around[max(0, i-1)].(*ast.CallExpr); !ok || call.Fun != f {
				return false // called by others, when they want
			}
			body = f.Body
		}
	}
	starts := false
	for n := range ownNodes(body) {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := calledName(n)
			if name == "Shutdown" || name == "Wait" && n.Pos() < at.Pos() {
				return false
			}
			starts = starts || strings.HasPrefix(name, "ListenAndServe") || strings.HasPrefix(name, "Serve")
		case *ast.SelectStmt, *ast.UnaryExpr:
			if u, ok := n.(*ast.UnaryExpr); n.Pos() < at.Pos() && (!ok || u.Op == token.ARROW) {
				return false
			}
		}
	}
	if name := p.fn.Name.Name; starts || name == "main" || name == "init" {
		return true
	}
	return depth < maxCallers && slices.ContainsFunc(callsNamed(p.c, p.fn.Name.Name), func(from callFrom) bool {
		return from.in.FuncDecl != p.fn && closingPlace{p.c, from.in.FuncDecl, from.around}.whileServing(from.call, depth+1)
	})
}

// ownNodes are the nodes of a body, without those of function literals in it.
func ownNodes(body *ast.BlockStmt) func(yield func(ast.Node) bool) {
	return func(yield func(ast.Node) bool) {
		more := true
		ast.Inspect(body, func(n ast.Node) bool {
			if _, inner := n.(*ast.FuncLit); n == nil || inner || !more {
				return false
			}
			more = yield(n)
			return more
		})
	}
}

// tellClosings adds what the source does to a finding about connections that the server closes
// after its responses.
func tellClosings(f *Finding, c connSources) {
	all := c.closings()
	if len(all) == 0 {
		return
	}
	x := all[0]
	for i := range min(2, len(all)) {
		f.Evidence = append(f.Evidence, all[i].at)
	}
	place := fmt.Sprintf("%s:%d", baseName(x.at.File), x.at.Line)
	if n := len(all) - 1; n > 0 {
		place += ", and at " + unit.Plural(int64(n), "other place")
	}
	f.Summary += fmt.Sprintf("; a line of the source %s, if it is reached (%s)", x.does, place)
	f.Advice = fmt.Sprintf("If these responses go through %s:%d, remove that line, unless the client must not use the connection again. Otherwise: ", baseName(x.at.File), x.at.Line) + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
}

// idleTimeouts are the lines that set for how long a server keeps an idle connection: IdleTimeout,
// and without one ReadTimeout.
func (c connSources) idleTimeouts() (all []idleTimeout) {
	for _, field := range []string{"IdleTimeout", "ReadTimeout"} {
		c.eachSource(func(file string, s *syntax) {
			eachNode(s.file, func(n ast.Node, around []ast.Node) {
				var value ast.Expr
				switch n := n.(type) {
				case *ast.KeyValueExpr:
					lit := literalAround(around)
					if lit != nil && isNamed(n.Key, field) && (strings.HasSuffix(types.ExprString(lit), ".Server") || strings.HasSuffix(types.ExprString(lit), "fiber.Config")) {
						value = n.Value
					}
				case *ast.AssignStmt:
					if f, ok := n.Lhs[0].(*ast.SelectorExpr); ok && f.Sel.Name == field && len(n.Lhs) == 1 && importedAs(s.file, "net/http") != "" {
						value = n.Rhs[0]
					}
				}
				if value != nil {
					line, _ := s.lines(n)
					all = append(all, idleTimeout{c.shownAt(file, line, "%s is set here", field), field, durationOf(value)})
				}
			})
		})
		if len(all) > 0 {
			return all
		}
	}
	return nil
}

// idleTimeout is such a line; after is 0 where the source does not tell.
type idleTimeout struct {
	at    Evidence
	field string
	after time.Duration
}

// units are the constants of package time.
var timeUnits = map[string]time.Duration{"Nanosecond": 1, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}

// durationOf is the duration that an expression of numbers and units stands for; 0 of any other.
func durationOf(x ast.Expr) time.Duration {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return durationOf(x.X)
	case *ast.SelectorExpr:
		if isNamed(x.X, "time") {
			return timeUnits[x.Sel.Name]
		}
	case *ast.BinaryExpr:
		for _, pair := range [][2]ast.Expr{{x.X, x.Y}, {x.Y, x.X}} {
			if n, known := numberOf(pair[0]); known && x.Op == token.MUL {
				return time.Duration(n) * durationOf(pair[1])
			}
		}
	}
	return 0
}

// tellIdle adds what the source sets to a finding about connections that the server closes when
// they have been idle for a time. A timeout that is longer than that is not the one.
func tellIdle(f *Finding, c connSources, idle time.Duration) {
	f.Advice = "Let the server keep idle connections for longer than its clients pause between requests: an IdleTimeout of about a minute (without one, ReadTimeout counts). A proxy in front has a timeout of its own."
	f.Doubts = append(f.Doubts, "it depends on how long clients pause: those that send again sooner than that keep their connections")
	fitting := slices.DeleteFunc(c.idleTimeouts(), func(x idleTimeout) bool { return x.after > idle+idle/2 })
	if len(fitting) == 0 {
		return
	}
	x := fitting[0]
	f.Evidence = append(f.Evidence, x.at)
	which := "if that is the server in question, "
	if len(fitting) == 1 && x.after > 0 {
		which = ""
	}
	f.Advice = fmt.Sprintf("%s is set at %s:%d: %s", x.field, baseName(x.at.File), x.at.Line, which) + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
}
