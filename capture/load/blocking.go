package load

import (
	"context"
	"runtime"
	"sync"
	"time"

	"loupe/capture/load/plan"
	"loupe/capture/load/target"
	"loupe/format/loadlog"
)

// carrier is a connection that takes one request after the other, for a
// goroutine that waits for the answer.
type carrier interface {
	// roundTrip sends what c says and reads the answer, whose last byte
	// came at the instant that is returned. more tells that the connection
	// can take another request.
	roundTrip(ctx context.Context, c *call) (end int64, more bool, err error)
	// alive tells whether a connection that was idle can be written to, as far as
	// that is known without writing.
	alive() bool
	// record is what is kept of the connection.
	record() *loadlog.Connection
	// interrupt makes roundTrip return early; any goroutine may call it.
	interrupt()
	close()
}

// blocking is the engine with a goroutine for every connection. It works on
// every system, and with everything that has a net.Conn or is hidden behind
// net/http.
type blocking struct {
	r    *run
	dial func(ctx context.Context, o *origin) (carrier, error)

	crews []*crew
	share float64
	// waited is for how long threads waited for a CPU in the last phase, where
	// told.
	waited time.Duration
	told   bool

	mu       sync.Mutex
	carriers map[carrier]struct{}
}

// crew is the goroutines that share a lane.
type crew struct {
	b *blocking
	*lane
	slots []*slot
	idle  []*slot // in an open loop; the last one was the last to be busy
	over  bool    // no more turns come
	wait  sync.WaitGroup
}

// slot is one goroutine and its connections, one for each origin.
type slot struct {
	crew     *crew
	call     call
	carriers []carrier
	wake     chan turn // closed at the end of a phase
}

func newBlocking(r *run) *blocking {
	b := &blocking{r: r, carriers: map[carrier]struct{}{}}
	b.dial = b.dialHTTP1
	if r.Engine == engineHTTP2 {
		b.dial = newHTTP2(r).dial
	}
	for _, l := range r.lanes {
		b.crews = append(b.crews, &crew{b: b, lane: l})
	}
	for i := range r.Concurrency {
		b.crews[i%len(b.crews)].hire()
	}
	return b
}

// hire adds a slot.
func (w *crew) hire() *slot {
	s := &slot{crew: w, carriers: make([]carrier, len(w.r.origins))}
	s.call.values = target.NewValues(w.r.stream(uint64(w.id)<<32 | uint64(len(w.slots))))
	w.slots = append(w.slots, s)
	return s
}

func (b *blocking) threads() int  { return runtime.GOMAXPROCS(0) }
func (b *blocking) busy() float64 { return b.share }

// delay is the sum of all threads: no goroutine belongs to one.
func (b *blocking) delay() (sum time.Duration, known bool) { return b.waited, b.told }

// openAtOnce is how many connections are opened at a time, so that the queue
// of connections that the server has not accepted yet does not run over.
const openAtOnce = 32

// open dials for each slot, until the first failure: what is wrong then is
// told by the requests.
func (b *blocking) open(ctx context.Context) {
	if b.r.NoKeepAlive {
		return
	}
	var slots []*slot
	for _, w := range b.crews {
		slots = append(slots, w.slots...)
	}
	b.r.openAll(ctx, len(slots), func(ctx context.Context, i int) error {
		for n, o := range b.r.origins {
			if _, err := slots[i].connect(ctx, n, o); err != nil {
				return err
			}
		}
		return nil
	})
}

// openAll calls dial for 0 to n-1, some at a time, until one fails.
func (r *run) openAll(ctx context.Context, n int, dial func(ctx context.Context, i int) error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if r.Timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, r.Timeout)
		defer cancel()
	}
	var wait sync.WaitGroup
	defer wait.Wait()
	places := make(chan struct{}, openAtOnce)
	for i := range n {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return
		}
		wait.Go(func() {
			if dial(ctx, i) != nil {
				cancel()
			}
			<-places
		})
	}
}

func (b *blocking) carry(ctx context.Context, p *phase) {
	stop := context.AfterFunc(ctx, b.interrupt)
	defer stop()
	before, delay, begun := takeUsage(), takeRunDelay(), time.Now()
	for _, w := range b.crews {
		w.over = false
		for _, s := range w.slots {
			s.wake = make(chan turn, 1)
			w.wait.Go(func() { s.work(ctx, p, nil) })
		}
		if b.r.Plan != nil { // last, because it may hire
			w.wait.Go(func() { w.pace(ctx, p) })
		}
	}
	for _, w := range b.crews {
		w.wait.Wait()
	}
	b.waited, b.told = takeRunDelay().since(delay)
	// No thread can be asked how long it waited, the process can.
	used := takeUsage().since(before)
	b.share = min(1, used.cpu.Seconds()/time.Since(begun).Seconds()/float64(b.threads()))
}

func (b *blocking) interrupt() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.carriers {
		c.interrupt()
	}
}

func (b *blocking) close() {
	for _, w := range b.crews {
		for _, s := range w.slots {
			for n := range s.carriers {
				s.hangUp(n, loadlog.AtEnd)
			}
		}
	}
}

// pace hands out the turns of an open loop: to a connection that is idle, to a
// new one while there may be more, and else to the queue.
func (w *crew) pace(ctx context.Context, p *phase) {
	a := newAlarm(ctx)
	defer a.close()
	for !w.ended {
		if end := p.end.Load(); w.next.begin >= end {
			break
		}
		if !a.wait(w.r.at(w.next.begin)) {
			break
		}
		w.mu.Lock()
		for {
			t, ok := w.take(w.r.now())
			if !ok {
				break
			}
			w.give(ctx, p, t)
		}
		w.mu.Unlock()
	}
	// What is in the queue is sent until the end, and not after it.
	if end := p.end.Load(); end != noEnd && w.queued() {
		a.wait(w.r.at(end))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.end.Load() != noEnd || ctx.Err() != nil {
		w.giveUp()
	}
	w.over = true
	for _, s := range w.idle {
		close(s.wake)
	}
	w.idle = nil
}

func (w *crew) queued() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queue.len() > 0
}

// give finds someone for a turn.
func (w *crew) give(ctx context.Context, p *phase, t turn) {
	if n := len(w.idle); n > 0 {
		s := w.idle[n-1]
		w.idle = w.idle[:n-1]
		s.wake <- t
		return
	}
	if len(w.slots) < part(w.r.MaxConns, w.id, len(w.r.lanes)) {
		s := w.hire()
		s.wake = make(chan turn, 1)
		first := t // t itself would be allocated for every turn
		w.wait.Go(func() { s.work(ctx, p, &first) })
		return
	}
	w.queue.push(t)
}

// part is thread i's part of n things.
func part(n, i, of int) int { return (n + of - 1 - i) / of }

// work carries requests until there are none left; first is one that is due
// already.
func (s *slot) work(ctx context.Context, p *phase, first *turn) {
	for ctx.Err() == nil {
		var t turn
		ok := true
		switch {
		case first != nil:
			t, first = *first, nil
		case s.crew.turns != nil:
			t, ok = s.turn(ctx)
		default:
			t.target = plan.AnyTarget
			t.begin = s.crew.r.now()
			t.seq, ok = p.claim(t.begin)
		}
		if !ok {
			return
		}
		s.do(ctx, t)
		if think := s.crew.r.Think; think > 0 {
			sleep(ctx, min(think, time.Duration(p.end.Load()-s.crew.r.now())))
		}
	}
}

// turn waits for the next turn of an open loop.
func (s *slot) turn(ctx context.Context) (t turn, ok bool) {
	w := s.crew
	w.mu.Lock()
	if t, ok = w.queue.pop(); ok || w.over {
		w.mu.Unlock()
		return t, ok
	}
	w.idle = append(w.idle, s)
	w.mu.Unlock()
	select {
	case t, ok = <-s.wake:
		return t, ok
	case <-ctx.Done():
		return t, false
	}
}

// do carries one request and keeps what became of it.
func (s *slot) do(ctx context.Context, t turn) {
	w, c := s.crew, &s.call
	now := t.begin
	if w.turns != nil {
		now = w.r.now()
	}
	c.start(w.r, t, now)
	if w.like.due(now) {
		w.mu.Lock()
		w.like.begin(c, now)
		w.mu.Unlock()
	}
	w.inFlight.Add(1)
	end, err := s.carry(ctx, c)
	w.inFlight.Add(-1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && ctx.Err() != nil {
		w.abandon(c, end) // given up, not failed
		return
	}
	w.finish(c, end, err)
}

// carry sends a request over the slot's own connection and follows its
// redirects.
func (s *slot) carry(ctx context.Context, c *call) (end int64, err error) {
	r, n := s.crew.r, c.m.number
	for {
		if k := s.carriers[n]; k != nil && !k.alive() {
			s.hangUp(n, loadlog.ByServer) // before anything was sent
		}
		if s.carriers[n] == nil {
			took, err := s.connectFor(ctx, c, n)
			c.dialled.add(took)
			if err != nil {
				return r.now(), err
			}
		}
		k := s.carriers[n]
		record := k.record()
		c.conn = record.ID
		end, more, err := k.roundTrip(ctx, c)
		used := record.Requests > 0
		record.Requests++
		if err != nil {
			s.hangUp(n, loadlog.ByFailure)
			if ctx.Err() == nil && c.retry(r, err) {
				continue
			}
			return max(end, r.now()), c.dropped(used, err)
		}
		if r.NoKeepAlive {
			s.hangUp(n, loadlog.ByRequest)
		} else if !more {
			s.hangUp(n, loadlog.ByServer)
		}
		again, err := c.answered(r, end)
		if c.far != nil && again {
			return s.crew.b.follow(ctx, c)
		}
		if !again {
			return end, err
		}
	}
}

// follow follows redirects to places that no target has, each over a
// connection of its own.
func (b *blocking) follow(ctx context.Context, c *call) (end int64, err error) {
	for again := true; again; {
		o := c.far
		if o == nil { // and back
			o = c.m.origin
		}
		k, err := b.dialBy(ctx, c, o)
		if err != nil {
			return b.r.now(), err
		}
		k.record().Requests++
		end, _, err = k.roundTrip(ctx, c)
		why := loadlog.ByRequest
		if err != nil {
			why = loadlog.ByFailure
		}
		b.drop(k, why)
		if err != nil {
			return b.r.now(), err
		}
		if again, err = c.answered(b.r, end); err != nil {
			return end, err
		}
	}
	return end, nil
}

// connectFor opens the connection that a request needs, within its time.
func (s *slot) connectFor(ctx context.Context, c *call, n int) (dialling, error) {
	ctx, cancel := s.crew.r.within(ctx, c)
	defer cancel()
	return s.connect(ctx, n, c.m.origin)
}

// within is ctx until the deadline of a request.
func (r *run) within(ctx context.Context, c *call) (context.Context, context.CancelFunc) {
	if c.deadline == noEnd {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, r.at(c.deadline))
}

// dialBy opens a connection within the time of a request, and counts it in.
func (b *blocking) dialBy(ctx context.Context, c *call, o *origin) (carrier, error) {
	within, cancel := b.r.within(ctx, c)
	defer cancel()
	begun := b.r.now()
	k, err := b.dial(within, o)
	if err != nil {
		c.dialled.add(dialling{whole: time.Duration(b.r.now() - begun)})
		return nil, err
	}
	c.dialled.add(took(k))
	b.adopt(ctx, k)
	return k, nil
}

// took is how long it took to open a connection.
func took(k carrier) dialling {
	f := k.record()
	return dialling{f.Dial, f.DNS, f.TLS}
}

// connect opens the slot's connection to an origin.
func (s *slot) connect(ctx context.Context, n int, o *origin) (dialling, error) {
	begun := s.crew.r.now()
	k, err := s.crew.b.dial(ctx, o)
	if err != nil {
		return dialling{whole: time.Duration(s.crew.r.now() - begun)}, err
	}
	s.carriers[n] = k
	s.crew.b.adopt(ctx, k)
	return took(k), nil
}

// adopt lets interrupt reach a connection.
func (b *blocking) adopt(ctx context.Context, k carrier) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.carriers[k] = struct{}{}
}

func (s *slot) hangUp(n int, why loadlog.Closing) {
	if k := s.carriers[n]; k != nil {
		s.carriers[n] = nil
		s.crew.b.drop(k, why)
	}
}

func (b *blocking) drop(k carrier, why loadlog.Closing) {
	b.mu.Lock()
	delete(b.carriers, k)
	b.mu.Unlock()
	k.close()
	b.r.closed(k.record(), why)
}

// sleep waits for d, or returns false when ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}
