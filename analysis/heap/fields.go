package heap

import (
	"fmt"
	"slices"
	"strings"

	"loupe/format/symbol"
)

// fieldNames names places within objects and variables.
type fieldNames struct{ t *typing }

// of names the field of an object that leads to another one.
func (x fieldNames) of(from, to uint32) string {
	s := x.t.in.spanOfObject(from)
	t := x.t.typeOf[from]
	if x.t.kind(from) == 0 {
		return ""
	}
	return x.search(x.t.in.addr(s, from), x.t.in.room(s), typeID(t&typeMask), t&arrayFlag != 0, to)
}

// maxSearch bounds how much of an object is searched for a pointer.
const maxSearch = 64 << 20

// search looks for a pointer to an object among some words, and names its place.
func (x fieldNames) search(addr, size uint64, typ typeID, many bool, to uint32) string {
	d := x.t.types.at(typ)
	if d.d == nil || d.size == 0 {
		return ""
	}
	var buf []byte
	for off := uint64(0); off+8 <= min(size, maxSearch); {
		n := min(size-off, pieceSize)
		b := x.t.p.cache.bytes(addr+off, int(n&^7), &buf)
		for i := 0; i+8 <= len(b); i += 8 {
			w := le64(b[i:])
			if w == 0 {
				continue
			}
			if id, _, _ := x.t.in.find(w); id != to {
				continue
			}
			at := off + uint64(i)
			if many {
				return fmt.Sprintf("[%d]%s", at/d.size, x.name(d.d, at%d.size))
			}
			return x.name(d.d, at)
		}
		off += n
	}
	return ""
}

// name names what is so many bytes within a value of a type.
func (x fieldNames) name(d *symbol.DataType, off uint64) string {
	var b strings.Builder
	for range maxNesting {
		switch d.Kind {
		case symbol.Struct:
			i := slices.IndexFunc(d.Fields, func(f symbol.DataField) bool {
				size := x.t.p.l.types.At(f.Type).Size
				return uint64(f.Offset) <= off && off < uint64(f.Offset+size)
			})
			if i < 0 {
				return b.String()
			}
			b.WriteString("." + d.Fields[i].Name)
			off -= uint64(d.Fields[i].Offset)
			d = x.t.p.l.types.At(d.Fields[i].Type)
		case symbol.Array:
			elem := x.t.p.l.types.At(d.Elem)
			if elem.Size <= 0 {
				return b.String()
			}
			fmt.Fprintf(&b, "[%d]", off/uint64(elem.Size))
			off %= uint64(elem.Size)
			d = elem
		default:
			return b.String()
		}
	}
	return b.String()
}
