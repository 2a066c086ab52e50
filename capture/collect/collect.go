// Package collect records programs: it builds them with the agent, starts
// them, reads their runtime's text, switches one profiler on at a time and
// writes everything into a recording.
//
// A target is launched ([Build], [Launch]) or found running ([Attach]); a
// [Recorder] works through phases on it. The package touches the world and
// decodes only what it must to do so; analysis happens elsewhere, on the
// recording. It draws no load: a phase runs whatever function it is given.
package collect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/recording"
	"loupe/value/unit"
)

// Phase is what to do in one phase of a recording.
type Phase struct {
	// Name is "bare", a profiler ("cpu", "block", "mutex", "trace") or a
	// profile that is taken at once ("allocs", "heap", "goroutine",
	// "threadcreate", "goroutineleak", "stacks"), "growth": heap and
	// goroutines again and again, or "core": the memory of the process.
	Name string
	// For is how long a profiler runs, or the bare phase when no load
	// bounds it.
	For time.Duration
}

// phaseKind says what a phase captures.
type phaseKind struct {
	kind     recording.Kind
	file     string // base name of the entry
	snapshot bool   // a profile that is always there, taken at once
	length   time.Duration
	what     string // for help and progress
}

// phaseKinds is the table of everything that can be captured.
var phaseKinds = map[string]phaseKind{
	"bare":          {what: "nothing switched on but gctrace, schedtrace and metrics; the heap at its peaks"},
	"cpu":           {recording.CPU, "cpu.pb.gz", false, 5 * time.Second, "CPU profile, 100 samples a second"},
	"allocs":        {recording.Allocs, "allocs.pb.gz", true, 0, "allocations since the start, one sample in 512 KiB"},
	"heap":          {recording.Heap, "heap.pb.gz", true, 0, "live heap after a collection"},
	"block":         {recording.Block, "block.pb.gz", false, 5 * time.Second, "where goroutines wait, one event in 10 µs"},
	"mutex":         {recording.Mutex, "mutex.pb.gz", false, 5 * time.Second, "who holds contended locks, one event in 10"},
	"goroutine":     {recording.Goroutine, "goroutine.pb.gz", true, 0, "stacks of all goroutines"},
	"threadcreate":  {recording.ThreadCreate, "threadcreate.pb.gz", true, 0, "stacks that led to new threads"},
	"growth":        {"", "", false, 10 * time.Second, "heap and goroutines ten times over: what grows, how fast"},
	"goroutineleak": {recording.GoroutineLeak, "goroutineleak.pb.gz", true, 0, "goroutines that nothing can wake up, by Go 1.26's own search"},
	"stacks":        {recording.Stacks, "stacks.txt", true, 0, "text of all goroutines, with their waits; stops the program"},
	"core":          {recording.Core, coreFile, true, 0, "the memory as a core: what holds what is kept; stops the program (Linux)"},
	repeatsPhase:    {recording.Repeats, repeatsFile, false, 4 * time.Second, "which calls repeat: one more build, which counts them, and run"},
	"trace":         {recording.ExecTrace, "trace.out", false, 2 * time.Second, "execution trace"},
}

// PhaseNames lists all phases in the order in which "all" takes them.
var PhaseNames = []string{"bare", "allocs", "heap", "goroutine", "threadcreate", "cpu", "block", "mutex", "trace"}

// DefaultPhases is what a recording captures when nothing else is asked.
const DefaultPhases = "bare,allocs,heap,goroutine,cpu,trace"

// DefaultRunPhases is the same where loupe builds the program.
const DefaultRunPhases = DefaultPhases + "," + repeatsPhase

// morePhases are those that "all" leaves out: they cost more, or change the build.
var morePhases = []string{"growth", "goroutineleak", "stacks", "core", repeatsPhase}

// DescribePhases returns one line for each phase, for help texts.
func DescribePhases() string {
	var b strings.Builder
	for _, name := range slices.Concat(PhaseNames, morePhases) {
		k := phaseKinds[name]
		length := ""
		if k.length > 0 {
			length = ", " + k.length.String()
		}
		fmt.Fprintf(&b, "  %-13s %s%s\n", name, k.what, length)
	}
	b.WriteString("\n\"all\" leaves out the last five.\n")
	return b.String()
}

// ParsePhases reads a list such as "bare:10s,cpu:5s,trace"; "all" stands for
// every phase of [PhaseNames], and a length given before or after it, as in
// "all,cpu:30s", holds. The bare phase always comes first and is added when it is
// not named. bare is the length of the bare phase unless the list
// gives one.
func ParsePhases(list string, bare time.Duration) ([]Phase, error) {
	phases := []Phase{{Name: "bare", For: bare}}
	seen := map[string]bool{}
	for _, word := range strings.Split(list, ",") {
		name, length, given := strings.Cut(strings.TrimSpace(word), ":")
		names := []string{name}
		switch {
		case name == "":
			continue
		case name == "all":
			names = PhaseNames
		}
		for _, name := range names {
			kind, ok := phaseKinds[name]
			if !ok {
				return nil, fmt.Errorf("unknown phase %q (there are %s, and all)", name, strings.Join(slices.Concat(PhaseNames, morePhases), ", "))
			}
			p := Phase{Name: name, For: kind.length}
			if given {
				d, err := unit.ParseDuration(length)
				if err != nil {
					return nil, fmt.Errorf("phase %s: %w", name, err)
				}
				p.For = d
			}
			switch {
			case name == "bare" && given:
				phases[0].For = p.For
			case name == "bare":
			case seen[name]:
				if at := slices.IndexFunc(phases, func(p Phase) bool { return p.Name == name }); given {
					phases[at].For = p.For
				}
			default:
				phases = append(phases, p)
			}
			seen[name] = true
		}
	}
	return phases, nil
}
