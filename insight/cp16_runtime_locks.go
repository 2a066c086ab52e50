package insight

import (
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var cp16 = &Rule{
	ID: "CP16", Title: "Locks inside the runtime use much of the CPU",
	About: "The runtime's own locks (of channels, the heap, timers and the scheduler) make a thread spin and then sleep while another thread holds them. They " +
		"show up in CPU profiles, not among the program's mutexes. Locking and unlocking them also costs time, most when several CPUs use the same lock.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.05, "share of CPU time", "research, CP16; the lower bound of the interval counts"},
		{"warn", 0.15, "share of CPU time", "chosen"},
		g0,
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "runtime.lock", skip: []string{"startup", "profiler.block"},
		anyone: true, below: true, busy: true, background: "collector", named: "runtime", reason: runtimeLockReason, what: "went into runtime-internal locks", tell: tellRuntimeLock}),
}

// waited is behind the owner of a lock in the reason of a stack that waits for it.
const waited = ", waited for"

// runtimeLockReason says whose lock it is, and whether the thread waits for it: it spins,
// sleeps, or wakes another one up.
func runtimeLockReason(t *stack.Table, frames []stack.FrameID) string {
	owner := runtimeLockOwner(t, frames)
	for _, f := range frames {
		switch name := t.Frame(f).Func; {
		case inSet("runtime.lock", name):
			return owner
		case inSet("runtime.lock.wait", name):
			return owner + waited
		}
	}
	return owner
}

// runtimeLockOwner says whose lock it is, by what holds or wants it.
func runtimeLockOwner(t *stack.Table, frames []stack.FrameID) string {
	for _, f := range frames {
		if t.Frame(f).Func == "runtime.gosched_m" {
			return "yield"
		}
	}
	for _, f := range frames {
		name := t.Frame(f).Func
		is := func(begins ...string) bool {
			for _, b := range begins {
				if strings.HasPrefix(name, "runtime."+b) {
					return true
				}
			}
			return false
		}
		switch {
		case is("chansend", "chanrecv", "selectgo", "selectnb", "closechan", "sellock", "selunlock"):
			return "channel"
		case is("semacquire", "semrelease", "(*semaRoot)", "notifyList", "sync_notify"):
			return "semaphore"
		case is("(*timers)", "(*timer)", "modtimer", "deltimer", "resettimer", "addtimer", "runtimer", "checkTimers"):
			return "timers"
		case is("(*mheap)", "(*mcentral)", "(*mcache)", "(*pageAlloc)", "mallocgc", "stackalloc", "stackfree", "stackcache", "(*scavenge"):
			return "heap"
		case is("schedule", "findRunnable", "findrunnable", "goschedImpl", "globrunq", "injectglist", "startm", "stopm", "wakep", "park_m", "exitsyscall", "runqput", "newproc", "gfget", "gfput"):
			return "scheduler"
		}
	}
	return "other"
}

func tellRuntimeLock(h *hit, f *Finding) {
	owner, wait := lockOwner(h)
	f.Summary += "; the lock mostly belongs to " + map[string]string{
		"channel": "a channel", "semaphore": "the goroutines that wait for mutexes", "timers": "timers", "heap": "the heap", "scheduler": "the scheduler", "other": "another part of the runtime",
	}[owner] + "; " + wait
	switch owner {
	case "channel":
		f.Advice = channelLockAdvice(h)
	case "semaphore":
		f.Advice = "Goroutines queue for a mutex: the lock findings (LK) show which; hold it for a shorter time, or split what it guards."
	case "timers":
		f.Advice = "Many timers are created and reset: set a deadline once per request, and share one ticker among many waiters."
	case "heap":
		f.Advice = "Many threads request pages from the heap at once: allocate less, and reuse large buffers; the allocation findings show the lines."
	case "scheduler":
		f.Advice = "Goroutines stop and start too often for the number of Ps: hand over larger pieces (CP05), or try with fewer Ps (GOMAXPROCS)."
	default:
		f.Advice = "Look at the callers: " + profiled(h.entry, "-peek 'runtime.lock2'") + "."
	}
}

// hardlyWaits is the part of the time for a lock below which a lock that fewer use costs no less: chosen.
const hardlyWaits = 0.1

// channelLockAdvice is what to do about the locks of channels. Other channels, which each have a lock of their own, help only who waits for one.
func channelLockAdvice(h *hit) string {
	all, waits := int64(0), int64(0)
	for _, r := range h.reasons {
		if name, is := strings.CutSuffix(r.name, waited); name == "channel" {
			if all += r.weight; is {
				waits += r.weight
			}
		}
	}
	if float64(waits) >= hardlyWaits*float64(all) {
		return "Many goroutines use one channel: send batches, or give each worker its own channel."
	}
	return "Each operation on a channel locks it, whoever else uses it: send batches (a slice of items in each message), so that there are fewer operations. More channels do not make it less."
}

// lockOwner is whose lock has most of the weight, and how much of all of it is waiting.
func lockOwner(h *hit) (owner, wait string) {
	owners, all, waits := map[string]int64{}, int64(0), int64(0)
	for _, r := range h.reasons {
		name, is := strings.CutSuffix(r.name, waited)
		owners[name] += r.weight
		all += r.weight
		if is {
			waits += r.weight
		}
	}
	wait = "none of it is waiting for a held lock: the cost is in locking and unlocking"
	if waits > 0 {
		wait = unit.Percent(float64(waits)/float64(all)) + " of it is waiting for a held lock, the rest is locking and unlocking"
	}
	if waits == all {
		wait = "all of it is waiting for a held lock"
	}
	return byWeight(owners)[0].name, wait
}
