package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Which of what changes a container is about its beginning, and which of what takes entries out
// belongs to the ways after an entry was put in.

// initial tells of an assignment that it gives something its first value: in an object that the
// function has made, where there was none, or before the program begins its work.
func (r *usage) initial(lhs ast.Expr, around []ast.Node) bool {
	again, later := false, false
	for i := len(around) - 1; i >= 0; i-- {
		switch x := around[i].(type) {
		case *ast.IfStmt:
			if i+1 < len(around) && around[i+1] == x.Body && asksForNone(x.Cond) {
				return true
			}
		case *ast.ForStmt, *ast.RangeStmt:
			again = true
		case *ast.FuncLit:
			if call, ok := around[max(0, i-1)].(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Do" {
					return true // sync.Once
				}
			}
			if v := r.rootOf(lhs); v == nil || v.Pos() < x.Pos() || x.End() < v.Pos() {
				later = true // what it is of was there before
			}
			again = true
		case *ast.FuncDecl:
			switch {
			case r.fresh(lhs, x) && !later:
				return true
			case again:
				return false
			}
			return startsProgram(x) || r.setsUp(x, 3)
		}
	}
	return !again
}

// asksForNone tells of a condition that it asks whether there is something: x == nil, !ok.
func asksForNone(cond ast.Expr) (found bool) {
	ast.Inspect(cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			found = found || n.Op == token.EQL && (isNamed(n.Y, "nil") || isNamed(n.X, "nil"))
		case *ast.UnaryExpr:
			found = found || n.Op == token.NOT
		}
		return !found
	})
	return found
}

// startsProgram tells of a function that the program begins with it.
func startsProgram(fn *ast.FuncDecl) bool {
	return fn.Recv == nil && (fn.Name.Name == "main" || fn.Name.Name == "init")
}

// fresh tells whether an expression is of an object that a function has made itself.
func (t *typed) fresh(x ast.Expr, fn *ast.FuncDecl) (made bool) {
	v := t.rootOf(x)
	if v == nil || fn.Body == nil {
		return false
	}
	if fn.Type.Results != nil {
		for _, f := range fn.Type.Results.List {
			made = made || slices.ContainsFunc(f.Names, func(id *ast.Ident) bool { return t.place(id) == v })
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i := range min(len(n.Lhs), len(n.Rhs)) {
				if id, ok := n.Lhs[i].(*ast.Ident); ok && n.Tok == token.DEFINE && t.info.Defs[id] == v {
					made = made || makesOne(n.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if t.info.Defs[id] == v {
					_, pointer := n.Type.(*ast.StarExpr)
					made = made || len(n.Values) == 0 && !pointer || i < len(n.Values) && makesOne(n.Values[i])
				}
			}
		}
		return true
	})
	return made
}

// rootOf is the variable that an expression begins with; nil where it begins with something else.
func (t *typed) rootOf(x ast.Expr) types.Object {
	if id := rootIdent(x); id != nil {
		return t.place(id)
	}
	return nil
}

// makesOne tells of an expression that it makes a new object.
func makesOne(x ast.Expr) bool {
	if isComposite(x) {
		return true
	}
	call, ok := x.(*ast.CallExpr)
	return ok && isNamed(call.Fun, "new")
}

// rootIdent is the variable that an expression begins with; nil where it begins with something else.
func rootIdent(x ast.Expr) *ast.Ident {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.Ident:
			return e
		case *ast.SelectorExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.UnaryExpr:
			x = e.X
		default:
			return nil
		}
	}
}

// setsUp tells of a function that it is called on objects that its callers have just made, or
// when the program begins, and not in loops.
func (r *usage) setsUp(fn *ast.FuncDecl, deep int) bool {
	obj, _ := r.info.Defs[fn.Name].(*types.Func)
	all := r.mentions[obj]
	if obj == nil || len(all) == 0 || deep == 0 {
		return false
	}
	for _, m := range all {
		call, around := m.call()
		if call == nil {
			return false
		}
		on := slices.Clone(call.Args)
		if f, ok := call.Fun.(*ast.SelectorExpr); ok {
			on = []ast.Expr{f.X}
		}
		caller := declAround(around)
		if caller == nil || !slices.ContainsFunc(on, func(x ast.Expr) bool { return r.fresh(x, caller) && !r.again(x, around) }) && (repeats(around) || !startsProgram(caller) && !r.setsUp(caller, deep-1)) {
			return false
		}
	}
	return true
}

// again tells whether nodes around the use of an object may run more than once for it: a loop or
// a function literal that it was made outside of.
func (t *typed) again(x ast.Expr, around []ast.Node) bool {
	v := t.rootOf(x)
	return slices.ContainsFunc(around, func(n ast.Node) bool {
		return repeats([]ast.Node{n}) && (v == nil || v.Pos() < n.Pos() || n.End() < v.Pos())
	})
}

// repeats tells whether nodes are in a loop or a function literal, which may run more than once.
func repeats(around []ast.Node) bool {
	return slices.ContainsFunc(around, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			return true
		}
		return false
	})
}

// ownType notes that the type of a container is from elsewhere, so that nobody knows what it does.
func (r *removerSearch) ownType(s keepsAt, container ast.Expr) {
	of := r.typeOf(container)
	f, method := container.(*ast.SelectorExpr)
	if v, ok := r.place(container).(*types.Var); ok && (of == nil || method && r.embedded(f) != nil) {
		of = v.Type()
	}
	if of == nil || of == types.Typ[types.Invalid] || !carriesType(of, 3) {
		r.found = append(r.found, remover{kind: unseen, in: "its type", of: "its type, whose source is not in the recording,", file: s.file, line: s.line})
	}
}

// otherFiles notes that files are missing that may use the container: those of its package, as far
// as it uses what they declare, or ones with methods of the types that it belongs to.
func (r *removerSearch) otherFiles(s keepsAt) {
	own := r.ownerTypes()
	for _, m := range r.missing {
		method := false
		for name := range own {
			method = method || strings.Contains(m.text, "."+name.Name()+" has no field or method") || strings.Contains(m.text, "*"+name.Name()+" has no field or method")
		}
		if method || m.dir == folderOf(s.file) {
			r.found = append(r.found, remover{kind: unseen, in: "code of another file", of: "code of another file, which is not in the recording,", file: s.file, line: s.line, offset: 1})
			return
		}
	}
}

// owners notes where what the container belongs to is replaced or dropped.
func (r *removerSearch) owners() {
	own := r.ownerTypes()
	if len(own) == 0 {
		return
	}
	owner := func(x ast.Expr) string {
		t := r.typeOf(x)
		if t == nil {
			return ""
		}
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		if n, ok := types.Unalias(t).(*types.Named); ok && own[n.Obj()] {
			return n.Obj().Name()
		}
		return ""
	}
	r.eachNode(func(n ast.Node, around []ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				name := owner(lhs)
				id, bare := lhs.(*ast.Ident)
				_, element := lhs.(*ast.IndexExpr)
				if name == "" || element || n.Tok == token.DEFINE {
					continue
				}
				if v, ok := r.place(lhs).(*types.Var); bare && (!ok || id.Name == "_" || !isGlobal(v) && !repeats(around)) || r.initial(lhs, around) {
					continue
				}
				if len(n.Rhs) == len(n.Lhs) && keptBesides(around, n.Rhs[i]) {
					continue // and so was the one before
				}
				r.note(drops, n, around, name)
			}
		case *ast.CallExpr:
			if isNamed(n.Fun, "delete") && len(n.Args) == 2 {
				if m, ok := deref(r.typeOf(n.Args[0])).(*types.Map); ok {
					t := m.Elem()
					if p, ok := t.Underlying().(*types.Pointer); ok {
						t = p.Elem()
					}
					if named, ok := types.Unalias(t).(*types.Named); ok && own[named.Obj()] {
						r.note(drops, n, around, named.Obj().Name())
					}
				}
			}
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "Store" || f.Sel.Name == "Swap") && len(n.Args) == 1 {
				if name := owner(n.Args[0]); name != "" && !r.initial(f.X, around) {
					r.note(drops, n, around, name)
				}
			}
		}
	})
}

// keptBesides tells of a variable that the function around also puts it into a slice or a map.
func keptBesides(around []ast.Node, x ast.Expr) (kept bool) {
	id, ok := x.(*ast.Ident)
	if !ok || id.Name == "nil" {
		return false
	}
	i := slices.IndexFunc(around, func(n ast.Node) bool { _, is := n.(*ast.FuncDecl); return is })
	if i < 0 {
		return false
	}
	ast.Inspect(around[i], func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			return !kept
		}
		for k, rhs := range a.Rhs {
			_, element := a.Lhs[k].(*ast.IndexExpr)
			call, is := rhs.(*ast.CallExpr)
			kept = kept || element && isNamed(rhs, id.Name) ||
				is && isNamed(call.Fun, "append") && len(call.Args) > 1 && slices.ContainsFunc(call.Args[1:], func(arg ast.Expr) bool { return isNamed(arg, id.Name) })
		}
		return !kept
	})
	return kept
}

// ownerTypes are the types that the container is a field of, and those that have one of these in
// them.
func (r *removerSearch) ownerTypes() map[*types.TypeName]bool {
	own := map[*types.TypeName]bool{}
	for range 2 {
		var more []*types.TypeName
		for _, obj := range r.info.Defs {
			name, ok := obj.(*types.TypeName)
			if !ok || own[name] {
				continue
			}
			st, ok := name.Type().Underlying().(*types.Struct)
			if !ok {
				continue
			}
			for i := range st.NumFields() {
				f := st.Field(i)
				n, named := types.Unalias(f.Type()).(*types.Named)
				if r.put == f.Origin() || named && own[n.Obj()] {
					more = append(more, name)
				}
			}
		}
		for _, name := range more {
			own[name] = true
		}
	}
	return own
}

// position is a place in a file.
type position struct {
	file   string
	offset int
}

// apart are what takes entries out besides the ways after one was put in: own are the calls on
// these that delete it, and via those of functions that do. The functions are its own as well
// where nothing else calls them.
func (r *removerSearch) apart(own, via map[position]bool) (others, mine []remover) {
	for _, m := range r.found {
		switch {
		case m.kind == deletes && (own[position{m.file, m.offset}] || !m.async && r.calledFrom(m.fn, via, 3)):
			mine = append(mine, m)
		default:
			others = append(others, m)
		}
	}
	return others, mine
}

// calledFrom tells whether all calls of a function are among some, or in functions of which that
// is so.
func (r *usage) calledFrom(fn *types.Func, via map[position]bool, deep int) bool {
	all := r.mentions[fn]
	if fn == nil || len(all) == 0 || deep == 0 {
		return false
	}
	for _, m := range all {
		call, around := m.call()
		if call == nil {
			return false
		}
		file, _, offset := r.at(call.Pos())
		caller := declAround(around)
		if via[position{file, offset}] {
			continue
		}
		if caller == nil || repeats(around) {
			return false
		}
		if obj, ok := r.info.Defs[caller.Name].(*types.Func); !ok || obj == fn || !r.calledFrom(obj, via, deep-1) {
			return false
		}
	}
	return true
}
