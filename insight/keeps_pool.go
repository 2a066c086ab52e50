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

// Buffers that grow for one large item and go back to a pool or a free list, which keeps them
// at the largest size they ever had.

// growers are what makes a buffer larger that was there before.
var growers = []string{"bytes.growSlice", "bytes.(*Buffer).grow", "runtime.growslice", "slices.Grow", "bytes.(*Buffer).Grow"}

// growsBuffer tells of a stack of an allocation, the leaf first, that a buffer grows in it.
func growsBuffer(frames []stack.Frame) bool {
	for _, f := range frames {
		if slices.ContainsFunc(growers, func(g string) bool { return f.Func == g || strings.HasPrefix(f.Func, g+"[") }) {
			return true
		}
		if stack.Package(f.Func) != "runtime" && stack.Package(f.Func) != "bytes" {
			return false
		}
	}
	return false
}

// giving are beginnings of the names of functions that give something back.
var giving = []string{"put", "release", "free", "recycle", "return", "giveback"}

// maxPoolUp is how many functions up the buffer is looked for that a line lets grow.
const maxPoolUp = 4

// putBack is where a buffer goes back to a pool that a line lets grow: at shows[0], by a call
// at the last of them, and whether it is asked for its size before.
type putBack struct {
	shows []Evidence
	test  sizeTest
	in    string // the file of the test
}

// byFreeList finds where a buffer is given back that one of the frames' lines lets grow: to a
// sync.Pool, a channel or a slice, without asking how large it is.
func (c sourceHolders) byFreeList(own []stack.Frame) (h holding, ok bool) {
	for _, g := range putBackAt(c, own) {
		if g.test.asks && g.test.only == "" {
			continue // large ones are dropped
		}
		h.shows = g.shows
		put := h.shows[0]
		if g.test.only != "" {
			h.unless = c.shownAt(g.in, g.test.at, "large ones are left out here, but only where %s holds", g.test.only)
			h.advice = fmt.Sprintf("The source has a limit at %s:%d, but only under a condition: let it apply always. ", baseName(h.unless.File), h.unless.Line)
		}
		h.advice += fmt.Sprintf("Do not put back a buffer that has become larger than usual: before %s:%d return without it if its capacity (cap(b), b.Cap()) is above a limit, a few times the usual size, and let the collector take it. "+
			"Or use another pool, or none, for large items. Otherwise each buffer of the pool keeps the largest size it ever had.", baseName(put.File), put.Line)
		return h, true
	}
	return h, false
}

// putBackAt are the places at which a buffer is given back that one of the frames' lines lets grow.
func putBackAt(c sourceHolders, own []stack.Frame) (all []putBack) {
	for _, f := range own[:min(len(own), maxPoolUp)] {
		fn, s := c.function(f), c.parse(f.File)
		if fn == nil {
			return all
		}
		grown := map[string]bool{}
		for _, call := range c.lineCalls(f) {
			for _, x := range append(slices.Clone(call.Args), receiverOf(call)) {
				if name := rootName(pointed(x)); name != "" && !libraryWriter(c.code, s, fn, name) {
					grown[name] = true
				}
			}
		}
		var around []ast.Node
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if n == nil {
				around = around[:len(around)-1]
				return true
			}
			around = append(around, n)
			call, is := n.(*ast.CallExpr)
			if !is || !gives(calledName(call)) || s.elsewhere(around, f.Line) {
				return true
			}
			if !slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return grown[rootName(pointed(a))] }) || putsBackEmpty(fn.Body, grown) {
				return true
			}
			line, _ := s.lines(call)
			g := putBack{test: c.asksSize(s, fn.Body, grown), in: f.File}
			if to, there, found := c.takenBack(call); found {
				g.shows = append(g.shows, to)
				if there.asks && (!g.test.asks || g.test.only != "") {
					g.test, g.in = there, to.File
				}
			} else if !strings.EqualFold(calledName(call), "put") {
				return true // nothing shows that it is kept
			}
			g.shows = append(g.shows, c.shownAt(f.File, line, "the buffer that grows goes back to a pool here"))
			all = append(all, g)
			return true
		})
	}
	return all
}

// libraryWriter tells of a variable of a function that it is a writer or an encoder of a library, such as a *gzip.Writer: what grows is what that was told to
// write to.
func libraryWriter(c *code, s *syntax, fn *ast.FuncDecl, name string) bool {
	of := typeNamed(c, fn, name)
	pkg, typ, found := strings.Cut(of, ".")
	if !found {
		return false
	}
	for _, spec := range s.file.Imports {
		to := strings.Trim(spec.Path.Value, "`\"")
		if importedAs(s.file, to) != pkg {
			continue
		}
		first, _, _ := strings.Cut(to, "/")
		return to != "bytes" && to != "strings" && !ownPackage(c, to) && (!strings.Contains(first, ".") || typ == "Writer")
	}
	return false
}

// ownPackage tells of a package that its sources are in the recording.
func ownPackage(c *code, path string) bool {
	module := c.session.Manifest().Target.Module
	return module != "" && (path == module || strings.HasPrefix(path, module+"/"))
}

// typeNamed is the type of a variable of a function as the source has it, "gzip.Writer" of a pointer to one too: where it is declared, or by what is
// assigned to it. It is empty where the source does not tell.
func typeNamed(c *code, fn *ast.FuncDecl, name string) (of string) {
	note := func(x ast.Expr) {
		if star, ok := x.(*ast.StarExpr); ok {
			x = star.X
		}
		if x != nil && of == "" {
			of = types.ExprString(x)
		}
	}
	fields := func(list *ast.FieldList) {
		if list == nil {
			return
		}
		for _, f := range list.List {
			if slices.ContainsFunc(f.Names, func(id *ast.Ident) bool { return id.Name == name }) {
				note(f.Type)
			}
		}
	}
	given := func(x ast.Expr) {
		switch x := unrefer(x).(type) {
		case *ast.TypeAssertExpr:
			note(x.Type)
		case *ast.CompositeLit:
			note(x.Type)
		case *ast.CallExpr:
			if isNamed(x.Fun, "new") && len(x.Args) == 1 {
				note(x.Args[0])
			} else if sel, ok := x.Fun.(*ast.SelectorExpr); ok && isIdent(sel.X) && strings.HasPrefix(sel.Sel.Name, "New") {
				kind := strings.TrimPrefix(sel.Sel.Name, "New")
				note(&ast.SelectorExpr{X: sel.X, Sel: ast.NewIdent(kind)}) // gzip.NewWriter makes a *gzip.Writer
			} else if all := c.functions()[calledName(x)]; len(all) == 1 && all[0].Type.Results != nil {
				note(all[0].Type.Results.List[0].Type)
			}
		}
	}
	fields(fn.Recv)
	fields(fn.Type.Params)
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			fields(n.Type.Params)
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if id.Name != name {
					continue
				}
				if n.Type != nil {
					note(n.Type)
				} else if i < len(n.Values) {
					given(n.Values[i])
				}
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if isNamed(lhs, name) && n.Tok == token.DEFINE && (i == 0 || len(n.Lhs) == len(n.Rhs)) {
					given(n.Rhs[min(i, len(n.Rhs)-1)])
				}
			}
		}
		return true
	})
	return of
}

// putsBackEmpty tells of a function that it takes the memory out of a buffer of one of the names: *b = bytes.Buffer{},
// *b = nil. What goes back to a pool then is small.
func putsBackEmpty(body ast.Node, names map[string]bool) (empty bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) || a.Tok != token.ASSIGN {
			return !empty
		}
		for i, lhs := range a.Lhs {
			if star, ok := lhs.(*ast.StarExpr); !ok || !names[rootName(star.X)] {
				continue
			}
			lit, composite := a.Rhs[i].(*ast.CompositeLit)
			empty = empty || composite && len(lit.Elts) == 0 || isNamed(a.Rhs[i], "nil")
		}
		return !empty
	})
	return empty
}

func receiverOf(call *ast.CallExpr) ast.Expr {
	if s, ok := call.Fun.(*ast.SelectorExpr); ok {
		return s.X
	}
	return call.Fun
}

// pointed is what an expression has the address or the contents of: b of &b, *b and b[:0].
func pointed(x ast.Expr) ast.Expr {
	switch e := unrefer(x).(type) {
	case *ast.SliceExpr:
		return pointed(e.X)
	case *ast.StarExpr:
		return e.X
	default:
		return e
	}
}

func gives(name string) bool {
	return slices.ContainsFunc(giving, func(g string) bool { return strings.HasPrefix(strings.ToLower(name), g) })
}

// sizeTest is whether a function asks how large a buffer is.
type sizeTest struct {
	asks bool
	// only is what else has to hold for each of the conditions that ask, and at the line of the
	// first: limited of "if p.limited && b.Cap() > most { return }". Where it does not hold,
	// large ones go back as well.
	only string
	at   int
}

// asksSize tells whether a condition of a function asks for the capacity or the length of one of
// some variables, by itself, by a variable that has it or by a function of the program's own.
func (c sourceHolders) asksSize(s *syntax, body ast.Node, names map[string]bool) (found sizeTest) {
	ofThem := func(call *ast.CallExpr) bool { return isSize(call) && mentionsAny(call, names) }
	sizes := map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 && isIdent(a.Lhs[0]) && hasCall(a.Rhs[0], ofThem) {
			sizes[rootName(a.Lhs[0])] = true
		}
		return true
	})
	asks := func(cond ast.Node) bool {
		return mentionsAny(cond, sizes) || hasCall(cond, func(call *ast.CallExpr) bool {
			return ofThem(call) || mentionsAny(call, names) && slices.ContainsFunc(c.functions()[calledName(call)], func(d declaration) bool { return hasCall(d.Body, isSize) })
		})
	}
	note := func(cond ast.Expr, only string) {
		line, _ := s.lines(cond)
		switch {
		case !found.asks:
			found = sizeTest{asks: true, only: only, at: line}
		case only == "":
			found.only = "" // one that always asks is enough
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if asks(n.Cond) {
				only := ""
				if both, ok := n.Cond.(*ast.BinaryExpr); ok && both.Op == token.LAND && n.Else == nil && endsEarly(n.Body) {
					for _, side := range [][2]ast.Expr{{both.X, both.Y}, {both.Y, both.X}} {
						if asks(side[0]) && !asks(side[1]) && !mentionsAny(side[1], names) {
							only = types.ExprString(side[1])
						}
					}
				}
				note(n.Cond, only)
			}
		case *ast.CaseClause:
			for _, x := range n.List {
				if asks(x) {
					note(x, "")
				}
			}
		}
		return true
	})
	return found
}

// isSize tells of a call that it gives a capacity or a length.
func isSize(call *ast.CallExpr) bool {
	switch calledName(call) {
	case "cap", "Cap", "len", "Len", "Size", "Available":
		return true
	}
	return false
}

// elsewhere tells whether what some nodes are around stands in another case of a switch than a
// line does.
func (s *syntax) elsewhere(around []ast.Node, line int) bool {
	for i, n := range around {
		switch n.(type) {
		case *ast.CaseClause, *ast.CommClause:
			if i > 1 && !s.covers(n, line) && s.covers(around[i-2], line) {
				return true
			}
		}
	}
	return false
}

// takenBack finds, in the functions that a call may be of, the line at which what it is given
// goes to a sync.Pool, a channel or a slice, and whether the function asks for its size.
func (c sourceHolders) takenBack(call *ast.CallExpr) (at Evidence, asks sizeTest, found bool) {
	for _, d := range c.functions()[calledName(call)] {
		names := map[string]bool{}
		for _, field := range d.Type.Params.List {
			for _, id := range field.Names {
				names[id.Name] = true
			}
		}
		s := c.parse(d.file)
		keep := func(n ast.Node, where ast.Expr) {
			if !found {
				line, _ := s.lines(n)
				asks, found = c.asksSize(s, d.Body, names), true
				at = c.shownAt(d.file, line, "it goes into %s here%s", types.ExprString(where), map[bool]string{false: ", however large it has become"}[asks.asks])
			}
		}
		ast.Inspect(d.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SendStmt:
				if names[rootName(pointed(n.Value))] {
					keep(n, n.Chan)
				}
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Put" && len(n.Args) == 1 && names[rootName(pointed(n.Args[0]))] {
					keep(n, sel.X)
				}
			case *ast.AssignStmt:
				if len(n.Lhs) != 1 || len(n.Rhs) != 1 {
					break
				}
				add, ok := n.Rhs[0].(*ast.CallExpr)
				if ok && isNamed(add.Fun, "append") && len(add.Args) > 1 && types.ExprString(add.Args[0]) == types.ExprString(n.Lhs[0]) && names[rootName(pointed(add.Args[1]))] {
					keep(n, n.Lhs[0])
				}
			}
			return true
		})
	}
	return at, asks, found
}
