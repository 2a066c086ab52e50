package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// actor has the tools that run programs.
type actor struct{ *server }

// offerActs lists them.
func offerActs(in *server, m *sdk.Server) {
	s := actor{in}
	add(in, m, tool{name: "record", acts: true, about: "Runs a Go program and records it; returns the diagnosis. Writes a recording below the current folder."}, s.record)
	add(in, m, tool{name: "prove", acts: true, about: "Has a change fixed a finding? Runs both versions in rounds and answers yes, no or undecided."}, s.prove)
}

// Record asks for a program to be recorded.
type Record struct {
	Paged
	Target      string   `json:"target" jsonschema:"a Go package such as ./cmd/server, or an executable"`
	Args        []string `json:"args,omitempty" jsonschema:"the program's arguments"`
	Load        string   `json:"load,omitempty" jsonschema:"a URL of the program to put load on"`
	Requests    int      `json:"requests,omitempty" jsonschema:"how many requests the load has"`
	Connections int      `json:"connections,omitempty" jsonschema:"over how many connections; default 50"`
	Rounds      int      `json:"rounds,omitempty" jsonschema:"how often the bare phase is repeated; a later comparison has verdicts from five on"`
	Phases      string   `json:"phases,omitempty" jsonschema:"what to capture, such as bare,cpu:5s,allocs,trace"`
	For         string   `json:"for,omitempty" jsonschema:"length of the bare phase, such as 10s"`
	Out         string   `json:"out,omitempty" jsonschema:"where the recording goes; it must not exist yet"`
}

func (r *Record) files() []*string { return nil }

// record runs loupe run.
func (s actor) record(ctx context.Context, in *Record) (*answer, error) {
	if in.Target == "" || strings.HasPrefix(in.Target, "-") {
		return nil, errors.New("target: want a package or an executable")
	}
	args := []string{"run", "-json", "-quiet"}
	for _, flag := range [][2]string{{"load", in.Load}, {"phases", in.Phases}, {"for", in.For}, {"o", in.Out}} {
		if flag[1] != "" {
			args = append(args, "-"+flag[0]+"="+flag[1])
		}
	}
	for _, flag := range []struct {
		name  string
		value int
	}{{"n", in.Requests}, {"c", in.Connections}, {"rounds", in.Rounds}} {
		if flag.value > 0 {
			args = append(args, "-"+flag.name+"="+count(flag.value))
		}
	}
	args = append(append(args, in.Target), in.Args...)
	o, notes, err := s.asked(ctx, args...)
	if err != nil {
		return nil, err
	}
	path := o.text("path")
	if path == "" {
		return nil, fmt.Errorf("the recording has no name: %s", strings.Join(notes, "\n"))
	}
	a, err := s.diagnose(ctx, &File{Path: path})
	if err != nil {
		return nil, err
	}
	where := table{name: "recording", columns: []string{"path"}, rows: [][]any{{path}}}
	a.tables = slices.Insert(a.tables, 0, where)
	a.list("messages", notes)
	return a, nil
}

// figureOf is a row of a comparison: its two values in their unit, and the change.
func (o *object) figureOf(path string) (cells []any, change *object) {
	sides, changes := o.list(path+".cells"), o.list(path+".changes")
	if len(sides) < 2 || len(changes) < 1 {
		return nil, nil
	}
	return []any{unitOf(o.text(path+".unit"), sides[0].at("median")), unitOf(o.text(path+".unit"), sides[1].at("median"))}, changes[0]
}

// unitOf is a figure of a comparison in its unit.
func unitOf(of string, v any) any {
	switch of {
	case "ns":
		return cell("x_ns", v)
	case "bytes", "B":
		return cell("x_bytes", v)
	}
	return cell("x", v)
}

// Prove asks whether a finding is fixed.
type Prove struct {
	Paged
	Finding   string `json:"finding" jsonschema:"the id of a finding, as diagnose gives it"`
	Recording string `json:"recording" jsonschema:"the recording in which it was found"`
	Rounds    int    `json:"rounds,omitempty" jsonschema:"rounds of each side; default: until it is decided"`
	Budget    string `json:"budget,omitempty" jsonschema:"how long at most, such as 2m (the default)"`
	Vs        string `json:"vs,omitempty" jsonschema:"what before is: a revision, a folder or a binary; default: the recorded revision"`
	With      string `json:"with,omitempty" jsonschema:"what after is; default: the working tree"`
	Out       string `json:"out,omitempty" jsonschema:"where the recordings go; it must not exist yet"`
}

func (p *Prove) files() []*string { return []*string{&p.Recording} }

// prove runs loupe prove.
func (s actor) prove(ctx context.Context, in *Prove) (*answer, error) {
	args := []string{"prove", "-json", "-quiet"}
	budget := in.Budget
	if budget == "" && in.Rounds == 0 {
		budget = "2m"
	}
	for _, flag := range [][2]string{{"budget", budget}, {"vs", in.Vs}, {"with", in.With}, {"o", in.Out}} {
		if flag[1] != "" {
			args = append(args, "-"+flag[0]+"="+flag[1])
		}
	}
	if in.Rounds > 0 {
		args = append(args, "-rounds="+count(in.Rounds))
	}
	args = append(args, "--", in.Finding, in.Recording)
	o, notes, err := s.asked(ctx, args...)
	if err != nil {
		return nil, err
	}
	a := &answer{says: "Has the change fixed the finding? The answer is yes, no or undecided."}
	a.facts("answer", "answer", o.text("answer"), "because", o.text("because"), "says", o.text("says"),
		"finding", o.text("finding.summary"), "still found", o.text("found_after.summary"))
	t := table{name: "figure", columns: []string{"figure", "before", "after", "change", "low", "high", "verdict"}}
	if cells, changes := o.figureOf("figure"); cells != nil {
		t.rows = append(t.rows, []any{o.text("figure.name"), cells[0], cells[1], times(changes.at("ratio")), times(changes.at("low")), times(changes.at("high")), changes.text("verdict")})
	}
	a.add(t)
	a.whole(o, "schema", "rounds", "table", "answer", "because", "says", "finding", "figure", "found_before", "found_after")
	a.list("messages", notes)
	return a, nil
}
