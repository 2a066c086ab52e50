package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// heldBy says what may hold memory that a line allocates, where the source does not tell.
const heldBy = "Find what holds the memory that is allocated there: a map, a slice or a channel that is only added to, or goroutines that never end: bound or evict it. " +
	"Or what is needed is a small part of it, which keeps all (copy that: strings.Clone, slices.Clone); a context that nobody cancels, a timer that nobody stops, a pool that takes back what " +
	"has grown large, or a finalizer on objects that refer to each other."

// holding is what the source says of what holds memory: what to do about it, and the lines.
type holding struct {
	advice string
	shows  []Evidence
	// lets is where the source takes something out of it; the zero Evidence where it does not.
	lets Evidence
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
	for _, look := range []func([]stack.Frame) (holding, bool){c.byContext, c.byTimer, c.byFinalizer, c.byPart, c.byMap, c.byPool, c.byStore} {
		if h, ok := look(own); ok {
			return h, true
		}
	}
	return holding{}, false
}

// userFrames are those from the line on whose source is there.
func userFrames(c *code, at stack.Frame, frames []stack.Frame) (own []stack.Frame) {
	for _, f := range frames {
		if (len(own) > 0 || f == at) && c.parse(f.File) != nil {
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
			h.advice = "The line makes a context, which its parent holds, with all values of it, until it is cancelled or its time is over: call its cancel function on every way out of what it is for (defer cancel()). " +
				"Look whether there is a way on which nobody does, and whether the parent lives long."
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
			h.advice = fmt.Sprintf("The line calls %s: a timer is kept until it fires, with all that its function refers to. Stop it when what it is for is over, or use one timer again (Reset) in place of one for each turn.", name)
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
			h.advice = "What is made there gets a finalizer. Objects with a finalizer that refer to each other, or to themselves, in a cycle are never collected: look whether this one can be reached from what it points to. " +
				"runtime.AddCleanup has no such cycle, where what it is given does not refer to the object; or set the finalizer on a small part that refers to nothing else. Memory with a finalizer also takes two collections, and one goroutine runs all of them."
			return h, true
		}
	}
	return h, false
}

// byPart: a part of it is stored, which keeps the whole.
func (c sourceHolders) byPart(own []stack.Frame) (h holding, ok bool) {
	for _, s := range c.storesOf(own) {
		if !s.part {
			continue
		}
		h.shows = append(h.shows, c.shownAt(s.file, s.line, "a part of it goes into %s here", s.container))
		h.advice = fmt.Sprintf("By the source a part of it (a slice or a substring) goes into %s, and keeps the whole of it: copy the part before it is stored (strings.Clone, bytes.Clone, slices.Clone). Where nearly all of it is needed, or it is a copy already, bound %s.", s.container, s.container)
		return h, true
	}
	return h, false
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
	return c.mapHolds(types.ExprString(x.X), nil), true
}

// isSlice tells whether a file declares a slice or an array of that name.
func isSlice(file *ast.File, name string) (is bool) {
	array := func(e ast.Expr) bool {
		if call, ok := e.(*ast.CallExpr); ok && len(call.Args) > 0 && types.ExprString(call.Fun) == "make" {
			e = call.Args[0]
		}
		if lit, ok := e.(*ast.CompositeLit); ok {
			e = lit.Type
		}
		_, ok := e.(*ast.ArrayType)
		return ok
	}
	named := func(e ast.Expr) bool { return lastName(types.ExprString(e)) == name }
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i := range min(len(n.Lhs), len(n.Rhs)) {
				is = is || named(n.Lhs[i]) && array(n.Rhs[i])
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				is = is || id.Name == name && (n.Type != nil && array(n.Type) || i < len(n.Values) && array(n.Values[i]))
			}
		case *ast.Field:
			for _, id := range n.Names {
				is = is || id.Name == name && array(n.Type)
			}
		}
		return true
	})
	return is
}

// mapHolds is what to do about a map that holds memory, by whether anything is deleted from
// one of its name.
func (c sourceHolders) mapHolds(name string, shows []Evidence) holding {
	deletes := c.callsIn("delete", func(_ *ast.File, call *ast.CallExpr) bool {
		f := types.ExprString(call.Fun)
		return (f == "delete" || f == "clear" || f == "maps.DeleteFunc") && len(call.Args) > 0 && lastName(types.ExprString(call.Args[0])) == lastName(name)
	})
	// A function that is given the map may delete from it by another name.
	given := c.callsIn("a function with it", func(_ *ast.File, call *ast.CallExpr) bool {
		f := types.ExprString(call.Fun)
		return f != "len" && f != "append" && f != "make" && slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return lastName(types.ExprString(a)) == lastName(name) })
	})
	if len(deletes) == 0 && len(given) > 0 {
		return holding{fmt.Sprintf("It goes into %s, which functions are given that may delete from it: look whether they keep up with what is added, and bound it.", name), append(shows, given[0]), given[0]}
	}
	if len(deletes) == 0 {
		return holding{fmt.Sprintf("It goes into %s, and nothing in the source deletes from a map of this name: give it a bound (an LRU, a limit on its length), or let entries expire and delete them.", name), shows, Evidence{}}
	}
	return holding{fmt.Sprintf("It goes into %s, which something is deleted from: look whether that keeps up with what is added, and bound it. A map keeps the table of the largest number of entries that it ever had, and does not shrink when they are deleted: "+
		"where that has become mostly empty, make a new map, copy what is left into it, and drop the old one.", name), append(shows, deletes[0]), deletes[0]}
}

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
	h.advice = "The line lets a buffer grow that goes back to a pool later on: each keeps the largest size that it ever had. Drop those that are too large before they go back (if cap(buffer) > limit, return), with a limit a little above the usual size, and look whether the one that is there is in force."
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

// byStore: the whole of it is stored.
func (c sourceHolders) byStore(own []stack.Frame) (h holding, ok bool) {
	for _, s := range c.storesOf(own) {
		shows := []Evidence{c.shownAt(s.file, s.line, "it goes into %s here", s.container)}
		switch s.kind {
		case intoMap:
			if x := c.parse(s.file); x != nil && isSlice(x.file, lastName(s.container)) {
				return holding{fmt.Sprintf("It goes into %s, a slice: look who keeps that, and whether it is ever let go.", s.container), shows, Evidence{}}, true
			}
			return c.mapHolds(s.container, shows), true
		case intoSyncMap:
			return holding{fmt.Sprintf("It goes into %s, a sync.Map or alike, which keeps it until somebody deletes it: look whether that happens for each key, and bound it.", s.container), shows, Evidence{}}, true
		case intoSlice:
			return holding{fmt.Sprintf("It is appended to %s: look whether that is ever shortened. Bound it, write it out in parts, or keep the last ones alone in a ring.", s.container), shows, Evidence{}}, true
		case intoChannel:
			return holding{fmt.Sprintf("It goes into the channel %s: look whether it is taken out as fast as it comes in, and bound what waits there.", s.container), shows, Evidence{}}, true
		}
	}
	return h, false
}

// tellHolder says of a finding about memory that a line keeps what holds it, as far as the
// source tells; otherwise is the advice where it does not.
func tellHolder(in *Input, f *Finding, at stack.Frame, frames []stack.Frame, otherwise string) {
	h, ok := sourceHolders{in.code}.holder(at, frames)
	own := userFrames(in.code, at, frames)
	b, bounded := boundedAt(in.code, own)
	fails, doubt := "", ""
	switch {
	case bounded:
		if fails = b.exceeded(in, own); fails != "" {
			if !shows(f, evidenceLine(b.at)) {
				f.Evidence = append(f.Evidence, b.at)
			}
			break
		}
		f.Severity = Info
		doubt = fmt.Sprintf("by the source something is taken out at %s:%d when a length is reached: it may fill up to there, and no further (record until it does)", baseName(b.at.File), b.at.Line)
	case h.lets.File != "":
		doubt = fmt.Sprintf("by the source %s:%d may take something out of it: what is kept for a time, or up to a bound, grows too until that is reached", baseName(h.lets.File), h.lets.Line)
	}
	if doubt != "" && !slices.Contains(f.Doubts, doubt) { // it may be asked for twice
		f.Doubts = append(f.Doubts, doubt)
	}
	if !ok {
		h, ok = registered(in, at)
	}
	if !ok {
		f.Advice = fails + otherwise
		return
	}
	f.Advice = fails + h.advice
	for _, e := range h.shows[:min(2, len(h.shows))] {
		if !shows(f, evidenceLine(e)) {
			f.Evidence = append(f.Evidence, e)
		}
	}
}
