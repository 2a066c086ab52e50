package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"loupe/analysis/calltree"
	"loupe/report/internal/layout"
	"loupe/value/unit"
)

// CallGraph is a call graph to be drawn. The graph is best made with the
// option Visual, which keeps what a picture gains from.
type CallGraph struct {
	Graph  *calltree.Graph
	Header calltree.Header
	Title  string // "" is the name of the binary
}

// CallGraphSVG draws a call graph as one self-contained SVG file: boxes whose
// letters grow with the weight of the function itself and whose colour tells
// the share with all that it calls, from grey to red, or to green for what is
// less than nothing in a difference. In a browser it can be moved, scaled and
// searched with mouse and keyboard; elsewhere it is a picture.
func CallGraphSVG(w io.Writer, g *CallGraph) error {
	return writeSceneSVG(w, newScene(g, sansWidth))
}

// CallGraphPNG draws a call graph as a PNG file of at most 24 megapixels.
func CallGraphPNG(w io.Writer, g *CallGraph) error {
	f, err := newFaces()
	if err != nil {
		return err
	}
	return writeScenePNG(w, newScene(g, f.width), f)
}

// The limits of a picture. What is beyond them is counted in the legend.
const (
	maxBoxes = 5_000
	maxLines = 30_000
)

// The measures of a box in pixels.
const (
	boxPadX, boxPadY = 8, 6
	smallText        = 10 // of edges and labels
	largestText      = 24
	legendText       = 12
	sceneMargin      = 16
	lineHeight       = 1.2 // of the size of letters
	nameColumns      = 26  // from here on a name goes on in the next line
	legendColumns    = 110
	maxNodelets      = 4
	widestLine       = 6.0
	labelLine        = smallText * lineHeight
)

// measure returns the width of a text in letters of a size.
type measure func(text string, size float64) float64

// scene is a picture in place: what an SVG writer and a rasterizer need.
type scene struct {
	width, height float64
	title         string
	legend        []string
	legendSize    layout.Point
	boxes         []sceneBox
	lines         []sceneLine
}

// sceneBox is a box of a function or of a label.
type sceneBox struct {
	layout.Point // centre
	w, h         float64
	text         []string
	size         float64 // of letters
	share        float64 // of the whole, from -1 to 1, for the colour
	tip          string
	label        bool // it shows a label, not a function
}

// sceneLine is the course of calls from one box to another.
type sceneLine struct {
	from, to int // boxes
	route    layout.Route
	text     []string
	share    float64
	width    float64
	dashed   bool
	tip      string
}

// scener makes a scene.
type scener struct {
	*CallGraph
	scene   *scene
	measure measure
	unit    string
	total   int64
	largest int64 // flat weight
	graph   layout.Graph
}

func newScene(g *CallGraph, measure measure) *scene {
	s := &scener{CallGraph: g, scene: &scene{title: g.Title}, measure: measure, unit: g.Header.UnitFor(g.Graph)}
	s.total = cmp.Or(g.Header.Total, g.Graph.Total)
	if s.scene.title == "" {
		s.scene.title = "call graph"
		if g.Header.File != "" {
			s.scene.title = path.Base(g.Header.File)
		}
	}
	nodes := g.Graph.Nodes[:min(len(g.Graph.Nodes), maxBoxes)]
	for _, n := range nodes {
		s.largest = max(s.largest, magnitude(n.FlatValue()))
	}
	for _, n := range nodes {
		s.addNode(n)
	}
	var edges []*calltree.Edge
	for _, n := range nodes {
		for _, e := range n.Out {
			// An edge may lead to a node that is not there.
			if e.To.ID >= 1 && e.To.ID <= len(nodes) {
				edges = append(edges, e)
			}
		}
	}
	hidden := len(edges) - maxLines
	if hidden > 0 {
		slices.SortStableFunc(edges, func(x, y *calltree.Edge) int {
			return cmp.Compare(magnitude(y.Value()), magnitude(x.Value()))
		})
		edges = edges[:maxLines]
	}
	for _, e := range edges {
		s.addEdge(e)
	}
	for _, n := range nodes {
		s.addLabels(n)
	}
	s.addLegend(len(g.Graph.Nodes)-len(nodes), hidden)
	s.arrange()
	return s.scene
}

func magnitude(v int64) int64 { return max(v, -v) }

func (s *scener) format(v int64) string { return s.Header.Format(v, s.unit) }

func (s *scener) percent(v int64) string { return strings.TrimSpace(calltree.Percent(v, s.total)) }

func (s *scener) share(v int64) float64 {
	if s.total == 0 {
		return 0
	}
	return math.Max(-1, math.Min(1, float64(v)/float64(magnitude(s.total))))
}

// addNode makes the box of a function.
func (s *scener) addNode(n *calltree.Node) {
	flat, cum := n.FlatValue(), n.CumValue()
	size := float64(smallText)
	if s.largest != 0 && flat != 0 {
		size += (largestText - smallText) * math.Sqrt(float64(magnitude(flat))/float64(s.largest))
	}
	size = math.Round(size*2) / 2
	p := n.Place
	p.Func = calltree.ShortenFunctionName(p.Func)
	if p.File != "" {
		p.File = path.Base(p.File)
	}
	var text []string
	for _, part := range p.Components() {
		text = append(text, breakName(clean(part))...)
	}
	weight := s.format(flat) + " (" + s.percent(flat) + ")"
	switch of := "of " + s.format(cum) + " (" + s.percent(cum) + ")"; {
	case flat == 0 && cum == 0:
		text = append(text, "0")
	case flat == 0:
		text = append(text, "0 "+of)
	case cum == flat:
		text = append(text, weight)
	default:
		text = append(text, weight, of)
	}
	tip := fmt.Sprintf("%s\nflat %s (%s), cum %s (%s)", clean(n.Place.String()), s.format(flat), s.percent(flat), s.format(cum), s.percent(cum))
	if i := n.Inlining(); i != calltree.Called {
		tip += "\n" + i.String()
	}
	s.addBox(sceneBox{text: text, size: size, share: s.share(cum), tip: tip})
}

func (s *scener) addBox(b sceneBox) int {
	for _, t := range b.text {
		b.w = math.Max(b.w, s.measure(t, b.size))
	}
	b.w = math.Ceil(b.w + 2*boxPadX)
	b.h = math.Ceil(float64(len(b.text))*b.size*lineHeight + 2*boxPadY)
	s.scene.boxes = append(s.scene.boxes, b)
	s.graph.Nodes = append(s.graph.Nodes, layout.Node{Width: b.w, Height: b.h})
	return len(s.scene.boxes) - 1
}

func (s *scener) addEdge(e *calltree.Edge) {
	v := e.Value()
	l := sceneLine{from: e.From.ID - 1, to: e.To.ID - 1, text: []string{s.format(v)}, share: s.share(v), dashed: e.Residual}
	how := "calls"
	if e.Inline {
		l.text = append(l.text, "(inline)")
		how = "calls (inlined)"
	}
	if e.Residual {
		how = "calls, through omitted functions,"
	}
	l.tip = fmt.Sprintf("%s\n%s %s\n%s (%s)", clean(e.From.String()), how, clean(e.To.String()), s.format(v), s.percent(v))
	s.addLine(l, 1+100*math.Abs(l.share))
}

func (s *scener) addLine(l sceneLine, weight float64) {
	l.width = 1 + (widestLine-1)*math.Abs(l.share)
	e := layout.Edge{From: l.from, To: l.to, Weight: weight, Width: l.width, LabelHeight: float64(len(l.text)) * labelLine}
	for _, t := range l.text {
		e.LabelWidth = math.Max(e.LabelWidth, s.measure(t, smallText))
	}
	s.scene.lines = append(s.scene.lines, l)
	s.graph.Edges = append(s.graph.Edges, e)
}

// addLabels makes small boxes of the heaviest labels of a function: of a leaf,
// whose callees may have been cut, with all that it calls.
func (s *scener) addLabels(n *calltree.Node) {
	flat := len(n.Out) > 0
	labels := slices.Clone(n.Labels)
	calltree.SortTags(labels, flat)
	for _, t := range labels[:min(len(labels), maxNodelets)] {
		if v := tagValue(t, flat); v != 0 {
			box := s.addLabel(n.ID-1, strings.Split(t.Name, `\n`), v, false)
			s.addNumbers(n.Numbers[t.Name], flat, box)
		}
	}
	s.addNumbers(n.Numbers[""], flat, n.ID-1)
}

func tagValue(t *calltree.Tag, flat bool) int64 {
	if flat {
		return t.FlatValue()
	}
	return t.CumValue()
}

func (s *scener) addLabel(from int, text []string, v int64, dashed bool) int {
	for i, t := range text {
		t = clean(t)
		if utf8.RuneCountInString(t) > 2*nameColumns {
			t = string([]rune(t)[:2*nameColumns]) + "…"
		}
		text[i] = t
	}
	box := s.addBox(sceneBox{text: text, size: smallText, label: true, tip: strings.Join(text, "\n") + "\n" + s.format(v) + " (" + s.percent(v) + ")"})
	s.addLine(sceneLine{from: from, to: box, text: []string{s.format(v)}, dashed: dashed, tip: s.format(v)}, 100)
	return box
}

// addNumbers makes boxes of numeric labels. Where there are many they are
// divided into ranges at the widest gaps.
func (s *scener) addNumbers(tags []*calltree.Tag, flat bool, from int) {
	var shown []*calltree.Tag
	for _, t := range tags {
		if tagValue(t, flat) != 0 {
			shown = append(shown, t)
		}
	}
	slices.SortStableFunc(shown, func(x, y *calltree.Tag) int { return cmp.Compare(inUnit(x), inUnit(y)) })
	for _, r := range ranges(shown, maxNodelets) {
		low, high := r[0], r[len(r)-1]
		name := calltree.Format(low.Value, low.Unit, "auto")
		if len(r) > 1 {
			name += "…" + calltree.Format(high.Value, high.Unit, "auto")
		}
		var v, own int64
		for _, t := range r {
			v += tagValue(t, flat)
			own += t.FlatValue()
		}
		if v != 0 {
			s.addLabel(from, []string{name}, v, v != own)
		}
	}
}

// inUnit makes the numbers of different units comparable.
func inUnit(t *calltree.Tag) float64 {
	for _, base := range [...]string{"bytes", "nanoseconds"} {
		if calltree.CompatibleUnits(t.Unit, base) {
			v, _ := calltree.Scale(t.Value, t.Unit, base)
			return v
		}
	}
	return float64(t.Value)
}

// ranges divides sorted numbers into a few groups, apart by ratio.
func ranges(tags []*calltree.Tag, groups int) (out [][]*calltree.Tag) {
	cuts := make([]int, 0, max(0, len(tags)-1))
	for i := 1; i < len(tags); i++ {
		cuts = append(cuts, i)
	}
	gap := func(i int) float64 {
		return math.Asinh(inUnit(tags[i])) - math.Asinh(inUnit(tags[i-1]))
	}
	slices.SortStableFunc(cuts, func(i, j int) int { return cmp.Compare(gap(j), gap(i)) })
	cuts = cuts[:min(len(cuts), groups-1)]
	slices.Sort(cuts)
	from := 0
	for _, c := range append(cuts, len(tags)) {
		if c > from {
			out = append(out, tags[from:c])
			from = c
		}
	}
	return out
}

// addLegend says what is shown and what is not.
func (s *scener) addLegend(hiddenBoxes, hiddenLines int) {
	g, h := s.Graph, &s.Header
	lines := h.Facts(s.total, s.unit)
	for i, f := range h.Filters {
		if i == 0 {
			lines = append(lines, "Active filters:")
		}
		lines = append(lines, "   "+f)
	}
	var sum int64
	for _, n := range g.Nodes {
		sum += n.FlatValue()
	}
	lines = append(lines, fmt.Sprintf("Showing nodes accounting for %s, %s of %s total", s.format(sum), s.percent(sum), s.format(s.total)))
	drop := func(n int, what, weight string, fraction float64) {
		if n > 0 {
			cutoff := magnitude(int64(float64(s.total) * fraction))
			lines = append(lines, fmt.Sprintf("Dropped %s (%s <= %s)", unit.Plural(n, what), weight, s.format(cutoff)))
		}
	}
	drop(g.DroppedNodes, "node", "cum", g.NodeFraction)
	drop(g.DroppedEdges, "edge", "freq", g.EdgeFraction)
	if n := len(g.Nodes); n > 0 && n < g.Ranked {
		lines = append(lines, fmt.Sprintf("Showing top %d nodes out of %d", n, g.Ranked))
	}
	if hiddenBoxes > 0 {
		lines = append(lines, fmt.Sprintf("The %s after the first %d do not fit in a picture", unit.Plural(hiddenBoxes, "node"), maxBoxes))
	}
	if hiddenLines > 0 {
		lines = append(lines, fmt.Sprintf("The %s after the heaviest %d do not fit in a picture", unit.Plural(hiddenLines, "edge"), maxLines))
	}
	for _, l := range lines {
		if l = clean(l); utf8.RuneCountInString(l) > legendColumns {
			l = string([]rune(l)[:legendColumns-1]) + "…"
		}
		s.scene.legend = append(s.scene.legend, l)
	}
}

// arrange gives everything its place: the legend above the graph.
func (s *scener) arrange() {
	c := s.scene
	for _, l := range c.legend {
		c.legendSize.X = math.Max(c.legendSize.X, s.measure(l, legendText))
	}
	c.legendSize.X = math.Ceil(c.legendSize.X + 2*boxPadX)
	c.legendSize.Y = math.Ceil(float64(len(c.legend))*legendText*1.35 + 2*boxPadY)
	l := layout.New(&s.graph)
	x, y := float64(sceneMargin), sceneMargin+c.legendSize.Y+sceneMargin
	c.width = math.Ceil(math.Max(l.Width, c.legendSize.X) + 2*sceneMargin)
	c.height = math.Ceil(y + l.Height + sceneMargin)
	if len(c.boxes) == 0 {
		c.height = y
	}
	if l.Width < c.legendSize.X {
		x += math.Round((c.legendSize.X - l.Width) / 2)
	}
	for i := range c.boxes {
		c.boxes[i].Point = layout.Point{X: l.Nodes[i].X + x, Y: l.Nodes[i].Y + y}
	}
	for i := range c.lines {
		r := l.Edges[i]
		for k := range r.Points {
			r.Points[k].X += x
			r.Points[k].Y += y
		}
		r.Label.X += x
		r.Label.Y += y
		c.lines[i].route = r
	}
}

// breakName divides a name into lines behind its dots. The ellipsis of left out
// type arguments is no place to break.
func breakName(name string) (out []string) {
	const mark = "\x00"
	rest := strings.ReplaceAll(strings.ReplaceAll(name, "...", mark), "::", ":\x01")
	line := ""
	for _, part := range strings.SplitAfter(strings.ReplaceAll(rest, "\x01", ":."), ".") {
		if n := utf8.RuneCountInString(part); line != "" && n > 3 && utf8.RuneCountInString(line)+n > nameColumns {
			out = append(out, line)
			line = ""
		}
		line += part
	}
	out = append(out, line)
	for i, l := range out {
		l = strings.ReplaceAll(strings.ReplaceAll(l, ":.", "::"), mark, "...")
		if r := []rune(l); len(r) > 2*nameColumns {
			l = string(r[:nameColumns]) + "…" + string(r[len(r)-nameColumns+1:])
		}
		out[i] = l
	}
	return out
}

// shade is pprof's scale: green for shares below 0, grey at 0, red above. The
// middle, where most shares are, is stretched, and what is almost nothing fades
// to grey instead of yellow.
func shade(share, saturation, value float64) (r, g, b uint8) {
	if a := math.Abs(share); a < 0.2 {
		saturation *= a / 0.2
	}
	strong, weak := value, value*(1-saturation*math.Pow(math.Abs(share), 0.3))
	to8 := func(x float64) uint8 { return uint8(math.Max(0, math.Min(255, x*255))) }
	if share < 0 {
		return to8(weak), to8(strong), to8(value * (1 - saturation))
	}
	return to8(strong), to8(weak), to8(value * (1 - saturation))
}

// sansWidths are the widths of printable ASCII in Helvetica and all that has
// its measures (Arial, Liberation Sans, Nimbus Sans), in thousandths.
var sansWidths = [...]uint16{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}

func sansWidth(text string, size float64) float64 {
	n := 0
	for _, r := range text {
		switch {
		case r >= ' ' && int(r-' ') < len(sansWidths):
			n += int(sansWidths[r-' '])
		case r < 0x1100:
			n += 600
		default: // wide scripts
			n += 1000
		}
	}
	return float64(n) * size / 1000
}
