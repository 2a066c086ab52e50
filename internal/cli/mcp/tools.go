package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"loupe/format/kind"
	"loupe/internal/cli/command"
	"loupe/source"
	"loupe/value/unit"
)

// offer lists the tools, those first with which one begins.
func (s *server) offer(m *sdk.Server) {
	add(s, m, tool{name: "recordings", about: "What a folder holds that loupe can read: recordings, profiles, traces, dumps and logs."}, s.recordings)
	add(s, m, tool{name: "diagnose", about: "What is wrong with a program, by cause, worth most first, with place, gain and advice. Takes a recording or a file from elsewhere."}, s.diagnose)
	add(s, m, tool{name: "explain", about: "A finding with all its evidence, doubts and how to verify a fix; or a rule and its thresholds."}, s.explain)
	add(s, m, tool{name: "top", about: "Functions of a profile by CPU time, bytes, waits or whatever it counts."}, s.top)
	add(s, m, tool{name: "callers", about: "Who called a function and what it called, with weights, by a profile."}, s.callers)
	add(s, m, tool{name: "source", about: "The source lines of a function with their cost, and the compiler's reason for each allocation (escape analysis)."}, s.source)
	add(s, m, tool{name: "trace", about: "Questions to an execution trace: where goroutines waited, where requests spent their time, scheduling, stops of the world."}, s.trace)
	add(s, m, tool{name: "gc", about: "What the garbage collector did: collections, pauses, CPU share, heap; or what other settings of GOGC and GOMEMLIMIT would do."}, s.gc)
	add(s, m, tool{name: "goroutines", about: "Goroutines of a dump or recording in groups, by stack and state, suspicious ones first."}, s.goroutines)
	add(s, m, tool{name: "compare", about: "Two sides compared with verdicts: recordings, profiles, traces, dumps, load runs."}, s.compare)
	add(s, m, tool{name: "benchmarks", about: "Outputs of go test -bench compared as benchstat does: medians, intervals, p-values."}, s.benchmarks)
	if s.to != "" {
		offerFleet(s, m)
	}
	if s.run {
		offerActs(s, m)
	}
}

// maxListed bounds how many files of a folder are looked at.
const maxListed = 2000

// recordings lists what is in a folder.
func (s *server) recordings(ctx context.Context, in *Folder) (*answer, error) {
	entries, err := os.ReadDir(in.Path)
	if err != nil {
		return nil, err
	}
	a := &answer{says: "What loupe can read in the folder.", open: words("open", in.Path)}
	t := table{name: "files", columns: []string{"path", "kind", "changed"}}
	for i, entry := range entries {
		if i == maxListed {
			a.list("notes", []string{fmt.Sprintf("only the first %d of %d entries were looked at", i, len(entries))})
			break
		}
		name := filepath.Join(in.Path, entry.Name())
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
			continue
		}
		what := ""
		switch {
		case source.IsRecording(name):
			what = "recording"
		case info.IsDir():
			continue
		default:
			var d source.Door
			if inputs, err := d.Open(ctx, name); err == nil && len(inputs) == 1 && inputs[0].Kind != kind.Unknown && inputs[0].Kind != kind.Empty {
				what = inputs[0].Kind.One()
			}
			d.Close()
		}
		if what == "" {
			continue
		}
		t.rows = append(t.rows, []any{name, what, info.ModTime().UTC().Format("2006-01-02 15:04:05 UTC")})
	}
	if len(t.rows) == 0 {
		return nil, command.Nothingf("there is nothing in %s that loupe can read", in.Path)
	}
	slices.SortStableFunc(t.rows, func(a, b []any) int { return strings.Compare(b[2].(string), a[2].(string)) })
	a.add(t)
	return a, nil
}

// Trace asks an execution trace.
type Trace struct {
	File
	Question string `json:"question" jsonschema:"summary, requests, blocked, goroutines, goroutine (with id), sched, stw, tasks, regions, mmu, or profile (functions by time in a state)"`
	ID       string `json:"id,omitempty" jsonschema:"of a goroutine, a request or a task: then all of that one"`
	Filter   string `json:"filter,omitempty" jsonschema:"a part of the trace, such as: func~handle state=waiting reason~chan dur>1ms from=1s to=2s"`
	Slow     bool   `json:"slow,omitempty" jsonschema:"of requests: the slow ones first"`
	Kind     string `json:"kind,omitempty" jsonschema:"of profile: off-cpu, net, sync, syscall, sched, cpu, running or wall"`
}

// traceQuestions are the verbs of loupe trace that answer and write nothing, and those with an id.
var traceQuestions = map[string]bool{
	"summary": false, "requests": true, "blocked": false, "goroutines": false, "goroutine": true, "sched": false, "stw": false, "tasks": true, "regions": false, "mmu": false, "profile": false,
}

// trace runs a verb of loupe trace.
func (s *server) trace(ctx context.Context, in *Trace) (*answer, error) {
	withID, ok := traceQuestions[in.Question]
	switch {
	case !ok:
		return nil, fmt.Errorf("there is no question %q: summary, requests, blocked, goroutines, goroutine, sched, stw, tasks, regions, mmu or profile", in.Question)
	case in.ID != "" && !withID:
		return nil, fmt.Errorf("%s takes no id", in.Question)
	case in.ID != "" && strings.Trim(in.ID, "0123456789") != "":
		return nil, fmt.Errorf("id: want a number, not %q", in.ID)
	}
	args := []string{"trace", in.Question, "-n=100"}
	if in.Filter != "" {
		args = append(args, "-filter="+in.Filter)
	}
	if in.Slow {
		args = append(args, "-slow")
	}
	if in.Kind != "" {
		args = append(args, "-kind="+in.Kind)
	}
	args = append(args, "--", in.Path)
	if in.ID != "" {
		args = append(args, in.ID)
	}
	return s.printed(ctx, "What the execution trace says. Stacks have the leaf first.", "timeline", 2, args, "schema")
}

// printed runs a command, where its JSON goes after some of its words, and shows all of it.
func (s *server) printed(ctx context.Context, says, view string, at int, args []string, skip ...string) (*answer, error) {
	o, notes, err := s.asked(ctx, slices.Insert(slices.Clone(args), at, "-json")...)
	if err != nil {
		return nil, err
	}
	a := &answer{says: says, view: view, open: words(args...)}
	a.whole(o, skip...)
	a.list("messages", notes)
	return a, nil
}

// GC asks about the collector.
type GC struct {
	File
	WhatIf    string `json:"what_if,omitempty" jsonschema:"settings to predict: all, or such as GOGC=200 GOMEMLIMIT=400MiB"`
	Container string `json:"container,omitempty" jsonschema:"the size of a container, such as 512MiB: what to set there"`
	Cycles    bool   `json:"cycles,omitempty" jsonschema:"also list every collection"`
}

// gc runs loupe gc.
func (s *server) gc(ctx context.Context, in *GC) (*answer, error) {
	args := []string{"gc"}
	if in.WhatIf != "" {
		args = append(args, "-what-if="+in.WhatIf)
	}
	if in.Container != "" {
		args = append(args, "-container="+in.Container)
	}
	skip := []string{"schema", "phases"}
	if !in.Cycles {
		skip = append(skip, "cycles")
	}
	return s.printed(ctx, "What the garbage collector did.", "gc", 1, append(args, "--", in.Path), skip...)
}

// Goroutines asks about a dump.
type Goroutines struct {
	File
	Filter string `json:"filter,omitempty" jsonschema:"a part, such as: state~chan func~handle age>=5m"`
}

// goroutines runs loupe stacks.
func (s *server) goroutines(ctx context.Context, in *Goroutines) (*answer, error) {
	args := []string{"stacks", "-n=0"}
	if in.Filter != "" {
		args = append(args, "-filter="+in.Filter)
	}
	args = append(args, "--", in.Path)
	return s.printed(ctx, "Goroutines that stand at the same lines in the same state are one group.", "goroutines", 1, args, "schema", "stack", "file", "locked_to_thread")
}

// Compare asks about two sides.
type Compare struct {
	Paged
	Before string `json:"before" jsonschema:"a recording, profile, trace, dump, runtime log or load run"`
	After  string `json:"after" jsonschema:"one of the same kind"`
}

func (c *Compare) files() []*string { return []*string{&c.Before, &c.After} }

// compare runs loupe compare.
func (s *server) compare(ctx context.Context, in *Compare) (*answer, error) {
	if in.Before == "" || in.After == "" {
		return nil, fmt.Errorf("before and after are two files or recordings")
	}
	return s.sides(ctx, []string{"compare", "--", in.Before, in.After})
}

// sides shows what loupe compare says.
func (s *server) sides(ctx context.Context, args []string) (*answer, error) {
	o, notes, err := s.asked(ctx, slices.Insert(slices.Clone(args), 1, "-json")...)
	if err != nil {
		return nil, err
	}
	a := &answer{view: "compare", open: words(args...)}
	switch {
	case len(o.list("table.rows")) > 0:
		a.says = "Figures of both sides, and what the rules find on each. Where the verdict is empty, chance is not ruled out: a verdict needs five rounds a side (loupe run -rounds)."
		a.figures(o)
	case strings.HasPrefix(o.text("schema"), "loupe.profile_compare/"):
		a.says = "a is before, b is after, by function. A verdict says whether the change is more than chance."
		weigh(o, o.text("unit"), []string{"a", "b", "change", "low", "high", "rest", "total", "flat_a", "flat_b", "flat_change", "cum_a", "cum_b", "cum_change"})
		a.whole(o, "schema", "judged", "normalised", "doubt", "p", "q", "flat_low", "flat_high", "flat_p", "flat_q", "cum_p", "cum_q", "cum_low", "cum_high",
			"flat_samples_a", "flat_samples_b", "cum_samples_a", "cum_samples_b", "samples_a", "samples_b")
	default:
		a.says = "Both sides side by side, without a verdict."
		a.whole(o, "schema")
	}
	a.list("messages", notes)
	return a, nil
}

// figures adds the table of a comparison of recordings, and what was found on either side.
func (a *answer) figures(o *object) {
	t := table{name: "figures", columns: []string{"figure", "before", "after", "change", "verdict"}}
	for _, r := range o.list("table.rows") {
		cells, changes := r.list("cells"), r.list("changes")
		if len(cells) < 2 || len(changes) < 1 || cells[0].at("median") == nil && cells[1].at("median") == nil {
			continue
		}
		t.rows = append(t.rows, []any{r.text("name"), unitOf(r.text("unit"), cells[0].at("median")), unitOf(r.text("unit"), cells[1].at("median")), times(changes[0].at("ratio")), changes[0].text("verdict")})
	}
	a.add(t)
	sides, _ := o.at("findings").([]any)
	found := table{name: "findings", columns: []string{"side", "rule", "title", "summary"}}
	for i, side := range sides {
		in := &object{values: map[string]any{"all": side}}
		for _, f := range in.list("all") {
			if f.text("state") == "finding" {
				found.rows = append(found.rows, []any{[]string{"before", "after"}[min(i, 1)], f.text("rule"), f.text("title"), f.text("summary")})
			}
		}
	}
	a.add(found)
}

// times writes a ratio.
func times(v any) any {
	if c := cell("", v); c != nil {
		return fmt.Sprintf("× %v", c)
	}
	return nil
}

// Benchmarks asks about outputs of benchmarks.
type Benchmarks struct {
	Paged
	Paths  []string `json:"paths" jsonschema:"outputs of go test -bench; the first is what the others are compared with"`
	Filter string   `json:"filter,omitempty" jsonschema:"benchstat's filter, such as: .unit:ns/op"`
	Column string   `json:"column,omitempty" jsonschema:"what columns are made of, such as /format for sub-benchmarks of one output"`
}

func (b *Benchmarks) files() (all []*string) {
	for i := range b.Paths {
		all = append(all, &b.Paths[i])
	}
	return all
}

// benchmarks runs loupe compare on outputs of benchmarks.
func (s *server) benchmarks(ctx context.Context, in *Benchmarks) (*answer, error) {
	if len(in.Paths) == 0 {
		return nil, fmt.Errorf("paths is empty")
	}
	args := []string{"compare"}
	switch {
	case in.Column != "":
		args = append(args, "-col="+in.Column)
	case len(in.Paths) == 1:
		args = append(args, "-col=.file")
	}
	if in.Filter != "" {
		args = append(args, "-filter="+in.Filter)
	}
	args = append(append(args, "--"), in.Paths...)
	o, notes, err := s.asked(ctx, slices.Insert(slices.Clone(args), 1, "-json")...)
	if err != nil {
		return nil, err
	}
	a := &answer{says: "Benchmarks as benchstat judges them, a table for each unit. center is the median, with ± range; delta is the ratio to the first column, with its 95% interval; p is the chance of such a difference without a change.",
		view: "benchmarks", open: words(args...)}
	for _, key := range o.keys {
		rows := o.list(key)
		if len(rows) == 0 {
			continue
		}
		of := o.text(key + "_unit")
		for _, r := range rows {
			for name, v := range r.values {
				if strings.HasPrefix(name, "center_") || strings.HasPrefix(name, "range_") {
					r.values[name] = measured(of, v)
				}
			}
		}
		t := tabulate(key, rows, keysOf(rows, nil))
		a.add(t)
		a.facts(key+" is in", "unit", of)
	}
	notes = append(texts(o.at("notes")), notes...)
	a.list("notes", notes)
	return a, nil
}

// measured is a value of a benchmark in its unit.
func measured(of string, v any) any {
	n, ok := v.(json.Number)
	if !ok {
		return v
	}
	f, err := n.Float64()
	switch {
	case err != nil:
		return n.String()
	case strings.HasPrefix(of, "sec"):
		return unit.Nanoseconds(f * 1e9)
	case strings.HasPrefix(of, "B/"):
		return unit.BytesOf(f)
	}
	return cell("", v)
}

// texts are the strings of a list.
func texts(v any) (all []string) {
	some, _ := v.([]any)
	for _, one := range some {
		if s, ok := one.(string); ok {
			all = append(all, s)
		}
	}
	return all
}
