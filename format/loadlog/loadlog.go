// Package loadlog is the record of a load run: every request with its parts,
// every connection, and the figures that follow from them. It is what package
// load writes and what every analysis reads; it sends nothing itself.
//
// A run of ten million requests has to fit, so that requests are kept as rows
// of varints, some ten bytes each, and are handed out one after the other
// ([Log.All]) rather than as a slice. The file format, which is the same rows,
// is described in docs/formats/load.md.
package loadlog

import (
	"fmt"
	"io"
	"iter"
	"time"

	"loupe/value/timeline"
)

// Schema names the version of the JSON summary.
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
	Rate        float64       `json:"rate,omitempty"`        // requests a second asked for, the highest of all stages; 0 is as fast as it goes
	// Model says in words how requests were timed: "closed loop, 50
	// connections", "1000/s, Poisson arrivals".
	Model string `json:"model,omitempty"`
	// Open tells that requests had a schedule, so that Begin is when a
	// request was due and not when a connection was free.
	Open bool `json:"open,omitempty"`
	// Foreign names another generator than loupe whose results these are, [Hey] or
	// [Vegeta]. Then nobody knows whether requests had a schedule, what sending cost,
	// and which connections there were.
	Foreign string `json:"foreign,omitempty"`
	// Engine is what sent: "epoll", "net", "http2".
	Engine string `json:"engine,omitempty"`
	// Targets are the requests that were sent, where there are several or
	// the only one is a template; Request.Target points into it.
	Targets []Target `json:"targets,omitempty"`
	// Start is the zero of the log's own time. Warmup is how much before it
	// was sent and not kept.
	Start  time.Time     `json:"start"`
	Warmup time.Duration `json:"warmup_ns,omitempty"`
	// Elapsed is the wall time from Start to the end of the last request.
	Elapsed time.Duration `json:"elapsed_ns"`
	// Errors holds the texts that Request.Error points into, from 1.
	Errors []string `json:"errors,omitempty"`
	// Unsent is how many requests were due within the run and never sent,
	// because all connections were busy until its end.
	Unsent int64 `json:"unsent,omitempty"`
	// UnderWay is how many requests were sent, not answered when the run was
	// ended, and had waited no longer than the slowest answer took: they are left
	// out. Those that had waited longer are requests that were given up.
	UnderWay int64 `json:"under_way,omitempty"`
	// Retry is how often a request was to be sent again whose connection was
	// dropped without an answer, Resent how often requests were.
	Retry  int   `json:"retry,omitempty"`
	Resent int64 `json:"resent,omitempty"`
	// Closing is how many answers said that their connection was to be closed, by a
	// Connection header, by their version, or by a body without a length; nil where nobody knows.
	Closing *int64 `json:"closing_answers,omitempty"`
	// Likeness is how alike the answers were, for each target of which some were compared.
	Likeness []Likeness `json:"likeness,omitempty"`
	// ServiceCPU is the CPU time that the process which answered used from the first
	// request to the last; 0 where that is not known.
	ServiceCPU time.Duration `json:"service_cpu_ns,omitempty"`
	// CPU is the CPU time that the generator used, GCs how often its
	// own collector ran, Threads how many threads send; Busy is the share of
	// the time that the busiest of them did not wait, 0 when unknown.
	CPU     time.Duration `json:"generator_cpu_ns"`
	GCs     int           `json:"generator_gcs"`
	Threads int           `json:"generator_threads,omitempty"`
	Busy    float64       `json:"generator_busy,omitempty"`
	// RunDelay is for how long the threads that send could have run and had no CPU
	// (Linux: /proc/PID/task/*/schedstat): that of the worst of them with the
	// engine epoll, and else the sum of all; nil where nobody knows.
	RunDelay *time.Duration `json:"generator_run_delay_ns,omitempty"`
	// ServedLength is the sum of the Content-Length headers, as hey counts
	// data.
	ServedLength int64 `json:"served_length"`
	// Monotonic is the system's monotonic clock at Start, in ns, and BootID
	// which start of the machine (Linux: /proc/sys/kernel/random/boot_id)
	// and time namespace it belongs to. Execution traces on Linux have the
	// same clock, so that a trace of the same boot needs no other join.
	Monotonic int64  `json:"monotonic_ns,omitempty"`
	BootID    string `json:"boot_id,omitempty"`
	// Wanted are the conditions that the run was to meet, as
	// [ParseConditions] reads them.
	Wanted string `json:"wanted,omitempty"`
	// Notes are remarks for the reader: TLS not verified, requests not
	// sent.
	Notes []string `json:"notes,omitempty"`
}

// Target is one kind of request of a run.
type Target struct {
	Method string `json:"method"`
	URL    string `json:"url"`
	// Weight is its part of the requests, in comparison with the others.
	Weight int `json:"weight,omitempty"`
}

// Request is one request. Instants count from Header.Start.
type Request struct {
	// Begin is when the request was to be sent: when it was due in an open
	// loop, when its connection was free in a closed one.
	Begin timeline.Time
	// Late is how long after Begin it was sent; 0 in a closed loop.
	Late time.Duration
	// Service is the time from sending to the last byte of the answer, or
	// to the failure.
	Service time.Duration
	// Dial is the part of Service that went into a new connection, lookup
	// and TLS included; 0 on a connection that was there before. DNS and
	// TLS are parts of Dial.
	Dial, DNS, TLS time.Duration
	// Write, Wait and Read are the rest of Service: the request was
	// written, the first byte was waited for, the rest was read.
	Write, Wait, Read time.Duration
	// Conn is the connection that answered; see [Connection.ID].
	Conn uint32
	// Target is an index into Header.Targets.
	Target uint16
	// Status is that of the last answer, 0 for a request without one.
	Status uint16
	// Error is 0 for an answered request, else one more than the index
	// into Header.Errors.
	Error uint16
	// Hops is how many redirects were followed within Service.
	Hops uint8
	// Bytes is the length of the body as it came over the wire.
	Bytes int64
}

// Latency returns how long the request took from when it was to begin: what a
// user of the service would have seen.
func (r *Request) Latency() time.Duration { return r.Late + r.Service }

// Sent returns when the request was sent.
func (r *Request) Sent() timeline.Time { return r.Begin.Add(r.Late) }

// End returns when the last byte was there, or the request had failed.
func (r *Request) End() timeline.Time { return r.Begin.Add(r.Late + r.Service) }

// Span returns when the request was in flight or due, on the log's own time.
func (r *Request) Span() timeline.Span { return timeline.Span{Start: r.Begin, End: r.End()} }

// Closing says why a connection ended.
type Closing uint8

// The reasons.
const (
	AtEnd     Closing = iota // the run was over
	ByServer                 // the answer said so, or the server hung up
	ByRequest                // without keep-alive
	ByFailure                // a request on it failed or took too long
)

// String returns the reason in words.
func (c Closing) String() string {
	switch c {
	case ByServer:
		return "by the server"
	case ByRequest:
		return "after each request"
	case ByFailure:
		return "after a failure"
	}
	return "at the end"
}

// Connection is one connection to the target. Those that were opened before
// Start, so that no request had to wait for them, have a negative Opened.
type Connection struct {
	ID     uint32
	Opened timeline.Time // when dialling began
	// Dial is the time until it could be used; DNS and TLS are parts of it.
	Dial, DNS, TLS time.Duration
	LocalPort      uint16
	Requests       uint32
	Closed         timeline.Time
	Why            Closing
}

// Log is a load run: a [Builder] or [Decode] makes it. It is read-only, and
// goroutines may share it.
type Log struct {
	Header
	// Connections are all that were made, in order of their IDs.
	Connections []Connection

	streams [][]chunk
	n       int
	// until is where a damaged log ends: behind it requests of some streams
	// are missing. 0 is everything.
	until timeline.Time
	// spilled holds the chunks that did not fit into memory.
	spilled io.ReaderAt
}

// chunk is a run of rows of one stream.
type chunk struct {
	rows int
	data []byte // nil when spilled
	at   int64  // in the spill file
	size int
}

// Len returns the number of requests.
func (l *Log) Len() int { return l.n }

// Size returns how many bytes the rows take.
func (l *Log) Size() (bytes int64) {
	for _, s := range l.streams {
		for _, c := range s {
			bytes += int64(c.size)
		}
	}
	return bytes
}

// All returns the requests in the order in which they ended. The request that
// is handed out is overwritten by the next one. Rows that were spilled to a
// file that cannot be read any more are left out.
func (l *Log) All() iter.Seq[*Request] {
	return func(yield func(*Request) bool) {
		readers := make([]*rowReader, 0, len(l.streams))
		for _, s := range l.streams {
			if r := l.reader(s); r.next() {
				readers = append(readers, r)
			}
		}
		for len(readers) > 0 {
			first := 0
			for i := 1; i < len(readers); i++ {
				if readers[i].end < readers[first].end {
					first = i
				}
			}
			r := readers[first]
			if l.until > 0 && r.end > l.until {
				return
			}
			if !yield(&r.row) {
				return
			}
			if !r.next() {
				readers = append(readers[:first], readers[first+1:]...)
			}
		}
	}
}

// Answered is [Log.All] without the requests that failed.
func (l *Log) Answered() iter.Seq[*Request] {
	return func(yield func(*Request) bool) {
		for r := range l.All() {
			if r.Error == 0 && !yield(r) {
				return
			}
		}
	}
}

// ErrorText returns the text behind a value of Request.Error.
func (h *Header) ErrorText(e uint16) string {
	if e == 0 || int(e) > len(h.Errors) {
		return "unknown error"
	}
	return h.Errors[e-1]
}

// TargetOf returns the target of a request.
func (h *Header) TargetOf(r *Request) Target {
	if int(r.Target) < len(h.Targets) {
		return h.Targets[r.Target]
	}
	return Target{Method: h.Method, URL: h.URL}
}

// String returns the method and the URL.
func (t Target) String() string { return fmt.Sprintf("%s %s", t.Method, t.URL) }
