package report

import (
	"fmt"
	"io"

	"loupe/analysis/calltree"
	"loupe/analysis/pprof"
	"loupe/format/profile"
)

// The JSON of reports. Names are only ever added.
type (
	jsonNode struct {
		Name      string     `json:"name"`
		Function  string     `json:"function,omitempty"`
		File      string     `json:"file,omitempty"`
		Line      int        `json:"line,omitempty"`
		Address   string     `json:"address,omitempty"`
		Module    string     `json:"module,omitempty"`
		Flat      int64      `json:"flat"`
		Cum       int64      `json:"cum"`
		FlatShare float64    `json:"flat_share"`
		CumShare  float64    `json:"cum_share"`
		FlatCount int64      `json:"flat_samples"`
		CumCount  int64      `json:"cum_samples"`
		Inline    string     `json:"inline,omitempty"`
		Callers   []jsonEdge `json:"callers,omitempty"`
		Callees   []jsonEdge `json:"callees,omitempty"`
	}
	jsonEdge struct {
		Name     string `json:"name"`
		Weight   int64  `json:"weight"`
		Inline   bool   `json:"inline,omitempty"`
		Residual bool   `json:"residual,omitempty"`
	}
	jsonLine struct {
		Number int          `json:"line"`
		Flat   int64        `json:"flat"`
		Cum    int64        `json:"cum"`
		Text   string       `json:"text"`
		Why    []jsonReason `json:"why,omitempty"`
	}
	jsonRoutine struct {
		Func  string     `json:"function"`
		File  string     `json:"file"`
		Flat  int64      `json:"flat"`
		Cum   int64      `json:"cum"`
		Lines []jsonLine `json:"lines"`
		Error string     `json:"error,omitempty"`
	}
)

// WriteProfileJSON prints a report as JSON: the graph of top, tree, peek and the
// pictures, the lines of list, the instructions of disasm, the samples of
// traces and raw, the labels of tags.
func WriteProfileJSON(w io.Writer, r *pprof.Report) error {
	head := map[string]any{
		"type": r.Type, "unit": r.Unit, "total": r.Total, "filters": r.Filters(),
	}
	with := func(schema string, more map[string]any) error {
		head["schema"] = "loupe." + schema
		for key, value := range more {
			head[key] = value
		}
		return WriteJSON(w, head)
	}
	switch r.Command.Name {
	case "list", "weblist":
		l, err := r.Listing()
		if err != nil {
			return err
		}
		return with("list/1", map[string]any{"routines": jsonRoutines(l)})
	case "disasm":
		routines, err := r.Disassembly()
		if err != nil {
			return err
		}
		return with("disasm/1", map[string]any{"routines": jsonAssembly(routines)})
	case "tags":
		return with("tags/1", map[string]any{"tags": r.Tags()})
	case "comments":
		return with("comments/1", map[string]any{"comments": r.Profile.Comments})
	case "traces", "raw", "proto":
		return with("samples/1", map[string]any{"samples": jsonSamples(r)})
	}
	g := r.Graph()
	edges := r.Command.Name != "top" && r.Command.Name != "text" && r.Command.Name != "topproto"
	rows := []jsonNode{}
	for _, n := range g.Nodes {
		if r.Matches(n.Place.String()) {
			rows = append(rows, jsonNodeOf(n, r, edges))
		}
	}
	if r.Command.Param && len(rows) == 0 {
		return fmt.Errorf("no matches found for regexp: %s", r.Param())
	}
	return with("top/1", map[string]any{"samples": g.Samples, "rows": rows, "dropped": g.DroppedNodes, "ranked": g.Ranked})
}

func jsonNodeOf(n *calltree.Node, r *pprof.Report, edges bool) jsonNode {
	share := func(v int64) float64 {
		if r.Total == 0 {
			return 0
		}
		return float64(v) / float64(r.Total)
	}
	out := jsonNode{
		Name: n.Place.String(), Function: n.Func, File: n.File, Line: n.Line, Module: n.Module,
		Flat: n.FlatValue(), Cum: n.CumValue(), FlatShare: share(n.FlatValue()), CumShare: share(n.CumValue()),
		FlatCount: n.FlatSamples, CumCount: n.CumSamples, Inline: n.Inlining().String(),
	}
	if out.File == "" {
		out.File = r.Profile.Stacks.Frame(n.Frame).File
	}
	if n.Address != 0 {
		out.Address = fmt.Sprintf("%#x", n.Address)
	}
	if edges {
		for _, e := range n.In {
			out.Callers = append(out.Callers, jsonEdge{e.From.Place.String(), e.Value(), e.Inline, e.Residual})
		}
		for _, e := range n.Out {
			out.Callees = append(out.Callees, jsonEdge{e.To.Place.String(), e.Value(), e.Inline, e.Residual})
		}
	}
	return out
}

func jsonRoutines(l *calltree.Listing) (out []jsonRoutine) {
	for _, r := range l.Routines {
		x := jsonRoutine{Func: r.Func, File: r.File, Flat: r.Flat, Cum: r.Cum}
		for _, n := range r.Lines {
			x.Lines = append(x.Lines, jsonLine{Number: n.Number, Flat: n.Flat, Cum: n.Cum, Text: n.Text})
		}
		if r.Err != nil {
			x.Error = r.Err.Error()
		}
		out = append(out, x)
	}
	return out
}

func jsonAssembly(routines []pprof.Routine) any {
	type instruction struct {
		PC   string `json:"pc"`
		Text string `json:"text"`
		Func string `json:"function,omitempty"`
		File string `json:"file,omitempty"`
		Line int    `json:"line,omitempty"`
		Flat int64  `json:"flat"`
		Cum  int64  `json:"cum"`
	}
	type routine struct {
		Names []string      `json:"symbols"`
		Flat  int64         `json:"flat"`
		Cum   int64         `json:"cum"`
		Code  []instruction `json:"code"`
	}
	var out []routine
	for _, r := range routines {
		x := routine{Names: r.Names, Flat: r.Flat, Cum: r.Cum}
		for i := range r.Code {
			in := &r.Code[i]
			x.Code = append(x.Code, instruction{fmt.Sprintf("%#x", in.PC), in.Text, in.Func, in.File, in.Line, in.FlatValue(), in.CumValue()})
		}
		out = append(out, x)
	}
	return out
}

func jsonSamples(r *pprof.Report) any {
	type frame struct {
		Func   string `json:"function"`
		File   string `json:"file,omitempty"`
		Line   int    `json:"line,omitempty"`
		Inline bool   `json:"inline,omitempty"`
	}
	type sample struct {
		Values []int64        `json:"values"`
		Labels map[string]any `json:"labels,omitempty"`
		Stack  []frame        `json:"stack"`
	}
	p := r.Profile
	out := make([]sample, p.Len())
	for row, id := range p.StackIDs {
		s := &out[row]
		for _, column := range p.Values {
			s.Values = append(s.Values, column[row])
		}
		s.Labels = jsonLabels(p.Labels(p.SetOf(row)))
		for _, f := range p.Stacks.Frames(id) {
			x := p.Stacks.Frame(f)
			s.Stack = append(s.Stack, frame{x.Func, x.File, x.Line, x.Inlined})
		}
	}
	return out
}

func jsonLabels(labels []profile.Label) map[string]any {
	if len(labels) == 0 {
		return nil
	}
	out := map[string]any{}
	for _, l := range labels {
		if l.Numeric {
			out[l.Key] = l.Num
		} else {
			out[l.Key] = l.Str
		}
	}
	return out
}
