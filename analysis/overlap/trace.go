package overlap

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/timeline"
)

// Traced is what one pass over an execution trace has found, on the trace's own
// clock.
type Traced struct {
	Span timeline.Span
	// Clock ties the trace's clock to others; nil in traces before Go 1.25.
	Clock *exectrace.ClockSnapshot
	// Events is the number of events, Problems tells what of the trace could
	// not be read.
	Events   int64
	Problems []*exectrace.Problem

	program [programKinds]union
	served  []*served
}

// What a program does as a whole.
const (
	gcMark = iota
	stopped
	assisting
	sweeping
	queueing
	locked
	allBusy
	programKinds
)

var programNames = [programKinds]struct{ key, name string }{
	gcMark:    {"gc_mark", "GC mark phase"},
	stopped:   {"stw", "stop the world"},
	assisting: {"assist", "a mark assist of any goroutine"},
	sweeping:  {"sweep", "a sweep"},
	queueing:  {"sched", "somebody waited for a P"},
	locked:    {"lock", "somebody waited for a lock"},
	allBusy:   {"all_busy", "no P was idle"},
}

// What a goroutine does while it serves a request.
const (
	runs = iota
	ownAssist
	ownQueue
	ownLock
	ownChannel
	ownSyscall
	ownNetwork
	ownOther
	ownKinds
)

var ownNames = [ownKinds]struct{ key, name string }{
	runs:       {"own_run", "it ran"},
	ownAssist:  {"own_assist", "it helped the collector"},
	ownQueue:   {"own_sched", "it waited for a P"},
	ownLock:    {"own_lock", "it waited for a lock"},
	ownChannel: {"own_chan", "it waited for a goroutine"},
	ownSyscall: {"own_syscall", "it was in a system call"},
	ownNetwork: {"own_net", "it waited for the network"},
	ownOther:   {"own_other", "it slept, or waited otherwise"},
}

// maxSpans bounds the intervals that are kept of each kind, and of all
// goroutines together: 32 MB.
const maxSpans = 2 << 20

// union collects the times at which a number of things is not zero.
type union struct {
	n     int
	since timeline.Time
	spans []timeline.Span
	full  bool
}

func (u *union) add(at timeline.Time, by int) {
	before := u.n
	u.n = max(0, u.n+by)
	switch {
	case before == 0 && u.n > 0:
		u.since = at
	case before > 0 && u.n == 0:
		u.full = u.full || len(u.spans) >= maxSpans
		if !u.full && at > u.since {
			u.spans = append(u.spans, timeline.Span{Start: u.since, End: at})
		}
	}
}

// served is a goroutine that may serve a connection.
type served struct {
	id   exectrace.GoID
	http bool
	// wakes are the instants at which the network woke it up.
	wakes []timeline.Time
	spans [ownKinds][]timeline.Span
	sets  [ownKinds]*Set
}

// life is what is counted of the goroutine in a slot.
type life struct {
	system bool
	waits  int8 // union that it is counted in plus one, 0 for none
	gc     bool // it waits for the collector, not for a lock
	assist timeline.Time
	own    *served
}

// tracer makes the pass.
type tracer struct {
	out   *Traced
	r     *exectrace.Reader
	gs    *sweep.Goroutines
	lives []life // by slot
	held  int    // spans of goroutines
	procs int
	open  map[rangeOf]bool
	last  timeline.Time
	waits exectrace.CollectorWaits
}

// rangeOf names a range that is open: its union, and the goroutine or P.
type rangeOf struct {
	kind    int
	subject int64
}

// Whole takes the intervals out of an execution trace.
var Whole = sweep.Want[*Traced]{Key: "overlaps", Begin: func(p *sweep.Pass) (func() (*Traced, error), error) {
	x := &tracer{out: &Traced{}, r: p.Reader(), gs: p.Goroutines(), open: map[rangeOf]bool{}}
	p.Join(x)
	return func() (*Traced, error) {
		x.out.Events = p.Events()
		x.finish(x.last)
		return x.out, nil
	}, nil
}}

// Kinds implements [sweep.Listener].
func (x *tracer) Kinds() sweep.Kinds {
	return sweep.Of(exectrace.KindSync, exectrace.KindGoTransition, exectrace.KindProcTransition, exectrace.KindMetric,
		exectrace.KindRangeBegin, exectrace.KindRangeActive, exectrace.KindRangeEnd)
}

// Event implements [sweep.Listener].
func (x *tracer) Event(e *exectrace.Event) {
	x.last = e.Time
	switch e.Kind {
	case exectrace.KindGoTransition:
		if e.From != e.To {
			x.goroutine(e)
		}
	case exectrace.KindProcTransition:
		x.busy(e.Time)
	case exectrace.KindMetric:
		if e.Name == exectrace.NameGOMAXPROCS {
			x.procs = int(e.Value())
			x.busy(e.Time)
		}
	case exectrace.KindRangeBegin, exectrace.KindRangeActive, exectrace.KindRangeEnd:
		x.ranges(e)
	case exectrace.KindSync:
		if x.out.Span.Start == 0 {
			x.out.Span.Start = e.Time
		}
		if x.out.Clock == nil {
			x.out.Clock = x.r.Clock()
		}
		if e.Reset() {
			x.reset(e.Time)
		}
	}
}

// reset forgets the states, which are unknown after a gap.
func (x *tracer) reset(at timeline.Time) {
	x.leaveAll(at)
	x.lives, x.open = nil, map[rangeOf]bool{}
	for k := range x.out.program {
		u := &x.out.program[k]
		u.add(at, -u.n)
	}
}

// leaveAll ends the states that goroutines are in.
func (x *tracer) leaveAll(at timeline.Time) {
	x.gs.Each(func(slot exectrace.Slot, g *sweep.Goroutine) { x.leave(x.at(slot), g, at) })
}

func (x *tracer) busy(at timeline.Time) {
	u := &x.out.program[allBusy]
	if on := x.procs > 0 && x.gs.Busy() >= x.procs; on != (u.n > 0) {
		u.add(at, 1-2*u.n)
	}
}

// ranges follows mark phases, stops of the world, sweeps and assists.
func (x *tracer) ranges(e *exectrace.Event) {
	key := rangeOf{stopped, e.Subject}
	switch {
	case e.Name == exectrace.NameMarkPhase:
		key = rangeOf{kind: gcMark}
	case e.Name == exectrace.NameMarkAssist:
		key.kind = assisting
	case e.Name == exectrace.NameSweep:
		key.kind = sweeping
	}
	u := &x.out.program[key.kind]
	began := !x.open[key]
	switch {
	case e.Kind != exectrace.KindRangeEnd && began:
		x.open[key] = true
		u.add(e.Time, +1)
	case e.Kind == exectrace.KindRangeEnd && began:
		// It began before the trace did, or in a gap.
		if u.n == 0 && !u.full && len(u.spans) == 0 && key.kind != sweeping {
			u.spans = append(u.spans, timeline.Span{Start: x.out.Span.Start, End: e.Time})
		}
	case e.Kind == exectrace.KindRangeEnd:
		delete(x.open, key)
		u.add(e.Time, -1)
	}
	if key.kind != assisting || e.SubjectSlot == exectrace.NoSlot {
		return
	}
	l := x.at(e.SubjectSlot)
	if e.Kind != exectrace.KindRangeEnd {
		if l.assist == 0 {
			l.assist = e.Time
		}
		return
	}
	if l.own != nil && l.assist != 0 {
		x.keep(l.own, ownAssist, l.assist, e.Time)
	}
	l.assist = 0
}

func (x *tracer) at(slot exectrace.Slot) *life {
	for int(slot) >= len(x.lives) {
		x.lives = append(x.lives, make([]life, max(64, len(x.lives)))...)
	}
	return &x.lives[slot]
}

// serves tells whether goroutines that begin with a function are those that
// net/http serves connections with. The compiler wraps the call of a go
// statement that has arguments.
func serves(function string) bool {
	return function == "net/http.(*conn).serve" || strings.HasPrefix(function, "net/http.(*Server).Serve.gowrap")
}

// goroutine follows a goroutine from one state to the next.
func (x *tracer) goroutine(e *exectrace.Event) {
	l, was := x.at(e.SubjectSlot), &x.gs.Was
	if e.From > exectrace.NotExist && l.own != nil && was.State == exectrace.Waiting && was.Reason == exectrace.NameNetwork {
		l.own.wakes = append(l.own.wakes, e.Time)
	}
	x.leave(l, was, e.Time)
	if e.From <= exectrace.NotExist {
		*l = life{}
	}
	if name := x.gs.Is.Name; name != exectrace.NameNone && (was.Name == exectrace.NameNone || e.From <= exectrace.NotExist) {
		function := x.r.Name(name)
		l.system = strings.HasPrefix(function, "runtime.") && function != "runtime.main"
		if serves(function) {
			x.follow(l, e, true)
		}
	}
	if e.To == exectrace.Waiting && e.Name == exectrace.NameNetwork && l.own == nil {
		x.follow(l, e, false)
	}
	l.gc = e.To == exectrace.Waiting && x.waits.Is(x.r.Stacks(), e.SubjectStack, e.Name)
	switch {
	case e.To == exectrace.Runnable && !l.system:
		x.wait(l, queueing, e.Time)
	case e.To == exectrace.Waiting && (e.Name == exectrace.NameSync || e.Name == exectrace.NameCond) && !l.gc:
		x.wait(l, locked, e.Time)
	case e.To == exectrace.NotExist:
		*l = life{}
	}
}

// wait counts a goroutine among those that wait for something.
func (x *tracer) wait(l *life, kind int, at timeline.Time) {
	l.waits = int8(kind) + 1
	x.out.program[kind].add(at, +1)
}

func (x *tracer) follow(l *life, e *exectrace.Event, http bool) {
	if l.own == nil {
		l.own = &served{id: e.Goroutine()}
		x.out.served = append(x.out.served, l.own)
	}
	l.own.http = l.own.http || http
}

// leave ends the state that a goroutine was in.
func (x *tracer) leave(l *life, was *sweep.Goroutine, at timeline.Time) {
	if !was.Alive() {
		return
	}
	if l.waits > 0 {
		x.out.program[l.waits-1].add(at, -1)
		l.waits = 0
	}
	if l.own != nil {
		x.keep(l.own, l.kind(was), was.Told, at)
	}
}

// kind says what the goroutine did in its state.
func (l *life) kind(was *sweep.Goroutine) int {
	switch was.State {
	case exectrace.Running:
		return runs
	case exectrace.Runnable:
		return ownQueue
	case exectrace.Syscall:
		return ownSyscall
	}
	switch was.Reason {
	case exectrace.NameNetwork:
		return ownNetwork
	case exectrace.NameSync, exectrace.NameCond:
		if l.gc {
			return ownOther // the collector
		}
		return ownLock
	case exectrace.NameChanSend, exectrace.NameChanReceive, exectrace.NameSelect:
		return ownChannel
	}
	return ownOther
}

func (x *tracer) keep(s *served, kind int, from, to timeline.Time) {
	if x.held < maxSpans && to > from {
		s.spans[kind] = append(s.spans[kind], timeline.Span{Start: from, End: to})
		x.held++
	}
}

// finish ends what the end of the trace cuts off.
func (x *tracer) finish(last timeline.Time) {
	x.out.Span.End = last
	x.leaveAll(last)
	for k := range x.out.program {
		u := &x.out.program[k]
		u.add(last, -u.n)
	}
	if x.held >= maxSpans {
		x.out.served = nil // of some requests only a part would be known
	}
	if slices.ContainsFunc(x.out.served, func(s *served) bool { return s.http }) {
		x.out.served = slices.DeleteFunc(x.out.served, func(s *served) bool { return !s.http })
	}
	x.out.Problems = x.r.Problems()
}

// Kinds returns what requests may have met: what the program did, the parts of
// the requests themselves, and what the goroutine did that served each, where
// [Traced.serving] can tell. The requests are on the trace's clock; off bounds
// how far they may be off it.
func (t *Traced) Kinds(r *Requests, off time.Duration) []Kind {
	var out []Kind
	for k := range t.program {
		if u := &t.program[k]; len(u.spans) > 0 && !u.full {
			out = append(out, Kind{Key: programNames[k].key, Name: programNames[k].name, Set: newSet(u.spans), Error: off})
		}
	}
	out = append(out, ofRequests()...)
	serving := t.serving(r, off)
	if len(serving) == 0 {
		return out
	}
	for k := range ownNames {
		out = append(out, Kind{Key: ownNames[k].key, Name: ownNames[k].name, Own: func(conn uint32) *Set {
			s := serving[conn]
			if s == nil {
				return nil
			}
			if s.sets[k] == nil {
				s.sets[k] = newSet(s.spans[k])
			}
			return s.sets[k]
		}})
	}
	return out
}

// Goroutines returns the goroutine that served each connection, where one
// stands out; see [Traced.Kinds] for the arguments.
func (t *Traced) Goroutines(r *Requests, off time.Duration) map[uint32]exectrace.GoID {
	out := map[uint32]exectrace.GoID{}
	for conn, s := range t.serving(r, off) {
		out[conn] = s.id
	}
	return out
}

// Which goroutine serves a connection no trace says. But the one that does is
// woken up by the network once for each request of the connection, between when
// that was sent and when it was answered (unless it finds the request there
// already), and it has run right before the answer came. Hardly any other
// goroutine does so again and again: the mean of the two shares must be this
// high, and that much higher than for any other goroutine.
const (
	minFit   = 0.4
	minAhead = 0.15
	minSends = 5
	// right before is within this time.
	rightBefore = 100 * time.Microsecond
	// Clocks that are further apart show nothing of this.
	maxApart = 50 * time.Microsecond
	// At least and at most this many requests of each connection are looked
	// at, of many connections fewer: maxFits in all.
	minLooked, maxLooked, maxFits = 20, 200, 20_000_000
)

// serving finds the goroutine that serves each connection, where one stands out.
func (t *Traced) serving(r *Requests, off time.Duration) map[uint32]*served {
	if off > maxApart || len(t.served) == 0 {
		return nil
	}
	byConn := map[uint32][]timeline.Span{}
	for i := range r.Start {
		sent := r.Start[i].Add(r.Late[i])
		if list := byConn[r.Conn[i]]; sent >= t.Span.Start && r.End[i] <= t.Span.End && len(list) < maxLooked {
			byConn[r.Conn[i]] = append(list, timeline.Span{Start: sent, End: r.End[i]})
		}
	}
	looked := min(max(maxFits/(len(byConn)*len(t.served)+1), minLooked), maxLooked)
	type pair struct {
		conn uint32
		s    *served
		fit  float64
	}
	var sure []pair
	for conn, list := range byConn {
		if len(list) < minSends {
			continue
		}
		slices.SortFunc(list, func(a, b timeline.Span) int { return cmp.Compare(a.Start, b.Start) })
		list = list[:min(len(list), looked)]
		best, second := pair{conn: conn}, 0.0
		for _, s := range t.served {
			switch fit := s.fit(list, off); {
			case fit > best.fit:
				second, best.fit, best.s = best.fit, fit, s
			case fit > second:
				second = fit
			}
		}
		if best.fit >= minFit && best.fit-second >= minAhead {
			sure = append(sure, best)
		}
	}
	slices.SortFunc(sure, func(a, b pair) int { return cmp.Or(cmp.Compare(b.fit, a.fit), cmp.Compare(a.conn, b.conn)) })
	out, taken := map[uint32]*served{}, map[*served]bool{}
	for _, p := range sure {
		if !taken[p.s] {
			out[p.conn], taken[p.s] = p.s, true
		}
	}
	return out
}

// fit says how well the goroutine's doings go with the requests of a connection.
func (s *served) fit(list []timeline.Span, off time.Duration) float64 {
	hits := 0
	at := func(t timeline.Time) int {
		i, _ := slices.BinarySearch(s.wakes, t)
		return i
	}
	ran := s.spans[runs]
	for _, q := range list {
		if at(q.End.Add(off))-at(q.Start.Add(-off)) == 1 {
			hits++
		}
		i, _ := slices.BinarySearchFunc(ran, q.End.Add(off), func(span timeline.Span, t timeline.Time) int { return cmp.Compare(span.Start, t) })
		if i > 0 && ran[i-1].End >= q.End.Add(-rightBefore-off) {
			hits++
		}
	}
	return float64(hits) / float64(2*len(list))
}
