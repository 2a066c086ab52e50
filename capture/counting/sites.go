package counting

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"

	"loupe/format/repeats"
)

// Calls of functions of other modules are counted at their lines: what repeats in a program is often one of these. The
// source alone says which calls can be: those with one result, or with two that a statement takes, whose arguments can be evaluated
// twice.

// Limits of the calls that are counted at their lines.
const (
	MostSites = 4_000
	mostArgs  = 8
)

// sites finds the calls within a function that can be counted at their lines.
type sites struct {
	w       *writer
	src     []byte
	in      string            // the function around
	imports map[string]string // paths by the names in the file
	own     map[string]bool   // names of variables of the function
	n       int
}

// Calls of these packages are too cheap, wait for others, or give something else each time.
var uncountedPackages = []string{"C", "unsafe", "sync", "sync/atomic", "context", "errors", "log", "log/slog", "math", "math/rand", "math/rand/v2", "runtime", "testing", "reflect", "flag", "expvar", "crypto/rand"}

// Calls with these names, as methods or functions, are too cheap, or wait for others.
var uncountedNames = []string{"Now", "Since", "Until", "Sleep", "After", "Tick", "Len", "Err", "Error", "Done", "Lock", "Unlock", "RLock", "RUnlock", "TryLock", "Wait", "Add", "Load", "Store", "Swap", "CompareAndSwap",
	"Context", "Background", "Deadline", "Value", "Read", "Write", "Close", "Next", "Scan", "Recv", "Send", "Accept", "Kind", "Type", "IsNil", "IsZero", "Unix", "UnixNano", "Nanoseconds", "Seconds", "Milliseconds"}

// importNames are the paths that a file imports, by the names that it has for them.
func importNames(f *ast.File) map[string]string {
	out := map[string]string{}
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if i.Name != nil {
			name = i.Name.Name
		} else if len(name) > 1 && name[0] == 'v' && name[1] >= '0' && name[1] <= '9' {
			name = path.Base(path.Dir(p)) // a major version
		}
		out[name] = p
	}
	return out
}

// callNames are the names of all functions and methods of the packages, and of the fields that hold functions: what has one of them may be a
// method, and no field.
func callNames(files []parsed) map[string]bool {
	out := map[string]bool{}
	for _, f := range files {
		ast.Inspect(f.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				out[n.Name.Name] = true
			case *ast.Field:
				if _, ok := n.Type.(*ast.FuncType); ok {
					for _, name := range n.Names {
						out[name.Name] = true
					}
				}
			}
			return true
		})
	}
	return out
}

// variables are the names that a function defines.
func variables(fn *ast.FuncDecl) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				out[name.Name] = true
			}
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
					out[id.Name] = true
				}
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				out[name.Name] = true
			}
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
					out[id.Name] = true
				}
			}
		case *ast.TypeSpec:
			out[n.Name.Name] = true
		}
		return true
	})
	return out
}

// count counts the calls of a function at their lines.
func (s *sites) count(fn *ast.FuncDecl) {
	jumps := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStmt)
		jumps = jumps || ok && b.Tok == token.GOTO // over what is defined
		return !jumps
	})
	if jumps {
		return
	}
	s.own = variables(fn)
	around := []ast.Node{fn}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		if g, ok := n.(*ast.GenDecl); ok && g.Tok == token.CONST {
			return false // what looks like a call is a conversion
		}
		if call, ok := n.(*ast.CallExpr); ok && s.w.src.sites < MostSites {
			s.call(call, around)
		}
		around = append(around, n)
		return true
	})
}

// call counts a call, if it can be.
func (s *sites) call(call *ast.CallExpr, around []ast.Node) {
	told, ok := s.told(call)
	if !ok {
		return
	}
	w := s.w
	switch parent := around[len(around)-1].(type) {
	case *ast.AssignStmt:
		if len(parent.Rhs) == 1 && len(parent.Lhs) > 1 {
			s.statement(call, parent, around, told)
			return
		}
		if !slices.Contains(parent.Rhs, ast.Expr(call)) {
			return
		}
	default:
		if !single(call, parent, around) {
			return
		}
	}
	id := s.id(call)
	w.add(call.Pos(), fmt.Sprintf("%s.Returns1(%s.At(%d%s), ", local, local, id, told))
	w.add(call.End(), ")")
}

// id gives a call its number.
func (s *sites) id(call *ast.CallExpr) int {
	w := s.w
	w.src.sites++
	w.src.Funcs = append(w.src.Funcs, repeats.Func{Name: types.ExprString(call.Fun), Caller: s.in, File: w.name, Line: w.fset.PositionFor(call.Lparen, false).Line})
	return len(w.src.Funcs) - 1
}

// statement counts a call whose two results a statement takes.
func (s *sites) statement(call *ast.CallExpr, set *ast.AssignStmt, around []ast.Node, told string) {
	if len(around) < 2 || len(set.Lhs) != 2 || set.Tok != token.DEFINE && set.Tok != token.ASSIGN {
		return
	}
	switch list := around[len(around)-2].(type) {
	case *ast.BlockStmt:
	case *ast.CaseClause:
		if !slices.Contains(list.Body, ast.Stmt(set)) {
			return
		}
	case *ast.CommClause:
		if !slices.Contains(list.Body, ast.Stmt(set)) {
			return
		}
	default:
		return
	}
	var names []string
	for _, x := range set.Lhs {
		id, ok := x.(*ast.Ident)
		if !ok || id.Name == "_" {
			return
		}
		names = append(names, id.Name)
	}
	s.n++
	at := fmt.Sprintf("loupeS%d", s.n)
	s.w.add(set.Pos(), fmt.Sprintf("%s := %s.At(%d%s); ", at, local, s.id(call), told))
	s.w.add(set.End(), fmt.Sprintf("; %s.Returns(%s)", at, strings.Join(names, ", ")))
}

// single tells whether a call that stands within a node has one result there.
func single(call *ast.CallExpr, parent ast.Node, around []ast.Node) bool {
	switch parent := parent.(type) {
	case *ast.ReturnStmt:
		return len(parent.Results) > 1 || resultsOf(around) == 1
	case *ast.CallExpr:
		return len(parent.Args) > 1 && slices.Contains(parent.Args, ast.Expr(call))
	case *ast.ValueSpec:
		return len(parent.Names) == len(parent.Values)
	case *ast.KeyValueExpr:
		return parent.Value == ast.Expr(call) // the index of an array is a constant
	case *ast.BinaryExpr, *ast.UnaryExpr, *ast.IndexExpr, *ast.SelectorExpr, *ast.CompositeLit, *ast.IfStmt, *ast.ForStmt, *ast.SwitchStmt, *ast.CaseClause, *ast.SendStmt:
		return true
	case *ast.RangeStmt:
		return parent.X == ast.Expr(call)
	}
	return false
}

// resultsOf is how many results the innermost function has.
func resultsOf(around []ast.Node) int {
	for _, n := range slices.Backward(around) {
		var t *ast.FuncType
		switch n := n.(type) {
		case *ast.FuncLit:
			t = n.Type
		case *ast.FuncDecl:
			t = n.Type
		default:
			continue
		}
		return t.Results.NumFields()
	}
	return 0
}

// told are the receiver and the arguments of a call, as a further argument; false where it is not counted. They stand in a function, so that
// nothing is made of them where the call is counted no more.
func (s *sites) told(call *ast.CallExpr) (text string, ok bool) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || call.Ellipsis.IsValid() || len(call.Args) > mostArgs || slices.Contains(uncountedNames, sel.Sel.Name) {
		return "", false
	}
	args := call.Args
	root, isName := sel.X.(*ast.Ident)
	if of, imported := s.imports[identName(root)]; isName && imported && !s.own[root.Name] {
		if slices.Contains(uncountedPackages, of) || s.w.src.own[of] || !ast.IsExported(sel.Sel.Name) {
			return "", false
		}
	} else {
		if imported || !ast.IsExported(sel.Sel.Name) || !s.again(sel.X) {
			return "", false
		}
		args = append([]ast.Expr{sel.X}, args...)
	}
	if len(args) == 0 {
		return ", nil", true
	}
	var parts []string
	for _, x := range args {
		if !s.again(x) {
			return "", false
		}
		part := s.text(x)
		if part == "" {
			return "", false
		}
		parts = append(parts, part)
	}
	return fmt.Sprintf(", func() %s.Args { return %s.Args{%s} }", local, local, strings.Join(parts, ", ")), true
}

func identName(id *ast.Ident) string {
	if id == nil {
		return ""
	}
	return id.Name
}

// again tells of an expression that it may be evaluated twice, and given to any function.
func (s *sites) again(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return x.Kind == token.STRING || x.Kind == token.CHAR || len(x.Value) < 9
	case *ast.Ident:
		return x.Name != "_" && (s.own[x.Name] || x.Name == "true" || x.Name == "false" || s.w.src.vars[s.w.path+"."+x.Name])
	case *ast.SelectorExpr:
		if id, ok := x.X.(*ast.Ident); ok && !s.own[id.Name] && s.imports[id.Name] != "" {
			return false // a variable, a constant, a type, a function
		}
		return !s.w.src.names[x.Sel.Name] && s.again(x.X)
	case *ast.StarExpr:
		return s.again(x.X)
	case *ast.ParenExpr:
		return s.again(x.X)
	case *ast.UnaryExpr:
		return x.Op != token.ARROW && s.again(x.X)
	case *ast.BinaryExpr:
		return x.Op != token.SHL && s.again(x.X) && s.again(x.Y)
	case *ast.IndexExpr:
		return s.again(x.X) && s.again(x.Index)
	case *ast.SliceExpr:
		return s.again(x.X) && (x.Low == nil || s.again(x.Low)) && (x.High == nil || s.again(x.High)) && (x.Max == nil || s.again(x.Max))
	case *ast.CallExpr:
		id, ok := x.Fun.(*ast.Ident)
		return ok && len(x.Args) == 1 && (id.Name == "len" || id.Name == "string") && !s.own[id.Name] && s.again(x.Args[0])
	}
	return false
}
