package explain

import (
	"fmt"
	"strconv"
	"strings"

	"loupe/format/dump"
	"loupe/format/symbol"
)

// values turns words into text.
type values struct {
	p process

	live, stale int  // words of the parameter at hand
	odd         bool // it has a value that its type cannot have
}

// structured gives words in brackets their parameters.
func (v *values) structured(params []symbol.Param, args []dump.Arg, shape []symbol.ArgShape, trust trust) ([]Param, string) {
	var inputs []symbol.Param
	for _, p := range params {
		if !p.Result {
			inputs = append(inputs, p)
		}
	}
	at, ok := align(inputs, args, shape, int64(v.p.wordSize))
	if !ok {
		return nil, "its parameters do not match the words"
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
		doubt := trust == trustNone || trust == trustNamed && in.Name == "" || mayLack(in.Type, int64(v.p.wordSize))
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
	text, odd := v.p.scalar(t, a.Value)
	v.odd = v.odd || odd
	switch t.Kind {
	case symbol.Pointer, symbol.Chan, symbol.Map:
		text += v.p.behind(t, a.Value)
	}
	return text
}

// str tells a string: its text where that is a constant of the program.
func (v *values) str(a dump.Arg) string {
	if len(a.Fields) != 2 || a.Fields[0].Kind != dump.Word || a.Fields[1].Kind != dump.Word {
		v.count(a)
		return printed(a)
	}
	ptr, n := a.Fields[0], a.Fields[1]
	okPtr, okLen := v.tally(ptr), v.tally(n)
	if okPtr && okLen {
		if text, ok := v.p.constant(ptr.Value, n.Value); ok {
			return text
		}
		if text, ok := v.p.storedText(ptr.Value, n.Value); ok {
			return text
		}
	}
	if okLen {
		v.odd = v.odd || int64(n.Value) < 0 || n.Value > 1<<48 || okPtr && ptr.Value == 0 && n.Value > 0
		return fmt.Sprintf("len %d, at %s", n.Value, hex(ptr))
	}
	return fmt.Sprintf("len %s, at %s", hex(n), hex(ptr))
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
		out += v.p.elements(t, ptr.Value, n.Value)
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
	info, ok := v.p.dynamic(t, tab.Value)
	if !ok {
		return fmt.Sprintf("type at %s, value at %s", hex(tab), hex(data))
	}
	if !okData {
		return fmt.Sprintf("%s, at %s", info.Name, hex(data))
	}
	switch info.Kind {
	case symbol.Pointer, symbol.Chan, symbol.Map:
		return info.Name + " " + v.p.pointer(data.Value)
	case symbol.FuncValue:
		return info.Name + " " + v.p.function(data.Value)
	}
	if text, odd, ok := v.p.boxed(info, data.Value); ok {
		v.odd = v.odd || odd
		return info.Name + " " + text
	}
	if text, ok := v.p.storedBox(info, data.Value); ok {
		return info.Name + " " + text
	}
	return fmt.Sprintf("%s, at %s", info.Name, hex(data))
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
		c := component(t, i, int64(v.p.wordSize))
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
