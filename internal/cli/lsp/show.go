package lsp

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"loupe/analysis/why"
	"loupe/insight"
	"loupe/value/stack"
	"loupe/value/terminal"
	"loupe/value/unit"
)

// whereabouts follows the lines of one file.
type whereabouts struct {
	before []string
	now    []string
	spans  []declared // of what was recorded
	to     []int      // by the recorded line, from 0; nil where the recording has not kept the file
}

func (f *facts) follow(d *document) (name string, w *whereabouts) {
	name, before := f.recorded(d.path)
	w = &whereabouts{before: before, now: split(d.text)}
	if before != nil {
		w.to, w.spans = moved(before, w.now), declarations(before)
	}
	return name, w
}

// around tells whether the function, or whatever else is declared there, around a recorded line,
// counted from 1, reads as it did, now that the line is at another, counted from 0.
func (w *whereabouts) around(line, at int) bool {
	i := slices.IndexFunc(w.spans, func(d declared) bool { return d.from <= line-1 && line-1 <= d.to })
	if w.to == nil || i < 0 {
		return true
	}
	from, to := w.spans[i].from, w.spans[i].to
	start := at - (line - 1 - from)
	return start >= 0 && start+to-from < len(w.now) && sameText(w.before[from:to+1], w.now[start:start+to-from+1])
}

// sameText tells whether two texts are the same but for the blanks around lines.
func sameText(a, b []string) bool {
	return slices.EqualFunc(a, b, func(x, y string) bool { return strings.TrimSpace(x) == strings.TrimSpace(y) })
}

// find returns where a recorded line, counted from 1, is now, counted from 0, and whether
// it has changed. text is the line as the evidence quotes it, for files that were not kept.
func (w *whereabouts) find(line int, text string) (at int, stale bool) {
	last := max(len(w.now)-1, 0)
	if w.to == nil {
		i := min(max(line-1, 0), last)
		return i, strings.TrimSpace(text) == "" || strings.TrimSpace(w.now[i]) != strings.TrimSpace(text)
	}
	i := line - 1
	if i < 0 || i >= len(w.to) {
		return last, true
	}
	if w.to[i] >= 0 {
		return w.to[i], false
	}
	// Where it was: behind the line that stood before it.
	for back := i - 1; back >= 0; back-- {
		if w.to[back] >= 0 {
			return min(w.to[back]+1, last), true
		}
	}
	return min(i, last), true
}

// back returns which recorded line, counted from 1, a line is, counted from 0; 0 is none.
func (w *whereabouts) back(line int) int {
	if i := slices.Index(w.to, line); i >= 0 {
		return i + 1
	}
	return 0
}

// diagnostics are the findings of a file.
func (f *facts) diagnostics(d *document) (all []diagnostic) {
	name, w := f.follow(d)
	for i := range f.findings {
		one := &f.findings[i]
		n := slices.IndexFunc(one.Evidence, func(e insight.Evidence) bool { return e.File != "" && e.Line > 0 })
		if n < 0 || one.Evidence[n].File != name {
			continue
		}
		at, stale := w.find(one.Evidence[n].Line, one.Evidence[n].Source)
		x := diagnostic{Range: lineRange(w.now, at), Code: one.Rule, Source: "loupe", Severity: severityInformation,
			Message: terminal.Line(one.Title + ": " + one.Summary + ". " + one.Advice)}
		switch one.Severity {
		case insight.Critical:
			x.Severity = severityError
		case insight.Warning:
			x.Severity = severityWarning
		}
		changed := ""
		switch {
		case stale:
			changed = "line"
		case !w.around(one.Evidence[n].Line, at):
			changed = "function"
		}
		if changed != "" {
			x.Severity, x.Tags = severityHint, []int{tagUnnecessary}
			x.Message = "stale, the " + changed + " has changed since the recording: " + x.Message
		}
		all = append(all, x)
	}
	return all
}

// lineRange is a line without the blanks around it.
func lineRange(lines []string, at int) span {
	line := ""
	if at < len(lines) {
		line = lines[at]
	}
	trimmed := strings.TrimLeft(line, " \t")
	from := len(line) - len(trimmed)
	return span{position{at, from}, position{at, from + len(utf16.Encode([]rune(strings.TrimRight(trimmed, " \t"))))}}
}

// declared are the lines of a declaration, from 0.
type declared struct{ from, to int }

// declarations are those of a text, as far as it can be parsed.
func declarations(lines []string) (all []declared) {
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, "x.go", strings.Join(lines, "\n"), parser.SkipObjectResolution)
	if file == nil {
		return nil
	}
	for _, decl := range file.Decls {
		all = append(all, declared{fset.PositionFor(decl.Pos(), false).Line - 1, min(fset.PositionFor(decl.End(), false).Line, len(lines)) - 1})
	}
	return all
}

// function is one that a file declares.
type function struct {
	name     string // without the package: "(*T).Method"
	from, to int    // lines, from 0
}

// functions are those that a text declares, as far as it can be parsed.
func functions(lines []string) (all []function) {
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, "x.go", strings.Join(lines, "\n"), parser.SkipObjectResolution)
	if file == nil || file.Name == nil {
		return nil
	}
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := fn.Name.Name
		if fn.Recv != nil && len(fn.Recv.List) == 1 {
			star, t := "", fn.Recv.List[0].Type
			for {
				switch x := t.(type) {
				case *ast.StarExpr:
					star, t = "*", x.X
					continue
				case *ast.ParenExpr:
					t = x.X
					continue
				case *ast.IndexExpr:
					t = x.X
					continue
				case *ast.IndexListExpr:
					t = x.X
					continue
				}
				break
			}
			id, ok := t.(*ast.Ident)
			if !ok {
				continue
			}
			if name = id.Name + "." + name; star != "" {
				name = "(*" + id.Name + ")." + fn.Name.Name
			}
		}
		all = append(all, function{name, fset.PositionFor(fn.Pos(), false).Line - 1, min(fset.PositionFor(fn.End(), false).Line, len(lines)) - 1})
	}
	return all
}

// lenses say above each function what it costs.
func lenses(f *facts, d *document, _ *placeParams) []codeLens {
	all := []codeLens{}
	now := split(d.text)
	name, before := f.recorded(d.path)
	var then []function
	if before != nil {
		then = functions(before)
	}
	for _, fn := range functions(now) {
		var parts []string
		for _, m := range f.measures {
			if text := m.lens(name, fn.name); text != "" {
				parts = append(parts, text)
			}
		}
		if len(parts) == 0 {
			continue
		}
		title := strings.Join(parts, " · ")
		switch i := slices.IndexFunc(then, func(t function) bool { return t.name == fn.name }); {
		case before == nil:
			title += " (may have changed since: the recording has not kept this file)"
		case i < 0 || !sameText(before[then[i].from:then[i].to+1], now[fn.from:fn.to+1]):
			title += " (changed since)"
		}
		all = append(all, codeLens{lineRange(now, fn.from), lensCommand{Title: terminal.Line(title)}})
	}
	return all
}

// lens says what a function and the functions in it cost; "" for nothing.
func (m *measure) lens(file, name string) string {
	own, inner := m.funcs[called{file, name}], cost{}
	for k, c := range m.funcs {
		if k.file == file && strings.HasPrefix(k.name, name+".func") {
			inner = add(inner, c)
		}
	}
	if own == (cost{}) && inner.flat == 0 || m.total == 0 {
		return ""
	}
	text := fmt.Sprintf("%s %s flat, %s cum", m.verb, m.share(own.flat), m.share(own.cum))
	if m.of == "bytes" {
		text += " (" + unit.BytesOf(float64(own.cum)) + ")"
	}
	if inner.flat > 0 {
		text += ", func literals in it " + m.share(inner.flat) + " flat"
	}
	return text
}

// share is a part of the total.
func (m *measure) share(v int64) string { return unit.Percent(float64(v) / float64(m.total)) }

// amount is a value in its unit.
func (m *measure) amount(v int64) string {
	switch m.of {
	case "nanoseconds":
		return unit.Duration(time.Duration(v))
	case "bytes":
		return unit.BytesOf(float64(v))
	}
	return unit.Count(v)
}

// hover says what a line costs, and why it allocates.
func hover(f *facts, d *document, in *placeParams) *hoverResult {
	name, w := f.follow(d)
	line := w.back(in.Position.Line)
	if line == 0 {
		return nil
	}
	var all []string
	for _, m := range f.measures {
		if c := m.lines[place{name, line}]; c != (cost{}) && m.total != 0 {
			all = append(all, fmt.Sprintf("%s: %s flat (%s), %s cum (%s)", m.verb, m.amount(c.flat), m.share(c.flat), m.amount(c.cum), m.share(c.cum)))
		}
	}
	if f.reasons != nil {
		for i := range f.reasons.Sites { // those of calls that were inlined here, too
			site := &f.reasons.Sites[i]
			if slices.ContainsFunc(site.Frames, func(x stack.Frame) bool { return x.File == name && x.Line == line }) {
				all = append(all, reasonsOf(site)...)
			}
		}
	}
	for i := range f.findings {
		one := &f.findings[i]
		if slices.ContainsFunc(one.Evidence, func(e insight.Evidence) bool { return e.File == name && e.Line == line }) {
			all = append(all, one.Rule+" "+one.Title)
		}
	}
	if len(all) == 0 {
		return nil
	}
	if !w.around(line, in.Position.Line) {
		all = append(all, "stale: the function around it has changed since the recording")
	}
	all = append(all, "in the recording "+f.name+" of "+f.made.Local().Format("2006-01-02 15:04"))
	for i := range all {
		all[i] = terminal.Line(all[i])
	}
	return &hoverResult{markup{"plaintext", strings.Join(all, "\n")}, lineRange(w.now, in.Position.Line)}
}

// reasonsOf says why a place allocates, and how sure that is.
func reasonsOf(site *why.Site) (all []string) {
	if site.Stale {
		return nil
	}
	for _, c := range site.Causes {
		text := unit.BytesOf(float64(site.Weight)) + ": " + c.Reason
		if site.Certainty == why.Ambiguous {
			text = "perhaps " + text
		}
		all = append(all, text)
	}
	return all
}
