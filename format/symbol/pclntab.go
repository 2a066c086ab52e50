package symbol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"sync"
)

// tableVersion is a layout of the pclntab. docs/formats/pclntab.md draws them.
type tableVersion uint8

const (
	table12  tableVersion = iota + 1 // Go 1.2 to 1.15
	table116                         // Go 1.16, 1.17
	table118                         // Go 1.18, 1.19
	table120                         // Go 1.20 and later
)

var tableMagics = map[uint32]tableVersion{
	0xfffffffb: table12,
	0xfffffffa: table116,
	0xfffffff0: table118,
	0xfffffff1: table120,
}

var errNoTable = errors.New("the binary has no table of Go functions (pclntab): it is not a Go program, or one built before Go 1.2")

// pclntab finds functions, files, lines and inlined calls by address. It
// decodes nothing ahead of a question: the table of the go command has 1.8 MB
// per 10,000 functions, and one lookup reads some pages of it.
//
// Note: debug/gosym reads the same tables, but makes three objects per
// function before the first lookup, cannot tell inlined calls, start lines and
// ends, and needs the address of runtime.text from its caller.
type pclntab struct {
	p       *pager
	version tableVersion
	order   binary.ByteOrder
	quantum uint64
	ptrSize int
	nfunc   int

	// Offsets in the table: names, files of compilation units, file names,
	// tables of values by PC, functions.
	names, cus, files, values, funcs uint64
	// functab holds pairs of an address and an offset from funcs, each of
	// fieldSize bytes.
	functab   uint64
	fieldSize int
	// textStart is what addresses are relative to since Go 1.18.
	textStart uint64
	// inlTrees is the base of the inline trees and of other data of functions;
	// nil when it is not known.
	inlTrees *pager
	// types and typesEnd bound the runtime's descriptions of types; 0 when they
	// are not known.
	types, typesEnd uint64

	mu      sync.Mutex
	strings map[uint64]string // names and files by offset
	held    uint64            // bytes in strings
}

// parseHeader checks the header and fills in all but textStart and inlTrees.
func parseHeader(p *pager) (*pclntab, error) {
	head := p.slice(0, 16)
	if head == nil {
		return nil, errNoTable
	}
	t := &pclntab{p: p, quantum: uint64(head[6]), ptrSize: int(head[7]), strings: map[uint64]string{}}
	var ok bool
	t.order = binary.LittleEndian
	if t.version, ok = tableMagics[binary.LittleEndian.Uint32(head)]; !ok {
		t.order = binary.BigEndian
		if t.version, ok = tableMagics[binary.BigEndian.Uint32(head)]; !ok {
			return nil, fmt.Errorf("the table of functions begins with %x: the binary was made by a Go that is not known yet, or is damaged", head[:4])
		}
	}
	if head[4] != 0 || head[5] != 0 || t.quantum != 1 && t.quantum != 2 && t.quantum != 4 || t.ptrSize != 4 && t.ptrSize != 8 {
		return nil, fmt.Errorf("the table of functions has the header %x: damaged", head[:8])
	}
	word := func(i int) uint64 { return t.word(8 + uint64(i*t.ptrSize)) }
	n := word(0)
	switch t.version {
	case table118, table120:
		t.names, t.cus, t.files, t.values, t.funcs = word(3), word(4), word(5), word(6), word(7)
		t.functab, t.fieldSize = t.funcs, 4
	case table116:
		t.names, t.cus, t.files, t.values, t.funcs = word(2), word(3), word(4), word(5), word(6)
		t.functab, t.fieldSize = t.funcs, t.ptrSize
	case table12:
		t.functab, t.fieldSize = 8+uint64(t.ptrSize), t.ptrSize
	}
	// The pairs are followed by the end of the last function.
	if t.functab > p.size || n > (p.size-t.functab)/uint64(2*t.fieldSize) {
		return nil, fmt.Errorf("the table of functions has room for less than its %d functions: cut or damaged", n)
	}
	t.nfunc = int(n)
	if t.version == table12 {
		t.files = uint64(t.uint32(t.functab + (2*n+1)*uint64(t.fieldSize)))
	}
	return t, nil
}

func (t *pclntab) uint32(off uint64) uint32 {
	if b := t.p.slice(off, 4); b != nil {
		return t.order.Uint32(b)
	}
	return 0
}

// word reads a pointer-sized value.
func (t *pclntab) word(off uint64) uint64 {
	if t.ptrSize == 4 {
		return uint64(t.uint32(off))
	}
	if b := t.p.slice(off, 8); b != nil {
		return t.order.Uint64(b)
	}
	return 0
}

func (t *pclntab) field(off uint64) uint64 {
	if t.fieldSize == 4 {
		return uint64(t.uint32(off))
	}
	return t.word(off)
}

// string returns the name at an offset, made once.
func (t *pclntab) string(off uint64) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.strings[off]
	if !ok && t.held <= t.p.size+maxName {
		// Names do not overlap, so all together they are smaller than the
		// table, unless it is made to need much memory.
		s = string(t.p.cstring(off))
		t.strings[off] = s
		t.held += uint64(len(s))
	}
	return s
}

// entry returns where function i begins; entry(nfunc) is where the last ends.
func (t *pclntab) entry(i int) uint64 {
	pc := t.field(t.functab + uint64(2*i*t.fieldSize))
	if t.version >= table118 {
		pc += t.textStart
	}
	return pc
}

// covers says whether an address belongs to Go's part of the program.
func (t *pclntab) covers(pc uint64) bool {
	return t != nil && t.nfunc > 0 && pc >= t.entry(0) && pc < t.entry(t.nfunc)
}

// find returns the function that holds pc.
func (t *pclntab) find(pc uint64) (fn, bool) {
	if !t.covers(pc) {
		return fn{}, false
	}
	lo, hi := 0, t.nfunc // entry(lo) <= pc < entry(hi)
	for hi-lo > 1 {
		mid := int(uint(lo+hi) / 2)
		if t.entry(mid) <= pc {
			lo = mid
		} else {
			hi = mid
		}
	}
	return t.funcAt(lo)
}

// fn is one function of the table.
type fn struct {
	t          *pclntab
	entry, end uint64
	off        uint64 // of the record
}

func (t *pclntab) funcAt(i int) (fn, bool) {
	f := fn{t: t, entry: t.entry(i), end: t.entry(i + 1)}
	f.off = t.funcs + t.field(t.functab+uint64((2*i+1)*t.fieldSize))
	return f, f.end > f.entry && f.off < t.p.size
}

// field numbers of a function's record behind the entry address, 4 bytes each.
const (
	fieldName    = 0
	fieldArgs    = 1 // bytes of arguments on the stack, with results before Go 1.17
	fieldFrame   = 3 // how far the stack pointer has moved
	fieldFiles   = 4
	fieldLines   = 5
	fieldNumData = 6 // how many tables of values by PC follow
	fieldUnit    = 7 // since Go 1.16
	fieldStart   = 8 // start line, since Go 1.20
)

func (f fn) field(i int) uint64 {
	first := 4
	if f.t.version < table118 {
		first = f.t.ptrSize
	}
	return f.off + uint64(first+4*i)
}

func (f fn) name() string { return f.t.string(f.nameOff()) }

func (f fn) nameOff() uint64 { return f.t.names + uint64(f.t.uint32(f.field(fieldName))) }

// matches says whether the name matches; it makes no string of it.
func (f fn) matches(re *regexp.Regexp) bool { return re.Match(f.t.p.cstring(f.nameOff())) }

func (f fn) startLine() int {
	if f.t.version < table120 {
		return 0
	}
	return int(int32(f.t.uint32(f.field(fieldStart))))
}

// special is the runtime's funcID, see [Func.Special].
func (f fn) special() uint8 {
	last := fieldStart + 1
	switch {
	case f.t.version < table118:
		return 0
	case f.t.version == table118:
		last = fieldStart
	}
	if b := f.t.p.slice(f.field(last), 4); b != nil {
		return b[0]
	}
	return 0
}

// file turns a file number of this function into a name.
func (f fn) file(n int32) string {
	t := f.t
	if t.version == table12 {
		if n <= 0 {
			return ""
		}
		return t.string(uint64(t.uint32(t.files + 4*uint64(n))))
	}
	unit := t.uint32(f.field(fieldUnit))
	if n < 0 || unit == 1<<32-1 {
		return ""
	}
	off := t.uint32(t.cus + 4*(uint64(unit)+uint64(n)))
	if off == 1<<32-1 {
		return ""
	}
	return t.string(t.files + uint64(off))
}

// files and lines walk the values along the function.
func (f fn) files() valueIter { return f.t.valuesAt(f.t.uint32(f.field(fieldFiles)), f.entry) }
func (f fn) lines() valueIter { return f.t.valuesAt(f.t.uint32(f.field(fieldLines)), f.entry) }

// moved walks how many bytes the stack pointer has moved since the entry.
func (f fn) moved() valueIter { return f.t.valuesAt(f.t.uint32(f.field(fieldFrame)), f.entry) }

// hasLines says whether the function has positions: C code has none.
func (f fn) hasLines() bool { return f.t.uint32(f.field(fieldLines)) != 0 }

// fileLine returns the position of the statement at pc.
func (f fn) fileLine(pc uint64) (string, int) {
	files, lines := f.files(), f.lines()
	return f.file(files.seek(pc)), int(max(lines.seek(pc), 0))
}

func (f fn) export() Func {
	files := f.files()
	return Func{
		Name: f.name(), Entry: f.entry, End: f.end,
		File: f.file(files.seek(f.entry)), StartLine: f.startLine(), Special: f.special(),
	}
}

// valueIter walks a table of values by PC: pairs of two varints, the change of
// the value (zigzag) and the number of instruction units for which it holds.
type valueIter struct {
	t     *pclntab
	off   uint64
	buf   []byte // what is left of the page
	pc    uint64 // value holds for addresses below pc
	value int32
	first bool
	done  bool
}

// valuesAt starts at the entry of a function. Offset 0 means no table.
func (t *pclntab) valuesAt(off uint32, entry uint64) valueIter {
	return valueIter{t: t, off: t.values + uint64(off), pc: entry, value: -1, first: true, done: off == 0}
}

// seek moves on to pc and returns the value there; -1 where there is none.
// Addresses must not decrease from call to call.
func (it *valueIter) seek(pc uint64) int32 {
	for idle := 0; pc >= it.pc || it.first; {
		if it.done {
			return -1
		}
		if !it.first {
			it.skip(pc)
			if pc < it.pc {
				break
			}
		}
		before := it.pc
		if !it.next() {
			it.done = true
			return -1
		}
		if it.pc == before {
			if idle++; idle > 16 {
				it.done = true // values without addresses: damaged
			}
		}
	}
	return it.value
}

// skip moves on towards pc over pairs of one byte each, which nearly all are:
// with it a lookup takes half the time.
func (it *valueIter) skip(pc uint64) {
	at, value, buf, quantum := it.pc, it.value, it.buf, it.t.quantum
	i := 0
	for ; i+1 < len(buf) && at <= pc; i += 2 {
		delta, step := buf[i], buf[i+1]
		if delta == 0 || (delta|step) >= 0x80 || step == 0 {
			break
		}
		value += int32(delta>>1) ^ -int32(delta&1)
		at += uint64(step) * quantum
	}
	it.pc, it.value, it.buf = at, value, buf[i:]
}

func (it *valueIter) next() bool {
	delta, ok := it.varint()
	if !ok || delta == 0 && !it.first {
		return false
	}
	it.first = false
	if delta&1 != 0 {
		delta = ^(delta >> 1)
	} else {
		delta >>= 1
	}
	step, ok := it.varint()
	if !ok {
		return false
	}
	it.value += int32(delta)
	it.pc += uint64(step) * it.t.quantum
	return true
}

func (it *valueIter) varint() (uint32, bool) {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		if len(it.buf) == 0 {
			if it.buf = it.t.p.tail(it.off); len(it.buf) == 0 {
				return 0, false
			}
			it.off += uint64(len(it.buf))
		}
		c := it.buf[0]
		it.buf = it.buf[1:]
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v, true
		}
	}
	return 0, false
}
