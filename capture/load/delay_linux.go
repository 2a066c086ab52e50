package load

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// runDelay is for how long threads ran and for how long they could have run and
// had no CPU, by the name of the thread.
type runDelay map[string]schedStat

// schedStat is what the scheduler knows of a thread.
type schedStat struct{ ran, waited time.Duration }

// takeRunDelay reads that of all threads of this process; nil where the system does
// not tell.
func takeRunDelay() runDelay {
	names, _ := filepath.Glob("/proc/self/task/*/schedstat")
	var all runDelay
	for _, name := range names {
		if s, ok := readSchedStat(name); ok {
			if all == nil {
				all = runDelay{}
			}
			all[name] = s
		}
	}
	return all
}

// threadDelay is that of the thread that calls; ok is false where the system does
// not tell.
func threadDelay() (s schedStat, ok bool) { return readSchedStat("/proc/thread-self/schedstat") }

func readSchedStat(name string) (s schedStat, ok bool) {
	text, err := os.ReadFile(name)
	if err != nil {
		return s, false
	}
	return parseSchedStat(text)
}

// parseSchedStat reads the time on a CPU, the time waiting for one, both in ns, and
// the number of stretches. A kernel without statistics has zeros throughout.
func parseSchedStat(text []byte) (s schedStat, ok bool) {
	fields := bytes.Fields(text)
	if len(fields) < 3 {
		return s, false
	}
	ran, err1 := strconv.ParseInt(string(fields[0]), 10, 64)
	waited, err2 := strconv.ParseInt(string(fields[1]), 10, 64)
	if err1 != nil || err2 != nil || ran < 0 || waited < 0 || ran == 0 && waited == 0 {
		return s, false
	}
	return schedStat{time.Duration(ran), time.Duration(waited)}, true
}

// since is how long the threads waited from before on, those that ended meanwhile
// left out; ok is false where nobody knows.
func (d runDelay) since(before runDelay) (waited time.Duration, ok bool) {
	if d == nil || before == nil {
		return 0, false
	}
	for name, s := range d {
		waited += max(0, s.waited-before[name].waited)
	}
	return waited, true
}
