package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// What a comparison takes for equal. A map can answer it only where that is the equality of a key.

// equality is what two values have to have in common.
type equality int

const (
	equalKey     equality = iota // what is compared is the same
	equalFolded                  // the same text in whatever case
	equalMoment                  // the same moment, in whatever zone
	equalAddress                 // the same IP address, of 4 or of 16 bytes
	equalUnknown                 // by a function whose source is not there, or does not show it
	equalOther                   // by the source something else, such as to be near each other
)

// sameBy is an equality with the function that says so, and its line where the source is there.
type sameBy struct {
	equality
	name string
	at   string
	// beside tells that something else is compared with == as well.
	beside bool
}

// sameByIn finds the calls of a condition that compare for equality, and says what they take for equal: of several what
// is furthest from that of a key.
func sameByIn(c *code, file string, cond ast.Expr) (by sameBy) {
	s, t := c.parse(file), typedOf(c)
	if s == nil {
		return by
	}
	ast.Inspect(cond, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if m := matchNamed(calledName(call)); m != matchEqual && m != matchFold {
			return true
		}
		if e, at := sameByCall(t, s, file, call); e > by.equality {
			by = sameBy{equality: e, name: types.ExprString(call.Fun), at: at}
			if sel, method := call.Fun.(*ast.SelectorExpr); method {
				by.name = sel.Sel.Name
			}
		}
		return true
	})
	by.beside = slices.ContainsFunc(operands(cond, token.LAND), func(part ast.Expr) bool {
		x, ok := ast.Unparen(part).(*ast.BinaryExpr)
		if !ok || x.Op != token.EQL {
			return false
		}
		_, literal := x.Y.(*ast.BasicLit)
		return !literal && !isNamed(x.Y, "nil")
	})
	return by
}

// plainEqual are functions of libraries that compare all of what they are given, and the conversions that keep it.
var plainEqual = []string{"bytes.Equal", "bytes.Compare", "strings.Compare", "cmp.Compare", "slices.Equal", "slices.Compare", "maps.Equal", "reflect.DeepEqual", "proto.Equal", "hmac.Equal", "subtle.ConstantTimeCompare"}

// sameByCall is what a call takes for equal, and the line of the program's own function.
func sameByCall(t *typed, s *syntax, file string, call *ast.CallExpr) (e equality, at string) {
	own, ok := call, true
	if s != nil {
		own, ok = t.same(s, file, call).(*ast.CallExpr)
	}
	name := types.ExprString(call.Fun)
	switch {
	case name == "strings.EqualFold" || name == "bytes.EqualFold":
		return equalFolded, ""
	case slices.Contains(plainEqual, name):
		return equalKey, ""
	case !ok:
		return equalUnknown, ""
	}
	if fn := t.callee(own); fn != nil && t.decls[fn] != nil {
		decl := t.decls[fn]
		line := codeLine{}
		line.file, line.line, _ = t.at(decl.Pos())
		return equalBy(t, decl, 0), line.text()
	}
	sel, method := ast.Unparen(own.Fun).(*ast.SelectorExpr)
	if !method {
		return equalUnknown, ""
	}
	switch strings.TrimLeft(typeText(t, sel.X, 0), "*") {
	case "time.Time":
		return equalMoment, ""
	case "net.IP":
		return equalAddress, ""
	}
	return equalUnknown, ""
}

// equalBy is what a function of the program takes for equal, by its source: the equality of a key where it compares the
// same of both, and nothing else.
func equalBy(t *typed, decl *ast.FuncDecl, depth int) equality {
	b := &equalBody{t: t, depth: depth}
	if decl.Recv != nil && len(decl.Recv.List) == 1 && len(decl.Recv.List[0].Names) == 1 {
		b.sides = append(b.sides, decl.Recv.List[0].Names[0].Name)
	}
	b.sides = append(b.sides, parameters(decl.Type)...)
	if len(b.sides) != 2 || depth > 3 || decl.Type.Results.NumFields() != 1 || !isNamed(decl.Type.Results.List[0].Type, "bool") {
		return equalUnknown
	}
	e := b.statements(decl.Body.List)
	if e == equalUnknown && allowsMore(decl.Body) {
		return equalOther
	}
	return e
}

// allowsMore tells of a body that it asks for an order, as for a difference that is small, or returns that one of several
// things is equal.
func allowsMore(body *ast.BlockStmt) (found bool) {
	eachNode(body, func(n ast.Node, around []ast.Node) {
		x, ok := n.(*ast.BinaryExpr)
		if !ok {
			return
		}
		switch x.Op {
		case token.LSS, token.LEQ, token.GTR, token.GEQ:
			_, loop := parent(around).(*ast.ForStmt)
			found = found || !loop && !isLenCall(x.X) && !isLenCall(x.Y)
		case token.LOR:
			for _, a := range around {
				_, returns := a.(*ast.ReturnStmt)
				one, isOne := ast.Unparen(x.X).(*ast.BinaryExpr)
				other, isOther := ast.Unparen(x.Y).(*ast.BinaryExpr)
				found = found || returns && isOne && isOther && one.Op == token.EQL && other.Op == token.EQL && !isNamed(one.Y, "nil")
			}
		}
	})
	return found
}

func isLenCall(x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	return ok && isNamed(call.Fun, "len")
}

// equalBody goes through such a function.
type equalBody struct {
	t     *typed
	sides []string // the names of both values
	depth int
}

func (b *equalBody) statements(list []ast.Stmt) (e equality) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ReturnStmt:
			if len(s.Results) != 1 {
				return equalUnknown
			}
			e = max(e, b.equal(s.Results[0]))
		case *ast.IfStmt:
			if s.Init != nil || s.Else != nil || len(s.Body.List) != 1 {
				return equalUnknown
			}
			if ret, ok := s.Body.List[0].(*ast.ReturnStmt); !ok || len(ret.Results) != 1 || !isNamed(ret.Results[0], "false") && !b.asksNil(s.Cond) {
				return equalUnknown
			}
			if !b.asksNil(s.Cond) {
				e = max(e, b.unequal(s.Cond))
			}
		case *ast.RangeStmt:
			e = max(e, b.statements(s.Body.List))
		case *ast.ForStmt:
			e = max(e, b.statements(s.Body.List))
		default:
			return equalUnknown
		}
	}
	return e
}

// asksNil tells of a condition that it only asks whether one of both is nil.
func (b *equalBody) asksNil(cond ast.Expr) bool {
	x, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	if x.Op == token.LOR || x.Op == token.LAND {
		return b.asksNil(x.X) && b.asksNil(x.Y)
	}
	return isNamed(x.Y, "nil")
}

// equal is what a condition takes for equal where it is true.
func (b *equalBody) equal(x ast.Expr) equality {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		if x.Name == "true" || x.Name == "false" {
			return equalKey
		}
	case *ast.BinaryExpr:
		switch {
		case x.Op == token.LAND:
			return max(b.equal(x.X), b.equal(x.Y))
		case x.Op == token.EQL && isZero(x.Y):
			if call, ok := ast.Unparen(x.X).(*ast.CallExpr); ok {
				return b.call(call)
			}
		case x.Op == token.EQL && b.mirrored(x.X, x.Y):
			return equalKey
		}
	case *ast.CallExpr:
		return b.call(x)
	}
	return equalUnknown
}

// unequal is the same of a condition that is true where they differ.
func (b *equalBody) unequal(x ast.Expr) equality {
	switch x := ast.Unparen(x).(type) {
	case *ast.BinaryExpr:
		switch {
		case x.Op == token.LOR:
			return max(b.unequal(x.X), b.unequal(x.Y))
		case x.Op == token.NEQ:
			return b.equal(&ast.BinaryExpr{X: x.X, Op: token.EQL, Y: x.Y})
		}
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			return b.equal(x.X)
		}
	}
	return equalUnknown
}

func isZero(x ast.Expr) bool {
	lit, ok := x.(*ast.BasicLit)
	return ok && lit.Value == "0"
}

// call is the same of a call of another comparison, for a part of both.
func (b *equalBody) call(x *ast.CallExpr) equality {
	var one, two ast.Expr
	switch sel, method := ast.Unparen(x.Fun).(*ast.SelectorExpr); {
	case len(x.Args) == 2:
		one, two = x.Args[0], x.Args[1]
	case method && len(x.Args) == 1:
		one, two = sel.X, x.Args[0]
	default:
		return equalUnknown
	}
	if m := matchNamed(calledName(x)); !b.mirrored(one, two) || m != matchEqual && m != matchFold {
		return equalUnknown
	}
	if fn := b.t.callee(x); fn != nil && b.t.decls[fn] != nil {
		return equalBy(b.t, b.t.decls[fn], b.depth+1)
	}
	e, _ := sameByCall(b.t, nil, "", x)
	return e
}

// mirrored tells of two expressions that they are the same of both values.
func (b *equalBody) mirrored(x, y ast.Expr) bool {
	other := func(e ast.Expr) string {
		text := types.ExprString(e)
		for i, side := range b.sides {
			text = replaceName(text, side, "\x00"+string(rune('0'+1-i)))
		}
		return strings.ReplaceAll(strings.ReplaceAll(text, "\x000", b.sides[0]), "\x001", b.sides[1])
	}
	return other(x) == types.ExprString(y) && types.ExprString(x) != types.ExprString(y)
}

// replaceName puts another text in the place of a name, where it stands alone and selects.
func replaceName(text, name, by string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		j := strings.Index(text[i:], name)
		if j < 0 {
			out.WriteString(text[i:])
			break
		}
		before, after := i+j, i+j+len(name)
		out.WriteString(text[i:before])
		if before > 0 && (isWord(text[before-1]) || text[before-1] == '.') || after < len(text) && isWord(text[after]) {
			out.WriteString(name)
		} else {
			out.WriteString(by)
		}
		i = after
	}
	return out.String()
}

func isWord(c byte) bool {
	return c == '_' || c >= 0x80 || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == 0
}

// typeText is the type of an expression as the source declares it, also of a library; empty where it does not show it.
func typeText(t *typed, x ast.Expr, depth int) string {
	if depth > 5 {
		return ""
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		for _, v := range []types.Object{t.info.Defs[x], t.info.Uses[x]} {
			if v != nil {
				return declaredText(t, v, depth)
			}
		}
	case *ast.SelectorExpr:
		if s := t.info.Selections[x]; s != nil {
			return declaredText(t, s.Obj(), depth)
		}
		if v := t.info.Uses[x.Sel]; v != nil {
			return declaredText(t, v, depth)
		}
	case *ast.IndexExpr:
		return elementText(typeText(t, x.X, depth+1))
	case *ast.SliceExpr:
		return typeText(t, x.X, depth+1)
	case *ast.StarExpr:
		return strings.TrimPrefix(typeText(t, x.X, depth+1), "*")
	case *ast.CompositeLit:
		if x.Type != nil {
			return types.ExprString(x.Type)
		}
	case *ast.CallExpr:
		if fn := t.callee(x); fn != nil && t.decls[fn] != nil && t.decls[fn].Type.Results.NumFields() > 0 {
			return types.ExprString(t.decls[fn].Type.Results.List[0].Type)
		}
	}
	return ""
}

// elementText is the type of the elements of one.
func elementText(of string) string {
	of = strings.TrimPrefix(of, "*")
	if rest, ok := strings.CutPrefix(of, "..."); ok {
		return rest
	}
	if depth, at := 0, strings.IndexByte(of, '['); at == 0 || strings.HasPrefix(of, "map[") {
		for i := at; i < len(of); i++ {
			switch of[i] {
			case '[':
				depth++
			case ']':
				if depth--; depth == 0 {
					return of[i+1:]
				}
			}
		}
	}
	return ""
}

// declaredText is the type of a variable or a field as the source declares it.
func declaredText(t *typed, v types.Object, depth int) (of string) {
	for _, f := range t.files {
		if f.file.FileStart > v.Pos() || v.Pos() >= f.file.FileEnd {
			continue
		}
		is := func(id *ast.Ident) bool { return t.info.Defs[id] == v }
		ast.Inspect(f.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field:
				if slices.ContainsFunc(n.Names, is) {
					of = types.ExprString(n.Type)
				}
			case *ast.ValueSpec:
				if n.Type != nil && slices.ContainsFunc(n.Names, is) {
					of = types.ExprString(n.Type)
				}
			case *ast.RangeStmt:
				if id, ok := n.Value.(*ast.Ident); ok && is(id) {
					of = elementText(typeText(t, n.X, depth+1))
				}
			}
			if of == "" {
				assigned(n, func(lhs, rhs ast.Expr) {
					if id, ok := lhs.(*ast.Ident); ok && is(id) {
						of = typeText(t, rhs, depth+1)
					}
				})
			}
			return of == ""
		})
	}
	return of
}

// key says what the key of a map has to be; empty where it is what is compared.
func (by sameBy) key() string {
	switch by.equality {
	case equalFolded:
		return "Of the text, the key has strings.ToLower(strings.ToUpper(text)): ToLower alone tells ſ from s and the Kelvin sign from k, which EqualFold does not."
	case equalMoment:
		return "Of the time, the key has the moment, t.UnixNano(): a time.Time also holds its zone, in which two that are Equal may differ."
	case equalAddress:
		return "Of the address, the key has string(ip.To16()): the same address may have 4 bytes or 16."
	}
	return ""
}

// tell adds to a finding what the key has to be. Where a map cannot answer the comparison, or nobody can tell, it says so.
func (by sameBy) tell(f *Finding) {
	if by.beside && by.equality >= equalUnknown {
		f.Doubts = append(f.Doubts, "leave what "+by.name+" compares out of the key, unless it is true exactly where that is equal, and test it on those that the map gives")
		return
	}
	switch by.equality {
	case equalFolded:
		f.Doubts = append(f.Doubts, "that form of ı and İ is that of i, which EqualFold tells apart")
	case equalUnknown:
		name := by.name
		if by.at != "" {
			name += " (" + by.at + ")"
		}
		f.Advice += " This is the same only if " + name + " is true exactly where a key of both is equal, such as a field or a text made of several; it is not if " + by.name + " allows a difference."
	case equalOther:
		f.Severity, f.saves, f.grows = Info, false, false
		f.Advice = "By the source, " + by.name + " (" + by.at + ") is not the equality of a key: a map does not find the same. If it takes what is near for equal, sort by one coordinate and compare only those that are near by it; if it leaves a part out, the key is the rest."
	}
	if key := by.key(); key != "" {
		f.Advice += " " + key
	}
}
