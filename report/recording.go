package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"loupe/analysis/compare"
	"loupe/analysis/gc"
	"loupe/insight"
	"loupe/recording"
	"loupe/session"
	"loupe/value/terminal"
	"loupe/value/unit"
)

// Schema names the version of the JSON form of a Recording.
const Schema = "loupe.report/1"

// Recording is what is printed of one recording.
type Recording struct {
	Schema   string              `json:"schema"`
	Path     string              `json:"path"`
	Manifest *recording.Manifest `json:"manifest"`
	Findings []insight.Finding   `json:"findings"`
	// Cards put what follows from one cause together, those worth most first.
	Cards []insight.Card `json:"cards"`
	// Incomplete says what was cut, lost or damaged, one clause each; where
	// there is any, what was not found may be in it.
	Incomplete []string `json:"incomplete,omitempty"`
	// Time is why it tells less of what the program spends its time on than it was to.
	Time insight.TimeGaps `json:"-"`
	// Headline says what it means that nothing was found; empty where something
	// was.
	Headline string `json:"headline,omitempty"`
	// Figures is a table of one column.
	Figures *compare.Table      `json:"figures"`
	Phases  []compare.PhaseCost `json:"phases"`
	// Slow is what the slowest requests met, for each phase that can tell.
	Slow []compare.Slow `json:"slow_requests,omitempty"`
	// Files says what each file is, where what is printed is no recording but
	// files that stand alone.
	Files []session.File `json:"files,omitempty"`
	// RuntimeLines are what logs that stand alone say besides collections and the
	// scheduler.
	RuntimeLines []*RuntimeLines `json:"runtime_lines,omitempty"`
	// Compiler is what outputs of the compiler that stand alone say.
	Compiler *CompilerLog `json:"compiler,omitempty"`
}

// WriteRecording prints a recording for people: findings first, then what
// happened.
func WriteRecording(out io.Writer, r *Recording, s Style) error {
	w := &lines{w: out}
	writeHead(w, r, s)
	writeIncomplete(w, r.Incomplete, s)
	w.printf("\n%s\n\n", s.paint(bold, "Findings"))
	writeFindings(w, r.inOrder(), r.headline(), lacks(r.Manifest), s)
	w.printf("\n%s\n\n", s.paint(bold, "What happened"))
	writeTable(w, r.Figures, s)
	writeRuns(w, r.Manifest, s)
	if len(r.Slow) > 0 {
		w.printf("\n%s\n\n", s.paint(bold, "What slow requests overlapped with"))
		writeSlow(w, r.Slow, s)
	}
	w.printf("\n%s\n\n", s.paint(bold, "Phases"))
	writePhases(w, r.Phases, s)
	for _, n := range r.Manifest.Notes {
		w.printf("\n  %s\n", s.paint(yellow, wrap("Note: "+clean(n), s.width()-2, "  ")))
	}
	return w.err
}

// inOrder are the findings in the order of the cards, those of one severity together: what stands on a card comes behind
// its cause, and what is no cause behind those that are.
func (r *Recording) inOrder() []insight.Finding {
	at := map[int]int{}
	for i, c := range r.Cards {
		at[c.Finding] = -2 * (len(r.Cards) - i)
		for _, symptom := range c.Symptoms {
			at[symptom] = at[c.Finding] + 1
		}
	}
	order := make([]int, len(r.Findings))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		f, g := &r.Findings[a], &r.Findings[b]
		if f.State != insight.Found || g.State != insight.Found || f.Severity != g.Severity {
			return a - b
		}
		return at[a] - at[b]
	})
	all := make([]insight.Finding, len(order))
	for i, n := range order {
		all[i] = r.Findings[n]
	}
	return all
}

// incomplete begins the mark of what was cut, lost or damaged, in every form.
const incomplete = "Incomplete: "

// writeIncomplete marks a report of which something is missing.
func writeIncomplete(w *lines, all []string, s Style) {
	for _, why := range all {
		w.printf("%s\n", s.paint(yellow, wrap(incomplete+clean(why), s.width(), "  ")))
	}
}

// headline says what it means that nothing was found.
func (r *Recording) headline() string {
	text := cmp.Or(r.Headline, insight.Judge(r.Manifest, r.Findings).Headline())
	if ended := insight.Ended(r.Manifest, r.Findings); ended != "" {
		return ended + " " + text
	}
	return text
}

// headlineOf is the same of answers alone.
func headlineOf(all []insight.Finding) string {
	j := insight.Judge(&recording.Manifest{}, all)
	j.Record = nil
	return j.Headline()
}

func writeHead(w *lines, r *Recording, s Style) {
	m := r.Manifest
	w.printf("%s\n", s.paint(bold, clean(m.Title)))
	w.printf("%s\n", s.paint(dim, wrap(clean(strings.Join(headFacts(m), ", ")), s.width(), "")))
}

func headFacts(m *recording.Manifest) []string {
	name := m.Target.Name
	if m.Target.Kind == "package" && m.Target.Package != "" && m.Target.Package != "command-line-arguments" {
		name = m.Target.Package // what was typed may be "."
	}
	facts := []string{m.Start.Local().Format("2006-01-02 15:04:05"), strings.TrimSpace(m.Target.Kind + " " + strings.Join(append([]string{name}, m.Target.Args...), " "))}
	if m.Target.Go != "" {
		facts = append(facts, m.Target.Go)
	}
	cpus := fmt.Sprintf("%d CPUs", m.Host.CPUs)
	if m.Host.Quota > 0 {
		cpus += fmt.Sprintf(" (quota %.3g)", m.Host.Quota)
	}
	facts = append(facts, cpus)
	if m.Host.Virtual != "" {
		facts = append(facts, m.Host.Virtual)
	}
	return append(facts, m.Target.Env...)
}

// writeRuns tells what `time` would of each process.
func writeRuns(w *lines, m *recording.Manifest, s Style) {
	var g grid
	g.add(cell{text: "process", left: true, paint: dim}, cell{text: "wall", paint: dim}, cell{text: "user", paint: dim},
		cell{text: "system", paint: dim}, cell{text: "peak RSS", paint: dim}, cell{text: "end", left: true, paint: dim})
	shown := 0
	for i, run := range m.Target.Runs {
		if run.Exit == "" && run.MaxRSS == 0 {
			continue // found running: its end was not seen
		}
		shown++
		end := run.Exit
		if run.Stopped {
			end += " (stopped by loupe)"
		}
		peak := "–" // nobody has looked in time
		if run.MaxRSS > 0 {
			peak = unit.BytesOf(float64(run.MaxRSS))
		}
		g.add(cell{text: processName(m, i), left: true}, cell{text: unit.Duration(run.Span.Len())}, cell{text: unit.Duration(run.User)},
			cell{text: unit.Duration(run.System)}, cell{text: peak}, cell{text: clean(end), left: true})
	}
	if shown > 0 {
		w.printf("\n")
		g.write(w, s, "  ")
	}
}

// processName is the number of a process, and the phase that it was started for.
func processName(m *recording.Manifest, run int) string {
	for _, p := range m.Phases {
		if p.Has(run) {
			return fmt.Sprintf("%d %s", run+1, clean(p.Name))
		}
	}
	return fmt.Sprint(run + 1)
}

// phaseColumns are the figures of a phase; one that no phase has is left out.
var phaseColumns = []struct {
	name  string
	left  bool
	value func(p compare.PhaseCost) (gc.Figure, string)
}{
	{"requests/sec", false, func(p compare.PhaseCost) (gc.Figure, string) { return p.RPS, unit.Number(float64(p.RPS)) }},
	{"CPUs", false, func(p compare.PhaseCost) (gc.Figure, string) { return p.CPU, fmt.Sprintf("%.2f", float64(p.CPU)) }},
	{"CPU/request", false, func(p compare.PhaseCost) (gc.Figure, string) {
		return p.PerRequest, unit.Nanoseconds(float64(p.PerRequest))
	}},
	{"cost", true, func(p compare.PhaseCost) (gc.Figure, string) {
		if p.Error != "" {
			return gc.Unknown(), ""
		}
		return p.Cost, unit.Change(float64(p.Cost)) + " CPU vs. bare"
	}},
}

func writePhases(w *lines, phases []compare.PhaseCost, s Style) {
	head := []cell{{text: "phase", left: true, paint: dim}, {text: "length", paint: dim}}
	rows := make([][]cell, len(phases))
	for i, p := range phases {
		rows[i] = []cell{{text: clean(p.Name), left: true}, {text: unit.Duration(p.Length.Round(time.Microsecond))}}
	}
	for _, c := range phaseColumns {
		if !slices.ContainsFunc(phases, func(p compare.PhaseCost) bool { f, _ := c.value(p); return f.Known() }) {
			continue
		}
		head = append(head, cell{text: c.name, left: c.left, paint: dim})
		for i, p := range phases {
			f, text := c.value(p)
			switch {
			case f.Known():
			case c.left:
				text = ""
			default:
				text = "–"
			}
			rows[i] = append(rows[i], cell{text: text, left: c.left})
		}
	}
	var g grid
	g.add(head...)
	for _, row := range rows {
		g.add(row...)
	}
	g.write(w, s, "  ")
	for _, p := range phases {
		if p.Error != "" {
			w.printf("  %s\n", s.paint(yellow, s.Wrap(clean(p.Name)+": "+clean(p.Error), 4)))
		}
	}
}

// WriteJSON prints any value as JSON with two blanks of indentation. Control
// characters that encoding/json leaves as they are, such as CSI, which a
// terminal obeys like ESC [, are escaped too.
func WriteJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	text := b.Bytes()
	obeyed := func(r rune) bool { return r >= 0x7f && terminal.Obeyed(r) }
	for {
		i := bytes.IndexFunc(text, obeyed)
		if i < 0 {
			_, err := w.Write(text)
			return err
		}
		// They occur within strings only.
		r, size := utf8.DecodeRune(text[i:])
		if _, err := fmt.Fprintf(w, "%s\\u%04x", text[:i], r); err != nil {
			return err
		}
		text = text[i+size:]
	}
}
