package stack

import "testing"

func TestCategories(t *testing.T) {
	f := func(want Category, functions ...string) { // leaf first
		t.Helper()
		var table Table
		var ids []FrameID
		for _, name := range functions {
			ids = append(ids, table.InternFrame(Frame{Func: name}))
		}
		if got := Categorize(ids, func(id FrameID) Category { return CategoryOf(table.Frame(id).Func) }); got != want {
			t.Errorf("%v is %v, want %v", functions, got, want)
		}
	}
	f(Plain, "main.parse", "main.main", "runtime.main")
	f(Plain)
	f(GarbageCollect, "runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker.func2", "runtime.systemstack", "runtime.gcBgMarkWorker")
	f(GarbageCollect, "runtime.gcmarknewobject", "runtime.mallocgcSmallNoscan", "runtime.mallocgc", "main.load")
	f(Assist, "runtime.gcAssistAlloc1", "runtime.gcAssistAlloc", "runtime.mallocgc", "main.f")
	f(Allocate, "runtime.memclrNoHeapPointers", "runtime.mallocgc", "runtime.growslice", "main.f")
	f(Allocate, "runtime.nextFreeFast", "runtime.mallocgcSmallNoscan", "runtime.mallocgc", "internal/runtime/maps.newGroups", "main.f")
	f(Copying, "runtime.memmove", "main.f")
	f(Copying, "runtime.memmove", "bytes.(*Buffer).Write", "main.f")
	f(Maps, "runtime.memhash64", "internal/runtime/maps.(*Map).Get", "main.f")
	f(Maps, "runtime.mapaccess1_faststr", "main.f")
	f(Hashing, "aeshashbody", "main.f")
	f(Schedule, "runtime.futex", "runtime.futexsleep", "runtime.notesleep", "runtime.stopm", "runtime.findRunnable", "runtime.schedule", "runtime.park_m", "runtime.mcall")
	f(Schedule, "runtime.lock2", "runtime.schedule", "runtime.mcall")
	f(Locks, "sync.(*Mutex).Lock", "main.f")
	f(Channels, "runtime.chansend", "runtime.chansend1", "main.f")
	f(SystemCalls, "internal/runtime/syscall/linux.Syscall6", "syscall.Syscall", "main.f") // since Go 1.26
	f(SystemCalls, "internal/runtime/syscall.Syscall6", "syscall.Syscall", "syscall.write", "internal/poll.(*FD).Write", "main.f")
	f(StackGrowth, "runtime.copystack", "runtime.newstack", "runtime.morestack")
	f(Cgo, "runtime.asmcgocall", "runtime.cgocall", "main._Cfunc_x", "main.f")
	f(Clock, "time.now", "time.Now", "main.f")
	f(Plain, "time.Time.Format", "main.f")
	f(Plain, "syscalls.f", "main.f")
	f(Interfaces, "runtime.convTstring", "main.f")
	if Category(200).String() != "unknown" || Assist.String() != "GC assist" {
		t.Error("names of categories")
	}
}
