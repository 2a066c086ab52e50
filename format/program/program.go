// Package program reads what the Go runtime keeps in the memory of a program,
// whether that runs or lies in a core file: its goroutines with their stacks and
// what they wait for, and its heap profile.
//
// It reads through a [Memory], and finds its way by the binary: by its symbol
// table, or where that was stripped by the code that uses the variables; and by its
// DWARF or, without that, by a table of how each version of Go lays out its
// structures. Nothing is believed that cannot be: a number that is
// read bounds no allocation before it is checked, and a stack is followed only
// within its bounds.
//
// The package opens nothing. Package live has the memory of running processes,
// package core that of core files.
package program

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"loupe/format/symbol"
)

// Memory is the memory of a program.
type Memory interface {
	// Read fills buf with what is at an address. It fails when a part of it
	// is not there.
	Read(addr uint64, buf []byte) error
	// Gather fills buf with size bytes of each address, one behind the other.
	Gather(addrs []uint64, size int, buf []byte) error
}

// ErrNotGo is wrapped by errors about a program that is not one of Go, or of which
// the binary says too little.
var ErrNotGo = errors.New("it is not a Go program that can be read")

// Program is a Go program in memory. It is used by one goroutine at a time.
type Program struct {
	Memory Memory
	Binary *symbol.Binary
	// Bias is what the loader has added to the addresses of the binary.
	Bias uint64

	l *layout
	v variables
}

// Open finds out how the runtime of a program lies in its memory.
func Open(mem Memory, bin *symbol.Binary, bias uint64) (*Program, error) {
	v, err := variablesOf(bin)
	if err != nil {
		return nil, err
	}
	l, err := layoutOf(bin, v)
	if err != nil {
		return nil, err
	}
	return &Program{Memory: mem, Binary: bin, Bias: bias, l: l, v: v}, nil
}

// Check tells whether the goroutines can be read, without reading them.
func (p *Program) Check() error {
	n, err := p.Word(p.v[allglen].Addr + p.Bias)
	if err == nil && n > maxGoroutines {
		err = fmt.Errorf("%w: it would have %d goroutines", ErrNotGo, n)
	}
	return err
}

// Word reads a word at an address of the memory.
func (p *Program) Word(addr uint64) (uint64, error) {
	var b [8]byte
	err := p.Memory.Read(addr, b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}

// SameBuild tells whether the program in memory is that of the binary, by the
// tables that the runtime finds its functions with: where they lie and how long
// they are differs from build to build. known is false where the binary does not
// say where they are (stripped), or memory does not have them.
func (p *Program) SameBuild(file io.ReaderAt) (same, known bool) {
	const words = 24 // pclntab, text, data, bss
	list, err := p.Binary.Symbols(nil)
	if err != nil {
		return false, false
	}
	i := slices.IndexFunc(list, func(s symbol.Symbol) bool { return s.Name == "runtime.firstmoduledata" })
	if i < 0 || list[i].Size < 8*words {
		return false, false
	}
	var linked, loaded [8 * words]byte
	for _, seg := range p.Binary.Segments {
		if off := list[i].Addr - seg.Addr; list[i].Addr >= seg.Addr && off+8*words <= seg.FileSize {
			if _, err := file.ReadAt(linked[:], int64(seg.Offset+off)); err != nil {
				return false, false
			}
			known = true
		}
	}
	if !known || p.Memory.Read(list[i].Addr+p.Bias, loaded[:]) != nil {
		return false, false
	}
	for i := range words {
		want, got := binary.LittleEndian.Uint64(linked[8*i:]), binary.LittleEndian.Uint64(loaded[8*i:])
		if got != want && got != want+p.Bias && (want != 0 || !p.Binary.PIE) {
			return false, true
		}
	}
	return true, true
}
