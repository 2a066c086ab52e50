package push

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"strconv"
	"strings"
	"time"

	"loupe/format/connect"
	"loupe/format/profile"
)

// defaultRate is how many samples a second a client takes that does not say.
const defaultRate = 100

// sampleConfig is what a client says of a sample type, in sample_type_config.
type sampleConfig struct {
	Units       string `json:"units"`
	DisplayName string `json:"display-name"`
	Aggregation string `json:"aggregation"`
	Cumulative  bool   `json:"cumulative"`
}

// form are the parts of a multipart request.
type form struct {
	profile, previous []byte
	config            map[string]sampleConfig
}

func (d *decoder) ingest(r Request) error {
	app, labels, err := appName(r.Query.Get("name"))
	if err != nil {
		return err
	}
	one := Pushed{From: clientTime(r.Query.Get("from")), Until: clientTime(r.Query.Get("until"))}
	if spy := r.Query.Get("spyName"); spy != "" {
		labels = append(labels, Label{spyLabel, spy})
	}
	body, err := connect.Unpack(r.Body, r.ContentEncoding, d.Bytes)
	if err != nil {
		return err
	}
	kind, params, err := mime.ParseMediaType(r.ContentType)
	format := r.Query.Get("format")
	if err == nil && kind == "multipart/form-data" {
		f, err := readForm(body, params["boundary"])
		if err != nil {
			return err
		}
		return d.form(f, app, labels, one)
	}
	switch format {
	case "pprof", "speedscope":
		return d.form(form{profile: body}, app, labels, one)
	case "lines":
		return d.stacks(countLines(body), r, app, labels, one)
	case "", "folded", "collapsed", "groups":
		if bytes.HasPrefix(body, []byte{0x1f, 0x8b}) { // pprof without its name
			return d.form(form{profile: body}, app, labels, one)
		}
		return d.stacks(body, r, app, labels, one)
	}
	return &connect.Error{Code: connect.Unimplemented, HTTP: 415, Message: "cannot read the format " + strconv.Quote(format) + " (send pprof, folded or lines)"}
}

// readForm reads the parts that the multipart form of pyroscope-go has. The body is in
// memory and bounded already, and so are its parts.
func readForm(body []byte, boundary string) (f form, err error) {
	if boundary == "" {
		return f, connect.Errorf(connect.InvalidArgument, "the Content-Type has no boundary")
	}
	parts := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return f, connect.Errorf(connect.InvalidArgument, "cannot read the multipart form: %v", err)
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return f, connect.Errorf(connect.InvalidArgument, "cannot read the part %.50q: %v", part.FormName(), err)
		}
		switch part.FormName() {
		case "profile":
			f.profile = content
		case "prev_profile":
			f.previous = content
		case "sample_type_config":
			if err := json.Unmarshal(content, &f.config); err != nil {
				return f, connect.Errorf(connect.InvalidArgument, "cannot read sample_type_config: %v", err)
			}
		}
	}
	if f.profile == nil {
		return f, connect.Errorf(connect.InvalidArgument, `the multipart form has no part "profile"`)
	}
	return f, nil
}

// form takes in a profile in a format that package profile knows.
func (d *decoder) form(f form, app string, labels []Label, one Pushed) error {
	if len(f.profile) == 0 {
		return nil // pyroscope-go sends that for a profile without samples
	}
	p, err := d.pprof(f.profile)
	if err != nil {
		return err
	}
	if len(f.previous) > 0 {
		if p, err = d.since(p, f); err != nil {
			return err
		}
	}
	shown := map[string]string{"goroutine": "goroutines"} // as Pyroscope has it, and its users' dashboards
	one.States = make([]bool, len(p.SampleTypes))
	for i, t := range p.SampleTypes {
		c := f.config[t.Type]
		shown[t.Type] = cmp.Or(c.DisplayName, shown[t.Type])
		one.States[i] = c.Aggregation == "average"
	}
	labels = append(labels, Label{nameLabel, kindOf(p, shown)})
	return d.add(named(labels, p, app), p, one)
}

// since takes off what a cumulative profile had the last time: old clients send both.
// A state is no sum, and stays what it is.
func (d *decoder) since(p *profile.Profile, f form) (*profile.Profile, error) {
	before, err := d.pprof(f.previous)
	if err != nil {
		return nil, err
	}
	off := make([]float64, len(before.SampleTypes))
	for i, t := range before.SampleTypes {
		if c, ok := f.config[t.Type]; ok && c.Cumulative || !ok && !t.IsState() {
			off[i] = -1
		}
	}
	q, err := profile.Merge(p, before.Scale(off...))
	if err != nil {
		return nil, connect.Errorf(connect.InvalidArgument, "cannot take prev_profile off profile: %v", err)
	}
	q.Time, q.Duration = p.Time, p.Duration
	for _, column := range q.Values { // where it has fallen the program has begun anew
		for i, v := range column {
			column[i] = max(v, 0)
		}
	}
	return q, nil
}

// stacks takes in folded stacks, of which the query says what they count.
func (d *decoder) stacks(folded []byte, r Request, app string, labels []Label, one Pushed) error {
	if len(bytes.TrimSpace(folded)) == 0 {
		return nil
	}
	p, err := d.pprof(folded)
	if err != nil {
		return err
	}
	kind, t := "process_cpu", profile.ValueType{Type: "samples", Unit: "count"}
	if i := strings.LastIndexByte(app, '.'); i > 0 {
		if k, known, ok := suffixOf(app[i+1:]); ok {
			app, kind, t = app[:i], k, known
		}
	}
	switch r.Query.Get("units") {
	case "bytes":
		t.Unit = "bytes"
	case "lock_nanoseconds":
		t.Unit = "nanoseconds"
	}
	q := *p
	q.SampleTypes = []profile.ValueType{t}
	if kind == "process_cpu" || kind == "wall" {
		period := int64(time.Second) / sampleRate(r.Query.Get("sampleRate"))
		name := map[string]string{"process_cpu": "cpu", "wall": "wall"}[kind]
		q.SampleTypes = []profile.ValueType{{Type: name, Unit: "nanoseconds"}}
		q.PeriodType, q.Period = profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, period
		values := make([]int64, p.Len())
		for i, v := range p.Values[0] {
			values[i] = min(v, math.MaxInt64/period) * period
		}
		q.Values = [][]int64{values}
	}
	one.States = []bool{r.Query.Get("aggregationType") == "average"}
	labels = append(labels, Label{nameLabel, kind})
	return d.add(named(labels, &q, app), &q, one)
}

// suffixOf returns what the last part of a name of an application says of the kind of
// profile, as in shop.alloc_space: clients that know nothing of pprof say it there.
func suffixOf(s string) (kind string, t profile.ValueType, ok bool) {
	count, size, delay := "count", "bytes", "nanoseconds"
	switch s {
	case "cpu", "itimer":
		return "process_cpu", profile.ValueType{Type: "samples", Unit: count}, true
	case "wall":
		return "wall", profile.ValueType{Type: "samples", Unit: count}, true
	case "inuse_objects", "alloc_objects":
		return "memory", profile.ValueType{Type: s, Unit: count}, true
	case "inuse_space", "alloc_space":
		return "memory", profile.ValueType{Type: s, Unit: size}, true
	case "goroutines":
		return "goroutine", profile.ValueType{Type: s, Unit: count}, true
	case "mutex_count", "block_count":
		return s[:5], profile.ValueType{Type: "contentions", Unit: count}, true
	case "mutex_duration", "block_duration":
		return s[:5], profile.ValueType{Type: "delay", Unit: delay}, true
	}
	return "", t, false
}

// countLines makes folded stacks of lines that are a stack each, once for every sample.
func countLines(body []byte) []byte {
	var out []byte
	for line := range bytes.Lines(body) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			out = append(append(out, line...), " 1\n"...)
		}
	}
	return out
}

// sampleRate is how many samples a second there are. A rate that is none is the default,
// as for Pyroscope.
func sampleRate(s string) int64 {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == 0 || n > uint64(time.Second) {
		return defaultRate
	}
	return int64(n)
}

// clientTime reads a time as number of seconds since 1970, or of milliseconds,
// microseconds or nanoseconds, which the number of digits tells. Anything else is no
// time.
func clientTime(s string) time.Time {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	switch {
	case len(s) <= 11:
		return time.Unix(n, 0)
	case len(s) <= 14:
		return time.UnixMilli(n)
	case len(s) <= 17:
		return time.UnixMicro(n)
	default:
		return time.Unix(0, n)
	}
}
