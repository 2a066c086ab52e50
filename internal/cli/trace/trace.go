// Package trace is loupe trace: one file for each verb.
package trace

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/internal/cli/kept"
	"loupe/internal/cli/loadflags"
	"loupe/report"
	"loupe/source"
	"loupe/value/unit"
)

// traceVerb is one verb of loupe trace.
type traceVerb struct {
	name  string
	args  string // behind the file, if it takes any
	short string
	run   func(e *command.Env, f *traceFlags, args []string) error
}

// traceVerbs returns the verbs in the order of the help text.
func traceVerbs() []traceVerb {
	return []traceVerb{
		{"summary", "", "overview, and the heaviest of everything", analysed(func(a *sched.Analysis, f *traceFlags) *report.Trace { return report.TraceSummary(a) })},
		{"goroutines", "", "groups by function, or with -by creator by go statement", analysed(func(a *sched.Analysis, f *traceFlags) *report.Trace {
			return report.TraceGoroutines(a, f.by == "creator", f.top)
		})},
		{"goroutine", "ID", "the life of one goroutine: its states, stacks, and who woke it", traceGoroutine},
		{"blocked", "", "where goroutines waited, for what, what ended the wait, and what still waits", analysed(func(a *sched.Analysis, f *traceFlags) *report.Trace { return report.TraceBlocked(a, f.top) })},
		{"sched", "", "scheduler latency, parallelism, the longest runs", analysed(func(a *sched.Analysis, f *traceFlags) *report.Trace { return report.TraceSched(a, f.top) })},
		{"requests", "[ID]", "where the time of typical and slow requests goes; with an id, of one; -slow", traceRequests},
		{"tasks", "[ID]", "user tasks by type with their regions; with an id, its tree and critical path", traceTasks},
		{"regions", "", "user regions by type, and what their goroutines did", analysed(func(a *sched.Analysis, f *traceFlags) *report.Trace { return report.TraceRegions(a, f.top) })},
		{"stw", "", "stop-the-world pauses, mark assists, collections", analysed(func(a *sched.Analysis, f *traceFlags) *report.Trace { return report.TraceSTW(a, f.top) })},
		{"mmu", "", "minimum mutator utilisation for any window; -sweep, -per-proc", traceMMU},
		{"profile", "", "functions by time in a state: -kind net, sync, syscall, sched, off-cpu, cpu, running, wall", traceProfile},
		{"events", "", "every event in words; -raw as in the file", traceEvents},
		{"cut", "", "write the part between -from and -to as a separate trace, -o", traceCut},
		{"index", "", "build the timeline for drawing at any zoom, and store it next to the trace", traceIndex},
		{"export", "", "every period of a goroutine in a state, -format csv, json or perfetto", traceExport},
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
	slow               bool
	given              func(flag string) bool
	asking             loadflags.Flags
	top                int
	from, to           time.Duration

	parsed *sched.Filter
}

// Command is loupe trace.
var Command = &command.Command{
	Name:  "trace",
	Short: "analyse execution traces of any Go version",
	Args:  "VERB [flags] FILE…|RECORDING",
	Example: []string{
		"loupe trace summary trace.out",
		"loupe trace goroutines -by creator trace.out       which go statement cost what",
		"loupe trace blocked -filter 'func~handle dur>1ms' trace.out",
		"loupe trace sched REC                              the trace of a recording",
		"loupe trace tasks -json trace.out | jq .tasks",
		"loupe trace summary snapshots/                     all of a flight recorder as one",
	},
	About: traceHelp(),
	Verbs: verbNames(),
	Files: true,
	Reads: true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		f := &traceFlags{}
		fs.StringVar(&f.filter, "filter", "", "select a part: `terms` like \"func~handle state=waiting dur>1ms\"")
		fs.StringVar(&f.by, "by", "function", "goroutines: group by `function or creator`")
		fs.IntVar(&f.top, "n", 20, "show at most `n` rows of each table")
		fs.BoolVar(&f.json, "json", false, "print JSON ("+report.TraceSchema+")")
		fs.StringVar(&f.format, "format", "text", "`text, md, csv or json`; export: csv, json or perfetto")
		fs.BoolVar(&f.compat, "compat", false, "count as go tool trace does, even where that is wrong")
		fs.StringVar(&f.out, "o", "", "cut, profile, export: `file` to write")
		fs.StringVar(&f.maxMemory, "max-memory", "", "stop at this `size` of memory besides the file (512MB), and show the result so far")
		fs.StringVar(&f.kind, "kind", "off-cpu", "profile: `state`: net, sync, syscall, sched, off-cpu, cpu, running or wall")
		fs.BoolVar(&f.sweep, "sweep", false, "mmu: count sweeps as lost too")
		fs.BoolVar(&f.perProc, "per-proc", false, "mmu: for each P separately")
		fs.BoolVar(&f.slow, "slow", false, "requests: the slow ones first")
		fs.BoolVar(&f.raw, "raw", false, "events: the undecoded ones, in the textual form of the format")
		fs.Var(offset{&f.from}, "from", "start at this time since the trace's `start`")
		fs.Var(offset{&f.to}, "to", "end at this time; 0 is the `end` of the trace")
		f.given = fs.Given
		f.asking.DeclareAccess(fs)
		return func(e *command.Env, args []string) error { return runTrace(e, f, args) }
	},
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
FILE is a trace written by runtime/trace, net/http/pprof or go test -trace, of any Go version
since 1.5; or a recording that has one. A truncated or damaged trace is read as far as it
goes, and what was lost is reported.

Several traces of one process (Go 1.22 and later), such as those of a flight recorder or
rotated by time, are shown as one: FILE FILE…, 'a pattern*', or a folder with them, in any
order. loupe reports if they are not from one process.
`)
	b.WriteString(door.Help[1:])
	return b.String()
}

func runTrace(e *command.Env, f *traceFlags, args []string) error {
	if len(args) == 0 {
		return command.Usagef("nothing to show: want one of %s", strings.Join(verbNames(), ", "))
	}
	i := slices.IndexFunc(traceVerbs(), func(v traceVerb) bool { return v.name == args[0] })
	if i < 0 {
		if isInput(args[0]) { // loupe trace FILE
			return runTrace(e, f, append([]string{"summary"}, args...))
		}
		return command.Usagef("there is no loupe trace %s; known are %s", args[0], strings.Join(verbNames(), ", "))
	}
	if err := command.OnlyFor(args[0], traceVerbFlags, f.given); err != nil {
		return err
	}
	if f.json {
		f.format = "json"
	}
	if formats := traceFormats(args[0]); !slices.Contains(formats, f.format) {
		return command.Usagef("-format %s: known are %s", f.format, strings.Join(formats, ", "))
	}
	if f.by != "function" && f.by != "creator" {
		return command.Usagef("-by %s: known are function, creator", f.by)
	}
	if f.top < 1 {
		return command.Usagef("-n %d: at least one row", f.top)
	}
	var err error
	if f.maxMemory != "" {
		if f.limit, err = unit.ParseBytes(f.maxMemory); err != nil {
			return command.Usagef("-max-memory: %w", err)
		}
	}
	if f.from > 0 {
		f.filter += " from=" + f.from.String()
	}
	if f.to > 0 {
		f.filter += " to=" + f.to.String()
	}
	if f.parsed, err = sched.ParseFilter(strings.TrimSpace(f.filter)); err != nil {
		return command.Usage(err)
	}
	if err := termsFor(args[0], f.parsed); err != nil {
		return err
	}
	if f.compat && f.parsed != nil && args[0] != "profile" { // a profile of times is theirs, too
		return command.Usagef("-compat counts whole lives, as go tool trace does, which has no filter: leave out -filter, -from and -to, or cut the part out (loupe trace cut)")
	}
	f.verb = args[0]
	return traceVerbs()[i].run(e, f, args[1:])
}

// traceVerbFlags are the flags that some verbs alone know.
var traceVerbFlags = map[string][]string{
	"by": {"goroutines"}, "kind": {"profile"}, "sweep": {"mmu"}, "per-proc": {"mmu"}, "raw": {"events"}, "slow": {"requests"},
	"o": {"cut", "profile", "export"},
}

// traceVerbTerms are the terms of a filter that make sense, beside those of times,
// for the verbs that do not show stays of goroutines in a state.
var traceVerbTerms = map[string][]string{
	"tasks": {"task", "dur"}, "regions": {"g", "task", "region"}, "stw": nil, "requests": {"dur"},
}

// termsFor refuses the terms that a verb would overlook.
func termsFor(verb string, f *sched.Filter) error {
	known, some := traceVerbTerms[verb]
	if f == nil || !some {
		return nil
	}
	for _, key := range f.Terms() {
		if !slices.Contains(known, key) {
			return command.Usagef("-filter: loupe trace %s does not support %s, which selects periods of goroutines; it takes %s", verb, key,
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

func verbNames() (names []string) {
	for _, v := range traceVerbs() {
		names = append(names, v.name)
	}
	return names
}

// analysed makes a verb of a view of the analysis.
func analysed(view func(*sched.Analysis, *traceFlags) *report.Trace) func(*command.Env, *traceFlags, []string) error {
	return func(e *command.Env, f *traceFlags, args []string) error {
		all, err := traceInputs(e, f.door(e), args...)
		if err != nil {
			return err
		}
		key := ""
		if len(all) == 1 {
			key = kept.Key(all[0], f.verb, f.filter, f.by, f.format, f.top, f.compat, f.limit, e.Style(), command.IsTerminal(e.Stdout))
		}
		return kept.Page(e.Stdout, key, func(w io.Writer) error {
			t, done, err := tracesOf(e, all)
			if err != nil {
				return err
			}
			defer done()
			a, err := sched.Analyze(t, sched.AnalyzeOptions{Filter: f.parsed, Top: f.top, Compat: f.compat, Stop: f.stopAt()})
			if err != nil {
				return err
			}
			return cmp.Or(f.writeTo(w, e, view(a, f)), f.nothing(namesOf(all), f.shows(a)))
		})
	}
}

// shows tells whether the filter has left anything of what the verb shows.
func (f *traceFlags) shows(a *sched.Analysis) bool {
	switch f.verb {
	case "tasks":
		return len(a.Tasks) > 0
	case "regions":
		return len(a.Regions) > 0
	case "blocked":
		return len(a.Blocks)+len(a.Left) > 0
	case "stw":
		return a.Covers.Len() > 0
	}
	return len(a.Groups) > 0
}

// nothing is the error of a filter that has left nothing: an empty table is not
// taken for a program that does nothing then.
func (f *traceFlags) nothing(name string, some bool) error {
	if some || f.parsed == nil {
		return nil
	}
	return command.Nothingf("nothing in %s matches the filter %q (loupe trace %s without it shows everything)", name, strings.TrimSpace(f.filter), f.verb)
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
func (f *traceFlags) write(e *command.Env, t *report.Trace) error { return f.writeTo(e.Stdout, e, t) }

func (f *traceFlags) writeTo(out io.Writer, e *command.Env, t *report.Trace) error {
	style := e.Style()
	if !command.IsTerminal(e.Stdout) { // nobody's window is too narrow for it
		style.Width = 200
	}
	return command.Buffered(out, func(w io.Writer) error { return report.WriteTraceAs(w, t, f.format, style) })
}

// door is where the trace of what runs comes from.
func (f *traceFlags) door(e *command.Env) *source.Door { return door.New(e, "trace", &f.asking) }

// openTrace opens what was named as a trace, which done closes.
func openTrace(e *command.Env, f *traceFlags, name string) (t *exectrace.Trace, done func() error, err error) {
	all, err := traceInputs(e, f.door(e), name)
	if err != nil {
		return nil, nil, err
	}
	return tracesOf(e, all)
}

// traceOf opens an input as a trace, which done closes.
func traceOf(e *command.Env, in *source.Input) (t *exectrace.Trace, done func() error, err error) {
	data, size, done, err := door.TraceBytes(in)
	if err != nil {
		return nil, nil, err
	}
	if t, err = exectrace.OpenReaderAt(data, size, exectrace.Options{}); err != nil {
		done()
		return nil, nil, fmt.Errorf("cannot read %s: %w", in.Name, err)
	}
	tellMissing(e, in.Name, t)
	return t, done, nil
}

// tellMissing says that a trace is not whole: not every form has room for it, and
// what comes is of a part.
func tellMissing(e *command.Env, name string, t *exectrace.Trace) {
	if all := t.Problems(); len(all) > 0 {
		fmt.Fprintf(e.Stderr, "loupe trace: not all of %s could be read: %v\n", name, all[0])
	}
}

// isInput tells whether an argument names something to look at, and is no mistyped verb.
func isInput(name string) bool {
	_, err := os.Stat(name)
	return err == nil || name == "-" || strings.ContainsAny(name, "./*?[") || source.IsAddress(name)
}
