package core

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"strconv"
	"strings"
)

// The notes of a core (elf.h), of which each has an owner and a number.
const (
	noteStatus  = 1 // registers of a thread, elf_prstatus
	noteProcess = 3 // elf_prpsinfo
	noteAux     = 6
	noteSignal  = 0x53494749 // siginfo_t
	noteFiles   = 0x46494c45
	// delve's own (pkg/elfwriter), with these owners: "Delve Header", "".
	noteDelveHead   = 0x444c5645
	noteDelveThread = 0x444c5654
	// ours, of the owner loupeNotes: the clock. The number is one that nobody
	// has, as delve takes notes by their number alone.
	noteLoupe  = 0x4c4f5550
	loupeNotes = "loupe"
)

// The keys of [File.Aux] that say where a program lies (auxvec.h).
const (
	AuxHeaders = 3 // where its table of segments is
	AuxEntry   = 9 // where it began
)

// readNotes reads the notes of a segment: a header of three numbers, the owner, and
// what it says, both filled up to four bytes. Only what is understood is held in
// memory; the vector registers of a thousand threads are several megabytes.
func readNotes(f *File, s Segment) {
	have := s.FileSize
	if size := uint64(f.Size); s.Offset > size || have > size-s.Offset {
		have = size - min(s.Offset, size)
		f.Cut += int64(min(s.FileSize-have, 1<<60))
		odd(f, "%d bytes of the notes are cut off", s.FileSize-have)
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f.r, int64(s.Offset), int64(have)), 32<<10)
	var head [12]byte
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return
		}
		nameSize, size := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
		kind := binary.LittleEndian.Uint32(head[8:])
		if nameSize > 256 {
			odd(f, "a note has an owner of %d bytes", nameSize)
			return
		}
		name := make([]byte, (nameSize+3)&^3)
		if _, err := io.ReadFull(r, name); err != nil {
			return
		}
		owner := strings.TrimRight(string(name[:nameSize]), "\x00")
		take := noteReader(owner, kind)
		if take == nil || size > maxNote || uint64(size) > have {
			if n, err := r.Discard(int(size)); n < int(size) || err != nil {
				return
			}
		} else {
			desc := make([]byte, size)
			if _, err := io.ReadFull(r, desc); err != nil {
				return
			}
			take(f, desc)
		}
		if _, err := r.Discard(int(-size & 3)); err != nil {
			return
		}
	}
}

// noteReader returns what reads a note, nil for those that nobody needs.
func noteReader(owner string, kind uint32) func(*File, []byte) {
	if owner == "" {
		owner = "CORE" // delve leaves it out
	}
	switch {
	case owner == "CORE" && kind == noteStatus:
		return readStatus
	case owner == "CORE" && kind == noteProcess:
		return readProcess
	case owner == "CORE" && kind == noteSignal:
		return readSignal
	case owner == "CORE" && kind == noteAux:
		return readAux
	case owner == "CORE" && kind == noteFiles:
		return readFiles
	case kind == noteDelveHead:
		return readDelveHead
	case kind == noteDelveThread:
		return readDelveThread
	case owner == loupeNotes && kind == noteLoupe:
		return func(f *File, b []byte) {
			f.Writer = Loupe
			if len(b) >= 8 {
				f.Clock = int64(binary.LittleEndian.Uint64(b))
			}
		}
	}
	return nil
}

// The registers of a thread in elf_prstatus, as struct user_regs_struct orders
// them; "" is one that is not told.
var (
	registersAMD64 = []string{"r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi", "rdi", "", "rip", "cs", "rflags", "rsp", "ss", "fs_base", "gs_base", "", "", "fs", "gs"}
	registersARM64 = []string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29", "lr", "sp", "pc", "pstate"}
)

// statusHead is what stands before the registers in elf_prstatus.
const statusHead = 112

func registerNames(arch string) []string {
	switch arch {
	case "amd64":
		return registersAMD64
	case "arm64":
		return registersARM64
	}
	return nil
}

// readStatus reads a thread: its signal at 12, its number at 32, the registers.
func readStatus(f *File, b []byte) {
	names := registerNames(f.Arch)
	if len(b) < statusHead+8*len(names) {
		odd(f, "the registers of a thread have %d bytes, want %d", len(b), statusHead+8*len(names))
		return
	}
	if f.Writer == Unknown {
		// The kernel tells of the thread before it tells of the process,
		// gdb the other way round.
		f.Writer = Kernel
		if f.Command != "" {
			f.Writer = Gcore
		}
	}
	t := Thread{ID: int64(int32(binary.LittleEndian.Uint32(b[32:]))), Signal: int(int16(binary.LittleEndian.Uint16(b[12:])))}
	for i, name := range names {
		if name != "" {
			t.Registers = append(t.Registers, Register{name, binary.LittleEndian.Uint64(b[statusHead+8*i:])})
		}
	}
	t.name()
	addThread(f, t)
}

func addThread(f *File, t Thread) {
	if len(f.Threads) >= maxThreads {
		odd(f, "there are more than %d threads", maxThreads)
		return
	}
	f.Threads = append(f.Threads, t)
}

// name finds the registers that everybody asks for.
func (t *Thread) name() {
	for _, r := range t.Registers {
		switch r.Name {
		case "rip", "pc":
			t.PC = r.Value
		case "rsp", "sp":
			t.SP = r.Value
		case "rbp", "r29":
			t.BP = r.Value
		case "lr":
			t.LR = r.Value
		}
	}
}

// readProcess reads elf_prpsinfo.
func readProcess(f *File, b []byte) {
	if len(b) < 136 {
		return
	}
	f.PID = int64(int32(binary.LittleEndian.Uint32(b[24:])))
	f.Command, f.Args = text(b[40:56]), strings.TrimRight(text(b[56:136]), " ")
}

func text(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}

// Numbers of signals that come with an address (asm-generic/siginfo.h).
const (
	sigILL, sigTRAP, sigBUS, sigFPE, sigSEGV = 4, 5, 7, 8, 11
	sentByUser                               = 0 // codes up to it are those of processes
)

// readSignal reads siginfo_t. What was not ended has 0 there.
func readSignal(f *File, b []byte) {
	if len(b) < 24 {
		return
	}
	f.Signal = Signal{Number: int(int32(binary.LittleEndian.Uint32(b))), Code: int(int32(binary.LittleEndian.Uint32(b[8:])))}
	switch n := f.Signal.Number; {
	case f.Signal.Code <= sentByUser:
		f.Signal.Sender = int(int32(binary.LittleEndian.Uint32(b[16:])))
	case n == sigILL || n == sigTRAP || n == sigBUS || n == sigFPE || n == sigSEGV:
		f.Signal.Addr = binary.LittleEndian.Uint64(b[16:])
	}
}

// readAux reads pairs of a key and a value, up to key 0.
func readAux(f *File, b []byte) {
	for ; len(b) >= 16 && len(f.Aux) < 256; b = b[16:] {
		key := binary.LittleEndian.Uint64(b)
		if key == 0 {
			return
		}
		f.Aux[key] = binary.LittleEndian.Uint64(b[8:])
	}
}

// readFiles reads which files are mapped: how many, the size of a page, three
// numbers of each, and the names.
func readFiles(f *File, b []byte) {
	if len(b) < 16 {
		return
	}
	n, page := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	b = b[16:]
	if n > uint64(len(b))/24 || page > 1<<30 {
		odd(f, "the list of mapped files says that it has %d entries, and has %d bytes", n, len(b))
		return
	}
	names := b[24*n:]
	for i := range n {
		e := b[24*i:]
		m := Mapping{Addr: binary.LittleEndian.Uint64(e), End: binary.LittleEndian.Uint64(e[8:]), Offset: binary.LittleEndian.Uint64(e[16:]) * page}
		end := bytes.IndexByte(names[:min(len(names), maxPath)], 0)
		if end < 0 {
			odd(f, "the list of mapped files has no name for %#x", m.Addr)
			return
		}
		m.Path, names = string(names[:end]), names[end+1:]
		f.Mappings = append(f.Mappings, m)
	}
}

// maxPath is more than a path has (PATH_MAX).
const maxPath = 16 << 10

// readDelveHead reads lines of text: the system and the architecture, delve's
// version, and named values.
func readDelveHead(f *File, b []byte) {
	f.Writer = Delve
	for i, line := range strings.Split(string(b[:min(len(b), 4096)]), "\n") {
		if i == 0 {
			if system, _, ok := strings.Cut(line, "/"); ok {
				f.OS = system
			}
		}
		if v, ok := strings.CutPrefix(line, "Target Pid: "); ok {
			f.PID, _ = strconv.ParseInt(v, 10, 64)
		}
		if v, ok := strings.CutPrefix(line, "Entry Point: "); ok {
			f.Entry, _ = strconv.ParseUint(v, 0, 64)
		}
	}
}

// readDelveThread reads a thread as delve writes it where it does not write the
// kernel's notes: its number, the program counter, the stack pointer, the frame
// pointer, what is its own, and a list of named registers.
func readDelveThread(f *File, b []byte) {
	if len(b) < 53 {
		odd(f, "a thread in delve's form has %d bytes", len(b))
		return
	}
	u64 := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	t := Thread{ID: int64(u64(0))}
	pc, sp, bp := u64(1), u64(2), u64(3)
	rest := b[53:]
	field := func() ([]byte, bool) {
		if len(rest) < 2 {
			return nil, false
		}
		n := int(binary.LittleEndian.Uint16(rest))
		if rest = rest[2:]; n > len(rest) {
			return nil, false
		}
		out := rest[:n]
		rest = rest[n:]
		return out, true
	}
	for {
		name, ok := field()
		if !ok {
			break
		}
		value, ok := field()
		if !ok {
			break
		}
		if len(value) == 8 && len(name) < 16 {
			t.Registers = append(t.Registers, Register{strings.ToLower(string(name)), binary.LittleEndian.Uint64(value)})
		}
	}
	t.name()
	for i := range t.Registers {
		if n := t.Registers[i].Name; f.Arch == "arm64" && (n == "x30" || n == "r30") {
			t.LR = t.Registers[i].Value
		}
	}
	t.PC, t.SP, t.BP = pc, sp, bp
	addThread(f, t)
}
