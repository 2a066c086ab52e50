package calltree

import (
	"cmp"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Grouping says which frames are one box of a flame graph when they are called
// from the same box.
type Grouping uint8

// The groupings of a flame graph.
const (
	ByFunction Grouping = iota
	ByPackage           // import path, see [stack.Package]
	ByModule            // binary or shared object
)

// FlameOptions say what the boxes of a flame graph are and which are drawn.
type FlameOptions struct {
	// MinShare is the share of the whole width below which a box is not drawn,
	// nor looked into: one pixel of the screen. 0 draws everything.
	MinShare float64

	// Inverted draws from the leaf up: below a function are its callers.
	Inverted bool
	// Focus draws only stacks with a frame that it likes, from the outermost
	// such frame on: down to the leaf, or up to the root when inverted.
	Focus func(stack.Frame) bool

	Group        Grouping
	FoldGenerics bool // one box for all instances of a generic function
	NoInlines    bool // leave out inlined calls
	// FoldRecursion draws a function that is on a stack several times once:
	// what lies between the first and the last time is left out. Frames of one
	// package or module in a row are always one box.
	FoldRecursion bool
	// Name overrides Group: it names the box that a frame belongs to.
	Name func(stack.Frame) string

	// Base are the weights to compare with, of the same table. A box is drawn
	// when it is wide enough in either.
	Base Samples
}

// FlameGraph is where the weight goes: boxes on levels, each below the one
// that it was called from (or, inverted, the one that it calls). It is
// what flame graphs, icicles and call trees are drawn from. Boxes too narrow
// to be seen are not there, but counted.
type FlameGraph struct {
	Boxes  []Box // depth first, the widest of siblings first
	Levels []Level
	Names  []string        // by Box.Name
	Frames []stack.FrameID // by Box.Name: one of the frames

	Total, Base int64 // weight of all stacks that are drawn, and the one to compare with
	Whole       int64 // sum of the absolute weights of all samples, in focus or not

	stacks *flameStacks
	order  []uint32 // the stacks, so that those of every box are in a row
	depth  int32    // of the first level in the stacks
}

// Box is a run of stacks that begin in the same way.
type Box struct {
	Name   int32 // in FlameGraph.Names
	Parent int32 // in FlameGraph.Boxes; -1 on the first level
	Depth  int32 // level, counted from 0
	Inline bool  // every call was inlined

	Weight, Self int64 // with all that it calls, and of the box itself
	// BaseWeight and BaseSelf are the same of what is compared with.
	BaseWeight, BaseSelf int64

	// Narrow is how many boxes on the next level are too narrow to be drawn,
	// NarrowWeight their weight.
	Narrow                         int32
	NarrowWeight, NarrowBaseWeight int64

	first, end uint32 // in FlameGraph.order
}

// Level is what one level of a flame graph shows and hides.
type Level struct {
	Boxes, Narrow        int // boxes that are drawn, and those too narrow
	Weight, NarrowWeight int64
}

// Flame draws the flame graph of samples. What is drawn costs, not what there
// is: a box that is too narrow is not looked into.
func Flame(t *stack.Table, samples Samples, opt FlameOptions) *FlameGraph {
	s := newFlameStacks(t, samples, &opt)
	g := &FlameGraph{stacks: s, order: make([]uint32, len(s.weight))}
	for i := range g.order {
		g.order[i] = uint32(i)
	}
	g.draw(nil, opt.MinShare)
	return g
}

// Zoom draws the flame graph of one box alone, which becomes the whole width
// of the first level, so that boxes below it appear which were too narrow. The
// graph itself is not changed.
func (g *FlameGraph) Zoom(box int, minShare float64) *FlameGraph {
	root := g.Boxes[box]
	z := &FlameGraph{stacks: g.stacks, depth: g.depth + root.Depth, order: slices.Clone(g.order[root.first:root.end])}
	root.Parent, root.Depth, root.first, root.end = -1, 0, 0, uint32(len(z.order))
	z.draw(&root, minShare)
	return z
}

// Sandwich draws who calls the functions that are liked, and what they call:
// callers is inverted, and both begin with those functions. Where one is on a
// stack several times, the outermost counts.
func Sandwich(t *stack.Table, samples Samples, focus func(stack.Frame) bool, opt FlameOptions) (callers, callees *FlameGraph) {
	opt.Focus, opt.Inverted = focus, false
	callees = Flame(t, samples, opt)
	opt.Inverted = true
	return Flame(t, samples, opt), callees
}

// flameStacks are the stacks that are drawn. Nobody modifies it.
//
// A stack without anything to leave out is that of the table: boxes that are too
// narrow are not looked into, so that most frames are never asked for. Copying
// them in the order of drawing took a sixth of the time of loupe pprof -flame on
// a heap profile of 190,000 stacks, and 39 MB.
type flameStacks struct {
	runs     [][]stack.FrameID // by stack
	backward bool              // runs are drawn from their last frame on
	// codes are, by frame, twice the name and one more if the call was inlined.
	codes        []uint32
	weight, base []int64 // by stack; base may be nil
	size         []int64 // by stack, what decides on being drawn
	names        []string
	frames       []stack.FrameID
	whole        int64
}

// code returns the code of a stack on a level, or noCode when it has ended
// above it.
func (s *flameStacks) code(stack uint32, level int) uint32 {
	run := s.runs[stack]
	if level >= len(run) {
		return noCode
	}
	if s.backward {
		level = len(run) - 1 - level
	}
	return s.codes[run[level]]
}

func newFlameStacks(t *stack.Table, samples Samples, opt *FlameOptions) *flameStacks {
	s := &flameStacks{}
	s.nameFrames(t, opt)
	var focus []bool
	if opt.Focus != nil {
		focus = mark(t, opt.Focus)
	}
	sum := make([]int64, t.Len())
	var base []int64
	live := make([]bool, t.Len())
	var ids []stack.ID
	add := func(samples Samples, to []int64) (whole int64) {
		for id, v := range samples {
			if v == 0 {
				continue
			}
			whole += abs(v)
			to[id] += v
			if !live[id] {
				live[id] = true
				ids = append(ids, id)
			}
		}
		return whole
	}
	s.whole = add(samples, sum)
	if opt.Base != nil {
		base = make([]int64, t.Len())
		add(opt.Base, base)
	}
	s.runs = make([][]stack.FrameID, 0, len(ids))
	s.weight = make([]int64, 0, len(ids))
	fold := folder{
		codes: s.codes, inverted: opt.Inverted,
		on: opt.FoldRecursion, inRow: opt.Name == nil && opt.Group != ByFunction, last: make([]int32, len(s.names)),
	}
	entire := !opt.NoInlines && !fold.on && !fold.inRow
	s.backward = entire && !opt.Inverted
	negative := false
	for _, id := range ids {
		run := t.Frames(id)
		if focus != nil {
			at := len(run) - 1
			for at >= 0 && !focus[run[at]] {
				at--
			}
			if at < 0 {
				continue
			}
			if opt.Inverted {
				run = run[at:]
			} else {
				run = run[:at+1]
			}
		}
		if !entire {
			run = fold.run(run)
		}
		s.runs = append(s.runs, run)
		s.weight = append(s.weight, sum[id])
		negative = negative || sum[id] < 0
		if base != nil {
			s.base = append(s.base, base[id])
		}
	}
	s.size = s.weight
	if negative || base != nil {
		s.size = make([]int64, len(s.weight))
		for i, v := range s.weight {
			s.size[i] = abs(v)
			if base != nil {
				s.size[i] += abs(s.base[i])
			}
		}
	}
	return s
}

// noCode stands for a frame that is left out, or not there.
const noCode = ^uint32(0)

// nameFrames gives every frame its code.
func (s *flameStacks) nameFrames(t *stack.Table, opt *FlameOptions) {
	codes := make([]uint32, t.NumFrames())
	s.codes = codes
	numbers := map[string]uint32{}
	folded := map[string]string{}
	for i := range codes {
		f := t.Frame(stack.FrameID(i))
		if opt.NoInlines && f.Inlined {
			codes[i] = noCode
			continue
		}
		var name string
		switch {
		case opt.Name != nil:
			name = opt.Name(f)
		case opt.Group == ByModule:
			name = f.Module
		case opt.Group == ByPackage:
			name = stack.Package(f.Func)
		case opt.FoldGenerics:
			known := false
			if name, known = folded[f.Func]; !known {
				name = stack.FoldGenerics(f.Func)
				folded[f.Func] = name
			}
		default:
			name = f.Func
		}
		if name == "" {
			name = Place{Module: f.Module}.String()
		}
		n, ok := numbers[name]
		if !ok {
			n = uint32(len(s.names))
			numbers[name] = n
			s.names = append(s.names, name)
			s.frames = append(s.frames, stack.FrameID(i))
		}
		codes[i] = n << 1
		if f.Inlined {
			codes[i]++
		}
	}
}

// folder takes out of stacks what is not to be seen: inlined calls and
// repetitions.
type folder struct {
	codes    []uint32 // by frame
	inverted bool
	on       bool    // all repetitions
	inRow    bool    // those that follow each other
	last     []int32 // by name: one more than its position in the stack
}

// run returns what is left of a stack, in the order in which it is drawn: root
// first unless inverted.
func (d *folder) run(frames []stack.FrameID) []stack.FrameID {
	out := make([]stack.FrameID, 0, len(frames))
	for i := range frames {
		f := frames[i]
		if !d.inverted {
			f = frames[len(frames)-1-i]
		}
		code := d.codes[f]
		if code == noCode {
			continue
		}
		if d.inRow && len(out) > 0 && d.codes[out[len(out)-1]]>>1 == code>>1 {
			continue
		}
		if d.on {
			if at := d.last[code>>1]; at > 0 {
				d.forget(out[at:])
				out = out[:at]
				continue
			}
			d.last[code>>1] = int32(len(out) + 1)
		}
		out = append(out, f)
	}
	if d.on {
		d.forget(out)
	}
	return out
}

func (d *folder) forget(frames []stack.FrameID) {
	for _, f := range frames {
		d.last[d.codes[f]>>1] = 0
	}
}

// draw fills in the boxes: those below root, or all.
func (g *FlameGraph) draw(root *Box, minShare float64) {
	s := g.stacks
	g.Names, g.Frames, g.Whole = s.names, s.frames, s.whole
	var width, baseWidth int64
	for _, i := range g.order {
		g.Total += s.weight[i]
		width += abs(s.weight[i])
		if s.base != nil {
			g.Base += s.base[i]
			baseWidth += abs(s.base[i])
		}
	}
	d := drawer{
		g: g, s: s, minSize: max(1, int64(minShare*float64(max(width, baseWidth)))),
		cells: make([]cell, len(s.names)), name: make([]uint32, len(g.order)), moved: make([]uint32, len(g.order)),
	}
	if root == nil {
		d.level(0, uint32(len(g.order)), 0, -1)
		return
	}
	root.Self, root.BaseSelf, root.Narrow, root.NarrowWeight, root.NarrowBaseWeight = 0, 0, 0, 0, 0
	g.Boxes = append(g.Boxes, *root)
	g.Levels = append(g.Levels, Level{Boxes: 1, Weight: root.Weight})
	d.level(0, root.end, 1, 0)
}

// drawer draws one flame graph.
type drawer struct {
	g       *FlameGraph
	s       *flameStacks
	minSize int64

	cells   []cell   // by name, for the level at hand
	name    []uint32 // by position in the order: the code at the level
	moved   []uint32 // the order in the making
	touched []uint32 // names of the level at hand
	groups  []group  // boxes to be, a stack of levels
}

// cell adds up the stacks of one box. The fields stand together because a scan
// touches all of them.
type cell struct {
	weight, base, size int64
	count, at          uint32
	plain              bool
}

type group struct {
	name         int32
	first, end   uint32
	weight, base int64
	inline       bool
}

// level draws the boxes of the stacks from first to end at a depth, and all
// that is below them. It calls itself only where stacks part, so that its own
// depth is bound by their number and not by their length.
func (d *drawer) level(first, end uint32, depth, parent int32) {
	for {
		groups := len(d.groups)
		d.part(first, end, depth, parent)
		below := d.groups[groups:]
		if len(below) == 1 {
			only := below[0]
			d.groups = d.groups[:groups]
			parent = d.box(only, depth, parent)
			first, end, depth = only.first, only.end, depth+1
			continue
		}
		for i := range below {
			b := d.groups[groups+i] // the room moves when it grows
			d.level(b.first, b.end, depth+1, d.box(b, depth, parent))
		}
		d.groups = d.groups[:groups]
		return
	}
}

// box draws one box and returns its position.
func (d *drawer) box(b group, depth, parent int32) int32 {
	d.g.Boxes = append(d.g.Boxes, Box{
		Name: b.name, Parent: parent, Depth: depth, Inline: b.inline,
		Weight: b.weight, BaseWeight: b.base, first: b.first, end: b.end,
	})
	return int32(len(d.g.Boxes) - 1)
}

// part brings the stacks of each box at a depth together and adds the boxes
// that are wide enough to the groups.
func (d *drawer) part(first, end uint32, depth, parent int32) {
	d.touched = d.touched[:0]
	ended := d.scan(first, end, depth, parent)
	names := d.touched
	if len(names) == 0 {
		return
	}
	for int(depth) >= len(d.g.Levels) {
		d.g.Levels = append(d.g.Levels, Level{})
	}
	level := &d.g.Levels[depth]
	slices.SortFunc(names, func(x, y uint32) int {
		if c := cmp.Compare(d.cells[y].size, d.cells[x].size); c != 0 {
			return c
		}
		return strings.Compare(d.s.names[x], d.s.names[y])
	})
	// The widest come first, so the ones that are too narrow are at the end.
	groups := len(d.groups)
	at := first
	for _, n := range names {
		c := &d.cells[n]
		c.at = at
		at += c.count
		if c.size >= d.minSize {
			level.Boxes++
			level.Weight += c.weight
			d.groups = append(d.groups, group{int32(n), c.at, at, c.weight, c.base, !c.plain})
			continue
		}
		level.Narrow++
		level.NarrowWeight += c.weight
		if parent >= 0 {
			box := &d.g.Boxes[parent]
			box.Narrow++
			box.NarrowWeight += c.weight
			box.NarrowBaseWeight += c.base
		}
	}
	// One box alone has its stacks together already.
	if len(d.groups) > groups && (len(names) > 1 || ended) {
		d.partition(first, end, at)
	}
	for _, n := range names {
		d.cells[n] = cell{}
	}
}

// scan adds up the stacks by their name at a depth, and those that have ended
// before it as their parent's own weight.
func (d *drawer) scan(first, end uint32, depth, parent int32) (ended bool) {
	s, at := d.s, int(d.g.depth+depth)
	for i := first; i < end; i++ {
		row := d.g.order[i]
		code := s.code(row, at)
		if code == noCode {
			d.name[i] = noCode
			ended = true
			if parent >= 0 {
				box := &d.g.Boxes[parent]
				box.Self += s.weight[row]
				if s.base != nil {
					box.BaseSelf += s.base[row]
				}
			}
			continue
		}
		n := code >> 1
		d.name[i] = n
		c := &d.cells[n]
		if c.count == 0 {
			d.touched = append(d.touched, n)
		}
		c.count++
		c.weight += s.weight[row]
		c.size += s.size[row]
		c.plain = c.plain || code&1 == 0
		if s.base != nil {
			c.base += s.base[row]
		}
	}
	return ended
}

// partition brings the stacks of each box together, in their order, and those
// that have ended to the end.
func (d *drawer) partition(first, end, ended uint32) {
	order := d.g.order
	for i := first; i < end; i++ {
		to := &ended
		if n := d.name[i]; n != noCode {
			to = &d.cells[n].at
		}
		d.moved[*to] = order[i]
		*to++
	}
	copy(order[first:end], d.moved[first:end])
}
