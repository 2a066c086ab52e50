package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// What calls of a library do besides returning something: decided by the package that the function or the receiver is of where the source
// shows that, and else by the name, and by whether anybody looks at what the call returns.

// waitsOnPurpose are functions of package time that let it pass, atomicChanges methods that change a counter or a flag.
var (
	waitsOnPurpose = []string{"time.Sleep", "time.After", "time.NewTimer", "time.NewTicker", "time.Tick"}
	atomicChanges  = lazily(`^(Add|Store|Swap|CompareAndSwap|Or|And)(Int32|Int64|Uint32|Uint64|Uintptr|Pointer)?$`)
	waitGroups     = lazily(`(?i)(wg|wait|group)$`)
)

// movesOn are functions and methods that read what comes next, and move on.
var movesOn = lazily(`^(Read|ReadFull|ReadAtLeast|ReadAll|ReadByte|ReadBytes|ReadRune|ReadString|ReadLine|ReadSlice|ReadFrom|Copy|CopyN|CopyBuffer|Fscan|Fscanf|Fscanln|Decode|Token|Scan|Next|NextPart|Recv|ReadMessage|ReadRecord)$`)

// changesNothing are functions of the library whose names say that they write, and that only make something.
var changesNothing = []string{"bytes.Replace", "bytes.ReplaceAll", "strings.Replace", "strings.ReplaceAll", "slices.Insert", "slices.Delete", "slices.Replace", "delete"}

// inMemory are packages, and single types, of the library whose values have nothing but what was put into them: a method may change that and
// nothing else.
var inMemory = lazily(`^(strings|bytes|container/(list|ring|heap)|math/.*|hash/.*|hash|crypto/.*|regexp|regexp/syntax|time|unicode.*|sort|strconv|net/url|net/netip|net/textproto|text/template|html/template|encoding/(hex|base64|binary)|reflect|go/.*)\.|^net/http\.Header$|^sync\.Pool$`)

// unchanging are types of the library that no method changes.
var unchanging = lazily(`^(time\.(Time|Duration|Location|Month|Weekday|Now|Date|Unix|UnixMilli|Since|Until|Parse.*|LoadLocation)?|regexp\.(Regexp|MustCompile|Compile)?|net/netip\..*|strings\.(Reader|Replacer)|unicode.*|sync\.Pool|encoding/(hex|base64|binary)\..*|hash/crc32\.Table)$`)

// passesOn are packages of the library whose values pass on what is written to them, or what they read, from what they were made of.
var passesOn = lazily(`^(bufio|io|encoding/(csv|json|xml|gob|pem)|compress/.*|text/tabwriter|archive/.*|mime/multipart)$`)

// writesElsewhere are packages of the standard library whose functions and methods change what is outside of the program: of others a name such as Update says nothing.
var writesElsewhere = lazily(`^(os|os/exec|io/ioutil|net|net/.*|database/sql|syscall)$`)

// onlyEnds are methods that a call which changes nothing else makes for its own use of something: they take and release, or look.
var onlyEnds = lazily(`^(Close|Release|Rollback|End|Stop|Done|Wait|Acquire|Cancel|Helper|Ping.*|Validate.*|Check.*|Verify.*|R?(Un)?[lL]ock|Do|DoChan|Range|Walk|Visit|Each|ForEach|Ascend.*|Descend.*|View|With.*|Get.*|Find.*|Select.*|Load.*|Query.*|Lookup.*|Parse.*|Fetch.*|Execute.*)$`)

// madeForItself tells of a call, with what is around it, that nobody looks at what it returns but an error: it is made for what it does.
func madeForItself(call *ast.CallExpr, around []ast.Node) bool {
	switch p := parent(around).(type) {
	case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt:
		return true
	case *ast.AssignStmt:
		if len(p.Rhs) != 1 || p.Rhs[0] != ast.Expr(call) {
			return false
		}
		return !slices.ContainsFunc(p.Lhs, func(x ast.Expr) bool {
			return !isNamed(x, "_") && !(isIdent(x) && isError(types.ExprString(x)))
		})
	case *ast.ReturnStmt:
		return false
	}
	return false
}

// call looks at a call and, where that is of the program, into what it may come to. alone tells that nobody looks at what it returns.
func (w *effectWalk) call(n *ast.CallExpr, alone bool) {
	fun := ast.Unparen(uninstantiated(n))
	if tv, ok := w.d.t.info.Types[n.Fun]; ok && tv.IsType() {
		return
	}
	name, text := ownCallName(n), types.ExprString(fun)
	sel, selects := fun.(*ast.SelectorExpr)
	pkg := w.d.t.fromPackage(fun)
	if isBuiltin(w.d, n) {
		if (name == "delete" || name == "clear" || name == "copy") && len(n.Args) > 0 && w.isOutside(n.Args[0]) && !isFreshPlace(w.d, w.decl, &ast.IndexExpr{X: n.Args[0]}) {
			w.note(n, "changes %s", types.ExprString(n.Args[0]))
		}
		return
	}
	if w.follow(n) {
		return
	}
	switch {
	case slices.Contains(waitsOnPurpose, text):
		w.note(n, "lets time pass")
	case pkg != "":
		w.function(n, pkg, name, alone)
	case w.d.t.callee(n) == nil && isFunctionValue(w.d, fun):
		w.calls(n, alone)
	case selects:
		w.method(n, sel, alone)
	}
}

// isFunctionValue tells of what is called that it is a variable, a field or an element.
func isFunctionValue(d *derivations, fun ast.Expr) bool {
	t := d.t.typeOf(fun)
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

// function looks at a call of a function of a package whose source is not there.
func (w *effectWalk) function(n *ast.CallExpr, pkg, name string, alone bool) {
	text := types.ExprString(n.Fun)
	first := func(is func(ast.Expr) bool) bool { return len(n.Args) > 0 && is(n.Args[0]) }
	standard := !strings.Contains(strings.SplitN(pkg, "/", 2)[0], ".")
	written := writtenBy(w.d, n)
	if w.setsBy(n, written) {
		return
	}
	switch {
	case pkg == "sync/atomic":
		if atomicChanges.MatchString(name) {
			w.note(n, "counts or stores in %s", types.ExprString(unrefer(n.Args[0])))
		}
	case pkg == "fmt" && strings.HasPrefix(name, "Print"), pkg == "fmt" && strings.HasPrefix(name, "Fprint"), pkg == "io" && (name == "WriteString" || strings.HasPrefix(name, "Copy")):
		if strings.HasPrefix(name, "Print") || first(w.writtenOut) {
			w.note(n, "writes")
		} else if pkg == "io" && name != "WriteString" && slices.ContainsFunc(n.Args, w.isOutside) {
			w.note(n, "reads on by %s", text)
		}
	case ofPackagePath(pkg, writesAtOnce):
		if alone {
			w.note(n, "writes")
		}
	case pkg == "os" && tableWrites.MatchString("os."+name):
		w.note(n, "changes files or settings by %s", text)
	case computes(pkg, name), inMemory.MatchString(pkg + "."):
	case (pkg == "io" || pkg == "fmt" || !standard) && movesOn.MatchString(name) && slices.ContainsFunc(n.Args, w.isOutside):
		w.note(n, "reads on by %s", text)
	case (!standard || writesElsewhere.MatchString(pkg)) && (writeNames.MatchString(name) || executes.MatchString(name)):
		w.note(n, "by the name of %s changes something", name)
	case alone && len(written) == 0 && !onlyEnds.MatchString(name) && !w.fills(n) && slices.ContainsFunc(n.Args, w.handsOn):
		w.note(n, "hands on what is not its own to %s", text)
	}
}

// setsBy notes of a call that it writes into memory which is not the function's own.
func (w *effectWalk) setsBy(n *ast.CallExpr, written []ast.Expr) bool {
	for _, x := range written {
		if w.isOutside(x) && !isFreshPlace(w.d, w.decl, &ast.IndexExpr{X: pointed(x)}) {
			w.note(n, "changes %s by %s", types.ExprString(unrefer(x)), types.ExprString(n.Fun))
			return true
		}
	}
	return false
}

// handsOn tells of an argument that who gets it may change what is not the function's own.
func (w *effectWalk) handsOn(x ast.Expr) bool {
	if t := w.d.t.typeOf(x); t != nil && plainType(t, 4) {
		return false
	}
	return w.isOutside(x)
}

// fills tells of a call that it is given the address of what is the function's own: it may be made to fill that.
func (w *effectWalk) fills(n *ast.CallExpr) bool {
	return slices.ContainsFunc(n.Args, func(x ast.Expr) bool {
		u, ok := ast.Unparen(x).(*ast.UnaryExpr)
		return ok && u.Op == token.AND && !w.isOutside(u.X)
	})
}

// writtenOut tells of what is written to that somebody else may see it: it is no buffer of the function's own.
func (w *effectWalk) writtenOut(x ast.Expr) bool {
	if text := types.ExprString(x); text == "io.Discard" || w.isOutside(x) {
		return text != "io.Discard"
	} else if text == "os.Stdout" || text == "os.Stderr" {
		return true
	}
	if inMemory.MatchString(libraryTypeOf(w.d, x, 0).text()) || isTerminal(w.d, x) {
		return false
	}
	over, made := w.madeOver(x)
	return !made || slices.ContainsFunc(over, w.writtenOut)
}

// madeOver is what a value passes on to what is written to it, where the function makes it over that: a compressor, a buffered writer. One end of
// a pipe of its own passes it to whoever has the other end.
func (w *effectWalk) madeOver(x ast.Expr) (over []ast.Expr, ok bool) {
	call, isCall := ast.Unparen(x).(*ast.CallExpr)
	if v := w.d.variable(ast.Unparen(x)); v != nil && isLocal(w.decl, v) && !isGiven(w.decl, v) {
		if defs := w.d.definitions(w.decl)[v]; len(defs) == 1 {
			call, isCall = ast.Unparen(defs[0].x).(*ast.CallExpr)
		}
	}
	if !isCall {
		return nil, false
	}
	pkg, name := w.d.t.fromPackage(uninstantiated(call)), ownCallName(call)
	if pkg == "io" && name == "Pipe" {
		return nil, true
	}
	switch {
	case pkg == "io" && name == "MultiWriter":
		return call.Args, true
	case passesOn.MatchString(pkg) && strings.HasPrefix(name, "New") && len(call.Args) > 0:
		return call.Args[:1], true
	}
	return nil, false
}

// wraps tells of a value that is made of something outside, to which it passes on what it is given.
func (w *effectWalk) wraps(x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	return ok && passesOn.MatchString(w.d.t.fromPackage(uninstantiated(call))) && strings.HasPrefix(ownCallName(call), "New") && slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return mayLeadTo(x) && w.handsOn(x) })
}

// method looks at a call of a method whose source is not there.
func (w *effectWalk) method(n *ast.CallExpr, sel *ast.SelectorExpr, alone bool) {
	name, text, on := sel.Sel.Name, types.ExprString(n.Fun), types.ExprString(sel.X)
	of, outside := libraryTypeOf(w.d, sel.X, 0), w.isOutside(sel.X) || w.wraps(sel.X)
	if of.pkg == "" {
		if t := w.d.t.typeOf(sel.X); t != nil {
			of = standardType(t)
		}
	}
	if w.setsBy(n, writtenBy(w.d, n)) {
		return
	}
	switch {
	case unchanging.MatchString(of.text()):
	case ofPackagePath(of.pkg, writesAtOnce):
		if alone {
			w.note(n, "writes")
		}
	case alone && strings.HasPrefix(name, "Set") && w.chained(sel.X) && w.partOfValue(sel.X):
		w.note(n, "changes %s by %s", on, text)
	case inMemory.MatchString(of.text()):
		switch {
		case outside && (alone && !onlyEnds.MatchString(name) && !w.fills(n) || fillers.MatchString(name)) && !tells[name] && !isFreshPlace(w.d, w.decl, &ast.StarExpr{X: sel.X}):
			w.note(n, "changes %s by %s", on, text)
		case alone && len(n.Args) > 0 && strings.HasSuffix(of.pkg, "/template") && strings.HasPrefix(name, "Execute") && w.writtenOut(n.Args[0]):
			w.note(n, "writes")
		}
	case of.pkg == "sync":
		if outside && of.name == "Map" && (alone && name != "Range" || slices.Contains([]string{"LoadOrStore", "LoadAndDelete", "Swap", "CompareAndSwap", "CompareAndDelete"}, name)) {
			w.note(n, "counts or stores in %s", on)
		}
	case atomicChanges.MatchString(name) && (of.pkg == "sync/atomic" || outside && !waitGroups.MatchString(on)), outside && (name == "LoadOrStore" || name == "LoadAndDelete" || name == "CompareAndDelete"):
		if outside {
			w.note(n, "counts or stores in %s", on)
		}
	case movesOn.MatchString(name) && (outside || slices.ContainsFunc(n.Args, w.isOutside)):
		w.note(n, "reads on by %s", text)
	case on == "os.Stdout" || on == "os.Stderr", outWriters.MatchString(name) && w.writtenOut(sel.X):
		w.note(n, "writes")
	case writeNames.MatchString(name) || executes.MatchString(name):
		w.note(n, "by the name of %s changes something", name)
	case alone && (outside || w.chained(sel.X)) && !onlyEnds.MatchString(name) && !lockNames.MatchString(name) && !waitGroups.MatchString(on) && !w.fills(n):
		w.note(n, "calls %s", text)
	}
}

// chained tells of a call of a library's method that it begins with something outside, as that of a counter with labels does.
func (w *effectWalk) chained(x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok || w.d.t.callee(call) != nil {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && w.d.t.fromPackage(sel) == "" && (w.isOutside(sel.X) || w.chained(sel.X))
}

// partOfValue tells of what methods of a reflect.Value give that it is a part of what that leads to.
func (w *effectWalk) partOfValue(x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return libraryTypeOf(w.d, x, 0).pkg == "reflect"
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"Elem", "Field", "FieldByName", "FieldByIndex", "Index", "Addr"}, sel.Sel.Name) && w.partOfValue(sel.X)
}

// standardType is a type that go/types knows, by the path of its package.
func standardType(t types.Type) libraryType {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := types.Unalias(t).(*types.Named); ok && named.Obj().Pkg() != nil {
		if pkg := named.Obj().Pkg().Path(); pkg == "sync" || pkg == "sync/atomic" {
			return libraryType{pkg, named.Obj().Name()}
		}
	}
	return libraryType{}
}

// changesByName tells of a call of a library that by its name it changes something, where its package does not say otherwise.
func changesByName(d *derivations, call *ast.CallExpr) bool {
	name, pkg := ownCallName(call), d.t.fromPackage(uninstantiated(call))
	if !writeNames.MatchString(name) && !executes.MatchString(name) || slices.Contains(changesNothing, types.ExprString(call.Fun)) {
		return false
	}
	if sel, ok := ast.Unparen(uninstantiated(call)).(*ast.SelectorExpr); ok && pkg == "" {
		return !unchanging.MatchString(libraryTypeOf(d, sel.X, 0).text())
	}
	return !computes(pkg, name)
}
