package compare

import (
	"fmt"
	"math"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/format/loadlog"
	"loupe/recording"
	"loupe/value/stats"
	"loupe/value/unit"
)

// LoadSide is one side of a comparison of load runs: the same load put on one
// service, once or several times.
type LoadSide struct {
	Title string
	Runs  []*loadlog.Summary
	// Starts are when the runs began; empty where that is not known.
	Starts []time.Time
	// Open tells that the requests had a schedule, so that their rate is not
	// the service's.
	Open bool
}

// Loads lays load runs side by side; the first side is what the others are
// compared with. interleaved tells that the runs of the sides took turns.
//
// The unit is the run: requests within a run depend on each other, and tests
// over single requests called 85 of 100 pairs of identical runs different. The
// key rows are the share of errors, requests per second in a closed loop, the
// median and the 99th percentile of the response time in an open one, and the CPU time of
// the service for each request where it is known; they share one error of 5 %. Where runs took turns, those that followed each other are one block: what
// disturbs a machine often lasts longer than a run, and then two runs in a row are not
// two witnesses (see [stats.Compare]).
func Loads(sides []LoadSide, interleaved bool) *Table {
	t := &Table{Schema: Schema, Rows: []Row{}, Notes: []string{}, Interleaved: interleaved}
	all := make([]*facts.Facts, len(sides))
	fewest, open := math.MaxInt, false
	for i, s := range sides {
		f := &facts.Facts{Title: s.Title, Manifest: &recording.Manifest{}}
		for _, run := range s.Runs {
			f.Rounds = append(f.Rounds, facts.Round{Load: run, Duration: time.Duration(run.Seconds * float64(time.Second))})
		}
		all[i] = f
		open = open || s.Open
		fewest = min(fewest, len(s.Runs))
		t.Titles = append(t.Titles, s.Title)
		t.Rounds = append(t.Rounds, len(s.Runs))
	}
	of := turns(sides, interleaved)
	for _, m := range loadRows(open) {
		if row, ok := m.row(all, all, of, Confidence); ok {
			t.Rows = append(t.Rows, row)
		}
	}
	for i := range all[1:] {
		t.settle(i)
	}
	t.errorsDecide()
	t.noteLoads(all, sides, fewest)
	return t
}

// turns are the blocks of load runs: by when they began, or, where nobody knows, the first
// run of each side, the second, and so on.
func turns(sides []LoadSide, interleaved bool) (of blocks) {
	for _, s := range sides[1:] {
		var two [2][]int
		switch first := &sides[0]; {
		case !interleaved:
		case len(first.Starts) == len(first.Runs) && len(s.Starts) == len(s.Runs):
			if found := stats.Blocks([][]time.Time{first.Starts, s.Starts}); found != nil {
				two = [2][]int(found)
			}
		default:
			for side, n := range []int{len(first.Runs), len(s.Runs)} {
				for i := range n {
					two[side] = append(two[side], i)
				}
			}
		}
		of = append(of, two)
	}
	return of
}

// loadRows are the figures of load runs, in the order in which they are shown.
func loadRows(open bool) []metric {
	quantile := func(id, name string, key bool, value func(l *loadlog.Summary) time.Duration) metric {
		return metric{id, name, Nanoseconds, Lower, key, func(r *facts.Round) float64 { return took(value(r.Load)) }}
	}
	latency := "Latency "
	if open {
		latency = "Response time "
	}
	rows := []metric{
		failing,
		{"requests", "Answered requests", Count, Neither, false, func(r *facts.Round) float64 { return float64(r.Load.Responses) }},
		{"requests_per_sec", "Requests/sec", PerSecond, Higher, !open, func(r *facts.Round) float64 { return r.Load.RPS }},
		quantile("latency_mean", latency+"mean", false, func(l *loadlog.Summary) time.Duration {
			if l.Latency.Unanswered > 0 {
				return 0 // there is none
			}
			return l.Latency.Mean
		}),
		quantile("latency_p10", latency+"p10", false, func(l *loadlog.Summary) time.Duration { return l.Latency.P10 }),
		quantile("latency_p50", latency+"p50", open, func(l *loadlog.Summary) time.Duration { return l.Latency.P50 }),
		quantile("latency_p90", latency+"p90", false, func(l *loadlog.Summary) time.Duration { return l.Latency.P90 }),
		quantile("latency_p99", latency+"p99", open, func(l *loadlog.Summary) time.Duration { return l.Latency.P99 }),
		quantile("latency_p999", latency+"p99.9", false, func(l *loadlog.Summary) time.Duration { return l.Latency.P999 }),
		quantile("latency_max", latency+"max", false, func(l *loadlog.Summary) time.Duration { return l.Latency.Max }),
	}
	if open {
		rows = append(rows,
			quantile("service_p50", "Service time p50", false, func(l *loadlog.Summary) time.Duration { return l.Service.P50 }),
			quantile("service_p99", "Service time p99", false, func(l *loadlog.Summary) time.Duration { return l.Service.P99 }))
	}
	return append(rows,
		metric{errorsRow, "Errors, all runs", Count, Lower, false, func(r *facts.Round) float64 { return float64(r.Load.Unanswered()) }},
		metric{"bytes_per_request", "Bytes/request", Bytes, Neither, false, ofLoad(func(r *facts.Round) float64 {
			return positive(float64(r.Load.Bytes) / float64(r.Load.Responses))
		})},
		// Waiting for a CPU is no part of it: a busy machine hides less of a change.
		metric{"service_cpu_per_request", "CPU time of the service/request", Nanoseconds, Lower, true, ofLoad(func(r *facts.Round) float64 {
			return positive(float64(r.Load.ServiceCPU) / float64(r.Load.Responses))
		})},
		metric{"generator_cpu", "CPU time of the generator/request", Nanoseconds, Neither, false, ofLoad(func(r *facts.Round) float64 {
			return positive(r.Load.Generator.CPUSeconds * 1e9 / float64(r.Load.Responses))
		})},
	)
}

func (t *Table) noteLoads(all []*facts.Facts, sides []LoadSide, fewest int) {
	if len(all) > 1 && fewest < EnoughRounds {
		t.Notes = append(t.Notes, fmt.Sprintf("%s against another proves nothing: %d of each, interleaved, are needed for an interval (loupe load -repeat 5 -against OTHER …)", runs(fewest), EnoughRounds))
	}
	if len(all) > 1 && fewest >= EnoughRounds && !t.Interleaved {
		t.Notes = append(t.Notes, "the runs were not interleaved: a drift of the machine between them looks like a difference between the services")
	}
	for _, f := range all {
		t.Notes = append(t.Notes, failures(f)...)
		t.Notes = append(t.Notes, foreignNotes(f)...)
		for _, r := range f.Rounds {
			if why := r.Load.Generator.Starved; why != "" {
				t.Notes = append(t.Notes, f.Title+": its times are upper bounds: "+why)
				break
			}
		}
		for _, r := range f.Rounds {
			if why := r.Load.Generator.Limited; why != "" {
				t.Notes = append(t.Notes, f.Title+": generator-limited, so that its rate is a lower bound: "+why)
				break
			}
		}
	}
	for i, s := range sides[1:] {
		if fixed := stats.Fixed(sides[0].Starts, s.Starts); fixed && t.Interleaved && i == 0 {
			t.Notes = append(t.Notes, fixedOrder)
		}
	}
	if len(all) == 2 && fewest >= EnoughRounds {
		t.noteDetectable()
	}
}

// foreignNotes say what the figures of other generators mean.
func foreignNotes(f *facts.Facts) (notes []string) {
	for _, r := range f.Rounds {
		if r.Load.Foreign == "" {
			continue
		}
		for _, note := range r.Load.Notes {
			if note = f.Title + ": " + note; !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

// noteDetectable says how small a change these runs could have shown: half the
// width of the interval, which is what chance alone moves.
func (t *Table) noteDetectable() {
	for _, row := range t.Rows {
		if !row.Key {
			continue
		}
		c := row.Changes[0]
		if !c.Low.Known() || !c.High.Known() || c.Low <= 0 {
			continue
		}
		half := math.Sqrt(float64(c.High)/float64(c.Low)) - 1
		t.Notes = append(t.Notes, fmt.Sprintf("a change of %s by less than about %s would not have been visible in these runs", row.Name, unit.Percent(half)))
	}
}
