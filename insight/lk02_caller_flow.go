package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// What of a function has to do with its caller: parameters, a receiver that is not what has the lock, variables of a function around a closure, and all that
// is made of these.

// callerFlow follows what the caller gives through the function that takes a lock, up to the call under it.
type callerFlow struct {
	u     *underlying
	root  string // what the text of the lock begins with
	owner string // what has the lock: "c.shared"
	given map[string]callerOrigin
	// parts are fields that were set to something of the caller under the lock, by their text.
	parts map[string]callerOrigin
}

func newCallerFlow(u *underlying) *callerFlow {
	f := &callerFlow{u: u, given: map[string]callerOrigin{}, parts: map[string]callerOrigin{}}
	lock := u.lockTaken()
	if u.known {
		lock = lockText(u.held)
	}
	f.root, _, _ = strings.Cut(lock, ".")
	around := 0
	for fn := u.fn; fn != nil; fn = fn.outer {
		for _, field := range fn.params.List {
			for _, id := range field.Names {
				f.give(id.Name, types.ExprString(field.Type))
			}
		}
		if fn.receiver != "" && (fn.receiver != f.root || fn.copied) {
			f.give(fn.receiver, "")
		}
		if around++; around > 1 {
			f.captured(fn)
		}
	}
	// Those who wait for the same lock have the same of what has it, unless that is behind a pointer: then another one may have the same lock.
	f.owner = strings.TrimSuffix(lock, "."+lastName(lock))
	if delete(f.given, f.root); !isPackageVariable(u.c, f.root) && slices.ContainsFunc(strings.Split(lock, ".")[1:], func(field string) bool { return fieldOfPointer(u.c, field) }) {
		f.give(f.root, "")
	}
	return f
}

// fieldOfPointer tells of the name of a field that a struct of the sources has one which is a pointer.
func fieldOfPointer(c *code, name string) (found bool) {
	c.eachSource(func(_ string, s *syntax) {
		found = found || hasNode(s.file, func(n ast.Node) bool {
			st, ok := n.(*ast.StructType)
			return ok && slices.ContainsFunc(st.Fields.List, func(field *ast.Field) bool {
				_, pointer := field.Type.(*ast.StarExpr)
				return pointer && isAmong(field.Names, name)
			})
		})
	})
	return found
}

// give notes that a variable is the caller's.
func (f *callerFlow) give(name, of string) {
	if name == "_" || name == "" || f.given[name].some() {
		return
	}
	switch {
	case strings.HasSuffix(of, "context.Context"):
		f.given[name] = callerOrigin{contexts: []string{name}}
	default:
		f.given[name] = callerOrigin{from: []string{name}}
	}
}

// captured notes the variables that a function around declares: unless it declares the lock as well, they are others in each of its calls.
func (f *callerFlow) captured(fn *scope) {
	declares := map[string]bool{}
	inside(fn.body, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
					declares[id.Name] = true
				}
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				declares[id.Name] = true
			}
		}
	})
	if declares[f.root] {
		clear(f.given)
		return
	}
	for name := range declares {
		if !declaredIn(&ast.FuncDecl{Type: &ast.FuncType{Params: f.u.fn.params}, Body: f.u.fn.body}, name) {
			f.give(name, "")
		}
	}
}

// walk goes through what is before the call.
func (f *callerFlow) walk() {
	inside(f.u.fn.body, func(n ast.Node) {
		if first, _ := f.u.s.lines(n); first > f.u.call {
			return
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				f.set(x, f.of(n.Rhs[min(i, len(n.Rhs)-1)]), n.Tok == token.DEFINE)
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if len(n.Values) > 0 {
					f.set(id, f.of(n.Values[min(i, len(n.Values)-1)]), true)
				}
			}
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if x != nil {
					f.set(x, f.of(n.X), true)
				}
			}
		}
	})
}

func (f *callerFlow) set(x ast.Expr, o callerOrigin, declares bool) {
	if id, ok := x.(*ast.Ident); ok {
		switch {
		case id.Name == f.root:
		case o.some():
			f.given[id.Name] = f.given[id.Name].and(o)
		case declares:
			delete(f.given, id.Name)
		}
		return
	}
	if first, _ := f.u.s.lines(x); o.some() && first < f.u.call {
		f.parts[types.ExprString(x)] = o
	}
}

// contextMakers are the functions of package context that end a context in another way, and set no value.
var contextMakers = []string{"WithCancel", "WithCancelCause", "WithDeadline", "WithDeadlineCause", "WithTimeout", "WithTimeoutCause", "WithoutCancel"}

// of is what an expression has of the caller.
func (f *callerFlow) of(x ast.Node) (o callerOrigin) {
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if of := receiverOf(n); types.ExprString(of) == "context" && slices.Contains(contextMakers, calledName(n)) && len(n.Args) > 0 {
				o = o.and(f.of(n.Args[0]))
				return false
			} else if calledName(n) == "Context" && len(n.Args) == 0 && f.given[rootName(of)].some() {
				o.contexts = addNames(o.contexts, []string{types.ExprString(n)})
				return false
			} else if calledName(n) == "Value" && len(n.Args) == 1 && len(f.given[rootName(of)].contexts) > 0 {
				o.from = addNames(o.from, []string{types.ExprString(n)})
				return false
			}
		case *ast.SelectorExpr:
			if text := types.ExprString(n); f.owner != f.root && strings.HasPrefix(text+".", f.owner+".") {
				return false
			}
			o = o.and(f.parts[types.ExprString(n)])
			o = o.and(f.of(n.X))
			return false
		case *ast.KeyValueExpr:
			if _, name := n.Key.(*ast.Ident); !name {
				o = o.and(f.of(n.Key))
			}
			o = o.and(f.of(n.Value))
			return false
		case *ast.Ident:
			o = o.and(f.given[n.Name])
			for text, p := range f.parts { // a part of what is handed on
				if n.Name == rootText(text) {
					o = o.and(p)
				}
			}
		}
		return true
	})
	slices.Sort(o.from)
	return o
}

// rootText is what the text of a part begins with.
func rootText(text string) string {
	if i := strings.IndexAny(text, ".["); i > 0 {
		return text[:i]
	}
	return text
}

// guarded tells of an expression that it is a part of what has the lock, or a variable beside it, and nothing of the caller.
func (f *callerFlow) guarded(x ast.Expr) bool {
	return !f.of(x).some() && hasNode(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			return rootName(n) == f.root
		case *ast.Ident:
			return isPackageVariable(f.u.c, n.Name) && !declaredOf(f.u.in, n.Name)
		}
		return false
	})
}

// conditions are those under the lock that stand before the call.
func (f *callerFlow) conditions(do func(s *ast.IfStmt)) {
	inside(f.u.fn.body, func(n ast.Node) {
		s, ok := n.(*ast.IfStmt)
		if !ok {
			return
		}
		if first, _ := f.u.s.lines(s); first > f.u.lock && first <= f.u.call {
			do(s)
		}
	})
}

// comparison finds the comparison of something guarded with something of the caller.
func (f *callerFlow) comparison() (found *comparedKey) {
	f.conditions(func(s *ast.IfStmt) {
		ast.Inspect(s.Cond, func(n ast.Node) bool {
			if found != nil {
				return false
			}
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if n.Op == token.EQL || n.Op == token.NEQ {
					found = f.compared(n, n.X, n.Y)
				}
			case *ast.CallExpr:
				of, name := receiverOf(n), calledName(n)
				switch {
				case len(n.Args) == 1 && (name == "Equal" || name == "EqualFold"):
					found = f.compared(n, of, n.Args[0])
				case len(n.Args) == 2 && (name == "Equal" || name == "EqualFold"):
					found = f.compared(n, n.Args[0], n.Args[1])
				case rootName(of) == f.root:
					found = f.comparedWithin(n)
				}
			}
			return true
		})
	})
	return found
}

// compared is the key of a comparison of two expressions; nil where it is none.
func (f *callerFlow) compared(n ast.Expr, x, y ast.Expr) *comparedKey {
	if f.guarded(y) {
		x, y = y, x
	}
	o := f.of(y)
	if !f.guarded(x) || !o.some() {
		return nil
	}
	line, _ := f.u.s.lines(n)
	return &comparedKey{name: types.ExprString(y), cond: types.ExprString(n), at: codeLine{f.u.file, line}, from: addNames(o.from, o.contexts), stores: f.storesKey(types.ExprString(x))}
}

// comparedWithin finds the comparison in a method of what has the lock, which is given something of the caller.
func (f *callerFlow) comparedWithin(call *ast.CallExpr) (found *comparedKey) {
	all := f.u.c.functions()[calledName(call)]
	if len(all) != 1 || all[0].Recv == nil || len(all[0].Recv.List[0].Names) == 0 {
		return nil
	}
	receiver, names := all[0].Recv.List[0].Names[0].Name, parameters(all[0].Type)
	ast.Inspect(all[0].Body, func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		if !ok || found != nil || b.Op != token.EQL && b.Op != token.NEQ {
			return true
		}
		x, y := b.X, b.Y
		if rootName(y) == receiver {
			x, y = y, x
		}
		i := slices.Index(names, rootName(y))
		if _, field := x.(*ast.SelectorExpr); !field || rootName(x) != receiver || i < 0 || i >= len(call.Args) {
			return true
		}
		if o := f.of(call.Args[i]); o.some() {
			line, _ := f.u.c.parse(all[0].file).lines(b)
			place := f.root + strings.TrimPrefix(types.ExprString(x), receiver)
			found = &comparedKey{name: types.ExprString(call.Args[i]), cond: types.ExprString(b), at: codeLine{all[0].file, line}, from: addNames(o.from, o.contexts), stores: f.storesKey(place)}
		}
		return true
	})
	return found
}

// storesKey tells of a place that the function sets it, or what it is a part of, behind the call.
func (f *callerFlow) storesKey(place string) bool {
	return hasNode(f.u.fn.body, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		line, _ := f.u.s.lines(n)
		return line >= f.u.call && slices.ContainsFunc(f.u.stored(n), func(st storedAt) bool {
			return st.place == place || strings.HasPrefix(place, st.place+".")
		})
	})
}

// lookedUpBy are the names of the caller's by which something is looked up under the lock before the call: with them as an index, in a comparison, or as what
// a method of what has the lock is given. Those by which what has the lock itself was looked up are among them.
func (f *callerFlow) lookedUpBy() (keys, entry []string) {
	add := func(x ast.Node) {
		o := f.of(x)
		keys = addNames(addNames(keys, o.from), o.contexts)
	}
	inside(f.u.fn.body, func(n ast.Node) {
		first, _ := f.u.s.lines(n)
		if first > f.u.call {
			return
		}
		switch n := n.(type) {
		case *ast.IndexExpr:
			if first >= f.u.lock && rootName(n.X) == f.root || first >= f.u.lock && isPackageVariable(f.u.c, rootName(n.X)) {
				add(n.Index)
			}
		case *ast.AssignStmt:
			if slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return isNamed(x, f.root) }) {
				for _, x := range n.Rhs {
					f.directKeys(x, func(key ast.Node) { entry = addNames(entry, f.of(key).from) })
				}
			}
			if call, ok := n.Rhs[0].(*ast.CallExpr); ok && first > f.u.lock && first < f.u.call && rootName(receiverOf(call)) == f.root {
				f.directKeys(call, add)
			}
		}
	})
	if k := f.comparison(); k != nil {
		keys = addNames(keys, k.from)
	}
	return addNames(keys, entry), entry
}

// directKeys are the arguments of a call, or an index, that are a key themselves: of what is computed of one, several have the same.
func (f *callerFlow) directKeys(x ast.Expr, add func(ast.Node)) {
	switch x := unrefer(x).(type) {
	case *ast.CallExpr:
		for _, y := range x.Args {
			if isIdent(y) || isSelector(y) {
				add(y)
			}
		}
	case *ast.IndexExpr:
		if isIdent(x.Index) || isSelector(x.Index) {
			add(x.Index)
		}
	}
}

// valuesInContext are functions that make a context with a value in it.
var valuesInContext = []string{"WithValue", "NewOutgoingContext", "AppendToOutgoingContext"}

// valueInContext is the first line of the sources that sets a value in a context, or a method of a context of its own that gives one.
func valueInContext(c *code) (at codeLine) {
	c.eachSource(func(file string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			sets := false
			switch n := n.(type) {
			case *ast.CallExpr:
				sets = slices.Contains(valuesInContext, calledName(n))
			case *ast.FuncDecl:
				sets = n.Recv != nil && n.Name.Name == "Value" && n.Type.Params.NumFields() == 1 && n.Type.Results.NumFields() == 1
			}
			if line := 0; sets && at.line == 0 {
				line, _ = s.lines(n)
				at = codeLine{file, line}
			}
			return at.line == 0
		})
	})
	return at
}
