package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"loupe/pprof"
	"loupe/profile"
	"loupe/source"
	"loupe/symbol"
)

// openBinary is a binary that was opened, or why it was not.
type openBinary struct {
	file *os.File
	*symbol.Binary
	err error
}

// openBinary opens a binary once. A profile may name any file, also one that never
// ends.
func (s *pprofSession) openBinary(name string) (*openBinary, error) {
	b, ok := s.binaries[name]
	if !ok {
		b = &openBinary{}
		if b.file, b.err = source.Open(name); b.err == nil {
			b.Binary, b.err = symbol.Open(b.file, symbol.Options{})
		}
		s.binaries[name] = b
	}
	return b, b.err
}

// binary is [pprof.Env.Binary].
func (s *pprofSession) binary(m profile.Mapping) (*symbol.Binary, error) {
	if m.File == "" {
		return nil, errors.New("the profile does not say which program it is of: name the binary before the profile")
	}
	b, err := s.openBinary(m.File)
	if err != nil {
		return nil, err
	}
	return b.Binary, nil
}

// locate says which local files the mappings of a profile are: those below
// PPROF_BINARY_PATH, and the program of the command line for the first.
func (s *pprofSession) locate(p *profile.Profile) *profile.Profile {
	path := os.Getenv("PPROF_BINARY_PATH")
	if path == "" {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, "pprof", "binaries")
		}
	}
	return p.WithMappings(true, func(mappings []profile.Mapping) {
		for i := range mappings {
			s.search(&mappings[i], filepath.SplitList(path))
		}
		if s.program != "" {
			mappings[0].File = s.program
		}
		if s.flags.buildID != "" && mappings[0].BuildID == "" {
			mappings[0].BuildID = s.flags.buildID
		}
	})
}

// search looks for a binary where symbol servers, perf and gdb keep them.
func (s *pprofSession) search(m *profile.Mapping, path []string) {
	bare := strings.TrimPrefix(m.File, filepath.VolumeName(m.File))
	base, dir := filepath.Base(bare), filepath.Dir(bare)
	for _, root := range path {
		if _, err := source.Stat(root); err != nil {
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
			b, err := s.openBinary(name)
			if err != nil {
				continue
			}
			if m.BuildID != "" && m.BuildID != b.BuildID {
				s.warn(fmt.Sprintf("Ignoring local file %s: build-id mismatch (%s != %s)", name, m.BuildID, b.BuildID))
				continue
			}
			m.File = name
			return
		}
	}
}

// symbolize finds names for what has none, as -symbolize says.
func (s *pprofSession) symbolize(p *profile.Profile) (*profile.Profile, error) {
	local, force, demangle := true, false, ""
	for mode := range strings.SplitSeq(strings.ToLower(s.flags.symbolize), ":") {
		switch mode {
		case "", "local", "fastlocal", "demangle=default":
		case "none", "no":
			return p, nil
		case "remote":
			local = false
		case "force":
			force = true
		case "demangle=full", "demangle=none", "demangle=templates":
			demangle, force = strings.TrimPrefix(mode, "demangle="), true
		default:
			s.warn(fmt.Sprintf("ignoring unrecognized symbolization option: %s", s.flags.symbolize))
			s.warn("expecting -symbolize=[local|fastlocal|remote|none][:force][:demangle=[none|full|templates|default]")
		}
	}
	if local {
		p = pprof.Symbolize(p, force, s.binary, s.warn)
	}
	return pprof.Demangle(p, demangle, force), nil
}
