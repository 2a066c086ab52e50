package explain

import (
	"loupe/format/dump"
	"loupe/format/symbol"
)

// flat gives words of memory their parameters: Go before 1.17 prints the memory
// in which the caller has put the arguments, and where the results will be. Small
// values share a word.
//
//	func example(b1, b2, b3 bool, i uint8)
//	main.example(0xc019010001)
//	               ││││││││└┴─ b1 = 01, true
//	               ││││││└┴─── b2 = 00, false
//	               ││││└┴───── b3 = 01, true
//	               ││└┴─────── i  = 19, 25
//	               └┴───────── of nobody
func (v *values) flat(params []symbol.Param, args []dump.Arg, size int64, sized bool) ([]Param, string) {
	word := int64(v.p.wordSize)
	more := len(args) > 0 && args[len(args)-1].Kind == dump.More
	words := args
	if more {
		words = args[:len(args)-1]
	}
	for _, a := range words {
		if a.Kind != dump.Word {
			return nil, "its words are not in the form of this Go version"
		}
	}
	places, end, ok := layOut(params, word)
	if !ok {
		return nil, "the size of a parameter is not known"
	}
	if sized && end != size {
		return nil, "its parameters do not match the size of its arguments"
	}
	if n := (end + word - 1) / word; n != int64(len(words)) && !(more && n > int64(len(words))) {
		return nil, "its parameters do not match the words"
	}
	m := memory{words: words, word: word, big: v.p.bin != nil && v.p.bin.BigEndian()}
	var out []Param
	for i, p := range params {
		x := v.param(p, m.value(p.Type, places[i], 0))
		if p.Result && x.State != Hidden {
			x.State = Unset
		}
		out = append(out, x)
	}
	return out, ""
}

// layOut places parameters, and behind them the results from a whole word on.
func layOut(params []symbol.Param, word int64) (places []int64, end int64, ok bool) {
	results := false
	for _, p := range params {
		t := p.Type
		if t.Kind == symbol.Unknown || t.Align <= 0 || t.Size < 0 || t.Size > 1<<30 {
			return nil, 0, false
		}
		if p.Result && !results {
			results = true
			end = roundUp(end, word)
		}
		end = roundUp(end, t.Align)
		places = append(places, end)
		end += t.Size
	}
	return places, roundUp(end, word), true
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// memory is words as they lay one behind the other.
type memory struct {
	words []dump.Arg
	word  int64
	big   bool
}

// value reads a value of a type as if it had been printed in brackets.
func (m memory) value(t *symbol.Type, at int64, depth int) dump.Arg {
	if !isAggregate(t.Kind) {
		return m.leaf(at, t.Size)
	}
	a := dump.Arg{Kind: dump.Aggregate}
	for i := range maxPrinted {
		c := component(t, i, m.word)
		if c == nil {
			return a
		}
		if depth > maxPrinted || i == maxPrinted-1 {
			break
		}
		off := int64(i) * c.Size
		if t.Kind == symbol.Struct {
			off = t.Fields[i].Offset
		}
		f := m.value(c, at+off, depth+1)
		if f.Kind == dump.Far || f.Kind == dump.More {
			break
		}
		a.Fields = append(a.Fields, f)
	}
	a.Fields = append(a.Fields, dump.Arg{Kind: dump.More})
	if len(a.Fields) == 1 {
		return dump.Arg{Kind: dump.Far} // all of it is behind what was printed
	}
	return a
}

// leaf reads some bytes, which never cross a word.
func (m memory) leaf(at, size int64) dump.Arg {
	i := at / m.word
	if at < 0 || size <= 0 || size > 8 || i >= int64(len(m.words)) {
		return dump.Arg{Kind: dump.Far}
	}
	v := m.words[i].Value
	if size > m.word { // 8 bytes of a machine with words of 4
		if i+1 >= int64(len(m.words)) {
			return dump.Arg{Kind: dump.Far}
		}
		next := m.words[i+1].Value
		if m.big {
			v, next = next, v
		}
		return dump.Arg{Value: v | next<<32}
	}
	shift := 8 * (at % m.word)
	if m.big {
		shift = 8 * (m.word - size - at%m.word)
	}
	if shift < 0 {
		return dump.Arg{Kind: dump.Far}
	}
	v >>= uint(shift)
	if size < 8 {
		v &= 1<<(8*uint(size)) - 1
	}
	return dump.Arg{Value: v}
}
