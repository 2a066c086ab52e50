package bench

import (
	"fmt"
	"testing"
)

// TestParse: results are found in whatever a benchmark prints itself.
func TestParse(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		results, _ := parse(text)
		var got []string
		for _, r := range results {
			got = append(got, fmt.Sprint(r.name, " ", r.iterations, " ", r.values))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q\n%q\n%q", text, got, want)
		}
	}
	f("goos: linux\nBenchmarkA-8 \t     100\t      12.3 ns/op\t       4 B/op\nPASS\n", "BenchmarkA-8 100 [{ns/op 12.3} {B/op 4}]")
	f("BenchmarkA \tprinted\nmore 5 words\n     100\t  12 ns/op\n", "BenchmarkA 100 [{ns/op 12}]")
	f("BenchmarkA \tno end     100\t  12 ns/op\n", "BenchmarkA 100 [{ns/op 12}]")
	f("BenchmarkA \t1.5     100\t  1e-05 ns/op\r\n", "BenchmarkA 100 [{ns/op 1e-05}]")
	f("BenchmarkA \t--- FAIL: BenchmarkA\nBenchmarkB\t 1\t 2 x\n", "BenchmarkB 1 [{x 2}]")
	f("BenchmarkA-2\t 0\t 0 B/op\t 0 allocs/op\npanic: no\n")
	f("Benchmarks are fine\n 100\t 12 ns/op\n")
	f("100\t 12 ns/op\n")
	f("BenchmarkA\t 1\t two x\n")
	f("BenchmarkA-2\t 99999999999999999999\t 2 x\n")
	f("BenchmarkA\t 1\t 2 x\n 3\t 4 x\n", "BenchmarkA 1 [{x 2}]") // the second is nobody's
}

// TestPerOperation: what the counters have added becomes figures of an operation.
func TestPerOperation(t *testing.T) {
	f := func(line, want string, procs int) {
		t.Helper()
		results, _ := parse(line)
		r := &results[0]
		if got, _ := r.perOperation(); got != procs || fmt.Sprint(r.values) != want {
			t.Errorf("%s\n%d %v\n%d %s", line, got, r.values, procs, want)
		}
	}
	f("BenchmarkA\t 10\t 5 ns/op\t 50 loupe-wall-ns\t 40 loupe-cpu-ns\t 2 loupe-gcs\t 8 loupe-procs\t 3 B/op\n",
		"[{ns/op 5} {cpu-ns/op 4} {B/op 3} {gc-cycles/op 0.2}]", 8)
	f("BenchmarkA\t 10\t 5 own/op\t 50 loupe-wall-ns\t 40 loupe-cpu-ns\t 0 loupe-gcs\t 1 loupe-procs\n",
		"[{cpu-ns/op 4} {own/op 5} {gc-cycles/op 0}]", 1)
	f("BenchmarkA\t 10\t 5 ns/op\t 3 B/op\n", "[{ns/op 5} {B/op 3}]", 0)
}

// TestPattern: what -bench asks for is asked of one benchmark of the top at a time.
func TestPattern(t *testing.T) {
	f := func(pattern, name, want string) {
		t.Helper()
		p, err := ParsePattern(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.of(name); got != want {
			t.Errorf("%s of %s: %q, want %q", pattern, name, got, want)
		}
	}
	f(".", "BenchmarkA", "^BenchmarkA$")
	f("kA|kB", "BenchmarkB", "^BenchmarkB$")
	f("kA|kB", "BenchmarkC", "")
	f("A/x|B/y", "BenchmarkB", "^BenchmarkB$/y")
	f("A/x|[AB]/y", "BenchmarkA", "^BenchmarkA$/x|^BenchmarkA$/y")
	f("A/(x|y)/z", "BenchmarkA", "^BenchmarkA$/(x|y)/z")
	f(`A/[/|]\/b`, "BenchmarkA", `^BenchmarkA$/[/|]\/b`)
	if got := Exactly("BenchmarkA/n=1.5/#01"); got != `^BenchmarkA$/^n=1\.5$/^#01$` {
		t.Error(got)
	}
	for _, bad := range []string{"(", "A/("} {
		if _, err := ParsePattern(bad); err == nil {
			t.Errorf("%q is a pattern", bad)
		}
	}
}

// TestParam: lists and ranges.
func TestParam(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		p, err := ParseParam(text)
		got := fmt.Sprint(p.Name, p.Values)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	f("n=1,2,four", "n[1 2 four]")
	f("n=1..3", "n[1 2 3]")
	f("n=0..10:5", "n[0 5 10]")
	f("n=0..9:5", "n[0 5]")
	f("n", "error")
	f("=1", "error")
	f("n=", "error")
	f("n=3..1", "error")
	f("n=1..3:0", "error")
	f("n=1..1000000", "error")
	f("n=1..9223372036854775807", "error")
}

// TestNumber: figures keep six digits, and what is whole is printed whole.
func TestNumber(t *testing.T) {
	f := func(x float64, want string) {
		t.Helper()
		if got := number(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
	f(0, "0")
	f(124.4, "124.4")
	f(0.2911, "0.2911")
	f(1234567, "1234567")
	f(12345.6789, "12345.7")
	f(2.86608e-4, "0.000286608")
	f(1e-9/3, "0.000000000333333")
}

func TestPatternMatch(t *testing.T) {
	f := func(pattern, name string, want bool) {
		t.Helper()
		p, err := ParsePattern(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Match(name); got != want {
			t.Errorf("%q matches %q: %v", pattern, name, got)
		}
	}
	f(".", "BenchmarkA-2", true)
	f("Parse", "BenchmarkParse/large-8", true)
	f("Parse/large", "BenchmarkParse/large-8", true)
	f("Parse/^large$", "BenchmarkParse/large-8", true)
	f("Parse/small", "BenchmarkParse/large-8", false)
	f("Parse/large/x", "BenchmarkParse/large-8", false)
	f("A$|B$", "BenchmarkB-2", true)
	f("A/x|B/y", "BenchmarkB/y", true)
	f("A/x|B/y", "BenchmarkB/x", false)
	f("^BenchmarkA$", "BenchmarkA-16", true)
}
