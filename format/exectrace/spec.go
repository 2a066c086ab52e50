package exectrace

// The event types of the formats since Go 1.22 (internal/trace/tracev2). The
// arguments that follow an event's time are in the table specs.
const (
	evNone byte = iota
	evEventBatch
	evStacks
	evStack
	evStrings
	evString
	evCPUSamples
	evCPUSample
	evFrequency
	evProcsChange
	evProcStart
	evProcStop
	evProcSteal
	evProcStatus
	evGoCreate
	evGoCreateSyscall
	evGoStart
	evGoDestroy
	evGoDestroySyscall
	evGoStop
	evGoBlock
	evGoUnblock
	evGoSyscallBegin
	evGoSyscallEnd
	evGoSyscallEndBlocked
	evGoStatus
	evSTWBegin
	evSTWEnd
	evGCActive
	evGCBegin
	evGCEnd
	evGCSweepActive
	evGCSweepBegin
	evGCSweepEnd
	evGCMarkAssistActive
	evGCMarkAssistBegin
	evGCMarkAssistEnd
	evHeapAlloc
	evHeapGoal
	evGoLabel
	evUserTaskBegin
	evUserTaskEnd
	evUserRegionBegin
	evUserRegionEnd
	evUserLog
	evGoSwitch        // since 1.23, as the three below
	evGoSwitchDestroy //
	evGoCreateBlocked
	evGoStatusStack
	evExperimentalBatch // since 1.23
	evSync              // since 1.25
	evClockSnapshot     // since 1.25
	evEndOfGeneration   // since 1.26
)

// The events of the experiment AllocFree, since Go 1.23.
const (
	evSpan byte = 128 + iota
	evSpanAlloc
	evSpanFree
	evHeapObject
	evHeapObjectAlloc
	evHeapObjectFree
	evGoroutineStack
	evGoroutineStackAlloc
	evGoroutineStackFree
)

// spec describes one event type.
type spec struct {
	name  string
	args  []string // in the order of the file; those of a timed event begin with dt
	since Version
	timed bool
}

// specs has one row for each event type; a row without a name is no event.
var specs = [256]spec{
	evEventBatch:        {"EventBatch", []string{"gen", "m", "time", "size"}, 22, false},
	evStacks:            {"Stacks", nil, 22, false},
	evStack:             {"Stack", []string{"id", "nframes"}, 22, false},
	evStrings:           {"Strings", nil, 22, false},
	evString:            {"String", []string{"id"}, 22, false},
	evCPUSamples:        {"CPUSamples", nil, 22, false},
	evCPUSample:         {"CPUSample", []string{"time", "m", "p", "g", "stack"}, 22, false},
	evFrequency:         {"Frequency", []string{"freq"}, 22, false},
	evExperimentalBatch: {"ExperimentalBatch", []string{"exp", "gen", "m", "time"}, 23, false},
	evSync:              {"Sync", nil, 25, false},
	evEndOfGeneration:   {"EndOfGeneration", nil, 26, false},

	evProcsChange:         {"ProcsChange", []string{"dt", "procs_value", "stack"}, 22, true},
	evProcStart:           {"ProcStart", []string{"dt", "p", "p_seq"}, 22, true},
	evProcStop:            {"ProcStop", []string{"dt"}, 22, true},
	evProcSteal:           {"ProcSteal", []string{"dt", "p", "p_seq", "m"}, 22, true},
	evProcStatus:          {"ProcStatus", []string{"dt", "p", "pstatus"}, 22, true},
	evGoCreate:            {"GoCreate", []string{"dt", "new_g", "new_stack", "stack"}, 22, true},
	evGoCreateSyscall:     {"GoCreateSyscall", []string{"dt", "new_g"}, 22, true},
	evGoStart:             {"GoStart", []string{"dt", "g", "g_seq"}, 22, true},
	evGoDestroy:           {"GoDestroy", []string{"dt"}, 22, true},
	evGoDestroySyscall:    {"GoDestroySyscall", []string{"dt"}, 22, true},
	evGoStop:              {"GoStop", []string{"dt", "reason_string", "stack"}, 22, true},
	evGoBlock:             {"GoBlock", []string{"dt", "reason_string", "stack"}, 22, true},
	evGoUnblock:           {"GoUnblock", []string{"dt", "g", "g_seq", "stack"}, 22, true},
	evGoSyscallBegin:      {"GoSyscallBegin", []string{"dt", "p_seq", "stack"}, 22, true},
	evGoSyscallEnd:        {"GoSyscallEnd", []string{"dt"}, 22, true},
	evGoSyscallEndBlocked: {"GoSyscallEndBlocked", []string{"dt"}, 22, true},
	evGoStatus:            {"GoStatus", []string{"dt", "g", "m", "gstatus"}, 22, true},
	evSTWBegin:            {"STWBegin", []string{"dt", "kind_string", "stack"}, 22, true},
	evSTWEnd:              {"STWEnd", []string{"dt"}, 22, true},
	evGCActive:            {"GCActive", []string{"dt", "gc_seq"}, 22, true},
	evGCBegin:             {"GCBegin", []string{"dt", "gc_seq", "stack"}, 22, true},
	evGCEnd:               {"GCEnd", []string{"dt", "gc_seq"}, 22, true},
	evGCSweepActive:       {"GCSweepActive", []string{"dt", "p"}, 22, true},
	evGCSweepBegin:        {"GCSweepBegin", []string{"dt", "stack"}, 22, true},
	evGCSweepEnd:          {"GCSweepEnd", []string{"dt", "swept_value", "reclaimed_value"}, 22, true},
	evGCMarkAssistActive:  {"GCMarkAssistActive", []string{"dt", "g"}, 22, true},
	evGCMarkAssistBegin:   {"GCMarkAssistBegin", []string{"dt", "stack"}, 22, true},
	evGCMarkAssistEnd:     {"GCMarkAssistEnd", []string{"dt"}, 22, true},
	evHeapAlloc:           {"HeapAlloc", []string{"dt", "heapalloc_value"}, 22, true},
	evHeapGoal:            {"HeapGoal", []string{"dt", "heapgoal_value"}, 22, true},
	evGoLabel:             {"GoLabel", []string{"dt", "label_string"}, 22, true},
	evUserTaskBegin:       {"UserTaskBegin", []string{"dt", "task", "parent_task", "name_string", "stack"}, 22, true},
	evUserTaskEnd:         {"UserTaskEnd", []string{"dt", "task", "stack"}, 22, true},
	evUserRegionBegin:     {"UserRegionBegin", []string{"dt", "task", "name_string", "stack"}, 22, true},
	evUserRegionEnd:       {"UserRegionEnd", []string{"dt", "task", "name_string", "stack"}, 22, true},
	evUserLog:             {"UserLog", []string{"dt", "task", "key_string", "value_string", "stack"}, 22, true},
	evGoSwitch:            {"GoSwitch", []string{"dt", "g", "g_seq"}, 23, true},
	evGoSwitchDestroy:     {"GoSwitchDestroy", []string{"dt", "g", "g_seq"}, 23, true},
	evGoCreateBlocked:     {"GoCreateBlocked", []string{"dt", "new_g", "new_stack", "stack"}, 23, true},
	evGoStatusStack:       {"GoStatusStack", []string{"dt", "g", "m", "gstatus", "stack"}, 23, true},
	evClockSnapshot:       {"ClockSnapshot", []string{"dt", "mono", "sec", "nsec"}, 25, true},

	evSpan:                {"Span", []string{"dt", "id", "npages_value", "kindclass"}, 23, true},
	evSpanAlloc:           {"SpanAlloc", []string{"dt", "id", "npages_value", "kindclass"}, 23, true},
	evSpanFree:            {"SpanFree", []string{"dt", "id"}, 23, true},
	evHeapObject:          {"HeapObject", []string{"dt", "id", "type"}, 23, true},
	evHeapObjectAlloc:     {"HeapObjectAlloc", []string{"dt", "id", "type"}, 23, true},
	evHeapObjectFree:      {"HeapObjectFree", []string{"dt", "id"}, 23, true},
	evGoroutineStack:      {"GoroutineStack", []string{"dt", "id", "order"}, 23, true},
	evGoroutineStackAlloc: {"GoroutineStackAlloc", []string{"dt", "id", "order"}, 23, true},
	evGoroutineStackFree:  {"GoroutineStackFree", []string{"dt", "id"}, 23, true},
}

// maxArgs is the most arguments that a timed event has behind its time.
const maxArgs = 4

// argCounts are the arguments behind the time of each timed event, and more
// than maxArgs for what is none: the one row of specs that every decoded event
// needs.
var argCounts = func() (n [256]uint8) {
	for i, s := range specs {
		n[i] = maxArgs + 1
		if s.timed {
			n[i] = uint8(len(s.args) - 1)
		}
	}
	return n
}()
