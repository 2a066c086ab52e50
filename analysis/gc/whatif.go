package gc

import "fmt"

// WhatIfSchema is the version of the JSON form of [WhatIf].
const WhatIfSchema = "loupe.gc-what-if/1"

// WhatIf is what other settings would do to a recorded program.
type WhatIf struct {
	Schema   string   `json:"schema"`
	Phase    string   `json:"phase,omitempty"` // of a recording
	Recorded Recorded `json:"recorded"`
	// SelfCheck is what the replay gives for the recording's own settings, by
	// what was recorded: collections predicted by collections seen.
	SelfCheck   Figure       `json:"self_check"`
	Predictions []Prediction `json:"predictions"`
	Choice      *Choice      `json:"choice,omitempty"`
	// Outcomes are runs with these settings, where there were any.
	Outcomes []Outcome `json:"outcomes,omitempty"`
	Notes    []Note    `json:"notes"`
}

// Outcome is a run beside what was predicted of it.
type Outcome struct {
	Predicted Prediction `json:"predicted"`
	Measured  Recorded   `json:"measured"`
	// MaxRSSMB and CPUMS are the system's figures of the process.
	MaxRSSMB Figure `json:"max_rss_mb"`
	CPUMS    Figure `json:"cpu_ms"`
}

// The notes about predictions.
const (
	// NoteSameWork: what a prediction is about.
	NoteSameWork NoteID = "same-work"
	// NoteSettings: the goals follow from no usual GOGC.
	NoteSettings NoteID = "settings-unknown"
	// NoteSelfCheck: the replay does not give what was recorded.
	NoteSelfCheck NoteID = "self-check"
	// NoteLive: the live heap rises, which goes on beyond the window.
	NoteLive NoteID = "live-heap-rises"
	// NoteOverhead: how much memory there is beside the heap is assumed.
	NoteOverhead NoteID = "memory-assumed"
	// NoteFragmentation: what a limit does is less certain.
	NoteFragmentation NoteID = "limit-and-fragmentation"
	// NoteUnchecked: there was no run with other settings.
	NoteUnchecked NoteID = "nothing-checked"
	// NoteCPU: two runs do not tell what a collection costs.
	NoteCPU NoteID = "cpu-not-told"
)

// WhatIf predicts each of the settings.
func (r *Replay) WhatIf(settings []Settings) *WhatIf {
	w := &WhatIf{Schema: WhatIfSchema, Recorded: r.recorded, SelfCheck: r.SelfCheck()}
	for _, s := range settings {
		w.Predictions = append(w.Predictions, r.Predict(s))
	}
	w.Notes = r.notes(w.Predictions)
	return w
}

// Outcome sets what a run showed beside its prediction. A run of another amount
// of work, as of a server under load, is compared by what it allocated.
func (r *Replay) Outcome(s Settings, measured *Summary) (Outcome, error) {
	return outcome(r, s, measured, true)
}

// OutcomeOfTime is [Replay.Outcome] of a run that was ended after a time, and so may have done
// another amount of work.
func OutcomeOfTime(r *Replay, s Settings, measured *Summary) (Outcome, error) {
	return outcome(r, s, measured, false)
}

// WorkOf is how much a run has allocated, by what the recorded one has; 1 where that is not known.
func WorkOf(r *Replay, measured *Summary) float64 {
	_, m, err := measure(measured)
	if err != nil || !(m.AllocatedMB > 0) || !(r.recorded.AllocatedMB > 0) {
		return 1
	}
	return float64(m.AllocatedMB / r.recorded.AllocatedMB)
}

func outcome(r *Replay, s Settings, measured *Summary, whole bool) (Outcome, error) {
	fromStart, m, err := measure(measured)
	if err != nil {
		return Outcome{}, err
	}
	p := r.Predict(s)
	if mine := float64(r.recorded.AllocatedMB); (!whole || !r.c.fromStart || !fromStart) && mine > 0 {
		work := float64(m.AllocatedMB) / mine
		p.Collections, p.GCCPUMS = p.Collections.times(work), p.GCCPUMS.times(work)
		p.DurationMS *= Figure(work)
		p.CPUMS = p.CPUMS.times(work)
	}
	m.Settings = &s
	return Outcome{Predicted: p, Measured: m, MaxRSSMB: Unknown(), CPUMS: Unknown()}, nil
}

// measure tells what a log showed of which nothing is to be predicted, and whether it
// begins with the program: a few collections are enough.
func measure(s *Summary) (fromStart bool, m Recorded, err error) {
	rows := mainRows(s.Cycles)
	if len(rows) == 0 {
		return false, m, fmt.Errorf("cannot compare: the run showed no collection")
	}
	c := courseOf(rows, nil)
	return c.fromStart, c.recorded(rows, nil), nil
}

func (r Range) times(x float64) Range {
	return Range{r.Low * Figure(x), r.Estimate * Figure(x), r.High * Figure(x)}
}

// notes are the doubts about predictions.
func (r *Replay) notes(all []Prediction) []Note {
	out := []Note{}
	add := func(when bool, id NoteID, format string, args ...any) {
		if when {
			out = append(out, Note{id, fmt.Sprintf(format, args...)})
		}
	}
	limited := false
	for _, p := range all {
		limited = limited || p.LimitedShare > 0
	}
	add(true, NoteSameWork, "the figures are for the same work again, %.0f MB allocated", float64(r.recorded.AllocatedMB))
	add(r.of.Runs > 1, NoteRuns, "the log holds %d runs; all of this is of %s, which has the highest peak heap (%.0f MB): give the lines of another one alone to look at it", r.of.Runs, r.of.Name, float64(r.of.PeakMB))
	add(r.of.HigherMB.Known(), NoteRuns, "another run has a higher peak heap, %.0f MB, but shows too little for a prediction", float64(r.of.HigherMB))
	add(r.base == nil, NoteSettings, "the heap goals do not follow from any usual GOGC: the program sets it itself, has a memory limit, or keeps a ballast; its behaviour under other settings is less certain")
	if c := r.SelfCheck(); c.Known() {
		add(c < 0.9 || c > 1.1, NoteSelfCheck, "replayed with its own settings, the program makes %.2f times the collections that were recorded", float64(c))
	}
	add(r.c.rises(), NoteLive, "the live heap rises in the recording: a program that continues like this needs more, whatever the settings")
	add(r.recorded.Collections < FewCycles, NoteFewCycles, "%d collections are few; %d are a fair basis", r.recorded.Collections, FewCycles)
	add(r.recorded.MarkPercent > 35, NoteMarkDuty, "a mark phase was in progress %.0f%% of the time: a replay only roughly predicts how the program slows down then, and how large its heap gets", float64(r.recorded.MarkPercent))
	add(!r.opt.Overhead.Measured, NoteOverhead, "memory outside the heap is assumed: %.0f MB and %.0f%% of the heap", r.overhead(0)/(1<<20), 100*r.opt.Overhead.Share)
	add(limited, NoteFragmentation, "a limit also counts free slots in used spans, which no log shows: there may be more collections than estimated, up to the upper figure")
	add(true, NotePsTime, "GC CPU is gctrace's time of Ps, including marking on idle ones: on a busy machine it is far more than CPU time and differs from run to run; two runs (-verify) show the CPU time")
	return out
}
