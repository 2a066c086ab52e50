package insight

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// A lock may guard one connection. What is called under it often reaches that through other objects: a codec with a reader and
// a writer, or a function without a name that has it from the one around.

// Types of what is one connection, or reads or writes one, without pointers.
var (
	bothWays = []string{"net.Conn", "net.TCPConn", "net.UnixConn", "net.UDPConn", "tls.Conn", "websocket.Conn", "bufio.ReadWriter", "textproto.Conn", "io.ReadWriter", "io.ReadWriteCloser",
		"sql.Conn", "smtp.Client", "redis.Conn", "pgx.Conn", "pgconn.PgConn", "ftp.ServerConn"}
	readsOne  = []string{"bufio.Reader", "bufio.Scanner", "json.Decoder", "gob.Decoder", "xml.Decoder", "textproto.Reader", "io.Reader", "io.ReadCloser"}
	writesOne = []string{"bufio.Writer", "json.Encoder", "gob.Encoder", "xml.Encoder", "textproto.Writer", "io.Writer", "io.WriteCloser"}
)

// streamType is a type as the lists above have it: that of a variable which a function of a library has made, too.
func streamType(of string) string {
	of = strings.TrimLeft(of, "*")
	pkg, made, ok := strings.Cut(strings.TrimSuffix(of, "()"), ".")
	if !ok || !strings.HasSuffix(of, "()") {
		return of
	}
	switch {
	case strings.HasPrefix(made, "Dial") && (pkg == "net" || pkg == "tls" || pkg == "textproto" || pkg == "smtp"):
		return map[string]string{"textproto": "textproto.Conn", "smtp": "smtp.Client"}[pkg] + map[string]string{"net": "net.Conn", "tls": "tls.Conn"}[pkg]
	case strings.HasPrefix(made, "New"):
		return pkg + "." + strings.TrimPrefix(made, "New")
	}
	return of
}

// isStream tells of a type, or of a call of a library that makes a value of one, that it is one connection, or reads or writes one.
func isStream(of string) bool {
	of = streamType(of)
	return slices.Contains(bothWays, of) || slices.Contains(readsOne, of) || slices.Contains(writesOne, of)
}

// connUse is a use of a connection in a function.
type connUse struct {
	text  string // "c.r", by the names of the function
	reads bool   // it is only read, and what has it has nothing to write there
	both  bool   // it is read and written, by what has it
}

// connectionsOn are the connections that the calls on the line of a frame are made of or given.
func connectionsOn(c *code, f stack.Frame) (all []connUse) {
	d := c.function(f)
	if d == nil {
		return nil
	}
	for _, call := range c.lineCalls(f) {
		ast.Inspect(call, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				fields, of := fieldsAround(c, d, sel)
				if use, ok := useOf(types.ExprString(sel), of, fields); ok {
					all = append(all, use)
				}
			}
			if x, ok := n.(*ast.CallExpr); ok {
				all = append(all, usedValues(c, d, x)...)
			}
			return true
		})
	}
	return all
}

// fieldsAround are the types of the fields of what an expression is a part of, and its own; of one alone where what has it is not known.
func fieldsAround(c *code, d *ast.FuncDecl, sel *ast.SelectorExpr) (fields map[string]string, of string) {
	owner := typeTextOf(c, d, sel.X)
	if owner == "" {
		return nil, fieldType(c, sel.Sel.Name)
	}
	fields = fieldsOf(c, lastName(owner))
	return fields, fields[sel.Sel.Name]
}

// typeTextOf is the type of a variable, or of a field of one, as far as the text tells.
func typeTextOf(c *code, d *ast.FuncDecl, x ast.Expr) string {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return typeNameOf(c, d, x.Name)
	case *ast.StarExpr:
		return typeTextOf(c, d, x.X)
	case *ast.SelectorExpr:
		_, of := fieldsAround(c, d, x)
		return strings.TrimLeft(of, "*")
	}
	return ""
}

// useOf judges by the type of what is used, and by what stands beside it.
func useOf(text, of string, fields map[string]string) (use connUse, ok bool) {
	of = streamType(of)
	beside := func(kinds ...[]string) bool {
		for _, t := range fields {
			if slices.Contains(slices.Concat(kinds...), streamType(t)) {
				return true
			}
		}
		return false
	}
	switch {
	case slices.Contains(bothWays, of):
		return connUse{text: text, both: true}, true
	case slices.Contains(readsOne, of):
		both := beside(writesOne, bothWays)
		return connUse{text: text, reads: fields != nil && !both, both: both}, true
	case slices.Contains(writesOne, of):
		return connUse{text: text, both: true}, beside(readsOne, bothWays)
	}
	return use, false
}

// usedValues are the uses of connections that are variables, or that a value has embedded whose method is called.
func usedValues(c *code, d *ast.FuncDecl, call *ast.CallExpr) (all []connUse) {
	given := slices.Clone(call.Args)
	if f, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		given = append(given, f.X)
		if of := lastName(typeTextOf(c, d, f.X)); of != "" && !(declaresMethod(c, of, f.Sel.Name)) {
			fields := fieldsOf(c, of)
			for name, t := range fields {
				if name != "" && name == lastName(strings.TrimLeft(t, "*")) { // embedded
					if use, ok := useOf(types.ExprString(f.X)+"."+name, t, fields); ok {
						all = append(all, use)
					}
				}
			}
		}
	}
	for _, x := range given {
		if id, ok := unrefer(x).(*ast.Ident); ok {
			if use, ok := useOf(id.Name, typeNameOf(c, d, id.Name), nil); ok {
				all = append(all, use)
			}
		}
	}
	slices.SortFunc(all, func(a, b connUse) int { return strings.Compare(a.text, b.text) })
	return all
}

// declaresMethod tells whether a type of the sources has a method, or a field, of its own of a name.
func declaresMethod(c *code, of, name string) bool {
	if _, field := fieldsOf(c, of)[name]; field {
		return true
	}
	return slices.ContainsFunc(c.functions()[name], func(d declaration) bool { return receiverType(d.FuncDecl) == of })
}

// namedAt is a value by the name that the function of a frame has for it.
type namedAt struct {
	at   int // of the stack
	text string
}

// expr is the name as an expression; nil where it is none.
func (n namedAt) expr() ast.Expr {
	x, err := parser.ParseExpr(n.text)
	if err != nil {
		return nil
	}
	return x
}

// connKept is how a connection belongs to a lock.
type connKept int

const (
	connUnknown connKept = iota
	connOne              // all who take the lock use the same one
	connSeveral          // it is one of several, by its key, and others may look up the same one
	connOfCall           // it is made, or taken out of a pool, for the call
)

// connWay follows names through a stack to the functions around.
type connWay struct {
	c      *code
	frames []stack.Frame
}

// belongs tells how a connection belongs to a lock, both by their names.
func (w connWay) belongs(conn, lock namedAt) connKept {
	for range deepest {
		if o := w.together(conn, lock); o != connUnknown {
			return o
		}
		var ok bool
		switch local, madeHere := w.resolved(conn); {
		case madeHere:
			return connOfCall
		case local.text != "":
			conn = local
		case conn.at < lock.at:
			if conn, ok = w.outward(conn); !ok {
				return connUnknown
			}
		default:
			if local, _ := w.resolved(lock); local.text != "" {
				lock = local
				continue
			}
			both := conn.at == lock.at
			if lock, ok = w.outward(lock); !ok {
				return connUnknown
			}
			if both {
				if conn, ok = w.outward(conn); !ok {
					return connUnknown
				}
			}
		}
	}
	return connUnknown
}

// together tells that of two names of one function, as far as these alone do.
func (w connWay) together(conn, lock namedAt) connKept {
	x := conn.expr()
	if x == nil {
		return connUnknown
	}
	kept := func(x ast.Expr) connKept {
		if hasAny(x, func(n ast.Node) bool { _, is := n.(*ast.IndexExpr); return is }) {
			return connSeveral
		}
		return connOne
	}
	root := rootName(x)
	d, fn := w.c.function(w.frames[conn.at]), w.c.scopeAt(w.frames[conn.at])
	if root == "" || d == nil || fn == nil {
		return connUnknown
	}
	if !declaredIn(d, root) && !fn.declares(root) {
		return kept(x) // a variable of the package
	}
	if conn.at != lock.at {
		return connUnknown
	}
	owner, _, _ := cutLast(lock.text)
	for _, of := range []string{owner, lock.text} {
		if rest, ok := strings.CutPrefix(conn.text, of+"."); ok && !strings.Contains(rest, "[") {
			return connOne
		}
	}
	y := lock.expr()
	if y == nil {
		return connUnknown
	}
	if root == rootName(y) {
		return kept(x)
	}
	captured := func(name string) bool { return !fn.declares(name) && !fn.anew(name) }
	if fn.outer != nil && captured(root) && captured(rootName(y)) {
		return kept(x)
	}
	return connUnknown
}

// resolved is the name of what a variable of a function was declared with; madeHere tells that a call has made that, or given it out.
func (w connWay) resolved(n namedAt) (of namedAt, madeHere bool) {
	d, fn := w.c.function(w.frames[n.at]), w.c.scopeAt(w.frames[n.at])
	x := n.expr()
	root := rootName(x)
	if d == nil || x == nil || root == "" || scopeOf(d).receiver == root || isParameter(d, root) || fn != nil && fn.outer != nil && !fn.declares(root) {
		return of, false
	}
	value := declaredWith(d, root)
	if value == nil {
		return of, false
	}
	rest := strings.TrimPrefix(n.text, root)
	switch value := unrefer(value).(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
		return namedAt{n.at, strings.TrimLeft(types.ExprString(value), "*") + rest}, false
	case *ast.TypeAssertExpr:
		return namedAt{n.at, types.ExprString(value.X) + rest}, false
	case *ast.CallExpr:
		if text := givenOut(w.c, d, value); text != "" {
			return namedAt{n.at, text + rest}, false
		}
		return of, true
	case *ast.CompositeLit, *ast.UnaryExpr: // a receive from a channel, too
		return of, true
	}
	return of, false
}

// declaredWith is what the only declaration of a variable in a function gives it, also beside others; nil where that is not known.
func declaredWith(d *ast.FuncDecl, name string) (value ast.Expr) {
	n := 0
	ast.Inspect(d.Body, func(node ast.Node) bool {
		if a, ok := node.(*ast.AssignStmt); ok {
			for i, lhs := range a.Lhs {
				if !isNamed(lhs, name) {
					continue
				}
				if n++; len(a.Lhs) == len(a.Rhs) {
					value = a.Rhs[i]
				} else if i == 0 {
					value = a.Rhs[0]
				}
			}
		}
		return true
	})
	if n != 1 {
		return nil
	}
	return value
}

// givenOut is how a function names what it gets by calling one that always returns the same field; empty where that is not known.
func givenOut(c *code, in *ast.FuncDecl, call *ast.CallExpr) (text string) {
	of := methodsOf(c, in, call.Fun)
	if len(of) != 1 {
		return ""
	}
	place, same := "", true
	inside(of[0].Body, func(n ast.Node) {
		r, ok := n.(*ast.ReturnStmt)
		if !ok || len(r.Results) == 0 || isNamed(r.Results[0], "nil") {
			return
		}
		x := types.ExprString(unrefer(r.Results[0]))
		same = same && isPart(unrefer(r.Results[0])) && (place == "" || place == x)
		place = x
	})
	if !same || place == "" {
		return ""
	}
	return placeFor(of[0].FuncDecl, call, place)
}

// next is the next frame of the program, from a frame outwards; -1 where there is none.
func (w connWay) next(at int) int {
	for i := at + 1; i < len(w.frames); i++ {
		if w.c.function(w.frames[i]) != nil {
			return i
		}
	}
	return -1
}

// outward is the name that a value has in the function that calls, or that is around, the one of a frame.
func (w connWay) outward(n namedAt) (out namedAt, ok bool) {
	d, fn := w.c.function(w.frames[n.at]), w.c.scopeAt(w.frames[n.at])
	x := n.expr()
	if d == nil || fn == nil || x == nil {
		return out, false
	}
	if fn.outer != nil {
		if fn.declares(rootName(x)) {
			return out, false
		}
		for i := n.at + 1; i < len(w.frames); i++ {
			if around := w.c.scopeAt(w.frames[i]); around != nil && around.outer == nil && w.c.function(w.frames[i]) == d {
				return namedAt{i, n.text}, true
			}
		}
		return out, false
	}
	i := w.next(n.at)
	if i < 0 {
		return out, false
	}
	for _, call := range w.c.lineCalls(w.frames[i]) {
		if calledName(call) == d.Name.Name {
			text := nameFor(d, call, x)
			return namedAt{i, text}, text != ""
		}
	}
	return w.byValue(i, d, x)
}

// byValue is that where a function is called by a parameter which was given a method as a value.
func (w connWay) byValue(at int, d *ast.FuncDecl, x ast.Expr) (out namedAt, ok bool) {
	by, fn, i := w.c.function(w.frames[at]), w.c.scopeAt(w.frames[at]), w.next(at)
	if by == nil || fn == nil || i < 0 {
		return out, false
	}
	for _, call := range w.c.lineCalls(w.frames[at]) {
		id, is := call.Fun.(*ast.Ident)
		if !is || fn.parameter(id.Name) < 0 {
			continue
		}
		for _, outer := range w.c.lineCalls(w.frames[i]) {
			if p := fn.parameter(id.Name); calledName(outer) == by.Name.Name && p < len(outer.Args) {
				if sel, is := outer.Args[p].(*ast.SelectorExpr); is && sel.Sel.Name == d.Name.Name {
					text := nameFor(d, &ast.CallExpr{Fun: sel}, x)
					return namedAt{i, text}, text != ""
				}
			}
		}
	}
	return out, false
}

// guardedConnection finds, nearest to the wait, a connection that is used under a lock which belongs to it: lock is its text in the function of the
// frame that holds it. One with a lock of its own below that needs none above it.
func guardedConnection(c *code, holder []stack.Frame, at int, lock string) *protected {
	if at < 0 || lock == "" {
		return nil
	}
	w, doubt := connWay{c, holder}, ""
	for i, f := range holder[:at+1] {
		d := c.function(f)
		if d == nil {
			continue
		}
		if i < at && slices.ContainsFunc(c.heldIn(f), func(h held) bool { return h.has(f.Line) && sameScope(c, f, h.from) }) {
			return nil
		}
		for _, use := range connectionsOn(c, f) {
			if i == at && hasOwnLock(c, f, use.text, lock) || setAnew(c, f, use.text) {
				continue
			}
			switch w.belongs(namedAt{i, use.text}, namedAt{at, lock}) {
			case connOne:
				return oneConnection(c, f, use, i == at)
			case connSeveral:
				return oneOfConnections(c, f, use)
			case connUnknown:
				if !use.both {
					continue
				}
				doubt = fmt.Sprintf("if several of those who wait use the same %s (%s), their requests and answers would mix without the lock: such a connection needs a lock of its own", use.text, place(f))
			}
		}
	}
	if doubt != "" {
		return &protected{doubt: doubt}
	}
	return nil
}

// sameScope tells whether a line is in the function of a frame.
func sameScope(c *code, f stack.Frame, line int) bool {
	fn := c.scopeAt(f)
	return fn != nil && c.parse(f.File).covers(fn.body, line)
}

// hasOwnLock tells of a connection, which is used at the line of a frame, that another lock than the one is held there which belongs to it alone.
func hasOwnLock(c *code, f stack.Frame, conn, lock string) bool {
	waited, _, _ := cutLast(lock)
	return slices.ContainsFunc(c.heldIn(f), func(h held) bool {
		owner, _, _ := cutLast(lockText(h))
		return h.has(f.Line) && lockText(h) != lock && len(owner) > len(waited) && strings.HasPrefix(conn, owner+".")
	})
}

// lockText is the text of what is locked: "c.mu", or "c" of an embedded lock.
func lockText(h held) string {
	return strings.TrimSuffix(strings.TrimSuffix(h.lock, ".Lock"), ".RLock")
}

// setAnew tells of a field that the function of a frame always gives it what a call makes, before the line.
func setAnew(c *code, f stack.Frame, text string) bool {
	fn, s := c.scopeAt(f), c.parse(f.File)
	return fn != nil && slices.ContainsFunc(fn.body.List, func(st ast.Stmt) bool {
		a, ok := st.(*ast.AssignStmt)
		first, _ := s.lines(st)
		return ok && first < f.Line && types.ExprString(a.Lhs[0]) == text && hasCall(a.Rhs[0], func(*ast.CallExpr) bool { return true })
	})
}

// oneConnection says that the lock guards one connection; direct tells that what has the lock has that, too.
func oneConnection(c *code, f stack.Frame, use connUse, direct bool) *protected {
	what, belongs := "connection", fmt.Sprintf("the lock guards one connection: all who hold it use %s, at %s", use.text, place(f))
	if fn := c.function(f); direct && fn != nil && scopeOf(fn).receiver != "" && scopeOf(fn).receiver == rootOfText(use.text) {
		belongs = fmt.Sprintf("the lock belongs to one connection: %s and the lock are of the same %s", use.text, scopeOf(fn).of)
	}
	p := &protected{says: belongs, evidence: []Evidence{c.shownAt(f.File, f.Line, "under the lock: uses %s", use.text)}}
	if use.reads {
		what = "stream"
		p.says = strings.Replace(belongs, "one connection", "one stream", 1)
		p.advice = fmt.Sprintf("Do not move the reading out of the lock: %s is one %s, of which each reader takes what comes next. Read more at once under the lock (a batch), or let one goroutine read and hand out what it has read by a channel.", use.text, what)
		return p
	}
	p.advice = fmt.Sprintf("Do not move the I/O out of the lock: %s is one %s, on which the requests and answers of several would mix. Open several, each with a lock of its own (a pool), if the peer accepts that; "+
		"or send several requests in one exchange (a pipeline, a batch), if its protocol has that: write them in turn under the lock, and let one goroutine read the answers and hand them to those who asked, in the same order.", use.text, what)
	p.doubt = "if the peer takes one exchange at a time, the lock is what its protocol asks for"
	return p
}

// rootOfText is the variable that a text begins with.
func rootOfText(text string) string { root, _, _ := strings.Cut(text, "."); return root }

// oneOfConnections says that what is used under the lock is one of several connections, which others may look up as well.
func oneOfConnections(c *code, f stack.Frame, use connUse) *protected {
	return &protected{lets: letsAlso,
		says:     fmt.Sprintf("what is used under the lock, %s at %s, is one of several connections, and others may look up the same one", use.text, place(f)),
		advice:   fmt.Sprintf("Do not just move the I/O out of the lock: the requests and answers of two that use the same %s would mix. Give each connection a lock of its own: look it up under this lock, unlock, and lock the connection for the exchange.", use.text),
		evidence: []Evidence{c.shownAt(f.File, f.Line, "under the lock: uses %s", use.text)}}
}
