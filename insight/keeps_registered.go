package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

// registers are the functions with which somebody else is given something to hold until that
// is taken back, and how that is done.
var registers = map[string]string{
	"context.AfterFunc":         "Call the function that AfterFunc returns when what it is for is over, also where the context goes on.",
	"context.WithCancel":        cancels,
	"context.WithCancelCause":   cancels,
	"context.WithTimeout":       cancels,
	"context.WithTimeoutCause":  cancels,
	"context.WithDeadline":      cancels,
	"context.WithDeadlineCause": cancels,
	"time.AfterFunc":            stops,
	"time.NewTimer":             stops,
	"time.NewTicker":            stops,
	"os/signal.Notify":          "Call signal.Stop when nobody listens any more.",
	"os/signal.NotifyContext":   "Call the stop function that it returns.",
	"runtime.SetFinalizer":      "An object with a finalizer that is a part of a cycle is never collected.",
}

const (
	cancels = "Call its cancel function on every way out of what it is for (defer cancel())."
	stops   = "Stop it when what it is for is over: a timer is kept until it fires."
)

// What is registered holds what a line allocates where there are about as many of it.
const (
	leastRegistered = 1000
	partRegistered  = 0.3
)

// leastObserved is how many samples have to have seen what is registered for its number to be told: small objects are sampled so rarely that one sample
// stands for thousands of them. Chosen.
const leastObserved = 4

// registration is what a line has registered and is in use.
type registration struct {
	at   stack.Frame
	with string
	// n is how many objects there are, by so many samples, if these are known.
	n, observed int64
	sampled     bool
	// way are the frames from the line on.
	way []stack.Frame
}

// countRegistered are the lines of a heap profile that have registered something, and how many objects another line has in use.
func countRegistered(in *Input, p *profile.Profile, index int, at stack.Frame) (all map[registeredAt]*registration, kept int64) {
	v := in.view(p)
	all = map[registeredAt]*registration{}
	var seen []int64
	heaviest := stack.ID(0)
	if space, err := p.Index("inuse_space"); err == nil {
		seen, _ = p.Observations(space)
		most := int64(0)
		for id, n := range p.Samples(space) {
			frames := v.t.Frames(id)
			if user := nextUser(v, frames, 0); user >= 0 && n > most {
				if f := v.t.Frame(frames[user]); f.Func == at.Func && f.Line == at.Line {
					heaviest, most = id, n
				}
			}
		}
	}
	for i, id := range p.StackIDs {
		n, frames := p.Values[index][i], v.t.Frames(id)
		user := nextUser(v, frames, 0)
		if n <= 0 || user < 0 {
			continue
		}
		f := v.t.Frame(frames[user])
		if f.Func == at.Func && f.Line == at.Line {
			if heaviest == 0 || id == heaviest { // of small objects a profile does not know the number well
				kept += n
			}
			continue
		}
		if user == 0 {
			continue
		}
		for _, own := range ownCall(v, frames[:user]) {
			name := v.t.Frame(own).Func
			if registers[name] == "" {
				continue
			}
			key := registeredAt{f.Func, f.File, f.Line, name}
			if all[key] == nil {
				all[key] = &registration{at: stack.Frame{Func: f.Func, File: f.File, Line: f.Line}, with: name, way: facts.Frames(v.t, id)[user:]}
			}
			x := all[key]
			if x.n += n; i < len(seen) {
				x.observed, x.sampled = x.observed+seen[i], true
			}
			break
		}
	}
	return all, kept
}

// registeredAt is a line, and what it registers with.
type registeredAt struct {
	fn, file string
	line     int
	with     string
}

// endsWithNobody tells of a context that is made on the first line of a way that nothing holds it: it has no time limit, and its parent, which the
// callers on the way give it, is context.Background or context.TODO, with which nothing is registered.
func endsWithNobody(c *code, with string, way []stack.Frame) bool {
	if with != "context.WithCancel" && with != "context.WithCancelCause" || len(way) == 0 {
		return false
	}
	for _, call := range c.lineCalls(way[0]) {
		if types.ExprString(call.Fun) == with && len(call.Args) > 0 {
			return (&rootSearch{c: c, known: map[ast.Expr]bool{}}).is(call.Args[0], call.Pos(), way)
		}
	}
	return false
}

// rootSearch looks for contexts that nobody ends.
type rootSearch struct {
	c *code
	// known are the answers for what variables are given: of two that are given each other's value in turn there are more ways back than can be gone.
	known map[ast.Expr]bool
}

// given is what is asked of what a variable is given.
func (r *rootSearch) given(x ast.Expr, way []stack.Frame) bool {
	root, ok := r.known[x]
	if !ok {
		root = r.is(x, x.Pos(), way)
		r.known[x] = root
	}
	return root
}

// is tells of an expression on the first line of a way that it is context.Background or context.TODO, or one with values alone: by itself, by
// what is assigned to its variable before a place, or as the parameter that the callers on the way pass.
func (r *rootSearch) is(x ast.Expr, before token.Pos, way []stack.Frame) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.CallExpr:
		switch types.ExprString(x.Fun) {
		case "context.Background", "context.TODO", "context.WithoutCancel":
			return true
		case "context.WithValue":
			return len(x.Args) > 0 && r.is(x.Args[0], before, way)
		}
	case *ast.Ident:
		fn := r.c.scopeAt(way[0])
		for ; fn != nil; fn = fn.outer {
			given, all := 0, true
			ast.Inspect(fn.body, func(n ast.Node) bool {
				assigned(n, func(lhs, rhs ast.Expr) {
					if isNamed(lhs, x.Name) && rhs.Pos() < before && !(rhs.Pos() <= before && before < rhs.End()) {
						given++
						all = all && !mentions(rhs, x.Name) && r.given(rhs, way)
					}
				})
				return true
			})
			i := fn.parameter(x.Name)
			switch {
			case given > 0:
				return all && i < 0
			case i >= 0:
				return fn.outer == nil && r.argument(fn, i, way)
			}
		}
	}
	return false
}

// argument tells whether the caller on a way, its second frame, passes such a context for a parameter of the first one's function.
func (r *rootSearch) argument(fn *scope, param int, way []stack.Frame) bool {
	if len(way) < 2 || fn.name == "" {
		return false
	}
	calls := 0
	root := true
	for _, call := range r.c.lineCalls(way[1]) {
		if calledName(call) != fn.name || param >= len(call.Args) || call.Ellipsis.IsValid() {
			continue
		}
		calls++
		root = root && r.is(call.Args[param], call.Pos(), way[1:])
	}
	return calls > 0 && root
}

// registered finds, in the heap profile, a line of the program that has registered something
// about as often as another one has allocated what is in use: then that is likely what holds it,
// where the source of the line does not tell.
func registered(in *Input, at stack.Frame) (h holding, ok bool) {
	p, entry, err := in.Session.Profile(recording.Heap)
	if err != nil {
		return h, false
	}
	index, err := p.Index("inuse_objects")
	if err != nil {
		return h, false
	}
	all, kept := countRegistered(in, p, index, at)
	var most *registration
	for _, x := range all {
		if endsWithNobody(in.code, x.with, x.way) {
			continue
		}
		if most == nil || x.n > most.n || x.n == most.n && x.at.Line < most.at.Line {
			most = x
		}
	}
	if most == nil || most.n < leastRegistered || float64(most.n) < partRegistered*float64(kept) {
		return h, false
	}
	h.forgotten = forgets(in.code, most.at, most.with)
	about := unit.About(most.n) // a profile has sampled them
	if most.sampled && most.observed < leastObserved {
		if !h.forgotten {
			return h, false
		}
		about = "sampled"
	}
	h.shows = []Evidence{in.lineAt(entry, most.at, "%s objects in use were made here by %s", about, stack.Short(most.with))}
	h.says = fmt.Sprintf("%s objects in use, made at %s:%d by %s, hold what they refer to", about, baseName(most.at.File), most.at.Line, stack.Short(most.with))
	h.first = true
	if h.forgotten {
		h.says += ", and nothing in the source takes them back"
	}
	h.advice = fmt.Sprintf("What %s:%d registers with %s is held, with all that it refers to, and about as often as what is kept was allocated: look whether it is taken back. %s",
		baseName(most.at.File), most.at.Line, stack.Short(most.with), registers[most.with])
	if strings.HasPrefix(most.with, "time.") && most.with != "time.NewTicker" {
		h.expires = h.shows[0]
	}
	if h.forgotten && most.with == "time.AfterFunc" {
		h.advice = fmt.Sprintf("Stop the timer that %s:%d starts (time.AfterFunc) when what it is for is over, as when the answer is there: until it fires it holds its function, with all that this refers to. If it is meant to fire, bound how many wait at once.", baseName(most.at.File), most.at.Line)
	}
	return h, true
}

// ownCall are, of the frames below a line of the program, those that are a call of package context or the like by the line
// itself: what a library registers on the way, as net/http does with a context for each request that it sends, is the
// library's to take back.
func ownCall(v *view, frames []stack.FrameID) []stack.FrameID {
	pkg := stack.Package(v.t.Frame(frames[len(frames)-1]).Func)
	from := len(frames) - 1
	for from > 0 && stack.Package(v.t.Frame(frames[from-1]).Func) == pkg {
		from--
	}
	return frames[from:]
}

// forgets tells whether the source of a line that registers something keeps nothing by which that could be
// taken back, or does nothing with what it keeps.
func forgets(c *code, at stack.Frame, with string) bool {
	fn, name, found := c.function(at), "", false
	takes := func(lhs ast.Expr, rhs ast.Expr) {
		if call, ok := rhs.(*ast.CallExpr); ok && calledName(call) == lastName(with) {
			name, found = types.ExprString(lhs), true
		}
	}
	c.parse(at.File).onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, rhs := range n.Rhs {
				if i == len(n.Lhs)-1 || len(n.Lhs) == len(n.Rhs) {
					takes(n.Lhs[i], rhs)
				} else {
					takes(n.Lhs[len(n.Lhs)-1], rhs) // the context and its cancel function
				}
			}
		case *ast.KeyValueExpr:
			takes(n.Key, n.Value)
			name = "." + name // a field of what is made
		case *ast.ExprStmt:
			takes(ast.NewIdent("_"), n.X)
		}
	})
	if fn == nil || !found {
		return false
	}
	if last := lastName(name); last != name { // a field: of whichever object
		used := false
		c.eachSource(func(_ string, s *syntax) { used = used || uses(s.file, last, true) })
		return !used
	}
	return name == "_" || !uses(fn, name, false)
}

// handedOn tells whether the cancel function of the context that a line makes is stored, returned or passed
// to somebody, and its name.
func handedOn(c *code, at stack.Frame) (name string, handed bool) {
	fn := c.function(at)
	c.parse(at.File).onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 2 && len(a.Rhs) == 1 {
			name = types.ExprString(a.Lhs[1])
		}
	})
	if fn == nil || name == "" || name == "_" {
		return name, false
	}
	if strings.Contains(name, ".") {
		return name, true // a field
	}
	eachWithin(fn.Body, func(n, in ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || id.Name != name {
			return
		}
		switch in := in.(type) {
		case *ast.CallExpr:
			handed = handed || in.Fun != ast.Expr(id)
		case *ast.AssignStmt:
			handed = handed || slices.Contains(in.Rhs, ast.Expr(id))
		case *ast.ReturnStmt, *ast.KeyValueExpr, *ast.CompositeLit, *ast.SendStmt:
			handed = true
		}
	})
	return name, handed
}

// uses tells whether source has something to do with what is in a variable, or in a field, but assign to it and compare it.
func uses(in ast.Node, name string, field bool) (found bool) {
	is := func(x ast.Expr) bool {
		if sel, ok := x.(*ast.SelectorExpr); ok && field {
			return sel.Sel.Name == name
		}
		id, ok := x.(*ast.Ident)
		return ok && !field && id.Name == name
	}
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Rhs {
				found = found || uses(x, name, field)
			}
			for _, x := range n.Lhs {
				found = found || !is(x) && uses(x, name, field)
			}
			return false
		case *ast.BinaryExpr:
			if is(n.X) || is(n.Y) {
				return false
			}
		case *ast.Field, *ast.KeyValueExpr:
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				found = found || uses(kv.Value, name, field)
			}
			return false
		case ast.Expr:
			found = found || is(n)
		}
		return !found
	})
	return found
}
