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
	args   string
	effect oldEffect
	order  oldRule
}

// oldEffect says whose event it is, and what its P runs then.
type oldEffect uint8

const (
	noEvent     oldEffect = iota // an entry of a table: no time stands in front of its arguments
	isSample                     // has a time of its own, and is read with the others, see oldWalk.keep
	stays                        // of the goroutine that the P runs, and goes on to run
	startsGo                     // of the one that it names, which the P runs now
	leavesGo                     // the P runs none any more
	namesGo                      // of the one that it names
	carriesText                  // stays, and a text follows: its length, its bytes
)

// oldSpecs has one row for each event type.
var oldSpecs = [oldKinds]oldSpec{
	oldBatch:          {"Batch", 5, "p seq<7 ticks", noEvent, free},
	oldFrequency:      {"Frequency", 5, "freq unused<7", noEvent, free},
	oldStack:          {"Stack", 5, "id n", noEvent, free}, // and n times pc, since 7 also function, file and line
	oldTimerGoroutine: {"TimerGoroutine", 5, "g unused<7", noEvent, free},
	oldString:         {"String", 7, "id len", noEvent, free}, // and the bytes

	oldGomaxprocs:     {"Gomaxprocs", 5, "procs stack", stays, free},
	oldProcStart:      {"ProcStart", 5, "thread", stays, free},
	oldProcStop:       {"ProcStop", 5, "", stays, free},
	oldGCStart:        {"GCStart", 5, "seq>=7 stack", stays, oldRule{whose: ofCollector}},
	oldGCDone:         {"GCDone", 5, "", stays, free},
	oldSTWStart:       {"STWStart", 5, "kind>=10", stays, free}, // before 10, one for each P that stops
	oldSTWDone:        {"STWDone", 5, "", stays, free},
	oldSweepStart:     {"GCSweepStart", 5, "stack", stays, free},
	oldSweepDone:      {"GCSweepDone", 5, "swept>=9 reclaimed>=9", stays, free},
	oldGoCreate:       {"GoCreate", 5, "g new_stack stack", stays, oldRule{ofArgument, oldDead, oldRunnable, seqFixed}}, // new_stack is a pc in 5
	oldGoStart:        {"GoStart", 5, "g seq>=7", startsGo, starts},
	oldGoEnd:          {"GoEnd", 5, "", leavesGo, free},
	oldGoStop:         {"GoStop", 5, "stack", leavesGo, free},
	oldGoSched:        {"GoSched", 5, "stack", leavesGo, yields},
	oldGoPreempt:      {"GoPreempt", 5, "stack", leavesGo, yields},
	oldGoSleep:        {"GoSleep", 5, "stack", leavesGo, blocks},
	oldGoBlock:        {"GoBlock", 5, "stack", leavesGo, blocks},
	oldGoUnblock:      {"GoUnblock", 5, "g seq>=7 stack", stays, wakes},
	oldGoBlockSend:    {"GoBlockSend", 5, "stack", leavesGo, blocks},
	oldGoBlockRecv:    {"GoBlockRecv", 5, "stack", leavesGo, blocks},
	oldGoBlockSelect:  {"GoBlockSelect", 5, "stack", leavesGo, blocks},
	oldGoBlockSync:    {"GoBlockSync", 5, "stack", leavesGo, blocks},
	oldGoBlockCond:    {"GoBlockCond", 5, "stack", leavesGo, blocks},
	oldGoBlockNet:     {"GoBlockNet", 5, "stack", leavesGo, blocks},
	oldGoSysCall:      {"GoSysCall", 5, "stack", stays, free},
	oldGoSysExit:      {"GoSysExit", 5, "g seq ts", namesGo, wakes},
	oldGoSysBlock:     {"GoSysBlock", 5, "", leavesGo, blocks},
	oldGoWaiting:      {"GoWaiting", 5, "g", namesGo, oldRule{ofArgument, oldRunnable, oldWaiting, seqFixed}},
	oldGoInSyscall:    {"GoInSyscall", 5, "g", namesGo, oldRule{ofArgument, oldRunnable, oldWaiting, seqFixed}},
	oldHeapAlloc:      {"HeapAlloc", 5, "bytes", stays, free},
	oldHeapGoal:       {"HeapGoal", 5, "bytes", stays, free},
	oldFutileWakeup:   {"FutileWakeup", 5, "", stays, free},
	oldGoStartLocal:   {"GoStartLocal", 7, "g", startsGo, oldRule{ofArgument, oldRunnable, oldRunning, seqNext}},
	oldGoUnblockLocal: {"GoUnblockLocal", 7, "g stack", stays, oldRule{ofArgument, oldWaiting, oldRunnable, seqNext}},
	oldGoSysExitLocal: {"GoSysExitLocal", 7, "g ts", namesGo, oldRule{ofArgument, oldWaiting, oldRunnable, seqNext}},
	oldGoStartLabel:   {"GoStartLabel", 8, "g seq label", startsGo, starts},
	oldGoBlockGC:      {"GoBlockGC", 8, "stack", leavesGo, blocks},
	oldAssistStart:    {"GCMarkAssistStart", 9, "stack", stays, free},
	oldAssistDone:     {"GCMarkAssistDone", 9, "", stays, free},
	oldTaskCreate:     {"UserTaskCreate", 11, "task parent name stack", stays, free},
	oldTaskEnd:        {"UserTaskEnd", 11, "task stack", stays, free},
	oldRegion:         {"UserRegion", 11, "task mode name stack", stays, free},
	oldUserLog:        {"UserLog", 11, "task category stack", carriesText, free}, // and the message: its length, its bytes
	oldCPUSample:      {"CPUSample", 19, "ts p g stack", isSample, free},
}

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
	lead    int // numbers in front of the arguments: the time, in format 5 also a sequence number
	shapes  [oldKinds]oldShape
	rules   [oldKinds]oldRule // all free in format 5, where sequence numbers order all
}

// oldShape is what decoding needs to know of a type.
type oldShape struct {
	count  int8 // of arguments; -1 for what is no event of this version
	stack  bool // the last one is where the event happened
	effect oldEffect
}

// newOldFormat picks what a version has out of oldSpecs.
func newOldFormat(v Version) *oldFormat {
	f := &oldFormat{version: v, lead: 1}
	if v < 7 {
		f.lead = 2
	}
	for kind, s := range oldSpecs {
		shape := &f.shapes[kind]
		shape.count = -1
		if s.name == "" || v < s.since {
			continue
		}
		shape.count = 0
		for _, arg := range strings.Fields(s.args) {
			if inFormat(arg, v) {
				shape.count++
			}
		}
		shape.stack = strings.HasSuffix(s.args, "stack")
		shape.effect = s.effect
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
