package sched_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/timeline"
)

// row is a stay as the export has it, of a reading without a filter.
type row struct {
	g                 exectrace.GoID
	fn, state, reason string
	stack             []string // functions and files
	from, to          timeline.Time
}

// exported returns all stays, and when the trace begins.
func exported(t *testing.T, data []byte) (rows []row, span timeline.Span) {
	t.Helper()
	tr, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := sched.Analyze(tr, sched.AnalyzeOptions{Named: true, Each: func(r *exectrace.Reader, i *sched.Interval) {
		x := row{g: i.G, fn: r.Name(i.Name), state: strings.ToLower(i.State.String()), reason: r.WaitReason(i.Reason, i.Stack), from: i.Start, to: i.End}
		for _, f := range r.Stacks().Frames(i.Stack) {
			fr := r.Stacks().Frame(f)
			x.stack = append(x.stack, fr.Func, fr.File)
		}
		rows = append(rows, x)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return rows, a.Info.Span
}

// marked is the time that a goroutine was in a region, or had the task of whoever had
// made it in one.
type marked struct {
	g            exectrace.GoID
	task         exectrace.TaskID
	name, region string // name is that of the task
	span         timeline.Span
}

// markedIn returns the regions of a trace, in the plainest way.
func markedIn(t *testing.T, data []byte, rows []row) (all []marked) {
	t.Helper()
	tr, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tasks := map[exectrace.TaskID]string{}
	open := map[exectrace.GoID][]marked{}
	var last timeline.Time
	over := func(m marked, at timeline.Time) {
		m.span.End = at
		all = append(all, m)
	}
	r := tr.Reader()
	for r.Next() {
		e := r.Event()
		last = e.Time
		switch e.Kind {
		case exectrace.KindTaskBegin, exectrace.KindTaskEnd:
			if name := r.Name(e.Name); name != "" {
				tasks[e.Task()] = name
			}
		case exectrace.KindRegionBegin:
			open[e.G] = append(open[e.G], marked{g: e.G, task: e.Task(), region: r.Name(e.Name), span: timeline.Span{Start: e.Time}})
		case exectrace.KindRegionEnd:
			if n := len(open[e.G]); n > 0 {
				over(open[e.G][n-1], e.Time)
				open[e.G] = open[e.G][:n-1]
			} else { // it is older than the trace
				over(marked{g: e.G, task: e.Task(), region: r.Name(e.Name)}, e.Time)
			}
		case exectrace.KindGoTransition:
			g := e.Goroutine()
			if by := open[e.G]; e.From == exectrace.NotExist && len(by) > 0 {
				open[g] = append(open[g], marked{g: g, task: by[len(by)-1].task, span: timeline.Span{Start: e.Time}})
			}
			if e.To == exectrace.NotExist || e.To == exectrace.Waiting && e.Name == exectrace.NameForever {
				for _, m := range open[g] {
					over(m, e.Time)
				}
				delete(open, g)
			}
		}
	}
	for _, left := range open {
		for _, m := range left {
			over(m, last)
		}
	}
	functions := map[exectrace.GoID]string{}
	for _, x := range rows {
		functions[x.g] = x.fn
	}
	// Whoever starts a goroutine of the runtime does not lend it its task.
	all = slices.DeleteFunc(all, func(m marked) bool { return m.region == "" && sched.IsSystem(functions[m.g]) })
	for i := range all {
		all[i].name = tasks[all[i].task]
	}
	slices.SortFunc(all, func(a, b marked) int {
		return cmp.Or(cmp.Compare(a.span.Start, b.span.Start), cmp.Compare(a.g, b.g), cmp.Compare(b.span.End, a.span.End), cmp.Compare(a.region, b.region))
	})
	return all
}

// pickedBy returns the times, by goroutine, that the terms of tasks and regions pick:
// each is held against every region, and one inside of another adds nothing. It is
// nil where there are no such terms.
func pickedBy(marks []marked, terms []string) map[exectrace.GoID][]timeline.Span {
	terms = slices.DeleteFunc(slices.Clone(terms), func(t string) bool { return !strings.HasPrefix(t, "task") && !strings.HasPrefix(t, "region") })
	if len(terms) == 0 {
		return nil
	}
	holds := func(m marked) bool {
		for _, term := range terms {
			parts := termParts.FindStringSubmatch(term)
			value := strings.Trim(parts[3], "'")
			match := func(s string) bool {
				return parts[2] == "=" && s == value || parts[2] == "~" && regexp.MustCompile(value).MatchString(s)
			}
			switch {
			case parts[1] == "region" && !match(m.region):
				return false
			case parts[1] == "task" && parts[2] == "=" && value == fmt.Sprint(m.task):
			case parts[1] == "task" && (m.task == exectrace.BackgroundTask || !match(m.name)):
				return false
			}
		}
		return true
	}
	picked := map[exectrace.GoID][]timeline.Span{}
	for _, m := range marks {
		if holds(m) && !slices.ContainsFunc(picked[m.g], func(s timeline.Span) bool { return s.Start <= m.span.Start && m.span.End <= s.End }) {
			picked[m.g] = append(picked[m.g], m.span)
		}
	}
	return picked
}

// inside cuts a row to the times that are picked of its goroutine.
func inside(x row, picked map[exectrace.GoID][]timeline.Span) (pieces []row) {
	if picked == nil {
		return []row{x}
	}
	for _, s := range picked[x.g] {
		piece := x
		if piece.from, piece.to = max(x.from, s.Start), min(x.to, s.End); piece.from < piece.to {
			pieces = append(pieces, piece)
		}
	}
	return pieces
}

// figures are what the verbs of loupe trace show, by name.
type figures map[string]int64

// wanted does what a filter says, in the plainest way: it holds each term
// against each row.
func wanted(rows []row, span timeline.Span, marks []marked, terms []string) figures {
	f := figures{}
	seen := map[exectrace.GoID]bool{}
	ran := map[exectrace.GoID]int64{}
	entry := map[exectrace.GoID]string{}
	var pieces []row
	picked := pickedBy(marks, terms)
	for _, x := range rows {
		for _, piece := range inside(x, picked) {
			if plainly(&piece, span, terms) {
				pieces = append(pieces, piece)
			}
		}
	}
	for _, x := range pieces {
		d := int64(x.to - x.from)
		if !seen[x.g] {
			seen[x.g] = true
			f["count "+x.fn]++
		}
		switch x.state {
		case "running":
			f["exec "+x.fn] += d
			ran[x.g] += d
			entry[x.g] = x.fn
		case "runnable":
			f["sched wait "+x.fn] += d
		case "syscall":
			f["syscall "+x.fn] += d
		case "waiting":
			f["blocked "+x.reason+" "+x.fn] += d
		}
	}
	for g, d := range ran {
		f["longest "+entry[g]] = max(f["longest "+entry[g]], d)
	}
	return f
}

var (
	termParts = regexp.MustCompile(`^([a-z]+)(!=|!~|<=|>=|=|~|<|>)(.*)$`)
	compiled  = map[string]*regexp.Regexp{}
)

// plainly cuts a row and holds the terms against it.
func plainly(x *row, span timeline.Span, terms []string) bool {
	for _, term := range terms {
		if v, ok := strings.CutPrefix(term, "from="); ok {
			d, _ := time.ParseDuration(v)
			x.from = max(x.from, span.Start.Add(d))
		}
		if v, ok := strings.CutPrefix(term, "to="); ok {
			d, _ := time.ParseDuration(v)
			x.to = min(x.to, span.Start.Add(d))
		}
	}
	if x.from >= x.to {
		return false
	}
	for _, term := range terms {
		parts := termParts.FindStringSubmatch(term)
		key, op, value := parts[1], parts[2], strings.Trim(parts[3], "'")
		match := func(s string) bool {
			if op == "=" || op == "!=" {
				return s == value
			}
			if compiled[value] == nil {
				compiled[value] = regexp.MustCompile(value)
			}
			return compiled[value].MatchString(s)
		}
		var ok bool
		switch key {
		case "from", "to", "task", "region":
			continue
		case "g":
			ok = slices.Contains(strings.Split(value, ","), fmt.Sprint(x.g))
		case "func":
			ok = match(x.fn)
		case "state":
			ok = match(x.state)
		case "reason":
			ok = match(x.reason)
		case "stack":
			ok = slices.ContainsFunc(x.stack, match)
		case "dur":
			d, _ := time.ParseDuration(value)
			l := time.Duration(x.to - x.from)
			ok = map[string]bool{"<": l < d, "<=": l <= d, ">": l > d, ">=": l >= d}[op]
		}
		if ok == (op[0] == '!') {
			return false
		}
	}
	return true
}

// measuredBy are the same figures of an analysis.
func measuredBy(a *sched.Analysis) figures {
	f := figures{}
	for _, g := range a.Groups {
		name := a.Reader.Name(g.Name)
		f["count "+name] += g.Count
		f["exec "+name] += int64(g.Exec)
		f["sched wait "+name] += int64(g.SchedWait)
		f["syscall "+name] += int64(g.Syscall + g.SyscallBlock)
		for why, d := range g.Blocked.All() {
			f["blocked "+a.Reader.Name(why)+" "+name] += int64(d)
		}
		f["longest "+name] = max(f["longest "+name], int64(g.MaxExec))
	}
	maps.DeleteFunc(f, func(_ string, v int64) bool { return v == 0 })
	return f
}

// anyFilter makes up a row of terms, of values that the trace has.
func anyFilter(rnd *rand.Rand, rows []row, span timeline.Span, marks []marked) []string {
	x := rows[rnd.IntN(len(rows))]
	is := func(a, b string) string {
		if rnd.IntN(4) == 0 {
			return b
		}
		return a
	}
	all := []func() string{
		func() string { return "state" + is("=", "!=") + x.state },
		func() string { return "reason" + is("=", "!=") + "'" + x.reason + "'" },
		func() string { return "dur" + is(">", "<=") + time.Duration(x.to-x.from).String() },
		func() string { return "dur" + is("<", ">=") + (time.Duration(x.to-x.from) * 2).String() },
		func() string { return "func" + is("~", "!~") + "'" + regexp.QuoteMeta(x.fn) + "$'" },
		func() string { return "func" + is("=", "!=") + "'" + x.fn + "'" },
		func() string {
			if len(x.stack) == 0 {
				return "stack!~main"
			}
			return "stack" + is("~", "!~") + "'" + regexp.QuoteMeta(x.stack[rnd.IntN(len(x.stack))]) + "'"
		},
		func() string { return fmt.Sprintf("g=%d,%d", x.g, rows[rnd.IntN(len(rows))].g) },
		func() string { return fmt.Sprintf("g!=%d", x.g) },
		func() string { return "from=" + time.Duration(rnd.Int64N(int64(span.Len())/2)).String() },
		func() string {
			return "to=" + time.Duration(int64(span.Len())/2+rnd.Int64N(int64(span.Len())/2)).String()
		},
	}
	if len(marks) > 0 {
		m := marks[rnd.IntN(len(marks))]
		all = append(all,
			func() string { return "region" + is("=", "~") + "'" + m.region + "'" },
			func() string { return "task" + is("=", "~") + "'" + m.name + "'" },
			func() string { return fmt.Sprintf("task=%d", m.task) })
	}
	var terms []string
	for range 1 + rnd.IntN(3) {
		term := all[rnd.IntN(len(all))]()
		if strings.Contains(term, "''") && strings.HasPrefix(term, "func") {
			continue // an empty name is that of nobody
		}
		if key, _, _ := strings.Cut(term, "="); !slices.ContainsFunc(terms, func(t string) bool { return strings.HasPrefix(t, key+"=") }) {
			terms = append(terms, term)
		}
	}
	return terms
}

// TestFilterOracle holds what a filter leaves of goroutines, and of waits, against
// the stays of the whole trace, one by one.
func TestFilterOracle(t *testing.T) {
	check := func(t *testing.T, data []byte) {
		rows, span := exported(t, data)
		marks := markedIn(t, data, rows)
		rnd := rand.New(rand.NewPCG(1, 15))
		some, narrowed := 0, 0
		for range 120 {
			terms := anyFilter(rnd, rows, span, marks)
			if len(terms) == 0 {
				continue
			}
			text := strings.Join(terms, " ")
			f, err := sched.ParseFilter(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			a := analyzed(t, data, f)
			got, want := measuredBy(a), wanted(rows, span, marks, terms)
			maps.DeleteFunc(want, func(_ string, v int64) bool { return v == 0 })
			if len(want) > 0 {
				some++
				if strings.Contains(text, "task") || strings.Contains(text, "region") {
					narrowed++
				}
			}
			for k := range maps.Keys(merged(got, want)) {
				if got[k] != want[k] {
					t.Errorf("%s: %s is %d, the stays say %d", text, k, got[k], want[k])
				}
			}
			checkRows(t, text, a)
		}
		if len(marks) > 0 && narrowed == 0 {
			t.Error("no filter found something in a task or region")
		}
		if some < 60 {
			t.Errorf("only %d filters found something", some)
		}
	}
	eachTrace(t, func(t *testing.T, _ string, data []byte) { check(t, data) })
	t.Run("fresh", func(t *testing.T) { check(t, fresh(t)) })
	for _, name := range []string{"recorded/medium.trace", "recorded/size8k.trace", "old/go1.5.trace", "old/go1.9.trace", "old/go1.10.trace"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile("../../format/exectrace/testdata/" + name)
			if err != nil {
				t.Fatal(err)
			}
			check(t, data)
		})
	}
}

// fresh traces a program in which some goroutines are older than the trace, some
// wait for ever and some share what there is to do.
func fresh(t *testing.T) []byte {
	t.Helper()
	quit := make(chan struct{})
	var asleep sync.WaitGroup
	for range 20 {
		asleep.Go(func() { <-quit })
	}
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		t.Fatal(err)
	}
	go func() { select {} }()
	ctx, order := trace.NewTask(context.Background(), "order")
	_, again := trace.NewTask(ctx, "again")
	work, done := make(chan int), make(chan int)
	for range 4 {
		go func() {
			for n := range work {
				sum := 0
				trace.WithRegion(ctx, "add", func() {
					for i := range n {
						sum += i * i
						if i == 25 {
							trace.WithRegion(ctx, "yield", runtime.Gosched)
						}
					}
				})
				done <- sum
			}
		}()
	}
	trace.WithRegion(ctx, "send", func() {
		go func() { // has the task of its maker
			for i := range 400 {
				work <- i * 50
			}
			close(work)
		}()
	})
	for range 400 {
		<-done
	}
	again.End()
	order.End()
	trace.Stop()
	close(quit)
	asleep.Wait()
	return out.Bytes()
}

// TestLeftForever: who waits for ever has not ended, with a filter and without.
func TestLeftForever(t *testing.T) {
	data := fresh(t)
	for _, text := range []string{"", "state=waiting"} {
		f, err := sched.ParseFilter(text)
		if err != nil {
			t.Fatal(err)
		}
		a := analyzed(t, data, f)
		var count, created int64
		for _, l := range a.Left {
			if l.Reason == exectrace.NameForever {
				count, created = count+l.Count, created+l.Created
				if l.Longest <= 0 {
					t.Errorf("%q: it has waited for %v", text, l.Longest)
				}
			}
		}
		if count != 1 || created != 1 {
			t.Errorf("%q: %d goroutines wait for ever, %d of them made in the trace, want 1", text, count, created)
		}
	}
}

func merged(a, b figures) figures {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// checkRows: figures of one row, and of two tables, are of the same stays.
func checkRows(t *testing.T, text string, a *sched.Analysis) {
	t.Helper()
	var wait, run, counted int64
	for _, g := range a.Groups {
		counted += g.Count
		if g.Peak < 1 || g.Peak > g.Count {
			t.Errorf("%s: %d goroutines of %s, %d at one time", text, g.Count, a.Reader.Name(g.Name), g.Peak)
		}
		if g.MaxExec > g.Exec {
			t.Errorf("%s: %s ran for %v, one of them for %v", text, a.Reader.Name(g.Name), g.Exec, g.MaxExec)
		}
		if g.Wait.Sum > g.SchedWait || g.Run.Sum > g.Exec {
			t.Errorf("%s: %s waits %v of %v, runs %v of %v", text, a.Reader.Name(g.Name), g.Wait.Sum, g.SchedWait, g.Run.Sum, g.Exec)
		}
		wait += g.Wait.Count
		run += g.Run.Count
	}
	if wait != a.Latency.All.Count || run != a.Runs.All.Count+a.Runs.System.Count {
		t.Errorf("%s: %d waits for a P of groups, %d in all; %d runs, %d in all", text, wait, a.Latency.All.Count, run, a.Runs.All.Count+a.Runs.System.Count)
	}
	var left int64
	for _, l := range a.Left {
		left += l.Count
	}
	if left > counted {
		t.Errorf("%s: %d goroutines are left of %d", text, left, counted)
	}
}
