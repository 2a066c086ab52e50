package repeats

import (
	"sync"
	"sync/atomic"
)

// Of calls with the same arguments that go on at the same time on several goroutines one could do the work for all. Whether
// somebody remembers results is seen by who calls: of the calls with the same arguments some make the call, and some do
// not.

// concurrent is what is known of the calls of a function that go on at once.
type concurrent struct {
	mu  sync.Mutex
	now map[uint64]*sameCalls // by their arguments
	// Of all arguments those are kept whose hash ends in level zeros.
	level uint
	kept  map[uint64]*askedFor
	// shared are arguments, by where they lie, with which calls have gone on at once: what has that place is the same for many.
	shared map[uint64]bool
	sums
}

// sums are the counts of all of them.
type sums struct {
	together, ns int64 // calls that began while others with the same arguments went on, and what they took
	apart        int64 // of those, that returned something else
	most         int64 // at once
}

// sameCalls is calls with the same arguments that go on.
type sameCalls struct {
	running int64
	got     uint64 // what the first to end has returned
	known   bool
}

// askedFor are calls with the same arguments, with how many of them have called others: those that have been seen to go on
// together.
type askedFor struct {
	calls int64
	made  map[uint32]int64
}

// Limits of what is followed: a function that is called fewLooked times and takes less than worthLooking on average is not.
const (
	fewLooked     = 64
	worthLooking  = 4_000 // ns
	mostAskedFor  = 256
	mostSameCalls = 4_096 // at once, of a function
)

// together tells of a function that calls with the same arguments have gone on at once.
var together [MaxFuncs]atomic.Bool

// beginConcurrent notes the begin of a call: its arguments by what they hold, if look tells so, and by where it lies what they lead to.
func (top *frame) beginConcurrent(f *fn, args []any, look bool) {
	if !top.outer || top.thin {
		return
	}
	if n := f.calls.Load(); n > fewLooked && f.ns.Load() < worthLooking*n {
		return
	}
	h, key := hasher{near: true, places: true}, hasher{near: true, places: true}
	for i, a := range args {
		h.each(a)
		if key.near = i == 0 || !look; look || i == 0 {
			key.each(a)
		}
	}
	if h.large {
		return // they may differ behind what is looked at
	}
	all := f.concurrent.Load()
	if all == nil {
		all = &concurrent{now: map[uint64]*sameCalls{}, kept: map[uint64]*askedFor{}, shared: map[uint64]bool{}}
		if !f.concurrent.CompareAndSwap(nil, all) {
			all = f.concurrent.Load()
		}
	}
	top.near, top.asked = h.sum(), key.sum()
	// Where what is asked for can be seen: a place that others have after it is no name.
	top.named = look && len(args) > 1 && !key.partial
	all.mu.Lock()
	defer all.mu.Unlock()
	x := all.now[top.near]
	if x == nil {
		if len(all.now) >= mostSameCalls {
			return
		}
		x = &sameCalls{}
		all.now[top.near] = x
	}
	top.sameCalls = x
	if top.joins = x.running > 0; top.joins && len(all.shared) < mostSameCalls {
		all.shared[top.near] = true
	}
	top.named = top.named || all.shared[top.near]
	x.running++
	all.most = max(all.most, x.running)
}

// endConcurrent notes the end of a call that has taken net ns and returned what has a hash.
func (top *frame) endConcurrent(f *fn, net int64, got uint64) {
	x := top.sameCalls
	if x == nil {
		return
	}
	all := f.concurrent.Load()
	all.mu.Lock()
	defer all.mu.Unlock()
	if x.running--; x.running == 0 {
		delete(all.now, top.near)
	}
	if top.joins {
		all.together++
		all.ns += net
		together[top.id].Store(true)
		if x.known && x.got != got {
			all.apart++
		}
	}
	x.got, x.known = got, true
	if top.named {
		all.count(top)
	}
}

// count adds the call by its arguments, with what it has called: the first of them, most often what has the method, by where it lies, and
// the others by what they hold.
func (all *concurrent) count(top *frame) {
	if top.asked&(1<<all.level-1) != 0 {
		return
	}
	a := all.kept[top.asked]
	if a == nil {
		a = &askedFor{}
		all.kept[top.asked] = a
		for len(all.kept) > mostAskedFor {
			all.level++
			for key := range all.kept {
				if key&(1<<all.level-1) != 0 {
					delete(all.kept, key)
				}
			}
		}
	}
	a.calls++
	for id := range top.inside {
		if together[id].Load() {
			if a.made == nil {
				a.made = map[uint32]int64{}
			}
			a.made[id]++
		}
	}
}

// without tells, for each function that has gone on together, the calls around with arguments that several had, of which some have made the
// call and some have not, and how many have.
func (all *concurrent) without() map[uint32][2]int64 {
	out := map[uint32][2]int64{}
	for _, a := range all.kept {
		for id, made := range a.made {
			if a.calls > 1 && made < a.calls {
				s := out[id]
				out[id] = [2]int64{s[0] + a.calls, s[1] + made}
			}
		}
	}
	return out
}
