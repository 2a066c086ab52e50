package querier

import (
	"maps"
	"math"
	"slices"

	"loupe/format/connect"
)

// maxSteps is how many steps a range may have.
const maxSteps = 100_000

// Range is a range of time in steps, all in milliseconds. A step is named by its end: the
// first one ends at Start, and has what was up to a step before it.
type Range struct{ Start, End, Step int64 }

// NewRange checks the range of a question, whose step is in seconds.
func NewRange(start, end int64, step float64) (Range, error) {
	r := Range{start, end, int64(step * 1000)}
	switch {
	case !(step >= 0.001) || step > 1e9:
		return r, connect.Errorf(connect.InvalidArgument, "a step of %v s is not possible (want at least 0.001)", step)
	case start < 0 || end < start || end > math.MaxInt64/2:
		return r, connect.Errorf(connect.InvalidArgument, "the range from %d to %d ms does not end after its start", start, end)
	case (end-start)/r.Step >= maxSteps:
		return r, connect.Errorf(connect.InvalidArgument, "%d steps are more than %d (ask for a longer step)", (end-start)/r.Step+1, maxSteps)
	}
	return r, nil
}

// From is the first moment, exclusive, of which the first step has something.
func (r Range) From() int64 { return r.Start - r.Step }

// Slot returns the end of the step that a moment is in, and whether it is in the range.
func (r Range) Slot(t int64) (int64, bool) {
	if t <= r.From() || t > r.End {
		return 0, false
	}
	n := (t - r.Start + r.Step - 1) / r.Step // rounded up; of the first step 0 or less
	if t <= r.Start {
		n = 0
	}
	return r.Start + n*r.Step, true
}

// Observation is the total of one profile.
type Observation struct {
	Source uint64 // whose profile it is: the same for all of one series
	Time   int64  // milliseconds since 1970
	Value  float64
}

// Points puts the totals of profiles into the steps of the range. With [Sum] all of a step
// are added up, with [Average] it is their mean. States, such as memory in use, are never
// added up over time, whatever is asked for: of each source the mean counts, and sources
// are added up. Steps without a profile have no point.
func (r Range) Points(all []Observation, a Aggregation, state bool) []Point {
	type sum struct {
		value float64
		n     int
	}
	slots := map[int64]map[uint64]sum{}
	for _, o := range all {
		t, ok := r.Slot(o.Time)
		if !ok {
			continue
		}
		if slots[t] == nil {
			slots[t] = map[uint64]sum{}
		}
		source := o.Source
		if !state || a == Average {
			source = 0
		}
		s := slots[t][source]
		slots[t][source] = sum{s.value + o.Value, s.n + 1}
	}
	var out []Point
	for _, t := range slices.Sorted(maps.Keys(slots)) {
		p := Point{Timestamp: t}
		for _, source := range slices.Sorted(maps.Keys(slots[t])) { // sums of fractions depend on the order
			s := slots[t][source]
			if a == Average || state {
				s.value /= float64(s.n)
			}
			p.Value += s.value
		}
		out = append(out, p)
	}
	return out
}

// heatRows is how many rows a heat map has.
const heatRows = 20

// Heatmap counts the totals of profiles, or of spans, by step and by size. The rows are
// the same for all series: as many of equal height from the least to the largest total.
// Series without any are left out.
func (r Range) Heatmap(series []HeatmapInput) []HeatmapSeries {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for _, s := range series {
		for _, e := range s.Observations {
			if _, ok := r.Slot(e.Timestamp); ok {
				low, high = min(low, e.Value), max(high, e.Value)
			}
		}
	}
	var out []HeatmapSeries
	for _, s := range series {
		if slots := r.slots(s, low, max(high, low+1)); len(slots) > 0 {
			out = append(out, HeatmapSeries{Labels: s.Labels, Slots: slots})
		}
	}
	return out
}

// HeatmapInput is what a heat map counts of one set of labels.
type HeatmapInput struct {
	Labels       []Label
	Observations []Exemplar
	Exemplars    bool // the largest of each cell goes with the answer
}

func (r Range) slots(s HeatmapInput, low, high int64) []HeatmapSlot {
	floor := func(row int) int64 {
		return low + int64(float64(row)*(float64(high)-float64(low))/heatRows)
	}
	slots := map[int64]*HeatmapSlot{}
	best := map[int64]*[heatRows]*Exemplar{}
	for i := range s.Observations {
		e := &s.Observations[i]
		t, ok := r.Slot(e.Timestamp)
		if !ok {
			continue
		}
		if slots[t] == nil {
			slots[t] = &HeatmapSlot{Timestamp: t, YMin: make([]float64, heatRows), Counts: make([]int32, heatRows)}
			best[t] = new([heatRows]*Exemplar)
			for row := range heatRows {
				slots[t].YMin[row] = float64(floor(row))
			}
		}
		row := heatRows - 1
		for row > 0 && e.Value < floor(row) {
			row--
		}
		slots[t].Counts[row]++
		if b := best[t]; b[row] == nil || e.Value > b[row].Value {
			b[row] = e
		}
	}
	var out []HeatmapSlot
	for _, t := range slices.Sorted(maps.Keys(slots)) {
		if s.Exemplars {
			for _, e := range best[t] {
				if e != nil {
					slots[t].Exemplars = append(slots[t].Exemplars, *e)
				}
			}
		}
		out = append(out, *slots[t])
	}
	return out
}
