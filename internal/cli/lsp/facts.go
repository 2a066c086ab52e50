package lsp

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"loupe/analysis/pprof"
	"loupe/analysis/why"
	"loupe/insight"
	"loupe/internal/cli/examine"
	"loupe/recording"
	"loupe/session"
	"loupe/source"
	"loupe/value/stack"
)

// cost is what a function or a line takes.
type cost struct{ flat, cum int64 }

// measure is one profile, summed up.
type measure struct {
	verb  string // "CPU"
	of    string // unit
	total int64
	funcs map[called]cost
	lines map[place]cost
}

// called is a function of a file, by its name without the package.
type called struct{ file, name string }

// place is a line of a file as the recording names it.
type place struct {
	file string
	line int
}

// facts is what a recording says of lines and functions.
type facts struct {
	name     string
	made     time.Time
	session  *session.Session
	close    func() error
	findings []insight.Finding
	measures []*measure
	reasons  *why.Report
	module   string            // the main module of what was recorded
	shorts   map[string]string // names of files below the module, to those of the recording
	texts    map[string][]string
}

// load opens a recording and sums it up.
func load(ctx context.Context, name string) (*facts, error) {
	x, err := examine.Recording(&source.Input{Name: name, Path: name, Recording: true})
	if err != nil {
		return nil, err
	}
	m := x.Report.Manifest
	f := &facts{name: name, made: m.Start, session: x.Session, close: x.Close, module: m.Target.Module, shorts: map[string]string{}, texts: map[string][]string{}}
	for _, one := range x.Report.Findings {
		if one.State == insight.Found && !insight.AboutMeasurement(one.Rule) {
			f.findings = append(f.findings, one)
		}
	}
	for _, e := range m.Of(recording.Source) {
		if name := e.SourceName(); !strings.HasPrefix(name, "abs/") {
			f.shorts[name] = e.Source
		}
	}
	for _, k := range []struct {
		kind       recording.Kind
		index      string
		verb       string
		allocating bool
	}{{recording.CPU, "cpu", "CPU", false}, {recording.Allocs, "alloc_space", "allocates", true}} {
		e, ok := m.Main(k.kind)
		if !ok {
			continue
		}
		if err := f.measure(e.Path, k.index, k.verb, k.allocating); err != nil {
			x.Close()
			return nil, fmt.Errorf("%s: %w", e.Path, err)
		}
		if err := ctx.Err(); err != nil {
			x.Close()
			return nil, err
		}
	}
	return f, nil
}

// measure sums up a profile.
func (f *facts) measure(path, index, verb string, allocating bool) error {
	p, err := f.session.ProfileAt(path)
	if err != nil {
		return err
	}
	m := &measure{verb: verb, funcs: map[called]cost{}, lines: map[place]cost{}}
	for _, granularity := range []string{"functions", "lines"} {
		cfg := pprof.Defaults()
		cfg.SampleIndex = index
		cfg.NodeCount, cfg.NodeFraction, cfg.EdgeFraction = 0, 0, 0
		cfg.Granularity = granularity
		cfg.Trim, cfg.FoldGenerics = false, true
		r, err := pprof.New(p, []string{"top"}, cfg, nil)
		if err != nil {
			return err
		}
		m.of, m.total = r.Unit, r.Total
		for _, n := range r.Graph().Nodes {
			c := cost{n.FlatValue(), n.CumValue()}
			file := r.Profile.Stacks.Frame(n.Frame).File
			if granularity == "functions" {
				name := strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(n.Func, stack.Package(n.Func)), "."), "[...]", "")
				m.funcs[called{file, name}] = add(m.funcs[called{file, name}], c)
			} else {
				m.lines[place{file, n.Line}] = add(m.lines[place{file, n.Line}], c)
			}
		}
		if set, _ := f.session.Compiler(); set != nil && allocating && granularity == "lines" {
			opt := why.Options{Source: f.session.Source}
			if calls, err := f.session.Calls(); err == nil {
				opt.Callee = func(address uint64) string { return calls[address-1] }
			}
			f.reasons = why.Explain(r.Profile, r.Index(), set, opt)
		}
	}
	f.measures = append(f.measures, m)
	return nil
}

func add(a, b cost) cost { return cost{a.flat + b.flat, a.cum + b.cum} }

// recorded is what the recording calls a file of this machine, and its lines then; nil where
// it has not kept them.
func (f *facts) recorded(path string) (name string, lines []string) {
	name = filepath.ToSlash(path)
	text, err := f.session.Source(name)
	if err != nil {
		if dir := moduleOf(path); dir != "" && modulePath(dir) == f.module {
			if rel, err := filepath.Rel(dir, path); err == nil {
				if other, ok := f.shorts[filepath.ToSlash(rel)]; ok {
					name = other
					text, err = f.session.Source(name)
					if err != nil {
						text = nil
					}
				}
			}
		}
	}
	if text == nil {
		return name, nil
	}
	if f.texts[name] == nil {
		f.texts[name] = split(string(text))
	}
	return name, f.texts[name]
}

// split makes lines of a text.
func split(text string) []string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}
