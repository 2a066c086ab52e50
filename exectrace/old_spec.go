package exectrace

import (
	"strconv"
	"strings"
)

// The event types of the formats before Go 1.22 (runtime/trace.go of Go 1.5 to
// 1.21). What follows them is in the table oldSpecs.
const (
	oldBatch byte = 1 + iota
	oldFrequency
	oldStack
	oldGomaxprocs
	oldProcStart
	oldProcStop
	oldGCStart
	oldGCDone
	oldSTWStart
	oldSTWDone
	oldSweepStart
	oldSweepDone
	oldGoCreate
	oldGoStart
	oldGoEnd
	oldGoStop
	oldGoSched
	oldGoPreempt
	oldGoSleep
	oldGoBlock
	oldGoUnblock
	oldGoBlockSend
	oldGoBlockRecv
	oldGoBlockSelect
	oldGoBlockSync
	oldGoBlockCond
	oldGoBlockNet
	oldGoSysCall
	oldGoSysExit
	oldGoSysBlock
	oldGoWaiting
	oldGoInSyscall
	oldHeapAlloc
	oldHeapGoal
	oldTimerGoroutine
	oldFutileWakeup
	oldString
	oldGoStartLocal
	oldGoUnblockLocal
	oldGoSysExitLocal
	oldGoStartLabel
	oldGoBlockGC
	oldAssistStart
	oldAssistDone
	oldTaskCreate
	oldTaskEnd
	oldRegion
	oldUserLog
	oldCPUSample

	oldKinds = 64 // a type has six bits
)

// oldSpec describes one event type.
type oldSpec struct {
	name  string
	since Version
	// args are the numbers of the event behind its time, in the order of the
	// file. An argument that some formats do not have says so: "seq>=7" is
	// there since format 7, "seq<7" until then. A last one "stack" is where
	// the event happened.
	args  string
	order oldRule
}

// oldSpecs has one row for each event type.
var oldSpecs = [oldKinds]oldSpec{
	oldBatch:          {"Batch", 5, "p seq<7 ticks", free},
	oldFrequency:      {"Frequency", 5, "freq unused<7", free},
	oldStack:          {"Stack", 5, "id n", free}, // and n times pc, since 7 also function, file and line
	oldTimerGoroutine: {"TimerGoroutine", 5, "g unused<7", free},
	oldString:         {"String", 7, "id len", free}, // and the bytes

	oldGomaxprocs:     {"Gomaxprocs", 5, "procs stack", free},
	oldProcStart:      {"ProcStart", 5, "thread", free},
	oldProcStop:       {"ProcStop", 5, "", free},
	oldGCStart:        {"GCStart", 5, "seq>=7 stack", oldRule{whose: ofCollector}},
	oldGCDone:         {"GCDone", 5, "", free},
	oldSTWStart:       {"STWStart", 5, "kind>=10", free}, // before 10, one for each P that stops
	oldSTWDone:        {"STWDone", 5, "", free},
	oldSweepStart:     {"GCSweepStart", 5, "stack", free},
	oldSweepDone:      {"GCSweepDone", 5, "swept>=9 reclaimed>=9", free},
	oldGoCreate:       {"GoCreate", 5, "g new_stack stack", oldRule{ofArgument, oldDead, oldRunnable, seqFixed}}, // new_stack is a pc in 5
	oldGoStart:        {"GoStart", 5, "g seq>=7", starts},
	oldGoEnd:          {"GoEnd", 5, "", free},
	oldGoStop:         {"GoStop", 5, "stack", free},
	oldGoSched:        {"GoSched", 5, "stack", yields},
	oldGoPreempt:      {"GoPreempt", 5, "stack", yields},
	oldGoSleep:        {"GoSleep", 5, "stack", blocks},
	oldGoBlock:        {"GoBlock", 5, "stack", blocks},
	oldGoUnblock:      {"GoUnblock", 5, "g seq>=7 stack", wakes},
	oldGoBlockSend:    {"GoBlockSend", 5, "stack", blocks},
	oldGoBlockRecv:    {"GoBlockRecv", 5, "stack", blocks},
	oldGoBlockSelect:  {"GoBlockSelect", 5, "stack", blocks},
	oldGoBlockSync:    {"GoBlockSync", 5, "stack", blocks},
	oldGoBlockCond:    {"GoBlockCond", 5, "stack", blocks},
	oldGoBlockNet:     {"GoBlockNet", 5, "stack", blocks},
	oldGoSysCall:      {"GoSysCall", 5, "stack", free},
	oldGoSysExit:      {"GoSysExit", 5, "g seq ts", wakes},
	oldGoSysBlock:     {"GoSysBlock", 5, "", blocks},
	oldGoWaiting:      {"GoWaiting", 5, "g", oldRule{ofArgument, oldRunnable, oldWaiting, seqFixed}},
	oldGoInSyscall:    {"GoInSyscall", 5, "g", oldRule{ofArgument, oldRunnable, oldWaiting, seqFixed}},
	oldHeapAlloc:      {"HeapAlloc", 5, "bytes", free},
	oldHeapGoal:       {"HeapGoal", 5, "bytes", free},
	oldFutileWakeup:   {"FutileWakeup", 5, "", free},
	oldGoStartLocal:   {"GoStartLocal", 7, "g", oldRule{ofArgument, oldRunnable, oldRunning, seqNext}},
	oldGoUnblockLocal: {"GoUnblockLocal", 7, "g stack", oldRule{ofArgument, oldWaiting, oldRunnable, seqNext}},
	oldGoSysExitLocal: {"GoSysExitLocal", 7, "g ts", oldRule{ofArgument, oldWaiting, oldRunnable, seqNext}},
	oldGoStartLabel:   {"GoStartLabel", 8, "g seq label", starts},
	oldGoBlockGC:      {"GoBlockGC", 8, "stack", blocks},
	oldAssistStart:    {"GCMarkAssistStart", 9, "stack", free},
	oldAssistDone:     {"GCMarkAssistDone", 9, "", free},
	oldTaskCreate:     {"UserTaskCreate", 11, "task parent name stack", free},
	oldTaskEnd:        {"UserTaskEnd", 11, "task stack", free},
	oldRegion:         {"UserRegion", 11, "task mode name stack", free},
	oldUserLog:        {"UserLog", 11, "task category stack", free}, // and the message: its length, its bytes
	oldCPUSample:      {"CPUSample", 19, "ts p g stack", free},
}

// untimed are the types that are no events, and have no time.
var untimed = map[byte]bool{oldBatch: true, oldFrequency: true, oldStack: true, oldTimerGoroutine: true, oldString: true}

// oldRule says which state a goroutine must be in for an event to happen, and
// what state it is in then. An event on one P waits until those on the others
// that lead up to it have happened.
type oldRule struct {
	whose    oldWhose
	from, to oldStatus
	seq      oldSeq
}

type oldWhose uint8

const (
	ofNobody    oldWhose = iota
	ofRunning            // the goroutine that the P runs
	ofArgument           // the goroutine that the event names
	ofCollector          // collections have numbers, and each follows the one before
)

// oldStatus is the state of a goroutine as far as the order needs it.
type oldStatus uint8

const (
	oldDead oldStatus = iota
	oldRunnable
	oldRunning
	oldWaiting
)

// oldSeq says what an event does with its goroutine's sequence number.
type oldSeq uint8

const (
	seqKeeps oldSeq = iota
	seqGiven        // it names the number that it needs
	seqNext         // written by the P that has changed the goroutine last: it needs none
	seqFixed        // of the first two events in a goroutine's life: 0, then 1
)

// The rules that several types share.
var (
	free   = oldRule{}
	starts = oldRule{ofArgument, oldRunnable, oldRunning, seqGiven}
	wakes  = oldRule{ofArgument, oldWaiting, oldRunnable, seqGiven}
	blocks = oldRule{ofRunning, oldRunning, oldWaiting, seqKeeps}
	yields = oldRule{ofRunning, oldRunning, oldRunnable, seqKeeps}
)

// oldFormat is the table of one version.
type oldFormat struct {
	version Version
	lead    int               // numbers in front of the arguments: the time, in format 5 also a sequence number
	count   [oldKinds]int8    // of arguments; -1 for what is no event of this version
	timed   [oldKinds]bool    // it has a time in front of its arguments
	stack   [oldKinds]bool    // the last argument is where the event happened
	rules   [oldKinds]oldRule // all free in format 5, where sequence numbers order all
}

// newOldFormat picks what a version has out of oldSpecs.
func newOldFormat(v Version) *oldFormat {
	f := &oldFormat{version: v, lead: 1}
	if v < 7 {
		f.lead = 2
	}
	for kind, s := range oldSpecs {
		f.count[kind] = -1
		if s.name == "" || v < s.since {
			continue
		}
		f.count[kind] = 0
		for _, arg := range strings.Fields(s.args) {
			if inFormat(arg, v) {
				f.count[kind]++
			}
		}
		f.timed[kind] = !untimed[byte(kind)]
		f.stack[kind] = strings.HasSuffix(s.args, "stack")
		if v >= 7 {
			f.rules[kind] = s.order
		}
	}
	return f
}

// inFormat says whether a version has an argument of oldSpecs.
func inFormat(arg string, v Version) bool {
	if _, n, ok := strings.Cut(arg, ">="); ok {
		since, _ := strconv.Atoi(n)
		return v >= Version(since)
	}
	if _, n, ok := strings.Cut(arg, "<"); ok {
		until, _ := strconv.Atoi(n)
		return v < Version(until)
	}
	return true
}
