// Package layout finds places for the boxes and the lines of a directed graph:
// calls point down, lines cross seldom, nothing lies upon anything else.
//
// It is the layered method of Sugiyama, Tagawa and Toda (1981) in four steps:
// cycles are broken with the heuristic of Eades, Lin and Smyth (1993), ranks
// come from the network simplex of Gansner, Koutsofios, North and Vo (1993),
// the order within ranks from their weighted medians and transpositions, and
// the horizontal places from Brandes and Köpf (2001). Lines are curves that
// turn only in the gaps between ranks, so they cannot run through a box.
//
// A layout is a pure function of its input, and its work is bounded: large
// graphs get fewer sweeps, and very large ones lines that go straight.
package layout

import (
	"cmp"
	"math"
	"slices"
)

// Node is a box to place.
type Node struct {
	Width, Height float64
}

// Edge is a line to draw from one node down to another.
type Edge struct {
	From, To int // positions in [Graph.Nodes]
	// Weight says how much the line wants to be short and straight; anything
	// below 1 counts as 1.
	Weight float64
	Width  float64 // of the line itself
	// LabelWidth and LabelHeight are the size of the text beside the line; 0
	// is none.
	LabelWidth, LabelHeight float64
}

// Graph is what is to be laid out. Loops, cycles, several edges between two
// nodes and several components are fine.
type Graph struct {
	Nodes []Node
	Edges []Edge
	// NodeGap is the least distance between neighbours and RankGap that
	// between ranks; 0 means 24 and 28.
	NodeGap, RankGap float64
}

// Point is a place; x grows to the right and y down.
type Point struct{ X, Y float64 }

// Route is the course of an edge.
type Route struct {
	// Points are cubic Bézier curves: the start, and for each curve two control
	// points and the end. It begins at the border of From and ends at that of To.
	Points []Point
	// Label is the centre of the place that is kept free for the label.
	Label Point
	// Back tells that the edge closes a cycle and points up, or is a loop.
	Back bool
}

// Layout is a drawing: its size, the centre of each node and the course of
// each edge.
type Layout struct {
	Width, Height float64
	Nodes         []Point
	Edges         []Route
}

const (
	// maxVirtual bounds the places that long edges take in the ranks between.
	maxVirtual = 40_000
	loopWidth  = 28 // of a loop beside its node
	portGap    = 14 // between lines that leave a node, if there is room
)

// New lays a graph out.
func New(g *Graph) *Layout {
	if g.NodeGap == 0 || g.RankGap == 0 {
		c := *g
		c.NodeGap, c.RankGap = cmp.Or(g.NodeGap, 24), cmp.Or(g.RankGap, 28)
		g = &c
	}
	l := &Layout{Nodes: make([]Point, len(g.Nodes)), Edges: make([]Route, len(g.Edges))}
	var parts []*drawing
	for _, c := range components(g) {
		d := newDrawing(g, c)
		d.rank()
		d.addVirtual()
		d.order()
		d.place()
		d.route()
		parts = append(parts, d)
	}
	pack(l, parts, g.NodeGap)
	return l
}

// component is a connected part of a graph: the numbers of its nodes and edges.
type component struct{ nodes, edges []int }

// components takes a graph apart.
func components(g *Graph) []component {
	parent := make([]int, len(g.Nodes))
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for _, e := range g.Edges {
		a, b := find(e.From), find(e.To)
		parent[max(a, b)] = min(a, b)
	}
	index := make([]int, len(g.Nodes))
	var list []component
	for i := range g.Nodes {
		r := find(i)
		if r == i {
			index[i] = len(list)
			list = append(list, component{})
		}
		c := &list[index[r]]
		c.nodes = append(c.nodes, i)
	}
	for i, e := range g.Edges {
		c := &list[index[find(e.From)]]
		c.edges = append(c.edges, i)
	}
	return list
}

// pack puts the parts beside each other on shelves, the largest first, so that
// the whole is about as wide as a screen.
func pack(l *Layout, parts []*drawing, gap float64) {
	slices.SortStableFunc(parts, func(x, y *drawing) int { return cmp.Compare(len(y.part.nodes), len(x.part.nodes)) })
	widest, area := 0.0, 0.0
	for _, d := range parts {
		widest = math.Max(widest, d.width)
		area += (d.width + gap) * (d.height + gap)
	}
	shelf := math.Max(widest, 1.6*math.Sqrt(area))
	x, y, tallest := 0.0, 0.0, 0.0
	for _, d := range parts {
		if x > 0 && x+d.width > shelf {
			x, y, tallest = 0, y+tallest+2*gap, 0
		}
		d.copyTo(l, x, y)
		l.Width, l.Height = math.Max(l.Width, x+d.width), math.Max(l.Height, y+d.height)
		x += d.width + 2*gap
		tallest = math.Max(tallest, d.height)
	}
}

// vertex is a place in a rank: of a node, or of an edge that passes through.
type vertex struct {
	rank, pos     int
	left, right   float64 // extent to both sides of x
	height        float64
	x             float64
	node          int // in the graph; -1 for a virtual one
	edge          int // in drawing.edges, of a virtual one
	up, down      []link
	loopsAndLabel float64 // to the right of a node, beyond its box
}

// link leads to a neighbour in the next rank.
type link struct {
	to     int32
	weight float64
}

// line is an edge on its way down: reversed if it would point up.
type line struct {
	edge     int // in the graph
	from, to int // vertices, from above to
	weight   float64
	back     bool
	loose    bool  // not part of the layout
	via      []int // vertices in between, downwards
	label    int   // position in via of the vertex with the label; -1 is none
}

// drawing is one component in the making.
type drawing struct {
	g        *Graph
	part     component
	vertices []vertex // first those of the nodes, then the virtual ones
	edges    []line
	loops    [][]int // edges of the graph, by vertex; nil without
	ranks    [][]int
	top      []float64 // of each rank
	bottom   []float64
	routes   []Route // by position in part.edges

	width, height float64
}

func newDrawing(g *Graph, c component) *drawing {
	d := &drawing{g: g, part: c, vertices: make([]vertex, len(c.nodes)), routes: make([]Route, len(c.edges))}
	local := make(map[int]int, len(c.nodes))
	for i, n := range c.nodes {
		size := g.Nodes[n]
		local[n] = i
		d.vertices[i] = vertex{node: n, left: size.Width / 2, right: size.Width / 2, height: size.Height}
	}
	for i, e := range c.edges {
		x := &g.Edges[e]
		from, to := local[x.From], local[x.To]
		if from == to {
			if d.loops == nil {
				d.loops = make([][]int, len(c.nodes))
			}
			d.loops[from] = append(d.loops[from], i)
			v := &d.vertices[from]
			room := loopWidth + x.LabelWidth
			v.loopsAndLabel += room
			v.right += room
			continue
		}
		d.edges = append(d.edges, line{edge: i, from: from, to: to, weight: math.Max(1, x.Weight), label: -1})
	}
	return d
}

// size returns the graph's edge behind a line.
func (d *drawing) source(l *line) *Edge { return &d.g.Edges[d.part.edges[l.edge]] }

// copyTo moves the drawing to its place in the whole.
func (d *drawing) copyTo(l *Layout, x, y float64) {
	for i := range d.part.nodes {
		v := &d.vertices[i]
		l.Nodes[v.node] = Point{v.x + x, d.middle(v.rank) + y}
	}
	for i, e := range d.part.edges {
		r := &d.routes[i]
		for k := range r.Points {
			r.Points[k].X += x
			r.Points[k].Y += y
		}
		r.Label.X += x
		r.Label.Y += y
		l.Edges[e] = *r
	}
}

func (d *drawing) middle(rank int) float64 { return (d.top[rank] + d.bottom[rank]) / 2 }
