package load

import (
	"cmp"
	"math"
	"slices"
	"time"

	"loupe/value/stats"
)

// Snapshot is how a run is going.
type Snapshot struct {
	// Warmup tells that nothing is kept yet. Elapsed and the counts are
	// those of the warm-up then, and begin again after it.
	Warmup  bool
	Elapsed time.Duration
	// Requests have ended so far, Errors of them failed.
	Requests, Errors int64
	// Due requests of an open loop have had their time so far, Queued of
	// them wait because all connections are busy.
	Due    int64
	Queued int
	// InFlight requests are being answered, on Connections that are open.
	InFlight, Connections int
	// Since the last snapshot: how many requests a second were due, 0 in a
	// closed loop, and have ended; and the times of the answers since they were
	// due, without the requests that failed.
	Intended, Achieved float64
	Latency            *stats.Histogram
	// Lag is the median of how late requests were sent.
	Lag time.Duration
	// Busy is the share of the time since the last snapshot that the busiest
	// thread did not wait.
	Busy float64
	// Failures are what went wrong so far, the most common first.
	Failures []Failure
}

// Failure is one way in which requests fail: without an answer, or with a
// status from 400 on.
type Failure struct {
	Status int    // 0 without an answer
	Error  string // empty with one
	Count  int64
}

// liveInterval is the time between two snapshots.
const liveInterval = 250 * time.Millisecond

// window is what happened in a lane since it was handed out last. A lane has
// two of them that change hands by atomic pointers: it fills one, hands it out
// and goes on with the other, which the watcher has given back. Neither side
// waits for the other. Measured: keeping a request takes 37 ns
// with and without (BenchmarkFinish).
type window struct {
	latency, service, lag stats.Histogram
	phase                 *phase
	done, failed, due     int64 // of the phase
	queued                int
	waited                int64 // see lane
	shown                 int64 // when it was handed out
	failures              map[failure]int64
}

// failure is a [Failure] without its count.
type failure struct {
	status int
	text   string
}

// maxFailures bounds how many of them are told apart.
const maxFailures = 100

// fail counts a failure, in a window or in all of them.
func fail(m *map[failure]int64, f failure, n int64) {
	if _, ok := (*m)[f]; !ok && len(*m) >= maxFailures {
		f = failure{text: "other errors"}
	}
	if *m == nil {
		*m = map[failure]int64{}
	}
	(*m)[f] += n
}

// show hands the window out, unless the last one has not been looked at yet.
func (l *lane) show(now int64) {
	l.shown = now
	if l.published.Load() != nil {
		return
	}
	w := l.window
	w.phase, w.done, w.failed, w.due, w.queued = l.phase, l.done, l.failed, l.due, l.queue.len()
	w.waited, w.shown = l.waited, now
	if l.window = l.spare.Swap(nil); l.window == nil {
		l.window = new(window)
	}
	l.published.Store(w)
}

// publish shows the window when it is time, and returns how long it is until
// it is time again.
func (l *lane) publish(now int64) (wait int64) {
	if l.window == nil {
		return noEnd
	}
	if now-l.shown >= int64(liveInterval) {
		l.show(now)
	}
	return int64(liveInterval) - (now - l.shown)
}

// watcher adds up what the lanes hand out.
type watcher struct {
	r      *run
	counts []window // the last of each lane
	phase  *phase
	last   Snapshot
	at     int64
	second stats.Histogram // service times, for the warm-up
	parts  int
	before int64 // the median of the second before

	failures map[failure]int64 // of the phase
	used     usage             // at the last snapshot
	busy     float64
}

// watch begins to look after the run, if anyone wants to know, and returns
// what ends it.
func (r *run) watch() (stop func()) {
	if r.Live == nil && r.Warmup != AutoWarmup {
		return func() {}
	}
	for _, l := range r.lanes {
		l.window = new(window)
	}
	w := &watcher{r: r, counts: make([]window, len(r.lanes)), at: r.now()}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(liveInterval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				w.look(r.Engine != engineEpoll)
			case <-done:
				w.look(true) // the lanes stand still
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// look makes a snapshot. With lock it looks into the lanes itself; loops are
// not disturbed and show themselves.
func (w *watcher) look(lock bool) {
	p := w.r.phase.Load()
	if p == nil {
		return // connections are being opened
	}
	now := w.r.now()
	if p != w.phase {
		w.phase, w.last, w.at, w.used, w.busy = p, Snapshot{}, p.from, takeUsage(), 0
		clear(w.counts)
		clear(w.failures)
	}
	s := Snapshot{Warmup: !p.keep, Elapsed: time.Duration(now - p.from), Latency: new(stats.Histogram), Connections: int(w.r.active.Load())}
	var lag stats.Histogram
	busy := 0.0
	for i, l := range w.r.lanes {
		busy = max(busy, w.gather(&s, &lag, i))
		if lock {
			l.mu.Lock()
			l.show(now)
			l.mu.Unlock()
			busy = max(busy, w.gather(&s, &lag, i))
		}
		c := &w.counts[i]
		s.Requests += c.done
		s.Errors += c.failed
		s.Due += c.due
		s.Queued += c.queued
		s.InFlight += int(l.inFlight.Load())
	}
	passed := time.Duration(now - w.at)
	if passed < liveInterval/4 && w.last.Elapsed > 0 {
		// The last look comes whenever the run ends: too soon for a rate.
		s.Intended, s.Achieved = w.last.Intended, w.last.Achieved
	} else if passed > 0 {
		s.Intended = float64(s.Due-w.last.Due) / passed.Seconds()
		s.Achieved = float64(s.Requests-w.last.Requests) / passed.Seconds()
	}
	s.Lag = time.Duration(lag.Quantile(0.5))
	s.Busy, s.Failures = w.share(busy, now), w.worst()
	w.last, w.at = s, now
	w.settle(p, now)
	if w.r.Live != nil {
		w.r.Live(s)
	}
}

// share returns how busy the sender is: a loop knows, and of goroutines that
// nobody can ask there is the CPU time of the process.
func (w *watcher) share(busy float64, now int64) float64 {
	if w.r.Engine != engineEpoll {
		used := takeUsage()
		if passed := now - w.at; passed > 0 {
			busy = min(1, float64(used.since(w.used).cpu)/float64(passed)/float64(w.r.engine.threads()))
		}
		w.used = used
	} else if busy == 0 { // no loop has shown itself
		busy = w.busy
	}
	w.busy = busy
	return busy
}

// worst returns the failures so far, the most common first.
func (w *watcher) worst() []Failure {
	var list []Failure
	for f, n := range w.failures {
		list = append(list, Failure{f.status, f.text, n})
	}
	slices.SortFunc(list, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Status, b.Status), cmp.Compare(a.Error, b.Error))
	})
	return list
}

// gather takes what lane i has handed out, if it has, adds it, and gives the
// window back.
func (w *watcher) gather(s *Snapshot, lag *stats.Histogram, i int) (busy float64) {
	l := w.r.lanes[i]
	x := l.published.Load()
	if x == nil {
		return 0
	}
	if x.phase == w.phase {
		busy = w.add(s, lag, i, x)
	}
	x.latency.Reset()
	x.service.Reset()
	x.lag.Reset()
	clear(x.failures)
	l.published.Store(nil)
	l.spare.Store(x)
	return busy
}

// add adds what lane i has handed out, and returns how busy its thread was
// since it did the last time.
func (w *watcher) add(s *Snapshot, lag *stats.Histogram, i int, x *window) (busy float64) {
	s.Latency.Merge(&x.latency)
	lag.Merge(&x.lag)
	if w.r.Plan == nil {
		w.second.Merge(&x.latency)
	} else {
		w.second.Merge(&x.service)
	}
	for f, n := range x.failures {
		fail(&w.failures, f, n)
	}
	c := &w.counts[i]
	if passed := x.shown - max(c.shown, w.phase.from); passed > 0 {
		busy = min(max(0, 1-float64(x.waited-c.waited)/float64(passed)), 1)
	}
	c.done, c.failed, c.due, c.queued = x.done, x.failed, x.due, x.queued
	c.waited, c.shown = x.waited, x.shown
	return busy
}

// alike is how much the medians of two seconds may differ for the warm-up to
// be over.
const alike = 0.05

// longestWarmup ends a warm-up that finds no two seconds alike.
const longestWarmup = 10 * time.Second

// settle ends an automatic warm-up when the service answers evenly.
func (w *watcher) settle(p *phase, now int64) {
	if w.parts++; p.keep || w.r.Warmup != AutoWarmup || w.parts < int(time.Second/liveInterval) {
		return
	}
	median := w.second.Quantile(0.5)
	if w.before > 0 && math.Abs(float64(median-w.before)) <= alike*float64(w.before) {
		p.end.Store(now)
	}
	w.before, w.parts = median, 0
	w.second.Reset()
}
