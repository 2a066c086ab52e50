// Package symbol reads everything about a Go program that is in its binary:
// which function and line an address belongs to with the inlined calls, what
// the machine instructions are, how the program was built, whether it is the
// program that a profile was taken of, and where its source may be found.
//
// It reads ELF, Mach-O (also the fat form) and PE, of every Go version since
// 1.2, stripped or not: the table of functions that the runtime itself uses
// (pclntab, see docs/formats/pclntab.md) survives -ldflags="-s -w". C functions
// come from the symbol table and from DWARF.
//
// Everything is read when it is first asked for: opening a binary of 100 MB
// reads its headers. The package opens no path; it takes an [io.ReaderAt]. It
// does not download debug information and does not read source files.
package symbol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"loupe/value/stack"
)

// Format is the container of a binary.
type Format string

// The formats that Open knows.
const (
	ELF   Format = "ELF"
	MachO Format = "Mach-O"
	PE    Format = "PE"
)

// ErrNotBinary is what Open returns, wrapped, for a file of another kind.
var ErrNotBinary = errors.New("not an ELF, Mach-O or PE file")

// ErrNoDisassembler is returned, wrapped, for an architecture that no
// disassembler is linked in for.
var ErrNoDisassembler = errors.New("no disassembler for this architecture")

// Options say how a binary is read. The zero Options are fine.
type Options struct {
	// Arch chooses one architecture (as GOARCH) of a fat Mach-O file. Without
	// it the first one is taken.
	Arch string
	// Demangle turns a C++ or Rust symbol into what a human reads. Without it
	// such names stay as the linker has them. It is not asked about Go names.
	Demangle func(name string) string
	// MaxDWARF bounds the bytes of DWARF that are held in memory, after
	// decompression; 0 means 1 GiB. A file with more is treated as one
	// without DWARF; the error of [Binary.DWARF] says so.
	MaxDWARF int64
}

// Segment is a part of the file that the loader maps into memory.
type Segment struct {
	Addr     uint64 // virtual address as linked
	Size     uint64 // bytes in memory
	Offset   uint64 // of the bytes in the file
	FileSize uint64 // bytes in the file; the rest of Size is zeroes
	Exec     bool   // holds instructions
	Write    bool   // may be written to
}

// contains says whether addr lies in the segment.
func (s Segment) contains(addr uint64) bool { return addr-s.Addr < s.Size && addr >= s.Addr }

// Binary is an opened binary. It keeps what it has read, up to about the size
// of the tables in the file. Any number of goroutines may use it at once.
type Binary struct {
	Format Format
	// Arch is the architecture as GOARCH; empty when Go does not run there.
	Arch string
	// PIE says that the program may be loaded at any address.
	PIE bool
	// BuildID is the GNU build id (ELF) or the UUID (Mach-O) in hexadecimal:
	// what a profile names as the id of a mapping. PE has none.
	BuildID string
	// GoBuildID is the id that the go command has given the binary.
	GoBuildID string
	// Segments are what the loader maps, by address.
	Segments []Segment
	// Entry is the address of the first instruction as linked, in ELF; else 0.
	Entry uint64

	img *image
	// separate has the debug information that was taken out, or is nil.
	separate *Binary

	// What is in it. None of these knows of the others but what it is given.
	build
	constants
	loading
	linkerTable
	goTable
	debugInfo
	descriptions
}

// Open reads the headers of a binary. The format is found from the content.
// The reader must stay usable as long as the Binary is.
func Open(r io.ReaderAt, opt Options) (*Binary, error) {
	img, err := openImage(r, opt.Arch)
	if err != nil {
		return nil, fmt.Errorf("cannot read binary: %w", err)
	}
	b := &Binary{
		Format: img.format, Arch: img.arch, PIE: img.pie,
		BuildID: img.buildID, GoBuildID: img.goBuildID,
		Segments: img.segments, Entry: img.entry, img: img,
		build: newBuild(img.r), constants: constants{img}, loading: loading{img},
		linkerTable: newLinkerTable(img, opt.Demangle),
	}
	b.goTable = newGoTable(img, b.linkerTable.module)
	b.debugInfo = newDebugInfo(img, opt.MaxDWARF, b.demangle)
	b.descriptions = descriptions{mem: b.constants, bounds: b.goTable.typeBounds}
	return b, nil
}

// HasSymbols says whether there is a symbol table: -ldflags=-s and strip
// remove it.
func (b *Binary) HasSymbols() bool { return b.img.hasSymbols }

// Func is one function of the machine: inlined ones have no address of their
// own, see [Frame].
type Func struct {
	// Name is the symbol as the runtime knows it: "net/http.(*conn).serve".
	Name string
	// Entry and End are the addresses of the first instruction and of the
	// first byte that no longer belongs to the function. End may include
	// padding.
	Entry, End uint64
	// File is where the function is declared.
	File string
	// StartLine is the line of the func keyword; 0 means unknown (before
	// Go 1.20, and in C).
	StartLine int
	// Special is the number by which the runtime knows functions that it must
	// treat in some way (funcID in runtime/symtab.go), 0 for most. The last
	// of a version are the wrappers that the compiler has made. It is 0
	// before Go 1.18.
	Special uint8
	// C says that the function is not in Go's own table: C and C++ code,
	// what the linker has made.
	C bool
}

// Frame is one call at an address. Several frames have the same address when
// calls were inlined there.
type Frame struct {
	stack.Frame
	// Column is the column of the statement, from 1; 0 means unknown, as
	// always in Go code.
	Column int
}

// FuncAt returns the function that holds the instruction at pc.
func (b *Binary) FuncAt(pc uint64) (Func, bool) {
	if t, err := b.table(); err == nil {
		if f, ok := t.find(pc); ok {
			return f.export(), true
		}
	}
	s, ok := b.SymbolAt(pc)
	if !ok || !s.IsText() {
		return Func{}, false
	}
	f := Func{Name: b.demangle(s.Name), Entry: s.Addr, End: s.Addr + s.Size, C: true}
	if d, err := b.debug(); err == nil {
		f.File, _, _ = d.line(s.Addr)
	}
	return f, true
}

// Line returns the file and line of the statement at pc, which may belong to
// an inlined call: what runtime.Func.FileLine returns. The file is empty when
// nothing is known.
func (b *Binary) Line(pc uint64) (file string, line int) {
	if t, err := b.table(); err == nil {
		if f, ok := t.find(pc); ok && f.hasLines() {
			return f.fileLine(pc)
		}
	}
	if d, err := b.debug(); err == nil {
		file, line, _ = d.line(pc)
	}
	return file, line
}

// Frames returns the calls at pc, the innermost inlined one first and the
// function of the machine last. It is empty when nothing is known about pc.
//
// pc is the address of an instruction. A return address, which is what stack
// traces and all but the leaves of profiles hold, points behind the call: pass
// it less one.
func (b *Binary) Frames(pc uint64) []Frame {
	if t, err := b.table(); err == nil {
		if f, ok := t.find(pc); ok {
			lines := f.hasLines()
			if frames, ok := f.frames(pc); ok && lines {
				return frames
			}
			// Before Go 1.18 only DWARF tells of inlined calls, and of the
			// lines of C code that Go's linker has taken in.
			if d, err := b.debug(); err == nil {
				if frames := d.frames(pc); len(frames) > 1 || !lines && len(frames) > 0 {
					return frames
				}
			}
			return []Frame{f.frame(pc)}
		}
	}
	if d, err := b.debug(); err == nil {
		if frames := d.frames(pc); len(frames) > 0 {
			return frames
		}
	}
	if b.separate != nil {
		if frames := b.separate.Frames(pc); len(frames) > 0 {
			return frames
		}
	}
	if f, ok := b.FuncAt(pc); ok {
		return []Frame{{Frame: stack.Frame{Func: f.Name}}}
	}
	return nil
}

// Functions returns the functions whose name matches re, by address; a nil re
// matches all. C functions are included when the binary has a symbol table.
func (b *Binary) Functions(re *regexp.Regexp) ([]Func, error) {
	t, err := b.table()
	if err != nil && !b.HasSymbols() {
		return nil, err
	}
	var out []Func
	if err == nil {
		for i := range t.nfunc {
			f, ok := t.funcAt(i)
			if ok && (re == nil || f.matches(re)) {
				out = append(out, f.export())
			}
		}
	}
	syms, err := b.byAddress()
	if err != nil {
		return out, nil // stripped
	}
	n := len(out)
	for _, s := range syms {
		if !s.IsText() || s.Size == 0 || re != nil && !re.MatchString(s.Name) || t.covers(s.Addr) {
			continue
		}
		out = append(out, Func{Name: b.demangle(s.Name), Entry: s.Addr, End: s.Addr + s.Size, C: true})
	}
	if len(out) > n {
		slices.SortStableFunc(out, func(x, y Func) int { return compare(x.Entry, y.Entry) })
	}
	return out, nil
}

// sniff tells the format from the first bytes.
func sniff(head []byte) Format {
	switch {
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		return ELF
	case bytes.HasPrefix(head, []byte("MZ")):
		return PE
	}
	for _, magic := range []string{"\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", fatMagic, fatMagic64} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return MachO
		}
	}
	return ""
}
