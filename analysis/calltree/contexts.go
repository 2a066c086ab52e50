package calltree

// context is a node of a call tree: a place, and where it was called from.
type context struct {
	place  int32
	parent int32 // the caller that is left; -1 is none
	born   int32 // the caller at first
	plain  bool  // some call was not inlined

	residual, gone bool
}

// addContexts makes a node for every context in which a place was called.
func (b *builder) addContexts() {
	var pairs pairs
	b.contexts = []context{}
	w := b.weights
	for _, id := range w.live {
		sum, div, count := w.sum[id], w.divisorOf(id), w.count[id]
		frames := b.table.Frames(id)
		parent := int32(-1)
		for j := len(frames) - 1; j >= 0; j-- {
			at := b.places.of[frames[j]]
			if at < 0 {
				continue
			}
			i := pairs.at(uint32(parent), uint32(at))
			if i == len(b.contexts) {
				b.contexts = append(b.contexts, context{place: at, parent: parent, born: parent})
				b.nodes = append(b.nodes, node{})
				if w.div != nil {
					b.divs = append(b.divs, divisors{})
				}
			}
			n := &b.nodes[i]
			n.cum += sum
			n.cumCount += count
			if b.divs != nil {
				b.divs[i].cum += div
			}
			c := &b.contexts[i]
			c.plain = c.plain || !b.places.inlined[frames[j]]
			parent = int32(i)
		}
		if parent >= 0 {
			n := &b.nodes[parent]
			n.flat += sum
			n.flatCount += count
			if b.divs != nil {
				b.divs[parent].flat += div
			}
		}
	}
}

// addContextEdges makes the edges of a call tree. What was cut is left out,
// and its callees become those of the nearest caller that is left. Nodes whose
// weights cancel out were never there to be cut.
func (b *builder) addContextEdges(cut bool) {
	if cut {
		left := make([]bool, len(b.nodes))
		for _, n := range b.shown {
			left[n] = true
		}
		for i := range b.contexts {
			b.contexts[i].gone = !left[i] && !b.hidden(int32(i))
		}
	}
	b.edges = b.edges[:0]
	for i := range b.contexts {
		c := &b.contexts[i]
		if c.gone {
			continue
		}
		for c.parent >= 0 && b.contexts[c.parent].gone {
			p := &b.contexts[c.parent]
			c.plain = c.plain || p.parent >= 0 && p.plain
			c.parent, c.residual = p.parent, true
		}
		if c.parent >= 0 {
			e := edge{from: c.parent, to: int32(i), weight: b.nodes[i].cum}
			if c.residual {
				e.flags |= residualCall
			}
			if c.plain {
				e.flags |= plainCall
			}
			if b.divs != nil {
				e.div = b.divs[i].cum
			}
			b.edges = append(b.edges, e)
		}
	}
}
