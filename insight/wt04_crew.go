package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Who serves a queue may be one of several goroutines that do the same, each with a channel of its
// own: more of them help nobody who waits for that one.

// crew are the goroutines that run the function which one that serves began with.
type crew struct {
	name    string
	members int64
	idle    float64 // of them, waiting to receive, on average
}

// crewOf finds the goroutines that began with the same function as one of which there is a stack.
func crewOf(t *traced, id stack.ID) (f crew, ok bool) {
	frames := t.Frames(id)
	if len(frames) == 0 {
		return f, false
	}
	root := frames[len(frames)-1].Func
	i := slices.IndexFunc(t.Groups, func(g *sched.Group) bool { return t.Reader.Name(g.Name) == root })
	if i < 0 {
		return f, false
	}
	f = crew{name: root, members: t.Groups[i].Peak}
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool { return b.Reason == exectrace.NameChanReceive }) {
		if own := t.Frames(b.Stack); len(own) > 0 && own[len(own)-1].Func == root {
			f.idle += t.Share(b.Wait.Sum)
		}
	}
	f.idle = min(f.idle, float64(f.members))
	return f, true
}

// mostlyIdle tells whether so many of them have nothing to do that more of them would not either.
func (f crew) mostlyIdle() bool {
	return f.idle >= 1 && f.idle >= idleWorkers*float64(f.members)
}

// who says how many of them a queue is served by.
func (f crew) who(serve int64) string {
	text := fmt.Sprintf("%s served those who waited here, of the %d that run %s", unit.Plural(serve, "goroutine"), f.members, stack.Short(f.name))
	if f.idle >= 1 {
		text += fmt.Sprintf(", %s of which wait to receive work on average", unit.Number(f.idle))
	}
	return text
}

// affinity is how the source chooses the channel that an item is sent on.
type affinity struct {
	how string // "by a hash of its key", "by its key"
	Evidence
}

// hashes are names of functions, and of parts of them, that a key is hashed by.
var hashes = lazily(`(?i)hash|sum32|sum64|fnv|crc|xxh|murmur|shardof|partition`)

// affinityIn is affinityAt of a wait of the units of a group.
func affinityIn(in *Input, t *traced, g facts.UnitGroup, site facts.UnitSite) (affinity, bool) {
	return affinityAt(in.code, site.Frame, t.Frames(stackIn(in, t, g, site)))
}

// maxHandedDown is how many callers a channel is followed up that a function is given.
const maxHandedDown = 3

// affinityAt finds on a line that sends on one of several channels whether a key of the item
// chooses which: in the function of the line, or in one that has called it with the channel.
func affinityAt(c *code, at stack.Frame, frames []stack.Frame) (found affinity, ok bool) {
	fn, s := c.scopeAt(at), c.parse(at.File)
	if fn == nil {
		return found, false
	}
	ast.Inspect(fn.body, func(n ast.Node) bool {
		send, is := n.(*ast.SendStmt)
		if !is || ok {
			return !ok
		}
		if first, _ := s.lines(send); first != at.Line {
			return true
		}
		chooses := &choice{c: c, s: s, fn: fn, sent: []ast.Expr{send.Value}, way: []stack.Frame{at}}
		if i := slices.Index(frames, at); i >= 0 {
			chooses.way = frames[i:]
		}
		how, line := chooses.of(send.Chan), at
		if how == "" {
			how, line = chooses.byCaller(send.Chan, maxHandedDown)
		}
		if how != "" {
			found, ok = affinity{how, c.shownAt(line.File, line.Line, "the source chooses the channel %s", how)}, true
		}
		return true
	})
	return found, ok
}

// byCaller looks at what a function is given as a channel, where its callers on the way call it.
func (x *choice) byCaller(e ast.Expr, depth int) (how string, at stack.Frame) {
	id, ok := e.(*ast.Ident)
	if !ok || depth == 0 || len(x.way) < 2 || x.fn.name == "" {
		return "", at
	}
	at = x.way[1]
	i, fn := x.fn.parameter(id.Name), x.c.scopeAt(at)
	if i < 0 || fn == nil || x.fn.sets(id.Name) {
		return "", at
	}
	for _, call := range x.c.lineCalls(at) {
		if calledName(call) != x.fn.name || i >= len(call.Args) {
			continue
		}
		up := &choice{c: x.c, s: x.c.parse(at.File), fn: fn, sent: slices.Delete(slices.Clone(call.Args), i, i+1), way: x.way[1:]}
		if how = up.of(call.Args[i]); how != "" {
			return how, at
		}
		return up.byCaller(call.Args[i], depth-1)
	}
	return "", at
}

// choice looks at what chooses a channel.
type choice struct {
	c    *code
	s    *syntax
	fn   *scope
	sent []ast.Expr    // the item, or what the function that sends it is given
	way  []stack.Frame // of the function, and its callers
}

// of says by what an expression chooses one of several.
func (x *choice) of(e ast.Expr) (how string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if how != "" {
			return false
		}
		switch n := n.(type) {
		case *ast.IndexExpr:
			how = x.byIndex(n)
		case *ast.CallExpr:
			if len(n.Args) > 0 && x.looksUp(n) {
				how = "by its key"
			}
		case *ast.Ident:
			how = x.byVariable(n.Name)
		}
		return how == ""
	})
	return how
}

// byVariable looks at what a variable of the function is set to.
func (x *choice) byVariable(name string) (how string) {
	if made := x.fn.made(name); made != nil && !mentions(made, name) && !x.fn.sets(name) {
		return x.of(made)
	}
	return ""
}

// byIndex says of an index whether it is a hash, or the key of a map.
func (x *choice) byIndex(n *ast.IndexExpr) string {
	index := n.Index
	if id, ok := index.(*ast.Ident); ok {
		if made := x.fn.made(id.Name); made != nil {
			index = made
		}
	}
	hash := false
	ast.Inspect(index, func(node ast.Node) bool {
		b, ok := node.(*ast.BinaryExpr)
		if ok && (b.Op == token.REM || b.Op == token.AND) {
			hash = hash || x.ofItem(b.X)
		}
		return !hash
	})
	call, ok := index.(*ast.CallExpr)
	switch {
	case hash, ok && hashes.MatchString(types.ExprString(call.Fun)):
		return "by a hash of its key"
	case x.isMap(n.X):
		return "by its key"
	}
	return ""
}

// ofItem tells of what a remainder is taken of that it is a hash, or a part of what is sent: a count
// goes from one to the next, whatever is sent.
func (x *choice) ofItem(e ast.Expr) bool {
	if hashes.MatchString(types.ExprString(e)) {
		return true
	}
	own := map[string]bool{}
	for _, sent := range x.sent {
		ast.Inspect(sent, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				own[id.Name] = true
			}
			return true
		})
	}
	delete(own, x.fn.receiver)
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if made := x.fn.made(id.Name); made != nil && hashes.MatchString(types.ExprString(made)) {
				found = true
			}
			found = found || own[id.Name] && !x.counts(id.Name)
		}
		return !found
	})
	return found
}

// counts tells of a variable that it is a counter: that of a loop, or one that is incremented.
func (x *choice) counts(name string) (found bool) {
	ast.Inspect(x.fn.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			found = found || rootName(n.X) == name
		case *ast.RangeStmt:
			found = found || n.Key != nil && n.Value == nil && isNamed(n.Key, name)
			found = found || n.Key != nil && n.Value != nil && isNamed(n.Key, name)
		}
		return !found
	})
	return found
}

// isMap tells of a variable or a field, by its declarations, that it is a map.
func (x *choice) isMap(e ast.Expr) bool {
	return declaresOfType(x.s.file, lastName(types.ExprString(e)), func(of ast.Expr) bool { _, is := of.(*ast.MapType); return is })
}

// looksUp tells of a call that a function of the sources finds what it returns by an argument: in a
// map, or by a hash. A count, or nothing but what is fixed, is no key.
func (x *choice) looksUp(call *ast.CallExpr) bool {
	d := x.c.function(x.way[0])
	all := methodsOf(x.c, d, call.Fun)
	return len(all) == 1 && slices.ContainsFunc(call.Args, x.isKey) && findsBy(x.c, all[0], 2)
}

// isKey tells of an argument that it may be a key: it is neither a literal nor a counter.
func (x *choice) isKey(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if slices.Contains([]string{"Add", "AddInt64", "AddInt32", "AddUint64", "AddUint32"}, calledName(n)) {
				return false
			}
		case *ast.SelectorExpr:
			found = found || x.isKey(n.X)
			return false
		case *ast.Ident:
			found = found || !x.counts(n.Name) && types.Universe.Lookup(n.Name) == nil && !namesOf(x.c).packages[n.Name]
		}
		return !found
	})
	return found
}

// findsBy tells whether a function indexes something by a parameter or a hash, by itself or in what
// it calls with a parameter.
func findsBy(c *code, d declaration, depth int) (found bool) {
	params := parameters(d.Type)
	has := func(n ast.Node) bool {
		return slices.ContainsFunc(params, func(p string) bool { return mentions(n, p) })
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			found = found || has(n.Index) || hashes.MatchString(types.ExprString(n.Index))
		case *ast.CallExpr:
			if depth > 1 && slices.ContainsFunc(n.Args, func(a ast.Expr) bool { return has(a) }) {
				all := methodsOf(c, d.FuncDecl, n.Fun)
				found = found || len(all) == 1 && all[0].FuncDecl != d.FuncDecl && findsBy(c, all[0], depth-1)
			}
		}
		return !found
	})
	return found
}

// affinityAdvice is what to do where items belong to certain workers.
func (a affinity) advice() string {
	return fmt.Sprintf("Leave each item with its worker: the source chooses it %s, as an order or a state of its own may ask for, which one channel for all of them would break. More workers help only where several busy keys share one. Make the work for an item shorter, let a worker take what waits at once (a batch), or divide busy keys further if their parts do not depend on each other.", a.how)
}
