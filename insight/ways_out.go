package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// The compiler names the first way of a value to the heap and no other. The source says which
// others there are, so that nobody is told that the value stays on the stack once the first one
// is closed.

// wayOut is a way by which a value may outlive its function.
type wayOut struct {
	how  string // "sent on the channel l.queue"
	file string
	line int
	// sure tells that it outlives the function on this way; else a callee decides.
	sure bool
	// to is the channel that it is sent on, empty for other ways.
	to string
}

// at names the line of the way.
func (w wayOut) at() string { return fmt.Sprintf("%s at %s:%d", w.how, baseName(w.file), w.line) }

// leavings looks for ways out in the source.
type leavings struct {
	c     *code
	funcs map[string][]declaration
	// passes tells of a call that it is known already, and not asked for.
	passes func(*ast.CallExpr) bool
	ways   []wayOut
	seen   map[*ast.FuncDecl]bool
	depth  int
	// from is the statement that makes the value, scope the block of its variable; nil in a
	// function that is called with it.
	from, scope ast.Node
}

// waysOut finds by which ways the variable that a line assigns to outlives its function, other
// than by the calls that pass. It is unknown without the source, and where the line assigns no
// variable.
func waysOut(c *code, at stack.Frame, passes func(*ast.CallExpr) bool) (ways []wayOut, known bool) {
	fn := c.function(at)
	s := c.parse(at.File)
	if fn == nil {
		return nil, false
	}
	l := &leavings{c: c, funcs: c.functions(), passes: passes, seen: map[*ast.FuncDecl]bool{}, scope: fn.Body}
	names := map[string]bool{}
	s.onLine(at.Line, func(n ast.Node, around []ast.Node) {
		if first, _ := s.lines(n); first != at.Line {
			return
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			if id, ok := n.Lhs[0].(*ast.Ident); ok && len(n.Rhs) == 1 && id.Name != "_" {
				names[id.Name], l.from = true, n
				if n.Tok == token.DEFINE {
					l.scope = blockOf(around)
				}
			}
		case *ast.ValueSpec:
			if len(n.Names) > 0 {
				names[n.Names[0].Name], l.from = true, n
				l.scope = blockOf(around)
			}
		}
	})
	if len(names) == 0 || l.scope == nil {
		return nil, false
	}
	l.body(declaration{fn, at.File}, names)
	return l.ways, true
}

// blockOf is the innermost block of statements around a node; nil outside of functions.
func blockOf(around []ast.Node) ast.Node {
	for _, n := range slices.Backward(around) {
		switch n.(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause, *ast.IfStmt, *ast.ForStmt:
			return n
		}
	}
	return nil
}

// body looks at every use of some variables in a function, in the order of its lines; it tells
// whether the function returns one.
func (l *leavings) body(fn declaration, names map[string]bool) (returned bool) {
	if l.seen[fn.FuncDecl] || l.depth > maxKeepDepth {
		return false
	}
	l.seen[fn.FuncDecl] = true
	l.depth++
	defer func() { l.depth-- }()
	var scope ast.Node = fn.Body
	if l.depth == 1 && l.scope != nil {
		scope = l.scope
	}
	eachNode(scope, func(n ast.Node, around []ast.Node) {
		if id, ok := n.(*ast.Ident); ok && names[id.Name] && !isSelected(id, around) && !slices.Contains(around, l.from) {
			returned = l.use(fn, id, around, names) || returned
		}
	})
	return returned
}

// isSelected tells whether an identifier is the name of a field and no variable.
func isSelected(id *ast.Ident, around []ast.Node) bool {
	if len(around) == 0 {
		return false
	}
	switch n := around[len(around)-1].(type) {
	case *ast.SelectorExpr:
		return n.Sel == id
	case *ast.KeyValueExpr:
		return n.Key == id
	}
	return false
}

// use follows one use of a variable outward to what becomes of the value, and tells whether it
// is returned.
func (l *leavings) use(fn declaration, id *ast.Ident, around []ast.Node, names map[string]bool) (returned bool) {
	for i, n := range around {
		if f, ok := n.(*ast.FuncLit); ok {
			l.captured(fn, f, around[:i])
		}
	}
	var value ast.Node = id
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.ParenExpr, *ast.UnaryExpr, *ast.TypeAssertExpr, *ast.CompositeLit:
		case *ast.SliceExpr:
			if n.X != value {
				return false // a bound
			}
		case *ast.KeyValueExpr:
			if n.Value != value {
				return false
			}
		case *ast.CallExpr:
			if l.call(fn, n, value, around[:i]) == ended {
				return false
			}
		case *ast.SendStmt:
			if n.Value == value {
				l.addTo(types.ExprString(n.Chan), fn.file, n.Pos())
			}
			return false
		case *ast.ReturnStmt:
			if l.depth == 1 {
				l.add(true, fn.file, n.Pos(), "returned")
			}
			return true
		case *ast.AssignStmt:
			l.assigned(fn, n, value, names)
			return false
		case *ast.ValueSpec:
			if slices.ContainsFunc(n.Values, func(x ast.Expr) bool { return x == value }) {
				names[n.Names[0].Name] = true
			}
			return false
		default:
			return false // it is read: an element, a comparison, a loop
		}
		value = around[i]
	}
	return false
}

// captured notes that a function literal holds the variable: where that is called at once, or
// deferred, it lives no longer.
func (l *leavings) captured(fn declaration, f *ast.FuncLit, around []ast.Node) {
	if l.from != nil && f.Pos() <= l.from.Pos() && l.from.Pos() < f.End() || len(around) == 0 {
		return // it is the literal's own variable
	}
	call, called := around[len(around)-1].(*ast.CallExpr)
	called = called && call.Fun == f
	if len(around) > 1 {
		if _, ok := around[len(around)-2].(*ast.GoStmt); ok {
			l.add(true, fn.file, f.Pos(), "captured by the closure of a go statement")
			return
		}
	}
	if !called {
		l.add(false, fn.file, f.Pos(), "captured by a closure")
	}
}

// assigned notes where a value is stored, and which variables have it.
func (l *leavings) assigned(fn declaration, n *ast.AssignStmt, value ast.Node, names map[string]bool) {
	at := slices.IndexFunc(n.Rhs, func(x ast.Expr) bool { return x == value })
	if at < 0 {
		return // assigned to it, or an element of it
	}
	switch to := n.Lhs[min(at, len(n.Lhs)-1)].(type) {
	case *ast.Ident:
		if to.Name == "_" {
			return
		}
		if n.Tok != token.DEFINE && !declaredIn(fn.FuncDecl, to.Name) {
			l.add(true, fn.file, n.Pos(), "stored in %s", to.Name)
			return
		}
		names[to.Name] = true
	case *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
		root := rootName(to)
		if declaredIn(fn.FuncDecl, root) && !isParameter(fn.FuncDecl, root) {
			names[root] = true // a variable of the function has it, as long as it lives
			l.add(false, fn.file, n.Pos(), "stored in %s", types.ExprString(to))
			return
		}
		l.add(true, fn.file, n.Pos(), "stored in %s", types.ExprString(to))
	}
}

// What becomes of a value that is passed to a call.
type fate int

const (
	ended      fate = iota // all is said about it
	handedBack             // the call returns it, or a part of it
)

// call says what becomes of a value that is an argument of a call, or what is called.
func (l *leavings) call(fn declaration, n *ast.CallExpr, value ast.Node, around []ast.Node) fate {
	arg := slices.IndexFunc(n.Args, func(x ast.Expr) bool { return x == value })
	if len(around) > 0 {
		if _, ok := around[len(around)-1].(*ast.GoStmt); ok && arg >= 0 {
			l.add(true, fn.file, n.Pos(), "passed to a go statement")
			return ended
		}
	}
	if arg < 0 || l.passes(n) {
		return ended
	}
	name := types.ExprString(n.Fun)
	switch {
	case name == "append" && arg == 0:
		return handedBack
	case name == "append" && n.Ellipsis.IsValid(), harmless(name), copies(n):
		return ended
	case name == "append":
		return l.appended(fn, n)
	}
	if f, ok := n.Fun.(*ast.SelectorExpr); ok && cuts(f) {
		return handedBack
	}
	if all := l.funcs[lastName(name)]; len(all) == 1 && !n.Ellipsis.IsValid() {
		params := parameters(all[0].Type)
		if arg < len(params) {
			deeper := &leavings{c: l.c, funcs: l.funcs, passes: l.passes, seen: l.seen, depth: l.depth}
			returned := deeper.body(all[0], map[string]bool{params[arg]: true})
			for _, w := range deeper.ways {
				w.how = "passed to " + name + ", where it is " + w.how
				l.ways = append(l.ways, w)
			}
			if returned {
				return handedBack
			}
			return ended
		}
	}
	l.add(false, fn.file, n.Pos(), "passed to %s", name)
	return ended
}

// appended notes that a value is an element of a slice now.
func (l *leavings) appended(fn declaration, n *ast.CallExpr) fate {
	to := n.Args[0]
	_, local := to.(*ast.Ident)
	l.add(!local || !declaredIn(fn.FuncDecl, rootName(to)), fn.file, n.Pos(), "appended to %s", types.ExprString(to))
	return handedBack
}

// harmless tells of a function, by its name, that it keeps nothing of a slice of bytes.
func harmless(name string) bool {
	switch name {
	case "len", "cap", "copy", "clear", "print", "println", "min", "max", "string", "panic":
		return true
	}
	pkg, _, _ := strings.Cut(name, ".")
	switch pkg {
	case "binary", "utf8", "hex", "base64", "crc32", "crc64", "adler32", "sha1", "sha256", "sha512", "md5", "subtle", "strconv", "unicode", "xxhash":
		return true
	case "bytes", "strings":
		verb := lastName(name)
		return slices.ContainsFunc([]string{"Index", "LastIndex", "Contains", "Has", "Equal", "Compare", "Count"}, func(p string) bool { return strings.HasPrefix(verb, p) })
	}
	return false
}

// declaredIn tells whether a function declares a variable of a name, its parameters among them.
func declaredIn(fn *ast.FuncDecl, name string) (found bool) {
	if isParameter(fn, name) || declares(fn.Body, name) {
		return true
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.RangeStmt); ok && r.Tok == token.DEFINE {
			for _, x := range []ast.Expr{r.Key, r.Value} {
				id, ok := x.(*ast.Ident)
				found = found || ok && id.Name == name
			}
		}
		return !found
	})
	return found
}

func (l *leavings) add(sure bool, file string, at token.Pos, format string, args ...any) {
	w := wayOut{how: fmt.Sprintf(format, args...), file: file, line: l.c.parse(file).fset.PositionFor(at, false).Line, sure: sure}
	if !slices.Contains(l.ways, w) {
		l.ways = append(l.ways, w)
	}
}

// addTo notes that a value is sent on a channel.
func (l *leavings) addTo(channel, file string, at token.Pos) {
	l.add(true, file, at, "sent on the channel %s", channel)
	l.ways[len(l.ways)-1].to = channel
}
