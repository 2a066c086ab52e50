package calltree

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"loupe/stack"
)

// Order says by which weight functions are ranked.
type Order int

// The two orders of pprof.
const (
	ByFlat Order = iota // by the weight of the function itself
	ByCum               // by the weight of the function and all that it calls
)

// TopOptions say what [Top] ranks and what it leaves out. The zero value keeps
// everything; [PprofDefaults] are what go tool pprof -top does.
type TopOptions struct {
	Order        Order
	NodeCount    int     // most rows to keep; 0 means all
	NodeFraction float64 // drop functions whose cumulative weight is a smaller share of the whole
	EdgeFraction float64 // ignore lighter calls when saying whether a function was inlined

	// Counts are the observations behind the weights, such as the
	// samples/count column of a CPU profile. Without it every sample counts
	// as one. The number of observations tells how far a share can be trusted.
	Counts Samples

	// Group names the row that a frame belongs to; nil means the function, as
	// in pprof. Folding type arguments or ranking packages are other uses.
	Group func(stack.Frame) string
}

// PprofDefaults are the limits that go tool pprof applies unless told otherwise.
var PprofDefaults = TopOptions{NodeFraction: 0.005, EdgeFraction: 0.001}

// Inlining says how a function was called.
type Inlining uint8

// How the calls of a function were compiled.
const (
	Called       Inlining = iota // no call was inlined
	PartlyInline                 // some calls were
	Inline                       // all calls were
)

// Row is one function of a [Ranking].
type Row struct {
	Name  string        // as pprof prints it: the function, or [binary], or <unknown>
	Frame stack.FrameID // a frame of the function, for its package and file

	Flat, Cum               int64 // weight of itself, and with all that it calls
	FlatSamples, CumSamples int64 // observations behind them

	Inlining Inlining
}

// Ranking is the functions of a profile, the heaviest first.
type Ranking struct {
	Rows    []Row
	Total   int64 // the whole: sum of the absolute weights of all samples
	Samples int64 // observations behind Total
	Shown   int64 // sum of Flat over Rows

	Dropped      int     // functions below NodeFraction
	Functions    int     // functions that were not dropped; at least len(Rows)
	NodeFraction float64 // as asked for
}

// Share returns the part of the whole that v is: 1 is all of it.
func (r *Ranking) Share(v int64) float64 {
	if r.Total == 0 {
		return 0
	}
	return float64(v) / float64(r.Total)
}

// Top ranks functions by weight.
func Top(t *stack.Table, samples Samples, opt TopOptions) *Ranking {
	w := weigh(t, samples, opt.Counts)
	g := newGraph(t, opt.Group)
	g.add(w)

	r := &Ranking{Total: w.total, Samples: w.observations, NodeFraction: opt.NodeFraction}
	var whole int64
	for i := range g.nodes {
		whole += g.nodes[i].flat
	}
	// pprof's cutoffs are shares of the sum of flat weights, which in a
	// difference is not the total.
	nodeCutoff := abs(int64(float64(whole) * opt.NodeFraction))
	edgeCutoff := abs(int64(float64(whole) * opt.EdgeFraction))
	kept := make([]int32, 0, len(g.nodes))
	for i := range g.nodes {
		switch n := &g.nodes[i]; {
		case n.flat == 0 && n.cum == 0:
		case abs(n.cum) < nodeCutoff:
			r.Dropped++
		default:
			kept = append(kept, int32(i))
		}
	}
	r.Functions = len(kept)
	slices.SortFunc(kept, func(a, b int32) int { return g.compare(opt.Order, a, b) })
	if opt.NodeCount > 0 && opt.NodeCount < len(kept) {
		kept = kept[:opt.NodeCount]
	}
	inlining := g.inlining(w, kept, edgeCutoff, r.Dropped == 0 && len(kept) == r.Functions)
	r.Rows = make([]Row, len(kept))
	for i, k := range kept {
		n := &g.nodes[k]
		r.Shown += n.flat
		r.Rows[i] = Row{g.names[k], g.frames[k], n.flat, n.cum, n.flatCount, n.cumCount, inlining[i]}
	}
	return r
}

// node is the weight of one function. The fields stand together because a
// walk touches all of them for every frame.
type node struct {
	flat, cum           int64
	flatCount, cumCount int64
	seen                uint32 // last stack that has counted for cum
}

// graph holds a node for every function of a table. Edges are not kept: only
// the suffix "(inline)" needs them, see inlining.
type graph struct {
	table  *stack.Table
	nodeOf []int32 // by frame
	nodes  []node
	names  []string        // by node
	frames []stack.FrameID // by node, the first that was met
}

// unnamed tells code without symbols apart: pprof has one node per binary, and
// per first line if there is one. All of a binary print the same.
type unnamed struct {
	module string
	line   int
}

func newGraph(t *stack.Table, group func(stack.Frame) string) *graph {
	g := &graph{table: t, nodeOf: make([]int32, t.NumFrames())}
	byName := make(map[string]int32)
	bare := make(map[unnamed]int32)
	for id := range g.nodeOf {
		f := t.Frame(stack.FrameID(id))
		name := f.Func
		if group != nil {
			name = group(f)
		}
		if name == "" {
			key := unnamed{f.Module, f.StartLine}
			n, ok := bare[key]
			if !ok {
				n = g.addNode(bareName(f), id)
				bare[key] = n
			}
			g.nodeOf[id] = n
			continue
		}
		n, ok := byName[name]
		if !ok {
			n = g.addNode(name, id)
			byName[name] = n
		}
		g.nodeOf[id] = n
	}
	g.nodes = make([]node, len(g.names))
	return g
}

func (g *graph) addNode(name string, frame int) int32 {
	g.names = append(g.names, name)
	g.frames = append(g.frames, stack.FrameID(frame))
	return int32(len(g.names) - 1)
}

// bareName is what pprof prints for code without a function name.
func bareName(f stack.Frame) string {
	if f.Module == "" {
		return "<unknown>"
	}
	return "[" + path.Base(f.Module) + "]"
}

// add gives every function its weight: 47,861 stacks of 40 frames take 6 ms.
func (g *graph) add(w *weights) {
	for i, id := range w.live {
		sum, count, epoch := w.sum[id], w.count[id], uint32(i+1)
		frames := g.table.Frames(id)
		if len(frames) == 0 {
			continue
		}
		leaf := &g.nodes[g.nodeOf[frames[0]]]
		leaf.flat += sum
		leaf.flatCount += count
		for _, f := range frames {
			if n := &g.nodes[g.nodeOf[f]]; n.seen != epoch {
				n.seen = epoch
				n.cum += sum
				n.cumCount += count
			}
		}
	}
}

func (g *graph) compare(order Order, a, b int32) int {
	x, y := &g.nodes[a], &g.nodes[b]
	first, second := cmp.Compare(abs(y.flat), abs(x.flat)), cmp.Compare(abs(y.cum), abs(x.cum))
	if order == ByCum {
		first, second = second, first
	}
	if first != 0 {
		return first
	}
	if c := strings.Compare(g.names[a], g.names[b]); c != 0 {
		return c
	}
	// The same name twice: pprof's order is that of a map. Ours is fixed.
	if second != 0 {
		return second
	}
	f, h := g.table.Frame(g.frames[a]), g.table.Frame(g.frames[b])
	return cmp.Or(cmp.Compare(f.StartLine, h.StartLine), strings.Compare(f.Module, h.Module))
}

// call is the edge between two functions that were kept. Functions between
// them that were not kept are skipped over.
type call struct {
	weight int64
	seen   uint32 // last stack that has counted; 0 means there is no such edge
	plain  bool   // some call was not inlined
}

// inlining tells for every kept function how it was called, judging as pprof
// does by the calls that are left when light functions and light calls are
// gone. Nothing was cut says that all functions are kept: then pprof does not
// build its graph again, and even functions whose weights cancel out to zero
// are still there as callers.
func (g *graph) inlining(w *weights, kept []int32, cutoff int64, nothingCut bool) []Inlining {
	out := make([]Inlining, len(kept))
	inlined := make([]bool, len(g.nodeOf)) // by frame
	candidate := make([]bool, len(g.nodes))
	some := false
	for id, n := range g.nodeOf {
		if g.table.Frame(stack.FrameID(id)).Inlined {
			inlined[id], candidate[n], some = true, true, true
		}
	}
	if !some {
		return out
	}
	callers := len(kept)
	callerOf, calleeOf := fill(len(g.nodes), -1), fill(len(g.nodes), -1)
	var callees []int // positions in kept
	for i, k := range kept {
		callerOf[k] = int32(i)
		if candidate[k] {
			calleeOf[k] = int32(len(callees))
			callees = append(callees, i)
		}
	}
	if nothingCut {
		for n := range callerOf {
			if callerOf[n] < 0 {
				callerOf[n] = int32(callers)
				callers++
			}
		}
	}
	calls := newCalls(callers, len(callees))
	for i, id := range w.live {
		sum, epoch, frames := w.sum[id], uint32(i+1), g.table.Frames(id)
		caller := int32(-1)
		for j := len(frames) - 1; j >= 0; j-- {
			n := g.nodeOf[frames[j]]
			current := callerOf[n]
			if current < 0 {
				continue
			}
			if callee := calleeOf[n]; callee >= 0 && caller >= 0 && caller != current {
				if c := calls.at(caller, callee); c.seen != epoch {
					c.seen = epoch
					c.weight += sum
					c.plain = c.plain || !inlined[frames[j]]
				}
			}
			caller = current
		}
	}
	plain, inline := make([]bool, len(callees)), make([]bool, len(callees))
	calls.each(func(callee int, c *call) {
		if abs(c.weight) >= cutoff {
			plain[callee] = plain[callee] || c.plain
			inline[callee] = inline[callee] || !c.plain
		}
	})
	for i, k := range callees {
		switch {
		case inline[i] && plain[i]:
			out[k] = PartlyInline
		case inline[i]:
			out[k] = Inline
		}
	}
	return out
}

func fill(n int, v int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// calls is a matrix of edges: an array while it is small, as it is with
// pprof's limits, or else a map.
type calls struct {
	callees int
	dense   []call
	sparse  map[int]int32 // from the position in the matrix to that in list
	list    []call
}

// maxDense bounds the array to 6 MB.
const maxDense = 1 << 18

func newCalls(callers, callees int) *calls {
	c := &calls{callees: callees}
	if callers*callees <= maxDense {
		c.dense = make([]call, callers*callees)
	} else {
		c.sparse = make(map[int]int32)
	}
	return c
}

// at returns the edge, which is valid until the next call.
func (c *calls) at(caller, callee int32) *call {
	i := int(caller)*c.callees + int(callee)
	if c.dense != nil {
		return &c.dense[i]
	}
	n, ok := c.sparse[i]
	if !ok {
		n = int32(len(c.list))
		c.sparse[i] = n
		c.list = append(c.list, call{})
	}
	return &c.list[n]
}

func (c *calls) each(visit func(callee int, c *call)) {
	for i := range c.dense {
		if c.dense[i].seen != 0 {
			visit(i%c.callees, &c.dense[i])
		}
	}
	for i, n := range c.sparse {
		visit(i%c.callees, &c.list[n])
	}
}

// String returns the suffix that pprof prints behind the name.
func (i Inlining) String() string {
	switch i {
	case Called:
		return ""
	case PartlyInline:
		return "(partial-inline)"
	case Inline:
		return "(inline)"
	}
	return fmt.Sprintf("Inlining(%d)", uint8(i))
}
