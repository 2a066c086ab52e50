package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/unit"
)

// TraceGoroutines are the groups of goroutines, by function or by the go
// statement that made them.
func TraceGoroutines(a *sched.Analysis, byCreator bool, top int) *Trace {
	if !byCreator {
		s := groupSheet(a.Reader, a.Groups, top)
		s.Title = "Goroutines by their start function"
		return &Trace{Sheets: with(lostSheet(a), s)}
	}
	r := a.Reader
	s := &Sheet{Key: "groups", Title: "Goroutines by the go statement that started them", Columns: []Column{
		{"creator", "go statement"}, {"function", "function"}, {"count", "count"}, {"peak", "peak"}, {"exec_ns", "running"}, {"exec_mean_ns", "each"},
		{"sched_wait_ns", "for a P"}, {"blocked_ns", "waiting"}, {"life_p50_ns", "life p50"}, {"life_p99_ns", "life p99"},
	}}
	for _, g := range a.Creators[:min(top, len(a.Creators))] {
		s.Rows = append(s.Rows, []any{StackOf(r, g.Creator), nameOf(r, g.Name), g.Count, g.Peak, g.Exec, g.Exec / time.Duration(g.Count), g.SchedWait, g.Blocked.Sum(),
			quantile(&g.Life, 0.5), quantile(&g.Life, 0.99)})
	}
	if len(a.Creators) == 0 {
		s.Notes = append(s.Notes, "No goroutine was created during the trace.")
	}
	return &Trace{Sheets: with(lostSheet(a), s.More(len(a.Creators)-top, "go statements"))}
}

// TraceBlocked is where goroutines waited, and where those still are that the
// end of the trace found there.
func TraceBlocked(a *sched.Analysis, top int) *Trace {
	r := a.Reader
	blocks := blockSheet(r, a.Blocks, top)
	blocks.Title = "Where goroutines waited"
	if len(a.Blocks) == 0 {
		blocks.Notes = append(blocks.Notes, "No wait ended during the trace.")
	}
	pairs := &Sheet{Key: "alternating", Title: "Pairs that wake each other in turn", Columns: []Column{
		{"reason", "waits for"}, {"count", "count"}, {"share", "of the waits"}, {"stack", "where"}, {"by", "woken from"},
	}}
	for _, b := range a.Blocks {
		if b.Alternating >= 100 && 2*b.Alternating >= b.Wait.Count && len(pairs.Rows) < top {
			var by any
			if len(b.Wakers) > 0 {
				by = StackOf(r, b.Wakers[0].Stack)
			}
			pairs.Rows = append(pairs.Rows, []any{reasonAt(r, b.State, b.Reason, b.Stack), b.Alternating, Share(float64(b.Alternating) / float64(b.Wait.Count)), StackOf(r, b.Stack), by})
		}
	}
	sheets := with(lostSheet(a), blocks)
	if len(pairs.Rows) > 0 {
		sheets = append(sheets, pairs)
	}
	sheets = append(sheets, siteSheet(a, top))
	left := &Sheet{Key: "left", Title: "Goroutines that had not ended", Columns: []Column{
		{"count", "count"}, {"state", "state"}, {"longest_ns", "for up to"}, {"function", "function"}, {"stack", "where"}, {"created", "created in the trace"}, {"example", "one of them"},
	}}
	for _, l := range a.Left[:min(top, len(a.Left))] {
		left.Rows = append(left.Rows, []any{l.Count, reasonAt(r, l.State, l.Reason, l.Stack), l.Longest, nameOf(r, l.Name), StackOf(r, l.Stack), l.Created, int64(l.Example)})
	}
	left.More(len(a.Left)-top, "places")
	return &Trace{Sheets: with(append(sheets, left)...)}
}

// siteSheet counts the waits at channels by the line, whatever leads there: how
// often a channel hands over, and to whom.
func siteSheet(a *sched.Analysis, top int) *Sheet {
	type site struct {
		where, reason string
		count         int64
		sum           time.Duration
	}
	sites := map[string]*site{}
	for _, b := range a.Blocks {
		reason := a.Reader.Name(b.Reason)
		if b.State != exectrace.Waiting || !strings.Contains(reason, "chan") && reason != "select" {
			continue
		}
		where := StackOf(a.Reader, b.Stack).Where
		s := sites[where+reason]
		if s == nil {
			s = &site{where: where, reason: reason}
			sites[where+reason] = s
		}
		s.count += b.Wait.Count
		s.sum += b.Wait.Sum
	}
	if len(sites) == 0 {
		return nil
	}
	list := slices.SortedFunc(maps.Values(sites), func(x, y *site) int {
		return cmp.Or(cmp.Compare(y.count, x.count), cmp.Compare(x.where, y.where))
	})
	seconds := max(a.Covers.Len().Seconds(), 1e-9)
	out := &Sheet{Key: "sites", Title: "Channels by line", Columns: []Column{{"where", "where"}, {"operation", "operation"}, {"count", "waits"}, {"per_second", "a second"}, {"mean_ns", "each"}}}
	for _, s := range head(list, top) {
		out.Rows = append(out.Rows, []any{s.where, s.reason, s.count, float64(s.count) / seconds, s.sum / time.Duration(max(1, s.count))})
	}
	return out.More(len(list)-top, "lines")
}

// TraceSched is how long goroutines waited for a P, and how the Ps were used.
func TraceSched(a *sched.Analysis, top int) *Trace {
	p := a.Parallel
	span := float64(max(1, a.Covers.Len()))
	facts := []Fact{
		{"procs", "GOMAXPROCS", p.Procs},
		{"sched_wait", "wait for a P", spread(&a.Latency.All)},
		{"runs", "runs", spread(&a.Runs.All)},
		{"short_runs_share", "runs below 10 µs", Share(a.Runs.All.Below(10 * time.Microsecond))},
		{"sched_wait_histogram", "waits, by powers of two", Distribution{&a.Latency.All}},
		{"runs_histogram", "runs, by powers of two", Distribution{&a.Runs.All}},
	}
	side := &Sheet{Key: "parallel", Title: "Goroutines of the program that ran in parallel", Columns: []Column{{"running", "running"}, {"time_ns", "for"}, {"share", "of the time"}}}
	if a.Picks {
		side = &Sheet{Notes: []string{"The figures cover only what the filter selects. Figures of all Ps are left out: how many ran in parallel, idle and stolen Ps."}}
	} else {
		facts = slices.Insert(facts, 1, Fact{"running_mean", "running in parallel", sideBySide(a)})
		facts = slices.Insert(facts, len(facts)-2,
			Fact{"idle_while_queued_ns", "", p.IdleWhileQueued},
			Fact{"idle_while_queued", "a P idle, a goroutine waiting", fmt.Sprintf("%s of the time, at most %s at a stretch", unit.Percent(float64(p.IdleWhileQueued)/span), unit.Duration(p.LongestIdle))},
			Fact{"steals", "Ps taken from system calls", p.Steals},
			Fact{"use", "Ps in use over time", Course{p.Use.Start.Sub(a.Info.Span.Start), p.Use.Width, p.Use.Values(), float64(p.Procs)}},
		)
		for k, d := range p.Running {
			if d > 0 {
				side.Rows = append(side.Rows, []any{k, d, Share(float64(d) / span)})
			}
		}
	}
	return &Trace{Facts: facts, Sheets: with(lostSheet(a), side,
		latencySheet(a, top),
		intervalSheet(a, "waits", "The longest waits for a P", a.Latency.Worst),
		intervalSheet(a, "long_runs", "The longest runs without yielding the P", a.Runs.Longest),
	)}
}

// TraceHogs are the functions whose long runs kept others from running.
func TraceHogs(a *sched.Analysis, top int) *Sheet {
	s := &Sheet{Key: "hogs", Title: "What keeps others from running", Columns: []Column{
		{"function", "function"}, {"runs", "long runs"}, {"p50_ns", "run p50"}, {"longest_ns", "longest run"}, {"delay_ns", "others waited"}, {"worst_delay_ns", "at worst"}, {"at_ns", "at"}, {"stack", "then at"},
	}}
	for _, h := range head(a.Hogs, top) {
		s.Rows = append(s.Rows, []any{nameOf(a.Reader, h.Name), h.Runs.Count, h.Runs.Quantile(0.5), h.Runs.Max, h.Delay, h.WorstDelay, time.Duration(h.Worst.Start - a.Info.Span.Start), StackOf(a.Reader, h.Worst.Stack)})
	}
	if len(a.Hogs) == 0 {
		s.Notes = append(s.Notes, "No goroutine ran for 10 ms or more while another one waited for a P.")
	}
	return s.More(len(a.Hogs)-top, "functions")
}

// latencySheet is the waits for a P by function.
func latencySheet(a *sched.Analysis, top int) *Sheet {
	s := &Sheet{Key: "latency", Title: "Waits for a P by function", Columns: []Column{
		{"function", "function"}, {"count", "count"}, {"total_ns", "in all"}, {"p50_ns", "p50"}, {"p99_ns", "p99"}, {"max_ns", "longest"}, {"runs", "runs"}, {"run_p50_ns", "run p50"}, {"run_max_ns", "longest run"},
	}}
	for _, g := range a.Groups[:min(top, len(a.Groups))] {
		s.Rows = append(s.Rows, []any{nameOf(a.Reader, g.Name), g.Wait.Count, g.Wait.Sum, quantile(&g.Wait, 0.5), quantile(&g.Wait, 0.99), quantile(&g.Wait, 1), g.Run.Count, quantile(&g.Run, 0.5), quantile(&g.Run, 1)})
	}
	return s.More(len(a.Groups)-top, "functions")
}

// intervalSheet lists single stays in a state.
func intervalSheet(a *sched.Analysis, key, title string, list []sched.Interval) *Sheet {
	s := &Sheet{Key: key, Title: title, Columns: []Column{{"length_ns", "length"}, {"at_ns", "at"}, {"goroutine", "goroutine"}, {"function", "function"}, {"stack", "then at"}}}
	for i := range list {
		s.Rows = append(s.Rows, []any{list[i].Len(), time.Duration(list[i].Start - a.Info.Span.Start), fmt.Sprint(list[i].G), nameOf(a.Reader, list[i].Name), StackOf(a.Reader, list[i].Stack)})
	}
	return s
}

// TraceTasks are the user tasks, each type with the regions inside of it.
func TraceTasks(a *sched.Analysis, top int) *Trace {
	s := taskSheet(a.Reader, a.Tasks)
	if len(a.Tasks) == 0 {
		s.Notes = append(s.Notes, "The trace has no user tasks: runtime/trace.NewTask makes one.")
	}
	sheets := with(lostSheet(a), s)
	inside := &Sheet{Key: "regions", Title: "Regions inside the tasks", Columns: append([]Column{{"task", "task"}}, regionColumns...)}
	for _, t := range a.Tasks {
		for _, g := range t.Regions[:min(top, len(t.Regions))] {
			inside.Rows = append(inside.Rows, append([]any{a.Reader.Name(t.Name)}, regionRow(a.Reader, g, totalOf(t.Regions))...))
		}
	}
	if len(inside.Rows) > 0 {
		sheets = append(sheets, inside)
	}
	slow := &Sheet{Key: "slowest", Title: "The slowest tasks", Columns: []Column{{"task", "task"}, {"id", "id"}, {"time_ns", "took"}, {"at_ns", "at"}, {"goroutines", "goroutines"}, {"regions", "regions"}, {"logs", "messages"}}}
	for _, t := range a.Tasks {
		for _, k := range t.Worst[:min(3, len(t.Worst))] {
			slow.Rows = append(slow.Rows, []any{a.Reader.Name(t.Name), fmt.Sprint(k.ID), k.Duration(), time.Duration(k.Start - a.Info.Span.Start), len(k.Goroutines), k.Regions, k.Logs})
		}
	}
	if len(slow.Rows) > 0 {
		sheets = append(sheets, slow)
	}
	return &Trace{Sheets: sheets}
}

var regionColumns = []Column{
	{"region", "region"}, {"count", "count"}, {"incomplete", "cut off"}, {"total_ns", "in all"}, {"share", "share"}, {"p50_ns", "p50"}, {"p99_ns", "p99"}, {"max_ns", "longest"}, {"histogram", "distribution"},
	{"exec_ns", "running"}, {"sched_wait_ns", "for a P"}, {"syscall_ns", "syscall"}, {"blocked_ns", "waiting"},
}

func totalOf(regions []*sched.RegionGroup) (sum time.Duration) {
	for _, g := range regions {
		sum += g.Total
	}
	return sum
}

func regionRow(r *exectrace.Reader, g *sched.RegionGroup, all time.Duration) []any {
	return []any{r.Name(g.Name), g.Count, g.Incomplete, g.Total, Share(float64(g.Total) / float64(max(1, all))), g.Time.Quantile(0.5), g.Time.Quantile(0.99), g.Time.Max, Distribution{&g.Time},
		g.Exec, g.SchedWait, g.Syscall + g.SyscallBlock, g.Blocked.Sum()}
}

// TraceRegions are the user regions by type.
func TraceRegions(a *sched.Analysis, top int) *Trace {
	s := &Sheet{Key: "regions", Title: "Regions", Columns: regionColumns}
	for _, g := range a.Regions[:min(top, len(a.Regions))] {
		s.Rows = append(s.Rows, regionRow(a.Reader, g, totalOf(a.Regions)))
	}
	if len(a.Regions) == 0 {
		s.Notes = append(s.Notes, "The trace has no user regions: runtime/trace.WithRegion makes one.")
	}
	s.More(len(a.Regions)-top, "regions")
	return &Trace{Sheets: with(lostSheet(a), s)}
}

// TraceSTW is what the collector and others have stopped the program for.
func TraceSTW(a *sched.Analysis, top int) *Trace {
	r := a.Reader
	kinds := &Sheet{Key: "stw", Title: "Stop-the-worlds", Columns: []Column{{"kind", "kind"}, {"count", "count"}, {"total_ns", "in all"}, {"p50_ns", "p50"}, {"p99_ns", "p99"}, {"max_ns", "longest"}}}
	for i := range a.GC.Pauses {
		p := &a.GC.Pauses[i]
		kinds.Rows = append(kinds.Rows, []any{r.Name(p.Kind), p.Count, p.Sum, p.Quantile(0.5), p.Quantile(0.99), p.Max})
	}
	worst := &Sheet{Key: "worst", Title: "The longest ones", Columns: []Column{{"length_ns", "length"}, {"at_ns", "at"}, {"kind", "kind"}, {"goroutine", "goroutine"}, {"stack", "where"}}}
	for _, p := range a.GC.Worst {
		worst.Rows = append(worst.Rows, []any{p.Span.Len(), time.Duration(p.Span.Start - a.Info.Span.Start), r.Name(p.Kind), fmt.Sprint(p.G), StackOf(r, p.Stack)})
	}
	assists := &Sheet{Key: "assists", Title: "Mark assists by function", Columns: []Column{{"function", "function"}, {"count", "count"}, {"total_ns", "in all"}, {"p50_ns", "p50"}, {"p99_ns", "p99"}, {"max_ns", "longest"}}}
	for i := range a.GC.Assists[:min(top, len(a.GC.Assists))] {
		k := &a.GC.Assists[i]
		assists.Rows = append(assists.Rows, []any{nameOf(r, k.Name), k.Count, k.Sum, k.Quantile(0.5), k.Quantile(0.99), k.Max})
	}
	if len(assists.Rows) == 0 {
		assists.Notes = append(assists.Notes, "No goroutine had to help the collector (no mark assists).")
	}
	cycles := &Sheet{Key: "cycles", Title: "Collections", Columns: []Column{{"at_ns", "at"}, {"mark_ns", "marking"}, {"assist_ns", "assists"}, {"paused_ns", "stopped"}, {"heap_bytes", "objects"}, {"whole", "whole"}}}
	for _, c := range a.GC.Cycles[:min(top, len(a.GC.Cycles))] {
		cycles.Rows = append(cycles.Rows, []any{time.Duration(c.Span.Start - a.Info.Span.Start), c.Span.Len(), c.Assist, c.Paused, Bytes(c.Heap), yes(c.Whole)})
	}
	if len(a.GC.Cycles) == 0 {
		cycles.Notes = append(cycles.Notes, "No collection was marking during the trace.")
	}
	cycles.More(len(a.GC.Cycles)-top, "collections")
	return &Trace{Sheets: with(lostSheet(a), kinds, stopSheet(a, top), worst, assists, cycles)}
}

// stopSheet are the stop-the-worlds by kind and by where they were asked for.
func stopSheet(a *sched.Analysis, top int) *Sheet {
	s := &Sheet{Key: "stops", Title: "Where they were requested", Columns: []Column{{"kind", "kind"}, {"count", "count"}, {"total_ns", "in all"}, {"stopping_ns", "stopping"}, {"max_ns", "longest"}, {"stack", "where"}}}
	for i := range a.GC.Stops[:min(top, len(a.GC.Stops))] {
		p := &a.GC.Stops[i]
		s.Rows = append(s.Rows, []any{a.Reader.Name(p.Kind), p.Count, p.Sum, p.Stopping, p.Max, StackOf(a.Reader, p.Stack)})
	}
	s.More(len(a.GC.Stops)-top, "places")
	return s
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
