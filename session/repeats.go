package session

import (
	"fmt"

	"loupe/format/repeats"
	"loupe/recording"
)

// Repeats is which calls of the program repeat, as a run of its own has counted them. An error wraps
// [ErrNone] where that was not recorded.
func (s *Session) Repeats() (*repeats.Set, error) {
	found := s.rec.Of(recording.Repeats)
	if len(found) == 0 {
		return nil, fmt.Errorf("counts of calls that repeat: %w", ErrNone)
	}
	return decoded(s, found[0].Path, func(s *Session) (*repeats.Set, error) {
		data, err := s.rec.ReadFile(found[0].Path, maxEntry)
		if err != nil {
			return nil, err
		}
		set, err := repeats.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", found[0].Path, err)
		}
		return set, nil
	})
}
