package pprof

import (
	"path/filepath"
	"strings"

	"loupe/format/profile"
	"loupe/format/symbol"
	"loupe/value/stack"
)

// Symbolize gives names to the locations that have none, from the binaries of
// their mappings. A mapping whose names came with the profile is left alone
// unless forced. What cannot be opened is told to warn once.
func Symbolize(p *profile.Profile, force bool, open func(profile.Mapping) (*symbol.Binary, error), warn func(string)) *profile.Profile {
	binaries := make([]*symbol.Binary, len(p.Mappings))
	some := false
	for i, m := range p.Mappings {
		has := m.HasFunctions || m.HasFilenames || m.HasLineNumbers
		if has && !force || m.File == "" || unsymbolizable(m) || !used(p, i, force) {
			continue
		}
		b, err := open(m)
		if err != nil {
			warn("Local symbolization failed for " + filepath.Base(m.File) + ": " + err.Error())
			continue
		}
		binaries[i], some = b, true
	}
	if !some {
		return p
	}
	q := p.WithLines(func(l *profile.Location, lines []stack.Frame) []stack.Frame {
		if l.Mapping < 0 || binaries[l.Mapping] == nil || len(lines) > 0 && !force {
			return lines
		}
		at, err := binaries[l.Mapping].Translate(mappingOf(p.Mappings[l.Mapping]), l.Address)
		if err != nil {
			return lines
		}
		// A profile has the address within a call, not the one behind it.
		frames := binaries[l.Mapping].Frames(at)
		if len(frames) == 0 {
			return lines
		}
		named := make([]stack.Frame, len(frames))
		for i, f := range frames {
			named[i] = f.Frame
			named[i].Column = f.Column
		}
		return named
	})
	return q.WithMappings(false, func(mappings []profile.Mapping) {
		for i := range mappings {
			if binaries[i] != nil {
				m := &mappings[i]
				m.HasFunctions, m.HasFilenames, m.HasLineNumbers, m.HasInlineFrames = true, true, true, true
			}
		}
	})
}

// used says whether a mapping has locations that need names.
func used(p *profile.Profile, mapping int, force bool) bool {
	for i := range p.Locations {
		if l := &p.Locations[i]; l.Mapping == mapping && (l.Lines == 0 || force) {
			return true
		}
	}
	return false
}

// unsymbolizable says whether a mapping stands for no file: the kernel's own
// pages, memory without a name, what a JIT compiler has made, devices.
func unsymbolizable(m profile.Mapping) bool {
	name := filepath.Base(m.File)
	return strings.HasPrefix(name, "[") || strings.HasPrefix(name, "linux-vdso") || strings.HasPrefix(m.File, "/dev/dri/") ||
		m.File == "//anon" || m.File == "" || strings.HasPrefix(m.File, "/memfd:") || perfMapFile.MatchString(m.File)
}
