package check

import (
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"loupe/analysis/compare"
	"loupe/capture/bench"
	"loupe/value/stats"
)

// TestGuide: the file that the guide shows is one, and its comments are true.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile("../../../docs/guide/check.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(base:.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("the guide shows no file")
	}
	c, err := parseConfig("guide", block[1])
	if err != nil {
		t.Fatal(err)
	}
	if len(c.benchmarks) != 2 || len(c.loads) != 1 || c.base != "origin/main" || c.budget != usualBudget || c.keep != ".loupe/baseline" {
		t.Errorf("%+v", c)
	}
	for word, share := range usualAllowance().words {
		if c.allow.words[word] != share {
			t.Errorf("the guide says that %v is allowed of %s; without a word it is %v", c.allow.words[word], word, share)
		}
	}
	// What stands in a group is over what stands below all of them.
	if _, held := c.benchmarks[1].allow.words["time"]; held || c.benchmarks[1].allow.words["cpu"] != 0.05 || c.benchmarks[0].allow.words["time"] != 0.1 {
		t.Errorf("allowed is %v, %v", c.benchmarks[0].allow, c.benchmarks[1].allow)
	}
	if l := c.loads[0]; l.allow.words["cpu"] != 0.1 || l.findings != "critical" || strings.Join(l.flags, "|") != "-c|20|-n|2000" {
		t.Errorf("the load is %+v", l)
	}
}

// TestInitial: a new file is one, with the limits and the budget that are there without it.
func TestInitial(t *testing.T) {
	for _, packages := range [][]string{{"."}, make([]string, most+1)} {
		c, err := parseConfig("new", []byte(initial(packages)))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := parseConfig("plain", []byte("benchmarks: [{packages: ./...}]"))
		if err != nil {
			t.Fatal(err)
		}
		if c.budget != plain.budget || c.findings != plain.findings || c.undecided != plain.undecided || len(c.allow.words) != len(plain.allow.words) {
			t.Errorf("a new file is %+v, without its lines it is %+v", c, plain)
		}
	}
}

// TestConfigAlias: what is written once and meant twice; folders with blanks.
func TestConfigAlias(t *testing.T) {
	c, err := parseConfig("x", []byte("allow: &a {time: 3%}\nbenchmarks:\n  - packages: ['./a b']\n    benchtime: 100x\n    allow: *a\n"))
	if err != nil {
		t.Fatal(err)
	}
	if g := c.benchmarks[0]; g.packages[0] != "./a b" || g.times != 100 || math.Abs(g.allow.words["time"]-0.03) > 1e-12 {
		t.Errorf("%+v", g)
	}
}

// FuzzConfig: no text makes it fail in any other way than by an error.
func FuzzConfig(f *testing.F) {
	f.Add([]byte(initial([]string{"."})))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("loads: [{target: x, args: 'y'}]"))
	f.Add([]byte("allow: 1\nbenchmarks: {}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseConfig("f", data)
		if err == nil && len(c.benchmarks)+len(c.loads) == 0 {
			t.Error("a file of nothing is no error")
		}
	})
}

// TestBaselineFile: what is kept is read back as it was, to the digits that Go prints.
func TestBaselineFile(t *testing.T) {
	m := machine{cpu: "A CPU @ 2.00GHz: odd", goos: "linux", goarch: "amd64", version: "go1.26.1", cpus: 1.5}
	c := &bench.Case{Package: "example.com/m", Name: "BenchmarkX/a=b-2", Config: []string{"goos: linux", "cpu: other words"}, Sides: []bench.Side{{}}}
	for i := range 6 {
		c.Sides[0].Results = append(c.Sides[0].Results, bench.Result{
			Round: i + 1, Iterations: 10, Values: []bench.Value{{Unit: "ns/op", Number: 1234.5}, {Unit: bench.CPU, Number: 7}, {Unit: "B/op", Number: 1 << 20}, {Unit: "allocs/op", Number: float64(i)}},
		})
	}
	path := m.file(t.TempDir())
	if strings.ContainsAny(strings.TrimPrefix(path, "/"), " :@()") {
		t.Errorf("the file is called %q", path)
	}
	if err := writeBaseline(path, m, "0123", time.Unix(0, 0), []*bench.Case{c}); err != nil {
		t.Fatal(err)
	}
	b, err := readBaseline(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.machine != m || b.commit != "0123" || b.kept != "1970-01-01T00:00:00Z" {
		t.Errorf("%+v", b)
	}
	rounds := b.rounds[keyOf(c.Package, c.Name)]
	if len(rounds) != 6 {
		t.Fatalf("%d rounds: %v", len(rounds), b.rounds)
	}
	for i, r := range rounds {
		for _, v := range c.Sides[0].Results[i].Values {
			if r[v.Unit] != v.Number {
				t.Errorf("round %d has %v %s, want %v", i, r[v.Unit], v.Unit, v.Number)
			}
		}
	}
	held, ok := b.against(compare.Measured{Looks: stats.UsualLooks()}, c)
	if !ok || !held.Apart || len(held.Blocks) != 6 {
		t.Errorf("%+v", held)
	}
}
