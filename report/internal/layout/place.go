package layout

import (
	"math"
	"slices"
)

// place gives every vertex its x, and every rank its y.
func (d *drawing) place() {
	d.align()
	d.relax()
	least, most := math.Inf(1), math.Inf(-1)
	for i := range d.vertices {
		v := &d.vertices[i]
		least, most = math.Min(least, v.x-v.left), math.Max(most, v.x+v.right)
	}
	for i := range d.vertices {
		d.vertices[i].x -= least
	}
	d.width = most - least

	d.top, d.bottom = make([]float64, len(d.ranks)), make([]float64, len(d.ranks))
	y := 0.0
	for r, rank := range d.ranks {
		height, reach := 0.0, 0.0
		for _, v := range rank {
			height = math.Max(height, d.vertices[v].height)
			for _, l := range d.vertices[v].up {
				reach = math.Max(reach, math.Abs(d.vertices[l.to].x-d.vertices[v].x))
			}
		}
		if r > 0 {
			// Lines that go far to the side need room to be told apart.
			y += d.g.RankGap/2 + math.Min(d.g.RankGap, reach/24)
		}
		d.top[r] = y
		y += height
		d.bottom[r] = y
	}
	d.height = y
}

// gap is the least distance of two neighbours in a rank.
func (d *drawing) gap(a, b *vertex) float64 {
	switch {
	case a.node < 0 && b.node < 0:
		return d.g.NodeGap / 3
	case a.node < 0 || b.node < 0:
		return d.g.NodeGap * 2 / 3
	}
	return d.g.NodeGap
}

// align is the method of Brandes and Köpf: vertices stand below their middle
// neighbours in four ways, from the left and right and from above and below,
// and the places are the middle between those.
func (d *drawing) align() {
	conflicts := d.conflicts()
	n := len(d.vertices)
	var ways [4][]float64
	narrowest, least := 0, math.Inf(1)
	var bounds [4][2]float64
	for k := range ways {
		w := &alignment{d: d, up: k < 2, mirrored: k%2 == 1, conflicts: conflicts}
		ways[k] = w.run()
		low, high := math.Inf(1), math.Inf(-1)
		for i, x := range ways[k] {
			v := &d.vertices[i]
			low, high = math.Min(low, x-v.left), math.Max(high, x+v.right)
		}
		bounds[k] = [2]float64{low, high}
		if high-low < least {
			narrowest, least = k, high-low
		}
	}
	for k := range ways {
		shift := bounds[narrowest][0] - bounds[k][0]
		if k%2 == 1 {
			shift = bounds[narrowest][1] - bounds[k][1]
		}
		for i := range ways[k] {
			ways[k][i] += shift
		}
	}
	for i := range n {
		x := [4]float64{ways[0][i], ways[1][i], ways[2][i], ways[3][i]}
		slices.Sort(x[:])
		d.vertices[i].x = (x[1] + x[2]) / 2
	}
}

// conflicts are the links that cross a line on its way through the ranks. They
// do not align, so that long lines are straight.
func (d *drawing) conflicts() map[[2]int32]bool {
	found := map[[2]int32]bool{}
	inner := func(v int) int { // the virtual vertex above a virtual one
		x := &d.vertices[v]
		if x.node < 0 && len(x.up) == 1 {
			if up := &d.vertices[x.up[0].to]; up.node < 0 {
				return up.pos
			}
		}
		return -1
	}
	for r := 1; r < len(d.ranks); r++ {
		low, at := 0, 0
		rank := d.ranks[r]
		for i, v := range rank {
			high := inner(v)
			if high < 0 {
				if i+1 < len(rank) {
					continue
				}
				high = len(d.ranks[r-1])
			}
			for ; at <= i; at++ {
				u := rank[at]
				if inner(u) >= 0 {
					continue
				}
				for _, l := range d.vertices[u].up {
					if p := d.vertices[l.to].pos; p < low || p > high {
						found[[2]int32{l.to, int32(u)}] = true
					}
				}
			}
			low = high
		}
	}
	return found
}

// alignment is one of the four ways.
type alignment struct {
	d            *drawing
	up, mirrored bool // towards the ranks above; from right to left
	conflicts    map[[2]int32]bool
	root, next   []int
}

func (w *alignment) run() []float64 {
	d := w.d
	n := len(d.vertices)
	w.root, w.next = make([]int, n), make([]int, n)
	for i := range n {
		w.root[i], w.next[i] = i, i
	}
	for i := range d.ranks {
		r := i
		if !w.up {
			r = len(d.ranks) - 1 - i
		}
		w.alignRank(d.ranks[r])
	}
	return w.compact()
}

// each visits a rank from the side that the way begins at.
func (w *alignment) each(rank []int, visit func(v int)) {
	for i := range rank {
		if w.mirrored {
			i = len(rank) - 1 - i
		}
		visit(rank[i])
	}
}

func (w *alignment) alignRank(rank []int) {
	d := w.d
	before := -1
	var links []link
	w.each(rank, func(v int) {
		x := &d.vertices[v]
		links = append(links[:0], x.up...)
		if !w.up {
			links = append(links[:0], x.down...)
		}
		if len(links) == 0 {
			return
		}
		slices.SortFunc(links, func(a, b link) int { return d.vertices[a.to].pos - d.vertices[b.to].pos })
		low, high := weightedMedians(links)
		for k := range 2 {
			m := low
			if (k == 0) == w.mirrored {
				m = high
			}
			if k == 1 && low == high || w.next[v] != v {
				break
			}
			u := int(links[m].to)
			pair := [2]int32{int32(u), int32(v)}
			if !w.up {
				pair = [2]int32{int32(v), int32(u)}
			}
			pos := d.vertices[u].pos
			if w.mirrored {
				pos = len(d.ranks[d.vertices[u].rank]) - 1 - pos
			}
			if before < pos && !w.conflicts[pair] {
				w.next[u] = v
				w.root[v] = w.root[u]
				w.next[v] = w.root[v]
				before = pos
			}
		}
	})
}

// weightedMedians returns the positions of the middle links: heavy lines pull
// more, so the hottest path comes out straight.
func weightedMedians(links []link) (low, high int) {
	var sum float64
	for _, l := range links {
		sum += l.weight
	}
	var so float64
	for i, l := range links {
		so += l.weight
		if so > sum/2 {
			return i, i
		}
		if so == sum/2 {
			return i, min(i+1, len(links)-1)
		}
	}
	return len(links) - 1, len(links) - 1
}

// compact gives the blocks of aligned vertices their places: as far to one
// side as their neighbours allow, then back to close what gaps there are.
func (w *alignment) compact() []float64 {
	d := w.d
	n := len(d.vertices)
	type bound struct {
		block int
		least float64
	}
	before, after := make([][]bound, n), make([][]bound, n)
	waiting := make([]int, n)
	for _, rank := range d.ranks {
		last := -1
		w.each(rank, func(v int) {
			if last >= 0 {
				a, b := &d.vertices[last], &d.vertices[v]
				apart := a.right + d.gap(a, b) + b.left
				if w.mirrored {
					apart = a.left + d.gap(a, b) + b.right
				}
				p, q := w.root[last], w.root[v]
				before[q] = append(before[q], bound{p, apart})
				after[p] = append(after[p], bound{q, apart})
				waiting[q]++
			}
			last = v
		})
	}
	x := make([]float64, n)
	var queue []int
	for v := range n {
		if w.root[v] == v && waiting[v] == 0 {
			queue = append(queue, v)
		}
	}
	for i := 0; i < len(queue); i++ {
		v := queue[i]
		for _, b := range before[v] {
			x[v] = math.Max(x[v], x[b.block]+b.least)
		}
		for _, b := range after[v] {
			if waiting[b.block]--; waiting[b.block] == 0 {
				queue = append(queue, b.block)
			}
		}
	}
	for i := len(queue) - 1; i >= 0; i-- {
		v := queue[i]
		room := math.Inf(1)
		for _, b := range after[v] {
			room = math.Min(room, x[b.block]-b.least)
		}
		if !math.IsInf(room, 1) {
			x[v] = math.Max(x[v], room)
		}
	}
	out := make([]float64, n)
	for v := range n {
		out[v] = x[w.root[v]]
		if w.mirrored {
			out[v] = -out[v]
		}
	}
	return out
}

// relax moves the vertices of a rank towards their neighbours as far as the
// others allow. It is exact for one rank (isotonic regression by pooling), and
// repeated up and down.
func (d *drawing) relax() {
	rounds := 12
	if len(d.vertices) > 5_000 {
		rounds = 4
	}
	for i := range rounds {
		for k := range d.ranks {
			r := k
			if i%2 == 1 {
				r = len(d.ranks) - 1 - k
			}
			d.relaxRank(d.ranks[r])
		}
	}
}

type pool struct{ sum, weight float64 }

func (d *drawing) relaxRank(rank []int) {
	// Without the least distances all that is asked for is an order.
	offset := make([]float64, len(rank))
	sizes := make([]int, 0, len(rank))
	pools := make([]pool, 0, len(rank))
	for i, v := range rank {
		x := &d.vertices[v]
		if i > 0 {
			a := &d.vertices[rank[i-1]]
			offset[i] = offset[i-1] + a.right + d.gap(a, x) + x.left
		}
		var p pool
		for _, links := range [2][]link{x.up, x.down} {
			for _, l := range links {
				p.sum += l.weight * d.vertices[l.to].x
				p.weight += l.weight
			}
		}
		if p.weight == 0 {
			p = pool{x.x, 1}
		}
		p.sum -= p.weight * offset[i]
		size := 1
		for k := len(pools) - 1; k >= 0 && pools[k].sum*p.weight >= p.sum*pools[k].weight; k-- {
			p.sum, p.weight, size = p.sum+pools[k].sum, p.weight+pools[k].weight, size+sizes[k]
			pools, sizes = pools[:k], sizes[:k]
		}
		pools, sizes = append(pools, p), append(sizes, size)
	}
	i := 0
	for k, p := range pools {
		for range sizes[k] {
			d.vertices[rank[i]].x = p.sum/p.weight + offset[i]
			i++
		}
	}
}
