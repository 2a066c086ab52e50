package dump

import (
	"slices"
	"strings"
)

// Grip says how a goroutine was found to be one that may hold a lock.
type Grip uint8

// The grips, the strongest first. None of them is proof: Go does not record who
// holds a lock.
const (
	GripAddress Grip = iota // the address of the lock is an argument in its stack
	GripOwner               // the struct that the lock is in is an argument in its stack
	GripWriter              // a reader waits behind a writer that has asked before it
	// GripType: it alone is in a method of the type that has the lock, whose
	// receiver the dump does not show. It counts only where nobody can go on.
	GripType
)

// WaitEdge is one step of a cycle: a goroutine waits for what another may hold.
type WaitEdge struct {
	Waiter, Holder int // positions in the columns
	// Lock is the address of what is waited for, 0 where the dump does not show
	// it; Owner is the struct that it is in, 0 where that is not known.
	Lock, Owner uint64
	// Caller is the function of the waiter that wants the lock, File and Line where.
	Caller, File string
	Line         int
	Grip         Grip
	// Through is the function of the holder that has the address.
	Through string
}

// Cycle is a deadlock: each goroutine waits for what the next one may hold, the
// last for what the first one may. That they wait is a fact. That they hold is
// concluded from the addresses in their stacks, and from there being nobody else
// in the dump who has them.
type Cycle struct {
	Edges []WaitEdge
	// Stuck is how many goroutines wait for locks of the cycle, those in it included.
	Stuck   int64
	MaxWait int32 // minutes
	// Proven tells that the runtime itself says that none of them can go on.
	Proven bool
}

// Bounds of the search for cycles.
const (
	maxWaiters = 1 << 14 // whose stacks are read again, in each dump
	maxTouches = 1 << 17 // goroutines whose stacks hold an address that is looked for
	// maxOwner is how far into a struct a lock is looked for.
	maxOwner   = 4096
	maxPointer = 4096 // no address is lower
)

// sought is something that goroutines wait for.
type sought struct {
	lock, owner uint64
	receiver    string // type that the caller is a method of: "main.(*cache)."
	waiters     []int
	touches     []touch
	// open tells that somebody who can go on may hold it.
	open bool
	// taken is the first line at which a function is seen to want it.
	taken map[string]int
}

// touch is a goroutine whose stack has the address of something sought.
type touch struct {
	g       int
	grip    Grip
	through string
	// passed tells that the goroutine wants it, and that its stack shows no more
	// than that the address was handed on to whoever locks it.
	passed bool
}

// better tells whether t says more than u about who holds the lock.
func (t touch) better(u touch) bool {
	if t.passed != u.passed {
		return u.passed
	}
	return t.grip < u.grip
}

// wish is what one goroutine waits for.
type wish struct {
	of     *sought
	caller int // its frame in calls
	call   Call
	reader bool
	writer bool
}

// waitGraph tells who waits for what in one dump.
type waitGraph struct {
	f      *File
	dump   *Dump
	keep   func(g int) bool
	wishes map[int]*wish
	all    []*sought
	words  map[uint64][]*sought
	// asleep tells that the runtime has found that nobody can go on.
	asleep bool
}

// Cycles finds goroutines that wait for each other, those of which the runtime
// says so first. A goroutine that can go on and may hold one of the locks is
// reason enough to name no cycle: a busy program has none.
func (f *File) Cycles(keep func(g int) bool) (all []Cycle) {
	if f.Counts != nil {
		return nil // a profile has no arguments
	}
	for i := range f.Dumps {
		w := &waitGraph{f: f, dump: &f.Dumps[i], keep: keep, wishes: map[int]*wish{}, words: map[uint64][]*sought{}, asleep: f.Dumps[i].Kind == Deadlock}
		w.findWishes()
		if len(w.wishes) > 0 {
			w.findTouches()
			all = append(all, w.cycles()...)
		}
	}
	slices.SortStableFunc(all, func(a, b Cycle) int {
		switch {
		case a.Proven == b.Proven:
			return int(b.Stuck - a.Stuck)
		case a.Proven:
			return -1
		}
		return 1
	})
	return all
}

// touching tells of each lock with an address who else has it, and, apart from
// those, who has the struct that it is in.
func touching(f *File, keep func(g int) bool) (exact, near map[uint64][]int) {
	exact, near = map[uint64][]int{}, map[uint64][]int{}
	for i := range f.Dumps {
		w := &waitGraph{f: f, dump: &f.Dumps[i], keep: keep, wishes: map[int]*wish{}, words: map[uint64][]*sought{}}
		w.findWishes()
		if len(w.all) > 0 {
			w.findTouches()
		}
		for _, s := range w.all {
			for _, t := range s.touches {
				switch x := w.wishes[t.g]; {
				case s.lock == 0 || x != nil && x.of == s:
				case t.grip == GripAddress:
					exact[s.lock] = append(exact[s.lock], t.g)
				case !w.outside(t.g):
					near[s.lock] = append(near[s.lock], t.g)
				}
			}
		}
	}
	return exact, near
}

// isWaiting tells that a goroutine is parked for another one.
func isWaiting(state string) bool {
	return strings.HasPrefix(state, "sync.") || strings.HasPrefix(state, "semacquire") ||
		strings.HasPrefix(state, "chan receive") || strings.HasPrefix(state, "chan send")
}

// belongsToWait tells that a frame is of the lock or channel itself.
func belongsToWait(function string) bool {
	return strings.HasPrefix(function, "sync.") || strings.HasPrefix(function, "internal/sync.") || strings.HasPrefix(function, "runtime.")
}

// receiverOf is "main.(*cache)." of "main.(*cache).get", "" of a plain function.
func receiverOf(function string) string {
	if i := strings.Index(function, ".(*"); i >= 0 {
		if j := strings.Index(function[i:], ")."); j > 0 {
			return function[:i+j+2]
		}
	}
	return ""
}

// words returns the numbers among the arguments of a call that are facts; nested
// ones count.
func (c *Call) words() (all []uint64) {
	args, _ := ParseArgs(c.Args) // what could be read of them
	var add func([]Arg)
	add = func(args []Arg) {
		for _, a := range args {
			if a.Kind == Word && !a.Stale && a.Value >= maxPointer {
				all = append(all, a.Value)
			}
			add(a.Fields)
		}
	}
	add(args)
	return all
}

// self is the receiver of a method, or the first argument; 0 where it is not known.
func (c *Call) self() uint64 {
	args, _ := ParseArgs(c.Args)
	if len(args) == 0 || args[0].Kind != Word || args[0].Stale || args[0].Value < maxPointer {
		return 0
	}
	return args[0].Value
}

// findWishes reads what each goroutine waits for.
func (w *waitGraph) findWishes() {
	f := w.f
	known := map[[2]uint64]*sought{}
	read := 0
	for g := w.dump.First; g < w.dump.End; g++ {
		state := f.State(g).Name
		if f.Count(g) == 0 || w.keep != nil && !w.keep(g) || !isWaiting(state) {
			continue
		}
		locking := lockCaller(f, f.StackIDs[g]) != noFrame
		if f.Objects[g] == 0 && !locking {
			continue
		}
		if read++; read > maxWaiters {
			return
		}
		calls, err := f.Calls(g)
		if err != nil {
			continue
		}
		at := slices.IndexFunc(calls, func(c Call) bool { return !belongsToWait(c.Func) })
		if at < 0 || calls[at].Created {
			continue
		}
		lock, caller := f.Objects[g], calls[at]
		owner := ownerOf(lock, calls[at:])
		if lock == 0 && owner == 0 {
			continue
		}
		key := [2]uint64{lock, 0}
		if lock == 0 {
			key = [2]uint64{0, owner}
		}
		s := known[key]
		if s == nil {
			s = &sought{lock: lock, receiver: receiverOf(caller.Func), taken: map[string]int{}}
			known[key] = s
			w.all = append(w.all, s)
			if lock != 0 {
				w.words[lock] = append(w.words[lock], s)
			}
		}
		if s.owner == 0 && owner != 0 && owner != lock {
			s.owner = owner
			w.words[owner] = append(w.words[owner], s)
		}
		if line, ok := s.taken[caller.Func]; !ok || caller.Line < line {
			s.taken[caller.Func] = caller.Line
		}
		s.waiters = append(s.waiters, g)
		w.wishes[g] = &wish{of: s, caller: at, call: caller,
			reader: strings.HasPrefix(state, "sync.RWMutex.RLock"), writer: strings.HasPrefix(state, "sync.RWMutex.Lock")}
	}
}

// ownerOf finds the struct that a lock is in, among the arguments of the function that
// wants it: the one that begins nearest before it. Where its receiver is not shown,
// that of a method of the same type that has called it is as good.
func ownerOf(lock uint64, calls []Call) (owner uint64) {
	receiver := receiverOf(calls[0].Func)
	for i, c := range calls {
		if c.Created || i > 0 && (receiver == "" || receiverOf(c.Func) != receiver) {
			continue
		}
		if lock == 0 {
			if owner == 0 {
				owner = c.self()
			}
			continue
		}
		for n, v := range c.words() {
			if (i == 0 || n == 0) && v <= lock && lock-v < maxOwner && v > owner {
				owner = v
			}
		}
		if owner != 0 {
			return owner
		}
	}
	return owner
}

// findTouches looks who else has the addresses that are waited for.
func (w *waitGraph) findTouches() {
	f := w.f
	methods := map[string][]*sought{}
	for _, s := range w.all {
		if s.receiver != "" {
			methods[s.receiver] = append(methods[s.receiver], s)
		}
	}
	read := 0
	for g := w.dump.First; g < w.dump.End; g++ {
		if f.Count(g) == 0 || w.keep != nil && !w.keep(g) {
			continue
		}
		if f.Flags[g]&Unavailable != 0 {
			for _, s := range w.all { // it runs, nobody knows where
				s.open = true
			}
			continue
		}
		if !w.mayTouch(g, methods) {
			continue
		}
		if read++; read > maxTouches {
			for _, s := range w.all {
				s.open = true
			}
			return
		}
		calls, err := f.Calls(g)
		if err != nil {
			for _, s := range w.all {
				s.open = true
			}
			continue
		}
		w.touchesOf(g, calls, methods)
	}
}

// mayTouch looks quickly whether a goroutine is worth being read again.
func (w *waitGraph) mayTouch(g int, methods map[string][]*sought) bool {
	if w.wishes[g] != nil {
		return true
	}
	for _, id := range w.f.Stacks.Frames(w.f.StackIDs[g]) {
		if methods[receiverOf(w.f.Stacks.Frame(id).Func)] != nil {
			return true
		}
	}
	text := w.f.Text(g)
	for i := 0; i+3 < len(text); i++ {
		if text[i] != '0' || text[i+1] != 'x' {
			continue
		}
		v := uint64(0)
		for i += 2; i < len(text); i++ {
			d := hexValue(text[i])
			if d < 0 {
				break
			}
			v = v<<4 | uint64(d)
		}
		if w.words[v] != nil {
			return true
		}
	}
	return text == nil
}

// touchesOf notes what the stack of a goroutine has to do with what is sought.
func (w *waitGraph) touchesOf(g int, calls []Call, methods map[string][]*sought) {
	own := w.wishes[g]
	found := map[*sought]touch{}
	for i := range calls {
		c := &calls[i]
		if c.Created || c.Ancestor != 0 {
			continue
		}
		for _, v := range c.words() {
			for _, s := range w.words[v] {
				if own != nil && (i < own.caller || own.of == s && i == own.caller) {
					continue // its own wish
				}
				if line, ok := s.taken[c.Func]; ok && c.Line < line {
					continue // it has not come to the line yet
				}
				t := touch{g: g, grip: GripOwner, through: c.Func}
				if v == s.lock {
					t.grip = GripAddress
				}
				t.passed = own != nil && own.of == s && !s.mayHaveTaken(c, v)
				if old, ok := found[s]; !ok || t.better(old) {
					found[s] = t
				}
			}
		}
		if w.asleep && own != nil && i > own.caller && c.self() == 0 {
			for _, s := range methods[receiverOf(c.Func)] {
				if _, ok := found[s]; !ok && own.of != s {
					found[s] = touch{g: g, grip: GripType, through: c.Func}
				}
			}
		}
		// A method of the type whose receiver is not shown may be of this very one.
		if own == nil && !w.outside(g) && c.self() == 0 {
			for _, s := range methods[receiverOf(c.Func)] {
				s.open = s.open || !w.asleep
			}
		}
	}
	for _, s := range w.all {
		t, ok := found[s]
		if !ok {
			continue
		}
		s.touches = append(s.touches, t)
		if own == nil && !w.asleep && !(t.grip == GripOwner && w.outside(g)) {
			s.open = true
		}
	}
}

// mayHaveTaken tells whether a frame of a goroutine that wants the lock may have taken
// it before. That the frame has its address says nothing, since it is what was handed
// on to whoever locks it: the frame is of a method of the struct that has the lock, or
// is beyond a line at which the lock is seen to be taken.
func (s *sought) mayHaveTaken(c *Call, address uint64) bool {
	if line, ok := s.taken[c.Func]; ok && c.Line >= line {
		return true
	}
	return s.receiver != "" && receiverOf(c.Func) == s.receiver && c.self() == address
}

// outside tells that a goroutine waits for the world, as the main function and who
// accepts connections do: they have everything in reach, and hold nothing.
func (w *waitGraph) outside(g int) bool {
	state := w.f.State(g).Name
	if state == "running" || state == "runnable" {
		return false
	}
	for _, id := range w.f.Stacks.Frames(w.f.StackIDs[g]) {
		switch w.f.Stacks.Frame(id).Func {
		case "main.main", "net.(*TCPListener).Accept", "net.(*UnixListener).Accept":
			return true
		}
	}
	return false
}

// cycles finds the goroutines that nobody but themselves can wake up, and goes in
// circles among them.
func (w *waitGraph) cycles() (all []Cycle) {
	next := map[int][]WaitEdge{}
	for g := range w.wishes {
		next[g] = w.edges(g)
	}
	// Who may be woken by somebody that can go on is not stuck, nor is who waits
	// for that one.
	for again := true; again; {
		again = false
		for g, edges := range next {
			leaked := w.f.State(g).Leaked
			open := w.wishes[g].of.open && !leaked
			if open || len(edges) == 0 || slices.ContainsFunc(edges, func(e WaitEdge) bool { return next[e.Holder] == nil }) && !w.asleep && !leaked {
				delete(next, g)
				again = true
			}
		}
	}
	seen := map[int]bool{}
	// That several wait for each other explains more than that one waits for itself.
	for _, alone := range []bool{false, true} {
		for g := w.dump.First; g < w.dump.End; g++ {
			if next[g] == nil || seen[g] {
				continue
			}
			if way := shortest(next, g, seen, alone); way != nil {
				all = append(all, w.cycle(way, seen))
			}
		}
	}
	return all
}

// cycle sums up what was found.
func (w *waitGraph) cycle(way []WaitEdge, seen map[int]bool) Cycle {
	c := Cycle{Edges: way, Proven: true}
	locks := map[*sought]bool{}
	for _, e := range way {
		seen[e.Waiter] = true
		locks[w.wishes[e.Waiter].of] = true
		c.Proven = c.Proven && (w.asleep || w.f.State(e.Waiter).Leaked)
		c.MaxWait = max(c.MaxWait, w.f.Waits[e.Waiter])
	}
	for s := range locks {
		c.Stuck += int64(len(s.waiters))
		for _, g := range s.waiters {
			seen[g] = true
		}
	}
	return c
}

// edges are those that may hold what a goroutine waits for.
func (w *waitGraph) edges(g int) (all []WaitEdge) {
	x := w.wishes[g]
	s := x.of
	edge := func(t touch) {
		all = append(all, WaitEdge{g, t.g, s.lock, s.owner, x.call.Func, x.call.File, x.call.Line, t.grip, t.through})
	}
	if x.reader {
		for _, other := range s.waiters {
			if y := w.wishes[other]; y.writer && other != g {
				edge(touch{g: other, grip: GripWriter, through: y.call.Func})
			}
		}
		if len(all) > 0 {
			return all // a lock with a waiting writer lets no reader in, whoever holds it
		}
	}
	alike, typed := map[string]int{}, 0
	for _, t := range s.touches {
		if y := w.wishes[t.g]; y != nil && y.of == s {
			alike[t.through]++
		}
		if t.grip == GripType {
			typed++
		}
	}
	for _, t := range s.touches {
		y := w.wishes[t.g]
		if t.grip == GripType && typed > 1 || t.passed && !(x.writer && y.reader) {
			continue
		}
		if y == nil || y.of != s || y.reader && t.g != g {
			edge(t)
			continue
		}
		// Of those that want it only one can have it already; where several look
		// the same, none of them is more likely than somebody who has gone.
		if alike[t.through] == 1 {
			edge(t)
		}
	}
	slices.SortStableFunc(all, func(a, b WaitEdge) int { return int(a.Grip) - int(b.Grip) })
	return all
}

// shortest is the shortest way from a goroutine back to itself, nil for none; alone
// tells that it may be a goroutine that waits for itself.
func shortest(next map[int][]WaitEdge, from int, seen map[int]bool, alone bool) []WaitEdge {
	before := map[int]WaitEdge{}
	queue := []int{from}
	for len(queue) > 0 {
		g := queue[0]
		queue = queue[1:]
		for _, e := range next[g] {
			if _, known := before[e.Holder]; known || seen[e.Holder] || e.Holder == e.Waiter && !alone {
				continue
			}
			before[e.Holder] = e
			if e.Holder == from {
				way := []WaitEdge{e}
				for e.Waiter != from {
					e = before[e.Waiter]
					way = append(way, e)
				}
				slices.Reverse(way)
				return way
			}
			if next[e.Holder] != nil {
				queue = append(queue, e.Holder)
			}
		}
	}
	return nil
}
