// Package heap reads the heap of a Go program out of its memory: which objects
// are there, of which types they are, what holds them, and how much would be free
// without them. It is for core files and for processes that stand still.
//
// [Open] reads the tables of the runtime (docs/formats/heap.md says where they
// lie in each version of Go), finds what the roots reach, and names types along
// the way: from the global variables and those on stacks on through the debug
// information, and of larger objects from the header that the allocator keeps since
// Go 1.22. What no typed pointer leads to stays unknown, and is called by its size:
// nothing is guessed. [Heap.Graph] has the edges, for who holds what.
//
// The package opens nothing and trusts nothing: every address and every count is
// checked before it is used, and what the tables take is bounded.
package heap

import (
	"errors"

	"loupe/format/symbol"
)

// Memory is the memory of a program.
type Memory interface {
	// Read fills buf with what is at an address. It fails when a part of it
	// is not there.
	Read(addr uint64, buf []byte) error
}

// ErrNotReadable is wrapped by errors about a program whose heap cannot be read.
var ErrNotReadable = errors.New("its heap cannot be read")

// Options bound what reading a heap takes.
type Options struct {
	// MaxMemory is how many bytes the tables may take; 0 means 8 GB. They take
	// about a sixth of the heap, and a third with its graph.
	MaxMemory int64
	// Threads are the stack pointers of the threads: of a goroutine that runs,
	// the stack is known from there on.
	Threads []uint64
	// Step is told every few milliseconds how much of reading the heap, of making
	// its graph or of looking for texts is done, from 0 to 1. An error that it
	// returns ends the work, and is what that returns. It may be nil.
	Step func(done float64) error
	// Unwind goes through the frames of the goroutine whose g is at an address,
	// from the innermost on, until visit returns false. Without it each word of
	// a stack counts as a pointer, and no variable on one is known.
	Unwind func(g uint64, visit func(Frame) bool)
}

const defaultMaxMemory = 8 << 30

// Heap is the heap of a program at one moment. It is used by one goroutine at a
// time.
type Heap struct {
	// Version is the minor version of Go: 26 is Go 1.26.
	Version int
	// Damaged is how many spans of the runtime's tables made no sense and were
	// left out; Missing is how many bytes of the heap were not in the memory,
	// and were taken to be zero.
	Damaged int
	Missing int64

	opt Options

	// What is in it, each over those before it.
	process   // the program: its memory and its binary
	budget    // what reading it may take
	index     // where objects are
	typing    // what they are
	variables // what is global
	rootTable // what holds objects from outside
	frames    frameKinds

	marked bitset // reached from a root
	shared bitset // of those without pointers: reached from several things
}

// Open reads the heap of a program. The binary must have its debug information;
// bias is what the loader has added to its addresses.
func Open(mem Memory, bin *symbol.Binary, bias uint64, opt Options) (*Heap, error) {
	if opt.MaxMemory <= 0 {
		opt.MaxMemory = defaultMaxMemory
	}
	l, err := layoutOf(bin)
	if err != nil {
		return nil, err
	}
	h := &Heap{
		Version: l.minor, opt: opt, budget: budget{max: opt.MaxMemory, step: opt.Step},
		process:   process{mem: mem, bin: bin, bias: bias, l: l, cache: blockCache{mem: mem}},
		rootTable: rootTable{places: make([]place, 1), placeIndex: map[place]uint32{}},
	}
	if err := h.variables.read(&h.process); err != nil {
		return nil, err
	}
	reader := spanReader{p: &h.process, budget: &h.budget, in: &h.index}
	err = reader.read()
	if h.Damaged = reader.damaged; err != nil {
		return nil, err
	}
	h.marked, h.shared = newBitset(h.objects), newBitset(h.objects)
	h.typing = typing{p: &h.process, in: &h.index, types: newTypeTable(&h.process), typeOf: make([]uint32, h.objects)}
	h.frames = frameKinds{p: &h.process, types: h.types, rodata: h.rodata, kinds: map[uint64]*frameKind{}}
	h.cache.counts = func(addr uint64) bool { return h.spanOf(addr) != nil }
	if err := h.markAll(); err != nil {
		return nil, err
	}
	if err := h.pin(); err != nil {
		return nil, err
	}
	h.Missing = h.cache.missing
	return h, nil
}
