package pprof

import (
	"regexp"
	"strconv"

	"loupe/format/profile"
	"loupe/format/symbol"
	"loupe/value/stack"
)

// perfMapFile is the map of a JIT compiler, where perf takes it for a binary.
var perfMapFile = regexp.MustCompile(`/perf-(\d+)\.map$`)

// maxJIT is how many processes are asked for.
const maxJIT = 100

// SymbolizeJIT gives names to the locations that are in no file, by what the JIT
// compilers of the processes have noted for perf. Open returns the notes of a process,
// or nil where there are none. Of which process a location is the profile says by the
// label pid, as those of perf do, or by the name of the mapping.
func SymbolizeJIT(p *profile.Profile, open func(pid int) *symbol.PerfMap) *profile.Profile {
	wanted := func(l *profile.Location) bool {
		return l.Lines == 0 && l.Address != 0 && (l.Mapping < 0 || unsymbolizable(p.Mappings[l.Mapping]))
	}
	some := false
	for i := range p.Locations {
		some = some || wanted(&p.Locations[i])
	}
	if !some {
		return p
	}
	var pids []int // in the order of the samples
	seen := map[string]bool{}
	add := func(text string) {
		if pid, err := strconv.Atoi(text); err == nil && pid > 0 && !seen[text] && len(pids) < maxJIT {
			pids = append(pids, pid)
		}
		seen[text] = true
	}
	for i := range p.Mappings {
		if m := perfMapFile.FindStringSubmatch(p.Mappings[i].File); m != nil {
			add(m[1])
		}
	}
	for set := range p.NumLabelSets() {
		for _, l := range p.Labels(profile.LabelSet(set)) {
			if l.Key == "pid" {
				add(l.Str)
			}
		}
	}
	var maps []*symbol.PerfMap
	for _, pid := range pids {
		if m := open(pid); m != nil {
			maps = append(maps, m)
		}
	}
	if len(maps) == 0 {
		return p
	}
	return p.WithLines(func(l *profile.Location, lines []stack.Frame) []stack.Frame {
		if !wanted(l) {
			return lines
		}
		for _, m := range maps {
			if name, ok := m.Name(l.Address); ok {
				return []stack.Frame{{Func: name}}
			}
		}
		return lines
	})
}
