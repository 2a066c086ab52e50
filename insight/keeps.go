package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// How the source keeps what a line allocates. A store is a place that a value goes to and
// that outlives the function: a map, a slice or a field of something else, a channel.

// keepsAt is one place in the source that keeps a value.
type keepsAt struct {
	kind      storeKind
	container string // what it goes into: "s.cache"
	file      string
	line      int
	// part tells that it is a part of what was allocated: a slice or a string of it.
	part bool
	// cut is, of a part, the line that puts it, without a copy, into what is stored; expr is the part.
	cutFile string
	cutLine int
	expr    string
	text    bool // it is a part of a string, or of a slice of bytes
	// also are the lines that put other parts into the same value: "scan.go:61".
	also string
	// direct is what copies the part where it goes in itself, and nothing that has it in it: "strings.Clone". It can be copied right there.
	direct string
	// copied is the line that copies the part before it is kept, in a branch: "scan.go:61".
	copied string
	returned
	// name is the container by the type that it belongs to: "Cache.items".
	name string
	// among is how many functions a call on the way may mean; 0 where there is one.
	among int
	// branch tells that it stands in a branch, or a call on the way does.
	branch bool
	// wraps tells of an index that it is a remainder: of a ring, which is as long as it was made.
	wraps bool
	// anew is, of a map that has a pointer to what was allocated in its key, the type of that: see [freshKey].
	anew string
}

// storeKind is what a value goes into.
type storeKind int

const (
	intoMap storeKind = iota
	intoSlice
	intoField
	intoChannel
	intoSyncMap
	intoLinked // a list of container/list
	intoList   // a field that is given a node which refers to what was there before
)

// taint is how a variable has to do with what was allocated. A part has the number of the cut
// that it comes from, see [keeper.cut].
type taint int

const (
	clean taint = 0
	whole taint = 1       // it is that, or has it in it
	part  taint = 1 << 16 // it is a piece of it, which keeps all
)

// isPart tells of a piece.
func (t taint) isPart() bool { return t >= part }

// cut is where a piece is made of the whole, and where it is first put into something.
type cut struct {
	file, expr string
	line       int
	put        bool
	also       string
	copied     string // where it may be copied before it is kept: "scan.go:61"
	returned
}

// maxKeepDepth is how far calls are followed down, and maxKeepUp how far up to callers.
const (
	maxKeepDepth = 6
	maxKeepUp    = 3
)

// keeper follows a value through the source.
type keeper struct {
	c      *code
	funcs  map[string][]declaration // by name, of all sources of the recording
	stores []keepsAt
	depth  int
	// from is the statement that allocates, made the variable that it assigns that to.
	from ast.Node
	made string
	// back are functions that are handed down, by the name of the parameter.
	back map[string]*ast.FuncLit
	// seen are the functions that were followed, with what they return.
	seen map[*ast.FuncDecl]taint
	cuts []cut
	// text tells that a string or a slice of bytes is allocated. Then fields are the names of those
	// of structs that it is put into, and what functions of the sources return of it is followed.
	text   bool
	fields map[string]bool
	file   string // that of the function which is followed
	fn     *ast.FuncDecl
	among  int  // how many functions a call that was followed may mean
	branch bool // a call that was followed stands in a branch
	wraps  bool // what is stored overwrites an older one
	// fresh is the type of the object that the line makes anew each time, of which it gives a pointer on; anew is that of a key.
	fresh, anew string
	// What goes on without a call by name, and the fields whose channels have something.
	sent     []passedOn
	handed   []handed
	channels map[string]taint
	channel  string // the variable that is followed
	// passed is the file and the line at which a part was handed to another function first, on the way
	// that is followed.
	passed stack.Frame
	// results are those of functions with several, fills the parameters that calls have put something into.
	results map[*ast.FuncDecl][]taint
	fills   []filled
	// up is how what the frame's line makes has to do with what was allocated, rest what is done with the parts
	// that are not kept: see [comesUp].
	up    taint
	both  map[*ast.FuncDecl]bool // what they return may be the whole as well
	rest  string
	parts partWays
	// beyond tells that maps which the functions make themselves are followed to where they go.
	beyond bool
}

// declaration is a function with its file.
type declaration struct {
	*ast.FuncDecl
	file string
}

// storesOf finds where what a line allocates goes: in its function, in what that calls with it, and, where it is returned, in the callers,
// which are the frames after the first. A map that one of these functions makes counts only where nothing else keeps it.
func (c *code) storesOf(frames []stack.Frame) []keepsAt {
	if all := storesBeyond(c, frames, true); len(all) > 0 {
		return all
	}
	return storesBeyond(c, frames, false)
}

// storesBeyond finds the stores of [storesOf]; with beyond, maps that the functions make themselves are followed.
func storesBeyond(c *code, frames []stack.Frame, beyond bool) []keepsAt {
	return keeperOf(c, frames, beyond).stores
}

// keeperOf is what has followed what a line allocates.
func keeperOf(c *code, frames []stack.Frame, beyond bool) *keeper {
	k := &keeper{c: c, beyond: beyond, funcs: c.functions(), seen: map[*ast.FuncDecl]taint{}, back: map[string]*ast.FuncLit{}, fields: map[string]bool{}, channels: map[string]taint{}, up: whole}
	for i, f := range frames[:min(len(frames), maxKeepUp)] {
		fn := c.function(f)
		if fn == nil {
			return k
		}
		vars := map[string]taint{}
		k.file, k.fn = f.File, fn
		if i == 0 {
			k.text = k.makesText(f)
		}
		returned := k.begin(f, fn, vars)
		takeHanded(k, f.File, f.Line)
		t := k.body(declaration{fn, f.File}, vars)
		k.up = comesUp(k, fn, t, returned)
		returned = t > clean || returned
		if len(k.stores) > 0 || !returned && len(k.handed) == 0 || i == len(frames)-1 {
			break
		}
	}
	receiveSent(k)
	return k
}

// functions are all that the sources declare, by name.
func (c *code) functions() map[string][]declaration {
	if c.declared != nil {
		return c.declared
	}
	c.declared = map[string][]declaration{}
	for _, d := range allFunctions(c) {
		c.declared[d.Name.Name] = append(c.declared[d.Name.Name], d)
	}
	return c.declared
}

// allFunctions are all that the sources declare, in their order.
func allFunctions(c *code) (all []declaration) {
	c.eachSource(func(file string, s *syntax) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				all = append(all, declaration{f, file})
			}
		}
	})
	return all
}

// function is the declaration that a frame is in; nil without the source.
func (c *code) function(f stack.Frame) (fn *ast.FuncDecl) {
	c.parse(f.File).onLine(f.Line, func(n ast.Node, _ []ast.Node) {
		if d, ok := n.(*ast.FuncDecl); ok && d.Body != nil {
			fn = d
		}
	})
	return fn
}

// begin taints what the line of a frame assigns, and stores what it stores itself; it
// tells whether the line returns what it allocates.
func (k *keeper) begin(f stack.Frame, fn *ast.FuncDecl, vars map[string]taint) (returned bool) {
	s := k.c.parse(f.File)
	s.onLine(f.Line, func(n ast.Node, _ []ast.Node) {
		first, _ := s.lines(n)
		switch n := n.(type) {
		case *ast.AssignStmt:
			if first != f.Line && !makesPart(s, n.Rhs, f.Line) {
				return
			}
			k.from, k.made = n, ""
			noteFresh(k, n.Rhs)
			for i, lhs := range n.Lhs {
				switch lhs := lhs.(type) {
				case *ast.Ident:
					if i == 0 && lhs.Name != "_" {
						k.made, vars[lhs.Name] = lhs.Name, k.up
					}
				default:
					if intoOwnMap(k, lhs, k.up, vars) {
						k.made = rootName(lhs)
						continue
					}
					if noteOwn(k, lhs) {
						k.made = rootName(lhs)
						vars[k.made] = k.up
					}
					k.store(f.File, lhs, n.Rhs[min(i, len(n.Rhs)-1)], k.up)
				}
			}
		case *ast.ReturnStmt:
			if first == f.Line || makesPart(s, n.Results, f.Line) {
				returned = true
				noteFresh(k, n.Results)
			}
		case *ast.SendStmt:
			k.send(f.File, n, k.up)
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && builderOf(k.fn, sel.X) != "" && first == f.Line {
				k.text, vars[types.ExprString(sel.X)] = true, whole
			}
			k.nested(n, f.Line, f.File)
		}
	})
	return returned
}

// nested follows a call with an argument that a line makes: what another call on the line
// returns, or a composite literal that the line is a part of.
func (k *keeper) nested(call *ast.CallExpr, line int, file string) {
	s := k.c.parse(file)
	begins, _ := s.lines(call)
	for i, arg := range call.Args {
		first, _ := s.lines(arg)
		inner, ok := arg.(*ast.CallExpr)
		if ok && begins == line && first == line && !copies(inner) || begins == line && first == line && makesTextHere(arg) || isComposite(arg) && s.covers(arg, line) {
			k.pass(file, call, i, k.up)
		}
	}
}

// isComposite tells of a composite literal, or the address of one.
func isComposite(x ast.Expr) bool {
	_, ok := unrefer(x).(*ast.CompositeLit)
	return ok
}

// body follows tainted variables through a function, in the order of its lines, and tells
// how what it returns has to do with them.
func (k *keeper) body(fn declaration, vars map[string]taint) (returned taint) {
	if t, ok := k.seen[fn.FuncDecl]; ok || k.depth > maxKeepDepth {
		k.parts.lost = k.parts.lost || !ok
		return t
	}
	k.seen[fn.FuncDecl] = clean
	k.depth++
	defer func(file string, in *ast.FuncDecl) {
		k.depth--
		k.seen[fn.FuncDecl], k.file, k.fn = returned, file, in
	}(k.file, k.fn)
	k.file, k.fn = fn.file, fn.FuncDecl
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			k.assign(fn.file, n, vars)
		case *ast.IncDecStmt:
			if x, ok := n.X.(*ast.IndexExpr); ok && k.of(x.Index, vars) > clean {
				addKey(k, fn.file, x, k.of(x.Index, vars))
			}
		case *ast.RangeStmt:
			if t := k.of(n.X, vars); t > clean {
				each := n.Value
				if k.isSeq(n.X) || n.Value == nil && isChannel(k, n.X) {
					each = n.Key
				}
				if id, ok := each.(*ast.Ident); ok {
					if _, made := n.X.(*ast.CallExpr); made && t.isPart() && storesEach(n, id.Name) {
						t = whole // all parts of it are kept
					}
					vars[id.Name] = max(t, vars[id.Name])
				}
			}
		case *ast.SendStmt:
			if t := k.of(n.Value, vars); t > clean {
				k.send(fn.file, n, t)
			}
		case *ast.CallExpr:
			k.call(fn.file, n, vars)
		case *ast.ReturnStmt:
			for _, r := range n.Results {
				t := k.of(r, vars)
				if returned = max(returned, t); t == whole {
					noteWhole(k, fn.FuncDecl)
				}
			}
			noteResults(k, fn.FuncDecl, n, vars)
		}
		return true
	})
	return returned
}

// assign taints what is assigned, and notes what is stored.
func (k *keeper) assign(file string, n *ast.AssignStmt, vars map[string]taint) {
	if n == k.from {
		if k.made != "" {
			vars[k.made] = k.up // whatever was in it before
		}
		return
	}
	takeCopies(k, file, n, vars)
	for i, lhs := range n.Lhs {
		rhs := n.Rhs[min(i, len(n.Rhs)-1)]
		t := resultOf(k, n, i, k.of(rhs, vars))
		if id, ok := lhs.(*ast.Ident); ok {
			if t == clean && isChannel(k, id) || t > clean && storesInPackage(k, file, n, id, rhs, t) {
				continue // its make does not empty it
			}
			if before, known := vars[id.Name]; known || t > clean {
				if k.text && (id.Name == "err" || id.Name == "ok") {
					continue
				}
				if n.Tok == token.DEFINE || !known || t > before || !mentions(rhs, id.Name) {
					vars[id.Name] = t
				}
				if copied, ok := rhs.(*ast.CallExpr); ok && copies(copied) && before > clean {
					vars[id.Name] = before // it is another one, or may be left out: see [takeCopies]
				}
			}
			continue
		}
		if t > clean && oneOfNew(k, lhs, rhs, n) {
			vars[rootName(lhs)] = together(t, vars[rootName(lhs)])
			k.carry(lhs, vars, t)
			continue
		}
		if t.isPart() && keepsAllParts(n) && k.cuts[t-part].file == file && k.cuts[t-part].line == k.lineOf(file, n.Pos()) {
			t = whole
		}
		if holder := vars[rootName(lhs)]; t > clean && !(t.isPart() && holder == whole && k.text) { // which has the whole besides
			if appendsNumbers(k, lhs, rhs) {
				continue
			}
			k.carry(lhs, vars, t)
			own := intoOwn(k, lhs)
			if own {
				notePassing(k, file, lhs, t)
			}
			if !own && !intoOwnMap(k, lhs, t, vars) {
				k.store(file, lhs, rhs, t)
			}
			if _, field := lhs.(*ast.SelectorExpr); field && k.passed.File == "" {
				k.put(t, lhs)
			}
		}
		if x, ok := lhs.(*ast.IndexExpr); ok && k.of(x.Index, vars) > clean {
			addKey(k, file, x, k.of(x.Index, vars))
		}
	}
}

// store notes an assignment to what outlives the function.
func (k *keeper) store(file string, lhs, rhs ast.Expr, t taint) {
	if holdsNumbers(k.c, lhs) {
		return
	}
	switch x := lhs.(type) {
	case *ast.IndexExpr:
		k.wraps = isRemainder(x.Index)
		k.add(intoMap, file, x.X, x.Pos(), t)
		k.wraps = false
	case *ast.SelectorExpr:
		if call, ok := rhs.(*ast.CallExpr); ok && types.ExprString(call.Fun) == "append" {
			k.add(intoSlice, file, x, x.Pos(), t)
			return
		}
		if hasItself(rhs, types.ExprString(x)) {
			k.add(intoList, file, x, x.Pos(), t)
			return
		}
		k.add(intoField, file, x, x.Pos(), t)
	}
}

// send notes what goes into a channel.
func (k *keeper) send(file string, n *ast.SendStmt, t taint) {
	k.add(intoChannel, file, n.Chan, n.Pos(), t)
	s := passedOn{types.ExprString(n.Chan), file, k.lineOf(file, n.Pos()), t}
	if !slices.ContainsFunc(k.sent, func(o passedOn) bool { return o.channel == s.channel && o.file == s.file }) {
		k.sent = append(k.sent, s)
	}
}

func (k *keeper) add(kind storeKind, file string, container ast.Expr, at token.Pos, t taint) {
	s := keepsAt{kind: kind, container: types.ExprString(container), file: file, line: k.lineOf(file, at), part: t.isPart(), name: nameOf(k, container), among: k.among, text: k.text, branch: k.branch || k.fn != nil && mayNotRun(k.fn.Body, container, ""), wraps: k.wraps, anew: k.anew}
	if s.part {
		c := k.cuts[t-part]
		s.expr, s.cutFile, s.cutLine, s.also, s.copied, s.returned = c.expr, c.file, c.line, c.also, c.copied, c.returned
		s.rest = k.rest
		if s.direct = takesTextItself(k, kind, container); s.direct != "" {
			s.cutFile, s.cutLine, s.also = s.file, s.line, ""
		} else if !c.put {
			s.cutFile, s.cutLine = s.file, s.line
			if k.passed.File != "" { // whoever keeps it may keep anything
				s.cutFile, s.cutLine = k.passed.File, k.passed.Line
			}
		}
	}
	if !slices.Contains(k.stores, s) {
		k.stores = append(k.stores, s)
	}
}

// call follows a call with tainted arguments down.
func (k *keeper) call(file string, n *ast.CallExpr, vars map[string]taint) {
	if id, ok := n.Fun.(*ast.Ident); ok && k.back[id.Name] != nil {
		f := k.back[id.Name]
		delete(k.back, id.Name)
		k.callBack(f, k.fileOf(f), n, vars)
		return
	} else if ok {
		handDown(k, id.Name, n, vars)
	}
	if t := k.ofReceiver(n, vars); t > clean {
		k.down(n, receiver, t)
	}
	for i, arg := range n.Args {
		t := k.of(arg, vars)
		if t == clean {
			continue
		}
		if k.pass(file, n, i, t) {
			return
		}
		noteRest(k, n, i, t, vars)
		takeFilled(k, n, vars)
	}
}

// pass follows an argument of a call; it tells whether the call stores it.
func (k *keeper) pass(file string, call *ast.CallExpr, arg int, t taint) (stored bool) {
	if f, ok := call.Fun.(*ast.SelectorExpr); ok && len(call.Args) == 1 && (f.Sel.Name == "PushFront" || f.Sel.Name == "PushBack") && len(k.fitting(call, arg)) == 0 { // of container/list
		k.add(intoLinked, file, f.X, call.Pos(), t)
		return true
	}
	if types.ExprString(call.Fun) == "heap.Push" && arg == 1 && len(call.Args) == 2 {
		k.add(intoSlice, file, unrefer(call.Args[0]), call.Pos(), t)
		return true
	}
	if storesInSyncMap(k, call, arg) {
		addToSyncMap(k, file, call, arg, t)
		return true
	}
	k.down(call, arg, t)
	return false
}

// down follows an argument into the function of the sources that is called, or those where
// that is a method of an interface, and tells how what they return has to do with it.
func (k *keeper) down(call *ast.CallExpr, arg int, t taint) (returned taint) {
	all := thatRan(k.c, k.fitting(call, arg))
	if len(all) == 0 || len(all) > maxFitting || call.Ellipsis.IsValid() {
		k.parts.lost = k.parts.lost || len(all) > 0 || len(k.funcs[calledName(call)]) > 1 // which of these is called is not known
		return clean
	}
	defer func(n int, b bool) { k.among, k.branch = n, b }(k.among, k.branch)
	k.branch = k.branch || k.fn != nil && mayNotRun(k.fn.Body, call, "")
	if len(all) > 1 {
		k.among = max(k.among, len(all))
	}
	if t.isPart() && k.passed.File == "" {
		k.passed = stack.Frame{File: k.file, Line: k.lineOf(k.file, call.Pos())}
		defer func() { k.passed = stack.Frame{} }()
	}
	for _, fn := range all {
		returned = max(returned, k.into(fn, call, arg, t))
	}
	return returned
}

// into follows an argument of a call into one function.
func (k *keeper) into(fn declaration, call *ast.CallExpr, arg int, t taint) taint {
	vars := map[string]taint{}
	if r := fn.Recv; arg == receiver && r != nil && len(r.List) == 1 && len(r.List[0].Names) == 1 {
		vars[r.List[0].Names[0].Name] = t
	}
	for i, p := range parameters(fn.Type) {
		if i == arg {
			vars[p] = t
		}
		if i < len(call.Args) {
			if f, ok := call.Args[i].(*ast.FuncLit); ok {
				k.back[p] = f
			}
		}
	}
	before := len(k.stores)
	t = k.body(fn, vars)
	noteFilled(k, fn, call, arg, before, vars)
	return t
}

// parameters are the names of a function's.
func parameters(f *ast.FuncType) (names []string) {
	for _, field := range f.Params.List {
		for _, p := range field.Names {
			names = append(names, p.Name)
		}
	}
	return names
}

// of tells how an expression has to do with what was allocated.
func (k *keeper) of(e ast.Expr, vars map[string]taint) (t taint) {
	switch e := e.(type) {
	case *ast.Ident:
		return vars[e.Name]
	case *ast.ParenExpr:
		return k.of(e.X, vars)
	case *ast.UnaryExpr:
		if e.Op == token.AND || e.Op == token.ARROW {
			return k.of(e.X, vars)
		}
	case *ast.KeyValueExpr:
		t = k.of(e.Value, vars)
		if key, ok := e.Key.(*ast.Ident); ok && t > clean {
			k.fields[key.Name] = true
		}
		return t
	case *ast.CompositeLit:
		for _, x := range e.Elts {
			one := k.of(x, vars)
			k.put(one, x)
			putInto(k, one, x)
			switch {
			case t.isPart() && one.isPart():
				k.beside(t, one) // the first one is named
			case t == whole || one == whole:
				t = whole // a part beside it keeps nothing more
			default:
				t = max(t, one)
			}
		}
		return t
	case *ast.SelectorExpr:
		if t, ok := k.channels[e.Sel.Name]; ok {
			return t
		}
		if k.fields[e.Sel.Name] {
			return k.of(e.X, vars)
		}
	case *ast.SliceExpr:
		if lacksLittle(e) {
			return k.of(e.X, vars)
		}
		return k.cutOf(k.of(e.X, vars), e)
	case *ast.IndexExpr:
		if t = k.of(e.X, vars); t.isPart() {
			return t
		}
	case *ast.CallExpr:
		return k.ofCall(e, vars)
	case *ast.StarExpr:
		if call, ok := e.X.(*ast.CallExpr); ok {
			t, _ = aliasedText(k, call, vars)
			return t
		}
	}
	return clean
}

func (k *keeper) ofCall(e *ast.CallExpr, vars map[string]taint) (t taint) {
	if copies(e) {
		return clean
	}
	if t, ok := aliasedText(k, e, vars); ok {
		return t
	}
	at := 0
	for i, arg := range e.Args {
		if one := k.of(arg, vars); one > t {
			t, at = one, i
		}
	}
	if t == clean {
		if of := k.ofReceiver(e, vars); of > clean {
			if sharesBuilder(k.fn, e) {
				return of
			}
			return k.down(e, receiver, of)
		}
		return clean
	}
	switch f := e.Fun.(type) {
	case *ast.Ident:
		if f.Name == "append" {
			for _, arg := range e.Args {
				t = together(t, k.of(arg, vars))
			}
			k.put(t, e.Args[at])
			return t
		}
	case *ast.SelectorExpr:
		if cuts(f) {
			if strings.HasPrefix(f.Sel.Name, "Trim") {
				return t // hardly anything of it goes
			}
			return k.cutOf(t, e)
		}
	}
	if k.text {
		return k.down(e, at, t)
	}
	return clean
}

// receiver stands for the number of an argument.
const receiver = -1

// ofReceiver tells how what a method is called on has to do with a text.
func (k *keeper) ofReceiver(e *ast.CallExpr, vars map[string]taint) taint {
	if f, ok := e.Fun.(*ast.SelectorExpr); ok && k.text {
		return k.of(f.X, vars)
	}
	return clean
}

// cutOf notes that an expression makes a piece of what has a taint.
func (k *keeper) cutOf(t taint, e ast.Expr) taint {
	if t != whole {
		return t
	}
	k.cuts = append(k.cuts, cut{file: k.file, expr: types.ExprString(e), line: k.lineOf(k.file, e.Pos())})
	return part + taint(len(k.cuts)-1)
}

// put notes that a piece is put into a value at an expression: that line decides that it is kept.
func (k *keeper) put(t taint, at ast.Expr) {
	if !t.isPart() || k.cuts[t-part].put {
		return
	}
	c := &k.cuts[t-part]
	c.file, c.line, c.put = k.file, k.lineOf(k.file, at.Pos()), true
}

// beside notes that another piece is put into the same value as one.
func (k *keeper) beside(t, other taint) {
	c, o := &k.cuts[t-part], k.cuts[other-part]
	at := fmt.Sprintf("%s:%d", baseName(o.file), o.line)
	if o.file == c.file && o.line == c.line || strings.Contains(c.also, at) {
		return
	}
	if c.also != "" {
		c.also += ", "
	}
	c.also += at
}

// lineOf is the line of a position in a file.
func (k *keeper) lineOf(file string, at token.Pos) int {
	if s := k.c.parse(file); s != nil {
		return s.fset.PositionFor(at, false).Line
	}
	return 0
}

// textMakers are functions, by their names, whose results are new strings or slices of bytes.
var textMakers = lazily(`^(string|\[\]byte|make|(strings|bytes)\.(Repeat|Join|Replace|ReplaceAll|ToLower|ToUpper)|io\.ReadAll|ioutil\.(ReadAll|ReadFile)|os\.ReadFile|bytes\.Clone|strings\.Clone|.*\.(String|Text|ReadString|ReadBytes|DecodeString|EncodeToString|Bytes|ReadFile))$`)

// makesText tells whether a line makes a string or a slice of bytes, and notes the field of the
// struct that it puts that into.
func (k *keeper) makesText(f stack.Frame) (makes bool) {
	is := func(n ast.Node) (found bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			found = found || ok && textMakers.MatchString(types.ExprString(call.Fun)) && (types.ExprString(call.Fun) != "make" || len(call.Args) > 0 && types.ExprString(call.Args[0]) == "[]byte")
			return !found
		})
		return found
	}
	s := k.c.parse(f.File)
	s.onLine(f.Line, func(n ast.Node, _ []ast.Node) {
		if first, _ := s.lines(n); first != f.Line {
			return
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			makes = makes || is(n)
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && is(n.Value) {
				k.fields[key.Name] = true
			}
		}
	})
	return makes
}

// isSeq tells of an expression that the standard library makes an iterator of it, over pieces.
func (k *keeper) isSeq(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || !k.text {
		return false
	}
	name := types.ExprString(call.Fun)
	return name == "strings.Lines" || name == "bytes.Lines" || strings.HasSuffix(name, "Seq") && (strings.HasPrefix(name, "strings.") || strings.HasPrefix(name, "bytes."))
}

// takesText tells whether a function can be called with so many arguments, and a text or something
// with one as one of them.
func takesText(f *ast.FuncType, arg, of int) bool {
	n := 0
	for _, field := range f.Params.List {
		for range max(1, len(field.Names)) {
			if n == arg {
				switch types.ExprString(field.Type) {
				case "int", "int64", "int32", "uint64", "uint32", "uint", "float64", "bool", "error", "time.Duration", "time.Time", "context.Context":
					return false
				}
			}
			n++
		}
	}
	variadic := n > 0 && strings.HasPrefix(types.ExprString(f.Params.List[len(f.Params.List)-1].Type), "...")
	return n == of || variadic && of >= n-1
}

// copies tells of a call, by its name, that its result has a memory of its own.
func copies(e *ast.CallExpr) bool {
	switch f := e.Fun.(type) {
	case *ast.Ident:
		return f.Name == "string" || f.Name == "len" || f.Name == "cap" || f.Name == "append" && copiesBytes(e)
	case *ast.ArrayType:
		return true // []byte(text)
	case *ast.SelectorExpr:
		return f.Sel.Name == "Clone" || f.Sel.Name == "Join" || strings.HasPrefix(f.Sel.Name, "Sprint")
	}
	return false
}

// cuts tells of a function of the standard library, by its name, that its results are parts
// of its argument.
func cuts(f *ast.SelectorExpr) bool {
	if x, ok := f.X.(*ast.Ident); ok && (x.Name == "strings" || x.Name == "bytes") {
		return slices.ContainsFunc([]string{"Split", "Fields", "Cut", "Trim"}, func(p string) bool { return strings.HasPrefix(f.Sel.Name, p) }) || f.Sel.Name == "Lines"
	}
	return strings.HasPrefix(f.Sel.Name, "Find") && (strings.Contains(f.Sel.Name, "String") || f.Sel.Name == "Find" || f.Sel.Name == "FindAll" || strings.Contains(f.Sel.Name, "Submatch")) && !strings.HasSuffix(f.Sel.Name, "Index")
}

// mentions tells whether an expression or a statement has a variable in it.
func mentions(e ast.Node, name string) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			found = true
		}
		return true
	})
	return found
}
