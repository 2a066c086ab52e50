package symbol

import (
	"encoding/binary"
	"slices"
	"testing"
)

// lists has sections with one list each, for the same places: from 0x1010 on in
// register 0, from 0x1020 to 0x1040 in the frame.
func lists() (l *locationLists, old, new5 []byte) {
	word := func(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }
	reg, frame := []byte{0x50}, []byte{0x91, 0x70} // fbreg -16
	entry := func(low, high uint64, program []byte) {
		old = word(word(old, low), high)
		old = append(binary.LittleEndian.AppendUint16(old, uint16(len(program))), program...)
		new5 = append(new5, listOffsets, byte(low), byte(high), byte(len(program)))
		new5 = append(new5, program...)
	}
	old = word(word(old, 1<<64-1), 0x1000)
	new5 = append(new5, listBaseX, 1)
	entry(0x10, 0x20, reg)
	entry(0x20, 0x40, frame)
	old = word(word(old, 0), 0)
	new5 = append(new5, listEnd)
	return &locationLists{loc: old, lists: new5, addr: word(word(word(nil, 0), 7), 0x1000), order: binary.LittleEndian, ptrSize: 8}, old, new5
}

func TestLocationLists(t *testing.T) {
	l, _, _ := lists()
	for _, version := range []uint16{4, 5} {
		// The addresses of the unit begin at the second word.
		f := func(pc uint64, want []byte) {
			t.Helper()
			got, ok := l.at(version, 0, 0, 8, pc)
			if ok != (want != nil) || !slices.Equal(got, want) {
				t.Errorf("version %d: at %#x is %x (%v), want %x", version, pc, got, ok, want)
			}
		}
		f(0x100f, nil)
		f(0x1010, []byte{0x50})
		f(0x101f, []byte{0x50})
		f(0x1020, []byte{0x91, 0x70})
		f(0x103f, []byte{0x91, 0x70})
		f(0x1040, nil)
	}
	if _, ok := l.at(5, 1<<40, 0, 0, 0); ok {
		t.Error("a list beyond the section is there")
	}
}

func TestLocationPieces(t *testing.T) {
	l := &locationLists{order: binary.LittleEndian, ptrSize: 8}
	f := func(name string, program []byte, size int64, whole bool, want ...LocalPiece) {
		t.Helper()
		got, all, ok := l.pieces(program, size)
		if ok != (want != nil || whole) || all != whole || !slices.Equal(got, want) {
			t.Errorf("%s: %+v, whole %v (%v), want %+v", name, got, all, ok, want)
		}
	}
	f("the frame", []byte{0x9c}, 8, false, LocalPiece{0, 8, 0, false})
	f("fbreg", []byte{0x91, 0x70}, 24, false, LocalPiece{0, 24, -16, false})
	f("old sum", []byte{0x9c, 0x11, 0x48, 0x22}, 8, false, LocalPiece{0, 8, -56, false})
	f("heap", []byte{0x9c, 0x23, 8, 0x06}, 40, false, LocalPiece{0, 40, 8, true})
	f("parts", []byte{0x91, 0x70, 0x93, 8, 0x50, 0x93, 8, 0x93, 8}, 24, true, LocalPiece{0, 8, -16, false})
	f("a part is missing", []byte{0x91, 0x70, 0x93, 8, 0x91, 0x78, 0x93, 8}, 24, false, LocalPiece{0, 8, -16, false}, LocalPiece{8, 8, -8, false})
	f("more than there is", []byte{0x91, 0x70, 0x93, 32}, 24, false)
	f("two places", []byte{0x9c, 0x9c}, 8, false)
	f("a constant as a place", []byte{0x30}, 8, false)
	f("other operations", []byte{0x9c, 0x1e}, 8, false)
	f("cut", []byte{0x91}, 8, false)
}

func FuzzLocation(f *testing.F) {
	_, old, new5 := lists()
	f.Add(old, uint64(0x1010), int64(24))
	f.Add(new5, uint64(0x1010), int64(24))
	f.Add([]byte{0x91, 0x70, 0x93, 8, 0x9c, 0x11, 0x48, 0x22, 0x06, 0x93, 8}, uint64(0), int64(16))
	f.Fuzz(func(t *testing.T, data []byte, pc uint64, size int64) {
		for _, width := range []int{4, 8} {
			l := &locationLists{loc: data, lists: data, addr: data, order: binary.LittleEndian, ptrSize: width}
			for _, version := range []uint16{4, 5} {
				program, ok := l.at(version, int64(len(data)/8), 0, pc%16, pc)
				if ok && len(program) > len(data) {
					t.Errorf("a program of %d bytes in %d", len(program), len(data))
				}
				l.pieces(program, size)
			}
			pieces, _, _ := l.pieces(data, size)
			at := int64(0)
			for _, p := range pieces {
				if p.Offset < at || p.Size < 0 || p.Offset+p.Size > size {
					t.Errorf("%+v in a variable of %d bytes", pieces, size)
				}
				at = p.Offset + p.Size
			}
		}
	})
}
