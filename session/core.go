package session

import (
	"fmt"

	"loupe/format/dump"
	"loupe/recording"
)

// CoreFile is the kind of a core file, which no recording holds.
const CoreFile recording.Kind = "core"

// Cores is what the files of [Loose] are as well where there are cores among them:
// a core is read with the program that it is of, and whoever has opened the files
// knows where that is.
type Cores interface {
	// Readable tells whether the goroutines of a core can be read.
	Readable(name string) bool
	// Goroutines returns what the goroutines of a core did, as a dump, the one
	// that has ended the program first. It takes about a second for a hundred
	// thousand of them.
	Goroutines(name string) (*dump.File, error)
}

// addCore enters a core. What is in it is read when somebody asks.
func (s loose) addCore(f *File) error {
	cores, ok := s.rec.FS().(Cores)
	if !ok {
		return fmt.Errorf("%s is a core file: loupe core %s shows it", f.Name, f.Name)
	}
	kinds := []recording.Kind{CoreFile}
	if cores.Readable(f.Name) {
		kinds = append(kinds, recording.Goroutine)
	}
	s.enter(f, kinds, -1)
	return nil
}

// coreStacks returns the goroutines of a core.
func (s *Session) coreStacks(path string) (*dump.File, error) {
	cores, ok := s.rec.FS().(Cores)
	if !ok {
		return &dump.File{}, fmt.Errorf("goroutines of %s: %w", path, ErrNone)
	}
	f, err := cores.Goroutines(path)
	if f == nil {
		f = &dump.File{}
	}
	return f, err
}
