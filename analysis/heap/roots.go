package heap

import "fmt"

// RootKind says what kind of thing holds objects from outside of the heap.
type RootKind string

// The kinds of roots.
const (
	Global    RootKind = "global"    // a global variable
	Goroutine RootKind = "goroutine" // its stack
	Finalizer RootKind = "finalizer" // a finalizer, a cleanup or a weak pointer
)

// Root is something that holds objects from outside of the heap.
type Root struct {
	Kind RootKind
	// Name is that of the variable, "goroutine 7", or what is run for an object.
	Name string
	// Func is, of a goroutine, where it began.
	Func string

	literal static // of a variable without a name: what it is, where that is known
}

// rootEdge is one pointer of a root.
type rootEdge struct {
	root   uint32
	target uint32
	place  uint32 // on a stack, an index of Heap.places; 0 for others
}

// rootTable has the roots and what they lead to.
type rootTable struct {
	roots      []Root
	edges      []rootEdge
	places     []place // where pointers on stacks are
	placeIndex map[place]uint32
}

// variables are the global variables of the program.
type variables struct {
	modules []module
	rodata  uint64 // runtime.rodata, as linked
}

// module is the variables of the program, or of a plugin.
type module struct {
	ranges [2]maskedRange // data, bss
}

// maskedRange is memory with bits that tell which words are pointers.
type maskedRange struct {
	low, high uint64
	mask      uint64 // address of the bits
	bits      uint64
}

const (
	maxModules  = 16
	maxVarBytes = 1 << 36
)

// read reads where the global variables are, from runtime.firstmoduledata.
func (g *variables) read(p *process) error {
	v, ok := p.l.types.Variable("runtime.firstmoduledata")
	if !ok {
		return fmt.Errorf("%w: the debug information has no runtime.firstmoduledata", ErrNotReadable)
	}
	word := func(base uint64, path ...string) uint64 {
		off, _, ok := p.l.types.Field(v.Type, path...)
		if !ok {
			return 0
		}
		w, err := p.word(base + uint64(off))
		if err != nil {
			return 0
		}
		return w
	}
	g.rodata = word(v.Addr+p.bias, "rodata") - p.bias
	for at := v.Addr + p.bias; at != 0 && len(g.modules) < maxModules; at = word(at, "next") {
		var m module
		for i, name := range []string{"data", "bss"} {
			mask := "gc" + name + "mask"
			r := maskedRange{low: word(at, name), high: word(at, "e"+name), mask: word(at, mask, "bytedata"), bits: word(at, mask, "n") & (1<<32 - 1)}
			if r.low < r.high && r.high-r.low < maxVarBytes {
				m.ranges[i] = r
			}
		}
		g.modules = append(g.modules, m)
	}
	if g.modules[0].ranges[0].low == 0 {
		return fmt.Errorf("%w: runtime.firstmoduledata is not in the memory (is it of this binary?)", ErrNotReadable)
	}
	return nil
}

// moduleOf returns the module that a variable is in.
func (g *variables) moduleOf(addr uint64) *module {
	for i := range g.modules {
		for _, r := range g.modules[i].ranges {
			if r.low <= addr && addr < r.high {
				return &g.modules[i]
			}
		}
	}
	return nil
}

// rootVisitor notes what a root holds, and tells the marker.
type rootVisitor struct {
	m     *marker
	root  uint32
	place uint32
	stack *stackReader // where pointers into the stack itself are of interest
}

func (v *rootVisitor) pointer(p uint64, kind slotKind, elem typeID) {
	h := v.m.h
	if s := v.stack; s != nil && s.lo <= p && p < s.hi {
		s.queue = append(s.queue, stackPointer{p, kind, elem})
		return
	}
	if id, _, _ := h.find(p); id != noObject {
		h.edges = append(h.edges, rootEdge{v.root, id, v.place})
	}
	v.m.pointer(p, kind, elem)
}

// begin makes a root.
func (t *rootTable) begin(m *marker, r Root) *rootVisitor {
	t.roots = append(t.roots, r)
	return &rootVisitor{m: m, root: uint32(len(t.roots) - 1)}
}

// end forgets a root that holds nothing.
func (t *rootTable) end(v *rootVisitor) {
	if len(t.edges) == 0 || t.edges[len(t.edges)-1].root != v.root {
		t.roots = t.roots[:v.root]
	}
}

// eachRoot goes through all roots. The typed ones come first.
func (m *marker) eachRoot() {
	m.globals()
	m.drainStatics()
	m.from = ""
	m.specials()
	m.unnamed()
	m.goroutines()
}

// globals goes through the variables that the debug information has.
func (m *marker) globals() {
	h := m.h
	for _, g := range h.l.types.Variables {
		addr := g.Addr + h.bias
		if h.moduleOf(addr) == nil {
			continue
		}
		typ := h.types.of(g.Type)
		if d := h.types.at(typ); typ == 0 || d.size == 0 || d.size > maxStatic || len(h.types.planOf(typ).segments) == 0 {
			continue
		}
		v := h.begin(m, Root{Kind: Global, Name: g.Name})
		m.from = g.Name
		var sc scanner
		sc.scanVariable(&h.typing, addr, typ, v)
		h.end(v)
	}
}

// unnamed goes through the pointers in variables that the debug information does
// not have: what the compiler makes of composite literals.
func (m *marker) unnamed() {
	h := m.h
	var buf []byte
	for _, mod := range h.modules {
		for _, r := range mod.ranges {
			var v *rootVisitor
			name, literal := "", static{}
			for i := uint64(0); i < r.bits && r.low+8*i < r.high; i++ {
				if i%8 == 0 && h.cache.bytes(r.mask+i/8, 1, &buf)[0] == 0 {
					i += 7
					continue
				}
				if h.cache.bytes(r.mask+i/8, 1, &buf)[0]>>(i%8)&1 == 0 {
					continue
				}
				addr := r.low + 8*i
				if h.declared(addr) {
					continue
				}
				w := le64(h.cache.bytes(addr, 8, &buf))
				if id, _, _ := h.find(w); id == noObject {
					continue
				}
				if n, s := m.nameOf(addr); v == nil || n != name || s.addr != literal.addr {
					name, literal = n, s
					v = h.begin(m, Root{Kind: Global, Name: name, literal: s})
				}
				v.pointer(w, toRaw, 0)
			}
		}
	}
}

// nameOf names a place among the global variables: by what leads there, with what that
// is, else by the symbol table.
func (m *marker) nameOf(addr uint64) (string, static) {
	h := m.h
	for back := uint64(0); back < maxLiteral; back += 8 {
		if s, ok := m.statics[addr-back]; ok {
			if d := h.types.at(s.typ); back < d.size && s.from != "" {
				return "*" + s.from, s
			}
			break
		}
	}
	if s, ok := h.bin.SymbolAt(addr - h.bias); ok {
		return s.Name, static{}
	}
	return fmt.Sprintf("variable at %#x", addr-h.bias), static{}
}

// maxLiteral is how far back a composite literal is looked for that has a pointer.
const maxLiteral = 4096

// maxSpecials bounds the list of a span.
const maxSpecials = 1 << 20

// specials goes through finalizers, cleanups and weak pointers: the functions that
// are to be run, and for a finalizer what the object leads to.
func (m *marker) specials() {
	h := m.h
	finalizer, weak, cleanup := h.l.specialKinds()
	var buf []byte
	var sc scanner
	for i := range h.spans {
		s := &h.spans[i]
		at := s.special
		for n := 0; at != 0 && at>>48 == 0 && n < maxSpecials; n++ {
			b := h.cache.bytes(at, h.l.specialSize, &buf)
			next, off, kind := h.l.specialNext.of(b), h.l.specialOffset.of(b), h.l.specialKind.of(b)
			var fn field
			switch kind {
			case finalizer:
				fn = h.l.finalizerFn
			case weak:
				fn = h.l.weakHandle
			case cleanup:
				fn = h.l.cleanupFn
			}
			if fn.size == 8 {
				w := le64(h.cache.bytes(at+uint64(fn.off), 8, &buf))
				if kind == weak {
					v := h.begin(m, Root{Kind: Finalizer, Name: "weak pointer"})
					v.pointer(w, toRaw, 0)
					h.end(v)
				} else {
					v := h.begin(m, Root{Kind: Finalizer, Name: h.runs(w)})
					v.pointer(w, toFunc, h.types.funcs)
					if id, s, _ := h.find(s.base + off); kind == finalizer && id != noObject && !s.noscan {
						sc.scan(&h.typing, id, s, v)
					}
					h.end(v)
				}
			}
			at = next
		}
	}
}
