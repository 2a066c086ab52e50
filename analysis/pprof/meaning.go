package pprof

import (
	"fmt"
	"strings"
	"time"

	"loupe/format/profile"
)

// Meaning says in one line what the numbers of a sample type are and what to
// keep in mind, or nothing for a type that Go does not write.
func Meaning(p *profile.Profile, index int) string {
	t := p.SampleTypes[index]
	heap := p.PeriodType == profile.ValueType{Type: "space", Unit: "bytes"}
	every := ""
	if heap && p.Period > 1 {
		every = fmt.Sprintf(", estimated from one sample per %d bytes", p.Period)
	}
	switch strings.TrimPrefix(t.Type, "total_") {
	case "alloc_space":
		return "bytes allocated since the program started, freed or not" + every
	case "alloc_objects":
		return "objects allocated since the program started, freed or not" + every
	case "inuse_space", "space":
		return "bytes that were live after the last finished collection" + every
	case "inuse_objects", "objects":
		return "objects that were live after the last finished collection" + every
	case "cpu":
		if p.PeriodType.Type == "cpu" && p.Period > 0 && p.PeriodType.Unit == "nanoseconds" {
			return fmt.Sprintf("processor time, from one sample per %v of it; waiting does not count", time.Duration(p.Period))
		}
		return "processor time; waiting does not count"
	case "samples":
		return "samples taken: the fewer, the less a share can be trusted"
	case "contentions":
		return "waits that were sampled, scaled up to all"
	case "delay":
		return "time waited, summed over goroutines: it can exceed the time that passed; a mutex profile names who unlocked, a block profile who waited"
	case "goroutine":
		return "goroutines that existed at one moment"
	case "goroutineleak":
		return "goroutines that nothing can ever wake again"
	case "threadcreate":
		return "threads that were created; Go records no useful stacks for them"
	}
	return ""
}
