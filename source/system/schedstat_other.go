//go:build !linux

package system

// SchedStats is not known here.
func SchedStats(pid int) map[string]SchedStat { return nil }

// ThreadSchedStat is not known here.
func ThreadSchedStat() (s SchedStat, ok bool) { return SchedStat{}, false }
