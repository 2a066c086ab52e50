package symbol

import "loupe/value/stack"

// Indexes of Go's per-function tables; the same since Go 1.18.
const (
	dataInlineIndex = 2 // table of values by PC: index of the innermost call
	treeInline      = 3 // where the inline tree of the function is
)

// maxInline bounds the depth of inlined calls at one address, which is some
// tens at most, in damaged trees.
const maxInline = 128

// inlineTree is the tree of the calls that the compiler has inlined into a
// function: one record per call.
type inlineTree struct {
	f     fn
	index uint32 // offset of the table that says which call an address is in
	off   uint64 // of record 0
	size  uint64 // of one record
}

// tables returns how many tables of values by PC and how many other data a
// function has, and where the list of the first begins; that of the others
// follows it.
func (f fn) tables() (values, data uint32, off uint64) {
	last := f.field(fieldStart) // the field with the number of data in its last byte
	if f.t.version == table120 {
		last = f.field(fieldStart + 1)
	}
	b := f.t.p.slice(last, 4)
	if b == nil {
		return 0, 0, 0
	}
	return f.t.uint32(f.field(fieldNumData)), uint32(b[3]), last + 4
}

// values returns the offset of table i of values by PC, or 0.
func (f fn) values(i uint32) uint32 {
	values, _, off := f.tables()
	if i >= values {
		return 0
	}
	return f.t.uint32(off + 4*uint64(i))
}

// data returns where datum i of the function is: from inlTrees on since Go 1.18.
func (f fn) data(i uint32) (uint64, bool) {
	values, data, off := f.tables()
	if i >= data || f.t.version < table118 {
		return 0, false
	}
	at := f.t.uint32(off + 4*uint64(values) + 4*uint64(i))
	return uint64(at), at != 1<<32-1
}

// inlineTree returns the tree of the function. ok says whether the binary can
// tell; the tree is empty when nothing was inlined.
func (f fn) inlineTree() (tree inlineTree, ok bool) {
	t := f.t
	if t.version < table118 || t.inlTrees == nil {
		return inlineTree{}, false
	}
	tree = inlineTree{f: f, size: 16}
	if t.version == table118 {
		tree.size = 20
	}
	off, ok := f.data(treeInline)
	index := f.values(dataInlineIndex)
	if !ok || index == 0 {
		return tree, true
	}
	tree.off, tree.index = off, index
	return tree, true
}

// indexes walks the numbers of the innermost call along the function.
func (t inlineTree) indexes() valueIter { return t.f.t.valuesAt(t.index, t.f.entry) }

// call returns the function that was inlined as call i, and an address
// whose position is that of the call.
func (t inlineTree) call(i int32) (name string, startLine int, parent uint64, ok bool) {
	tab := t.f.t
	rec := tab.inlTrees.slice(t.off+uint64(i)*t.size, t.size)
	if rec == nil {
		return "", 0, 0, false
	}
	nameOff, parentPC := tab.order.Uint32(rec[4:]), tab.order.Uint32(rec[8:])
	if tab.version == table118 {
		nameOff, parentPC = tab.order.Uint32(rec[12:]), tab.order.Uint32(rec[16:])
	} else {
		startLine = int(int32(tab.order.Uint32(rec[12:])))
	}
	return tab.string(tab.names + uint64(nameOff)), startLine, t.f.entry + uint64(parentPC), true
}

// at returns the inlined calls that the instruction at pc belongs to,
// innermost first, given the number of the innermost one; and the address
// that has the position of the outermost in the function itself.
func (t inlineTree) at(index int32, pc uint64) ([]Frame, uint64) {
	var frames []Frame
	for index >= 0 && len(frames) < maxInline {
		name, start, parent, ok := t.call(index)
		if !ok {
			break
		}
		file, line := t.f.fileLine(pc)
		frames = append(frames, Frame{Frame: stack.Frame{Func: name, File: file, Line: line, StartLine: start, Inlined: true}})
		pc = parent
		indexes := t.indexes()
		next := indexes.seek(pc)
		if next >= index {
			break // a caller stands before its callees: damaged
		}
		index = next
	}
	return frames, pc
}

// frames returns the calls at pc, the innermost first. ok says whether the
// binary can tell which calls were inlined.
func (f fn) frames(pc uint64) (frames []Frame, ok bool) {
	tree, ok := f.inlineTree()
	if !ok {
		return nil, false
	}
	if tree.index != 0 {
		indexes := tree.indexes()
		frames, pc = tree.at(indexes.seek(pc), pc)
	}
	return append(frames, f.frame(pc)), true
}

// frame returns the call of the function itself.
func (f fn) frame(pc uint64) Frame {
	file, line := f.fileLine(pc)
	return Frame{Frame: stack.Frame{Func: f.name(), File: file, Line: line, StartLine: f.startLine()}}
}
