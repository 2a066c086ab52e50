package facts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// Stops are the stops of the world that the program has asked for itself: those for its
// statistics, its profiles and its settings, and of the collector those of collections
// that it forces. What the recorder asks for is left out, and so are collections that
// the runtime begins by itself.
type Stops struct {
	Provenance
	// All are the places that ask for them, the most time first.
	All []Stop
	// Unnamed is how many there were, and how long together, of which the trace does not
	// say what they were for, as its end is lost: the collector's are among them.
	Unnamed sched.Spent
}

// Stop is what one line of the program stops the world for.
type Stop struct {
	// For says what the world is stopped for, by the name of the call where there is one:
	// "runtime.ReadMemStats", "a goroutine profile".
	For string
	// Forced tells that it is a collection.
	Forced bool
	// At is the line that asks for it, and Own that it is the user's. It is empty where
	// the trace does not say.
	At     stack.Frame
	Own    bool
	Frames []stack.Frame // of the longest stop
	// Count is how often, Sum how long all of them took together, Longest the longest.
	// Of a forced collection that is the stop before marking alone.
	Count        int64
	Sum, Longest time.Duration
	// Worst is when the longest was, in the trace's own time.
	Worst timeline.Span
}

// StopsIn reads them from the execution trace; the error is why there is none.
func StopsIn(f *Facts) (*Stops, error) {
	t := f.Trace()
	if t.Err != nil {
		return nil, t.Err
	}
	s := &Stops{Provenance: f.provenance(t.Entry, t.Length())}
	s.What, s.Precision = "execution trace", Measured
	type key struct {
		what, file string
		line       int
	}
	by := map[key]int{}
	for i := range t.GC.Stops {
		p := &t.GC.Stops[i]
		one, ok := askedFor(t, p)
		if !ok {
			if t.StopName(p.Kind) == exectrace.Unnamed {
				s.Unnamed.Count += p.Count
				s.Unnamed.Time += p.Sum
			}
			continue
		}
		k := key{one.For, one.At.File, one.At.Line}
		at, seen := by[k]
		if !seen {
			by[k], s.All = len(s.All), append(s.All, one)
			continue
		}
		s.All[at].add(&one)
	}
	slices.SortStableFunc(s.All, func(a, b Stop) int { return cmp.Compare(b.Sum, a.Sum) })
	return s, nil
}

// askedFor tells what stops at one place are for; ok is false where the program did not ask.
func askedFor(t *Trace, p *sched.Stops) (out Stop, ok bool) {
	frames := t.Frames(p.Stack)
	if slices.ContainsFunc(frames, records) || len(frames) > 0 && recorders(frames) {
		return out, false
	}
	out = Stop{Frames: frames, Count: p.Count, Sum: p.Sum, Longest: p.Max, Worst: p.Worst.Span}
	out.Forced = slices.ContainsFunc(frames, ForcesCollection)
	name := t.StopName(p.Kind)
	switch {
	case out.Forced:
		out.For = "runtime.GC"
	case t.OfCollector(p.Kind), byRuntime(frames):
		return out, false
	case len(frames) == 0 && (name == "start trace" || name == "stop trace"):
		return out, false // who takes the trace
	case name == exectrace.Unnamed:
		return out, false // the collector stops in the middle of the program too, where it allocates
	default:
		out.For = stopFor[name]
		if out.For == "" {
			out.For = "“" + name + "”"
		}
	}
	if call := calledBy(t.Scope, frames); call != "" {
		out.For = call
	}
	out.At = t.Site(p.Stack)
	out.Own = t.Scope.IsUser(out.At)
	return out, true
}

// add takes stops of another stack at the same line.
func (s *Stop) add(o *Stop) {
	s.Count += o.Count
	s.Sum += o.Sum
	if o.Longest > s.Longest {
		s.Longest, s.Worst, s.Frames = o.Longest, o.Worst, o.Frames
	}
}

// stopFor says what the world is stopped for, by the runtime's own name of it
// (stwReasonStrings in runtime/proc.go).
var stopFor = map[string]string{
	"read mem stats":             "runtime.ReadMemStats",
	"goroutine profile":          "a goroutine profile",
	"goroutine profile cleanup":  "a goroutine profile",
	"all goroutines stack trace": "the stacks of all goroutines",
	"write heap dump":            "debug.WriteHeapDump",
	"GOMAXPROCS":                 "a change of GOMAXPROCS, GOGC or the memory limit",
	"AllThreadsSyscall":          "syscall.AllThreadsSyscall",
	"start trace":                "the start of a trace",
	"stop trace":                 "the end of a trace",
}

// calledBy names the function of the standard library that the user's code, or that of
// another module, has called; empty where no such code is on the stack.
func calledBy(scope stack.Scope, frames []stack.Frame) string {
	for i, f := range frames {
		if scope.Of(f) < stack.Dependency {
			continue
		}
		if i == 0 {
			return ""
		}
		return stack.Short(frames[i-1].Func)
	}
	return ""
}

// ForcesCollection tells whether a frame is of a call that runs a collection at once.
func ForcesCollection(f stack.Frame) bool {
	return f.Func == "runtime.GC" || f.Func == "runtime/debug.FreeOSMemory" || f.Func == "runtime/debug.freeOSMemory"
}

// records tells whether a frame is of what records the program, from within or by its
// own /debug/pprof and /debug/vars.
func records(f stack.Frame) bool {
	return stack.IsAgent(f.Func) || stack.Package(f.Func) == "net/http/pprof" || strings.HasPrefix(f.Func, "expvar.expvarHandler") || strings.HasPrefix(f.Func, "expvar.Handler")
}

// byRuntime tells whether there is nothing on a stack but the runtime itself: a goroutine of its
// own, as the one that follows the CPU limit of the cgroup.
func byRuntime(frames []stack.Frame) bool {
	return len(frames) > 0 && !slices.ContainsFunc(frames, func(f stack.Frame) bool { return !stack.IsRuntime(stack.Package(f.Func)) })
}

// Sum is how long all of them took together of which keep is true.
func (s *Stops) Sum(keep func(s *Stop) bool) (sum time.Duration, count int64) {
	for i := range s.All {
		if keep(&s.All[i]) {
			sum += s.All[i].Sum
			count += s.All[i].Count
		}
	}
	return sum, count
}

// CountedStops is what the runtime has counted of stops of the world and of collections,
// without where they were asked for: runtime/metrics of the rounds.
type CountedStops struct {
	Provenance
	// Other are the stops that are not the collector's; Typical is the median of all since
	// the start, 0 where it is unknown.
	Other   float64
	Typical time.Duration
	// Collections and Forced are how many there were, and how many of them the program forced.
	Collections, Forced float64
}

// CountStops adds up the rounds that tell of them; ok is false where none does.
func CountStops(f *Facts) (c CountedStops, ok bool) {
	for _, r := range ReadingsOf(f) {
		other, forced, all := r.Delta("/sched/pauses/total/other:seconds#count"), r.Delta("/gc/cycles/forced:gc-cycles"), r.Delta("/gc/cycles/total:gc-cycles")
		if !(other >= 0) && !(all > 0) {
			continue
		}
		if !ok {
			c.Provenance, ok = r.Provenance, true
			c.Length = 0
		}
		c.Length += r.Length
		c.Other += max(0, zeroed(other))
		c.Forced += max(0, zeroed(forced))
		c.Collections += max(0, zeroed(all))
		c.Typical = max(c.Typical, time.Duration(1e9*zeroed(r.Last("/sched/pauses/total/other:seconds#p50"))))
	}
	return c, ok
}

// RequestRate is how many requests a second the load of a phase had answered; 0 where it
// had none.
func RequestRate(f *Facts, phase string) float64 {
	l, _ := f.session.Load(phase)
	if l == nil || l.Elapsed <= 0 {
		return 0
	}
	return float64(l.Summary().Responses) / l.Elapsed.Seconds()
}

// CallsInProfile are the lines of the user's code in the CPU profile below which a frame
// is called of which keep is true, by the time that goes through the call. The time for
// which the world stands still is not in it, since nobody uses a CPU then.
func CallsInProfile(f *Facts, keep func(stack.Frame) bool) (lines []*Line, from *CPUTime) {
	cpu, err := f.CPU()
	if err != nil {
		return nil, nil
	}
	return calls(cpu, keep), cpu
}

// calls adds up the user's lines below which a frame is called of which keep is true.
func calls(cpu *CPUTime, keep func(stack.Frame) bool) []*Line {
	by := map[stack.Frame]*Line{}
	var all []*Line
	for id, w := range cpu.Profile.Samples(cpu.Index) {
		frames := Frames(cpu.Profile.Stacks, id)
		i := slices.IndexFunc(frames, keep)
		if w <= 0 || i < 0 || slices.ContainsFunc(frames, records) {
			continue
		}
		for _, at := range frames[i+1:] {
			if !cpu.scope.IsUser(at) {
				continue
			}
			k := stack.Frame{Func: at.Func, File: at.File, Line: at.Line}
			l := by[k]
			if l == nil {
				l = &Line{At: at, Frames: frames}
				by[k], all = l, append(all, l)
			}
			l.Weight += w
			break
		}
	}
	slices.SortStableFunc(all, func(a, b *Line) int { return cmp.Compare(b.Weight, a.Weight) })
	return all
}

// StopsWorld tells whether a frame is of a call that stops the world each time, or forces
// a collection.
func StopsWorld(f stack.Frame) bool {
	switch f.Func {
	case "runtime.ReadMemStats", "runtime.GOMAXPROCS", "runtime/debug.SetGCPercent", "runtime/debug.SetMemoryLimit", "runtime/debug.WriteHeapDump",
		"runtime.GoroutineProfile", "runtime/pprof.writeGoroutine", "runtime/pprof.writeGoroutineStacks", "syscall.AllThreadsSyscall":
		return true
	}
	return ForcesCollection(f)
}
