package session

import (
	"fmt"

	"loupe/format/metrics"
	"loupe/recording"
	"loupe/value/timeline"
)

// DateError is how far the date of one machine is taken to wander against its
// other clocks during a recording.
const DateError = dateError

// Pauses returns the stops of the world for collections that the samples of
// /debug/vars tell of, in order of time, and the entry: those of the last 256
// before each sample.
func (s *Session) Pauses(run int) ([]timeline.Span, string, error) {
	run = max(run, 0)
	for _, e := range s.rec.Of(recording.Vars) {
		if e.Run != run {
			continue
		}
		spans, err := decoded(s, e.Path+" pauses", func(s *Session) ([]timeline.Span, error) {
			data, err := s.rec.ReadFile(e.Path, maxEntry)
			if err != nil {
				return nil, err
			}
			return metrics.ParsePauses(data, s.rec.Start), nil
		})
		return spans, e.Path, err
	}
	return nil, "", fmt.Errorf("pauses of process %d: %w", run+1, ErrNone)
}
