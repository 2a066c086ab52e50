// Package alert reads and applies the rules that a watched program is held
// against: "rss>50%", "goroutines>10000 for 30s", "heap/s>1MB over 2m".
//
// A rule is of one figure. It holds for an instant, or for a while, or it is of
// how fast the figure rises. What the figures are is told by [Metric]; where
// they come from is the business of who watches.
package alert

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/value/stats"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// Metric is a figure that rules may be of.
type Metric struct {
	Name  string
	About string
	// Bytes tells that values are amounts of memory.
	Bytes bool
	// Whole says what a percentage is of; empty where there is none.
	Whole string
}

// allMetrics lists the figures.
var allMetrics = []Metric{
	{"rss", "memory of the process that is in RAM", true, "the limit"},
	{"cgroup", "memory that the program's cgroup is charged with", true, "the limit"},
	{"machine", "memory of the machine that is in use", true, "all of it"},
	{"heap", "bytes of objects in the heap, dead ones that were not swept included", true, "the limit"},
	{"live", "bytes that the last collection left", true, "the limit"},
	{"goal", "heap size at which the next collection ends", true, "the limit"},
	{"goroutines", "number of goroutines", false, ""},
	{"threads", "number of threads", false, ""},
	{"files", "number of open files", false, ""},
	{"cpu", "CPUs in use", false, "those that it may use"},
	{"gccpu", "CPUs that the collector uses", false, "those that it may use"},
	{"gcs", "collections a second", false, ""},
}

// find returns the metric of a name.
func find(name string) (*Metric, bool) {
	i := slices.IndexFunc(allMetrics, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return nil, false
	}
	return &allMetrics[i], true
}

// Reading holds the figures of one instant by the names of metrics; one that
// is not known is missing.
type Reading struct {
	At     timeline.Time
	Values map[string]float64
	// Wholes are what percentages are of.
	Wholes map[string]float64
}

// Rule is one condition. It remembers what it has seen, and serves one program.
type Rule struct {
	// Metric is what it is of.
	Metric *Metric
	// Rate tells that it is of how fast the metric rises, a second.
	Rate bool
	// Value is the bound, Percent tells that it is of the whole.
	Value   float64
	Percent bool
	// Less tells that it holds below the bound, Equal that it also does at it (a
	// slope is never exactly at one).
	Less, Equal bool
	// For is how long it must hold without a break, Over the window in
	// which a rise is looked at.
	For, Over time.Duration

	text  string
	since timeline.Time
	holds bool
	seen  []point
}

type point struct {
	at timeline.Time
	v  float64
}

// String returns the rule as it was written.
func (r *Rule) String() string { return r.text }

var form = regexp.MustCompile(`^([a-z]+)(/s)?\s*(<=|>=|<|>)\s*([0-9.]+)\s*([a-zA-Z%]*)(?:\s+(for|over)\s+(\S+))?$`)

// DefaultOver is the window of a rule about a rise that names none.
const DefaultOver = time.Minute

// Help describes the rules in a few lines.
func Help() string {
	var b strings.Builder
	b.WriteString("A rule is METRIC>VALUE (or <, >=, <=), such as rss>50%, goroutines>10000, or\n" +
		"cpu>90% for 30s, which must hold for so long. METRIC/s>VALUE over TIME is of\n" +
		"how fast it rises: heap/s>1MB over 2m holds when the trend over two minutes is\n" +
		"that steep with 95 % confidence. The metrics:\n")
	for _, m := range allMetrics {
		about := m.About
		if m.Whole != "" {
			about += "; % is of " + m.Whole
		}
		fmt.Fprintf(&b, "  %-11s %s\n", m.Name, about)
	}
	b.WriteString("The limit is the least of the cgroup's and the machine's memory, or -limit.")
	return b.String()
}

// Parse reads a rule.
func Parse(text string) (*Rule, error) {
	m := form.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return nil, fmt.Errorf("cannot read the rule %q: it should be like rss>50%%, goroutines>10000 for 30s, or heap/s>1MB over 2m", text)
	}
	metric, ok := find(m[1])
	if !ok {
		var names []string
		for _, m := range allMetrics {
			names = append(names, m.Name)
		}
		return nil, fmt.Errorf("cannot read the rule %q: there is no %q; known are %s", text, m[1], strings.Join(names, ", "))
	}
	r := &Rule{Metric: metric, Rate: m[2] != "", Less: m[3][0] == '<', Equal: strings.HasSuffix(m[3], "="), Over: DefaultOver, text: strings.TrimSpace(text)}
	if err := r.value(m[4], m[5]); err != nil {
		return nil, fmt.Errorf("cannot read the rule %q: %w", text, err)
	}
	if m[6] == "" {
		return r, nil
	}
	d, err := time.ParseDuration(m[7])
	switch {
	case err != nil || d <= 0:
		return nil, fmt.Errorf("cannot read the rule %q: %q is not a time such as 30s", text, m[7])
	case m[6] == "over" && !r.Rate:
		return nil, fmt.Errorf("cannot read the rule %q: over belongs to %s/s; for says how long it must hold", text, m[1])
	case m[6] == "for" && r.Rate:
		return nil, fmt.Errorf("cannot read the rule %q: a rise is looked at over a time: write over %s", text, m[7])
	case m[6] == "over":
		r.Over = d
	default:
		r.For = d
	}
	return r, nil
}

func (r *Rule) value(number, of string) (err error) {
	if of == "%" {
		if r.Metric.Whole == "" {
			return fmt.Errorf("there is no whole that %s is a percentage of", r.Metric.Name)
		}
		r.Percent = true
		r.Value, err = strconv.ParseFloat(number, 64)
		r.Value /= 100
		return err
	}
	if r.Metric.Bytes {
		b, err := unit.ParseBytes(number + of)
		r.Value = float64(b)
		return err
	}
	if of != "" {
		return fmt.Errorf("%s is a plain number, without %q", r.Metric.Name, of)
	}
	r.Value, err = strconv.ParseFloat(number, 64)
	return err
}

// Known tells whether a reading has what the rule is of.
func (r *Rule) Known(now Reading) bool {
	v, ok := now.Values[r.Metric.Name]
	return ok && !math.IsNaN(v) && (!r.Percent || now.Wholes[r.Metric.Name] > 0)
}

// Check looks at the figures of an instant, which are later than those before,
// and says whether the rule holds, and in words why. It says so once: again
// only after it did not hold in between.
func (r *Rule) Check(now Reading) (why string, fires bool) {
	if !r.Known(now) {
		return "", false
	}
	v := now.Values[r.Metric.Name]
	bound, of := r.Value, ""
	if r.Percent {
		whole := now.Wholes[r.Metric.Name]
		bound *= whole
		of = fmt.Sprintf(", %s of %s", unit.Percent(v/whole), r.shown(whole))
	}
	var holds bool
	if r.Rate {
		slope, known := r.slope(now.At, v)
		holds = known && (slope.Low > bound && !r.Less || slope.High < bound && r.Less)
		why = fmt.Sprintf("%s changes by %s/s [%s, %s] over %s", r.Metric.Name, r.shown(slope.Estimate), r.shown(slope.Low), r.shown(slope.High), r.Over)
	} else {
		holds = v > bound && !r.Less || v < bound && r.Less || v == bound && r.Equal
		why = fmt.Sprintf("%s is %s%s", r.Metric.Name, r.shown(v), of)
	}
	if !holds {
		r.holds, r.since = false, 0
		return "", false
	}
	if r.since == 0 {
		r.since = max(now.At, 1)
	}
	if r.holds || now.At.Sub(r.since) < r.For {
		return "", false
	}
	r.holds = true
	if r.For > 0 {
		why += fmt.Sprintf(", for %s", unit.Duration(now.At.Sub(r.since)))
	}
	return why, true
}

// fewest is the number of readings below which there is no trend.
const fewest = 10

// slope returns how fast the metric rises, a second, in the window. It is not
// known before most of the window has been seen.
func (r *Rule) slope(at timeline.Time, v float64) (stats.Interval, bool) {
	r.seen = append(r.seen, point{at, v})
	first := slices.IndexFunc(r.seen, func(p point) bool { return at.Sub(p.at) <= r.Over })
	r.seen = slices.Delete(r.seen, 0, first)
	if len(r.seen) < fewest || at.Sub(r.seen[0].at) < r.Over*8/10 {
		return stats.Interval{}, false
	}
	var x, y []float64
	for _, p := range r.seen {
		x, y = append(x, p.at.Sub(r.seen[0].at).Seconds()), append(y, p.v)
	}
	return stats.TheilSen(x, y, 0.95), true
}

// shown prints a value of the metric.
func (r *Rule) shown(v float64) string {
	if r.Metric.Bytes {
		return unit.BytesOf(v)
	}
	if v == math.Trunc(v) { // a number of things: 14, and not 14.0
		return unit.Count(int64(v))
	}
	return unit.Number(v)
}
