package heap

import (
	"cmp"
	"slices"
	"strings"
)

// maxWays bounds how many different ways are told apart; the rest go by their
// last steps.
const maxWays = 1 << 20

// way is the types on a shortest path from a root: those before, and the last.
type way struct {
	before uint32
	step   string
}

// wayTable knows the ways to nodes.
type wayTable struct {
	g     *Graph
	p     *paths
	index map[way]uint32
	ways  []way
	of    []uint32 // by node; 0 is not known yet
	names map[uint32]string
}

// Ways returns how the objects of a type are held: the types on shortest paths
// from the roots, with how many objects are held so, the most bytes first.
// Addresses and lengths of arrays are left out, goroutines that began at one
// function are one, and objects of one type in a row are one.
func (g *Graph) Ways(typ string) []Path {
	p, err := g.findPaths()
	if err != nil {
		return nil
	}
	t := wayTable{g: g, p: p, index: map[way]uint32{}, ways: make([]way, 1), of: make([]uint32, len(g.idom)), names: map[uint32]string{}}
	match := g.h.matcher(typ)
	type sum struct {
		count, bytes, retained int64
		example                uint32 // an object
	}
	sums := map[uint32]*sum{}
	g.h.each(g.h.marked, func(id uint32, s *span) {
		if !match(id, s) {
			return
		}
		w := t.to(id)
		x := sums[w]
		if x == nil {
			x = &sum{example: id}
			sums[w] = x
		}
		x.count++
		x.bytes += int64(s.elemsize)
		if !g.within(id, match) {
			x.retained += g.retained(id, s)
		}
	})
	var out []Path
	for w, x := range sums {
		p := t.path(w)
		p.Count, p.Bytes, p.Retained = x.count, x.bytes, x.retained
		if v, ids := t.p.chain(x.example); p.Root.Kind == Goroutine && v != 0 {
			g.rootField(&p, v, ids[0])
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(x, y Path) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Root.Name, y.Root.Name), cmp.Compare(len(x.Steps), len(y.Steps)))
	})
	return out
}

// within tells whether the object that dominates another one matches too: what it
// holds is counted there. What is no node has no pointers, and is held by nothing
// of its type.
func (g *Graph) within(id uint32, match func(uint32, *span) bool) bool {
	if !g.nodes.has(id) {
		return false
	}
	d, ok := g.nodes.object(g.idom[g.nodes.of(id)])
	return ok && match(d, g.h.spanOfObject(d))
}

// to returns the way to an object.
func (t *wayTable) to(id uint32) uint32 {
	if t.g.nodes.has(id) {
		return t.way(t.g.nodes.of(id))
	}
	before, step := t.way(t.p.before(id)), t.typeName(id)
	if before != 0 && t.ways[before].step == step {
		return before
	}
	return t.intern(way{before, step})
}

// way returns the way to a node, with those to the nodes before it.
func (t *wayTable) way(node uint32) uint32 {
	var path []uint32
	for v := node; t.of[v] == 0 && v != 0; v = t.p.parent[v] {
		path = append(path, v)
	}
	slices.Reverse(path)
	for _, v := range path {
		before := t.of[t.p.parent[v]]
		step := t.name(v)
		if before != 0 && t.ways[before].step == step {
			t.of[v] = before
			continue
		}
		t.of[v] = t.intern(way{before, step})
	}
	return t.of[node]
}

func (t *wayTable) intern(w way) uint32 {
	if i, ok := t.index[w]; ok {
		return i
	}
	if len(t.ways) >= maxWays {
		w.before = 0
		if i, ok := t.index[w]; ok {
			return i
		}
	}
	i := uint32(len(t.ways))
	t.index[w] = i
	t.ways = append(t.ways, w)
	return i
}

// name is the step to a node: the type of an object, or the kind and the name of
// a root.
func (t *wayTable) name(node uint32) string {
	g := t.g
	if r, ok := g.nodes.root(node); ok {
		if r.Kind == Goroutine {
			return string(r.Kind) + "\x00goroutines\x00" + r.Func
		}
		return string(r.Kind) + "\x00" + r.Name + "\x00"
	}
	id, ok := g.nodes.object(node)
	if !ok {
		return "unknown"
	}
	return t.typeName(id)
}

func (t *wayTable) typeName(id uint32) string {
	g := t.g
	k := g.h.kind(id)
	if k == 0 {
		return g.h.typeName(id, g.h.spanOfObject(id))
	}
	name, ok := t.names[k]
	if !ok {
		name = g.h.kindName(k)
		t.names[k] = name
	}
	return name
}

// path writes a way out.
func (t *wayTable) path(w uint32) (p Path) {
	for ; w != 0; w = t.ways[w].before {
		step := t.ways[w].step
		if kind, rest, ok := strings.Cut(step, "\x00"); ok {
			p.Root.Kind = RootKind(kind)
			p.Root.Name, p.Root.Func, _ = strings.Cut(rest, "\x00")
			continue
		}
		p.Steps = append(p.Steps, Step{Type: step, Times: 1})
	}
	slices.Reverse(p.Steps)
	return p
}
