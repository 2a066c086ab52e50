package program

import (
	"fmt"

	"loupe/format/symbol"
)

// layouts are where the fields of g are in programs for 64 bits, by the minor
// version of Go: for binaries without DWARF (-ldflags=-w). Of Go before 1.21 they are
// known only as far as a running program is asked. TestLayouts holds them
// against the DWARF of programs that each version has built.
var layouts = map[int]layout{
	18: layout18, 19: layout18, 20: layout18,
	21: {
		size: 408, goid: 152, status: 144, reason: 176, since: 168, parent: 272, stackHi: 8, schedPC: 64, schedBP: 104, syscallPC: 120, syscallBP: -1, startPC: 296, goPC: 280, lockedM: 208,
		schedSP: 56, schedLR: 96, syscallSP: 112, m: 48, panics: 32, sig: 216, sigCode: 248, sigAddr: 256, sigPC: 264, panicArg: 8, panicLink: 24,
		machine: machineLayout{size: 824, id: 232, thread: 72, signal: 80, cur: 192, next: 336, clockSP: 808, clockPC: 816, dying: 268},
	},
	22: {
		size: 424, goid: 152, status: 144, reason: 176, since: 168, parent: 272, stackHi: 8, schedPC: 64, schedBP: 104, syscallPC: 120, syscallBP: -1, startPC: 296, goPC: 280, lockedM: 208,
		schedSP: 56, schedLR: 96, syscallSP: 112, m: 48, panics: 32, sig: 216, sigCode: 248, sigAddr: 256, sigPC: 264, panicArg: 8, panicLink: 24,
		machine: machineLayout{size: 1136, id: 232, thread: 72, signal: 80, cur: 192, next: 328, clockSP: 1120, clockPC: 1128, dying: 268},
	},
	23: {
		size: 432, goid: 160, status: 152, reason: 184, since: 176, parent: 280, stackHi: 8, schedPC: 64, schedBP: 104, syscallPC: 120, syscallBP: 128, startPC: 304, goPC: 288, lockedM: 216,
		schedSP: 56, schedLR: 96, syscallSP: 112, m: 48, panics: 32, sig: 224, sigCode: 256, sigAddr: 264, sigPC: 272, panicArg: 8, panicLink: 24,
		machine: machineLayout{size: 896, id: 232, thread: 72, signal: 80, cur: 192, next: 352, clockSP: 880, clockPC: 888, dying: 268},
	},
	24: {
		size: 440, goid: 160, status: 152, reason: 184, since: 176, parent: 280, stackHi: 8, schedPC: 64, schedBP: 104, syscallPC: 120, syscallBP: 128, startPC: 304, goPC: 288, lockedM: 216,
		schedSP: 56, schedLR: 96, syscallSP: 112, m: 48, panics: 32, sig: 228, sigCode: 256, sigAddr: 264, sigPC: 272, panicArg: 8, panicLink: 24,
		machine: machineLayout{size: 920, id: 232, thread: 72, signal: 80, cur: 192, next: 352, clockSP: 904, clockPC: 912, dying: 268},
	},
	25: {
		size: 440, goid: 152, status: 144, reason: 176, since: 168, parent: 272, stackHi: 8, schedPC: 64, schedBP: 96, syscallPC: 112, syscallBP: 120, startPC: 296, goPC: 280, lockedM: 208,
		schedSP: 56, schedLR: 88, syscallSP: 104, m: 48, panics: 32, sig: 220, sigCode: 248, sigAddr: 256, sigPC: 264, panicArg: 8, panicLink: 24,
		machine: machineLayout{size: 912, id: 224, thread: 64, signal: 72, cur: 184, next: 344, clockSP: 896, clockPC: 904, dying: 260},
	},
	26: {
		size: 456, goid: 152, status: 144, reason: 176, since: 168, parent: 280, stackHi: 8, schedPC: 64, schedBP: 96, syscallPC: 112, syscallBP: 120, startPC: 304, goPC: 288, lockedM: 208,
		schedSP: 56, schedLR: 88, syscallSP: 104, m: 48, panics: 32, sig: 224, sigCode: 256, sigAddr: 264, sigPC: 272, panicLink: 16,
		machine: machineLayout{size: 912, id: 232, thread: 64, signal: 72, cur: 184, next: 352, clockSP: 896, clockPC: 904, dying: 268},
	},
}

var layout18 = layout{size: 392, goid: 152, status: 144, reason: 176, since: 168, parent: -1, stackHi: 8, schedPC: 64, schedBP: 104, syscallPC: 120, syscallBP: -1, startPC: 312, goPC: 296, lockedM: 232}

// fromTable takes the layout from what is known of a version of Go.
func (l *layout) fromTable(b *symbol.Binary) error {
	minor, ok := b.GoMinor()
	if !ok {
		return fmt.Errorf("%w: it has no debug information (-ldflags=-w), and does not say by which version of Go it was built", ErrNotGo)
	}
	known, ok := layouts[minor]
	if !ok {
		return fmt.Errorf("%w: it has no debug information (-ldflags=-w), and how the runtime of Go 1.%d lies in memory is not known", ErrNotGo, minor)
	}
	known.special, known.allm = l.special, l.allm
	known.printed, known.printedAt, known.printedLen = l.printed, l.printedAt, l.printedLen
	known.allgptr, known.allglen, known.reasons, known.reasonsLen = l.allgptr, l.allglen, l.reasons, l.reasonsLen
	*l = known
	return nil
}
