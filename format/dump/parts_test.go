package dump

import (
	"testing"

	"loupe/value/stack"
)

// TestFrames reads a frame that is new and then foreseen, and gives up half of one.
func TestFrames(t *testing.T) {
	f := &File{Stacks: new(stack.Table)}
	x := frames{calls: newCalls(f), f: f}
	text := []byte("sync.(*Mutex).Lock(0xc000010000)\n\t/usr/lib/go/src/sync/mutex.go:46 +0x1d\n")
	var stacks [2]stack.ID
	for i := range stacks {
		x.begin(0)
		if n := x.quick(text, 0); n != len(text) {
			t.Fatalf("read %d bytes of %d", n, len(text))
		}
		if x.object != 0xc000010000 {
			t.Errorf("waits for %#x", x.object)
		}
		stacks[i] = f.Stacks.Intern(x.stack)
	}
	if stacks[0] != stacks[1] || f.Frames != 2 || len(x.calls.ids) != 1 {
		t.Errorf("stacks %v, %d frames, %d told apart", stacks, f.Frames, len(x.calls.ids))
	}
	x.hold([]byte("main.half("), 7)
	x.giveUp()
	if x.giveUp(); f.Unrecognised != 1 || f.Odd[0].Offset != 7 {
		t.Errorf("odd lines %v, want the one at 7", f.Odd)
	}
}

// TestDumpsEnd wants threads and registers to go to the dump that is open alone.
func TestDumpsEnd(t *testing.T) {
	f := &File{Stacks: new(stack.Table)}
	s := dumps{f: f}
	s.thread(Thread{PC: 1})
	s.begin(Signal, 0, &wrapping{})
	s.thread(Thread{PC: 2})
	if !s.register([]byte("rax    0xca")) || s.register([]byte("no register")) {
		t.Error("registers")
	}
	s.end()
	if s.register([]byte("rbx    0x1")) || len(f.Dumps) != 1 || len(f.Dumps[0].Threads) != 1 || len(f.Dumps[0].Threads[0].Registers) != 1 {
		t.Errorf("dumps %+v", f.Dumps)
	}
}
