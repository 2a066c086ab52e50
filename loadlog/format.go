package loadlog

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"loupe/timeline"
)

// magic begins every file.
const magic = Schema + "\n"

// chunkRequests is how many requests one chunk holds: few enough to be read
// into memory at once, enough for the columns to be worth their headers.
const chunkRequests = 8192

// column describes how one column is written. The order is the format.
type column struct {
	name string
	get  func(l *Log, i int) int64
	add  func(l *Log, v int64) error
}

func durations(name string, field func(l *Log) *[]time.Duration) column {
	return column{name,
		func(l *Log, i int) int64 { return int64((*field(l))[i]) },
		func(l *Log, v int64) error {
			*field(l) = append(*field(l), time.Duration(v))
			return nil
		},
	}
}

func small(name string, field func(l *Log) *[]uint16) column {
	return column{name,
		func(l *Log, i int) int64 { return int64((*field(l))[i]) },
		func(l *Log, v int64) error {
			if v < 0 || v > math.MaxUint16 {
				return fmt.Errorf("%s %d is out of range", name, v)
			}
			*field(l) = append(*field(l), uint16(v))
			return nil
		},
	}
}

// columns is the table of the format. A reader skips columns that it does not
// know, so new ones go to the end.
var columns = []column{
	{"begin", func(l *Log, i int) int64 { return int64(l.Begin[i]) }, func(l *Log, v int64) error {
		l.Begin = append(l.Begin, timeline.Time(v))
		return nil
	}},
	durations("service", func(l *Log) *[]time.Duration { return &l.Service }),
	durations("dial", func(l *Log) *[]time.Duration { return &l.Dial }),
	durations("dns", func(l *Log) *[]time.Duration { return &l.DNS }),
	durations("write", func(l *Log) *[]time.Duration { return &l.Write }),
	durations("wait", func(l *Log) *[]time.Duration { return &l.Wait }),
	durations("read", func(l *Log) *[]time.Duration { return &l.Read }),
	small("status", func(l *Log) *[]uint16 { return &l.Status }),
	{"bytes", func(l *Log, i int) int64 { return l.Bytes[i] }, func(l *Log, v int64) error {
		l.Bytes = append(l.Bytes, v)
		return nil
	}},
	small("error", func(l *Log) *[]uint16 { return &l.Error }),
	durations("late", func(l *Log) *[]time.Duration { return &l.Late }),
}

// absent tells that a column of l is not kept.
func absent(l *Log, name string) bool { return name == "late" && l.Late == nil }

// Encode writes the log. The values of a column are written as differences
// to the one before in zigzag varints: 22 bytes a request in a run of the demo.
func (l *Log) Encode(w io.Writer) error {
	head := l.Header
	head.Schema = Schema
	text, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("BUG: cannot encode the header: %w", err)
	}
	out := append([]byte(magic), text...)
	out = append(out, '\n')
	if _, err := w.Write(out); err != nil {
		return err
	}
	var body []byte
	for from := 0; from < l.Len(); from += chunkRequests {
		to := min(from+chunkRequests, l.Len())
		out = binary.AppendUvarint(out[:0], uint64(to-from))
		kept := 0
		for _, c := range columns {
			if !absent(l, c.name) {
				kept++
			}
		}
		out = binary.AppendUvarint(out, uint64(kept))
		for _, c := range columns {
			if absent(l, c.name) {
				continue
			}
			body = body[:0]
			last := int64(0)
			for i := from; i < to; i++ {
				v := c.get(l, i)
				body = binary.AppendVarint(body, v-last)
				last = v
			}
			out = binary.AppendUvarint(out, uint64(len(c.name)))
			out = append(out, c.name...)
			out = binary.AppendUvarint(out, uint64(len(body)))
			out = append(out, body...)
		}
		if _, err := w.Write(out); err != nil {
			return err
		}
	}
	return nil
}

// ErrCut is wrapped by the error of a file that ends in the middle of a
// chunk; what came before is returned with it.
var ErrCut = errors.New("the file ends early")

// Decode reads a log. When the file was cut off, the whole chunks before the
// cut are returned together with an error that wraps [ErrCut]. Such a log ends
// with the last request that it holds: rates over its Elapsed are true.
func Decode(data []byte) (*Log, error) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		return nil, fmt.Errorf("cannot read load log: it does not begin with %q", Schema)
	}
	head, rest, ok := bytes.Cut(rest, []byte("\n"))
	l := &Log{}
	if !ok {
		return nil, fmt.Errorf("cannot read load log: no header line: %w", ErrCut)
	}
	if err := json.Unmarshal(head, &l.Header); err != nil {
		return nil, fmt.Errorf("cannot read load log: header: %w", err)
	}
	c := cursor{data: rest}
	for chunk := 1; len(c.data) > 0; chunk++ {
		good := *l
		if err := c.chunk(l); err != nil {
			good.endEarly()
			return &good, fmt.Errorf("cannot read load log: chunk %d: %w", chunk, err)
		}
	}
	return l, nil
}

// endEarly lets the log end with its last request. Requests are in the order in
// which they ended, so that none of those before is missing.
func (l *Log) endEarly() {
	end := time.Duration(0)
	if n := l.Len(); n > 0 {
		end = time.Duration(l.Span(n - 1).End)
	}
	l.Elapsed = min(l.Elapsed, max(0, end))
}

// cursor reads varints and remembers the first failure.
type cursor struct {
	data []byte
	err  error
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.data)
	if n <= 0 {
		c.fail()
		return 0
	}
	c.data = c.data[n:]
	return v
}

func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.data)) {
		c.fail()
		return nil
	}
	b := c.data[:n]
	c.data = c.data[n:]
	return b
}

func (c *cursor) fail() {
	if c.err == nil {
		c.err = ErrCut
	}
	c.data = nil
}

// chunk reads one chunk into l. Columns that the chunk does not have are
// filled with zeros, so that all stay of one length.
func (c *cursor) chunk(l *Log) error {
	count, cols := c.uvarint(), c.uvarint()
	if c.err != nil {
		return c.err
	}
	// Every request has at least one byte in each column.
	if count > uint64(len(c.data)) || count > 1<<24 || cols > 64 {
		return fmt.Errorf("it claims %d requests in %d columns: %w", count, cols, ErrCut)
	}
	before := l.Len()
	seen := map[string]bool{}
	for range cols {
		name := string(c.bytes(c.uvarint()))
		body := c.bytes(c.uvarint())
		if c.err != nil {
			return c.err
		}
		for _, col := range columns {
			if col.name != name || seen[name] {
				continue
			}
			seen[name] = true
			if name == "late" {
				for len(l.Late) < before {
					l.Late = append(l.Late, 0)
				}
			}
			if err := readColumn(l, col, body, count); err != nil {
				return err
			}
		}
	}
	if !seen["begin"] || !seen["service"] {
		return errors.New("it lacks the column begin or service")
	}
	for _, col := range columns {
		if seen[col.name] || col.name == "late" && l.Late == nil {
			continue
		}
		for range count {
			if err := col.add(l, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

func readColumn(l *Log, col column, body []byte, count uint64) error {
	value := int64(0)
	for range count {
		d, n := binary.Varint(body)
		if n <= 0 {
			return fmt.Errorf("column %s: %w", col.name, ErrCut)
		}
		body = body[n:]
		value += d
		if err := col.add(l, value); err != nil {
			return fmt.Errorf("column %s: %w", col.name, err)
		}
	}
	if len(body) > 0 {
		return fmt.Errorf("column %s: %d bytes too many", col.name, len(body))
	}
	return nil
}
