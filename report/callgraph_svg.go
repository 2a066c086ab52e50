package report

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"loupe/report/internal/layout"
)

//go:embed assets/callgraph.css
var callGraphCSS string

//go:embed assets/callgraph.js
var callGraphJS string

// xmlText escapes text for XML and HTML, in attributes too. What no document
// may contain becomes U+FFFD.
func xmlText(text string) string {
	plain := true
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || c == '<' || c == '>' || c == '&' || c == '"' || c == '\'' {
			plain = false
			break
		}
	}
	if plain {
		return text
	}
	var b strings.Builder
	xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return b.String()
}

// number appends a coordinate with at most one decimal.
func number(b []byte, x float64) []byte {
	x = math.Round(x*10) / 10
	if x == 0 {
		x = 0 // not -0
	}
	return strconv.AppendFloat(b, x, 'f', -1, 64)
}

func num(x float64) string { return string(number(nil, x)) }

// steps are how many colours there are between grey and the strongest.
const steps = 24

// step is the colour of a share as a class; what is not 0 is not grey.
func step(share float64) int {
	n := int(math.Round(share * steps))
	if n == 0 && share > 0 {
		return 1
	}
	if n == 0 && share < 0 {
		return -1
	}
	return n
}

func class(step int) string {
	if step < 0 {
		return "m" + strconv.Itoa(-step)
	}
	return "p" + strconv.Itoa(step)
}

// hex is a colour of the scale as CSS writes it.
func hex(step int, saturation, value float64) string {
	r, g, b := shade(float64(step)/steps, saturation, value)
	return fmt.Sprintf("#%02x%02x%02x", r, g, b)
}

// The scale is used for areas and for lines, on a light and on a dark page.
const (
	areaSaturation, areaValue         = 0.1, 0.93
	lineSaturation, lineValue         = 1, 0.7
	darkAreaSaturation, darkAreaValue = 0.55, 0.3
	darkLineSaturation, darkLineValue = 0.6, 0.9
)

// colourRules are the rules of the colours that a scene has.
func (s *scene) colourRules() string {
	used := map[int]bool{}
	for i := range s.boxes {
		used[step(s.boxes[i].share)] = true
	}
	for i := range s.lines {
		used[step(s.lines[i].share)] = true
	}
	all := make([]int, 0, len(used))
	for k := range used {
		all = append(all, k)
	}
	slices.Sort(all)
	var light, dark strings.Builder
	for _, k := range all {
		rule := func(b *strings.Builder, as, av, ls, lv float64) {
			c, line := class(k), hex(k, ls, lv)
			fmt.Fprintf(b, ".n.%s rect{fill:%s;stroke:%s}.%s path{stroke:%s}.%s .a{fill:%s}\n", c, hex(k, as, av), line, c, line, c, line)
		}
		rule(&light, areaSaturation, areaValue, lineSaturation, lineValue)
		rule(&dark, darkAreaSaturation, darkAreaValue, darkLineSaturation, darkLineValue)
	}
	return light.String() + "@media(prefers-color-scheme:dark){" + dark.String() + "}\n"
}

func writeSceneSVG(out io.Writer, s *scene) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s">`+"\n",
		num(s.width), num(s.height), num(s.width), num(s.height))
	fmt.Fprintf(&b, "<title>%s</title>\n<style>\n%s%s</style>\n<g id=\"view\">\n", xmlText(clean(s.title)), callGraphCSS, s.colourRules())
	fmt.Fprintf(&b, `<g class="l"><rect x="%d" y="%d" width="%s" height="%s" rx="4"/>`, sceneMargin, sceneMargin, num(s.legendSize.X), num(s.legendSize.Y))
	svgLines(&b, s.legend, legendText, 1.35, sceneMargin+boxPadX, sceneMargin+boxPadY, "")
	b.WriteString("</g>\n")
	for i := range s.lines {
		svgCalls(&b, s, &s.lines[i])
	}
	for i := range s.boxes {
		svgBox(&b, i, &s.boxes[i])
	}
	fmt.Fprintf(&b, "</g>\n<script><![CDATA[\n%s]]></script>\n</svg>\n", callGraphJS)
	_, err := out.Write(b.Bytes())
	return err
}

// svgLines prints the lines of a text from the top down.
func svgLines(b *bytes.Buffer, text []string, size, spacing, x, y float64, anchor string) {
	if anchor != "" {
		anchor = ` text-anchor="` + anchor + `"`
	}
	for i, t := range text {
		fmt.Fprintf(b, `<text x="%s" y="%s" font-size="%s"%s>%s</text>`, num(x), num(y+(float64(i)+0.5)*size*spacing+size*0.36), num(size), anchor, xmlText(t))
	}
}

func svgBox(b *bytes.Buffer, i int, x *sceneBox) {
	kind := "n " + class(step(x.share))
	if x.label {
		kind = "t"
	}
	fmt.Fprintf(b, `<g class="%s" id="n%d"><title>%s</title>`, kind, i, xmlText(x.tip))
	fmt.Fprintf(b, `<rect x="%s" y="%s" width="%s" height="%s" rx="%d"/>`, num(x.X-x.w/2), num(x.Y-x.h/2), num(x.w), num(x.h), radius(x))
	svgLines(b, x.text, x.size, lineHeight, x.X, x.Y-x.h/2+boxPadY, "middle")
	b.WriteString("</g>\n")
}

func radius(x *sceneBox) int {
	if x.label {
		return 9
	}
	return 3
}

func svgCalls(b *bytes.Buffer, s *scene, l *sceneLine) {
	points, head := l.arrow()
	fmt.Fprintf(b, `<g class="e %s" data-f="%d" data-t="%d"><title>%s</title>`, class(step(l.share)), l.from, l.to, xmlText(l.tip))
	dash := ""
	if l.dashed {
		dash = ` class="d"`
	}
	fmt.Fprintf(b, `<path%s stroke-width="%s" d="`, dash, num(l.width))
	for i, p := range points {
		switch {
		case i == 0:
			b.WriteByte('M')
		case i%3 == 1:
			b.WriteByte('C')
		default:
			b.WriteByte(' ')
		}
		b.Write(number(b.AvailableBuffer(), p.X))
		b.WriteByte(' ')
		b.Write(number(b.AvailableBuffer(), p.Y))
	}
	fmt.Fprintf(b, `"/><path class="a" d="M%s %sL%s %sL%s %sZ"/>`, num(head[0].X), num(head[0].Y), num(head[1].X), num(head[1].Y), num(head[2].X), num(head[2].Y))
	at := l.route.Label
	svgLines(b, l.text, smallText, lineHeight, at.X, at.Y-float64(len(l.text))*labelLine/2, "middle")
	b.WriteString("</g>\n")
}

// arrow returns the course of a line up to its head, and the head.
func (l *sceneLine) arrow() ([]layout.Point, [3]layout.Point) {
	p := slices.Clone(l.route.Points)
	n := len(p)
	tip, before := p[n-1], p[n-2]
	dx, dy := tip.X-before.X, tip.Y-before.Y
	d := math.Hypot(dx, dy)
	if d == 0 {
		dx, dy, d = 0, 1, 1
	}
	dx, dy = dx/d, dy/d
	long, wide := 6+l.width, 3+l.width*0.7
	base := layout.Point{X: tip.X - dx*long, Y: tip.Y - dy*long}
	// The last curve ends where the head begins; its shape stays.
	p[n-1] = base
	if dx*(base.X-p[n-2].X)+dy*(base.Y-p[n-2].Y) < 0 {
		p[n-2] = base
	}
	return p, [3]layout.Point{tip, {X: base.X - dy*wide, Y: base.Y + dx*wide}, {X: base.X + dy*wide, Y: base.Y - dx*wide}}
}
