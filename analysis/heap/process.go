package heap

import (
	"sort"
	"strings"

	"loupe/format/symbol"
)

// process is a program at one moment: its memory, its binary, and how the runtime
// lies in them.
type process struct {
	mem   Memory
	bin   *symbol.Binary
	bias  uint64 // what the loader has added to the addresses of the binary
	l     *layout
	cache blockCache
}

// word reads a word of memory that is not in the heap.
func (p *process) word(addr uint64) (uint64, error) {
	var b [8]byte
	err := p.mem.Read(addr, b[:])
	return le64(b[:]), err
}

// declared tells whether an address is in a variable of the debug information.
func (p *process) declared(addr uint64) bool {
	vars := p.l.types.Variables
	addr -= p.bias
	i := sort.Search(len(vars), func(i int) bool { return vars[i].Addr > addr })
	if i == 0 {
		return false
	}
	d := p.l.types.At(vars[i-1].Type)
	return addr-vars[i-1].Addr < uint64(max(d.Size, 0)) && d.Size <= maxStatic
}

// runs names what a func value calls.
func (p *process) runs(fn uint64) string {
	if pc, err := p.word(fn); err == nil {
		if f, ok := p.bin.FuncAt(pc - p.bias); ok {
			return "finalizer " + f.Name
		}
	}
	return "finalizer"
}

// returns tells whether a function is one that returns to its caller: those by which
// a goroutine ends do not, and what is behind the call belongs to something else.
func (p *process) returns(pc uint64) bool {
	f, ok := p.bin.FuncAt(pc - p.bias)
	return !ok || !strings.HasPrefix(f.Name, "runtime.") || !strings.Contains(f.Name, "anic") && !strings.Contains(f.Name, "throw") &&
		!strings.Contains(f.Name, "fatal") && f.Name != "runtime.Goexit"
}

// isFirst tells whether a function is the first of a stack.
func (p *process) isFirst(pc uint64) bool {
	f, ok := p.bin.FuncAt(pc)
	return ok && (f.Name == "runtime.goexit" || f.Name == "runtime.mstart")
}
