package sched

import (
	"fmt"

	"loupe/format/godebug"
)

// NoteID names a note. The set only grows.
type NoteID string

// The notes: where a figure, or the SCHED line behind it, may mislead.
const (
	// NoteSnapshot: each sample is an instant.
	NoteSnapshot NoteID = "snapshot"
	// NoteFewSamples: fewer than 20 samples.
	NoteFewSamples NoteID = "few-samples"
	// NoteUnrecognised: lines looked like the runtime's and did not parse.
	NoteUnrecognised NoteID = "unrecognised-lines"
	// NoteRuns: the samples are of several runs; the figures are of one.
	NoteRuns NoteID = "several-runs"
	// NoteBlocked: blocked goroutines are not in these figures.
	NoteBlocked NoteID = "blocked-not-shown"
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

// FewSamples is the number of samples below which quantiles say little.
const FewSamples = 20

func notes(run []godebug.SchedSample, s *Summary, opt Options) []Note {
	out := []Note{}
	add := func(when bool, id NoteID, format string, args ...any) {
		if when {
			out = append(out, Note{id, fmt.Sprintf(format, args...)})
		}
	}
	d := &s.Derived
	if runs := max(len(s.Runs), 1) + opt.Others; runs > 1 {
		which := ""
		if len(run) > 0 && opt.nameOf(run[0].Run) != "" {
			which = ", " + opt.nameOf(run[0].Run)
		}
		add(true, NoteRuns, "the log holds %d runs; the figures are from the one with the most samples%s", runs, which)
	}
	add(opt.Ends, NoteEnds, "incomplete: the log ends in the middle of a line: it was truncated, or the program was killed while printing; the rest is not counted")
	add(s.Unrecognised > 0, NoteUnrecognised, "lines that look like the runtime's but are torn or in an unknown format: %d; they were not used", s.Unrecognised)
	if d.Samples == 0 {
		return out
	}
	add(d.Samples < FewSamples, NoteFewSamples, "only %d samples: quantiles and shares mean little below %d", d.Samples, FewSamples)
	add(true, NoteSnapshot, "each sample is an instant, one every %.0f ms: shorter events are seen only by chance", d.IntervalMS)
	add(d.GoroutinesMax == 0, NoteBlocked, "blocked goroutines are in no run queue and so in no figure; scheddetail=1 or a goroutine profile shows them")
	return out
}
