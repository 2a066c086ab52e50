package dump

import (
	"bytes"
	"fmt"
	"io"
)

// Read reads everything that a stream holds, in memory that does not grow with
// its length but with how much there is to tell apart. Of the text it keeps one
// goroutine of each stack and state, 8 MiB in all: [File.Calls] knows the
// arguments of those alone. What was read before an error is returned with it.
func Read(r io.Reader) (*File, error) {
	p := newParser(true)
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

// shift drops the text that nobody needs any more and makes room for more.
func (p *parser) shift(buf []byte, skip bool) ([]byte, bool) {
	from := p.i
	if p.mode == inGoroutine {
		from = min(from, max(int(p.start-p.base), p.i-maxMessage))
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
