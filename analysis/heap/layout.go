package heap

import (
	"fmt"
	"strings"

	"loupe/format/symbol"
)

// field is where a field of a structure of the runtime lies, in bytes.
type field struct{ off, size int }

// of reads a field.
func (f field) of(b []byte) (v uint64) {
	for i := f.size - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[f.off+i])
	}
	return v
}

// layout is how the runtime of a program lies in memory.
type layout struct {
	types *symbol.Types
	minor int // of the version of Go

	mheap    uint64 // address of mheap_, as linked
	allgs    uint64
	allspans int

	spanLayout
	arenaLayout
	specialLayout
	goroutineLayout
}

// spanLayout is that of a span of the heap.
type spanLayout struct {
	spanSize int
	startAddr, npages, freeindex, nelems, allocBits,
	spanclass, state, elemsize, specials, largeType field
	// inlineMarks is the size of the mark bits at the end of the spans of
	// small objects: 0 but with the collector called Green Tea.
	inlineMarks uint64
}

// arenaLayout is that of the bitmaps of arenas, before Go 1.22.
type arenaLayout struct {
	arenas                   int // mheap_.arenas[0]
	arenaSize                int
	arenaBitmap, arenaNoMore int
}

// specialLayout is that of what is noted of an object: finalizers, cleanups, weak
// pointers.
type specialLayout struct {
	specialSize, finalizerSize int
	specialNext, specialOffset, specialKind,
	finalizerFn, cleanupFn, weakHandle field
}

// goroutineLayout is that of a g and its deferred calls.
type goroutineLayout struct {
	gSize, goid, status, stackLo, stackHi field
	schedSP, schedPC, schedBP             field
	syscallSP, syscallPC, startPC         field
	firstDefer, deferFn, deferLink        field
}

// Versions of Go whose heap is understood.
const (
	oldest, newest = 21, 26
	headersSince   = 22 // malloc headers and bitmaps within spans
)

// layoutOf finds out how the runtime of a binary lies in memory.
func layoutOf(b *symbol.Binary) (*layout, error) {
	if b.WordSize() != 8 || b.BigEndian() {
		return nil, fmt.Errorf("%w: only those of 64-bit little-endian machines can be", ErrNotReadable)
	}
	if !b.HasDWARF() {
		return nil, fmt.Errorf("%w: the binary has no debug information, which describes the memory layout of the runtime and all types (build without -ldflags=-w and -s; for a stripped program, name the unstripped file)", ErrNotReadable)
	}
	minor, ok := b.GoMinor()
	if !ok || minor < oldest {
		return nil, fmt.Errorf("%w: that of Go 1.%d and later can be, and the binary is of another one", ErrNotReadable, oldest)
	}
	types, err := b.Types()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotReadable, err)
	}
	l := &layout{types: types, minor: minor}
	if missing := l.find(); len(missing) > 0 {
		return nil, fmt.Errorf("%w: the runtime of Go 1.%d has no %s, so its memory layout is not known", ErrNotReadable, minor, strings.Join(missing, ", "))
	}
	return l, nil
}

// find takes the layout out of the debug information, and returns what is not
// in it.
func (l *layout) find() (missing []string) {
	at := func(f *field, typ string, path ...string) {
		id, ok := l.types.Named("runtime." + typ)
		if ok {
			var off int64
			var ft symbol.TypeID
			if off, ft, ok = l.types.Field(id, path...); ok {
				*f = field{int(off), int(l.types.At(ft).Size)}
				ok = f.size >= 0 && f.off < 1<<30
			}
		}
		if !ok {
			missing = append(missing, typ+"."+strings.Join(path, "."))
		}
	}
	word := func(f *field, typ string, path ...string) {
		if at(f, typ, path...); f.size > 8 {
			missing = append(missing, typ+"."+strings.Join(path, "."))
		}
	}
	size := func(typ string) int {
		if id, ok := l.types.Named("runtime." + typ); ok {
			return int(min(l.types.At(id).Size, 1<<30))
		}
		return 0
	}
	variable := func(name string) uint64 {
		v, ok := l.types.Variable("runtime." + name)
		if !ok {
			missing = append(missing, name)
		}
		return v.Addr
	}
	l.mheap, l.allgs = variable("mheap_"), variable("allgs")
	var f field
	at(&f, "mheap", "allspans")
	l.allspans = f.off
	at(&f, "mheap", "arenas")
	l.arenas = f.off

	l.spanSize = size("mspan")
	word(&l.startAddr, "mspan", "startAddr")
	word(&l.npages, "mspan", "npages")
	word(&l.freeindex, "mspan", "freeindex")
	word(&l.nelems, "mspan", "nelems")
	word(&l.allocBits, "mspan", "allocBits")
	word(&l.spanclass, "mspan", "spanclass")
	word(&l.state, "mspan", "state")
	word(&l.elemsize, "mspan", "elemsize")
	word(&l.specials, "mspan", "specials")
	if l.minor >= headersSince {
		word(&l.largeType, "mspan", "largeType")
		l.inlineMarks = uint64(size("spanInlineMarkBits"))
	} else {
		l.arenaSize = size("heapArena")
		at(&f, "heapArena", "bitmap")
		l.arenaBitmap = f.off
		at(&f, "heapArena", "noMorePtrs")
		l.arenaNoMore = f.off
	}
	l.specialSize, l.finalizerSize = size("special"), size("specialfinalizer")
	word(&l.specialNext, "special", "next")
	word(&l.specialOffset, "special", "offset")
	word(&l.specialKind, "special", "kind")
	// Not every program has these, nor every version.
	need := missing
	word(&l.finalizerFn, "specialfinalizer", "fn")
	word(&l.weakHandle, "specialWeakHandle", "handle")
	if l.minor >= 26 {
		word(&l.cleanupFn, "specialCleanup", "cleanup", "fn")
	} else {
		word(&l.cleanupFn, "specialCleanup", "fn")
	}
	missing = need

	l.gSize.size = size("g")
	word(&l.goid, "g", "goid")
	word(&l.status, "g", "atomicstatus")
	word(&l.stackLo, "g", "stack", "lo")
	word(&l.stackHi, "g", "stack", "hi")
	word(&l.schedSP, "g", "sched", "sp")
	word(&l.schedPC, "g", "sched", "pc")
	word(&l.schedBP, "g", "sched", "bp")
	word(&l.syscallSP, "g", "syscallsp")
	word(&l.syscallPC, "g", "syscallpc")
	word(&l.startPC, "g", "startpc")
	need = missing
	word(&l.firstDefer, "g", "_defer")
	word(&l.deferFn, "_defer", "fn")
	word(&l.deferLink, "_defer", "link")
	missing = need
	return missing
}

// specialKinds are the kinds of specials that hold something, by version (mheap.go).
func (l *layout) specialKinds() (finalizer, weak, cleanup uint64) {
	switch {
	case l.minor >= 25:
		return 2, 3, 7
	case l.minor == 24:
		return 1, 2, 6
	case l.minor == 23:
		return 1, 2, 1 << 8
	}
	return 1, 1 << 8, 1 << 8
}
