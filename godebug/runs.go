package godebug

import "time"

// openRuns is how many programs may share a log before they are confused.
const openRuns = 8

// runTracker tells the executions in a log apart. A log may hold several
// after one another (a restarted service) or interleaved (GODEBUG reaches
// the go command and its children). Lines carry no process id, so a line is
// given to the run that it continues best.
//
// Note: two programs of the same age can be confused for a while. That is
// rare, and there is nothing in the text to prevent it.
type runTracker struct {
	runs [openRuns]runState
	cur  int // index in runs
	n    int // runs seen
}

type runState struct {
	id    int
	used  bool
	gc    int64         // last collection number
	gcAt  time.Duration // of that collection
	sched time.Duration // time of the last SCHED line, -1 before the first
	init  time.Duration // time of the last init line
}

// current returns the run that lines without a time belong to.
func (t *runTracker) current() int {
	if t.n == 0 {
		return 0
	}
	return t.runs[t.cur].id
}

// cycle returns the run of a collection.
func (t *runTracker) cycle(n int64, at time.Duration) int {
	follows := func(r *runState) bool { return r.used && n > r.gc && at >= r.gcAt }
	best := -1
	if c := &t.runs[t.cur]; follows(c) {
		best = t.cur
	}
	// The next number is the best evidence. A gap within the current run
	// comes second: its lines may be torn.
	if best < 0 || n > t.runs[best].gc+3 {
		for i := range t.runs {
			if r := &t.runs[i]; follows(r) && n == r.gc+1 && r.gc > 0 {
				best = i
				break
			}
		}
	}
	if c := &t.runs[t.cur]; best < 0 && c.used && n == c.gc && at == c.gcAt {
		best = t.cur // the same line twice
	}
	if best < 0 {
		best = t.start()
	}
	t.cur = best
	r := &t.runs[best]
	r.gc, r.gcAt = n, at
	return r.id
}

// sample returns the run of a scheduler sample.
func (t *runTracker) sample(at time.Duration) int {
	best := -1
	if c := &t.runs[t.cur]; c.used && at >= c.sched {
		best = t.cur
	} else {
		for i := range t.runs {
			if r := &t.runs[i]; r.used && at >= r.sched && r.sched >= 0 && (best < 0 || r.sched > t.runs[best].sched) {
				best = i
			}
		}
	}
	if best < 0 {
		best = t.start()
	}
	t.cur = best
	t.runs[best].sched = at
	return t.runs[best].id
}

// initTask returns the run of an init line. These come first in a run, in
// ascending order of time.
func (t *runTracker) initTask(at time.Duration) int {
	if c := &t.runs[t.cur]; !c.used || at < c.init {
		t.cur = t.start()
	}
	t.runs[t.cur].init = at
	return t.runs[t.cur].id
}

// start opens a run in the place of the oldest.
func (t *runTracker) start() int {
	i := t.n % openRuns
	t.runs[i] = runState{id: t.n, used: true, sched: -1}
	t.n++
	return i
}
