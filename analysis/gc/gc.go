// Package gc derives from the collections of a program what they cost it:
// the table that engineers work out by hand from gctrace lines, per window
// instead of since program start, with the doubts that belong to each figure.
//
// It is pure: cycles in, a [Summary] out. It reads no log (package godebug
// does), prints nothing (package report does) and gives no advice (package
// insight does).
//
// Words: the duration D is that of the window looked at; a collection's clock
// is the wall time of its three phases; P is GOMAXPROCS.
package gc

import (
	"encoding/json"
	"math"
	"time"

	"loupe/format/godebug"
	"loupe/value/stats"
)

// Schema is the version of the JSON form of [Summary].
const Schema = "loupe.gc/1"

// Options says what the caller knows beyond the cycles.
type Options struct {
	// Duration is the length of the window that the cycles were selected
	// for, best taken from the launcher's or the load generator's clock.
	// Zero means from the start of the first cycle to the end of the last.
	Duration time.Duration
	// Requests is how many requests the program answered in the window, or
	// whatever unit of work the caller counts. Zero means unknown.
	Requests int64
	// Unrecognised is how many lines of the log looked like the runtime's
	// and did not parse; see [godebug.Log].
	Unrecognised int
	// Doubtful is how many of the log's collections could as well be of another
	// run; see [godebug.Stats].
	Doubtful int
	// Names are those of the runs, see [godebug.Log].
	Names []string
	// Others is how many more runs the log holds than the cycles are of.
	Others int
	// Ends tells that the log ends within a line.
	Ends bool
}

// Figure is a number that may be unknown: NaN, which is null in JSON.
type Figure float64

// Unknown is the Figure that is not known.
func Unknown() Figure { return Figure(math.NaN()) }

// Known tells whether f has a value.
func (f Figure) Known() bool { return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0) }

// MarshalJSON writes null for an unknown figure, which JSON numbers cannot
// express.
func (f Figure) MarshalJSON() ([]byte, error) {
	if !f.Known() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// UnmarshalJSON reads null as unknown.
func (f *Figure) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*f = Unknown()
		return nil
	}
	return json.Unmarshal(b, (*float64)(f))
}

// Summary is the analysis of a window.
type Summary struct {
	Schema string `json:"schema"`
	// Cycles are all cycles given, one row each.
	Cycles []Row `json:"cycles"`
	// Derived is over the run with the most collections. Only one run can
	// be what Options.Duration and Requests were measured on.
	Derived Derived `json:"derived"`
	// Runs has an entry per run when there are several, each over its own
	// span and without requests.
	Runs         []Run  `json:"runs,omitempty"`
	Unrecognised int    `json:"unrecognised"`
	Notes        []Note `json:"notes"`
}

// Run is the part of the cycles that one execution of the program gave.
type Run struct {
	Run int `json:"run"` // as in godebug.Position
	// Name is what the log says of each line of the process: a prefix, or fields.
	Name    string  `json:"name,omitempty"`
	Derived Derived `json:"derived"`
}

// Row is one cycle in the units of the gctrace line: milliseconds and MB of
// 1<<20 bytes. Names are part of the JSON contract.
type Row struct {
	GC            int64   `json:"gc"`
	AtS           float64 `json:"at_s"` // since program start
	STW1MS        float64 `json:"stw1_ms"`
	MarkMS        float64 `json:"mark_ms"`
	STW2MS        float64 `json:"stw2_ms"`
	CPUSTW1MS     float64 `json:"cpu_stw1_ms"`
	CPUAssist     float64 `json:"cpu_assist_ms"`
	CPUBackground float64 `json:"cpu_background_ms"`
	CPUIdle       float64 `json:"cpu_idle_ms"`
	CPUSTW2MS     float64 `json:"cpu_stw2_ms"`
	HeapStartMB   float64 `json:"heap_start_mb"`
	HeapEndMB     float64 `json:"heap_end_mb"`
	HeapLiveMB    float64 `json:"heap_live_mb"`
	GoalMB        float64 `json:"goal_mb"`
	Procs         int     `json:"procs"`
	Forced        bool    `json:"forced"`
	// GCTracePercent is the line's own share, cumulative since start.
	GCTracePercent int     `json:"gctrace_percent"`
	StacksMB       float64 `json:"stacks_mb"`
	GlobalsMB      float64 `json:"globals_mb"`
	Leaks          bool    `json:"leaks,omitempty"` // looked for leaked goroutines
	Stale          bool    `json:"stale,omitempty"` // see godebug.Cycle
	Dialect        string  `json:"dialect"`
	Line           int     `json:"line,omitempty"`
	Run            int     `json:"run,omitempty"`
}

// Derived are the figures of one window. Percentages are of 100.
type Derived struct {
	// Collections is last number − first number + 1: lines get lost, numbers
	// do not. Lines is how many were there, Missing the difference.
	Collections int64 `json:"collections"`
	Lines       int   `json:"lines"`
	Missing     int64 `json:"missing"`
	Forced      int   `json:"forced"` // by runtime.GC or gcstoptheworld

	DurationMS Figure `json:"duration_ms"`
	// GCTotalMS is the sum of the clocks, GCPercent its share of the
	// duration: how much of the time a collection was under way. Where lines
	// are missing, sums are scaled to the number of collections; where most are,
	// or fewer than FewCycles are left, they are unknown.
	GCPercent Figure `json:"gc_percent"`
	GCTotalMS Figure `json:"gc_total_ms"`
	// CPUPercent is the share of the Ps' wall time that collections took
	// from the program, idle-time marking excluded: by what the lines say of
	// marking, within the bounds that the runtime's own count sets. It is
	// between CPULowPercent and CPUHighPercent. It is not CPU time: where Ps
	// wait for a CPU, that is in it.
	CPUPercent     Figure `json:"cpu_percent"`
	CPULowPercent  Figure `json:"cpu_percent_low"`
	CPUHighPercent Figure `json:"cpu_percent_high"`
	// counted tells that the runtime's count has set a bound, disagree that the
	// lines add up to something else.
	counted, disagree bool
	// GCTracePercent is what the last line says, cumulative since program
	// start; GCTraceTotalMS is that share of the duration, as the tables
	// made by hand have it.
	GCTracePercent Figure `json:"gctrace_percent"`
	GCTraceTotalMS Figure `json:"gctrace_total_ms"`
	// MarkPercent is the mark duty: the share of time in the mark phase.
	MarkPercent Figure `json:"mark_percent"`

	// PaceMS is the duration per collection; P50 and P90 are of the time from
	// one start to the next.
	PaceMS    Figure `json:"pace_ms"`
	PaceP50MS Figure `json:"pace_p50_ms"`
	PaceP90MS Figure `json:"pace_p90_ms"`

	Requests              int64  `json:"requests,omitempty"`
	RequestsPerSec        Figure `json:"requests_per_sec"`
	RequestsPerCollection Figure `json:"requests_per_collection"`

	// STW is of whole collections (both pauses summed), STW1 and STW2 of
	// each pause: STW1 waits for goroutines to stop, STW2 is mark
	// termination.
	STW        Pauses `json:"stw"`
	STW1       Pauses `json:"stw1"`
	STW2       Pauses `json:"stw2"`
	STWPercent Figure `json:"stw_percent"`

	// AssistPercent is the share of mark work that allocating goroutines did
	// themselves; AssistOfPsPercent is what that is of the Ps' wall time: the
	// tax that requests paid.
	AssistPercent     Figure `json:"assist_percent"`
	AssistOfPsPercent Figure `json:"assist_of_ps_percent"`

	// AllocMBPerSec is the rate of allocation, from the growth between and
	// during collections.
	AllocMBPerSec Figure `json:"alloc_mb_per_sec"`
	// Overshoot counts collections whose heap ended more than 5 % and more
	// than 1 MB above the goal: marking could not keep up with allocation.
	Overshoot         int    `json:"overshoot"`
	OvershootMaxRatio Figure `json:"overshoot_max_ratio"`
	PeakHeapMB        Figure `json:"peak_heap_mb"`
	PeakGoalMB        Figure `json:"peak_goal_mb"`
	Procs             int    `json:"procs"` // the largest
	LeastProcs        int    `json:"least_procs"`

	// Live is the trend of the live heap. ForcedLive is that of the forced
	// collections alone: their marking is not muddled by allocation, so they
	// are the cleanest points. Nil below three points.
	Live       *Trend `json:"live"`
	ForcedLive *Trend `json:"forced_live,omitempty"`
}

// PauseLimit is the length from which a stop-the-world pause is worth a
// look. A healthy pause stays below it.
const PauseLimit = 100 * time.Microsecond

// Pauses are the figures of one kind of stop-the-world pause. As clocks are
// truncated, a pause printed as 0.10 ms may be longer than PauseLimit and is
// not counted in Over.
type Pauses struct {
	Count   int    `json:"count"`
	Over    int    `json:"over_100us"` // longer than PauseLimit
	TotalMS Figure `json:"total_ms"`
	P50MS   Figure `json:"p50_ms"`
	P99MS   Figure `json:"p99_ms"`
	MaxMS   Figure `json:"max_ms"`
}

// Direction is the verdict on a trend.
type Direction string

// The directions. A trend is Steady when its interval holds zero, when the
// rank test does not reject chance at 5 %, or when the whole rise is within
// two units of the line's 1 MB resolution.
const (
	Rising  Direction = "rising"
	Falling Direction = "falling"
	Steady  Direction = "steady"
)

// Trend is the course of the live heap over a window.
type Trend struct {
	Points int `json:"points"` // after averaging into at most 300 bins
	// Slope is Theil-Sen's, in MB per second.
	Slope stats.Interval `json:"slope_mb_per_sec"`
	// RiseMB is the slope times the span of the points.
	RiseMB Figure `json:"rise_mb"`
	// P is the two-sided probability of such an order by chance
	// (Mann-Kendall).
	P         float64   `json:"p"`
	Direction Direction `json:"direction"`
}

// Window returns the cycles that start in from <= At < to, in time since
// program start. They must be of one run, see [Split]. The result shares memory with cycles.
//
// A phase of a recording is such a window. Its first and last collections may
// reach over the edges; over more than a few collections that evens out.
func Window(cycles []godebug.Cycle, from, to time.Duration) []godebug.Cycle {
	lo := 0
	for lo < len(cycles) && cycles[lo].At < from {
		lo++
	}
	hi := lo
	for hi < len(cycles) && cycles[hi].At < to {
		hi++
	}
	return cycles[lo:hi]
}
