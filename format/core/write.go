package core

import (
	"encoding/binary"
	"fmt"
)

// Header is what stands before the memory in a core: [Header.Encode] lays it
// out as the kernel does, so that gdb and delve read it as well.
type Header struct {
	Arch          string
	PID           int64
	Command, Args string
	Clock         int64 // see [File.Clock]
	// Threads are told in their order; of them ID, Signal and Raw are used.
	Threads []RawThread
	// Aux is /proc/PID/auxv as it is.
	Aux      []byte
	Mappings []Mapping
	// Segments are the memory, by address. FileSize says how much of each follows;
	// Encode sets Offset.
	Segments []Segment
}

// RawThread is a thread with its registers as the kernel gives them (NT_PRSTATUS
// of PTRACE_GETREGSET).
type RawThread struct {
	ID        int64
	Registers []byte
}

// page is what the begin of each segment is aligned to in the file.
const page = 4096

// Encode returns the begin of the file, and says by Offset where in it each segment
// is to be written. Between the segments nothing needs to be: holes read as zeroes.
func (h *Header) Encode() ([]byte, error) {
	machine, ok := map[string]uint16{"amd64": machineAMD64, "arm64": machineARM64}[h.Arch]
	if !ok {
		return nil, fmt.Errorf("cannot write a core of architecture %q", h.Arch)
	}
	if len(h.Segments) >= maxSegments {
		return nil, fmt.Errorf("cannot write a core with %d segments", len(h.Segments))
	}
	notes := h.notes()
	programs := len(h.Segments) + 1
	at := headerSize + progSize*programs
	sections := 0
	if programs >= manyPrograms {
		sections, at = at, at+64
	}
	notesAt := at
	at += len(notes)
	out := make([]byte, 0, at+page)
	le := binary.LittleEndian
	out = append(out, "\x7fELF\x02\x01\x01"...)
	out = append(out, make([]byte, 9)...)
	out = le.AppendUint16(le.AppendUint16(out, typeCore), machine)
	out = le.AppendUint32(out, 1)                                     // version
	out = le.AppendUint64(le.AppendUint64(out, 0), headerSize)        // entry, table of segments
	out = le.AppendUint32(le.AppendUint64(out, uint64(sections)), 0)  // table of sections, flags
	out = le.AppendUint16(le.AppendUint16(out, headerSize), progSize) // sizes
	out = le.AppendUint16(out, uint16(min(programs, manyPrograms)))   // segments
	size, count := uint16(0), uint16(0)                               // of sections
	if sections > 0 {
		size, count = 64, 1
	}
	out = le.AppendUint16(le.AppendUint16(le.AppendUint16(out, size), count), 0)
	out = appendProgram(out, progNote, 0, &Segment{Offset: uint64(notesAt), FileSize: uint64(len(notes))}, 4)
	next := (uint64(at) + page - 1) &^ (page - 1)
	for i := range h.Segments {
		s := &h.Segments[i]
		s.Offset = next
		next += (s.FileSize + page - 1) &^ (page - 1)
		flags := uint32(0)
		for bit, on := range []bool{s.Exec, s.Write, s.Read} {
			if on {
				flags |= 1 << bit
			}
		}
		out = appendProgram(out, progLoad, flags, s, page)
	}
	if sections > 0 {
		section := make([]byte, 64)
		le.PutUint32(section[44:], uint32(programs))
		out = append(out, section...)
	}
	return append(out, notes...), nil
}

func appendProgram(out []byte, kind, flags uint32, s *Segment, align uint64) []byte {
	le := binary.LittleEndian
	out = le.AppendUint32(le.AppendUint32(out, kind), flags)
	for _, v := range []uint64{s.Offset, s.Addr, 0, s.FileSize, s.Size, align} {
		out = le.AppendUint64(out, v)
	}
	return out
}

// notes are in the kernel's order: the first thread, the process, the other
// threads.
func (h *Header) notes() []byte {
	le := binary.LittleEndian
	out := appendNote(nil, loupeNotes, noteLoupe, le.AppendUint64(nil, uint64(h.Clock)))
	for i, t := range h.Threads {
		status := make([]byte, statusHead, statusHead+len(t.Registers)+8)
		le.PutUint32(status[32:], uint32(t.ID))
		status = append(append(status, t.Registers...), make([]byte, 8)...)
		out = appendNote(out, "CORE", noteStatus, status)
		if i > 0 {
			continue
		}
		process := make([]byte, 136)
		process[1] = 'S'
		le.PutUint32(process[24:], uint32(h.PID))
		copy(process[40:55], h.Command)
		copy(process[56:135], h.Args)
		out = appendNote(out, "CORE", noteProcess, process)
		out = appendNote(out, "CORE", noteSignal, make([]byte, 128))
		out = appendNote(out, "CORE", noteAux, h.Aux)
		out = appendNote(out, "CORE", noteFiles, h.files())
	}
	return out
}

func (h *Header) files() []byte {
	le := binary.LittleEndian
	out := le.AppendUint64(le.AppendUint64(nil, uint64(len(h.Mappings))), page)
	for _, m := range h.Mappings {
		out = le.AppendUint64(le.AppendUint64(le.AppendUint64(out, m.Addr), m.End), m.Offset/page)
	}
	for _, m := range h.Mappings {
		out = append(append(out, m.Path...), 0)
	}
	return out
}

func appendNote(out []byte, owner string, kind uint32, desc []byte) []byte {
	le := binary.LittleEndian
	out = le.AppendUint32(out, uint32(len(owner)+1))
	out = le.AppendUint32(le.AppendUint32(out, uint32(len(desc))), kind)
	out = append(append(out, owner...), 0)
	for len(out)%4 != 0 {
		out = append(out, 0)
	}
	out = append(out, desc...)
	for len(out)%4 != 0 {
		out = append(out, 0)
	}
	return out
}
