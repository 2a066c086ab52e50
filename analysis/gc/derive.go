package gc

import (
	"math"
	"slices"
	"time"

	"loupe/format/godebug"
	"loupe/value/stats"
)

// Analyse derives the figures of the cycles, which are in the order of the
// log and all of one window.
func Analyse(cycles []godebug.Cycle, opt Options) *Summary {
	s := &Summary{Schema: Schema, Cycles: rowsOf(cycles), Unrecognised: opt.Unrecognised}
	runs := godebug.ByRun(cycles, func(y *godebug.Cycle) int { return y.Run })
	main := mainRun(runs)
	rows := s.Cycles
	if len(main) != len(rows) {
		rows = rowsOf(main)
	}
	s.Derived = derive(main, rows, opt)
	if len(runs) > 1 {
		for _, run := range runs {
			s.Runs = append(s.Runs, Run{Run: run[0].Run, Name: opt.nameOf(run[0].Run), Derived: derive(run, rowsOf(run), Options{})})
		}
	}
	s.Notes = notes(main, s, opt)
	return s
}

// nameOf is how the log names a run; "" where it does not.
func (opt *Options) nameOf(run int) string {
	if run < 0 || run >= len(opt.Names) {
		return ""
	}
	return opt.Names[run]
}

// mainRun is the run with the most collections.
func mainRun(runs [][]godebug.Cycle) (main []godebug.Cycle) {
	for _, run := range runs {
		if main == nil || collections(run) > collections(main) {
			main = run
		}
	}
	return main
}

func collections(run []godebug.Cycle) int64 {
	if len(run) == 0 {
		return 0
	}
	return run[len(run)-1].N - run[0].N + 1
}

func millis(d time.Duration) float64 { return float64(d) / 1e6 }
func megs(b int64) float64           { return float64(b) / (1 << 20) }

func rowOf(y *godebug.Cycle) Row {
	return Row{
		GC: y.N, AtS: y.At.Seconds(),
		STW1MS: millis(y.STW1), MarkMS: millis(y.Mark), STW2MS: millis(y.STW2),
		CPUSTW1MS: millis(y.CPUSTW1), CPUAssist: millis(y.Assist), CPUBackground: millis(y.Background + y.CPUScan + y.CPUSync),
		CPUIdle: millis(y.Idle), CPUSTW2MS: millis(y.CPUSTW2),
		HeapStartMB: megs(y.HeapStart), HeapEndMB: megs(y.HeapEnd), HeapLiveMB: megs(y.HeapLive), GoalMB: megs(y.Goal),
		Procs: y.Procs, Forced: y.Forced, GCTracePercent: y.Percent, StacksMB: megs(y.Stacks), GlobalsMB: megs(y.Globals),
		Leaks: y.Leaks, Stale: y.Stale, Dialect: y.Dialect.String(), Line: y.Line, Run: y.Run,
	}
}

// sums are what derive adds up over a run.
type sums struct {
	clock, mark, pause time.Duration
	// assist is of each P's time, in nanoseconds: each cycle's divided by its
	// Ps, for GOMAXPROCS may change.
	assist    float64
	assistCPU time.Duration
	markCPU   time.Duration
}

// derive computes the figures of one run.
func derive(run []godebug.Cycle, rows []Row, opt Options) Derived {
	d := Derived{Collections: collections(run), Lines: len(run), Requests: opt.Requests}
	// A line that is there twice must not make the number missing negative.
	d.Missing = max(0, d.Collections-int64(len(run)))
	for i := range run {
		if run[i].Forced {
			d.Forced++
		}
		d.Procs = max(d.Procs, run[i].Procs)
		if d.LeastProcs == 0 || run[i].Procs < d.LeastProcs {
			d.LeastProcs = run[i].Procs
		}
	}
	span := float64(duration(run, opt))
	d.shares(run, rows, span)
	d.pace(run, span, opt.Requests)
	d.pauses(run)
	d.heap(run)
	return d
}

// ratio returns a/b, or unknown without a base.
func ratio(a, b float64) Figure {
	if b <= 0 {
		return Unknown()
	}
	return Figure(a / b)
}

// rowsOf are the rows of collections.
func rowsOf(run []godebug.Cycle) []Row {
	rows := make([]Row, len(run))
	for i := range run {
		rows[i] = rowOf(&run[i])
	}
	return rows
}

// shares fills in what part of the span, in nanoseconds, went where.
func (d *Derived) shares(run []godebug.Cycle, rows []Row, span float64) {
	var t sums
	for i := range run {
		t.add(&run[i])
	}
	scale := d.scale()
	took := accountOf(rows, scale)
	d.CPUPercent, d.CPULowPercent, d.CPUHighPercent = took.share(span / 1e6)
	d.counted, d.disagree = took.counted, took.disagree
	if d.sparse() {
		// The count of the runtime knows of all collections, the lines of a few.
		scale = math.NaN()
		if !took.counted {
			d.CPUPercent, d.CPUHighPercent = Unknown(), Unknown()
		}
	}
	of := func(part float64) Figure { return ratio(100*part*scale, span) }
	d.GCTotalMS = Figure(millis(t.clock) * scale)
	d.GCPercent = of(float64(t.clock))
	d.MarkPercent = of(float64(t.mark))
	d.STWPercent = of(float64(t.pause))
	d.AssistOfPsPercent = of(t.assist)
	d.AssistPercent = ratio(100*float64(t.assistCPU), float64(t.markCPU))
	d.GCTracePercent, d.GCTraceTotalMS = Unknown(), Unknown()
	switch {
	case go14(run):
		d.AssistOfPsPercent, d.AssistPercent = Unknown(), Unknown()
	case len(run) > 0:
		d.GCTracePercent = Figure(run[len(run)-1].Percent)
		if span > 0 {
			d.GCTraceTotalMS = d.GCTracePercent / 100 * Figure(span/1e6)
		}
	}
}

// scale is how many collections each line stands for.
func (d *Derived) scale() float64 {
	if d.Missing == 0 || d.Lines == 0 {
		return 1
	}
	return float64(d.Collections) / float64(d.Lines)
}

// sparse tells that too few collections have a line for the others to be taken to
// be like them: fewer than half, or than [FewCycles].
func (d *Derived) sparse() bool {
	return d.Missing > 0 && (d.Lines < FewCycles || int64(d.Lines) < d.Missing)
}

// pace fills in how often collections came, per time and per request.
func (d *Derived) pace(run []godebug.Cycle, span float64, requests int64) {
	d.DurationMS, d.PaceMS = Unknown(), Unknown()
	d.RequestsPerSec, d.RequestsPerCollection = Unknown(), Unknown()
	n := float64(d.Collections)
	if span > 0 {
		d.DurationMS = Figure(span / 1e6)
		d.PaceMS = ratio(span/1e6, n)
	}
	if requests > 0 {
		d.RequestsPerSec = ratio(float64(requests), span/1e9)
		d.RequestsPerCollection = ratio(float64(requests), n)
	}
	d.PaceP50MS, d.PaceP90MS = paces(run)
}

func go14(run []godebug.Cycle) bool { return len(run) > 0 && run[0].Dialect == godebug.Go14 }

func (t *sums) add(y *godebug.Cycle) {
	t.clock += y.Clock()
	t.mark += y.Mark
	t.pause += y.Pause()
	p := float64(max(y.Procs, 1))
	t.assist += float64(y.Assist) / p
	t.assistCPU += y.Assist
	t.markCPU += y.MarkCPU()
}

// duration is the window's: the caller's, or from the first start to the last
// end. Go 1.4 prints no times, so there it is unknown, which is 0.
func duration(run []godebug.Cycle, opt Options) time.Duration {
	if opt.Duration > 0 || len(run) == 0 || go14(run) {
		return opt.Duration
	}
	last := &run[len(run)-1]
	return last.At - run[0].At + last.Clock()
}

// paces returns quantiles of the time between starts. The time over a gap in
// the numbers is shared among the collections that it holds.
func paces(run []godebug.Cycle) (p50, p90 Figure) {
	var gaps []float64
	for i := 1; i < len(run); i++ {
		n := run[i].N - run[i-1].N
		if n <= 0 || run[i].Dialect == godebug.Go14 {
			continue
		}
		gap := millis(run[i].At-run[i-1].At) / float64(n)
		for range min(n, 1000) {
			gaps = append(gaps, gap)
		}
	}
	slices.Sort(gaps)
	return Figure(stats.Quantile(gaps, 0.5)), Figure(stats.Quantile(gaps, 0.9))
}

func (d *Derived) pauses(run []godebug.Cycle) {
	of := func(pause func(y *godebug.Cycle) time.Duration) (p Pauses) {
		ms := make([]float64, len(run))
		total := time.Duration(0)
		for i := range run {
			x := pause(&run[i])
			if x > PauseLimit {
				p.Over++
			}
			total += x
			ms[i] = millis(x)
		}
		slices.Sort(ms)
		p.Count, p.TotalMS = len(run), Figure(millis(total))
		p.P50MS, p.P99MS, p.MaxMS = Figure(stats.Quantile(ms, 0.5)), Figure(stats.Quantile(ms, 0.99)), Figure(stats.Quantile(ms, 1))
		return p
	}
	d.STW = of((*godebug.Cycle).Pause)
	d.STW1 = of(func(y *godebug.Cycle) time.Duration { return y.STW1 })
	d.STW2 = of(func(y *godebug.Cycle) time.Duration { return y.STW2 })
}

// heap fills in what the sizes tell.
func (d *Derived) heap(run []godebug.Cycle) {
	d.AllocMBPerSec, d.OvershootMaxRatio = allocRate(run), Unknown()
	d.PeakHeapMB, d.PeakGoalMB = Unknown(), Unknown()
	for i := range run {
		y := &run[i]
		d.PeakHeapMB = maxFigure(d.PeakHeapMB, megs(max(y.HeapStart, y.HeapEnd)))
		if y.Goal > 0 {
			d.PeakGoalMB = maxFigure(d.PeakGoalMB, megs(y.Goal))
			d.OvershootMaxRatio = maxFigure(d.OvershootMaxRatio, float64(y.HeapEnd)/float64(y.Goal))
			if over := y.HeapEnd - y.Goal; over > 1<<20 && over*20 > y.Goal {
				d.Overshoot++
			}
		}
	}
	d.Live = trend(run, func(*godebug.Cycle) bool { return true })
	if d.Forced > 0 {
		d.ForcedLive = trend(run, func(y *godebug.Cycle) bool { return y.Forced })
	}
}

func maxFigure(f Figure, x float64) Figure {
	if !f.Known() || x > float64(f) {
		return Figure(x)
	}
	return f
}

// allocRate returns MB per second between the first start and the last. What
// is allocated between two collections is the next one's start minus the live
// heap that this one left; during a mark phase it is end minus start.
//
// Note: both sizes are truncated to whole MB, but to the same side, so the
// error of a difference averages out.
func allocRate(run []godebug.Cycle) Figure {
	var bytes int64
	var span time.Duration
	for i := 1; i < len(run); i++ {
		a, b := &run[i-1], &run[i]
		if b.N != a.N+1 || b.At <= a.At {
			continue // a line is missing, or there are no times
		}
		bytes += max(0, a.HeapEnd-a.HeapStart) + max(0, b.HeapStart-a.HeapLive)
		span += b.At - a.At
	}
	if span <= 0 {
		return Unknown()
	}
	return Figure(megs(bytes) / span.Seconds())
}

// trendPoints bounds the points of a trend. The estimators look at every
// pair, and means of bins carry more than a choice among the points: they
// also win back some of what truncation to whole MB took.
const trendPoints = 300

// trend returns the course of the live heap over the cycles wanted.
func trend(run []godebug.Cycle, wanted func(*godebug.Cycle) bool) *Trend {
	if go14(run) {
		return nil
	}
	var at, live []float64
	for i := range run {
		if y := &run[i]; wanted(y) {
			at = append(at, (y.At + y.Clock()).Seconds())
			live = append(live, megs(y.HeapLive))
		}
	}
	at, live = bins(at), bins(live)
	if len(at) < 3 || at[0] == at[len(at)-1] {
		return nil
	}
	t := &Trend{Points: len(at), Slope: stats.TheilSen(at, live, 0.95), Direction: Steady}
	_, t.P = stats.MannKendall(live)
	rise := t.Slope.Estimate * (at[len(at)-1] - at[0])
	t.RiseMB = Figure(rise)
	switch {
	case t.P >= 0.05 || rise < 2 && rise > -2:
	case t.Slope.Low > 0:
		t.Direction = Rising
	case t.Slope.High < 0:
		t.Direction = Falling
	}
	return t
}

// bins returns the means of at most trendPoints stretches of v.
func bins(v []float64) []float64 {
	if len(v) <= trendPoints {
		return v
	}
	out := make([]float64, trendPoints)
	for i := range out {
		out[i] = stats.Mean(v[i*len(v)/trendPoints : (i+1)*len(v)/trendPoints])
	}
	return out
}
