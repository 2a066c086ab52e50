package pprof

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"loupe/analysis/calltree"
	"loupe/format/profile"
	"loupe/value/stack"
)

// graphOptions say what calltree makes of the report's options.
func graphOptions(r *Report) calltree.Options {
	cfg := &r.Config
	granularity, err := calltree.ParseGranularity(cfg.Granularity)
	if err != nil {
		granularity = calltree.Functions // Config.Set has let nothing else pass
	}
	opt := calltree.Options{
		Granularity: granularity, NoInlines: cfg.NoInlines, Columns: cfg.ShowColumns, DropNegative: cfg.DropNegative,
		NodeCount: cfg.NodeCount, NodeFraction: cfg.NodeFraction, EdgeFraction: cfg.EdgeFraction,
		Path: func(file string) string { return TrimPath(file, cfg.TrimPath, cfg.SourcePath) },
	}
	if cfg.Sort == "cum" {
		opt.Order = calltree.ByCum
	}
	opt.Group = cfg.Grouping()
	return opt
}

// Grouping names the entry that a frame belongs to; it is nil when that is the
// function.
func (c *Config) Grouping() func(stack.Frame) string {
	switch c.Group {
	case "package":
		return func(f stack.Frame) string {
			if pkg := stack.Package(f.Func); pkg != "" {
				return pkg
			}
			return f.Func
		}
	case "module":
		return func(f stack.Frame) string { return cmp.Or(stack.Module(f.Func), f.Func) }
	case "work":
		return func(f stack.Frame) string {
			if c := stack.CategoryOf(f.Func); c != stack.Plain {
				return c.String()
			}
			return stack.Scope{}.Origin(f.Func).String() + " code"
		}
	}
	if c.FoldGenerics {
		return func(f stack.Frame) string { return stack.FoldGenerics(f.Func) }
	}
	return nil
}

// samplesOf are what calltree weighs.
func samplesOf(r *Report) iter.Seq[calltree.Sample] {
	p := r.Profile
	return func(yield func(calltree.Sample) bool) {
		for row, id := range p.StackIDs {
			s := calltree.Sample{Stack: id, Weight: p.Values[r.index][row], Labels: uint32(p.SetOf(row))}
			if r.mean {
				s.Divisor = p.Values[0][row]
			}
			if !yield(s) {
				return
			}
		}
	}
}

func graphOf(r *Report, opt calltree.Options) *calltree.Graph {
	return calltree.New(r.Profile.Stacks, samplesOf(r), opt)
}

// Graph returns the call graph that the report shows.
func (r *Report) Graph() *calltree.Graph {
	switch r.Command.Name {
	case "dot", "gif", "pdf", "png", "ps", "svg", "web", "eog", "evince", "gv":
		return r.CallGraph()
	case "callgrind", "kcachegrind":
		return callgrindOf(r)
	}
	return graphOf(r, graphOptions(r))
}

func writeTop(r *Report, w io.Writer) error {
	opt := graphOptions(r)
	opt.OnlyInlined = true // that is all that the table says about calls
	return calltree.WriteTop(w, r.Header(), graphOf(r, opt).Ranking())
}

func writeTree(r *Report, w io.Writer) error {
	var b bytes.Buffer // nothing is printed when nothing matches
	if err := calltree.WriteTree(&b, r.Header(), graphOf(r, graphOptions(r)), r.match); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Listing weighs the lines of the functions that the command names.
func (r *Report) Listing() (*calltree.Listing, error) {
	return calltree.List(r.Profile.Stacks, samplesOf(r), r.match, func(file string) ([]byte, error) { return sourceOf(r, file) }, graphOptions(r))
}

func sourceOf(r *Report, file string) ([]byte, error) {
	if r.env.Source == nil {
		return nil, fmt.Errorf("could not find file %s: there are no sources", file)
	}
	return r.env.Source(file, &r.Config)
}

func writeList(r *Report, w io.Writer) error {
	l, err := r.Listing()
	if err != nil {
		return err
	}
	return calltree.WriteList(w, r.Header(), l)
}

func callgrindOf(r *Report) *calltree.Graph {
	opt := graphOptions(r)
	opt.Modules, opt.CallTree = true, r.Config.CallTree
	opt.NodeCount, opt.NodeFraction, opt.EdgeFraction = 0, 0, 0
	return graphOf(r, opt)
}

func writeCallgrind(r *Report, w io.Writer) error {
	return calltree.WriteCallgrind(w, r.Header(), callgrindOf(r))
}

// CallGraph returns the graph that is drawn, with its labels.
func (r *Report) CallGraph() *calltree.Graph {
	opt := graphOptions(r)
	opt.Visual, opt.CallTree = true, r.Config.CallTree
	p, unit := r.Profile, r.Config.Unit
	opt.Tags = func(set uint32) calltree.LabelSet {
		var words []string
		var out calltree.LabelSet
		for _, l := range p.Labels(profile.LabelSet(set)) {
			switch {
			case !l.Numeric && l.Key != BaseLabel:
				words = append(words, l.Key+":"+l.Str)
			case l.Numeric && l.Key == "bytes":
				u := r.units[l.Key]
				out.Numbers = append(out.Numbers, calltree.Number{Name: calltree.Format(l.Num, u, unit), Unit: u, Value: l.Num})
			}
		}
		slices.Sort(words)
		out.Labels = strings.Join(words, `\n`)
		return out
	}
	return graphOf(r, opt)
}

func writeDot(r *Report, w io.Writer) error {
	return calltree.WriteDot(w, r.Header(), r.CallGraph())
}

// writeTopProto writes the entries of top as a profile: each is a sample of one
// frame, with its cumulative and its flat weight in the unit of the text.
func writeTopProto(r *Report, w io.Writer) error {
	p, g := r.Profile, graphOf(r, graphOptions(r))
	h := r.Header()
	unit := h.UnitFor(g)
	out := &profile.Profile{
		SampleTypes: []profile.ValueType{{Type: "cum", Unit: unit}, {Type: "flat", Unit: unit}},
		Time:        p.Time, Duration: p.Duration, PeriodType: p.PeriodType, Period: p.Period,
		Stacks: new(stack.Table), Values: make([][]int64, 2),
	}
	for _, n := range g.Nodes {
		frame := out.Stacks.AppendFrame(stack.Frame{Func: n.Func, File: n.File, Address: n.Address, Line: n.Line, Column: n.Column, StartLine: n.StartLine})
		out.StackIDs = append(out.StackIDs, out.Stacks.Append([]stack.FrameID{frame}))
		for c, v := range [...]int64{n.CumValue(), n.FlatValue()} {
			scaled, _ := calltree.Scale(v, r.Unit, unit)
			out.Values[c] = append(out.Values[c], int64(scaled))
		}
	}
	return out.Encode(w)
}
