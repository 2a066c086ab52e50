package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"html"
	"io"
	"math"
	"path"
	"strconv"
	"strings"

	"loupe/analysis/calltree"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Flame is a flame graph to be drawn.
type Flame struct {
	// Graph is drawn from the root down. It is best made with the MinShare
	// [FlameShare], so that what nobody can see does not travel.
	Graph *calltree.FlameGraph
	// Inverted is the same from the leaf up; nil leaves the view out.
	Inverted *calltree.FlameGraph
	Header   calltree.Header
	Title    string // "" is the name of the binary
	// Diff tells that the graphs have weights to compare with: boxes are
	// coloured by what has grown and what has shrunk.
	Diff bool
	// Scope tells the user's code from that of others, for the colours.
	Scope stack.Scope
	// Source returns the position of the frame behind a box, such as
	// "serve.go:12", which is shown with it; nil leaves it out.
	Source func(stack.FrameID) string
}

// FlameShare is the share of the width below which a box is not drawn unless
// asked for: a pixel of a wide screen.
const FlameShare = 1.0 / 2000

//go:embed assets/flame.css
var flameCSS string

//go:embed assets/flame.js
var flameJS string

//go:embed assets/page.css
var pageCSS string

// flameData is what the page gets. Strings are divided into package and rest,
// for most of a name is its package.
type flameData struct {
	Type     string      `json:"type"`
	Unit     string      `json:"unit"`
	Divide   float64     `json:"divide"`
	Total    int64       `json:"total"`
	Times    int64       `json:"times"` // the columns are in multiples of it
	Diff     bool        `json:"diff"`
	Packages []string    `json:"packages"`
	Names    []string    `json:"names"`
	Package  []int       `json:"package"`
	Class    string      `json:"class"` // a digit for each name
	Source   []string    `json:"source,omitempty"`
	Views    []flameView `json:"views"`
}

// flameView holds the boxes of one graph in columns, depth first.
type flameView struct {
	Key  string `json:"key"`
	Name column `json:"name"`
	// Up is how many levels a box is above the place for the first box below
	// the one before it.
	Up     column `json:"up"`
	Weight column `json:"weight"`
	Base   column `json:"base,omitempty"`
	// Inline are the boxes of inlined calls, each counted from the one before.
	Inline column `json:"inline"`
	// At are boxes with narrow ones below, counted in the same way; Narrow is
	// how many those are, and their weight and base. The first is the whole.
	At           column `json:"at"`
	Narrow       column `json:"narrow"`
	NarrowWeight column `json:"narrowWeight"`
	NarrowBase   column `json:"narrowBase,omitempty"`
	// Hidden and HiddenWeight are the boxes that are too narrow, of all levels.
	Hidden       int   `json:"hidden"`
	HiddenWeight int64 `json:"hiddenWeight"`
}

// column is a list of numbers that a page gets as one string: in base 36,
// divided by commas, nothing for 0. It takes half of the room of JSON.
type column []int64

// MarshalText implements [encoding.TextMarshaler].
func (c column) MarshalText() ([]byte, error) {
	b := make([]byte, 0, 4*len(c))
	for i, v := range c {
		if i > 0 {
			b = append(b, ',')
		}
		if v != 0 {
			b = strconv.AppendInt(b, v, 36)
		}
	}
	return b, nil
}

func (f *Flame) title() string {
	if f.Title != "" {
		return clean(f.Title)
	}
	if f.Header.File != "" {
		return clean(path.Base(f.Header.File))
	}
	return "flame graph"
}

// whole is what shares are taken of.
func (f *Flame) whole() int64 {
	return cmp.Or(f.Header.Total, f.Graph.Whole, f.Graph.Total, f.Graph.Base)
}

// flamePacker gathers the names that are in use.
type flamePacker struct {
	*Flame
	data     flameData
	numbers  map[string]int
	packages map[string]int
	class    []byte
}

func (p *flamePacker) name(g *calltree.FlameGraph, n int32) int {
	name := g.Names[n]
	if i, ok := p.numbers[name]; ok {
		return i
	}
	i := len(p.data.Names)
	p.numbers[name] = i
	text := strings.ToValidUTF8(clean(name), "\ufffd")
	pkg, rest := "", text
	// The path as it is written: what stands before the name's own dot.
	short := stack.Short(text)
	if dot := strings.IndexByte(short, '.'); dot > 0 && strings.HasSuffix(text, short[dot:]) && len(text) > len(short)-dot {
		pkg, rest = text[:len(text)-len(short)+dot], short[dot+1:]
	}
	k, ok := p.packages[pkg]
	if !ok {
		k = len(p.data.Packages)
		p.packages[pkg] = k
		p.data.Packages = append(p.data.Packages, pkg)
	}
	p.data.Names = append(p.data.Names, rest)
	p.data.Package = append(p.data.Package, k)
	p.class = append(p.class, '0'+byte(FlameClass(p.Scope, name)))
	if p.Source != nil {
		p.data.Source = append(p.data.Source, strings.ToValidUTF8(clean(p.Source(g.Frames[n])), "\ufffd"))
	}
	return i
}

// flameClasses are the kinds of code that have colours of their own.
var flameClasses = [...]string{"own code", "dependency", "standard library", "runtime", "garbage collection", "system call", "native"}

// flameColours are their colours. Dark letters have a contrast of at least 5:1
// on all, and every pair can be told apart with any kind of colour vision.
var flameColours = [...]string{"#4c83fa", "#eddf8d", "#9a9a9a", "#c39bfc", "#fca5c2", "#c76f25", "#6cc465"}

// FlameClass tells whose code a function is, for its colour: 0 is the user's
// own, 1 a dependency's, 2 the standard library's, 3 the runtime's, 4 garbage
// collection, 5 system calls, 6 all that is no Go.
func FlameClass(s stack.Scope, name string) int {
	switch stack.CategoryOf(name) {
	case stack.GarbageCollect, stack.Assist:
		return 4
	case stack.SystemCalls:
		return 5
	}
	switch s.Origin(name) {
	case stack.User:
		return 0
	case stack.Dependency:
		return 1
	case stack.Standard:
		return 2
	case stack.Runtime:
		return 3
	}
	return 6
}

func (p *flamePacker) view(key string, g *calltree.FlameGraph) {
	v := flameView{Key: key}
	narrow := func(after int64, n int, weight, base int64) {
		v.At, v.Narrow, v.NarrowWeight = append(v.At, after), append(v.Narrow, int64(n)), append(v.NarrowWeight, weight/p.data.Times)
		if p.Diff {
			v.NarrowBase = append(v.NarrowBase, base/p.data.Times)
		}
	}
	topNarrow, topWeight, topBase := 0, g.Total, g.Base
	if len(g.Levels) > 0 {
		topNarrow = g.Levels[0].Narrow
	}
	for i := range g.Boxes {
		if g.Boxes[i].Parent < 0 {
			topWeight -= g.Boxes[i].Weight
			topBase -= g.Boxes[i].BaseWeight
		}
	}
	narrow(0, topNarrow, topWeight, topBase)
	depth, lastInline, lastNarrow := int64(0), 0, 0
	for i := range g.Boxes {
		b := &g.Boxes[i]
		v.Name = append(v.Name, int64(p.name(g, b.Name)))
		v.Up = append(v.Up, depth-int64(b.Depth))
		depth = int64(b.Depth) + 1
		v.Weight = append(v.Weight, b.Weight/p.data.Times)
		if b.Inline {
			v.Inline = append(v.Inline, int64(i-lastInline))
			lastInline = i
		}
		if p.Diff {
			v.Base = append(v.Base, b.BaseWeight/p.data.Times)
		}
		if b.Narrow > 0 {
			narrow(int64(i-lastNarrow), int(b.Narrow), b.NarrowWeight, b.NarrowBaseWeight)
			lastNarrow = i
		}
	}
	for _, l := range g.Levels {
		v.Hidden += l.Narrow
		v.HiddenWeight += l.NarrowWeight
	}
	p.data.Views = append(p.data.Views, v)
}

// FlameHTML draws a flame graph as one self-contained page: it zooms, searches,
// turns over, shows callers and callees of one function side by side, and tells
// what is too narrow to be drawn.
func FlameHTML(w io.Writer, f *Flame) error {
	p := flamePacker{Flame: f, numbers: map[string]int{}, packages: map[string]int{}}
	p.data = flameData{
		Type: clean(f.Header.Type), Unit: clean(f.Header.Unit), Divide: cmp.Or(f.Header.DivideBy, 1),
		Total: f.whole(), Diff: f.Diff, Packages: []string{}, Names: []string{}, Package: []int{},
	}
	p.data.Times = f.divisor()
	p.view("callees", f.Graph)
	if f.Inverted != nil {
		p.view("callers", f.Inverted)
	}
	p.data.Class = string(p.class)
	return writePage(w, f.title(), pageParts{
		css: pageCSS + flameCSS, js: flameJS, data: p.data,
		body: `<header><h1>` + html.EscapeString(f.title()) + `</h1>` + headerFacts(f.Header.Facts(f.whole(), "minimum"), f.Header.Filters) + `</header>
<div id="bar" role="toolbar" aria-label="flame graph"></div>
<nav id="crumbs" aria-label="zoomed into"></nav>
<div id="legend"></div>
<div id="stage"><canvas id="flame" tabindex="0" role="application" aria-label="flame graph; arrow keys move, Enter zooms, Escape goes back" aria-describedby="details"></canvas></div>
<div id="details" role="status" aria-live="polite"></div>
<details id="top"><summary>Functions as a table</summary><div></div></details>
<div id="tip" hidden></div>
<noscript>This page draws with a script, which is not allowed to run here.</noscript>
`,
	})
}

// divisor is what all weights are multiples of: in a CPU profile, the time
// between two samples.
func (f *Flame) divisor() int64 {
	var d int64
	add := func(v int64) {
		for v = magnitude(v); v != 0; {
			d, v = v, d%v
		}
	}
	for _, g := range []*calltree.FlameGraph{f.Graph, f.Inverted} {
		if g == nil {
			continue
		}
		add(g.Total)
		add(g.Base)
		for i := range g.Boxes {
			b := &g.Boxes[i]
			for _, v := range [...]int64{b.Weight, b.BaseWeight, b.NarrowWeight, b.NarrowBaseWeight} {
				if v != 0 && d != 1 {
					add(v)
				}
			}
		}
	}
	return max(1, d)
}

// headerFacts prints the facts about a profile, folded away behind the first.
func headerFacts(lines, filters []string) string {
	for _, f := range filters {
		lines = append(lines, "Filter: "+f)
	}
	if len(lines) == 0 {
		return ""
	}
	for i := range lines {
		lines[i] = html.EscapeString(clean(lines[i]))
	}
	return "<details><summary>" + lines[len(lines)-1] + "</summary><ul><li>" + strings.Join(lines, "</li><li>") + "</li></ul></details>"
}

// pageParts are what a page is made of.
type pageParts struct {
	css, js, body string
	data          any // for the script; nil is none
}

// writePage writes one file that needs no other. The policy in it lets nothing
// be fetched, should a name ever get out of its place.
func writePage(w io.Writer, title string, p pageParts) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none';style-src 'unsafe-inline';script-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<style>
%s</style>
</head>
<body>
%s`, html.EscapeString(title), p.css, p.body)
	if p.data != nil {
		// Marshal escapes <, >, & and the line separators, so that nothing in
		// it can end the script.
		data, err := json.Marshal(p.data)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "<script type=\"application/json\" id=\"data\">%s</script>\n", data)
	}
	fmt.Fprintf(&b, "<script>\n%s</script>\n</body>\n</html>\n", p.js)
	_, err := w.Write(b.Bytes())
	return err
}

// The measures of a flame graph as SVG.
const (
	flameWidth  = 1200
	flameRow    = 18
	flameLetter = 11
	flameTop    = 44
)

// FlameSVG draws a flame graph as one SVG file with a tooltip for each box.
func FlameSVG(w io.Writer, f *Flame) error {
	g := f.Graph
	sizes, whole := f.sizes()
	var b bytes.Buffer
	width := float64(flameWidth - 2*sceneMargin)
	height := flameTop + flameRow*len(g.Levels) + 2*sceneMargin + 16
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n", flameWidth, height, flameWidth, height)
	title := xmlText(f.title())
	fmt.Fprintf(&b, "<title>%s</title>\n<style>\n%s</style>\n", title, flameSVGStyle())
	fmt.Fprintf(&b, `<text class="h t" x="%d" y="26">%s</text>`+"\n", sceneMargin, title)
	scale := "minimum"
	at := make([]float64, len(g.Levels)+1) // where the next box of a level begins
	starts := make([]float64, len(g.Boxes))
	first := 0.0
	for i := range g.Boxes {
		x := &g.Boxes[i]
		start := first
		if x.Parent >= 0 {
			start = starts[x.Parent]
			if i > int(x.Parent)+1 {
				start = math.Max(start, at[x.Depth])
			}
		} else {
			start = math.Max(start, at[0])
		}
		starts[i] = start
		at[x.Depth] = start + sizes[i]
		if whole == 0 || sizes[i]/whole*width < 0.3 {
			continue
		}
		left, wide := float64(sceneMargin)+start/whole*width, sizes[i]/whole*width
		top := flameTop + float64(x.Depth)*flameRow
		name := clean(g.Names[x.Name])
		tip := fmt.Sprintf("%s\n%s (%s)", name, f.Header.Format(x.Weight, scale), strings.TrimSpace(calltree.Percent(x.Weight, f.whole())))
		if f.Diff {
			tip += ", before " + f.Header.Format(x.BaseWeight, scale)
		}
		if x.Inline {
			tip += " (inline)"
		}
		fmt.Fprintf(&b, `<g><title>%s</title><rect x="%s" y="%s" width="%s" height="%d"`, xmlText(tip), num(left), num(top), num(math.Max(0.3, wide-0.5)), flameRow-1)
		f.svgFill(&b, x, g.Names[x.Name])
		b.WriteString("/>")
		if label := fitName(name, wide-8, flameLetter); label != "" {
			fmt.Fprintf(&b, `<text x="%s" y="%s">%s</text>`, num(left+4), num(top+12.5), xmlText(label))
		}
		b.WriteString("</g>\n")
	}
	hidden, weight := 0, int64(0)
	for _, l := range g.Levels {
		hidden += l.Narrow
		weight += l.NarrowWeight
	}
	note := fmt.Sprintf("Total %s.", f.Header.Format(f.whole(), scale))
	if hidden > 0 {
		note += fmt.Sprintf(" Not drawn: %s too narrow, %s of the weight, and everything they call.", unit.Plural(hidden, "box"), strings.TrimSpace(calltree.Percent(weight, f.whole())))
	}
	fmt.Fprintf(&b, `<text class="h" x="%d" y="%d">%s</text>`+"\n</svg>\n", sceneMargin, height-sceneMargin, xmlText(note))
	_, err := w.Write(b.Bytes())
	return err
}

// sizes returns how wide each box is: as its weight, but in a difference as all
// that was and is, so that what has gone is seen too.
func (f *Flame) sizes() (sizes []float64, whole float64) {
	g := f.Graph
	sizes = make([]float64, len(g.Boxes))
	abs := func(v int64) float64 { return math.Abs(float64(v)) }
	for i := len(g.Boxes) - 1; i >= 0; i-- {
		b := &g.Boxes[i]
		sizes[i] += abs(b.Self) + abs(b.NarrowWeight)
		if f.Diff {
			sizes[i] += abs(b.BaseSelf) + abs(b.NarrowBaseWeight)
		}
		if b.Parent >= 0 {
			sizes[b.Parent] += sizes[i]
		} else {
			whole += sizes[i]
		}
	}
	if len(g.Levels) > 0 {
		whole += abs(g.Levels[0].NarrowWeight)
	}
	return sizes, whole
}

func flameSVGStyle() string {
	var b strings.Builder
	b.WriteString("svg{background:#fff}text{font:11px Arial,Helvetica,\"Liberation Sans\",sans-serif;fill:#10141b;pointer-events:none}.h{fill:#1b222c}.t{font-size:15px}\n")
	for i, c := range flameColours {
		fmt.Fprintf(&b, ".c%d{fill:%s}", i, c)
	}
	b.WriteString("\ng:hover rect{stroke:#10141b}\n@media(prefers-color-scheme:dark){svg{background:#10141b}.h{fill:#e6eaf0}g:hover rect{stroke:#fff}}\n")
	return b.String()
}

// svgFill prints the colour of a box.
func (f *Flame) svgFill(b *bytes.Buffer, x *calltree.Box, name string) {
	if f.Diff || x.Weight < 0 {
		fmt.Fprintf(b, ` fill="%s"`, changeColour(x.Weight, x.BaseWeight))
		return
	}
	fmt.Fprintf(b, ` class="c%d"`, FlameClass(f.Scope, name))
	// A little of its own for each name keeps neighbours apart.
	h := fnv.New32a()
	io.WriteString(h, name)
	if k := h.Sum32() % 4; k > 0 {
		fmt.Fprintf(b, ` fill-opacity=".%d"`, 100-6*k)
	}
}

// changeColour goes from grey to orange red for what has grown and to blue for
// what has shrunk; colour-blind people see the difference too.
func changeColour(now, before int64) string {
	most := math.Max(math.Abs(float64(now)), math.Abs(float64(before)))
	if most == 0 {
		return "#d5d9df"
	}
	t := math.Max(-1, math.Min(1, (float64(now)-float64(before))/most))
	to := [3]float64{0xf0, 0x7a, 0x3a}
	if t < 0 {
		to = [3]float64{0x4a, 0xa3, 0xdf}
	}
	t = math.Sqrt(math.Abs(t))
	mix := func(i int, from float64) int { return int(from + (to[i]-from)*t) }
	return fmt.Sprintf("#%02x%02x%02x", mix(0, 0xd5), mix(1, 0xd9), mix(2, 0xdf))
}

// fitName returns as much of a function's name as there is room for: with the
// package, without, or the last part of it.
func fitName(name string, width, size float64) string {
	short := stack.Short(name)
	_, rest, _ := strings.Cut(short, ".")
	for _, text := range [...]string{short, rest} {
		if text != "" && sansWidth(text, size) <= width {
			return text
		}
	}
	return fitText(cmp.Or(rest, short), width, size)
}

// fitText cuts a text to a width; what would be less than three letters is
// nothing.
func fitText(text string, width, size float64) string {
	if sansWidth(text, size) <= width {
		return text
	}
	runes := []rune(text)
	width -= sansWidth("…", size)
	n := 0
	for ; n < len(runes); n++ {
		if width -= sansWidth(string(runes[n]), size); width < 0 {
			break
		}
	}
	if n < 3 {
		return ""
	}
	return string(runes[:n]) + "…"
}
