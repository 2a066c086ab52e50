package compare

import (
	"math"
	"strconv"

	"loupe/analysis/calltree"
	"loupe/format/profile"
	"loupe/value/stack"
)

// names are the rows of a comparison by name.
type names struct {
	opt     *ProfileOptions
	place   calltree.Options
	list    []string
	numbers map[string]int32
	folded  map[string]string
}

func newNames(opt *ProfileOptions) *names {
	n := &names{opt: opt, numbers: map[string]int32{}, folded: map[string]string{}}
	switch opt.By.By {
	case "package":
		n.place.Group = func(f stack.Frame) string { return stack.Package(f.Func) }
	case "file":
		n.place.Granularity = calltree.Files
	case "line":
		n.place.Granularity = calltree.Lines
	}
	if opt.FoldGenerics && n.place.Group == nil && opt.By.By != "file" {
		n.place.Group = func(f stack.Frame) string {
			name, ok := n.folded[f.Func]
			if !ok {
				name = stack.FoldGenerics(f.Func)
				n.folded[f.Func] = name
			}
			return name
		}
	}
	return n
}

func (n *names) number(name string) int32 {
	at, ok := n.numbers[name]
	if !ok {
		at = int32(len(n.list))
		n.numbers[name] = at
		n.list = append(n.list, name)
	}
	return at
}

// frames returns the row of every frame of a table.
func (n *names) frames(t *stack.Table) []int32 {
	rows := make([]int32, t.NumFrames())
	for i := range rows {
		rows[i] = n.number(n.place.PlaceOf(t.Frame(stack.FrameID(i))).String())
	}
	return rows
}

// tallies sums the runs up by row: for each row one cell for every run.
func (c *comparison) tallies() (flat, cum [][]cell) {
	at := func(rows *[][]cell, row int32, i int) *cell {
		for int(row) >= len(*rows) {
			*rows = append(*rows, nil)
		}
		if (*rows)[row] == nil {
			(*rows)[row] = make([]cell, len(c.w.runs))
		}
		return &(*rows)[row][i]
	}
	for i, p := range c.w.list {
		r := &c.w.runs[i]
		if c.opt.By.By == "label" {
			c.byLabel(i, func(row int32, x cell) { at(&flat, row, i).add(x) })
			continue
		}
		rows := c.names.frames(p.Stacks)
		seen := make([]int, len(c.names.list)) // one more than the last stack
		for n, id := range r.live {
			for depth, f := range p.Stacks.Frames(id) {
				row := rows[f]
				if depth == 0 {
					at(&flat, row, i).add(r.stacks[id])
				}
				if seen[row] != n+1 {
					seen[row] = n + 1
					at(&cum, row, i).add(r.stacks[id])
				}
			}
		}
	}
	if c.opt.By.By == "label" {
		cum = flat
	}
	for _, rows := range []*[][]cell{&flat, &cum} {
		for len(*rows) < len(c.names.list) {
			*rows = append(*rows, nil)
		}
		for i := range *rows {
			if (*rows)[i] == nil {
				(*rows)[i] = make([]cell, len(c.w.runs))
			}
		}
	}
	return flat, cum
}

// byLabel passes on the samples of a run by the value of the label.
func (c *comparison) byLabel(i int, add func(row int32, x cell)) {
	p, key := c.w.list[i], c.opt.By.Label
	counts, _ := p.Observations(c.w.index)
	rows := map[profile.LabelSet]int32{}
	for sample, v := range p.Values[c.w.index] {
		if v == 0 {
			continue
		}
		set := p.SetOf(sample)
		row, ok := rows[set]
		if !ok {
			row = c.names.number(labelValue(p.Labels(set), key))
			rows[set] = row
		}
		add(row, weightOf(v, counts[sample]))
	}
}

func labelValue(labels []profile.Label, key string) string {
	for _, l := range labels {
		switch {
		case l.Key != key:
		case !l.Numeric:
			return l.Str
		case l.Unit != "":
			return strconv.FormatInt(l.Num, 10) + " " + l.Unit
		default:
			return strconv.FormatInt(l.Num, 10)
		}
	}
	return "(no " + key + ")"
}

// empty tells that nothing was seen of a row.
func empty(cells []cell) bool {
	for _, x := range cells {
		if x.value != 0 || x.count != 0 {
			return false
		}
	}
	return true
}

// delta compares the cells of both sides. What is left to judge has no
// significance yet.
func (c *comparison) delta(cells []cell) ProfileDelta {
	a, b := c.w.estimate(cells, 0, c.w.sides), c.w.estimate(cells, c.w.sides, len(cells))
	nan := math.NaN()
	d := ProfileDelta{A: a.value, B: b.value, P: nan, Q: nan, SamplesA: nan, SamplesB: nan}
	d.Difference.Estimate = b.value - a.value
	d.Difference.Low, d.Difference.High = nan, nan
	if c.w.sampling != profile.Unknown {
		d.SamplesA, d.SamplesB = samples(cells[:c.w.sides]), samples(cells[c.w.sides:])
	}
	switch c.w.doubt() {
	case Unfounded:
		d.Significance = Untold
		return d
	case FromRuns:
		if c.noise != nil {
			d.Difference, d.P = c.moderated(cells)
			break
		}
		floorA, floorB := 0.0, 0.0
		if c.w.sampling == profile.Sampled {
			floorA, floorB = a.variance, b.variance
		}
		d.Difference, d.P = runsDifference(c.w.values(cells, 0, c.w.sides), c.w.values(cells, c.w.sides, len(cells)), floorA, floorB)
	default:
		// What was not seen on one side would have weighed as much as on the
		// other, as far as an observation is worth the same on both.
		if a.value == 0 {
			_, a.weight = b.observed()
			a.weight *= c.w.worth(0, c.w.sides, c.w.sides, len(cells))
		}
		if b.value == 0 {
			_, b.weight = a.observed()
			b.weight *= c.w.worth(c.w.sides, len(cells), 0, c.w.sides)
		}
		if c.w.shares {
			whole := c.w.whole()
			d.Difference, d.P = shareDifference(a.times(1/whole), b.times(1/whole))
			d.Difference.Estimate *= whole
			d.Difference.Low *= whole
			d.Difference.High *= whole
		} else {
			d.Difference, d.P = countDifference(a, b)
		}
	}
	if c.w.few(cells) {
		d.Significance, d.P = TooLittle, nan
	}
	return d
}
