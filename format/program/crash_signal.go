package program

import "encoding/binary"

// Signal is one that the runtime was handling, as the kernel has told it of it.
type Signal struct {
	Number, Code int
	// Addr is the address that was not there, for a fault; Sender the process that
	// has sent the signal, 0 for the kernel.
	Addr   uint64
	Sender int
	// PC is where the thread was. Foreign tells that no Go code is there: it was in C,
	// or in the kernel for it.
	PC      uint64
	Foreign bool
}

// maxSignals is how many handlers that interrupt each other are believed.
const maxSignals = 4

// taken is the first signal of those that a thread was handling: what it raised in
// the handler, such as the SIGABRT that leaves a core, lies above it.
func (st *Stopped) taken(t Thread) (sig Signal, ok bool) {
	m, _ := st.On(t.ID)
	at := begin{pc: t.PC, sp: t.SP, lr: t.LR, exact: true}
	for range maxSignals {
		on := st.stackOf(&m, at.sp)
		var frame uint64
		st.frames.unwind(&on, at, func(f *physical) bool {
			if isHandler(f.place.name) {
				frame = f.fp
			}
			return frame == 0
		})
		if frame == 0 {
			return sig, ok
		}
		next, saved := st.saved(frame)
		if sig, ok = st.info(frame, next.pc); !ok || !saved {
			return sig, ok
		}
		at = next
	}
	return sig, ok
}

// info reads the siginfo_t that the kernel has put above the frame of a handler.
func (st *Stopped) info(frame, pc uint64) (sig Signal, ok bool) {
	const context = 304 // a ucontext, which lies in front of it
	if !st.s.arm() {
		frame += context
	}
	var b [24]byte
	if st.s.mem.Read(frame, b[:]) != nil {
		return sig, false
	}
	sig = Signal{Number: int(int32(binary.LittleEndian.Uint32(b[:]))), Code: int(int32(binary.LittleEndian.Uint32(b[8:]))), PC: pc}
	if sig.Number < 1 || sig.Number > 64 {
		return sig, false
	}
	if sig.Code <= 0 { // those of processes
		sig.Sender = int(int32(binary.LittleEndian.Uint32(b[16:])))
	} else {
		sig.Addr = binary.LittleEndian.Uint64(b[16:])
	}
	f, known := st.s.bin.FuncAt(pc - st.s.bias)
	sig.Foreign = !known || f.C
	return sig, true
}
