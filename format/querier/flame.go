package querier

import (
	"slices"
	"strings"
)

// other is what bars are called that stand for those which are too small to be drawn.
const other = "other"

// DefaultNodes is how many bars a flame graph has when a question gives no number, as in
// Pyroscope.
const DefaultNodes = 8192

// Nodes returns the number of bars that a question asks for.
func Nodes(asked *int64) int64 {
	if asked == nil || *asked <= 0 {
		return DefaultNodes
	}
	return *asked
}

// FlameGraph returns the tree as levels of bars, from the root down, for Pyroscope's flame
// graph. Each bar is four numbers: how far it begins behind the end of the bar before it
// on the level, its total, its own value, and its name, a position in Names. Siblings
// are in the order of their names.
//
// The maxNodes bars with the largest totals are drawn, and those that are as large as the
// smallest of them; the siblings that are smaller become one bar called other, at the end.
// 0 draws all.
func (t *Tree) FlameGraph(maxNodes int64) *FlameGraph {
	root := t.bars()
	// What has no frames has nowhere to be drawn, and is not part of the total.
	root.total, root.self = root.total-root.self, 0
	var totals []int64
	root.walk(func(b *bar) { totals = append(totals, b.total) })
	g := flame{least: least(totals[1:], maxNodes), names: map[string]int64{}}
	g.out.Total = root.total
	g.draw(root, 0, 0)
	for i := range g.out.Levels {
		offsets(g.out.Levels[i].Values, 0, 4)
	}
	return &g.out
}

// walk visits all bars, parents first.
func (b *bar) walk(visit func(*bar)) {
	todo := []*bar{b}
	for len(todo) > 0 {
		one := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], one.children...)
		visit(one)
	}
}

// flame is a flame graph that is being drawn.
type flame struct {
	least int64
	out   FlameGraph
	names map[string]int64
}

// draw draws a bar that begins at x, and all above it. A stack may have as many frames as
// a profile may: it works off a list, and the left of two siblings comes off first.
func (g *flame) draw(root *bar, x int64, level int) {
	type place struct {
		*bar
		x     int64
		level int
	}
	todo := []place{{root, x, level}}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		g.out.MaxSelf = max(g.out.MaxSelf, at.self)
		if at.level == len(g.out.Levels) {
			g.out.Levels = append(g.out.Levels, Level{})
		}
		l := &g.out.Levels[at.level]
		l.Values = append(l.Values, at.x, at.total, at.self, named(g.names, &g.out.Names, at.name))
		from := len(todo)
		x, small := at.x+at.self, int64(0)
		for _, c := range at.children {
			if c.total < g.least || c.name == other {
				small += c.total
				continue
			}
			todo = append(todo, place{c, x, at.level + 1})
			x += c.total
		}
		if small > 0 {
			todo = append(todo, place{&bar{name: other, self: small, total: small}, x, at.level + 1})
		}
		slices.Reverse(todo[from:])
	}
}

// named returns the position of a name. The root, which comes first, is called total.
func named(ids map[string]int64, names *[]string, name string) int64 {
	if len(*names) == 0 {
		*names = append(*names, "total")
		return 0
	}
	id, ok := ids[name]
	if !ok {
		id = int64(len(*names))
		ids[name] = id
		*names = append(*names, strings.ToValidUTF8(name, "\uFFFD"))
	}
	return id
}

// offsets makes the places of a level, which are entry start of every step ones, distances
// from the end of the bar before.
func offsets(values []int64, start, step int) {
	end := int64(0)
	for i := start; i < len(values); i += step {
		x := values[i]
		values[i] = x - end
		end = x + values[i+1]
	}
}
