package loadlog

import (
	"encoding/json"
	"iter"
	"math"
	"slices"
	"time"

	"loupe/value/stats"
)

// Requests that failed, that took longer than they might and that were due and
// never sent have no response time, but they are no reason to look at the others
// alone: a service that drops its slow requests would be the fastest of all. They
// count in every percentile as slower than all answers (they are censored
// observations). Of one that timed out it is known besides how long it had waited.

// Never is a time that did not come: that of a percentile that falls among the
// requests that were never answered. It is longer than all others.
const Never = time.Duration(math.MaxInt64)

// TimedOut is the text of the failure of a request that took longer than it
// might.
const TimedOut = "timeout"

// Dropped is the text of the failure of a request whose connection, which had
// carried others before, ended without a byte of an answer.
const Dropped = "the kept-alive connection was dropped without an answer"

// GivenUp is the text of what became of a request that was under way when the run
// was ended, and had waited longer by then than any answer took. It is no failure:
// nobody knows what would have come. But without it a service that hangs would
// have the times of what it answered before.
const GivenUp = "given up when the run was ended"

// TimedOut tells whether the request was given up because its time or the run was
// over, so that its answer would have taken longer than its Latency.
func (h *Header) TimedOut(r *Request) bool {
	if r.Error == 0 {
		return false
	}
	text := h.ErrorText(r.Error)
	return text == TimedOut || text == GivenUp
}

// GivenUp is how many of the unanswered requests did not fail, but were given up
// with the run.
func (s *Summary) GivenUp() int64 { return int64(s.Errors[GivenUp]) }

// observed is what is known of one time of a set of requests.
type observed struct {
	rows  iter.Seq[*Request]
	value func(*Request) time.Duration
	h     *stats.Histogram
	// beyond is how many requests are slower than all of rows, nobody knows by
	// how much.
	beyond int
}

func observe(rows iter.Seq[*Request], value func(*Request) time.Duration, beyond int) *observed {
	return &observed{rows: rows, value: value, h: Distribution(rows, value), beyond: beyond}
}

// due is how many requests there are in all.
func (s *observed) due() int { return int(s.h.Count()) + s.beyond }

// told tells whether enough requests lie beyond a percentile.
func (s *observed) told(q float64) bool {
	return q <= 0.5 || float64(s.due())*(1-q) >= Enough-1e-6
}

// at returns the values at shares of all requests, exactly; [Never] behind the
// answers, and zeros when there are no requests at all.
func (s *observed) at(q ...float64) []time.Duration {
	out := make([]time.Duration, len(q))
	if s.due() == 0 {
		return out
	}
	var ranks []uint64
	var of []int
	for i, share := range q {
		rank := stats.Rank(share, uint64(s.due()))
		if rank > s.h.Count() {
			out[i] = Never
			continue
		}
		ranks, of = append(ranks, rank), append(of, i)
	}
	for i, v := range exact(s.h, s.rows, s.value, ranks) {
		out[of[i]] = v
	}
	return out
}

// quantiles fills in all of them. least is the shortest time after which a request
// was given up, of those beyond; 0 when it is not known.
func (s *observed) quantiles(least time.Duration) Quantiles {
	var out Quantiles
	if s.due() == 0 {
		return out
	}
	var q []float64
	var to []*time.Duration
	for _, p := range out.shares() {
		if s.told(p.q) {
			q, to = append(q, p.q), append(to, p.to)
		}
	}
	for i, v := range s.at(q...) {
		*to[i] = v
	}
	out.Min, out.Mean, out.Max = Never, Never, Never
	if s.h.Count() > 0 {
		out.Min, out.MaxAnswered = time.Duration(s.h.Min()), time.Duration(s.h.Max())
		out.MeanAnswered = time.Duration(math.Round(s.h.Mean()))
	}
	if s.beyond == 0 {
		out.Mean, out.Max = out.MeanAnswered, out.MaxAnswered
		return out
	}
	out.Unanswered, out.AtLeast = s.beyond, max(out.MaxAnswered, least)
	sum := float64(s.h.Count())*float64(out.MeanAnswered) + float64(s.beyond)*float64(out.AtLeast)
	out.MeanAtLeast = time.Duration(math.Round(sum / float64(s.due())))
	return out
}

// MarshalJSON writes null for what is [Never].
func (q Quantiles) MarshalJSON() ([]byte, error) {
	type plain Quantiles // without this method
	shown := func(d time.Duration) *time.Duration {
		if d == Never {
			return nil
		}
		return &d
	}
	// A percentile that is not told is left out, one that never came is null:
	// the outer fields replace those of plain that have the same name.
	type untold = *struct{}
	out := struct {
		plain
		Min   *time.Duration `json:"min"`
		Mean  *time.Duration `json:"mean"`
		P10   any            `json:"p10,omitempty"`
		P25   any            `json:"p25,omitempty"`
		P50   *time.Duration `json:"p50"`
		P75   any            `json:"p75,omitempty"`
		P90   any            `json:"p90,omitempty"`
		P95   any            `json:"p95,omitempty"`
		P99   any            `json:"p99,omitempty"`
		P999  any            `json:"p99.9,omitempty"`
		P9999 any            `json:"p99.99,omitempty"`
		Max   *time.Duration `json:"max"`
	}{plain: plain(q), Min: shown(q.Min), Mean: shown(q.Mean), P50: shown(q.P50), Max: shown(q.Max)}
	for _, p := range []struct {
		d  time.Duration
		to *any
	}{{q.P10, &out.P10}, {q.P25, &out.P25}, {q.P75, &out.P75}, {q.P90, &out.P90}, {q.P95, &out.P95}, {q.P99, &out.P99}, {q.P999, &out.P999}, {q.P9999, &out.P9999}} {
		switch p.d {
		case 0:
		case Never:
			*p.to = untold(nil)
		default:
			*p.to = p.d
		}
	}
	return json.Marshal(out)
}

// leastWait is the shortest time after which a request was given up, as value
// has it; 0 when none was.
func (l *Log) leastWait(value func(*Request) time.Duration, of func(*Request) bool) time.Duration {
	if !slices.Contains(l.Errors, TimedOut) && !slices.Contains(l.Errors, GivenUp) {
		return 0
	}
	least := Never
	for r := range l.All() {
		if l.TimedOut(r) && (of == nil || of(r)) {
			least = min(least, value(r))
		}
	}
	if least == Never {
		return 0
	}
	return least
}
