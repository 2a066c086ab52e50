// Package compare lays the figures of recordings side by side, and decides whether
// they differ.
//
// The unit of comparison is the round: one bare phase, one process, one load.
// Requests within a round depend on each other and are never tested singly
// (docs/statistics.md). The package states for each row which way is better
// and how sure the verdict is; it does not say why, which is insight's work.
package compare

import (
	"fmt"
	"math"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/gc"
	"loupe/value/stats"
	"loupe/value/unit"
)

// Unit says how a row's values are to be printed.
type Unit string

// The units of rows.
const (
	Count       Unit = "count"
	PerSecond   Unit = "per_second"
	Nanoseconds Unit = "ns"
	Bytes       Unit = "bytes"
	Share       Unit = "share" // of 1
	Number      Unit = "number"
)

// Better says which direction is an improvement.
type Better string

// The directions.
const (
	Higher  Better = "higher"
	Lower   Better = "lower"
	Neither Better = ""
)

// Cell is what one recording has in a row.
type Cell struct {
	// Median is that of the rounds, of failures their sum; NaN when no round has
	// a value, or most have a time that never came. It marshals as null then.
	Median gc.Figure `json:"median"`
	// Rounds are the values of the single rounds. Never is how many more have a
	// time that never came, such as a percentile that falls among requests that
	// were not answered; it counts as longer than all others.
	Rounds []float64 `json:"rounds"`
	Never  int       `json:"never,omitempty"`

	all    []float64 // round by round, with never
	rounds []int     // which round each of them is of, from 0
}

// Row is one figure of all recordings.
type Row struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Unit   Unit   `json:"unit"`
	Better Better `json:"better,omitempty"`
	// Key rows decide whether the whole is a regression.
	Key     bool     `json:"key,omitempty"`
	Cells   []Cell   `json:"cells"`
	Changes []Change `json:"changes"` // one for each recording but the first
}

// Table lays recordings side by side; the first is what the others are
// compared with.
type Table struct {
	Schema string   `json:"schema"`
	Titles []string `json:"titles"`
	Rows   []Row    `json:"rows"`
	// Rounds is the number of rounds of each recording, Interleaved tells
	// that they took turns.
	Rounds      []int    `json:"rounds"`
	Interleaved bool     `json:"interleaved"`
	Notes       []string `json:"notes"`

	looks  stats.Looks // at which the rounds may have been ended; none where their number was fixed
	closed bool        // more rounds would decide nothing
}

// Schema names the version of the JSON form of a Table.
const Schema = "loupe.compare/1"

// metric is how a row gets its value from a round.
type metric struct {
	id, name string
	unit     Unit
	better   Better
	key      bool
	value    func(r *facts.Round) float64
}

var unknown = math.NaN()

// ofLoad makes a value that needs a load.
func ofLoad(f func(r *facts.Round) float64) func(*facts.Round) float64 {
	return func(r *facts.Round) float64 {
		if r.Load == nil || r.Load.Responses == 0 {
			return unknown
		}
		return f(r)
	}
}

// ofGC makes a value that needs gctrace.
func ofGC(f func(d *gc.Derived) float64) func(*facts.Round) float64 {
	return func(r *facts.Round) float64 {
		if r.GC == nil {
			return unknown
		}
		return f(&r.GC.Derived)
	}
}

// peakHeap is the largest heap that a collection or a sample of the metrics has seen: a program that ends, or grows, after its last collection has had
// a larger one than that.
func peakHeap(r *facts.Round) float64 {
	peak := ofGC(func(d *gc.Derived) float64 { return float64(d.PeakHeapMB) * (1 << 20) })(r)
	if r.HeapPeak > 0 && !(peak >= r.HeapPeak) {
		return r.HeapPeak
	}
	return peak
}

// ofWhole makes a value of all that a program did from its start to its end.
func ofWhole(f func(c *facts.Counts) float64) func(*facts.Round) float64 {
	return func(r *facts.Round) float64 {
		if !r.Counts.Whole {
			return unknown
		}
		return f(&r.Counts)
	}
}

// none is a figure of collections that is zero when there were none.
func none(d *gc.Derived, f gc.Figure) float64 {
	if d.Collections == 0 {
		return 0
	}
	return float64(f)
}

func positive(v float64) float64 {
	if v <= 0 {
		return unknown
	}
	return v
}

// errorsRow is the row that is shown only when it is not zero.
const errorsRow = "errors"

// The rows of waits for locks.
const (
	lockWait           = "lock_wait"
	lockWaitPerRequest = "lock_wait_per_request"
)

// silent are the rows that are not shown where all of their values are zero.
var silent = map[string]bool{errorsRow: true, failingRow: true, lockWait: true, lockWaitPerRequest: true}

// The rows of the processes of a run besides the one that is recorded.
const (
	familyCPU = "other_processes_cpu_per_request"
	familyRSS = "other_processes_rss"
)

// The shares of the recorded process's own CPU time and memory from which on those of the others are shown. Chosen:
// a shell around a program does not reach them.
const (
	noticedCPU = 0.03
	noticedRSS = 0.25
)

// shown tells of rows that are not always shown whether a round has reason to.
var shown = map[string]func(r *facts.Round) bool{
	familyCPU: func(r *facts.Round) bool { return float64(r.Family) > noticedCPU*float64(r.CPU) },
	familyRSS: func(r *facts.Round) bool { return float64(r.FamilyRSS) > noticedRSS*float64(r.MaxRSS) && r.MaxRSS > 0 },
}

// metricRows is the table of rows, in the order in which they are shown: the
// ones that a comparison by hand begins with, and what it leaves out.
var metricRows = []metric{
	failing,
	{"requests", "Requests", Count, Neither, false, func(r *facts.Round) float64 {
		if r.Load == nil {
			return unknown
		}
		return float64(r.Load.Responses)
	}},
	// No answer at all is a rate of zero, not an unknown one.
	{"requests_per_sec", "Requests/sec", PerSecond, Higher, true, func(r *facts.Round) float64 {
		if r.Load == nil {
			return unknown
		}
		return r.Load.RPS
	}},
	{"duration", "Total duration", Nanoseconds, Lower, false, func(r *facts.Round) float64 {
		if r.Load == nil && !r.Ended {
			return unknown // as long as it was asked to be
		}
		return float64(r.Duration)
	}},
	{"wall_time", "Wall time", Nanoseconds, Lower, true, func(r *facts.Round) float64 {
		if r.Load != nil || !r.Ended {
			return unknown
		}
		return float64(r.Duration)
	}},
	{"latency_p50", "Latency p50", Nanoseconds, Lower, false, ofLoad(func(r *facts.Round) float64 { return took(r.Load.Latency.P50) })},
	{"latency_p99", "Latency p99", Nanoseconds, Lower, false, ofLoad(func(r *facts.Round) float64 { return took(r.Load.Latency.P99) })},
	{errorsRow, "Errors, all rounds", Count, Lower, false, func(r *facts.Round) float64 {
		if r.Load == nil {
			return unknown
		}
		return float64(r.Load.Unanswered())
	}},
	{"cpu_per_request", "CPU time/request", Nanoseconds, Lower, true, ofLoad(func(r *facts.Round) float64 {
		return positive(float64(r.CPU) / float64(r.Load.Responses))
	})},
	{familyCPU, "CPU time/request of the other processes of the run", Nanoseconds, Lower, false, ofLoad(func(r *facts.Round) float64 {
		return float64(r.Family) / float64(r.Load.Responses)
	})},
	{"cpu", "CPU time", Nanoseconds, Lower, true, func(r *facts.Round) float64 {
		if r.Load != nil || !r.Ended {
			return unknown
		}
		return positive(float64(r.CPU))
	}},
	{"bytes_per_request", "Allocated/request", Bytes, Lower, false, ofLoad(func(r *facts.Round) float64 { return r.AllocRate / r.Load.RPS })},
	{"objects_per_request", "Objects/request", Number, Lower, false, ofLoad(func(r *facts.Round) float64 { return r.Counts.Objects / r.Load.RPS })},
	{"allocated", "Allocated", Bytes, Lower, false, ofWhole(func(c *facts.Counts) float64 { return c.Bytes })},
	{"objects", "Allocated objects", Count, Lower, false, ofWhole(func(c *facts.Counts) float64 { return c.Objects })},
	{lockWaitPerRequest, "Waits for locks/request", Nanoseconds, Lower, false, ofLoad(func(r *facts.Round) float64 { return r.Counts.LockWait / r.Load.RPS })},
	{lockWait, "Waits for locks", Nanoseconds, Lower, false, ofWhole(func(c *facts.Counts) float64 { return c.LockWait })},
	{"allocation_rate", "Allocated/sec", Bytes, Neither, false, func(r *facts.Round) float64 { return r.AllocRate }},
	{"gc_percent", "Time in GC", Share, Lower, false, ofGC(func(d *gc.Derived) float64 { return none(d, d.GCPercent) / 100 })},
	{"gc_cpu_percent", "GC share of the Ps", Share, Lower, false, ofGC(func(d *gc.Derived) float64 { return none(d, d.CPUPercent) / 100 })},
	{"collections", "Total collections", Count, Lower, false, func(r *facts.Round) float64 { return r.Collections }},
	{"gc_total", "Total GC duration", Nanoseconds, Lower, false, ofGC(func(d *gc.Derived) float64 { return none(d, d.GCTotalMS) * 1e6 })},
	{"gc_pace", "Average pace of GC", Nanoseconds, Neither, false, ofGC(func(d *gc.Derived) float64 { return float64(d.PaceMS) * 1e6 })},
	{"requests_per_collection", "Requests/collection", Number, Higher, false, ofLoad(func(r *facts.Round) float64 {
		return float64(r.Load.Responses) / r.Collections
	})},
	{"stw_over", "Pauses over 100 µs", Count, Lower, false, ofGC(func(d *gc.Derived) float64 { return float64(d.STW1.Over + d.STW2.Over) })},
	{"stw_max", "Longest pause", Nanoseconds, Lower, false, ofGC(func(d *gc.Derived) float64 {
		return none(d, gc.Figure(max(d.STW1.MaxMS, d.STW2.MaxMS))) * 1e6
	})},
	{"assist_percent", "Assist share of marking", Share, Lower, false, ofGC(func(d *gc.Derived) float64 { return none(d, d.AssistPercent) / 100 })},
	{"peak_heap", "Peak heap", Bytes, Lower, false, peakHeap},
	{"max_rss", "Peak memory (RSS)", Bytes, Lower, false, func(r *facts.Round) float64 { return positive(float64(r.MaxRSS)) }},
	{familyRSS, "Peak memory of the other processes of the run", Bytes, Lower, false, func(r *facts.Round) float64 { return float64(r.FamilyRSS) }},
	{"goroutines", "Peak goroutines", Count, Neither, false, func(r *facts.Round) float64 { return positive(float64(r.Goroutines)) }},
}

// RowIDs are the ids of all rows that a comparison of recordings may have.
func RowIDs() (ids []string) {
	for _, m := range metricRows {
		ids = append(ids, m.id)
	}
	return ids
}

// growsWithWork names the rows that grow with the number of requests, which
// differs under loads of equal length.
var growsWithWork = map[string]bool{"collections": true, "gc_total": true, "stw_over": true}

// explained tells whether a verdict on a row that grows with the work is what
// the work alone leads to: a program that answered more requests is no worse
// for having collected more often, one that answered fewer is no better for
// having collected less.
func explained(v Verdict, old, new *facts.Facts) bool {
	a, b := requests(old), requests(new) // NaN without a load
	return v == Regressed && b > a*(1+ROPE) || v == Improved && b < a*(1-ROPE)
}

// requests is the median number of answered requests in a round; NaN without a
// load.
func requests(f *facts.Facts) float64 {
	var n []float64
	for _, r := range f.Rounds {
		if r.Load != nil {
			n = append(n, float64(r.Load.Responses))
		}
	}
	return stats.Median(n)
}

// Compare lays the recordings side by side. Rows that no recording has are
// left out, and so are the errors where there were none.
func Compare(all ...*facts.Facts) *Table {
	t := &Table{Schema: Schema, Interleaved: interleaved(all), looks: looksOf(all)}
	fewest := math.MaxInt
	for _, f := range all {
		t.Titles = append(t.Titles, f.Title)
		t.Rounds = append(t.Rounds, len(f.Rounds))
		fewest = min(fewest, len(f.Rounds))
	}
	judged, confidence := dithered(all), confidenceAt(t.looks)
	blocks := blocksOf(all, roundTimes)
	for _, m := range metricRows {
		if row, ok := m.row(all, judged, blocks, confidence); ok {
			t.Rows = append(t.Rows, row)
		}
	}
	t.errorsDecide()
	t.note(all, fewest)
	t.noteTicks(all)
	t.withhold(all)
	noteNeeds(t, all)
	return t
}

// blocks are, for each recording but the first, which block each round of the first and of
// it belongs to; nil where they did not take turns.
type blocks [][2][]int

// blocksOf finds the blocks of recordings by when their rounds began.
func blocksOf(all []*facts.Facts, when func(f *facts.Facts) []time.Time) (of blocks) {
	for _, f := range all[1:] {
		var two [2][]int
		if found := stats.Blocks([][]time.Time{when(all[0]), when(f)}); found != nil {
			two = [2][]int(found)
		}
		of = append(of, two)
	}
	return of
}

// worthShowing tells whether a row that is not always shown has something to say of a recording.
func worthShowing(id string, f *facts.Facts) bool {
	reason := shown[id]
	return reason == nil || slices.ContainsFunc(f.Rounds, func(r facts.Round) bool { return reason(&r) })
}

// row is that of a metric: the figures of the recordings, judged by those of the same
// recordings as they are judged.
func (m metric) row(all, judged []*facts.Facts, of blocks, confidence float64) (row Row, ok bool) {
	row = Row{ID: m.id, Name: m.name, Unit: m.unit, Better: m.better, Key: m.key}
	cell := func(f *facts.Facts) (c Cell) {
		var values []float64
		for i := range f.Rounds {
			values = append(values, m.value(&f.Rounds[i]))
		}
		c.fill(m.id, values)
		return c
	}
	for k, f := range all {
		c, as := cell(f), cell(judged[k])
		c.all, c.rounds = as.all, as.rounds
		ok = ok || len(c.all) > 0 && (!silent[m.id] || slices.Max(c.Rounds) > 0) && worthShowing(m.id, judged[k])
		row.Cells = append(row.Cells, c)
	}
	for i, f := range all[1:] {
		c := judgeAt(row.Cells[0].side(of[i][0]), row.Cells[i+1].side(of[i][1]), m.better, confidence)
		// Medians of ticks, as they are shown, may go another way than what is judged.
		if old, new := row.Cells[0].Median, row.Cells[i+1].Median; (new-old)*(c.Ratio-1) < 0 {
			c.agree(float64(old), float64(new))
		}
		if growsWithWork[m.id] && explained(c.Verdict, all[0], f) {
			c.Verdict = Changed
		}
		row.Changes = append(row.Changes, c)
	}
	return row, ok
}

// interleaved tells whether the rounds of every recording lie among those of
// the first one, by the clock on the wall.
func interleaved(all []*facts.Facts) bool {
	first, last := endsOf(all[0])
	for _, f := range all[1:] {
		from, to := endsOf(f)
		if len(f.Rounds) < 2 || len(all[0].Rounds) < 2 || !from.Before(last) || !first.Before(to) {
			return false
		}
	}
	return len(all) > 1
}

// endsOf returns when the first and the last round began.
func endsOf(f *facts.Facts) (first, last time.Time) {
	if starts := roundTimes(f); len(starts) > 0 {
		return slices.MinFunc(starts, time.Time.Compare), slices.MaxFunc(starts, time.Time.Compare)
	}
	return first, last
}

// runs names a number of runs too small to tell anything.
func runs(n int) string {
	if n == 1 {
		return "one run"
	}
	return fmt.Sprintf("a set of %d runs", n)
}

// fixedOrder is what is said of rounds that took turns in an order that was not drawn.
const fixedOrder = "the rounds alternated in a fixed order: anything that recurs every two or four rounds on this machine looks like a difference (loupe run -vs and loupe load -against randomise the order)"

func (t *Table) note(all []*facts.Facts, fewest int) {
	if fewest < EnoughRounds && len(all) > 1 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s against another proves nothing: %d rounds of each are needed for an interval (loupe run -rounds 5 -vs OTHER …)", runs(fewest), EnoughRounds))
	}
	if !t.Interleaved && len(all) > 1 && fewest >= EnoughRounds {
		t.Notes = append(t.Notes, "the rounds were not interleaved: a drift of the machine between the recordings looks like a difference between the programs")
	}
	for _, f := range all[1:] {
		if all[0].Manifest.Turns == nil && t.Interleaved && stats.Fixed(roundTimes(all[0]), roundTimes(f)) {
			t.Notes = append(t.Notes, fixedOrder)
			break
		}
	}
	for _, f := range all {
		for _, r := range f.Rounds {
			for _, text := range r.Damage {
				t.Notes = append(t.Notes, f.Title+": "+text)
			}
		}
		t.Notes = append(t.Notes, failures(f)...)
		t.Notes = append(t.Notes, others(f)...)
	}
	if len(all) > 1 {
		t.Notes = append(t.Notes, unended(all)...)
	}
	for i, f := range all[1:] {
		if a, b := all[0].Manifest.Host, f.Manifest.Host; a.CPU != b.CPU || a.CPUs != b.CPUs || a.Quota != b.Quota {
			t.Notes = append(t.Notes, fmt.Sprintf("%s and %s were recorded on different machines", t.Titles[0], t.Titles[i+1]))
		}
		if a, b := all[0].Manifest.Target.Go, f.Manifest.Target.Go; a != b && a != "" && b != "" {
			t.Notes = append(t.Notes, fmt.Sprintf("%s was built with %s, %s with %s", t.Titles[0], a, t.Titles[i+1], b))
		}
	}
}

// ofOthers is the share of the other processes of the run in all CPU time from which on a note tells that profiles are
// not about it. Chosen: a fifth moves no finding far.
const ofOthers = 0.2

// others tells where the other processes of the run used much of the CPU time, in the round where that was most.
func others(f *facts.Facts) []string {
	most, text := ofOthers, ""
	for _, r := range f.Rounds {
		theirs, all := r.Family+r.Waited, r.Family+r.CPU
		if float64(theirs) <= most*float64(all) {
			continue
		}
		most = float64(theirs) / float64(all)
		text = fmt.Sprintf("the other processes of the run used %s of CPU time beside its %s", unit.Duration(theirs), unit.Duration(r.CPU))
		if r.Waited > 0 {
			text = fmt.Sprintf("%s or more of the %s of CPU time are those of the other processes of the run", unit.Duration(theirs), unit.Duration(all))
		}
	}
	if text == "" {
		return nil
	}
	return []string{f.Title + ": " + text + "; profiles, and shares of the CPU time, are of the recorded process alone"}
}

// failures says what the load of a recording met instead of answers. The
// rate alone would praise a service that has learned to fail fast.
func failures(f *facts.Facts) (notes []string) {
	due, failed, bad := int64(0), int64(0), 0
	counts := true // in the percentiles, which those of other generators are without
	common := "never sent"
	for _, r := range f.Rounds {
		if r.Load == nil {
			continue
		}
		due += r.Load.Due()
		failed += r.Load.Unanswered()
		counts = counts && (r.Load.Unanswered() == 0 || r.Load.Latency.Unanswered > 0)
		if text := r.Load.CommonError(); text != "" {
			common = text
		}
		bad += r.Load.BadStatus()
	}
	if failed > 0 {
		text := fmt.Sprintf("%s: %s of %s requests failed (%s)", f.Title, unit.Count(failed), unit.Count(due), common)
		if counts {
			text += ": they count as slower than all answers"
		}
		notes = append(notes, text)
	}
	if bad > 0 {
		notes = append(notes, fmt.Sprintf("%s: %s of %s answers had a status of 400 or above", f.Title, unit.Count(int64(bad)), unit.Count(due-failed)))
	}
	return notes
}

// Regressed tells whether a key row of any recording got worse.
func (t *Table) Regressed() bool { return t.RegressedBy(0) }

// RegressedBy tells whether a key row of any recording got worse by more than a share: proven,
// and the estimate is beyond it.
func (t *Table) RegressedBy(share float64) bool {
	for _, r := range t.Rows {
		for _, c := range r.Changes {
			if r.Key && c.WorseBy(r.Better, share) {
				return true
			}
		}
	}
	return false
}

// WorseBy tells whether a figure got worse by more than a share.
func (c *Change) WorseBy(better Better, share float64) bool {
	ratio := float64(c.Ratio)
	if better == Higher {
		ratio = 1 / ratio
	}
	return c.Verdict == Regressed && (!c.Ratio.Known() || ratio > 1+share)
}

// Row returns the row with an id.
func (t *Table) Row(id string) (Row, bool) {
	for _, r := range t.Rows {
		if r.ID == id {
			return r, true
		}
	}
	return Row{}, false
}

// Follow takes over the changes of the figures that another table of the same
// recordings has too: the tables keep the error of different sets of rows, and one
// figure must not be better in one of them and undecided in the other.
func (t *Table) Follow(other *Table) {
	for i := range t.Rows {
		r := &t.Rows[i]
		o, ok := other.Row(r.ID)
		if !ok || len(o.Changes) != len(r.Changes) {
			continue
		}
		same := func(a, b Cell) bool {
			return a.Median == b.Median || !a.Median.Known() && !b.Median.Known()
		}
		if slices.EqualFunc(r.Cells, o.Cells, same) {
			copy(r.Changes, o.Changes)
		}
	}
}
