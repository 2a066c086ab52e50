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

// values turns words into text.
type values struct {
	bin      *symbol.Binary                      // nil for none
	mem      func(addr uint64, buf []byte) error // nil for none
	slide    slide
	wordSize int

	live, stale int // words of the parameter at hand
	odd         bool
}

// structured gives words in brackets their parameters.
func (v *values) structured(params []symbol.Param, args []dump.Arg, shape []symbol.ArgShape, trust trust) ([]Param, string) {
	var inputs []symbol.Param
	for _, p := range params {
		if !p.Result {
			inputs = append(inputs, p)
		}
	}
	at, ok := align(inputs, args, shape, int64(v.wordSize))
	if !ok {
		return nil, "its parameters and the words do not fit together"
	}
	var out []Param
	for i, p := range at {
		if p < 0 && args[i].Kind == dump.Aggregate && len(args[i].Fields) == 0 {
			continue // runtime.goexit({}) has no words
		}
		if p < 0 {
			out = append(out, Param{Type: "unknown", State: Unmarked, Text: printed(args[i])})
			continue
		}
		in := inputs[p]
		x := v.param(in, args[i])
		doubt := trust == trustNone || trust == trustNamed && in.Name == "" || mayLack(in.Type, int64(v.wordSize))
		if doubt && (x.State == Live || x.State == Partly) {
			x.State = Unmarked
		}
		out = append(out, x)
	}
	for _, in := range inputs[min(len(at), len(inputs)):] {
		if len(args) > 0 && args[len(args)-1].Kind == dump.More {
			out = append(out, Param{Name: in.Name, Type: in.Type.Name, State: Hidden, Text: "not printed"})
		}
	}
	return out, ""
}

// param tells the value of one parameter.
func (v *values) param(p symbol.Param, a dump.Arg) Param {
	v.live, v.stale, v.odd = 0, 0, false
	out := Param{Name: p.Name, Type: p.Type.Name, Result: p.Result, State: Live}
	out.Text = v.text(p.Type, a)
	switch {
	case a.Kind == dump.Far || a.Kind == dump.More:
		out.State, out.Text = Hidden, "not printed"
	case v.odd:
		// A value that the type cannot have: the word is none of it.
		out.State, out.Text = Stale, printed(a)
	case v.stale > 0 && v.live > 0:
		out.State = Partly
	case v.stale > 0:
		out.State, out.Text = Stale, printed(a)
	}
	return out
}

// printed is an element as it stands in the dump.
func printed(a dump.Arg) string {
	switch a.Kind {
	case dump.Far:
		return "_"
	case dump.More:
		return "..."
	case dump.Word:
		return hex(a)
	}
	parts := make([]string, len(a.Fields))
	for i, f := range a.Fields {
		parts[i] = printed(f)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func hex(a dump.Arg) string {
	text := "0x" + strconv.FormatUint(a.Value, 16)
	if a.Stale {
		text += "?"
	}
	return text
}

// text tells a value and counts its words.
func (v *values) text(t *symbol.Type, a dump.Arg) string {
	switch a.Kind {
	case dump.More:
		return "…"
	case dump.Far:
		return "_"
	case dump.Word:
		return v.word(t, a)
	}
	switch t.Kind {
	case symbol.String:
		return v.str(a)
	case symbol.Slice:
		return v.slice(t, a)
	case symbol.Any, symbol.Interface:
		return v.iface(t, a)
	case symbol.Complex:
		return v.complex(t, a)
	case symbol.Struct, symbol.Array:
		return v.composite(t, a)
	}
	v.count(a)
	return printed(a)
}

// count counts the words of an element that is not taken apart.
func (v *values) count(a dump.Arg) {
	if a.Kind == dump.Aggregate {
		for _, f := range a.Fields {
			v.count(f)
		}
	} else if a.Kind == dump.Word {
		v.tally(a)
	}
}

func (v *values) tally(a dump.Arg) (live bool) {
	if a.Stale {
		v.stale++
	} else {
		v.live++
	}
	return !a.Stale
}

// word tells a value of one word.
func (v *values) word(t *symbol.Type, a dump.Arg) string {
	if !v.tally(a) {
		return hex(a)
	}
	bits := uint(64)
	if 0 < t.Size && t.Size < 8 {
		bits = uint(8 * t.Size)
	}
	switch t.Kind {
	case symbol.Bool:
		if a.Value > 1 {
			v.odd = true
		}
		return strconv.FormatBool(a.Value == 1)
	case symbol.Int:
		n := int64(a.Value<<(64-bits)) >> (64 - bits)
		if t.Name == "time.Duration" {
			return time.Duration(n).String()
		}
		return strconv.FormatInt(n, 10)
	case symbol.Uint:
		if t.Name == "uintptr" {
			return hex(a)
		}
		return strconv.FormatUint(a.Value, 10)
	case symbol.Float:
		return float(a.Value, t.Size)
	case symbol.FuncValue:
		return v.function(a.Value)
	case symbol.Pointer, symbol.Chan, symbol.Map:
		return v.pointer(a.Value) + v.behind(t, a.Value)
	}
	return hex(a)
}

func float(bits uint64, size int64) string {
	if size == 4 {
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(bits))), 'g', -1, 32)
	}
	return strconv.FormatFloat(math.Float64frombits(bits), 'g', -1, 64)
}

// linked turns an address of the process into one of the binary.
func (v *values) linked(addr uint64) (uint64, bool) {
	if v.bin == nil || !v.slide.known || addr < v.slide.by {
		return 0, false
	}
	return addr - v.slide.by, true
}

// pointer tells where a pointer leads, where the binary knows it.
func (v *values) pointer(addr uint64) string {
	if addr == 0 {
		return "nil"
	}
	if at, ok := v.linked(addr); ok {
		if s, ok := v.bin.SymbolAt(at); ok && !s.IsText() && isVariable(s.Name) {
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
func (v *values) function(addr uint64) string {
	if addr == 0 {
		return "nil"
	}
	if at, ok := v.linked(addr); ok {
		if f, ok := v.bin.FuncValueAt(at); ok {
			return f.Name
		}
	}
	return "closure at 0x" + strconv.FormatUint(addr, 16)
}

// maxString is how many bytes of a string are shown.
const maxString = 200

// str tells a string: its text where that is a constant of the program.
func (v *values) str(a dump.Arg) string {
	if len(a.Fields) != 2 || a.Fields[0].Kind != dump.Word || a.Fields[1].Kind != dump.Word {
		v.count(a)
		return printed(a)
	}
	ptr, n := a.Fields[0], a.Fields[1]
	okPtr, okLen := v.tally(ptr), v.tally(n)
	if okPtr && okLen {
		if text, ok := v.constant(ptr.Value, n.Value); ok {
			return text
		}
		if text, ok := v.storedText(ptr.Value, n.Value); ok {
			return text
		}
	}
	if okLen {
		v.odd = v.odd || int64(n.Value) < 0 || n.Value > 1<<48 || okPtr && ptr.Value == 0 && n.Value > 0
		return fmt.Sprintf("len %d, at %s", n.Value, hex(ptr))
	}
	return fmt.Sprintf("len %s, at %s", hex(n), hex(ptr))
}

// constant reads the text of a string out of the binary.
func (v *values) constant(addr, n uint64) (string, bool) {
	if n == 0 {
		return `""`, true
	}
	at, ok := v.linked(addr)
	if !ok || n > 1<<30 {
		return "", false
	}
	// All of it must be there for it to be a constant.
	if _, ok := v.bin.ReadOnly(at+n-1, 1); !ok {
		return "", false
	}
	data, ok := v.bin.ReadOnly(at, int(min(n, maxString)))
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

func (v *values) slice(t *symbol.Type, a dump.Arg) string {
	if len(a.Fields) != 3 || a.Fields[2].Kind != dump.Word {
		v.count(a)
		return printed(a)
	}
	ptr, n, room := a.Fields[0], a.Fields[1], a.Fields[2]
	okPtr, okLen, okCap := v.tally(ptr), v.tally(n), v.tally(room)
	if okPtr && okLen && okCap && ptr.Value == 0 && n.Value == 0 && room.Value == 0 {
		return "nil"
	}
	text := func(a dump.Arg, ok bool) string {
		if ok {
			v.odd = v.odd || int64(a.Value) < 0
			return strconv.FormatUint(a.Value, 10)
		}
		return hex(a)
	}
	if okLen && okCap && n.Value > room.Value || okPtr && ptr.Value == 0 && okLen && n.Value > 0 {
		v.odd = true
	}
	out := fmt.Sprintf("len %s, cap %s, at %s", text(n, okLen), text(room, okCap), hex(ptr))
	if okPtr && okLen && !v.odd {
		out += v.elements(t, ptr.Value, n.Value)
	}
	return out
}

// iface tells the type of the value in an interface, and the value where it is a
// constant.
func (v *values) iface(t *symbol.Type, a dump.Arg) string {
	if len(a.Fields) != 2 || a.Fields[0].Kind != dump.Word || a.Fields[1].Kind != dump.Word {
		v.count(a)
		return printed(a)
	}
	tab, data := a.Fields[0], a.Fields[1]
	okTab, okData := v.tally(tab), v.tally(data)
	if okTab && tab.Value == 0 {
		if okData && data.Value != 0 {
			v.odd = true
		}
		return "nil"
	}
	if !okTab {
		return fmt.Sprintf("type %s, value %s", hex(tab), hex(data))
	}
	info, ok := v.dynamic(t, tab.Value)
	if !ok {
		return fmt.Sprintf("type at %s, value at %s", hex(tab), hex(data))
	}
	if !okData {
		return fmt.Sprintf("%s, at %s", info.Name, hex(data))
	}
	switch info.Kind {
	case symbol.Pointer, symbol.Chan, symbol.Map:
		return info.Name + " " + v.pointer(data.Value)
	case symbol.FuncValue:
		return info.Name + " " + v.function(data.Value)
	}
	if text, ok := v.boxed(info, data.Value); ok {
		return info.Name + " " + text
	}
	if text, ok := v.storedBox(info, data.Value); ok {
		return info.Name + " " + text
	}
	return fmt.Sprintf("%s, at %s", info.Name, hex(data))
}

// dynamic returns the type of the value in an interface.
func (v *values) dynamic(t *symbol.Type, word uint64) (symbol.TypeInfo, bool) {
	at, ok := v.linked(word)
	if !ok {
		return symbol.TypeInfo{}, false
	}
	if t.Kind == symbol.Any {
		return v.bin.TypeAt(at)
	}
	return v.bin.TableAt(at)
}

// boxed reads a value that the compiler has put into the program: a constant that
// was passed as an interface.
func (v *values) boxed(info symbol.TypeInfo, addr uint64) (string, bool) {
	at, ok := v.linked(addr)
	if !ok {
		return "", false
	}
	if info.Kind == symbol.String {
		ptr, ok := v.bin.Word(at)
		n, ok2 := v.bin.Word(at + uint64(v.wordSize))
		if !ok || !ok2 || ptr == 0 {
			return "", false
		}
		return v.constant(ptr+v.slide.by, n)
	}
	switch info.Kind {
	case symbol.Bool, symbol.Int, symbol.Uint, symbol.Float:
	default:
		return "", false
	}
	if info.Size == 0 || info.Size > 8 {
		return "", false
	}
	data, ok := v.bin.ReadOnly(at, int(info.Size))
	if !ok {
		return "", false
	}
	var bits uint64
	for i, b := range data {
		if v.bin.BigEndian() {
			bits = bits<<8 | uint64(b)
		} else {
			bits |= uint64(b) << (8 * i)
		}
	}
	t := &symbol.Type{Name: info.Name, Kind: info.Kind, Size: int64(info.Size)}
	live := v.live
	text := v.word(t, dump.Arg{Value: bits})
	v.live = live
	return text, true
}

func (v *values) complex(t *symbol.Type, a dump.Arg) string {
	if len(a.Fields) != 2 || a.Fields[0].Kind != dump.Word || a.Fields[1].Kind != dump.Word {
		v.count(a)
		return printed(a)
	}
	re, im := a.Fields[0], a.Fields[1]
	okRe, okIm := v.tally(re), v.tally(im)
	if !okRe || !okIm {
		return printed(a)
	}
	imag := float(im.Value, t.Size/2)
	if imag[0] != '-' && imag[0] != '+' {
		imag = "+" + imag
	}
	return "(" + float(re.Value, t.Size/2) + imag + "i)"
}

// composite tells a struct or an array.
func (v *values) composite(t *symbol.Type, a dump.Arg) string {
	var parts []string
	for i, f := range a.Fields {
		c := component(t, i, int64(v.wordSize))
		if c == nil || f.Kind == dump.More {
			parts = append(parts, "…")
			break
		}
		text := v.text(c, f)
		if t.Kind == symbol.Struct {
			text = t.Fields[i].Name + ": " + text
		}
		parts = append(parts, text)
	}
	if t.Kind == symbol.Array {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
