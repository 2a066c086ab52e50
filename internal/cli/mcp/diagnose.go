package mcp

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"loupe/insight"
	"loupe/internal/cli/door"
	"loupe/internal/cli/examine"
	"loupe/value/unit"
)

// Folder asks what is in one.
type Folder struct {
	Paged
	Path string `json:"path" jsonschema:"a folder"`
}

func (f *Folder) files() []*string { return []*string{&f.Path} }

// File asks about one file or recording.
type File struct {
	Paged
	Path string `json:"path" jsonschema:"a recording (folder or .zip), profile, trace, dump, runtime log or benchmark output; RECORDING/ENTRY names a file in one"`
}

func (f *File) files() []*string { return []*string{&f.Path} }

// examined opens a recording or a file and lets the rules look.
func (s *server) examined(name string) (*examine.Examined, error) {
	inputs, err := door.Take(s.e, door.New(s.e, "", nil), name)
	if err != nil {
		return nil, err
	}
	if err := door.Readable(inputs); err != nil {
		return nil, err
	}
	all := examine.Subjects(inputs)
	if len(all) != 1 {
		return nil, fmt.Errorf("%s holds %d things to look at: name one of them", name, len(all))
	}
	return all[0].Examine()
}

// diagnose says what is wrong, by cause.
func (s *server) diagnose(_ context.Context, in *File) (*answer, error) {
	x, err := s.examined(in.Path)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	r := x.Report
	m := r.Manifest
	a := &answer{view: "overview", open: words("open", in.Path)}
	a.says = fmt.Sprintf("Causes: %d, those first that are worth most. explain with an id shows the evidence of one.", len(r.Cards))
	judged := insight.Judge(m, r.Findings)
	headline := ""
	if len(r.Found()) == 0 {
		headline = judged.Headline()
	}
	var phases []string
	for _, p := range m.Phases {
		phases = append(phases, p.Name)
	}
	program := strings.TrimSpace(strings.Join(append([]string{m.Target.Kind, m.Target.Name}, m.Target.Args...), " "))
	a.facts("about", "title", m.Title, "program", program, "go", m.Target.Go, "phases", strings.Join(phases, ", "), "result", headline,
		"rules that could judge", fmt.Sprintf("%d of %d", judged.Could, judged.Could+judged.Unknown+judged.Without), "recording this would let more of them judge", strings.Join(judged.Record, "; "))
	a.list("incomplete", r.Incomplete)
	causes := table{name: "causes", columns: []string{"id", "severity", "title", "summary", "place", "accounts for", "advice", "related"}}
	for _, c := range r.Cards {
		f := &r.Findings[c.Finding]
		var related []string
		for _, i := range c.Symptoms {
			related = append(related, idOf(&r.Findings[i], r.Findings))
		}
		causes.rows = append(causes.rows, []any{idOf(f, r.Findings), string(f.Severity), f.Title, f.Summary, placeOf(f), gainOf(c.Gain), f.Advice, strings.Join(related, ", ")})
	}
	a.add(causes)
	doubts := table{name: "doubts about the measurement, and what else may be tried", columns: []string{"id", "title", "summary"}}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.State == insight.Found && (insight.AboutMeasurement(f.Rule) || insight.IsAside(f.Rule)) {
			doubts.rows = append(doubts.rows, []any{idOf(f, r.Findings), f.Title, f.Summary})
		}
	}
	a.add(doubts)
	a.list("notes", m.Notes)
	return a, nil
}

// idOf is the id of a finding: its rule and, where it has one, its place, as loupe prove takes
// it. Another recording of the same program gives the same id.
func idOf(f *insight.Finding, among []insight.Finding) string {
	for _, e := range f.Evidence {
		if e.File == "" {
			continue
		}
		file := strings.ReplaceAll(e.File, "\\", "/")
		id := fmt.Sprintf("%s@%s:%d", f.Rule, path.Base(file), e.Line)
		if len(insight.Named(id, among)) > 1 {
			id = fmt.Sprintf("%s@%s:%d", f.Rule, file, e.Line)
		}
		return id
	}
	for _, e := range f.Evidence {
		if e.Function != "" {
			return f.Rule + "@" + e.Function
		}
	}
	return f.Rule
}

// placeOf is the first line at which a finding can be seen.
func placeOf(f *insight.Finding) string {
	for _, e := range f.Evidence {
		if e.File != "" {
			return strings.TrimSpace(fmt.Sprintf("%s:%d %s", shortFile(&e), e.Line, e.Function))
		}
	}
	return ""
}

func shortFile(e *insight.Evidence) string {
	if e.Short != "" {
		return e.Short
	}
	return e.File
}

// gainOf says what is to be had where a cause is gone.
func gainOf(g *insight.Gain) string {
	if g == nil {
		return ""
	}
	text := fmt.Sprintf("%s of %s (%s to %s)", unit.Percent(g.Share), g.Of, unit.Percent(g.Low), unit.Percent(g.High))
	if g.More {
		text += "; " + g.Beyond
	}
	return text
}

// Explain asks for a finding, or for a rule.
type Explain struct {
	Paged
	ID   string `json:"id" jsonschema:"the id of a finding, such as AL08@rss.go:143, or a rule alone, such as AL08"`
	Path string `json:"path,omitempty" jsonschema:"the recording or file in which it was found; without it the rule alone is explained"`
}

func (x *Explain) files() []*string { return []*string{&x.Path} }

// explain shows a rule, and all that is known of what it has found.
func (s *server) explain(_ context.Context, in *Explain) (*answer, error) {
	rule, _, _ := strings.Cut(in.ID, "@")
	i := slices.IndexFunc(insight.Rules(), func(r *insight.Rule) bool { return strings.EqualFold(r.ID, rule) })
	if i < 0 {
		return nil, fmt.Errorf("there is no rule %q (diagnose gives ids)", rule)
	}
	r := insight.Rules()[i]
	a := &answer{says: r.ID + " " + r.Title + ". " + r.About, view: "overview", open: words("rules", r.ID)}
	if in.Path != "" {
		if err := s.explainFound(a, r, in); err != nil {
			return nil, err
		}
	}
	params := table{name: "thresholds of the rule", columns: []string{"name", "value", "unit", "source"}}
	for _, p := range r.Params {
		params.rows = append(params.rows, []any{p.Name, p.Value, p.Unit, p.Source})
	}
	a.add(params)
	return a, nil
}

// explainFound adds what a rule has said of a file.
func (s *server) explainFound(a *answer, r *insight.Rule, in *Explain) error {
	x, err := s.examined(in.Path)
	if err != nil {
		return err
	}
	defer x.Close()
	a.open = words("report", "-v", in.Path)
	found := insight.Named(in.ID, x.Report.Findings)
	if len(found) == 0 {
		if some := insight.Named(r.ID, x.Report.Findings); len(some) > 0 {
			var ids []string
			for _, f := range some {
				ids = append(ids, idOf(f, x.Report.Findings))
			}
			return fmt.Errorf("%s is not found there; there is %s", in.ID, strings.Join(ids, ", "))
		}
		said := table{name: "answer", columns: []string{"state", "summary"}}
		for _, f := range x.Report.Findings {
			if f.Rule == r.ID {
				said.rows = append(said.rows, []any{strings.ReplaceAll(string(f.State), "_", " "), f.Summary})
			}
		}
		a.add(said)
		return nil
	}
	for _, f := range found {
		impact := ""
		if i := f.Impact; i != nil {
			impact = impactOf(i)
		}
		a.facts("finding "+f.Rule, "id", idOf(f, x.Report.Findings), "severity", string(f.Severity), "summary", f.Summary, "impact", impact, "advice", f.Advice, "verify", f.Verify, "prove", f.Prove)
		a.list("doubts", f.Doubts)
		seen := table{name: "evidence", columns: []string{"text", "place", "function", "source", "entry", "stack, leaf first"}}
		for _, e := range f.Evidence {
			place := ""
			if e.File != "" {
				place = fmt.Sprintf("%s:%d", shortFile(&e), e.Line)
			}
			var stack []string
			for _, frame := range e.Stack[:min(len(e.Stack), maxInline)] {
				stack = append(stack, strings.TrimSpace(fmt.Sprintf("%s %s:%d", frame.Function, path.Base(frame.File), frame.Line)))
			}
			seen.rows = append(seen.rows, []any{e.Text, place, e.Function, strings.TrimSpace(e.Source), e.Path, strings.Join(stack, " ← ")})
		}
		a.add(seen)
	}
	return nil
}

// impactOf is a measured value with its interval.
func impactOf(i *insight.Impact) string {
	number := unit.Number
	of := i.Unit
	switch {
	case strings.HasPrefix(i.Unit, "share"):
		number = unit.Percent
		of = strings.TrimPrefix(i.Unit, "share ")
	case i.Unit == "ns":
		number, of = unit.Nanoseconds, ""
	}
	text := strings.TrimSpace(number(i.Value) + " " + of)
	if i.Low != i.High {
		text += fmt.Sprintf(" (%s to %s)", number(i.Low), number(i.High))
	}
	return text
}
