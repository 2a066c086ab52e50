package heap

import (
	"encoding/binary"
	"math/bits"
)

// The memory is read in blocks, in the order of addresses as far as the work
// allows, so that neither the file nor the heap need be in memory at once.
const (
	blockBits = 15
	blockSize = 1 << blockBits
	maxBlocks = 1024 // 32 MB
	noBlock   = -1
)

// blockCache keeps the blocks that were read last.
type blockCache struct {
	mem     Memory
	slots   map[uint64]int32 // by address >> blockBits
	blocks  [][]byte
	holds   []uint64 // what the blocks are of
	next    int      // the block to be given up
	last    uint64   // address >> blockBits of the last one asked for
	lastBuf []byte
	// counts tells which memory is missed when it is not there; blocks reach
	// over what lies beside it.
	counts  func(addr uint64) bool
	missing int64
}

// block returns the block with an address. It holds until the next call.
func (c *blockCache) block(addr uint64) []byte {
	key := addr >> blockBits
	if c.lastBuf != nil && key == c.last {
		return c.lastBuf
	}
	if c.slots == nil {
		c.slots = make(map[uint64]int32, maxBlocks)
	}
	i, ok := c.slots[key]
	if !ok {
		i = c.load(key)
	}
	c.last, c.lastBuf = key, c.blocks[i]
	return c.lastBuf
}

// drop gives the blocks up.
func (c *blockCache) drop() {
	c.slots, c.blocks, c.holds, c.next, c.lastBuf = nil, nil, nil, 0, nil
}

func (c *blockCache) load(key uint64) int32 {
	i := len(c.blocks)
	if i < maxBlocks {
		c.blocks = append(c.blocks, make([]byte, blockSize))
		c.holds = append(c.holds, key)
	} else {
		i = c.next
		c.next = (c.next + 1) % maxBlocks
		delete(c.slots, c.holds[i])
		c.holds[i] = key
	}
	c.slots[key] = int32(i)
	buf := c.blocks[i]
	if c.mem.Read(key<<blockBits, buf) != nil {
		c.pages(key<<blockBits, buf)
	}
	return int32(i)
}

// pageSize is that of the runtime; what the system has or has not is a multiple
// of half of it.
const (
	pageBits = 13
	pageSize = 1 << pageBits
)

// pages reads what there is of a block.
func (c *blockCache) pages(addr uint64, buf []byte) {
	const size = pageSize / 2
	for ; len(buf) > 0; addr, buf = addr+size, buf[size:] {
		if c.mem.Read(addr, buf[:size]) == nil {
			continue
		}
		clear(buf[:size])
		if c.counts != nil && c.counts(addr) {
			c.missing += size
		}
	}
}

// bytes returns n bytes at an address, in scratch where they are not within one
// block. It holds until the next call.
func (c *blockCache) bytes(addr uint64, n int, scratch *[]byte) []byte {
	b := c.block(addr)
	if at := int(addr & (blockSize - 1)); at+n <= blockSize {
		return b[at : at+n]
	}
	if cap(*scratch) < n {
		*scratch = make([]byte, n)
	}
	out := (*scratch)[:n]
	for done := 0; done < n; {
		b := c.block(addr + uint64(done))
		done += copy(out[done:], b[(addr+uint64(done))&(blockSize-1):])
	}
	return out
}

// Note: all of Go's 64-bit ports but s390x and ppc64 are little-endian, and so is
// this package; layoutOf refuses the others.
func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// bitset is a set of objects.
type bitset []uint64

func newBitset(n uint32) bitset { return make(bitset, (int(n)+63)/64) }

func (s bitset) has(i uint32) bool { return s[i>>6]>>(i&63)&1 != 0 }
func (s bitset) set(i uint32)      { s[i>>6] |= 1 << (i & 63) }
func (s bitset) clear(i uint32)    { s[i>>6] &^= 1 << (i & 63) }

func (s bitset) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// each calls f for all members from low to high, high excluded.
func (s bitset) each(low, high uint32, f func(uint32)) {
	for i := low; i < high; {
		w := s[i>>6] >> (i & 63)
		if w == 0 {
			i = i&^63 + 64
			continue
		}
		i += uint32(bits.TrailingZeros64(w))
		if i < high {
			f(i)
		}
		i++
	}
}
