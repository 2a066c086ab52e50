package insight

import (
	"fmt"
	"slices"

	"loupe/analysis/facts"
	"loupe/analysis/gc"
	"loupe/value/unit"
)

// room is what a larger GOGC would do to a round's program.
type room struct {
	// Advice tells to set it, and how; it is empty where that gains nothing, or
	// where nobody can tell.
	Advice string
	// Evidence is the prediction behind it.
	Evidence []Evidence
	// Why is the reason why there is no advice.
	Why string
	// Gains tells that the settings are predicted to gain enough, Little that they are
	// predicted not to. Neither holds where nobody can tell.
	Gains, Little bool
	// Unlikely tells that the estimate has them gain little, however uncertain it is.
	Unlikely bool
}

// moreRoom asks what a GOGC would do to the program of a round, with the settings
// that were in force: with a limit of memory, with collections that the program
// forces, or with room enough, a larger GOGC gains nothing.
func moreRoom(in *Input, r *facts.Round, gogc int) room {
	if r == nil || r.GC == nil {
		return room{}
	}
	d := &r.GC.Derived
	set := in.Facts.Settings(r).Collector
	switch {
	case 2*int64(d.Forced) > d.Collections:
		return room{Why: fmt.Sprintf("%d of %d collections were forced by the program (runtime.GC): GOGC has no effect on those", d.Forced, d.Collections)}
	case set == nil:
		return room{Why: "the GOGC and GOMEMLIMIT values in force are not known"}
	case set.Limit > 0:
		return room{Why: fmt.Sprintf("a memory limit was in force (%s): where it triggers the collections, a larger GOGC changes nothing", set)}
	case set.GOGC < 0 || set.GOGC >= gogc:
		return room{Why: fmt.Sprintf("%s was in force already", set)}
	}
	m := predicted(in, r, gc.Settings{GOGC: gogc})
	if m.Gains {
		m.Advice = fmt.Sprintf("Or let the heap grow, if memory allows: GOGC=%d.", gogc) + overridesGOGC(in, set.GOGC)
	}
	return m
}

// overridesGOGC says where the source may have set the GOGC that was in force, which then is not that of the environment; empty where it
// has no such call.
func overridesGOGC(in *Input, inForce int) string {
	calls := setTo(in.code, "runtime/debug", "SetGCPercent", int64(inForce))
	if len(calls) == 0 {
		return ""
	}
	return fmt.Sprintf(" Change it where the source sets it (debug.SetGCPercent at %s): if that call is made, GOGC in the environment has no effect.", fileLine(calls[0].File, calls[0].Line))
}

// predicted asks the predictor whether other settings would spare the collector enough to
// be worth it. Why says why not, or why nobody can tell.
func predicted(in *Input, r *facts.Round, to gc.Settings) room {
	if in.Facts.Part { // a replay wants the whole of a round
		return room{Why: "part of a round is too short for a prediction"}
	}
	if r == nil || r.GC == nil {
		return room{Why: "there is no data on individual collections"}
	}
	replay, err := r.Replay(in.Session)
	if err != nil {
		return room{Why: fmt.Sprintf("the effect of %s: %v", to, err)}
	}
	what := replay.WhatIf([]gc.Settings{to})
	if to.Limit == 0 && slices.ContainsFunc(what.Notes, func(n gc.Note) bool { return n.ID == gc.NoteSettings }) {
		return room{Why: "the heap goals do not follow from any usual GOGC: the program has a memory limit, sets GOGC itself, or keeps a ballast, and under a limit a larger GOGC changes little"}
	}
	was, p := what.Recorded, what.Predictions[0]
	little := !p.GCPercent.Known() || !was.GCPercent.Known() || p.Collections.Estimate > 0.8*gc.Figure(was.Collections) || p.GCPercent > 0.9*was.GCPercent
	switch {
	case p.Grade == gc.Poor: // nobody can say that it is little either
		return room{Why: fmt.Sprintf("the effect of %s is too uncertain: run it and see (loupe gc -what-if has the estimate)", p.Settings), Unlikely: little}
	case little:
		return room{Why: fmt.Sprintf("%s is predicted to change little", p.Settings), Little: true, Unlikely: true}
	}
	text := "predicted for " + p.Settings.String() + " and the same work: " +
		unit.Count(int64(p.Collections.Estimate+0.5)) + " collections instead of " + unit.Count(was.Collections) +
		", " + unit.Percent(float64(p.GCPercent)/100) + " of the Ps' time for the collector, including marking on idle Ps, instead of " + unit.Percent(float64(was.GCPercent)/100) +
		", a peak heap of " + unit.Number(float64(p.PeakHeapMB.Estimate)) + " MB instead of " + unit.Number(float64(was.PeakHeapMB)) + " MB" +
		" (grade: " + string(p.Grade) + "; loupe gc -what-if has more)"
	return room{Gains: true, Evidence: []Evidence{Evidence{Text: text}.at(r)}}
}

// adviseRoom adds to a finding what a larger GOGC would do, or why that is not
// advised.
func adviseRoom(in *Input, f *Finding, r *facts.Round, gogc int) {
	m := moreRoom(in, r, gogc)
	if m.Advice == "" {
		if m.Why != "" {
			f.Doubts = append(f.Doubts, "no advice on GOGC: "+m.Why)
		}
		return
	}
	f.Advice += " " + m.Advice
	f.Evidence = append(f.Evidence, m.Evidence...)
}
