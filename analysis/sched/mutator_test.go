package sched_test

import (
	"fmt"
	"math"
	"math/rand/v2"
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

// mutatorOptions are the settings that the oracle prints, in its order, with
// the number that internal/trace has for them.
var mutatorOptions = []struct {
	flags int
	opts  sched.MutatorOptions
}{
	{7, sched.MutatorOptions{Compat: true}},
	{15, sched.MutatorOptions{Count: sched.CommonLosses | sched.LossSweep, Compat: true}},
	{1, sched.MutatorOptions{Count: sched.LossSTW, Compat: true}},
	{23, sched.MutatorOptions{PerProc: true, Compat: true}},
}

// readMutators feeds one mutator for each of the options with a trace.
func readMutators(t testing.TB, data []byte, opts ...sched.MutatorOptions) []*sched.Mutator {
	t.Helper()
	tr, err := exectrace.Open(data, exectrace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	pass := sweep.New(tr)
	var ms []*sched.Mutator
	for _, o := range opts {
		m := sched.NewMutator(pass.Goroutines(), o)
		ms = append(ms, m)
		pass.Join(m)
	}
	if err := pass.Run(nil); err != nil {
		t.Fatal(err)
	}
	return ms
}

// TestMutatorOfNobody: an assist of a goroutine that a damaged trace does not have
// takes no memory. Four gigabytes were made for its slot.
func TestMutatorOfNobody(t *testing.T) {
	m := sched.NewMutator(sweep.NewGoroutines(nil), sched.MutatorOptions{})
	m.Event(&exectrace.Event{Kind: exectrace.KindMetric, Name: exectrace.NameGOMAXPROCS, Args: [3]uint64{2}})
	e := &exectrace.Event{Kind: exectrace.KindRangeBegin, Name: exectrace.NameMarkAssist, SubjectSlot: exectrace.NoSlot, GSlot: exectrace.NoSlot}
	if n := testing.AllocsPerRun(1, func() { m.Event(e) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// mmuText is what the oracle prints in its mode mmu.
func mmuText(t testing.TB, data []byte) string {
	var b strings.Builder
	var opts []sched.MutatorOptions
	for _, o := range mutatorOptions {
		opts = append(opts, o.opts)
	}
	for i, m := range readMutators(t, data, opts...) {
		fmt.Fprintf(&b, "flags %d\n", mutatorOptions[i].flags)
		for _, s := range m.Steps() {
			for _, p := range s {
				fmt.Fprintf(&b, "%d:%v ", p.Time, p.Util)
			}
			fmt.Fprintln(&b)
		}
		curve := m.Curve()
		for w := time.Microsecond; w <= 10*time.Second; w *= 10 {
			for _, k := range []time.Duration{1, 2, 5} {
				fmt.Fprintf(&b, "%d %v %v %v\n", w*k, curve.MMU(w*k), curve.MUD(w*k, []float64{0.999, 0.99, 0.95}), curve.Examples(w*k, 3))
			}
		}
	}
	return b.String()
}

// TestMutatorUtilization compares steps, minima, quantiles and examples with
// those of the standard library, digit by digit.
func TestMutatorUtilization(t *testing.T) {
	for _, f := range traces(t) {
		t.Run(filepath.Base(f), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			want, err := exectracetest.Oracle(t, "mmu", f)
			if err != nil && strings.Contains(err.Error(), "index out of range [-1]") {
				t.Skip("the standard library panics: somebody was labelled as a worker by mistake")
			}
			if err != nil {
				t.Fatal(err)
			}
			same(t, mmuText(t, data), want)
		})
	}
}

// TestMutatorWorkers holds the time that mark workers take against the time
// for which they run.
func TestMutatorWorkers(t *testing.T) {
	for _, f := range traces(t) {
		t.Run(filepath.Base(f), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			ms := readMutators(t, data, sched.MutatorOptions{Count: sched.LossBackground}, sched.MutatorOptions{Count: sched.LossBackground, Compat: true})
			ran, procs := workers(t, data)
			if procs == 0 {
				t.Skip("GOMAXPROCS changes")
			}
			got := lost(ms[0].Steps()[0]) * float64(procs)
			t.Logf("workers ran %v; go tool trace says %v", ran, time.Duration(lost(ms[1].Steps()[0])*float64(procs)))
			if math.Abs(got-float64(ran)) > 1e-9*float64(ran)+1000 {
				t.Errorf("lost %v, but workers ran %v", time.Duration(got), ran)
			}
		})
	}
}

// lost is the integral of what is not left to the program.
func lost(steps []sched.UtilStep) (ns float64) {
	for i, s := range steps[:len(steps)-1] {
		ns += (1 - s.Util) * float64(steps[i+1].Time-s.Time)
	}
	return ns
}

// workers returns how long goroutines ran with a worker's label, and the
// number of Ps, or 0 if it changes.
func workers(t *testing.T, data []byte) (ran time.Duration, procs uint64) {
	tr, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := tr.Reader()
	since := map[exectrace.GoID]timeline.Time{}
	var last timeline.Time
	for r.Next() {
		e := r.Event()
		last = e.Time
		switch e.Kind {
		case exectrace.KindMetric:
			if e.Name == exectrace.NameGOMAXPROCS {
				if procs != 0 && procs != e.Value() {
					return 0, 0
				}
				procs = e.Value()
			}
		case exectrace.KindLabel:
			if name := r.Name(e.Name); procs > 0 && strings.HasPrefix(name, "GC ") && name != "GC (idle)" {
				since[e.G] = e.Time
			}
		case exectrace.KindGoTransition:
			if at, ok := since[e.Goroutine()]; ok && e.From == exectrace.Running && e.To != exectrace.Running {
				ran += e.Time.Sub(at)
				delete(since, e.Goroutine())
			}
		}
	}
	for _, at := range since {
		ran += last.Sub(at)
	}
	return ran, procs
}

// TestMMUCurveTail looks at a utilisation that ends at 0: the curve must
// know of the time for which it stayed there.
func TestMMUCurveTail(t *testing.T) {
	c := sched.NewMMUCurve([][]sched.UtilStep{{{Time: 0, Util: 1}, {Time: 1000, Util: 0}, {Time: 3000, Util: 0}}})
	if got := c.MMU(4000); math.Abs(got-1./3) > 1e-12 {
		t.Errorf("MMU of all = %v, want 1/3", got)
	}
	if got := c.Examples(2000, 5); len(got) != 1 || got[0] != (sched.UtilWindow{Time: 1000, Util: 0}) {
		t.Errorf("examples = %v", got)
	}
}

// TestMMUCurve holds the curve against windows at every nanosecond.
func TestMMUCurve(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		steps := []sched.UtilStep{{Time: 1000, Util: 1}}
		for range 1 + rnd.IntN(30) {
			last := steps[len(steps)-1]
			steps = append(steps, sched.UtilStep{Time: last.Time + 1 + timeline.Time(rnd.IntN(50)), Util: float64(rnd.IntN(5)) / 4})
		}
		steps[len(steps)-1].Util = 0
		c := sched.NewMMUCurve([][]sched.UtilStep{steps})
		length := int(steps[len(steps)-1].Time - steps[0].Time)
		window := 1 + rnd.IntN(length)
		means := windowMeans(steps, window)
		if got, want := c.MMU(time.Duration(window)), slices.Min(means); math.Abs(got-want) > 1e-9 {
			t.Errorf("MMU(%d) of %v = %v, want %v", window, steps, got, want)
		}
		if len(means) < 20 {
			continue
		}
		slices.Sort(means)
		for _, q := range []float64{0, 0.01, 0.25, 0.5, 0.99} {
			got := c.MUD(time.Duration(window), []float64{q, 0.3})[0]
			// The means are samples of a continuous function: the quantile lies
			// between two of them.
			at := q * float64(len(means)-1)
			lo, hi := means[max(0, int(at)-1-len(steps))], means[min(len(means)-1, int(at)+2+len(steps))]
			if got < lo-1e-9 || got > hi+1e-9 {
				t.Errorf("MUD(%d, %v) of %v = %v, want %v to %v", window, q, steps, got, lo, hi)
			}
			least, mud := c.MinAndMUD(time.Duration(window), []float64{q, 0.3})
			if math.Abs(least-c.MMU(time.Duration(window))) > 1e-12 || mud[0] != got {
				t.Errorf("MinAndMUD(%d, %v) of %v = %v, %v, want %v and %v", window, q, steps, least, mud, c.MMU(time.Duration(window)), got)
			}
		}
	}
}

// TestMMUCurveLong holds a curve of many bands, whose windows reach over steps that are
// near and far, against the windows at all places where the mean bends.
func TestMMUCurveLong(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	steps, sums := []sched.UtilStep{{Time: 1000, Util: 1}}, []float64{0}
	for range 5000 {
		last, gap := steps[len(steps)-1], 1+rnd.IntN(50)
		if rnd.IntN(20) == 0 {
			gap *= 500
		}
		steps = append(steps, sched.UtilStep{Time: last.Time + timeline.Time(gap), Util: float64(rnd.IntN(5)) / 4})
		sums = append(sums, sums[len(sums)-1]+last.Util*float64(gap))
	}
	steps[len(steps)-1].Util = 0
	first, end := steps[0].Time, steps[len(steps)-1].Time
	upTo := func(at timeline.Time) float64 {
		i, found := slices.BinarySearchFunc(steps, at, func(s sched.UtilStep, at timeline.Time) int { return int(s.Time - at) })
		if !found {
			i--
		}
		return sums[i] + steps[i].Util*float64(at-steps[i].Time)
	}
	c := sched.NewMMUCurve([][]sched.UtilStep{steps})
	for _, window := range []timeline.Time{1, 7, 60, 3000, 40_000, 500_000, end - first} {
		want := 1.0
		for _, s := range steps {
			for _, at := range []timeline.Time{s.Time, s.Time - window} {
				if at >= first && at+window <= end {
					want = min(want, (upTo(at+window)-upTo(at))/float64(window))
				}
			}
		}
		least, _ := c.MinAndMUD(time.Duration(window), []float64{0.05})
		if got := c.MMU(time.Duration(window)); math.Abs(got-want) > 1e-9 || math.Abs(least-want) > 1e-9 {
			t.Errorf("MMU(%d) = %v, and %v with the distribution, want %v", window, got, least, want)
		}
	}
}

// windowMeans returns the mean of every window that begins at a whole
// nanosecond.
func windowMeans(steps []sched.UtilStep, window int) (means []float64) {
	var util []float64
	for i, s := range steps[:len(steps)-1] {
		for range steps[i+1].Time - s.Time {
			util = append(util, s.Util)
		}
	}
	for from := 0; from+window <= len(util); from++ {
		sum := 0.0
		for _, u := range util[from : from+window] {
			sum += u
		}
		means = append(means, sum/float64(window))
	}
	return means
}
