// Package core reads the core files of Linux: what was in the memory and in the
// registers of a process at one moment, written by the kernel when it died, by
// gdb's gcore, by delve's dump command or by package live. It writes them too
// ([Header]).
//
// A core need not be whole. What was left out on purpose, because it is in the
// binary, is read from there ([Memory.Back]); what is missing because the disk
// was full or a limit was reached is told ([File.Cut]), and the rest is read.
//
// Only cores of 64-bit little-endian processes are read: amd64 and arm64 with
// their registers, others without. The package knows nothing of Go: package
// program does. docs/formats/core.md describes the format.
package core

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
)

// ErrNotCore is wrapped by errors about files that are no core.
var ErrNotCore = errors.New("it is not a core file")

// Writer says which program has written a core.
type Writer string

// The writers that are told apart.
const (
	Kernel  Writer = "the kernel"
	Gcore   Writer = "gcore"
	Delve   Writer = "delve"
	Loupe   Writer = "loupe"
	Unknown Writer = ""
)

// Segment is a piece of memory.
type Segment struct {
	Addr, Size        uint64 // in bytes
	Offset, FileSize  uint64 // of the part that is in the file
	Read, Write, Exec bool
}

// Mapping is a piece of memory that a file is mapped to.
type Mapping struct {
	Addr, End uint64
	Offset    uint64 // in the file, in bytes
	Path      string
}

// Register is one register of a thread.
type Register struct {
	Name  string
	Value uint64
}

// Thread is one thread of the process.
type Thread struct {
	ID        int64 // as the kernel numbers it
	Signal    int   // that it was about to take; 0 is none
	PC, SP    uint64
	BP        uint64 // frame pointer
	LR        uint64 // link register, on arm64
	Registers []Register
}

// Signal is what has ended the process.
type Signal struct {
	Number, Code int
	// Addr is the address that was not there, for a fault of memory.
	Addr uint64
	// Sender is the process that has sent it; 0 is the kernel.
	Sender int
}

// File is an opened core.
type File struct {
	// Arch is the architecture as GOARCH, "" for one without registers here.
	Arch string
	// OS is that of the process: "linux" but for cores that delve has written
	// elsewhere.
	OS     string
	Writer Writer
	// Segments are by address and do not overlap.
	Segments []Segment
	// Threads has the one that took the signal first, where there was one.
	Threads  []Thread
	Mappings []Mapping
	// Aux is what the kernel told the process when it began (AT_PHDR, AT_ENTRY).
	Aux    map[uint64]uint64
	Signal Signal // Number is 0 where the process was not ended by one
	PID    int64
	// Command is the name of the program, Args the begin of its command line.
	Command, Args string
	// Clock is the time when it was written, on the clock that Go reads
	// (CLOCK_MONOTONIC, in nanoseconds); 0 where the writer has not noted it.
	Clock int64
	// Entry is where the program began to run, 0 where nothing says so.
	Entry uint64

	// Size is how large the file is, and Cut how many bytes it lacks.
	Size, Cut int64
	// Odd is what could not be read, in words.
	Odd []string

	r io.ReaderAt
}

// The numbers of ELF (elf.h).
const (
	headerSize   = 64
	progSize     = 56
	typeCore     = 4
	progLoad     = 1
	progNote     = 4
	manyPrograms = 0xffff // PN_XNUM: the number is in the first section
	machineAMD64 = 62
	machineARM64 = 183
)

// Bounds that no real core comes near.
const (
	maxSegments = 1 << 22
	maxThreads  = 1 << 20
	maxNote     = 64 << 20
	maxOdd      = 20
)

// LooksLike tells whether the begin of a file, of at least 18 bytes, is that of
// a core.
func LooksLike(head []byte) bool {
	return len(head) >= 18 && string(head[:4]) == "\x7fELF" && (head[5] == 1 && head[16] == typeCore && head[17] == 0 || head[5] == 2 && head[17] == typeCore && head[16] == 0)
}

// Open reads the tables of a core of so many bytes. The reader must stay usable
// as long as the File is. What is cut off or odd is no error where anything
// is left to be read.
func Open(r io.ReaderAt, size int64) (*File, error) {
	head := make([]byte, headerSize)
	if n, err := r.ReadAt(head, 0); n < headerSize {
		if !LooksLike(head[:n]) {
			return nil, ErrNotCore
		}
		return nil, fmt.Errorf("the core ends in its header, after %d bytes: %w", n, err)
	}
	if !LooksLike(head) {
		return nil, ErrNotCore
	}
	if head[4] != 2 || head[5] != 1 {
		return nil, errors.New("it is a core of a 32-bit or big-endian process: only 64-bit little-endian ones are read")
	}
	f := &File{r: r, Size: size, OS: "linux", Aux: map[uint64]uint64{}}
	switch binary.LittleEndian.Uint16(head[18:]) {
	case machineAMD64:
		f.Arch = "amd64"
	case machineARM64:
		f.Arch = "arm64"
	}
	if err := readPrograms(f, head); err != nil {
		return nil, err
	}
	return f, nil
}

// readPrograms reads the table of segments and what it leads to.
func readPrograms(f *File, head []byte) error {
	at := binary.LittleEndian.Uint64(head[32:])
	count := uint64(binary.LittleEndian.Uint16(head[56:]))
	if size := binary.LittleEndian.Uint16(head[54:]); size != progSize && count > 0 {
		return fmt.Errorf("the core is damaged: an entry of its table of segments has %d bytes, want %d", size, progSize)
	}
	if count == manyPrograms {
		var section [64]byte
		if n, _ := f.r.ReadAt(section[:], int64(binary.LittleEndian.Uint64(head[40:])&(1<<62-1))); n < len(section) {
			return errors.New("the core is cut: it has more than 65534 segments, and how many stood at its end")
		}
		count = uint64(binary.LittleEndian.Uint32(section[44:]))
	}
	if count > maxSegments {
		return fmt.Errorf("the core is damaged: it would have %d segments", count)
	}
	if at >= uint64(f.Size) || count == 0 {
		return errors.New("the core has no table of segments: it was cut before anything was written")
	}
	if have := (uint64(f.Size) - at) / progSize; count > have {
		odd(f, "%d of %d entries of the table of segments are cut off", count-have, count)
		f.Cut += int64(count-have) * progSize
		count = have
	}
	notes := []Segment{}
	table := io.NewSectionReader(f.r, int64(at), int64(count*progSize))
	buf := make([]byte, progSize)
	for range count {
		if _, err := io.ReadFull(table, buf); err != nil {
			return fmt.Errorf("cannot read the table of segments: %w", err)
		}
		u64 := func(off int) uint64 { return binary.LittleEndian.Uint64(buf[off:]) }
		flags := binary.LittleEndian.Uint32(buf[4:])
		s := Segment{Offset: u64(8), Addr: u64(16), FileSize: u64(32), Size: u64(40), Exec: flags&1 != 0, Write: flags&2 != 0, Read: flags&4 != 0}
		switch binary.LittleEndian.Uint32(buf) {
		case progNote:
			notes = append(notes, s)
		case progLoad:
			addSegment(f, s)
		}
	}
	sortSegments(f)
	for _, n := range notes {
		readNotes(f, n)
	}
	judge(f)
	return nil
}

// addSegment takes in what of a segment is in the file.
func addSegment(f *File, s Segment) {
	if s.Size < s.FileSize {
		s.Size = s.FileSize
	}
	if s.Size == 0 || s.Addr+s.Size < s.Addr {
		return
	}
	if size := uint64(f.Size); s.FileSize > 0 && (s.Offset > size || s.FileSize > size-s.Offset) {
		have := size - min(s.Offset, size)
		f.Cut += int64(min(s.FileSize-have, 1<<60))
		s.FileSize = have
	}
	f.Segments = append(f.Segments, s)
}

// sortSegments orders segments by address. Of two that overlap, as no writer
// makes them, the first one counts.
func sortSegments(f *File) {
	list := f.Segments
	sort.SliceStable(list, func(i, j int) bool { return list[i].Addr < list[j].Addr })
	out := list[:0]
	end := uint64(0)
	for _, s := range list {
		if len(out) > 0 && s.Addr < end {
			odd(f, "two segments overlap at %#x", s.Addr)
			continue
		}
		out, end = append(out, s), s.Addr+s.Size
	}
	f.Segments = out
}

func odd(f *File, format string, args ...any) {
	if len(f.Odd) < maxOdd {
		f.Odd = append(f.Odd, fmt.Sprintf(format, args...))
	}
}

// judge concludes what no note says.
func judge(f *File) {
	if e, ok := f.Aux[AuxEntry]; ok {
		f.Entry = e
	}
	if len(f.Threads) == 0 {
		odd(f, "there are no registers of threads")
	}
	if f.Arch == "" {
		odd(f, "registers of this architecture are not read")
	}
}

// InFile returns how many bytes of memory the file has, and how many the process
// could reach.
func (f *File) InFile() (have, all uint64) {
	for _, s := range f.Segments {
		have += s.FileSize
		if s.Read || s.Write || s.Exec || s.FileSize > 0 {
			all += s.Size
		}
	}
	return have, all
}

// Executable returns where the program was when the process ran, "" where the
// core does not say so.
func (f *File) Executable() string {
	for _, key := range []uint64{AuxHeaders, AuxEntry} {
		if m := f.MappingAt(f.Aux[key]); m != nil {
			return m.Path
		}
	}
	return ""
}

// MappingAt returns the mapping that an address is in, or nil.
func (f *File) MappingAt(addr uint64) *Mapping {
	for i := range f.Mappings {
		if m := &f.Mappings[i]; m.Addr <= addr && addr < m.End {
			return m
		}
	}
	return nil
}
