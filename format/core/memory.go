package core

import (
	"errors"
	"fmt"
	"io"
	"sort"
)

// ErrNotThere is wrapped by errors about memory that the core does not have.
var ErrNotThere = errors.New("it is not in the core")

// Backing is where the bytes of memory are that a core has left out: in the
// program, or in a library.
type Backing struct {
	Addr, Size uint64 // in memory
	From       io.ReaderAt
	Offset     int64 // in From
}

// Memory is the memory of a core. Any number of goroutines may read it at once,
// once all has been put behind it.
type Memory struct {
	f     *File
	backs []Backing // by address
}

// Memory returns the memory of the process.
func (f *File) Memory() *Memory { return &Memory{f: f} }

// Back says where to read what the core has left out. What is in the core itself
// always counts more.
func (m *Memory) Back(b Backing) {
	if b.Size == 0 || b.Addr+b.Size < b.Addr {
		return
	}
	m.backs = append(m.backs, b)
	sort.SliceStable(m.backs, func(i, j int) bool { return m.backs[i].Addr < m.backs[j].Addr })
}

// Read fills buf with what is at an address, which may reach over several
// segments. It fails with [ErrNotThere] when a part of it is nowhere.
func (m *Memory) Read(addr uint64, buf []byte) error {
	for len(buf) > 0 {
		n, err := m.some(addr, buf)
		if err != nil {
			return err
		}
		addr, buf = addr+uint64(n), buf[n:]
	}
	return nil
}

// Gather fills buf with size bytes of each address, one behind the other.
func (m *Memory) Gather(addrs []uint64, size int, buf []byte) error {
	for i, a := range addrs {
		if err := m.Read(a, buf[i*size:(i+1)*size]); err != nil {
			return err
		}
	}
	return nil
}

// some reads as much as lies in one place.
func (m *Memory) some(addr uint64, buf []byte) (int, error) {
	list := m.f.Segments
	i := sort.Search(len(list), func(i int) bool { return list[i].Addr > addr }) - 1
	end := ^uint64(0) // up to which nothing else is in the core
	if i >= 0 && addr-list[i].Addr < list[i].Size {
		s := &list[i]
		if off := addr - s.Addr; off < s.FileSize {
			n := int(min(uint64(len(buf)), s.FileSize-off))
			if got, err := m.f.r.ReadAt(buf[:n], int64(s.Offset+off)); got < n {
				return 0, fmt.Errorf("cannot read the core at %#x: %w", s.Offset+off+uint64(got), err)
			}
			return n, nil
		}
	}
	if i+1 < len(list) {
		end = list[i+1].Addr
	}
	return m.behind(addr, buf[:min(uint64(len(buf)), end-addr)])
}

// behind reads what the core has left out.
func (m *Memory) behind(addr uint64, buf []byte) (int, error) {
	i := sort.Search(len(m.backs), func(i int) bool { return m.backs[i].Addr > addr }) - 1
	if i < 0 || addr-m.backs[i].Addr >= m.backs[i].Size {
		return 0, fmt.Errorf("cannot read address %#x: %w", addr, ErrNotThere)
	}
	b := &m.backs[i]
	off := addr - b.Addr
	n := int(min(uint64(len(buf)), b.Size-off))
	if got, err := b.From.ReadAt(buf[:n], b.Offset+int64(off)); got < n {
		return 0, fmt.Errorf("cannot read address %#x, which is not in the core, from the program: %w", addr, err)
	}
	return n, nil
}

// At is the memory from an address on as a file, for what reads files.
func (m *Memory) At(addr uint64) io.ReaderAt { return &window{m, addr} }

type window struct {
	m    *Memory
	addr uint64
}

// ReadAt reads what is so far behind the begin.
func (w *window) ReadAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) {
		n, err := w.m.some(w.addr+uint64(off)+uint64(done), p[done:])
		if err != nil {
			return done, errors.Join(io.EOF, err)
		}
		done += n
	}
	return done, nil
}
