package repeats

import (
	"fmt"
	"io"
	"sync"
)

// What a function asks itself again is in no call of another function: its calls within its own outermost one are counted too. Arguments are the
// same there if pointers and maps lead to one place; whether what lies there is the same as well is looked at besides.

// recursion is what is known of the calls of a function within its own.
type recursion struct {
	mu sync.Mutex
	recursed
}

// recursed are the counts of it.
type recursed struct {
	around, ns      int64 // outermost calls, and what they took as long as those in them were counted
	calls, distinct int64 // those in them, and their arguments
	again           int64 // calls that had the arguments of one that had ended
	tops, topsNS    int64 // of those, the ones that are in no other one
	same            int64 // of again, those whose arguments held the same as well
	differ, changed int64 // of again, those that returned something else; results that somebody changed later
	results         int64 // different results, up to mostResults
	most, mostKinds int64 // calls and arguments of the outermost call with most
	traits          traits
}

// nested are the calls within one outermost call.
type nested struct {
	kept map[uint64]earlier // by their arguments
	gots map[uint64]bool
	held []held
	size int64 // of held
	open int64 // ns so far of the call that is one of tops and has not ended
	top  int   // its place on the stack
	recursed
}

// earlier is a call that has ended.
type earlier struct{ key, got uint64 }

// Limits of what is kept of an outermost call.
const (
	mostEarlier = 4_096
	mostResults = 16
	mostOwnHeld = 64
)

// Nested tells the arguments of the call that was entered last, of a function literal: what it returns may come from the variables around it as well, so
// that it is compared with its own calls alone.
func (gr *Goroutine) Nested(args ...any) {
	t := now()
	top := &gr.stack[len(gr.stack)-1]
	defer safely()()
	top.literal = true
	gr.beginNested(args)
	gr.spend(&fns[top.id], t)
}

// beginNested notes the arguments of the call on top, if it is within another one of the function.
func (gr *Goroutine) beginNested(args []any) {
	last := len(gr.stack) - 1
	top := &gr.stack[last]
	if top.outer {
		return
	}
	h := hasher{near: true, places: true, lists: true}
	for _, a := range args {
		h.each(a)
	}
	top.own, top.recurs = h.sum(), true
	for i := range gr.stack[:last] {
		f := &gr.stack[i]
		if f.id != top.id {
			continue
		}
		top.within = top.within || f.again
		if f.outer {
			top.outermost = i
			if f.nested != nil {
				_, top.again = f.nested.kept[top.own]
			}
		}
	}
	if n := gr.stack[top.outermost].nested; n != nil && top.again && !top.within {
		n.top = last
	}
	top.again = top.again || top.within
}

// endNested notes the end of the call on top, at t, in the outermost one. Call it with gr.mu.
func (gr *Goroutine) endNested(top *frame, c *call, t int64) {
	if !top.recurs {
		return
	}
	out := &gr.stack[top.outermost]
	n := out.nested
	if n == nil {
		n = &nested{kept: map[uint64]earlier{}, gots: map[uint64]bool{}}
		out.nested = n
	}
	e, ended := n.kept[top.own]
	if fns[top.id].off.Load() { // what is called is not counted any more: its parts are missing
		if ended && e.got != c.got {
			n.differ++
		}
		return
	}
	n.calls++
	n.ns = max(0, t-out.start-(gr.over-out.over))
	n.traits |= c.traits
	if !top.judged && !top.literal {
		n.traits |= Void
	}
	switch {
	case top.within:
		f := &gr.stack[n.top]
		n.open = max(0, t-f.start-(gr.over-f.over))
	case top.again:
		n.tops++
		n.topsNS += c.ns
		n.open = 0
	}
	switch {
	case ended:
		n.again++
		if e.got != c.got {
			n.differ++
		}
		if top.judged && e.key == c.key {
			n.same++
		}
	case len(n.kept) < mostEarlier:
		n.distinct++
		n.kept[top.own] = earlier{c.key, c.got}
		if len(n.gots) < mostResults {
			n.gots[c.got] = true
			n.results = int64(len(n.gots))
		}
		if c.results != nil && len(n.held) < mostOwnHeld && heldBytes.Load() < mostHeldBytes {
			n.held = append(n.held, held{c.results, holds(c.results)})
			n.size += c.held
			heldBytes.Add(c.held)
		}
	}
}

// ends adds the calls within an outermost one that has ended.
func (n *nested) ends(f *fn) {
	for _, h := range n.held {
		if holds(h.results) != h.sum {
			n.changed++
		}
	}
	heldBytes.Add(-n.size)
	r := f.recursion.Load()
	if r == nil {
		r = &recursion{}
		if !f.recursion.CompareAndSwap(nil, r) {
			r = f.recursion.Load()
		}
	}
	r.mu.Lock()
	r.add(n)
	r.mu.Unlock()
}

// add adds the counts of an outermost call.
func (r *recursed) add(n *nested) {
	if r.differ += n.differ; n.calls == 0 {
		return // it was looked at alone whether the calls in it differ
	}
	r.around++
	r.ns += n.ns
	if n.open > 0 {
		r.tops++
		r.topsNS += n.open
	}
	r.calls, r.distinct, r.again = r.calls+n.calls, r.distinct+n.distinct, r.again+n.again
	r.tops, r.topsNS, r.same = r.tops+n.tops, r.topsNS+n.topsNS, r.same+n.same
	r.changed, r.results = r.changed+n.changed, max(r.results, n.results)
	r.traits |= n.traits
	if n.calls > r.most {
		r.most, r.mostKinds = n.calls, n.distinct
	}
}

// writeRecursion writes what is known of a function, with the outermost calls that go on; nil where none do.
func (f *fn) writeRecursion(w io.Writer, id int, open []nested) {
	var all recursed
	if r := f.recursion.Load(); r != nil {
		r.mu.Lock()
		all = r.recursed
		r.mu.Unlock()
	}
	for i := range open {
		all.add(&open[i])
	}
	if all.again > 0 {
		fmt.Fprintln(w, "r", id, all.around, all.ns, all.calls, all.distinct, all.again, all.tops, min(all.topsNS, all.ns), all.same, all.differ, all.changed, all.results, all.most, all.mostKinds, uint16(all.traits))
	}
}
