package godebug

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// cursor reads one line field by field. The first mismatch makes it bad and
// every later read void, so that a parser reads all and checks once.
type cursor struct {
	b   []byte
	i   int
	bad bool
}

func isDigit(b byte) bool { return b-'0' <= 9 }

// lit demands the text s.
func (c *cursor) lit(s string) {
	if j := c.i + len(s); !c.bad && j <= len(c.b) && string(c.b[c.i:j]) == s {
		c.i = j
		return
	}
	c.bad = true
}

// has takes the text s if it comes next.
func (c *cursor) has(s string) bool {
	if j := c.i + len(s); !c.bad && j <= len(c.b) && string(c.b[c.i:j]) == s {
		c.i = j
		return true
	}
	return false
}

// arrow demands "->", which JSON log drivers write with an escaped ">".
func (c *cursor) arrow() {
	if !c.has("->") {
		c.lit(`-\u003e`)
	}
}

// digit tells whether a digit comes next.
func (c *cursor) digit() bool { return !c.bad && c.i < len(c.b) && isDigit(c.b[c.i]) }

// int reads a decimal integer with an optional minus sign.
func (c *cursor) int() int64 {
	neg := c.has("-")
	start, v := c.i, uint64(0)
	i := c.i
	for i < len(c.b) && isDigit(c.b[i]) {
		v = v*10 + uint64(c.b[i]-'0')
		i++
	}
	c.i = i
	// 18 digits always fit; the runtime prints longer ones only when it
	// prints a negative number as unsigned, which is no figure at all.
	if i == start || i-start > 18 {
		c.bad = true
	}
	if c.bad {
		return 0
	}
	if neg {
		return -int64(v)
	}
	return int64(v)
}

// int32 reads an integer that must fit in 31 bits.
func (c *cursor) int32() int {
	v := c.int()
	if v > math.MaxInt32 || v < math.MinInt32 {
		c.bad = true
		return 0
	}
	return int(v)
}

// scaled reads an integer in units of 1<<shift and returns the product.
func (c *cursor) scaled(shift uint) int64 {
	v := c.int()
	if v > math.MaxInt64>>shift || v < 0 {
		c.bad = true
		return 0
	}
	return v << shift
}

func (c *cursor) mega() int64 { return c.scaled(20) }
func (c *cursor) kilo() int64 { return c.scaled(10) }

// decimal reads digits with an optional fraction and returns the value times
// unit, a power of ten. Digits below a millionth of the unit are dropped: the
// runtime prints at most three.
func (c *cursor) decimal(unit int64) int64 {
	start, v := c.i, int64(0)
	b, i := c.b, c.i
	for i < len(b) && isDigit(b[i]) {
		v = v*10 + int64(b[i]-'0')
		if v > math.MaxInt64/10/unit {
			c.bad = true
			return 0
		}
		i++
	}
	if i == start {
		c.bad = true
		return 0
	}
	v *= unit
	if i < len(b) && b[i] == '.' {
		i++
		first := i
		for i < len(b) && isDigit(b[i]) {
			unit /= 10
			v += unit * int64(b[i]-'0')
			i++
		}
		if i == first {
			c.bad = true
		}
	}
	c.i = i
	return v
}

func (c *cursor) millis() time.Duration  { return time.Duration(c.decimal(1e6)) }
func (c *cursor) seconds() time.Duration { return time.Duration(c.decimal(1e9)) }

// float reads either spelling of a float: "+3.661532e-001" up to Go 1.25,
// "0.366153272443486" since Go 1.26, and "NaN" and "+Inf" in both.
func (c *cursor) float() float64 {
	start := c.i
	for c.i < len(c.b) && floatByte(c.b[c.i]) {
		// A sign ends the number unless it opens it or its exponent:
		// "0++2.5e-001" is two numbers joined by a plus.
		if s := c.b[c.i]; (s == '+' || s == '-') && c.i > start && c.b[c.i-1] != 'e' {
			break
		}
		c.i++
	}
	if c.bad || c.i-start > 30 {
		c.bad = true
		return 0
	}
	v, err := strconv.ParseFloat(string(c.b[start:c.i]), 64)
	if err != nil {
		c.bad = true
		return 0
	}
	return v
}

func floatByte(b byte) bool {
	switch b {
	case '+', '-', '.', 'e', 'I', 'n', 'f', 'N', 'a':
		return true
	}
	return isDigit(b)
}

// until reads a non-empty text up to the byte end, which is not consumed.
func (c *cursor) until(end byte) []byte {
	start := c.i
	for c.i < len(c.b) && c.b[c.i] != end {
		c.i++
	}
	if c.i == start || c.i == len(c.b) {
		c.bad = true
	}
	return c.b[start:c.i]
}

// ahead returns how far away the text s is, or -1 when it is not within the
// length that a wait reason may have.
func (c *cursor) ahead(s string) int {
	if c.bad {
		return -1
	}
	return bytes.Index(c.b[c.i:min(len(c.b), c.i+256)], []byte(s))
}

// id reads the number of a P, M or G; "nil" (since Go 1.20) is -1, as it was
// printed before.
func (c *cursor) id() int64 {
	if c.has("nil") {
		return -1
	}
	return c.int()
}

// flag reads a boolean, printed as 0 or 1 before Go 1.5 to 1.20.
func (c *cursor) flag() bool {
	switch {
	case c.has("true"), c.has("1"):
		return true
	case c.has("false"), c.has("0"):
		return false
	}
	c.bad = true
	return false
}

// done tells whether the runtime's text may end here: at the end of the line
// or where a log shipper closes the string that it wrapped around the line.
// Anything else means that the line is torn.
func (c *cursor) done() bool {
	if c.bad {
		return false
	}
	if c.i == len(c.b) {
		return true
	}
	switch c.b[c.i] {
	case '\\', '"', '\'', '`', '\r', 0x1b:
		return true
	}
	return false
}

// interner keeps one copy of each name, so that reading a long log does not
// allocate one string per goroutine and sample.
type interner map[string]string

// maxNames bounds the memory that hostile input can make an interner hold.
const maxNames = 4096

func (n *interner) get(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if s, ok := (*n)[string(b)]; ok {
		return s
	}
	s := string(b)
	if *n == nil {
		*n = make(interner)
	}
	if len(*n) < maxNames && len(s) <= 256 {
		(*n)[s] = s
	}
	return s
}
