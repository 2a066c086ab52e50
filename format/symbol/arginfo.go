package symbol

// ArgKind says what an element of the list of printed arguments is.
type ArgKind uint8

// The kinds of elements.
const (
	ArgWord      ArgKind = iota // one number
	ArgAggregate                // {…}
	ArgMore                     // "...": there are more than are printed
	ArgFar                      // "_": too far from the begin of the frame
)

// ArgShape is one element of what the runtime prints of a function's arguments
// in a traceback.
type ArgShape struct {
	Kind ArgKind
	// Offset and Size are where an ArgWord is from the begin of the arguments
	// on, and how many bytes of it are printed.
	Offset, Size uint8
	Fields       []ArgShape // of an ArgAggregate
}

const (
	dataArgInfo    = 5 // where the list of printed arguments is
	dataArgLive    = 6 // and which of them are alive
	valuesArgIndex = 3 // table of values by PC: where in dataArgLive
)

// The bytes that are no offset in the list.
const (
	argsEnd       = 0xff
	argsOpen      = 0xfe
	argsClose     = 0xfd
	argsMore      = 0xfc
	argsFar       = 0xfb
	argsSpecial   = 0xf0
	maxArgsBytes  = 256 // the runtime knows 171
	maxArgsNested = 16  // the runtime stops at 5
)

// ArgShape returns what the runtime prints of the arguments of the function that
// begins at entry. ok is false where the binary does not say so: before Go 1.18,
// and of functions in assembler that have no declaration in Go.
func (x *goTable) ArgShape(entry uint64) (shape []ArgShape, ok bool) {
	t, err := x.table()
	if err != nil || t.inlTrees == nil {
		return nil, false
	}
	f, ok := t.find(entry)
	if !ok || f.entry != entry {
		return nil, false
	}
	off, ok := f.data(dataArgInfo)
	if !ok {
		return nil, false
	}
	r := argReader{p: t.inlTrees, off: off}
	shape = r.list(0)
	return shape, r.ok
}

// ArgLiveness says which arguments of a function hold a value at one of its
// instructions. The others are still printed, with a question mark.
type ArgLiveness struct {
	start uint8  // what lies below it in the frame is always alive
	bits  []byte // of the words from start on; nil is all
}

// ArgLiveness returns what the runtime asks before it prints arguments. pc is the
// address of an instruction, as for [Binary.Frames]. Go 1.17 and before do not
// know; there everything counts as alive.
func (x *goTable) ArgLiveness(pc uint64) ArgLiveness {
	all := ArgLiveness{start: 0xff}
	t, err := x.table()
	if err != nil || t.inlTrees == nil {
		return all
	}
	f, ok := t.find(pc)
	if !ok {
		return all
	}
	off, ok := f.data(dataArgLive)
	index := f.values(valuesArgIndex)
	if !ok {
		return all
	}
	if head := t.inlTrees.slice(off, 1); head != nil {
		all.start = head[0]
	}
	if index == 0 {
		return all
	}
	it := t.valuesAt(index, f.entry)
	if at := it.seek(pc); at > 0 {
		// A bit for each word that may be printed; the list may be the last
		// thing in its section.
		for n := uint64(4); n > 0 && all.bits == nil; n-- {
			all.bits = t.inlTrees.slice(off+uint64(at), n)
		}
	}
	return all
}

// First returns where in the frame the words begin that may not be alive. Words are
// counted from there, from 0 on.
func (l ArgLiveness) First() uint8 { return l.start }

// Alive tells whether word n from [ArgLiveness.First] on holds a value.
func (l ArgLiveness) Alive(n int) bool {
	return n/8 >= len(l.bits) || l.bits[n/8]&(1<<(n%8)) != 0
}

type argReader struct {
	p   *pager
	off uint64
	n   int
	ok  bool // the list has ended as it should
	bad bool
}

func (r *argReader) byte() byte {
	b := r.p.slice(r.off, 1)
	if b == nil || r.n >= maxArgsBytes {
		r.bad = true
		return argsEnd
	}
	r.off++
	r.n++
	return b[0]
}

func (r *argReader) list(depth int) (out []ArgShape) {
	for {
		switch c := r.byte(); {
		case c == argsEnd:
			r.ok = depth == 0 && !r.bad
			return out
		case c == argsClose:
			if depth == 0 {
				r.bad = true
			}
			return out
		case c == argsOpen:
			if depth >= maxArgsNested {
				r.bad = true
				return out
			}
			out = append(out, ArgShape{Kind: ArgAggregate, Fields: r.list(depth + 1)})
			if r.bad {
				return out
			}
		case c == argsMore:
			out = append(out, ArgShape{Kind: ArgMore})
		case c == argsFar:
			out = append(out, ArgShape{Kind: ArgFar})
		case c >= argsSpecial:
			r.bad = true
			return out
		default:
			out = append(out, ArgShape{Kind: ArgWord, Offset: c, Size: r.byte()})
		}
	}
}

// ArgBytes returns how many bytes of arguments and results lie in the frame of
// the caller, for programs of before Go 1.17, which pass nothing else.
func (x *goTable) ArgBytes(entry uint64) (n int64, ok bool) {
	t, err := x.table()
	if err != nil || t.version >= table118 {
		return 0, false
	}
	f, ok := t.find(entry)
	if !ok || f.entry != entry {
		return 0, false
	}
	n = int64(int32(t.uint32(f.field(fieldArgs))))
	return n, n >= 0 && n < 1<<20
}
