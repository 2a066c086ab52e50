package dump

import (
	"cmp"
	"slices"
	"strings"
)

// Concern says why something in a dump is worth a look.
type Concern uint8

// The concerns, the gravest first.
const (
	ConcernLeaked   Concern = iota // Go itself says that nothing can wake them up
	ConcernLock                    // many wait for one lock
	ConcernRunnable                // many could run and do not
	ConcernMany                    // one place has a great many goroutines
	ConcernWait                    // nothing has happened there for long
	ConcernCycle                   // goroutines wait for each other: it is listed first
)

var concernNames = [...]string{"leaked", "lock", "runnable", "many", "wait", "deadlock"}

// String returns the concern as one word.
func (c Concern) String() string {
	if int(c) < len(concernNames) {
		return concernNames[c]
	}
	return "unknown"
}

// Suspect is something in a dump that is worth a look first. A dump is one
// moment: it proves a panic, but nothing about time.
type Suspect struct {
	Concern Concern
	Count   int64
	MaxWait int32  // minutes
	Group   *Group // nil for locks and the whole
	Lock    *Lock
	Cycle   *Cycle // goroutines that wait for each other
}

// From how many on goroutines are suspicious; chosen such that a healthy server
// with a pool of some dozen of everything has none.
const (
	lockFew     = 3    // waiters for a lock of which the holder waits elsewhere
	lockMany    = 10   // waiters for any lock
	runnableFew = 50   // that could run
	manyFew     = 1000 // at one place
	waitShort   = 5    // minutes
	maxSuspects = 4    // of each concern
)

// Suspects finds what is worth a look first, the gravest first.
func Suspects(f *File, keep func(g int) bool) []Suspect {
	groups := f.Groups(keep)
	var all []Suspect
	var runnable, total int64
	for i := range groups {
		x := &groups[i]
		total += x.Count
		if x.State == "runnable" {
			runnable += x.Count
		}
	}
	if runnable >= runnableFew {
		all = append(all, Suspect{Concern: ConcernRunnable, Count: runnable})
	}
	locked := map[int]bool{} // members of groups that a lock explains
	for _, l := range f.Locks(keep) {
		waits := len(l.Holders) > 0 && f.State(l.Holders[0]).Name != "runnable" && f.State(l.Holders[0]).Name != "running"
		if l.Waiters >= lockMany || l.Waiters >= lockFew && waits {
			all = append(all, Suspect{Concern: ConcernLock, Count: l.Waiters, MaxWait: l.MaxWait, Lock: &l})
			for i := range groups {
				if groups[i].Stack == l.Stack {
					locked[i] = true
				}
			}
		}
	}
	for _, c := range f.Cycles(keep) {
		all = append(all, Suspect{Concern: ConcernCycle, Count: c.Stuck, MaxWait: c.MaxWait, Cycle: &c})
	}
	for i := range groups {
		x := &groups[i]
		s := Suspect{Count: x.Count, MaxWait: x.MaxWait, Group: x}
		switch {
		case x.Leaked:
			s.Concern = ConcernLeaked
		case locked[i] || x.State == "running" || x.State == "runnable" || ofRuntime(x.State):
			continue
		case x.Count >= manyFew && x.Count*4 >= total:
			s.Concern = ConcernMany
		case x.MaxWait >= waitShort && !isListening(f, x):
			s.Concern = ConcernWait
		default:
			continue
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b Suspect) int {
		byWait := 0
		if a.Concern == ConcernWait {
			byWait = cmp.Compare(b.MaxWait, a.MaxWait)
		}
		if (a.Concern == ConcernCycle) != (b.Concern == ConcernCycle) {
			return cmp.Compare(b.Concern, a.Concern)
		}
		return cmp.Or(cmp.Compare(a.Concern, b.Concern), byWait, cmp.Compare(b.Count, a.Count))
	})
	n := map[Concern]int{}
	return slices.DeleteFunc(all, func(s Suspect) bool { n[s.Concern]++; return n[s.Concern] > maxSuspects })
}

// ofRuntime tells that only the runtime's own goroutines are in this state.
func ofRuntime(state string) bool {
	return strings.HasPrefix(state, "GC ") || strings.HasPrefix(state, "force gc") || strings.HasPrefix(state, "finalizer wait") ||
		strings.HasPrefix(state, "cleanup wait") || strings.HasPrefix(state, "GOMAXPROCS updater") || state == "idle" || state == "runtime stack" || state == "trace reader (blocked)" || strings.HasPrefix(state, "debug call")
}

// isListening tells that a group waits for the world outside, as listeners,
// idle connections, signal handlers and main functions do.
func isListening(f *File, x *Group) bool {
	if x.State == "IO wait" || x.State == "syscall" || x.State == "sleep" {
		return true
	}
	for _, id := range f.Stacks.Frames(x.Stack) {
		switch name := f.Stacks.Frame(id).Func; {
		case name == "main.main", name == "runtime.main", name == "os/signal.signal_recv", strings.HasPrefix(name, "os/signal."):
			return true
		}
	}
	return false
}
