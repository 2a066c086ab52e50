package gc

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"loupe/format/godebug"
	"loupe/internal/long"
)

// TestCounted runs a program that prints what the runtime has counted, and holds
// what its gctrace lines are made to say against it, for the whole of the run and
// for each stretch of it.
func TestCounted(t *testing.T) {
	testCounted(t, "")
}

// TestCountedByOlder does the same with older versions of Go.
func TestCountedByOlder(t *testing.T) {
	long.Only(t, "downloads toolchains")
	for _, version := range []string{"1.18.10", "1.19.13", "1.20.14", "1.21.13", "1.22.12", "1.23.12", "1.24.9", "1.25.4"} {
		t.Run(version, func(t *testing.T) { testCounted(t, "go"+version) })
	}
}

// counted is what testdata/counted prints.
type counted struct {
	GC, Idle, Total, Fraction float64
}

func testCounted(t *testing.T, toolchain string) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "counted")
	source, err := os.ReadFile("testdata/counted/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"main.go": string(source), "go.mod": "module counted\n\ngo 1.18\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", bin, "main.go")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if toolchain != "" {
		build.Env = append(build.Env, "GOTOOLCHAIN="+toolchain)
	}
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(bin)
	run.Env = append(os.Environ(), "GODEBUG=gctrace=1", "GOGC=100", "GOMEMLIMIT=off")
	var stdout, stderr bytes.Buffer
	run.Stdout, run.Stderr = &stdout, &stderr
	if err := run.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	var told []counted
	for d := json.NewDecoder(&stdout); d.More(); {
		var c counted
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		told = append(told, c)
	}
	log := godebug.Parse(stderr.Bytes())
	all := Analyse(log.Cycles, Options{}).Cycles
	from, before := 0, 0.0
	stretch := 0
	for i := range all {
		if !all[i].Forced || i+1 < len(all) && all[i+1].Forced {
			continue // runtime.GC may collect twice
		}
		if stretch == len(told) {
			t.Fatalf("collection %d was forced, after %d stretches", all[i].GC, stretch)
		}
		now := told[stretch].took(&all[i])
		late := told[stretch].late(&all[i])
		holdCounted(t, stretch, all[from:i+1], now-before, late)
		holdCounted(t, -1, all[:i+1], now, late)
		from, before = i+1, now
		stretch++
	}
	if stretch != len(told) {
		t.Errorf("%d collections were forced, and the program told of %d\n%s", stretch, len(told), strings.Join(strings.SplitN(stderr.String(), "\n", 9)[:8], "\n"))
	}
}

// took is what the collector has taken of each P until the end of a collection, in
// ms, by what the runtime says: the classes, or before Go 1.20 its fraction.
func (c *counted) took(y *Row) float64 {
	if c.Total > 0 {
		return 1e3 * (c.GC - c.Idle) / float64(y.Procs)
	}
	return c.Fraction * (1e3*y.AtS + y.STW1MS + y.MarkMS + y.STW2MS)
}

// late is how many ms more than is allowed for the Ps were there before the clock of
// the lines began: on a busy machine the runtime's first thread may have to wait.
func (c *counted) late(y *Row) float64 {
	until := 1e3*y.AtS + y.STW1MS + y.MarkMS + y.STW2MS
	return max(0, 1e3*c.Total/float64(y.Procs)-until-beforeInit)
}

func holdCounted(t *testing.T, stretch int, rows []Row, want, late float64) {
	t.Helper()
	a := accountOf(rows, 1)
	// What is printed is truncated, the time of a collection to milliseconds.
	last := &rows[len(rows)-1]
	slack := Figure(2 + 0.02*want + late*float64(last.GCTracePercent+1)/100)
	if Figure(want) < a.all.Low-slack || Figure(want) > a.all.High+slack || a.disagree {
		t.Errorf("stretch %d, collections %d to %d: %.2f ms of each P, by the lines between %.2f and %.2f ms (marking %.2f, stops at most %.2f, contradiction %v)",
			stretch, rows[0].GC, rows[len(rows)-1].GC, want, a.all.Low, a.all.High, a.mark.Estimate, a.stop, a.disagree)
	}
}

// TestProcsChange: a share is of the time of all Ps that there were, one second of
// eight and two of one.
func TestProcsChange(t *testing.T) {
	var rows []Row
	took, time := 0.0, 0.0
	for n := range 30 {
		y := Row{GC: int64(n + 1), AtS: 0.1 * float64(n+1), MarkMS: 10, CPUBackground: 20, Procs: 8, Dialect: "1.18"}
		if n >= 10 {
			y.Procs = 1
		}
		took += 20.5 // what is printed is truncated
		time += 100 * float64(y.Procs)
		y.GCTracePercent = int(100 * took / (time + 10*float64(y.Procs)))
		rows = append(rows, y)
	}
	a := accountOf(rows, 1)
	_, low, high := a.share(2910)
	time += 10 // the last collection
	want := Figure(100 * took / (time - 800))
	if a.disagree || low > want || high < want || high-low > 3 {
		t.Errorf("the share is between %.2f%% and %.2f%%, want %.2f%% in it (contradiction %v)", low, high, want, a.disagree)
	}
	if least, most := timeOfPs(rows); least > time || most < time {
		t.Errorf("%v to %v ms of Ps, want %v", least, most, time)
	}
}
