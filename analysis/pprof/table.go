package pprof

import (
	"cmp"
	"iter"
	"slices"

	"loupe/analysis/calltree"
	"loupe/format/profile"
	"loupe/value/stack"
	"loupe/value/stats"
)

// Table is the ranking of top with what pprof does not tell: how far each
// share can be trusted, whose code it is and what kind of work.
type Table struct {
	Rows     []TableRow
	Graph    *calltree.Graph
	Sampling profile.Sampling // what the intervals rest on
}

// TableRow is one row of a [Table].
type TableRow struct {
	*calltree.Node
	Package  string
	Category stack.Category
	// Flat and Cum are the shares of the total with their intervals of 95%,
	// which are only there when the observations can be counted.
	FlatShare, CumShare stats.Interval
}

// Table ranks as top does, with intervals from the number of observations
// (Wilson 1927). For allocations they hold for the number of objects; that
// objects of one place have different sizes widens them.
func (r *Report) Table() *Table {
	opt := graphOptions(r)
	counts, how := r.Profile.Observations(r.index)
	opt.Counts = func(yield func(stack.ID, int64) bool) {
		for row, id := range r.Profile.StackIDs {
			if !yield(id, counts[row]) {
				return
			}
		}
	}
	g := graphOf(r, opt)
	t := &Table{Graph: g, Sampling: how}
	share := func(v, n int64) stats.Interval {
		i := stats.Interval{Confidence: 0.95}
		if r.Total != 0 {
			i.Estimate = float64(v) / float64(r.Total)
		}
		i.Low, i.High = i.Estimate, i.Estimate
		if how != profile.Sampled || g.Samples == 0 {
			return i
		}
		// The interval of the share of observations, at the place of the
		// share of the weight: an observation may weigh more than another.
		w := stats.Wilson(float64(max(n, -n)), float64(g.Samples), i.Confidence)
		if w.Estimate > 0 {
			scale := i.Estimate / w.Estimate
			i.Low, i.High = min(1, w.Low*scale), min(1, w.High*scale)
		}
		return i
	}
	for _, n := range g.Nodes {
		t.Rows = append(t.Rows, TableRow{
			Node: n, Package: stack.Package(n.Func), Category: stack.CategoryOf(n.Func),
			FlatShare: share(n.FlatValue(), n.FlatSamples), CumShare: share(n.CumValue(), n.CumSamples),
		})
	}
	return t
}

// CategoryRow is the weight of one kind of work.
type CategoryRow struct {
	Category stack.Category
	Origin   stack.Origin // of plain code
	Weight   int64
	Samples  int64
}

// Categories tells what the weight was spent on: each duty of the runtime, and
// plain code by whose it is. Rows without weight are left out.
func (r *Report) Categories(scope stack.Scope) []CategoryRow {
	p := r.Profile
	known := make([]int16, p.Stacks.NumFrames())
	of := func(f stack.FrameID) stack.Category {
		if known[f] == 0 {
			known[f] = int16(stack.CategoryOf(p.Stacks.Frame(f).Func)) + 1
		}
		return stack.Category(known[f] - 1)
	}
	type key struct {
		category stack.Category
		origin   stack.Origin
	}
	rows := map[key]*CategoryRow{}
	keys := make([]key, p.Stacks.Len())
	have := make([]bool, len(keys))
	for s := range samplesOf(r) {
		if !have[s.Stack] {
			frames := p.Stacks.Frames(s.Stack)
			k := key{category: stack.Categorize(frames, of)}
			if k.category == stack.Plain && len(frames) > 0 {
				k.origin = scope.Of(p.Stacks.Frame(frames[0]))
			}
			keys[s.Stack], have[s.Stack] = k, true
		}
		k := keys[s.Stack]
		if rows[k] == nil {
			rows[k] = &CategoryRow{Category: k.category, Origin: k.origin}
		}
		rows[k].Weight += s.Weight
		rows[k].Samples++
	}
	list := make([]CategoryRow, 0, len(rows))
	for _, row := range rows {
		if row.Weight != 0 {
			list = append(list, *row)
		}
	}
	slices.SortFunc(list, func(a, b CategoryRow) int {
		return cmp.Or(cmp.Compare(abs(b.Weight), abs(a.Weight)), cmp.Compare(a.Category, b.Category), cmp.Compare(a.Origin, b.Origin))
	})
	return list
}

func abs(v int64) int64 { return max(v, -v) }

// Weights returns the stacks of the report with their weights.
func (r *Report) Weights() iter.Seq2[stack.ID, int64] { return r.Profile.Samples(r.index) }
