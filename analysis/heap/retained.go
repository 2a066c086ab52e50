package heap

import (
	"cmp"
	"slices"
)

// Holder is something that holds memory.
type Holder struct {
	Kind RootKind `json:"kind"`
	Name string   `json:"name"`
	// Func is where a goroutine began.
	Func string `json:"func,omitempty"`
	// Retained is how many bytes would be free without it.
	Retained int64 `json:"retained"`
}

// Holders returns the roots by what they alone hold, the most first. Goroutines
// that began at one function are one when together is set.
func (g *Graph) Holders(together bool) []Holder {
	var out []Holder
	at := map[string]int{}
	for r := range g.h.roots {
		root := &g.h.roots[r]
		hold := Holder{root.Kind, root.Name, root.Func, g.held.at(uint32(1 + r))}
		if hold.Retained == 0 {
			continue
		}
		if key := string(root.Kind) + root.Func + "\x00"; together && root.Kind == Goroutine {
			if i, ok := at[key]; ok {
				out[i].Retained += hold.Retained
				out[i].Name = "goroutines"
				continue
			}
			at[key] = len(out)
		}
		out = append(out, hold)
	}
	slices.SortStableFunc(out, func(x, y Holder) int { return cmp.Compare(y.Retained, x.Retained) })
	return out
}

// ByType returns the histogram with what the objects of each type retain: what is
// held by one of them within another one counts once.
func (g *Graph) ByType() []Row {
	n := uint32(len(g.idom))
	rows := g.h.Histogram()
	index := make(map[string]int, len(rows))
	for i := range rows {
		index[rows[i].Type] = i
	}
	kinds := g.kindsOf(index, rows)
	// The children of each node in the tree of dominators, as lists.
	first, next := make([]uint32, n), make([]uint32, n)
	for i := n - 1; i >= 1; i-- {
		next[i] = first[g.idom[i]]
		first[g.idom[i]] = i
	}
	open := make([]int32, len(rows)+1)
	stack := []uint32{0}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		if w := first[v]; w != 0 {
			first[v] = next[w]
			if k := kinds[w]; k > 0 {
				if open[k] == 0 {
					rows[k-1].Retained += g.held.at(w)
				}
				open[k]++
			}
			stack = append(stack, w)
			continue
		}
		open[kinds[v]]--
		stack = stack[:len(stack)-1]
	}
	return rows
}

// kindsOf returns, by node, the row of its type in a histogram, plus one, and adds
// the leaves to theirs: what has no pointers is held by nothing of its type.
func (g *Graph) kindsOf(index map[string]int, rows []Row) []uint32 {
	h := g.h
	kinds := make([]uint32, len(g.idom))
	known := map[kindKey]uint32{}
	var last kindKey
	row, node := uint32(0), uint32(len(h.roots))
	h.each(h.marked, func(id uint32, s *span) {
		if k := h.keyOf(id, s); row == 0 || k != last {
			var ok bool
			if row, ok = known[k]; !ok {
				row = uint32(index[h.typeName(id, s)]) + 1
				known[k] = row
			}
			last = k
		}
		if !g.nodes.has(id) {
			rows[row-1].Retained += int64(s.elemsize)
			return
		}
		node++
		kinds[node] = row
	})
	return kinds
}

// kindKey is what the objects of one row of a histogram have in common.
type kindKey struct {
	kind   uint32 // type and whether an array, or 0
	size   uint64 // of unknown ones
	noscan bool   // they have no pointers
	pinned bool   // only small parts keep them
}
