package report

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"loupe/format/loadlog"
	"loupe/value/stats"
	"loupe/value/unit"
)

// LoadTick is how a load run went since the tick before it.
type LoadTick struct {
	Warmup  bool
	Elapsed time.Duration
	// So far: how many requests ended, and how many of them failed.
	Requests, Errors int64
	// Now: how many wait for a connection or for an answer, and on how many
	// connections.
	Queued, InFlight, Connections int
	// Since the last tick: requests a second that were due, 0 in a closed
	// loop, and that ended, and their latencies.
	Intended, Achieved float64
	Latency            *stats.Histogram
	Lag                time.Duration
	Busy               float64
	Failures           []LoadFailure // so far, the most common first
}

// LoadFailure is one way in which requests fail: without an answer, or with a
// status from 400 on.
type LoadFailure struct {
	Status int
	Error  string
	Count  int64
}

// ServiceTick is how the service does that is under load.
type ServiceTick struct {
	Collections int64 // since the load began
	Heap, Goal  unit.Bytes
}

// LoadLive is what is shown of a load run while it goes on. Add what happens,
// and take Lines.
type LoadLive struct {
	Title string
	// Requests or Duration say when it ends; neither is known of a run until
	// it is interrupted.
	Requests int64
	Duration time.Duration
	// Service is nil while nothing is known of it.
	Service *ServiceTick

	tick    LoadTick
	latency stats.Histogram // so far
	// columns are stretches of the run, all but the last of one length.
	columns []liveColumn
	length  time.Duration
	rows    liveRows
}

// liveColumn counts latencies by rungs of a ladder, so that adding to it and
// drawing it take the same time whatever the latencies are.
type liveColumn struct {
	rungs  [liveRungs]uint32
	failed int64
	from   time.Duration
}

// liveRows is which rungs were ever used.
type liveRows struct{ low, high int }

const (
	// The ladder has four rungs to a doubling, from 10 µs to 167 s.
	liveRungs   = 97
	liveDouble  = 4
	liveLowest  = 10 * time.Microsecond
	liveColumns = 120 // at most; then two become one
	liveColumn1 = 250 * time.Millisecond
)

// rung returns the rung whose mark is the first that is not below d.
func rung(d int64) int {
	if d <= int64(liveLowest) {
		return 0
	}
	return min(int(math.Ceil(math.Log2(float64(d)/float64(liveLowest))*liveDouble-1e-9)), liveRungs-1)
}

func rungMark(i int) time.Duration {
	return time.Duration(float64(liveLowest) * math.Exp2(float64(i)/liveDouble))
}

// Add takes in what happened since the last time. When the warm-up ends, all
// begins anew.
func (l *LoadLive) Add(t LoadTick) {
	if l.tick.Warmup && !t.Warmup || t.Elapsed < l.tick.Elapsed || l.length == 0 {
		*l = LoadLive{Title: l.Title, Requests: l.Requests, Duration: l.Duration, Service: l.Service, length: liveColumn1, rows: liveRows{liveRungs, -1}}
		for l.Duration > liveColumns/2*l.length { // the whole run fits into half of the columns
			l.length *= 2
		}
	}
	failed := t.Errors - l.tick.Errors
	l.tick = t
	n := len(l.columns)
	if n == 0 || t.Elapsed-l.columns[n-1].from > l.length+l.length/8 {
		if n == liveColumns {
			l.halve()
		}
		l.columns = append(l.columns, liveColumn{from: t.Elapsed.Truncate(l.length)})
		n = len(l.columns)
	}
	c := &l.columns[n-1]
	c.failed += failed
	if t.Latency == nil {
		return
	}
	l.latency.Merge(t.Latency)
	for r, count := range t.Latency.Buckets {
		i := rung((r.Low + r.High) / 2)
		c.rungs[i] += uint32(min(count, math.MaxUint32/2))
		l.rows.low, l.rows.high = min(l.rows.low, i), max(l.rows.high, i)
	}
}

// Started tells whether there is anything to draw.
func (l *LoadLive) Started() bool { return l.length > 0 }

// halve makes one column of two.
func (l *LoadLive) halve() {
	for i := range len(l.columns) / 2 {
		c, next := l.columns[2*i], &l.columns[2*i+1]
		for r, n := range next.rungs {
			c.rungs[r] += n
		}
		c.failed += next.failed
		l.columns[i] = c
	}
	l.columns = l.columns[:len(l.columns)/2]
	l.length *= 2
}

// liveMaxRows bounds the heat map, liveFailures the kinds of failures.
const (
	liveMaxRows  = 10
	liveFailures = 3
)

// Lines draws the run in so many columns and at most so many lines; none of
// the lines is wider.
func (l *LoadLive) Lines(s Style, height int) []string {
	t := &l.tick
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	add("%s", clean(l.Title))
	add("  %s", l.progress(s))
	text := unit.Count(t.Requests) + " requests done"
	if t.Errors > 0 {
		text += fmt.Sprintf(", %s failed", unit.Count(t.Errors))
	}
	text += fmt.Sprintf("; %s in flight on %s connections", unit.Count(int64(t.InFlight)), unit.Count(int64(t.Connections)))
	if t.Queued > 0 {
		text += fmt.Sprintf(", %s due and waiting for one", unit.Count(int64(t.Queued)))
	}
	add("  %s", text)
	rate := fmt.Sprintf("%s/s now", unit.Number(t.Achieved))
	if sec := t.Elapsed.Seconds(); sec > 0 {
		rate += fmt.Sprintf(", %s/s on average", unit.Number(float64(t.Requests)/sec))
	}
	if t.Intended > 0 {
		rate += fmt.Sprintf("; %s/s are due", unit.Number(t.Intended))
	}
	add("  %s", rate)
	if l.latency.Count() > 0 {
		add("  %s", l.times())
	}
	sender := fmt.Sprintf("sender busy %s of the time", unit.Percent(t.Busy))
	if t.Intended > 0 {
		sender += fmt.Sprintf(", requests %s late", unit.Duration(t.Lag))
	}
	add("  %s", sender)
	if v := l.Service; v != nil {
		add("  service: %s collections, heap %s of %s", unit.Count(v.Collections), v.Heap, v.Goal)
	}
	failures := min(len(t.Failures), liveFailures, max(0, height-len(out)))
	others := int64(0)
	for _, f := range t.Failures[failures:] {
		others += f.Count
	}
	for i, f := range t.Failures[:failures] {
		line := fmt.Sprintf("%s × %s", unit.Count(f.Count), f)
		if i == failures-1 && others > 0 {
			line += fmt.Sprintf("; %s of other kinds", unit.Count(others))
		}
		out = append(out, "  "+s.paint(red, fitLine(line, s.width()-3)))
	}
	for i := range out[:len(out)-failures] {
		out[i] = fitLine(out[i], s.width()-1)
	}
	out[0] = s.paint(bold, out[0])
	out = append(out, l.heatMap(s, height-len(out))...)
	return out[:min(len(out), max(height, 1))]
}

// times are the percentiles so far, of all requests that ended: those that failed
// were slower than all answers.
func (l *LoadLive) times() string {
	failed := uint64(max(0, l.tick.Errors))
	ended := int(l.latency.Count() + failed)
	slowest := unit.Duration(time.Duration(l.latency.Max()))
	text := ""
	for _, p := range []int{50, 90, 99} {
		// One that fewer than ten requests lie beyond is not told.
		if p > 50 && ended*(100-p) < 100*loadlog.Enough {
			continue
		}
		shown := "never"
		if v, ok := l.latency.QuantileBefore(float64(p)/100, failed); ok {
			shown = unit.Duration(time.Duration(v))
		}
		text += fmt.Sprintf("%d%% %s   ", p, shown)
	}
	if failed > 0 {
		return text + "answers max " + slowest
	}
	return text + "max " + slowest
}

// String is the failure in words.
func (f LoadFailure) String() string {
	if f.Status > 0 {
		return fmt.Sprintf("status %d", f.Status)
	}
	return clean(f.Error)
}

// progress says how much of the run is done.
func (l *LoadLive) progress(s Style) string {
	t := &l.tick
	at := unit.Duration(t.Elapsed.Truncate(100 * time.Millisecond))
	if t.Elapsed >= time.Second {
		at = t.Elapsed.Truncate(time.Second).String()
	}
	share := 0.0
	switch {
	case t.Warmup:
		return "warming up, " + at
	case l.Requests > 0:
		at = fmt.Sprintf("%s of %s requests, %s", unit.Count(t.Requests), unit.Count(l.Requests), at)
		share = float64(t.Requests) / float64(l.Requests)
	case l.Duration > 0:
		at += " of " + l.Duration.String()
		share = t.Elapsed.Seconds() / l.Duration.Seconds()
	default:
		return at
	}
	const cells = 20
	full := int(min(max(share, 0), 1) * cells)
	return strings.Repeat("█", full) + strings.Repeat("░", cells-full) + " " + at
}

// heatMap draws the columns that fit, the newest to the right, in as many rows
// as there is height for.
func (l *LoadLive) heatMap(s Style, height int) []string {
	const label = 14 // "  ≤ 12.3 ms |"
	failed := false
	for i := range l.columns {
		failed = failed || l.columns[i].failed > 0
	}
	rows := height - 1 // for the caption
	if failed {
		rows--
	}
	rows = min(rows, liveMaxRows)
	columns := min(len(l.columns), s.width()-label-2)
	if rows < 2 || columns < 1 || l.rows.high < 0 {
		return nil
	}
	shown := l.columns[len(l.columns)-columns:]
	group := max(1, (l.rows.high-l.rows.low+rows)/rows)
	var counts [][]uint64
	most := uint64(1)
	for low := l.rows.low; low <= l.rows.high; low += group {
		row := make([]uint64, columns)
		for i := range shown {
			for _, n := range shown[i].rungs[low:min(low+group, liveRungs)] {
				row[i] += uint64(n)
			}
			most = max(most, row[i])
		}
		counts = append(counts, row)
	}
	out := []string{fitLine(fmt.Sprintf("  latency, a column is %s; ·░▒▓█ from one request to the maximum", unit.Duration(l.length)), s.width()-1)}
	pad := strings.Repeat(" ", min(liveColumns, s.width()-label-2)-columns)
	draw := func(name, colour string, cells func(i int) uint64) {
		var b strings.Builder
		for i := range columns {
			b.WriteRune(cellShade(cells(i), most))
		}
		out = append(out, fmt.Sprintf("  %10s |%s%s|", name, pad, s.paint(colour, b.String())))
	}
	for i := len(counts) - 1; i >= 0; i-- {
		mark := rungMark(min(l.rows.low+(i+1)*group-1, liveRungs-1))
		draw("≤ "+unit.Duration(mark), cyan, func(at int) uint64 { return counts[i][at] })
	}
	if failed {
		draw("failed", red, func(at int) uint64 { return uint64(shown[at].failed) })
	}
	return out
}

// fitLine cuts a line without colours to a width.
func fitLine(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	return cutTo(line, max(width, 1))
}
