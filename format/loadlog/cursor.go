package loadlog

import (
	"encoding/binary"
	"time"
)

// cursor reads varints and remembers the first failure.
type cursor struct {
	data []byte
	err  error
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.data)
	if n <= 0 {
		c.fail(ErrCut)
		return 0
	}
	c.data = c.data[n:]
	return v
}

func (c *cursor) varint() int64 {
	v, n := binary.Varint(c.data)
	if n <= 0 {
		c.fail(ErrCut)
		return 0
	}
	c.data = c.data[n:]
	return v
}

// below reads a number that is less than limit.
func (c *cursor) below(limit uint64) uint64 {
	v := c.uvarint()
	if v >= limit {
		c.fail(errRow)
		return 0
	}
	return v
}

func (c *cursor) duration() time.Duration { return time.Duration(c.below(uint64(maxTime))) }

func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.data)) {
		c.fail(ErrCut)
		return nil
	}
	b := c.data[:n]
	c.data = c.data[n:]
	return b
}

func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.data = nil
}
