package insight

import (
	"loupe/analysis/facts"
)

var lk03 = &Rule{
	ID: "LK03", Title: "RWMutex contention: readers slow each other down",
	About: "RLock and RUnlock each update a counter that all readers share. With several processors its cache line moves from one to the next for every reader (cache-line bouncing): nobody " +
		"waits, and yet a read lock costs a hundred nanoseconds instead of ten.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.05, "share of CPU time", "research, LK03; the lower bound of the interval counts"},
		{"warn", 0.15, "share of CPU time", "chosen"},
		{"ps", 4, "Ps", "chosen: with fewer the cache line seldom moves; research has 8"},
		{"cpus", 2, "CPUs used", "chosen: readers that come one at a time do not contend"},
		g0,
	},
	Check: checkReaders,
}

// readers looks for the time in RLock and RUnlock themselves, waiting for a writer left out.
var readers = &look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "rwmutex.read", skip: []string{"startup", "semaphore"},
	what: "went into locking and unlocking an RWMutex for reading", tell: func(_ *hit, f *Finding) {
		f.Advice = "Keep data that is read often and changed seldom in an atomic.Pointer to a value replaced as a whole, or in a sync.Map. Otherwise shard it, or hold the lock for a batch. A plain Mutex is as fast if the critical section is short."
		f.Verify = "Record again under the same load, and run a benchmark with -cpu 1,2,4 (LK05): the time per operation should not rise with the Ps."
	}}

func checkReaders(r *Rule, in *Input) []Finding {
	set := in.Facts.Settings(nil)
	if set.Procs > 0 && float64(set.Procs) < r.param("ps") {
		return []Finding{r.answer(NotApplicable, "there are %d Ps: readers on so few hardly contend", set.Procs)}
	}
	if s := spentOf(in); s != nil && s.cpus > 0 && s.cpus < r.param("cpus") {
		return []Finding{r.answer(Fine, "the program used %.2f CPUs: readers seldom contend", s.cpus)}
	}
	return check(readers)(r, in)
}
