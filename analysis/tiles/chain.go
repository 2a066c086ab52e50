package tiles

import "sort"

// chain is the bytes of a section: of a file one run, of a set that was just
// built the pieces that the builder has made, so that none is copied. Nobody
// changes them any more.
type chain struct {
	pieces [][]byte
	ends   []uint64 // where each piece ends
}

func chainOf(piece []byte) (c chain) {
	c.add(piece)
	return c
}

// add appends a piece.
func (c *chain) add(piece []byte) {
	if len(piece) > 0 {
		c.pieces = append(c.pieces, piece)
		c.ends = append(c.ends, c.size()+uint64(len(piece)))
	}
}

func (c *chain) size() uint64 {
	if len(c.ends) == 0 {
		return 0
	}
	return c.ends[len(c.ends)-1]
}

// one returns the only piece of a section that is never divided.
func (c *chain) one() []byte {
	if len(c.pieces) == 0 {
		return nil
	}
	return c.pieces[0]
}

// from returns the index of the piece that has a place, and what it has from
// there on.
func (c *chain) from(at uint64) (int, []byte) {
	i := 0
	if len(c.ends) > 1 {
		i = sort.Search(len(c.ends), func(i int) bool { return c.ends[i] > at })
	}
	if i == len(c.pieces) || at > c.ends[i] {
		return len(c.pieces), nil
	}
	return i, c.pieces[i][at-(c.ends[i]-uint64(len(c.pieces[i]))):]
}

// run returns the bytes of a stretch that lies in one piece, nil for one that
// does not, which there is in damaged files alone.
func (c *chain) run(from, to uint64) []byte {
	if from >= to || to > c.size() {
		return nil
	}
	_, b := c.from(from)
	if n := to - from; n <= uint64(len(b)) {
		return b[:n:n]
	}
	return nil
}
