package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What the loop of a goroutine that serves others uses from one turn to the next. It is the
// reason why one goroutine does all the work, or why more of them need more than a number.

// workerState is what a worker's loop uses that is there before its first turn.
type workerState struct {
	known   bool // the source shows the loop
	touched []touch
}

// touch is a variable of such a kind, at one place.
type touch struct {
	name string
	file string
	line int
	open bool // it is an open file, connection, buffer or alike, and used; else it is changed
	own  bool // the worker's function declares it, or the loop that starts it makes it: each goroutine has one of its own
}

// workerScan looks through the loop of a worker.
type workerScan struct {
	c     *code
	file  string
	funcs map[string][]declaration
	fn    *scope
	inner map[string]bool   // names that the loop declares
	alias map[string]string // those of them that are parts of what stands outside
	state workerState
}

// maxWorkerCalls is how far calls out of a worker's loop are followed.
const maxWorkerCalls = 2

// stateOf is what the loop uses that a stack of a worker is in: the loop furthest out, since
// the worker lives in it.
func stateOf(c *code, frames []stack.Frame) workerState {
	for _, f := range slices.Backward(frames) {
		l, ok := servingLoop(loopsAround(c, f))
		if !ok {
			continue
		}
		s := &workerScan{c: c, file: f.File, funcs: c.functions(), fn: c.scopeAt(f), inner: map[string]bool{}, alias: map[string]string{}}
		s.state.known = true
		if r, ok := l.stmt.(*ast.RangeStmt); ok {
			s.declare(r.Key, r.Value)
		}
		s.names(l.body)
		s.look(l.body)
		return s.state
	}
	return workerState{}
}

// servingLoop is the loop furthest out that receives something itself; else the one furthest
// out.
func servingLoop(loops []loop) (loop, bool) {
	if len(loops) == 0 {
		return loop{}, false
	}
	i := slices.IndexFunc(loops, loop.receives)
	return loops[max(0, i)], true
}

// receives tells whether a loop takes from a channel in each turn, outside of other loops.
func (l loop) receives() (found bool) {
	if r, ok := l.stmt.(*ast.RangeStmt); ok && r.Key != nil && r.Value == nil {
		return true
	}
	eachInTurn(l.body, func(n ast.Node) {
		if u, ok := n.(*ast.UnaryExpr); ok {
			found = found || u.Op == token.ARROW
		}
	})
	return found
}

func (s *workerScan) declare(names ...ast.Expr) {
	for _, x := range names {
		if id, ok := x.(*ast.Ident); ok {
			s.inner[id.Name] = true
		}
	}
}

// names notes what a loop's body declares, and what of that stands for a part of what it does
// not.
func (s *workerScan) names(body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				return true
			}
			s.declare(n.Lhs...)
			if id, ok := n.Lhs[0].(*ast.Ident); ok && isPart(n.Rhs[0]) && s.outer(rootName(unrefer(n.Rhs[0]))) {
				s.alias[id.Name] = rootName(unrefer(n.Rhs[0]))
			}
		case *ast.RangeStmt:
			s.declare(n.Key, n.Value)
		case *ast.ValueSpec:
			for _, id := range n.Names {
				s.inner[id.Name] = true
			}
		case *ast.FuncLit:
			for _, p := range parameters(n.Type) {
				s.inner[p] = true
			}
		}
		return true
	})
}

// isPart tells of an expression that it is an element or a field of another one.
func isPart(x ast.Expr) bool {
	switch unrefer(x).(type) {
	case *ast.IndexExpr, *ast.SelectorExpr:
		return true
	}
	return false
}

// unrefer takes the address operator off an expression.
func unrefer(x ast.Expr) ast.Expr {
	if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.AND {
		return u.X
	}
	return x
}

// outer tells whether a name is declared outside of the loop.
func (s *workerScan) outer(name string) bool { return name != "" && name != "_" && !s.inner[name] }

// look collects what the body of the loop changes, unless it locks something for that, and
// which open files and connections it uses.
func (s *workerScan) look(body *ast.BlockStmt) {
	guarded := takesLock(body)
	ast.Inspect(body, func(n ast.Node) bool {
		if !guarded {
			for _, x := range changed(n) {
				root := rootName(x)
				if _, bare := x.(*ast.Ident); s.alias[root] != "" && !bare {
					root = s.alias[root]
				}
				s.change(root, s.file, x)
			}
		}
		if call, ok := n.(*ast.CallExpr); ok {
			s.uses(call)
			if !guarded {
				s.follow(call, maxWorkerCalls)
			}
		}
		return true
	})
}

// takesLock tells whether statements take a lock.
func takesLock(body ast.Node) bool {
	return anyCall(body, func(name string) bool { return name == "Lock" || name == "RLock" })
}

// changed are the variables that a node gives a value which depends on the one before, or a
// part of which it changes.
func changed(n ast.Node) (all []ast.Expr) {
	switch n := n.(type) {
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.AssignStmt:
		for i, x := range n.Lhs {
			id, bare := x.(*ast.Ident)
			adds := n.Tok != token.ASSIGN || bare && mentions(n.Rhs[min(i, len(n.Rhs)-1)], id.Name)
			if n.Tok != token.DEFINE && (!bare || adds) {
				all = append(all, x)
			}
		}
	case *ast.CallExpr:
		if name := types.ExprString(n.Fun); (name == "delete" || name == "clear") && len(n.Args) > 0 {
			return n.Args[:1]
		}
	}
	return all
}

func (s *workerScan) change(root, file string, at ast.Node) {
	if s.outer(root) {
		s.add(touch{name: root, file: file, own: file == s.file && s.owns(root, at)}, at)
	}
}

// owns tells of a variable, or a part of one, that each goroutine has one of its own.
func (s *workerScan) owns(root string, part ast.Node) bool {
	if s.fn.declares(root) {
		return true
	}
	if root != s.fn.receiver || root == "" {
		return false
	}
	field := ""
	if x, ok := part.(ast.Expr); ok {
		if _, fields := chain(x); len(fields) > 0 {
			field = fields[0]
		}
	}
	return madeForEach(s.c, s.fn.of, s.fn.name, field)
}

// add notes each variable once.
func (s *workerScan) add(t touch, at ast.Node) {
	if slices.ContainsFunc(s.state.touched, func(x touch) bool { return x.name == t.name }) {
		return
	}
	t.line, _ = s.c.parse(t.file).lines(at)
	s.state.touched = append(s.state.touched, t)
}

// follow looks at a function of the sources that the loop calls: what it changes of its
// receiver, or of the package.
func (s *workerScan) follow(call *ast.CallExpr, depth int) {
	name := calledName(call)
	all := s.funcs[name]
	if depth == 0 || len(all) != 1 || takesLock(all[0].Body) {
		return
	}
	fn := all[0]
	in := scopeOf(fn.FuncDecl)
	sel, method := call.Fun.(*ast.SelectorExpr)
	if (fn.Recv != nil) != method || method && (len(fn.Recv.List) == 0 || !s.isOf(sel.X, strings.TrimPrefix(types.ExprString(fn.Recv.List[0].Type), "*"))) {
		return
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		for _, x := range changed(n) {
			switch root := rootName(x); {
			case root == "" || root == "_":
			case root == in.receiver:
				if _, bare := x.(*ast.Ident); !bare {
					s.change(rootName(sel.X), s.file, call)
				}
			case !in.declares(root):
				s.add(touch{name: root, file: fn.file}, x)
			}
		}
		return true
	})
}

// isOf tells of a variable or a field, by its declarations in the file, that it is of a type of
// the program: methods of others have the same names.
func (s *workerScan) isOf(x ast.Expr, typ string) (is bool) {
	name := lastName(types.ExprString(x))
	of := func(e ast.Expr) bool {
		if lit, ok := unrefer(e).(*ast.CompositeLit); ok {
			e = lit.Type
		}
		return e != nil && lastName(strings.TrimPrefix(types.ExprString(e), "*")) == typ
	}
	ast.Inspect(s.c.parse(s.file).file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			is = is || isAmong(n.Names, name) && of(n.Type)
		case *ast.AssignStmt:
			is = is || lastName(types.ExprString(n.Lhs[0])) == name && of(n.Rhs[0])
		case *ast.ValueSpec:
			is = is || n.Names[0].Name == name && (n.Type != nil && of(n.Type) || len(n.Values) > 0 && of(n.Values[0]))
		}
		return !is
	})
	return is
}

// openTypes are types, and the beginnings of the names of functions that make them, of what is
// open: it has a place in a file or a stream, which whoever uses it moves on.
var (
	openTypes = []string{"*os.File", "net.Conn", "*net.TCPConn", "*net.UnixConn", "*net.UDPConn", "*tls.Conn", "*websocket.Conn", "*sql.Tx", "*sql.Conn", "*bufio.Writer", "*bufio.Reader", "*bufio.ReadWriter", "*bufio.Scanner",
		"io.Writer", "io.WriteCloser", "io.ReadWriter", "io.ReadWriteCloser", "*csv.Writer", "*json.Encoder", "*json.Decoder", "*gob.Encoder", "*gob.Decoder", "*gzip.Writer", "*bytes.Buffer", "*strings.Builder"}
	openMakers = []string{"os.Create", "os.Open", "net.Dial", "tls.Dial", "bufio.New", "csv.NewWriter", "json.NewEncoder", "json.NewDecoder", "gob.New", "gzip.NewWriter"}
)

// uses notes what a call is given, or called on, that is open since before the loop.
func (s *workerScan) uses(call *ast.CallExpr) {
	all := slices.Clone(call.Args)
	if f, ok := call.Fun.(*ast.SelectorExpr); ok {
		all = append(all, f.X)
	}
	for _, x := range all {
		root := rootName(x)
		if !s.outer(root) || !s.isOpen(x) {
			continue
		}
		s.add(touch{name: types.ExprString(x), file: s.file, open: true, own: s.owns(root, x)}, call)
	}
}

// isOpen tells of a variable or a field, by its declaration, that it is of such a type.
func (s *workerScan) isOpen(x ast.Expr) (open bool) {
	name := lastName(types.ExprString(x))
	_, field := x.(*ast.SelectorExpr)
	p := s.c.parse(s.file)
	ast.Inspect(p.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			open = open || isAmong(n.Names, name) && isOpenType(n.Type)
		case *ast.AssignStmt:
			if len(n.Lhs) > 0 && (isNamed(n.Lhs[0], name) || field && lastName(types.ExprString(n.Lhs[0])) == name) {
				open = open || s.makesOpen(n.Rhs[0])
			}
		case *ast.ValueSpec:
			if n.Names[0].Name == name {
				open = open || n.Type != nil && isOpenType(n.Type) || len(n.Values) > 0 && s.makesOpen(n.Values[0])
			}
		}
		return !open
	})
	return open
}

func isOpenType(x ast.Expr) bool { return slices.Contains(openTypes, types.ExprString(x)) }

// makesOpen tells of a call that its first result is open: by its name, or by the type that a
// function of the sources has.
func (s *workerScan) makesOpen(x ast.Expr) (open bool) {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	name := types.ExprString(call.Fun)
	if slices.ContainsFunc(openMakers, func(p string) bool { return strings.HasPrefix(name, p) }) {
		return true
	}
	gives := func(f *ast.FuncType) bool {
		return f.Results != nil && len(f.Results.List) > 0 && isOpenType(f.Results.List[0].Type)
	}
	for _, d := range s.funcs[lastName(name)] {
		open = open || gives(d.Type)
	}
	ast.Inspect(s.c.parse(s.file).file, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && isNamed(a.Lhs[0], name) {
			f, is := a.Rhs[0].(*ast.FuncLit)
			open = open || is && gives(f.Type)
		}
		return !open
	})
	return open
}
