package inject

import (
	loupe_bytes "bytes"
	loupe_os "os"
	loupe_runtime "runtime"
	loupe_time "time"
)

// loupeNothingPending tells that neither a timer nor the network can wake any
// goroutine. It is nil where the runtime cannot be asked, and where it does not
// look for deadlocks itself.
var loupeNothingPending func() bool

// loupeAsleep are the waits that only another goroutine can end, as dumps name
// them.
var loupeAsleep = map[string]bool{
	"chan receive": true, "chan receive (nil chan)": true,
	"chan send": true, "chan send (nil chan)": true,
	"select": true, "select (no cases)": true,
	"semacquire": true, "sync.Cond.Wait": true, "sync.WaitGroup.Wait": true,
	"sync.Mutex.Lock": true, "sync.RWMutex.Lock": true, "sync.RWMutex.RLock": true,
	"coroutine": true,
	// The goroutine of an execution trace, which waits for the others.
	"trace reader (blocked)": true,
}

const (
	loupeLook     = 500 * loupe_time.Millisecond // between two looks
	loupeLookMost = 32                           // times loupeLook, when nothing changes
	loupeIdle     = 10 * loupe_time.Millisecond  // of CPU time between two looks
	// loupeTraceLooks is how often a program with nothing to do is looked at
	// before its trace is ended, which has a timer of its own.
	loupeTraceLooks = 20
	// loupeMostStacks bounds the dump.
	loupeMostStacks = 256 << 20
)

// loupeWatchForDeadlock ends the program as the runtime would when all its
// goroutines are asleep. The runtime does not see that itself while a thread of
// the agent waits in a system call.
func loupeWatchForDeadlock() {
	if loupeNothingPending == nil {
		return
	}
	pause, err := loupePauser()
	if err != nil {
		return
	}
	last, looks, skip := loupeUsedCPU(), 0, 0
	for {
		pause.wait(loupeLook)
		used := loupeUsedCPU()
		idle := used-last < loupeIdle
		last = used
		if !idle {
			looks, skip = 0, 0
			continue
		}
		if looks++; looks == loupeTraceLooks && loupeTracing() {
			if _, asleep := loupeStacks(); asleep {
				loupeTrace.stop()
			}
			continue
		}
		if !loupeNothingPending() {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if _, asleep := loupeStacks(); !asleep {
			// In a system call, most likely: it is looked at less and less often.
			if skip = looks; skip > loupeLookMost {
				skip = loupeLookMost
			}
			continue
		}
		// Once more: nothing can have woken any of them since.
		pause.wait(loupeLook / 10)
		if stacks, asleep := loupeStacks(); asleep && loupeNothingPending() {
			loupeDie(stacks)
		}
	}
}

// loupeStacks returns the dump of all goroutines of the program, and whether
// each of them waits for another one.
func loupeStacks() (stacks []byte, asleep bool) {
	size := 64 << 10
	for {
		stacks = make([]byte, size)
		n := loupe_runtime.Stack(stacks, true)
		if n < size {
			stacks = stacks[:n]
			break
		}
		if size *= 4; size > loupeMostStacks {
			return nil, false
		}
	}
	// The first one is this goroutine.
	first := loupe_bytes.Index(stacks, []byte("\n\n"))
	if first < 0 {
		return nil, true
	}
	stacks = stacks[first+2:]
	for rest := stacks; len(rest) > 0; {
		one := rest
		if end := loupe_bytes.Index(rest, []byte("\n\n")); end >= 0 {
			one, rest = rest[:end], rest[end+2:]
		} else {
			rest = nil
		}
		if !loupeAsleep[loupeWait(one)] {
			return nil, false
		}
	}
	return stacks, true
}

// loupeWait returns what a goroutine of a dump waits for: "select" of
// "goroutine 7 [select, 2 minutes]:".
func loupeWait(goroutine []byte) string {
	begin := loupe_bytes.IndexByte(goroutine, '[')
	if begin < 0 {
		return ""
	}
	end := loupe_bytes.IndexAny(goroutine[begin:], ",]")
	if end < 0 {
		return ""
	}
	return string(loupe_bytes.TrimSuffix(goroutine[begin+1:begin+end], []byte(" (leaked)")))
}

// loupeDie prints what the runtime prints for a deadlock and exits as it does.
func loupeDie(stacks []byte) {
	text := []byte("fatal error: all goroutines are asleep - deadlock!\n")
	if len(stacks) == 0 {
		text = []byte("fatal error: no goroutines (main called runtime.Goexit) - deadlock!\n")
	}
	if level := loupe_os.Getenv("GOTRACEBACK"); level != "none" && level != "0" && len(stacks) > 0 {
		text = append(append(text, '\n'), stacks...)
	}
	for len(text) > 0 {
		n := 16 << 10
		if n > len(text) {
			n = len(text)
		}
		loupe_os.Stderr.Write(text[:n])
		text = text[n:]
	}
	loupeLastWords()
	loupeExit(2)
}
