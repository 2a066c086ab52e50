package insight

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"

	"loupe/recording"
	"loupe/session"
)

// code is the source of the program, as far as the recording has it. It is used by one
// at a time.
type code struct {
	session *session.Session
	// parsed are the files that were looked at.
	parsed map[string]*syntax
	// declared, changed, mentioned and names are what has been collected of all sources: functions,
	// changes of variables and fields, calls by name, and names; nil while nobody has asked.
	declared  map[string][]declaration
	changed   []change
	mentioned map[string][]callFrom
	names     *declaredNames
	types     *typeIndex     // nil until it is asked for
	checked   *typed         // nil until it is asked for
	derived   *derivations   // nil until it is asked for
	ran       map[ranAt]bool // the lines that profiles have seen at work; nil until it is asked for
	turns     *countedTurns  // nil until it is asked for, and where nothing was counted
}

func newCode(s *session.Session) *code { return &code{session: s, parsed: map[string]*syntax{}} }

// syntax is a source file that the recording keeps, parsed.
type syntax struct {
	fset *token.FileSet
	file *ast.File
	// held are the parts in which a lock is held, and taken the lines that take one; nil until somebody asks.
	held  []held
	taken []taker
}

// keptSource is the text of a source file of the recording. That of another version than the program was built from
// is an error: its lines would tell of other code.
func keptSource(c *code, file string) ([]byte, error) {
	if slices.Contains(c.session.Outdated(), file) {
		return nil, fmt.Errorf("%s has changed since the program was built", file)
	}
	return c.session.Source(file)
}

// parse reads a source file of the recording; nil when there is none, or when
// it does not parse.
func (c *code) parse(file string) *syntax {
	if s, ok := c.parsed[file]; ok {
		return s
	}
	var s *syntax
	if text, err := keptSource(c, file); err == nil {
		fset := token.NewFileSet()
		if f, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution); err == nil {
			loopsByGoto(f)
			s = &syntax{fset: fset, file: f}
		}
	}
	c.parsed[file] = s
	return s
}

// eachSource calls for each source of the recording that parses.
func (c *code) eachSource(do func(file string, s *syntax)) {
	for _, e := range c.session.Manifest().Of(recording.Source) {
		if s := c.parse(e.Source); s != nil {
			do(e.Source, s)
		}
	}
}

// lines are the first and the last line of a node. The file's own count: the
// //line comments of generated code name another file.
func (s *syntax) lines(n ast.Node) (first, last int) {
	return s.fset.PositionFor(n.Pos(), false).Line, s.fset.PositionFor(n.End(), false).Line
}

// covers tells whether a line lies between the first and the last of a node.
func (s *syntax) covers(n ast.Node, line int) bool {
	first, last := s.lines(n)
	return first <= line && line <= last
}

// eachNode calls visit for a node and each below it, with the nodes around it, the outermost first.
func eachNode(top ast.Node, visit func(n ast.Node, around []ast.Node)) {
	var around []ast.Node
	ast.Inspect(top, func(n ast.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		visit(n, around)
		around = append(around, n)
		return true
	})
}

// onLine calls visit for each node that covers a line, with the nodes around
// it, the outermost first.
func (s *syntax) onLine(line int, visit func(n ast.Node, around []ast.Node)) {
	if s == nil {
		return
	}
	var around []ast.Node
	ast.Inspect(s.file, func(n ast.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		if !s.covers(n, line) {
			return false
		}
		visit(n, around)
		around = append(around, n)
		return true
	})
}

// bodyOfLoop is the body of a loop; nil of another statement.
func bodyOfLoop(n ast.Node) *ast.BlockStmt {
	switch n := n.(type) {
	case *ast.ForStmt:
		return n.Body
	case *ast.RangeStmt:
		return n.Body
	}
	return nil
}

// loopBody finds the body of the innermost loop around a node, inside its
// function.
func loopBody(around []ast.Node) *ast.BlockStmt {
	if i := innermostLoop(around); i >= 0 {
		return bodyOfLoop(around[i])
	}
	return nil
}

// innermostLoop is the place of the innermost loop among the nodes around another one, in the same function; -1 where there is none.
func innermostLoop(around []ast.Node) int {
	for i := len(around) - 1; i >= 0; i-- {
		switch around[i].(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return i
		case *ast.FuncLit, *ast.FuncDecl:
			return -1
		}
	}
	return -1
}

// declAround is the declared function around a node, by the nodes around that; nil where it is in none.
func declAround(around []ast.Node) *ast.FuncDecl {
	for _, n := range around {
		if fn, ok := n.(*ast.FuncDecl); ok {
			return fn
		}
	}
	return nil
}

// parameterAround tells whether a name is a parameter of a function around a node.
func parameterAround(around []ast.Node, name string) bool {
	return slices.ContainsFunc(around, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return listNames(n.Type.Params, name)
		case *ast.FuncLit:
			return listNames(n.Type.Params, name)
		}
		return false
	})
}

// isParameter tells whether a name is that of a parameter, a result or the receiver.
func isParameter(fn *ast.FuncDecl, name string) bool {
	return listNames(fn.Recv, name) || listNames(fn.Type.Params, name) || listNames(fn.Type.Results, name)
}

// listNames tells of a list of fields or parameters that one of them has a name.
func listNames(list *ast.FieldList, name string) bool {
	return list != nil && slices.ContainsFunc(list.List, func(f *ast.Field) bool { return isAmong(f.Names, name) })
}

// isAmong tells of identifiers that one is a name.
func isAmong(ids []*ast.Ident, name string) bool {
	return slices.ContainsFunc(ids, func(id *ast.Ident) bool { return id.Name == name })
}

// withinLit tells of the nodes around another one that it is in a function without a name: that has variables of its own, and runs when it
// is called.
func withinLit(around []ast.Node) bool {
	return slices.ContainsFunc(around, func(n ast.Node) bool { _, ok := n.(*ast.FuncLit); return ok })
}

// declares tells whether a block makes a new variable of this name in each
// turn: then nothing is carried from one turn to the next.
func declares(body *ast.BlockStmt, name string) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if id, ok := lhs.(*ast.Ident); ok && n.Tok == token.DEFINE && id.Name == name {
					found = true
				}
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				found = found || id.Name == name
			}
		}
		return true
	})
	return found
}

// growsText finds a statement on a line that adds to a variable which an
// earlier turn of the loop around it has made: s += t, or s = s + t. It
// returns the variable.
func (s *syntax) growsText(line int) (variable string) {
	s.onLine(line, func(n ast.Node, around []ast.Node) {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return
		}
		name := types.ExprString(a.Lhs[0])
		switch a.Tok {
		case token.ADD_ASSIGN:
		case token.ASSIGN:
			// The leftmost or the rightmost operand: s = s + t, s = t + s.
			x, ok := a.Rhs[0].(*ast.BinaryExpr)
			if !ok || x.Op != token.ADD || types.ExprString(leftmost(x)) != name && types.ExprString(x.Y) != name {
				return
			}
		default:
			return
		}
		body := loopBody(around)
		if body == nil || declares(body, rootName(a.Lhs[0])) {
			return
		}
		variable = name
	})
	return variable
}

func leftmost(x ast.Expr) ast.Expr {
	for {
		b, ok := x.(*ast.BinaryExpr)
		if !ok || b.Op != token.ADD {
			return x
		}
		x = b.X
	}
}

// rootName is the variable of x, x.field and x[i].
func rootName(x ast.Expr) string {
	if id, ok := innermost(x).(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// innermost is what x, x.field, x[i] and *x begin with.
func innermost(x ast.Expr) ast.Expr {
	for {
		switch e := x.(type) {
		case *ast.SelectorExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.ParenExpr:
			x = e.X
		default:
			return x
		}
	}
}

// deferInLoop tells whether a line has a defer statement in a loop of its own
// function.
func (s *syntax) deferInLoop(line int) (found bool) {
	s.onLine(line, func(n ast.Node, around []ast.Node) {
		if d, ok := n.(*ast.DeferStmt); ok && loopBody(around) != nil {
			// The statement itself, and the head of its function literal, but
			// not what is inside it.
			if first, _ := s.lines(d); first == line {
				found = true
			}
		}
	})
	return found
}

// startsGoroutine tells whether a line has a go statement.
func (s *syntax) startsGoroutine(line int) (found bool) {
	s.onLine(line, func(n ast.Node, _ []ast.Node) {
		if g, ok := n.(*ast.GoStmt); ok {
			first, _ := s.lines(g)
			found = found || first == line
		}
	})
	return found
}

// mentionsAny tells whether a node has one of the names; what is selected of another is none.
func mentionsAny(n ast.Node, names map[string]bool) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = found || mentionsAny(n.X, names)
			return false
		case *ast.Ident:
			found = found || names[n.Name]
		}
		return !found
	})
	return found
}

// eachAssigned calls for each variable that is assigned to or declared in a node, with its value.
func eachAssigned(in ast.Node, do func(lhs, rhs ast.Expr)) {
	ast.Inspect(in, func(n ast.Node) bool {
		assigned(n, do)
		return true
	})
}

// assigned calls for each variable that a statement assigns to or declares, with its value.
func assigned(n ast.Node, do func(lhs, rhs ast.Expr)) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i := range min(len(n.Lhs), len(n.Rhs)) {
			do(n.Lhs[i], n.Rhs[i])
		}
	case *ast.ValueSpec:
		for i := range min(len(n.Names), len(n.Values)) {
			do(n.Names[i], n.Values[i])
		}
	}
}

// declaresOfType tells whether a file declares something of a name, a variable or a field, with a type, or
// with a value that is made of a type, which is one that is looked for.
func declaresOfType(file *ast.File, name string, is func(of ast.Expr) bool) (found bool) {
	declares := func(names []*ast.Ident, of ast.Expr) bool {
		return of != nil && is(of) && slices.ContainsFunc(names, func(id *ast.Ident) bool { return id.Name == name })
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			found = found || declares(n.Names, n.Type)
		case *ast.ValueSpec:
			found = found || declares(n.Names, n.Type)
		}
		assigned(n, func(lhs, rhs ast.Expr) {
			of := typeMade(rhs)
			found = found || of != nil && lastName(types.ExprString(lhs)) == name && is(of)
		})
		return !found
	})
	return found
}

// typeMade is the type that a literal, the address of one, or a call of make names; nil where an
// expression is none.
func typeMade(x ast.Expr) ast.Expr {
	switch x := unrefer(ast.Unparen(x)).(type) {
	case *ast.CompositeLit:
		return x.Type
	case *ast.CallExpr:
		if isNamed(x.Fun, "make") && len(x.Args) > 0 {
			return x.Args[0]
		}
	}
	return nil
}
