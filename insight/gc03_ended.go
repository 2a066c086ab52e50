package insight

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/gc"
	"loupe/value/unit"
)

// A program that runs to its end and has memory to spare: how often it collects is a matter of its settings alone, and few
// collections of a heap that grows are all that there were.

// Chosen: a gain below the first is noise whatever its share; of what the collector takes, the second part of the busy time
// is to be saved at least even where the prediction is as far off as it may be; a heap may take the third part of the machine's
// memory, for others run there too; and a line with the fourth part of all bytes is what to mend first.
const (
	leastSaved  = 100e6 // ns of CPU time
	surelySaved = 0.05
	spareMemory = 0.25
	almostAllOf = 0.8
	// beyondReading is for what is allocated after the last reading.
	beyondReading = 1.5
)

// longerGOGC are the settings that are tried, the one that costs least memory first.
var longerGOGC = []int{200, 400, 800}

// wholeRun tells of a round that it is the whole of a program that ran to its end by itself, without a load.
func wholeRun(in *Input, r *facts.Round) bool {
	return r != nil && r.Ended && r.Load == nil && !in.Facts.Part && byItself(in)
}

// shareOfRun is the collector's share of the CPU time of a whole run. The runtime's CPU classes end with the last collection, which
// may be early in the run, so what gctrace adds up counts against all of it; samples, where there are enough, count against both. It
// is unknown where nothing but clocks of Ps tells and the machine was too busy for them.
func shareOfRun(r *Rule, in *Input, round *facts.Round) float64 {
	share, _ := gcShare(in, round)
	if round.GC == nil || round.CPU <= 0 || !round.GC.Derived.CPUPercent.Known() {
		return math.NaN()
	}
	d := round.GC.Derived
	share = min(share, float64(d.CPUPercent)/100*float64(d.Procs)*float64(d.DurationMS)*1e6/float64(round.CPU))
	profile, known := sampledCollecting(r, in)
	switch {
	case known:
		return min(share, profile.Estimate)
	case in.Facts.Noise().Reason != "":
		return math.NaN()
	}
	return share
}

// roomOfRun asks what less frequent collections would do to a whole run of a program: the least GOGC that saves
// enough of the share of the CPU time even if the prediction is as far off as it may be, and has the memory for it. Where no replay can tell, and all
// that the run allocates fits into the memory, that is GOGC=off with a limit.
func roomOfRun(in *Input, r *facts.Round, share float64) room {
	m := moreRoom(in, r, longerGOGC[0])
	set := in.Facts.Settings(r).Collector
	if !m.Gains && (set == nil || set.Limit > 0 || set.GOGC < 0 || set.GOGC >= longerGOGC[0] || 2*int64(r.GC.Derived.Forced) > r.GC.Derived.Collections) {
		return m
	}
	spare := spareOf(in)
	replay, err := r.Replay(in.Session)
	if m.Gains {
		if err == nil && spare > 0 && float64(replay.Predict(gc.Settings{GOGC: longerGOGC[0]}).MemoryMB.High) >= spare/(1<<20) {
			return room{Why: fmt.Sprintf("GOGC=%d may take more than a quarter of the memory that there is", longerGOGC[0])}
		}
		m.Advice = fmt.Sprintf("Let the heap grow, if memory allows: start it with GOGC=%d.", longerGOGC[0])
		return m
	}
	if err == nil {
		what := replay.WhatIf([]gc.Settings{{GOGC: longerGOGC[0]}})
		if slices.ContainsFunc(what.Notes, func(n gc.Note) bool { return n.ID == gc.NoteSettings }) {
			return m
		}
		for _, gogc := range longerGOGC {
			if p := replay.Predict(gc.Settings{GOGC: gogc}); saves(replay.Recorded(), p, share) && spare > 0 && float64(p.MemoryMB.High) < spare/(1<<20) {
				return roomFor(r, replay.Recorded(), p)
			}
		}
	}
	all := allocatedIn(in, r)
	if !(all > 0) || !(beyondReading*all < spare) {
		return m
	}
	limit := (int64(beyondReading*all)>>20/64 + 1) * 64
	text := fmt.Sprintf("the run allocates %s in all: with GOGC=off it collects only when the memory gets near GOMEMLIMIT, here not at all; %s of CPU time are the collector's now, and memory is %s at most instead of %s",
		mib(all), unit.Nanoseconds(share*float64(r.CPU)), mib(all), mib(peakHeap(r)))
	return room{
		Gains:    true,
		Advice:   fmt.Sprintf("Let the heap grow, if memory allows: start it with GOGC=off and GOMEMLIMIT=%dMiB.", limit),
		Evidence: []Evidence{Evidence{Text: text}.at(r)},
	}
}

// saves tells of a prediction that it saves enough even at its upper end.
func saves(was gc.Recorded, p gc.Prediction, share float64) bool {
	return p.Refused == "" && p.GCCPUMS.High.Known() && was.GCCPUMS.Known() && was.GCCPUMS > 0 &&
		share*(1-float64(p.GCCPUMS.High/was.GCCPUMS)) >= surelySaved
}

// roomFor is the advice to set what is predicted.
func roomFor(r *facts.Round, was gc.Recorded, p gc.Prediction) room {
	text := fmt.Sprintf("predicted for %s and the same work: %s collections instead of %s, %s to %s of the Ps' time in the collector instead of %s, marking on idle Ps included, and a peak heap of about %s MB instead of %s MB, %s MB at most (grade: %s; loupe gc -what-if has more)",
		p.Settings, unit.Count(int64(p.Collections.Estimate+0.5)), unit.Count(was.Collections),
		milliseconds(p.GCCPUMS.Low), milliseconds(p.GCCPUMS.High), milliseconds(was.GCCPUMS), unit.Number(float64(p.PeakHeapMB.Estimate)), unit.Number(float64(was.PeakHeapMB)), unit.Number(float64(p.PeakHeapMB.High)), p.Grade)
	return room{Gains: true, Advice: fmt.Sprintf("Let the heap grow, if memory allows: start it with %s.", p.Settings), Evidence: []Evidence{Evidence{Text: text}.at(r)}}
}

func milliseconds(ms gc.Figure) string { return unit.Nanoseconds(float64(ms) * 1e6) }

// spareOf is how much memory, in bytes, a heap may take: 0 where nobody knows how much there is.
func spareOf(in *Input) float64 {
	host := in.Session.Manifest().Host.Memory
	if limit := facts.MemoryLimit(in.Facts); limit > 0 && (host == 0 || limit < host) {
		host = limit
	}
	return spareMemory * float64(host)
}

// allocatedIn is how many bytes a whole run allocated, by the last reading of its metrics; NaN where there is none.
func allocatedIn(in *Input, r *facts.Round) float64 {
	set, err := in.Session.Metrics(r.Phase.Run)
	if err != nil {
		return math.NaN()
	}
	all := set.Series("/gc/heap/allocs:bytes").Values
	if len(all) == 0 {
		return math.NaN()
	}
	return slices.Max(all)
}

// peakHeap is the largest heap of a round in bytes.
func peakHeap(r *facts.Round) float64 {
	peak := r.HeapPeak
	for i := range r.GC.Cycles {
		peak = max(peak, r.GC.Cycles[i].HeapEndMB*(1<<20))
	}
	return peak
}

// endedCollecting is the finding about a program that ran to its end in few collections; none where they took
// little of it, or where nothing tells that fewer would gain.
func endedCollecting(r *Rule, in *Input, cycles int64) (f Finding, ok bool) {
	round := facts.MostCollections(in.Facts.Rounds)
	if cycles < int64(r.param("few")) || !wholeRun(in, round) {
		return f, false
	}
	share := shareOfRun(r, in, round)
	if !(share >= r.param("warning")) || share*float64(round.CPU) < leastSaved {
		return f, false
	}
	m := roomOfRun(in, round, share)
	if !m.Gains {
		return f, false
	}
	there := ""
	if spareOf(in) > 0 {
		there = ", and there is memory for a larger heap"
	}
	f = r.answer(Found, "the collector used %s of the run's CPU time (%s) in %s%s", unit.Percent(share), unit.Nanoseconds(share*float64(round.CPU)), unit.Plural(round.GC.Derived.Collections, "collection"), there)
	f.Severity, f.Score = Warning, score(share, r.param("info"), r.param("critical"))
	f.Impact = exactly(share, "share of the CPU time used")
	f.Evidence = m.Evidence
	if profile, known := sampledCollecting(r, in); known {
		f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%s of the %s samples of the CPU profile are in the collector, its assists, or its write barriers", unit.Percent(profile.Estimate), unit.Count(profile.samples)), Path: profile.path})
	}
	adviseEnded(in, &f, m, round)
	f.Verify = "Run it with the setting and without it, in turns, and compare CPU time, wall time and the largest memory (loupe run -vs)."
	f.Doubts = append(f.Doubts, in.doubts()...)
	return f, true
}

// adviseRun is what [adviseRoom] is, of a whole run.
func adviseRun(r *Rule, in *Input, f *Finding, round *facts.Round, share float64) {
	if wholeRun(in, round) && shareOfRun(r, in, round) >= r.param("warning") && share*float64(round.CPU) >= leastSaved {
		if m := roomOfRun(in, round, share); m.Gains {
			less, severity := f.Advice, f.Severity
			adviseEnded(in, f, m, round)
			f.Advice, f.Severity = f.Advice+" Or: "+less, severity
			f.Evidence = append(f.Evidence, m.Evidence...)
			return
		}
	}
	adviseRoom(in, f, round, longerGOGC[0])
}

// adviseEnded advises to let the heap of a run grow: after the line that allocates nearly all, if there is one.
func adviseEnded(in *Input, f *Finding, m room, round *facts.Round) {
	f.Advice = m.Advice + " Where nobody sets its environment, call debug.SetGCPercent (and SetMemoryLimit) first in main, unless GOGC is set."
	if set := in.Facts.Settings(round).Collector; set != nil {
		if calls := overridesGOGC(in, set.GOGC); calls != "" {
			f.Advice = strings.TrimSuffix(m.Advice, calls) + calls
		}
	}
	if w, err := in.Facts.Weights(facts.Allocations, "alloc_space"); err == nil {
		if lines := allocatingLines(in, w); len(lines) > 0 && lines[0].share >= almostAllOf {
			f.Severity = Info
			f.Advice = fmt.Sprintf("First mend %s, which allocates %s of all bytes. What is left of this afterwards: %s", fileLine(lines[0].at.File, lines[0].at.Line), unit.Percent(lines[0].share), m.Advice)
		}
	}
	f.Doubts = append(f.Doubts, "a larger input needs more memory: GOMEMLIMIT beside GOGC keeps it below a bound")
	if procs := round.GC.Derived.Procs; round.Duration > 0 && procs > 1 && in.Facts.Noise().Reason == "" {
		if busy := round.CPU.Seconds() / round.Duration.Seconds(); busy < float64(procs)-0.5 {
			f.Doubts = append(f.Doubts, fmt.Sprintf("it used %s of %d CPUs: the collector marks beside the program where one is free, so the run becomes shorter by less than the CPU time that is saved", unit.Number(busy), procs))
		}
	}
}

// roomForRun tells of a round that rule GC03 advises a larger GOGC for it.
func roomForRun(in *Input, round *facts.Round) bool {
	share := math.NaN()
	if wholeRun(in, round) {
		share = shareOfRun(gc03, in, round)
	}
	return share >= gc03.param("warning") && share*float64(round.CPU) >= leastSaved && roomOfRun(in, round, share).Gains
}
