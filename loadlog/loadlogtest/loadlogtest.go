// Package loadlogtest makes load logs for tests out of tables that a reviewer
// can read, with one row per request:
//
//	begin  service  dial  status  bytes
//	0s     12ms     1ms   200     13
//	5ms    10ms     0s    200     13
//	8ms    3ms      0s    -       0     connection refused
//
// A row that begins with "20×" stands for 20 requests. A status of "-" is a
// failure; the words after the last column are its text.
package loadlogtest

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/loadlog"
	"loupe/timeline"
)

// Log reads a table. Columns that it does not name are zero, and status is
// 200. The log has an elapsed time, the end of its last request unless the
// caller changes it. It panics on a table that it cannot read.
func Log(table string) *loadlog.Log {
	l := &loadlog.Log{Header: loadlog.Header{Schema: loadlog.Schema, URL: "http://localhost:5000/", Method: "GET", Concurrency: 1}}
	var names []string
	for line := range strings.Lines(table) {
		cells := strings.Fields(line)
		switch {
		case len(cells) == 0:
		case names == nil:
			names = cells
			if slices.Contains(names, "late") {
				l.Late = []time.Duration{}
			}
		default:
			times := 1
			if n, ok := strings.CutSuffix(cells[0], "×"); ok {
				times, cells = number(n, line), cells[1:]
			}
			for range times {
				add(l, names, cells, line)
			}
		}
	}
	for i := range l.Begin {
		l.Elapsed = max(l.Elapsed, time.Duration(l.Span(i).End))
	}
	return l
}

func number(text, line string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("row %q: %v", line, err))
	}
	return n
}

func add(l *loadlog.Log, names, cells []string, line string) {
	if len(cells) < len(names) {
		panic(fmt.Sprintf("row %q has %d cells, want %d", line, len(cells), len(names)))
	}
	value := map[string]time.Duration{}
	status, size, failed := 200, 0, uint16(0)
	for i, name := range names {
		switch cell := cells[i]; {
		case name == "status" && cell == "-":
			status, failed = 0, errorOf(l, strings.Join(cells[len(names):], " "))
		case name == "status":
			status = number(cell, line)
		case name == "bytes":
			size = number(cell, line)
		default:
			d, err := time.ParseDuration(cell)
			if err != nil {
				panic(fmt.Sprintf("row %q: %v", line, err))
			}
			value[name] = d
		}
	}
	l.Begin = append(l.Begin, timeline.Time(value["begin"]))
	if l.Late != nil {
		l.Late = append(l.Late, value["late"])
	}
	for name, column := range map[string]*[]time.Duration{
		"service": &l.Service, "dial": &l.Dial, "dns": &l.DNS, "write": &l.Write, "wait": &l.Wait, "read": &l.Read,
	} {
		*column = append(*column, value[name])
	}
	l.Status, l.Bytes, l.Error = append(l.Status, uint16(status)), append(l.Bytes, int64(size)), append(l.Error, failed)
	l.ServedLength += int64(size)
}

// errorOf returns the value of the column Error for a text.
func errorOf(l *loadlog.Log, text string) uint16 {
	i := slices.Index(l.Errors, text)
	if i < 0 {
		i = len(l.Errors)
		l.Errors = append(l.Errors, text)
	}
	return uint16(i + 1)
}

// Steady is a run of n requests that begin evenly over elapsed, each of which
// takes service.
func Steady(n int, elapsed, service time.Duration) *loadlog.Log {
	l := Log("begin service")
	for i := range n {
		add(l, []string{"begin", "service"}, []string{(elapsed * time.Duration(i) / time.Duration(n)).String(), service.String()}, "steady")
	}
	l.Elapsed = elapsed
	return l
}

// Encode returns the file of a log.
func Encode(l *loadlog.Log) []byte {
	var b bytes.Buffer
	if err := l.Encode(&b); err != nil {
		panic(err.Error())
	}
	return b.Bytes()
}
