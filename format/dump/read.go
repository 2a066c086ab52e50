package dump

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"loupe/value/streams"
)

// Read reads everything that a stream holds, in memory that does not grow with
// its length but with how much there is to tell apart. Of the text it keeps one
// goroutine of each stack and state, 8 MiB in all: [File.Calls] knows the
// arguments of those alone. What was read before an error is returned with it.
//
// Whether it is a log of several processes is seen in its first 8 MiB; one that is
// has to be in memory as a whole, and is taken apart up to 256 MiB.
func Read(r io.Reader) (*File, error) {
	p := newParser(true)
	head, err := gather(r, nil, headSize)
	if split(streams.Plain(head)) != nil && err == nil {
		head, err = gather(r, head, streams.MaxText)
	}
	if err == nil {
		r = io.MultiReader(bytes.NewReader(head), r)
	} else {
		r = io.MultiReader(bytes.NewReader(head), failing{err})
		if split(streams.Plain(head)) != nil {
			p.parse(head)
			f := p.finish(int64(len(head)))
			if err == io.EOF {
				return f, nil
			}
			return f, fmt.Errorf("cannot read the dump beyond byte %d: %w", f.Bytes, err)
		}
	}
	if bytes.IndexByte(head, 0x1b) >= 0 {
		r = &colourless{r: r}
	}
	buf := make([]byte, 0, 256<<10)
	skip := false // the rest of a line that is too long
	for empty := 0; ; {
		n, err := r.Read(buf[len(buf):cap(buf)])
		if empty++; n > 0 {
			empty = 0
		}
		fresh := buf[len(buf) : len(buf)+n]
		if skip {
			i := bytes.IndexByte(fresh, '\n')
			if i < 0 {
				i = n
			} else {
				skip = false
			}
			p.base += int64(i)
			n = copy(fresh, fresh[i:])
		}
		buf = buf[:len(buf)+n]
		p.b = buf
		if err != nil {
			p.run(true)
			f := p.finish(p.base + int64(len(buf)))
			if err == io.EOF {
				err = nil
			} else {
				err = fmt.Errorf("cannot read the dump beyond byte %d: %w", f.Bytes, err)
			}
			return f, err
		}
		if empty > 100 {
			return p.finish(p.base + int64(len(buf))), io.ErrNoProgress
		}
		p.run(false)
		buf, skip = p.shift(buf, skip)
	}
}

// headSize is how much of a stream is looked at before it is read.
const headSize = 8 << 20

// gather reads on until there are limit bytes; the error is why there are not.
func gather(r io.Reader, buf []byte, limit int) ([]byte, error) {
	for empty := 0; len(buf) < limit; {
		buf = slices.Grow(buf, min(limit-len(buf), 64<<10))
		n, err := r.Read(buf[len(buf):min(cap(buf), limit)])
		buf = buf[:len(buf)+n]
		if err != nil {
			return buf, err
		}
		if empty++; n > 0 {
			empty = 0
		}
		if empty > 100 {
			return buf, io.ErrNoProgress
		}
	}
	return buf, nil
}

// failing is a reader that is at its end.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// colourless takes the escape sequences of a terminal out of a stream.
type colourless struct {
	r    io.Reader
	rest []byte // the begin of a sequence that may go on
}

func (c *colourless) Read(b []byte) (int, error) {
	if len(b) <= len(c.rest)+64 {
		return 0, io.ErrShortBuffer
	}
	n := copy(b, c.rest)
	c.rest = c.rest[:0]
	m, err := c.r.Read(b[n:])
	n += m
	if i := bytes.LastIndexByte(b[:n], 0x1b); i >= 0 && n-i < 34 && err == nil && streams.EscapeLen(b[i:n]) == 0 {
		c.rest = append(c.rest, b[i:n]...)
		n = i
	}
	return copy(b, streams.Plain(b[:n])), err
}

// shift drops the text that nobody needs any more and makes room for more.
func (p *parser) shift(buf []byte, skip bool) ([]byte, bool) {
	from := p.i
	if p.mode == inGoroutine {
		from = min(from, max(int(p.row.start-p.base), p.i-maxMessage))
	}
	if p.maybe >= p.base {
		from = min(from, max(int(p.maybe-p.base), p.i-maxMessage))
	}
	from = max(from, 0)
	p.base += int64(from)
	p.i -= from
	rest := copy(buf, buf[from:])
	buf = buf[:rest]
	switch {
	case rest < cap(buf):
	case cap(buf) < maxLine:
		buf = append(make([]byte, 0, 2*cap(buf)), buf...)
	default: // a line without an end: its begin is all that is looked at
		p.b = buf
		p.run(true)
		p.base += int64(len(buf))
		buf, p.i, skip = buf[:0], 0, true
	}
	return buf, skip
}
