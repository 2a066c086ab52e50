package symbol

import (
	"encoding/binary"
	"fmt"
	"io"

	"golang.org/x/arch/arm/armasm"
	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"
)

// Syntax says how instructions are written.
type Syntax uint8

const (
	// GoSyntax is the syntax of Go's assembler: what go tool objdump and go
	// tool pprof print.
	GoSyntax Syntax = iota
	// GNUSyntax is the syntax of the GNU tools (AT&T on x86).
	GNUSyntax
	// BothSyntaxes is Go's syntax with the GNU one behind "//": what go tool
	// objdump -gnu prints.
	BothSyntaxes
	// IntelSyntax is the syntax of the vendor's manual, on x86 only.
	IntelSyntax
)

// Inst is one machine instruction.
type Inst struct {
	PC    uint64
	Bytes []byte // as in memory; not to be modified
	// Text is the instruction, "?" where the bytes are none.
	Text string
	// File and Line are the position of the statement, which may belong to an
	// inlined call.
	File string
	Line int
	// Func is the function of the machine that holds the instruction.
	Func string
	// Inlined are the inlined calls that it belongs to, innermost first. The
	// slice is shared by the instructions of one call.
	Inlined []Frame
}

// maxInst is the length of the longest instruction, which x86 has.
const maxInst = 15

// Disassemble returns the instructions in the addresses start <= pc < end,
// which should begin at a function's entry or at an instruction. Addresses
// outside the section of the program's code are left out.
func (b *Binary) Disassemble(start, end uint64, syntax Syntax) ([]Inst, error) {
	decode := decoders[b.Arch]
	if decode == nil {
		return nil, fmt.Errorf("cannot disassemble %q code: %w", b.Arch, ErrNoDisassembler)
	}
	sect := b.img.section(".text")
	if sect == nil {
		return nil, fmt.Errorf("cannot disassemble: the binary has no .text section")
	}
	limit := sect.addr + sect.size
	start, end = max(start, sect.addr), min(end, limit)
	if start >= end {
		return nil, nil
	}
	// The last instruction may reach beyond the end that was asked for.
	text, err := b.img.bytes(sect.off+start-sect.addr, min(end-start+maxInst, limit-start))
	if err != nil {
		return nil, fmt.Errorf("cannot disassemble: %w", err)
	}
	code := text[:end-start]
	out := make([]Inst, 0, (end-start)/4)
	table, _ := b.table()
	pos := positions{table: table, outside: b.Frames}
	for pc := start; pc < end; {
		at := pc - start
		s, size := decode(code[at:], pc, b.label, syntax)
		bytes := text[at:min(at+uint64(size), uint64(len(text)))]
		in := Inst{PC: pc, Bytes: bytes[:len(bytes):len(bytes)], Text: s}
		pos.fill(&in)
		out = append(out, in)
		pc += uint64(size)
	}
	return out, nil
}

// positions walks the tables of a function along its instructions instead of
// searching them from the entry for each: on functions of the compiler this
// takes a tenth of the time.
type positions struct {
	table   *pclntab                // nil when there is none
	outside func(pc uint64) []Frame // of what is not in it
	in      bool                    // f is valid
	f       fn
	name    string

	files, lines, indexes valueIter
	tree                  inlineTree
	hasTree, hasLines     bool
	file                  int32
	fileName              string
	index                 int32
	line                  int32
	inlined               []Frame
}

// fill sets the position of an instruction. Addresses must increase.
func (p *positions) fill(in *Inst) {
	if p.table == nil || !p.table.covers(in.PC) {
		p.fillC(in)
		return
	}
	if !p.in || in.PC >= p.f.end || in.PC < p.f.entry {
		p.enter(in.PC)
	}
	if !p.in || !p.hasLines {
		p.fillC(in)
		return
	}
	if n := p.files.seek(in.PC); n != p.file {
		p.file, p.fileName = n, p.f.file(n)
	}
	line := p.lines.seek(in.PC)
	in.File, in.Line, in.Func = p.fileName, int(max(line, 0)), p.name
	if !p.hasTree {
		return
	}
	if i := p.indexes.seek(in.PC); i != p.index || line != p.line {
		p.index, p.inlined = i, nil
		if i >= 0 {
			p.inlined, _ = p.tree.at(i, in.PC)
		}
	}
	p.line = line
	in.Inlined = p.inlined
}

func (p *positions) enter(pc uint64) {
	p.f, p.in = p.table.find(pc)
	if !p.in {
		return
	}
	p.name, p.hasLines = p.f.name(), p.f.hasLines()
	p.files, p.lines = p.f.files(), p.f.lines()
	p.file, p.fileName, p.index, p.line, p.inlined = -1, "", -1, -1, nil
	p.tree, p.hasTree = p.f.inlineTree()
	if p.hasTree = p.hasTree && p.tree.index != 0; p.hasTree {
		p.indexes = p.tree.indexes()
	}
}

// fillC sets the position of an instruction outside Go's code.
func (p *positions) fillC(in *Inst) {
	frames := p.outside(in.PC)
	if len(frames) == 0 {
		return
	}
	last := len(frames) - 1
	in.File, in.Line, in.Func = frames[0].File, frames[0].Line, frames[last].Func
	if last > 0 {
		in.Inlined = frames[:last:last]
	}
}

type lookupFunc = func(addr uint64) (name string, base uint64)

// decoders turn the first instruction of code into text, by GOARCH.
var decoders = map[string]func(code []byte, pc uint64, lookup lookupFunc, syntax Syntax) (text string, size int){
	"386":   decodeX86(32),
	"amd64": decodeX86(64),
	"arm":   decodeARM,
	"arm64": decodeARM64,
}

func decodeX86(mode int) func([]byte, uint64, lookupFunc, Syntax) (string, int) {
	return func(code []byte, pc uint64, lookup lookupFunc, syntax Syntax) (string, int) {
		inst, err := x86asm.Decode(code, mode)
		if err != nil || inst.Len == 0 || inst.Op == 0 {
			return "?", 1
		}
		switch syntax {
		case GNUSyntax:
			return x86asm.GNUSyntax(inst, pc, lookup), inst.Len
		case IntelSyntax:
			return x86asm.IntelSyntax(inst, pc, lookup), inst.Len
		case BothSyntaxes:
			return both(x86asm.GoSyntax(inst, pc, lookup), x86asm.GNUSyntax(inst, pc, nil)), inst.Len
		}
		return x86asm.GoSyntax(inst, pc, lookup), inst.Len
	}
}

func decodeARM(code []byte, pc uint64, lookup lookupFunc, syntax Syntax) (string, int) {
	inst, err := armasm.Decode(code, armasm.ModeARM)
	if err != nil || inst.Len == 0 || inst.Op == 0 {
		return "?", 4
	}
	switch syntax {
	case GNUSyntax, IntelSyntax:
		return armasm.GNUSyntax(inst), inst.Len
	case BothSyntaxes:
		return both(armasm.GoSyntax(inst, pc, lookup, literals{code, pc}), armasm.GNUSyntax(inst)), inst.Len
	}
	return armasm.GoSyntax(inst, pc, lookup, literals{code, pc}), inst.Len
}

func decodeARM64(code []byte, pc uint64, lookup lookupFunc, syntax Syntax) (string, int) {
	inst, err := arm64asm.Decode(code)
	if err != nil || inst.Op == 0 {
		return "?", 4
	}
	switch syntax {
	case GNUSyntax, IntelSyntax:
		return arm64asm.GNUSyntax(inst), 4
	case BothSyntaxes:
		return both(arm64asm.GoSyntax(inst, pc, lookup, literals{code, pc}), arm64asm.GNUSyntax(inst)), 4
	}
	return arm64asm.GoSyntax(inst, pc, lookup, literals{code, pc}), 4
}

func both(goText, gnuText string) string { return fmt.Sprintf("%-36s // %s", goText, gnuText) }

// literals lets a disassembler read the constants behind an instruction, at
// their addresses.
type literals struct {
	code []byte
	pc   uint64
}

// ReadAt implements [io.ReaderAt] on addresses.
func (l literals) ReadAt(buf []byte, addr int64) (int, error) {
	d := uint64(addr) - l.pc
	if addr < 0 || uint64(addr) < l.pc || d >= uint64(len(l.code)) {
		return 0, io.EOF
	}
	n := copy(buf, l.code[d:])
	if n < len(buf) {
		return n, io.ErrUnexpectedEOF
	}
	return n, nil
}

// Words returns the bytes of an instruction as go tool objdump prints them:
// bytes in order on x86, words of 32 bits elsewhere.
func (b *Binary) Words(in Inst) string {
	if len(in.Bytes)%4 != 0 || b.Arch == "386" || b.Arch == "amd64" {
		return fmt.Sprintf("%x", in.Bytes)
	}
	s := make([]byte, 0, 9*len(in.Bytes)/4)
	for i := 0; i < len(in.Bytes); i += 4 {
		if i > 0 {
			s = append(s, ' ')
		}
		s = fmt.Appendf(s, "%08x", binary.LittleEndian.Uint32(in.Bytes[i:]))
	}
	return string(s)
}
