package exectrace

import (
	"fmt"
	"math"
)

// paddedSize is the length of the size in a batch's header. The runtime leaves
// room for the longest number and fills it with continuation bytes, so that a
// header has six bytes 0x80 and a zero in a row: the only mark that there is.
const paddedSize = 10

// clockSlack is how far, in units of the clock, the times of batches that
// follow each other may lie apart: more than an hour of 64 ns units.
const clockSlack = 1 << 36

// farthest is how many generations may be missing. A flight recorder leaves
// some out.
const farthest = 1000

// findBatch returns where, from off on, a batch begins again after damage, or
// until when none does before.
func (x *indexer) findBatch(off, until int64) (int64, error) {
	const block = 64 << 10
	var buf []byte
	for ; off < until; off += block {
		b, err := x.data.read(off, block+batchHeader+1, buf)
		if err != nil {
			return 0, err
		}
		if x.data.at != nil {
			buf = b
		}
		for i := range min(int64(len(b)), block, until-off) {
			if x.opensBatch(b[i:], x.number()) || x.opensEnd(b[i:], off+i) {
				return off + i, nil
			}
		}
	}
	return until, nil
}

// shorten looks for a batch inside of the one that was read last, behind which
// no batch begins. If there is one, the size of the outer one is wrong: it ends
// there, and reading goes on with the inner one.
//
// Note: a single bit can make a batch up to 32 kB longer. In a trace of small
// generations that is several of them, which were all lost without this.
func (x *indexer) shorten() (bool, error) {
	n := x.newest
	if n.b == nil || x.problems.strict {
		return false, nil
	}
	end := n.b.offset + int64(n.b.size)
	ended := x.g == nil && n.g.complete && x.off == end+1 // the byte behind it was taken for that of an end
	if x.off != end && !ended {
		return false, nil
	}
	x.newest.b = nil
	was := x.g
	x.g = n.g
	at, err := x.findBatch(n.b.offset, end)
	if err != nil || at == end {
		x.g = was
		return false, err
	}
	err = x.tell(n.b.offset, fmt.Sprintf("a batch of %d bytes, and another one begins at byte %d inside of it; its size is taken to be wrong", n.b.size, at))
	if n.lost {
		n.g.lost -= end - at
	}
	n.b.size = int32(at - n.b.offset)
	n.g.complete, n.g.damaged, n.g.bytes = false, true, at-n.g.start
	x.off = at
	return true, err
}

// number is the number of the generation that was read last.
func (x *indexer) number() uint64 {
	if x.g != nil {
		return x.g.number
	}
	return x.last
}

// opensEnd says whether b, at off, begins with the end of a generation: what
// follows is the end of the file or another generation.
func (x *indexer) opensEnd(b []byte, off int64) bool {
	return b[0] == evEndOfGeneration && x.version >= 26 && x.g != nil &&
		(off+1 == x.data.size || len(b) > 1 && x.opensBatch(b[1:], x.number()+1))
}

// opensBatch says whether b begins as a batch does that the runtime has
// written, of generation number or one that can follow it.
func (x *indexer) opensBatch(b []byte, number uint64) bool {
	if b[0] != evEventBatch && (b[0] != evExperimentalBatch || x.version < 23) {
		return false
	}
	h, n, wrong := parseBatchHeader(b)
	if wrong != "" || n < paddedSize || uvarintSize(b[:n]) != paddedSize {
		return false
	}
	ahead := uint64(farthest)
	if number == 0 {
		ahead = math.MaxUint32 // nothing is known of the first one
	}
	return h.gen >= number && h.gen-number <= ahead && x.near(h.time)
}

// uvarintSize returns the length of the number that b ends with.
func uvarintSize(b []byte) int {
	n := 1
	for n < len(b) && b[len(b)-1-n] >= 0x80 {
		n++
	}
	return n
}

// near says whether a batch of this time can follow those before.
func (x *indexer) near(time uint64) bool {
	for _, known := range x.times {
		if known == 0 || max(time, known)-min(time, known) <= clockSlack {
			return true
		}
	}
	return false
}
