package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"loupe/explain"
	"loupe/report"
	"loupe/source"
	"loupe/symbol"
)

// explainStacks prepares to say what the words of arguments are: by the binary
// that was named, and else by the sources that the dump names, where they are on
// this machine. A binary that does not fit is said aloud.
func explainStacks(e *env, f *stacksFlags, v *report.Stacks) (done func() error, err error) {
	done = func() error { return nil }
	if v.Explained != nil {
		return done, nil // a core comes with its binary
	}
	opt := explain.Options{}
	if f.binary != "" {
		file, err := source.Open(f.binary)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, exitError{exitNothing, fmt.Errorf("cannot find the binary %s", f.binary)}
		}
		if err != nil {
			return nil, err
		}
		if opt.Binary, err = symbol.Open(file, symbol.Options{}); err != nil {
			file.Close()
			return nil, fmt.Errorf("cannot use -binary %s: %w", f.binary, err)
		}
		if !opt.Binary.IsGo() {
			file.Close()
			return nil, usagef("-binary %s is no Go program", f.binary)
		}
		done = file.Close
	}
	opt.Sources = sourcesOf(e, opt.Binary).explain()
	v.Explained = &report.Explained{By: explain.New(v.File, opt), Binary: f.binary}
	if text := report.FitText(v.Explained); text != "" {
		fmt.Fprintf(e.stderr, "loupe stacks: WARNING: %s\n", text)
	}
	return done, nil
}

// stackSources finds the files that a dump names. A dump may come from anywhere
// and name anything: nothing is opened but regular files that end in .go.
type stackSources struct {
	e      *env
	places symbol.Sources
	asked  bool
	found  map[string]string // where a file is; "" is nowhere
}

// sourcesOf finds sources, with a program also those of one that was built
// elsewhere. The program may be nil.
func sourcesOf(e *env, bin *symbol.Binary) *stackSources {
	s := &stackSources{e: e, found: map[string]string{}}
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
func (s *stackSources) allowed() source.Places {
	return source.Places{Roots: []string{".", s.places.GOROOT, s.places.GOMODCACHE, s.places.MainDir}}
}

// ask asks the go command where sources are, once.
func (s *stackSources) ask() {
	if s.asked {
		return
	}
	s.asked = true
	text, err := exec.CommandContext(s.e.ctx, "go", "env", "GOROOT", "GOMODCACHE", "GOMOD").Output()
	if err != nil {
		return // there is no Go here
	}
	if lines := strings.Split(string(text), "\n"); len(lines) >= 3 {
		s.places.GOROOT, s.places.GOMODCACHE = lines[0], lines[1]
		if filepath.Base(lines[2]) == "go.mod" {
			s.places.MainDir = filepath.Dir(lines[2])
		}
	}
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
