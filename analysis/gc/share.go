package gc

import (
	"math"
	"slices"

	"loupe/format/godebug"
)

// account is the time of the Ps that the collections of one run took from the
// program, in ms, by all that the log says of it.
//
// Two sources are laid over each other. The lines add up what each collection
// took; but the clock of both stops starts before the world is asked to stop
// (mgc.go sets tSweepTerm and tMarkTerm and calls stopTheWorldWithSema then), and
// the line multiplies it by all Ps, which go on with the program until they have
// heard of it. So the stops took between nothing and what the line says. And the
// percentage of each line is the runtime's own count, over all time since the
// program began, truncated: of its first and last line follows what lies between
// them.
type account struct {
	mark Range // ms of marking, idle Ps left out
	stop float64
	// all is what the collections took, by both sources.
	all Range
	// counted tells that the runtime's count has narrowed it down, disagree that it
	// contradicts the lines.
	counted, disagree bool
}

// printed is by how much the runtime may have truncated a time of a line, in ms:
// fmtNSAsMS (mgc.go) prints whole milliseconds from 10 ms on, and below that two
// digits, of which the last is at least a microsecond.
func printed(ms float64) float64 {
	switch {
	case ms >= 10:
		return 1
	case ms >= 1:
		return 0.1
	case ms >= 0.1:
		return 0.01
	}
	return 0.001
}

// accountOf lays the lines of one run and the runtime's count over each other.
// Where lines are missing, those that are there stand for them: complete is the
// number of collections for each line.
func accountOf(rows []Row, complete float64) account {
	var a account
	if len(rows) == 0 || rows[0].Dialect == godebug.Go14.String() {
		a.mark, a.all, a.stop = unknownRange(), unknownRange(), math.NaN()
		return a
	}
	high := 0.0
	ps := meanProcs(rows)
	for i := range rows {
		mark, stop := perP(&rows[i], ps.Estimate)
		a.mark.Low += mark.Low
		a.mark.Estimate += mark.Estimate
		a.mark.High += mark.High
		a.stop += float64(stop.Estimate)
		high += float64(mark.High + stop.High)
	}
	a.all = Range{a.mark.Low * ps.Estimate / ps.High, a.mark.Estimate * Figure(complete), Figure(high*complete) * ps.Estimate / ps.Low}
	low, top, ok := countBounds(rows)
	if !ok {
		return a
	}
	if low > float64(a.all.High) || top < float64(a.all.Low) {
		a.all, a.counted, a.disagree = Range{Figure(low), Figure((low + top) / 2), Figure(top)}, true, true
		return a
	}
	a.counted = low > float64(a.all.Low) || top < float64(a.all.High)
	a.all.Low, a.all.High = max(a.all.Low, Figure(low)), min(a.all.High, Figure(top))
	if a.all.Estimate < a.all.Low || a.all.Estimate > a.all.High {
		a.all.Estimate = (a.all.Low + a.all.High) / 2 // how much of the stops it was nobody knows
	}
	return a
}

// meanProcs is how many Ps there were, over the time of the lines: GOMAXPROCS may
// change, at any time between two of them, and a share of the Ps' time is one of all
// that there were.
func meanProcs(rows []Row) (ps Range) {
	first, last := &rows[0], &rows[len(rows)-1]
	if !slices.ContainsFunc(rows, func(y Row) bool { return y.Procs != first.Procs }) {
		return around(float64(max(first.Procs, 1)), 0)
	}
	span := 1e3*(last.AtS-first.AtS) + last.STW1MS + last.MarkMS + last.STW2MS
	if span <= 0 {
		return around(float64(max(first.Procs, 1)), 0) // no log says so
	}
	before := 1e3 * first.AtS * float64(first.Procs)
	least, most := timeOfPs(rows)
	least, most = (least-before)/span, (most-before)/span
	return Range{Figure(least), Figure((least + most) / 2), Figure(most)}
}

// perP is what one line says of the time of each of ps Ps, in ms: of marking, which
// was truncated, and of the stops, which are at most that long.
func perP(y *Row, ps Figure) (mark, stop Range) {
	for _, ms := range []float64{y.CPUAssist, y.CPUBackground} {
		if ms > 0 {
			mark.Low += Figure(ms) / ps
			mark.Estimate += Figure(ms+printed(ms)/2) / ps
			mark.High += Figure(ms+printed(ms)) / ps
		}
	}
	// The line multiplies by the CPUs where there are more Ps than those
	// (work.stwprocs), the count of the runtime by the Ps.
	for _, s := range [2][2]float64{{y.CPUSTW1MS, y.STW1MS}, {y.CPUSTW2MS, y.STW2MS}} {
		ms := max(s[0], s[1]*float64(y.Procs))
		stop.Estimate += Figure(ms) / ps
		stop.High += Figure(ms+max(printed(s[0]), printed(s[1])*float64(y.Procs))) / ps
	}
	return mark, stop
}

// beforeInit is by how much, in ms, the time that the runtime counts may have begun before
// that of the lines: its own begins with the Ps (procresize, called by schedinit), the @ of a
// line in runtime.main (runtimeInitTime). Between the two lies a new thread, so that
// it is a fraction of a millisecond, and more where the machine is busy.
const beforeInit = 20

// countBounds returns the bounds that the runtime's own count sets, in ms of each P:
// its share of all time since the program began, at the end of the first and of
// the last collection. Where GOMAXPROCS has changed it tells something of a log that
// begins with the program alone: the time before counts by what it was then.
func countBounds(rows []Row) (low, high float64, ok bool) {
	first, last := &rows[0], &rows[len(rows)-1]
	if slices.ContainsFunc(rows, func(y Row) bool { return y.Procs != first.Procs }) {
		if first.GC != 1 {
			return 0, 0, false
		}
		least, most := timeOfPs(rows)
		share, ps := float64(last.GCTracePercent)/100, meanProcs(rows)
		return share * least / float64(ps.High), (share + 0.01) * (most + beforeInit*float64(first.Procs)) / float64(ps.Low), true
	}
	ends := func(y *Row) float64 { return 1e3*y.AtS + y.STW1MS + y.MarkMS + y.STW2MS }
	atLeast := func(y *Row) float64 { return float64(y.GCTracePercent) / 100 * ends(y) }
	atMost := func(y *Row) float64 { return float64(y.GCTracePercent+1) / 100 * (ends(y) + beforeInit) }
	if last.AtS <= 0 {
		return 0, 0, false
	}
	if first.GC == 1 { // before which there was nothing
		return atLeast(last), atMost(last), true
	}
	mark, stop := perP(first, Figure(max(first.Procs, 1)))
	low = atLeast(last) - atMost(first) + float64(mark.Low)
	high = atMost(last) - atLeast(first) + float64(mark.High+stop.High)
	return max(0, low), high, true
}

// timeOfPs is the time of all Ps from the begin of the program to the end of the
// last collection, in ms: GOMAXPROCS may have changed at any time between two.
func timeOfPs(rows []Row) (least, most float64) {
	at, ps := 0.0, rows[0].Procs
	for i := range rows {
		d := max(0, 1e3*rows[i].AtS-at)
		least += d * float64(min(ps, rows[i].Procs))
		most += d * float64(max(ps, rows[i].Procs))
		at, ps = 1e3*rows[i].AtS, rows[i].Procs
	}
	last := &rows[len(rows)-1]
	end := (last.STW1MS + last.MarkMS + last.STW2MS) * float64(ps)
	return least + end, most + end
}

// stopped is the part of the stops' printed time by which the estimate is more
// than the marking: what of them was a stop.
func (a *account) stopped() float64 {
	if a.stop <= 0 || !a.all.Estimate.Known() {
		return 0
	}
	return min(1, max(0, float64(a.all.Estimate-a.mark.Estimate)/a.stop))
}

// share fills in the collector's share of the time of all Ps, of a span in ms.
func (a *account) share(span float64) (estimate, low, high Figure) {
	of := func(f Figure) Figure {
		if !f.Known() {
			return Unknown()
		}
		return ratio(100*float64(f), span)
	}
	if a.all.High > Figure(span) {
		a.all.High = Figure(max(span, float64(a.all.Low)))
	}
	return of(min(a.all.Estimate, a.all.High)), of(a.all.Low), of(a.all.High)
}
