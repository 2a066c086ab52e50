package calltree

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"
)

// WriteDot prints a graph in the language of Graphviz exactly as go tool pprof
// -dot does. pprof makes the graph with the option Visual, and with tags.
func WriteDot(w io.Writer, h Header, g *Graph) error {
	d := dotWriter{g: g, h: &h, total: h.total(g.Total), unit: h.UnitFor(g)}
	title := "unnamed"
	if h.File != "" {
		title = path.Base(h.File)
	}
	fmt.Fprintf(&d.b, "digraph \"%s\" {\nnode [style=filled fillcolor=\"#f8f8f8\"]\n", title)
	d.legend(h.lines(g.shown(d.total), d.unit, true))
	if len(g.Nodes) > 0 {
		d.graph()
	}
	d.b.WriteString("}\n")
	_, err := w.Write(d.b.Bytes())
	return err
}

type dotWriter struct {
	b       bytes.Buffer
	g       *Graph
	h       *Header
	total   int64
	unit    string
	largest float64 // flat weight
}

func (d *dotWriter) format(v int64) string { return d.h.Format(v, d.unit) }

func (d *dotWriter) share(v int64) string { return strings.TrimSpace(Percent(v, d.total)) }

func (d *dotWriter) legend(lines []string) {
	for i := range lines {
		lines[i] = escapeDot(lines[i])
	}
	fmt.Fprintf(&d.b, `subgraph cluster_L { "%s" [shape=box fontsize=16 label="%s\l"`, lines[0], strings.Join(lines, `\l`))
	if d.h.File != "" {
		fmt.Fprintf(&d.b, ` tooltip="%s"`, path.Base(d.h.File))
	}
	d.b.WriteString("] }\n")
}

func (d *dotWriter) graph() {
	for _, n := range d.g.Nodes {
		d.largest = max(d.largest, float64(abs(n.FlatValue())))
	}
	hasTags := make([]bool, len(d.g.Nodes)+1)
	var edges []*Edge
	for _, n := range d.g.Nodes {
		d.node(n)
		hasTags[n.ID] = d.tags(n)
		edges = append(edges, n.Out...)
	}
	slices.SortStableFunc(edges, func(x, y *Edge) int {
		if c := cmp.Compare(abs(y.Weight), abs(x.Weight)); c != 0 {
			return c
		}
		return cmp.Or(strings.Compare(x.From.String(), y.From.String()), strings.Compare(x.To.String(), y.To.String()))
	})
	for _, e := range edges {
		d.edge(e, hasTags[e.From.ID])
	}
}

func (d *dotWriter) node(n *Node) {
	flat, cum := n.FlatValue(), n.CumValue()
	label := dotName(n.Place)
	weight := d.format(flat)
	if flat == 0 {
		label += "0"
	} else {
		label += fmt.Sprintf("%s (%s)", weight, d.share(flat))
	}
	if cum != flat {
		if flat != 0 {
			label += `\n`
		} else {
			label += " "
		}
		weight = d.format(cum)
		label += fmt.Sprintf("of %s (%s)", weight, d.share(cum))
	}
	// Letters grow with the root of the weight, from 8 to 24 points.
	size := 8
	if d.largest != 0 && flat != 0 {
		size += int(math.Ceil(16 * math.Sqrt(float64(abs(flat))/d.largest)))
	}
	share := float64(cum) / float64(abs(d.total))
	fmt.Fprintf(&d.b, "N%d [label=\"%s\" id=\"node%d\" fontsize=%d shape=box tooltip=\"%s (%s)\" color=\"%s\" fillcolor=\"%s\"]\n",
		n.ID, label, n.ID, size, escapeDot(n.String()), weight, dotLine.of(share), dotFill.of(share))
}

// tags prints the heaviest tags of a node as small boxes: of a leaf, whose
// callees may have been cut, with all that it calls.
func (d *dotWriter) tags(n *Node) bool {
	start := d.b.Len()
	flat := len(n.Out) > 0
	labels := slices.Clone(n.Labels)
	SortTags(labels, flat)
	for i, t := range labels[:min(len(labels), maxNodelets)] {
		v := t.CumValue()
		if flat {
			v = t.FlatValue()
		}
		if v == 0 {
			continue
		}
		id := fmt.Sprintf("N%d_%d", n.ID, i)
		d.tag(fmt.Sprintf("N%d", n.ID), id, t.Name, v, "")
		d.numbers(n.Numbers[t.Name], flat, id)
	}
	d.numbers(n.Numbers[""], flat, fmt.Sprintf("N%d", n.ID))
	return d.b.Len() > start
}

func (d *dotWriter) tag(from, id, name string, v int64, style string) {
	weight := d.format(v)
	fmt.Fprintf(&d.b, "%s [label = \"%s\" id=\"%s\" fontsize=8 shape=box3d tooltip=\"%s\"]\n", id, name, id, weight)
	fmt.Fprintf(&d.b, "%s -> %s [label=\" %s\" weight=100 tooltip=\"%s\" labeltooltip=\"%s\"%s]\n", from, id, weight, weight, weight, style)
}

func (d *dotWriter) numbers(tags []*Tag, flat bool, from string) {
	for i, t := range collapse(tags, maxNodelets, flat) {
		v, style := t.CumValue(), ` style="dotted"`
		if flat || t.FlatValue() == t.CumValue() {
			v, style = t.FlatValue(), ""
		}
		if v != 0 {
			d.tag(from, fmt.Sprintf("N%s_%d", from, i), t.Name, v, style)
		}
	}
}

// collapse sorts numbers into a few groups, each around one of the heaviest.
func collapse(tags []*Tag, groups int, flat bool) []*Tag {
	tags = slices.Clone(tags)
	SortTags(tags, flat)
	if len(tags) <= groups {
		return tags
	}
	members := make([][]*Tag, groups)
	for i, t := range tags {
		best := i
		if i >= groups {
			best = 0
			for g := range members {
				if distance(t, members[g][0]) < distance(t, members[best][0]) {
					best = g
				}
			}
		}
		members[best] = append(members[best], t)
	}
	out := make([]*Tag, groups)
	for i, m := range members {
		out[i] = merge(m)
	}
	SortTags(out, flat)
	return out
}

func distance(t, from *Tag) float64 {
	v, _ := Scale(t.Value, t.Unit, from.Unit)
	return math.Abs(v - float64(from.Value))
}

// merge makes one tag of a group, with the name "1kB..2kB".
func merge(tags []*Tag) *Tag {
	if t := tags[0]; len(tags) == 1 {
		return &Tag{Name: Format(t.Value, t.Unit, "auto"), Flat: t.FlatValue(), Cum: t.CumValue()}
	}
	var sum Tag
	low, high := tags[0], tags[0]
	for _, t := range tags {
		if v, _ := Scale(t.Value, t.Unit, low.Unit); int64(v) < low.Value {
			low = t
		}
		if v, _ := Scale(t.Value, t.Unit, high.Unit); int64(v) > high.Value {
			high = t
		}
		sum.Flat += t.Flat
		sum.FlatDiv += t.FlatDiv
		sum.Cum += t.Cum
		sum.CumDiv += t.CumDiv
	}
	name := Format(low.Value, low.Unit, "auto") + ".." + Format(high.Value, high.Unit, "auto")
	return &Tag{Name: name, Flat: sum.FlatValue(), Cum: sum.CumValue()}
}

func (d *dotWriter) edge(e *Edge, hasTags bool) {
	v := e.Value()
	weight := d.format(v)
	inline := ""
	if e.Inline {
		inline = `\n (inline)`
	}
	fmt.Fprintf(&d.b, "N%d -> N%d [label=\" %s%s\"", e.From.ID, e.To.ID, weight, inline)
	if d.total != 0 {
		// In a difference an edge can be heavier than the whole.
		if n := 1 + min(abs(v*100/d.total), 100); n > 1 {
			fmt.Fprintf(&d.b, " weight=%d", n)
		}
		if n := 1 + min(abs(v*5/d.total), 5); n > 1 {
			fmt.Fprintf(&d.b, " penwidth=%d", n)
		}
		fmt.Fprintf(&d.b, ` color="%s"`, dotLine.of(float64(v)/float64(abs(d.total))))
	}
	arrow := "->"
	if e.Residual {
		arrow = "..."
	}
	tip := fmt.Sprintf("%s %s %s (%s)", escapeDot(e.From.String()), arrow, escapeDot(e.To.String()), weight)
	fmt.Fprintf(&d.b, ` tooltip="%s" labeltooltip="%s"`, tip, tip)
	if e.Residual {
		d.b.WriteString(` style="dotted"`)
	}
	if hasTags {
		d.b.WriteString(" minlen=2")
	}
	d.b.WriteString("]\n")
}

// palette is how strong the colours are: those of lines, or of areas.
type palette struct{ saturation, value float64 }

var (
	dotLine = palette{1, 0.7}
	dotFill = palette{0.1, 0.93}
)

// of returns the colour of a share of the whole: green is -1, grey 0, red 1.
func (p palette) of(share float64) string {
	// The root stretches the middle, where most shares are, and what is almost
	// nothing fades to grey instead of yellow.
	share = math.Max(-1, math.Min(1, share))
	saturation := p.saturation
	if math.Abs(share) < 0.2 {
		saturation *= math.Abs(share) / 0.2
	}
	const shift = 0.7
	r, g := p.value, p.value
	if share < 0 {
		r = p.value * (1 - saturation*math.Pow(-share, 1.0-shift))
	} else { // or there is no whole, and no share either
		g = p.value * (1 - saturation*math.Pow(share, 1.0-shift))
	}
	b := p.value * (1 - saturation)
	return fmt.Sprintf("#%02x%02x%02x", uint8(r*255), uint8(g*255), uint8(b*255))
}

// dotName is the name of a node with a part on each line.
func dotName(p Place) string {
	// The ellipsis of left out type arguments stays in one piece.
	p.Func = strings.NewReplacer("::", `\n`, "[...]", "[…]", ".", `\n`).Replace(escapeDot(ShortenFunctionName(p.Func)))
	if p.File != "" {
		p.File = path.Base(p.File)
	}
	return strings.Join(p.Components(), `\n`) + `\n`
}

var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\l`)

func escapeDot(s string) string { return dotEscapes.Replace(s) }
