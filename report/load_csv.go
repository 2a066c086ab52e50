package report

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
	"time"

	"loupe/format/loadlog"
)

// WriteHeyCSV prints every request that was due in the order in which they ended,
// in hey's columns, but with microseconds: hey's four decimals show zeros for a
// fast service. One that was never answered, which hey leaves out, has an infinite
// response time ("inf", which spreadsheets and readers of CSV sort behind all
// numbers) and the status 0, so that percentiles of the column are true.
func WriteHeyCSV(out io.Writer, l *loadlog.Log) error {
	w := bufio.NewWriter(out)
	w.WriteString("response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n")
	var b []byte
	for r := range l.All() {
		b = b[:0]
		if r.Error != 0 {
			b = append(b, "inf,"...)
		} else {
			b = append(strconv.AppendFloat(b, r.Latency().Seconds(), 'f', 6, 64), ',')
		}
		for _, d := range [...]time.Duration{r.Dial, r.DNS, r.Write, r.Wait, r.Read} {
			b = append(strconv.AppendFloat(b, d.Seconds(), 'f', 6, 64), ',')
		}
		b = append(strconv.AppendUint(b, uint64(r.Status), 10), ',')
		b = append(strconv.AppendFloat(b, time.Duration(r.Begin).Seconds(), 'f', 6, 64), '\n')
		w.Write(b)
	}
	for range l.Unsent { // nobody knows when each was due
		w.WriteString("inf,0,0,0,0,0,0," + strconv.FormatFloat(l.Elapsed.Seconds(), 'f', 6, 64) + "\n")
	}
	return w.Flush()
}

// requestJSON is one line of [WriteRequests].
type requestJSON struct {
	Begin   int64  `json:"begin_ns"`
	Late    int64  `json:"late_ns"`
	Latency int64  `json:"latency_ns"`
	Service int64  `json:"service_ns"`
	Dial    int64  `json:"dial_ns"`
	DNS     int64  `json:"dns_ns"`
	TLS     int64  `json:"tls_ns"`
	Write   int64  `json:"write_ns"`
	Wait    int64  `json:"wait_ns"`
	Read    int64  `json:"read_ns"`
	Conn    uint32 `json:"connection"`
	Target  uint16 `json:"target"`
	Status  uint16 `json:"status"`
	Hops    uint8  `json:"redirects,omitempty"`
	Bytes   int64  `json:"bytes"`
	Error   string `json:"error,omitempty"`
	// Censored tells that the request was never answered: latency_ns is when it
	// was given up, and its answer would have come later or never.
	Censored bool `json:"censored,omitempty"`
}

// WriteRequests prints every request, answered or not, as a line of JSON, in
// the order in which they ended, and a line for each that was never sent.
func WriteRequests(out io.Writer, l *loadlog.Log) error {
	w := bufio.NewWriter(out)
	enc := json.NewEncoder(w)
	for r := range l.All() {
		q := requestJSON{
			Begin: int64(r.Begin), Late: int64(r.Late), Latency: int64(r.Latency()), Service: int64(r.Service),
			Dial: int64(r.Dial), DNS: int64(r.DNS), TLS: int64(r.TLS), Write: int64(r.Write), Wait: int64(r.Wait), Read: int64(r.Read),
			Conn: r.Conn, Target: r.Target, Status: r.Status, Hops: r.Hops, Bytes: r.Bytes,
		}
		if r.Error != 0 {
			q.Error, q.Censored = l.ErrorText(r.Error), true
		}
		if err := enc.Encode(&q); err != nil {
			return err
		}
	}
	for range l.Unsent {
		w.WriteString(unsentLine)
	}
	return w.Flush()
}

// unsentLine stands for a request that was due within the run and never sent.
const unsentLine = `{"unsent":true,"censored":true,"error":"due and never sent"}` + "\n"
