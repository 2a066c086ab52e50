package layout

import (
	"cmp"
	"math"
	"slices"
)

// route draws the lines: down from the border of a box, through the places of
// the virtual vertices, to the border of another.
func (d *drawing) route() {
	leave, arrive := d.ports()
	for i := range d.edges {
		l := &d.edges[i]
		from, to := &d.vertices[l.from], &d.vertices[l.to]
		a := Point{from.x + leave[i], d.middle(from.rank) + from.height/2}
		b := Point{to.x + arrive[i], d.middle(to.rank) - to.height/2}
		c := course{points: []Point{a}}
		if l.loose {
			c.curve(b, 0)
		} else {
			// The boxes of a rank differ in height: the line goes on to where
			// the highest ends before it turns.
			c.straight(Point{a.X, d.bottom[from.rank]})
			above := Point{a.X, d.bottom[from.rank]}
			for k, v := range l.via {
				below := Point{b.X, d.top[to.rank]}
				if k+1 < len(l.via) {
					next := &d.vertices[l.via[k+1]]
					below = Point{next.x, d.middle(next.rank)}
				}
				d.through(&c, &d.vertices[v], above, below)
				above = Point{d.vertices[v].x, d.middle(d.vertices[v].rank)}
			}
			c.curve(Point{b.X, d.top[to.rank]}, 0)
			c.straight(b)
		}
		r := &d.routes[l.edge]
		r.Points, r.Back = c.points, l.back
		if l.back {
			slices.Reverse(r.Points)
		}
		e := d.source(l)
		if l.label >= 0 {
			v := &d.vertices[l.via[l.label]]
			r.Label = Point{v.x + v.left + 2 + e.LabelWidth/2, d.middle(v.rank)}
		} else {
			r.Label = Point{(a.X+b.X)/2 + 4 + e.LabelWidth/2, (a.Y + b.Y) / 2}
		}
	}
	d.drawLoops()
}

// ports spreads the lines of a box over its lower and its upper side in the
// order in which they go on, so that they do not cross right away.
func (d *drawing) ports() (leave, arrive []float64) {
	leave, arrive = make([]float64, len(d.edges)), make([]float64, len(d.edges))
	n := len(d.part.nodes)
	byFrom, byTo := make([][]int, n), make([][]int, n)
	for i := range d.edges {
		l := &d.edges[i]
		byFrom[l.from] = append(byFrom[l.from], i)
		byTo[l.to] = append(byTo[l.to], i)
	}
	first := func(i int) float64 {
		if l := &d.edges[i]; len(l.via) > 0 {
			return d.vertices[l.via[0]].x
		}
		return d.vertices[d.edges[i].to].x
	}
	last := func(i int) float64 {
		if l := &d.edges[i]; len(l.via) > 0 {
			return d.vertices[l.via[len(l.via)-1]].x
		}
		return d.vertices[d.edges[i].from].x
	}
	spread := func(v int, edges []int, toward func(int) float64, out []float64) {
		slices.SortStableFunc(edges, func(i, j int) int { return cmp.Compare(toward(i), toward(j)) })
		room := d.vertices[v].left * 1.5
		step := math.Min(portGap, room/float64(len(edges)))
		limit := float64(len(edges)-1) / 2 * step
		heaviest := 0
		for k, i := range edges {
			if d.edges[i].weight > d.edges[edges[heaviest]].weight {
				heaviest = k
			}
		}
		// The heaviest goes straight on if the others leave room for that.
		shift := float64(heaviest)*step - limit
		shift = math.Max(-(room/2 - limit), math.Min(room/2-limit, shift))
		for k, i := range edges {
			out[i] = float64(k)*step - limit - shift
		}
		if len(edges) == 1 { // straight down if the box allows
			out[edges[0]] = math.Max(-room/2, math.Min(room/2, toward(edges[0])-d.vertices[v].x))
		}
	}
	for v := range n {
		if len(byFrom[v]) > 0 {
			spread(v, byFrom[v], first, leave)
		}
		if len(byTo[v]) > 0 {
			spread(v, byTo[v], last, arrive)
		}
	}
	return leave, arrive
}

// through takes a line through a rank: upright or leaning, as far as the boxes
// beside it allow, so that a way across many ranks has no stairs.
func (d *drawing) through(c *course, v *vertex, above, below Point) {
	top, bottom := d.top[v.rank], d.bottom[v.rank]
	lean, room := (below.X-above.X)/(below.Y-above.Y), d.g.NodeGap*0.4
	if v.height > 0 { // the label stands beside it
		room = 3
	}
	half := (bottom - top) / 2
	most := 2.0
	if half > 0 {
		most = math.Min(most, room/half)
	}
	lean = math.Max(-most, math.Min(most, lean))
	// Where the line turns back there is nothing to lean to.
	if (v.x-above.X)*(below.X-v.x) < 0 {
		lean = 0
	}
	c.curve(Point{v.x - lean*half, top}, lean)
	c.straight(Point{v.x + lean*half, bottom})
}

// course is a line in the making.
type course struct {
	points []Point
	lean   float64 // of its end: x by y
}

// curve goes on to a point and arrives there leaning.
func (c *course) curve(p Point, lean float64) {
	a := c.points[len(c.points)-1]
	if a.X == p.X && c.lean == 0 && lean == 0 {
		c.straight(p)
		return
	}
	half := (p.Y - a.Y) / 2
	c.points = append(c.points, Point{a.X + c.lean*half, a.Y + half}, Point{p.X - lean*half, p.Y - half}, p)
	c.lean = lean
}

// straight goes on in a line, or makes a line that is one already longer.
func (c *course) straight(p Point) {
	n := len(c.points)
	a := c.points[n-1]
	if a == p {
		return
	}
	if n >= 4 && a.X == p.X && c.points[n-4].X == p.X && c.points[n-3].X == p.X && c.points[n-2].X == p.X {
		n -= 3
		a = c.points[n-1]
		c.points = c.points[:n]
	}
	c.points = append(c.points, Point{a.X + (p.X-a.X)/3, a.Y + (p.Y-a.Y)/3}, Point{a.X + (p.X-a.X)*2/3, a.Y + (p.Y-a.Y)*2/3}, p)
}

// drawLoops draws the calls of a node to itself beside it.
func (d *drawing) drawLoops() {
	for v, loops := range d.loops {
		x := &d.vertices[v]
		at, y := x.x+x.left, d.middle(x.rank)
		start := at
		for _, i := range loops {
			e := &d.g.Edges[d.part.edges[i]]
			h := math.Min(x.height/3, 14)
			far := at + loopWidth - 8
			r := &d.routes[i]
			r.Back = true
			r.Points = []Point{{start, y - h}, {far, y - h*1.5}, {far, y + h*1.5}, {start, y + h}}
			r.Label = Point{far + e.LabelWidth/2, y}
			at += loopWidth + e.LabelWidth
		}
	}
}
