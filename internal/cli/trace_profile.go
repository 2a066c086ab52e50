package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"loupe/calltree"
	"loupe/exectrace"
	"loupe/profile"
	"loupe/report"
	"loupe/sched"
	"loupe/stack"
	"loupe/timeline"
	"loupe/unit"
)

// profileKinds are the profiles that a trace has in it.
var profileKinds = []struct {
	name, about string
	kind        sched.ProfileKind
	counts      func(i *sched.Interval, reason string) bool // for a filter
}{
	{"net", "waiting for the network", sched.ProfileNet, func(i *sched.Interval, reason string) bool {
		return i.State == exectrace.Waiting && reason == "network"
	}},
	{"sync", "waiting for channels, selects and locks", sched.ProfileSync, func(i *sched.Interval, reason string) bool {
		return i.State == exectrace.Waiting && sched.IsSyncReason(reason)
	}},
	{"syscall", "in system calls", sched.ProfileSyscall, func(i *sched.Interval, _ string) bool { return i.State == exectrace.Syscall }},
	{"sched", "waiting for a P", sched.ProfileSched, func(i *sched.Interval, _ string) bool { return i.State == exectrace.Runnable }},
	{"off-cpu", "not running", sched.ProfileOffCPU, func(i *sched.Interval, _ string) bool { return i.State != exectrace.Running }},
	{"cpu", "samples of the CPU profiler", sched.ProfileCPU, nil},
	{"running", "running, by where each run ended", sched.ProfileRunning, nil},
}

// traceProfile prints the functions in which time was spent in some state, or
// writes them as a profile that go tool pprof opens.
func traceProfile(e *env, f *traceFlags, args []string) error {
	name, err := oneArg(args, "the trace")
	if err != nil {
		return err
	}
	i := slices.IndexFunc(profileKinds, func(k struct {
		name, about string
		kind        sched.ProfileKind
		counts      func(*sched.Interval, string) bool
	}) bool {
		return k.name == f.kind
	})
	if i < 0 {
		return usagef("-kind %q: known are net, sync, syscall, sched, off-cpu, cpu, running", f.kind)
	}
	kind := profileKinds[i]
	onlyTimes := false
	if f.parsed != nil {
		_, onlyTimes = f.parsed.Times(0)
	}
	if f.parsed != nil && kind.counts == nil && !onlyTimes {
		return usagef("-filter: -kind %s cannot be filtered", f.kind)
	}
	t, done, err := openTrace(e, name)
	if err != nil {
		return err
	}
	defer done()
	p := &sched.StateProfile{}
	switch {
	case f.parsed == nil || onlyTimes:
		p, err = wholeProfile(t, f.parsed, f.compat, kind.kind)
	case kind.kind == sched.ProfileSched:
		p, err = wakerProfile(t, f, kind.counts)
	default:
		p, err = filteredProfile(t, f, kind.counts)
	}
	if err != nil {
		return err
	}
	if len(p.IDs) == 0 {
		hint := ""
		if kind.kind == sched.ProfileCPU {
			hint = " (they are there when the CPU profiler runs beside the tracer)"
		}
		return exitError{exitNothing, fmt.Errorf("%s has no time %s%s", name, kind.about, hint)}
	}
	if f.out != "" {
		return writeFile(f.out, func(w *bufio.Writer) error { return pprofOf(p).Encode(w) })
	}
	return f.write(e, topOf(p, kind.about, f.top))
}

// wholeProfile reads one of a trace's profiles, restricted to times at most.
func wholeProfile(t *exectrace.Trace, times *sched.Filter, compat bool, kind sched.ProfileKind) (*sched.StateProfile, error) {
	r := t.Reader()
	var p *sched.StateProfiler
	for r.Next() {
		if p == nil {
			opts := sched.StateProfileOptions{Compat: compat}
			if times != nil {
				opts.Span, _ = times.Times(r.Event().Time)
			}
			p = sched.NewStateProfiler(r, opts)
		}
		p.Event(r.Event())
	}
	if p == nil {
		return &sched.StateProfile{}, r.Err()
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	p.Finish()
	return p.Profile(kind), nil
}

// filteredProfile adds up by stack the stays that the filter lets through.
func filteredProfile(t *exectrace.Trace, f *traceFlags, counts func(*sched.Interval, string) bool) (*sched.StateProfile, error) {
	at := map[stack.ID]int{}
	p := &sched.StateProfile{}
	_, err := sched.Analyze(t, sched.AnalyzeOptions{Filter: f.parsed, Top: 1, Each: func(r *exectrace.Reader, i *sched.Interval) {
		if !counts(i, r.Name(i.Reason)) {
			return
		}
		p.Stacks = r.Stacks()
		n, ok := at[i.Stack]
		if !ok {
			n = len(p.IDs)
			at[i.Stack] = n
			p.IDs, p.Counts, p.Nanos = append(p.IDs, i.Stack), append(p.Counts, 0), append(p.Nanos, 0)
		}
		p.Counts[n]++
		p.Nanos[n] += int64(i.Len())
	}})
	return p, err
}

// wakerProfile adds up the waits for a P that the filter lets through by the
// stack of whoever has created the goroutine or woken it up, as the profile of
// the whole trace does. The filter knows where the goroutine itself was; so
// this takes another reading.
func wakerProfile(t *exectrace.Trace, f *traceFlags, counts func(*sched.Interval, string) bool) (*sched.StateProfile, error) {
	waits := map[exectrace.GoID][]timeline.Span{}
	_, err := sched.Analyze(t, sched.AnalyzeOptions{Filter: f.parsed, Top: 1, Each: func(r *exectrace.Reader, i *sched.Interval) {
		if counts(i, r.Name(i.Reason)) {
			waits[i.G] = append(waits[i.G], timeline.Span{Start: i.Start, End: i.End})
		}
	}})
	if err != nil {
		return nil, err
	}
	r := t.Reader()
	by := map[stack.ID]*sched.Spent{}
	woken := map[exectrace.GoID]stack.ID{}
	leave := func(g exectrace.GoID, at timeline.Time) {
		id, ok := woken[g]
		delete(woken, g)
		d, n := time.Duration(0), 0
		for all := waits[g]; n < len(all) && all[n].End <= at; n++ {
			d += all[n].Len()
		}
		if waits[g] = waits[g][n:]; !ok || d == 0 {
			return
		}
		if by[id] == nil {
			by[id] = &sched.Spent{}
		}
		by[id].Count++
		by[id].Time += d
	}
	for r.Next() {
		e := r.Event()
		if e.Kind != exectrace.KindGoTransition || e.From == e.To {
			continue
		}
		leave(e.Goroutine(), e.Time)
		if e.To == exectrace.Runnable {
			woken[e.Goroutine()] = e.Stack
		}
	}
	for g := range woken {
		leave(g, math.MaxInt64) // until the trace ends
	}
	p := &sched.StateProfile{Kind: sched.ProfileSched, Stacks: r.Stacks()}
	for _, id := range slices.Sorted(maps.Keys(by)) {
		p.IDs, p.Counts, p.Nanos = append(p.IDs, id), append(p.Counts, by[id].Count), append(p.Nanos, int64(by[id].Time))
	}
	return p, r.Err()
}

// pprofOf gives a profile the sample types of go tool trace -pprof.
func pprofOf(p *sched.StateProfile) *profile.Profile {
	out := &profile.Profile{
		SampleTypes: []profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}},
		PeriodType:  profile.ValueType{Type: "trace", Unit: "count"},
		Period:      1, Stacks: p.Stacks, StackIDs: p.IDs, Values: [][]int64{p.Counts, p.Nanos},
	}
	if p.Nanos == nil {
		out.SampleTypes, out.Values = []profile.ValueType{{Type: "samples", Unit: "count"}}, [][]int64{p.Counts}
	}
	return out
}

// topOf ranks the functions of a profile.
func topOf(p *sched.StateProfile, about string, top int) *report.Trace {
	weights := p.ByTime()
	value := func(v int64) any { return time.Duration(v) }
	if p.Nanos == nil {
		weights, value = p.ByCount(), func(v int64) any { return v }
	}
	r := calltree.Top(p.Stacks, calltree.Samples(weights), calltree.Options{Order: calltree.ByFlat, Counts: calltree.Samples(p.ByCount())})
	s := &report.Sheet{Key: "top", Title: "Functions by time " + about, Columns: []report.Column{
		{Key: "flat", Head: "flat"}, {Key: "flat_share", Head: "share"}, {Key: "cum", Head: "cum"}, {Key: "cum_share", Head: "share"}, {Key: "count", Head: "times"}, {Key: "function", Head: "function"},
	}}
	rows := slices.Clone(r.Rows)
	slices.SortStableFunc(rows, func(a, b calltree.Row) int { return cmp.Or(cmp.Compare(b.Flat, a.Flat), cmp.Compare(b.Cum, a.Cum)) })
	for _, x := range rows[:min(top, len(rows))] {
		s.Rows = append(s.Rows, []any{value(x.Flat), report.Share(r.Share(x.Flat)), value(x.Cum), report.Share(r.Share(x.Cum)), x.CumSamples, x.Name})
	}
	if more := len(rows) - top; more > 0 {
		s.Notes = append(s.Notes, unit.Count(int64(more))+" more functions; -n shows more of them, -o FILE.pb.gz writes a profile for loupe pprof or go tool pprof")
	}
	total := p.Total()
	facts := []report.Fact{{Key: "kind", Value: p.Kind.String()}, {Key: "total", Head: "in all", Value: value(cmp.Or(int64(total.Time), total.Count))}, {Key: "count", Head: "times", Value: total.Count}}
	if p.Unfinished.Count > 0 {
		facts = append(facts, report.Fact{Key: "unfinished_ns", Head: "cut off by the end", Value: p.Unfinished.Time})
	}
	return &report.Trace{Facts: facts, Sheets: []*report.Sheet{s}}
}
