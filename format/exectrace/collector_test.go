package exectrace

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestIsCollectorWait: what waits for the collector is told from what waits for a
// lock by its stack.
func TestIsCollectorWait(t *testing.T) {
	table := &stack.Table{}
	var waits CollectorWaits
	f := func(reason NameID, want bool, frames string) {
		t.Helper()
		var ids []stack.FrameID
		for _, name := range strings.Fields(frames) {
			ids = append(ids, table.InternFrame(stack.Frame{Func: name}))
		}
		id := table.Intern(ids)
		if got := IsCollectorWait(table, id, reason); got != want {
			t.Errorf("%s: %v, want %v", frames, got, want)
		}
		for range 2 { // what is found out, and what is known
			if got := waits.Is(table, id, reason); got != want {
				t.Errorf("%s: kept as %v, want %v", frames, got, want)
			}
			if reason == NameSync && waits.Is(table, id, NameCond) {
				t.Errorf("%s: a wait for another reason is the collector's", frames)
			}
		}
	}
	f(NameSync, true, "runtime.gcMarkDone runtime.gcAssistAlloc runtime.mallocgc strings.ToLower main.main")
	f(NameSync, true, "runtime.semacquire1 runtime.gcStart runtime.mallocgc main.find sync.(*WaitGroup).Go.func1")
	f(NameSync, true, "strings.ToLower main.find sync.(*WaitGroup).Go.func1") // the runtime's frames are left out
	f(NameSync, true, "runtime.GC main.main")
	f(NameSync, false, "sync.runtime_SemacquireMutex sync.(*Mutex).lockSlow sync.(*Mutex).Lock main.add")
	f(NameSync, false, "sync.(*RWMutex).RLock main.get")
	f(NameSync, false, "internal/sync.(*Mutex).lockSlow sync.(*Mutex).Lock main.add")
	f(NameSync, false, "sync.(*WaitGroup).Wait main.main")
	f(NameSync, false, "internal/poll.(*fdMutex).rwlock os.(*File).Write main.log")
	f(NameSync, false, "")
	f(NameCond, false, "sync.(*Cond).Wait main.main")
	f(NameChanSend, false, "runtime.chansend1 main.main")
}
