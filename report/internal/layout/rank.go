package layout

import (
	"cmp"
	"math"
	"slices"
)

// rank breaks the cycles and gives every vertex its rank. Nodes get even
// ranks: the ones between are for labels.
func (d *drawing) rank() {
	d.breakCycles()
	n := len(d.part.nodes)
	arcs := make([]arc, 0, len(d.edges))
	for i := range d.edges {
		l := &d.edges[i]
		arcs = append(arcs, arc{from: l.from, to: l.to, weight: l.weight})
	}
	s := newSimplex(n, arcs)
	s.run()
	for i := range n {
		d.vertices[i].rank = 2 * s.rank[i]
	}
}

// breakCycles turns edges around until there are no cycles: with the heuristic
// of Eades, Lin and Smyth, which takes sinks and sources away and, where there
// is none, the vertex that has most to say to the others.
func (d *drawing) breakCycles() {
	n := len(d.part.nodes)
	in, out := make([]float64, n), make([]float64, n)
	nin, nout := make([]int, n), make([]int, n)
	byFrom, byTo := make([][]int, n), make([][]int, n)
	for i, l := range d.edges {
		in[l.to] += l.weight
		out[l.from] += l.weight
		nin[l.to]++
		nout[l.from]++
		byFrom[l.from] = append(byFrom[l.from], i)
		byTo[l.to] = append(byTo[l.to], i)
	}
	gone := make([]bool, n)
	place := make([]int, n)
	first, last := 0, n-1
	var sinks, sources []int
	take := func(v int) {
		gone[v] = true
		for _, i := range byFrom[v] {
			if to := d.edges[i].to; !gone[to] {
				in[to] -= d.edges[i].weight
				if nin[to]--; nin[to] == 0 {
					sources = append(sources, to)
				}
			}
		}
		for _, i := range byTo[v] {
			if from := d.edges[i].from; !gone[from] {
				out[from] -= d.edges[i].weight
				if nout[from]--; nout[from] == 0 {
					sinks = append(sinks, from)
				}
			}
		}
	}
	for v := range n {
		if nout[v] == 0 {
			sinks = append(sinks, v)
		} else if nin[v] == 0 {
			sources = append(sources, v)
		}
	}
	for first <= last {
		v := -1
		switch {
		case len(sinks) > 0:
			v = sinks[len(sinks)-1]
			sinks = sinks[:len(sinks)-1]
			if gone[v] {
				continue
			}
			place[v] = last
			last--
		case len(sources) > 0:
			v = sources[len(sources)-1]
			sources = sources[:len(sources)-1]
			if gone[v] {
				continue
			}
			place[v] = first
			first++
		default:
			best := math.Inf(-1)
			for u := range n {
				if !gone[u] && out[u]-in[u] > best {
					v, best = u, out[u]-in[u]
				}
			}
			place[v] = first
			first++
		}
		take(v)
	}
	for i := range d.edges {
		if l := &d.edges[i]; place[l.from] > place[l.to] {
			l.from, l.to, l.back = l.to, l.from, true
		}
	}
}

// arc asks for a rank of "to" that is larger than that of "from".
type arc struct {
	from, to int
	weight   float64
}

// simplex finds the ranks with the least sum of weighted lengths. Trees are
// numbered anew after each exchange, which is simple and fast enough: 500
// nodes with 3,000 edges take some ten milliseconds.
type simplex struct {
	n    int
	arcs []arc
	at   [][]int // arcs by vertex
	rank []int

	parent   []int     // in the tree; -1 for the root
	by       []int     // arc to the parent
	cut      []float64 // of the arc to the parent
	low, lim []int     // of the tree below, in postorder
	order    []int     // vertices in postorder
	inTree   []bool    // by arc
}

// newSimplex joins arcs between the same vertices.
func newSimplex(n int, arcs []arc) *simplex {
	slices.SortStableFunc(arcs, func(x, y arc) int { return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to)) })
	s := &simplex{n: n, at: make([][]int, n), rank: make([]int, n)}
	for _, a := range arcs {
		if k := len(s.arcs) - 1; k >= 0 && s.arcs[k].from == a.from && s.arcs[k].to == a.to {
			s.arcs[k].weight += a.weight
			continue
		}
		i := len(s.arcs)
		s.arcs = append(s.arcs, a)
		s.at[a.from], s.at[a.to] = append(s.at[a.from], i), append(s.at[a.to], i)
	}
	return s
}

func (s *simplex) run() {
	s.longestPaths()
	if s.n < 2 {
		return
	}
	s.tightTree()
	// Each exchange looks at everything once: the work is bounded by their
	// number. What is left undone costs beauty, not correctness.
	limit := min(2*s.n+50, 15_000_000/(s.n+len(s.arcs)))
	from := 0
	for range limit {
		s.number()
		v := s.leaving(&from)
		if v < 0 {
			break
		}
		s.exchange(v, s.entering(v))
	}
	least := slices.Min(s.rank)
	for i := range s.rank {
		s.rank[i] -= least
	}
	s.balance()
}

// longestPaths gives the first ranks: as high as the arcs allow.
func (s *simplex) longestPaths() {
	waiting := make([]int, s.n)
	for _, a := range s.arcs {
		waiting[a.to]++
	}
	var queue []int
	for v, k := range waiting {
		if k == 0 {
			queue = append(queue, v)
		}
	}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		for _, i := range s.at[v] {
			if a := &s.arcs[i]; a.from == v {
				s.rank[a.to] = max(s.rank[a.to], s.rank[v]+1)
				if waiting[a.to]--; waiting[a.to] == 0 {
					queue = append(queue, a.to)
				}
			}
		}
	}
}

func (s *simplex) slack(i int) int {
	a := &s.arcs[i]
	return s.rank[a.to] - s.rank[a.from] - 1
}

// tightTree makes a spanning tree of arcs without slack, moving whole parts of
// the graph where there is none.
func (s *simplex) tightTree() {
	s.inTree = make([]bool, len(s.arcs))
	s.parent, s.by = make([]int, s.n), make([]int, s.n)
	in := make([]bool, s.n)
	members := []int{0}
	in[0], s.parent[0], s.by[0] = true, -1, -1
	for next := 0; ; {
		for ; next < len(members); next++ {
			v := members[next]
			for _, i := range s.at[v] {
				to := s.other(i, v)
				if !in[to] && s.slack(i) == 0 {
					in[to], s.parent[to], s.by[to], s.inTree[i] = true, v, i, true
					members = append(members, to)
				}
			}
		}
		if len(members) == s.n {
			return
		}
		best, shift := math.MaxInt, 0
		for i := range s.arcs {
			a := &s.arcs[i]
			if in[a.from] == in[a.to] {
				continue
			}
			if k := s.slack(i); k < best {
				best, shift = k, k
				if in[a.to] {
					shift = -k
				}
			}
		}
		for _, v := range members {
			s.rank[v] += shift
		}
		next = 0
	}
}

func (s *simplex) other(i, v int) int {
	if a := &s.arcs[i]; a.from != v {
		return a.from
	}
	return s.arcs[i].to
}

// number walks the tree: postorder numbers and cut values.
func (s *simplex) number() {
	if s.low == nil {
		s.low, s.lim, s.cut = make([]int, s.n), make([]int, s.n), make([]float64, s.n)
	}
	s.order = s.order[:0]
	type step struct{ v, at int }
	path := []step{{0, 0}}
	s.low[0] = 0
	for len(path) > 0 {
		p := &path[len(path)-1]
		if p.at < len(s.at[p.v]) {
			i := s.at[p.v][p.at]
			p.at++
			if to := s.other(i, p.v); s.inTree[i] && s.parent[to] == p.v && s.by[to] == i {
				s.low[to] = len(s.order)
				path = append(path, step{to, 0})
			}
			continue
		}
		s.lim[p.v] = len(s.order)
		s.order = append(s.order, p.v)
		path = path[:len(path)-1]
	}
	for _, v := range s.order {
		if s.parent[v] >= 0 {
			s.cut[v] = s.cutValue(v)
		}
	}
}

// cutValue is the weight of the arcs that go along with the tree arc above v
// less that of those against it, between the part below and the rest.
func (s *simplex) cutValue(v int) float64 {
	tree := s.by[v]
	tail := s.arcs[tree].from == v
	sum := s.arcs[tree].weight
	for _, i := range s.at[v] {
		if i == tree {
			continue
		}
		a := &s.arcs[i]
		along := (a.from == v) == tail
		w := a.weight
		if s.inTree[i] { // to a child, whose cut value knows all that lies below
			child := s.other(i, v)
			w -= s.cut[child]
		}
		if along {
			sum += w
		} else {
			sum -= w
		}
	}
	return sum
}

// leaving returns a vertex whose arc to the parent should leave the tree.
func (s *simplex) leaving(from *int) int {
	best, found := -1e-9, -1
	seen := 0
	for k := range s.n {
		v := (*from + k) % s.n
		if s.parent[v] >= 0 && s.cut[v] < best {
			best, found = s.cut[v], v
			if seen++; seen >= 20 {
				break
			}
		}
	}
	if found >= 0 {
		*from = (found + 1) % s.n
	}
	return found
}

func (s *simplex) below(v, top int) bool { return s.low[top] <= s.lim[v] && s.lim[v] <= s.lim[top] }

// entering returns the arc with the least slack that leads the other way.
func (s *simplex) entering(v int) int {
	tail := s.arcs[s.by[v]].from == v
	best, found := math.MaxInt, -1
	for i := range s.arcs {
		a := &s.arcs[i]
		from, to := s.below(a.from, v), s.below(a.to, v)
		if from == to || from == tail {
			continue
		}
		if k := s.slack(i); k < best {
			best, found = k, i
		}
	}
	return found
}

// exchange takes the arc above v out of the tree and puts another one in.
func (s *simplex) exchange(v, enter int) {
	a := &s.arcs[enter]
	inside, outside := a.from, a.to
	shift := s.slack(enter)
	if !s.below(inside, v) {
		inside, outside = outside, inside
		shift = -shift
	}
	for _, u := range s.order[s.low[v] : s.lim[v]+1] {
		s.rank[u] += shift
	}
	s.inTree[s.by[v]], s.inTree[enter] = false, true
	// The part below hangs from another vertex now: its path up turns around.
	up, by := outside, enter
	for u := inside; ; {
		next, nextBy := s.parent[u], s.by[u]
		s.parent[u], s.by[u] = up, by
		if u == v {
			break
		}
		up, by, u = u, nextBy, next
	}
}

// balance moves what may as well be elsewhere to the emptiest rank.
func (s *simplex) balance() {
	count := make([]int, slices.Max(s.rank)+1)
	for _, r := range s.rank {
		count[r]++
	}
	for v := range s.n {
		var in, out float64
		low, high := 0, len(count)-1
		for _, i := range s.at[v] {
			if a := &s.arcs[i]; a.to == v {
				in += a.weight
				low = max(low, s.rank[a.from]+1)
			} else {
				out += a.weight
				high = min(high, s.rank[a.to]-1)
			}
		}
		if in != out || in == 0 {
			continue
		}
		best := s.rank[v]
		for r := low; r <= high; r++ {
			if count[r] < count[best]-1 {
				best = r
			}
		}
		count[s.rank[v]]--
		count[best]++
		s.rank[v] = best
	}
}
