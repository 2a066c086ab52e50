package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Text that nothing can keep but pieces of it: the source shows of its variable, and of what that is
// passed to, that the whole is only read and cut into pieces.

// onlyCutter follows a text that has just been made.
type onlyCutter struct {
	k    *keeper
	seen map[string]bool
	cuts []Evidence // where it is cut into pieces
}

// onlyCut finds where the text that a line makes is cut into pieces, one after the other; ok is false where
// the source does not show that nothing else is done with it. What is left behind a cut is followed as the
// whole is, as it may be nearly all of it.
func onlyCut(c *code, at stack.Frame) (cuts []Evidence, ok bool) {
	fn, s := c.function(at), c.parse(at.File)
	if fn == nil || s == nil {
		return nil, false
	}
	name := ""
	s.onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		a, is := n.(*ast.AssignStmt)
		if !is || a.Tok != token.DEFINE || len(a.Rhs) != 1 || s.fset.PositionFor(a.Pos(), false).Line != at.Line {
			return
		}
		id, named := a.Lhs[0].(*ast.Ident)
		call, made := a.Rhs[0].(*ast.CallExpr)
		if named && made && types.ExprString(call.Fun) != "make" && textMakers.MatchString(types.ExprString(call.Fun)) {
			name = id.Name
		}
	})
	o := &onlyCutter{k: &keeper{c: c, funcs: c.functions(), text: true, seen: map[*ast.FuncDecl]taint{}}, seen: map[string]bool{}}
	if name == "" || name == "_" || !o.variable(declaration{fn, at.File}, name) {
		return nil, false
	}
	return o.cuts, len(o.cuts) > 0
}

// variable tells whether all that a function does with a variable is to read or to cut it.
func (o *onlyCutter) variable(d declaration, name string) bool {
	key := d.file + " " + d.Name.Name + " " + methodOf(d.FuncDecl) + " " + name
	if o.seen[key] {
		return true
	}
	o.seen[key] = true
	if len(o.seen) > 20 {
		return false
	}
	fine := true
	eachNode(d.Body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !fine || !ok || id.Name != name || len(around) == 0 {
			return
		}
		if fine = !withinLit(around); !fine {
			return
		}
		switch p := around[len(around)-1].(type) {
		case *ast.SelectorExpr:
			if p.Sel == id {
				return
			}
		case *ast.KeyValueExpr:
			if p.Key == ast.Expr(id) {
				return
			}
		}
		fine = o.use(d, id, around)
	})
	return fine
}

// use tells whether what stands around an expression of the text reads or cuts it.
func (o *onlyCutter) use(d declaration, e ast.Expr, around []ast.Node) bool {
	switch p := around[len(around)-1].(type) {
	case *ast.AssignStmt:
		if slices.Contains(p.Lhs, e) {
			return true
		}
		i := slices.Index(p.Rhs, e)
		id, ok := p.Lhs[min(max(i, 0), len(p.Lhs)-1)].(*ast.Ident)
		return ok && len(p.Lhs) == len(p.Rhs) && o.variable(d, id.Name)
	case *ast.CallExpr:
		return p.Fun != e && o.argument(d, e, p, around[:len(around)-1])
	case *ast.IndexExpr:
		return p.X == e
	case *ast.ParenExpr:
		return o.use(d, p, around[:len(around)-1])
	case *ast.SliceExpr:
		if p.X != e || p.Slice3 {
			return false
		}
		if p.High == nil || lacksLittle(p) {
			return o.use(d, p, around[:len(around)-1])
		}
		return o.cut(d, p, around)
	case *ast.BinaryExpr, *ast.RangeStmt, *ast.SwitchStmt:
		return true
	case *ast.KeyValueExpr:
		return o.field(d, p, around)
	}
	return false
}

// cut notes that a piece is cut, which has to be one of many: in a loop, or in a function that is called
// in one.
func (o *onlyCutter) cut(d declaration, e ast.Expr, around []ast.Node) bool {
	if !repeats(around) && !o.calledInLoop(d.Name.Name) {
		return false
	}
	o.note(d, e)
	return true
}

func (o *onlyCutter) note(d declaration, e ast.Expr) {
	o.cuts = append(o.cuts, o.k.c.shownAt(d.file, o.k.lineOf(d.file, e.Pos()), "it is cut into pieces here, and nothing in the source keeps the whole"))
}

func (o *onlyCutter) calledInLoop(name string) (found bool) {
	for _, all := range o.k.funcs {
		for _, d := range all {
			eachNode(d.Body, func(n ast.Node, around []ast.Node) {
				call, ok := n.(*ast.CallExpr)
				found = found || ok && calledName(call) == name && repeats(around)
			})
		}
	}
	return found
}

// argument tells of a call with the text that it reads it, or cuts it.
func (o *onlyCutter) argument(d declaration, e ast.Expr, call *ast.CallExpr, around []ast.Node) bool {
	text := types.ExprString(call.Fun)
	if text == "len" || text == "string" || text == "[]byte" {
		return true
	}
	if pkg, name, ok := strings.Cut(text, "."); ok && (pkg == "strings" || pkg == "bytes") {
		switch {
		case slices.ContainsFunc([]string{"Index", "LastIndex", "Contains", "HasPrefix", "HasSuffix", "Count", "Equal", "Compare", "ContainsAny"}, func(p string) bool { return strings.HasPrefix(name, p) }):
			return true
		case name == "Split", name == "Fields", name == "SplitSeq", name == "FieldsSeq", name == "Lines":
			o.note(d, call)
			return true
		case strings.HasPrefix(name, "Trim") && len(around) > 0:
			return o.use(d, call, around)
		}
		return false
	}
	arg := slices.Index(call.Args, e)
	o.k.fn, o.k.file = d.FuncDecl, d.file
	all := o.k.fitting(call, arg)
	if len(all) != 1 || call.Ellipsis.IsValid() {
		return false
	}
	names := parameters(all[0].Type)
	return arg >= 0 && arg < len(names) && o.variable(all[0], names[arg])
}

// field tells of a composite literal with the text that it is a variable of the function, of which only
// methods and fields are used, and that these read or cut the text.
func (o *onlyCutter) field(d declaration, p *ast.KeyValueExpr, around []ast.Node) bool {
	key, ok := p.Key.(*ast.Ident)
	n := len(around) - 2
	if !ok || n < 1 {
		return false
	}
	lit, ok := around[n].(*ast.CompositeLit)
	if u, is := around[n-1].(*ast.UnaryExpr); is && u.Op == token.AND && n > 1 {
		n--
	}
	a, is := around[n-1].(*ast.AssignStmt)
	if !ok || !is || a.Tok != token.DEFINE || len(a.Lhs) != 1 || lit.Type == nil {
		return false
	}
	id, ok := a.Lhs[0].(*ast.Ident)
	if !ok || !o.fieldUses(d, id.Name, key.Name) {
		return false
	}
	of := typeName(lit.Type)
	for _, all := range o.k.funcs {
		for _, m := range all {
			if methodOf(m.FuncDecl) != of {
				continue
			}
			if names := m.Recv.List[0].Names; len(names) == 1 && !o.fieldUses(m, names[0].Name, key.Name) {
				return false
			}
		}
	}
	return true
}

// fieldUses tells of a variable of a function that only its fields and methods are used, and one field
// only read or cut.
func (o *onlyCutter) fieldUses(d declaration, name, field string) bool {
	fine := true
	eachNode(d.Body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !fine || !ok || id.Name != name || len(around) < 2 {
			return
		}
		if fine = !withinLit(around); !fine {
			return
		}
		switch p := around[len(around)-1].(type) {
		case *ast.SelectorExpr:
			if p.Sel == id {
				return
			}
			fine = p.Sel.Name != field || o.use(d, p, around[:len(around)-1])
		case *ast.AssignStmt:
			fine = slices.Contains(p.Lhs, ast.Expr(id))
		case *ast.KeyValueExpr:
			fine = p.Key == ast.Expr(id)
		default:
			fine = false
		}
	})
	return fine
}
