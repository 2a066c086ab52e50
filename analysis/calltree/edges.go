package calltree

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// maxDense bounds the matrix of edges to 1 MB.
const maxDense = 1 << 18

// edgeTable finds the edge between two nodes: in a matrix while there are few
// nodes, as there are with pprof's limits, or else in a hash table.
type edgeTable struct {
	nodes  int32
	matrix []int32 // one more than the position in list
	pairs  pairs
	list   []edge
}

// at returns the edge, which is valid until the next call.
func (t *edgeTable) at(from, to int32) *edge {
	var i int
	if t.matrix != nil {
		slot := &t.matrix[int(from)*int(t.nodes)+int(to)]
		if *slot == 0 {
			*slot = int32(len(t.list) + 1)
		}
		i = int(*slot) - 1
	} else {
		i = t.pairs.at(uint32(from), uint32(to))
	}
	if i == len(t.list) {
		t.list = append(t.list, edge{from: from, to: to})
	}
	return &t.list[i]
}

// addEdges finds the edges between the nodes that are left, or, where nothing
// was cut, between all nodes: then even those whose weights cancel out are
// still there, as in pprof.
func (b *builder) addEdges(cut bool) {
	if b.opt.NoEdges {
		return
	}
	if b.contexts != nil {
		b.addContextEdges(cut)
		return
	}
	nodes := b.shown
	number := b.places.of
	if cut {
		position := fill(len(b.nodes), dropped)
		for i, n := range nodes {
			position[n] = int32(i)
		}
		number = slices.Clone(number)
		for f, n := range number {
			if n >= 0 {
				number[f] = position[n]
			}
		}
	}
	count := len(b.nodes)
	if cut {
		count = len(nodes)
	}
	table := edgeTable{nodes: int32(count)}
	if count*count <= maxDense {
		table.matrix = make([]int32, count*count)
	}
	b.walkCalls(&table, number)
	b.edges = table.list
	for i := range b.edges {
		if e := &b.edges[i]; cut {
			e.from, e.to = nodes[e.from], nodes[e.to]
		}
	}
}

// walkCalls adds up the calls of all stacks. An edge counts once for a stack,
// and its first call says how it was compiled.
func (b *builder) walkCalls(table *edgeTable, number []int32) {
	// The code of a frame is four times its node, with two bits.
	const inlined, passing = 1, 2
	wanted := make([]bool, len(b.nodes))
	for f, n := range number {
		if n >= 0 && (b.places.inlined[f] || !b.opt.OnlyInlined) {
			wanted[n] = true
		}
	}
	codes := make([]int32, len(number))
	for f, n := range number {
		codes[f] = n
		if n < 0 {
			continue
		}
		codes[f] = n << 2
		if b.places.inlined[f] {
			codes[f] |= inlined
		}
		if !wanted[n] {
			codes[f] |= passing
		}
	}
	w := b.weights
	for i, id := range w.live {
		sum, epoch := w.sum[id], uint32(i+1)
		frames := b.table.Frames(id)
		caller, flags := int32(-1), uint8(0)
		for j := len(frames) - 1; j >= 0; j-- {
			code := codes[frames[j]]
			if code < 0 {
				if code == dropped {
					flags = residualCall
				}
				continue
			}
			callee := code >> 2
			if code&passing == 0 && caller >= 0 && caller != callee {
				var e *edge
				if at := int(caller)*int(table.nodes) + int(callee); at < len(table.matrix) && table.matrix[at] != 0 {
					e = &table.list[table.matrix[at]-1]
				} else {
					e = table.at(caller, callee)
				}
				if e.seen != epoch {
					e.seen = epoch
					e.weight += sum
					e.flags |= flags | uint8(^code&inlined)*plainCall
					if w.div != nil {
						e.div += w.div[id]
					}
				}
			}
			caller, flags = callee, 0
		}
	}
}

// trimEdges removes the edges below the cutoff to nodes that are left, and
// returns how many.
func (b *builder) trimEdges(cutoff int64) int {
	if cutoff == 0 || len(b.edges) == 0 {
		return 0
	}
	left := make([]bool, len(b.nodes))
	for _, n := range b.shown {
		left[n] = true
	}
	before := len(b.edges)
	b.edges = slices.DeleteFunc(b.edges, func(e edge) bool {
		light := abs(e.weight) < cutoff && left[e.to]
		if light && b.contexts != nil {
			b.contexts[e.to].parent = -1
		}
		return light
	})
	return before - len(b.edges)
}

// sort ranks the nodes that are left.
func (b *builder) sort() {
	score := make([]int64, len(b.nodes))
	switch {
	case b.opt.Visual:
		b.scoreEntropy(score)
	case b.opt.Order == ByCum:
		for _, n := range b.shown {
			score[n] = b.nodes[n].cum
		}
	default:
		for _, n := range b.shown {
			score[n] = b.nodes[n].flat
		}
	}
	slices.SortFunc(b.shown, func(x, y int32) int {
		if c := cmp.Compare(abs(score[y]), abs(score[x])); c != 0 {
			return c
		}
		if c := strings.Compare(b.name(x), b.name(y)); c != 0 {
			return c
		}
		// The same name twice: pprof's order is that of a map. Ours is fixed.
		m, n := &b.nodes[x], &b.nodes[y]
		return cmp.Or(cmp.Compare(abs(n.flat), abs(m.flat)), cmp.Compare(abs(n.cum), abs(m.cum)),
			b.places.list[b.place(x)].compare(b.places.list[b.place(y)]), cmp.Compare(x, y))
	})
}

func (b *builder) compareEdges(x, y *edge) int {
	if c := cmp.Compare(abs(y.weight), abs(x.weight)); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(b.name(x.from), b.name(y.from)), strings.Compare(b.name(x.to), b.name(y.to)),
		b.places.list[b.place(x.from)].compare(b.places.list[b.place(y.from)]),
		b.places.list[b.place(x.to)].compare(b.places.list[b.place(y.to)]),
		cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to))
}

// scoreEntropy tells how much a picture gains from a node: its cumulative
// weight times the entropy of its edges, so that a node which only passes on
// what it gets from one caller to one callee comes last.
func (b *builder) scoreEntropy(score []int64) {
	type side struct {
		total   int64
		entropy float64
		edges   bool
	}
	ins, outs := make([]side, len(b.nodes)), make([]side, len(b.nodes))
	for _, n := range b.shown {
		outs[n].total = b.nodes[n].flat
	}
	for i := range b.edges {
		e := &b.edges[i]
		in, out := &ins[e.to], &outs[e.from]
		in.edges, out.edges = true, true
		if e.weight > 0 {
			in.total += e.weight
			out.total += e.weight
		}
	}
	part := func(weight, total int64) float64 {
		share := float64(abs(weight)) / float64(total)
		return -share * math.Log2(share)
	}
	for i := range b.edges {
		e := &b.edges[i]
		if in := &ins[e.to]; in.total != 0 {
			in.entropy += part(e.weight, in.total)
		}
		if out := &outs[e.from]; out.total != 0 {
			out.entropy += part(e.weight, out.total)
		}
	}
	for _, id := range b.shown {
		n, sum := &b.nodes[id], 1.0 // a root and a leaf are worth a bit each
		if ins[id].edges {
			sum = ins[id].entropy
		}
		if out := &outs[id]; !out.edges {
			sum++
		} else {
			sum += out.entropy
			if out.total != 0 && n.flat > 0 {
				sum += part(n.flat, out.total)
			}
		}
		score[id] = int64(sum*float64(n.cum)) + n.flat
	}
}

// removeRedundantEdges removes residual edges whose ends are connected by
// another way too, beginning with the lightest of the lowest node.
func (g *Graph) removeRedundantEdges() {
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := g.Nodes[i]
		for j := len(n.In) - 1; j >= 0 && n.In[j].Residual; j-- {
			if e := n.In[j]; e.redundant() {
				n.In = slices.Delete(n.In, j, j+1)
				e.From.Out = slices.DeleteFunc(e.From.Out, func(o *Edge) bool { return o == e })
			}
		}
	}
}

// redundant tells whether there is another way from one end to the other. An
// edge is looked at in pictures only, so the nodes are few.
func (e *Edge) redundant() bool {
	seen := map[*Node]bool{e.To: true}
	for queue := []*Node{e.To}; len(queue) > 0; {
		n := queue[0]
		queue = queue[1:]
		for _, in := range n.In {
			if in == e || seen[in.From] {
				continue
			}
			if in.From == e.From {
				return true
			}
			seen[in.From] = true
			queue = append(queue, in.From)
		}
	}
	return false
}
