package core

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

// small makes a core of two pieces of memory, one of which is half in the file.
func small(t *testing.T) []byte {
	t.Helper()
	regs := make([]byte, 27*8)
	for i := range 27 {
		binary.LittleEndian.PutUint64(regs[8*i:], uint64(100+i))
	}
	h := Header{
		Arch: "amd64", PID: 7, Command: "server", Args: "server -v", Threads: []RawThread{{ID: 7, Registers: regs}, {ID: 8, Registers: regs}},
		Aux:      binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, AuxEntry), 0x401000),
		Mappings: []Mapping{{Addr: 0x400000, End: 0x402000, Path: "/bin/server"}, {Addr: 0x500000, End: 0x501000, Offset: 0x3000, Path: "/lib/x y"}},
		Segments: []Segment{{Addr: 0x400000, Size: 0x2000, FileSize: 0x1000, Read: true, Exec: true}, {Addr: 0x402000, Size: 0x1000, FileSize: 0x1000, Read: true, Write: true}},
	}
	out, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range h.Segments {
		out = append(out, make([]byte, int(s.Offset)-len(out))...)
		out = append(out, bytes.Repeat([]byte{byte('a' + i)}, int(s.FileSize))...)
	}
	return out
}

func TestRoundTrip(t *testing.T) {
	data := small(t)
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if f.Arch != "amd64" || f.Writer != Loupe || f.PID != 7 || f.Command != "server" || f.Args != "server -v" || f.Entry != 0x401000 || f.Cut != 0 || len(f.Odd) > 0 {
		t.Errorf("read %+v", f)
	}
	if len(f.Threads) != 2 || f.Threads[1].ID != 8 || f.Threads[0].PC != 116 || f.Threads[0].SP != 119 || f.Threads[0].BP != 104 {
		t.Errorf("threads %+v", f.Threads)
	}
	if f.Executable() != "/bin/server" || len(f.Mappings) != 2 || f.Mappings[1].Offset != 0x3000 || f.Mappings[1].Path != "/lib/x y" {
		t.Errorf("mappings %+v", f.Mappings)
	}
	m := f.Memory()
	buf := make([]byte, 4)
	if err := m.Read(0x400ffe, buf); !errors.Is(err, ErrNotThere) {
		t.Errorf("what was left out is read as %q, %v", buf, err)
	}
	m.Back(Backing{Addr: 0x400000, Size: 0x2000, From: strings.NewReader(strings.Repeat("p", 0x2000))})
	for addr, want := range map[uint64]string{0x400ffe: "aapp", 0x401ffe: "ppbb", 0x402ffc: "bbbb"} {
		if err := m.Read(addr, buf); err != nil || string(buf) != want {
			t.Errorf("at %#x is %q, %v, want %q", addr, buf, err, want)
		}
	}
	if err := m.Read(0x402ffe, buf); !errors.Is(err, ErrNotThere) {
		t.Errorf("behind the end is %q, %v", buf, err)
	}
}

// TestCut reads a core of every length: what is there is read, what is not is told.
func TestCut(t *testing.T) {
	data := small(t)
	for n := range len(data) {
		f, err := Open(bytes.NewReader(data[:n]), int64(n))
		if err != nil {
			if n > headerSize+3*progSize {
				t.Fatalf("%d of %d bytes: %v", n, len(data), err)
			}
			continue
		}
		if f.Cut == 0 {
			t.Fatalf("%d of %d bytes are no cut", n, len(data))
		}
		if have, _ := f.InFile(); n == len(data)-1 && (f.Cut != 1 || have != 0x1fff) {
			t.Errorf("a byte less is %d bytes cut, %d there", f.Cut, have)
		}
	}
}

// TestMany writes and reads more segments than the header has a number for.
func TestMany(t *testing.T) {
	h := Header{Arch: "arm64", Threads: []RawThread{{ID: 1, Registers: make([]byte, 34*8)}}}
	for i := range uint64(70000) {
		h.Segments = append(h.Segments, Segment{Addr: (i + 1) << 20, Size: page})
	}
	data, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(f.Segments) != 70000 || len(f.Threads) != 1 || len(f.Odd) > 0 {
		t.Errorf("%d segments, %d threads, %v", len(f.Segments), len(f.Threads), err)
	}
}

func TestNoCore(t *testing.T) {
	for _, text := range []string{"", "x", "\x7fELF", "goroutine 1 [running]:", "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 60)} {
		if _, err := Open(strings.NewReader(text), int64(len(text))); !errors.Is(err, ErrNotCore) {
			t.Errorf("%q is opened: %v", text, err)
		}
	}
}

// FuzzOpen: no file panics, or makes the reader hold more than it has.
func FuzzOpen(f *testing.F) {
	data := small(&testing.T{})
	f.Add(data[:0x1000])
	f.Add(data)
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		if have, _ := c.InFile(); have > uint64(len(data))*uint64(len(c.Segments)+1) {
			t.Errorf("%d bytes are in a file of %d", have, len(data))
		}
		names := 0
		for _, m := range c.Mappings {
			names += len(m.Path)
		}
		if names > len(data) || len(c.Threads) > len(data)/statusHead+1 || len(c.Segments) > len(data)/progSize {
			t.Errorf("%d bytes became %d threads, %d segments, %d bytes of names", len(data), len(c.Threads), len(c.Segments), names)
		}
		c.BuildIDs()
		c.Executable()
		m := c.Memory()
		buf := make([]byte, 64)
		for _, s := range c.Segments[:min(len(c.Segments), 8)] {
			m.Read(s.Addr, buf)
			m.Read(s.Addr+s.FileSize-1, buf)
		}
	})
}
