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
		return nil, fmt.Errorf("no line of gctrace, schedtrace, scheddetail, inittrace, scavtrace or gcpacertrace")
	}
	return nil, fmt.Errorf("begins like a line of %s, but goes on in no way that the runtime prints at %q (byte %d)", in, shortened(line[furthest:]), furthest+1)
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
	whole = " The clock of a line is cut, not rounded: below 0.1 ms to whole microseconds, from 10 ms on to whole milliseconds."
	ofPs  = "It is wall time of the Ps that did it, not CPU time: on a busy machine the CPU time is less."
)

// collectorForms are the lines of gctrace.
func collectorForms() []form {
	number := some(`gc $d `, "number", "The collection, counted from the start of the program. Where numbers are missing, lines were lost.")
	begin := some(`@$ns `, "begin", "When it began: seconds since the program did.")
	share := some(`$d%`, "share since start", "Of all the time that the Ps had since the program began, what collections took, without the marking on Ps that were idle. An average over the program's whole life: it hardly moves when a program that runs for long collects more.")
	leaks := maybe(some(` \(checking for goroutine leaks\)`, "leaks", "This collection looked for goroutines that nothing can wake up (a goroutineleak profile asked for it)."))
	sweep := func(sep string) piece {
		return some(`$n`+sep, "STW, sweep termination", "Milliseconds in which the world was stopped before marking: what was still to be swept is swept, and marking is set up. It begins when the runtime decides to stop: long ones mostly wait for a goroutine that does not stop, or for the machine.")
	}
	mark := some(`$n\+`, "mark, concurrent", "Milliseconds of marking, from the end of the first stop to the begin of the second. The program runs beside it.")
	end := some(`$n ms clock, `, "STW, mark termination", "Milliseconds in which the world was stopped at the end of marking. The sum of both stops is what the collection stopped all goroutines for."+whole)
	cpuSweep := some(`$n\+`, "of Ps: sweep termination", "The first stop times the Ps that were stopped.")
	assist := some(`$n/`, "of Ps: mark assist", "Marking that goroutines had to do before they could allocate. Much of it means that they allocate faster than the background workers mark: requests are slow for it.")
	background := some(`$n/`, "of Ps: background", "Marking by the runtime's own workers: a quarter of the Ps while a collection runs.")
	idle := some(`$n\+`, "of Ps: idle", "Marking on Ps that had nothing else to do: it costs the program nothing, and the machine its CPU time.")
	cpuEnd := some(`$n ms cpu, `, "of Ps: mark termination", "The second stop times the Ps. "+ofPs)
	heap := []piece{
		some(`$d->`, "heap at the begin", "MiB of heap objects when marking began, cut to whole ones."),
		some(`$d->`, "heap at the end", "MiB when marking ended. The difference to the begin is what was allocated meanwhile."),
		some(`$d MB, `, "live heap", "MiB that were found reachable. The next goal is made of it: a series that grows from collection to collection is memory that is kept."),
		some(`$d MB goal, `, "goal", "MiB at which the heap was to be when the collection ended, by GOGC: live × (1 + GOGC/100), with stacks and globals taken into account since Go 1.18; or by GOMEMLIMIT, when that is nearer; 4 MiB times GOGC/100 at least. A heap at the end beyond it grew faster than marking was planned for."),
	}
	roots := []piece{
		some(`$d MB stacks, `, "stacks", "MiB of goroutine stacks to scan."),
		some(`$d MB globals, `, "globals", "MiB of global variables that hold pointers."),
	}
	procs := some(`$d P`, "Ps", "GOMAXPROCS during the collection.")
	forced := maybe(some(` \(forced\)`, "forced", "The program called runtime.GC or debug.FreeOSMemory, and waited for it. Up to Go 1.8 also every collection under gcstoptheworld."))
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
			some(`$n\+`, "synchronise Ps", "Milliseconds until every P had switched its write barrier on."),
			mark, end,
			cpuSweep,
			some(`$n\+`, "of Ps: scan", "The same of the Ps that scanned."),
			some(`$n\+`, "of Ps: synchronise", "The same of the Ps."),
			assist, background, idle, cpuEnd,
		}, heap, []piece{procs, forced}),
		lines("gctrace=1", when+" (Go 1.4 and before; the whole collection stops the world)", `gc\d+\(`,
			some(`gc$d`, "number", "The collection, counted from the start of the program."),
			some(`\($d\): `, "Ps", "Threads that took part in marking."),
			some(`$d\+`, "stopping", "Microseconds until the world stood still."),
			some(`$d\+`, "sweep", "Microseconds in which what was still to be swept was swept."),
			some(`$d\+`, "mark", "Microseconds of marking."),
			some(`$d us, `, "waiting", "Microseconds of waiting for the threads that helped. All four stop the world."),
			some(`$d -> `, "heap before", "MiB of heap when it began."),
			some(`$d MB, `, "heap after", "MiB that were live."),
			some(`$d `, "objects", "Objects on the heap."),
			some(`\($d-`, "allocated", "Objects allocated since the program began."),
			some(`$d\) objects, `, "freed", "Objects freed since then."),
			some(`$d goroutines, `, "goroutines", "Goroutines that there were."),
			some(`$d/`, "spans", "Spans of the heap."),
			some(`$d/`, "swept beside", "Spans that were swept in the background."),
			some(`$d sweeps, `, "swept in the stop", "Spans that were swept while the world was stopped."),
			some(`$d\(`, "handoffs", "How often marking work was handed to an idle helper."),
			some(`$d\) handoff, `, "handed", "Objects that were handed over."),
			some(`$d\(`, "steals", "How often a helper took work of another."),
			some(`$d\) steal, `, "stolen", "Objects that were taken."),
			some(`$d/`, "spins", "How often a helper spun for work."),
			some(`$d/`, "yields", "How often it gave its CPU away for that."),
			some(`$d yields`, "sleeps", "How often it slept for that."),
		),
		lines("gctrace=2", "what the collection before has scanned, in all (total) and by size of the objects (Go 1.26; Green Tea)", `scan: (?:total|class) .*spans`,
			some(`scan: total |scan: class (?:L|\d+B) `, "size class", "Of all objects, or of those of one size; L is the class of large ones."),
			some(`$d\+`, "one by one", "Objects outside of spans that are scanned as a whole."),
			some(`$d\+`, "sparse", "Objects in spans of which few were marked, scanned by object."),
			some(`$d=`, "dense", "Objects in spans of which many were marked, scanned together."),
			some(`$d objs, `, "objects", "Their sum."),
			some(`$d\+`, "sparse spans", "Spans scanned by object."),
			some(`$d=`, "dense spans", "Spans scanned together."),
			some(`$d spans`, "spans", "Their sum."),
		),
		lines("gctrace=2", "what the collection before has scanned (Go 1.25)", `scan: (?:total|class) `,
			some(`scan: total |scan: class (?:L|\d+B) `, "size class", "Of all objects, or of those of one size; L is the class of large ones."),
			some(`$d objs`, "objects", "Objects that were scanned."),
		),
		lines("gctrace=1", "before a collection that the runtime starts because there was none for two minutes", `GC forced`,
			some(`GC forced`, "periodic", "Nobody called runtime.GC: the line of such a collection does not end in (forced)."),
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
		some(`SCHED $dms: `, "time", "Milliseconds since the first such line was due, just after the program began."),
		some(`gomaxprocs=$d `, "Ps", "How many goroutines can run Go code at the same time."),
		some(`idleprocs=$d `, "idle Ps", "Ps without work at this moment. With goroutines in the queues that is a P on its way to work, or a thread that the machine does not run."),
		some(`threads=$d `, "threads", "Threads of the operating system that the runtime has made, those in system calls and in C too. They are never given back unless their goroutine ends locked to one."),
		some(`spinningthreads=$d `, "spinning", "Threads that look for goroutines to run and have not found any: they burn CPU for a few microseconds to be there sooner."),
		maybe(some(`needspinning=$d `, "spinning wanted", "1 when a thread more should begin to look for work (Go 1.20 and later).")),
		some(`idlethreads=$d `, "idle threads", "Threads that are parked."),
		some(`runqueue=$d`, "global queue", "Goroutines that are ready and in the queue of all Ps. One sample says little; many in each of them mean too few Ps, or too few CPUs."),
	}
	local := piece{text: regexp.MustCompile(`\A (?:\[ ?[\d ]*\])`), name: "queues of the Ps", means: "Goroutines that are ready, in the queue of each P (256 at most). The goroutine that a P runs is in none, nor the one that it runs next. Uneven lengths are evened out by stealing."}
	ticks := maybe(piece{text: regexp.MustCompile(`\A schedticks=\[[\d -]*\]`), name: "switches of the Ps", means: "How many goroutines each P has begun to run since the program began (Go 1.25 and later): the difference of two lines is how often it switched."})
	detail := []piece{
		some(` gcwaiting=(\S+)`, "stopping", "The world is stopped, or about to be."),
		some(` nmidlelocked=$d`, "idle, locked", "Parked threads whose goroutine is locked to them (runtime.LockOSThread)."),
		some(` stopwait=$d`, "still to stop", "Ps that have not yet stopped for a stop of the world."),
		some(` sysmonwait=(\S+)`, "monitor parked", "The runtime's monitor thread sleeps, as no goroutine runs."),
	}
	g := some(`status=$d\(`, "status", "What the goroutine does.")
	g.words = statusesOfG
	p := some(`status=$d `, "status", "What the P does.")
	p.words = statusesOfP
	return []form{
		lines("schedtrace=N", "a line every N milliseconds, without stopping the program: the numbers need not add up", `SCHED \d+ms: `, append(append([]piece{}, sched...), local, ticks)...),
		lines("schedtrace=N,scheddetail=1", "every N milliseconds, followed by a line for each P, thread (M) and goroutine", `SCHED \d+ms: `, append(append([]piece{}, sched...), detail...)...),
		lines("schedtrace=N,scheddetail=1", "one of the lines for each P", `P-?\d+: status=`,
			some(`P$d: `, "P", "Its number."), p,
			some(`schedtick=$d `, "switches", "Goroutines that it has begun to run."),
			some(`syscalltick=$d `, "system calls", "Times that it was left for a system call."),
			some(`m=$i `, "thread", "The M that it belongs to now; -1 or nil: none."),
			some(`runqsize=$d `, "queue", "Goroutines in its queue."),
			some(`gfreecnt=$d`, "dead goroutines", "Those that it keeps to use them again."),
			maybe(some(` timerslen=$d`, "timers", "Timers in its heap (Go 1.14 and later).")),
		),
		lines("schedtrace=N,scheddetail=1", "one of the lines for each thread", `M\d+: p=`,
			some(`M$d: `, "M", "Its number."),
			some(`p=$i `, "P", "The P that it has; -1 or nil: it is parked, in a system call or in C."),
			some(`curg=$i `, "goroutine", "The goroutine that it runs."),
			some(`mallocing=$d `, "allocating", "It is inside of the allocator."),
			some(`throwing=$d `, "throwing", "It is about to end the program with a fatal error."),
			some(`(?:preemptoff=.*?|gcing=\d+) (?:locks=)$d `, "preemption off, locks", "Why it must not be preempted now, if it must not, and how many locks of the runtime it holds."),
			some(`dying=$d `, "dying", "It prints the end of the program."),
			maybe(some(`helpgc=$d `, "helps", "It was woken to help the collector (up to Go 1.11).")),
			some(`spinning=(\S+) `, "spinning", "It looks for goroutines to run."),
			some(`blocked=(\S+) `, "blocked", "It waits for a note of the runtime."),
			some(`lockedg=$i`, "locked goroutine", "The goroutine that is locked to it (runtime.LockOSThread)."),
		),
		lines("schedtrace=N,scheddetail=1", "one of the lines for each goroutine", `G-?\d+: status=`,
			some(`G$d: `, "goroutine", "Its number."), g,
			some(`[^)]*(?:\([^)]*\))?[^)]*\) `, "wait reason", "What it has waited for last: true now only where the status is waiting."),
			some(`m=$i `, "thread", "The M that runs it, or that it is in a system call on."),
			some(`lockedm=$i`, "locked thread", "The M that it is locked to."),
		),
	}
}

// otherForms are the lines of inittrace, scavtrace, their ancestors and checkfinalizers.
func otherForms() []form {
	util := some(`$d% util`, "in use", "Of the heap memory that is not returned, the share that holds objects: the rest is free and waits to be used or returned.")
	forced := maybe(some(` \(forced\)`, "forced", "debug.FreeOSMemory asked for it."))
	const scav = "a line when the scavenger has returned memory to the operating system: after a collection, and at most ten times a second"
	heap := []piece{
		some(`inuse: $d, `, "in use", "MiB of spans that hold objects or stacks."),
		some(`idle: $d, `, "idle", "MiB of spans that hold nothing."),
		some(`sys: $d, `, "from the system", "MiB of heap that were asked of the operating system."),
		some(`released: $d, `, "released", "MiB of it that were given back."),
		some(`consumed: $d \(MB\)`, "consumed", "MiB that count as used: asked for less given back."),
	}
	released := some(`$d MB released`, "released", "MiB that were given back.")
	name := some(`(?:forced )?scvg(?:-?\d+)?: `, "scavenger", "The number of the pass, which came every minute; forced, or -1: debug.FreeOSMemory.")
	return []form{
		lines("inittrace=1", "a line for each package that has something to initialise, in the order in which it is done (Go 1.16 and later)", `init \S+ @`,
			some(`init \S+ `, "package", "Its variables are initialised and its init functions run."),
			some(`@$n ms, `, "begin", "Milliseconds since the program began."),
			some(`$n ms clock, `, "time", "Wall time that it took. Packages are initialised one after another: it is a part of the time to main."),
			some(`$d bytes, `, "bytes", "Allocated on the heap meanwhile."),
			some(`$d allocs`, "allocations", "Objects allocated meanwhile."),
		),
		lines("scavtrace=1", scav+" (Go 1.21 and later)", `scav \d+ KiB work \(bg`,
			some(`scav $d KiB work \(bg\), `, "in the background", "KiB returned by the background scavenger since the line before."),
			some(`$d KiB work \(eager\), `, "by allocation", "KiB that goroutines returned since then before they could allocate, because of GOMEMLIMIT: requests wait for it."),
			some(`$d KiB now, `, "returned now", "KiB of the heap's address space that are returned at this moment."),
			util, forced, maybe(some(` \[controller reset\]`, "reset", "The controller of its pace had to begin anew.")),
		),
		lines("scavtrace=1", scav+" (Go 1.14 to 1.20)", `scav \d+ (?:\d+ )?KiB work, `,
			maybe(some(`scav \d+ $d KiB work, `, "returned", "KiB returned since the line before; the number in front of it is of no use (Go 1.15 to 1.18).")),
			maybe(some(`scav $d KiB work, `, "returned", "KiB returned since the line before.")),
			some(`$d KiB total, `, "in all", "KiB returned, as the version counts them."),
			util, forced,
		),
		lines("gctrace=1", "what the scavenger returned (up to Go 1.13)", `(?:forced )?scvg(?:-?\d+)?: inuse`, append([]piece{name}, heap...)...),
		lines("gctrace=1", "what the scavenger returned (up to Go 1.13)", `(?:forced )?scvg(?:-?\d+)?: \d`, name, released),
		lines("checkfinalizers=1", "a line for each collection (Go 1.25 and later)", `checkfinalizers: queue`,
			some(`checkfinalizers: queue: $d finalizers \+ `, "finalizers", "Finalizers that are due and have not run. A number that grows means that one of them hangs, or that they come faster than one goroutine runs them."),
			some(`$d cleanups`, "cleanups", "The same of runtime.AddCleanup."),
		),
	}
}

// pacerForms are the lines of gcpacertrace.
func pacerForms() []form {
	return []form{
		lines("gcpacertrace=1", "a line when a collection begins", `pacer: assist ratio`,
			some(`pacer: assist ratio=$f `, "assist ratio", "Bytes that a goroutine has to mark for each byte that it allocates, as planned: high when the goal is near."),
			some(`\(scan $d MB in `, "to scan", "MiB of heap that hold pointers and are to be scanned."),
			some(`$d->`, "heap", "MiB of heap at the begin."),
			some(`$d MB\) `, "goal", "MiB at which the collection is to be over."),
			some(`workers=$d\+`, "dedicated workers", "Ps that do nothing but mark: a quarter of all."),
			some(`$f`, "fractional worker", "The share of one more P, where a quarter is no whole number."),
		),
		lines("gcpacertrace=1", "a line when a collection ends (Go 1.18 and later)", `pacer: -?\d+% CPU`,
			some(`pacer: $d% CPU `, "utilisation", "Of the Ps' time while it marked, what marking took, assists included."),
			some(`\($d exp\.\) for `, "planned", "What it was to take."),
			some(`$d\+`, "heap work", "Bytes of heap that were scanned."),
			some(`$d\+`, "stack work", "Bytes of stacks."),
			some(`$d B work `, "globals work", "Bytes of globals."),
			some(`\($d B exp\.\) `, "planned work", "The sum as it was planned."),
			some(`in $d B -> `, "trigger", "The heap at which the collection was begun."),
			some(`$d B `, "heap at the end", "The heap when it was over."),
			some(`\(∆goal $d, `, "off the goal", "The heap at the end less the goal: above 0 the program allocated more than was planned for."),
			some(`cons/mark $f\)`, "cons/mark", "How fast the program allocates, over how fast a P marks, as the next collection is planned with it: it decides how early that begins."),
		),
		lines("gcpacertrace=1", "a line when a collection ends (Go 1.5 to 1.17)", `pacer: H_m_prev`,
			some(`pacer: H_m_prev=$d `, "marked before", "Bytes that the collection before found live."),
			some(`h_t=$f `, "trigger ratio", "The growth over them at which this one was begun."),
			some(`H_T=$d `, "trigger", "The same in bytes."),
			some(`h_a=$f `, "actual growth", "The growth when it was over."),
			some(`H_a=$d `, "heap at the end", "The same in bytes."),
			some(`h_g=$f `, "goal growth", "The growth that it was to end at: GOGC/100."),
			some(`H_g=$d `, "goal", "The same in bytes."),
			some(`u_a=$f `, "utilisation", "The share of the Ps' time that marking took; 1 is all of it."),
			some(`u_g=$f `, "planned", "What it was to take."),
			some(`W_a=$d `, "work", "Bytes that were scanned."),
			some(`goalΔ=$f `, "planned growth", "The growth between trigger and goal."),
			some(`actualΔ=$f `, "growth", "The growth that there was."),
			some(`u_a/u_g=$f`, "ratio", "Utilisation over what was planned."),
		),
		lines("gcpacertrace=1", "a line when sweeping is over (Go 1.6 and later)", `pacer: sweep done`,
			some(`pacer: sweep done at heap size $dMB; `, "heap", "MiB of heap at that moment."),
			some(`allocated $dMB (?:of spans|during sweep); `, "allocated", "MiB allocated since the collection."),
			some(`swept $d pages`, "swept", "Pages of 8 KiB that were swept."),
			maybe(some(` at $f pages/byte`, "sweep ratio", "Pages that a goroutine sweeps for each byte that it allocates.")),
		),
	}
}
