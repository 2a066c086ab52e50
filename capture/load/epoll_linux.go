//go:build !loupe_portable

package load

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"loupe/capture/load/internal/http1"
	"loupe/capture/load/plan"
	"loupe/capture/load/target"
	"loupe/format/loadlog"
	"loupe/source/system"
)

const haveEpoll = true

// epoll is the engine of event loops: threads that do nothing but write and
// read on sockets that never block. What can wait, looking up names and
// opening connections, is done by goroutines that hand the sockets over.
//
// Note: io_uring was measured and takes 3 to 4 % more CPU time for this, and
// containers forbid it by default.
type epoll struct {
	r     *run
	loops []*loop
	// fallback follows redirects to places that a loop cannot go to.
	fallback *blocking
}

func newEpoll(r *run) (engine, error) {
	e := &epoll{r: r, fallback: &blocking{r: r, carriers: map[carrier]struct{}{}}}
	e.fallback.dial = e.fallback.dialHTTP1
	for _, l := range r.lanes {
		p, err := newLoop(e, l)
		if err != nil {
			e.close()
			return nil, err
		}
		e.loops = append(e.loops, p)
	}
	for i := range r.Concurrency {
		e.loops[i%len(e.loops)].hire()
	}
	return e, nil
}

func (e *epoll) threads() int { return len(e.loops) }

func (e *epoll) busy() (share float64) {
	for _, p := range e.loops {
		share = max(share, p.share)
	}
	return share
}

func (e *epoll) delay() (longest time.Duration, known bool) {
	for _, p := range e.loops {
		if !p.known {
			return 0, false
		}
		longest = max(longest, p.delay)
	}
	return longest, len(e.loops) > 0
}

func (e *epoll) open(ctx context.Context) {
	type place struct {
		s *seat
		n int
	}
	var places []place
	for i := range e.r.Concurrency {
		p := e.loops[i%len(e.loops)]
		for n := range e.r.origins {
			places = append(places, place{p.seats[i/len(e.loops)], n})
		}
	}
	e.r.openAll(ctx, len(places), func(ctx context.Context, i int) error {
		at := places[i]
		s, err := e.dial(ctx, e.r.origins[at.n])
		if err == nil {
			at.s.p.deliver(parcel{seat: at.s, socket: s, origin: at.n})
		}
		return err
	})
}

// socket is a connection whose descriptor is a loop's own.
type socket struct {
	fd   int
	fact loadlog.Connection
}

// dial opens a connection and takes its descriptor away from net.
func (e *epoll) dial(ctx context.Context, o *origin) (*socket, error) {
	opened := e.r.now()
	conn, took, err := e.r.dialer.dial(ctx, o)
	if err != nil {
		return nil, err
	}
	defer conn.Close() // of two descriptors of one connection
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &socket{}
	var failed error
	if err := raw.Control(func(fd uintptr) { s.fd, failed = duplicate(fd) }); err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: conn.RemoteAddr(), Err: failed}
	}
	s.fact = e.r.connected(opened, took, localPort(conn))
	return s, nil
}

func (e *epoll) carry(ctx context.Context, p *phase) {
	stop := context.AfterFunc(ctx, func() {
		e.fallback.interrupt()
		for _, l := range e.loops {
			l.stopped.Store(true)
			ring(l.bell)
		}
	})
	defer stop()
	var wait sync.WaitGroup
	for _, l := range e.loops {
		wait.Go(func() {
			// The thread ends with the goroutine, and its exact timers.
			runtime.LockOSThread()
			exactTimers()
			l.measured(ctx)
		})
	}
	wait.Wait()
}

func (e *epoll) close() {
	for _, l := range e.loops {
		l.close()
	}
	e.loops = nil
}

// loop is a thread with its connections.
type loop struct {
	*lane
	e      *epoll
	poll   poller
	bell   int // rung when there is something in the box
	head   http1.Head
	values *target.Values
	buf    []byte
	share  float64
	delay  time.Duration // that this thread waited for a CPU, in the phase
	known  bool          // it is

	seats []*seat
	idle  []*seat // the last one was the last to be busy
	conns []*conn // by the key of their events; nil where one is free
	free  []int32
	busy  int
	// awaited is the requests that are written, in the order of their
	// deadlines; thinking the seats that pause, by when they go on.
	awaited, thinking timers

	stopped atomic.Bool
	dials   sync.WaitGroup
	mail    sync.Mutex
	box     []parcel
}

// seat is a place for one request at a time, with its connections, one for
// each origin.
type seat struct {
	p     *loop
	call  call
	conns []*conn
	sent  bool // it has a request under way
	// on is what carries the request now; nil while it is dialled for or
	// followed elsewhere.
	on *conn
	// Of timers.
	next, before *seat
	when         int64
	in           *timers
}

// conn is a socket of a seat.
type conn struct {
	socket
	seat   *seat
	origin int
	key    int32
	rest   []byte // of the request, when the socket took only a part
	asked  int64
	idle   int64 // since when nothing is asked
}

// parcel is what a goroutine hands to a loop: a socket, or a request that was
// followed to its end.
type parcel struct {
	seat   *seat
	socket *socket
	origin int
	took   dialling
	forOne bool // dialled for the seat's request
	done   bool
	end    int64
	err    error
}

func newLoop(e *epoll, l *lane) (*loop, error) {
	p := &loop{lane: l, e: e, buf: make([]byte, largeBuffer), values: target.NewValues(l.r.stream(uint64(l.id)))}
	var err error
	if p.poll.fd, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("cannot watch connections: %w", err)
	}
	if p.bell, err = newBell(); err != nil {
		syscall.Close(p.poll.fd)
		return nil, fmt.Errorf("cannot watch connections: %w", err)
	}
	return p, p.poll.add(p.bell, bellKey)
}

const bellKey = -1

func (p *loop) hire() *seat {
	s := &seat{p: p, conns: make([]*conn, len(p.r.origins))}
	s.call.values = p.values
	p.seats = append(p.seats, s)
	return s
}

// deliver hands a parcel over and wakes the loop up.
func (p *loop) deliver(x parcel) {
	p.mail.Lock()
	p.box = append(p.box, x)
	first := len(p.box) == 1
	p.mail.Unlock()
	if first {
		ring(p.bell)
	}
}

// measured is run, with what the system knows of the thread: a thread that waits for
// a CPU looks busy to itself.
func (p *loop) measured(ctx context.Context) {
	before, known := system.ThreadSchedStat()
	begun := p.r.now()
	p.run(ctx)
	length := time.Duration(p.r.now() - begun)
	after, also := system.ThreadSchedStat()
	p.known = known && also
	if p.delay = after.Waited - before.Waited; p.known && length > 0 {
		p.share = min(1, float64(after.Ran-before.Ran)/float64(length))
	}
}

// run carries the requests of a phase.
func (p *loop) run(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	p.waited, p.idle = 0, p.idle[:0]
	p.unpack(ctx)
	now := p.r.now()
	begun := now
	for i := len(p.seats) - 1; i >= 0; i-- {
		p.rest(ctx, p.seats[i], now)
	}
	for !p.stopped.Load() {
		now = p.r.now()
		wait := p.turnsAt(ctx, now)
		wait = min(wait, p.timeouts(ctx, now), p.think(ctx, now), p.publish(now))
		if p.busy == 0 && p.over(now) {
			break
		}
		events := p.poll.ready()
		if len(events) == 0 && wait > 0 {
			events = p.sleep(wait, now)
		}
		for i := range events {
			if key := events[i].Fd; key == bellKey {
				p.unpack(ctx)
			} else {
				p.event(ctx, p.conns[key], events[i].Events)
			}
		}
	}
	p.giveUp()
	if length := p.r.now() - begun; length > 0 {
		p.share = 1 - float64(p.waited)/float64(length)
	}
	p.abandonAll()
}

// abandonAll notes what is under way when the run is ended.
func (p *loop) abandonAll() {
	now := p.r.now()
	p.dials.Wait() // they write to calls, and have been told to end
	for _, s := range p.seats {
		if s.sent {
			s.sent = false
			p.abandon(&s.call, now)
		}
	}
}

// sleep waits for events, for ns after now.
//
// Note: a thread wakes up 25 µs after its time here. Waking up earlier by that
// much and looking at the clock until it is time sends half of the requests
// within 0.5 µs on a CPU of its own; where other programs want the CPU it is
// sent behind them for it, and 200 µs late.
func (p *loop) sleep(ns, now int64) []syscall.EpollEvent {
	before := p.r.now()
	if ns != noEnd {
		ns = max(0, ns-(before-now))
	}
	events := p.poll.wait(ns)
	p.waited += p.r.now() - before
	return events
}

// over tells that no more requests begin.
func (p *loop) over(now int64) bool {
	if p.turns == nil {
		return p.thinking.first == nil // whoever had no turn is idle
	}
	return p.ended && p.queue.len() == 0
}

// turnsAt gives what is due to whoever can send it, and returns how long it is
// until the next turn.
func (p *loop) turnsAt(ctx context.Context, now int64) (wait int64) {
	if p.turns == nil {
		return noEnd
	}
	most := part(p.r.MaxConns, p.id, len(p.r.lanes))
	for {
		t, ok := p.take(now)
		if !ok {
			break
		}
		switch {
		case len(p.idle) > 0:
			s := p.idle[len(p.idle)-1]
			p.idle = p.idle[:len(p.idle)-1]
			p.send(ctx, s, t)
		case len(p.seats) < most:
			p.send(ctx, p.hire(), t)
		default:
			p.queue.push(t)
		}
	}
	end := p.phase.end.Load()
	if p.queue.len() > 0 && now >= end {
		p.giveUp()
	}
	switch {
	case p.queue.len() > 0 && end != noEnd:
		return max(0, end-now)
	case p.ended || len(p.idle) == 0 && len(p.seats) >= most:
		return noEnd // nobody can send it before another answer has come
	}
	return max(0, p.next.begin-now)
}

// rest lets a seat begin its next request, or wait for it.
func (p *loop) rest(ctx context.Context, s *seat, now int64) {
	if p.turns != nil {
		if t, ok := p.queue.pop(); ok {
			p.send(ctx, s, t)
			return
		}
		p.idle = append(p.idle, s)
		return
	}
	if seq, ok := p.phase.claim(now); ok {
		p.send(ctx, s, turn{begin: now, target: plan.AnyTarget, seq: seq})
		return
	}
	p.idle = append(p.idle, s)
}

// send begins a request.
func (p *loop) send(ctx context.Context, s *seat, t turn) {
	now := t.begin
	if p.turns != nil {
		now = p.r.now()
	}
	p.busy++
	p.inFlight.Store(int64(p.busy))
	s.sent = true
	s.call.start(p.r, t, now)
	p.like.begin(&s.call, now)
	p.ask(ctx, s, now)
}

// ask writes the seat's request, over a new connection if there is none.
func (p *loop) ask(ctx context.Context, s *seat, now int64) {
	k := s.conns[s.call.m.number]
	if k != nil && now-k.idle >= int64(idleCheck) && p.gone(k) {
		p.hangUp(k, loadlog.ByServer) // before anything was sent
		k = nil
	}
	if k == nil {
		p.dial(ctx, s)
		return
	}
	s.on, k.asked = k, now
	s.call.conn = k.fact.ID
	s.call.ask(&p.head)
	if s.call.deadline != noEnd {
		p.awaited.add(s, s.call.deadline)
	}
	k.rest = s.call.request
	p.write(ctx, k)
}

// gone tells that the server has closed a connection on which nothing is asked, or
// says something on its own.
func (p *loop) gone(k *conn) bool {
	_, errno := readFD(k.fd, p.buf)
	return errno != syscall.EAGAIN && errno != syscall.EINTR
}

// write writes what the socket takes.
func (p *loop) write(ctx context.Context, k *conn) {
	whole := len(k.rest) == len(k.seat.call.request)
	n, errno := writeFD(k.fd, k.rest)
	switch {
	case errno == syscall.EAGAIN || errno == syscall.EINTR:
		n = 0
	case errno != 0:
		p.failed(ctx, k, errno)
		return
	}
	k.rest = k.rest[n:]
	now := p.r.now()
	k.seat.call.write += now - k.asked
	k.asked = now
	if len(k.rest) > 0 {
		p.poll.writable(k.fd, k.key, true)
	} else if !whole {
		p.poll.writable(k.fd, k.key, false)
	}
}

// dial has a connection opened for the seat's request.
func (p *loop) dial(ctx context.Context, s *seat) {
	s.on = nil
	p.dials.Go(func() {
		within, cancel := p.r.within(ctx, &s.call)
		defer cancel()
		begun := p.r.now()
		x := parcel{seat: s, origin: s.call.m.number, forOne: true}
		x.socket, x.err = p.e.dial(within, s.call.m.origin)
		x.took.whole = time.Duration(p.r.now() - begun)
		if x.err == nil {
			x.took = dialling{x.took.whole, x.socket.fact.DNS, x.socket.fact.TLS}
		}
		p.deliver(x)
	})
}

// follow has a redirect followed to where the loop cannot go.
func (p *loop) follow(ctx context.Context, s *seat) {
	s.on = nil
	p.dials.Go(func() {
		x := parcel{seat: s, done: true}
		x.end, x.err = p.e.fallback.follow(ctx, &s.call)
		p.deliver(x)
	})
}

// unpack takes what goroutines have delivered.
func (p *loop) unpack(ctx context.Context) {
	readFD(p.bell, p.buf[:8])
	p.mail.Lock()
	box := p.box
	p.box = nil
	p.mail.Unlock()
	for _, x := range box {
		if x.socket != nil {
			p.attach(&x)
		}
		switch s := x.seat; {
		case x.done:
			p.finished(ctx, s, x.end, x.err)
		case x.forOne:
			now := p.r.now()
			s.call.dialled.add(x.took)
			if x.err != nil {
				p.finished(ctx, s, now, x.err)
			} else {
				p.ask(ctx, s, now)
			}
		}
	}
}

// attach makes a socket a connection of its seat.
func (p *loop) attach(x *parcel) {
	k := &conn{socket: *x.socket, seat: x.seat, origin: x.origin, idle: p.r.now()}
	if n := len(p.free); n > 0 {
		k.key = p.free[n-1]
		p.free = p.free[:n-1]
		p.conns[k.key] = k
	} else {
		k.key = int32(len(p.conns))
		p.conns = append(p.conns, k)
	}
	if err := p.poll.add(k.fd, k.key); err != nil {
		p.hangUp(k, loadlog.ByFailure)
		x.err = fmt.Errorf("cannot watch a connection: %w", err)
		return
	}
	x.seat.conns[x.origin] = k
}

// event reads what has come.
func (p *loop) event(ctx context.Context, k *conn, events uint32) {
	if k == nil {
		return // it was hung up by an event before
	}
	s := k.seat
	n, errno := readFD(k.fd, p.buf)
	if s.on != k { // nothing was asked
		if n <= 0 && errno != syscall.EAGAIN && errno != syscall.EINTR || n > 0 {
			p.hangUp(k, loadlog.ByServer)
		}
		return
	}
	switch {
	case errno == syscall.EAGAIN || errno == syscall.EINTR:
		if events&syscall.EPOLLOUT != 0 && len(k.rest) > 0 {
			k.asked = p.r.now()
			p.write(ctx, k)
		}
		return
	case errno != 0:
		p.failed(ctx, k, errno)
		return
	case n == 0:
		now := p.r.now()
		if done, err := s.call.parser.End(); !done {
			p.failed(ctx, k, err)
		} else {
			p.answered(ctx, k, now, false)
		}
		return
	}
	now := p.r.now()
	done, clean, err := s.call.feed(p.buf[:n], now)
	if err != nil {
		p.failed(ctx, k, err)
	} else if done {
		p.answered(ctx, k, now, clean && !s.call.parser.Close() && len(k.rest) == 0 && events&syscall.EPOLLRDHUP == 0)
	}
}

// answered goes on after a whole answer.
func (p *loop) answered(ctx context.Context, k *conn, now int64, more bool) {
	s := k.seat
	k.fact.Requests++
	k.idle = now
	p.awaited.remove(s)
	if !more {
		p.hangUp(k, loadlog.ByServer)
	}
	s.on = nil
	again, err := s.call.answered(p.r, now)
	switch {
	case !again:
		p.finished(ctx, s, now, err)
	case s.call.far != nil:
		p.follow(ctx, s)
	default:
		p.ask(ctx, s, p.r.now())
	}
}

// failed ends a connection on which a request failed, and the request unless
// it can be sent again.
func (p *loop) failed(ctx context.Context, k *conn, err error) {
	s := k.seat
	used := k.fact.Requests > 0
	k.fact.Requests++
	p.awaited.remove(s)
	p.hangUp(k, loadlog.ByFailure)
	s.on = nil
	if s.call.retry(p.r, err) {
		p.dial(ctx, s)
		return
	}
	p.finished(ctx, s, p.r.now(), s.call.dropped(used, err))
}

// finished keeps a request and lets its seat go on.
func (p *loop) finished(ctx context.Context, s *seat, end int64, err error) {
	p.busy--
	p.inFlight.Store(int64(p.busy))
	s.sent = false
	if err != nil && ctx.Err() != nil {
		p.abandon(&s.call, end) // given up, not failed
		return
	}
	p.finish(&s.call, end, err)
	if think := p.r.Think; think > 0 {
		p.thinking.add(s, end+int64(think))
		return
	}
	p.rest(ctx, s, end)
}

// hangUp ends a connection.
func (p *loop) hangUp(k *conn, why loadlog.Closing) {
	syscall.Close(k.fd) // which takes it out of epoll, too
	p.conns[k.key] = nil
	p.free = append(p.free, k.key)
	if k.seat.conns[k.origin] == k {
		k.seat.conns[k.origin] = nil
	}
	p.r.closed(&k.fact, why)
}

// timeouts fails the requests whose time is over, and returns how long it is
// until the next one's.
func (p *loop) timeouts(ctx context.Context, now int64) (wait int64) {
	for s := p.awaited.first; s != nil; s = p.awaited.first {
		if s.when > now {
			return s.when - now
		}
		p.failed(ctx, s.on, errTimeout)
	}
	return noEnd
}

// think lets seats go on that have paused, and returns how long it is until
// the next one does. Pauses end with the phase.
func (p *loop) think(ctx context.Context, now int64) (wait int64) {
	end := p.phase.end.Load()
	for s := p.thinking.first; s != nil; s = p.thinking.first {
		if s.when > now && now < end {
			return min(s.when, end) - now
		}
		p.thinking.remove(s)
		p.rest(ctx, s, now)
	}
	return noEnd
}

// close ends everything; goroutines that dial have been told to.
func (p *loop) close() {
	p.dials.Wait()
	p.mail.Lock()
	for i := range p.box {
		if s := p.box[i].socket; s != nil {
			p.attach(&p.box[i])
		}
	}
	p.mail.Unlock()
	for _, k := range p.conns {
		if k != nil {
			p.hangUp(k, loadlog.AtEnd)
		}
	}
	syscall.Close(p.bell)
	syscall.Close(p.poll.fd)
}

// timers is a list of seats in the order of their instants. As all of them
// wait equally long, adding at the end is all there is to do, nearly always.
type timers struct{ first, last *seat }

func (t *timers) add(s *seat, when int64) {
	s.when, s.in = when, t
	at := t.last
	for at != nil && at.when > when {
		at = at.before
	}
	s.before = at
	if at == nil {
		s.next, t.first = t.first, s
	} else {
		s.next, at.next = at.next, s
	}
	if s.next == nil {
		t.last = s
	} else {
		s.next.before = s
	}
}

func (t *timers) remove(s *seat) {
	if s.in != t {
		return
	}
	if s.before == nil {
		t.first = s.next
	} else {
		s.before.next = s.next
	}
	if s.next == nil {
		t.last = s.before
	} else {
		s.next.before = s.before
	}
	s.next, s.before, s.in = nil, nil, nil
}
