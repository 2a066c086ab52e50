package insight

import (
	"go/ast"
	"go/token"
	"go/types"
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
	if !own && !slices.Contains(ownTexts, kind) || at == 0 {
		return sameItem
	}
	w := &itemWay{c: c, names: map[string]bool{}}
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
	w.depend(call)
	if kept {
		if _, as := becomes(w.c, call, w.way); as == keptByEach {
			return eachItem
		}
	}
	for i := range w.way {
		if slices.Contains(w.back, i) && !w.passes() || w.loops(i) {
			return w.repeated()
		}
		w.outward(i)
	}
	if slices.Contains(w.back, len(w.way)) && !w.passes() || !w.crossed {
		return w.repeated()
	}
	return eachItem
}

// passes goes on beyond what calls a function without a name for each item.
func (w *itemWay) passes() bool {
	pending := w.pending
	w.crossed, w.pending = w.crossed || pending, false
	return pending
}

// repeated is the answer where what is around is repeated.
func (w *itemWay) repeated() itemwise {
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

// depend adds the variables of an expression. It notes the functions that are called in it, but not
// what the language has.
func (w *itemWay) depend(x ast.Node) (calls bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); !ok || types.Universe.Lookup(id.Name) == nil {
				_, converts := n.Fun.(*ast.ArrayType)
				calls = calls || !converts
			}
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
				calls = w.depend(sel.X) || calls
			}
			for _, a := range n.Args {
				calls = w.depend(a) || calls
			}
			return false
		case *ast.SelectorExpr:
			calls = w.depend(n.X) || calls
			return false
		case *ast.CompositeLit:
			for _, x := range n.Elts {
				calls = w.depend(x) || calls
			}
			return false
		case *ast.KeyValueExpr:
			calls = w.depend(n.Value) || calls
			return false
		case *ast.UnaryExpr:
			calls = calls || n.Op == token.ARROW
		case *ast.Ident:
			if n.Name != "_" && types.Universe.Lookup(n.Name) == nil && !namesOf(w.c).packages[n.Name] {
				w.names[n.Name] = true
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
					w.fresh = w.depend(call.Args[k]) || w.fresh
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
func (w *itemWay) resolve(in ast.Node) (found bool) {
	done := map[string]bool{}
	for again := true; again; {
		again = false
		set := func(left, right ast.Expr) {
			id, ok := left.(*ast.Ident)
			if !ok || !w.names[id.Name] && !done[id.Name] {
				return
			}
			if w.names[id.Name] && !done[id.Name] {
				again = true
			}
			found, done[id.Name] = true, true
			if right != nil {
				w.fresh = w.depend(right) || w.fresh
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
			delete(w.names, name)
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
	inner := w.names
	w.names = map[string]bool{}
	call := w.callOf(i+1, d.Name.Name)
	for name := range inner {
		k := fn.parameter(name)
		switch {
		case call != nil && name == fn.receiver && receiverOf(call) != call.Fun:
			w.fresh = w.depend(receiverOf(call)) || w.fresh
		case call != nil && k >= 0 && k < len(call.Args):
			w.fresh = w.depend(call.Args[k]) || w.fresh
		case k >= 0 || name == fn.receiver:
			w.fresh = true
		}
	}
}
