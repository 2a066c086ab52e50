package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"

	"loupe/value/unit"
)

// The numbers that limits of connections stand for, where the source names them.

// limitValues are what a limit may be set to by the source: numbers, and what gives others.
type limitValues struct {
	text    string // the expression itself
	numbers []int64
	others  []string
}

// known tells whether some of it is a number.
func (v limitValues) known() bool { return len(v.numbers) > 0 }

// sure tells whether all of it is.
func (v limitValues) sure() bool { return v.known() && len(v.others) == 0 }

// most and least are of the numbers.
func (v limitValues) most() int64  { return slices.Max(v.numbers) }
func (v limitValues) least() int64 { return slices.Min(v.numbers) }

// String says how many connections it keeps.
func (v limitValues) String() string {
	switch {
	case v.sure() && len(v.numbers) == 1:
		if text := unit.Count(v.numbers[0]); text == v.text || isDigits(v.text) {
			return text + " idle connections"
		}
		return fmt.Sprintf("%s idle connections (%s)", unit.Count(v.numbers[0]), v.text)
	case v.known():
		var all []string
		for _, n := range v.numbers {
			all = append(all, unit.Count(n))
		}
		for _, o := range v.others {
			all = append(all, "as many as "+o+" says")
		}
		return fmt.Sprintf("as many idle connections as %s says (%s)", v.text, strings.Join(all, ", or "))
	}
	return "as many idle connections as " + v.text + " says"
}

// isDigits tells of a text that it is a number.
func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789_") == "" }

// valuesOf are the numbers that an expression in a file may stand for, by the constants of the program and by what a variable of the function around it is
// set to.
func (c connSources) valuesOf(file string, around []ast.Node, x ast.Expr) limitValues {
	v := limitValues{text: types.ExprString(x)}
	add := func(x ast.Expr) {
		if n, known := c.constant(file, x, maxHolders); !known {
			v.others = append(v.others, types.ExprString(x))
		} else if !slices.Contains(v.numbers, n) {
			v.numbers = append(v.numbers, n)
		}
	}
	id, named := ast.Unparen(x).(*ast.Ident)
	in := declAround(around)
	if !named || in == nil {
		add(x)
		return v
	}
	set := false
	ast.Inspect(in.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if !isNamed(left, id.Name) {
					continue
				}
				set = true
				if len(n.Lhs) != len(n.Rhs) || n.Tok != token.DEFINE && n.Tok != token.ASSIGN {
					v.others = append(v.others, types.ExprString(n.Rhs[0]))
				} else {
					add(n.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if name.Name == id.Name && i < len(n.Values) {
					set = true
					add(n.Values[i])
				}
			}
		case *ast.UnaryExpr: // it may be changed through a pointer
			if n.Op == token.AND && isNamed(n.X, id.Name) {
				v.others = append(v.others, types.ExprString(n))
			}
		}
		return true
	})
	switch {
	case !set && parameterAround(around, id.Name):
		v.numbers, v.others = nil, []string{id.Name}
	case !set:
		add(x)
	case parameterAround(around, id.Name): // and what the caller gives
		v.others = append(v.others, id.Name)
	}
	return v
}

// constant is the number that an expression stands for: written, or that of a constant of the package in any of its files, or of another package of the
// program.
func (c connSources) constant(file string, x ast.Expr, depth int) (n int64, known bool) {
	if n, known = numberOf(x); known || depth == 0 {
		return n, known
	}
	name, of := "", ""
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		name = x.Name
	case *ast.SelectorExpr:
		pkg, ok := x.X.(*ast.Ident)
		if !ok {
			return 0, false
		}
		name, of = x.Sel.Name, pkg.Name
	default:
		return 0, false
	}
	found := 0
	c.eachSource(func(other string, s *syntax) {
		if of == "" && path.Dir(other) != path.Dir(file) || of != "" && s.file.Name.Name != of {
			return
		}
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, spec := range g.Specs {
				spec := spec.(*ast.ValueSpec)
				for i, id := range spec.Names {
					if id.Name == name && i < len(spec.Values) {
						found++
						n, known = c.constant(other, spec.Values[i], depth-1)
					}
				}
			}
		}
	})
	return n, known && found == 1
}
