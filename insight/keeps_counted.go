package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/unit"
)

// How often entries go into a container and leave it, by the counts of the blocks that do so: of several containers with the same value, the one that
// entries leave about as often as they come is not the one that keeps it.

// Limits of what is told by counts; chosen.
const (
	// leastStored is how often something has to be stored.
	leastStored = 20
	// mostKept is how much of what was stored may be taken out of a container that keeps it, leastLeft how much of it has to be where entries leave.
	mostKept, leastLeft = 0.1, 0.9
)

// countedFlow is how often entries were put into a container, and taken out of it.
type countedFlow struct {
	stored, taken int64
	// puts and takes are the places, takes the least reached first.
	puts, takes []countedPlace
	// newKeys tells that each entry goes in by a key that nothing in it can have: what the place has just made.
	newKeys bool
	// many tells that some of takes take out more than one entry, nobody knows how many.
	many bool
	// waits tells that one of takes stands behind a condition on a length or a time: it may come later.
	waits bool
}

// countedPlace is a place in the source, and how often it was reached.
type countedPlace struct {
	file string
	line int
	n    int64
}

func (p countedPlace) String() string { return fileLine(p.file, p.line) }

// stays tells of a container that hardly anything is taken out of it. What goes in may take the place of another entry all the same.
func (f countedFlow) stays() bool {
	return f.stored >= leastStored && !f.many && float64(f.taken) <= mostKept*float64(f.stored)
}

// keeps tells of a container that it holds more the more goes into it: hardly anything is taken out, and each entry is one more, by its key or by what
// the heap profile has of its entries.
func (f filledAt) keeps() bool {
	return f.counted && f.flow.stays() && (f.kind == intoSlice || f.kind == intoLinked || f.flow.newKeys || f.grew())
}

// leaves tells of a container that about as much is taken out of it as goes into it.
func (f countedFlow) leaves() bool {
	return f.stored >= leastStored && !f.many && float64(f.taken) >= leastLeft*float64(f.stored)
}

// String are the figures, of which those of deletes are how often they were reached: a key may not have been there. "stored 2,030 times, deleted 0 times in the run that counts".
func (f countedFlow) String() string {
	if f.many {
		return fmt.Sprintf("stored %s, emptied or deleted from at %s in the run that counts", unit.Plural(int(f.stored), "time"), f.reached())
	}
	return fmt.Sprintf("stored %s, deleted %s in the run that counts", unit.Plural(int(f.stored), "time"), unit.Plural(int(f.taken), "time"))
}

// reached names the places that take something out, with how often each was come to: "auth.go:47 (0 times)".
func (f countedFlow) reached() string {
	var all []string
	for _, t := range f.takes[:min(3, len(f.takes))] {
		all = append(all, fmt.Sprintf("%v (%s)", t, unit.Plural(int(t.n), "time")))
	}
	return andList(all)
}

// throughputOf counts what goes through the container of a store. It is false where that was not counted, or the sources do not show all of it.
func throughputOf(c *code, s keepsAt) (f countedFlow, ok bool) {
	counts := blockCountsOf(c)
	if counts == nil || s.wraps || s.file == "" {
		return f, false
	}
	switch s.kind {
	case intoMap, intoSyncMap:
		f, ok = counts.throughMap(c, s)
	case intoSlice, intoLinked:
		f, ok = counts.throughList(c, s)
	}
	slices.SortStableFunc(f.takes, func(a, b countedPlace) int {
		return cmp.Or(cmp.Compare(a.n, b.n), strings.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	return f, ok
}

// throughMap counts what goes through a map.
func (c *countedTurns) throughMap(of *code, s keepsAt) (f countedFlow, ok bool) {
	r, known := removersOf(of, s)
	if !known || r.depth > 0 {
		return f, false
	}
	ok, f.newKeys = true, true
	made := newLaterChanges(c.d, &ast.BlockStmt{})
	r.eachNode(func(n ast.Node, around []ast.Node) {
		switch {
		case !ok:
		case storesInto(r, n):
			ok, f.newKeys = c.put(&f, n, around, 1), f.newKeys && keyIsNew(made, n, around)
		case takesHere(r, n) != nil:
			m := takesHere(r, n)
			one := m.kind == deletes && !deletesMany(n)
			ok = m.kind != unseen && c.take(r, &f, n, around, one)
			r.found = slices.DeleteFunc(r.found, func(x remover) bool { return x == *m })
		}
	})
	return f, ok && len(f.puts) > 0 && len(r.found) == 0
}

// storesInto tells of a node that it puts an entry into the map.
func storesInto(r *removerSearch, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			x, ok := ast.Unparen(lhs).(*ast.IndexExpr)
			if ok && r.places[r.place(x.X)] && !isNamed(n.Rhs[min(i, len(n.Rhs)-1)], "nil") {
				_, ok = deref(r.typeOf(x.X)).(*types.Map)
				return ok
			}
		}
	case *ast.CallExpr:
		f, ok := n.Fun.(*ast.SelectorExpr)
		return ok && len(n.Args) == 2 && (f.Sel.Name == "Store" || f.Sel.Name == "LoadOrStore" || f.Sel.Name == "Swap") && r.places[r.place(f.X)]
	}
	return false
}

// keyIsNew tells of a store that its key is a pointer to what has just been made.
func keyIsNew(made *laterChanges, n ast.Node, around []ast.Node) bool {
	var key ast.Expr
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, lhs := range n.Lhs {
			if x, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok {
				key = x.Index
			}
		}
	case *ast.CallExpr:
		key = n.Args[0]
	}
	decl := declAround(around)
	if key == nil || decl == nil {
		return false
	}
	_, pointer := types.Unalias(made.d.t.typeOf(key)).(*types.Pointer)
	return pointer && made.newIn(decl, ast.Unparen(key))
}

// takesHere is the remover that a node is; nil where it is none.
func takesHere(r *removerSearch, n ast.Node) *remover {
	switch n.(type) {
	case *ast.CallExpr, *ast.IndexExpr, *ast.AssignStmt, *ast.SelectorExpr, *ast.ReturnStmt, *ast.SendStmt:
	default:
		return nil
	}
	file, _, offset := r.at(n.Pos())
	i := slices.IndexFunc(r.found, func(m remover) bool { return m.file == file && m.offset == offset })
	if i < 0 {
		return nil
	}
	m := r.found[i]
	return &m
}

// deletesMany tells of a call that it may take out any number of entries.
func deletesMany(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	name := calledName(call)
	return name == "clear" || name == "DeleteFunc" || name == "Clear" || name == "Range"
}

// throughList counts what goes through a slice: what is appended to it, and what it is cut to.
func (c *countedTurns) throughList(of *code, s keepsAt) (f countedFlow, ok bool) {
	r := &removerSearch{usage: &usage{typedOf(of), map[*types.Func][]mention{}}, places: map[types.Object]bool{}, lits: map[types.Object]*ast.FuncLit{}}
	var list *types.Var
	r.eachNode(func(n ast.Node, _ []ast.Node) {
		a, is := n.(*ast.AssignStmt)
		if is && len(a.Lhs) == 1 && types.ExprString(a.Lhs[0]) == s.container {
			if file, line, _ := r.at(a.Lhs[0].Pos()); file == s.file && line == s.line {
				list, _ = r.place(a.Lhs[0]).(*types.Var)
			}
		}
	})
	if list == nil || !list.IsField() && !isGlobal(list) {
		return f, false
	}
	r.prepare()
	ok = true
	is := func(x ast.Expr) bool { p, _ := r.place(x).(*types.Var); return p == list }
	r.eachNode(func(n ast.Node, around []ast.Node) {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if _, index := ast.Unparen(n.X).(*ast.IndexExpr); !index && n.Op == token.AND && is(n.X) {
				ok = false // whoever has the address may set it
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if _, index := ast.Unparen(lhs).(*ast.IndexExpr); !ok || index || !is(lhs) {
					continue
				}
				adds, one := listChange(n.Rhs[min(i, len(n.Rhs)-1)], is)
				switch {
				case adds > 0:
					ok = c.put(&f, n, around, adds)
				case one || !r.initial(lhs, around):
					ok = c.take(r, &f, n, around, one)
				}
			}
		}
	})
	return f, ok && len(f.puts) > 0
}

// listChange is what an assignment makes of a list: how many elements are appended to it, or whether one is taken out.
func listChange(x ast.Expr, is func(ast.Expr) bool) (adds int64, one bool) {
	switch x := ast.Unparen(x).(type) {
	case *ast.CallExpr:
		if !isNamed(x.Fun, "append") || len(x.Args) < 2 {
			return 0, false
		}
		if is(x.Args[0]) {
			if _, cut := ast.Unparen(x.Args[0]).(*ast.SliceExpr); !cut {
				return int64(len(x.Args) - 1), false // of a whole list at least one
			}
		}
		head, cut := ast.Unparen(x.Args[0]).(*ast.SliceExpr)
		tail, also := ast.Unparen(x.Args[1]).(*ast.SliceExpr)
		return 0, cut && also && is(head.X) && is(tail.X) && head.High != nil && tail.Low != nil && types.ExprString(tail.Low) == types.ExprString(head.High)+" + 1"
	case *ast.SliceExpr:
		if !is(x.X) {
			return 0, false
		}
		low, known := numberOf(x.Low)
		first := x.High == nil && known && low == 1
		last, ok := x.High.(*ast.BinaryExpr)
		less := int64(0)
		if ok {
			less, _ = numberOf(last.Y)
		}
		return 0, first || x.Low == nil && ok && last.Op == token.SUB && less == 1
	}
	return 0, false
}

// put counts a place that puts something in.
func (c *countedTurns) put(f *countedFlow, n ast.Node, around []ast.Node, each int64) bool {
	times, ok := c.times(around, n)
	if ok {
		file, line, _ := c.d.t.at(n.Pos())
		f.puts, f.stored = append(f.puts, countedPlace{file, line, times}), f.stored+each*times
	}
	return ok
}

// take counts a place that takes one out, or any number.
func (c *countedTurns) take(r *removerSearch, f *countedFlow, n ast.Node, around []ast.Node, one bool) bool {
	times, ok := c.times(around, n)
	if !ok {
		return false
	}
	file, line, _ := c.d.t.at(n.Pos())
	f.takes, f.taken = append(f.takes, countedPlace{file, line, times}), f.taken+times
	f.many = f.many || !one && times > 0
	f.waits = f.waits || comesLater(r, around, maxWay)
	return true
}

// times is how often a node was come to, of which those around it are given: by the blocks of its function, or by its calls where it has a single
// block. A function that was never called has none.
func (c *countedTurns) times(around []ast.Node, n ast.Node) (int64, bool) {
	at := slices.IndexFunc(around, func(x ast.Node) bool { _, ok := x.(*ast.FuncDecl); return ok })
	if at < 0 {
		return 0, false
	}
	decl, within := around[at].(*ast.FuncDecl), around[at+1:]
	if times, ok := c.reaches(within, n); ok {
		return times, true
	}
	if times, ok := c.entered(decl.Body.Lbrace); ok {
		return 0, times == 0
	}
	file, line, _ := c.d.t.at(decl.Pos())
	calls, ok := c.blocks.Called(file, line)
	if !ok || !startsProgram(decl) && !looksCounted(decl.Body) {
		return 0, false
	}
	single := !hasAny(decl.Body, func(x ast.Node) bool {
		if _, lit := x.(*ast.FuncLit); lit {
			return true
		}
		b, block := x.(*ast.BlockStmt)
		return block && b != decl.Body || openOf(x) != x.Pos()
	})
	return calls, single || calls == 0
}

// looksCounted tells of a function's body that calls of it are counted: it calls something else than what is built in, or has blocks.
func looksCounted(body *ast.BlockStmt) bool {
	return hasAny(body, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.CallExpr:
			id, ok := x.Fun.(*ast.Ident)
			return !ok || types.Universe.Lookup(id.Name) == nil
		case *ast.BlockStmt:
			return x != body
		}
		return false
	})
}

// comesLater tells of what takes something out that it may come later: at a length or a time, by a condition around it, or around a call of its
// function so many levels up.
func comesLater(r *removerSearch, around []ast.Node, levels int) bool {
	for _, n := range slices.Backward(around) {
		switch n := n.(type) {
		case *ast.IfStmt, *ast.ForStmt:
			if cond, _ := conditionOf(n); cond != nil && onLengthOrTime(cond) {
				return true
			}
			if loop, is := n.(*ast.ForStmt); is && hasCall(loop.Body, func(call *ast.CallExpr) bool { return types.ExprString(call.Fun) == "time.Sleep" }) {
				return true
			}
		case *ast.RangeStmt:
			if text := types.ExprString(n.X); strings.HasSuffix(text, ".C") || strings.HasPrefix(text, "time.Tick(") {
				return true
			}
		case *ast.CommClause:
			return true // it waits for somebody, such as a ticker
		case *ast.CallExpr:
			if name := calledName(n); name == "AfterFunc" || name == "DeleteFunc" {
				return true
			}
		case *ast.FuncDecl:
			fn, ok := r.info.Defs[n.Name].(*types.Func)
			return ok && levels > 0 && slices.ContainsFunc(r.mentions[fn.Origin()], func(m mention) bool { return comesLater(r, m.around, levels-1) })
		}
	}
	return false
}

// onLengthOrTime tells of a condition that it compares a length, or a time.
func onLengthOrTime(cond ast.Expr) bool {
	return hasAny(cond, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		return ok && (comparesOf(x) || anyCall(x, func(name string) bool {
			return slices.Contains([]string{"Since", "Until", "Now", "Before", "After", "Sub"}, name)
		}))
	})
}

func comparesOf(x ast.Expr) bool { _, ok := x.(*ast.BinaryExpr); return ok && comparesLength(x) }

// countFlows counts what goes through some containers.
func countFlows(c *code, all ...*filledAt) {
	for _, f := range all {
		f.flow, f.counted = throughputOf(c, f.keepsAt)
	}
}

// keptByCount chooses among containers the one that nothing leaves, by the counts; it is false where that is none, or the heap profile has entries of
// the first alone.
func keptByCount(named *filledAt, others []filledAt) (keeps *filledAt, ok bool) {
	if named.keeps() {
		return named, true
	}
	for i := range others {
		if o := &others[i]; o.keeps() && (o.grew() || !named.grew()) && (keeps == nil || o.flow.stored > keeps.flow.stored) {
			keeps = o
		}
	}
	return keeps, keeps != nil
}

// heldByCount is what a container holds that the counts have shown nothing to leave; it tells whether it is another one than the first.
func heldByCount(c sourceHolders, h holding, keeps *filledAt, all []*filledAt) (holding, bool) {
	another := keeps != all[0]
	if another {
		other, ok := c.stored(keeps.keepsAt)
		if !ok {
			return h, false
		}
		h, h.into = other, keeps.keepsAt
	}
	tellCounted(c, &h, keeps, all)
	return h, another
}

// tellCounted says of a container that nothing leaves how often something was stored in it, and what takes entries out of the others.
func tellCounted(c sourceHolders, h *holding, keeps *filledAt, all []*filledAt) {
	h.says += ", " + keeps.flow.String()
	h.counted = true
	h.shows = []Evidence{c.shownAt(keeps.file, keeps.line, "it goes into %s here, %s", keeps.container, keeps.flow)}
	h.advice = fmt.Sprintf("What goes into %s at %s stays in it: ", keeps.name, keeps.at())
	if len(keeps.flow.takes) == 0 {
		h.advice += "nothing in the source deletes from it. "
	} else {
		h.advice += fmt.Sprintf("in the run that counts it was %s, as what deletes from it is hardly ever reached: %s. ", strings.TrimSuffix(keeps.flow.String(), " in the run that counts"), keeps.flow.reached())
		for _, t := range keeps.flow.takes[:min(2, len(keeps.flow.takes))] {
			h.shows = append(h.shows, c.shownAt(t.file, t.line, "it is taken out of %s here, %s in the run that counts", keeps.container, unit.Plural(int(t.n), "time")))
		}
	}
	left := false
	for _, o := range all {
		if o == keeps || !o.counted || !o.flow.leaves() {
			continue
		}
		h.says += fmt.Sprintf("; it goes into %s at %s as well, where its delete is reached about as often: %s", o.name, o.at(), o.flow)
		if left {
			continue
		}
		out := o.flow.takes[len(o.flow.takes)-1]
		h.advice += fmt.Sprintf("Entries are deleted from %s at %v: delete them from %s there as well. ", o.name, out, keeps.name)
		h.shows = append(h.shows, c.shownAt(out.file, out.line, "it is deleted from %s here, reached %s in the run that counts", o.container, unit.Plural(int(out.n), "time")))
		left = true
	}
	if !left {
		h.advice += "Delete each entry on every way on which what it is for ends. "
	}
	h.advice += "A bound or an expiry helps only where entries are meant to stay for a time."
	if !keeps.flow.waits && left || len(keeps.flow.takes) == 0 {
		h.lets = Evidence{}
	}
}

// tellBoth says of a value that goes into two containers, of which nothing tells which one keeps it, how to find that out.
func tellBoth(h *holding, named, other filledAt) {
	h.says = joinClauses(h.says, fmt.Sprintf("it goes into %s at %s as well", other.name, other.at()))
	for _, f := range []filledAt{named, other} {
		if f.counted {
			h.says += fmt.Sprintf("; of %s: %s", f.name, f.flow)
		}
	}
	if h.lets.File == "" {
		return
	}
	h.advice = fmt.Sprintf("It goes into %s (%s) and into %s (%s), and the recording does not tell which of them keeps it: check of each that entries leave it as often as they come, on every way. Bound what is meant to stay. ", named.name, named.at(), other.name, other.at()) + h.advice
}

// joinClauses puts a clause behind others, if there are any.
func joinClauses(first, then string) string {
	if first == "" {
		return then
	}
	return first + "; " + then
}

// nothingLeft says of what is all in use, of something that the source takes entries out of, how often that was reached.
func nothingLeft(c *code, h holding) string {
	into := h.into
	if into.file == "" {
		into = h.adds
	}
	const reach = "Make sure that what takes something out is reached for each entry, or give it a bound. "
	f, ok := throughputOf(c, into)
	switch {
	case ok && f.stored > 0 && f.taken > 0 && !f.stays():
		return fmt.Sprintf("All that the line has allocated is still in use, though what takes entries out of %s was reached: %s. Check whether these are entries that were stored, and what else keeps them. ", into.name, f)
	case ok && f.stored > 0 && f.waits && f.taken == 0:
		return fmt.Sprintf("In the run that counts nothing was taken out of %s yet (%s, at %s): that waits for a length or a time, which may come later. Record until it does. ", into.name, strings.TrimSuffix(f.String(), " in the run that counts"), f.reached())
	case ok && f.stored > 0 && len(f.takes) > 0 && f.taken == 0:
		return fmt.Sprintf("Nothing was taken out of %s in the run that counts (%s, at %s), which lasts for seconds: entries that are meant to live for longer leave later; record for longer than they live (-for). Where they are not: ", into.name, strings.TrimSuffix(f.String(), " in the run that counts"), f.reached()) + strings.ToLower(reach[:1]) + reach[1:]
	case ok && f.stored > 0 && len(f.takes) > 0:
		return fmt.Sprintf("Hardly anything is taken out of %s: %s, at %s. ", into.name, f, f.reached()) + reach
	}
	return "Nothing was taken out in this recording: all that the line has allocated is still in use. " + reach
}
