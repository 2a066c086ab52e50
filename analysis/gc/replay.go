package gc

import (
	"errors"
	"fmt"
	"math"
	"time"

	"loupe/format/godebug"
)

// leastCycles is below how many collections nothing is predicted: the curves
// that a replay follows would be made of chance.
const leastCycles = 8

// Overhead is the memory of the Go runtime that holds no objects.
type Overhead struct {
	// Fixed is in bytes: stacks, the runtime's own structures.
	Fixed float64
	// Share is of the heap: what is lost in spans that are not full, bitmaps
	// and the structures that describe spans.
	Share float64
	// Measured tells that both are the program's own, by runtime/metrics.
	Measured bool
}

// assumedOverhead is that of the programs of docs/benchmarks.md, for logs that
// tell nothing of it.
var assumedOverhead = Overhead{Fixed: 5 << 20, Share: 0.06}

// of is the memory that is mapped beside objects when the heap is of a size.
func (o Overhead) of(heap float64) float64 { return o.Fixed + o.Share*heap }

// ReplayOptions say what the caller knows beyond the collections.
type ReplayOptions struct {
	// Base are the settings that the program ran with, nil when they are not
	// known. They are then looked for among those that explain the goals.
	Base *Settings
	// Overhead, when measured, replaces the assumed one.
	Overhead Overhead
	// CPU is the CPU time of the program in the window; 0 when unknown.
	CPU time.Duration
}

// Replay is a program's course through its collections, against what it has
// allocated: how much it kept alive, how fast it allocated, what marking cost.
// None of these depends on when collections come, so that the course can be run
// again under other settings.
//
// What is assumed: the program does the same work; what is reachable when a
// collection begins lies between what the neighbouring ones have found; marking
// costs what it cost there. Objects that are allocated while a collection marks
// survive it. How many they are depends on the settings, so they are taken out
// of what was found and put back by the replay (black allocation).
//
// Note: a cost law fitted on the means (GC CPU ~ 1/GOGC) needs no replay, but
// is wrong for every program whose heap grows, has phases, is below the 4 MB
// minimum or marks more than a third of the time.
type Replay struct {
	c        *course
	opt      ReplayOptions
	base     *Settings
	recorded Recorded
	self     Figure // see SelfCheck
	// selfPeak is the peak heap that the replay of the recording's own settings gives, by the one
	// that was recorded; unknown when the settings are not known.
	selfPeak Figure
	of       RunOf
	// perGC is the CPU time per ms of Ps' time of collections, ownCPU the
	// program's own in ms; zero until two runs have told them.
	perGC, ownCPU float64
}

// RunOf says which run of a log is looked at, of how many.
type RunOf struct {
	// Runs is how many processes the log holds collections of, or restarts of them.
	Runs int `json:"runs"`
	// Name is that of the one, as the log has it, or its number ("run 2").
	Name string `json:"name,omitempty"`
	// PeakMB is its peak heap.
	PeakMB Figure `json:"peak_mb"`
	// HigherMB is the peak heap of a run that has a higher one, but of which nothing can be
	// told; unknown where there is none.
	HigherMB Figure `json:"higher_mb"`
}

// NewReplay reads the course from the rows of a Summary: of several runs, those of the one with
// the highest peak heap, for a memory limit has to hold that. An error says why nothing can be
// told.
func NewReplay(s *Summary, opt ReplayOptions) (*Replay, error) {
	rows, of, err := highestRun(s)
	if err != nil {
		return nil, err
	}
	if opt.Overhead == (Overhead{}) {
		opt.Overhead = assumedOverhead
	}
	base := opt.Base
	if base == nil || contradicted(rows, *base) {
		base = explain(rows)
	}
	c := courseOf(rows, base)
	c.settle()
	if c.total <= 0 {
		return nil, errors.New("cannot tell: the program allocated less than the log's resolution of 1 MB between its collections")
	}
	r := &Replay{c: c, opt: opt, base: base, recorded: c.recorded(rows, base), of: of}
	r.checkSelf()
	return r, nil
}

// highestRun returns the rows of the run with the highest peak heap, among those that a replay
// can follow.
func highestRun(s *Summary) (rows []Row, of RunOf, err error) {
	byRun := map[int][]Row{}
	var order []int
	for i := range s.Cycles {
		run := s.Cycles[i].Run
		if byRun[run] == nil {
			order = append(order, run)
		}
		byRun[run] = append(byRun[run], s.Cycles[i])
	}
	of = RunOf{Runs: len(order), PeakMB: Unknown(), HigherMB: Unknown()}
	if len(order) <= 1 {
		rows, err = replayable(s.Cycles)
		return rows, of, err
	}
	for n, run := range order {
		all := byRun[run]
		peak := Unknown()
		for i := range all {
			peak = maxFigure(peak, max(sane(all[i].HeapStartMB), sane(all[i].HeapEndMB)))
		}
		fit, fault := replayable(all)
		switch {
		case fault != nil:
			of.HigherMB = maxFigure(of.HigherMB, float64(peak))
			if err == nil {
				err = fault
			}
		case rows == nil || peak > of.PeakMB:
			rows, of.PeakMB, of.Name = fit, peak, fmt.Sprintf("run %d", n+1)
			for _, named := range s.Runs {
				if named.Run == run && named.Name != "" {
					of.Name = named.Name
				}
			}
		}
	}
	if rows == nil {
		return nil, of, err
	}
	if !(of.HigherMB > of.PeakMB) {
		of.HigherMB = Unknown()
	}
	return rows, of, nil
}

// candidates are settings of GOGC that are looked for in a log.
var candidates = []int{100, 50, 200, 400, 25, 75, 150, 300, 500, 800, 1000, 10, 20}

// explain returns the settings that a log's goals follow from, nil when none
// of the usual ones does.
func explain(rows []Row) *Settings {
	for _, gogc := range candidates {
		fit, of := goalsExplained(rows, gogc)
		if of >= leastCycles/2 && fit*10 >= of*9 {
			return &Settings{GOGC: gogc}
		}
	}
	return nil
}

// contradicted tells that a log's goals do not follow from a GOGC that the
// environment had: the program sets another.
func contradicted(rows []Row, s Settings) bool {
	if s.GOGC < 0 || s.Limit > 0 {
		return false // a limit's goals depend on what no log tells
	}
	fit, of := goalsExplained(rows, s.GOGC)
	return of >= leastCycles/2 && 2*fit < of
}

// goalsExplained counts the goals that follow from a GOGC, within the line's
// resolution.
func goalsExplained(rows []Row, gogc int) (fit, of int) {
	for i := 1; i < len(rows); i++ {
		a, b := &rows[i-1], &rows[i]
		if b.GC != a.GC+1 || a.Dialect != godebug.Go118.String() {
			continue
		}
		of++
		if low, high := GoalBounds(a, b, gogc); low <= b.GoalMB && b.GoalMB <= high {
			fit++
		}
	}
	return fit, of
}

// GoalBounds are the least and the largest goal in whole MB that the pacer can
// have printed for a collection, by the line of the one before it, whose sizes
// are truncated to whole MB.
//
// The goal may be moved: to leave the sweeper 1 MB, and to 64 KB above the heap
// at which the collection began. Go 1.19 prints how large the stacks are and
// counts what of them was scanned, so that the least counts none.
func GoalBounds(before, y *Row, gogc int) (low, high float64) {
	const mb = 1 << 20
	live, stacks, globals := sane(before.HeapLiveMB)*mb, sane(before.StacksMB)*mb, sane(before.GlobalsMB)*mb
	low = math.Floor(HeapGoal(gogc, live, 0, globals) / mb)
	most := HeapGoal(gogc, live+mb, stacks+mb, globals+mb)
	most = max(most, live+mb+sweepDistance, (sane(y.HeapStartMB)+1)*mb+minRunway)
	return low, math.Floor(most / mb)
}
