package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// A lock may have to be held across a call: what the call is made with, or what is stored behind
// it, comes from before it; the call uses a connection that the lock belongs to; or only those
// wait that want the same entry. The source shows it where one function takes the lock and makes
// the call, or has both called.

// protected is what a lock keeps together.
type protected struct {
	title  string // other than the rule's; empty for that
	says   string // behind the summary
	advice string
	doubt  string
	info   bool
	// slow tells that the lock is needed as it is, which makes a wait for it no smaller: where it
	// takes most of the time of units, that is a warning even so.
	slow bool
	// pace tells that the lock keeps a rate, which is the wait: more of it is no fault of the lock.
	pace bool
	// lets tells that the advice lets the lock go before the call: wholly, or as one of several ways.
	lets letsGo
	// decides tells that what is read under the lock decides about what is done or stored behind it.
	decides bool
	// first and second are the lines of two calls of a peer that are one step, and key is what both are given; none of another.
	first, second int
	key           string
	// alive is what the lock keeps from being closed; nil where nothing shows that it does.
	alive    *keptAlive
	evidence []Evidence
}

// letsGo is how far advice lets a lock go before the call.
type letsGo int

const (
	letsNot letsGo = iota
	letsAlso
	letsWholly
)

// tell makes the finding say what the lock is for, in place of advice that would break it.
func (p *protected) tell(f *Finding) {
	if p.title != "" {
		f.Title = p.title
	}
	if p.says != "" {
		f.Summary, f.Advice = f.Summary+"; "+p.says, p.advice
	}
	f.Evidence = append(f.Evidence, p.evidence...)
	if p.info {
		f.Severity = Info
	}
	if p.doubt != "" {
		f.Doubts = append(f.Doubts, p.doubt)
	}
}

// tellSync does that where what is done under the lock is a sync, which may serve several.
func (p *protected) tellSync(f *Finding) {
	switch {
	case p == nil:
	case p.decides:
		if !strings.Contains(p.advice, changeFirst) {
			p.advice += " " + changeFirst
		}
		p.info = false // it may be shared
		p.tell(f)
	case p.lets == letsWholly && p.says != "": // the sync is not what the lock is for
		p.tell(f)
	case p.alive != nil:
		f.Doubts = append(f.Doubts, p.alive.doubt())
	}
}

// protectedBy looks in the source for what a lock has to be held across a call for, by the stacks
// of one that waits for it and of one that makes the call under it; nil where nothing shows it.
// More calls that were seen waiting, in the same function or elsewhere, may be of the same change.
func protectedBy(c *code, waiter, holder []stack.Frame, more ...[]stack.Frame) *protected {
	holder = withoutDriver(holder, waiter)
	if inOnce(waiter) && inOnce(holder) {
		return &protected{title: "Goroutines wait for the first call of a sync.Once", info: true,
			says:   "sync.Once makes only those wait that want what the first of them makes",
			advice: "Have it before it is asked for: make it in the background, and a new one before the old one expires; or go on with the old one meanwhile. Otherwise make the call itself faster."}
	}
	lock, call, fn := meetingPoint(c, waiter, holder)
	if fn == nil {
		return heldByOther(c, waiter, holder, more)
	}
	u := &underlying{c: c, s: c.parse(lock.File), fn: fn, file: lock.File, lock: lock.Line, call: call.Line}
	u.held, u.known = c.heldAt(lock)
	levels := u.within(holder, call)
	var p *protected
	if !u.sharedHold(waiter) { // it makes no step of what several do at once
		if p := turnsPaced(levels); p != nil {
			return p
		}
		if f := flightOf(u, levels, waiter); f != nil {
			return f.protects(c)
		}
		all, guards := u.together(levels, holder, more)
		if p = all; p == nil || p.says == "" {
			p = cmp.Or(keptFor(u, levels, waiter, guards), p)
		}
	}
	if k := keepsAlive(u, levels); k != nil {
		p = k.beside(c, p)
	}
	return besideOthers(u, levels, p)
}

// together is what a lock keeps in one step across a call, by the functions that lead from it to that; guards are the locks of their own
// that values have which change meanwhile.
func (u *underlying) together(levels []*underlying, holder []stack.Frame, more [][]stack.Frame) (p *protected, guards []otherLock) {
	for _, level := range levels {
		p, others := level.changed()
		if guards = append(guards, others...); p != nil {
			return p, guards
		}
	}
	p = guardedConnection(u.c, holder, slices.Index(holder, callUnder(u, holder)), u.lockTaken())
	if p != nil && p.says != "" {
		return p, guards
	}
	for _, level := range levels {
		if p := (atPeer{level}).writesBack(holder, more); p != nil {
			return p, guards
		}
		if p := (atPeer{level}).actsByAnswer(holder, more); p != nil {
			return p, guards
		}
		if p := level.decidesWrites(holder); p != nil {
			return p, guards
		}
	}
	return p, guards
}

// lockTaken is the text of what is locked: "c.mu"; where that is done by a function of the program, what this is called on.
func (u *underlying) lockTaken() string {
	if text := (besideLock{u}).waitedFor(); text != "" {
		return text
	}
	for _, call := range u.c.lineCalls(stack.Frame{File: u.file, Line: u.lock}) {
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
			return types.ExprString(sel.X)
		}
	}
	return ""
}

// callUnder is the frame of a stack at which a function makes the call under the lock.
func callUnder(u *underlying, frames []stack.Frame) stack.Frame {
	i := slices.IndexFunc(frames, func(f stack.Frame) bool { return f.File == u.file && f.Line == u.call })
	return frames[max(0, i)]
}

// keptFor is what a lock is for that keeps nothing in one step.
func keptFor(u *underlying, levels []*underlying, waiter []stack.Frame, guards []otherLock) *protected {
	for _, level := range levels {
		p, others := (lockOrder{level}).numbered()
		if guards = append(guards, others...); p != nil {
			return p
		}
	}
	if p := u.entry(waiter); p != nil {
		fetching{u}.tellFailing(p)
		return p
	}
	if p := (oneValue{u}).single(levels); p != nil {
		return p
	}
	if p := (besideLock{u}).guarded(guards); p != nil {
		return p
	}
	return besideLock{u}.ownLock(levels)
}

// inOnce tells whether a stack waits for, or is in, the function of a sync.Once.
func inOnce(frames []stack.Frame) bool {
	return slices.ContainsFunc(frames, func(f stack.Frame) bool { return strings.HasPrefix(f.Func, "sync.(*Once).") })
}

// meetingPoint is the function nearest to the lock that both stacks go through, with their lines.
func meetingPoint(c *code, waiter, holder []stack.Frame) (lock, call stack.Frame, fn *scope) {
	for _, w := range waiter {
		i := slices.IndexFunc(holder, func(h stack.Frame) bool { return sameFunction(h, w) })
		if i < 0 || w.Func == "" || c.parse(w.File) == nil {
			continue
		}
		if w.Line < holder[i].Line {
			return w, holder[i], c.scopeAt(w)
		}
		break
	}
	return stack.Frame{}, stack.Frame{}, nil
}

// upTo are the frames of a stack from the leaf to one of it.
func upTo(frames []stack.Frame, f stack.Frame) []stack.Frame {
	return frames[:slices.Index(frames, f)+1]
}

// underlying is what stands between a lock and its release, with a call in between.
type underlying struct {
	c          *code
	s          *syntax
	fn         *scope
	file       string
	held       held
	known      bool
	lock, call int // lines
	// in is the declaration of the function, nil where it is none of the program's, and callee
	// where the call goes on; called is what calls in it are known to do.
	in     *ast.FuncDecl
	callee stack.Frame
	called map[*ast.CallExpr][]access
	// outer is the function that leads to this one, nil for the one that takes the lock.
	outer *underlying
}

// behind tells whether a line is under the lock behind the call.
func (u *underlying) behind(line int) bool { return line > u.call && (!u.known || u.held.has(line)) }

// under tells whether a line is under the lock.
func (u *underlying) under(line int) bool { return line > u.lock && (!u.known || u.held.has(line)) }

// after tells whether a node stores something behind the call: on a later line, or what the call
// gives, or in what it leads to.
func (u *underlying) after(n ast.Node, st storedAt) bool {
	first, _ := u.s.lines(n)
	if u.behind(first) {
		return true
	}
	covers := func(x ast.Expr) bool {
		return hasCall(x, func(call *ast.CallExpr) bool { return u.s.covers(call, u.call) })
	}
	return u.lock < first && (st.leads && u.s.covers(n, u.call) || slices.ContainsFunc(st.values, covers))
}

// changed looks for what is read before the call and is stored behind it, made of what was read; guards are the locks of their own
// that such values have.
func (u *underlying) changed() (found *protected, guards []otherLock) {
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		if n == nil || found != nil {
			return false
		}
		line, _ := u.s.lines(n)
		for _, st := range u.stored(n) {
			if !u.after(n, st) {
				continue
			}
			read, from := u.readBefore(st.place)
			if read == 0 || u.own(st.place) || u.guardsItself(st.place) {
				continue
			}
			made := slices.ContainsFunc(st.values, func(x ast.Expr) bool { return from.has(x) })
			if made && !st.leads && !u.behind(line) { // on the line of the call: what is made of its answer there needs no lock before
				made = slices.ContainsFunc(st.values, func(x ast.Expr) bool { return u.givenTo(x, from) })
			}
			if !made && !(st.adds && u.decides(st.place)) {
				continue
			}
			k := (besideLock{u}).keeps(st.place, read, line)
			if k.needless {
				guards = k.add(guards)
				continue
			}
			found = u.change(st.place, read, line, k.both)
			break
		}
		return true
	})
	return found, guards
}

// storedAt is a variable, field or element that a statement gives values.
type storedAt struct {
	place  string
	values []ast.Expr
	adds   bool // to what is there
	// appends tells that it is put at the end of a list: values are what is put there.
	appends bool
	// leads tells that the call under the lock leads to where it is stored.
	leads bool
	// whole tells that it is a change by itself, under a lock of its own.
	whole bool
	// clock tells that what is stored is fixed, or the time.
	clock bool
}

// storeMethods are names of methods that store a value.
var storeMethods = []string{"Store", "Set", "Put", "Swap", "CompareAndSwap", "Save"}

// storedBy are what a statement stores in variables, fields and elements, by their text.
func storedBy(n ast.Node) (all []storedAt) {
	switch n := n.(type) {
	case *ast.IncDecStmt:
		if isPart(n.X) || isIdent(n.X) {
			all = append(all, storedAt{place: types.ExprString(n.X), adds: true})
		}
	case *ast.AssignStmt:
		for i, x := range n.Lhs {
			if n.Tok != token.DEFINE && (isPart(x) || isIdent(x)) && len(n.Lhs) == len(n.Rhs) {
				all = append(all, storedAt{place: types.ExprString(x), values: n.Rhs[i : i+1], adds: n.Tok != token.ASSIGN, appends: appendsTo(n.Rhs[i], types.ExprString(x))})
			}
		}
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		if !ok {
			return nil
		}
		if f, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains(storeMethods, f.Sel.Name) && isPart(f.X) {
			all = append(all, storedAt{place: types.ExprString(f.X), values: call.Args})
		}
	}
	return all
}

// readBefore is the first line between the lock and the call that reads a place, with what
// follows its value from there.
func (u *underlying) readBefore(place string) (line int, from *turns) {
	given := u.gives(place)
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		if n == nil || line > 0 {
			return false
		}
		first, _ := u.s.lines(n)
		x, ok := n.(ast.Expr)
		call, calls := n.(*ast.CallExpr)
		if ok && u.lock < first && first <= u.call && (types.ExprString(x) == place || calls && given(call)) {
			line = first
		}
		return true
	})
	return line, u.flow(place)
}

// flow follows what a place has up to the call.
func (u *underlying) flow(place string) *turns {
	w := u.s.flow(u.fn.body, u.call, place)
	w.calls = u.gives(place)
	return w
}

// decides tells whether a place, read between the lock and the call, decides whether the call is
// made.
func (u *underlying) decides(place string) (found bool) {
	from := u.flow(place)
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		if s, ok := n.(*ast.IfStmt); ok {
			first, last := u.s.lines(s)
			found = found || u.lock < first && last <= u.call && leavesLoop(s.Body.List) && from.has(s.Cond)
		}
		return !found
	})
	return found
}

// change says that a value is read before and stored behind the call.
func (u *underlying) change(place string, read, stores int, both string) *protected {
	p := &protected{info: true, slow: true, decides: true,
		says: fmt.Sprintf("the lock keeps a change together: %s is read at line %d, before the call, and line %d stores what is made of it", place, read, stores),
		evidence: []Evidence{
			u.c.shownAt(u.file, read, "read before the call: %s", place),
			u.c.shownAt(u.file, stores, "stored behind the call, made of what was read"),
		}}
	keep := fmt.Sprintf("Do not just move the call out of the lock: two goroutines could then read the same %s, and one of their changes would be lost. ", place)
	if both != "" {
		keep += fmt.Sprintf("The change is under %s as well: who waits for one of the two locks would then wait for the other one. ", both)
	}
	const shorter = "Make the call shorter, or let one call carry the changes of several that wait (a batch)."
	how := (lockOrder{u}).changesHow(place)
	switch {
	case u.asksWith(place) || how.sent:
		p.advice = keep + "The call is given what was read, too, so the calls may have to come in this order. " + shorter
		if how.sent {
			p.advice = keep + fmt.Sprintf("The call is given what is put in %s, too, so the calls may have to come in that order. ", place) + shorter
		}
		return p
	case how.keyed && !lockOfEntry(u, nil):
		keep += "Have one lock for each key, so that only changes of the same one wait for each other; or make the call shorter"
	default:
		keep += "Make the call shorter"
	}
	if p.advice = keep + "."; how.list {
		p.advice = keep + ", or let one call carry the changes of several that wait (a batch)."
		return p
	}
	if how.keyed {
		p.lets = letsAlso
	}
	if !how.made {
		p.lets = letsAlso
		p.advice = keep + "; or change the value first, unlock, make the call, and undo the change under the lock if the call fails."
	}
	return p
}

// asksWith tells whether the call is given what a place has, or what is made of it.
func (u *underlying) asksWith(place string) bool {
	w, called := u.flow(place), calledOn(u.s, u.call)
	return hasCall(u.fn.body, func(call *ast.CallExpr) bool {
		return called(call) && slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return w.has(x) })
	})
}

// own tells of a place that it is a variable of the function.
func (u *underlying) own(place string) bool {
	return token.IsIdentifier(place) && (u.in == nil || declaredIn(u.in, place))
}

// givenTo tells whether the call, where it is a part of an expression, is given a value that is looked
// for.
func (u *underlying) givenTo(x ast.Expr, from *turns) bool {
	named := func(call *ast.CallExpr) bool { return calledName(call) == ownName(u.callee.Func) }
	known := hasCall(x, named)
	return hasCall(x, func(call *ast.CallExpr) bool {
		return (!known || named(call)) && slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return from.has(a) })
	})
}

// fieldsOf are the types of the fields of a struct of the sources, by name; that of an embedded
// mutex by none.
func fieldsOf(c *code, name string) map[string]string {
	fields := map[string]string{}
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != name {
				return true
			}
			if of, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range of.Fields.List {
					text := types.ExprString(f.Type)
					for _, id := range f.Names {
						fields[id.Name] = text
					}
					switch {
					case len(f.Names) > 0:
					case strings.HasPrefix(text, "sync."):
						fields[""] = text
					default:
						fields[lastName(strings.TrimPrefix(text, "*"))] = text
					}
				}
			}
			return false
		})
	})
	return fields
}

// entry tells of a lock that it is that of an entry which the function has looked up by its key,
// or on which it was called by one that has, and into whose fields it puts what the call gives: then only those wait
// that want the same one.
func (u *underlying) entry(waiter []stack.Frame) *protected {
	if !u.known {
		return nil
	}
	name, field, of := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(u.held.lock, ".Lock"), ".RLock"), ".")
	if !of || strings.Contains(field, ".") || !lookedUp(u.fn, name) && !u.calledOnEntry(waiter, name) {
		return nil
	}
	puts, shared := false, false
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		switch x := n.(type) {
		case *ast.IndexExpr: // what is in the entry has keys itself
			shared = shared || rootName(x.X) == name
		case *ast.AssignStmt:
			line, _ := u.s.lines(n)
			for _, left := range x.Lhs {
				puts = puts || line >= u.call && isPart(left) && rootName(left) == name
			}
		}
		return true
	})
	if !puts || shared {
		return nil
	}
	return &protected{info: true,
		says:   fmt.Sprintf("the lock is that of one entry (%s): only those wait that want the same one", name),
		advice: "Have the entry before it is asked for: load it in the background, and again before it expires; or go on with the old value meanwhile. Otherwise make the call itself faster."}
}

// lookedUp tells of a variable of the function that it comes from a map, or is what a call gave for
// some key, and not from one of a few parts that a hash chooses.
func lookedUp(fn *scope, name string) (found bool) {
	ast.Inspect(fn.body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) == 0 || !isNamed(a.Lhs[0], name) {
			return true
		}
		found = byKey(a.Rhs[0])
		return !found
	})
	return found
}

// byKey tells of an expression that it is an element by its key, or what a method gives for one.
func byKey(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return byKey(x.X)
	case *ast.UnaryExpr:
		return byKey(x.X)
	case *ast.IndexExpr:
		return !mentionsHash(x.Index)
	case *ast.CallExpr:
		_, method := x.Fun.(*ast.SelectorExpr)
		return method && len(x.Args) > 0 && !strings.Contains(strings.ToLower(types.ExprString(x.Fun)), "shard") && !strings.Contains(strings.ToLower(types.ExprString(x.Fun)), "stripe")
	}
	return false
}

// calledOnEntry tells whether the function is a method of what has the lock, and those who wait have called it on an
// entry that they have looked up.
func (u *underlying) calledOnEntry(waiter []stack.Frame, name string) bool {
	i := slices.IndexFunc(waiter, func(f stack.Frame) bool { return f.File == u.file && f.Line == u.lock })
	if i < 0 || i+1 >= len(waiter) {
		return false
	}
	if fn := u.c.function(waiter[i]); fn == nil || scopeOf(fn).receiver != name {
		return false
	}
	by := waiter[i+1]
	fn := u.c.scopeAt(by)
	return fn != nil && slices.ContainsFunc(u.c.lineCalls(by), func(call *ast.CallExpr) bool {
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || f.Sel.Name != ownName(waiter[i].Func) {
			return false
		}
		id, named := f.X.(*ast.Ident)
		return byKey(f.X) || named && lookedUp(fn, id.Name)
	})
}

// mentionsHash tells of an index that a remainder, or the low bits, of something choose it.
func mentionsHash(x ast.Expr) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		if b, ok := n.(*ast.BinaryExpr); ok {
			found = found || b.Op == token.REM || b.Op == token.AND
		}
		return !found
	})
	return found
}
