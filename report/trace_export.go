package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/timeline"
)

// IntervalWriter writes the stays of goroutines in their states, one after
// the other, in a form for other programs.
type IntervalWriter interface {
	Interval(r *exectrace.Reader, i *sched.Interval)
	// Close ends the output and returns the first failure.
	Close() error
}

// NewIntervalWriter returns a writer of one of the formats: csv, json (one
// object a line) or perfetto (the JSON of trace events that the Perfetto UI
// and chrome://tracing open).
func NewIntervalWriter(out io.Writer, format string) (IntervalWriter, error) {
	w := &lines{w: out}
	switch format {
	case "csv":
		c := &csvIntervals{w: csv.NewWriter(w), out: w}
		c.w.Write([]string{"goroutine", "function", "state", "reason", "start_ns", "end_ns", "p", "woken_by", "stack", "woken_from"})
		return c, nil
	case "json":
		return &jsonIntervals{enc: json.NewEncoder(w), out: w}, nil
	case "perfetto":
		w.printf(`{"displayTimeUnit":"ns","traceEvents":[` + "\n")
		w.printf(`{"ph":"M","pid":1,"name":"process_name","args":{"name":"Ps"}},` + "\n")
		w.printf(`{"ph":"M","pid":2,"name":"process_name","args":{"name":"Goroutines"}}`)
		return &perfettoIntervals{out: w, named: map[exectrace.GoID]bool{}}, nil
	}
	return nil, fmt.Errorf("there is no export format %q; known are csv, json, perfetto", format)
}

type csvIntervals struct {
	w   *csv.Writer
	out *lines
}

func (c *csvIntervals) Interval(r *exectrace.Reader, i *sched.Interval) {
	p, by := "", ""
	if i.P != exectrace.NoProc {
		p = strconv.Itoa(int(i.P))
	}
	if i.By != exectrace.NoGoroutine {
		by = strconv.FormatInt(int64(i.By), 10)
	}
	c.w.Write([]string{strconv.FormatInt(int64(i.G), 10), csvText(r.Name(i.Name)), strings.ToLower(i.State.String()), csvText(r.WaitReason(i.Reason, i.Stack)),
		strconv.FormatInt(int64(i.Start), 10), strconv.FormatInt(int64(i.End), 10), p, by,
		csvText(strings.Join(frames(r, i.Stack), ";")), csvText(strings.Join(frames(r, i.ByStack), ";"))})
}

func (c *csvIntervals) Close() error {
	c.w.Flush()
	return c.out.err
}

type jsonIntervals struct {
	enc *json.Encoder
	out *lines
}

func (j *jsonIntervals) Interval(r *exectrace.Reader, i *sched.Interval) {
	row := struct {
		Goroutine int64    `json:"goroutine"`
		Function  string   `json:"function"`
		State     string   `json:"state"`
		Reason    string   `json:"reason,omitempty"`
		Start     int64    `json:"start_ns"`
		End       int64    `json:"end_ns"`
		P         *int32   `json:"p,omitempty"`
		By        *int64   `json:"woken_by,omitempty"`
		Stack     []string `json:"stack,omitempty"`
		From      []string `json:"woken_from,omitempty"`
	}{int64(i.G), r.Name(i.Name), strings.ToLower(i.State.String()), r.WaitReason(i.Reason, i.Stack), int64(i.Start), int64(i.End), nil, nil, frames(r, i.Stack), frames(r, i.ByStack)}
	if i.P != exectrace.NoProc {
		row.P = (*int32)(&i.P)
	}
	if i.By != exectrace.NoGoroutine {
		row.By = (*int64)(&i.By)
	}
	j.enc.Encode(row)
}

func (j *jsonIntervals) Close() error { return j.out.err }

// perfettoIntervals writes complete events ("X"): process 1 has the Ps as its
// threads, process 2 the goroutines.
type perfettoIntervals struct {
	out   *lines
	named map[exectrace.GoID]bool
}

func (p *perfettoIntervals) Interval(r *exectrace.Reader, i *sched.Interval) {
	name := nameOf(r, i.Name)
	if !p.named[i.G] {
		p.named[i.G] = true
		p.out.printf(",\n"+`{"ph":"M","pid":2,"tid":%d,"name":"thread_name","args":{"name":%s}}`, i.G, quoted(fmt.Sprintf("G%d %s", i.G, name)))
	}
	if i.State == exectrace.Running && i.P != exectrace.NoProc {
		p.span(1, int64(i.P), fmt.Sprintf("G%d %s", i.G, name), i, StackOf(r, i.Stack))
	}
	p.span(2, int64(i.G), reasonOf(r, i.State, i.Reason), i, StackOf(r, i.Stack))
}

func (p *perfettoIntervals) span(pid int, tid int64, name string, i *sched.Interval, at Stack) {
	p.out.printf(",\n"+`{"ph":"X","pid":%d,"tid":%d,"name":%s,"ts":%s,"dur":%s,"args":{"goroutine":%d,"where":%s}}`,
		pid, tid, quoted(name), micros(i.Start), micros(timeline.Time(i.Len())), i.G, quoted(at.Where))
}

// micros is a time in µs, to the nanosecond.
func micros(t timeline.Time) string {
	return fmt.Sprintf("%d.%03d", int64(t)/int64(time.Microsecond), int64(t)%int64(time.Microsecond))
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

func (p *perfettoIntervals) Close() error {
	p.out.printf("\n]}\n")
	return p.out.err
}
