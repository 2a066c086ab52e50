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
	nodes    []node // 0 is above all roots
	children map[edge]int32
}

type node struct {
	name, parent int32
	self, total  int64
}

type edge struct{ parent, name int32 }

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
		t.nameIDs, t.children = map[string]int32{}, map[edge]int32{}
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

func (t *Tree) child(parent, name int32) int32 {
	id, ok := t.children[edge{parent, name}]
	if !ok {
		id = int32(len(t.nodes))
		t.children[edge{parent, name}] = id
		t.nodes = append(t.nodes, node{name: name, parent: parent})
	}
	return id
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
