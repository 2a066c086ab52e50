package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"loupe/analysis/gc"
)

// containers are the sizes that advice is asked for, in times of what the live heap takes.
var containers = []float64{1.1, 2, 4, 8}

// What a prediction of good confidence is held to.
const (
	mayMissCycles = 0.12
	mayMissHeap   = 0.10
	mayMissCPU    = 0.10
)

// adviceTable holds advice against what happens.
type adviceTable struct{ rows, held [3]map[string]int }

func (t *adviceTable) head() {
	for i := range t.rows {
		t.rows[i], t.held[i] = map[string]int{}, map[string]int{}
	}
	fmt.Println("| program | container | advice | confidence | collections | peak heap, MB | CPU, ms | max RSS, MB |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- |")
}

// advise asks for advice for a program, and runs it as advised.
func (t *adviceTable) advise(ctx context.Context, o *options, name string, command []string) error {
	replay, first, _, err := calibrated(ctx, o, name, command)
	if err != nil {
		return err
	}
	again, err := median(ctx, o, name, command, base)
	if err != nil {
		return err
	}
	need := float64(replay.Choose(1).NeedMB)
	seen := map[gc.Settings]bool{}
	for _, times := range containers {
		size := int64(math.Ceil(need*times)) << 20
		a := gc.Advise(replay, gc.AdviceOptions{Container: size, Outside: -1})
		shown := fmt.Sprintf("%d MiB", size>>20)
		a.WeighCPU(first.cpu, again.cpu)
		if a.Refused != "" {
			fmt.Printf("| %s | %s | refused: %s | | | | | |\n", name, shown, a.Refused)
			continue
		}
		p := a.Advised
		if seen[gc.Settings{GOGC: p.Settings.GOGC}] && p.State == gc.Unlimited {
			continue // the same collections as in a smaller container
		}
		seen[gc.Settings{GOGC: p.Settings.GOGC}] = true
		m, err := median(ctx, o, name, command, p.Settings)
		if err != nil {
			return err
		}
		t.row(name, shown, a, m, float64(size>>20))
	}
	return nil
}

func (t *adviceTable) row(name, container string, a *gc.Advice, m *measured, size float64) {
	p := a.Advised
	cpu := float64(m.cpu) / 1e6
	for i, x := range []struct {
		estimate gc.Figure
		seen     float64
		may      float64
	}{{p.Collections.Estimate, m.collections, mayMissCycles}, {p.PeakHeapMB.Estimate, m.peak, mayMissHeap}, {p.CPUMS.Estimate, cpu, mayMissCPU}} {
		if !x.estimate.Known() || x.seen == 0 {
			continue
		}
		confidence := a.Confidence
		if i == 2 {
			confidence = a.CPUConfidence
		}
		t.rows[i][confidence]++
		// A collection more or less is a rounding.
		if off := math.Abs(float64(x.estimate) - x.seen); off <= x.may*x.seen || i == 0 && off <= 1 {
			t.held[i][confidence]++
		}
	}
	rss := fmt.Sprintf("%.0f", m.rss)
	if m.rss > size {
		rss += " **too much**"
	}
	why := ""
	if len(a.Why) > 0 {
		why = ": " + strings.Join(a.Why, "; ")
	}
	ofCPU := off(p.CPUMS, cpu)
	if a.CPUWhy != "" {
		ofCPU += " (low: " + a.CPUWhy + ")"
	}
	fmt.Printf("| %s | %s | %s | %s%s | %s | %s | %s | %s |\n", name, container, p.Settings, a.Confidence, why, off(p.Collections, m.collections), off(p.PeakHeapMB, m.peak), ofCPU, rss)
}

// off is what was predicted, what was measured, and by how much it was off.
func off(p gc.Range, seen float64) string {
	if !p.Estimate.Known() || seen == 0 {
		return fmt.Sprintf("–: %.0f", seen)
	}
	return fmt.Sprintf("%.0f: %.0f, %+.0f%%", float64(p.Estimate), seen, 100*(float64(p.Estimate)/seen-1))
}

func (t *adviceTable) foot() {
	fmt.Println()
	for _, c := range []string{"good", "fair", "low"} {
		if t.rows[0][c]+t.rows[2][c] == 0 {
			continue
		}
		fmt.Printf("%s: within 12 %% of the collections %d of %d, within 10 %% of the peak heap %d of %d, within 10 %% of the CPU time %d of %d\n", c,
			t.held[0][c], t.rows[0][c], t.held[1][c], t.rows[1][c], t.held[2][c], t.rows[2][c])
	}
}
