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

// A lock also makes one step of several calls at a peer: one asks, and its answer decides whether another one, which changes
// something there, is made.

var (
	// actsByName are beginnings of names of functions that change something, beside writesByName.
	actsByName = lazily(`(?i)^(create|add|append|mk|register|remove|rename|link|publish|send|enqueue|move)`)
	// asksByName are beginnings of names of functions that only ask, whatever they give.
	asksByName = lazily(`(?i)^(has|get|exists|check|verify|validate|ping|load|read|find|fetch|lookup|stat|lstat|list|scan|query|peek|contains|count|len|size|log|print)`)
	// tidiesByName are beginnings of names of functions that only end what was begun, or tell of it: nothing is decided by an answer that they
	// are called for.
	tidiesByName = lazily(`(?i)^(close|rollback|abort|cancel|discard|stop|r?unlock|release|log|print|warn|error|debug|info|fatal|panic|inc$|observe)`)
	// takesAwayByName are beginnings of names of functions that remove something.
	takesAwayByName = lazily(`(?i)^(remove|delete|unlink|truncate|drop|clear|reset)`)
	// saysNothingByName are names of functions whose answer is how far they got, not what there is.
	saysNothingByName = lazily(`(?i)^(write(string|byte|rune|to|at)?|read(from|at|full|all)?|copy[nb]?|copybuffer|flush|f?sync|fdatasync|close|rename|commit|seek|truncate|encode)$`)
	// outsideTypes are types by which a program asks a peer or reads a file.
	outsideTypes = lazily(`^\*?(http\.Client|http\.Transport|sql\.|net\.|tls\.|redis\.|grpc\.|rpc\.|smtp\.|os\.File|bufio\.)`)
)

// actsByAnswer looks for two calls of one peer under the lock, the first of which decides whether the second, which changes
// something, is made. One of the two at least was seen waiting.
func (u atPeer) actsByAnswer(holder []stack.Frame, calls [][]stack.Frame) *protected {
	seen := u.seen(holder, calls)
	waits := func(call *ast.CallExpr) bool {
		return slices.ContainsFunc(seen, func(x seenCall) bool { return u.s.covers(call, x.line) })
	}
	all := u.callsUnder()
	for _, acts := range all {
		for _, asks := range all {
			if asks.End() > acts.Pos() || !waits(asks) && !waits(acts) || !u.samePeer(asks, acts, waits) || !u.changes(acts) {
				continue
			}
			if key, ok := u.sharedKey(asks, acts); ok && u.decidedBy(asks, acts) && !u.fills(asks, acts) {
				return u.oneStep(asks, acts, key)
			}
		}
	}
	return nil
}

// callsUnder are the calls of the function under the lock.
func (u atPeer) callsUnder() (all []*ast.CallExpr) {
	inside(u.fn.body, func(n ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok {
			if line, _ := u.s.lines(call); u.under(line) && calledOn(u.s, line)(call) {
				all = append(all, call)
			}
		}
	})
	return all
}

// samePeer tells of two calls that they are made of the same: of one thing, or by one method. Of what has the lock itself, and
// of functions of the package, both have to go outside.
func (u atPeer) samePeer(a, b *ast.CallExpr, waits func(*ast.CallExpr) bool) bool {
	of := calledOf(a)
	if of != calledOf(b) {
		return false
	}
	owner, _, _ := strings.Cut(u.held.lock, ".")
	if of != "" && of != owner && of != u.fn.receiver {
		return true
	}
	if calledName(a) == calledName(b) {
		return true
	}
	return (waits(a) || u.goesOutside(a, maxAccess)) && (waits(b) || u.goesOutside(b, maxAccess))
}

// goesOutside tells of a call of a function of the program that this makes a call of what is asked or read from outside.
func (u atPeer) goesOutside(call *ast.CallExpr, depth int) bool {
	return slices.ContainsFunc(methodsOf(u.c, u.in, call.Fun), func(d declaration) bool { return leavesProgram(u.c, d, depth) })
}

func leavesProgram(c *code, d declaration, depth int) bool {
	s := c.parse(d.file)
	if d.Body == nil || s == nil || depth == 0 {
		return false
	}
	fields, fn, names := fieldsOf(c, receiverType(d.FuncDecl)), scopeOf(d.FuncDecl), ioNames(s.file)
	return hasCall(d.Body, func(call *ast.CallExpr) bool {
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			if id, is := sel.X.(*ast.Ident); is && slices.Contains(names[id.Name], sel.Sel.Name) {
				return true
			}
			if field, is := sel.X.(*ast.SelectorExpr); is && isNamed(field.X, fn.receiver) && outsideTypes.MatchString(fields[field.Sel.Name]) {
				return true
			}
		}
		return slices.ContainsFunc(methodsOf(c, d.FuncDecl, call.Fun), func(x declaration) bool { return x.FuncDecl != d.FuncDecl && leavesProgram(c, x, depth-1) })
	})
}

// changes tells of a call that it changes something: by its name, by a text that it is given, or because nothing is made of what
// it gives.
func (u atPeer) changes(call *ast.CallExpr) bool {
	name := calledName(call)
	if tidiesByName.MatchString(name) {
		return false
	}
	if writesByName.MatchString(name) || actsByName.MatchString(name) {
		return true
	}
	if slices.ContainsFunc(call.Args, func(x ast.Expr) bool {
		lit, ok := x.(*ast.BasicLit)
		return ok && lit.Kind == token.STRING && (writesByName.MatchString(strings.Trim(lit.Value, "\"`")) || actsByName.MatchString(strings.Trim(lit.Value, "\"`")))
	}) {
		return true
	}
	return !asksByName.MatchString(name) && u.onlyWrites(call)
}

// sharedKey is a variable that two calls are both given, and which says what they are about; true without one where the first is given nothing
// at all.
func (u atPeer) sharedKey(a, b *ast.CallExpr) (name string, ok bool) {
	names := func(call *ast.CallExpr) (all []string) {
		for _, x := range argumentsOf(call) {
			if isContext(x) {
				continue
			}
			ast.Inspect(x, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if id, is := n.X.(*ast.Ident); is && id.Name != u.fn.receiver {
						all = append(all, id.Name)
					}
					return false
				case *ast.CallExpr:
					for _, x := range n.Args {
						ast.Inspect(x, func(n ast.Node) bool {
							if id, is := n.(*ast.Ident); is {
								all = append(all, id.Name)
							}
							return true
						})
					}
					return false
				case *ast.Ident:
					all = append(all, n.Name)
				}
				return true
			})
		}
		return slices.DeleteFunc(all, func(name string) bool {
			return types.Universe.Lookup(name) != nil || name == u.fn.receiver || u.in != nil && !declaredIn(u.in, name)
		})
	}
	given := names(b)
	for _, name := range names(a) {
		if slices.Contains(given, name) {
			return name, true
		}
	}
	return "", len(slices.DeleteFunc(slices.Clone(argumentsOf(a)), isContext)) == 0
}

// decidedBy tells whether what one call gives decides whether another one is made. Where that is only whether it failed, the first has
// to be a question, and the other, made because it failed, has to put something there: what tidies up behind a failure is decided by none.
func (u atPeer) decidedBy(asks, acts *ast.CallExpr) (found bool) {
	line, _ := u.s.lines(acts)
	w := u.s.flow(u.fn.body, line, "\x00")
	w.calls = func(call *ast.CallExpr) bool { return call == asks }
	within := func(n ast.Node) bool { return n != nil && n.Pos() <= acts.Pos() && acts.Pos() < n.End() }
	by := peerAnswer{w: w, failure: !u.changes(asks) && !takesAwayByName.MatchString(calledName(acts)), value: !saysNothingByName.MatchString(calledName(asks))}
	eachNode(u.fn.body, func(n ast.Node, around []ast.Node) {
		switch n := n.(type) {
		case *ast.IfStmt:
			isElse := n.Else != nil && within(n.Else)
			leaves := n.End() <= acts.Pos() && leavesLoop(n.Body.List)
			if within(n.Body) || isElse || leaves {
				found = found || by.decides(n.Cond, within(n.Body))
			}
		case *ast.CaseClause:
			if within(n) {
				of, _ := around[len(around)-2].(*ast.SwitchStmt)
				found = found || of != nil && of.Tag != nil && by.says(of.Tag) || slices.ContainsFunc(n.List, func(x ast.Expr) bool { return by.decides(x, true) })
			}
		}
	})
	return found
}

// peerAnswer is what the answer of a call can tell: by a value that it gives, or by its failure.
type peerAnswer struct {
	w              *turns
	value, failure bool
}

// decides tells of a condition that the answer decides it; holds tells that the other call is made where it is true.
func (a peerAnswer) decides(cond ast.Expr, holds bool) bool {
	cond = ast.Unparen(cond)
	if x, ok := cond.(*ast.BinaryExpr); ok {
		switch x.Op {
		case token.LAND, token.LOR:
			return a.decides(x.X, holds) || a.decides(x.Y, holds)
		case token.EQL, token.NEQ:
			if isNamed(x.Y, "nil") && isError(rootName(x.X)) {
				return a.failure && a.w.has(x.X) && holds == (x.Op == token.NEQ)
			}
		}
	}
	return a.says(cond)
}

// says tells of an expression that it is made of a value of the answer, or tells one error from others.
func (a peerAnswer) says(x ast.Expr) bool {
	return a.w.has(x) && (a.value || hasAny(x, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		return ok && isError(id.Name)
	}))
}

// fills tells of a call that it only puts there what another one, between the two, has fetched for the same key: a cache.
func (u atPeer) fills(asks, acts *ast.CallExpr) bool {
	line, _ := u.s.lines(acts)
	return slices.ContainsFunc(u.callsUnder(), func(call *ast.CallExpr) bool {
		if call.Pos() < asks.End() || call.End() > acts.Pos() || calledOf(call) == calledOf(asks) && calledName(call) != calledName(asks) {
			return false
		}
		w := u.s.flow(u.fn.body, line, "\x00")
		w.calls = func(c *ast.CallExpr) bool { return c == call }
		_, same := u.sharedKey(call, asks)
		return same && slices.ContainsFunc(argumentsOf(acts), func(x ast.Expr) bool { return w.has(x) })
	})
}

// oneStep says that the lock makes one step of two calls.
func (u atPeer) oneStep(asks, acts *ast.CallExpr, key string) *protected {
	first, _ := u.s.lines(asks)
	second, _ := u.s.lines(acts)
	own := key != "" && u.fn.parameter(key) >= 0
	p := &protected{info: !own, slow: true, decides: true, first: first, second: second, key: key,
		says: fmt.Sprintf("the lock makes one step of two calls: what line %d gets decides whether line %d changes something there", first, second),
		evidence: []Evidence{
			u.c.shownAt(u.file, first, "under the lock: asks"),
			u.c.shownAt(u.file, second, "under the lock: acts by the answer"),
		}}
	p.advice = "Do not unlock between the two calls, and do not just move them out of the lock: two goroutines could then get the same answer, and both act by it. "
	switch {
	case lockOfEntry(u.underlying, nil):
		p.advice += "There is a lock for each entry already, so only those wait that want the same one: make the calls shorter; "
	case own:
		p.advice += fmt.Sprintf("Have one lock for each %s, so that only those who want the same one wait for each other; ", key)
		p.doubt = fmt.Sprintf("if most of those that wait are for the same %s, locks for each save little", key)
	default:
		p.advice += "If different things wait for each other here, have one lock for each; "
	}
	p.advice += "or let the peer do both in one step: a write that fails if there is something already (INSERT … ON CONFLICT, SET … NX, os.O_EXCL), or a transaction."
	return p
}

// decidesWrites looks, where something is written under the lock, for what decides whether it is, and is changed behind it: who comes next has to
// find that.
func (u *underlying) decidesWrites(holder []stack.Frame) (found *protected) {
	if !putsOut(holder) && !syncs(holder) {
		return nil
	}
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		if n == nil || found != nil {
			return false
		}
		line, _ := u.s.lines(n)
		for _, st := range u.stored(n) {
			if !u.after(n, st) || u.own(st.place) || u.guardsItself(st.place) || tellsFailure(u, n, st) || !u.decidesFor(st.place) {
				continue
			}
			read, _ := u.readBefore(st.place)
			if read == 0 || (besideLock{u}).keeps(st.place, read, line).needless {
				continue
			}
			found = &protected{info: true, slow: true, decides: true,
				says:   fmt.Sprintf("what is written decides what is written next: %s is read at line %d and decides whether there is a write, and line %d changes it behind that", st.place, read, line),
				advice: fmt.Sprintf("Do not just move the write out of the lock: two goroutines could then decide by the same %s. ", st.place) + changeFirst,
				evidence: []Evidence{
					u.c.shownAt(u.file, read, "read before the write, and decides about it: %s", st.place),
					u.c.shownAt(u.file, line, "changed behind the write"),
				}}
			break
		}
		return true
	})
	return found
}

// tellsFailure tells of what is stored that it is an error, or is stored because there was one: that decides about all that
// comes next, whenever it is known.
func tellsFailure(u *underlying, n ast.Node, st storedAt) bool {
	if strings.HasPrefix(strings.ToLower(lastName(st.place)), "err") {
		return true
	}
	return slices.ContainsFunc(nodesAround(u.fn.body, n), func(around ast.Node) bool {
		s, ok := around.(*ast.IfStmt)
		return ok && hasNode(s.Cond, func(n ast.Node) bool {
			x, ok := n.(*ast.BinaryExpr)
			return ok && x.Op == token.NEQ && isNamed(x.Y, "nil") && strings.HasPrefix(strings.ToLower(rootName(x.X)), "err")
		})
	})
}

// decidesFor tells whether a place, read between the lock and the call, decides whether the call is made: by a condition around it, or by one that
// leaves the function before.
func (u *underlying) decidesFor(place string) bool {
	if u.decides(place) {
		return true
	}
	from := u.flow(place)
	return hasNode(u.fn.body, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		if !ok {
			return false
		}
		first, _ := u.s.lines(s)
		return u.lock < first && u.s.covers(s.Body, u.call) && from.has(s.Cond)
	})
}

// changeFirst is how one write or sync can serve several whose changes decide about the next ones.
const changeFirst = "One write or sync can serve several (group commit) only if who comes next already finds the change: make it under the lock, queue the write, unlock, wait for the shared sync, and tell nobody of the change before (undo it if the write fails)."
