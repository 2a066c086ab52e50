package explain

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"loupe/format/dump"
	"loupe/format/symbol"
)

// process is what the addresses of a program lead to: by its binary to variables,
// functions, types and constants, by its memory to everything (memory.go).
type process struct {
	bin      *symbol.Binary                      // nil for none
	mem      func(addr uint64, buf []byte) error // nil for none
	slide    slide
	wordSize int // in bytes
}

// linked turns an address of the process into one of the binary.
func (p *process) linked(addr uint64) (uint64, bool) {
	if p.bin == nil || !p.slide.known || addr < p.slide.by {
		return 0, false
	}
	return addr - p.slide.by, true
}

// pointer tells where a pointer leads, where the binary knows it.
func (p *process) pointer(addr uint64) string {
	if addr == 0 {
		return "nil"
	}
	if at, ok := p.linked(addr); ok {
		if s, ok := p.bin.SymbolAt(at); ok && !s.IsText() && isVariable(s.Name) {
			if at == s.Addr {
				return "&" + s.Name
			}
			return fmt.Sprintf("&%s + %d bytes", s.Name, at-s.Addr)
		}
	}
	return "0x" + strconv.FormatUint(addr, 16)
}

// isVariable tells that a symbol is one of the source, and none that the linker
// has put many things into.
func isVariable(name string) bool {
	i := strings.LastIndexByte(name, '/') + 1
	pkg, rest, ok := strings.Cut(name[i:], ".")
	if !ok || pkg == "" || rest == "" || strings.ContainsAny(rest, "·*") || strings.Contains(name, ":") {
		return false
	}
	switch {
	case pkg == "go" || pkg == "type": // until Go 1.19
		return false
	case pkg == "runtime":
		switch rest {
		case "types", "etypes", "rodata", "erodata", "data", "edata", "noptrdata", "enoptrdata", "bss", "ebss", "noptrbss", "enoptrbss", "gcdata", "gcbss", "end", "text", "etext", "pclntab", "epclntab":
			return false
		}
	}
	return !strings.HasPrefix(rest, "..") // what a literal was put into
}

// function tells which function a func value is.
func (p *process) function(addr uint64) string {
	if addr == 0 {
		return "nil"
	}
	if at, ok := p.linked(addr); ok {
		if f, ok := p.bin.FuncValueAt(at); ok {
			return f.Name
		}
	}
	return "closure at 0x" + strconv.FormatUint(addr, 16)
}

// scalar tells a value of one word, for a pointer where it leads. odd tells that the
// type has no such value.
func (p *process) scalar(t *symbol.Type, word uint64) (text string, odd bool) {
	bits := uint(64)
	if 0 < t.Size && t.Size < 8 {
		bits = uint(8 * t.Size)
	}
	switch t.Kind {
	case symbol.Bool:
		return strconv.FormatBool(word == 1), word > 1
	case symbol.Int:
		n := int64(word<<(64-bits)) >> (64 - bits)
		if t.Name == "time.Duration" {
			return time.Duration(n).String(), false
		}
		return strconv.FormatInt(n, 10), false
	case symbol.Uint:
		if t.Name == "uintptr" {
			return hex(dump.Arg{Value: word}), false
		}
		return strconv.FormatUint(word, 10), false
	case symbol.Float:
		return float(word, t.Size), false
	case symbol.FuncValue:
		return p.function(word), false
	case symbol.Pointer, symbol.Chan, symbol.Map:
		return p.pointer(word), false
	}
	return hex(dump.Arg{Value: word}), false
}

func float(bits uint64, size int64) string {
	if size == 4 {
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(bits))), 'g', -1, 32)
	}
	return strconv.FormatFloat(math.Float64frombits(bits), 'g', -1, 64)
}

// maxString is how many bytes of a string are shown.
const maxString = 200

// constant reads the text of a string out of the binary.
func (p *process) constant(addr, n uint64) (string, bool) {
	if n == 0 {
		return `""`, true
	}
	at, ok := p.linked(addr)
	if !ok || n > 1<<30 {
		return "", false
	}
	// All of it must be there for it to be a constant.
	if _, ok := p.bin.ReadOnly(at+n-1, 1); !ok {
		return "", false
	}
	data, ok := p.bin.ReadOnly(at, int(min(n, maxString)))
	if !ok {
		return "", false
	}
	return quoted(data, n), true
}

// quoted is a text of n bytes, of which data has as many as are shown.
func quoted(data []byte, n uint64) string {
	if n <= maxString {
		return strconv.Quote(string(data))
	}
	for len(data) > maxString-utf8.UTFMax && !utf8.Valid(data) {
		data = data[:len(data)-1]
	}
	return fmt.Sprintf("%s… (%d bytes)", strconv.Quote(string(data)), n)
}

// dynamic returns the type of the value in an interface.
func (p *process) dynamic(t *symbol.Type, word uint64) (symbol.TypeInfo, bool) {
	at, ok := p.linked(word)
	if !ok {
		return symbol.TypeInfo{}, false
	}
	if t.Kind == symbol.Any {
		return p.bin.TypeAt(at)
	}
	return p.bin.TableAt(at)
}

// boxed reads a value that the compiler has put into the program: a constant that
// was passed as an interface.
func (p *process) boxed(info symbol.TypeInfo, addr uint64) (text string, odd, known bool) {
	at, ok := p.linked(addr)
	if !ok {
		return "", false, false
	}
	if info.Kind == symbol.String {
		ptr, ok := p.bin.Word(at)
		n, ok2 := p.bin.Word(at + uint64(p.wordSize))
		if !ok || !ok2 || ptr == 0 {
			return "", false, false
		}
		text, known = p.constant(ptr+p.slide.by, n)
		return text, false, known
	}
	switch info.Kind {
	case symbol.Bool, symbol.Int, symbol.Uint, symbol.Float:
	default:
		return "", false, false
	}
	if info.Size == 0 || info.Size > 8 {
		return "", false, false
	}
	data, ok := p.bin.ReadOnly(at, int(info.Size))
	if !ok {
		return "", false, false
	}
	var bits uint64
	for i, b := range data {
		if p.bin.BigEndian() {
			bits = bits<<8 | uint64(b)
		} else {
			bits |= uint64(b) << (8 * i)
		}
	}
	t := &symbol.Type{Name: info.Name, Kind: info.Kind, Size: int64(info.Size)}
	text, odd = p.scalar(t, bits)
	return text, odd, true
}
