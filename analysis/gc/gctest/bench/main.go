// Command bench holds what package gc predicts about GOGC and GOMEMLIMIT
// against what happens.
//
//	go run ./analysis/gc/gctest/bench                      every program, about five minutes on two CPUs
//	go run ./analysis/gc/gctest/bench -only cache,json     some of them
//	go run ./analysis/gc/gctest/bench -markdown            the table of docs/benchmarks.md
//	go run ./analysis/gc/gctest/bench -advise              what loupe gc -advise says of containers, and what happens then
//	go run ./analysis/gc/gctest/bench -- ./myprogram -x    a program of yours, which must end by itself
//
// Each program runs at GOGC=100 first. From that log alone everything is
// predicted but the CPU time, which needs a second run, at GOGC=400. Then the
// program runs with the other settings. Each figure is written as what was
// predicted, the range in brackets, what was measured, and by how much the
// estimate was off.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loupe/analysis/gc"
	"loupe/format/godebug"
	"loupe/source/system"
	"loupe/value/stats"
)

type options struct {
	only     string
	rounds   int
	markdown bool
	keep     string
	advise   bool
}

func main() {
	var o options
	flag.StringVar(&o.only, "only", "", "`names` of programs, with commas: "+strings.Join(names(), ", "))
	flag.IntVar(&o.rounds, "rounds", 3, "run each setting `n` times and take the median")
	flag.BoolVar(&o.markdown, "markdown", false, "print a table for docs/benchmarks.md")
	flag.BoolVar(&o.advise, "advise", false, "take the advice for containers of several sizes, and run the programs as advised")
	flag.StringVar(&o.keep, "keep", "", "keep the logs in this `folder`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, &o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, o *options, command []string) error {
	temp, err := os.MkdirTemp("", "gc-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	list := programs
	if len(command) > 0 {
		list = []program{{filepath.Base(command[0]), func(context.Context, string) ([]string, error) { return command, nil }}}
	}
	t, advice := &table{markdown: o.markdown}, &adviceTable{}
	if o.advise {
		advice.head()
	} else {
		t.head()
	}
	for _, p := range list {
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), p.name) {
			continue
		}
		command, err := p.prepare(ctx, temp)
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s is left out: %v\n", p.name, err)
			continue
		}
		run := func() error { return hold(ctx, o, t, p.name, command) }
		if o.advise {
			run = func() error { return advice.advise(ctx, o, p.name, command) }
		}
		if err := run(); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", p.name, err)
		}
	}
	if o.advise {
		advice.foot()
	} else {
		t.foot()
	}
	return nil
}

// The two settings that a prediction is made from.
var base, far = gc.Settings{GOGC: 100}, gc.Settings{GOGC: 400}

// calibrated measures a program at base and at far, and makes the replay of the two.
func calibrated(ctx context.Context, o *options, name string, command []string) (replay *gc.Replay, first, second *measured, err error) {
	if first, err = median(ctx, o, name, command, base); err != nil {
		return nil, nil, nil, err
	}
	of := base
	if replay, err = gc.NewReplay(first.summary, gc.ReplayOptions{Base: &of, CPU: first.cpu}); err != nil {
		return nil, nil, nil, err
	}
	if second, err = median(ctx, o, name, command, far); err != nil {
		return nil, nil, nil, err
	}
	replay.Calibrate(far, second.cpu)
	return replay, first, second, nil
}

// hold predicts and measures one program.
func hold(ctx context.Context, o *options, t *table, name string, command []string) error {
	replay, first, second, err := calibrated(ctx, o, name, command)
	if err != nil {
		return err
	}
	t.row(name, replay.Predict(base), first)
	for _, s := range settings(replay) {
		m := second
		if s != far {
			if m, err = median(ctx, o, name, command, s); err != nil {
				return err
			}
		}
		t.row(name, replay.Predict(s), m)
	}
	return nil
}

// median runs a program some times and returns the run with the median of the
// CPU time.
func median(ctx context.Context, o *options, name string, command []string, s gc.Settings) (*measured, error) {
	var runs []*measured
	for range o.rounds {
		m, err := measure(ctx, o, name, command, s)
		if err != nil {
			return nil, err
		}
		runs = append(runs, m)
	}
	slices.SortFunc(runs, func(a, b *measured) int { return int(a.cpu - b.cpu) })
	return runs[len(runs)/2], nil
}

// settings are those to predict: a few of GOGC, and limits with little and with
// much room above the live heap.
func settings(r *gc.Replay) []gc.Settings {
	out := []gc.Settings{{GOGC: 50}, {GOGC: 200}, {GOGC: 400}}
	need := float64(r.Predict(gc.Settings{GOGC: 0}).MemoryMB.Estimate)
	for _, times := range []float64{1.3, 2, 4} {
		out = append(out, gc.Settings{GOGC: gc.GOGCOff, Limit: int64(math.Ceil(need*times)) << 20})
	}
	return append(out, gc.Settings{GOGC: 100, Limit: int64(math.Ceil(need*1.5)) << 20})
}

// measured is a run of a program.
type measured struct {
	collections float64
	peak        float64 // MB of heap
	rss         float64 // MB, resident at most
	gcCPU       float64 // ms
	cpu, wall   time.Duration
	summary     *gc.Summary
}

func measure(ctx context.Context, o *options, name string, command []string, s gc.Settings) (*measured, error) {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	var log bytes.Buffer
	c.Env = append(append(os.Environ(), "GODEBUG=gctrace=1"), s.Environ()...)
	c.Stdout, c.Stderr = io.Discard, &log
	begun := time.Now()
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s with %s: %w: %.300s", command[0], s, err, log.String())
	}
	m := &measured{wall: time.Since(begun), cpu: c.ProcessState.UserTime() + c.ProcessState.SystemTime()}
	m.rss = float64(system.PeakMemory(c.ProcessState)) / (1 << 20)
	if o.keep != "" {
		file := fmt.Sprintf("%s-%s.log", name, strings.ReplaceAll(s.String(), " ", "-"))
		if err := os.WriteFile(filepath.Join(o.keep, file), log.Bytes(), 0o666); err != nil {
			return nil, err
		}
	}
	all, err := godebug.Collect(&log)
	if err != nil {
		return nil, err
	}
	m.summary = gc.Analyse(all.Cycles, gc.Options{})
	m.collections = float64(m.summary.Derived.Collections)
	m.peak = float64(m.summary.Derived.PeakHeapMB)
	for _, y := range m.summary.Cycles {
		m.gcCPU += y.CPUSTW1MS + y.CPUAssist + y.CPUBackground + y.CPUIdle + y.CPUSTW2MS
	}
	return m, nil
}

// table prints rows, and sums up how far they were off.
type table struct {
	markdown bool
	misses   map[gc.Grade][]miss
}

// miss is by what share a prediction was off.
type miss struct{ collections, heap, gcCPU, cpu float64 }

func (t *table) head() {
	t.misses = map[gc.Grade][]miss{}
	cells := []string{"program", "settings", "grade", "collections", "peak heap, MB", "GC, Ps' ms", "CPU, ms", "memory, max RSS, MB"}
	t.print(cells)
	if t.markdown {
		t.print(slices.Repeat([]string{"---"}, len(cells)))
	}
}

func (t *table) print(cells []string) {
	if t.markdown {
		fmt.Println("| " + strings.Join(cells, " | ") + " |")
		return
	}
	for i, c := range cells {
		fmt.Printf("%-*s ", []int{8, 28, 5, 28, 28, 34, 34, 24}[i], c)
	}
	fmt.Println()
}

func (t *table) row(name string, p gc.Prediction, m *measured) {
	off := func(predicted gc.Range, seen float64) float64 { return float64(predicted.Estimate)/seen - 1 }
	cpu := float64(m.cpu) / 1e6
	t.misses[p.Grade] = append(t.misses[p.Grade], miss{off(p.Collections, m.collections), off(p.PeakHeapMB, m.peak), off(p.GCCPUMS, m.gcCPU), off(p.CPUMS, cpu)})
	t.print([]string{
		name, p.Settings.String(), string(p.Grade), cell(p.Collections, m.collections), cell(p.PeakHeapMB, m.peak),
		cell(p.GCCPUMS, m.gcCPU), cell(p.CPUMS, cpu), fmt.Sprintf("≤ %.0f: %.0f", float64(p.MemoryMB.High), m.rss),
	})
}

// cell is what was predicted, with its range, what was measured, and by how much
// the estimate was off.
func cell(p gc.Range, seen float64) string {
	if !p.Estimate.Known() {
		return fmt.Sprintf("–: %.0f", seen)
	}
	high := "?"
	if p.High.Known() {
		high = fmt.Sprintf("%.0f", float64(p.High))
	}
	text := fmt.Sprintf("%.0f (%.0f–%s): %.0f", float64(p.Estimate), float64(p.Low), high, seen)
	if seen > 0 {
		text += fmt.Sprintf(", %+.0f%%", 100*(float64(p.Estimate)/seen-1))
	}
	if gc.Figure(seen) < p.Low || p.High.Known() && gc.Figure(seen) > p.High {
		text += " outside"
	}
	return text
}

// foot prints how far nine of ten predictions of each grade were off at most.
func (t *table) foot() {
	fmt.Println()
	for _, g := range []gc.Grade{gc.Good, gc.Fair, gc.Poor} {
		all := t.misses[g]
		if len(all) == 0 {
			continue
		}
		of := func(get func(miss) float64) string {
			var v []float64
			for _, m := range all {
				if x := math.Abs(get(m)); !math.IsNaN(x) && !math.IsInf(x, 0) {
					v = append(v, x)
				}
			}
			slices.Sort(v)
			return fmt.Sprintf("±%.0f%% (half ±%.0f%%)", 100*stats.Quantile(v, 0.9), 100*stats.Quantile(v, 0.5))
		}
		fmt.Printf("%s: %d predictions; nine of ten within: collections %s, peak heap %s, GC CPU %s, CPU %s\n", g, len(all),
			of(func(m miss) float64 { return m.collections }), of(func(m miss) float64 { return m.heap }), of(func(m miss) float64 { return m.gcCPU }), of(func(m miss) float64 { return m.cpu }))
	}
}
