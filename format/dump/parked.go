package dump

import "loupe/value/stack"

// parks are the functions by which a goroutine waits, with the words that dumps
// have for it.
var parks = map[string]string{
	"runtime.chanrecv": "chan receive", "runtime.chanrecv1": "chan receive", "runtime.chanrecv2": "chan receive", "runtime.chansend": "chan send", "runtime.chansend1": "chan send",
	"runtime.selectgo": "select", "runtime.block": "select (no cases)", "runtime.netpollblock": "IO wait", "internal/poll.runtime_pollWait": "IO wait", "time.Sleep": "sleep",
	"sync.runtime_SemacquireMutex": "sync.Mutex.Lock", "internal/sync.runtime_SemacquireMutex": "sync.Mutex.Lock", "sync.runtime_SemacquireRWMutex": "sync.RWMutex.Lock",
	"sync.runtime_SemacquireRWMutexR": "sync.RWMutex.RLock", "sync.runtime_notifyListWait": "sync.Cond.Wait", "sync.runtime_Semacquire": "semacquire", "sync.runtime_SemacquireWaitGroup": "sync.WaitGroup.Wait",
	"os/signal.signal_recv": "syscall", "syscall.Syscall": "syscall", "syscall.Syscall6": "syscall", "syscall.RawSyscall6": "syscall",
	"internal/runtime/syscall.Syscall6": "syscall", "internal/runtime/syscall/linux.Syscall6": "syscall", "runtime.cgocall": "syscall",
}

// Parked tells by the functions of a stack what its goroutine waits for, in the words
// of dumps. Profiles do not say it; and their text, debug=1, leaves the functions of
// the runtime out, by which goroutines wait for channels. It is "" where the
// functions do not tell.
func Parked(t *stack.Table, frames []stack.FrameID) string {
	for _, f := range frames[:min(6, len(frames))] {
		if state, ok := parks[t.Frame(f).Func]; ok {
			return state
		}
	}
	return ""
}
