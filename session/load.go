package session

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"loupe/format/loadlog"
	"loupe/recording"
	"loupe/value/timeline"
	"loupe/value/unit"
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
	m.Notes = append(m.Notes, fmt.Sprintf("%s: %s", f.Name, figuresOf(l)))
	for _, note := range l.Notes {
		m.Notes = append(m.Notes, fmt.Sprintf("%s: %s", f.Name, note))
	}
	return nil
}

// figuresOf are the figures of a summary in a line.
func figuresOf(l *loadlog.Summary) string {
	parts := []string{fmt.Sprintf("%s requests by %s in %s, %s/s", unit.Count(int64(l.Requests)), l.Foreign, unit.Nanoseconds(l.Seconds*1e9), unit.Number(l.RPS))}
	q := &l.Latency
	for _, p := range []struct {
		name string
		d    time.Duration
	}{{"fastest", q.Min}, {"mean", q.Mean}, {"p10", q.P10}, {"p25", q.P25}, {"p50", q.P50}, {"p75", q.P75}, {"p90", q.P90}, {"p95", q.P95}, {"p99", q.P99}, {"p99.9", q.P999}, {"p99.99", q.P9999}, {"slowest", q.Max}} {
		if p.d > 0 {
			parts = append(parts, p.name+" "+unit.Duration(p.d))
		}
	}
	if n := l.BadStatus(); n > 0 {
		parts = append(parts, fmt.Sprintf("%s answers of a status of 400 or above", unit.Count(int64(n))))
	}
	for _, text := range slices.Sorted(maps.Keys(l.Errors)) {
		parts = append(parts, fmt.Sprintf("%s × %s", unit.Count(int64(l.Errors[text])), text))
	}
	return strings.Join(parts, ", ")
}
