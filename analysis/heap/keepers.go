package heap

import (
	"cmp"
	"slices"
	"strings"
)

// Keeper is a place that memory piles up at: the last object on the way from a root, or
// the root itself, under which most of what it holds is spread over many.
type Keeper struct {
	// Path leads there; its Retained is what would be free without the keeper, Bytes and
	// Count what of that no keeper further down holds.
	Path
	// Type is that of what is there, of the parts that the runtime makes of a map that of the
	// map; empty where the root itself is the keeper.
	Type string `json:"type,omitempty"`
	// Goroutines is how many goroutines that began at the root's function hold it, each
	// its part; the path is that of the one with the most. It is 0 of what one root holds.
	Goroutines int `json:"goroutines,omitempty"`
	// Shared tells that several roots lead to it: the path is one of the ways, and
	// cutting that alone frees nothing.
	Shared bool `json:"shared,omitempty"`
	// Objects are what it holds by type, the most bytes first, Sizes the same by the
	// bytes that the allocator has for each of them: bytes by size.
	Objects []Row `json:"objects"`
	// Pinned is what of that only small parts keep; nil where nothing is.
	Pinned *Pinned `json:"pinned,omitempty"`
	// Parted is what of that strings and slices refer to in other ways.
	Parted Parted          `json:"parted,omitzero"`
	Sizes  map[int64]int64 `json:"-"`
}

// Keeping is where the memory of a heap piles up.
type Keeping struct {
	// Keepers are in the order of their bytes, the most first. No object is counted for
	// two of them.
	Keepers []Keeper `json:"keepers"`
	// Reached is everything that a root leads to, in bytes, Sizes the same by the
	// bytes that the allocator has for each object.
	Reached int64           `json:"reached"`
	Sizes   map[int64]int64 `json:"-"`
	// Together are, where no keeper has half of it, a few roots that have; nil where there are none.
	Together *Together `json:"together,omitempty"`
}

// What makes a place a keeper, chosen: a place passes on what at most maxHeirs of those
// below it hold, if that is heirShare of what it holds itself, and each of them has
// heirLeast of it.
const (
	maxHeirs  = 3
	heirShare = 0.8
	heirLeast = 0.1
)

// maxObjects bounds the types that a keeper tells of.
const maxObjects = 5

// Keepers finds where memory piles up: what alone holds at least so many bytes, and
// passes them on to no few others. Of lists and trees, whose objects
// lead on to others of their own type, the first of them is the keeper; of a map, the map.
func Keepers(g *Graph, least int64) (*Keeping, error) {
	taken := g.h.taken
	defer func() { g.h.taken = taken }()
	if err := g.h.take(int64(len(g.idom))*12, "what keeps memory"); err != nil {
		return nil, err
	}
	p, err := g.findPaths()
	if err != nil {
		return nil, err
	}
	k := keepers{g: g, p: p, least: max(1, least), heirs: heirsOf(g, int64(heirLeast*float64(least)))}
	k.fromRoots()
	out := &Keeping{Sizes: map[int64]int64{}}
	k.addUp(out)
	for i := range k.found {
		if x := &k.found[i].Keeper; x.Bytes >= k.least {
			out.Keepers = append(out.Keepers, *x)
		}
	}
	slices.SortStableFunc(out.Keepers, func(a, b Keeper) int { return cmp.Compare(b.Bytes, a.Bytes) })
	if len(out.Keepers) > 0 && 2*out.Keepers[0].Bytes >= out.Reached {
		return out, nil
	}
	out.Together, err = k.together(out.Reached)
	return out, err
}

// keepers looks for them.
type keepers struct {
	g     *Graph
	p     *paths
	least int64
	heirs heirs
	found []foundKeeper
}

// foundKeeper is a keeper with the nodes that are its own.
type foundKeeper struct {
	Keeper
	nodes []uint32
}

// heirs are the nodes that hold much, by the node that dominates them.
type heirs []heir

type heir struct{ of, node uint32 }

// heirsOf finds the nodes that hold at least so much.
func heirsOf(g *Graph, least int64) (all heirs) {
	for v := uint32(1); v < uint32(len(g.idom)); v++ {
		if g.held.at(v) >= max(1, least) {
			all = append(all, heir{g.idom[v], v})
		}
	}
	slices.SortFunc(all, func(a, b heir) int { return cmp.Or(cmp.Compare(a.of, b.of), cmp.Compare(a.node, b.node)) })
	return all
}

// of returns those that a node dominates.
func (all heirs) of(v uint32) heirs {
	from, _ := slices.BinarySearchFunc(all, v, func(h heir, v uint32) int { return cmp.Compare(h.of, v) })
	to := from
	for to < len(all) && all[to].of == v {
		to++
	}
	return all[from:to]
}

// fromRoots begins at everything that node 0 dominates. Goroutines that began at one
// function are one, unless one of them has nearly all.
func (k *keepers) fromRoots() {
	g := k.g
	crews := map[string][]uint32{}
	var names []string
	for v := uint32(1); v <= uint32(len(g.nodes.roots)); v++ {
		root := &g.nodes.roots[v-1]
		switch {
		case g.held.at(v) == 0:
		case root.Kind == Goroutine:
			if crews[root.Func] == nil {
				names = append(names, root.Func)
			}
			crews[root.Func] = append(crews[root.Func], v)
		case g.held.at(v) >= k.least:
			k.descend(v)
		}
	}
	for _, name := range names {
		k.crew(crews[name])
	}
	for _, h := range k.heirs.of(0) {
		if _, isObject := g.nodes.object(h.node); isObject && g.held.at(h.node) >= k.least {
			k.descend(h.node)
		}
	}
}

// crew looks at goroutines that began at one function.
func (k *keepers) crew(roots []uint32) {
	g := k.g
	sum, most := int64(0), roots[0]
	for _, v := range roots {
		sum += g.held.at(v)
		if g.held.at(v) > g.held.at(most) {
			most = v
		}
	}
	switch {
	case sum < k.least:
	case float64(g.held.at(most)) >= heirShare*float64(sum):
		k.descend(most)
	default:
		x := k.keeperAt(k.deepest(most))
		x.Goroutines, x.Retained, x.Shared = len(roots), sum, false
		k.found = append(k.found, foundKeeper{x, roots})
	}
}

// maxDepth bounds how far down one goes for an example.
const maxDepth = 16

// deepest goes down from a root as long as one object alone has most of what is held.
func (k *keepers) deepest(v uint32) uint32 {
	way := []uint32{v}
	for range maxDepth {
		best := uint32(0)
		for w, d := range k.g.idom {
			if d == v && w != 0 && (best == 0 || k.g.held.at(uint32(w)) > k.g.held.at(best)) {
				best = uint32(w)
			}
		}
		if best == 0 || float64(k.g.held.at(best)) < heirShare*float64(k.g.held.at(v)) {
			break
		}
		v = best
		way = append(way, v)
	}
	return k.wholeMap(k.firstLink(way))
}

// descend goes down to the keepers of what a node holds. way is how it came there.
func (k *keepers) descend(v uint32, way ...uint32) {
	for {
		way = append(way, v)
		next := k.pass(v)
		if len(next) == 1 {
			v = next[0]
			continue
		}
		for _, w := range next {
			k.descend(w, way...)
		}
		if len(next) == 0 {
			k.find(k.wholeMap(k.firstLink(way)))
		}
		return
	}
}

// links is how many objects of one type make a list or a tree of a way. Chosen: a thing may be
// within another of its type without being one.
const links = 3

// firstLink is where a way has come to; where it ends within a list or a tree, whose objects
// lead to others of their own type, the first of these.
func (k *keepers) firstLink(way []uint32) uint32 {
	end := way[len(way)-1]
	kind, ok := k.kindOf(end)
	if !ok {
		return end
	}
	first, n := end, 0
	for _, v := range way {
		if x, ok := k.kindOf(v); ok && x == kind {
			if n++; n == 1 {
				first = v
			}
		}
	}
	if n < links {
		return end
	}
	return first
}

// kindOf is the type of a node's object; false for a root.
func (k *keepers) kindOf(v uint32) (kindKey, bool) {
	id, ok := k.g.nodes.object(v)
	if !ok {
		return kindKey{}, false
	}
	return k.g.h.keyOf(id, k.g.h.spanOfObject(id)), true
}

// find adds a keeper, once: several parts of a map may lead to it.
func (k *keepers) find(v uint32) {
	if !slices.ContainsFunc(k.found, func(x foundKeeper) bool { return x.Goroutines == 0 && x.nodes[0] == v }) {
		k.found = append(k.found, foundKeeper{k.keeperAt(v), []uint32{v}})
	}
}

// pass returns the few nodes to which one passes on what it holds; none where it is a
// keeper itself.
func (k *keepers) pass(v uint32) (next []uint32) {
	held, sum := k.g.held.at(v), int64(0)
	for _, h := range k.heirs.of(v) {
		if n := k.g.held.at(h.node); n >= k.least && float64(n) >= heirLeast*float64(held) {
			next, sum = append(next, h.node), sum+n
		}
	}
	if len(next) > maxHeirs || float64(sum) < heirShare*float64(held) {
		return nil
	}
	return next
}

// typeOf is the type of a node's object, without the length of an array; empty for a root.
func (k *keepers) typeOf(v uint32) string {
	id, ok := k.g.nodes.object(v)
	if !ok {
		return ""
	}
	return k.g.h.typeName(id, k.g.h.spanOfObject(id))
}

// wholeMap is the map of which a node is a part, else the node.
func (k *keepers) wholeMap(v uint32) uint32 {
	at := v
	for {
		if !isMapPart(k.typeOf(at)) {
			return at
		}
		up := k.g.idom[at]
		if k.typeOf(up) == "" { // a root: it holds the map by its parts
			return at
		}
		at = up
	}
}

// keeperAt tells of a node, but for what it holds.
func (k *keepers) keeperAt(v uint32) (x Keeper) {
	g := k.g
	if r, ok := g.nodes.root(v); ok {
		x.Root = Holder{r.Kind, r.Name, r.Func, g.held.at(v)}
	} else if id, ok := g.nodes.object(v); ok {
		x.Path = g.path(k.p.chain(id))
	}
	for at := v; at != 0; at = g.idom[at] {
		_, isRoot := g.nodes.root(at)
		x.Shared = !isRoot
	}
	x.Retained = g.held.at(v)
	return x
}

// addUp counts what each keeper holds.
func (k *keepers) addUp(out *Keeping) {
	g, h := k.g, k.g.h
	owner := k.owners()
	rows := make([]map[kindKey]*Row, len(k.found))
	for i := range k.found {
		k.found[i].Sizes, rows[i] = map[int64]int64{}, map[kindKey]*Row{}
	}
	h.each(h.marked, func(id uint32, s *span) {
		size := int64(s.elemsize)
		out.Reached += size
		out.Sizes[size] += size
		node := uint32(0)
		if g.nodes.has(id) {
			node = g.nodes.of(id)
		} else {
			node = k.p.before(id)
		}
		i := owner[node]
		if i == 0 {
			return
		}
		x := &k.found[i-1]
		x.Sizes[size] += size
		if h.pinned.has(id) {
			if x.Pinned == nil {
				x.Pinned = &Pinned{}
			}
			x.Pinned.add(h, id, s)
		}
		x.Parted.note(h, id, s)
		key := h.keyOf(id, s)
		r := rows[i-1][key]
		if r == nil {
			r = &Row{Type: h.typeName(id, s)}
			rows[i-1][key] = r
		}
		r.Count++
		r.Bytes += size
	})
	for i := range k.found {
		x := &k.found[i]
		for _, r := range rows[i] {
			x.Objects = append(x.Objects, *r)
		}
		slices.SortFunc(x.Objects, func(a, b Row) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Type, b.Type)) })
		x.Type = mapOf(x.Objects, x.Steps)
		x.Objects = x.Objects[:min(len(x.Objects), maxObjects)]
		if x.Pinned != nil {
			x.Pinned.name(func(id uint32) string { return partAlong(g, k.p, id) })
		}
		x.Count, x.Bytes = 0, 0
		for size, bytes := range x.Sizes {
			x.Count, x.Bytes = x.Count+bytes/size, x.Bytes+bytes
		}
	}
}

// mapOf is the type of the last of some steps. Where that is a part of a map, which may have
// no type of its own in a variable that is not known, what hangs on it says of which.
func mapOf(objects []Row, steps []Step) string {
	if len(steps) == 0 {
		return ""
	}
	typ := steps[len(steps)-1].Type
	if !isMapPart(typ) {
		return typ
	}
	for _, r := range objects {
		for _, part := range []string{" (group)", " (bucket)"} {
			if of, ok := strings.CutSuffix(r.Type, part); ok {
				return strings.TrimPrefix(of, "[N]")
			}
		}
	}
	return typ
}

// isMapPart tells of a type that the runtime makes maps of it.
func isMapPart(typ string) bool {
	return strings.HasSuffix(typ, " (table)") || strings.HasSuffix(typ, " (group)") || strings.HasSuffix(typ, " (bucket)") ||
		strings.Contains(typ, "internal/runtime/maps.")
}

// owners tells of each node which keeper holds it, by its number in found and one; 0 is
// none.
func (k *keepers) owners() []uint32 {
	const unknown = ^uint32(0)
	owner := make([]uint32, len(k.g.idom))
	for i := range owner {
		owner[i] = unknown
	}
	owner[0] = 0
	for i := range k.found {
		for _, v := range k.found[i].nodes {
			owner[v] = uint32(i + 1)
		}
	}
	var way []uint32
	for v := range owner {
		way = way[:0]
		at := uint32(v)
		for owner[at] == unknown {
			way = append(way, at)
			at = k.g.idom[at]
		}
		for _, w := range way {
			owner[w] = owner[at]
		}
	}
	return owner
}
