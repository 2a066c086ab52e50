package clickhouse

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// rows reads an answer in RowBinary, value by value: who asked knows the types. The
// first error stays, and what is read after it is zero.
type rows struct {
	r   *bufio.Reader
	n   int64 // bytes read
	row int64
	err error
	buf []byte
}

// maxText is the longest string, maxList the longest array that an answer may have. What
// is allocated grows with what has come, not with what was announced.
const (
	maxText = 64 << 20
	maxList = 16 << 20
)

var errShort = errors.New("it ends in the middle of a row")

func newRows(r io.Reader) *rows { return &rows{r: bufio.NewReaderSize(r, 64<<10)} }

// next tells whether there is another row.
func (r *rows) next() bool {
	if r.err != nil {
		return false
	}
	if _, err := r.r.Peek(1); err != nil {
		if err != io.EOF {
			r.err = err
		}
		return false
	}
	r.row++
	return true
}

func (r *rows) fail(err error) {
	if r.err == nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = errShort
		}
		r.err = fmt.Errorf("row %d, byte %d: %w", r.row, r.n, err)
	}
}

func (r *rows) uint64() uint64 {
	b, err := r.r.Peek(8)
	if r.err != nil || err != nil {
		r.fail(err)
		return 0
	}
	v := binary.LittleEndian.Uint64(b)
	r.r.Discard(8)
	r.n += 8
	return v
}

func (r *rows) int64() int64 { return int64(r.uint64()) }

func (r *rows) uint32() uint32 {
	b, err := r.r.Peek(4)
	if r.err != nil || err != nil {
		r.fail(err)
		return 0
	}
	v := binary.LittleEndian.Uint32(b)
	r.r.Discard(4)
	r.n += 4
	return v
}

// length reads the length of a string or an array.
func (r *rows) length(most uint64) int {
	if r.err != nil {
		return 0
	}
	v, shift := uint64(0), 0
	for {
		c, err := r.r.ReadByte()
		if err != nil {
			r.fail(err)
			return 0
		}
		r.n++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			break
		}
		if shift += 7; shift > 63 {
			r.fail(errors.New("a length has more than 64 bits"))
			return 0
		}
	}
	if v > most {
		r.fail(fmt.Errorf("a length is %d, more than %d", v, most))
		return 0
	}
	return int(v)
}

// text reads a string.
func (r *rows) text() string {
	n := r.length(maxText)
	r.buf = r.buf[:0]
	for len(r.buf) < n && r.err == nil {
		at := len(r.buf)
		r.buf = append(r.buf, make([]byte, min(n-at, 64<<10))...)
		read, err := io.ReadFull(r.r, r.buf[at:])
		r.n += int64(read)
		if err != nil {
			r.fail(err)
			return ""
		}
	}
	return string(r.buf)
}

// texts reads an array of strings.
func (r *rows) texts() (list []string) {
	for range r.length(maxList) {
		if r.err != nil {
			return nil
		}
		list = append(list, r.text())
	}
	return list
}

// uint32s reads an array behind what is in dst.
func (r *rows) uint32s(dst []uint32) []uint32 {
	for range r.length(maxList) {
		if r.err != nil {
			return dst
		}
		dst = append(dst, r.uint32())
	}
	return dst
}

// int64s reads an array behind what is in dst.
func (r *rows) int64s(dst []int64) []int64 {
	for range r.length(maxList) {
		if r.err != nil {
			return dst
		}
		dst = append(dst, r.int64())
	}
	return dst
}
