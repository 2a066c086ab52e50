package session

import (
	"errors"
	"fmt"
	"time"

	"loupe/format/loadlog"
	"loupe/recording"
	"loupe/value/timeline"
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
func (s loose) addRequests(f *File) error {
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

// LoadSummary is the kind of a text that sums a load run up.
const LoadSummary recording.Kind = "load summary"

// addLoadText enters the summary of a load run, whose figures are noted: there are no
// requests behind them to look at.
func (s loose) addLoadText(f *File) error {
	s.rec.Entries = append(s.rec.Entries, recording.Entry{Path: f.Name, Kind: LoadSummary, Bytes: f.Bytes})
	f.Kind = LoadSummary
	data, err := s.rec.ReadFile(f.Name, maxEntry)
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", f.Name, err)
	}
	l, err := loadlog.DecodeText(data)
	if err != nil {
		return fmt.Errorf("cannot use %s: %w", f.Name, err)
	}
	f.Requests, f.Length = l.Requests, time.Duration(l.Seconds*float64(time.Second))
	m := &s.rec.Manifest
	m.Notes = append(m.Notes, fmt.Sprintf("%s: %s", f.Name, l.Line()))
	for _, note := range l.Notes {
		m.Notes = append(m.Notes, fmt.Sprintf("%s: %s", f.Name, note))
	}
	return nil
}
