package program

import (
	"fmt"
	"strconv"
	"strings"

	"loupe/symbol"
)

// layouts are where the fields of g are in programs for 64 bits, by the minor
// version of Go: for binaries without DWARF (-ldflags=-w). TestLayouts holds them
// against the DWARF of programs that each version has built.
var layouts = map[int]layout{
	18: layout18, 19: layout18, 20: layout18,
	21: {size: 408, goid: 152, status: 144, reason: 176, since: 168, parent: 272, stackHi: 8, schedPC: 64, schedBP: 104, syscallPC: 120, syscallBP: -1, startPC: 296, goPC: 280, lockedM: 208},
	22: {size: 424, goid: 152, status: 144, reason: 176, since: 168, parent: 272, stackHi: 8, schedPC: 64, schedBP: 104, syscallPC: 120, syscallBP: -1, startPC: 296, goPC: 280, lockedM: 208},
	23: {size: 432, goid: 160, status: 152, reason: 184, since: 176, parent: 280, stackHi: 8, schedPC: 64, schedBP: 104, syscallPC: 120, syscallBP: 128, startPC: 304, goPC: 288, lockedM: 216},
	24: {size: 440, goid: 160, status: 152, reason: 184, since: 176, parent: 280, stackHi: 8, schedPC: 64, schedBP: 104, syscallPC: 120, syscallBP: 128, startPC: 304, goPC: 288, lockedM: 216},
	25: {size: 440, goid: 152, status: 144, reason: 176, since: 168, parent: 272, stackHi: 8, schedPC: 64, schedBP: 96, syscallPC: 112, syscallBP: 120, startPC: 296, goPC: 280, lockedM: 208},
	26: {size: 456, goid: 152, status: 144, reason: 176, since: 168, parent: 280, stackHi: 8, schedPC: 64, schedBP: 96, syscallPC: 112, syscallBP: 120, startPC: 304, goPC: 288, lockedM: 208},
}

var layout18 = layout{size: 392, goid: 152, status: 144, reason: 176, since: 168, parent: -1, stackHi: 8, schedPC: 64, schedBP: 104, syscallPC: 120, syscallBP: -1, startPC: 312, goPC: 296, lockedM: 232}

// fromTable takes the layout from what is known of a version of Go.
func (l *layout) fromTable(b *symbol.Binary) error {
	minor, ok := minorOf(b)
	if !ok {
		return fmt.Errorf("%w: it has no debug information (-ldflags=-w), and does not say by which version of Go it was built", ErrNotGo)
	}
	known, ok := layouts[minor]
	if !ok {
		return fmt.Errorf("%w: it has no debug information (-ldflags=-w), and how the runtime of Go 1.%d lies in memory is not known", ErrNotGo, minor)
	}
	known.special = l.special
	known.allgptr, known.allglen, known.reasons, known.reasonsLen = l.allgptr, l.allglen, l.reasons, l.reasonsLen
	*l = known
	return nil
}

// minorOf returns the version of Go that has built a binary: 26 is Go 1.26.
func minorOf(b *symbol.Binary) (int, bool) {
	info, err := b.BuildInfo()
	if err != nil {
		return 0, false
	}
	rest, ok := strings.CutPrefix(info.GoVersion, "go1.")
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	n, err := strconv.Atoi(rest[:digits])
	return n, ok && err == nil
}
