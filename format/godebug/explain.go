package godebug

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Explained is a line of the runtime, taken apart.
type Explained struct {
	// Setting is the setting of GODEBUG that prints such lines: "gctrace=1".
	Setting string `json:"setting"`
	// When says when one is printed, and by which versions of Go.
	When  string `json:"when"`
	Parts []Part `json:"parts"`
}

// Part is a piece of a line.
type Part struct {
	Text  string `json:"text"`            // as it stands in the line, with the words around it
	Name  string `json:"name,omitempty"`  // a short name of what it is
	Means string `json:"means,omitempty"` // in a sentence or two
}

// Explain says what each piece of one line of the runtime means. What stands before the
// line, such as the prefix of a log, is left out; the texts of all parts, one after
// another, are the rest of it. The error tells where a line stops being one of the
// runtime. The words are after the sources of package runtime: mgc.go, mgcpacer.go,
// mgcscavenge.go, mgcmark_greenteagc.go and proc.go of Go 1.26, and those of the versions
// that a line is of.
func Explain(line string) (*Explained, error) {
	line = strings.TrimRight(line, "\r\n")
	furthest, in := -1, ""
	for _, form := range forms() {
		for _, at := range form.head.FindAllStringIndex(line, 4) {
			parts, end := form.take(line[at[0]:])
			if end = at[0] + end; end == len(line) {
				return &Explained{form.setting, form.when, parts}, nil
			}
			if end > furthest {
				furthest, in = end, form.setting
			}
		}
	}
	if furthest < 0 {
		return nil, fmt.Errorf("not a line of gctrace, schedtrace, scheddetail, inittrace, scavtrace or gcpacertrace")
	}
	return nil, fmt.Errorf("starts like a line of %s, but at byte %[3]d comes what the runtime does not print: %[2]q", in, shortened(line[furthest:]), furthest+1)
}

// shortened is as much of a text as an error shows.
func shortened(text string) string {
	if r := []rune(text); len(r) > 30 {
		return string(r[:30]) + "…"
	}
	return text
}

// form is a line as it is explained: its pieces in their order.
type form struct {
	setting, when string
	head          *regexp.Regexp
	pieces        []piece
}

// piece is one part of a form; its expression begins where the piece before ends.
type piece struct {
	text        *regexp.Regexp
	maybe       bool // it may be missing
	name, means string
	// words, where there are some, say what the value that is printed stands for.
	words map[string]string
}

// take takes the pieces of a line that begins with the form, and returns how far it came.
func (f *form) take(line string) (parts []Part, end int) {
	for i := range f.pieces {
		p := &f.pieces[i]
		m := p.text.FindStringSubmatch(line[end:])
		if m == nil {
			if p.maybe {
				continue
			}
			return nil, end
		}
		means := p.means
		if p.words != nil {
			if word := p.words[m[1]]; word != "" {
				means = word + ": " + means
			}
		}
		parts = append(parts, Part{m[0], p.name, means})
		end += len(m[0])
	}
	return parts, end
}

// maybe is a piece that may be missing.
func maybe(p piece) piece {
	p.maybe = true
	return p
}

// some is a piece of a line by its expression, in which $d stands for an integer, $n for a
// number, $f for a float and $i for an id or nil; each is a group.
func some(text, name, means string) piece {
	text = strings.NewReplacer("$d", `(-?\d+)`, "$n", `([\d.]+)`, "$f", `([-+]?(?:[\d.]+(?:e[-+]?\d+)?|Inf|NaN))`, "$i", `(-?\d+|nil)`).Replace(text)
	return piece{text: regexp.MustCompile(`\A(?:` + text + `)`), name: name, means: means}
}

// lines is a form of a setting that begins with an expression, at the begin of a word.
func lines(setting, when, head string, pieces ...piece) form {
	return form{setting, when, regexp.MustCompile(head), pieces}
}

var forms = sync.OnceValue(func() []form {
	var list []form
	for _, more := range []func() []form{collectorForms, schedForms, otherForms, pacerForms} {
		list = append(list, more()...)
	}
	return list
})

const (
	whole = " Clock times are truncated, not rounded: to whole microseconds below 0.1 ms, to whole milliseconds from 10 ms."
	ofPs  = "This is wall time of the Ps involved, not CPU time: on a busy machine the CPU time is less."
)

// collectorForms are the lines of gctrace.
func collectorForms() []form {
	number := some(`gc $d `, "number", "Number of the collection since the program started. A gap means that lines were lost.")
	begin := some(`@$ns `, "begin", "Start of the collection, in seconds since the program started.")
	share := some(`$d%`, "share since start", "Share of all P time since the program started that went to GC, without marking on idle Ps. An average over the whole run: in a long-running program it hardly moves when GC gets more expensive.")
	leaks := maybe(some(` \(checking for goroutine leaks\)`, "leaks", "This collection looked for goroutines that nothing can wake up, for a goroutineleak profile."))
	sweep := func(sep string) piece {
		return some(`$n`+sep, "STW, sweep termination", "Milliseconds the world was stopped before marking, to finish sweeping and set up marking. The time counts from the decision to stop: a long one mostly means that a goroutine was slow to stop, or that the machine was busy.")
	}
	mark := some(`$n\+`, "mark, concurrent", "Milliseconds of marking, between the two stops. The program keeps running.")
	end := some(`$n ms clock, `, "STW, mark termination", "Milliseconds the world was stopped at the end of marking. The two stops together are how long this collection stopped all goroutines."+whole)
	cpuSweep := some(`$n\+`, "of Ps: sweep termination", "The first stop multiplied by the number of Ps stopped.")
	assist := some(`$n/`, "of Ps: mark assist", "Marking that goroutines had to do before they could allocate. A lot of it means that the program allocates faster than the background workers mark, and it slows requests down.")
	background := some(`$n/`, "of Ps: background", "Marking by the runtime's background workers, which take a quarter of the Ps while a collection runs.")
	idle := some(`$n\+`, "of Ps: idle", "Marking on Ps that had nothing else to do: free for the program, but it uses CPU time of the machine.")
	cpuEnd := some(`$n ms cpu, `, "of Ps: mark termination", "The second stop multiplied by the number of Ps. "+ofPs)
	heap := []piece{
		some(`$d->`, "heap at start", "Heap in MiB when marking started, truncated."),
		some(`$d->`, "heap at end", "Heap in MiB when marking ended. The difference to the start was allocated meanwhile."),
		some(`$d MB, `, "live heap", "MiB found reachable; the next goal is computed from it. If it grows from collection to collection, the program retains memory."),
		some(`$d MB goal, `, "goal", "Heap size in MiB by which the collection had to be over. It follows from GOGC: live × (1 + GOGC/100), plus stacks and globals since Go 1.18, and at least 4 MiB × GOGC/100; or from GOMEMLIMIT, where that is lower. A heap above it at the end grew faster than the pacer expected."),
	}
	roots := []piece{
		some(`$d MB stacks, `, "stacks", "MiB of goroutine stacks to scan."),
		some(`$d MB globals, `, "globals", "MiB of global variables that hold pointers."),
	}
	procs := some(`$d P`, "Ps", "GOMAXPROCS during the collection.")
	forced := maybe(some(` \(forced\)`, "forced", "The program called runtime.GC or debug.FreeOSMemory and waited for it. Up to Go 1.8, also every collection under gcstoptheworld."))
	const when = "a line for each collection, when it is over"
	line := func(versions string, parts ...[]piece) form {
		f := lines("gctrace=1", when+" ("+versions+")", `gc \d+ @`)
		for _, p := range parts {
			f.pieces = append(f.pieces, p...)
		}
		return f
	}
	first := []piece{number, begin, share, leaks, some(`: `, "", ""), sweep(`\+`)}
	cpu := []piece{cpuSweep, assist, background, idle, cpuEnd}
	return []form{
		line("Go 1.18 and later", first, []piece{mark, end}, cpu, heap, roots, []piece{procs, forced}),
		line("Go 1.6 to 1.17", first, []piece{mark, end}, cpu, heap, []piece{procs, forced}),
		line("Go 1.5", first, []piece{
			some(`$n\+`, "scan, concurrent", "Milliseconds of scanning stacks and globals."),
			some(`$n\+`, "synchronise Ps", "Milliseconds until every P had enabled its write barrier."),
			mark, end,
			cpuSweep,
			some(`$n\+`, "of Ps: scan", "The same, multiplied by the Ps that scanned."),
			some(`$n\+`, "of Ps: synchronise", "The same, multiplied by the Ps."),
			assist, background, idle, cpuEnd,
		}, heap, []piece{procs, forced}),
		lines("gctrace=1", when+" (Go 1.4 and before; the whole collection stops the world)", `gc\d+\(`,
			some(`gc$d`, "number", "Number of the collection since the program started."),
			some(`\($d\): `, "Ps", "Threads that marked."),
			some(`$d\+`, "stopping", "Microseconds until the world was stopped."),
			some(`$d\+`, "sweep", "Microseconds of sweeping what the previous collection left unswept."),
			some(`$d\+`, "mark", "Microseconds of marking."),
			some(`$d us, `, "waiting", "Microseconds of waiting for the helper threads. The world is stopped during all four."),
			some(`$d -> `, "heap before", "Heap in MiB at the start."),
			some(`$d MB, `, "heap after", "Live heap in MiB."),
			some(`$d `, "objects", "Objects on the heap."),
			some(`\($d-`, "allocated", "Objects allocated since the program started."),
			some(`$d\) objects, `, "freed", "Objects freed since the program started."),
			some(`$d goroutines, `, "goroutines", "Number of goroutines."),
			some(`$d/`, "spans", "Spans in the heap."),
			some(`$d/`, "swept concurrently", "Spans swept in the background."),
			some(`$d sweeps, `, "swept in the stop", "Spans swept while the world was stopped."),
			some(`$d\(`, "handoffs", "Number of times that marking work was handed to an idle helper."),
			some(`$d\) handoff, `, "handed", "Objects handed over."),
			some(`$d\(`, "steals", "Number of times that a helper took work from another."),
			some(`$d\) steal, `, "stolen", "Objects taken."),
			some(`$d/`, "spins", "Number of times that a helper spun while looking for work."),
			some(`$d/`, "yields", "Number of times that it yielded its CPU."),
			some(`$d yields`, "sleeps", "Number of times that it slept."),
		),
		lines("gctrace=2", "what the previous collection scanned, in total and by object size (Go 1.26; Green Tea)", `scan: (?:total|class) .*spans`,
			some(`scan: total |scan: class (?:L|\d+B) `, "size class", "All objects, or those of one size class; L stands for large objects."),
			some(`$d\+`, "one by one", "Objects outside spans that are scanned as a whole."),
			some(`$d\+`, "sparse", "Objects in spans with few marked objects, scanned one at a time."),
			some(`$d=`, "dense", "Objects in spans with many marked objects, scanned together."),
			some(`$d objs, `, "objects", "Their sum."),
			some(`$d\+`, "sparse spans", "Spans scanned one object at a time."),
			some(`$d=`, "dense spans", "Spans scanned as a whole."),
			some(`$d spans`, "spans", "Their sum."),
		),
		lines("gctrace=2", "what the previous collection scanned (Go 1.25)", `scan: (?:total|class) `,
			some(`scan: total |scan: class (?:L|\d+B) `, "size class", "All objects, or those of one size class; L stands for large objects."),
			some(`$d objs`, "objects", "Objects scanned."),
		),
		lines("gctrace=1", "before a collection that the runtime starts because there has been none for two minutes", `GC forced`,
			some(`GC forced`, "periodic", "The runtime started it, not runtime.GC: the line of such a collection does not end in (forced)."),
		),
	}
}

// statuses are what the numbers of goroutines and Ps stand for, since Go 1.4
// (runtime2.go).
var (
	statusesOfG = map[string]string{"0": "idle", "1": "runnable", "2": "running", "3": "in a system call", "4": "waiting", "6": "dead", "8": "its stack is being copied", "9": "preempted", "10": "leaked", "11": "dead",
		"4097": "runnable, being scanned", "4098": "running, being scanned", "4099": "in a system call, being scanned", "4100": "waiting, being scanned", "4105": "preempted, being scanned"}
	statusesOfP = map[string]string{"0": "idle", "1": "running", "2": "in a system call (up to Go 1.25)", "3": "stopped for the collector", "4": "dead (GOMAXPROCS was lowered)"}
)

// schedForms are the lines of schedtrace and scheddetail.
func schedForms() []form {
	sched := []piece{
		some(`SCHED $dms: `, "time", "Milliseconds since the scheduler started tracing, just after the program started."),
		some(`gomaxprocs=$d `, "Ps", "GOMAXPROCS: how many goroutines can run Go code at the same time."),
		some(`idleprocs=$d `, "idle Ps", "Ps without work at this moment. If goroutines are queued, the P is about to take one, or its thread is waiting for a CPU."),
		some(`threads=$d `, "threads", "Operating system threads created by the runtime, including those in system calls and in C. They are kept for ever, except when a goroutine ends while locked to its thread."),
		some(`spinningthreads=$d `, "spinning", "Threads that are looking for goroutines to run. They use CPU for a few microseconds so that new work starts sooner."),
		maybe(some(`needspinning=$d `, "spinning wanted", "1 if one more thread should start looking for work (Go 1.20 and later).")),
		some(`idlethreads=$d `, "idle threads", "Threads that are parked."),
		some(`runqueue=$d`, "global queue", "Runnable goroutines in the global queue. One sample says little; many in every sample mean too few Ps or too few CPUs."),
	}
	local := piece{text: regexp.MustCompile(`\A (?:\[ ?[\d ]*\])`), name: "queues of the Ps", means: "Runnable goroutines in the local queue of each P (at most 256). The goroutine that a P is running is not counted, nor the one in its runnext slot. Work stealing evens out the lengths."}
	ticks := maybe(piece{text: regexp.MustCompile(`\A schedticks=\[[\d -]*\]`), name: "switches of the Ps", means: "Number of times each P has started to run a goroutine since the program started (Go 1.25 and later). The difference between two lines is how often it switched."})
	detail := []piece{
		some(` gcwaiting=(\S+)`, "stopping", "The world is stopped or about to be."),
		some(` nmidlelocked=$d`, "idle, locked", "Parked threads whose goroutine is locked to them (runtime.LockOSThread)."),
		some(` stopwait=$d`, "still to stop", "Ps that have yet to stop, for a stop of the world."),
		some(` sysmonwait=(\S+)`, "monitor parked", "The runtime's monitor thread (sysmon) is asleep because no goroutine is running."),
	}
	g := some(`status=$d\(`, "status", "What the goroutine is doing.")
	g.words = statusesOfG
	p := some(`status=$d `, "status", "What the P is doing.")
	p.words = statusesOfP
	return []form{
		lines("schedtrace=N", "a line every N milliseconds, taken without stopping the program: the numbers may not add up", `SCHED \d+ms: `, append(append([]piece{}, sched...), local, ticks)...),
		lines("schedtrace=N,scheddetail=1", "every N milliseconds, followed by a line for each P, thread (M) and goroutine", `SCHED \d+ms: `, append(append([]piece{}, sched...), detail...)...),
		lines("schedtrace=N,scheddetail=1", "one of the lines for each P", `P-?\d+: status=`,
			some(`P$d: `, "P", "Its number."), p,
			some(`schedtick=$d `, "switches", "Goroutines that it has started to run."),
			some(`syscalltick=$d `, "system calls", "Times that its goroutine entered a system call."),
			some(`m=$i `, "thread", "The M that holds it; -1 or nil: none."),
			some(`runqsize=$d `, "queue", "Goroutines in its queue."),
			some(`gfreecnt=$d`, "dead goroutines", "Dead goroutines that it keeps for reuse."),
			maybe(some(` timerslen=$d`, "timers", "Timers in its heap (Go 1.14 and later).")),
		),
		lines("schedtrace=N,scheddetail=1", "one of the lines for each thread", `M\d+: p=`,
			some(`M$d: `, "M", "Its number."),
			some(`p=$i `, "P", "The P that it holds; -1 or nil: it is parked, in a system call or in C."),
			some(`curg=$i `, "goroutine", "The goroutine that it is running."),
			some(`mallocing=$d `, "allocating", "Above 0 inside the allocator."),
			some(`throwing=$d `, "throwing", "It is about to end the program with a fatal error."),
			some(`(?:preemptoff=.*?|gcing=\d+) (?:locks=)$d `, "preemption off, locks", "The reason why it must not be preempted, if any, and the number of runtime locks that it holds."),
			some(`dying=$d `, "dying", "It is printing the program's last words."),
			maybe(some(`helpgc=$d `, "helps", "It was woken to help the collector (up to Go 1.11).")),
			some(`spinning=(\S+) `, "spinning", "It is looking for goroutines to run."),
			some(`blocked=(\S+) `, "blocked", "It is waiting for a note of the runtime."),
			some(`lockedg=$i`, "locked goroutine", "The goroutine that is locked to it (runtime.LockOSThread)."),
		),
		lines("schedtrace=N,scheddetail=1", "one of the lines for each goroutine", `G-?\d+: status=`,
			some(`G$d: `, "goroutine", "Its number."), g,
			some(`[^)]*(?:\([^)]*\))?[^)]*\) `, "wait reason", "What it last waited for: current only if the status is waiting."),
			some(`m=$i `, "thread", "The M that runs it, or on which it is in a system call."),
			some(`lockedm=$i`, "locked thread", "The M that it is locked to."),
		),
	}
}

// otherForms are the lines of inittrace, scavtrace, their ancestors and checkfinalizers.
func otherForms() []form {
	util := some(`$d% util`, "in use", "Share of the heap memory still held that contains objects. The rest is free: it will be reused or returned.")
	forced := maybe(some(` \(forced\)`, "forced", "Forced by debug.FreeOSMemory."))
	const scav = "a line when the scavenger has returned memory to the operating system: after a collection, at most ten times a second"
	heap := []piece{
		some(`inuse: $d, `, "in use", "MiB in spans that hold objects or stacks."),
		some(`idle: $d, `, "idle", "MiB in empty spans."),
		some(`sys: $d, `, "from the system", "MiB of heap obtained from the operating system."),
		some(`released: $d, `, "released", "MiB of it returned."),
		some(`consumed: $d \(MB\)`, "consumed", "MiB that count as used: obtained minus returned."),
	}
	released := some(`$d MB released`, "released", "MiB returned to the operating system.")
	name := some(`(?:forced )?scvg(?:-?\d+)?: `, "scavenger", "Number of the pass, one a minute; forced or -1: by debug.FreeOSMemory.")
	return []form{
		lines("inittrace=1", "a line for each package with something to initialise, in the order of initialisation (Go 1.16 and later)", `init \S+ @`,
			some(`init \S+ `, "package", "The package whose variables are initialised and whose init functions run."),
			some(`@$n ms, `, "begin", "Start, in milliseconds since the program started."),
			some(`$n ms clock, `, "time", "Wall time. Packages are initialised one after another, so this adds to the time before main."),
			some(`$d bytes, `, "bytes", "Bytes allocated on the heap meanwhile."),
			some(`$d allocs`, "allocations", "Objects allocated meanwhile."),
		),
		lines("scavtrace=1", scav+" (Go 1.21 and later)", `scav \d+ KiB work \(bg`,
			some(`scav $d KiB work \(bg\), `, "in the background", "KiB returned by the background scavenger since the previous line."),
			some(`$d KiB work \(eager\), `, "by allocation", "KiB that goroutines had to return before they could allocate, because of GOMEMLIMIT. Requests wait for it."),
			some(`$d KiB now, `, "returned now", "KiB of the heap's address space that are currently returned."),
			util, forced, maybe(some(` \[controller reset\]`, "reset", "The controller of the scavenger's pace was reset.")),
		),
		lines("scavtrace=1", scav+" (Go 1.14 to 1.20)", `scav \d+ (?:\d+ )?KiB work, `,
			maybe(some(`scav \d+ $d KiB work, `, "returned", "KiB returned since the previous line; the number before it has no use (Go 1.15 to 1.18).")),
			maybe(some(`scav $d KiB work, `, "returned", "KiB returned since the previous line.")),
			some(`$d KiB total, `, "in all", "KiB returned in total; what counts depends on the version of Go."),
			util, forced,
		),
		lines("gctrace=1", "what the scavenger returned (up to Go 1.13)", `(?:forced )?scvg(?:-?\d+)?: inuse`, append([]piece{name}, heap...)...),
		lines("gctrace=1", "what the scavenger returned (up to Go 1.13)", `(?:forced )?scvg(?:-?\d+)?: \d`, name, released),
		lines("checkfinalizers=1", "a line for each collection (Go 1.25 and later)", `checkfinalizers: queue`,
			some(`checkfinalizers: queue: $d finalizers \+ `, "finalizers", "Finalizers that are due and have not run. A growing number means that one hangs, or that they arrive faster than one goroutine can run them."),
			some(`$d cleanups`, "cleanups", "The same for runtime.AddCleanup."),
		),
	}
}

// pacerForms are the lines of gcpacertrace.
func pacerForms() []form {
	return []form{
		lines("gcpacertrace=1", "a line when a collection starts", `pacer: assist ratio`,
			some(`pacer: assist ratio=$f `, "assist ratio", "Bytes that a goroutine has to mark for each byte that it allocates, as planned. High when the goal is near."),
			some(`\(scan $d MB in `, "to scan", "MiB of heap to scan."),
			some(`$d->`, "heap", "Heap in MiB at the start."),
			some(`$d MB\) `, "goal", "Heap in MiB by which the collection must be over."),
			some(`workers=$d\+`, "dedicated workers", "Ps that only mark: a quarter of all Ps."),
			some(`$f`, "fractional worker", "Share of one more P, where a quarter is not a whole number."),
		),
		lines("gcpacertrace=1", "a line when a collection ends (Go 1.18 and later)", `pacer: -?\d+% CPU`,
			some(`pacer: $d% CPU `, "utilisation", "Share of the Ps' time that marking took while it ran, assists included."),
			some(`\($d exp\.\) for `, "planned", "The share that was planned."),
			some(`$d\+`, "heap work", "Bytes of heap scanned."),
			some(`$d\+`, "stack work", "Bytes of stacks scanned."),
			some(`$d B work `, "globals work", "Bytes of globals scanned."),
			some(`\($d B exp\.\) `, "planned work", "The planned sum of the three."),
			some(`in $d B -> `, "trigger", "Heap size at which the collection started."),
			some(`$d B `, "heap at end", "Heap size when the collection ended."),
			some(`\(∆goal $d, `, "off the goal", "Heap at the end minus the goal. Above 0, the program allocated more than the pacer expected."),
			some(`cons/mark $f\)`, "cons/mark", "Allocation rate of the program divided by the marking rate of a P. It decides how early the next collection starts."),
		),
		lines("gcpacertrace=1", "a line when a collection ends (Go 1.5 to 1.17)", `pacer: H_m_prev`,
			some(`pacer: H_m_prev=$d `, "marked before", "Bytes that the previous collection found live."),
			some(`h_t=$f `, "trigger ratio", "Growth over the marked bytes at which this collection started."),
			some(`H_T=$d `, "trigger", "The same in bytes."),
			some(`h_a=$f `, "actual growth", "Growth when the collection ended."),
			some(`H_a=$d `, "heap at end", "The same in bytes."),
			some(`h_g=$f `, "goal growth", "Growth at which it should end: GOGC/100."),
			some(`H_g=$d `, "goal", "The same in bytes."),
			some(`u_a=$f `, "utilisation", "Share of the Ps' time that marking took; 1 means all of it."),
			some(`u_g=$f `, "planned", "The share that was planned."),
			some(`W_a=$d `, "work", "Bytes scanned."),
			some(`goalΔ=$f `, "planned growth", "Growth between trigger and goal."),
			some(`actualΔ=$f `, "growth", "Actual growth from the trigger."),
			some(`u_a/u_g=$f`, "ratio", "Utilisation divided by what was planned."),
		),
		lines("gcpacertrace=1", "a line when sweeping is over (Go 1.6 and later)", `pacer: sweep done`,
			some(`pacer: sweep done at heap size $dMB; `, "heap", "Heap in MiB at that moment."),
			some(`allocated $dMB (?:of spans|during sweep); `, "allocated", "MiB allocated since the collection."),
			some(`swept $d pages`, "swept", "Swept pages of 8 KiB."),
			maybe(some(` at $f pages/byte`, "sweep ratio", "Pages that a goroutine sweeps for each byte that it allocates.")),
		),
	}
}
