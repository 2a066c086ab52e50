package profile

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
)

// textProfile is the state while one of the text forms is read whose samples
// are numbers and addresses: heap, count, contention. Comments that Go puts
// below a sample (debug=1) are kept as its symbols and labels.
type textProfile struct {
	*builder
	lines
	compat bool
	debug  debugText

	addrs  []uint64 // scratch
	values []int64
	wire   []byte
	locs   []uint32
}

func newTextProfile(data []byte, opt Options) *textProfile {
	return &textProfile{lines: lines{rest: data}, compat: opt.Compat}
}

// begin sets what the samples count.
func (t *textProfile) begin(types ...ValueType) {
	t.builder = newBuilder(types...)
	t.debug.b = t.builder
}

// remark takes in a comment or a blank line.
func (t *textProfile) remark() error {
	if t.compat {
		return nil
	}
	if err := t.debug.comment(bytes.TrimSpace(t.line)); err != nil {
		return t.bad("%w", err)
	}
	return nil
}

// emit adds a sample. Addresses are those of the next instruction after each
// call; one less is in the call. The sample is finished when the comments
// below it have been read.
func (t *textProfile) emit(addrs []uint64, blocksize int64, values ...int64) {
	t.wire = t.wire[:0]
	if blocksize != 0 {
		t.wire = t.number(t.wire, "bytes", blocksize, "")
	}
	if !t.compat {
		t.debug.flush()
		t.debug.begin(addrs, t.wire, values)
		return
	}
	t.locs = t.locs[:0]
	for _, a := range addrs {
		t.locs = append(t.locs, t.at(a-1))
	}
	t.sample(t.locs, t.wire, values...)
}

// finish reads what follows the samples and builds the profile.
func (t *textProfile) finish() (*Profile, error) {
	if !t.compat {
		t.debug.flush()
	}
	for !isMapTitle(t.line) && t.next() {
		if isRemark(t.line) { // runtime.MemStats stand behind a section at times
			if err := t.remark(); err != nil {
				return nil, err
			}
		}
	}
	if err := t.builder.mappings.read(&t.lines); err != nil {
		return nil, err
	}
	t.numberLocations()
	if err := t.placeLocations(); err != nil {
		return nil, err
	}
	t.interesting(t.debug.symbols)
	if t.debug.symbols {
		for i := range t.mappings {
			m := &t.mappings[i]
			m.HasFunctions, m.HasFilenames, m.HasLineNumbers = true, true, true
		}
	}
	stats := t.debug.stats
	p, err := t.builder.profile()
	if err != nil {
		return nil, err
	}
	p.MemStats = stats
	return p, nil
}

var hexNumber = regexp.MustCompile(`0x[0-9a-f]+`)

// hexNumbers returns all addresses in a piece of text.
func hexNumbers(list []uint64, s []byte) ([]uint64, error) {
	for _, m := range hexNumber.FindAll(s, -1) {
		v, err := strconv.ParseUint(string(m[2:]), 16, 64)
		if err != nil {
			return list, fmt.Errorf("%s is not an address of 64 bits", m)
		}
		list = append(list, v)
	}
	return list, nil
}

var countTitle = regexp.MustCompile(`^(\S+) profile: total \d+$`)

// maxTitle is more than the first line of a profile has. What is no text may have a
// line of a hundred megabytes, in which nobody looks for a title.
const maxTitle = 4 << 10

// decodeCount reads the profiles of Go that count stacks: goroutine,
// threadcreate, and those of pprof.NewProfile.
func decodeCount(data []byte, opt Options) (*Profile, error) {
	t := newTextProfile(data, opt)
	for t.next() && isRemark(t.line) {
	}
	var m [][]byte
	if len(t.line) <= maxTitle {
		m = countTitle.FindSubmatch(t.line)
	}
	if m == nil {
		return nil, errOther
	}
	typ := ValueType{string(m[1]), "count"}
	t.begin(typ)
	t.periodType = typ
	for t.next() {
		if isRemark(t.line) {
			if err := t.remark(); err != nil {
				return nil, err
			}
			continue
		}
		if bytes.HasPrefix(t.line, []byte("---")) {
			break
		}
		s := scanner{b: t.line}
		n := s.int(false)
		s.spaces(1)
		s.lit('@')
		t.addrs = s.addresses(t.addrs[:0])
		if s.failed {
			return nil, t.bad("want a number, @ and addresses")
		}
		t.emit(t.addrs, 0, n)
	}
	return t.finish()
}

var contentionSample = regexp.MustCompile(`(\d+) *(\d+) @([ x0-9a-f]*)`)

// decodeContention reads the block and mutex profiles of Go and contentionz of
// C++. The Java variant has attributes of its own and is left to decodeJava.
func decodeContention(data []byte, opt Options) (*Profile, error) {
	t := newTextProfile(data, opt)
	if !t.next() {
		return nil, errOther
	}
	switch l := t.line; {
	case bytes.HasPrefix(l, []byte("--- contentionz ")), bytes.HasPrefix(l, []byte("--- mutex:")),
		bytes.HasPrefix(l, []byte("--- contention:")):
	default:
		return nil, errOther
	}
	t.begin(ValueType{"contentions", "count"}, ValueType{"delay", "nanoseconds"})
	t.periodType = t.types[0]
	hz, err := t.contentionHeader()
	if err != nil {
		return nil, err
	}
	for more := t.line != nil; more; more = t.next() {
		line := bytes.TrimSpace(t.line)
		if bytes.HasPrefix(line, []byte("---")) {
			break
		}
		if isRemark(line) {
			if err := t.remark(); err != nil {
				return nil, err
			}
			continue
		}
		delay, count, err := t.contention(line)
		if err != nil {
			return nil, err
		}
		// Delays are in cycles, and one in so many contentions was taken.
		if t.period > 0 {
			if hz > 0 {
				delay = int64(float64(delay) * float64(t.period) / (float64(hz) / 1e9))
			}
			count *= t.period
		}
		t.emit(t.addrs, 0, count, delay)
	}
	return t.finish()
}

// contentionHeader reads the attributes up to the first sample, which is the
// current line then.
func (t *textProfile) contentionHeader() (hz int64, err error) {
	for t.next() {
		line := bytes.TrimSpace(t.line)
		if isRemark(line) {
			continue
		}
		if bytes.HasPrefix(line, []byte("---")) {
			return hz, nil
		}
		key, value, ok := bytes.Cut(line, []byte("="))
		if !ok {
			return hz, nil
		}
		var n int64
		switch string(bytes.TrimSpace(key)) {
		case "cycles/second":
			hz, err = parseInt(value)
		case "sampling period":
			t.period, err = parseInt(value)
		case "ms since reset":
			n, err = parseInt(value)
			t.setMilliseconds(n)
		case "discarded samples":
		case "format", "resolution":
			return 0, errOther // of Java
		default:
			return 0, t.bad("want one of cycles/second, sampling period, ms since reset, discarded samples")
		}
		if err != nil {
			return 0, t.bad("%w", err)
		}
	}
	return hz, nil
}

func parseInt(s []byte) (int64, error) {
	return strconv.ParseInt(string(bytes.TrimSpace(s)), 0, 64)
}

func (t *textProfile) contention(line []byte) (delay, count int64, err error) {
	s := scanner{b: line}
	delay = s.int(false)
	s.spaces(1)
	count = s.int(false)
	s.lit(' ')
	s.lit('@')
	if t.addrs = s.addresses(t.addrs[:0]); !s.failed {
		return delay, count, nil
	}
	m := contentionSample.FindSubmatch(line)
	if m == nil {
		return 0, 0, t.bad("want cycles, a number, @ and addresses")
	}
	if delay, err = strconv.ParseInt(string(m[1]), 10, 64); err == nil {
		count, err = strconv.ParseInt(string(m[2]), 10, 64)
	}
	if err == nil {
		t.addrs, err = hexNumbers(t.addrs[:0], m[3])
	}
	if err != nil {
		return 0, 0, t.bad("%w", err)
	}
	return delay, count, nil
}
