package report

import (
	"io"
	"time"

	"loupe/format/loadlog"
)

// loadJSON is the machine's form of a load run: the summary, which keeps its
// names (schema loupe.load/1), and what a picture of it needs.
type loadJSON struct {
	*loadlog.Summary
	Header loadHeaderJSON `json:"run"`
	// Histogram counts response times in buckets at most 0.8 % wide, Never the
	// requests that have none.
	Never     int64           `json:"never_answered"`
	Histogram []bucketJSON    `json:"histogram"`
	OverTime  []loadSliceJSON `json:"over_time"`
}

// loadHeaderJSON is what was asked for.
type loadHeaderJSON struct {
	Method      string    `json:"method"`
	Concurrency int       `json:"concurrency"`
	Requests    int       `json:"requests,omitempty"`
	Duration    int64     `json:"duration_ns,omitempty"`
	Rate        float64   `json:"rate,omitempty"`
	Open        bool      `json:"open"`
	Start       time.Time `json:"start"`
	Warmup      int64     `json:"warmup_ns,omitempty"`
}

type bucketJSON struct {
	Low   int64  `json:"low_ns"` // half-open
	High  int64  `json:"high_ns"`
	Count uint64 `json:"count"`
}

type loadSliceJSON struct {
	Start   int64   `json:"start_ns"`
	End     int64   `json:"end_ns"`
	RPS     float64 `json:"rps"`
	P50     *int64  `json:"p50_ns"` // null: never answered, as half of them were not
	P99     any     `json:"p99_ns,omitempty"`
	Max     *int64  `json:"max_ns"`
	Failed  int     `json:"failed,omitempty"`
	LateMax int64   `json:"late_max_ns,omitempty"`
}

// slicesJSON is how many stretches of time a run is cut into, from a second
// each.
const slicesJSON = 600

// WriteLoadJSON prints the summary of a load run with its histogram and how it
// went over time.
func WriteLoadJSON(w io.Writer, l *loadlog.Log) error {
	out := loadJSON{Summary: l.Summary(), Histogram: []bucketJSON{}, OverTime: []loadSliceJSON{}, Header: loadHeaderJSON{
		Method: l.Method, Concurrency: l.Concurrency, Requests: l.Requests, Duration: int64(l.Duration), Rate: l.Rate,
		Open: l.Open, Start: l.Start, Warmup: int64(l.Warmup),
	}}
	out.Never = out.Unanswered()
	for r, n := range loadlog.Distribution(l.Answered(), (*loadlog.Request).Latency).Buckets {
		out.Histogram = append(out.Histogram, bucketJSON{r.Low, r.High, n})
	}
	slices := l.Slices(max(time.Second, l.Elapsed/slicesJSON))
	for i := range slices {
		s := &slices[i]
		j := loadSliceJSON{
			Start: int64(s.Span.Start), End: int64(s.Span.End), RPS: s.Rate(), P50: answeredIn(s.Quantile(0.5)), Max: answeredIn(s.Quantile(1)),
			Failed: s.Failed, LateMax: int64(s.Late),
		}
		if s.Ended() >= 100*loadlog.Enough {
			j.P99 = answeredIn(s.Quantile(0.99))
		}
		out.OverTime = append(out.OverTime, j)
	}
	return WriteJSON(w, out)
}

// answeredIn is a time of a slice, null where it never came.
func answeredIn(d time.Duration) *int64 {
	if d == loadlog.Never {
		return nil
	}
	ns := int64(d)
	return &ns
}
