package loadlog

import (
	"encoding/binary"
	"errors"
	"io"
	"time"

	"loupe/value/timeline"
)

// What a row has besides its fixed part, in its first byte. Status, bytes and
// target are those of the row before where the bit is not set.
const (
	hasLate = 1 << iota
	hasRead
	hasStatus
	hasBytes
	hasTarget
	hasError
	hasDial
	hasHops
)

// maxRow is the length of the longest row: the first byte, twelve varints, one
// of them of a 16-bit number, and the hops.
const maxRow = 1 + 11*binary.MaxVarintLen64 + 3*3 + 1

// rowState is what a row is told as the difference to; each chunk begins anew.
type rowState struct {
	end            timeline.Time
	status, target uint16
	bytes          int64
}

// appendRow adds a request. Parts are taken to be within Service; Wait is
// what is left of it and is not written.
func appendRow(b []byte, s *rowState, r *Request) []byte {
	at := len(b)
	b = append(b, 0)
	flags := byte(0)
	end := r.End()
	b = binary.AppendVarint(b, int64(end-s.end))
	b = binary.AppendUvarint(b, uint64(r.Service))
	b = binary.AppendUvarint(b, uint64(r.Write))
	b = binary.AppendUvarint(b, uint64(r.Conn))
	if r.Late != 0 {
		flags |= hasLate
		b = binary.AppendUvarint(b, uint64(r.Late))
	}
	if r.Read != 0 {
		flags |= hasRead
		b = binary.AppendUvarint(b, uint64(r.Read))
	}
	if r.Status != s.status {
		flags |= hasStatus
		b = binary.AppendUvarint(b, uint64(r.Status))
	}
	if r.Bytes != s.bytes {
		flags |= hasBytes
		b = binary.AppendUvarint(b, uint64(r.Bytes))
	}
	if r.Target != s.target {
		flags |= hasTarget
		b = binary.AppendUvarint(b, uint64(r.Target))
	}
	if r.Error != 0 {
		flags |= hasError
		b = binary.AppendUvarint(b, uint64(r.Error))
	}
	if r.Dial != 0 {
		flags |= hasDial
		b = binary.AppendUvarint(b, uint64(r.Dial))
		b = binary.AppendUvarint(b, uint64(r.DNS))
		b = binary.AppendUvarint(b, uint64(r.TLS))
	}
	if r.Hops != 0 {
		flags |= hasHops
		b = append(b, r.Hops)
	}
	b[at] = flags
	*s = rowState{end, r.Status, r.Target, r.Bytes}
	return b
}

// errRow says that a row is not one.
var errRow = errors.New("a row is damaged")

// readRow takes a request off the front of b.
func readRow(b []byte, s *rowState, r *Request) ([]byte, error) {
	if len(b) == 0 {
		return nil, ErrCut
	}
	flags := b[0]
	c := cursor{data: b[1:]}
	end := s.end.Add(time.Duration(c.varint()))
	*r = Request{Service: c.duration(), Write: c.duration(), Conn: uint32(c.below(1 << 32))}
	r.Status, r.Bytes, r.Target = s.status, s.bytes, s.target
	if flags&hasLate != 0 {
		r.Late = c.duration()
	}
	if flags&hasRead != 0 {
		r.Read = c.duration()
	}
	if flags&hasStatus != 0 {
		r.Status = uint16(c.below(1 << 16))
	}
	if flags&hasBytes != 0 {
		r.Bytes = int64(c.below(1 << 63))
	}
	if flags&hasTarget != 0 {
		r.Target = uint16(c.below(1 << 16))
	}
	if flags&hasError != 0 {
		r.Error = uint16(c.below(1 << 16))
	}
	if flags&hasDial != 0 {
		r.Dial, r.DNS, r.TLS = c.duration(), c.duration(), c.duration()
	}
	if flags&hasHops != 0 {
		r.Hops = byte(c.below(1 << 8))
	}
	if c.err != nil {
		return nil, c.err
	}
	r.Wait = r.Service - r.Dial - r.Write - r.Read
	r.Begin = end.Add(-r.Late - r.Service)
	if r.Wait < 0 || r.DNS > r.Dial || r.TLS > r.Dial || end > maxTime || end < -maxTime {
		return nil, errRow
	}
	*s = rowState{end, r.Status, r.Target, r.Bytes}
	return c.data, nil
}

// maxTime bounds instants and lengths, so that no sum of some of them can run
// over: a century.
const maxTime = timeline.Time(100 * 366 * 24 * time.Hour)

// rowReader goes through the rows of one stream.
type rowReader struct {
	chunks  []chunk
	spilled io.ReaderAt
	left    int
	data    []byte
	buf     []byte
	state   rowState
	row     Request
	end     timeline.Time
}

func (l *Log) reader(s []chunk) *rowReader { return &rowReader{chunks: s, spilled: l.spilled} }

// next reads the next row and returns false at the end.
func (r *rowReader) next() bool {
	for r.left == 0 {
		if len(r.chunks) == 0 {
			return false
		}
		c := r.chunks[0]
		r.chunks = r.chunks[1:]
		r.data, r.left, r.state = c.data, c.rows, rowState{}
		if c.data == nil {
			if cap(r.buf) < c.size {
				r.buf = make([]byte, c.size)
			}
			r.data = r.buf[:c.size]
			if n, _ := r.spilled.ReadAt(r.data, c.at); n < c.size {
				r.left = 0
			}
		}
	}
	rest, err := readRow(r.data, &r.state, &r.row)
	if err != nil { // found by Decode before
		return false
	}
	r.data, r.end = rest, r.state.end
	r.left--
	return true
}
