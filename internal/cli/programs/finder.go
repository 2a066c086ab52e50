// Package programs finds the programs and the sources of this machine that profiles, dumps
// and cores speak of.
package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"loupe/format/profile"
	"loupe/format/symbol"
	"loupe/source/bounded"
)

// Finder finds the programs and the sources of this machine that profiles name.
type Finder struct {
	ctx  context.Context
	warn func(string)
	// program stands for the first binary of a profile, and has buildID where the
	// profile has none.
	Program, BuildID string

	mu       sync.Mutex // sources are read side by side, and pages ask
	binaries openBinaries
	sources  *symbol.Sources // nil before they were asked for
}

// NewFinder makes one that is to be closed.
func NewFinder(ctx context.Context, warn func(string)) *Finder {
	return &Finder{ctx: ctx, warn: warn, binaries: openBinaries{}}
}

// Close closes the programs.
func (f *Finder) Close() {
	for _, b := range f.binaries {
		if b.File != nil {
			b.File.Close()
		}
	}
}

// openBinary is a binary that was opened, or why it was not.
type openBinary struct {
	File *os.File
	*symbol.Binary
	err error
}

// openBinaries are those that were opened, by their names.
type openBinaries map[string]*openBinary

// open opens a binary once. A profile may name any file, also one that never ends.
func (all openBinaries) open(name string) *openBinary {
	b, ok := all[name]
	if !ok {
		b = &openBinary{}
		if b.File, b.err = bounded.Open(name); b.err == nil {
			b.Binary, b.err = symbol.Open(b.File, symbol.Options{})
		}
		all[name] = b
	}
	return b
}

// Open opens a binary, with its debug information where that is kept apart.
func (f *Finder) Open(name string) (*openBinary, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, known := f.binaries[name]
	b := f.binaries.open(name)
	if b.err == nil && !known {
		f.binaries.addDebug(name, b.Binary)
	}
	return b, b.err
}

// Binary is [pprof.Env.Binary].
func (f *Finder) Binary(m profile.Mapping) (*symbol.Binary, error) {
	if m.File == "" {
		return nil, errors.New("the profile does not say which program it is from: name the binary before the profile")
	}
	b, err := f.Open(m.File)
	if err != nil {
		return nil, err
	}
	return b.Binary, nil
}

// Locate says which local files the mappings of a profile are: those below
// PPROF_BINARY_PATH, and the program of the command line for the first.
func (f *Finder) Locate(p *profile.Profile) *profile.Profile {
	path := os.Getenv("PPROF_BINARY_PATH")
	if path == "" {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, "pprof", "binaries")
		}
	}
	return p.WithMappings(true, func(mappings []profile.Mapping) {
		for i := range mappings {
			f.search(&mappings[i], filepath.SplitList(path))
		}
		if f.Program != "" {
			mappings[0].File = f.Program
		}
		if f.BuildID != "" && mappings[0].BuildID == "" {
			mappings[0].BuildID = f.BuildID
		}
	})
}

// search looks for a binary where symbol servers, perf and gdb keep them.
func (f *Finder) search(m *profile.Mapping, path []string) {
	bare := strings.TrimPrefix(m.File, filepath.VolumeName(m.File))
	base, dir := filepath.Base(bare), filepath.Dir(bare)
	for _, root := range path {
		if _, err := bounded.Stat(root); err != nil {
			continue
		}
		var names []string
		if len(m.BuildID) > 2 && filepath.IsLocal(m.BuildID) {
			names = append(names, filepath.Join(root, m.BuildID, base))
			more, _ := filepath.Glob(filepath.Join(root, m.BuildID, "*"))
			names = append(names, more...)
			names = append(names, filepath.Join(root, bare, m.BuildID), filepath.Join(root, m.BuildID[:2], m.BuildID[2:]+".debug"))
		}
		if m.File != "" {
			names = append(names, filepath.Join(root, base), filepath.Join(root, bare), filepath.Join(root, bare+".debug"),
				filepath.Join(root, dir, ".debug", base+".debug"), filepath.Join(root, "usr", "lib", "debug", dir, base+".debug"))
		}
		for _, name := range names {
			b, err := f.Open(name)
			if err != nil {
				continue
			}
			if m.BuildID != "" && m.BuildID != b.BuildID {
				f.warn(fmt.Sprintf("Ignoring local file %s: build-id mismatch (%s != %s)", name, m.BuildID, b.BuildID))
				continue
			}
			m.File = name
			return
		}
	}
}
