package explain

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"loupe/format/symbol"
)

// Bounds of what is told of memory: a parameter is one line.
const (
	maxElements   = 8   // of a slice, of an array, fields of a struct
	maxMemory     = 300 // bytes of text
	maxFollowed   = 2   // structs within structs
	maxStoredSize = 64 << 10
)

// peek reads memory of the program.
func (p *process) peek(addr, n uint64) ([]byte, bool) {
	if p.mem == nil || addr == 0 || n > maxStoredSize {
		return nil, false
	}
	buf := make([]byte, n)
	return buf, p.mem(addr, buf) == nil
}

func (p *process) peekWord(addr uint64) (uint64, bool) {
	b, ok := p.peek(addr, 8)
	if !ok || p.wordSize != 8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}

// behind tells what a pointer leads to, or how many elements a map or a channel
// has; "" where memory does not tell.
func (p *process) behind(t *symbol.Type, addr uint64) string {
	if p.mem == nil || addr == 0 {
		return ""
	}
	switch t.Kind {
	case symbol.Chan:
		// The first words of runtime.hchan: in it, and room for.
		n, ok1 := p.peekWord(addr)
		room, ok2 := p.peekWord(addr + 8)
		if ok1 && ok2 && n <= room {
			return fmt.Sprintf(": %d of %d in it", n, room)
		}
	case symbol.Map:
		// Both kinds of map begin with how many entries there are.
		if n, ok := p.peekWord(addr); ok && n < 1<<40 {
			return fmt.Sprintf(": len %d", n)
		}
	case symbol.Pointer:
		to, ok := p.bin.Leads(t)
		if !ok || to.Size <= 0 {
			return ""
		}
		if data, ok := p.peek(addr, uint64(to.Size)); ok {
			return ": " + clipped(p.stored(to, data, 0))
		}
	}
	return ""
}

// elements tells the first elements of a slice.
func (p *process) elements(t *symbol.Type, addr, n uint64) string {
	if p.mem == nil || n == 0 {
		return ""
	}
	to, ok := p.bin.Leads(t)
	if !ok || to.Size <= 0 || to.Size > maxStoredSize/maxElements {
		return ""
	}
	if to.Kind == symbol.Uint && to.Size == 1 {
		if text, ok := p.storedText(addr, n); ok {
			return ": " + text
		}
		return ""
	}
	few := min(n, maxElements)
	data, ok := p.peek(addr, few*uint64(to.Size))
	if !ok {
		return ""
	}
	return ": " + clipped(p.list(to, data, n))
}

// list tells values that lie one behind the other, the first of n.
func (p *process) list(t *symbol.Type, data []byte, n uint64) string {
	var parts []string
	for i := int64(0); i < int64(n) && (i+1)*t.Size <= int64(len(data)) && i < maxElements; i++ {
		parts = append(parts, p.stored(t, data[i*t.Size:(i+1)*t.Size], 1))
	}
	if uint64(len(parts)) < n {
		parts = append(parts, "…")
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// storedText reads the text of a string.
func (p *process) storedText(addr, n uint64) (string, bool) {
	if n == 0 {
		return `""`, p.mem != nil
	}
	if n > 1<<40 {
		return "", false
	}
	data, ok := p.peek(addr, min(n, maxString))
	if !ok {
		return "", false
	}
	return quoted(data, n), true
}

// storedBox reads the value that an interface leads to.
func (p *process) storedBox(info symbol.TypeInfo, addr uint64) (string, bool) {
	switch info.Kind {
	case symbol.String, symbol.Bool, symbol.Int, symbol.Uint, symbol.Float:
	default:
		return "", false
	}
	data, ok := p.peek(addr, info.Size)
	if !ok {
		return "", false
	}
	return p.stored(&symbol.Type{Name: info.Name, Kind: info.Kind, Size: int64(info.Size)}, data, 1), true
}

// stored tells a value as it lies in memory. Pointers in it are not followed, but
// for the text of strings.
func (p *process) stored(t *symbol.Type, data []byte, depth int) string {
	if int64(len(data)) < t.Size || p.wordSize != 8 {
		return "…"
	}
	word := func(i int) uint64 {
		if 8*i+8 > len(data) {
			return 0
		}
		return binary.LittleEndian.Uint64(data[8*i:])
	}
	switch t.Kind {
	case symbol.Bool, symbol.Int, symbol.Uint, symbol.Float, symbol.FuncValue:
		if t.Size <= 0 || t.Size > 8 {
			return "…"
		}
		var b [8]byte
		copy(b[:], data[:t.Size])
		text, _ := p.scalar(t, binary.LittleEndian.Uint64(b[:]))
		return text
	case symbol.Pointer, symbol.Map, symbol.Chan:
		return p.pointer(word(0))
	case symbol.String:
		if text, ok := p.storedText(word(0), word(1)); ok {
			return text
		}
		return fmt.Sprintf("len %d", word(1))
	case symbol.Slice:
		if word(0) == 0 {
			return "nil"
		}
		return fmt.Sprintf("len %d, cap %d", word(1), word(2))
	case symbol.Any, symbol.Interface:
		if word(0) == 0 {
			return "nil"
		}
		if info, ok := p.dynamic(t, word(0)); ok {
			return info.Name
		}
		return "type at 0x" + strconv.FormatUint(word(0), 16)
	case symbol.Struct:
		return p.storedStruct(t, data, depth)
	case symbol.Array:
		if t.Elem == nil || t.Elem.Size <= 0 || depth > maxFollowed {
			return "[…]"
		}
		return p.list(t.Elem, data, uint64(t.Len))
	}
	return "…"
}

func (p *process) storedStruct(t *symbol.Type, data []byte, depth int) string {
	if depth > maxFollowed {
		return "{…}"
	}
	var parts []string
	for i, f := range t.Fields {
		if i == maxElements || f.Offset+f.Type.Size > int64(len(data)) {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, f.Name+": "+p.stored(f.Type, data[f.Offset:f.Offset+f.Type.Size], depth+1))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// clipped shortens a text.
func clipped(text string) string {
	if len(text) <= maxMemory {
		return text
	}
	end := maxMemory
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
