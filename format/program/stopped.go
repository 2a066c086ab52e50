package program

import (
	"encoding/binary"
	"fmt"

	"loupe/value/stack"
)

// Thread is where a thread of a program was when it stopped.
type Thread struct {
	ID             int64 // as the kernel numbers it
	PC, SP, BP, LR uint64
}

// Stopped is a program that does not move: in a core, or held by a debugger.
// Its goroutines are read as the runtime would print them, those that were
// running as well.
type Stopped struct {
	// Machines are those of the runtime, the latest first. There are none
	// where the binary has no symbol table.
	Machines []Machine

	s        *snapshot
	all      []uint64 // addresses of the goroutines: all of them take as much as a tenth of a core
	reasons  []string
	threads  map[int64]Thread
	machines machines
	frames   *frames
}

// Stop looks at a program that does not move. now is the time of its clock
// (nanotime), 0 where it is not known: then the last one that the runtime has
// noted stands for it, and goroutines have waited for at least as long.
func (p *Program) Stop(threads []Thread, now int64) (*Stopped, error) {
	if p.l.schedSP == 0 {
		return nil, fmt.Errorf("%w: it has no debug information (-ldflags=-w), and how the runtime of its version of Go lies in memory is known only from 1.21 on", ErrNotGo)
	}
	s := p.snapshot(now)
	out := s.stopped(threads)
	var err error
	if out.reasons, err = s.reasons(); err != nil {
		return nil, err
	}
	addrs, err := s.list()
	if err != nil {
		return nil, err
	}
	err = s.each(addrs, func(o *one) {
		out.all = append(out.all, o.addr)
		if now == 0 {
			s.now = max(s.now, int64(s.word(o, p.l.since)))
		}
	})
	if err != nil {
		return nil, err
	}
	return out, out.readMachines()
}

// stopped is a program of which the goroutines have not been read.
func (s *snapshot) stopped(threads []Thread) *Stopped {
	st := &Stopped{s: s, threads: map[int64]Thread{}, machines: machines{s: s, byAddr: map[uint64]int{}}, frames: newFrames(s)}
	for _, t := range threads {
		st.threads[t.ID] = t
	}
	return st
}

// readMachines reads the threads that the runtime knows, as far as they can be read.
func (st *Stopped) readMachines() error {
	err := st.machines.read()
	st.Machines = st.machines.all
	return err
}

// On returns the machine of a thread.
func (st *Stopped) On(thread int64) (Machine, bool) {
	for _, m := range st.Machines {
		if m.Thread == thread {
			return m, true
		}
	}
	return Machine{}, false
}

// begin is where the stack of a goroutine begins.
type begin struct {
	pc, sp, lr uint64
	// exact tells that the instruction at pc has not run yet, as in the registers
	// of a thread; else pc is where a call returns to.
	exact bool
}

// beginOf finds the innermost frame of a goroutine. ok is false where the core
// does not tell it.
func (st *Stopped) beginOf(o *one) (b begin, ok bool) {
	s, l := st.s, st.s.l
	if sp := s.word(o, l.syscallSP); sp != 0 {
		return begin{pc: s.word(o, l.syscallPC), sp: sp}, true
	}
	sched := begin{pc: s.word(o, l.schedPC), sp: s.word(o, l.schedSP), lr: s.word(o, l.schedLR)}
	if s.status(o) != gRunning {
		return sched, s.inStack(o, sched.sp)
	}
	m, ok := st.machines.at(s.word(o, l.m))
	if !ok {
		return b, false
	}
	t, ok := st.threads[m.Thread]
	if !ok {
		return b, false
	}
	at := begin{pc: t.PC, sp: t.SP, lr: t.LR, exact: true}
	if !s.inStack(o, at.sp) {
		if sig, ok := st.interrupted(&m, at); ok {
			at = sig
		}
	}
	switch {
	case s.inStack(o, at.sp):
		return at, true
	case m.clockSP != 0 && s.inStack(o, m.clockSP):
		// Reading the clock, on another stack.
		return begin{pc: m.clockPC, sp: m.clockSP}, true
	}
	// On the stack of the thread: what it does there, it does for the goroutine,
	// which has noted where it was.
	return sched, s.inStack(o, sched.sp)
}

// interrupted finds where a thread was when the signal came that it is handling.
func (st *Stopped) interrupted(m *Machine, at begin) (begin, bool) {
	g, ok := st.s.g(m.signal)
	if !ok || !st.s.inStack(&g, at.sp) {
		return begin{}, false
	}
	var frame uint64
	st.frames.unwind(&g, at, func(f *physical) bool {
		if isHandler(f.place.name) {
			frame = f.fp
		}
		return frame == 0
	})
	if frame == 0 {
		return begin{}, false
	}
	return st.saved(frame)
}

// isHandler tells that a function is what the kernel calls for a signal.
func isHandler(name string) bool {
	return name == "runtime.sigtramp" || name == "runtime.cgoSigtramp"
}

// saved reads the registers that the kernel has put above the frame of a handler.
func (st *Stopped) saved(frame uint64) (at begin, ok bool) {
	ok = true
	word := func(off uint64) uint64 {
		n, there := st.s.wordAt(frame + off)
		ok = ok && there
		return n
	}
	if st.s.arm() {
		// siginfo_t, then a ucontext, in which the registers begin at 184.
		const registers = 128 + 184
		return begin{lr: word(registers + 8*30), sp: word(registers + 8*31), pc: word(registers + 8*32), exact: true}, ok
	}
	// A ucontext, in which the registers begin at 40.
	return begin{sp: word(40 + 8*15), pc: word(40 + 8*16), exact: true}, ok
}

// Frame is one call on the stack of a thread.
type Frame struct {
	stack.Frame
	PC, SP uint64
}

// maxThreadFrames is how much of a thread's stack is told.
const maxThreadFrames = 100

// ThreadStack returns what a thread was executing, leaf first, the functions of the
// runtime included: from the stack of a signal handler down to what the signal
// has interrupted.
func (st *Stopped) ThreadStack(t Thread) (out []Frame) {
	m, _ := st.On(t.ID)
	at := begin{pc: t.PC, sp: t.SP, lr: t.LR, exact: true}
	const most = 4 // signals within signals
	for range most {
		on := st.stackOf(&m, at.sp)
		var frame uint64
		before := len(out)
		st.frames.unwind(&on, at, func(f *physical) bool {
			look := f.pc - st.s.bias
			if exact := len(out) == before && at.exact; !exact && look > f.place.entry {
				look--
			}
			for _, fr := range st.s.bin.Frames(look) {
				out = append(out, Frame{Frame: fr.Frame, PC: f.pc, SP: f.sp})
			}
			if isHandler(f.place.name) {
				frame = f.fp
			}
			return len(out) < maxThreadFrames && frame == 0
		})
		ok := false
		switch {
		case frame != 0:
			at, ok = st.saved(frame)
		case len(out) == before && m.clockSP != 0:
			out = append(out, Frame{Frame: stack.Frame{Func: "[kernel's clock]"}, PC: at.pc, SP: at.sp})
			at, ok = begin{pc: m.clockPC, sp: m.clockSP}, true
			m.clockSP = 0
		}
		if !ok {
			break
		}
	}
	return out
}

// stackOf is the one of a machine's stacks that an address is on.
func (st *Stopped) stackOf(m *Machine, sp uint64) one {
	for _, addr := range []uint64{m.cur, m.g0, m.signal} {
		if on, ok := st.s.g(addr); ok && st.s.inStack(&on, sp) {
			return on
		}
	}
	// A thread of C, or one of which the stack is not known.
	on := one{g: make([]byte, st.s.l.size)}
	binary.LittleEndian.PutUint64(on.g[st.s.l.stackHi:], min(sp, 1<<63)+1<<20)
	return on
}
