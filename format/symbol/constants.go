package symbol

import "strings"

// constants are the bytes that a program cannot change: what was there in the process
// is what is in the file.
type constants struct{ img *image }

// maxConstant is the most that ReadOnly returns.
const maxConstant = 64 << 10

// ReadOnly returns n bytes at an address, if they are such as the program cannot
// change: what was there in the process is what is in the file.
func (c *constants) ReadOnly(addr uint64, n int) ([]byte, bool) {
	if n < 0 || n > maxConstant || addr == 0 || addr+uint64(n) < addr {
		return nil, false
	}
	for i := range c.img.sections {
		s := &c.img.sections[i]
		if !s.alloc || s.size == 0 || addr < s.addr || addr-s.addr >= s.size {
			continue
		}
		// The loader alone writes to .data.rel.ro, and the linker has put in
		// what it will.
		if s.exec || s.compressed || s.write && !strings.HasPrefix(s.name, ".data.rel.ro") {
			return nil, false
		}
		if s.size-(addr-s.addr) < uint64(n) {
			return nil, false
		}
		data, err := c.img.bytes(s.off+(addr-s.addr), uint64(n))
		return data, err == nil
	}
	if len(c.img.sections) > 0 {
		return nil, false
	}
	for _, s := range c.img.segments {
		if s.contains(addr) && !s.Write && !s.Exec && addr-s.Addr+uint64(n) <= s.FileSize {
			data, err := c.img.bytes(s.Offset+(addr-s.Addr), uint64(n))
			return data, err == nil
		}
	}
	return nil, false
}

// Word reads a word that the program cannot change.
func (c *constants) Word(addr uint64) (uint64, bool) {
	data, ok := c.ReadOnly(addr, c.img.ptrSize)
	if !ok {
		return 0, false
	}
	return c.img.word(data), true
}

// WordSize returns the size of a pointer in bytes.
func (c *constants) WordSize() int { return c.img.ptrSize }

// BigEndian tells the order of bytes in a word.
func (c *constants) BigEndian() bool { return c.img.order.Uint16([]byte{0, 1}) == 1 }
