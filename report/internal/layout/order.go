package layout

import (
	"cmp"
	"slices"
)

// addVirtual lets every line pass through a vertex of each rank between its
// ends, one of which holds the label. When there are too many, the lightest of
// the longest lines go their own way.
func (d *drawing) addVirtual() {
	left := maxVirtual
	byNeed := make([]int, len(d.edges))
	for i := range d.edges {
		byNeed[i] = i
	}
	need := func(i int) int { return d.vertices[d.edges[i].to].rank - d.vertices[d.edges[i].from].rank - 1 }
	slices.SortStableFunc(byNeed, func(i, j int) int {
		return cmp.Or(cmp.Compare(need(i), need(j)), cmp.Compare(d.edges[j].weight, d.edges[i].weight))
	})
	for _, i := range byNeed {
		k := need(i)
		d.edges[i].loose = k > left
		left -= k
	}
	for i := range d.edges {
		l := &d.edges[i]
		if l.loose {
			continue
		}
		e := d.source(l)
		from, to := d.vertices[l.from].rank, d.vertices[l.to].rank
		// The label is near the upper end: there the reader looks for it.
		label := from + 1
		if l.back {
			label = to - 1
		}
		above := l.from
		// A line that passes through ranks is to be straight, which counts for
		// more than to be short.
		join := func(below int, inner bool) {
			w := l.weight
			if inner {
				w *= 8
			}
			d.vertices[above].down = append(d.vertices[above].down, link{int32(below), w})
			d.vertices[below].up = append(d.vertices[below].up, link{int32(above), w})
			above = below
		}
		for r := from + 1; r < to; r++ {
			v := vertex{rank: r, node: -1, edge: i, left: 1 + e.Width/2, right: 1 + e.Width/2}
			if r == label && e.LabelHeight > 0 {
				v.right += 3 + e.LabelWidth
				v.height = e.LabelHeight
				l.label = len(l.via)
			}
			l.via = append(l.via, len(d.vertices))
			d.vertices = append(d.vertices, v)
			join(len(d.vertices)-1, r > from+1)
		}
		join(l.to, false)
	}
}

// order finds an order within the ranks with few crossings: two first guesses,
// from above and from below, are improved in turn, and the best is kept.
func (d *drawing) order() {
	highest := 0
	for i := range d.vertices {
		highest = max(highest, d.vertices[i].rank)
	}
	d.ranks = make([][]int, highest+1)
	o := &sorter{d: d}
	sweeps := 24
	if len(d.vertices) > 3_000 {
		sweeps = max(4, 24*3_000/len(d.vertices))
	}
	best := -1
	var kept [][]int
	for start := range 2 {
		if start == 1 && (best == 0 || len(d.vertices) > 10_000) {
			break
		}
		d.guess(start == 0)
		idle := 0
		for i := 0; ; i++ {
			if n := o.crossings(); best < 0 || n < best {
				best, idle = n, 0
				kept = kept[:0]
				for _, r := range d.ranks {
					kept = append(kept, slices.Clone(r))
				}
			} else {
				idle++
			}
			if i >= sweeps || idle > 5 || best == 0 {
				break
			}
			o.sweep(i%2 == 0)
			o.transpose(i%4 >= 2)
		}
	}
	for r := range kept {
		d.ranks[r] = kept[r]
		d.renumber(r)
	}
}

func (d *drawing) renumber(rank int) {
	for i, v := range d.ranks[rank] {
		d.vertices[v].pos = i
	}
}

// guess orders vertices as a walk meets them, heavy lines first.
func (d *drawing) guess(down bool) {
	for r := range d.ranks {
		d.ranks[r] = d.ranks[r][:0]
	}
	seen := make([]bool, len(d.vertices))
	var stack []int
	walk := func(v int) {
		stack = append(stack[:0], v)
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[v] {
				continue
			}
			seen[v] = true
			x := &d.vertices[v]
			x.pos = len(d.ranks[x.rank])
			d.ranks[x.rank] = append(d.ranks[x.rank], v)
			next := x.down
			if !down {
				next = x.up
			}
			next = slices.Clone(next)
			slices.SortStableFunc(next, func(a, b link) int { return cmp.Compare(a.weight, b.weight) })
			for _, l := range next { // the last one comes first
				stack = append(stack, int(l.to))
			}
		}
	}
	for v := range d.vertices {
		x := &d.vertices[v]
		if down && len(x.up) == 0 || !down && len(x.down) == 0 {
			walk(v)
		}
	}
	for v := range d.vertices {
		walk(v)
	}
}

// sorter is the room that the sweeps work in.
type sorter struct {
	d       *drawing
	a, b    []int
	keys    []key
	slots   []int
	counter []int
}

// key is where a vertex would like to be.
type key struct {
	v  int
	at float64
}

// positions returns the sorted places of neighbours.
func (o *sorter) positions(buf []int, links []link) []int {
	buf = buf[:0]
	for _, l := range links {
		p := o.d.vertices[l.to].pos
		i := len(buf)
		buf = append(buf, p)
		for ; i > 0 && buf[i-1] > p; i-- {
			buf[i] = buf[i-1]
		}
		buf[i] = p
	}
	return buf
}

// median is that of Gansner and others: between two middle neighbours it
// leans to the side where they are crowded.
func median(p []int) float64 {
	m := len(p) / 2
	switch {
	case len(p) == 0:
		return -1
	case len(p)%2 == 1:
		return float64(p[m])
	case len(p) == 2:
		return float64(p[0]+p[1]) / 2
	}
	left, right := float64(p[m-1]-p[0]), float64(p[len(p)-1]-p[m])
	if left+right == 0 {
		return float64(p[m-1]+p[m]) / 2
	}
	return (float64(p[m-1])*right + float64(p[m])*left) / (left + right)
}

// sweep sorts each rank by the medians in the one before it.
func (o *sorter) sweep(down bool) {
	d := o.d
	for i := range len(d.ranks) - 1 {
		r := i + 1
		if !down {
			r = len(d.ranks) - 2 - i
		}
		rank := d.ranks[r]
		o.keys, o.slots = o.keys[:0], o.slots[:0]
		for at, v := range rank {
			links := d.vertices[v].up
			if !down {
				links = d.vertices[v].down
			}
			if len(links) == 0 {
				continue // it stays where it is
			}
			o.a = o.positions(o.a, links)
			o.keys = append(o.keys, key{v, median(o.a)})
			o.slots = append(o.slots, at)
		}
		slices.SortStableFunc(o.keys, func(x, y key) int { return cmp.Compare(x.at, y.at) })
		for k, at := range o.slots {
			rank[at] = o.keys[k].v
		}
		d.renumber(r)
	}
}

// transpose swaps neighbours as long as that takes crossings away. Ties are
// swapped every other time, to leave a valley.
func (o *sorter) transpose(ties bool) {
	d := o.d
	for range 4 {
		better := false
		for r := range d.ranks {
			rank := d.ranks[r]
			for i := 0; i+1 < len(rank); i++ {
				v, w := &d.vertices[rank[i]], &d.vertices[rank[i+1]]
				now, then := 0, 0
				for _, pair := range [2][2][]link{{v.up, w.up}, {v.down, w.down}} {
					if len(pair[0]) == 0 || len(pair[1]) == 0 {
						continue
					}
					o.a, o.b = o.positions(o.a, pair[0]), o.positions(o.b, pair[1])
					now += inversions(o.a, o.b)
					then += inversions(o.b, o.a)
				}
				if then < now || ties && then == now && now > 0 {
					rank[i], rank[i+1] = rank[i+1], rank[i]
					v.pos, w.pos = i+1, i
					better = better || then < now
				}
			}
		}
		if !better {
			return
		}
		ties = false
	}
}

// inversions counts the pairs with a place of a beyond one of b.
func inversions(a, b []int) (n int) {
	k := 0
	for _, p := range a {
		for k < len(b) && b[k] < p {
			k++
		}
		n += k
	}
	return n
}

// crossings counts the crossings of all ranks with a tree of sums, after
// Barth, Mutzel and Jünger.
func (o *sorter) crossings() (n int) {
	d := o.d
	for r := 0; r+1 < len(d.ranks); r++ {
		size := 1
		for size < len(d.ranks[r+1]) {
			size *= 2
		}
		if cap(o.counter) < 2*size {
			o.counter = make([]int, 2*size)
		}
		tree := o.counter[:2*size]
		clear(tree)
		for _, v := range d.ranks[r] {
			o.a = o.positions(o.a, d.vertices[v].down)
			for _, p := range o.a {
				i := p + size
				tree[i]++
				for ; i > 1; i /= 2 {
					if i%2 == 0 {
						n += tree[i+1]
					}
					tree[i/2]++
				}
			}
		}
	}
	return n
}
