package report

import (
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"loupe/loadlog"
)

// The histograms of [WriteHdr] tell microseconds apart, up to an hour, with three
// digits: as wrk2's do, but in ns, of which readers of the format make ms.
const (
	hdrLow    = int64(time.Microsecond)
	hdrHigh   = int64(time.Hour)
	hdrDigits = 3
)

// WriteHdr prints the response times as an HdrHistogram log, version 1.3 of the
// format, with an interval for every second, in ns: what HdrHistogram's plotter and
// log analyser read. Longer times than an hour count as an hour.
func WriteHdr(out io.Writer, l *loadlog.Log) error {
	w := hdrhistogram.NewHistogramLogWriter(out)
	at := func(d time.Duration) int64 { return l.Start.Add(d).UnixMilli() }
	start := l.Start.UnixMilli()
	w.SetBaseTime(start)
	for _, err := range []error{
		w.OutputComment("Logged with loupe"), w.OutputLogFormatVersion(), w.OutputStartTime(start), w.OutputBaseTime(start), w.OutputLegend(),
	} {
		if err != nil {
			return err
		}
	}
	h := hdrhistogram.New(hdrLow, hdrHigh, hdrDigits)
	slices := l.Slices(time.Second)
	next := 0
	flush := func(s *loadlog.Slice) error {
		h.SetStartTimeMs(at(time.Duration(s.Span.Start)))
		h.SetEndTimeMs(at(time.Duration(s.Span.End)))
		err := w.OutputIntervalHistogram(h)
		h.Reset()
		return err
	}
	for r := range l.Answered() {
		for next < len(slices)-1 && r.End() >= slices[next].Span.End {
			if err := flush(&slices[next]); err != nil {
				return err
			}
			next++
		}
		if err := h.RecordValue(min(max(int64(r.Latency()), hdrLow), hdrHigh)); err != nil {
			return err
		}
	}
	return flush(&slices[next])
}
