// Package overlap says what requests met: it lays the requests of a load run
// over what happened in the program on the same clock — collections, pauses,
// waits for a P or a lock — and compares the slowest of them with all.
//
// A request that takes long meets more of everything, and what goes on half of
// the time is met by half of the requests. So the share that met something is
// told beside the share to be expected by chance, which comes from moving the
// requests along the time axis against everything else (shift.go).
//
// The package is given requests and intervals and reads no recording; trace.go
// takes the intervals out of an execution trace. docs/statistics.md has the
// reasons and what was measured.
package overlap

import (
	"cmp"
	"math"
	"slices"
	"time"

	"loupe/format/loadlog"
	"loupe/value/stats"
	"loupe/value/timeline"
)

// Requests are the requests of a run in columns, on the clock of what they are
// to be laid over.
type Requests struct {
	// Start is when each was to begin: when it was due in an open loop, when
	// it was sent in a closed one. End is when the last byte was there.
	Start, End []timeline.Time
	// Conn is the connection of each.
	Conn []uint32
	// Late and Dial are the parts of each that it waited to be sent, and for
	// a new connection.
	Late, Dial []time.Duration
	// Due tells that Start is when requests were due.
	Due bool
}

// maxRequests bounds the requests that are laid over anything: 100 MB.
const maxRequests = 2_000_000

// Of takes the requests of a log that were answered or timed out, which are the
// slowest of all and met something until they were given up; of more than two million every second,
// third or so on; at maps the log's own time onto the clock of what they are laid
// over.
func Of(l *loadlog.Log, at timeline.Clock) *Requests {
	every := (l.Len() + maxRequests - 1) / maxRequests
	n := l.Len() / max(1, every)
	r := &Requests{
		Start: make([]timeline.Time, 0, n), End: make([]timeline.Time, 0, n), Conn: make([]uint32, 0, n),
		Late: make([]time.Duration, 0, n), Dial: make([]time.Duration, 0, n), Due: l.Open,
	}
	i := 0
	for q := range l.All() {
		if q.Error != 0 && !l.TimedOut(q) {
			continue // how long it would have taken is not known at all
		}
		if i++; i%every != 0 {
			continue
		}
		r.Start, r.End = append(r.Start, at.At(int64(q.Begin))), append(r.End, at.At(int64(q.End())))
		r.Conn = append(r.Conn, q.Conn)
		r.Late, r.Dial = append(r.Late, q.Late), append(r.Dial, q.Dial)
	}
	return r
}

// within keeps the requests that lie in the window as a whole: what the others
// met is not known. It returns how many it left out.
func (r *Requests) within(w timeline.Span) (kept *Requests, cut int) {
	in := func(i int) bool { return r.Start[i] >= w.Start && r.End[i] <= w.End }
	n := 0
	for i := range r.Start {
		switch {
		case in(i):
			n++
		case r.End[i] > w.Start && r.Start[i] < w.End:
			cut++
		}
	}
	if n == len(r.Start) {
		return r, cut
	}
	kept = &Requests{
		Start: make([]timeline.Time, 0, n), End: make([]timeline.Time, 0, n), Conn: make([]uint32, 0, n),
		Late: make([]time.Duration, 0, n), Dial: make([]time.Duration, 0, n), Due: r.Due,
	}
	for i := range r.Start {
		if in(i) {
			kept.Start, kept.End = append(kept.Start, r.Start[i]), append(kept.End, r.End[i])
			kept.Conn = append(kept.Conn, r.Conn[i])
			kept.Late, kept.Dial = append(kept.Late, r.Late[i]), append(kept.Dial, r.Dial[i])
		}
	}
	return kept, cut
}

func (r *Requests) latency(i int) time.Duration { return r.End[i].Sub(r.Start[i]) }

// Kind is one sort of thing that a request may meet.
type Kind struct {
	// Key names it in JSON, Name in tables.
	Key, Name string
	// Set is when it went on anywhere in the program.
	Set *Set
	// Own, where Set is nil, is when it went on in the goroutine that served
	// a connection; nil for a connection whose goroutine is not known.
	Own func(conn uint32) *Set
	// part, where both are nil, is the part of a request that it took; from
	// on which length the request has met it, from says.
	part func(r *Requests, i int) time.Duration
	from time.Duration
	// Error bounds how far Set lies off the clock of the requests.
	Error time.Duration
}

// met returns for how long request i met the kind, and whether it did at all;
// known is false where nobody knows.
func (k *Kind) met(r *Requests, i int) (d time.Duration, met, known bool) {
	set := k.Set
	switch {
	case set == nil && k.Own == nil:
		d = k.part(r, i)
		return d, d > 0 && d >= k.from, true
	case set == nil:
		if set = k.Own(r.Conn[i]); set == nil {
			return 0, false, false
		}
	}
	from := r.Start[i]
	if k.Set == nil { // before it was sent, its goroutine had others to serve
		from = from.Add(r.Late[i])
	}
	return set.Time(from, r.End[i]), set.Meets(from, r.End[i]), true
}

// Met returns for how long request i met the kind, the first stretch of it that
// it met, which is empty for a part of the request itself, and whether it met it
// at all.
func (k *Kind) Met(r *Requests, i int) (d time.Duration, first timeline.Span, met bool) {
	d, met, _ = k.met(r, i)
	set := k.Set
	if set == nil && k.Own != nil {
		set = k.Own(r.Conn[i])
	}
	if !met || set == nil {
		return d, timeline.Span{}, met
	}
	from := r.Start[i]
	if k.Set == nil {
		from = from.Add(r.Late[i])
	}
	return d, set.First(from), true
}

// Options say how to join. The zero value takes all the time that the requests
// cover.
type Options struct {
	// Window is what is known of both: requests that are not wholly within
	// are left out.
	Window timeline.Span
	// Seed and Shifts are of the shift test; 0 is 1, and 999.
	Seed   uint64
	Shifts int
}

// Table is what requests met.
type Table struct {
	Window timeline.Span `json:"window_ns"`
	// Requests were wholly in the window, Cut of others a part.
	Requests int `json:"requests"`
	Cut      int `json:"cut,omitempty"`
	// Mean is their mean latency.
	Mean time.Duration `json:"mean_ns"`
	// Due tells that a request counts from when it was due, not from when it
	// was sent.
	Due bool `json:"from_due"`
	// Tails are the slowest 1 % and the slowest 10 % of them.
	Tails [2]Tail `json:"tails"`
	// Served is the share of the requests whose goroutine is known.
	Served float64 `json:"served,omitempty"`
	Rows   []Row   `json:"rows"`
}

// Tail is the slowest part of the requests.
type Tail struct {
	Share    float64 `json:"share"`
	Requests int     `json:"requests"`
	// From is the latency of the fastest of them, Mean that of all.
	From time.Duration `json:"from_ns"`
	Mean time.Duration `json:"mean_ns"`
}

// Row is what requests met of one kind.
type Row struct {
	Key  string `json:"kind"`
	Name string `json:"name"`
	// Own tells that only the goroutine that served the request counts, not
	// the whole program.
	Own bool `json:"own,omitempty"`
	// Busy is the share of the window in which it went on, in Intervals
	// pieces; half of that time is in pieces of Typical length or longer. 0 of
	// what is the requests' own.
	Busy      float64       `json:"busy,omitempty"`
	Intervals int           `json:"intervals,omitempty"`
	Typical   time.Duration `json:"typical_ns,omitempty"`
	// All is the share of all requests that met it, Time for how long in the
	// mean.
	All  float64       `json:"all"`
	Time time.Duration `json:"time_ns"`
	// With and Without are the median latencies of those that met it and
	// those that did not; 0 for none.
	With    time.Duration `json:"median_with_ns,omitempty"`
	Without time.Duration `json:"median_without_ns,omitempty"`
	// Slow is the same of each tail.
	Slow [2]Met `json:"slow"`
	// Worst are the slowest requests that met it, at most three.
	Worst []timeline.Span `json:"worst_ns,omitempty"`
	// Doubt says why the row proves nothing, empty when it may.
	Doubt string `json:"doubt,omitempty"`
}

// Met is what the requests of one tail met.
type Met struct {
	// Share is of the requests of the tail, Time for how long they met it in
	// the mean.
	Share float64       `json:"share"`
	Time  time.Duration `json:"time_ns"`
	// Unknown tells that of most requests of the tail the goroutine is not
	// known; the rest is then zero.
	Unknown bool `json:"unknown,omitempty"`
	// Lift is Share as a multiple of that of all requests; 0 when none met
	// it.
	Lift float64 `json:"lift"`
	// Chance is the mean share of the shift test, P its p-value, and Fisher
	// that of Fisher's test, which takes requests to be independent. They
	// are nil where there is no test.
	Chance *float64 `json:"chance,omitempty"`
	P      *float64 `json:"p,omitempty"`
	Fisher *float64 `json:"fisher,omitempty"`
}

// tails are the shares of the tails of a [Table].
var tails = [2]float64{0.01, 0.10}

// MinRequests is the number of requests below which there is no slowest part.
const MinRequests = 100

// Join lays requests over the kinds. It returns nil for fewer than
// [MinRequests] in the window.
func Join(all *Requests, kinds []Kind, opt Options) *Table {
	w := opt.Window
	if w.End <= w.Start && len(all.Start) > 0 {
		w = timeline.Span{Start: slices.Min(all.Start), End: slices.Max(all.End)}
	}
	r, cut := all.within(w)
	n := len(r.Start)
	if n < MinRequests {
		return nil
	}
	j := &join{Requests: r, window: w, order: r.byLatency(), shifts: newShifts(w, opt),
		met: make([]bool, n), unknown: make([]bool, n), times: make([]time.Duration, n)}
	t := &Table{Window: w, Requests: n, Cut: cut, Due: r.Due, Mean: j.mean(j.order)}
	for i, share := range tails {
		k := int(math.Ceil(share*float64(n) - 1e-9))
		j.tails[i] = slices.Clone(j.order[n-k:])
		slices.Sort(j.tails[i]) // memory in order
		t.Tails[i] = Tail{Share: share, Requests: k, From: r.latency(int(j.order[n-k])), Mean: j.mean(j.tails[i])}
	}
	for i := range kinds {
		if row, served, ok := j.row(&kinds[i]); ok {
			t.Rows = append(t.Rows, row)
			t.Served = max(t.Served, served)
		}
	}
	return t
}

// Row returns the row of a key, nil when there is none.
func (t *Table) Row(key string) *Row {
	for i := range t.Rows {
		if t.Rows[i].Key == key {
			return &t.Rows[i]
		}
	}
	return nil
}

// byLatency returns the numbers of the requests, the fastest first.
func (r *Requests) byLatency() []int32 {
	order := make([]int32, len(r.Start))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(r.latency(int(a)), r.latency(int(b))), cmp.Compare(a, b))
	})
	return order
}

// join is a join in progress.
type join struct {
	*Requests
	window timeline.Span
	order  []int32
	tails  [2][]int32
	shifts *shifts

	// What each request met of the kind that is being measured.
	met, unknown []bool
	times        []time.Duration
}

func (j *join) mean(of []int32) time.Duration {
	sum := 0.0
	for _, i := range of {
		sum += float64(j.latency(int(i)))
	}
	return time.Duration(sum / float64(max(1, len(of))))
}

// minOwn is the share of the requests whose goroutine must be known for what it
// did to be told of all.
const minOwn = 0.5

// row measures one kind. ok is false when no request met it, or nobody knows.
func (j *join) row(k *Kind) (row Row, served float64, ok bool) {
	n := len(j.Start)
	row = Row{Key: k.Key, Name: k.Name, Own: k.Set == nil}
	met, unknown, times := j.met, j.unknown, j.times
	known, hits, sum := 0, 0, 0.0
	for i := range met {
		met[i], times[i] = false, 0
		d, m, ok := k.met(j.Requests, i)
		if unknown[i] = !ok; ok {
			known++
			times[i], met[i] = d, m
			sum += float64(d)
			if m {
				hits++
			}
		}
	}
	if hits == 0 || float64(known) < minOwn*float64(n) {
		return row, 0, false
	}
	row.All, row.Time = float64(hits)/float64(known), time.Duration(sum/float64(known))
	row.With, row.Without = j.medians(met, unknown, hits, known-hits)
	for t, tail := range j.tails {
		tailHits, of, sum := 0, 0, 0.0
		for _, i := range tail {
			if unknown[i] {
				continue
			}
			of++
			sum += float64(times[i])
			if met[i] {
				tailHits++
			}
		}
		m := &row.Slow[t]
		if of == 0 || float64(of) < minOwn*float64(len(tail)) {
			m.Unknown = true
			continue
		}
		m.Share, m.Time = float64(tailHits)/float64(of), time.Duration(sum/float64(of))
		m.Lift = m.Share / row.All
		if k.Set == nil {
			continue // it is the request's own, and no chance about it
		}
		fisher := stats.Fisher(tailHits, of, hits, known)
		m.Fisher = &fisher
	}
	if k.Own != nil {
		served = float64(known) / float64(n)
	}
	if k.Set != nil {
		row.describe(k, j.window)
		j.shifts.test(k.Set, j.Requests, j.tails[:], row.Slow[:])
		for i := n - 1; i >= 0 && len(row.Worst) < 3; i-- {
			if q := j.order[i]; met[q] {
				row.Worst = append(row.Worst, timeline.Span{Start: j.Start[q], End: j.End[q]})
			}
		}
	}
	return row, served, true
}

// medians returns the median latency of the requests that met something and of
// those that did not.
func (j *join) medians(met, unknown []bool, hits, rest int) (with, without time.Duration) {
	hit, miss := 0, 0
	for _, i := range j.order {
		switch {
		case unknown[i]:
		case met[i]:
			if hit == (hits-1)/2 {
				with = j.latency(int(i))
			}
			hit++
		default:
			if miss == (rest-1)/2 {
				without = j.latency(int(i))
			}
			miss++
		}
	}
	return with, without
}

// What goes on nearly always cannot be told from the requests that it is to
// explain.
const (
	alwaysBusy = 0.9
	alwaysMet  = 0.95
	fewPieces  = 5
)

// describe tells of a kind that is the whole program's how often it was, and
// whether that is enough to say anything.
func (row *Row) describe(k *Kind, w timeline.Span) {
	pieces := k.Set.lengths(w)
	row.Intervals = len(pieces)
	row.Busy = float64(k.Set.Time(w.Start, w.End)) / float64(max(1, w.Len()))
	slices.Sort(pieces)
	for left := k.Set.Time(w.Start, w.End) / 2; len(pieces) > 0 && left >= 0; pieces = pieces[:len(pieces)-1] {
		row.Typical = pieces[len(pieces)-1]
		left -= row.Typical
	}
	switch {
	case k.Error > row.Typical:
		row.Doubt = "the clocks are less precise than these are long"
	case row.Busy >= alwaysBusy || row.All >= alwaysMet:
		row.Doubt = "it runs nearly all the time"
	case row.Intervals < fewPieces:
		row.Doubt = "it happened too rarely"
	}
}

// ofRequests are the kinds that are parts of the requests themselves: what happened
// to them before they reached the program.
func ofRequests() []Kind {
	return []Kind{
		{Key: "late", Name: "waited to be sent", part: func(r *Requests, i int) time.Duration { return r.Late[i] }, from: lateFrom},
		{Key: "dial", Name: "opened a connection", part: func(r *Requests, i int) time.Duration { return r.Dial[i] }},
	}
}

// lateFrom is the lag from which a request is said to have waited.
const lateFrom = time.Millisecond
