package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/internal/cli/command"
	"loupe/internal/cli/mcp/listing"
	"loupe/recording"
	"loupe/source"
	"loupe/value/unit"
)

// InProfile asks about a profile.
type InProfile struct {
	Paged
	Path       string `json:"path" jsonschema:"a profile in any format, or a recording"`
	Profile    string `json:"profile,omitempty" jsonschema:"of a recording: cpu, allocs, heap, goroutine, block, mutex, threadcreate or goroutineleak; default cpu, or the first that there is"`
	SampleType string `json:"sample_type,omitempty" jsonschema:"what is counted, such as alloc_space, alloc_objects, inuse_space, contentions, delay or samples"`
	Focus      string `json:"focus,omitempty" jsonschema:"only stacks with a function that matches this regular expression"`
}

func (p *InProfile) files() []*string { return []*string{&p.Path} }

// flags are those of loupe pprof for the question.
func (p *InProfile) flags() (flags []string) {
	if p.SampleType != "" {
		flags = append(flags, "-sample_index="+p.SampleType)
	}
	if p.Focus != "" {
		flags = append(flags, "-focus="+p.Focus)
	}
	return flags
}

// profileKinds are what the profiles of a recording are called.
var profileKinds = map[string]recording.Kind{
	"cpu": recording.CPU, "allocs": recording.Allocs, "heap": recording.Heap, "goroutine": recording.Goroutine, "block": recording.Block,
	"mutex": recording.Mutex, "threadcreate": recording.ThreadCreate, "goroutineleak": recording.GoroutineLeak,
}

// entry is the path of the profile that is meant.
func (p *InProfile) entry() (string, error) {
	if p.Profile == "" {
		return p.Path, nil
	}
	kind, ok := profileKinds[p.Profile]
	if !ok {
		return "", fmt.Errorf("there is no profile called %q: cpu, allocs, heap, goroutine, block, mutex, threadcreate or goroutineleak", p.Profile)
	}
	if !source.IsRecording(p.Path) {
		return "", fmt.Errorf("%s is not a recording: leave out profile", p.Path)
	}
	rec, err := recording.OpenFile(p.Path)
	if err != nil {
		return "", err
	}
	defer rec.Close()
	e, ok := rec.Main(kind)
	if !ok {
		var there []string
		for name, k := range profileKinds {
			if _, ok := rec.Main(k); ok {
				there = append(there, name)
			}
		}
		slices.Sort(there)
		return "", fmt.Errorf("the recording has no %s profile; it has: %s", p.Profile, strings.Join(there, ", "))
	}
	return p.Path + "/" + e.Path, nil
}

// Top asks for the functions of a profile.
type Top struct {
	InProfile
	Sort string `json:"sort,omitempty" jsonschema:"flat (in the function itself, the default) or cum (with all that it calls)"`
}

// top lists functions by what they cost.
func (s *server) top(ctx context.Context, in *Top) (*answer, error) {
	name, err := in.entry()
	if err != nil {
		return nil, err
	}
	flags := in.flags()
	switch in.Sort {
	case "", "flat":
	case "cum":
		flags = append(flags, "-cum")
	default:
		return nil, fmt.Errorf("sort: want flat or cum, not %q", in.Sort)
	}
	return s.functions(ctx, append(append([]string{"pprof", "-top"}, flags...), "--", name), name)
}

// functions runs loupe pprof -top.
func (s *server) functions(ctx context.Context, args []string, name string) (*answer, error) {
	o, notes, err := s.asked(ctx, slices.Insert(slices.Clone(args), 1, "-json", "-nodecount=500")...)
	if err != nil {
		return nil, err
	}
	a := &answer{says: "Functions of the profile. flat is in the function itself, cum with all that it calls.", view: "profile", open: words(args...)}
	of := o.text("unit")
	a.facts("profile", "counts", o.text("type"), "total", weight(of, o.at("total")), "samples", cell("", o.at("samples")), "filters", cell("", o.at("filters")))
	if len(o.list("rows")) == 0 && fmt.Sprint(o.at("total")) != "0" {
		// Every function is below the share that pprof leaves out: the largest are shown all the same.
		if o, notes, err = s.asked(ctx, slices.Insert(slices.Clone(args), 1, "-json", "-nodecount=50", "-nodefraction=0")...); err != nil {
			return nil, err
		}
	}
	t := table{name: "functions", columns: []string{"function", "flat", "flat share", "cum", "cum share", "file"}}
	for _, r := range o.list("rows") {
		t.rows = append(t.rows, []any{r.text("name"), weight(of, r.at("flat")), cell("flat_share", r.at("flat_share")), weight(of, r.at("cum")), cell("cum_share", r.at("cum_share")), shortPath(r.text("file"))})
	}
	if len(t.rows) == 0 || fmt.Sprint(o.at("total")) == "0" {
		return nil, command.Nothingf("%s has no samples of this kind", name)
	}
	a.add(t)
	a.list("notes", notes)
	return a, nil
}

// weight is a value of a profile in its unit.
func weight(of string, v any) any {
	n, ok := v.(json.Number)
	if !ok {
		return v
	}
	f, err := n.Float64()
	if err != nil {
		return n.String()
	}
	switch of {
	case "nanoseconds":
		return unit.Duration(time.Duration(f))
	case "bytes":
		return unit.BytesOf(f)
	}
	return cell("", v)
}

// Callers asks who calls a function.
type Callers struct {
	InProfile
	Function string `json:"function" jsonschema:"a function as top names it"`
	Packages string `json:"packages,omitempty" jsonschema:"Go packages such as ./...: also who may call it by the source (needs loupe mcp -run, since it runs the go command)"`
}

// callers says who has called a function and what it has called, by a profile, and who may call it, by the source.
func (s *server) callers(ctx context.Context, in *Callers) (*answer, error) {
	name, err := in.entry()
	if err != nil {
		return nil, err
	}
	if in.Function == "" {
		return nil, fmt.Errorf("function is empty")
	}
	if in.Packages != "" {
		return s.static(ctx, in, name)
	}
	args := append(append([]string{"pprof", "-peek=^" + quote(in.Function) + "$"}, in.flags()...), "--", name)
	o, notes, err := s.asked(ctx, slices.Insert(slices.Clone(args), 1, "-json", "-nodecount=100000")...)
	if err != nil {
		return nil, err
	}
	a := &answer{says: "Who called the function and what it called, on the stacks of the profile. What a sample did not meet may still be a caller.", view: "profile", open: words(args...)}
	of := o.text("unit")
	for _, r := range o.list("rows") {
		a.facts("function", "function", r.text("name"), "counts", o.text("type"), "flat", weight(of, r.at("flat")), "cum", weight(of, r.at("cum")), "total of the profile", weight(of, o.at("total")))
		for _, side := range []string{"callers", "callees"} {
			t := table{name: side, columns: []string{"function", "weight", "inlined"}}
			for _, e := range r.list(side) {
				t.rows = append(t.rows, []any{e.text("name"), weight(of, e.at("weight")), e.at("inline") == true})
			}
			a.add(t)
		}
	}
	a.list("notes", notes)
	return a, nil
}

// quote makes a name a regular expression.
func quote(name string) string {
	return strings.NewReplacer(`\`, `\\`, ".", `\.`, "(", `\(`, ")", `\)`, "*", `\*`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, "+", `\+`, "?", `\?`, "|", `\|`, "^", `\^`, "$", `\$`).Replace(name)
}

// static asks loupe callers.
func (s *server) static(ctx context.Context, in *Callers, name string) (*answer, error) {
	if !s.run {
		return nil, fmt.Errorf("packages: callers by the source need the go command, which runs where the server was started as loupe mcp -run")
	}
	args := []string{"callers", "-profile=" + name, "--", in.Function}
	args = append(args, strings.Fields(in.Packages)...)
	o, notes, err := s.asked(ctx, slices.Insert(slices.Clone(args), 1, "-json")...)
	if err != nil {
		return nil, err
	}
	a := &answer{says: "Who may call the function, by the source (static), on the stacks of the profile (seen), or both.", open: words(args...)}
	a.facts("function", "function", o.text("function.name"), "place", cell("", o.at("function")))
	a.add(tabulate("callers", o.list("callers"), columns("function=name found samples sites")))
	a.list("notes", notes)
	return a, nil
}

// Source asks for the source of functions.
type Source struct {
	InProfile
	Function string `json:"function" jsonschema:"a function as top names it"`
	All      bool   `json:"all,omitempty" jsonschema:"also lines that cost nothing; without it they are shown only next to lines that do"`
}

// near is how many lines are shown before and behind one that costs something.
const near = 2

// source shows lines with what they cost, and why they allocate, from what the recording
// has kept of the compiler's words.
func (s *server) source(ctx context.Context, in *Source) (*answer, error) {
	name, err := in.entry()
	if err != nil {
		return nil, err
	}
	if in.Function == "" {
		return nil, fmt.Errorf("function is empty")
	}
	pattern := "^" + quote(in.Function) + "$"
	l, err := listing.Of(ctx, s.e, listing.Question{Of: in.Path, Name: name, Pattern: pattern, Focus: in.Focus, SampleType: in.SampleType})
	if err != nil {
		return nil, err
	}
	o, err := decode(l.JSON)
	if err != nil {
		return nil, err
	}
	open := append(append([]string{"pprof", "-list=" + pattern}, in.flags()...), "--", name)
	a := &answer{says: "Source lines with what they cost. why is the compiler's reason for an allocation, or the runtime's call.", view: "profile", open: words(open...)}
	a.lines(o, in.All, l)
	return a, nil
}

// lines adds tables of source lines.
func (a *answer) lines(o *object, all bool, why *listing.Listing) {
	of := o.text("unit")
	for _, routine := range o.list("routines") {
		a.facts("function", "function", routine.text("function"), "file", routine.text("file"), "counts", o.text("type"), "flat", weight(of, routine.at("flat")), "cum", weight(of, routine.at("cum")), "source", routine.text("error"))
		t := table{name: "lines", columns: []string{"line", "flat", "cum", "text", "why"}}
		lines := routine.list("lines")
		costs := func(i int) bool {
			return i >= 0 && i < len(lines) && (fmt.Sprint(lines[i].at("flat")) != "0" || fmt.Sprint(lines[i].at("cum")) != "0")
		}
		for i, l := range lines {
			close := all
			for d := -near; d <= near; d++ {
				close = close || costs(i+d)
			}
			if !close {
				continue
			}
			row := []any{cell("", l.at("line")), "", "", strings.ReplaceAll(strings.TrimRight(l.text("text"), " \t"), "\t", "  "), why.Why(routine.text("file"), fmt.Sprint(l.at("line")))}
			if costs(i) {
				row[1], row[2] = weight(of, l.at("flat")), weight(of, l.at("cum"))
			}
			t.rows = append(t.rows, row)
		}
		a.add(t)
	}
}

func count(n int) string { return strconv.Itoa(n) }
