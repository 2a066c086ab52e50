// Package forward sends every profile that a store has taken in to another server as well: an
// existing Pyroscope, which goes on to have all of them.
//
//	f := forward.New(send, forward.Options{})
//	engine = f.Around(engine)
//	f.Run(ctx)
//
// What is sent is what was written: counters are differences by then. It waits in a queue that
// is bounded; a server that is slow or away delays nobody, and what the queue has no room for
// is dropped and told of.
package forward

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"loupe/capture/remote"
	"loupe/format/profile"
	"loupe/format/push"
	"loupe/store"
)

// Options are those of New. The zero value is fine.
type Options struct {
	Profiles int // most that wait; 0 means 10,000
	Samples  int // and most samples of all of them; 0 means 5 million, some 100 MB
	// Tell is called with what people must know: that the server is away, and is back, and how
	// many profiles were dropped.
	Tell func(format string, args ...any)
	// Drain is how long Run goes on at the end with what waits; 0 means 5 s.
	Drain time.Duration
}

// The most that is sent at once, by how many, and how long they wait after a failure.
const (
	batch    = 32
	workers  = 4
	minDelay = time.Second
	maxDelay = time.Minute
)

// remembered is how many IDs of profiles are known to have been sent.
const remembered = 20_000

// Forwarder has the queue.
type Forwarder struct {
	send func(ctx context.Context, items ...push.Item) error
	opt  Options

	mu      sync.Mutex
	waiting []*store.Profile
	samples int
	more    chan struct{} // has one in it when something waits
	known   map[store.ID]bool
	ids     []store.ID
	lost    int64 // dropped, and not told yet
	away    bool
	said    time.Time // when it was told last why a profile was left out
}

// New makes a Forwarder. Send is [remote.Server.Push].
func New(send func(ctx context.Context, items ...push.Item) error, opt Options) *Forwarder {
	if opt.Profiles == 0 {
		opt.Profiles = 10_000
	}
	if opt.Samples == 0 {
		opt.Samples = 5_000_000
	}
	if opt.Tell == nil {
		opt.Tell = func(string, ...any) {}
	}
	if opt.Drain == 0 {
		opt.Drain = 5 * time.Second
	}
	return &Forwarder{send: send, opt: opt, more: make(chan struct{}, 1), known: map[store.ID]bool{}}
}

// Around is an engine all of whose written profiles are forwarded, once they are durable.
func (f *Forwarder) Around(e store.Engine) store.Engine { return &forwarding{e, f} }

type forwarding struct {
	store.Engine
	f *Forwarder
}

// Write is that of [store.Engine].
func (e *forwarding) Write(ctx context.Context, profiles []*store.Profile) error {
	err := e.Engine.Write(ctx, profiles)
	if err == nil {
		e.f.add(profiles)
	}
	return err
}

// add puts profiles into the queue, or drops them where there is no room. It never waits.
func (f *Forwarder) add(profiles []*store.Profile) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range profiles {
		if p.ID != (store.ID{}) {
			if f.known[p.ID] {
				continue // sent again by its client
			}
			f.remember(p.ID)
		}
		if len(f.waiting) >= f.opt.Profiles || len(f.waiting) > 0 && f.samples+p.Samples.Len() > f.opt.Samples {
			f.lost++
			continue
		}
		f.waiting = append(f.waiting, p)
		f.samples += p.Samples.Len()
	}
	f.signal()
}

func (f *Forwarder) remember(id store.ID) {
	f.known[id] = true
	if f.ids = append(f.ids, id); len(f.ids) > remembered {
		delete(f.known, f.ids[0])
		f.ids = f.ids[1:]
	}
}

// signal wakes a worker.
func (f *Forwarder) signal() {
	if len(f.waiting) > 0 {
		select {
		case f.more <- struct{}{}:
		default:
		}
	}
}

// take takes the oldest profiles out of the queue.
func (f *Forwarder) take() []*store.Profile {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := min(batch, len(f.waiting))
	list := append([]*store.Profile(nil), f.waiting[:n]...)
	clear(f.waiting[:n])
	f.waiting = f.waiting[n:]
	for _, p := range list {
		f.samples -= p.Samples.Len()
	}
	f.signal()
	return list
}

// Run sends what waits until ctx ends, and then for a moment longer what is left.
func (f *Forwarder) Run(ctx context.Context) {
	late, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	context.AfterFunc(ctx, func() {
		t := time.AfterFunc(f.opt.Drain, stop)
		context.AfterFunc(late, func() { t.Stop() })
	})
	var running sync.WaitGroup
	for range workers {
		running.Go(func() { f.work(ctx, late) })
	}
	every := time.NewTicker(time.Minute)
	defer every.Stop()
	running.Go(func() {
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-every.C:
				f.tellLost()
			}
		}
	})
	running.Wait()
	f.mu.Lock()
	f.lost += int64(len(f.waiting))
	f.waiting, f.samples = nil, 0
	f.mu.Unlock()
	f.tellLost()
}

// work sends batches. After ctx it sends what is left, until late.
func (f *Forwarder) work(ctx, late context.Context) {
	for late.Err() == nil {
		list := f.take()
		if len(list) > 0 {
			f.deliver(ctx, late, list)
			continue
		}
		if ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-f.more:
		}
	}
}

// deliver sends profiles again and again until they are accepted, refused for good, or it is
// too late.
func (f *Forwarder) deliver(ctx, late context.Context, list []*store.Profile) {
	items := make([]push.Item, 0, len(list))
	for _, p := range list {
		one, err := itemOf(p)
		if err != nil {
			f.drop(1, err)
			continue
		}
		items = append(items, one)
	}
	for delay := minDelay; len(items) > 0; delay = min(2*delay, maxDelay) {
		err := f.send(late, items...)
		if err == nil {
			f.accepted()
			return
		}
		if refused := (*remote.Refused)(nil); errors.As(err, &refused) && refused.Final() {
			if len(items) == 1 {
				f.drop(1, err)
				return
			}
			for i := range items { // one of them is wrong
				f.one(late, items[i])
			}
			return
		}
		if late.Err() == nil {
			f.failed(err)
		}
		// What everybody waits for is not tried by all at the same moment.
		select {
		case <-late.Done():
			f.drop(len(items), nil)
			return
		case <-ctx.Done():
			if delay > minDelay { // there is no time for another try
				f.drop(len(items), nil)
				return
			}
		case <-time.After(delay/2 + rand.N(delay/2)):
		}
	}
}

// one sends one profile of a batch that was refused.
func (f *Forwarder) one(ctx context.Context, item push.Item) {
	if err := f.send(ctx, item); err != nil {
		f.drop(1, err)
		return
	}
	f.accepted()
}

func (f *Forwarder) accepted() {
	f.mu.Lock()
	back := f.away
	f.away = false
	f.mu.Unlock()
	if back {
		f.opt.Tell("forward: the server answers again")
		f.tellLost()
	}
}

func (f *Forwarder) failed(err error) {
	f.mu.Lock()
	first, waiting := !f.away, len(f.waiting)
	f.away = true
	f.mu.Unlock()
	if first {
		f.opt.Tell("forward: %v (retrying; %d profiles queued, at most %d)", err, waiting, f.opt.Profiles)
	}
}

// drop counts profiles that are lost, and says why where it is known: once a minute.
func (f *Forwarder) drop(n int, err error) {
	f.mu.Lock()
	f.lost += int64(n)
	say := err != nil && time.Since(f.said) >= time.Minute
	if say {
		f.said = time.Now()
	}
	f.mu.Unlock()
	if say {
		f.opt.Tell("forward: dropped a profile: %v", err)
	}
}

// tellLost says how many were dropped since the last time.
func (f *Forwarder) tellLost() {
	f.mu.Lock()
	n := f.lost
	f.lost = 0
	f.mu.Unlock()
	if n > 0 {
		f.opt.Tell("forward: dropped %d profiles, which are stored here only", n)
	}
}

// itemOf is a profile as it is pushed, with the labels that Pyroscope wants.
func itemOf(p *store.Profile) (push.Item, error) {
	var kept []int
	name := ""
	for i, t := range p.Types {
		if t != (store.Type{}) {
			kept = append(kept, i)
			name = t.Name
		}
	}
	q := *p.Samples
	q.SampleTypes, q.Values = nil, nil
	for _, i := range kept {
		t := p.Types[i]
		q.SampleTypes = append(q.SampleTypes, profile.ValueType{Type: t.Sample, Unit: t.Unit})
		q.Values = append(q.Values, p.Samples.Values[i])
		q.PeriodType = profile.ValueType{Type: t.Period, Unit: t.PeriodUnit}
	}
	q.Time, q.Duration, q.DefaultSampleType = p.Time, p.Duration, ""
	var out bytes.Buffer
	if err := q.Encode(&out); err != nil {
		return push.Item{}, fmt.Errorf("cannot encode a profile of %s: %w", p.Labels, err)
	}
	labels := []push.Label{{Name: "__name__", Value: name}}
	for n, v := range p.Labels.All() {
		labels = append(labels, push.Label{Name: n, Value: v})
	}
	id := ""
	if p.ID != (store.ID{}) {
		id = fmt.Sprintf("%x-%x-%x-%x-%x", p.ID[:4], p.ID[4:6], p.ID[6:8], p.ID[8:10], p.ID[10:]) // Pyroscope wants a UUID
	}
	// What another loupe serve would make differences of is marked as one already.
	labels = append(labels, push.Label{Name: "__delta__", Value: "false"})
	return push.Item{Labels: labels, ID: id, Profile: out.Bytes()}, nil
}
