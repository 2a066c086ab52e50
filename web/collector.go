package web

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/analysis/gc"
	"loupe/analysis/sched"
	"loupe/format/godebug"
	"loupe/report"
	"loupe/session"
	"loupe/value/timeline"
	"loupe/value/unit"
)

var collectorEndpoints = []endpoint{
	on("gc", collectorPage),
	on("gc/cycles", collectorCycles),
	on("gc/mmu", collectorMMU),
	on("gc/whatif", collectorWhatIf),
}

// gcPage is the figures of the collector.
type gcPage struct {
	Parts []gcPart `json:"parts"`
}

// gcPart is what loupe gc prints of one phase or log.
type gcPart struct {
	Title   string   `json:"title"`
	Figures *table   `json:"figures"`
	Notes   []string `json:"notes"`
}

const noCycles = "No line of GODEBUG=gctrace=1 is of this time: the figures of each collection come from there."

// collectorPage is the figures of loupe gc, of the range.
func collectorPage(ctx context.Context, s *subject, q *query) (*gcPage, error) {
	rounds, err := s.roundsIn(ctx, q)
	if err != nil {
		return nil, err
	}
	page := &gcPage{Parts: []gcPart{}}
	for _, r := range rounds {
		if r.GC != nil && len(r.GC.Cycles) > 0 {
			page.Parts = append(page.Parts, partOf(r))
		}
	}
	if len(page.Parts) == 0 {
		return nil, nothing(noCycles)
	}
	return page, nil
}

// partOf is the figures of one round.
func partOf(r titledRound) gcPart {
	p := gcPart{Title: r.title, Figures: tableOf(report.GCFigures(&r.GC.Derived)), Notes: []string{}}
	for _, n := range r.GC.Notes {
		p.Notes = append(p.Notes, n.Text)
	}
	for _, run := range r.GC.Runs {
		p.Notes = append(p.Notes, fmt.Sprintf("Process %s of the log: %s collections, one every %s.", strings.TrimSpace(fmt.Sprintf("%d %s", run.Run+1, run.Name)), unit.Count(run.Derived.Collections), unit.Nanoseconds(float64(run.Derived.PaceMS)*1e6)))
	}
	return p
}

// cyclesPage is every collection of the range.
type cyclesPage struct {
	Table *table `json:"table"`
	// Start and End are when each row was on the axis.
	Start  []timeline.Time `json:"start"`
	End    []timeline.Time `json:"end"`
	Pauses []bars          `json:"pauses"`
	// CPU is what the collector used CPUs for.
	CPU []timeShare `json:"cpu"`
}

// maxCycles is how many rows the table of collections has: nobody reads more,
// and a range shows the rest.
const maxCycles = 5000

// collectorCycles lists the collections of the range, of all processes.
func collectorCycles(ctx context.Context, s *subject, q *query) (*cyclesPage, error) {
	span, _, err := s.chosen(ctx, q)
	if err != nil {
		return nil, err
	}
	in, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	page := &cyclesPage{Start: []timeline.Time{}, End: []timeline.Time{}}
	var before, after sched.Histogram
	var kinds [4]time.Duration
	var all []godebug.Cycle
	var processes []int
	logs := (&laneView{in: in}).logs()
	total := 0
	for n, log := range logs {
		from, to := log.Window(span)
		for _, y := range gc.Window(log.Cycles, from, to) {
			total++
			before.Add(y.STW1)
			after.Add(y.STW2)
			for k, d := range []time.Duration{y.Background, y.Assist, y.Idle, y.CPUSTW1 + y.CPUSTW2} {
				kinds[k] += d
			}
			if len(all) < maxCycles {
				at := log.Clock.At(int64(y.At))
				all, processes = append(all, y), append(processes, n+1)
				page.Start, page.End = append(page.Start, at), append(page.End, at.Add(y.Clock()))
			}
		}
	}
	if total == 0 {
		return nil, nothing(noCycles)
	}
	rows := gc.Analyse(all, gc.Options{}).Cycles
	sheet := report.Cycles(rows)
	if len(logs) > 1 {
		sheet.Columns = slices.Insert(sheet.Columns, 0, report.Column{Key: "process", Head: "process"})
		for i := range sheet.Rows {
			sheet.Rows[i] = slices.Insert(sheet.Rows[i], 0, any(processes[i]))
		}
	}
	if total > maxCycles {
		sheet.Notes = append(sheet.Notes, fmt.Sprintf("These are the first %s of %s collections: a range shows others.", unit.Count(maxCycles), unit.Count(int64(total))))
	}
	page.Table = tableOf(sheet)
	page.Pauses = []bars{barsOf("stw1", "Stops before marking", &before), barsOf("stw2", "Stops after marking", &after)}
	var sum time.Duration
	for _, d := range kinds {
		sum += d
	}
	page.CPU = []timeShare{}
	for k, d := range kinds {
		if d > 0 {
			page.CPU = append(page.CPU, timeShare{gcKinds[k][0], gcKinds[k][1], float64(d) / float64(sum), unit.Duration(d)})
		}
	}
	return page, nil
}

// mmuPage is the minimum mutator utilisation.
type mmuPage struct {
	// Source says what told of it.
	Source string        `json:"source"`
	Covers timeline.Span `json:"covers"`
	// Windows are lengths of windows in ns, Least the share of the machine that
	// the program had in the worst of them, Most that which all but one in a
	// hundred have.
	Windows Numbers `json:"windows"`
	Least   Numbers `json:"least"`
	Most    Numbers `json:"most"`
	Table   *facts  `json:"table"`
}

// collectorMMU is the curve of the range: of the trace where it has any of it,
// else estimated from gctrace.
func collectorMMU(ctx context.Context, s *subject, q *query) (*mmuPage, error) {
	span, _, err := s.chosen(ctx, q)
	if err != nil {
		return nil, err
	}
	return once(ctx, s, fmt.Sprint("mmu ", span.Start, " ", span.End), func(ctx context.Context) (*mmuPage, error) {
		in, err := s.session(ctx)
		if err != nil {
			return nil, err
		}
		steps, err := swept(ctx, s, "reading what the collector leaves", sched.MutatorSteps)
		if err != nil && !errors.Is(err, session.ErrNone) {
			return nil, err
		}
		if err == nil {
			t, err := s.traced(ctx)
			if err != nil {
				return nil, err
			}
			if part := cutSteps(steps, t.Own(span)); part != nil {
				first, last := part[0][0].Time, part[0][len(part[0])-1].Time
				return mmuOf(ctx, "execution trace", t.On(timeline.Span{Start: first, End: last}), part, sched.CommonLosses)
			}
		}
		// Of several processes the one with the most of the range.
		var best [][]sched.UtilStep
		var covers timeline.Span
		for _, log := range (&laneView{in: in}).logs() {
			part := cutSteps(logSteps(log), span)
			if part == nil {
				continue
			}
			if c := (timeline.Span{Start: part[0][0].Time, End: part[0][len(part[0])-1].Time}); c.Len() > covers.Len() {
				best, covers = part, c
			}
		}
		if best == nil {
			return nil, nothing("Neither a trace nor gctrace tells of collections in this time.")
		}
		return mmuOf(ctx, "gctrace: the work of each collection is taken to be even over its mark phase", covers, best, sched.CommonLosses)
	})
}

// logSteps estimates the same of a log of gctrace, on the axis: nothing is left
// in the pauses, and in a mark phase what workers and assists do not take.
func logSteps(log *session.RuntimeLog) [][]sched.UtilStep {
	var steps []sched.UtilStep
	add := func(at timeline.Time, util float64) {
		if n := len(steps); n > 0 && at < steps[n-1].Time {
			at = steps[n-1].Time
		}
		steps = append(steps, sched.UtilStep{Time: at, Util: util})
	}
	add(log.Clock.At(0), 1)
	for i := range log.Cycles {
		y := &log.Cycles[i]
		at := log.Clock.At(int64(y.At))
		left := 1.0
		if y.Mark > 0 && y.Procs > 0 {
			left = max(0, 1-float64(y.Assist+y.Background)/(float64(y.Mark)*float64(y.Procs)))
		}
		add(at, 0)
		add(at.Add(y.STW1), left)
		add(at.Add(y.STW1+y.Mark), 0)
		add(at.Add(y.Clock()), 1)
	}
	if len(log.Cycles) == 0 {
		return nil
	}
	last := log.Cycles[len(log.Cycles)-1]
	add(log.Clock.At(int64(last.At+last.Clock()))+1, 0)
	return [][]sched.UtilStep{steps}
}

// cutSteps is the part of each series that lies in a span; nil when nothing does.
func cutSteps(all [][]sched.UtilStep, span timeline.Span) (out [][]sched.UtilStep) {
	for _, steps := range all {
		if len(steps) < 2 {
			continue
		}
		start, end := max(span.Start, steps[0].Time), min(span.End, steps[len(steps)-1].Time)
		if end <= start {
			continue
		}
		if start == steps[0].Time && end == steps[len(steps)-1].Time {
			out = append(out, steps)
			continue
		}
		var part []sched.UtilStep
		for _, x := range steps {
			switch {
			case x.Time <= start:
				part = []sched.UtilStep{{Time: start, Util: x.Util}}
			case x.Time < end:
				part = append(part, x)
			}
		}
		out = append(out, append(part, sched.UtilStep{Time: end}))
	}
	return out
}

// mmuOf asks the curve for windows from 10 µs to all of the time.
func mmuOf(ctx context.Context, source string, covers timeline.Span, steps [][]sched.UtilStep, count sched.Losses) (*mmuPage, error) {
	c := sched.NewMMUCurve(steps)
	page := &mmuPage{Source: source, Covers: covers, Table: factsOf(report.TraceMMU(c, steps, count))}
	for power := 4.0; ; power += 0.125 {
		window := time.Duration(math.Pow(10, power))
		if window > covers.Len() || ctx.Err() != nil {
			return page, ctx.Err()
		}
		page.Windows = append(page.Windows, float64(window))
		least, most := c.MinAndMUD(window, []float64{0.01})
		page.Least = append(page.Least, least)
		page.Most = append(page.Most, most[0])
	}
}
