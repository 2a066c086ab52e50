package profile

import "hash/maphash"

// pieces numbers distinct pieces of the input, by their hashes. The content is
// elsewhere: whoever looks a piece up compares it. Number 0 is no piece.
//
// Hash and number stand together, so that a look at a piece that was not there
// before, which most label sets are, is one cache miss.
type pieces struct {
	seed  maphash.Seed
	slots []pieceSlot
	used  int
}

type pieceSlot struct{ hash, number uint32 }

// somePieces is how many slots are kept for the next profile.
const somePieces = 1 << 12

func (p *pieces) reset() {
	if p.used = 0; p.slots != nil && len(p.slots) <= somePieces {
		clear(p.slots)
		return
	}
	p.seed, p.slots = maphash.MakeSeed(), make([]pieceSlot, 64)
}

func (p *pieces) hash(b []byte) uint32 { return uint32(maphash.Bytes(p.seed, b)) }

// add puts a number into the free slot where the search for its hash has ended.
func (p *pieces) add(slot, hash, number uint32) {
	p.slots[slot] = pieceSlot{hash, number}
	p.used++
}

// full says that grow is due before the next look.
func (p *pieces) full() bool { return p.used*16 > len(p.slots)*13 }

// grow makes room for as many pieces as there are likely to be. Every step that
// is left out saves garbage.
func (p *pieces) grow(likely int) {
	size := 2 * len(p.slots)
	for likely*16 > size*13 {
		size *= 2
	}
	old := p.slots
	p.slots = make([]pieceSlot, size)
	mask := uint32(size - 1)
	for _, s := range old {
		if s.number == 0 {
			continue
		}
		i := s.hash & mask
		for p.slots[i].number != 0 {
			i = (i + 1) & mask
		}
		p.slots[i] = s
	}
}
