package loadlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"loupe/value/timeline"
)

// magic1 begins a file of the first version of the format, which kept the
// requests in columns: docs/formats/load.md.
const magic1 = "loupe.load/1\n"

// columns1 are the columns of a chunk of the first version.
var columns1 = []struct {
	name string
	add  func(r *Request, v int64) error
}{
	{"begin", func(r *Request, v int64) error { r.Begin = timeline.Time(v); return nil }},
	{"service", duration1(func(r *Request) *time.Duration { return &r.Service })},
	{"dial", duration1(func(r *Request) *time.Duration { return &r.Dial })},
	{"dns", duration1(func(r *Request) *time.Duration { return &r.DNS })},
	{"write", duration1(func(r *Request) *time.Duration { return &r.Write })},
	{"wait", func(*Request, int64) error { return nil }}, // what the others leave
	{"read", duration1(func(r *Request) *time.Duration { return &r.Read })},
	{"status", small1(func(r *Request) *uint16 { return &r.Status })},
	{"bytes", func(r *Request, v int64) error { r.Bytes = v; return nil }},
	{"error", small1(func(r *Request) *uint16 { return &r.Error })},
	{"late", duration1(func(r *Request) *time.Duration { return &r.Late })},
}

func duration1(field func(*Request) *time.Duration) func(*Request, int64) error {
	return func(r *Request, v int64) error {
		if v < -int64(maxTime) || v > int64(maxTime) {
			return errRow
		}
		*field(r) = time.Duration(v)
		return nil
	}
}

func small1(field func(*Request) *uint16) func(*Request, int64) error {
	return func(r *Request, v int64) error {
		if v < 0 || v > math.MaxUint16 {
			return errRow
		}
		*field(r) = uint16(v)
		return nil
	}
}

// decode1 reads the chunks of a file of the first version.
func decode1(h Header, data []byte) (*Log, error) {
	var b Builder
	c, to := cursor{data: data}, b.Recorder()
	finish := func() *Log {
		l, _ := b.Log(h)
		l.Errors = h.Errors
		return l
	}
	for n := 1; len(c.data) > 0; n++ {
		rows, late, err := c.chunk1()
		if err != nil {
			l := finish()
			l.endEarly(len(l.streams))
			return l, fmt.Errorf("cannot read load log: chunk %d: %w", n, err)
		}
		h.Open = h.Open || late
		for i := range rows {
			to.Add(&rows[i])
		}
	}
	return finish(), nil
}

// chunk1 reads a chunk, and tells whether its requests had a schedule.
func (c *cursor) chunk1() (rows []Request, late bool, err error) {
	count, cols := c.uvarint(), c.uvarint()
	if c.err != nil {
		return nil, false, c.err
	}
	// Every request has at least one byte in each column.
	if count > uint64(len(c.data)) || count > 1<<24 || cols > 64 {
		return nil, false, fmt.Errorf("it claims %d requests in %d columns: %w", count, cols, ErrCut)
	}
	rows = make([]Request, count)
	seen := map[string]bool{}
	for range cols {
		name := string(c.bytes(c.uvarint()))
		body := c.bytes(c.uvarint())
		if c.err != nil {
			return nil, false, c.err
		}
		for _, col := range columns1 {
			if col.name != name || seen[name] {
				continue
			}
			seen[name] = true
			if err := column1(rows, col.add, body); err != nil {
				return nil, false, fmt.Errorf("column %s: %w", name, err)
			}
		}
	}
	if !seen["begin"] || !seen["service"] {
		return nil, false, errors.New("it lacks the column begin or service")
	}
	for i := range rows {
		if r := &rows[i]; r.Begin > maxTime || r.Begin < -maxTime {
			return nil, false, errRow
		}
	}
	return rows, seen["late"], nil
}

func column1(rows []Request, add func(*Request, int64) error, body []byte) error {
	value := int64(0)
	for i := range rows {
		d, n := binary.Varint(body)
		if n <= 0 {
			return ErrCut
		}
		body = body[n:]
		value += d
		if err := add(&rows[i], value); err != nil {
			return err
		}
	}
	if len(body) > 0 {
		return fmt.Errorf("%d bytes too many", len(body))
	}
	return nil
}
