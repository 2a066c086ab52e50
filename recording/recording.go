// Package recording is the container in which loupe keeps what it captured
// from one program: a directory, or the same tree in one zip file, of
// standard files beside a manifest that says what each of them is.
//
// It knows kinds of entries by name and decodes none of them. A recording is
// written through a [Writer], which survives a crash, a full disk or a kill at
// any moment (see docs/formats/recording.md), and read through [Open] from any
// fs.FS. A live view is a recording that is still being written.
package recording

import (
	"path"
	"strings"
	"time"

	"loupe/value/stats"
	"loupe/value/timeline"
)

// Schema names the version of the manifest.
const Schema = "loupe.recording/1"

// Names of the files that every recording has.
const (
	// ManifestName is written when the recording is closed.
	ManifestName = "manifest.json"
	// JournalName holds the same facts as they happened, one JSON object a
	// line; a recording without a manifest is read from it.
	JournalName = "journal.ndjson"
)

// Kind says what an entry is.
type Kind string

// The kinds of entries. The text after "pprof." is the name under
// /debug/pprof.
const (
	CPU            Kind = "pprof.cpu"
	Allocs         Kind = "pprof.allocs"
	Heap           Kind = "pprof.heap"
	Block          Kind = "pprof.block"
	Mutex          Kind = "pprof.mutex"
	Goroutine      Kind = "pprof.goroutine"
	ThreadCreate   Kind = "pprof.threadcreate"
	GoroutineLeak  Kind = "pprof.goroutineleak"
	ExecTrace      Kind = "exectrace"
	Stderr         Kind = "stderr"          // raw text; gctrace and schedtrace are read out of it
	Stdout         Kind = "stdout"          // what the program printed to its standard output
	StderrChildren Kind = "stderr.children" // lines of the runtimes of child processes, each behind its pid
	StderrTimes    Kind = "stderr.times"    // arrival time of each line of it, ns, one a line
	Metrics        Kind = "metrics"         // runtime/metrics samples, NDJSON
	Vars           Kind = "vars"            // /debug/vars samples, NDJSON
	OS             Kind = "os"              // samples of the machine and the process, NDJSON
	Load           Kind = "load"            // every request of a load run
	Source         Kind = "source"          // a source file that profiles point into
	Dependency     Kind = "dependency"      // a source file of a package that the program imports, which makes HTTP clients
	BuildInfo      Kind = "buildinfo"       // text of `go version -m`
	Compiler       Kind = "compiler"        // what the compiler says about a package
	PGO            Kind = "pgo"             // the profile that the compiler went by
	Stacks         Kind = "stacks"          // goroutine dumps as text: a panic, SIGQUIT, debug=2
	Calls          Kind = "calls"           // what is called in front of addresses of the allocs profile
	Repeats        Kind = "repeats"         // which calls repeat: same arguments, same result
	Core           Kind = "memory.core"     // a core: the memory of the process at one moment
	CoreHeap       Kind = "memory.heap"     // the heap profile that was taken right before it
	Program        Kind = "memory.program"  // the executable, which its memory is read with
)

// Manifest describes a recording.
type Manifest struct {
	Schema string `json:"schema"`
	// ID is unique and sorts by time.
	ID    string `json:"id"`
	Title string `json:"title"`
	// Tool is the version of loupe that wrote the recording.
	Tool string `json:"tool,omitempty"`
	// Start is the wall-clock date of the recording's epoch, the zero of
	// its time axis; every span in the manifest counts from it.
	Start  time.Time `json:"start"`
	Target Target    `json:"target"`
	Host   Host      `json:"host"`
	// Phases are in order of time and never overlap within one process.
	Phases  []Phase  `json:"phases"`
	Entries []Entry  `json:"entries"`
	Clocks  []Clock  `json:"clocks,omitempty"`
	Marks   []Mark   `json:"marks,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	// Missed are the phases that were asked for and that it did not come to.
	Missed []Missed `json:"missed,omitempty"`
	// Turns is how the programs that took turns were put in order; nil where none did,
	// and where the order was fixed.
	Turns *stats.Order `json:"turns,omitempty"`
	// Looks are the numbers of rounds after which it was looked whether all is decided;
	// nil where the number of rounds was fixed beforehand.
	Looks []int `json:"looks,omitempty"`
	// Made is what it takes to make the recording again; nil where that is not known.
	Made *Made `json:"made,omitempty"`
	// End is when the recording was closed.
	End timeline.Time `json:"end_ns"`
	// Complete is false when the writer did not come to its end: the
	// recording was cut off or is still being written.
	Complete bool `json:"complete"`
}

// Made is how a recording was made, so that it can be made again: the command line, where
// it was typed, and what else the program was given.
type Made struct {
	// Flags are those of loupe run, as typed, Target and Args what followed them. Secrets
	// are masked, as everywhere in a manifest.
	Flags  []string `json:"flags,omitempty"`
	Target string   `json:"target"`
	Args   []string `json:"args,omitempty"`
	// Dir is the folder in which it was typed.
	Dir string `json:"dir"`
	// Input is what standard input was.
	Input Input `json:"input"`
	// Masked tells that a word was secret, so that the line is not whole.
	Masked bool `json:"masked,omitempty"`
	// Commit is the commit of git that was checked out, "" where there was no repository.
	// Edited tells that the files differed from it.
	Commit string `json:"commit,omitempty"`
	Edited bool   `json:"edited,omitempty"`
}

// Input says what a program had as its standard input.
type Input string

// The inputs. None is nothing, or a terminal, which a recorded program does not get. Neither
// a File nor a Stream is kept.
const (
	NoInput     Input = "none"
	FileInput   Input = "file"
	StreamInput Input = "stream"
)

// Target says which program was recorded and how it was reached.
type Target struct {
	// Kind is "package", "binary", "test", "url" or "pid".
	Kind string `json:"kind"`
	// Name is what the user typed.
	Name string   `json:"name"`
	Args []string `json:"args,omitempty"`
	Dir  string   `json:"dir,omitempty"`
	// Env holds the variables that steer the runtime (GODEBUG, GOGC,
	// GOMEMLIMIT, GOMAXPROCS) as the program saw them.
	Env     []string `json:"env,omitempty"`
	Package string   `json:"package,omitempty"`
	Module  string   `json:"module,omitempty"`
	// Go is the version of the toolchain that built the program.
	Go string `json:"go,omitempty"`
	// BuildSettings are the settings of the build as debug/buildinfo has
	// them (-tags, vcs.revision, GOARCH …).
	BuildSettings map[string]string `json:"build_settings,omitempty"`
	// Stripped tells that the file of the program has no table of symbols, whoever
	// took it out: the linker, or strip afterwards.
	Stripped bool `json:"stripped,omitempty"`
	// Build names the very build: two targets with the same one ran the same
	// program. Empty where that is not known.
	Build string `json:"build,omitempty"`
	// Agent tells whether loupe's agent was built into the program.
	Agent bool `json:"agent"`
	// Runs are the processes that were started, in order.
	Runs []Run `json:"runs,omitempty"`
}

// Run is one process of the target: what `time` would tell of it.
type Run struct {
	PID int `json:"pid"`
	// Server is the process that answered the load where it was another one, such as a child;
	// the phases have its figures. 0 is the process itself.
	Server int           `json:"server,omitempty"`
	Span   timeline.Span `json:"span"`
	// User and System are the CPU time of the process and of the children
	// that it waited for.
	User   time.Duration `json:"user_ns"`
	System time.Duration `json:"system_ns"`
	// MaxRSS is the largest resident set in bytes.
	MaxRSS int64 `json:"max_rss"`
	// Exit is how the process ended: "exit 0", "signal: interrupt"; empty
	// while it runs or when loupe did not see the end.
	Exit string `json:"exit,omitempty"`
	// Stopped tells that loupe ended the process, not the program itself.
	Stopped bool `json:"stopped,omitempty"`
}

// Host holds the facts about the machine that bear on a measurement.
type Host struct {
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Kernel string `json:"kernel,omitempty"`
	CPU    string `json:"cpu,omitempty"`
	CPUs   int    `json:"cpus"`
	// Level is what the processor can do, as GOAMD64 names it: "v3". Empty is unknown, or
	// another architecture.
	Level string `json:"level,omitempty"`
	// Quota is the CPU limit of the cgroup in CPUs, 0 when there is none.
	Quota float64 `json:"quota,omitempty"`
	// Memory is that of the machine in bytes.
	Memory int64 `json:"memory,omitempty"`
	// MemoryLimit is that of the cgroup in bytes, 0 when there is none.
	MemoryLimit int64 `json:"memory_limit,omitempty"`
	// Virtual names the hypervisor or container found, empty on metal.
	Virtual string `json:"virtual,omitempty"`
	// Load is the one-minute load average at the start.
	Load float64 `json:"load"`
	// BootID tells whether two recordings share a monotonic clock.
	BootID string `json:"boot_id,omitempty"`
}

// Phase is a part of the recording in which one thing was switched on.
type Phase struct {
	// Name is unique within the recording: "bare", "cpu", "bare-2".
	Name string        `json:"name"`
	Span timeline.Span `json:"span"`
	// Profiler is what was switched on; empty in a bare phase.
	Profiler string `json:"profiler,omitempty"`
	// Round counts the interleaved rounds from 1; 0 outside rounds.
	Round int `json:"round,omitempty"`
	// Order is the place of a round among all programs that took turns,
	// from 1: of AB BA, A has 1 and 4 and B has 2 and 3.
	Order int `json:"order,omitempty"`
	// Run is the index of the process in Target.Runs, -1 for none.
	Run int `json:"run"`
	// Lives is how many processes in turn the phase has, from Run on, where they are more than one:
	// a program that ends soon is started until its profile has enough.
	Lives int `json:"lives,omitempty"`
	// User and System are the CPU time that the target used in the phase.
	User   time.Duration `json:"user_ns"`
	System time.Duration `json:"system_ns"`
	// MaxRSS is the largest resident set seen by the end of the phase, in
	// bytes; 0 where it is unknown.
	MaxRSS int64 `json:"max_rss,omitempty"`
	// Error says why the phase has nothing or less than asked.
	Error string `json:"error,omitempty"`
	// Elsewhere tells that no single process answered all requests that could be measured: what
	// is known of the target's CPU time, memory and collector is not that of the requests.
	Elsewhere bool `json:"elsewhere,omitempty"`
	// Cut tells that the user ended a round before its time: it is not one of those that
	// are compared.
	Cut bool `json:"cut,omitempty"`
}

// Has tells whether a process is one of the phase, by its index in Target.Runs.
func (p Phase) Has(run int) bool { return p.Run <= run && run < p.Run+max(1, p.Lives) }

// Bare tells whether nothing but gctrace, schedtrace and metrics was on.
func (p Phase) Bare() bool { return p.Profiler == "" }

// Entry is one captured file.
type Entry struct {
	// Path is slash-separated and relative to the recording.
	Path string `json:"path"`
	Kind Kind   `json:"kind"`
	// Phase names the phase it belongs to; empty for the whole recording.
	Phase string `json:"phase,omitempty"`
	// Run is the index of the process in Target.Runs.
	Run   int           `json:"run,omitempty"`
	Span  timeline.Span `json:"span"`
	Bytes int64         `json:"bytes"`
	// SHA256 in hexadecimal; empty while the entry is being written.
	SHA256 string `json:"sha256,omitempty"`
	// Source says where it came from: a URL, "agent", a path.
	Source string `json:"source,omitempty"`
	// Own marks a capture that the program took of itself.
	Own bool `json:"own,omitempty"`
	// Partial marks an entry that was not closed: what is there is good,
	// the end may be missing.
	Partial bool `json:"partial,omitempty"`
}

// Clock says how the time inside one entry maps onto the recording's axis.
type Clock struct {
	// Path is that of the entry.
	Path string `json:"path"`
	timeline.Clock
}

// Mark is an instant worth remembering: a signal, an alert, a user's note.
type Mark struct {
	At   timeline.Time `json:"at_ns"`
	Text string        `json:"text"`
}

// Missed is a phase that was asked for and that a recording did not come to, and why.
type Missed struct {
	Profiler string `json:"profiler"`
	Reason   string `json:"reason"`
}

// TestFlag begins the source of an entry that a test binary wrote, in a run of its own, because of
// one of its flags: "go test -test.cpuprofile".
const TestFlag = "go test "

// A source that is kept lies under sourceFolder, and its name ends in
// sourceSuffix: a recording may lie anywhere in a module, and neither the go
// command nor an editor or a linter must take its copies for packages.
const (
	sourceFolder     = "source/"
	dependencyFolder = "dependency/"
	sourceSuffix     = ".txt"
)

// SourcePath returns the path of the entry that keeps a source file; name is
// slash-separated, and begins with "abs/" where the file lies outside the
// module.
func SourcePath(name string) string { return sourceFolder + name + sourceSuffix }

// DependencyPath returns the path of the entry that keeps a source file of a package that the program
// imports: pkg is the path by which it is imported, file the name without a folder.
func DependencyPath(pkg, file string) string {
	return dependencyFolder + pkg + "/" + file + sourceSuffix
}

// DependencyName returns the import path of a package and the name of the file that
// [DependencyPath] was given.
func (e Entry) DependencyName() (pkg, file string) {
	name := strings.TrimSuffix(strings.TrimPrefix(e.Path, dependencyFolder), sourceSuffix)
	return path.Dir(name), path.Base(name)
}

// SourceName returns the name that [SourcePath] was given. Recordings of loupe
// before 2026-11-22 have sources without the suffix.
func (e Entry) SourceName() string {
	return strings.TrimSuffix(strings.TrimPrefix(e.Path, sourceFolder), sourceSuffix)
}

// PhaseNamed returns the phase with the given name.
func (m *Manifest) PhaseNamed(name string) (Phase, bool) {
	for _, p := range m.Phases {
		if p.Name == name {
			return p, true
		}
	}
	return Phase{}, false
}

// Main returns the entry that speaks for the others of its kind: the last one,
// but of those that the program captured itself only one that is longer than
// what loupe captured.
func (m *Manifest) Main(kind Kind) (Entry, bool) {
	var ours, own Entry
	for _, e := range m.Of(kind) {
		switch {
		case !e.Own:
			ours = e
		case e.Span.Len() >= own.Span.Len():
			own = e
		}
	}
	if own.Path != "" && (ours.Path == "" || own.Span.Len() > ours.Span.Len()) {
		return own, true
	}
	return ours, ours.Path != ""
}

// Of returns the entries of a kind in the order of their capture.
func (m *Manifest) Of(kind Kind) []Entry {
	var found []Entry
	for _, e := range m.Entries {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}
