package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// textKind is what the source tells of the text of a query that is prepared.
type textKind uint8

const (
	unknownText textKind = iota
	sameText             // each time, or one of a few
	otherText            // it is put together from what is not always the same
	copyText             // it begins a copy of rows, which ends with the statement
)

// preparedText tells whether a line prepares the same text each time, and where the text is made if it may differ.
func preparedText(c *code, way byHandWay) (kind textKind, made codeLine) {
	fn := c.scopeAt(way.at)
	if fn == nil {
		return unknownText, made
	}
	for _, call := range c.lineCalls(way.at) {
		name := calledName(call)
		if !strings.HasPrefix(name, "Prepare") {
			continue
		}
		i := 0
		if strings.HasSuffix(name, "Context") {
			i = 1
		}
		if i < len(call.Args) {
			if of, ok := ast.Unparen(call.Args[i]).(*ast.CallExpr); ok && strings.HasPrefix(calledName(of), "CopyIn") {
				return copyText, made // pq.CopyIn
			}
			q := queryText{c: c, at: map[ast.Expr]textKind{}}
			return q.of(call.Args[i], fn, way.frames[way.from:]), q.made
		}
	}
	return unknownText, made
}

// queryText follows a text to where it comes from.
type queryText struct {
	c    *code
	at   map[ast.Expr]textKind // what is known; unknown while it is followed
	made codeLine
}

// of tells of an expression of a function, which is reached by some frames, that of the function first.
func (q *queryText) of(x ast.Expr, fn *scope, way []stack.Frame) (kind textKind) {
	x = ast.Unparen(x)
	if kind, ok := q.at[x]; ok {
		return kind
	}
	q.at[x] = unknownText
	defer func() { q.at[x] = kind }()
	switch x := x.(type) {
	case *ast.BasicLit:
		return sameText
	case *ast.BinaryExpr:
		return q.joined(x, []ast.Expr{x.X, x.Y}, fn, way)
	case *ast.CallExpr:
		if name := types.ExprString(x.Fun); slices.Contains(joinsText, name) {
			return q.joined(x, x.Args, fn, way)
		} else if name == "string" && len(x.Args) == 1 {
			return q.of(x.Args[0], fn, way)
		} else if strings.HasSuffix(name, ".String") && len(x.Args) == 0 {
			return q.other(x, way) // of a builder
		}
	case *ast.CompositeLit:
		for _, e := range x.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); ok {
				e = pair.Value
			}
			if q.of(e, fn, way) != sameText {
				return unknownText
			}
		}
		return sameText
	case *ast.IndexExpr: // one of a list
		return q.of(x.X, fn, way)
	case *ast.SelectorExpr:
		o := newOrigins(q.c)
		if root := rootName(x); root != "" && (root == fn.receiver || !declaredAround(fn, root)) && o.fixed(x, fn, way) && !o.ofOthers() {
			return sameText
		}
	case *ast.Ident:
		return q.variable(x.Name, fn, way)
	}
	return unknownText
}

// joinsText are functions whose result is made of their arguments.
var joinsText = []string{"fmt.Sprintf", "fmt.Sprint", "fmt.Sprintln", "strings.Join", "strings.Replace", "strings.ReplaceAll", "strings.Repeat", "strings.TrimSpace"}

// joined tells of what is put together from some parts.
func (q *queryText) joined(x ast.Expr, parts []ast.Expr, fn *scope, way []stack.Frame) textKind {
	for _, part := range parts {
		if q.of(part, fn, way) != sameText {
			return q.other(x, way)
		}
	}
	return sameText
}

// other notes where a text is made that may differ.
func (q *queryText) other(x ast.Expr, way []stack.Frame) textKind {
	if s := q.c.parse(way[0].File); s != nil && q.made.file == "" {
		first, _ := s.lines(x)
		q.made = codeLine{way[0].File, first}
	}
	return otherText
}

// declaredAround tells of a name that it is one of a function, or of those around it.
func declaredAround(fn *scope, name string) bool {
	for s := fn; s != nil; s = s.outer {
		if s.declares(name) || s.receiver == name {
			return true
		}
	}
	return false
}

// variable tells of a variable: one of a package, one that the function sets, or a parameter.
func (q *queryText) variable(name string, fn *scope, way []stack.Frame) textKind {
	inner := fn
	for fn != nil && !fn.declares(name) {
		fn = fn.outer
	}
	switch {
	case fn == nil:
		return sameText
	case fn != inner:
		way = way[:1] // who calls the function around it is not known
	}
	kind, known := q.assigned(name, fn, way)
	if i := fn.parameter(name); i >= 0 {
		if given := q.argument(i, fn, way); !known || kind == sameText && given != sameText {
			return given
		}
	}
	return kind
}

// assigned tells of the values that a function gives a variable; not known where there are none.
func (q *queryText) assigned(name string, fn *scope, way []stack.Frame) (kind textKind, known bool) {
	kind = sameText
	take := func(k textKind) {
		if known = true; k == otherText || kind == sameText {
			kind = k
		}
	}
	eachNode(fn.body, func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				switch {
				case !isNamed(left, name):
				case len(n.Lhs) != len(n.Rhs):
					take(unknownText)
				case n.Tok == token.ADD_ASSIGN && q.of(n.Rhs[i], fn, way) != sameText:
					take(q.other(n.Rhs[i], way))
				default:
					take(q.of(n.Rhs[i], fn, way))
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if id.Name == name && i < len(n.Values) {
					take(q.of(n.Values[i], fn, way))
				}
			}
		case *ast.RangeStmt:
			if isNamed(n.Value, name) {
				take(q.of(n.X, fn, way))
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND && isNamed(n.X, name) {
				take(unknownText)
			}
		}
	})
	return kind, known
}

// argument tells of a parameter what the caller gives.
func (q *queryText) argument(i int, fn *scope, way []stack.Frame) textKind {
	if len(way) < 2 || fn.name == "" {
		return unknownText
	}
	caller := q.c.scopeAt(way[1])
	if caller == nil {
		return unknownText
	}
	for _, call := range q.c.lineCalls(way[1]) {
		if calledName(call) == fn.name && i < len(call.Args) && !call.Ellipsis.IsValid() {
			return q.of(call.Args[i], caller, way[1:])
		}
	}
	return unknownText
}

// closesStatement tells of a line that prepares a statement whether its function closes what it has set there.
func closesStatement(c *code, at stack.Frame) (closes bool) {
	fn := c.function(at)
	if fn == nil {
		return false
	}
	var name string
	c.parse(at.File).onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 2 {
			name = types.ExprString(a.Lhs[0])
		}
	})
	ast.Inspect(fn, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		closes = closes || ok && name != "" && sel.Sel.Name == "Close" && types.ExprString(sel.X) == name
		return !closes
	})
	return closes
}
