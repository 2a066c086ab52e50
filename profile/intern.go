package profile

import (
	stdbytes "bytes"
	"hash/maphash"
	"slices"
)

// pieces gives equal runs of bytes equal numbers. The content stays where it
// is, in a text; only spans are kept. Number 0 is the empty run.
type pieces struct {
	text   *text
	seed   maphash.Seed
	slots  []uint32 // number of the run, 0 is free
	hashes []uint32 // by number
	spans  []span   // by number
}

func newPieces(t *text) pieces {
	return pieces{text: t, seed: maphash.MakeSeed(), slots: make([]uint32, 64), hashes: make([]uint32, 1), spans: make([]span, 1)}
}

// expect makes room for n runs, so that growing leaves no garbage. Room that
// is not used is not touched and costs no memory.
func (p *pieces) expect(n int) {
	p.hashes, p.spans = make([]uint32, 1, n+1), make([]span, 1, n+1)
}

// intern returns the number of the run at s.
func (p *pieces) intern(s span) uint32 {
	b := p.text.bytes(s)
	if len(b) == 0 {
		return 0
	}
	h := uint32(maphash.Bytes(p.seed, b))
	mask := uint32(len(p.slots) - 1)
	i := h & mask
	for ; p.slots[i] != 0; i = (i + 1) & mask {
		n := p.slots[i]
		if p.hashes[n] == h && stdbytes.Equal(p.text.bytes(p.spans[n]), b) {
			return n
		}
	}
	n := uint32(len(p.spans))
	p.slots[i] = n
	p.hashes = append(p.hashes, h)
	p.spans = append(p.spans, s)
	if len(p.spans)*4 > len(p.slots)*3 {
		p.rehash(2 * len(p.slots))
	}
	return n
}

func (p *pieces) rehash(size int) {
	p.slots = slices.Grow(p.slots[:0], size)[:size]
	clear(p.slots)
	mask := uint32(size - 1)
	for n := 1; n < len(p.hashes); n++ {
		i := p.hashes[n] & mask
		for p.slots[i] != 0 {
			i = (i + 1) & mask
		}
		p.slots[i] = uint32(n)
	}
}
