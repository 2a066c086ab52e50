package web

import (
	"context"
	"slices"
	"time"

	"loupe/source/system"
)

const (
	// watchEvery is how often sources that grow are looked at.
	watchEvery = 100 * time.Millisecond
	// restEvery is how often those are that do not seem to grow any more, and
	// folders for new ones.
	restEvery = time.Second
	// paceLeast is the least time between two notices of one change: five a
	// second. Where CPU time cannot be measured, it is paceBlind.
	paceLeast = 200 * time.Millisecond
	paceBlind = time.Second
	// paceShare is what showing a recording that grows may take of one core.
	// Every notice makes the pages ask anew, and the rules look again: the more
	// that costs, the longer the pages wait.
	paceShare = 0.2
)

// pace decides when pages may be told that a source has changed.
type pace struct {
	last time.Time
	cpu  time.Duration // that the program had used then
}

// ready tells whether the last notice has been paid for, now that the program
// has used this much CPU time; 0 is not known.
func (p *pace) ready(now time.Time, cpu time.Duration) bool {
	least := paceLeast
	switch {
	case cpu == 0:
		least = paceBlind
	case cpu > p.cpu:
		least = max(least, time.Duration(float64(cpu-p.cpu)/paceShare))
	}
	if now.Sub(p.last) < least {
		return false
	}
	p.last, p.cpu = now, cpu
	return true
}

// watch looks for sources that have changed, and for new ones.
func (s *Server) watch(ctx context.Context) {
	var p pace
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	rested := time.Now()
	for {
		var now time.Time
		select {
		case <-ctx.Done():
			return
		case now = <-tick.C:
		}
		rest := now.Sub(rested) >= restEvery
		if rest {
			rested = now
		}
		if s.lookAt(rest, func() bool { return p.ready(now, system.CPUTime()) }) {
			s.hub.send(notice{Kind: "sources"})
		}
		if rest && s.opts.List != nil && s.relist(ctx) {
			s.hub.send(notice{Kind: "sources"})
		}
	}
}

// lookAt looks at the sources that may have changed, and tells of those that
// have as soon as that is due; true when one has begun or ceased to be written.
func (s *Server) lookAt(rest bool, due func() bool) (turned bool) {
	s.mu.Lock()
	subjects := s.subjects
	s.mu.Unlock()
	asked, ready := false, false
	for _, sub := range subjects {
		if sub.Changed == nil || !sub.live() && !rest {
			continue
		}
		state, live := sub.Changed()
		if sub.seen == state && sub.live() == live {
			continue
		}
		if !asked {
			asked, ready = true, due()
		}
		if !ready {
			continue
		}
		sub.seen = state
		turned = sub.setLive(live) || turned
		s.hub.send(notice{Kind: "changed", Source: sub.id, Version: sub.changed()})
	}
	return turned
}

// relist adds the sources that were not there before, and leaves out those that
// are there no more: a recording that has become a zip file. Who looks at one of
// them still can.
func (s *Server) relist(ctx context.Context) (news bool) {
	list := s.opts.List()
	if list == nil {
		return false // the folder itself cannot be read
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known, there := map[string]bool{}, map[string]bool{}
	for _, sub := range s.subjects {
		known[sub.Name] = true
	}
	for _, src := range list {
		there[src.Name] = true
		if !known[src.Name] {
			s.add(ctx, src)
			known[src.Name], news = true, true
		}
	}
	for _, sub := range s.subjects {
		if sub.gone == there[sub.Name] {
			sub.gone, news = !sub.gone, true
		}
	}
	return news
}

// listed are the sources that are there. The caller holds s.mu.
func (s *Server) listed() []*subject {
	return slices.DeleteFunc(slices.Clone(s.subjects), func(sub *subject) bool { return sub.gone })
}
