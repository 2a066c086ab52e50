package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"loupe/compare"
	"loupe/insight"
	"loupe/recording"
	"loupe/unit"
)

// Schema names the version of the JSON form of a Recording.
const Schema = "loupe.report/1"

// Recording is what is printed of one recording.
type Recording struct {
	Schema   string              `json:"schema"`
	Path     string              `json:"path"`
	Manifest *recording.Manifest `json:"manifest"`
	Findings []insight.Finding   `json:"findings"`
	// Figures is a table of one column.
	Figures *compare.Table      `json:"figures"`
	Phases  []compare.PhaseCost `json:"phases"`
}

// WriteRecording prints a recording for people: findings first, then what
// happened.
func WriteRecording(out io.Writer, r *Recording, s Style) error {
	w := &lines{w: out}
	writeHead(w, r, s)
	w.printf("\n%s\n\n", s.paint(bold, "Findings"))
	writeFindings(w, r.Findings, s)
	w.printf("\n%s\n\n", s.paint(bold, "What happened"))
	writeTable(w, r.Figures, s)
	writeRuns(w, r.Manifest, s)
	w.printf("\n%s\n\n", s.paint(bold, "Phases"))
	writePhases(w, r.Phases, s)
	for _, n := range r.Manifest.Notes {
		w.printf("\n  %s\n", s.paint(yellow, wrap("Note: "+clean(n), s.width()-2, "  ")))
	}
	return w.err
}

func writeHead(w *lines, r *Recording, s Style) {
	m := r.Manifest
	w.printf("%s\n", s.paint(bold, clean(m.Title)))
	w.printf("%s\n", s.paint(dim, wrap(clean(strings.Join(headFacts(m), ", ")), s.width(), "")))
	if !m.Complete {
		w.printf("%s\n", s.paint(yellow, "The recording was cut off, or is still being written: what is here is good, the end is missing."))
	}
}

func headFacts(m *recording.Manifest) []string {
	facts := []string{m.Start.Local().Format("2006-01-02 15:04:05"), strings.TrimSpace(m.Target.Kind + " " + strings.Join(append([]string{m.Target.Name}, m.Target.Args...), " "))}
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
		cell{text: "system", paint: dim}, cell{text: "peak memory", paint: dim}, cell{text: "end", left: true, paint: dim})
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
		g.add(cell{text: fmt.Sprintf("%d", i+1), left: true}, cell{text: unit.Duration(run.Span.Len())}, cell{text: unit.Duration(run.User)},
			cell{text: unit.Duration(run.System)}, cell{text: unit.BytesOf(float64(run.MaxRSS))}, cell{text: clean(end), left: true})
	}
	if shown > 0 {
		w.printf("\n")
		g.write(w, s, "  ")
	}
}

func writePhases(w *lines, phases []compare.PhaseCost, s Style) {
	var g grid
	g.add(cell{text: "phase", left: true, paint: dim}, cell{text: "length", paint: dim}, cell{text: "requests/sec", paint: dim},
		cell{text: "CPUs", paint: dim}, cell{text: "CPU/request", paint: dim}, cell{text: "cost", left: true, paint: dim})
	for _, p := range phases {
		row := []cell{{text: clean(p.Name), left: true}, {text: unit.Duration(p.Length.Round(time.Microsecond))}}
		for _, f := range []struct {
			known bool
			text  string
		}{
			{p.RPS.Known(), unit.Number(float64(p.RPS))},
			{p.CPU.Known(), fmt.Sprintf("%.2f", float64(p.CPU))},
			{p.PerRequest.Known(), unit.Nanoseconds(float64(p.PerRequest))},
		} {
			text := "–"
			if f.known {
				text = f.text
			}
			row = append(row, cell{text: text})
		}
		cost := ""
		if p.Cost.Known() {
			cost = unit.Change(float64(p.Cost)) + " CPU against bare"
		}
		if p.Error != "" {
			cost = clean(p.Error)
		}
		g.add(append(row, cell{text: cost, left: true})...)
	}
	g.write(w, s, "  ")
}

// WriteJSON prints any value as JSON with two blanks of indentation.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
