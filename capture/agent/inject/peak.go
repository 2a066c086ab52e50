package inject

import (
	loupe_bytes "bytes"
	loupe_fmt "fmt"
	loupe_io "io"
	loupe_metrics "runtime/metrics"
	loupe_pprof "runtime/pprof"
	loupe_time "time"
)

// What bounds the cost of heap profiles at peaks. None is taken of a small heap, nor
// before the live heap has grown by a quarter: from 8 MiB to 8 GiB these are 31 peaks.
// Between two peaks there are twenty times as long as the last profiles took, which is 5% of
// one CPU at most. The live heap is asked for without stopping anybody, at once after collections that
// follow each other, and less and less often while there is none: whoever wakes up in an idle
// program wakes the runtime's monitor too, which costs a millisecond.
const (
	loupePeakLeast  = 8 << 20
	loupePeakCount  = 40
	loupePeakRest   = 20
	loupePeakWatch  = 10 * loupe_time.Millisecond // for the collection after a peak
	loupePeakLooks  = 50                          // how often
	loupePeakSoon   = 50 * loupe_time.Millisecond
	loupePeakSeldom = loupe_time.Second
)

// loupePeaks writes a heap profile at each new peak of the live heap, until the asker
// hangs up: a line with the number of the peak, the bytes that the last collection found
// live, and the length of the profile behind it.
//
// A profile knows what was allocated before the last collection but one (runtime/mprof.go).
// So each peak is written twice: at once, and after the next collection, when the profile
// has all that the first of the two found live.
func loupePeaks(w loupe_io.Writer, c loupeConn) error {
	now := []loupe_metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	loupe_metrics.Read(now)
	if now[0].Value.Kind() != loupe_metrics.KindUint64 {
		return loupe_fmt.Errorf("the program's Go does not tell its live heap, which came with Go 1.21")
	}
	if _, err := w.Write(nil); err != nil {
		return nil // the asker is gone
	}
	var peak, seen, last uint64 // the highest live heap, the collection that found it, and the last one
	pause, looks := loupePeakSoon, 0
	var earliest loupe_time.Time // for the next peak
	var data loupe_bytes.Buffer
	for n := 0; ; {
		loupe_metrics.Read(now)
		live, cycle := now[0].Value.Uint64(), now[1].Value.Uint64()
		next := live >= loupePeakLeast && live >= peak+peak/4 && n < loupePeakCount && !loupe_time.Now().Before(earliest)
		again := seen != 0 && cycle > seen
		if pause *= 2; pause > loupePeakSeldom {
			pause = loupePeakSeldom
		}
		if cycle != last {
			last, pause = cycle, loupePeakSoon
		}
		rest := pause
		if next || again {
			seen, looks = 0, 0
			if next {
				n, peak, seen = n+1, live, cycle
			}
			began := loupe_time.Now()
			data.Reset()
			if err := loupe_pprof.Lookup("heap").WriteTo(&data, 0); err != nil {
				return err
			}
			if until := loupe_time.Now().Add(loupe_time.Since(began) * loupePeakRest); earliest.Before(until) {
				earliest = until
			}
			if _, err := loupe_fmt.Fprintf(w, "%d %d %d\n", n, peak, data.Len()); err != nil {
				return nil
			}
			if _, err := w.Write(data.Bytes()); err != nil {
				return nil
			}
		}
		if looks++; seen != 0 && looks <= loupePeakLooks {
			rest = loupePeakWatch // until the next collection, after which all may be gone
		}
		if c.wait(rest) {
			return nil
		}
	}
}
