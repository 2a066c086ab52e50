package program

import (
	"encoding/binary"
	"fmt"

	"loupe/format/symbol"
)

// frames follows stacks by the sizes of their frames, and keeps what it has looked up of
// places in the program.
type frames struct {
	s      *snapshot
	places map[placeKey]*place
}

func newFrames(s *snapshot) *frames { return &frames{s, map[placeKey]*place{}} }

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
func (u *frames) at(pc uint64, exact bool) *place {
	key := placeKey{pc, exact}
	if p := u.places[key]; p != nil {
		return p
	}
	p := &place{}
	u.places[key] = p
	s := u.s
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
func (u *frames) unwind(o *one, b begin, visit func(*physical) bool) bool {
	w := window{mem: u.s.mem, hi: u.s.word(o, u.s.l.stackHi)}
	pc, sp, lr, exact := b.pc, b.sp, b.lr, b.exact
	for n := range maxUnwind {
		f := physical{place: u.at(pc, exact), pc: pc, sp: sp}
		if !f.place.known || !f.place.sized || f.place.size < 0 {
			return false
		}
		f.fp = sp + uint64(f.place.size)
		if !u.s.arm() {
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
		case !u.s.arm():
			back, ok = w.word(f.fp - 8)
		case n == 0 && f.fp > sp || lr == 0:
			back, ok = w.word(sp)
		}
		if !ok || back == 0 {
			return false
		}
		injected := isInjected(f.place.name)
		pc, sp, lr, exact = back, f.fp, 0, injected
		if u.s.arm() && injected {
			// The handler has put the link register on the stack before it made
			// this look like a call.
			link, ok := w.word(sp)
			if !ok {
				return false
			}
			sp += 16
			if next := u.at(pc, exact); !next.known {
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

// isInjected tells that a function was called in the middle of another one, which
// has not made the call itself.
func isInjected(name string) bool {
	return name == "runtime.sigpanic" || name == "runtime.asyncPreempt" || name == "runtime.debugCallV2"
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
		o, ok := st.s.g(g)
		if !ok {
			return
		}
		at, ok := st.beginOf(&o)
		if !ok {
			return
		}
		exact := at.exact
		st.frames.unwind(&o, at, func(f *physical) bool {
			a := Activation{PC: f.pc, Exact: exact, SP: f.sp, CFA: f.fp}
			exact = isInjected(f.place.name)
			return visit(a)
		})
	}, nil
}
