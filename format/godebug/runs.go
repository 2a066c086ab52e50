package godebug

import "time"

// openRuns is how many programs may share a log before they are confused.
const openRuns = 8

// runTracker tells the executions in a log apart. A log may hold several
// after one another (a restarted service) or interleaved (GODEBUG reaches
// the go command and its children). Lines carry no process id, so a line is
// given to the run that it continues best.
//
// Note: programs that run side by side and do the same can be confused, and there
// is nothing in the text to prevent it; [Stats.Doubtful] counts such lines.
type runTracker struct {
	runs [openRuns]runState
	cur  int // index in runs
	n    int // runs seen
	// doubtful counts the collections that continue several runs equally well.
	doubtful int
}

type runState struct {
	id    int
	used  bool
	gc    int64         // last collection number
	last  Cycle         // that collection
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

// cycle returns the run of a collection: the one whose next number it has, where
// the heap can have become what it is, and of these the one that printed last. A
// gap in the numbers of the latest run comes second: its lines may be torn.
func (t *runTracker) cycle(y *Cycle) int {
	best, most := -1, 0
	for i := range t.runs {
		if score := t.continues(i, y); score > most {
			best, most = i, score
		}
	}
	if most >= fitting {
		best = t.nearest(best, y)
	}
	if best < 0 {
		best = t.start()
	}
	t.cur = best
	r := &t.runs[best]
	r.gc, r.last = y.N, *y
	return r.id
}

// nearest is the run, of all that a collection continues in every respect, whose
// last collection began with the most similar heap. It counts a doubt where
// another one's is nearly as similar.
func (t *runTracker) nearest(best int, y *Cycle) int {
	apart := func(i int) int64 {
		return max(y.HeapStart-t.runs[i].last.HeapStart, t.runs[i].last.HeapStart-y.HeapStart)
	}
	for i := range t.runs {
		if t.continues(i, y) >= fitting && apart(i) < apart(best) {
			best = i
		}
	}
	for i := range t.runs {
		if i != best && t.continues(i, y) >= fitting && apart(i) <= 2*apart(best)+2<<20 {
			t.doubtful++
			break
		}
	}
	return best
}

// fitting is the score of a run that a collection continues in every respect.
const fitting = 6

// continues says how well a collection continues a run; 0 is not at all.
func (t *runTracker) continues(i int, y *Cycle) int {
	r := &t.runs[i]
	latest := i == t.cur
	if !r.used || y.N < r.gc || y.At < r.last.At {
		return 0
	}
	if y.N == r.gc {
		if again := *y; latest {
			again.Position = r.last.Position
			if again != r.last {
				return 0
			}
			return 1 // the same line twice
		}
		return 0
	}
	// What was live is still there when the next collection begins, but for what
	// the line cuts off.
	plausible := r.gc == 0 || y.Procs == r.last.Procs && y.HeapStart+1<<20 >= r.last.HeapLive
	next := y.N == r.gc+1 && (r.gc > 0 || latest)
	score := 0
	switch {
	case next && plausible:
		score = fitting
	case next && latest, latest && plausible && y.N <= r.gc+3:
		score = 4
	case next:
		score = 3
	case latest:
		score = 2
	}
	if score == fitting && latest {
		score++
	}
	return score
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
