package report

import (
	"fmt"

	"loupe/analysis/why"
	"loupe/format/compiler"
	"loupe/value/unit"
)

// CompilerLog is what the compiler says about a program.
type CompilerLog struct {
	*why.Digest
}

// maxSaid is how many rows the tables of a compiler's output have. All are in the JSON.
const maxSaid = 30

// sections are the tables: what escapes, what is not inlined, what is checked.
func (c *CompilerLog) sections() []runSection {
	return []runSection{
		{"Compiler diagnostics", c.figures(), nil},
		{"Compiler: what escapes to the heap (-m)", nil, c.escapes()},
		{"Compiler: what is not inlined, and why (-m=2)", nil, c.notInlined()},
		{"Compiler: bounds checks (-d=ssa/check_bce/debug=1)", nil, c.checks()},
	}
}

func (c *CompilerLog) figures() figures {
	f := figures{}
	row := func(name string, n int, remark string) {
		if n > 0 {
			f = append(f, [3]string{name, unit.Count(int64(n)), remark})
		}
	}
	row("Packages", c.Packages, "")
	row("Escapes", len(c.Escapes), "values and variables allocated on the heap")
	row("Leaking parameters", c.Leaking, "arguments passed to them escape in the caller")
	row("Can inline", c.CanInline, "functions")
	row("Inlined calls", c.InlinedCalls, "")
	not := 0
	for _, r := range c.NotInlined {
		not += r.Count
	}
	row("Not inlined", not, "functions and calls")
	row("Bounds checks", c.BoundsChecks, "of indexes, remaining in the code")
	row("Slice checks", c.SliceChecks, "of slice bounds, remaining in the code")
	row("Nil checks", c.NilChecks, "remaining in the code")
	return f
}

func (c *CompilerLog) escapes() *Sheet {
	s := &Sheet{Key: "escapes", Columns: []Column{{"pos", "place"}, {"what", "what"}, {"way", "how it escapes to the heap"}, {"function", "function"}}}
	for _, e := range c.Escapes[:min(len(c.Escapes), maxSaid)] {
		what := e.What
		if e.Variable {
			what = "variable " + what
		}
		s.Rows = append(s.Rows, []any{e.Pos.String(), what, e.Way, e.Function})
	}
	return s.allInJSON(len(c.Escapes), "values")
}

func (c *CompilerLog) notInlined() *Sheet {
	s := &Sheet{Key: "not_inlined", Columns: []Column{{"reason", "reason"}, {"count", "count"}, {"functions", "such as"}}}
	for _, r := range c.NotInlined[:min(len(c.NotInlined), maxSaid)] {
		s.Rows = append(s.Rows, []any{r.Reason, r.Count, inlineSite(&r.Functions[0])})
	}
	return s.allInJSON(len(c.NotInlined), "reasons")
}

// inlineSite says which function it is, and what it costs.
func inlineSite(f *why.InlineSite) string {
	text := f.Pos.String()
	if f.Name != "" {
		text = f.Name + " (" + text + ")"
	}
	if f.Cost > 0 && f.Budget > 0 {
		text += fmt.Sprintf(", cost %d of %d", f.Cost, f.Budget)
	}
	return text
}

func (c *CompilerLog) checks() *Sheet {
	s := &Sheet{Key: "bounds_checks", Columns: []Column{{"pos", "line"}, {"count", "checks"}}}
	for _, x := range c.Checks[:min(len(c.Checks), maxSaid)] {
		s.Rows = append(s.Rows, []any{compiler.Pos{File: x.Pos.File, Line: x.Pos.Line}.String(), x.Count})
	}
	return s.allInJSON(len(c.Checks), "lines")
}

// allInJSON says how many rows were left out.
func (t *Sheet) allInJSON(all int, what string) *Sheet {
	if n := all - len(t.Rows); n > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s more %s; -json has all", unit.Count(int64(n)), what))
	}
	return t
}

// Sheets are the tables that have rows.
func (c *CompilerLog) Sheets() (sheets []*Sheet) {
	for _, x := range c.sections() {
		sheet := x.rows
		if sheet == nil {
			sheet = x.figures.sheet("compiler_figures")
		}
		if sheet.Title = x.title; len(sheet.Rows) > 0 {
			sheets = append(sheets, sheet)
		}
	}
	return sheets
}

// write prints what there is as text.
func (c *CompilerLog) write(w *lines, s Style) {
	if c == nil {
		return
	}
	for _, x := range c.sections() {
		if x.rows != nil && len(x.rows.Rows) == 0 {
			continue
		}
		w.printf("\n%s\n", s.paint(bold, x.title))
		if x.rows == nil {
			x.figures.write(w, s)
		} else {
			WriteSheet(w, x.rows, s)
		}
	}
}

// markdown prints the same for an issue or a pull request.
func (c *CompilerLog) markdown(w *lines) {
	if c == nil {
		return
	}
	for _, x := range c.sections() {
		sheet := x.rows
		if sheet == nil {
			sheet = x.figures.sheet("")
		}
		if len(sheet.Rows) > 0 {
			w.printf("\n## %s\n\n", escape(x.title))
			WriteSheetMarkdown(w, sheet)
		}
	}
}
