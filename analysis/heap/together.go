package heap

import (
	"cmp"
	"slices"
	"strings"
)

// Together are a few roots that hold together what none of them holds alone: each of them leads to the same objects, as two
// maps with the same keys do, or has a part.
type Together struct {
	// Roots are global variables, the one that leads to most first. The type of each is that of what it leads to, where that is
	// one object.
	Roots []Keeper `json:"roots"`
	// Bytes is what would be free without all of them, Objects the same by type, Sizes by the bytes of each object.
	Bytes   int64           `json:"bytes"`
	Objects []Row           `json:"objects"`
	Sizes   map[int64]int64 `json:"-"`
}

// mostRoots bounds the roots that are told of together, and tried those that are tried. Chosen: what hangs on more than three
// is nobody's in particular.
const (
	mostRoots = 3
	tried     = 8
)

// together looks for a few global variables that hold half of what is reached; nil where there are none. The variables of one
// package are tried first, since they are the more likely to be kept in step.
func (k *keepers) together(reached int64) (*Together, error) {
	g := k.g
	taken := g.h.taken
	defer func() { g.h.taken = taken }()
	n := uint32(len(g.idom))
	if err := g.h.take(int64(n)*12, "what keeps memory together"); err != nil {
		return nil, err
	}
	out, err := g.read(n, 0.9, func(uint32, uint32, *span) {})
	if err != nil {
		return nil, err
	}
	g.h.cache.drop()
	roots := k.leading(out, int64(heirLeast*float64(reached)))
	for _, some := range sets(g, roots) {
		if x := k.heldBy(out, some); 2*x.Bytes >= reached {
			for _, v := range some {
				root := k.keeperAt(v)
				if first := out.start[v]; out.start[v+1] == first+1 {
					root.Type = k.typeOf(out.to.at(first))
				}
				x.Roots = append(x.Roots, root)
			}
			return x, nil
		}
	}
	return nil, nil
}

// leading are the global variables, but for the runtime's, that lead to at least so much: by what they hold alone, and by what
// is another's too.
func (k *keepers) leading(out adjacency, least int64) (roots []uint32) {
	g, n := k.g, uint32(len(k.g.idom))
	top, last, sum := make([]uint32, n), make([]uint32, n), map[uint32]int64{}
	var way []uint32
	for v := uint32(1); v < n; v++ {
		way = way[:0]
		at := v
		for top[at] == 0 && g.idom[at] != 0 {
			way, at = append(way, at), g.idom[at]
		}
		if top[at] == 0 {
			top[at] = at
		}
		for _, w := range way {
			top[w] = top[at]
		}
	}
	for v := uint32(1); v < n; v++ {
		r, ok := g.nodes.root(top[v])
		if !ok || r.Kind != Global || strings.HasPrefix(strings.TrimLeft(r.Name, "*"), "runtime.") {
			continue
		}
		if v == top[v] {
			sum[v] += g.held.at(v)
		}
		for e := out.start[v]; e < out.start[v+1]; e++ {
			if w := out.to.at(e); g.idom[w] == 0 && w != v && last[w] != top[v] {
				last[w] = top[v]
				sum[top[v]] += g.held.at(w)
			}
		}
	}
	for v, bytes := range sum {
		if bytes >= least {
			roots = append(roots, v)
		}
	}
	slices.SortFunc(roots, func(a, b uint32) int { return cmp.Or(cmp.Compare(sum[b], sum[a]), cmp.Compare(a, b)) })
	return roots[:min(tried, len(roots))]
}

// sets are the roots to try: each alone, which may have its memory in several places; those of one package; and then the first of all.
func sets(g *Graph, roots []uint32) (all [][]uint32) {
	packages := map[string][]uint32{}
	var names []string
	for _, v := range roots {
		all = append(all, []uint32{v})
		r, _ := g.nodes.root(v)
		name := PackageOf(r.Name)
		if packages[name] == nil {
			names = append(names, name)
		}
		packages[name] = append(packages[name], v)
	}
	for _, name := range names {
		for n := 2; n <= min(mostRoots, len(packages[name])); n++ {
			all = append(all, packages[name][:n])
		}
	}
	for n := 2; n <= min(mostRoots, len(roots)); n++ {
		all = append(all, roots[:n])
	}
	return all
}

// PackageOf is the package of a global variable: "example.org/shop" of "*example.org/shop.open".
func PackageOf(name string) string {
	name = strings.TrimLeft(name, "*")
	slash := strings.LastIndexByte(name, '/') + 1
	pkg, _, _ := strings.Cut(name[slash:], ".")
	return name[:slash] + pkg
}

// heldBy is what is reached from some roots, and from no other root but stacks, which count for what nothing else holds.
func (k *keepers) heldBy(out adjacency, roots []uint32) *Together {
	g, h := k.g, k.g.h
	seen := newBitset(uint32(len(g.idom)))
	var todo []uint32
	spread := func(visit func(v uint32)) {
		for len(todo) > 0 {
			v := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			visit(v)
			for e := out.start[v]; e < out.start[v+1]; e++ {
				if w := out.to.at(e); !seen.has(w) {
					seen.set(w)
					todo = append(todo, w)
				}
			}
		}
	}
	for v := uint32(1); v < g.nodes.stacks(); v++ {
		if !slices.Contains(roots, v) {
			seen.set(v)
			todo = append(todo, v)
		}
	}
	spread(func(uint32) {})
	own := newBitset(uint32(len(g.idom)))
	for _, v := range roots {
		if !seen.has(v) {
			seen.set(v)
			todo = append(todo, v)
		}
	}
	spread(own.set)
	x := &Together{Sizes: map[int64]int64{}}
	rows := map[kindKey]*Row{}
	h.each(h.marked, func(id uint32, s *span) {
		node := uint32(0)
		if g.nodes.has(id) {
			node = g.nodes.of(id)
		} else {
			node = k.p.before(id)
		}
		if !own.has(node) {
			return
		}
		size := int64(s.elemsize)
		x.Bytes += size
		x.Sizes[size] += size
		key := h.keyOf(id, s)
		if rows[key] == nil {
			rows[key] = &Row{Type: h.typeName(id, s)}
		}
		rows[key].Count++
		rows[key].Bytes += size
	})
	for _, r := range rows {
		x.Objects = append(x.Objects, *r)
	}
	slices.SortFunc(x.Objects, func(a, b Row) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Type, b.Type)) })
	x.Objects = x.Objects[:min(len(x.Objects), maxObjects)]
	return x
}
