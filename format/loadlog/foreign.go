package loadlog

import (
	"bytes"
	"encoding/csv"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/value/timeline"
)

// The generators besides loupe whose results, with each request, are read.
const (
	Hey    = "hey"    // hey -o csv
	Vegeta = "vegeta" // vegeta attack, and vegeta encode -to csv or json
)

// Scheduled tells whether another generator sends at a rate, so that its rate is not
// the service's.
func Scheduled(generator string) bool {
	return generator == Vegeta || generator == Wrk2
}

// heyTitle is the first line of what hey -o csv prints.
const heyTitle = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset"

// maxTargets bounds the different requests of a run that are told apart.
const maxTargets = 1000

// Looks tells by the begin of a file whether it holds the requests of a load run, as
// [Decode] reads them.
func Looks(head []byte) bool {
	return bytes.HasPrefix(head, []byte("loupe.load/")) || foreignOf(head) != nil
}

// foreignOf finds the reader of another generator's results by their begin.
func foreignOf(head []byte) func(*foreign, []byte) error {
	line, _, _ := bytes.Cut(head[:min(len(head), 4<<10)], []byte("\n"))
	switch {
	case bytes.HasPrefix(line, []byte(heyTitle)):
		return (*foreign).hey
	case bytes.HasPrefix(line, []byte(`{"attack":`)) && bytes.Contains(line, []byte(`"latency":`)) && bytes.Contains(line, []byte(`"timestamp":`)):
		return (*foreign).vegetaJSON
	case vegetaRow(line):
		return (*foreign).vegetaCSV
	}
	// The definition of the type that gob begins with.
	begin := head[:min(len(head), 200)]
	if bytes.Contains(begin[:min(len(begin), 16)], []byte("\x06Result\x01")) && bytes.Contains(begin, []byte("\x06Attack\x01")) && bytes.Contains(begin, []byte("\x07Latency\x01")) {
		return (*foreign).vegetaGob
	}
	return nil
}

// vegetaRow tells whether a line begins as those of vegeta encode -to csv, which have no
// title: an instant in ns, a status, a latency, and bytes out and in.
func vegetaRow(line []byte) bool {
	fields := bytes.SplitN(line, []byte(","), 6)
	if len(fields) < 6 || len(fields[0]) < 16 || len(fields[0]) > 19 || len(fields[1]) > 3 {
		return false
	}
	for _, f := range fields[:5] {
		if len(f) == 0 || bytes.ContainsFunc(f, func(r rune) bool { return r < '0' || r > '9' }) {
			return false
		}
	}
	return true
}

// foreign collects the requests of another generator.
type foreign struct {
	h       Header
	rows    []Request
	faults  map[string]uint16
	targets map[Target]uint16
}

// decodeForeign reads the results of another generator. Beside an error come the
// requests in front of what is wrong.
func decodeForeign(data []byte, read func(*foreign, []byte) error) (*Log, error) {
	f := &foreign{faults: map[string]uint16{}, targets: map[Target]uint16{}}
	err := read(f, data)
	if err == nil && len(f.rows) == 0 {
		err = errors.New("there is no request in it")
	}
	if err != nil {
		err = fmt.Errorf("cannot read the results of %s: %w", f.h.Foreign, err)
	}
	if len(f.rows) == 0 {
		return nil, err
	}
	first := slices.MinFunc(f.rows, func(a, b Request) int { return int(max(-1, min(1, a.Begin-b.Begin))) }).Begin
	if f.h.Foreign == Vegeta {
		f.h.Start = time.Unix(0, int64(first)).UTC()
	}
	for i := range f.rows {
		r := &f.rows[i]
		r.Begin -= first
		f.h.Elapsed = max(f.h.Elapsed, time.Duration(r.End()))
	}
	f.h.Schema = Schema
	if len(f.h.Targets) > 0 {
		f.h.URL, f.h.Method = f.h.Targets[0].URL, f.h.Targets[0].Method
	}
	if len(f.h.Targets) == 1 {
		f.h.Targets = nil
	}
	return New(f.h, f.rows), err
}

// fault returns the number of an error's text.
func (f *foreign) fault(text string) uint16 {
	if _, ok := f.faults[text]; !ok && len(f.faults) >= maxTexts {
		text = "other errors"
	}
	n, ok := f.faults[text]
	if !ok {
		f.h.Errors = append(f.h.Errors, strings.Clone(text))
		n = uint16(len(f.h.Errors))
		f.faults[strings.Clone(text)] = n
	}
	return n
}

// target returns the number of a kind of request.
func (f *foreign) target(method, url string) uint16 {
	t := Target{Method: method, URL: url}
	if _, ok := f.targets[t]; !ok && len(f.targets) >= maxTargets {
		t = Target{Method: "*", URL: "others"}
	}
	n, ok := f.targets[t]
	if !ok {
		n = uint16(len(f.h.Targets))
		t = Target{Method: strings.Clone(t.Method), URL: strings.Clone(t.URL)}
		f.targets[t] = n
		f.h.Targets = append(f.h.Targets, t)
	}
	return n
}

// csvReader reads rows, whose strings are overwritten by the next one.
func csvReader(data []byte) *csv.Reader {
	r := csv.NewReader(bytes.NewReader(data))
	r.ReuseRecord, r.FieldsPerRecord = true, -1
	return r
}

// cutAt makes an error of the last row of a file one of a file that was cut.
func cutAt(line int, last bool, err error) error {
	if last {
		return fmt.Errorf("line %d: %w (%w)", line, ErrCut, err)
	}
	return fmt.Errorf("line %d: %w", line, err)
}

// hey reads what hey -o csv prints.
func (f *foreign) hey(data []byte) error {
	f.h.Foreign, f.h.Tool = Hey, Hey
	f.h.Model = "unknown: hey sends in a closed loop, with -q at no more than a rate"
	f.h.Notes = []string{
		"hey -o csv leaves out requests that failed and those behind the first million, and says nothing of it",
		"hey's times have four digits behind the point: they are true to 0.1 ms",
		"hey does not print when requests were due: what waited for a connection to be free is not in the times",
	}
	in := csvReader(data)
	for n := 1; ; n++ {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && n == 1 {
			continue // the title
		}
		var r Request
		if err == nil {
			r, err = heyRow(row)
		}
		if err != nil {
			line, _ := in.FieldPos(0)
			return cutAt(max(line, n), in.InputOffset() >= int64(len(data)), err)
		}
		f.rows = append(f.rows, r)
	}
}

// heyRow reads the fields of a row.
func heyRow(row []string) (r Request, err error) {
	if len(row) != 8 {
		return r, fmt.Errorf("it has %d fields, want 8", len(row))
	}
	var begin time.Duration
	for i, to := range []*time.Duration{&r.Service, &r.Dial, &r.DNS, &r.Write, &r.Wait, &r.Read, nil, &begin} {
		if to == nil {
			continue
		}
		s, err := strconv.ParseFloat(row[i], 64)
		if err != nil || !(math.Abs(s) <= time.Duration(maxTime).Seconds()/2) || s < 0 && i == 0 {
			return r, fmt.Errorf("%q is not a time in seconds", row[i])
		}
		*to = time.Duration(math.Round(s * 1e9))
	}
	status, err := strconv.ParseUint(row[6], 10, 16)
	if err != nil {
		return r, fmt.Errorf("%q is not a status", row[6])
	}
	r.Begin, r.Status = timeline.Time(begin), uint16(status)
	return r, nil
}

// vegetaResult is a result of vegeta, as far as it is read.
type vegetaResult struct {
	Attack    string        `json:"attack"`
	Code      uint16        `json:"code"`
	Timestamp time.Time     `json:"timestamp"`
	Latency   time.Duration `json:"latency"`
	BytesIn   uint64        `json:"bytes_in"`
	Error     string        `json:"error"`
	Method    string        `json:"method"`
	URL       string        `json:"url"`
}

// vegeta says what results of vegeta are.
func (f *foreign) vegeta() {
	f.h.Foreign, f.h.Tool = Vegeta, Vegeta
	f.h.Model = "unknown: vegeta sends at a rate, or with -rate 0 in a closed loop"
	f.h.Notes = []string{"vegeta does not say when requests were due: its times begin when a request was sent, and one that was late is not told from one that was not"}
}

// add takes a result in.
func (f *foreign) add(v *vegetaResult) error {
	at := v.Timestamp.UnixNano()
	if v.Timestamp.Year() < 1971 || v.Timestamp.Year() > 2200 {
		return fmt.Errorf("the instant %s is none of a run", v.Timestamp)
	}
	if v.Latency < 0 || v.Latency > time.Duration(maxTime)/2 {
		return fmt.Errorf("the latency %d ns is none", int64(v.Latency))
	}
	if n := len(f.rows); n > 0 && math.Abs(float64(at)-float64(f.rows[0].Begin)) > float64(maxTime)/2 {
		return fmt.Errorf("the instant %s is far from the first, %s", v.Timestamp, time.Unix(0, int64(f.rows[0].Begin)))
	}
	r := Request{Begin: timeline.Time(at), Service: v.Latency, Status: v.Code, Bytes: int64(min(v.BytesIn, math.MaxInt64/2)), Target: f.target(v.Method, v.URL)}
	// An answer whose status vegeta takes for an error has that as its text.
	if v.Error != "" && (v.Code == 0 || !strings.HasPrefix(v.Error, strconv.Itoa(int(v.Code)))) {
		r.Error = f.fault(v.Error)
	}
	f.rows = append(f.rows, r)
	return nil
}

func (f *foreign) vegetaJSON(data []byte) error {
	f.vegeta()
	n, at := 0, 0
	for line := range bytes.Lines(data) {
		n, at = n+1, at+len(line)
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var v vegetaResult
		err := json.Unmarshal(line, &v)
		if err == nil {
			err = f.add(&v)
		}
		if err != nil {
			return cutAt(n, at == len(data), err)
		}
	}
	return nil
}

func (f *foreign) vegetaCSV(data []byte) error {
	f.vegeta()
	in := csvReader(data)
	for n := 1; ; n++ {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var v vegetaResult
		if err == nil {
			v, err = vegetaFields(row)
		}
		if err == nil {
			err = f.add(&v)
		}
		if err != nil {
			return cutAt(n, in.InputOffset() >= int64(len(data)), err)
		}
	}
}

// vegetaFields reads the fields of a row: timestamp, code, latency, bytes out and in,
// error, body, attack, number, and of later versions method, URL and headers.
func vegetaFields(row []string) (v vegetaResult, err error) {
	if len(row) < 9 {
		return v, fmt.Errorf("it has %d fields, want 12", len(row))
	}
	var n [5]uint64
	for i := range n {
		bits := 63
		if i == 1 {
			bits = 16
		}
		if n[i], err = strconv.ParseUint(row[i], 10, bits); err != nil {
			return v, fmt.Errorf("field %d: %w", i+1, err)
		}
	}
	v = vegetaResult{Attack: row[7], Timestamp: time.Unix(0, int64(n[0])).UTC(), Code: uint16(n[1]), Latency: time.Duration(n[2]), BytesIn: n[4], Error: row[5]}
	if len(row) >= 11 {
		v.Method, v.URL = row[9], row[10]
	}
	return v, nil
}

func (f *foreign) vegetaGob(data []byte) error {
	f.vegeta()
	in := gob.NewDecoder(bytes.NewReader(data))
	for n := 1; ; n++ {
		var v vegetaResult
		err := in.Decode(&v)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("result %d: %w", n, ErrCut)
		case err == nil:
			err = f.add(&v)
		}
		if err != nil {
			return fmt.Errorf("result %d: %w", n, err)
		}
	}
}
