package heap

import "fmt"

// The states of a g (runtime2.go).
const (
	gIdle, gRunning, gSyscall, gDead, gDeadExtra = 0, 2, 3, 6, 11
	gScan                                        = 0x1000
)

// Bounds of what is believed of goroutines.
const (
	maxGoroutines = 16 << 20
	maxStack      = 1 << 30
)

// goroutines goes through the stacks, by their frames where those can be told.
//
// Note: where they cannot, and in frames that the collector has no masks of (of the
// function that was interrupted, of assembler), each word that could be a pointer
// is taken for one. What is no longer used, or is no pointer, may hold an object
// there that nothing holds in truth. It is rare, and shown with the function,
// where it can be judged.
func (m *marker) goroutines() {
	h := m.h
	list, err1 := h.word(h.l.allgs + h.bias)
	n, err2 := h.word(h.l.allgs + h.bias + 8)
	if err1 != nil || err2 != nil || n > maxGoroutines {
		h.Damaged++
		return
	}
	var buf, gbuf []byte
	for i := range n {
		at := le64(h.cache.bytes(list+8*i, 8, &buf))
		if at == 0 || at>>48 != 0 {
			continue
		}
		g := append(gbuf[:0], h.cache.bytes(at, h.l.gSize.size, &buf)...)
		gbuf = g
		switch h.l.status.of(g) &^ gScan {
		case gIdle, gDead, gDeadExtra:
			continue
		}
		m.goroutine(at, g)
	}
}

func (m *marker) goroutine(at uint64, g []byte) {
	h := m.h
	lo, hi := h.l.stackLo.of(g), h.l.stackHi.of(g)
	if lo == 0 || hi <= lo || hi-lo > maxStack || hi>>48 != 0 || lo%8 != 0 {
		h.Damaged++
		return
	}
	start := ""
	if f, ok := h.bin.FuncAt(h.l.startPC.of(g) - h.bias); ok {
		start = f.Name
	}
	v := h.begin(m, Root{Kind: Goroutine, Name: fmt.Sprintf("goroutine %d", h.l.goid.of(g)), Func: start})
	defer h.end(v)
	if m.frames(v, at, g, lo, hi) {
		return
	}
	sp, pc, bp := h.l.schedSP.of(g), h.l.schedPC.of(g), h.l.schedBP.of(g)
	switch h.l.status.of(g) &^ gScan {
	case gSyscall:
		sp, pc, bp = h.l.syscallSP.of(g), h.l.syscallPC.of(g), 0
	case gRunning:
		sp, pc, bp = lo, 0, 0
		for _, t := range h.opt.Threads {
			if lo <= t && t < hi {
				sp = t
			}
		}
	}
	if sp < lo || sp >= hi {
		sp, bp = lo, 0
	}
	m.stack(v, sp&^7, hi, pc, bp)
}

// stack goes through the words of a stack. The chain of frame pointers tells where
// each frame ends: the return address lies above the pointer.
func (m *marker) stack(v *rootVisitor, sp, hi, pc, bp uint64) {
	h := m.h
	if pc != 0 {
		v.place = h.placeOf(pc-h.bias, "")
	}
	var buf []byte
	for sp+8 <= hi {
		n := min(hi-sp, blockSize-sp%blockSize)
		b := h.cache.bytes(sp, int(n), &buf)
		for i := uint64(0); i+8 <= n; i += 8 {
			w := le64(b[i:])
			if bp != 0 && sp+i == bp {
				// The caller's frame begins here: its frame pointer, and
				// where it goes on.
				if i+16 <= n {
					v.place = h.placeOf(le64(b[i+8:])-1-h.bias, "")
				}
				if bp = w; bp <= sp+i || bp >= hi {
					bp = 0
				}
				continue
			}
			if id, _, _ := h.find(w); id != noObject {
				v.pointer(w, toRaw, 0)
			}
		}
		sp += n
	}
}
