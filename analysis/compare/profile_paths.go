package compare

import (
	"cmp"
	"math"
	"slices"
)

// pathShare is the part of the greatest change of a call path from which on a
// path is listed.
const pathShare = 0.1

// call is one stack of one run, root first.
type call struct {
	path []int32
	run  int
	cell cell
}

// pathFinder looks for the call paths that explain a change. It walks down from
// the root, and leaves out whatever is lighter than the change it looks for: no
// call path changes by more than what it weighs on both sides together.
type pathFinder struct {
	c     *comparison
	calls []call
	least float64 // change from which on a path is listed
	most  float64 // greatest change so far
	looks int     // paths that are heavy enough to be looked at
	found []PathDelta
}

// paths fills in the call paths that explain the change.
func (c *comparison) paths(d *ProfileDiff) {
	f := &pathFinder{c: c, calls: c.calls()}
	a, b := f.weigh(f.calls)
	d.Rest = b - a
	f.greatest(f.calls, 0)
	if f.most == 0 {
		return
	}
	f.least = pathShare * f.most
	f.count(f.calls, 0)
	f.explain(f.calls, nil)
	slices.SortFunc(f.found, func(x, y PathDelta) int {
		return cmp.Or(compareDeltas(&x.ProfileDelta, &y.ProfileDelta), slices.Compare(x.Path, y.Path))
	})
	d.Paths = f.found[:min(len(f.found), cmp.Or(max(0, c.opt.Paths), 10))]
	for i := range d.Paths {
		d.Rest -= d.Paths[i].Difference.Estimate
	}
	if math.Abs(d.Rest) < 1e-9*(math.Abs(a)+math.Abs(b)) {
		d.Rest = 0 // what adding and taking away leaves behind
	}
}

// calls lists the stacks of all runs, those with the same callers together.
func (c *comparison) calls() []call {
	var list []call
	opt := *c.opt
	if opt.By.By == "label" {
		opt.By = Grouping{By: "function"}
	}
	n := newNames(&opt)
	for i, p := range c.w.list {
		rows := n.frames(p.Stacks)
		r := &c.w.runs[i]
		for _, id := range r.live {
			frames := p.Stacks.Frames(id)
			path := make([]int32, 0, len(frames))
			for j := len(frames) - 1; j >= 0; j-- {
				row := rows[frames[j]]
				if k := len(path); k > 0 && path[k-1] == row && opt.By.By != "function" {
					continue // calls within a package or file are one step
				}
				path = append(path, row)
			}
			list = append(list, call{path, i, r.stacks[id]})
		}
	}
	c.pathNames = n.list
	slices.SortFunc(list, func(x, y call) int { return slices.Compare(x.path, y.path) })
	return list
}

// children yields the runs of calls that go on in the same way.
func children(calls []call, depth int, yield func([]call)) {
	for len(calls) > 0 {
		if len(calls[0].path) <= depth { // it ends here
			calls = calls[1:]
			continue
		}
		next, n := calls[0].path[depth], 1
		for n < len(calls) && calls[n].path[depth] == next {
			n++
		}
		yield(calls[:n])
		calls = calls[n:]
	}
}

// weigh returns the normalised mean weights of calls on both sides.
func (f *pathFinder) weigh(calls []call) (a, b float64) {
	for i := range calls {
		x := &calls[i]
		v := x.cell.value * f.c.w.runs[x.run].factor
		if x.run < f.c.w.sides {
			a += v
		} else {
			b += v
		}
	}
	return a / float64(f.c.w.sides), b / float64(len(f.c.w.runs)-f.c.w.sides)
}

// greatest finds the greatest change of any call path.
func (f *pathFinder) greatest(calls []call, depth int) {
	a, b := f.weigh(calls)
	f.most = max(f.most, math.Abs(b-a))
	if math.Abs(a)+math.Abs(b) > f.most {
		children(calls, depth, func(below []call) { f.greatest(below, depth+1) })
	}
}

// count counts the paths that are looked at.
func (f *pathFinder) count(calls []call, depth int) {
	if a, b := f.weigh(calls); math.Abs(a)+math.Abs(b) < f.least {
		return
	}
	f.looks++
	children(calls, depth, func(below []call) { f.count(below, depth+1) })
}

// explain lists the paths below one that explain its change, then the path
// itself if what is left is enough. A change that is too small to be told from
// chance, or to be listed, stays with its caller, where it may come together
// with others. It returns the cells of all that it listed.
func (f *pathFinder) explain(calls []call, path []int32) []cell {
	a, b := f.weigh(calls)
	if math.Abs(a)+math.Abs(b) < f.least {
		return nil
	}
	var listed []cell
	children(calls, len(path), func(below []call) {
		at := len(path)
		for i, x := range f.explain(below, append(path[:at:at], below[0].path[at])) {
			if listed == nil {
				listed = make([]cell, len(f.c.w.runs))
			}
			listed[i].add(x)
		}
	})
	if len(path) == 0 {
		return listed
	}
	rest := make([]cell, len(f.c.w.runs))
	for i := range calls {
		rest[calls[i].run].add(calls[i].cell)
	}
	whole := slices.Clone(rest)
	for i, x := range listed {
		rest[i].sub(x)
	}
	d := f.c.delta(rest)
	if math.Abs(d.Difference.Estimate) < f.least || !f.judge(&d) {
		return listed
	}
	names := make([]string, len(path))
	for i, row := range path {
		names[i] = f.c.pathNames[row]
	}
	f.found = append(f.found, PathDelta{names, d})
	return whole
}

// judge decides on one path among all that are looked at (Bonferroni), and
// tells whether it can be listed.
func (f *pathFinder) judge(d *ProfileDelta) bool {
	if d.Significance == "" {
		judge([]*ProfileDelta{d}, f.looks)
		return d.Significance.Beyond()
	}
	return d.Significance == Untold
}
