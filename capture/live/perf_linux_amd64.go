package live

import "encoding/binary"

// leafRegister is the register that comes with each sample: the stack pointer,
// by its number in asm/perf_regs.h. Of the stack itself the kernel sends what it
// points at.
const leafRegister = 1 << 7

// returnAddress returns where the function at the leaf returns to: what lies above
// its frame, if that was sent.
func returnAddress(frame int, _ uint64, top []byte) (uint64, bool) {
	if frame+8 > len(top) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(top[frame:]), true
}
