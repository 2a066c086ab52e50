package profile

import (
	"bytes"
	"errors"

	"loupe/value/protobuf"
)

// Looks tells by the begin of a file, some kilobytes of it, whether it is a profile of
// any kind that [Decode] reads, unpacked. Of a text the last line may be cut. It is for
// telling profiles from other files: whether all of it can be read, it does not say.
func Looks(head []byte) bool {
	// The fields of a message have tags and lengths that no text has.
	if !isText(string(head[:min(len(head), 512)])) && looksProto(head) {
		return true
	}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	whole := head
	if isText(string(head[:min(len(head), 512)])) {
		if i := bytes.LastIndexByte(head, '\n'); i > 0 {
			whole = head[:i+1]
		}
		if start := bytes.TrimLeft(head, " \t\r\n"); len(start) > 0 && start[0] == '{' {
			// The frames of a speedscope file may be longer than its begin, and so may the
			// nodes of a profile of V8.
			v8 := bytes.Contains(start, []byte(`"nodes"`)) && bytes.Contains(start, []byte(`"callFrame"`))
			return v8 || looksChrome(start) || bytes.Contains(start, []byte(`"shared"`)) || bytes.Contains(start, []byte(speedscopeSchema))
		}
		if looksChrome(head) {
			return true
		}
	}
	for _, f := range foreign {
		_, err := f.decode(whole, Options{})
		switch {
		case err == nil:
			return true
		case !errors.Is(err, errOther):
			// A folded stack is any line with a number at its end: one is no proof.
			return f.name != "folded stacks"
		}
	}
	return false
}

// looksProto tells whether bytes begin with fields of a profile.proto.
func looksProto(head []byte) bool {
	c := protobuf.Cursor{Buf: head}
	known := 0
	for c.Step() {
		if c.Number == 0 {
			return false
		}
		if c.Number > 0 && c.Number < len(fieldNames) {
			if checkTop(&c) != nil {
				return false
			}
			known++
		}
	}
	if c.Bad() && c.Type > protobuf.Bytes && c.Type != protobuf.Fixed32 {
		return false
	}
	return known > 0
}
