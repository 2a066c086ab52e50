// Package load puts HTTP load on a service and keeps every request.
//
// Without a schedule the model is the closed loop: each connection sends its
// next request when the last one is answered. Given a plan or a rate, requests
// have their times, and the time that a request waited for a connection
// counts: a server that stalls does not slow the clock down.
//
// Requests are carried by one of three engines: an event loop on Linux's epoll
// for plain HTTP/1.1, a goroutine per connection for everything that HTTP/1.1
// can do on every system, and net/http's pinned connections for HTTP/2 and
// gRPC. What to send when, and what is kept of it, is the same for all of
// them; so is package http1, which reads and writes the bytes.
//
// The figures that follow from the requests are package loadlog's. It runs no
// scripts, opens no browser and keeps no answers.
package load

import (
	"cmp"
	"context"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"loupe/capture/load/target"
	"loupe/format/loadlog"
	"loupe/value/secret"
	"loupe/value/timeline"
)

// gcPercent is that of loupe while it sends: the generator's own collections
// must not look like the server's latency.
const gcPercent = 800

// run is a load run in progress: what all of its threads share.
type run struct {
	Config
	messages []*message
	origins  []*origin
	order    target.Order
	dialer   *dialer
	builder  loadlog.Builder
	lanes    []*lane
	engine   engine
	base     time.Time // the zero of now
	kept     int64     // when the phase began that is kept; 0 before
	phase    atomic.Pointer[phase]
	ids      atomic.Uint32
	resent   atomic.Int64 // how often requests were sent again
	active   atomic.Int64 // connections, for whoever watches
}

// engine carries requests.
type engine interface {
	// open makes connections before the clock starts; what it does not
	// manage is made when it is needed.
	open(ctx context.Context)
	// carry sends the requests of a phase and returns when all of them
	// are answered, or ctx has ended.
	carry(ctx context.Context, p *phase)
	// close ends all connections.
	close()
	// busy is the share of the last phase that the busiest thread did not
	// wait, 0 when unknown.
	busy() float64
	// delay is for how long the threads that send had no CPU in the last phase
	// although they could have run: the worst of them, or the sum where nobody
	// can tell them apart.
	delay() (d time.Duration, known bool)
	// threads is how many there are that send.
	threads() int
}

// now returns nanoseconds since the run was set up.
func (r *run) now() int64 { return int64(time.Since(r.base)) }

// at turns an instant of now into a time.
func (r *run) at(instant int64) time.Time { return r.base.Add(time.Duration(instant)) }

// Run sends the load and returns what happened to every request. When Duration
// is over, requests in flight are finished; when ctx ends, they are given up:
// those that have waited longer than any answer took are kept as such, the others
// are counted. An error says that nothing could be sent; failed requests are
// no error.
func Run(ctx context.Context, c Config) (*loadlog.Log, error) {
	r, err := newRun(ctx, c)
	if err != nil {
		return nil, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	defer r.engine.close()
	r.engine.open(ctx)
	stop := r.watch()
	warm := r.warmUp(ctx)
	if r.Boundary != nil {
		r.Boundary()
	}
	before := takeUsage()
	p := r.newPhase(true)
	start, monotonic := r.at(p.from), monotonicAt(r.base)+p.from
	r.engine.carry(ctx, p)
	elapsed := time.Duration(r.now() - p.from)
	used := takeUsage().since(before)
	busy := r.engine.busy()
	delay, delayKnown := r.engine.delay()
	if r.Boundary != nil {
		r.Boundary()
	}
	stop()
	r.engine.close()
	underWay := r.settle()
	if r.Series != nil {
		r.Series.add(p.first + p.claimed() - r.Series.sent)
	}
	h := r.header()
	h.Start, h.Monotonic, h.BootID = start, monotonic, bootID()
	if monotonic == p.from {
		h.Monotonic = 0
	}
	h.Warmup, h.Elapsed, h.CPU, h.GCs, h.Busy = warm, elapsed, used.cpu, used.gcs, busy
	if delayKnown {
		h.RunDelay = &delay
	}
	h.UnderWay, h.Retry, h.Resent = underWay, r.Retry, r.resent.Load()
	closing := int64(0)
	for _, l := range r.lanes {
		h.Unsent += l.unsent
		h.ServedLength += l.served
		closing += l.closing
	}
	if r.Engine != engineHTTP2 { // there it is a frame of the connection
		h.Closing = &closing
	}
	h.Likeness = likenesses(r.lanes)
	log, err := r.builder.Log(h)
	if err != nil {
		log.Notes = append(log.Notes, err.Error())
	}
	for i, text := range log.Errors {
		log.Errors[i] = secret.Text(text)
	}
	return log, nil
}

// newRun checks what is asked for and sets everything up that can fail.
func newRun(ctx context.Context, c Config) (*run, error) {
	r, err := setUp(c)
	if err != nil {
		return nil, err
	}
	if err := r.choose(r.origins); err != nil {
		return nil, err
	}
	if err := r.checkRemote(ctx); err != nil {
		return nil, err
	}
	r.builder.Spill, r.builder.Memory = c.Spill, spillAbove
	for i := range r.Loops {
		r.lanes = append(r.lanes, &lane{r: r, id: i, rec: r.builder.Recorder()})
	}
	if r.Engine == engineEpoll {
		r.engine, err = newEpoll(r)
	} else {
		r.engine = newBlocking(r)
	}
	return r, err
}

// setUp makes a run that knows what to send and how to get there, and has no
// engine.
func setUp(c Config) (*run, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	r := &run{Config: c, base: time.Now()}
	var err error
	if r.messages, r.origins, err = c.newMessages(); err != nil {
		return nil, err
	}
	weights := make([]int, len(c.Targets))
	for i, t := range c.Targets {
		weights[i] = t.Weight
	}
	r.order = target.NewOrder(weights)
	r.dialer = newDialer(&r.Config)
	return r, nil
}

// warmUp sends load that is not kept, and returns for how long.
func (r *run) warmUp(ctx context.Context) time.Duration {
	if r.Warmup == 0 {
		return 0
	}
	p := r.newPhase(false)
	end := p.from + int64(r.Warmup)
	if r.Warmup == AutoWarmup {
		end = p.from + int64(longestWarmup)
	}
	p.end.Store(end)
	r.engine.carry(ctx, p)
	return time.Duration(r.now() - p.from)
}

// newPhase begins a phase now.
func (r *run) newPhase(keep bool) *phase {
	p := &phase{keep: keep, from: r.now(), limit: noEnd, first: r.begins()}
	if before := r.phase.Load(); before != nil { // the warm-up
		p.first = r.afterWarmUp(before)
	}
	p.end.Store(noEnd)
	if keep {
		r.kept = p.from
		if r.Requests > 0 {
			p.limit = int64(r.Requests)
		}
		if r.Duration > 0 {
			p.end.Store(p.from + int64(r.Duration))
		}
	}
	for _, l := range r.lanes {
		l.begin(p)
	}
	r.phase.Store(p)
	return p
}

// header fills in what was asked for. What is secret in addresses does not leave
// the run: they are shown, saved and passed on.
func (r *run) header() loadlog.Header {
	h := loadlog.Header{
		Schema: loadlog.Schema, Tool: r.Tool, URL: r.URL, Method: r.Method, Concurrency: r.Concurrency,
		Requests: r.Requests, Duration: r.Duration, Rate: r.Rate, Open: r.Plan != nil,
		Model: r.model(), Engine: r.Engine, Threads: r.engine.threads(),
	}
	h.URL = secret.URL(cmp.Or(h.URL, r.messages[0].address.String()))
	several := len(r.messages) > 1
	for i, m := range r.messages {
		if !several && !m.varies() {
			continue
		}
		t := loadlog.Target{Method: m.method, URL: secret.URL(m.address.String())}
		if several {
			t.Weight = max(1, r.Targets[i].Weight)
		}
		h.Targets = append(h.Targets, t)
	}
	for _, o := range r.origins {
		if o.scheme == "https" && !r.VerifyTLS {
			h.Notes = append(h.Notes, "the server's certificate was not verified")
			break
		}
	}
	if strings.Contains(r.Engine, "http") && r.GRPC {
		h.Model += ", gRPC"
	}
	return h
}

// connected returns the record of a connection that was opened at an instant.
func (r *run) connected(opened int64, took dialling, port uint16) loadlog.Connection {
	r.active.Add(1)
	return loadlog.Connection{
		ID: r.ids.Add(1) - 1, Opened: timeline.Time(opened), Dial: took.whole, DNS: took.dns, TLS: took.tls, LocalPort: port,
	}
}

// closed keeps the record of a connection that ends now. Those that ended
// before the run that is kept are nobody's business.
func (r *run) closed(c *loadlog.Connection, why loadlog.Closing) {
	r.active.Add(-1)
	if r.kept == 0 {
		return
	}
	k := *c
	k.Opened = timeline.Time(int64(c.Opened) - r.kept)
	k.Closed = timeline.Time(r.now() - r.kept)
	k.Why = why
	r.builder.Connect(k)
}
