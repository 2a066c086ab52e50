package why

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// operation is something in a source file that may allocate without a word of
// the compiler.
type operation struct {
	mask Mechanism
	text string
	line int
	col  int
	// weak operations allocate rarely: they count only when nothing else does.
	weak  bool
	entry bool // of a map literal
	// said are those that recent compilers speak of: an append, since Go 1.26.
	said bool
}

// source is what is known of one file.
type source struct {
	byLine map[int][]operation
	// extent gives the lines of the statement that a line belongs to, for
	// statements of several lines.
	extent map[int][2]int
	// extended are the columns of makes that the compiler never carries out:
	// append(s, make([]T, n)...) grows s and clears the new end.
	extended map[int][]int
	// parameters are the columns of the names of parameters and results.
	parameters map[int][]int
	// funcs are the lines that functions begin on; whole says that the file
	// was read to its end.
	funcs map[int]bool
	whole bool
}

// readSource finds the operations of a file. Text that is no Go gives what can
// be made out of it: positions stay right up to the first error.
func readSource(text []byte) *source {
	s := &source{byLine: map[int][]operation{}, extent: map[int][2]int{}, extended: map[int][]int{}, parameters: map[int][]int{}, funcs: map[int]bool{}}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "source.go", text, parser.SkipObjectResolution)
	if f == nil {
		return s
	}
	s.whole = err == nil
	v := &operations{source: s, text: text, fset: fset}
	ast.Inspect(f, v.visit)
	return s
}

type operations struct {
	*source
	text []byte
	fset *token.FileSet
	// loopEnd is where the loops that have begun so far have ended.
	loopEnd token.Pos
}

// isNumber knows the operands that are no strings for sure.
func isNumber(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return x.Kind != token.STRING
	case *ast.CallExpr:
		if f, ok := x.Fun.(*ast.Ident); ok {
			switch strings.TrimRight(f.Name, "0123456789") {
			case "len", "cap", "copy", "int", "uint", "float", "uintptr", "byte", "rune":
				return true
			}
		}
	}
	return false
}

func (v *operations) add(at token.Pos, node ast.Node, op operation) {
	// Positions as the file has them: //line comments are for generated code,
	// whose profile names the other file.
	p := v.fset.PositionFor(at, false)
	op.line, op.col = p.Line, p.Column
	op.text = v.snippet(node)
	v.byLine[p.Line] = append(v.byLine[p.Line], op)
}

// snippet is the source text of a node, on one line and not too long.
func (v *operations) snippet(n ast.Node) string {
	const most = 60
	from, to := v.fset.PositionFor(n.Pos(), false).Offset, v.fset.PositionFor(n.End(), false).Offset
	if from < 0 || to > len(v.text) || from >= to {
		return ""
	}
	var b []byte
	space := false
	for _, c := range v.text[from:to] {
		if c == '\n' || c == '\t' || c == ' ' || c == '\r' {
			space = true
			continue
		}
		if space && len(b) > 0 {
			b = append(b, ' ')
		}
		space = false
		if b = append(b, c); len(b) >= most {
			return string(b) + "…"
		}
	}
	return string(b)
}

func (v *operations) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncDecl:
		v.names(n.Recv)
		v.funcs[v.fset.PositionFor(n.Pos(), false).Line] = true
	case *ast.FuncType:
		v.names(n.Params)
		v.names(n.Results)
	case *ast.CallExpr:
		v.call(n)
	case *ast.AssignStmt:
		for _, x := range n.Lhs {
			v.write(x)
		}
		if n.Tok == token.ADD_ASSIGN && !isNumber(n.Rhs[0]) {
			v.add(n.TokPos, n, operation{mask: Concat}) // the compiler never speaks of it
		}
		v.statement(n)
	case *ast.IncDecStmt:
		v.write(n.X)
	case *ast.ForStmt:
		v.loopEnd = max(v.loopEnd, n.End())
	case *ast.RangeStmt:
		v.loopEnd = max(v.loopEnd, n.End())
		v.write(n.Key)
		v.write(n.Value)
		v.add(n.For, n.X, operation{mask: Wait, weak: true})
	case *ast.GoStmt:
		v.add(n.Pos(), n.Call, operation{mask: Goroutine, weak: true})
		v.statement(n)
	case *ast.DeferStmt:
		// Outside of loops the record is a part of the frame.
		v.add(n.Pos(), n.Call, operation{mask: Defer, weak: n.Pos() >= v.loopEnd})
		v.statement(n)
	case *ast.SendStmt:
		v.add(n.Arrow, n, operation{mask: Wait, weak: true})
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			v.add(n.Pos(), n, operation{mask: Wait, weak: true})
		}
	case *ast.SelectStmt:
		v.add(n.Pos(), n, operation{mask: Wait, weak: true})
	case *ast.TypeAssertExpr:
		v.add(n.Lparen, n.X, operation{mask: Assertion, weak: true})
	case *ast.BinaryExpr:
		if n.Op == token.ADD {
			v.add(n.OpPos, n, operation{mask: Concat, said: true})
		}
	case *ast.CompositeLit:
		v.literal(n)
	case *ast.ReturnStmt, *ast.ExprStmt, *ast.DeclStmt:
		v.statement(n)
	}
	return true
}

// statement notes which lines belong together.
func (v *operations) statement(n ast.Node) {
	first, last := v.fset.PositionFor(n.Pos(), false).Line, v.fset.PositionFor(n.End(), false).Line
	if last == first || last-first > 200 {
		return
	}
	for l := first; l <= last; l++ {
		v.extent[l] = [2]int{first, last} // inner statements come later
	}
}

func (v *operations) names(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			p := v.fset.PositionFor(name.Pos(), false)
			v.parameters[p.Line] = append(v.parameters[p.Line], p.Column)
		}
	}
}

// write notes a write to what may be a map.
func (v *operations) write(x ast.Expr) {
	if x == nil {
		return
	}
	if p, ok := x.(*ast.ParenExpr); ok {
		x = p.X
	}
	if index, ok := x.(*ast.IndexExpr); ok {
		v.add(index.Lbrack, index, operation{mask: MapWrite})
	}
}

func (v *operations) call(n *ast.CallExpr) {
	switch fun := n.Fun.(type) {
	case *ast.Ident:
		switch fun.Name {
		case "append":
			v.add(n.Lparen, n, operation{mask: Append, said: true})
			v.extend(n)
		case "make":
			v.make(n)
		case "new":
			v.add(n.Lparen, n, operation{mask: Object, said: true})
		case "string":
			v.add(n.Lparen, n, operation{mask: Convert, said: true})
		default:
			// Some reach for the runtime by //go:linkname, under its names.
			if mask := MechanismsOf("runtime." + fun.Name); mask != 0 || linkNames[fun.Name] {
				v.add(n.Lparen, n, operation{mask: mask | Call})
			}
		}
	case *ast.ArrayType:
		v.add(n.Lparen, n, operation{mask: Convert, said: true})
	case *ast.SelectorExpr:
		if x, ok := fun.X.(*ast.Ident); ok && x.Name == "runtime" {
			v.add(n.Lparen, n, operation{mask: Call, weak: true})
		}
	}
}

func (v *operations) extend(n *ast.CallExpr) {
	if !n.Ellipsis.IsValid() || len(n.Args) != 2 {
		return
	}
	if made, ok := n.Args[1].(*ast.CallExpr); ok && len(made.Args) == 2 {
		if name, ok := made.Fun.(*ast.Ident); ok && name.Name == "make" {
			p := v.fset.PositionFor(made.Lparen, false)
			v.extended[p.Line] = append(v.extended[p.Line], p.Column)
		}
	}
}

func (v *operations) make(n *ast.CallExpr) {
	op := operation{mask: Slice | MakeMap | MakeChan}
	if len(n.Args) > 0 {
		switch n.Args[0].(type) {
		case *ast.ArrayType:
			op.mask, op.said = Slice, true
		case *ast.MapType:
			op.mask, op.said = MakeMap, true
		case *ast.ChanType:
			op.mask = MakeChan
		}
	}
	v.add(n.Lparen, n, op)
}

// literal notes the entries of map literals: each may make the map grow.
func (v *operations) literal(n *ast.CompositeLit) {
	_, isMap := n.Type.(*ast.MapType)
	for _, elt := range n.Elts {
		kv, ok := elt.(*ast.KeyValueExpr)
		if !ok {
			return
		}
		if _, field := kv.Key.(*ast.Ident); isMap || !field && n.Type != nil {
			if _, array := n.Type.(*ast.ArrayType); !array {
				v.add(kv.Pos(), kv, operation{mask: MapWrite, weak: !isMap, entry: true})
			}
		}
	}
}

// linkNames are the functions of the runtime that modules call by
// //go:linkname and that allocate, besides those that the compiler calls.
var linkNames = map[string]bool{"mapiterinit": true, "unsafe_New": true, "unsafe_NewArray": true}
