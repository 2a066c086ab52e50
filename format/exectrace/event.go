package exectrace

import (
	"fmt"
	"sync"
	"sync/atomic"

	"loupe/value/stack"
	"loupe/value/timeline"
)

// Kind says what an event tells. The kinds are those of internal/trace, but
// that transitions of goroutines and of Ps are two.
type Kind uint8

// The kinds of events, and the fields that have a meaning in each beside Time,
// G, P, M and Stack.
const (
	KindBad Kind = iota
	// KindSync begins a generation, and one more ends the trace.
	// Value is its number, from 1. See [Reader.Clock].
	KindSync
	// KindMetric is a counter's new value: Name, Value.
	KindMetric
	// KindLabel gives the running goroutine a label: Name.
	KindLabel
	// KindStackSample is a sample of the CPU profiler: Stack.
	KindStackSample
	// The ranges: Name, Scope and Subject; Swept and Reclaimed at the end of
	// a sweep. An active range has begun before the trace has.
	KindRangeBegin
	KindRangeActive
	KindRangeEnd
	// The user tasks: Task, Parent, Name.
	KindTaskBegin
	KindTaskEnd
	// The user regions: Task, Name.
	KindRegionBegin
	KindRegionEnd
	// KindLog is a user's message: Task, Name is the category; the message is
	// [Reader.Message].
	KindLog
	// KindGoTransition takes the goroutine Subject from one state to another:
	// From, To, Name is the reason, SubjectStack.
	KindGoTransition
	// KindProcTransition does so with the P Subject.
	KindProcTransition
	// KindExperimental is an event of an experiment: Name, Args.
	KindExperimental
)

var kindNames = [...]string{"Bad", "Sync", "Metric", "Label", "StackSample", "RangeBegin", "RangeActive", "RangeEnd",
	"TaskBegin", "TaskEnd", "RegionBegin", "RegionEnd", "Log", "StateTransition", "StateTransition", "Experimental"}

// String returns the name that internal/trace has for the kind.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		k = KindBad
	}
	return kindNames[k]
}

// State is the state of a goroutine or of a P.
type State uint8

// The states. Of a P only Undetermined, NotExist, Running and Idle occur.
const (
	// Undetermined is the state of what the trace has not mentioned yet.
	Undetermined State = iota
	NotExist
	Runnable
	Running
	Waiting
	Syscall
	Idle
)

var stateNames = [...]string{"Undetermined", "NotExist", "Runnable", "Running", "Waiting", "Syscall", "Idle"}

// String returns the state's name: "Runnable".
func (s State) String() string {
	if int(s) >= len(stateNames) {
		return fmt.Sprintf("State(%d)", uint8(s))
	}
	return stateNames[s]
}

// Slot is a small number that a [Reader] lends to a goroutine for its life, so
// that what is known of goroutines can lie in a slice instead of a map. A
// transition from NotExist or Undetermined begins a new life in a slot.
type Slot uint32

// NoSlot is the slot of no goroutine.
const NoSlot Slot = 1<<32 - 1

// Event is one event. Which fields mean something depends on Kind; the others
// are zero. It is valid until the reader goes on: copy it to keep it, and
// resolve what only the reader can resolve (a message) before.
type Event struct {
	// Time is the instant, in nanoseconds of the trace's clock. No two events
	// of a trace have the same: where the clock was too coarse, the reader
	// moves the later one by a nanosecond, as internal/trace does.
	Time timeline.Time
	// G, P and M are what ran when the event happened, from before what the
	// event changes. A goroutine that starts is not yet its own G.
	G GoID
	M ThreadID
	P ProcID
	// GSlot is the slot of G.
	GSlot Slot
	// Subject is the goroutine or P that changes its state, or that a range
	// belongs to.
	Subject int64
	// SubjectSlot is the slot of a subject that is a goroutine.
	SubjectSlot Slot
	// Stack is where G was, SubjectStack where the subject of a transition
	// was or will begin.
	Stack, SubjectStack stack.ID
	// Name is the reason of a transition, the name of a metric, label, range,
	// task, region or experimental event, the category of a message.
	Name NameID
	// Args are the numbers of the event; see the methods.
	Args     [3]uint64
	Kind     Kind
	From, To State

	op      byte // the event's type in the format
	bridged bool
}

// Task returns the task of a task, region or log event.
func (e *Event) Task() TaskID { return TaskID(e.Args[0]) }

// Parent returns the parent of a task, or NoTask.
func (e *Event) Parent() TaskID { return TaskID(e.Args[1]) }

// Value returns the value of a metric or the number of a sync.
func (e *Event) Value() uint64 { return e.Args[0] }

// Reset says of a sync that the rest of the generation before it could not be
// read, and that all states are Undetermined again.
func (e *Event) Reset() bool { return e.Kind == KindSync && e.Args[1] != 0 }

// Bridged says that the event is not in the file: events are lost, and this one
// says what must have happened for a later one to be possible. It has no
// stack, and its time is that of the later one.
func (e *Event) Bridged() bool { return e.bridged }

// Swept returns the bytes that a sweep has looked at.
func (e *Event) Swept() uint64 { return e.Args[0] }

// Reclaimed returns the bytes that a sweep has freed.
func (e *Event) Reclaimed() uint64 { return e.Args[1] }

// Experiment returns the numbers of an experimental event.
func (e *Event) Experiment() []uint64 {
	if e.Kind != KindExperimental {
		return nil
	}
	return e.Args[:argCounts[e.op]]
}

// Goroutine returns the subject as a goroutine.
func (e *Event) Goroutine() GoID { return GoID(e.Subject) }

// Proc returns the subject as a P.
func (e *Event) Proc() ProcID { return ProcID(e.Subject) }

// Scope is what a range belongs to.
type Scope uint8

// The scopes.
const (
	ScopeNone Scope = iota // the whole program
	ScopeGoroutine
	ScopeProc
)

// Scope returns what a range event's Subject is.
func (e *Event) Scope() Scope {
	switch e.op {
	case evSTWBegin, evSTWEnd, evGCMarkAssistActive, evGCMarkAssistBegin, evGCMarkAssistEnd:
		return ScopeGoroutine
	case evGCSweepActive, evGCSweepBegin, evGCSweepEnd:
		return ScopeProc
	}
	return ScopeNone
}

// NameID names one string of a reader: equal strings have equal ids in all
// generations.
type NameID uint32

// The names that every reader knows under the same number.
const (
	NameNone NameID = iota
	NameForever
	NameMarkPhase
	NameSweep
	NameMarkAssist
	NameGOMAXPROCS
	NameHeapObjects
	NameHeapGoal
	NamePreempted
	NameNetwork
	NameSelect
	NameSync
	NameCond
	NameChanSend
	NameChanReceive
	NameSleep
	NameGosched
	NameCollector
	firstFreeName
)

// wellKnown are the strings of the names above.
var wellKnown = [firstFreeName]string{
	NameForever:     "forever",
	NameMarkPhase:   "GC concurrent mark phase",
	NameSweep:       "GC incremental sweep",
	NameMarkAssist:  "GC mark assist",
	NameGOMAXPROCS:  "/sched/gomaxprocs:threads",
	NameHeapObjects: "/memory/classes/heap/objects:bytes",
	NameHeapGoal:    "/gc/heap/goal:bytes",
	NamePreempted:   "preempted",
	NameNetwork:     "network",
	NameSelect:      "select",
	NameSync:        "sync",
	NameCond:        "sync.(*Cond).Wait",
	NameChanSend:    "chan send",
	NameChanReceive: "chan receive",
	NameSleep:       "sleep",
	NameGosched:     "runtime.Gosched",
	NameCollector:   CollectorReason,
}

// names interns strings. Of two goroutines one may read ahead in the trace, which
// adds names, while the other uses them.
type names struct {
	mu  sync.Mutex
	ids map[string]NameID
	// list only grows, and what is in it stays.
	list atomic.Pointer[[]string]
}

func newNames() *names {
	n := &names{ids: make(map[string]NameID)}
	n.list.Store(&[]string{})
	for _, s := range wellKnown {
		n.intern(s)
	}
	return n
}

// all returns the names by their ids.
func (n *names) all() []string { return *n.list.Load() }

// find returns the id of a name that there is.
func (n *names) find(s string) (NameID, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	id, ok := n.ids[s]
	return id, ok
}

func (n *names) intern(s string) NameID {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id, ok := n.ids[s]; ok {
		return id
	}
	list := append(n.all(), s)
	n.list.Store(&list)
	id := NameID(len(list) - 1)
	n.ids[s] = id
	return id
}

func (n *names) internBytes(b []byte) NameID {
	n.mu.Lock()
	id, ok := n.ids[string(b)]
	n.mu.Unlock()
	if ok {
		return id
	}
	return n.intern(string(b))
}
