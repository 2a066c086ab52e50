package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Whether calls leave anything behind that a later one goes through. What is gone through is asked for in a wide sense, and what is left behind as well: only
// where nothing is both, by sources that show all of it, the calls become longer for another reason.

// carriedOver is what one turn of the loop around a call goes through, and what it changes.
type carriedOver struct {
	d       *derivations
	site    *ast.FuncDecl // the function of the call
	part    ast.Node      // the loop around it, or the body
	decls   []*ast.FuncDecl
	through map[types.Object]bool
	changed map[types.Object]bool
	unknown bool
}

// goesThroughLeft tells of a function that is called on the line of a site whether the source shows something that calls, or what is done between them, change and
// that a later one goes through; known is false where the source does not show all that there may be.
func goesThroughLeft(c *code, decl, site stack.Frame) (left, known bool) {
	fn := c.function(decl)
	d := derivationsOf(c)
	in, ok := d.at(site)
	if fn == nil || !ok || in.lit != nil || in.decl == nil || in.decl.Body == nil {
		return false, false
	}
	called := typedDecl(d, declaration{fn, decl.File})
	if called == nil || called.Body == nil {
		return false, false
	}
	x := &carriedOver{d: d, site: in.decl, part: in.decl.Body, through: map[types.Object]bool{}, changed: map[types.Object]bool{}}
	for _, n := range slices.Backward(nodesOfLoops(d, in.decl.Body, site.Line)) {
		x.part = n // the outermost
	}
	reached := d.reached(in.decl, x.part)
	if _, ok := reached[called]; !ok {
		return false, false
	}
	for f := range reached {
		x.decls = append(x.decls, f)
	}
	x.look(in.decl, x.part)
	for _, f := range x.decls {
		if f.Body == nil || f == in.decl {
			return false, false // it is called again by what it calls
		}
		x.look(f, f.Body)
		if _, again := d.reached(f, f.Body)[f]; again {
			x.all(f.Body, x.through)
		}
	}
	x.follow(x.through, true)
	x.follow(x.changed, false)
	for v := range x.changed {
		if x.through[v] {
			return true, true
		}
	}
	return false, !x.unknown
}

// nodesOfLoops are the loops of a body around a line, the outermost first.
func nodesOfLoops(d *derivations, body ast.Node, line int) (all []ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		if n != nil && bodyOfLoop(n) != nil && coversLine(d, n, line) {
			all = append(all, n)
		}
		return true
	})
	return all
}

// all adds the variables and fields that a node names.
func (x *carriedOver) all(n ast.Node, to map[types.Object]bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if v := x.d.variable(n); v != nil {
				to[v] = true
			}
		case *ast.SelectorExpr:
			if v := x.d.field(n); v != nil {
				to[v] = true
			}
		}
		return true
	})
}

// stays tells of a variable that it is there in the next turn as well.
func (x *carriedOver) stays(decl *ast.FuncDecl, v types.Object) bool {
	if f, ok := v.(*types.Var); ok && f.IsField() || !isLocal(decl, v) || isGiven(decl, v) {
		return true
	}
	if decl != x.site {
		return false
	}
	inside := x.part.Pos() <= v.Pos() && v.Pos() < bodyStart(x.part)
	return inside || v.Pos() < x.part.Pos() || x.part.End() <= v.Pos()
}

// bodyStart is where what a loop repeats begins.
func bodyStart(n ast.Node) token.Pos {
	if body := bodyOfLoop(n); body != nil {
		return body.Pos()
	}
	return n.Pos()
}

// changes notes what a place that is written to is.
func (x *carriedOver) changes(decl *ast.FuncDecl, place ast.Expr) {
	place = elementsOf(place)
	if v := placeObject(x.d, place); v != nil {
		if x.stays(decl, v) {
			x.changed[v] = true
		}
		return
	}
	if !isNamed(place, "_") {
		x.unknown = true
	}
}

// look goes through a part of a function.
func (x *carriedOver) look(decl *ast.FuncDecl, part ast.Node) {
	ast.Inspect(part, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			x.all(n.X, x.through)
			if n == x.part && n.Key != nil && n.Tok == token.DEFINE && !isNamed(n.Key, "_") { // a number that becomes larger
				if v := x.d.variable(n.Key); v != nil && isCount(v.Type()) {
					x.changed[v] = true
				}
			}
		case *ast.ForStmt:
			for _, s := range []ast.Node{n.Init, n.Post} {
				if s != nil {
					x.all(s, x.through)
				}
			}
			if n.Cond != nil {
				x.all(n.Cond, x.through)
			}
		case *ast.GoStmt, *ast.SendStmt, *ast.SelectStmt:
			x.unknown = true
		case *ast.UnaryExpr:
			x.unknown = x.unknown || n.Op == token.ARROW
		case *ast.AssignStmt:
			if t := x.d.t.info.TypeOf(n.Lhs[0]); n.Tok == token.ADD_ASSIGN && (t == nil || !isCount(t)) {
				x.all(n, x.through) // a text is copied
			}
		case *ast.BinaryExpr:
			if t := x.d.t.info.TypeOf(n); n.Op == token.ADD && (t == nil || isTextType(t)) {
				x.all(n, x.through)
			}
		case *ast.CallExpr:
			x.call(decl, n)
		}
		if call, ok := n.(*ast.CallExpr); ok && slices.Contains(readOutside, types.ExprString(call.Fun)) {
			return true // by a name
		}
		for _, lhs := range changedBy(n) {
			x.changes(decl, lhs)
		}
		return true
	})
}

// isTextType tells of a type that its values are texts.
func isTextType(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// ofGivenAlone are packages whose functions change nothing but what they are given, and readOutside are functions that read what is outside the program.
var (
	ofGivenAlone = []string{"fmt", "strings", "bytes", "sort", "slices", "maps", "cmp", "encoding", "errors", "time", "math", "strconv", "unicode", "path", "regexp", "bufio", "hash", "crypto", "container", "context", "sync", "log", "io"}
	readOutside  = []string{"os.ReadFile", "os.Open", "os.Stat", "os.Lstat", "os.ReadDir"}
)

// call looks at a call: what a library is given is gone through, and what it is given by its address, or is called on, may be changed.
func (x *carriedOver) call(decl *ast.FuncDecl, call *ast.CallExpr) {
	tv := x.d.t.info.Types[call.Fun]
	switch {
	case tv.IsType():
		x.all(call, x.through)
		return
	case tv.IsBuiltin() || isNamed(call.Fun, "append") || isNamed(call.Fun, "len"):
		if name := calledName(call); name == "copy" || name == "append" && call.Ellipsis.IsValid() {
			for _, arg := range call.Args[1:] {
				x.all(arg, x.through)
			}
		}
		return
	case len(calledDecls(x.d, call)) > 0, onlyLocks(call), calledName(call) == "Error" && len(call.Args) == 0:
		return
	}
	pkg := x.d.t.fromPackage(call.Fun)
	receiver := receiverOf(call)
	if pkg == "" && receiver != nil {
		pkg = libraryTypeOf(x.d, receiver, 0).pkg
		x.all(receiver, x.through)
		x.changes(decl, receiver)
	}
	first, _, _ := strings.Cut(pkg, "/")
	if pkg == "" || !slices.Contains(ofGivenAlone, first) && !slices.Contains(readOutside, types.ExprString(call.Fun)) {
		x.unknown = true
		return
	}
	for _, arg := range call.Args {
		x.all(arg, x.through)
		if address, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && address.Op == token.AND {
			x.changes(decl, address.X)
		}
	}
}

// follow adds what variables are made of, with what loops go through for them where elements are asked for, and what functions are given for their parameters.
func (x *carriedOver) follow(of map[types.Object]bool, elements bool) {
	for range 8 {
		before := len(of)
		for _, decl := range append([]*ast.FuncDecl{x.site}, x.decls...) {
			for v, all := range x.d.definitions(decl) {
				if !of[v] || decl == x.site && !(x.part.Pos() <= v.Pos() && v.Pos() < x.part.End()) {
					continue
				}
				for _, def := range all {
					if def.x != nil && (elements || !def.ranged) && !(def.part && isGiven(decl, v)) {
						x.all(def.x, of)
					}
				}
			}
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				for _, callee := range calledDecls(x.d, call) {
					for i, arg := range call.Args {
						if v := parameterAt(x.d, callee, i); v != nil && of[v] {
							x.all(arg, of)
						}
					}
					if v := receiverVariable(x.d, callee); v != nil && of[v] && receiverOf(call) != nil {
						x.all(receiverOf(call), of)
					}
				}
				return true
			})
		}
		if len(of) == before {
			return
		}
	}
}
