package querier

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Tree is a tree of calls by the names of functions, the root first. The zero Tree is
// empty. Values that are not positive are dropped: a flame graph draws widths.
type Tree struct {
	names    []string
	nameIDs  map[string]int32
	nodes    []node  // 0 is above all roots
	children []int32 // an open hash table of nodes by parent and name, 0 is free
}

type node struct {
	name, parent int32
	self, total  int64
}

// NewTree makes a tree of the samples of a profile.
func NewTree(stacks *stack.Table, samples iter.Seq2[stack.ID, int64]) *Tree {
	t := new(Tree)
	names := make([]int32, stacks.NumFrames()) // one more than the name, of those that are known
	for id, v := range samples {
		if v <= 0 {
			continue
		}
		at := t.begin()
		for _, f := range slices.Backward(stacks.Frames(id)) {
			if names[f] == 0 {
				names[f] = t.name(nameOf(stacks.Frame(f))) + 1
			}
			at = t.child(at, names[f]-1)
		}
		t.nodes[at].self += v
	}
	return t
}

// nameOf is what a frame is called: where there is no symbol, the binary and the address.
func nameOf(f stack.Frame) string {
	switch {
	case f.Func != "":
		return f.Func
	case f.Module != "":
		return fmt.Sprintf("%s 0x%x", f.Module[strings.LastIndexByte(f.Module, '/')+1:], f.Address)
	default:
		return fmt.Sprintf("0x%x", f.Address)
	}
}

// Add adds a stack, the root first.
func (t *Tree) Add(v int64, names ...string) {
	if v <= 0 {
		return
	}
	at := t.begin()
	for _, n := range names {
		at = t.child(at, t.name(n))
	}
	t.nodes[at].self += v
}

// Name returns the number of a name, for Child. A name that is empty is that of code without
// a symbol, at an address that nobody knows.
func (t *Tree) Name(name string) int32 {
	t.begin()
	if name == "" {
		name = nameOf(stack.Frame{})
	}
	return t.name(name)
}

// Child returns the number of the child of a node that has the name; 0 is the node above all
// roots. It is for those who have a tree already, of other nodes: of 40,000 stacks 20 deep,
// that is a twentieth of the look-ups that Add makes.
func (t *Tree) Child(parent, name int32) int32 { return t.child(parent, name) }

// AddAt adds what was spent in stacks that end at a node. It must be positive.
func (t *Tree) AddAt(node int32, v int64) { t.nodes[node].self += v }

func (t *Tree) begin() int32 {
	if t.nodes == nil {
		t.nodes = make([]node, 1)
		t.nameIDs = map[string]int32{}
	}
	return 0
}

func (t *Tree) name(s string) int32 {
	id, ok := t.nameIDs[s]
	if !ok {
		id = int32(len(t.names))
		t.nameIDs[s] = id
		t.names = append(t.names, s)
	}
	return id
}

// child finds or adds a node. A map of Go took a tenth of the time of a flame graph.
func (t *Tree) child(parent, name int32) int32 {
	if 4*len(t.nodes) >= 3*len(t.children) {
		t.children = make([]int32, max(1024, 2*len(t.children)))
		for i, n := range t.nodes[1:] {
			t.children[t.slot(n.parent, n.name)] = int32(i) + 1
		}
	}
	slot := t.slot(parent, name)
	if t.children[slot] == 0 {
		t.children[slot] = int32(len(t.nodes))
		t.nodes = append(t.nodes, node{name: name, parent: parent})
	}
	return t.children[slot]
}

// slot is where the child is in the table, or where it belongs.
func (t *Tree) slot(parent, name int32) uint64 {
	mask := uint64(len(t.children) - 1)
	for i := (uint64(parent)<<32 | uint64(name)) * 0x9e3779b97f4a7c15 >> 24 & mask; ; i = (i + 1) & mask {
		if at := t.children[i]; at == 0 || t.nodes[at].parent == parent && t.nodes[at].name == name {
			return i
		}
	}
}

// Total is the sum of all values.
func (t *Tree) Total() (sum int64) {
	for _, n := range t.nodes {
		sum += n.self
	}
	return sum
}

// bar is a node with its children in the order in which they are drawn: by name.
type bar struct {
	name        string
	self, total int64
	children    []*bar
}

// bars sums the tree up. Children have higher numbers than their parents.
func (t *Tree) bars() *bar {
	t.begin()
	bars := make([]bar, len(t.nodes))
	counts := make([]int32, len(t.nodes)) // of children
	for _, n := range t.nodes[1:] {
		counts[n.parent]++
	}
	room := make([]*bar, len(t.nodes))
	for i, n := range counts {
		bars[i].children, room = room[:0:n], room[n:]
	}
	for i, n := range slices.Backward(t.nodes) {
		b := &bars[i]
		b.self = n.self
		b.total += n.self
		if i > 0 {
			b.name = t.names[n.name]
			bars[n.parent].total += b.total
			bars[n.parent].children = append(bars[n.parent].children, b)
		}
	}
	for i := range bars {
		slices.SortFunc(bars[i].children, func(a, b *bar) int { return strings.Compare(a.name, b.name) })
	}
	return &bars[0]
}

// least is the total that the nth largest of them has; 0 when there are no more than n,
// or n is none.
func least(totals []int64, n int64) int64 {
	if n < 1 || int64(len(totals)) <= n {
		return 0
	}
	slices.Sort(totals)
	return totals[int64(len(totals))-n]
}
