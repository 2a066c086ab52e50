package program

import (
	"encoding/binary"
	"fmt"

	"loupe/format/dump"
	"loupe/format/symbol"
	"loupe/value/stack"
)

// Thread is where a thread of a program was when it stopped.
type Thread struct {
	ID             int64 // as the kernel numbers it
	PC, SP, BP, LR uint64
}

// Machine is a thread with what the runtime knows of it: an m.
type Machine struct {
	Addr   uint64 // of the m
	ID     int64  // as the runtime numbers it
	Thread int64  // as the kernel does
	// Goroutine is the number of the one that it runs, 0 for none.
	Goroutine uint64
	// Dying tells that it was ending the program: it has panicked or thrown.
	Dying bool

	g0, signal, cur, clockSP, clockPC uint64
}

// Stopped is a program that does not move: in a core, or held by a debugger.
// Its goroutines are read as the runtime would print them, those that were
// running as well.
type Stopped struct {
	// Machines are those of the runtime, the latest first. There are none
	// where the binary has no symbol table.
	Machines []Machine

	s       *snapshot
	all     []uint64 // addresses of the goroutines: all of them take as much as a tenth of a core
	reasons []string
	threads map[int64]Thread
	places  map[placeKey]*place
	byAddr  map[uint64]int // of Machines
}

// maxMachines bounds what is believed of a list that was read.
const maxMachines = 1 << 20

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
	st := &Stopped{s: s, threads: map[int64]Thread{}, places: map[placeKey]*place{}, byAddr: map[uint64]int{}}
	for _, t := range threads {
		st.threads[t.ID] = t
	}
	return st
}

// Activation is one function on a stack: where it lies.
type Activation struct {
	// PC is where the call that it has made returns to, or the instruction that
	// comes next, where Exact is set.
	PC    uint64
	Exact bool
	// SP is the stack pointer, CFA what it was before the function was called.
	SP, CFA uint64
}

// Unwinder returns a function that goes through the stack of a goroutine of a program
// that does not move: of that whose g lies at an address, innermost function first,
// until visit returns false. It reads no other goroutines.
func (p *Program) Unwinder(threads []Thread) (func(g uint64, visit func(Activation) bool), error) {
	if p.l.schedSP == 0 {
		return nil, fmt.Errorf("%w: how the runtime of its version of Go lies in memory is not known", ErrNotGo)
	}
	st := p.snapshot(0).stopped(threads)
	if err := st.readMachines(); err != nil {
		return nil, err
	}
	return func(g uint64, visit func(Activation) bool) {
		o, ok := st.g(g)
		if !ok {
			return
		}
		at, ok := st.beginOf(&o)
		if !ok {
			return
		}
		exact := at.exact
		st.unwind(&o, at, func(f *physical) bool {
			a := Activation{PC: f.pc, Exact: exact, SP: f.sp, CFA: f.fp}
			exact = isInjected(f.place.name)
			return visit(a)
		})
	}, nil
}

// isInjected tells that a function was called in the middle of another one, which
// has not made the call itself.
func isInjected(name string) bool {
	return name == "runtime.sigpanic" || name == "runtime.asyncPreempt" || name == "runtime.debugCallV2"
}

// readMachines follows the list of all m. One that cannot be read ends it.
func (st *Stopped) readMachines() error {
	s := st.s
	if s.l.allm == 0 {
		return nil
	}
	x := &s.l.machine
	buf := make([]byte, x.size)
	at, err := s.u64(s.l.allm)
	if err != nil {
		return err
	}
	for at != 0 && len(st.Machines) < maxMachines {
		if _, again := st.byAddr[at]; again || s.mem.Read(at, buf) != nil {
			break
		}
		st.byAddr[at] = len(st.Machines)
		st.Machines = append(st.Machines, st.machine(at, buf))
		at = binary.LittleEndian.Uint64(buf[x.next:])
	}
	return nil
}

// machine takes an m apart.
func (st *Stopped) machine(at uint64, buf []byte) Machine {
	x := &st.s.l.machine
	word := func(off int) uint64 { return binary.LittleEndian.Uint64(buf[off:]) }
	m := Machine{
		Addr: at, ID: int64(word(x.id)), Thread: int64(word(x.thread)), Dying: binary.LittleEndian.Uint32(buf[x.dying:]) != 0,
		g0: word(x.g0), signal: word(x.signal), cur: word(x.cur), clockSP: word(x.clockSP), clockPC: word(x.clockPC),
	}
	if o, ok := st.g(m.cur); ok {
		m.Goroutine = st.s.word(&o, st.s.l.goid)
	}
	return m
}

// g reads a g.
func (st *Stopped) g(addr uint64) (o one, ok bool) {
	if addr == 0 {
		return o, false
	}
	o = one{addr: addr, g: make([]byte, st.s.l.size)}
	return o, st.s.mem.Read(addr, o.g) == nil
}

// machineAt reads the m at an address.
func (st *Stopped) machineAt(addr uint64) (Machine, bool) {
	if i, ok := st.byAddr[addr]; ok {
		return st.Machines[i], true
	}
	buf := make([]byte, st.s.l.machine.size)
	if addr == 0 || st.s.mem.Read(addr, buf) != nil {
		return Machine{}, false
	}
	return st.machine(addr, buf), true
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
	m, ok := st.machineAt(s.word(o, l.m))
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
	g, ok := st.g(m.signal)
	if !ok || !st.s.inStack(&g, at.sp) {
		return begin{}, false
	}
	var frame uint64
	st.unwind(&g, at, func(f *physical) bool {
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
		n, there := st.word(frame + off)
		ok = ok && there
		return n
	}
	if st.arm() {
		// siginfo_t, then a ucontext, in which the registers begin at 184.
		const registers = 128 + 184
		return begin{lr: word(registers + 8*30), sp: word(registers + 8*31), pc: word(registers + 8*32), exact: true}, ok
	}
	// A ucontext, in which the registers begin at 40.
	return begin{sp: word(40 + 8*15), pc: word(40 + 8*16), exact: true}, ok
}

func (st *Stopped) arm() bool { return st.s.bin.Arch == "arm64" }

// inStack tells whether an address is one that the stack pointer may have.
func (s *snapshot) inStack(o *one, sp uint64) bool {
	return sp > s.word(o, s.l.stackLo) && sp < s.word(o, s.l.stackHi) && sp%8 == 0
}

// placeKey is a program counter, and whether its instruction has not run yet.
type placeKey struct {
	pc    uint64
	exact bool
}

// place is everything about a program counter that does not change.
type place struct {
	known bool   // the binary has a function there
	name  string // of the function of the machine
	entry uint64
	size  int // of its frame
	sized bool
	calls []call
	shape []symbol.ArgShape
	live  symbol.ArgLiveness
}

// call is a call at a place: several, where some are inlined.
type call struct {
	symbol.Frame      // with the name as dumps print it
	hidden       bool // dumps leave it out
}

// at finds a place.
func (st *Stopped) at(pc uint64, exact bool) *place {
	key := placeKey{pc, exact}
	if p := st.places[key]; p != nil {
		return p
	}
	p := &place{}
	st.places[key] = p
	s := st.s
	f, ok := s.bin.FuncAt(pc - s.bias)
	if !ok || f.C {
		return p
	}
	p.known, p.name, p.entry = true, f.Name, f.Entry
	p.size, p.sized = s.bin.FrameSize(pc - s.bias)
	look := pc - s.bias
	if !exact && look > f.Entry {
		look--
	}
	p.shape, _ = s.bin.ArgShape(f.Entry)
	p.live = s.bin.ArgLiveness(look)
	frames := s.bin.Frames(look)
	for i, fr := range frames {
		fr.Address = look
		fr.Inlined = i < len(frames)-1
		hidden := !shown(fr.Func) || wrapper(s.bin, s.special, fr)
		fr.Func = symbol.PrintedName(fr.Func)
		p.calls = append(p.calls, call{fr, hidden})
	}
	return p
}

// physical is one frame of a stack.
type physical struct {
	place      *place
	pc, sp, fp uint64
}

// maxUnwind bounds the frames of a stack that grows until it overflows.
const maxUnwind = 1 << 25

// unwind follows a stack by the sizes of its frames, as the runtime itself does,
// until visit says that it is enough. It returns false where the stack ends
// before its first function.
func (st *Stopped) unwind(o *one, b begin, visit func(*physical) bool) bool {
	w := window{mem: st.s.mem, hi: st.s.word(o, st.s.l.stackHi)}
	pc, sp, lr, exact := b.pc, b.sp, b.lr, b.exact
	for n := range maxUnwind {
		f := physical{place: st.at(pc, exact), pc: pc, sp: sp}
		if !f.place.known || !f.place.sized || f.place.size < 0 {
			return false
		}
		f.fp = sp + uint64(f.place.size)
		if !st.arm() {
			f.fp += 8
		}
		top := isTop(f.place.name)
		if f.fp < sp || f.fp == sp && n > 0 && !top || f.fp > w.hi {
			return false // every call takes room on a stack, but the first one on arm64
		}
		if !visit(&f) || top {
			return true
		}
		back, ok := lr, true
		switch {
		case !st.arm():
			back, ok = w.word(f.fp - 8)
		case n == 0 && f.fp > sp || lr == 0:
			back, ok = w.word(sp)
		}
		if !ok || back == 0 {
			return false
		}
		injected := isInjected(f.place.name)
		pc, sp, lr, exact = back, f.fp, 0, injected
		if st.arm() && injected {
			// The handler has put the link register on the stack before it made
			// this look like a call.
			link, ok := w.word(sp)
			if !ok {
				return false
			}
			sp += 16
			if next := st.at(pc, exact); !next.known {
				pc = link
			} else if next.size == 0 {
				lr = link
			}
		}
	}
	return false
}

// isTop tells that a function is the first one of a stack.
func isTop(name string) bool {
	switch name {
	case "runtime.goexit", "runtime.mstart", "runtime.rt0_go", "runtime.mcall", "runtime.morestack":
		return true
	}
	return false
}

// window reads words of a stack, some kilobytes at a time.
type window struct {
	mem  Memory
	hi   uint64
	from uint64
	buf  []byte
	room [4096]byte
}

func (w *window) word(addr uint64) (uint64, bool) {
	b, ok := w.bytes(addr, 8)
	if !ok {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}

// bytes returns n bytes at an address, valid until the next call.
func (w *window) bytes(addr uint64, n int) ([]byte, bool) {
	if addr < w.from || addr+uint64(n) > w.from+uint64(len(w.buf)) {
		size := uint64(len(w.room))
		if addr < w.hi {
			size = min(size, w.hi-addr)
		}
		w.from, w.buf = addr, w.room[:max(size, uint64(n))]
		if w.mem.Read(addr, w.buf) != nil {
			// The end of what is there.
			if w.buf = w.room[:n]; w.mem.Read(addr, w.buf) != nil {
				w.buf = nil
				return nil, false
			}
		}
	}
	return w.buf[addr-w.from:][:n], true
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
		st.unwind(&on, at, func(f *physical) bool {
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
		if on, ok := st.g(addr); ok && st.s.inStack(&on, sp) {
			return on
		}
	}
	// A thread of C, or one of which the stack is not known.
	on := one{g: make([]byte, st.s.l.size)}
	binary.LittleEndian.PutUint64(on.g[st.s.l.stackHi:], min(sp, 1<<63)+1<<20)
	return on
}

// createdBy is the go statement of a goroutine, as a dump prints it.
func (st *Stopped) createdBy(o *one) (text string, ok bool) {
	pc := st.s.word(o, st.s.l.goPC)
	f, ok := st.s.bin.FuncAt(pc - st.s.bias)
	if pc == 0 || !ok || !shown(f.Name) {
		return "", false
	}
	text = dump.CreatedBy + symbol.PrintedName(f.Name)
	if st.s.l.parent >= 0 {
		if id := st.s.word(o, st.s.l.parent); id != 0 {
			text += fmt.Sprintf(" in goroutine %d", id)
		}
	}
	file, line := st.s.bin.Line(pc - 1 - st.s.bias)
	return fmt.Sprintf("%s\n\t%s:%d +%#x\n", text, file, line, pc-st.s.bias-f.Entry), true
}
