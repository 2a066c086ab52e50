package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"loupe/format/loadlog"
	"loupe/value/unit"

	"github.com/DataDog/datadog-agent/pkg/template/text"
)

// LoadReport is what a template of [WriteLoadTemplate] gets: the fields of hey's
// Report under hey's names, in seconds, and those of the summary.
type LoadReport struct {
	*loadlog.Summary
	Header loadlog.Header

	AvgTotal, Fastest, Slowest, Average, Rps         float64
	AvgConn, AvgDNS, AvgReq, AvgRes, AvgDelay        float64
	ConnMax, ConnMin, DnsMax, DnsMin, ReqMax, ReqMin float64
	ResMax, ResMin, DelayMax, DelayMin               float64
	// Slowest, Average and AvgTotal are infinite when some request was never
	// answered. Lats and the others are those of every answered request, so that
	// only LatencyDistribution is of all.
	Lats, ConnLats, DnsLats, ReqLats, ResLats, DelayLats, Offsets []float64
	StatusCodes                                                   []int
	Total                                                         time.Duration
	ErrorDist                                                     map[string]int
	StatusCodeDist                                                map[int]int
	SizeTotal, SizeReq, NumRes                                    int64
	LatencyDistribution                                           []LoadLatency
	Histogram                                                     []LoadBucket
}

// LoadLatency is one of hey's percentiles.
type LoadLatency struct {
	Percentage int
	Latency    float64 // in seconds; infinite when it never came
}

// MarshalJSON writes null for a latency that never came.
func (p LoadLatency) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Percentage int
		Latency    *float64
	}{p.Percentage, finite(p.Latency)})
}

// MarshalJSON writes null for times that never came.
func (r *LoadReport) MarshalJSON() ([]byte, error) {
	type plain LoadReport
	return json.Marshal(struct {
		*plain
		Slowest, Average, AvgTotal *float64
	}{(*plain)(r), finite(r.Slowest), finite(r.Average), finite(r.AvgTotal)})
}

func finite(x float64) *float64 {
	if math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// LoadBucket is one of hey's buckets.
type LoadBucket struct {
	Mark      float64 // upper end, in seconds
	Count     int
	Frequency float64
}

// WriteLoadTemplate prints a load run through a template of text/template, as
// hey does with what it does not know as a form: functions are hey's
// formatNumber, formatNumberInt, jsonify and histogram, and duration, which prints
// a time.Duration in a unit that fits. Methods are those of [methodsOf].
func WriteLoadTemplate(w io.Writer, text string, l *loadlog.Log) error {
	t, err := ParseLoadTemplate(text)
	if err != nil {
		return err
	}
	if err := t.Execute(w, newLoadReport(l)); err != nil {
		return fmt.Errorf("cannot fill in the template: %w", err)
	}
	return nil
}

// ParseLoadTemplate parses a template of [WriteLoadTemplate], so that a mistake
// is told before the load.
func ParseLoadTemplate(text string) (*template.Template, error) {
	t, err := template.New("load").Funcs(loadFunctions()).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("cannot read the template: %w", err)
	}
	methodCalls(t)
	return t, nil
}

// loadFunctions are the functions of a template.
func loadFunctions() template.FuncMap {
	return template.FuncMap{
		"formatNumber":    func(x float64) string { return fmt.Sprintf("%4.4f", x) },
		"formatNumberInt": func(x int) string { return fmt.Sprintf("%d", x) },
		"jsonify": func(v any) (string, error) {
			b, err := json.Marshal(v)
			return string(b), err
		},
		"histogram": func(buckets []LoadBucket) string {
			marks, counts := make([]float64, len(buckets)), make([]int, len(buckets))
			for i, b := range buckets {
				marks[i], counts[i] = b.Mark, b.Count
			}
			var b strings.Builder
			heyBars(&b, marks, counts)
			return b.String()
		},
		"duration": func(d time.Duration) string {
			if d == loadlog.Never {
				return unanswered(0)
			}
			return unit.Duration(d)
		},
		methodName: callMethod,
	}
}

func newLoadReport(l *loadlog.Log) *LoadReport {
	s := newHeyStats(l)
	r := &LoadReport{
		Summary: l.Summary(), Header: l.Header, AvgTotal: s.average * float64(s.responses), Fastest: s.fastest, Slowest: s.slowest,
		Average: s.average, Rps: s.rps, Total: l.Elapsed, ErrorDist: s.errors, StatusCodeDist: s.status,
		SizeTotal: s.dataBytes, NumRes: int64(s.responses), SizeReq: s.dataBytes / int64(max(1, s.responses)),
	}
	for q := range l.Answered() {
		r.Lats = append(r.Lats, q.Latency().Seconds())
		r.ConnLats, r.DnsLats = append(r.ConnLats, q.Dial.Seconds()), append(r.DnsLats, q.DNS.Seconds())
		r.ReqLats, r.DelayLats, r.ResLats = append(r.ReqLats, q.Write.Seconds()), append(r.DelayLats, q.Wait.Seconds()), append(r.ResLats, q.Read.Seconds())
		r.Offsets, r.StatusCodes = append(r.Offsets, time.Duration(q.Begin).Seconds()), append(r.StatusCodes, int(q.Status))
	}
	for i, to := range [][3]*float64{
		{&r.AvgConn, &r.ConnMin, &r.ConnMax}, {&r.AvgDNS, &r.DnsMin, &r.DnsMax}, {&r.AvgReq, &r.ReqMin, &r.ReqMax},
		{&r.AvgDelay, &r.DelayMin, &r.DelayMax}, {&r.AvgRes, &r.ResMin, &r.ResMax},
	} {
		*to[0], *to[1], *to[2] = s.parts[i].average, s.parts[i].fastest, s.parts[i].slowest
	}
	r.LatencyDistribution = s.percentiles()
	if s.responses > 0 {
		marks, counts := s.buckets()
		for i := range marks {
			r.Histogram = append(r.Histogram, LoadBucket{marks[i], counts[i], float64(counts[i]) / float64(s.responses)})
		}
	}
	return r
}
