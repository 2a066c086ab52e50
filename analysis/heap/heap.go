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
	"fmt"

	"loupe/symbol"
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

	mem   Memory
	bin   *symbol.Binary
	bias  uint64
	opt   Options
	taken int64 // bytes that the tables take
	l     *layout
	types *typeTable
	cache blockCache

	spans   []span // by address
	regions []*region
	low     uint64 // number of the first region
	objects uint32 // numbers that objects may have

	used    bitset   // by object: allocated
	marked  bitset   // reached from a root
	shared  bitset   // of those without pointers: reached from several things
	typeOf  []uint32 // by object: see typing.go
	roots   []Root
	edges   []rootEdge
	modules []module
	rodata  uint64 // runtime.rodata, as linked

	kinds      map[uint64]*frameKind // of frames, by program counter
	places     []place               // where pointers on stacks are
	placeIndex map[place]uint32
}

// Open reads the heap of a program. The binary must have its debug information;
// bias is what the loader has added to its addresses.
func Open(mem Memory, bin *symbol.Binary, bias uint64, opt Options) (*Heap, error) {
	if opt.MaxMemory <= 0 {
		opt.MaxMemory = defaultMaxMemory
	}
	h := &Heap{
		mem: mem, bin: bin, bias: bias, opt: opt,
		kinds: map[uint64]*frameKind{}, places: make([]place, 1), placeIndex: map[place]uint32{},
	}
	h.cache.mem = mem
	var err error
	if h.l, err = layoutOf(bin); err != nil {
		return nil, err
	}
	h.Version = h.l.minor
	h.types = newTypeTable(h)
	if err := h.readModules(); err != nil {
		return nil, err
	}
	if err := h.readSpans(); err != nil {
		return nil, err
	}
	h.cache.counts = func(addr uint64) bool { return h.spanOf(addr) != nil }
	if err := h.markAll(); err != nil {
		return nil, err
	}
	h.Missing = h.cache.missing
	return h, nil
}

// take notes that tables of n bytes are about to be made.
func (h *Heap) take(n int64, what string) error {
	if n < 0 || n > h.opt.MaxMemory-h.taken {
		return fmt.Errorf("%w: %s would take %d MB more than the %d MB that are allowed", ErrNotReadable, what, (n+h.taken-h.opt.MaxMemory)>>20, h.opt.MaxMemory>>20)
	}
	h.taken += n
	return nil
}

// word reads a word of memory that is not in the heap.
func (h *Heap) word(addr uint64) (uint64, error) {
	var b [8]byte
	err := h.mem.Read(addr, b[:])
	return le64(b[:]), err
}
