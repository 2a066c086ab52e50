package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// heldBy says what may hold memory that a line allocates, where the source does not tell.
const heldBy = "The source was not followed to what holds the memory allocated there: find that first. If it is a cache, a ring or a queue with a bound, it grows until it is full: record for longer. If it is a map, a slice or a channel that is " +
	"only added to, bound it or evict from it; if it is goroutines that never end, end them. Other causes: a small part that keeps the whole (copy it: strings.Clone, slices.Clone), a context that is never cancelled, a timer that is never stopped, a pool that takes back oversized buffers, or a finalizer on objects that refer to each other."

// holding is what the source says of what holds memory: what to do about it, and the lines.
type holding struct {
	advice string
	// into is the container, where the source shows one that takes the whole.
	into keepsAt
	// adds is the map that the line itself adds to.
	adds keepsAt
	// says is what stands in the summary; it may be empty.
	says  string
	shows []Evidence
	// lets is where the source takes something out of it; the zero Evidence where it does not.
	lets Evidence
	// bounds is where the source shortens it so that it has a largest length; the zero Evidence where it
	// does not.
	bounds Evidence
	// unless is a limit in the source that applies under a condition alone; the zero Evidence where
	// there is none.
	unless Evidence
	// fixed tells that its length is.
	fixed bool
	// wastes tells that what is kept is a part of what it keeps, so that no bound on how many
	// there are makes it right where that is a small one; doubt is what speaks against that.
	wastes waste
	// ends tells of a part that the source says where it ends.
	ends  bool
	doubt string
	// part is how many bytes that is, 0 where the source does not say it. Where it is a result,
	// that is its number, and surely the advice where it is known to be short.
	part   int64
	result int
	surely string
	// first tells that what the first of shows says stands before the line that allocates: it is the one to change.
	first bool
	// forgotten tells of what is registered somewhere that nothing takes it back; expires is where, of what ends
	// by itself after a time.
	forgotten bool
	expires   Evidence
	// counted tells that nothing leaves the container by the counts, as what the first of shows says.
	counted bool
}

// sourceHolders looks in the source for what holds memory.
type sourceHolders struct{ *code }

// holder finds out of the source what holds what a line allocates; false where it does not
// tell. The frames are those of the user's code, that of the line first.
func (c sourceHolders) holder(at stack.Frame, frames []stack.Frame) (holding, bool) {
	own := userFrames(c.code, at, frames)
	if len(own) == 0 {
		return holding{}, false
	}
	if h, ok := c.bySeries(at, frames); ok {
		return h, true
	}
	if h, ok := byUnclosed(c.code, at, frames); ok {
		return h, true
	}
	if growsBuffer(frames) {
		if h, ok := c.byFreeList(own); ok && h.unless.File == "" { // else the recording has to show that the limit does not apply
			return h, true
		}
	}
	for _, look := range []func([]stack.Frame) (holding, bool){c.byContext, c.byTimer, c.byFinalizer, c.bySized, c.byPart, c.byMap, c.byPool, func(own []stack.Frame) (holding, bool) { return bySyncMap(c.code, own) }, c.byStore} {
		if h, ok := look(own); ok {
			return h, true
		}
	}
	return holding{}, false
}

// userFrames are those from the line on whose source is there.
func userFrames(c *code, at stack.Frame, frames []stack.Frame) (own []stack.Frame) {
	for _, f := range frames {
		here := f.Func == at.Func && f.File == at.File && f.Line == at.Line // at another address of the same line, perhaps
		if (len(own) > 0 || here) && c.parse(f.File) != nil {
			own = append(own, f)
		}
	}
	if len(own) == 0 && c.parse(at.File) != nil {
		own = append(own, at)
	}
	return own
}

// lineCalls are the calls that begin on the line of a frame.
func (c *code) lineCalls(f stack.Frame) (all []*ast.CallExpr) {
	s := c.parse(f.File)
	s.onLine(f.Line, func(n ast.Node, _ []ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok {
			if first, _ := s.lines(call); first == f.Line {
				all = append(all, call)
			}
		}
	})
	return all
}

// shownAt is a line of the source as evidence.
func (c *code) shownAt(file string, line int, format string, args ...any) Evidence {
	return Evidence{Text: fmt.Sprintf(format, args...), File: file, Line: line, Source: c.text(file, line)}
}

// byContext: a context that the line makes is held by its parent until it is cancelled.
func (c sourceHolders) byContext(own []stack.Frame) (h holding, ok bool) {
	for _, call := range c.lineCalls(own[0]) {
		switch types.ExprString(call.Fun) {
		case "context.WithCancel", "context.WithTimeout", "context.WithDeadline", "context.WithCancelCause", "context.WithTimeoutCause", "context.WithDeadlineCause":
			if endsWithNobody(c.code, types.ExprString(call.Fun), own) {
				return h, false
			}
			h.advice = "The line creates a context, which its parent holds, with all its values, until it is cancelled or expires: call its cancel function on every path (defer cancel()). Check whether there is a path " +
				"without the call, and whether the parent lives long."
			if name, handed := handedOn(c.code, own[0]); handed {
				h.advice = fmt.Sprintf("The line creates a context, which its parent holds, with all its values, until it is cancelled or expires. %s is handed on: check that whoever has it calls it when what the context is for is over. A call here (defer) would end the context too early.", name)
			}
			if timed := types.ExprString(call.Fun); strings.Contains(timed, "Timeout") || strings.Contains(timed, "Deadline") {
				h.expires = c.shownAt(own[0].File, own[0].Line, "each context made here ends when its time is over")
			}
			return h, true
		}
	}
	return h, false
}

// byTimer: a timer holds its function, and what that refers to, until it fires or is stopped.
func (c sourceHolders) byTimer(own []stack.Frame) (h holding, ok bool) {
	for _, call := range c.lineCalls(own[0]) {
		switch name := types.ExprString(call.Fun); name {
		case "time.AfterFunc", "time.After", "time.NewTimer", "time.NewTicker", "time.Tick":
			h.advice = fmt.Sprintf("The line calls %s: a timer is kept until it fires, with everything its function refers to. Stop it when it is no longer needed.", name)
			if lineInLoop(c.code, own[0]) == loopYes {
				h.advice = strings.TrimSuffix(h.advice, ".") + ", or reuse one timer (Reset) instead of creating one per iteration."
			}
			if name != "time.NewTicker" && name != "time.Tick" {
				h.expires = c.shownAt(own[0].File, own[0].Line, "each timer made here is held until it fires")
			}
			return h, true
		}
	}
	return h, false
}

// byFinalizer: an object with a finalizer that is a part of a cycle is never collected.
func (c sourceHolders) byFinalizer(own []stack.Frame) (h holding, ok bool) {
	for _, f := range own[:min(2, len(own))] {
		fn := c.function(f)
		if fn == nil {
			continue
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is && types.ExprString(call.Fun) == "runtime.SetFinalizer" {
				line := c.parse(f.File).fset.PositionFor(call.Pos(), false).Line
				h.shows = append(h.shows, c.shownAt(f.File, line, "the object gets a finalizer here"))
			}
			return true
		})
		if len(h.shows) > 0 {
			h.advice = "What is created there gets a finalizer. Objects with a finalizer that refer to each other, or to themselves, in a cycle are never collected: check whether this one can be reached from what it points " +
				"to. runtime.AddCleanup avoids that if its argument does not refer to the object; or set the finalizer on a small part that refers to nothing else. Memory with a finalizer also takes two collections to free, and one goroutine runs all finalizers."
			return h, true
		}
	}
	return h, false
}

// nearlyAllOfIt is what speaks against a copy of a part of which the length is not known.
const nearlyAllOfIt = "if the part is nearly all of it, little of the memory is wasted"

// byPart: a part of it is stored, which keeps the whole. Where the whole is stored as well, that
// is what keeps it.
func (c sourceHolders) byPart(own []stack.Frame) (h holding, ok bool) {
	all := growingFirst(c.storesOf(own))
	if len(all) == 0 {
		return partPasses(c.code, own)
	}
	for _, s := range all {
		if !s.part || slices.ContainsFunc(all, s.withWhole) {
			continue
		}
		at := fmt.Sprintf("%s:%d", baseName(s.cutFile), s.cutLine)
		if s.also == "" {
			s.also = besideIt(all, s)
		}
		if s.also != "" {
			at += " (and at " + s.also + ")"
		}
		h.shows = append(h.shows, c.shownAt(s.cutFile, s.cutLine, "a part of it is stored here without a copy"))
		if s.file != s.cutFile || s.line != s.cutLine {
			h.shows = append(h.shows, c.shownAt(s.file, s.line, "it goes into %s here", s.container))
		}
		h.says = fmt.Sprintf("what keeps it is a part of it, %s, stored at %s", s.expr, at)
		h.wastes, h.ends = mayWaste, endsBefore(s.expr)
		h.doubt = nearlyAllOfIt
		if s.copied != "" {
			h.wastes, h.ends = noWaste, false
			h.says = fmt.Sprintf("what may keep it is a part of it, %s, stored at %s, unless that is copied at %s", s.expr, at, s.copied)
			h.doubt = fmt.Sprintf("where the branch with the copy at %s runs, something else keeps it, which the source does not tell", s.copied)
		}
		if s.text && s.also == "" {
			h.part = constantPart(c.code, s.expr)
		}
		if s.came {
			tellCame(c.code, &h, s)
		}
		copyHere := at
		if h.first {
			copyHere = fmt.Sprintf("%s:%d", baseName(s.intoFile), s.intoLine)
		}
		h.advice = fmt.Sprintf("According to the source, a part of it (a slice or a substring) goes into %s and keeps the whole alive: copy the part at %s, before it is stored (%s).%s", s.container, copyHere, clonerAt(c.code, own[0]), otherThanCopy(s))
		if s.direct != "" && s.copied == "" {
			h.advice = fmt.Sprintf("According to the source, a part of it (a slice or a substring) goes into %s and keeps the whole alive: copy the part at %s, before it is stored (%s).%s", s.container, copyHere, s.direct, otherThanCopy(s))
		}
		if s.copied != "" {
			h.advice = fmt.Sprintf("If the branch at %s did not run, the part in %s keeps the whole alive: copy it always (%s). If it did, look for what else keeps the whole.", s.copied, s.container, clonerAt(c.code, own[0]))
		}
		return h, true
	}
	return h, false
}

// withWhole tells whether another store keeps the whole that a part was cut from: it goes into
// something that grows, or into the same object.
func (s keepsAt) withWhole(o keepsAt) bool {
	root := func(container string) string {
		name, _, _ := strings.Cut(container, ".")
		return name
	}
	return !o.part && (o.kind != intoField || o.file == s.file && root(o.container) == root(s.container))
}

// clonerAt names the function that copies a part of what a line allocates.
func clonerAt(c *code, at stack.Frame) string {
	for _, call := range c.lineCalls(at) {
		switch name := types.ExprString(call.Fun); {
		case name == "string", strings.HasPrefix(name, "strings."), strings.HasSuffix(name, ".String"), strings.HasSuffix(name, ".Text"), strings.HasSuffix(name, ".ReadString"):
			return "strings.Clone"
		}
	}
	return "bytes.Clone, strings.Clone"
}

// byMap: the line itself adds to a map: what is kept is the table.
func (c sourceHolders) byMap(own []stack.Frame) (h holding, ok bool) {
	s := c.parse(own[0].File)
	var x *ast.IndexExpr
	s.onLine(own[0].Line, func(n ast.Node, _ []ast.Node) {
		if a, is := n.(*ast.AssignStmt); is && len(a.Lhs) == 1 {
			if first, _ := s.lines(a); first == own[0].Line {
				x, _ = a.Lhs[0].(*ast.IndexExpr)
			}
		}
	})
	if x == nil || isSlice(s.file, lastName(types.ExprString(x.X))) {
		return h, false
	}
	k := &keeper{c: c.code, fn: c.function(own[0])}
	if ownMap(k.fn, x) != "" && len(storesBeyond(c.code, own, true)) > 0 {
		return h, false
	}
	into := keepsAt{kind: intoMap, container: types.ExprString(x.X), file: own[0].File, line: own[0].Line, name: nameOf(k, x.X)}
	h = c.mapHolds(into, nil)
	h.adds = into
	h.says = "according to the source, the line adds to the map " + into.name
	c.tellLeft(into, &h)
	return h, true
}

// isSlice tells whether a file declares a slice or an array of that name.
func isSlice(file *ast.File, name string) bool {
	return declaresOfType(file, name, func(of ast.Expr) bool { _, is := of.(*ast.ArrayType); return is })
}

// mapHolds is what to do about a map that holds memory, by whether anything is deleted from
// one of its name.
func (c sourceHolders) mapHolds(into keepsAt, shows []Evidence) holding {
	name := into.container
	another := namedAlike(c.code, into)
	deletes := c.callsIn("delete", func(file *ast.File, call *ast.CallExpr) bool {
		f := types.ExprString(call.Fun)
		return (f == "delete" || f == "clear" || f == "maps.DeleteFunc") && len(call.Args) > 0 && sameContainer(c.code, name, call.Args[0]) && !another(file, call)
	})
	// A function that is given the map may delete from it by another name.
	given := c.callsIn("a function with it", func(file *ast.File, call *ast.CallExpr) bool {
		f := types.ExprString(call.Fun)
		return f != "len" && f != "append" && f != "make" && f != "delete" && f != "clear" && mayTakeOut(c.code, f) && slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return sameContainer(c.code, name, unrefer(a)) }) && !another(file, call)
	})
	reload := mustReload(c.code, name)
	if len(deletes) == 0 && len(given) > 0 {
		return holding{advice: fmt.Sprintf("It goes into %s, which is passed to functions that may delete from it: check whether they keep up with what is added, and bound it.", name) + reload, shows: append(shows, given[0]), lets: given[0]}
	}
	if anew, ok := replacedAt(c.code, into); ok && len(deletes) == 0 {
		return holding{advice: fmt.Sprintf("It goes into %s, which is replaced by a new one at %s:%d: check whether that comes often enough, and bound it.", name, baseName(anew.File), anew.Line) + reload, shows: append(shows, anew), lets: anew}
	}
	if len(deletes) == 0 {
		return holding{advice: fmt.Sprintf("It goes into %s, and nothing in the source deletes from a map of this name. ", name) + boundIf + reload, shows: shows}
	}
	return holding{advice: fmt.Sprintf("It goes into %s, from which entries are deleted: check whether that keeps up with what is added, and bound it. A map keeps its table at the largest size it ever had and does not shrink when entries are deleted: "+
		"if it has become mostly empty, create a new map, copy what is left into it, and drop the old one.", name) + reload, shows: append(shows, deletes[0]), lets: deletes[0]}
}

// boundIf is what to do about a map that nothing is deleted from: the source does not show whether it may lack what was put into it.
const boundIf = "If its entries can be made again when one is missed (a cache), give it a bound (an LRU, a limit on its length), or let them expire; if each is for something that ends, delete it then. " +
	"If all have to be found (an index, a table that is loaded once), a bound would lose data: then smaller entries are what helps."

// lastName is the last name of an expression: "items" of "c.items".
func lastName(expr string) string { return expr[strings.LastIndexByte(expr, '.')+1:] }

// byPool: the line lets a buffer of an object grow that goes back to a pool.
func (c sourceHolders) byPool(own []stack.Frame) (h holding, ok bool) {
	fn := c.function(own[0])
	if fn == nil || fn.Recv == nil || len(fn.Recv.List) != 1 || !c.growsField(own[0], fn) {
		return h, false
	}
	of := types.ExprString(fn.Recv.List[0].Type)
	for _, all := range c.functions() {
		for _, f := range all {
			if line := c.givesBack(f, of); line > 0 {
				h.shows = append(h.shows, c.shownAt(f.file, line, "one of them goes back to a pool here"))
			}
		}
	}
	if len(h.shows) == 0 {
		return h, false
	}
	slices.SortFunc(h.shows, func(a, b Evidence) int { return strings.Compare(evidenceLine(a), evidenceLine(b)) })
	h.advice = "The line grows a buffer that later goes back to a pool: each buffer keeps the largest size it ever had. Drop oversized buffers instead of putting them back (if cap(buffer) > limit, return), with a limit slightly above the usual size, and check whether an existing limit takes effect."
	return h, true
}

// growsField tells whether a line appends to a field of the receiver.
func (c sourceHolders) growsField(at stack.Frame, fn *ast.FuncDecl) (grows bool) {
	if len(fn.Recv.List[0].Names) == 0 {
		return false
	}
	prefix := fn.Recv.List[0].Names[0].Name + "."
	c.parse(at.File).onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		to := types.ExprString(a.Lhs[0])
		grows = grows || ok && len(call.Args) > 0 && strings.HasPrefix(to, prefix) && types.ExprString(call.Args[0]) == to
	})
	return grows
}

// givesBack is the line at which a function hands a parameter of a type to a sync.Pool or a
// channel; 0 where it does not.
func (c sourceHolders) givesBack(f declaration, of string) (line int) {
	for _, field := range f.Type.Params.List {
		if types.ExprString(field.Type) != of {
			continue
		}
		for _, name := range field.Names {
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SendStmt:
					if types.ExprString(n.Value) == name.Name {
						line = c.parse(f.file).fset.PositionFor(n.Pos(), false).Line
					}
				case *ast.CallExpr:
					if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Put" && len(n.Args) == 1 && types.ExprString(n.Args[0]) == name.Name {
						line = c.parse(f.file).fset.PositionFor(n.Pos(), false).Line
					}
				}
				return true
			})
		}
	}
	return line
}

// byStore: the whole of it is stored. What is emptied as a whole, or has a largest length, keeps less than what
// does not.
func (c sourceHolders) byStore(own []stack.Frame) (h holding, ok bool) {
	all := c.storesOf(own)
	slices.SortStableFunc(all, func(a, b keepsAt) int { return strings.Compare(b.anew, a.anew) }) // where nobody finds it again
	for _, s := range all {
		if s.part {
			continue
		}
		one, is := c.stored(s)
		if !is {
			continue
		}
		if s.anew != "" && one.lets.File == "" {
			tellAnew(c.code, &one, s, c.shownAt(own[0].File, own[0].Line, ""))
		}
		one.into = s
		if i := slices.IndexFunc(all, func(o keepsAt) bool { return o.part && o.kind != intoField }); i >= 0 && s.branch {
			one.says += fmt.Sprintf(" in a branch, and a part of it, %s, into %s at %s:%d: where the branch does not run, it is the part that keeps it", all[i].expr, all[i].container, baseName(all[i].file), all[i].line)
		}
		at, empties := c.emptied(s)
		came, counted := cameTo(c.code, s, at)
		empties = empties && (came > 0 || !counted)
		cut, cuts := shortened(c.code, s)
		if cuts && (cut.bounds || !empties) {
			tellShortened(&one, s, cut)
		}
		if !empties && !cut.bounds {
			return one, true
		}
		if !ok {
			h, ok = one, true
			if !cut.bounds {
				tellEmptied(&h, s, at, came > 0)
			}
		}
	}
	return h, ok
}

// stored is what to do about a store, and where it is.
func (c sourceHolders) stored(s keepsAt) (h holding, ok bool) {
	shows, kind := []Evidence{c.shownAt(s.file, s.line, "it goes into %s here", s.container)}, ""
	switch s.kind {
	case intoMap:
		if s.wraps || c.fixedLength(s) {
			what := "an array of fixed length"
			if s.wraps {
				what = "a ring by its index"
			}
			h = holding{advice: fmt.Sprintf("It goes into %s, %s, which keeps as many until they are overwritten: if that is too much memory, keep fewer, or less of each.", s.container, what), shows: shows, fixed: true}
			break
		}
		if x := c.parse(s.file); x != nil && isSlice(x.file, lastName(s.container)) {
			h = holding{advice: fmt.Sprintf("It goes into %s, a slice: check what keeps it, and whether it is ever released.", s.container), shows: shows}
			break
		}
		h, kind = c.mapHolds(s, shows), "map "
	case intoSyncMap:
		h, kind = c.syncMapHolds(s, shows), "sync.Map "
	case intoSlice:
		h = holding{advice: fmt.Sprintf("It is appended to %s: check whether that is ever shortened. Bound it, write it out in parts, or keep only the most recent elements in a ring buffer.", s.container), shows: shows}
	case intoLinked:
		h = c.linkedHolds(s, shows)
	case intoList:
		h = holding{advice: fmt.Sprintf("It goes into the list %s, in which each node refers to the one before: check whether that is ever cut, and bound it.", s.container), shows: shows}
	case intoChannel:
		h = channelHolds(c.code, s, shows)
	default:
		return h, false
	}
	into := map[storeKind]string{intoSlice: "slice ", intoLinked: "list ", intoChannel: "channel ", intoList: "list "}
	h.says = fmt.Sprintf("according to the source, it goes into the %s%s at %s:%d", cmp.Or(kind, into[s.kind], "slice "), s.name, baseName(s.file), s.line)
	if s.among > 1 {
		h.says += fmt.Sprintf(" (one of %d implementations that may be called)", s.among)
	}
	if bare := s.container == lastName(s.container); kind != "" && (!bare || h.lets.File != "" || s.kind == intoSyncMap && packageHas(c.code, s.file, s.container)) {
		c.tellLeft(s, &h)
	} else if of, _, _ := strings.Cut(s.container, "["); s.kind == intoMap && !h.fixed && h.lets.File == "" && packageHas(c.code, s.file, of) {
		tellTakenElsewhere(c.code, s, &h)
	}
	return h, true
}

// channelHolds is what to do about a channel that holds memory: a queue, or one that is made for a single value, which holds the value
// together with the goroutine that waits to send it.
func channelHolds(c *code, s keepsAt, shows []Evidence) holding {
	at, ok := madeForOne(c, stack.Frame{File: s.file, Line: s.line}, s.container)
	if !ok {
		return holding{advice: fmt.Sprintf("It goes into the channel %s: check whether it is received as fast as it is sent, and bound the queue.", s.container), shows: shows}
	}
	return holding{advice: fmt.Sprintf("Each call makes a channel %s of its own, for one value: there is no queue that grows. If whoever receives has left (a time limit, an early return), the goroutine that sends waits forever and holds the value, unless the channel has room for it: "+
		"make it with a capacity of one, make(chan T, 1), or let the send give up as well (a select with the context's Done).", s.container), shows: append(shows, c.shownAt(s.file, at, "the channel is made here, anew in each call"))}
}

// madeForOne tells of a send that it is the only one to a channel which a local variable of the same function has, as far as one call
// goes: no loop that begins behind the making is around it. It gives the line that makes the channel.
func madeForOne(c *code, send stack.Frame, channel string) (line int, ok bool) {
	s, fn := c.parse(send.File), c.scopeAt(send)
	for ; fn != nil && !ok; fn = fn.outer {
		if fn.parameter(channel) >= 0 {
			return 0, false
		}
		made := makesChannel(fn.body, channel)
		if made == nil {
			continue
		}
		line, _ = s.lines(made)
		ok = line < send.Line
		eachNode(fn.body, func(n ast.Node, _ []ast.Node) {
			switch n.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				ok = ok && (n.Pos() < made.Pos() || !s.covers(n, send.Line))
			}
		})
		return line, ok
	}
	return 0, false
}

// makesChannel is the call by which a function itself makes a channel for a variable of its own; nil where it does not.
func makesChannel(body *ast.BlockStmt, channel string) (made *ast.CallExpr) {
	eachOwn(body, func(n ast.Node, around []ast.Node) {
		call, is := n.(*ast.CallExpr)
		if !is || len(around) == 0 || !isNamed(call.Fun, "make") || len(call.Args) == 0 {
			return
		}
		_, isChannel := call.Args[0].(*ast.ChanType)
		if id := definedAs(around[len(around)-1], call); isChannel && id != nil && id.Name == channel {
			made = call
		}
	})
	return made
}

// linkedHolds is what to do about a list of container/list that holds memory, by whether anything is removed from one of its name.
func (c sourceHolders) linkedHolds(s keepsAt, shows []Evidence) holding {
	all := c.removalsFrom(lastName(s.container))
	if len(all) == 0 {
		return holding{advice: fmt.Sprintf("It goes into the list %s, and nothing in the source removes from one of this name: bound it, or remove what is no longer needed.", s.container), shows: shows}
	}
	first := c.shownAt(all[0].in.file, all[0].line, "elements are removed from it here")
	return holding{advice: fmt.Sprintf("It goes into the list %s, from which elements are removed: check whether that keeps up with what is added, and bound it.", s.container), shows: append(shows, first), lets: first}
}

// mayTakeOut tells of a function, by its name, that it may take something out of a map: all but those of the sources that
// show that they do not.
func mayTakeOut(c *code, name string) bool {
	all := c.functions()[lastName(name)]
	return len(all) == 0 || slices.ContainsFunc(all, func(d declaration) bool {
		return setsPointed(d.Body) || anyCall(d.Body, func(called string) bool { return called == "delete" || called == "clear" || removes(called) })
	})
}

// tellHolder says of a finding about memory that a line keeps what holds it, as far as the
// source tells; otherwise is the advice where it does not.
func tellHolder(in *Input, f *Finding, at stack.Frame, frames []stack.Frame, otherwise string) {
	h, ok := sourceHolders{in.code}.holder(at, frames)
	own := userFrames(in.code, at, frames)
	if !ok || h.lets.File != "" { // what is taken out of there may be held elsewhere
		if r, is := registered(in, at); is && (!ok || r.forgotten) {
			h, ok = r, true
		}
	}
	lazy, expires := expiresLazily(in.code, cmp.Or(h.into, h.adds))
	first := h
	h, another := grownHolder(in, own, h)
	if expires && another { // such as a queue beside it, which an entry leaves with it
		h, another = first, false
	}
	b, bounded := boundedAt(in.code, own)
	bounded = bounded && !another
	beside, besides := besideBound{}, false
	if !bounded && h.bounds.File == "" && !h.fixed && h.into.file != "" {
		beside, besides = boundBeside(in.code, h.into)
	}
	standing := !besides && tellStands(in, own, &h)
	fails, doubt := "", ""
	switch {
	case h.expires.File != "":
		doubt = "each is held until its time is over: under the same load memory stops growing when as many end as begin"
		f.expires = h.expires
	case h.wastes > noWaste:
		tellNeeded(in, own, &h)
		doubt = h.doubt
	case h.doubt != "":
		doubt = h.doubt
	case bounded:
		if fails = b.exceeded(in, own); fails != "" {
			if !shows(f, evidenceLine(b.at)) {
				f.Evidence = append(f.Evidence, b.at)
			}
			break
		}
		f.Severity = Info
		doubt = b.doubt()
	case besides:
		if fails = beside.exceeded(in, own); fails == "" {
			f.Severity, f.bounds, doubt = Info, beside.at, beside.doubt()
		}
		beside.tell(&h)
	case h.bounds.File != "":
		f.Severity, f.bounds = Info, h.bounds
		doubt = fmt.Sprintf("according to the source, %s:%d shortens it: it may fill up to there and no further, unless there are more and more of them (record until it does)", baseName(h.bounds.File), h.bounds.Line)
	case h.fixed:
		f.Severity = Info
		doubt = "its length is fixed: it fills up to there and no further"
	case h.lets.File != "":
		f.lets = h.lets
		doubt = fmt.Sprintf("according to the source, %s:%d may remove something from it: what is kept for a time, or up to a bound, also grows until that is reached", baseName(h.lets.File), h.lets.Line)
	}
	if doubt != "" && !slices.Contains(f.Doubts, doubt) { // it may be asked for twice
		f.Doubts = append(f.Doubts, doubt)
	}
	if !ok {
		h, ok = heldByStuck(in, at, frames)
	}
	if !ok {
		f.Advice = fails + otherwise
		if otherwise == heldBy && !hasCore(in) {
			tellPutIn(in, f, at)
			f.Advice += " If that is not plain from the source, record with -phases core: the heap graph shows what holds most of it, where a few places do."
		}
		return
	}
	if expires {
		lazy.tell(&h)
	} else if bounded && fails == "" && doubt == b.doubt() {
		b.tell(in.code, &h)
	} else if h.lets.File != "" && fails == "" && !besides && !standing && !h.counted && allInUse(in, at) {
		fails = nothingLeft(in.code, h)
	}
	f.Advice, f.wastes, f.ends = fails+h.advice, h.wastes, h.ends
	if h.says != "" && !strings.Contains(f.Summary, h.says) {
		f.Summary = joinClauses(f.Summary, h.says)
	}
	for _, e := range h.shows[:min(4, len(h.shows))] {
		if !shows(f, evidenceLine(e)) {
			f.Evidence = append(f.Evidence, e)
		}
	}
	if h.first || h.counted {
		putFirst(f, h.shows[0])
	}
	f.counted = h.counted && h.lets.File == ""
	if !h.counted && keepsAll(h) && doubt == "" && fails == "" {
		tellKeepsFirst(f, h.shows[0])
		f.keeps = true
	}
}
