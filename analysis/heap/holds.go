package heap

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNoObject is wrapped by errors about addresses and types that nothing in the
// heap has.
var ErrNoObject = errors.New("nothing in the heap is at this address")

// Step is one object on the way from a root to another.
type Step struct {
	// Type is its type, Addr where it is.
	Type string `json:"type"`
	Addr uint64 `json:"addr"`
	// Field is where in the thing before it the pointer is: ".next", "[3].name".
	Field string `json:"field,omitempty"`
	// Times is how many objects of one type follow each other, through the
	// field Through, as those of a list do; Addr is the first one's.
	Times   int    `json:"times"`
	Through string `json:"through,omitempty"`
}

// Path is a shortest way from a root to an object.
type Path struct {
	Root Holder `json:"root"`
	// Frame is the function on whose stack the first pointer is, Variable its
	// variable there, where it is known.
	Frame    string `json:"frame,omitempty"`
	Variable string `json:"variable,omitempty"`
	// File and Line are where that function was at work.
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
	Steps []Step `json:"steps"`
	// Count and Bytes are of the objects that are held in this way, Retained is
	// what would be free without the last one.
	Count    int64 `json:"count"`
	Bytes    int64 `json:"bytes"`
	Retained int64 `json:"retained"`
}

// Object is one object of the heap.
type Object struct {
	Addr     uint64 `json:"addr"`
	Type     string `json:"type"`
	Bytes    int64  `json:"bytes"`
	Retained int64  `json:"retained"`
}

// maxSteps bounds how many steps of a path are told. Runs of one type count once.
const maxSteps = 1000

// At returns the object that an address is in.
func (g *Graph) At(addr uint64) (Object, error) {
	id, s, _ := g.h.find(addr)
	if id == noObject {
		return Object{}, fmt.Errorf("%#x: %w: no object is allocated there", addr, ErrNoObject)
	}
	if !g.h.marked.has(id) {
		return Object{}, fmt.Errorf("%#x: %w that is held: it is garbage (%s, %d bytes)", addr, ErrNoObject, g.h.typeName(id, s), s.elemsize)
	}
	return g.describe(id), nil
}

// describe says what an object is.
func (g *Graph) describe(id uint32) Object {
	s := g.h.spanOfObject(id)
	return Object{g.h.addr(s, id), g.h.exactName(id, s), int64(s.elemsize), g.retained(id, s)}
}

// Largest returns the objects that retain most, of one type or of all; n is how
// many. Of a type, those that another one of it holds are left out.
func (g *Graph) Largest(typ string, n int) []Object {
	match := g.h.matcher(typ)
	var list []large
	g.h.each(g.h.marked, func(id uint32, s *span) {
		if !match(id, s) || typ != "" && g.within(id, match) {
			return
		}
		list = append(list, large{id, g.retained(id, s)})
		if len(list) >= 2*n+1024 {
			list = most(list, n)
		}
	})
	var out []Object
	for _, x := range most(list, n) {
		out = append(out, g.describe(x.id))
	}
	return out
}

// large is an object with what it retains.
type large struct {
	id       uint32
	retained int64
}

func most(list []large, n int) []large {
	slices.SortFunc(list, func(x, y large) int { return cmp.Or(cmp.Compare(y.retained, x.retained), cmp.Compare(x.id, y.id)) })
	return list[:min(len(list), n)]
}

// sameType tells whether a type is the one that a user has asked for: by its whole
// name, or by that without the path of the package, "server.Conn".
func sameType(name, asked string) bool {
	if name == asked {
		return true
	}
	return ShortType(name) == asked
}

// ShortType leaves the paths of packages out of a type: "map[string]*server.Conn".
func ShortType(name string) string {
	var b strings.Builder
	word := 0
	for i := 0; i <= len(name); i++ {
		if i < len(name) && !strings.ContainsRune("[]*(){},; <>", rune(name[i])) {
			continue
		}
		w := name[word:i]
		b.WriteString(w[strings.LastIndexByte(w, '/')+1:])
		if i < len(name) {
			b.WriteByte(name[i])
		}
		word = i + 1
	}
	return b.String()
}

// Path returns a shortest way from a root to the object at an address.
func (g *Graph) Path(addr uint64) (Path, error) {
	id, s, _ := g.h.find(addr)
	if id == noObject || !g.h.marked.has(id) {
		_, err := g.At(addr)
		return Path{}, err
	}
	ways, err := g.findPaths()
	if err != nil {
		return Path{}, err
	}
	p := g.path(ways.chain(id))
	p.Count, p.Bytes, p.Retained = 1, int64(s.elemsize), g.retained(id, s)
	return p, nil
}

// path tells the steps from a root on.
func (g *Graph) path(node uint32, ids []uint32) (p Path) {
	root, ok := g.nodes.root(node)
	if !ok {
		return p
	}
	p.Root = Holder{root.Kind, root.Name, root.Func, g.held.at(node)}
	for i, id := range ids {
		s := g.h.spanOfObject(id)
		step := Step{Type: g.h.exactName(id, s), Addr: g.h.addr(s, id), Times: 1}
		if i == 0 {
			step.Field = g.rootField(&p, node, id)
		} else if len(p.Steps) < maxSteps {
			step.Field = fieldNames{&g.h.typing}.of(ids[i-1], id)
		}
		end := i == len(ids)-1
		if n := len(p.Steps); n > 0 && !end {
			last := &p.Steps[n-1]
			if last.Type == step.Type && (last.Times == 1 || last.Through == step.Field) {
				last.Through = step.Field
				last.Times++
				continue
			}
		}
		if len(p.Steps) >= maxSteps && !end {
			continue
		}
		p.Steps = append(p.Steps, step)
	}
	return p
}

// rootField notes on which frame of a goroutine and in which variable there the pointer
// of a root to an object is, and returns in which field of a global variable it is.
func (g *Graph) rootField(p *Path, node uint32, id uint32) (field string) {
	h := g.h
	root := node - 1
	i, _ := slices.BinarySearchFunc(h.edges, root, func(e rootEdge, r uint32) int { return cmp.Compare(e.root, r) })
	for ; i < len(h.edges) && h.edges[i].root == root; i++ {
		if h.edges[i].target != id {
			continue
		}
		at := h.places[h.edges[i].place]
		if at.pc != 0 && (p.Frame == "" || at.name != "") {
			p.atWork(h, at)
		}
		if p.Variable != "" || at.pc == 0 {
			break
		}
	}
	r := &h.roots[root]
	if r.Kind != Global {
		return ""
	}
	names := fieldNames{&h.typing}
	if v, ok := h.l.types.Variable(r.Name); ok {
		return names.search(v.Addr+h.bias, uint64(max(h.l.types.At(v.Type).Size, 0)), h.types.of(v.Type), false, id)
	}
	if s := r.literal; s.addr != 0 && !s.many {
		return names.search(s.addr, h.types.at(s.typ).size, s.typ, false, id)
	}
	return ""
}

// atWork notes the function and the variable of a place on a stack. What the compiler
// makes of a go statement has nothing of its own: the function is what it calls.
func (p *Path) atWork(h *Heap, at place) {
	frames := h.bin.Frames(at.pc)
	if len(frames) == 0 {
		return
	}
	f := frames[len(frames)-1]
	if _, n, ok := strings.Cut(f.Func, ".gowrap"); ok && len(frames) > 1 && strings.Trim(n, "0123456789") == "" {
		f = frames[len(frames)-2]
	}
	p.Frame, p.Variable, p.File, p.Line = f.Func, at.name, f.File, f.Line
}
