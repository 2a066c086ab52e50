package sched_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/exectrace/exectracetest"
	"loupe/format/exectrace/sweep"
	"loupe/value/timeline"
)

func TestMain(m *testing.M) {
	code := m.Run()
	exectracetest.Cleanup()
	os.Exit(code)
}

// The types below are those that the oracle prints.

type statsJSON struct {
	Exec, Sched, Syscall, SyscallBlock, Total time.Duration
	Block                                     map[string]time.Duration `json:",omitempty"`
	Range                                     map[string]time.Duration `json:",omitempty"`
}

type regionJSON struct {
	G          int64
	Task       uint64
	Name       string
	Start, End timeline.Time
	Stats      statsJSON
}

type goroutineJSON struct {
	ID                 int64
	Name               string
	Create, Start, End timeline.Time
	Stats              statsJSON
	Regions            []regionJSON `json:",omitempty"`
}

type taskJSON struct {
	ID         uint64
	Name       string
	Parent     uint64
	HasParent  bool
	Children   []uint64 `json:",omitempty"`
	Start, End timeline.Time
	Logs       []string `json:",omitempty"`
	Regions    int
	Goroutines []int64
}

func named(r *exectrace.Reader, t *sched.Times) map[string]time.Duration {
	m := map[string]time.Duration{}
	for n, d := range t.All() {
		if d != 0 {
			m[r.Name(n)] = d
		}
	}
	return m
}

func statsOf(r *exectrace.Reader, s *sched.Stats) statsJSON {
	return statsJSON{s.Exec, s.SchedWait, s.Syscall, s.SyscallBlock, s.Total, named(r, &s.Blocked), named(r, &s.Ranges)}
}

// summarize prints what loupe says in the oracle's form.
func summarize(t *testing.T, data []byte) string {
	t.Helper()
	tr, err := exectrace.Open(data, exectrace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	r := tr.Reader()
	goroutines := map[int64]*goroutineJSON{}
	get := func(id exectrace.GoID) *goroutineJSON {
		g := goroutines[int64(id)]
		if g == nil {
			g = &goroutineJSON{ID: int64(id)}
			goroutines[g.ID] = g
		}
		return g
	}
	tasks := map[uint64]*taskJSON{}
	children := map[uint64][]uint64{} // in the order in which they were made
	logs := map[uint64][]string{}
	gs := sweep.NewGoroutines(r)
	s := sched.NewSummarizer(gs, sched.Sink{
		Goroutine: func(g *sched.Goroutine) {
			out := get(g.ID)
			out.Name, out.Create, out.Start, out.End = r.Name(g.Name), g.Created, g.Started, g.Ended
			out.Stats = statsOf(r, &g.Stats)
		},
		Region: func(re *sched.Region) {
			g := get(re.G)
			g.Regions = append(g.Regions, regionJSON{int64(re.G), uint64(re.Task), r.Name(re.Name), re.Start, re.End, statsOf(r, &re.Stats)})
		},
		Task: func(k *sched.Task) {
			out := &taskJSON{ID: uint64(k.ID), Name: r.Name(k.Name), Start: k.Start, End: k.End, Regions: k.Regions}
			if k.Parent != exectrace.NoTask {
				out.Parent, out.HasParent = uint64(k.Parent), true
			}
			for _, g := range k.Goroutines {
				out.Goroutines = append(out.Goroutines, int64(g))
			}
			slices.Sort(out.Goroutines)
			tasks[out.ID] = out
		},
	}, sched.SummaryOptions{Compat: true, KeepTasks: true})
	adopted := map[uint64]bool{}
	for r.Next() {
		e := r.Event()
		switch e.Kind {
		case exectrace.KindLog:
			id := uint64(e.Task())
			logs[id] = append(logs[id], r.Name(e.Name)+": "+r.Message())
		case exectrace.KindTaskBegin, exectrace.KindTaskEnd:
			if id := uint64(e.Task()); e.Parent() != exectrace.NoTask && !adopted[id] {
				adopted[id] = true
				children[uint64(e.Parent())] = append(children[uint64(e.Parent())], id)
			}
		}
		gs.Event(e)
		s.Event(e)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	s.Finish()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	for _, id := range slices.Sorted(maps.Keys(goroutines)) {
		g := goroutines[id]
		slices.SortFunc(g.Regions, func(a, b regionJSON) int { return cmp.Compare(a.Start, b.Start) })
		enc.Encode(g)
	}
	for _, id := range slices.Sorted(maps.Keys(tasks)) {
		k := tasks[id]
		k.Children, k.Logs = children[id], logs[id]
		enc.Encode(k)
	}
	return b.String()
}

// goTraces are the traces that Go ships for its own reader and accepts.
func goTraces(t *testing.T) (files []string) {
	t.Helper()
	dir := t.TempDir()
	if out, err := exectracetest.Oracle(t, "unpack", filepath.Join(exectracetest.Tree(t), "testdata", "tests"), dir); err != nil {
		t.Fatal(out, err)
	}
	all, _ := filepath.Glob(filepath.Join(dir, "*.trace"))
	for _, f := range all {
		if _, err := exectracetest.Oracle(t, "count", f); err == nil {
			files = append(files, f)
		}
	}
	if len(files) < 15 {
		t.Fatalf("only %d of Go's test traces can be read", len(files))
	}
	return files
}

// TestSummaries compares goroutines, regions and tasks with those of the
// standard library, field by field.
func TestSummaries(t *testing.T) {
	for _, f := range append(traces(t), goTraces(t)...) {
		t.Run(filepath.Base(f), func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			want, err := exectracetest.Oracle(t, "summary", f)
			if err != nil {
				t.Fatal(err)
			}
			same(t, summarize(t, data), want)
		})
	}
}

// same fails the test at the first lines that differ.
func same(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	bad := 0
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			if bad++; bad > 3 {
				break
			}
			t.Errorf("line %d\n got %s\nwant %s", i+1, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		t.Errorf("%d lines, want %d", len(g), len(w))
	}
}
