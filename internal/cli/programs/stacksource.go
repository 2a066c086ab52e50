package programs

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"loupe/analysis/explain"
	"loupe/format/symbol"
	"loupe/source/bounded"
)

// stackSources finds the files that a dump names. A dump may come from anywhere
// and name anything: nothing is opened but regular files that end in .go.
type stackSources struct {
	ctx    context.Context
	places symbol.Sources
	asked  bool
	found  map[string]string // where a file is; "" is nowhere
}

// sourcesOf finds sources, with a program also those of one that was built
// elsewhere. The program may be nil.
func sourcesOf(ctx context.Context, bin *symbol.Binary) *stackSources {
	s := &stackSources{ctx: ctx, found: map[string]string{}}
	if bin != nil {
		s.places.Build, _ = bin.BuildInfo()
	}
	return s
}

func (s *stackSources) explain() explain.Sources {
	return explain.Sources{Read: s.read, Beside: s.beside}
}

func (s *stackSources) read(file, function string) []byte {
	name := s.find(file, function)
	if name == "" {
		return nil
	}
	text, err := s.allowed().Read(name)
	if err != nil {
		return nil
	}
	return text
}

// find returns where a file is on this machine.
func (s *stackSources) find(file, function string) string {
	name, ok := s.found[file]
	if ok || !strings.HasSuffix(file, ".go") {
		return name
	}
	if filepath.IsAbs(file) && s.isSource(file) {
		name = file
	} else if s.places.Build != nil {
		// Built elsewhere, or with -trimpath.
		s.ask()
		for _, c := range s.places.Candidates(file, function) {
			if s.isSource(c) {
				name = c
				break
			}
		}
	}
	s.found[file] = name
	return name
}

// isSource tells whether a file is there and may be read.
func (s *stackSources) isSource(name string) bool {
	return strings.HasSuffix(name, ".go") && s.allowed().Has(name)
}

// allowed are the places where a dump may name files.
func (s *stackSources) allowed() bounded.Places {
	return bounded.Places{Roots: []string{".", s.places.GOROOT, s.places.GOMODCACHE, s.places.MainDir}}
}

// ask asks the go command where sources are, once.
func (s *stackSources) ask() {
	if s.asked {
		return
	}
	s.asked = true
	goPlaces(s.ctx, &s.places)
}

// beside lists the other files of the folder that a file is in.
func (s *stackSources) beside(file, function string) (names []string) {
	name := s.find(file, function)
	if name == "" {
		return nil
	}
	list, err := os.ReadDir(filepath.Dir(name))
	if err != nil {
		return nil
	}
	for _, d := range list {
		other := filepath.Join(filepath.Dir(name), d.Name())
		if strings.HasSuffix(d.Name(), ".go") && other != name && s.isSource(other) {
			s.found[other] = other
			names = append(names, other)
		}
	}
	return names
}
