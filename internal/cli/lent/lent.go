// Package lent has what a recorder is lent: those who know why lines allocate, and how calls are counted, it must not know.
package lent

import (
	"loupe/analysis/why"
	"loupe/capture/collect"
	"loupe/capture/counting"
)

// Diagnosis says how the compiler's reasons get into a recording.
func Diagnosis() *collect.Diagnosis {
	cache, err := collect.CompileCache()
	if err != nil {
		cache = "" // then nothing is kept
	}
	return &collect.Diagnosis{Packages: why.Packages, Calls: why.Calls, Cache: cache}
}

// Counter makes a program count which of its calls repeat.
func Counter(packages map[string][]string, minor int, arch string, lines map[string]bool) (collect.Counted, error) {
	return counting.Copies(packages, minor, arch, lines)
}
