package web

import (
	"context"
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
		if s.sources.lookAt(rest, func() bool { return p.ready(now, system.CPUTime()) }) {
			s.sources.hub.send(notice{Kind: "sources"})
		}
		if rest && s.opts.List != nil && s.sources.relist(ctx, s.opts.List()) {
			s.sources.hub.send(notice{Kind: "sources"})
		}
	}
}
