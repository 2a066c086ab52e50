package sched_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loupe/exectrace"
	"loupe/sched"
	"loupe/timeline"
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
		x := row{g: i.G, fn: r.Name(i.Name), state: strings.ToLower(i.State.String()), reason: r.Name(i.Reason), from: i.Start, to: i.End}
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

// figures are what the verbs of loupe trace show, by name.
type figures map[string]int64

// wanted does what a filter says, in the plainest way: it holds each term
// against each row.
func wanted(rows []row, span timeline.Span, terms []string) figures {
	f := figures{}
	seen := map[exectrace.GoID]bool{}
	ran := map[exectrace.GoID]int64{}
	entry := map[exectrace.GoID]string{}
	for _, x := range rows {
		if !plainly(&x, span, terms) {
			continue
		}
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
		case "from", "to":
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
func anyFilter(rnd *rand.Rand, rows []row, span timeline.Span) []string {
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
		rnd := rand.New(rand.NewPCG(1, 15))
		some := 0
		for range 120 {
			terms := anyFilter(rnd, rows, span)
			if len(terms) == 0 {
				continue
			}
			text := strings.Join(terms, " ")
			f, err := sched.ParseFilter(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			a := analyzed(t, data, f)
			got, want := measuredBy(a), wanted(rows, span, terms)
			maps.DeleteFunc(want, func(_ string, v int64) bool { return v == 0 })
			if len(want) > 0 {
				some++
			}
			for k := range maps.Keys(merged(got, want)) {
				if got[k] != want[k] {
					t.Errorf("%s: %s is %d, the stays say %d", text, k, got[k], want[k])
				}
			}
			checkRows(t, text, a)
		}
		if some < 60 {
			t.Errorf("only %d filters found something", some)
		}
	}
	eachTrace(t, func(t *testing.T, _ string, data []byte) { check(t, data) })
	t.Run("fresh", func(t *testing.T) { check(t, fresh(t)) })
	for _, name := range []string{"recorded/medium.trace", "recorded/size8k.trace", "old/go1.5.trace", "old/go1.9.trace", "old/go1.10.trace"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile("../exectrace/testdata/" + name)
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
	work, done := make(chan int), make(chan int)
	for range 4 {
		go func() {
			for n := range work {
				sum := 0
				for i := range n {
					sum += i * i
				}
				done <- sum
			}
		}()
	}
	go func() {
		for i := range 400 {
			work <- i * 50
		}
		close(work)
	}()
	for range 400 {
		<-done
	}
	trace.Stop()
	close(quit)
	asleep.Wait()
	return out.Bytes()
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
