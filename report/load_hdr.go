package report

import (
	"fmt"
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"loupe/format/loadlog"
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
// log analyser read. Longer times than an hour count as an hour, and so do requests that
// were never answered: the format has no place for them, and without them its
// percentiles would be those of the answers alone. A comment says how many.
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
	never := l.Unsent
	for r := range l.All() {
		if r.Error != 0 {
			never++
		}
	}
	if never > 0 {
		if err := w.OutputComment(fmt.Sprintf("%d requests were never answered: they count as an hour", never)); err != nil {
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
	for r := range l.All() {
		for next < len(slices)-1 && r.End() >= slices[next].Span.End {
			if err := flush(&slices[next]); err != nil {
				return err
			}
			next++
		}
		took := min(max(int64(r.Latency()), hdrLow), hdrHigh)
		if r.Error != 0 {
			took = hdrHigh
		}
		if err := h.RecordValue(took); err != nil {
			return err
		}
	}
	if err := h.RecordValues(hdrHigh, l.Unsent); err != nil {
		return err
	}
	return flush(&slices[next])
}
