package loadlog

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"loupe/value/timeline"
)

// magic begins every file.
const magic = "loupe.load/2\n"

// The kinds of blocks. A reader skips kinds that it does not know.
const (
	blockRows        = 'R'
	blockConnections = 'C'
	blockEnd         = 'E' // nothing was lost
)

// connectionsPerBlock keeps blocks small enough to be read at once.
const connectionsPerBlock = 4096

// fileHeader is the second line of a file.
type fileHeader struct {
	Header
	// Streams is how many there are, which tells in a file that was cut off
	// whether some are missing altogether.
	Streams int `json:"streams"`
}

// Encode writes the log: docs/formats/load.md describes the format. Rows are
// written as they are kept, about ten bytes each.
func (l *Log) Encode(w io.Writer) error {
	text, err := json.Marshal(fileHeader{l.Header, len(l.streams)})
	if err != nil {
		return fmt.Errorf("BUG: cannot encode the header: %w", err)
	}
	out := append([]byte(magic), text...)
	if _, err := w.Write(append(out, '\n')); err != nil {
		return err
	}
	for from := 0; from < len(l.Connections); from += connectionsPerBlock {
		if err := writeBlock(w, blockConnections, appendConnections(nil, l.Connections[from:min(from+connectionsPerBlock, len(l.Connections))])); err != nil {
			return err
		}
	}
	// Streams take turns, so that a file that is cut off lacks the end of
	// each rather than all of the last.
	for i, more := 0, true; more; i++ {
		more = false
		for number, s := range l.streams {
			if i >= len(s) {
				continue
			}
			more = true
			if err := l.writeRows(w, number, s[i]); err != nil {
				return err
			}
		}
	}
	return writeBlock(w, blockEnd, nil)
}

func (l *Log) writeRows(w io.Writer, stream int, c chunk) error {
	head := binary.AppendUvarint(nil, uint64(stream))
	head = binary.AppendUvarint(head, uint64(c.rows))
	if c.data != nil {
		return writeBlock(w, blockRows, head, c.data)
	}
	data := make([]byte, c.size)
	if n, err := l.spilled.ReadAt(data, c.at); n < c.size {
		return fmt.Errorf("cannot read requests back from the temporary file: %w", err)
	}
	return writeBlock(w, blockRows, head, data)
}

// writeBlock writes a kind, a length and what the block holds.
func writeBlock(w io.Writer, kind byte, parts ...[]byte) error {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	out := binary.AppendUvarint([]byte{kind}, uint64(size))
	for _, p := range parts {
		out = append(out, p...)
	}
	_, err := w.Write(out)
	return err
}

func appendConnections(b []byte, conns []Connection) []byte {
	b = binary.AppendUvarint(b, uint64(len(conns)))
	for i := range conns {
		c := &conns[i]
		b = binary.AppendUvarint(b, uint64(c.ID))
		b = binary.AppendVarint(b, int64(c.Opened))
		for _, d := range []time.Duration{c.Dial, c.DNS, c.TLS} {
			b = binary.AppendUvarint(b, uint64(max(0, d)))
		}
		b = binary.AppendUvarint(b, uint64(c.LocalPort))
		b = binary.AppendUvarint(b, uint64(c.Requests))
		b = binary.AppendVarint(b, int64(c.Closed))
		b = binary.AppendUvarint(b, uint64(c.Why))
	}
	return b
}

// ErrCut is wrapped by the error of a file that ends in the middle of a
// chunk; what came before is returned with it.
var ErrCut = errors.New("the file ends early")

// Decode reads a log of any version of the format, and the results of other generators
// that have each request: see [Header.Foreign]. The log refers to data,
// which must not change. When the file was cut off or is damaged, everything
// before that is returned together with an error; where it was cut off, the
// error wraps [ErrCut]. Such a log ends with the last request up to which none
// is missing: rates over its Elapsed are true.
func Decode(data []byte) (*Log, error) {
	version1 := bytes.HasPrefix(data, []byte(magic1))
	if read := foreignOf(data); read != nil {
		return decodeForeign(data, read)
	}
	if !version1 && !bytes.HasPrefix(data, []byte(magic)) {
		return nil, errors.New("cannot read load log: it does not begin with \"loupe.load/\" and a version that is known")
	}
	head, rest, ok := bytes.Cut(data[len(magic):], []byte("\n"))
	if !ok {
		return nil, fmt.Errorf("cannot read load log: no header line: %w", ErrCut)
	}
	var h fileHeader
	if err := json.Unmarshal(head, &h); err != nil {
		return nil, fmt.Errorf("cannot read load log: header: %w", err)
	}
	if version1 {
		return decode1(h.Header, rest)
	}
	l := &Log{Header: h.Header}
	c := cursor{data: rest}
	for n := 1; ; n++ {
		ended, err := c.block(l)
		if err != nil {
			l.endEarly(h.Streams)
			return l, fmt.Errorf("cannot read load log: block %d: %w", n, err)
		}
		if ended {
			return l, nil
		}
	}
}

// maxStreams bounds the streams of a file: one for each thread that sent.
const maxStreams = 1 << 12

// block reads one block into l, and tells whether it was the last.
func (c *cursor) block(l *Log) (ended bool, err error) {
	if len(c.data) == 0 {
		return false, ErrCut
	}
	kind := c.data[0]
	c.data = c.data[1:]
	size := c.uvarint()
	if kind == blockRows && size > uint64(len(c.data)) && c.err == nil {
		body := cursor{data: c.data}
		return false, cmp.Or(body.rows(l), ErrCut)
	}
	body := cursor{data: c.bytes(size)}
	if c.err != nil {
		return false, c.err
	}
	switch kind {
	case blockRows:
		err = body.rows(l)
	case blockConnections:
		err = body.connections(l)
	case blockEnd:
		return true, nil
	}
	return false, err
}

// rows reads a block of rows and checks each of them. Of a block that is cut
// off or damaged, the rows before that are kept.
func (c *cursor) rows(l *Log) error {
	stream, claimed := c.uvarint(), c.uvarint()
	if c.err != nil {
		return c.err
	}
	if stream > uint64(len(l.streams)) || stream >= maxStreams || claimed > math.MaxInt32 {
		return errors.New("its rows are not what it claims")
	}
	var state rowState
	var r Request
	var err error
	rest, rows := c.data, 0
	for err == nil && uint64(rows) < claimed {
		var after []byte
		if after, err = readRow(rest, &state, &r); err == nil {
			rest, rows = after, rows+1
		}
	}
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%d bytes too many", len(rest))
	}
	if rows == 0 {
		return err
	}
	if stream == uint64(len(l.streams)) {
		l.streams = append(l.streams, nil)
	}
	data := c.data[:len(c.data)-len(rest)]
	l.streams[stream] = append(l.streams[stream], chunk{rows: rows, data: data, size: len(data)})
	l.n += rows
	return err
}

func (c *cursor) connections(l *Log) error {
	for n := c.below(connectionsPerBlock + 1); n > 0; n-- {
		k := Connection{ID: uint32(c.below(1 << 32)), Opened: timeline.Time(c.varint())}
		k.Dial, k.DNS, k.TLS = c.duration(), c.duration(), c.duration()
		k.LocalPort, k.Requests = uint16(c.below(1<<16)), uint32(c.below(1<<32))
		k.Closed, k.Why = timeline.Time(c.varint()), Closing(c.below(1<<8))
		if c.err != nil {
			return c.err
		}
		l.Connections = append(l.Connections, k)
	}
	return c.err
}

// endEarly lets the log end where the first of its streams does: behind that,
// requests are missing.
func (l *Log) endEarly(streams int) {
	for i, s := range l.streams {
		last := timeline.Time(0)
		for r := l.reader(s[len(s)-1:]); r.next(); {
			last = r.end
		}
		if i == 0 || last < l.until {
			l.until = last
		}
	}
	l.n = 0
	if l.until > 0 && len(l.streams) >= streams {
		for range l.All() {
			l.n++
		}
	} else {
		l.streams, l.until = nil, 0
	}
	l.Elapsed = min(l.Elapsed, max(0, time.Duration(l.until)))
	l.RunDelay = nil // that is of the whole run
}
