package session

import (
	"errors"
	"fmt"
	"slices"

	"loupe/format/dump"
	"loupe/format/dump/goroutineprofile"
	"loupe/format/profile"
	"loupe/recording"
)

// Listing is an entry with goroutine dumps.
type Listing struct {
	Entry recording.Entry
	*dump.File
}

// Stacks returns the dumps of goroutines that the recording holds, in the order
// of their capture: the files that are dumps, cores, and the standard error of
// processes that have panicked or were sent SIGQUIT. An entry that cannot be
// read is left out and told in the error beside the others.
func (s *Session) Stacks() ([]Listing, error) {
	var all []Listing
	var wrong []error
	for _, e := range s.rec.Entries {
		if e.Kind != recording.Stacks && e.Kind != recording.Stderr && e.Kind != CoreFile {
			continue
		}
		f, err := s.dumpAt(e.Path)
		switch {
		case err != nil:
			wrong = append(wrong, err)
		case f.Len() > 0 || len(f.Races) > 0:
			all = append(all, Listing{e, f})
		}
	}
	if len(all) == 0 && len(wrong) == 0 {
		return nil, fmt.Errorf("no goroutine dump: %w", ErrNone)
	}
	return all, errors.Join(wrong...)
}

// dumpAt returns the dumps in an entry.
func (s *Session) dumpAt(path string) (*dump.File, error) {
	return decoded(s, "dumps in "+path, func(s *Session) (*dump.File, error) {
		if s.isOf(CoreFile, path) {
			return s.coreStacks(path)
		}
		data, err := s.rec.ReadFile(path, maxEntry)
		if err != nil {
			return &dump.File{}, err
		}
		return dump.Parse(data), nil
	})
}

// isOf tells whether the entry at a path is of a kind.
func (s *Session) isOf(kind recording.Kind, path string) bool {
	return slices.ContainsFunc(s.rec.Of(kind), func(e recording.Entry) bool { return e.Path == path })
}

// addStacks enters a file of dumps. The last of them stands for a goroutine
// profile as well.
func (s loose) addStacks(f *File) error {
	d, err := s.dumpAt(f.Name)
	if err != nil {
		return err
	}
	f.Dumps, f.Goroutines = len(d.Dumps), d.Goroutines()
	kinds := []recording.Kind{recording.Stacks}
	if d.Goroutines() > 0 {
		kinds = append(kinds, recording.Goroutine)
	}
	s.enter(f, kinds, -1)
	return nil
}

// LastProfile is the last dump of a file as a goroutine profile; it errs when that has no
// goroutine.
func (l Listing) LastProfile() (*profile.Profile, error) {
	return goroutineprofile.Of(l.File, l.InDump(len(l.Dumps)-1))
}

// ProfilesAt returns the profiles in the entry at a path: of a file with several goroutine
// dumps one of each, in their order, else the one of [Session.ProfileAt].
func ProfilesAt(s *Session, path string) ([]*profile.Profile, error) {
	if !s.isOf(recording.Stacks, path) && !s.isOf(recording.Stderr, path) {
		p, err := s.ProfileAt(path)
		return []*profile.Profile{p}, err
	}
	return decoded(s, "each dump in "+path, func(s *Session) (all []*profile.Profile, err error) {
		d, err := s.dumpAt(path)
		if err != nil {
			return nil, err
		}
		for n := range d.Dumps {
			switch p, err := goroutineprofile.Of(d, d.InDump(n)); {
			case err == nil:
				all = append(all, p)
			case !errors.Is(err, goroutineprofile.ErrEmpty):
				return all, err
			}
		}
		return all, nil
	})
}

// lastStacks makes a goroutine profile of the last dump of a file.
func (s *Session) lastStacks(path string) (*profile.Profile, error) {
	d, err := s.dumpAt(path)
	if err != nil {
		return nil, err
	}
	if len(d.Dumps) == 0 {
		return nil, fmt.Errorf("goroutines: %w", ErrNone)
	}
	p, err := goroutineprofile.Of(d, d.InDump(len(d.Dumps)-1))
	if errors.Is(err, goroutineprofile.ErrEmpty) {
		return nil, fmt.Errorf("goroutines: %w", ErrNone)
	}
	return p, err
}
