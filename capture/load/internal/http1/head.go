package http1

import (
	"bytes"
	"math"
)

// read makes h the header block b, which ends with its empty line. After an
// error h matches nothing.
func (h *Head) read(b []byte) error {
	*h = Head{block: append(h.block[:0], b...), length: -1}
	err := h.parse()
	if err != nil {
		h.block, h.location = h.block[:0], span{}
	}
	return err
}

// parse reads the block.
func (h *Head) parse() error {
	line, at := cutLine(h.block, 0)
	major, minor, err := h.statusLine(line)
	if err != nil {
		return err
	}
	text := unfold(h.block, at)
	connection := token(0)
	encodings, lengths := 0, 0
	for {
		from := at
		line, at = cutLine(text, at)
		if len(line) == 0 {
			break
		}
		colon := bytes.IndexByte(line, ':')
		if colon < 0 {
			return ErrHeader
		}
		value := bytes.Trim(line[colon+1:], " \t")
		switch {
		case is(line[:colon], "content-length"):
			n, ok := parseLength(value)
			if lengths++; !ok || lengths > 1 && n != h.length {
				return ErrLength
			}
			h.length = n
		case is(line[:colon], "transfer-encoding"):
			if encodings++; major == 1 && minor == 0 || major < 1 {
				continue // it has no meaning there, and net/http takes it for nothing
			}
			if h.chunked = is(value, "chunked"); !h.chunked || encodings > 1 {
				return ErrEncoding
			}
		case is(line[:colon], "connection"):
			connection |= tokens(value)
		case is(line[:colon], "location") && h.location == span{}:
			end := from + len(line)
			for end > from && (text[end-1] == ' ' || text[end-1] == '\t') {
				end--
			}
			h.location = span{end - len(value), end}
		}
	}
	if h.chunked {
		h.length = -1
	}
	h.close = connection&hasClose != 0 || major < 1 || major == 1 && minor == 0 && connection&hasKeepAlive == 0
	return nil
}

// statusLine reads "HTTP/1.1 200 OK".
func (h *Head) statusLine(b []byte) (major, minor byte, err error) {
	if len(b) < 12 || string(b[:5]) != "HTTP/" || b[6] != '.' || b[8] != ' ' || !digit(b[5]) || !digit(b[7]) {
		return 0, 0, ErrStatusLine
	}
	code := bytes.TrimLeft(b[9:], " ")
	if len(code) < 3 || !digit(code[0]) || !digit(code[1]) || !digit(code[2]) || len(code) > 3 && code[3] != ' ' {
		return 0, 0, ErrStatusLine
	}
	h.status = int(code[0]-'0')*100 + int(code[1]-'0')*10 + int(code[2]-'0')
	return b[5] - '0', b[7] - '0', nil
}

// unfold returns the block with lines that go on in the next one, which begins
// with a blank then (RFC 9112, section 5.2), made one. No one sends such any
// more, so that the copy is no cost.
func unfold(block []byte, from int) []byte {
	var out []byte
	for i := from; i+1 < len(block); i++ {
		if block[i] != '\n' || block[i+1] != ' ' && block[i+1] != '\t' {
			continue
		}
		if out == nil {
			out = bytes.Clone(block)
		}
		out[i] = ' '
		if out[i-1] == '\r' {
			out[i-1] = ' '
		}
	}
	if out == nil {
		return block
	}
	return out
}

// cutLine returns the line at a place without its end, and where the next one
// begins. The block has an empty last line, which is not gone beyond.
func cutLine(b []byte, at int) (line []byte, next int) {
	i := bytes.IndexByte(b[at:], '\n')
	if i < 0 {
		return nil, len(b)
	}
	line, next = b[at:at+i], at+i+1
	if i > 0 && line[i-1] == '\r' {
		line = line[:i-1]
	}
	return line, next
}

// is compares without regard to case; want is in lower case. A letter differs
// from its capital in one bit.
func is(b []byte, want string) bool {
	if len(b) != len(want) {
		return false
	}
	for i, c := range b {
		if c != want[i] && (c < 'A' || c > 'Z' || c|0x20 != want[i]) {
			return false
		}
	}
	return true
}

// token is a set of words of the Connection header.
type token uint8

const (
	hasClose token = 1 << iota
	hasKeepAlive
)

// tokens finds the words of a list that matter.
func tokens(list []byte) (t token) {
	for len(list) > 0 {
		word := list
		if i := bytes.IndexByte(list, ','); i >= 0 {
			word, list = list[:i], list[i+1:]
		} else {
			list = nil
		}
		word = bytes.Trim(word, " \t")
		switch {
		case is(word, "close"):
			t |= hasClose
		case is(word, "keep-alive"):
			t |= hasKeepAlive
		}
	}
	return t
}

func parseLength(b []byte) (n int64, ok bool) {
	for _, c := range b {
		if !digit(c) || n > (math.MaxInt64-9)/10 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, len(b) > 0
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
