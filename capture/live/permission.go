package live

import "fmt"

// Permission says whether one way to look into a process is open.
type Permission struct {
	// What is the way: "goroutines", "heap", "cpu", "counters",
	// "core".
	What string `json:"what"`
	How  string `json:"how"`
	OK   bool   `json:"ok"`
	// Why says why not, Opens what would open it; it is empty where nothing
	// would.
	Why   string `json:"why,omitempty"`
	Opens string `json:"opens,omitempty"`
	// Flag is the flag of loupe attach that opens it, if there is one.
	Flag string `json:"flag,omitempty"`
}

// String is a permission in one line.
func (p Permission) String() string {
	switch {
	case p.OK:
		return fmt.Sprintf("%s: yes, %s", p.What, p.How)
	case p.Opens != "":
		return fmt.Sprintf("%s: no, %s: %s", p.What, p.Why, p.Opens)
	}
	return fmt.Sprintf("%s: no, %s", p.What, p.Why)
}

// HeapProfilingFlag is the flag of loupe attach that asks for
// [Process.StartHeapProfiling].
const HeapProfilingFlag = "-heap-profiling"

// ways are what [Permissions] looks at, each with how it is done.
var ways = [][2]string{
	{"goroutines", "its memory is read while it runs"},
	{"heap", "the heap profile that its runtime keeps is read out of its memory"},
	{"cpu", fmt.Sprintf("perf events look at it %d times a second", Frequency)},
	{"counters", "the processor counts its cycles and instructions"},
	{"core", "its memory is copied into a file"},
}

// refusal is an error that says why something cannot be had of a process, and
// what would change that.
type refusal struct {
	Why   string
	Opens string // empty where nothing would
	kind  error
}

// Error says both.
func (r *refusal) Error() string {
	text := r.Why
	if r.kind != nil {
		text = r.kind.Error() + ": " + text
	}
	if r.Opens != "" {
		text += ": " + r.Opens
	}
	return text
}

// Unwrap returns what kind of refusal it is, such as [ErrNotPermitted].
func (r *refusal) Unwrap() error { return r.kind }
