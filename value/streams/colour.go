package streams

import "bytes"

// Plain takes the escape sequences of a terminal out of a text.
func Plain(text []byte) []byte {
	if bytes.IndexByte(text, 0x1b) < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if text[i] != 0x1b {
			n := bytes.IndexByte(text[i:], 0x1b)
			if n < 0 {
				n = len(text) - i
			}
			out = append(out, text[i:i+n]...)
			i += n
			continue
		}
		if n := EscapeLen(text[i:]); n > 0 {
			i += n
			continue
		}
		out = append(out, text[i])
		i++
	}
	return out
}

// EscapeLen is the length of the control sequence that text begins with, 0 for none.
func EscapeLen(text []byte) int {
	if len(text) < 3 || text[1] != '[' {
		return 0
	}
	for i := 2; i < len(text) && i < 34; i++ {
		switch c := text[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x3f:
			return 0
		}
	}
	return 0
}
