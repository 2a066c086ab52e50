package gc

import (
	"fmt"
	"math"

	"loupe/format/godebug"
	"loupe/value/unit"
)

// NoteID names a note. The set only grows.
type NoteID string

// The notes: where a figure, or the gctrace line behind it, may mislead.
const (
	// NotePsTime: "ms cpu" is wall time of Ps, not CPU time.
	NotePsTime NoteID = "ps-time"
	// NoteCumulative: the line's own percentage is since program start, and
	// far from that of the window.
	NoteCumulative NoteID = "cumulative-percent"
	// NoteResolution: sizes are whole MB, coarse for this heap.
	NoteResolution NoteID = "mb-resolution"
	// NoteTruncated: clocks are truncated, so sums of short pauses are low.
	NoteTruncated NoteID = "truncated-clocks"
	// NoteFewCycles: fewer than 20 cycles.
	NoteFewCycles NoteID = "few-cycles"
	// NoteStops: the stops of the lines hold time in which Ps still ran the
	// program, so that the collector's share is known between bounds.
	NoteStops NoteID = "stops-include-running"
	// NoteDisagree: the lines and the runtime's count contradict each other.
	NoteDisagree NoteID = "lines-contradict-count"
	// NoteMissing: lines are missing; sums were scaled, or are unknown.
	NoteMissing NoteID = "missing-lines"
	// NoteUnrecognised: lines looked like the runtime's and did not parse.
	NoteUnrecognised NoteID = "unrecognised-lines"
	// NoteRuns: the cycles are of several runs; the figures are of one.
	NoteRuns NoteID = "several-runs"
	// NoteProcs: GOMAXPROCS has changed within the window.
	NoteProcs NoteID = "procs-changed"
	// NoteDoubtful: which process a line is of is a guess for some.
	NoteDoubtful NoteID = "doubtful-lines"
	// NoteSpan: no duration was given, so it is first start to last end.
	NoteSpan NoteID = "duration-from-log"
	// NoteMarkDuty: marking so often that the live heap holds garbage
	// allocated during marking.
	NoteMarkDuty NoteID = "mark-duty"
	// NoteStale: Go 1.5 to 1.8 repeat old figures for forced cycles.
	NoteStale NoteID = "stale-assists"
	// NoteNoTimes: Go 1.4 prints no times.
	NoteNoTimes NoteID = "no-times"
	// NoteForced: forced collections are among those counted.
	NoteForced NoteID = "forced"
	// NoteWindow: the shares are of a duration that was given, and from the first
	// collection to the last they are others.
	NoteWindow NoteID = "other-window"
	// NoteEnds: the log ends within a line.
	NoteEnds NoteID = "log-ends-within-line"
	// NoteDamaged: an entry of the recording could not be read.
	NoteDamaged NoteID = "damaged-entry"
)

// Note is one doubt about the figures, in a sentence.
type Note struct {
	ID   NoteID `json:"id"`
	Text string `json:"text"`
}

// FewCycles is the number of cycles below which quantiles and trends say
// little.
const FewCycles = 20

func notes(run []godebug.Cycle, s *Summary, opt Options) []Note {
	out := []Note{}
	add := func(when bool, id NoteID, format string, args ...any) {
		if when {
			out = append(out, Note{id, fmt.Sprintf(format, args...)})
		}
	}
	d := &s.Derived
	old := go14(run)
	if runs := max(len(s.Runs), 1) + opt.Others; runs > 1 {
		which := ""
		if len(run) > 0 && opt.nameOf(run[0].Run) != "" {
			which = ", " + opt.nameOf(run[0].Run)
		}
		add(true, NoteRuns, "the log holds %d runs; the figures are from the one with the most collections%s", runs, which)
	}
	add(opt.Ends, NoteEnds, "incomplete: the log ends in the middle of a line: it was truncated, or the program was killed while printing; the rest is not counted")
	add(opt.Doubtful > 0, NoteDoubtful, "%d lines could also be from another process that ran at the same time: the figures of one may include lines of others (record each separately)", opt.Doubtful)
	add(opt.Unrecognised > 0, NoteUnrecognised, "lines that look like the runtime's but are torn or in an unknown format: %d; they were not used", opt.Unrecognised)
	add(d.Missing > 0 && !d.sparse(), NoteMissing, "%d of %d collections have no line; sums are scaled up from the others", d.Missing, d.Collections)
	add(d.sparse(), NoteMissing, "%d of %d collections have no line: the others are too few to represent them, so no totals are given", d.Missing, d.Collections)
	if d.Lines == 0 {
		return out
	}
	add(d.Lines < FewCycles, NoteFewCycles, "only %d collections: quantiles and trends mean little below %d", d.Lines, FewCycles)
	add(old, NoteNoTimes, "Go 1.4 prints neither times nor goals; every phase stops the world")
	if note := windowNote(run, d, opt); note != "" {
		add(true, NoteWindow, "%s", note)
	}
	add(opt.Duration <= 0 && !old, NoteSpan, "the duration is from the first collection's start to the last one's end, because none was given")
	add(!old, NotePsTime, "gctrace's \"ms cpu\" is wall time of Ps, not CPU time: it includes the time Ps wait for a CPU (fewer CPUs than GOMAXPROCS, a CPU quota, other programs)")
	wide := float64(d.CPUHighPercent - d.CPULowPercent)
	add(d.disagree, NoteDisagree, "the lines add up to a different share than the runtime's own count in them; the share follows the count")
	add(!d.disagree && wide >= 1, NoteStops,
		"the collector's share lies between %.1f%% and %.1f%%: the pauses in the lines start before the world is asked to stop, and count Ps that still ran the program; the percentage in each line does not, and gives bounds", float64(d.CPULowPercent), float64(d.CPUHighPercent))
	if d.CPUPercent.Known() && d.GCTracePercent.Known() {
		off := max(float64(d.CPULowPercent-d.GCTracePercent-1), float64(d.GCTracePercent-d.CPUHighPercent))
		add(off >= 1, NoteCumulative,
			"the last line says %.0f%%, but that covers all time since the program started, not this window; comparing such figures of two runs also compares their startup", float64(d.GCTracePercent))
	}
	add(d.LeastProcs < d.Procs, NoteProcs, "GOMAXPROCS changed: there were %d to %d Ps, and the collector's share is of the time of all of them; when it changed between two lines is not known", d.LeastProcs, d.Procs)
	peak, zero, stale := 0.0, 0, 0
	for i := range run {
		y := &run[i]
		peak = max(peak, megs(y.HeapLive))
		if y.STW1 < 10_000 || y.STW2 < 10_000 {
			zero++
		}
		if y.Stale {
			stale++
		}
	}
	add(peak < 64, NoteResolution, "sizes are truncated to whole MB: of a live heap of %.0f MB that is up to %.0f%%", peak, 100/max(peak, 1))
	add(zero*2 > len(run), NoteTruncated, "clocks are truncated to whole microseconds below 0.1 ms and to two digits above; sums of pauses this short are a few percent low")
	add(d.MarkPercent > 35, NoteMarkDuty, "a mark phase was in progress %.0f%% of the time: the live heap includes what was allocated meanwhile, so take it as an upper bound", float64(d.MarkPercent))
	add(stale > 0, NoteStale, "%d forced collections repeat the assist, background and idle times of the one before (Go 1.5 to 1.8); they are counted as zero", stale)
	add(d.Forced > 0, NoteForced, "%d of the collections were forced by the program (runtime.GC) or by gcstoptheworld", d.Forced)
	return out
}

// windowNote says what the collector's share is from the first collection to the
// last, as a log that stands alone has it, where that is another figure than over
// the duration that was given; "" where it is not.
func windowNote(run []godebug.Cycle, d *Derived, opt Options) string {
	if opt.Duration <= 0 {
		return ""
	}
	alone := derive(run, rowsOf(run), Options{})
	if !alone.CPUPercent.Known() || !d.CPUPercent.Known() || !alone.DurationMS.Known() {
		return ""
	}
	if off := math.Abs(float64(alone.CPUPercent - d.CPUPercent)); off < 0.1 || off < 0.01*float64(d.CPUPercent) {
		return ""
	}
	return fmt.Sprintf("the shares are of the %s that were recorded; from the first collection to the last it is %s, and the collector's share %.3g%%, as loupe gc says of the log alone",
		unit.Nanoseconds(float64(d.DurationMS)*1e6), unit.Nanoseconds(float64(alone.DurationMS)*1e6), float64(alone.CPUPercent))
}
