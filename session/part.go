package session

import (
	"slices"

	"loupe/recording"
)

// Only returns a session of one file of many that stand alone: what it shows is
// that file's alone. It decodes anew.
func (s *Session) Only(path string) *Session {
	m := s.rec.Manifest
	m.Title = path
	keep := func(of string) bool { return of == path }
	m.Entries = slices.DeleteFunc(slices.Clone(m.Entries), func(e recording.Entry) bool { return !keep(e.Path) && e.Kind != recording.Source })
	m.Phases = slices.DeleteFunc(slices.Clone(m.Phases), func(p recording.Phase) bool {
		return !slices.ContainsFunc(m.Entries, func(e recording.Entry) bool { return e.Phase == p.Name && keep(e.Path) })
	})
	m.Clocks = slices.DeleteFunc(slices.Clone(m.Clocks), func(c recording.Clock) bool { return !keep(c.Path) })
	only := New(recording.Of(m, s.rec.FS()))
	only.ctx, only.memo.Around = s.ctx, s.memo.Around
	return only
}
