package bench

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// counters are the files that package testing gets.
//
//go:embed testing/*.txt
var counters embed.FS

// Units of what the counters add to a result, which [Sample] turns into figures of an
// operation.
const (
	wallTotal = "loupe-wall-ns" // what the timer of the benchmark has counted
	cpuTotal  = "loupe-cpu-ns"  // CPU time of the process meanwhile
	gcTotal   = "loupe-gcs"     // collections that have ended meanwhile
	procsUsed = "loupe-procs"   // GOMAXPROCS
)

// hooks are the places in testing/benchmark.go at which the counters are read. Each is
// told by what the line does, in whatever version of Go: Go 1.18 to 1.26 have the same.
// Clocks are read outside of what the timer counts.
var hooks = []struct {
	line  *regexp.Regexp
	times int // that the line is there
	text  string
}{
	// StartTimer, and ResetTimer while the timer runs; both have read memStats before.
	{regexp.MustCompile(`(?m)^\t\tb\.start = [^\n]*$`), 2, "\t\tloupeStart(b)\n$0"},
	{regexp.MustCompile(`(?m)^\tb\.netBytes = 0$`), 1, "$0\n\tloupeReset(b)"},
	// StopTimer.
	{regexp.MustCompile(`(?m)^\t\tb\.duration \+= [^\n]*$`), 1, "$0\n\t\tloupeClock(b)"},
	{regexp.MustCompile(`(?m)^\t\tb\.netBytes \+= [^\n]*$`), 1, "$0\n\t\tloupeStop(b)"},
	{regexp.MustCompile(`(?m)^\tb\.result = BenchmarkResult\{[^\n]*$`), 1, "\tloupeResult(b)\n$0"},
}

// overlay returns the files of package testing that count the CPU time of benchmarks,
// by their paths below root, GOROOT/src ([loupe/capture/collect.BuildOptions.Std]). No
// source of anybody is changed. It errs where package testing is not what it is known
// as.
func overlay(root string) (map[string]string, error) {
	dir := filepath.Join(root, "testing")
	name := filepath.Join(dir, "benchmark.go")
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	text, err := hooked(string(data))
	if err != nil {
		return nil, err
	}
	files := map[string]string{name: text}
	entries, err := counters.ReadDir("testing")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, err := counters.ReadFile("testing/" + e.Name())
		if err != nil {
			return nil, err
		}
		files[filepath.Join(dir, "zz_"+strings.TrimSuffix(e.Name(), ".txt"))] = string(text)
	}
	return files, nil
}

// hooked is the text of benchmark.go with the counters.
func hooked(text string) (string, error) {
	for _, h := range hooks {
		if n := len(h.line.FindAllString(text, -1)); n != h.times {
			return "", fmt.Errorf("testing/benchmark.go has %d lines like %q, not %d", n, h.line, h.times)
		}
		text = h.line.ReplaceAllString(text, strings.ReplaceAll(h.text, "$0", "${0}"))
	}
	return text, nil
}
