package loadlog

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/value/unit"
)

// The generators whose summaries in text are read besides [Hey] and [Vegeta].
const (
	Wrk  = "wrk"
	Wrk2 = "wrk2"
	Own  = "loupe load" // in hey's layout
)

// maxText bounds a summary in text: what is longer is none.
const maxText = 1 << 20

// textOf tells whose summary a text is, "" for none: by its first lines, in front of
// which a script may have printed others.
func textOf(text []byte) string {
	for line := range bytes.Lines(text) {
		s := strings.TrimRight(string(line), "\r\n")
		switch {
		case strings.HasPrefix(s, "Running ") && strings.Contains(s, " test @ "):
			if bytes.Contains(text, []byte("HdrHistogram")) || bytes.Contains(text, []byte("Thread calibration: ")) {
				return Wrk2
			}
			return Wrk
		case strings.HasPrefix(s, "Requests ") && strings.Contains(s, "[total, rate"):
			return Vegeta
		case s == "Summary:" && bytes.Contains(text, []byte("\nSummary:\n  Total:\t")) || s == "Summary:" && bytes.HasPrefix(text, []byte("Summary:\n  Total:\t")):
			if bytes.Contains(text, []byte("\nGenerator:\n")) {
				return Own
			}
			return Hey
		}
	}
	return ""
}

// LooksText tells by the begin of a file whether it is the summary of a load run, as
// [DecodeText] reads it.
func LooksText(head []byte) bool { return textOf(head) != "" }

// DecodeText reads the summary that hey, vegeta report, wrk or wrk2 prints of a load run.
// It has the figures that are printed, and none else: a percentile that is not printed
// is zero. Notes say what the figures of that generator mean.
func DecodeText(data []byte) (*Summary, error) {
	if len(data) > maxText {
		return nil, fmt.Errorf("cannot read summary of a load: it has %d bytes, which is no summary", len(data))
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	t := textReader{s: &Summary{Schema: Schema, Foreign: textOf(data), Status: map[int]int{}, Errors: map[string]int{}}}
	if t.s.Foreign == "" {
		return nil, errors.New("cannot read summary of a load: it is none of hey, vegeta report, wrk or wrk2")
	}
	read := map[string]func(string){Hey: t.hey, Own: t.hey, Vegeta: t.vegeta, Wrk: t.wrk, Wrk2: t.wrk}[t.s.Foreign]
	for line := range strings.Lines(string(data)) {
		read(strings.TrimRight(line, "\n"))
	}
	if err := t.finish(); err != nil {
		return nil, fmt.Errorf("cannot read summary of %s: %w", t.s.Foreign, err)
	}
	return t.s, nil
}

// textReader reads a summary line by line.
type textReader struct {
	s       *Summary
	section string     // of hey's
	to      *Quantiles // of the table of wrk2 that is read
	rated   bool       // there was a rate
}

var (
	heyShare    = regexp.MustCompile(`^\s+([0-9.]+)%+ in ([0-9.]+) secs`)
	counted     = regexp.MustCompile(`^\s+\[(\d+)\]\s+(.*)$`)
	wrkShare    = regexp.MustCompile(`^\s+([0-9.]+)%\s+([0-9.]+(?:us|ms|s|m|h))\s*$`)
	wrkDone     = regexp.MustCompile(`^\s+(\d+) requests in ([0-9.]+(?:us|ms|s|m|h)), ([0-9.]+)([KMGTP]?B) read`)
	wrkLatency  = regexp.MustCompile(`^\s+Latency\s+([0-9.]+(?:us|ms|s|m|h))\s+\S+\s+([0-9.]+(?:us|ms|s|m|h))\s`)
	wrkSockets  = regexp.MustCompile(`^\s+Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`)
	vegetaTitle = regexp.MustCompile(`^(\S.*?)\s+\[([^\]]*)\]\s+(.*?)\s*$`)
)

// set keeps a percentile, in percent; those that [Quantiles] does not have are left out.
func set(q *Quantiles, percent string, d time.Duration) {
	v, err := strconv.ParseFloat(percent, 64)
	if err != nil || d <= 0 {
		return
	}
	if v == 100 {
		q.Max = d
	}
	for _, one := range q.shares() {
		if math.Abs(100*one.q-v) < 1e-6 {
			*one.to = d
		}
	}
}

// seconds reads a number of seconds; what is none is 0.
func seconds(s string) time.Duration {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v < time.Duration(maxTime).Seconds()) {
		return 0
	}
	return time.Duration(math.Round(v * 1e9))
}

// span reads a time with its unit; what is none is 0.
func span(s string) time.Duration {
	d, err := time.ParseDuration(strings.TrimSpace(s))
	if err != nil || d < 0 {
		return 0
	}
	return d
}

// count reads a number of requests; what is none is 0.
func count(s string) int {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 48)
	if err != nil || n < 0 {
		return 0
	}
	return int(n)
}

// first is what stands in front of the first space.
func first(s string) string {
	s, _, _ = strings.Cut(s, " ")
	return s
}

// rate reads a number of requests a second.
func (t *textReader) rate(s string) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err == nil && v >= 0 && !math.IsInf(v, 0) {
		t.s.RPS, t.rated = v, true
	}
}

// hey reads a line of hey's summary.
func (t *textReader) hey(line string) {
	if line != "" && line[0] != ' ' {
		t.section = line
		return
	}
	if m := heyShare.FindStringSubmatch(line); m != nil {
		set(&t.s.Latency, m[1], seconds(m[2]))
		return
	}
	if m := counted.FindStringSubmatch(line); m != nil {
		switch t.section {
		case "Status code distribution:":
			t.s.Status[count(m[1])] += count(first(m[2]))
		case "Error distribution:":
			t.s.Errors[m[2]] += count(m[1])
		}
		return
	}
	if t.section != "Summary:" {
		return
	}
	name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
	value = first(strings.TrimSpace(value))
	switch name {
	case "Total":
		t.s.Seconds = seconds(value).Seconds()
	case "Slowest":
		t.s.Latency.Max = seconds(value)
	case "Fastest":
		t.s.Latency.Min = seconds(value)
	case "Average":
		t.s.Latency.Mean = seconds(value)
	case "Requests/sec":
		t.rate(value)
	case "Total data":
		t.s.Bytes = int64(count(value))
	}
}

// wrk reads a line of the summary of wrk or wrk2.
func (t *textReader) wrk(line string) {
	switch {
	case strings.HasPrefix(line, "Running ") && t.s.URL == "":
		_, t.s.URL, _ = strings.Cut(line, " test @ ")
	case strings.Contains(line, "Latency Distribution"):
		if t.to = &t.s.Latency; strings.Contains(line, "Uncorrected") {
			t.to = &t.s.Service
		}
	case strings.Contains(line, "Detailed Percentile spectrum"):
		t.to = nil // it has more rows, of other shares
	case strings.HasPrefix(line, "Requests/sec:"):
		t.rate(strings.TrimPrefix(line, "Requests/sec:"))
	case strings.HasPrefix(strings.TrimSpace(line), "Non-2xx or 3xx responses:"):
		_, n, _ := strings.Cut(line, ":")
		t.s.Refused = count(n)
	}
	if m := wrkShare.FindStringSubmatch(line); m != nil && t.to != nil {
		set(t.to, m[1], span(m[2]))
	}
	if m := wrkLatency.FindStringSubmatch(line); m != nil {
		t.s.Latency.Mean, t.s.Latency.Max = span(m[1]), span(m[2])
	}
	if m := wrkDone.FindStringSubmatch(line); m != nil {
		t.s.Responses, t.s.Seconds = count(m[1]), span(m[2]).Seconds()
	}
	if m := wrkSockets.FindStringSubmatch(line); m != nil {
		for i, what := range []string{"connect", "read", "write", "timeout"} {
			if n := count(m[i+1]); n > 0 {
				t.s.Errors["socket error: "+what] = n
			}
		}
	}
}

// vegeta reads a line of what vegeta report prints.
func (t *textReader) vegeta(line string) {
	m := vegetaTitle.FindStringSubmatch(line)
	if m == nil {
		return
	}
	names, values := strings.Split(m[2], ","), strings.Split(m[3], ",")
	if m[1] == "Status Codes" {
		for _, f := range strings.Fields(m[3]) {
			code, n, _ := strings.Cut(f, ":")
			if status := count(code); status > 0 && status < 1000 {
				t.s.Status[status] += count(n)
			} else {
				t.s.Errors["no answer"] += count(n)
			}
		}
		return
	}
	for i, name := range names {
		if i >= len(values) {
			return
		}
		value := strings.TrimSpace(values[i])
		switch name = strings.TrimSpace(name); m[1] + " " + name {
		case "Requests rate":
			t.rate(value)
		case "Duration total":
			t.s.Seconds = span(value).Seconds()
		case "Latencies min":
			t.s.Latency.Min = span(value)
		case "Latencies mean":
			t.s.Latency.Mean = span(value)
		case "Latencies max":
			t.s.Latency.Max = span(value)
		case "Bytes In total":
			t.s.Bytes = int64(count(value))
		default:
			if m[1] == "Latencies" {
				set(&t.s.Latency, name, span(value))
			}
		}
	}
}

// finish counts the requests, and says what the figures mean.
func (t *textReader) finish() error {
	s := t.s
	for _, n := range s.Status {
		s.Responses += n
	}
	failed := 0
	for _, n := range s.Errors {
		failed += n
	}
	s.Requests = s.Responses + failed
	if !t.rated || s.Requests == 0 || s.Seconds <= 0 {
		return errors.New("it has no rate, no time or no number of requests (was it cut?)")
	}
	s.Latency.MaxAnswered, s.Latency.MeanAnswered = s.Latency.Max, s.Latency.Mean
	note := func(format string, args ...any) { s.Notes = append(s.Notes, fmt.Sprintf(format, args...)) }
	switch s.Foreign {
	case Hey, Vegeta:
		note("the figures are those that %s has printed: there are no others", s.Foreign)
		note("the times begin when requests were sent: for how long they had been due is not in them")
	case Own:
		note("the figures are those of the text: loupe load -save keeps each request")
	case Wrk:
		note("the figures are those that wrk has printed; it sends in a closed loop: what was not sent while the service stalled is not in the times")
	case Wrk2:
		note("the figures are those that wrk2 has printed; its times begin when requests were due")
	}
	if failed == 0 {
		return nil
	}
	note("the times are of the answers alone")
	if s.Foreign == Wrk || s.Foreign == Wrk2 {
		note("%d errors of sockets were counted, which need not be as many requests", failed)
		return nil
	}
	if s.Foreign == Hey || s.Foreign == Vegeta {
		note("the rate of %.4g/s that is printed counts requests that failed: that of the answers is told instead", s.RPS)
		s.RPS = float64(s.Responses) / s.Seconds
	}
	return nil
}

// Line returns the figures in one line, for a run of another tool: how many requests, how
// fast, the latencies that it tells of, and what went wrong.
func (s *Summary) Line() string {
	parts := []string{fmt.Sprintf("%s requests by %s in %s, %s/s", unit.Count(int64(s.Requests)), s.Foreign, unit.Nanoseconds(s.Seconds*1e9), unit.Number(s.RPS))}
	q := &s.Latency
	for _, p := range []struct {
		name string
		d    time.Duration
	}{{"fastest", q.Min}, {"mean", q.Mean}, {"p10", q.P10}, {"p25", q.P25}, {"p50", q.P50}, {"p75", q.P75}, {"p90", q.P90}, {"p95", q.P95}, {"p99", q.P99}, {"p99.9", q.P999}, {"p99.99", q.P9999}, {"slowest", q.Max}} {
		if p.d > 0 {
			parts = append(parts, p.name+" "+unit.Duration(p.d))
		}
	}
	if n := s.BadStatus(); n > 0 {
		parts = append(parts, fmt.Sprintf("%s answers of a status of 400 or above", unit.Count(int64(n))))
	}
	for _, text := range slices.Sorted(maps.Keys(s.Errors)) {
		parts = append(parts, fmt.Sprintf("%s × %s", unit.Count(int64(s.Errors[text])), text))
	}
	return strings.Join(parts, ", ")
}
