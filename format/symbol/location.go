package symbol

import "encoding/binary"

// Location lists say where a variable is by ranges of addresses: .debug_loc
// until DWARF 4, .debug_loclists from DWARF 5 on (the compiler of Go writes that
// since 1.25). What lies at a range is a little program for a stack machine.

// locationLists is the sections with location lists.
type locationLists struct {
	loc, lists, addr []byte
	order            binary.ByteOrder
	ptrSize          int
}

// Bounds of what is read of one list.
const (
	maxListEntries = 1 << 16
	maxPieces      = 1 << 10
	maxOperations  = 1 << 12
)

// The kinds of entries of a list in DWARF 5.
const (
	listEnd, listBaseX, listStartX, listStartXLength, listOffsets, listDefault, listBase, listStartEnd, listStartLength = 0, 1, 2, 3, 4, 5, 6, 7, 8
)

// listReader reads a section field by field. What is beyond its end is zero, and
// bad says so.
type listReader struct {
	b       []byte
	order   binary.ByteOrder
	ptrSize int
	bad     bool
}

func (r *listReader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *listReader) uint(n int) (v uint64) {
	b := r.bytes(uint64(n))
	if b == nil {
		return 0
	}
	switch n {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(r.order.Uint16(b))
	case 4:
		return uint64(r.order.Uint32(b))
	}
	return r.order.Uint64(b)
}

// leb reads a number of variable length; signed ones are extended.
func (r *listReader) leb(signed bool) (v uint64) {
	for shift := uint(0); shift < 64; shift += 7 {
		c := r.uint(1)
		v |= c & 0x7f << shift
		if c < 0x80 {
			if signed && c&0x40 != 0 && shift+7 < 64 {
				v |= ^uint64(0) << (shift + 7)
			}
			return v
		}
	}
	r.bad = true
	return v
}

// at returns the program for an address in the list at an offset of the section
// of a version of DWARF. base is where the unit begins, addrBase is where its
// addresses are in .debug_addr.
func (l *locationLists) at(version uint16, off int64, base, addrBase, pc uint64) (program []byte, ok bool) {
	section := l.loc
	if version >= 5 {
		section = l.lists
	}
	if off < 0 || off >= int64(len(section)) {
		return nil, false
	}
	r := listReader{b: section[off:], order: l.order, ptrSize: l.ptrSize}
	if version >= 5 {
		return l.inLists(&r, base, addrBase, pc)
	}
	last := ^uint64(0) >> (64 - 8*l.ptrSize)
	for range maxListEntries {
		low, high := r.uint(l.ptrSize), r.uint(l.ptrSize)
		if r.bad || low == 0 && high == 0 {
			return nil, false
		}
		if low == last {
			base = high
			continue
		}
		program := r.bytes(r.uint(2))
		if !r.bad && base+low <= pc && pc < base+high {
			return program, true
		}
	}
	return nil, false
}

func (l *locationLists) inLists(r *listReader, base, addrBase, pc uint64) (program []byte, ok bool) {
	var otherwise []byte
	known := false
	for range maxListEntries {
		var low, high uint64
		switch kind := r.uint(1); kind {
		case listEnd:
			return otherwise, known && !r.bad
		case listBaseX:
			base = l.address(r, addrBase)
			continue
		case listBase:
			base = r.uint(l.ptrSize)
			continue
		case listDefault:
			otherwise, known = r.bytes(r.leb(false)), true
			continue
		case listStartX:
			low, high = l.address(r, addrBase), l.address(r, addrBase)
		case listStartXLength:
			low = l.address(r, addrBase)
			high = low + r.leb(false)
		case listOffsets:
			low = base + r.leb(false)
			high = base + r.leb(false)
		case listStartEnd:
			low, high = r.uint(l.ptrSize), r.uint(l.ptrSize)
		case listStartLength:
			low = r.uint(l.ptrSize)
			high = low + r.leb(false)
		default:
			return nil, false
		}
		program := r.bytes(r.leb(false))
		if r.bad {
			return nil, false
		}
		if low <= pc && pc < high {
			return program, true
		}
	}
	return nil, false
}

// address reads the number of an address, and that from .debug_addr.
func (l *locationLists) address(r *listReader, base uint64) uint64 {
	i := r.leb(false)
	size := uint64(l.ptrSize)
	if i > uint64(len(l.addr)) || base > uint64(len(l.addr)) || base+(i+1)*size > uint64(len(l.addr)) {
		r.bad = true
		return 0
	}
	a := listReader{b: l.addr[base+i*size:], order: l.order}
	return a.uint(l.ptrSize)
}

// The operations of Go's compiler, and what else may be met with a fixed place
// in a frame.
const (
	opAddr, opDeref, opConstU, opPlusU, opPiece, opRegX = 0x03, 0x06, 0x10, 0x23, 0x93, 0x90
	opConst1U, opConst8S, opLit0, opReg0, opBreg0       = 0x08, 0x0f, 0x30, 0x50, 0x70
)

// pieces runs a program and says where the parts of a variable are that lie in
// memory, at a fixed distance from the frame. size is that of the variable. whole
// tells that it names each part of it; ok is false where the program does
// something else.
func (l *locationLists) pieces(program []byte, size int64) (out []LocalPiece, whole, ok bool) {
	r := listReader{b: program, order: l.order, ptrSize: l.ptrSize}
	// One place at most is being computed; it is of the frame when framed is
	// set, else a number.
	type value struct {
		n             int64
		framed, leads bool
	}
	var stack []value
	elsewhere := false // the part is in a register, or is a constant
	done := int64(0)
	part := func(n int64) bool {
		if n < 0 || n > size-done || len(out) >= maxPieces || len(stack) > 1 {
			return false
		}
		if len(stack) == 1 && !elsewhere {
			if !stack[0].framed {
				return false
			}
			out = append(out, LocalPiece{Offset: done, Size: n, At: stack[0].n, Leads: stack[0].leads})
		}
		stack, elsewhere = stack[:0], false
		done += n
		return true
	}
	for range maxOperations {
		if len(r.b) == 0 {
			whole = done == size
			if done == 0 && !part(size) || r.bad || len(stack) > 0 {
				return nil, false, false
			}
			return out, whole, true
		}
		var v value
		switch op := r.uint(1); {
		case op == opFrameBase:
			v = value{n: int64(r.leb(true)), framed: true}
		case op == opCallFrameCFA:
			v = value{framed: true}
		case op == opConstantsS:
			v.n = int64(r.leb(true))
		case op == opConstU:
			v.n = int64(r.leb(false))
		case op >= opLit0 && op < opReg0:
			v.n = int64(op - opLit0)
		case op == opPlus, op == opPlusU:
			n := int64(0)
			if op == opPlusU {
				n = int64(r.leb(false))
			} else if k := len(stack); k >= 2 && !stack[k-1].framed {
				n = stack[k-1].n
				stack = stack[:k-1]
			} else {
				return nil, false, false
			}
			if k := len(stack); k == 0 || stack[k-1].leads {
				return nil, false, false
			}
			stack[len(stack)-1].n += n
			continue
		case op == opDeref:
			if k := len(stack); k != 1 || !stack[0].framed || stack[0].leads {
				return nil, false, false
			}
			stack[0].leads = true
			continue
		case op == opPiece:
			if !part(int64(r.leb(false))) {
				return nil, false, false
			}
			continue
		case op >= opReg0 && op < opBreg0:
			elsewhere = true
			continue
		case op == opRegX:
			r.leb(false)
			elsewhere = true
			continue
		default:
			return nil, false, false
		}
		if stack = append(stack, v); len(stack) > 4 {
			return nil, false, false
		}
	}
	return nil, false, false
}
