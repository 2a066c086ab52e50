package exectrace

import (
	"bytes"
	"slices"

	"loupe/value/timeline"
)

// A storm is a stretch in which the first of very many Ms is blocked, so that
// for every event all must be sorted and most be tried in vain. As long as no
// two of them have events of one time, there is one order alone, whatever the
// algorithm, and it is kept instead of made anew: the M that has gone on is put
// where it belongs, and those that are blocked are asked again only after
// something has happened to what they wait for.
//
// Note: among equal times the order is that which the sort of the standard
// library leaves, and that depends on where each element lay before. So the
// first two equal times end a storm, and all is sorted as it was without it.
// BenchmarkStorm tells what that costs.
type storm struct {
	// stuck says for each place of the frontier whether the M there is known
	// to be blocked.
	stuck   []byte
	waiting map[waitKey][]*cursor
	waits   int // entries of waiting
	events  int // that it has given

	// The last change: what internal/trace would have done to its heap, and
	// does matter if the first M can go on now. It has moved the M at from to
	// to, or out of the frontier.
	changed  bool
	from, to int
	ended    front // the M that has gone, if it has
}

// waitKey names what an M waits for.
type waitKey struct {
	kind byte
	id   int64
}

const (
	waitGo byte = iota
	waitProc
	waitCollector
)

// stormSize is how many Ms make a storm worth while.
const stormSize = 64

// mostPatience is how many events in a row must find the first M blocked before
// a storm begins, after some that have soon ended: to begin one costs as much as
// some twenty events without it.
const mostPatience = 1 << 10

// stalls decide when a storm is worth while.
type stalls struct {
	// The first cursor when it was blocked last, where in its data, and how often
	// in a row.
	cursor   *cursor
	at       int
	count    int
	patience int
	spare    *storm // the last one, to be used again
}

// last says whether the stall of c is one more than patience has.
func (s *stalls) last(c *cursor) bool {
	if s.cursor == c && s.at == c.off {
		s.count++
	} else {
		s.count = 0
	}
	s.cursor, s.at = c, c.off
	return s.count > s.patience
}

// wait has more patience before the next storm.
func (s *stalls) wait() { s.count, s.patience = 0, min(2*s.patience+1, mostPatience) }

// gathers begins a storm if it is worth while and can be: the frontier is
// sorted, no two times are equal, and the first M is blocked for long.
func (q *order) gathers() {
	f := q.frontier
	if !q.stalls.last(f[0].c) || len(f) < stormSize {
		return
	}
	for i := 1; i < len(f); i++ {
		if f[i].time == f[i-1].time {
			q.stalls.wait()
			return
		}
	}
	s := q.stalls.spare
	if s == nil {
		s = &storm{waiting: make(map[waitKey][]*cursor)}
		q.stalls.spare = s
	}
	s.stuck = append(s.stuck[:0], make([]byte, len(f))...)
	clear(s.waiting)
	s.waits, s.changed, s.events = 0, false, 0
	q.storm = s
}

// endStorm forgets a storm.
func (q *order) endStorm() {
	switch s := q.storm; {
	case s == nil:
		q.stalls.count = 0
	case s.events > mostPatience:
		q.stalls.count, q.stalls.patience = 0, 0
	default:
		q.stalls.wait()
	}
	q.storm = nil
}

// calm ends a storm: the frontier becomes the heap that it would have been.
func (q *order) calm() {
	s := q.storm
	q.endStorm()
	if !s.changed {
		return
	}
	f := &q.frontier
	if s.ended.c != nil {
		*f = slices.Insert(*f, s.from, s.ended)
		f.remove(s.from)
		return
	}
	x := (*f)[s.to]
	*f = slices.Insert(slices.Delete(*f, s.to, s.to+1), s.from, x)
	f.update(s.from)
}

// free returns the first place from i on whose M may be able to go on.
func (s *storm) free(i int) int {
	k := bytes.IndexByte(s.stuck[i:], 0)
	if k < 0 {
		return len(s.stuck)
	}
	return i + k
}

// moved puts the cursor at i, which has gone on, where it belongs.
func (q *order) moved(i int) {
	f, s := q.frontier, q.storm
	x := front{f[i].c.time, f[i].c}
	j, tie := i, false
	if i+1 < len(f) && x.time >= f[i+1].time {
		j, tie = slices.BinarySearchFunc(f[i+1:], x.time, byTime)
		j += i
	} else if x.time <= f[i-1].time { // a batch can begin earlier than the one before
		j, tie = slices.BinarySearchFunc(f[:i], x.time, byTime)
	}
	if tie {
		q.endStorm()
		f.update(i)
		return
	}
	if j > i {
		copy(f[i:j], f[i+1:j+1])
		copy(s.stuck[i:j], s.stuck[i+1:j+1])
	} else {
		copy(f[j+1:i+1], f[j:i])
		copy(s.stuck[j+1:i+1], s.stuck[j:i])
	}
	f[j], s.stuck[j] = x, 0
	s.changed, s.from, s.to, s.ended = true, i, j, front{}
}

func byTime(f front, t timeline.Time) int {
	switch {
	case f.time < t:
		return -1
	case f.time > t:
		return 1
	}
	return 0
}

// gone takes the cursor at i, which has ended, out of the frontier.
func (q *order) gone(i int) {
	s := q.storm
	s.changed, s.from, s.ended = true, i, q.frontier[i]
	q.frontier = slices.Delete(q.frontier, i, i+1)
	s.stuck = slices.Delete(s.stuck, i, i+1)
}

// stick remembers that the cursor at i is blocked, and by what.
func (s *storm) stick(i int, c *cursor) {
	var keys [3]waitKey
	n := 1
	switch c.op {
	case evGoStart, evGoUnblock:
		keys[0] = waitKey{waitGo, int64(c.args[0])}
	case evGoSwitch, evGoSwitchDestroy:
		keys = [3]waitKey{{waitGo, int64(c.args[0])}, {waitGo, int64(c.m.g)}, {waitProc, int64(c.m.p)}}
		n = 3
	case evProcStart, evProcSteal:
		keys = [3]waitKey{{waitProc, int64(c.args[0])}, {waitProc, int64(c.m.p)}}
		n = 2
	case evGoSyscallEndBlocked:
		keys[0] = waitKey{waitProc, int64(c.m.p)}
	case evGCActive, evGCBegin, evGCEnd:
		keys[0] = waitKey{waitCollector, 0}
	default:
		return
	}
	if s.waits > 8*len(s.stuck) { // of Ms that have gone on long since
		clear(s.waiting)
		clear(s.stuck)
		s.waits = 0
	}
	for _, k := range keys[:n] {
		s.waiting[k] = append(s.waiting[k], c)
	}
	s.waits += n
	s.stuck[i] = 1
}

// wake lets those be tried again that wait for anything that the event of op
// may have changed: what it names, and what its M had (g and p) and has.
func (q *order) wake(c *cursor, op byte, arg uint64, g GoID, p ProcID) {
	keys := [...]waitKey{{waitGo, int64(arg)}, {waitGo, int64(g)}, {waitGo, int64(c.m.g)},
		{waitProc, int64(arg)}, {waitProc, int64(p)}, {waitProc, int64(c.m.p)}, {waitCollector, 0}}
	n := len(keys)
	if op != evGCActive && op != evGCBegin && op != evGCEnd {
		n--
	}
	s := q.storm
	s.events++
	for _, k := range keys[:n] {
		list, ok := s.waiting[k]
		if !ok {
			continue
		}
		delete(s.waiting, k)
		s.waits -= len(list)
		for _, w := range list {
			if i, ok := slices.BinarySearchFunc(q.frontier, w.time, byTime); ok && q.frontier[i].c == w {
				s.stuck[i] = 0
			}
		}
	}
}
