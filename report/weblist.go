package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"loupe/analysis/calltree"
	"loupe/analysis/pprof"
)

// WebList is the source of functions with the weight of every line, and the
// instructions that the lines became.
type WebList struct {
	Listing  *calltree.Listing
	Routines []pprof.Routine // may be nil, and of more functions than are listed
	Header   calltree.Header
	Title    string   // "" is the name of the binary
	Notes    []string // what the reader should know, such as why there are no instructions
	// CallLine returns the line of the routine itself that an instruction of
	// inlined code belongs to, 0 if it does not know. When it is nil that is the
	// line of the instruction before.
	CallLine func(pc uint64) int
}

//go:embed assets/weblist.css
var webListCSS string

//go:embed assets/weblist.js
var webListJS string

// WebListHTML writes source and instructions as one self-contained page. Lines
// unfold to their instructions, with the keyboard too; heavy ones stand out.
func WebListHTML(w io.Writer, l *WebList) error {
	p := &webPage{WebList: l, total: cmp.Or(l.Header.Total, l.Listing.Total), unit: cmp.Or(l.Header.OutputUnit, calltree.Minimum)}
	title := clean(l.Title)
	if title == "" {
		title = "source"
		if l.Header.File != "" {
			title = clean(path.Base(l.Header.File))
		}
	}
	fmt.Fprintf(&p.b, "<header><h1>%s</h1>%s", html.EscapeString(title), headerFacts(l.Header.Facts(p.total, p.unit), l.Header.Filters))
	for _, n := range l.Notes {
		fmt.Fprintf(&p.b, "<p class=\"note\">%s</p>", html.EscapeString(clean(n)))
	}
	p.b.WriteString("<div id=\"bar\"></div></header>\n")
	if len(l.Listing.Routines) > 1 {
		p.contents()
	}
	p.b.WriteString("<main>\n")
	for i := range l.Listing.Routines {
		p.routine(i, &l.Listing.Routines[i])
	}
	p.b.WriteString("</main>\n")
	return writePage(w, title, pageParts{css: pageCSS + webListCSS, js: webListJS, body: p.b.String()})
}

type webPage struct {
	*WebList
	b     bytes.Buffer
	total int64
	unit  string
}

func (p *webPage) weight(v int64) string {
	if v == 0 {
		return ""
	}
	return html.EscapeString(p.Header.Format(v, p.unit))
}

func (p *webPage) percent(v int64) string { return strings.TrimSpace(calltree.Percent(v, p.total)) }

// contents lists the functions, the heaviest first.
func (p *webPage) contents() {
	order := make([]int, len(p.Listing.Routines))
	for i := range order {
		order[i] = i
	}
	all := p.Listing.Routines
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(magnitude(all[j].Flat), magnitude(all[i].Flat)), cmp.Compare(magnitude(all[j].Cum), magnitude(all[i].Cum)))
	})
	p.b.WriteString("<nav aria-label=\"functions\"><table><tr><th>itself</th><th>with calls</th><th>function</th></tr>\n")
	for _, i := range order {
		r := &all[i]
		fmt.Fprintf(&p.b, "<tr><td>%s</td><td>%s</td><td><a href=\"#f%d\">%s</a></td></tr>\n", p.weight(r.Flat), p.weight(r.Cum), i, html.EscapeString(clean(r.Func)))
	}
	p.b.WriteString("</table></nav>\n")
}

// webCode are the instructions of one line.
type webCode []*pprof.Instruction

// code finds the instructions of a function, by line.
func (p *webPage) code(r *calltree.Routine) map[int]webCode {
	lines := map[int]webCode{}
	for i := range p.Routines {
		x := &p.Routines[i]
		if !slices.Contains(x.Names, r.Func) {
			continue
		}
		last := 0
		for k := range x.Code {
			in := &x.Code[k]
			line := 0
			switch {
			case len(in.Inlined) == 0 && path.Base(in.File) == path.Base(r.File):
				line = in.Line
			case p.CallLine != nil:
				line = p.CallLine(in.PC)
			}
			line = cmp.Or(line, last)
			lines[line] = append(lines[line], in)
			last = line
		}
	}
	return lines
}

func (p *webPage) routine(i int, r *calltree.Routine) {
	fmt.Fprintf(&p.b, "<section id=\"f%d\"><h2>%s</h2><p class=\"where\">%s · itself %s (%s), with calls %s (%s)</p>\n", i,
		html.EscapeString(clean(r.Func)), html.EscapeString(clean(cmp.Or(r.File, "source not found"))),
		cmp.Or(p.weight(r.Flat), "0"), p.percent(r.Flat), cmp.Or(p.weight(r.Cum), "0"), p.percent(r.Cum))
	if r.Err != nil {
		fmt.Fprintf(&p.b, "<p class=\"note\">%s</p>\n", html.EscapeString(clean(r.Err.Error())))
	}
	var heaviest int64 = 1
	for _, l := range r.Lines {
		heaviest = max(heaviest, magnitude(l.Flat), magnitude(l.Cum)/4)
	}
	p.b.WriteString("<div class=\"src\"><div class=\"r h\"><span>itself</span><span>with calls</span><span>line</span><span>source</span></div>\n")
	code := p.code(r)
	for _, l := range r.Lines {
		p.line(&l, heaviest, code[l.Number])
		delete(code, l.Number)
	}
	p.rest(code)
	p.b.WriteString("</div></section>\n")
}

func (p *webPage) line(l *calltree.Line, heaviest int64, code webCode) {
	heat := math.Max(math.Abs(float64(l.Flat)), math.Abs(float64(l.Cum))/4) / float64(heaviest)
	class := "r"
	if l.Flat != 0 || l.Cum != 0 {
		class += fmt.Sprintf(" w%d", int(math.Ceil(4*math.Min(1, heat))))
	}
	row := fmt.Sprintf("<span>%s</span><span>%s</span><span>%d</span><code>%s</code>", p.weight(l.Flat), p.weight(l.Cum), l.Number, sourceText(l.Text))
	if len(code) == 0 {
		fmt.Fprintf(&p.b, "<div class=\"%s\">%s</div>\n", class, row)
		return
	}
	fmt.Fprintf(&p.b, "<details><summary class=\"%s\">%s</summary>", class, row)
	p.instructions(code)
	p.b.WriteString("</details>\n")
}

// rest shows instructions of lines that are not listed.
func (p *webPage) rest(code map[int]webCode) {
	var all webCode
	for _, c := range code {
		all = append(all, c...)
	}
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(x, y *pprof.Instruction) int { return cmp.Compare(x.PC, y.PC) })
	what := "instructions"
	if len(all) == 1 {
		what = "instruction"
	}
	fmt.Fprintf(&p.b, "<details><summary class=\"r\"><span></span><span></span><span></span><code>%d %s of other lines</code></summary>", len(all), what)
	p.instructions(all)
	p.b.WriteString("</details>\n")
}

func (p *webPage) instructions(code webCode) {
	p.b.WriteString("<div class=\"asm\">")
	where, end := "", uint64(0)
	for i, in := range code {
		if i > 0 && in.PC != end {
			p.b.WriteString("<div class=\"gap\">⋮</div>")
			where = ""
		}
		end = in.PC + uint64(len(in.Bytes))
		now := ""
		if len(in.Inlined) > 0 {
			now = fmt.Sprintf("%s %s:%d", in.Inlined[0].Func, path.Base(in.File), in.Line)
		}
		if now != where && now != "" {
			fmt.Fprintf(&p.b, "<div class=\"in\">%s</div>", html.EscapeString(clean(now)))
		}
		where = now
		class := "r"
		if in.Flat != 0 {
			class += " w2"
		}
		fmt.Fprintf(&p.b, "<div class=\"%s\"><span>%s</span><span>%s</span><span>%x</span><code>%s</code></div>",
			class, p.weight(in.FlatValue()), p.weight(in.CumValue()), in.PC, html.EscapeString(clean(in.Text)))
	}
	p.b.WriteString("</div>")
}

// sourceText keeps tabs and comments apart from the rest.
func sourceText(text string) string {
	text = clean(strings.ReplaceAll(strings.TrimRight(text, " \t\r"), "\t", "    "))
	escaped := html.EscapeString(text)
	if strings.HasPrefix(strings.TrimSpace(text), "//") {
		return "<i>" + escaped + "</i>"
	}
	return escaped
}
