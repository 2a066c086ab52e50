package loadlog

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"loupe/value/stats"
	"loupe/value/unit"
)

// Quantiles are percentiles of a time, over all requests that were due. One that
// falls among those that were never answered is [Never] (null in JSON). A
// percentile with fewer than ten requests beyond it is left at zero, because it
// would be an accident.
type Quantiles struct {
	Min   time.Duration `json:"min"`
	Mean  time.Duration `json:"mean"`
	P10   time.Duration `json:"p10,omitempty"`
	P25   time.Duration `json:"p25,omitempty"`
	P50   time.Duration `json:"p50"`
	P75   time.Duration `json:"p75,omitempty"`
	P90   time.Duration `json:"p90,omitempty"`
	P95   time.Duration `json:"p95,omitempty"`
	P99   time.Duration `json:"p99,omitempty"`
	P999  time.Duration `json:"p99.9,omitempty"`
	P9999 time.Duration `json:"p99.99,omitempty"`
	Max   time.Duration `json:"max"`
	// Unanswered is how many of the requests were never answered. Then there is
	// no mean and no slowest; AtLeast is what is known of a time that is Never,
	// MeanAtLeast what is known of the mean.
	Unanswered  int           `json:"unanswered,omitempty"`
	AtLeast     time.Duration `json:"at_least,omitempty"`
	MeanAtLeast time.Duration `json:"mean_at_least,omitempty"`
	// MeanAnswered and MaxAnswered are those of the answered requests alone.
	MeanAnswered time.Duration `json:"mean_answered"`
	MaxAnswered  time.Duration `json:"max_answered"`
}

// Enough is the number of requests that must lie beyond a percentile for it to
// be told.
const Enough = 10

// Distribution counts what value gives for the requests.
func Distribution(rows iter.Seq[*Request], value func(*Request) time.Duration) *stats.Histogram {
	h := new(stats.Histogram)
	for r := range rows {
		h.Add(int64(value(r)))
	}
	return h
}

// exact returns the values of ranks, counted from 1, of what value gives for the
// requests of rows, without keeping all of them: h, which has counted them, says
// in which few buckets the answers lie, and only those values are sorted.
func exact(h *stats.Histogram, rows iter.Seq[*Request], value func(*Request) time.Duration, ranks []uint64) []time.Duration {
	out := make([]time.Duration, len(ranks))
	if len(ranks) == 0 {
		return out
	}
	type wanted struct {
		stats.Range
		below  uint64
		values []int64
	}
	var buckets []*wanted
	in := make([]*wanted, len(ranks))
	for i, rank := range ranks {
		r, below := h.Bucket(rank)
		at := slices.IndexFunc(buckets, func(w *wanted) bool { return w.Range == r })
		if at < 0 {
			at = len(buckets)
			buckets = append(buckets, &wanted{Range: r, below: below})
		}
		in[i] = buckets[at]
	}
	for r := range rows {
		v := int64(value(r))
		for _, w := range buckets {
			if v >= w.Low && v < w.High {
				w.values = append(w.values, v)
			}
		}
	}
	for _, w := range buckets {
		slices.Sort(w.values)
	}
	for i, w := range in {
		if at := ranks[i] - 1 - w.below; at < uint64(len(w.values)) {
			out[i] = time.Duration(w.values[at])
		}
	}
	return out
}

// shares are the percentiles of [Quantiles], where they are kept, and the
// median.
func (q *Quantiles) shares() []struct {
	q  float64
	to *time.Duration
} {
	return []struct {
		q  float64
		to *time.Duration
	}{{0.1, &q.P10}, {0.25, &q.P25}, {0.5, &q.P50}, {0.75, &q.P75}, {0.9, &q.P90}, {0.95, &q.P95}, {0.99, &q.P99}, {0.999, &q.P999}, {0.9999, &q.P9999}}
}

// Generator says what sending the load cost, and whether that may have
// distorted what was measured.
type Generator struct {
	CPUSeconds float64       `json:"cpu_s"`
	LagP50     time.Duration `json:"lag_p50_ns"`
	LagP99     time.Duration `json:"lag_p99_ns"`
	LagMax     time.Duration `json:"lag_max_ns"`
	GCs        int           `json:"gcs"`
	// Busy is the share of the time that the busiest thread that sends did
	// not wait; 0 when unknown.
	Busy float64 `json:"busy,omitempty"`
	// RunDelay is for how long what sends could have run and had no CPU, which
	// is part of the times; nil where the system does not tell.
	RunDelay *time.Duration `json:"run_delay_ns,omitempty"`
	// Limited says why the figures are a lower bound of what the service
	// can do, and its times an upper one; empty when they are not.
	Limited string `json:"limited,omitempty"`
	// Starved says why the times are an upper bound, although the rate is
	// true: the generator waited for a CPU. Empty when it did not, or nobody
	// knows.
	Starved string `json:"starved,omitempty"`
}

// Summary holds the figures of a load run.
type Summary struct {
	Schema   string  `json:"schema"`
	URL      string  `json:"url"`
	Model    string  `json:"model,omitempty"`
	Engine   string  `json:"engine,omitempty"`
	Foreign  string  `json:"foreign,omitempty"` // as in [Header]
	Requests int     `json:"requests"`
	Seconds  float64 `json:"seconds"`
	// ServiceCPU is as in [Header].
	ServiceCPU time.Duration `json:"service_cpu_ns,omitempty"`
	// RPS counts answered requests, whatever their status.
	RPS       float64 `json:"rps"`
	Responses int     `json:"responses"`
	// Latency is since the requests were due, of all that were; Service since
	// they were sent, of all that were sent. In a closed loop both are the same.
	Latency Quantiles `json:"latency_ns"`
	Service Quantiles `json:"service_ns"`
	// Failed is how long failed requests took until they failed, which is not
	// how long their answers would have taken.
	Failed *Quantiles  `json:"failed_ns,omitempty"`
	Status map[int]int `json:"status"`
	// Refused is how many answers had a status of 400 or above of which it is not
	// known which.
	Refused int            `json:"refused,omitempty"`
	Errors  map[string]int `json:"errors"`
	Bytes   int64          `json:"bytes"`
	// Late is how many requests were sent more than a millisecond after
	// they were due, Unsent how many never.
	Late   int   `json:"late,omitempty"`
	Unsent int64 `json:"unsent,omitempty"`
	// UnderWay is how many requests were left out because the run was ended
	// while they were waited for, no longer than for others that were answered.
	UnderWay int64 `json:"under_way,omitempty"`
	// Resent is how often requests were sent again, because that was asked for;
	// each was more work for the service, and counts in Requests once.
	Resent      int64           `json:"resent,omitempty"`
	Connections ConnectionFacts `json:"connections"`
	Targets     []TargetFacts   `json:"targets,omitempty"`
	Generator   Generator       `json:"generator"`
	// Conditions are what the run says to those of Header.Wanted.
	Conditions []Judgement `json:"conditions,omitempty"`
	Notes      []string    `json:"notes,omitempty"`
}

// ConnectionFacts sums up the connections of a run.
type ConnectionFacts struct {
	Opened int `json:"opened"`
	// During is how many of them were opened after the start.
	During int           `json:"during"`
	Dial   time.Duration `json:"dial_p50_ns,omitempty"`
	Max    time.Duration `json:"dial_max_ns,omitempty"`
	DNS    time.Duration `json:"dns_p50_ns,omitempty"`
	TLS    time.Duration `json:"tls_p50_ns,omitempty"`
}

// TargetFacts are the figures of one target of several.
type TargetFacts struct {
	Target
	Responses int         `json:"responses"`
	Failed    int         `json:"failed,omitempty"`
	Latency   Quantiles   `json:"latency_ns"`
	Status    map[int]int `json:"status"`
}

// lateFrom is the lag from which a request counts as late.
const lateFrom = time.Millisecond

// Summary computes the figures.
func (l *Log) Summary() *Summary {
	s := &Summary{
		Schema: Schema, URL: l.URL, Model: l.Model, Engine: l.Engine, Foreign: l.Foreign, Requests: l.Len(), Seconds: l.Elapsed.Seconds(),
		Status: map[int]int{}, Errors: map[string]int{}, Unsent: l.Unsent, UnderWay: l.UnderWay, Resent: l.Resent, Notes: l.Notes,
		ServiceCPU: l.ServiceCPU,
		Generator:  Generator{CPUSeconds: l.CPU.Seconds(), GCs: l.GCs, Busy: l.Busy, RunDelay: l.RunDelay},
	}
	failed := 0
	for r := range l.All() {
		s.Bytes += r.Bytes
		if r.Late > lateFrom {
			s.Late++
		}
		if r.Error != 0 {
			s.Errors[l.ErrorText(r.Error)]++
			failed++
			continue
		}
		s.Responses++
		s.Status[int(r.Status)]++
	}
	s.Service = observe(l.Answered(), service, failed).quantiles(l.leastWait(service, nil))
	s.Latency = s.Service
	if l.Open || l.Unsent > 0 {
		s.Latency = observe(l.Answered(), (*Request).Latency, failed+int(l.Unsent)).quantiles(l.leastWait((*Request).Latency, nil))
		// These are of what the generator did, and no estimate: a 99th percentile
		// of few requests is told too.
		lag := observe(l.All(), func(r *Request) time.Duration { return r.Late }, 0).at(0.5, 0.99, 1)
		s.Generator.LagP50, s.Generator.LagP99, s.Generator.LagMax = lag[0], lag[1], lag[2]
	}
	if failed > 0 {
		q := observe(where(l, func(r *Request) bool { return r.Error != 0 }), (*Request).Latency, 0).quantiles(0)
		s.Failed = &q
	}
	if s.Seconds > 0 {
		s.RPS = float64(s.Responses) / s.Seconds
	}
	s.Connections = factsOf(l.Connections)
	for i := range l.Targets {
		if len(l.Targets) > 1 {
			s.Targets = append(s.Targets, l.targetFacts(i))
		}
	}
	s.Generator.Limited, s.Generator.Starved = limits(l, s)
	if l.Wanted != "" {
		wanted, _ := ParseConditions(l.Wanted) // what cannot be read is not judged
		for _, c := range wanted {
			s.Conditions = append(s.Conditions, c.Judge(l, s))
		}
	}
	return s
}

func service(r *Request) time.Duration { return r.Service }

// Due is how many requests should have been answered: those that were sent, and
// those that never were.
func (s *Summary) Due() int64 { return int64(s.Requests) + s.Unsent }

// Unanswered is how many of them were not: they failed, were given
// up or were never sent.
func (s *Summary) Unanswered() int64 { return s.Due() - int64(s.Responses) }

// BadStatus is how many answers had a status of 400 or above.
func (s *Summary) BadStatus() int {
	n := s.Refused
	for status, count := range s.Status {
		if status >= 400 {
			n += count
		}
	}
	return n
}

// where are the requests that keep lets through.
func where(l *Log, keep func(*Request) bool) iter.Seq[*Request] {
	return func(yield func(*Request) bool) {
		for r := range l.All() {
			if keep(r) && !yield(r) {
				return
			}
		}
	}
}

func (l *Log) targetFacts(i int) TargetFacts {
	f := TargetFacts{Target: l.Targets[i], Status: map[int]int{}}
	of := func(r *Request) bool { return int(r.Target) == i }
	for r := range where(l, of) {
		if r.Error != 0 {
			f.Failed++
			continue
		}
		f.Responses++
		f.Status[int(r.Status)]++
	}
	answered := where(l, func(r *Request) bool { return r.Error == 0 && of(r) })
	f.Latency = observe(answered, (*Request).Latency, f.Failed).quantiles(l.leastWait((*Request).Latency, of))
	return f
}

// factsOf sums connections up.
func factsOf(list []Connection) ConnectionFacts {
	f := ConnectionFacts{Opened: len(list)}
	var dial, dns, tls stats.Histogram
	for _, c := range list {
		if c.Opened >= 0 {
			f.During++
		}
		dial.Add(int64(c.Dial))
		dns.Add(int64(c.DNS))
		tls.Add(int64(c.TLS))
	}
	f.Dial, f.Max = time.Duration(dial.Quantile(0.5)), time.Duration(dial.Max())
	f.DNS, f.TLS = time.Duration(dns.Quantile(0.5)), time.Duration(tls.Quantile(0.5))
	return f
}

// The generator is the limit when a thread that sends has hardly any time left,
// or when requests are sent so late that it shows in their times (section 6 of
// the research on load: 80 % busy, a tenth of the median). In an open loop a
// busy thread is late; in a closed one nothing else tells. A thread without a CPU
// looks busy to itself; how long it waited for one the system tells.
const (
	busyLimit = 0.8
	lagLimit  = 0.1
	// starvedLimit is the share of the time without a CPU from which on times
	// have to be doubted.
	starvedLimit = 0.1
	// keptRate is the share of what was asked for that was answered in time, from
	// which on the rate was kept.
	keptRate = 0.95
)

// limits says whether the generator was the limit, and whether it lacked a CPU.
func limits(l *Log, s *Summary) (limited, starved string) {
	g := &s.Generator
	// Of several threads that cannot be told apart the sum is known.
	delay := 0.0
	if g.RunDelay != nil && l.Elapsed > 0 {
		delay = g.RunDelay.Seconds() / l.Elapsed.Seconds()
		if l.Engine != "epoll" {
			delay /= float64(max(1, l.Threads))
		}
	}
	if delay >= starvedLimit {
		who, whose := "the sender waited", "it"
		if l.Engine != "epoll" && l.Threads > 1 {
			who, whose = "the sender's threads together waited", "they"
		}
		starved = fmt.Sprintf("%s %s for a CPU in %s, in which %s used %s of CPU time", who, unit.Duration(*g.RunDelay), unit.Duration(l.Elapsed), whose, unit.Duration(l.CPU))
	}
	lagging := l.Open && g.LagP50 > 0 && float64(g.LagP50) > lagLimit*float64(min(s.Service.P50, max(s.Service.MaxAnswered, 1)))
	switch {
	case l.Open && onTime(l, s):
		if lagging && starved == "" && g.Busy >= busyLimit {
			starved = "requests were sent late because the sending thread was busy"
		}
		return "", starved
	case l.Open && !lagging, g.Busy+delay < busyLimit:
		return "", starved
	case starved != "" && delay > g.Busy:
		return starved, ""
	case l.Open:
		return "requests were sent late because the sending thread was busy", ""
	}
	return "the sending thread was busy nearly all of the time", ""
}

// onTime tells whether all that an open loop was to send was answered in about the
// time in which it was due: then the generator was no limit of the rate.
func onTime(l *Log, s *Summary) bool {
	return s.Due() > 0 && float64(s.Responses) >= keptRate*float64(s.Due()) &&
		(l.Duration == 0 && l.Rate == 0 || l.Duration > 0 && float64(l.Duration) >= keptRate*float64(l.Elapsed) || l.Rate > 0 && l.Duration == 0 && s.RPS >= keptRate*l.Rate)
}

// CommonError returns the text of the most frequent error, empty when there
// was none.
func (s *Summary) CommonError() string {
	best, most := "", 0
	for text, n := range s.Errors {
		if n > most || n == most && text < best {
			best, most = text, n
		}
	}
	return best
}
