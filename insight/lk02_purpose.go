package insight

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"loupe/value/stack"
)

// What a lock may be there for, by what is seen under it. That a call can be made without the lock is said only where the source proves it: a lookup, a call
// that only reads, and its answer stored under the same key, or work that has nothing to do with what is shared. In all other cases the advice has a condition.

// lockSign is one thing that is done under a lock and that the lock may be there for.
type lockSign struct {
	rank signRank
	at   codeLine
	what string // as a clause without a subject: "s.left is checked"
	// place is what is changed, for a change of what is in memory.
	place string
}

// signRank orders signs: the lower ones are told first where there are too many.
type signRank int

const (
	signChecks signRank = iota
	signPeer
	signProcess
	signFile
	signSends
	signCalls
	signWrites
	signChanges
	signHidden // what a call does is not seen
)

// lockPurpose is what the source shows of what is done under a lock.
type lockPurpose struct {
	c      *code
	d      *derivations
	u      *underlying
	levels []*underlying
	// unseen tells that the sources do not show what is under the lock.
	unseen bool
	reads  bool // the lock is taken for reading
	// ofKey tells that there is a lock for each key already.
	ofKey bool
	signs []lockSign
	// state is what is read or changed which others may change, by where; places are what something is stored in.
	state  map[types.Object]map[token.Pos]bool
	places map[types.Object]bool
	// counted are lines that only count on what they change.
	counted map[codeLine]bool
	// others are lines that change what is looked up and stored, beside those under the lock that do so.
	others []keptChange
	// lookedUp is the place which is looked up before the call and given its answer behind it; empty where there is none.
	lookedUp string
	// apart tells that what is done at the line of the call neither reads nor changes what is shared.
	apart  bool
	calls  []*ast.CallExpr
	getsBy bool   // a request is made that only reads
	sends  string // the method of a request that is made and that changes something
}

// purposeOf is what the source shows under the lock which one stack waits for, on the way to what another one does there.
func purposeOf(c *code, waiter, holder []stack.Frame) *lockPurpose {
	p := &lockPurpose{c: c, d: derivationsOf(c), state: map[types.Object]map[token.Pos]bool{}, places: map[types.Object]bool{}, counted: map[codeLine]bool{}}
	holder = withoutDriver(holder, waiter)
	lock, call, fn := meetingPoint(c, waiter, holder)
	if fn != nil {
		p.u = &underlying{c: c, s: c.parse(lock.File), fn: fn, file: lock.File, lock: lock.Line, call: call.Line}
		p.u.held, p.u.known = c.heldAt(lock)
	} else if i, taken := heldAbove(c, waiter, holder); i >= 0 {
		call, fn = holder[i], c.scopeAt(holder[i])
		p.u = &underlying{c: c, s: c.parse(call.File), fn: fn, file: call.File, held: taken, known: true, lock: taken.from, call: call.Line}
	}
	if p.unseen = fn == nil || !p.u.known; !p.unseen {
		p.reads = strings.HasSuffix(p.u.held.lock, ".RLock")
		p.ofKey = lockOfEntry(p.u, waiter)
		p.levels = p.u.within(holder, call)
		p.unseen = !p.look(upTo(holder, call))
	}
	p.byStack(waiter, holder)
	p.sort()
	return p
}

// byStack adds that the stack of what is done under the lock tells of a change.
func (p *lockPurpose) byStack(waiter, holder []stack.Frame) {
	var way []stack.Frame
	for _, f := range holder {
		if p.c.session.Scope().Of(f) != stack.User {
			continue
		}
		if way = append(way, f); slices.ContainsFunc(waiter, func(w stack.Frame) bool { return sameFunction(w, f) }) {
			break
		}
	}
	if len(way) == 0 || slices.ContainsFunc(p.signs, func(s lockSign) bool { return s.rank == signPeer || s.rank == signProcess }) {
		return
	}
	if how := changesBy(p.c, holder, way); how != "" {
		p.add(lockSign{rank: signPeer, at: codeLine{way[0].File, way[0].Line}, what: "something is changed (" + how + ")"})
	}
}

// look goes through all that is done under the lock; frames are those from what it leads to up to the function that holds it.
func (p *lockPurpose) look(frames []stack.Frame) bool {
	in, ok := p.d.at(stack.Frame{Func: frames[len(frames)-1].Func, File: p.u.file, Line: p.u.call})
	if !ok {
		return false
	}
	e := &callEffects{d: p.d, seen: map[*ast.FuncDecl]bool{}}
	e.every = func(n ast.Node, what string) { p.effect(n, what) }
	inBody := func(in frameCode, under func(line int) bool) {
		w := &effectWalk{callEffects: e, decl: in.decl, outside: givenToDecl(p.d, in.decl)}
		eachNode(in.body(), func(n ast.Node, around []ast.Node) {
			if _, line, _ := p.d.t.at(n.Pos()); under(line) {
				if _, block := n.(*ast.BlockStmt); !block {
					p.note(n)
					w.node(n, around)
				}
			}
		})
	}
	inBody(in, p.u.under)
	for i := len(frames) - 2; i >= 0; i-- {
		if f := frames[i]; p.c.session.Scope().Of(f) == stack.User {
			if in, ok := p.d.at(f); ok && (in.lit != nil || !e.seen[in.decl]) {
				e.seen[in.decl] = in.lit == nil
				inBody(in, func(int) bool { return true })
			}
		}
	}
	for _, decl := range declsInOrder(p.d) {
		if e.seen[decl] {
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				if n != nil {
					p.note(n)
				}
				return true
			})
		}
	}
	noteChangesBehind(p, in)
	if p.findLookup(); p.lookedUp != "" {
		findOthers(p, in, e.seen)
	}
	p.apart = p.findChecks(in)
	for _, call := range p.calls {
		p.judge(call)
	}
	return true
}

// note keeps what is asked of all nodes: calls, and whether something shared is touched.
func (p *lockPurpose) note(n ast.Node) {
	storesUnder(p, n)
	switch n := n.(type) {
	case *ast.IncDecStmt:
		p.counted[p.d.placeOf(n)] = true
	case *ast.CallExpr:
		p.calls = append(p.calls, n)
		if p.d.t.callee(n) == nil && requestMakers.MatchString(calledName(n)) {
			for _, x := range n.Args {
				if text := cmp.Or(p.constant(x), strings.ToUpper(strings.TrimPrefix(types.ExprString(x), "http.Method"))); slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, text) {
					p.sends = text
				}
			}
		}
		p.getsBy = p.getsBy || strings.HasPrefix(types.ExprString(n.Fun), "http.NewRequest") && slices.ContainsFunc(n.Args, func(x ast.Expr) bool {
			text := p.constant(x)
			return text == "GET" || text == "HEAD" || strings.HasSuffix(types.ExprString(x), "http.MethodGet") || strings.HasSuffix(types.ExprString(x), "http.MethodHead")
		})
	case *ast.SelectorExpr:
		if p.isState(n) {
			p.touch(p.d.field(n), n)
		}
	case *ast.Ident:
		if v := p.d.variable(n); ofPackage(v) && !isLockType(v.Type()) && p.mayChange(v) {
			p.touch(v, n)
		}
	}
}

// touch keeps where something is read or changed which others may change.
func (p *lockPurpose) touch(v types.Object, n ast.Node) {
	if p.state[v] == nil {
		p.state[v] = map[token.Pos]bool{}
	}
	p.state[v][n.Pos()] = true
}

// isState tells of a selected field that others may change what it has: it is a map, a list, a channel or a value of its own, or is set somewhere after its
// struct was made. The lock itself is none.
func (p *lockPurpose) isState(x *ast.SelectorExpr) bool {
	v := p.d.field(x)
	return v != nil && !isLockType(v.Type()) && types.ExprString(x) != lockText(p.u.held) && p.mayChange(v)
}

// isLockType tells of a type that it is that of a lock.
func isLockType(t types.Type) bool {
	text := strings.TrimPrefix(t.String(), "*")
	return strings.HasPrefix(text, "sync.") && text != "sync.Map"
}

// mayChange tells of a field, or a variable of a package, that what it has may change while others run.
func (p *lockPurpose) mayChange(v types.Object) bool {
	switch v.Type().Underlying().(type) {
	case *types.Map, *types.Slice, *types.Chan:
		return true
	case *types.Struct:
		return true
	}
	return setLater(p.d)[v]
}

// setLater are the fields, and the variables of packages, that a function sets, or a part of what they have, or hands out to be set: not in what it has
// made itself.
func setLater(d *derivations) map[types.Object]bool {
	if d.later != nil {
		return d.later
	}
	d.later = map[types.Object]bool{}
	for _, decl := range d.t.decls {
		set := func(x ast.Expr) {
			if v := partSet(d, x); v != nil && !d.later[v] && !isFreshPlace(d, decl, x) && !(ofPackage(v) && isIdent(ast.Unparen(x)) && beforeOthers(decl, x.Pos())) {
				d.later[v] = true
			}
		}
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, x := range n.Lhs {
					if n.Tok != token.DEFINE {
						set(x)
					}
				}
			case *ast.IncDecStmt:
				set(n.X)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					set(n.X)
				}
			}
			return true
		})
	}
	return d.later
}

// partSet is the field, or the variable of a package, that who writes to a place sets: nil where that is a variable of a function.
func partSet(d *derivations, x ast.Expr) types.Object {
	for {
		x = ast.Unparen(x)
		named := x
		if sel, ok := x.(*ast.SelectorExpr); ok {
			if v := d.field(sel); v != nil {
				return v
			}
			named = sel.Sel
		}
		if v := d.variable(named); ofPackage(v) {
			return v
		}
		inner := aroundPart(x)
		if inner == x {
			return nil
		}
		x = inner
	}
}

// constant is the text that an expression always is; empty where that is not known.
func (p *lockPurpose) constant(x ast.Expr) string {
	tv, ok := p.d.t.info.Types[x]
	if !ok || tv.Value == nil || tv.Type == nil {
		return ""
	}
	if b, ok := tv.Type.Underlying().(*types.Basic); !ok || b.Info()&types.IsString == 0 {
		return ""
	}
	text, _ := strconv.Unquote(tv.Value.ExactString())
	return text
}

// add keeps one sign for each line and rank, whatever the order in which they are found; what a call does is not unseen where something else is seen of it.
func (p *lockPurpose) add(s lockSign) {
	for i, o := range p.signs {
		switch {
		case o.at != s.at || o.rank != s.rank && o.rank != signHidden && s.rank != signHidden:
			continue
		case s.rank < o.rank || s.rank == o.rank && s.what < o.what:
			p.signs[i] = s
		}
		return
	}
	p.signs = append(p.signs, s)
}

// effect is told of what something under the lock does besides returning a value.
func (p *lockPurpose) effect(n ast.Node, what string) {
	at := p.d.placeOf(n)
	call, isCall := n.(*ast.CallExpr)
	switch {
	case isCall && (p.onlyTells(call) || answersOwn(p.d, call)):
	case what == "sends to a channel":
		p.add(lockSign{rank: signSends, at: at, what: "something is sent to a channel"})
	case what == "receives from a channel":
		p.add(lockSign{rank: signSends, at: at, what: "something is received from a channel"})
	case strings.HasPrefix(what, "reads on") && isCall:
		p.add(lockSign{rank: signWrites, at: at, what: "something is read that goes on from there (" + types.ExprString(call.Fun) + ")"})
	case strings.HasPrefix(what, "changes files or settings"):
		p.add(lockSign{rank: signFile, at: at, what: "files are changed (" + types.ExprString(call.Fun) + ")"})
	case what == "writes" && isCall:
		p.add(lockSign{rank: signWrites, at: at, what: "something is written (" + types.ExprString(call.Fun) + ")"})
	case strings.HasPrefix(what, "by the name of"):
		p.add(lockSign{rank: signPeer, at: at, what: types.ExprString(call.Fun) + " changes something, going by its name"})
	case isCall && strings.Contains(what, "may be"):
		p.add(lockSign{rank: signCalls, at: at, what: "a function that is kept is called (" + types.ExprString(call.Fun) + ")"})
	case isCall && strings.HasPrefix(what, "calls "):
		p.add(lockSign{rank: signHidden, at: at, what: "what " + types.ExprString(call.Fun) + " does is not seen"})
	case isCall && strings.Contains(what, " by "):
		place, by, _ := strings.Cut(strings.TrimPrefix(what, "changes "), " by ")
		p.add(lockSign{rank: signWrites, at: at, what: by + " changes the state of " + place, place: place})
	case strings.HasPrefix(what, "changes "), strings.HasPrefix(what, "counts or stores in "):
		place := strings.TrimPrefix(strings.TrimPrefix(what, "changes "), "counts or stores in ")
		p.add(lockSign{rank: signChanges, at: at, what: place + " is changed", place: place})
	default:
		p.add(lockSign{rank: signHidden, at: at, what: "something " + what})
	}
}

// tellsPackages are packages that log.
var tellsPackages = lazily(`^(log|slog|zap|logrus|zerolog|klog|glog)$`)

// onlyTells tells of a call that it logs, or counts for a metric.
func (p *lockPurpose) onlyTells(call *ast.CallExpr) bool {
	pkg := p.d.t.fromPackage(uninstantiated(call))
	if tellsPackages.MatchString(lastPart(pkg)) {
		return true
	}
	of := receiverOf(call)
	if of == nil || pkg != "" {
		return false
	}
	return ofPackagePath(libraryTypeOf(p.d, of, 0).pkg, writesAtOnce) || strings.Contains(libraryTypeOf(p.d, of, 0).pkg, "prometheus")
}

// changesInText are parts of an address, or first words of a statement, by which something is changed at a peer.
var changesInText = lazily(`(?i)(^|[/?&=\s_-])(create|add|append|set|put|post|patch|update|upsert|insert|delete|remove|drop|save|store|write|push|send|publish|charge|pay|book|buy|order|reserve|claim|acquire|issue|open|close|register|submit|start|stop|move|rename|inc|incr|decr|replace|commit|merge|call|new|next|take|approve|cancel)([/?&=\s_.-]|$)`)

// judge looks at a call under the lock: whether it changes something by its name or by what it is given, or only reads.
func (p *lockPurpose) judge(call *ast.CallExpr) {
	if tv, ok := p.d.t.info.Types[call.Fun]; ok && tv.IsType() || isBuiltin(p.d, call) || p.onlyTells(call) || answersOwn(p.d, call) {
		return
	}
	name, pkg, at, text := ownCallName(call), p.d.t.fromPackage(uninstantiated(call)), p.d.placeOf(call), types.ExprString(uninstantiated(call))
	fn := p.d.t.callee(call)
	own := fn != nil && len(p.d.declsOf(fn)) > 0
	switch {
	case pkg == "os/exec":
		p.add(lockSign{rank: signProcess, at: at, what: "a process is started (" + text + ")"})
		return
	case pkg == "os" && name == "OpenFile":
		if what := opensForWrites(call); what != "" {
			p.add(lockSign{rank: signFile, at: at, what: what})
		}
		return
	case looksAtFolder.MatchString(text):
		p.add(lockSign{rank: signChecks, at: at, what: "a folder is looked at (" + text + ")"})
		return
	case strings.HasPrefix(p.typeText(call), "os/exec."), slices.ContainsFunc(p.signs, func(s lockSign) bool { return s.at == at && (s.rank == signFile || s.rank == signWrites) }):
		return // it is named already
	}
	if !own && p.isHarmless(call, pkg, name) {
		return
	}
	if !own && requestMakers.MatchString(name) {
		return // nothing is sent before it is handed on
	}
	leaves := own && slices.ContainsFunc(p.d.declsOf(fn), p.leaves)
	for _, x := range call.Args {
		if own && !leaves {
			break
		}
		for _, part := range constantsIn(p, x) {
			if changesInText.MatchString(part) {
				p.add(lockSign{rank: signPeer, at: at, what: text + " changes something, going by " + quoted(part)})
				return
			}
		}
	}
	changes := (writeNames.MatchString(name) || actsByName.MatchString(name)) && !tidiesByName.MatchString(name)
	switch {
	case own && changes && leaves:
		p.add(lockSign{rank: signPeer, at: at, what: name + " changes something, going by its name"})
	case own, p.onlyReads(call, pkg, name):
	case fn == nil && pkg == "" && isFunctionValue(p.d, uninstantiated(call)):
		// what it may be was looked at where the sources have it
		if v := p.d.variable(uninstantiated(call)); v == nil || p.isKept(v) {
			p.add(lockSign{rank: signCalls, at: at, what: "a function that is kept is called (" + text + ")"})
		}
	case p.sends != "" && strings.HasPrefix(p.typeText(call), "net/http."):
		p.add(lockSign{rank: signPeer, at: at, what: text + " sends a request that changes something, going by " + quoted(p.sends)})
	case changes || executes.MatchString(name):
		p.add(lockSign{rank: signPeer, at: at, what: text + " changes something, going by its name"})
	default:
		p.add(lockSign{rank: signHidden, at: at, what: "what " + text + " does is not seen"})
	}
}

// isKept tells of a variable that is called that it is neither given to its function nor made in it: it is taken from what lives on.
func (p *lockPurpose) isKept(v types.Object) bool {
	for _, decl := range p.d.t.decls {
		if !isLocal(decl, v) {
			continue
		}
		if isGiven(decl, v) {
			return false
		}
		return !slices.ContainsFunc(p.d.definitions(decl)[v], func(def definition) bool {
			_, lit := def.x.(*ast.FuncLit)
			return lit
		})
	}
	return ofPackage(v)
}

// quoted is a text as a finding quotes it, cut where it is long.
func quoted(text string) string {
	if len(text) > 24 {
		text = text[:24] + "…"
	}
	return "\"" + text + "\""
}

// requestMakers are names of functions of libraries that make a request, which somebody else sends.
var requestMakers = lazily(`^New\w*Request(WithContext)?$`)

// constantsIn are the texts that are parts of an expression.
func constantsIn(p *lockPurpose, x ast.Expr) (all []string) {
	ast.Inspect(x, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			if text := p.constant(e); text != "" {
				all = append(all, text)
				return false
			}
		}
		_, lit := n.(*ast.FuncLit)
		return !lit
	})
	return all
}

// leaves tells of a function of the program that it, or one that it calls, asks a peer, starts a process or uses files.
func (p *lockPurpose) leaves(decl *ast.FuncDecl) bool {
	file, _, _ := p.d.t.at(decl.Pos())
	for _, d := range p.c.functions()[decl.Name.Name] {
		if d.file == file && leavesProgram(p.c, d, maxAccess) {
			return true
		}
	}
	found := false
	look := func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && p.d.t.callee(call) == nil && !isBuiltin(p.d, call) && !p.d.t.info.Types[call.Fun].IsType() {
			found = found || !p.isHarmless(call, p.d.t.fromPackage(uninstantiated(call)), ownCallName(call))
		}
		return !found
	}
	ast.Inspect(decl.Body, look)
	for called := range p.d.reached(decl, decl.Body) {
		ast.Inspect(called.Body, look)
	}
	return found
}

// typeText is the type that a call is a method of, with its package.
func (p *lockPurpose) typeText(call *ast.CallExpr) string {
	if of := receiverOf(call); of != nil {
		return libraryTypeOf(p.d, of, 0).text()
	}
	return ""
}

var (
	// outsideLibrary are types of the library by which a program asks a peer.
	outsideLibrary = lazily(`^(net/http\.(Client|Transport)|database/sql\.|net\.|os\.File|net/rpc\.|net/smtp\.)`)
	// harmlessPackages are packages whose functions neither leave the program nor change what they are not given.
	harmlessPackages = lazily(`^(strings|strconv|bytes|math|math/.*|unicode.*|sort|slices|maps|cmp|path|path/filepath|errors|fmt|context|time|regexp|encoding/.*|crypto/.*|hash/.*|hash|html|net/url|net/netip|bufio|reflect|unsafe|iter|sync|sync/atomic|container/.*|runtime|compress/.*|text/.*|html/.*|go/.*|embed|io)$`)
	// harmlessMethods are methods of a library that end, or tell of, what another call has begun.
	harmlessMethods = lazily(`^(Close|Error|Err|Unwrap|Is|As|String|Len|Cap|Bytes|Text|Name|Done|Err|Value|Deadline|R?(Un)?[lL]ock|Next|Scan|Rows|Columns|Header|Get|Values|Has)$`)
	// looksAtFolder are functions that tell what is in a folder.
	looksAtFolder = lazily(`^(os\.(ReadDir|Stat|Lstat)|ioutil\.ReadDir|filepath\.(Glob|Walk|WalkDir))$`)
	// readsOfPackages are functions that leave the program, and only read.
	readsOfPackages = lazily(`^(net/http\.(Get|Head|NewRequest|NewRequestWithContext)|os\.(Open|ReadFile|ReadDir|Stat|Lstat|ReadLink|Getenv|LookupEnv|IsNotExist)|io/fs\..*|io/ioutil\.Read.*)$`)
)

// isHarmless tells of a call of a library that it stays in the program: what it changes there was looked for.
func (p *lockPurpose) isHarmless(call *ast.CallExpr, pkg, name string) bool {
	if pkg != "" {
		return harmlessPackages.MatchString(pkg) || knownFunctions.MatchString(pkg+"."+name)
	}
	of := p.typeText(call)
	if of == "" || outsideLibrary.MatchString(of) {
		return harmlessMethods.MatchString(name) && of == ""
	}
	return inMemory.MatchString(of) || requestTypes.MatchString(of) && !writeNames.MatchString(name) || unchanging.MatchString(of) || harmlessMethods.MatchString(name) || harmlessPackages.MatchString(of[:strings.LastIndexByte(of, '.')])
}

// onlyReads tells of a call that leaves the program that it only reads, by its function or by its name.
func (p *lockPurpose) onlyReads(call *ast.CallExpr, pkg, name string) bool {
	if readsOfPackages.MatchString(pkg + "." + name) {
		return true
	}
	of := p.typeText(call)
	switch {
	case strings.HasPrefix(of, "net/http."):
		return name == "Get" || name == "Head" || name == "Do" && p.getsBy || harmlessMethods.MatchString(name)
	case strings.HasPrefix(of, "database/sql."):
		return strings.HasPrefix(name, "Query") && slices.ContainsFunc(call.Args, func(x ast.Expr) bool {
			return statementReads(p.constant(x))
		}) ||
			harmlessMethods.MatchString(name)
	}
	return asksByName.MatchString(name) && pkg != "os" || harmlessMethods.MatchString(name) || name == "Do" && p.getsBy
}

// workApart tells that the work at the line of the call can be done without the lock: it has nothing to do with what is shared, and nothing that it does
// is seen by others.
func (p *lockPurpose) workApart() bool {
	return p.apart && !p.unseen && !slices.ContainsFunc(p.signs, func(s lockSign) bool {
		own := s.at.file == p.u.file && p.u.held.has(s.at.line)
		return !own || s.rank != signChecks && s.rank != signChanges
	})
}

// findLookup finds a place that is looked up before the call, and given what the call gives behind it.
func (p *lockPurpose) findLookup() {
	for _, u := range p.levels {
		ast.Inspect(u.fn.body, func(n ast.Node) bool {
			if n == nil || p.lookedUp != "" {
				return false
			}
			for _, st := range u.stored(n) {
				if u.own(st.place) || st.adds || st.appends || !u.after(n, st) || !(lockOrder{u}).ofAnswer(st) {
					continue
				}
				if read, _ := u.readBefore(st.place); read > 0 && read < u.call {
					p.lookedUp = st.place
				}
			}
			return true
		})
	}
}

// fieldOfPlace is the field that a place is, or is an element of: "ids" of "a.ids[user]".
func fieldOfPlace(place string) string {
	before, _, _ := strings.Cut(place, "[")
	return lastName(before)
}

// proven tells that the source proves a cache, or something that is loaded once: what is looked up is fetched by what only reads and stored, and nothing
// else happens under the lock.
func (p *lockPurpose) proven() bool {
	if p.lookedUp == "" {
		return false
	}
	return !slices.ContainsFunc(p.signs, func(s lockSign) bool {
		return s.rank != signChecks && !(s.rank == signChanges && fieldOfPlace(s.place) == fieldOfPlace(p.lookedUp))
	})
}

// findChecks finds what is checked before the call, of what is shared or of what was made of it; and whether what is done at the line of the call has
// nothing to do with that.
func (p *lockPurpose) findChecks(in frameCode) (apart bool) {
	shared := map[types.Object]bool{}
	mentions := func(x ast.Node) (what string) {
		ast.Inspect(x, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if what == "" && p.isState(n) {
					what = types.ExprString(n)
				}
			case *ast.Ident:
				if v := p.d.variable(n); what == "" && v != nil && shared[v] && !isError(n.Name) {
					what = n.Name
				}
			}
			return what == ""
		})
		return what
	}
	eachNode(in.body(), func(n ast.Node, _ []ast.Node) {
		_, line, _ := p.d.t.at(n.Pos())
		if !p.u.under(line) {
			return
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				if v := p.d.variable(x); v != nil && mentions(n.Rhs[min(i, len(n.Rhs)-1)]) != "" {
					shared[v] = true
				}
			}
		case *ast.IfStmt:
			if n.Init != nil {
				if a, ok := n.Init.(*ast.AssignStmt); ok && a.Tok == token.DEFINE && mentions(a.Rhs[0]) != "" {
					for _, x := range a.Lhs {
						if v := p.d.variable(x); v != nil {
							shared[v] = true
						}
					}
				}
			}
			if what := mentions(n.Cond); what != "" && line <= p.u.call {
				if a, ok := n.Init.(*ast.AssignStmt); ok && !strings.Contains(what, ".") {
					what = cmp.Or(mentions(a.Rhs[0]), what)
				}
				p.add(lockSign{rank: signChecks, at: codeLine{p.u.file, line}, what: what + " is checked"})
			}
		}
	})
	apart = true
	eachNode(in.body(), func(n ast.Node, _ []ast.Node) {
		_, line, _ := p.d.t.at(n.Pos())
		call, ok := n.(*ast.CallExpr)
		if !ok || line != p.u.call || isBuiltin(p.d, call) {
			return
		}
		apart = apart && mentions(call) == "" && (in.decl.Recv == nil || !mentionsNames(call, map[string]bool{p.u.fn.receiver: true}))
		for decl := range p.d.reached(in.decl, call) {
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				if x, ok := n.(*ast.SelectorExpr); ok && p.isState(x) {
					apart = false
				}
				id, ok := n.(*ast.Ident)
				apart = apart && !(ok && ofPackage(p.d.variable(id)) && p.mayChange(p.d.variable(id)))
				return apart
			})
		}
	})
	return apart && len(p.calls) > 0 && !hasNode(in.body(), func(n ast.Node) bool {
		_, line, _ := p.d.t.at(n.Pos())
		_, loops := n.(*ast.RangeStmt)
		return (loops || isLoop(n)) && p.u.under(line)
	})
}
