package session

import (
	"errors"

	"loupe/loadlog"
	"loupe/recording"
	"loupe/timeline"
)

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

// addRequests enters a load run, as a bare phase that has the name of the file.
func (s *Session) addRequests(f *File) error {
	m := &s.rec.Manifest
	m.Phases = append(m.Phases, recording.Phase{Name: f.Name, Run: -1})
	m.Entries = append(m.Entries, recording.Entry{Path: f.Name, Kind: recording.Load, Phase: f.Name, Bytes: f.Bytes})
	s.rec.Clocks = append(s.rec.Clocks, recording.Clock{Path: f.Name})
	l, err := s.Load(f.Name)
	if l == nil || err != nil && !errors.Is(err, loadlog.ErrCut) {
		return err
	}
	f.Kind, f.Requests, f.Length, f.Time = recording.Load, l.Len(), l.Elapsed, l.Start
	covers := timeline.Span{End: timeline.Time(f.Length)}
	m.Phases[len(m.Phases)-1].Span, m.Entries[len(m.Entries)-1].Span = covers, covers
	return nil
}
