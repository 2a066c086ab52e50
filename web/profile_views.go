package web

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"loupe/analysis/calltree"
	"loupe/analysis/compare"
	"loupe/analysis/pprof"
	"loupe/analysis/why"
	"loupe/format/profile"
	"loupe/report"
	"loupe/value/unit"
)

// ranking is the functions of a profile.
type ranking struct {
	weightsShown
	Table *table `json:"table"`
	// Classes has a digit for each row, see flame.Classes.
	Classes string `json:"classes"`
	// Names are what flame graphs call the functions of the rows.
	Names []string `json:"names"`
}

// maxRows is how many functions a table has at most.
const maxRows = 10_000

// everything cuts nothing off.
func everything(c *pprof.Config) { c.NodeCount, c.NodeFraction, c.EdgeFraction = 0, 0, 0 }

// profileTop answers with all functions, as loupe pprof -top ranks them.
func profileTop(ctx context.Context, s *Server, q *query) (*ranking, error) {
	r, err := s.report(ctx, q, everything, "top")
	if err != nil {
		return nil, err
	}
	sheet := report.ProfileTable(r.Report, true)
	out := &ranking{weightsShown: r.about()}
	if more := len(sheet.Rows) - maxRows; more > 0 {
		sheet.Rows = sheet.Rows[:maxRows]
		sheet.Notes = append(sheet.Notes, unit.Count(int64(more))+" more functions are not listed: the file of the view has them all.")
	}
	sheet.Title = ""
	if r.timed {
		countTimes(r, sheet)
	}
	at := slices.IndexFunc(sheet.Columns, func(c report.Column) bool { return c.Key == "function" })
	kind := slices.IndexFunc(sheet.Columns, func(c report.Column) bool { return c.Key == "kind" })
	var classes strings.Builder
	for _, row := range sheet.Rows {
		name := row[at].(string)
		classes.WriteByte('0' + byte(classOf(r.scope, name)))
		out.Names = append(out.Names, clean(name))
		row[at] = clean(name)
		if strings.HasPrefix(name, "[") && kind >= 0 {
			row[kind] = "waiting"
		}
	}
	out.Classes = classes.String()
	out.Table = tableOf(sheet)
	return out, nil
}

// countTimes says of the rows of what a trace tells how often goroutines were
// there: all of it was seen, and nothing estimated.
func countTimes(r *shown, sheet *report.Sheet) {
	g := calltree.New(r.Profile.Stacks, calltree.Plain(r.weights(false)), calltree.Options{NoEdges: true, NoInlines: r.Config.NoInlines, Counts: calltree.Samples(r.Profile.Samples(0))})
	times := map[string]int64{}
	for _, n := range g.Nodes {
		times[n.Func] += n.CumSamples
	}
	nodes := r.Graph().Nodes
	at := slices.IndexFunc(sheet.Columns, func(c report.Column) bool { return c.Key == "samples" })
	sheet.Columns[at] = report.Column{Key: "times", Head: "times"}
	for i, row := range sheet.Rows {
		row[at] = times[nodes[i].Func]
	}
	for i := len(sheet.Columns) - 1; i >= 0; i-- {
		if key := sheet.Columns[i].Key; key == "flat_low" || key == "flat_high" {
			sheet.Columns = slices.Delete(sheet.Columns, i, i+1)
			for n := range sheet.Rows {
				sheet.Rows[n] = slices.Delete(sheet.Rows[n], i, i+1)
			}
		}
	}
	sheet.Notes = []string{"All of it is in the trace; nothing is estimated."}
}

// profileCompare answers with what differs, as loupe pprof -compare prints it.
func profileCompare(ctx context.Context, s *Server, q *query) (*facts, error) {
	r, err := s.report(ctx, q, everything, "top")
	if err != nil {
		return nil, err
	}
	if !r.diff {
		return nil, nothing("Nothing was chosen to compare with.")
	}
	by, err := compare.ParseGrouping(q.Get("by"))
	if err != nil {
		return nil, err
	}
	d, err := compare.Profiles([]*profile.Profile{r.a}, []*profile.Profile{r.b}, compare.ProfileOptions{
		SampleIndex: r.Type, FoldGenerics: true, By: by, Cum: q.Get("cum") != "", Normalize: q.Get("norm") != "",
	})
	if err != nil {
		return nil, nothing("%v", err)
	}
	f := factsOf(report.ProfileComparison(d, report.ProfileView{A: "before", B: "after", Meaning: pprof.Meaning(r.b, r.Index())}))
	f.Facts = slices.DeleteFunc(f.Facts, func(x fact) bool { return x.Head == "" }) // those are for programs
	return f, nil
}

// peeked is a function between its callers and its callees.
type peeked struct {
	weightsShown
	Nodes []peekedNode `json:"nodes"`
}

type peekedNode struct {
	Name  string `json:"name"`
	Class int    `json:"class"`
	Flat  amount `json:"flat"`
	Cum   amount `json:"cum"`
	// Callers and Callees, the heaviest first; shares are of the function's
	// own weight with all that it calls.
	Callers []peekedEdge `json:"callers"`
	Callees []peekedEdge `json:"callees"`
}

type peekedEdge struct {
	Name   string  `json:"name"`
	Class  int     `json:"class"`
	Weight amount  `json:"weight"`
	Share  float64 `json:"share"`
	Inline bool    `json:"inline"`
}

// amount is a number and how it is shown.
type amount struct {
	Value int64  `json:"value"`
	Shown string `json:"shown"`
}

func (r *shown) amount(v int64) amount { return amount{v, weightText(v, r.Unit)} }

// profilePeek answers with who calls function f and what it calls, as loupe
// pprof -peek counts it.
func profilePeek(ctx context.Context, s *Server, q *query) (*peeked, error) {
	f := q.Get("f")
	if f == "" {
		return nil, nothing("Choose a function: in the flame graph, in the table, or by its name.")
	}
	r, err := s.report(ctx, q, func(c *pprof.Config) { everything(c); c.FoldGenerics = true }, "peek", exactly(f))
	if err != nil {
		return nil, err
	}
	out := &peeked{weightsShown: r.about(), Nodes: []peekedNode{}}
	for _, n := range r.Graph().Nodes {
		if !r.Matches(n.Func) && clean(nameOfNode(n)) != f {
			continue
		}
		x := peekedNode{
			Name: clean(nameOfNode(n)), Class: classOf(r.scope, n.Func), Flat: r.amount(n.FlatValue()), Cum: r.amount(n.CumValue()),
			Callers: []peekedEdge{}, Callees: []peekedEdge{},
		}
		edge := func(e *calltree.Edge, other *calltree.Node) peekedEdge {
			w := peekedEdge{Name: clean(nameOfNode(other)), Class: classOf(r.scope, other.Func), Weight: r.amount(e.Value()), Inline: e.Inline}
			if v := n.CumValue(); v != 0 {
				w.Share = float64(e.Value()) / float64(v)
			}
			return w
		}
		for _, e := range n.In {
			x.Callers = append(x.Callers, edge(e, e.From))
		}
		for _, e := range n.Out {
			x.Callees = append(x.Callees, edge(e, e.To))
		}
		out.Nodes = append(out.Nodes, x)
	}
	if len(out.Nodes) == 0 {
		return nil, nothing("%s is not in what is shown.", clean(f))
	}
	return out, nil
}

func nameOfNode(n *calltree.Node) string { return cmp.Or(n.Func, n.Place.String()) }

// graphShown is a call graph in place.
type graphShown struct {
	weightsShown
	Drawing *report.Drawing `json:"drawing"`
	Classes string          `json:"classes"`
}

// profileGraph lays the call graph out: n is how many functions it has at
// most.
func profileGraph(ctx context.Context, s *Server, q *query) (*graphShown, error) {
	n, err := q.number("n", 60)
	if err != nil {
		return nil, err
	}
	// The number is not part of what reports are remembered by.
	r, err := s.report(ctx, q, func(c *pprof.Config) { c.FoldGenerics = true }, "svg")
	if err != nil {
		return nil, err
	}
	sized := *r.Report
	sized.Config.NodeCount = int(min(max(n, 5), 400))
	d := report.DrawCallGraph(&report.CallGraph{Graph: sized.CallGraph(), Header: sized.Header()})
	out := &graphShown{weightsShown: r.about(), Drawing: d}
	for i := range d.Boxes {
		d.Boxes[i].Function = clean(d.Boxes[i].Function)
		out.Classes += string(rune('0' + classOf(r.scope, d.Boxes[i].Function)))
	}
	return out, nil
}

// sourceShown is the source of a function with the weight of each line.
type sourceShown struct {
	weightsShown
	Routines []sourceRoutine `json:"routines"`
}

type sourceRoutine struct {
	Name string       `json:"name"`
	File string       `json:"file"`
	Flat amount       `json:"flat"`
	Cum  amount       `json:"cum"`
	Line []sourceLine `json:"lines"`
	// Error says why there is no text.
	Error string `json:"error,omitempty"`
}

type sourceLine struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
	Flat   amount `json:"flat"`
	Cum    amount `json:"cum"`
	// Why are the reasons for which the line allocates.
	Why  []sourceWhy  `json:"why,omitempty"`
	Code []sourceCode `json:"code,omitempty"`
}

type sourceWhy struct {
	Shown     string   `json:"shown"`
	Certainty string   `json:"certainty"`
	Reasons   []string `json:"reasons"`
}

// sourceCode is one instruction.
type sourceCode struct {
	Address string `json:"address"`
	Text    string `json:"text"`
	Flat    amount `json:"flat"`
	Cum     amount `json:"cum"`
	// Inlined is the function and line that it was inlined from.
	Inlined string `json:"inlined,omitempty"`
}

// profileSource answers with the source of function f, with instructions where
// the binary is at hand.
func profileSource(ctx context.Context, s *Server, q *query) (*sourceShown, error) {
	f := q.Get("f")
	if f == "" {
		return nil, nothing("Choose a function: in the flame graph, in the table, or by its name.")
	}
	r, err := s.report(ctx, q, nil, "weblist", exactly(f))
	if err != nil {
		return nil, err
	}
	listing, err := r.Listing()
	if err != nil {
		return nil, nothing("%s has no lines in what is shown.", clean(f))
	}
	out := &sourceShown{weightsShown: r.about(), Routines: []sourceRoutine{}}
	routines, err := r.Disassembly()
	switch {
	case err != nil && strings.Contains(err.Error(), "no matches found"):
		out.Notes = append(out.Notes, "Source without instructions: the binary is not on this machine, or has the function only where it was inlined.")
	case err != nil:
		out.Notes = append(out.Notes, "Source without instructions: "+err.Error())
	}
	var reasons *why.Report
	if r.explain != nil {
		reasons = r.explain()
	}
	for _, x := range listing.Routines {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		one := sourceRoutine{Name: clean(x.Func), File: clean(x.File), Flat: r.amount(x.Flat), Cum: r.amount(x.Cum), Line: []sourceLine{}}
		if x.Err != nil {
			one.Error = x.Err.Error()
		}
		code := codeByLine(r, &x, routines)
		for _, l := range x.Lines {
			line := sourceLine{Number: l.Number, Text: clean(strings.ReplaceAll(l.Text, "\t", "    ")), Flat: r.amount(l.Flat), Cum: r.amount(l.Cum), Code: code[l.Number]}
			if reasons != nil {
				for _, site := range reasons.Line(x.File, l.Number) {
					line.Why = append(line.Why, r.whyOf(site))
				}
			}
			one.Line = append(one.Line, line)
		}
		out.Routines = append(out.Routines, one)
	}
	return out, nil
}

// whyOf says why a place allocates, and how sure that is.
func (r *shown) whyOf(site *why.Site) sourceWhy {
	w := sourceWhy{Shown: weightText(site.Weight, r.Unit), Certainty: site.Certainty.String(), Reasons: []string{}}
	switch n := len(site.Sizes); {
	case n == 1:
		w.Shown += ", " + unit.BytesOf(float64(site.Sizes[0])) + " each"
	case n > 1:
		w.Shown += fmt.Sprintf(", %s to %s each", unit.BytesOf(float64(site.Sizes[0])), unit.BytesOf(float64(site.Sizes[n-1])))
	}
	switch {
	case site.Stale:
		w.Reasons = append(w.Reasons, "the source has changed since the program was built; nothing can be said")
	case site.Certainty == why.Unexplained:
		w.Reasons = append(w.Reasons, "neither the compiler nor the source gives a reason")
	}
	for _, c := range site.Causes {
		w.Reasons = append(w.Reasons, clean(c.Reason))
	}
	return w
}

// codeByLine are the instructions with a weight of a function, by line of its
// own: what was inlined counts for the line of the call, as far as that is
// known from the instruction before.
func codeByLine(r *shown, x *calltree.Routine, routines []pprof.Routine) map[int][]sourceCode {
	lines := map[int][]sourceCode{}
	for i := range routines {
		if !slices.Contains(routines[i].Names, x.Func) {
			continue
		}
		last := 0
		for k := range routines[i].Code {
			in := &routines[i].Code[k]
			c := sourceCode{Address: fmt.Sprintf("%#x", in.PC), Text: clean(in.Text), Flat: r.amount(in.FlatValue()), Cum: r.amount(in.CumValue())}
			if len(in.Inlined) == 0 && path.Base(in.File) == path.Base(x.File) {
				last = in.Line
			} else if in.Line > 0 {
				c.Inlined = clean(fmt.Sprintf("%s:%d", path.Base(in.File), in.Line))
			}
			lines[last] = append(lines[last], c)
		}
	}
	return lines
}

// labelsShown are the labels of the samples.
type labelsShown struct {
	weightsShown
	Keys []labelKey `json:"keys"`
}

type labelKey struct {
	Key    string       `json:"key"`
	Total  amount       `json:"total"`
	Values []labelValue `json:"values"`
	More   int          `json:"more"` // values that are not listed
}

type labelValue struct {
	Value  string  `json:"value"`
	Weight amount  `json:"weight"`
	Share  float64 `json:"share"` // of the whole
	// Filter is what tagfocus takes for it.
	Filter string `json:"filter"`
}

const maxLabels = 500

// profileLabels answers with the labels and their weights.
func profileLabels(ctx context.Context, s *Server, q *query) (*labelsShown, error) {
	r, err := s.report(ctx, q, nil, "tags")
	if err != nil {
		return nil, err
	}
	out := &labelsShown{weightsShown: r.about(), Keys: []labelKey{}}
	for _, tag := range r.Tags() {
		if tag.Key == pprof.BaseLabel {
			continue
		}
		k := labelKey{Key: clean(tag.Key), Total: r.amount(tag.Total), Values: []labelValue{}, More: max(0, len(tag.Values)-maxLabels)}
		for _, v := range tag.Values[:min(len(tag.Values), maxLabels)] {
			x := labelValue{Value: clean(v.Value), Weight: r.amount(v.Weight), Filter: tag.Key + "=" + labelFilter(v.Value)}
			if r.Total != 0 {
				x.Share = float64(v.Weight) / float64(r.Total)
			}
			k.Values = append(k.Values, x)
		}
		out.Keys = append(out.Keys, k)
	}
	if len(out.Keys) == 0 {
		return nil, nothing("The samples have no labels. A program sets them with pprof.Do(ctx, pprof.Labels(\"request\", \"search\"), …); loupe shows the share of each here.")
	}
	return out, nil
}

// labelFilter is a value as tagfocus takes it: a number with its unit as it is,
// text as an expression.
func labelFilter(value string) string {
	if value != "" && value[0] >= '0' && value[0] <= '9' && !strings.ContainsAny(value, " /:") {
		return value
	}
	return exactly(clean(value))
}
