// Package startup adds up what the initialisation of packages took before main began,
// by the lines of GODEBUG=inittrace=1 (Go 1.16 and later).
//
// It is pure: the lines in, a [Summary] for each run of a program out. It reads no log
// (package godebug does) and prints nothing (package report does).
package startup

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"loupe/format/godebug"
)

// Summary is the start of one run of a program.
type Summary struct {
	// Run is that of [godebug.Position], Name what the log calls its process.
	Run  int    `json:"run"`
	Name string `json:"name,omitempty"`
	// Packages are the packages that have something to initialise, the slowest first,
	// and of equally slow ones the one that allocated more.
	Packages []Package `json:"packages"`
	// Clock, Bytes and Allocs are the sums of all packages.
	Clock  time.Duration `json:"clock_ns"`
	Bytes  int64         `json:"bytes"`
	Allocs int64         `json:"allocs"`
	// Main is when the last package was initialised, since the start of the process:
	// main.main begins right after it. It holds what the runtime does before the first
	// package, and between two of them the printing of the lines themselves.
	Main time.Duration `json:"main_ns"`
}

// Package is the initialisation of one package.
type Package struct {
	Package string `json:"package"`
	// At is when it began, since the start of the process.
	At     time.Duration `json:"at_ns"`
	Clock  time.Duration `json:"clock_ns"`
	Bytes  int64         `json:"bytes"`
	Allocs int64         `json:"allocs"`
}

// Analyse adds up the lines of each run, in order of their first appearance. Names are
// those of the runs, see [godebug.Log].
func Analyse(lines []godebug.InitTask, names []string) []*Summary {
	var all []*Summary
	of := map[int]*Summary{}
	for i := range lines {
		l := &lines[i]
		s := of[l.Run]
		if s == nil {
			s = &Summary{Run: l.Run}
			if l.Run < len(names) {
				s.Name = names[l.Run]
			}
			of[l.Run] = s
			all = append(all, s)
		}
		s.Packages = append(s.Packages, Package{Package: l.Package, At: l.At, Clock: l.Clock, Bytes: l.Bytes, Allocs: l.Allocs})
		s.Clock += l.Clock
		s.Bytes += l.Bytes
		s.Allocs += l.Allocs
		s.Main = max(s.Main, l.At+l.Clock)
	}
	for _, s := range all {
		slices.SortStableFunc(s.Packages, func(a, b Package) int {
			return cmp.Or(cmp.Compare(b.Clock, a.Clock), cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Allocs, a.Allocs), strings.Compare(a.Package, b.Package))
		})
	}
	return all
}
