// Package dump reads what a Go program prints of its goroutines when it
// panics, deadlocks, is sent SIGQUIT or is asked through /debug/pprof/goroutine:
// stack dumps of every Go version from 1.4 on, race reports, and the text
// profiles with debug=1. They are found inside logs, behind the prefixes of log
// drivers and inside JSON, and any number of them may be in one file.
//
// A dump is columns: one number of each kind for every goroutine, over a table
// of interned stacks. The words of arguments are not kept; [File.Calls] reads
// them again from the text, where it is at hand, and [ParseArgs] takes them
// apart. Stacks never differ by their arguments.
//
// The grammar is open: states, attributes and messages that no version of Go
// has printed yet are taken as they are. A line inside a dump that is not
// understood is counted, and the first ones are kept ([File.Odd]).
//
// The package opens no file, resolves no symbol and decodes no value: which word
// of a frame is which parameter is for whoever has the binary. The formats are
// described in docs/formats/stacks.md.
package dump

import (
	"bytes"

	"loupe/value/stack"
)

// CreatedBy begins the name of the root frame of a goroutine: "created by
// main.serve" is the go statement in main.serve, which is no call and may have
// returned long ago. System of such a frame is the name of the function alone.
const CreatedBy = "created by "

// Names of frames that stand for what a dump does not show.
const (
	FramesElided = "[frames elided]"
	NoStack      = "[stack unavailable]"
	NotGo        = "non-Go function"
)

// Kind says why a dump was printed.
type Kind uint8

// The kinds of dumps.
const (
	Goroutines    Kind = iota // goroutines and no reason: debug=2, runtime.Stack
	Panic                     // panic: …
	Fatal                     // fatal error: …
	Deadlock                  // all goroutines are asleep, or those of a bubble
	StackOverflow             // goroutine stack exceeds … limit
	Timeout                   // panic: test timed out after …
	Signal                    // SIGQUIT, SIGABRT, a fault in C code
	Profile                   // text profile, debug=1: stacks with counts
)

var kindNames = [...]string{"goroutines", "panic", "fatal error", "deadlock", "stack overflow", "test timeout", "signal", "profile"}

// String returns the kind in words.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Dump is one dump of a file: a reason, and the goroutines that follow it.
type Dump struct {
	Kind Kind
	// Message is everything that the program said before the first goroutine,
	// without the prefixes of a log; at most 64 KiB of it.
	Message string
	// Panics are the panics of the message, the first one first: the next ones
	// happened while it was being handled.
	Panics []PanicValue
	// SignalLine is "[signal SIGSEGV: …]" or "SIGQUIT: quit", or "".
	SignalLine string
	// First and End bound the dump's goroutines: First <= g < End.
	First, End int
	// Threads are those whose registers were printed (GOTRACEBACK=crash, a signal).
	Threads []Thread
	// Offset is where the dump begins in the text.
	Offset int64
	// Prefix tells how the lines were wrapped: "" is not at all, else the first
	// prefix that was taken off, or `"log":` for a field of JSON.
	Prefix string
	// Total is the number that a text profile states for itself.
	Total int64
}

// PanicValue is one panic of a message.
type PanicValue struct {
	// Value is what was passed to panic, as the runtime prints it; it may have
	// several lines.
	Value      string
	Recovered  bool // a deferred function has recovered it
	Repanicked bool // and has panicked with the same value again (since Go 1.23)
	Goexit     bool // runtime.Goexit was under way
}

// Thread is what is printed of one operating system thread.
type Thread struct {
	Signal    string // "SIGQUIT: quit"
	PC        uint64
	M         int64 // the runtime's number of the thread
	Code      int64 // sigcode
	Registers []Register
}

// Register is one register of a thread.
type Register struct {
	Name  string
	Value uint64
}

// State is what the brackets behind a goroutine's number say, but for the time
// that it has waited.
type State struct {
	// Name is the status or the reason of waiting: "running", "chan receive".
	Name    string
	Leaked  bool // no other goroutine can wake it up (Go 1.26)
	Scan    bool // the collector was reading its stack
	Durable bool // only its bubble can wake it up (Go 1.25)
	Locked  bool // to its thread
	// Bubble is the number of the synctest bubble, or "".
	Bubble string
	// Labels is the list of labels as printed: `"route": "/users"`. [State.Pairs]
	// takes it apart.
	Labels string
	// More are attributes that no known version prints.
	More string
}

// StateID is a position in [File.States].
type StateID uint32

// Flags say what is unusual about a goroutine.
type Flags uint8

// The flags.
const (
	// System marks the stack of a thread and no goroutine: goroutine 0 and
	// "runtime stack". It has no share in counts.
	System Flags = 1 << iota
	// Again marks a goroutine that was printed before in the same dump, as
	// GOTRACEBACK=crash does. It has no share in counts.
	Again
	// Doubtful marks a goroutine that may be part of the text of a panic: its
	// value has several lines, and Go before 1.23 did not indent them. It has no
	// share in counts.
	Doubtful
	// Cut marks a goroutine in the midst of which the text ends.
	Cut
	// Unavailable marks a goroutine that was running elsewhere.
	Unavailable
	// Elided marks a stack with frames left out in the middle or at the end.
	Elided
	// Ancestors marks a goroutine with the stacks of those that created it.
	Ancestors
)

// File is everything that a text holds. Nobody modifies it after [Parse], so
// any number of goroutines may share it.
type File struct {
	Dumps []Dump
	Races []Race
	// Stacks holds the stacks of all goroutines, leaf first; the go statement is
	// the root, see [CreatedBy].
	Stacks *stack.Table
	// States are the distinct states.
	States []State

	// The columns: entry g of each belongs to goroutine g.
	IDs      []uint64   // as Go numbers it; 0 is the stack of a thread
	StackIDs []stack.ID // in Stacks
	StateIDs []StateID  // in States
	Waits    []int32    // minutes that it has waited at least; 0 is less than one
	Creators []uint64   // the goroutine that made it, since Go 1.21; 0 is not known
	Objects  []uint64   // address of the lock or channel that it waits for; 0 is not known
	Flags    []Flags
	// Counts is how many goroutines each entry stands for; nil where each is one.
	Counts []int64

	// Frames counts the frames that were printed, ancestors and races included;
	// CreatedBys are the "created by" lines among them.
	Frames, CreatedBys int64
	// AncestorStacks counts the stacks of creators.
	AncestorStacks int64
	// Lines and Bytes are what was read.
	Lines, Bytes int64
	// Unrecognised counts lines of dumps that were not understood, or look like
	// a part of one; Odd has the first of them.
	Unrecognised int64
	Odd          []Line
	// Cut tells that the text ends in the midst of a goroutine. Exactly 64 MiB
	// of debug=2 are a dump that Go has cut off, see [File.CutByGo].
	Cut bool
	// Full tells that there was more than [MaxGoroutines], and the rest was left out.
	Full bool
	// Folded counts what was not told apart, for want of memory.
	Folded Folded

	starts []int64 // of each goroutine's text
	sizes  []uint32
	text   []byte
	extra  [][]byte // decoded texts; offset (i+1)<<extraShift
	kept   map[int][]byte
	envs   []envelope // by dump
}

// Line is one line of the text.
type Line struct {
	Number, Offset int64 // the first line is 1
	Text           string
}

// Bounds that no real dump comes near.
const (
	MaxGoroutines = 1 << 24
	maxOdd        = 50
	maxOddText    = 240
	maxMessage    = 64 << 10
	maxLine       = 4 << 20
)

const extraShift = 44

// goLimit is where net/http/pprof and runtime/pprof cut a dump with debug=2:
// the largest buffer that they offer to runtime.Stack.
const goLimit = 64 << 20

// Len returns the number of goroutines and threads in the columns.
func (f *File) Len() int { return len(f.IDs) }

// Count returns how many goroutines entry g stands for: 0 where it was there
// before, is a thread's stack or is not to be believed.
func (f *File) Count(g int) int64 {
	if f.Flags[g]&(System|Again|Doubtful) != 0 {
		return 0
	}
	if f.Counts == nil {
		return 1
	}
	return f.Counts[g]
}

// Goroutines returns the number of goroutines of all dumps.
func (f *File) Goroutines() (n int64) {
	for g := range f.IDs {
		n += f.Count(g)
	}
	return n
}

// CutByGo tells that the dump was cut off at the 64 MiB that Go's own servers
// have for it, without a word.
func (f *File) CutByGo() bool { return f.Bytes == goLimit && f.Len() > 0 }

// State returns the state of a goroutine.
func (f *File) State(g int) *State { return &f.States[f.StateIDs[g]] }

// DumpOf returns the position of the dump that goroutine g is in.
func (f *File) DumpOf(g int) int {
	lo, hi := 0, len(f.Dumps)
	for lo < hi {
		if mid := (lo + hi) / 2; f.Dumps[mid].End <= g {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// Text returns the text of a goroutine with the prefixes of its log, or nil
// when it was not kept: [Read] keeps one of each group. What was read out of a
// process has none.
func (f *File) Text(g int) []byte {
	if kept, ok := f.kept[g]; ok {
		return kept
	}
	if g >= len(f.starts) {
		return nil
	}
	from := f.starts[g]
	text := f.text
	if n := from >> extraShift; n > 0 {
		text, from = f.extra[n-1], from&(1<<extraShift-1)
	}
	end := from + int64(f.sizes[g])
	if from < 0 || end > int64(len(text)) {
		return nil
	}
	return text[from:end]
}

// LooksLike tells whether the begin of a file is, or holds, the begin of a dump.
func LooksLike(head []byte) bool {
	if bytes.Contains(head, []byte("WARNING: DATA RACE")) {
		return true
	}
	if i := bytes.Index(head, []byte("goroutine")); i >= 0 {
		if bytes.HasPrefix(head, []byte("goroutine profile: total ")) || bytes.HasPrefix(head, []byte("goroutineleak profile: total ")) {
			return true
		}
	}
	for rest := head; ; {
		i := bytes.Index(rest, []byte("goroutine "))
		if i < 0 {
			return false
		}
		rest = rest[i:]
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		if looseHeader(line) > 0 {
			return true
		}
		rest = rest[len("goroutine "):]
	}
}
