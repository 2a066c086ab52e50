package http1

import (
	"bytes"
	"errors"
)

// MaxHead bounds the header of one answer, and the trailer of a chunked one.
// curl stops at 300 KB in all.
const MaxHead = 256 << 10

// What can be wrong with an answer.
var (
	ErrStatusLine = errors.New("malformed answer: no HTTP/1 status line")
	ErrHeader     = errors.New("malformed answer: a header line without a colon")
	ErrLength     = errors.New("malformed answer: bad Content-Length")
	ErrEncoding   = errors.New("malformed answer: unknown Transfer-Encoding")
	ErrChunk      = errors.New("malformed answer: bad chunk")
	ErrHeadLimit  = errors.New("malformed answer: its header is longer than 256 KiB")
	ErrNoAnswer   = errors.New("the server closed the connection without an answer")
	ErrCutOff     = errors.New("the server closed the connection within an answer")
)

// Head is a header block that was read, with what it said: a server that
// answers alike answers with the same bytes, but for the Date once a second,
// and comparing them is cheaper than reading them. Parsers that take turns, as
// those of one thread do, share one.
//
// Measured (BenchmarkParser, a header of 5 lines): 30 ns a response against
// 200 ns.
type Head struct {
	block    []byte // with the empty line that ends it
	status   int
	length   int64 // Content-Length; -1 without
	chunked  bool
	close    bool
	location span
}

// span is a part of the block.
type span struct{ from, to int }

// state is what a parser waits for.
type state uint8

const (
	inHead       state = iota
	inBody             // left bytes of it
	toTheEnd           // a body that ends with the connection
	inChunkSize        // the digits
	inChunkExt         // what is behind the digits, until CR
	atChunkLF          // the LF behind that CR
	inChunkData        // left bytes of it
	atDataCR           // the CR LF behind the data
	atDataLF           //
	inTrailer          // at the beginning of a line
	inTrailerEnd       // behind the CR of a line that may be the empty one
	inTrailerLine
)

// Parser reads the answers that come over one connection, one after the other.
// Begin it before each request.
type Parser struct {
	head   *Head
	noBody bool // the request was a HEAD
	// Look is given the bytes of the body as they come, without what chunking adds; nil for nobody. Begin forgets it.
	Look  func(b []byte)
	begun bool
	framing
	held []byte // of a header block that is not whole yet
	seen int    // where in held the last line begins

	status   int
	length   int64
	bytes    int64
	close    bool
	location []byte
}

// framing is where in an answer the next byte is.
type framing struct {
	state  state
	left   uint64 // bytes of the body or the chunk to come
	digits int    // of the chunk's size
	excess int64  // bytes of chunking beyond what data excuses
	lines  int    // bytes of the trailer
}

// Begin makes the parser ready for the answer to a request of this method.
// head is where header blocks are kept to be compared; it may be shared by
// parsers of the same goroutine.
func (p *Parser) Begin(head *Head, method string) {
	*p = Parser{head: head, noBody: method == "HEAD", held: p.held[:0], location: p.location[:0], length: -1}
}

// Begun tells whether anything of the answer has come.
func (p *Parser) Begun() bool { return p.begun }

// Status is that of the answer.
func (p *Parser) Status() int { return p.status }

// Length is the answer's Content-Length, -1 when it has none.
func (p *Parser) Length() int64 { return p.length }

// Bytes is how many bytes of a body have come, without what chunking adds.
func (p *Parser) Bytes() int64 { return p.bytes }

// Close tells that no further request can be sent over the connection.
func (p *Parser) Close() bool { return p.close }

// Location is where a redirect leads to, valid until the next answer begins.
func (p *Parser) Location() []byte { return p.location }

// Feed takes the next bytes that came. It takes all of them unless the answer
// is done: what is left then belongs to no request. It allocates only to keep
// a header block that came in parts.
func (p *Parser) Feed(b []byte) (n int, done bool, err error) {
	if len(b) > 0 {
		p.begun = true
	}
	for n < len(b) {
		switch p.state {
		case inHead:
			used, whole, err := p.feedHead(b[n:])
			n += used
			if err != nil || !whole {
				return n, false, err
			}
			if done = p.begin(); done {
				return n, true, nil
			}
		case inBody:
			if n += p.take(b[n:]); p.left == 0 {
				return n, true, nil
			}
		case toTheEnd:
			p.bytes += int64(len(b) - n)
			if p.Look != nil {
				p.Look(b[n:])
			}
			return len(b), false, nil
		case inChunkData:
			if n += p.take(b[n:]); p.left == 0 {
				p.state = atDataCR
			}
		default:
			done, err := p.chunkByte(b[n])
			n++
			if done || err != nil {
				return n, done, err
			}
		}
	}
	return n, false, nil
}

// End says that the connection was closed by the server; done tells that the
// answer is whole.
func (p *Parser) End() (done bool, err error) {
	switch {
	case p.state == toTheEnd:
		return true, nil
	case !p.begun:
		return false, ErrNoAnswer
	}
	return false, ErrCutOff
}

// Take makes the parser hold an answer that another protocol brought.
func (p *Parser) Take(status int, bytes, length int64, location string) {
	p.begun, p.status, p.bytes, p.length = true, status, bytes, length
	p.location = append(p.location[:0], location...)
}

// take counts body bytes and returns how many of b they are.
func (p *Parser) take(b []byte) int {
	n := int(min(uint64(len(b)), p.left))
	p.left -= uint64(n)
	p.bytes += int64(n)
	if p.Look != nil {
		p.Look(b[:n])
	}
	return n
}

// feedHead reads a header block. whole tells that p.head is it.
func (p *Parser) feedHead(b []byte) (n int, whole bool, err error) {
	last := p.head.block
	if len(p.held) == 0 && len(last) > 0 && len(b) >= len(last) && bytes.Equal(b[:len(last)], last) {
		return len(last), true, nil
	}
	if len(p.held) == 0 {
		end, _ := headEnd(b, 0)
		if end > MaxHead || end < 0 && len(b) > MaxHead {
			return 0, false, ErrHeadLimit
		}
		if end >= 0 {
			return end, true, p.head.read(b[:end])
		}
	}
	// It came in parts: only what belongs to it is taken.
	before := len(p.held)
	p.held = append(p.held, b...)
	end := -1
	if bytes.IndexByte(b, '\n') >= 0 { // a line that comes byte by byte is not gone through each time
		end, p.seen = headEnd(p.held, p.seen)
	}
	switch {
	case end > MaxHead || end < 0 && len(p.held) > MaxHead:
		return len(b), false, ErrHeadLimit
	case end < 0:
		return len(b), false, nil
	}
	err = p.head.read(p.held[:end])
	p.held, p.seen = p.held[:0], 0
	return end - before, true, err
}

// headEnd returns where the header block in b ends, its empty line included,
// or -1 and where the line begins that to go on with. from is such a place.
// Lines may end with LF alone, as everywhere.
func headEnd(b []byte, from int) (end, line int) {
	line = from
	for {
		i := bytes.IndexByte(b[line:], '\n')
		if i < 0 {
			return -1, line
		}
		if i == 0 || i == 1 && b[line] == '\r' {
			return line + i + 1, line
		}
		line += i + 1
	}
}

// begin starts the body that the header announces; done tells that there is
// none. An informational answer is no answer: the next one is waited for.
func (p *Parser) begin() (done bool) {
	h := p.head
	p.status, p.length, p.close = h.status, h.length, h.close
	p.location = append(p.location[:0], h.block[h.location.from:h.location.to]...)
	bodiless := p.noBody || h.status/100 == 1 || h.status == 204 || h.status == 304
	switch {
	case h.status/100 == 1 && h.status != 101:
		p.status = 0
		return false
	case h.status == 101: // another protocol from here on
		p.close = true
		return true
	case bodiless:
		return true
	case h.chunked:
		p.state, p.digits = inChunkSize, 0
		return false
	case h.length < 0:
		p.state, p.close = toTheEnd, true
		return false
	}
	p.state, p.left = inBody, uint64(h.length)
	return h.length == 0
}

// maxChunkLine is net/http's, and so is maxExcess: how much a body may be
// blown up by its chunks before it is taken for malice.
const (
	maxChunkLine = 4096
	maxExcess    = 16 << 10
)

// chunkByte takes one byte of what stands between the data of chunks: the
// size in hexadecimal digits, extensions, line ends, and after the last chunk
// a trailer, none of which is worth keeping.
func (f *framing) chunkByte(c byte) (done bool, err error) {
	switch f.state {
	case inChunkSize, inChunkExt:
		return false, f.sizeByte(c)
	case atChunkLF:
		if c != '\n' {
			return false, ErrChunk
		}
		f.excess = max(0, f.excess+int64(f.lines)+1-16-2*int64(min(f.left, 1<<40)))
		switch {
		case f.excess > maxExcess:
			return false, ErrChunk
		case f.left == 0:
			f.state, f.lines = inTrailer, 0
		default:
			f.state = inChunkData
		}
	case atDataCR:
		f.state = atDataLF
		if c != '\r' {
			return false, ErrChunk
		}
	case atDataLF:
		f.state, f.digits, f.lines = inChunkSize, 0, 0
		if c != '\n' {
			return false, ErrChunk
		}
	default:
		return f.trailerByte(c)
	}
	return false, nil
}

// sizeByte takes a byte of the line with the size of a chunk.
func (f *framing) sizeByte(c byte) error {
	f.lines++
	switch {
	case f.lines > maxChunkLine:
		return ErrChunk
	case c == '\r':
		f.state = atChunkLF
		if f.digits == 0 {
			return ErrChunk
		}
	case c == '\n':
		return ErrChunk
	case f.state == inChunkExt:
	case c == ';' || c == ' ' || c == '\t':
		f.state = inChunkExt
	default:
		d := hexDigit(c)
		if f.digits++; d < 0 || f.digits > 16 {
			return ErrChunk
		}
		f.left = f.left<<4 | uint64(d)
	}
	return nil
}

// trailerByte takes a byte of the trailer, which an empty line ends.
func (f *framing) trailerByte(c byte) (done bool, err error) {
	if f.lines++; f.lines > MaxHead {
		return false, ErrHeadLimit
	}
	switch {
	case c == '\n':
		if f.state != inTrailerLine {
			return true, nil
		}
		f.state = inTrailer
	case c == '\r' && f.state == inTrailer:
		f.state = inTrailerEnd
	default:
		f.state = inTrailerLine
	}
	return false, nil
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
