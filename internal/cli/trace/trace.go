package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"loupe/exectrace"
	"loupe/recording"
	"loupe/report"
	"loupe/sched"
	"loupe/source"
	"loupe/unit"
)

// traceVerb is one verb of loupe trace.
type traceVerb struct {
	name  string
	args  string // behind the file, if it takes any
	short string
	run   func(e *env, f *traceFlags, args []string) error
}

// traceVerbs returns the verbs in the order of the help text.
func traceVerbs() []traceVerb {
	return []traceVerb{
		{"summary", "", "what the trace is, and the heaviest of everything", analysed(func(a *sched.Analysis, f *traceFlags) *report.Trace { return report.TraceSummary(a) })},
		{"goroutines", "", "groups by function, or with -by creator by go statement", analysed(func(a *sched.Analysis, f *traceFlags) *report.Trace {
			return report.TraceGoroutines(a, f.by == "creator", f.top)
		})},
		{"goroutine", "ID", "the life of one goroutine: its states, stacks, and who woke it", traceGoroutine},
		{"blocked", "", "where goroutines waited, for what, who ended it, and who waits still", analysed(func(a *sched.Analysis, f *traceFlags) *report.Trace { return report.TraceBlocked(a, f.top) })},
		{"sched", "", "waits for a P, how many ran side by side, the longest runs", analysed(func(a *sched.Analysis, f *traceFlags) *report.Trace { return report.TraceSched(a, f.top) })},
		{"tasks", "[ID]", "user tasks by type with their regions; with an id, its tree and critical path", traceTasks},
		{"regions", "", "user regions by type, and what their goroutines did", analysed(func(a *sched.Analysis, f *traceFlags) *report.Trace { return report.TraceRegions(a, f.top) })},
		{"stw", "", "stop-the-worlds, mark assists, collections", analysed(func(a *sched.Analysis, f *traceFlags) *report.Trace { return report.TraceSTW(a, f.top) })},
		{"mmu", "", "what the collector leaves to the program in any window; -sweep, -per-proc", traceMMU},
		{"profile", "", "functions by time in a state: -kind net, sync, syscall, sched, off-cpu, cpu, running", traceProfile},
		{"events", "", "every event in words; -raw as the file has them", traceEvents},
		{"cut", "", "write the part between -from and -to as a trace of its own, -o", traceCut},
		{"index", "", "make the timeline, for drawing at any zoom, and keep it beside the trace", traceIndex},
		{"export", "", "every stay of a goroutine in a state, -format csv, json or perfetto", traceExport},
		{"compare", "B", "two traces side by side, by function, reason, task and region", traceCompare},
	}
}

// traceFlags are those of all verbs.
type traceFlags struct {
	verb               string
	filter, by, format string
	out, kind          string
	maxMemory          string
	limit              unit.Bytes // maxMemory; 0 for none
	json, compat, raw  bool
	sweep, perProc     bool
	given              func(flag string) bool
	top                int
	from, to           time.Duration

	parsed *sched.Filter
}

// newTraceCommand is a function because its help lists the verbs.
func newTraceCommand() *command {
	return &command{
		name:  "trace",
		short: "what an execution trace of any Go version shows",
		args:  "VERB [flags] FILE|RECORDING",
		example: []string{
			"loupe trace summary trace.out",
			"loupe trace goroutines -by creator trace.out       which go statement cost what",
			"loupe trace blocked -filter 'func~handle dur>1ms' trace.out",
			"loupe trace sched REC                              the trace of a recording",
			"loupe trace tasks -json trace.out | jq .tasks",
		},
		about: traceHelp(),
		files: true,
		reads: true,
		setup: func(fs *flagSet) func(*env, []string) error {
			f := &traceFlags{}
			fs.StringVar(&f.filter, "filter", "", "look at a part: `terms` like \"func~handle state=waiting dur>1ms\"")
			fs.StringVar(&f.by, "by", "function", "goroutines: group by `function or creator`")
			fs.IntVar(&f.top, "n", 20, "show at most `n` rows of each table")
			fs.BoolVar(&f.json, "json", false, "print JSON ("+report.TraceSchema+")")
			fs.StringVar(&f.format, "format", "text", "`text, md, csv or json`; export: csv, json or perfetto")
			fs.BoolVar(&f.compat, "compat", false, "count as go tool trace does, where that is wrong")
			fs.StringVar(&f.out, "o", "", "cut, profile, export: `file` to write")
			fs.StringVar(&f.maxMemory, "max-memory", "", "stop at this `size` of memory beside the file (512MB), show what there is")
			fs.StringVar(&f.kind, "kind", "off-cpu", "profile: `state`: net, sync, syscall, sched, off-cpu, cpu or running")
			fs.BoolVar(&f.sweep, "sweep", false, "mmu: count sweeps as lost too")
			fs.BoolVar(&f.perProc, "per-proc", false, "mmu: for each P by itself")
			fs.BoolVar(&f.raw, "raw", false, "events: the undecoded ones, in the textual form of the format")
			fs.Var(offset{&f.from}, "from", "look at the time from here on, since the trace's `start`")
			fs.Var(offset{&f.to}, "to", "look at the time up to here; 0 is the `end`")
			f.given = fs.given
			return func(e *env, args []string) error { return runTrace(e, f, args) }
		},
	}
}

// traceHelp lists the verbs.
func traceHelp() string {
	var b strings.Builder
	b.WriteString("\nVerbs:\n")
	for _, v := range traceVerbs() {
		fmt.Fprintf(&b, "  %-14s %s\n", strings.TrimSpace(v.name+" "+v.args), v.short)
	}
	b.WriteString("\n" + sched.FilterHelp + "\n")
	b.WriteString(`
FILE is a trace as runtime/trace, net/http/pprof or go test -trace writes it,
of any Go version since 1.5; or a recording that has one. A trace that is cut or
damaged is read as far as it goes, and what was lost is said.`)
	return b.String()
}

func runTrace(e *env, f *traceFlags, args []string) error {
	if len(args) == 0 {
		return usagef("say what to show: %s", verbNames())
	}
	i := slices.IndexFunc(traceVerbs(), func(v traceVerb) bool { return v.name == args[0] })
	if i < 0 {
		if _, err := os.Stat(args[0]); err == nil { // loupe trace FILE
			return runTrace(e, f, append([]string{"summary"}, args...))
		}
		return usagef("there is no loupe trace %s; known are %s", args[0], verbNames())
	}
	if err := onlyFor(args[0], traceVerbFlags, f.given); err != nil {
		return err
	}
	if f.json {
		f.format = "json"
	}
	if formats := traceFormats(args[0]); !slices.Contains(formats, f.format) {
		return usagef("-format %s: known are %s", f.format, strings.Join(formats, ", "))
	}
	if f.by != "function" && f.by != "creator" {
		return usagef("-by %s: known are function, creator", f.by)
	}
	if f.top < 1 {
		return usagef("-n %d: at least one row", f.top)
	}
	var err error
	if f.maxMemory != "" {
		if f.limit, err = unit.ParseBytes(f.maxMemory); err != nil {
			return usagef("-max-memory: %w", err)
		}
	}
	if f.from > 0 {
		f.filter += " from=" + f.from.String()
	}
	if f.to > 0 {
		f.filter += " to=" + f.to.String()
	}
	if f.parsed, err = sched.ParseFilter(strings.TrimSpace(f.filter)); err != nil {
		return usageError{err}
	}
	if err := termsFor(args[0], f.parsed); err != nil {
		return err
	}
	f.verb = args[0]
	return traceVerbs()[i].run(e, f, args[1:])
}

// traceVerbFlags are the flags that some verbs alone know.
var traceVerbFlags = map[string][]string{
	"by": {"goroutines"}, "kind": {"profile"}, "sweep": {"mmu"}, "per-proc": {"mmu"}, "raw": {"events"},
	"o": {"cut", "profile", "export"},
}

// traceVerbTerms are the terms of a filter that make sense, beside those of times,
// for the verbs that do not show stays of goroutines in a state.
var traceVerbTerms = map[string][]string{
	"tasks": {"task", "dur"}, "regions": {"g", "task", "region"}, "stw": nil,
}

// termsFor refuses the terms that a verb would overlook.
func termsFor(verb string, f *sched.Filter) error {
	known, some := traceVerbTerms[verb]
	if f == nil || !some {
		return nil
	}
	for _, key := range f.Terms() {
		if !slices.Contains(known, key) {
			return usagef("-filter: loupe trace %s knows nothing of %s, which picks stays of goroutines; it takes %s", verb, key,
				strings.Join(append(slices.Clone(known), "from", "to"), ", "))
		}
	}
	return nil
}

// traceFormats are the formats that a verb has.
func traceFormats(verb string) []string {
	switch verb {
	case "export":
		return []string{"text", "csv", "json", "perfetto"}
	case "events":
		return []string{"text", "json"}
	}
	return []string{"text", "md", "csv", "json"}
}

func verbNames() string {
	var names []string
	for _, v := range traceVerbs() {
		names = append(names, v.name)
	}
	return strings.Join(names, ", ")
}

// analysed makes a verb of a view of the analysis.
func analysed(view func(*sched.Analysis, *traceFlags) *report.Trace) func(*env, *traceFlags, []string) error {
	return func(e *env, f *traceFlags, args []string) error {
		name, err := oneArg(args, "the trace")
		if err != nil {
			return err
		}
		key := pageKey(name, f.verb, f.filter, f.by, f.format, f.top, f.compat, f.limit, e.style(), isTerminal(e.stdout))
		return cachedPage(e.stdout, key, func(w io.Writer) error {
			t, done, err := openTrace(e, name)
			if err != nil {
				return err
			}
			defer done()
			a, err := sched.Analyze(t, sched.AnalyzeOptions{Filter: f.parsed, Top: f.top, Compat: f.compat, Stop: f.stopAt()})
			if err != nil {
				return err
			}
			return f.writeTo(w, e, view(a, f))
		})
	}
}

// stopAt returns a function that says when more memory is used than -max-memory
// allows, and makes the garbage collector keep to it as well as it can.
func (f *traceFlags) stopAt() func() bool {
	if f.limit == 0 {
		return nil
	}
	debug.SetMemoryLimit(int64(f.limit))
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	return func() bool {
		metrics.Read(sample)
		return sample[0].Value.Uint64() > uint64(f.limit)
	}
}

// write prints a view in the format that was asked for.
func (f *traceFlags) write(e *env, t *report.Trace) error { return f.writeTo(e.stdout, e, t) }

func (f *traceFlags) writeTo(out io.Writer, e *env, t *report.Trace) error {
	return buffered(out, func(w io.Writer) error {
		switch f.format {
		case "json":
			return report.WriteJSON(w, t)
		case "md":
			return report.WriteTraceMarkdown(w, t)
		case "csv":
			return report.WriteTraceCSV(w, t)
		}
		style := e.style()
		if !isTerminal(e.stdout) { // nobody's window is too narrow for it
			style.Width = 200
		}
		return report.WriteTrace(w, t, style)
	})
}

// openTrace opens a trace file, the trace of a recording, or with "-" what
// standard input brings.
func openTrace(e *env, name string) (t *exectrace.Trace, done func() error, err error) {
	done = nothingToClose
	var data io.ReaderAt
	var size int64
	if name == "-" {
		text, rerr := readStream(e.stdin, "standard input")
		data, size, err = bytes.NewReader(text), int64(len(text)), rerr
	} else {
		data, size, done, err = traceBytes(e, name)
	}
	if err != nil {
		return nil, nil, err
	}
	if t, err = exectrace.OpenReaderAt(data, size, exectrace.Options{}); err != nil {
		done()
		return nil, nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	return t, done, nil
}

// traceBytes opens a trace file, or finds the trace of a recording.
//
// Note: It is not mapped. Who runs go test -trace again makes the file shorter, and to
// read a mapping beyond the end of its file kills the program. Reading a generation
// at a time takes 1% more CPU time.
func traceBytes(e *env, name string) (io.ReaderAt, int64, func() error, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, nil, exitError{exitNothing, fmt.Errorf("cannot find %s", name)}
	case err != nil:
		return nil, 0, nil, err
	case info.IsDir() || strings.HasSuffix(name, ".zip"):
		return recordedTrace(name)
	case !info.Mode().IsRegular():
		data, err := source.ReadNamed(name)
		return bytes.NewReader(data), int64(len(data)), nothingToClose, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, nil, err
	}
	e.reads(name, info)
	return f, info.Size(), f.Close, nil
}

// recordedTrace finds the trace of a recording.
func recordedTrace(name string) (io.ReaderAt, int64, func() error, error) {
	rec, err := recording.OpenFile(name)
	if err != nil {
		return nil, 0, nil, err
	}
	main, ok := rec.Main(recording.ExecTrace)
	if !ok {
		rec.Close()
		return nil, 0, nil, exitError{exitNothing, fmt.Errorf("%s holds no execution trace (record one: loupe run -phases bare,trace …)", name)}
	}
	data, size, err := rec.ReaderAt(main.Path, source.MaxStream)
	if err != nil {
		rec.Close()
		return nil, 0, nil, err
	}
	return data, size, rec.Close, nil
}
