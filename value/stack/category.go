package stack

import (
	"strings"
	"sync"
)

// Category says what kind of work a function does for the program: the
// runtime's own duties, or plain code.
type Category uint8

// The categories. Those of the runtime come first.
const (
	Plain          Category = iota // no duty of the runtime
	GarbageCollect                 // marking, sweeping, returning memory
	Assist                         // marking that an allocating goroutine is made to do
	Allocate                       // finding and clearing memory
	StackGrowth                    // copying a goroutine's stack to a larger one
	Schedule                       // choosing, parking and waking goroutines and threads
	Channels                       // channels and select
	Locks                          // mutexes and semaphores
	Maps                           // maps
	SystemCalls                    // entering, running and leaving the kernel
	Cgo                            // calls between Go and C
	Copying                        // moving, clearing and comparing memory
	Hashing                        // hashes of keys
	Interfaces                     // conversions and type assertions
	Defers                         // defer, panic and recover
	Clock                          // asking for the time
	Profiling                      // profilers and the execution tracer
)

var categoryNames = [...]string{
	"code", "garbage collection", "GC assist", "allocation", "stack growth", "scheduler", "channels", "locks",
	"maps", "system calls", "cgo", "copying and comparing", "hashing", "interfaces", "defer and panic", "clock", "profiling",
}

// String returns the name that reports show: "garbage collection".
func (c Category) String() string {
	if int(c) < len(categoryNames) {
		return categoryNames[c]
	}
	return "unknown"
}

// categories are functions by how their names begin, or, with a "$" behind,
// whole names. They hold for Go 1.5 to 1.26; a function that is missing counts
// for what calls it. Source: the Go tree, src/runtime.
var categories = [...]struct {
	is    Category
	names string
}{
	{Assist, "runtime.gcAssistAlloc runtime.deductAssistCredit"},
	{GarbageCollect, "runtime.gcBgMarkWorker runtime.gcDrain runtime.gcMark runtime.gcStart runtime.gcSweep runtime.gcWork runtime.(*gcWork) runtime.gcFlushBgCredit " +
		"runtime.gcWriteBarrier runtime.gcmarknewobject runtime.gcParkAssist runtime.gcResetMarkState runtime.gcController runtime.(*gcControllerState) " +
		"runtime.wbBuf runtime.(*wbBuf) runtime.markroot runtime.scan runtime.greyobject runtime.shade runtime.bgsweep runtime.sweepone runtime.(*sweepLocked) " +
		"runtime.(*mspan).sweep runtime.(*mheap).reclaim runtime.bgscavenge runtime.(*scavenge runtime.(*pageAlloc).scavenge runtime.(*mheap).scavenge " +
		"runtime.bulkBarrier runtime.finishsweep runtime.runfinq runtime.GC$ runtime.tryDeferToSpanScan runtime.(*spanQueue) runtime.(*spanInlineMarkBits) internal/runtime/gc."},
	{Allocate, "runtime.mallocgc runtime.mallocTiny runtime.mallocNoscan runtime.newobject runtime.newarray runtime.makeslice runtime.growslice runtime.makechan " +
		"runtime.nextFreeFast runtime.(*mcache) runtime.(*mcentral) runtime.(*mheap).alloc runtime.(*mheap).grow runtime.(*pageAlloc) runtime.(*pageCache) runtime.(*fixalloc) " +
		"runtime.persistentalloc runtime.rawstring runtime.rawbyteslice runtime.rawruneslice runtime.concatstring runtime.slicebytetostring runtime.stringtoslice " +
		"runtime.intstring runtime.slicerunetostring runtime.profilealloc runtime.mProf_Malloc runtime.heapSetType runtime.heapBits runtime.publicationBarrier " +
		"runtime.sysAlloc runtime.sysMap runtime.sysUsed runtime.sysFault runtime.postMalloc runtime.reflect_unsafe_New reflect.unsafe_New"},
	{StackGrowth, "runtime.morestack runtime.newstack runtime.copystack runtime.stackalloc runtime.stackfree runtime.stackcache runtime.stackpool runtime.adjust runtime.shrinkstack"},
	{Channels, "runtime.chansend runtime.chanrecv runtime.selectgo runtime.selectnb runtime.closechan runtime.send$ runtime.recv$ runtime.sellock runtime.selunlock"},
	{Locks, "runtime.semacquire runtime.semrelease runtime.sync_runtime runtime.sync_notify runtime.notifyList runtime.(*semaRoot) runtime.readyWithTime " +
		"sync.(*Mutex) sync.(*RWMutex) sync.(*Cond) sync.runtime_ internal/sync.(*Mutex) internal/sync.runtime_"},
	{Schedule, "runtime.schedule runtime.findRunnable runtime.findrunnable runtime.park_m runtime.gopark runtime.goready runtime.ready$ runtime.wakep runtime.startm runtime.stopm " +
		"runtime.handoffp runtime.runq runtime.globrunq runtime.stealWork runtime.execute runtime.gosched runtime.goschedImpl runtime.goexit0 runtime.gdestroy runtime.newproc " +
		"runtime.sysmon runtime.retake runtime.preempt runtime.injectglist runtime.resetspinning runtime.mPark runtime.mcall runtime.mstart runtime.newm runtime.acquirep runtime.releasep " +
		"runtime.notesleep runtime.notetsleep runtime.notewakeup runtime.futex runtime.usleep runtime.osyield runtime.procyield runtime.checkTimers runtime.(*timers) runtime.(*timer) runtime.runtimer " +
		"runtime.netpoll runtime.epoll runtime.kevent runtime.semasleep runtime.semawakeup runtime.pthread_cond runtime.asyncPreempt runtime.casgstatus runtime.gfget runtime.gfput runtime.malg " +
		"runtime.lock$ runtime.lock2 runtime.unlock$ runtime.unlock2 runtime.lockWithRank runtime.unlockWithRank runtime.(*mLockProfile) runtime.startTheWorld runtime.stopTheWorld runtime.forEachP"},
	{Maps, "runtime.map runtime.hashGrow runtime.growWork runtime.evacuate runtime.(*hmap) runtime.makemap internal/runtime/maps. runtime.advanceEvacuationMark runtime.(*bmap)"},
	{SystemCalls, "runtime.entersyscall runtime.exitsyscall runtime.reentersyscall runtime.syscall syscall.Syscall syscall.RawSyscall syscall.syscall syscall.rawSyscall " +
		"internal/runtime/syscall. internal/runtime/syscall/ runtime/internal/syscall. runtime.write$ runtime.write1 runtime.read$ runtime.madvise runtime.mmap runtime.munmap runtime.sigaltstack runtime.rt_sig runtime.tgkill"},
	{Cgo, "runtime.cgocall runtime.asmcgocall runtime.cgocallback runtime.cgoCheck _cgo_ crosscall"},
	{Copying, "runtime.memmove runtime.memclr runtime.memequal runtime.typedmemmove runtime.typedslicecopy runtime.typedmemclr runtime.duff memeqbody cmpbody " +
		"runtime.cmpstring runtime.strequal internal/bytealg. indexbytebody countbody indexbody runtime.efaceeq runtime.ifaceeq runtime.nilinterequal runtime.interequal"},
	{Hashing, "runtime.aeshash runtime.memhash runtime.strhash runtime.nilinterhash runtime.interhash runtime.typehash runtime.f64hash aeshashbody hash/maphash."},
	{Interfaces, "runtime.convT runtime.convI runtime.assertE runtime.typeAssert runtime.getitab runtime.interfaceSwitch runtime.(*itabTableType) runtime.typesEqual"},
	{Defers, "runtime.deferproc runtime.deferreturn runtime.deferconvert runtime.newdefer runtime.freedefer runtime.gopanic runtime.gorecover runtime.recovery runtime.rundefer runtime.addOneOpenDeferFrame runtime.(*_panic)"},
	{Clock, "runtime.nanotime runtime.walltime runtime.time_now time.now time.runtimeNano runtime.cputicks runtime.vdsoCall"},
	{Profiling, "runtime.sigprof runtime.(*cpuProfile) runtime.(*profBuf) runtime/pprof. runtime.mProf runtime.trace runtime.(*trace runtime/trace. runtime._ExternalCode runtime._VDSO runtime._LostExternalCode runtime._LostSIGPROF"},
}

// CategoryOf returns the category of one function, [Plain] if it has none of its
// own.
func CategoryOf(function string) Category {
	if !strings.Contains(function, "runtime") && !strings.HasPrefix(function, "sy") && !strings.HasPrefix(function, "internal/") &&
		!strings.HasPrefix(function, "time.") && !strings.HasPrefix(function, "hash/") && !strings.HasPrefix(function, "reflect.") &&
		strings.Contains(function, ".") {
		return Plain
	}
	found, length := Plain, 0
	for _, p := range categoryPrefixes() {
		if len(p.name) > length && strings.HasPrefix(function, p.name) && (!p.whole || len(function) == len(p.name)) {
			found, length = p.is, len(p.name)
		}
	}
	return found
}

// categoryPrefix is one of the names of [categories].
type categoryPrefix struct {
	name  string
	whole bool // it is the whole name of a function
	is    Category
}

// categoryPrefixes splits [categories] up, once: that takes longer than to compare.
var categoryPrefixes = sync.OnceValue(func() (all []categoryPrefix) {
	for _, c := range categories {
		for name := range strings.FieldsSeq(c.names) {
			name, whole := strings.CutSuffix(name, "$")
			all = append(all, categoryPrefix{name, whole, c.is})
		}
	}
	return all
})

// Categorize tells what a stack works on: the category of the frame nearest to
// the leaf that has one, where copying, hashing, the clock and interfaces only
// count at the leaf itself, for they are done for whatever calls them. The
// function maps frames to categories; it is a cache of [CategoryOf].
func Categorize(frames []FrameID, of func(FrameID) Category) Category {
	leaf := Plain
	for i, f := range frames {
		switch c := of(f); c {
		case Plain:
			if leaf != Plain {
				return leaf // called by plain code
			}
		case Copying, Hashing, Clock, Interfaces:
			if i == 0 {
				leaf = c
			}
		default:
			return c
		}
	}
	return leaf
}
