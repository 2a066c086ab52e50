package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

// Names of files as the sources put them together, so that one that is read can be found among those that are written:
// in another function, another goroutine or another mode of the same program.

// nameDepth is how many callers, variables and functions are followed from a name, nameWays how many names one may have, nameLooks how
// many expressions are looked at for all of them: each part may have as many parts again.
const (
	nameDepth = 5
	nameWays  = 16
	nameLooks = 2000
)

// nameToken is a piece of a name: a text, or what a variable holds.
type nameToken struct {
	text  string
	held  string // the last name of a field or a variable of a package, or which variable of a function it is; empty for a text
	of    string // the type that has the field; empty where that is not known
	loose bool   // it may be anything
}

// namePart is what stands between two slashes.
type namePart []nameToken

// loose tells of a part that it may be any text.
func (p namePart) loose() bool {
	return slices.ContainsFunc(p, func(t nameToken) bool { return t.loose })
}

// known is the text of a part that has no variable in it.
func (p namePart) known() (text string, ok bool) {
	for _, t := range p {
		if t.held != "" || t.loose {
			return "", false
		}
		text += t.text
	}
	return text, true
}

// same tells of two parts, neither of which is loose, that they are one, or one is a pattern for the other.
func (p namePart) same(q namePart) bool {
	x, known := p.known()
	y, both := q.known()
	if known && both {
		one, _ := path.Match(x, y)
		other, _ := path.Match(y, x)
		return x == y || one || other
	}
	return known == both && slices.EqualFunc(p, q, func(a, b nameToken) bool {
		return a.text == b.text && a.held == b.held && (a.of == b.of || a.of == "" || b.of == "")
	})
}

// equal tells of two parts that they are put together from the same variables.
func (p namePart) equal(q namePart) bool {
	return slices.Equal(p, q) && !slices.ContainsFunc(p, func(t nameToken) bool { return t.loose && t.held == "" })
}

// fileName is a name in its parts.
type fileName []namePart

// same tells whether two names may be those of one file: the last parts are known to be the same, and of those before none is
// known to be another one.
func (a fileName) same(b fileName) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	x, y := a[len(a)-1], b[len(b)-1]
	if (x.loose() || y.loose()) && !x.equal(y) || !x.same(y) {
		return false
	}
	i, j := len(a)-2, len(b)-2
	for ; i >= 0 && j >= 0; i, j = i-1, j-1 {
		if a[i].loose() || b[j].loose() {
			return true
		}
		if !a[i].same(b[j]) {
			return false
		}
	}
	if i < 0 && j < 0 {
		return true
	}
	shorter := a
	if j < 0 {
		shorter = b
	}
	_, text := shorter[0].known()
	return !text && len(shorter) > 1 // a variable may hold more than one part
}

// changedBy tells whether writing to a name may change what is read by another: the same file, a folder around it that is
// put in its place, or a file in the folder.
func (a fileName) changedBy(b fileName) bool {
	if a.same(b) || len(b) > 1 && a.same(b[:len(b)-1]) {
		return true
	}
	for k := 1; k < len(a); k++ {
		if a[:k].same(b) {
			return true
		}
	}
	return false
}

// sourceNames finds the names that expressions stand for.
type sourceNames struct {
	c     *code
	looks int // at expressions, for the one that is asked about
}

// boundName is what a parameter of a function is given in the call that is followed.
type boundName struct {
	x    ast.Expr
	in   declaration
	with map[string]boundName
}

// of are the names that an expression in a function may stand for.
func (n *sourceNames) of(x ast.Expr, in declaration) (all []fileName) {
	n.looks = 0
	for _, tokens := range n.tokens(x, in, nil, 0) {
		all = append(all, splitName(tokens))
	}
	return all
}

// splitName divides pieces at the slashes in their texts.
func splitName(tokens []nameToken) (name fileName) {
	var part namePart
	end := func() {
		if len(part) > 0 && !(len(part) == 1 && part[0] == nameToken{text: "."}) {
			name = append(name, part)
		}
		part = nil
	}
	for _, t := range tokens {
		if t.held != "" || t.loose {
			part = append(part, t)
			continue
		}
		for i, piece := range strings.Split(t.text, "/") {
			if i > 0 {
				end()
			}
			if last := len(part) - 1; piece != "" && last >= 0 && part[last].held == "" && !part[last].loose {
				part[last].text += piece
			} else if piece != "" {
				part = append(part, nameToken{text: piece})
			}
		}
	}
	end()
	return name
}

// pathKeeps are functions of the library whose result is the same name as what they are given.
var pathKeeps = []string{"filepath.Clean", "path.Clean", "filepath.Abs", "filepath.FromSlash", "filepath.ToSlash", "filepath.EvalSymlinks", "string"}

// tokens are the pieces of the names that an expression may stand for.
func (n *sourceNames) tokens(x ast.Expr, in declaration, with map[string]boundName, depth int) [][]nameToken {
	anything := [][]nameToken{{{loose: true}}}
	if n.looks++; depth > nameDepth || n.looks > nameLooks {
		return anything
	}
	if text, ok := constantText(n.c, x, 0); ok {
		return [][]nameToken{{{text: text}}}
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return n.variable(x, in, with, depth)
	case *ast.StarExpr:
		return n.tokens(x.X, in, with, depth)
	case *ast.SelectorExpr:
		root, _ := chain(x)
		of := ""
		if namesOf(n.c).fields[x.Sel.Name] > 1 {
			of = lastName(typeNameOf(n.c, in.FuncDecl, root))
		}
		return [][]nameToken{{{held: x.Sel.Name, of: of}}}
	case *ast.IndexExpr:
		return [][]nameToken{{{loose: true, held: types.ExprString(x)}}} // of the arguments of the program
	case *ast.BinaryExpr:
		return n.all(in, with, depth, "", x.X, x.Y)
	case *ast.CallExpr:
		return n.call(x, in, with, depth)
	}
	return anything
}

// variable are the pieces of what a name in a function holds.
func (n *sourceNames) variable(id *ast.Ident, in declaration, with map[string]boundName, depth int) [][]nameToken {
	fn := scopeOf(in.FuncDecl)
	if k := fn.parameter(id.Name); k >= 0 {
		if b, ok := with[id.Name]; ok {
			return n.tokens(b.x, b.in, b.with, depth+1)
		}
		var all [][]nameToken
		for _, from := range callsNamed(n.c, in.Name.Name) {
			if k < len(from.call.Args) && len(all) < nameWays {
				all = append(all, n.tokens(from.call.Args[k], from.in, nil, depth+1)...)
			}
		}
		if len(all) > 0 {
			return all
		}
	} else if made := fn.made(id.Name); made != nil {
		ways := n.tokens(made, in, with, depth+1)
		for i, way := range ways {
			if len(way) == 1 && way[0] == (nameToken{loose: true}) {
				ways[i] = []nameToken{{loose: true, held: in.Name.Name + "." + id.Name}}
			}
		}
		return ways
	} else if id.Name != fn.receiver && !fn.declares(id.Name) {
		return [][]nameToken{{{held: id.Name}}}
	}
	return [][]nameToken{{{loose: true, held: in.Name.Name + "." + id.Name}}}
}

// all puts the pieces of several expressions one after the other, with a text between.
func (n *sourceNames) all(in declaration, with map[string]boundName, depth int, between string, parts ...ast.Expr) [][]nameToken {
	ways := [][]nameToken{nil}
	for i, part := range parts {
		var more [][]nameToken
		for _, rest := range n.tokens(part, in, with, depth+1) {
			for _, way := range ways {
				if i > 0 && between != "" {
					way = append(slices.Clone(way), nameToken{text: between})
				}
				if len(more) < nameWays {
					more = append(more, append(slices.Clone(way), rest...))
				}
			}
		}
		ways = more
	}
	return ways
}

// call are the pieces of what a call returns: a path that is joined or printed, or what a function of the program makes.
func (n *sourceNames) call(call *ast.CallExpr, in declaration, with map[string]boundName, depth int) [][]nameToken {
	anything := [][]nameToken{{{loose: true}}}
	name := types.ExprString(call.Fun)
	switch {
	case name == "filepath.Join" || name == "path.Join":
		return n.all(in, with, depth, "/", call.Args...)
	case slices.Contains(pathKeeps, name) && len(call.Args) == 1:
		return n.tokens(call.Args[0], in, with, depth)
	case name == "fmt.Sprintf" && len(call.Args) > 0:
		return n.printed(call, in, with, depth)
	}
	to, ok := onlyDeclared(n.c, calledName(call))
	if !ok || len(to.Body.List) == 0 {
		return anything
	}
	ret, ok := to.Body.List[len(to.Body.List)-1].(*ast.ReturnStmt)
	if !ok || len(ret.Results) == 0 {
		return anything
	}
	bound, i := map[string]boundName{}, 0
	for _, field := range to.Type.Params.List {
		for _, id := range field.Names {
			if i < len(call.Args) {
				bound[id.Name] = boundName{call.Args[i], in, with}
			}
			i++
		}
	}
	return n.tokens(ret.Results[0], to, bound, depth+1)
}

// printed are the pieces of a text that fmt.Sprintf makes with %s, %v and %d.
func (n *sourceNames) printed(call *ast.CallExpr, in declaration, with map[string]boundName, depth int) [][]nameToken {
	format, ok := constantText(n.c, call.Args[0], 0)
	texts := strings.Split(strings.NewReplacer("%v", "%s", "%d", "%s").Replace(format), "%s")
	if !ok || len(texts) != len(call.Args) || strings.Contains(strings.Join(texts, ""), "%") {
		return [][]nameToken{{{loose: true}}}
	}
	var parts []ast.Expr
	for i, text := range texts {
		parts = append(parts, &ast.BasicLit{Kind: token.STRING, Value: fmt.Sprintf("%q", text)})
		if i+1 < len(call.Args) {
			parts = append(parts, call.Args[i+1])
		}
	}
	return n.all(in, with, depth, "", parts...)
}

// onlyDeclared is the only function or method of a name in the sources.
func onlyDeclared(c *code, name string) (d declaration, ok bool) {
	if all := c.functions()[name]; len(all) == 1 {
		return all[0], true
	}
	return d, false
}
