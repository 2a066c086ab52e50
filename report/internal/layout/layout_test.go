package layout

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// random makes a graph as call graphs are: most edges go from early nodes to
// later ones, some go back, and some nodes call themselves.
func random(seed uint64, nodes, edges int) *Graph {
	r := rand.New(rand.NewPCG(seed, 1))
	g := &Graph{}
	for range nodes {
		g.Nodes = append(g.Nodes, Node{20 + 180*r.Float64(), 20 + 80*r.Float64()})
	}
	for i := range edges {
		a, b := r.IntN(nodes), r.IntN(nodes)
		if i+1 < nodes {
			a, b = r.IntN(i+1), i+1 // so that there are not many parts
		} else if a > b && r.IntN(10) > 0 {
			a, b = b, a
		}
		e := Edge{From: a, To: b, Weight: 1 + 100*r.Float64()*r.Float64()}
		if r.IntN(8) > 0 {
			e.LabelWidth, e.LabelHeight = 20+60*r.Float64(), 14
		}
		g.Edges = append(g.Edges, e)
	}
	return g
}

// check tells what is wrong with a layout.
func check(g *Graph, l *Layout) error {
	const tolerance = 1e-6
	box := func(i int) (x0, y0, x1, y1 float64) {
		n, p := g.Nodes[i], l.Nodes[i]
		return p.X - n.Width/2, p.Y - n.Height/2, p.X + n.Width/2, p.Y + n.Height/2
	}
	for i := range g.Nodes {
		x0, y0, x1, y1 := box(i)
		if !(x0 >= -tolerance && y0 >= -tolerance && x1 <= l.Width+tolerance && y1 <= l.Height+tolerance) {
			return fmt.Errorf("node %d is outside: %v..%v %v..%v of %v %v", i, x0, x1, y0, y1, l.Width, l.Height)
		}
		for k := range i {
			a0, b0, a1, b1 := box(k)
			if x0 < a1-tolerance && a0 < x1-tolerance && y0 < b1-tolerance && b0 < y1-tolerance {
				return fmt.Errorf("nodes %d and %d overlap", k, i)
			}
		}
	}
	for i, e := range g.Edges {
		r := l.Edges[i]
		n := len(r.Points)
		if n < 4 || n%3 != 1 {
			return fmt.Errorf("edge %d has %d points", i, n)
		}
		for _, p := range r.Points {
			if math.IsNaN(p.X) || math.IsNaN(p.Y) || math.IsInf(p.X, 0) {
				return fmt.Errorf("edge %d runs through %v", i, p)
			}
		}
		first, last := r.Points[0], r.Points[n-1]
		if e.From != e.To && !r.Back && first.Y >= last.Y {
			return fmt.Errorf("edge %d points up from %v to %v", i, first, last)
		}
		if e.From == e.To && !r.Back {
			return fmt.Errorf("loop %d is no way back", i)
		}
		for _, end := range []struct {
			node int
			at   Point
		}{{e.From, first}, {e.To, last}} {
			x0, y0, x1, y1 := box(end.node)
			if end.at.X < x0-tolerance || end.at.X > x1+tolerance || end.at.Y < y0-tolerance || end.at.Y > y1+tolerance {
				return fmt.Errorf("edge %d misses node %d", i, end.node)
			}
		}
	}
	return nil
}

// through tells which box a line runs through.
func through(g *Graph, l *Layout) error {
	for i, e := range g.Edges {
		p := l.Edges[i].Points
		for k := 0; k+3 < len(p); k += 3 {
			for s := range 21 {
				t := float64(s) / 20
				u := 1 - t
				x := u*u*u*p[k].X + 3*u*u*t*p[k+1].X + 3*u*t*t*p[k+2].X + t*t*t*p[k+3].X
				y := u*u*u*p[k].Y + 3*u*u*t*p[k+1].Y + 3*u*t*t*p[k+2].Y + t*t*t*p[k+3].Y
				for n, c := range l.Nodes {
					if n == e.From || n == e.To {
						continue
					}
					if math.Abs(x-c.X) < g.Nodes[n].Width/2-1e-6 && math.Abs(y-c.Y) < g.Nodes[n].Height/2-1e-6 {
						return fmt.Errorf("edge %d runs through node %d at %v %v", i, n, x, y)
					}
				}
			}
		}
	}
	return nil
}

func TestNew(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		nodes := 1 + int(seed)*2
		g := random(seed, nodes, int(seed%4)*nodes)
		l := New(g)
		if err := check(g, l); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := through(g, l); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if again := New(g); !reflect.DeepEqual(l, again) {
			t.Fatalf("seed %d: two layouts of one graph differ", seed)
		}
	}
}

// TestShape holds what a reader expects of small graphs.
func TestShape(t *testing.T) {
	t.Parallel()
	box := Node{Width: 60, Height: 20}
	g := &Graph{Nodes: []Node{box, box, box, box}, Edges: []Edge{{From: 0, To: 1}, {From: 0, To: 2}, {From: 1, To: 3}, {From: 2, To: 3}}}
	l := New(g)
	n := l.Nodes
	if n[0].X != n[3].X || n[1].Y != n[2].Y || math.Abs((n[1].X+n[2].X)/2-n[0].X) > 1 {
		t.Errorf("a diamond stands at %v", n)
	}
	// A cycle is cut where it is thinnest.
	g = &Graph{Nodes: []Node{box, box, box}, Edges: []Edge{{From: 0, To: 1, Weight: 50}, {From: 1, To: 2, Weight: 50}, {From: 2, To: 0, Weight: 1}}}
	l = New(g)
	if !(l.Nodes[0].Y < l.Nodes[1].Y && l.Nodes[1].Y < l.Nodes[2].Y) || !l.Edges[2].Back {
		t.Errorf("a cycle stands at %v", l.Nodes)
	}
	if l := New(&Graph{}); l.Width != 0 || l.Height != 0 {
		t.Errorf("nothing is %v by %v", l.Width, l.Height)
	}
}

// TestLarge holds that large graphs come to an end with all boxes in place.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	t.Parallel()
	g := random(1, 5_000, 30_000)
	if err := check(g, New(g)); err != nil {
		t.Error(err)
	}
	chain := &Graph{}
	for i := range 5_000 {
		chain.Nodes = append(chain.Nodes, Node{50, 20})
		if i > 0 {
			chain.Edges = append(chain.Edges, Edge{From: i - 1, To: i}, Edge{From: 0, To: i})
		}
	}
	if err := check(chain, New(chain)); err != nil {
		t.Error(err)
	}
}

func FuzzLayout(f *testing.F) {
	f.Add([]byte{3, 0, 1, 1, 2, 2, 0})
	f.Add([]byte{1, 0, 0})
	f.Add([]byte{6, 0, 1, 0, 2, 0, 3, 1, 4, 2, 4, 3, 4, 5, 5})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 || len(data) > 400 {
			return
		}
		g := &Graph{}
		n := 1 + int(data[0])%60
		for i := range n {
			g.Nodes = append(g.Nodes, Node{float64(10 + 7*i%90), float64(10 + 5*i%40)})
		}
		for i := 1; i+1 < len(data); i += 2 {
			e := Edge{From: int(data[i]) % n, To: int(data[i+1]) % n, Weight: float64(data[i])}
			if data[i+1]%3 > 0 {
				e.LabelWidth, e.LabelHeight = float64(data[i+1]), 12
			}
			g.Edges = append(g.Edges, e)
		}
		l := New(g)
		if err := check(g, l); err != nil {
			t.Fatal(err)
		}
		if err := through(g, l); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkNew(b *testing.B) {
	for _, size := range [][2]int{{80, 300}, {500, 3_000}, {5_000, 30_000}} {
		g := random(1, size[0], size[1])
		b.Run(fmt.Sprintf("nodes=%d/edges=%d", size[0], size[1]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				New(g)
			}
		})
	}
}
