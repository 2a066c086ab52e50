package account

import (
	"slices"
	"strings"

	"loupe/value/stack"
)

// What a tool does its work with are often goroutines that take items from a channel, or one
// for each item, and main only waits for them. Where the items are there already no wait tells
// one from the next, as in a loop over a queue: then the goroutine is the unit.

// starters are functions of libraries that a goroutine begins with which runs the function of
// who has started it.
var starters = []string{"sync.(*WaitGroup).Go.", "golang.org/x/sync/errgroup.(*Group)."}

// beginWorker opens the unit of a goroutine that the user's code has started, once a stack tells
// what it begins with. What it did before is not known.
func (b *Builder) beginWorker(t *track, id stack.ID) {
	if id == 0 {
		return
	}
	root, sure := b.loops.root(id)
	if t.rootKnown = sure; !sure {
		return
	}
	if root == "" || t.units != nil || t.timed || t.turn.accepted || b.units.begun || b.units.served >= manyServed && b.calls == 0 {
		return
	}
	t.root = root
	u := b.units.open(Worker, t.history.end(), t.id)
	u.name = root
	u.next, t.units = t.units, u
}

// rootOf is what a stack tells of the function that its goroutine begins with.
type rootOf struct {
	known bool
	// root is the first one of the user's code; empty where a library has started the goroutine
	// for itself. It is sure once the stack goes beyond the starter.
	root string
	sure bool
}

// root is that of a stack, and whether it is sure.
func (l *loops) root(id stack.ID) (name string, sure bool) {
	if int(id) >= len(l.roots) {
		l.roots = grown(l.roots, int(id))
	}
	x := &l.roots[id]
	if x.known {
		return x.root, x.sure
	}
	x.known = true
	for _, f := range slices.Backward(l.w.view(id).frames) {
		if l.w.scope.IsUser(f) {
			x.root, x.sure = f.Func, true
			break
		}
		if !slices.ContainsFunc(starters, func(s string) bool { return strings.HasPrefix(f.Func, s) }) {
			x.sure = true
			break
		}
	}
	return x.root, x.sure
}

// works tells whether a goroutine works on something that may be told from what it does
// otherwise: on another unit than its life.
func (t *track) works() bool {
	return t.units != nil && (t.units.unit != Worker || t.units.next != nil)
}

// sameRoot tells that two goroutines are workers that begin with the same function.
func (t *track) sameRoot(by *track) bool {
	return t.root != "" && t.root == by.root && !t.works() && !by.works()
}

// withoutWorkers leaves out the workers of a program that serves requests or has tasks: these say
// more of it.
func withoutWorkers(groups []*Group) []*Group {
	if !slices.ContainsFunc(groups, func(g *Group) bool { return g.Unit <= Task && !g.Asked }) {
		return groups
	}
	return slices.DeleteFunc(groups, func(g *Group) bool { return g.Unit == Worker })
}
