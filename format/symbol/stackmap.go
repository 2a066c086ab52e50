package symbol

// StackMap says which words of a frame the collector follows while a call is on
// its way, and where variables are in the frame whose address is taken: those
// count as long as something leads to them.
type StackMap struct {
	// Locals and Args have a bit for each word. The locals end where the saved
	// frame pointer and the return address are, the arguments begin behind them.
	Locals, Args WordMask
	Objects      []StackObject
}

// WordMask is a set of words in a row.
type WordMask struct {
	N    int // how many words there are
	bits []byte
}

// Has tells whether word i is one of the set.
func (m WordMask) Has(i int) bool {
	return i >= 0 && i < m.N && m.bits[i/8]>>(i%8)&1 != 0
}

// StackObject is a variable in a frame whose address is taken.
type StackObject struct {
	// Offset is where it begins: from the end of the locals where it is less
	// than zero, else from the begin of the arguments.
	Offset int64
	Size   int64 // in bytes
	// Pointers is how many bytes of it have pointers; Mask is where the bits
	// are that say which words, from moduledata.rodata on. They are not known
	// where Program is set.
	Pointers int64
	Mask     uint32
	Program  bool
}

// Numbers of what the compiler keeps of a function (internal/abi/symtab.go).
const (
	dataArgsMap     = 0
	dataLocalsMap   = 1
	dataObjects     = 2
	valuesStackMap  = 1 // table of values by PC: which of the masks holds
	maxStackWords   = 1 << 24
	maxStackObjects = 1 << 16
)

// StackMap returns what holds in the frame of a function during a call. ret is
// where the call returns to. ok is false where the binary does not say it: of
// functions in assembler that keep pointers, before Go 1.18, of C.
func (x *goTable) StackMap(ret uint64) (m StackMap, ok bool) {
	t, err := x.table()
	if err != nil || t.inlTrees == nil || ret == 0 {
		return m, false
	}
	// The function may end with the call.
	f, ok := t.find(ret - 1)
	if !ok {
		return m, false
	}
	index := int32(0)
	if values := f.values(valuesStackMap); values != 0 {
		it := t.valuesAt(values, f.entry)
		// Before the first call of a function the first mask holds.
		index = max(it.seek(ret-1), 0)
	}
	var known1, known2 bool
	m.Locals, known1 = f.mask(dataLocalsMap, index)
	m.Args, known2 = f.mask(dataArgsMap, index)
	if !known1 || !known2 {
		return StackMap{}, false
	}
	m.Objects, ok = f.objects()
	return m, ok
}

// mask reads one of the masks of a function: their number, how many bits each has,
// then the bits.
func (f fn) mask(data uint32, index int32) (m WordMask, known bool) {
	off, ok := f.data(data)
	if !ok {
		return m, false
	}
	p, order := f.t.inlTrees, f.t.order
	head := p.slice(off, 8)
	if head == nil {
		return m, false
	}
	count, n := int32(order.Uint32(head)), int32(order.Uint32(head[4:]))
	if n == 0 {
		return m, true
	}
	if n < 0 || n > maxStackWords || index < 0 || index >= count {
		return m, false
	}
	size := uint64(n+7) / 8
	if m.bits = p.slice(off+8+uint64(index)*size, size); m.bits == nil {
		return m, false
	}
	m.N = int(n)
	return m, true
}

// objects reads the variables of a function whose address is taken.
func (f fn) objects() (out []StackObject, ok bool) {
	off, ok := f.data(dataObjects)
	if !ok {
		return nil, true
	}
	p, order := f.t.inlTrees, f.t.order
	word := uint64(f.t.ptrSize)
	head := p.slice(off, word)
	if head == nil {
		return nil, false
	}
	n := uint64(order.Uint32(head))
	if word == 8 {
		n = order.Uint64(head)
	}
	if n > maxStackObjects {
		return nil, false
	}
	for i := range n {
		b := p.slice(off+word+16*i, 16)
		if b == nil {
			return nil, false
		}
		o := StackObject{
			Offset: int64(int32(order.Uint32(b))), Size: int64(int32(order.Uint32(b[4:]))),
			Pointers: int64(int32(order.Uint32(b[8:]))), Mask: order.Uint32(b[12:]),
		}
		if o.Pointers < 0 {
			o.Pointers, o.Program = -o.Pointers, true
		}
		if o.Size < 0 || o.Pointers > o.Size {
			return nil, false
		}
		out = append(out, o)
	}
	return out, true
}
