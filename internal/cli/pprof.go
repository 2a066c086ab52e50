package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"loupe/calltree"
	"loupe/profile"
	"loupe/report"
)

var pprofCommand = &command{
	name:  "pprof",
	short: "print a profile as go tool pprof does, in a fraction of its time",
	args:  "[flags] [BINARY] FILE",
	example: []string{
		"loupe pprof -top allocs.pb.gz                       functions by bytes allocated",
		"loupe pprof -top -cum -nodecount 20 cpu.pb.gz",
		"loupe pprof -list 'search.*find' -sample_index alloc_space allocs.pb.gz",
		"loupe pprof -totals allocs.pb.gz                    every sample type and its total",
	},
	about: `
The text is that of go tool pprof, byte for byte. -top is what happens when no
report is asked for. BINARY is accepted and not needed: Go's profiles carry
their names.`,
	files: true,
	setup: func(fs *flagSet) func(*env, []string) error {
		var f pprofFlags
		fs.BoolVar(&f.top, "top", false, "functions, the heaviest first")
		fs.StringVar(&f.list, "list", "", "source of the functions that match `regexp`, with the weight of each line")
		fs.BoolVar(&f.totals, "totals", false, "the total of every sample type")
		fs.BoolVar(&f.cum, "cum", false, "order by cumulative weight")
		fs.BoolVar(&f.flat, "flat", false, "order by flat weight (the default)")
		fs.IntVar(&f.nodecount, "nodecount", -1, "show at most `n` functions; -1 is no limit")
		fs.Float64Var(&f.nodefraction, "nodefraction", calltree.PprofDefaults.NodeFraction, "leave out functions below this `share` of the total")
		fs.StringVar(&f.index, "sample_index", "", "sample `type` to show, by name or position")
		fs.StringVar(&f.unit, "unit", "minimum", "`unit` to print in")
		fs.BoolVar(&f.json, "json", false, "print JSON")
		for _, name := range []string{"inuse_space", "inuse_objects", "alloc_space", "alloc_objects"} {
			fs.BoolFunc(name, "same as -sample_index="+name, func(string) error {
				f.index = name
				return nil
			})
		}
		return f.run
	},
}

type pprofFlags struct {
	top, totals, cum, flat, json bool
	list, index, unit            string
	nodecount                    int
	nodefraction                 float64
}

func (f *pprofFlags) run(e *env, args []string) error {
	if len(args) == 2 {
		args = args[1:] // the binary comes first
	}
	name, err := oneArg(args, "the profile")
	if err != nil {
		return err
	}
	p, err := readProfile(e, name)
	if err != nil {
		return err
	}
	index, err := p.Index(f.index)
	if err != nil {
		return usagef("-sample_index: %w", err)
	}
	out := bufio.NewWriter(e.stdout)
	switch {
	case f.totals:
		err = f.printTotals(out, p)
	case f.list != "":
		err = f.printList(out, p, index)
	default:
		err = f.printTop(out, p, index)
	}
	return errors.Join(err, out.Flush())
}

// readProfile decodes the profile in a file, - for standard input.
func readProfile(e *env, name string) (*profile.Profile, error) {
	var data []byte
	var err error
	if name == "-" {
		data, err = io.ReadAll(e.stdin)
	} else {
		data, err = os.ReadFile(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exitError{exitNothing, fmt.Errorf("cannot find %s", name)}
	}
	if info, serr := os.Stat(name); serr == nil && info.IsDir() {
		return nil, fmt.Errorf("cannot read profile %s: it is a directory (of a recording, name a profile in it: %s)", name, filepath.Join(name, "cpu.pb.gz"))
	}
	if err != nil {
		return nil, err
	}
	p, err := profile.Decode(data, profile.Options{})
	if err != nil {
		return nil, fmt.Errorf("cannot read profile %s: %w", name, err)
	}
	return p, nil
}

func (f *pprofFlags) header(p *profile.Profile, index int) calltree.Header {
	h := calltree.Header{
		Comments: p.Comments, Type: p.SampleTypes[index].Type, Unit: p.SampleTypes[index].Unit,
		DocURL: p.DocURL, Time: p.Time, Duration: p.Duration,
	}
	if len(p.Mappings) > 0 {
		h.File, h.BuildID = p.Mappings[0].File, p.Mappings[0].BuildID
	}
	if f.unit != "minimum" {
		h.OutputUnit = f.unit
	}
	return h
}

func (f *pprofFlags) printTop(w io.Writer, p *profile.Profile, index int) error {
	opt := calltree.PprofDefaults
	opt.NodeFraction = f.nodefraction
	opt.NodeCount = max(f.nodecount, 0)
	if f.cum && !f.flat {
		opt.Order = calltree.ByCum
	}
	r := calltree.Top(p.Stacks, p.Samples(index), opt)
	if !f.json {
		return calltree.WriteTop(w, f.header(p, index), r)
	}
	type row struct {
		Name        string `json:"name"`
		File        string `json:"file,omitempty"`
		Flat        int64  `json:"flat"`
		Cum         int64  `json:"cum"`
		FlatSamples int64  `json:"flat_samples"`
		CumSamples  int64  `json:"cum_samples"`
	}
	rows := []row{}
	for _, x := range r.Rows {
		rows = append(rows, row{x.Name, p.Stacks.Frame(x.Frame).File, x.Flat, x.Cum, x.FlatSamples, x.CumSamples})
	}
	return report.WriteJSON(w, map[string]any{
		"schema": "loupe.top/1", "type": p.SampleTypes[index].Type, "unit": p.SampleTypes[index].Unit,
		"total": r.Total, "samples": r.Samples, "rows": rows,
	})
}

func (f *pprofFlags) printList(w io.Writer, p *profile.Profile, index int) error {
	re, err := regexp.Compile(f.list)
	if err != nil {
		return usagef("-list: %w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	l, err := calltree.List(p.Stacks, calltree.Plain(p.Samples(index)), re, func(file string) ([]byte, error) { return readSource(dir, file) }, calltree.Options{})
	if err != nil {
		return exitError{exitNothing, err}
	}
	if !f.json {
		return calltree.WriteList(w, f.header(p, index), l)
	}
	type line struct {
		Number int    `json:"line"`
		Flat   int64  `json:"flat"`
		Cum    int64  `json:"cum"`
		Text   string `json:"text"`
	}
	type routine struct {
		Func  string `json:"function"`
		File  string `json:"file"`
		Flat  int64  `json:"flat"`
		Cum   int64  `json:"cum"`
		Lines []line `json:"lines"`
		Error string `json:"error,omitempty"`
	}
	var out []routine
	for _, r := range l.Routines {
		x := routine{Func: r.Func, File: r.File, Flat: r.Flat, Cum: r.Cum}
		for _, n := range r.Lines {
			x.Lines = append(x.Lines, line{n.Number, n.Flat, n.Cum, n.Text})
		}
		if r.Err != nil {
			x.Error = r.Err.Error()
		}
		out = append(out, x)
	}
	return report.WriteJSON(w, map[string]any{
		"schema": "loupe.list/1", "type": p.SampleTypes[index].Type, "unit": p.SampleTypes[index].Unit, "total": l.Total, "routines": out,
	})
}

// readSource finds a source file as go tool pprof does (openSourceFile in its
// internal/report): a name that goes through a folder called like the working
// directory is taken from there on, so that the program may have been built in
// another checkout; what is relative is looked for in dir and all above it.
func readSource(dir, file string) ([]byte, error) {
	if _, below, found := strings.Cut(file, "/"+filepath.Base(dir)+"/"); found {
		file = below
	}
	file = filepath.FromSlash(file)
	if filepath.IsAbs(file) {
		return os.ReadFile(file)
	}
	for at := dir; ; at = filepath.Dir(at) {
		if text, err := os.ReadFile(filepath.Join(at, file)); err == nil {
			return text, nil
		}
		if at == filepath.Dir(at) {
			return nil, fmt.Errorf("could not find file %s on path %s", file, dir)
		}
	}
}

func (f *pprofFlags) printTotals(w io.Writer, p *profile.Profile) error {
	type row struct {
		Type  string `json:"type"`
		Unit  string `json:"unit"`
		Total int64  `json:"total"`
	}
	var rows []row
	for i, t := range p.SampleTypes {
		rows = append(rows, row{t.Type, t.Unit, p.Total(i)})
	}
	if f.json {
		return report.WriteJSON(w, map[string]any{"schema": "loupe.totals/1", "samples": p.Len(), "totals": rows})
	}
	for _, r := range rows {
		fmt.Fprintf(w, "%-16s %20d %s\n", r.Type, r.Total, r.Unit)
	}
	_, err := fmt.Fprintf(w, "%-16s %20d\n", "samples", p.Len())
	return err
}
