package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// How the source keeps what a line allocates. A store is a place that a value goes to and
// that outlives the function: a map, a slice or a field of something else, a channel.

// keepsAt is one place in the source that keeps a value.
type keepsAt struct {
	kind      storeKind
	container string // what it goes into: "s.cache"
	file      string
	line      int
	// part tells that it is a part of what was allocated: a slice or a string of it.
	part bool
}

// storeKind is what a value goes into.
type storeKind int

const (
	intoMap storeKind = iota
	intoSlice
	intoField
	intoChannel
	intoSyncMap
)

// taint is how a variable has to do with what was allocated.
type taint int

const (
	clean taint = iota
	whole       // it is that, or has it in it
	part        // it is a piece of it, which keeps all
)

// maxKeepDepth is how far calls are followed down, and maxKeepUp how far up to callers.
const (
	maxKeepDepth = 3
	maxKeepUp    = 3
)

// keeper follows a value through the source.
type keeper struct {
	c      *code
	funcs  map[string][]declaration // by name, of all sources of the recording
	stores []keepsAt
	depth  int
	// from is the statement that allocates, made the variable that it assigns that to.
	from ast.Node
	made string
	// back are functions that are handed down, by the name of the parameter.
	back map[string]*ast.FuncLit
	seen map[*ast.FuncDecl]bool
}

// declaration is a function with its file.
type declaration struct {
	*ast.FuncDecl
	file string
}

// storesOf finds where what a line allocates goes: in its function, in what that calls with
// it, and, where it is returned, in the callers, which are the frames after the first.
func (c *code) storesOf(frames []stack.Frame) []keepsAt {
	k := &keeper{c: c, funcs: c.functions(), seen: map[*ast.FuncDecl]bool{}, back: map[string]*ast.FuncLit{}}
	for i, f := range frames[:min(len(frames), maxKeepUp)] {
		fn := c.function(f)
		if fn == nil {
			return k.stores
		}
		vars := map[string]taint{}
		returned := k.begin(f, fn, vars)
		returned = k.body(declaration{fn, f.File}, vars) >= whole || returned
		if len(k.stores) > 0 || !returned || i == len(frames)-1 {
			break
		}
	}
	return k.stores
}

// functions are all that the sources declare, by name.
func (c *code) functions() map[string][]declaration {
	all := map[string][]declaration{}
	c.eachSource(func(file string, s *syntax) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				all[f.Name.Name] = append(all[f.Name.Name], declaration{f, file})
			}
		}
	})
	return all
}

// function is the declaration that a frame is in; nil without the source.
func (c *code) function(f stack.Frame) (fn *ast.FuncDecl) {
	c.parse(f.File).onLine(f.Line, func(n ast.Node, _ []ast.Node) {
		if d, ok := n.(*ast.FuncDecl); ok && d.Body != nil {
			fn = d
		}
	})
	return fn
}

// begin taints what the line of a frame assigns, and stores what it stores itself; it
// tells whether the line returns what it allocates.
func (k *keeper) begin(f stack.Frame, fn *ast.FuncDecl, vars map[string]taint) (returned bool) {
	s := k.c.parse(f.File)
	s.onLine(f.Line, func(n ast.Node, _ []ast.Node) {
		first, _ := s.lines(n)
		switch n := n.(type) {
		case *ast.AssignStmt:
			if first != f.Line {
				return
			}
			k.from, k.made = n, ""
			for i, lhs := range n.Lhs {
				switch lhs := lhs.(type) {
				case *ast.Ident:
					if i == 0 && lhs.Name != "_" {
						k.made, vars[lhs.Name] = lhs.Name, whole
					}
				default:
					k.store(f.File, lhs, n.Rhs[min(i, len(n.Rhs)-1)], whole)
				}
			}
		case *ast.ReturnStmt:
			returned = returned || first == f.Line
		case *ast.SendStmt:
			k.add(intoChannel, f.File, n.Chan, n.Pos(), whole)
		case *ast.CallExpr:
			if first == f.Line {
				k.nested(n, f.Line, declaration{fn, f.File})
			}
		}
	})
	return returned
}

// nested follows a call on the line whose argument is a call: what that one has made.
func (k *keeper) nested(call *ast.CallExpr, line int, in declaration) {
	for i, arg := range call.Args {
		inner, ok := arg.(*ast.CallExpr)
		if first, _ := k.c.parse(in.file).lines(arg); ok && first == line && !copies(inner) {
			k.down(call, i, whole)
		}
	}
}

// body follows tainted variables through a function, in the order of its lines, and tells
// how what it returns has to do with them.
func (k *keeper) body(fn declaration, vars map[string]taint) (returned taint) {
	if k.seen[fn.FuncDecl] || k.depth > maxKeepDepth {
		return clean
	}
	k.seen[fn.FuncDecl] = true
	k.depth++
	defer func() { k.depth-- }()
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			k.assign(fn.file, n, vars)
		case *ast.RangeStmt:
			if t := k.of(n.X, vars); t > clean {
				if id, ok := n.Value.(*ast.Ident); ok {
					vars[id.Name] = max(t, vars[id.Name])
				}
			}
		case *ast.SendStmt:
			if t := k.of(n.Value, vars); t > clean {
				k.add(intoChannel, fn.file, n.Chan, n.Pos(), t)
			}
		case *ast.CallExpr:
			k.call(fn.file, n, vars)
		case *ast.ReturnStmt:
			for _, r := range n.Results {
				returned = max(returned, k.of(r, vars))
			}
		}
		return true
	})
	return returned
}

// assign taints what is assigned, and notes what is stored.
func (k *keeper) assign(file string, n *ast.AssignStmt, vars map[string]taint) {
	if n == k.from {
		if k.made != "" {
			vars[k.made] = whole // whatever was in it before
		}
		return
	}
	for i, lhs := range n.Lhs {
		rhs := n.Rhs[min(i, len(n.Rhs)-1)]
		t := k.of(rhs, vars)
		if id, ok := lhs.(*ast.Ident); ok {
			if before, known := vars[id.Name]; known || t > clean {
				if n.Tok == token.DEFINE || !known || t > before || !mentions(rhs, id.Name) {
					vars[id.Name] = t
				}
				if copied, ok := rhs.(*ast.CallExpr); ok && copies(copied) {
					// A copy on one way alone may be left out.
					vars[id.Name] = max(t, before)
				}
			}
			continue
		}
		if t > clean {
			k.store(file, lhs, rhs, t)
		}
		if x, ok := lhs.(*ast.IndexExpr); ok && k.of(x.Index, vars) > clean {
			k.add(intoMap, file, x.X, x.Pos(), k.of(x.Index, vars)) // the key of a map
		}
	}
}

// store notes an assignment to what outlives the function.
func (k *keeper) store(file string, lhs, rhs ast.Expr, t taint) {
	switch x := lhs.(type) {
	case *ast.IndexExpr:
		k.add(intoMap, file, x.X, x.Pos(), t)
	case *ast.SelectorExpr:
		if call, ok := rhs.(*ast.CallExpr); ok && types.ExprString(call.Fun) == "append" {
			k.add(intoSlice, file, x, x.Pos(), t)
			return
		}
		k.add(intoField, file, x, x.Pos(), t)
	}
}

func (k *keeper) add(kind storeKind, file string, container ast.Expr, at token.Pos, t taint) {
	s := keepsAt{kind: kind, container: types.ExprString(container), file: file, line: k.c.parse(file).fset.PositionFor(at, false).Line, part: t == part}
	if !slices.Contains(k.stores, s) {
		k.stores = append(k.stores, s)
	}
}

// call follows a call with tainted arguments down.
func (k *keeper) call(file string, n *ast.CallExpr, vars map[string]taint) {
	if id, ok := n.Fun.(*ast.Ident); ok && k.back[id.Name] != nil {
		f := k.back[id.Name]
		delete(k.back, id.Name)
		k.callBack(f, k.fileOf(f), n, vars)
		return
	}
	for i, arg := range n.Args {
		t := k.of(arg, vars)
		if t == clean {
			continue
		}
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) == 2 && (f.Sel.Name == "Store" || f.Sel.Name == "LoadOrStore") {
			k.add(intoSyncMap, file, f.X, n.Pos(), t)
			return
		}
		k.down(n, i, t)
	}
}

// down follows an argument into a function of the sources, where its name is that of one
// alone.
func (k *keeper) down(call *ast.CallExpr, arg int, t taint) {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	all := k.funcs[name]
	if len(all) != 1 || call.Ellipsis.IsValid() {
		return
	}
	vars := map[string]taint{}
	for i, p := range parameters(all[0].Type) {
		if i == arg {
			vars[p] = t
		}
		if i < len(call.Args) {
			if f, ok := call.Args[i].(*ast.FuncLit); ok {
				k.back[p] = f
			}
		}
	}
	k.body(all[0], vars)
}

// parameters are the names of a function's.
func parameters(f *ast.FuncType) (names []string) {
	for _, field := range f.Params.List {
		for _, p := range field.Names {
			names = append(names, p.Name)
		}
	}
	return names
}

// callBack follows a value into a function that was handed down.
func (k *keeper) callBack(f *ast.FuncLit, file string, n *ast.CallExpr, vars map[string]taint) {
	own := map[string]taint{}
	for i, p := range parameters(f.Type) {
		if i < len(n.Args) {
			own[p] = k.of(n.Args[i], vars)
		}
	}
	k.body(declaration{&ast.FuncDecl{Name: ast.NewIdent("func"), Type: f.Type, Body: f.Body}, file}, own)
}

// fileOf is the file that a function is written in.
func (k *keeper) fileOf(f *ast.FuncLit) string {
	for file, s := range k.c.parsed {
		if s != nil && s.file.FileStart <= f.Pos() && f.Pos() < s.file.FileEnd {
			inside := false
			ast.Inspect(s.file, func(n ast.Node) bool {
				inside = inside || n == f
				return !inside
			})
			if inside {
				return file
			}
		}
	}
	return ""
}

// of tells how an expression has to do with what was allocated.
func (k *keeper) of(e ast.Expr, vars map[string]taint) (t taint) {
	switch e := e.(type) {
	case *ast.Ident:
		return vars[e.Name]
	case *ast.ParenExpr:
		return k.of(e.X, vars)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return k.of(e.X, vars)
		}
	case *ast.KeyValueExpr:
		return k.of(e.Value, vars)
	case *ast.CompositeLit:
		for _, x := range e.Elts {
			t = max(t, k.of(x, vars))
		}
		return t
	case *ast.SliceExpr:
		if k.of(e.X, vars) > clean {
			return part
		}
	case *ast.IndexExpr:
		if k.of(e.X, vars) == part {
			return part
		}
	case *ast.CallExpr:
		return k.ofCall(e, vars)
	}
	return clean
}

func (k *keeper) ofCall(e *ast.CallExpr, vars map[string]taint) (t taint) {
	if copies(e) {
		return clean
	}
	for _, arg := range e.Args {
		t = max(t, k.of(arg, vars))
	}
	if t == clean {
		return clean
	}
	switch f := e.Fun.(type) {
	case *ast.Ident:
		if f.Name == "append" {
			return t
		}
	case *ast.SelectorExpr:
		if cuts(f) {
			return part
		}
	}
	return clean
}

// copies tells of a call, by its name, that its result has a memory of its own.
func copies(e *ast.CallExpr) bool {
	switch f := e.Fun.(type) {
	case *ast.Ident:
		return f.Name == "string" || f.Name == "len" || f.Name == "cap"
	case *ast.ArrayType:
		return true // []byte(text)
	case *ast.SelectorExpr:
		return f.Sel.Name == "Clone" || f.Sel.Name == "Join" || strings.HasPrefix(f.Sel.Name, "Sprint")
	}
	return false
}

// cuts tells of a function of the standard library, by its name, that its results are parts
// of its argument.
func cuts(f *ast.SelectorExpr) bool {
	if x, ok := f.X.(*ast.Ident); ok && (x.Name == "strings" || x.Name == "bytes") {
		return slices.ContainsFunc([]string{"Split", "Fields", "Cut", "Trim"}, func(p string) bool { return strings.HasPrefix(f.Sel.Name, p) }) && !strings.HasSuffix(f.Sel.Name, "Seq")
	}
	return strings.HasPrefix(f.Sel.Name, "Find") && (strings.Contains(f.Sel.Name, "String") || f.Sel.Name == "Find" || f.Sel.Name == "FindAll" || strings.Contains(f.Sel.Name, "Submatch")) && !strings.HasSuffix(f.Sel.Name, "Index")
}

// mentions tells whether an expression or a statement has a variable in it.
func mentions(e ast.Node, name string) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			found = true
		}
		return true
	})
	return found
}
