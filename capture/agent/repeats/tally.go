package repeats

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
)

// tally counts the calls of one function within one call of another.
type tally struct {
	calls, ns int64
	// Of all arguments those are kept whose hash ends in level zeros.
	level  uint
	kept   map[uint64]*kept
	held   int // results, of so many bytes
	bytes  int64
	traits traits
	course []step
}

// step are the calls whose number within the call around has as many binary digits: the first, the second and third, the
// next four, and so on.
type step struct {
	calls, ns, size int64
	digits          float64 // the sum of the binary logarithms of ns: one call that had to wait for a CPU is no growth
}

// fewSteps is from how many calls on the course is worth being told.
const fewSteps = 7

// kept are the calls with the same arguments.
type kept struct {
	calls  int64
	again  int64 // ns of all but the first
	got    uint64
	differ int64 // calls that returned something else than the first
	held   []held
}

// held is what a call has returned, and what holds says of it.
type held struct {
	results []any
	sum     uint64
}

// mostKept bounds the arguments that are told apart within a call around, mostHeld the results that are held for that long.
const (
	mostKept = 256
	mostHeld = 600
)

// mostHeldBytes bounds what all results have together that are held at a time, and heldBytes is how many bytes that is, about.
const mostHeldBytes = 32 << 20

var heldBytes atomic.Int64

// hold keeps the results of the first, the second, the fourth call with the same arguments, and so on: who changes one of them?
func (t *tally) hold(k *kept, c *call) {
	if c.results == nil || t.held >= mostHeld || k.calls&(k.calls-1) != 0 || heldBytes.Load() > mostHeldBytes {
		return
	}
	if !c.summed { // each call around asks
		c.sum, c.summed = holds(c.results), true
	}
	t.held++
	t.bytes += c.held
	heldBytes.Add(c.held)
	k.held = append(k.held, held{c.results, c.sum})
}

// add counts a call.
func (t *tally) add(c *call) {
	t.traits |= c.traits
	if c.thin {
		if k := t.kept[c.key]; k != nil && c.judged && c.got != k.got {
			k.differ++
		}
		return
	}
	t.calls++
	if c.outer {
		t.ns += c.ns
		t.addStep(t.calls, 1, c)
	}
	if !c.judged {
		t.traits |= Void
		return
	}
	if c.key&(1<<t.level-1) != 0 {
		return
	}
	k := t.kept[c.key]
	if k == nil {
		if t.kept == nil {
			t.kept = map[uint64]*kept{}
		}
		k = &kept{calls: 1, got: c.got}
		t.hold(k, c)
		t.kept[c.key] = k
		for len(t.kept) > mostKept {
			t.level++
			for key := range t.kept {
				if key&(1<<t.level-1) != 0 {
					delete(t.kept, key)
				}
			}
		}
		return
	}
	k.calls++
	t.hold(k, c)
	if c.outer {
		k.again += c.ns
	}
	if c.got != k.got {
		k.differ++
	}
}

// addStep adds a call, which stands for several, to the course by its number.
func (t *tally) addStep(number, stands int64, c *call) {
	at := bits.Len64(uint64(number)) - 1
	for len(t.course) <= at {
		t.course = append(t.course, step{})
	}
	s := &t.course[at]
	s.calls, s.ns, s.size = s.calls+stands, s.ns+stands*c.ns, s.size+stands*c.size
	s.digits += float64(stands) * math.Log2(float64(max(1, c.ns)))
}

// sum is what a tally comes to, and what it adds up to with others.
type sum struct {
	activations, scopeNS, wholeNS           int64 // wholeNS is without regard to when counting ended
	calls, ns, distinct, again, againNS     int64
	differ, changed, sampled, most, mostOne int64
	traits                                  traits
	course                                  []step
}

// add adds a tally of a call that has taken net ns. With look, what the first calls
// returned is looked at again: has somebody changed it?
func (s *sum) add(t *tally, net int64, look bool) {
	s.activations++
	s.scopeNS += net
	s.calls += t.calls
	s.ns += t.ns
	s.traits |= t.traits
	scale := int64(1) << t.level
	var distinct, againNS, keptAgain int64
	for _, k := range t.kept {
		distinct += scale
		keptAgain += k.calls - 1
		againNS += k.again
		s.differ += scale * k.differ
		s.mostOne = max(s.mostOne, k.calls)
		for _, h := range k.held {
			if look && holds(h.results) != h.sum {
				s.changed++
			}
		}
	}
	again := keptAgain
	if t.level > 0 { // the part of what was kept stands for that of all
		s.sampled++
		distinct = min(distinct, t.calls)
		again = t.calls - distinct
		againNS = min(scale*againNS, int64(float64(t.ns)*float64(again)/float64(max(1, t.calls))))
	}
	s.distinct, s.again, s.againNS = s.distinct+distinct, s.again+again, s.againNS+againNS
	s.most = max(s.most, t.calls)
	if len(t.course) < fewSteps {
		return
	}
	for i, x := range t.course {
		if i == len(s.course) {
			s.course = append(s.course, step{})
		}
		y := &s.course[i]
		y.calls, y.ns, y.size, y.digits = y.calls+x.calls, y.ns+x.ns, y.size+x.size, y.digits+x.digits
	}
}

// holds is a hash of what a call has returned by which it is seen later that somebody has changed it:
// other than that of results, it knows where maps and the like lie, and how much they hold.
func holds(results []any) uint64 {
	defer safely()()
	h := hasher{places: true, all: true}
	for _, r := range results {
		h.any(r)
	}
	return h.sum()
}

// pair is a function whose calls are counted within those of another.
type pair struct{ scope, id uint32 }

// mostPairs bounds what is kept of a program.
const mostPairs = 50_000

var (
	pairsMu sync.Mutex
	pairs   = map[pair]*sum{}
)

// fold adds what was called within a call that has ended.
func fold(f *frame, net int64) {
	pairsMu.Lock()
	defer pairsMu.Unlock()
	foldInto(pairs, f, net, true, true)
}

// foldInto adds what was called within a call that has taken net ns so far. ends tells that the call has ended.
func foldInto(to map[pair]*sum, f *frame, net int64, look, ends bool) {
	for id, t := range f.inside {
		if ends {
			heldBytes.Add(-t.bytes)
		}
		p := pair{f.id, id}
		s := to[p]
		if s == nil {
			if len(to) >= mostPairs {
				continue
			}
			s = &sum{}
			to[p] = s
		}
		took := net
		if cut := fns[id].cut.Load(); cut > 0 {
			took = min(took, max(0, cut-f.start))
		}
		s.wholeNS += net
		s.add(t, took, look)
	}
}
