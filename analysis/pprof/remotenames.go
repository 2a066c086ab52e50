package pprof

import (
	"fmt"
	"strconv"
	"strings"

	"loupe/format/profile"
	"loupe/value/stack"
)

// Nameless says whether a profile has locations without names that the server
// it comes from may know. Go's own profiles have none.
func Nameless(p *profile.Profile) bool {
	for i := range p.Locations {
		if l := &p.Locations[i]; l.Lines == 0 && l.Address != 0 && (l.Mapping < 0 || !p.Mappings[l.Mapping].HasFunctions) {
			return true
		}
	}
	return false
}

// NameQuery is what the handler symbol of a server is asked for the names of a profile's
// addresses: 0x1000+0x2000.
func NameQuery(p *profile.Profile) string {
	var all []string
	for i := range p.Locations {
		if l := &p.Locations[i]; l.Lines == 0 && l.Address != 0 {
			all = append(all, fmt.Sprintf("%#x", l.Address))
		}
	}
	return strings.Join(all, "+")
}

// NamesOf gives the addresses of a profile the names of such an answer: an address and a
// name in each line.
func NamesOf(p *profile.Profile, answer string) *profile.Profile {
	names := map[uint64]string{}
	for line := range strings.Lines(answer) {
		hex, name, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(line), "\t", " "), " ")
		if a, err := strconv.ParseUint(hex, 0, 64); err == nil && name != "" {
			names[a] = strings.TrimSpace(name)
		}
	}
	if len(names) == 0 {
		return p
	}
	p = p.WithLines(func(l *profile.Location, lines []stack.Frame) []stack.Frame {
		if name := names[l.Address]; name != "" && len(lines) == 0 {
			return []stack.Frame{{Func: name}}
		}
		return lines
	})
	return p.WithMappings(false, func(mappings []profile.Mapping) {
		for i := range mappings {
			mappings[i].HasFunctions = true
		}
	})
}
