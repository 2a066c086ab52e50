// Package tiles turns an execution trace into a timeline that can be drawn at
// any zoom: for each lane (a P, a thread, a goroutine, the goroutines of one
// function, the collector, a counter, the scheduling latency) the exact spans, and above them a
// pyramid of buckets that say how each stretch of time was spent.
//
// A [Builder] takes the events of one reader in one pass and gives a [Set],
// which is the bytes of a file and the questions that can be asked of it: the
// bytes can be kept as a cache and opened again in no time, see [Open] and
// docs/formats/tiles.md. A bucket loses no state, however short: see
// [Bucket.Present].
//
// What is not here: stacks, reasons, and who did it to whom. The trace has
// them; [Set.Generation] says where to begin to read it.
package tiles

import (
	"loupe/format/exectrace"
	"loupe/value/timeline"
)

// Kind is what a lane shows.
type Kind uint8

// The kinds of lanes.
const (
	KindProc      Kind = iota // a P: its Subject is the number
	KindThread                // an M: its Subject is the thread's id
	KindGC                    // the collector
	KindGoroutine             // a goroutine: its Subject is the id
	KindGroup                 // all goroutines that began with the function Name
	KindCounter               // the counter Name
	KindLatency               // how long the goroutines that start to run were ready
	kinds
)

var kindNames = [kinds]string{"P", "M", "GC", "goroutine", "group", "counter", "latency"}

// String returns the kind's name: "goroutine".
func (k Kind) String() string {
	if k >= kinds {
		return "unknown"
	}
	return kindNames[k]
}

// Class is the state of a lane in a span, of at most eight that its kind has.
type Class uint8

// The classes of goroutines, and of the counts of groups. ClassRest is what is
// left of the time in lanes of all kinds: here sleep and other waits, and the
// time before a goroutine's life and after it.
const (
	GoRuns     Class = iota
	GoRunnable       // ready, and waits for a P
	GoGC             // works for the collector: marks, assists, stops the world
	GoSyscall
	GoSync // waits for a mutex, a condition or a group
	GoChan // waits for a channel or in a select
	GoNet  // waits for the network
	ClassRest
)

// The classes of Ps. ClassRest is idle.
const (
	ProcRuns     Class = iota // runs a goroutine
	ProcGC                    // runs a goroutine of the collector
	ProcSyscall               // its goroutine is in a system call
	ProcAssist                // its goroutine helps to mark
	ProcSweep                 // its goroutine sweeps before it may allocate
	ProcSTW                   // its goroutine has stopped the world
	ProcSchedule              // looks for a goroutine to run
)

// The classes of threads. ClassRest is parked.
const (
	ThreadRuns    Class = iota // has a P
	ThreadSyscall              // has lost its P to another in a system call
)

// The classes of the collector, the more urgent in front of the other where
// they fall together. ClassRest is off.
const (
	GCMark  Class = iota // the concurrent mark phase
	GCSTW                // the world is stopped, for whatever reason
	GCSweep              // some P sweeps
)

const classes = 8

var classNames = [...][classes]string{
	KindProc:      {"runs", "GC work", "syscall", "mark assist", "sweep", "stop-the-world", "scheduler", "idle"},
	KindThread:    {"runs", "syscall", "", "", "", "", "", "parked"},
	KindGC:        {"mark", "stop-the-world", "sweep", "", "", "", "", "off"},
	KindGoroutine: {"runs", "runnable", "GC work", "syscall", "sync", "chan", "network", "rest"},
	KindGroup:     {"runs", "runnable", "GC work", "syscall", "sync", "chan", "network", "rest"},
	KindCounter:   {},
	KindLatency:   {},
}

// ClassName returns what a class means in lanes of a kind, "" if nothing.
func ClassName(k Kind, c Class) string {
	if k >= kinds || c >= classes {
		return ""
	}
	return classNames[k][c]
}

// Grain is the resolution of all times: a trace's clock ticks every 64 ns, and
// what its events have below that only tells them apart.
const Grain = 1 << grainShift

const grainShift = 6

// tick is a time in grains since the set's origin.
type tick = int64

// Options say what a set is to hold. The zero value holds everything.
type Options struct {
	// Key is the trace's identity, see [Identify]. [Set.Key] gives it back.
	Key Key
	// Memory bounds the size of the set, in bytes; 0 is no bound. Where it is
	// reached, this is left out, in turn, each time for the whole trace:
	// the lanes of goroutines with fewer than 16 spans, then 64; the spans of
	// those with more than 4096, which have a pyramid; the lanes of those with
	// fewer than 256, 1024 and 4096; the spans of Ps and threads with a
	// pyramid. [Set.Dropped] tells. Living goroutines take at most 7 KB each
	// beyond the bound.
	Memory int64
	// Goroutines chooses the goroutines that get a lane, nil all. With
	// [exectrace.Trace.ReaderAt] it brings back spans that were left out.
	Goroutines func(exectrace.GoID) bool
	// Older are the goroutines that were there before the trace: they count from
	// its begin on, and not only from when an event tells of them. A builder that
	// reads the whole trace should be given them.
	Older *Older
	// Fold, unless it is nil, keeps only what a picture of all of it shows. There are no
	// snapshots then.
	Fold *Fold
	// Look, unless it is nil, is called every 65,536 events, when one has been taken.
	Look func()
}

// lookEvery is how many events lie between two calls of [Options.Look].
const lookEvery = 1 << 16

// Dropped says what a set lacks because of [Options.Memory].
type Dropped struct {
	// Goroutines had fewer than MinSpans spans and have no lane of their own,
	// but count in that of their group.
	Goroutines int
	MinSpans   int
	// GoroutineSpans and ProcSpans say that lanes with a pyramid have nothing
	// below it.
	GoroutineSpans, ProcSpans bool
}

// Span is one stretch of time that a lane spent in one class.
type Span struct {
	timeline.Span
	Class Class
}
