package calltree

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"time"
)

// Header is what pprof prints above a table, and how it prints numbers: facts
// about the profile that the stacks do not tell. Empty fields are left out.
type Header struct {
	File     string // path of the main binary: the first mapping of the profile
	BuildID  string // build id of that mapping
	Comments []string
	Type     string // sample type, such as "alloc_space"
	Unit     string // unit of the weights, such as "bytes"; it is not printed
	DocURL   string
	Time     time.Time // printed in its location
	Duration time.Duration

	// OutputUnit is pprof's -unit. "" means a unit that fits: one for a whole
	// table or graph, or one for each value of a listing.
	OutputUnit string
	// Total is the whole that shares are taken of; 0 means that of the samples
	// that are shown. They differ when filters have left out some.
	Total int64
	// DivideBy is pprof's -divide_by: every weight is printed as that part of
	// itself. 0 and 1 change nothing.
	DivideBy float64
	// Filters are the active filters, as "focus=main".
	Filters []string
	// Compact leaves out the facts about the profile, except in a picture.
	Compact bool
}

// Format prints a weight in a unit, "minimum" meaning the one that fits it.
func (h *Header) Format(v int64, unit string) string {
	return Format(h.divide(v), h.Unit, unit)
}

func (h *Header) divide(v int64) int64 {
	if r := 1 / h.DivideBy; h.DivideBy != 0 && r > 0 && r != 1 {
		return int64(float64(v) * r)
	}
	return v
}

// total returns the whole, which without filters is that of the samples.
func (h *Header) total(samples int64) int64 {
	if h.Total != 0 {
		return h.Total
	}
	return samples
}

func (h *Header) outputUnit() string {
	if h.OutputUnit == "" {
		return Minimum
	}
	return h.OutputUnit
}

// Facts returns the lines about the profile itself. The total is printed in
// the unit.
func (h *Header) Facts(total int64, unit string) []string {
	var lines []string
	line := func(key, value string) {
		if value != "" {
			lines = append(lines, key+": "+value)
		}
	}
	if h.File != "" {
		line("File", path.Base(h.File))
	}
	line("Build ID", h.BuildID)
	for _, c := range h.Comments {
		if !strings.HasPrefix(c, "#") {
			lines = append(lines, c)
		}
	}
	line("Type", h.Type)
	line("Doc", h.DocURL)
	if !h.Time.IsZero() {
		line("Time", h.Time.Format("2006-01-02 15:04:05 MST"))
	}
	if h.Duration == 0 {
		return lines
	}
	// For time itself, the share of one processor that was in use. The blank
	// before it stays when there is none.
	busy := ""
	if nanos, u := Scale(total, h.Unit, "nanoseconds"); u == "ns" && nanos != 0 {
		busy = "(" + Percent(int64(nanos), int64(h.Duration)) + ")"
	}
	return append(lines, fmt.Sprintf("Duration: %s, Total samples = %s %s",
		Format(int64(h.Duration), "nanoseconds", "auto"), h.Format(total, unit), busy))
}

// shown is what a table or picture shows of the whole.
type shown struct {
	weight, total              int64
	nodes, ranked              int
	droppedNodes, droppedEdges int
	nodeFraction, edgeFraction float64
}

// lines returns all that pprof prints above a table or into the legend of a
// picture.
func (h *Header) lines(s shown, unit string, picture bool) []string {
	var lines []string
	if picture || !h.Compact {
		lines = h.Facts(s.total, unit)
	}
	if len(h.Filters) > 0 {
		lines = append(lines, "Active filters:")
		for _, f := range h.Filters {
			if len(f) > 80 {
				f = f[:80] + "…"
			}
			lines = append(lines, "   "+f)
		}
	}
	lines = append(lines, fmt.Sprintf("Showing nodes accounting for %s, %s of %s total",
		h.Format(s.weight, unit), strings.TrimSpace(Percent(s.weight, s.total)), h.Format(s.total, unit)))
	// The text takes the share of the total, though the cutoff was a share of
	// the flat weights: so does pprof.
	drop := func(n int, what, weight string, fraction float64) {
		if n == 0 || s.total == 0 {
			return
		}
		if n > 1 {
			what += "s"
		}
		cutoff := abs(int64(float64(s.total) * fraction))
		lines = append(lines, fmt.Sprintf("Dropped %d %s (%s <= %s)", n, what, weight, h.Format(cutoff, unit)))
	}
	drop(s.droppedNodes, "node", "cum", s.nodeFraction)
	if picture {
		drop(s.droppedEdges, "edge", "freq", s.edgeFraction)
	}
	if s.total != 0 && s.nodes > 0 && s.nodes < s.ranked {
		lines = append(lines, fmt.Sprintf("Showing top %d nodes out of %d", s.nodes, s.ranked))
	}
	if picture {
		lines = append(lines, "\nSee https://git.io/JfYMW for how to read the graph")
	}
	return lines
}

// WriteTop prints a ranking exactly as go tool pprof -top does.
func WriteTop(w io.Writer, h Header, r *Ranking) error {
	total, unit := h.total(r.Total), h.outputUnit()
	if unit == Minimum && len(r.Rows) > 0 {
		unit = h.tableUnit(func(yield func(flat, cum int64) bool) {
			for i := range r.Rows {
				if !yield(r.Rows[i].Flat, r.Rows[i].Cum) {
					return
				}
			}
		}, total, false)
	}
	var b bytes.Buffer
	s := shown{weight: r.Shown, total: total, nodes: len(r.Rows), ranked: r.Functions, droppedNodes: r.Dropped, nodeFraction: r.NodeFraction}
	fmt.Fprintln(&b, strings.Join(h.lines(s, unit, false), "\n"))
	fmt.Fprintf(&b, "%10s %5s%% %5s%% %10s %5s%%\n", "flat", "flat", "sum", "cum", "cum")
	var sum int64
	for _, row := range r.Rows {
		sum += row.Flat
		suffix := ""
		if row.Inlining != Called {
			suffix = " " + row.Inlining.String()
		}
		fmt.Fprintf(&b, "%10s %s %s %10s %s  %s%s\n",
			h.Format(row.Flat, unit), Percent(row.Flat, total), Percent(sum, total),
			h.Format(row.Cum, unit), Percent(row.Cum, total), row.Name, suffix)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// WriteTree prints every node between its callers and its callees exactly as
// go tool pprof -tree does, or, for the nodes that match, as -peek does. When
// none matches it fails and writes nothing.
func WriteTree(w io.Writer, h Header, g *Graph, match *regexp.Regexp) error {
	const separator = "----------------------------------------------------------+-------------\n"
	total, unit := h.total(g.Total), h.UnitFor(g)
	var b bytes.Buffer
	fmt.Fprintln(&b, strings.Join(h.lines(g.shown(total), unit, false), "\n"))
	b.WriteString(separator)
	b.WriteString("      flat  flat%   sum%        cum   cum%   calls calls% + context \t \t \n")
	edge := func(e *Edge, cum int64, name string) {
		suffix := ""
		if e.Inline {
			suffix = " (inline)"
		}
		fmt.Fprintf(&b, "%50s %s |   %s%s\n", h.Format(e.Weight, unit), Percent(e.Weight, cum), name, suffix)
	}
	var sum int64
	matched := false
	for _, n := range g.Nodes {
		name := n.String()
		if match != nil && !match.MatchString(name) {
			continue
		}
		matched = true
		flat, cum := n.FlatValue(), n.CumValue()
		b.WriteString(separator)
		for _, e := range n.In {
			edge(e, cum, e.From.String())
		}
		sum += flat
		fmt.Fprintf(&b, "%10s %s %s %10s %s                | %s\n",
			h.Format(flat, unit), Percent(flat, total), Percent(sum, total), h.Format(cum, unit), Percent(cum, total), name)
		for _, e := range n.Out {
			edge(e, cum, e.To.String())
		}
	}
	if len(g.Nodes) > 0 {
		b.WriteString(separator)
	}
	if match != nil && !matched {
		return fmt.Errorf("no matches found for regexp: %s", match)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// WriteList prints a listing exactly as go tool pprof -list does. Of the
// header only the units and the total are used.
func WriteList(w io.Writer, h Header, l *Listing) error {
	total, unit := h.total(l.Total), h.outputUnit()
	dot := func(v int64) string {
		if v == 0 {
			return "."
		}
		return h.Format(v, unit)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "Total: %s\n", h.Format(total, unit))
	for _, r := range l.Routines {
		if r.File == "" {
			fmt.Fprintf(&b, "No source information for %s\n", r.Func)
			continue
		}
		fmt.Fprintf(&b, "ROUTINE ======================== %s in %s\n", r.Func, r.File)
		fmt.Fprintf(&b, "%10s %10s (flat, cum) %s of Total\n", h.Format(r.Flat, unit), h.Format(r.Cum, unit), Percent(r.Cum, total))
		if r.Err != nil {
			fmt.Fprintf(&b, " Error: %v\n", r.Err)
			continue
		}
		for _, line := range r.Lines {
			fmt.Fprintf(&b, "%10s %10s %6d:%s\n", dot(line.Flat), dot(line.Cum), line.Number, line.Text)
			for _, note := range line.Notes {
				fmt.Fprintf(&b, "%10s %10s %6s ↳ %s\n", "", "", "", note)
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// shown sums up what a graph shows.
func (g *Graph) shown(total int64) shown {
	s := shown{
		total: total, nodes: len(g.Nodes), ranked: g.Ranked,
		droppedNodes: g.DroppedNodes, droppedEdges: g.DroppedEdges,
		nodeFraction: g.NodeFraction, edgeFraction: g.EdgeFraction,
	}
	for _, n := range g.Nodes {
		s.weight += n.FlatValue()
	}
	return s
}

// UnitFor returns the unit that the weights of a graph are printed in, which
// is OutputUnit or else one that fits them all.
func (h *Header) UnitFor(g *Graph) string { return h.unitFor(g, false) }

func (h *Header) unitFor(g *Graph, whole bool) string {
	unit := h.outputUnit()
	if unit != Minimum || len(g.Nodes) == 0 {
		return unit
	}
	return h.tableUnit(func(yield func(flat, cum int64) bool) {
		for _, n := range g.Nodes {
			if !yield(n.FlatValue(), n.CumValue()) {
				return
			}
		}
	}, h.total(g.Total), whole)
}

// tableUnit chooses one unit for all weights: the one that fits the smallest,
// or a hundred times it when the total is that large, so that the smallest
// reads as 0.01, unless only whole numbers can be shown.
func (h *Header) tableUnit(weights func(func(flat, cum int64) bool), total int64, whole bool) string {
	var smallest int64
	for flat, cum := range weights {
		v := abs(flat)
		if v == 0 {
			v = abs(cum)
		}
		if v > 0 && (smallest == 0 || v < smallest) {
			smallest = v
		}
	}
	if smallest == 0 {
		smallest = total
	}
	smallest, total = h.divide(smallest), h.divide(total)
	_, best := Scale(smallest, h.Unit, Minimum)
	_, largest := Scale(total, h.Unit, Minimum)
	if best != largest && smallest*100 < total && !whole {
		_, best = Scale(100*smallest, h.Unit, Minimum)
	}
	if best == "" {
		return h.Unit
	}
	return best
}
