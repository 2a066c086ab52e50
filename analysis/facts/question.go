package facts

import (
	"cmp"
	"slices"
	"strings"

	"loupe/recording"
	"loupe/session"
)

// Question is something that one may want to know of a program, whichever file
// tells it.
type Question string

// The questions.
const (
	// How it ended, and what it was seen to do wrong.
	Ending Question = "ending"
	Races  Question = "races"

	// Who waits, and where. Locks are a part of the waits that a mutex profile knows
	// as well. WaitTimes wants to know for how long, which one look does not tell.
	Waits     Question = "waits"
	Locks     Question = "locks"
	WaitTimes Question = "wait_times"
	LongWaits Question = "long_waits"

	// What goroutines and Ps did in each moment.
	Scheduling  Question = "scheduling"
	Parallelism Question = "parallelism"
	Goroutines  Question = "goroutines"

	// What goroutines did, waits included where something tells of them.
	Doing Question = "doing"

	// The collector and the heap.
	Collections Question = "collections"
	Pauses      Question = "pauses"
	WorldStops  Question = "world_stops"
	LiveHeap    Question = "live_heap"
	HeapSize    Question = "heap_size"
	Counters    Question = "counters"

	// Where memory is allocated, what of it is kept, and where the time goes.
	Allocations Question = "allocations"
	Kept        Question = "kept"
	KeptOrHeld  Question = "kept_or_held"
	CPU         Question = "cpu"
	Work        Question = "work"
	Compiled    Question = "compiled"
	Repetition  Question = "repetition"

	// The world around.
	Requests    Question = "requests"
	Connections Question = "connections"
	Descriptors Question = "descriptors"
	Host        Question = "host"

	// The build, and what was recorded itself.
	Built      Question = "built"
	Guided     Question = "guided"
	Captures   Question = "captures"
	Benchmarks Question = "benchmarks"
)

// questions are what each of them asks, and the kinds of entries that answer it, what
// is best recorded for it first.
var questions = map[Question]struct {
	asks string
	from []recording.Kind
}{
	Ending: {"how the program ended", []recording.Kind{recording.Stacks, recording.Stderr, session.CoreFile}},
	Races:  {"which data races were seen", []recording.Kind{recording.Stacks, recording.Stderr}},

	Waits:     {"where goroutines wait", []recording.Kind{recording.ExecTrace, recording.Block, recording.Goroutine, recording.Stacks}},
	Locks:     {"where goroutines wait for which lock", []recording.Kind{recording.ExecTrace, recording.Block, recording.Mutex, recording.Goroutine, recording.Stacks}},
	WaitTimes: {"where goroutines wait for how long", []recording.Kind{recording.Block, recording.ExecTrace}},
	LongWaits: {"which goroutines have waited for minutes", []recording.Kind{recording.Stacks, recording.Stderr, session.CoreFile}},

	Scheduling:  {"what each goroutine did when", []recording.Kind{recording.ExecTrace}},
	Parallelism: {"how many Ps worked at a time", []recording.Kind{recording.Stderr, recording.ExecTrace}},
	Doing:       {"what goroutines did, or where the CPU time goes", []recording.Kind{recording.ExecTrace, recording.CPU}},
	Goroutines:  {"how many goroutines there are, and where they stay", []recording.Kind{recording.ExecTrace, recording.GoroutineLeak, recording.Goroutine, recording.Metrics}},

	Collections: {"what each collection did", []recording.Kind{recording.Stderr}},
	Pauses:      {"how long collections stopped the program", []recording.Kind{recording.Stderr, recording.ExecTrace}},
	WorldStops:  {"what stopped the world, and who asked for it", []recording.Kind{recording.ExecTrace, recording.Metrics}},
	LiveHeap:    {"how much of the heap is in use after collections", []recording.Kind{recording.Stderr, recording.Metrics, recording.Vars, recording.Heap}},
	HeapSize:    {"how large the heap was when", []recording.Kind{recording.Metrics, recording.Vars}},
	Counters:    {"what the runtime counts of its collector, its memory and its threads", []recording.Kind{recording.Metrics}},

	Allocations: {"where memory is allocated", []recording.Kind{recording.Allocs}},
	Kept:        {"where memory was allocated that is in use", []recording.Kind{recording.Heap}},
	KeptOrHeld:  {"where memory was allocated that is in use, or what holds it", []recording.Kind{recording.Heap, recording.Core}},
	CPU:         {"where the CPU time goes", []recording.Kind{recording.CPU}},
	Work:        {"where the CPU time goes, or what is allocated", []recording.Kind{recording.CPU, recording.Allocs}},
	Compiled:    {"what the compiler made of the code", []recording.Kind{recording.Compiler}},
	Repetition:  {"which calls repeat", []recording.Kind{recording.Repeats}},

	Requests:    {"how long requests took", []recording.Kind{recording.Load}},
	Connections: {"which connections are opened for requests", []recording.Kind{recording.Load, recording.ExecTrace}},
	Descriptors: {"how many files and connections are open", []recording.Kind{recording.OS, recording.ExecTrace}},
	Host:        {"what else the machine did", []recording.Kind{recording.OS}},

	Built:      {"how the program was built", []recording.Kind{recording.BuildInfo}},
	Guided:     {"by which profile the compiler went", []recording.Kind{recording.PGO}},
	Captures:   {"what was recorded of the program by several profilers", []recording.Kind{recording.CPU, recording.Allocs, recording.Heap, recording.ExecTrace, recording.Block, recording.Mutex, recording.Goroutine}},
	Benchmarks: {"what each run of a benchmark took", []recording.Kind{session.BenchmarkOutput, recording.Stdout}},
}

// Asks says what the question is: "where goroutines wait".
func (q Question) Asks() string { return questions[q].asks }

// From are the kinds of entries that answer it, what is best recorded for it first.
func (q Question) From() []recording.Kind { return questions[q].from }

// Answered tells whether a recording has something that answers it, well or not.
func (q Question) Answered(m *recording.Manifest) bool {
	return slices.ContainsFunc(q.From(), func(k recording.Kind) bool { return len(m.Of(k)) > 0 })
}

// Missing says what a recording lacks for the question, and how to record it; empty
// when it has something.
func (q Question) Missing(m *recording.Manifest) string {
	if q.Answered(m) {
		return ""
	}
	from := q.From()
	if len(from) == 1 {
		if Unrecorded(m, from[0]) != "" {
			for _, p := range m.Missed {
				if p.Profiler == files[from[0]].phase {
					return "the recording has no " + files[from[0]].name + ", although it was asked for: " + p.Reason
				}
			}
			return "the recording has no " + files[from[0]].name + ", although it was asked for (see the phases and the notes)"
		}
		return "the recording has no " + Describe(from[0])
	}
	var names, phases, how []string
	for _, kind := range from {
		f := files[kind]
		names = append(names, "no "+f.name)
		if f.phase != "" {
			phases = append(phases, f.phase)
		} else if f.how != "" {
			how = append(how, f.how)
		}
	}
	if len(phases) > 0 {
		how = append([]string{"record with -phases " + list(phases, "or")}, how...)
	}
	text := "the recording has " + list(names, "and")
	if len(how) > 0 {
		text += " (" + strings.Join(how, "; ") + ")"
	}
	return text
}

// list puts words in a row: "a, b or c".
func list(words []string, last string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// file is what an entry of a kind holds, and how to get it: a phase of loupe run, or
// something else.
type file struct{ name, phase, how string }

var files = map[recording.Kind]file{
	recording.Stderr:   {"standard error of the program, where gctrace goes", "", "loupe run records it; attach cannot"},
	recording.Allocs:   {"allocs profile", "allocs", ""},
	recording.CPU:      {"CPU profile", "cpu", ""},
	recording.OS:       {"samples of the operating system", "", ""},
	recording.Metrics:  {"samples of runtime/metrics", "", ""},
	recording.Vars:     {"/debug/vars", "", ""},
	recording.Repeats:  {"counts of calls that repeat", "repeats", ""},
	recording.Compiler: {"words of the compiler", "", "loupe run of a package or a test keeps them"},

	recording.Load:      {"load", "", "record with -load URL"},
	recording.ExecTrace: {"execution trace", "trace", ""},
	recording.Block:     {"block profile", "block", ""},
	recording.Mutex:     {"mutex profile", "mutex", ""},
	recording.Goroutine: {"goroutine profile", "goroutine", ""},
	recording.Heap:      {"heap profile", "heap", ""},
	recording.Stacks:    {"dump of goroutines", "stacks", ""},
	session.CoreFile:    {"core file", "", "loupe open CORE"},

	recording.BuildInfo:     {"build information", "", "loupe run keeps it, and loupe attach -pid on the same machine"},
	recording.PGO:           {"profile that the compiler went by", "", "loupe run keeps that of a program built with one"},
	recording.Stdout:        {"standard output", "", "loupe run -test keeps it"},
	session.BenchmarkOutput: {"output of go test -bench", "", "go test -bench . -count 10 > FILE"},

	recording.Core: {"core of the process", "core", ""},

	recording.GoroutineLeak: {"search for leaked goroutines", "goroutineleak", ""},
}

// Name names what an entry of a kind holds.
func Name(kind recording.Kind) string { return cmp.Or(files[kind].name, string(kind)) }

// Unrecorded says why a recording has no entry of a kind that it was to have; empty where it was not asked for.
func Unrecorded(m *recording.Manifest, kind recording.Kind) string {
	phase := files[kind].phase
	if phase == "" || len(m.Of(kind)) > 0 {
		return ""
	}
	for _, p := range m.Phases {
		if p.Profiler == phase && p.Error != "" {
			_, why, ok := strings.Cut(p.Error, ": ") // behind "cannot keep trace.out"
			if !ok || !strings.HasPrefix(p.Error, "cannot keep ") {
				why = p.Error
			}
			return why
		}
	}
	for _, p := range m.Missed {
		if p.Profiler == phase {
			return p.Reason
		}
	}
	return ""
}

// Describe names what an entry of a kind holds and says how to get it.
func Describe(kind recording.Kind) string {
	f, ok := files[kind]
	switch {
	case !ok:
		return string(kind)
	case f.phase != "":
		return f.name + " (record with -phases " + f.phase + ")"
	case f.how != "":
		return f.name + " (" + f.how + ")"
	}
	return f.name
}
