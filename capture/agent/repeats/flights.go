package repeats

import (
	"sync"
	"sync/atomic"
)

// Of calls with the same arguments that go on at the same time on several goroutines one could do the work for all. Whether
// somebody remembers results is seen by who calls: of the calls with the same arguments some make the call, and some do
// not.

// flights are the calls of a function that go on, and what is known of all of them.
type flights struct {
	mu  sync.Mutex
	now map[uint64]*flight
	// Of all arguments those are kept whose hash ends in level zeros.
	level uint
	kept  map[uint64]*arrived
	sums
}

// sums is what flights come to.
type sums struct {
	together, ns int64 // calls that began while others with the same arguments went on, and what they took
	apart        int64 // of those, that returned something else
	most         int64 // at once
}

// flight is calls with the same arguments that go on.
type flight struct {
	running int64
	got     uint64 // what the first to end has returned
	known   bool
}

// arrived are calls with the same arguments, with how many of them have called others: those that have been seen to go on
// together.
type arrived struct {
	calls int64
	made  map[uint32]int64
}

// Limits of what is followed: a function that is called fewLooked times and takes less than worthLooking on average is not.
const (
	fewLooked    = 64
	worthLooking = 4_000 // ns
	mostArrived  = 256
	mostFlights  = 4_096 // at once, of a function
)

// together tells of a function that calls with the same arguments have gone on at once.
var together [MaxFuncs]atomic.Bool

// takesOff begins a call: its arguments by what they hold, and by where it lies what they lead to.
func (gr *Goroutine) takesOff(top *frame, f *fn, args []any) {
	if !top.outer || top.thin {
		return
	}
	if n := f.calls.Load(); n > fewLooked && f.ns.Load() < worthLooking*n {
		return
	}
	h, key := hasher{near: true, places: true}, hasher{near: true, places: true}
	for i, a := range args {
		h.any(a)
		key.near = i == 0
		key.any(a)
	}
	fl := f.flights.Load()
	if fl == nil {
		fl = &flights{now: map[uint64]*flight{}, kept: map[uint64]*arrived{}}
		if !f.flights.CompareAndSwap(nil, fl) {
			fl = f.flights.Load()
		}
	}
	top.near, top.asked = h.sum(), key.sum()
	// Where what is asked for can be seen: a place that others have after it is no name.
	top.named = len(args) > 1 && !key.partial
	fl.mu.Lock()
	defer fl.mu.Unlock()
	x := fl.now[top.near]
	if x == nil {
		if len(fl.now) >= mostFlights {
			return
		}
		x = &flight{}
		fl.now[top.near] = x
	}
	top.flight = x
	top.joins = x.running > 0
	x.running++
	fl.most = max(fl.most, x.running)
}

// lands ends a call that has taken net ns and returned what has a hash.
func (gr *Goroutine) lands(top *frame, f *fn, net int64, got uint64) {
	x := top.flight
	if x == nil {
		return
	}
	fl := f.flights.Load()
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if x.running--; x.running == 0 {
		delete(fl.now, top.near)
	}
	if top.joins {
		fl.together++
		fl.ns += net
		together[top.id].Store(true)
		if x.known && x.got != got {
			fl.apart++
		}
	}
	x.got, x.known = got, true
	if top.named {
		fl.arrive(top)
	}
}

// arrive counts the call by its arguments, with what it has called: the first of them, most often what has the method, by where it lies, and
// the others by what they hold.
func (fl *flights) arrive(top *frame) {
	if top.asked&(1<<fl.level-1) != 0 {
		return
	}
	a := fl.kept[top.asked]
	if a == nil {
		a = &arrived{}
		fl.kept[top.asked] = a
		for len(fl.kept) > mostArrived {
			fl.level++
			for key := range fl.kept {
				if key&(1<<fl.level-1) != 0 {
					delete(fl.kept, key)
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

// spared are, for each function that has gone on together, the calls around with arguments that several had, of which some have made the
// call and some have not, and how many have.
func (fl *flights) spared() map[uint32][2]int64 {
	out := map[uint32][2]int64{}
	for _, a := range fl.kept {
		for id, made := range a.made {
			if a.calls > 1 && made < a.calls {
				s := out[id]
				out[id] = [2]int64{s[0] + a.calls, s[1] + made}
			}
		}
	}
	return out
}
