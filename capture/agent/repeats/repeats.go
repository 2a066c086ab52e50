// Package repeats is built into a program to learn which of its calls repeat: that have
// the arguments of an earlier one, and return what that has returned. Each function of
// the program's own module tells when it is entered and left (capture/counting writes
// that into a copy of the source); what is kept of arguments and results are hashes.
//
// The package is laid over one of the standard library, so that any module can import it.
package repeats

import (
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// MaxFuncs is how many functions can be counted.
const MaxFuncs = 1 << 14

// fn is what is known of a function.
type fn struct {
	off   atomic.Bool  // it has been counted enough
	cut   atomic.Int64 // when it was, in ns since the start
	calls atomic.Int64
	ns    atomic.Int64 // its calls have taken, without what counting took
	spent atomic.Int64 // ns that counting it took
	later atomic.Int64 // calls since it was cut
	// large counts the calls whose first argument, most often the receiver, took long to look at. From placed on it is told by where it lies alone, which is
	// what it would be for most calls of a method anyway, rather than that the function is counted no more: the other arguments say what repeats.
	large  atomic.Int64
	placed atomic.Bool
	before atomic.Int64 // ns that counting it had taken by then
	looks  atomic.Int64 // ns that looking at some of those took

	concurrent atomic.Pointer[concurrent]
	everywhere atomic.Pointer[everywhere]
	recursion  atomic.Pointer[recursion]
}

var fns [MaxFuncs]fn

var began = time.Now()

// now is the time since the start in ns.
func now() int64 { return int64(time.Since(began)) }

// A function whose counting has taken that long, and far longer than its own work, is too
// cheap for its repetition to matter; and none may take longer than mostSpent.
const (
	enoughSpent = 100 * int64(time.Millisecond)
	mostSpent   = 1500 * int64(time.Millisecond)
	tooCheap    = 4
)

// mostOfAll bounds what counting takes of the program as a whole.
const mostOfAll = 12 * int64(time.Second)

var spentOnAll atomic.Int64

// longestLook is what one look at arguments or results takes at most: what seems to take longer was held up by others on a busy machine, and that is no
// reason to count less.
const longestLook = 500 * int64(time.Microsecond)

// mostLooks bounds what looking at later calls takes of one function: of one that is called a hundred million times one call in 64 would take
// longer than the rest of the run.
const mostLooks = 1500 * int64(time.Millisecond)

// traits of a call are what limits what can be said of it.
type traits uint16

const (
	// Partial: there are arguments of which not all could be hashed, or might not be.
	Partial traits = 1 << iota
	// Vague: the same of its results.
	Vague
	// Plain: it returns nothing but numbers, truth values and errors.
	Plain
	// Writes: it is given something to write to.
	Writes
	// Alters: its arguments are not after the call what they were before.
	Alters
	// Void: it returns nothing, or an error alone.
	Void
	// Refers: its results have pointers, slices or maps, which their users may change.
	Refers
	// Fails: it has returned an error.
	Fails
	// Handles: its results have what is the system's, channels or functions.
	Handles
	// Maps: its results have maps, whose entries are not looked at later.
	Maps
	// Large: there are arguments with more than is looked at, other than behind pointers.
	Large
	// First: the first argument, which is the receiver of a method, is Partial.
	First
	// Others: another one is.
	Others
	// Unknown: there are arguments that lead to something which nothing here shows: a reflect.Value, what a function has caught, an unsafe pointer.
	Unknown
)

// frame is a call that has not ended.
type frame struct {
	id        uint32
	judged    bool // its arguments were told
	outer     bool // no other call of the function is around it
	thin      bool // it is not counted, but its result is looked at
	traits    traits
	key       uint64
	size      int64 // of what it is given
	args      []any
	placed    bool // of the first only where it lies
	start     int64
	over      int64 // of the goroutine at the start
	inside    map[uint32]*tally
	near      uint64 // a hash of its arguments by where what they lead to lies
	asked     uint64 // the same, but for the first by what they hold, as far as named
	named     bool
	sameCalls *sameCalls // nil where that is not followed
	joins     bool       // others of it went on when the call began
	// Of a call within another one of the function:
	literal   bool    // its results may come from more than its arguments
	recurs    bool    // its arguments were told
	own       uint64  // a hash of them by where what they lead to lies
	outermost int     // the place of the outermost one
	again     bool    // it has the arguments of one that has ended, or is within one that has
	within    bool    // the latter
	nested    *nested // of the outermost one: those within it
}

// Goroutine is one that is in a counted call.
type Goroutine struct {
	mu    sync.Mutex
	at    uintptr // of the runtime's g
	stack []frame
	over  int64 // ns that counting has taken on it
}

// shards spread the goroutines.
var shards [64]struct {
	mu sync.Mutex
	gs map[uintptr]*Goroutine
}

// goroutine finds the present one, or begins to follow it.
func goroutine() *Goroutine {
	at := g()
	s := &shards[(at>>7)%uintptr(len(shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	gr := s.gs[at]
	if gr == nil {
		if s.gs == nil {
			s.gs = map[uintptr]*Goroutine{}
		}
		gr = &Goroutine{at: at}
		s.gs[at] = gr
	}
	return gr
}

// leave forgets a goroutine that is in no counted call.
func (gr *Goroutine) leave() {
	s := &shards[(gr.at>>7)%uintptr(len(shards))]
	s.mu.Lock()
	delete(s.gs, gr.at)
	s.mu.Unlock()
}

// deepest is how many calls of one goroutine are followed at once.
const deepest = 100

// seldom is how many calls of a function that is counted no more come to one that is looked at: does it still return the same, and as
// fast?
const seldom = 64

// counting tells that somebody has asked for counts.
var counting bool

// Enter begins a call of a function; nil means that it is not counted.
func Enter(id uint32) *Goroutine {
	f := &fns[id]
	thin := f.off.Load()
	if !counting || thin && (f.later.Add(1)%seldom != 0 || f.looks.Load() > mostLooks || spentOnAll.Load() > 2*mostOfAll) {
		return nil
	}
	t := now()
	gr := goroutine()
	if len(gr.stack) >= deepest {
		f.paid(now()-t, false)
		return nil
	}
	outer := true
	for i := range gr.stack {
		if gr.stack[i].id == id {
			outer = false
			break
		}
	}
	gr.mu.Lock()
	gr.stack = append(gr.stack, frame{id: id, outer: outer, thin: thin, over: gr.over, start: t})
	gr.mu.Unlock()
	gr.spend(f, t)
	return gr
}

// paid notes that counting a call has taken so many ns, and ends the counting of the function when that is too much. thin
// tells that it has ended.
func (f *fn) paid(ns int64, thin bool) {
	ns = min(ns, longestLook)
	if thin {
		f.looks.Add(ns)
	}
	spent := f.spent.Add(ns) - f.before.Load()
	all := spentOnAll.Add(ns)
	if thin || all <= mostOfAll && spent <= mostSpent && (spent <= enoughSpent || spent <= tooCheap*f.ns.Load()) {
		return
	}
	if n := f.large.Load(); all <= mostOfAll && n > 0 && 2*n >= f.calls.Load() && f.placed.CompareAndSwap(false, true) {
		f.before.Store(f.spent.Load())
		f.everywhere.Store(nil) // what it has seen has other hashes
		return
	}
	if f.cut.CompareAndSwap(0, now()) {
		f.off.Store(true)
	}
}

// spend notes what counting has taken since t, and begins the frame on top anew.
func (gr *Goroutine) spend(f *fn, t int64) {
	n := now()
	d := n - t
	took := min(d, longestLook)
	f.spent.Add(took)
	spentOnAll.Add(took)
	gr.mu.Lock()
	gr.over += d
	top := &gr.stack[len(gr.stack)-1]
	if top.thin {
		f.looks.Add(took)
	}
	top.start, top.over = n, gr.over
	gr.mu.Unlock()
}

// Args tells the arguments of the call that was entered last.
func (gr *Goroutine) Args(args ...any) {
	t := now()
	top := &gr.stack[len(gr.stack)-1]
	f := &fns[top.id]
	defer safely()()
	top.placed = f.placed.Load()
	h, seen := ofArgs(args, top.placed)
	if h.long {
		f.large.Add(1)
	}
	top.traits |= seen
	top.key, top.size, top.args, top.judged = h.sum(), h.size, args, true
	top.beginConcurrent(f, args, true)
	gr.beginNested(args)
	gr.spend(f, t)
}

// largeNodes and largeBytes are how much there is of an argument that takes long to look at: chosen, some 10 µs.
const (
	largeNodes = 200
	largeBytes = 64 << 10
)

// ofArgs hashes arguments, and tells what is seen of them. placed tells of the first that only where it lies is looked at.
func ofArgs(args []any, placed bool) (h hasher, seen traits) {
	h.places = true
	partial := false
	for i, a := range args {
		h.partial = false
		h.near = placed && i == 0
		nodes := h.each(a)
		h.long = h.long || i == 0 && (nodes > largeNodes || h.bytes > largeBytes)
		h.partial = h.partial || h.near
		switch {
		case h.partial && i == 0:
			seen |= Partial | First
		case h.partial:
			seen |= Partial | Others
		}
		partial = partial || h.partial
		if _, ok := a.(writer); ok {
			seen |= Writes
		}
	}
	h.partial, h.near = partial, false
	if h.large {
		seen |= Large
	}
	if h.unknown {
		seen |= Unknown
	}
	return h, seen
}

// Begins tells the arguments of the call that was entered last, of a function that returns nothing, or an error alone: it is made for
// what it does, and may do the same as another that goes on.
func (gr *Goroutine) Begins(args ...any) {
	t := now()
	top := &gr.stack[len(gr.stack)-1]
	f := &fns[top.id]
	defer safely()()
	top.beginConcurrent(f, args, false)
	gr.beginNested(args)
	gr.spend(f, t)
}

// writer is what has io.Writer's method.
type writer interface{ Write([]byte) (int, error) }

// nearest is how many of the calls around one learn of it, besides the outermost.
const nearest = 10

// Leave ends the call that was entered last, with what it returns. fresh tells that maps
// among that were made by it, so that nobody else is using them.
func (gr *Goroutine) Leave(fresh bool, results ...any) {
	t := now()
	last := len(gr.stack) - 1
	top := gr.stack[last]
	f := &fns[top.id]
	net := max(0, t-top.start-(gr.over-top.over))
	defer safely()()
	if !top.thin {
		f.calls.Add(1)
		if top.outer {
			f.ns.Add(net)
		}
	}
	if len(top.inside) > 0 {
		fold(&top, net)
	}
	c := call{ns: net, outer: top.outer, judged: top.judged, thin: top.thin, size: top.size}
	if top.judged {
		c.result(fresh, results)
		c.given(top.args, top.placed, top.key, top.traits)
		if top.outer {
			f.countEverywhere(c)
		}
	} else if top.literal {
		c.result(false, results)
	}
	if top.nested != nil {
		top.nested.ends(f)
	}
	top.endConcurrent(f, net, c.got)
	gr.mu.Lock()
	gr.stack[last] = frame{}
	gr.stack = gr.stack[:last]
	gr.told(top.id, &c)
	gr.endNested(&top, &c, t)
	d := now() - t
	gr.over += d
	gr.mu.Unlock()
	f.paid(d, top.thin)
	if last == 0 {
		gr.leave()
	}
}

// told tells the calls around it of a call.
func (gr *Goroutine) told(id uint32, c *call) {
	told := 0
	for i := len(gr.stack) - 1; i >= 0; i-- {
		around := &gr.stack[i]
		if !around.outer || around.id == id || told >= nearest && i > 0 {
			continue
		}
		told++
		in := around.inside[id]
		if in == nil {
			if around.inside == nil {
				around.inside = map[uint32]*tally{}
			}
			in = &tally{}
			around.inside[id] = in
		}
		in.add(c)
		if f := &fns[id]; c.thin && c.outer && around.start < f.cut.Load() {
			in.addStep(in.calls+f.later.Load(), seldom, c) // its number where no other call around was going on
		}
	}
}

// call is one that has ended.
type call struct {
	key, got uint64 // hashes of its arguments and results
	ns       int64
	size     int64
	outer    bool
	judged   bool // arguments and results are known
	thin     bool
	traits   traits
	results  []any // nil where they are too large to be held, or refer to nothing
	held     int64 // about how many bytes they have
	sum      uint64
	summed   bool
}

// given tells the call what it was given, whose hash was key before it: has that changed?
func (c *call) given(args []any, placed bool, key uint64, before traits) {
	h, _ := ofArgs(args, placed)
	if c.traits |= before; h.sum() != key {
		c.traits |= Alters
	}
	c.key = key
}

// result hashes what the call has returned.
func (c *call) result(fresh bool, results []any) {
	h := hasher{fresh: fresh}
	void, plain, nodes := true, true, 0
	for _, r := range results {
		refers := h.refers
		nodes += h.each(r)
		if _, ok := r.(error); ok {
			c.traits |= Fails
			h.refers = refers
			continue
		}
		switch r.(type) {
		case bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, uintptr, float32, float64:
			void = false
		case nil: // an error, most often
		default:
			void, plain = false, false
		}
	}
	c.got = h.sum()
	if h.partial {
		c.traits |= Vague
	}
	if plain {
		c.traits |= Plain
	}
	if void {
		c.traits |= Void
	}
	if h.handles {
		c.traits |= Handles
	}
	if h.maps {
		c.traits |= Maps
	}
	if h.refers {
		c.traits |= Refers
		if h.size < mostHeldSize && nodes < mostNodes && !h.handles {
			c.results = results
			c.held = h.size + 64*int64(nodes)
		}
	}
	if unwinds(results) {
		c.traits |= Fails // it panics, or ends its goroutine, and returns nothing
	}
}

// mostHeldSize is how many elements texts, slices and maps of results may have together that are held.
const mostHeldSize = 16 << 10

// unwinds tells that the call does not return: its results have not been set, and a panic or Goexit runs what is deferred.
func unwinds(results []any) bool {
	for _, r := range results {
		if r != nil && !reflect.ValueOf(r).IsZero() {
			return false
		}
	}
	var pcs [12]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if f.Function == "runtime.gopanic" || f.Function == "runtime.Goexit" {
			return true
		}
		if !more {
			return false
		}
	}
}
