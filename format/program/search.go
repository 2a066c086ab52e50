package program

import (
	"encoding/binary"
	"fmt"

	"loupe/format/symbol"
)

// Search opens a program without a symbol table (-ldflags=-s, strip) by looking
// through its variables for the list of all goroutines, of which the first one runs
// main, and for the reasons to wait.
// The program must not move, and be of a version of Go that the table of layouts has.
func Search(mem Memory, bin *symbol.Binary, bias uint64) (*Program, error) {
	l := &layout{}
	if minor, ok := bin.GoMinor(); ok && minor <= 21 {
		l.special = wrapper18
	}
	if err := l.fromTable(bin); err != nil {
		return nil, err
	}
	f := &finder{mem: mem, l: l}
	for _, s := range bin.Segments {
		if s.Write {
			f.look(s.Addr+bias, s.Size)
		}
	}
	if f.goroutines == 0 || f.reasons == 0 {
		return nil, fmt.Errorf("%w: the binary has no symbol table (-ldflags=-s or strip removes it), and the list of goroutines is not found in its memory", ErrNotGo)
	}
	l.allgptr, l.allglen = f.goroutines-bias, f.goroutines+8-bias
	l.reasons, l.reasonsLen = f.reasons-bias, f.reasonsLen
	return &Program{Memory: mem, Binary: bin, Bias: bias, l: l}, nil
}

// finder looks for variables by what is in them.
type finder struct {
	mem                 Memory
	l                   *layout
	goroutines, reasons uint64
	reasonsLen          int
}

// searchChunk is how much is looked through at once.
const searchChunk = 64 << 10

// look goes through the words of a segment; each may begin a slice or a string.
func (f *finder) look(addr, size uint64) {
	const ahead = 32 // that a match may reach beyond its first word
	buf := make([]byte, searchChunk+ahead)
	for off := uint64(0); off < size; off += searchChunk {
		b := buf[:min(uint64(len(buf)), size-off)]
		if f.mem.Read(addr+off, b) != nil {
			continue
		}
		for i := 0; i+ahead <= len(b) && i < searchChunk; i += 8 {
			first, second, third := binary.LittleEndian.Uint64(b[i:]), binary.LittleEndian.Uint64(b[i+8:]), binary.LittleEndian.Uint64(b[i+16:])
			at := addr + off + uint64(i)
			if f.goroutines == 0 && first != 0 && 2 <= second && second <= third && third <= 4*maxGoroutines && f.isList(first) {
				f.goroutines = at
			}
			if f.reasons == 0 && second == uint64(len(firstReason)) && f.text(first, second) == firstReason {
				f.readReasons(at)
			}
		}
	}
}

// isList tells whether a list of g begins with goroutine 1 and another one.
func (f *finder) isList(at uint64) bool {
	var two [16]byte
	if at%8 != 0 || f.mem.Read(at, two[:]) != nil {
		return false
	}
	g := make([]byte, f.l.size)
	for i := range 2 {
		addr := binary.LittleEndian.Uint64(two[8*i:])
		if addr == 0 || addr%8 != 0 || f.mem.Read(addr, g) != nil {
			return false
		}
		word := func(off int) uint64 { return binary.LittleEndian.Uint64(g[off:]) }
		id, lo, hi := word(f.l.goid), word(f.l.stackLo), word(f.l.stackHi)
		if (id == 1) != (i == 0) || id == 0 || id > 1<<48 || lo >= hi || hi-lo > 1<<31 || lo%8 != 0 {
			return false
		}
	}
	return true
}

// firstReason is the second of waitReasonStrings; the first one is empty.
const firstReason = "GC assist marking"

// maxReasons is more than Go has.
const maxReasons = 100

// readReasons counts the reasons of a table whose second one is at an address.
func (f *finder) readReasons(second uint64) {
	n := 1
	for ; n < maxReasons; n++ {
		var head [16]byte
		if f.mem.Read(second+uint64(16*(n-1)), head[:]) != nil {
			break
		}
		if f.text(binary.LittleEndian.Uint64(head[:]), binary.LittleEndian.Uint64(head[8:])) == "" {
			break
		}
	}
	if n > 10 {
		f.reasons, f.reasonsLen = second-16, n
	}
}

// text reads a reason, "" for what is none.
func (f *finder) text(at, n uint64) string {
	if n == 0 || n > 64 {
		return ""
	}
	buf := make([]byte, n)
	if f.mem.Read(at, buf) != nil {
		return ""
	}
	for _, c := range buf {
		if c < ' ' || c > '~' {
			return ""
		}
	}
	return string(buf)
}
