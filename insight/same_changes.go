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

// What lies behind arguments that look the same may change: a variable or a field that somebody
// sets while the program runs. All changes of the sources are collected once.

// change is a place in the sources that gives a variable, a field or a part of it another value.
type change struct {
	in     declaration
	at     token.Pos
	root   string   // "s" of s.cfg.words[0] = w
	fields []string // "cfg", "words"
	// starts tells that it belongs to the start of the program, or to the making of a value.
	starts bool
	place  ast.Expr // what a statement sets; nil where a call changes it
}

// beginning are names of functions that make a value, or run before the work begins.
var beginning = lazily(`^(?i:init|new|must|make|set_?up|open|with|test|bench|fuzz|configure|create|build|load|register|option)`)

// changesOf are those of all sources.
func changesOf(c *code) []change {
	if c.changed != nil {
		return c.changed
	}
	c.changed = []change{}
	c.eachSource(func(file string, s *syntax) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				addChanges(c, declaration{f, file})
			}
		}
	})
	return c.changed
}

// addChanges collects the changes of one function.
func addChanges(c *code, d declaration) {
	eachNode(d.Body, func(n ast.Node, around []ast.Node) {
		for _, x := range changedBy(n) {
			root, fields := chain(x)
			if root != "" {
				c.changed = append(c.changed, change{d, n.Pos(), root, fields, runsAtStart(c, d, around, 0), placeSetBy(n, x)})
			}
		}
	})
}

// placeSetBy is an expression if a statement sets that itself.
func placeSetBy(n ast.Node, x ast.Expr) ast.Expr {
	a, ok := n.(*ast.AssignStmt)
	if ok && slices.Contains(a.Lhs, x) {
		return x
	}
	return nil
}

// isFresh tells of a change that what it sets belongs to something new, which nobody else has yet.
func (x change) isFresh(c *code) bool {
	return x.place != nil && isFreshAt(derivationsOf(c), stack.Frame{File: x.in.file, Line: c.parse(x.in.file).fset.PositionFor(x.place.Pos(), false).Line}, x.place)
}

// changedBy are the expressions to which a statement or a call gives another value, or of which
// it changes a part.
func changedBy(n ast.Node) (all []ast.Expr) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			all = n.Lhs
		}
	case *ast.IncDecStmt:
		all = []ast.Expr{n.X}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			all = []ast.Expr{n.Key}
			if n.Value != nil {
				all = append(all, n.Value)
			}
		}
	case *ast.CallExpr:
		name := calledName(n)
		switch {
		case (name == "delete" || name == "clear" || name == "copy") && len(n.Args) > 0:
			all = n.Args[:1]
		case strings.HasPrefix(types.ExprString(n.Fun), "atomic.") && len(n.Args) > 1:
			all = n.Args[:1]
		case strings.HasPrefix(name, "Read") && len(n.Args) > 0: // into the buffer that comes last
			all = n.Args[len(n.Args)-1:]
		default:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && (name == "Store" || name == "Swap" || name == "CompareAndSwap") {
				all = []ast.Expr{f.X}
			}
		}
	}
	return all
}

// chain takes an expression apart that names a variable, a field, or a part of one.
func chain(x ast.Expr) (root string, fields []string) {
	for {
		switch e := x.(type) {
		case *ast.Ident:
			slices.Reverse(fields)
			return e.Name, fields
		case *ast.SelectorExpr:
			fields, x = append(fields, e.Sel.Name), e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.SliceExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.ParenExpr:
			x = e.X
		case *ast.UnaryExpr:
			x = e.X
		default:
			return "", nil
		}
	}
}

// runsAtStart tells whether a node with some others around, in a function, is run at the start of the
// program or when something is made, and no more then: the function is named like that, or only
// such functions call it.
func runsAtStart(c *code, d declaration, around []ast.Node, depth int) bool {
	for i, n := range around {
		switch n := n.(type) {
		case *ast.FuncLit:
			if once, ok := around[max(0, i-1)].(*ast.CallExpr); !ok || calledName(once) != "Do" && !strings.HasPrefix(calledName(once), "Once") {
				return false
			}
		case *ast.GoStmt:
			return false
		case *ast.ForStmt:
			if d.Name.Name == "main" && n.Cond == nil {
				return false
			}
		}
	}
	if servesRequest(d.Type.Params) {
		return false // whatever its name
	}
	if d.Name.Name == "main" || beginning.MatchString(d.Name.Name) {
		return true
	}
	if depth >= 3 {
		return false
	}
	called, all := false, true
	for _, from := range callsNamed(c, d.Name.Name) {
		called = true
		all = all && from.in.FuncDecl != d.FuncDecl && runsAtStart(c, from.in, from.around, depth+1) && !(from.in.Name.Name == "main" && slices.ContainsFunc(from.around, isLoop))
	}
	return called && all
}

func isLoop(n ast.Node) bool {
	switch n.(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return true
	}
	return false
}

// callFrom is a call in a function, with what is around it there.
type callFrom struct {
	call   *ast.CallExpr
	in     declaration
	around []ast.Node
}

// callsNamed are the mentions of a function, by its name alone.
func callsNamed(c *code, name string) []callFrom {
	if c.mentioned == nil {
		c.mentioned = map[string][]callFrom{}
		for _, f := range allFunctions(c) {
			eachNode(f.Body, func(n ast.Node, around []ast.Node) {
				if call, ok := n.(*ast.CallExpr); ok {
					name := calledName(call)
					c.mentioned[name] = append(c.mentioned[name], callFrom{call, f, slices.Clone(around)})
				}
			})
		}
	}
	return c.mentioned[name]
}

// given is a package's variable or a field that an argument is made of, in a function.
type given struct {
	x   ast.Expr
	fn  *scope
	way []stack.Frame // from that function outward
}

// text is how the source names it.
func (g given) text() string { return types.ExprString(g.x) }

// changedAt tells whether a change is one of what is given: of the variable, or of a field of the
// same name. Where several types have a field of this name, only those of the same one, as far as
// the source tells.
func (g given) changedAt(c *code, x change) bool {
	root, fields := chain(g.x)
	if len(fields) == 0 || root != g.fn.receiver && namesOf(c).packages[root] {
		name := root
		if len(fields) > 0 { // of another package
			return x.root == root && len(x.fields) > 0 && x.fields[0] == fields[0]
		}
		return x.root == name && !scopeOf(x.in.FuncDecl).declares(name)
	}
	if root != g.fn.receiver && !g.fn.declares(root) && x.root == root && len(x.fields) == 0 {
		return !scopeOf(x.in.FuncDecl).declares(root)
	}
	for _, name := range fields {
		if !slices.Contains(x.fields, name) {
			continue
		}
		if namesOf(c).fields[name] < 2 {
			return true
		}
		if of := lastName(typeNameOf(c, x.in.FuncDecl, x.root)); root != g.fn.receiver || of == "" || of == g.fn.of {
			return true
		}
	}
	return false
}

// receiverType is the name of the type that a method belongs to; empty for a function.
func receiverType(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*"), "[")
	return name
}

// declaredNames are names that the sources declare, collected once.
type declaredNames struct {
	packages map[string]bool // what files call the packages that they import
	fields   map[string]int  // how many structs have a field of the name
	// variables are those of packages.
	variables map[string]bool
}

// namesOf collects them.
func namesOf(c *code) *declaredNames {
	if c.names != nil {
		return c.names
	}
	c.names = &declaredNames{map[string]bool{}, map[string]int{}, map[string]bool{}}
	c.eachSource(func(_ string, s *syntax) {
		for _, spec := range s.file.Imports {
			c.names.packages[importedAs(s.file, strings.Trim(spec.Path.Value, `"`))] = true
		}
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				for _, id := range spec.(*ast.ValueSpec).Names {
					c.names.variables[id.Name] = true
				}
			}
		}
		ast.Inspect(s.file, func(node ast.Node) bool {
			if t, ok := node.(*ast.StructType); ok {
				for _, f := range t.Fields.List {
					for _, id := range f.Names {
						c.names.fields[id.Name]++
					}
				}
			}
			return true
		})
	})
	return c.names
}

// changing tells what may change what a call is given: each tells that it changes between two
// calls for certain, as one of the functions on the way does it; at is the line of another one
// that does it while the program runs, empty where none does.
func (g given) changing(c *code, way []stack.Frame) (each bool, at string) {
	for _, x := range changesOf(c) {
		if !g.changedAt(c, x) {
			continue
		}
		if x.onWay(c, way) {
			return true, ""
		}
		if !x.starts && at == "" {
			line := c.parse(x.in.file).fset.PositionFor(x.at, false).Line
			at = fmt.Sprintf("%s:%d", baseName(x.in.file), line)
		}
	}
	return false, at
}

// onWay tells whether a change is in what a way through the code repeats: in one of its functions,
// or in one that these call. Of main only the loop around the way counts.
func (x change) onWay(c *code, way []stack.Frame) bool {
	for _, f := range way {
		d := c.function(f)
		if d == nil {
			continue
		}
		var again []ast.Node
		if d.Name.Name != "main" {
			again = append(again, d.Body)
		} else if loops := loopsAround(c, f); len(loops) > 0 {
			again = append(again, loops[0].body)
		}
		for _, body := range again {
			found := false
			ast.Inspect(body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && calledName(call) == x.in.Name.Name && !x.starts && len(c.functions()[x.in.Name.Name]) <= 2 {
					found = true
				}
				_, apart := n.(*ast.GoStmt)
				return !found && !apart
			})
			if found || d == x.in.FuncDecl && body.Pos() <= x.at && x.at < body.End() && !inGoroutine(body, x.at) {
				return true
			}
		}
	}
	return false
}

// inGoroutine tells whether a place in a body belongs to a goroutine that it starts.
func inGoroutine(body ast.Node, at token.Pos) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		g, ok := n.(*ast.GoStmt)
		found = found || ok && g.Pos() <= at && at < g.End()
		return !found
	})
	return found
}
