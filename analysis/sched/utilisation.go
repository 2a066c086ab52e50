package sched

import (
	"loupe/format/exectrace"
	"loupe/value/timeline"
)

// leftOver is what the collector leaves to the program of its Ps, over time.
type leftOver struct {
	perProc, compat bool // see [MutatorOptions]

	procs    []mutatorProc
	busy     int // how many of procs have work > 0
	stw      int // stop-the-worlds in progress
	history  []procCount
	steps    [][]UtilStep
	earliest timeline.Time
}

// mutatorProc is a P.
type mutatorProc struct {
	work   int // things done for the collector
	series int // its index in steps
}

// procCount is a change of GOMAXPROCS.
type procCount struct {
	time timeline.Time
	n    int
}

// maxProcs is more than any machine has. A damaged trace may say more.
const maxProcs = 1 << 16

// reset forgets what was in progress: a trace that begins anew.
func (l *leftOver) reset(at timeline.Time) {
	l.earliest = at
	l.stw, l.busy = 0, 0
	for i := range l.procs {
		l.procs[i].work = 0
	}
	l.step(at)
}

// stop is the begin (d = 1) or the end (d = -1) of a stop-the-world.
func (l *leftOver) stop(d int, at timeline.Time) {
	l.stw += d
	l.step(at)
}

// resize is a change of GOMAXPROCS, or the first word of it.
func (l *leftOver) resize(n int, at timeline.Time) {
	for len(l.procs) > n {
		p := l.procs[len(l.procs)-1]
		l.procs = l.procs[:len(l.procs)-1]
		if p.work > 0 {
			l.busy--
		}
		if l.perProc {
			l.steps[p.series] = l.end(l.steps[p.series], at)
		}
	}
	for len(l.procs) < n {
		series := 0
		if l.perProc || len(l.steps) == 0 {
			series = len(l.steps)
			l.steps = append(l.steps, []UtilStep{{at, 1}})
		}
		l.procs = append(l.procs, mutatorProc{series: series})
	}
	if k := len(l.history); n > 0 && (k == 0 || l.history[k-1].n != n) {
		l.history = append(l.history, procCount{at, n})
	}
	l.step(at)
}

// backdate takes the share of a P away from the beginning on: what it is found
// doing now, it has been doing all the time.
func (l *leftOver) backdate(p exectrace.ProcID) {
	if l.perProc {
		if p < 0 || int(p) >= len(l.procs) || l.compat {
			return
		}
		if s := l.steps[l.procs[p].series]; len(s) == 1 { // it was not heard of yet
			s[0].Util = 0
		}
		return
	}
	h := l.history
	for i := range l.steps[0] {
		s := &l.steps[0][i]
		for len(h) > 1 && h[1].time < s.Time {
			h = h[1:]
		}
		if s.Time >= l.earliest {
			s.Util = max(0, s.Util-float64(1)/float64(h[0].n))
		}
	}
}

// work adds to what a P does for the collector.
func (l *leftOver) work(id exectrace.ProcID, d int, at timeline.Time) {
	if id < 0 || int(id) >= len(l.procs) { // a damaged trace
		return
	}
	p := &l.procs[id]
	was := p.work > 0
	p.work += d
	if !l.compat {
		p.work = max(0, p.work)
	}
	switch is := p.work > 0; {
	case is && !was:
		l.busy++
	case was && !is:
		l.busy--
	}
	l.step(at)
}

// step notes what is left to the program now.
func (l *leftOver) step(at timeline.Time) {
	if len(l.procs) == 0 {
		return
	}
	if !l.perProc {
		busy := l.busy
		if l.stw > 0 {
			busy = len(l.procs)
		}
		l.steps[0] = addStep(l.steps[0], at, 1-float64(busy)/float64(len(l.procs)))
		return
	}
	for _, p := range l.procs {
		util := 1.0
		if l.stw > 0 || p.work > 0 {
			util = 0
		}
		l.steps[p.series] = addStep(l.steps[p.series], at, util)
	}
}

// end closes a series by a step to 0.
func (l *leftOver) end(s []UtilStep, at timeline.Time) []UtilStep {
	if l.compat || s[len(s)-1].Time == at {
		return addStep(s, at, 0)
	}
	return append(s, UtilStep{at, 0})
}

// addStep appends a step unless nothing changes by it. Of two at one instant
// the lower one stays.
func addStep(s []UtilStep, at timeline.Time, util float64) []UtilStep {
	if last := len(s) - 1; last >= 0 {
		if util == s[last].Util {
			return s
		}
		if at == s[last].Time {
			s[last].Util = min(s[last].Util, util)
			return s
		}
	}
	return append(s, UtilStep{at, util})
}
