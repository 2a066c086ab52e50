package system

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// SchedStats reads those of the threads of a process, by names that stay those of the
// threads; pid 0 is this process. It is nil where the kernel does not tell.
func SchedStats(pid int) map[string]SchedStat {
	process := "self"
	if pid > 0 {
		process = strconv.Itoa(pid)
	}
	names, _ := filepath.Glob("/proc/" + process + "/task/*/schedstat")
	var all map[string]SchedStat
	for _, name := range names {
		if s, ok := readSchedStat(name); ok {
			if all == nil {
				all = map[string]SchedStat{}
			}
			all[name] = s
		}
	}
	return all
}

// ThreadSchedStat is that of the thread that calls; ok is false where the kernel does not
// tell.
func ThreadSchedStat() (s SchedStat, ok bool) { return readSchedStat("/proc/thread-self/schedstat") }

func readSchedStat(name string) (s SchedStat, ok bool) {
	text, err := os.ReadFile(name)
	if err != nil {
		return s, false
	}
	return parseSchedStat(text)
}

// parseSchedStat reads the time on a CPU, the time waiting for one, both in ns, and
// the number of stretches (Documentation/scheduler/sched-stats.rst of the kernel). A
// kernel without statistics has zeros throughout.
func parseSchedStat(text []byte) (s SchedStat, ok bool) {
	fields := bytes.Fields(text)
	if len(fields) < 3 {
		return s, false
	}
	ran, err1 := strconv.ParseInt(string(fields[0]), 10, 64)
	waited, err2 := strconv.ParseInt(string(fields[1]), 10, 64)
	if err1 != nil || err2 != nil || ran < 0 || waited < 0 || ran == 0 && waited == 0 {
		return s, false
	}
	return SchedStat{time.Duration(ran), time.Duration(waited)}, true
}
