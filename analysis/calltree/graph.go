package calltree

import (
	"iter"
	"slices"

	"loupe/value/stack"
)

// Order says by which weight nodes are ranked.
type Order int

// The two orders of pprof.
const (
	ByFlat Order = iota // by the weight of the node itself
	ByCum               // by the weight of the node and all that it calls
)

// Options say what a node is and which nodes and edges are left out. The zero
// value keeps every function; [PprofDefaults] are what go tool pprof -top does.
type Options struct {
	Granularity Granularity
	NoInlines   bool // leave out inlined calls: their weight is their caller's
	Columns     bool // tell columns of one line apart
	// Modules tells functions of the same name apart by their binary and first
	// line, as pprof does for list, callgrind and disassembly.
	Modules bool
	// CallTree makes a node of every context in which a function was called.
	CallTree     bool
	DropNegative bool // leave out nodes with a negative weight

	Order Order
	// Visual ranks nodes by how much a picture would gain from them, lets the
	// tags of a node take places of NodeCount, and leaves out edges that only
	// repeat a longer way. It is for [WriteDot].
	Visual bool

	NodeCount    int     // most nodes to keep; 0 or less means all
	NodeFraction float64 // drop nodes whose cumulative weight is a smaller share of the whole
	EdgeFraction float64 // drop edges whose weight is a smaller share of the whole
	NoEdges      bool    // do not look for edges, which takes half of the time
	// OnlyInlined looks only for edges to nodes that have been inlined
	// somewhere: all that [Graph.Ranking] needs.
	OnlyInlined bool

	// Path cleans the names of source files before they are compared; nil
	// leaves them.
	Path func(file string) string
	// Tags returns the labels behind a number in [Sample.Labels]. It is asked
	// once for each number. Without it nodes have no tags.
	Tags func(labels uint32) LabelSet
	// Match keeps only the functions whose name it likes; nil keeps all.
	Match func(function string) bool
	// Group names the node that a frame belongs to; nil means the function, as
	// in pprof. Folding type arguments or ranking packages are other uses.
	Group func(stack.Frame) string
	// Counts are the observations behind the weights, such as the
	// samples/count column of a CPU profile. Without it every sample counts
	// as one. The number of observations tells how far a share can be trusted.
	Counts Samples
}

// PprofDefaults are the limits that go tool pprof applies unless told otherwise.
var PprofDefaults = Options{NodeFraction: 0.005, EdgeFraction: 0.001}

// Graph is who calls whom, with weights: what pprof makes its views from.
type Graph struct {
	Nodes []*Node // that were kept, in order
	// Total is the whole that shares are taken of: the sum of the absolute
	// weights of all samples, or their mean.
	Total   int64
	Samples int64 // observations behind Total

	Ranked       int // nodes that NodeFraction has left; NodeCount may have cut more
	DroppedNodes int // nodes below NodeFraction
	DroppedEdges int // edges below EdgeFraction

	NodeFraction, EdgeFraction float64 // as asked for
}

// Node is a function, or whatever part of one the granularity says.
type Node struct {
	Place
	// ID is the position in [Graph.Nodes], counted from 1. It is 0 for a node
	// that is not there, because its weights cancel out or are negative, but
	// that edges still lead to, as in pprof.
	ID    int
	Frame stack.FrameID // a frame of the node, for what the place does not tell

	// Flat is the weight of the node itself, Cum with all that it calls; they
	// are sums, and [Node.FlatValue] and [Node.CumValue] are to be shown.
	Flat, FlatDiv int64
	Cum, CumDiv   int64

	FlatSamples, CumSamples int64 // observations behind them

	In, Out []*Edge // the callers and the callees, the heaviest first

	Labels  []*Tag            // weights by the string labels of samples, by name
	Numbers map[string][]*Tag // weights by numeric labels, by the string labels they come with

	whole int32 // names the whole function in its context
}

// FlatValue returns the weight of the node itself, or the mean of it.
func (n *Node) FlatValue() int64 { return mean(n.Flat, n.FlatDiv) }

// CumValue returns the weight with all that the node calls, or the mean of it.
func (n *Node) CumValue() int64 { return mean(n.Cum, n.CumDiv) }

// Inlining says how the calls to the node were compiled, judging by the edges
// that are left.
func (n *Node) Inlining() Inlining {
	var inline, plain bool
	for _, e := range n.In {
		inline = inline || e.Inline
		plain = plain || !e.Inline
	}
	switch {
	case inline && plain:
		return PartlyInline
	case inline:
		return Inline
	}
	return Called
}

// Edge is all calls from one node to another.
type Edge struct {
	From, To          *Node
	Weight, WeightDiv int64
	Residual          bool // some call went through nodes that were left out
	Inline            bool // every call was inlined
}

// Value returns the weight of the calls, or the mean of it.
func (e *Edge) Value() int64 { return mean(e.Weight, e.WeightDiv) }

// New builds the graph of the samples: all nodes, less the light ones, ranked,
// cut at NodeCount, and the edges between them, less the light ones.
func New(t *stack.Table, samples iter.Seq[Sample], opt Options) *Graph {
	w := weigh(t, samples, opt.Counts, opt.Tags != nil)
	return newGraph(t, w, &opt)
}

func newGraph(t *stack.Table, w *weights, opt *Options) *Graph {
	b := &builder{table: t, weights: w, opt: opt, places: newPlaces(t, opt)}
	if opt.CallTree {
		b.addContexts()
	} else {
		b.addWeights()
	}
	return b.graph()
}

// node is the weight of one node. The fields stand together because a walk
// touches all of them for every frame.
type node struct {
	flat, cum           int64
	flatCount, cumCount int64
	seen                uint32 // last stack that has counted for cum
}

// edge is one edge between two nodes.
type edge struct {
	from, to    int32
	weight, div int64
	seen        uint32 // last stack that has counted
	flags       uint8
}

// What an edge has among its calls.
const (
	residualCall = 1 << iota // one over nodes that were cut
	plainCall                // one that was not inlined
)

// builder is a graph in the making. Nodes are numbers: of places, or of
// contexts in a call tree.
type builder struct {
	table   *stack.Table
	weights *weights
	opt     *Options
	places  *places

	nodes    []node
	divs     []divisors // by node; nil without divisors
	contexts []context  // by node, in a call tree only
	names    []string   // by place, what was printed so far
	tags     *tagTable  // nil without tags

	shown []int32 // the nodes that are left, in order
	edges []edge
}

type divisors struct {
	flat, cum int64
	seen      uint32
}

// graph does what pprof's newTrimmedGraph does. pprof builds its graph again
// from all samples after each cut; the weights of nodes and tags are the same
// then, and only the edges are others.
func (b *builder) graph() *Graph {
	opt := b.opt
	g := &Graph{Total: b.weights.whole(), Samples: b.weights.observations, NodeFraction: opt.NodeFraction, EdgeFraction: opt.EdgeFraction}
	var whole int64
	for i := range b.nodes {
		n := &b.nodes[i]
		if b.hidden(int32(i)) {
			continue
		}
		whole += n.flat
		b.shown = append(b.shown, int32(i))
	}
	// pprof's cutoffs are shares of the sum of flat weights, which in a
	// difference is not the total.
	nodeCutoff := abs(int64(float64(whole) * opt.NodeFraction))
	edgeCutoff := abs(int64(float64(whole) * opt.EdgeFraction))

	all := len(b.shown)
	if nodeCutoff > 0 {
		b.shown = slices.DeleteFunc(b.shown, func(n int32) bool { return abs(b.nodes[n].cum) < nodeCutoff })
	}
	cut := len(b.shown) < all
	g.DroppedNodes, g.Ranked = all-len(b.shown), len(b.shown)
	if opt.Tags != nil {
		b.addTags(nodeCutoff)
	}

	// The edges are needed to choose the nodes of a picture, and a call tree
	// cuts its edges as it goes.
	limited := opt.NodeCount > 0
	if opt.Visual || opt.CallTree || !limited {
		b.addEdges(cut)
	}
	b.sort()
	if limited {
		b.trimEdges(edgeCutoff)
		count := opt.NodeCount
		if opt.Visual {
			count = b.countNodelets(count)
		}
		if count < len(b.shown) {
			b.shown = b.shown[:count]
			b.addEdges(true)
			if opt.Visual {
				b.sort()
			}
		} else if b.edges == nil {
			b.addEdges(cut)
		}
	}
	g.DroppedEdges = b.trimEdges(edgeCutoff)
	b.link(g)
	if opt.Visual {
		g.removeRedundantEdges()
	}
	return g
}

// hidden tells whether a node is not to be seen whatever the limits are.
func (b *builder) hidden(id int32) bool {
	n := &b.nodes[id]
	if n.flat == 0 && n.cum == 0 {
		return true
	}
	return b.opt.DropNegative && (n.flat < 0 || n.flat == 0 && n.cum < 0)
}

// addWeights gives every node its weight: 47,861 stacks of 40 frames take 6 ms.
func (b *builder) addWeights() {
	b.nodes = make([]node, len(b.places.list))
	w := b.weights
	for i, id := range w.live {
		sum, count, epoch := w.sum[id], w.count[id], uint32(i+1)
		leaf := int32(absent)
		for _, f := range b.table.Frames(id) {
			at := b.places.of[f]
			if at < 0 {
				if leaf == absent {
					leaf = at
				}
				continue
			}
			n := &b.nodes[at]
			if leaf == absent {
				leaf = at
				n.flat += sum
				n.flatCount += count
			}
			if n.seen != epoch {
				n.seen = epoch
				n.cum += sum
				n.cumCount += count
			}
		}
	}
	if w.div != nil {
		b.addDivisors()
	}
}

// addDivisors is addWeights for the divisors, which few graphs have.
func (b *builder) addDivisors() {
	b.divs = make([]divisors, len(b.places.list))
	for i, id := range b.weights.live {
		div, epoch := b.weights.div[id], uint32(i+1)
		leaf := int32(absent)
		for _, f := range b.table.Frames(id) {
			at := b.places.of[f]
			if at < 0 {
				if leaf == absent {
					leaf = at
				}
				continue
			}
			n := &b.divs[at]
			if leaf == absent {
				leaf = at
				n.flat += div
			}
			if n.seen != epoch {
				n.seen = epoch
				n.cum += div
			}
		}
	}
}

// place returns the number of the place that a node is at.
func (b *builder) place(n int32) int32 {
	if b.contexts != nil {
		return b.contexts[n].place
	}
	return n
}

// name returns what pprof prints for a node.
func (b *builder) name(n int32) string {
	if b.names == nil {
		b.names = make([]string, len(b.places.list))
	}
	at := b.place(n)
	if b.names[at] == "" {
		p := &b.places.list[at]
		if *p == (Place{Func: p.Func}) && p.Func != "" {
			b.names[at] = p.Func
		} else {
			b.names[at] = p.String()
		}
	}
	return b.names[at]
}

// link makes the nodes and edges that the caller gets.
func (b *builder) link(g *Graph) {
	index := fill(len(b.nodes), -1)
	used := slices.Clone(b.shown)
	for i, n := range used {
		index[n] = int32(i)
	}
	ins, outs := make([]int32, len(used)), make([]int32, len(used))
	for i := range b.edges {
		e := &b.edges[i]
		for _, n := range [2]int32{e.from, e.to} {
			if index[n] < 0 {
				index[n] = int32(len(used))
				used, ins, outs = append(used, n), append(ins, 0), append(outs, 0)
			}
		}
		ins[index[e.to]]++
		outs[index[e.from]]++
	}
	nodes, edges := make([]Node, len(used)), make([]Edge, len(b.edges))
	slots := make([]*Edge, 2*len(b.edges))
	g.Nodes = make([]*Node, len(b.shown))
	functions := map[wholeFunction]int32{}
	for i, id := range used {
		n, x := &nodes[i], &b.nodes[id]
		at := b.place(id)
		n.Place, n.Frame = b.places.list[at], b.places.frames[at]
		n.Flat, n.Cum, n.FlatSamples, n.CumSamples = x.flat, x.cum, x.flatCount, x.cumCount
		if b.divs != nil {
			n.FlatDiv, n.CumDiv = b.divs[id].flat, b.divs[id].cum
		}
		n.In, slots = slots[:0:ins[i]], slots[ins[i]:]
		n.Out, slots = slots[:0:outs[i]], slots[outs[i]:]
		if i < len(g.Nodes) {
			g.Nodes[i] = n
			n.ID = i + 1
			b.linkTags(n, id)
		}
		if b.opt.Modules {
			whole := wholeFunction{-1, n.Place.function()}
			if b.contexts != nil {
				whole.parent = b.contexts[id].born
			}
			f, ok := functions[whole]
			if !ok {
				f = int32(len(functions))
				functions[whole] = f
			}
			n.whole = f
		}
	}
	slices.SortFunc(b.edges, func(x, y edge) int { return b.compareEdges(&x, &y) })
	for i := range b.edges {
		x, e := &b.edges[i], &edges[i]
		*e = Edge{&nodes[index[x.from]], &nodes[index[x.to]], x.weight, x.div, x.flags&residualCall != 0, x.flags&plainCall == 0}
		e.From.Out = append(e.From.Out, e)
		e.To.In = append(e.To.In, e)
	}
}

// wholeFunction is what pprof takes for one function when it tells those of
// the same name apart.
type wholeFunction struct {
	parent int32 // in a call tree
	place  Place
}

func fill(n int, v int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = v
	}
	return s
}
