package compare

import (
	"math"
	"strconv"

	"loupe/analysis/calltree"
	"loupe/format/profile"
	"loupe/value/stack"
)

// cell is the weight of something in one profile.
type cell struct {
	value float64 // as in the profile
	count float64 // observations behind it
	// square is the variance of the value where the observations are
	// independent: the sum of the squares of what each was worth.
	square float64
}

func (c *cell) add(d cell) {
	c.value += d.value
	c.count += d.count
	c.square += d.square
}

func (c *cell) sub(d cell) {
	c.value -= d.value
	c.count -= d.count
	c.square -= d.square
}

// run is one profile, summed up.
type run struct {
	stacks []cell     // by stack.ID
	live   []stack.ID // the stacks with a weight
	total  cell
	factor float64 // what the values are multiplied by
}

// weigh sums the profiles up by stack.
func (c *comparison) weigh() {
	c.runs = make([]run, len(c.list))
	c.sampling = profile.Exact
	for i, p := range c.list {
		counts, how := p.Observations(c.index)
		r := &c.runs[i]
		r.stacks, r.factor = make([]cell, p.Stacks.Len()), 1
		for row, id := range p.StackIDs {
			v := p.Values[c.index][row]
			if v == 0 {
				continue
			}
			if v < 0 {
				how = profile.Unknown // a difference already: what was taken away is not told
			}
			x := weightOf(v, counts[row])
			if s := &r.stacks[id]; s.value == 0 && s.count == 0 {
				r.live = append(r.live, id)
			}
			r.stacks[id].add(x)
			x.value = math.Abs(x.value)
			r.total.add(x)
		}
		c.sampling = weaker(c.sampling, how)
	}
}

func weightOf(v, count int64) cell {
	x := cell{value: float64(v), count: float64(max(count, -count))}
	if x.count > 0 {
		x.square = x.value * x.value / x.count
	}
	return x
}

// weaker returns what can be said of two profiles together.
func weaker(a, b profile.Sampling) profile.Sampling {
	switch {
	case a == profile.Unknown || b == profile.Unknown:
		return profile.Unknown
	case a == profile.Sampled || b == profile.Sampled:
		return profile.Sampled
	}
	return profile.Exact
}

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
			(*rows)[row] = make([]cell, len(c.runs))
		}
		return &(*rows)[row][i]
	}
	for i, p := range c.list {
		r := &c.runs[i]
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
				(*rows)[i] = make([]cell, len(c.runs))
			}
		}
	}
	return flat, cum
}

// byLabel passes on the samples of a run by the value of the label.
func (c *comparison) byLabel(i int, add func(row int32, x cell)) {
	p, key := c.list[i], c.opt.By.Label
	counts, _ := p.Observations(c.index)
	rows := map[profile.LabelSet]int32{}
	for sample, v := range p.Values[c.index] {
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

func (c *comparison) empty(cells []cell) bool {
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
	a, b := c.estimate(cells, 0, c.sides), c.estimate(cells, c.sides, len(cells))
	nan := math.NaN()
	d := ProfileDelta{A: a.value, B: b.value, P: nan, Q: nan, SamplesA: nan, SamplesB: nan}
	d.Difference.Estimate = b.value - a.value
	d.Difference.Low, d.Difference.High = nan, nan
	if c.sampling != profile.Unknown {
		d.SamplesA, d.SamplesB = samples(cells[:c.sides]), samples(cells[c.sides:])
	}
	switch c.doubt() {
	case Unfounded:
		d.Significance = Untold
		return d
	case FromRuns:
		if c.noise != nil {
			d.Difference, d.P = c.moderated(cells)
			break
		}
		floorA, floorB := 0.0, 0.0
		if c.sampling == profile.Sampled {
			floorA, floorB = a.variance, b.variance
		}
		d.Difference, d.P = runsDifference(c.values(cells, 0, c.sides), c.values(cells, c.sides, len(cells)), floorA, floorB)
	default:
		// What was not seen on one side would have weighed as much as on the
		// other, as far as an observation is worth the same on both.
		if a.value == 0 {
			_, a.weight = b.observed()
			a.weight *= c.worth(0, c.sides, c.sides, len(cells))
		}
		if b.value == 0 {
			_, b.weight = a.observed()
			b.weight *= c.worth(c.sides, len(cells), 0, c.sides)
		}
		if c.shares {
			whole := c.whole()
			d.Difference, d.P = shareDifference(a.times(1/whole), b.times(1/whole))
			d.Difference.Estimate *= whole
			d.Difference.Low *= whole
			d.Difference.High *= whole
		} else {
			d.Difference, d.P = countDifference(a, b)
		}
	}
	if c.few(cells) {
		d.Significance, d.P = TooLittle, nan
	}
	return d
}

// few tells whether there is too little of something to be judged.
func (c *comparison) few(cells []cell) bool {
	if c.sampling == profile.Sampled {
		return samples(cells) < FewSamples
	}
	there := 0
	for _, x := range cells {
		if x.value != 0 {
			there++
		}
	}
	return there < 2
}

func samples(cells []cell) (n float64) {
	for _, x := range cells {
		n += x.count
	}
	return n
}

// values are the normalised values of runs.
func (c *comparison) values(cells []cell, from, to int) []float64 {
	out := make([]float64, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, cells[i].value*c.runs[i].factor)
	}
	return out
}

// estimate is the mean of runs, with the variance that the sampling within them
// makes.
func (c *comparison) estimate(cells []cell, from, to int) estimate {
	return c.estimateOf(cells, from, to, c.shares)
}

func (c *comparison) estimateOf(cells []cell, from, to int, shares bool) (e estimate) {
	n := float64(to - from)
	for i := from; i < to; i++ {
		x, r := cells[i], &c.runs[i]
		e.value += x.value * r.factor / n
		square := x.square
		if shares && r.total.value > 0 {
			// The total has an error too, in part the same.
			s := x.value / r.total.value
			square = (1-s)*(1-s)*x.square + s*s*(r.total.square-x.square)
		}
		e.variance += max(0, square) * (r.factor / n) * (r.factor / n)
	}
	return e
}

// whole is what all shares add up to in a profile: the same in each, by the way
// they are normalised.
func (c *comparison) whole() float64 {
	for i := range c.runs {
		if r := &c.runs[i]; r.total.value > 0 {
			return r.total.value * r.factor
		}
	}
	return 1
}

// worth is how much a mean observation of one side is worth of one of the other.
func (c *comparison) worth(from, to, otherFrom, otherTo int) float64 {
	total := make([]cell, len(c.runs))
	for i := range c.runs {
		total[i] = c.runs[i].total
	}
	_, one := c.estimateOf(total, from, to, false).observed()
	_, other := c.estimateOf(total, otherFrom, otherTo, false).observed()
	if one == 0 || other == 0 {
		return 1
	}
	return one / other
}
