package collect

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"loupe/recording"
	"loupe/value/stats"
	"loupe/value/unit"
)

// Verdict says what a check found.
type Verdict string

// The verdicts, from good to bad.
const (
	Good    Verdict = "good"
	Caution Verdict = "caution" // measurements are possible, with this in mind
	Bad     Verdict = "bad"     // what is measured here will mislead
)

// Check is one thing that bears on measurements on this machine.
type Check struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	Found   string  `json:"found"`
	// Advice says what to do about it; empty when all is well.
	Advice string `json:"advice,omitempty"`
}

// Examine looks at whether this machine is fit to measure and what its kernel
// permits. It takes about watch, during which it looks at who else uses the
// CPUs and how much one and the same work varies.
func Examine(ctx context.Context, watch time.Duration) []Check {
	host := HostFacts()
	before := sampleOS(0)
	floor, cpuFloor := noiseFloor(ctx, watch)
	after := sampleOS(0)
	checks := []Check{
		checkGo(ctx),
		checkCPUs(host),
		checkCompeting(host, before.Busy, after.Busy, before.Self, after.Self, before.Idle, after.Idle),
		checkSteal(after.Steal-before.Steal, after.Busy-before.Busy+after.Idle-before.Idle),
		checkLoad(host),
		checkNoise(floor, cpuFloor),
	}
	if host.Virtual != "" {
		checks = append(checks, Check{"virtual", Caution, host.Virtual,
			"Compare in interleaved rounds (loupe run -rounds, loupe demo), and trust CPU time more than wall time."})
	}
	checks = append(checks, checkTemp())
	return append(checks, examineKernel()...)
}

func checkGo(ctx context.Context) Check {
	out, err := run(goCommand(ctx, "", "", "version"))
	if err != nil {
		return Check{"go", Bad, err.Error(), "Without Go, only compiled programs and running services can be recorded."}
	}
	return Check{"go", Good, strings.TrimSpace(string(out)), ""}
}

func checkCPUs(h recording.Host) Check {
	c := Check{"cpus", Good, fmt.Sprintf("%d, GOMAXPROCS %d", h.CPUs, runtime.GOMAXPROCS(0)), ""}
	if h.Quota > 0 {
		c.Found += fmt.Sprintf(", limited to %.3g by the cgroup", h.Quota)
		if h.Quota < float64(h.CPUs) {
			c.Verdict = Caution
			c.Advice = "A program that needs more is throttled in every period of 100 ms, which looks like latency."
		}
	}
	if h.CPUs == 1 {
		c.Verdict, c.Advice = Caution, "The load generator and the program share one CPU: requests per second say little about the program alone."
	}
	return c
}

// checkCompeting weighs what others use, in the shares at which JDK Mission
// Control warns (rule HighJvmCpu: 20 % and 40 %).
func checkCompeting(h recording.Host, busy0, busy1, self0, self1, idle0, idle1 time.Duration) Check {
	others := (busy1 - busy0) - (self1 - self0)
	all := (busy1 - busy0) + (idle1 - idle0)
	if all <= 0 {
		return Check{"others", Caution, "this system does not report who uses the CPUs", ""}
	}
	share := max(0, float64(others)/float64(all))
	c := Check{"others", Good, fmt.Sprintf("other programs use %s of the CPUs", unit.Percent(share)), ""}
	switch {
	case share >= 0.40:
		c.Verdict, c.Advice = Bad, "Stop other programs, or measure on another machine."
	case share >= 0.20:
		c.Verdict, c.Advice = Caution, "Close what you do not need; compare in interleaved rounds."
	}
	return c
}

func checkSteal(steal, all time.Duration) Check {
	share := 0.0
	if all > 0 {
		share = float64(steal) / float64(all+steal)
	}
	c := Check{"steal", Good, fmt.Sprintf("the hypervisor took %s", unit.Percent(share)), ""}
	if share > 0.01 {
		c.Verdict, c.Advice = Caution, "Another virtual machine on this host takes CPU time away; repeat when the host is quiet."
	}
	return c
}

func checkLoad(h recording.Host) Check {
	c := Check{"load", Good, fmt.Sprintf("%.2f on %d CPUs", h.Load, h.CPUs), ""}
	if h.Load > float64(h.CPUs) {
		c.Verdict, c.Advice = Caution, "More threads are runnable than there are CPUs; wait until the machine is quiet."
	}
	return c
}

// noiseFloor runs one and the same work for about d and returns how much its
// wall time and its CPU time vary: half the distance of the quartiles over
// the median, which outliers do not move.
func noiseFloor(ctx context.Context, d time.Duration) (wall, cpu float64) {
	var walls, cpus []float64
	for end := time.Now().Add(d); time.Now().Before(end) && ctx.Err() == nil; {
		start, cpu0 := time.Now(), selfCPU()
		spin()
		walls = append(walls, float64(time.Since(start)))
		cpus = append(cpus, float64(selfCPU()-cpu0))
	}
	return spread(walls), spread(cpus)
}

func spread(v []float64) float64 {
	slices.Sort(v)
	return (stats.Quantile(v, 0.75) - stats.Quantile(v, 0.25)) / 2 / stats.Quantile(v, 0.5)
}

// spin computes for about 10 ms.
func spin() {
	x := uint64(88172645463325252)
	for range 6_000_000 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	runtime.KeepAlive(x)
}

func checkNoise(wall, cpu float64) Check {
	if math.IsNaN(wall) {
		return Check{"noise", Caution, "not measured", ""}
	}
	c := Check{"noise", Good, fmt.Sprintf("the same work varies by ±%s in wall time", unit.Percent(wall)), ""}
	if !math.IsNaN(cpu) {
		c.Found += fmt.Sprintf(", ±%s in CPU time", unit.Percent(cpu))
	}
	if wall > 0.02 {
		c.Verdict, c.Advice = Caution, "Differences below this cannot be seen in a single run; use rounds."
	}
	return c
}

func checkTemp() Check {
	dir, err := os.MkdirTemp("", "loupe-")
	if err != nil {
		return Check{"temp", Bad, err.Error(), "Set TMPDIR to a writable folder."}
	}
	os.Remove(dir)
	return Check{"temp", Good, os.TempDir() + " can be written", ""}
}
