package godebug

import "time"

// openRuns is how many programs may share a log before they are confused.
const openRuns = 8

// runTracker tells the executions in a log apart. A log may hold several
// after one another (a restarted service) or interleaved (GODEBUG reaches
// the go command and its children). Lines carry no process id, so a line is
// given to the run that it continues best. A log may also begin in the middle of a
// run, or have the middle of another one behind it: what cannot have become of the
// last collection of a run begins another.
//
// Note: programs that run side by side and do the same can be confused, and there
// is nothing in the text to prevent it; [Stats.Doubtful] counts such lines.
type runTracker struct {
	runs [openRuns]runState
	cur  int // index in runs
	n    int // runs seen
	// names gets the name of the stream for each run. Where several trackers share it,
	// runs are numbered throughout.
	names *[]string
	name  string
	// doubtful counts the collections that continue several runs equally well.
	doubtful int
}

type runState struct {
	id    int
	used  bool
	gc    int64         // last collection number
	last  Cycle         // that collection
	sched time.Duration // time of the last SCHED line, -1 before the first
	ticks []int64       // of that line
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
	if !r.possible(y) {
		return 0
	}
	// The next collection begins with what was live, but for what the line cuts off;
	// up to Go 1.17 that was corrected by some spans meanwhile.
	procs := r.gc == 0 || y.Procs == r.last.Procs
	plausible := procs && (r.gc == 0 || y.HeapStart+1<<20 >= r.last.HeapLive)
	next := y.N == r.gc+1 && (r.gc > 0 || latest)
	score := 0
	switch {
	case next && plausible:
		score = fitting
	case next && latest, latest && plausible && y.N <= r.gc+3:
		score = 4
	case next:
		score = 3
	case latest && procs:
		// Not where GOMAXPROCS is another too: of a run that is taken for two each is
		// accounted rightly, of two that are taken for one neither.
		score = 2
	}
	if score == fitting && latest {
		score++
	}
	return score
}

// slack is by how much two clocks of a line may differ.
const slack = 100 * time.Millisecond

// possible tells whether a collection can be a later one of the run, whatever was
// lost between them.
func (r *runState) possible(y *Cycle) bool {
	l := &r.last
	switch {
	case r.gc == 0:
		return true
	case y.Dialect != l.Dialect || y.Globals < l.Globals:
		return false // another program
	case y.Dialect == Go14:
		return true
	case y.Procs == l.Procs:
		// Time that the collector has taken is not given back: the percentages are of
		// all time since the begin, and cut off.
		was := float64(l.Percent) * float64(l.At+l.Clock()-slack)
		is := float64(y.Percent+1) * float64(y.At+y.Clock()+slack)
		return was <= is
	}
	return true
}

// sample returns the run of a scheduler sample.
func (t *runTracker) sample(s *SchedSample) int {
	best, at := -1, s.At
	if c := &t.runs[t.cur]; c.used && c.samples(s) {
		best = t.cur
	} else {
		for i := range t.runs {
			if r := &t.runs[i]; r.used && r.samples(s) && r.sched >= 0 && (best < 0 || r.sched > t.runs[best].sched) {
				best = i
			}
		}
	}
	if best < 0 {
		best = t.start()
	}
	t.cur = best
	r := &t.runs[best]
	r.sched, r.ticks = at, append(r.ticks[:0], s.Ticks...)
	return r.id
}

// samples tells whether a scheduler sample can be a later one of the run.
func (r *runState) samples(s *SchedSample) bool {
	if s.At < r.sched {
		return false
	}
	for i, n := range s.Ticks[:min(len(s.Ticks), len(r.ticks))] {
		if n < r.ticks[i] {
			return false // a P counts on, even one that was away meanwhile
		}
	}
	return true
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
	id := t.n
	if t.names != nil {
		id = len(*t.names)
		*t.names = append(*t.names, t.name)
	}
	t.runs[i] = runState{id: id, used: true, sched: -1}
	t.n++
	return i
}
