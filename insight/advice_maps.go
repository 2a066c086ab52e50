package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"loupe/analysis/why"
	"loupe/value/stack"
)

// Maps that a line makes, or makes grow. A map that is cleared keeps its table at the largest
// size that it ever had, so using one again suits only content that stays about as large.

// mapAdvice is what to do about the memory of a map; kept tells that the map is kept.
func mapAdvice(c *code, at stack.Frame, cause *why.Cause, kept bool) string {
	if cause.Mechanism&why.MakeMap == 0 {
		return grownMapAdvice(c, at, cause.Expr)
	}
	text := "If the number of entries is known or can be estimated, give it to make; for a small fixed set a slice is enough."
	switch {
	case madeWithSize(cause.Expr):
		text = "The map is made with its size already: make it less often where its content stays the same; for a small fixed set a slice is enough."
	case filledLiteral.MatchString(cause.Expr):
		text = "A literal is made with its size already: make it less often where its content stays the same; for a small fixed set a slice or a struct is enough."
	}
	if !kept {
		text += " If nothing keeps the map and the next content is about as large, clear it and use it again: a cleared map keeps its table at the largest size it ever had."
	}
	return text
}

// filledLiteral is a map literal with entries, as the compiler prints it.
var filledLiteral = lazily(`^(map\[.*|[\pL_][\pL\pN_.]*)\{.+\}$`)

// grownMapAdvice is what to do about a map that grows where an entry is written.
func grownMapAdvice(c *code, at stack.Frame, expr string) string {
	sized, bare := mapMade(c, at, expr)
	switch {
	case bare.Line > 0:
		return fmt.Sprintf("If the usual number of entries is known where the map is made (%s:%d), give it to make; for a handful of entries a slice is enough.", baseName(bare.File), bare.Line)
	case sized.Line > 0:
		return fmt.Sprintf("The map is made with a size at %s:%d, and still grows: if it usually gets more entries than that, give it the larger size.", baseName(sized.File), sized.Line)
	}
	return "If make has no size there and the usual number of entries is known, give it to make; for a handful of entries a slice is enough."
}

// mapMade is where the source makes the map that a line writes to, as the compiler prints the
// write: with a size, and without one. A field is looked for by its name in the files of the
// folder, a variable in the function.
func mapMade(c *code, at stack.Frame, expr string) (sized, bare stack.Frame) {
	name, _, indexed := strings.Cut(expr, "[")
	if !indexed || name == "" {
		return sized, bare
	}
	field := strings.Contains(name, ".")
	is := func(x ast.Expr) bool {
		text, _, _ := strings.Cut(types.ExprString(x), "[")
		return lastName(text) == lastName(name)
	}
	look := func(file string, s *syntax, in ast.Node) {
		note := func(to, value ast.Expr) {
			if !is(to) {
				return
			}
			line, _ := s.lines(value)
			switch hasSize, isMap := makesMap(value); {
			case isMap && hasSize:
				sized = stack.Frame{File: file, Line: line}
			case isMap:
				bare = stack.Frame{File: file, Line: line}
			}
		}
		eachAssigned(in, note)
		if field {
			ast.Inspect(in, func(n ast.Node) bool {
				if kv, ok := n.(*ast.KeyValueExpr); ok {
					note(kv.Key, kv.Value)
				}
				return true
			})
		}
	}
	if fn := c.function(at); !field && fn != nil {
		look(at.File, c.parse(at.File), fn.Body)
		return sized, bare
	}
	c.eachSource(func(file string, s *syntax) {
		if folderOf(file) == folderOf(at.File) {
			look(file, s, s.file)
		}
	})
	return sized, bare
}

// makesMap tells of an expression that it makes a map, and whether it gives the map a size.
func makesMap(x ast.Expr) (sized, is bool) {
	switch x := ast.Unparen(x).(type) {
	case *ast.CompositeLit:
		_, is = typeMade(x).(*ast.MapType)
		return len(x.Elts) > 0, is
	case *ast.CallExpr:
		switch typeMade(x).(type) {
		case nil, *ast.ArrayType, *ast.ChanType:
			return false, false
		}
		return len(x.Args) > 1, true // the compiler has said that it is a map
	}
	return false, false
}
