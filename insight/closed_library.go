package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// What calls in a closed call do: those of the sources are gone into; of those of libraries the names say whether they only read.

var (
	// saysReads are names of functions that only read, as far as a name says that.
	saysReads = lazily(`^(?:(?i:get|list|fetch|find|load|read|query|select|count|search|lookup|describe|show|exists?|stat|head)|(?:[Gg]et|GET|[Ll]ist|[Ff]etch|[Ff]ind|[Ll]oad|[Rr]ead|[Qq]uery|[Ss]elect|[Cc]ount|[Ss]earch|[Ll]ook[Uu]p|[Dd]escribe|[Ss]how|[Ee]xists?|[Hh]as|[Ii]s)[A-Z_0-9].*)$`)
	// readsAndMore are parts of such names that say that it does more.
	readsAndMore = lazily(`(Or|And|Then)[A-Z]|[a-z_](Next|Create|Delete|Remove|Update|Insert|Increment|Reset|Lock|Lease|Claim|Pop|Unique|Ticket)`)
	// saysDoes are names of functions that do something, or may do anything.
	saysDoes = lazily(`^(?i:do|send|exec|execute|run|move|perform|apply|process|handle|trigger|start|stop|open|close|reset|set|add|push|pop|take|next|acquire|reserve|book|buy|pay|charge|claim|lock|release|call|invoke|command|submit|touch|mark|ack|notify|register|login|begin|transfer|write|store|advance)([A-Z_0-9].*)?$`)
	// stateful are methods by which a value of a library gives something else each time.
	stateful = lazily(`^(Read|Scan|Next|Poll|Pop|Take|Recv|Receive|Peek|Discard|Token|Decode)`)
	// metricNames are names of counts, logs and traces, as words of an expression.
	metricNames = lazily(`(?i)(^|\.)(metrics?|stats|statsd|counters?|histograms?|gauges?|prom|prometheus|tracer|span|logger|log|slog|zap|sugar|_?[a-z]*(requests|calls|hits|misses|total|count))(\.|\[|$)`)
	// metricVerbs are what is called on them, and tells nobody in the program anything.
	metricVerbs = lazily(`^(Inc|Dec|Add|Observe|Record|SetAttributes|AddEvent|RecordError|SetStatus|End|WithLabelValues|With|WithField|WithFields|WithError|WithContext|Named|Start|(Log|Print|Debug|Info|Warn|Warning|Error|Trace)(f|w|ln|Context|Ctx)?|Str|Int|Err|Dur|Msg|Msgf)$`)
	// fillsGiven are functions and methods that put something into what they are given.
	fillsGiven = lazily(`^(Decode|Unmarshal|Scan|Sscan|Fscan|Read|Copy|Fprint|WriteTo|Write|StructScan|Select|Get|Bind|Put|Encode|Compact|Indent|HTMLEscape)`)
	// makesAnew are names of functions that make something of what they are given.
	makesAnew = lazily(`^(New|Must|Parse|With|Format)([A-Z_0-9].*)?$`)
	// tellsOnly are methods of library types that only tell something, of a context, a request, a time.
	tellsOnly = lazily(`^(Value|Err|Done|Deadline|Context|FormValue|PostFormValue|PathValue|Cookie|Cookies|UserAgent|Referer|BasicAuth|Query|Encode|EscapedPath|Hostname|Port|Values|Get|Has|Load|Range|Len|Cap|Bytes|String|Error|Front|Back|Available|Stats|Unwrap|Is|As|Type|Kind|Name|Size|Mode|ModTime|IsDir|Host|MatchString|Match|Find.*|ReplaceAll.*|Split|Clone|WithContext)$`)
)

// isMetric tells of what is changed that it is a count, a log or a trace, by its name.
func isMetric(x ast.Expr) bool { return metricNames.MatchString(types.ExprString(x)) }

// isOutward tells of a function of a library by its name that it asks a peer.
func isOutward(name string) bool {
	return slices.Contains([]string{"Do", "Get", "Head", "Post", "PostForm", "RoundTrip", "Query", "QueryContext", "QueryRow", "QueryRowContext", "Exec", "ExecContext"}, name)
}

// meant are the functions of the sources that a call may mean; known tells that it is one of the sources, or of an interface of theirs.
func (w *closedWalk) meant(f *closedFrame, n *ast.CallExpr) (all []*ast.FuncDecl, known bool) {
	fn := w.d.t.callee(n)
	if fn == nil {
		return nil, false
	}
	if decl := w.d.t.decls[fn]; decl != nil {
		return []*ast.FuncDecl{decl}, true
	}
	sig, ok := fn.Type().(*types.Signature)
	if !ok || sig.Recv() == nil || !types.IsInterface(sig.Recv().Type()) {
		return nil, false
	}
	of, _ := sig.Recv().Type().Underlying().(*types.Interface)
	for _, decl := range w.d.named[fn.Name()] {
		m, ok := w.d.t.info.Defs[decl.Name].(*types.Func)
		if !ok || decl.Recv == nil {
			continue
		}
		recv := m.Signature().Recv().Type()
		if of == nil || types.Implements(recv, of) || types.Implements(types.NewPointer(recv), of) {
			all = append(all, decl)
		}
	}
	return all, true
}

// enterFrame is a function that a call calls.
func (w *closedWalk) enterFrame(f *closedFrame, decl *ast.FuncDecl, n *ast.CallExpr) *closedFrame {
	in := &closedFrame{decl: decl, outer: f, given: map[types.Object]closedGiven{}, name: decl.Name.Name, asks: slices.ContainsFunc(n.Args, asksToGet)}
	for _, v := range parametersOf(w.d, decl) {
		if x := argumentFor(w.d, decl, n, v); x != nil {
			own := w.pointee(f, x, 0)
			if _, byPointer := v.Type().Underlying().(*types.Pointer); !byPointer && isStruct(v.Type()) {
				own = own && w.pointee(f, x, 0)
			}
			in.given[v] = closedGiven{x, f, own}
		}
	}
	return in
}

// asksToGet tells of an argument that it is the method of a request that only reads.
func asksToGet(x ast.Expr) bool {
	text := types.ExprString(x)
	if l, ok := x.(*ast.BasicLit); ok && l.Kind == token.STRING {
		text, _ = strconv.Unquote(l.Value)
	}
	return slices.Contains([]string{"GET", "HEAD", "http.MethodGet", "http.MethodHead"}, text)
}

// call looks at a call; alone tells that nobody uses what it returns.
func (w *closedWalk) call(f *closedFrame, n *ast.CallExpr, alone bool) {
	fun := ast.Unparen(uninstantiated(n))
	if tv, ok := w.d.t.info.Types[n.Fun]; ok && tv.IsType() {
		return
	}
	if _, lit := fun.(*ast.FuncLit); lit {
		return
	}
	if id, ok := fun.(*ast.Ident); ok {
		if _, builtin := w.d.t.info.Uses[id].(*types.Builtin); builtin {
			if slices.Contains([]string{"delete", "clear", "copy", "close"}, id.Name) && len(n.Args) > 0 && !w.pointee(f, n.Args[0], 0) {
				w.opens(n, w.key(f, n.Args[0], 0), "%s is changed (%s)", types.ExprString(n.Args[0]), id.Name)
			}
			return
		}
	}
	name, text := calledName(n), types.ExprString(fun)
	decls, known := w.meant(f, n)
	sel, selected := fun.(*ast.SelectorExpr)
	switch {
	case selected && isMetric(sel.X) && metricVerbs.MatchString(name):
		if key := w.key(f, sel.X, 0); key != nil && alone {
			w.found.results = append(w.found.results, openPoint{at: w.d.placeOf(n), what: text + " is called", key: key})
		}
	case known && len(decls) == 0:
		w.opensUnseen(n, name, "what %s does is not in the sources; it is called", text)
	case known && len(decls) > 1:
		w.opensUnseen(n, name, "%s may be one of several methods; it is called", text)
	case known:
		w.enters(f, decls[0], n)
	case w.d.t.fromPackage(fun) != "":
		w.library(f, n, w.d.t.fromPackage(fun), name)
	case selected && w.d.field(sel) == nil && w.d.variable(sel.Sel) == nil:
		w.method(f, n, sel, alone)
	default:
		w.value(f, n, fun)
	}
}

// enters goes into a function.
func (w *closedWalk) enters(f *closedFrame, decl *ast.FuncDecl, n *ast.CallExpr) {
	depth := 0
	for up := f; up != nil; up = up.outer {
		if depth++; up.decl == decl && up.outer != nil {
			return
		}
	}
	if w.steps++; depth > closedDepth || w.steps > closedSteps {
		w.opens(n, nil, "more is called than was followed from %s", types.ExprString(n.Fun))
		return
	}
	w.look(w.enterFrame(f, decl, n), decl.Body)
}

// value looks at the call of a function that is a value.
func (w *closedWalk) value(f *closedFrame, n *ast.CallExpr, fun ast.Expr) {
	if v := w.d.variable(fun); v != nil {
		if given, ok := f.given[v]; ok {
			x := ast.Unparen(given.x)
			if _, lit := x.(*ast.FuncLit); lit {
				return // looked at where it stands
			}
			call := &ast.CallExpr{Fun: given.x, Args: n.Args, Lparen: n.Lparen, Rparen: n.Rparen}
			if decls, known := w.meant(given.f, call); known && len(decls) == 1 {
				w.enters(given.f, decls[0], call)
				return
			}
		}
		defs := w.d.definitions(f.decl)[v]
		if len(defs) == 1 && !isGiven(f.decl, v) {
			if _, lit := defs[0].x.(*ast.FuncLit); lit && f.outer != nil {
				return
			}
			if lit, ok := defs[0].x.(*ast.FuncLit); ok && w.steps < closedSteps { // of the function around: it stands before the calls
				w.steps++
				w.literal(f, lit, n)
				return
			}
			if call, ok := defs[0].x.(*ast.CallExpr); ok && strings.HasPrefix(calledName(call), "With") && w.d.t.fromPackage(call.Fun) == "context" {
				return // cancel
			}
		}
		for _, def := range defs {
			if call, ok := def.x.(*ast.CallExpr); ok && w.d.t.fromPackage(call.Fun) == "context" {
				return // cancel
			}
		}
	}
	w.opens(n, nil, "which function %s is, is not seen; it is called", types.ExprString(fun))
}

// literal goes into a function literal that a variable of the function around is.
func (w *closedWalk) literal(f *closedFrame, lit *ast.FuncLit, n *ast.CallExpr) {
	if f.lit == lit {
		return
	}
	in := &closedFrame{decl: f.decl, lit: lit, outer: f, given: map[types.Object]closedGiven{}, name: calledName(n), asks: slices.ContainsFunc(n.Args, asksToGet)}
	i := 0
	for _, field := range lit.Type.Params.List {
		for _, id := range field.Names {
			if v := w.d.variable(id); v != nil && i < len(n.Args) {
				in.given[v] = closedGiven{n.Args[i], f, w.pointee(f, n.Args[i], 0)}
			}
			i++
		}
	}
	w.look(in, lit.Body)
}

// library looks at the call of a function of a library.
func (w *closedWalk) library(f *closedFrame, n *ast.CallExpr, pkg, name string) {
	given := func(i int) bool { return i < len(n.Args) && !w.pointee(f, n.Args[i], 0) }
	switch pkg {
	case "os":
		w.ofSystem(f, n, name)
		return
	case "os/exec", "syscall", "golang.org/x/sys/unix", "unsafe", "plugin":
		w.opens(n, nil, "%s is called", types.ExprString(n.Fun))
		return
	case "net/http":
		switch name {
		case "Get", "Head":
			w.asks(f, n, 1)
		case "Post", "PostForm":
			w.asks(f, n, -1)
		case "Handle", "HandleFunc", "ListenAndServe", "Serve":
			w.opens(n, nil, "%s is called", types.ExprString(n.Fun))
		}
		return
	case "log", "log/slog", "context", "time", "errors", "runtime", "unicode", "sync", "io/fs", "net/url", "net/netip", "regexp", "html", "mime", "cmp", "math", "math/rand", "math/rand/v2", "hash/fnv", "hash/crc32", "hash/maphash", "text/template", "html/template", "net/textproto", "crypto/tls":
		return
	case "sync/atomic":
		switch {
		case strings.HasPrefix(name, "Load"):
			w.reads(n, w.key(f, n.Args[0], 0), "%s is read", types.ExprString(unrefer(n.Args[0])))
		case given(0) && !isMetric(unrefer(n.Args[0])):
			w.opens(n, w.key(f, n.Args[0], 0), "%s is called", types.ExprString(n.Fun))
		}
		return
	case "fmt":
		if strings.HasPrefix(name, "F") && given(0) && !isOutput(w, n.Args[0]) || strings.HasPrefix(name, "Sscan") && slices.ContainsFunc(n.Args[1:], func(x ast.Expr) bool { return !w.pointee(f, x, 0) }) || strings.HasPrefix(name, "Scan") {
			w.opens(n, w.key(f, n.Args[0], 0), "%s is given to %s", types.ExprString(n.Args[0]), types.ExprString(n.Fun))
		}
		return
	case "sort", "slices", "maps", "bytes", "io", "bufio", "encoding/json", "encoding/xml", "encoding/binary", "encoding/gob", "encoding/csv", "encoding/hex", "encoding/base64", "compress/gzip", "compress/flate", "container/heap", "container/list", "crypto/sha256", "crypto/sha1", "crypto/md5", "crypto/hmac", "crypto/rand":
		if strings.HasPrefix(name, "New") || computes(pkg, name) && pkg != "slices" && pkg != "maps" || pkg == "slices" && (strings.HasPrefix(name, "Contains") || strings.HasPrefix(name, "Index") || name == "Clone" || name == "Max" || name == "Min") {
			return
		}
		for i, x := range n.Args {
			if given(i) {
				opensAt(w, f, n, x, "%s is given to %s", types.ExprString(x), types.ExprString(n.Fun))
				return
			}
		}
		return
	}
	switch {
	case computes(pkg, name), harmlessLibrary(pkg, name):
	case isMetric(&ast.Ident{Name: lastOfPath(pkg)}):
	case makesAnew.MatchString(name):
	case len(n.Args) > 0 && strings.Contains(strings.Split(pkg, "/")[0], ".") && w.pointee(f, n.Args[0], 0) && !isBasicOrUnknown(w.d, n.Args[0]): // of what the call has made
	case strings.Contains(strings.Split(pkg, "/")[0], ".") && saysReads.MatchString(name):
		w.asks(f, n, 1)
	default:
		w.opensUnseen(n, name, "what %s does is not in the sources; it is called", types.ExprString(n.Fun))
	}
}

// isBasicOrUnknown tells of a value that it is a text or a number, or that its type is not known and nothing made it.
func isBasicOrUnknown(d *derivations, x ast.Expr) bool {
	if of := d.t.typeOf(x); of != nil {
		return isBasic(of)
	}
	_, isName := ast.Unparen(x).(*ast.Ident)
	return !isName
}

// ofSystem looks at the call of a function of package os.
func (w *closedWalk) ofSystem(f *closedFrame, n *ast.CallExpr, name string) {
	file := ""
	if len(n.Args) > 0 {
		if tv, ok := w.d.t.info.Types[n.Args[0]]; ok && tv.Value != nil {
			file = tv.Value.ExactString()
		}
	}
	read := func(key any, name string) {
		w.found.reads = append(w.found.reads, openPoint{at: w.d.placeOf(n), what: types.ExprString(n.Fun) + " is called", key: key, name: name})
	}
	switch name {
	case "Getenv", "LookupEnv", "Environ", "ExpandEnv":
		read(placeEnvironment, "")
	case "Setenv", "Unsetenv", "Clearenv":
		w.opens(n, placeEnvironment, "%s is called", types.ExprString(n.Fun))
	case "Open", "ReadFile", "ReadDir", "Stat", "Lstat", "Readlink", "DirFS", "Getwd":
		read(placeFiles, file)
	case "IsNotExist", "IsExist", "Hostname", "Getpid", "TempDir", "UserHomeDir", "Executable", "Exit", "Expand":
	default:
		w.found.open = append(w.found.open, openPoint{at: w.d.placeOf(n), what: types.ExprString(n.Fun) + " is called", key: placeFiles, name: file})
	}
}

// isOutput tells of what is written to that it goes to whoever asked, or to the program's own output.
func isOutput(w *closedWalk, x ast.Expr) bool {
	text := types.ExprString(x)
	return text == "os.Stdout" || text == "os.Stderr" || text == "io.Discard" || libraryTypeOf(w.d, x, 0).text() == "net/http.ResponseWriter"
}

// method looks at the call of a method whose source is not there.
func (w *closedWalk) method(f *closedFrame, n *ast.CallExpr, sel *ast.SelectorExpr, alone bool) {
	name, text, of := sel.Sel.Name, types.ExprString(n.Fun), libraryTypeOf(w.d, sel.X, 0)
	key := w.key(f, sel.X, 0)
	isOther := strings.Contains(strings.Split(of.pkg, "/")[0], ".") || of.pkg == ""
	switch {
	case lockNames.MatchString(name), of.pkg == "sync" && (of.name == "WaitGroup" || of.name == "Once" || of.name == "Cond"):
	case of.text() == "net/http.ResponseWriter", isOutput(w, sel.X):
	case of.text() == "net/http.Client" || of.text() == "net/http." && isOutward(name) || name == "RoundTrip" || of.pkg == "" && name == "Do" && slices.ContainsFunc(n.Args, isRequestOf(w, f)):
		w.asks(f, n, methodAsked(w, f, n, name))
		throughTransports(w, f, n)
	case of.pkg == "database/sql" && of.name != "Rows" && of.name != "Row" && isOutward(name):
		if of.name == "Tx" || of.name == "Conn" {
			w.opens(n, key, "%s uses one connection; it is called", text)
			return
		}
		w.asks(f, n, statementAsked(w, f, n, name))
	case of.pkg == "database/sql" && (strings.HasPrefix(name, "Prepare") || strings.HasPrefix(name, "Ping") || name == "Stats"):
	case w.pointee(f, sel.X, 0):
		if fillsGiven.MatchString(name) {
			for _, x := range n.Args {
				if !isContext(x) && !w.pointee(f, x, 0) && !isOutput(w, x) {
					opensAt(w, f, n, x, "%s is given to %s", types.ExprString(x), text)
					return
				}
			}
		}
	case alone && name == "Add" && isMetric(sel.X), of.pkg == "sync/atomic" && alone && name == "Add" && len(n.Args) == 1 && isLiteral(n.Args[0]):
		if key != nil { // a count, which is in order unless somebody reads it
			w.found.results = append(w.found.results, openPoint{at: w.d.placeOf(n), what: text + " is called", key: key})
		}
	case of.pkg == "time" || of.pkg == "context" || tells[name] && len(n.Args) <= 1, of.pkg != "" && !isOther && tellsOnly.MatchString(name), isContext(sel.X) && tellsOnly.MatchString(name):
		w.reads(n, key, "%s is called", text)
	case isOther && slices.Contains([]string{"Query", "QueryRow", "QueryContext", "QueryRowContext"}, name):
		w.asks(f, n, statementAsked(w, f, n, name))
	case isOther && saysReads.MatchString(name) && !stateful.MatchString(name):
		w.reads(n, key, "%s is called", text)
		w.asks(f, n, 1)
	default:
		if isOther || of.pkg == "database/sql" { // a client is no place: that another call uses it too says nothing
			key = nil
		}
		w.opens(n, key, "%s is called", text)
		w.found.open[len(w.found.open)-1].peer, w.found.open[len(w.found.open)-1].local = isOther, madeAround(w, f, sel.X)
	}
}

// markLocal marks the point that was noted last.
func markLocal(w *closedWalk, f *closedFrame, x ast.Expr) {
	local := madeAround(w, f, x)
	if n := len(w.found.open); n > 0 {
		w.found.open[n-1].local = w.found.open[n-1].local || local && w.found.open[n-1].key == w.key(f, x, 0)
	}
}

// counts notes what is counted on: of a count by its name, that is an open point only if another call reads it.
func (w *closedWalk) counts(n ast.Node, x ast.Expr, key any, what string) {
	p := openPoint{at: w.d.placeOf(n), what: what, key: key}
	if key != nil && isMetric(x) {
		w.found.results = append(w.found.results, p)
		return
	}
	w.found.open = append(w.found.open, p)
}

// isRequestOf tells of an argument that it is a request of net/http.
func isRequestOf(w *closedWalk, f *closedFrame) func(ast.Expr) bool {
	return func(x ast.Expr) bool {
		return strings.HasPrefix(libraryTypeOf(w.d, x, 0).name, "Request") && libraryTypeOf(w.d, x, 0).pkg == "net/http"
	}
}

// throughTransports goes into the transports of the sources, which a client may have.
func throughTransports(w *closedWalk, f *closedFrame, n *ast.CallExpr) {
	for _, decl := range w.d.named["RoundTrip"] {
		if decl.Recv == nil || w.seen[decl] || f.decl == decl {
			continue
		}
		if w.seen == nil {
			w.seen = map[*ast.FuncDecl]bool{}
		}
		w.seen[decl] = true
		in := &closedFrame{decl: decl, outer: f, name: "RoundTrip", asks: true, given: map[types.Object]closedGiven{}}
		for _, v := range givenVariables(w.d, decl.Type.Params) { // the request is the call's own
			in.given[v] = closedGiven{&ast.Ident{Name: v.Name()}, f, true}
		}
		// Whether the client has it is not known: what it changes is open, and not seen to be read.
		before := w.found
		w.found = closing{}
		w.look(in, decl.Body)
		for _, p := range w.found.open {
			if !p.peer {
				p.key = nil
				before.open = append(before.open, p)
			}
		}
		w.found = before
	}
}

// methodAsked tells of a call of a client whether its request only reads (1), changes something (-1), or nothing shows it (0).
func methodAsked(w *closedWalk, f *closedFrame, n *ast.CallExpr, name string) int {
	switch name {
	case "Get", "Head":
		return 1
	case "Post", "PostForm":
		return -1
	case "CloseIdleConnections":
		return 1
	}
	asked := 0
	for at := f; at != nil && asked == 0; at = at.outer { // the request is made here, or by who calls this
		ast.Inspect(at.decl.Body, func(m ast.Node) bool {
			call, ok := m.(*ast.CallExpr)
			if !ok || !strings.HasPrefix(calledName(call), "NewRequest") || len(call.Args) < 3 {
				return true
			}
			x, of := call.Args[len(call.Args)-3], at
			for range closedDepth {
				given, ok := of.given[w.d.variable(ast.Unparen(x))]
				if !ok {
					break
				}
				x, of = given.x, given.f
			}
			switch {
			case asked >= 0 && asksToGet(x):
				asked = 1
			default:
				asked = -1
				if tv, ok := w.d.t.info.Types[x]; (!ok || tv.Value == nil) && !slices.Contains(writeMethods, types.ExprString(x)) {
					asked = notShown
				}
			}
			return true
		})
	}
	if asked == notShown {
		return 0
	}
	return asked
}

// notShown is how it is told of a request that some of its methods may be anything.
const notShown = -2

// statementAsked is that of a statement.
func statementAsked(w *closedWalk, f *closedFrame, n *ast.CallExpr, name string) int {
	if strings.HasPrefix(name, "Exec") {
		return -1
	}
	for _, x := range n.Args {
		of := f
		for range closedDepth {
			given, ok := of.given[w.d.variable(ast.Unparen(x))]
			if !ok {
				break
			}
			x, of = given.x, given.f
		}
		if tv, ok := w.d.t.info.Types[x]; ok && tv.Value != nil {
			if text, err := strconv.Unquote(tv.Value.ExactString()); err == nil && statementReads(text) {
				return 1
			}
			return -1
		}
	}
	return 0
}

// asks notes a call that goes out of the program, unless it only reads: by the first name on the way to it that says something, or else by what it
// sends. says is 1 where that only reads, -1 where it changes something.
func (w *closedWalk) asks(f *closedFrame, n *ast.CallExpr, says int) {
	var way []*closedFrame
	for at := f; at != nil && at.outer != nil; at = at.outer {
		way = append(way, at)
	}
	for _, at := range slices.Backward(way) {
		switch {
		case writeNames.MatchString(at.name), readsAndMore.MatchString(at.name), saysDoes.MatchString(at.name) && !at.asks:
			w.opensPeer(n, "by its name, %s does something at the peer: %s is called", at.name, types.ExprString(n.Fun))
			return
		case saysReads.MatchString(at.name) && says >= 0:
			return
		}
	}
	switch {
	case says < 0:
		w.opensPeer(n, "%s may change something at the peer; it is called", types.ExprString(n.Fun))
	case says == 0:
		w.opensPeer(n, "nothing says that %s only reads; it is called", types.ExprString(n.Fun))
	}
}

// opensPeer notes a call that may change something at a peer.
func (w *closedWalk) opensPeer(n ast.Node, format string, args ...any) {
	w.opens(n, nil, format, args...)
	w.found.open[len(w.found.open)-1].peer = true
}

// opensUnseen notes a call of which the sources do not show what it does; what it does at a peer its name may still tell.
func (w *closedWalk) opensUnseen(n ast.Node, name, format string, args ...any) {
	w.opens(n, nil, format, args...)
	w.found.open[len(w.found.open)-1].peer = !saysReads.MatchString(name) || readsAndMore.MatchString(name)
}
