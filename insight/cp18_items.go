package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"loupe/value/stack"
)

// What a loop makes for each of its items, of the item, is not the same work again, however often the
// loop turns. It is if the whole loop is repeated over the same items.

// itemwise is what the source says of work that is repeated.
type itemwise int

const (
	sameItem  itemwise = iota // the source shows no loop over items that it depends on
	otherItem                 // it depends on the item of a loop that is repeated, maybe over others
	eachItem                  // each item has its own, and the program makes it once
)

// ownItems are kinds of work whose result belongs to the item. Of ownTexts, items may have the same
// text, which only a cache by the text finds out.
var (
	ownItems = []string{"again.encoding", "again.key", "again.certificate", "again.password"}
	ownTexts = []string{"again.template", "again.config", "again.table", againProgram, againLazy}
)

// itemsOf tells of a kind of work, of which a stack shows how it is called at a place, whether it is
// done for another item each time.
func itemsOf(kind string, c *code, v *view, frames []stack.FrameID, at int) itemwise {
	own := slices.Contains(ownItems, kind)
	if !own && !slices.Contains(ownTexts, kind) || at <= 0 {
		return sameItem
	}
	w := &itemWay{c: c, names: map[string]bool{}, index: map[string]bool{}}
	for i := at; i < len(frames); i++ {
		switch v.origins[frames[i]] {
		case stack.User:
			w.way = append(w.way, v.t.Frame(frames[i]))
		case stack.Standard, stack.Dependency:
			if !callsOnce.MatchString(v.t.Frame(frames[i]).Func) && v.t.Frame(frames[len(frames)-1]).Func != "runtime.main" {
				w.back = append(w.back, len(w.way))
			}
		}
	}
	is := w.follow(v.t.Frame(frames[at-1]).Func, kind == "again.key")
	if is == eachItem && !own {
		return otherItem
	}
	return is
}

// itemWay follows what a call is given from its function to those that call it.
type itemWay struct {
	c     *code
	way   []stack.Frame
	back  []int           // the places of the way that a library calls back
	names map[string]bool // the variables that the work depends on
	index map[string]bool // those that say which one of what is there already
	// crossed tells that it depends on what a loop has in each turn, fresh that this comes from a
	// call, which may give something else next time; pending that it depends on what somebody gives
	// to a function without a name, for each of some items as it seems.
	crossed, fresh, pending bool
}

// follow goes outward, as far as a loop, or a caller that calls back, repeats the work. kept asks whether
// each item keeps what is made, whatever that is made from.
func (w *itemWay) follow(callee string, kept bool) itemwise {
	call := w.callOf(0, callee)
	if call == nil {
		return sameItem
	}
	w.depend(call, w.names)
	if kept {
		if _, as := becomes(w.c, call, w.way); as == keptByEach {
			return eachItem
		}
	}
	for i := range w.way {
		switch {
		case slices.Contains(w.back, i) && !w.passes():
			return w.calledBack()
		case !w.loops(i):
		case w.crossed && w.fresh:
			return otherItem
		default:
			return sameItem
		}
		w.outward(i)
	}
	if slices.Contains(w.back, len(w.way)) && !w.passes() || !w.crossed {
		return w.calledBack()
	}
	return eachItem
}

// passes goes on beyond what calls a function without a name for each item.
func (w *itemWay) passes() bool {
	pending := w.pending
	w.crossed, w.pending = w.crossed || pending, false
	return pending
}

// calledBack is the answer where a library calls back, with other arguments each time.
func (w *itemWay) calledBack() itemwise {
	if w.crossed && (w.fresh || len(w.names) > 0) {
		return otherItem
	}
	return sameItem
}

// callOf is the call of a function on a line of the way; nil where the source does not show it.
func (w *itemWay) callOf(i int, callee string) (found *ast.CallExpr) {
	for _, call := range w.c.lineCalls(w.way[i]) {
		if found == nil && calledName(call) == ownName(callee) {
			found = call
		}
	}
	return found
}

// depend adds the variables of an expression to some. It notes the functions that are called in it, but
// not what the language has. Whatever the index is, the element was there before.
func (w *itemWay) depend(x ast.Node, to map[string]bool) (calls bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		all := func(of ...ast.Expr) bool {
			for _, x := range of {
				calls = w.depend(x, to) || calls
			}
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); !ok || types.Universe.Lookup(id.Name) == nil {
				_, converts := n.Fun.(*ast.ArrayType)
				calls = calls || !converts
			}
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
				all(sel.X)
			}
			return all(n.Args...)
		case *ast.SelectorExpr:
			return all(n.X)
		case *ast.CompositeLit:
			return all(n.Elts...)
		case *ast.KeyValueExpr:
			return all(n.Value)
		case *ast.IndexExpr:
			w.depend(n.Index, w.index)
			return all(n.X)
		case *ast.UnaryExpr:
			calls = calls || n.Op == token.ARROW
		case *ast.Ident:
			if n.Name != "_" && types.Universe.Lookup(n.Name) == nil && !namesOf(w.c).packages[n.Name] {
				to[n.Name] = true
			}
		}
		return true
	})
	return calls
}

// loops tells whether a loop around a line of the way repeats the work for the same; it goes on beyond
// those that do so for another item in each turn.
func (w *itemWay) loops(i int) bool {
	f, s := w.way[i], w.c.parse(w.way[i].File)
	var around []ast.Node
	s.onLine(f.Line, func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			around = nil
		case *ast.FuncLit, *ast.CallExpr:
			around = append(around, n)
		case *ast.ForStmt:
			if s.covers(n.Body, f.Line) {
				around = append(around, n)
			}
		case *ast.RangeStmt:
			if s.covers(n.Body, f.Line) {
				around = append(around, n)
			}
		}
	})
	for k, n := range slices.Backward(around) {
		if lit, ok := n.(*ast.FuncLit); ok {
			w.literal(lit, around[:k])
		}
		if !isLoop(n) {
			continue
		}
		if w.resolve(n) {
			w.crossed = true
		} else if !w.passes() {
			return true
		}
	}
	return false
}

// literal puts what a function without a name is given where it is started in the place of its
// parameters.
func (w *itemWay) literal(lit *ast.FuncLit, around []ast.Node) {
	call, _ := parent(around).(*ast.CallExpr)
	k := 0
	for _, p := range lit.Type.Params.List {
		for _, id := range p.Names {
			if w.names[id.Name] {
				delete(w.names, id.Name)
				if call != nil && call.Fun == ast.Expr(lit) && k < len(call.Args) {
					w.fresh = w.depend(call.Args[k], w.names) || w.fresh
				} else if !ofRequest(lit.Type.Params) {
					w.pending, w.fresh = true, true
				} else {
					w.names[id.Name] = true
				}
			}
			k++
		}
	}
}

// resolve puts what variables that a node sets are made of in their place, and tells whether there are
// any.
func (w *itemWay) resolve(in ast.Node) bool {
	found := w.resolveOf(in, w.names)
	fresh := w.fresh // which one it is may be asked of a function
	found = w.resolveOf(in, w.index) || found
	w.fresh = fresh
	return found
}

func (w *itemWay) resolveOf(in ast.Node, names map[string]bool) (found bool) {
	done := map[string]bool{}
	for again := true; again; {
		again = false
		set := func(left, right ast.Expr) {
			id, ok := left.(*ast.Ident)
			if !ok || !names[id.Name] && !done[id.Name] {
				return
			}
			if names[id.Name] && !done[id.Name] {
				again = true
			}
			found, done[id.Name] = true, true
			if right != nil {
				w.fresh = w.depend(right, names) || w.fresh
			}
		}
		eachAssignment(in, set)
		ast.Inspect(in, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.RangeStmt:
				set(n.Key, n.X)
				set(n.Value, n.X)
			case *ast.IncDecStmt:
				set(n.X, nil)
			}
			return true
		})
		for name := range done {
			delete(names, name)
		}
	}
	return found
}

// outward says what the work depends on by the names that the caller of a function has for it. What
// the package has is the same for all.
func (w *itemWay) outward(i int) {
	d := w.c.function(w.way[i])
	if d == nil {
		w.fresh = true
		clear(w.names)
		clear(w.index)
		return
	}
	fn := scopeOf(d)
	w.resolve(d.Body)
	if i+1 == len(w.way) {
		for name := range w.names {
			if fn.parameter(name) < 0 {
				delete(w.names, name)
			}
		}
		return
	}
	call, fresh := w.callOf(i+1, d.Name.Name), w.fresh
	inner := w.index
	w.index = map[string]bool{}
	names, calls := w.byCaller(fn, call, w.names)
	index, _ := w.byCaller(fn, call, inner)
	maps.Copy(w.index, index)
	w.names, w.fresh = names, fresh || calls
}

// byCaller are the names that the caller of a function has for some of its own.
func (w *itemWay) byCaller(fn *scope, call *ast.CallExpr, inner map[string]bool) (names map[string]bool, fresh bool) {
	names = map[string]bool{}
	for name := range inner {
		k := fn.parameter(name)
		switch {
		case call != nil && name == fn.receiver && receiverOf(call) != call.Fun:
			fresh = w.depend(receiverOf(call), names) || fresh
		case call != nil && k >= 0 && k < len(call.Args):
			fresh = w.depend(call.Args[k], names) || fresh
		case k >= 0:
			fresh = true
		}
	}
	return names, fresh
}
