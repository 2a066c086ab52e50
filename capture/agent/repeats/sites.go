package repeats

import "sync/atomic"

// A call of a function of another module is counted where it is made: that function is not of the source that tells. Its
// arguments are told before the call, and its results behind it; who panics in between leaves nothing behind.

// Site is such a call that has begun.
type Site struct {
	gr     *Goroutine
	id     uint32
	traits traits
	key    uint64
	size   int64
	args   []any
	start  int64
	over   int64 // of the goroutine at the start
}

// Calls that are too cheap are looked at no more: fewAtSite of them have to take worthCounting on average, and none may
// cost siteSpent more than it takes, nor all of them together sitesSpent.
const (
	fewAtSite     = 32
	worthCounting = 2_000 // ns
	siteSpent     = 30_000_000
	sitesSpent    = 3_000_000_000
)

var spentOnSites atomic.Int64

// Args are a receiver and arguments.
type Args = []any

// At begins a call with the receiver and the arguments, which given returns: they are made values of interfaces, which takes memory, only where
// the call is counted. Nil means that it is not: nothing around it is.
func At(id uint32, given func() Args) *Site {
	f := &fns[id]
	if !counting || f.off.Load() {
		return nil
	}
	gr := present()
	if gr == nil || len(gr.stack) == 0 {
		return nil
	}
	t := now()
	var args Args
	if given != nil {
		args = given()
	}
	defer safely()()
	h, seen := ofArgs(args, false)
	s := &Site{gr: gr, id: id, args: args, traits: seen}
	s.key, s.size = h.sum(), h.size
	s.start = now()
	gr.mu.Lock()
	gr.over += s.start - t
	s.over = gr.over
	gr.mu.Unlock()
	f.spent.Add(min(s.start-t, longestLook))
	return s
}

// present is the goroutine that runs, if it is in a counted call.
func present() *Goroutine {
	at := g()
	s := &shards[(at>>7)%uintptr(len(shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gs[at]
}

// Returns1 ends a call of a function with one result, which it returns.
func Returns1[A any](s *Site, a A) A {
	if s != nil {
		s.leave(a)
	}
	return a
}

// Returns ends a call with its results.
func (s *Site) Returns(results ...any) {
	if s != nil {
		s.leave(results...)
	}
}

func (s *Site) leave(results ...any) {
	t := now()
	gr, f := s.gr, &fns[s.id]
	net := max(0, t-s.start-(gr.over-s.over))
	defer safely()()
	n, ns := f.calls.Add(1), f.ns.Add(net)
	c := call{ns: net, outer: true, judged: true, size: s.size}
	c.result(false, results)
	c.given(s.args, false, s.key, s.traits)
	f.countEverywhere(c)
	gr.mu.Lock()
	gr.told(s.id, &c)
	d := now() - t
	gr.over += d
	gr.mu.Unlock()
	spent := f.spent.Add(min(d, longestLook))
	all := spentOnSites.Add(now() - t)
	if n == fewAtSite && ns < worthCounting*n || spent > siteSpent+2*ns || all > sitesSpent {
		if f.cut.CompareAndSwap(0, now()) {
			f.off.Store(true)
		}
	}
}
