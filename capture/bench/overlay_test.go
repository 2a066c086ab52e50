package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// benchmarkSource is what the package testing of each Go version has in common, as far as
// the counters are about it.
const benchmarkSource = `package testing

func (b *B) StartTimer() {
	if !b.timerOn {
		b.start = highPrecisionTimeNow()
	}
}

func (b *B) StopTimer() {
	if b.timerOn {
		b.duration += highPrecisionTimeSince(b.start)
		b.netBytes += memStats.TotalAlloc - b.startBytes
	}
}

func (b *B) ResetTimer() {
	if b.timerOn {
		b.start = highPrecisionTimeNow()
	}
	b.netBytes = 0
}

func (b *B) launch() {
	b.result = BenchmarkResult{b.N, b.duration}
}
`

// TestHooked: the clocks are read outside of what the timer counts, and a package that is
// not what it is known as is refused.
func TestHooked(t *testing.T) {
	got, err := hooked(benchmarkSource)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"loupeStart(b)\n\t\tb.start = highPrecisionTimeNow()\n\t}\n}\n\nfunc (b *B) StopTimer",
		"b.duration += highPrecisionTimeSince(b.start)\n\t\tloupeClock(b)\n",
		"b.netBytes += memStats.TotalAlloc - b.startBytes\n\t\tloupeStop(b)\n",
		"loupeStart(b)\n\t\tb.start = highPrecisionTimeNow()\n\t}\n\tb.netBytes = 0\n\tloupeReset(b)\n",
		"loupeResult(b)\n\tb.result = ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	for _, other := range []string{
		"", strings.Replace(benchmarkSource, "b.netBytes = 0", "b.net = counts{}", 1),
		strings.Replace(benchmarkSource, "b.duration +=", "b.total +=", 1),
		benchmarkSource + "func more(b *B) {\n\tif true {\n\t\tb.start = 0\n\t}\n}\n",
	} {
		if text, err := hooked(other); err == nil {
			t.Errorf("hooked\n%s", text)
		}
	}
}

// TestOverlay: the counters fit the Go that the tests run with, and every other one that
// this machine has.
func TestOverlay(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(out))
	roots, err := filepath.Glob(filepath.Join(words[1], "golang.org", "toolchain@*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range append(roots, words[0]) {
		files, err := overlay(filepath.Join(root, "src"))
		if err != nil {
			t.Errorf("%s: %v", root, err)
			continue
		}
		for path := range files {
			if _, err := os.Stat(path); (err == nil) != strings.HasSuffix(path, "/benchmark.go") {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}
