package exectrace

import (
	"strconv"

	"loupe/value/stack"
)

// singlePC marks the number of a stack as the one address that it consists
// of: in format 5 all that is known of where a goroutine begins.
const singlePC = 1 << 63

// oldSymbols are what the numbers of a trace before Go 1.22 stand for.
type oldSymbols struct {
	t         *oldTrace
	symbols   *symbols // those of the reader, which they are added to
	names     idTable[NameID]
	stackIDs  idTable[stack.ID]
	frames    map[uint64]stack.FrameID
	symbolize func(pc uint64) stack.Frame // nil when only the trace can tell
}

// name returns the interned string with this number.
func (o *oldSymbols) name(id uint64) NameID {
	if n, ok := o.names.get(id); ok {
		return n
	}
	s, ok := o.t.strings.get(id)
	if !ok {
		o.symbols.missing("string", id)
		return NameNone
	}
	n := o.symbols.names.internBytes(o.t.data[s.start:s.end])
	o.names.put(id, n)
	return n
}

// stack returns the interned stack with this number.
func (o *oldSymbols) stack(id uint64) stack.ID {
	if s, ok := o.stackIDs.get(id); ok {
		return s
	}
	var frames []stack.FrameID
	for _, pc := range o.appendPCs(nil, id) {
		frames = append(frames, o.frame(pc))
	}
	if len(frames) == 0 {
		o.symbols.missing("stack", id)
	}
	s := o.symbols.stacks.Intern(frames)
	o.stackIDs.put(id, s)
	return s
}

// frame returns the interned frame of an address.
func (o *oldSymbols) frame(pc uint64) stack.FrameID {
	if f, ok := o.frames[pc]; ok {
		return f
	}
	var frame stack.Frame
	if f, ok := o.t.frames[pc]; ok {
		function, file := o.name(f.function), o.name(f.file)
		frame = stack.Frame{Func: o.symbols.Name(function), File: o.symbols.Name(file), Line: f.line}
	} else if symbolize := o.symbolize; symbolize != nil {
		frame = symbolize(pc)
	} else {
		frame.Func = "0x" + strconv.FormatUint(pc, 16)
	}
	f := o.symbols.stacks.InternFrame(frame)
	o.frames[pc] = f
	return f
}

// appendPCs appends the addresses of a stack, leaf first.
func (o *oldSymbols) appendPCs(dst []uint64, id uint64) []uint64 {
	if id&singlePC != 0 {
		return append(dst, id&^singlePC)
	}
	i, ok := o.t.stacks.get(id)
	if !ok || id == 0 {
		return dst
	}
	data := o.t.data
	depth, i := uvarint(data, i)
	for range depth {
		var pc uint64
		pc, i = uvarint(data, i)
		dst = append(dst, pc)
		if o.t.format.version >= 7 {
			for range 3 {
				_, i = uvarint(data, i)
			}
		}
	}
	return dst
}
