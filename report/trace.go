package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/unit"
)

// TraceSchema is the version of the JSON form of everything that loupe trace
// prints.
const TraceSchema = "loupe.trace/1"

// Trace is what loupe trace says of one trace: facts first, then tables. Other
// views of facts and tables are of this form too.
type Trace struct {
	// Schema is the version of the JSON form; "" is [TraceSchema].
	Schema string
	Facts  []Fact
	Sheets []*Sheet
}

// Fact is one figure of a trace as a whole.
type Fact struct {
	// Key names it in JSON, Head in text; without one it is left out there.
	Key, Head string
	Value     any
}

// MarshalJSON puts the facts and the tables side by side in one object.
func (t *Trace) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, `{"schema":%q`, cmp.Or(t.Schema, TraceSchema))
	add := func(key string, v any) error {
		value, err := json.Marshal(v)
		if err == nil {
			fmt.Fprintf(&b, ",%q:%s", key, value)
		}
		return err
	}
	var notes []string
	for _, f := range t.Facts {
		if f.Key == "" {
			continue
		}
		if err := add(f.Key, plain(f.Value)); err != nil {
			return nil, err
		}
	}
	for _, s := range t.Sheets {
		notes = append(notes, s.Notes...)
		if s.Key == "" {
			continue
		}
		if err := add(s.Key, s); err != nil {
			return nil, err
		}
	}
	if len(notes) > 0 {
		if err := add("notes", notes); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}

// WriteTrace prints t as text.
func WriteTrace(out io.Writer, t *Trace, s Style) error {
	w := &lines{w: out}
	g := &grid{}
	for _, f := range t.Facts {
		if f.Head == "" {
			continue
		}
		txt, _ := text(f.Value)
		g.add(cell{text: f.Head, paint: dim, left: true}, cell{text: txt, left: true})
	}
	g.write(w, s, "  ")
	for i, sheet := range t.Sheets {
		if i > 0 || len(g.rows) > 0 {
			w.printf("\n")
		}
		if err := WriteSheet(w, sheet, s); err != nil {
			return err
		}
	}
	return w.err
}

// WriteTraceAs prints t as "json", "md" or "csv", and in any other format as text.
func WriteTraceAs(w io.Writer, t *Trace, format string, s Style) error {
	switch format {
	case "json":
		return WriteJSON(w, t)
	case "md":
		return WriteTraceMarkdown(w, t)
	case "csv":
		return WriteTraceCSV(w, t)
	}
	return WriteTrace(w, t, s)
}

// WriteTraceMarkdown prints t as Markdown.
func WriteTraceMarkdown(out io.Writer, t *Trace) error {
	w := &lines{w: out}
	for _, f := range t.Facts {
		if f.Head != "" {
			txt, _ := text(f.Value)
			w.printf("- %s: %s\n", escape(f.Head), escape(txt))
		}
	}
	for _, sheet := range t.Sheets {
		w.printf("\n")
		if err := WriteSheetMarkdown(w, sheet); err != nil {
			return err
		}
	}
	return w.err
}

// StackOf is a stack as it is shown: its line is that of the program's own
// code nearest to the leaf, or the leaf where there is none.
func StackOf(r *exectrace.Reader, id stack.ID) Stack {
	frames := r.Stacks().Frames(id)
	if len(frames) == 0 {
		return Stack{Where: "–"}
	}
	var out Stack
	var scope stack.Scope
	where := -1
	for i, f := range frames {
		frame := r.Stacks().Frame(f)
		out.Frames = append(out.Frames, fmt.Sprintf("%s %s:%d", frame.Func, frame.File, frame.Line))
		if where < 0 && scope.IsOutsideStandard(frame) {
			where = i
		}
	}
	if where < 0 { // the standard library alone: the first that is not the runtime
		where = max(0, slices.IndexFunc(frames, func(f stack.FrameID) bool {
			return !stack.IsRuntime(stack.Package(r.Stacks().Frame(f).Func))
		}))
	}
	f := r.Stacks().Frame(frames[where])
	out.Where = fmt.Sprintf("%s %s:%d", stack.Short(f.Func), path.Base(f.File), f.Line)
	return out
}

// frames are the lines of a stack, leaf first.
func frames(r *exectrace.Reader, id stack.ID) []string {
	return StackOf(r, id).Frames
}

// nameOf is a function's name in short; of a goroutine that no event has told
// of, what can be said.
func nameOf(r *exectrace.Reader, n exectrace.NameID) string {
	if n == exectrace.NameNone {
		return "(" + exectrace.Unnamed + ")"
	}
	return r.Name(n)
}

// reasonOf is the state with its reason.
func reasonOf(r *exectrace.Reader, s exectrace.State, reason exectrace.NameID) string {
	if s == exectrace.Waiting {
		if reason == exectrace.NameNone {
			return "waiting"
		}
		return r.Name(reason)
	}
	return strings.ToLower(s.String())
}

// reasonAt is reasonOf at a stack, which tells waits for the collector from those
// for a lock.
func reasonAt(r *exectrace.Reader, s exectrace.State, reason exectrace.NameID, at stack.ID) string {
	if s == exectrace.Waiting && reason != exectrace.NameNone {
		return r.WaitReason(reason, at)
	}
	return reasonOf(r, s, reason)
}

// traceFacts are the figures that every verb may begin with.
func traceFacts(a *sched.Analysis) []Fact {
	i := a.Info
	var procs, threads any = i.Procs, i.Threads
	if i.Procs == 0 {
		procs = nil // a short trace of an old format does not say
	}
	facts := []Fact{
		{"format", "format", i.Format.String()},
		{"bytes", "size", Bytes(i.Bytes)},
		{"events", "events", i.Events},
		{"generations", "generations", i.Generations},
		{"span_ns", "time", i.Span.Len()},
		{"goroutines", "goroutines", i.Goroutines},
		{"procs", "GOMAXPROCS", procs},
		{"threads", "threads", threads},
	}
	lost := make([]string, 0, len(i.Problems))
	for _, p := range i.Problems {
		lost = append(lost, p.Error())
	}
	facts = append(facts, Fact{Key: "lost", Value: lost})
	return facts
}

// lostSheet says what could not be read.
func lostSheet(a *sched.Analysis) *Sheet {
	if len(a.Info.Problems) == 0 {
		return nil
	}
	s := &Sheet{Title: "Not all of the trace could be read"}
	for _, p := range a.Info.Problems[:min(5, len(a.Info.Problems))] {
		s.Notes = append(s.Notes, p.Error())
	}
	if more := len(a.Info.Problems) - 5; more > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("and %d more like that", more))
	}
	return s
}

// with drops the sheets that are nil.
func with(sheets ...*Sheet) []*Sheet {
	return slices.DeleteFunc(sheets, func(s *Sheet) bool { return s == nil })
}

// TraceSummary is the first page: what the trace is, and the heaviest of
// everything.
func TraceSummary(a *sched.Analysis) *Trace {
	facts := traceFacts(a)
	lat := &a.Latency.All
	if !a.Picks {
		facts = append(facts, Fact{"running_mean", "running in parallel", sideBySide(a)})
	}
	facts = append(facts,
		Fact{Key: "sched_wait_p99_ns", Value: lat.Quantile(0.99)},
		Fact{Head: "wait for a P", Key: "sched_wait", Value: spread(lat)},
	)
	if !a.Picks {
		facts = append(facts, Fact{Head: "collector", Key: "gc", Value: collector(a)})
	}
	groups := groupSheet(a.Reader, a.Groups, 10)
	groups.Title = "Goroutines by their start function"
	blocks := blockSheet(a.Reader, a.Blocks, 10)
	blocks.Title = "Where they waited"
	sheets := with(lostSheet(a), groups, blocks)
	switch {
	case a.Picks:
		groups.Notes = append(groups.Notes, "The figures cover only what the filter selects. Figures of the whole program are left out: how many ran in parallel, the collector's work, tasks.")
	case len(a.Tasks) > 0:
		sheets = append(sheets, taskSheet(a.Reader, a.Tasks))
	}
	return &Trace{Facts: facts, Sheets: sheets}
}

func sideBySide(a *sched.Analysis) string {
	p := a.Parallel
	if p.Procs == 0 {
		return fmt.Sprintf("%.2f goroutines on average", p.Mean())
	}
	return fmt.Sprintf("%.2f of %d Ps on average while any ran; exactly one for %s of that time", p.Mean(), p.Procs, unit.Percent(p.Share(1)))
}

// quantile is one of a distribution, and nothing where there is none.
func quantile(h *sched.Histogram, q float64) any {
	if h.Count == 0 {
		return nil
	}
	return h.Quantile(q)
}

// spread is a distribution in one line.
func spread(h *sched.Histogram) string {
	if h.Count == 0 {
		return "none"
	}
	return fmt.Sprintf("p50 %s, p99 %s, longest %s", unit.Duration(h.Quantile(0.5)), unit.Duration(h.Quantile(0.99)), unit.Duration(h.Max))
}

func collector(a *sched.Analysis) string {
	n := len(a.GC.Cycles)
	if n == 0 && len(a.GC.Pauses) == 0 {
		return "no collection"
	}
	var marking, worst time.Duration
	for _, c := range a.GC.Cycles {
		marking += c.Span.Len()
	}
	for _, p := range a.GC.Worst {
		worst = max(worst, p.Span.Len())
	}
	return fmt.Sprintf("%d cycles, marking in %s of the time; longest stop %s; assists %s", n,
		unit.Percent(float64(marking)/float64(max(1, a.Covers.Len()))), unit.Duration(worst), unit.Duration(a.GC.AssistTotal))
}

func groupSheet(r *exectrace.Reader, groups []*sched.Group, top int) *Sheet {
	s := &Sheet{Key: "groups", Columns: []Column{
		{"function", "function"}, {"count", "count"}, {"peak", "peak"}, {"exec_ns", "running"}, {"sched_wait_ns", "for a P"},
		{"syscall_ns", "syscall"}, {"blocked_ns", "waiting"}, {"wait_p99_ns", "P wait p99"}, {"run_p50_ns", "run p50"}, {"max_exec_ns", "longest"}, {"max_g", "its id"},
	}}
	for _, g := range groups[:min(top, len(groups))] {
		var longest any // nobody's when none has run
		if g.MaxExec > 0 {
			longest = int64(g.MaxG)
		}
		s.Rows = append(s.Rows, []any{nameOf(r, g.Name), g.Count, g.Peak, g.Exec, g.SchedWait, g.Syscall + g.SyscallBlock, g.Blocked.Sum(),
			quantile(&g.Wait, 0.99), quantile(&g.Run, 0.5), g.MaxExec, longest})
	}
	return s.More(len(groups)-top, "functions")
}

// byFlag is between what a note says of a table that was cut and the flags that show more.
const byFlag = "; -"

// WithoutFlags is a note for a reader who has no flags, as on a page.
func WithoutFlags(note string) string {
	if more, _, cut := strings.Cut(note, byFlag); cut {
		return more + " are not shown"
	}
	return note
}

// More notes that a table was cut.
func (t *Sheet) More(n int, what string) *Sheet {
	if n > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s more %s"+byFlag+"n shows more of them", unit.Count(int64(n)), what))
	}
	return t
}

func blockSheet(r *exectrace.Reader, blocks []*sched.Block, top int) *Sheet {
	s := &Sheet{Key: "blocked", Columns: []Column{
		{"reason", "waits for"}, {"count", "count"}, {"total_ns", "in all"}, {"p50_ns", "p50"}, {"p99_ns", "p99"}, {"max_ns", "longest"},
		{"stack", "where"}, {"by", "mostly woken from"}, {"by_share", "share"},
	}}
	for _, b := range blocks[:min(top, len(blocks))] {
		var by any = Stack{Where: "the runtime"}
		var share any
		if len(b.Wakers) > 0 {
			if b.Wakers[0].Stack != 0 {
				by = StackOf(r, b.Wakers[0].Stack)
			}
			share = Share(float64(b.Wakers[0].Count) / float64(b.Wait.Count))
		}
		s.Rows = append(s.Rows, []any{reasonAt(r, b.State, b.Reason, b.Stack), b.Wait.Count, b.Wait.Sum, b.Wait.Quantile(0.5), b.Wait.Quantile(0.99), b.Wait.Max,
			StackOf(r, b.Stack), by, share})
	}
	return s.More(len(blocks)-top, "places")
}

func taskSheet(r *exectrace.Reader, tasks []*sched.TaskGroup) *Sheet {
	s := &Sheet{Key: "tasks", Title: "Tasks", Columns: []Column{
		{"task", "task"}, {"count", "count"}, {"incomplete", "cut off"}, {"p50_ns", "p50"}, {"p90_ns", "p90"}, {"p99_ns", "p99"}, {"max_ns", "longest"}, {"slowest", "its id"}, {"histogram", "distribution"},
	}}
	for _, t := range tasks {
		var id any
		if len(t.Worst) > 0 {
			id = int64(t.Worst[0].ID)
		}
		name := r.Name(t.Name)
		if t.Name == exectrace.NameNone {
			name = "(started before the trace)"
		}
		s.Rows = append(s.Rows, []any{name, t.Count, t.Incomplete, quantile(&t.Latency, 0.5), quantile(&t.Latency, 0.9), quantile(&t.Latency, 0.99), quantile(&t.Latency, 1), id, Distribution{&t.Latency}})
	}
	if len(tasks) > 0 {
		s.Notes = append(s.Notes, "A distribution has one bar for each power of two of the duration.")
	}
	return s
}

// WriteTraceCSV prints the tables of t as CSV, with an empty line between two.
func WriteTraceCSV(out io.Writer, t *Trace) error {
	first := true
	for _, s := range t.Sheets {
		if s.Key == "" {
			continue
		}
		if !first {
			fmt.Fprintln(out)
		}
		first = false
		if err := WriteSheetCSV(out, s); err != nil {
			return err
		}
	}
	return nil
}
