package insight

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Functions that may be called though the sources have no call of them: by a directive of the compiler, from assembly, or, of exported methods, by code
// outside of the sources that is given a value with such a method.

// unseenCalls finds what may call a function so.
type unseenCalls struct {
	c *code
	d *derivations
	// outside are the values that code outside is given; nil until somebody asks.
	outside []handedOutside
	asked   bool
	// directed are the directives of the sources; nil until somebody asks.
	directed []namedDirective
}

// handedOutside is a value that a function outside of the sources is given, or may be given by way of an interface.
type handedOutside struct {
	at  ast.Node
	of  types.Type
	pkg string // the path of the package that gets it; empty where that is not known
	// through tells that it only becomes a value of an interface there; such values are given to code outside elsewhere.
	through bool
}

// whoMayCall says what may call a function that the sources do not show a call of; empty where nothing may.
func (u *unseenCalls) whoMayCall(decl *ast.FuncDecl) string {
	if by := u.directive(decl); by != "" {
		return by
	}
	if u.besideAssembly(decl) {
		return "its package has functions in assembly, which may call it"
	}
	if decl.Recv == nil || !ast.IsExported(decl.Name.Name) {
		return ""
	}
	fn, _ := u.d.t.info.Defs[decl.Name].(*types.Func)
	if fn == nil || fn.Signature().Recv() == nil {
		return ""
	}
	t := fn.Signature().Recv().Type()
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	of, _ := types.Unalias(t).(*types.Named)
	if of == nil {
		return ""
	}
	for _, h := range u.handed() {
		if !holdsNamed(h.of, of.Origin(), map[types.Type]bool{}) || h.pkg != "" && !callsAny(h.pkg) && !callsOfInterfaces.MatchString(decl.Name.Name) {
			continue
		}
		to := h.pkg
		switch {
		case h.through:
			return fmt.Sprintf("it becomes a value of an interface at %s, and the sources hand such values to package reflect or to another library, which may call their methods", u.d.placeOf(h.at).text())
		case to == "":
			to = "a function that is not in the sources"
		default:
			to = "package " + to
		}
		return fmt.Sprintf("%s hands it to %s, which may call it", u.d.placeOf(h.at).text(), to)
	}
	return ""
}

// directives give a function another name, or let other code call it.
var directives = lazily(`(?m)^//(?:go:linkname|go:wasmexport|export|go:cgo_export_\w+)[ \t]+(\S+)(?:[ \t]+(\S+))?`)

// namedDirective is such a directive: the function's name in its file, and the name that the linker knows; empty where it has none.
type namedDirective struct {
	at       codeLine
	text     string
	name, to string
}

// all are the directives of the sources.
func (u *unseenCalls) all() []namedDirective {
	if u.directed != nil {
		return u.directed
	}
	u.directed = []namedDirective{}
	for _, f := range u.d.t.files {
		text, err := keptSource(u.c, f.name)
		if err != nil || !bytes.Contains(text, []byte("\n//go:")) && !bytes.Contains(text, []byte("\n//export")) {
			continue
		}
		for _, m := range directives.compiled().FindAllSubmatchIndex(text, -1) {
			x := namedDirective{at: codeLine{file: f.name, line: 1 + bytes.Count(text[:m[0]], []byte("\n"))}, name: string(text[m[2]:m[3]])}
			x.text, _, _ = strings.Cut(string(text[m[0]:m[1]]), " ")
			if m[4] >= 0 {
				x.to = string(text[m[4]:m[5]])
			}
			u.directed = append(u.directed, x)
		}
	}
	return u.directed
}

// directive is the directive by which a function may be called: in its own file by its name there, in another by the name that the linker knows.
func (u *unseenCalls) directive(decl *ast.FuncDecl) string {
	own, _, _ := u.d.t.at(decl.Pos())
	for _, x := range u.all() {
		if x.at.file == own && x.name == decl.Name.Name || x.at.file != own && x.to != "" && x.to[strings.LastIndexByte(x.to, '.')+1:] == decl.Name.Name {
			return fmt.Sprintf("%s at %s lets other code call it", x.text, x.at.text())
		}
	}
	return ""
}

// besideAssembly tells of a function that its package declares functions without a body, which have no other place than assembly.
func (u *unseenCalls) besideAssembly(decl *ast.FuncDecl) bool {
	own, _, _ := u.d.t.at(decl.Pos())
	for _, f := range u.d.t.files {
		if folderOf(f.name) != folderOf(own) {
			continue
		}
		for _, other := range f.file.Decls {
			if fn, ok := other.(*ast.FuncDecl); ok && fn.Body == nil && u.directive(fn) == "" {
				return true
			}
		}
	}
	return false
}

// holdsNamed tells of a type that values of a named type can be reached from its values, be it by what a function returns.
func holdsNamed(t types.Type, of *types.Named, seen map[types.Type]bool) bool {
	t = types.Unalias(t)
	if seen[t] {
		return false
	}
	seen[t] = true
	in := func(t types.Type) bool { return holdsNamed(t, of, seen) }
	switch t := t.(type) {
	case *types.Named:
		for i := range t.TypeArgs().Len() {
			if in(t.TypeArgs().At(i)) {
				return true
			}
		}
		return t.Origin() == of || in(t.Underlying())
	case *types.Pointer:
		return in(t.Elem())
	case *types.Slice:
		return in(t.Elem())
	case *types.Array:
		return in(t.Elem())
	case *types.Chan:
		return in(t.Elem())
	case *types.Map:
		return in(t.Key()) || in(t.Elem())
	case *types.Struct:
		for i := range t.NumFields() {
			if in(t.Field(i).Type()) {
				return true
			}
		}
	case *types.Signature:
		for i := range t.Results().Len() {
			if in(t.Results().At(i).Type()) {
				return true
			}
		}
	}
	return false
}

// callsOfInterfaces are methods that packages of the library call by their interfaces, beside [calledByLibraries]: of files, databases, flags, sums, contexts and the like.
var callsOfInterfaces = lazily(`^(Open|Set|Get|Put|Next|Commit|Rollback|Begin|BeginTx|Exec|Query|Prepare|Connect|Ping|Reset\w*|Sum|Seed|Accept|Addr|Cookies|SetCookies|Header|WriteHeader|Err|Deadline|Visit|Stat|Read\w+|Write\w+|Sub|Glob|Seek|Unwrap|Is|As|Format|GoString|LogValue|With\w+|U?int\d+|Marshal\w+|Unmarshal\w+|Gob\w+|Append\w+|Lock|Unlock|Release|Wait|Sync|Hijack|CloseIdleConnections|Export\w*|Init|Import\w*|Clone|Check\w*)$`)

// asksNoMethods are methods of the library, by their names, that call none but those of its interfaces.
var asksNoMethods = lazily(`^(Encode|Decode|Scan\w*|Error|Errorf|Fatal|Fatalf|Fprint\w*|Write\w*|Read\w*|Store|Swap|Load\w*|CompareAndSwap|Exec|ExecContext|Query\w*|WithValue|With|Handle|HandleFunc|Wait|Do)$`)

// callsAny tells of a package that it may call any exported method of what it is given: those of the library do so by name, and of others nothing is known.
func callsAny(pkg string) bool {
	switch pkg {
	case "text/template", "html/template", "net/rpc", "net/rpc/jsonrpc", "reflect", "plugin":
		return true
	}
	return !stack.IsStandard(pkg) && !stack.IsRuntime(pkg)
}

// handed finds the values that code outside is given, and those that become values of an interface where such go outside.
func (u *unseenCalls) handed() []handedOutside {
	if u.asked {
		return u.outside
	}
	u.asked = true
	type conversion struct {
		handedOutside
		into types.Type
	}
	var through []conversion
	var goes []types.Type // of interfaces whose values go outside
	seen := map[types.Type]bool{}
	byName := u.callsByName()
	for _, x := range flowNodes(u.d) {
		u.valuesIn(x, func(e ast.Expr, into types.Type, pkg string, outside bool) {
			of := u.d.t.typeOf(e)
			if of == nil || pkg == "reflect" && !byName {
				return
			}
			asInterface := into != nil && types.IsInterface(into)
			switch {
			case outside:
				if pkg == "" || callsAny(pkg) {
					goes = interfacesIn(of, 0, seen, goes)
				}
				u.outside = append(u.outside, handedOutside{e, of, pkg, false})
			case asInterface && !types.IsInterface(of):
				through = append(through, conversion{handedOutside{e, of, "", true}, into})
			}
		})
	}
	for _, x := range through {
		if slices.ContainsFunc(goes, func(t types.Type) bool { return types.Identical(t.Underlying(), x.into.Underlying()) }) {
			u.outside = append(u.outside, x.handedOutside)
		}
	}
	return u.outside
}

// interfacesIn adds the interfaces that the values of a type are of, or have in lists, tables and fields, but errors. Types that were seen before add nothing.
func interfacesIn(t types.Type, depth int, seen map[types.Type]bool, all []types.Type) []types.Type {
	if depth > maxStartDepth || seen[t] {
		return all
	}
	seen[t] = true
	switch u := typeUnder(t).(type) {
	case *types.Interface:
		if t.String() != "error" {
			all = append(all, t)
		}
	case *types.Pointer:
		all = interfacesIn(u.Elem(), depth+1, seen, all)
	case *types.Slice:
		all = interfacesIn(u.Elem(), depth+1, seen, all)
	case *types.Map:
		all = interfacesIn(u.Elem(), depth+1, seen, all)
	case *types.Struct:
		for i := range u.NumFields() {
			all = interfacesIn(u.Field(i).Type(), depth+1, seen, all)
		}
	}
	return all
}

// callsByName tells whether the sources look for methods with package reflect.
func (u *unseenCalls) callsByName() bool {
	return slices.ContainsFunc(u.d.t.files, func(f typedFile) bool {
		return slices.ContainsFunc(f.file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"reflect"` }) &&
			hasCall(f.file, func(call *ast.CallExpr) bool {
				sel, ok := call.Fun.(*ast.SelectorExpr)
				return ok && (sel.Sel.Name == "Method" || sel.Sel.Name == "MethodByName") && len(call.Args) == 1 && u.d.t.callee(call) == nil
			})
	})
}

// valuesIn calls for each value that a node gives to something, with the type of that where it is of the sources, or, where it is outside of them, the package.
func (u *unseenCalls) valuesIn(x flowNode, note func(e ast.Expr, into types.Type, pkg string, outside bool)) {
	t := u.d.t
	switch n := x.n.(type) {
	case *ast.CallExpr:
		u.argumentsIn(n, note)
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			if len(n.Lhs) == len(n.Rhs) {
				note(n.Rhs[i], t.typeOf(lhs), "", isSelector(lhs) && t.typeOf(lhs) == nil)
			}
		}
	case *ast.ValueSpec:
		for i, v := range n.Values {
			if n.Type != nil && i < len(n.Names) {
				note(v, t.typeOf(n.Names[i]), "", false)
			}
		}
	case *ast.SendStmt:
		if of := t.typeOf(n.Chan); of != nil {
			if c, ok := of.Underlying().(*types.Chan); ok {
				note(n.Value, c.Elem(), "", false)
			}
		}
	case *ast.ReturnStmt:
		if x.in == nil || x.lit {
			for _, e := range n.Results { // of a function without a name: into what its type says, which may be any
				note(e, types.NewInterfaceType(nil, nil), "", false)
			}
			return
		}
		fn, ok := t.info.Defs[x.in.Name].(*types.Func)
		if !ok || fn.Signature().Results().Len() != len(n.Results) {
			return
		}
		for i, e := range n.Results {
			note(e, fn.Signature().Results().At(i).Type(), "", false)
		}
	case *ast.CompositeLit:
		u.elementsIn(n, note)
	}
}

// argumentsIn is valuesIn of a call.
func (u *unseenCalls) argumentsIn(call *ast.CallExpr, note func(e ast.Expr, into types.Type, pkg string, outside bool)) {
	t, fun := u.d.t, uninstantiated(call)
	tv := t.info.Types[fun]
	switch of := t.typeOf(fun); {
	case tv.IsBuiltin():
		if isNamed(fun, "append") && len(call.Args) > 1 && !call.Ellipsis.IsValid() {
			if list, ok := typeUnder(t.typeOf(call.Args[0])).(*types.Slice); ok {
				for _, e := range call.Args[1:] {
					note(e, list.Elem(), "", false)
				}
			}
		}
	case tv.IsType():
		for _, e := range call.Args {
			note(e, of, "", false)
		}
	case of != nil && t.fromPackage(fun) == "" || t.decls[t.callee(call)] != nil:
		sig, ok := typeUnder(of).(*types.Signature)
		for i, e := range call.Args {
			if n := 0; ok && sig.Params().Len() > 0 {
				n = min(i, sig.Params().Len()-1)
				into := sig.Params().At(n).Type()
				if list, is := into.(*types.Slice); is && sig.Variadic() && n == sig.Params().Len()-1 && !call.Ellipsis.IsValid() {
					into = list.Elem()
				}
				note(e, into, "", false)
			}
		}
	default:
		pkg := t.fromPackage(fun)
		if pkg == "" && (linesByName.MatchString(calledName(call)) || asksNoMethods.MatchString(calledName(call))) {
			return
		}
		for _, e := range call.Args {
			note(e, nil, pkg, true)
		}
	}
}

// elementsIn is valuesIn of a literal.
func (u *unseenCalls) elementsIn(n *ast.CompositeLit, note func(e ast.Expr, into types.Type, pkg string, outside bool)) {
	t := u.d.t
	of := t.typeOf(n)
	for i, e := range n.Elts {
		kv, keyed := e.(*ast.KeyValueExpr)
		if keyed {
			e = kv.Value
		}
		switch s := typeUnder(of).(type) {
		case *types.Struct:
			if id, ok := keyName(kv); ok {
				if field, ok := t.info.Uses[id].(*types.Var); ok {
					note(e, field.Type(), "", false)
				}
			} else if i < s.NumFields() {
				note(e, s.Field(i).Type(), "", false)
			}
		case *types.Slice:
			note(e, s.Elem(), "", false)
		case *types.Array:
			note(e, s.Elem(), "", false)
		case *types.Map:
			note(e, s.Elem(), "", false)
		case nil:
			note(e, nil, t.fromPackage(n.Type), true)
		}
	}
}

// keyName is the name that a pair of a literal begins with.
func keyName(kv *ast.KeyValueExpr) (id *ast.Ident, ok bool) {
	if kv != nil {
		id, ok = kv.Key.(*ast.Ident)
	}
	return id, ok
}
