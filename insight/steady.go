package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"loupe/value/stack"
)

// A result can be kept for others only if the source shows that the function gives the same each time: all that it calls is known to do
// nothing else, and nobody changes what it reads. What is not known counts against it.

// steadiness searches a function, and what that calls.
type steadiness struct {
	c     *code
	t     *typed
	files bool // it reads files
	seen  map[*ast.FuncDecl]bool
	reads map[types.Object]bool // fields, and variables of packages
	why   string                // what may give another result; the first that was found
	whole bool                  // it goes on after that, to all that is read
	clock string                // where it asks the clock, for more than to measure how long something takes
}

func newSteadiness(c *code) *steadiness {
	return &steadiness{c: c, t: typedOf(c), seen: map[*ast.FuncDecl]bool{}, reads: map[types.Object]bool{}}
}

// Limits of the search.
const (
	steadyDepth = 5
	steadyFuncs = 60
)

// unsteadyCall says what in the source may make the call on the line of a frame, of a function that is declared at another one, give something
// else than before, or need to be made; empty where the source shows that nothing does. files tells that the function reads files.
func unsteadyCall(c *code, at, decl stack.Frame) (why string, files bool) {
	s := newSteadiness(c)
	d := c.function(decl)
	if d == nil {
		return "its source is not in the recording", false
	}
	fn := s.t.functionAt(c, d, decl.File)
	if fn == nil {
		return "its source could not be read as a whole", false
	}
	s.look(fn, 0)
	s.readChanges(at, decl)
	return s.why, s.files
}

// changedMeanwhile says what may change what a function reads, that is declared at a frame and called on the line of another one, while the program
// runs; empty where the source shows nothing. Whatever else the function does is not asked.
func changedMeanwhile(c *code, at, decl stack.Frame) (why string) {
	s := newSteadiness(c)
	d := c.function(decl)
	if d == nil {
		return ""
	}
	if fn := s.t.functionAt(c, d, decl.File); fn != nil {
		s.whole = true
		s.look(fn, 0)
		s.why = s.clock
		s.readChanges(at, decl)
	}
	return s.why
}

// readChanges looks for what changes what has been read, and what the call is given.
func (s *steadiness) readChanges(at, decl stack.Frame) {
	s.eachCall(at, ownName(decl.Func), func(_ declaration, call *ast.CallExpr, _ []ast.Node) {
		for _, x := range append(slices.Clone(call.Args), call.Fun) {
			ast.Inspect(x, func(n ast.Node) bool {
				s.read(n)
				return true
			})
		}
	})
	byPlace := func(a, b types.Object) int { return cmp.Compare(a.Pos(), b.Pos()) } // the same reason each time
	for _, obj := range slices.SortedFunc(maps.Keys(s.reads), byPlace) {
		s.changed(obj)
	}
}

// note keeps the first reason.
func (s *steadiness) note(n ast.Node, format string, args ...any) {
	if s.why == "" {
		file, line, _ := s.t.at(n.Pos())
		s.why = fmt.Sprintf(format, args...) + " at " + fileLine(file, line)
	}
}

// look searches a function of the sources.
func (s *steadiness) look(fn *types.Func, depth int) {
	d := s.t.decls[fn]
	switch {
	case d == nil || s.seen[d] || s.why != "" && !s.whole:
		return
	case depth > steadyDepth || len(s.seen) > steadyFuncs:
		s.note(d, "it calls more than was looked at, such as %s", fn.Name())
		return
	}
	s.seen[d] = true
	eachNode(d.Body, func(n ast.Node, around []ast.Node) {
		switch n := n.(type) {
		case *ast.GoStmt:
			s.note(n, "it starts a goroutine")
		case *ast.SendStmt, *ast.SelectStmt:
			s.note(n, "it waits for a channel")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				s.note(n, "it waits for a channel")
			}
		case *ast.CallExpr:
			s.call(d, n, depth)
		}
		s.read(n)
		eachWholeRead(derivationsOf(s.c), n, around, func(v *types.Var) { s.reads[v] = true })
	})
}

// read notes a field, or a variable of a package, that an expression names.
func (s *steadiness) read(n ast.Node) {
	switch n.(type) {
	case *ast.SelectorExpr, *ast.Ident:
		if v, ok := s.t.place(n.(ast.Expr)).(*types.Var); ok && !isLockType(v.Type()) && (v.IsField() || v.Pkg() != nil && v.Parent() == v.Pkg().Scope()) {
			s.reads[v] = true
		}
	}
}

// eachCall visits the calls of a function on the line of a frame.
func (s *steadiness) eachCall(at stack.Frame, callee string, visit func(d declaration, call *ast.CallExpr, around []ast.Node)) {
	for _, f := range s.t.files {
		if f.name != at.File {
			continue
		}
		for _, decl := range f.file.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok || d.Body == nil {
				continue
			}
			eachNode(d.Body, func(n ast.Node, around []ast.Node) {
				call, ok := n.(*ast.CallExpr)
				if _, line, _ := s.t.at(n.Pos()); ok && line == at.Line && calledName(call) == callee {
					visit(declaration{d, f.name}, call, around)
				}
			})
		}
	}
}

// steadyPackages are those whose functions give the same for the same arguments and do nothing else, as far as they are not
// among the exceptions.
var (
	steadyPackages = lazily(`^(strings|bytes|strconv|sort|slices|maps|math|math/bits|math/big|math/cmplx|cmp|unicode(/.*)?|errors|hash(/.*)?|crypto/(md5|sha1|sha256|sha512|hmac|subtle)|encoding(/.*)?|html(/template)?|text/(template(/parse)?|tabwriter|scanner)|regexp(/syntax)?|path|compress/.*|image(/.*)?|container/.*|go/.*|archive/.*|index/suffixarray|net/url|net/netip|fmt|bufio|io|path/filepath|os|time|context)$`)
	unsteadyCalls  = lazily(`^(fmt\.(Print|Scan).*|time\.(Now|Since|Until|After|AfterFunc|Tick|NewTimer|NewTicker|Sleep|LoadLocation)|path/filepath\.(Abs|EvalSymlinks)|os\..*)$`)
	readsFiles     = lazily(`^(os\.(ReadFile|ReadDir|Open|Stat|Lstat)|path/filepath\.(Walk|WalkDir|Glob))$`)
	// steadyMethods are names of methods of libraries that only tell.
	steadyMethods = lazily(`^(String|Len|Cap|Match.*|Find.*|Replace.*|Split|Execute.*|Lookup|Before|After|Equal|Compare|Cmp|Format|Unix.*|Year.*|Month|Day|Hour|Error|Is[A-Z].*|Has.*|Contains|Index|Name|Path|Type|Kind|Size|Mode|R?Lock|R?Unlock|Bytes|Sub|Add|Truncate|Seconds|Minutes|Hours|Milliseconds|In|UTC|Info|Query|Get|Hostname|Port|To4|To16|Mask|DefaultMask)$`)
)

// call looks at a call in a function.
func (s *steadiness) call(d *ast.FuncDecl, n *ast.CallExpr, depth int) {
	fun := uninstantiated(n)
	if tv, ok := s.t.info.Types[n.Fun]; ok && (tv.IsType() || tv.IsBuiltin()) {
		return
	}
	switch fun.(type) {
	case *ast.FuncLit, *ast.ArrayType, *ast.MapType, *ast.StarExpr:
		return // what is in it is looked at, or a conversion
	}
	text := types.ExprString(fun)
	if fn := s.t.callee(n); fn != nil && s.t.decls[fn] != nil {
		s.look(fn, depth+1)
		return
	} else if fn != nil && !ofLibrary(fn) {
		all := derivationsOf(s.c).declsOf(fn)
		if len(all) == 0 || len(all) > effectNames {
			s.note(n, "it calls %s, of which the sources may have several", text)
		}
		for _, decl := range all { // whichever the interface means
			if of, ok := s.t.info.Defs[decl.Name].(*types.Func); ok && len(all) <= effectNames {
				s.look(of, depth+1)
			}
		}
		return
	}
	if pkg := s.t.fromPackage(fun); pkg != "" {
		name := pkg + "." + lastName(text)
		if name == "time.Now" && s.clock == "" && !measuresTime(d) {
			at := derivationsOf(s.c).placeOf(n)
			s.clock = "it asks the clock at " + at.text()
		}
		switch {
		case readsFiles.MatchString(name):
			s.files = true
		case ofAddresses(pkg, lastName(text)):
		case !steadyPackages.MatchString(pkg) || unsteadyCalls.MatchString(name):
			s.note(n, "it calls %s, which may give something else", text)
		}
		return
	}
	sel, ok := fun.(*ast.SelectorExpr)
	root, _ := s.t.rootOf(fun).(*types.Var)
	switch {
	case !ok: // by a variable
		if root == nil || !isLocal(d, root) || isGiven(d, root) {
			s.note(n, "it calls %s, which may be any function", text)
		}
	case root != nil && isLocal(d, root) && !isGiven(d, root):
		if !isMadeIn(s.t, d, root) && !steadyMethods.MatchString(sel.Sel.Name) {
			s.note(n, "it calls %s, whose source is not there", text)
		}
	case !steadyMethods.MatchString(sel.Sel.Name):
		s.note(n, "it calls %s, whose source is not there", text)
	}
}

// ofLibrary tells of a function that it is a method of a type of the library, which the sources do not declare.
func ofLibrary(fn *types.Func) bool {
	sig, ok := fn.Type().(*types.Signature)
	return ok && sig.Recv() != nil && !types.IsInterface(sig.Recv().Type()) && fn.Pkg() != nil && methodSources[fn.Pkg().Path()] != ""
}

// measuresTime tells of a function that it takes the time to learn how long something takes.
func measuresTime(d *ast.FuncDecl) bool {
	return hasCall(d.Body, func(call *ast.CallExpr) bool { return calledName(call) == "Since" || calledName(call) == "Sub" })
}

// isMadeIn tells of a local variable that its first value is none of a call that hands out what others may have, but a zero value, a literal, or
// what a function of a steady package makes.
func isMadeIn(t *typed, d *ast.FuncDecl, v *types.Var) (made bool) {
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for _, id := range n.Names {
				made = made || t.info.Defs[id] == v && len(n.Values) == 0
			}
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				id, ok := x.(*ast.Ident)
				if !ok || t.info.Defs[id] != v {
					continue
				}
				switch y := ast.Unparen(n.Rhs[min(i, len(n.Rhs)-1)]).(type) {
				case *ast.CompositeLit:
					made = true
				case *ast.UnaryExpr:
					_, lit := y.X.(*ast.CompositeLit)
					made = y.Op == token.AND && lit
				case *ast.CallExpr:
					pkg := t.fromPackage(uninstantiated(y))
					made = pkg != "" && steadyPackages.MatchString(pkg) || isNamed(y.Fun, "new") || isNamed(y.Fun, "make")
				}
			}
		}
		return !made
	})
	return made
}

// changed looks for a place that may change a field or a variable while the program runs, outside of the functions that were
// searched: those change nothing but what is their own.
func (s *steadiness) changed(obj types.Object) {
	for _, f := range s.t.files {
		for _, decl := range f.file.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok || d.Body == nil || s.seen[d] || s.why != "" {
				continue
			}
			s.mentions(declaration{d, f.name}, obj, 0, func(around []ast.Node) bool { return runsAtStart(s.c, declaration{d, f.name}, around, 0) })
		}
	}
	d := derivationsOf(s.c)
	for _, x := range d.writes()[obj] { // by another name, or by a library
		if s.why == "" && !s.seen[x.in] && !derivedStartsWith(d, x) {
			at := d.t.placeAt(x)
			s.why = "it reads " + obj.Name() + ", which may be changed at " + at.text()
		}
	}
}

// mentions looks at each place in a function that has an object, unless it is left out.
func (s *steadiness) mentions(d declaration, obj types.Object, depth int, leave func(around []ast.Node) bool) {
	eachNode(d.Body, func(n ast.Node, around []ast.Node) {
		x, ok := n.(ast.Expr)
		if !ok || s.why != "" {
			return
		}
		switch x := x.(type) {
		case *ast.Ident:
			if sel, ok := parent(around).(*ast.SelectorExpr); ok && sel.Sel == x || s.t.info.Uses[x] != obj {
				return // looked at as a whole
			}
		case *ast.SelectorExpr:
			if s.t.info.Uses[x.Sel] != obj {
				return
			}
		default:
			return
		}
		if s.mayChange(d, x, around, depth) && !leave(around) {
			s.note(n, "it reads %s, which may be changed", types.ExprString(x))
		}
	})
}

// changesFirst are functions of the library that change what they are given first.
var changesFirst = lazily(`^(sort\.(Sort|Stable|Slice|SliceStable|Strings|Ints|Float64s)|slices\.(Sort.*|Reverse|Delete.*|Insert|Replace|Compact.*|Grow|Clip)|maps\.(Copy|DeleteFunc|Insert)|.*\.(Unmarshal|Decode|Read|ReadFull|Put.*|Append.*|Swap.*))$`)

// mayChange tells whether what is around an expression may change what it leads to, now or later: it is assigned, its address is taken, it
// is handed to what is not known to read alone.
func (s *steadiness) mayChange(d declaration, x ast.Expr, around []ast.Node, depth int) bool {
	for i := len(around) - 1; i >= 0; i-- {
		switch p := around[i].(type) {
		case *ast.ParenExpr, *ast.StarExpr, *ast.SliceExpr, *ast.TypeAssertExpr:
			if s.plain(x) {
				return false
			}
			x = p.(ast.Expr)
		case *ast.SelectorExpr:
			if i > 0 {
				if call, ok := around[i-1].(*ast.CallExpr); ok && call.Fun == p {
					return s.methodChanges(call, p)
				}
			}
			x = p
		case *ast.IndexExpr:
			if p.X != x {
				return false
			}
			x = p
		case *ast.KeyValueExpr:
			return p.Value == x && !s.plain(x)
		case *ast.CompositeLit, *ast.SendStmt, *ast.ReturnStmt:
			return !s.plain(x)
		case *ast.IncDecStmt:
			return !s.ownPlace(d, x)
		case *ast.UnaryExpr:
			return p.Op == token.AND
		case *ast.AssignStmt:
			return s.assigned(d, p, x, depth)
		case *ast.RangeStmt:
			if p.X != x {
				return p.Key == x || p.Value == x
			}
			id, ok := p.Value.(*ast.Ident)
			return ok && id.Name != "_" && !s.plain(id) && s.aliasChanges(d, s.t.info.Defs[id], depth)
		case *ast.CallExpr:
			return s.argChanges(p, x, depth)
		case *ast.BinaryExpr, *ast.IfStmt, *ast.SwitchStmt, *ast.CaseClause, *ast.ExprStmt, *ast.ForStmt, *ast.TypeSwitchStmt:
			return false
		default:
			return !s.plain(x)
		}
	}
	return false
}

// plain tells of an expression that whoever has its value cannot change what others have: a number, a text, a struct of such.
func (s *steadiness) plain(x ast.Expr) bool {
	t := s.t.typeOf(x)
	return t != nil && plainType(t, 4)
}

func plainType(t types.Type, deep int) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.Invalid && u.Kind() != types.UnsafePointer
	case *types.Array:
		return deep > 0 && plainType(u.Elem(), deep-1)
	case *types.Struct:
		for i := range u.NumFields() {
			if deep == 0 || !plainType(u.Field(i).Type(), deep-1) {
				return false
			}
		}
		return u.NumFields() > 0
	}
	return false
}

// assigned tells of an expression in an assignment that it is given a value, or that another name for it may change it.
func (s *steadiness) assigned(d declaration, a *ast.AssignStmt, x ast.Expr, depth int) bool {
	for i, y := range a.Rhs {
		if y != x {
			continue
		}
		if s.plain(x) {
			return false
		}
		if call, ok := x.(*ast.CallExpr); ok && len(a.Lhs) != len(a.Rhs) { // each of its results
			return slices.ContainsFunc(a.Lhs, func(lhs ast.Expr) bool { return s.resultChanges(d, a, lhs, call, depth) })
		}
		if _, element := x.(*ast.IndexExpr); len(a.Lhs) != len(a.Rhs) && !element { // of a map, and whether there is one
			return true
		}
		id, ok := a.Lhs[i].(*ast.Ident)
		if !ok || a.Tok != token.DEFINE {
			return !ok || id.Name != "_"
		}
		return s.aliasChanges(d, s.t.info.Defs[id], depth)
	}
	return !s.ownPlace(d, x)
}

// resultChanges tells of a variable that is given one of several results whether it may change what that leads to.
func (s *steadiness) resultChanges(d declaration, a *ast.AssignStmt, lhs ast.Expr, call *ast.CallExpr, depth int) bool {
	id, ok := lhs.(*ast.Ident)
	switch {
	case !ok || s.t.typeOf(id) == nil && s.t.callee(call) == nil:
		return true
	case id.Name == "_" || s.plain(id) || isError(id.Name):
		return false
	}
	return a.Tok != token.DEFINE || s.t.info.Defs[id] != nil && s.aliasChanges(d, s.t.info.Defs[id], depth)
}

// ownPlace tells of a place that is set that it belongs to a copy which its function has made or got: nothing else changes. What
// a variable itself is set to is another matter.
func (s *steadiness) ownPlace(d declaration, x ast.Expr) bool {
	return !isIdent(x) && isFreshPlace(derivationsOf(s.c), d.FuncDecl, x)
}

// aliasChanges tells whether a function may change what a local variable leads to.
func (s *steadiness) aliasChanges(d declaration, obj types.Object, depth int) bool {
	if obj == nil || depth > 3 {
		return true
	}
	inner := newSteadiness(s.c)
	inner.mentions(d, obj, depth+1, func([]ast.Node) bool { return false })
	return inner.why != ""
}

// methodChanges tells of a method that is called on an expression that it may change what that leads to.
func (s *steadiness) methodChanges(call *ast.CallExpr, sel *ast.SelectorExpr) bool {
	var decls []*ast.FuncDecl
	if fn := s.t.callee(call); fn != nil {
		decls = derivationsOf(s.c).declsOf(fn)
	}
	if len(decls) == 0 {
		return !steadyMethods.MatchString(sel.Sel.Name)
	}
	return slices.ContainsFunc(decls, func(d *ast.FuncDecl) bool {
		e := &callEffects{d: derivationsOf(s.c), seen: map[*ast.FuncDecl]bool{}}
		e.look(d, map[types.Object]bool{receiverVariable(e.d, d): d.Recv != nil}, 0)
		return e.what != ""
	})
}

// argChanges tells of an argument of a call that what is called may change what it leads to.
func (s *steadiness) argChanges(call *ast.CallExpr, x ast.Expr, depth int) bool {
	if s.plain(x) {
		return false
	}
	fun := uninstantiated(call)
	if tv, ok := s.t.info.Types[call.Fun]; ok && tv.IsBuiltin() {
		name := calledName(call)
		return name != "len" && name != "cap" && !(name == "append" || name == "copy") || (name == "append" || name == "copy") && call.Args[0] == x
	} else if ok && tv.IsType() {
		return true // another name for it
	}
	if pkg := s.t.fromPackage(fun); pkg != "" {
		name := lastName(types.ExprString(fun))
		return !steadyPackages.MatchString(pkg) || changesFirst.MatchString(pkg+"."+name)
	}
	fn, at := s.t.callee(call), slices.Index(call.Args, x)
	var decls []*ast.FuncDecl
	if fn != nil {
		decls = derivationsOf(s.c).declsOf(fn) // of an interface's method those of its name
	}
	if len(decls) == 0 {
		sel, ok := fun.(*ast.SelectorExpr)
		return !ok || !givesOut.MatchString(sel.Sel.Name)
	}
	return at < 0 || depth > 3 || slices.ContainsFunc(decls, func(d *ast.FuncDecl) bool { return s.parameterChanges(d, at, depth) })
}

// parameterChanges tells of a function that it may change what it is given in a place.
func (s *steadiness) parameterChanges(d *ast.FuncDecl, at, depth int) bool {
	i := 0
	for _, field := range d.Type.Params.List {
		_, variadic := field.Type.(*ast.Ellipsis)
		for _, id := range field.Names {
			if i == at || variadic {
				file, _, _ := s.t.at(d.Pos())
				return id.Name != "_" && s.aliasChanges(declaration{d, file}, s.t.info.Defs[id], depth+1)
			}
			i++
		}
	}
	return false // a parameter without a name is not used
}

// givesOut are names of methods that write out what they are given.
var givesOut = lazily(`^(Encode|Execute|ExecuteTemplate|Write|WriteString|WriteByte|Marshal|JSON|Print|Printf|Println|Debug|Info|Warn|Error|Log|Logf)$`)

// changesResult is the line of a call if its caller may change what it returns, or hands that on; empty where it does not, or that is plain.
func changesResult(c *code, at stack.Frame, callee string) (where string) {
	s := newSteadiness(c)
	s.eachCall(at, callee, func(d declaration, call *ast.CallExpr, around []ast.Node) {
		if !s.plain(call) && s.mayChange(d, call, around, 0) {
			where = fileLine(at.File, at.Line)
		}
	})
	return where
}

// isTimed tells whether the function around a line takes the time before it and looks behind it how much has passed, or does not use what
// the call there returns: the call may be made for the time that it takes.
func isTimed(c *code, at stack.Frame, callee string) bool {
	fn, s := c.scopeAt(at), c.parse(at.File)
	if fn == nil {
		return false
	}
	before, behind, unused := false, false, false
	eachNode(fn.body, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		line, _ := s.lines(call)
		switch name := types.ExprString(call.Fun); {
		case name == "time.Now":
			before = before || line <= at.Line
		case name == "time.Since" || calledName(call) == "Sub":
			behind = behind || line >= at.Line
		case line == at.Line && calledName(call) == callee:
			switch p := parent(around).(type) {
			case *ast.ExprStmt:
				unused = true
			case *ast.AssignStmt:
				unused = !slices.ContainsFunc(p.Lhs, func(x ast.Expr) bool { return !isNamed(x, "_") })
			}
		}
	})
	return before && behind || unused
}
