package symbol

import (
	"bytes"
	"strings"
)

// DebugLink is what a stripped ELF binary says of the file that its debug information
// was moved to (section .gnu_debuglink): the name, without a folder, and the CRC-32
// (IEEE) of the file. It is not ok where there is none.
func (b *Binary) DebugLink() (name string, crc uint32, ok bool) {
	s := b.img.section(".gnu_debuglink")
	if s == nil || s.size > 4<<10 {
		return "", 0, false
	}
	data, err := b.img.bytes(s.off, s.size)
	if err != nil {
		return "", 0, false
	}
	end := bytes.IndexByte(data, 0)
	at := (end + 1 + 3) &^ 3 // the name is filled up to a multiple of 4 bytes
	if end <= 0 || at+4 > len(data) {
		return "", 0, false
	}
	name = string(data[:end])
	if strings.ContainsAny(name, `/\`) || name == "." || name == ".." {
		return "", 0, false // a file beside the binary, nowhere else
	}
	return name, b.img.order.Uint32(data[at:]), true
}

// WithDebug tells where the debug information is that was taken out of the binary, as
// by objcopy --only-keep-debug: [Binary.Frames] asks it for what the binary itself does
// not know. Whether the two belong together is the caller's to see. It must be called
// before anybody uses the binary.
func (b *Binary) WithDebug(debug *Binary) { b.separate = debug }
