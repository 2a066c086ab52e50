package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"loupe/analysis/gc"
	"loupe/analysis/sched"
	"loupe/format/godebug"
	"loupe/value/unit"
)

// Collections is the analysis of one log or phase.
type Collections struct {
	Title string `json:"phase,omitempty"`
	*gc.Summary
	Unrecognised []godebug.Malformed `json:"-"`
}

// GC is the JSON form of loupe gc: a log, or the first round of a recording,
// with all rounds of it in the same shape. The first one stands for all because
// it is there in every recording, so that a script reads logs and recordings
// alike; one that wants the rounds finds them in Phases.
type GC struct {
	Collections
	Phases []Collections `json:"phases,omitempty"`
	// Lines are what the log, or each process of a recording, says besides.
	Lines []*RuntimeLines `json:"runtime_lines,omitempty"`
}

// WriteGC prints the derived table of each log or phase, with every
// collection when cycles is set, and what the runtime has said besides.
func WriteGC(out io.Writer, all []Collections, others []*RuntimeLines, cycles bool, s Style) error {
	w := &lines{w: out}
	for i, c := range all {
		if i > 0 {
			w.printf("\n")
		}
		if c.Title != "" {
			w.printf("%s\n", s.paint(bold, clean(c.Title)))
		}
		writeDerived(w, &c.Summary.Derived, s)
		for _, run := range c.Summary.Runs {
			d := &run.Derived
			text := fmt.Sprintf("%s: %s collections, one every %s", runName(run.Run, run.Name), unit.Count(d.Collections), msFigure(d.PaceMS))
			if d.Lines >= gc.FewCycles {
				text += fmt.Sprintf(", %s of the wall time in GC, %s of the Ps' time", percentFigure(d.GCPercent), percentFigure(d.CPUPercent))
			}
			w.printf("  %s\n", s.paint(dim, text))
		}
		if cycles {
			w.printf("\n")
			writeCycles(w, c.Summary.Cycles, s)
		}
		for _, n := range c.Summary.Notes {
			w.printf("  %s\n", s.paint(dim, wrap("Note: "+n.Text, s.width()-2, "  ")))
		}
		for _, m := range c.Unrecognised[:min(len(c.Unrecognised), 5)] {
			w.printf("  %s\n", s.paint(yellow, fmt.Sprintf("line %d was not recognised: %s", m.Line, clean(string(m.Text)))))
		}
	}
	for i, r := range others {
		if i > 0 || len(all) > 0 {
			w.printf("\n")
		}
		if len(others) > 1 {
			w.printf("%s\n\n", s.paint(bold, clean(r.Name)))
		}
		r.write(w, cycles, s)
	}
	return w.err
}

// runName is what a run of a log is called: by its number, and by what the log says
// of the process.
func runName(run int, name string) string {
	if name == "" {
		return fmt.Sprintf("run %d", run+1)
	}
	return fmt.Sprintf("run %d (%s)", run+1, clean(name))
}

func msFigure(f gc.Figure) string {
	if !f.Known() {
		return "–"
	}
	return unit.Nanoseconds(float64(f) * 1e6)
}

func percentFigure(f gc.Figure) string {
	if !f.Known() {
		return "–"
	}
	return unit.Percent(float64(f) / 100)
}

func numberFigure(f gc.Figure, suffix string) string {
	if !f.Known() {
		return "–"
	}
	return unit.Number(float64(f)) + suffix
}

// writeDerived prints the table that engineers work out by hand, and what they
// leave out.
func writeDerived(w *lines, d *gc.Derived, s Style) {
	figures(derivedRows(d)).write(w, s)
}

// figures are rows of a name, a value and a remark.
type figures [][3]string

func (f figures) write(w *lines, s Style) {
	var g grid
	for _, r := range f {
		g.add(cell{text: r[0], left: true}, cell{text: r[1]}, cell{text: r[2], left: true, paint: dim})
	}
	g.write(w, s, "  ")
}

// sheet is the same as a sheet.
func (f figures) sheet(key string) *Sheet {
	s := &Sheet{Key: key, Columns: []Column{{"figure", "figure"}, {"value", "value"}, {"remark", ""}}}
	for _, r := range f {
		s.Rows = append(s.Rows, []any{strings.TrimSpace(r[0]), r[1], r[2]})
	}
	return s
}

// GCFigures is what loupe gc prints of a log or a phase, as a sheet.
func GCFigures(d *gc.Derived) *Sheet { return figures(derivedRows(d)).sheet("gc_figures") }

// derivedRows are the figures that are known.
func derivedRows(d *gc.Derived) (rows [][3]string) {
	row := func(name, value, remark string) {
		if value != "–" {
			rows = append(rows, [3]string{name, value, remark})
		}
	}
	if d.Requests > 0 {
		row("Requests", unit.Count(d.Requests), "")
		row("Requests/sec", numberFigure(d.RequestsPerSec, ""), "")
	}
	row("Total duration", msFigure(d.DurationMS), "")
	row("Percent time in GC", percentFigure(d.GCPercent), "of the wall time a collection was in progress")
	row("GC share of the Ps", percentFigure(d.CPUPercent), shareRemark(d))
	missing := ""
	if d.Missing > 0 {
		missing = fmt.Sprintf("%d lines are missing", d.Missing)
	}
	row("Total collections", unit.Count(d.Collections), missing)
	if d.Forced > 0 {
		row("  of them forced", unit.Count(int64(d.Forced)), "by runtime.GC")
	}
	row("Total GC duration", msFigure(d.GCTotalMS), "")
	row("Average pace of GC", msFigure(d.PaceMS), fmt.Sprintf("50%% %s, 90%% %s", msFigure(d.PaceP50MS), msFigure(d.PaceP90MS)))
	if d.Requests > 0 {
		row("Requests/collection", numberFigure(d.RequestsPerCollection, ""), "")
	}
	row("Pauses before marking", pausesText(d.STW1), pausesRemark(d.STW1))
	row("Pauses after marking", pausesText(d.STW2), pausesRemark(d.STW2))
	row("Mark duty", percentFigure(d.MarkPercent), "of the time in the mark phase")
	row("Assist share", percentFigure(d.AssistPercent), fmt.Sprintf("of mark work done by allocating goroutines; %s of the Ps' time", percentFigure(d.AssistOfPsPercent)))
	row("Allocated", numberFigure(d.AllocMBPerSec, " MB/s"), "")
	row("Peak heap", numberFigure(d.PeakHeapMB, " MB"), "goal "+numberFigure(d.PeakGoalMB, " MB"))
	if d.Overshoot > 0 {
		row("Above the goal", unit.Count(int64(d.Overshoot)), "collections ended more than 5% above the goal")
	}
	if t := d.Live; t != nil {
		row("Live heap", string(t.Direction), fmt.Sprintf("slope %.3g MB a minute [%.3g, %.3g], p = %.2g", t.Slope.Estimate*60, t.Slope.Low*60, t.Slope.High*60, t.P))
	}
	return rows
}

// shareRemark says how well the collector's share is known.
func shareRemark(d *gc.Derived) string {
	text := fmt.Sprintf("of the time of %d Ps", d.Procs)
	if d.LeastProcs < d.Procs {
		text = fmt.Sprintf("of the time of the Ps, of which there were %d to %d", d.LeastProcs, d.Procs)
	}
	if low, high := percentFigure(d.CPULowPercent), percentFigure(d.CPUHighPercent); low != high {
		text += fmt.Sprintf(", between %s and %s", low, high)
	}
	if d.GCTracePercent.Known() {
		text += fmt.Sprintf("; the last line says %s of the total time since the start", percentFigure(d.GCTracePercent))
	}
	return text
}

func pausesText(p gc.Pauses) string {
	if p.Count == 0 {
		return "–"
	}
	return msFigure(p.P50MS)
}

func pausesRemark(p gc.Pauses) string {
	return fmt.Sprintf("median; 99%% %s, longest %s; %s of %s over 100 µs", msFigure(p.P99MS), msFigure(p.MaxMS), unit.Count(int64(p.Over)), unit.Count(int64(p.Count)))
}

func writeCycles(w *lines, rows []gc.Row, s Style) {
	var g grid
	var head []cell
	for _, h := range []string{"gc", "at", "stw1", "mark", "stw2", "assist", "background", "idle", "heap", "live", "goal", "Ps"} {
		head = append(head, cell{text: h, paint: dim})
	}
	g.add(append(head, cell{left: true})...)
	ms := func(v float64) cell { return cell{text: unit.Nanoseconds(v * 1e6)} }
	mb := func(v float64) cell { return cell{text: unit.Number(v) + " MB"} }
	for _, r := range rows {
		forced := ""
		if r.Forced {
			forced = "forced"
		}
		g.add(cell{text: unit.Count(r.GC)}, cell{text: fmt.Sprintf("%.3f s", r.AtS)}, ms(r.STW1MS), ms(r.MarkMS), ms(r.STW2MS),
			ms(r.CPUAssist), ms(r.CPUBackground), ms(r.CPUIdle), mb(r.HeapStartMB), mb(r.HeapLiveMB), mb(r.GoalMB),
			cell{text: fmt.Sprint(r.Procs)}, cell{text: forced, left: true})
	}
	g.write(w, s, "  ")
}

// Samples is the analysis of the scheduler samples of one log or phase.
type Samples struct {
	Title string `json:"phase,omitempty"`
	*sched.Summary
}

// Sched is the JSON form of loupe sched, with a recording's rounds as in [GC].
type Sched struct {
	Samples
	Phases []Samples `json:"phases,omitempty"`
}

// WriteSched prints how busy the Ps were in each log or phase.
func WriteSched(out io.Writer, all []Samples, s Style) error {
	w := &lines{w: out}
	for i, x := range all {
		if i > 0 {
			w.printf("\n")
		}
		if x.Title != "" {
			w.printf("%s\n", s.paint(bold, clean(x.Title)))
		}
		figures(usageRows(&x.Summary.Derived)).write(w, s)
		for _, run := range x.Summary.Runs {
			d := &run.Derived
			w.printf("  %s\n", s.paint(dim, fmt.Sprintf("%s: %s samples, %.2f of %d Ps running", runName(run.Run, run.Name), unit.Count(int64(d.Samples)), d.MeanRunning, d.GOMAXPROCS)))
		}
		for _, n := range x.Summary.Notes {
			w.printf("  %s\n", s.paint(dim, wrap("Note: "+n.Text, s.width()-2, "  ")))
		}
	}
	return w.err
}

// SchedFigures is what loupe sched prints of a log or a phase, as a sheet.
func SchedFigures(d *sched.Derived) *Sheet { return figures(usageRows(d)).sheet("sched_figures") }

// usageRows are the figures of the scheduler's samples.
func usageRows(d *sched.Derived) (rows [][3]string) {
	row := func(name, value, remark string) { rows = append(rows, [3]string{name, value, remark}) }
	interval := ""
	if d.IntervalMS > 0 {
		interval = "one every " + unit.Nanoseconds(d.IntervalMS*1e6)
	}
	row("Samples", unit.Count(int64(d.Samples)), interval)
	ps := fmt.Sprint(d.GOMAXPROCS)
	if d.LeastGOMAXPROCS > 0 && d.LeastGOMAXPROCS < d.GOMAXPROCS {
		ps = fmt.Sprintf("%d to %d", d.LeastGOMAXPROCS, d.GOMAXPROCS)
	}
	row("Ps running", fmt.Sprintf("%.2f of %s", d.MeanRunning, ps), "mean; "+unit.Percent(d.UsePercent/100)+" of them")
	row("Exactly one running", unit.Percent(d.OneRunningPercent/100), fmt.Sprintf("%d of %d busy samples", d.OneRunning, d.Busy))
	row("All running", unit.Percent(d.AllRunningPercent/100), fmt.Sprintf("%d samples", d.AllRunning))
	row("Idle while others wait", unit.Percent(d.IdleWhileWaitingPercent/100), fmt.Sprintf("%d samples", d.IdleWhileWaiting))
	row("Goroutines waiting to run", unit.Number(d.Queue.Mean), fmt.Sprintf("mean; 50%% %s, 95%% %s, most %s", unit.Number(d.Queue.P50), unit.Number(d.Queue.P95), unit.Number(d.Queue.Max)))
	row("Threads", unit.Count(int64(d.ThreadsMax)), "most")
	if d.SwitchesPerSec > 0 {
		row("Goroutine switches/sec", unit.Number(d.SwitchesPerSec), "")
	}
	return rows
}

// Cycles are collections as a sheet: each with its phases, and what the heap was.
func Cycles(rows []gc.Row) *Sheet {
	s := &Sheet{Key: "cycles", Title: "Collections", Columns: []Column{
		{"gc", "gc"}, {"at_ns", "since start"}, {"stw1_ns", "stop 1"}, {"mark_ns", "mark"}, {"stw2_ns", "stop 2"}, {"assist_ns", "assists"}, {"background_ns", "background"},
		{"idle_ns", "idle Ps"}, {"heap_start_bytes", "heap at start"}, {"heap_end_bytes", "at end"}, {"heap_live_bytes", "live"}, {"goal_bytes", "goal"}, {"procs", "Ps"}, {"trigger", "because of"},
	}}
	ms := func(v float64) time.Duration { return time.Duration(math.Round(v * 1e6)) }
	mb := func(v float64) Bytes { return Bytes(v * (1 << 20)) }
	for _, r := range rows {
		why := "the heap"
		switch {
		case r.Leaks:
			why = "a leak search"
		case r.Forced:
			why = "runtime.GC"
		}
		s.Rows = append(s.Rows, []any{r.GC, ms(1e3 * r.AtS), ms(r.STW1MS), ms(r.MarkMS), ms(r.STW2MS), ms(r.CPUAssist), ms(r.CPUBackground), ms(r.CPUIdle),
			mb(r.HeapStartMB), mb(r.HeapEndMB), mb(r.HeapLiveMB), mb(r.GoalMB), r.Procs, why})
	}
	return s
}
