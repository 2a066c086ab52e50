package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/format/loadlog"
)

// heyBar is the character of hey's histogram since version 0.1.1.
const heyBar = "■"

// heyStats are the figures of hey's report, in seconds.
type heyStats struct {
	total, slowest, fastest, average, rps float64
	latencies                             []float64 // ascending, of the answers
	never                                 int       // requests without an answer
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
	parts := heyParts()
	for r := range l.All() {
		if r.Error != 0 {
			s.errors[l.ErrorText(r.Error)]++
			s.never++
			continue
		}
		s.status[int(r.Status)]++
		latency := r.Latency().Seconds()
		s.latencies = append(s.latencies, latency)
		sum += latency
		addParts(parts, r)
	}
	addConnections(parts, l)
	s.responses = len(s.latencies)
	slices.Sort(s.latencies)
	if s.total > 0 {
		s.rps = float64(s.responses) / s.total
	}
	if s.responses > 0 {
		s.fastest, s.slowest = s.latencies[0], s.latencies[s.responses-1]
		s.average = sum / float64(s.responses)
		if s.never += int(l.Unsent); s.never > 0 {
			s.slowest, s.average = math.Inf(1), math.Inf(1)
		}
	}
	for _, p := range parts {
		p.average /= float64(max(1, s.responses))
		s.parts = append(s.parts, *p)
	}
	return s
}

// heyParts are the lines of hey's details.
func heyParts() []*heyPart {
	return []*heyPart{{name: "DNS+dialup"}, {name: "DNS-lookup"}, {name: "req write"}, {name: "resp wait"}, {name: "resp read"}}
}

// addParts counts the parts of an answered request.
func addParts(parts []*heyPart, r *loadlog.Request) {
	for i, d := range [...]time.Duration{r.Dial, r.DNS, r.Write, r.Wait, r.Read} {
		parts[i].add(d)
	}
}

// addConnections adds what connections took that were there before the start:
// hey dials within the first requests.
func addConnections(parts []*heyPart, l *loadlog.Log) {
	for i := range l.Connections {
		if c := &l.Connections[i]; c.Opened < 0 {
			parts[0].more(c.Dial)
			parts[1].more(c.DNS)
		}
	}
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

// More adds time that belongs to a request that is counted already.
func (p *heyPart) more(d time.Duration) {
	p.average += d.Seconds()
	p.slowest = max(p.slowest, d.Seconds())
}

// WriteHey prints a load run in the layout of hey 0.1.4, byte for byte, for
// scripts that read it. Where requests were never answered, which hey leaves out of
// its times, they are slower than all others: times that never came, the slowest
// and the average are "+Inf secs". Where hey prints NaN, because no request was
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
	marks, counts := s.buckets()
	heyBars(b, marks, counts)
}

func (s *heyStats) buckets() (marks []float64, counts []int) {
	const buckets = 10
	slowest := s.latencies[s.responses-1]
	step := (slowest - s.fastest) / buckets
	marks, counts = make([]float64, buckets+1), make([]int, buckets+1)
	for i := range marks {
		marks[i] = s.fastest + step*float64(i)
	}
	marks[buckets] = slowest
	at := 0
	for _, v := range s.latencies {
		for at < buckets && v > marks[at] {
			at++
		}
		counts[at]++
	}
	return marks, counts
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
	for _, p := range s.percentiles() {
		fmt.Fprintf(b, "  %d%% in %4.4f secs\n", p.Percentage, p.Latency)
	}
}

func (s *heyStats) percentiles() []LoadLatency {
	percentiles := [...]int{10, 25, 50, 75, 90, 95, 99}
	out := make([]LoadLatency, len(percentiles)) // what is missing is 0% in 0 s
	at := 0
	due := len(s.latencies) + s.never
	for i := range due {
		if at == len(percentiles) {
			break
		}
		if i*100/due < percentiles[at] {
			continue
		}
		out[at] = LoadLatency{percentiles[at], math.Inf(1)}
		if i < len(s.latencies) {
			out[at].Latency = s.latencies[i]
		}
		at++
	}
	return out
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
