// Package sched derives from scheduler samples how well a program used its
// Ps: how many ran, how long the run queues were, and how often a P was idle
// while goroutines waited.
//
// It is pure: samples in, a [Summary] out. It reads no log (package godebug
// does) and prints nothing (package report does).
//
// A sample is an instant. What happens between two samples is not seen, so
// every figure is an estimate from as many draws as there are samples; and
// blocked goroutines are in no figure but the wait reasons of scheddetail.
package sched

import (
	"cmp"
	"slices"
	"time"

	"loupe/format/godebug"
	"loupe/value/stats"
)

// Schema is the version of the JSON form of [Summary].
const Schema = "loupe.sched/1"

// Options says what the caller knows beyond the samples.
type Options struct {
	// Unrecognised is how many lines of the log looked like the runtime's
	// and did not parse; see [godebug.Log].
	Unrecognised int
	// Names are those of the runs, Others how many more runs the log holds than the
	// samples are of, and Ends tells that it ends within a line; see [godebug.Log].
	Names  []string
	Others int
	Ends   bool
}

// nameOf is how the log names a run; "" where it does not.
func (opt *Options) nameOf(run int) string {
	if run < 0 || run >= len(opt.Names) {
		return ""
	}
	return opt.Names[run]
}

// Summary is the analysis of a window.
type Summary struct {
	Schema string `json:"schema"`
	// Samples are all samples given, one row each.
	Samples []Row `json:"samples"`
	// Derived is over the run with the most samples.
	Derived Derived `json:"derived"`
	// Runs has an entry per run when there are several.
	Runs         []Run  `json:"runs,omitempty"`
	Unrecognised int    `json:"unrecognised"`
	Notes        []Note `json:"notes"`
}

// Run is the part of the samples that one execution of the program gave.
type Run struct {
	Run int `json:"run"` // as in godebug.Position
	// Name is what the log says of each line of the process: a prefix, or fields.
	Name    string  `json:"name,omitempty"`
	Derived Derived `json:"derived"`
}

// Row is one sample under the names that the SCHED line has. They are part of
// the JSON contract.
type Row struct {
	AtMS            float64 `json:"at_ms"` // since program start
	GOMAXPROCS      int     `json:"gomaxprocs"`
	IdleProcs       int     `json:"idleprocs"`
	Threads         int     `json:"threads"`
	SpinningThreads int     `json:"spinningthreads"`
	IdleThreads     int     `json:"idlethreads"`
	RunQueue        int     `json:"runqueue"`
	Local           []int   `json:"local"` // run queue of each P
	NeedSpinning    int     `json:"needspinning"`
	Ticks           []int64 `json:"schedticks,omitempty"` // Go 1.25 and later
	Line            int     `json:"line,omitempty"`
	Run             int     `json:"run,omitempty"`
}

// Derived are the figures of one window. Percentages are of 100; all are zero
// where there are no samples to take them from. The sample at 0 ms, taken
// before main runs, is left out when there are others.
type Derived struct {
	Samples    int     `json:"samples"`
	DurationMS float64 `json:"duration_ms"` // from the first sample to the last
	IntervalMS float64 `json:"interval_ms"` // median time between two
	GOMAXPROCS int     `json:"gomaxprocs"`  // the largest
	// LeastGOMAXPROCS is the smallest, LastGOMAXPROCS that of the last sample: a
	// program may change it.
	LeastGOMAXPROCS int `json:"least_gomaxprocs"`
	LastGOMAXPROCS  int `json:"last_gomaxprocs"`

	// MeanRunning is the mean number of Ps that run a goroutine: those
	// neither idle nor held by a thread that spins in search of work.
	MeanRunning float64 `json:"mean_running_procs"`
	// UsePercent is what that is of GOMAXPROCS.
	UsePercent float64 `json:"use_percent"`
	// Busy counts samples in which a goroutine ran or waited to run;
	// OneRunning those of them with exactly one P running, of a program that
	// has more Ps.
	Busy int `json:"busy_samples"`
	// BusyOfSeveral counts those of Busy in which there was more than one P.
	BusyOfSeveral     int     `json:"busy_samples_of_several_procs"`
	OneRunning        int     `json:"one_running_samples"`
	OneRunningPercent float64 `json:"one_running_percent"` // of Busy
	// AllRunning counts the samples in which no P was idle or spinning.
	AllRunning        int     `json:"all_running_samples"`
	AllRunningPercent float64 `json:"all_running_percent"` // of Samples
	// IdleWhileWaiting counts samples with an idle P and more goroutines
	// waiting than threads spinning, each of which is about to take one.
	IdleWhileWaiting        int     `json:"idle_while_waiting_samples"`
	IdleWhileWaitingPercent float64 `json:"idle_while_waiting_percent"` // of Samples

	// Queue is of all goroutines that wait to run, Global of those in the
	// global queue.
	Queue  Lengths `json:"queue"`
	Global Lengths `json:"global_queue"`
	// LongestLocal is the longest run queue that a single P had.
	LongestLocal int `json:"longest_local_queue"`

	ThreadsMax int `json:"threads_max"`
	// SwitchesPerSec is how often the Ps started a goroutine, from their
	// schedticks. Zero before Go 1.25 unless scheddetail is on.
	SwitchesPerSec float64 `json:"switches_per_sec"`

	// Waits are the reasons of blocked goroutines, most frequent first. Only
	// with scheddetail.
	Waits []Wait `json:"waits,omitempty"`
	// GoroutinesMax is the largest number of live goroutines in a sample.
	// Only with scheddetail.
	GoroutinesMax int `json:"goroutines_max,omitempty"`
}

// Lengths are the figures of a queue over the samples.
type Lengths struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	Max  float64 `json:"max"`
}

// Wait is how many goroutines were blocked for one reason.
type Wait struct {
	Reason string  `json:"reason"`
	Mean   float64 `json:"mean"` // per sample
	Max    int     `json:"max"`
}

// Analyse derives the figures of the samples, which are in the order of the
// log and all of one window.
func Analyse(samples []godebug.SchedSample, opt Options) *Summary {
	s := &Summary{Schema: Schema, Samples: make([]Row, len(samples)), Unrecognised: opt.Unrecognised}
	for i := range samples {
		s.Samples[i] = rowOf(&samples[i])
	}
	runs := godebug.ByRun(samples, func(m *godebug.SchedSample) int { return m.Run })
	var main []godebug.SchedSample
	for _, run := range runs {
		if len(run) > len(main) {
			main = run
		}
	}
	s.Derived = derive(main)
	if len(runs) > 1 {
		for _, run := range runs {
			s.Runs = append(s.Runs, Run{Run: run[0].Run, Name: opt.nameOf(run[0].Run), Derived: derive(run)})
		}
	}
	s.Notes = notes(main, s, opt)
	return s
}

func rowOf(m *godebug.SchedSample) Row {
	return Row{
		AtMS: float64(m.At) / 1e6, GOMAXPROCS: m.Procs, IdleProcs: m.IdleProcs, Threads: m.Threads,
		SpinningThreads: m.SpinningThreads, IdleThreads: m.IdleThreads, RunQueue: m.RunQueue,
		Local: append([]int{}, m.Local...), NeedSpinning: m.NeedSpinning, Ticks: slices.Clone(m.Ticks),
		Line: m.Line, Run: m.Run,
	}
}

// Window returns the samples taken in from <= At < to, in time since program
// start. They must be of one run, see [Split]. The result shares memory with
// samples.
func Window(samples []godebug.SchedSample, from, to time.Duration) []godebug.SchedSample {
	lo := 0
	for lo < len(samples) && samples[lo].At < from {
		lo++
	}
	hi := lo
	for hi < len(samples) && samples[hi].At < to {
		hi++
	}
	return samples[lo:hi]
}

// Running returns how many Ps run a goroutine in m. The runtime reads its
// counters without a lock common to all, so that the difference can come out
// below zero; then it is taken as zero.
func Running(m *godebug.SchedSample) int {
	return max(0, m.Procs-m.IdleProcs-m.SpinningThreads)
}

// Waiting returns how many goroutines wait to run in m, in the global and
// the local run queues.
func Waiting(m *godebug.SchedSample) int {
	n := m.RunQueue
	for _, l := range m.Local {
		n += l
	}
	return n
}

func derive(run []godebug.SchedSample) Derived {
	var d Derived
	if len(run) > 1 && run[0].At == 0 {
		run = run[1:]
	}
	d.Samples = len(run)
	if len(run) == 0 {
		return d
	}
	last := len(run) - 1
	d.DurationMS = float64(run[last].At-run[0].At) / 1e6
	var queue, global, gaps []float64
	running, procs := 0, 0
	for i := range run {
		m := &run[i]
		r, w := Running(m), Waiting(m)
		running += r
		procs += m.Procs
		d.count(m, r, w)
		queue = append(queue, float64(w))
		global = append(global, float64(m.RunQueue))
		if i > 0 {
			gaps = append(gaps, float64(m.At-run[i-1].At)/1e6)
		}
	}
	n := float64(len(run))
	d.MeanRunning = float64(running) / n
	d.UsePercent = percent(running, procs)
	d.OneRunningPercent = percent(d.OneRunning, d.Busy)
	d.AllRunningPercent = percent(d.AllRunning, d.Samples)
	d.IdleWhileWaitingPercent = percent(d.IdleWhileWaiting, d.Samples)
	d.Queue, d.Global = lengths(queue), lengths(global)
	if len(gaps) > 0 {
		d.IntervalMS = stats.Median(gaps)
	}
	d.SwitchesPerSec = switches(run)
	d.waits(run)
	return d
}

// count adds the sample m, with its running Ps and waiting goroutines.
func (d *Derived) count(m *godebug.SchedSample, running, waiting int) {
	d.GOMAXPROCS, d.LastGOMAXPROCS = max(d.GOMAXPROCS, m.Procs), m.Procs
	if d.LeastGOMAXPROCS == 0 || m.Procs < d.LeastGOMAXPROCS {
		d.LeastGOMAXPROCS = m.Procs
	}
	d.ThreadsMax = max(d.ThreadsMax, m.Threads)
	for _, l := range m.Local {
		d.LongestLocal = max(d.LongestLocal, l)
	}
	if running > 0 || waiting > 0 {
		d.Busy++
		if m.Procs > 1 {
			d.BusyOfSeveral++
		}
		if running == 1 && m.Procs > 1 {
			d.OneRunning++
		}
	}
	if m.Procs > 0 && running == m.Procs {
		d.AllRunning++
	}
	if m.IdleProcs > 0 && waiting > m.SpinningThreads {
		d.IdleWhileWaiting++
	}
}

func percent(part, whole int) float64 {
	if whole <= 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

func lengths(v []float64) Lengths {
	slices.Sort(v)
	return Lengths{Mean: stats.Mean(v), P50: stats.Quantile(v, 0.5), P95: stats.Quantile(v, 0.95), Max: v[len(v)-1]}
}

// switches returns the rate at which schedticks grew over the samples that
// follow one with as many Ps.
func switches(run []godebug.SchedSample) float64 {
	var ticks int64
	var span time.Duration
	for i := 1; i < len(run); i++ {
		a, b := &run[i-1], &run[i]
		if len(b.Ticks) == 0 || len(a.Ticks) != len(b.Ticks) || b.At <= a.At {
			continue
		}
		for p := range b.Ticks {
			// A schedtick has 32 bits and wraps.
			ticks += int64(uint32(b.Ticks[p] - a.Ticks[p]))
		}
		span += b.At - a.At
	}
	if span <= 0 {
		return 0
	}
	return float64(ticks) / span.Seconds()
}

// waits counts the reasons of blocked goroutines.
func (d *Derived) waits(run []godebug.SchedSample) {
	const dead, idle = 6, 0
	total, most, detailed := map[string]int{}, map[string]int{}, 0
	for i := range run {
		if !run[i].Detail {
			continue
		}
		detailed++
		now, live := map[string]int{}, 0
		for j := range run[i].Gs {
			g := &run[i].Gs[j]
			if status := g.Status &^ 0x1000; status != dead && status != idle {
				live++
			}
			if g.Waiting() {
				now[g.Reason]++
			}
		}
		d.GoroutinesMax = max(d.GoroutinesMax, live)
		for reason, n := range now {
			total[reason] += n
			most[reason] = max(most[reason], n)
		}
	}
	for reason, n := range total {
		d.Waits = append(d.Waits, Wait{reason, float64(n) / float64(detailed), most[reason]})
	}
	slices.SortFunc(d.Waits, func(a, b Wait) int {
		return cmp.Or(-cmp.Compare(a.Mean, b.Mean), cmp.Compare(a.Reason, b.Reason))
	})
}
