package querier

import (
	"slices"
	"strings"
)

// Diff returns two trees as levels of bars, for Pyroscope's flame graph of a difference.
// Each bar is seven numbers: distance, total and own value of the left tree as in
// [Tree.FlameGraph], the same three of the right one, and the name. Both trees have all
// the bars of either; where one has none, its numbers are 0.
//
// A bar is drawn when it is large enough in one of the trees.
func Diff(left, right *Tree, maxNodes int64) *FlameGraphDiff {
	root := &pair{left: left.bars(), right: right.bars()}
	for _, b := range []*bar{root.left, root.right} {
		b.total, b.self = b.total-b.self, 0
	}
	var totals []int64
	todo := []*pair{root}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		totals = append(totals, max(p.left.total, p.right.total))
		p.children = pairs(p.left.children, p.right.children)
		todo = append(todo, p.children...)
	}
	d := diff{least: least(totals, maxNodes), names: map[string]int64{}}
	d.out.LeftTicks, d.out.RightTicks = root.left.total, root.right.total
	d.out.Total = d.out.LeftTicks + d.out.RightTicks
	d.draw(root)
	for i := range d.out.Levels {
		offsets(d.out.Levels[i].Values, 0, 7)
		offsets(d.out.Levels[i].Values, 3, 7)
	}
	return &d.out
}

// pair is the same bar in both trees.
type pair struct {
	left, right *bar
	children    []*pair
}

// pairs joins two lists of siblings, which are sorted by name.
func pairs(left, right []*bar) (out []*pair) {
	for len(left) > 0 || len(right) > 0 {
		order := 0
		switch {
		case len(left) == 0:
			order = 1
		case len(right) == 0:
			order = -1
		default:
			order = strings.Compare(left[0].name, right[0].name)
		}
		var p pair
		if order <= 0 {
			p.left, left = left[0], left[1:]
		}
		if order >= 0 {
			p.right, right = right[0], right[1:]
		}
		if p.left == nil {
			p.left = &bar{name: p.right.name}
		}
		if p.right == nil {
			p.right = &bar{name: p.left.name}
		}
		out = append(out, &p)
	}
	return out
}

// diff is a difference that is being drawn.
type diff struct {
	least int64
	out   FlameGraphDiff
	names map[string]int64
}

func (d *diff) draw(root *pair) {
	type place struct {
		*pair
		x, y  int64 // where it begins on the left and on the right
		level int
	}
	todo := []place{{pair: root}}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		l, r := at.left, at.right
		d.out.MaxSelf = max(d.out.MaxSelf, l.self, r.self)
		if at.level == len(d.out.Levels) {
			d.out.Levels = append(d.out.Levels, Level{})
		}
		level := &d.out.Levels[at.level]
		level.Values = append(level.Values, at.x, l.total, l.self, at.y, r.total, r.self, named(d.names, &d.out.Names, l.name))
		from := len(todo)
		x, y := at.x+l.self, at.y+r.self
		var small, smallRight int64
		for _, c := range at.children {
			if max(c.left.total, c.right.total) < d.least {
				small += c.left.total
				smallRight += c.right.total
				continue
			}
			todo = append(todo, place{c, x, y, at.level + 1})
			x += c.left.total
			y += c.right.total
		}
		if small+smallRight > 0 {
			p := &pair{left: &bar{name: other, self: small, total: small}, right: &bar{name: other, self: smallRight, total: smallRight}}
			todo = append(todo, place{p, x, y, at.level + 1})
		}
		slices.Reverse(todo[from:])
	}
}
