package calltree

import (
	"fmt"

	"loupe/value/stack"
)

// Inlining says how a function was called.
type Inlining uint8

// How the calls of a function were compiled.
const (
	Called       Inlining = iota // no call was inlined
	PartlyInline                 // some calls were
	Inline                       // all calls were
)

// String returns the suffix that pprof prints behind the name.
func (i Inlining) String() string {
	switch i {
	case Called:
		return ""
	case PartlyInline:
		return "(partial-inline)"
	case Inline:
		return "(inline)"
	}
	return fmt.Sprintf("Inlining(%d)", uint8(i))
}

// Row is one function of a [Ranking].
type Row struct {
	Name  string        // as pprof prints it: the function, or [binary], or <unknown>
	Frame stack.FrameID // a frame of the function, for its package and file

	Flat, Cum               int64 // weight of itself, and with all that it calls
	FlatSamples, CumSamples int64 // observations behind them

	Inlining Inlining
}

// Ranking is the functions of a profile, the heaviest first.
type Ranking struct {
	Rows    []Row
	Total   int64 // the whole: sum of the absolute weights of all samples
	Samples int64 // observations behind Total
	Shown   int64 // sum of Flat over Rows

	Dropped      int     // functions below NodeFraction
	Functions    int     // functions that were not dropped; at least len(Rows)
	NodeFraction float64 // as asked for
}

// Share returns the part of the whole that v is: 1 is all of it.
func (r *Ranking) Share(v int64) float64 {
	if r.Total == 0 {
		return 0
	}
	return float64(v) / float64(r.Total)
}

// Top ranks functions by weight.
func Top(t *stack.Table, samples Samples, opt Options) *Ranking {
	opt.OnlyInlined = true
	return New(t, Plain(samples), opt).Ranking()
}

// Ranking returns the nodes of the graph as the rows of a table.
func (g *Graph) Ranking() *Ranking {
	r := &Ranking{
		Rows: make([]Row, len(g.Nodes)), Total: g.Total, Samples: g.Samples,
		Dropped: g.DroppedNodes, Functions: g.Ranked, NodeFraction: g.NodeFraction,
	}
	for i, n := range g.Nodes {
		r.Shown += n.FlatValue()
		r.Rows[i] = Row{n.Place.String(), n.Frame, n.FlatValue(), n.CumValue(), n.FlatSamples, n.CumSamples, n.Inlining()}
	}
	return r
}
