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
	"loupe/value/unit"
)

// WriteLoad prints a load run in hey's layout with what hey leaves out: a
// histogram that an outlier does not flatten, percentiles up to 99.9 of all
// requests that were due and only where enough lie beyond them, the bytes of answers without a
// Content-Length, response and service time of a schedule side by side, the
// connections, how it went over time, and what sending cost. Lines that scripts
// look for in hey's text ("Requests/sec:", "99% in") are in it.
func WriteLoad(out io.Writer, l *loadlog.Log) error {
	w := &lines{w: out}
	s := l.Summary()
	loadSummary(w, s)
	if s.Responses > 0 {
		w.printf("Response time histogram:\n")
		loadHistogram(w, l, s)
		w.printf("\nLatency distribution:\n")
		loadDistribution(w, l, s)
		if l.Foreign != loadlog.Vegeta { // which does not know them
			loadDetails(w, l, s)
		}
		w.printf("\nStatus code distribution:\n")
		for _, code := range slices.Sorted(maps.Keys(s.Status)) {
			w.printf("  [%d]\t%d responses\n", code, s.Status[code])
		}
	}
	if len(s.Errors) > 0 {
		w.printf("\nError distribution:\n")
		for _, text := range slices.Sorted(maps.Keys(s.Errors)) {
			w.printf("  [%d]\t%s\n", s.Errors[text], clean(text))
		}
	}
	loadTargets(w, s)
	loadOverTime(w, l)
	loadConnections(w, s)
	loadGenerator(w, l, s)
	return w.err
}

func loadSummary(w *lines, s *loadlog.Summary) {
	w.printf("\nSummary:\n  Total:\t%4.4f secs\n", s.Seconds)
	if s.Responses > 0 {
		q := &s.Latency
		slowest, average := secs(q.Max), secs(q.Mean)
		if q.Unanswered > 0 {
			slowest = fmt.Sprintf("%s; of the answers %s", tookSecs(q.Max, q), secs(q.MaxAnswered))
			average = fmt.Sprintf("≥ %s, because some were never answered; %s over the answers", secs(q.MeanAtLeast), secs(q.MeanAnswered))
		}
		w.printf("  Slowest:\t%s\n  Fastest:\t%s\n  Average:\t%s\n", slowest, secs(q.Min), average)
	}
	if s.Unanswered() > 0 {
		w.printf("  Never answered:\t%s; they count as slower than all answers\n", neverAnswered(s))
	}
	if s.UnderWay > 0 {
		w.printf("  Under way:\t%s\n", underWay(s))
	}
	if s.Resent > 0 {
		w.printf("  Sent again:\t%s times, because a connection was dropped without an answer (-retry)\n", unit.Count(s.Resent))
	}
	w.printf("  Requests/sec:\t%4.4f\n  \n", s.RPS)
	if s.Bytes > 0 && s.Responses > 0 {
		w.printf("  Total data:\t%d bytes\n  Size/request:\t%d bytes\n", s.Bytes, s.Bytes/int64(s.Responses))
	}
	w.printf("\n")
}

// secs is a time as hey prints it, and in a unit in which a fast service has
// digits.
func secs(d time.Duration) string {
	return fmt.Sprintf("%4.4f secs (%s)", d.Seconds(), unit.Duration(d))
}

// loadHistogram prints buckets that grow as the latencies spread, so that one
// outlier does not push everything else into one bar.
func loadHistogram(w *lines, l *loadlog.Log, s *loadlog.Summary) {
	marks, counts := LoadHistogram(l, s)
	never := s.Latency.Unanswered
	most := max(slices.Max(counts), never)
	for i, m := range marks {
		w.printf("  ≤ %8s [%d]\t|%s\n", unit.Duration(m), counts[i], bar(counts[i], most))
	}
	if never > 0 {
		w.printf("  %10s [%d]\t|%s\n", "never", never, bar(never, most))
	}
}

// LoadHistogram counts the answered requests of a run by classes of response time,
// each up to a mark and above the one before.
func LoadHistogram(l *loadlog.Log, s *loadlog.Summary) (marks []time.Duration, counts []int) {
	marks = loadMarks(s.Latency.Min, s.Latency.MaxAnswered)
	counts = make([]int, len(marks))
	for r := range l.Answered() {
		at, _ := slices.BinarySearch(marks, r.Latency())
		counts[min(at, len(marks)-1)]++
	}
	return marks, counts
}

// loadMarks returns the upper ends of the buckets: of equal width where the
// slowest took less than eight times as long as the fastest, else growing by a
// root of two, or, for a wider spread still, doubling.
func loadMarks(fastest, slowest time.Duration) (marks []time.Duration) {
	const narrow, wide = 8, 64
	spread := slowest.Seconds() / fastest.Seconds()
	if spread > 1 && spread < narrow {
		const buckets = 10
		for i := range time.Duration(buckets) {
			marks = append(marks, fastest+(slowest-fastest)*(i+1)/buckets)
		}
		return marks
	}
	growth := 2.0
	if spread < wide {
		growth = math.Sqrt2
	}
	mark := 10e3
	for mark < float64(fastest) {
		mark *= growth
	}
	for marks = append(marks, time.Duration(mark)); mark < float64(slowest); marks = append(marks, time.Duration(mark)) {
		mark *= growth
	}
	return marks
}

// percentile is one of the response times and of the service times of a run.
type percentile struct {
	percent           float64
	response, service time.Duration
	need              int // how many requests it takes to tell
}

// told tells whether there were enough requests.
func (p *percentile) told(due int64) bool { return p.percent <= 50 || due >= int64(p.need) }

// percentiles are those that are shown; hardly anybody misses the last one where
// it cannot be told.
func percentiles(s *loadlog.Summary) []percentile {
	all := []percentile{
		{10, s.Latency.P10, s.Service.P10, 0}, {25, s.Latency.P25, s.Service.P25, 0}, {50, s.Latency.P50, s.Service.P50, 0},
		{75, s.Latency.P75, s.Service.P75, 0}, {90, s.Latency.P90, s.Service.P90, 0}, {95, s.Latency.P95, s.Service.P95, 0},
		{99, s.Latency.P99, s.Service.P99, 0}, {99.9, s.Latency.P999, s.Service.P999, 0}, {99.99, s.Latency.P9999, s.Service.P9999, 0},
	}
	for i := range all {
		all[i].need = int(math.Round(loadlog.Enough / (1 - all[i].percent/100)))
	}
	if last := len(all) - 1; !all[last].told(s.Due()) {
		all = all[:last]
	}
	return all
}

// loadDistribution prints percentiles; one that fewer than ten requests lie
// beyond says how many it would need.
func loadDistribution(w *lines, l *loadlog.Log, s *loadlog.Summary) {
	for _, p := range percentiles(s) {
		switch {
		case !p.told(s.Due()):
			w.printf("  %g%% n/a (needs %d requests)\n", p.percent, p.need)
		case l.Open:
			w.printf("  %g%% in %s; since it was sent %s\n", p.percent, tookSecs(p.response, &s.Latency), tookText(p.service, &s.Service))
		default:
			w.printf("  %g%% in %s\n", p.percent, tookSecs(p.response, &s.Latency))
		}
	}
}

// loadDetails prints hey's table of the parts of a request.
func loadDetails(w *lines, l *loadlog.Log, s *loadlog.Summary) {
	parts := heyParts()
	for r := range l.Answered() {
		addParts(parts, r)
	}
	addConnections(parts, l)
	of := ""
	if s.Unanswered() > 0 {
		of = "; of the answers alone"
	}
	w.printf("\nDetails (average, fastest, slowest%s):\n", of)
	for _, p := range parts {
		w.printf("  %s:\t%4.4f secs, %4.4f secs, %4.4f secs\n", p.name, p.average/float64(s.Responses), p.fastest, p.slowest)
	}
}

func loadTargets(w *lines, s *loadlog.Summary) {
	if len(s.Targets) == 0 {
		return
	}
	w.printf("\nTargets (responses, 50%%, 99%%, slowest):\n")
	for _, t := range s.Targets {
		q := &t.Latency
		w.printf("  %s:\t%d, %s, %s, %s", clean(t.String()), t.Responses, tookText(q.P50, q), tookText(q.P99, q), tookText(q.Max, q))
		if t.Failed > 0 {
			w.printf("; %d failed", t.Failed)
		}
		for _, code := range slices.Sorted(maps.Keys(t.Status)) {
			if code >= 400 {
				w.printf("; [%d] %d", code, t.Status[code])
			}
		}
		w.printf("\n")
	}
}

func loadConnections(w *lines, s *loadlog.Summary) {
	c := s.Connections
	if c.Opened == 0 {
		return
	}
	w.printf("\nConnections:\n  Opened:\t%d, %d of them after the start; dialling took 50%% %s, longest %s", c.Opened, c.During, unit.Duration(c.Dial), unit.Duration(c.Max))
	if c.TLS > 0 {
		w.printf("; of which TLS 50%% %s", unit.Duration(c.TLS))
	}
	w.printf("\n")
}

// loadGenerator says what sending cost and what the reader should know of it.
func loadGenerator(w *lines, l *loadlog.Log, s *loadlog.Summary) {
	g := s.Generator
	w.printf("\nGenerator:\n")
	if l.Model != "" {
		w.printf("  Load:\t%s", clean(l.Model))
		if l.Engine != "" {
			w.printf(", sent by %s", clean(l.Engine))
		}
		w.printf("\n")
	}
	if l.Foreign != "" {
		w.printf("  The cost of sending is not known\n")
		for _, note := range s.Notes {
			w.printf("  Note:\t%s\n", clean(note))
		}
		return
	}
	share := 0.0
	if s.Seconds > 0 {
		share = g.CPUSeconds / s.Seconds
	}
	w.printf("  CPU:\t%s, %.2f CPUs; %d collections of the generator", unit.Nanoseconds(g.CPUSeconds*1e9), share, g.GCs)
	if g.Busy > 0 {
		w.printf("; busy %s of the time", unit.Percent(g.Busy))
	}
	w.printf("; %s\n", waitedForCPU(&g))
	if l.Open {
		loadLag(w, s)
	} else {
		w.printf("  %s\n", closedLoop(l, s))
	}
	if g.Limited != "" {
		w.printf("  Generator-limited: the rate is a lower bound on the service's capacity, and the times are upper bounds: %s\n", clean(g.Limited))
	}
	if g.Starved != "" {
		w.printf("  Starved:\tthe times are upper bounds, and part of them is not the service's: %s\n", clean(g.Starved))
	}
	for _, note := range s.Notes {
		w.printf("  Note:\t%s\n", clean(note))
	}
}

// waitedForCPU says for how long what sends had no CPU.
func waitedForCPU(g *loadlog.Generator) string {
	if g.RunDelay == nil {
		return "how long it waited for a CPU is unknown"
	}
	return "waited " + unit.Duration(*g.RunDelay) + " for a CPU"
}

// loadLag says how well the schedule was kept.
func loadLag(w *lines, s *loadlog.Summary) {
	g := s.Generator
	w.printf("  Late:\t")
	if s.Requests >= loadlog.Enough*100 {
		w.printf("50%% of the requests were sent within %s of their due time, 99%% within %s, all within %s\n", unit.Duration(g.LagP50), unit.Duration(g.LagP99), unit.Duration(g.LagMax))
	} else {
		w.printf("all requests were sent within %s of their due time\n", unit.Duration(g.LagMax))
	}
	if s.Unsent > 0 {
		w.printf("  Unsent:\t%d requests were due and never sent: all connections were waiting for answers\n", s.Unsent)
	}
	w.printf("  Service time:\t50%% %s, 99%% %s, max %s (without the wait to be sent)\n", tookText(s.Service.P50, &s.Service), tookText(s.Service.P99, &s.Service), tookText(s.Service.Max, &s.Service))
}

// closedLoop says what a closed loop cannot see, in figures of the run where
// they show it: during the slowest request its connection sent nothing else,
// so that a stall of the service has one request on each connection.
func closedLoop(l *loadlog.Log, s *loadlog.Summary) string {
	const long = 10 // times the mean: the interval between requests of one connection
	q := &s.Latency
	longest := q.Max
	if longest == loadlog.Never {
		longest = q.AtLeast
	}
	if s.Responses < 100 || longest < long*q.MeanAnswered || l.Concurrency == 0 {
		return "Closed loop: a stall of the service also stops the requests that would have hit it (coordinated omission); -rate keeps a schedule"
	}
	missed := s.RPS * longest.Seconds()
	return fmt.Sprintf("Closed loop: while the slowest took %s, users arriving at %s/s would have sent %s requests, but at most %d were sent (coordinated omission); -rate %.0f counts them all",
		tookText(q.Max, q), unit.Number(s.RPS), unit.Number(missed), l.Concurrency, s.RPS)
}

// The picture over time has so many columns and rows, and is left out of runs
// that are shorter than a column is worth.
const (
	timeColumns = 60
	minOverTime = 3 * time.Second
)

// shades go from nothing to the fullest cell.
var shades = []rune(" ·░▒▓█")

// loadOverTime prints how the latencies went over time: a column for each
// stretch of time, a row for each class of latency, darker where more requests
// are. The shades are logarithmic, so that a single slow request shows.
func loadOverTime(w *lines, l *loadlog.Log) {
	if l.Elapsed < minOverTime || l.Len() < timeColumns {
		return
	}
	all := l.Slices((l.Elapsed + timeColumns - 1) / timeColumns)
	counts, marks := overTime(all)
	if len(marks) == 0 {
		return
	}
	w.printf("\nOver time (%s a column; ·░▒▓█ from one request to the maximum):\n", unit.Duration(all[0].Span.Len()))
	most := uint64(1)
	for _, row := range counts {
		for _, n := range row {
			most = max(most, n)
		}
	}
	for i := len(marks) - 1; i >= 0; i-- {
		var b strings.Builder
		for _, n := range counts[i] {
			b.WriteRune(cellShade(n, most))
		}
		w.printf("  ≤ %8s |%s|\n", unit.Duration(marks[i]), b.String())
	}
	var failed strings.Builder
	failures := 0
	for i := range all {
		failed.WriteRune(cellShade(uint64(all[i].Failed), most))
		failures += all[i].Failed
	}
	if failures > 0 {
		w.printf("  %10s |%s|\n", "failed", failed.String())
	}
}

// overTime counts the requests of each slice by class of latency.
func overTime(all []loadlog.Slice) (counts [][]uint64, marks []time.Duration) {
	low, high := int64(math.MaxInt64), int64(0)
	for i := range all {
		if h := &all[i].Latency; h.Count() > 0 {
			low, high = min(low, h.Min()), max(high, h.Max())
		}
	}
	if high == 0 {
		return nil, nil
	}
	marks = loadMarks(time.Duration(low), time.Duration(high))
	counts = make([][]uint64, len(marks))
	for i := range counts {
		counts[i] = make([]uint64, len(all))
	}
	for at := range all {
		for r, n := range all[at].Latency.Buckets {
			row, _ := slices.BinarySearch(marks, time.Duration(r.Low))
			counts[min(row, len(marks)-1)][at] += n
		}
	}
	return counts, marks
}

// cellShade returns the character of a cell.
func cellShade(n, most uint64) rune {
	if n == 0 {
		return shades[0]
	}
	if most <= 1 {
		return shades[len(shades)-1]
	}
	at := 1 + int(math.Log(float64(n))/math.Log(float64(most))*float64(len(shades)-2)+0.5)
	return shades[min(at, len(shades)-1)]
}
