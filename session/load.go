package session

import "loupe/recording"

// LoadEntry returns the entry that [Session.Load] reads; the zero entry when
// there is none.
func (s *Session) LoadEntry(phase string) recording.Entry {
	for _, e := range s.rec.Of(recording.Load) {
		if e.Phase == phase {
			return e
		}
	}
	return recording.Entry{}
}
