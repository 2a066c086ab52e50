package insight

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What a lock keeps together at a peer, and what it guards that all who wait need: a value that is
// read from a peer, changed and written back under the lock, and a single value that is fetched
// again when it is old.

// atPeer is a lock that keeps calls of a peer together, oneValue one that guards a single value.
type (
	atPeer   struct{ *underlying }
	oneValue struct{ *underlying }
)

// peerOf is the package that a stack waits in: the outermost one of a library between the wait and
// the program's own line.
func peerOf(c *code, frames []stack.Frame) (pkg string) {
	scope := c.session.Scope()
	for _, f := range frames {
		if scope.IsUser(f) {
			break
		}
		if p := stack.Package(f.Func); p != "io" && p != "bufio" && p != "fmt" {
			pkg = p
		}
	}
	return pkg
}

// seenCall is a line under the lock from which a call was seen waiting, and for which library.
type seenCall struct {
	line int
	peer string
}

// seen are the lines under the lock of calls that were seen waiting for the world outside, the one under the lock among them.
func (u atPeer) seen(holder []stack.Frame, calls [][]stack.Frame) (all []seenCall) {
	for _, frames := range append(slices.Clone(calls), holder) {
		i := slices.IndexFunc(frames, func(f stack.Frame) bool {
			return f.File == u.file && u.under(f.Line) && u.s.covers(u.fn.body, f.Line)
		})
		if i < 0 {
			continue
		}
		if x := (seenCall{frames[i].Line, peerOf(u.c, frames)}); !slices.Contains(all, x) {
			all = append(all, x)
		}
	}
	return all
}

// writesBack looks for a call under the lock that reads something from a peer, and one behind it
// that writes there what is made of it; calls are the stacks of all calls that were seen waiting for
// the world outside, the one under the lock among them.
func (u atPeer) writesBack(holder []stack.Frame, calls [][]stack.Frame) *protected {
	all := u.seen(holder, calls)
	for _, read := range all {
		for _, write := range all {
			if read.line >= write.line || read.peer != write.peer {
				continue
			}
			if p := u.changedAtPeer(read.line, write.line); p != nil {
				return p
			}
		}
	}
	return nil
}

// changedAtPeer tells of two calls under the lock that the second writes what is made of the answer
// of the first.
func (u atPeer) changedAtPeer(read, write int) *protected {
	reads, writes := u.callAt(read), u.callAt(write)
	if reads == nil || writes == nil || onlyMakes(reads) {
		return nil
	}
	w := u.s.flow(u.fn.body, write, "\x00")
	w.calls = func(call *ast.CallExpr) bool { return call == reads }
	if !slices.ContainsFunc(argumentsOf(writes), func(x ast.Expr) bool { return w.has(x) }) || !u.onlyWrites(writes) {
		return nil
	}
	if calledOf(reads) != calledOf(writes) && !u.computes(reads, writes, w) {
		return nil // what one peer has is put into another: a cache
	}
	key := u.keyOf(reads, writes)
	p := &protected{info: key == "", slow: true, decides: true, first: read, second: write, key: key,
		says: fmt.Sprintf("the lock keeps a change at the peer together: line %d reads, and line %d writes what is made of the answer", read, write),
		evidence: []Evidence{
			u.c.shownAt(u.file, read, "under the lock: reads"),
			u.c.shownAt(u.file, write, "under the lock: writes what is made of the answer"),
		}}
	p.advice = "Do not just move the calls out of the lock, and do not let one call serve several (singleflight): two goroutines could then read the same value, and one of their changes would be lost. "
	if key != "" {
		p.advice += fmt.Sprintf("Have one lock for each %s, so that only changes of the same one wait for each other; ", key)
		p.doubt = fmt.Sprintf("if most of those that wait are for the same %s, locks for each save little", key)
	} else {
		p.advice += "If changes of different things wait for each other here, have one lock for each; "
	}
	p.advice += "or let the peer make the change in one step (a transaction, an increment, a write that fails if the value is another by then), or take the changes of several that wait together and write once."
	return p
}

// callAt is the outermost call on a line of the function that is no part of the language.
func (u atPeer) callAt(line int) (found *ast.CallExpr) {
	on := calledOn(u.s, line)
	inside(u.fn.body, func(n ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok && found == nil && on(call) {
			found = call
		}
	})
	return found
}

// calledOf is what a call, or the first of a chain of them, is a method of, by its text.
func calledOf(call *ast.CallExpr) string {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if first, ok := f.X.(*ast.CallExpr); ok {
		return calledOf(first)
	}
	return types.ExprString(f.X)
}

// argumentsOf are the arguments of a call and of those whose methods it calls, in a chain.
func argumentsOf(call *ast.CallExpr) []ast.Expr {
	all := slices.Clone(call.Args)
	if f, ok := call.Fun.(*ast.SelectorExpr); ok {
		if first, ok := f.X.(*ast.CallExpr); ok {
			all = append(all, argumentsOf(first)...)
		}
	}
	return all
}

// writesByName are beginnings of names of functions that change something.
var writesByName = lazily(`(?i)^(post|put|patch|set|write|save|store|update|exec|insert|upsert|delete|push|commit|replace|cas\b|compareand)`)

// makesByName are beginnings of names of functions that make something new: what they return is of what they have made, and says nothing of what was
// there. Names that say that they look as well are not among them.
var (
	makesByName = lazily(`^(Create|Make|Mk|New|Insert|Add|Append|Register|Open|Dial|Connect|Listen|Begin|Start|Enqueue|Publish|Upload)([^a-z]|$|temp|dir|all)`)
	looksToo    = lazily(`(Get|Load|Read|Find|Fetch|Exist|Or|And)([^a-z]|$)`)
)

// onlyMakes tells of a call, by the names in its chain, that it makes something and reads nothing that was there: a new file, a row, a connection. Two that
// do so do not get the same.
func onlyMakes(call *ast.CallExpr) bool {
	for {
		text, name := types.ExprString(call.Fun), calledName(call)
		if name != "" {
			name = strings.ToUpper(name[:1]) + name[1:]
		}
		if text == "os.OpenFile" {
			return opensForWrites(call) != ""
		}
		if makesByName.MatchString(name) && !looksToo.MatchString(name) && text != "os.Open" {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		if call, ok = ast.Unparen(f.X).(*ast.CallExpr); !ok {
			return false
		}
	}
}

// onlyWrites tells of a call that it changes something: by its name, or by what is made of what it
// gives, which is no more than an error.
func (u atPeer) onlyWrites(call *ast.CallExpr) bool {
	if hasCall(call, func(c *ast.CallExpr) bool { return writesByName.MatchString(calledName(c)) }) {
		return true
	}
	found := false
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ExprStmt:
			found = found || ast.Unparen(n.X) == ast.Expr(call)
		case *ast.AssignStmt:
			if len(n.Rhs) == 1 && hasCall(n.Rhs[0], func(c *ast.CallExpr) bool { return c == call }) {
				found = !slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool {
					return !isNamed(x, "_") && !strings.HasPrefix(strings.ToLower(rootName(x)), "err")
				})
			}
		case *ast.ReturnStmt:
			if len(n.Results) == 1 && n.Results[0] == ast.Expr(call) && u.in != nil && u.in.Type.Results != nil && u.in.Type.Results.NumFields() == 1 {
				found = isNamed(u.in.Type.Results.List[0].Type, "error")
			}
		}
		return !found
	})
	return found
}

// computes tells whether a value of the first call is calculated with, or decides whether there is a
// second, on the way to that.
func (u atPeer) computes(reads, writes *ast.CallExpr, w *turns) (found bool) {
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		if n == nil || n.Pos() >= writes.End() || found {
			return false
		}
		if n.Pos() < reads.Pos() {
			return true
		}
		switch n := n.(type) {
		case *ast.IncDecStmt:
			found = w.has(n.X)
		case *ast.AssignStmt:
			part := isPart(n.Lhs[0])
			found = n.Tok != token.DEFINE && (part || n.Tok != token.ASSIGN) && w.variable(rootName(n.Lhs[0]), n.Pos())
		case *ast.CallExpr:
			found = isNamed(n.Fun, "append") && len(n.Args) > 1 && w.has(n.Args[0])
		case *ast.BinaryExpr:
			switch n.Op {
			case token.ADD, token.SUB, token.MUL, token.QUO, token.LSS, token.GTR, token.LEQ, token.GEQ:
				found = w.has(n.X) || w.has(n.Y)
			}
		}
		return !found
	})
	return found
}

// keyOf is the parameter of the function that both calls are given: it says what is changed. It is
// empty where there is none.
func (u atPeer) keyOf(reads, writes *ast.CallExpr) string {
	names := func(call *ast.CallExpr) (all []string) {
		for _, x := range argumentsOf(call) {
			if isContext(x) {
				continue
			}
			ast.Inspect(x, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && u.fn.parameter(id.Name) >= 0 {
					all = append(all, id.Name)
				}
				return true
			})
		}
		return all
	}
	written := names(writes)
	for _, name := range names(reads) {
		if slices.Contains(written, name) {
			return name
		}
	}
	return ""
}

// single looks for a value without a key that the call fetches when it is old or not there yet; levels are the functions that lead
// from the lock to the call.
func (u oneValue) single(levels []*underlying) *protected {
	if !u.known {
		return nil
	}
	root := u.held.lock
	if root, _, _ = strings.Cut(root, "."); !token.IsIdentifier(root) {
		return nil
	}
	place, at := u.fetched(root)
	g := givenByCaller(u.underlying)
	if place == "" || g.key == nil && (u.asksWithParameter() || len(g.names)+len(g.contexts) == 0 && u.changesOthers(place)) {
		return nil
	}
	if !u.checks(root, place) {
		if look, once := u.onceLooked(place, levels); once {
			return u.lookAgain(place, look, at)
		}
		return nil
	}
	p := &protected{info: true,
		says:     "the lock guards one value, " + place,
		doubt:    "if the old value must not be used while a new one is fetched, or is valid for less time than it takes to fetch one, waiting for it is its price",
		evidence: []Evidence{u.c.shownAt(u.file, at, "stored here: %s", place)}}
	const background = "fetch it in the background some time before the old one expires, and go on with the old one meanwhile (an atomic.Pointer needs no lock to read it). " +
		"Otherwise make it expire less often, or the call itself faster."
	switch _, counted := (fetching{u.underlying}).fetches(); {
	case g.since != nil:
		g.since.tell(u.c, place, p)
	case g.key != nil:
		g.keyed(fetching{u.underlying}, place, p)
	case (fetching{u.underlying}).tellEach(p):
	case counted:
		p.says += ", and all who wait need the one that is being fetched"
		p.advice = "Without the lock each of those who wait would fetch one, and with singleflight they would wait as they do now. Have the next one before it is asked for: " + background + g.needsCaller()
	default:
		p.says += ", and those who wait need the one that is being fetched, if that succeeds"
		p.advice = "Have the next one before it is asked for: " + background + " If the call fails, or what it gives is old at once, each of those who wait asks for itself, one after another: " +
			"then let them share the call that is under way, its error as well (golang.org/x/sync/singleflight), and do not ask again at once after an error." + g.beside()
	}
	return p
}

// fetched is the one variable, or field of what has the lock, that is given what the call gives.
func (u oneValue) fetched(root string) (place string, at int) {
	_, last := u.s.lines(u.fn.body)
	w := u.s.flow(u.fn.body, last, "\x00")
	w.calls = calledOn(u.s, u.call)
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		line, _ := u.s.lines(n)
		all := u.stored(n)
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.ASSIGN && len(a.Rhs) == 1 && len(a.Lhs) > 1 {
			for _, x := range a.Lhs {
				all = append(all, storedAt{place: types.ExprString(x), values: a.Rhs})
			}
		}
		for _, st := range all {
			x, ok := placeIn(st.place, root)
			if !ok || st.adds || line < u.call || u.own(st.place) || st.clock || !st.leads && !slices.ContainsFunc(st.values, func(v ast.Expr) bool { return w.has(v) }) {
				continue
			}
			if hasIndex(x) { // one of several
				place, at = "", -1
				return false
			}
			if place == "" && at == 0 && !strings.HasPrefix(strings.ToLower(lastName(st.place)), "err") {
				place, at = st.place, line
			}
		}
		return at >= 0
	})
	return place, at
}

// placeIn is the expression that a place is, where it is a part of something or a variable by itself
// beside a lock that is one, too.
func placeIn(place, root string) (x ast.Expr, ok bool) {
	x, err := parser.ParseExpr(place)
	if err != nil {
		return nil, false
	}
	return x, rootName(x) == root || isIdent(x)
}

// checks tells whether something of what has the lock decides whether the call is made.
func (u oneValue) checks(root, place string) (found bool) {
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		if !ok || found {
			return !found
		}
		first, last := u.s.lines(s)
		mentioned := false
		ast.Inspect(s.Cond, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				mentioned = mentioned || isNamed(n.X, root)
			case *ast.Ident:
				mentioned = mentioned || n.Name == place
			}
			return true
		})
		decides := first <= u.call && u.call <= last || last <= u.call && leavesLoop(s.Body.List)
		found = u.lock < first && mentioned && decides
		return !found
	})
	return found
}

// asksWithParameter tells whether the call is given something of the function's caller, but for a
// context: then what it gives depends on who asks.
func (u oneValue) asksWithParameter() bool {
	on := calledOn(u.s, u.call)
	return hasCall(u.fn.body, func(call *ast.CallExpr) bool {
		return on(call) && slices.ContainsFunc(call.Args, func(x ast.Expr) (found bool) {
			if isContext(x) {
				return false
			}
			ast.Inspect(x, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				found = found || ok && u.fn.parameter(id.Name) >= 0
				return !found
			})
			return found
		})
	})
}

// callsOutside are the stacks of all calls that requests and tasks of a trace make to the world outside.
func callsOutside(in *Input) (all [][]stack.Frame) {
	u := in.Facts.Units()
	if u.Err != nil {
		return nil
	}
	t := in.trace()
	for _, g := range u.Judged {
		for _, o := range outwards(g) {
			all = append(all, t.Frames(o.stack))
		}
	}
	return all
}
