// Package loadlogtest makes load logs for tests out of tables that a reviewer
// can read, with one row per request:
//
//	begin  service  dial  status  bytes
//	0s     12ms     1ms   200     13
//	5ms    10ms     0s    200     13
//	8ms    3ms      0s    -       0     connection refused
//
// A row that begins with "20×" stands for 20 requests. A status of "-" is a
// failure; the words after the last column are its text. A request's wait is what
// the other parts leave of its service.
package loadlogtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/format/loadlog"
	"loupe/value/timeline"
)

// Log reads a table. Columns that it does not name are zero, and status is
// 200. The log has an elapsed time, the end of its last request unless the
// caller changes it. It panics on a table that it cannot read.
func Log(table string) *loadlog.Log {
	h := loadlog.Header{Schema: loadlog.Schema, URL: "http://localhost:5000/", Method: "GET", Concurrency: 1}
	var rows []loadlog.Request
	var names []string
	for line := range strings.Lines(table) {
		cells := strings.Fields(line)
		switch {
		case len(cells) == 0:
		case names == nil:
			names = cells
			h.Open = slices.Contains(names, "late")
		default:
			times := 1
			if n, ok := strings.CutSuffix(cells[0], "×"); ok {
				times, cells = number(n, line), cells[1:]
			}
			for range times {
				rows = append(rows, request(&h, names, cells, line))
			}
		}
	}
	for i := range rows {
		h.Elapsed = max(h.Elapsed, time.Duration(rows[i].End()))
	}
	return loadlog.New(h, rows)
}

func number(text, line string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("row %q: %v", line, err))
	}
	return n
}

func request(h *loadlog.Header, names, cells []string, line string) (r loadlog.Request) {
	if len(cells) < len(names) {
		panic(fmt.Sprintf("row %q has %d cells, want %d", line, len(cells), len(names)))
	}
	times := map[string]*time.Duration{
		"begin": (*time.Duration)(&r.Begin), "late": &r.Late, "service": &r.Service, "dial": &r.Dial, "dns": &r.DNS,
		"write": &r.Write, "wait": &r.Wait, "read": &r.Read,
	}
	r.Status = 200
	for i, name := range names {
		switch cell := cells[i]; {
		case name == "status" && cell == "-":
			r.Status, r.Error = 0, errorOf(h, strings.Join(cells[len(names):], " "))
		case name == "status":
			r.Status = uint16(number(cell, line))
		case name == "bytes":
			r.Bytes = int64(number(cell, line))
		default:
			d, err := time.ParseDuration(cell)
			if err != nil {
				panic(fmt.Sprintf("row %q: %v", line, err))
			}
			*times[name] = d
		}
	}
	h.ServedLength += r.Bytes
	return r
}

// errorOf returns the value of Request.Error for a text.
func errorOf(h *loadlog.Header, text string) uint16 {
	i := slices.Index(h.Errors, text)
	if i < 0 {
		i = len(h.Errors)
		h.Errors = append(h.Errors, text)
	}
	return uint16(i + 1)
}

// Steady is a run of n requests that begin evenly over elapsed, each of which
// takes service.
func Steady(n int, elapsed, service time.Duration) *loadlog.Log {
	h := Log("begin service").Header
	h.Elapsed = elapsed
	rows := make([]loadlog.Request, n)
	for i := range rows {
		rows[i] = loadlog.Request{Begin: timeline.Time(elapsed * time.Duration(i) / time.Duration(n)), Service: service, Status: 200}
	}
	return loadlog.New(h, rows)
}

// Encode returns the file of a log.
func Encode(l *loadlog.Log) []byte {
	var b bytes.Buffer
	if err := l.Encode(&b); err != nil {
		panic(err.Error())
	}
	return b.Bytes()
}

// Mixed is a run of a random mix of answered, failed, timed-out and unsent
// requests, in a closed or an open loop.
func Mixed(rnd *rand.Rand) *loadlog.Log {
	h := Log("begin service").Header
	h.Start, h.Open, h.Errors = time.Unix(1.7e9, 0), rnd.IntN(2) == 0, []string{loadlog.TimedOut, "connection reset by peer"}
	timeouts, resets := 0.0, 0.0
	if rnd.IntN(3) > 0 {
		timeouts, resets = rnd.Float64()*rnd.Float64(), rnd.Float64()*rnd.Float64()
	}
	var rows []loadlog.Request
	for range rnd.IntN(3000) {
		r := loadlog.Request{Begin: timeline.Time(rnd.IntN(5e9)), Service: 1000 + time.Duration(rnd.ExpFloat64()*1e6), Status: 200, Bytes: 10}
		if h.Open {
			r.Late = time.Duration(rnd.ExpFloat64() * 1e5)
		}
		switch x := rnd.Float64(); {
		case x < timeouts:
			r.Status, r.Error, r.Service, r.Bytes = 0, 1, time.Second, 0
		case x < timeouts+resets:
			r.Status, r.Error, r.Bytes = 0, 2, 0
		case x > 0.95:
			r.Status = 500
		}
		h.Elapsed = max(h.Elapsed, time.Duration(r.End()))
		rows = append(rows, r)
	}
	if h.Open && rnd.IntN(2) == 0 {
		h.Unsent = int64(rnd.IntN(300))
	}
	return loadlog.New(h, rows)
}
