package mcp_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"loupe/internal/long"
	"loupe/labs"
)

// step is one question of a plan, and what its answer has to say.
type step struct {
	tool string
	args map[string]any // path is that of the slow form
	says []string
}

// with makes arguments of names and values.
func with(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

// plan solves a lab: the diagnosis of the slow form has the id, what follows shows the cause,
// and the fixed form does not have it.
type plan struct {
	slow, fixed string // below the root of the module
	id          string
	steps       []step
}

const rules, loads = "labs/rules/testdata/", "insight/testdata/loads/"

// plans are for labs of which recordings are kept.
var plans = []plan{
	{rules + "SC01.slow.zip", rules + "SC01.fixed.zip", "SC01", []step{
		{"trace", with("question", "sched"), []string{"exactly one for"}},
		{"trace", with("question", "goroutines"), []string{"6.49 s"}},
	}},
	{rules + "SC08.slow.zip", rules + "SC08.fixed.zip", "SC08", []step{{"explain", with("id", "SC08"), []string{"quota", "GOMAXPROCS"}}}},
	{rules + "GC14.slow.zip", rules + "GC14.fixed.zip", "GC14", []step{
		{"gc", nil, []string{"peak_heap_mb"}},
		{"gc", with("container", "128MiB"), []string{"memory_limit=115 MiB", "good"}},
		{"explain", with("id", "GC14"), []string{"Set GOMEMLIMIT=115MiB"}},
	}},
	{rules + "BM01.slow.zip", rules + "BM01.fixed.zip", "BM01", []step{{"explain", with("id", "BM01"), []string{"SlowBM01", "less than any call"}}}},
	{rules + "BM02.slow.zip", rules + "BM02.fixed.zip", "BM02@bench_test.go:36", []step{
		{"explain", with("id", "BM02@bench_test.go:36"), []string{"StopTimer"}},
		{"callers", with("function", "runtime.ReadMemStats"), []string{"testing.(*B)"}},
		{"source", with("function", "loupe/labs/rules/bench.BenchmarkSlowBM02"), []string{"b.StartTimer()", "slices.Sort"}},
	}},
	{rules + "BM03.slow.zip", rules + "BM03.fixed.zip", "BM03", []step{{"explain", with("id", "BM03"), []string{"two modes"}}}},
	{rules + "BM04.slow.zip", rules + "BM04.fixed.zip", "BM04", []step{{"explain", with("id", "BM04"), []string{"from the first of 10 runs to the last"}}}},
	{rules + "FA02.slow.zip", rules + "FA02.fixed.zip", "FA02@schedule.go:226", []step{{"explain", with("id", "FA02@schedule.go:226"), []string{"main.fa02.func1", "mutex"}}}},
	{rules + "BE01.slow.zip", rules + "BE01.fixed.zip", "BE01", []step{{"explain", with("id", "BE01"), []string{"-trimpath"}}, {"top", with("profile", "cpu"), []string{"main.count"}}}},
	{rules + "BE02.slow.zip", rules + "BE02.fixed.zip", "BE02", []step{{"explain", with("id", "BE02"), []string{"mutex.pb.gz", "71450ca5926a"}}}},
	{loads + "ld02.slow.zip", loads + "ld02.fixed.zip", "LD02", []step{
		{"trace", with("question", "requests", "slow", true), []string{"request"}},
		{"trace", with("question", "stw"), []string{"stop-the-world"}},
		{"explain", with("id", "LD02"), []string{"overlapped a GC mark phase"}},
	}},
	{loads + "ld06.slow.zip", loads + "ld06.fixed.zip", "LD06@ld06.go:25", []step{
		{"trace", with("question", "requests"), []string{"ld06.go:25"}},
		{"explain", with("id", "LD06@ld06.go:25"), []string{"Read each response to its end"}},
	}},
}

// ids are those of all that a diagnosis has.
func (r *reply) ids() string {
	all := r.column("causes", "id")
	for _, t := range r.Data.Tables {
		if strings.HasPrefix(t.Name, "doubts about") {
			all = append(all, r.column(t.Name, "id")...)
		}
	}
	all = append(all, r.column("causes", "related")...)
	return strings.Join(all, ", ")
}

// solve follows a plan.
func (c *client) solve(p plan, slow, fixed string) {
	c.t.Helper()
	found := c.all("diagnose", with("path", slow))
	if !strings.Contains(", "+found.ids()+",", ", "+p.id+",") {
		c.t.Errorf("%s: %s is not among %s", slow, p.id, found.ids())
	}
	for _, s := range p.steps {
		args := with("path", slow)
		for k, v := range s.args {
			args[k] = v
		}
		first := c.all(s.tool, args)
		whole := first.text
		for _, t := range first.Data.Tables {
			whole += strings.ReplaceAll(text(t.Rows), `\u0026`, "&")
		}
		for _, want := range s.says {
			if !strings.Contains(whole, want) && !strings.Contains(first.Says, want) {
				c.t.Errorf("%s: %s %v does not say %q: %.600s", slow, s.tool, s.args, want, whole)
			}
		}
	}
	if fixed == "" {
		return
	}
	rule, _, _ := strings.Cut(p.id, "@")
	if ids := c.all("diagnose", with("path", fixed)).ids(); strings.Contains(ids, rule) {
		c.t.Errorf("%s: %s among %s", fixed, rule, ids)
	}
	if r := c.all("compare", with("before", slow, "after", fixed)); r.failed && !strings.Contains(r.text, "failed") || !r.failed && len(r.column("figures", "figure")) == 0 {
		c.t.Errorf("%s: %s", fixed, r.text)
	}
}

// TestLabs solves labs of which recordings are kept with the tools alone.
func TestLabs(t *testing.T) {
	c := connect(t)
	for _, p := range plans {
		c.solve(p, root(t)+"/"+p.slow, root(t)+"/"+p.fixed)
	}
}

// TestLeaks solves a leak by a dump: who waits, since when, and what to do.
func TestLeaks(t *testing.T) {
	c := connect(t)
	stuck := root(t) + "/insight/testdata/leaks/stuck.txt.gz"
	c.solve(plan{id: "SC11@orders.go:88", steps: []step{
		{"goroutines", with("filter", "func~await"), []string{"main.(*shop).await.func1 orders.go:88", "122"}},
		{"explain", with("id", "SC11@orders.go:88"), []string{"Give the wait a way out"}},
	}}, stuck, "")
}

// TestReasons: the source of a function has the compiler's reason for what it allocates, also in
// a call that was inlined.
func TestReasons(t *testing.T) {
	c := connect(t)
	c.solve(plan{id: "AL04@replace.go:18", steps: []step{
		{"top", with("profile", "allocs", "sort", "cum"), []string{"bytes.NewBuffer"}},
		{"source", with("profile", "allocs", "function", "main.replaceOne"), []string{"in := bytes.NewBuffer(data)", "exact: &bytes.Buffer{...} escapes"}},
		{"callers", with("profile", "allocs", "function", "bytes.NewBuffer"), []string{"main.replaceOne"}},
		{"explain", with("id", "AL04@replace.go:18"), []string{"Call the methods of the concrete type"}},
	}}, root(t)+"/internal/cli/lsp/testdata/stream.zip", "")
}

// attempts is how often a lab is recorded before it counts as not solved: the machine may be busy
// with something else for a while.
const attempts = 3

// TestRecordedLabs records labs by the tool for it, and solves them.
func TestRecordedLabs(t *testing.T) {
	long.Only(t, "it records ten forms of labs")
	c := connect(t, "-run")
	for name, p := range map[string]plan{
		"newssearch slow": {id: "AL09@rss.go:143", steps: []step{
			{"top", with("profile", "allocs", "sort", "cum"), []string{"strings.ToLower"}},
			{"callers", with("profile", "allocs", "function", "strings.ToLower"), []string{"search.find"}},
			{"source", with("profile", "allocs", "function", "loupe/labs/newssearch/search.find"), []string{"strings.ToLower(item.Description)"}},
		}},
		"mutex held":     {id: "LK02@cache.go:23", steps: []step{{"trace", with("question", "blocked"), []string{"main.(*heldCache).get cache.go:23"}}}},
		"mutex each":     {id: "LK01", steps: []step{{"top", with("profile", "mutex", "sort", "cum"), []string{"main.(*sharedTable).add"}}}},
		"mandelbrot px":  {id: "SC02", steps: []step{{"explain", with("id", "SC02"), []string{"fractal.onePerPixel"}}}},
		"mandelbrot seq": {id: "SC01", steps: []step{{"trace", with("question", "sched"), []string{"exactly one for"}}}},
		"blocking one":   {id: "LK06", steps: []step{{"trace", with("question", "blocked"), []string{"database/sql"}}}},
		"daisy chain":    {id: "SC03", steps: []step{{"trace", with("question", "goroutines"), []string{"main.link.func1"}}}},
		"stream one":     {id: "AL04", steps: []step{{"top", with("profile", "allocs"), []string{"main."}}}},
		"leak map":       {id: "GC08", steps: []step{{"top", with("profile", "heap"), []string{"main.(*shop)"}}}},
		"leak goroutine": {id: "SC10", steps: []step{{"top", with("profile", "goroutine", "sort", "cum"), []string{"main.(*shop).await.func1"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			labName, formName, _ := strings.Cut(name, " ")
			lab, ok := labs.Named(labName)
			form, ok2 := lab.Form(formName)
			if !ok || !ok2 {
				t.Fatal("there is no such lab")
			}
			out := ""
			args := with("target", lab.Package(), "args", form.Args)
			for i := 0; i+1 < len(form.Record); i += 2 {
				switch flag, v := form.Record[i], form.Record[i+1]; flag {
				case "-phases":
					args["phases"] = v
				case "-n":
					args["requests"], _ = strconv.Atoi(v)
				case "-c":
					args["connections"], _ = strconv.Atoi(v)
				}
			}
			if labName == "mutex" || labName == "blocking" {
				args["rounds"] = 1
			}
			if lab.URL != "" {
				args["load"] = lab.URL
			}
			rule, _, _ := strings.Cut(p.id, "@")
			for n := 1; ; n++ {
				out = filepath.Join(t.TempDir(), "recording")
				args["out"] = out
				made := c.page("record", args)
				ids := ""
				if !made.failed {
					ids = c.all("diagnose", with("path", out)).ids()
				}
				if strings.Contains(ids, rule) {
					if made.value("recording", "path", "recording", "path") != out {
						t.Error(made.text)
					}
					break
				}
				if n == attempts {
					t.Fatalf("%s is not among %s: %s", rule, ids, made.text)
				}
			}
			for _, s := range p.steps {
				args := with("path", out)
				for k, v := range s.args {
					args[k] = v
				}
				r := c.all(s.tool, args)
				whole := r.text
				for _, table := range r.Data.Tables {
					whole += text(table.Rows)
				}
				for _, want := range s.says {
					if !strings.Contains(whole, want) {
						t.Errorf("%s %v does not say %q: %.500s", s.tool, s.args, want, whole)
					}
				}
			}
		})
	}
}
