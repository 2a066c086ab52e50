package sched

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"loupe/format/exectrace"
)

// Delta is one row of two traces laid side by side. Times are per second of
// trace, so that traces of different length can be compared; quantiles are as
// they are.
type Delta struct {
	Name           string
	CountA, CountB float64 // per second
	A, B           Figure
}

// Figure is what one trace has of a row.
type Figure struct {
	There    bool
	Time     time.Duration // per second of trace
	P50, P99 time.Duration // of single times
}

// Comparison is two traces laid side by side.
type Comparison struct {
	A, B *Analysis
	// Functions are the times that goroutines ran, by the function that they
	// began with; Waits their waits for a P. Reasons are the waits by reason,
	// Regions and Tasks the user's. Longest change first.
	Functions, Waits, Reasons, Regions, Tasks []Delta
}

// Compare lays two analyses side by side. Two single traces have no spread, so
// that nothing is said of chance: compare recordings for that.
func Compare(a, b *Analysis) *Comparison {
	c := &Comparison{A: a, B: b}
	c.Functions = pair(a, b, func(x *Analysis, add func(string, int64, time.Duration, *Histogram)) {
		for _, g := range x.Groups {
			add(x.Reader.Name(g.Name), g.Count, g.Exec, &g.Run)
		}
	})
	c.Waits = pair(a, b, func(x *Analysis, add func(string, int64, time.Duration, *Histogram)) {
		for _, g := range x.Groups {
			add(x.Reader.Name(g.Name), g.Wait.Count, g.SchedWait, &g.Wait)
		}
	})
	c.Reasons = pair(a, b, func(x *Analysis, add func(string, int64, time.Duration, *Histogram)) {
		for _, k := range x.Blocks {
			name := x.Reader.WaitReason(k.Reason, k.Stack)
			if k.State != exectrace.Waiting {
				name = strings.ToLower(k.State.String())
			} else if name == "" {
				name = "waiting"
			}
			add(name, k.Wait.Count, k.Wait.Sum, &k.Wait)
		}
	})
	c.Regions = pair(a, b, func(x *Analysis, add func(string, int64, time.Duration, *Histogram)) {
		for _, g := range x.Regions {
			add(x.Reader.Name(g.Name), g.Count, g.Total, &g.Time)
		}
	})
	c.Tasks = pair(a, b, func(x *Analysis, add func(string, int64, time.Duration, *Histogram)) {
		for _, g := range x.Tasks {
			add(x.Reader.Name(g.Name), g.Count, g.Latency.Sum, &g.Latency)
		}
	})
	return c
}

// sums collects the rows of one trace by name.
type sums struct {
	count int64
	time  time.Duration
	each  Histogram
}

// pair sums up the rows of both traces by name and puts them side by side.
func pair(a, b *Analysis, rows func(*Analysis, func(string, int64, time.Duration, *Histogram))) []Delta {
	collect := func(x *Analysis) map[string]*sums {
		m := map[string]*sums{}
		rows(x, func(name string, n int64, d time.Duration, h *Histogram) {
			s := m[name]
			if s == nil {
				s = &sums{}
				m[name] = s
			}
			s.count += n
			s.time += d
			s.each.merge(h)
		})
		return m
	}
	as, bs := collect(a), collect(b)
	secondsA, secondsB := max(a.Covers.Len().Seconds(), 1e-9), max(b.Covers.Len().Seconds(), 1e-9)
	var out []Delta
	for name, s := range as {
		d := Delta{Name: name, CountA: float64(s.count) / secondsA, A: s.figure(secondsA)}
		if t := bs[name]; t != nil {
			d.CountB, d.B = float64(t.count)/secondsB, t.figure(secondsB)
		}
		out = append(out, d)
	}
	for name, s := range bs {
		if as[name] == nil {
			out = append(out, Delta{Name: name, CountB: float64(s.count) / secondsB, B: s.figure(secondsB)})
		}
	}
	slices.SortFunc(out, func(x, y Delta) int {
		return cmp.Or(cmp.Compare((y.B.Time-y.A.Time).Abs(), (x.B.Time-x.A.Time).Abs()), cmp.Compare(x.Name, y.Name))
	})
	return out
}

func (s *sums) figure(seconds float64) Figure {
	return Figure{There: true, Time: time.Duration(float64(s.time) / seconds), P50: s.each.Quantile(0.5), P99: s.each.Quantile(0.99)}
}

// merge adds what other has counted.
func (h *Histogram) merge(other *Histogram) {
	h.Count += other.Count
	h.Sum += other.Sum
	h.Max = max(h.Max, other.Max)
	for i, n := range other.class {
		h.class[i] += n
	}
}
