package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/loadlog"
	"loupe/unit"
)

// heyBar is the character of hey's histogram since version 0.1.1.
const heyBar = "■"

// heyStats are the figures of hey's report, in seconds.
type heyStats struct {
	total, slowest, fastest, average, rps float64
	latencies                             []float64 // ascending
	dataBytes                             int64
	responses                             int
	parts                                 []heyPart
	status                                map[int]int
	errors                                map[string]int
}

// heyPart is a line of hey's details.
type heyPart struct {
	name                      string
	count                     int
	average, fastest, slowest float64
}

func newHeyStats(l *loadlog.Log) *heyStats {
	s := &heyStats{total: l.Elapsed.Seconds(), status: map[int]int{}, errors: map[string]int{}, dataBytes: l.ServedLength}
	var sum float64
	parts := [...]*heyPart{{name: "DNS+dialup"}, {name: "DNS-lookup"}, {name: "req write"}, {name: "resp wait"}, {name: "resp read"}}
	for r := range l.All() {
		if r.Error != 0 {
			s.errors[l.ErrorText(r.Error)]++
			continue
		}
		s.status[int(r.Status)]++
		latency := r.Latency().Seconds()
		s.latencies = append(s.latencies, latency)
		sum += latency
		for i, d := range [...]time.Duration{r.Dial, r.DNS, r.Write, r.Wait, r.Read} {
			parts[i].add(d)
		}
	}
	// Connections that were there before the start took their time all the
	// same.
	for i := range l.Connections {
		if c := &l.Connections[i]; c.Opened < 0 {
			parts[0].more(c.Dial)
			parts[1].more(c.DNS)
		}
	}
	s.responses = len(s.latencies)
	slices.Sort(s.latencies)
	if s.total > 0 {
		s.rps = float64(s.responses) / s.total
	}
	if s.responses > 0 {
		s.fastest, s.slowest = s.latencies[0], s.latencies[s.responses-1]
		s.average = sum / float64(s.responses)
	}
	for _, p := range parts {
		p.average /= float64(max(1, s.responses))
		s.parts = append(s.parts, *p)
	}
	return s
}

// add counts the part of one more request.
func (p *heyPart) add(d time.Duration) {
	v := d.Seconds()
	if p.count == 0 || v < p.fastest {
		p.fastest = v
	}
	p.count++
	p.more(d)
}

// more adds time that belongs to a request that is counted already.
func (p *heyPart) more(d time.Duration) {
	p.average += d.Seconds()
	p.slowest = max(p.slowest, d.Seconds())
}

// WriteHey prints a load run in the layout of hey 0.1.4, byte for byte, for
// scripts that read it. Where hey prints NaN, because no request was
// answered, the sections are left out.
func WriteHey(w io.Writer, l *loadlog.Log) error {
	var b strings.Builder
	s := newHeyStats(l)
	s.summary(&b)
	if s.responses > 0 {
		b.WriteString("Response time histogram:\n")
		s.histogram(&b)
		b.WriteString("\n\nLatency distribution:\n")
		s.heyDistribution(&b)
		s.details(&b)
		s.statuses(&b)
	}
	b.WriteString("\n\n")
	s.failures(&b)
	b.WriteString("\n\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteLoad prints a load run in hey's layout with what hey leaves out: a
// histogram that an outlier does not flatten, percentiles up to 99.9, the bytes
// of answers without a Content-Length, the response time of a schedule, and
// what sending cost.
func WriteLoad(w io.Writer, l *loadlog.Log) error {
	var b strings.Builder
	s := newHeyStats(l)
	s.dataBytes = l.Summary().Bytes
	s.summary(&b)
	if s.responses > 0 {
		b.WriteString("Response time histogram:\n")
		s.wideHistogram(&b)
		b.WriteString("\nLatency distribution:\n")
		s.distribution(&b)
		s.details(&b)
		s.statuses(&b)
		b.WriteString("\n")
	}
	if len(s.errors) > 0 {
		b.WriteString("\n")
		s.failures(&b)
		b.WriteString("\n")
	}
	generator(&b, l)
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *heyStats) summary(b *strings.Builder) {
	fmt.Fprintf(b, "\nSummary:\n  Total:\t%4.4f secs\n", s.total)
	if s.responses > 0 {
		fmt.Fprintf(b, "  Slowest:\t%4.4f secs\n  Fastest:\t%4.4f secs\n  Average:\t%4.4f secs\n", s.slowest, s.fastest, s.average)
	}
	fmt.Fprintf(b, "  Requests/sec:\t%4.4f\n  \n", s.rps)
	if s.dataBytes > 0 && s.responses > 0 {
		fmt.Fprintf(b, "  Total data:\t%d bytes\n  Size/request:\t%d bytes\n", s.dataBytes, s.dataBytes/int64(s.responses))
	}
	b.WriteString("\n")
}

// histogram prints hey's eleven buckets of equal width; the first holds only
// what equals the fastest.
func (s *heyStats) histogram(b *strings.Builder) {
	const buckets = 10
	step := (s.slowest - s.fastest) / buckets
	var marks [buckets + 1]float64
	var counts [buckets + 1]int
	for i := range marks {
		marks[i] = s.fastest + step*float64(i)
	}
	marks[buckets] = s.slowest
	at := 0
	for _, v := range s.latencies {
		for at < buckets && v > marks[at] {
			at++
		}
		counts[at]++
	}
	heyBars(b, marks[:], counts[:])
}

// wideHistogram prints buckets that grow as the latencies spread, so that one
// outlier does not push everything else into one bar.
func (s *heyStats) wideHistogram(b *strings.Builder) {
	marks := s.marks()
	counts := make([]int, len(marks))
	at := 0
	for _, v := range s.latencies {
		for at < len(marks)-1 && v > marks[at] {
			at++
		}
		counts[at]++
	}
	for i, m := range marks {
		fmt.Fprintf(b, "  ≤ %8s [%d]\t|%s\n", unit.Nanoseconds(m*1e9), counts[i], bar(counts[i], slices.Max(counts)))
	}
}

// marks returns the upper ends of the buckets: of equal width where the slowest
// took less than eight times as long as the fastest, else growing by a root of
// two, or, for a wider spread still, doubling.
func (s *heyStats) marks() (marks []float64) {
	const narrow, wide = 8, 64
	spread := s.slowest / s.fastest
	if spread > 1 && spread < narrow {
		const buckets = 10
		step := (s.slowest - s.fastest) / buckets
		for i := range buckets {
			marks = append(marks, s.fastest+step*float64(i+1))
		}
		marks[buckets-1] = s.slowest
		return marks
	}
	growth := 2.0
	if spread < wide {
		growth = math.Sqrt2
	}
	mark := 10e-6
	for mark < s.fastest {
		mark *= growth
	}
	for marks = append(marks, mark); mark < s.slowest; marks = append(marks, mark) {
		mark *= growth
	}
	return marks
}

// bar draws a count; the largest is forty characters long.
func bar(count, most int) string {
	if most == 0 {
		return ""
	}
	return strings.Repeat(heyBar, (count*40+most/2)/most)
}

func heyBars(b *strings.Builder, marks []float64, counts []int) {
	for i, m := range marks {
		fmt.Fprintf(b, "  %4.3f [%v]\t|%v\n", m, counts[i], bar(counts[i], slices.Max(counts)))
	}
}

// heyDistribution prints percentiles as hey finds them: one walk over the
// sorted values, in which each value can serve for one percentile only, so
// that with few requests the last ones are missing.
func (s *heyStats) heyDistribution(b *strings.Builder) {
	percentiles := []int{10, 25, 50, 75, 90, 95, 99}
	for i, v := range s.latencies {
		if len(percentiles) > 0 && i*100/len(s.latencies) >= percentiles[0] {
			fmt.Fprintf(b, "  %d%% in %4.4f secs\n", percentiles[0], v)
			percentiles = percentiles[1:]
		}
	}
	for range percentiles {
		b.WriteString("  0% in 0.0000 secs\n")
	}
}

// distribution prints percentiles; one that fewer than ten requests lie
// beyond says how many it would need.
func (s *heyStats) distribution(b *strings.Builder) {
	n := len(s.latencies)
	for _, p := range []float64{10, 25, 50, 75, 90, 95, 99, 99.9} {
		if need := int(math.Round(10 / (1 - p/100))); p > 50 && n < need {
			fmt.Fprintf(b, "  %g%% n/a (needs %d requests)\n", p, need)
			continue
		}
		fmt.Fprintf(b, "  %g%% in %4.4f secs\n", p, s.latencies[min(int(math.Ceil(p*float64(n)/100)), n-1)])
	}
}

func (s *heyStats) details(b *strings.Builder) {
	b.WriteString("\nDetails (average, fastest, slowest):\n")
	for _, p := range s.parts {
		fmt.Fprintf(b, "  %s:\t%4.4f secs, %4.4f secs, %4.4f secs\n", p.name, p.average, p.fastest, p.slowest)
	}
}

func (s *heyStats) statuses(b *strings.Builder) {
	b.WriteString("\nStatus code distribution:")
	for _, code := range slices.Sorted(maps.Keys(s.status)) {
		fmt.Fprintf(b, "\n  [%d]\t%d responses", code, s.status[code])
	}
}

func (s *heyStats) failures(b *strings.Builder) {
	if len(s.errors) == 0 {
		return
	}
	b.WriteString("Error distribution:")
	for _, text := range slices.Sorted(maps.Keys(s.errors)) {
		fmt.Fprintf(b, "\n  [%d]\t%s", s.errors[text], clean(text))
	}
}

// generator says what sending cost and what the reader should know of it.
func generator(b *strings.Builder, l *loadlog.Log) {
	s := l.Summary()
	b.WriteString("\nGenerator:\n")
	share := 0.0
	if s.Seconds > 0 {
		share = s.Generator.CPUSeconds / s.Seconds
	}
	fmt.Fprintf(b, "  CPU:\t%s, %.2f CPUs; %d collections of its own\n", unit.Nanoseconds(s.Generator.CPUSeconds*1e9), share, s.Generator.GCs)
	if l.Open {
		share, within := "99%", s.Generator.LagP99
		if l.Len() < 1000 { // too few for a percentile
			share, within = "all", s.Generator.LagMax
		}
		fmt.Fprintf(b, "  Late:\t%s of the requests were sent within %s of their turn\n", share, unit.Duration(within))
		fmt.Fprintf(b, "  Service time:\t50%% %s, 99%% %s, max %s (without the wait for their turn)\n",
			unit.Duration(s.Service.P50), orNone(s.Service.P99), unit.Duration(s.Service.Max))
	} else {
		b.WriteString("  Closed loop: a stall of the service also stops the requests that would have met it; -q keeps a schedule\n")
	}
	for _, note := range s.Notes {
		fmt.Fprintf(b, "  Note:\t%s\n", clean(note))
	}
}

func orNone(d time.Duration) string {
	if d == 0 {
		return "n/a"
	}
	return unit.Duration(d)
}

// WriteHeyCSV prints every answered request as hey -o csv does, but with
// microseconds: hey's four decimals show zeros for a fast service.
func WriteHeyCSV(w io.Writer, l *loadlog.Log) error {
	var b strings.Builder
	b.WriteString("response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n")
	order := make([]loadlog.Request, 0, l.Len())
	for r := range l.Answered() {
		order = append(order, *r)
	}
	slices.SortStableFunc(order, func(a, b loadlog.Request) int { return cmp.Compare(a.Begin, b.Begin) })
	for i := range order {
		r := &order[i]
		fmt.Fprintf(&b, "%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%d,%.6f\n", r.Latency().Seconds(), r.Dial.Seconds(), r.DNS.Seconds(),
			r.Write.Seconds(), r.Wait.Seconds(), r.Read.Seconds(), r.Status, time.Duration(r.Begin).Seconds())
	}
	_, err := io.WriteString(w, b.String())
	return err
}
