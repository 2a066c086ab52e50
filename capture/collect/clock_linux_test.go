package collect

import (
	"os"
	"testing"
	"time"
)

// TestProcessClock: the CPU time of a process is known finer than in ticks of the kernel, is
// what the kernel charges it with, and never falls.
func TestProcessClock(t *testing.T) {
	fine, before := false, sampleOS(os.Getpid())
	for n := range 50 {
		for end := time.Now().Add(time.Millisecond); time.Now().Before(end); {
		}
		s := sampleOS(os.Getpid())
		all := s.User + s.System
		if all < before.User+before.System {
			t.Fatalf("look %d: %v, and %v before", n, all, before.User+before.System)
		}
		fine = fine || all%tick != 0
		before = s
	}
	if !fine {
		t.Error("the CPU time comes in ticks")
	}
	if _, ok := processClock(1 << 22); ok {
		t.Error("a process that is not there has a clock")
	}
}
