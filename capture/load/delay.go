package load

import (
	"time"

	"loupe/source/system"
)

// runDelay is for how long threads ran and for how long they could have run and
// had no CPU, by the name of the thread.
type runDelay map[string]system.SchedStat

// takeRunDelay reads that of all threads of this process; nil where the system does
// not tell.
func takeRunDelay() runDelay { return system.SchedStats(0) }

// since is how long the threads waited from before on, those that ended meanwhile
// left out; ok is false where nobody knows.
func (d runDelay) since(before runDelay) (waited time.Duration, ok bool) {
	if d == nil || before == nil {
		return 0, false
	}
	for name, s := range d {
		waited += max(0, s.Waited-before[name].Waited)
	}
	return waited, true
}
