// Package loadlog is the record of a load run: every request in columns, and
// the figures that follow from them. It is what package load writes and what
// every analysis reads; it sends nothing itself.
//
// The file format is described in docs/formats/load.md.
package loadlog

import (
	"math"
	"slices"
	"time"

	"loupe/stats"
	"loupe/timeline"
)

// Schema names the version of the format and of the JSON summary.
const Schema = "loupe.load/1"

// Header says what was asked for and what sending it cost.
type Header struct {
	Schema      string        `json:"schema"`
	Tool        string        `json:"tool,omitempty"`
	URL         string        `json:"url"`
	Method      string        `json:"method"`
	Concurrency int           `json:"concurrency"`
	Requests    int           `json:"requests,omitempty"`    // asked for; 0 when a duration was
	Duration    time.Duration `json:"duration_ns,omitempty"` // asked for
	Rate        float64       `json:"rate,omitempty"`        // requests a second asked for; 0 is as fast as it goes
	// Start is the zero of the log's own time.
	Start time.Time `json:"start"`
	// Elapsed is the wall time from Start to the end of the last request.
	Elapsed time.Duration `json:"elapsed_ns"`
	// Errors holds the texts that the column Error points into, from 1.
	Errors []string `json:"errors,omitempty"`
	// CPU is the CPU time that the generator used, GCs how often its
	// own collector ran.
	CPU time.Duration `json:"generator_cpu_ns"`
	GCs int           `json:"generator_gcs"`
	// ServedLength is the sum of the Content-Length headers, as hey counts
	// data.
	ServedLength int64 `json:"served_length"`
	// Notes are remarks for the reader: TLS not verified, requests not
	// sent.
	Notes []string `json:"notes,omitempty"`
}

// Log is a load run. The columns have one value per request, in the order in
// which the requests ended.
type Log struct {
	Header
	// Begin is when a request was to begin: in a closed loop when its
	// worker was free. Times count from Header.Start.
	Begin []timeline.Time
	// Service is the time from sending to the last byte of the answer, or
	// to the failure.
	Service []time.Duration
	// Late is how long after Begin the request was sent; nil in a closed
	// loop, where it is always 0.
	Late []time.Duration
	// Dial is the time to get a new connection, name lookup and TLS
	// included; 0 on one that was used before. DNS is the lookup's part.
	Dial, DNS []time.Duration
	// Write, Wait and Read are the parts of Service: the request was
	// written, the first byte was waited for, the rest was read.
	Write, Wait, Read []time.Duration
	// Status is that of the answer, 0 for a request without one.
	Status []uint16
	// Bytes is the length of the body as it came over the wire.
	Bytes []int64
	// Error is 0 for an answered request, else one more than the index
	// into Header.Errors.
	Error []uint16
}

// Len returns the number of requests.
func (l *Log) Len() int { return len(l.Begin) }

// Latency returns how long a request took from when it was to begin: what a
// user of the service would have seen.
func (l *Log) Latency(i int) time.Duration {
	if l.Late == nil {
		return l.Service[i]
	}
	return l.Late[i] + l.Service[i]
}

// Span returns when request i was in flight, on the log's own time.
func (l *Log) Span(i int) timeline.Span {
	begin := l.Begin[i]
	return timeline.Span{Start: begin, End: begin.Add(l.Latency(i))}
}

// Quantiles are percentiles of a time. A percentile with fewer than ten
// requests beyond it is left at zero, because it would be an accident.
type Quantiles struct {
	Min  time.Duration `json:"min"`
	Mean time.Duration `json:"mean"`
	P50  time.Duration `json:"p50"`
	P90  time.Duration `json:"p90,omitempty"`
	P95  time.Duration `json:"p95,omitempty"`
	P99  time.Duration `json:"p99,omitempty"`
	P999 time.Duration `json:"p99.9,omitempty"`
	Max  time.Duration `json:"max"`
}

// enough is the number of requests that must lie beyond a percentile.
const enough = 10

// quantiles sorts values, in ns.
func quantiles(values []float64) Quantiles {
	if len(values) == 0 {
		return Quantiles{}
	}
	slices.Sort(values)
	at := func(q float64) time.Duration {
		if q > 0.5 && float64(len(values))*(1-q) < enough-1e-9 {
			return 0
		}
		return time.Duration(math.Round(stats.Quantile(values, q)))
	}
	return Quantiles{
		Min: at(0), Mean: time.Duration(math.Round(stats.Mean(values))), P50: at(0.5),
		P90: at(0.9), P95: at(0.95), P99: at(0.99), P999: at(0.999), Max: time.Duration(values[len(values)-1]),
	}
}

// Generator says what sending the load cost, and whether that may have
// distorted what was measured.
type Generator struct {
	CPUSeconds float64       `json:"cpu_s"`
	LagP99     time.Duration `json:"lag_p99_ns"`
	GCs        int           `json:"gcs"`
}

// Summary holds the figures of a load run.
type Summary struct {
	Schema   string  `json:"schema"`
	URL      string  `json:"url"`
	Requests int     `json:"requests"`
	Seconds  float64 `json:"seconds"`
	// RPS counts answered requests, whatever their status.
	RPS       float64 `json:"rps"`
	Responses int     `json:"responses"`
	// Latency and Service are those of answered requests.
	Latency   Quantiles      `json:"latency_ns"`
	Service   Quantiles      `json:"service_ns"`
	Status    map[int]int    `json:"status"`
	Errors    map[string]int `json:"errors"`
	Bytes     int64          `json:"bytes"`
	Generator Generator      `json:"generator"`
	Notes     []string       `json:"notes,omitempty"`
}

// Summary computes the figures.
func (l *Log) Summary() *Summary {
	s := &Summary{
		Schema: Schema, URL: l.URL, Requests: l.Len(), Seconds: l.Elapsed.Seconds(),
		Status: map[int]int{}, Errors: map[string]int{},
		Generator: Generator{CPUSeconds: l.CPU.Seconds(), GCs: l.GCs}, Notes: l.Notes,
	}
	var latency, service, lag []float64
	for i := range l.Begin {
		if l.Late != nil {
			lag = append(lag, float64(l.Late[i]))
		}
		s.Bytes += l.Bytes[i]
		if e := l.Error[i]; e != 0 {
			s.Errors[l.ErrorText(e)]++
			continue
		}
		s.Responses++
		s.Status[int(l.Status[i])]++
		latency = append(latency, float64(l.Latency(i)))
		service = append(service, float64(l.Service[i]))
	}
	s.Latency, s.Service = quantiles(latency), quantiles(service)
	if len(lag) > 0 {
		s.Generator.LagP99 = quantiles(lag).P99
	}
	if s.Seconds > 0 {
		s.RPS = float64(s.Responses) / s.Seconds
	}
	return s
}

// ErrorText returns the text behind a value of the column Error.
func (l *Log) ErrorText(e uint16) string {
	if e == 0 || int(e) > len(l.Errors) {
		return "unknown error"
	}
	return l.Errors[e-1]
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
