//go:build go1.25

package inject

import (
	loupe_io "io"
	loupe_trace "runtime/trace"
	loupe_time "time"
)

func init() {
	loupeNewFlight = func(age loupe_time.Duration, size uint64) (write func(loupe_io.Writer) error, stop func(), err error) {
		f := loupe_trace.NewFlightRecorder(loupe_trace.FlightRecorderConfig{MinAge: age, MaxBytes: size})
		if err := f.Start(); err != nil {
			return nil, nil, err
		}
		return func(w loupe_io.Writer) error {
			_, err := f.WriteTo(w)
			return err
		}, f.Stop, nil
	}
}
