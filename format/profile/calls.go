package profile

import "fmt"

// callTree sums what calls took by the stack that was open then. It keeps small what
// the input says at length: a million events at a depth of a million are not a million
// stacks of that size, before it is known which of them count. Node 0 is the root,
// which is no frame.
type callTree struct {
	nodes    []callNode
	children map[[2]uint32]uint32
}

// callNode is a frame below others.
type callNode struct {
	parent, frame uint32
	depth         int
	self          float64
}

func newCallTree() *callTree {
	return &callTree{nodes: []callNode{{}}, children: map[[2]uint32]uint32{}}
}

// child returns the node of a frame below another node.
func (t *callTree) child(parent, frame uint32) uint32 {
	key := [2]uint32{parent, frame}
	child, ok := t.children[key]
	if !ok {
		child = uint32(len(t.nodes))
		t.nodes = append(t.nodes, callNode{parent: parent, frame: frame, depth: t.nodes[parent].depth + 1})
		t.children[key] = child
	}
	return child
}

// each hands the stacks that have a weight over, leaf first. It fails where they have
// more frames than most.
func (t *callTree) each(most int, add func(stack []uint32, weight float64) error) error {
	frames := 0
	var stack []uint32
	for i := range t.nodes {
		node := &t.nodes[i]
		if node.self == 0 || i == 0 {
			continue
		}
		if frames += node.depth; frames > most {
			return fmt.Errorf("its stacks have more than %d frames, which no program has", most)
		}
		stack = stack[:0]
		for n := uint32(i); n > 0; n = t.nodes[n].parent {
			stack = append(stack, t.nodes[n].frame)
		}
		if err := add(stack, node.self); err != nil {
			return err
		}
	}
	return nil
}
