package load

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"loupe/capture/load/plan"
	"loupe/format/loadlog"
	"loupe/value/timeline"
)

// noEnd is an instant that never comes.
const noEnd = math.MaxInt64

// phase is a part of a run: the warm-up, or what is kept.
type phase struct {
	keep  bool
	from  int64        // when it began
	end   atomic.Int64 // no request begins from here on
	limit int64        // of requests; noEnd for none
	first int64        // the number of the first request
	taken atomic.Int64
}

// turn is the turn of a request.
type turn struct {
	begin  int64 // when it is due
	target int   // or plan.AnyTarget
	seq    int64 // its number in the run, or the series
}

// claim takes the number of the next request, unless there is none any more.
func (p *phase) claim(now int64) (seq int64, ok bool) {
	if now >= p.end.Load() {
		return 0, false
	}
	n := p.taken.Add(1) - 1
	return p.first + n, n < p.limit
}

// lane is what requests share that are sent by one thread: their turns, what
// is kept of them, and counters. An engine whose goroutines share a lane
// locks mu around its methods; in a loop there is only one.
type lane struct {
	r     *run
	id    int
	mu    sync.Mutex
	rec   *loadlog.Recorder
	phase *phase

	// Of an open loop: what is due next, and what is due and not sent.
	turns plan.Turns
	next  turn
	ended bool // there are no more turns
	queue queue

	unsent int64
	// slowest is the longest that an answer took, abandoned what was under way
	// when the run was ended.
	slowest   int64
	abandoned []loadlog.Request
	like      likeness
	served    int64
	closing   int64 // answers that said that the connection is to be closed

	// For whoever watches: counts of the phase, and what happened since the
	// last look (live.go).
	done, failed, due int64
	inFlight          atomic.Int64
	waited            int64 // for how long a loop had nothing to do, in the phase
	window            *window
	shown             int64 // when the window was handed out last
	published, spare  atomic.Pointer[window]
}

// begin readies the lane for a phase.
func (l *lane) begin(p *phase) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phase, l.queue, l.ended = p, queue{}, false
	l.done, l.failed, l.due = 0, 0, 0
	if l.r.Plan != nil {
		l.turns = l.r.Plan.Part(l.id, len(l.r.lanes))
		l.advance()
	}
}

// advance looks up the next turn.
func (l *lane) advance() {
	t, ok := l.turns.Next()
	l.next = turn{begin: l.phase.from + int64(t.Due), target: t.Target}
	l.ended = l.ended || !ok || l.next.begin >= l.phase.end.Load()
}

// take returns the turn that is due, if one is.
func (l *lane) take(now int64) (t turn, ok bool) {
	if l.ended || l.next.begin > now {
		return turn{}, false
	}
	t = l.next
	if t.begin >= l.phase.end.Load() { // it was brought forward
		l.ended = true
		return turn{}, false
	}
	if t.seq, ok = l.phase.claim(t.begin); !ok {
		l.ended = true
		return turn{}, false
	}
	l.due++
	l.advance()
	return t, true
}

// giveUp counts what was due and is not going to be sent.
func (l *lane) giveUp() {
	if l.phase.keep {
		l.unsent += int64(l.queue.len())
	}
	l.queue = queue{}
}

// finish keeps what became of a request.
func (l *lane) finish(c *call, end int64, err error) {
	l.done++
	l.like.end(c, err == nil)
	if err != nil {
		l.failed++
	}
	if w := l.window; w != nil {
		if err == nil { // a failure after 3 ms is no answer within 3 ms
			w.latency.Add(end - c.begin)
			if l.turns != nil {
				w.service.Add(end - c.sent)
			}
		}
		if l.turns != nil {
			w.lag.Add(c.sent - c.begin)
		}
		if err != nil {
			fail(&w.failures, failure{text: plain(err)}, 1)
		} else if c.status >= 400 {
			fail(&w.failures, failure{status: c.status}, 1)
		}
	}
	if !l.phase.keep {
		return
	}
	q := l.row(c, end)
	if err != nil {
		q.Status, q.Error = 0, l.r.builder.Fault(plain(err))
	} else {
		l.slowest = max(l.slowest, end-c.begin)
	}
	l.served += c.served
	l.closing += c.closing
	l.rec.Add(&q)
}

// abandon notes a request that was under way when the run was ended.
func (l *lane) abandon(c *call, now int64) {
	l.like.end(c, false)
	if l.phase.keep {
		q := l.row(c, now)
		q.Status = 0
		l.abandoned = append(l.abandoned, q)
	}
}

// settle decides on the requests that were under way when the run was ended. One
// that has waited longer than any answer took is kept as given up: left out, it
// would make a service that hangs look like one that is fast. Of the others nothing
// is known that the answers do not tell; they are counted.
func (r *run) settle() (underWay int64) {
	slowest := int64(0)
	for _, l := range r.lanes {
		slowest = max(slowest, l.slowest)
	}
	for _, l := range r.lanes {
		for i := range l.abandoned {
			q := &l.abandoned[i]
			if int64(q.Latency()) <= slowest {
				underWay++
				continue
			}
			q.Error = r.builder.Fault(loadlog.GivenUp)
			l.rec.Add(q)
		}
		l.abandoned = nil
	}
	return underWay
}

// row is what is kept of a request that ends at an instant.
func (l *lane) row(c *call, end int64) loadlog.Request {
	q := loadlog.Request{
		Begin: timeline.Time(c.begin - l.phase.from), Service: c.service(end),
		Dial: c.dialled.whole, DNS: c.dialled.dns, TLS: c.dialled.tls,
		Write: time.Duration(c.write), Read: time.Duration(c.read),
		Conn: c.conn, Target: uint16(c.target), Status: uint16(c.status), Hops: uint8(c.hops), Bytes: c.bytes,
	}
	if l.turns != nil {
		q.Late = time.Duration(c.sent - c.begin)
	}
	return q
}

// queue holds turns that are due while all connections are busy: their times
// stay what they were.
type queue struct {
	turns []turn
	head  int
}

func (q *queue) len() int { return len(q.turns) - q.head }

func (q *queue) push(t turn) {
	if q.head > 0 && len(q.turns) == cap(q.turns) { // make room before growing
		q.turns = q.turns[:copy(q.turns, q.turns[q.head:])]
		q.head = 0
	}
	q.turns = append(q.turns, t)
}

func (q *queue) pop() (t turn, ok bool) {
	if q.len() == 0 {
		return turn{}, false
	}
	t = q.turns[q.head]
	if q.head++; q.head == len(q.turns) {
		q.turns, q.head = q.turns[:0], 0
	}
	return t, true
}
