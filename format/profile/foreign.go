package profile

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// errOther is what a decoder says of data in another format than its own.
var errOther = errors.New("unrecognized format")

// foreign are the formats besides profile.proto, in the order in which they
// are tried. Each decoder knows its own format by the beginning of the data;
// folded stacks have none and come last.
var foreign = []struct {
	name   string
	decode func(data []byte, opt Options) (*Profile, error)
}{
	{"perf.data file", decodePerfData}, // before binary formats without a mark
	{"binary CPU profile", decodeCPU},
	{"heap profile in text form", decodeHeap},
	{"heap profile of jemalloc", decodeJemalloc},
	{"count profile in text form", decodeCount},
	{"threadz", decodeThreads},
	{"contention profile in text form", decodeContention},
	{"Java profile", decodeJava},
	{"speedscope file", decodeSpeedscope},
	{"CPU profile of V8", decodeV8},
	{"Chrome trace", decodeChrome},
	{"goroutine dump", decodeDump},
	{"perf script", decodePerf},
	{"folded stacks", decodeFolded},
}

// decodeForeign decodes data that is no profile.proto. It returns errOther when
// the data is none of the others either.
func decodeForeign(data []byte, opt Options) (*Profile, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // a mark that editors leave
	for _, f := range foreign {
		p, err := f.decode(data, opt)
		switch {
		case err == nil:
			return p, nil
		case !errors.Is(err, errOther):
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil, errOther
}

// lines walks the lines of a text, without their ends.
type lines struct {
	rest []byte
	line []byte
	n    int    // number of the line, from 1
	from []byte // line and rest
}

func (l *lines) next() bool {
	l.from = l.rest
	if len(l.rest) == 0 {
		l.line = nil
		return false
	}
	l.n++
	end := bytes.IndexByte(l.rest, '\n')
	if end < 0 {
		l.line, l.rest = l.rest, nil
	} else {
		l.line, l.rest = l.rest[:end], l.rest[end+1:]
	}
	if n := len(l.line); n > 0 && l.line[n-1] == '\r' {
		l.line = l.line[:n-1]
	}
	return true
}

// back undoes the last next.
func (l *lines) back() {
	if len(l.from) > 0 {
		l.rest = l.from
		l.n--
	}
}

// terminated says whether the current line has an end.
func (l *lines) terminated() bool {
	return len(l.rest) < len(l.from) && l.from[len(l.from)-len(l.rest)-1] == '\n'
}

// bad returns an error with the number and the text of the line.
func (l *lines) bad(format string, args ...any) error {
	return fmt.Errorf("line %d: %s: %w", l.n, quoted(l.line), fmt.Errorf(format, args...))
}

// quoted shows a piece of the input in an error.
func quoted(s []byte) string {
	if len(s) > 60 {
		return strconv.Quote(string(s[:60])) + "…"
	}
	return strconv.Quote(string(s))
}

// isRemark says whether the line is blank or begins with '#'.
func isRemark(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}

// scanner reads the parts of one line from left to right. A part that is not
// there makes it fail, once and for all.
type scanner struct {
	b      []byte
	failed bool
}

// lit reads this very byte.
func (s *scanner) lit(c byte) {
	if len(s.b) == 0 || s.b[0] != c {
		s.failed = true
		return
	}
	s.b = s.b[1:]
}

// spaces skips spaces, at least min of them.
func (s *scanner) spaces(min int) {
	n := 0
	for n < len(s.b) && s.b[n] == ' ' {
		n++
	}
	s.failed = s.failed || n < min
	s.b = s.b[n:]
}

// int reads a decimal number of up to 18 digits, with a sign if it may.
func (s *scanner) int(signed bool) int64 {
	i, neg := 0, false
	if signed && len(s.b) > 0 && s.b[0] == '-' {
		i, neg = 1, true
	}
	from, v := i, int64(0)
	for i < len(s.b) && '0' <= s.b[i] && s.b[i] <= '9' {
		v = 10*v + int64(s.b[i]-'0') // what overflows is too long
		i++
	}
	if i == from || i-from > 18 {
		s.failed = true
	}
	s.b = s.b[i:]
	if neg {
		return -v
	}
	return v
}

// hex reads 0x and up to 16 digits in lower case.
func (s *scanner) hex() (v uint64) {
	if len(s.b) < 3 || s.b[0] != '0' || s.b[1] != 'x' {
		s.failed = true
		return 0
	}
	i := 2
	for ; i < len(s.b); i++ {
		c := s.b[i]
		switch {
		case '0' <= c && c <= '9':
			v = v<<4 | uint64(c-'0')
		case 'a' <= c && c <= 'f':
			v = v<<4 | uint64(c-'a'+10)
		default:
			s.failed = s.failed || i == 2
			s.b = s.b[i:]
			return v
		}
		if i > 17 {
			s.failed = true
		}
	}
	s.failed = s.failed || i == 2
	s.b = nil
	return v
}

// addresses reads numbers in hexadecimal, each after one space, to the end.
func (s *scanner) addresses(list []uint64) []uint64 {
	for len(s.b) > 0 && !s.failed {
		s.lit(' ')
		list = append(list, s.hex())
	}
	return list
}
