package live

// leafRegister is the register that comes with each sample: the link register, by
// its number in asm/perf_regs.h.
const leafRegister = 1 << 30

// returnAddress returns where the function at the leaf returns to: without a
// frame of its own, that is what the link register holds.
func returnAddress(frame int, link uint64, _ []byte) (uint64, bool) { return link, frame == 0 }
